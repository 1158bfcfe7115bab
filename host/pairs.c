/* SPDX-License-Identifier: MIT */
/* The three pair queries: check the arguments, name the columns, run the batch. */
#include <string.h>

#include "arrays.h"
#include "host/opencl/opencl.h"

static void in_points(caromi_in_column *columns, const carom_points *p, const uint32_t *index)
{
    columns[0] = (caromi_in_column){p->x, p->stride, index};
    columns[1] = (caromi_in_column){p->y, p->stride, index};
    columns[2] = (caromi_in_column){p->z, p->stride, index};
}

static void in_scalars(caromi_in_column *column, const carom_scalars *s, const uint32_t *index)
{
    *column = (caromi_in_column){s->data, s->stride, index};
}

static void out_points(caromi_out_column *columns, const carom_points_out *p)
{
    columns[0] = (caromi_out_column){p->x, p->stride};
    columns[1] = (caromi_out_column){p->y, p->stride};
    columns[2] = (caromi_out_column){p->z, p->stride};
}

static void out_array(caromi_out_column *column, void *base, size_t size)
{
    *column = (caromi_out_column){base, size};
}

static carom_status check_index_values(const carom_pair_indices *x, uint64_t count, carom_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        if (x->sphere[i] >= x->sphere_count)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "pair %llu: sphere index %u, but there are %llu",
                               (unsigned long long)i, x->sphere[i], (unsigned long long)x->sphere_count);
        if (x->triangle[i] >= x->triangle_count)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "pair %llu: triangle index %u, but there are %llu",
                               (unsigned long long)i, x->triangle[i], (unsigned long long)x->triangle_count);
    }
    return CAROM_OK;
}

static carom_status check_indices(const carom_pair_indices *x, carom_error *err)
{
    if (x->sphere == NULL && x->triangle == NULL)
        return CAROM_OK;
    if (x->sphere == NULL || x->triangle == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "indices: give both sphere and triangle, or neither");
    CHECK(caromi_check_count(x->sphere_count, "indices.sphere_count", err));
    return caromi_check_count(x->triangle_count, "indices.triangle_count", err);
}

static carom_status check_call(const carom_context *context, const void *desc, const void *out,
                               const carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    return caromi_check_stats(stats, err);
}

/* Of an array that is indexed, or not. */
static uint64_t elements(const uint32_t *index, uint64_t indexed, uint64_t count)
{
    return index != NULL ? indexed : count;
}

CAROMI_LIST list_sweep(caromi_arrays *a, const carom_sweep_pairs_desc *d, const carom_sweep_result *out,
                       const carom_stats *stats)
{
    const carom_pair_indices *x = &d->indices;
    const uint64_t spheres = elements(x->sphere, x->sphere_count, d->count);
    const uint64_t triangles = elements(x->triangle, x->triangle_count, d->count);
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_reads_points(a, "center", &d->center, spheres);
    caromi_reads_scalars(a, "radius", &d->radius, spheres);
    caromi_reads_points(a, "velocity", &d->velocity, spheres);
    caromi_reads_points(a, "p0", &d->p0, triangles);
    caromi_reads_points(a, "p1", &d->p1, triangles);
    caromi_reads_points(a, "p2", &d->p2, triangles);
    caromi_reads_points(a, "triangle_velocity", &d->triangle_velocity, triangles);
    caromi_reads(a, "indices.sphere", x->sphere, d->count, sizeof(uint32_t), sizeof(uint32_t));
    caromi_reads(a, "indices.triangle", x->triangle, d->count, sizeof(uint32_t), sizeof(uint32_t));
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    caromi_writes(a, "state", out->state, d->count, sizeof *out->state);
    caromi_writes(a, "t_first", out->t_first, d->count, sizeof *out->t_first);
    caromi_writes(a, "t_last", out->t_last, d->count, sizeof *out->t_last);
    caromi_writes_points(a, "point_first", &out->point_first, d->count);
    caromi_writes_points(a, "point_last", &out->point_last, d->count);
    caromi_writes(a, "feature_first", out->feature_first, d->count, sizeof *out->feature_first);
    caromi_writes(a, "feature_last", out->feature_last, d->count, sizeof *out->feature_last);
}

static carom_status check_sweep(const carom_sweep_pairs_desc *d, const carom_sweep_result *out,
                                const carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_sweep_pairs_desc", err));
    CHECK(caromi_check_accuracy(d->accuracy, err));
    CHECK(caromi_check_points_out(&out->point_first, "point_first", err));
    CHECK(caromi_check_points_out(&out->point_last, "point_last", err));
    CHECK(caromi_check_count(d->count, "count", err));
    if (d->count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(&d->center, "center", err));
    CHECK(caromi_check_scalars(&d->radius, "radius", err));
    CHECK(caromi_check_points(&d->velocity, "velocity", err));
    CHECK(caromi_check_points(&d->p0, "p0", err));
    CHECK(caromi_check_points(&d->p1, "p1", err));
    CHECK(caromi_check_points(&d->p2, "p2", err));
    if (d->triangle_velocity.x != NULL || d->triangle_velocity.y != NULL || d->triangle_velocity.z != NULL)
        CHECK(caromi_check_points(&d->triangle_velocity, "triangle_velocity", err));
    CHECK(check_indices(&d->indices, err));
    CAROMI_CHECK_ARRAYS(err, list_sweep, d, out, stats);
    return d->indices.sphere != NULL ? check_index_values(&d->indices, d->count, err) : CAROM_OK;
}

/* The cheapest kernel that answers what is asked. */
static enum caromi_pair_kernel sweep_kernel(const carom_sweep_result *out, int moving)
{
    const int full = out->point_first.x || out->point_last.x || out->feature_first || out->feature_last;
    const int times = out->state || out->t_last;
    if (moving)
        return full    ? CAROMI_PAIR_sweep_full_moving
               : times ? CAROMI_PAIR_sweep_times_moving
                       : CAROMI_PAIR_sweep_first_moving;
    return full ? CAROMI_PAIR_sweep_full : times ? CAROMI_PAIR_sweep_times : CAROMI_PAIR_sweep_first;
}

static enum caromi_pair_kernel kernel_for(enum caromi_pair_kernel kernel, carom_accuracy accuracy)
{
    return accuracy == CAROM_ACCURACY_EXACT ? caromi_exact_twin(kernel) : kernel;
}

static carom_status sweep_pairs(carom_context *context, const carom_sweep_pairs_desc *d, const carom_sweep_result *out,
                                carom_stats *stats, carom_error *err)
{
    CHECK(check_call(context, d, out, stats, err));
    CHECK(check_sweep(d, out, stats, err));
    const int moving = d->triangle_velocity.x != NULL;
    const uint32_t *sphere = d->indices.sphere, *triangle = d->indices.triangle;
    caromi_pair_batch b;
    memset(&b, 0, sizeof b);
    b.kernel = kernel_for(sweep_kernel(out, moving), d->accuracy);
    b.count = d->count;
    in_points(&b.in[IN_CX], &d->center, sphere);
    in_scalars(&b.in[IN_R], &d->radius, sphere);
    in_points(&b.in[IN_VX], &d->velocity, sphere);
    in_points(&b.in[IN_P0X], &d->p0, triangle);
    in_points(&b.in[IN_P1X], &d->p1, triangle);
    in_points(&b.in[IN_P2X], &d->p2, triangle);
    in_points(&b.in[IN_WX], &d->triangle_velocity, triangle);
    out_array(&b.out[OUT_T_FIRST], out->t_first, 4);
    out_array(&b.out[OUT_T_LAST], out->t_last, 4);
    out_array(&b.out[OUT_STATE], out->state, 1);
    out_points(&b.out[OUT_FIRST_X], &out->point_first);
    out_array(&b.out[OUT_FIRST_FEATURE], out->feature_first, 1);
    out_points(&b.out[OUT_LAST_X], &out->point_last);
    out_array(&b.out[OUT_LAST_FEATURE], out->feature_last, 1);
    return caromi_run_pairs(context, &b, &d->progress, stats, err);
}

carom_status carom_sweep_pairs(carom_context *context, const carom_sweep_pairs_desc *d, const carom_sweep_result *out,
                               carom_stats *stats, carom_error *err)
{
    IN_FLOAT_MODE(sweep_pairs(context, d, out, stats, err));
}

CAROMI_LIST list_overlap(caromi_arrays *a, const carom_overlap_pairs_desc *d, const carom_overlap_result *out,
                         const carom_stats *stats)
{
    const carom_pair_indices *x = &d->indices;
    const uint64_t spheres = elements(x->sphere, x->sphere_count, d->count);
    const uint64_t triangles = elements(x->triangle, x->triangle_count, d->count);
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_reads_points(a, "center", &d->center, spheres);
    caromi_reads_scalars(a, "radius", &d->radius, spheres);
    caromi_reads_points(a, "p0", &d->p0, triangles);
    caromi_reads_points(a, "p1", &d->p1, triangles);
    caromi_reads_points(a, "p2", &d->p2, triangles);
    caromi_reads(a, "indices.sphere", x->sphere, d->count, sizeof(uint32_t), sizeof(uint32_t));
    caromi_reads(a, "indices.triangle", x->triangle, d->count, sizeof(uint32_t), sizeof(uint32_t));
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    caromi_writes(a, "overlap", out->overlap, d->count, sizeof *out->overlap);
    caromi_writes(a, "axes", out->axes, d->count, sizeof *out->axes);
}

static carom_status check_overlap(const carom_overlap_pairs_desc *d, const carom_overlap_result *out,
                                  const carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_overlap_pairs_desc", err));
    CHECK(caromi_check_accuracy(d->accuracy, err));
    CHECK(caromi_check_count(d->count, "count", err));
    if (d->count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(&d->center, "center", err));
    CHECK(caromi_check_scalars(&d->radius, "radius", err));
    CHECK(caromi_check_points(&d->p0, "p0", err));
    CHECK(caromi_check_points(&d->p1, "p1", err));
    CHECK(caromi_check_points(&d->p2, "p2", err));
    CHECK(check_indices(&d->indices, err));
    CAROMI_CHECK_ARRAYS(err, list_overlap, d, out, stats);
    return d->indices.sphere != NULL ? check_index_values(&d->indices, d->count, err) : CAROM_OK;
}

static carom_status overlap_pairs(carom_context *context, const carom_overlap_pairs_desc *d,
                                  const carom_overlap_result *out, carom_stats *stats, carom_error *err)
{
    CHECK(check_call(context, d, out, stats, err));
    CHECK(check_overlap(d, out, stats, err));
    const uint32_t *sphere = d->indices.sphere, *triangle = d->indices.triangle;
    caromi_pair_batch b;
    memset(&b, 0, sizeof b);
    b.kernel = kernel_for(CAROMI_PAIR_overlap, d->accuracy);
    b.count = d->count;
    in_points(&b.in[IN_OCX], &d->center, sphere);
    in_scalars(&b.in[IN_OR], &d->radius, sphere);
    in_points(&b.in[IN_OP0X], &d->p0, triangle);
    in_points(&b.in[IN_OP1X], &d->p1, triangle);
    in_points(&b.in[IN_OP2X], &d->p2, triangle);
    out_array(&b.out[OUT_OVERLAP], out->overlap, 1);
    out_array(&b.out[OUT_AXES], out->axes, 1);
    return caromi_run_pairs(context, &b, &d->progress, stats, err);
}

carom_status carom_overlap_pairs(carom_context *context, const carom_overlap_pairs_desc *d,
                                 const carom_overlap_result *out, carom_stats *stats, carom_error *err)
{
    IN_FLOAT_MODE(overlap_pairs(context, d, out, stats, err));
}

CAROMI_LIST list_spheres(caromi_arrays *a, const carom_sphere_pairs_desc *d, const carom_sphere_result *out,
                         const carom_stats *stats)
{
    const carom_pair_indices *x = &d->indices;
    const uint64_t some = elements(x->sphere, x->sphere_count, d->count);
    const uint64_t others = elements(x->triangle, x->triangle_count, d->count);
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_reads_points(a, "a0", &d->a0, some);
    caromi_reads_points(a, "a1", &d->a1, some);
    caromi_reads_scalars(a, "radius_a", &d->radius_a, some);
    caromi_reads_points(a, "b0", &d->b0, others);
    caromi_reads_points(a, "b1", &d->b1, others);
    caromi_reads_scalars(a, "radius_b", &d->radius_b, others);
    caromi_reads(a, "indices.sphere", x->sphere, d->count, sizeof(uint32_t), sizeof(uint32_t));
    caromi_reads(a, "indices.triangle", x->triangle, d->count, sizeof(uint32_t), sizeof(uint32_t));
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    caromi_writes(a, "state", out->state, d->count, sizeof *out->state);
    caromi_writes(a, "u_first", out->u_first, d->count, sizeof *out->u_first);
    caromi_writes(a, "u_last", out->u_last, d->count, sizeof *out->u_last);
}

static carom_status check_spheres(const carom_sphere_pairs_desc *d, const carom_sphere_result *out,
                                  const carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_sphere_pairs_desc", err));
    CHECK(caromi_check_accuracy(d->accuracy, err));
    CHECK(caromi_check_count(d->count, "count", err));
    if (d->count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(&d->a0, "a0", err));
    CHECK(caromi_check_points(&d->a1, "a1", err));
    CHECK(caromi_check_scalars(&d->radius_a, "radius_a", err));
    CHECK(caromi_check_points(&d->b0, "b0", err));
    CHECK(caromi_check_points(&d->b1, "b1", err));
    CHECK(caromi_check_scalars(&d->radius_b, "radius_b", err));
    CHECK(check_indices(&d->indices, err));
    CAROMI_CHECK_ARRAYS(err, list_spheres, d, out, stats);
    return d->indices.sphere != NULL ? check_index_values(&d->indices, d->count, err) : CAROM_OK;
}

static carom_status sphere_pairs(carom_context *context, const carom_sphere_pairs_desc *d,
                                 const carom_sphere_result *out, carom_stats *stats, carom_error *err)
{
    CHECK(check_call(context, d, out, stats, err));
    CHECK(check_spheres(d, out, stats, err));
    const uint32_t *a = d->indices.sphere, *other = d->indices.triangle;
    caromi_pair_batch b;
    memset(&b, 0, sizeof b);
    b.kernel = kernel_for(CAROMI_PAIR_spheres, d->accuracy);
    b.count = d->count;
    in_points(&b.in[IN_A0X], &d->a0, a);
    in_points(&b.in[IN_A1X], &d->a1, a);
    in_scalars(&b.in[IN_RA], &d->radius_a, a);
    in_points(&b.in[IN_B0X], &d->b0, other);
    in_points(&b.in[IN_B1X], &d->b1, other);
    in_scalars(&b.in[IN_RB], &d->radius_b, other);
    out_array(&b.out[OUT_U_FIRST], out->u_first, 4);
    out_array(&b.out[OUT_U_LAST], out->u_last, 4);
    out_array(&b.out[OUT_U_STATE], out->state, 1);
    return caromi_run_pairs(context, &b, &d->progress, stats, err);
}

carom_status carom_sphere_pairs(carom_context *context, const carom_sphere_pairs_desc *d,
                                const carom_sphere_result *out, carom_stats *stats, carom_error *err)
{
    IN_FLOAT_MODE(sphere_pairs(context, d, out, stats, err));
}
