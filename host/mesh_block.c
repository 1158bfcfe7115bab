/* SPDX-License-Identifier: MIT */
/* Some queries with a triangle each, on their way to what a hit reports: contact points, normals and features. */
#include <math.h>
#include <string.h>

#include "../cpu/exact.h"
#include "mesh_block.h"

void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK])
{
    for (int c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            memcpy(&to[c][i], (const char *)in[c].base + rows[i] * in[c].stride, sizeof(float));
}

void caromi_gather_masks(const caromi_in_column *mask, const uint64_t *rows, size_t count, int32_t *to)
{
    for (size_t i = 0; i < count; i++)
        memcpy(&to[i], (const char *)mask->base + rows[i] * mask->stride, sizeof *to);
}

void caromi_block_gather(const caromi_mesh_batch *batch, caromi_mesh_block *b, const uint64_t *rows, size_t count)
{
    caromi_gather_rows(batch->in, CAROMI_MESH_IN, rows, count, b->in);
    if (batch->mask.base != NULL)
        caromi_gather_masks(&batch->mask, rows, count, b->mask);
}

caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row)
{
    caromi_mesh_query q = {.mask = -1, .options = batch->options};
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        caromi_gather(&q.in[c], &batch->in[c], row, 1);
    if (batch->mask.base != NULL)
        memcpy(&q.mask, (const char *)batch->mask.base + row * batch->mask.stride, sizeof q.mask);
    return q;
}

/* Contact of every query of the block; those without a hit run along with triangle 0 and are cleared after. */
void caromi_block_contacts(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                           size_t count)
{
    const carom_mesh *mesh = batch->mesh;
    const size_t lanes = context->isa->lanes, padded = (count + lanes - 1) / lanes * lanes;
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    for (size_t i = 0; i < padded; i++)
        for (int k = 0; k < 9; k++)
            b->corners[k][i] =
                caromi_corner(mesh, i < count && b->triangle[i] >= 0 ? (uint32_t)b->triangle[i] : 0, k / 3)[k % 3];
    for (int c = 0; c < IN_P0X; c++) {
        for (size_t i = count; i < padded; i++)
            b->in[c][i] = b->in[c][count - 1];
        in[c] = b->in[c];
    }
    for (int k = 0; k < 9; k++)
        in[IN_P0X + k] = b->corners[k];
    for (int k = 0; k < 3; k++) {
        out[OUT_POINT_X + k] = b->point[k];
        out[OUT_NORMAL_X + k] = b->normal[k];
    }
    out[OUT_FEATURE] = b->feature;
    context->isa->pairs[batch->exact ? CAROMI_PAIR_contact_exact : CAROMI_PAIR_contact](in, out, padded, 0);
    for (size_t i = 0; i < count; i++)
        if (b->triangle[i] < 0) {
            for (int k = 0; k < 3; k++)
                b->point[k][i] = b->normal[k][i] = 0;
            b->feature[i] = CAROM_FEATURE_NONE;
        }
}

static void store_points(const carom_points_out *to, const caromi_mesh_block *b, const float (*from)[CAROMI_BLOCK],
                         size_t count)
{
    float *const bases[3] = {to->x, to->y, to->z};
    for (int k = 0; k < 3 && bases[k] != NULL; k++)
        for (size_t i = 0; i < count; i++)
            memcpy((char *)bases[k] + b->row[i] * to->stride, &from[k][i], sizeof(float));
}

void caromi_block_store(const carom_mesh_hit_result *out, const caromi_mesh_block *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = b->row[i];
        if (out->triangle)
            out->triangle[row] = b->triangle[i];
        if (out->state)
            out->state[row] = b->state[i];
        if (out->t)
            out->t[row] = b->t[i];
        if (out->feature)
            out->feature[row] = b->feature[i];
    }
    store_points(&out->point, b, b->point, count);
    store_points(&out->normal, b, b->normal, count);
}

/* Contact of a query with its triangle. The kernel is asked first, even if the search was settled in integers: who gives
 * a point its last bit must not depend on the tree. */
static void contact_of(const float *in, caromi_exact_contact *a)
{
    int chosen;
    const caromi_isa_table *one = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    const float *columns[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    uint8_t feature;
    for (int c = 0; c < IN_SWEEP_RESTING; c++)
        columns[c] = in + c;
    for (int k = 0; k < 3; k++) {
        out[OUT_POINT_X + k] = &a->point[k];
        out[OUT_NORMAL_X + k] = &a->normal[k];
    }
    out[OUT_FEATURE] = &feature;
    one->pairs[CAROMI_PAIR_contact_exact](columns, out, 1, 0);
    a->feature = feature;
    if (isnan(a->point[0]))
        caromi_exact_contact_of(in, a);
}

void caromi_settle_contact(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row)
{
    caromi_exact_contact a;
    float in[IN_SWEEP_RESTING];
    memset(&a, 0, sizeof a);
    if (triangle >= 0) {
        memcpy(in, query, IN_P0X * sizeof *in);
        for (int k = 0; k < 9; k++)
            in[IN_P0X + k] = caromi_corner(batch->mesh, (uint32_t)triangle, k / 3)[k % 3];
        contact_of(in, &a);
    }
    const carom_points_out *const to[2] = {&batch->out->point, &batch->out->normal};
    const float *const from[2] = {a.point, a.normal};
    for (int k = 0; k < 6; k++) {
        float *const bases[3] = {to[k / 3]->x, to[k / 3]->y, to[k / 3]->z};
        const caromi_out_column column = {bases[k % 3], to[k / 3]->stride};
        caromi_scatter(&column, row, &from[k / 3][k % 3], 1, sizeof(float));
    }
    if (batch->out->feature)
        batch->out->feature[row] = (uint8_t)a.feature;
}
