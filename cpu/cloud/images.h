/* SPDX-License-Identifier: MIT */
/* Pairs of periodic images with spheres. Only spheres near the bounds of the cloud have images that may touch a sphere.
 * An image's position is the sphere's, shifted and rounded: docs/spheres.md, section 7, derives which pairs are still
 * certain. Included by template.h. */
#include "cloud.h"

enum { CLOUD_IMAGED = 512 }; /* spheres that are collected before their images are searched for */

/* Spheres that may have images, and along which axes: bit 2k above, bit 2k + 1 below. */
typedef struct cloud_imaged {
    uint32_t count, slot[CLOUD_IMAGED];
    uint8_t steps[CLOUD_IMAGED];
} cloud_imaged;

/* The sides, as in cloud_imaged.steps, to which an image is shifted. */
FN u32 cloud_steps_of(int image)
{
    u32 steps = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int step = caromi_image_step(image, axis);
        steps |= step > 0 ? 1u << 2 * axis : step < 0 ? 2u << 2 * axis : 0;
    }
    return steps;
}

/* Bitmasks of the spheres that reach the bounds, for each axis and side. Returns the union. */
FN u32 cloud_reach_bounds(const caromi_cloud_view *view, uint32_t from, u32 lanes, u32 side[6])
{
    const caromi_cloud_images *images = view->images;
    const float *const columns[3] = {view->x, view->y, view->z};
    const vf reach = v_load(view->reach + from) * v_f(R(1.000244140625)); /* 1 + 2^-12 */
    u32 any = 0;
    for (int axis = 0; axis < 3; axis++) {
        const u32 periodic_lanes = images->period[axis] > 0 ? lanes : 0;
        const vf position = v_load(columns[axis] + from);
        side[2 * axis] = v_bitmask(v_le(position - reach, v_f(images->below[axis]))) & periodic_lanes;
        side[2 * axis + 1] = v_bitmask(v_le(v_f(images->above[axis]), position + reach)) & periodic_lanes;
        any |= side[2 * axis] | side[2 * axis + 1];
    }
    return any;
}

/* Collects spheres that may have images from slots [*from, end), up to the capacity of `to`. */
static void cloud_find_imaged(const caromi_cloud_view *view, uint32_t *from, uint32_t end, cloud_imaged *to)
{
    to->count = 0;
    for (; *from < end && to->count + LANES <= CLOUD_IMAGED; *from += LANES) {
        u32 side[6];
        for (u32 left = cloud_reach_bounds(view, *from, cloud_lanes(end - *from), side); left; left &= left - 1) {
            const u32 lane = bitmask_first(left);
            to->slot[to->count] = *from + lane;
            to->steps[to->count] = 0;
            for (u32 bit = 0; bit < 6; bit++)
                to->steps[to->count] |= (uint8_t)((side[bit] >> lane & 1) << bit);
            to->count++;
        }
    }
}

/* Position and reach of an image. An image out of range for binary32 gets an infinite reach. */
FN cloud_ball cloud_shift(const caromi_cloud_view *view, uint32_t slot, int image, cloud_sphere *sphere)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    cloud_ball ball = cloud_ball_of(view, slot);
    double size = 0;
    *sphere = cloud_load(&columns, slot);
    for (int axis = 0; axis < 3; axis++) {
        ball.at[axis] += caromi_image_step(image, axis) * view->images->period[axis];
        size += fabs(ball.at[axis]);
    }
    /* Bounds of the reach, which includes the rounding of the position to binary32. */
    const int fits = size < 0x1p120 && ball.reach < 0x1p120;
    const double error = size * 0x1p-22;
    const float reach = (float)((ball.reach + error) * (1 + 0x1p-22)) + 0x1p-149f;
    const float least = (float)((ball.reach - error) * (1 - 0x1p-22)) - 0x1p-149f;
    float position[3];
    for (int axis = 0; axis < 3; axis++) {
        position[axis] = fits ? (float)ball.at[axis] : 0;
        ball.at[axis] = (double)position[axis];
    }
    ball.reach = fits ? (double)reach : (double)INFINITY;
    sphere->at = v3_of(v_f(position[0]), v_f(position[1]), v_f(position[2]));
    sphere->reach = v_f((real)ball.reach);
    sphere->least = v_f(fits ? least : -INFINITY);
    return ball;
}

/* Whether an image may touch a sphere of a level, by their bounds. */
FN int cloud_meets_level(const caromi_cloud_view *view, const cloud_ball *ball, uint32_t level_index)
{
    const caromi_cloud_bounds *bounds = &view->images->bounds[level_index];
    const double reach = (ball->reach + (double)bounds->high[3] + (double)view->margin) * (1 + 0x1p-14);
    for (int axis = 0; axis < 3; axis++)
        if (ball->at[axis] + reach < (double)bounds->low[axis] || ball->at[axis] - reach > (double)bounds->high[axis])
            return 0;
    return 1;
}

/* Flushes the pairs, because a buffer holds pairs of one image only. */
FN void cloud_end_image(const caromi_cloud_view *view, caromi_cloud_found *found, int next)
{
    if (found->swept.count > 0)
        cloud_sweep(view, found);
    if ((found->certain.count | found->near.count | found->undecided.count) > 0)
        found->flush(found);
    found->image = next;
}

/* An image against the spheres of a level. In a box of few rows every row is compared: to cull by the distance in y and
 * z would take longer. */
FN void cloud_pairs_in_box(const caromi_cloud_view *view, const cloud_sphere *sphere, const cloud_ball *ball,
                           uint32_t level_index, int options, caromi_cloud_found *found)
{
    enum { DIRECT_ROWS = 3 };
    const cloud_sorted columns = cloud_sorted_of(view);
    const cloud_box box = cloud_box_of(view, &view->levels[level_index], ball);
    if (box.high[1] - box.low[1] >= DIRECT_ROWS || box.high[2] - box.low[2] >= DIRECT_ROWS) {
        cloud_level_pairs(view, sphere, ball, level_index, options, found);
        return;
    }
    for (int32_t z = box.low[2]; z <= box.high[2]; z++)
        for (int32_t y = box.low[1]; y <= box.high[1]; y++) {
            const uint32_t row = caromi_cloud_row_at(view, level_index, y, z);
            uint32_t begin, end;
            if (row == CAROMI_NO_ROW)
                continue;
            cloud_box_run(view, &view->rows[row], &box, &begin, &end);
            if (begin < end)
                cloud_run(&columns, sphere, begin, end, options, found);
        }
}

/* The first row behind `row` that is of another level, at most `end`. */
FN uint32_t cloud_end_of_level(const caromi_cloud_view *view, uint32_t row, uint32_t end)
{
    const uint32_t end_row = view->levels[view->rows[row].level].end_row;
    return end_row < end ? end_row : end;
}

/* An image of a sphere of level `own` against the spheres of all levels; options as in a scan. */
FN void cloud_pairs_of_image(const caromi_cloud_view *view, uint32_t own, uint32_t slot, int image, int options,
                             caromi_cloud_found *found)
{
    cloud_sphere sphere;
    const cloud_ball ball = cloud_shift(view, slot, image, &sphere);
    for (uint32_t level = 0; level < view->level_count; level++)
        if (caromi_cloud_levels_meet(view, own, level) && cloud_meets_level(view, &ball, level))
            cloud_pairs_in_box(view, &sphere, &ball, level, options, found);
}

/* A pair of a sphere and an image is also a pair of the other sphere's image, shifted back. So half of all shifts find
 * each pair once. The rows are of one level. */
FN void cloud_pairs_of_images(const caromi_cloud_view *view, uint32_t begin, uint32_t end, int options,
                              caromi_cloud_found *found)
{
    const uint32_t own = view->rows[begin].level;
    cloud_imaged imaged;
    for (uint32_t from = view->rows[begin].begin, last = view->rows[end - 1].end; from < last;) {
        cloud_find_imaged(view, &from, last, &imaged);
        /* All spheres of one shift before the next, because a buffer holds pairs of one image only. */
        for (int image = CAROMI_IMAGE_OWN + 1; image < CAROMI_IMAGES && imaged.count > 0; image++) {
            const u32 steps = cloud_steps_of(image);
            cloud_end_image(view, found, image);
            for (uint32_t index = 0; index < imaged.count; index++)
                if ((imaged.steps[index] & steps) == steps)
                    cloud_pairs_of_image(view, own, imaged.slot[index], image, options, found);
        }
        cloud_end_image(view, found, CAROMI_IMAGE_OWN);
    }
}

/* Pairs of images of the spheres in rows [begin, end), with options as constants. */
static void cloud_image_pairs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    for (uint32_t row = begin, next; row < end; row = next) {
        next = cloud_end_of_level(view, row, end);
        if (view->motion.given != NULL)
            cloud_pairs_of_images(view, row, next, CLOUD_IMAGE | CLOUD_BOUNDS_ONLY | CLOUD_MASKED | CLOUD_SWEPT, found);
        else if (view->reach_is_bound)
            cloud_pairs_of_images(view, row, next, CLOUD_IMAGE | CLOUD_BOUNDS_ONLY | CLOUD_MASKED | CLOUD_MARGIN,
                                  found);
        else
            cloud_pairs_of_images(view, row, next, CLOUD_IMAGE | CLOUD_MASKED | CLOUD_MARGIN, found);
    }
}

/* ---- best partners ----------------------------------------------------------------------------------------------- */

/* Searches for partners of one image of a sphere of level `own`. */
static void cloud_best_of_image(const caromi_cloud_view *view, uint32_t own, uint32_t slot, int image,
                                const caromi_cloud_best *best, caromi_cloud_found *found)
{
    cloud_sphere sphere;
    const cloud_ball ball = cloud_shift(view, slot, image, &sphere);
    uint32_t undecided_count = 0;
    for (uint32_t level = 0; level < view->level_count; level++)
        if (caromi_cloud_levels_meet(view, own, level) && cloud_meets_level(view, &ball, level) &&
            cloud_best_level(view, &sphere, &ball, level, CAROMI_NO_SLOT, CLOUD_IMAGE, best, &undecided_count, found))
            return;
}

/* Searches for partners of the images of spheres in rows [begin, end), which are of one level. */
static void cloud_best_of_images(const caromi_cloud_view *view, uint32_t begin, uint32_t end,
                                 const caromi_cloud_best *best, caromi_cloud_found *found)
{
    const uint32_t own = view->rows[begin].level;
    cloud_imaged imaged;
    for (uint32_t from = view->rows[begin].begin, last = view->rows[end - 1].end; from < last;) {
        cloud_find_imaged(view, &from, last, &imaged);
        for (int image = 0; image < CAROMI_IMAGES && imaged.count > 0; image++) {
            const u32 steps = cloud_steps_of(image);
            if (image == CAROMI_IMAGE_OWN)
                continue;
            cloud_end_image(view, found, image);
            for (uint32_t index = 0; index < imaged.count; index++) {
                const uint32_t slot = imaged.slot[index];
                const int is_done = best->is_done[slot] || (best->any && best->partner[slot] != UINT32_MAX);
                if (!is_done && (imaged.steps[index] & steps) == steps)
                    cloud_best_of_image(view, own, slot, image, best, found);
            }
        }
        cloud_end_image(view, found, CAROMI_IMAGE_OWN);
    }
}

/* Searches for partners of the images of spheres in rows [begin, end). */
static void cloud_best_images(const caromi_cloud_view *view, uint32_t begin, uint32_t end,
                              const caromi_cloud_best *best, caromi_cloud_found *found)
{
    for (uint32_t row = begin, next; row < end; row = next) {
        next = cloud_end_of_level(view, row, end);
        cloud_best_of_images(view, row, next, best, found);
    }
}
