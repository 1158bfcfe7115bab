/* SPDX-License-Identifier: MIT */
#include "moving_clouds.h"

#include <math.h>

/* ---- answers ----------------------------------------------------------------------------------------------------- */

carom_status moving_list(carom_context *context, const carom_cloud_desc *d, size_t capacity, moving_answers *to,
                         carom_stats *stats, carom_error *err)
{
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = capacity,
                                        .offsets = to->offsets,
                                        .a = to->a,
                                        .b = to->b,
                                        .state = to->state,
                                        .t = to->t,
                                        .shift = to->shift,
                                        .totals = &to->totals};
    *stats = (carom_stats){.size = sizeof *stats};
    return carom_cloud_list(context, d, &list, stats, err);
}

void moving_columns(carom_context *context, const carom_cloud_desc *d, size_t capacity, size_t known,
                    moving_answers *to, carom_stats *stats)
{
    const carom_cloud_pairs_before before = {.size = sizeof before,
                                             .count = known - known / 3,
                                             .a = to->a + known / 3,
                                             .b = to->b + known / 3,
                                             .shift = known % 2 ? to->shift + known / 3 * 3 : NULL};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = capacity,
                                        .depth = to->depth,
                                        .normal = carom_xyz_out(to->normal),
                                        .previous = to->previous,
                                        .before = &before,
                                        .totals = &totals};
    carom_error err = {0};
    *stats = (carom_stats){.size = sizeof *stats};
    test_ok("columns", carom_cloud_list(context, d, &list, stats, &err), &err);
}

void moving_ask(carom_context *context, const carom_cloud_desc *d, size_t capacity, moving_answers *to,
                carom_stats *stats)
{
    const carom_cloud_count_result count = {sizeof count, to->partners};
    const carom_cloud_partner_result first = {sizeof first, to->other, to->other_state, to->other_t};
    carom_cloud_desc all = *d;
    carom_error err = {0};
    all.full = 0;
    all.batch.begin = all.a_end = 0;
    test_ok("list", moving_list(context, d, capacity, to, stats, &err), &err);
    test_ok("count", carom_cloud_count(context, &all, &count, NULL, &err), &err);
    test_ok("first", carom_cloud_first(context, &all, &first, NULL, &err), &err);
    test_ok("any", carom_cloud_any(context, &all, TEST_ANY(to->hit), NULL, &err), &err);
}

moving_answers *moving_ask_new(carom_context *context, const carom_cloud_desc *d, size_t capacity, carom_stats *stats)
{
    moving_answers *to = test_alloc(1, sizeof *to);
    moving_ask(context, d, capacity, to, stats);
    return to;
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

static void slow(moving_many *m, size_t i, ref_gen *g)
{
    (void)m, (void)i, (void)g;
}
/* Ways of many radii: the window is cut into slices. */
static void fast(moving_many *m, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 0; k < 3; k++)
        m->velocity[3 * i + k] *= 40.0f;
    m->radius[i] = 0.1f;
}
/* Half of the spheres meet their limits early. */
static void limits(moving_many *m, size_t i, ref_gen *g)
{
    fast(m, i, g);
    m->t_max[i] = i % 2 ? between(g, 0, 0.1) : i == 4 ? INFINITY : between(g, 0, 2);
}
/* Hits fall on the ends of slices, and many at one time. */
static void by_steps(moving_many *m, size_t i, ref_gen *g)
{
    for (size_t k = 0; k < 3; k++) {
        m->center[3 * i + k] = floorf(m->center[3 * i + k] * 2.0f);
        m->velocity[3 * i + k] = 8.0f * floorf(between(g, -1, 2));
    }
    m->radius[i] = 0.25f;
}
static void drift(moving_many *m, size_t i, ref_gen *g)
{
    (void)g;
    m->velocity[3 * i] += 1000.0f;
}
static void far_away(moving_many *m, size_t i, ref_gen *g)
{
    (void)g;
    m->center[3 * i + 1] += 2e6f;
}
static void all_meet(moving_many *m, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 0; k < 3; k++)
        m->velocity[3 * i + k] = 8.0f - m->center[3 * i + k];
    m->radius[i] = 0.01f;
    m->t_max[i] = 0.9f;
}
/* One sphere sweeps through the others and meets most of them, one after another: rows too long to be ranked, in which
 * partners are in no order. */
static void one_giant(moving_many *m, size_t i, ref_gen *g)
{
    (void)g;
    if (i != MOVING_MANY / 2)
        return;
    for (size_t k = 0; k < 3; k++) {
        m->center[3 * i + k] = -5.0f;
        m->velocity[3 * i + k] = 25.0f;
    }
    m->radius[i] = 7.0f;
}
static void sizes(moving_many *m, size_t i, ref_gen *g)
{
    m->radius[i] = powf(10.0f, between(g, -5, -0.3));
}
/* Some balls reach everywhere, others nowhere. */
static void odd_numbers(moving_many *m, size_t i, ref_gen *g)
{
    static const float odd[] = {3e38f, -3e38f, 1e30f, 1e-45f, -0.0f, NAN, INFINITY, 1e20f};
    (void)g;
    if (i % 97 == 3)
        m->velocity[3 * i + i % 3] = odd[i / 97 % 8];
    if (i % 97 == 5)
        m->center[3 * i + i % 3] = odd[i / 97 % 8];
    if (i % 97 == 7)
        m->radius[i] = odd[i / 97 % 8];
}
/* Tiny spheres with enormous velocities along a line: where they meet, times are some of the least binary32 numbers. */
static void least_times(moving_many *m, size_t i, ref_gen *g)
{
    static const float t[] = {0, 0x1p-149f, 0x1.8p-148f, 0x1p-145f};
    m->center[3 * i] = between(g, 0, 0x1p-15);
    m->velocity[3 * i] *= 0x1p122f;
    for (size_t k = 1; k < 3; k++)
        m->center[3 * i + k] = m->velocity[3 * i + k] = 0;
    m->radius[i] = between(g, 0, 0x1p-30);
    m->t_max[i] = t[i % 4];
}
static void at_time_0(moving_many *m, size_t i, ref_gen *g)
{
    least_times(m, i, g);
    m->t_max[i] = 0;
}
const moving_shape moving_shapes[MOVING_SHAPES] = {{"slow", slow},
                                                   {"fast", fast},
                                                   {"limits", limits},
                                                   {"steps", by_steps},
                                                   {"drift", drift},
                                                   {"far away", far_away},
                                                   {"all meet", all_meet},
                                                   {"giant", one_giant},
                                                   {"sizes", sizes},
                                                   {"odd numbers", odd_numbers},
                                                   {"least times", least_times},
                                                   {"at time 0", at_time_0}};

moving_many *moving_many_make(size_t shape, size_t count)
{
    moving_many *m = test_alloc(1, sizeof *m);
    ref_gen g;
    ref_gen_seed(&g, 29, 1, shape);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            m->center[3 * i + k] = between(&g, 0, 16);
            m->velocity[3 * i + k] = between(&g, -1, 1);
        }
        m->radius[i] = 0.4f;
        m->t_max[i] = 1.0f;
        m->mask[i] = 1u << i % 3 | 1u << i % 5;
        moving_shapes[shape].change(m, i, &g);
    }
    m->desc = (carom_cloud_desc){.batch = {.size = sizeof m->desc, .count = count},
                                 .center = carom_xyz(m->center),
                                 .velocity = carom_xyz(m->velocity),
                                 .radius = carom_scalars_of(m->radius),
                                 .t_max = carom_scalars_of(m->t_max)};
    return m;
}
