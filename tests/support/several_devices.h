/* SPDX-License-Identifier: MIT */
/* Contexts over several devices: a list of names, or parts of the device of this run in one cl_context of the caller.
 * PoCL shows one CPU as several devices if it is asked to before the first call. */
#ifndef CAROM_TESTS_SUPPORT_SEVERAL_DEVICES_H
#define CAROM_TESTS_SUPPORT_SEVERAL_DEVICES_H

#include "cl_shim.h"
#include "requests.h"

#include "carom/carom_opencl.h"

#include <stdatomic.h>

enum { SEED = 71, COUNT = 20003, SHARE = 4, SIDES = 8, DEVICES = 2 };
enum { SURVIVOR = 0, VICTIM = 1 };
#define LIST "0,1"

extern fixture few; /* of make_fixture and free_fixture, the setup and teardown of a group */
int make_fixture(void **state);
int free_fixture(void **state);
extern atomic_int warnings; /* of contexts since the last need_devices */
extern char last_warning[256];

/* PoCL shows two devices from now on. Not 0: failed. */
int show_devices(void);

/* Ends the test if there are not as many devices of one kind. */
carom_device_info need_devices(void);
/* Over LIST. A 0 takes the devices' own chunks. */
carom_context_desc listed_desc(carom_backend backend);
carom_context *listed(carom_backend backend, uint32_t chunk);
/* The parts stay until the process ends: a thread of PoCL 3.1 may look at them after all commands have finished. */
extern cl_device_id part[DEVICES];
/* The program's cl_context of them; skips the test if the device has none. */
cl_context part_context(void);
carom_context *parts(cl_context shared, carom_backend backend, uint32_t chunk);
/* queue: of the caller, in which calls take their turn; NULL: none. */
carom_context *parts_behind(cl_context shared, cl_command_queue queue, carom_backend backend, uint32_t chunk);

/* Fails unless what the devices and the CPU have answered is all. */
void expect_sums(const carom_stats *stats);
/* A batch whose answers must be the CPU's. */
carom_stats ask_all(const request *q, carom_context *context, carom_mesh *mesh);

/* A test whose initial state is a request. */
typedef struct request_test {
    const char *words;
    CMUnitTestFunction test;
    char name[REQUESTS][64]; /* of add_request_tests */
} request_test;
/* Writes the tests of all requests, or of every third or seventh with less effort, to `tests`: at most
 * count * REQUESTS. Those of each[0] begin with request `first`, and those of the next with the next. */
void add_request_tests(struct CMUnitTest *tests, request_test *each, size_t count, size_t first);
#endif
