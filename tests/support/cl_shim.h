/* SPDX-License-Identifier: MIT */
/* What stands between the library and the OpenCL loader in a program that is linked with cl_shim.c, for a program's
 * own definitions of these calls come first: it counts what the library holds, makes calls fail and memory scarce, lets
 * a device look like another one, and its kernels be others. */
#ifndef CAROM_TESTS_SUPPORT_CL_SHIM_H
#define CAROM_TESTS_SUPPORT_CL_SHIM_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "support.h"

/* References that the library holds, and buffers that it has mapped. */
enum { HELD_CONTEXTS, HELD_QUEUES, HELD_BUFFERS, HELD_PROGRAMS, HELD_KERNELS, HELD_EVENTS, HELD_MAPS, HELD_KINDS };
extern int cl_held[HELD_KINDS];
/* Fails if there is any. A buffer may be let go while it is mapped, where a call has failed. */
void cl_expect_none(const char *label);

/* Calls that can fail. */
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
    CALL_COMMAND, /* which was accepted and ends badly */
    CALL_KINDS
} cl_call;
const char *cl_call_name(cl_call call);
/* As the library knows it if it is for want of memory, else as a device that is lost. */
cl_int cl_call_code(cl_call call);

/* All calls are counted anew; of this kind number `at`, from 1, fails; 0: none. With `after` all later ones too. */
void cl_sabotage(cl_call call, int at, int after);
/* So many of this kind there were since. */
int cl_calls(cl_call call);

/* Which buffers cannot be had, whatever the device says of itself; 0: all can. */
typedef struct cl_scarcity {
    uint64_t room;    /* bytes that are free in truth */
    uint64_t above;   /* larger ones are refused */
    uint64_t exactly; /* those of this size are */
    cl_int code;      /* with which, and with which cl_sabotage refuses them; 0: its own */
} cl_scarcity;
extern cl_scarcity cl_scarce;

/* Bytes of the buffers that are held, without pinned memory, which is the host's; and how many buffers were refused, or
 * made. */
typedef struct cl_buffers {
    uint64_t bytes;
    int refused;
    int in_place; /* over memory of the host */
    int for_hits; /* for kernels to write alone */
} cl_buffers;
extern cl_buffers cl_seen;
/* Bytes that reads and maps have brought to the host. */
extern size_t cl_fetched;

/* From here on: no call fails, all buffers can be had, calls and buffers are counted anew. What is held and what
 * devices look like stays. */
void cl_relieve(void);

/* What comes before every launch; NULL: nothing. */
extern void (*cl_before_launch)(void);

/* What the shim reports to the library about every device; all 0: the truth. */
typedef struct cl_disguise {
    int gpu;
    int discrete; /* a GPU that shares no memory with the host */
    int no_fp64;
    uint64_t memory, largest; /* bytes of all and of one buffer, if there are more; beyond them none can be had */
} cl_disguise;
extern cl_disguise cl_seen_as;

/* A kernel whose program is not built; NULL: none. The compiler says `words`; if they are NULL, it is a compiler that
 * has lost its options, and says what it says. */
typedef struct cl_unbuilt {
    const char *kernel, *words;
} cl_unbuilt;
extern cl_unbuilt cl_broken;

/* A patch of the kernels' texts on their way to the compiler: `replacement` for each `find`; NULL: none. */
typedef struct cl_patch {
    const char *find, *replacement;
} cl_patch;
extern cl_patch cl_text_patch;

#endif
