/* SPDX-License-Identifier: MIT */
/* Commands that answer about pairs and about meshes: sweep and overlap. From a mesh file and a file of spheres to
 * answers. */
#include "cli/rows/rows.h"
#include "cli/import/import.h"
#include "cli/probe/probe.h"

#include <stdio.h>
#include <string.h>

size_t cli_hits_words(const char *command, const char *between, const char *before_last, char *text, size_t size)
{
    const query_type *row;
    size_t used = 0;
    for (int i = 0; query_word_of(command, i, &row) && used < size; i++) {
        const query_word *word = query_word_of(command, i, &row);
        const char *gap = i == 0 ? "" : query_word_of(command, i + 1, &row) ? between : before_last;
        used += (size_t)snprintf(text + used, size - used, "%s%s", gap, word->word);
    }
    return used;
}

/* The query that --hits names, the first without it. */
static int find_query(const cli_options *options, rows_query *out)
{
    const char *command = options->command->name;
    const query_type *row;
    const query_word *word;
    char words[128];
    for (int i = 0; (word = query_word_of(command, i, &row)) != NULL; i++)
        if (!options->hits || !strcmp(options->hits, word->word)) {
            *out = rows_query_of(row, word == &row->mesh.count);
            return EXIT_DONE;
        }
    cli_hits_words(command, ", ", " or ", words, sizeof words);
    return cli_refuse(EXIT_USAGE, "--hits: expected %s, got '%s'", words, options->hits);
}

static int run_on_mesh(const cli_options *options, const rows_query *query)
{
    rows_input input;
    mesh_data data;
    if (!options->spheres)
        return cli_refuse(EXIT_USAGE, "%s: --mesh needs --spheres FILE", options->command->name);
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    int status = options->rehearsal ? rehearsal_mesh(&data) : mesh_import(options->mesh, &data);
    if (status != EXIT_DONE)
        return status;
    status = rows_open(&input, query->row, options, options->spheres);
    if (status == EXIT_DONE) {
        carom_context *context = NULL;
        carom_mesh *mesh = NULL;
        cli_options usable = *options;
        status = rows_next(&input, options, ROWS_CHUNK);
        if (status == EXIT_DONE)
            status = probe_before_rows(&usable, input.columns, input.column_count, input.count);
        if (status == EXIT_DONE)
            status = cli_mesh_open(&usable, &data, &context, &mesh);
        if (status == EXIT_DONE)
            status = rows_run(query, mesh, &usable, &input);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        rows_close(&input);
    }
    mesh_free(&data);
    return status;
}

int command_on_mesh(const cli_options *options)
{
    static const uint32_t mesh_only =
        OPTION_SPHERES | OPTION_T_MAX | OPTION_MAX_DISTANCE | OPTION_HITS | OPTION_START | OPTION_CULL_BACK;
    const char *command = options->command->name;
    rows_query query;
    char names[128];
    if (options->pairs && options->mesh)
        return cli_refuse(EXIT_USAGE, "%s: --pairs and --mesh exclude each other", command);
    if (options->mesh) {
        const int status = find_query(options, &query);
        if (status == EXIT_DONE && (options->given & OPTION_MAX_DISTANCE) && !query_has_role(query.row, QUERY_REACH))
            return cli_refuse(EXIT_USAGE, "%s: --max-distance belongs to --hits closest", command);
        return status == EXIT_DONE ? run_on_mesh(options, &query) : status;
    }
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "%s: --pairs FILE or --mesh FILE with --spheres FILE is missing", command);
    if (options->given & mesh_only) {
        options_names(options->command->accepts & mesh_only, names, sizeof names);
        return cli_refuse(EXIT_USAGE, "%s: %s belong to --mesh", command, names);
    }
    return rows_pairs(query_named(command), options);
}
