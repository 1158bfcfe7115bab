/* SPDX-License-Identifier: MIT */
/* A shim between the library and the OpenCL loader, for fault injection. A program that is linked with cl_shim.c calls
 * the shim, because a program's own definitions of the OpenCL functions precede those of the loader. The shim counts
 * the objects that the library holds, makes calls fail and device memory scarce, changes the reported properties of
 * devices, and patches the kernel sources. */
#ifndef CAROM_TESTS_SUPPORT_CL_SHIM_H
#define CAROM_TESTS_SUPPORT_CL_SHIM_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdatomic.h>

#include "support.h"

/* Counts of the OpenCL references that the library holds, and of the buffers that it has mapped (HELD_MAPS). */
enum {
    HELD_CONTEXTS,
    HELD_QUEUES,
    HELD_BUFFERS,
    HELD_PROGRAMS,
    HELD_KERNELS,
    HELD_EVENTS,
    HELD_DEVICES, /* that were retained */
    HELD_MAPS,
    HELD_KINDS
};
extern atomic_int cl_held[HELD_KINDS]; /* jobs have a thread of their own */
/* Fails if the library still holds a reference. HELD_MAPS is not checked, because after a failed call a buffer may be
 * released while it is mapped. */
void cl_expect_none(const char *label);

/* Kinds of calls that cl_sabotage can make fail. */
typedef enum cl_call {
    CALL_CONTEXT,
    CALL_QUEUE,
    CALL_BUFFER,
    CALL_PROGRAM,
    CALL_BUILD,
    CALL_KERNEL,
    CALL_ARGUMENT,
    CALL_LAUNCH,
    CALL_WRITE,
    CALL_READ,
    CALL_MAP,
    CALL_UNMAP,
    CALL_FLUSH,
    CALL_FINISH,
    CALL_WAIT,
    CALL_USER_EVENT,
    CALL_MARKER,
    CALL_BARRIER,
    CALL_COMMAND, /* a command that is enqueued and later fails */
    CALL_KINDS
} cl_call;
const char *cl_call_name(cl_call call);
/* The error code of such a failed call: one that the library reports as out of memory, or one that it reports as a lost
 * device. */
cl_int cl_call_code(cl_call call);

/* Restarts the counts of all calls. Then call number `at` of this kind fails, counted from 1 (0: none does); with
 * `after` all later calls of this kind fail too. */
void cl_sabotage(cl_call call, int at, int after);
/* Number of calls of this kind since the last cl_sabotage. */
int cl_calls(cl_call call);

/* Faults may be those of one device alone: only what happens in the cl_context that was made as number cl_victim since
 * cl_count_contexts, counted from 1, fails, is scarce, slow or patched, and is counted by cl_calls. 0: all. */
extern int cl_victim;
void cl_count_contexts(void);
/* Nanoseconds that each work-item of a launch takes longer. */
extern int cl_slowness;

/* Nanoseconds that every command is reported to have run, by the device's clock; 0: the real ones. */
extern cl_ulong cl_lasts;

/* Which buffer allocations fail, whatever memory the device reports. A 0 sets no limit. */
typedef struct cl_scarcity {
    uint64_t room;    /* bytes that can be allocated in all */
    uint64_t above;   /* larger buffers fail */
    uint64_t exactly; /* buffers of exactly this size fail */
    cl_int code;      /* the error, also of buffers that cl_sabotage fails; 0: the default */
} cl_scarcity;
extern cl_scarcity cl_scarce;

/* Bytes of the buffers that the library holds, without pinned memory, which is the host's; and numbers of failed and of
 * created buffers. */
typedef struct cl_buffers {
    _Atomic uint64_t bytes;
    atomic_int refused;
    atomic_int in_place; /* created over host memory */
    atomic_int for_hits; /* created write-only for kernels */
    atomic_int copied;   /* created as copies of host memory, as a mesh is on a discrete device */
} cl_buffers;
extern cl_buffers cl_seen;
/* Reads the buffer of exactly this size that was created last as a copy of host memory. Returns 0 if there is none. */
int cl_peek(size_t size, void *data);
/* Bytes transferred to the host by reads and maps, and from there by writes. */
extern _Atomic size_t cl_fetched, cl_sent;
/* Reads and writes that are not to wait, of host memory that is not a mapped buffer: drivers wait for them all the
 * same. */
extern int cl_pageable;

/* What all devices of contexts are seen as; NULL: as they are. */
extern cl_device_id cl_seen_members;
/* What every memory object is seen as a part of; NULL: as it is. */
extern cl_mem cl_seen_whole;
/* Number of commands, flushes and waits on this queue. */
extern cl_command_queue cl_watched;
extern atomic_int cl_watched_calls;

/* Ends the failures of cl_sabotage and cl_scarce, and restarts the counts of calls and buffers. The counts of held
 * references and cl_seen_as stay. */
void cl_relieve(void);

/* Called before every kernel launch, unless NULL. */
extern void (*cl_before_launch)(void);

/* Properties that the shim reports in place of the real ones; a 0 leaves the real one. */
typedef struct cl_disguise {
    cl_device_id only; /* the device that is seen so; NULL: every device */
    int gpu;
    int scalar;   /* its own number of lanes is one */
    int discrete; /* a GPU that shares no memory with the host */
    int no_fp64;
    int no_compiler;
    uint64_t memory, largest; /* limits in bytes, for all buffers and for one; allocations beyond them fail */
    uint64_t local;           /* most bytes of local memory */
    size_t group;             /* most work-items of a group */
    size_t kernel_group;      /* the same of a kernel that requires groups of one size */
    const char *platform;     /* name of the platform */
} cl_disguise;
extern cl_disguise cl_seen_as;
/* Whether the device that was opened last shares its memory with the host, as it has been reported. */
extern int cl_shares_memory;

/* A context with one lane on a device that is seen as discrete from now on; and on one without binary64, which chooses
 * no contacts and answers no lattices, so that their arrays come to the host. */
carom_context *cl_open_discrete(void);
carom_context *cl_open_without_fp64(void);

/* A kernel whose build fails; NULL: none. The build log is `words`. If `words` is NULL, the real compiler runs without
 * the library's build options, and the build log is its own. */
typedef struct cl_unbuilt {
    const char *kernel, *words;
} cl_unbuilt;
extern cl_unbuilt cl_broken;
/* Builds with these words in their options fail, all others count in cl_built; NULL: none fails. */
extern const char *cl_refused_options;
/* Launches in groups of so many work-items fail, for lack of resources; 0: none do. */
extern size_t cl_refused_group;
extern atomic_int cl_built;

/* A patch of the kernel sources before they are compiled: each `find` becomes `replacement`; NULL: no patch. */
typedef struct cl_patch {
    const char *find, *replacement;
} cl_patch;
extern cl_patch cl_text_patch;

#endif
