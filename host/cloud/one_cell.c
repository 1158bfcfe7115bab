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
    uint32_t index[ONE_CELL_CAPACITY], mask[ONE_CELL_CAPACITY];
    float given[CLOUD_COLUMNS * ONE_CELL_CAPACITY];
    caromi_cloud_row row;
    uint32_t starts[2], table[1];
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
    const caromi_in_column mask = to->cloud->mask;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        memcpy(one_cell->column[k] + to->count, batch->position[k], batch->count * sizeof(float));
    memcpy(one_cell->index + to->count, batch->index, batch->count * sizeof *one_cell->index);
    for (uint32_t i = 0; mask.base != NULL && i < batch->count; i++)
        memcpy(&one_cell->mask[to->count + i], caromi_element(&mask, batch->index[i]), sizeof *one_cell->mask);
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
}

/* Puts all spheres into a single cell. */
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
    one_cell->row = (caromi_cloud_row){.end = to.count, .count = 1};
    one_cell->starts[0] = 0;
    one_cell->starts[1] = to.count;
    one_cell->table[0] = to.count ? 0 : CAROMI_NO_ROW;
    /* The cells point into the one allocation. */
    cells->one_cell = one_cell;
    cells->count = to.count;
    cells->doubled = (uint64_t)to.count * (to.count - (to.count > 0)) / 2;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        cells->column[k] = one_cell->column[k];
    cells->given = cloud->is_moving ? one_cell->given : NULL;
    cells->index = one_cell->index;
    cells->mask = cloud->mask.base != NULL ? one_cell->mask : NULL;
    cells->starts = one_cell->starts;
    cells->table = one_cell->table;
    cells->rows = &one_cell->row;
    /* One level whose single cell is unbounded. */
    const double everywhere = (double)INFINITY;
    cells->levels[0] = (caromi_cloud_level){.end_row = to.count > 0,
                                            .reach = 0x1p130,
                                            .per = {1, 1, 1},
                                            .from = {-everywhere, -everywhere, -everywhere},
                                            .to = {everywhere, everywhere, everywhere}};
    cells->view.level_count = 1;
    cells->view.row_count = to.count > 0;
    cells->view.is_dense = 1;
    return 1;
}
