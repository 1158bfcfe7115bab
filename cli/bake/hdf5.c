/* SPDX-License-Identifier: MIT */
/* HDF5: .h5, a dataset for each array, and .vtkhdf, VTK's ImageData in HDF5 (version 1.0, which VTK 9.1 reads). The
 * library makes the description of the arrays alone, so it is closed before any node is computed, and a kill finds the
 * file as whole as any other: the arrays come into their places as in every format. */
#include "part.h"

#include "cli/table/hdf5.h"

#include <stdlib.h>
#include <string.h>

/* Each array of the plan, `shape` for a node of one number, the slowest axis first; `describe`, unless NULL, adds its
 * attributes. */
static int add_arrays(const bake_plan *plan, hdf5_id in, int axes, const uint64_t *shape,
                      int (*describe)(const bake_plan *, hdf5_id), bake_layout *out)
{
    int done = 1;
    for (int a = 0; a < BAKE_ARRAYS; a++) {
        uint64_t all[HDF5_AXES];
        if (!(plan->arrays & (1u << a)))
            continue;
        memcpy(all, shape, (size_t)axes * sizeof *shape);
        all[axes] = (uint64_t)bake_arrays[a].components;
        const hdf5_id array = hdf5_create_array(in, bake_arrays[a].name, bake_arrays[a].type,
                                                axes + (bake_arrays[a].components > 1), all);
        done &= hdf5_place(array, &out->array_at[a]) && (!describe || describe(plan, array));
        done &= hdf5_close(array);
    }
    return done;
}

static int put_fingerprint(const bake_plan *plan, hdf5_id file)
{
    char text[BAKE_TEXT];
    bake_fingerprint(plan, text);
    return hdf5_put_text(file, "fingerprint", text);
}

/* ---- .h5 ----------------------------------------------------------------------------------------------------------
 */

static int describe(const bake_plan *plan, hdf5_id array)
{
    char options[BAKE_TEXT], command[BAKE_TEXT + 16] = "carom bake ";
    bake_describe(plan, options);
    strcat(command, options);
    return hdf5_put_numbers(array, "origin", "<f8", (uint64_t)plan->kind->axes, plan->lattice.origin) &&
           hdf5_put_numbers(array, "spacing", "<f8", 0, &plan->lattice.spacing) &&
           hdf5_put_text(array, "command", command);
}

static int fill_h5(const bake_plan *plan, hdf5_id file, bake_layout *out)
{
    const uint64_t *n = plan->lattice.dims, shape[2][3] = {{n[1], n[0]}, {n[2], n[1], n[0]}};
    return put_fingerprint(plan, file) &&
           add_arrays(plan, file, plan->kind->axes, shape[plan->kind->axes - 2], describe, out);
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

static image_axes axes_of(const bake_plan *plan)
{
    static const image_axes straight = {{0, 1, 2}, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}},
                            flat_z = {{2, 0, 1}, {0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0}},
                            flat_y = {{1, 0, 2}, {0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0}};
    return plan->lattice.dims[2] == 1 ? flat_z : plan->lattice.dims[1] == 1 ? flat_y : straight;
}

static int describe_image(const bake_plan *plan, const image_axes *axes, hdf5_id group)
{
    static const int64_t version[2] = {1, 0};
    const double h = plan->lattice.spacing, spacing[3] = {h, h, h};
    int64_t extent[6] = {0};
    for (int k = 0; k < 3; k++)
        extent[2 * k + 1] = (int64_t)plan->lattice.dims[axes->of[k]] - 1;
    return hdf5_put_numbers(group, "Version", "<i8", 2, version) && hdf5_put_text(group, "Type", "ImageData") &&
           hdf5_put_numbers(group, "WholeExtent", "<i8", 6, extent) &&
           hdf5_put_numbers(group, "Origin", "<f8", 3, plan->lattice.origin) &&
           hdf5_put_numbers(group, "Spacing", "<f8", 3, spacing) &&
           hdf5_put_numbers(group, "Direction", "<f8", 9, axes->direction);
}

static int fill_vtkhdf(const bake_plan *plan, hdf5_id file, bake_layout *out)
{
    const image_axes axes = axes_of(plan);
    const uint64_t *n = plan->lattice.dims, shape[3] = {n[axes.of[2]], n[axes.of[1]], n[axes.of[0]]};
    const hdf5_id group = hdf5_create_group(file, "VTKHDF"), data = hdf5_create_group(group, "PointData");
    int done = put_fingerprint(plan, file) && describe_image(plan, &axes, group) &&
               add_arrays(plan, data, 3, shape, NULL, out);
    done &= hdf5_close(data);
    return hdf5_close(group) && done;
}

/* ---- both ---------------------------------------------------------------------------------------------------------
 */

static int lay_out(const bake_plan *plan, const char *shown, int (*fill)(const bake_plan *, hdf5_id, bake_layout *),
                   bake_layout *out)
{
    hdf5_head head;
    hdf5_head_begin(&head);
    int done = fill(plan, head.file, out);
    done &= hdf5_head_end(&head);
    for (int a = 0; a < BAKE_ARRAYS; a++) {
        const uint64_t end = out->array_at[a] + plan->layer * plan->depth * bake_arrays[a].size;
        if (!(plan->arrays & (1u << a)))
            continue;
        done &= out->array_at[a] >= HDF5_HEAD;
        out->bytes = end > out->bytes ? end : out->bytes;
    }
    if (!done)
        return cli_refuse(EXIT_WORK, "%s: HDF5 cannot describe the arrays: %s", shown, hdf5_error());
    unsigned char *bytes = bake_layout_add(out, 0, HDF5_HEAD);
    if (!bytes)
        return cli_no_memory();
    memcpy(bytes, head.bytes, HDF5_HEAD);
    return EXIT_DONE;
}

static int lay_out_h5(const bake_plan *plan, const char *shown, bake_layout *out)
{
    return lay_out(plan, shown, fill_h5, out);
}

static int lay_out_vtkhdf(const bake_plan *plan, const char *shown, bake_layout *out)
{
    const uint64_t *n = plan->lattice.dims;
    const int status = bake_check_int_axes(plan, "vtkhdf", shown);
    if (status == EXIT_DONE && (n[0] == 1) + (n[1] == 1) + (n[2] == 1) > 1)
        return cli_refuse(EXIT_USAGE,
                          "%s: a .vtkhdf file needs two nodes or more along two axes: VTK cannot read others", shown);
    return status == EXIT_DONE ? lay_out(plan, shown, fill_vtkhdf, out) : status;
}

const bake_format bake_format_h5 = {"h5", lay_out_h5, hdf5_require};
const bake_format bake_format_vtkhdf = {"vtkhdf", lay_out_vtkhdf, hdf5_require};
