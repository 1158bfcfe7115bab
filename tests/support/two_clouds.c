/* SPDX-License-Identifier: MIT */
#include "two_clouds.h"

#include <math.h>

static void view_second(two_clouds *two, int moves, int has_limits, int has_masks, int has_groups)
{
    const ball *b = two->b;
    const size_t stride = sizeof *b;
    two->against = (carom_cloud_against){.size = sizeof two->against,
                                         .count = two->count,
                                         .center = carom_strided(b->center, stride),
                                         .radius = {&b->radius, stride}};
    if (moves)
        two->against.velocity = carom_strided(b->velocity, stride);
    if (has_limits)
        two->against.t_max = (carom_scalars){&b->t_max, stride};
    if (has_masks)
        two->against.mask = (carom_uints){&b->mask, stride};
    if (has_groups)
        two->against.group = (carom_uints){&b->group, stride};
    two->a.desc.against = &two->against;
    two->a.desc.full = 0;
}

/* Spheres [from, c->count), each `step`, of a cloud with groups, become the second cloud behind so many invalid ones.
 */
static void take_second(two_clouds *two, const cloud *c, size_t from, size_t step, size_t invalid)
{
    two->count = invalid;
    two->b = test_alloc(invalid + c->count + 1, sizeof *two->b);
    for (size_t i = 0; i < invalid; i++)
        two->b[i].radius = -1;
    for (size_t i = from; i < c->count; i += step) {
        ball *b = &two->b[two->count++];
        memcpy(b->center, c->center + 3 * i, sizeof b->center);
        memcpy(b->velocity, c->velocity + 3 * i, sizeof b->velocity);
        b->radius = c->radius[i];
        b->t_max = c->t_max[i];
        b->mask = c->mask[i];
        b->group = c->group[i];
    }
}

void make_two(two_clouds *two, size_t number, int exact)
{
    enum { SELF = 5, INVALID = 260 };
    const int is_self = number % SELF == 0;
    cloud c = make_cloud(number, exact);
    const int moves = c.desc.velocity.x != NULL, has_masks = c.desc.mask.data != NULL;
    add_groups(&c, number);
    take_second(two, &c, is_self ? 0 : 1, is_self ? 1 : 2, number % 3 == 0 ? INVALID : 0);
    if (!is_self) { /* the first cloud keeps the others */
        c.count = (c.count + 1) / 2;
        for (size_t i = 1; i < c.count; i++) {
            memcpy(c.center + 3 * i, c.center + 6 * i, 3 * sizeof *c.center);
            memcpy(c.velocity + 3 * i, c.velocity + 6 * i, 3 * sizeof *c.velocity);
            c.radius[i] = c.radius[2 * i];
            c.t_max[i] = c.t_max[2 * i];
            c.mask[i] = c.mask[2 * i];
            c.group[i] = c.group[2 * i];
        }
        c.desc.batch.count = c.count;
    }
    two->a = c;
    const size_t kind = number / 2;
    if (kind % 3 == 1)
        two->a.desc.velocity = (carom_points){0};
    if (kind % 4 == 1)
        two->a.desc.t_max = (carom_scalars){0};
    if (kind % 2)
        two->a.desc.mask = (carom_uints){0};
    if (kind % 5 > 1)
        two->a.desc.group = (carom_uints){0};
    view_second(two, moves && kind % 3 != 2, moves && kind % 4 != 2, has_masks, kind % 7 == 0);
}

void make_two_many(two_clouds *two, size_t number, int exact)
{
    enum { MANY = 500 };
    ref_gen g;
    ref_gen_seed(&g, 23, 1, number);
    const size_t first = number % 3 == 0 ? MANY / 2 : number % 3 == 1 ? MANY - 40 : 40;
    const int moves = number / 3 % 2;
    cloud c = cloud_alloc(MANY);
    c.mask = test_alloc(c.count, sizeof(uint32_t));
    for (size_t i = 0; i < c.count; i++) {
        const int is_heap = number / 6 % 3 == 1 && i % 2;
        for (size_t k = 0; k < 3; k++) {
            c.center[3 * i + k] = is_heap ? between(&g, 4, 4.3) : between(&g, 0, 10);
            c.velocity[3 * i + k] = between(&g, -2, 2);
        }
        c.radius[i] = is_heap ? 0.02f : number / 6 % 3 == 2 ? powf(2, between(&g, -9, 0)) : 0.4f;
        c.t_max[i] = i % 5 == 0 ? between(&g, 0, 1) : 1;
        c.mask[i] = UINT32_MAX;
    }
    add_groups(&c, number);
    take_second(two, &c, first, 1, 0);
    c.count = first;
    c.desc = (carom_cloud_desc){.batch = {.size = sizeof c.desc,
                                          .count = c.count,
                                          .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
                                .center = carom_xyz(c.center),
                                .radius = carom_scalars_of(c.radius),
                                .start = (carom_start)(number % 4 == 3)};
    if (moves) {
        c.desc.velocity = carom_xyz(c.velocity);
        c.desc.t_max = carom_scalars_of(c.t_max);
    } else if (number % 2)
        c.desc.margin = 0.1f;
    if (number % 5 > 2)
        c.desc.period[1] = 10;
    two->a = c;
    view_second(two, moves && number % 4 != 1, 0, 0, 0);
}

void free_two(two_clouds *two)
{
    cloud_free(&two->a);
    free(two->b);
}
