/* SPDX-License-Identifier: MIT */
/* The floating-point environment that the bits depend on, and in which no exception traps. */
#include <float.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "float_mode.h"

_Static_assert(FLT_EVAL_METHOD == 0, "every operation must round to binary32");

#if defined(__x86_64__)
/* carom computes with SSE alone. A driver and its compiler may use the x87 too, and their threads inherit both. */
enum {
    SSE_DEFAULT = 0x1f80,
    X87_DEFAULT = 0x037f,
    X87_EXCEPTIONS = 0x80ff /* with their summary flag, which has two bits */
};

/* Layout that FNSTENV stores: seven 32-bit words, of which the upper half of each of the first three is reserved. */
typedef struct x87_environment {
    uint16_t control, reserved, status, more[11];
} x87_environment;
_Static_assert(sizeof(x87_environment) == 28, "FNSTENV stores 28 bytes");

static uint16_t x87_control(void)
{
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

static uint16_t x87_status(void)
{
    uint16_t status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return status;
}

caromi_float_mode caromi_float_mode_set(void)
{
    const caromi_float_mode mode = {_mm_getcsr(), x87_control(), x87_status()};
    _mm_setcsr(SSE_DEFAULT);
    if (mode.x87_control != X87_DEFAULT) {
        const uint16_t control = X87_DEFAULT;
        /* FLDCW would raise what is pending and no longer masked. */
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(control));
    }
    return mode;
}

/* FLDENV takes time, and only a driver, or a host with a mode of its own, makes it necessary. */
static void restore_x87(caromi_float_mode mode)
{
    x87_environment environment;
    __asm__ volatile("fnstenv %0" : "=m"(environment));
    environment.control = mode.x87_control;
    environment.status = (uint16_t)((environment.status & ~X87_EXCEPTIONS) | (mode.x87_status & X87_EXCEPTIONS));
    __asm__ volatile("fldenv %0" : : "m"(environment));
}

void caromi_float_mode_restore(caromi_float_mode mode)
{
    if (x87_control() != mode.x87_control || ((x87_status() ^ mode.x87_status) & X87_EXCEPTIONS) != 0)
        restore_x87(mode);
    _mm_setcsr(mode.sse);
}
#elif defined(__aarch64__)
caromi_float_mode caromi_float_mode_set(void)
{
    caromi_float_mode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(mode.status));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return mode;
}

void caromi_float_mode_restore(caromi_float_mode mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode.control));
    __asm__ volatile("msr fpsr, %0" : : "r"(mode.status));
}
#else /* no portable word for flushing; a fresh thread does not flush */
caromi_float_mode caromi_float_mode_set(void)
{
    caromi_float_mode mode;
    (void)feholdexcept(&mode);
    (void)fesetround(FE_TONEAREST);
    return mode;
}

void caromi_float_mode_restore(caromi_float_mode mode)
{
    (void)fesetenv(&mode);
}
#endif
