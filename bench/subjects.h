/* SPDX-License-Identifier: MIT */
/* Who answers: instruction sets of the CPU path with one and with all threads, and OpenCL devices. */
#ifndef CAROM_BENCH_SUBJECTS_H
#define CAROM_BENCH_SUBJECTS_H

#include "bench.h"

enum { SUBJECTS_MAX = 32, DEVICES_MAX = 8 };

typedef struct subject {
    char backend[8]; /* cpu, opencl */
    char what[40];   /* the instruction set, or the device's name in letters, digits and dashes */
    uint32_t threads;
    carom_isa isa;
    uint32_t device;   /* its number, if it is one */
    double copy_bytes; /* of a device: what copies within it reach, per second; 0: not known */
    int has_memory;    /* a device whose buffers lie in memory of its own */
    carom_context *context;
} subject;

typedef struct subjects {
    subject list[SUBJECTS_MAX];
    int count;
} subjects;

/* Whether the settings ask for the CPU path, and for devices. With CAROM_BACKEND_AUTO a device alone leaves out the CPU
 * and an instruction set alone the devices; both together ask for both. */
int subjects_on_cpu(const bench_settings *settings);
int subjects_on_devices(const bench_settings *settings);
/* What cannot be opened is reported to the listener. Devices come last: they bring threads along. */
void subjects_open(subjects *s, const bench_settings *settings, const bench_listener *listener);
/* Measure and report the copy rates of each device. */
void subjects_report_devices(subjects *s, int quick, const bench_listener *listener);
void subjects_close(subjects *s);
/* The highest instruction set of the CPU path; NULL: no subject on the CPU. */
const subject *subjects_best(const subjects *s);
uint32_t subjects_usable_threads(void);
/* 1 if it answers on a device, which *info then describes. */
int subject_device(const subject *s, carom_device_info *info);

#endif
