/* SPDX-License-Identifier: MIT */
/* Some queries with a triangle each, on their way to what a hit reports: contact points, normals and features. */
#include <math.h>
#include <string.h>

#include "cpu/exact.h"
#include "block.h"

void caromi_gather_masks(const caromi_in_column *mask, const uint64_t *rows, size_t count, int32_t *to)
{
    for (size_t i = 0; i < count; i++)
        memcpy(&to[i], (const char *)mask->base + rows[i] * mask->stride, sizeof *to);
}

void caromi_block_take(const caromi_mesh_batch *batch, caromi_mesh_block *b, const caromi_ordered *queries,
                       uint32_t from, uint32_t count)
{
    caromi_ordered_take(queries, from, count, b->row, b->in);
    if (batch->mask.base != NULL)
        caromi_gather_masks(&batch->mask, b->row, count, b->mask);
}

void caromi_block_miss(caromi_mesh_block *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        b->triangle[i] = -1;
        b->t[i] = INFINITY;
    }
    memset(b->state, CAROM_MISS, count);
    memset(b->feature, CAROM_FEATURE_NONE, count);
    for (int k = 0; k < 3; k++) {
        memset(b->point[k], 0, count * sizeof **b->point);
        memset(b->normal[k], 0, count * sizeof **b->normal);
    }
}

caromi_mesh_query caromi_gather_query(const caromi_in_column *in, int columns, const caromi_in_column *mask,
                                      int options, uint64_t row)
{
    caromi_mesh_query q = {.mask = -1, .options = options};
    for (int c = 0; c < columns; c++)
        caromi_gather(&q.in[c], &in[c], row, 1);
    if (mask->base != NULL)
        caromi_gather_masks(mask, &row, 1, &q.mask);
    return q;
}

caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row)
{
    return caromi_gather_query(batch->in, CAROMI_MESH_IN, &batch->mask, batch->options, row);
}

size_t caromi_gather_pairs(const carom_mesh *mesh, size_t lanes, const int32_t *triangle, size_t count, int columns,
                           float (*queries)[CAROMI_BLOCK], float (*corners)[CAROMI_BLOCK], const float **in)
{
    const size_t padded = (count + lanes - 1) / lanes * lanes;
    for (size_t i = 0; i < padded; i++)
        for (int k = 0; k < 9; k++)
            corners[k][i] =
                caromi_corner(mesh, i < count && triangle[i] >= 0 ? (uint32_t)triangle[i] : 0, k / 3)[k % 3];
    for (int c = 0; c < columns; c++) {
        for (size_t i = count; i < padded; i++)
            queries[c][i] = queries[c][count - 1];
        in[c] = queries[c];
    }
    for (int k = 0; k < 9; k++)
        in[columns + k] = corners[k];
    return padded;
}

void caromi_ask_alone(enum caromi_pair_kernel kernel, const float *in, int columns, void *const *out)
{
    int chosen;
    const caromi_isa_table *one = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    const float *column[COLUMNS_MAX];
    for (int c = 0; c < columns; c++)
        column[c] = in + c;
    one->pairs[kernel](column, out, 1, 0);
}

void caromi_block_contacts(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                           size_t count)
{
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    const size_t padded =
        caromi_gather_pairs(batch->mesh, context->isa->lanes, b->triangle, count, IN_P0X, b->in, b->corners, in);
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

void caromi_store_points(const carom_points_out *to, const uint64_t *rows, const float (*from)[CAROMI_BLOCK],
                         size_t count)
{
    float *const bases[3] = {to->x, to->y, to->z};
    for (int k = 0; k < 3 && bases[k] != NULL; k++)
        for (size_t i = 0; i < count; i++)
            memcpy((char *)bases[k] + rows[i] * to->stride, &from[k][i], sizeof(float));
}

void caromi_block_store(const carom_mesh_hit_result *out, const caromi_mesh_block *b, size_t count)
{
    for (size_t i = 0; out->triangle && i < count; i++)
        out->triangle[b->row[i]] = b->triangle[i];
    for (size_t i = 0; out->state && i < count; i++)
        out->state[b->row[i]] = b->state[i];
    for (size_t i = 0; out->t && i < count; i++)
        out->t[b->row[i]] = b->t[i];
    for (size_t i = 0; out->feature && i < count; i++)
        out->feature[b->row[i]] = b->feature[i];
    caromi_store_points(&out->point, b->row, b->point, count);
    caromi_store_points(&out->normal, b->row, b->normal, count);
}

/* Contact of a query with its triangle. The kernel is asked first, even if the search was settled in integers: who gives
 * a point its last bit must not depend on the tree. */
static void contact_of(const float *in, caromi_exact_contact *a)
{
    void *out[COLUMNS_MAX];
    uint8_t feature;
    for (int k = 0; k < 3; k++) {
        out[OUT_POINT_X + k] = &a->point[k];
        out[OUT_NORMAL_X + k] = &a->normal[k];
    }
    out[OUT_FEATURE] = &feature;
    caromi_ask_alone(CAROMI_PAIR_contact_exact, in, IN_SWEEP_RESTING, out);
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
