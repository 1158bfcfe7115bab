/* SPDX-License-Identifier: MIT */
/* Contacts that are ended while the mesh makes the tables that they need: nothing is answered, and later calls find the
 * tables that they would have found. Joining across T-junctions and cracks ends, too, and so do the contacts of one
 * sphere with a scene. */
#include "tests/support/contact_answers.h"
#include "tests/support/exact_scenes.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { SEED = 29, COUNT = 64, TRIANGLES = 300000, REPORTS = 6 };

typedef struct ending {
    int reports, at; /* the report that ends the call */
} ending;

static int end_at(void *user, uint64_t done, uint64_t count)
{
    ending *e = user;
    (void)done, (void)count;
    return ++e->reports == e->at;
}

/* Asks for contacts, which the report number `at` ends; 0: none does. Then nothing is answered, or, on a busy machine,
 * what the message says. Returns the number of reports. */
static int ask_until(carom_mesh *mesh, const swept_spheres *b, const contact_call *call, int at, carom_status *status)
{
    contact_answers got = contact_answers_alloc(b->count, 8 * (size_t)COUNT);
    carom_list_totals totals = {.total = 1, .stored = 1};
    carom_error err;
    ending e = {.at = at};
    const carom_contact_list list = contact_answers_list(&got, 8 * (size_t)COUNT, &totals);
    carom_mesh_contacts_desc desc = swept_spheres_contacts(b, call);
    carom_stats stats = {.size = sizeof stats};
    desc.batch.progress = (carom_progress){end_at, &e};
    *status = carom_mesh_contacts(mesh, &desc, &list, &stats, &err);
    if (*status == CAROM_ERROR_CANCELLED) {
        unsigned long long answered;
        assert_int_equal(sscanf(err.message, "cancelled at query %llu ", &answered), 1);
        assert_int_equal(stats.on_cpu, answered);
        assert_int_equal(totals.complete, answered);
        assert_true(answered > 0 || totals.stored == 0);
    } else
        assert_int_equal(*status, CAROM_OK);
    contact_answers_free(&got);
    return e.reports;
}

/* Ends calls at their first, second, ... report. The call may have ended before, on a fast machine: that is no error.
 */
static int end_calls(carom_mesh *mesh, const swept_spheres *b, const contact_call *call)
{
    int ended = 0;
    for (int at = 1; at <= REPORTS; at++) {
        carom_status status;
        (void)ask_until(mesh, b, call, at, &status);
        ended += status == CAROM_ERROR_CANCELLED;
    }
    return ended;
}

static void compare(const scene *s, carom_mesh *mesh, const swept_spheres *b, const contact_call *call,
                    const char *what)
{
    carom_context *context = test_context();
    carom_mesh *fresh = scene_mesh(context, s);
    contact_answers expected = ask_contacts(fresh, b, call), got = ask_contacts(mesh, b, call);
    assert_true(expected.count > COUNT / 10);
    contact_answers_compare(b, &expected, &got, what);
    contact_answers_free(&expected);
    contact_answers_free(&got);
    carom_mesh_destroy(fresh);
    carom_context_destroy(context);
}

/* First of a mesh that has no tables, then of one whose vertices have moved. */
static void test_tables_unfinished(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[1].make(TRIANGLES);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, COUNT);
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .margin = 0.125f};
    carom_error err;
    int ended = end_calls(mesh, &b, &call);
    compare(&s, mesh, &b, &call, "after calls that were ended");
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] *= 0.75f;
    const carom_points moved = carom_xyz(s.vertices);
    assert_int_equal(carom_mesh_update(mesh, &moved, CAROM_MESH_REFIT, &err), CAROM_OK);
    ended += end_calls(mesh, &b, &call);
    compare(&s, mesh, &b, &call, "after a move and calls that were ended");
    print_message("%d calls were ended\n", ended);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Between two reports lie 50 ms, and little more of CPU time, however busy the machine is: so the CPU time of a call
 * that is not ended says how many reports there are at least. Returns that number. */
static int check_reports(carom_mesh *mesh, const swept_spheres *b, const contact_call *call)
{
    const double most_between = 0.15; /* seconds of CPU time */
    carom_status status;
    const clock_t start = clock();
    const int reports = ask_until(mesh, b, call, 0, &status);
    const int fewest = (int)((double)(clock() - start) / CLOCKS_PER_SEC / most_between);
    assert_int_equal(status, CAROM_OK);
    print_message("%d reports, at least %d expected\n", reports, fewest);
    assert_true(reports >= fewest);
    return fewest;
}

/* A floor with waves: most of its edges are bent, so that nothing is joined across them, and are all looked at, which
 * takes many times as long as the rest. */
static void test_junctions_unfinished(void **state)
{
    static const double flat = 0.5;
    enum { ACROSS = 400 };
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_floor(ACROSS);
    for (size_t v = 0; v < s.vertex_count; v++) {
        float *p = &s.vertices[3 * v];
        p[2] = 0.3f * sinf(0.15f * ACROSS * p[0]) * cosf(0.1f * ACROSS * p[1]);
    }
    carom_mesh *mesh = scene_mesh(context, &s), *other = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, COUNT);
    contact_call call = {.margin = 0.01f, .flat = &flat};
    carom_status status;
    (void)ask_until(mesh, &b, &call, 0, &status);
    (void)ask_until(other, &b, &call, 0, &status); /* all tables but the joins */
    call.merge_within = 1e-5f;
    const int fewest = check_reports(other, &b, &call);
    for (int at = fewest > 3 ? fewest - 2 : 1; at <= fewest; at++) {
        assert_int_equal(ask_until(mesh, &b, &call, at, &status), at);
        assert_int_equal(status, CAROM_ERROR_CANCELLED);
    }
    compare(&s, mesh, &b, &call, "after joins that were ended");
    swept_spheres_free(&b);
    scene_free(&s);
    carom_mesh_destroy(other);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* One sphere among thousands of contacts with two instances: its triangles become a mesh, and contacts are merged one
 * by one. */
static void test_scene_unfinished(void **state)
{
    enum { ACROSS = 80 };
    static const float maps[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                      {0.8f, -0.6f, 0, 0, 0.6f, 0.8f, 0, 0, 0, 0, 1, 0.01f}};
    static const uint32_t first[2];
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_floor(ACROSS);
    for (size_t v = 0; v < s.vertex_count; v++) /* no two neighbours are as high */
        s.vertices[3 * v + 2] = (float)(v * 2654435761u % 1021) * 0x1p-16f;
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_alloc(1);
    b.column[2][0] = 20;
    b.column[SPHERE_RADIUS][0] = 21;
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = &mesh,
                                   .mesh_count = 1,
                                   .mesh = carom_uints_of(first),
                                   .instance_count = 2,
                                   .pose = {.size = sizeof desc.pose, .map = maps[0]}};
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .merge_within = 1e-4f};
    carom_scene *made;
    carom_status status;
    carom_error err;
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    (void)ask_until(carom_scene_mesh(made), &b, &(contact_call){.accuracy = CAROM_ACCURACY_FAST}, 0,
                    &status); /* tables */
    const int fewest = check_reports(carom_scene_mesh(made), &b, &call);
    for (int at = 1; at <= fewest; at += 1 + fewest / 8) {
        assert_int_equal(ask_until(carom_scene_mesh(made), &b, &call, at, &status), at);
        assert_int_equal(status, CAROM_ERROR_CANCELLED);
    }
    swept_spheres_free(&b);
    scene_free(&s);
    carom_scene_destroy(made);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables_unfinished),
                                       cmocka_unit_test(test_junctions_unfinished),
                                       cmocka_unit_test(test_scene_unfinished)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
