/* SPDX-License-Identifier: MIT */
/* STL, binary and text. Coordinates keep their bits, triangles their order; normals and attributes are ignored. */
#include "reader.h"
#include "cli/base/base.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEADER = 84, FACET = 50 };

static uint32_t little_32(const char *data)
{
    const unsigned char *b = (const unsigned char *)data;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int add_facet(mesh_data *out, const float corners[9])
{
    uint32_t first = (uint32_t)out->vertex_count;
    for (int i = 0; i < 3; i++) {
        int status = mesh_add_vertex(out, corners + 3 * i);
        if (status != EXIT_DONE)
            return status;
    }
    return mesh_add_triangle(out, first, first + 1, first + 2);
}

static int read_binary(const mesh_file *file, uint64_t count, mesh_data *out)
{
    snprintf(out->reader, sizeof out->reader, "binary STL, coordinates bit for bit");
    for (uint64_t i = 0; i < count; i++) {
        const char *facet = file->data + HEADER + FACET * i;
        float corners[9];
        if (i % MESH_TELL == 0)
            mesh_parsed(facet);
        for (int k = 0; k < 9; k++) {
            uint32_t bits = little_32(facet + 12 + 4 * k);
            memcpy(&corners[k], &bits, sizeof bits);
        }
        int status = add_facet(out, corners);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

static int refuse(const mesh_file *file, const mesh_scan *scan, const char *expected)
{
    return cli_refuse(EXIT_USAGE, "%s:%llu: expected %s", file->path, (unsigned long long)scan->line, expected);
}

/* The line's first word; an empty one at the end of the file. */
static int first_word(mesh_scan *scan, const char **word, size_t *length)
{
    *word = "";
    *length = 0;
    return mesh_scan_line(scan) && mesh_scan_word(scan, word, length);
}

/* "endloop", which some exporters write as "end loop"; of a solid "end" alone will do. */
static int is_end(const mesh_scan *scan, const char *word, size_t length, const char *what)
{
    mesh_scan here = *scan;
    if (length > 3 && mesh_word_is(word, 3, "end"))
        return mesh_word_is(word + 3, length - 3, what);
    if (!mesh_word_is(word, length, "end"))
        return 0;
    return mesh_scan_word(&here, &word, &length) ? mesh_word_is(word, length, what) : !strcmp(what, "solid");
}

static int read_facet(const mesh_file *file, mesh_scan *scan, mesh_data *out)
{
    float corners[9];
    const char *word;
    size_t length;
    if (!first_word(scan, &word, &length) || !mesh_word_is(word, length, "outer"))
        return refuse(file, scan, "'outer loop'");
    for (int i = 0; i < 3; i++) {
        if (!first_word(scan, &word, &length) || !mesh_word_is(word, length, "vertex"))
            return refuse(file, scan, "'vertex x y z'");
        for (int k = 0; k < 3; k++)
            if (!mesh_scan_float(scan, &corners[3 * i + k]))
                return refuse(file, scan, "three numbers after 'vertex'");
        if (mesh_scan_word(scan, &word, &length))
            return refuse(file, scan, "no more than three numbers after 'vertex'");
    }
    if (!first_word(scan, &word, &length) || !is_end(scan, word, length, "loop"))
        return refuse(file, scan, "'endloop' after three vertices");
    if (!first_word(scan, &word, &length) || !is_end(scan, word, length, "facet"))
        return refuse(file, scan, "'endfacet'");
    return add_facet(out, corners);
}

static int read_text(const mesh_file *file, mesh_data *out)
{
    mesh_scan scan = mesh_scan_begin(file->data, file->size, 0);
    const char *word;
    size_t length;
    int status = EXIT_DONE, inside = 0, unended = 0;
    snprintf(out->reader, sizeof out->reader, "text STL, coordinates as the nearest float to the decimals");
    while (status == EXIT_DONE && first_word(&scan, &word, &length)) {
        if (mesh_word_is(word, length, "solid")) {
            unended |= inside;
            mesh_scan_word(&scan, &word, &length);
            status = mesh_add_part(out, word, length);
            inside = 1;
        } else if (mesh_word_is(word, length, "facet") && inside) {
            status = read_facet(file, &scan, out);
        } else if (inside && is_end(&scan, word, length, "solid")) {
            inside = 0;
        } else {
            status = refuse(file, &scan, inside ? "'facet normal x y z' or 'endsolid'" : "'solid name'");
        }
    }
    if (status == EXIT_DONE && (unended || inside))
        mesh_note(out, "an 'endsolid' is missing and was assumed: the file may have been cut");
    return status;
}

/* Many binary files begin with "solid" too, so the size decides first. */
int mesh_read_stl(const mesh_file *file, mesh_data *out)
{
    uint64_t count = file->size >= HEADER ? little_32(file->data + 80) : 0;
    uint64_t wanted = HEADER + FACET * count;
    if (file->size >= HEADER && file->size == wanted)
        return read_binary(file, count, out);
    mesh_scan scan = mesh_scan_begin(file->data, file->size, 0);
    int status = mesh_check_text(file), binary = memchr(scan.at, 0, (size_t)(scan.end - scan.at)) != NULL;
    const char *word;
    size_t length;
    if (status != EXIT_DONE)
        return status;
    if (first_word(&scan, &word, &length) && mesh_word_is(word, length, "solid") && !binary)
        return read_text(file, out);
    if (file->size < HEADER)
        return cli_refuse(EXIT_USAGE, "%s: is neither text STL ('solid name') nor long enough for binary STL",
                          file->path);
    if (file->size < wanted)
        return cli_refuse(EXIT_USAGE, "%s: announces %llu triangles, which takes %llu bytes, but has %llu: truncated?",
                          file->path, (unsigned long long)count, (unsigned long long)wanted,
                          (unsigned long long)file->size);
    mesh_note(out, "%llu bytes behind the last triangle were ignored", (unsigned long long)(file->size - wanted));
    return read_binary(file, count, out);
}
