/* SPDX-License-Identifier: MIT */
/// carom: batches of moving-sphere/triangle queries with the same bits from every backend.
///
/// A call takes a descriptor with the caller's arrays as they lie, and a result with the arrays to
/// fill. The first hit of two spheres that fall onto a mesh (`shape` is a carom_mesh_desc):
///
///     const float center[] = {1, 1, 2, 3, 1, 2}, velocity[] = {0, 0, -1}, radius = 0.5f;
///     carom_context *context = NULL;
///     carom_mesh *mesh = NULL;
///     carom_error err;
///     if (carom_context_create(NULL, &context, &err) != CAROM_OK ||
///         carom_mesh_create(context, &shape, &mesh, &err) != CAROM_OK)
///         fprintf(stderr, "%s\n", err.message);
///     float t[2];
///     int32_t triangle[2];
///     const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = 2},
///                                         .center = carom_xyz(center),
///                                         .velocity = carom_repeat(velocity),
///                                         .radius = {.data = &radius, .stride = CAROM_REPEAT}};
///     const carom_mesh_hit_result out = {.size = sizeof out, .triangle = triangle, .t = t};
///     if (carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err) != CAROM_OK)
///         fprintf(stderr, "%s\n", err.message);
///
/// Lengths, times and velocities are the caller's units L, T and L/T. All inputs are IEEE binary32
/// taken as exact real numbers. docs/design.md defines what each answer means, docs/performance.md
/// what it costs. The order of this file: status, context, buffers, batches, jobs, pairs, mesh,
/// mesh queries, lattices, spheres among themselves.
///
/// Every call that can fail returns a carom_status. If `err` is not NULL, it receives a sentence
/// that names the argument, the value and the limit. The library never aborts and reads no
/// environment variable. It has two globals: the number of the process that first called OpenCL,
/// and a list of the addresses of buffers on devices, which finds arrays of another context.
///
/// Floating point: every function computes and calls drivers in a mode of its own (rounding to
/// nearest, denormals kept, no exception traps). On return the caller's environment is restored:
/// modes, masks and sticky flags. So exceptions raised inside a call stay invisible. Functions of
/// the caller (log, progress, allocator) run in carom's mode, and their changes to it end with
/// them. Threads that a driver started before carom keep the mode they have.
///
/// fork(): a child may use, update and destroy the contexts, meshes and buffers that no call was
/// using, and make new ones. Of a buffer on a discrete device it can only destroy. In the child a
/// context from before has only the caller's thread. If OpenCL was called before fork(), by any
/// context or carom_device_list, the child cannot use it. CAROM_BACKEND_OPENCL is then
/// CAROM_ERROR_NO_DEVICE, for batches and for new contexts; with CAROM_BACKEND_AUTO the CPU
/// answers, and `stats` give the reason. Destroying a context or mesh in the child does not call
/// the driver, so its memory on the device stays until the process ends. carom does not see OpenCL
/// calls of the host. A program that is started anew (exec, posix_spawn) has none of these limits.
///
/// Counts and arrays: a count is at most 2^47, and so are the bytes from an array's first element
/// to its last. A call beyond that limit, or with an address that would wrap, is
/// CAROM_ERROR_INVALID_ARGUMENT. So is an output that shares a byte with an input, another output,
/// `stats`, the descriptor or the result structure. Members of one array of structures may be
/// inputs and outputs, as they share no byte. The check reads no element, and takes as long for any
/// count. Arrays without elements (a
/// count or a capacity of 0) are not checked.
///
/// Arrays may lie in buffers (carom_buffer) of the context. Such an array begins and ends in one
/// buffer, which is not mapped; else the call is CAROM_ERROR_INVALID_ARGUMENT. The same holds for
/// an array in another context's buffer that has `reachable` = 0 in its info. Descriptors, result
/// structures, statistics, totals, single numbers by pointer and images of meshes are the program's
/// memory.
///
/// Structures grow: descriptors, results, lists, statistics and infos begin with `size`, which the
/// caller sets to the sizeof; of a query that is batch.size, the size of the whole descriptor.
/// Another value is CAROM_ERROR_INVALID_ARGUMENT. Of fixed shape are carom_error, carom_batch, the
/// views, carom_progress, carom_pair_indices, carom_allocator and carom_list_totals. Views must be
/// given unless their comment says what NULL means.
#ifndef CAROM_CAROM_H
#define CAROM_CAROM_H

#include <stddef.h>
#include <stdint.h>

#if defined(CAROM_STATIC)
#define CAROM_API
#else
#define CAROM_API __attribute__((visibility("default")))
#endif

#define CAROM_VERSION_MAJOR 0
#define CAROM_VERSION_MINOR 2
#define CAROM_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and names ------------------------------------------------------------------------ */

/// Outcome of a call. The numbers are pinned: they never change meaning.
typedef enum carom_status {
    CAROM_OK = 0,
    CAROM_ERROR_INVALID_ARGUMENT = 1, ///< an argument is wrong; nothing was done, outputs untouched
    CAROM_ERROR_OUT_OF_MEMORY = 2,    ///< host or device memory ran out
    CAROM_ERROR_NO_DEVICE = 3,        ///< no OpenCL device matches, or no OpenCL at all
    CAROM_ERROR_NOT_BIT_EXACT = 4,    ///< the device failed the bit probe and was refused
    CAROM_ERROR_KERNEL_BUILD = 5,     ///< the device's compiler rejected a kernel
    CAROM_ERROR_DEVICE_LOST = 6,      ///< the device failed while working
    CAROM_ERROR_UNSUPPORTED = 7,      ///< this build or this machine cannot do it
    /// the caller's progress function ended it; answers reported as done are valid
    CAROM_ERROR_CANCELLED = 8,
    CAROM_ERROR_TIMEOUT = 9 ///< a job has not ended within the time; it goes on
} carom_status;

/// Caller-owned detail of a failure; works before a context exists. Untouched on success.
typedef struct carom_error {
    carom_status status;
    int native_code;   ///< the OpenCL or errno value behind it, 0 if none
    char message[256]; ///< one sentence, always terminated
} carom_error;

/// "MAJOR.MINOR.PATCH" of the library that is linked.
CAROM_API const char *carom_version(void);
/// 1 if the library was built with OpenCL.
CAROM_API int carom_has_opencl(void);
/// One word for a status; "unknown" for any other number. Static storage. So for the names below.
CAROM_API const char *carom_status_name(carom_status status);

/* ---- context --------------------------------------------------------------------------------- */

typedef enum carom_backend {
    /// The device that was named, else an OpenCL GPU if present, for batches from
    /// CAROM_AUTO_MIN_QUERIES on; else the CPU. A GPU that was not named must also be faster: see
    /// carom_context_create.
    CAROM_BACKEND_AUTO = 0,
    CAROM_BACKEND_CPU = 1, ///< never loads OpenCL
    /// The named device, or an error: the CPU never replaces a device that fails. Exact mode alone
    /// uses both, here too: the CPU decides in integers what the device cannot prove. If the device
    /// has no binary64, the CPU answers the whole exact batch (except overlaps). That is no error,
    /// and stats.fallback_reason and the log report it.
    CAROM_BACKEND_OPENCL = 2
} carom_backend;

/// CAROM_BACKEND_AUTO answers batches of fewer queries on the CPU, without looking for a device,
/// because opening a device and building a program takes longer. Batches whose arrays stay on a
/// device (carom_buffer) go there whatever their size.
#define CAROM_AUTO_MIN_QUERIES (1u << 20)

/// Instruction sets of the CPU path, lowest first. A request means exactly that one; a machine
/// without it refuses. AVX2 means with FMA, AVX-512 F, DQ, BW and VL.
typedef enum carom_isa {
    CAROM_ISA_AUTO = 0,
    CAROM_ISA_SCALAR = 1,
    CAROM_ISA_SSE41 = 2,
    CAROM_ISA_AVX2 = 3,
    CAROM_ISA_AVX512 = 4,
    CAROM_ISA_NEON = 5
} carom_isa;

typedef enum carom_log_level {
    CAROM_LOG_ERROR = 1,
    CAROM_LOG_WARNING = 2,
    CAROM_LOG_INFO = 3
} carom_log_level;

/// Receives one formatted line. May be called from any thread; must not call back into carom.
typedef void (*carom_log_fn)(void *user, carom_log_level level, const char *message);

/// Allocator hooks: both or neither. `alloc` returns memory aligned to `alignment` (a power of two)
/// or NULL. They serve everything that carom allocates on the host for contexts, buffers, meshes
/// and batches, but for the pages that hold a device buffer's bytes while the host has them.
/// Threads of a context call them too, but never two at once; those of several contexts do, also
/// where one thread of the program has made all their jobs. (qsort, which refits and clouds call,
/// may allocate memory of its own.) A context keeps large blocks of a call for clouds, at most 1
/// GiB, for the next one, until it is destroyed.
typedef struct carom_allocator {
    void *(*alloc)(void *user, size_t size, size_t alignment);
    void (*free)(void *user, void *memory);
    void *user;
} carom_allocator;

typedef struct carom_context carom_context;

/// How a context computes. Start from carom_context_desc_default().
typedef struct carom_context_desc {
    size_t size; ///< sizeof(carom_context_desc), set by the default function
    carom_backend backend;
    /// NULL: best; else a decimal index from carom_device_list or a substring of its names. Several
    /// of these, separated by commas, at most CAROM_DEVICES_MAX: each batch is cut into a piece for
    /// each device (docs/design.md, "Several devices"). A name that has the whole string in it
    /// comes first
    const char *device;
    carom_isa isa; ///< CPU instruction set; beyond this machine is CAROM_ERROR_UNSUPPORTED
    /// CPU threads, at most 1024; 0: as many as there are processors that the process may use. More
    /// than that are not started, which the log has as information. Fewer, with a warning in the
    /// log, if the system does not start so many. They sleep between batches
    uint32_t threads;
    uint32_t device_lanes; ///< lanes per OpenCL work-item: 0 (the device's own), 1, 4, 8 or 16
    /// most queries in one OpenCL launch, the bit probe's apart; 0: from the device's limits
    uint32_t device_chunk;
    carom_log_fn log; ///< NULL: silence
    void *log_user;
    carom_log_level log_level; ///< least severe level that is passed on
    carom_allocator allocator; ///< zeros: malloc and free
    /// with CAROM_BACKEND_AUTO: a device may answer batches from so many queries on; 0:
    /// CAROM_AUTO_MIN_QUERIES. Less pays where many small batches are one large work
    uint64_t auto_from;
} carom_context_desc;

/// One OpenCL device, as it describes itself.
typedef struct carom_device_info {
    size_t size; ///< sizeof(carom_device_info), set by the caller
    /// number for carom_context_desc.device; UINT32_MAX: a device of the caller's cl_context
    uint32_t index;
    char platform[128];
    char name[128];
    char driver[64];
    char version[128];
    char kind[16]; ///< "gpu", "cpu", "accelerator" or "other"
    uint32_t compute_units;
    /// lanes per work-item: of a listed device the default, of a context's the ones in use
    uint32_t lanes;
    uint64_t memory;           ///< bytes of global memory
    uint64_t max_allocation;   ///< bytes of the largest buffer
    uint8_t fp64;              ///< claims binary64 kernels
    uint8_t correctly_rounded; ///< claims correctly rounded / and sqrt
    uint8_t denormals;         ///< claims binary32 denormals
    uint8_t available;
} carom_device_info;

/// One word for an instruction set or a backend.
CAROM_API const char *carom_isa_name(carom_isa isa);
CAROM_API const char *carom_backend_name(carom_backend backend);
/// 1 if this build and this machine can run `isa` (CAROM_ISA_AUTO: always).
CAROM_API int carom_isa_available(carom_isa isa);

/// List OpenCL devices in the order of the ICD loader, platforms without devices skipped.
/// out   [capacity] filled up to the smaller of capacity and *count; may be NULL if capacity is 0.
///       The caller sets `size` in the first
/// count the number of devices present
/// returns CAROM_OK also when there are none | INVALID_ARGUMENT | UNSUPPORTED (built without
///         OpenCL) | NO_DEVICE (in a child of a process that has called OpenCL)
CAROM_API carom_status carom_device_list(carom_device_info *out, uint32_t capacity, uint32_t *count,
                                         carom_error *err);

/// `size` set, CAROM_BACKEND_AUTO, all threads, no log function, warnings and errors if one is
/// added, malloc.
CAROM_API carom_context_desc carom_context_desc_default(void);

/// Create a context. With CAROM_BACKEND_OPENCL the device is opened and must pass the bit probe
/// here; with CAROM_BACKEND_AUTO the first batch of CAROM_AUTO_MIN_QUERIES or more calls OpenCL, or
/// the first device buffer.
/// Then the context times batches of each kind, for a mesh those of each mesh. A GPU that was not
/// named keeps a kind only if its fastest batch of three, after a first that is not counted, is no
/// slower than the CPU. The log reports each choice once, as information; answers do not depend on
/// it.
/// desc  NULL: defaults. Strings in it are copied.
/// out   the context, to be destroyed by the caller; untouched on failure
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY | UNSUPPORTED; with CAROM_BACKEND_OPENCL
///         also NO_DEVICE | NOT_BIT_EXACT | KERNEL_BUILD | DEVICE_LOST. A driver that aborts or
///         hangs takes the process along: a program that must outlive it tries the device in
///         another process first, as `carom info` does
/// cost  starts the threads; with OpenCL, compiling a kernel: seconds, or less from the driver's
///       cache
/// threads: contexts are independent of each other; one may be used and destroyed by another thread
///       than its maker. In a child process of fork(): see the top
CAROM_API carom_status carom_context_create(const carom_context_desc *desc, carom_context **out,
                                            carom_error *err);
/// Release a context, when its jobs have ended; meshes, buffers and jobs made in it stay valid
/// until destroyed. NULL is fine.
CAROM_API void carom_context_destroy(carom_context *context);
/// The instruction set that the CPU path uses.
CAROM_API carom_isa carom_context_isa(const carom_context *context);
/// The number of CPU threads; in a child process of fork() 1.
CAROM_API uint32_t carom_context_threads(const carom_context *context);
/// The OpenCL device that is open in this context and may be used by this process; of several the
/// first.
/// returns CAROM_OK | INVALID_ARGUMENT | NO_DEVICE
CAROM_API carom_status carom_context_get_device(const carom_context *context,
                                                carom_device_info *out, carom_error *err);
/// All devices of the context, in the order of the list that named them.
/// out   [capacity] filled up to the smaller of capacity and *count; may be NULL if capacity is 0.
///       The caller sets `size` in the first. A device that was refused or given up after a failure
///       has no name and available = 0
/// count of the list; 1 without a list; 0 as long as no device was looked for
/// returns CAROM_OK | INVALID_ARGUMENT | NO_DEVICE (in a child of a process that has called OpenCL)
CAROM_API carom_status carom_context_get_devices(const carom_context *context,
                                                 carom_device_info *out, uint32_t capacity,
                                                 uint32_t *count, carom_error *err);

/* ---- buffers --------------------------------------------------------------------------------- */

/// Memory that may lie on the device. A buffer has an address: a range of its size that belongs to
/// it alone. Every array of every call may lie in the range, with any offset and stride; so views
/// and results take buffers as they are. On a discrete device arrays stay there for pairs, first
/// hits, closest points and any-hit queries, but for limits and indices, which are read back to be
/// checked. Exact mode reads back 1 to 8 bytes of each query, and what its kernels leave undecided.
/// Other calls bring their arrays to the host while they last.
/// docs/design.md ("Buffers") has the table of what crosses between host and device.
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
static inline carom_points carom_xyz(const float *p)
{
    return carom_strided(p, 3 * sizeof *p);
}
/// Points as an array of each coordinate.
static inline carom_points carom_soa(const float *x, const float *y, const float *z)
{
    const carom_points points = {x, y, z, sizeof *x};
    return points;
}
/// One point, x y z, for all queries.
static inline carom_points carom_repeat(const float *p)
{
    return carom_strided(p, CAROM_REPEAT);
}
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

/// Progress of a batch, reported from the calling thread, of a job from its context's, every 2^18
/// to 2^20 queries on the CPU, more on a device, and at the end of a batch that has any. Calls for
/// spheres among themselves report every 50 ms on the CPU: the share of their work, as a number of
/// spheres. Their answers are all there at the end, and none before
typedef struct carom_progress {
    /// NULL: no reports. Gets the end of the queries answered, [begin, done), and the count.
    /// Another value than 0 ends the batch with CAROM_ERROR_CANCELLED: these answers and the
    /// statistics are valid, all others undefined. It must not use the context
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
    /// docs/design.md ("Preparing"). Arguments are checked as for the batch itself, but no element
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
    uint64_t by_proof; ///< exact mode: decided by the floating-point filter
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
    /// `upload`. See docs/design.md ("Buffers")
    uint64_t brought, returned;
} carom_stats;

/* ---- jobs ------------------------------------------------------------------------------------ */

/// A job is a call whose batch has `job`: the call checks its arguments, but for what it would have
/// to read elements for, and returns. The context's own thread does the rest, and works with the
/// context's other threads and its device as the calling thread would have. Jobs of a context run
/// one after the other, in the order of their calls; those of several contexts side by side.
///
/// Descriptor and result structure are copied. Until the job has ended, its arrays, `stats`,
/// totals, lists of earlier pairs and single numbers by pointer belong to the library. The mesh and
/// the context's buffers may be destroyed at once: they go when the jobs that use them have ended.
/// (Memory that a buffer wraps, or a mesh's image, is the caller's, and stays until then.) The
/// progress function is called by the context's thread. `err` of the call is the caller's again:
/// the job has an error of its own. A process must not exit while jobs run.
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
/// query of spheres among themselves that has begun: it reports at its end alone. A job that waits
/// for an event or a queue of the caller's OpenCL ends when these have. NULL is fine.
CAROM_API void carom_job_cancel(carom_job *job);
/// returns CAROM_OK | INVALID_ARGUMENT
CAROM_API carom_status carom_job_get_info(const carom_job *job, carom_job_info *out,
                                          carom_error *err);
/// Release a job, ended or not: it goes on, and its outcome is lost. NULL is fine. A job keeps its
/// context alive.
CAROM_API void carom_job_destroy(carom_job *job);

/* ---- pairs and meshes: what their answers share ---------------------------------------------- */

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

/* ---- pairs ----------------------------------------------------------------------------------- */

/// Indices of the pairs: pair i is (a[i], b[i]), sphere and triangle, or two spheres, each with its
/// velocity and radius; data == NULL: element i, and its count is not read. An index >= its count
/// is CAROM_ERROR_INVALID_ARGUMENT naming the pair, before any work. In random order, beyond the
/// caches, the gather dominates: docs/performance.md.
typedef struct carom_pair_indices {
    carom_uints a, b;
    uint64_t a_count, b_count; ///< elements of the inputs that `a` and `b` select from
} carom_pair_indices;

/// Sphere centre C + tV, radius r >= 0, against triangle P + tW.
typedef struct carom_sweep_pairs_desc {
    carom_batch batch;
    carom_points center, velocity;
    carom_scalars radius;
    carom_points p0, p1, p2;
    carom_points triangle_velocity; ///< x == NULL: triangles at rest
    carom_pair_indices indices;
} carom_sweep_pairs_desc;

/// Results of a sweep; any pointer may be NULL. Asking for t_first alone costs least.
typedef struct carom_sweep_result {
    size_t size;    ///< sizeof(carom_sweep_result)
    uint8_t *state; ///< [count] carom_state
    /// [count] T, over the whole real line: negative before 0; +inf, -inf without contact; infinite
    /// also beyond binary32, so test the state
    float *t_first, *t_last;
    /// [count] contact point in the world at that time: it has moved with the triangle. Without
    /// relative motion that of time 0. L; zeros without contact or finite time
    carom_points_out point_first, point_last;
    uint8_t *feature_first, *feature_last; ///< [count] carom_feature
} carom_sweep_result;

/// Sphere of centre C, radius r >= 0, against triangle P, at rest.
typedef struct carom_overlap_pairs_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius;
    carom_points p0, p1, p2;
    carom_pair_indices indices;
} carom_overlap_pairs_desc;

typedef struct carom_overlap_result {
    size_t size;      ///< sizeof(carom_overlap_result)
    uint8_t *overlap; ///< [count] 1 overlapping or touching, 0 apart, CAROM_OVERLAP_INVALID
    /// [count] bit set: that axis separates. 0 plane, 1..3 AB BC CA, 4..6 A B C; or
    /// CAROM_OVERLAP_INVALID
    uint8_t *axes;
} carom_overlap_result;

/// Sphere A from a0 to a1 against sphere B from b0 to b1, over the normalised time u: 0 at start, 1
/// at end.
typedef struct carom_sphere_pairs_desc {
    carom_batch batch;
    carom_points a0, a1;
    carom_scalars radius_a;
    carom_points b0, b1;
    carom_scalars radius_b;
    carom_pair_indices indices;
} carom_sphere_pairs_desc;

typedef struct carom_sphere_result {
    size_t size;             ///< sizeof(carom_sphere_result)
    uint8_t *state;          ///< [count] carom_state, with u for t
    float *u_first, *u_last; ///< [count] over the whole real line; +inf, -inf without contact
} carom_sphere_result;

/// Sweep `count` sphere/triangle pairs.
/// in    arrays described above; not finite or radius < 0 means CAROM_INVALID for that pair
/// out   every requested array fully written; shares no byte with an input or another (see the top)
/// stats optional. err optional, caller-owned. Nothing is retained after return.
/// returns CAROM_OK | INVALID_ARGUMENT (which, why) | OUT_OF_MEMORY | UNSUPPORTED; with
///         CAROM_BACKEND_OPENCL also KERNEL_BUILD | NOT_BIT_EXACT (each kernel is probed when first
///         used) | DEVICE_LOST (outputs undefined). After these three the device is given up, and
///         every later batch of this context fails alike
/// bits  identical on every backend, ISA, thread count and chunk size. threads: one call at a time
///       per context.
/// source: Eberly, docs/numerics.md
CAROM_API carom_status carom_sweep_pairs(carom_context *context, const carom_sweep_pairs_desc *desc,
                                         const carom_sweep_result *out, carom_stats *stats,
                                         carom_error *err);

/// Separating-axis test of `count` sphere/triangle pairs. As carom_sweep_pairs; source: Ericson,
/// docs/numerics.md
CAROM_API carom_status carom_overlap_pairs(carom_context *context,
                                           const carom_overlap_pairs_desc *desc,
                                           const carom_overlap_result *out, carom_stats *stats,
                                           carom_error *err);

/// Sweep `count` sphere/sphere pairs. As carom_sweep_pairs; source: Gomez, docs/numerics.md
CAROM_API carom_status carom_sphere_pairs(carom_context *context,
                                          const carom_sphere_pairs_desc *desc,
                                          const carom_sphere_result *out, carom_stats *stats,
                                          carom_error *err);

/* ---- mesh ------------------------------------------------------------------------------------ */

typedef struct carom_mesh carom_mesh;

/// Triangles from indexed vertices. The arrays are copied: the caller may free them after creation.
typedef struct carom_mesh_desc {
    size_t size; ///< sizeof(carom_mesh_desc)
    carom_points vertices;
    uint64_t vertex_count;
    carom_uints indices;     ///< [3 * triangle_count]; data == NULL: vertices 3i, 3i+1, 3i+2
    uint64_t triangle_count; ///< at most 2^31 - 1; 0 is an empty mesh
    /// [triangle_count]; data == NULL: all bits are set, and no memory is taken. A triangle counts
    /// for a query if (its mask & the query's) != 0
    carom_uints masks;
    /// [triangle_count] what contacts report as `patch`; data == NULL: patches are found from the
    /// shape, see carom_mesh_contacts_desc
    carom_uints patches;
} carom_mesh_desc;

typedef struct carom_mesh_info {
    size_t size; ///< sizeof(carom_mesh_info), set by the caller
    uint64_t triangle_count, node_count;
    uint64_t bytes;           ///< host memory held
    float lower[3], upper[3]; ///< bounds; +inf, -inf if empty
    /// of the hierarchy: boxes that a line through the bounds meets on average; 0 if empty
    float cost;
    uint32_t refits; ///< refits of the hierarchy since it was built
} carom_mesh_info;

/// How carom_mesh_update adapts the hierarchy to the new vertices. The answers do not depend on it.
typedef enum carom_mesh_follow {
    /// refit, then rebuild if the cost is above CAROM_MESH_WORN times that after the last build
    CAROM_MESH_AUTO = 0,
    /// keep the hierarchy, compute new boxes: allocates no memory, whatever the cost becomes
    CAROM_MESH_REFIT = 1,
    /// build as carom_mesh_create does: for shapes that differ much from the one before
    CAROM_MESH_REBUILD = 2
} carom_mesh_follow;
/// CAROM_MESH_AUTO: a hierarchy that has become so many times as costly is built anew.
#define CAROM_MESH_WORN 1.5f

/// Copy triangles and build the hierarchy over them. The mesh holds a reference to its context. One
/// call at a time per context, this one too.
/// returns CAROM_OK | INVALID_ARGUMENT (a used vertex not finite, an index out of range: names
///         triangle and vertex) | OUT_OF_MEMORY.   cost: O(n log n) time, docs/performance.md gives
///         bytes
CAROM_API carom_status carom_mesh_create(carom_context *context, const carom_mesh_desc *desc,
                                         carom_mesh **out, carom_error *err);
/// NULL is fine.
CAROM_API void carom_mesh_destroy(carom_mesh *mesh);
/// Move the vertices of a mesh; its triangles stay. Answers are those of a mesh that was created
/// from these vertices, bit for bit. One call at a time per context.
/// vertices as many as at creation (without indices: three per triangle), in the same units or
///          others; copied
/// returns CAROM_OK | INVALID_ARGUMENT (a used vertex not finite: names triangle and vertex) |
///         OUT_OF_MEMORY (rebuild alone: auto then keeps the hierarchy that it has refitted, with a
///         warning in the log). On failure the mesh is as it was
/// cost    refit: O(n), a tenth of a build or less. A rebuild holds both hierarchies for its
///         duration. A device copies the mesh again at its next batch; docs/performance.md
CAROM_API carom_status carom_mesh_update(carom_mesh *mesh, const carom_points *vertices,
                                         carom_mesh_follow how, carom_error *err);
/// Counts, bytes and bounds of a mesh. returns CAROM_OK | INVALID_ARGUMENT
CAROM_API carom_status carom_mesh_get_info(const carom_mesh *mesh, carom_mesh_info *out,
                                           carom_error *err);

/// Copy a mesh, hierarchy included, into memory that other processes of the same build of carom can
/// open: one copy in shared memory serves all processes of a machine. The bytes hold no address, so
/// they can also be sent to other machines. They depend on the mesh and on whether its open edges
/// have been counted, for a sign.
/// image  caller-owned, NULL to ask for the size alone; capacity in bytes
/// bytes  out: size of the image
/// returns CAROM_OK | INVALID_ARGUMENT (capacity is too small).   cost: a copy
CAROM_API carom_status carom_mesh_get_image(const carom_mesh *mesh, void *image, uint64_t capacity,
                                            uint64_t *bytes, carom_error *err);
/// A mesh that reads an image where it lies. Its answers are those of the mesh that was copied, bit
/// for bit, but its vertices cannot be moved. Nothing writes to the image.
/// image  at a multiple of 64 bytes, caller-owned; it must stay as it is until the mesh is
///        destroyed. Its head is checked; the arrays are believed, as they are carom's own
/// returns CAROM_OK | INVALID_ARGUMENT (no image, of another version or build, or cut off) |
///         OUT_OF_MEMORY.   cost: no copy; up to 0.4 MB for the empty space of sweeps
CAROM_API carom_status carom_mesh_open_image(carom_context *context, const void *image,
                                             uint64_t size, carom_mesh **out, carom_error *err);

/* ---- queries of a mesh ----------------------------------------------------------------------- */

/// A triangle is hit if contact begins in [0, t_max], or if it is TOUCHING or OVERLAPPING at 0 (a
/// hit at time 0). Contact that ends at 0 (PARTING) or before is no hit. The policy decides what a
/// hit at time 0 counts for. A skipped triangle is no hit, at any time.
typedef enum carom_start {
    CAROM_START_REPORT = 0, ///< a hit at time 0
    /// skipped if the sphere moves away: (C - q).V > 0, q the triangle's closest point
    CAROM_START_SKIP_PARTING = 1,
    CAROM_START_SKIP = 2 ///< skipped
} carom_start;

/// Sphere centre C + tV, radius r >= 0, over the window [0, t_max], against a mesh.
typedef struct carom_mesh_sweep_desc {
    carom_batch batch;
    carom_points center;
    /// One of the two, the other stays zero: V, or where each centre is at time 1. Then the motion
    /// is the real difference end - center, which fast mode rounds once, and ends at time 1
    carom_points velocity, end;
    carom_scalars radius;
    /// data == NULL: +inf, or 1 with `end`. NaN, negative, or with `end` more than 1 is
    /// CAROM_ERROR_INVALID_ARGUMENT naming the query. Exact mode compares the true time, so a time
    /// that rounds to t_max may be no hit
    carom_scalars t_max;
    carom_uints mask; ///< see carom_mesh_desc; data == NULL: all bits are set
    /// 1: triangles with n.V > 0 are no hits, n = (P1-P0)x(P2-P0); degenerate ones have no back
    uint8_t cull_back;
    carom_start start;
} carom_mesh_sweep_desc;

/// First hit per query; any pointer may be NULL.
typedef struct carom_mesh_hit_result {
    size_t size;       ///< sizeof(carom_mesh_hit_result)
    int32_t *triangle; ///< [count] index of the triangle hit; -1 without a hit
    uint8_t *state;    ///< [count] APPROACHING, TOUCHING, OVERLAPPING, MISS or INVALID
    /// [count] time of contact in [0, t_max]; +inf without a hit, and also of a hit beyond
    /// binary32: the triangle tells which
    float *t;
    /// [count] contact point at t, of a hit at time 0 the triangle's closest point; zeros without a
    /// hit or a finite time
    carom_points_out point;
    /// [count] unit vector from contact point to centre. Where they coincide: the triangle's unit
    /// normal against the motion, or the direction against the motion if that is along the plane;
    /// zeros if there is no motion either. Zeros also where the point has none
    carom_points_out normal;
    uint8_t *feature; ///< [count] carom_feature; NONE without a hit
} carom_mesh_hit_result;

/// Whether each query has a hit.
typedef struct carom_any_result {
    size_t size;  ///< sizeof(carom_any_result)
    uint8_t *hit; ///< [count] 1, 0 or CAROM_OVERLAP_INVALID: test hit == 1; must not be NULL
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

/// Hits of a batch, one record each, ordered by (query, time, triangle). Arrays are the caller's;
/// any may be NULL.
typedef struct carom_hit_list {
    size_t size;       ///< sizeof(carom_hit_list)
    uint64_t capacity; ///< records that the arrays below hold; 0: hits are only counted
    /// [count + 1] hits of query i are the records [offsets[i], offsets[i + 1]) of this call. With
    /// begin = 3 the first written is offsets[3], which is 0, and record 0 is query 3's first hit.
    /// Counted to the end of the batch, whatever the capacity. An invalid query has none. So in a
    /// list that is too short offsets go on where records do not: query i has its records if and
    /// only if offsets[i + 1] <= capacity. A kernel that reads the list on a device tests that for
    /// each query, because `totals` are in host memory: carom_opencl.h ("Lists")
    uint64_t *offsets;
    uint64_t *query; ///< [capacity] index of the query
    int32_t *index;  ///< [capacity] of the triangle
    uint8_t *state;  ///< [capacity] APPROACHING, TOUCHING or OVERLAPPING
    float *t;        ///< [capacity] as in carom_mesh_hit_result, and so the rest
    carom_points_out point, normal;
    uint8_t *feature;
    carom_list_totals *totals; ///< out, must not be NULL
} carom_hit_list;

/// Sphere of centre C, radius r >= 0, at rest, against a mesh.
typedef struct carom_mesh_overlap_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius;
    carom_uints mask; ///< as in carom_mesh_sweep_desc
} carom_mesh_overlap_desc;

/// Centre C against a mesh: the nearest triangle within a distance.
typedef struct carom_mesh_closest_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius; ///< serves `depth` alone; >= 0; data == NULL: 0, so depth is -distance
    /// data == NULL: +inf; NaN or negative is CAROM_ERROR_INVALID_ARGUMENT naming the query. A
    /// triangle counts if its reported, so rounded, distance is no larger
    carom_scalars max_distance;
    carom_uints mask; ///< as in carom_mesh_sweep_desc
} carom_mesh_closest_desc;

/// Nearest triangle per query; any pointer may be NULL.
typedef struct carom_mesh_closest_result {
    size_t size; ///< sizeof(carom_mesh_closest_result)
    /// [count] of the smallest (distance, triangle); -1 for an invalid query, or if no triangle
    /// counts for it or is within max_distance
    int32_t *triangle;
    /// [count] from the centre to that triangle, L; +inf without one, or beyond binary32
    float *distance;
    /// [count] closest point of that triangle, also at an infinite distance; zeros without one
    carom_points_out point;
    uint8_t *feature; ///< [count] carom_feature that holds it; NONE without one
    /// [count] radius - distance: negative if apart; -inf without a triangle
    float *depth;
} carom_mesh_closest_result;

/// First hit of `count` swept spheres against `mesh`: the smallest (binary32 time, triangle index).
/// So of several triangles that the sphere overlaps at the start, all hit at time 0, it is the one
/// of lowest index, not the nearest; carom_mesh_closest finds that. The mesh rests during the
/// batch; if all of it moves with a velocity W, give velocities V - W and add t W to the points.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs
/// device a mesh is copied there at its first batch. If there is no memory for it, with
///        CAROM_BACKEND_AUTO the CPU answers, which `stats` report, and the copy is not tried again
///        before carom_mesh_update; with CAROM_BACKEND_OPENCL each call tries anew, and is
///        OUT_OF_MEMORY. So for all queries of a mesh
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY | UNSUPPORTED; with CAROM_BACKEND_OPENCL
///         also device errors
CAROM_API carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                              const carom_mesh_hit_result *out, carom_stats *stats,
                                              carom_error *err);

/// Which hits a list has.
typedef enum carom_hits {
    CAROM_HITS_ALL = 0, ///< every triangle that is hit within the window
    /// the first hit of every query that has one: carom_mesh_sweep_first, compacted
    CAROM_HITS_FIRST = 1
} carom_hits;

/// Hits of `count` swept spheres as a list. Each triangle that is hit has its record, also where
/// two share the edge that is touched: `feature` lets the caller merge them. If the list is too
/// short, it holds the hits of whole queries, and the hits of all others are counted; `complete` is
/// the query to go on from. Going on searches and counts all remaining queries once more. So if a
/// list has to be cut more than a few times, get the offsets with capacity 0 first, and cut the
/// batch by them.
/// returns as carom_mesh_sweep_first; OUT_OF_MEMORY if the hits of one part of the batch cannot be
///         held; then, too, the queries [0, complete) have theirs. stats: by_proof and by_integers
///         count queries
/// cost  one search for every query, two on a device with memory of its own. Working memory is
///       bounded, whatever the number of hits: docs/performance.md, section 2, has it
CAROM_API carom_status carom_mesh_sweep_list(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                             carom_hits which, const carom_hit_list *list,
                                             carom_stats *stats, carom_error *err);
/// Any hit (occlusion) of `count` swept spheres. The search of a query ends at the first triangle
/// found.
CAROM_API carom_status carom_mesh_sweep_any(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                            const carom_any_result *out, carom_stats *stats,
                                            carom_error *err);

/// Whether each of `count` spheres overlaps the mesh (distance <= r to a triangle). Exact mode:
/// decided exactly, ties included. A mesh is a shell: a sphere wholly inside a solid overlaps
/// nothing. carom_mesh_distance with a sign knows the inside
CAROM_API carom_status carom_mesh_overlap_any(carom_mesh *mesh, const carom_mesh_overlap_desc *desc,
                                              const carom_any_result *out, carom_stats *stats,
                                              carom_error *err);
/// The triangles that each sphere overlaps, as a list of query and triangle; the list's other
/// columns must be NULL. To count alone, leave the capacity 0 and take differences of the offsets.
CAROM_API carom_status carom_mesh_overlap_list(carom_mesh *mesh,
                                               const carom_mesh_overlap_desc *desc,
                                               const carom_hit_list *list, carom_stats *stats,
                                               carom_error *err);
/// The triangle closest to each of `count` centres, if it is within max_distance: the smallest
/// (distance, triangle index). A radius that is given must be valid. Exact mode: distance, triangle
/// and feature are the true ones, the distance rounded to the nearest binary32 before it decides,
/// so distances that round to one number tie. The point is within one unit in the last place of
/// the largest coordinate. An invalid query is no error of the call. A mesh is a shell: distances
/// are those of its surface, and inside a solid they are positive too, so the depth of a sphere
/// wholly inside is negative. carom_mesh_distance has signs.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY | UNSUPPORTED; with CAROM_BACKEND_OPENCL
///         also device errors
/// cost  a search for every query, the longer the farther it is from the mesh; with max_distance,
///       of what is within it alone; docs/performance.md
CAROM_API carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                          const carom_mesh_closest_result *out, carom_stats *stats,
                                          carom_error *err);

/* ---- contacts with a mesh ----------------------------------------------------------------------
 */

/// Spheres of centre C and radius r >= 0, at rest, against the surface of a mesh. Let d_j be the
/// distance of triangle j and q_j its closest point to C. Triangle k makes a contact if d_k <= r +
/// margin and no triangle j that contains q_k comes before it in the order (d_j, j). So a contact
/// is a local minimum of the distance over the surface: one on a flat wall, however it is cut into
/// triangles, two in a concave corner.
typedef struct carom_mesh_contacts_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius;
    carom_uints mask; ///< as in carom_mesh_sweep_desc; other triangles count for nothing
    float margin;     ///< L, finite and >= 0: contacts that are no farther than this
    /// L, finite and >= 0. 0: j contains q_k if it has the corner, edge or face, by positions, that
    /// q_k lies on. > 0: also every j whose distance to the reported point q_k is no more. Then
    /// T-junctions and cracks make no second contact
    float merge_within;
    /// NULL: 1. Else degrees in [0, 180]. Triangles are of one patch if a chain of shared edges
    /// joins them along which normals differ by no more. Serves `patch` alone
    const double *flat;
} carom_mesh_contacts_desc;

/// Contacts, one record each, ordered by (query, distance, triangle). Arrays are the caller's; any
/// may be NULL.
typedef struct carom_contact_list {
    size_t size;            ///< sizeof(carom_contact_list)
    uint64_t capacity;      ///< records that the arrays below hold; 0: contacts are only counted
    uint64_t *offsets;      ///< [count + 1] as in carom_hit_list
    uint64_t *query;        ///< [capacity] index of the sphere
    int32_t *triangle;      ///< [capacity]
    uint8_t *feature;       ///< [capacity] carom_feature that holds the point
    float *distance;        ///< [capacity] L, of the triangle from the centre
    carom_points_out point; ///< closest point of the triangle
    /// unit vector along C - q; on a face the triangle's normal on the side of C. At distance 0 the
    /// triangle's normal (P1-P0)x(P2-P0), zeros if it has none
    carom_points_out normal;
    float *depth; ///< [capacity] radius - distance: negative within the margin
    /// [capacity] the one given at creation of the mesh, else the lowest triangle of the patch;
    /// does not depend on masks
    uint32_t *patch;
    carom_list_totals *totals; ///< out, must not be NULL
} carom_contact_list;

/// The contacts of `count` spheres with a mesh. Exact mode: features and the order of distances are
/// the true ones, distances the nearest binary32, each component of a normal within 2^-23. Fast
/// mode: binary32, in which a foot within some 10^-6 of the size of an edge or a corner counts as
/// on it, so that in a concave corner such a contact is missing; the nearest always appears. If the
/// list is too short, it holds the contacts of whole queries, and all others are counted.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs. An invalid sphere has no contacts
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY
/// cost  a search for every sphere, and some ns for each triangle within r + margin; on a mesh
///       that is crumpled some 60. A device searches; the CPU chooses among what is found:
///       docs/contacts.md. The first call finds edges and corners of the mesh, which it keeps
///       until corners meet or part: some 110 bytes per triangle, 70 more if these have masks,
///       12 per vertex; `patch` 4 more. The first call after an update takes some four refits
/// source docs/contacts.md
CAROM_API carom_status carom_mesh_contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *desc,
                                           const carom_contact_list *list, carom_stats *stats,
                                           carom_error *err);

/// Contacts as carom_mesh_contacts lists them: what a history is kept by. Of a batch with `select`
/// the query must be select[query] in both lists, and so the selection ascending: the next step may
/// select other spheres.
typedef struct carom_contact_records {
    size_t size; ///< sizeof(carom_contact_records)
    uint64_t count;
    const uint64_t *query; ///< [count] sphere, ascending
    const uint32_t *patch; ///< [count]
    carom_points point;    ///< [count] finite
} carom_contact_records;

/// Which contacts go on; any pointer may be NULL.
typedef struct carom_contact_match {
    size_t size;       ///< sizeof(carom_contact_match)
    int64_t *previous; ///< [now.count] the same contact in the previous list; -1: a new one
    uint64_t *ended;   ///< [previous.count] previous contacts that are gone, ascending
    uint64_t *ended_count;
} carom_contact_match;

/// Match the contacts of two steps. Those with the same sphere and patch are paired by the distance
/// of their points, the nearest first, each at most once; of equal distances by the lower previous
/// index, then the lower index. Distances of binary32 points are compared as real numbers. So a
/// ball that rolls over the edges of a flat patch keeps its contact, in exact mode; in fast mode if
/// contacts are merged: docs/contacts.md, section 3.
/// returns CAROM_OK | INVALID_ARGUMENT (a query less than the one before it, a point not finite:
///         names the record) | OUT_OF_MEMORY. Nothing is written on failure
/// cost  linear; of m previous and n new contacts with the same sphere, m n
CAROM_API carom_status carom_contacts_match(carom_context *context,
                                            const carom_contact_records *previous,
                                            const carom_contact_records *now,
                                            const carom_contact_match *out, carom_error *err);

/* ---- lattices: volumes of distances, of clearance; drop maps --------------------------------- */

/// Nodes of a regular grid. Node (i, j, k) has the coordinates (float)(origin + (double)(first +
/// index) * spacing): a product and a sum in binary64, not fused, then one rounding to binary32. A
/// *slab* is all nodes of one k. carom_lattice_coordinate computes them.
typedef struct carom_lattice {
    double origin[3]; ///< of the grid's node (0, 0, 0), L; finite
    double spacing;   ///< H, L; finite and > 0
    /// nodes along x, y and z; each at least 1, at most 2^48 in all. Every node must be finite
    uint64_t dims[3];
    /// the grid's number of node 0 along x, y and z; at most 2^48. Zeros: the lattice is a grid of
    /// its own. Else it is a box of one, whose nodes have the same coordinates, and so the same
    /// answers, as in the whole: a large grid is answered box by box
    uint64_t first[3];
} carom_lattice;

/// The coordinate of nodes number `index` along `axis` (0, 1 or 2; another counts as 2). Never
/// falls from one index to the next; may stay the same where binary32 is coarser than the spacing.
CAROM_API float carom_lattice_coordinate(const carom_lattice *lattice, int axis, uint64_t index);

/// Which side of a mesh is inside: distances are negative there. A ray goes from the node along +z,
/// as if the node had moved by (e, e^2) in x and y with an infinitely small e. It crosses triangles
/// strictly above the node. Decided exactly, also in fast mode.
typedef enum carom_sign {
    CAROM_SIGN_NONE = 0,   ///< nothing is inside: no distance is negative
    CAROM_SIGN_PARITY = 1, ///< inside if the ray crosses an odd number of triangles
    /// inside if the crossings do not cancel: +1 where the normal (P1-P0)x(P2-P0) points up, -1
    /// where it points down. So normals may point in or out, if all do
    CAROM_SIGN_WINDING = 2
} carom_sign;

/// A part of a lattice, slab by slab.
typedef struct carom_mesh_distance_desc {
    /// Slabs [begin, count) of the lattice are answered, and results hold these alone. Progress
    /// counts slabs, `stats` count nodes. No `select`
    carom_batch batch;
    carom_lattice lattice;
    carom_sign sign;
    /// CAROM_SIGN_PARITY refuses a mesh in which an edge has an odd number of incidences, and
    /// CAROM_SIGN_WINDING one whose directed edges do not cancel. Edges are equal if the positions
    /// of their ends are; edges without length do not count. 1: take such a mesh all the same
    uint8_t allow_open;
    /// NULL: none. Else a number >= 0, L: nodes with a distance > *band have the distance *band
    /// with their sign, triangle -1, feature NONE and a point of zeros
    const float *band;
} carom_mesh_distance_desc;

/// Dense arrays of the nodes of slabs [begin, count), x fastest: [count - begin][dims y][dims x].
/// Any pointer may be NULL.
typedef struct carom_mesh_distance_result {
    size_t size;     ///< sizeof(carom_mesh_distance_result)
    float *distance; ///< as in carom_mesh_closest_result, with the sign; a zero is +0
    int32_t *triangle;
    carom_points_out point;
    uint8_t *feature;
} carom_mesh_distance_result;

/// Distances from the nodes of a lattice to a mesh: a distance volume. Magnitude, triangle, point
/// and feature are those of carom_mesh_closest for the node's coordinates, bit for bit, in the same
/// accuracy. The nodes exist only as numbers: no array of them is read. in, out, stats, err, bits,
/// threads: as carom_sweep_pairs.
/// returns CAROM_OK | INVALID_ARGUMENT (also: a lattice beyond its limits, an open mesh with a
///         sign) | OUT_OF_MEMORY | UNSUPPORTED; with CAROM_BACKEND_OPENCL also device errors. A
///         call with a count of 0 checks all of that and answers nothing
/// cost  docs/performance.md. Working memory is bounded, whatever the lattice; signs take 8 bytes
///       more for each of dims[0] and thread, and 4 for each of dims[1]
CAROM_API carom_status carom_mesh_distance(carom_mesh *mesh, const carom_mesh_distance_desc *desc,
                                           const carom_mesh_distance_result *out,
                                           carom_stats *stats, carom_error *err);

/// What a sphere may do whose centre is anywhere in the cube around a node.
typedef enum carom_clearance {
    CAROM_CLEARANCE_FREE = 0,     ///< it touches the mesh nowhere in the cube
    CAROM_CLEARANCE_BLOCKED = 1,  ///< it touches the mesh everywhere in the cube
    CAROM_CLEARANCE_UNDECIDED = 2 ///< neither is certain from the distance of the node
} carom_clearance;

/// A part of a lattice, slab by slab, and the radius of a sphere.
typedef struct carom_mesh_clearance_desc {
    carom_batch batch; ///< as in carom_mesh_distance_desc
    carom_lattice lattice;
    float radius; ///< R, L; finite and >= 0
} carom_mesh_clearance_desc;

typedef struct carom_mesh_clearance_result {
    size_t size; ///< sizeof(carom_mesh_clearance_result)
    /// [count - begin][dims y][dims x] a carom_clearance for each node of slabs [begin, count)
    uint8_t *clearance;
} carom_mesh_clearance_result;

/// Where in a lattice a sphere of one radius is clear of the surface of a mesh: a place wholly
/// inside a solid is FREE too (carom_mesh_distance with a sign knows the inside). Let d be the
/// distance of a node from the mesh, and h the least binary64 >= H sqrt(3) / 2 (1 + 2^-16): no
/// point of the cube of edge H around origin + index * H is farther than h from the node. The node
/// is FREE if d > R + h, BLOCKED if d <= R - h, else UNDECIDED. Both are decided exactly for the
/// true d, in either accuracy. A lattice with a node that is more than H 2^-17 away from origin +
/// index * H along an axis would leave gaps between its cubes, and is refused. `stats` count nodes.
/// A device searches for each node's closest triangle in exact mode, the CPU answers blocks of
/// nodes together. in, out, stats, err, bits, threads: as carom_sweep_pairs. returns CAROM_OK |
/// INVALID_ARGUMENT (also: a lattice beyond its limits, or with gaps) |
///         OUT_OF_MEMORY; with CAROM_BACKEND_OPENCL also device errors. A call with a count of 0
///         checks all of that and answers nothing
/// cost  blocks of nodes are answered as a whole; single nodes are looked at only near the
///       distances R - h and R + h. Working memory is bounded, whatever the lattice;
///       docs/performance.md
CAROM_API carom_status carom_mesh_clearance(carom_mesh *mesh, const carom_mesh_clearance_desc *desc,
                                            const carom_mesh_clearance_result *out,
                                            carom_stats *stats, carom_error *err);

/// A ball over the columns of a lattice, row by row. A *row* is all columns of one j.
typedef struct carom_mesh_drop_desc {
    /// Rows [begin, count) of the lattice are answered, and results hold these alone. Progress
    /// counts rows, `stats` count columns. No `select`. Both accuracies give the exact answer
    carom_batch batch;
    /// Columns (i, j) at the x and y of nodes (i, j, 0). dims[2] must be 1; origin[2] must be
    /// finite and counts for nothing
    carom_lattice lattice;
    float radius; ///< of the ball, R, L; finite and >= 0
} carom_mesh_drop_desc;

typedef struct carom_mesh_drop_result {
    size_t size; ///< sizeof(carom_mesh_drop_result)
    /// [count - begin][dims x] height of the ball's centre, L; -inf where it meets nothing. May be
    /// NULL
    float *height;
} carom_mesh_drop_result;

/// Drop map: a ball comes down along -z over each column until it first touches the mesh (at a
/// distance of exactly R it does). Its centre is then at the height: the largest z at which a point
/// of the mesh is within R of the centre. The answer is the least binary32 that is not lower, so a
/// cutter at this height never cuts into the mesh; +inf beyond binary32; a zero is +0. Triangles
/// with a mask of 0 do not count. in, out, stats, err, bits, threads: as carom_sweep_pairs.
/// returns CAROM_OK | INVALID_ARGUMENT (also: a lattice beyond its limits or with dims[2] != 1) |
///         OUT_OF_MEMORY | UNSUPPORTED. A call with a count of 0 checks all of that and answers
///         nothing
/// cost  the CPU answers, on every backend. Each feature of the mesh near the rows once, and about
///       one evaluation per column; searches where these are cheaper. docs/drop.md. The first call
///       without a search for all finds the triangles at each corner, which the mesh keeps until
///       corners meet or part: 12 bytes per vertex and triangle, 16 per vertex more while they
///       are found. Working memory: some MiB and a bit per vertex for each thread, 4 bytes per
///       triangle with masks. How many columns `stats.by_integers` counts varies with rows and
///       threads, the heights do not
/// source docs/drop.md
CAROM_API carom_status carom_mesh_drop(carom_mesh *mesh, const carom_mesh_drop_desc *desc,
                                       const carom_mesh_drop_result *out, carom_stats *stats,
                                       carom_error *err);

/* ---- spheres among themselves ---------------------------------------------------------------- */

/// A cloud: spheres of centre C, radius r >= 0 and velocity V. Of spheres a < b, with d = Cb - Ca
/// and v = Vb - Va as real numbers, fast mode rounds d, v and ra + rb once each. The pair is a hit
/// if contact begins in [0, t_max], or if it is TOUCHING or OVERLAPPING at 0. No size of cells,
/// bounds or largest radius is asked for, and answers do not depend on them.
typedef struct carom_spheres_desc {
    /// `count` spheres, at most 2^31 - 1. carom_spheres_list answers pairs with a in [begin, end);
    /// the others have no `begin`. No `select`
    carom_batch batch;
    uint64_t end; ///< lists; at most `count`. 0: `count`
    carom_points center;
    carom_points velocity; ///< x == NULL: at rest
    carom_scalars radius;
    carom_uints mask; ///< a pair needs (mask a & mask b) != 0; data == NULL: all bits are set
    /// data == NULL: +inf. NaN or negative is CAROM_ERROR_INVALID_ARGUMENT naming the sphere. A
    /// pair has the smaller of its two; exact mode compares the true time
    carom_scalars t_max;
    /// L, finite and >= 0; 0 with `velocity`, and for first and any partners. Pairs with a distance
    /// <= ra + rb + margin are listed and counted, with MISS and t = +inf where only the margin
    /// makes the pair
    float margin;
    /// Lengths of a periodic box, 0: open along that axis. Then Cb is taken at Cb + k L, for k =
    /// -1, 0 and 1, along each axis that has a length; every image makes a pair of its own. No
    /// sphere pairs with its own image. Centres may lie anywhere and are taken as they are given:
    /// nothing is wrapped into a box, so spheres two lengths apart and more have no common image.
    /// A shift counts from the given centres
    float period[3];
    /// carom_start; SKIP_PARTING leaves out a pair in contact at time 0 with d.v > 0
    carom_start start;
    uint8_t full; ///< lists. 1: each pair stands under both spheres, with the shift negated under b
} carom_spheres_desc;

/// Pairs of an earlier list, to find them again. Only read. Where positions were wrapped into the
/// period since (new = old + w L for each sphere), its shifts must be corrected first: the shift of
/// a and b is now shift + w_a - w_b.
typedef struct carom_sphere_pairs_before {
    size_t size;         ///< sizeof(carom_sphere_pairs_before)
    uint64_t count;      ///< records
    const int32_t *a;    ///< [count] ascending; equal ones are allowed
    const int32_t *b;    ///< [count]
    const int8_t *shift; ///< [count][3]; NULL: all are 0
} carom_sphere_pairs_before;

/// Pairs, one record each, ordered by (a, t, b, shift). Arrays are the caller's; any may be NULL.
typedef struct carom_sphere_pair_list {
    size_t size;       ///< sizeof(carom_sphere_pair_list)
    uint64_t capacity; ///< records that the arrays below hold; 0: pairs are only counted
    uint64_t *offsets; ///< [count + 1] as in carom_hit_list, by a; set from `begin` to `end`
    int32_t *a, *b;    ///< [capacity] indices
    uint8_t *state;    ///< [capacity] APPROACHING, TOUCHING, OVERLAPPING, or MISS: see `margin`
    float *t;          ///< [capacity] T; +inf also beyond binary32
    int8_t *shift;     ///< [capacity][3] b's image, in periods
    /// [capacity] ra + rb - distance at the hit, L: the nearest binary32 to the true number, in
    /// both modes. 0 for APPROACHING and TOUCHING; below 0 where only the margin makes the pair
    float *depth;
    /// [capacity] unit vector from a to b at the hit (of a margin's pair: at time 0), each
    /// component within 2^-24. Where centres coincide: -v / |v|, or zeros without relative motion
    carom_points_out normal;
    /// [capacity] index of the same a, b and shift in `before`, the lowest of several; -1 if the
    /// pair is new
    int64_t *previous;
    const carom_sphere_pairs_before *before; ///< for `previous`; NULL: no pairs
    carom_list_totals *totals;               ///< out, must not be NULL
} carom_sphere_pair_list;

/// The first partner of each sphere, the smallest (t, index); any pointer may be NULL.
typedef struct carom_sphere_partner_result {
    size_t size;    ///< sizeof(carom_sphere_partner_result)
    int32_t *other; ///< [count] -1 without one
    /// [count] APPROACHING, TOUCHING, OVERLAPPING, MISS or INVALID; of a partner's images that have
    /// this t the lowest state
    uint8_t *state;
    float *t; ///< [count] T; +inf without a partner, or beyond binary32
} carom_sphere_partner_result;

/// Value of `partners` for a sphere with an invalid input.
#define CAROM_COUNT_INVALID UINT32_MAX
typedef struct carom_sphere_count_result {
    size_t size;        ///< sizeof(carom_sphere_count_result)
    uint32_t *partners; ///< [count] images counted one by one; must not be NULL
} carom_sphere_count_result;

/// All pairs of `count` spheres that touch, or that will within t_max. If the list is too short, it
/// holds the pairs of whole spheres a, and all others are counted; `complete` is the sphere to go
/// on from. With the offsets of the first call, [begin, end) can cut the next pieces to what fits.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs; `stats` count spheres, but by_integers
///         counts pairs, as often as the search decides each, and by_proof is 0. A device answers a
///         cloud as a whole, else the CPU does
/// returns CAROM_OK | INVALID_ARGUMENT (also: more than 2^36 pairs, as of 400,000 spheres in one
///         place; the answers are undefined then) | CANCELLED | OUT_OF_MEMORY
/// cost  Memory: some 80 bytes per sphere (moving: 180) and 16 per record. A
///       list that is too short costs three times as much as one that is not: ask for the number
///       first, with capacity 0. Depth and normal take a third of the list's time more, an earlier
///       list a tenth: docs/spheres.md
CAROM_API carom_status carom_spheres_list(carom_context *context, const carom_spheres_desc *desc,
                                          const carom_sphere_pair_list *list, carom_stats *stats,
                                          carom_error *err);
/// The first partner of each sphere. Cheap also where many spheres are in one place, unless `start`
/// leaves out their contact.
CAROM_API carom_status carom_spheres_first(carom_context *context, const carom_spheres_desc *desc,
                                           const carom_sphere_partner_result *out,
                                           carom_stats *stats, carom_error *err);
/// Whether each sphere has a partner; as cheap.
CAROM_API carom_status carom_spheres_any(carom_context *context, const carom_spheres_desc *desc,
                                         const carom_any_result *out, carom_stats *stats,
                                         carom_error *err);
/// How many partners each sphere has. Returns and costs as carom_spheres_list.
CAROM_API carom_status carom_spheres_count(carom_context *context, const carom_spheres_desc *desc,
                                           const carom_sphere_count_result *out, carom_stats *stats,
                                           carom_error *err);

/// The spheres in the order of cells: near each other in space, near each other in memory. A caller
/// that keeps its spheres so, and renews the order every hundred steps or so, has its pairs sooner.
/// order[k] [count] is the sphere to put at place k; every sphere stands there once. Spheres of one
/// cell, and those that are invalid, behind all others, keep their order. Centers and radii decide;
/// of the rest of `desc` nothing but `batch` matters, but it is checked.
///
/// in, stats, err, bits, threads: as carom_spheres_list. The bits may differ between versions
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY
/// cost  a part of a list's: docs/spheres.md
CAROM_API carom_status carom_spheres_order(carom_context *context, const carom_spheres_desc *desc,
                                           uint32_t *order, carom_stats *stats, carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
