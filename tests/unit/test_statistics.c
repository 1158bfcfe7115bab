/* SPDX-License-Identifier: MIT */
/* The statistics of carom bench against values of other programs. SciPy 1.10.1 gave those without another name:
 * stats.mannwhitneyu, stats.norm.isf, stats.t.isf, stats.binom.cdf; sums over all divisions of ranks are itertools'. */
#include "tests/support/support.h"

#include "bench/common.h"
#include "bench/statistics.h"

#include <math.h>

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fmax(1e-3, fabs(wanted))))
        fail_msg("%.12g, not %.12g", got, wanted);
}

/* Placental permeability, of the page of R's wilcox.test, which gives p = 0.2544, a shift of 0.305 and the interval
 * from -0.15 to 0.76 (x - y; ours is y - x). */
static const double x[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double y[] = {1.15, 0.88, 0.90, 0.74, 1.21};

static void test_ranks(void **state)
{
    static const double tied[] = {1, 2, 2, 3, 5, 5}, other[] = {2, 3, 5, 6, 7};
    double many[64], more[50];
    (void)state;

    near(statistics_rank_test(x, 10, y, 5), 0.254412254412);
    near(statistics_rank_test(y, 5, x, 10), 0.254412254412);
    near(statistics_rank_test(tied, 6, other, 5), 0.216450216450);
    for (int i = 0; i < 64; i++)
        many[i] = (double)(i * 37 % 64 / 8);
    for (int i = 0; i < 50; i++)
        more[i] = (double)(i * 29 % 50 / 5) + 0.5 * (i % 2);
    near(statistics_rank_test(many, 64, more, 50), 0.022102974377149535);
    near(statistics_rank_test(many, 20, many, 20), 1.0);
    near(statistics_rank_test((const double[]){1, 2, 3, 4}, 4, (const double[]){5, 6, 7, 8}, 4), 2.0 / 70.0);
    near(statistics_rank_least(4, 4), 2.0 / 70.0);
    near(statistics_rank_least(1, 1), 1.0);
    near(statistics_rank_test((const double[]){1, 1, 1}, 3, (const double[]){1, 1}, 2), 1.0);
    near(statistics_rank_test(x, 0, y, 5), 1.0);

    /* Few on a side: exact of more than 40, too, so the least that can be is reached, with ties on one side as well. */
    static const double first[] = {-1, -2, -3, -4, -5, -6};
    for (int few = 1; few <= 6; few++)
        for (int ties = 0; ties < 2; ties++) {
            for (int i = 0; i < 64; i++)
                many[i] = ties ? i / 2 : i;
            near(statistics_rank_test(first, few, many, 64), statistics_rank_least(few, 64));
            near(statistics_rank_test(many, 64, first, few), statistics_rank_least(64, few));
        }
}

/* Divisions of the ranks one by one, for small sets with ties. */
static double by_hand(const double *a, int a_count, const double *b, int b_count)
{
    const int count = a_count + b_count;
    double all[12], rank[12], wanted = 0.0;
    int below = 0, above = 0, ways = 0;

    for (int i = 0; i < count; i++)
        all[i] = i < a_count ? a[i] : b[i - a_count];
    for (int i = 0; i < count; i++) {
        rank[i] = 0.5;
        for (int k = 0; k < count; k++)
            rank[i] += all[k] < all[i] ? 1.0 : all[k] > all[i] ? 0.0 : 0.5;
        wanted += i < a_count ? rank[i] : 0.0;
    }
    for (unsigned set = 0; set < 1u << count; set++) {
        double sum = 0.0;
        int members = 0;
        for (int i = 0; i < count; i++)
            if (set >> i & 1u)
                sum += rank[i], members++;
        if (members != a_count)
            continue;
        ways++;
        below += sum <= wanted + 1e-9;
        above += sum >= wanted - 1e-9;
    }
    return fmin(1.0, 2.0 * (below < above ? below : above) / ways);
}

static void test_ranks_by_hand(void **state)
{
    uint64_t seed = 3;
    (void)state;

    for (int round = 0; round < 200; round++) {
        double a[6], b[6];
        const int a_count = 1 + (int)(bench_bits(&seed) % 6), b_count = 1 + (int)(bench_bits(&seed) % 6);
        const double values = round % 2 ? 5.0 : 1e6; /* many ties, or none */
        for (int i = 0; i < 6; i++) {
            a[i] = floor(bench_range(&seed, 0.0, values));
            b[i] = floor(bench_range(&seed, 0.0, values));
        }
        near(statistics_rank_test(a, a_count, b, b_count), by_hand(a, a_count, b, b_count));
    }
}

static void test_shift(void **state)
{
    statistics_shift s;
    double many[64], more[50];
    (void)state;

    assert_true(statistics_hodges_lehmann(x, 10, y, 5, &s));
    near(s.shift, -0.305);
    near(s.interval.low, -0.76);
    near(s.interval.high, 0.15);
    near(s.interval.confidence, 0.960039960040);
    for (int i = 0; i < 64; i++)
        many[i] = i;
    for (int i = 0; i < 50; i++)
        more[i] = i + 1000.25;
    assert_true(statistics_hodges_lehmann(many, 64, more, 50, &s));
    near(s.shift, 993.25);
    assert_true(s.interval.low < s.shift && s.shift < s.interval.high);
    for (int i = 0; i < 25; i++) /* differences are 1 to 625: their order tells how many are left out */
        many[i] = -25.0 * i, more[i] = i + 1;
    assert_true(statistics_hodges_lehmann(many, 25, more, 25, &s));
    near(s.interval.low, 211.0); /* 210 are left out at each end, as a sum over all orders in whole numbers has it */
    near(s.interval.high, 415.0);
    assert_true(statistics_hodges_lehmann((const double[]){1, 2}, 2, (const double[]){4, 6}, 2, &s));
    near(s.interval.low, 2.0); /* too few for 95 %: the least and the greatest */
    near(s.interval.high, 5.0);
    assert_true(s.interval.confidence < 0.95);
    assert_true(statistics_hodges_lehmann(x, 0, y, 5, &s));
    assert_true(isnan(s.shift));
}

static void test_median(void **state)
{
    /* Of n values 1 to n: the ends of the interval, and its confidence. */
    static const struct {
        int n, low, high;
        double confidence;
    } table[] = {{1, 1, 1, 0.0},       {5, 1, 5, 0.9375},          {6, 1, 6, 0.96875},       {8, 1, 8, 0.9921875},
                 {9, 2, 8, 0.9609375}, {12, 3, 10, 0.96142578125}, {13, 3, 11, 0.9775390625}};
    double values[13], sorted[13];
    (void)state;

    for (int i = 0; i < 13; i++)
        values[i] = 13 - i;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const int n = statistics_sort(sorted, values + 13 - table[i].n, table[i].n);
        const statistics_interval got = statistics_median_interval(sorted, n);
        near(got.low, table[i].low);
        near(got.high, table[i].high);
        near(got.confidence, table[i].confidence);
        near(statistics_median(sorted, n), 0.5 * (n + 1));
    }
    assert_int_equal(statistics_sort(sorted, (const double[]){(double)NAN, 2.0, (double)NAN, 1.0}, 4), 2);
    near(statistics_median(sorted, 2), 1.5);
    assert_true(isnan(statistics_median(sorted, 0)));
    assert_true(isnan(statistics_median_interval(sorted, 0).low));
}

/* R's p.adjust with "holm". */
static void test_holm(void **state)
{
    static const double p[] = {0.01, 0.04, 0.03, 0.005, 0.5}, wanted[] = {0.04, 0.09, 0.09, 0.025, 0.5};
    double adjusted[5];
    (void)state;

    assert_true(statistics_holm(adjusted, p, 5));
    for (int i = 0; i < 5; i++)
        near(adjusted[i], wanted[i]);
    assert_true(statistics_holm(adjusted, p, 0));
}

static void test_quantiles(void **state)
{
    (void)state;
    near(statistics_normal_above(0.025), 1.959963984540054);
    near(statistics_normal_above(1e-7), 5.199337582192818);
    near(statistics_normal_above(0.5), 0.0);
    near(statistics_t_above(0.025, 4.0), 2.7764451051977996);
    near(statistics_t_above(1e-4, 3.0), 22.203742266779802);
    near(statistics_t_above(0.005, 8.0), 3.3553873313333966);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),  cmocka_unit_test(test_ranks_by_hand), cmocka_unit_test(test_shift),
        cmocka_unit_test(test_median), cmocka_unit_test(test_holm),          cmocka_unit_test(test_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
