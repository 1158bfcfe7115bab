/* SPDX-License-Identifier: MIT */
#include "clouds.h"

#include <math.h>

enum { MOST = 60 };

cloud cloud_alloc(size_t count)
{
    return (cloud){.count = count,
                   .center = test_alloc(3 * count, sizeof(float)),
                   .velocity = test_alloc(3 * count, sizeof(float)),
                   .radius = test_alloc(count, sizeof(float)),
                   .t_max = test_alloc(count, sizeof(float))};
}

void cloud_free(cloud *c)
{
    free(c->center);
    free(c->velocity);
    free(c->radius);
    free(c->t_max);
    free(c->mask);
    free(c->group);
}

/* Of three groups each sphere is in one or two, a few are in none, and a few in all. */
void add_groups(cloud *c, size_t number)
{
    static const uint32_t groups[] = {1, 2, 4, 3, 6, 5, 0, UINT32_MAX};
    ref_gen g;
    ref_gen_seed(&g, 17, 2, number);
    c->group = test_alloc(c->count, sizeof *c->group);
    for (size_t i = 0; i < c->count; i++)
        c->group[i] = groups[ref_gen_int(&g, 0, (int)COUNT_OF(groups) - 1)];
    c->desc.group = carom_uints_of(c->group);
}

float between(ref_gen *g, double low, double high)
{
    return (float)ref_gen_range(g, low, high);
}

typedef void change_fn(cloud *c, size_t i, ref_gen *g);
static void scale_all(cloud *c, size_t i, float by)
{
    for (size_t k = 0; k < 3; k++) {
        c->center[3 * i + k] *= by;
        c->velocity[3 * i + k] *= by;
    }
    c->radius[i] *= by;
}
static void as_it_is(cloud *c, size_t i, ref_gen *g)
{
    (void)c, (void)i, (void)g;
}
/* Neighbours touch exactly, at rest and while they move by whole steps. */
static void on_lattice(cloud *c, size_t i, ref_gen *g)
{
    for (size_t k = 0; k < 3; k++) {
        c->center[3 * i + k] = floorf(between(g, 0, 6));
        c->velocity[3 * i + k] = floorf(between(g, -1, 2));
    }
    c->radius[i] = 0.5f;
}
static void far_away(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 0; k < 3; k++)
        c->center[3 * i + k] += 1e7f;
}
static void few_large(cloud *c, size_t i, ref_gen *g)
{
    c->radius[i] = ref_gen_range(g, 0, 1) < 0.05 ? 5.0f : between(g, 0, 1e-2);
}
static void any_size(cloud *c, size_t i, ref_gen *g)
{
    c->radius[i] = powf(10.0f, between(g, -6, 0));
}
static void one_outlier(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    if (i == c->count / 2)
        c->center[3 * i] = 1e30f;
}
static void denormal(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    scale_all(c, i, 1e-40f);
}
static void huge(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    scale_all(c, i, 1e37f);
}
static void in_one_place(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 0; k < 3; k++)
        c->center[3 * i + k] = 1.0f;
}
static void some_invalid(cloud *c, size_t i, ref_gen *g)
{
    if (ref_gen_range(g, 0, 1) < 0.2)
        c->radius[i] = ref_gen_range(g, 0, 1) < 0.5 ? -1.0f : NAN;
}
static void fast_ones(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    c->radius[i] = 0.5f;
    for (size_t k = 0; k < 3; k++)
        c->velocity[3 * i + k] *= 20.0f;
}
/* The first is far away: it must not be where places are counted from. */
static void outlier_first(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    if (i == 0)
        c->center[1] = 1e8f;
}
static void negative_zeros(cloud *c, size_t i, ref_gen *g)
{
    if (ref_gen_range(g, 0, 1) < 0.3)
        c->radius[i] = -0.0f;
}
static void in_line(cloud *c, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 1; k < 3; k++)
        c->center[3 * i + k] = c->velocity[3 * i + k] = 0.0f;
    c->center[3 * i] = floorf(c->center[3 * i] * 8.0f) / 8.0f;
    c->radius[i] = 0.25f;
}
static void points(cloud *c, size_t i, ref_gen *g)
{
    on_lattice(c, i, g);
    c->radius[i] = 0.0f;
}

static const struct {
    const char *name;
    change_fn *change;
    float period; /* of clouds that have one */
} families[CLOUD_FAMILIES] = {{"random", as_it_is, 11},       {"lattice", on_lattice, 6},
                              {"far", far_away, 11},          {"few large", few_large, 12},
                              {"any size", any_size, 10},     {"outlier", one_outlier, 9},
                              {"denormal", denormal, 1e-39f}, {"huge", huge, 1e38f},
                              {"one place", in_one_place, 3}, {"invalid", some_invalid, 11},
                              {"fast", fast_ones, 10},        {"line", in_line, 10},
                              {"points", points, 6},          {"outlier first", outlier_first, 9},
                              {"-0", negative_zeros, 11}};

const char *cloud_family(size_t number)
{
    return families[number % CLOUD_FAMILIES].name;
}

cloud make_cloud(size_t number, int exact)
{
    const size_t family = number % CLOUD_FAMILIES, options = number / CLOUD_FAMILIES;
    const int moves = options % 3 != 0, is_periodic = options / 3 % 2, has_masks = options / 6 % 2;
    ref_gen g;
    ref_gen_seed(&g, 17, 1, number);
    cloud c = cloud_alloc(2 + (size_t)(ref_gen_range(&g, 0, 1) * MOST));
    c.mask = test_alloc(c.count, sizeof(uint32_t));
    for (size_t i = 0; i < c.count; i++) {
        for (size_t k = 0; k < 3; k++) {
            c.center[3 * i + k] = between(&g, 0, 10);
            c.velocity[3 * i + k] = between(&g, -2, 2);
        }
        c.radius[i] = between(&g, 0, 0.7);
        c.t_max[i] = options % 7 == 5 ? -0.0f : ref_gen_range(&g, 0, 1) < 0.2 ? between(&g, 0, 2) : 3.0f;
        if (options % 4 == 1 && ref_gen_range(&g, 0, 1) < 0.03)
            c.t_max[i] = INFINITY;
        c.mask[i] = 1u << (int)(3 * ref_gen_range(&g, 0, 1));
        families[family].change(&c, i, &g);
    }
    c.desc = (carom_cloud_desc){.batch = {.size = sizeof c.desc,
                                          .count = c.count,
                                          .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST},
                                .center = carom_xyz(c.center),
                                .radius = carom_scalars_of(c.radius)};
    if (moves) {
        c.desc.velocity = carom_xyz(c.velocity);
        c.desc.t_max = carom_scalars_of(c.t_max);
        c.desc.start = (carom_start)(options / 12 % 3);
    } else if ((options + family) % 2)
        c.desc.margin = 0.3f;
    if (is_periodic) {
        c.desc.period[0] = families[family].period;
        c.desc.period[2] = 1.25f * families[family].period;
    }
    if (has_masks)
        c.desc.mask = carom_uints_of(c.mask);
    c.desc.full = options % 5 == 4;
    return c;
}
