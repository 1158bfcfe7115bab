/* SPDX-License-Identifier: MIT */
/* carom explain: one sweep taken apart. The numbers come from the reference, never from the solver, so that they can be
 * held against its answers. */
#include "explain.h"
#include "cli/command/command.h"
#include "queries/query.h"
#include "cli/rows/rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An invalid query has no partition: say which number makes it so. */
static int check_valid(const cli_options *o, const rows_input *input, const float *row)
{
    char place[PATH_MAX + 64];
    table_place(&input->file, strcmp(o->pairs, "-") ? o->pairs : "standard input", o->row, place, sizeof place);
    for (int c = 0; c < query_column_count(&query_sweep); c++) {
        int component;
        const int is_radius = query_input_of(&query_sweep, c, &component)->role == QUERY_RADIUS;
        if (!isfinite(row[c]) || (is_radius && row[c] < 0.0f))
            return cli_refuse(EXIT_USAGE, "%s: column %s: expected %s, got %.9g: row %llu is invalid", place,
                              input->columns[c].name, is_radius ? "a finite number >= 0" : "a finite number",
                              (double)row[c], (unsigned long long)o->row);
    }
    return EXIT_DONE;
}

/* The row of the chunk that --row names. */
static int take_row(const cli_options *o, rows_input *input, ref_sweep_case *c)
{
    float *column[QUERY_COLUMNS_MAX], row[QUERY_COLUMNS_MAX];
    for (size_t i = 0; i < input->column_count; i++)
        column[i] = input->columns[i].present ? input->columns[i].data : NULL;
    query_load_row(&query_sweep, column, o->row - input->from, row);
    query_sweep_case(row, c);
    return check_valid(o, input, row);
}

/* The file is read as far as the row, and what follows is not looked at. */
static int read_case(const cli_options *o, ref_sweep_case *c)
{
    rows_input input;
    int status = rows_open(&input, &query_sweep, o, o->pairs);
    if (status != EXIT_DONE)
        return status;
    uint64_t rows = 0; /* that have been read */
    do {
        status = rows_next(&input, o, o->row - rows < ROWS_CHUNK ? o->row - rows + 1 : ROWS_CHUNK);
        rows += input.count;
    } while (status == EXIT_DONE && rows <= o->row && input.count > 0);
    rows_show(&input, input.count);
    if (status == EXIT_DONE && rows > o->row)
        status = take_row(o, &input, c);
    else if (status == EXIT_DONE && rows > 0)
        status = cli_refuse(EXIT_USAGE, "--row %llu: the file has the rows 0 to %llu", (unsigned long long)o->row,
                            (unsigned long long)(rows - 1));
    else if (status == EXIT_DONE)
        status = cli_refuse(EXIT_USAGE, "--row %llu: the file has no rows", (unsigned long long)o->row);
    rows_close(&input);
    return status;
}

static int write_svg(const cli_options *o, const ref_sweep_case *c, const ref_partition *partition)
{
    output out;
    int status = output_open(&out, o->svg);
    if (status != EXIT_DONE)
        return status;
    explain_svg(&out, o->row, c, partition);
    return output_close(&out, EXIT_DONE);
}

static int write_rows(const cli_options *o, const ref_partition *partition)
{
    output out;
    int status = output_open(&out, o->output);
    if (status != EXIT_DONE)
        return status;
    output_text(&out, "element,region,t_begin,t_end,f0,f1,f2,root0,root1\n");
    for (int i = 0; i < partition->count; i++) {
        ref_element_row row;
        ref_element_row_set(&row, &partition->element[i]);
        output_format(&out, "%d,%s,%.17g,%.17g,%.17g,%.17g,%.17g", i, row.region, row.begin, row.end, row.f[0],
                      row.f[1], row.f[2]);
        for (int k = 0; k < 2; k++) {
            output_char(&out, ',');
            if (k < row.roots)
                output_format(&out, "%.17g", row.root[k]);
        }
        output_char(&out, '\n');
    }
    return output_close(&out, EXIT_DONE);
}

int command_explain(const cli_options *options)
{
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "explain: --pairs FILE is missing");
    if (!(options->given & OPTION_ROW))
        return cli_refuse(EXIT_USAGE, "explain: --row N is missing");
    if (options->svg && !strcmp(options->svg, "-") && (!options->output || !strcmp(options->output, "-")))
        return cli_refuse(EXIT_USAGE, "--svg -: the rows go to standard output; -o FILE puts them elsewhere");
    ref_sweep_case c;
    int status = read_case(options, &c);
    if (status != EXIT_DONE)
        return status;
    ref_partition *partition = malloc(sizeof *partition);
    if (!partition)
        return cli_no_memory();
    ref_partition_set(partition, &c);
    if (options->svg)
        status = write_svg(options, &c, partition);
    if (status == EXIT_DONE)
        status = write_rows(options, partition);
    free(partition);
    return status;
}
