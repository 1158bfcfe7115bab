/* SPDX-License-Identifier: MIT */
/* Sign rule `robust` on meshes from modelling programs: of each file of Debian's assimp-testmodels that `winding`
 * refuses, the sides of a volume's nodes and of the same places asked one by one, in both modes, against a sum of all
 * solid angles in long double. */
#include "cli/import/import.h"
#include "reference/mesh.h"
#include "tests/support/closest_answers.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/reader_host.h"
#include "tests/support/volumes.h"

#include <ftw.h>
#include <math.h>
#include <unistd.h>

/* Nodes along the longest side; files, of which a share of the full effort takes one in so many; solid angles of a
 * model at full effort, more of which take a part of its nodes. */
enum { EDGE = 24, FILES = 1024, STEP_MOST = 16, ANGLES = 4000000 };
#define MODELS "/usr/share/assimp/models"

/* ---- files ------------------------------------------------------------------------------------------------------- */

typedef struct file_list {
    size_t count;
    char *path[FILES];
} file_list;

static file_list found; /* nftw has no argument for it */

static int note_file(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)at;
    if (type == FTW_F) {
        assert_true(found.count < FILES);
        found.path[found.count++] = strdup(path);
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All files of the package in order. Skips where it is not. */
static void find_files(void)
{
    if (access(MODELS, R_OK) != 0)
        test_skip("models", "no models (Debian: assimp-testmodels)");
    assert_int_equal(nftw(MODELS, note_file, 16, FTW_PHYS), 0);
    qsort(found.path, found.count, sizeof found.path[0], by_name);
}

/* ---- one model --------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t files, meshes, refused, nodes, on_surface, in_doubt, inside, wrong;
} tally;

static carom_status ask_volume(carom_mesh *mesh, const carom_lattice *lattice, carom_sign sign, carom_accuracy accuracy,
                               const volume *v, carom_error *err)
{
    carom_mesh_distance_desc desc = volume_desc(lattice, accuracy);
    const carom_mesh_distance_result out = volume_result(v);
    desc.sign = sign;
    return carom_mesh_distance(mesh, &desc, &out, NULL, err);
}

static int is_refused(carom_mesh *mesh)
{
    const carom_lattice one = {{0, 0, 0}, 1, {1, 1, 1}, {0}};
    volume v = volume_alloc(1, 0);
    carom_error err = {0};
    const carom_status status = ask_volume(mesh, &one, CAROM_SIGN_WINDING, CAROM_ACCURACY_EXACT, &v, &err);
    volume_free(&v);
    if (status != CAROM_OK)
        test_error(status, CAROM_ERROR_INVALID_ARGUMENT, &err, "sign winding needs a closed mesh");
    return status != CAROM_OK;
}

/* Signed distances of the nodes, asked as closest points. */
static void ask_nodes(carom_mesh *mesh, const carom_lattice *lattice, const size_t *node, size_t count, float *distance)
{
    float *xyz = test_alloc(3 * count, sizeof *xyz);
    carom_error err = {0};
    for (size_t i = 0; i < count; i++)
        lattice_node(lattice, node[i], xyz + 3 * i);
    const carom_mesh_closest_desc desc = {
        .batch = {.size = sizeof desc, .count = count}, .center = carom_xyz(xyz), .sign = CAROM_SIGN_ROBUST};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    test_ok("carom_mesh_closest", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    free(xyz);
}

/* Compares the sides of a node: of both volumes and of a closest point. */
static void judge_node(const scene *s, const carom_lattice *lattice, size_t node, const float distance[3],
                       const char *name, tally *sums)
{
    const ref_mesh mesh = oracle_mesh(s);
    float p[3];
    lattice_node(lattice, node, p);
    if (distance[0] == 0 || distance[1] == 0 || distance[2] == 0) {
        sums->on_surface++;
        return;
    }
    const double beyond = fabs((double)ref_mesh_winding(&mesh, p)) - 0.5;
    const int is_inside = distance[0] < 0;
    const int is_one = is_inside == (distance[1] < 0) && is_inside == (distance[2] < 0);
    sums->nodes++;
    sums->inside += (size_t)is_inside;
    sums->in_doubt += fabs(beyond) <= 0x1p-20;
    if (is_one && (fabs(beyond) <= 0x1p-20 || is_inside == (beyond > 0)))
        return;
    if (sums->wrong++ < 10)
        print_message("%s: node %zu at %a %a %a: %g, in fast mode %g, as a closest point %g; the winding number is %g "
                      "more than 1/2\n",
                      name, node, (double)p[0], (double)p[1], (double)p[2], (double)distance[0], (double)distance[1],
                      (double)distance[2], beyond);
}

/* Of a large model a part of the nodes, spread over the volume. */
static void judge_volume(carom_mesh *mesh, const scene *s, const char *name, tally *sums)
{
    const carom_lattice lattice = lattice_around(s, EDGE);
    const size_t nodes = lattice_nodes(&lattice), wanted = test_effort(ANGLES) / s->triangle_count + 1;
    const size_t count = wanted < nodes ? wanted : nodes;
    size_t *node = test_alloc(count, sizeof *node);
    float *closest = test_alloc(count, sizeof *closest);
    volume v[2];
    carom_error err = {0};
    for (int fast = 0; fast < 2; fast++) {
        v[fast] = volume_alloc(nodes, 0xa5);
        test_ok(name,
                ask_volume(mesh, &lattice, CAROM_SIGN_ROBUST, fast ? CAROM_ACCURACY_FAST : CAROM_ACCURACY_EXACT,
                           &v[fast], &err),
                &err);
    }
    for (size_t i = 0; i < count; i++)
        node[i] = (size_t)((double)i * (double)nodes / (double)count);
    ask_nodes(mesh, &lattice, node, count, closest);
    for (size_t i = 0; i < count; i++)
        judge_node(s, &lattice, node[i],
                   (const float[]){volume_distance(&v[0], node[i]), volume_distance(&v[1], node[i]), closest[i]}, name,
                   sums);
    volume_free(&v[0]);
    volume_free(&v[1]);
    free(closest);
    free(node);
}

/* A file without triangles, or with corners that are not finite, is no mesh. */
static void check_file(const char *path, tally *sums)
{
    mesh_data data;
    carom_mesh *mesh = NULL;
    carom_error err;
    const char *name = path + strlen(MODELS) + 1;
    sums->files++;
    if (mesh_import(path, &data) != EXIT_DONE) /* starts a process, so there are no threads yet */
        return;
    scene s = {data.xyz, data.indices, (size_t)data.vertex_count, (size_t)data.triangle_count, data.masks};
    carom_context *context = test_context();
    const carom_mesh_desc desc = scene_desc(&s);
    if (carom_mesh_create(context, &desc, &mesh, &err) == CAROM_OK) {
        sums->meshes++;
        if (is_refused(mesh)) {
            const tally before = *sums;
            sums->refused++;
            judge_volume(mesh, &s, name, sums);
            print_message("%-60s %6zu triangles, %5zu nodes, %5zu inside, %zu within 2^-20, %zu wrong\n", name,
                          s.triangle_count, sums->nodes - before.nodes, sums->inside - before.inside,
                          sums->in_doubt - before.in_doubt, sums->wrong - before.wrong);
        }
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    free(data.parts);
    scene_free(&s);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void test_files(void **state)
{
    tally sums = {0};
    const size_t share = test_effort(100), step = share >= 100 ? 1 : 100 / share < STEP_MOST ? 100 / share : STEP_MOST;
    (void)state;
    find_files();
    reader_host_prints = 0;
    for (size_t i = 0; i < found.count; i++) {
        if (i % step == 0)
            check_file(found.path[i], &sums);
        free(found.path[i]);
    }
    print_message(
        "%zu of %zu files: %zu meshes, %zu refused by winding, %zu nodes (%zu inside, %zu more on the surface), "
        "%zu within 2^-20, %zu wrong\n",
        sums.files, found.count, sums.meshes, sums.refused, sums.nodes, sums.inside, sums.on_surface, sums.in_doubt,
        sums.wrong);
    assert_true(sums.refused > 0 && sums.inside > 0);
    assert_int_equal(sums.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
