/* SPDX-License-Identifier: MIT */
/* The probe of orders that a GPU makes: those of some clouds against the CPU's. */
#include <math.h>
#include <string.h>

#include "grid.h"
#include "probe.h"

enum { SPHERES = 5000 /* more than two tiles of a sort */ };

typedef struct order_probe {
    float column[CLOUD_R + 1][SPHERES];
    uint32_t order[SPHERES], expected[SPHERES];
} order_probe;

/* A pseudorandom number between two. */
static float between(uint64_t *random, float low, float high)
{
    *random = *random * UINT64_C(0x5851f42d4c957f2d) + UINT64_C(0x14057b7ef767814f);
    return low + (high - low) * (float)(*random >> 40) * 0x1p-24f;
}

/* Spheres of one radius in a cube. */
static void fill(order_probe *p, float side, float radius)
{
    uint64_t random = 29;
    for (uint32_t i = 0; i < SPHERES; i++) {
        for (int k = 0; k < 3; k++)
            p->column[k][i] = between(&random, 0, side);
        p->column[CLOUD_R][i] = radius;
    }
}

/* Rows so sparse that cells are merged. */
static void spread(order_probe *p)
{
    for (uint32_t i = 0; i < SPHERES; i++) {
        p->column[CLOUD_X][i] *= 100;
        p->column[CLOUD_Y][i] *= 6;
        p->column[CLOUD_Z][i] *= 6;
    }
}

/* Two sizes in two levels, outliers in rows of their own and in others' rows, invalid spheres. */
static void add_kinds(order_probe *p)
{
    for (uint32_t i = 0; i < SPHERES; i += 23) {
        p->column[CLOUD_R][i] = 40;
        p->column[CLOUD_X + (int)(i / 23 % 3)][i] *= i % 5 == 2 ? 1e6f : 1;
    }
    for (uint32_t i = 11; i < SPHERES; i += 300) {
        p->column[CLOUD_R][i] = i % 2 ? -1 : 0.5f;
        p->column[CLOUD_Y][i] = NAN;
    }
}

/* Most spheres in a heap, where cells that follow from sizes alone hold all of them. */
static void add_heap(order_probe *p)
{
    for (uint32_t i = 0; i < SPHERES; i++)
        for (int k = 0; k < 3 && i % 8 > 0; k++)
            p->column[k][i] *= 1e-3f;
}

/* is_made: whether the device makes the order, or leaves it to the host. */
static carom_status compare_order(caromi_device *device, order_probe *p, int is_made, carom_error *err)
{
    caromi_cloud cloud = {.context = device->context, .count = SPHERES, .end = SPHERES};
    carom_stats stats = {.size = sizeof stats};
    int answered = 0;
    for (int k = 0; k <= CLOUD_R; k++)
        cloud.in[k] = (caromi_in_column){.base = p->column[k], .stride = sizeof(float)};
    CHECK(caromi_cloud_order(&cloud, p->expected, err));
    CHECK(caromi_grid_run(device, &cloud, &(caromi_grid_result){.order = p->order}, &answered, &stats, err));
    if (answered == is_made && (!answered || memcmp(p->order, p->expected, sizeof p->order) == 0))
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0, "%s: the order of a small cloud differs from the CPU's",
                       device->info.name);
}

static carom_status run_probe(caromi_device *device, void *data, carom_error *err)
{
    order_probe *p = data;
    fill(p, 40, 0.5f);
    add_kinds(p);
    CHECK(compare_order(device, p, 1, err));
    fill(p, 40, 0.5f);
    spread(p);
    CHECK(compare_order(device, p, 1, err));
    fill(p, 1, 1); /* all in one cell, and narrower ones are of no use */
    CHECK(compare_order(device, p, 1, err));
    fill(p, 100, 1e-3f);
    add_heap(p);
    return compare_order(device, p, 0, err);
}

carom_status caromi_grid_probe_order(caromi_device *device, carom_error *err)
{
    static const uint32_t shared[] = {CAROMI_PROGRAM_GRID_CLEAR, CAROMI_PROGRAM_GRID_READ, CAROMI_PROGRAM_GRID_SUM,
                                      CAROMI_PROGRAM_GRID_CARRY, CAROMI_PROGRAM_GRID_START};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        CHECK(caromi_program_build(device, shared[i], err));
    return caromi_probe_programs(device, CAROMI_PROGRAM_ORDER_FIRST, CAROMI_PROGRAM_ORDER_LAST, sizeof(order_probe),
                                 run_probe, err);
}
