/* SPDX-License-Identifier: MIT */
/* The cells of few spheres: a single cell holds all of them, in the order of their indices. Nothing is measured or
 * sorted, and all arrays are one allocation. */
#include <math.h>
#include <string.h>

#include "cloud.h"

enum { ONE_CELL_CAPACITY = CAROMI_CLOUD_ONE_CELL + CAROMI_CLOUD_PADDING };

/* The arrays of caromi_cloud_cells for a single cell. */
typedef struct one_cell_arrays {
    float column[CLOUD_POSITION_COLUMNS][ONE_CELL_CAPACITY];
    uint32_t index[ONE_CELL_CAPACITY], mask[ONE_CELL_CAPACITY], group[ONE_CELL_CAPACITY];
    float given[CLOUD_COLUMNS * ONE_CELL_CAPACITY];
    caromi_cloud_row rows[2]; /* of two clouds each has one */
    uint32_t starts[4], table[2];
} one_cell_arrays;

/* The callback's user that fills the cell. */
typedef struct one_cell_user {
    const caromi_cloud *cloud;
    one_cell_arrays *one_cell;
    uint32_t count;
} one_cell_user;

/* Appends a batch of spheres to the cell. */
static void enter(void *user, const caromi_cloud_batch *batch)
{
    one_cell_user *to = user;
    one_cell_arrays *one_cell = to->one_cell;
    const caromi_in_column mask = to->cloud->mask, group = to->cloud->group;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        memcpy(one_cell->column[k] + to->count, batch->position[k], batch->count * sizeof(float));
    memcpy(one_cell->index + to->count, batch->index, batch->count * sizeof *one_cell->index);
    for (uint32_t i = 0; mask.base != NULL && i < batch->count; i++)
        memcpy(&one_cell->mask[to->count + i], caromi_element(&mask, batch->index[i]), sizeof *one_cell->mask);
    for (uint32_t i = 0; group.base != NULL && i < batch->count; i++)
        memcpy(&one_cell->group[to->count + i], caromi_element(&group, batch->index[i]), sizeof *one_cell->group);
    to->count += batch->count;
}

/* Copies the caller's inputs of spheres in motion, sphere by sphere. */
static void enter_given(const caromi_cloud *cloud, one_cell_arrays *one_cell, uint32_t count)
{
    caromi_cloud_block block;
    caromi_cloud_read(cloud, 0, cloud->count, &block);
    for (uint32_t i = 0; i < count; i++)
        for (int c = 0; c < CLOUD_COLUMNS; c++)
            one_cell->given[CLOUD_COLUMNS * i + (uint32_t)c] = block.in[c][one_cell->index[i]];
}

/* Pads the columns: a scan reads whole vectors, so also behind the last sphere. */
static void pad(one_cell_arrays *one_cell, uint32_t count)
{
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        memset(one_cell->column[k] + count, 0, CAROMI_CLOUD_PADDING * sizeof(float));
    memset(one_cell->index + count, 0, CAROMI_CLOUD_PADDING * sizeof *one_cell->index);
    memset(one_cell->mask + count, 0, CAROMI_CLOUD_PADDING * sizeof *one_cell->mask);
    memset(one_cell->group + count, 0, CAROMI_CLOUD_PADDING * sizeof *one_cell->group);
}

/* Makes level `number`, whose single cell is unbounded and holds the spheres in slots [begin, end). */
static void make_level(caromi_cloud_cells *cells, one_cell_arrays *one_cell, uint32_t number, uint32_t begin,
                       uint32_t end)
{
    const double everywhere = (double)INFINITY;
    const uint32_t row = cells->view.row_count, has_row = begin < end;
    one_cell->table[number] = has_row ? row : CAROMI_NO_ROW;
    cells->levels[number] = (caromi_cloud_level){.begin_row = row,
                                                 .end_row = row + has_row,
                                                 .first_row = number,
                                                 .searches_twin = number == 0,
                                                 .reach = 0x1p130,
                                                 .per = {1, 1, 1},
                                                 .from = {-everywhere, -everywhere, -everywhere},
                                                 .to = {everywhere, everywhere, everywhere}};
    cells->view.level_count = number + 1;
    if (!has_row)
        return;
    uint32_t *const starts = one_cell->starts + 2 * (size_t)row;
    one_cell->rows[row] =
        (caromi_cloud_row){.begin = begin, .end = end, .cells = 2 * (uint64_t)row, .count = 1, .level = number};
    starts[0] = begin;
    starts[1] = end;
    cells->view.row_count++;
}

/* The number of spheres that answers are about, which come first. */
static uint32_t count_asked(const caromi_cloud *cloud, const one_cell_arrays *one_cell, uint32_t count)
{
    uint32_t asked = 0;
    while (asked < count && one_cell->index[asked] < caromi_cloud_asked(cloud))
        asked++;
    return asked;
}

/* Puts all spheres into a single cell, or those of each of two clouds. */
int caromi_cloud_enter_one_cell(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells)
{
    one_cell_arrays *one_cell = caromi_alloc(cloud->context, 1, sizeof *one_cell);
    one_cell_user to = {cloud, one_cell, 0};
    if (one_cell == NULL)
        return 0;
    caromi_cloud_each_batch(cloud, slice, CAROMI_FIRST_PASS, 0, cloud->count, enter, &to);
    if (cloud->is_moving)
        enter_given(cloud, one_cell, to.count);
    pad(one_cell, to.count);
    /* The cells point into the one allocation. */
    cells->one_cell = one_cell;
    cells->count = to.count;
    cells->doubled = (uint64_t)to.count * (to.count - (to.count > 0)) / 2;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        cells->column[k] = one_cell->column[k];
    cells->given = cloud->is_moving ? one_cell->given : NULL;
    cells->index = one_cell->index;
    cells->mask = cloud->mask.base != NULL ? one_cell->mask : NULL;
    cells->group = cloud->group.base != NULL ? one_cell->group : NULL;
    cells->starts = one_cell->starts;
    cells->table = one_cell->table;
    cells->rows = one_cell->rows;
    const uint32_t asked = count_asked(cloud, one_cell, to.count);
    make_level(cells, one_cell, 0, 0, asked);
    if (cloud->is_split)
        make_level(cells, one_cell, 1, asked, to.count);
    cells->view.is_dense = 1;
    return 1;
}
