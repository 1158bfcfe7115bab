/* SPDX-License-Identifier: MIT */
/* Progress while one long call of the library says nothing of its own: a thread keeps reporting that the job runs.
 * Without memory for a thread there are no reports until the call returns. */
#ifndef CAROM_CLI_BASE_PROGRESS_WATCH_H
#define CAROM_CLI_BASE_PROGRESS_WATCH_H

#include "progress.h"

#include <pthread.h>

typedef struct progress_watch {
    progress *progress;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int has_ended, is_running;
} progress_watch;

/* Report `p` as it stands, whenever it is time, until the end. The caller leaves both alone between. */
void progress_watch_begin(progress_watch *w, progress *p);
void progress_watch_end(progress_watch *w);

#endif
