/* SPDX-License-Identifier: MIT */
/* What the OpenCL files share: the open device, its programs, and the stream that carries columns through it. */
#ifndef CAROM_HOST_OPENCL_DEVICE_H
#define CAROM_HOST_OPENCL_DEVICE_H
#include <CL/cl.h>
#include <assert.h>

#include "driver.h"
#include "host/bvh/mesh_data.h"
#include "programs.h"
#include "verbs.h"

typedef struct caromi_program {
    cl_program program;
    cl_kernel kernel;
    int probed; /* its bits have been compared with the CPU's */
} caromi_program;

/* Memory for one column of a chunk, kept from chunk to chunk. */
typedef struct caromi_cl_column {
    cl_mem memory; /* what the kernel sees */
    cl_mem pinned; /* discrete devices: host memory that the device copies from at full speed */
    void *host;    /* pinned, mapped for good, or a part of a block; unified devices: memory, mapped while in use */
    size_t capacity;
    cl_mem direct; /* this chunk's: the caller's own array as a buffer, or NULL */
    int shared;    /* direct belongs to an earlier column with the same array */
} caromi_cl_column;

enum { CAROMI_BLOCK_LINE = 32 }; /* rows: a column of words in a block begins at a cache line of any device */

/* Columns of a chunk that cross the bus in one transfer: block.c. Their `host` lies in the block's memory on the host.
 */
typedef struct caromi_cl_block {
    caromi_cl_column memory;
    caromi_cl_column *column[COLUMNS_MAX];
    uint8_t size[COLUMNS_MAX]; /* bytes of a row */
    uint32_t count;
} caromi_cl_block;

enum { CAROMI_EVENTS_MAX = 2 * COLUMNS_MAX }; /* a map and an unmap each */

/* Events of a chunk by what they measure. */
typedef struct caromi_cl_events {
    cl_event event[CAROMI_EVENTS_MAX];
    uint32_t count;
} caromi_cl_events;

/* Memory of the query sort: each query's cell and its rank there, the cells' histogram, the sorted rows. */
enum { CAROMI_SORT_CELL, CAROMI_SORT_RANK, CAROMI_SORT_HISTOGRAM, CAROMI_SORT_ROW, CAROMI_SORT_COLUMNS };

/* Memory for compacted first hits: number per run, and the records, which are kernel arguments; and the number of
 * records, on its way to the host. */
enum {
    CAROMI_COMPACT_STARTS,
    CAROMI_COMPACT_RECORDS,
    CAROMI_COMPACT_COLUMNS,
    CAROMI_COMPACT_FOUND = CAROMI_COMPACT_COLUMNS,
    CAROMI_COMPACT_MEMORIES
};

/* A chunk in flight. Its queue is in order, so two slots are two chunks in flight. */
typedef struct caromi_cl_slot {
    cl_command_queue queue;
    caromi_cl_column in[COLUMNS_MAX], out[COLUMNS_MAX], sort[CAROMI_SORT_COLUMNS], compact[CAROMI_COMPACT_MEMORIES];
    caromi_cl_column rows;         /* an index of rows that exact mode left undecided */
    caromi_cl_block sent, fetched; /* discrete devices: what crosses the bus */
    caromi_cl_events upload, compute, download;
    uint64_t first, count; /* queries in flight, 0: idle */
    uint64_t padded;       /* count, filled up to whole groups of lanes where the kernels want that */
    int sorted;            /* the queries are sorted: a search takes them in the order of rows */
    int compacts;          /* records of hits are fetched instead of columns */
    cl_uint found;         /* number of records */
} caromi_cl_slot;

enum {
    CAROMI_SLOTS = 2,
    CAROMI_GROUP = 64,     /* most work-items of a group */
    CAROMI_SHARE_MAX = 256 /* most queries that a work-item searches for */
};

struct caromi_device {
    const carom_context *context;
    uint32_t place;      /* among the context's devices */
    uint32_t references; /* the context's and one per buffer */
    cl_device_id id;
    cl_context cl;
    int retained; /* the device itself too: the caller's */
    carom_device_info info;
    uint32_t lanes;
    uint64_t max_items; /* most work-items in a launch */
    int unified;        /* host and device share memory: columns are used where they lie */
    int gpu;
    int timed;                  /* the caller wants to know how long commands take */
    int probing;                /* a probe is one launch, whatever chunks the caller wants */
    int stack;                  /* entries of a search's stack in its programs */
    int vendor_options_refused; /* by the driver: programs are built without */
    int sort_unavailable;       /* the programs that sort queries could not be built */
    int compaction_unavailable; /* the programs that compact hits could not be built */
    int compaction_was_short;   /* memory for compaction was short once, which was logged */
    caromi_cl_slot slots[CAROMI_SLOTS];
    cl_mem empty_histogram; /* of the query sort: zeros */
    cl_mem inline_hits;     /* of a list: the first hits of each query; mesh_list.c, kept from batch to batch */
    caromi_program programs[CAROMI_PROGRAM_COUNT];
};

/* A device as the ICD loader lists it; select.c. */
typedef struct caromi_cl_found {
    cl_platform_id platform;
    cl_device_id id;
    uint32_t index;
    carom_device_info info;
} caromi_cl_found;

/* Before the first call to OpenCL of a context or a listing: fails in a child of a process that has made one;
 * process.c. */
carom_status caromi_claim_opencl(carom_error *err);
/* The device that `selector` names (NULL: the best). */
carom_status caromi_select_device(const carom_context *context, const char *selector, int gpu_only,
                                  caromi_cl_found *found, carom_error *err);

/* Any device; its number is UINT32_MAX. */
void caromi_describe_device(cl_device_id id, caromi_cl_found *out);
/* Open a device in the caller's cl_context, or in one of its own (NULL), for this place among the context's. */
carom_status caromi_device_start(const carom_context *context, uint32_t place, const caromi_cl_found *found,
                                 cl_context shared, caromi_device **out, carom_error *err);

/* Build a program once; program.c. */
carom_status caromi_program_build(caromi_device *device, uint32_t program, carom_error *err);
/* With one lane per work-item every work-item has a stack: the programs of searches have one as short as most meshes
 * need, until a mesh needs more. */
void caromi_fit_stack(caromi_device *device, const carom_mesh *mesh);
void caromi_programs_release(caromi_device *device);

/* Build a program and compare its bits with the CPU's, once; probe.c. */
carom_status caromi_probe_pairs(caromi_device *device, enum caromi_pair_kernel kernel, carom_error *err);
/* The programs of a mesh batch; the probe's own mesh lives in the context of the batch's. */
struct caromi_mesh_batch;
carom_status caromi_probe_mesh(caromi_device *device, const struct caromi_mesh_batch *batch, carom_error *err);
uint32_t caromi_batch_search_program(const struct caromi_mesh_batch *batch);
uint32_t caromi_batch_points_program(const struct caromi_mesh_batch *batch);
struct caromi_list_batch;
/* The program of such a batch. */
uint32_t caromi_list_program(const struct caromi_list_batch *batch);
carom_status caromi_probe_list(caromi_device *device, const struct caromi_list_batch *batch, carom_error *err);
/* Tests quotients and square roots of a device that does not promise correct rounding; rounding.c. */
carom_status caromi_probe_rounding(caromi_device *device, carom_error *err);

/* Memory of a buffer; buffer.c. */
struct caromi_device_memory {
    caromi_device *device;
    cl_mem memory;
    uint64_t offset; /* where the buffer begins there: 0 unless the memory is the caller's */
};
/* Around memory of the caller, which is retained. */
carom_status caromi_device_memory_wrap(caromi_device *device, cl_mem memory, uint64_t offset,
                                       caromi_device_memory **out, carom_error *err);

/* Where an array lies that stays on the device; memory NULL: it does not. */
typedef struct caromi_resident {
    cl_mem memory;
    uint64_t at;
} caromi_resident;
/* Of a stream's columns. */
typedef struct caromi_residents {
    caromi_resident in[COLUMNS_MAX], index[COLUMNS_MAX], out[COLUMNS_MAX];
} caromi_residents;

/* Exact mode where columns stay on the device: the host sees the marks, and answers the rows that the kernels have left
 * undecided. */
typedef struct caromi_undecided {
    /* Lists those among `count` rows; returns how many they are. marks[k]: values of output column mark[k], NULL if
     * that is CAROMI_NO_MARK. */
    uint32_t (*list)(const void *user, const void *const *marks, uint32_t count, uint32_t *rows);
    /* Answers `count` queries of such columns on the CPU. An output that is not asked for is NULL. */
    carom_status (*answer)(const carom_context *context, const void *user, const caromi_in_column *in,
                           const caromi_out_column *out, uint64_t count, carom_stats *stats, carom_error *err);
} caromi_undecided;
#define CAROMI_NO_MARK UINT32_MAX

/* Columns in, a launch, columns out; stream.c. */
typedef struct caromi_stream {
    uint64_t count;
    uint64_t chunk; /* most queries at a time */
    int takes_ends; /* kernels answer any number of queries; 0: whole groups of lanes */
    uint32_t in_count, out_count;
    const caromi_in_column *in;
    const caromi_out_column *out;
    uint8_t out_size[COLUMNS_MAX];
    /* Exact mode: settles what the kernels have left undecided among `count` delivered queries from `first` on.
     * marks[k] are their values in output column mark[k], which is fetched whether the caller wants it or not. rows:
     * the row of each query, or NULL if the rows are consecutive. Returns how many were settled. */
    uint64_t (*settle)(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first, size_t count);
    uint32_t mark[3], mark_count;
    const caromi_undecided *undecided; /* with `settle`, or in its place where all that is exact stays */
    /* Enqueue what turns the slot's inputs into its outputs. */
    carom_status (*launch)(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err);
    const void *user;
    /* Hooks, NULL if a stream has none. */
    /* Fails if values of output column mark[0], `stride` bytes apart, cannot be answers; they are `count` among those
     * of queries [first, end). */
    carom_status (*check)(const caromi_device *device, const void *user, const void *values, size_t stride,
                          uint64_t count, uint64_t first, uint64_t end, carom_error *err);
    /* Whether this chunk is compacted: its answers are fetched as records instead of columns. Called before the launch;
     * if so, `fetch` is enqueued behind the launch, and `deliver` writes what has arrived. */
    int (*compacts)(caromi_device *device, const struct caromi_stream *stream, caromi_cl_slot *slot);
    carom_status (*fetch)(caromi_device *device, const struct caromi_stream *stream, caromi_cl_slot *slot,
                          carom_error *err);
    carom_status (*deliver)(caromi_device *device, const struct caromi_stream *stream, caromi_cl_slot *slot,
                            carom_stats *stats, carom_error *err);
    uint32_t extra;          /* bytes on the device that launch and hooks take for each query, beside the columns */
    uint32_t states_as_hits; /* number of an output column, plus 1: states, of which the caller reads whether they are
                                hits; it must be resident. 0: none */
    const caromi_residents *residents; /* of the stream that runs; NULL: none */
} caromi_stream;

/* Arrays that stay on the device; resident.c. Whether this one does. */
int caromi_is_resident(const caromi_device *device, const void *base);
/* Which of a stream's do; 0: none. */
int caromi_find_residents(const caromi_device *device, const caromi_stream *stream, caromi_residents *out);
/* Whether a column does; an input that is one word of the program over and over goes along as an argument. */
static inline int caromi_input_stays(const caromi_stream *s, uint32_t column)
{
    return s->residents != NULL && (s->residents->in[column].memory != NULL || s->in[column].stride == 0);
}
static inline int caromi_output_stays(const caromi_stream *s, uint32_t column)
{
    return s->residents != NULL && s->residents->out[column].memory != NULL;
}
/* Whether all inputs do; all answers that the caller wants. */
int caromi_inputs_stay(const caromi_stream *stream);
int caromi_answers_stay(const caromi_stream *stream);
/* Set a column's `direct` to the array itself if the kernels can use it there. */
void caromi_place_resident_input(const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column);
void caromi_place_resident_output(const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column);
/* Enqueue the copies from arrays to the slot's columns, or back. */
carom_status caromi_gather_residents(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     const uint32_t *columns, uint32_t count, carom_error *err);
carom_status caromi_scatter_resident(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     uint32_t column, carom_error *err);
/* The same for so many rows, whose index the slot has: from an array, relative to the chunk or, if the column is
 * indexed, elements of the array; and to one, relative to the chunk. They are enqueued. */
carom_status caromi_gather_resident_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                         uint32_t column, uint32_t rows, carom_error *err);
carom_status caromi_scatter_resident_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                          uint32_t column, uint32_t rows, carom_error *err);
/* Answer these rows of a chunk that is done; undecided.c. */
carom_status caromi_answer_undecided(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     const uint32_t *rows, uint32_t count, carom_stats *stats, carom_error *err);
carom_status caromi_probe_resident(caromi_device *device, carom_error *err);
/* The same if a stream has columns for it. */
carom_status caromi_prepare_residents(caromi_device *device, const caromi_stream *stream, carom_error *err);

/* Answer queries [*done, count). If there is none, prepares. */
carom_status caromi_stream_run(caromi_device *device, const caromi_stream *stream, uint64_t *done, carom_stats *stats,
                               carom_error *err);
/* The slots' memory; slot.c. A chunk is over: its events and the buffers over the caller's arrays go, the slot's own
 * memory stays. */
void caromi_slot_retire(caromi_cl_slot *slot);
void caromi_slot_release(const caromi_device *device, caromi_cl_slot *slot);
/* Frees the memory of idle slots. */
void caromi_columns_release(caromi_device *device);
/* Memory of the slot's own for `bytes` of a column; with a way for the host to reach it if `reached`. */
carom_status caromi_reserve(caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column, size_t bytes,
                            int reached, carom_error *err);
/* A block's next column, with `size` bytes a row; host memory for all columns; the transfer to their memory on the
 * device, or from there. A block without columns is none; block.c. */
void caromi_block_add(caromi_cl_block *block, caromi_cl_column *column, uint8_t size);
carom_status caromi_block_place(caromi_device *device, caromi_cl_slot *slot, caromi_cl_block *block, carom_error *err);
carom_status caromi_block_send(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block,
                               carom_error *err);
carom_status caromi_block_fetch(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block,
                                carom_error *err);
/* Enqueue the sort of the slot's queries along a mesh, if that pays; query_sort.c. columns: of a query, 3 for the
 * centre, or CAROMI_MESH_IN. */
carom_status caromi_sort_chunk(caromi_device *device, caromi_cl_slot *slot, const carom_mesh *mesh, int columns,
                               int options, carom_error *err);
/* Bytes that the sort takes for each query. */
static inline uint32_t caromi_sort_chunk_bytes(const caromi_device *device)
{
    return device->lanes == 1 ? CAROMI_SORT_COLUMNS * (uint32_t)sizeof(cl_uint) : 0;
}

/* Replace `kinds` counts by their exclusive prefix sums, and store the sum of all behind them. */
carom_status caromi_prefix_sum(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_column *counts,
                               cl_uint kinds, carom_error *err);

/* Output columns of a first hit. */
enum {
    CAROMI_HIT_TRIANGLE,
    CAROMI_HIT_STATE,
    CAROMI_HIT_T,
    CAROMI_HIT_FIRST,
    CAROMI_HIT_CONTACT = CAROMI_HIT_FIRST + OUT_CONTACT
};
static inline uint8_t caromi_hit_size(uint32_t column)
{
    return column == CAROMI_HIT_STATE || column == CAROMI_HIT_FIRST + OUT_FEATURE ? 1 : 4;
}
/* Set the hooks of a stream of first hits, its outputs set, of which the caller reads only hits; compact.c. */
void caromi_compact_stream(caromi_stream *stream);
/* Build and probe the programs for it. */
carom_status caromi_probe_compact(caromi_device *device, carom_error *err);

static inline void caromi_add_event(caromi_cl_events *events, cl_event event)
{
    assert(events->count < CAROMI_EVENTS_MAX);
    if (event != NULL)
        events->event[events->count++] = event;
}

/* No arguments of a program's kernel yet. */
static inline caromi_arguments caromi_arguments_of(const caromi_device *device, uint32_t program)
{
    return (caromi_arguments){.kernel = device->programs[program].kernel, .code = CL_SUCCESS};
}

static inline cl_mem caromi_column_memory(const caromi_cl_column *column)
{
    return column->direct ? column->direct : column->memory;
}

/* Columns as a kernel's next arguments; program.c, as what follows. */
void caromi_set_columns(caromi_arguments *arguments, const caromi_cl_column *columns, uint32_t count);
/* Launch a kernel on a slot's queue, as part of its chunk; `items` is its last argument. */
carom_status caromi_launch_chunk(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                 uint64_t items, carom_error *err);
/* Likewise all `items` in one group, or in as few as the device allows. */
carom_status caromi_launch_group(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                 uint64_t items, carom_error *err);
/* Likewise a search through a mesh. With lanes each work-item is a group of its own: it follows many queries by
 * turns, and PoCL keeps the stacks of a whole group on that of one thread. */
carom_status caromi_launch_search(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                  uint64_t items, carom_error *err);

/* For an exact batch on a device without binary64: does nothing on the device, so that the CPU answers. */
carom_status caromi_lacks_fp64(const caromi_device *device, carom_stats *stats);

/* Streams that do not probe their programs first. The probe itself uses them; then nothing is settled in integers. */
carom_status caromi_stream_pairs(caromi_device *device, const caromi_pair_batch *batch, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err);
carom_status caromi_stream_mesh(caromi_device *device, const struct caromi_mesh_batch *batch, uint64_t end,
                                uint64_t *done, carom_stats *stats, carom_error *err);
carom_status caromi_stream_list(caromi_device *device, const struct caromi_list_batch *batch, uint64_t end,
                                uint64_t *done, carom_stats *stats, carom_error *err);
/* A list keeps this memory on the device for the next one. */
void caromi_inline_hits_release(caromi_device *device);
/* A mesh's copy on the device, made when it is first used; mesh.c. */
carom_status caromi_upload_mesh(caromi_device *device, carom_mesh *mesh, carom_error *err);
/* The error for a device that returned impossible numbers. Such indices would lead outside the arrays. */
carom_status caromi_fail_corrupt(const caromi_device *d, const char *what, uint64_t first, uint64_t end,
                                 carom_error *err);
/* The error for a device that ended a loop too early: mesh_run_is_truncated. */
carom_status caromi_fail_truncated(const caromi_device *d, uint64_t first, uint64_t end, carom_error *err);
/* Runs a stream of queries of a mesh, which is uploaded first if necessary. */
carom_status caromi_stream_past(caromi_device *d, carom_mesh *mesh, const caromi_stream *s, uint64_t *done,
                                carom_stats *stats, carom_error *err);
/* Set the arguments that every search through an uploaded mesh has: for `count` queries, by so many of the slot's
 * columns, and column `mask` if the options say that the queries have masks. Returns for how many work-items. */
uint64_t caromi_set_search(const caromi_device *d, const caromi_cl_slot *slot, caromi_arguments *arguments,
                           const carom_mesh *mesh, int options, uint64_t count, uint32_t columns, uint32_t mask);
/* What a search for contacts has beside an uploaded mesh, for queries that have masks or not: uploaded when it is first
 * used; and as arguments. */
carom_status caromi_upload_edges(caromi_device *device, carom_mesh *mesh, int have_masks, carom_error *err);
void caromi_set_edges(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh, int have_masks);
/* The room in an uploaded mesh. */
void caromi_set_clearance(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh);
/* Its vertices, indices and the number of triangles. */
void caromi_set_triangles(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh);
#endif
