/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include "arrays.h"

/* Checks the size of a structure, which tells its version. */
carom_status caromi_check_desc(size_t given, size_t expected, const char *name, carom_error *err)
{
    if (given == expected)
        return CAROM_OK;
    return caromi_fail_argument(err, "%s.size is %zu, this library expects %zu", name, given, expected);
}

carom_status caromi_check_stats(const carom_stats *stats, carom_error *err)
{
    return stats == NULL ? CAROM_OK : caromi_check_desc(stats->size, sizeof *stats, "carom_stats", err);
}

static carom_status check_stride(size_t stride, const char *name, carom_error *err)
{
    if (stride < sizeof(uint32_t))
        return caromi_fail_argument(
            err, "%s: stride is %zu bytes; at least 4, or CAROM_REPEAT if one element serves all", name, stride);
    return CAROM_OK;
}

carom_status caromi_check_points(const carom_points *points, const char *name, carom_error *err)
{
    if (points->x == NULL || points->y == NULL || points->z == NULL)
        return caromi_fail_argument(err, "%s: x, y and z must not be NULL", name);
    return check_stride(points->stride, name, err);
}

carom_status caromi_check_scalars(const carom_scalars *scalars, const char *name, carom_error *err)
{
    if (scalars->data == NULL)
        return caromi_fail_argument(err, "%s: data must not be NULL", name);
    return check_stride(scalars->stride, name, err);
}

carom_status caromi_check_uints(const carom_uints *uints, const char *name, carom_error *err)
{
    if (uints->data == NULL)
        return caromi_fail_argument(err, "%s: data must not be NULL", name);
    return check_stride(uints->stride, name, err);
}

carom_status caromi_check_points_out(const carom_points_out *points, const char *name, carom_error *err)
{
    if (points->x == NULL && points->y == NULL && points->z == NULL)
        return CAROM_OK;
    if (points->x == NULL || points->y == NULL || points->z == NULL)
        return caromi_fail_argument(err, "%s: give x, y and z, or none", name);
    if (points->stride == CAROM_REPEAT)
        return caromi_fail_argument(err, "%s: stride is CAROM_REPEAT; an output has its own place for each answer",
                                    name);
    if (points->stride < sizeof(float))
        return caromi_fail_argument(err, "%s: stride is %zu bytes; at least 4", name, points->stride);
    return CAROM_OK;
}

/* ---- the head of a descriptor ------------------------------------------------------------------------------------ */

static carom_status check_select(const carom_batch *batch, carom_error *err)
{
    if (batch->select.data == NULL)
        return caromi_fail_argument(err, "batch.elements is %llu without batch.select; it must be 0",
                                    (unsigned long long)batch->elements);
    CHECK(caromi_check_uints(&batch->select, "batch.select", err));
    return caromi_check_count(batch->elements, "batch.elements", err);
}

/* Checks the numbers of a batch: count, begin, and options that the call does not serve. */
carom_status caromi_check_batch(const carom_batch *batch, size_t size, const char *name, int serves, carom_error *err)
{
    const int selects = batch->select.data != NULL || batch->elements != 0;
    if (batch->size != size)
        return caromi_fail_argument(err, "batch.size is %zu; %s has %zu bytes in this library", batch->size, name,
                                    size);
    if (batch->accuracy != CAROM_ACCURACY_FAST && batch->accuracy != CAROM_ACCURACY_EXACT)
        return caromi_fail_argument(err, "batch.accuracy is %d; it must be fast (0) or exact (1)",
                                    (int)batch->accuracy);
    if (batch->prepare > 1)
        return caromi_fail_argument(err, "batch.prepare is %d; it must be 0 or 1", batch->prepare);
    CHECK(caromi_check_count(batch->count, "batch.count", err));
    if (batch->begin > ((serves & CAROMI_SERVES_BEGIN) != 0 ? batch->count : 0))
        return caromi_fail_argument(err, "batch.begin is %llu, the count %llu; %s", (unsigned long long)batch->begin,
                                    (unsigned long long)batch->count,
                                    (serves & CAROMI_SERVES_BEGIN) != 0 ? "at most the count"
                                                                        : "only lists begin elsewhere than at 0");
    if (!selects)
        return CAROM_OK;
    if ((serves & CAROMI_SERVES_SELECT) == 0)
        return caromi_fail_argument(
            err, "batch.select and batch.elements are for queries of a mesh, not for a lattice or a cloud; "
                 "pairs have indices");
    return check_select(batch, err);
}
