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

typedef struct bake_growing {
    output_place place; /* of OUT */
    char name[NAME_MAX + 16], journal_name[NAME_MAX + 16], shown[512];
    char text[BAKE_TEXT]; /* the fingerprint; the caller's to fill */
    int fd;
    int is_mine; /* the file holds no work of an earlier run */
    int is_anew; /* this run made the journal */
    int is_over; /* OUT.partial has become OUT, or is another process's: a later run cannot go on with it */
    bake_journal journal;
    double begun;             /* seconds: when the disk was last told to begin */
    double synced, sync_cost; /* when data last went there, how long that took */
} bake_growing;

/* Functions that return an int return an exit status with the message printed, unless they say otherwise.
 * bake_growing_close in any case. */

/* Open and lock OUT.partial, a new one if there is none, and open the journal if there is one. */
int bake_growing_open(bake_growing *g, const char *path);
/* Is there work of an earlier run? Returns 0 or 1. */
int bake_growing_has_work(const bake_growing *g);
/* Refuse to go on with a journal of another fingerprint. */
int bake_growing_compare(const bake_growing *g);
/* Without work of an earlier run: refuse an OUT.partial that carom did not make. head: how such a file begins. */
int bake_growing_check(const bake_growing *g, const void *head, size_t size);
/* OUT, open for reading, if journal or attributes say that it is this bake's and complete, with that checksum. Returns
 * -1 if there is none. */
int bake_growing_open_complete(const bake_growing *g, uint64_t *sum);
/* Report that OUT is of another bake, if it is. */
void bake_growing_report_old(const bake_growing *g);
/* Begin anew: empty OUT.partial and make a new journal; then, when the bytes of every output are in place, write the
 * fingerprint. The journal becomes valid last, so an interruption before leaves nothing to go on with. */
int bake_growing_clear(bake_growing *g);
int bake_growing_begin(bake_growing *g);
/* All is written: flush to disk, rename, and remove the journal. sum: of all answers. */
int bake_growing_finish(bake_growing *g, uint64_t sum);
/* The same with another file of the folder in the place of OUT.partial, which is removed when OUT is there. */
int bake_growing_finish_with(bake_growing *g, int fd, const char *name, uint64_t sum);
/* OUT is complete: remove the other files, unless another process has begun to bake it meanwhile. */
void bake_growing_settle(bake_growing *g);
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
