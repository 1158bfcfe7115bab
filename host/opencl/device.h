/* SPDX-License-Identifier: MIT */
/* The common declarations of this folder: the open device, its programs, and the stream of chunks.
 *
 * How a batch is answered on a device, in order:
 *
 *   1. mesh.c, pairs.c, cloud.c   describe the batch as a caromi_stream: input columns, output columns, launch
 *   2. probe.c, probe_mesh.c      build the program (program.c) and compare its bits with the CPU's, before its use
 *   3. mesh_copy.c                caromi_upload_mesh: copies the mesh to the device, once
 *   4. stream.c                   caromi_stream_run: cuts the batch into chunks. Two slots form a ring buffer: while
 *                                 one chunk computes, the next one is uploaded and the one before downloaded
 *   5. chunk.c                    for each chunk: place_input gathers the inputs into staging memory, or uses the
 *                                 caller's array in place
 *        block.c                  packs the columns into one transfer (devices with memory of their own)
 *        query_sort.c             sorts the queries along the mesh, on the device
 *        launch                   the stream's callback: enqueues the kernels
 *        compact.c                drops queries without a hit before the download
 *        fetch_outputs            downloads the outputs
 *        check                    the stream's callback: refuses impossible answers of a faulty device
 *        scatter                  scatters the outputs to the caller's rows
 *        resolve                  the stream's callback: decides undecided rows in integers, on the CPU
 *   6. stream.c                   abandon: after a failure, waits for all commands; the CPU continues at *done
 *
 * resident.c: columns that stay on the device, in buffers of the caller. undecided.c: exact mode for these.
 * mesh_list.h: lists of hits, in two passes; mesh_rows.h: the same where their arrays stay. events.c, share.c: the
 * caller's own OpenCL objects. */
#ifndef CAROM_HOST_OPENCL_DEVICE_H
#define CAROM_HOST_OPENCL_DEVICE_H
#include <CL/cl.h>

#include "calls/mesh.h"
#include "driver.h"
#include "host/bvh/mesh_data.h"
#include "programs.h"
#include "slot.h"
#include "verbs.h"

/* A built program. */
typedef struct caromi_program {
    cl_program program;
    cl_kernel kernel;
    int probed;     /* not 0: its bits have been compared with the CPU's; of a search, for each use apart */
    uint32_t items; /* work-items of a group that share queries; 0: each has its own */
    int is_alone;   /* what is shared failed a probe or was not built: items stays 0 */
} caromi_program;

enum {
    CAROMI_SLOTS = 2,
    CAROMI_GROUP = 64,     /* most work-items of a group */
    CAROMI_SHARE_MAX = 256 /* most queries that a work-item searches for */
};

/* Memory of clouds that a GPU sorts by itself (grid.c), in the order of its making. */
enum {
    CAROMI_GRID_SPHERES, /* centre and reach of each sphere, by index */
    CAROMI_GRID_FILTERS, /* mask and group of each */
    CAROMI_GRID_MOTIONS, /* in motion: velocity and limit of each, and a ball around its way in a slice */
    CAROMI_GRID_BALLS,
    CAROMI_GRID_DRAWN,   /* limits of all spheres, and a sample of these */
    CAROMI_GRID_MEETING, /* pairs that may meet in a slice, and whether the spheres part */
    CAROMI_GRID_PARTS,
    CAROMI_GRID_HITS, /* of all slices */
    CAROMI_GRID_HIT_T,
    CAROMI_GRID_HIT_STATES,
    CAROMI_GRID_SPARE,   /* of a list of hits that grows */
    CAROMI_GRID_SOONEST, /* time of each first partner, and its state */
    CAROMI_GRID_PARTNER_STATES,
    CAROMI_GRID_MEASURE,
    CAROMI_GRID_PLAN,
    CAROMI_GRID_BUCKETS, /* of each sphere, and its rank in the bucket; later lists of unfinished searches */
    CAROMI_GRID_RANKS,
    CAROMI_GRID_STARTS, /* spheres before each bucket */
    CAROMI_GRID_SUMS,   /* of tiles, in a prefix sum */
    CAROMI_GRID_SORTED, /* spheres in the order of cells, their indices and filters */
    CAROMI_GRID_INDICES,
    CAROMI_GRID_SORTED_FILTERS,
    CAROMI_GRID_COUNTS, /* pairs of each sphere, by index */
    CAROMI_GRID_OFFSETS,
    CAROMI_GRID_UNDECIDED, /* slots of each undecided pair, and the solver's answers */
    CAROMI_GRID_GATHERED,
    CAROMI_GRID_T,
    CAROMI_GRID_STATES,
    CAROMI_GRID_TOTALS,
    CAROMI_GRID_KEYS, /* stored pairs in no order, and sphere a of each */
    CAROMI_GRID_OF,
    CAROMI_GRID_LONG,                                 /* spheres with long rows of pairs */
    CAROMI_GRID_COUNTER,                              /* of undecided depths; whether an earlier list descends */
    CAROMI_GRID_BY_PARTNER,                           /* keys of stored pairs in motion, for that search */
    CAROMI_GRID_FOUND,                                /* of each pair, its number in an earlier list */
    CAROMI_GRID_COLUMN,                               /* columns of a list that are read back */
    CAROMI_GRID_PAIR_COLUMN = CAROMI_GRID_COLUMN + 5, /* depth and normal */
    CAROMI_GRID_PREVIOUS = CAROMI_GRID_PAIR_COLUMN + 4,
    CAROMI_GRID_BEFORE, /* copies of an earlier list's columns */
    CAROMI_GRID_MEMORIES = CAROMI_GRID_BEFORE + 3
};

/* Memory of bundles whose arrays stay on the device (bundle.c). */
enum {
    CAROMI_BUNDLE_LEFT, /* numbers of the bundles that are left, before a round and after it */
    CAROMI_BUNDLE_REMAINING,
    CAROMI_BUNDLE_COUNTER, /* numbers of both */
    CAROMI_BUNDLE_RANK,    /* of each bundle; the number of the query that has its answer */
    CAROMI_BUNDLE_BEST,
    CAROMI_BUNDLE_OWN,    /* rank of each query of a round */
    CAROMI_BUNDLE_NUMBER, /* the round's queries */
    CAROMI_BUNDLE_SHOWN,  /* from here on what the stream of a round reads and writes */
    CAROMI_BUNDLE_ELEMENT = CAROMI_BUNDLE_SHOWN,
    CAROMI_BUNDLE_LIMIT,
    CAROMI_BUNDLE_ANSWER, /* columns of answers; of any hits one */
    CAROMI_BUNDLE_MEMORIES = CAROMI_BUNDLE_ANSWER + CAROMI_ANSWERS
};

struct caromi_device {
    const carom_context *context;
    uint32_t place;      /* index among the context's devices */
    uint32_t references; /* the context's, and one for each buffer */
    cl_device_id id;
    cl_context cl;
    int retained; /* the cl_device_id is retained too, as it is the caller's */
    carom_device_info info;
    uint32_t lanes;
    uint64_t max_items; /* most work-items of a launch */
    uint64_t max_group; /* most work-items of a group */
    unsigned lacking;   /* abilities that it has given up */
    int unified;        /* host and device share memory: columns are used in place */
    uint32_t items;     /* work-items of a group that share the queries of a search; 0: they do not */
    int gpu;
    int timed;                  /* the caller wants the times of commands */
    int probing;                /* a probe is running: it is one launch, whatever chunk size the caller wants */
    int stack;                  /* entries of the traversal stack in the programs of searches */
    int vendor_options_refused; /* the driver refuses vendor options: programs are built without them */
    int sort_unavailable;       /* the programs that sort queries could not be built */
    int compaction_unavailable; /* the programs that compact hits could not be built */
    int compaction_was_short;   /* there was no memory for compaction once; it is logged only once */
    caromi_cl_slot slots[CAROMI_SLOTS];
    cl_mem checked;                                   /* RESIDENT_CHECK_WORDS words of checks. values.c */
    int checked_is_clear;                             /* no check has left a row there */
    cl_mem empty_histogram;                           /* zeros, from which the query sort clears its histogram */
    caromi_cl_column grid[CAROMI_GRID_MEMORIES];      /* kept from cloud to cloud */
    caromi_cl_column bundles[CAROMI_BUNDLE_MEMORIES]; /* the same */
    cl_mem inline_hits; /* the first hits of each query of a list, kept from batch to batch. mesh_list.c */
    caromi_program programs[CAROMI_PROGRAM_COUNT];
};

/* A device as the ICD loader lists it. select.c */
typedef struct caromi_cl_found {
    cl_platform_id platform;
    cl_device_id id;
    uint32_t index;
    carom_device_info info;
} caromi_cl_found;

/* Must precede the first OpenCL call of a context or a listing. Fails in a fork()ed child of a process that has used
 * OpenCL. process.c */
carom_status caromi_claim_opencl(carom_error *err);
/* The device that `selector` names (NULL: the best). */
carom_status caromi_select_device(const carom_context *context, const char *selector, int gpu_only,
                                  caromi_cl_found *found, carom_error *err);

/* Describes a device that may not be listed; its number is UINT32_MAX. */
void caromi_describe_device(cl_device_id id, caromi_cl_found *out);
/* Opens a device in the caller's cl_context or, if that is NULL, in a new one. place: its index among the context's
 * devices. */
carom_status caromi_device_start(const carom_context *context, uint32_t place, const caromi_cl_found *found,
                                 cl_context shared, caromi_device **out, carom_error *err);

/* Builds a program at its first use. program.c */
carom_status caromi_program_build(caromi_device *device, uint32_t program, carom_error *err);
/* Ensures that the programs' traversal stack fits the mesh. With one lane per work-item, every work-item has a stack:
 * it is as short as most meshes need, until a mesh needs more. */
void caromi_fit_stack(caromi_device *device, const carom_mesh *mesh);
void caromi_programs_release(caromi_device *device);

/* Builds a program and compares its bits with the CPU's, at its first use. probe.c */
carom_status caromi_probe_pairs(caromi_device *device, enum caromi_pair_kernel kernel, carom_error *err);
/* The same for the programs of a mesh batch. The probe makes a small mesh of its own in the batch's context. */
struct caromi_mesh_batch;
carom_status caromi_probe_mesh(caromi_device *device, const struct caromi_mesh_batch *batch, carom_error *err);
uint32_t caromi_batch_search_program(const struct caromi_mesh_batch *batch);
uint32_t caromi_batch_points_program(const struct caromi_mesh_batch *batch);
uint32_t caromi_batch_gradient_program(const struct caromi_mesh_batch *batch);
struct caromi_list_batch;
/* The program of a list batch. */
uint32_t caromi_list_program(const struct caromi_list_batch *batch);
carom_status caromi_probe_list(caromi_device *device, const struct caromi_list_batch *batch, carom_error *err);
struct caromi_lattice_batch;
carom_status caromi_probe_lattice(caromi_device *device, const struct caromi_lattice_batch *batch, carom_error *err);
struct caromi_cubes;
carom_status caromi_probe_cubes(caromi_device *device, const struct caromi_cubes *cubes, carom_error *err);
/* Tests quotients and square roots of a device that does not promise correct rounding. rounding.c */
carom_status caromi_probe_rounding(caromi_device *device, carom_error *err);

/* The device memory of a carom_buffer. buffer.c */
struct caromi_device_memory {
    caromi_device *device;
    cl_mem memory;
    uint64_t offset; /* where the buffer begins in `memory`, in bytes; 0 unless the memory is the caller's */
};
/* Wraps memory of the caller, which is retained. */
carom_status caromi_device_memory_wrap(caromi_device *device, cl_mem memory, uint64_t offset,
                                       caromi_device_memory **out, carom_error *err);

/* The location of an array in device memory; memory NULL: the array is on the host. */
typedef struct caromi_resident {
    cl_mem memory;
    uint64_t at;
} caromi_resident;
/* The locations of a stream's columns. */
typedef struct caromi_residents {
    caromi_resident in[COLUMNS_MAX], index[COLUMNS_MAX], out[COLUMNS_MAX];
    uint8_t is_write_only[COLUMNS_MAX]; /* kernels must not read this output's memory */
    /* Of a call that is being enqueued, whose values are checked while it runs: limits, and the last valid index */
    uint8_t is_limit[COLUMNS_MAX];
    uint32_t last[COLUMNS_MAX];
} caromi_residents;

/* Exact mode with columns that stay on the device. The host downloads only marks, and answers the rows that the kernels
 * leave undecided. */
typedef struct caromi_undecided {
    /* Lists the undecided ones among `count` rows; returns their number. marks[k]: values of output column mark[k],
     * NULL if that is CAROMI_NO_MARK. */
    uint32_t (*list)(const void *user, const void *const *marks, uint32_t count, uint32_t *rows);
    /* Answers `count` queries on the CPU. rows: their numbers from `first` on. An unwanted output has base NULL. */
    carom_status (*answer)(const carom_context *context, const void *user, const caromi_in_column *in,
                           const caromi_out_column *out, uint64_t first, const uint32_t *rows, uint64_t count,
                           carom_stats *stats, carom_error *err);
} caromi_undecided;
#define CAROMI_NO_MARK UINT32_MAX
enum { CAROMI_MARKS = 4 };

/* A batch as a stream of chunks: input columns, a launch, output columns. stream.c */
typedef struct caromi_stream {
    uint64_t count;
    uint64_t chunk;        /* most queries of a chunk */
    int answers_any_count; /* 1: kernels answer any number of queries; 0: only whole groups of lanes */
    uint32_t in_count, out_count;
    const caromi_in_column *in;
    const caromi_out_column *out;
    uint8_t out_size[COLUMNS_MAX];
    /* Exact mode: decides in integers the rows that the kernels leave undecided, among `count` delivered queries from
     * `first` on. marks[k]: values of output column mark[k], which is downloaded even if the caller does not want it.
     * rows: the row of each query; NULL: consecutive. Returns the number of rows decided. */
    caromi_rungs (*resolve)(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first,
                            size_t count);
    uint32_t mark[CAROMI_MARKS], mark_count;
    /* For columns that stay on the device; with `resolve`, or instead of it if all exact columns stay. */
    const caromi_undecided *undecided;
    /* Enqueues the kernels that compute the slot's outputs from its inputs. */
    carom_status (*launch)(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err);
    const void *user;
    /* Optional callbacks, or NULL: */
    /* Fails if values of output column mark[0] are impossible. There are `count` of them, `stride` bytes apart, of
     * queries within [first, end). */
    carom_status (*check)(const caromi_device *device, const void *user, const void *values, size_t stride,
                          uint64_t count, uint64_t first, uint64_t end, carom_error *err);
    /* Whether this chunk is compacted: its answers are downloaded as records instead of columns. Called before the
     * launch. If so, `fetch` enqueues the download behind the launch, and `scatter` scatters the records. */
    int (*compacts)(caromi_device *device, const struct caromi_stream *stream, caromi_cl_slot *slot);
    carom_status (*fetch)(caromi_device *device, const struct caromi_stream *stream, caromi_cl_slot *slot,
                          carom_error *err);
    carom_status (*scatter)(caromi_device *device, const struct caromi_stream *stream, caromi_cl_slot *slot,
                            carom_stats *stats, carom_error *err);
    /* Device memory in bytes that launch and callbacks need for each query, besides the columns; and as much of it as
     * one buffer may take. */
    uint32_t extra, largest;
    /* 1 + number of a resident output column of states that are reduced to hit or miss; 0: none. */
    uint32_t states_as_hits;
    const caromi_residents *residents; /* locations of the columns, while the stream runs; NULL: all are on the host */
} caromi_stream;

/* Arrays that stay on the device (resident.c). Whether an array does. */
int caromi_is_resident(const caromi_device *device, const void *base);
/* Where an array lies on the device; memory NULL: it does not. */
caromi_resident caromi_resident_at(const caromi_device *device, const void *base);
/* Sets a kernel's two arguments for such an array: its memory, and where it begins in bytes. */
void caromi_set_resident(caromi_arguments *arguments, const caromi_resident *array);
/* Finds the stream's columns that stay on the device. Returns 0 if none does. */
int caromi_find_residents(const caromi_device *device, const caromi_stream *stream, caromi_residents *out);
/* Whether an input column stays on the device. An input of one constant word is passed as an argument, so it stays too.
 */
static inline int caromi_input_stays(const caromi_stream *stream, uint32_t column)
{
    return stream->residents != NULL &&
           (stream->residents->in[column].memory != NULL || stream->in[column].stride == 0);
}
static inline int caromi_output_stays(const caromi_stream *stream, uint32_t column)
{
    return stream->residents != NULL && stream->residents->out[column].memory != NULL;
}
/* Whether all inputs stay; whether all wanted answers stay. */
int caromi_inputs_stay(const caromi_stream *stream);
int caromi_answers_stay(const caromi_stream *stream);
/* Sets a column's `direct` to the array itself, if kernels can use it in place. */
void caromi_place_resident_input(const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column);
void caromi_place_resident_output(const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column);
/* Enqueues the copies from arrays to the slot's columns (gather), or back (scatter). */
carom_status caromi_gather_residents(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     const uint32_t *columns, uint32_t count, carom_error *err);
carom_status caromi_scatter_resident(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     uint32_t column, carom_error *err);
/* Enqueues the same for the rows of the chunk listed in the slot's `rows`. Of a column that is indexed the elements are
 * gathered that the slot's `elements` names. */
carom_status caromi_gather_resident_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                         uint32_t column, uint32_t rows, carom_error *err);
carom_status caromi_scatter_resident_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                          uint32_t column, uint32_t rows, carom_error *err);
/* Sets the slot's `elements` to those that a column's index selects for these rows. */
carom_status caromi_gather_elements(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                    uint32_t column, uint32_t rows, carom_error *err);
/* Enqueues the gather of `rows` words for each of up to RESIDENT_COLUMNS columns, whose elements are `stride` bytes
 * apart: the elements that words of `index` name from number `first` on or, without an index (NULL), those from number
 * `first` on. */
carom_status caromi_gather_words(caromi_device *device, cl_command_queue queue, const caromi_resident *from,
                                 size_t stride, const cl_mem *to, uint32_t count, const cl_mem *index, uint64_t first,
                                 uint64_t rows, carom_error *err);
/* Enqueues the scatter of a column of words or bytes to the elements of an array that `index` names or, without one, to
 * those from number `first` on. */
carom_status caromi_scatter_column(caromi_device *device, caromi_cl_slot *slot, cl_mem from, uint32_t kind,
                                   const caromi_resident *to, size_t stride, const cl_mem *index, uint64_t first,
                                   uint64_t rows, carom_error *err);
/* Answers rows of a finished chunk on the CPU. undecided.c */
carom_status caromi_answer_undecided(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     const uint32_t *rows, uint32_t count, carom_stats *stats, carom_error *err);
carom_status caromi_probe_resident(caromi_device *device, carom_error *err);
/* Builds and probes the checks of values. values.c */
carom_status caromi_probe_values(caromi_device *device, carom_error *err);
/* The last index that is not refused. */
struct caromi_values;
uint32_t caromi_last_index(const struct caromi_values *values);
/* Builds and probes the gather and scatter programs, if the stream has columns that need them. */
carom_status caromi_prepare_residents(caromi_device *device, const caromi_stream *stream, carom_error *err);

/* A chunk of a stream, which is in a slot: enqueues all its commands; waits for them; the number of those for which the
 * host has not waited; waits and delivers the answers. chunk.c */
carom_status caromi_chunk_start(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                carom_stats *stats, carom_error *err);
carom_status caromi_chunk_await(const caromi_device *device, const caromi_cl_slot *slot, carom_error *err);
uint32_t caromi_chunk_events(const caromi_cl_slot *slot);
carom_status caromi_chunk_finish(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                 carom_stats *stats, carom_error *err);
/* Answers queries [*done, count); without queries, only builds and allocates. */
carom_status caromi_stream_run(caromi_device *device, const caromi_stream *stream, uint64_t *done, carom_stats *stats,
                               carom_error *err);
/* Enqueues the sort of the slot's queries along a mesh, if that pays. columns: input columns of a query, 3 for the
 * centre alone, or CAROMI_MESH_IN. query_sort.c */
carom_status caromi_sort_chunk(caromi_device *device, caromi_cl_slot *slot, const carom_mesh *mesh, int columns,
                               int options, carom_error *err);
/* Device memory of the sort for each query, in bytes. */
static inline uint32_t caromi_sort_chunk_bytes(const caromi_device *device)
{
    return device->lanes == 1 ? CAROMI_SORT_COLUMNS * (uint32_t)sizeof(cl_uint) : 0;
}

/* Enqueues an exclusive prefix sum of `kinds` counts, in place; the total follows them. */
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
/* Sets the compaction callbacks of a stream of first hits. Its outputs are set, and the caller reads only hits.
 * compact.c */
void caromi_compact_stream(caromi_stream *stream);
/* Builds and probes the programs of the compaction. */
carom_status caromi_probe_compact(caromi_device *device, carom_error *err);

/* Begins a kernel's arguments with none set. */
static inline caromi_arguments caromi_arguments_of(const caromi_device *device, uint32_t program)
{
    return (caromi_arguments){.kernel = device->programs[program].kernel, .code = CL_SUCCESS};
}

/* Sets columns as a kernel's next arguments. This and the launches below are in program.c. */
void caromi_set_columns(caromi_arguments *arguments, const caromi_cl_column *columns, uint32_t count);
static inline void caromi_set_column(caromi_arguments *arguments, const caromi_cl_column *column)
{
    caromi_set_columns(arguments, column, 1);
}
/* Launches a kernel on a slot's queue, as part of its chunk; `items` is its last argument. */
carom_status caromi_launch_chunk(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                 uint64_t items, carom_error *err);
/* The same with all `items` in one work-group, or in as few as the device allows. */
carom_status caromi_launch_group(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                 uint64_t items, carom_error *err);
/* The same with `groups` work-groups of `items` each. */
carom_status caromi_launch_groups(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                  uint64_t groups, size_t items, carom_error *err);
/* The same for a traversal of a mesh; items: as caromi_set_search returned it. With lanes each work-item is a group of
 * its own: it interleaves many queries, and PoCL keeps the stacks of a whole group on one thread's stack. */
carom_status caromi_launch_search(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                  uint32_t program, uint64_t items, carom_error *err);

/* Gives closest points that a chunk's kernels have found their signs. gradient: its columns, or NULL. mesh_side.c */
carom_status caromi_launch_sides(caromi_device *device, caromi_cl_slot *slot, const struct caromi_mesh_batch *batch,
                                 const caromi_cl_column *gradient, carom_error *err);
/* Leaves a batch to the CPU, on a device without binary64. what: the words for what needs it. */
carom_status caromi_lacks_fp64(const caromi_device *device, const char *what, carom_stats *stats);

/* Streams without a probe of their programs, for the probe itself; integers decide nothing then. */
carom_status caromi_stream_pairs(caromi_device *device, const caromi_pair_batch *batch, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err);
carom_status caromi_stream_mesh(caromi_device *device, const struct caromi_mesh_batch *batch, uint64_t end,
                                uint64_t *done, carom_stats *stats, carom_error *err);
carom_status caromi_stream_list(caromi_device *device, const struct caromi_list_batch *batch, uint64_t end,
                                uint64_t *done, carom_stats *stats, carom_error *err);
carom_status caromi_stream_bodies(caromi_device *device, const struct caromi_list_batch *batch, uint64_t end,
                                  uint64_t *done, carom_stats *stats, carom_error *err);
carom_status caromi_stream_lattice(caromi_device *device, const struct caromi_lattice_batch *batch, uint64_t end,
                                   uint64_t *done, carom_stats *stats, carom_error *err);
carom_status caromi_stream_cubes(caromi_device *device, const struct caromi_cubes *cubes, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err);
/* Frees the device memory that lists keep for the next list, and that clouds and bundles keep. */
void caromi_grid_release(caromi_device *device);
void caromi_bundles_release(caromi_device *device);
void caromi_inline_hits_release(caromi_device *device);
/* Frees all that an idle device keeps from batch to batch. device.c */
void caromi_release_idle(caromi_device *device);
/* Copies a mesh to the device at its first use. mesh_copy.c */
carom_status caromi_upload_mesh(caromi_device *device, carom_mesh *mesh, carom_error *err);
/* The error for a device that returned impossible numbers, such as indices outside the arrays. */
carom_status caromi_fail_corrupt(const caromi_device *d, const char *what, uint64_t first, uint64_t end,
                                 carom_error *err);
/* The error for a device that ended a loop too early; see mesh_run_is_truncated. */
carom_status caromi_fail_truncated(const caromi_device *d, uint64_t first, uint64_t end, carom_error *err);
/* Fails if one of these triangles cannot be an answer. */
carom_status caromi_check_triangles(const caromi_device *d, const carom_mesh *mesh, const void *triangles,
                                    size_t stride, uint64_t count, uint64_t first, uint64_t end, carom_error *err);
/* Makes a batch's mesh ready on the device: uploads it if necessary, and finds its empty space if searches use that. */
carom_status caromi_ready_mesh(caromi_device *device, const struct caromi_mesh_batch *batch, carom_error *err);
/* Runs a stream of a batch's queries, once its mesh is ready. */
carom_status caromi_stream_past(caromi_device *d, const struct caromi_mesh_batch *batch, const caromi_stream *s,
                                uint64_t *done, carom_stats *stats, carom_error *err);
/* Sets the arguments of every search through an uploaded mesh: `count` queries, the slot's first `columns` columns, and
 * column `mask` if the options say that queries have masks. Returns the number of work-items, or of groups that share
 * queries. */
uint64_t caromi_set_search(const caromi_device *d, const caromi_cl_slot *slot, caromi_arguments *arguments,
                           uint32_t program, const carom_mesh *mesh, int options, uint64_t count, uint32_t columns,
                           uint32_t mask);
/* Whether a program that was not built or launched, or failed its probe, can go without sharing; then releases it.
 * program.c */
int caromi_program_goes_alone(caromi_device *device, uint32_t program, const carom_error *why);
/* Searches whose work-items share queries (kernels/mesh_team.h). team.c
 * Queries of a group. */
cl_uint caromi_team_share(const caromi_device *device, uint64_t queries);
/* Allocates what the stacks of a program's groups need besides local memory. */
carom_status caromi_reserve_far(caromi_device *device, caromi_cl_slot *slot, uint32_t program, const carom_mesh *mesh,
                                uint64_t count, carom_error *err);
/* Sets it as arguments. */
void caromi_set_far(const caromi_cl_slot *slot, caromi_arguments *arguments, const carom_mesh *mesh);
/* Device memory that it takes for each query, in bytes, at most. */
uint32_t caromi_far_bytes(const caromi_device *device, const carom_mesh *mesh);
/* The culling data of a search for contacts, for queries with masks or without: uploads it at its first use; sets it as
 * arguments. */
carom_status caromi_upload_edges(caromi_device *device, carom_mesh *mesh, int have_masks, carom_error *err);
void caromi_set_edges(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh, int have_masks);
/* Sets an uploaded mesh's hierarchy, masks and options as arguments. */
void caromi_set_tree(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh, int options);
/* Launches the kernel of closest points, or of contacts, for the slot's triangles. Its first inputs are the columns of
 * the batch's kind. */
carom_status caromi_launch_points(caromi_device *device, caromi_cl_slot *slot, const struct caromi_mesh_batch *batch,
                                  carom_error *err);
/* Sets the clearance of an uploaded mesh as arguments. */
void caromi_set_clearance(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh);
/* Sets the mesh's vertices, indices and number of triangles as arguments. */
void caromi_set_triangles(const caromi_device *d, caromi_arguments *arguments, const carom_mesh *mesh);
#endif
