/* SPDX-License-Identifier: MIT */
/* PLY, text and binary of both byte orders. binary32 coordinates keep their bits; faces keep their order. */
#include "reader.h"
#include "cli/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROPERTIES_MAX = 256, ELEMENTS_MAX = 64 };
enum ply_format { PLY_TEXT, PLY_LITTLE, PLY_BIG };
enum ply_type { PLY_NONE, PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64 };
enum ply_role { ROLE_NONE, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS };
enum ply_element_kind { ELEMENT_OTHER, ELEMENT_VERTEX, ELEMENT_FACE, ELEMENT_STRIP };

typedef struct ply_property {
    enum ply_type type, count_type; /* count_type PLY_NONE: a single value */
    enum ply_role role;
} ply_property;

typedef struct ply_element {
    enum ply_element_kind kind;
    char name[32];
    uint64_t count;
    size_t first, properties; /* in ply.properties */
} ply_element;

typedef struct ply {
    const mesh_file *file;
    mesh_data *out;
    enum ply_format format;
    ply_element elements[ELEMENTS_MAX];
    ply_property properties[PROPERTIES_MAX];
    size_t element_count, property_count;
    mesh_scan scan; /* header, and the body of a text file */
    const char *at, *end;
    uint32_t *corners;
    size_t corner_room;
    uint64_t rounded; /* coordinates that binary32 does not hold */
    int vertices;     /* they have been read */
} ply;

/* A place in the body. */
typedef struct ply_place {
    mesh_scan scan;
    const char *at;
} ply_place;

static const unsigned type_sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};

static int refuse(const ply *p, const char *what)
{
    return cli_refuse(EXIT_USAGE, "%s: %s", p->file->path, what);
}

static int refuse_line(const ply *p, const char *expected)
{
    return cli_refuse(EXIT_USAGE, "%s:%llu: expected %s", p->file->path, (unsigned long long)p->scan.line, expected);
}

/* ---- header ------------------------------------------------------------------------------------------------- */

static enum ply_type type_of(const char *word, size_t length)
{
    static const char *const names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                           {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                           {"float", "float32"}, {"double", "float64"}};
    for (int i = 0; i < 8; i++)
        if (mesh_word_is(word, length, names[i][0]) || mesh_word_is(word, length, names[i][1]))
            return (enum ply_type)(i + 1);
    return PLY_NONE;
}

static int read_format(ply *p)
{
    const char *word;
    size_t length;
    if (!mesh_scan_word(&p->scan, &word, &length))
        return refuse_line(p, "a format");
    if (mesh_word_is(word, length, "ascii"))
        p->format = PLY_TEXT;
    else if (mesh_word_is(word, length, "binary_little_endian"))
        p->format = PLY_LITTLE;
    else if (mesh_word_is(word, length, "binary_big_endian"))
        p->format = PLY_BIG;
    else
        return refuse_line(p, "format ascii, binary_little_endian or binary_big_endian");
    if (!mesh_scan_word(&p->scan, &word, &length) || !mesh_word_is(word, length, "1.0"))
        return refuse_line(p, "format 1.0");
    return EXIT_DONE;
}

static int read_element(ply *p)
{
    const char *word;
    size_t length;
    int64_t count;
    if (p->element_count == ELEMENTS_MAX)
        return refuse_line(p, "at most 64 elements");
    if (!mesh_scan_word(&p->scan, &word, &length) || !mesh_scan_integer(&p->scan, &count) || count < 0)
        return refuse_line(p, "element NAME COUNT, the count below 10^18");
    ply_element *e = &p->elements[p->element_count++];
    *e = (ply_element){.count = (uint64_t)count, .first = p->property_count};
    snprintf(e->name, sizeof e->name, "%.*s", (int)(length < 31 ? length : 31), word);
    if (mesh_word_is(word, length, "vertex"))
        e->kind = ELEMENT_VERTEX;
    else if (mesh_word_is(word, length, "face"))
        e->kind = ELEMENT_FACE;
    else if (mesh_word_is(word, length, "tristrips"))
        e->kind = ELEMENT_STRIP;
    return EXIT_DONE;
}

static enum ply_role role_of(const ply_element *e, const ply_property *property, const char *word, size_t length)
{
    int is_list = property->count_type != PLY_NONE;
    if (e->kind == ELEMENT_VERTEX && !is_list && length == 1 && *word >= 'x' && *word <= 'z')
        return (enum ply_role)(ROLE_X + (*word - 'x'));
    if ((e->kind == ELEMENT_FACE || e->kind == ELEMENT_STRIP) && is_list &&
        (mesh_word_is(word, length, "vertex_indices") || mesh_word_is(word, length, "vertex_index")))
        return ROLE_CORNERS;
    return ROLE_NONE;
}

static int read_property(ply *p)
{
    const char *word;
    size_t length;
    ply_property property = {0};
    if (p->element_count == 0)
        return refuse_line(p, "an element before its properties");
    if (p->property_count == PROPERTIES_MAX)
        return refuse_line(p, "at most 256 properties");
    mesh_scan_word(&p->scan, &word, &length);
    if (mesh_word_is(word, length, "list")) {
        mesh_scan_word(&p->scan, &word, &length);
        property.count_type = type_of(word, length);
        if (property.count_type == PLY_NONE || property.count_type >= PLY_F32)
            return refuse_line(p, "an integer type for the length of a list");
        mesh_scan_word(&p->scan, &word, &length);
    }
    property.type = type_of(word, length);
    if (property.type == PLY_NONE || !mesh_scan_word(&p->scan, &word, &length))
        return refuse_line(p, "property TYPE NAME or property list TYPE TYPE NAME");
    ply_element *e = &p->elements[p->element_count - 1];
    property.role = role_of(e, &property, word, length);
    if (property.role == ROLE_CORNERS && property.type >= PLY_F32)
        return refuse_line(p, "an integer type for the corners of a face");
    for (size_t i = 0; i < e->properties; i++)
        if (property.role != ROLE_NONE && p->properties[e->first + i].role == property.role)
            return refuse_line(p, "each coordinate and the corners once");
    p->properties[p->property_count++] = property;
    e->properties++;
    return EXIT_DONE;
}

/* The body of a binary file begins right behind the header's last line. */
static int read_header(ply *p)
{
    int formats = 0;
    const char *word;
    size_t length;
    if (!mesh_scan_line(&p->scan) || !mesh_scan_word(&p->scan, &word, &length) || !mesh_word_is(word, length, "ply"))
        return refuse(p, "does not begin with 'ply' on a line of its own");
    while (mesh_scan_line(&p->scan)) {
        int status = EXIT_DONE;
        mesh_scan_word(&p->scan, &word, &length);
        if (mesh_word_is(word, length, "end_header"))
            return formats == 1 ? EXIT_DONE : refuse_line(p, "one format line in the header");
        if (mesh_word_is(word, length, "format")) {
            formats++;
            status = read_format(p);
        } else if (mesh_word_is(word, length, "element")) {
            status = read_element(p);
        } else if (mesh_word_is(word, length, "property")) {
            status = read_property(p);
        } /* comment and obj_info; and exporters write lines of their own, such as "Created by" */
        if (status != EXIT_DONE)
            return status;
    }
    return refuse(p, "the header has no end_header");
}

/* ---- values ------------------------------------------------------------------------------------------------- */

typedef struct ply_value {
    double number; /* exact for every type */
    float coordinate;
} ply_value;

static uint64_t load(const ply *p, unsigned size)
{
    const unsigned char *b = (const unsigned char *)p->at;
    uint64_t bits = 0;
    for (unsigned i = 0; i < size; i++)
        bits = bits << 8 | b[p->format == PLY_BIG ? i : size - 1 - i];
    return bits;
}

static int read_binary(ply *p, enum ply_type type, ply_value *out)
{
    unsigned size = type_sizes[type];
    if ((size_t)(p->end - p->at) < size)
        return refuse(p, "ends in the middle of an element: truncated?");
    uint64_t bits = load(p, size);
    uint32_t low = (uint32_t)bits;
    p->at += size;
    switch (type) {
    case PLY_I8: out->number = (int8_t)bits; break;
    case PLY_I16: out->number = (int16_t)bits; break;
    case PLY_I32: out->number = (int32_t)low; break;
    case PLY_F64: memcpy(&out->number, &bits, sizeof bits); break;
    case PLY_F32: /* not through binary64, which may quieten a NaN */
        memcpy(&out->coordinate, &low, sizeof low);
        out->number = (double)out->coordinate;
        return EXIT_DONE;
    default: out->number = low; break;
    }
    out->coordinate = (float)out->number;
    return EXIT_DONE;
}

/* Elements of a text file are words; where the lines break does not matter. */
static int read_text(ply *p, enum ply_type type, ply_value *out)
{
    int64_t integer;
    const char *word;
    size_t length;
    while (!mesh_scan_word(&p->scan, &word, &length))
        if (!mesh_scan_line(&p->scan))
            return refuse(p, "ends in the middle of an element: truncated?");
    if (type >= PLY_F32) {
        if (!mesh_word_float(word, length, &out->coordinate))
            return refuse_line(p, "a number");
        out->number = (double)out->coordinate;
        return EXIT_DONE;
    }
    if (!mesh_word_integer(word, length, &integer))
        return refuse_line(p, "a whole number");
    out->number = (double)integer;
    out->coordinate = (float)integer;
    return EXIT_DONE;
}

static int read_value(ply *p, enum ply_type type, ply_value *out)
{
    return p->format == PLY_TEXT ? read_text(p, type, out) : read_binary(p, type, out);
}

static uint64_t bytes_left(const ply *p)
{
    return p->format == PLY_TEXT ? (uint64_t)(p->scan.end - p->scan.word) : (uint64_t)(p->end - p->at);
}

/* ---- elements ----------------------------------------------------------------------------------------------- */

/* Fewest bytes that one element of this kind takes: bounds the counts of a hostile header. */
static uint64_t smallest_element(const ply *p, const ply_element *e)
{
    uint64_t size = 0;
    for (size_t i = 0; i < e->properties; i++) {
        const ply_property *q = &p->properties[e->first + i];
        size += p->format == PLY_TEXT ? 1 : type_sizes[q->count_type ? q->count_type : q->type];
    }
    return size;
}

static int read_list(ply *p, const ply_property *property, size_t *length)
{
    ply_value value;
    int status = read_value(p, property->count_type, &value);
    if (status != EXIT_DONE)
        return status;
    uint64_t smallest = p->format == PLY_TEXT ? 1 : type_sizes[property->type];
    if (value.number < 0 || value.number * (double)smallest > (double)bytes_left(p))
        return refuse(p, "a list is longer than the rest of the file");
    *length = (size_t)value.number;
    if (*length > p->corner_room) {
        uint32_t *larger = cli_resize(p->corners, *length, sizeof *larger);
        if (!larger)
            return cli_no_memory();
        p->corners = larger;
        p->corner_room = *length;
    }
    for (size_t i = 0; i < *length; i++) {
        status = read_value(p, property->type, &value);
        if (status != EXIT_DONE)
            return status;
        /* -1 ends a strip; everything else out of range is judged where corners are used */
        p->corners[i] = value.number >= 0 && value.number < (double)UINT32_MAX ? (uint32_t)value.number : UINT32_MAX;
    }
    return EXIT_DONE;
}

static int add_face(ply *p, const ply_element *e, uint64_t index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p->corners[i] >= p->out->vertex_count && !(e->kind == ELEMENT_STRIP && p->corners[i] == UINT32_MAX))
            return cli_refuse(EXIT_USAGE, "%s: %s %llu: corner %zu is not one of the %llu vertices", p->file->path,
                              e->name, (unsigned long long)index, i, (unsigned long long)p->out->vertex_count);
    if (e->kind == ELEMENT_FACE)
        return mesh_add_polygon(p->out, p->corners, n);
    for (size_t i = 0, start = 0; i < n; i++) { /* every second triangle of a strip turns the other way */
        if (p->corners[i] == UINT32_MAX)
            start = i + 1;
        if (i < start + 2)
            continue;
        const uint32_t *c = p->corners + i - 2;
        int odd = (int)((i - start) & 1);
        int status = mesh_add_triangle(p->out, c[odd], c[1 - odd], c[2]);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

static int read_one(ply *p, const ply_element *e, uint64_t index)
{
    float xyz[3] = {0, 0, 0};
    for (size_t i = 0; i < e->properties; i++) {
        const ply_property *q = &p->properties[e->first + i];
        ply_value value;
        size_t length = 0;
        int status = q->count_type ? read_list(p, q, &length) : read_value(p, q->type, &value);
        if (status == EXIT_DONE && q->role == ROLE_CORNERS && p->vertices)
            status = add_face(p, e, index, length);
        if (status != EXIT_DONE)
            return status;
        if (q->role >= ROLE_X && q->role <= ROLE_Z) {
            xyz[q->role - ROLE_X] = value.coordinate;
            p->rounded += (double)value.coordinate < value.number || (double)value.coordinate > value.number;
        }
    }
    return e->kind == ELEMENT_VERTEX ? mesh_add_vertex(p->out, xyz) : EXIT_DONE;
}

static int check_element(const ply *p, const ply_element *e)
{
    unsigned roles = 0;
    for (size_t i = 0; i < e->properties; i++)
        roles |= 1u << p->properties[e->first + i].role;
    if (e->kind == ELEMENT_VERTEX && (roles >> ROLE_X & 7) != 7)
        return refuse(p, "its vertices lack x, y or z");
    if ((e->kind == ELEMENT_FACE || e->kind == ELEMENT_STRIP) && !(roles >> ROLE_CORNERS & 1) && e->count > 0)
        return refuse(p, "its faces have no list named vertex_indices or vertex_index");
    uint64_t smallest = smallest_element(p, e);
    if (smallest > 0 && e->count > bytes_left(p) / smallest)
        return cli_refuse(EXIT_USAGE, "%s: announces %llu elements '%s', more than its %llu bytes can hold: truncated?",
                          p->file->path, (unsigned long long)e->count, e->name, (unsigned long long)p->file->size);
    return EXIT_DONE;
}

static int read_all_of(ply *p, const ply_element *e)
{
    int status = check_element(p, e);
    for (uint64_t i = 0; i < e->count && e->properties > 0 && status == EXIT_DONE; i++) {
        if (i % MESH_TELL == 0)
            mesh_parsed(p->at); /* of text the lines tell */
        status = read_one(p, e, i);
    }
    return status;
}

/* Faces in front of their vertices are passed over, and read when the vertices are there. */
static int read_passed(ply *p, const ply_place *passed, size_t count)
{
    const ply_place here = {p->scan, p->at};
    int status = EXIT_DONE;
    for (size_t k = 0; k < count && status == EXIT_DONE; k++) {
        if (p->elements[k].kind == ELEMENT_OTHER)
            continue;
        p->scan = passed[k].scan;
        p->at = passed[k].at;
        status = read_all_of(p, &p->elements[k]);
    }
    p->scan = here.scan;
    p->at = here.at;
    return status;
}

static int read_elements(ply *p)
{
    ply_place place[ELEMENTS_MAX];
    int faces = 0;
    for (size_t k = 0; k < p->element_count; k++) {
        const ply_element *e = &p->elements[k];
        const int is_vertex = e->kind == ELEMENT_VERTEX;
        if (is_vertex && p->vertices)
            return refuse(p, "has two elements named vertex");
        place[k] = (ply_place){p->scan, p->at};
        faces |= !is_vertex && e->kind != ELEMENT_OTHER;
        int status = read_all_of(p, e);
        p->vertices |= is_vertex;
        if (status == EXIT_DONE && is_vertex)
            status = read_passed(p, place, k);
        if (status != EXIT_DONE)
            return status;
    }
    return faces && !p->vertices ? refuse(p, "has faces and no vertices") : EXIT_DONE;
}

/* What stands behind the last element: text may hold faces that the header forgot; bytes are of unknown meaning. */
static int check_rest(ply *p)
{
    const char *word;
    size_t length;
    if (p->format != PLY_TEXT) {
        if (p->at < p->end)
            mesh_note(p->out, "%llu bytes behind the last element were ignored", (unsigned long long)(p->end - p->at));
        return EXIT_DONE;
    }
    return mesh_scan_word(&p->scan, &word, &length) || mesh_scan_line(&p->scan)
               ? refuse_line(p, "the end of the file: all elements that it announces are read")
               : EXIT_DONE;
}

int mesh_read_ply(const mesh_file *file, mesh_data *out)
{
    static const char *const formats[] = {"text PLY, coordinates as the nearest float to the decimals",
                                          "binary PLY (little endian), binary32 coordinates bit for bit",
                                          "binary PLY (big endian), binary32 coordinates bit for bit"};
    ply *p = calloc(1, sizeof *p);
    if (!p)
        return cli_no_memory();
    p->file = file;
    p->out = out;
    p->scan = mesh_scan_begin(file->data, file->size, 0);
    int status = mesh_check_text(file);
    if (status == EXIT_DONE)
        status = read_header(p);
    if (status == EXIT_DONE) {
        p->at = p->scan.at;
        p->end = file->data + file->size;
        p->scan.word = p->scan.line_end = p->scan.at;
        snprintf(out->reader, sizeof out->reader, "%s", formats[p->format]);
        status = read_elements(p);
    }
    if (status == EXIT_DONE)
        status = check_rest(p);
    if (status == EXIT_DONE && p->rounded > 0)
        mesh_note(out, "%llu coordinates were rounded to binary32", (unsigned long long)p->rounded);
    free(p->corners);
    free(p);
    return status;
}
