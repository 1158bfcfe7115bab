/* SPDX-License-Identifier: MIT */
/* glTF 2.0: members of objects, and accessors through views to elements. Nothing is read before its size is known to
 * fit. */
#ifdef CAROM_HAVE_JANSSON

#include "cli/base/base.h"
#include "gltf.h"
#include "cli/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- members of objects ---------------------------------------------------------------------------------------- */

int gltf_refuse(const gltf *g, const gltf_thing *thing, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return cli_refuse(EXIT_USAGE, "%s: %s %llu: %s", g->path, thing->kind, (unsigned long long)thing->number, sentence);
}

/* A whole number may be written with a fraction of zero, and as a power of ten (section 2.7). */
static int whole(const json_t *value, uint64_t *out)
{
    double number = json_number_value(value);
    if (json_is_integer(value) ? json_integer_value(value) < 0 : !(number >= 0.0 && number < 0x1p53))
        return 0;
    *out = json_is_integer(value) ? (uint64_t)json_integer_value(value) : (uint64_t)number;
    return json_is_integer(value) || (json_is_real(value) && (double)*out == number);
}

int gltf_whole(const gltf *g, const gltf_thing *thing, const char *name, uint64_t limit, uint64_t absent, uint64_t *out)
{
    const json_t *value = json_object_get(thing->json, name);
    *out = absent;
    if (!value || (whole(value, out) && *out < limit))
        return EXIT_DONE;
    return gltf_refuse(g, thing, "%s is not a whole number below %llu", name, (unsigned long long)limit);
}

int gltf_list(const gltf *g, const gltf_thing *thing, const char *name, const json_t **out)
{
    *out = json_object_get(thing->json, name);
    return !*out || json_is_array(*out) ? EXIT_DONE : gltf_refuse(g, thing, "%s is not an array", name);
}

int gltf_follow_value(const gltf *g, const gltf_thing *thing, const char *name, const json_t *value,
                      const json_t *array, const char *kind, gltf_thing *out)
{
    *out = (gltf_thing){kind, 0, NULL};
    if (!whole(value, &out->number))
        return gltf_refuse(g, thing, "%s is not the number of a %s", name, kind);
    if (out->number >= json_array_size(array))
        return gltf_refuse(g, thing, "%s names %s %llu, but the file has %zu", name, kind,
                           (unsigned long long)out->number, json_array_size(array));
    out->json = json_array_get(array, (size_t)out->number);
    return json_is_object(out->json) ? EXIT_DONE : gltf_refuse(g, out, "it is not an object");
}

int gltf_follow(const gltf *g, const gltf_thing *thing, const char *name, const json_t *array, const char *kind,
                gltf_thing *out)
{
    const json_t *value = json_object_get(thing->json, name);
    *out = (gltf_thing){kind, 0, NULL};
    return value ? gltf_follow_value(g, thing, name, value, array, kind, out) : EXIT_DONE;
}

int gltf_has_extension(const json_t *object, const char *name)
{
    return json_object_get(json_object_get(object, "extensions"), name) != NULL;
}

int gltf_take_memory(gltf *g, uint64_t bytes)
{
    char wanted[32], most[32];
    if (bytes > g->memory_max - g->memory)
        return cli_refuse(
            EXIT_USAGE, "%s: needs %s of memory; the limit is %s, half of what is free", g->path,
            memory_text(wanted, sizeof wanted, bytes > UINT64_MAX - g->memory ? UINT64_MAX : g->memory + bytes),
            memory_text(most, sizeof most, g->memory_max));
    g->memory += bytes;
    return EXIT_DONE;
}

/* ---- views and accessors ----------------------------------------------------------------------------------------- */

static uint64_t component_size(int component)
{
    switch (component) {
    case GLTF_BYTE:
    case GLTF_UNSIGNED_BYTE: return 1;
    case GLTF_SHORT:
    case GLTF_UNSIGNED_SHORT: return 2;
    case GLTF_UNSIGNED_INT:
    case GLTF_FLOAT: return 4;
    default: return 0;
    }
}

typedef struct view_bytes {
    gltf_thing thing;
    const unsigned char *data;
    uint64_t size, stride; /* 0: not given */
} view_bytes;

/* Compressed views may have an uncompressed copy: that one is read. */
static int check_copy(gltf *g, const gltf_thing *view, const gltf_thing *buffer)
{
    static const char *const names[] = {"EXT_meshopt_compression", "KHR_meshopt_compression"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!gltf_has_extension(view->json, names[i]))
            continue;
        if (gltf_has_extension(buffer->json, names[i]) && !json_object_get(buffer->json, "uri"))
            return gltf_refuse(g, view, "it is compressed (%s), which is not read", names[i]);
        g->copies = 1;
    }
    return EXIT_DONE;
}

static int view_open(gltf *g, const gltf_thing *accessor, const gltf_thing *owner, view_bytes *out)
{
    const uint64_t most = UINT64_C(1) << 48;
    const gltf_buffer *bytes;
    gltf_thing buffer;
    uint64_t start = 0;
    int status = gltf_follow(g, owner, "bufferView", g->views, "bufferView", &out->thing);
    if (status == EXIT_DONE && !out->thing.json)
        status = gltf_refuse(g, accessor, "bufferView is missing");
    if (status == EXIT_DONE)
        status = gltf_follow(g, &out->thing, "buffer", g->buffers, "buffer", &buffer);
    if (status == EXIT_DONE && !buffer.json)
        status = gltf_refuse(g, &out->thing, "buffer is missing");
    if (status == EXIT_DONE)
        status = gltf_whole(g, &out->thing, "byteOffset", most, 0, &start);
    if (status == EXIT_DONE)
        status = gltf_whole(g, &out->thing, "byteLength", most, 0, &out->size);
    if (status == EXIT_DONE)
        status = gltf_whole(g, &out->thing, "byteStride", UINT64_C(1) << 15, 0, &out->stride);
    if (status == EXIT_DONE)
        status = check_copy(g, &out->thing, &buffer);
    if (status == EXIT_DONE)
        status = gltf_buffer_open(g, buffer.number, &bytes);
    if (status != EXIT_DONE)
        return status;
    if (start + out->size > bytes->size)
        return gltf_refuse(g, &out->thing, "it ends at byte %llu of buffer %llu, which has %llu",
                           (unsigned long long)(start + out->size), (unsigned long long)buffer.number,
                           (unsigned long long)bytes->size);
    out->data = bytes->data + start;
    return EXIT_DONE;
}

/* Where the `count` elements of `size` bytes lie that `owner` (the accessor or a part of it) describes. */
static int find_elements(gltf *g, const gltf_thing *accessor, const gltf_thing *owner, uint64_t count, uint64_t size,
                         const unsigned char **data, uint64_t *stride)
{
    view_bytes v = {0};
    uint64_t offset = 0;
    int status = view_open(g, accessor, owner, &v);
    if (status == EXIT_DONE)
        status = gltf_whole(g, owner, "byteOffset", UINT64_C(1) << 48, 0, &offset);
    if (status != EXIT_DONE)
        return status;
    *stride = v.stride ? v.stride : size;
    if (*stride < size)
        return gltf_refuse(g, &v.thing, "byteStride is %llu, but an element has %llu bytes",
                           (unsigned long long)*stride, (unsigned long long)size);
    /* Offsets stay below 2^48, strides below 2^15 and counts below 2^32. */
    uint64_t end = offset + *stride * (count - 1) + size;
    if (end > v.size)
        return gltf_refuse(g, accessor, "its elements end at byte %llu of bufferView %llu, which has %llu",
                           (unsigned long long)end, (unsigned long long)v.thing.number, (unsigned long long)v.size);
    *data = v.data + offset;
    return EXIT_DONE;
}

static uint64_t unsigned_at(const unsigned char *at, int component)
{
    uint16_t two;
    uint32_t four;
    if (component == GLTF_UNSIGNED_BYTE)
        return *at;
    if (component == GLTF_UNSIGNED_SHORT) {
        memcpy(&two, at, sizeof two);
        return two;
    }
    memcpy(&four, at, sizeof four);
    return four;
}

static int is_index_type(int component)
{
    return component == GLTF_UNSIGNED_BYTE || component == GLTF_UNSIGNED_SHORT || component == GLTF_UNSIGNED_INT;
}

static int find_sparse(gltf *g, const gltf_thing *accessor, uint64_t size, gltf_values *values)
{
    gltf_thing sparse = {"accessor", accessor->number, json_object_get(accessor->json, "sparse")};
    gltf_thing indices = {"accessor", accessor->number, json_object_get(sparse.json, "indices")};
    gltf_thing elements = {"accessor", accessor->number, json_object_get(sparse.json, "values")};
    gltf_sparse *s = &values->sparse;
    uint64_t component, stride, last = 0;
    int status = gltf_whole(g, &sparse, "count", values->count + 1, 0, &s->count);
    if (status == EXIT_DONE && s->count == 0)
        status = gltf_refuse(g, accessor, "sparse.count is missing or 0");
    if (status == EXIT_DONE)
        status = gltf_whole(g, &indices, "componentType", UINT16_MAX, 0, &component);
    if (status == EXIT_DONE && !is_index_type((int)component))
        status = gltf_refuse(g, accessor, "sparse indices of component type %llu", (unsigned long long)component);
    if (status != EXIT_DONE)
        return status;
    s->component = (int)component;
    status = find_elements(g, accessor, &indices, s->count, component_size(s->component), &s->indices, &stride);
    if (status == EXIT_DONE && stride != component_size(s->component))
        status = gltf_refuse(g, accessor, "its sparse indices lie in a bufferView with a byteStride");
    if (status == EXIT_DONE)
        status = find_elements(g, accessor, &elements, s->count, size, &s->values, &stride);
    if (status == EXIT_DONE && stride != size)
        status = gltf_refuse(g, accessor, "its sparse values lie in a bufferView with a byteStride");
    for (uint64_t i = 0; i < s->count && status == EXIT_DONE; i++) {
        uint64_t at = unsigned_at(s->indices + i * component_size(s->component), s->component);
        if (at >= values->count || (i > 0 && at <= last))
            status = gltf_refuse(g, accessor, "sparse index %llu is %llu: they must increase and be below %llu",
                                 (unsigned long long)i, (unsigned long long)at, (unsigned long long)values->count);
        last = at;
    }
    return status;
}

/* What an accessor may hold for one purpose. */
typedef struct purpose {
    const char *name, *type;
    int components;
    int (*takes)(int component);
    const char *taken;
} purpose;

static int check_kind(gltf *g, const gltf_thing *accessor, const purpose *p, gltf_values *values)
{
    const char *type = json_string_value(json_object_get(accessor->json, "type"));
    const json_t *normalized = json_object_get(accessor->json, "normalized");
    uint64_t component;
    int status = gltf_whole(g, accessor, "componentType", UINT16_MAX, 0, &component);
    if (status == EXIT_DONE)
        status = gltf_whole(g, accessor, "count", UINT32_MAX, 0, &values->count);
    if (status != EXIT_DONE)
        return status;
    if (values->count == 0)
        return gltf_refuse(g, accessor, "count is missing or 0");
    if (!type || strcmp(type, p->type) != 0)
        return gltf_refuse(g, accessor, "%s of type %s, not %s", p->name, type ? type : "none", p->type);
    if (!p->takes((int)component))
        return gltf_refuse(g, accessor, "%s of component type %llu, not %s", p->name, (unsigned long long)component,
                           p->taken);
    if (normalized && !json_is_boolean(normalized))
        return gltf_refuse(g, accessor, "normalized is neither true nor false");
    values->components = p->components;
    values->component = (int)component;
    values->normalized = json_is_true(normalized) && values->component != GLTF_FLOAT;
    return EXIT_DONE;
}

static int check_values(gltf *g, const gltf_thing *accessor, const purpose *p, gltf_values *values)
{
    int status = check_kind(g, accessor, p, values);
    uint64_t size = (uint64_t)p->components * component_size(values->component);
    int dense = json_object_get(accessor->json, "bufferView") != NULL;
    int sparse = json_object_get(accessor->json, "sparse") != NULL;
    if (status == EXIT_DONE && dense)
        status = find_elements(g, accessor, accessor, values->count, size, &values->data, &values->stride);
    if (status == EXIT_DONE && sparse)
        status = find_sparse(g, accessor, size, values);
    values->present = status == EXIT_DONE;
    values->compressed = !dense && !sparse;
    return status;
}

static int takes_position(int component)
{
    return component != GLTF_UNSIGNED_INT && component_size(component) > 0;
}

int gltf_positions(gltf *g, const gltf_thing *accessor, const gltf_values **out)
{
    static const purpose positions = {"POSITION", "VEC3", 3, takes_position,
                                      "FLOAT (5126) or an integer of 8 or 16 bits (5120 to 5123)"};
    gltf_values *values = &g->checked[accessor->number];
    *out = values;
    if (values->present && values->components == 3)
        return EXIT_DONE;
    return check_values(g, accessor, &positions, values);
}

/* The largest value of its type ends a primitive in some APIs and is no index in glTF (section 3.7.2.1). */
static int find_largest(const gltf *g, const gltf_thing *accessor, gltf_values *values)
{
    const uint64_t size = component_size(values->component), restart = (UINT64_C(1) << 8 * size) - 1;
    /* Zeros without data may be many more than the file has bytes. */
    const uint64_t count = values->data ? values->count : values->sparse.count;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index =
            values->data ? gltf_index(values, i) : unsigned_at(values->sparse.values + i * size, values->component);
        if (index == restart)
            return gltf_refuse(g, accessor, "one of its indices is %llu, a primitive restart, which glTF does not have",
                               (unsigned long long)restart);
        values->largest = index > values->largest ? index : values->largest;
    }
    return EXIT_DONE;
}

int gltf_indices(gltf *g, const gltf_thing *accessor, const gltf_values **out)
{
    static const purpose indices = {"indices", "SCALAR", 1, is_index_type, "an unsigned integer (5121, 5123 or 5125)"};
    gltf_values *values = &g->checked[accessor->number];
    *out = values;
    if (values->present && values->components == 1)
        return EXIT_DONE;
    int status = check_values(g, accessor, &indices, values);
    if (status == EXIT_DONE && values->normalized)
        status = gltf_refuse(g, accessor, "indices are normalized");
    return status == EXIT_DONE && !values->compressed ? find_largest(g, accessor, values) : status;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* The element's bytes; NULL: zeros. */
static const unsigned char *element(const gltf_values *values, uint64_t i)
{
    const gltf_sparse *s = &values->sparse;
    const uint64_t index_size = s->count ? component_size(s->component) : 0;
    for (uint64_t low = 0, high = s->count; low < high;) {
        uint64_t middle = low + (high - low) / 2, at = unsigned_at(s->indices + middle * index_size, s->component);
        if (at == i)
            return s->values + middle * (uint64_t)values->components * component_size(values->component);
        if (at < i)
            low = middle + 1;
        else
            high = middle;
    }
    return values->data ? values->data + i * values->stride : NULL;
}

/* One component; normalised integers as section 3.11 has it. The quotient is the nearest binary64, and the float
 * nearest to it is the float nearest to the fraction, because no fraction of 16 bits lies that close to a midpoint
 * of floats. */
static double number_at(const unsigned char *at, int component, int normalized)
{
    float real;
    int16_t two;
    double value;
    switch (component) {
    case GLTF_FLOAT: memcpy(&real, at, sizeof real); return (double)real;
    case GLTF_BYTE: value = (double)(int8_t)*at; return normalized ? (value < -127.0 ? -1.0 : value / 127.0) : value;
    case GLTF_SHORT:
        memcpy(&two, at, sizeof two);
        value = (double)two;
        return normalized ? (value < -32767.0 ? -1.0 : value / 32767.0) : value;
    default:
        value = (double)unsigned_at(at, component);
        return normalized ? value / (component == GLTF_UNSIGNED_BYTE ? 255.0 : 65535.0) : value;
    }
}

void gltf_position(const gltf_values *values, uint64_t i, double out[3])
{
    const unsigned char *at = element(values, i);
    const uint64_t size = component_size(values->component);
    for (uint64_t k = 0; k < 3; k++)
        out[k] = at ? number_at(at + k * size, values->component, values->normalized) : 0.0;
}

uint64_t gltf_index(const gltf_values *values, uint64_t i)
{
    const unsigned char *at = element(values, i);
    return at ? unsigned_at(at, values->component) : 0;
}

void gltf_data_free(gltf *g)
{
    for (size_t i = 0; g->loaded && i < json_array_size(g->buffers); i++)
        free(g->loaded[i].owned);
    free(g->loaded);
    free(g->checked);
}

#endif
