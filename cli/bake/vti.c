/* SPDX-License-Identifier: MIT */
/* VTK's ImageData: an XML header, and the arrays as raw bytes behind it, each after its length in 8 bytes. */
#include "bake.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_MAX = 8192, ALIGNMENT = 8, LENGTH = 8 };

typedef struct text {
    char at[HEADER_MAX];
    size_t used;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->used += (size_t)vsnprintf(t->at + t->used, HEADER_MAX - t->used, format, args); /* HEADER_MAX is enough */
    va_end(args);
}

static void add_header(text *t, const bake_plan *plan)
{
    char fingerprint[BAKE_TEXT], extent[128];
    uint64_t offset = 0;
    bake_fingerprint(plan, fingerprint);
    snprintf(extent, sizeof extent, "0 %llu 0 %llu 0 %llu", (unsigned long long)(plan->lattice.dims[0] - 1),
             (unsigned long long)(plan->lattice.dims[1] - 1), (unsigned long long)(plan->lattice.dims[2] - 1));
    add(t, "<?xml version=\"1.0\"?>\n<!--\n%s-->\n", fingerprint);
    add(t, "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n");
    add(t, "  <ImageData WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" Spacing=\"%.17g %.17g %.17g\">\n", extent,
        plan->lattice.origin[0], plan->lattice.origin[1], plan->lattice.origin[2], plan->lattice.spacing,
        plan->lattice.spacing, plan->lattice.spacing);
    add(t, "    <Piece Extent=\"%s\">\n      <PointData Scalars=\"%s\">\n", extent,
        bake_arrays[plan->kind->array].name);
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & (1u << a)) {
            add(t, "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" ",
                bake_arrays[a].kind, bake_arrays[a].name, bake_arrays[a].components);
            add(t, "offset=\"%llu\"/>\n", (unsigned long long)offset);
            offset += LENGTH + plan->layer * plan->depth * bake_arrays[a].size;
        }
    add(t, "      </PointData>\n      <CellData/>\n    </Piece>\n  </ImageData>\n");
    add(t, "  <AppendedData encoding=\"raw\">\n");
    while ((t->used + 1) % ALIGNMENT != 0) /* the first array begins at a multiple */
        add(t, " ");
    add(t, "_");
}

static int lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    static const char trailer[] = "\n  </AppendedData>\n</VTKFile>\n";
    text t = {.used = 0};
    if (bake_check_int_axes(plan, "vti", shown) != EXIT_DONE)
        return EXIT_USAGE;
    add_header(&t, plan);
    unsigned char *bytes = bake_layout_add(out, 0, t.used);
    if (!bytes)
        return cli_no_memory();
    memcpy(bytes, t.at, t.used);
    out->bytes = t.used;
    for (int a = 0; a < BAKE_ARRAYS; a++) {
        const uint64_t size = plan->layer * plan->depth * bake_arrays[a].size;
        if (!(plan->arrays & (1u << a)))
            continue;
        if (!(bytes = bake_layout_add(out, out->bytes, LENGTH)))
            return cli_no_memory();
        bake_put64(bytes, size);
        out->array_at[a] = out->bytes + LENGTH;
        out->bytes += LENGTH + size;
    }
    if (!(bytes = bake_layout_add(out, out->bytes, sizeof trailer - 1)))
        return cli_no_memory();
    memcpy(bytes, trailer, sizeof trailer - 1);
    out->bytes += sizeof trailer - 1;
    return EXIT_DONE;
}

const bake_format bake_format_vti = {"vti", lay_out, NULL};
