/* SPDX-License-Identifier: MIT */
/* Commands that answer about pairs and about meshes: sweep and overlap. From a mesh file and a file of spheres to
 * answers. */
#include "command.h"
#include "cli/rows/mesh_columns.h"
#include "cli/rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct query_options {
    cli_options common;
    const char *pairs, *mesh, *scene, *spheres;
    float t_max, max_distance; /* +inf unless given */
    int is_t_max_given, is_max_distance_given;
    const char *hits, *mesh_columns;
    carom_start start;
    int is_start_given, cull_back;
    carom_sign sign;
    int is_sign_given, allow_open, gradient;
    uint32_t bundle; /* 0: not given */
} query_options;

static const query_options defaults = {.t_max = INFINITY, .max_distance = INFINITY};

/* --pairs, --mesh and --scene, then the options that belong to the last two. */
enum { NEITHER = 3 };

#define BUNDLE(when)                                                                                                 \
    {                                                                                                                \
        "bundle", "K", "with --hits " when ": K rows in a row, such as a robot's spheres, have one answer together", \
            cli_read_bundle, offsetof(query_options, bundle), 0, CLI_NO_FILE                                         \
    }

static const cli_option sweep_options[] = {
    CLI_PAIRS(query_options),
    CLI_MESH(query_options),
    CLI_SCENE(query_options),
    CLI_SPHERES(query_options),
    CLI_T_MAX(query_options),
    CLI_HITS(query_options),
    CLI_START(query_options),
    CLI_CULL_BACK(query_options),
    CLI_MESH_COLUMNS(query_options, "hits and least time", " (of --hits first or all)"),
    BUNDLE("any"),
};

static const cli_option overlap_options[] = {
    CLI_PAIRS(query_options),
    CLI_MESH(query_options),
    CLI_SCENE(query_options),
    CLI_SPHERES(query_options),
    {"max-distance", "D", "with --hits closest: no triangle farther away, >= 0 or inf (default inf)", cli_read_limit,
     offsetof(query_options, max_distance), offsetof(query_options, is_max_distance_given), CLI_NO_FILE},
    CLI_SIGN(offsetof(query_options, sign), offsetof(query_options, is_sign_given)),
    CLI_ALLOW_OPEN(0, offsetof(query_options, allow_open)),
    {"gradient", NULL, "with --hits closest: columns gx,gy,gz, the direction in which the distance grows", NULL, 0,
     offsetof(query_options, gradient), CLI_NO_FILE},
    BUNDLE("any and closest"),
    CLI_HITS(query_options),
};

/* Refuses options that belong to another word of --hits. */
static int check_options(const query_options *o, const query_type *row)
{
    const char *name = o->is_max_distance_given ? "max-distance" : o->gradient ? "gradient" : NULL;
    const char *of_body = o->is_sign_given ? "sign" : o->allow_open ? "allow-open" : NULL;
    if (of_body && o->scene)
        return cli_refuse(EXIT_USAGE, "%s: --%s belongs to --mesh", o->common.command->name, of_body);
    if (name && row != &query_mesh_closest)
        return cli_refuse(EXIT_USAGE, "%s: --%s belongs to --hits closest", o->common.command->name, name);
    if (of_body && row != &query_mesh_closest && row != &query_mesh_any_still)
        return cli_refuse(EXIT_USAGE, "%s: --%s belongs to --hits any and closest", o->common.command->name, of_body);
    if (o->bundle > 0 && row != &query_mesh_any && row != &query_mesh_any_still && row != &query_mesh_closest)
        return cli_refuse(EXIT_USAGE, "%s: --bundle belongs to --hits any%s", o->common.command->name,
                          row->mesh.command && !strcmp(row->mesh.command, "overlap") ? " and closest" : "");
    return EXIT_DONE;
}

/* Puts the row whose answer a bundle has in front. fields: memory for the query's fields. */
static void add_query(rows_query *query, query_field fields[QUERY_FIELDS_MAX])
{
    memcpy(fields, query->fields, (size_t)query->field_count * sizeof *fields);
    fields[query->field_count] = (query_field){"query", QUERY_NUMBER, 0};
    memmove(query->order + 1, query->order, (size_t)query->field_count * sizeof *query->order);
    query->order[0] = query->query = query->field_count++;
    query->fields = fields;
}

/* The query that --hits names, the first without it. fields: memory for its fields. */
static int find_query(const query_options *options, query_field fields[QUERY_FIELDS_MAX], rows_query *out)
{
    const char *command = options->common.command->name;
    const query_type *row;
    const query_word *word;
    char words[128];
    for (int i = 0; (word = query_word_of(command, i, &row)) != NULL; i++)
        if (!options->hits || !strcmp(options->hits, word->word)) {
            const int status = check_options(options, row);
            *out = rows_query_of(options->gradient ? &query_mesh_closest_gradient : row, word == &row->mesh.count);
            out->sign = options->sign;
            out->allow_open = options->allow_open != 0;
            out->cull_back = options->cull_back != 0;
            out->start = options->start;
            out->limit = query_has_role(row, QUERY_WINDOW)  ? &options->t_max
                         : query_has_role(row, QUERY_REACH) ? &options->max_distance
                                                            : NULL;
            out->bundle = options->bundle;
            if (status == EXIT_DONE && options->bundle > 0 && row == &query_mesh_closest)
                add_query(out, fields);
            return status;
        }
    cli_hits_words(command, ", ", " or ", words, sizeof words);
    return cli_refuse(EXIT_USAGE, "--hits: expected %s, got '%s'", words, options->hits);
}

static int run_on_mesh(const query_options *o, rows_query *query)
{
    mesh_columns columns = {.path = o->mesh_columns};
    if (!o->spheres)
        return cli_refuse(EXIT_USAGE, "%s: --%s needs --spheres FILE", o->common.command->name,
                          o->scene ? "scene" : "mesh");
    if (columns.path && mesh_columns_check(columns.path, query) != EXIT_DONE)
        return EXIT_USAGE;
    query->mesh_columns = columns.path ? &columns : NULL;
    if (o->scene)
        return rows_scene(query, &o->common, o->scene, o->spheres);
    return rows_mesh(query, &o->common, o->mesh, o->spheres);
}

/* The options that belong to --mesh as `--a, --b and --c`. */
static void names_on_mesh(const cli_command *command, char *text, size_t size)
{
    size_t used = 0;
    for (int i = NEITHER; i < command->option_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s--%s",
                                 i == NEITHER                     ? ""
                                 : i == command->option_count - 1 ? " and "
                                                                  : ", ",
                                 command->options[i].name);
}

static int run(const void *options)
{
    const query_options *o = options;
    const cli_command *command = o->common.command;
    query_field fields[QUERY_FIELDS_MAX];
    rows_query query;
    char names[192];
    if ((o->pairs != NULL) + (o->mesh != NULL) + (o->scene != NULL) > 1)
        return cli_refuse(EXIT_USAGE, "%s: --pairs, --mesh and --scene exclude each other", command->name);
    if (o->mesh || o->scene) {
        const int status = find_query(o, fields, &query);
        return status == EXIT_DONE ? run_on_mesh(o, &query) : status;
    }
    if (!o->pairs)
        return cli_refuse(EXIT_USAGE,
                          "%s: --pairs FILE, or --mesh FILE or --scene FILE with --spheres FILE, is missing",
                          command->name);
    if (o->spheres || o->is_t_max_given || o->is_max_distance_given || o->hits || o->is_start_given || o->cull_back ||
        o->is_sign_given || o->allow_open || o->gradient || o->bundle > 0 || o->mesh_columns) {
        names_on_mesh(command, names, sizeof names);
        return cli_refuse(EXIT_USAGE, "%s: %s belong to --mesh and --scene", command->name, names);
    }
    return rows_pairs(query_named(command->name), &o->common, o->pairs);
}

static int prepare(const void *options, uint32_t present)
{
    const query_options *o = options;
    query_field fields[QUERY_FIELDS_MAX];
    rows_query query;
    if (o->pairs)
        return rows_prepare_pairs(query_named(o->common.command->name), &o->common, present);
    const int status = find_query(o, fields, &query);
    return status == EXIT_DONE ? rows_prepare_mesh(&query, &o->common, present) : status;
}

const cli_command sweep_command = {
    .name = "sweep",
    .summary = "moving spheres against triangles: times, points and features of contact",
    .synopsis =
        "carom sweep --pairs F.csv [options]\ncarom sweep --mesh M|--scene F --spheres S.csv [--hits WHICH] [options]",
    .details =
        "F.csv has the columns cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z and optionally wx,wy,wz.\n"
        "S.csv has the columns cx,cy,cz,radius,vx,vy,vz and optionally t_max, which overrides --t-max row by row,\n"
        "and mask: 32 bits, 0..4294967295 or 0x..; of 0, a sphere hits nothing, for the triangles of a file have all "
        "bits.\n" CLI_ROWS_FILES " One row per input row, in order, but for --hits all and "
        "--bundle K,\n"
        "which has a row for K rows (their number must be a multiple of K): 1 if one has a hit, else empty if one is\n"
        "invalid, else 0.\n"
        "With --mesh, --hits chooses:\n",
    .run = run,
    .size = sizeof(query_options),
    .defaults = &defaults,
    .options = sweep_options,
    .option_count = CLI_COUNT(sweep_options),
    .computes = 1,
    .output = &cli_output_rows,
    .prepare = prepare,
};

const cli_command overlap_command = {
    .name = "overlap",
    .summary = "spheres at rest against triangles: overlap, separating axes, the nearest point of a mesh",
    .synopsis = "carom overlap --pairs F.csv [options]\n"
                "carom overlap --mesh M|--scene F --spheres S.csv [--hits WHICH] [options]",
    .details =
        "F.csv has the columns cx,cy,cz,radius,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z. Output: overlap,axes.\n"
        "S.csv has the columns cx,cy,cz,radius and optionally mask: 32 bits, 0..4294967295 or 0x..; of 0, a sphere\n"
        "overlaps nothing, for the triangles of a file have all bits. With --hits closest also max_distance, which\n"
        "overrides --max-distance row by row.\n" CLI_ROWS_FILES
        " One row per input row, in order, but for --hits all and "
        "--bundle K,\n"
        "which has a row for K rows (their number must be a multiple of K): of any 1 if one is, else empty if one is "
        "invalid,\n"
        "else 0; of closest the deepest of them, with its row in a column `query` in front.\n"
        "With --mesh, --hits chooses:\n",
    .run = run,
    .size = sizeof(query_options),
    .defaults = &defaults,
    .options = overlap_options,
    .option_count = CLI_COUNT(overlap_options),
    .computes = 1,
    .output = &cli_output_rows,
    .prepare = prepare,
};
