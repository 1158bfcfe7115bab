/* SPDX-License-Identifier: MIT */
/* Sweeps of scenes whose instances move. The exact reference asks every triangle with the velocity of its instance. And
 * instances of one velocity answer as the merged mesh at rest does, bit for bit, for spheres with the difference of
 * both velocities: in fast mode where each difference is rounded once, in exact mode where it is a number. */
#include <math.h>

#include "reference/judge.h"
#include "reference/judge_mesh.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/worlds.h"

enum { SEED = 148, RECORDS = 1 << 16 };
#define LARGE 0x1p20f /* of velocities beside which the motions of spheres are small */

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

enum { BY_VELOCITY, BY_VELOCITY_CULLED, BY_VELOCITY_SKIPPED, BY_END, BY_END_PARTING, KINDS };

/* unit: velocities are multiples of it, if it is not 0. */
static swept_spheres make_spheres(uint64_t seed, size_t count, int kind, float unit)
{
    swept_spheres b = swept_spheres_mixed(seed, test_effort(count) < 40 ? 40 : test_effort(count));
    for (size_t i = 0; i < b.count; i++) {
        if (i % 3 == 0)
            b.column[SPHERE_T_MAX][i] = (float)(i % 7) * 0.25f;
        for (int k = 0; unit > 0 && k < 3; k++)
            b.column[SPHERE_VELOCITY + k][i] = unit * rintf(b.column[SPHERE_VELOCITY + k][i] / unit);
    }
    b.cull_back = kind == BY_VELOCITY_CULLED;
    b.start = kind == BY_VELOCITY_SKIPPED ? CAROM_START_SKIP
              : kind == BY_END_PARTING    ? CAROM_START_SKIP_PARTING
                                          : CAROM_START_REPORT;
    if (kind == BY_END || kind == BY_END_PARTING)
        swept_spheres_end(&b);
    if (kind == BY_VELOCITY_CULLED)
        b.mask = random_masks(seed + 5, b.count);
    return b;
}

/* Spheres with the motions relative to a velocity, each difference rounded once. */
static swept_spheres relative_to(const swept_spheres *b, const float velocity[3])
{
    uint32_t *order = test_alloc(b->count, sizeof *order);
    for (size_t i = 0; i < b->count; i++)
        order[i] = (uint32_t)i;
    swept_spheres r = swept_spheres_reorder(b, order, b->count);
    free(order);
    r.ends = 0;
    for (size_t i = 0; i < r.count; i++)
        for (int k = 0; k < 3; k++) {
            volatile float own = b->column[SPHERE_VELOCITY + k][i];
            if (b->ends)
                own = own - b->column[k][i];
            r.column[SPHERE_VELOCITY + k][i] = own - velocity[k];
        }
    return r;
}

/* A motion of three numbers, end - centre - velocity, as a difference of two: a large velocity is subtracted from the
 * end, which is near it, else it is added to the centre. Either is exact. */
static void copy_reference_case(const swept_spheres *b, size_t i, const float velocity[3], ref_sweep_case *c)
{
    memset(c, 0, sizeof *c);
    for (int k = 0; k < 3; k++) {
        c->center[k] = b->column[k][i];
        const int is_large = b->ends && fabsf(velocity[k]) >= LARGE;
        c->velocity[k] = b->column[SPHERE_VELOCITY + k][i] - (is_large ? velocity[k] : 0);
        c->w[k] = (b->ends ? c->center[k] : 0) + (is_large ? 0 : velocity[k]);
    }
    c->radius = (double)b->column[SPHERE_RADIUS][i];
}

/* ---- the truth --------------------------------------------------------------------------------------------------- */

/* A part of a merged mesh: the triangles of one instance. */
static ref_mesh part_of(const world *w, const scene *all, size_t instance)
{
    const size_t first = (size_t)w->first[instance];
    return (ref_mesh){.vertices = all->vertices,
                      .indices = all->indices + 3 * first,
                      .triangle_count = (size_t)w->first[instance + 1] - first,
                      .masks = all->masks + first};
}

/* The first hit over all instances, with its point on the instance as it is at time 0. */
static oracle_hit first_of_all(const world *w, const scene *all, const swept_spheres *b, size_t i)
{
    const ref_mesh_options options = oracle_options(b, i);
    oracle_hit best = {.triangle = -1, .t = HUGE_VALF};
    for (size_t instance = 0; instance < w->instances; instance++) {
        const ref_mesh part = part_of(w, all, instance);
        oracle_hit hit;
        ref_sweep_case c;
        copy_reference_case(b, i, w->velocity[instance], &c);
        const char *wrong = ref_mesh_first(&part, &c, b->column[SPHERE_T_MAX][i], &options, &hit);
        if (wrong != NULL)
            fail_msg("the oracle: %s", wrong);
        if (hit.state == REF_INVALID)
            return hit;
        if (hit.triangle < 0 || (best.triangle >= 0 && !(hit.t < best.t)))
            continue;
        hit.triangle += w->first[instance];
        best = hit;
    }
    return best;
}

static hits first_hits(const world *w, carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    hits h = hits_alloc(b->count, 0x5a);
    int32_t *instance = test_alloc(b->count, sizeof *instance);
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    result.instance = w != NULL ? instance : NULL;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    for (size_t i = 0; w != NULL && i < b->count; i++)
        if (instance[i] >= 0)
            result.triangle[i] += w->first[instance[i]];
    free(instance);
    return h;
}

/* NULL, or what is wrong with answer i. Its point is judged in the world, all else as seen from the instance. */
static const char *judge(const world *w, const scene *all, const swept_spheres *b, size_t i, const oracle_hit *truth,
                         const hits *h)
{
    static const float at_rest[3];
    const size_t triangle = truth->triangle < 0 ? 0 : (size_t)truth->triangle;
    size_t instance = 0;
    while (w->first[instance + 1] <= (int32_t)triangle)
        instance++;
    ref_given_hit given = {.triangle = hit_triangle(h, i),
                           .state = hit_state(h, i),
                           .feature = h->field[HIT_FEATURE].data[i],
                           .t = hit_float(h, HIT_T, i)};
    float point[3];
    double moved[3];
    ref_sweep_case c;
    for (int k = 0; k < 3; k++) {
        const int exists = truth->triangle >= 0 && isfinite(truth->t);
        point[k] = hit_float(h, HIT_X + k, i);
        given.normal[k] = hit_float(h, HIT_NX + k, i);
        given.point[k] = exists ? (float)truth->point[k] : point[k];
        moved[k] = truth->point[k] + (exists ? truth->near * (double)w->velocity[instance][k] : 0);
    }
    copy_reference_case(b, i, w->velocity[instance], &c);
    scene_triangle(all, triangle, c.p);
    const char *wrong = ref_judge_hit(&c, truth, &given);
    if (wrong != NULL || truth->triangle < 0 || !isfinite(truth->t))
        return wrong;
    copy_reference_case(b, i, at_rest, &c);
    return ref_point_error(&c, truth->feature, moved, point) > 1 ? "the contact point is more than one unit off" : NULL;
}

static uint64_t check_truth(carom_context *context, const world *w, const swept_spheres *b, const char *label)
{
    uint64_t moved = 0;
    scene all = world_merge(w);
    carom_scene *made = world_scene(context, w);
    const hits h = first_hits(w, carom_scene_mesh(made), b, CAROM_ACCURACY_EXACT);
    for (size_t i = 0; i < b->count; i++) {
        const oracle_hit truth = first_of_all(w, &all, b, i);
        const char *wrong = judge(w, &all, b, i, &truth, &h);
        if (wrong != NULL) {
            hits_print(b, &h, i, "answer");
            fail_msg("%s, sphere %zu: %s; the reference: triangle=%d state=%d feature=%d t=%a point=%a %a %a", label, i,
                     wrong, truth.triangle, truth.state, truth.feature, (double)truth.t, truth.point[0], truth.point[1],
                     truth.point[2]);
        }
        moved += truth.triangle >= 0 && truth.t > 0;
    }
    hits done = h;
    hits_free(&done);
    carom_scene_destroy(made);
    scene_free(&all);
    return moved;
}

/* Centres and velocities of instances are multiples of 2^-12, so the reference has centre + velocity as one number. */
static void snap_centers(swept_spheres *b)
{
    for (size_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            b->column[k][i] = fabsf(b->column[k][i]) < 100 ? 0x1p-12f * rintf(b->column[k][i] * 0x1p12f) : 1.5f;
}

static void test_truth(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    uint64_t moved = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        world w = world_make(SEED + (uint64_t)kind, 11, 1.5f, kind == BY_VELOCITY_CULLED);
        swept_spheres b = make_spheres(SEED + (uint64_t)kind, 200, kind, 0);
        const int by_end = kind == BY_END || kind == BY_END_PARTING;
        world_move(&w, SEED, by_end ? 0x1p-12f : 0x1p-24f);
        if (by_end)
            snap_centers(&b);
        moved += check_truth(context, &w, &b, by_end ? "by end" : "by velocity");
        swept_spheres_free(&b);
        world_free(&w);
    }
    assert_true(moved > 20);
    carom_context_destroy(context);
}

/* End positions and velocities that cancel. What is left is a motion of a few bits in binary32, or nothing of the end
 * position, whose distance from the centre is no binary64 number. */
static void test_cancelled(void **state)
{
    (void)state;
    static const float sizes[] = {LARGE, 0x1p40f};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t size = 0; size < COUNT_OF(sizes); size++) {
        world w = world_make(SEED, 8, 1, 0);
        swept_spheres b = make_spheres(SEED + 1, 100, BY_END, 0);
        w.velocity = test_alloc(w.instances, sizeof *w.velocity);
        for (size_t i = 0; i < w.instances; i++)
            w.velocity[i][0] = sizes[size];
        for (size_t i = 0; i < b.count; i++)
            b.column[SPHERE_VELOCITY][i] += sizes[size];
        (void)check_truth(context, &w, &b, "cancelled");
        swept_spheres_free(&b);
        world_free(&w);
    }
    carom_context_destroy(context);
}

/* ---- one velocity at a time -------------------------------------------------------------------------------------- */

/* The merged mesh of the instances with one velocity; all others have no mask. NULL without such an instance. */
static carom_mesh *mesh_of_speed(carom_context *context, const world *w, const scene *all, size_t like)
{
    scene some = *all;
    some.masks = test_alloc(all->triangle_count, sizeof *some.masks);
    for (size_t i = 0; i < w->instances; i++)
        for (int32_t t = w->first[i]; t < w->first[i + 1]; t++)
            some.masks[t] = memcmp(w->velocity[i], w->velocity[like], sizeof *w->velocity) == 0 ? all->masks[t] : 0;
    carom_mesh *mesh = scene_mesh(context, &some);
    free(some.masks);
    return mesh;
}

/* Answers of the instances with one velocity, as a mesh at rest gives them. */
typedef struct speed {
    float velocity[3];
    carom_mesh *mesh;
} speed;

static size_t speeds_of(carom_context *context, const world *w, const scene *all, speed speeds[WORLD_SPEEDS])
{
    size_t count = 0;
    for (size_t i = 0; i < w->instances; i++) {
        size_t known = 0;
        while (known < count && memcmp(speeds[known].velocity, w->velocity[i], sizeof *w->velocity) != 0)
            known++;
        if (known < count)
            continue;
        assert_true(count < WORLD_SPEEDS);
        memcpy(speeds[count].velocity, w->velocity[i], sizeof *w->velocity);
        speeds[count++].mesh = mesh_of_speed(context, w, all, i);
    }
    return count;
}

/* Whether a coordinate of a point has moved by t times a velocity, up to roundings. */
static int is_carried(double at_rest, double got, double t, double velocity, double center)
{
    const double offset = t * velocity, point = at_rest + offset, size = 64 + fabs(point) + fabs(offset) + fabs(center);
    return t >= 1e30 || fabs(point - got) <= 1e-6 * size;
}

static const int compared[] = {HIT_TRIANGLE, HIT_STATE, HIT_T, HIT_NX, HIT_NY, HIT_NZ, HIT_FEATURE};

static void compare_hit(const swept_spheres *b, size_t i, const hits *expected, size_t from, const hits *got, size_t to,
                        const float velocity[3], const char *label)
{
    for (size_t f = 0; f < COUNT_OF(compared); f++) {
        const size_t size = hit_field_size(compared[f]);
        if (memcmp(expected->field[compared[f]].data + from * size, got->field[compared[f]].data + to * size, size) ==
            0)
            continue;
        hits_print_at(b, i, expected, from, "expected");
        hits_print_at(b, i, got, to, label);
        fail_msg("%s: differs, velocity %a %a %a", label, (double)velocity[0], (double)velocity[1],
                 (double)velocity[2]);
    }
    for (int k = 0; hit_is_some(expected, from) && k < 3; k++)
        if (!is_carried((double)hit_float(expected, HIT_X + k, from), (double)hit_float(got, HIT_X + k, to),
                        (double)hit_float(expected, HIT_T, from), (double)velocity[k], (double)b->column[k][i])) {
            hits_print_at(b, i, expected, from, "expected");
            hits_print_at(b, i, got, to, label);
            fail_msg("%s: the point is not carried along", label);
        }
}

static void compare_first(const world *w, const speed *speeds, size_t count, carom_mesh *mesh, const swept_spheres *b,
                          carom_accuracy accuracy, const char *label)
{
    hits got = first_hits(w, mesh, b, accuracy), each[WORLD_SPEEDS];
    for (size_t s = 0; s < count; s++) {
        swept_spheres relative = relative_to(b, speeds[s].velocity);
        each[s] = first_hits(NULL, speeds[s].mesh, &relative, accuracy);
        swept_spheres_free(&relative);
    }
    for (size_t i = 0; i < b->count; i++) {
        size_t best = 0;
        for (size_t s = 1; s < count; s++) {
            const float t = hit_float(&each[s], HIT_T, i), least = hit_float(&each[best], HIT_T, i);
            const int is_earlier =
                t < least || (t == least && hit_triangle(&each[s], i) < hit_triangle(&each[best], i));
            if (hit_is_some(&each[s], i) && (!hit_is_some(&each[best], i) || is_earlier))
                best = s;
        }
        compare_hit(b, i, &each[best], i, &got, i, speeds[best].velocity, label);
    }
    for (size_t s = 0; s < count; s++)
        hits_free(&each[s]);
    hits_free(&got);
}

typedef struct listed {
    uint64_t *offsets;
    int32_t *triangle, *instance;
    float *t;
    uint8_t *state;
    float (*point)[3], (*normal)[3];
    carom_list_totals totals;
} listed;

static listed list_all(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, int has)
{
    listed l = {test_alloc(b->count + 1, sizeof(uint64_t)),
                test_alloc(RECORDS, sizeof(int32_t)),
                test_alloc(RECORDS, sizeof(int32_t)),
                test_alloc(RECORDS, sizeof(float)),
                test_alloc(RECORDS, 1),
                test_alloc(RECORDS, sizeof(float[3])),
                test_alloc(RECORDS, sizeof(float[3])),
                {0}};
    carom_error err = {0};
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, 0, b->count);
    carom_hit_list list = {.size = sizeof list,
                           .capacity = RECORDS,
                           .offsets = l.offsets,
                           .triangle = l.triangle,
                           .instance = has ? l.instance : NULL,
                           .t = l.t,
                           .state = l.state,
                           .point = carom_xyz_out(l.point[0]),
                           .normal = carom_xyz_out(l.normal[0]),
                           .totals = &l.totals};
    sweep.batch.accuracy = accuracy;
    test_ok("carom_mesh_sweep_list", carom_mesh_sweep_list(mesh, &sweep, CAROM_HITS_ALL, &list, NULL, &err), &err);
    assert_true(l.totals.total <= RECORDS);
    return l;
}

static void listed_free(listed *l)
{
    void *const all[] = {l->offsets, l->triangle, l->instance, l->t, l->state, l->point, l->normal};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        free(all[i]);
}

/* Merges the lists of all velocities for one sphere and compares: each record of the scene is the next of one list. */
static void compare_sphere(const world *w, const speed *speeds, const listed *each, size_t count, const listed *got,
                           const swept_spheres *b, size_t i, const char *label)
{
    uint64_t at[WORLD_SPEEDS];
    for (size_t s = 0; s < count; s++)
        at[s] = each[s].offsets[i];
    for (uint64_t k = got->offsets[i]; k < got->offsets[i + 1]; k++) {
        size_t best = WORLD_SPEEDS;
        for (size_t s = 0; s < count; s++)
            if (at[s] < each[s].offsets[i + 1] && (best == WORLD_SPEEDS || each[s].t[at[s]] < each[best].t[at[best]] ||
                                                   (each[s].t[at[s]] == each[best].t[at[best]] &&
                                                    each[s].triangle[at[s]] < each[best].triangle[at[best]])))
                best = s;
        if (best == WORLD_SPEEDS)
            fail_msg("%s, sphere %zu: a record too many", label, i);
        if (got->triangle[k] + w->first[got->instance[k]] != each[best].triangle[at[best]] ||
            got->t[k] != each[best].t[at[best]] || got->state[k] != each[best].state[at[best]])
            fail_msg("%s, sphere %zu: triangle %d of %d at %a, not %d at %a", label, i, got->triangle[k],
                     got->instance[k], (double)got->t[k], each[best].triangle[at[best]],
                     (double)each[best].t[at[best]]);
        const float *at_rest = each[best].point[at[best]];
        for (int axis = 0; axis < 3; axis++)
            if (!is_carried((double)at_rest[axis], (double)got->point[k][axis], (double)got->t[k],
                            (double)speeds[best].velocity[axis], (double)b->column[axis][i]))
                fail_msg("%s, sphere %zu: point %d of triangle %d is %a, not %a carried by %a in %a", label, i, axis,
                         got->triangle[k], (double)got->point[k][axis], (double)at_rest[axis],
                         (double)speeds[best].velocity[axis], (double)got->t[k]);
        for (int axis = 0; axis < 3; axis++)
            if (!(fabs((double)got->normal[k][axis] - (double)each[best].normal[at[best]][axis]) <= 1e-6))
                fail_msg("%s, sphere %zu: the normal of triangle %d at %a is %a along %c, not %a", label, i,
                         got->triangle[k], (double)got->t[k], (double)got->normal[k][axis], "xyz"[axis],
                         (double)each[best].normal[at[best]][axis]);
        at[best]++;
    }
    for (size_t s = 0; s < count; s++)
        if (at[s] != each[s].offsets[i + 1])
            fail_msg("%s, sphere %zu: triangle %d at %a is missing", label, i, each[s].triangle[at[s]],
                     (double)each[s].t[at[s]]);
}

static void compare_lists(const world *w, const speed *speeds, size_t count, carom_mesh *mesh, const swept_spheres *b,
                          carom_accuracy accuracy, const char *label)
{
    listed got = list_all(mesh, b, accuracy, 1), each[WORLD_SPEEDS];
    uint8_t *any = test_alloc(b->count, 1);
    carom_error err = {0};
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    desc.batch.accuracy = accuracy;
    test_ok("any", carom_mesh_sweep_any(mesh, &desc, TEST_ANY(any), NULL, &err), &err);
    for (size_t s = 0; s < count; s++) {
        swept_spheres relative = relative_to(b, speeds[s].velocity);
        each[s] = list_all(speeds[s].mesh, &relative, accuracy, 0);
        swept_spheres_free(&relative);
    }
    for (size_t i = 0; i < b->count; i++) {
        compare_sphere(w, speeds, each, count, &got, b, i, label);
        if (any[i] != CAROM_OVERLAP_INVALID)
            assert_int_equal(any[i], got.offsets[i + 1] > got.offsets[i]);
    }
    for (size_t s = 0; s < count; s++)
        listed_free(&each[s]);
    listed_free(&got);
    free(any);
}

/* unit: of velocities, 0 for any. In exact mode differences must be numbers. wind: is added to all velocities along x,
 * and to end positions. */
static void check_speeds(carom_context *scalar, carom_context *context, world *w, float unit, float wind,
                         const char *label)
{
    for (size_t i = 0; i < w->instances; i++)
        w->velocity[i][0] += wind;

    scene all = world_merge(w);
    carom_scene *made = world_scene(context, w);
    speed speeds[WORLD_SPEEDS];
    const size_t count = speeds_of(scalar, w, &all, speeds);
    for (int kind = 0; kind < KINDS; kind++) {
        swept_spheres b = make_spheres(SEED + (uint64_t)kind, 200, kind, unit);
        for (size_t i = 0; b.ends && i < b.count; i++)
            b.column[SPHERE_VELOCITY][i] += wind;
        const carom_accuracy accuracy = unit > 0 && !b.ends ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        compare_first(w, speeds, count, carom_scene_mesh(made), &b, accuracy, label);
        compare_lists(w, speeds, count, carom_scene_mesh(made), &b, accuracy, label);
        swept_spheres_free(&b);
    }
    for (size_t s = 0; s < count; s++)
        carom_mesh_destroy(speeds[s].mesh);
    carom_scene_destroy(made);
    scene_free(&all);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const size_t instances[] = {1, 3, 11, 150, 300};
    for (size_t i = 0; i < COUNT_OF(instances); i++)
        for (int is_exact = 0; is_exact < 2; is_exact++) {
            const int is_windy = instances[i] == 300 && !is_exact;
            world w = world_make(SEED + i, instances[i], instances[i] > 100 ? 6 : 1.5f, is_exact);
            const float unit = is_exact ? 0x1p-12f : 0;
            world_move(&w, SEED + i, is_exact ? unit : 0x1p-24f);
            check_speeds(scalar, context, &w, unit, is_windy ? 8 * LARGE : 0, label);
            world_free(&w);
        }
}

/* Velocities that overflow when they are subtracted, and some that are nothing beside the spheres'. */
static void test_extreme_speeds(void **state)
{
    (void)state;
    static const float sizes[] = {0x1p126f, 0x1p-140f, 0x1p40f};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        world w = world_make(SEED, 11, 1.5f, 0);
        world_move(&w, SEED, 0x1p-24f);
        for (size_t k = 0; k < w.instances; k++)
            for (int axis = 0; axis < 3; axis++)
                w.velocity[k][axis] *= sizes[i] * (k % 2 == 0 ? 1 : 0.5f);
        swept_spheres b = make_spheres(SEED, 100, BY_VELOCITY, 0);
        for (size_t k = 0; k < b.count; k += 2)
            for (int axis = 0; axis < 3; axis++)
                b.column[SPHERE_VELOCITY + axis][k] *= sizes[i];
        (void)check_truth(context, &w, &b, "extreme");
        swept_spheres_free(&b);
        world_free(&w);
    }
    carom_context_destroy(context);
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

/* An instance that moves and counts for no query changes no bit; overlaps and closest points know no velocity. */
static void test_at_rest(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    world w = world_make(SEED, 12, 1.5f, 1);
    w.masks[1] = 0;
    carom_scene *resting = world_scene(context, &w);
    w.velocity = test_alloc(w.instances, sizeof *w.velocity);
    carom_scene *zeros = world_scene(context, &w);
    w.velocity[1][1] = 3;
    carom_scene *moving = world_scene(context, &w);
    for (int kind = 0; kind < KINDS; kind++)
        for (carom_accuracy accuracy = CAROM_ACCURACY_FAST; accuracy <= CAROM_ACCURACY_EXACT; accuracy++) {
            swept_spheres b = make_spheres(SEED, 200, kind, 0);
            hits expected = first_hits(&w, carom_scene_mesh(resting), &b, accuracy),
                 got = first_hits(&w, carom_scene_mesh(zeros), &b, accuracy);
            hits_compare(&b, &expected, &got, b.count, -1, "zeros");
            hits_free(&got);
            got = first_hits(&w, carom_scene_mesh(moving), &b, accuracy);
            hits_compare(&b, &expected, &got, b.count, -1, "moves alone");
            hits_free(&got);
            hits_free(&expected);
            swept_spheres_free(&b);
        }
    carom_scene_destroy(resting);
    carom_scene_destroy(zeros);
    carom_scene_destroy(moving);
    world_free(&w);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_truth), cmocka_unit_test(test_cancelled),
                                       SAME_BITS_ON_CPU(check_same), cmocka_unit_test(test_extreme_speeds),
                                       cmocka_unit_test(test_at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
