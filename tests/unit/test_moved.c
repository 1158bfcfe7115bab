/* SPDX-License-Identifier: MIT */
/* Verdicts of carom bench --compare over made-up runs: how often runs of one build are told apart, and how often a
 * build that is 5 % slower in some rows is found. Every number comes from a seed. */
#include "tests/support/support.h"

#include "bench/common.h"
#include "bench/moved.h"

#include <math.h>

enum { ROWS_MAX = 60, RUNS = 20, ROUNDS = 12, PAIRS = 200 };

typedef struct world {
    int rows, runs;
    double round, run, shared; /* deviations: between rounds, between runs for each row, between runs for all rows */
    int heavy;                 /* deviations of rows between runs are Student's t with 3 degrees */
    int noisy;                 /* every third row differs between runs by so many times as much; 0: as the others */
    double neighbours;         /* deviation between runs of a row and its control alike; 0: there is no control */
} world;

static uint64_t seed;

static double normal(void)
{
    const double u = bench_range(&seed, 0.0, 1.0), v = bench_range(&seed, 0.0, 1.0);

    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

/* With a deviation of about 1. */
static double row_noise(const world *w)
{
    if (!w->heavy)
        return normal();
    const double a = normal(), b = normal(), c = normal();
    return normal() / sqrt(a * a + b * b + c * c);
}

static moved_run runs[MOVED_SIDES][ROWS_MAX][RUNS];
static moved_row rows[ROWS_MAX];

/* The first `slow` rows of the new side take `more` times as long, and as many instructions. */
static moved_summary compare(const world *w, int slow, double more)
{
    moved_summary out;

    for (int side = 0; side < MOVED_SIDES; side++)
        for (int r = 0; r < w->runs; r++) {
            const double shared = w->shared * normal();
            for (int i = 0; i < w->rows; i++) {
                const double moved = side == MOVED_NEW && i < slow ? log(more) : 0.0;
                const double own = w->run * (w->noisy > 0 && i % 3 == 1 ? w->noisy : 1);
                const double slowed = w->neighbours > 0.0 ? w->neighbours * normal() : 0.0;
                const double middle = log(1e-8) + i + moved + shared + slowed + own * row_noise(w);
                double sorted[ROUNDS];
                moved_run *run = &runs[side][i][r];
                for (int k = 0; k < ROUNDS; k++) /* what disturbs a round makes it longer */
                    run->rounds[k] = middle + w->round * fabs(normal());
                run->count = ROUNDS;
                run->center = statistics_median(sorted, statistics_sort(sorted, run->rounds, ROUNDS));
                run->cpu = run->center;
                run->center_beside = run->cpu_beside = w->neighbours > 0.0 ? run->center - slowed : (double)NAN;
                run->instructions = 100.0 * exp(moved) * (1.0 + 1e-5 * normal());
            }
        }
    for (int i = 0; i < w->rows; i++)
        rows[i] = (moved_row){.runs = {runs[MOVED_OLD][i], runs[MOVED_NEW][i]}, .counts = {w->runs, w->runs}};
    assert_true(moved_judge(rows, w->rows, &out));
    return out;
}

static int count_called(const world *w, int from, int to, moved_verdict verdict)
{
    int called = 0;

    for (int i = from; i < to && i < w->rows; i++)
        called += rows[i].by_time == verdict;
    return called;
}

/* Of 100 pairs of one build at most one has a verdict, with a little room for chance; of 100 with a row that is so much
 * slower at least 95 are found. The noises are those of a quiet machine, and beyond. */
static void test_claims(void **state)
{
    static const struct {
        const char *name;
        world world;
        double more; /* what a row that is slower takes, and is found */
    } cases[] = {
        {"one run, independent rounds", {24, 1, 0.01, 0.0, 0.0, 0, 0, 0.0}, 1.2},
        {"one run, quiet", {24, 1, 0.005, 0.003, 0.003, 0, 0, 0.0}, 1.15},
        {"one run, heavy tails", {24, 1, 0.005, 0.003, 0.003, 1, 0, 0.0}, 1.15},
        {"one run, a machine that drifts", {24, 1, 0.01, 0.01, 0.03, 0, 0, 0.0}, 1.6},
        {"one run, a third of the rows 3 times noisier", {38, 1, 0.001, 0.005, 0.0, 0, 3, 0.0}, 1.5},
        {"one run, a third of the rows 4 times noisier", {38, 1, 0.0001, 0.005, 0.0, 0, 4, 0.0}, 1.5},
        {"two runs, a third of the rows 3 times noisier", {38, 2, 0.003, 0.005, 0.0, 0, 3, 0.0}, 0.0},
        {"three runs, a third of the rows 3 times noisier", {38, 3, 0.003, 0.005, 0.0, 0, 3, 0.0}, 1.2},
        {"five runs, a third of the rows 3 times noisier", {38, 5, 0.003, 0.005, 0.0, 0, 3, 0.0}, 1.05},
        {"five runs, a third of the rows 9 times noisier", {38, 5, 0.003, 0.005, 0.0, 1, 9, 0.0}, 1.07},
        {"three runs of one row, quiet", {1, 3, 0.005, 0.003, 0.0, 0, 0, 0.0}, 1.05},
        {"five runs of one row", {1, 5, 0.01, 0.01, 0.0, 0, 0, 0.0}, 1.05},
        {"five runs, quiet", {24, 5, 0.005, 0.005, 0.003, 0, 0, 0.0}, 1.05},
        {"five runs, a machine that drifts", {24, 5, 0.01, 0.01, 0.005, 0, 0, 0.0}, 1.1},
        {"eight runs, a noisy machine", {24, 8, 0.03, 0.015, 0.005, 0, 0, 0.0}, 1.1},
        {"five runs, heavy tails", {24, 5, 0.01, 0.01, 0.003, 1, 0, 0.0}, 1.2},
        {"twenty runs, very noisy, heavy tails", {24, 20, 0.03, 0.04, 0.003, 1, 0, 0.0}, 1.07},
        {"ten runs, neighbours that slow a row and its control", {24, 10, 0.01, 0.01, 0.0, 0, 0, 0.1}, 1.05},
        {"twenty runs, neighbours and heavy tails", {24, 20, 0.03, 0.02, 0.0, 1, 0, 0.1}, 1.05},
        {"twenty runs of one row, neighbours", {1, 20, 0.03, 0.03, 0.0, 0, 0, 0.1}, 1.07},
    };
    (void)state;

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const world *w = &cases[c].world;
        int called = 0, found = 0, by_instructions = 0, wrong_instructions = 0;
        seed = c + 1;
        for (int i = 0; i < PAIRS; i++) {
            compare(w, 0, 1.0);
            called += count_called(w, 0, w->rows, MOVED_SLOWER) + count_called(w, 0, w->rows, MOVED_FASTER) > 0;
            for (int k = 0; k < w->rows; k++)
                wrong_instructions += rows[k].by_instructions != MOVED_NOT;
            compare(w, 1, cases[c].more > 1.0 ? cases[c].more : 1.05);
            found += rows[0].by_time == MOVED_SLOWER;
            by_instructions += rows[0].by_instructions == MOVED_SLOWER;
        }
        print_message("%s: of %d pairs of one build %d with a verdict; %.0f %% found in %d\n", cases[c].name, PAIRS,
                      called, 100.0 * fmax(cases[c].more, 1.05) - 100.0, found);
        assert_in_range(100 * called, 0, 2 * PAIRS);
        if (cases[c].more > 1.0)
            assert_in_range(100 * found, 95 * PAIRS, 100 * PAIRS);
        assert_int_equal(by_instructions, PAIRS);
        assert_int_equal(wrong_instructions, 0);
    }
}

/* What cannot be known is not called. */
static void test_unknown(void **state)
{
    const world few = {MOVED_ROWS - 1, 1, 0.001, 0.0, 0.0, 0, 0, 0.0},
                many = {MOVED_ROWS, 1, 0.001, 0.0, 0.0, 0, 0, 0.0};
    moved_summary all;
    (void)state;

    seed = 7;
    all = compare(&few, 1, 2.0);
    assert_true(isnan(all.noise_of_one));
    assert_int_equal(rows[0].by_time, MOVED_UNKNOWN); /* one run, and too few rows to tell the noise from */
    all = compare(&many, 1, 2.0);
    assert_true(all.noise_of_one < 0.01);
    assert_int_equal(rows[0].by_time, MOVED_SLOWER);

    for (int i = 0; i < many.rows; i++) /* they only waited longer */
        runs[MOVED_NEW][i][0].cpu = runs[MOVED_OLD][i][0].cpu;
    assert_true(moved_judge(rows, many.rows, &all));
    assert_int_equal(rows[0].by_time, MOVED_NOT);
    runs[MOVED_NEW][0][0].cpu = (double)NAN; /* as for several threads */
    assert_true(moved_judge(rows, many.rows, &all));
    assert_int_equal(rows[0].by_time, MOVED_SLOWER);

    for (int i = 0; i < many.rows; i++) /* as a file without rounds has them */
        runs[MOVED_OLD][i][0].count = 0, runs[MOVED_OLD][i][0].instructions = (double)NAN;
    assert_true(moved_judge(rows, many.rows, &all));
    assert_int_equal(all.tested, 0);
    assert_int_equal(rows[0].by_time, MOVED_UNKNOWN);
    assert_int_equal(rows[0].by_instructions, MOVED_UNKNOWN);
    assert_true(moved_judge(rows, 0, &all));
}

/* All rows together: a clock that is slower in the whole of one run is no row's fault; of several runs it is. */
static void test_together(void **state)
{
    const world one = {20, 1, 0.002, 0.001, 0.0, 0, 0, 0.0}, several = {20, 5, 0.002, 0.001, 0.0, 0, 0, 0.0};
    (void)state;

    seed = 9;
    moved_summary all = compare(&one, 20, 1.1);
    assert_true(fabs(all.together - log(1.1)) < 0.005);
    assert_int_equal(count_called(&one, 0, 20, MOVED_NOT), 20);
    all = compare(&several, 20, 1.1);
    assert_true(all.together == 0.0 && all.by_runs == 20);
    assert_int_equal(count_called(&several, 0, 20, MOVED_SLOWER), 20);
    assert_true(rows[3].low < log(1.1) && log(1.1) < rows[3].high);
}

/* A row that one file of each side has, of several files, is judged by its like; the others are as they would be
 * without it, wherever it stands. */
static void test_files_of_a_row(void **state)
{
    const world w = {20, 5, 0.002, 0.001, 0.0, 0, 0, 0.0};
    moved_summary all;
    (void)state;

    for (int at = 0; at < w.rows; at += w.rows - 1) {
        seed = 11;
        compare(&w, 20, 1.1);
        rows[at].counts[MOVED_OLD] = rows[at].counts[MOVED_NEW] = 1;
        assert_true(moved_judge(rows, w.rows, &all));
        assert_int_equal(all.tested, 20);
        assert_int_equal(all.by_runs, 19);
        assert_true(all.noise_of_runs < 0.005 && isnan(all.noise_of_one) && all.together == 0.0);
        assert_int_equal(rows[at].by_time, MOVED_UNKNOWN); /* one row alone does not tell how much runs differ */
        assert_int_equal(count_called(&w, 0, w.rows, MOVED_SLOWER), 19);
    }
    /* Degrees of freedom are each row's own: with fewer runs the floor is higher. */
    seed = 12;
    compare(&w, 0, 1.0);
    rows[19].counts[MOVED_OLD] = rows[19].counts[MOVED_NEW] = 2;
    assert_true(moved_judge(rows, w.rows, &all));
    assert_true(rows[19].floor > 2.0 * rows[0].floor);
}

/* A control is taken where it has less noise, in all runs, and with runs enough to tell. */
static void test_control(void **state)
{
    const world w = {12, 10, 0.001, 0.01, 0.0, 0, 0, 0.1};
    moved_summary all;
    (void)state;

    seed = 13;
    all = compare(&w, 1, 1.1);
    assert_int_equal(all.beside, 12);
    assert_int_equal(all.by_runs, 12);
    assert_int_equal(rows[0].by_time, MOVED_SLOWER);
    assert_true(rows[0].low < log(1.1) && log(1.1) < rows[0].high);
    runs[MOVED_NEW][0][3].center_beside = (double)NAN; /* a run without it */
    for (int side = 0; side < MOVED_SIDES; side++)
        for (int r = 0; r < w.runs; r++)
            runs[side][1][r].center_beside = runs[side][1][r].center; /* no better than the row alone */
    assert_true(moved_judge(rows, w.rows, &all));
    assert_int_equal(all.beside, 10);
    assert_int_equal(rows[0].is_beside + rows[1].is_beside, 0);
    assert_int_equal(rows[0].by_time, MOVED_NOT); /* its noise is that of the neighbours */
    for (int i = 0; i < w.rows; i++)
        rows[i].counts[MOVED_OLD] = w.runs - 1;
    assert_true(moved_judge(rows, w.rows, &all));
    assert_int_equal(all.beside, 0);

    seed = 13;
    all = compare(&w, 1, 1.1);
    for (int r = 0; r < w.runs; r++) /* it only waited */
        runs[MOVED_NEW][0][r].cpu_beside = runs[MOVED_OLD][0][r].cpu_beside;
    assert_true(moved_judge(rows, w.rows, &all));
    assert_int_equal(rows[0].by_time, MOVED_NOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),         cmocka_unit_test(test_unknown), cmocka_unit_test(test_together),
        cmocka_unit_test(test_files_of_a_row), cmocka_unit_test(test_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
