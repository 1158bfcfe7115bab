/* SPDX-License-Identifier: MIT */
#include "cl_shim_parts.h"

#include <time.h>

atomic_int cl_held[HELD_KINDS];
_Atomic size_t cl_fetched, cl_sent;
int cl_pageable;
cl_device_id cl_seen_members;
cl_mem cl_seen_whole;
cl_command_queue cl_watched;
atomic_int cl_watched_calls;
int cl_victim;
int cl_slowness;
cl_scarcity cl_scarce;
cl_buffers cl_seen;
void (*cl_before_launch)(void);
cl_disguise cl_seen_as;
int cl_shares_memory;
cl_unbuilt cl_broken;
const char *cl_refused_options;
size_t cl_refused_group;
atomic_int cl_built;
cl_patch cl_text_patch;

static const struct {
    const char *name;
    cl_int code;
} calls[CALL_KINDS] = {
    [CALL_CONTEXT] = {"clCreateContext", CL_OUT_OF_RESOURCES},
    [CALL_QUEUE] = {"clCreateCommandQueue", CL_OUT_OF_RESOURCES},
    [CALL_BUFFER] = {"clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE},
    [CALL_PROGRAM] = {"clCreateProgramWithSource", CL_OUT_OF_HOST_MEMORY},
    [CALL_BUILD] = {"clBuildProgram", CL_OUT_OF_RESOURCES},
    [CALL_KERNEL] = {"clCreateKernel", CL_OUT_OF_RESOURCES},
    [CALL_ARGUMENT] = {"clSetKernelArg", CL_OUT_OF_RESOURCES},
    [CALL_LAUNCH] = {"clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES},
    [CALL_WRITE] = {"clEnqueueWriteBuffer", CL_OUT_OF_RESOURCES},
    [CALL_READ] = {"clEnqueueReadBuffer", CL_OUT_OF_RESOURCES},
    [CALL_MAP] = {"clEnqueueMapBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE},
    [CALL_UNMAP] = {"clEnqueueUnmapMemObject", CL_OUT_OF_RESOURCES},
    [CALL_FLUSH] = {"clFlush", CL_OUT_OF_RESOURCES},
    [CALL_FINISH] = {"clFinish", CL_OUT_OF_RESOURCES},
    [CALL_WAIT] = {"clWaitForEvents", CL_OUT_OF_RESOURCES},
    [CALL_USER_EVENT] = {"clCreateUserEvent", CL_OUT_OF_HOST_MEMORY},
    [CALL_MARKER] = {"clEnqueueMarkerWithWaitList", CL_OUT_OF_RESOURCES},
    [CALL_BARRIER] = {"clEnqueueBarrierWithWaitList", CL_OUT_OF_RESOURCES},
    [CALL_COMMAND] = {"a command", CL_OUT_OF_RESOURCES},
};

const char *cl_call_name(cl_call call)
{
    return calls[call].name;
}

cl_int cl_call_code(cl_call call)
{
    return calls[call].code;
}

void cl_expect_none(const char *label)
{
    static const char *const names[HELD_KINDS] = {"contexts", "queues", "buffers", "programs",
                                                  "kernels",  "events", "devices", "maps"};
    for (int i = 0; i < HELD_MAPS; i++)
        if (cl_held[i] != 0)
            fail_msg("%s: %d OpenCL %s are left", label, cl_held[i], names[i]);
}

/* ---- failing ----------------------------------------------------------------------------------------------------- */

static atomic_int counts[CALL_KINDS];
static struct {
    cl_call call;
    int at, after;
} fault;

void cl_sabotage(cl_call call, int at, int after)
{
    for (int i = 0; i < CALL_KINDS; i++)
        counts[i] = 0;
    fault.call = call;
    fault.at = at;
    fault.after = after;
}

void cl_relieve(void)
{
    cl_sabotage(CALL_KINDS, 0, 0);
    memset(&cl_scarce, 0, sizeof cl_scarce);
    cl_seen.refused = cl_seen.in_place = cl_seen.for_hits = cl_seen.copied = 0;
    cl_victim = cl_slowness = 0;
    cl_lasts = 0;
    cl_count_contexts();
}

int cl_calls(cl_call call)
{
    return counts[call];
}

int shim_fails(cl_call call)
{
    const int number = ++counts[call];
    return call == fault.call && fault.at != 0 && (number == fault.at || (fault.after && number > fault.at));
}

/* ---- one device of several --------------------------------------------------------------------------------------- */

enum { CONTEXTS = 64 };
static cl_context made_contexts[CONTEXTS];
static int made_count;

void cl_count_contexts(void)
{
    made_count = 0;
}

static cl_context note_context(cl_context made)
{
    if (made != NULL && made_count < CONTEXTS)
        made_contexts[made_count++] = made;
    return made;
}

static int is_victim(cl_context context)
{
    return cl_victim == 0 || (cl_victim <= made_count && made_contexts[cl_victim - 1] == context);
}

static int is_victims_queue(cl_command_queue queue)
{
    cl_context context = NULL;
    return cl_victim == 0 ||
           (clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) == CL_SUCCESS &&
            is_victim(context));
}

int shim_fails_on(cl_command_queue queue, cl_call call)
{
    return is_victims_queue(queue) && shim_fails(call);
}

void shim_be_slow(cl_command_queue queue, size_t items)
{
    const uint64_t wait = (uint64_t)cl_slowness * items;
    const struct timespec pause = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};
    if (wait > 0 && is_victims_queue(queue))
        nanosleep(&pause, NULL);
}

void *shim_refuse(cl_call call, cl_int *code)
{
    if (code != NULL)
        *code = calls[call].code;
    return NULL;
}

void *shim_hold(int kind, void *made)
{
    cl_held[kind] += made != NULL;
    return made;
}

cl_int shim_retain(int kind, cl_int code)
{
    cl_held[kind] += code == CL_SUCCESS;
    return code;
}

cl_int shim_let_go(int kind, cl_int code)
{
    cl_held[kind] -= code == CL_SUCCESS;
    return code;
}

/* ---- what is created and released -------------------------------------------------------------------------------- */

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                           void(CL_CALLBACK *tell)(const char *, const void *, size_t, void *), void *user,
                           cl_int *code)
{
    NEXT(clCreateContext);
    return shim_fails(CALL_CONTEXT)
               ? shim_refuse(CALL_CONTEXT, code)
               : shim_hold(HELD_CONTEXTS, note_context(next(properties, count, devices, tell, user, code)));
}

cl_int clRetainContext(cl_context context)
{
    NEXT(clRetainContext);
    return shim_retain(HELD_CONTEXTS, next(context));
}

cl_int clReleaseContext(cl_context context)
{
    NEXT(clReleaseContext);
    return shim_let_go(HELD_CONTEXTS, next(context));
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t size, void *value, size_t *used)
{
    NEXT(clGetContextInfo);
    const cl_int code = next(context, what, size, value, used);
    cl_device_id *const devices = what == CL_CONTEXT_DEVICES && cl_seen_members != NULL ? value : NULL;
    for (size_t i = 0; code == CL_SUCCESS && devices != NULL && i < size / sizeof *devices; i++)
        devices[i] = cl_seen_members;
    return code;
}

cl_int clRetainDevice(cl_device_id device)
{
    NEXT(clRetainDevice);
    return shim_retain(HELD_DEVICES, next(device));
}

cl_int clReleaseDevice(cl_device_id device)
{
    NEXT(clReleaseDevice);
    return shim_let_go(HELD_DEVICES, next(device));
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *code)
{
    NEXT(clCreateCommandQueue);
    return shim_fails(CALL_QUEUE) ? shim_refuse(CALL_QUEUE, code)
                                  : shim_hold(HELD_QUEUES, next(context, device, properties, code));
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
    NEXT(clRetainCommandQueue);
    return shim_retain(HELD_QUEUES, next(queue));
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    NEXT(clReleaseCommandQueue);
    return shim_let_go(HELD_QUEUES, next(queue));
}

cl_int clReleaseProgram(cl_program program)
{
    NEXT(clReleaseProgram);
    return shim_let_go(HELD_PROGRAMS, next(program));
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    NEXT(clCreateKernel);
    return shim_fails(CALL_KERNEL) ? shim_refuse(CALL_KERNEL, code)
                                   : shim_hold(HELD_KERNELS, next(program, name, code));
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    NEXT(clReleaseKernel);
    return shim_let_go(HELD_KERNELS, next(kernel));
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static uint64_t device_bytes(cl_mem_flags flags, size_t size)
{
    return flags & CL_MEM_ALLOC_HOST_PTR ? 0 : size;
}

/* CL_SUCCESS, or the error with which this allocation fails. */
static cl_int refusal(cl_mem_flags flags, size_t size)
{
    const cl_scarcity *s = &cl_scarce;
    const uint64_t then = cl_seen.bytes + device_bytes(flags, size);
    const int chosen = shim_fails(CALL_BUFFER) || (s->exactly != 0 && size == s->exactly);
    if (shim_is_beyond(size, cl_seen_as.largest))
        return CL_INVALID_BUFFER_SIZE;
    if (shim_is_beyond(then, cl_seen_as.memory))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (!chosen && !shim_is_beyond(size, s->above) && !shim_is_beyond(then, s->room))
        return CL_SUCCESS;
    return s->code != CL_SUCCESS ? s->code : calls[CALL_BUFFER].code;
}

/* The buffers that were created last as copies of host memory. */
enum { RECENT = 64 };
static struct {
    cl_mem memory;
    size_t size;
    int references; /* of the library */
} recent[RECENT];
static atomic_uint recent_count;

static void note_recent(cl_mem memory, size_t size)
{
    const unsigned at = recent_count++ % RECENT;
    recent[at].memory = memory;
    recent[at].size = size;
    recent[at].references = 1;
}

static void count_recent(cl_mem memory, int more)
{
    for (int i = 0; i < RECENT; i++)
        if (recent[i].memory == memory && (recent[i].references += more) == 0)
            recent[i].memory = NULL;
}

int cl_peek(size_t size, void *data)
{
    NEXT(clEnqueueReadBuffer);
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_int code = CL_SUCCESS;
    cl_mem memory = NULL;
    for (unsigned i = 0; i < RECENT && memory == NULL; i++) {
        const unsigned at = (recent_count - 1 - i) % RECENT;
        memory = recent[at].size == size ? recent[at].memory : NULL;
    }
    if (memory == NULL)
        return 0;
    (void)clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(cl_context), (void *)&context, NULL);
    (void)clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(cl_device_id), (void *)&device, NULL);
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(next(queue, memory, CL_TRUE, 0, size, data, 0, NULL, NULL), CL_SUCCESS);
    (void)clReleaseCommandQueue(queue);
    return 1;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *memory, cl_int *code)
{
    NEXT(clCreateBuffer);
    const cl_int refused = is_victim(context) ? refusal(flags, size) : CL_SUCCESS;
    if (refused != CL_SUCCESS) {
        cl_seen.refused++;
        *code = refused; /* which the library wants */
        return NULL;
    }
    const cl_mem made = shim_hold(HELD_BUFFERS, next(context, flags, size, memory, code));
    if (made != NULL) {
        if ((flags & CL_MEM_COPY_HOST_PTR) != 0)
            note_recent(made, size);
        cl_seen.bytes += device_bytes(flags, size);
        cl_seen.in_place += (flags & CL_MEM_USE_HOST_PTR) != 0;
        cl_seen.for_hits += (flags & CL_MEM_WRITE_ONLY) != 0;
        cl_seen.copied += (flags & CL_MEM_COPY_HOST_PTR) != 0;
    }
    return made;
}

/* Its bytes on the device; each reference counts them. */
static uint64_t bytes_of(cl_mem memory)
{
    size_t size = 0;
    cl_mem_flags flags = 0;
    const int known = clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, NULL) == CL_SUCCESS &&
                      clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL) == CL_SUCCESS;
    return known ? device_bytes(flags, size) : 0;
}

cl_int clRetainMemObject(cl_mem memory)
{
    NEXT(clRetainMemObject);
    count_recent(memory, 1);
    const cl_int code = next(memory);
    cl_held[HELD_BUFFERS] += code == CL_SUCCESS;
    cl_seen.bytes += code == CL_SUCCESS ? bytes_of(memory) : 0;
    return code;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    NEXT(clReleaseMemObject);
    count_recent(memory, -1);
    cl_seen.bytes -= bytes_of(memory);
    return shim_let_go(HELD_BUFFERS, next(memory));
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t size, void *value, size_t *used)
{
    NEXT(clGetMemObjectInfo);
    const cl_int code = next(memory, what, size, value, used);
    if (code == CL_SUCCESS && what == CL_MEM_ASSOCIATED_MEMOBJECT && value != NULL && cl_seen_whole != NULL)
        *(cl_mem *)value = cl_seen_whole;
    return code;
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

enum { PLACES = 16 }; /* most occurrences of `find` in one source */

static char *patched(cl_context context, const char *text)
{
    static const cl_patch none = {NULL, NULL};
    const cl_patch *p = is_victim(context) ? &cl_text_patch : &none;
    const size_t find = p->find != NULL ? strlen(p->find) : 0;
    const size_t replacement = p->find != NULL ? strlen(p->replacement) : 0;
    char *copy = test_alloc(strlen(text) + PLACES * replacement + 1, 1), *to = copy;
    int places = 0;
    for (const char *at; find > 0 && (at = strstr(text, p->find)) != NULL; text = at + find, to += replacement) {
        assert_true(++places <= PLACES);
        memcpy(to, text, (size_t)(at - text));
        to += at - text;
        memcpy(to, p->replacement, replacement);
    }
    memcpy(to, text, strlen(text));
    return copy;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                     cl_int *code)
{
    NEXT(clCreateProgramWithSource);
    if (shim_fails(CALL_PROGRAM))
        return shim_refuse(CALL_PROGRAM, code);
    char **copy = test_alloc(count, sizeof *copy);
    assert_null(lengths); /* the library passes sources that end with a zero */
    for (cl_uint i = 0; i < count; i++)
        copy[i] = patched(context, texts[i]);
    const cl_program made = shim_hold(HELD_PROGRAMS, next(context, count, (const char **)copy, NULL, code));
    for (cl_uint i = 0; i < count; i++)
        free(copy[i]);
    free(copy);
    return made;
}

/* 1 if these are the build options of the kernel whose build must fail. */
static int is_broken(const char *options)
{
    const char *at = cl_broken.kernel != NULL ? strstr(options, "-DKERNEL=") : NULL;
    const size_t length = at != NULL ? strcspn(at += strlen("-DKERNEL="), " ") : 0;
    return length > 0 && length == strlen(cl_broken.kernel) && strncmp(at, cl_broken.kernel, length) == 0;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *tell)(cl_program, void *), void *user)
{
    NEXT(clBuildProgram);
    if (shim_fails(CALL_BUILD))
        return calls[CALL_BUILD].code;
    if (cl_refused_options != NULL && strstr(options, cl_refused_options) != NULL)
        return CL_INVALID_BUILD_OPTIONS;
    cl_built++;
    if (!is_broken(options))
        return next(program, count, devices, options, tell, user);
    return cl_broken.words != NULL ? CL_BUILD_PROGRAM_FAILURE
                                   : next(program, count, devices, "-cl-std=CL1.2", tell, user);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                             void *value, size_t *used)
{
    NEXT(clGetProgramBuildInfo);
    if (what != CL_PROGRAM_BUILD_LOG || cl_broken.words == NULL)
        return next(program, device, what, size, value, used);
    const size_t length = strlen(cl_broken.words) + 1;
    if (used != NULL)
        *used = length;
    if (value != NULL && size < length)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, cl_broken.words, length);
    return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    NEXT(clSetKernelArg);
    return shim_fails(CALL_ARGUMENT) ? calls[CALL_ARGUMENT].code : next(kernel, index, size, value);
}

carom_context *cl_open_discrete(void)
{
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    cl_relieve();
    return test_device(1, 0);
}

carom_context *cl_open_without_fp64(void)
{
    cl_seen_as.no_fp64 = 1;
    carom_context *context = cl_open_discrete();
    cl_seen_as.no_fp64 = 0;
    return context;
}
