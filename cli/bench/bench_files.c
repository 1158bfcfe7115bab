/* SPDX-License-Identifier: MIT */
#include "bench_files.h"

#include <stdlib.h>
#include <string.h>

/* All files, the first in front. */
typedef struct loaded {
    bench_json *results;
    const char **paths;
    int count, read; /* files; of these, read */
    bench_comparison *moves;
    const bench_comparison **list;
    int move_count;
} loaded;

static int take_all(loaded *l, const bench_files *f)
{
    l->count = f->common->operand_count + 1;
    l->results = cli_alloc((uint64_t)l->count, sizeof *l->results);
    l->paths = cli_alloc((uint64_t)l->count, sizeof *l->paths);
    l->moves = cli_alloc((uint64_t)l->count, sizeof *l->moves);
    l->list = cli_alloc((uint64_t)l->count, sizeof *l->list);
    if (l->results == NULL || l->paths == NULL || l->moves == NULL || l->list == NULL)
        return cli_no_memory();
    for (int i = 0; i < l->count; i++) {
        l->paths[i] = i == 0 ? f->first : f->common->operands[i - 1];
        int status = cli_check_named_input(f->common, l->paths[i]);
        if (status == EXIT_DONE)
            status = bench_json_read(&l->results[i], l->paths[i]);
        if (status != EXIT_DONE)
            return status;
        l->read++;
    }
    return EXIT_DONE;
}

/* Files [from, from + count) against the `old` first ones. */
static int add_comparison(loaded *l, int old, int from, int count)
{
    const bench_side before = {l->results, l->paths, old}, now = {l->results + from, l->paths + from, count};

    l->list[l->move_count] = &l->moves[l->move_count];
    return bench_compare(&before, &now, &l->moves[l->move_count++]);
}

static int compare_all(loaded *l, int apart)
{
    int status = EXIT_DONE;

    if (apart >= 0)
        return add_comparison(l, l->count - apart, l->count - apart, apart);
    for (int i = 1; i < l->count && status == EXIT_DONE; i++)
        status = add_comparison(l, 1, i, 1);
    return status;
}

static int show_all(const loaded *l, const bench_files *f)
{
    output out;
    int status = output_open(&out, f->common->output);

    if (status != EXIT_DONE)
        return status;
    for (int i = 0; i < l->move_count; i++)
        bench_compare_show(&l->moves[i], &out);
    status = output_close(&out, EXIT_DONE);
    if (status != EXIT_DONE || f->report == NULL)
        return status;
    const bench_report report = {&l->moves[l->move_count - 1].sides[MOVED_NEW].results[0], l->list, l->move_count,
                                 f->words};
    return bench_report_write(&report, f->report);
}

int bench_files_compare(const bench_files *f)
{
    const int apart = f->common->operands_apart;
    const int old = f->common->operand_count + 1 - apart;
    loaded l = {0};

    if (apart == 0)
        return cli_refuse(EXIT_USAGE, "bench: no file stands behind --: nothing to compare with");
    if (apart > MOVED_RUNS_MAX || (apart >= 0 && old > MOVED_RUNS_MAX))
        return cli_refuse(EXIT_USAGE, "bench: %d files on a side; at most %d are compared", apart > old ? apart : old,
                          MOVED_RUNS_MAX);
    int status = take_all(&l, f);
    if (status == EXIT_DONE)
        status = compare_all(&l, apart);
    if (status == EXIT_DONE)
        status = show_all(&l, f);
    for (int i = 0; i < l.move_count; i++)
        bench_compare_end(&l.moves[i]);
    for (int i = 0; i < l.read; i++)
        bench_json_end(&l.results[i]);
    free(l.results);
    free(l.paths);
    free(l.moves);
    free(l.list);
    return status;
}
