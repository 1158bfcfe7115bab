/* SPDX-License-Identifier: MIT */
#include "scene_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "cli/base/base.h"
#include "cli/base/decimal.h"

/* Columns: the mesh, the map, the mask, the velocity; -1 where a field of the file is ignored. */
enum { MESH, MAP, MASK = MAP + SCENE_MAP, VELOCITY, COLUMNS = VELOCITY + 3, FIELDS_MAX = 64 };
static const char *const names[COLUMNS] = {"mesh", "m00", "m01", "m02", "m03",  "m10", "m11", "m12", "m13",
                                           "m20",  "m21", "m22", "m23", "mask", "ux",  "uy",  "uz"};

typedef struct scene_reader {
    const char *path;
    FILE *file;
    char *text;
    size_t room;
    unsigned long long line;
    int column[FIELDS_MAX], field_count; /* the column of each field */
    char *field[COLUMNS];                /* of a row; NULL: absent */
    int moves;                           /* velocities are accepted */
    scene_file *out;
} scene_reader;

static int refuse(const scene_reader *r, const char *what, const char *shown)
{
    return cli_refuse(EXIT_USAGE, "%s:%llu: %s%s%s%s", r->path, r->line, what, shown ? " '" : "", shown ? shown : "",
                      shown ? "'" : "");
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static void trim(char *text)
{
    char *end = text + strlen(text), *begin = text;
    while (*begin == ' ' || *begin == '\t')
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r' || end[-1] == '\n'))
        end--;
    memmove(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
}

/* Cuts the next field from a line, in place: up to a comma, or in double quotes, of which two are one. Returns what
 * follows it; NULL: the line has ended. *wrong: what is wrong with a quoted field, else NULL. */
static char *cut_field(char *from, char **field, const char **wrong)
{
    *wrong = NULL;
    *field = from;
    while (*from == ' ' || *from == '\t')
        from++;
    if (*from != '"') {
        char *end = strchr(from, ',');
        if (end)
            *end++ = '\0';
        trim(*field);
        return end;
    }
    char *to = *field = from;
    for (from++; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    char *end = *from != '\0' ? from + 1 : NULL;
    *wrong = end ? NULL : "a double quote is not closed";
    *to = '\0';
    while (end && (*end == ' ' || *end == '\t'))
        end++;
    if (end && *end != '\0' && *end != ',')
        *wrong = "text behind a closing quote";
    return end && *end == ',' ? end + 1 : NULL;
}

/* The next line; 0 at the end. */
static int next_line(scene_reader *r)
{
    r->line++;
    return getline(&r->text, &r->room, r->file) > 0;
}

static int read_header(scene_reader *r)
{
    int seen[COLUMNS] = {0};
    const char *wrong;
    char *field;
    if (!next_line(r))
        return ferror(r->file) ? cli_refuse(EXIT_USAGE, "%s: %s", r->path, strerror(errno))
                               : refuse(r, "the file is empty", NULL);
    trim(r->text);
    for (char *at = r->text + (strncmp(r->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0); at; r->field_count++) {
        if (r->field_count == FIELDS_MAX)
            return refuse(r, "more than 64 columns", NULL);
        at = cut_field(at, &field, &wrong);
        if (wrong)
            return refuse(r, wrong, NULL);
        r->column[r->field_count] = -1;
        for (int c = 0; c < COLUMNS; c++)
            if (strcmp(field, names[c]) == 0) {
                if (seen[c]++)
                    return refuse(r, "column twice:", field);
                r->column[r->field_count] = c;
            }
    }
    for (int c = 0; c < MASK; c++)
        if (!seen[c])
            return refuse(r, "missing column", names[c]);
    for (int c = VELOCITY; c < COLUMNS; c++) {
        if (seen[c] && !r->moves)
            return refuse(r, "a bake is of instances at rest, without ux, uy and uz: column", names[c]);
        r->out->has_velocities |= seen[c];
        if (!seen[c] && (seen[VELOCITY] | seen[VELOCITY + 1] | seen[VELOCITY + 2]))
            return refuse(r, "ux, uy and uz go together; missing column", names[c]);
    }
    return EXIT_DONE;
}

static int cut_row(scene_reader *r)
{
    int fields = 0;
    const char *wrong;
    char *field;
    memset(r->field, 0, sizeof r->field);
    for (char *at = r->text; at; fields++) {
        at = cut_field(at, &field, &wrong);
        if (wrong)
            return refuse(r, wrong, NULL);
        if (fields < r->field_count && r->column[fields] >= 0)
            r->field[r->column[fields]] = field;
    }
    if (fields != r->field_count)
        return cli_refuse(EXIT_USAGE, "%s:%llu: %d fields, the header has %d", r->path, r->line, fields,
                          r->field_count);
    return EXIT_DONE;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The number of a mesh, of the last ones first: neighbours in a file are often of one mesh. */
static int find_mesh(scene_reader *r, uint32_t *number)
{
    scene_file *out = r->out;
    char *path = cli_beside(r->path, r->field[MESH]);
    if (!path)
        return cli_no_memory();
    if (r->field[MESH][0] == '\0') {
        free(path);
        return refuse(r, "mesh: the path is missing", NULL);
    }
    for (uint64_t i = out->path_count; i-- > 0;)
        if (strcmp(out->paths[i], path) == 0) {
            *number = (uint32_t)i;
            free(path);
            return EXIT_DONE;
        }
    if (out->path_count == out->path_room) {
        const uint64_t room = 2 * out->path_room + 16;
        char **more = cli_resize(out->paths, room, sizeof *more);
        if (!more) {
            free(path);
            return cli_no_memory();
        }
        out->paths = more;
        out->path_room = room;
    }
    *number = (uint32_t)out->path_count;
    out->paths[out->path_count++] = path;
    return EXIT_DONE;
}

static int make_room(scene_file *out)
{
    if (out->count < out->room)
        return 1;
    const uint64_t room = 2 * out->room + 64;
    uint32_t *mesh = cli_resize(out->mesh, room, sizeof *mesh);
    out->mesh = mesh ? mesh : out->mesh;
    float(*map)[SCENE_MAP] = cli_resize(out->map, room, sizeof *map);
    out->map = map ? map : out->map;
    uint32_t *mask = cli_resize(out->mask, room, sizeof *mask);
    out->mask = mask ? mask : out->mask;
    float(*velocity)[3] = cli_resize(out->velocity, room, sizeof *velocity);
    out->velocity = velocity ? velocity : out->velocity;
    out->room = mesh && map && mask && velocity ? room : out->room;
    return mesh && map && mask && velocity;
}

static int read_number(const scene_reader *r, int column, float *out)
{
    const char *text = r->field[column], *end = text + strlen(text);
    char *stop;
    if (decimal_read(text, end, out) == end && end > text)
        return EXIT_DONE;
    *out = strtof(text, &stop);
    if (*text == '\0' || *stop != '\0' || !isfinite(*out))
        return cli_refuse(EXIT_USAGE, "%s:%llu: %s: expected a finite number, got '%s'", r->path, r->line,
                          names[column], text);
    return EXIT_DONE;
}

static int read_mask(const scene_reader *r, uint32_t *out)
{
    const char *text = r->field[MASK];
    char *stop;
    *out = UINT32_MAX;
    if (!text)
        return EXIT_DONE;
    errno = 0;
    const unsigned long long value = strtoull(text, &stop, 0);
    if (*text < '0' || *text > '9' || *stop != '\0' || errno != 0 || value > UINT32_MAX)
        return refuse(r, "mask: expected 0..4294967295 or 0x.., got", text);
    *out = (uint32_t)value;
    return EXIT_DONE;
}

static int read_row(scene_reader *r)
{
    scene_file *out = r->out;
    int status = cut_row(r);
    if (status != EXIT_DONE)
        return status;
    if (!make_room(out))
        return cli_no_memory();
    if (out->count == CAROM_SCENE_INSTANCES)
        return cli_refuse(EXIT_USAGE, "%s:%llu: more than %d instances", r->path, r->line, CAROM_SCENE_INSTANCES);
    status = find_mesh(r, &out->mesh[out->count]);
    for (int k = 0; status == EXIT_DONE && k < SCENE_MAP; k++)
        status = read_number(r, MAP + k, &out->map[out->count][k]);
    if (status == EXIT_DONE)
        status = read_mask(r, &out->mask[out->count]);
    for (int k = 0; status == EXIT_DONE && k < 3; k++) {
        out->velocity[out->count][k] = 0;
        if (out->has_velocities)
            status = read_number(r, VELOCITY + k, &out->velocity[out->count][k]);
    }
    out->count += status == EXIT_DONE;
    return status;
}

int scene_file_read(const char *path, int moves, scene_file *out)
{
    *out = (scene_file){.paths = NULL};
    scene_reader r = {.path = path, .file = fopen(path, "r"), .moves = moves, .out = out};
    if (!r.file)
        return cli_refuse(EXIT_USAGE, "%s: %s", path, strerror(errno));
    int status = read_header(&r);
    while (status == EXIT_DONE && next_line(&r)) {
        trim(r.text);
        if (r.text[0] != '\0')
            status = read_row(&r);
    }
    if (status == EXIT_DONE && ferror(r.file))
        status = cli_refuse(EXIT_USAGE, "%s: %s", path, strerror(errno));
    if (status == EXIT_DONE && out->count == 0)
        status = cli_refuse(EXIT_USAGE, "%s: no instance", path);
    free(r.text);
    (void)fclose(r.file);
    return status;
}

void scene_file_free(scene_file *file)
{
    for (uint64_t i = 0; i < file->path_count; i++)
        free(file->paths[i]);
    free(file->paths);
    free(file->mesh);
    free(file->map);
    free(file->mask);
    free(file->velocity);
    *file = (scene_file){.paths = NULL};
}
