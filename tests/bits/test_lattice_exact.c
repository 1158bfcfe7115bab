/* SPDX-License-Identifier: MIT */
/* Volumes and drop maps against the exact reference alone: of every node the distance, its triangle and feature, both
 * signs and the clearance; of every column the height. The row `volumes` of tests/rows/table.txt asks millions of
 * nodes; effort 100 asks some thousand. */
#include "reference/mesh.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/sign_scenes.h"

#include <math.h>
#include <stdio.h>

/* What the reference says of a node. */
typedef struct node_truth {
    ref_mesh_closest_answer closest;
    ref_mesh_ray_answer ray;
} node_truth;

typedef struct wrong_counts {
    size_t nodes, distances, triangles, features, signs, cubes, clearances, columns, heights;
} wrong_counts;

static node_truth truth_of(const ref_mesh *mesh, const float p[3])
{
    const ref_sweep_case ball = {.center = {p[0], p[1], p[2]}};
    node_truth truth;
    const char *wrong = ref_mesh_closest(mesh, &ball, UINT32_MAX, INFINITY, &truth.closest);
    if (wrong != NULL)
        fail_msg("the reference fails: %s", wrong);
    ref_mesh_ray(mesh, p, &truth.ray);
    return truth;
}

static int is_sign_wrong(const node_truth *truth, carom_sign sign, float distance)
{
    const int inside = sign == CAROM_SIGN_PARITY ? truth->ray.crossings % 2 != 0 : truth->ray.sum != 0;
    return (signbit(distance) != 0) != (inside && truth->closest.closest.distance != 0.0f);
}

/* Volumes of one lattice: the same magnitudes with either sign. */
enum { VOLUMES = 4 }; /* exact and fast, parity and winding */
static carom_sign sign_of(int which)
{
    return which % 2 == 0 ? CAROM_SIGN_PARITY : CAROM_SIGN_WINDING;
}

static void count_node(const node_truth *truth, const volume volumes[VOLUMES], size_t i, wrong_counts *wrong)
{
    const carom_mesh_distance_result exact = volume_result(&volumes[0]);
    wrong->nodes++;
    wrong->distances += bits_of_float(fabsf(exact.distance[i])) != bits_of_float(truth->closest.closest.distance);
    wrong->triangles += exact.triangle[i] != truth->closest.triangle;
    wrong->features += exact.feature[i] != truth->closest.closest.feature;
    for (int which = 0; which < VOLUMES; which++) {
        const float distance = volume_distance(&volumes[which], i);
        /* Fast mode may round a distance to 0, or a 0 away from it. */
        if (which < 2 || (distance != 0.0f && truth->closest.closest.distance != 0.0f))
            wrong->signs += is_sign_wrong(truth, sign_of(which), distance);
    }
}

static void count_distances(carom_mesh *mesh, const ref_mesh *reference, const carom_lattice *lattice,
                            wrong_counts *wrong)
{
    volume volumes[VOLUMES];
    for (int which = 0; which < VOLUMES; which++) {
        carom_mesh_distance_desc desc = volume_desc(lattice, which < 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.sign = sign_of(which);
        desc.allow_open = 1;
        volumes[which] = volume_ask(mesh, &desc, NULL);
    }
    volume_compare(lattice, &volumes[0], 0, &volumes[1], ~(1 << VOLUME_DISTANCE), "signs change other fields");
    for (size_t i = 0; i < volumes[0].count; i++) {
        float p[3];
        lattice_node(lattice, i, p);
        const node_truth truth = truth_of(reference, p);
        count_node(&truth, volumes, i, wrong);
    }
    for (int which = 0; which < VOLUMES; which++)
        volume_free(&volumes[which]);
}

/* A lattice that would leave gaps between cubes has none. */
static void count_clearances(carom_mesh *mesh, const ref_mesh *reference, const carom_lattice *lattice,
                             wrong_counts *wrong)
{
    const carom_mesh_clearance_desc desc = {.batch = {.size = sizeof desc, .count = lattice->dims[2]},
                                            .lattice = *lattice,
                                            .radius = (float)(2.5 * lattice->spacing)};
    const double half = ref_half_diagonal(lattice->spacing);
    const size_t count = lattice_nodes(lattice);
    uint8_t *clearance = test_alloc(count, 1);
    const carom_mesh_clearance_result out = {.size = sizeof out, .clearance = clearance};
    carom_error err;
    const carom_status status = carom_mesh_clearance(mesh, &desc, &out, NULL, &err);
    if (status != CAROM_OK)
        test_error(status, CAROM_ERROR_INVALID_ARGUMENT, &err, "is rounded by more");
    for (size_t i = 0; i < count && status == CAROM_OK; i++) {
        float p[3];
        lattice_node(lattice, i, p);
        wrong->cubes++;
        wrong->clearances += clearance[i] != ref_mesh_clearance(reference, p, desc.radius, half);
    }
    free(clearance);
}

/* In a long run of finer columns than the lattice has. */
static void count_heights(carom_mesh *mesh, const ref_mesh *reference, const carom_lattice *lattice,
                          wrong_counts *wrong)
{
    const uint64_t finer = 1 + (test_effort(1) > 100 ? 2 : 0);
    const carom_mesh_drop_desc desc = {
        .batch = {.size = sizeof desc, .count = finer * lattice->dims[1], .accuracy = CAROM_ACCURACY_EXACT},
        .lattice = {{lattice->origin[0], lattice->origin[1], 0.0},
                    lattice->spacing / (double)finer,
                    {finer * lattice->dims[0], finer * lattice->dims[1], 1},
                    {0}},
        .radius = (float)(1.5 * lattice->spacing)};
    const size_t count = lattice_nodes(&desc.lattice);
    float *height = test_alloc(count, sizeof *height);
    const carom_mesh_drop_result out = {.size = sizeof out, .height = height};
    carom_error err;
    test_ok("a drop map", carom_mesh_drop(mesh, &desc, &out, NULL, &err), &err);
    for (size_t i = 0; i < count; i++) {
        float p[3];
        lattice_node(&desc.lattice, i, p);
        const ref_mesh_drop_case at = {p[0], p[1], desc.radius, height[i]};
        wrong->columns++;
        wrong->heights += ref_mesh_drop(reference, &at) != NULL;
    }
    free(height);
}

static wrong_counts count_lattice(carom_context *context, const scene *s, const carom_lattice *lattice)
{
    const ref_mesh reference = oracle_mesh(s);
    carom_mesh *mesh = scene_mesh(context, s);
    wrong_counts wrong = {0};
    count_distances(mesh, &reference, lattice, &wrong);
    count_clearances(mesh, &reference, lattice, &wrong);
    count_heights(mesh, &reference, lattice, &wrong);
    carom_mesh_destroy(mesh);
    return wrong;
}

static void test_counts(void **state)
{
    carom_context *context = test_context();
    const uint64_t n = 7 + (uint64_t)cbrt((double)test_effort(40));
    size_t nodes = 0, cubes = 0, columns = 0;
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++) {
        scene s = sign_scenes[i].make();
        for (size_t which = 0; which < SIGN_LATTICES; which++) {
            const carom_lattice lattice = sign_lattice(&s, which, n);
            const wrong_counts w = count_lattice(context, &s, &lattice);
            nodes += w.nodes;
            cubes += w.cubes;
            columns += w.columns;
            print_message("%s, lattice %zu: wrong are of %zu nodes %zu distances, %zu triangles, %zu features, %zu "
                          "signs; of %zu cubes %zu; of %zu columns %zu\n",
                          sign_scenes[i].name, which, w.nodes, w.distances, w.triangles, w.features, w.signs, w.cubes,
                          w.clearances, w.columns, w.heights);
            fflush(stdout);
            assert_int_equal(w.distances + w.triangles + w.features + w.signs + w.clearances + w.heights, 0);
        }
        scene_free(&s);
    }
    print_message("%zu nodes, %zu cubes and %zu columns in all, none of them wrong\n", nodes, cubes, columns);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
