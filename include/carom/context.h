/* SPDX-License-Identifier: MIT */
/// Status codes, contexts and devices.
#ifndef CAROM_CAROM_CONTEXT_H
#define CAROM_CAROM_CONTEXT_H

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
/// GiB, for the next one, until it is destroyed; and at most 1 GiB of those pages, which the system
/// may take when it is short of memory.
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
    /// each device (docs/devices.md, "Several devices"). A name that has the whole string in it
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
///       than its maker. In a child process of fork(): see carom.h
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

#ifdef __cplusplus
}
#endif
#endif
