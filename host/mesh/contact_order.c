/* SPDX-License-Identifier: MIT */
/* The order of the triangles around a sphere: by the distance of the closest feature, then by index. Exact mode
 * compares true distances. Fast mode compares binary32 distances; where these tie at an edge or a corner, it compares
 * the distances of the closest features in binary64. Triangles with the same closest feature have the same distance. */
#include "contact_records.h"

#include <assert.h>
#include <math.h>

/* A closest feature as ids of distinct vertex positions, in ascending order: one for a corner, two for an edge, three
 * for a face. */
typedef struct place {
    int count;
    uint32_t position[3];
    int corner[3]; /* number of the triangle's corner at each position */
} place;

/* The positions of a record's closest feature, in ascending order. */
static place place_of(const caromi_edges *edges, const mesh_record *record)
{
    assert(record->state >= FEATURE_V0 && record->state <= FEATURE_FACE);
    place p = {.count = record->state < FEATURE_E01 ? 1 : record->state < FEATURE_FACE ? 2 : 3};
    const int first = p.count == 1 ? record->state - FEATURE_V0 : p.count == 2 ? record->state - FEATURE_E01 : 0;
    for (int i = 0; i < p.count; i++) {
        const int corner = (first + i) % 3;
        const uint32_t position = caromi_edge_position(edges, (uint32_t)record->triangle, corner);
        int at = i;
        for (; at > 0 && p.position[at - 1] > position; at--) {
            p.position[at] = p.position[at - 1];
            p.corner[at] = p.corner[at - 1];
        }
        p.position[at] = position;
        p.corner[at] = corner;
    }
    return p;
}

/* Whether two triangles have the same closest feature, by positions. */
static int same_feature(const caromi_edges *edges, const mesh_record *a, const mesh_record *b)
{
    if (a->state < FEATURE_E01 && b->state < FEATURE_E01)
        return caromi_edge_position(edges, (uint32_t)a->triangle, a->state - FEATURE_V0) ==
               caromi_edge_position(edges, (uint32_t)b->triangle, b->state - FEATURE_V0);
    if ((a->state < FEATURE_E01) != (b->state < FEATURE_E01) || (a->state < FEATURE_FACE) != (b->state < FEATURE_FACE))
        return 0;
    const place p = place_of(edges, a), q = place_of(edges, b);
    int same = 1;
    for (int i = 0; i < p.count; i++)
        same &= p.position[i] == q.position[i];
    return same;
}

/* ---- exact mode -------------------------------------------------------------------------------------------------- */

/* The sign of a's minus b's true distance. */
static int exact_order_of(const caromi_chooser *chooser, const mesh_record *a, const mesh_record *b)
{
    float in[IN_CLOSEST], other[IN_CLOSEST];
    if (a->t < b->t || a->t > b->t)
        return a->t < b->t ? -1 : 1;
    if (same_feature(chooser->contacts->edges, a, b))
        return 0;
    caromi_chooser_pair(chooser, chooser->query->in, a->triangle, in);
    caromi_chooser_pair(chooser, chooser->query->in, b->triangle, other);
    return caromi_resolve_order(in, other, chooser->by_integers);
}

/* ---- fast mode --------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Squared distance of the centre from the corner, line or plane of the feature. */
static double square_of(const float *center, const float *const corner[3], int count)
{
    double offset[3], e[2][3];
    for (int a = 0; a < 3; a++) {
        offset[a] = (double)center[a] - (double)corner[0][a];
        for (int i = 1; i < count; i++)
            e[i - 1][a] = (double)corner[i][a] - (double)corner[0][a];
    }
    if (count == 3) {
        const double n[3] = {e[0][1] * e[1][2] - e[0][2] * e[1][1], e[0][2] * e[1][0] - e[0][0] * e[1][2],
                             e[0][0] * e[1][1] - e[0][1] * e[1][0]};
        const double height = dot(n, offset);
        return height * height / dot(n, n);
    }
    if (count == 2) {
        const double share = dot(offset, e[0]) / dot(e[0], e[0]);
        for (int a = 0; a < 3; a++)
            offset[a] -= e[0][a] * share;
    }
    return dot(offset, offset);
}

static double square_from(const caromi_chooser *chooser, const mesh_record *record)
{
    const place p = place_of(chooser->contacts->edges, record);
    const float *corner[3];
    for (int i = 0; i < p.count; i++)
        corner[i] = caromi_corner(chooser->batch->mesh, (uint32_t)record->triangle, p.corner[i]);
    return square_of(chooser->query->in, corner, p.count);
}

/* The largest coordinate of the triangle relative to the centre, by magnitude. */
static double size_of(const caromi_chooser *chooser, const mesh_record *record)
{
    double size = 0;
    for (int k = 0; k < 3; k++) {
        const float *corner = caromi_corner(chooser->batch->mesh, (uint32_t)record->triangle, k);
        for (int a = 0; a < 3; a++) {
            const double x = fabs((double)corner[a] - (double)chooser->query->in[a]);
            size = x > size ? x : size;
        }
    }
    return size;
}

/* Whether two binary32 distances are in the true order for certain. Each has an error of at most 2^-20 of the size, so
 * a difference of twice that decides. A first test with the mesh's extent as the size decides most pairs. */
static int are_apart(const caromi_chooser *chooser, const mesh_record *a, const mesh_record *b)
{
    const double apart = fabs((double)a->t - (double)b->t);
    if (apart > 0x1p-18 * ((double)a->t + chooser->extent))
        return 1;
    const double first = size_of(chooser, a), second = size_of(chooser, b);
    return apart > 0x1p-18 * (first > second ? first : second);
}

/* The sign of a's minus b's distance. */
static int fast_order_of(const caromi_chooser *chooser, const mesh_record *a, const mesh_record *b)
{
    const int differ = a->t < b->t || a->t > b->t;
    if (differ && are_apart(chooser, a, b))
        return a->t < b->t ? -1 : 1;
    if (same_feature(chooser->contacts->edges, a, b))
        return 0;
    const double first = square_from(chooser, a), second = square_from(chooser, b);
    return (first > second) - (first < second);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* Whether j comes before k, which is within reach, in the order (distance, index). */
int caromi_comes_before(const caromi_chooser *chooser, const mesh_record *j, const mesh_record *record)
{
    /* In fast mode, a triangle beyond the limit in binary32 makes no contact and suppresses none. */
    if (!chooser->batch->exact && j->t > chooser->query->in[MESH_RADIUS] + chooser->query->in[MESH_MAX_DISTANCE])
        return 0;
    const int order = chooser->batch->exact ? exact_order_of(chooser, j, record) : fast_order_of(chooser, j, record);
    return order != 0 ? order < 0 : j->triangle < record->triangle;
}

/* The largest binary32 distance at which a triangle may come before k. */
float caromi_before_limit(const caromi_chooser *chooser, const mesh_record *record)
{
    return chooser->batch->exact ? record->t
                                 : (float)((double)record->t + 0x1p-17 * ((double)record->t + chooser->extent));
}

int caromi_precedes(const caromi_chooser *chooser, const mesh_record *j, const mesh_record *record)
{
    float in[IN_CLOSEST];
    if (!chooser->batch->exact)
        return caromi_comes_before(chooser, j, record);
    if (same_feature(chooser->contacts->edges, j, record))
        return j->triangle < record->triangle;
    caromi_chooser_pair(chooser, chooser->query->in, j->triangle, in);
    return !caromi_may_be_flat(in + IN_NP0X) || caromi_comes_before(chooser, j, record);
}
