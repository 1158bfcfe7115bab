/* SPDX-License-Identifier: MIT */
/* Functions that the C tests share: contexts, cases as columns, guarded memory, batches, hashing.
 *
 * Environment: CAROM_TEST_DEVICE runs a test program on that OpenCL device instead of the CPU. CAROM_TEST_REQUIRE, a
 * list such as "avx512,opencl", makes a test fail, instead of skipping it, if one of these is missing.
 * CAROM_TEST_EFFORT, in per cent, scales the number of random cases where only coverage depends on it.
 * CAROM_TEST_LANES is the number of lanes in a work-item of the device where a test wants the device's own. 1 makes a
 * CPU stand in for a GPU: tests that want more lanes get one, and cl_shim.c shows the device as a discrete GPU. */
#ifndef CAROM_TESTS_SUPPORT_SUPPORT_H
#define CAROM_TESTS_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "carom/carom.h"
#include "queries/query.h"
#include "reference/generate.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* `full` cases, fewer with sanitizers or when CAROM_TEST_EFFORT says so; at least 1. */
size_t test_effort(size_t full);
/* A test with fewer than all cases tries every third fault of a list, from the second on: each is a program of its own,
 * which a driver compiles for seconds. The step is 3 then, else 1, and the first fault is that of step / 2. */
size_t test_fault_step(void);
/* Fails unless at least `least` and at most `most` of the `cases`, which are random, are among the `some`. A bound that
 * stands for fewer than TEST_SHARE_LEAST cases is not asserted, and a message says so: chance alone would break it. */
enum { TEST_SHARE_LEAST = 5 };
void test_share(const char *what, uint64_t some, uint64_t cases, double least, double most);
/* The result descriptor of an any query: a byte for each sphere. */
#define TEST_ANY(bytes) (&(carom_any_result){.size = sizeof(carom_any_result), .hit = (bytes)})
carom_mesh_info test_mesh_info(const carom_mesh *mesh);
carom_pair_indices pair_indices(const uint32_t *a, const uint32_t *b, uint64_t a_count, uint64_t b_count);

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* 1 if this run is for an OpenCL device. */
int test_on_device(void);
/* Skip the running test, saying why; fail it if CAROM_TEST_REQUIRE lists `what`. */
void test_skip(const char *what, const char *reason);
/* Skips the running test, before it allocates what a skip would leave, if this machine lacks its subject: the
 * instruction set, or for CAROM_ISA_AUTO the device. */
void test_need_subject(carom_isa isa);
/* From now on the process may use at least so many processors, for all that the library sees: it starts no more threads
 * than there are processors, and tests want more than a small machine has. */
void test_need_processors(uint32_t least);
/* A CPU context; skips if this machine lacks the instruction set. */
carom_context *test_cpu(carom_isa isa, uint32_t threads);
/* Every carom_isa at its own index, for a test's initial state. TEST_EACH_ISA(ON): ON(name, state) for each instruction
 * set of this architecture. */
extern carom_isa each_isa[CAROM_ISA_NEON + 1];
#if defined(__x86_64__)
#define TEST_EACH_ISA(ON)                                                                \
    ON("scalar", &each_isa[CAROM_ISA_SCALAR]), ON("sse4.1", &each_isa[CAROM_ISA_SSE41]), \
        ON("avx2", &each_isa[CAROM_ISA_AVX2]), ON("avx512", &each_isa[CAROM_ISA_AVX512])
#elif defined(__aarch64__)
#define TEST_EACH_ISA(ON) ON("scalar", &each_isa[CAROM_ISA_SCALAR]), ON("neon", &each_isa[CAROM_ISA_NEON])
#else
#define TEST_EACH_ISA(ON) ON("scalar", &each_isa[CAROM_ISA_SCALAR])
#endif
/* Whether a test may ask the device of this run for so many lanes. A device whose own number is one, as a GPU's is,
 * gets no more: the library never gives it more unless it is asked to, and a driver's compiler may have faults there
 * that the bit probe refuses (docs/devices.md, "OpenCL"). CAROM_TEST_LANES above 1 asks for more all the same. */
int test_has_lanes(uint32_t lanes);
#define TEST_ONE_LANE "a work-item of this device, as of a GPU, has one"
/* Lanes for a context of a test that wants so many (0: the device's own): fewer are reported. */
uint32_t test_lanes_for(uint32_t lanes);
/* 1 if a CPU stands in for a GPU; 1 while cl_shim.c is to show devices as they are. */
int test_as_gpu(void);
extern int test_undisguised;
/* A description of contexts with this backend, the device of this run and its own lanes. */
carom_context_desc test_desc(carom_backend backend);
/* A context for the device of this run; skips the test if there is none. A 0 takes the device's own setting. */
carom_context *test_device(uint32_t lanes, uint32_t chunk);
/* A context with this backend for the device of this run. The device must exist. */
carom_context *test_backend(carom_backend backend);
/* The device of this run. Skips the test if there is none, before any work is done. */
carom_device_info test_need_device(void);
/* A context for the subject of this run: the device, or the CPU's best instruction set on two threads. */
carom_context *test_context(void);
/* Fail with the library's error message unless `status` is CAROM_OK. */
void test_ok(const char *what, carom_status status, const carom_error *err);

/* Fail unless `got` is the expected status and the error message is terminated and contains `word`. */
void test_error(carom_status got, carom_status expected, const carom_error *err, const char *word);

/* ---- the same bits from every backend ---------------------------------------------------------------------------- */

/* Fails unless `context`, named `label` in messages, answers as `scalar` does: scalar code on one thread. */
typedef void same_answers_fn(carom_context *scalar, carom_context *context, const char *label);
typedef struct same_answers {
    same_answers_fn *check;
    carom_isa isa;
} same_answers;
/* Cmocka tests whose initial state is a same_answers: with its instruction set; on two threads and on seven; on the
 * device with the lanes it suggests, with one, with four, and in chunks. */
void test_same_isa(void **state);
void test_same_threads(void **state);
void test_same_device(void **state);
#define SAME_BITS(name, test, check, isa)       \
    {                                           \
        name, test, NULL, NULL, &(same_answers) \
        {                                       \
            check, isa                          \
        }                                       \
    }
#define SAME_BITS_ON_DEVICE(check) SAME_BITS("device: the bits of scalar", test_same_device, check, CAROM_ISA_AUTO)
/* Tests for threads and for every instruction set of this architecture. They live as long as the calling function. */
#define SAME_BITS_ON_THREADS(check) SAME_BITS("threads: the bits of scalar", test_same_threads, check, CAROM_ISA_AUTO)
#if defined(__x86_64__)
#define SAME_BITS_ON_CPU(check)                                                      \
    SAME_BITS("sse4.1: the bits of scalar", test_same_isa, check, CAROM_ISA_SSE41),  \
        SAME_BITS("avx2: the bits of scalar", test_same_isa, check, CAROM_ISA_AVX2), \
        SAME_BITS("avx512: the bits of scalar", test_same_isa, check, CAROM_ISA_AVX512), SAME_BITS_ON_THREADS(check)
#elif defined(__aarch64__)
#define SAME_BITS_ON_CPU(check) \
    SAME_BITS("neon: the bits of scalar", test_same_isa, check, CAROM_ISA_NEON), SAME_BITS_ON_THREADS(check)
#else
#define SAME_BITS_ON_CPU(check) SAME_BITS_ON_THREADS(check)
#endif

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Memory between two guard bands, which must not be written. */
typedef struct guarded {
    unsigned char *data, *block;
    size_t size;
} guarded;

/* Filled with `fill`; data starts `misalign` bytes after a multiple of 64. */
guarded guarded_alloc(size_t size, size_t misalign, unsigned char fill);
void guarded_check(const guarded *memory, const char *what);
void guarded_free(guarded *memory);

void *test_alloc(size_t count, size_t size); /* zeros; fails the test when there is no memory */

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* Query types are row numbers of the registry (queries/query.h). Pair queries come first. Mesh queries follow from
 * QUERY_TYPES on; for these only answers can be made, printed and compared. */
/* For a test's initial state: the number of each row at its own index. */
extern int each_query[QUERY_PAIR_COUNT];
enum { SWEEP = QUERY_sweep, OVERLAP = QUERY_overlap, SPHERES = QUERY_spheres, QUERY_TYPES = QUERY_PAIR_COUNT };

/* Queries as columns. */
typedef struct queries {
    int type;
    size_t count;
    float *column[QUERY_COLUMNS_MAX];
} queries;

const char *query_name(int type);
int query_columns(int type);
queries queries_alloc(int type, size_t count);
queries queries_family(int type, size_t family, uint64_t seed, size_t count);
queries queries_mixed(int type, uint64_t seed, size_t count); /* all families, one after the other */
void queries_free(queries *q);
/* Write case c as query i: of sweeps and overlaps (an overlap has no velocities), or of spheres. */
void queries_put_sweep(queries *q, size_t i, const ref_sweep_case *c);
void queries_put_spheres(queries *q, size_t i, const ref_spheres_case *c);
void queries_get_sweep(const queries *q, size_t i, ref_sweep_case *c);
void queries_get_spheres(const queries *q, size_t i, ref_spheres_case *c);
/* Read query i as a row, answer i as values. */
void queries_load(const queries *q, size_t i, float *row);
double queries_scale(const ref_sweep_case *c);  /* largest magnitude among positions and radius */
void queries_print(const queries *q, size_t i); /* in hex floats, ready to be a test case */

/* ---- batches ----------------------------------------------------------------------------------------------------- */

typedef query_inputs inputs;

/* The column that a vector or number of `inputs` starts with; -1: the type has no more. */
int query_point_column(int type, int i);
int query_scalar_column(int type, int i);
inputs inputs_of(const queries *q);

/* Fields of the answers, in the order of the rows. Points are x y z; spheres have u for t. */
enum { STATE, T_FIRST, T_LAST, X_FIRST, Y_FIRST, Z_FIRST, F_FIRST, X_LAST, Y_LAST, Z_LAST, F_LAST };
enum { OVERLAPS, AXES };
enum { ALL_FIELDS = -1 };

typedef struct answers {
    int type;
    size_t count;
    guarded field[QUERY_FIELDS_MAX];
} answers;

int query_fields(int type);
const char *query_field_name(int type, int field);
size_t query_field_bytes(int type, int field);
answers answers_alloc(int type, size_t count, unsigned char fill);
void answers_free(answers *a);
void answers_check_guards(const answers *a, const char *what);
int answers_byte(const answers *a, int field, size_t i);
float answers_float(const answers *a, int field, size_t i);
void answers_load(const answers *a, size_t i, query_value *values);
void answers_print(const answers *a, size_t i, const char *label);
/* Fail at the first of `count` answers in which a field of the mask differs, printing query and both answers. */
void answers_compare(const queries *q, const answers *expected, const answers *got, size_t count, int fields,
                     const char *label);

/* Run a batch with the outputs of the fields in the mask. */
carom_status ask_with(carom_context *context, int type, carom_accuracy accuracy, size_t count, const inputs *in,
                      const answers *out, int fields, carom_stats *stats, carom_error *err);
carom_status ask_as(carom_context *context, int type, size_t count, const inputs *in, const answers *out, int fields,
                    carom_stats *stats, carom_error *err);
void ask(carom_context *context, const queries *q, const answers *out, int fields);

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

float float_of_bits(uint32_t bits);
uint32_t bits_of_float(float value);
int is_nan_or_minus_zero(float value);

/* FNV-1a over bytes; floats as little-endian bits, every NaN as one. Start with HASH_START. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count);
uint64_t hash_floats(uint64_t hash, const void *floats, size_t count);

#endif
