/* SPDX-License-Identifier: MIT */
#include "hdf5.h"
#include "hdf5_library.h"
#include "cli/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hdf5_require(const char *path)
{
    if (hdf5_version())
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE, "%s: this carom was built without HDF5 (Debian: libhdf5-dev)", path);
}

static char first_error[256], shown_error[256];

void hdf5_note(const char *text)
{
    if (first_error[0] == '\0')
        snprintf(first_error, sizeof first_error, "%s", text);
}

const char *hdf5_error(void)
{
    snprintf(shown_error, sizeof shown_error, "%s", first_error[0] ? first_error : "it gives no reason");
    first_error[0] = '\0';
    return shown_error;
}

#ifndef CAROM_HAVE_HDF5

const char *hdf5_version(void)
{
    return NULL;
}

hdf5_id hdf5_create(const char *path)
{
    (void)path;
    return -1;
}

hdf5_id hdf5_create_group(hdf5_id in, const char *name)
{
    (void)in, (void)name;
    return -1;
}

hdf5_id hdf5_create_array(hdf5_id in, const char *name, const char *type, int axes, const uint64_t *dims)
{
    (void)in, (void)name, (void)type, (void)axes, (void)dims;
    return -1;
}

hdf5_id hdf5_create_words(hdf5_id in, const char *name, const char *const *words, int count, uint64_t size)
{
    (void)in, (void)name, (void)words, (void)count, (void)size;
    return -1;
}

int hdf5_place(hdf5_id array, uint64_t *at)
{
    (void)array, (void)at;
    return 0;
}

int hdf5_put_numbers(hdf5_id of, const char *name, const char *type, uint64_t count, const void *values)
{
    (void)of, (void)name, (void)type, (void)count, (void)values;
    return 0;
}

int hdf5_put_text(hdf5_id of, const char *name, const char *text)
{
    (void)of, (void)name, (void)text;
    return 0;
}

int hdf5_close(hdf5_id id)
{
    (void)id;
    return 0;
}

void hdf5_head_begin(hdf5_head *head)
{
    *head = (hdf5_head){.file = -1};
}

int hdf5_head_end(hdf5_head *head)
{
    (void)head;
    return 0;
}

#else

#include <hdf5.h>

_Static_assert(sizeof(hid_t) == sizeof(hdf5_id), "HDF5 before 1.10 has ids of 32 bits");

const char *hdf5_version(void)
{
    static char text[32];
    unsigned n[3];
    if (text[0] == '\0' && H5get_libversion(&n[0], &n[1], &n[2]) >= 0)
        snprintf(text, sizeof text, "%u.%u.%u", n[0], n[1], n[2]);
    return text;
}

/* ---- errors -------------------------------------------------------------------------------------------------------
 */

/* The innermost error of a call says most. */
static herr_t take_innermost(unsigned n, const H5E_error2_t *error, void *user)
{
    (void)user;
    if (n == 0 && error->desc)
        snprintf(first_error, sizeof first_error, "%s", error->desc);
    return 0;
}

/* Of a chain of calls all fail that come after the first. */
static herr_t note_error(hid_t stack, void *user)
{
    return first_error[0] == '\0' ? H5Ewalk2(stack, H5E_WALK_UPWARD, take_innermost, user) : 0;
}

/* The library would print its errors. And it would end the process where it is of another release than its headers,
 * which the name of the shared library makes fit. */
void hdf5_prepare(void)
{
    setenv("HDF5_DISABLE_VERSION_CHECK", "2", 0);
    first_error[0] = '\0';
    H5Eset_auto2(H5E_DEFAULT, note_error, NULL);
}

/* ---- files --------------------------------------------------------------------------------------------------------
 */

/* Of the file's numbers, which are this machine's too. */
hdf5_id hdf5_type_of(const char *numpy)
{
    if (!strcmp(numpy, "<f4"))
        return H5T_IEEE_F32LE;
    if (!strcmp(numpy, "<f8"))
        return H5T_IEEE_F64LE;
    if (!strcmp(numpy, "<i4"))
        return H5T_STD_I32LE;
    if (!strcmp(numpy, "<i8"))
        return H5T_STD_I64LE;
    if (!strcmp(numpy, "<u4"))
        return H5T_STD_U32LE;
    if (!strcmp(numpy, "<i2"))
        return H5T_STD_I16LE;
    if (!strcmp(numpy, "<u2"))
        return H5T_STD_U16LE;
    if (!strcmp(numpy, "|i1"))
        return H5T_STD_I8LE;
    return !strcmp(numpy, "|u1") ? H5T_STD_U8LE : H5I_INVALID_HID;
}

/* Bounds, block and alignment decide about bytes, so they are the same for every file. What describes arrays comes
 * first, in a block of its own, as long as the block has room. */
static hid_t file_access(void)
{
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list >= 0 && H5Pset_libver_bounds(list, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0 &&
        H5Pset_meta_block_size(list, HDF5_HEAD) >= 0 && H5Pset_small_data_block_size(list, 0) >= 0 &&
        H5Pset_alignment(list, 1, 8) >= 0)
        return list;
    H5Pclose(list);
    return H5I_INVALID_HID;
}

static hid_t create(const char *path, hid_t access)
{
    const hid_t list = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5I_INVALID_HID;
    if (access >= 0 && list >= 0 && H5Pset_obj_track_times(list, 0) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, list, access);
    H5Pclose(list);
    return file;
}

hdf5_id hdf5_create(const char *path)
{
    hdf5_prepare();
    const hid_t access = file_access(), file = create(path, access);
    H5Pclose(access);
    return file;
}

hdf5_id hdf5_create_group(hdf5_id in, const char *name)
{
    const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = H5I_INVALID_HID;
    if (list >= 0 && H5Pset_obj_track_times(list, 0) >= 0)
        group = H5Gcreate2(in, name, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    return group;
}

static hid_t array_list(void)
{
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list >= 0 && H5Pset_layout(list, H5D_CONTIGUOUS) >= 0 && H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0 && H5Pset_obj_track_times(list, 0) >= 0)
        return list;
    H5Pclose(list);
    return H5I_INVALID_HID;
}

static hid_t create_array(hid_t in, const char *name, hid_t type, int axes, const uint64_t *dims)
{
    hsize_t n[HDF5_AXES];
    for (int k = 0; k < axes; k++)
        n[k] = dims[k];
    const hid_t list = array_list(), space = H5Screate_simple(axes, n, NULL);
    const hid_t array = H5Dcreate2(in, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    return array;
}

hdf5_id hdf5_create_array(hdf5_id in, const char *name, const char *type, int axes, const uint64_t *dims)
{
    return create_array(in, name, hdf5_type_of(type), axes, dims);
}

hdf5_id hdf5_create_words(hdf5_id in, const char *name, const char *const *words, int count, uint64_t size)
{
    const hid_t type = H5Tenum_create(H5T_STD_U8LE);
    int done = type >= 0;
    for (int i = 0; i < count; i++)
        done = done && H5Tenum_insert(type, words[i], &(uint8_t){(uint8_t)i}) >= 0;
    const hid_t array = done ? create_array(in, name, type, 1, &size) : H5I_INVALID_HID;
    H5Tclose(type);
    return array;
}

int hdf5_place(hdf5_id array, uint64_t *at)
{
    const haddr_t place = H5Dget_offset(array);
    *at = place;
    return place != HADDR_UNDEF;
}

/* ---- attributes ---------------------------------------------------------------------------------------------------
 */

static int put_attribute(hid_t of, const char *name, hid_t type, hid_t space, const void *values)
{
    const hid_t attribute = H5Acreate2(of, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const int done = H5Awrite(attribute, type, values) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return done;
}

int hdf5_put_numbers(hdf5_id of, const char *name, const char *type, uint64_t count, const void *values)
{
    const hsize_t n = count;
    return put_attribute(of, name, hdf5_type_of(type),
                         count > 0 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR), values);
}

int hdf5_put_text(hdf5_id of, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const int done = H5Tset_size(type, strlen(text)) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                     put_attribute(of, name, type, H5Screate(H5S_SCALAR), text);
    H5Tclose(type);
    return done;
}

int hdf5_close(hdf5_id id)
{
    switch (H5Iget_type(id)) {
    case H5I_FILE: return H5Fclose(id) >= 0;
    case H5I_GROUP: return H5Gclose(id) >= 0;
    case H5I_DATASET: return H5Dclose(id) >= 0;
    default: return 0;
    }
}

/* ---- a file without its arrays ------------------------------------------------------------------------------------
 * The library's core driver keeps a file in memory that these functions take for it. It asks for as much as is written,
 * and nobody writes arrays. The last of them is called when the file is closed, and keeps what there is. */

static void *take_memory(size_t size, H5FD_file_image_op_t op, void *user)
{
    (void)op, (void)user;
    return size <= HDF5_HEAD ? malloc(size) : NULL;
}

static void *take_more(void *old, size_t size, H5FD_file_image_op_t op, void *user)
{
    hdf5_head *head = user;
    (void)op;
    void *image = size <= HDF5_HEAD ? realloc(old, size) : NULL;
    head->size = image ? size : head->size;
    return image;
}

static void *copy(void *to, const void *from, size_t size, H5FD_file_image_op_t op, void *user)
{
    (void)op, (void)user;
    return memcpy(to, from, size);
}

static herr_t keep(void *image, H5FD_file_image_op_t op, void *user)
{
    hdf5_head *head = user;
    free(op == H5FD_FILE_IMAGE_OP_FILE_CLOSE ? head->image : image);
    head->image = op == H5FD_FILE_IMAGE_OP_FILE_CLOSE ? image : head->image;
    return 0;
}

static void *same_head(void *user)
{
    return user;
}

static herr_t leave_head(void *user)
{
    (void)user;
    return 0;
}

void hdf5_head_begin(hdf5_head *head)
{
    H5FD_file_image_callbacks_t memory = {take_memory, copy, take_more, keep, same_head, leave_head, head};
    *head = (hdf5_head){.file = -1};
    hdf5_prepare();
    const hid_t access = file_access();
    if (H5Pset_fapl_core(access, HDF5_HEAD, 0) >= 0 && H5Pset_file_image_callbacks(access, &memory) >= 0)
        head->file = create("/dev/null/none", access); /* it would read a file of that name first */
    H5Pclose(access);
}

int hdf5_head_end(hdf5_head *head)
{
    const int done = hdf5_close(head->file) && head->image && head->size <= HDF5_HEAD;
    if (done)
        memcpy(head->bytes, head->image, head->size);
    free(head->image);
    head->image = NULL;
    head->file = -1;
    return done;
}

#endif
