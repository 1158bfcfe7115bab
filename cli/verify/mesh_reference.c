/* SPDX-License-Identifier: MIT */
/* Exact answers about meshes against the reference, which tries every triangle. A graze that begins at the end of its
 * window to the last bit of binary64 is beyond the reference: that sphere is not counted. */
#include "mesh.h"

#include "reference/judge_mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct verdict {
    int known;         /* 0: the reference has no answer */
    const char *wrong; /* NULL: all is right */
    char truth[200];   /* words for the message */
} verdict;

typedef struct judged {
    const verify_mesh_request *ask;
    const verify_scene *scene;
    const verify_spheres *swept_spheres;
    const verify_mesh_answers *answers;
    ref_mesh mesh;
} judged;

static float float_of(const judged *j, int field, uint64_t row)
{
    float value;
    memcpy(&value, j->answers->field[field] + row * sizeof value, sizeof value);
    return value;
}

static int32_t triangle_of(const judged *j, uint64_t row)
{
    int32_t value;
    memcpy(&value, j->answers->field[MESH_TRIANGLE] + row * sizeof value, sizeof value);
    return value;
}

static ref_mesh_options options_of(const judged *j, uint64_t i)
{
    return (ref_mesh_options){j->swept_spheres->mask[i], j->swept_spheres->cull_back, (int)j->swept_spheres->start};
}

/* Sphere i, with the triangle that the truth names. */
static ref_sweep_case case_of(const judged *j, uint64_t i, int32_t triangle)
{
    ref_sweep_case c = {0};
    verify_spheres_case(j->swept_spheres, i, &c);
    if (triangle >= 0)
        ref_mesh_triangle(&j->mesh, (size_t)triangle, c.p);
    return c;
}

static const char *judge_row(const judged *j, uint64_t i, uint64_t row, const ref_mesh_hit *truth, verdict *v)
{
    const ref_sweep_case c = case_of(j, i, truth->triangle);
    ref_given_hit given = {.triangle = triangle_of(j, row),
                           .state = j->answers->field[MESH_STATE][row],
                           .feature = j->answers->field[MESH_FEATURE][row],
                           .t = float_of(j, MESH_T, row)};
    for (int k = 0; k < 3; k++) {
        given.point[k] = float_of(j, MESH_POINT + k, row);
        given.normal[k] = float_of(j, MESH_NORMAL + k, row);
    }
    snprintf(v->truth, sizeof v->truth, "triangle=%d state=%s t=%a feature=%s", truth->triangle,
             carom_state_name((carom_state)truth->state), (double)truth->t,
             carom_feature_name((carom_feature)truth->feature));
    return ref_judge_hit(&c, truth, &given);
}

static void judge_first(const judged *j, uint64_t i, verdict *v)
{
    const ref_sweep_case c = case_of(j, i, -1);
    const ref_mesh_options options = options_of(j, i);
    ref_mesh_hit truth;
    v->known = !ref_mesh_first(&j->mesh, &c, j->swept_spheres->column[SPHERE_T_MAX][i], &options, &truth);
    if (v->known)
        v->wrong = judge_row(j, i, i, &truth, v);
}

/* The answer to a sphere in a list; `there`: the list had room for its records. */
typedef struct listed {
    uint64_t from, count;
    int there;
} listed;

static listed find_listed(const judged *j, uint64_t i)
{
    const verify_mesh_answers *a = j->answers;
    listed l = {.from = a->offsets[i], .count = a->offsets[i + 1] - a->offsets[i]};
    uint64_t from, to;
    l.there = verify_mesh_rows(j->ask, a, i, &from, &to);
    return l;
}

/* After its records: their number, which the offsets tell of all spheres, and whether it is for want of room that they
 * are not there. */
static void judge_listed(const judged *j, const listed *l, uint64_t truth, verdict *v)
{
    if (!v->known || v->wrong)
        return;
    if (l->count != truth) {
        snprintf(v->truth, sizeof v->truth, "%llu records", (unsigned long long)truth);
        v->wrong = "another number of records";
    } else if (!l->there && !verify_mesh_is_full(j->ask, j->answers)) {
        snprintf(v->truth, sizeof v->truth, "%llu records, for which there was room", (unsigned long long)truth);
        v->wrong = "a list that ends before it is full";
    }
}

static void judge_hits(const judged *j, uint64_t i, verdict *v)
{
    const listed l = find_listed(j, i);
    const ref_sweep_case c = case_of(j, i, -1);
    const ref_mesh_options options = options_of(j, i);
    ref_mesh_list truth;
    v->known = !ref_mesh_all(&j->mesh, &c, j->swept_spheres->column[SPHERE_T_MAX][i], &options, &truth);
    for (uint64_t k = 0; l.there && v->known && !v->wrong && k < truth.count && k < l.count; k++)
        v->wrong = judge_row(j, i, l.from + k, &truth.hits[k], v);
    judge_listed(j, &l, truth.count, v);
    free(truth.hits);
}

/* found: how many, or less than 0 of a sphere that is not valid. */
static void judge_whether(uint8_t given, int64_t found, verdict *v)
{
    const uint8_t expected = found < 0 ? CAROM_OVERLAP_INVALID : found > 0;
    snprintf(v->truth, sizeof v->truth, "hit=%d", expected);
    if (v->known && given != expected)
        v->wrong = "a hit that is none, or one that is missed";
}

static void judge_any(const judged *j, uint64_t i, verdict *v)
{
    const ref_sweep_case c = case_of(j, i, -1);
    const ref_mesh_options options = options_of(j, i);
    ref_mesh_hit truth;
    v->known = !ref_mesh_first(&j->mesh, &c, j->swept_spheres->column[SPHERE_T_MAX][i], &options, &truth);
    judge_whether(j->answers->field[MESH_HIT][i], truth.state == CAROM_INVALID ? -1 : truth.triangle >= 0, v);
}

static void judge_any_still(const judged *j, uint64_t i, verdict *v)
{
    const ref_sweep_case c = case_of(j, i, -1);
    uint8_t truth[MESH_TRIANGLES];
    v->known = 1;
    judge_whether(j->answers->field[MESH_HIT][i], ref_mesh_overlaps(&j->mesh, &c, j->swept_spheres->mask[i], truth), v);
}

/* The triangles of a sphere stand in ascending order, so none is there twice. */
static void judge_overlaps(const judged *j, uint64_t i, verdict *v)
{
    const listed l = find_listed(j, i);
    const ref_sweep_case c = case_of(j, i, -1);
    uint8_t truth[MESH_TRIANGLES];
    const int64_t count = ref_mesh_overlaps(&j->mesh, &c, j->swept_spheres->mask[i], truth);
    int32_t last = -1;
    v->known = 1;
    snprintf(v->truth, sizeof v->truth, "%lld overlaps", (long long)count);
    for (uint64_t k = 0; l.there && k < l.count && !v->wrong; k++) {
        const int32_t triangle = triangle_of(j, l.from + k);
        if (triangle <= last || triangle >= MESH_TRIANGLES)
            v->wrong = "triangles out of order";
        else if (!truth[triangle])
            v->wrong = "a triangle that is not overlapped";
        last = triangle;
    }
    judge_listed(j, &l, (uint64_t)(count < 0 ? 0 : count), v);
}

static void judge_closest(const judged *j, uint64_t i, verdict *v)
{
    ref_sweep_case c = case_of(j, i, -1);
    ref_mesh_closest_answer truth;
    ref_given_closest given = {.triangle = triangle_of(j, i),
                               .feature = j->answers->field[MESH_FEATURE][i],
                               .distance = float_of(j, MESH_T, i),
                               .depth = float_of(j, MESH_DEPTH, i)};
    for (int k = 0; k < 3; k++)
        given.point[k] = float_of(j, MESH_POINT + k, i);
    v->known = !ref_mesh_closest(&j->mesh, &c, j->swept_spheres->mask[i], &truth);
    if (!v->known)
        return;
    c = case_of(j, i, truth.triangle);
    v->wrong = ref_judge_closest(&c, &truth, &given);
    snprintf(v->truth, sizeof v->truth, "triangle=%d distance=%a feature=%s", truth.triangle,
             (double)truth.closest.distance, carom_feature_name((carom_feature)truth.closest.feature));
}

static verdict judge(const judged *j, uint64_t i)
{
    verdict v = {0};
    switch (j->ask->type) {
    case MESH_FIRST: judge_first(j, i, &v); break;
    case MESH_HITS: judge_hits(j, i, &v); break;
    case MESH_ANY: judge_any(j, i, &v); break;
    case MESH_ANY_STILL: judge_any_still(j, i, &v); break;
    case MESH_OVERLAPS: judge_overlaps(j, i, &v); break;
    default: judge_closest(j, i, &v);
    }
    return v;
}

void verify_mesh_judge(const verify_mesh_request *ask, const verify_scene *scene, const verify_spheres *swept_spheres,
                       const verify_mesh_answers *answers, uint64_t count, output *out, verify_mesh_tally *tally)
{
    const judged j = {ask, scene, swept_spheres, answers, verify_scene_reference(scene)};
    for (uint64_t i = 0; i < count; i++) {
        const verdict v = judge(&j, i);
        tally->queries += (uint64_t)v.known;
        if (!v.wrong || tally->wrong++ > 0)
            continue;
        output_format(out, "  first wrong answer of exact mode: %s, %s on %s:\n", v.wrong,
                      verify_mesh_types[ask->type].name, scene->name);
        verify_mesh_print_sphere(out, swept_spheres, i);
        verify_mesh_print_answer(out, ask, "answer", scene, answers, i);
        output_format(out, "    reference: %s\n", v.truth);
    }
}
