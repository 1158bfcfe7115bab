/* SPDX-License-Identifier: MIT */
/* carom contacts: where spheres touch the surface of a mesh, and which contacts of an earlier step go on. Contacts come
 * in pieces of whole spheres in order, and so do those of the earlier step: a piece is matched with those of its
 * spheres. */
#include "contacts.h"
#include "contacts_ended.h"
#include "cli/table/csv.h"
#include "cli/rows/rows.h"
#include "cli/import/import.h"
#include "cli/probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- options ----------------------------------------------------------------------------------------------------- */

static int set_length(const char *name, const char *value, float *out)
{
    char *end;
    *out = strtof(value, &end);
    if (end == value || *end != '\0' || !(*out >= 0.0f && *out < INFINITY))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    return -1;
}

static int set_margin(const char *value, cli_options *out)
{
    return set_length("margin", value, &out->contacts.margin);
}

static int set_merge_within(const char *value, cli_options *out)
{
    return set_length("merge-within", value, &out->contacts.merge_within);
}

static int set_flat(const char *value, cli_options *out)
{
    char *end;
    out->contacts.flat = strtod(value, &end);
    out->contacts.is_flat_given = 1;
    if (end == value || *end != '\0' || !(out->contacts.flat >= 0.0 && out->contacts.flat <= 180.0))
        return cli_refuse(EXIT_USAGE, "--flat: expected degrees from 0 to 180, got '%s'", value);
    return -1;
}

static int set_file(const char *name, const char *value, const char **out)
{
    if (*value == '\0')
        return cli_refuse(EXIT_USAGE, "--%s: expected a name, got an empty one", name);
    *out = value;
    return -1;
}

static int set_previous(const char *value, cli_options *out)
{
    return set_file("previous", value, &out->contacts.previous);
}

static int set_ended(const char *value, cli_options *out)
{
    return set_file("ended", value, &out->contacts.ended);
}

/* clang-format off */
static const cli_own_option own_options[] = {
    {"margin", "D", "also contacts that are at most D beyond the radius (default 0)", set_margin},
    {"merge-within", "D",
     "one contact where triangles come within D of its point: T-junctions, cracks (default 0)", set_merge_within},
    {"flat", "DEG", "angle up to which neighbouring triangles are of one patch (default 1)", set_flat},
    {"previous", "FILE", "the output of the step before: adds the column previous", set_previous},
    {"ended", "FILE", "with --previous: where to write its rows that have ended", set_ended},
};
/* clang-format on */
const cli_own contacts_own = {own_options, sizeof own_options / sizeof own_options[0], 0, 0, NULL};

/* ---- the step before --------------------------------------------------------------------------------------------- */

enum { OLD_QUERY, OLD_X, OLD_Y, OLD_Z, OLD_PATCH, OLD_COLUMNS };
const query_field contacts_previous_field = {"previous", QUERY_NUMBER, 0};

static int grow(contacts_history *h, uint64_t *room, uint64_t more)
{
    if (h->count + more <= *room)
        return 1;
    *room = 2 * *room + more;
    uint64_t *query = realloc(h->query, *room * sizeof *query);
    h->query = query ? query : h->query;
    uint32_t *patch = realloc(h->patch, *room * sizeof *patch);
    h->patch = patch ? patch : h->patch;
    float *point = realloc(h->point, 3 * *room * sizeof *point);
    h->point = point ? point : h->point;
    return query && patch && point;
}

static int refuse_row(const table_reader *file, const contacts_history *h, uint64_t row, const char *what)
{
    char place[512];
    table_place(file, h->path, row, place, sizeof place);
    return cli_refuse(EXIT_USAGE, "%s: %s", place, what);
}

static int take_rows(contacts_history *h, const table_reader *file, const table_column *columns, uint64_t rows)
{
    const uint64_t *query = table_wholes(&columns[OLD_QUERY]), *patch = table_wholes(&columns[OLD_PATCH]);
    for (uint64_t i = 0; i < rows; i++, h->count++) {
        if (h->count > 0 && query[i] < h->query[h->count - 1])
            return refuse_row(file, h, h->count, "query is less than in the row before; contacts are in its order");
        if (patch[i] > UINT32_MAX)
            return refuse_row(file, h, h->count, "patch is larger than 4294967295");
        h->query[h->count] = query[i];
        h->patch[h->count] = (uint32_t)patch[i];
        for (int k = 0; k < 3; k++) {
            const float x = columns[OLD_X + k].data[i];
            if (!isfinite(x))
                return refuse_row(file, h, h->count, "x, y and z of a contact are finite");
            h->point[3 * h->count + (uint64_t)k] = x;
        }
    }
    return EXIT_DONE;
}

static int read_history(contacts_history *h, const cli_options *options)
{
    const table_limits limits = {.rows = ROWS_CHUNK, .threads = parallel_threads(options->threads), .part = CSV_PART};
    table_column columns[OLD_COLUMNS] = {{.name = "query", .kind = TABLE_WHOLE},
                                         {.name = "x"},
                                         {.name = "y"},
                                         {.name = "z"},
                                         {.name = "patch", .kind = TABLE_WHOLE}};
    table_reader file = {NULL, NULL};
    uint64_t rows = 0, room = 0;
    if (options->rehearsal)
        return EXIT_DONE;
    int status = table_open(&file, h->path, columns, OLD_COLUMNS, &limits);
    while (status == EXIT_DONE) {
        status = table_next(&file, ROWS_CHUNK, &rows);
        if (status != EXIT_DONE || rows == 0)
            break;
        status = grow(h, &room, rows) ? take_rows(h, &file, columns, rows) : cli_no_memory();
    }
    table_close(&file);
    table_free(columns, OLD_COLUMNS);
    h->has_ended = cli_alloc(h->count + 1, 1);
    h->ended = cli_alloc(h->count + 1, sizeof *h->ended);
    if (status == EXIT_DONE && (!h->has_ended || !h->ended))
        return cli_no_memory();
    return status;
}

static void free_history(contacts_history *h)
{
    free(h->query);
    free(h->patch);
    free(h->point);
    free(h->has_ended);
    free(h->ended);
}

/* Matches the contacts of spheres before `end`; UINT64_MAX: of all that are left. */
static int match_piece(contacts_history *h, uint64_t end, const rows_field *fields, uint64_t records)
{
    const uint64_t first = h->next;
    uint64_t ended = 0;
    carom_error err = {0};
    while (h->next < h->count && (h->query[h->next] < end || end == UINT64_MAX))
        h->next++;
    const carom_contact_records previous = {.size = sizeof previous,
                                            .count = h->next - first,
                                            .query = h->query + first,
                                            .patch = h->patch + first,
                                            .point = carom_xyz(h->point + 3 * first)};
    const carom_contact_records now = {
        .size = sizeof now,
        .count = records,
        .query = fields[CONTACTS_QUERY].longs,
        .patch = (const uint32_t *)fields[CONTACTS_PATCH].integers,
        .point = carom_soa(fields[CONTACTS_X].floats, fields[CONTACTS_X + 1].floats, fields[CONTACTS_X + 2].floats)};
    int64_t *previous_of = (int64_t *)fields[CONTACTS_PREVIOUS].longs;
    const carom_contact_match out = {
        .size = sizeof out, .previous = previous_of, .ended = h->ended, .ended_count = &ended};
    const carom_status status = carom_contacts_match(h->context, &previous, &now, &out, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    for (uint64_t i = 0; i < records; i++)
        previous_of[i] += previous_of[i] >= 0 ? (int64_t)first : 0;
    memset(h->has_ended + first, 0, (size_t)(h->next - first));
    for (uint64_t i = 0; i < ended; i++)
        h->has_ended[first + h->ended[i]] = 1;
    return EXIT_DONE;
}

static int match_rows(void *user, uint64_t end, const rows_field *fields, uint64_t records)
{
    return match_piece(user, end, fields, records);
}

/* The rest of the step before: spheres that are no longer in the file. */
static int end_history(void *user)
{
    contacts_history *h = user;
    const rows_field none[QUERY_FIELDS_MAX] = {{NULL}};
    const int status = match_piece(h, UINT64_MAX, none, 0);
    return status == EXIT_DONE && h->ended_rows ? contacts_ended_write(h->ended_rows, h) : status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static rows_query query_of(query_field *fields, contacts_history *h)
{
    rows_query q = rows_query_of(&query_mesh_contacts, 0);
    if (!h->path)
        return q;
    memcpy(fields, q.fields, (size_t)q.field_count * sizeof *fields);
    fields[CONTACTS_PREVIOUS] = contacts_previous_field;
    q.order[q.field_count++] = CONTACTS_PREVIOUS;
    q.fields = fields;
    q.fill = match_rows;
    q.finish = end_history;
    q.user = h;
    return q;
}

static int run_rows(const cli_options *options, const mesh_data *data, contacts_history *h)
{
    query_field fields[QUERY_FIELDS_MAX];
    const rows_query query = query_of(fields, h);
    cli_options usable = *options;
    carom_mesh *mesh = NULL;
    rows_input input;
    int status = rows_open(&input, query.row, options, options->spheres);
    if (status != EXIT_DONE)
        return status;
    status = rows_next(&input, options, ROWS_CHUNK);
    if (status == EXIT_DONE)
        status = probe_before_rows(&usable, input.columns, input.column_count, input.count);
    if (status == EXIT_DONE)
        status = cli_mesh_open(&usable, data, &h->context, &mesh);
    if (status == EXIT_DONE)
        status = rows_run(&query, mesh, &usable, &input);
    carom_mesh_destroy(mesh);
    carom_context_destroy(h->context);
    rows_close(&input);
    return status;
}

static int check_options(const cli_options *options)
{
    const contacts_options *c = &options->contacts;
    struct stat info;
    if (!options->mesh || !options->spheres)
        return cli_refuse(EXIT_USAGE, "contacts: --mesh FILE and --spheres FILE must both be there");
    if (c->ended && !c->previous)
        return cli_refuse(EXIT_USAGE, "contacts: --ended belongs to --previous");
    if (c->ended && (!strcmp(c->previous, "-") || (stat(c->previous, &info) == 0 && !S_ISREG(info.st_mode))))
        return cli_refuse(EXIT_USAGE,
                          "contacts: --ended needs --previous as a file, no pipe, because it is read twice");
    if (c->previous && !strcmp(c->previous, "-") && !strcmp(options->spheres, "-"))
        return cli_refuse(EXIT_USAGE, "contacts: --spheres and --previous cannot both be standard input");
    return EXIT_DONE;
}

int command_contacts(const cli_options *options)
{
    contacts_history h = {.path = options->contacts.previous};
    contacts_ended ended = {.path = NULL};
    mesh_data data;
    int status = check_options(options);
    if (status != EXIT_DONE)
        return status;
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    status = options->rehearsal ? rehearsal_mesh(&data) : mesh_import(options->mesh, &data);
    if (status != EXIT_DONE)
        return status;
    if (h.path)
        status = read_history(&h, options);
    if (status == EXIT_DONE && options->contacts.ended && !options->rehearsal) {
        h.ended_rows = &ended;
        status = contacts_ended_open(&ended, &h, options->contacts.ended);
    }
    if (status == EXIT_DONE)
        status = run_rows(options, &data, &h);
    status = contacts_ended_close(&ended, status);
    free_history(&h);
    mesh_free(&data);
    return status;
}
