/* SPDX-License-Identifier: MIT */
/* Clouds in motion that are hard for slices of time, and everything that can be asked about one: for tests of clouds on
 * a GPU. */
#ifndef TESTS_SUPPORT_MOVING_CLOUDS_H
#define TESTS_SUPPORT_MOVING_CLOUDS_H
#include "tests/support/clouds.h"

/* All arrays of the answers, one after another. */
enum { MOVING_MANY = 3000, MOVING_ROOM = 40 * MOVING_MANY };
typedef struct moving_answers {
    uint64_t offsets[MOVING_MANY + 1];
    carom_list_totals totals;
    int32_t a[MOVING_ROOM], b[MOVING_ROOM], other[MOVING_MANY];
    float t[MOVING_ROOM], other_t[MOVING_MANY];
    uint32_t partners[MOVING_MANY];
    uint8_t state[MOVING_ROOM], other_state[MOVING_MANY], hit[MOVING_MANY];
    int8_t shift[3 * MOVING_ROOM];
    float depth[MOVING_ROOM], normal[3 * MOVING_ROOM];
    int64_t previous[MOVING_ROOM];
} moving_answers;

typedef struct moving_many {
    float center[3 * MOVING_MANY], velocity[3 * MOVING_MANY], radius[MOVING_MANY], t_max[MOVING_MANY];
    uint32_t mask[MOVING_MANY];
    carom_cloud_desc desc;
} moving_many;

/* A kind of cloud: a function that changes sphere i. */
typedef struct moving_shape {
    const char *name;
    void (*change)(moving_many *m, size_t i, ref_gen *g);
} moving_shape;
enum { MOVING_SHAPES = 12 };
extern const moving_shape moving_shapes[MOVING_SHAPES];

/* Asks for a list without the columns that follow from the pairs. */
carom_status moving_list(carom_context *context, const carom_cloud_desc *d, size_t capacity, moving_answers *to,
                         carom_stats *stats, carom_error *err);
/* Asks for these columns. The earlier list is the list itself, of which `known` pairs are stored, without its first
 * third; it may have the shifts too. */
void moving_columns(carom_context *context, const carom_cloud_desc *d, size_t capacity, size_t known,
                    moving_answers *to, carom_stats *stats);
/* Asks for a list as the first function does, counts, first and any partners. */
void moving_ask(carom_context *context, const carom_cloud_desc *d, size_t capacity, moving_answers *to,
                carom_stats *stats);
/* The same with new memory. */
moving_answers *moving_ask_new(carom_context *context, const carom_cloud_desc *d, size_t capacity, carom_stats *stats);
/* A cloud of one of moving_shapes. */
moving_many *moving_many_make(size_t shape, size_t count);
#endif
