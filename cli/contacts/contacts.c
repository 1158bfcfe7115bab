/* SPDX-License-Identifier: MIT */
/* carom contacts: where spheres touch the surface of a mesh, and which contacts of an earlier step go on. Contacts come
 * in pieces of whole spheres in order, and so do those of the earlier step: a piece is matched with those of its
 * spheres. */
#include "command.h"
#include "contacts.h"
#include "contacts_ended.h"
#include "cli/table/csv.h"
#include "cli/rows/mesh_columns.h"
#include "cli/rows/rows.h"
#include "cli/rows/scene_source.h"
#include "cli/import/import.h"
#include "cli/probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef struct contacts_options {
    cli_options common;
    const char *mesh, *scene, *spheres;
    float margin, merge_within;
    double flat; /* degrees; read if is_flat_given */
    int is_flat_given;
    const char *previous, *ended, *mesh_columns; /* files; NULL: none */
} contacts_options;

static int read_degrees(const char *name, const char *value, void *out)
{
    char *end;
    const double degrees = strtod(value, &end);
    if (end == value || *end != '\0' || !(degrees >= 0.0 && degrees <= 180.0))
        return cli_refuse(EXIT_USAGE, "--%s: expected degrees from 0 to 180, got '%s'", name, value);
    *(double *)out = degrees;
    return -1;
}

#define AT(member) offsetof(contacts_options, member)
static const cli_option own_options[] = {
    {"margin", "D", "also contacts that are at most D beyond the radius (default 0)", cli_read_length, AT(margin), 0,
     CLI_NO_FILE},
    {"merge-within", "D", "one contact where triangles come within D of its point: T-junctions, cracks (default 0)",
     cli_read_length, AT(merge_within), 0, CLI_NO_FILE},
    {"flat", "DEG", "angle up to which neighbouring triangles are of one patch (default 1)", read_degrees, AT(flat),
     AT(is_flat_given), CLI_NO_FILE},
    {"previous", "FILE", "the output of the step before: adds the column previous", cli_read_name, AT(previous), 0,
     CLI_READS},
    {"ended", "FILE", "with --previous: where to write its rows that have ended", cli_read_name, AT(ended), 0,
     CLI_WRITES_ROWS},
    CLI_MESH_COLUMNS(contacts_options, "contacts and summed depth", ""),
    CLI_MESH(contacts_options),
    CLI_SCENE(contacts_options),
    CLI_SPHERES(contacts_options),
};

/* ---- the step before --------------------------------------------------------------------------------------------- */

/* Columns of the step before; the last of them is a scene's. */
enum { OLD_QUERY, OLD_X, OLD_Y, OLD_Z, OLD_PATCH, OLD_INSTANCE, OLD_COLUMNS };
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
    int32_t *instance = realloc(h->instance, *room * sizeof *instance);
    h->instance = instance ? instance : h->instance;
    float *point = realloc(h->point, 3 * *room * sizeof *point);
    h->point = point ? point : h->point;
    return query && patch && instance && point;
}

static int refuse_row(const table_reader *file, const contacts_history *h, uint64_t row, const char *what)
{
    char place[512];
    table_place(file, h->path, row, place, sizeof place);
    return cli_refuse(EXIT_USAGE, "%s: %s", place, what);
}

/* The columns in the order of a .npy file. at[OLD_...] becomes the place of each. A mesh has no instances; the column
 * is looked for to refuse the step of a scene. */
static void order_columns(const contacts_history *h, table_column columns[OLD_COLUMNS], int at[OLD_COLUMNS])
{
    static const int of_mesh[] = {OLD_QUERY, OLD_X, OLD_Y, OLD_Z, OLD_PATCH, OLD_INSTANCE},
                     of_scene[] = {OLD_QUERY, OLD_INSTANCE, OLD_X, OLD_Y, OLD_Z, OLD_PATCH};
    static const char *const names[OLD_COLUMNS] = {"query", "x", "y", "z", "patch", "instance"};
    for (size_t i = 0; i < OLD_COLUMNS; i++) {
        const int column = (h->of_scene ? of_scene : of_mesh)[i];
        const int is_whole = column == OLD_QUERY || column == OLD_PATCH || column == OLD_INSTANCE;
        columns[i] = (table_column){.name = names[column], .group = column == OLD_INSTANCE && !h->of_scene};
        if (is_whole)
            columns[i].kind = TABLE_WHOLE;
        at[column] = (int)i;
    }
}

static int take_rows(contacts_history *h, const table_reader *file, const table_column *columns,
                     const int at[OLD_COLUMNS], uint64_t rows)
{
    const uint64_t *query = table_wholes(&columns[at[OLD_QUERY]]), *patch = table_wholes(&columns[at[OLD_PATCH]]),
                   *instance = h->of_scene ? table_wholes(&columns[at[OLD_INSTANCE]]) : NULL;
    for (uint64_t i = 0; i < rows; i++, h->count++) {
        if (h->count > 0 && query[i] < h->query[h->count - 1])
            return refuse_row(file, h, h->count, "query is less than in the row before; contacts are in its order");
        if (patch[i] > UINT32_MAX)
            return refuse_row(file, h, h->count, "patch is larger than 4294967295");
        if (instance && instance[i] > INT32_MAX)
            return refuse_row(file, h, h->count, "instance is larger than 2147483647");
        h->query[h->count] = query[i];
        h->instance[h->count] = instance ? (int32_t)instance[i] : 0;
        h->patch[h->count] = (uint32_t)patch[i];
        for (int k = 0; k < 3; k++) {
            const float x = columns[at[OLD_X] + k].data[i];
            if (!isfinite(x))
                return refuse_row(file, h, h->count, "x, y and z of a contact are finite");
            h->point[3 * h->count + (uint64_t)k] = x;
        }
    }
    return EXIT_DONE;
}

static int read_history(contacts_history *h, const cli_options *options)
{
    const table_limits limits = {.rows = CLI_CHUNK, .threads = parallel_threads(options->threads), .part = CSV_PART};
    table_column columns[OLD_COLUMNS];
    int at[OLD_COLUMNS];
    order_columns(h, columns, at);
    table_reader file = {NULL, NULL};
    uint64_t rows = 0, room = 0;
    int status = table_open(&file, h->path, columns, OLD_COLUMNS, &limits);
    if (status == EXIT_DONE && !h->of_scene && columns[at[OLD_INSTANCE]].present)
        status = cli_refuse(EXIT_USAGE, "%s: has instances, so it is the step of a scene: --scene is missing", h->path);
    while (status == EXIT_DONE) {
        status = table_next(&file, CLI_CHUNK, &rows);
        if (status != EXIT_DONE || rows == 0)
            break;
        status = grow(h, &room, rows) ? take_rows(h, &file, columns, at, rows) : cli_no_memory();
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
    free(h->instance);
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
                                            .instance = h->of_scene ? h->instance + first : NULL,
                                            .point = carom_xyz(h->point + 3 * first)};
    const carom_contact_records now = {
        .size = sizeof now,
        .count = records,
        .query = fields[CONTACTS_QUERY].longs,
        .patch = (const uint32_t *)fields[CONTACTS_PATCH].integers,
        .instance = h->of_scene ? fields[h->instance_field].integers : NULL,
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

static rows_query query_of(const contacts_options *o, query_field *fields, contacts_history *h)
{
    rows_query q = rows_query_of(&query_mesh_contacts, 0);
    q.margin = o->margin;
    q.merge_within = o->merge_within;
    q.flat = o->is_flat_given ? &o->flat : NULL;
    if (!h->path || fields == NULL)
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

/* The mesh or the scene that is asked for contacts. */
typedef struct contacts_surface {
    mesh_data data;
    carom_mesh *mesh;
    scene_source scene;
    mesh_columns_scene whole; /* for the mesh's columns */
} contacts_surface;

/* Importers may run in processes of their own, so it goes before anything starts threads. */
static int read_surface(const contacts_options *o, contacts_surface *surface)
{
    if (!o->scene)
        return mesh_import(o->mesh, &surface->data);
    return scene_source_read(&o->common, o->scene, &surface->scene);
}

static void free_surface(contacts_surface *surface)
{
    scene_source_free(&surface->scene);
    mesh_columns_scene_free(&surface->whole);
    carom_mesh_destroy(surface->mesh);
    surface->mesh = NULL;
    mesh_free(&surface->data);
}

/* *subject becomes the mesh that queries ask. */
static int open_surface(const contacts_options *o, const cli_options *usable, contacts_surface *surface,
                        carom_context **context, carom_mesh **subject)
{
    if (!o->scene) {
        const int status = cli_mesh_open(usable, o->mesh, &surface->data, context, &surface->mesh);
        *subject = surface->mesh;
        return status;
    }
    int status = cli_context_open(usable, context);
    if (status == EXIT_DONE)
        status = scene_source_make(&surface->scene, *context);
    *subject = carom_scene_mesh(surface->scene.scene);
    return status;
}

static int run_rows(const contacts_options *o, contacts_surface *surface, contacts_history *h)
{
    query_field fields[QUERY_FIELDS_MAX];
    rows_query query = query_of(o, fields, h);
    mesh_columns columns = {.path = o->mesh_columns, .data = &surface->data};
    cli_options usable = o->common;
    carom_mesh *mesh = NULL;
    rows_input input;
    if (o->scene) {
        query = rows_with_instance(&query, fields);
        h->instance_field = query.instance;
        if (usable.backend == CAROM_BACKEND_AUTO && !usable.device) /* no device searches a scene */
            usable.backend = CAROM_BACKEND_CPU;
    }
    query.mesh_columns = columns.path ? &columns : NULL;
    int status = columns.path ? mesh_columns_check(columns.path, &query) : EXIT_DONE;
    if (status == EXIT_DONE && columns.path && o->scene)
        status = mesh_columns_scene_make(&columns, &surface->whole, &surface->scene);
    if (status == EXIT_DONE)
        status = rows_open(&input, query.row, &o->common, o->spheres);
    if (status != EXIT_DONE)
        return status;
    status = rows_next(&input, CLI_CHUNK);
    if (status == EXIT_DONE)
        status = probe_before_rows(&usable, input.columns, input.column_count, input.count);
    if (status == EXIT_DONE)
        status = open_surface(o, &usable, surface, &h->context, &mesh);
    if (status == EXIT_DONE)
        status = rows_run(&query, mesh, &usable, &input);
    free_surface(surface);
    carom_context_destroy(h->context);
    rows_close(&input);
    return status;
}

static int check_options(const contacts_options *c)
{
    struct stat info;
    if (c->mesh && c->scene)
        return cli_refuse(EXIT_USAGE, "contacts: --mesh and --scene exclude each other");
    if ((!c->mesh && !c->scene) || !c->spheres)
        return cli_refuse(EXIT_USAGE, "contacts: --mesh FILE or --scene FILE, and --spheres FILE, must both be there");
    if (c->ended && !c->previous)
        return cli_refuse(EXIT_USAGE, "contacts: --ended belongs to --previous");
    if (c->ended && (!strcmp(c->previous, "-") || (stat(c->previous, &info) == 0 && !S_ISREG(info.st_mode))))
        return cli_refuse(EXIT_USAGE,
                          "contacts: --ended needs --previous as a file, no pipe, because it is read twice");
    if (c->previous && !strcmp(c->previous, "-") && !strcmp(c->spheres, "-"))
        return cli_refuse(EXIT_USAGE, "contacts: --spheres and --previous cannot both be standard input");
    return EXIT_DONE;
}

static int run(const void *options)
{
    const contacts_options *o = options;
    contacts_history h = {.path = o->previous, .of_scene = o->scene != NULL};
    contacts_ended ended = {.path = NULL};
    contacts_surface surface = {.mesh = NULL};
    int status = check_options(o);
    if (status != EXIT_DONE)
        return status;
    status = read_surface(o, &surface);
    if (status == EXIT_DONE && h.path)
        status = read_history(&h, &o->common);
    if (status == EXIT_DONE && o->ended) {
        h.ended_rows = &ended;
        status = contacts_ended_open(&ended, &h, o->ended);
    }
    if (status == EXIT_DONE)
        status = run_rows(o, &surface, &h);
    status = contacts_ended_close(&ended, status);
    free_history(&h);
    free_surface(&surface);
    return status;
}

static int prepare(const void *options, uint32_t present)
{
    const contacts_options *o = options;
    contacts_history none = {.path = NULL};
    const rows_query query = query_of(o, NULL, &none);
    carom_mesh *mesh = NULL;
    int status = probe_mesh(&o->common, &none.context, &mesh);
    if (status == EXIT_DONE)
        status = rows_prepare(&query, mesh, &o->common, present);
    carom_mesh_destroy(mesh);
    carom_context_destroy(none.context);
    return status;
}

const cli_command contacts_command = {
    .name = "contacts",
    .summary = "where spheres at rest touch the surface of a mesh: one contact on a flat wall however it is cut",
    .synopsis = "carom contacts --mesh M|--scene F --spheres S.csv [--previous OLD [--ended FILE]] [options]",
    .details =
        "S.csv has the columns cx,cy,cz,radius and optionally mask: 32 bits, 0..4294967295 or 0x..; of 0, a sphere\n"
        "touches nothing, for the triangles of a file have all bits. Output, a row for each contact, by query, "
        "distance,\n"
        "triangle: query,triangle,feature,distance,x,y,z,nx,ny,nz,depth,patch. The normal points from the surface to "
        "the\n"
        "centre, depth is the radius less the distance, patch the lowest triangle of the part of the mesh that is "
        "flat\n"
        "across its edges. --previous adds previous: the row of OLD, from 0, with the same query and patch whose "
        "point\n"
        "is nearest, or -1 for a new contact. With --scene, instance stands in front of triangle, and patch is a "
        "triangle\n"
        "of the instance's mesh; rows of OLD have instance, too.\n" CLI_ROWS_FILES "\n",
    .run = run,
    .size = sizeof(contacts_options),
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .computes = 1,
    .output = &cli_output_rows,
    .prepare = prepare,
};
