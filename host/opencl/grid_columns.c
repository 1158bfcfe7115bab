/* SPDX-License-Identifier: MIT */
/* Columns that follow from the pairs of a list: depth and normal (kernels/cloud_columns.cl), and the places of the
 * pairs in an earlier list (cloud_previous.cl). They are made from the stored keys, wherever the list's other columns
 * lie. */
#include "grid.h"
#include "host/cloud/columns.h"

enum {
    UNDECIDED_FIRST = 1 << 14, /* pairs with undecided numbers that there is room for at first */
    UNDECIDED_EACH = 32,       /* such pairs of a sphere that a list may have besides */
    DECIDED = 1 << 20,         /* pairs that the host decides at a time */
    COUNTED_MOST = INT32_MAX,  /* pairs of an earlier list, and of its search: work-items count in 32 bits */
    BEFORE_COLUMNS = 3         /* a, b, shift */
};

/* The stored pairs, as most kernels read them. */
static void set_pairs(const grid_job *job, caromi_arguments *arguments)
{
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_OFFSETS);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_KEYS);
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_OF);
}

/* All spheres, and their motions; at rest any memory, which is not read. */
static void set_spheres(const grid_job *job, caromi_arguments *arguments)
{
    caromi_grid_set_memory(job, arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, arguments, job->cloud->is_moving ? CAROMI_GRID_MOTIONS : CAROMI_GRID_SPHERES);
    caromi_set_uint(arguments, job->spheres);
}

/* ---- depth and normal -------------------------------------------------------------------------------------------- */

/* All pairs once; `undecided` is the number of pairs of which the host must decide depth or normal. */
static carom_status fill_once(const grid_job *job, const grid_outputs *columns, cl_uint capacity, cl_uint *undecided,
                              carom_error *err)
{
    const uint64_t stored = job->totals.stored, most = job->device->max_items;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_UNDECIDED, capacity, sizeof(cl_ulong), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_COUNTER, 1, WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_COUNTER, 1, err));
    for (uint64_t first = 0; first < stored; first += most) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_COLUMNS);
        set_pairs(job, &arguments);
        caromi_set_int(&arguments, job->options);
        caromi_grid_set_periods(job, &arguments);
        set_spheres(job, &arguments);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_UNDECIDED);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_COUNTER);
        caromi_set_uint(&arguments, capacity);
        caromi_grid_set_outputs(&arguments, columns);
        caromi_set_ulong(&arguments, first);
        CHECK(caromi_grid_launch(job, &arguments, stored - first < most ? stored - first : most, err));
    }
    return caromi_grid_read_back(job, CAROMI_GRID_COUNTER, 0, undecided, sizeof *undecided, err);
}

/* Bytes of an undecided pair that the host reads, and of its answer: spheres and depth; in motion, where normals may be
 * undecided too, more. */
static size_t bytes_of_pair(const grid_job *job)
{
    return job->cloud->is_moving ? sizeof(caromi_pair_motions) : sizeof(caromi_pair_spheres);
}

static size_t bytes_of_answer(const grid_job *job)
{
    return job->cloud->is_moving ? sizeof(caromi_pair_numbers) : sizeof(float);
}

/* Reads undecided pairs [first, first + count). */
static carom_status gather_undecided(const grid_job *job, cl_uint first, cl_uint count, void *pairs, carom_error *err)
{
    caromi_arguments gather = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_GATHER_PAIRS);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_KEYS);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_OF);
    caromi_set_int(&gather, job->options);
    caromi_grid_set_periods(job, &gather);
    set_spheres(job, &gather);
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_UNDECIDED);
    caromi_set_uint(&gather, first);
    caromi_set_uint(&gather, bytes_of_pair(job) / sizeof(cl_float4));
    caromi_grid_set_memory(job, &gather, CAROMI_GRID_GATHERED);
    CHECK(caromi_grid_launch_each(job, &gather, count, err));
    return caromi_grid_read_back(job, CAROMI_GRID_GATHERED, 0, pairs, count * bytes_of_pair(job), err);
}

/* Puts what the host has decided into the columns. */
static carom_status put_decided(const grid_job *job, const grid_outputs *columns, cl_uint first, cl_uint count,
                                carom_error *err)
{
    const int is_moving = job->cloud->is_moving;
    caromi_arguments put =
        caromi_arguments_of(job->device, is_moving ? CAROMI_PROGRAM_MOVING_PUT_COLUMNS : CAROMI_PROGRAM_GRID_PUT_DEPTH);
    set_pairs(job, &put);
    caromi_grid_set_memory(job, &put, CAROMI_GRID_UNDECIDED);
    caromi_set_uint(&put, first);
    caromi_grid_set_memory(job, &put, CAROMI_GRID_T);
    if (is_moving)
        caromi_grid_set_outputs(&put, columns);
    else
        caromi_set_resident(&put, &columns->at[GRID_DEPTH]);
    return caromi_grid_launch_each(job, &put, count, err);
}

/* The host decides pairs [first, first + count) of the undecided ones. */
static carom_status decide(const grid_job *job, const grid_outputs *columns, cl_uint first, cl_uint count, void *pairs,
                           void *answers, carom_error *err)
{
    const carom_context *context = job->device->context;
    CHECK(gather_undecided(job, first, count, pairs, err));
    const double start = caromi_now();
    if (job->cloud->is_moving)
        caromi_columns_decide_moving(context, pairs, count, answers);
    else
        caromi_columns_decide(context, pairs, count, answers);
    job->stats->host += caromi_now() - start;
    CHECK(caromi_write_at(job->device, job->slot->queue, *caromi_grid_memory_of(job, CAROMI_GRID_T), 0, answers,
                          count * bytes_of_answer(job), "decided depths and normals", err));
    return put_decided(job, columns, first, count, err);
}

static carom_status decide_all(const grid_job *job, const grid_outputs *columns, cl_uint undecided, carom_error *err)
{
    const carom_context *context = job->device->context;
    const cl_uint most = undecided < DECIDED ? undecided : DECIDED;
    char *pairs = caromi_alloc(context, most + 1, bytes_of_pair(job) + bytes_of_answer(job));
    carom_status status = CAROM_OK;
    if (pairs == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %u undecided depths and normals", most);
    status = caromi_grid_reserve(job, CAROMI_GRID_GATHERED, most, bytes_of_pair(job), err);
    if (status == CAROM_OK)
        status = caromi_grid_reserve(job, CAROMI_GRID_T, most, bytes_of_answer(job), err);
    for (cl_uint first = 0; status == CAROM_OK && first < undecided; first += most)
        status = decide(job, columns, first, undecided - first < most ? undecided - first : most, pairs,
                        pairs + most * bytes_of_pair(job), err);
    caromi_free(context, pairs);
    return status;
}

/* Once more if there was no room for all undecided pairs. Radii with many digits, in a regular packing, may leave the
 * depth of every pair undecided. */
carom_status caromi_grid_fill_columns(grid_job *job, carom_error *err)
{
    static const size_t size[GRID_PAIR_COLUMNS] = {sizeof(float), sizeof(float), sizeof(float), sizeof(float)};
    const carom_cloud_pair_list *list = job->result->list;
    const carom_points_out *normal = &list->normal;
    const size_t stride[GRID_PAIR_COLUMNS] = {sizeof(float), normal->stride, normal->stride, normal->stride};
    grid_outputs columns = {.count = GRID_PAIR_COLUMNS,
                            .memory = CAROMI_GRID_PAIR_COLUMN,
                            .elements = job->totals.stored,
                            .size = size,
                            .stride = stride,
                            .base = {list->depth, normal->x, normal->y, normal->z}};
    cl_uint capacity = UNDECIDED_FIRST, undecided = 0;
    if (!caromi_columns_have_numbers(list))
        return CAROM_OK;
    CHECK(caromi_grid_place_outputs(job, &columns, err));
    CHECK(fill_once(job, &columns, capacity, &undecided, err));
    job->is_declined =
        undecided >= GRID_UNDECIDED_MOST || undecided > UNDECIDED_FIRST + UNDECIDED_EACH * (uint64_t)job->spheres;
    if (job->is_declined)
        return CAROM_OK;
    if (undecided > capacity) {
        capacity = undecided;
        CHECK(fill_once(job, &columns, capacity, &undecided, err));
        if (undecided > capacity)
            return caromi_fail_corrupt(job->device, "undecided depths", 0, job->spheres, err);
    }
    CHECK(decide_all(job, &columns, undecided, err));
    return caromi_grid_fetch_outputs(job, &columns, err);
}

/* ---- the earlier list -------------------------------------------------------------------------------------------- */

/* The columns of an earlier list, on the device. */
typedef struct before_columns {
    caromi_resident at[BEFORE_COLUMNS];
} before_columns;

/* Finds them, or copies them there. A missing column gets any memory. */
static carom_status place_before(const grid_job *job, const carom_cloud_pairs_before *before, before_columns *out,
                                 carom_error *err)
{
    static const size_t size[BEFORE_COLUMNS] = {sizeof(int32_t), sizeof(int32_t), 3};
    const void *base[BEFORE_COLUMNS] = {before->a, before->b, before->shift};
    for (uint32_t k = 0; k < BEFORE_COLUMNS; k++) {
        const uint64_t bytes = base[k] != NULL ? before->count * size[k] : 0;
        out->at[k] = caromi_resident_at(job->device, base[k]);
        if (out->at[k].memory != NULL)
            continue;
        CHECK(caromi_grid_reserve(job, CAROMI_GRID_BEFORE + k, bytes, 1, err));
        out->at[k].memory = *caromi_grid_memory_of(job, CAROMI_GRID_BEFORE + k);
        if (bytes > 0)
            CHECK(caromi_write_at(job->device, job->slot->queue, out->at[k].memory, 0, base[k], (size_t)bytes,
                                  "an earlier list", err));
    }
    return CAROM_OK;
}

static void set_before(caromi_arguments *arguments, const before_columns *before, int column)
{
    caromi_set_resident(arguments, &before->at[column]);
}

static const carom_cloud_pairs_before *before_of(const grid_job *job)
{
    const carom_cloud_pair_list *list = job->result->list;
    return list == NULL || list->previous == NULL ? NULL : list->before;
}

carom_status caromi_grid_check_before(grid_job *job, carom_error *err)
{
    const carom_cloud_pairs_before *before = before_of(job);
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_CHECK_BEFORE);
    cl_uint descends = 0;
    job->is_declined = before != NULL && before->count > COUNTED_MOST;
    if (before == NULL || job->is_declined || before->count == 0 || !caromi_is_resident(job->device, before->a))
        return CAROM_OK; /* the host has checked it */
    const caromi_resident a = caromi_resident_at(job->device, before->a);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_COUNTER, 1, WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_COUNTER, 1, err));
    caromi_set_resident(&arguments, &a);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_COUNTER);
    CHECK(caromi_grid_launch_each(job, &arguments, before->count, err));
    CHECK(caromi_grid_read_back(job, CAROMI_GRID_COUNTER, 0, &descends, sizeof descends, err));
    job->is_declined = descends != 0;
    return CAROM_OK;
}

/* In motion a row is in the order of time: long rows are sorted once more, by partner. */
static carom_status sort_by_partner(const grid_job *job, carom_error *err)
{
    const uint64_t stored = job->totals.stored, most = job->device->max_items;
    const int has_long = job->totals.long_rows > 0 || job->totals.giant_rows > 0;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_BY_PARTNER, has_long ? stored : 1, sizeof(cl_ulong), err));
    for (uint64_t first = 0; has_long && first < stored; first += most) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_MOVING_BY_PARTNER);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_KEYS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_BY_PARTNER);
        caromi_set_ulong(&arguments, first);
        CHECK(caromi_grid_launch(job, &arguments, stored - first < most ? stored - first : most, err));
    }
    return has_long ? caromi_grid_sort_rows(job, CAROMI_GRID_BY_PARTNER, err) : CAROM_OK;
}

static carom_status find_before(const grid_job *job, const carom_cloud_pairs_before *before, carom_error *err)
{
    const int is_moving = job->cloud->is_moving;
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_FIND_BEFORE);
    before_columns columns;
    if (before == NULL || before->count == 0)
        return CAROM_OK;
    CHECK(place_before(job, before, &columns, err));
    if (is_moving)
        CHECK(sort_by_partner(job, err));
    set_pairs(job, &arguments);
    caromi_grid_set_memory(job, &arguments, is_moving ? CAROMI_GRID_BY_PARTNER : CAROMI_GRID_KEYS);
    caromi_set_int(&arguments, job->options);
    caromi_set_uint(&arguments, job->row_begin);
    caromi_set_uint(&arguments, job->row_end);
    for (int k = 0; k < BEFORE_COLUMNS; k++)
        set_before(&arguments, &columns, k);
    caromi_set_int(&arguments, before->shift != NULL);
    caromi_set_uint(&arguments, job->first_b);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_FOUND);
    return caromi_grid_launch_each(job, &arguments, before->count, err);
}

carom_status caromi_grid_find_previous(grid_job *job, carom_error *err)
{
    static const size_t size = sizeof(int64_t);
    const uint64_t stored = job->totals.stored, most = job->device->max_items;
    grid_outputs previous = {.count = 1,
                             .memory = CAROMI_GRID_PREVIOUS,
                             .elements = stored,
                             .size = &size,
                             .base = {job->result->list->previous}};
    if (job->result->list->previous == NULL || job->is_declined)
        return CAROM_OK;
    job->is_declined = stored > COUNTED_MOST;
    if (job->is_declined)
        return CAROM_OK;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_FOUND, stored, WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_FOUND, stored, err));
    CHECK(find_before(job, before_of(job), err));
    CHECK(caromi_grid_place_outputs(job, &previous, err));
    for (uint64_t first = 0; first < stored; first += most) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_PREVIOUS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_FOUND);
        caromi_grid_set_output(&arguments, &previous, 0);
        caromi_set_ulong(&arguments, first);
        CHECK(caromi_grid_launch(job, &arguments, stored - first < most ? stored - first : most, err));
    }
    return caromi_grid_fetch_outputs(job, &previous, err);
}
