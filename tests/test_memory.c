/* SPDX-License-Identifier: MIT */
/* The allocator hooks: all memory goes through them and comes back, and whichever allocation fails, the call says so,
 * leaks nothing and leaves context and mesh usable. */
#include "lists.h"

enum { SEED = 71, HEADER = 64, LIMIT = 200 };
static const uint64_t magic = UINT64_C(0xca4011a110ca7e5d);

typedef struct counter {
    size_t live, calls;
    size_t fail_at; /* this allocation fails, counted from 1; 0: none */
    int fail_after; /* and all later ones */
    int broken;     /* memory that was not ours, or a nonsense request */
} counter;

/* Each block has a header that tells it is ours; memory comes filled with what nobody should rely on. */
static void *count_alloc(void *user, size_t size, size_t alignment)
{
    counter *c = user;
    c->broken |= size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > HEADER;
    c->calls++;
    if (c->fail_at != 0 && (c->calls == c->fail_at || (c->fail_after && c->calls > c->fail_at)))
        return NULL;
    unsigned char *block = aligned_alloc(HEADER, (size + HEADER + 63) / 64 * 64);
    if (!block)
        return NULL;
    memcpy(block, &magic, sizeof magic);
    memset(block + HEADER, 0xdb, size);
    c->live++;
    return block + HEADER;
}

static void count_free(void *user, void *memory)
{
    counter *c = user;
    unsigned char *block = (unsigned char *)memory - HEADER;
    if (!memory || memcmp(block, &magic, sizeof magic)) {
        c->broken = 1;
        return;
    }
    memset(block, 0, sizeof magic);
    c->live--;
    free(block);
}

/* ---- what is tried ------------------------------------------------------------------------------------------------ */

typedef struct trial {
    counter count;
    carom_context *context;
    carom_mesh *mesh;
    int warnings; /* in the log */
    scene s;
    balls b;
    queries q[QUERY_TYPES];
} trial;

static void count_warning(void *user, carom_log_level level, const char *message)
{
    (void)message;
    ((trial *)user)->warnings += level == CAROM_LOG_WARNING;
}

static carom_status make_context(trial *t, carom_error *err)
{
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = test_on_device() ? CAROM_BACKEND_OPENCL : CAROM_BACKEND_CPU;
    desc.device = test_on_device() ? getenv("CAROM_TEST_DEVICE") : "a name to be copied";
    desc.threads = 3;
    desc.log = count_warning;
    desc.log_user = t;
    desc.allocator = (carom_allocator){count_alloc, count_free, &t->count};
    return carom_context_create(&desc, &t->context, err);
}

static carom_status make_mesh(trial *t, carom_error *err)
{
    carom_mesh_desc desc = scene_desc(&t->s);
    return carom_mesh_create(t->context, &desc, &t->mesh, err);
}

static carom_status ask_pairs(trial *t, int type, carom_error *err)
{
    inputs in = inputs_of(&t->q[type]);
    answers a = answers_alloc(type, t->q[type].count, 0xa5);
    carom_status status = ask_as(t->context, type, t->q[type].count, &in, &a, ALL_FIELDS, NULL, err);
    answers_check_guards(&a, "a batch short of memory");
    answers_free(&a);
    return status;
}

static carom_status ask_sweep(trial *t, carom_error *err)
{
    return ask_pairs(t, SWEEP, err);
}
static carom_status ask_overlap(trial *t, carom_error *err)
{
    return ask_pairs(t, OVERLAP, err);
}
static carom_status ask_spheres(trial *t, carom_error *err)
{
    return ask_pairs(t, SPHERES, err);
}

static carom_status ask_mesh(trial *t, carom_error *err)
{
    hits h = hits_alloc(t->b.count, 0xa5);
    carom_mesh_sweep_desc desc = balls_desc(&t->b, 0, t->b.count);
    carom_mesh_hit_result out = hits_result(&h, 0);
    carom_status status = carom_mesh_sweep_first(t->mesh, &desc, &out, NULL, err);
    for (int f = 0; f < HIT_FIELDS; f++)
        guarded_check(&h.field[f], "a batch short of memory");
    hits_free(&h);
    return status;
}

static carom_status ask_list_as(trial *t, carom_hits which, carom_error *err)
{
    hit_list l = list_alloc(t->b.count, 20000, 0xa5);
    carom_mesh_sweep_desc desc = balls_desc(&t->b, 0, t->b.count);
    carom_mesh_hit_list list = list_desc(&l, LIST_HITS);
    carom_status status = carom_mesh_sweep_list(t->mesh, &desc, which, &list, NULL, err);
    if (status == CAROM_OK) {
        l.total = list.total;
        l.complete = list.complete;
        l.stored = list.stored;
        list_check_form(&l, LIST_HITS, "a list short of memory");
    }
    for (int f = 0; f < HIT_FIELDS; f++)
        guarded_check(&l.hits.field[f], "a list short of memory");
    guarded_check(&l.offsets, "a list short of memory");
    list_free(&l);
    return status;
}
static carom_status ask_list(trial *t, carom_error *err)
{
    return ask_list_as(t, CAROM_HITS_ALL, err);
}
static carom_status ask_compact(trial *t, carom_error *err)
{
    return ask_list_as(t, CAROM_HITS_FIRST, err);
}

static carom_status ask_overlaps(trial *t, carom_error *err)
{
    guarded any = guarded_alloc(t->b.count, 0, 0xa5);
    const carom_mesh_sweep_desc desc = balls_desc(&t->b, 0, t->b.count);
    const carom_mesh_overlap_desc overlaps = {.size = sizeof overlaps,
                                              .count = desc.count,
                                              .accuracy = CAROM_ACCURACY_EXACT,
                                              .center = desc.center,
                                              .radius = desc.radius};
    carom_status status = carom_mesh_overlap_any(t->mesh, &overlaps, any.data, NULL, err);
    guarded_check(&any, "overlaps short of memory");
    guarded_free(&any);
    return status;
}

typedef carom_status step_fn(trial *t, carom_error *err);
typedef struct step {
    const char *name;
    step_fn *run;
    int needs;    /* 0 nothing, 1 a context, 2 a mesh */
    int survives; /* goes on with less memory when it has to */
} step;

static const step steps[] = {{"context", make_context, 0, 0},      {"mesh", make_mesh, 1, 0},
                             {"sweep", ask_sweep, 1, 0},           {"overlap", ask_overlap, 1, 0},
                             {"spheres", ask_spheres, 1, 0},       {"mesh sweep", ask_mesh, 2, 0},
                             {"mesh list", ask_list, 2, 1},        {"first hits as a list", ask_compact, 2, 0},
                             {"mesh overlaps", ask_overlaps, 2, 1}};

/* ---- trying ------------------------------------------------------------------------------------------------------- */

static trial *trial_new(void)
{
    trial *t = test_alloc(1, sizeof *t);
    t->s = scene_sphere(6);
    t->b = balls_mixed(SEED, 700);
    for (int type = 0; type < QUERY_TYPES; type++)
        t->q[type] = queries_mixed(type, SEED, 9000);
    return t;
}

static void trial_free(trial *t)
{
    scene_free(&t->s);
    balls_free(&t->b);
    for (int type = 0; type < QUERY_TYPES; type++)
        queries_free(&t->q[type]);
    free(t);
}

/* What the step needs, without faults. A device that failed is not asked again: it gets a new context each time. */
static void prepare(trial *t, const step *s)
{
    carom_error err = {0};
    t->count.fail_at = 0;
    if (s->needs >= 1)
        test_ok("a context", make_context(t, &err), &err);
    if (s->needs >= 2)
        test_ok("a mesh", make_mesh(t, &err), &err);
}

static void clear(trial *t)
{
    carom_mesh_destroy(t->mesh);
    carom_context_destroy(t->context);
    t->mesh = NULL;
    t->context = NULL;
}

static void expect_clean(const trial *t, const step *s, size_t k)
{
    if (t->count.broken)
        fail_msg("%s: memory was freed that is not the hooks', or asked for in a senseless way", s->name);
    if (t->count.live != 0)
        fail_msg("%s, allocation %zu fails: %zu blocks leak", s->name, k, t->count.live);
}

/* 1 if the step succeeded in spite of allocation k failing: it has fewer. */
static int try_step(trial *t, const step *s, size_t k, int fail_after)
{
    carom_error err = {0};
    prepare(t, s);
    size_t before = t->count.live;
    t->count.calls = 0;
    t->count.fail_at = k;
    t->count.fail_after = fail_after;
    carom_status status = s->run(t, &err);
    size_t calls = t->count.calls;
    t->count.fail_at = 0;
    if (calls < k) {
        test_ok(s->name, status, &err);
    } else if (status != CAROM_OK) { /* a fault may be survived, but not turned into another error */
        if (status != CAROM_ERROR_OUT_OF_MEMORY || err.status != status || !err.message[0])
            fail_msg("%s, allocation %zu fails: %s: '%s'", s->name, k, carom_status_name(status), err.message);
        /* It may give the device up, and the mesh may have a copy there by now. */
        assert_true(test_on_device() ? t->count.live <= before + 1 : t->count.live == before);
        assert_true(s->needs != 0 || t->context == NULL);
        assert_true(s->run != make_mesh || t->mesh == NULL);
        if (!test_on_device() && s->needs > 0)
            test_ok("once more", s->run(t, &err), &err);
    } else if (!test_on_device() && !s->survives) {
        fail_msg("%s succeeds although allocation %zu failed", s->name, k);
    }
    clear(t);
    expect_clean(t, s, k);
    return calls < k;
}

static void test_faults(void **state)
{
    const step *s = *state;
    trial *t;
    if (test_on_device())
        carom_context_destroy(test_device(0, 0)); /* or skip */
    t = trial_new();
    for (int fail_after = 0; fail_after < 2; fail_after++) {
        size_t k = 1;
        /* A device is opened and probed each time: of many allocations, one in thirteen. */
        while (k < LIMIT && !try_step(t, s, k, fail_after))
            k += test_on_device() && k > 12 ? 13 : 1;
        print_message("%s: %zu allocations\n", s->name, k - 1);
        assert_true(k < LIMIT);
        assert_true(k > 1 || test_on_device()); /* else the hooks are not used */
    }
    trial_free(t);
}

/* All steps in a row, and everything comes back at the end, not before. */
static void test_no_leak(void **state)
{
    carom_error err = {0};
    trial *t;
    (void)state;
    if (test_on_device())
        carom_context_destroy(test_device(0, 0));
    t = trial_new();
    for (int round = 0; round < 3; round++) {
        size_t held = 0;
        for (size_t i = 0; i < COUNT_OF(steps); i++) {
            test_ok(steps[i].name, steps[i].run(t, &err), &err);
            held = t->count.live > held ? t->count.live : held;
        }
        assert_true(held >= 3);
        if (round % 2) { /* a mesh keeps its context alive */
            carom_context_destroy(t->context);
            t->context = NULL;
            test_ok("mesh sweep", ask_mesh(t, &err), &err);
            assert_true(t->count.live > 0);
        }
        clear(t);
        expect_clean(t, &steps[0], 0);
    }
    trial_free(t);
}

/* ---- a mesh that moves -------------------------------------------------------------------------------------------- */

static carom_status follow(trial *t, const scene *s, carom_mesh_follow how, carom_error *err)
{
    const carom_points vertices = scene_desc(s).vertices;
    return carom_mesh_update(t->mesh, &vertices, how, err);
}

/* Of the mesh, which must not need memory that is refused. */
static hits all_hits(trial *t)
{
    hits h = hits_alloc(t->b.count, 0xa5);
    t->count.fail_at = 0;
    sweep_first(t->mesh, &t->b, &h);
    return h;
}

static void expect_hits(trial *t, const hits *expected, const char *who)
{
    hits got = all_hits(t);
    hits_compare(&t->b, expected, &got, t->b.count, -1, who);
    hits_free(&got);
}

/* The same triangles all over another place: their hierarchy is of no use to them. */
static scene scattered(const scene *from)
{
    scene s = scene_copy(from);
    uint32_t *order = random_order(SEED, s.vertex_count);
    for (size_t i = 0; i < s.vertex_count; i++)
        for (size_t k = 0; k < 3; k++)
            s.vertices[3 * i + k] = from->vertices[3 * (size_t)order[i] + k] * 0.3f;
    free(order);
    return s;
}

/* Allocation k fails, and all later ones or not. A rebuild then leaves the mesh as it was; auto makes do with a refit.
 * Returns the allocations that were asked for. */
static size_t try_update(trial *t, const scene *to, carom_mesh_follow how, size_t k, int fail_after)
{
    const step of_mesh = {"mesh update", ask_mesh, 2, 0};
    carom_error err = {0};
    prepare(t, &of_mesh);
    scene first = t->s;
    const carom_mesh_info before = carom_mesh_get_info(t->mesh);
    hits at_first = all_hits(t), moved = sweep_scene(t->context, to, &t->b);
    t->count.calls = 0;
    t->count.fail_at = k;
    t->count.fail_after = fail_after;
    const size_t live = t->count.live;
    t->warnings = 0;
    const carom_status status = follow(t, to, how, &err);
    const size_t calls = t->count.calls;
    const carom_mesh_info after = carom_mesh_get_info(t->mesh);
    assert_int_equal(t->count.live, live);
    if (status != CAROM_OK) {
        test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory");
        assert_true(how == CAROM_MESH_REBUILD && calls >= k);
        assert_memory_equal(&before, &after, sizeof after);
        expect_hits(t, &at_first, "after an update short of memory");
        test_ok("once more", follow(t, to, how, &err), &err);
    } else {
        assert_true(how != CAROM_MESH_REBUILD || calls < k);
        assert_int_equal(after.refits, how == CAROM_MESH_REFIT || calls >= k);
        assert_int_equal(t->warnings, calls >= k);
    }
    expect_hits(t, &moved, "after an update");
    test_ok("back again", follow(t, &first, CAROM_MESH_AUTO, &err), &err);
    expect_hits(t, &at_first, "back again");
    hits_free(&at_first);
    hits_free(&moved);
    clear(t);
    expect_clean(t, &of_mesh, k);
    return calls;
}

static void test_update(void **state)
{
    static const carom_mesh_follow follows[] = {CAROM_MESH_AUTO, CAROM_MESH_REFIT, CAROM_MESH_REBUILD};
    trial *t;
    (void)state;
    t = trial_new();
    scene to = scattered(&t->s);
    for (size_t f = 0; f < COUNT_OF(follows); f++)
        for (int fail_after = 0; fail_after < 2; fail_after++) {
            size_t k = 1, calls;
            while ((calls = try_update(t, &to, follows[f], k, fail_after)) >= k && k < LIMIT)
                k++;
            print_message("mesh update %d: %zu allocations\n", (int)follows[f], calls);
            assert_true(k < LIMIT);
            assert_true((calls == 0) == (follows[f] == CAROM_MESH_REFIT));
        }
    scene_free(&to);
    trial_free(t);
}

#define FAULTS(name, i)                                                        \
    {                                                                          \
        "faults: " name, test_faults, NULL, NULL, (void *)(uintptr_t)&steps[i] \
    }

#define COMMON                                                                                                         \
    cmocka_unit_test(test_no_leak), FAULTS("context", 0), FAULTS("mesh", 1), FAULTS("sweep", 2), FAULTS("overlap", 3), \
        FAULTS("spheres", 4), FAULTS("mesh sweep", 5), FAULTS("mesh list", 6), FAULTS("first hits as a list", 7),      \
        FAULTS("mesh overlaps", 8)

int main(void)
{
    const struct CMUnitTest on_cpu[] = {COMMON, cmocka_unit_test(test_update)};
    const struct CMUnitTest on_device[] = {COMMON}; /* an update asks nothing of it */
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
