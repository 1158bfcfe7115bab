/* SPDX-License-Identifier: MIT */
/* Between import.c and the readers: building a mesh, scanning text. Every reader works on a file in memory and
 * checks each size against the bytes that are left before it believes it. */
#ifndef CAROM_CLI_IMPORT_READER_H
#define CAROM_CLI_IMPORT_READER_H

#include "import.h"

typedef struct mesh_file {
    const char *path;
    const char *data;
    size_t size;
} mesh_file;

/* Each returns an exit status and has explained anything but EXIT_DONE. */
int mesh_read_ply(const mesh_file *file, mesh_data *out);
int mesh_read_stl(const mesh_file *file, mesh_data *out);
int mesh_read_obj(const mesh_file *file, mesh_data *out);
int mesh_read_off(const mesh_file *file, mesh_data *out);
int mesh_read_gltf(const mesh_file *file, mesh_data *out);
int mesh_read_assimp(const char *path, mesh_data *out);

/* Whether a file that the mesh file names may be read: EXIT_DONE, or an exit status that has been explained. */
int mesh_may_read(const char *path);

/* A reader has come to this place of the file; to be called every MESH_TELL lines or records. */
enum { MESH_TELL = 4096 };
void mesh_parsed(const char *at);

/* ---- building; each returns an exit status ---- */
int mesh_add_part(mesh_data *mesh, const char *name, size_t length);
int mesh_add_vertex(mesh_data *mesh, const float xyz[3]);
int mesh_add_triangle(mesh_data *mesh, uint32_t a, uint32_t b, uint32_t c);
/* n corners, each below vertex_count. Fewer than three are counted as a dropped point or line. */
int mesh_add_polygon(mesh_data *mesh, const uint32_t *corners, size_t n);
/* Room for that much of a mesh at once, for arrays that double as they grow take three times theirs. Returns 0 if there
 * is not enough memory. */
int mesh_reserve(mesh_data *mesh, uint64_t vertices, uint64_t triangles, uint64_t parts);
/* A line of what the import changed. */
void mesh_note(mesh_data *mesh, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- text: lines of words, the same for every reader ----
 * A UTF-8 byte order mark in front is skipped. A line ends in LF, CR LF or CR. NULs and control-Z at the end of the
 * file are none of it. Words are parted by white space. */
enum {
    MESH_COMMENTS = 1, /* a '#' at the start of a word begins a comment; "Cube#1" is one word */
    MESH_CONTINUED = 2 /* a backslash as the last of a line: the next line goes on with it */
};

typedef struct mesh_scan {
    const char *at, *end; /* what is left of the file */
    const char *word;     /* what is left of the line */
    const char *line_end;
    uint64_t line;
    unsigned syntax;
    int cr_alone; /* lines end in CR: an LF behind it is not part of the end */
    int ended;    /* the file */
} mesh_scan;

/* Refuse text in UTF-16 or UTF-32, as its byte order mark says. */
int mesh_check_text(const mesh_file *file);
mesh_scan mesh_scan_begin(const char *data, size_t size, unsigned syntax);
/* Step to the next line that has a word. Returns 0 at the end of the file. */
int mesh_scan_line(mesh_scan *scan);
/* Next word of the line, or 0. */
int mesh_scan_word(mesh_scan *scan, const char **word, size_t *length);
int mesh_scan_float(mesh_scan *scan, float *out);
int mesh_scan_integer(mesh_scan *scan, int64_t *out);
/* Nothing but numbers (colours, normals, weights) is left of the line? */
int mesh_scan_numbers(mesh_scan *scan);
/* Does the word equal `text`, letter case aside? */
int mesh_word_is(const char *word, size_t length, const char *text);
/* The whole word as a number: decimal or hexadecimal, nan and inf, also as Microsoft's old library writes them. */
int mesh_word_float(const char *word, size_t length, float *out);
/* The whole word as an integer of at most 18 digits. */
int mesh_word_integer(const char *word, size_t length, int64_t *out);

#endif
