/* SPDX-License-Identifier: MIT */
/* The verbs of kernels/lang.h against their contracts, lane by lane: in every instruction set, and in OpenCL at every
 * lane count when the run is for a device. Operands are pairs of special values and random bits. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

#include "lang_test.h"
#include "lang_verbs.h"

extern const lang_run lang_run_scalar;
#if defined(__x86_64__)
extern const lang_run lang_run_sse41, lang_run_avx2, lang_run_avx512;
#elif defined(__aarch64__)
extern const lang_run lang_run_neon;
#endif

/* ---- contracts, for one lane ------------------------------------------------------------------------------------- */

static int32_t ref_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* One operation in binary64, rounded to binary32, is correctly rounded (Figueroa 1995). */
static float ref_add(float a, float b)
{
    return (float)((double)a + (double)b);
}

static float ref_multiply(float a, float b)
{
    return (float)((double)a * (double)b);
}

static float ref_divide(float a, float b)
{
    return (float)((double)a / (double)b);
}

static float ref_sqrt(float a)
{
    return (float)sqrt((double)a);
}

static float ref_power(int exponent)
{
    return (float)ldexp(1.0, exponent);
}

/* floor(log2 |a|), at least that of the smallest normal number; 128 for infinity and NaN. */
static int ref_exponent(float a)
{
    if (!isfinite(a))
        return 128;
    return fabsf(a) < FLT_MIN ? -126 : ilogbf(a);
}

static float ref_ratio(int exponent)
{
    return exponent < -126 ? 0.0f : ref_power(exponent > 127 ? 127 : exponent);
}

static float ref_ldexp(float a, int exponent)
{
    const int k = exponent > 254 ? 254 : exponent < -252 ? -252 : exponent;
    const int half = (int)floor(k / 2.0);
    return (float)ldexp((double)(float)ldexp((double)a, half), k - half);
}

/* Twelve significant bits, cut towards 0; not for the numbers that lang.h leaves out. */
static int32_t ref_head(float a)
{
    int exponent;
    if (!isnormal(a))
        return (int32_t)((uint32_t)ref_bits(a) & 0xfffff000u);
    const double m = frexp((double)a, &exponent);
    return ref_bits((float)ldexp(trunc(ldexp(m, 12)), exponent - 12));
}

/* ---- contracts, for the lanes of a group ------------------------------------------------------------------------- */

typedef struct group {
    const lang_columns *in;
    int at, lanes;
} group;

static int group_mask(const group *g, int lane)
{
    return g->in->n[2 * LANG_ROWS + g->at + lane] > 0;
}

static int32_t group_bits(const group *g)
{
    int32_t bits = 0;
    for (int lane = 0; lane < g->lanes; lane++)
        bits += group_mask(g, lane) << lane;
    return bits;
}

static int32_t group_all(const group *g)
{
    return (1 << g->lanes) - 1;
}

static int32_t group_first(const group *g)
{
    for (int lane = 0; lane < g->lanes; lane++)
        if (group_mask(g, lane))
            return lane;
    return 16;
}

static int32_t group_last(const group *g)
{
    for (int lane = g->lanes - 1; lane >= 0; lane--)
        if (group_mask(g, lane))
            return lane;
    return -1;
}

static int32_t group_count(const group *g)
{
    int32_t count = 0;
    for (int lane = 0; lane < g->lanes; lane++)
        count += group_mask(g, lane);
    return count;
}

static int32_t group_least_int(const group *g)
{
    int32_t least = INT32_MAX;
    for (int lane = 0; lane < g->lanes; lane++)
        if (g->in->n[g->at + lane] < least)
            least = g->in->n[g->at + lane];
    return least;
}

static int32_t group_least(const group *g)
{
    float least = INFINITY;
    for (int lane = 0; lane < g->lanes; lane++)
        if (isfinite(g->in->x[g->at + lane]) && g->in->x[g->at + lane] < least)
            least = g->in->x[g->at + lane];
    return ref_bits(least);
}

/* What v_compress leaves at place `place` of the row `column`; 0 behind the lanes of the mask. */
static int32_t group_packed(const group *g, int column, int place)
{
    for (int lane = 0; lane < g->lanes; lane++)
        if (group_mask(g, lane) && place-- == 0)
            return ref_bits(g->in->x[column * LANG_ROWS + g->at + lane]);
    return 0;
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

enum compared { BITS, NUMBERS, NUMBERS_OR_ZEROS };

static int agree(int32_t got, int32_t expected, enum compared how)
{
    float x, y;
    memcpy(&x, &got, sizeof x);
    memcpy(&y, &expected, sizeof y);
    if (got == expected || (how != BITS && isnan(x) && isnan(y)))
        return 1;
    return how == NUMBERS_OR_ZEROS && x == 0.0f && y == 0.0f;
}

typedef struct comparison {
    const lang_columns *in;
    const int32_t *out;
    int lanes, compresses, failures;
    enum compared minima;
    const char *label;
} comparison;

static void compare(comparison *k, int verb, const char *name, int row, int32_t expected, enum compared how)
{
    const int32_t got = k->out[verb * LANG_ROWS + row];
    if (agree(got, expected, how) || k->failures++ > 20)
        return;
    const float *x = k->in->x + row;
    const int32_t *n = k->in->n + row;
    print_error("%s, %s, row %d: got %08x, the contract says %08x (a %a b %a c %a i %d j %d mask %d)\n", k->label, name,
                row, (unsigned)got, (unsigned)expected, (double)x[0], (double)x[LANG_ROWS], (double)x[2 * LANG_ROWS],
                n[0], n[LANG_ROWS], n[2 * LANG_ROWS]);
}

static void compare_row(comparison *k, int row)
{
    const group whole = {k->in, row - row % k->lanes, k->lanes}, *g = &whole;
    const float a = k->in->x[row], b = k->in->x[LANG_ROWS + row], c = k->in->x[2 * LANG_ROWS + row];
    const int32_t i = k->in->n[row], j = k->in->n[LANG_ROWS + row], m = k->in->n[2 * LANG_ROWS + row] > 0;
    const int place = row % k->lanes;
#define REAL(name, verb, contract) compare(k, VERB_##name, #name, row, ref_bits(contract), NUMBERS);
#define MINIMUM(name, verb, contract) compare(k, VERB_##name, #name, row, ref_bits(contract), k->minima);
#define INT(name, verb, contract) compare(k, VERB_##name, #name, row, contract, BITS);
    LANG_REALS(REAL)
    LANG_MINIMA(MINIMUM)
    LANG_INTS(INT)
    LANG_MASKS(INT)
    LANG_GROUPS(INT)
    compare(k, VERB_v_reduce_min, "v_reduce_min", row, group_least(g), NUMBERS_OR_ZEROS);
    compare(k, VERB_v_table_lookup, "v_table_lookup", row, ref_bits(k->in->table[k->in->places[row]]), BITS);
    compare(k, VERB_v_tables_at, "v_tables_at", row, ref_bits((i & 16 ? k->in->x : k->in->table)[i & 15]), BITS);
    compare(k, VERB_vi_load_u8, "vi_load_u8", row, k->in->places[row], BITS);
    compare(k, VERB_v_store_u8, "v_store_u8", row, i & 255, BITS);
    if (k->compresses) {
        compare(k, VERB_v_compress_a, "v_compress", row, group_packed(g, 0, place), BITS);
        compare(k, VERB_v_compress_b, "v_compress", row, group_packed(g, 1, place), BITS);
    }
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static const uint32_t special_reals[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001,
    0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x3fffffff, 0x40000000, 0x34000000, 0x7e800000, 0x7f000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fc12345, 0x4b800001, 0x1f800000};
static const int32_t special_ints[] = {
    0,          1,         -1, 2, -2, 255, 256, INT32_MAX, INT32_MIN, 0x10000, 0x3fffffff, INT32_MAX - 1, INT32_MIN + 1,
    0x7f800000, 0x007fffff};

static float random_real(ref_gen *gen, int row)
{
    uint32_t bits = (uint32_t)(ref_gen_bits(gen) >> 16);
    if (row % 3 == 0) /* near 1, where sums and products neither vanish nor overflow */
        bits = (bits & 0x80ffffff) | 0x3f000000;
    if ((bits & 0x7f800000) == 0x7f800000 && (bits & 0x007fffff) != 0)
        bits |= 0x00400000; /* quiet: a signalling NaN does not keep its bits */
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* All pairs of special values, then random ones. Masks: whole groups set and unset, then random. */
static void fill(lang_columns *in, float *table)
{
    const int reals = (int)COUNT_OF(special_reals), ints = (int)COUNT_OF(special_ints);
    ref_gen gen;
    ref_gen_seed(&gen, 28, 1, 0);
    for (int row = 0; row < LANG_ROWS; row++) {
        for (int column = 0; column < 3; column++)
            in->x[column * LANG_ROWS + row] = random_real(&gen, row);
        for (int column = 0; column < 2; column++)
            in->n[column * LANG_ROWS + row] = (int32_t)(ref_gen_bits(&gen) >> 20);
        in->n[2 * LANG_ROWS + row] = row < 64 ? row / 16 % 2 : (ref_gen_bits(&gen) >> 20) % 3 == 0;
        if (row < reals * reals) {
            memcpy(&in->x[row], &special_reals[row % reals], sizeof(float));
            memcpy(&in->x[LANG_ROWS + row], &special_reals[row / reals], sizeof(float));
        }
        if (row < ints * ints) {
            in->n[row] = special_ints[row % ints];
            in->n[LANG_ROWS + row] = special_ints[row / ints];
        }
        in->places[row] = (uint8_t)((ref_gen_bits(&gen) >> 20) % LANG_TABLE);
    }
    for (int i = 0; i < LANG_TABLE; i++)
        table[i] = (float)i + 0.5f;
}

static void *columns(size_t size)
{
    void *p = malloc(size);
    assert_non_null(p);
    return p;
}

/* Runs on all rows, and says each verb that broke its contract. `isa` NULL: on the device at `lanes`. */
static void check(const lang_run *isa, int lanes, int portable, const char *label)
{
    const size_t out_size = sizeof(int32_t) * ((size_t)VERBS * LANG_ROWS + 1);
    float table[LANG_TABLE], *x = columns((3 * LANG_ROWS + 1) * sizeof *x);
    int32_t *n = columns((3 * LANG_ROWS + 1) * sizeof *n), *out = columns(out_size);
    uint8_t *places = columns(2 * LANG_ROWS + 2);
    /* One element off: pointers are aligned for their elements alone. */
    lang_columns in = {x + 1, n + 1, table, places + 1, places + 1 + LANG_ROWS};
    comparison k = {&in, out, lanes, 0, 0, isa == NULL ? NUMBERS_OR_ZEROS : NUMBERS, label};
    fill(&in, table);
    memset(out, 0x5a, out_size);
    if (isa != NULL) {
        k.compresses = isa->compresses;
        isa->run(&in, out);
    } else {
#if defined(LANG_TEST_OPENCL)
        lang_run_device(lanes, portable, VERBS, &in, out, &k.compresses);
#else
        (void)portable;
#endif
    }
    for (int row = 0; row < LANG_ROWS; row++)
        compare_row(&k, row);
    free(x);
    free(n);
    free(out);
    free(places);
    if (k.failures > 0)
        fail_msg("%s: %d lanes differ from the contract of their verb", label, k.failures);
}

static const lang_run *run_of(carom_isa isa)
{
    switch (isa) {
    case CAROM_ISA_SCALAR: return &lang_run_scalar;
#if defined(__x86_64__)
    case CAROM_ISA_SSE41: return &lang_run_sse41;
    case CAROM_ISA_AVX2: return &lang_run_avx2;
    case CAROM_ISA_AVX512: return &lang_run_avx512;
#elif defined(__aarch64__)
    case CAROM_ISA_NEON: return &lang_run_neon;
#endif
    default: return NULL;
    }
}

static void test_isa(void **state)
{
    const carom_isa isa = *(carom_isa *)*state;
    test_need_subject(isa);
    const lang_run *run = run_of(isa);
    assert_non_null(run);
    check(run, run->lanes, 0, carom_isa_name(isa));
}

#if defined(LANG_TEST_OPENCL)
typedef struct device_run {
    int lanes, portable; /* without the processor's own instructions, which this compiler may have */
} device_run;

static void test_lanes(void **state)
{
    const device_run *run = *state;
    char label[64];
    snprintf(label, sizeof label, "OpenCL at %d lanes%s", run->lanes, run->portable ? ", portable" : "");
    check(NULL, run->lanes, run->portable, label);
}
#endif

int main(void)
{
#define ISA(name, isa)                  \
    {                                   \
        name, test_isa, NULL, NULL, isa \
    }
    const struct CMUnitTest isas[] = {TEST_EACH_ISA(ISA)};
#if defined(LANG_TEST_OPENCL)
    static device_run runs[] = {{1, 0}, {4, 0}, {8, 0}, {16, 0}, {4, 1}, {8, 1}, {16, 1}};
#define DEVICE(name, run)                        \
    {                                            \
        name, test_lanes, NULL, NULL, &runs[run] \
    }
    const struct CMUnitTest device[] = {
        DEVICE("OpenCL: 1 lane", 0),
        DEVICE("OpenCL: 4 lanes", 1),
        DEVICE("OpenCL: 8 lanes", 2),
        DEVICE("OpenCL: 16 lanes", 3),
        DEVICE("OpenCL: 4 lanes, portable", 4),
        DEVICE("OpenCL: 8 lanes, portable", 5),
        DEVICE("OpenCL: 16 lanes, portable", 6),
    };
    if (test_on_device())
        return cmocka_run_group_tests(device, NULL, NULL);
#endif
    return cmocka_run_group_tests(isas, NULL, NULL);
}
