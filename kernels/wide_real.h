/* SPDX-License-Identifier: MIT */
/* One number of binary64, for structures that the host, the CPU's searches and devices share. */
#ifndef CAROM_WIDE_REAL_H
#define CAROM_WIDE_REAL_H
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef double wide_real;
#endif
