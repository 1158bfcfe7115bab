/* SPDX-License-Identifier: MIT */
/* The probe of clouds that a GPU sorts by itself: lists of a small cloud, of all kinds of numbers, against those of a
 * loop over all pairs on the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "host/cloud/columns.h"
#include "host/cloud/device.h"
#include "kernels/cloud_columns.h"
#include "probe.h"

enum { SPHERES = 300, FIRST = 130, RECORDS = SPHERES * SPHERES, CHAIN = 7 }; /* FIRST: of two clouds the first one's */

typedef struct record {
    int32_t a, b;
    float t;
    uint8_t state, image;
} record;

typedef struct grid_probe {
    float column[4][SPHERES];
    uint32_t mask[SPHERES], group[SPHERES], count[SPHERES], expected_count[SPHERES];
    float period[3];         /* 0: an open box */
    uint32_t asked, first_b; /* spheres that answers are about; FIRST if there are two clouds, else 0 */
    float in[IN_CLOUD][SPHERES], t[SPHERES];
    uint8_t states[SPHERES], parts[SPHERES];
    record expected[RECORDS];
    uint64_t expected_offset[SPHERES + 1], offset[SPHERES + 1];
    int32_t a[RECORDS], b[RECORDS];
    float time[RECORDS];
    uint8_t state[RECORDS];
    int8_t shift[3 * RECORDS];
    uint64_t found;
    /* An earlier list, and the columns that follow from the pairs. */
    int32_t before_a[RECORDS], before_b[RECORDS];
    int8_t before_shift[3 * RECORDS];
    int64_t previous[RECORDS], expected_previous[RECORDS];
    float depth[RECORDS], normal[3 * RECORDS];
} grid_probe;

/* Spheres on a lattice, spheres of arbitrary sizes, a large one around many of them, one far away, invalid ones; pairs
 * of one sphere in two sizes, whose indices are adjacent; a chain of spheres that touch, of which two have a depth in
 * the middle between two numbers. */
static void make_spheres(grid_probe *p)
{
    uint64_t random = 17;
    for (uint32_t i = 0; i < SPHERES; i++) {
        float row[CLOUD_COLUMNS];
        const uint64_t r = caromi_probe_sphere(&random, row, CLOUD_COLUMNS, 1 << CLOUD_R);
        for (int k = 0; k < 4; k++)
            p->column[k][i] = row[k] * (k == CLOUD_R && r % 16 != 1 ? 0.125f : 1.0f);
    }
    for (uint32_t i = 32; i < SPHERES; i += 32)
        for (int k = 0; k < 4; k++)
            p->column[k][i] = k == CLOUD_R ? p->column[k][i + 1] * 0.75f : p->column[k][i + 1];
    for (uint32_t i = 0; i < CHAIN; i++) { /* the lowest indices, so that they are partners of each other */
        p->column[CLOUD_X][i] = 100.0f + (float)i;
        p->column[CLOUD_Y][i] = p->column[CLOUD_Z][i] = 0.0f;
        p->column[CLOUD_R][i] = 0.5f;
    }
    for (uint32_t i = 10; i < 12; i++) {
        p->column[CLOUD_X][i] = 200.0f + 0.0625f * (float)(i - 10);
        p->column[CLOUD_Y][i] = p->column[CLOUD_Z][i] = 0.0f;
        p->column[CLOUD_R][i] = 0.6f + 0x1p-24f * (float)(i - 10);
    }
    p->column[CLOUD_R][7] = 30.0f;
    p->column[CLOUD_X][8] = 3e7f;
    p->column[CLOUD_Y][9] = NAN;
    caromi_probe_masks(18, p->mask, SPHERES);
    caromi_probe_masks(19, p->group, SPHERES);
}

int caromi_grid_probe_meets(const caromi_cloud *cloud, uint32_t a, uint32_t b)
{
    const uint32_t *mask = cloud->mask.base, *group = cloud->group.base != NULL ? cloud->group.base : mask;
    return mask == NULL || ((group[a] & mask[b]) != 0 && (group[b] & mask[a]) != 0);
}

static int compare(const void *one, const void *other)
{
    const record *x = one, *y = other;
    const int by_time = (x->t > y->t) - (x->t < y->t), by_b = (x->b > y->b) - (x->b < y->b);
    return by_time != 0 ? by_time : by_b != 0 ? by_b : (x->image > y->image) - (x->image < y->image);
}

static int is_valid(const grid_probe *p, uint32_t i)
{
    return isfinite(p->column[0][i]) && isfinite(p->column[1][i]) && isfinite(p->column[2][i]) &&
           isfinite(p->column[CLOUD_R][i]);
}

/* Pairs of sphere a with an image of spheres from `first` on, by the solver. */
static void expect_image(grid_probe *p, const caromi_cloud *cloud, const caromi_isa_table *isa, uint32_t a,
                         uint32_t first, int image)
{
    static const int of_a[] = {IN_AX, IN_AY, IN_AZ, IN_AR}, of_b[] = {IN_BX, IN_BY, IN_BZ, IN_BR};
    const float *in[IN_CLOUD];
    void *out[OUT_CLOUD] = {p->t, p->states, p->parts};
    for (int k = 0; k < IN_CLOUD; k++)
        in[k] = p->in[k];
    for (uint32_t b = 0; b < SPHERES; b++) {
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        for (int k = 0; k < 4; k++) {
            p->in[of_a[k]][b] = p->column[k][low];
            p->in[of_b[k]][b] = p->column[k][high];
        }
        for (int k = 0; k < 3; k++)
            p->in[IN_SHIFT_X + k][b] = (float)((a < b ? 1 : -1) * caromi_image_step(image, k)) * p->period[k];
        p->in[IN_MARGIN][b] = cloud->margin;
        p->in[IN_LIMIT][b] = INFINITY;
    }
    isa->pairs[CAROMI_PAIR_cloud](in, out, SPHERES, 0);
    for (uint32_t b = first; b < SPHERES; b++)
        if (b != a && is_valid(p, a) && is_valid(p, b) && caromi_grid_probe_meets(cloud, a, b) &&
            p->states[b] != STATE_MISS && p->found < RECORDS)
            p->expected[p->found++] = (record){(int32_t)a, (int32_t)(b - p->first_b), p->t[b],
                                               p->states[b] == STATE_NEAR ? STATE_MISS : p->states[b], (uint8_t)image};
}

/* The row of sphere a: all pairs with spheres from `first` on. */
static void expect_row(grid_probe *p, const caromi_cloud *cloud, const caromi_isa_table *isa, uint32_t a,
                       uint32_t first)
{
    const uint64_t begin = p->found;
    for (int image = 0; image < CAROMI_IMAGES; image++) {
        int exists = 1;
        for (int k = 0; k < 3; k++)
            exists &= caromi_image_step(image, k) == 0 || p->period[k] > 0;
        if (exists)
            expect_image(p, cloud, isa, a, first, image);
    }
    qsort(p->expected + begin, p->found - begin, sizeof *p->expected, compare);
    p->expected_offset[a + 1] = p->found;
    p->expected_count[a] = is_valid(p, a) ? (uint32_t)(p->found - begin) : GRID_INVALID;
}

static carom_status compare_list(const caromi_device *device, const grid_probe *p, const carom_list_totals *totals,
                                 carom_error *err)
{
    int differs = totals->total != p->found || totals->stored != p->found ||
                  memcmp(p->offset, p->expected_offset, (p->asked + 1) * sizeof *p->offset) != 0;
    for (uint64_t i = 0; !differs && i < p->found; i++) {
        const record *r = &p->expected[i];
        differs = p->a[i] != r->a || p->b[i] != r->b || p->state[i] != r->state ||
                  memcmp(&p->time[i], &r->t, sizeof r->t) != 0;
        for (int k = 0; k < 3; k++)
            differs |= p->shift[3 * i + (uint64_t)k] != caromi_image_step(r->image, k);
    }
    return !differs ? CAROM_OK
                    : caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                                  "%s: the list of a small cloud differs from the CPU's (%llu pairs of %llu)",
                                  device->info.name, (unsigned long long)totals->total, (unsigned long long)p->found);
}

/* The lowest state of the images of a sphere's first partner, which stand at the begin of its row. */
static uint8_t lowest_state(const grid_probe *p, uint32_t i)
{
    uint64_t at = p->expected_offset[i];
    uint8_t state = p->expected[at].state;
    for (; at < p->expected_offset[i + 1] && p->expected[at].b == p->expected[p->expected_offset[i]].b; at++)
        state = p->expected[at].state < state ? p->expected[at].state : state;
    return state;
}

/* First partners, which follow from the rows of the full list: all its times are 0. */
static carom_status probe_best(caromi_device *device, grid_probe *p, const caromi_cloud *cloud, carom_error *err)
{
    int answered = 0, differs = 0;
    carom_stats stats = {.size = sizeof stats};
    const carom_cloud_partner_result first = {sizeof first, p->a, p->state, p->time};
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.first = &first, .hit = p->states}, &answered, &stats,
                          err));
    for (uint32_t i = 0; i < p->asked; i++) {
        const record *r = &p->expected[p->expected_offset[i]];
        const int has_one = p->expected_offset[i + 1] > p->expected_offset[i];
        const uint8_t without = is_valid(p, i) ? STATE_MISS : STATE_INVALID;
        differs |= p->a[i] != (has_one ? r->b : -1) || p->state[i] != (has_one ? lowest_state(p, i) : without) ||
                   p->time[i] != (has_one ? 0.0f : INFINITY) ||
                   p->states[i] != (is_valid(p, i) ? (uint8_t)has_one : OVERLAP_INVALID);
    }
    return !differs ? CAROM_OK
                    : caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                                  "%s: the first partners in a small cloud differ from the CPU's", device->info.name);
}

/* Depth and normal of record i as the CPU has them. */
static int has_numbers(const grid_probe *p, const carom_context *context, uint64_t i)
{
    int chosen;
    static const int of_a[] = {IN_AX, IN_AY, IN_AZ, IN_AR}, of_b[] = {IN_BX, IN_BY, IN_BZ, IN_BR};
    float row[IN_CLOUD] = {0}, found[OUT_PAIR_COLUMNS];
    const float *in[IN_CLOUD];
    void *out[OUT_PAIR_COLUMNS];
    const record *r = &p->expected[i];
    caromi_pair_spheres pair;
    for (int k = 0; k < IN_CLOUD; k++)
        in[k] = &row[k];
    for (int k = 0; k < OUT_PAIR_COLUMNS; k++)
        out[k] = &found[k];
    for (int k = 0; k < 4; k++) {
        row[of_a[k]] = pair.a[k] = p->column[k][r->a];
        row[of_b[k]] = pair.b[k] = p->column[k][(uint32_t)r->b + p->first_b];
    }
    for (int k = 0; k < 3; k++)
        row[IN_SHIFT_X + k] = pair.shift[k] = (float)caromi_image_step(r->image, k) * p->period[k];
    caromi_isa_select(CAROM_ISA_SCALAR, &chosen)->cloud_columns(in, out, 1);
    if (r->state == STATE_TOUCHING)
        found[OUT_PAIR_DEPTH] = 0;
    else if (isnan(found[OUT_PAIR_DEPTH]))
        caromi_columns_decide(context, &pair, 1, &found[OUT_PAIR_DEPTH]);
    return memcmp(&p->depth[i], &found[OUT_PAIR_DEPTH], sizeof *p->depth) == 0 &&
           memcmp(&p->normal[3 * i], &found[OUT_PAIR_NORMAL], 3 * sizeof *p->normal) == 0;
}

/* The columns of a list that has been compared. Most of its pairs are in the earlier list, some of them twice. */
static carom_status probe_columns(caromi_device *device, grid_probe *p, const caromi_cloud *cloud, int full,
                                  carom_error *err)
{
    enum { MISSING = 5, TWICE = 3 };
    const int has_fp64 = device->info.fp64;
    carom_cloud_pairs_before before = {
        .size = sizeof before, .a = p->before_a, .b = p->before_b, .shift = p->before_shift};
    int answered = 0, differs = 0;
    carom_stats stats = {.size = sizeof stats};
    carom_list_totals totals = {0};
    for (uint64_t i = 0; i < p->found; i++) {
        const uint64_t times = i % MISSING == 0 ? 0 : i % MISSING == TWICE ? 2 : 1;
        p->expected_previous[i] = times > 0 ? (int64_t)before.count : -1;
        for (uint64_t k = 0; k < times && before.count < RECORDS; k++, before.count++) {
            p->before_a[before.count] = p->expected[i].a;
            p->before_b[before.count] = p->expected[i].b;
            for (int axis = 0; axis < 3; axis++)
                p->before_shift[3 * before.count + (uint64_t)axis] =
                    (int8_t)caromi_image_step(p->expected[i].image, axis);
        }
    }
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = RECORDS,
                                        .depth = has_fp64 ? p->depth : NULL,
                                        .normal = has_fp64 ? carom_xyz_out(p->normal) : (carom_points_out){0},
                                        .previous = p->previous,
                                        .before = &before,
                                        .totals = &totals};
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.list = &list, .full = full}, &answered, &stats, err));
    for (uint64_t i = 0; i < p->found; i++)
        differs |= p->previous[i] != p->expected_previous[i] || (has_fp64 && !has_numbers(p, cloud->context, i));
    return !differs ? CAROM_OK
                    : caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                                  "%s: columns of the pairs of a small cloud differ from the CPU's", device->info.name);
}

static carom_status probe_list(caromi_device *device, grid_probe *p, const caromi_cloud *cloud, int full,
                               carom_error *err)
{
    int chosen, answered = 0;
    const caromi_isa_table *isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    carom_stats stats = {.size = sizeof stats};
    carom_list_totals totals = {0};
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = RECORDS,
                                        .offsets = p->offset,
                                        .a = p->a,
                                        .b = p->b,
                                        .state = p->state,
                                        .t = p->time,
                                        .shift = p->shift,
                                        .totals = &totals};
    p->found = 0;
    for (uint32_t a = 0; a < p->asked; a++)
        expect_row(p, cloud, isa, a, cloud->is_split ? FIRST : full ? 0 : a + 1);
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.list = &list, .full = full}, &answered, &stats, err));
    CHECK(compare_list(device, p, &totals, err));
    CHECK(probe_columns(device, p, cloud, full, err));
    if (!full && !cloud->is_split)
        return CAROM_OK;
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.partners = p->count}, &answered, &stats, err));
    CHECK(probe_best(device, p, cloud, err));
    return caromi_probe_compare(device, CAROMI_PROGRAM_GRID_PARTNERS, p->asked, 0, p->count, p->expected_count,
                                sizeof *p->count, err);
}

static void set_columns(grid_probe *p, caromi_cloud *cloud, uint32_t first)
{
    for (int k = 0; k < 4; k++)
        cloud->in[k] = (caromi_in_column){.base = p->column[k] + first, .stride = sizeof(float)};
}

/* The first spheres against the others. */
static carom_status probe_two(caromi_device *device, grid_probe *p, caromi_cloud cloud, carom_error *err)
{
    caromi_cloud second = {.count = SPHERES - FIRST};
    set_columns(p, &second, FIRST);
    second.mask = (caromi_in_column){.base = p->mask + FIRST, .stride = sizeof *p->mask};
    second.group = (caromi_in_column){.base = p->group + FIRST, .stride = sizeof *p->group};
    cloud.count = cloud.end = cloud.split = p->asked = p->first_b = FIRST;
    cloud.is_split = 1;
    cloud.second = &second;
    return probe_list(device, p, &cloud, 0, err);
}

static carom_status run_probe(caromi_device *device, void *data, carom_error *err)
{
    grid_probe *p = data;
    caromi_cloud cloud = {.context = device->context, .count = SPHERES, .end = SPHERES};
    make_spheres(p);
    p->asked = SPHERES;
    set_columns(p, &cloud, 0);
    CHECK(probe_list(device, p, &cloud, 1, err));
    p->period[CLOUD_X] = cloud.period[CLOUD_X] = 5.5f;
    p->period[CLOUD_Z] = cloud.period[CLOUD_Z] = 24.0f;
    cloud.mask = (caromi_in_column){.base = p->mask, .stride = sizeof *p->mask};
    CHECK(probe_list(device, p, &cloud, 1, err));
    cloud.margin = 0.25f;
    cloud.group = (caromi_in_column){.base = p->group, .stride = sizeof *p->group};
    CHECK(probe_list(device, p, &cloud, 0, err));
    cloud.margin = 0; /* first partners have none */
    return probe_two(device, p, cloud, err);
}

carom_status caromi_grid_probe(caromi_device *device, carom_error *err)
{
    return caromi_probe_programs(device, CAROMI_PROGRAM_GRID_FIRST, CAROMI_PROGRAM_GRID_LAST, sizeof(grid_probe),
                                 run_probe, err);
}
