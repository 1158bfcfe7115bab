/* SPDX-License-Identifier: MIT */
/* NRRD, version 4: a header of text, then one array as it is. */
#include "part.h"

#include <stdio.h>
#include <string.h>

enum { HEADER_MAX = 8192 };

/* As NRRD names the types. */
static const char *type_of(const char *numpy)
{
    return !strcmp(numpy, "<f4") ? "float" : !strcmp(numpy, "<i4") ? "int" : "uchar";
}

/* The fingerprint as comments. */
static size_t add_comments(char *to, const bake_plan *plan)
{
    char fingerprint[BAKE_TEXT];
    size_t used = 0;
    bake_fingerprint(plan, fingerprint);
    for (const char *at = fingerprint; *at != '\0'; at += strcspn(at, "\n") + 1)
        used += (size_t)snprintf(to + used, HEADER_MAX - used, "# %.*s\n", (int)strcspn(at, "\n"), at);
    return used;
}

/* Directions of the axes, H to a node. Coordinates are those of the mesh, which programs for medical images take for
 * left, posterior and superior in mesh files too. */
static size_t add_space(char *to, size_t size, const bake_plan *plan)
{
    const double h = plan->lattice.spacing, *o = plan->lattice.origin;
    const unsigned long long n[3] = {plan->lattice.dims[0], plan->lattice.dims[1], plan->lattice.dims[2]};
    if (plan->kind->axes == 2)
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

static int lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    const bake_array_row *row = &bake_arrays[plan->kind->array];
    char text[HEADER_MAX] = "NRRD0004\n";
    size_t used = strlen(text);
    if (bake_check_one_array(plan, "nrrd", shown) != EXIT_DONE)
        return EXIT_USAGE;
    used += add_comments(text + used, plan);
    used += (size_t)snprintf(text + used, sizeof text - used, "type: %s\n", type_of(row->type));
    used += add_space(text + used, sizeof text - used, plan);
    used += (size_t)snprintf(text + used, sizeof text - used, "endian: little\nencoding: raw\n\n");
    unsigned char *header = bake_layout_add(out, 0, used);
    if (!header)
        return cli_no_memory();
    memcpy(header, text, used);
    out->array_at[plan->kind->array] = used;
    out->bytes = used + plan->layer * plan->depth * row->size;
    return EXIT_DONE;
}

const bake_format bake_format_nrrd = {"nrrd", lay_out, NULL};
