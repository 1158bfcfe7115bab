/* SPDX-License-Identifier: MIT */
/* The process that hdf5_child.h describes. What a file says of its datasets is not believed: a dataset is read only if
 * the file holds all of its numbers. */
#include "hdf5_child.h"
#include "cli/base/child.h"
#include "cli/base/base.h"
#include "hdf5_library.h"
#include "cli/base/memory.h"

#ifndef CAROM_HAVE_HDF5

int hdf5_child(int argc, char **argv)
{
    (void)argc;
    return hdf5_require(argv[0]);
}

#else

#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct server {
    hid_t file, array[HDF5_ARRAYS];
    hdf5_form form[HDF5_ARRAYS];
    int count;
    void *numbers; /* of the last answer */
} server;

enum { CACHE = 1 << 20 }; /* the library's bytes for chunks */

/* ---- what a dataset is --------------------------------------------------------------------------------------------
 */

static void name_type(hid_t array, hdf5_form *form)
{
    static const char *const names[] = {"<f4", "<f8", "<i4", "<i8", "<u4", "|u1"};
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
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (H5Tequal(type, hdf5_type_of(names[i])) > 0)
            snprintf(form->numpy, sizeof form->numpy, "%s", names[i]);
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

/* Which file an object is in: a link may lead to another. Returns 0 if that is not known. */
static int find_file(hid_t object, hdf5_form *form)
{
    const hid_t file = H5Iget_file_id(object);
    struct stat info;
    int *fd = NULL;
    const int known = H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&fd) >= 0 && fd && fstat(*fd, &info) == 0;
    H5Fclose(file);
    form->device = known ? info.st_dev : 0;
    form->inode = known ? info.st_ino : 0;
    return known;
}

static const char *check_contiguous(hid_t array, hid_t list, hdf5_form *form)
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
    if (!known || beyond || place > size || bytes > size - place)
        return "its numbers are not all in the file";
    form->place = place;
    form->is_plain = find_file(array, form);
    return NULL;
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
static hid_t open_packed(hid_t array, hid_t in, const char *name, const hdf5_form *form)
{
    uint64_t bytes = form->size;
    for (int k = 0; k < form->axes && k < HDF5_AXES; k++)
        bytes *= form->packed[k];
    if (form->fault[0] || form->axes > HDF5_AXES || bytes <= CACHE)
        return array;
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, (size_t)bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    H5Dclose(array);
    array = H5Dopen2(in, name, access);
    H5Pclose(access);
    return array;
}

/* ---- requests -----------------------------------------------------------------------------------------------------
 */

static int64_t has(const server *s, const hdf5_request *q)
{
    return H5Lexists(s->file, q->name, H5P_DEFAULT);
}

static int64_t count_children(const server *s, const hdf5_request *q, hdf5_answer *a)
{
    H5G_info_t info = {.nlinks = 0};
    const htri_t there = H5Lexists(s->file, q->name, H5P_DEFAULT);
    if (there <= 0)
        return there;
    if (H5Gget_info_by_name(s->file, q->name, &info, H5P_DEFAULT) < 0)
        return 0;
    if (info.nlinks == 1) {
        const ssize_t length =
            H5Lget_name_by_idx(s->file, q->name, H5_INDEX_NAME, H5_ITER_INC, 0, a->text, sizeof a->text, H5P_DEFAULT);
        return length < 0 ? -1 : length < (ssize_t)sizeof a->text;
    }
    return info.nlinks < 1000 ? (int64_t)info.nlinks : 1000;
}

static int64_t name_member(const server *s, const hdf5_request *q, hdf5_answer *a)
{
    const ssize_t length = H5Lget_name_by_idx(s->file, q->name, H5_INDEX_NAME, H5_ITER_INC, (hsize_t)q->array, a->text,
                                              sizeof a->text, H5P_DEFAULT);
    if (length >= (ssize_t)sizeof a->text)
        hdf5_note("a name is longer than 255 bytes");
    if (length < 0 || length >= (ssize_t)sizeof a->text)
        return -1;
    const hid_t group = H5Gopen2(s->file, q->name, H5P_DEFAULT), member = H5Oopen(group, a->text, H5P_DEFAULT);
    const int64_t result = member < 0 ? -1 : H5Iget_type(member) == H5I_DATASET;
    H5Oclose(member);
    H5Gclose(group);
    return result;
}

/* Words of a fixed length, or of any. Returns 0 if it has none that fit, -1 if it cannot be read. */
static int read_words(hid_t attribute, char *words, size_t size, hdf5_answer *a)
{
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t length = H5Tget_size(type);
    const int varies = H5Tis_variable_str(type) > 0;
    const int fits = H5Tget_class(type) == H5T_STRING && count > 0 && length > 0 && (uint64_t)count <= size / length;
    const int result = !fits ? 0 : H5Aread(attribute, type, words) >= 0 ? 1 : -1;
    for (hssize_t i = 0; i < count && result > 0; i++) {
        const char *word = varies ? ((char **)(void *)words)[i] : words + (size_t)i * length;
        const size_t used = strlen(a->text);
        snprintf(a->text + used, sizeof a->text - used, "%s%.*s", i > 0 ? " " : "", varies ? HDF5_TEXT : (int)length,
                 word ? word : "");
    }
    H5Tclose(type);
    H5Sclose(space);
    return result;
}

static int64_t take_words(const server *s, const hdf5_request *q, hdf5_answer *a)
{
    _Alignas(char *) char words[4096];
    const htri_t there = H5Lexists(s->file, q->name, H5P_DEFAULT) > 0
                             ? H5Aexists_by_name(s->file, q->name, q->attribute, H5P_DEFAULT)
                             : 0;
    if (there <= 0)
        return there;
    const hid_t attribute = H5Aopen_by_name(s->file, q->name, q->attribute, H5P_DEFAULT, H5P_DEFAULT);
    const int result = attribute >= 0 ? read_words(attribute, words, sizeof words, a) : -1;
    H5Aclose(attribute);
    return result;
}

static int64_t open_array(server *s, const hdf5_request *q, hdf5_answer *a)
{
    hdf5_form form = {.axes = 0};
    if (s->count == HDF5_ARRAYS)
        return -1;
    const hid_t array = H5Dopen2(s->file, q->name, H5P_DEFAULT);
    if (array < 0 || !get_shape(array, &form)) {
        H5Dclose(array);
        return -1;
    }
    name_type(array, &form);
    const char *fault = check_data(array, &form);
    snprintf(form.fault, sizeof form.fault, "%s", fault ? fault : "");
    s->array[s->count] = open_packed(array, s->file, q->name, &form);
    s->form[s->count] = a->form = form;
    return s->count++;
}

/* The numbers are sent behind the answer. */
static int64_t read_block(server *s, const hdf5_request *q, hdf5_answer *a)
{
    hsize_t start[HDF5_AXES], n[HDF5_AXES];
    const hdf5_form *form = &s->form[q->array];
    uint64_t bytes = form->size;
    for (int k = 0; k < form->axes; k++) {
        start[k] = q->from[k];
        n[k] = q->count[k];
        bytes *= n[k];
    }
    s->numbers = malloc(bytes > 0 ? bytes : 1);
    const hid_t array = s->array[q->array], type = H5Dget_type(array), file = H5Dget_space(array);
    const hid_t memory = H5Screate_simple(form->axes, n, NULL);
    const int done = s->numbers && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, n, NULL) >= 0 &&
                     H5Dread(array, type, memory, file, H5P_DEFAULT, s->numbers) >= 0;
    H5Sclose(memory);
    H5Sclose(file);
    H5Tclose(type);
    a->bytes = done ? bytes : 0;
    return done ? 1 : -1;
}

static int64_t answer(server *s, const hdf5_request *q, hdf5_answer *a)
{
    switch (q->what) {
    case HDF5_HAS: return has(s, q);
    case HDF5_CHILDREN: return count_children(s, q, a);
    case HDF5_MEMBER: return name_member(s, q, a);
    case HDF5_WORDS: return take_words(s, q, a);
    case HDF5_ARRAY: return open_array(s, q, a);
    case HDF5_NUMBERS: return q->array >= 0 && q->array < s->count ? read_block(s, q, a) : -1;
    default: return s->file < 0 ? -1 : 0;
    }
}

/* From now on. A damaged file may keep the library at work for ever. */
static void limit_seconds(uint64_t more)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        child_limit_seconds((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec + more, RLIM_INFINITY);
}

int hdf5_child(int argc, char **argv)
{
    const uint64_t free_half = memory_limit();
    hdf5_request q;
    server s = {.file = -1};
    if (argc < 4)
        return cli_refuse(EXIT_USAGE, "%s is for carom itself; see carom --help", HDF5_COMMAND);
    if (!child_begin((pid_t)strtol(argv[2], NULL, 10)))
        return EXIT_WORK;
    child_limit_memory(free_half < HDF5_MEMORY ? free_half : HDF5_MEMORY);
    limit_seconds(HDF5_SECONDS);
    hdf5_prepare();
    s.file = H5Fopen(argv[3], H5F_ACC_RDONLY, H5P_DEFAULT);
    while (child_receive(STDIN_FILENO, &q, sizeof q)) {
        hdf5_answer a = {.result = 0};
        limit_seconds(HDF5_SECONDS + (q.bytes >> 20));
        a.result = answer(&s, &q, &a);
        if (a.result < 0)
            snprintf(a.error, sizeof a.error, "%s", hdf5_error());
        if (!child_send(STDIN_FILENO, &a, sizeof a) || !child_send(STDIN_FILENO, s.numbers, a.bytes))
            break;
        free(s.numbers);
        s.numbers = NULL;
    }
    _exit(EXIT_DONE); /* the library may crash on what it would tidy up, too */
}

#endif
