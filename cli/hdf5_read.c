/* SPDX-License-Identifier: MIT */
/* What a file says of its datasets is not believed: a dataset is read only if the file holds all of its numbers. */
#include "cli.h"
#include "hdf5_library.h"

#include <stdio.h>
#include <string.h>

#ifndef CAROM_HAVE_HDF5

hdf5_id hdf5_open(const char *path)
{
    (void)path;
    return -1;
}

int hdf5_has(hdf5_id in, const char *name)
{
    (void)in, (void)name;
    return 0;
}

int hdf5_only_child(hdf5_id in, const char *group, char *name, size_t size)
{
    (void)in, (void)group, (void)name, (void)size;
    return 0;
}

hdf5_id hdf5_open_array(hdf5_id in, const char *name, hdf5_form *form)
{
    (void)in, (void)name, (void)form;
    return -1;
}

int hdf5_is_of(hdf5_id array, const char *type)
{
    (void)array, (void)type;
    return 0;
}

int hdf5_read(hdf5_id array, int axes, const uint64_t *from, const uint64_t *count, void *to)
{
    (void)array, (void)axes, (void)from, (void)count, (void)to;
    return 0;
}

#else

#include <hdf5.h>

enum { CACHE = 1 << 20 }; /* the library's bytes for chunks */

hdf5_id hdf5_open(const char *path)
{
    hdf5_prepare();
    return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

int hdf5_has(hdf5_id in, const char *name)
{
    return H5Lexists(in, name, H5P_DEFAULT) > 0;
}

int hdf5_only_child(hdf5_id in, const char *group, char *name, size_t size)
{
    H5G_info_t info = {.nlinks = 0};
    if (!hdf5_has(in, group) || H5Gget_info_by_name(in, group, &info, H5P_DEFAULT) < 0)
        return 0;
    if (info.nlinks == 1 &&
        H5Lget_name_by_idx(in, group, H5_INDEX_NAME, H5_ITER_INC, 0, name, size, H5P_DEFAULT) >= (ssize_t)size)
        return 0;
    return info.nlinks < 1000 ? (int)info.nlinks : 1000;
}

/* ---- what a dataset is --------------------------------------------------------------------------------------------
 */

static void name_type(hid_t array, hdf5_form *form)
{
    const hid_t type = H5Dget_type(array);
    const H5T_class_t class = H5Tget_class(type);
    const char *order = H5Tget_order(type) == H5T_ORDER_BE ? "big-endian " : "", *kind = NULL;
    if (class == H5T_FLOAT)
        kind = "float";
    else if (class == H5T_INTEGER)
        kind = H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int";
    form->size = H5Tget_size(type);
    if (kind)
        snprintf(form->type, sizeof form->type, "%s%s%zu", order, kind, 8 * form->size);
    else
        snprintf(form->type, sizeof form->type, "another type");
    H5Tclose(type);
}

static int get_shape(hid_t array, hdf5_form *form)
{
    const hid_t space = H5Dget_space(array);
    hsize_t n[H5S_MAX_RANK] = {0};
    form->axes = H5Sget_simple_extent_dims(space, n, NULL);
    for (int k = 0; k < form->axes && k < HDF5_AXES; k++)
        form->dims[k] = n[k];
    const H5S_class_t class = H5Sget_simple_extent_type(space);
    H5Sclose(space);
    if (class == H5S_NULL)
        hdf5_note("its dataspace is null, so it has no numbers");
    return class == H5S_SIMPLE || class == H5S_SCALAR;
}

/* Bytes that it has and that it needs, those of its chunks counted in whole chunks. A chunk that is not in the file has
 * a fill value in place of numbers. Returns why it cannot be read, NULL if it can. */
static const char *check_chunks(hid_t array, hid_t list, hdf5_form *form)
{
    hsize_t chunk[HDF5_AXES], there = 0;
    uint64_t wanted = 1, bytes = form->size;
    const hid_t space = H5Dget_space(array);
    const int known =
        H5Pget_chunk(list, form->axes, chunk) == form->axes && H5Dget_num_chunks(array, space, &there) >= 0;
    H5Sclose(space);
    if (!known)
        return "its chunks cannot be counted";
    for (int k = 0; k < form->axes; k++) {
        if (__builtin_mul_overflow(wanted, (form->dims[k] + chunk[k] - 1) / chunk[k], &wanted))
            return "its numbers are not all in the file";
        bytes *= chunk[k];
        form->packed[k] = H5Pget_nfilters(list) > 0 ? chunk[k] : 0;
    }
    if (H5Pall_filters_avail(list) <= 0)
        return "they are packed by a filter that HDF5 does not have here";
    if (bytes > HDF5_CHUNK_MAX)
        return "its chunks are larger than 64 MiB";
    return there == wanted ? NULL : "its numbers are not all in the file";
}

static const char *check_contiguous(hid_t array, hid_t list, const hdf5_form *form)
{
    uint64_t bytes = form->size;
    int beyond = 0;
    for (int k = 0; k < form->axes; k++)
        beyond |= __builtin_mul_overflow(bytes, form->dims[k], &bytes);
    if (H5Pget_external_count(list) != 0)
        return "its numbers are in other files";
    const hid_t file = H5Iget_file_id(array);
    const haddr_t place = H5Dget_offset(array);
    hsize_t size = 0;
    const int known = H5Fget_filesize(file, &size) >= 0;
    H5Fclose(file);
    if (bytes == 0 && !beyond)
        return NULL;
    return !known || beyond || place > size || bytes > size - place ? "its numbers are not all in the file" : NULL;
}

static const char *check_data(hid_t array, hdf5_form *form)
{
    const hid_t list = H5Dget_create_plist(array);
    const char *fault = NULL;
    switch (form->axes > HDF5_AXES ? H5D_COMPACT : H5Pget_layout(list)) {
    case H5D_COMPACT: break;
    case H5D_CONTIGUOUS: fault = check_contiguous(array, list, form); break;
    case H5D_CHUNKED: fault = check_chunks(array, list, form); break;
    default: fault = "its numbers are in other files";
    }
    H5Pclose(list);
    return fault;
}

/* Again, with memory for a packed chunk, which would be unpacked for every read otherwise. */
static hid_t open_packed(hid_t array, hdf5_id in, const char *name, const hdf5_form *form)
{
    uint64_t bytes = form->size;
    for (int k = 0; k < form->axes && k < HDF5_AXES; k++)
        bytes *= form->packed[k];
    if (form->fault || form->axes > HDF5_AXES || bytes <= CACHE)
        return array;
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, (size_t)bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    H5Dclose(array);
    array = H5Dopen2(in, name, access);
    H5Pclose(access);
    return array;
}

hdf5_id hdf5_open_array(hdf5_id in, const char *name, hdf5_form *form)
{
    *form = (hdf5_form){0};
    const hid_t array = H5Dopen2(in, name, H5P_DEFAULT);
    if (array < 0 || !get_shape(array, form)) {
        H5Dclose(array);
        return -1;
    }
    name_type(array, form);
    form->fault = check_data(array, form);
    return open_packed(array, in, name, form);
}

int hdf5_is_of(hdf5_id array, const char *type)
{
    const hid_t own = H5Dget_type(array);
    const int same = H5Tequal(own, hdf5_type_of(type)) > 0;
    H5Tclose(own);
    return same;
}

int hdf5_read(hdf5_id array, int axes, const uint64_t *from, const uint64_t *count, void *to)
{
    hsize_t start[HDF5_AXES], n[HDF5_AXES];
    for (int k = 0; k < axes; k++) {
        start[k] = from[k];
        n[k] = count[k];
    }
    const hid_t type = H5Dget_type(array), file = H5Dget_space(array), memory = H5Screate_simple(axes, n, NULL);
    const int done = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, n, NULL) >= 0 &&
                     H5Dread(array, type, memory, file, H5P_DEFAULT, to) >= 0;
    H5Sclose(memory);
    H5Sclose(file);
    H5Tclose(type);
    return done;
}

#endif
