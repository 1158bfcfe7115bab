/* SPDX-License-Identifier: MIT */
/* Finds the rows of cells that hold spheres: each part of a cloud finds its own, then all are merged in order. */
#include <string.h>

#include "build.h"

void caromi_build_pass(caromi_build *job, caromi_build_part *p, caromi_cloud_use_fn *use)
{
    caromi_build_user to = {job, p};
    caromi_cloud_each_batch(job->cloud, job->slice, 0, p->begin, p->end, use, &to);
}

/* ---- cells of a batch -------------------------------------------------------------------------------------------- */

void caromi_build_levels(const caromi_build *job, const caromi_cloud_batch *batch, int32_t *level)
{
    memset(level, 0, CAROMI_CLOUD_BLOCK * sizeof *level);
    for (uint32_t i = 0; job->own_level == NULL && job->cells->view.level_count > 1 && i < batch->count; i++)
        level[i] = job->level_of[caromi_reach_class(batch->position[3][i])];
    for (uint32_t i = 0; job->own_level != NULL && i < batch->count; i++)
        level[i] = job->own_level[batch->index[i]];
}

void caromi_build_cells(const caromi_build *job, const caromi_cloud_batch *batch, const int32_t *level, int axis,
                        int32_t *cell)
{
    const caromi_cloud_cells *c = job->cells;
    job->cloud->context->isa->cloud_cells(c->levels, c->view.level_count, level, axis, batch->position[axis],
                                          batch->count, cell);
}

/* ---- rows of a part ---------------------------------------------------------------------------------------------- */

/* Doubles the capacity for rows; the hash table has two slots for each row. Returns 0 if there is no memory. */
static int grow_rows(const caromi_build *job, caromi_build_part *p)
{
    const carom_context *c = job->cloud->context;
    const uint32_t room = p->row_capacity ? 2 * p->row_capacity : 1024;
    caromi_build_row *rows = caromi_alloc(c, room, sizeof *rows);
    uint32_t *counts = caromi_alloc(c, room, sizeof *counts);
    uint32_t *table = caromi_alloc(c, 2 * (uint64_t)room, sizeof *table);
    if (rows == NULL || counts == NULL || table == NULL) {
        caromi_free(c, rows);
        caromi_free(c, counts);
        caromi_free(c, table);
        return 0;
    }
    if (p->row_count) {
        memcpy(rows, p->rows, p->row_count * sizeof *rows);
        memcpy(counts, p->counts, p->row_count * sizeof *counts);
    }
    memset(table, 0xff, 2 * (size_t)room * sizeof *table);
    p->mask = 2 * (uint64_t)room - 1;
    for (uint32_t r = 0; r < p->row_count; r++) {
        uint64_t h = caromi_cloud_hash(rows[r].level, rows[r].y, rows[r].z);
        while (table[h & p->mask] != CAROMI_NO_ROW)
            h++;
        table[h & p->mask] = r;
    }
    caromi_free(c, p->rows);
    caromi_free(c, p->counts);
    caromi_free(c, p->table);
    p->rows = rows;
    p->counts = counts;
    p->table = table;
    p->row_capacity = room;
    return 1;
}

static uint32_t row_of(const caromi_build *job, caromi_build_part *p, uint32_t level, int32_t y, int32_t z)
{
    uint64_t h = caromi_cloud_hash(level, y, z);
    for (;; h++) {
        const uint32_t at = p->table[h & p->mask];
        if (at == CAROMI_NO_ROW)
            break;
        if (p->rows[at].y == y && p->rows[at].z == z && p->rows[at].level == level)
            return at;
    }
    if (p->row_count == p->row_capacity) {
        if (!grow_rows(job, p))
            return CAROMI_NO_ROW;
        for (h = caromi_cloud_hash(level, y, z); p->table[h & p->mask] != CAROMI_NO_ROW; h++)
            ;
    }
    p->table[h & p->mask] = p->row_count;
    p->rows[p->row_count] = (caromi_build_row){.y = y, .z = z, .level = level};
    p->counts[p->row_count] = 0;
    return p->row_count++;
}

/* Finds the row of each sphere of a batch and adds to the histogram. */
static void enter(void *user, const caromi_cloud_batch *batch)
{
    const caromi_build_user *to = user;
    caromi_build *job = to->job;
    caromi_build_part *p = to->part;
    int32_t level[CAROMI_CLOUD_BLOCK], y[CAROMI_CLOUD_BLOCK], z[CAROMI_CLOUD_BLOCK];
    uint32_t *rows = job->row_of + p->begin + p->count;
    if (p->is_short)
        return;
    caromi_build_levels(job, batch, level);
    caromi_build_cells(job, batch, level, 1, y);
    caromi_build_cells(job, batch, level, 2, z);
    for (uint32_t i = 0; job->dense_rows && i < batch->count; i++) {
        const caromi_cloud_level *l = &job->cells->levels[level[i]];
        rows[i] = (uint32_t)caromi_cloud_dense_row(l, y[i], z[i]);
        p->counts[rows[i]]++;
    }
    for (uint32_t i = 0; !job->dense_rows && i < batch->count; i++) {
        rows[i] = row_of(job, p, (uint32_t)level[i], y[i], z[i]);
        p->is_short = rows[i] == CAROMI_NO_ROW;
        if (p->is_short)
            return;
        p->counts[rows[i]]++;
    }
    p->count += batch->count;
}

void caromi_build_enter(void *user, uint64_t number, uint32_t thread)
{
    caromi_build *job = user;
    caromi_build_part *p = &job->parts[number];
    (void)thread;
    p->count = 0;
    if (job->dense_rows) {
        p->counts = caromi_alloc(job->cloud->context, job->dense_rows, sizeof *p->counts);
        p->is_short = p->counts == NULL;
        if (!p->is_short)
            memset(p->counts, 0, job->dense_rows * sizeof *p->counts);
    } else
        p->is_short = !grow_rows(job, p);
    caromi_build_pass(job, p, enter);
}

/* ---- rows of all parts ------------------------------------------------------------------------------------------- */

/* Appends an empty row; its spheres begin at `slot`. */
static uint32_t add_row(caromi_cloud_cells *c, uint32_t level, int32_t y, int32_t z, uint32_t slot)
{
    const uint32_t row = c->view.row_count++;
    c->rows[row] = (caromi_cloud_row){.y = y, .z = z, .begin = slot, .end = slot, .level = level};
    return row;
}

/* Appends a part's spheres to the last row. *count, their number, becomes the slot of the first of them. Returns the
 * row's end. */
static uint32_t add_to_row(caromi_cloud_cells *c, uint32_t *count)
{
    caromi_cloud_row *row = &c->rows[c->view.row_count - 1];
    const uint32_t slot = row->end;
    row->end += *count;
    *count = slot;
    return row->end;
}

static void join_dense(caromi_build *job)
{
    caromi_cloud_cells *c = job->cells;
    uint32_t slot = 0;
    uint64_t number = 0;
    for (uint32_t l = 0; l < c->view.level_count; l++)
        for (int32_t z = 0; z <= c->levels[l].most[2]; z++)
            for (int32_t y = 0; y <= c->levels[l].most[1]; y++, number++) {
                uint32_t count = 0;
                for (uint32_t p = 0; p < job->part_count; p++)
                    count += job->parts[p].counts[number];
                c->table[number] = count ? add_row(c, l, y, z, slot) : CAROMI_NO_ROW;
                for (uint32_t p = 0; count && p < job->part_count; p++)
                    slot = add_to_row(c, &job->parts[p].counts[number]);
            }
}

/* A part's row as a sort key in the order of (level, z, y). */
typedef struct row_key {
    uint64_t key;
    uint32_t part, row;
} row_key;

/* Radix sort, lowest digit first, between two arrays; returns the one with the result. */
static row_key *sort_keys(row_key *keys, row_key *other, size_t count)
{
    enum { BITS = 10, DIGITS = 1 << BITS };
    uint64_t used = 0;
    for (size_t i = 0; i < count; i++)
        used |= keys[i].key ^ keys[0].key;
    for (int shift = 0; shift < 64; shift += BITS) {
        size_t start[DIGITS + 1] = {0};
        if (!(used >> shift & (DIGITS - 1)))
            continue;
        for (size_t i = 0; i < count; i++)
            start[(keys[i].key >> shift & (DIGITS - 1)) + 1]++;
        for (int d = 0; d < DIGITS; d++)
            start[d + 1] += start[d];
        for (size_t i = 0; i < count; i++)
            other[start[keys[i].key >> shift & (DIGITS - 1)]++] = keys[i];
        row_key *const sorted = other;
        other = keys;
        keys = sorted;
    }
    return keys;
}

static uint64_t key_of(const caromi_build_row *r)
{
    return (uint64_t)r->level << 58 | (uint64_t)(uint32_t)r->z << 29 | (uint32_t)r->y;
}

static void set_table(caromi_cloud_cells *c)
{
    memset(c->table, 0xff, (size_t)(c->view.table_mask + 1) * sizeof *c->table);
    for (uint32_t r = 0; r < c->view.row_count; r++) {
        uint64_t h = caromi_cloud_hash(c->rows[r].level, c->rows[r].y, c->rows[r].z);
        while (c->table[h & c->view.table_mask] != CAROMI_NO_ROW)
            h++;
        c->table[h & c->view.table_mask] = r;
    }
}

/* Returns 0 if there is no memory. */
static int join_hashed(caromi_build *job, uint64_t count)
{
    caromi_cloud_cells *c = job->cells;
    row_key *keys = caromi_alloc(job->cloud->context, 2 * count + 1, sizeof *keys);
    if (keys == NULL)
        return 0;
    size_t n = 0;
    for (uint32_t p = 0; p < job->part_count; p++)
        for (uint32_t r = 0; r < job->parts[p].row_count; r++)
            keys[n++] = (row_key){key_of(&job->parts[p].rows[r]), p, r};
    const row_key *sorted = sort_keys(keys, keys + n, n);
    uint32_t slot = 0;
    for (size_t i = 0; i < n; i++) {
        caromi_build_part *p = &job->parts[sorted[i].part];
        const caromi_build_row *r = &p->rows[sorted[i].row];
        if (i == 0 || sorted[i].key != sorted[i - 1].key)
            add_row(c, r->level, r->y, r->z, slot);
        slot = add_to_row(c, &p->counts[sorted[i].row]);
    }
    caromi_free(job->cloud->context, keys);
    set_table(c);
    return 1;
}

static void set_levels(caromi_cloud_cells *c)
{
    for (uint32_t l = 0, r = 0; l < c->view.level_count; l++) {
        caromi_cloud_level *level = &c->levels[l];
        level->begin_row = r;
        while (r < c->view.row_count && c->rows[r].level == l)
            r++;
        level->end_row = r;
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
