/* SPDX-License-Identifier: MIT */
/* Checks limits and indices that lie on the device (kernels/resident.cl). Of a blocking call the host reads one word
 * for each array, before any work. Of a call that is being enqueued it reads what was noted when the job is asked;
 * meanwhile a query with a refused index is an invalid one, and a refused limit counts as 0. */
#include <string.h>

#include "host/core/values.h"
#include "enqueue.h"
#include "probe.h"

_Static_assert((int)CAROMI_VALUES_MAX == RESIDENT_CHECKS, "a word for each array");

enum { NOTED = RESIDENT_CHECKS * sizeof(cl_uint) /* where the notes begin */ };

/* An array on the device, and the rows to check. */
typedef struct checked {
    caromi_resident from, index;
    size_t stride, index_stride;
    uint32_t last, kind, most;
    uint64_t first;
} checked;

static uint32_t last_of(uint64_t count)
{
    return count - 1 < UINT32_MAX ? (uint32_t)(count - 1) : UINT32_MAX;
}

uint32_t caromi_last_index(const caromi_values *values)
{
    return last_of(values->limit);
}

static checked checked_of(const caromi_device *device, const caromi_values *values, uint64_t first)
{
    const caromi_in_column *column = &values->column;
    checked c = {.from = caromi_resident_at(device, column->base),
                 .index = caromi_resident_at(device, column->index.base),
                 .stride = column->stride,
                 .index_stride = column->index.stride,
                 .last = column->index.base != NULL ? last_of(values->elements) : UINT32_MAX,
                 .kind = values->are_limits ? RESIDENT_LIMITS : RESIDENT_INDICES,
                 .most = last_of(values->limit),
                 .first = first};
    if (values->are_limits)
        memcpy(&c.most, &values->most, sizeof c.most);
    return c;
}

static void set_checked(caromi_arguments *arguments, const checked *c)
{
    const caromi_resident *index = c->index.memory != NULL ? &c->index : &c->from; /* any memory: it is not read */
    caromi_set_resident(arguments, &c->from);
    caromi_set_ulong(arguments, c->stride);
    caromi_set_resident(arguments, index);
    caromi_set_ulong(arguments, c->index_stride);
    caromi_set_uint(arguments, c->index.memory != NULL ? RESIDENT_INDEXED : RESIDENT_ELEMENT);
    caromi_set_uint(arguments, c->last);
    caromi_set_ulong(arguments, c->first);
}

/* Enqueues a check of `rows` rows, in launches that are short enough for watchdogs. */
static carom_status check(caromi_device *device, cl_command_queue queue, const checked *c, uint32_t number,
                          uint64_t rows, carom_error *err)
{
    for (uint64_t before = 0, n; before < rows; before += n) {
        caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_RESIDENT_CHECK);
        n = rows - before < device->max_items ? rows - before : device->max_items;
        set_checked(&arguments, c);
        caromi_set_uint(&arguments, c->kind);
        caromi_set_uint(&arguments, c->most);
        caromi_set_uint(&arguments, before);
        caromi_set_argument(&arguments, &device->checked, sizeof device->checked);
        caromi_set_uint(&arguments, number);
        CHECK(caromi_launch(device, queue, &arguments, n, CAROMI_GROUP, NULL, err));
    }
    return CAROM_OK;
}

/* Enqueues the note of a check. */
static carom_status note(caromi_device *device, cl_command_queue queue, const checked *c, uint32_t number,
                         carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_RESIDENT_NOTE);
    set_checked(&arguments, c);
    caromi_set_argument(&arguments, &device->checked, sizeof device->checked);
    caromi_set_uint(&arguments, number);
    return caromi_launch(device, queue, &arguments, 1, 1, NULL, err);
}

/* Makes the words ready, unless they are. */
static carom_status clear(caromi_device *device, carom_error *err)
{
    cl_uint words[RESIDENT_CHECK_WORDS];
    if (device->checked_is_clear)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    memset(words, 0xff, sizeof words);
    if (device->checked == NULL)
        CHECK(caromi_make_buffer(device, "checks", CL_MEM_READ_WRITE, sizeof words, NULL, &device->checked, err));
    CHECK(caromi_write_at(device, device->slots[0].queue, device->checked, CAROMI_BEGIN, words, sizeof words, "checks",
                          err));
    device->checked_is_clear = 1;
    return CAROM_OK;
}

/* Enqueues all checks of a call, notes what they find, and has it read behind the commands. */
static carom_status enqueue(caromi_device *device, const caromi_values *values, uint32_t count, uint64_t begin,
                            uint64_t end, carom_error *err)
{
    const cl_command_queue queue = caromi_enqueue_queue(device->context);
    void *to = NULL;
    CHECK(caromi_enqueue_values(device->context, values, count, begin, &to, err));
    device->checked_is_clear = 0; /* unless all of it is enqueued */
    for (uint32_t i = 0; i < count; i++) {
        const checked c = checked_of(device, &values[i], begin);
        CHECK(check(device, queue, &c, i, end - begin, err));
        CHECK(note(device, queue, &c, i, err));
    }
    CHECK(caromi_read(device, queue, device->checked, NOTED, to, count * 2 * sizeof(cl_uint), CAROMI_NO_WAIT, NULL,
                      "checks", err));
    device->checked_is_clear = 1;
    return CAROM_OK;
}

carom_status caromi_device_check_values(caromi_device *device, const caromi_values *values, uint32_t count,
                                        uint64_t begin, uint64_t end, carom_error *err)
{
    const cl_command_queue queue = device->slots[0].queue;
    cl_uint found[RESIDENT_CHECKS];
    CHECK(caromi_probe_resident(device, err));
    CHECK(clear(device, err));
    if (device->context->enqueued != NULL)
        return enqueue(device, values, count, begin, end, err);
    device->checked_is_clear = 0;
    for (uint32_t i = 0; i < count; i++) {
        const checked c = checked_of(device, &values[i], begin);
        CHECK(check(device, queue, &c, i, end - begin, err));
    }
    CHECK(caromi_read(device, queue, device->checked, CAROMI_BEGIN, found, count * sizeof *found, CAROMI_WAIT, NULL,
                      "checks", err));
    carom_status status = CAROM_OK;
    for (uint32_t i = 0; status == CAROM_OK && i < count; i++)
        if (found[i] != RESIDENT_NONE)
            status = caromi_fail_value(&values[i], begin + found[i], 0, err); /* the host will find the value */
    device->checked_is_clear = status == CAROM_OK;
    CHECK(clear(device, err));
    return status;
}

/* ---- the probe --------------------------------------------------------------------------------------------------- */

enum { PROBE_ROWS = 300, PROBE_STRIDE = 4 };

/* Words of all kinds around what limits refuse, and an order to read them in. */
typedef struct values_probe {
    cl_uint words[PROBE_ROWS], order[PROBE_ROWS];
    cl_mem memory;
} values_probe;

static int is_refused(const checked *c, cl_uint word)
{
    return word > c->most && (c->kind == RESIDENT_INDICES || word != UINT32_C(0x80000000));
}

/* Checks from row `first` on, and compares what is noted with the host's answer. */
static carom_status probe_check(caromi_device *device, const values_probe *data, uint32_t first, uint32_t kind,
                                uint32_t most, int has_index, carom_error *err)
{
    const cl_command_queue queue = device->slots[0].queue;
    const checked c = {.from = {data->memory, 0},
                       .index = {has_index ? data->memory : NULL, sizeof data->words},
                       .stride = PROBE_STRIDE,
                       .index_stride = PROBE_STRIDE,
                       .last = has_index ? PROBE_ROWS - 2 : UINT32_MAX,
                       .kind = kind,
                       .most = most,
                       .first = first};
    cl_uint expected[2] = {RESIDENT_NONE, 0}, got[2];
    for (uint32_t row = 0; expected[0] == RESIDENT_NONE && first + row < PROBE_ROWS; row++) {
        const cl_uint element = data->order[first + row] < c.last ? data->order[first + row] : c.last;
        const cl_uint word = data->words[has_index ? element : first + row];
        if (is_refused(&c, word)) {
            expected[0] = row;
            expected[1] = word;
        }
    }
    CHECK(check(device, queue, &c, 1, PROBE_ROWS - first, err));
    CHECK(note(device, queue, &c, 1, err));
    CHECK(
        caromi_read(device, queue, device->checked, NOTED + sizeof got, got, sizeof got, CAROMI_WAIT, NULL, NULL, err));
    return caromi_probe_compare(device, CAROMI_PROGRAM_RESIDENT_CHECK, 2, 0, got, expected, sizeof *got, err);
}

static carom_status probe(caromi_device *device, values_probe *data, carom_error *err)
{
    static const cl_uint edges[] = {0,          1,          0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000,
                                    0x7f800001, 0x7fc00000, 0x80000000, 0x80000001, 0xbf800000, 0xff800000};
    uint64_t state = 11;
    for (uint32_t i = 0; i < PROBE_ROWS; i++) {
        data->words[i] =
            i < PROBE_ROWS / 2 ? edges[caromi_probe_next(&state) % 6] : edges[caromi_probe_next(&state) % 12];
        data->order[i] = (cl_uint)(caromi_probe_next(&state) % PROBE_ROWS);
    }
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, 2 * sizeof data->words, NULL, &data->memory,
                             err));
    CHECK(caromi_write_at(device, device->slots[0].queue, data->memory, CAROMI_BEGIN, data->words,
                          2 * sizeof data->words, NULL, err));
    for (uint32_t first = 0; first < PROBE_ROWS; first += 97)
        for (int has_index = 0; has_index < 2; has_index++)
            for (uint32_t e = 0; e < 6; e++) {
                CHECK(probe_check(device, data, first, RESIDENT_LIMITS, edges[e], has_index, err));
                CHECK(probe_check(device, data, first, RESIDENT_INDICES, edges[e], has_index, err));
            }
    return CAROM_OK;
}

carom_status caromi_probe_values(caromi_device *device, carom_error *err)
{
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_RESIDENT_CHECK, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_RESIDENT_NOTE, err));
    values_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    carom_status status = clear(device, err);
    if (status == CAROM_OK)
        status = probe(device, data, err);
    if (status == CAROM_OK)
        status = caromi_enqueue_prepare(device->context, device, err);
    caromi_release_buffer(&data->memory);
    caromi_free(device->context, data);
    return status;
}
