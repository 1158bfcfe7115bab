/* SPDX-License-Identifier: MIT */
/* What the files of the shim share: cl_shim.c has the faults and the objects, cl_shim_commands.c commands and events,
 * cl_shim_disguise.c what devices are seen as. */
#ifndef CAROM_TESTS_SUPPORT_CL_SHIM_PARTS_H
#define CAROM_TESTS_SUPPORT_CL_SHIM_PARTS_H

#include <dlfcn.h>

#include "cl_shim.h"

/* Defines `next`, the loader's function of this name. */
#define NEXT(name)          \
    __typeof__(name) *next; \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

/* Counts a call of this kind; 1 if it must fail. Of calls on a queue only those of the victim count. */
int shim_fails(cl_call call);
int shim_fails_on(cl_command_queue queue, cl_call call);
/* The results of a call that fails: NULL, and the error in *code unless `code` is NULL. */
void *shim_refuse(cl_call call, cl_int *code);
void shim_be_slow(cl_command_queue queue, size_t items);

/* Counts a reference that the library has from now on, or no more, if the call has succeeded. They return what they
 * are given. */
void *shim_hold(int kind, void *made);
cl_int shim_retain(int kind, cl_int code);
cl_int shim_let_go(int kind, cl_int code);

/* 0 is no limit. */
static inline int shim_is_beyond(uint64_t bytes, uint64_t limit)
{
    return limit != 0 && bytes > limit;
}

#endif
