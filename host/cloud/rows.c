/* SPDX-License-Identifier: MIT */
/* Finds the rows of cells that hold spheres: each part of a cloud finds its own, then all are merged in order. */
#include <string.h>

#include "build.h"

void caromi_build_pass(caromi_build *job, caromi_build_part *part, caromi_cloud_use_fn *use)
{
    caromi_build_user to = {job, part};
    caromi_cloud_each_batch(job->cloud, job->slice, CAROMI_LATER_PASS, part->begin, part->end, use, &to);
}

/* ---- cells of a batch -------------------------------------------------------------------------------------------- */

/* The level of each sphere: its own, or the level of its class of reaches. Of two clouds each has one of every two. */
void caromi_build_levels(const caromi_build *job, const caromi_cloud_batch *batch, int32_t *level)
{
    memset(level, 0, CAROMI_CLOUD_BLOCK * sizeof *level);
    const int is_one = job->cells->view.level_count == (job->cloud->is_split ? 2 : 1);
    for (uint32_t i = 0; job->own_level == NULL && !is_one && i < batch->count; i++)
        level[i] = job->level_of[caromi_reach_class(batch->position[CLOUD_REACH][i])];
    for (uint32_t i = 0; job->own_level != NULL && i < batch->count; i++)
        level[i] = job->own_level[batch->index[i]];
    const uint32_t split = (uint32_t)job->cloud->split, count = job->cloud->is_split ? batch->count : 0;
    for (uint32_t i = 0; i < count; i++)
        level[i] = 2 * level[i] + (batch->index[i] >= split);
}

void caromi_build_cells(const caromi_build *job, const caromi_cloud_batch *batch, const int32_t *level, int axis,
                        int32_t *cell)
{
    const caromi_cloud_cells *cells = job->cells;
    job->cloud->context->isa->cloud_cells(cells->levels, cells->view.level_count, level, axis, batch->position[axis],
                                          batch->count, cell);
}

/* ---- rows of a part ---------------------------------------------------------------------------------------------- */

/* Doubles the capacity for rows; the hash table has two slots for each row. Returns 0 if there is no memory. */
static int grow_rows(const caromi_build *job, caromi_build_part *part)
{
    const carom_context *context = job->cloud->context;
    const uint32_t capacity = part->row_capacity ? 2 * part->row_capacity : 1024;
    /* All three arrays, or none. */
    caromi_build_row *rows = caromi_alloc(context, capacity, sizeof *rows);
    uint32_t *counts = caromi_alloc(context, capacity, sizeof *counts);
    uint32_t *table = caromi_alloc(context, 2 * (uint64_t)capacity, sizeof *table);
    if (rows == NULL || counts == NULL || table == NULL) {
        caromi_free(context, rows);
        caromi_free(context, counts);
        caromi_free(context, table);
        return 0;
    }
    if (part->row_count) {
        memcpy(rows, part->rows, part->row_count * sizeof *rows);
        memcpy(counts, part->counts, part->row_count * sizeof *counts);
    }
    /* Rehashing: each slot is CAROMI_NO_ROW at first. */
    memset(table, 0xff, 2 * (size_t)capacity * sizeof *table);
    part->mask = 2 * (uint64_t)capacity - 1;
    for (uint32_t row = 0; row < part->row_count; row++) {
        uint64_t hash = caromi_cloud_hash(rows[row].level, rows[row].y, rows[row].z);
        while (table[hash & part->mask] != CAROMI_NO_ROW)
            hash++;
        table[hash & part->mask] = row;
    }
    /* The new arrays replace the old ones. */
    caromi_free(context, part->rows);
    caromi_free(context, part->counts);
    caromi_free(context, part->table);
    part->rows = rows;
    part->counts = counts;
    part->table = table;
    part->row_capacity = capacity;
    return 1;
}

/* Looks up the number of a row in the part's hash table, adding the row if it is new. CAROMI_NO_ROW: no memory. */
static uint32_t row_of(const caromi_build *job, caromi_build_part *part, uint32_t level, int32_t y, int32_t z)
{
    uint64_t hash = caromi_cloud_hash(level, y, z);
    for (;; hash++) {
        const uint32_t row = part->table[hash & part->mask];
        if (row == CAROMI_NO_ROW)
            break;
        if (part->rows[row].y == y && part->rows[row].z == z && part->rows[row].level == level)
            return row;
    }
    /* A new row. */
    if (part->row_count == part->row_capacity) {
        if (!grow_rows(job, part))
            return CAROMI_NO_ROW;
        for (hash = caromi_cloud_hash(level, y, z); part->table[hash & part->mask] != CAROMI_NO_ROW; hash++)
            ;
    }
    part->table[hash & part->mask] = part->row_count;
    part->rows[part->row_count] = (caromi_build_row){.y = y, .z = z, .level = level};
    part->counts[part->row_count] = 0;
    return part->row_count++;
}

/* Finds the row of each sphere of a batch and adds to the histogram. */
static void enter(void *user, const caromi_cloud_batch *batch)
{
    const caromi_build_user *to = user;
    caromi_build *job = to->job;
    caromi_build_part *part = to->part;
    int32_t level[CAROMI_CLOUD_BLOCK], y[CAROMI_CLOUD_BLOCK], z[CAROMI_CLOUD_BLOCK];
    uint32_t *rows = job->row_of + part->begin + part->count;
    if (part->is_short)
        return;
    caromi_build_levels(job, batch, level);
    caromi_build_cells(job, batch, level, AXIS_Y, y);
    caromi_build_cells(job, batch, level, AXIS_Z, z);
    /* Dense rows: the number follows from level, y and z. Else it is looked up. */
    for (uint32_t i = 0; job->dense_rows && i < batch->count; i++) {
        const caromi_cloud_level *l = &job->cells->levels[level[i]];
        rows[i] = (uint32_t)caromi_cloud_dense_row(l, y[i], z[i]);
        part->counts[rows[i]]++;
    }
    for (uint32_t i = 0; !job->dense_rows && i < batch->count; i++) {
        rows[i] = row_of(job, part, (uint32_t)level[i], y[i], z[i]);
        part->is_short = rows[i] == CAROMI_NO_ROW;
        if (part->is_short)
            return;
        part->counts[rows[i]]++;
    }
    part->count += batch->count;
}

/* Task: the histogram pass of a part. */
void caromi_build_enter(void *user, uint64_t number, uint32_t thread)
{
    caromi_build *job = user;
    caromi_build_part *part = &job->parts[number];
    (void)thread;
    part->count = 0;
    if (job->dense_rows) {
        part->counts = caromi_alloc(job->cloud->context, job->dense_rows, sizeof *part->counts);
        part->is_short = part->counts == NULL;
        if (!part->is_short)
            memset(part->counts, 0, job->dense_rows * sizeof *part->counts);
    } else
        part->is_short = !grow_rows(job, part);
    caromi_build_pass(job, part, enter);
}

/* ---- rows of all parts ------------------------------------------------------------------------------------------- */

/* Appends an empty row; its spheres begin at `slot`. */
static uint32_t add_row(caromi_cloud_cells *cells, uint32_t level, int32_t y, int32_t z, uint32_t slot)
{
    const uint32_t row = cells->view.row_count++;
    cells->rows[row] = (caromi_cloud_row){.y = y, .z = z, .begin = slot, .end = slot, .level = level};
    return row;
}

/* Appends a part's spheres to the last row. *count, their number, becomes the slot of the first of them. Returns the
 * row's end. */
static uint32_t add_to_row(caromi_cloud_cells *cells, uint32_t *count)
{
    caromi_cloud_row *row = &cells->rows[cells->view.row_count - 1];
    const uint32_t slot = row->end;
    row->end += *count;
    *count = slot;
    return row->end;
}

/* Gives a number to each dense row that holds spheres, in the order of (level, z, y). */
static void join_dense(caromi_build *job)
{
    caromi_cloud_cells *cells = job->cells;
    uint32_t slot = 0;
    uint64_t number = 0;
    for (uint32_t level = 0; level < cells->view.level_count; level++)
        for (int32_t z = 0; z <= cells->levels[level].most[AXIS_Z]; z++)
            for (int32_t y = 0; y <= cells->levels[level].most[AXIS_Y]; y++, number++) {
                uint32_t count = 0;
                for (uint32_t part = 0; part < job->part_count; part++)
                    count += job->parts[part].counts[number];
                cells->table[number] = count ? add_row(cells, level, y, z, slot) : CAROMI_NO_ROW;
                for (uint32_t part = 0; count && part < job->part_count; part++)
                    slot = add_to_row(cells, &job->parts[part].counts[number]);
            }
}

/* A part's row as a sort key in the order of (level, z, y). */
typedef struct row_key {
    uint64_t key;
    uint32_t part, row;
} row_key;

/* Radix sort, lowest digit first, between two arrays; returns the one with the result. */
static row_key *sort_keys(row_key *keys, row_key *spare, size_t count)
{
    enum { BITS = 10, DIGITS = 1 << BITS };
    uint64_t differing_bits = 0;
    for (size_t i = 0; i < count; i++)
        differing_bits |= keys[i].key ^ keys[0].key;
    /* Digits in which all keys agree are skipped. */
    for (int shift = 0; shift < 64; shift += BITS) {
        size_t digit_start[DIGITS + 1] = {0};
        if (!(differing_bits >> shift & (DIGITS - 1)))
            continue;
        for (size_t i = 0; i < count; i++)
            /* Histogram, prefix sum, scatter. */
            digit_start[(keys[i].key >> shift & (DIGITS - 1)) + 1]++;
        for (int digit = 0; digit < DIGITS; digit++)
            digit_start[digit + 1] += digit_start[digit];
        for (size_t i = 0; i < count; i++)
            spare[digit_start[keys[i].key >> shift & (DIGITS - 1)]++] = keys[i];
        row_key *const sorted = spare;
        spare = keys;
        keys = sorted;
    }
    return keys;
}

/* 6 bits of the level, 29 of z, 29 of y. */
static uint64_t key_of(const caromi_build_row *row)
{
    return (uint64_t)row->level << 58 | (uint64_t)(uint32_t)row->z << 29 | (uint32_t)row->y;
}

/* Fills the hash table of all rows. */
static void set_table(caromi_cloud_cells *cells)
{
    /* Each slot is CAROMI_NO_ROW at first; collisions go to the next free slot. */
    memset(cells->table, 0xff, (size_t)(cells->view.table_mask + 1) * sizeof *cells->table);
    for (uint32_t row = 0; row < cells->view.row_count; row++) {
        uint64_t hash = caromi_cloud_hash(cells->rows[row].level, cells->rows[row].y, cells->rows[row].z);
        while (cells->table[hash & cells->view.table_mask] != CAROMI_NO_ROW)
            hash++;
        cells->table[hash & cells->view.table_mask] = row;
    }
}

/* Sorts the rows of all parts, and merges equal ones. Returns 0 if there is no memory. */
static int join_hashed(caromi_build *job, uint64_t count)
{
    caromi_cloud_cells *cells = job->cells;
    row_key *keys = caromi_alloc(job->cloud->context, 2 * count + 1, sizeof *keys);
    if (keys == NULL)
        return 0;
    size_t key_count = 0;
    for (uint32_t part = 0; part < job->part_count; part++)
        for (uint32_t row = 0; row < job->parts[part].row_count; row++)
            keys[key_count++] = (row_key){key_of(&job->parts[part].rows[row]), part, row};
    /* Equal keys are one row: its spheres come part by part. */
    const row_key *sorted = sort_keys(keys, keys + key_count, key_count);
    uint32_t slot = 0;
    for (size_t i = 0; i < key_count; i++) {
        caromi_build_part *part = &job->parts[sorted[i].part];
        const caromi_build_row *row = &part->rows[sorted[i].row];
        if (i == 0 || sorted[i].key != sorted[i - 1].key)
            add_row(cells, row->level, row->y, row->z, slot);
        slot = add_to_row(cells, &part->counts[sorted[i].row]);
    }
    caromi_free(job->cloud->context, keys);
    set_table(cells);
    return 1;
}

/* Sets the range of rows of each level. */
static void set_levels(caromi_cloud_cells *cells)
{
    for (uint32_t number = 0, row = 0; number < cells->view.level_count; number++) {
        caromi_cloud_level *level = &cells->levels[number];
        level->begin_row = row;
        while (row < cells->view.row_count && cells->rows[row].level == number)
            row++;
        level->end_row = row;
    }
}

int caromi_build_join(caromi_build *job, uint64_t rows)
{
    if (job->dense_rows)
        join_dense(job);
    else if (!join_hashed(job, rows))
        return 0;
    set_levels(job->cells);
    return 1;
}
