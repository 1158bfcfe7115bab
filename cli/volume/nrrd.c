/* SPDX-License-Identifier: MIT */
/* NRRD, version 4: a header of text, then one array as it is. */
#include "cli/base/base.h"
#include "volume.h"

#include <stdio.h>
#include <string.h>

enum { HEADER_MAX = 8192 };

/* As NRRD names the types. */
static const char *type_of(const char *numpy)
{
    static const char *const names[][2] = {{"<f4", "float"},  {"<f8", "double"},      {"<i2", "short"},
                                           {"<u2", "ushort"}, {"|i1", "signed char"}, {"<i4", "int"},
                                           {"<u4", "uint"},   {"<i8", "int64"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(numpy, names[i][0]))
            return names[i][1];
    return "uchar";
}

/* The fingerprint as comments. */
static size_t add_comments(char *to, const char *fingerprint)
{
    size_t used = 0;
    for (const char *at = fingerprint ? fingerprint : ""; *at != '\0'; at += strcspn(at, "\n") + 1)
        used += (size_t)snprintf(to + used, HEADER_MAX - used, "# %.*s\n", (int)strcspn(at, "\n"), at);
    return used;
}

/* Directions of the axes, H to a node. Coordinates are those of the mesh, which programs for medical images take for
 * left, posterior and superior in mesh files too. */
static size_t add_space(char *to, size_t size, const volume *v)
{
    const double h = v->lattice.spacing, *o = v->lattice.origin;
    const unsigned long long n[3] = {v->lattice.dims[0], v->lattice.dims[1], v->lattice.dims[2]};
    if (v->axes == 2)
        return (size_t)snprintf(to, size,
                                "dimension: 2\nspace dimension: 2\nsizes: %llu %llu\nspace directions: (%.17g,0) "
                                "(0,%.17g)\nkinds: domain domain\nspace origin: (%.17g,%.17g)\n",
                                n[0], n[1], h, h, o[0], o[1]);
    return (size_t)snprintf(to, size,
                            "dimension: 3\nspace: left-posterior-superior\nsizes: %llu %llu %llu\n"
                            "space directions: (%.17g,0,0) (0,%.17g,0) (0,0,%.17g)\nkinds: domain domain domain\n"
                            "space origin: (%.17g,%.17g,%.17g)\n",
                            n[0], n[1], n[2], h, h, h, o[0], o[1], o[2]);
}

/* Numbers that stand for values, in two ways. NRRD has the values of the lower end of the least number and of the upper
 * end of the largest, each number being a cell (teem's `unu unquantize`); and a pair of key and value may be anything.
 */
static size_t add_scale(char *to, size_t size, const volume *v)
{
    const volume_array *array = v->array[v->first];
    const double numbers = array->size == 1 ? 256.0 : 65536.0, least = array->type[1] == 'i' ? -numbers / 2.0 : 0.0;
    if (v->scale == 0.0)
        return 0;
    return (size_t)snprintf(to, size, "old min: %.17g\nold max: %.17g\nscale_factor:=%.17g\nadd_offset:=0\n",
                            (least - 0.5) * v->scale, (least + numbers - 0.5) * v->scale, v->scale);
}

static int lay_out(const volume *v, const char *shown, volume_layout *out)
{
    const volume_array *array = v->array[v->first];
    char text[HEADER_MAX] = "NRRD0004\n";
    size_t used = strlen(text);
    (void)shown;
    used += add_comments(text + used, v->fingerprint);
    used += (size_t)snprintf(text + used, sizeof text - used, "type: %s\n", type_of(array->type));
    used += add_space(text + used, sizeof text - used, v);
    used += (size_t)snprintf(text + used, sizeof text - used, "endian: little\nencoding: raw\n");
    used += add_scale(text + used, sizeof text - used, v);
    text[used++] = '\n';
    unsigned char *header = volume_layout_add(out, 0, used);
    if (!header)
        return cli_no_memory();
    memcpy(header, text, used);
    out->array_at[v->first] = used;
    out->bytes = used + v->nodes * array->size;
    return EXIT_DONE;
}

const volume_format volume_nrrd = {"nrrd", 1, lay_out, NULL};
