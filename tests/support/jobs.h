/* SPDX-License-Identifier: MIT */
/* Calls as jobs, with all their outputs in one block of memory, and jobs that are held while they run. */
#ifndef CAROM_TESTS_SUPPORT_JOBS_H
#define CAROM_TESTS_SUPPORT_JOBS_H

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "scenes.h"

enum { JOB_PAIRS, JOB_FIRST, JOB_LIST, JOB_CLOSEST, JOB_LATTICE, JOB_CLOUD, JOB_CALLS };
extern const char *const job_call_names[JOB_CALLS];

/* What the calls work with. The first JOB_SOME of `count` spheres are ordinary, the others far from all others and from
 * the mesh, which costs almost no time. */
enum { JOB_SOME = 300 };
typedef struct job_room {
    carom_context *context;
    carom_mesh *mesh;
    swept_spheres b;
    size_t count;
    carom_lattice lattice; /* a slab for each 4096 of `count` */
} job_room;
/* A context of the CPU with these hooks. */
carom_context *job_context(uint32_t threads, carom_allocator hooks);
/* Owns the context. */
job_room job_room_make(carom_context *context, size_t count);
void job_room_free(job_room *r);

uint64_t job_queries(const job_room *r, int call); /* queries, or slabs */
size_t job_bytes(const job_room *r, int call);     /* of the outputs of so many */
/* Of `how` all but size, count, begin and select are used. Lists have too little room for their records. */
carom_status job_ask(const job_room *r, int call, const carom_batch *how, void *out, carom_stats *stats,
                     carom_error *err);
/* Outputs that are not written yet, and those of the blocking call; the caller frees both. */
unsigned char *job_blank(const job_room *r, int call);
unsigned char *job_answers(const job_room *r, int call);
/* Fail unless the answers to queries [0, done) are the same. */
void job_compare(const job_room *r, int call, const unsigned char *expected, const unsigned char *got, uint64_t done);

#define FOR_EVER ((double)INFINITY) /* for carom_job_wait */
carom_job *job_submit(const job_room *r, int call, void *out, carom_stats *stats);
carom_job_info job_info(const carom_job *job);
/* Waits for the end of a job, which must be good, and destroys it. */
void job_end(carom_job *job);

/* A job that does not return from its progress function until it is let go. */
typedef struct held_job {
    carom_job *job;
    sem_t begun, go;
    atomic_int is_free; /* set before it is let go */
    float answer;
    pthread_t thread;
    int has_thread;
} held_job;
/* For any job, which then is `job`. */
carom_progress held_progress(held_job *h);
void held_wait_begun(held_job *h);
/* A job of one pair, which has begun on return. */
void held_begin(carom_context *context, held_job *h);
/* The same of one that may have to wait first. */
void held_submit(carom_context *context, held_job *h);
void held_let_go(held_job *h);
/* By another thread, which first gives the calling thread the time to do something too soon. */
void held_let_go_later(held_job *h);
/* Ends the job, which has been let go. */
void held_end(held_job *h);

#endif
