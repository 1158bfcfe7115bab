/* SPDX-License-Identifier: MIT */
#include "bench_csv.h"
#include "cli/base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names are of carom's own letters, but a file that was read may have others. */
static void put_name(output *out, const char *name)
{
    if (strpbrk(name, ",\"") == NULL) {
        output_text(out, name);
        return;
    }
    output_char(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            output_char(out, '"');
        output_char(out, *name);
    }
    output_char(out, '"');
}

static void put_round(output *out, const bench_row *r, int round)
{
    if (isnan(r->samples[round].wall))
        return; /* a round without it */
    put_name(out, r->scene);
    output_char(out, ',');
    put_name(out, r->name);
    output_format(out, ",%d,%.0f", round, r->queries);
    for (int c = 0; c < BENCH_COLUMNS; c++) {
        const double value = bench_columns[c].of(&r->samples[round]);
        output_char(out, ',');
        if (isfinite(value))
            output_format(out, "%.12g", value);
    }
    output_char(out, '\n');
}

int bench_csv(const bench_json *json, const char *path)
{
    output out;
    int rounds = 0;

    for (size_t i = 0; i < json->row_count; i++)
        rounds += json->rows[i].sample_count;
    if (rounds == 0)
        return cli_refuse(EXIT_WORK, "%s: the result has no rounds%s", path, json->schema < 2 ? " (schema 1)" : "");
    const int status = output_open(&out, path);
    if (status != EXIT_DONE)
        return status;
    output_text(&out, "scene,name,round,queries");
    for (int c = 0; c < BENCH_COLUMNS; c++)
        output_format(&out, ",%s", bench_columns[c].name);
    output_char(&out, '\n');
    for (size_t i = 0; i < json->row_count; i++)
        for (int k = 0; k < json->rows[i].sample_count; k++)
            put_round(&out, &json->rows[i], k);
    return output_close(&out, EXIT_DONE);
}
