/* SPDX-License-Identifier: MIT */
/* Calls that prepare (carom_batch.prepare): they touch no array, and what they build, probe and upload is not built,
 * probed or uploaded again by the batch that follows. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

#include <sys/mman.h>

enum {
    SEED = 86,
    COUNT = 9000, /* a device may sort them */
    SHARE = 30,
    SIDES = 12,
    FILL = 0xa5,
    NODES = 20,
    COLUMNS = 96, /* so many that a drop map is painted */
    SPHERES_COUNT = 500,
    CAPACITY = 4000
};

static carom_context *open_device(int discrete)
{
    cl_seen_as.discrete = discrete;
    (void)test_need_device();
    cl_relieve();
    return test_device(discrete ? 1 : 0, 0);
}

/* What would be built or uploaded for a mesh since cl_relieve. A discrete device has one copy of its own, of the sort.
 */
static int made(int discrete)
{
    const int copies = discrete ? (cl_seen.copied > 1 ? cl_seen.copied - 1 : 0) : 0;
    return cl_calls(CALL_PROGRAM) + cl_calls(CALL_BUILD) + cl_calls(CALL_KERNEL) + copies;
}

static void expect_made(const char *what, int discrete, int some)
{
    if ((made(discrete) > 0) != some)
        fail_msg("%s: %d programs and %d copies are made", what, cl_calls(CALL_PROGRAM), cl_seen.copied);
}

/* ---- all requests ------------------------------------------------------------------------------------------------ */

static void expect_untouched(const batch_result *r, const char *name)
{
    for (int f = 0; f < query_fields(r->a.type); f++)
        for (size_t i = 0; i < r->a.field[f].size; i++)
            if (r->a.field[f].data[i] != FILL)
                fail_msg("%s: byte %zu of %s is written", name, i, query_field_name(r->a.type, f));
    for (size_t i = 0; i < r->offsets.size; i++)
        assert_int_equal(r->offsets.data[i], FILL);
    assert_int_equal(r->total + r->complete + r->stored, 0);
    assert_int_equal(r->stats.queries + r->stats.on_device + r->stats.on_cpu + r->stats.by_proof, 0);
}

/* discrete: how the device is seen; prepare: else what is asserted must not hold. */
static void ask_one(const request *q, fixture *m, int discrete, int prepare)
{
    carom_context *context = open_device(discrete);
    carom_mesh *mesh = request_needs_mesh(q) ? scene_mesh(context, &m->s) : NULL;
    batch_result r = batch_result_alloc(q, m), expected = request_answer(q, m);
    carom_error err = {0};
    m->prepare = (uint8_t)prepare;
    if (prepare) {
        test_ok(q->name, request_ask(q, context, mesh, m, &r, &err), &err);
        expect_untouched(&r, q->name);
        m->prepare = 0;
    }
    cl_relieve();
    test_ok(q->name, request_ask(q, context, mesh, m, &r, &err), &err);
    expect_made(q->name, discrete, !prepare);
    assert_int_equal(r.stats.fallen_back, 0);
    batch_result_compare(q, m, &expected, &r, "after preparing");
    batch_result_free(&expected);
    batch_result_free(&r);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

static void test_requests(void **state)
{
    const int discrete = *(const int *)*state;
    cl_seen_as.discrete = discrete;
    const carom_device_info device = test_need_device();
    if (!discrete && strcmp(device.kind, "gpu") == 0)
        test_skip("shared memory", "a GPU has memory of its own");
    fixture m = fixture_make(SEED, scene_sphere(SIDES), COUNT, SHARE);
    for (size_t i = 0; i < REQUESTS; i++)
        if (request_is_for(&requests[i], &device))
            ask_one(&requests[i], &m, discrete, 1);
    ask_one(&requests[SWEEP + 1], &m, discrete, 0); /* the controls: the first context has built its own sweeps */
    ask_one(&requests[ASK_mesh_first], &m, discrete, 0);
    fixture_free(&m);
}

/* ---- arrays that cannot be touched ------------------------------------------------------------------------------- */

/* Every array lies here, where touching it is a fault. */
typedef struct call {
    carom_context *context;
    carom_mesh *mesh;
    uint8_t prepare;
    carom_accuracy accuracy;
    char *memory;
    size_t used;
} call;

static void *room(call *c, size_t bytes)
{
    char *at = c->memory + c->used;
    c->used += (bytes + 63) / 64 * 64;
    return at;
}
static carom_points points(call *c)
{
    return carom_xyz(room(c, 12 * COUNT));
}
static carom_scalars scalars(call *c)
{
    return carom_scalars_of(room(c, 4 * COUNT));
}
static carom_uints uints(call *c)
{
    return carom_uints_of(room(c, 4 * COUNT));
}
static carom_batch batch(const call *c, size_t size, uint64_t count)
{
    return (carom_batch){.size = size, .count = count, .prepare = c->prepare, .accuracy = c->accuracy};
}
static carom_batch selected(call *c, size_t size)
{
    carom_batch b = batch(c, size, COUNT);
    b.select = uints(c);
    b.elements = COUNT;
    return b;
}

static carom_status pairs(call *c, carom_error *err)
{
    const carom_sweep_pairs_desc desc = {
        .batch = batch(c, sizeof desc, COUNT),
        .center = points(c),
        .velocity = points(c),
        .radius = scalars(c),
        .p0 = points(c),
        .p1 = points(c),
        .p2 = points(c),
        .indices = {.a = uints(c), .b = uints(c), .a_count = COUNT, .b_count = COUNT},
    };
    const carom_sweep_result out = {.size = sizeof out, .t_first = room(c, 4 * COUNT)};
    return carom_sweep_pairs(c->context, &desc, &out, NULL, err);
}

static carom_mesh_sweep_desc sweep(call *c)
{
    return (carom_mesh_sweep_desc){.batch = selected(c, sizeof(carom_mesh_sweep_desc)),
                                   .center = points(c),
                                   .velocity = points(c),
                                   .radius = scalars(c),
                                   .mask = uints(c),
                                   .t_max = scalars(c)};
}

static carom_status first(call *c, carom_error *err)
{
    const carom_mesh_sweep_desc desc = sweep(c);
    const carom_mesh_hit_result out = {
        .size = sizeof out, .t = room(c, 4 * COUNT), .point = carom_xyz_out(room(c, 12 * COUNT))};
    return carom_mesh_sweep_first(c->mesh, &desc, &out, NULL, err);
}

static carom_status any(call *c, carom_error *err)
{
    const carom_mesh_sweep_desc desc = sweep(c);
    return carom_mesh_sweep_any(c->mesh, &desc, TEST_ANY(room(c, COUNT)), NULL, err);
}

static carom_status list_of(call *c, carom_hits which, carom_error *err)
{
    const carom_mesh_sweep_desc desc = sweep(c);
    carom_list_totals totals = {7, 7, 7};
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = CAPACITY,
                                 .offsets = room(c, 8 * (COUNT + 1)),
                                 .index = room(c, 4 * CAPACITY),
                                 .normal = carom_xyz_out(room(c, 12 * CAPACITY)),
                                 .totals = &totals};
    const carom_status status = carom_mesh_sweep_list(c->mesh, &desc, which, &list, NULL, err);
    assert_true(!c->prepare || (totals.total == 7 && totals.stored == 7 && totals.complete == 7));
    return status;
}
static carom_status all(call *c, carom_error *err)
{
    return list_of(c, CAROM_HITS_ALL, err);
}
static carom_status compact(call *c, carom_error *err)
{
    return list_of(c, CAROM_HITS_FIRST, err);
}

static carom_status overlaps(call *c, carom_error *err)
{
    const carom_mesh_overlap_desc desc = {
        .batch = selected(c, sizeof desc), .center = points(c), .radius = scalars(c), .mask = uints(c)};
    return carom_mesh_overlap_any(c->mesh, &desc, TEST_ANY(room(c, COUNT)), NULL, err);
}

static carom_status closest(call *c, carom_error *err)
{
    const carom_mesh_closest_desc desc = {
        .batch = selected(c, sizeof desc), .center = points(c), .max_distance = scalars(c)};
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = room(c, 4 * COUNT)};
    return carom_mesh_closest(c->mesh, &desc, &out, NULL, err);
}

static carom_status contacts(call *c, carom_error *err)
{
    const carom_mesh_contacts_desc desc = {
        .batch = selected(c, sizeof desc), .center = points(c), .radius = scalars(c)};
    carom_list_totals totals = {7, 7, 7};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = CAPACITY,
                                     .offsets = room(c, 8 * (COUNT + 1)),
                                     .triangle = room(c, 4 * CAPACITY),
                                     .patch = room(c, 4 * CAPACITY),
                                     .totals = &totals};
    const carom_status status = carom_mesh_contacts(c->mesh, &desc, &list, NULL, err);
    assert_true(!c->prepare || (totals.total == 7 && totals.stored == 7 && totals.complete == 7));
    return status;
}

static carom_status distance(call *c, carom_error *err)
{
    const carom_mesh_distance_desc desc = {.batch = batch(c, sizeof desc, NODES),
                                           .lattice = {{-1.5, -1.5, -1.5}, 0.15, {NODES, NODES, NODES}, {0}},
                                           .sign = CAROM_SIGN_PARITY};
    const carom_mesh_distance_result out = {.size = sizeof out, .distance = room(c, 4 * NODES * NODES * NODES)};
    return carom_mesh_distance(c->mesh, &desc, &out, NULL, err);
}

static carom_status clearance(call *c, carom_error *err)
{
    const carom_mesh_clearance_desc desc = {.batch = batch(c, sizeof desc, NODES),
                                            .lattice = {{-1.5, -1.5, -1.5}, 0.125, {NODES, NODES, NODES}, {0}},
                                            .radius = 0.25f};
    const carom_mesh_clearance_result out = {.size = sizeof out, .clearance = room(c, NODES * NODES * NODES)};
    return carom_mesh_clearance(c->mesh, &desc, &out, NULL, err);
}

static carom_status drop(call *c, carom_error *err)
{
    const carom_mesh_drop_desc desc = {.batch = batch(c, sizeof desc, COLUMNS),
                                       .lattice = {{-1.5, -1.5, 0}, 0.03125, {COLUMNS, COLUMNS, 1}, {0}},
                                       .radius = 0.0625f};
    const carom_mesh_drop_result out = {.size = sizeof out, .height = room(c, 4 * COLUMNS * COLUMNS)};
    return carom_mesh_drop(c->mesh, &desc, &out, NULL, err);
}

static carom_cloud_desc cloud(call *c)
{
    return (carom_cloud_desc){.batch = batch(c, sizeof(carom_cloud_desc), SPHERES_COUNT),
                              .center = points(c),
                              .velocity = points(c),
                              .radius = scalars(c),
                              .t_max = scalars(c)};
}

static carom_status partners(call *c, carom_error *err)
{
    const carom_cloud_desc desc = cloud(c);
    const carom_cloud_partner_result out = {.size = sizeof out, .other = room(c, 4 * COUNT)};
    return carom_cloud_first(c->context, &desc, &out, NULL, err);
}

static carom_status sphere_list(call *c, carom_error *err)
{
    const carom_cloud_desc desc = cloud(c);
    const carom_cloud_pairs_before before = {
        .size = sizeof before, .count = 10, .a = room(c, 40), .b = room(c, 40), .shift = room(c, 30)};
    carom_list_totals totals = {7, 7, 7};
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = CAPACITY,
                                        .offsets = room(c, 8 * (COUNT + 1)),
                                        .a = room(c, 4 * CAPACITY),
                                        .previous = room(c, 8 * CAPACITY),
                                        .before = &before,
                                        .totals = &totals};
    const carom_status status = carom_cloud_list(c->context, &desc, &list, NULL, err);
    assert_true(!c->prepare || (totals.total == 7 && totals.stored == 7 && totals.complete == 7));
    return status;
}

static carom_status sphere_order(call *c, carom_error *err)
{
    const carom_cloud_desc desc = cloud(c);
    return carom_cloud_order(c->context, &desc, room(c, 4 * COUNT), NULL, err);
}

/* builds: on a device; keeps: memory in the mesh on the CPU. */
static const struct {
    const char *name;
    carom_status (*ask)(call *c, carom_error *err);
    int builds, keeps;
} calls[] = {{"pairs", pairs, 1, 0},
             {"first", first, 1, 0},
             {"any", any, 1, 0},
             {"all", all, 1, 0},
             {"compact", compact, 1, 0},
             {"overlaps", overlaps, 1, 0},
             {"closest", closest, 1, 0},
             {"contacts", contacts, 1, 1},
             {"distance", distance, 1, 0},
             {"clearance", clearance, 1, 0},
             {"drop", drop, 0, 1},
             {"partners", partners, 1, 0},
             {"spheres", sphere_list, 1, 0},
             {"sphere order", sphere_order, 0, 0}};

enum { MEMORY = 1 << 22 };

/* Prepares where nothing can be touched, and asks where there is memory: zeros. */
static void prepare_and_ask(carom_context *context, const scene *s, size_t i, carom_accuracy accuracy, int discrete)
{
    const int on_device = discrete >= 0;
    call c = {.context = context, .mesh = scene_mesh(context, s), .prepare = 1, .accuracy = accuracy};
    carom_error err = {0};
    const uint64_t before = test_mesh_info(c.mesh).bytes;
    c.memory = mmap(NULL, MEMORY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(c.memory != MAP_FAILED);
    test_ok(calls[i].name, calls[i].ask(&c, &err), &err);
    assert_true(c.used <= MEMORY);
    const uint64_t prepared = test_mesh_info(c.mesh).bytes;
    if ((prepared > before) != calls[i].keeps)
        fail_msg("%s: the mesh has %llu bytes, then %llu", calls[i].name, (unsigned long long)before,
                 (unsigned long long)prepared);
    assert_int_equal(mprotect(c.memory, MEMORY, PROT_READ | PROT_WRITE), 0);
    c.prepare = 0;
    c.used = 0;
    cl_relieve();
    test_ok(calls[i].name, calls[i].ask(&c, &err), &err);
    assert_int_equal(test_mesh_info(c.mesh).bytes, prepared);
    if (on_device)
        expect_made(calls[i].name, discrete, 0);
    munmap(c.memory, MEMORY);
    carom_mesh_destroy(c.mesh);
}

static void test_untouched(void **state)
{
    const int discrete = *(const int *)*state;
    cl_seen_as.discrete = discrete > 0;
    const carom_device_info device = test_need_device();
    scene s = scene_sphere(SIDES);
    if (discrete == 0 && strcmp(device.kind, "gpu") == 0)
        test_skip("shared memory", "a GPU has memory of its own");
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        for (int exact = 0; exact <= device.fp64; exact++) {
            carom_context *context = discrete < 0 ? test_cpu(CAROM_ISA_AUTO, 2) : open_device(discrete);
            prepare_and_ask(context, &s, i, exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST, discrete);
            carom_context_destroy(context);
            cl_expect_none(calls[i].name);
        }
    scene_free(&s);
}

/* ---- buffers, errors, choice ------------------------------------------------------------------------------------- */

/* Arrays in a buffer of a discrete device are not brought, whatever the call would do; then the programs that gather
 * and scatter them are there. */
static void test_buffers(void **state)
{
    (void)state;
    const carom_device_info device = test_need_device();
    scene s = scene_sphere(SIDES);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        for (int exact = 0; exact <= device.fp64; exact++) {
            carom_context *context = open_device(1);
            const carom_buffer_desc desc = {.size = sizeof desc, .bytes = MEMORY, .where = CAROM_BUFFER_DEVICE};
            carom_buffer *buffer = NULL;
            carom_error err = {0};
            void *zeros = test_alloc(MEMORY, 1);
            test_ok("a buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
            test_ok("write", carom_buffer_write(buffer, 0, zeros, MEMORY, &err), &err);
            free(zeros);
            call c = {.context = context,
                      .mesh = scene_mesh(context, &s),
                      .prepare = 1,
                      .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                      .memory = carom_buffer_address(buffer)};
            cl_relieve();
            const int reads = cl_calls(CALL_READ);
            test_ok(calls[i].name, calls[i].ask(&c, &err), &err);
            const int probes = cl_calls(CALL_READ) - reads; /* of answers of the bit probe */
            assert_true(!calls[i].builds || probes > 0);
            c.prepare = 0;
            c.used = 0;
            cl_relieve();
            test_ok(calls[i].name, calls[i].ask(&c, &err), &err);
            expect_made(calls[i].name, 1, 0);
            carom_mesh_destroy(c.mesh);
            carom_buffer_destroy(buffer);
            carom_context_destroy(context);
            cl_expect_none(calls[i].name);
        }
    scene_free(&s);
}

static void test_errors(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_sphere(2);
    carom_mesh *mesh = scene_mesh(context, &s);
    char *memory = test_alloc(MEMORY, 1);
    call c = {.context = context, .mesh = mesh, .prepare = 2, .memory = memory};
    carom_error err = {0};
    for (size_t i = 0; i < COUNT_OF(calls); i++, c.used = 0)
        test_error(calls[i].ask(&c, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "batch.prepare is 2; it must be 0 or 1");
    c.prepare = 1;
    carom_mesh_sweep_desc desc = sweep(&c);
    float t[COUNT];
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    desc.radius.data = NULL;
    test_error(carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "radius");
    free(memory);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
}

/* A batch that is too small for a device is none to prepare it for, and a device that fails is given up. */
static void test_auto(void **state)
{
    (void)state;
    (void)test_need_device();
    for (int fails = 0; fails < 2; fails++) {
        carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
        carom_context *context = NULL;
        carom_device_info device = {.size = sizeof device};
        carom_error err = {0};
        fixture m = fixture_make(SEED, scene_sphere(2), 100, 1);
        const request *q = &requests[SWEEP];
        batch_result r = batch_result_alloc(q, &m);
        m.prepare = 1;
        cl_relieve();
        test_ok("context", carom_context_create(&desc, &context, &err), &err);
        test_ok("small", request_ask(q, context, NULL, &m, &r, &err), &err);
        assert_int_equal(carom_context_get_device(context, &device, NULL), CAROM_ERROR_NO_DEVICE);
        carom_context_destroy(context);
        desc.auto_from = 1;
        test_ok("context", carom_context_create(&desc, &context, &err), &err);
        cl_sabotage(CALL_BUILD, fails ? 1 : 0, 1);
        test_ok("large", request_ask(q, context, NULL, &m, &r, &err), &err);
        cl_relieve();
        assert_int_equal(carom_context_get_device(context, &device, NULL), fails ? CAROM_ERROR_NO_DEVICE : CAROM_OK);
        assert_int_equal(r.stats.fallback_reason[0] != '\0' || !fails, 1);
        expect_untouched(&r, "auto");
        batch_result_free(&r);
        carom_context_destroy(context);
        fixture_free(&m);
        cl_expect_none("auto");
    }
}

int main(void)
{
    static int on_cpu = -1, shared = 0, discrete = 1;
    const struct CMUnitTest tests[] = {
        {"requests, shared memory", test_requests, NULL, NULL, &shared},
        {"requests, discrete", test_requests, NULL, NULL, &discrete},
        {"arrays are not touched, CPU", test_untouched, NULL, NULL, &on_cpu},
        {"arrays are not touched, shared memory", test_untouched, NULL, NULL, &shared},
        {"arrays are not touched, discrete", test_untouched, NULL, NULL, &discrete},
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
