/* SPDX-License-Identifier: MIT */
/* OBJ and OFF: read here and not by the importer because its decimal text is up to 2 ulp from the nearest float. */
#include "reader.h"
#include "cli/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct corner_list {
    uint32_t *data;
    size_t count, room;
} corner_list;

static int add_corner(corner_list *list, uint32_t corner)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        uint32_t *larger = cli_resize(list->data, room, sizeof *larger);
        if (!larger)
            return cli_no_memory();
        list->data = larger;
        list->room = room;
    }
    list->data[list->count++] = corner;
    return EXIT_DONE;
}

static int refuse(const mesh_file *file, const mesh_scan *scan, const char *expected)
{
    if (scan->ended)
        return cli_refuse(EXIT_USAGE, "%s: ends where there should be %s", file->path, expected);
    return cli_refuse(EXIT_USAGE, "%s:%llu: expected %s", file->path, (unsigned long long)scan->line, expected);
}

static int read_point(const mesh_file *file, mesh_scan *scan, mesh_data *out)
{
    float xyz[3];
    for (int i = 0; i < 3; i++)
        if (!mesh_scan_float(scan, &xyz[i]))
            return refuse(file, scan, "three numbers for a vertex");
    if (!mesh_scan_numbers(scan))
        return refuse(file, scan, "numbers alone for a vertex");
    return mesh_add_vertex(out, xyz);
}

static int is_one_of(const char *word, size_t length, const char *const *names, size_t count)
{
    int found = 0;
    for (size_t i = 0; i < count; i++)
        found |= mesh_word_is(word, length, names[i]);
    return found;
}

/* ---- OBJ ---------------------------------------------------------------------------------------------------- */

/* One corner "v", "v/t", "v//n" or "v/t/n": v counts from 1, or back from the last vertex read if negative. */
static int obj_corner(const mesh_file *file, const mesh_scan *at, const mesh_data *out, const char *word, size_t length,
                      uint32_t *corner)
{
    const char *end = word + length;
    int64_t number[3], count = (int64_t)out->vertex_count;
    int parts = 0;
    for (const char *from = word, *slash; from <= end; from = slash + 1, parts++) {
        slash = memchr(from, '/', (size_t)(end - from));
        slash = slash ? slash : end;
        if (parts == 3 ||
            ((slash > from || parts == 0) && !mesh_word_integer(from, (size_t)(slash - from), &number[parts])))
            return refuse(file, at, "corners (v, v/t, v//n or v/t/n)");
    }
    number[0] = number[0] < 0 ? count + number[0] : number[0] - 1;
    if (number[0] < 0 || number[0] >= count)
        return cli_refuse(EXIT_USAGE, "%s:%llu: corner %.*s is none of the %lld vertices read before", file->path,
                          (unsigned long long)at->line, (int)length, word, (long long)count);
    *corner = (uint32_t)number[0];
    return EXIT_DONE;
}

static int obj_face(const mesh_file *file, mesh_scan *scan, corner_list *list, mesh_data *out)
{
    const char *word;
    size_t length;
    list->count = 0;
    while (mesh_scan_word(scan, &word, &length)) {
        uint32_t corner = 0;
        int status = obj_corner(file, scan, out, word, length, &corner);
        if (status != EXIT_DONE)
            return status;
        if (add_corner(list, corner) != EXIT_DONE)
            return EXIT_WORK;
    }
    if (list->count == 0)
        return refuse(file, scan, "the corners of a face after 'f'");
    return mesh_add_polygon(out, list->data, list->count);
}

typedef struct obj_counts {
    uint64_t curves, unknown, first_unknown; /* the last a line */
} obj_counts;

/* Statements that say nothing of triangles: numbers, which may go on in the next line. */
static int obj_is_numeric(const char *word, size_t length)
{
    static const char *const names[] = {"vt",       "vn",   "vp",  "s",     "mg",    "bevel", "c_interp",
                                        "d_interp", "lod",  "deg", "bmat",  "step",  "parm",  "trim",
                                        "hole",     "scrv", "sp",  "ctech", "end",   "con",   "bzp",
                                        "bsp",      "cdc",  "cdp", "res",   "curv2", "stech", "cstype"};
    return is_one_of(word, length, names, sizeof names / sizeof names[0]);
}

/* And names: one that ends in a backslash is a Windows folder, and the next line a statement of its own. */
static int obj_is_name(const char *word, size_t length)
{
    static const char *const names[] = {"usemtl",     "mtllib",    "usemap", "maplib",
                                        "shadow_obj", "trace_obj", "call",   "csh"};
    return is_one_of(word, length, names, sizeof names / sizeof names[0]);
}

/* Statements that none of the triangles needs, counted where they hold geometry. */
static int obj_other(const mesh_file *file, mesh_scan *scan, const char *word, size_t length, obj_counts *counts,
                     mesh_data *out)
{
    int curve = mesh_word_is(word, length, "curv") || mesh_word_is(word, length, "surf");
    if (obj_is_name(word, length))
        return EXIT_DONE;
    out->dropped_points += length == 1 && *word == 'p';
    out->dropped_lines += length == 1 && *word == 'l';
    counts->curves += (uint64_t)curve;
    if (curve || (length == 1 && (*word == 'p' || *word == 'l')) || obj_is_numeric(word, length)) {
        while (mesh_scan_word(scan, &word, &length))
            ;
        return EXIT_DONE;
    }
    if (memchr(word, '\0', length))
        return refuse(file, scan, "a statement in text, which a NUL byte is not (is this UTF-16?)");
    if (counts->unknown++ == 0)
        counts->first_unknown = scan->line;
    return EXIT_DONE;
}

int mesh_read_obj(const mesh_file *file, mesh_data *out)
{
    mesh_scan scan = mesh_scan_begin(file->data, file->size, MESH_COMMENTS | MESH_CONTINUED);
    corner_list list = {0};
    obj_counts counts = {0};
    int status = mesh_check_text(file);
    snprintf(out->reader, sizeof out->reader, "OBJ, coordinates as the nearest float to the decimals");
    while (status == EXIT_DONE && mesh_scan_line(&scan)) {
        const char *word, *name;
        size_t length, name_length;
        mesh_scan_word(&scan, &word, &length);
        if (length == 1 && *word == 'v') {
            status = read_point(file, &scan, out);
        } else if ((length == 1 && *word == 'f') || (length == 2 && !memcmp(word, "fo", 2))) {
            status = obj_face(file, &scan, &list, out);
        } else if (length == 1 && (*word == 'o' || *word == 'g')) {
            mesh_scan_word(&scan, &name, &name_length);
            /* a part that nothing was put into is renamed, not kept: "o" and "g" often stand together */
            if (out->part_count > 0 && out->parts[out->part_count - 1].triangle_count == 0)
                out->part_count--;
            status = mesh_add_part(out, name, name_length);
        } else {
            status = obj_other(file, &scan, word, length, &counts, out);
        }
    }
    if (counts.unknown > 0)
        mesh_note(out, "%llu statements that are none of OBJ were ignored, the first in line %llu",
                  (unsigned long long)counts.unknown, (unsigned long long)counts.first_unknown);
    if (counts.curves > 0)
        mesh_note(out, "%llu free-form curves and surfaces were dropped", (unsigned long long)counts.curves);
    free(list.data);
    return status;
}

/* ---- OFF ---------------------------------------------------------------------------------------------------- */

/* The keyword [ST][C][N][4][n]OFF, which the first count may be glued to. */
static int off_keyword(const mesh_file *file, mesh_scan *scan, int *any_dimension)
{
    static const char *const names[] = {"OFF", "COFF", "NOFF", "CNOFF", "STOFF", "STCOFF", "STNOFF", "STCNOFF"};
    const char *word;
    size_t length, glued;
    if (!mesh_scan_line(scan) || !mesh_scan_word(scan, &word, &length))
        return refuse(file, scan, "OFF in the first line");
    for (glued = length; glued > 0 && word[glued - 1] >= '0' && word[glued - 1] <= '9'; glued--)
        ;
    scan->word = word + glued;
    length = glued;
    /* the only letter whose case counts: NOFF has normals, nOFF says how many coordinates a point has */
    *any_dimension = length > 3 && word[length - 4] == 'n';
    if (length > (*any_dimension ? 4 : 3) && word[length - (*any_dimension ? 5 : 4)] == '4')
        return refuse(file, scan, "points of three coordinates: 4OFF has four, which are not read");
    char name[8] = {0};
    for (size_t i = 0, n = 0; i < length && n < sizeof name - 1; i++)
        if (!*any_dimension || i != length - 4)
            name[n++] = word[i];
    if (length > 8 || !is_one_of(name, strlen(name), names, sizeof names / sizeof names[0]))
        return refuse(file, scan, "OFF, COFF, NOFF, CNOFF or STOFF in the first line");
    return EXIT_DONE;
}

/* Numbers of the header may stand in one line or in several. */
static int off_number(mesh_scan *scan, int64_t *number)
{
    mesh_scan here = *scan;
    const char *word;
    size_t length;
    return (mesh_scan_word(&here, &word, &length) || mesh_scan_line(scan)) && mesh_scan_integer(scan, number) &&
           *number >= 0;
}

static int off_header(const mesh_file *file, mesh_scan *scan, int64_t *vertices, int64_t *faces)
{
    int any_dimension = 0, status = off_keyword(file, scan, &any_dimension);
    int64_t dimension = 3, edges;
    const char *word;
    size_t length;
    if (status != EXIT_DONE)
        return status;
    mesh_scan here = *scan;
    if (mesh_scan_word(&here, &word, &length) && mesh_word_is(word, length, "BINARY"))
        return refuse(file, scan, "text: binary OFF is not read");
    if (any_dimension && (!off_number(scan, &dimension) || dimension != 3))
        return refuse(file, scan, "3 for the number of coordinates, behind nOFF: other numbers are not read");
    if (!off_number(scan, vertices) || !off_number(scan, faces))
        return refuse(file, scan, "the numbers of vertices and faces, below 10^18");
    here = *scan;
    if (mesh_scan_word(&here, &word, &length) && !mesh_scan_integer(scan, &edges))
        return refuse(file, scan, "the number of edges, or nothing, behind the numbers of vertices and faces");
    if (mesh_scan_word(scan, &word, &length))
        return refuse(file, scan, "nothing behind the numbers of vertices, faces and edges");
    /* a vertex takes six bytes at least, a face four; the last line may lack its end */
    uint64_t left = (uint64_t)(scan->end - scan->at) + 1;
    if ((uint64_t)*vertices > left / 6 || (uint64_t)*faces > left / 4)
        return cli_refuse(EXIT_USAGE,
                          "%s: announces %lld vertices and %lld faces, more than its %llu bytes can hold: truncated?",
                          file->path, (long long)*vertices, (long long)*faces, (unsigned long long)file->size);
    return EXIT_DONE;
}

static int off_face(const mesh_file *file, mesh_scan *scan, corner_list *list, mesh_data *out)
{
    int64_t count, corner;
    if (!mesh_scan_line(scan) || !mesh_scan_integer(scan, &count) || count < 1)
        return refuse(file, scan, "a face: the number of its corners, then the corners");
    list->count = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!mesh_scan_integer(scan, &corner))
            return refuse(file, scan, "as many corners as announced, each the number of a vertex");
        if (corner < 0 || (uint64_t)corner >= out->vertex_count)
            return cli_refuse(EXIT_USAGE, "%s:%llu: corner %lld is none of the %llu vertices, which count from 0",
                              file->path, (unsigned long long)scan->line, (long long)corner,
                              (unsigned long long)out->vertex_count);
        if (add_corner(list, (uint32_t)corner) != EXIT_DONE)
            return EXIT_WORK;
    }
    if (!mesh_scan_numbers(scan))
        return refuse(file, scan, "a colour in numbers, or nothing, behind the corners");
    return mesh_add_polygon(out, list->data, list->count);
}

int mesh_read_off(const mesh_file *file, mesh_data *out)
{
    mesh_scan scan = mesh_scan_begin(file->data, file->size, MESH_COMMENTS);
    corner_list list = {0};
    int64_t vertices = 0, faces = 0;
    snprintf(out->reader, sizeof out->reader, "OFF, coordinates as the nearest float to the decimals");
    int status = mesh_check_text(file);
    if (status == EXIT_DONE)
        status = off_header(file, &scan, &vertices, &faces);
    for (int64_t i = 0; i < vertices && status == EXIT_DONE; i++)
        status =
            mesh_scan_line(&scan) ? read_point(file, &scan, out) : refuse(file, &scan, "as many vertices as announced");
    for (int64_t i = 0; i < faces && status == EXIT_DONE; i++)
        status = off_face(file, &scan, &list, out);
    if (status == EXIT_DONE && mesh_scan_line(&scan))
        status = refuse(file, &scan, "the end of the file: all faces that it announces are read");
    free(list.data);
    return status;
}
