/* SPDX-License-Identifier: MIT */
/* HDF5: .h5, a dataset for each array, and .vtkhdf, VTK's ImageData in HDF5 (version 1.0, which VTK 9.1 reads). The
 * library makes the description of the arrays alone, so it is closed before any node is computed, and a kill finds the
 * file as whole as any other: the arrays come into their places as in every format. */
#include "cli/base/base.h"
#include "cli/table/hdf5.h"
#include "volume.h"

#include <stdlib.h>
#include <string.h>

/* As the CF conventions name it. */
static int put_scale(const volume *v, hdf5_id array)
{
    static const double offset = 0.0;
    return hdf5_put_numbers(array, "scale_factor", "<f8", 0, &v->scale) &&
           hdf5_put_numbers(array, "add_offset", "<f8", 0, &offset);
}

/* Each array of the v, `shape` for a node of one number, the slowest axis first; `describe`, unless NULL, adds its
 * attributes. */
static int add_arrays(const volume *v, hdf5_id in, int axes, const uint64_t *shape,
                      int (*describe)(const volume *, hdf5_id), volume_layout *out)
{
    int done = 1;
    for (int a = 0; a < VOLUME_ARRAYS; a++) {
        uint64_t all[HDF5_AXES];
        if (!v->array[a])
            continue;
        memcpy(all, shape, (size_t)axes * sizeof *shape);
        all[axes] = (uint64_t)v->array[a]->components;
        const hdf5_id array =
            hdf5_create_array(in, v->array[a]->name, v->array[a]->type, axes + (v->array[a]->components > 1), all);
        done &= hdf5_place(array, &out->array_at[a]) && (!describe || describe(v, array));
        done &= a != v->first || v->scale == 0.0 || put_scale(v, array);
        done &= hdf5_close(array);
    }
    return done;
}

static int put_fingerprint(const volume *v, hdf5_id file)
{
    return !v->fingerprint || hdf5_put_text(file, "fingerprint", v->fingerprint);
}

/* ---- .h5 ----------------------------------------------------------------------------------------------------------
 */

static int describe(const volume *v, hdf5_id array)
{
    return hdf5_put_numbers(array, "origin", "<f8", (uint64_t)v->axes, v->lattice.origin) &&
           hdf5_put_numbers(array, "spacing", "<f8", 0, &v->lattice.spacing) &&
           (!v->command || hdf5_put_text(array, "command", v->command));
}

static int fill_h5(const volume *v, hdf5_id file, volume_layout *out)
{
    const uint64_t *n = v->lattice.dims, shape[2][3] = {{n[1], n[0]}, {n[2], n[1], n[0]}};
    return put_fingerprint(v, file) && add_arrays(v, file, v->axes, shape[v->axes - 2], describe, out);
}

/* ---- .vtkhdf ------------------------------------------------------------------------------------------------------
 */

/* Axes of the lattice as axes of the image. VTK's reader (9.1 crashes) takes an image that is flat along its second or
 * third axis for one of two axes, so the flat axis comes first, turned back by the direction. The bytes are the same.
 */
typedef struct image_axes {
    int of[3];
    double direction[9]; /* a row for each coordinate */
} image_axes;

static image_axes axes_of(const volume *v)
{
    static const image_axes straight = {{0, 1, 2}, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}},
                            flat_z = {{2, 0, 1}, {0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0}},
                            flat_y = {{1, 0, 2}, {0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0}};
    return v->lattice.dims[2] == 1 ? flat_z : v->lattice.dims[1] == 1 ? flat_y : straight;
}

static int describe_image(const volume *v, const image_axes *axes, hdf5_id group)
{
    static const int64_t version[2] = {1, 0};
    const double h = v->lattice.spacing, spacing[3] = {h, h, h};
    int64_t extent[6] = {0};
    for (int k = 0; k < 3; k++)
        extent[2 * k + 1] = (int64_t)v->lattice.dims[axes->of[k]] - 1;
    return hdf5_put_numbers(group, "Version", "<i8", 2, version) && hdf5_put_text(group, "Type", "ImageData") &&
           hdf5_put_numbers(group, "WholeExtent", "<i8", 6, extent) &&
           hdf5_put_numbers(group, "Origin", "<f8", 3, v->lattice.origin) &&
           hdf5_put_numbers(group, "Spacing", "<f8", 3, spacing) &&
           hdf5_put_numbers(group, "Direction", "<f8", 9, axes->direction);
}

static int fill_vtkhdf(const volume *v, hdf5_id file, volume_layout *out)
{
    const image_axes axes = axes_of(v);
    const uint64_t *n = v->lattice.dims, shape[3] = {n[axes.of[2]], n[axes.of[1]], n[axes.of[0]]};
    const hdf5_id group = hdf5_create_group(file, "VTKHDF"), data = hdf5_create_group(group, "PointData");
    int done = put_fingerprint(v, file) && describe_image(v, &axes, group) && add_arrays(v, data, 3, shape, NULL, out);
    done &= hdf5_close(data);
    return hdf5_close(group) && done;
}

/* ---- both ---------------------------------------------------------------------------------------------------------
 */

static int lay_out(const volume *v, const char *shown, int (*fill)(const volume *, hdf5_id, volume_layout *),
                   volume_layout *out)
{
    hdf5_head head;
    hdf5_head_begin(&head);
    int done = fill(v, head.file, out);
    done &= hdf5_head_end(&head);
    for (int a = 0; a < VOLUME_ARRAYS; a++) {
        if (!v->array[a])
            continue;
        const uint64_t end = out->array_at[a] + v->nodes * v->array[a]->size;
        done &= out->array_at[a] >= HDF5_HEAD;
        out->bytes = end > out->bytes ? end : out->bytes;
    }
    if (!done)
        return cli_refuse(EXIT_WORK, "%s: HDF5 cannot describe the arrays: %s", shown, hdf5_error());
    unsigned char *bytes = volume_layout_add(out, 0, HDF5_HEAD);
    if (!bytes)
        return cli_no_memory();
    memcpy(bytes, head.bytes, HDF5_HEAD);
    return EXIT_DONE;
}

static int lay_out_h5(const volume *v, const char *shown, volume_layout *out)
{
    return lay_out(v, shown, fill_h5, out);
}

static int lay_out_vtkhdf(const volume *v, const char *shown, volume_layout *out)
{
    const uint64_t *n = v->lattice.dims;
    const int status = volume_check_int_axes(v, "vtkhdf", shown);
    if (status == EXIT_DONE && (n[0] == 1) + (n[1] == 1) + (n[2] == 1) > 1)
        return cli_refuse(EXIT_USAGE,
                          "%s: a .vtkhdf file needs two nodes or more along two axes: VTK cannot read others", shown);
    return status == EXIT_DONE ? lay_out(v, shown, fill_vtkhdf, out) : status;
}

const volume_format volume_h5 = {"h5", 0, lay_out_h5, hdf5_require};
const volume_format volume_vtkhdf = {"vtkhdf", 0, lay_out_vtkhdf, hdf5_require};
