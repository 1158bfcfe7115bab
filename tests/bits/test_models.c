/* SPDX-License-Identifier: MIT */
/* Meshes from modelling programs, as the command reads them: exact mode against the reference, which tries every
 * triangle, with spheres aimed at corners, edges and faces that triangles share. */
#include "cli/import/import.h"
#include "tests/support/closest_answers.h"
#include "tests/support/exact_scenes.h"
#include "tests/support/list_oracle.h"
#include "tests/support/reader_host.h"

#include <math.h>
#include <unistd.h>

enum { SEED = 261 };

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* `size`, a power of two, is about the model's; so many spheres, for what the reference takes grows with the triangles;
 * with one alone also in fewer places. */
typedef struct model {
    const char *file;
    size_t triangles, spheres;
    double size;
} model;

static const model models[] = {{"OFF/Wuson.off", 3732, 5, 2.0},
                               {"PLY/Wuson.ply", 3732, 5, 2.0},
                               {"OBJ/spider.obj", 1368, 16, 128.0},
                               {"STL/Spider_binary.stl", 1368, 16, 4.0}};
/* These by assimp. */
static const model imported[] = {{"COB/dwarf.cob", 1896, 12, 64.0}, {"BLEND/SuzanneSubdiv_252.blend", 251904, 1, 2.0}};

/* Skips where the package is not. */
static scene load(const model *m)
{
    char path[256];
    mesh_data data;
    snprintf(path, sizeof path, "/usr/share/assimp/models/%s", m->file);
    if (access(path, R_OK) != 0)
        test_skip("models", "no models (Debian: assimp-testmodels)");
    assert_int_equal(mesh_import(path, &data), EXIT_DONE);
    assert_int_equal(data.triangle_count, m->triangles);
    free(data.parts);
    return (scene){data.xyz, data.indices, (size_t)data.vertex_count, (size_t)data.triangle_count, NULL};
}

/* Onto a grid of which a power of two fits in the model: so sums and middles of corners are numbers. */
static void snap(scene *s, double size)
{
    const float steps = (float)(1024.0 / size);
    for (size_t i = 0; i < 3 * s->vertex_count; i++)
        s->vertices[i] = rintf(s->vertices[i] * steps) / steps;
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void judge_closest(carom_mesh *mesh, const scene *s, const swept_spheres *b, const char *name)
{
    closest_results n = closest_results_alloc(b->count, 0xa5);
    ask_part(mesh, b, CAROM_ACCURACY_EXACT, 0, b->count, &n, NULL);
    for (size_t i = 0; i < b->count; i++) {
        const ref_mesh_closest_answer truth = true_closest(s, b, i);
        const char *what = judge_exact(s, b, i, &truth, &n);
        if (what == NULL)
            continue;
        closest_results_print(b, &n, i, "answer");
        fail_msg("%s, sphere %zu: %s; the closest is triangle %d", name, i, what, truth.triangle);
    }
    closest_results_free(&n);
}

static void judge_model(carom_context *context, const scene *s, const swept_spheres *b, const char *name)
{
    carom_mesh *mesh = scene_mesh(context, s);
    const list_request *hits_of = &list_requests[3], *overlaps_of = &list_requests[5];
    hit_list all = list_whole(mesh, hits_of, b, 0, b->count), rest = list_whole(mesh, overlaps_of, b, 0, b->count);
    uint8_t *any = any_of(mesh, hits_of, b, 0, b->count), *touches = any_of(mesh, overlaps_of, b, 0, b->count);
    print_message("%-24s %6zu triangles, %4zu spheres, %6llu hits, %6llu overlaps\n", name, s->triangle_count, b->count,
                  (unsigned long long)all.total, (unsigned long long)rest.total);
    list_check_first(mesh, CAROM_ACCURACY_EXACT, b, &all, name);
    for (size_t i = 0; i < b->count; i++) {
        list_judge_hits(s, b, i, &all, any, name);
        list_judge_overlaps(s, b, i, &rest, touches, name);
    }
    judge_closest(mesh, s, b, name);
    free(any);
    free(touches);
    list_free(&all);
    list_free(&rest);
    carom_mesh_destroy(mesh);
}

/* As it is, on a grid, and in other places and sizes. */
static void check_model(const model *m)
{
    static const struct {
        const char *name;
        int snaps, exponent;
        float offset;
    } places[] = {{"as it is", 0, 0, 0.0f},
                  {"on a grid", 1, 0, 0.0f},
                  {"far", 0, 0, 1024.0f},
                  {"on a grid, small", 1, -60, 0.0f},
                  {"large, far", 0, 40, 64.0f}};
    carom_context *context = NULL;
    for (size_t p = 0; p < (m->spheres > 1 ? COUNT_OF(places) : 2); p++) {
        scene s = load(m); /* starts a process, so there are no threads yet */
        char name[64];
        if (places[p].snaps)
            snap(&s, m->size);
        scene_place(&s, places[p].exponent, places[p].offset * (float)m->size);
        swept_spheres b =
            swept_spheres_aimed(SEED + p, &s, m->size * ref_power_of_two(places[p].exponent), test_effort(m->spheres));
        snprintf(name, sizeof name, "%s, %s", strchr(m->file, '/') + 1, places[p].name);
        context = test_context();
        judge_model(context, &s, &b, name);
        carom_context_destroy(context);
        swept_spheres_free(&b);
        scene_free(&s);
    }
}

static void test_model(void **state)
{
    check_model(*state);
}

static void test_imported(void **state)
{
#ifdef CAROM_HAVE_ASSIMP
    check_model(*state);
#else
    (void)state;
    test_skip("assimp", "built without assimp (Debian: libassimp-dev)");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"Wuson", test_model, NULL, NULL, (void *)(uintptr_t)&models[0]},
        {"Wuson, PLY", test_model, NULL, NULL, (void *)(uintptr_t)&models[1]},
        {"spider", test_model, NULL, NULL, (void *)(uintptr_t)&models[2]},
        {"spider, STL", test_model, NULL, NULL, (void *)(uintptr_t)&models[3]},
        {"dwarf", test_imported, NULL, NULL, (void *)(uintptr_t)&imported[0]},
        {"Suzanne", test_imported, NULL, NULL, (void *)(uintptr_t)&imported[1]},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
