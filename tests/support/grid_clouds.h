/* SPDX-License-Identifier: MIT */
/* Clouds at rest that are hard for cells, and everything that can be asked about one: for tests of clouds on a GPU. */
#ifndef TESTS_SUPPORT_GRID_CLOUDS_H
#define TESTS_SUPPORT_GRID_CLOUDS_H
#include "tests/support/clouds.h"

typedef struct grid_answer {
    uint64_t *offsets;
    int32_t *a, *b;
    uint8_t *state;
    float *t;
    int8_t *shift;
    uint32_t *partners;
    int32_t *other; /* of first partners, and what is known of these */
    float *other_t;
    uint8_t *other_state, *hit;
    float *depth, *normal;
    int64_t *previous;
    carom_list_totals totals;
} grid_answer;

/* An earlier list: some pairs of this one, some of them twice, and pairs that no list has. */
typedef struct grid_earlier {
    int32_t *a, *b;
    int8_t *shift;
    carom_cloud_pairs_before before;
} grid_earlier;

/* Spheres of a cloud, the side of the cube that they are in, and the capacity of a list of their pairs. */
enum { GRID_MANY = 4000, GRID_SIDE = 16, GRID_CAPACITY = 6 * GRID_MANY };

typedef struct grid_many {
    float center[3 * GRID_MANY], radius[GRID_MANY];
    uint32_t mask[GRID_MANY], group[GRID_MANY];
    carom_cloud_desc desc;
} grid_many;

/* A kind of cloud: a function that changes sphere i, whose centre is somewhere in the cube. */
typedef struct grid_shape {
    const char *name;
    void (*change)(float *center, float *radius, size_t i, ref_gen *g);
} grid_shape;
enum { GRID_SHAPES = 17 };
extern const grid_shape grid_shapes[GRID_SHAPES];

grid_answer grid_answer_alloc(size_t count, size_t capacity);
void grid_answer_free(grid_answer *of);
carom_cloud_pair_list grid_list_of(grid_answer *to, size_t capacity);
/* Asks for a list, counts, first and any partners. */
void grid_answer_both(carom_context *context, const carom_cloud_desc *d, size_t capacity, grid_answer *to,
                      carom_stats *stats);
/* Asks for the columns that follow from the pairs: depth, normal and place in an earlier list. */
void grid_answer_columns(carom_context *context, const carom_cloud_desc *d, size_t capacity, int are_apart,
                         const carom_cloud_pairs_before *before, grid_answer *to, carom_stats *stats);
grid_earlier grid_earlier_make(const grid_answer *of, size_t number);
void grid_earlier_free(grid_earlier *e);
/* Fails the test if bytes differ. */
void grid_expect_same(const void *got, const void *expected, size_t bytes, const char *column, const char *what);
/* Compares everything, also what lies behind the stored pairs and must not be written. */
void grid_compare(carom_context *cpu, carom_context *device, const carom_cloud_desc *d, size_t capacity,
                  const char *what);
/* Compares all that can be asked about a cloud. */
void grid_compare_ways(carom_context *cpu, carom_context *device, const carom_cloud_desc *of, const char *what);
/* A cloud of one of grid_shapes. */
grid_many *grid_many_make(size_t shape, size_t count);
#endif
