/* SPDX-License-Identifier: MIT */
/* A test program that links own_memory.c stands between the library and the OpenCL loader: every device calls itself a GPU
 * with memory of its own, as large as the test says, and buffers are refused as the test wants. */
#ifndef CAROM_TESTS_OWN_MEMORY_H
#define CAROM_TESTS_OWN_MEMORY_H
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>

typedef struct own_memory {
    /* What devices say of themselves, and what they keep to. 0: as much as there is. */
    uint64_t memory, largest;
    /* What becomes of buffers beyond that. */
    uint64_t room;  /* bytes that are free in truth; 0: all */
    uint64_t above; /* larger ones are refused; 0: none */
    int fail_at;    /* so is the one that is asked for as number fail_at, from 1 on, and the later ones too; 0: none */
    int fail_after;
    cl_int code; /* with which they are refused */
    /* What was seen. */
    int asked, refused;               /* buffers */
    int in_place;                     /* of these, over memory of the host */
    int for_hits;                     /* of these, for kernels to write alone */
    int buffers;                      /* there are now */
    uint64_t held;                    /* bytes of these, without pinned memory, which is the host's */
    int launches, sent, fetched;      /* commands */
    size_t sent_bytes, fetched_bytes; /* by commands, so without what a mesh is created from */
} own_memory;
extern own_memory device_memory;

/* From here on: those numbers from 0, no refusals. What there is, and what devices say, stays. */
void device_memory_begin(void);

#endif
