/* SPDX-License-Identifier: MIT */
/// carom on the caller's OpenCL: a program that has a cl_context keeps its arrays in its own cl_mem
/// objects, and carom's calls use them. Only this header includes CL/cl.h. It is installed where
/// the library was built with OpenCL; the program links OpenCL itself.
///
/// Positions that a kernel of the caller has written, swept past a mesh (`where` has room for x y z
/// of `count` spheres, `when` for `count` times; `mesh` was made in `context`):
///
///     const carom_opencl_desc cl = {.size = sizeof cl, .context = mine, .device = device};
///     carom_context_create_opencl(NULL, &cl, &context, &err);
///     carom_buffer_wrap_opencl(context, where, 0, 12 * count, &centers, &err);
///     carom_buffer_wrap_opencl(context, when, 0, 4 * count, &times, &err);
///     ...
///     clFinish(queue);
///     desc.center = carom_xyz(carom_buffer_address(centers));
///     out.t = carom_buffer_address(times);
///     carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err);
///
/// Arrays of pairs, first hits, closest points and any-hit queries stay on the device, and on a GPU
/// those of lists of hits and overlaps, of clouds, and the vertices of a refit; if it has binary64,
/// also those of contacts and their matches, distances and clearance. Arrays of other calls (drop
/// maps) cross: before such a call its inputs are brought to the host, and what it has written goes
/// back after it: of a list the stored records, whatever its capacity. `stats.brought` and
/// `stats.returned` count the bytes, and docs/devices.md ("Buffers") has them for each call.
///
/// Order. With a `queue` of the caller every call with arrays takes its turn in it, as a command
/// would: it begins when the commands that the queue has had before have ended, and with a job
/// (batch.h, "jobs") the commands enqueued later begin when the job has ended. So a step of a
/// simulation is a kernel of the caller, a call with a job, a kernel of the caller, and no thread
/// of the caller waits:
///
///     clEnqueueNDRangeKernel(queue, integrate, ...);
///     desc.batch.job = &job;
///     carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err); /* returns at once */
///     clEnqueueNDRangeKernel(queue, bounce, ...);            /* begins after the sweep */
///
/// Enqueued calls. Such a call goes straight into the queue, as kernels between those of the
/// caller, if the device can answer it alone. Then no thread of the host begins or ends it, and the
/// job ends with its last command. This takes all of the following:
///
/// - the call is one of pairs, first hits, closest points or any hits, also of bundles, in fast
///   mode;
/// - its arrays lie in buffers of the device, but for inputs of one element (CAROM_REPEAT);
/// - the context has one device, which is that of the queue, and no job of it is unfinished;
/// - programs and mesh are ready: by an earlier call of the same kind, or by batch.prepare;
/// - there is no progress function, and all that batch.wait names are such jobs or events of
///   commands. An event that the host sets (clCreateUserEvent) is waited for by the host.
///
/// Any other call is an ordinary job: a thread of the context waits for its turn, answers it, and
/// sets a user event that the queue waits for. The answers are the same. Of an enqueued call
/// `stats` have counts and no times, and are there when the call returns. Cancelling has no effect.
/// Limits and indices in buffers are checked on the device while the call runs: if one is refused,
/// the job is INVALID_ARGUMENT when it is asked, its outputs are undefined, and its event is
/// complete all the same. Nothing is read or written outside of the arrays.
/// A command that fails makes its job DEVICE_LOST, commands behind it in the queue fail as the
/// driver has it, and the context gives its device up at its next call. If a command of the caller
/// before the call has failed, the job is DEVICE_LOST too, and the device is kept. Mesh and buffers
/// may be destroyed at once, as those of any job.
///
/// Without a queue, or between several, events order both sides: carom_job_wrap_event and
/// carom_job_get_event. Or the caller waits itself: what its queues write must have ended before a
/// call that reads it, and what they read before a call that writes there. When a call has
/// returned, or its job has ended, its results are complete: any queue may read them.
///
/// Lists. `totals` may lie in a buffer too, at a multiple of 8 bytes: three ulong, `total`,
/// `complete` and `stored`, which a kernel behind the call reads. Records [0, stored) are valid,
/// and the list is whole if `complete` equals the count:
///
///     struct totals { ulong total, complete, stored; };
///     for (ulong k = get_global_id(0); k < totals->stored; k += get_global_size(0)) ...
///     if (totals->complete < count) ...         /* cut: the host has to go on from there */
///
/// Where totals are the program's, a kernel tells from the offsets. A list that is too short has
/// offsets for all queries but records for the first ones alone, so each query is tested:
///
///     if (offsets[i + 1] <= capacity)
///         for (ulong k = offsets[i]; k < offsets[i + 1]; k++) ... /* record k */
///     else ...                                  /* not in the list: the host has to go on */
///
/// An ordinary job that fails lets the queue go on. A kernel that waits for the job's event
/// (carom_job_get_event) fails with it. Without the event, fill the totals with zeros by a command
/// of the queue before the call: one that is refused or fails leaves them, so nothing is stored or
/// complete. A call that is cancelled, or runs out of memory, has the totals of the queries that it
/// has answered. Or fill the offsets with ones (UINT64_MAX): if its arguments are refused or it is
/// cancelled, queries that it has not answered keep them, and do not pass the test.
///
/// carom retains what it keeps and releases it in the end. It computes in command queues of its own
/// in the caller's cl_context. In the caller's queue it puts markers, barriers and the commands of
/// enqueued calls, and flushes it; it never finishes it, and a call with a job waits for nothing. A
/// call without a job waits for the queue, and for ever if a command there waits for an event that
/// the same thread sets later.
/// The barriers of ordinary jobs wait for user events. OpenCL does not define what happens if the
/// program releases objects other than events while commands wait for such: it does so when its
/// jobs have ended.
/// On rusticl (Mesa 22.3) clFinish keeps other threads from waiting for events of the queue, and
/// hangs if a command there waits for an ordinary job: wait for the event of a marker instead.
#ifndef CAROM_CAROM_OPENCL_H
#define CAROM_CAROM_OPENCL_H

#include <CL/cl.h>

#include "carom.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a context computes.
typedef struct carom_opencl_desc {
    size_t size;         ///< sizeof(carom_opencl_desc), set by the caller
    cl_context context;  ///< with any number of devices
    cl_device_id device; ///< one of them; it may be a sub-device
    /// NULL: none. A queue of `context`, of any of its devices, in order or out of order, for the
    /// order of calls: see above. Retained as the others
    cl_command_queue queue;
    /// Several of them, each of which answers a piece of every batch; `device` is NULL then. The
    /// array is not kept. NULL: `device` alone
    const cl_device_id *devices;
    uint32_t device_count; ///< of `devices`, at most CAROM_DEVICES_MAX; without them 0
} carom_opencl_desc;

/// Create a context whose device is one of the caller's cl_context. It is as one made by
/// carom_context_create, and its device as one that was named: gate, probes, chunks and falling
/// back are the same, and so are the bits. The device is opened here with both backends.
/// desc  NULL: defaults. `backend` must be AUTO or OPENCL, `device` must be NULL
/// cl    the cl_context and the cl_device_id are retained until the context, its meshes and its
///       buffers are destroyed. They must be valid: OpenCL cannot check that
/// out   the context, to be destroyed by the caller; untouched on failure
/// returns CAROM_OK | INVALID_ARGUMENT (also: the device is not of this cl_context) | OUT_OF_MEMORY
///         | UNSUPPORTED (also: the library was built without OpenCL); with CAROM_BACKEND_OPENCL
///         also NO_DEVICE (the device is not available or has no compiler) | NOT_BIT_EXACT |
///         KERNEL_BUILD | DEVICE_LOST; with CAROM_BACKEND_AUTO the CPU answers then, and the log
///         and `stats` give the reason. Of several devices OPENCL needs all, and AUTO goes on with
///         those that can be used
/// cost  as carom_context_create with CAROM_BACKEND_OPENCL
CAROM_API carom_status carom_context_create_opencl(const carom_context_desc *desc,
                                                   const carom_opencl_desc *cl, carom_context **out,
                                                   carom_error *err);

/// Make a buffer of bytes [offset, offset + bytes) of the caller's memory, which is not copied. In
/// a context with several devices, batches with such an array run on the first device alone. Its
/// carom_buffer_info has where = CAROM_BUFFER_DEVICE and reachable = 0 on every device: the program
/// reaches the bytes through its own queues, carom_buffer_read, _write or _map. docs/devices.md
/// ("Buffers") has what a call transfers.
/// context  made by carom_context_create_opencl
/// memory   a buffer object of its cl_context, no sub-buffer. Of CL_MEM_READ_ONLY or
///          CL_MEM_HOST_READ_ONLY it takes inputs alone, of CL_MEM_WRITE_ONLY outputs alone: a call
///          with others is CAROM_ERROR_INVALID_ARGUMENT and names the array. Refused here are
///          CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY, and CL_MEM_WRITE_ONLY with
///          CL_MEM_HOST_READ_ONLY, because limits, undecided queries and arrays that cannot stay
///          cross. It is retained until the buffer is destroyed, so the caller may release it at
///          once. It must be valid: OpenCL cannot check that, so memory that was freed before
///          cannot be seen
/// offset   in bytes, any; bytes: at least 1
/// out      the buffer, to be destroyed by the caller; untouched on failure
/// returns CAROM_OK | INVALID_ARGUMENT (also: beyond the end of `memory`; another buffer of the
///         context has some of these bytes) | OUT_OF_MEMORY | UNSUPPORTED (built without OpenCL) |
///         the error for which the context's device was refused or given up
/// threads: as carom_buffer_create
/// cost  addresses, no memory
CAROM_API carom_status carom_buffer_wrap_opencl(carom_context *context, cl_mem memory,
                                                uint64_t offset, uint64_t bytes, carom_buffer **out,
                                                carom_error *err);

/// Make a job of an event, for batch.wait and carom_job_wait: it ends when the event does, and has
/// failed with CAROM_ERROR_DEVICE_LOST if the event's status is negative. It cannot be cancelled,
/// and neither it nor a job that waits for it ends before the event. Its carom_job_info has no
/// counts and no statistics.
/// context  made by carom_context_create_opencl
/// event    of its cl_context, any command's or the caller's. It must be valid, and the caller
///          flushes its queue. It is retained until the job is destroyed and those that wait for it
///          have begun; one that failed, until the context is destroyed
/// out      the job, to be destroyed by the caller; untouched on failure. It keeps its context
///          alive, as every job
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY | DEVICE_LOST | NO_DEVICE (in a child of
///         fork()) | UNSUPPORTED (built without OpenCL)
/// cost  no call that waits. carom_job_wait with a limit asks for the event's status, every 10 us
///       first, every 1 ms later
CAROM_API carom_status carom_job_wrap_event(carom_context *context, cl_event event, carom_job **out,
                                            carom_error *err);
/// Make an event of a job, for wait lists of commands: a user event that is complete when the job
/// has ended, also of an empty batch. It is set just after that, so perhaps after carom_job_wait
/// has returned. If the job has failed, its status is the negative of the carom_status, and
/// commands that wait for it fail. (The caller's `queue` goes on in that case.) Of a job that was
/// made of an event it is that event, of an enqueued call the event of its last command.
/// job  of a context made by carom_context_create_opencl
/// out  the event, to be released by the caller; untouched on failure
/// returns as carom_job_wrap_event
CAROM_API carom_status carom_job_get_event(carom_job *job, cl_event *out, carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
