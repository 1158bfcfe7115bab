/* SPDX-License-Identifier: MIT */
/* Where an output goes: the file to be replaced, if any, and the temporary file beside it. */
#ifndef CAROM_CLI_BASE_OUTPUT_PLACE_H
#define CAROM_CLI_BASE_OUTPUT_PLACE_H

#include <sys/stat.h>

enum { OUTPUT_TEMPORARY = 24 };

typedef struct output_place {
    const char *shown; /* as messages name it */
    char *path;        /* links followed; NULL: standard output or another descriptor that is open */
    const char *name;  /* in its folder: the end of path */
    int descriptor;    /* where path is NULL */
    int folder;        /* -1: no regular file, written directly */
    int flushable;     /* the folder could be opened for reading */
    int exists;
    struct stat old;                  /* if it does */
    char temporary[OUTPUT_TEMPORARY]; /* in the folder; empty: none */
    int is_nameless;                  /* there is one that has no name yet */
} output_place;

/* Follow links, find what the path names and whether it may be replaced; nothing is changed. Returns an exit status
 * with the message printed. */
int output_place_find(output_place *place, const char *path);
/* Do both lead to the same regular file? */
int output_place_same(const output_place *a, const output_place *b);
/* Open what is written to. Returns a descriptor, or -1 with errno. */
int output_place_open(output_place *place);
/* A file in the same folder that has no name and is gone when it is closed. Returns as output_place_open. */
int output_place_nameless(const output_place *place);
/* In this order, with `fd` closed between them: the content reaches the disk, and a file without a name has its
 * temporary one; then the file takes its place and the name reaches the disk. Nothing to do for what is written
 * directly. Return exit statuses with the message printed. */
int output_place_flush(output_place *place, int fd);
int output_place_finish(output_place *place);
/* For a file that takes this place under another name than `temporary`. Give it owner, group, access list and mode of
 * the old file, while it is still empty. Where one cannot be kept, the new file allows no user more than the old one
 * did. Returns 0 with errno. */
int output_place_keep_access(const output_place *place, int fd);
/* After the rename: report other names of the old file, and flush the folder. Returns as output_place_finish. */
int output_place_settle(const output_place *place);
/* Remove the temporary file, if any. */
void output_place_drop(output_place *place);
void output_place_free(output_place *place);

#endif
