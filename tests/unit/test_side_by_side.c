/* SPDX-License-Identifier: MIT */
/* Several threads at the same time, each with a context and a mesh of its own. They create meshes, run queries, move
 * the vertices and run the queries again, on the CPU or all on one device. The bits are those of a single thread on the
 * CPU. A cmocka check that fails in such a thread ends the program, which counts as a failure. */
#include "tests/support/closest_answers.h"
#include "tests/support/lists.h"

#include <pthread.h>

/* Enough spheres for several slices of each thread. */
enum { SEED = 131, THREADS = 4, SIDES = 40, SPHERE_COUNT = 2000, POSES = 2, FIRST = 0, ALL, ANY, CLOSEST, REQUESTS };

static const list_request all_hits = {CAROM_ACCURACY_FAST, 0, CAROM_HITS_ALL};

typedef struct pose {
    scene s;
    hits first;
    hit_list all;
    uint8_t *any;
    closest_results closest;
} pose;

static struct {
    swept_spheres b;
    pose pose[POSES];
} common;

static int open_common(void **state)
{
    carom_context *alone = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_sphere(SIDES);
    (void)state;
    s.masks = random_masks(SEED, s.triangle_count);
    common.b = swept_spheres_mixed(SEED, SPHERE_COUNT);
    common.b.mask = random_masks(SEED + 1, SPHERE_COUNT);
    for (size_t k = 0; k < POSES; k++) {
        pose *p = &common.pose[k];
        p->s = scene_copy(&s);
        for (size_t i = 0; i < 3 * s.vertex_count; i++)
            p->s.vertices[i] *= k == 0 ? 1.0f : i % 3 == 0 ? 0.5f : 0.8f;
        carom_mesh *mesh = scene_mesh(alone, &p->s);
        p->first = hits_alloc(SPHERE_COUNT, 0xa5);
        sweep_first(mesh, &common.b, &p->first);
        p->all = list_whole(mesh, &all_hits, &common.b, 0, SPHERE_COUNT);
        p->any = any_of(mesh, &all_hits, &common.b, 0, SPHERE_COUNT);
        p->closest = closest_results_alloc(SPHERE_COUNT, 0xa5);
        ask_part(mesh, &common.b, CAROM_ACCURACY_FAST, 0, SPHERE_COUNT, &p->closest, NULL);
        carom_mesh_destroy(mesh);
    }
    scene_free(&s);
    carom_context_destroy(alone);
    return 0;
}

static int close_common(void **state)
{
    (void)state;
    swept_spheres_free(&common.b);
    for (size_t k = 0; k < POSES; k++) {
        pose *p = &common.pose[k];
        scene_free(&p->s);
        hits_free(&p->first);
        list_free(&p->all);
        free(p->any);
        closest_results_free(&p->closest);
    }
    return 0;
}

/* ---- one of the threads ------------------------------------------------------------------------------------------ */

typedef struct user {
    pthread_t thread;
    int number, requests_right;
} user;

static void check_request(carom_mesh *mesh, const pose *p, int request)
{
    const swept_spheres *b = &common.b;
    if (request == FIRST) {
        hits h = hits_alloc(SPHERE_COUNT, 0x5a);
        sweep_first(mesh, b, &h);
        hits_compare(b, &p->first, &h, SPHERE_COUNT, -1, "side by side");
        hits_free(&h);
    } else if (request == ALL) {
        hit_list l = list_whole(mesh, &all_hits, b, 0, SPHERE_COUNT);
        list_compare(b, &p->all, &l, LIST_HITS, "side by side");
        list_free(&l);
    } else if (request == ANY) {
        uint8_t *any = any_of(mesh, &all_hits, b, 0, SPHERE_COUNT);
        assert_memory_equal(p->any, any, SPHERE_COUNT);
        free(any);
    } else {
        closest_results n = closest_results_alloc(SPHERE_COUNT, 0x5a);
        ask_part(mesh, b, CAROM_ACCURACY_FAST, 0, SPHERE_COUNT, &n, NULL);
        closest_results_compare(b, &p->closest, &n, SPHERE_COUNT, -1, "side by side");
        closest_results_free(&n);
    }
}

/* Runs all requests. Each thread begins with another request. */
static void check_pose(carom_mesh *mesh, user *self, int k)
{
    for (int i = 0; i < REQUESTS; i++) {
        check_request(mesh, &common.pose[k], (self->number + i) % REQUESTS);
        self->requests_right++;
    }
}

static void move(carom_mesh *mesh, int k, carom_mesh_follow how)
{
    const carom_points vertices = scene_desc(&common.pose[k].s).vertices;
    carom_error err = {0};
    test_ok("carom_mesh_update", carom_mesh_update(mesh, &vertices, how, &err), &err);
}

static void *use(void *argument)
{
    user *self = argument;
    carom_context *context = test_on_device() ? test_device(0, 0) : test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &common.pose[0].s);
    check_pose(mesh, self, 0);
    move(mesh, 1, CAROM_MESH_REFIT);
    check_pose(mesh, self, 1);
    move(mesh, 0, CAROM_MESH_REBUILD);
    check_pose(mesh, self, 0);
    carom_context_destroy(context);
    carom_mesh_destroy(mesh);
    return NULL;
}

static void meshes_side_by_side(void **state)
{
    user users[THREADS];
    (void)state;
    if (test_on_device())
        carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    for (int i = 0; i < THREADS; i++) {
        users[i] = (user){.number = i};
        assert_int_equal(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(users[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(users[i].requests_right, 3 * REQUESTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(meshes_side_by_side)};
    return cmocka_run_group_tests_name("side by side", tests, open_common, close_common);
}
