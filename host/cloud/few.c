/* SPDX-License-Identifier: MIT */
/* The cells of few spheres: a single cell holds all of them, in the order of their indices. Nothing is measured or
 * sorted, and all arrays are one allocation. */
#include <math.h>
#include <string.h>

#include "cloud.h"

enum { FEW_ROOM = CAROMI_CLOUD_FEW + CAROMI_CLOUD_PADDING };

typedef struct few_arrays {
    float column[CLOUD_RESTING][FEW_ROOM];
    uint32_t index[FEW_ROOM], mask[FEW_ROOM];
    float given[CLOUD_COLUMNS * FEW_ROOM];
    caromi_cloud_row row;
    uint32_t starts[2], table[1];
} few_arrays;

typedef struct few_feed {
    const caromi_cloud *cloud;
    few_arrays *few;
    uint32_t count;
} few_feed;

static void enter(void *user, const caromi_cloud_batch *batch)
{
    few_feed *to = user;
    few_arrays *few = to->few;
    const caromi_in_column mask = to->cloud->mask;
    for (int k = 0; k < CLOUD_RESTING; k++)
        memcpy(few->column[k] + to->count, batch->place[k], batch->count * sizeof(float));
    memcpy(few->index + to->count, batch->index, batch->count * sizeof *few->index);
    for (uint32_t i = 0; mask.base != NULL && i < batch->count; i++)
        memcpy(&few->mask[to->count + i], caromi_element(&mask, batch->index[i]), sizeof *few->mask);
    to->count += batch->count;
}

/* Copies the caller's inputs of spheres in motion, sphere by sphere. */
static void enter_given(const caromi_cloud *cloud, few_arrays *few, uint32_t count)
{
    caromi_cloud_block block;
    caromi_cloud_read(cloud, 0, cloud->count, &block);
    for (uint32_t i = 0; i < count; i++)
        for (int c = 0; c < CLOUD_COLUMNS; c++)
            few->given[CLOUD_COLUMNS * i + (uint32_t)c] = block.in[c][few->index[i]];
}

/* Pads the columns: a scan reads whole vectors, so also behind the last sphere. */
static void pad(few_arrays *few, uint32_t count)
{
    for (int k = 0; k < CLOUD_RESTING; k++)
        memset(few->column[k] + count, 0, CAROMI_CLOUD_PADDING * sizeof(float));
    memset(few->index + count, 0, CAROMI_CLOUD_PADDING * sizeof *few->index);
    memset(few->mask + count, 0, CAROMI_CLOUD_PADDING * sizeof *few->mask);
}

int caromi_cloud_enter_few(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_cloud_cells *cells)
{
    few_arrays *few = caromi_alloc(cloud->context, 1, sizeof *few);
    few_feed to = {cloud, few, 0};
    if (few == NULL)
        return 0;
    caromi_cloud_feed(cloud, slice, 1, 0, cloud->count, enter, &to);
    if (cloud->is_moving)
        enter_given(cloud, few, to.count);
    pad(few, to.count);
    few->row = (caromi_cloud_row){.end = to.count, .count = 1};
    few->starts[0] = 0;
    few->starts[1] = to.count;
    few->table[0] = to.count ? 0 : CAROMI_NO_ROW;
    cells->few = few;
    cells->count = to.count;
    cells->doubled = (uint64_t)to.count * (to.count - (to.count > 0)) / 2;
    for (int k = 0; k < CLOUD_RESTING; k++)
        cells->column[k] = few->column[k];
    cells->given = cloud->is_moving ? few->given : NULL;
    cells->index = few->index;
    cells->mask = cloud->mask.base != NULL ? few->mask : NULL;
    cells->starts = few->starts;
    cells->table = few->table;
    cells->rows = &few->row;
    const double end = (double)INFINITY;
    cells->levels[0] = (caromi_cloud_level){
        .end_row = to.count > 0, .reach = 0x1p130, .per = {1, 1, 1}, .from = {-end, -end, -end}, .to = {end, end, end}};
    cells->view.level_count = 1;
    cells->view.row_count = to.count > 0;
    cells->view.is_dense = 1;
    return 1;
}
