/* SPDX-License-Identifier: MIT */
/* carom bench: named scenes, each answered by every subject (an instruction set with so many threads, an OpenCL device,
 * a plain loop, a peer) in turns, so that whatever else the machine does hits all of them alike. */
#ifndef CAROM_BENCH_BENCH_H
#define CAROM_BENCH_BENCH_H

#include "measure.h"

#include <carom/carom.h>
#include <stddef.h>
#include <stdint.h>

/* Triangles of the user's own; borrowed. */
typedef struct bench_mesh {
    const float *vertices;   /* [3 * vertex_count] */
    const uint32_t *indices; /* [3 * triangle_count] */
    size_t vertex_count, triangle_count;
} bench_mesh;

typedef struct bench_settings {
    const char *scenes; /* beginnings of names, separated by commas; NULL: all of this run */
    int quick;          /* fewer rounds, smaller batches, no large mesh */
    uint64_t queries;   /* of a batch of each scene that is not about its size; 0: the scene's own number */
    carom_backend backend;
    const char *device;    /* NULL: every device */
    carom_isa isa;         /* CAROM_ISA_AUTO: every one */
    uint32_t threads;      /* 0: one, and all that the process may use */
    uint32_t accuracies;   /* a bit 1 << carom_accuracy each */
    uint32_t device_chunk; /* 0: the device's own */
    bench_mesh mesh;       /* of the scenes that end in -file; no triangles: they are not measured */
} bench_settings;

/* One scene answered by one subject in one accuracy. Times are of a whole batch, in seconds; NAN where it does not
 * apply. */
typedef struct bench_row {
    char name[192]; /* scene/accuracy/backend/device-or-isa/threads:N */
    char scene[48];
    uint32_t threads;
    int rounds;
    double queries, bytes; /* bytes that a query moves at least; 0: not known */
    double median, cpu, best,
        spread; /* cpu: of all threads together; spread: half the way from the 16th to the 84th percentile */
    statistics_interval interval;         /* of the median */
    double instructions;                  /* median, in user mode, of all threads together; NAN: not counted */
    double package_joules, device_joules; /* mean */
    double divisions, roots;              /* that a query needs at least; NAN: not known */
    double over_fast;                     /* exact: median of the rounds' ratios to fast by the same subject */
    double over_each; /* a lattice: median of the rounds' ratios of one query for each node to it, per node */
    double upload, compute, download, host; /* of the fastest run on a device, as carom_stats has them */
    double overhead;                        /* resident: `best` without `compute`; NAN if kernels overlap */
    double share;                           /* of the limit that is nearest */
    const char *limit;                      /* which: "memory", "divider", "device memory" */
    double second_filter, integers;         /* shares of the queries that these rungs of exact mode decided */
    int same;                               /* 1: the bits of the first subject; 0: others; -1: not to be compared */
    uint64_t other;                         /* a peer: answers that are not carom's */
    double size;                            /* what a series goes over: queries, triangles, threads, rows of a chunk */
    /* Of the first `judged` queries, by the exact reference: hits that are not seen, that are none, and whose place is
     * more than 1e-4 of the scene off. */
    uint64_t judged, misses, false_hits, off;
    const measure_round *samples; /* [sample_count] by round; the listener's who copies the row copies them, too */
    int sample_count;
} bench_row;

/* What so many threads do, measured in the same run by plain loops for the best instruction set; per second. */
enum { BENCH_LIMITS = 2 }; /* of one thread, of all */
typedef struct bench_limits {
    char isa[16];
    uint32_t threads;
    double triad_bytes, multiply_adds, divisions, roots;
} bench_limits;

/* What moving bytes to, from and within a device reaches, measured in the same run; bytes per second, a copy's read and
 * write both counted. 0: not measured. */
typedef struct bench_device {
    carom_device_info info;
    double write_bytes, read_bytes, copy_bytes;
} bench_device;

/* Where a run reports what it finds, in order: devices, limits, what it is going to measure, then facts and rows as
 * they come. */
typedef struct bench_listener {
    void *user;
    void (*device)(void *user, const bench_device *device); /* one that is measured */
    void (*limits)(void *user, const bench_limits *limits);
    /* A subject that cannot answer, and why. */
    void (*refused)(void *user, const char *name, carom_status status, const char *sentence);
    void (*note)(void *user, const char *text);                               /* what else is not measured, and why */
    void (*plan)(void *user, const char *unit, size_t count, double seconds); /* scenes or series; seconds: a guess */
    /* Asked between samples: so many scenes or series are done, and that share of the seconds is spent, from 0 to 1. 0:
     * the run ends, and rows of what is not measured to the end do not come. */
    int (*go_on)(void *user, size_t done, double share);
    void (*scene)(void *user, const char *name, const char *what);
    void (*row)(void *user, const bench_row *row);
    void (*finding)(void *user, const char *text); /* what a series says as a whole */
} bench_listener;

/* Figures of a side's rounds, its samples among them; the measurement must live as long as they are read. */
void bench_row_take(bench_row *row, const measurement *m, int side);

enum { BENCH_NAME = 48 };
typedef int bench_name_fn(size_t index, char name[BENCH_NAME], const char **what); /* 0 beyond the last */
/* Does every word of `scenes` begin one of the names? If not, `unknown` points at the first that does not. */
int bench_knows(const char *scenes, bench_name_fn *names, const char **unknown);
/* Is `name` begun by one of the words of `scenes`, or are there none? */
int bench_is_chosen(const char *scenes, const char *name);
/* The words for a load that leaves fewer of so many processors than the run uses; empty for any other. */
enum { BENCH_WARNING = 192 };
void bench_load_warning(const bench_settings *settings, double load, int processors, char text[BENCH_WARNING]);
/* Returns 0 if there was nothing to measure. Ends the program where there is no memory. */
int bench_run(const bench_settings *settings, const bench_listener *listener);
bench_name_fn bench_scene_name;
/* The same for series: how times grow with the batch, the mesh, the threads, the chunk; scaling.c. */
int scaling_run(const bench_settings *settings, const bench_listener *listener);
bench_name_fn scaling_series_name;

#endif
