/* SPDX-License-Identifier: MIT */
/* carom verify: every configuration of this machine against every other, bit by bit, in both modes, then the exact
 * reference; of pairs here, then of meshes (mesh.c). Exact mode is asked a share of what fast mode is asked:
 * integers take their time.
 *
 * The first block goes to the scalar path and to all others. The rest is compared with the fastest CPU configuration,
 * because scalar alone would take most of the time; a configuration far slower than that answers a stated share. */
#include "configs.h"
#include "cli/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 1024, SLOW_FACTOR = 8, EXACT_SHARE = 8 };

/* A configuration may take this long in all, and this long in one block, before it gets a smaller share. */
static const double patience = 10.0, block_patience = 3.0;

static const char *const mode_names[VERIFY_MODES] = {"fast", "exact"};

/* ---- running and comparing -------------------------------------------------------------------------------------- */

static uint64_t share_of(int mode, uint64_t n)
{
    return mode == CAROM_ACCURACY_EXACT ? (n + EXACT_SHARE - 1) / EXACT_SHARE : n;
}

/* --accuracy asks for one mode; without it both are compared. */
static int is_asked(const verification *v, int mode)
{
    return !v->options->common.is_accuracy_given || mode == (int)v->options->common.accuracy;
}

static size_t field_size(int type, int field)
{
    return query_field_size(&query_pairs[type]->fields[field]);
}

/* What a backend forgets to write must not look like the last answer. */
static void wipe(int type, const verify_answers *answers, uint64_t count)
{
    for (int f = 0; f < query_field_count(query_pairs[type]); f++)
        memset(answers->field[f], 0xa5, count * field_size(type, f));
}

/* A configuration that fails in the middle is a difference: it stays out of the rest. */
static int answer(verification *v, config *c, int mode, int type, uint64_t n, const verify_answers *to)
{
    const verify_request request = {type, 1, (carom_accuracy)mode, n};
    carom_error err = {0};
    carom_stats stats;
    wipe(type, to, n);
    const double start = cli_seconds();
    carom_status status = verify_run(c->context, &request, &v->queries, to, &stats, &err);
    c->seconds[mode][type] += cli_seconds() - start;
    if (status == CAROM_OK) {
        c->queries[mode][type] += n;
        verify_add_rungs(&c->rungs[type], &stats);
        c->exact_on_device += mode == CAROM_ACCURACY_EXACT ? stats.on_device : 0;
        return 1;
    }
    output_format(v->out, "%s: %s %s failed: %s: %s\n", c->name, mode_names[mode], query_pairs[type]->name,
                  carom_status_name(status), err.message);
    c->different[mode][type] += n;
    carom_context_destroy(c->context);
    c->context = NULL;
    snprintf(c->refusal, sizeof c->refusal, "failed while working: %s", err.message);
    return 0;
}

static int differs(const verification *v, int type, uint64_t i)
{
    for (int f = 0; f < query_field_count(query_pairs[type]); f++)
        if (memcmp(verify_answer_at(type, &v->expected, f, i), verify_answer_at(type, &v->got, f, i),
                   field_size(type, f)))
            return 1;
    return 0;
}

static void compare(verification *v, const config *base, config *c, int mode, int type, uint64_t first, uint64_t n)
{
    int same = 1;
    for (int f = 0; f < query_field_count(query_pairs[type]); f++)
        same &= !memcmp(v->expected.field[f], v->got.field[f], n * field_size(type, f));
    for (uint64_t i = 0; i < n && !same; i++) {
        if (!differs(v, type, i))
            continue;
        if (c->different[mode][type]++ == 0) {
            output_format(v->out, "%s differs from %s, %s mode, first in %s query %llu:\n", c->name, base->name,
                          mode_names[mode], query_pairs[type]->name, (unsigned long long)(first + i));
            verify_print_query(v->out, type, &v->queries, i);
            verify_print_answer(v->out, type, base->name, &v->expected, i);
            verify_print_answer(v->out, type, c->name, &v->got, i);
        }
    }
}

/* Which kernel answers a query depends on how many there are (verify_run), so a smaller share is compared with answers
 * to that share alone. These are not counted again. */
static int expect_share(verification *v, const config *base, int mode, int type, uint64_t share)
{
    const verify_request request = {type, 1, (carom_accuracy)mode, share};
    carom_error err = {0};
    carom_stats stats;
    if (share == v->expected_share)
        return 1;
    v->expected_share = share;
    wipe(type, &v->expected, share);
    return verify_run(base->context, &request, &v->queries, &v->expected, &stats, &err) == CAROM_OK;
}

static int run_type(verification *v, size_t base, int mode, int type, uint64_t block, uint64_t n)
{
    uint64_t all = share_of(mode, n);
    if (!v->configs[base].context || !answer(v, &v->configs[base], mode, type, all, &v->expected))
        return 0;
    v->expected_share = all;
    for (size_t i = 0; i < v->count; i++) {
        config *c = &v->configs[i];
        uint64_t some = share_of(mode, c->per_block), share = all < some ? all : some;
        if (i == base || !c->context || block % c->stride != 0)
            continue;
        if (!expect_share(v, &v->configs[base], mode, type, share))
            return 0;
        if (answer(v, c, mode, type, share, &v->got))
            compare(v, &v->configs[base], c, mode, type, block * VERIFY_BLOCK, share);
    }
    return 1;
}

static void run_block(verification *v, size_t base, uint64_t block, uint64_t n)
{
    for (int type = 0; type < QUERY_PAIR_COUNT; type++) {
        verify_generate(type, v->options->seed, block * VERIFY_BLOCK, n, &v->queries);
        for (int mode = 0; mode < VERIFY_MODES; mode++)
            if (is_asked(v, mode) && !run_type(v, base, mode, type, block, n))
                return;
    }
}

/* A first small batch builds kernels and starts threads; the second is timed, so that a device a thousand times slower
 * (an emulator) is not given a whole block. */
static void warm_up_config(verification *v, config *c)
{
    for (int type = 0; type < QUERY_PAIR_COUNT; type++) {
        verify_generate(type, v->options->seed, 0, WARM_UP, &v->queries);
        for (int mode = 0; mode < VERIFY_MODES && c->context; mode++) {
            if (!is_asked(v, mode))
                continue;
            double start = cli_seconds();
            answer(v, c, mode, type, share_of(mode, WARM_UP), &v->got);
            c->cost += (cli_seconds() - start) / WARM_UP;
        }
    }
    memset(c->queries, 0, sizeof c->queries);
    memset(c->seconds, 0, sizeof c->seconds);
    memset(c->rungs, 0, sizeof c->rungs);
    c->exact_on_device = 0;
}

static void warm_up(verification *v)
{
    for (size_t i = 0; i < v->count; i++) {
        config *c = &v->configs[i];
        for (int pass = 0; pass < 2 && c->context; pass++) {
            c->cost = 0.0;
            warm_up_config(v, c);
        }
        while (c->per_block > WARM_UP && c->cost * (double)c->per_block > block_patience)
            c->per_block /= 2;
    }
}

/* After the first block: who is fastest, and who must answer less. */
static void choose_shares(verification *v, uint64_t total)
{
    double best = 0.0;
    for (size_t i = 0; i < v->count; i++) {
        config *c = &v->configs[i];
        c->cost = 0.0;
        for (int type = 0; type < QUERY_PAIR_COUNT && c->context && c->queries[0][type] > 0; type++)
            c->cost += (c->seconds[0][type] + c->seconds[1][type]) / (double)c->queries[0][type];
        if (c->is_cpu && c->context && (best <= 0.0 || c->cost < best)) {
            best = c->cost;
            v->base = i;
        }
    }
    for (size_t i = 0; i < v->count; i++) {
        config *c = &v->configs[i];
        double share = (double)c->per_block / VERIFY_BLOCK;
        if (c->cost * share > SLOW_FACTOR * best && c->cost * share * (double)total > patience)
            c->stride = (uint64_t)(c->cost * share / (SLOW_FACTOR * best)) + 1;
    }
}

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

void verify_add_rungs(verify_rungs *sum, const carom_stats *stats)
{
    sum->first_filter += stats->by_proof - stats->by_second_filter;
    sum->second_filter += stats->by_second_filter;
    sum->integers += stats->by_integers;
}

void verify_write_column(output *out, const char *title)
{
    output_format(out, " %27s", title);
}

void verify_write_cell(output *out, int mode, uint64_t queries, const verify_rungs *rungs, uint64_t different)
{
    char cell[100];
    if (mode == CAROM_ACCURACY_FAST)
        snprintf(cell, sizeof cell, "%llu / %llu", (unsigned long long)queries, (unsigned long long)different);
    else
        snprintf(cell, sizeof cell, "%llu + %llu + %llu / %llu", (unsigned long long)rungs->first_filter,
                 (unsigned long long)rungs->second_filter, (unsigned long long)rungs->integers,
                 (unsigned long long)different);
    verify_write_column(out, queries || different ? cell : "-");
}

static void write_row(const verification *v, const config *c, int mode, uint64_t total)
{
    double seconds = 0.0, queries = 0.0;
    output_format(v->out, "%-52s", c->name);
    for (int type = 0; type < QUERY_PAIR_COUNT; type++) {
        verify_write_cell(v->out, mode, c->queries[mode][type], &c->rungs[type], c->different[mode][type]);
        seconds += c->seconds[mode][type];
        queries += (double)c->queries[mode][type];
    }
    if (queries > 0.0)
        output_format(v->out, " %11.1f", 1e9 * seconds / queries);
    if (c->context && c->queries[mode][0] < total)
        output_format(v->out, "  share %.3g %%", 100.0 * (double)c->queries[mode][0] / (double)total);
    if (mode == CAROM_ACCURACY_EXACT && c->context && !c->is_cpu && !c->exact_on_device)
        output_text(v->out, "  on the CPU: no binary64");
    output_format(v->out, "%s%s\n", c->refusal[0] ? "  refused: " : "", c->refusal);
}

static void write_matrix(const verification *v, uint64_t total)
{
    static const char *const titles[VERIFY_MODES] = {"fast mode: queries of each type / different",
                                                     "exact: first filter + second + integers / different"};
    for (int mode = 0; mode < VERIFY_MODES; mode++) {
        if (!is_asked(v, mode))
            continue;
        output_format(v->out, "\n%-52s", titles[mode]);
        for (int type = 0; type < QUERY_PAIR_COUNT; type++)
            verify_write_column(v->out, query_pairs[type]->name);
        output_text(v->out, "    ns/query\n");
        for (size_t i = 0; i < v->count; i++)
            write_row(v, &v->configs[i], mode, total);
    }
}

static uint64_t count_differences(const verification *v)
{
    uint64_t different = 0;
    for (size_t i = 0; i < v->count; i++)
        for (int mode = 0; mode < VERIFY_MODES; mode++)
            for (int type = 0; type < QUERY_PAIR_COUNT; type++)
                different += v->configs[i].different[mode][type];
    return different;
}

static double count_queries(const verification *v, int mode)
{
    double queries = 0.0;
    for (size_t i = 0; i < v->count; i++)
        for (int type = 0; type < QUERY_PAIR_COUNT; type++)
            queries += (double)v->configs[i].queries[mode][type];
    return queries;
}

static int run_others(const verification *v, uint64_t *different, uint64_t *wrong)
{
    verify_subject subjects[CONFIGS_MAX];
    for (size_t i = 0; i < v->count; i++)
        subjects[i] = (verify_subject){v->configs[i].name, v->configs[i].context, v->configs[i].is_cpu};
    const int status = verify_meshes(subjects, v->count, v->options, v->out, different, wrong);
    return status == EXIT_DONE ? verify_clouds(subjects, v->count, v->options, v->out, different, wrong) : status;
}

static int run_all(verification *v)
{
    const verify_options *o = v->options;
    uint64_t total = o->queries, wrong = 0;
    double start = cli_seconds();
    progress p;
    progress_begin(&p, "verify pairs", "queries", 0, total);
    warm_up(v);
    for (uint64_t block = 0; block * VERIFY_BLOCK < total; block++) {
        const uint64_t before = block * VERIFY_BLOCK, left = total - before,
                       n = left < VERIFY_BLOCK ? left : VERIFY_BLOCK;
        run_block(v, v->base, block, n);
        if (block == 0)
            choose_shares(v, total);
        progress_show(&p, before + n);
    }
    progress_end(&p);
    write_matrix(v, total);
    double seconds = cli_seconds() - start, fast = count_queries(v, 0), exact = count_queries(v, 1);
    output_format(v->out,
                  "bits: %.0f fast and %.0f exact answers compared in %.1f s (%.3g queries/s, generation included), "
                  "seed %llu\n",
                  fast, exact, seconds, (fast + exact) / seconds, (unsigned long long)o->seed);
    config *base = &v->configs[v->base];
    uint64_t checked = total < 100000 ? total : 100000;
    int status = base->context ? verify_reference(base->context, checked, o->seed, v->out, &wrong) : EXIT_WORK;
    uint64_t different = count_differences(v);
    if (status == EXIT_DONE)
        status = run_others(v, &different, &wrong);
    output_format(v->out, "\nresult: %s\n", different || wrong || status != EXIT_DONE ? "FAILED" : "passed");
    if (status == EXIT_DONE && (different || wrong))
        status = cli_refuse(EXIT_WORK, "verify found %llu differing answers and %llu wrong answers",
                            (unsigned long long)different, (unsigned long long)wrong);
    return status;
}

int verify_command_run(const void *options)
{
    output out;
    verify_options usable = *(const verify_options *)options;
    const int wants_device = usable.common.backend == CAROM_BACKEND_OPENCL || usable.common.device;
    int status = probe_before_all(&usable.common);
    if (status != EXIT_DONE)
        return status;
    verification *v = calloc(1, sizeof *v);
    if (!v)
        return cli_no_memory();
    status = output_open(&out, usable.common.output);
    if (status == EXIT_DONE) {
        v->options = &usable;
        v->out = &out;
        status = verify_queries_alloc(&v->queries, VERIFY_BLOCK);
        status |= verify_answers_alloc(&v->expected, VERIFY_BLOCK);
        status |= verify_answers_alloc(&v->got, VERIFY_BLOCK);
        if (status == EXIT_DONE) {
            verify_add_cpus(v);
            verify_add_devices(v);
            if (wants_device && !verify_has_device(v))
                status = verify_refuse_devices(v);
            else
                status = run_all(v);
        }
        /* the matrix is worth most when something differs: it is kept in any case */
        int written = output_close(&out, EXIT_DONE);
        status = status == EXIT_DONE ? written : status;
    }
    for (size_t i = 0; i < v->count; i++)
        carom_context_destroy(v->configs[i].context);
    verify_queries_free(&v->queries);
    verify_answers_free(&v->expected);
    verify_answers_free(&v->got);
    free(v);
    return status;
}
