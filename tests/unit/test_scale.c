/* SPDX-License-Identifier: MIT */
/* Answers do not depend on units. If all lengths are multiplied by 2^k and all times by 2^j, every answer scales
 * exactly, as long as inputs and answers are normal numbers. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

enum { PAIRS = 2000, SEED = 11 };

typedef struct scaling {
    int length, time; /* exponents */
} scaling;

static const scaling scalings[] = {{1, 0},   {-1, 0},  {0, 1},     {0, -1},   {37, 0},   {-41, 0},  {0, 29},
                                   {0, -33}, {90, 90}, {-90, -90}, {60, -50}, {-60, 50}, {100, 20}, {-80, 0}};

/* A column is a length or a velocity. The end points of a sphere's motion are lengths. */
static int exponent_of_column(int type, int column, scaling s)
{
    int component;
    return query_input_of(query_pairs[type], column, &component)->role == QUERY_VELOCITY ? s.length - s.time : s.length;
}

static int is_plain(float value)
{
    return value == 0.0f || isinf(value) || fabsf(value) >= FLT_MIN * 1024.0f; /* margin for products */
}

/* Returns 0 if the result is not a normal number. */
static int scale_number(float value, int exponent, float *out)
{
    *out = ldexpf(value, exponent);
    return is_plain(value) && is_plain(*out) && isinf(*out) == isinf(value) && (*out == 0.0f) == (value == 0.0f);
}

/* Scales the queries; usable[i] is 1 if query i scales without rounding. */
static queries scaled_queries(const queries *q, scaling s, unsigned char *usable)
{
    queries out = queries_alloc(q->type, q->count);
    memset(usable, 1, q->count);
    for (int c = 0; c < query_columns(q->type); c++)
        for (size_t i = 0; i < q->count; i++)
            usable[i] &= scale_number(q->column[c][i], exponent_of_column(q->type, c, s), &out.column[c][i]);
    return out;
}

static int has_velocity(int type)
{
    int found = 0;
    for (int i = 0; i < query_input_count(query_pairs[type]); i++)
        found |= query_pairs[type]->inputs[i].role == QUERY_VELOCITY;
    return found;
}

static int exponent_of_field(int type, int field, scaling s)
{
    if (query_pairs[type]->fields[field].kind == QUERY_TIME)
        return has_velocity(type) ? s.time : 0; /* a normalised time has no unit */
    return s.length;
}

/* 1: equal after scaling; 0: different; -1: not comparable, because a number is not normal. */
static int same_field(const answers *a, const answers *b, int type, int field, size_t i, scaling s)
{
    float scaled;
    if (query_field_bytes(type, field) == 1)
        return answers_byte(a, field, i) == answers_byte(b, field, i);
    if (!scale_number(answers_float(a, field, i), exponent_of_field(type, field, s), &scaled) ||
        !is_plain(answers_float(b, field, i)))
        return -1;
    return bits_of_float(scaled) == bits_of_float(answers_float(b, field, i));
}

/* 0 if a time has overflowed or underflowed. Infinite times are true only without contact or without motion, zeros only
 * in the states that have them. */
static int are_true_times(const answers *a, size_t i)
{
    int state = answers_byte(a, STATE, i);
    float first = answers_float(a, T_FIRST, i), last = answers_float(a, T_LAST, i);
    if (isinf(first) || isinf(last))
        return isinf(first) && isinf(last) && first != last &&
               (first > last || a->type != SWEEP || answers_byte(a, F_FIRST, i) != CAROM_FEATURE_NONE);
    return (first != 0.0f || state == CAROM_TOUCHING) &&
           (last != 0.0f || state == CAROM_TOUCHING || state == CAROM_PARTING);
}

/* Number of queries that could be compared in full. */
static size_t compare_scaled(const queries *q, const queries *scaled, const answers *a, const answers *b,
                             const unsigned char *usable, scaling s)
{
    size_t compared = 0;
    for (size_t i = 0; i < q->count; i++) {
        int all = usable[i], differs = 0;
        if (query_pairs[q->type]->fields[0].kind == QUERY_STATE)
            all = all && are_true_times(a, i) && are_true_times(b, i);
        for (int f = 0; f < query_fields(q->type) && all; f++) {
            int same = same_field(a, b, q->type, f, i, s);
            all = same >= 0;
            differs |= same == 0;
        }
        if (all && differs) {
            queries_print(q, i);
            answers_print(a, i, "as it is");
            queries_print(scaled, i);
            answers_print(b, i, "scaled");
            fail_msg("%s: lengths x 2^%d, times x 2^%d do not scale the answer", query_name(q->type), s.length, s.time);
        }
        compared += (size_t)all;
    }
    return compared;
}

/* Families whose numbers are of ordinary size, so that scaling stays within the normal ones. */
static int is_ordinary(size_t family)
{
    static const char *const others[] = {"huge", "tiny", "mixed", "non-finite", "denormal"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (!strcmp(ref_family_name(family), others[i]))
            return 0;
    return 1;
}

static void check_family(carom_context *context, int type, size_t family)
{
    size_t count = test_effort(PAIRS), compared = 0, asked = 0;
    queries q = queries_family(type, family, SEED, count);
    answers a = answers_alloc(type, count, 0x5a), b = answers_alloc(type, count, 0xa5);
    unsigned char *usable = test_alloc(count, 1);
    ask(context, &q, &a, ALL_FIELDS);
    for (size_t k = 0; k < COUNT_OF(scalings); k++) {
        queries scaled = scaled_queries(&q, scalings[k], usable);
        if (!has_velocity(type) && scalings[k].length == 0) {
            queries_free(&scaled);
            continue;
        }
        ask(context, &scaled, &b, ALL_FIELDS);
        compared += compare_scaled(&q, &scaled, &a, &b, usable, scalings[k]);
        asked += count;
        queries_free(&scaled);
    }
    print_message("%-8s %-16s %zu of %zu answers compared\n", query_name(type), ref_family_name(family), compared,
                  asked);
    if (is_ordinary(family) && compared < asked / 2)
        fail_msg("%s %s: only %zu of %zu could be compared", query_name(type), ref_family_name(family), compared,
                 asked);
    free(usable);
    answers_free(&a);
    answers_free(&b);
    queries_free(&q);
}

static void test_scaling(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t family = 0; family < ref_family_count(); family++)
        check_family(context, *(const int *)*state, family);
    carom_context_destroy(context);
}

int main(void)
{
#define OF_QUERY(name, command) {#name " in other units", test_scaling, NULL, NULL, &each_query[QUERY_##name]},
    const struct CMUnitTest tests[] = {QUERY_PAIRS(OF_QUERY)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
