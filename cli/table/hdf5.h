/* SPDX-License-Identifier: MIT */
/* HDF5 files, if this build has the library (CAROM_HDF5); elsewhere every call fails. What is written has the format of
 * HDF5 1.0 to 1.8 and no times, so the same contents have the same bytes. Types of numbers are named as NumPy names
 * them: <f4, <f8, <i4, <i8, <u4, |u1; arrays are written of <i2, <u2 and |i1, too. */
#ifndef CAROM_CLI_TABLE_HDF5_H
#define CAROM_CLI_TABLE_HDF5_H

#include <stddef.h>
#include <stdint.h>

/* A file, group or dataset; negative: none, and what is asked of it fails as well, so that one look at the end of a
 * chain of calls is enough. */
typedef int64_t hdf5_id;

enum { HDF5_AXES = 4 };

/* Of the library, as 1.10.8; NULL: it is not in this build. */
const char *hdf5_version(void);
/* EXIT_DONE, or EXIT_USAGE with the sentence that this build has no HDF5. */
int hdf5_require(const char *path);
/* What failed first since this was asked last, in the library's words. */
const char *hdf5_error(void);
/* Notes a failure for which the library has no words. */
void hdf5_note(const char *text);

/* ---- writing ------------------------------------------------------------------------------------------------------
 * Ids are closed with hdf5_close. Functions that return an int return 0 if they fail. */

/* A new file in place of an old one. */
hdf5_id hdf5_create(const char *path);
hdf5_id hdf5_create_group(hdf5_id in, const char *name);
/* A dataset of dims[axes], the last varying fastest: contiguous, and in its place from the beginning, with bytes that
 * are written by the caller alone. */
hdf5_id hdf5_create_array(hdf5_id in, const char *name, const char *type, int axes, const uint64_t *dims);
/* One of `size` bytes that each are the number of a word: HDF5's enumeration, so a reader knows the words. */
hdf5_id hdf5_create_words(hdf5_id in, const char *name, const char *const *words, int count, uint64_t size);
/* Where its first byte is in the file. Returns 0 if that is not known. */
int hdf5_place(hdf5_id array, uint64_t *at);
/* An attribute of `count` numbers, or of one number (count 0), of this machine's order. */
int hdf5_put_numbers(hdf5_id of, const char *name, const char *type, uint64_t count, const void *values);
/* An attribute of ASCII text of a fixed length, that of the text. */
int hdf5_put_text(hdf5_id of, const char *name, const char *text);
int hdf5_close(hdf5_id id);

/* ---- a file without its arrays ------------------------------------------------------------------------------------
 */

enum { HDF5_HEAD = 16384 };

/* What describes the arrays of a file, as bytes. The arrays follow, at the places that hdf5_place names, and end where
 * the file ends. Whoever writes them there needs no library. */
typedef struct hdf5_head {
    hdf5_id file;                   /* to create groups and arrays in */
    unsigned char bytes[HDF5_HEAD]; /* after hdf5_head_end */
    void *image;
    size_t size;
} hdf5_head;

/* Begin such a file in memory, which takes none for arrays. hdf5_head_end in any case; it returns 0 if it, or the
 * beginning, failed. */
void hdf5_head_begin(hdf5_head *head);
int hdf5_head_end(hdf5_head *head);

/* ---- reading: hdf5_read.c -----------------------------------------------------------------------------------------
 * The library may crash on a damaged file, so it reads in a process of its own (hdf5_child.h). Numbers that are in the
 * file in one piece are read here, without it. */

enum { HDF5_CHUNK_MAX = 1 << 26 }; /* bytes of a chunk, which is in memory as a whole */
enum { HDF5_TEXT = 256 };

typedef struct hdf5_form {
    int axes;
    uint64_t dims[HDF5_AXES];   /* of the first of them, if there are more */
    uint64_t packed[HDF5_AXES]; /* numbers that are unpacked together; 0: none is packed */
    uint64_t size;              /* bytes of a number */
    char numpy[4];              /* its type as NumPy names it, if it is one of those above; else empty */
    char type[32];              /* in words, such as `big-endian float64` */
    char fault[64];             /* why its numbers cannot be read; empty: they can */
    int is_plain;               /* they are in one piece, which begins at byte `place` of that file */
    uint64_t place, device, inode;
} hdf5_form;

typedef struct hdf5_input hdf5_input;
typedef struct hdf5_array {
    hdf5_input *in; /* NULL: none */
    int32_t number; /* in that process */
    hdf5_form form;
} hdf5_array;

/* A file to read, NULL if that fails. What is wrong with it is in hdf5_error, here and for each of these. */
hdf5_input *hdf5_open(const char *path);
void hdf5_close_input(hdf5_input *in); /* with its arrays */
/* 1, 0, or -1 if the file is damaged. */
int hdf5_has(hdf5_input *in, const char *name);
/* How many members a group has, 0 if there is none; its name if there is one. -1: the file is damaged. */
int hdf5_only_child(hdf5_input *in, const char *group, char *name, size_t size);
/* The name of member `number` of a group, in the order of names: 1 if it is a dataset, else 0; -1: that is not known.
 */
int hdf5_member(hdf5_input *in, const char *group, int number, char name[HDF5_TEXT]);
/* The words of an attribute of an object, with spaces between them; empty if there is none. Returns 0 if that fails. */
int hdf5_words(hdf5_input *in, const char *object, const char *attribute, char text[HDF5_TEXT]);
/* Returns 0 if it is no dataset. */
int hdf5_open_array(hdf5_input *in, const char *name, hdf5_array *out);
int hdf5_is_of(const hdf5_array *array, const char *type);
/* A block of its numbers, which has axes behind the second as a whole. Returns 0 if that fails. */
int hdf5_read(const hdf5_array *array, int axes, const uint64_t *from, const uint64_t *count, void *to);

#endif
