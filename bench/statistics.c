/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order statistics -------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int statistics_sort(double *sorted, const double *values, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (!isnan(values[i]))
            sorted[kept++] = values[i];
    qsort(sorted, (size_t)kept, sizeof *sorted, compare);
    return kept;
}

double statistics_median(const double *sorted, int n)
{
    if (n == 0)
        return (double)NAN;
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/* The number of values below the median is binomial, as heads of n coins. Fills in the chance that the median lies
 * outside. */
static int count_outside(int n, double *missed)
{
    double chance = exp2(-n), below = 0.0; /* of exactly k heads, of at most k */
    int k = 0;

    *missed = 2.0 * chance; /* all values on one side */
    for (; k < n / 2; k++) {
        below += chance;
        if (2.0 * below > 0.05)
            break;
        *missed = 2.0 * below;
        chance *= (double)(n - k) / (k + 1);
    }
    return k > 1 ? k - 1 : 0;
}

int statistics_outside(int n)
{
    double missed;

    return count_outside(n, &missed);
}

statistics_interval statistics_median_interval(const double *sorted, int count)
{
    double missed;

    if (count == 0)
        return (statistics_interval){(double)NAN, (double)NAN, 0.0};
    const int outside = count_outside(count, &missed);
    return (statistics_interval){sorted[outside], sorted[count - 1 - outside], 1.0 - missed};
}

/* ---- the rank test ----------------------------------------------------------------------------------------------- */

/* Divisions are counted one by one up to so many values; with few on a side, whose normal distribution is a poor one,
 * up to twice what a row has at most. */
enum { EXACT_MAX = 40, EXACT_FEW = 6, EXACT_OF_FEW = 128 };

static int is_exact(int a, int b)
{
    return a + b <= EXACT_MAX || ((a < b ? a : b) <= EXACT_FEW && a + b <= EXACT_OF_FEW);
}

typedef struct ranking {
    int a_count, count;
    int rank[2 * STATISTICS_VALUES_MAX]; /* twice the mean rank, by value */
    long sum;                            /* of those of a */
    double ties;                         /* sum of t^3 - t over groups of equal values */
} ranking;

typedef struct ranked {
    double value;
    int of_a;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    return compare(&((const ranked *)a)->value, &((const ranked *)b)->value);
}

static void rank_values(ranking *r, ranked *values)
{
    qsort(values, (size_t)r->count, sizeof *values, compare_ranked);
    for (int i = 0, next; i < r->count; i = next) {
        for (next = i + 1; next < r->count && !(values[next].value > values[i].value); next++)
            ;
        const double t = next - i;
        r->ties += t * t * t - t;
        for (int k = i; k < next; k++) {
            r->rank[k] = i + 1 + next; /* twice the mean of i + 1 to next */
            r->sum += values[k].of_a ? r->rank[k] : 0;
        }
    }
}

/* ways[u]: orders of a and b values without ties in which u pairs have the value of b above that of a (Mann and
 * Whitney). NULL if memory is short; the caller frees it. */
static double *count_orders(int a, int b)
{
    const size_t length = (size_t)(a * b) + 1;
    double *ways = calloc((size_t)(a + 1) * length, sizeof *ways); /* [i][u]: of i values of a and the first j of b */

    for (int i = 0; ways != NULL && i <= a; i++)
        ways[(size_t)i * length] = 1.0;
    for (int j = 1; ways != NULL && j <= b; j++)
        for (int i = 1; i <= a; i++) {
            double *with = ways + (size_t)i * length, *without = with - length;
            /* The greatest is of b, above i values of a, or it is of a. */
            for (int u = i * j; u >= 0; u--)
                with[u] = (u >= i ? with[u - i] : 0.0) + without[u];
        }
    if (ways != NULL)
        memmove(ways, ways + (size_t)a * length, length * sizeof *ways);
    return ways;
}

/* ways[s]: sets of a_count ranks whose sum is s, `last` at most; with ties. Sums of ranks are doubled, so that ranks of
 * ties are whole. */
static double *count_sums(const ranking *r, long last)
{
    const size_t length = (size_t)last + 1;
    double *ways = calloc(((size_t)r->a_count + 1) * length, sizeof *ways); /* [k][s]: of k ranks */

    if (ways == NULL)
        return NULL;
    ways[0] = 1.0;
    for (int i = 0; i < r->count; i++)
        for (int k = i + 1 < r->a_count ? i + 1 : r->a_count; k > 0; k--) {
            double *with = ways + (size_t)k * length;
            const double *without = with - length;
            for (long s = last; s >= r->rank[i]; s--)
                with[s] += without[s - r->rank[i]];
        }
    memmove(ways, ways + (size_t)r->a_count * length, length * sizeof *ways);
    return ways;
}

/* Shares of all orders whose statistic is at most, and at least, this one. */
static double exact_chance(const ranking *r)
{
    const int has_ties = r->ties > 0.0, a = r->a_count, b = r->count - r->a_count;
    const long last = has_ties ? (long)r->count * (r->count + 1) : (long)a * b;
    /* Without ties the sum of a's ranks tells how many pairs have a above b. */
    const long at = has_ties ? r->sum : (r->sum - (long)a * (a + 1)) / 2;
    double *ways = has_ties ? count_sums(r, last) : count_orders(a, b), all = 0.0, below = 0.0, above = 0.0;

    if (ways == NULL)
        return 1.0;
    for (long s = 0; s <= last; s++) {
        all += ways[s];
        below += s <= at ? ways[s] : 0.0;
        above += s >= at ? ways[s] : 0.0;
    }
    free(ways);
    return fmin(1.0, 2.0 * fmin(below, above) / all);
}

static double normal_chance(const ranking *r)
{
    const double a = r->a_count, b = r->count - r->a_count, n = r->count;
    const double off = fabs(0.5 * (double)r->sum - 0.5 * a * (n + 1.0));
    const double variance = a * b / 12.0 * (n + 1.0 - r->ties / (n * (n - 1.0)));

    return variance > 0.0 ? fmin(1.0, erfc(fmax(off - 0.5, 0.0) / sqrt(2.0 * variance))) : 1.0;
}

double statistics_rank_test(const double *a, int a_count, const double *b, int b_count)
{
    if (a_count < 1 || b_count < 1 || a_count > STATISTICS_VALUES_MAX || b_count > STATISTICS_VALUES_MAX)
        return 1.0;
    if (a_count > b_count) /* sets of the fewer are counted */
        return statistics_rank_test(b, b_count, a, a_count);
    ranking *r = calloc(1, sizeof *r);
    ranked *values = calloc((size_t)(a_count + b_count), sizeof *values);
    double chance = 1.0;
    if (r != NULL && values != NULL) {
        for (int i = 0; i < a_count + b_count; i++)
            values[i] = (ranked){i < a_count ? a[i] : b[i - a_count], i < a_count};
        r->a_count = a_count;
        r->count = a_count + b_count;
        rank_values(r, values);
        chance = is_exact(a_count, b_count) ? exact_chance(r) : normal_chance(r);
    }
    free(values);
    free(r);
    return chance;
}

double statistics_rank_least(int a_count, int b_count)
{
    double divisions = 1.0;

    for (int i = 1; i <= a_count; i++)
        divisions *= (double)(b_count + i) / i;
    return fmin(1.0, 2.0 / divisions);
}

int statistics_holm(double *adjusted, const double *p, int count)
{
    ranked *order = calloc((size_t)count + 1, sizeof *order); /* of_a: the place of the value */
    double least = 0.0;

    if (order == NULL)
        return 0;
    for (int i = 0; i < count; i++)
        order[i] = (ranked){p[i], i};
    qsort(order, (size_t)count, sizeof *order, compare_ranked);
    for (int i = 0; i < count; i++) {
        least = fmax(least, fmin(1.0, order[i].value * (count - i)));
        adjusted[order[i].of_a] = least;
    }
    free(order);
    return 1;
}

/* ---- the shift between two sets ---------------------------------------------------------------------------------- */

/* How many of the sorted differences to leave out at each end for 95 %: the greatest k whose lower tail of the rank
 * test's statistic, P(U < k), is at most 2.5 %. Fills in twice that tail; -1 if even k = 1 has more. Of large
 * sets by the normal distribution. */
static int differences_outside(int a, int b, double *missed)
{
    const int most = a * b;
    int k = 0;

    if (!is_exact(a, b)) {
        const double deviation = sqrt((double)a * b * (a + b + 1) / 12.0);
        *missed = 0.05;
        return (int)fmax(0.0, floor(0.5 * most - 0.5 - 1.959964 * deviation));
    }
    double *ways = count_orders(a < b ? a : b, a < b ? b : a), all = 0.0, below = 0.0;
    if (ways == NULL)
        return -1;
    for (int u = 0; u <= most; u++)
        all += ways[u];
    *missed = 2.0 / all; /* of k = 0: all differences on one side */
    for (; k < most / 2; k++) {
        below += ways[k] / all;
        if (below > 0.025)
            break;
        *missed = 2.0 * below;
    }
    free(ways);
    return k > 0 ? k - 1 : -1;
}

int statistics_hodges_lehmann(const double *a, int a_count, const double *b, int b_count, statistics_shift *out)
{
    const int count = a_count * b_count;
    double *sorted = calloc((size_t)count + 1, sizeof *sorted), missed = 1.0;
    int used = 0;

    *out = (statistics_shift){(double)NAN, {(double)NAN, (double)NAN, 0.0}};
    if (sorted == NULL || count == 0) {
        free(sorted);
        return count == 0;
    }
    for (int i = 0; i < a_count; i++)
        for (int k = 0; k < b_count; k++)
            sorted[used++] = b[k] - a[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    const int outside = differences_outside(a_count, b_count, &missed);
    const int end = outside > 0 ? outside : 0;
    out->shift = statistics_median(sorted, count);
    out->interval = (statistics_interval){sorted[end], sorted[count - 1 - end], fmax(0.0, 1.0 - missed)};
    free(sorted);
    return 1;
}

/* ---- quantiles --------------------------------------------------------------------------------------------------- */

/* Newton's method from an upper bound, on the logarithm of the tail, which is concave. */
double statistics_normal_above(double chance)
{
    const double root_pi_2 = 0.79788456080286535588; /* sqrt(2 / pi) */
    double x = sqrt(fmax(0.0, -2.0 * log(2.0 * chance)));

    for (int i = 0; i < 40; i++) {
        const double tail = 0.5 * erfc(x * 0.70710678118654752440), slope = 0.5 * root_pi_2 * exp(-0.5 * x * x);
        const double step = (log(tail) - log(chance)) * tail / slope;
        x += step;
        if (fabs(step) < 1e-14 * (1.0 + fabs(x)))
            break;
    }
    return x;
}

/* The tail of Student's t by Simpson's rule over the angle: t = sqrt(n) tan(angle), whose density is proportional to
 * cos^(n - 1). */
static double t_tail(double t, double n)
{
    enum { STEPS = 2000 };
    const double half_pi = 1.57079632679489661923, from = atan(t / sqrt(n)), width = (half_pi - from) / STEPS;
    const double scale = exp(lgamma(0.5 * (n + 1.0)) - lgamma(0.5 * n)) / sqrt(2.0 * half_pi);
    double sum = 0.0;

    for (int i = 0; i <= STEPS; i++)
        sum += (i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0) * pow(fmax(cos(from + i * width), 0.0), n - 1.0);
    return scale * sum * width / 3.0;
}

/* Newton's method on the logarithm of the tail over that of t, which is concave: from the right but for its start. */
double statistics_t_above(double chance, double degrees)
{
    const double root_pi = 1.77245385090551602730;
    const double scale = exp(lgamma(0.5 * (degrees + 1.0)) - lgamma(0.5 * degrees)) / (root_pi * sqrt(degrees));
    double t = fmax(statistics_normal_above(chance), 1e-3);

    if (chance >= 0.5)
        return 0.0;
    for (int i = 0; i < 60; i++) {
        const double tail = t_tail(t, degrees);
        const double density = scale * pow(1.0 + t * t / degrees, -0.5 * (degrees + 1.0));
        const double step = (log(tail) - log(chance)) * tail / (t * density);
        t *= exp(step);
        if (fabs(step) < 1e-14)
            break;
    }
    return t;
}
