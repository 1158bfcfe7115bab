/* SPDX-License-Identifier: MIT */
#include "closest_answers.h"

#include <float.h>
#include <math.h>

#include "reference/judge_mesh.h"

static const struct {
    const char *name;
    size_t size;
} fields[NEAR_FIELDS] = {{"triangle", 4}, {"distance", 4}, {"x", 4}, {"y", 4}, {"z", 4}, {"feature", 1}, {"depth", 4}};

closest_results closest_results_alloc(size_t count, unsigned char fill)
{
    closest_results n = {.count = count};
    for (int f = 0; f < NEAR_FIELDS; f++)
        n.field[f] = guarded_alloc(count * fields[f].size, 0, fill);
    return n;
}

void closest_results_free(closest_results *n)
{
    for (int f = 0; f < NEAR_FIELDS; f++)
        guarded_free(&n->field[f]);
}

static void *place_of(const closest_results *n, int field, size_t first)
{
    return n->field[field].data + first * fields[field].size;
}

carom_mesh_closest_result closest_results_result(const closest_results *n, size_t first)
{
    return (carom_mesh_closest_result){
        .size = sizeof(carom_mesh_closest_result),
        .triangle = place_of(n, NEAR_TRIANGLE, first),
        .distance = place_of(n, NEAR_DISTANCE, first),
        .point = {place_of(n, NEAR_X, first), place_of(n, NEAR_Y, first), place_of(n, NEAR_Z, first), 4},
        .feature = place_of(n, NEAR_FEATURE, first),
        .depth = place_of(n, NEAR_DEPTH, first)};
}

int32_t near_triangle(const closest_results *n, size_t i)
{
    int32_t value;
    memcpy(&value, place_of(n, NEAR_TRIANGLE, i), sizeof value);
    return value;
}

float near_float(const closest_results *n, int field, size_t i)
{
    float value;
    memcpy(&value, place_of(n, field, i), sizeof value);
    return value;
}

void closest_results_print(const swept_spheres *b, const closest_results *n, size_t i, const char *label)
{
    print_error("%s: centre %a %a %a radius %a: triangle %d, distance %a, depth %a, point %a %a %a, feature %d\n",
                label, (double)b->column[0][i], (double)b->column[1][i], (double)b->column[2][i],
                (double)b->column[3][i], near_triangle(n, i), (double)near_float(n, NEAR_DISTANCE, i),
                (double)near_float(n, NEAR_DEPTH, i), (double)near_float(n, NEAR_X, i),
                (double)near_float(n, NEAR_Y, i), (double)near_float(n, NEAR_Z, i), n->field[NEAR_FEATURE].data[i]);
}

void closest_results_compare(const swept_spheres *b, const closest_results *expected, const closest_results *got,
                             size_t count, int mask, const char *label)
{
    for (int f = 0; f < NEAR_FIELDS; f++) {
        guarded_check(&got->field[f], label);
        if (!(mask >> f & 1) || memcmp(place_of(expected, f, 0), place_of(got, f, 0), count * fields[f].size) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            if (memcmp(place_of(expected, f, i), place_of(got, f, i), fields[f].size) != 0) {
                closest_results_print(b, expected, i, "expected");
                closest_results_print(b, got, i, "got");
                fail_msg("%s: query %zu differs in %s", label, i, fields[f].name);
            }
    }
}

void ask_part(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, size_t first, size_t count,
              const closest_results *out, uint64_t *integers)
{
    carom_mesh_closest_desc desc = swept_spheres_closest(b, first, count);
    const carom_mesh_closest_result result = closest_results_result(out, first);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_closest", carom_mesh_closest(mesh, &desc, &result, &stats, &err), &err);
    assert_int_equal(stats.on_cpu + stats.on_device, count);
    assert_int_equal(stats.by_proof + stats.by_integers, accuracy == CAROM_ACCURACY_EXACT ? count : 0);
    if (integers != NULL)
        *integers += stats.by_integers;
}

closest_results ask_scene(carom_context *context, const scene *s, const swept_spheres *b, carom_accuracy accuracy,
                          uint64_t *integers)
{
    closest_results n = closest_results_alloc(b->count, 0xa5);
    carom_mesh *mesh = scene_mesh(context, s);
    ask_part(mesh, b, accuracy, 0, b->count, &n, integers);
    carom_mesh_destroy(mesh);
    return n;
}

/* ---- true answers ------------------------------------------------------------------------------------------------ */

ref_mesh_closest_answer true_closest(const scene *s, const swept_spheres *b, size_t i)
{
    const ref_mesh mesh = {s->vertices, s->indices, s->triangle_count, s->masks};
    ref_mesh_closest_answer truth;
    ref_sweep_case c;
    swept_spheres_case(b, i, s, 0, &c);
    const char *wrong = ref_mesh_closest(&mesh, &c, b->mask != NULL ? b->mask[i] : UINT32_MAX,
                                         b->max_distance != NULL ? b->max_distance[i] : HUGE_VALF, &truth);
    if (wrong != NULL)
        fail_msg("the reference: %s", wrong);
    return truth;
}

/* radius - distance in binary32. Without a triangle there is no depth. */
static float depth_of(float radius, const ref_mesh_closest_answer *truth, float distance)
{
    return truth->triangle < 0 ? -HUGE_VALF : fabsf(radius) - distance;
}

static int is_nothing(const closest_results *n, size_t i)
{
    int nothing = near_triangle(n, i) == -1 && near_float(n, NEAR_DISTANCE, i) >= HUGE_VALF &&
                  near_float(n, NEAR_DEPTH, i) <= -HUGE_VALF && n->field[NEAR_FEATURE].data[i] == REF_NONE;
    for (int f = NEAR_X; f <= NEAR_Z; f++)
        nothing = nothing && bits_of_float(near_float(n, f, i)) == 0;
    return nothing;
}

const char *judge_exact(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                        const closest_results *n)
{
    const ref_given_closest given = {
        .triangle = near_triangle(n, i),
        .feature = n->field[NEAR_FEATURE].data[i],
        .distance = near_float(n, NEAR_DISTANCE, i),
        .depth = near_float(n, NEAR_DEPTH, i),
        .point = {near_float(n, NEAR_X, i), near_float(n, NEAR_Y, i), near_float(n, NEAR_Z, i)}};
    ref_sweep_case c;
    swept_spheres_case(b, i, s, truth->triangle < 0 ? 0 : (size_t)truth->triangle, &c);
    return ref_judge_closest(&c, truth, &given);
}

static double largest_way(const ref_sweep_case *c)
{
    double most = 0.0;
    for (int v = 0; v < 3; v++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs((double)c->p[v][k] - (double)c->center[k]));
    return most;
}

/* Error of a point by rounding to the caller's coordinates. */
static double coordinate_unit(const ref_sweep_case *c)
{
    double most = 0.0;
    for (int v = 0; v < 3; v++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs((double)c->p[v][k]));
    return most;
}

double error_fast(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                  const closest_results *n)
{
    const int32_t triangle = near_triangle(n, i);
    const float distance = near_float(n, NEAR_DISTANCE, i);
    ref_closest_answer own, on;
    ref_sweep_case c;
    double scale, worst, gap = 0.0, least = 0x1p-125; /* half a denormal */
    if (truth->triangle < 0)
        return is_nothing(n, i) ? 0.0 : HUGE_VAL;
    if (triangle < 0 || triangle >= (int32_t)s->triangle_count || !(distance >= 0.0f) ||
        bits_of_float(near_float(n, NEAR_DEPTH, i)) !=
            bits_of_float(depth_of(b->column[SPHERE_RADIUS][i], truth, distance)))
        return HUGE_VAL;
    swept_spheres_case(b, i, s, (size_t)truth->triangle, &c);
    scale = largest_way(&c);
    swept_spheres_case(b, i, s, (size_t)triangle, &c);
    scale = fmax(scale, largest_way(&c)) + least;
    ref_closest(&c, &own);
    if (isinf(distance))
        return own.distance_near * (1.0 + 0x1p-20) >= (double)FLT_MAX ? 0.0 : HUGE_VAL;
    worst = fmax(fabs((double)distance - own.distance_near), own.distance_near - truth->closest.distance_near) / scale;
    scale += coordinate_unit(&c);
    for (int k = 0; k < 3; k++) {
        const double way = (double)near_float(n, NEAR_X + k, i) - (double)c.center[k];
        gap += way * way;
        c.center[k] = near_float(n, NEAR_X + k, i);
    }
    ref_closest(&c, &on);
    worst = fmax(worst, fmax(fabs(sqrt(gap) - own.distance_near), on.distance_near) / scale);
    if (n->field[NEAR_FEATURE].data[i] < REF_V0 || n->field[NEAR_FEATURE].data[i] > REF_FACE)
        return HUGE_VAL;
    return worst * 0x1p24;
}
