/* SPDX-License-Identifier: MIT */
/* VTK's ImageData (cli/table/vtk.h). */
#include "cli/base/base.h"
#include "cli/table/vtk.h"
#include "volume.h"

#include <stdio.h>
#include <string.h>

_Static_assert(VTK_TEXT - VTK_BLANKS >= VOLUME_TEXT + VOLUME_ARRAYS * (VOLUME_NAME + 160) + 1536, "a header fits");

static void add_header(vtk_text *t, const volume *v)
{
    char extent[128];
    snprintf(extent, sizeof extent, "0 %llu 0 %llu 0 %llu", (unsigned long long)(v->lattice.dims[0] - 1),
             (unsigned long long)(v->lattice.dims[1] - 1), (unsigned long long)(v->lattice.dims[2] - 1));
    vtk_begin(t, "ImageData", v->fingerprint);
    vtk_add(t, "  <ImageData WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" Spacing=\"%.17g %.17g %.17g\">\n", extent,
            v->lattice.origin[0], v->lattice.origin[1], v->lattice.origin[2], v->lattice.spacing, v->lattice.spacing,
            v->lattice.spacing);
    if (v->scale != 0.0)
        vtk_add(t,
                "    <FieldData>\n"
                "      <DataArray type=\"Float64\" Name=\"scale_factor\" NumberOfTuples=\"1\" "
                "format=\"ascii\">%.17g</DataArray>\n"
                "      <DataArray type=\"Float64\" Name=\"add_offset\" NumberOfTuples=\"1\" "
                "format=\"ascii\">0</DataArray>\n"
                "    </FieldData>\n",
                v->scale);
    vtk_add(t, "    <Piece Extent=\"%s\">\n      <PointData Scalars=\"%s\">\n", extent, v->array[v->first]->name);
    for (int a = 0; a < VOLUME_ARRAYS; a++)
        if (v->array[a])
            vtk_add_array(t, v->array[a]->kind, v->array[a]->name, v->array[a]->components, NULL,
                          v->nodes * v->array[a]->size);
    vtk_add(t, "      </PointData>\n      <CellData/>\n    </Piece>\n");
    vtk_end(t, "ImageData");
}

static int lay_out(const volume *v, const char *shown, volume_layout *out)
{
    vtk_text t;
    if (volume_check_int_axes(v, "vti", shown) != EXIT_DONE)
        return EXIT_USAGE;
    add_header(&t, v);
    unsigned char *bytes = volume_layout_add(out, 0, t.used);
    if (!bytes)
        return cli_no_memory();
    memcpy(bytes, t.at, t.used);
    out->bytes = t.used;
    for (int a = 0; a < VOLUME_ARRAYS; a++) {
        if (!v->array[a])
            continue;
        const uint64_t size = v->nodes * v->array[a]->size;
        if (!(bytes = volume_layout_add(out, out->bytes, VTK_LENGTH)))
            return cli_no_memory();
        memcpy(bytes, &size, VTK_LENGTH); /* little-endian, as all of it */
        out->array_at[a] = out->bytes + VTK_LENGTH;
        out->bytes += VTK_LENGTH + size;
    }
    if (!(bytes = volume_layout_add(out, out->bytes, strlen(vtk_trailer))))
        return cli_no_memory();
    memcpy(bytes, vtk_trailer, strlen(vtk_trailer));
    out->bytes += strlen(vtk_trailer);
    return EXIT_DONE;
}

const volume_format volume_vti = {"vti", 0, lay_out, NULL};
