/* SPDX-License-Identifier: MIT */
/* Columns of a stream that stay on the device: in carom buffers on a device with memory of its own, or in the caller's
 * cl_mem. A contiguous array at the beginning of its buffer is used in place. From any other array a kernel gathers the
 * chunk's rows into the slot's column, and another scatters answers to their rows (kernels/resident.cl). These columns
 * never cross the bus. */
#include <string.h>

#include "host/core/buffer.h"
#include "host/core/staging.h"
#include "probe.h"

/* ---- locations of columns ---------------------------------------------------------------------------------------- */

static caromi_resident place_of(const caromi_device *d, const void *base)
{
    const carom_buffer *b = caromi_resident_buffer(d->context, base);
    return b != NULL && b->store->device == d
               ? (caromi_resident){b->store->memory, b->store->offset + (uint64_t)((const char *)base - b->base)}
               : (caromi_resident){NULL, 0};
}

int caromi_is_resident(const caromi_device *d, const void *base)
{
    return place_of(d, base).memory != NULL;
}

int caromi_find_residents(const caromi_device *d, const caromi_stream *s, caromi_residents *out)
{
    int some = 0;
    if (caromi_staging_held(d->context) == 0 || d->probing)
        return 0;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < s->in_count; i++) {
        out->in[i] = place_of(d, s->in[i].base);
        out->index[i] = place_of(d, s->in[i].index.base);
        some |= out->in[i].memory != NULL;
    }
    for (uint32_t i = 0; i < s->out_count; i++) {
        out->out[i] = place_of(d, s->out[i].base);
        some |= out->out[i].memory != NULL;
    }
    return some;
}

int caromi_inputs_stay(const caromi_stream *s)
{
    int stay = 1;
    for (uint32_t i = 0; i < s->in_count; i++)
        stay &= caromi_input_stays(s, i);
    return stay;
}

int caromi_answers_stay(const caromi_stream *s)
{
    int stay = 1;
    for (uint32_t i = 0; i < s->out_count; i++)
        stay &= s->out[i].base == NULL || caromi_output_stays(s, i);
    return stay;
}

/* ---- columns used in place --------------------------------------------------------------------------------------- */

/* Uses a whole buffer in place. Sub-buffers would serve arrays that begin elsewhere, but crash NVIDIA's driver 580.159
 * when they are released. */
static void try_whole(const caromi_cl_slot *slot, const caromi_resident *from, caromi_cl_column *c)
{
    if (from->memory == NULL || from->at != 0 || slot->first != 0 || slot->padded != slot->count)
        return;
    c->direct = from->memory;
    c->shared = 1; /* the buffer owns the memory */
}

void caromi_place_resident_input(const caromi_stream *s, caromi_cl_slot *slot, uint32_t column)
{
    if (s->in[column].index.base == NULL && s->in[column].stride == sizeof(float))
        try_whole(slot, &s->residents->in[column], &slot->in[column]);
}

void caromi_place_resident_output(const caromi_stream *s, caromi_cl_slot *slot, uint32_t column)
{
    if (s->out[column].stride == s->out_size[column] && s->states_as_hits != column + 1)
        try_whole(slot, &s->residents->out[column], &slot->out[column]);
}

/* ---- columns that are copied ------------------------------------------------------------------------------------- */

static void set_ulong(caromi_arguments *a, uint64_t value)
{
    const cl_ulong argument = value;
    caromi_set_argument(a, &argument, sizeof argument);
}

static void set_uint(caromi_arguments *a, uint64_t value)
{
    const cl_uint argument = (cl_uint)value;
    caromi_set_argument(a, &argument, sizeof argument);
}

static void set_place(caromi_arguments *a, const caromi_resident *place, size_t stride)
{
    caromi_set_argument(a, &place->memory, sizeof place->memory);
    set_ulong(a, place->at);
    set_ulong(a, stride);
}

/* A column to gather. If one word serves all rows, `from.at` holds that word instead of an address. */
typedef struct gathered {
    caromi_resident from;
    size_t stride;
    int same;
    cl_mem to;
} gathered;

/* Enqueues the gather of at most RESIDENT_COLUMNS columns with a common index; NULL: consecutive rows. Writes `padded`
 * rows, of which `rows` are elements from `first` on. */
static carom_status gather(caromi_device *d, cl_command_queue queue, const gathered *columns, uint32_t count,
                           const caromi_resident *index, size_t index_stride, uint64_t first, uint64_t rows,
                           uint64_t padded, cl_event *event, carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_RESIDENT_GATHER);
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++) {
        const gathered *c = &columns[k < count ? k : 0];
        set_place(&a, &c->from, c->stride);
        set_uint(&a, c->same ? RESIDENT_SAME : RESIDENT_ELEMENT);
        caromi_set_argument(&a, &c->to, sizeof c->to);
    }
    set_uint(&a, count);
    set_place(&a, index != NULL ? index : &columns[0].from, index_stride); /* any memory: it is not read */
    set_uint(&a, index != NULL ? RESIDENT_INDEXED : RESIDENT_ELEMENT);
    set_ulong(&a, first);
    set_uint(&a, rows);
    return caromi_launch(d, queue, &a, padded, CAROMI_GROUP, event, err);
}

static gathered gathered_of(const caromi_stream *s, const caromi_cl_slot *slot, uint32_t column)
{
    const caromi_in_column *c = &s->in[column];
    gathered g = {s->residents->in[column], c->stride, 0, slot->in[column].memory};
    if (g.from.memory == NULL) {
        uint32_t word;
        memcpy(&word, c->base, sizeof word);
        g = (gathered){{g.to, word}, 0, 1, g.to}; /* any memory: it is not read */
    }
    return g;
}

static int has_index(const caromi_stream *s, uint32_t column)
{
    return s->residents->in[column].memory != NULL && s->in[column].index.base != NULL;
}

/* Whether two columns can be gathered by one launch. */
static int go_together(const caromi_stream *s, uint32_t a, uint32_t b)
{
    const caromi_index *i = &s->in[a].index, *k = &s->in[b].index;
    return has_index(s, a) == has_index(s, b) && (!has_index(s, a) || (i->base == k->base && i->stride == k->stride));
}

carom_status caromi_gather_residents(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot,
                                     const uint32_t *columns, uint32_t count, carom_error *err)
{
    if (count > 0)
        CHECK(caromi_probe_resident(d, err));
    for (uint32_t from = 0, n; from < count; from += n) {
        const uint32_t first = columns[from];
        gathered together[RESIDENT_COLUMNS];
        cl_event event = NULL;
        for (n = 0; n < RESIDENT_COLUMNS && from + n < count && go_together(s, first, columns[from + n]); n++)
            together[n] = gathered_of(s, slot, columns[from + n]);
        const caromi_resident *index = has_index(s, first) ? &s->residents->index[first] : NULL;
        assert(index == NULL || index->memory != NULL);
        CHECK(gather(d, slot->queue, together, n, index, s->in[first].index.stride, slot->first, slot->count,
                     slot->padded, &event, err));
        caromi_add_event(&slot->upload, event);
    }
    return CAROM_OK;
}

carom_status caromi_gather_resident_rows(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot,
                                         uint32_t column, uint32_t rows, carom_error *err)
{
    const caromi_in_column *c = &s->in[column];
    const caromi_resident index = {slot->rows.memory, 0};
    gathered g = gathered_of(s, slot, column);
    CHECK(caromi_probe_resident(d, err));
    g.from.at +=
        c->index.base == NULL ? slot->first * c->stride : 0; /* with an index, its values are elements of the array */
    return gather(d, slot->queue, &g, 1, &index, sizeof(cl_uint), 0, rows, rows, NULL, err);
}

/* Enqueues the scatter of a column. index: NULL if the rows are consecutive. */
static carom_status scatter(caromi_device *d, cl_command_queue queue, const cl_mem *from, uint32_t kind,
                            const caromi_resident *to, size_t stride, const cl_mem *index, uint64_t first,
                            uint64_t rows, cl_event *event, carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_RESIDENT_SCATTER);
    caromi_set_argument(&a, from, sizeof *from);
    set_uint(&a, kind);
    set_place(&a, to, stride);
    caromi_set_argument(&a, index != NULL ? index : from, sizeof *from); /* any memory: it is not read */
    set_uint(&a, index != NULL ? RESIDENT_INDEXED : RESIDENT_ELEMENT);
    set_ulong(&a, first);
    return caromi_launch(d, queue, &a, rows, CAROMI_GROUP, event, err);
}

carom_status caromi_scatter_resident(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, uint32_t column,
                                     carom_error *err)
{
    const uint32_t kind = s->out_size[column] == 4          ? RESIDENT_WORDS
                          : s->states_as_hits == column + 1 ? RESIDENT_HITS
                                                            : RESIDENT_BYTES;
    const cl_mem from = caromi_column_memory(&slot->out[column]);
    cl_event event = NULL;
    CHECK(caromi_probe_resident(d, err));
    CHECK(scatter(d, slot->queue, &from, kind, &s->residents->out[column], s->out[column].stride, NULL, slot->first,
                  slot->count, &event, err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}

carom_status caromi_scatter_resident_rows(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot,
                                          uint32_t column, uint32_t rows, carom_error *err)
{
    const uint32_t kind = s->out_size[column] == 4 ? RESIDENT_WORDS : RESIDENT_BYTES;
    CHECK(caromi_probe_resident(d, err));
    return scatter(d, slot->queue, &slot->out[column].memory, kind, &s->residents->out[column], s->out[column].stride,
                   &slot->rows.memory, slot->first, rows, NULL, err);
}

/* ---- the probe --------------------------------------------------------------------------------------------------- */

enum { PROBE_ROWS = 100, PROBE_FIRST = 3, PROBE_STRIDE = 7, PROBE_BYTES = 6144 };

/* The probe gathers from an array of words 7 bytes apart, and an index behind it. Columns begin one byte apart; the
 * last one is a constant word. The rows of the first column are scattered to every second word, then as bytes, then in
 * reverse order by an index; the other columns follow. */
typedef struct resident_probe {
    uint8_t array[PROBE_BYTES], got[PROBE_BYTES], expected[PROBE_BYTES];
    cl_uint turned[PROBE_ROWS];
    cl_mem from, column[RESIDENT_COLUMNS], turn, to;
} resident_probe;
enum {
    PROBE_INDEX = 1001,
    PROBE_AT = 2,
    PROBE_WORDS = 16,
    PROBE_ODD = 821,
    PROBE_HITS = 1630,
    PROBE_TURNED = 1832,
    PROBE_MORE = 2048,
    PROBE_COLUMN = PROBE_ROWS * sizeof(cl_uint),
    PROBE_WORD = 0x01fe02fd
};
_Static_assert((int)PROBE_MORE + (RESIDENT_COLUMNS - 1) * (int)PROBE_COLUMN <= (int)PROBE_BYTES, "room for columns");

static void make_probe(resident_probe *p)
{
    uint64_t state = 7;
    for (uint32_t i = 0; i < PROBE_BYTES; i++)
        p->array[i] = (uint8_t)caromi_probe_next(&state);
    for (uint32_t i = 0; i < PROBE_FIRST + PROBE_ROWS; i++) {
        const uint32_t element = (uint32_t)caromi_probe_next(&state) % PROBE_ROWS;
        memcpy(p->array + PROBE_INDEX + i * PROBE_STRIDE, &element, sizeof element);
    }
    memset(p->expected, 0, sizeof p->expected);
    for (uint32_t i = 0; i < PROBE_ROWS; i++) {
        uint32_t element;
        memcpy(&element, p->array + PROBE_INDEX + (PROBE_FIRST + i) * PROBE_STRIDE, sizeof element);
        memcpy(p->expected + PROBE_WORDS + i * 8, p->array + PROBE_AT + element * PROBE_STRIDE, 4);
        memcpy(p->expected + PROBE_ODD + i * 8, p->array + PROBE_AT + element * PROBE_STRIDE, 4);
        for (uint32_t k = 1; k < RESIDENT_COLUMNS; k++) {
            const uint32_t word = PROBE_WORD;
            memcpy(p->expected + PROBE_MORE + (k - 1) * PROBE_COLUMN + 4 * i,
                   k < RESIDENT_COLUMNS - 1 ? (const void *)(p->array + PROBE_AT + k + element * PROBE_STRIDE) : &word,
                   4);
        }
    }
    for (uint32_t i = 0; i < PROBE_ROWS; i++) { /* as bytes: the first hundred bytes of the column */
        uint8_t byte;
        memcpy(&byte, p->expected + PROBE_WORDS + i / 4 * 8 + i % 4, 1);
        p->expected[PROBE_HITS + i * 2] = byte;
        p->expected[PROBE_HITS + i * 2 + 1] = byte == CAROM_INVALID ? CAROM_OVERLAP_INVALID : byte != CAROM_MISS;
        p->turned[i] = PROBE_ROWS - 1 - i;
        p->expected[PROBE_TURNED + p->turned[i] * 2] = byte;
    }
}

static carom_status scatter_probe(caromi_device *d, const resident_probe *p, uint32_t column, uint32_t kind,
                                  uint64_t at, size_t stride, const cl_mem *index, carom_error *err)
{
    const caromi_resident to = {p->to, at};
    return scatter(d, d->slots[0].queue, &p->column[column], kind, &to, stride, index, 0, PROBE_ROWS, NULL, err);
}

static carom_status run_probe(caromi_device *d, resident_probe *p, carom_error *err)
{
    const cl_command_queue queue = d->slots[0].queue;
    const caromi_resident index = {p->from, PROBE_INDEX};
    gathered columns[RESIDENT_COLUMNS];
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++)
        columns[k] = (gathered){{p->from, PROBE_AT + k}, PROBE_STRIDE, 0, p->column[k]};
    columns[RESIDENT_COLUMNS - 1].same = 1;
    columns[RESIDENT_COLUMNS - 1].from.at = PROBE_WORD;
    CHECK(caromi_write_at(d, queue, p->from, 0, p->array, PROBE_BYTES, NULL, err));
    CHECK(caromi_write_at(d, queue, p->to, 0, p->got, PROBE_BYTES, NULL, err));
    CHECK(caromi_write_at(d, queue, p->turn, 0, p->turned, sizeof p->turned, NULL, err));
    CHECK(gather(d, queue, columns, RESIDENT_COLUMNS, &index, PROBE_STRIDE, PROBE_FIRST, PROBE_ROWS, PROBE_ROWS, NULL,
                 err));
    CHECK(scatter_probe(d, p, 0, RESIDENT_WORDS, PROBE_WORDS, 8, NULL, err));
    CHECK(scatter_probe(d, p, 0, RESIDENT_WORDS, PROBE_ODD, 8, NULL, err));
    CHECK(scatter_probe(d, p, 0, RESIDENT_BYTES, PROBE_HITS, 2, NULL, err));
    CHECK(scatter_probe(d, p, 0, RESIDENT_HITS, PROBE_HITS + 1, 2, NULL, err));
    CHECK(scatter_probe(d, p, 0, RESIDENT_BYTES, PROBE_TURNED, 2, &p->turn, err));
    for (uint32_t k = 1; k < RESIDENT_COLUMNS; k++)
        CHECK(scatter_probe(d, p, k, RESIDENT_WORDS, PROBE_MORE + (k - 1) * PROBE_COLUMN, 4, NULL, err));
    return caromi_read(d, queue, p->to, 0, p->got, PROBE_BYTES, 1, NULL, NULL, err);
}

static carom_status probe(caromi_device *d, resident_probe *p, carom_error *err)
{
    make_probe(p);
    CHECK(caromi_make_buffer(d, "the bit probe", CL_MEM_READ_WRITE, PROBE_BYTES, NULL, &p->from, err));
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++)
        CHECK(caromi_make_buffer(d, "the bit probe", CL_MEM_READ_WRITE, PROBE_COLUMN, NULL, &p->column[k], err));
    CHECK(caromi_make_buffer(d, "the bit probe", CL_MEM_READ_WRITE, sizeof p->turned, NULL, &p->turn, err));
    CHECK(caromi_make_buffer(d, "the bit probe", CL_MEM_READ_WRITE, PROBE_BYTES, NULL, &p->to, err));
    CHECK(run_probe(d, p, err));
    return caromi_probe_compare(d, CAROMI_PROGRAM_RESIDENT_SCATTER, PROBE_BYTES, 0, p->got, p->expected, 1, err);
}

carom_status caromi_probe_resident(caromi_device *d, carom_error *err)
{
    caromi_program *last = &d->programs[CAROMI_PROGRAM_RESIDENT_SCATTER];
    if (last->probed)
        return CAROM_OK;
    CHECK(caromi_program_build(d, CAROMI_PROGRAM_RESIDENT_GATHER, err));
    CHECK(caromi_program_build(d, CAROMI_PROGRAM_RESIDENT_SCATTER, err));
    resident_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    memset(p, 0, sizeof *p);
    const carom_status status = probe(d, p, err);
    caromi_release_buffer(&p->from);
    for (uint32_t k = 0; k < RESIDENT_COLUMNS; k++)
        caromi_release_buffer(&p->column[k]);
    caromi_release_buffer(&p->turn);
    caromi_release_buffer(&p->to);
    last->probed = status == CAROM_OK;
    caromi_free(d->context, p);
    return status;
}

carom_status caromi_prepare_residents(caromi_device *d, const caromi_stream *s, carom_error *err)
{
    caromi_residents residents;
    return caromi_find_residents(d, s, &residents) ? caromi_probe_resident(d, err) : CAROM_OK;
}
