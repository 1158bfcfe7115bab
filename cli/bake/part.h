/* SPDX-License-Identifier: MIT */
/* Parts of an output, and what complete files know about the bake that made them. */
#ifndef CAROM_CLI_BAKE_PART_H
#define CAROM_CLI_BAKE_PART_H

#include "bake.h"
#include "cli/base/output.h"

/* What a part begins with: magic, length of its fingerprint, fingerprint, zeros. */
enum { BAKE_PART_HEADER = 16 + BAKE_TEXT + 64 };

/* Returns the bytes of it. */
size_t bake_part_header(const char *text, unsigned char header[BAKE_PART_HEADER]);
/* The fingerprint of a part. Returns 0 if the file is no part. */
int bake_part_text(int fd, char text[BAKE_TEXT]);
/* Of a volume, and its plan. */
int bake_part_read(int fd, char text[BAKE_TEXT], bake_plan *plan);
/* The same of any output. All but .npy files begin with it; those may have it as an attribute. */
int bake_file_plan(int fd, char text[BAKE_TEXT], bake_plan *plan);
/* The fingerprint that a file has as an attribute. Returns 0 if it has none. */
int bake_attribute(int fd, char text[BAKE_TEXT]);
/* The checksum of all its answers, which a complete output has as another one. */
int bake_sum_attribute(int fd, uint64_t *sum);
/* Set the first, or both. Where the file system has no attributes, nothing is set, and carom bake check is given the
 * options. */
void bake_set_attribute(int fd, const char *text);
void bake_set_attributes(int fd, const char *text, uint64_t sum);
/* Nodes along x, y and z of a .npy file, and what kind of volume it may be; NULL: none. */
const bake_kind *bake_npy_read(int fd, uint64_t dims[3]);

/* A part that is open. */
typedef struct bake_part_file {
    const char *path;
    int fd;
    char text[BAKE_TEXT]; /* its fingerprint */
    uint64_t part, parts, bytes;
    bake_plan plan; /* of a volume */
    bake_layout layout;
} bake_part_file;

/* Begin an output that is none of the parts. Returns an exit status with the message printed; then there is nothing to
 * close. */
int bake_join_open(output *out, const char *path, const bake_part_file *parts, int count);

/* ---- path_part.c: parts of the rows of paths ----------------------------------------------------------------------
 */

/* Is the fingerprint that of paths? And has the file, a part or an output, such a one? */
int path_part_is(const char *text);
int path_text(int fd, char text[BAKE_TEXT]);
/* Its part, and whether the file has a size that such a part can have. Returns an exit status with the message printed.
 */
int path_part_open(bake_part_file *part);
/* All parts, in any order, as one output. Returns an exit status with the message printed. */
int path_part_join(const char *output, const bake_part_file *parts, int count);
/* Write the rows of all parts, in the order of their numbers, in the format that the output's suffix names; the caller
 * closes it. */
int path_part_write(output *out, const bake_part_file *parts, int count);

#endif
