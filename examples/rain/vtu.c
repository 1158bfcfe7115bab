/* SPDX-License-Identifier: MIT */
/* Frames for ParaView: VTK's XML format for unstructured grids, arrays appended as they lie in memory. Needs no
 * library. In ParaView: Open rain-..vtu, then Glyph: Sphere, Scale Array radius, Scale Factor 2; or Point Gaussian. */
#include "rain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VTK_VERTEX = 1, VTK_TRIANGLE = 5 };

/* In front of the arrays. ParaView 5.11 with libexpat 2.6 parses one block of 4096 bytes too many. */
enum { BLANKS = 2 * 4096 };

typedef struct vtu {
    FILE *file;
    uint64_t offset; /* of the next array among those appended */
    char path[4096];
} vtu;

static int open_vtu(vtu *v, const char *directory, const char *name, uint64_t points, uint64_t cells)
{
    const uint16_t one = 1;
    const int little = *(const uint8_t *)&one;
    *v = (vtu){0};
    snprintf(v->path, sizeof v->path, "%s/%s", directory, name);
    v->file = fopen(v->path, "wb");
    if (!v->file)
        return rain_fail("%s: %s", v->path, strerror(errno));
    fprintf(v->file,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
            "<UnstructuredGrid><Piece NumberOfPoints=\"%llu\" NumberOfCells=\"%llu\">\n",
            little ? "LittleEndian" : "BigEndian", (unsigned long long)points, (unsigned long long)cells);
    return 1;
}

static void declare(vtu *v, const char *type, const char *name, int components, uint64_t bytes)
{
    fprintf(v->file,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
            type, name, components, (unsigned long long)v->offset);
    v->offset += sizeof bytes + bytes;
}

static void append(const vtu *v, const void *data, uint64_t bytes)
{
    fwrite(&bytes, sizeof bytes, 1, v->file);
    fwrite(data, 1, bytes, v->file);
}

/* Cells of `corners` points each; `index` NULL: point i is corner i. */
static int append_cells(const vtu *v, uint64_t cells, uint32_t corners, const uint32_t *index, uint8_t type)
{
    const uint64_t words = cells * corners;
    uint32_t *word = rain_alloc(words, sizeof *word);
    uint8_t *types = rain_alloc(cells, 1);
    if (word && types) {
        for (uint64_t i = 0; i < words; i++)
            word[i] = index ? index[i] : (uint32_t)i;
        append(v, word, 4 * words);
        for (uint64_t i = 0; i < cells; i++)
            word[i] = (uint32_t)(i + 1) * corners;
        append(v, word, 4 * cells);
        memset(types, type, cells);
        append(v, types, cells);
    }
    const int ok = word && types;
    free(word);
    free(types);
    return ok;
}

static void declare_cells(vtu *v, uint64_t cells, uint64_t corners)
{
    fputs("<Cells>\n", v->file);
    declare(v, "Int32", "connectivity", 1, 4 * cells * corners);
    declare(v, "Int32", "offsets", 1, 4 * cells);
    declare(v, "UInt8", "types", 1, cells);
    fprintf(v->file, "</Cells>\n</Piece></UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n%*s_", BLANKS, "");
}

static int close_vtu(vtu *v, int ok)
{
    fputs("\n</AppendedData>\n</VTKFile>\n", v->file);
    const int bad = ferror(v->file);
    if (fclose(v->file) != 0 || bad)
        return rain_fail("%s: %s", v->path, strerror(errno));
    return ok;
}

int rain_write_vtu(const char *directory, uint64_t number, const rain_spheres *s)
{
    char name[64];
    vtu v;
    snprintf(name, sizeof name, "rain-%04llu.vtu", (unsigned long long)number);
    if (!open_vtu(&v, directory, name, s->count, s->count))
        return 0;
    fputs("<PointData>\n", v.file);
    declare(&v, "Float32", "radius", 1, 4 * s->count);
    declare(&v, "Float32", "velocity", 3, 12 * s->count);
    declare(&v, "UInt8", "quiet", 1, s->count);
    fputs("</PointData>\n<Points>\n", v.file);
    declare(&v, "Float32", "center", 3, 12 * s->count);
    fputs("</Points>\n", v.file);
    declare_cells(&v, s->count, 1);
    append(&v, s->radius, 4 * s->count);
    append(&v, s->velocity, 12 * s->count);
    append(&v, s->quiet, s->count);
    append(&v, s->center, 12 * s->count);
    return close_vtu(&v, append_cells(&v, s->count, 1, NULL, VTK_VERTEX));
}

int rain_write_mesh(const char *directory, const rain_mesh *m)
{
    vtu v;
    if (!open_vtu(&v, directory, "vessel.vtu", m->vertex_count, m->triangle_count))
        return 0;
    fputs("<Points>\n", v.file);
    declare(&v, "Float32", "vertex", 3, 12 * m->vertex_count);
    fputs("</Points>\n", v.file);
    declare_cells(&v, m->triangle_count, 3);
    append(&v, m->vertex, 12 * m->vertex_count);
    return close_vtu(&v, append_cells(&v, m->triangle_count, 3, m->index, VTK_TRIANGLE));
}
