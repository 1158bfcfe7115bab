/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <math.h>
#include <string.h>

#include "buffer.h"
#include "devices.h"

carom_status caromi_fail_value(const caromi_values *values, uint64_t row, uint32_t word, carom_error *err)
{
    float limit;
    memcpy(&limit, &word, sizeof limit);
    if (values->are_limits)
        return caromi_fail_argument(err, "%s %llu: %s is %g; it must be >= 0%s", values->one, (unsigned long long)row,
                                    values->name, (double)limit,
                                    values->most < INFINITY ? ", and at most 1, when `end` is reached" : "");
    return caromi_fail_argument(err, "%s %llu: %s is %u; it must be below %s, %llu", values->one,
                                (unsigned long long)row, values->name, word, values->limit_name,
                                (unsigned long long)values->limit);
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

static int is_constant(const caromi_values *values)
{
    return values->column.stride == 0;
}

static carom_status bring(carom_context *context, const caromi_values *values, carom_error *err)
{
    return values->are_limits ? caromi_staging_show_array(context, values->column.base, err)
                              : caromi_staging_show_index(context, values->column.base, err);
}

static carom_status check_on_host(const caromi_values *values, uint64_t begin, uint64_t end, carom_error *err)
{
    caromi_in_column column = values->column;
    if (is_constant(values)) {
        column.index.base = NULL;
        end = end > begin ? begin + 1 : end;
    }
    for (uint64_t i = begin; column.base != NULL && i < end; i++) {
        uint32_t word;
        float limit;
        memcpy(&word, caromi_element(&column, i), sizeof word);
        memcpy(&limit, &word, sizeof limit);
        if (values->are_limits ? !(limit >= 0 && limit <= values->most) : word >= values->limit)
            return caromi_fail_value(values, i, word, err);
    }
    return CAROM_OK;
}

/* ---- on a device ------------------------------------------------------------------------------------------------- */

/* Whether the array is one element in the program's memory, which the host reads at any time. */
static int is_for_host(const carom_context *context, const caromi_values *values)
{
    return values->are_limits && is_constant(values) && caromi_resident_buffer(context, values->column.base) == NULL;
}

static int is_on_device(const carom_context *context, const void *base)
{
    const carom_buffer *buffer = caromi_resident_buffer(context, base);
    return buffer != NULL && buffer->store != NULL;
}

/* Whether a device can check an array. In exact mode the host needs the indices all the same. */
static int serves(const carom_context *context, const carom_batch *batch, const caromi_values *values)
{
    const caromi_in_column *column = &values->column;
    if (!caromi_has_residents(context) || batch->prepare || context->device_count != 1 || context->devices[0] == NULL ||
        caromi_driver.is_inherited() || batch->count - batch->begin >= UINT32_MAX)
        return 0;
    if (!values->are_limits && (batch->accuracy == CAROM_ACCURACY_EXACT || values->limit == 0))
        return 0;
    if (column->index.base != NULL && (values->elements == 0 || !is_on_device(context, column->index.base)))
        return 0;
    return is_on_device(context, column->base);
}

/* Checks the arrays that the device can check, and lists the others. Returns 0 if the device refuses a value, or
 * fails. */
static int check_on_device(carom_context *context, const carom_batch *batch, const caromi_values *values,
                           uint32_t count, int *is_left)
{
    caromi_values on_device[CAROMI_VALUES_MAX];
    uint32_t served = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int has_rows = values[i].column.base != NULL && batch->count > batch->begin;
        is_left[i] = has_rows && !serves(context, batch, &values[i]);
        if (has_rows && !is_left[i])
            on_device[served++] = values[i];
    }
    return served == 0 || caromi_driver.values_check(context->devices[0], on_device, served, batch->begin, batch->count,
                                                     NULL) == CAROM_OK;
}

carom_status caromi_check_values(carom_context *context, const carom_batch *batch, const caromi_values *values,
                                 uint32_t count, carom_error *err)
{
    int is_left[CAROMI_VALUES_MAX];
    const int passed = check_on_device(context, batch, values, count, is_left);
    /* If the device refuses one, the host finds the first of all. */
    for (uint32_t i = 0; i < count; i++)
        if ((!passed || is_left[i]) && !is_for_host(context, &values[i]))
            CHECK(bring(context, &values[i], err));
    for (uint32_t i = 0; i < count; i++) /* an index on the device may select from limits in the program's memory */
        if ((!passed || is_left[i]) && !is_constant(&values[i]))
            CHECK(caromi_staging_show_array(context, values[i].column.index.base, err));
    for (uint32_t i = 0; !batch->prepare && i < count; i++)
        if (!passed || is_left[i])
            CHECK(check_on_host(&values[i], batch->begin, batch->count, err));
    return CAROM_OK;
}
