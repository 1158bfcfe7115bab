/* SPDX-License-Identifier: MIT */
/* Which process called OpenCL first. A child of fork() has the driver's memory but none of its threads, and these may
 * have held its locks: a call then hangs for ever, even in a new OpenCL context. That is a fact of the whole process. A
 * new carom context in a child must know it, but no older object is reachable from there. So this is one of the
 * library's two writable globals, written once in a process tree (docs/devices.md, "Falling back"). */
#include <stdatomic.h>
#include <unistd.h>

#include "device.h"

static atomic_int opencl_process; /* 0: OpenCL was not called yet */

int caromi_opencl_is_inherited(void)
{
    const int process = atomic_load(&opencl_process);
    return process != 0 && process != getpid();
}

carom_status caromi_fail_inherited(carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_NO_DEVICE, 0,
                       "OpenCL was opened by process %d before fork() made this one, %d: the driver does not work here",
                       atomic_load(&opencl_process), getpid());
}

carom_status caromi_claim_opencl(carom_error *err)
{
    int none = 0;
    (void)atomic_compare_exchange_strong(&opencl_process, &none, getpid());
    return caromi_opencl_is_inherited() ? caromi_fail_inherited(err) : CAROM_OK;
}
