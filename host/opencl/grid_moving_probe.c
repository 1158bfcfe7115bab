/* SPDX-License-Identifier: MIT */
/* The probe of clouds in motion that a GPU sorts by itself: lists with all columns, counts and first partners of a
 * small cloud, of all kinds of numbers, against those of a loop over all pairs on the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "host/cloud/columns.h"
#include "host/core/batch.h"
#include "kernels/cloud_columns.h"
#include "probe.h"

enum { SPHERES = 300, RECORDS = SPHERES * SPHERES };

typedef struct record {
    int32_t b;
    float t;
    uint8_t state, image;
} record;

typedef struct moving_probe {
    float column[CLOUD_COLUMNS][SPHERES];
    uint32_t mask[SPHERES], group[SPHERES];
    /* A sphere and an image of each, and what the solver says. */
    float in[IN_CLOUD][SPHERES], pair_t[SPHERES];
    uint8_t pair_state[SPHERES], parts[SPHERES];
    /* Expected: the rows of all spheres one after another, as a full list has them. */
    record expected[RECORDS];
    uint64_t begin[SPHERES + 1];
    uint32_t asked, first_b; /* spheres that answers are about; of two clouds the first one's number, else 0 */
    /* The device's answers. */
    uint64_t offset[SPHERES + 1];
    int32_t a[RECORDS], b[RECORDS];
    float t[RECORDS];
    uint8_t state[RECORDS], hit[SPHERES];
    int8_t shift[3 * RECORDS];
    uint32_t count[SPHERES];
    /* An earlier list, and the columns that follow from the pairs. */
    int32_t before_a[RECORDS], before_b[RECORDS];
    int8_t before_shift[3 * RECORDS];
    int64_t previous[RECORDS], expected_previous[RECORDS];
    float depth[RECORDS], normal[3 * RECORDS];
} moving_probe;

/* Spheres on a lattice, near 0 and of arbitrary numbers, so far apart that the time window has several slices. All
 * limits are finite at first, and one sphere is invalid. */
static void make_spheres(moving_probe *p)
{
    uint64_t random = 23;
    for (uint32_t i = 0; i < SPHERES; i++) {
        float row[CLOUD_COLUMNS];
        (void)caromi_probe_sphere(&random, row, CLOUD_COLUMNS, 1 << CLOUD_R | 1 << CLOUD_T_MAX);
        for (int k = CLOUD_X; k <= CLOUD_Z; k++)
            row[k] *= 4;
        row[CLOUD_T_MAX] = row[CLOUD_T_MAX] <= 4 ? row[CLOUD_T_MAX] : 4;
        for (int k = 0; k < CLOUD_COLUMNS; k++)
            p->column[k][i] = row[k];
    }
    p->column[CLOUD_VY][9] = NAN;
    for (int k = CLOUD_X; k <= CLOUD_Z; k++) { /* a sphere that meets many others, one after another: a long row */
        p->column[k][7] = -40.0f;
        p->column[CLOUD_VX + k][7] = 24.0f;
    }
    p->column[CLOUD_R][7] = 40.0f;
    p->column[CLOUD_T_MAX][7] = 4.0f;
    caromi_probe_masks(24, p->mask, SPHERES);
    caromi_probe_masks(25, p->group, SPHERES);
}

static int is_valid(const moving_probe *p, uint32_t i)
{
    int valid = 1;
    for (int k = 0; k < CLOUD_T_MAX; k++)
        valid &= isfinite(p->column[k][i]) != 0;
    return valid;
}

static int compare(const void *one, const void *other)
{
    const record *x = one, *y = other;
    const int by_time = (x->t > y->t) - (x->t < y->t), by_b = (x->b > y->b) - (x->b < y->b);
    return by_time != 0 ? by_time : by_b != 0 ? by_b : (x->image > y->image) - (x->image < y->image);
}

/* Sets the inputs of pairs of sphere a with an image of each other sphere. Of a pair the lower index is the first. */
static void set_pairs(moving_probe *p, const caromi_cloud *cloud, uint32_t a, int image)
{
    static const int of_low[] = {IN_AX, IN_AY, IN_AZ, IN_AR, IN_AVX, IN_AVY, IN_AVZ};
    static const int of_high[] = {IN_BX, IN_BY, IN_BZ, IN_BR, IN_BVX, IN_BVY, IN_BVZ};
    for (uint32_t b = 0; b < SPHERES; b++) {
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        for (int k = 0; k < CLOUD_T_MAX; k++) {
            p->in[of_low[k]][b] = p->column[k][low];
            p->in[of_high[k]][b] = p->column[k][high];
        }
        for (int k = 0; k < 3; k++)
            p->in[IN_SHIFT_X + k][b] = (float)((a < b ? 1 : -1) * caromi_image_step(image, k)) * cloud->period[k];
        p->in[IN_MARGIN][b] = 0;
        p->in[IN_LIMIT][b] = fminf(p->column[CLOUD_T_MAX][a], p->column[CLOUD_T_MAX][b]);
    }
}

/* The hits of sphere a with an image of the others. */
static carom_status expect_image(moving_probe *p, const caromi_cloud *cloud, uint32_t a, int image, uint64_t *found,
                                 carom_error *err)
{
    carom_stats stats = {.size = sizeof stats};
    caromi_pair_batch batch = {.kernel = cloud->exact ? CAROMI_PAIR_cloud_exact : CAROMI_PAIR_cloud, .count = SPHERES};
    for (int k = 0; k < IN_CLOUD; k++)
        batch.in[k] = (caromi_in_column){.base = p->in[k], .stride = sizeof *p->in[k]};
    batch.out[OUT_CLOUD_T] = (caromi_out_column){p->pair_t, sizeof *p->pair_t};
    batch.out[OUT_CLOUD_STATE] = (caromi_out_column){p->pair_state, 1};
    batch.out[OUT_CLOUD_PARTS] = (caromi_out_column){p->parts, 1};
    set_pairs(p, cloud, a, image);
    CHECK(caromi_pairs_on_cpu(cloud->context, &batch, 0, SPHERES, &stats, err));
    for (uint32_t b = p->first_b; b < SPHERES; b++)
        if (b != a && is_valid(p, b) && p->pair_state[b] != STATE_MISS && caromi_grid_probe_meets(cloud, a, b) &&
            *found < RECORDS)
            p->expected[(*found)++] =
                (record){(int32_t)(b - p->first_b), p->pair_t[b], p->pair_state[b], (uint8_t)image};
    return CAROM_OK;
}

/* The row of sphere a: all its hits, in order. */
static carom_status expect_row(moving_probe *p, const caromi_cloud *cloud, uint32_t a, carom_error *err)
{
    uint64_t found = p->begin[a];
    for (int image = 0; is_valid(p, a) && image < CAROMI_IMAGES; image++) {
        int exists = 1;
        for (int k = 0; k < 3; k++)
            exists &= caromi_image_step(image, k) == 0 || cloud->period[k] > 0;
        if (exists)
            CHECK(expect_image(p, cloud, a, image, &found, err));
    }
    qsort(p->expected + p->begin[a], found - p->begin[a], sizeof *p->expected, compare);
    p->begin[a + 1] = found;
    return CAROM_OK;
}

/* The first partner of sphere a, in the lowest state of its images at that time. */
static record best_of(const moving_probe *p, uint32_t a)
{
    const record *row = &p->expected[p->begin[a]], *end = &p->expected[p->begin[a + 1]];
    record best = {-1, INFINITY, STATE_MISS, CAROMI_IMAGE_OWN};
    if (row < end)
        best = *row;
    for (; row < end && row->t <= best.t && row->b == best.b; row++)
        best.state = row->state < best.state ? row->state : best.state;
    return best;
}

/* Whether list, counts and first partners differ from what is expected. */
static int differs(const moving_probe *p, uint64_t total, const int32_t *other, const float *t, const uint8_t *state)
{
    int wrong = total != p->begin[p->asked] || memcmp(p->offset, p->begin, (p->asked + 1) * sizeof *p->begin) != 0;
    for (uint32_t a = 0; !wrong && a < p->asked; a++) {
        const uint64_t count = p->begin[a + 1] - p->begin[a];
        const record *row = &p->expected[p->begin[a]], best = best_of(p, a);
        const int valid = is_valid(p, a);
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t at = p->begin[a] + i;
            wrong |= p->a[at] != (int32_t)a || p->b[at] != row[i].b || p->state[at] != row[i].state ||
                     memcmp(&p->t[at], &row[i].t, sizeof row[i].t) != 0;
            for (int k = 0; k < 3; k++)
                wrong |= p->shift[3 * at + (uint64_t)k] != caromi_image_step(row[i].image, k);
        }
        wrong |= p->count[a] != (valid ? count : GRID_INVALID) || other[a] != best.b ||
                 memcmp(&t[a], &best.t, sizeof best.t) != 0 || state[a] != (valid ? best.state : STATE_INVALID) ||
                 p->hit[a] != (valid ? count > 0 : OVERLAP_INVALID);
    }
    return wrong;
}

/* An earlier list: most of the expected pairs, some of them twice, by ascending a but in no order of b. */
static carom_cloud_pairs_before make_before(moving_probe *p)
{
    enum { MISSING = 5, TWICE = 3 };
    carom_cloud_pairs_before before = {
        .size = sizeof before, .a = p->before_a, .b = p->before_b, .shift = p->before_shift};
    for (uint32_t a = 0; a < p->asked; a++)
        for (uint64_t i = p->begin[a]; i < p->begin[a + 1]; i++) {
            const uint64_t times = i % MISSING == 0 ? 0 : i % MISSING == TWICE ? 2 : 1;
            p->expected_previous[i] = times > 0 ? (int64_t)before.count : -1;
            for (uint64_t k = 0; k < times && before.count < RECORDS; k++, before.count++) {
                p->before_a[before.count] = (int32_t)a;
                p->before_b[before.count] = p->expected[i].b;
                for (int axis = 0; axis < 3; axis++)
                    p->before_shift[3 * before.count + (uint64_t)axis] =
                        (int8_t)caromi_image_step(p->expected[i].image, axis);
            }
        }
    return before;
}

/* Depth and normal of a record as the CPU has them. */
static int has_numbers(const moving_probe *p, const caromi_cloud *cloud, uint32_t a, uint64_t i)
{
    static const int of_a[] = {IN_AX, IN_AY, IN_AZ, IN_AR, IN_AVX, IN_AVY, IN_AVZ};
    static const int of_b[] = {IN_BX, IN_BY, IN_BZ, IN_BR, IN_BVX, IN_BVY, IN_BVZ};
    const uint32_t b = (uint32_t)p->expected[i].b + p->first_b;
    const int is_ahead = p->expected[i].state == STATE_APPROACHING;
    int chosen;
    float row[IN_CLOUD] = {0}, found[OUT_PAIR_COLUMNS];
    const float *in[IN_CLOUD];
    void *out[OUT_PAIR_COLUMNS];
    caromi_pair_motions pair = {.at.shift[3] = (float)is_ahead};
    caromi_pair_numbers decided = {0};
    for (int k = 0; k < CLOUD_T_MAX; k++) {
        row[of_a[k]] = p->column[k][a];
        row[of_b[k]] = p->column[k][b];
        (k > CLOUD_R ? pair.a : pair.at.a)[k > CLOUD_R ? k - CLOUD_VX : k] = p->column[k][a];
        (k > CLOUD_R ? pair.b : pair.at.b)[k > CLOUD_R ? k - CLOUD_VX : k] = p->column[k][b];
    }
    for (int k = 0; k < 3; k++)
        row[IN_SHIFT_X + k] = pair.at.shift[k] = (float)caromi_image_step(p->expected[i].image, k) * cloud->period[k];
    row[IN_AHEAD] = (float)is_ahead;
    for (int k = 0; k < IN_CLOUD; k++)
        in[k] = &row[k];
    for (int k = 0; k < OUT_PAIR_COLUMNS; k++)
        out[k] = &found[k];
    caromi_isa_select(CAROM_ISA_SCALAR, &chosen)->cloud_columns(in, out, 1);
    if (isnan(found[OUT_PAIR_DEPTH]) || isnan(found[OUT_PAIR_NORMAL]))
        caromi_columns_decide_moving(cloud->context, &pair, 1, &decided);
    if (is_ahead || p->expected[i].state == STATE_TOUCHING)
        found[OUT_PAIR_DEPTH] = 0;
    else if (isnan(found[OUT_PAIR_DEPTH]))
        found[OUT_PAIR_DEPTH] = decided.depth;
    if (isnan(found[OUT_PAIR_NORMAL]))
        memcpy(&found[OUT_PAIR_NORMAL], decided.normal, sizeof decided.normal);
    return memcmp(&p->depth[i], &found[OUT_PAIR_DEPTH], sizeof *p->depth) == 0 &&
           memcmp(&p->normal[3 * i], &found[OUT_PAIR_NORMAL], 3 * sizeof *p->normal) == 0;
}

/* The columns of a list whose pairs have been compared. */
static carom_status probe_columns(caromi_device *device, moving_probe *p, const caromi_cloud *cloud, carom_error *err)
{
    const int has_fp64 = device->info.fp64;
    const carom_cloud_pairs_before before = make_before(p);
    carom_stats stats = {.size = sizeof stats};
    carom_list_totals totals = {0};
    int answered = 0, wrong = 0;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = RECORDS,
                                        .depth = has_fp64 ? p->depth : NULL,
                                        .normal = has_fp64 ? carom_xyz_out(p->normal) : (carom_points_out){0},
                                        .previous = p->previous,
                                        .before = &before,
                                        .totals = &totals};
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.list = &list, .full = !cloud->is_split}, &answered,
                          &stats, err));
    for (uint32_t a = 0; a < p->asked; a++)
        for (uint64_t i = p->begin[a]; i < p->begin[a + 1]; i++)
            wrong |= p->previous[i] != p->expected_previous[i] || (has_fp64 && !has_numbers(p, cloud, a, i));
    if (!answered || wrong)
        return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                           "%s: columns of the pairs of a small cloud in motion differ from the CPU's",
                           device->info.name);
    return CAROM_OK;
}

static carom_status probe_mode(caromi_device *device, moving_probe *p, const caromi_cloud *cloud, carom_error *err)
{
    carom_stats stats = {.size = sizeof stats};
    carom_list_totals totals = {0};
    int32_t other[SPHERES];
    float t[SPHERES];
    uint8_t state[SPHERES];
    int answered[3] = {0, 0, 0};
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = RECORDS,
                                        .offsets = p->offset,
                                        .a = p->a,
                                        .b = p->b,
                                        .state = p->state,
                                        .t = p->t,
                                        .shift = p->shift,
                                        .totals = &totals};
    const carom_cloud_partner_result first = {sizeof first, other, state, t};
    for (uint32_t a = 0; a < p->asked; a++)
        CHECK(expect_row(p, cloud, a, err));
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.list = &list, .full = !cloud->is_split}, &answered[0],
                          &stats, err));
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.partners = p->count}, &answered[1], &stats, err));
    CHECK(caromi_grid_run(device, cloud, &(caromi_grid_result){.first = &first, .hit = p->hit}, &answered[2], &stats,
                          err));
    if (!answered[0] || !answered[1] || !answered[2] || differs(p, totals.total, other, t, state))
        return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                           "%s: a small cloud in motion differs from the CPU's (%llu pairs of %llu)", device->info.name,
                           (unsigned long long)totals.total, (unsigned long long)p->begin[p->asked]);
    return probe_columns(device, p, cloud, err);
}

static carom_status run_probe(caromi_device *device, void *data, carom_error *err)
{
    moving_probe *p = data;
    caromi_cloud cloud = {.context = device->context, .count = SPHERES, .end = SPHERES, .is_moving = 1};
    make_spheres(p);
    p->asked = SPHERES;
    for (int k = 0; k < CLOUD_COLUMNS; k++)
        cloud.in[k] = (caromi_in_column){.base = p->column[k], .stride = sizeof(float)};
    CHECK(probe_mode(device, p, &cloud, err));
    for (uint32_t i = 1; i < SPHERES; i += 5) /* now the window has no end */
        p->column[CLOUD_T_MAX][i] = INFINITY;
    cloud.exact = 1;
    cloud.period[0] = 24;
    cloud.period[2] = 40;
    cloud.mask = (caromi_in_column){.base = p->mask, .stride = sizeof *p->mask};
    cloud.group = (caromi_in_column){.base = p->group, .stride = sizeof *p->group};
    CHECK(probe_mode(device, p, &cloud, err));
    cloud.exact = 0;
    cloud.is_split = 1; /* the first third against the others */
    cloud.end = cloud.split = p->asked = p->first_b = SPHERES / 3;
    return probe_mode(device, p, &cloud, err);
}

carom_status caromi_grid_probe_moving(caromi_device *device, carom_error *err)
{
    return caromi_probe_programs(device, CAROMI_PROGRAM_MOVING_FIRST, CAROMI_PROGRAM_MOVING_LAST, sizeof(moving_probe),
                                 run_probe, err);
}
