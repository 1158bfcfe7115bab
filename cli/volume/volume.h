/* SPDX-License-Identifier: MIT */
/* Files of volumes: arrays with a number, or three, for each node of a lattice. A format says which byte is where, so
 * that numbers can be written in any order. */
#ifndef CAROM_CLI_VOLUME_VOLUME_H
#define CAROM_CLI_VOLUME_VOLUME_H

#include "carom/lattice.h"

#include <stddef.h>
#include <stdint.h>

enum { VOLUME_ARRAYS = 16, VOLUME_PIECES = 2 + VOLUME_ARRAYS, VOLUME_TEXT = 2048, VOLUME_NAME = 64 };

typedef struct volume_array {
    const char *name; /* shorter than VOLUME_NAME */
    size_t size;      /* bytes of a node */
    const char *kind; /* as VTK names the type of a component */
    const char *type; /* as NumPy does */
    int components;
} volume_array;

typedef struct volume {
    int axes; /* 2: a map, whose lattice has one k */
    carom_lattice lattice;
    uint64_t nodes;
    const volume_array *array[VOLUME_ARRAYS]; /* NULL: not there */
    int first;                                /* the array that is shown first, or is the only one */
    double scale;                             /* a number of the first array stands for so much; 0: it has values */
    /* What made it, in lines, and as a command; each shorter than VOLUME_TEXT; NULL: not told. */
    const char *fingerprint, *command;
} volume;

/* Bytes that do not depend on the numbers. */
typedef struct volume_piece {
    uint64_t at;
    size_t size;
    unsigned char *bytes;
} volume_piece;

typedef struct volume_layout {
    volume_piece pieces[VOLUME_PIECES];
    int piece_count;
    uint64_t array_at[VOLUME_ARRAYS]; /* of the lattice's node 0 */
    uint64_t bytes;                   /* of the whole file */
    /* Of parts of a bake alone. */
    int by_slab;      /* arrays of a slab stand together, and array_at[0] is the place of the first slab */
    uint64_t sums_at; /* of the checksums of all slabs, 8 bytes each, or 0 */
} volume_layout;

typedef struct volume_format {
    const char *name; /* the suffix, after the dot */
    int one_array;    /* it holds one alone, which the caller has checked */
    int (*lay_out)(const volume *v, const char *shown, volume_layout *out);
    int (*require)(const char *shown); /* refuses what this build cannot do; NULL: it can */
} volume_format;

extern const volume_format volume_npy, volume_nrrd, volume_vti, volume_vtkhdf, volume_h5;

/* The format that the suffix names; NULL: none. */
const volume_format *volume_format_of(const char *path);
/* Of an empty layout. shown: the output, for messages. Returns an exit status with the message printed;
 * volume_layout_free in any case. */
int volume_lay_out(const volume_format *format, const volume *v, const char *shown, volume_layout *out);
void volume_layout_free(volume_layout *layout);
/* Add a piece of `size` bytes; NULL if there is no memory. */
unsigned char *volume_layout_add(volume_layout *layout, uint64_t at, size_t size);
/* Refuse more nodes along an axis than a 32-bit integer counts, in a file of that suffix. */
int volume_check_int_axes(const volume *v, const char *suffix, const char *shown);

#endif
