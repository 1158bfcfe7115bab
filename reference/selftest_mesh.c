/* SPDX-License-Identifier: MIT */
/* Meshes: cases worked out on paper, and the boxes that spare most triangles against a search that spares none. */
#include "mesh.h"
#include "selftest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A square of side 1 in two triangles, whose diagonal runs from (0,0) to (1,1). */
static const float square_vertices[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
static const uint32_t square_indices[] = {0, 2, 3, 0, 1, 2};
static const ref_mesh square = {square_vertices, square_indices, 2, NULL};

typedef struct paper_case {
    const char *name;
    ref_sweep_case ball;
    float t_max;
    size_t count;
    struct {
        int32_t triangle;
        int state, feature;
        float t;
    } hit[2];
} paper_case;

/* clang-format off */
static const paper_case paper[] = {
    {"onto the diagonal", {{0.5f, 0.5f, 2}, 0.5, {0, 0, -1}, {{0}}, {0}}, INFINITY, 2,
     {{0, REF_APPROACHING, REF_E01, 1.5f}, {1, REF_APPROACHING, REF_E20, 1.5f}}},
    {"onto one triangle", {{0.5f, 0.25f, 2}, 0.5, {0, 0, -1}, {{0}}, {0}}, 1.5f, 1,
     {{1, REF_APPROACHING, REF_FACE, 1.5f}}},
    {"too late by a bit", {{0.5f, 0.25f, 2}, 0.5, {0, 0, -1}, {{0}}, {0}}, 0x1.7ffffep+0f, 0, {{0}}},
    {"one parts, one is touched", {{0.5f, 0.5f, 0.5f}, 0.5, {1, 0, 0}, {{0}}, {0}}, INFINITY, 1,
     {{1, REF_TOUCHING, REF_E20, 0}}},
    {"within both, and no time", {{0.5f, 0.25f, 0.25f}, 0.5, {0, 0, -1}, {{0}}, {0}}, 0, 2,
     {{0, REF_OVERLAPPING, REF_E01, 0}, {1, REF_OVERLAPPING, REF_FACE, 0}}},
    {"at rest at the radius", {{0.5f, 0.5f, 1}, 1, {0, 0, 0}, {{0}}, {0}}, 0, 2,
     {{0, REF_TOUCHING, REF_E01, 0}, {1, REF_TOUCHING, REF_E20, 0}}},
    {"beside them", {{-1, 1, 0}, 0.25, {0, 0, 0}, {{0}}, {0}}, INFINITY, 0, {{0}}},
    {"the later triangle first", {{3, 0.5f, 0}, 0.5, {-1, 0, 0}, {{0}}, {0}}, INFINITY, 2,
     {{1, REF_APPROACHING, REF_E12, 1.5f}, {0, REF_APPROACHING, REF_E01, 1.79289322f}}}, /* 2.5 - sqrt(0.5) */
};
/* clang-format on */

static void test_paper(ref_test *test)
{
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
        const paper_case *p = &paper[i];
        ref_mesh_list list;
        ref_mesh_hit first;
        int same = !ref_mesh_all(&square, &p->ball, p->t_max, &ref_mesh_no_options, &list) && list.is_valid &&
                   list.count == p->count;
        same = same && !ref_mesh_first(&square, &p->ball, p->t_max, &ref_mesh_no_options, &first);
        for (size_t k = 0; same && k < p->count; k++)
            same = list.hits[k].triangle == p->hit[k].triangle && list.hits[k].state == p->hit[k].state &&
                   list.hits[k].feature == p->hit[k].feature &&
                   ref_same_bits((double)list.hits[k].t, (double)p->hit[k].t);
        ref_check(test, same && first.triangle == (p->count > 0 ? p->hit[0].triangle : -1), p->name);
        free(list.hits);
    }
}

static void test_invalid(ref_test *test)
{
    const ref_sweep_case bad = {{0, 0, 0}, -1.0, {0, 0, 0}, {{0}}, {0}}, fine = {{0, 0, 0}, 1.0, {0, 0, 0}, {{0}}, {0}};
    const ref_mesh empty = {NULL, NULL, 0, NULL};
    uint8_t overlaps[2];
    ref_mesh_list list;
    ref_check(test,
              !ref_mesh_all(&square, &bad, 1.0f, &ref_mesh_no_options, &list) && !list.is_valid && list.count == 0,
              "an invalid ball");
    ref_check(test, ref_mesh_overlaps(&square, &bad, UINT32_MAX, overlaps) == -1, "an invalid ball at rest");
    ref_check(test, ref_mesh_overlaps(&empty, &fine, UINT32_MAX, overlaps) == 0, "no triangle");
    ref_check(test, !ref_mesh_all(&empty, &fine, 1.0f, &ref_mesh_no_options, &list) && list.is_valid && list.count == 0,
              "no triangle to hit");
    free(list.hits);
}

/* A hit by the words of docs/design.md; a T0 that is the window's end to the last bit of binary64 is left out. */
static int is_hit(const ref_sweep_answer *a, float t_max)
{
    return a->state == REF_TOUCHING || a->state == REF_OVERLAPPING ||
           (a->state == REF_APPROACHING && a->t_first_near <= (double)t_max);
}

/* Triangles of a family against spheres of the same family, at rest and moving, in windows of every length. */
static void test_boxes(ref_test *test, size_t family, uint64_t balls)
{
    enum { TRIANGLES = 24 };
    float vertices[9 * TRIANGLES];
    uint32_t indices[3 * TRIANGLES];
    uint8_t overlaps[TRIANGLES];
    const ref_mesh mesh = {vertices, indices, TRIANGLES, NULL};
    ref_sweep_case c;
    for (uint32_t k = 0; k < TRIANGLES; k++) {
        do
            ref_family_sweep(family, 7, ref_test_bits(test) % 1000, &c);
        while (!isfinite(c.p[0][0] + c.p[0][1] + c.p[0][2] + c.p[1][0] + c.p[1][1] + c.p[1][2] + c.p[2][0] + c.p[2][1] +
                         c.p[2][2]));
        memcpy(vertices + 9 * k, c.p, sizeof c.p);
        for (uint32_t v = 3 * k; v < 3 * k + 3; v++)
            indices[v] = v;
    }
    for (uint64_t i = 0; i < balls; i++) {
        static const float windows[] = {INFINITY, 0, 1, 0x1p-10f, 0x1p20f};
        const float t_max = windows[ref_test_bits(test) % 5];
        ref_mesh_list list;
        ref_family_sweep(family, 7, ref_test_bits(test) % 1000, &c);
        if (ref_mesh_all(&mesh, &c, t_max, &ref_mesh_no_options, &list)) {
            free(list.hits);
            continue;
        }
        size_t hits = 0;
        int64_t rests = 0, count = ref_mesh_overlaps(&mesh, &c, UINT32_MAX, overlaps);
        int same = 1, ordered = 1;
        for (size_t k = 0; k < TRIANGLES; k++) {
            ref_sweep_answer a;
            ref_overlap_answer o;
            ref_mesh_triangle(&mesh, k, c.p);
            ref_sweep(&c, &a);
            ref_overlap(&c, &o);
            hits += (size_t)is_hit(&a, t_max);
            rests += o.overlap == 1;
            same &= !list.is_valid || overlaps[k] == (o.overlap == 1);
        }
        for (size_t k = 1; k < list.count; k++)
            ordered &= list.hits[k - 1].t < list.hits[k].t ||
                       (!(list.hits[k - 1].t > list.hits[k].t) && list.hits[k - 1].triangle < list.hits[k].triangle);
        ref_check(test, list.count == hits, "all hits of a mesh are those of its triangles");
        ref_check(test, !list.is_valid || (same && count == rests), "so are its overlaps");
        ref_check(test, ordered, "hits are ordered by time and triangle");
        free(list.hits);
    }
}

void ref_test_meshes(ref_test *test, uint64_t cases)
{
    test_paper(test);
    test_invalid(test);
    for (size_t family = 0; family < ref_family_count(); family++)
        test_boxes(test, family, cases / 20 + 1);
}
