/* SPDX-License-Identifier: MIT */
/* Columns of a stream that stay on the device: in carom buffers on a device with memory of its own, or in the caller's
 * cl_mem. A contiguous array at the beginning of its buffer is used in place. From any other array a kernel gathers the
 * chunk's rows into the slot's column, and another scatters answers to their rows (kernels/resident.cl). These columns
 * never cross the bus. */
#include <string.h>

#include "host/core/buffer.h"
#include "host/core/staging.h"
#include "host/core/values.h"
#include "enqueue.h"
#include "probe.h"

/* ---- locations of columns ---------------------------------------------------------------------------------------- */

/* The location of an array on this device. */
caromi_resident caromi_resident_at(const caromi_device *device, const void *base)
{
    const carom_buffer *buffer = caromi_resident_buffer(device->context, base);
    return buffer != NULL && buffer->store->device == device
               ? (caromi_resident){buffer->store->memory,
                                   buffer->store->offset + (uint64_t)((const char *)base - buffer->base)}
               : (caromi_resident){NULL, 0};
}

void caromi_set_resident(caromi_arguments *arguments, const caromi_resident *array)
{
    caromi_set_argument(arguments, &array->memory, sizeof array->memory);
    caromi_set_ulong(arguments, array->at);
}

int caromi_is_resident(const caromi_device *device, const void *base)
{
    return caromi_resident_at(device, base).memory != NULL;
}

/* Looks up which columns lie in memory of the device. */
int caromi_find_residents(const caromi_device *device, const caromi_stream *stream, caromi_residents *out)
{
    int some = 0;
    if (caromi_staging_held(device->context) == 0 || device->probing)
        return 0;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < stream->in_count; i++) {
        out->in[i] = caromi_resident_at(device, stream->in[i].base);
        out->index[i] = caromi_resident_at(device, stream->in[i].index.base);
        out->is_limit[i] = (uint8_t)caromi_enqueue_is_limit(device->context, &stream->in[i]);
        out->last[i] = caromi_enqueue_last_index(device->context, &stream->in[i].index);
        some |= out->in[i].memory != NULL;
    }
    for (uint32_t i = 0; i < stream->out_count; i++) {
        out->out[i] = caromi_resident_at(device, stream->out[i].base);
        some |= out->out[i].memory != NULL;
        out->is_write_only[i] = out->out[i].memory != NULL &&
                                caromi_resident_buffer(device->context, stream->out[i].base)->use == CAROM_ACCESS_WRITE;
    }
    return some;
}

int caromi_inputs_stay(const caromi_stream *stream)
{
    int stay = 1;
    for (uint32_t i = 0; i < stream->in_count; i++)
        stay &= caromi_input_stays(stream, i);
    return stay;
}

int caromi_answers_stay(const caromi_stream *stream)
{
    int stay = 1;
    for (uint32_t i = 0; i < stream->out_count; i++)
        stay &= stream->out[i].base == NULL || caromi_output_stays(stream, i);
    return stay;
}

/* ---- columns used in place --------------------------------------------------------------------------------------- */

/* Uses a whole buffer in place. Sub-buffers would serve arrays that begin elsewhere, but crash NVIDIA's driver 580.159
 * when they are released. */
static void try_whole(const caromi_cl_slot *slot, const caromi_resident *from, caromi_cl_column *column)
{
    if (from->memory == NULL || from->at != 0 || slot->first != 0 || slot->padded != slot->count)
        return;
    column->direct = from->memory;
    column->shared = 1; /* the buffer owns the memory */
}

/* Uses an input array in place, if kernels can. */
void caromi_place_resident_input(const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column)
{
    if (stream->in[column].index.base == NULL && stream->in[column].stride == sizeof(float) &&
        !stream->residents->is_limit[column])
        try_whole(slot, &stream->residents->in[column], &slot->in[column]);
}

/* Not if it must not be read: kernels may read columns of answers. */
void caromi_place_resident_output(const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column)
{
    if (!stream->residents->is_write_only[column] && stream->out[column].stride == stream->out_size[column] &&
        stream->states_as_hits != column + 1)
        try_whole(slot, &stream->residents->out[column], &slot->out[column]);
}

/* ---- columns that are copied ------------------------------------------------------------------------------------- */

static void set_place(caromi_arguments *arguments, const caromi_resident *place, size_t stride)
{
    caromi_set_resident(arguments, place);
    caromi_set_ulong(arguments, stride);
}

/* A column to gather. If one word serves all rows, `from.at` holds that word instead of an address. */
typedef struct gathered {
    caromi_resident from;
    size_t stride;
    int same, is_limit;
    cl_mem to;
} gathered;

/* Enqueues the gather of at most RESIDENT_COLUMNS columns with a common index; NULL: consecutive rows. Writes `padded`
 * rows, of which `rows` are elements from `first` on. */
static carom_status gather(caromi_device *device, cl_command_queue queue, const gathered *columns, uint32_t count,
                           const caromi_resident *index, size_t index_stride, uint32_t last, uint64_t first,
                           uint64_t rows, uint64_t padded, cl_event *event, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_RESIDENT_GATHER);
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++) {
        const gathered *c = &columns[k < count ? k : 0];
        set_place(&arguments, &c->from, c->stride);
        caromi_set_uint(&arguments, c->same ? RESIDENT_SAME : c->is_limit ? RESIDENT_LIMIT : RESIDENT_ELEMENT);
        caromi_set_argument(&arguments, &c->to, sizeof c->to);
    }
    caromi_set_uint(&arguments, count);
    set_place(&arguments, index != NULL ? index : &columns[0].from, index_stride); /* any memory: it is not read */
    caromi_set_uint(&arguments, index != NULL ? RESIDENT_INDEXED : RESIDENT_ELEMENT);
    caromi_set_uint(&arguments, last);
    caromi_set_ulong(&arguments, first);
    caromi_set_uint(&arguments, rows);
    return caromi_launch(device, queue, &arguments, padded, CAROMI_GROUP, event, err);
}

/* Describes a column for the gather kernel. */
static gathered gathered_of(const caromi_stream *stream, const caromi_cl_slot *slot, uint32_t column)
{
    const caromi_in_column *c = &stream->in[column];
    gathered g = {stream->residents->in[column], c->stride, 0, stream->residents->is_limit[column],
                  slot->in[column].memory};
    if (g.from.memory == NULL) {
        uint32_t word;
        memcpy(&word, c->base, sizeof word);
        g = (gathered){{g.to, word}, 0, 1, 0, g.to}; /* any memory: it is not read */
    }
    return g;
}

static int has_index(const caromi_stream *stream, uint32_t column)
{
    return stream->residents->in[column].memory != NULL && stream->in[column].index.base != NULL;
}

/* Whether two columns can be gathered by one launch. */
static int go_together(const caromi_stream *stream, uint32_t a, uint32_t b)
{
    const caromi_index *i = &stream->in[a].index, *k = &stream->in[b].index;
    return has_index(stream, a) == has_index(stream, b) &&
           (!has_index(stream, a) || (i->base == k->base && i->stride == k->stride));
}

/* Gathers resident columns, as many as possible by one launch. */
carom_status caromi_gather_residents(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     const uint32_t *columns, uint32_t count, carom_error *err)
{
    if (count > 0)
        CHECK(caromi_probe_resident(device, err));
    for (uint32_t from = 0, n; from < count; from += n) {
        const uint32_t first = columns[from];
        gathered together[RESIDENT_COLUMNS];
        cl_event event = NULL;
        for (n = 0; n < RESIDENT_COLUMNS && from + n < count && go_together(stream, first, columns[from + n]); n++)
            together[n] = gathered_of(stream, slot, columns[from + n]);
        const caromi_resident *index = has_index(stream, first) ? &stream->residents->index[first] : NULL;
        assert(index == NULL || index->memory != NULL);
        CHECK(gather(device, slot->queue, together, n, index, stream->in[first].index.stride,
                     stream->residents->last[first], slot->first, slot->count, slot->padded, &event, err));
        caromi_add_event(&slot->upload, event);
    }
    return CAROM_OK;
}

/* Gathers listed rows of a resident column. */
carom_status caromi_gather_resident_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                         uint32_t column, uint32_t rows, carom_error *err)
{
    const caromi_in_column *c = &stream->in[column];
    const caromi_resident index = {c->index.base == NULL ? slot->rows.memory : slot->elements.memory, 0};
    gathered g = gathered_of(stream, slot, column);
    CHECK(caromi_probe_resident(device, err));
    g.from.at += c->index.base == NULL ? slot->first * c->stride : 0;
    return gather(device, slot->queue, &g, 1, &index, sizeof(cl_uint), UINT32_MAX, 0, rows, rows, NULL, err);
}

carom_status caromi_gather_elements(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                    uint32_t column, uint32_t rows, carom_error *err)
{
    const caromi_index *c = &stream->in[column].index;
    const caromi_resident listed = {slot->rows.memory, 0};
    gathered g = {.from = stream->residents->index[column], .stride = c->stride};
    CHECK(caromi_probe_resident(device, err));
    CHECK(caromi_reserve(device, slot, &slot->elements, rows * sizeof(cl_uint), CAROMI_NO_HOST_POINTER, err));
    g.from.at += slot->first * c->stride;
    g.to = slot->elements.memory;
    return gather(device, slot->queue, &g, 1, &listed, sizeof(cl_uint), UINT32_MAX, 0, rows, rows, NULL, err);
}

/* Enqueues the scatter of a column. index: NULL if the rows are consecutive. */
static carom_status scatter(caromi_device *device, cl_command_queue queue, const cl_mem *from, uint32_t kind,
                            const caromi_resident *to, size_t stride, const cl_mem *index, uint64_t first,
                            uint64_t rows, cl_event *event, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_RESIDENT_SCATTER);
    caromi_set_argument(&arguments, from, sizeof *from);
    caromi_set_uint(&arguments, kind);
    set_place(&arguments, to, stride);
    caromi_set_argument(&arguments, index != NULL ? index : from, sizeof *from); /* any memory: it is not read */
    caromi_set_uint(&arguments, index != NULL ? RESIDENT_INDEXED : RESIDENT_ELEMENT);
    caromi_set_ulong(&arguments, first);
    return caromi_launch(device, queue, &arguments, rows, CAROMI_GROUP, event, err);
}

carom_status caromi_gather_words(caromi_device *device, cl_command_queue queue, const caromi_resident *from,
                                 size_t stride, const cl_mem *to, uint32_t count, const cl_mem *index, uint64_t first,
                                 uint64_t rows, carom_error *err)
{
    const caromi_resident listed = {index != NULL ? *index : NULL, 0};
    gathered columns[RESIDENT_COLUMNS];
    for (uint32_t k = 0; k < count; k++)
        columns[k] = (gathered){.from = from[k], .stride = stride, .to = to[k]};
    return gather(device, queue, columns, count, index != NULL ? &listed : NULL, sizeof(cl_uint), UINT32_MAX, first,
                  rows, rows, NULL, err);
}

carom_status caromi_scatter_column(caromi_device *device, caromi_cl_slot *slot, cl_mem from, uint32_t kind,
                                   const caromi_resident *to, size_t stride, const cl_mem *index, uint64_t first,
                                   uint64_t rows, carom_error *err)
{
    cl_event event = NULL;
    CHECK(scatter(device, slot->queue, &from, kind, to, stride, index, first, rows, &event, err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}

/* Scatters a chunk's answers to a resident column. */
carom_status caromi_scatter_resident(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     uint32_t column, carom_error *err)
{
    const uint32_t kind = stream->out_size[column] == 4          ? RESIDENT_WORDS
                          : stream->states_as_hits == column + 1 ? RESIDENT_HITS
                                                                 : RESIDENT_BYTES;
    const cl_mem from = caromi_column_memory(&slot->out[column]);
    cl_event event = NULL;
    CHECK(caromi_probe_resident(device, err));
    CHECK(scatter(device, slot->queue, &from, kind, &stream->residents->out[column], stream->out[column].stride, NULL,
                  slot->first, slot->count, &event, err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}

carom_status caromi_scatter_resident_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                          uint32_t column, uint32_t rows, carom_error *err)
{
    const uint32_t kind = stream->out_size[column] == 4 ? RESIDENT_WORDS : RESIDENT_BYTES;
    CHECK(caromi_probe_resident(device, err));
    return scatter(device, slot->queue, &slot->out[column].memory, kind, &stream->residents->out[column],
                   stream->out[column].stride, &slot->rows.memory, slot->first, rows, NULL, err);
}

/* ---- the probe --------------------------------------------------------------------------------------------------- */

enum { PROBE_ROWS = 100, PROBE_FIRST = 3, PROBE_STRIDE = 7, PROBE_LAST = 97, PROBE_BYTES = 6144 };

/* The probe gathers from an array of words 7 bytes apart, and an index behind it. Columns begin one byte apart; the
 * last one is a constant word. The rows of the first column are scattered to every second word, then as bytes, then in
 * reverse order by an index; the other columns follow. */
typedef struct resident_probe {
    uint8_t array[PROBE_BYTES], got[PROBE_BYTES], expected[PROBE_BYTES];
    cl_uint turned[PROBE_ROWS];
    cl_mem from, column[RESIDENT_COLUMNS], turn, to;
} resident_probe;
enum {
    PROBE_INDEX = 1001,                          /* byte at which the index begins in `array`, */
    PROBE_AT = 2,                                /* the first column in `array`, */
    PROBE_WORDS = 16,                            /* the scattered words in the result, */
    PROBE_ODD = 821,                             /* the same at an odd address, */
    PROBE_HITS = 1630,                           /* the scattered bytes, */
    PROBE_TURNED = 1832,                         /* the bytes in reverse order, */
    PROBE_MORE = 2048,                           /* and the other columns */
    PROBE_COLUMN = PROBE_ROWS * sizeof(cl_uint), /* bytes of a column */
    PROBE_WORD = 0x01fe02fd,                     /* the constant word, */
    PROBE_NAN = 0x7fc00000                       /* and that of rows beyond the last element */
};
_Static_assert((int)PROBE_MORE + (RESIDENT_COLUMNS - 1) * (int)PROBE_COLUMN <= (int)PROBE_BYTES, "room for columns");

/* Makes the arrays of the probe, and the expected results. */
static void make_probe(resident_probe *data)
{
    uint64_t state = 7;
    for (uint32_t i = 0; i < PROBE_BYTES; i++)
        data->array[i] = (uint8_t)caromi_probe_next(&state);
    for (uint32_t i = 0; i < PROBE_FIRST + PROBE_ROWS; i++) {
        const uint32_t element = (uint32_t)caromi_probe_next(&state) % PROBE_ROWS;
        memcpy(data->array + PROBE_INDEX + i * PROBE_STRIDE, &element, sizeof element);
    }
    memset(data->expected, 0, sizeof data->expected);
    for (uint32_t i = 0; i < PROBE_ROWS; i++) {
        uint32_t element;
        memcpy(&element, data->array + PROBE_INDEX + (PROBE_FIRST + i) * PROBE_STRIDE, sizeof element);
        for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++) {
            uint32_t word = k == RESIDENT_COLUMNS - 1 ? PROBE_WORD : PROBE_NAN;
            if (k < RESIDENT_COLUMNS - 1 && element <= PROBE_LAST)
                memcpy(&word, data->array + PROBE_AT + k + element * PROBE_STRIDE, sizeof word);
            memcpy(data->expected + (k == 0 ? PROBE_WORDS + i * 8 : PROBE_MORE + (k - 1) * PROBE_COLUMN + 4 * i), &word,
                   sizeof word);
        }
        memcpy(data->expected + PROBE_ODD + i * 8, data->expected + PROBE_WORDS + i * 8, 4);
    }
    for (uint32_t i = 0; i < PROBE_ROWS; i++) { /* as bytes: the first hundred bytes of the column */
        uint8_t byte;
        memcpy(&byte, data->expected + PROBE_WORDS + i / 4 * 8 + i % 4, 1);
        data->expected[PROBE_HITS + i * 2] = byte;
        data->expected[PROBE_HITS + i * 2 + 1] = byte == CAROM_INVALID ? CAROM_OVERLAP_INVALID : byte != CAROM_MISS;
        data->turned[i] = PROBE_ROWS - 1 - i;
        data->expected[PROBE_TURNED + data->turned[i] * 2] = byte;
    }
}

static carom_status scatter_probe(caromi_device *device, const resident_probe *data, uint32_t column, uint32_t kind,
                                  uint64_t at, size_t stride, const cl_mem *index, carom_error *err)
{
    const caromi_resident to = {data->to, at};
    return scatter(device, device->slots[0].queue, &data->column[column], kind, &to, stride, index, 0, PROBE_ROWS, NULL,
                   err);
}

/* Gathers and scatters on the device. */
static carom_status run_probe(caromi_device *device, resident_probe *data, carom_error *err)
{
    const cl_command_queue queue = device->slots[0].queue;
    const caromi_resident index = {data->from, PROBE_INDEX};
    gathered columns[RESIDENT_COLUMNS];
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++)
        columns[k] = (gathered){{data->from, PROBE_AT + k}, PROBE_STRIDE, 0, 0, data->column[k]};
    /* The last column is one word for all rows. */
    columns[RESIDENT_COLUMNS - 1].same = 1;
    columns[RESIDENT_COLUMNS - 1].from.at = PROBE_WORD;
    CHECK(caromi_write_at(device, queue, data->from, CAROMI_BEGIN, data->array, PROBE_BYTES, NULL, err));
    CHECK(caromi_write_at(device, queue, data->to, CAROMI_BEGIN, data->got, PROBE_BYTES, NULL, err));
    CHECK(caromi_write_at(device, queue, data->turn, CAROMI_BEGIN, data->turned, sizeof data->turned, NULL, err));
    /* Gathers all columns, then scatters them in each way. */
    CHECK(gather(device, queue, columns, RESIDENT_COLUMNS, &index, PROBE_STRIDE, PROBE_LAST, PROBE_FIRST, PROBE_ROWS,
                 PROBE_ROWS, NULL, err));
    CHECK(scatter_probe(device, data, 0, RESIDENT_WORDS, PROBE_WORDS, 8, NULL, err));
    CHECK(scatter_probe(device, data, 0, RESIDENT_WORDS, PROBE_ODD, 8, NULL, err));
    CHECK(scatter_probe(device, data, 0, RESIDENT_BYTES, PROBE_HITS, 2, NULL, err));
    CHECK(scatter_probe(device, data, 0, RESIDENT_HITS, PROBE_HITS + 1, 2, NULL, err));
    CHECK(scatter_probe(device, data, 0, RESIDENT_BYTES, PROBE_TURNED, 2, &data->turn, err));
    for (uint32_t k = 1; k < RESIDENT_COLUMNS; k++)
        CHECK(scatter_probe(device, data, k, RESIDENT_WORDS, PROBE_MORE + (k - 1) * PROBE_COLUMN, 4, NULL, err));
    return caromi_read(device, queue, data->to, CAROMI_BEGIN, data->got, PROBE_BYTES, CAROMI_WAIT, NULL, NULL, err);
}

/* Runs the probe, and compares its result. */
static carom_status probe(caromi_device *device, resident_probe *data, carom_error *err)
{
    make_probe(data);
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, PROBE_BYTES, NULL, &data->from, err));
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++)
        CHECK(
            caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, PROBE_COLUMN, NULL, &data->column[k], err));
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, sizeof data->turned, NULL, &data->turn, err));
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, PROBE_BYTES, NULL, &data->to, err));
    CHECK(run_probe(device, data, err));
    return caromi_probe_compare(device, CAROMI_PROGRAM_RESIDENT_SCATTER, PROBE_BYTES, 0, data->got, data->expected, 1,
                                err);
}

carom_status caromi_probe_resident(caromi_device *device, carom_error *err)
{
    caromi_program *last = &device->programs[CAROMI_PROGRAM_RESIDENT_SCATTER];
    if (last->probed)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_RESIDENT_GATHER, err));
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_RESIDENT_SCATTER, err));
    resident_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    carom_status status = probe(device, data, err);
    caromi_release_buffer(&data->from);
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++)
        caromi_release_buffer(&data->column[k]);
    caromi_release_buffer(&data->turn);
    caromi_release_buffer(&data->to);
    caromi_free(device->context, data);
    if (status == CAROM_OK)
        status = caromi_probe_values(device, err);
    last->probed = status == CAROM_OK;
    return status;
}

/* Builds and probes the gather and scatter programs, if the stream has columns that need them. */
carom_status caromi_prepare_residents(caromi_device *device, const caromi_stream *stream, carom_error *err)
{
    caromi_residents residents;
    return caromi_find_residents(device, stream, &residents) ? caromi_probe_resident(device, err) : CAROM_OK;
}
