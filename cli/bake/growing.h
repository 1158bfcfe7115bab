/* SPDX-License-Identifier: MIT */
/* OUT.partial, in which an output grows, and OUT.journal beside it. The process that locks OUT.partial owns both. */
#ifndef CAROM_CLI_BAKE_GROWING_H
#define CAROM_CLI_BAKE_GROWING_H

#include "bake.h"
#include "cli/output_place.h"
#include "journal.h"

#include <limits.h>

typedef struct bake_growing {
    output_place place; /* of OUT */
    char name[NAME_MAX + 16], journal_name[NAME_MAX + 16], shown[512];
    char text[BAKE_TEXT]; /* the fingerprint; the caller's to fill */
    int fd;
    int is_mine;    /* the file holds no work of an earlier run */
    int is_renamed; /* it has become OUT */
    bake_journal journal;
    double begun;             /* seconds: when the disk was last told to begin */
    double synced, sync_cost; /* when data last went there, how long that took */
} bake_growing;

/* Those that return an int: an exit status with the message printed. bake_growing_close in any case. */

/* Open and lock OUT.partial, a new one if there is none, and open the journal. */
int bake_growing_open(bake_growing *g, const char *output);
/* Begin anew: empty both files; then, when what every output has is in place, write the fingerprint. The journal
 * becomes valid last, so whatever is cut off before counts as nothing. */
int bake_growing_clear(bake_growing *g);
int bake_growing_begin(bake_growing *g);
/* Refuse to go on with a journal of another fingerprint. */
int bake_growing_compare(const bake_growing *g);
/* All is written: flush to disk, rename, and remove the journal. */
int bake_growing_finish(bake_growing *g);
/* The same with another file of the folder in the place of OUT.partial, which is removed when OUT is there. */
int bake_growing_finish_with(bake_growing *g, int fd, const char *name);
/* Remove the journal of an output that is complete. */
void bake_growing_settle(const bake_growing *g);
/* is_empty: nothing is to be kept, so that a new partial file is removed. */
void bake_growing_close(bake_growing *g, int is_empty);
/* Remove OUT.partial, which only held the lock. */
void bake_growing_drop(const bake_growing *g);

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
