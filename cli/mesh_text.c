/* SPDX-License-Identifier: MIT */
/* OBJ and OFF: read here and not by the importer because its decimal text is up to 2 ulp from the nearest float. */
#include "mesh_reader.h"
#include "cli.h"

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
        uint32_t *larger = room > SIZE_MAX / sizeof *larger ? NULL : realloc(list->data, room * sizeof *larger);
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

/* ---- OBJ ---------------------------------------------------------------------------------------------------- */

static int whole_number(const char *word, size_t length, int64_t *number)
{
    mesh_scan scan = mesh_scan_begin(word, length);
    return mesh_scan_line(&scan, 0) && mesh_scan_integer(&scan, number);
}

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
        if (parts == 3 || ((slash > from || parts == 0) && !whole_number(from, (size_t)(slash - from), &number[parts])))
            return refuse(file, at, "corners (v, v/t, v//n or v/t/n)");
    }
    number[0] = number[0] < 0 ? count + number[0] : number[0] - 1;
    if (number[0] < 0 || number[0] >= count)
        return cli_refuse(EXIT_USAGE, "%s:%llu: corner %.*s is none of the %lld vertices read before", file->path,
                          (unsigned long long)at->line, (int)length, word, (long long)count);
    *corner = (uint32_t)number[0];
    return EXIT_DONE;
}

/* A line that ends in a backslash goes on in the next. */
static int obj_next_word(mesh_scan *scan, const char **word, size_t *length)
{
    while (mesh_scan_word(scan, word, length)) {
        if (*length != 1 || **word != '\\')
            return 1;
        if (!mesh_scan_line(scan, 1))
            return 0;
    }
    return 0;
}

static int obj_face(const mesh_file *file, mesh_scan *scan, corner_list *list, mesh_data *out)
{
    const char *word;
    size_t length;
    list->count = 0;
    while (obj_next_word(scan, &word, &length)) {
        uint32_t corner = 0;
        int more = length > 1 && word[length - 1] == '\\';
        int status = obj_corner(file, scan, out, word, more ? length - 1 : length, &corner);
        if (status != EXIT_DONE)
            return status;
        if (add_corner(list, corner) != EXIT_DONE)
            return EXIT_WORK;
        if (more && !mesh_scan_line(scan, 1))
            break;
    }
    if (list->count == 0)
        return refuse(file, scan, "the corners of a face after 'f'");
    return mesh_add_polygon(out, list->data, list->count);
}

/* Statements that say nothing of triangles. */
static int obj_is_other(const char *word, size_t length)
{
    static const char *const names[] = {
        "vt",     "vn",       "vp",       "s",    "mg",  "bevel", "usemtl", "mtllib",     "usemap",
        "maplib", "c_interp", "d_interp", "lod",  "deg", "bmat",  "step",   "cstype",     "curv2",
        "parm",   "trim",     "hole",     "scrv", "sp",  "end",   "con",    "shadow_obj", "trace_obj",
        "ctech",  "stech",    "call",     "csh",  "bzp", "bsp",   "cdc",    "cdp",        "res"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        found |= mesh_word_is(word, length, names[i]);
    return found;
}

int mesh_read_obj(const mesh_file *file, mesh_data *out)
{
    mesh_scan scan = mesh_scan_begin(file->data, file->size);
    corner_list list = {0};
    int status = EXIT_DONE;
    uint64_t curves = 0, unknown = 0, first_unknown = 0;
    snprintf(out->reader, sizeof out->reader, "OBJ, coordinates as the nearest float to the decimals");
    while (status == EXIT_DONE && mesh_scan_line(&scan, 1)) {
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
        } else if (length == 1 && *word == 'p') {
            out->dropped_points++;
        } else if (length == 1 && *word == 'l') {
            out->dropped_lines++;
        } else if (mesh_word_is(word, length, "curv") || mesh_word_is(word, length, "surf")) {
            curves++;
        } else if (!obj_is_other(word, length) && unknown++ == 0) {
            first_unknown = scan.line;
        }
    }
    if (unknown > 0)
        mesh_note(out, "%llu statements that are none of OBJ were ignored, the first in line %llu",
                  (unsigned long long)unknown, (unsigned long long)first_unknown);
    if (curves > 0)
        mesh_note(out, "%llu free-form curves and surfaces were dropped", (unsigned long long)curves);
    free(list.data);
    return status;
}

/* ---- OFF ---------------------------------------------------------------------------------------------------- */

static int off_header(const mesh_file *file, mesh_scan *scan, int64_t *vertices, int64_t *faces)
{
    static const char *const names[] = {"OFF", "COFF", "NOFF", "CNOFF", "STOFF"};
    const char *word;
    size_t length;
    int known = 0;
    if (!mesh_scan_line(scan, 1) || !mesh_scan_word(scan, &word, &length))
        return refuse(file, scan, "OFF in the first line");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        known |= mesh_word_is(word, length, names[i]);
    if (!known)
        return refuse(file, scan, "OFF, COFF, NOFF, CNOFF or STOFF in the first line");
    if (!mesh_scan_integer(scan, vertices)) { /* the counts may stand in the same line or the next */
        if (!mesh_scan_line(scan, 1) || !mesh_scan_integer(scan, vertices))
            return refuse(file, scan, "the numbers of vertices and faces");
    }
    if (!mesh_scan_integer(scan, faces) || *vertices < 0 || *faces < 0)
        return refuse(file, scan, "the numbers of vertices and faces");
    return EXIT_DONE;
}

static int off_face(const mesh_file *file, mesh_scan *scan, corner_list *list, mesh_data *out)
{
    int64_t count, corner;
    if (!mesh_scan_line(scan, 1) || !mesh_scan_integer(scan, &count) || count < 1)
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
    mesh_scan scan = mesh_scan_begin(file->data, file->size);
    corner_list list = {0};
    int64_t vertices = 0, faces = 0;
    snprintf(out->reader, sizeof out->reader, "OFF, coordinates as the nearest float to the decimals");
    int status = off_header(file, &scan, &vertices, &faces);
    for (int64_t i = 0; i < vertices && status == EXIT_DONE; i++)
        status = mesh_scan_line(&scan, 1) ? read_point(file, &scan, out)
                                          : refuse(file, &scan, "as many vertices as announced");
    for (int64_t i = 0; i < faces && status == EXIT_DONE; i++)
        status = off_face(file, &scan, &list, out);
    if (status == EXIT_DONE && mesh_scan_line(&scan, 1))
        status = refuse(file, &scan, "the end of the file: all faces that it announces are read");
    free(list.data);
    return status;
}
