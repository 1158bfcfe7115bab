/* SPDX-License-Identifier: MIT */
/// What calls share: views of arrays, the batch, statistics, states, features, jobs, buffers.
#ifndef CAROM_CAROM_BATCH_H
#define CAROM_CAROM_BATCH_H

#include "context.h"
#include "renamed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- batches: what all queries share --------------------------------------------------------- */

/// A call that goes on after it has returned: see "jobs" below.
typedef struct carom_job carom_job;

/// Stride of a view whose one element serves all. Strides count bytes. A stride below 4 is an
/// error; 0 is what a forgotten stride looks like.
#define CAROM_REPEAT SIZE_MAX

/// Three arrays of coordinates with one byte stride, or CAROM_REPEAT. Any alignment. carom_xyz,
/// carom_soa, carom_strided and carom_repeat make the usual ones. x == NULL in a view that may be
/// left out: no view.
typedef struct carom_points {
    const float *x, *y, *z;
    size_t stride;
} carom_points;

/// One array of numbers. Stride in bytes, or CAROM_REPEAT. Any alignment.
typedef struct carom_scalars {
    const float *data;
    size_t stride;
} carom_scalars;

/// One array of indices or masks. Stride in bytes, or CAROM_REPEAT. Any alignment.
typedef struct carom_uints {
    const uint32_t *data;
    size_t stride;
} carom_uints;

/// Where to write coordinates; x == NULL: not wanted. Stride in bytes, at least 4.
typedef struct carom_points_out {
    float *x, *y, *z;
    size_t stride;
} carom_points_out;

/// Points as members of structures: x y z at p, the next ones `stride` bytes on.
static inline carom_points carom_strided(const float *p, size_t stride)
{
    const carom_points points = {p, p + 1, p + 2, stride};
    return points;
}
/// Points as x y z, x y z, ...: 12 bytes from one to the next.
static inline carom_points carom_xyz(const float *p) { return carom_strided(p, 3 * sizeof *p); }
/// Points as an array of each coordinate.
static inline carom_points carom_soa(const float *x, const float *y, const float *z)
{
    const carom_points points = {x, y, z, sizeof *x};
    return points;
}
/// One point, x y z, for all queries.
static inline carom_points carom_repeat(const float *p) { return carom_strided(p, CAROM_REPEAT); }
/// Numbers, and indices or masks, one after the other.
static inline carom_scalars carom_scalars_of(const float *p)
{
    const carom_scalars scalars = {p, sizeof *p};
    return scalars;
}
static inline carom_uints carom_uints_of(const uint32_t *p)
{
    const carom_uints uints = {p, sizeof *p};
    return uints;
}
/// Answers as x y z, x y z, ...
static inline carom_points_out carom_xyz_out(float *p)
{
    const carom_points_out points = {p, p + 1, p + 2, 3 * sizeof *p};
    return points;
}

typedef enum carom_accuracy {
    /// Binary32 throughout; same bits everywhere. Times are off by some units in the last place,
    /// of grazing contacts by more. A state may be wrong only near a decision (a graze, a touch at
    /// time 0), within the rounding of the largest coordinate. Measured: docs/numerics.md
    CAROM_ACCURACY_FAST = 0,
    /// Inputs are real numbers: state, overlap, axes and feature are the true ones, every time is
    /// the binary32 nearest to the true one, contact points are within one unit in the last place
    /// of the largest coordinate
    CAROM_ACCURACY_EXACT = 1
} carom_accuracy;

/// Progress of a batch, reported from the calling thread, of a job from its context's. On the CPU a
/// report comes about every 50 ms, also when no more queries are answered than before; further ones
/// come when a piece of the batch is answered, of up to half a second, and at the end of a batch
/// that has any. A device reports after each piece of 2^21 queries or more, and between rounds of
/// bundles. Calls for spheres among themselves report the share of their work, as a number of
/// spheres: their answers are all there at the end, and none before
typedef struct carom_progress {
    /// NULL: no reports. Gets the end of the queries answered, [begin, done), and the count; done
    /// never falls. Another value than 0 ends the batch with CAROM_ERROR_CANCELLED, on the CPU
    /// within some milliseconds: these answers and the statistics are valid, all others undefined.
    /// If all is answered by then anyway, the call returns CAROM_OK. It must not use the context
    int (*fn)(void *user, uint64_t done, uint64_t count);
    void *user;
} carom_progress;

/// What every query descriptor begins with.
typedef struct carom_batch {
    size_t size;    ///< sizeof the whole descriptor
    uint64_t count; ///< queries
    /// Lists: the first query that is answered; inputs, offsets, `query` and `complete` still count
    /// from query 0, and records are filled from element 0. Lattices: the first slab. Other calls:
    /// 0
    uint64_t begin;
    carom_accuracy accuracy;
    /// 1: do what the first such batch does before its first query, and answer nothing: see
    /// docs/devices.md ("Preparing"). Arguments are checked as for the batch itself, but no element
    /// of an array is read, no output is written, and `stats` count no query
    uint8_t prepare;
    /// Queries of a mesh: query i reads element select[i] of every input, of which there are
    /// `elements`; data == NULL: element i. An index >= elements is CAROM_ERROR_INVALID_ARGUMENT
    /// naming the query, before any work. Answers are dense: those of query i are element i, and
    /// records carry i. (To leave out some of an array and keep answers in place, give them the
    /// `mask` 0: then they hit nothing.) Pairs: must be NULL, they have `indices`
    carom_uints select;
    uint64_t elements; ///< of every input; without `select` 0
    carom_progress progress;
    /// NULL: the call returns when it has ended. Else it returns at once with a job, which the
    /// caller destroys: see carom_job_wait
    carom_job **job;
    /// [wait_count] the call begins when these jobs have ended, of any contexts. If one has failed,
    /// the call fails with its status, and nothing is answered
    carom_job *const *wait;
    uint32_t wait_count;
} carom_batch;

/// The devices of a context: most that carom_context_desc.device can list.
#define CAROM_DEVICES_MAX 16

/// What a device of the context has done for a batch.
typedef struct carom_device_share {
    uint32_t index; ///< carom_device_info.index
    /// CAROM_OK, or why others have answered the rest of its queries; NO_DEVICE, with the index
    /// UINT32_MAX: refused, or given up in an earlier batch
    carom_status status;
    uint64_t queries; ///< answered by it
    double seconds;   ///< of wall clock, while the others worked too
} carom_device_share;

/// Which backend computed a batch, and its cost in seconds. Of what devices answer, `compute` is
/// the time of their kernels, by the devices' own clocks, `upload` and `download` are transfers,
/// and `host` is wall clock of the host's part. All of these overlap, so they need not add up to
/// `total`. Queries that the CPU path answers count as `compute`, by wall clock.
typedef struct carom_stats {
    size_t size;        ///< sizeof(carom_stats), set by the caller
    uint64_t queries;   ///< queries in the batch
    uint64_t on_device; ///< of these, answered by OpenCL devices
    uint64_t on_cpu;    ///< of these, answered by the CPU path
    /// of these on_cpu, meant for a device that failed, was refused or has no binary64
    uint64_t fallen_back;
    uint64_t by_proof; ///< exact mode: decided by floating-point filters, the first or the second
    /// exact mode: decided by the integer rung, on the CPU wherever the batch ran
    uint64_t by_integers;
    double upload, compute, download, total; ///< of several devices the first three are sums
    /// why a device did not answer all that was meant for it; empty if each did
    char fallback_reason[128];
    uint32_t device_count; ///< devices of the context; 0: none was in use
    /// [device_count], in the order of carom_context_get_devices; the others mean nothing
    carom_device_share devices[CAROM_DEVICES_MAX];
    /// The host's work for queries that devices answer: it gathers and scatters columns, settles
    /// what exact mode leaves undecided, orders the records of lists. Of several devices a sum.
    /// (The cells of a cloud are in `total` alone)
    double host;
    /// Bytes of arrays in buffers that the call brought to the host, and that it took back, because
    /// devices cannot use these arrays where they lie; their seconds are in `download` and
    /// `upload`. See docs/devices.md ("Buffers")
    uint64_t brought, returned;
    /// Exact mode: of these by_proof, left undecided by the first filter and decided by the second,
    /// on the CPU wherever the batch ran. Sweeps of pairs have a second filter, and so have hits of
    /// meshes, overlaps with a mesh, drop maps and drops at places; of other queries it is 0. See
    /// docs/exact.md, section 16 ("Counts")
    uint64_t by_second_filter;
} carom_stats;

/* ---- what the answers of several calls share ------------------------------------------------- */

/// State of a sweep: where the contact interval [t_first, t_last] lies relative to time 0.
typedef enum carom_state {
    CAROM_MISS = 0,        ///< never in contact; times +inf, -inf
    CAROM_APPROACHING = 1, ///< contact begins after 0
    /// contact begins exactly at 0, even if it also ends there; without relative motion: distance
    /// exactly r, times -inf, +inf
    CAROM_TOUCHING = 2,
    /// in contact before and after 0; without relative motion: distance < r, times -inf, +inf
    CAROM_OVERLAPPING = 3,
    CAROM_PARTING = 4, ///< contact began before 0 and ends exactly at 0
    CAROM_PAST = 5,    ///< contact ended before 0
    CAROM_INVALID = 6  ///< an input is NaN or infinite, or a radius negative; times as of a miss
} carom_state;

/// Part of the triangle that holds a contact point.
typedef enum carom_feature {
    CAROM_FEATURE_NONE = 0,
    CAROM_FEATURE_V0 = 1,
    CAROM_FEATURE_V1 = 2,
    CAROM_FEATURE_V2 = 3,
    CAROM_FEATURE_E01 = 4,
    CAROM_FEATURE_E12 = 5,
    CAROM_FEATURE_E20 = 6,
    CAROM_FEATURE_FACE = 7
} carom_feature;

/// One word for a state or a feature. In C++ cast the byte: carom_state_name(carom_state(state)).
CAROM_API const char *carom_state_name(carom_state state);
CAROM_API const char *carom_feature_name(carom_feature feature);

/// Value of `overlap` and `axes` for a pair with an invalid input.
#define CAROM_OVERLAP_INVALID 255

/// A triangle is hit if contact begins in [0, t_max], or if it is TOUCHING or OVERLAPPING at 0 (a
/// hit at time 0). Contact that ends at 0 (PARTING) or before is no hit. The policy decides what a
/// hit at time 0 counts for. A skipped triangle is no hit, at any time.
typedef enum carom_start {
    CAROM_START_REPORT = 0, ///< a hit at time 0
    /// skipped if the sphere moves away: (C - q).V > 0, q the triangle's closest point
    CAROM_START_SKIP_PARTING = 1,
    CAROM_START_SKIP = 2 ///< skipped
} carom_start;

/// Whether each query has a hit, or each bundle of queries ("bundles" in mesh.h).
typedef struct carom_any_result {
    size_t size; ///< sizeof(carom_any_result)
    /// [count], of bundles [count / bundle]: 1, 0 or CAROM_OVERLAP_INVALID: test hit == 1; must not
    /// be NULL
    uint8_t *hit;
} carom_any_result;

/// What a list has, and where to go on.
typedef struct carom_list_totals {
    /// hits of the queries [begin, count), whatever the capacity; if cancelled, of [begin, done)
    uint64_t total;
    /// Queries [begin, complete) have all their hits in the arrays, and no other has any. If it is
    /// less than the count, go on with `begin` = complete: nothing is dropped. If it equals
    /// `begin`, that query alone has more hits than the capacity: the arrays must grow to
    /// offsets[begin + 1] - offsets[begin] records, so ask for `offsets`. With a capacity of 0 it
    /// is the first query that has hits
    uint64_t complete;
    uint64_t stored; ///< records in the arrays
} carom_list_totals;

/* ---- jobs ------------------------------------------------------------------------------------ */

/// A job is a call whose batch has `job`: the call checks its arguments, but for what it would have
/// to read elements for, and returns. The context's own thread does the rest, and works with the
/// context's other threads and its device as the calling thread would have. Jobs of a context run
/// one after the other, in the order of their calls; those of several contexts side by side.
///
/// Descriptor and result structure are copied. Until the job has ended, its arrays, `stats`,
/// totals, lists of earlier pairs, the second cloud (`against`) and single numbers by pointer
/// belong to the library. The mesh and the context's buffers may be destroyed at once: they go when
/// the jobs that use them have ended. (Memory that a buffer wraps, or a mesh's image, is the
/// caller's, and stays until then.) The progress function is called by the context's thread. `err`
/// of the call is the caller's again: the job has an error of its own. A process must not exit
/// while jobs run.
///
/// A blocking call on a context with jobs begins when these have ended, and so do the functions of
/// its buffers and meshes; so does carom_context_destroy, which waits for them. After that the
/// context's meshes and buffers wait in their destroy functions. A job that waits for others keeps
/// these and their contexts until it begins.
///
///     carom_job *job = NULL;
///     desc.batch.job = &job;
///     carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err);
///     ... /* the program's own work */
///     if (carom_job_wait(job, INFINITY, &err) != CAROM_OK)
///         fprintf(stderr, "%s\n", err.message);
///     carom_job_destroy(job);
///
/// threads: the functions of a job may be called from any thread until it is destroyed. Calls of a
///         context still come one at a time. fork(): in a child a job of the parent can only be
///         destroyed
typedef struct carom_job_info {
    size_t size; ///< sizeof(carom_job_info), set by the caller
    uint8_t has_ended;
    carom_status status; ///< of the call; CAROM_OK until it has ended
    /// answers [begin, done) are there, as reported to a carom_progress; slabs of lattices; of
    /// spheres among themselves the share of the work
    uint64_t done;
    uint64_t count;    ///< of the batch
    carom_stats stats; ///< once it has ended, if the call had `stats`; else zeros
} carom_job_info;

/// Wait for a job, `seconds` at most: 0 asks whether it has ended, INFINITY has no limit.
/// returns what the call would have returned, with its sentence in `err`, as often as it is asked |
///         TIMEOUT (it has not ended) | INVALID_ARGUMENT (also: in a child of fork(); by a function
///         that a job of this context calls). A device that dies ends its job
/// cost  sleeps. It begins some ten microseconds after the call, and ends as soon before this does
CAROM_API carom_status carom_job_wait(carom_job *job, double seconds, carom_error *err);
/// Ask a job to end. It does so with CAROM_ERROR_CANCELLED where it would report progress next, or
/// before it begins; its answers [begin, done) of carom_job_get_info are valid then, all others
/// undefined. A job that has nothing left to do ends as if it had not been asked, and so does a
/// query of spheres among themselves on a device: it reports at its end alone. A job that waits
/// for an event or a queue of the caller's OpenCL ends when these have. A call that is enqueued in
/// that queue (carom_opencl.h) ends as if it had not been asked. NULL is fine.
CAROM_API void carom_job_cancel(carom_job *job);
/// returns CAROM_OK | INVALID_ARGUMENT
CAROM_API carom_status carom_job_get_info(const carom_job *job, carom_job_info *out,
                                          carom_error *err);
/// Release a job, ended or not: it goes on, and its outcome is lost. NULL is fine. A job keeps its
/// context alive.
CAROM_API void carom_job_destroy(carom_job *job);

/* ---- buffers --------------------------------------------------------------------------------- */

/// Memory that may lie on the device. A buffer has an address: a range of its size that belongs to
/// it alone. Every array of every call may lie in the range, with any offset and stride; so views
/// and results take buffers as they are. On a discrete device arrays stay there for pairs, first
/// hits, closest points, any-hit queries and, on a GPU, clouds at rest, lists of hits and overlaps,
/// and matches of contacts; limits and indices are checked there, but for indices in exact mode,
/// which are read back. Exact mode reads back 1 to 8 bytes of each query, and what its kernels
/// leave undecided. Other calls bring their inputs to the host while they last, and write back
/// their answers alone. docs/devices.md ("Buffers") has the table of what crosses between host and
/// device.
typedef struct carom_buffer carom_buffer;

typedef enum carom_buffer_where {
    CAROM_BUFFER_HOST = 0, ///< ordinary memory: the program may use it at any time between calls
    /// where the context computes: on a discrete OpenCL device in the device's own memory; else
    /// ordinary memory, as of a host buffer
    CAROM_BUFFER_DEVICE = 1
} carom_buffer_where;

typedef struct carom_buffer_desc {
    size_t size;    ///< sizeof(carom_buffer_desc)
    uint64_t bytes; ///< at least 1, at most 2^47
    carom_buffer_where where;
    /// A host buffer around this memory of the caller, which must outlive it; any alignment. NULL:
    /// memory of the buffer's own, aligned to 4096 bytes, its contents undefined
    void *host;
} carom_buffer_desc;

typedef struct carom_buffer_info {
    size_t size; ///< sizeof(carom_buffer_info), set by the caller
    uint64_t bytes;
    carom_buffer_where where; ///< HOST also if DEVICE was asked for and there is none
    /// 1: ordinary memory at the address. 0: memory of a discrete device, or of the caller's
    /// (carom_opencl.h); the program must not touch the range (it gets a SIGSEGV) but where it is
    /// mapped
    uint8_t reachable;
    uint8_t mapped;
} carom_buffer_info;

/// What the program does with the bytes that it maps.
typedef enum carom_access {
    CAROM_ACCESS_READ = 1,
    CAROM_ACCESS_WRITE = 2, ///< alone: all bytes of the map; those not written are undefined then
    CAROM_ACCESS_READ_WRITE = 3
} carom_access;

/// Create a buffer. A context with CAROM_BACKEND_AUTO looks for its device when the first device
/// buffer is created. If that device has no memory left, the buffer is ordinary memory, with a
/// warning in the log.
/// out   the buffer, to be destroyed by the caller; untouched on failure. It keeps its
///       context alive
/// returns CAROM_OK | INVALID_ARGUMENT (also: `host` shares bytes with another buffer of the
///         context, or a buffer on the device of any) | OUT_OF_MEMORY; with CAROM_BACKEND_OPENCL
///         also the error for which its device was given up
/// threads: all functions of a buffer count as calls of its context: one at a time. In a child of
///         fork() a buffer on a device can only be destroyed
/// cost  one allocation
CAROM_API carom_status carom_buffer_create(carom_context *context, const carom_buffer_desc *desc,
                                           carom_buffer **out, carom_error *err);
/// Release a buffer, mapped or not. NULL is fine. Its range is then ordinary addresses, which the
/// system may give out again: that an array lies in a destroyed buffer cannot be seen.
CAROM_API void carom_buffer_destroy(carom_buffer *buffer);
/// The first byte of its range, for as long as it exists. The range may be used in calls of its own
/// context alone; those of another refuse a buffer on a device, also where it is mapped. NULL of
/// NULL.
CAROM_API void *carom_buffer_address(const carom_buffer *buffer);
/// returns CAROM_OK | INVALID_ARGUMENT
CAROM_API carom_status carom_buffer_get_info(const carom_buffer *buffer, carom_buffer_info *out,
                                             carom_error *err);

/// Copy `bytes` from the program's memory into a buffer from `offset` on, or back. `data` is the
/// program's again on return.
/// returns CAROM_OK | INVALID_ARGUMENT (also: beyond the end; the buffer is mapped; `data` lies in
///         a buffer on a device of any context, mapped or not) | OUT_OF_MEMORY | DEVICE_LOST (the
///         bytes are undefined then) | NO_DEVICE (in a child of fork())
/// cost  one transfer; of ordinary memory a memmove
CAROM_API carom_status carom_buffer_write(carom_buffer *buffer, uint64_t offset, const void *data,
                                          uint64_t bytes, carom_error *err);
CAROM_API carom_status carom_buffer_read(const carom_buffer *buffer, uint64_t offset, void *data,
                                         uint64_t bytes, carom_error *err);

/// Let the program use `bytes` of a buffer in place, from `offset` on, until carom_buffer_unmap:
/// *out is the address of the buffer plus `offset`. A buffer has one map at a time, and no call can
/// use it meanwhile.
/// returns CAROM_OK | INVALID_ARGUMENT (also: beyond the end; already mapped) | OUT_OF_MEMORY |
///         DEVICE_LOST | NO_DEVICE; *out is untouched on failure
/// cost  of memory on a device: host memory for `bytes`, and a transfer if they are read
CAROM_API carom_status carom_buffer_map(carom_buffer *buffer, uint64_t offset, uint64_t bytes,
                                        carom_access access, void **out, carom_error *err);
/// End a map: what was written is in the buffer.
/// returns CAROM_OK | INVALID_ARGUMENT (not mapped) | as carom_buffer_write; the map ends anyway
/// cost  of memory on a device: a transfer of `bytes` if they were to be written
CAROM_API carom_status carom_buffer_unmap(carom_buffer *buffer, carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
