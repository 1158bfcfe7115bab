/* SPDX-License-Identifier: MIT */
/* In front of the library (LD_PRELOAD): every blocking call of the main thread with a batch becomes a job that is
 * waited for. So tests of answers, errors and statistics test jobs too. The library's own thread makes the call of a
 * job by the public name as well: that one goes through. */
#include "carom/carom.h"
#include "kernels/pairs.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int is_main_thread;
static unsigned long jobs;

__attribute__((constructor)) static void begin(void)
{
    is_main_thread = 1;
}

/* A run in which nothing was a job would prove nothing. */
__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("CAROM_TEST_JOBS");
    FILE *out = name != NULL ? fopen(name, "a") : NULL;
    if (out != NULL) {
        (void)fprintf(out, "%lu\n", jobs);
        (void)fclose(out);
    }
}

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    memcpy(function, &found, sizeof found);
}

static carom_status end(carom_job *job, carom_error *err)
{
    const carom_status status = carom_job_wait(job, (double)INFINITY, err);
    carom_job_destroy(job);
    jobs++;
    return status;
}

/* ARGUMENTS and VALUES: the arguments between descriptor and result, each with its comma. */
#define CALL_AS_JOB(name, subject_type, desc_type, out_type, ARGUMENTS, VALUES)                                      \
    carom_status name(subject_type *subject, const desc_type *desc, ARGUMENTS out_type *out, carom_stats *stats,     \
                      carom_error *err)                                                                              \
    {                                                                                                                \
        carom_status (*call)(subject_type *, const desc_type *, ARGUMENTS out_type *, carom_stats *, carom_error *); \
        find(#name, &call);                                                                                          \
        const int makes_job = is_main_thread && desc != NULL && desc->batch.size == sizeof *desc;                    \
        if (!makes_job)                                                                                              \
            return call(subject, desc, VALUES out, stats, err);                                                      \
        carom_job *job = NULL;                                                                                       \
        desc_type copy = *desc;                                                                                      \
        if (copy.batch.job == NULL)                                                                                  \
            copy.batch.job = &job;                                                                                   \
        is_main_thread = 0; /* the library may make the call of the job here, by the public name */                  \
        const carom_status status = call(subject, &copy, VALUES out, stats, err);                                    \
        is_main_thread = 1;                                                                                          \
        return status == CAROM_OK && job != NULL ? end(job, err) : status;                                           \
    }
#define WHICH_ARGUMENT carom_hits which,
#define WHICH_VALUE which,
#define CALL(name, subject, desc, out) CALL_AS_JOB(carom_##name, subject, desc, out, , )
#define CALL_WITH_HITS(name, subject, desc, out) \
    CALL_AS_JOB(carom_##name, subject, desc, out, WHICH_ARGUMENT, WHICH_VALUE)
#include "calls/list.h"
