/* SPDX-License-Identifier: MIT */
/* Answers worked out by hand: every row of the state table, and cases without a contact, without an area or without a
 * motion. Every instruction set computes each row alone and among other pairs, so that a dependence on other lanes is
 * found. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

#define INF HUGE_VALF
/* Bits of features. Several may hold a contact; fast mode reports the one of the branch that it took. */
#define IN(feature) (1 << CAROM_FEATURE_##feature)
#define NOWHERE IN(NONE)

typedef struct known_sweep {
    const char *name;
    float center[3], radius, velocity[3], p[3][3], w[3];
    int state;
    float t_first, t_last;
    int first_in, last_in;
    float first[3], last[3];
} known_sweep;

/* A right triangle in the plane z = 0, and degenerate triangles. */
/* clang-format off */
#define FLAT {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}
#define SEGMENT {{0, 0, 0}, {4, 0, 0}, {2, 0, 0}}
#define LONG_WAY {{2, 0, 0}, {0, 0, 0}, {4, 0, 0}}
#define POINT {{2, 0, 0}, {2, 0, 0}, {2, 0, 0}}
#define SQRT2 1.41421356f

static const known_sweep sweeps[] = {
    {"approaching the face", {1, 1, 5}, 1, {0, 0, -1}, FLAT, {0}, CAROM_APPROACHING, 4, 6, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"approaching from behind", {1, 1, -5}, 1, {0, 0, 1}, FLAT, {0}, CAROM_APPROACHING, 4, 6, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"touching at 0", {1, 1, 1}, 1, {0, 0, -1}, FLAT, {0}, CAROM_TOUCHING, 0, 2, IN(FACE), IN(FACE), {1, 1, 0},
     {1, 1, 0}},
    {"touching at 0 from behind", {1, 1, -1}, 1, {0, 0, 1}, FLAT, {0}, CAROM_TOUCHING, 0, 2, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"overlapping", {1, 1, 0.5f}, 1, {0, 0, -1}, FLAT, {0}, CAROM_OVERLAPPING, -0.5f, 1.5f, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"parting", {1, 1, -1}, 1, {0, 0, -1}, FLAT, {0}, CAROM_PARTING, -2, 0, IN(FACE), IN(FACE), {1, 1, 0},
     {1, 1, 0}},
    {"past", {1, 1, -5}, 1, {0, 0, -1}, FLAT, {0}, CAROM_PAST, -6, -4, IN(FACE), IN(FACE), {1, 1, 0}, {1, 1, 0}},
    {"missing", {1, 1, 5}, 1, {1, 0, 0}, FLAT, {0}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE, {0}, {0}},
    {"sliding on the face at exactly r", {1, 1, 1}, 1, {1, 0, 0}, FLAT, {0}, CAROM_OVERLAPPING, -1, 2,
     IN(E20) | IN(FACE), IN(E12) | IN(FACE), {0, 1, 0}, {3, 1, 0}},
    {"sliding along an edge at exactly r", {1, -1, 0}, 1, {1, 0, 0}, FLAT, {0}, CAROM_OVERLAPPING, -1, 3,
     IN(V0) | IN(E01), IN(V1) | IN(E01), {0, 0, 0}, {4, 0, 0}},
    {"onto a vertex, off the other", {-3, 0, 0}, 1, {1, 0, 0}, FLAT, {0}, CAROM_APPROACHING, 2, 8, IN(V0), IN(V1),
     {0, 0, 0}, {4, 0, 0}},
    {"onto an edge, off another", {2, -5, 0}, 1, {0, 1, 0}, FLAT, {0}, CAROM_APPROACHING, 4, 7 + SQRT2, IN(E01),
     IN(E12), {2, 0, 0}, {2 - SQRT2 / 2, 2 + SQRT2 / 2, 0}},

    {"no motion, apart", {1, 1, 5}, 1, {0}, FLAT, {0}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE, {0}, {0}},
    {"no motion, distance r", {1, 1, 1}, 1, {0}, FLAT, {0}, CAROM_TOUCHING, -INF, INF, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"no motion, overlapping", {1, 1, 0.5f}, 1, {0}, FLAT, {0}, CAROM_OVERLAPPING, -INF, INF, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"the same motion, overlapping", {1, 1, 0.5f}, 1, {1, 2, 3}, FLAT, {1, 2, 3}, CAROM_OVERLAPPING, -INF, INF,
     IN(FACE), IN(FACE), {1, 1, 0}, {1, 1, 0}},
    {"the same motion, distance r", {-1, 0, 0}, 1, {1, 2, 3}, FLAT, {1, 2, 3}, CAROM_TOUCHING, -INF, INF, IN(V0),
     IN(V0), {0}, {0}},
    {"the same motion, apart", {1, 1, 5}, 1, {1, 2, 3}, FLAT, {1, 2, 3}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE,
     {0}, {0}},
    {"no motion, a point on the face", {1, 1, 0}, 0, {0}, FLAT, {0}, CAROM_TOUCHING, -INF, INF, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},

    {"a point through the face", {1, 1, 5}, 0, {0, 0, -1}, FLAT, {0}, CAROM_APPROACHING, 5, 5, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point of radius -0", {1, 1, 5}, -0.0f, {0, 0, -1}, FLAT, {0}, CAROM_APPROACHING, 5, 5, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point on the face at 0", {1, 1, 0}, 0, {0, 0, -1}, FLAT, {0}, CAROM_TOUCHING, 0, 0, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point beyond the face", {1, 1, -5}, 0, {0, 0, -1}, FLAT, {0}, CAROM_PAST, -5, -5, IN(FACE), IN(FACE),
     {1, 1, 0}, {1, 1, 0}},
    {"a point beside the face", {5, 5, 5}, 0, {0, 0, -1}, FLAT, {0}, CAROM_MISS, INF, -INF, NOWHERE, NOWHERE, {0},
     {0}},

    {"a moving triangle", {1, 1, 0}, 1, {0}, {{0, 0, -5}, {4, 0, -5}, {0, 4, -5}}, {0, 0, 1}, CAROM_APPROACHING, 4,
     6, IN(FACE), IN(FACE), {1, 1, -1}, {1, 1, 1}},
    {"both move", {1, 1, 5}, 1, {0, 0, -0.5f}, FLAT, {0, 0, 0.5f}, CAROM_APPROACHING, 4, 6, IN(FACE), IN(FACE),
     {1, 1, 2}, {1, 1, 3}},

    {"a triangle that is a point", {2, 0, 5}, 1, {0, 0, -1}, POINT, {0}, CAROM_APPROACHING, 4, 6,
     IN(V0) | IN(V1) | IN(V2) | IN(E01) | IN(E12) | IN(E20),
     IN(V0) | IN(V1) | IN(V2) | IN(E01) | IN(E12) | IN(E20), {2, 0, 0}, {2, 0, 0}},
    {"a triangle that is a segment", {1, 0, 5}, 1, {0, 0, -1}, SEGMENT, {0}, CAROM_APPROACHING, 4, 6,
     IN(E01) | IN(E20), IN(E01) | IN(E20), {1, 0, 0}, {1, 0, 0}},
    {"a segment whose ends are the last two", {1, 0, 5}, 1, {0, 0, -1}, LONG_WAY, {0}, CAROM_APPROACHING, 4, 6,
     IN(E01) | IN(E12), IN(E01) | IN(E12), {1, 0, 0}, {1, 0, 0}},
    {"along a segment", {-3, 0, 0}, 1, {1, 0, 0}, SEGMENT, {0}, CAROM_APPROACHING, 2, 8, IN(V0), IN(V1), {0},
     {4, 0, 0}},
    {"no motion, a segment at distance r", {1, 1, 0}, 1, {0}, SEGMENT, {0}, CAROM_TOUCHING, -INF, INF,
     IN(E01) | IN(E20), IN(E01) | IN(E20), {1, 0, 0}, {1, 0, 0}},
    {"no motion, on a point", {2, 0, 0}, 1, {0}, POINT, {0}, CAROM_OVERLAPPING, -INF, INF, IN(V0), IN(V0),
     {2, 0, 0}, {2, 0, 0}},

    {"a time beyond binary32", {1, 1, 0x1p127f}, 1, {0, 0, -0x1p-126f}, FLAT, {0}, CAROM_APPROACHING, INF, INF,
     NOWHERE, NOWHERE, {0}, {0}},
    {"a time far in the past beyond binary32", {1, 1, 0x1p127f}, 1, {0, 0, 0x1p-126f}, FLAT, {0}, CAROM_PAST, -INF,
     -INF, NOWHERE, NOWHERE, {0}, {0}},
    {"a past time that rounds to zero", {1, 1, -0x1p-126f}, 0, {0, 0, -0x1p120f}, FLAT, {0}, CAROM_PAST, 0, 0, IN(FACE),
     IN(FACE), {1, 1, 0}, {1, 1, 0}},
    {"a time that rounds to zero", {1, 1, 0x1p-126f}, 0, {0, 0, -0x1p120f}, FLAT, {0}, CAROM_APPROACHING, 0, 0,
     IN(FACE), IN(FACE), {1, 1, 0}, {1, 1, 0}},

    {"a negative radius", {1, 1, 5}, -1, {0, 0, -1}, FLAT, {0}, CAROM_INVALID, INF, -INF, NOWHERE, NOWHERE, {0},
     {0}},
    {"the smallest negative radius", {1, 1, 5}, -0x1p-149f, {0, 0, -1}, FLAT, {0}, CAROM_INVALID, INF, -INF,
     NOWHERE, NOWHERE, {0}, {0}},
    {"invalid at rest", {1, 1, 0}, -1, {0}, FLAT, {0}, CAROM_INVALID, INF, -INF, NOWHERE, NOWHERE, {0}, {0}},
};
/* clang-format on */

static ref_sweep_case case_of(const known_sweep *k)
{
    ref_sweep_case c = {.radius = (double)k->radius};
    memcpy(c.center, k->center, sizeof c.center);
    memcpy(c.velocity, k->velocity, sizeof c.velocity);
    memcpy(c.p, k->p, sizeof c.p);
    memcpy(c.w, k->w, sizeof c.w);
    return c;
}

/* Equal, or within two units in the last place where the expected value contains a square root. */
static int is_close(float got, float expected)
{
    return got == expected || fabsf(got - expected) <= 2 * FLT_EPSILON * fabsf(expected);
}

static void wrong(const queries *q, const answers *a, size_t i, const known_sweep *k, const char *what)
{
    queries_print(q, i);
    answers_print(a, i, "answer");
    fail_msg("%s: %s", k->name, what);
}

static void check_known(const queries *q, const answers *a, size_t i, const known_sweep *k)
{
    float first = answers_float(a, T_FIRST, i), last = answers_float(a, T_LAST, i);
    if (answers_byte(a, STATE, i) != k->state)
        wrong(q, a, i, k, "wrong state");
    if (!is_close(first, k->t_first) || !is_close(last, k->t_last))
        wrong(q, a, i, k, "wrong times");
    if (is_nan_or_minus_zero(first) || is_nan_or_minus_zero(last))
        wrong(q, a, i, k, "NaN or -0");
    if (!(k->first_in >> answers_byte(a, F_FIRST, i) & 1) || !(k->last_in >> answers_byte(a, F_LAST, i) & 1))
        wrong(q, a, i, k, "wrong feature");
    for (int axis = 0; axis < 3; axis++) {
        float x = answers_float(a, X_FIRST + axis, i), y = answers_float(a, X_LAST + axis, i);
        if (fabsf(x - k->first[axis]) > 4 * FLT_EPSILON || fabsf(y - k->last[axis]) > 4 * FLT_EPSILON || isnan(x + y))
            wrong(q, a, i, k, "wrong point");
    }
}

/* Answers worked out by hand may be wrong, so the exact reference checks them. */
static void test_hand_agrees_with_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        ref_sweep_case c = case_of(&sweeps[i]);
        ref_sweep_answer exact;
        ref_sweep(&c, &exact);
        if (exact.state != sweeps[i].state || !is_close(exact.t_first, sweeps[i].t_first) ||
            !is_close(exact.t_last, sweeps[i].t_last))
            fail_msg("%s: the reference says state %d, %a to %a", sweeps[i].name, exact.state, (double)exact.t_first,
                     (double)exact.t_last);
    }
}

/* All rows in one batch, each at another position among random pairs. */
static void ask_known(carom_context *context)
{
    size_t apart = 3, count = COUNT_OF(sweeps) * apart;
    queries q = queries_family(SWEEP, 1, 5, count);
    answers a = answers_alloc(SWEEP, count, 0xa5);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        ref_sweep_case c = case_of(&sweeps[i]);
        queries_put_sweep(&q, i * apart + i % apart, &c);
    }
    ask(context, &q, &a, ALL_FIELDS);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++)
        check_known(&q, &a, i * apart + i % apart, &sweeps[i]);
    queries_free(&q);
    answers_free(&a);
}

/* One pair at a time, without a triangle velocity where it is zero. */
static void ask_alone(carom_context *context)
{
    queries q = queries_alloc(SWEEP, 1);
    answers a = answers_alloc(SWEEP, 1, 0xa5);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        ref_sweep_case c = case_of(&sweeps[i]);
        carom_error err = {0};
        queries_put_sweep(&q, 0, &c);
        inputs in = inputs_of(&q);
        if (sweeps[i].w[0] == 0 && sweeps[i].w[1] == 0 && sweeps[i].w[2] == 0)
            in.points[5] = (carom_points){0};
        test_ok("sweep", ask_as(context, SWEEP, 1, &in, &a, ALL_FIELDS, NULL, &err), &err);
        check_known(&q, &a, 0, &sweeps[i]);
    }
    queries_free(&q);
    answers_free(&a);
}

static void test_state_table(void **state)
{
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    ask_known(context);
    ask_alone(context);
    carom_context_destroy(context);
}

/* ---- invalid inputs, one number at a time ------------------------------------------------------------------------ */

static void expect_invalid(const queries *q, const answers *a, size_t i)
{
    int ok = answers_byte(a, 0, i) == query_pairs[q->type]->invalid, times = 0;
    for (int f = 0; f < query_fields(q->type); f++)
        switch (query_pairs[q->type]->fields[f].kind) {
        case QUERY_STATE: ok &= answers_byte(a, f, i) == CAROM_INVALID; break;
        case QUERY_BITS: ok &= answers_byte(a, f, i) == CAROM_OVERLAP_INVALID; break;
        case QUERY_FEATURE: ok &= answers_byte(a, f, i) == CAROM_FEATURE_NONE; break;
        case QUERY_TIME: ok &= answers_float(a, f, i) == (times++ == 0 ? INF : -INF); break;
        default: ok &= bits_of_float(answers_float(a, f, i)) == 0; break;
        }
    if (!ok) {
        queries_print(q, i);
        answers_print(a, i, "answer");
        fail_msg("an invalid %s is not answered so", query_name(q->type));
    }
}

/* Each number of a valid pair is replaced by NaN and the infinities in turn. Answers of neighbouring pairs must not
 * change. */
static void test_invalid_inputs(void **state)
{
    static const uint32_t bad[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u};
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    for (int type = 0; type < QUERY_TYPES; type++) {
        size_t count = (size_t)query_columns(type) * COUNT_OF(bad) * 2;
        queries good = queries_family(type, 1, 3, count), q = queries_family(type, 1, 3, count);
        answers expected = answers_alloc(type, count, 0x5a), got = answers_alloc(type, count, 0xa5);
        for (size_t i = 0; i < count; i += 2)
            q.column[i / 2 / COUNT_OF(bad)][i] = float_of_bits(bad[i / 2 % COUNT_OF(bad)]);
        ask(context, &good, &expected, ALL_FIELDS);
        ask(context, &q, &got, ALL_FIELDS);
        for (size_t i = 0; i < count; i++) {
            int spoiled = i % 2 == 0;
            if (spoiled)
                expect_invalid(&q, &got, i);
            for (int f = 0; f < query_fields(type) && !spoiled; f++) {
                size_t size = query_field_bytes(type, f);
                assert_memory_equal(got.field[f].data + i * size, expected.field[f].data + i * size, size);
            }
        }
        queries_free(&good);
        queries_free(&q);
        answers_free(&expected);
        answers_free(&got);
    }
    carom_context_destroy(context);
}

/* ---- tests/known ------------------------------------------------------------------------------------------------- */

/* A file of pairs for each query type that has no table above. A row has a name, then inputs and exact answers. The
 * header uses the command's names of columns and fields. tests/cli/cases.sh runs the command on the same files. */
enum { KNOWN_MAX = 64, KNOWN_LINE = 512, KNOWN_CELLS = 1 + QUERY_COLUMNS_MAX + QUERY_FIELDS_MAX };

typedef struct known_pairs {
    size_t count;
    char name[KNOWN_MAX][KNOWN_LINE];
    float row[KNOWN_MAX][QUERY_COLUMNS_MAX];
    query_value answer[KNOWN_MAX][QUERY_FIELDS_MAX];
} known_pairs;

/* Cuts a line at its commas, in place. */
static int split(char *line, char *cells[KNOWN_CELLS])
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    while (line && count < KNOWN_CELLS) {
        cells[count++] = line;
        line = strchr(line, ',');
        if (line)
            *line++ = '\0';
    }
    return count;
}

static uint8_t byte_of(const query_field *field, const char *text)
{
    for (int i = 0; i <= CAROM_INVALID && field->kind == QUERY_STATE; i++)
        if (!strcmp(text, carom_state_name((carom_state)i)))
            return (uint8_t)i;
    for (int i = 0; i <= CAROM_FEATURE_FACE && field->kind == QUERY_FEATURE; i++)
        if (!strcmp(text, carom_feature_name((carom_feature)i)))
            return (uint8_t)i;
    if (field->kind == QUERY_BITS && *text)
        return (uint8_t)strtoul(text, NULL, 10);
    return field->kind == QUERY_BITS ? CAROM_OVERLAP_INVALID : CAROM_FEATURE_NONE;
}

static void read_cell(const query_type *q, const char *title, const char *text, known_pairs *k)
{
    int known = 0;
    for (int c = 0; c < query_column_count(q); c++)
        if (!strcmp(title, query_column_name(q, c))) {
            k->row[k->count][c] = strtof(text, NULL);
            known = 1;
        }
    for (int f = 0; f < query_field_count(q); f++)
        if (!strcmp(title, q->fields[f].name)) {
            if (query_field_size(&q->fields[f]) == 1)
                k->answer[k->count][f].byte = byte_of(&q->fields[f], text);
            else
                k->answer[k->count][f].number = strtof(text, NULL);
            known = 1;
        }
    if (!known)
        fail_msg("tests/known/%s.csv: no column %s", q->name, title);
}

static known_pairs *read_known(const query_type *q)
{
    char path[1024], header[KNOWN_LINE], line[KNOWN_LINE], *titles[KNOWN_CELLS], *cells[KNOWN_CELLS];
    const char *folder = getenv("CAROM_TEST_DATA");
    known_pairs *k = test_alloc(1, sizeof *k);
    snprintf(path, sizeof path, "%s/known/%s.csv", folder && folder[0] ? folder : "tests", q->name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(header, sizeof header, file))
        fail_msg("%s: answers by hand are missing", path);
    const int count = split(header, titles);
    if (count != 1 + query_column_count(q) + query_field_count(q))
        fail_msg("%s: %d columns, not a name, all inputs and all answers", path, count);
    for (; k->count < KNOWN_MAX && fgets(line, sizeof line, file); k->count++) {
        if (split(line, cells) != count)
            fail_msg("%s: row %zu has another number of columns", path, k->count + 2);
        strcpy(k->name[k->count], cells[0]);
        for (int i = 1; i < count; i++)
            read_cell(q, titles[i], cells[i], k);
    }
    fclose(file);
    assert_true(k->count > 0 && k->count < KNOWN_MAX);
    return k;
}

static int is_same(const query_field *field, query_value a, query_value b)
{
    return query_field_size(field) == 1 ? a.byte == b.byte : bits_of_float(a.number) == bits_of_float(b.number);
}

/* Answers worked out by hand may be wrong, so the exact reference checks them. */
static void check_reference(const query_type *q, const known_pairs *k)
{
    for (size_t i = 0; i < k->count; i++) {
        query_truth truth;
        q->truth(k->row[i], 0.0, &truth);
        for (int f = 0; f < query_field_count(q); f++)
            if (truth.fields >> f & 1 && !is_same(&q->fields[f], truth.value[f], k->answer[i][f]))
                fail_msg("%s, %s: the reference says another %s", q->name, k->name[i], q->fields[f].name);
    }
}

static void check_known_pairs(carom_context *context, int type, carom_accuracy accuracy, const known_pairs *k)
{
    const query_type *row = query_pairs[type];
    queries q = queries_alloc(type, k->count);
    answers a = answers_alloc(type, k->count, 0xa5);
    carom_error err = {0};
    for (size_t i = 0; i < k->count; i++)
        for (int c = 0; c < query_columns(type); c++)
            q.column[c][i] = k->row[i][c];
    inputs in = inputs_of(&q);
    test_ok(row->name, ask_with(context, type, accuracy, k->count, &in, &a, ALL_FIELDS, NULL, &err), &err);
    for (size_t i = 0; i < k->count; i++) {
        query_value answer[QUERY_FIELDS_MAX];
        answers_load(&a, i, answer);
        for (int f = 0; f < query_field_count(row); f++)
            if (!is_same(&row->fields[f], answer[f], k->answer[i][f])) {
                queries_print(&q, i);
                answers_print(&a, i, "answer");
                fail_msg("%s, %s%s: wrong %s", row->name, k->name[i], accuracy ? ", exact" : "", row->fields[f].name);
            }
    }
    queries_free(&q);
    answers_free(&a);
}

static void test_known_pairs(void **state)
{
    carom_context *context = test_cpu(*(const carom_isa *)*state, 1);
    for (int type = 0; type < QUERY_TYPES; type++) {
        if (type == SWEEP)
            continue;
        known_pairs *k = read_known(query_pairs[type]);
        check_reference(query_pairs[type], k);
        check_known_pairs(context, type, CAROM_ACCURACY_FAST, k);
        check_known_pairs(context, type, CAROM_ACCURACY_EXACT, k);
        free(k);
    }
    carom_context_destroy(context);
}

#define ON(isa, value)                                                    \
    {isa ": state table", test_state_table, NULL, NULL, value},           \
        {isa ": invalid inputs", test_invalid_inputs, NULL, NULL, value}, \
    {                                                                     \
        isa ": known pairs", test_known_pairs, NULL, NULL, value          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_agrees_with_reference),
        TEST_EACH_ISA(ON),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
