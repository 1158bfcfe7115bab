/* SPDX-License-Identifier: MIT */
/* A device whose mesh searches are wrong, while its pair queries are right. The bit probe of the search detects it. If
 * only later queries are wrong, and a hit is impossible (such as a triangle beyond the mesh), the batch detects it.
 * `opencl` fails; `auto` answers on the CPU with the right bits, and statistics give the reason. */
#include "tests/support/cl_shim.h"
#include "tests/support/closest_answers.h"
#include "tests/support/contact_answers.h"
#include "tests/support/lists.h"

#define REFUSED_WITH(memory) CAROM_ERROR_NOT_BIT_EXACT, "refused", memory
#define REFUSED REFUSED_WITH(ANY_MEMORY)
#define IMPOSSIBLE_WITH(memory, what) CAROM_ERROR_DEVICE_LOST, "reports " what " that cannot be", memory
#define IMPOSSIBLE(what) IMPOSSIBLE_WITH(ANY_MEMORY, what)
#define WRITE_FIRST "run->triangle[trav->number] = triangle;"
#define WRITE_CLOSEST "run->triangle[trav->number] = hit.triangle;"
#define WRITE_BEYOND(said) "run->triangle[trav->number] = " said " | (trav->number > 299) << 30;"
#define WRITE_TRIANGLE "to->triangle = triangle;"
#define WRITE_ANOTHER "to->triangle = triangle ^ 2;" /* not ^ 1: some triangles of the probe come in equal pairs */
#define KEPT_COUNT "count[run] = selected;"
#define WRITE_ROW "to[COMPACT_ROW] = row;"
#define WRITE_COUNT "run->hits[trav->number] = (int)trav->hits;"

enum { MANY = 1 << 20, FEW = 5000, SEED = 61 }; /* FEW is more than the queries of any bit probe */

/* Whose memory a fault needs: lists and first hits take other ways on a device that shares the host's. */
typedef enum memory { ANY_MEMORY, SHARED_MEMORY, OWN_MEMORY } memory;

/* A kernel with one fault, a request that uses it, and the error that must report it. */
typedef struct fault {
    const char *name;
    cl_patch patch;
    carom_status (*ask)(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err);
    carom_status expected;
    const char *reason;
    memory memory;
} fault;

/* ---- requests, which write to the arrays below ------------------------------------------------------------------- */

static uint64_t *offsets;
static int32_t *triangles;
static float *depths;

static carom_status ask_first(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    const carom_mesh_hit_result result = {.size = sizeof result, .triangle = triangles, .t = depths};
    return carom_mesh_sweep_first(mesh, &desc, &result, stats, err);
}

/* First hits without the output `triangle`. */
static carom_status ask_times(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    const carom_mesh_hit_result result = {.size = sizeof result, .t = depths};
    return carom_mesh_sweep_first(mesh, &desc, &result, stats, err);
}

/* First hits with the points, which are computed from the triangle's corners. */
static carom_status ask_contact_points(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    const carom_mesh_hit_result result = {.size = sizeof result,
                                          .point = {depths, depths + MANY, depths + 2 * MANY, sizeof *depths}};
    return carom_mesh_sweep_first(mesh, &desc, &result, stats, err);
}

static carom_status ask_started(carom_mesh *mesh, const swept_spheres *b, carom_start start, carom_stats *stats,
                                carom_error *err)
{
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    desc.start = start;
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list,
                           .totals = &totals,
                           .capacity = 4 * MANY,
                           .offsets = offsets,
                           .triangle = triangles,
                           .t = depths};
    return carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, &list, stats, err);
}

static carom_status ask_compact(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list,
                           .totals = &totals,
                           .capacity = MANY,
                           .offsets = offsets,
                           .triangle = triangles,
                           .t = depths};
    return carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_FIRST, &list, stats, err);
}

static carom_status ask_list(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    return ask_started(mesh, b, CAROM_START_REPORT, stats, err);
}

static carom_status ask_skipping(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    return ask_started(mesh, b, CAROM_START_SKIP, stats, err);
}

static carom_status ask_any(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    return carom_mesh_sweep_any(mesh, &desc, TEST_ANY((uint8_t *)triangles), stats, err);
}

static carom_status ask_overlaps(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc desc = swept_spheres_at_rest(b, 0, b->count);
    carom_list_totals totals = {0};
    carom_hit_list list = {
        .size = sizeof list, .totals = &totals, .capacity = 4 * MANY, .offsets = offsets, .triangle = triangles};
    return carom_mesh_overlap_list(mesh, &desc, &list, stats, err);
}

static carom_status ask_touching(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const contact_call call = {.margin = 0.0625f};
    const carom_mesh_contacts_desc desc = swept_spheres_contacts(b, &call);
    carom_list_totals totals = {0};
    const carom_contact_list list = {.size = sizeof list,
                                     .totals = &totals,
                                     .capacity = MANY,
                                     .offsets = offsets,
                                     .triangle = triangles,
                                     .distance = depths};
    return carom_mesh_contacts(mesh, &desc, &list, stats, err);
}

static carom_status ask_closest(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, b->count);
    const carom_mesh_closest_result result = {.size = sizeof result, .triangle = triangles, .depth = depths};
    return carom_mesh_closest(mesh, &desc, &result, stats, err);
}

static carom_status ask_gradients(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, b->count);
    const carom_mesh_closest_result result = {.size = sizeof result,
                                              .gradient = {depths, depths + MANY, depths + 2 * MANY, sizeof *depths}};
    return carom_mesh_closest(mesh, &desc, &result, stats, err);
}

static carom_status ask_depths(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, b->count);
    const carom_mesh_closest_result result = {.size = sizeof result, .depth = depths};
    return carom_mesh_closest(mesh, &desc, &result, stats, err);
}

static carom_status ask_points(carom_mesh *mesh, const swept_spheres *b, carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_desc desc = swept_spheres_closest(b, 0, b->count);
    const carom_mesh_closest_result result = {.size = sizeof result,
                                              .point = {depths, depths + MANY, depths + 2 * MANY, sizeof *depths}};
    return carom_mesh_closest(mesh, &desc, &result, stats, err);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Runs the request of the fault. Returns a hash of all outputs, so that two answers can be compared. */
static uint64_t answer(const fault *f, carom_context *context, const scene *s, const swept_spheres *b,
                       carom_stats *stats)
{
    carom_error err = {0};
    uint64_t hash = 0;
    memset(offsets, 0, (MANY + 1) * sizeof *offsets);
    memset(triangles, 0, 4 * MANY * sizeof *triangles);
    memset(depths, 0, 4 * MANY * sizeof *depths);
    carom_mesh *mesh = scene_mesh(context, s);
    test_ok(f->name, f->ask(mesh, b, stats, &err), &err);
    carom_mesh_destroy(mesh);
    for (size_t i = 0; i < 4 * MANY; i++) {
        const uint64_t offset = i <= MANY ? offsets[i] : 0;
        hash =
            (hash ^ offset ^ (uint64_t)(uint32_t)triangles[i] << 32 ^ bits_of_float(depths[i])) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void test_fault(void **state)
{
    const fault *f = *state;
    cl_seen_as.discrete = f->memory == OWN_MEMORY;
    carom_context_destroy(test_device(0, 0)); /* ends the test if there is none */
    if (f->memory == SHARED_MEMORY && !cl_shares_memory)
        test_skip("shared memory", "only there does the first pass of a list write hits");
    offsets = test_alloc(MANY + 1, sizeof *offsets);
    triangles = test_alloc(4 * MANY, sizeof *triangles);
    depths = test_alloc(4 * MANY, sizeof *depths);
    scene s = scene_sphere(2);
    swept_spheres few = swept_spheres_mixed(SEED, FEW), many = swept_spheres_mixed(SEED, MANY);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    const uint64_t expected = answer(f, cpu, &s, &many, &stats);
    carom_context_destroy(cpu);
    cl_text_patch = f->patch;
    carom_context *device = test_backend(CAROM_BACKEND_OPENCL);
    carom_mesh *mesh = scene_mesh(device, &s);
    test_error(f->ask(mesh, &few, &stats, &err), f->expected, &err, f->reason);
    carom_mesh_destroy(mesh);
    carom_context_destroy(device);
    carom_context *either = test_backend(CAROM_BACKEND_AUTO);
    assert_true(answer(f, either, &s, &many, &stats) == expected);
    assert_int_equal(stats.on_device, 0);
    assert_int_equal(stats.fallen_back, MANY);
    assert_non_null(strstr(stats.fallback_reason, f->reason));
    carom_context_destroy(either);
    cl_expect_none(f->name);
    cl_text_patch = (cl_patch){NULL, NULL};
    free(offsets);
    free(triangles);
    free(depths);
    swept_spheres_free(&few);
    swept_spheres_free(&many);
    scene_free(&s);
}

int main(void)
{
    static const fault faults[] = {
        {"a first hit", {"run->t[trav->number] = t;", "run->t[trav->number]*=1.01f;"}, ask_first, REFUSED},
        {"a list of hits", {WRITE_TRIANGLE, WRITE_ANOTHER}, ask_list, REFUSED},
        {"the count of a list",
         {WRITE_COUNT, "run->hits[trav->number] = trav->hits > 0;"},
         ask_list,
         IMPOSSIBLE_WITH(SHARED_MEMORY, "queries of hits")},
        {"the count of a list that is written in a second pass",
         {WRITE_COUNT, "run->hits[trav->number] = trav->hits > 0;"},
         ask_list,
         REFUSED_WITH(OWN_MEMORY)},
        {"where the hits of a list begin",
         {"= LIST_START(run, trav->number);", "= LIST_START(run, trav->number) + (trav->number > 299);"},
         ask_list,
         IMPOSSIBLE_WITH(SHARED_MEMORY, "places of hits")},
        {"whose hit it is",
         {"to->query = number - first;", "to->query = number - first + (number > 299);"},
         ask_list,
         IMPOSSIBLE_WITH(SHARED_MEMORY, "queries of hits")},
        {"hits that the first pass writes",
         {WRITE_TRIANGLE, "to->triangle = number != first ? triangle ^ 2 : triangle;"},
         ask_list,
         REFUSED_WITH(SHARED_MEMORY)},
        {"a list of overlaps", {WRITE_TRIANGLE, WRITE_ANOTHER}, ask_overlaps, REFUSED},
        {"whether there is a hit",
         {"run->state[trav->number] = (uchar)MESH_STATE_OF(trav);", "run->state[trav->number] = STATE_APPROACHING;"},
         ask_any,
         REFUSED},
        {"what a policy leaves out", {"if ((options & MESH_SKIP) != 0)", "if (0)"}, ask_skipping, REFUSED},
        {"a closest point",
         {"run->depth[trav->number] = hit.depth;", "run->depth[trav->number] = 0.0f;"},
         ask_closest,
         REFUSED},
        {"a gradient", {"contact.normal.y, zero", "contact.normal.x, zero"}, ask_gradients, REFUSED},
        /* faults only in later queries, beyond those of the bit probe */
        {"a first triangle beyond the mesh",
         {WRITE_FIRST, WRITE_BEYOND("triangle")},
         ask_first,
         IMPOSSIBLE("triangles")},
        {"a closest triangle beyond the mesh",
         {WRITE_CLOSEST, WRITE_BEYOND("hit.triangle")},
         ask_closest,
         IMPOSSIBLE("triangles")},
        {"times of a triangle beyond the mesh",
         {WRITE_FIRST, WRITE_BEYOND("triangle")},
         ask_times,
         IMPOSSIBLE("triangles")},
        {"contacts of a triangle beyond the mesh",
         {WRITE_FIRST, WRITE_BEYOND("triangle")},
         ask_contact_points,
         IMPOSSIBLE("triangles")},
        {"points of a triangle beyond the mesh",
         {WRITE_CLOSEST, WRITE_BEYOND("hit.triangle")},
         ask_points,
         IMPOSSIBLE("triangles")},
        {"gradients of a triangle beyond the mesh",
         {WRITE_CLOSEST, WRITE_BEYOND("hit.triangle")},
         ask_gradients,
         IMPOSSIBLE("triangles")},
        {"depths in a triangle beyond the mesh",
         {WRITE_CLOSEST, WRITE_BEYOND("hit.triangle")},
         ask_depths,
         IMPOSSIBLE("triangles")},
        {"a triangle beyond the mesh",
         {WRITE_TRIANGLE, "to->triangle = triangle | (number > 299) << 30;"},
         ask_list,
         IMPOSSIBLE("triangles")},
        {"fewer hits than none",
         {WRITE_COUNT, "run->hits[trav->number] = trav->number > 299 ? -5 : (int)trav->hits;"},
         ask_list,
         IMPOSSIBLE("numbers of hits")},
        {"distances of contacts",
         {"s.distance = contacts_clamp(closest_found_of(&solution).distance, span);",
          "s.distance = contacts_clamp(closest_found_of(&solution).distance, span) * 1.5f;"},
         ask_touching,
         REFUSED},
        {"a triangle that no other precedes",
         {"fall = -v3_dot(s->offset, u);", "fall = v3_dot(s->offset, u);"},
         ask_touching,
         REFUSED},
        {"touching a triangle beyond the mesh",
         {WRITE_TRIANGLE, "to->triangle = triangle | (number > 299) << 30;"},
         ask_touching,
         IMPOSSIBLE("triangles")},
        {"touching a feature that is none",
         {"to->state = state;", "to->state = state | (number > 299) << 4;"},
         ask_touching,
         IMPOSSIBLE("features")},
        /* faults of the compacting kernels of discrete devices */
        {"a time among hits alone",
         {"to[COMPACT_T] = t[row];", "to[COMPACT_T] = t[row] + 1;"},
         ask_compact,
         REFUSED_WITH(OWN_MEMORY)},
        {"one hit less", {KEPT_COUNT, "count[run] = selected - (run == 1);"}, ask_compact, REFUSED_WITH(OWN_MEMORY)},
        {"more hits than queries",
         {KEPT_COUNT, "count[run] = run > 10 ? 99999 : selected;"},
         ask_compact,
         IMPOSSIBLE_WITH(OWN_MEMORY, "numbers of hits")},
        {"a hit beyond the queries",
         {WRITE_ROW, "to[COMPACT_ROW] = row | (row > 2999) << 24;"},
         ask_compact,
         IMPOSSIBLE_WITH(OWN_MEMORY, "places of hits")},
        {"a query twice",
         {WRITE_ROW, "to[COMPACT_ROW] = row > 2999 ? 2999 : row;"},
         ask_compact,
         IMPOSSIBLE_WITH(OWN_MEMORY, "places of hits")},
        {"a triangle beyond the mesh among hits alone",
         {"to[COMPACT_TRIANGLE] = triangle[row];", "to[COMPACT_TRIANGLE] = triangle[row] | (row > 2999) << 30;"},
         ask_compact,
         IMPOSSIBLE_WITH(OWN_MEMORY, "triangles")},
    };
    const size_t step = test_fault_step();
    struct CMUnitTest tests[(COUNT_OF(faults) + step / 2) / step];
    for (size_t k = 0; k < COUNT_OF(tests); k++) {
        const fault *f = &faults[step / 2 + step * k];
        tests[k] = (struct CMUnitTest){f->name, test_fault, NULL, NULL, (void *)(uintptr_t)f};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
