/* SPDX-License-Identifier: MIT */
/* carom explain: one sweep taken apart. The numbers come from the reference, never from the solver, so that they can be
 * held against its answers. */
#include "command.h"
#include "explain.h"
#include "queries/query.h"
#include "cli/rows/rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct explain_options {
    cli_options common;
    const char *pairs, *svg;
    uint64_t row;
    int is_row_given;
} explain_options;

static const cli_option own_options[] = {
    CLI_PAIRS(explain_options),
    {"row", "N", "the row of the file, from 0", cli_read_whole, offsetof(explain_options, row),
     offsetof(explain_options, is_row_given), CLI_NO_FILE},
    {"svg", "FILE", "a picture of the same, as SVG", cli_read_name, offsetof(explain_options, svg), 0, CLI_WRITES},
};

/* An invalid query has no partition: say which number makes it so. */
static int check_valid(const explain_options *o, const rows_input *input, const float *row)
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
static int take_row(const explain_options *o, rows_input *input, ref_sweep_case *c)
{
    float *column[QUERY_COLUMNS_MAX], row[QUERY_COLUMNS_MAX];
    for (size_t i = 0; i < input->column_count; i++)
        column[i] = input->columns[i].present ? input->columns[i].data : NULL;
    query_load_row(&query_sweep, column, o->row - input->from, row);
    query_sweep_case(row, c);
    return check_valid(o, input, row);
}

/* The file is read as far as the row, and what follows is not looked at. */
static int read_case(const explain_options *o, ref_sweep_case *c)
{
    rows_input input;
    int status = rows_open(&input, &query_sweep, &o->common, o->pairs);
    if (status != EXIT_DONE)
        return status;
    uint64_t rows = 0; /* that have been read */
    do {
        status = rows_next(&input, o->row - rows < CLI_CHUNK ? o->row - rows + 1 : CLI_CHUNK);
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

static int write_svg(const explain_options *o, const ref_sweep_case *c, const ref_partition *partition)
{
    output out;
    int status = output_open(&out, o->svg);
    if (status != EXIT_DONE)
        return status;
    explain_svg(&out, o->row, c, partition);
    return output_close(&out, EXIT_DONE);
}

static int write_rows(const explain_options *o, const ref_partition *partition)
{
    output out;
    int status = output_open(&out, o->common.output);
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

static int run(const void *options)
{
    const explain_options *o = options;
    if (!o->pairs)
        return cli_refuse(EXIT_USAGE, "explain: --pairs FILE is missing");
    if (!o->is_row_given)
        return cli_refuse(EXIT_USAGE, "explain: --row N is missing");
    if (o->svg && !strcmp(o->svg, "-") && (!o->common.output || !strcmp(o->common.output, "-")))
        return cli_refuse(EXIT_USAGE, "--svg -: the rows go to standard output; -o FILE puts them elsewhere");
    ref_sweep_case c;
    int status = read_case(o, &c);
    if (status != EXIT_DONE)
        return status;
    ref_partition *partition = malloc(sizeof *partition);
    if (!partition)
        return cli_no_memory();
    ref_partition_set(partition, &c);
    if (o->svg)
        status = write_svg(o, &c, partition);
    if (status == EXIT_DONE)
        status = write_rows(o, partition);
    free(partition);
    return status;
}

const cli_command explain_command = {
    .name = "explain",
    .summary = "one moving sphere against one triangle, step by step: the partition of its path, and a picture",
    .synopsis = "carom explain --pairs F.csv --row N [--svg FILE] [options]",
    .details =
        "F.csv is a file of pairs as carom sweep reads it; - is standard input. Row N, counted from 0, is explained.\n"
        "Eberly's partition: the triangle's Voronoi regions cut the line of centres into elements. In each of them "
        "the\n"
        "squared distance less the squared radius is one quadratic, F(t) = f0 + 2 f1 t + f2 t^2.\n"
        "Output, a row for each element in the order of time: element,region,t_begin,t_end,f0,f1,f2,root0,root1.\n"
        "Regions: R0 R1 R2 of the corners, R01 R12 R20 of the edges, R012 of the face. Roots of F are those within "
        "the\n"
        "element; where F is zero throughout, they are its ends. Computed exactly, and each number rounded once.\n",
    .run = run,
    .size = sizeof(explain_options),
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .output = &cli_output_text,
};
