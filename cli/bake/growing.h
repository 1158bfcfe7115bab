/* SPDX-License-Identifier: MIT */
/* OUT.partial, in which an output grows, and OUT.journal beside it. The process that has locked the file which has the
 * name OUT.partial owns all names beside OUT: no other process renames, replaces or removes these files. The lock dies
 * with its process. */
#ifndef CAROM_CLI_BAKE_GROWING_H
#define CAROM_CLI_BAKE_GROWING_H

#include "bake.h"
#include "cli/base/output_place.h"
#include "journal.h"

#include <limits.h>

/* The answers of an output, which grow in it: slabs of a volume, or rows. `self` is that of bake_growing_open.
 * Functions that return an int return an exit status with the message printed. */
enum { BAKE_DONE_WORDS = 64 };
typedef struct bake_answers {
    int (*clear)(void *self); /* Before a file grows: remove others of an earlier run. NULL: there are none */
    int (*start)(void *self); /* Write the bytes of every such output to an empty file. NULL: there are none */
    int (*go_on)(void *self); /* Find the answers that an earlier run has left, to go on behind them */
    /* Are the bytes of OUT those of this bake, with that checksum? */
    int (*compare)(void *self, int fd, uint64_t sum, int *is_same);
    int (*finish)(void *self); /* Write the last bytes, then bake_growing_finish */
    /* How far this run has come, and how far an earlier one, as `12 points`. */
    void (*done)(const void *self, char words[BAKE_DONE_WORDS]);
    void (*earlier)(const void *self, char words[BAKE_DONE_WORDS]);
} bake_answers;

typedef struct bake_growing {
    const bake_answers *answers;
    void *self;
    output_place place; /* of OUT */
    char name[NAME_MAX + 16], journal_name[NAME_MAX + 16], shown[512];
    char text[BAKE_TEXT]; /* the fingerprint; the caller's to fill */
    int fd;
    int is_finished; /* OUT is complete: an earlier run did all */
    int finished;    /* OUT then, to be read; -1: it is not complete */
    int is_mine;     /* the file holds no work of an earlier run */
    int is_anew;     /* this run made the journal */
    int is_over;     /* OUT.partial has become OUT, or is another process's: a later run cannot go on with it */
    bake_journal journal;
    double begun;             /* seconds: when the disk was last told to begin */
    double synced, sync_cost; /* when data last went there, how long that took */
} bake_growing;

/* Functions that return an int return an exit status with the message printed, unless they say otherwise.
 * bake_growing_close in any case. */

/* Open and lock OUT.partial, a new one if there is none, and open the journal if there is one. */
int bake_growing_open(bake_growing *g, const char *path, const bake_answers *answers, void *self);
/* resume: BAKE_BEGINS, ... Begin anew or, with --resume, go on with the work of an earlier run, or find OUT complete.
 * head: how OUT.partial begins if carom made it. */
int bake_growing_take_over(bake_growing *g, int resume, const void *head, size_t size);
/* All answers are there: finish OUT, unless it was found complete. */
int bake_growing_end(bake_growing *g);
/* Report how far the bake has come and that it can go on; returns `status`. */
int bake_growing_stopped(const bake_growing *g, int status);
/* All is written: flush to disk, rename, and remove the journal. sum: of all answers. */
int bake_growing_finish(bake_growing *g, uint64_t sum);
/* The same with another file of the folder in the place of OUT.partial, which is removed when OUT is there. */
int bake_growing_finish_with(bake_growing *g, int fd, const char *name, uint64_t sum);
/* is_empty: nothing is to be kept, so that a new partial file is removed. */
void bake_growing_close(bake_growing *g, int is_empty);

/* Start writing to disk what is written to the file, without waiting, a few times in a second at most: then a flush
 * waits for less. Costs more than it gains where that is short pieces with gaps between them. */
void bake_growing_write_back(bake_growing *g);
/* Let data go to disk if it is time. A killed process loses nothing that was written; a power cut loses what was
 * written since the last flush. Returns 0 or an errno. */
int bake_growing_flush(bake_growing *g);
/* The sentence for an errno; returns EXIT_WORK. */
int bake_growing_fail(const bake_growing *g, const char *what, int error);

/* Names of the two files of OUT. */
void bake_growing_names(const char *out, char *partial, char *journal, size_t size);

#endif
