/* SPDX-License-Identifier: MIT */
/* What the series share: the subjects, and one point of a curve. */
#ifndef CAROM_BENCH_SCALING_H
#define CAROM_BENCH_SCALING_H

#include "mesh_task.h"
#include "pair_task.h"

/* A subject over all points of a series. */
typedef struct scaling_side {
    bench_row row;
    const subject *subject;
    pair_call pairs; /* if it has a subject, */
    mesh_call mesh;  /* else this */
    int stopped;     /* too slow, or unable: it has no part in the points to come */
    int fresh;       /* has answered nothing yet */
} scaling_side;

typedef struct scaling {
    const bench_settings *settings;
    const bench_listener *listener;
    const char *series; /* `scaling-` and the word of the series */
    carom_accuracy accuracy;
    carom_isa best;
    subjects subjects;
    scaling_side sides[SUBJECTS_MAX];
    int count, rows;
    size_t done;                  /* series */
    int ended;                    /* before its end, by the listener */
    double planned, before, cost; /* seconds, a guess: of the run, of the series before this one, of this one */
    double begin;                 /* of this series, on the clock */
    double sweep;                 /* seconds: pair_task_pace() of the best instruction set, one thread */
    int reported;                 /* the devices */
    double opening; /* seconds that it took to find and open the devices and to build and probe a program */
} scaling;

void scaling_note(const scaling *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void scaling_finding(const scaling *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add the best instruction set with one thread and with all, then every device, as the settings choose. */
void scaling_open(scaling *s);
void scaling_open_cpu(scaling *s, uint32_t threads); /* 0: one, and all */
void scaling_open_devices(scaling *s, const char *device, uint32_t chunk);
void scaling_report_devices(scaling *s);
void scaling_close(scaling *s);

/* A side for each subject, which the caller gives a task. */
void scaling_begin(scaling *s, const char *series, const char *what);
void scaling_ask_pairs(scaling *s, const pair_scene *in, const answers *out);
/* All sides in turns, one row each: bits are compared, then times are taken. A side that cannot answer is reported and
 * stops. No rows come if the run has to end. */
void scaling_measure(scaling *s);
/* The size and the queries of the next point, for one side and for every side. */
void scaling_place(const scaling *s, scaling_side *side, double size, double queries);
void scaling_point(scaling *s, double size, double queries);
/* Returns 0 if the run has to end. */
int scaling_ask(scaling *s);
/* 0 if the run has to end. A side that would need more than the limit for a batch `growth` times as long stops, and a
 * note says so. Returns how many sides go on. */
int scaling_go_on(scaling *s, double next_size, double growth);
/* `backend/device-or-isa/threads:N` */
const char *scaling_side_name(const scaling_side *side);

/* scaling_plan.c: seconds that a series will take, by a guess from pair_task_pace() of one thread. */
typedef enum series_kind { SERIES_BATCH, SERIES_TRIANGLES, SERIES_THREADS, SERIES_CHUNK } series_kind;
double scaling_seconds(const scaling *s, series_kind kind);

/* 10^k as words, other numbers as they are. */
const char *scaling_number(double value, char text[32]);

/* The series over the size of a batch, and from which size on one subject is faster than another; scaling_batch.c */
void scaling_batch(scaling *s);

#endif
