/* SPDX-License-Identifier: MIT */
/* The floating-point mode that the bits depend on. */
#include <float.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <fenv.h>
#endif

#include "cpu.h"

_Static_assert(FLT_EVAL_METHOD == 0, "every operation must round to binary32");

uint64_t caromi_float_mode_set(void)
{
#if defined(__x86_64__)
    const uint64_t mode = _mm_getcsr();
    _mm_setcsr(0x1f80);
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#else /* no portable word for flushing; a fresh thread does not flush */
    const uint64_t mode = (uint64_t)fegetround();
    (void)fesetround(FE_TONEAREST);
#endif
    return mode;
}

void caromi_float_mode_restore(uint64_t mode)
{
#if defined(__x86_64__)
    _mm_setcsr((unsigned)mode);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
    (void)fesetround((int)mode);
#endif
}
