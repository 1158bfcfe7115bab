/* SPDX-License-Identifier: MIT */
/* Options that several commands of carom bake have. */
#include "bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A binary64 that is finite, up to a comma or the end. Returns what follows it, NULL if there is none. */
static const char *read_double(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end == text || !isfinite(*out) ? NULL : end;
}

/* Whole numbers from 1 to 2^48. */
static const char *read_whole(const char *text, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *out = strtoull(text, &end, 10); /* UINT64_MAX if it is more */
    return *out < 1 || *out > BAKE_NODES_MAX ? NULL : end;
}

int bake_read_spacing(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *end = read_double(value, &bake->spacing);
    if (!end || *end != '\0' || !(bake->spacing > 0.0))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number > 0, got '%s'", name, value);
    bake->given |= BAKE_GIVEN_SPACING;
    return -1;
}

/* As many as there are axes, separated by commas. Returns 0 if that is not what there is. */
static int read_origin(const char *at, int axes, bake_options *bake)
{
    for (int k = 0; k < axes; k++) {
        at = read_double(at, &bake->origin[k]);
        if (!at || *at != (k < axes - 1 ? ',' : '\0'))
            return 0;
        at++;
    }
    bake->given |= BAKE_GIVEN_ORIGIN;
    return 1;
}

static int read_dims(const char *at, int axes, bake_options *bake)
{
    for (int k = 0; k < axes; k++) {
        at = read_whole(at, &bake->dims[k]);
        if (!at || *at != (k < axes - 1 ? ',' : '\0'))
            return 0;
        at++;
    }
    bake->given |= BAKE_GIVEN_DIMS;
    return 1;
}

int bake_read_origin(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_origin(value, 3, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected three finite numbers X,Y,Z, got '%s'", name, value);
    return -1;
}

int bake_read_dims(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_dims(value, 3, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected three whole numbers NX,NY,NZ from 1 to 2^48, got '%s'", name,
                          value);
    return -1;
}

int bake_read_map_origin(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_origin(value, 2, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected two finite numbers X,Y, got '%s'", name, value);
    return -1;
}

int bake_read_map_dims(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_dims(value, 2, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected two whole numbers NX,NY from 1 to 2^48, got '%s'", name, value);
    return -1;
}

int bake_read_margin(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *end = read_double(value, &bake->margin);
    if (!end || *end != '\0' || !(bake->margin >= 0.0))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    bake->given |= BAKE_GIVEN_MARGIN;
    return -1;
}

int bake_read_band(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    char *end;
    const float band = strtof(value, &end);
    if (end == value || *end != '\0' || !(band >= 0.0f))
        return cli_refuse(EXIT_USAGE, "--%s: expected a number >= 0 or inf, got '%s'", name, value);
    bake->parameters.band = band == 0.0f ? 0.0f : band; /* -0 is 0 */
    return -1;
}

int bake_read_bits(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (strcmp(value, "8") != 0 && strcmp(value, "16") != 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected 8 or 16, got '%s'", name, value);
    bake->bits = *value == '8' ? 8 : 16;
    return -1;
}

int bake_read_part(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *at = read_whole(value, &bake->part);
    at = at && *at == '/' ? read_whole(at + 1, &bake->parts) : NULL;
    if (!at || *at != '\0' || bake->part > bake->parts)
        return cli_refuse(EXIT_USAGE, "--%s: expected I/N with I from 1 to N, got '%s'", name, value);
    bake->is_part = 1;
    return -1;
}

int bake_read_max_memory(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!cli_parse_count(value, 1, UINT64_MAX, &bake->max_memory))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number of bytes, such as 2e9, got '%s'", name, value);
    return -1;
}

/* Returns BAKE_ARRAYS if none of `arrays` has that name. */
static int array_named(uint32_t arrays, const char *name, size_t length)
{
    int a = 0;
    while (a < BAKE_ARRAYS && (!(arrays & (1u << a)) || strlen(bake_arrays[a].name) != length ||
                               strncmp(name, bake_arrays[a].name, length) != 0))
        a++;
    return a;
}

/* Reads names of some of `arrays`; words: these names, for the message. */
static int read_arrays(uint32_t arrays, const char *words, const char *name, const char *value, bake_options *bake)
{
    const char *at = value;
    for (;;) {
        const size_t length = strcspn(at, ",");
        const int a = array_named(arrays, at, length);
        if (a == BAKE_ARRAYS)
            return cli_refuse(EXIT_USAGE, "--%s: expected %s, or some of them separated by commas, got '%s'", name,
                              words, value);
        bake->arrays |= 1u << a;
        at += length;
        if (*at++ == '\0')
            return -1;
    }
}

int bake_read_with(const char *name, const char *value, void *out)
{
    return read_arrays(BAKE_MORE, "triangle, feature or point", name, value, out);
}

int bake_read_with_gradient(const char *name, const char *value, void *out)
{
    return read_arrays(BAKE_MORE_AND_GRADIENT, "triangle, feature, point or gradient", name, value, out);
}

int bake_read_mesh(const char *name, const char *value, void *out)
{
    bake_request *o = (bake_request *)(void *)((char *)out - offsetof(bake_request, mesh));
    if (!o->mesh)
        return cli_read_name(name, value, &o->mesh);
    if (o->more_mesh_count == BAKE_MORE_MESHES)
        return cli_refuse(EXIT_USAGE, "--%s %s: more than %d meshes need --meshes LIST", name, value,
                          (int)BAKE_MORE_MESHES + 1);
    return cli_read_name(name, value, &o->more_meshes[o->more_mesh_count++]);
}

int bake_read_format(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *at = value;
    for (;;) {
        const size_t length = strcspn(at, ",");
        const bake_format *format;
        int i = 0;
        while ((format = bake_format_at(i)) != NULL &&
               (strlen(format->name) != length || strncmp(at, format->name, length) != 0))
            i++;
        if (!format)
            return cli_refuse(EXIT_USAGE,
                              "--%s: expected npy, nrrd, vti, vtkhdf or h5, or some of them separated by commas, got "
                              "'%s'",
                              name, value);
        bake->formats |= 1u << i;
        at += length;
        if (*at++ == '\0')
            return -1;
    }
}

int bake_read_radius(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    char *end;
    const float radius = strtof(value, &end);
    if (end == value || *end != '\0' || !(radius >= 0.0f) || isinf(radius))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    bake->parameters.radius = radius == 0.0f ? 0.0f : radius; /* -0 is 0 */
    bake->given |= BAKE_GIVEN_RADIUS;
    return -1;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

const bake_request bake_defaults = {
    .seed = 1,
    .bake = {.parameters = {.band = INFINITY}, .part = 1, .parts = 1, .max_memory = UINT64_MAX, .samples = 1000}};

const cli_option bake_output_option = {
    "output", "FILE",   "where to write (-o FILE)", cli_read_outputs, offsetof(bake_request, common.output),
    0,        CLI_GROWS};
