/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include "arrays.h"

carom_status caromi_check_desc(size_t given, size_t expected, const char *name, carom_error *err)
{
    if (given == expected)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s.size is %zu, this library expects %zu", name, given,
                       expected);
}

carom_status caromi_check_stats(const carom_stats *stats, carom_error *err)
{
    return stats == NULL ? CAROM_OK : caromi_check_desc(stats->size, sizeof *stats, "carom_stats", err);
}

static carom_status check_stride(size_t stride, const char *name, carom_error *err)
{
    if (stride < sizeof(uint32_t))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "%s: stride is %zu bytes; at least 4, or CAROM_REPEAT if one element serves all", name,
                           stride);
    return CAROM_OK;
}

carom_status caromi_check_points(const carom_points *p, const char *name, carom_error *err)
{
    if (p->x == NULL || p->y == NULL || p->z == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: x, y and z must not be NULL", name);
    return check_stride(p->stride, name, err);
}

carom_status caromi_check_scalars(const carom_scalars *s, const char *name, carom_error *err)
{
    if (s->data == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: data must not be NULL", name);
    return check_stride(s->stride, name, err);
}

carom_status caromi_check_uints(const carom_uints *u, const char *name, carom_error *err)
{
    if (u->data == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: data must not be NULL", name);
    return check_stride(u->stride, name, err);
}

carom_status caromi_check_points_out(const carom_points_out *p, const char *name, carom_error *err)
{
    if (p->x == NULL && p->y == NULL && p->z == NULL)
        return CAROM_OK;
    if (p->x == NULL || p->y == NULL || p->z == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: give x, y and z, or none", name);
    if (p->stride == CAROM_REPEAT)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "%s: stride is CAROM_REPEAT; an output has its own place for each answer", name);
    if (p->stride < sizeof(float))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: stride is %zu bytes; at least 4", name,
                           p->stride);
    return CAROM_OK;
}

/* ---- the head of a descriptor ------------------------------------------------------------------------------------ */

static carom_status check_select(const carom_batch *b, carom_error *err)
{
    if (b->select.data == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "batch.elements is %llu without batch.select; it must be 0",
                           (unsigned long long)b->elements);
    CHECK(caromi_check_uints(&b->select, "batch.select", err));
    return caromi_check_count(b->elements, "batch.elements", err);
}

carom_status caromi_check_batch(const carom_batch *b, size_t size, const char *name, int serves, carom_error *err)
{
    const int selects = b->select.data != NULL || b->elements != 0;
    if (b->size != size)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "batch.size is %zu; %s has %zu bytes in this library",
                           b->size, name, size);
    if (b->accuracy != CAROM_ACCURACY_FAST && b->accuracy != CAROM_ACCURACY_EXACT)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "batch.accuracy is %d; it must be fast (0) or exact (1)", (int)b->accuracy);
    if (b->prepare > 1)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "batch.prepare is %d; it must be 0 or 1", b->prepare);
    CHECK(caromi_check_count(b->count, "batch.count", err));
    if (b->begin > ((serves & CAROMI_SERVES_BEGIN) != 0 ? b->count : 0))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "batch.begin is %llu, the count %llu; %s",
                           (unsigned long long)b->begin, (unsigned long long)b->count,
                           (serves & CAROMI_SERVES_BEGIN) != 0 ? "at most the count"
                                                               : "only lists begin elsewhere than at 0");
    if (!selects)
        return CAROM_OK;
    if ((serves & CAROMI_SERVES_SELECT) == 0)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "batch.select and batch.elements are for queries of a mesh, not for a lattice or a cloud; "
                           "pairs have indices");
    return check_select(b, err);
}
