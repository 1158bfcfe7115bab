/* SPDX-License-Identifier: MIT */
/* Records the process that called OpenCL first. A child of fork() has the driver's memory but none of its threads,
 * which may have held locks. An OpenCL call in the child then hangs forever, even in a new OpenCL context. A new carom
 * context in the child must detect that, but can reach no older object. So the process number is one of the library's
 * two writable globals, written once in a process tree (docs/devices.md, "Falling back"). */
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
    return caromi_fail(err, CAROM_ERROR_NO_DEVICE, CAROMI_NO_NATIVE_CODE,
                       "OpenCL was opened by process %d before fork() made this one, %d: the driver does not work here",
                       atomic_load(&opencl_process), getpid());
}

/* Notes which process uses OpenCL, before its first OpenCL call. */
carom_status caromi_claim_opencl(carom_error *err)
{
    int none = 0;
    (void)atomic_compare_exchange_strong(&opencl_process, &none, getpid());
    return caromi_opencl_is_inherited() ? caromi_fail_inherited(err) : CAROM_OK;
}
