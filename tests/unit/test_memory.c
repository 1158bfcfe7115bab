/* SPDX-License-Identifier: MIT */
/* The allocator hooks. All memory is allocated and freed through them. Whichever allocation fails, the call reports it,
 * leaks nothing, and leaves context and mesh usable. */
#include "tests/support/call_cases.h"

enum { SEED = 71, HEADER = 64, LIMIT = 400, COUNT = 9000, SHARE = 8 };
static const uint64_t magic = UINT64_C(0xca4011a110ca7e5d);

typedef struct counter {
    size_t live, calls;
    size_t fail_at; /* number of the allocation that fails, from 1; 0: none */
    int fail_after; /* all later ones fail too */
    int broken;     /* foreign memory was freed, or a request was invalid */
} counter;

/* Each block has a header that marks it as allocated here. Memory is filled with a pattern, because no code may rely on
 * its contents. */
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

/* ---- steps ------------------------------------------------------------------------------------------------------- */

typedef struct trial {
    counter count;
    carom_context *context;
    carom_mesh *mesh;
    int warnings; /* in the log */
    scene s;
    swept_spheres b;     /* for updates of the mesh */
    call_case *expected; /* the CPU's answers to the call */
} trial;

static void count_warning(void *user, carom_log_level level, const char *message)
{
    (void)message;
    ((trial *)user)->warnings += level == CAROM_LOG_WARNING;
}

static carom_status make_context(trial *t, carom_error *err)
{
    carom_context_desc desc = test_desc(test_on_device() ? CAROM_BACKEND_OPENCL : CAROM_BACKEND_CPU);
    desc.device = test_on_device() ? desc.device : "a name to be copied";
    desc.threads = 3;
    test_need_processors(3);
    desc.log = count_warning;
    desc.log_user = t;
    desc.allocator = (carom_allocator){count_alloc, count_free, &t->count};
    return carom_context_create(&desc, &t->context, err);
}

/* Queries of a call; spheres of a cloud are all ordinary. */
static size_t count_of(call_choice choice)
{
    return test_on_device() || call_type(choice.number)->unit == CAROMI_UNIT_SPHERE ? COUNT / 8 : COUNT;
}

static carom_status make_mesh(trial *t, carom_error *err)
{
    carom_mesh_desc desc = scene_desc(&t->s);
    return carom_mesh_create(t->context, &desc, &t->mesh, err);
}

/* Makes a call. If it succeeds, its answers must be right, also when an allocation has failed. */
static carom_status ask_call(trial *t, call_choice choice, carom_error *err)
{
    call_case *c = call_case_make(choice, count_of(choice), SHARE);
    memset(&c->totals, 0, sizeof c->totals);
    const carom_status status = call_case_ask(c, t->context, t->mesh, err);
    if (status == CAROM_OK)
        call_case_compare(t->expected, c, "a batch short of memory");
    else if (c->type->totals != 0) /* complete queries are right even if the call failed */
        call_case_compare_first(t->expected, c, c->totals.complete, "a batch short of memory");
    call_case_check(c, "a batch short of memory");
    call_case_free(c);
    return status;
}

/* An operation that is run while allocations fail: the creation of a context, the creation of a mesh, or a call. */
typedef struct step {
    const char *name;
    carom_status (*run)(trial *t, carom_error *err); /* NULL: make the call `asked` */
    call_choice asked;
    int needs; /* 0 nothing, 1 a context, 2 a mesh */
} step;

static const step step_context = {"context", make_context, {0}, 0}, step_mesh = {"mesh", make_mesh, {0}, 1};

static carom_status run_step(trial *t, const step *s, carom_error *err)
{
    return s->run != NULL ? s->run(t, err) : ask_call(t, s->asked, err);
}

/* ---- failing allocations ----------------------------------------------------------------------------------------- */

/* The mesh of all calls, with the masks of its triangles or without. */
static trial *trial_new(int masked)
{
    trial *t = test_alloc(1, sizeof *t);
    t->s = call_scene();
    if (!masked) {
        free(t->s.masks);
        t->s.masks = NULL;
    }
    t->b = swept_spheres_mixed(SEED, COUNT);
    return t;
}

static void trial_free(trial *t)
{
    scene_free(&t->s);
    swept_spheres_free(&t->b);
    free(t);
}

static call_case *answer_of_cpu(call_choice choice)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    call_case *c = call_case_answer(choice, count_of(choice), SHARE, cpu);
    carom_context_destroy(cpu);
    return c;
}

/* Creates what the step needs, without failures. Each time the context is new, because a lost device stays lost. */
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

/* Blocks that a call may leave although it failed: the mesh's copy on the device, and what the mesh or the context keep
 * for contacts, lattices and clouds. */
static size_t kept_most(const step *s)
{
    enum { COPY = 1, FOR_SEARCHES = 24 };
    const int keeps = s->run == NULL &&
                      (s->asked.number == CALL_mesh_contacts || call_type(s->asked.number)->unit != CAROMI_UNIT_QUERY);
    return (size_t)(test_on_device() ? COPY : 0) + (keeps ? FOR_SEARCHES : 0);
}

/* Runs the step with allocation k failing. Returns the number of allocations that it tried; *status is its result. */
static size_t try_step(trial *t, const step *s, size_t k, int fail_after, carom_status *status)
{
    carom_error err = {0};
    const size_t before = t->count.live;
    t->count.calls = 0;
    t->count.fail_at = k;
    t->count.fail_after = fail_after;
    *status = run_step(t, s, &err);
    const size_t calls = t->count.calls;
    t->count.fail_at = 0;
    if (calls < k) {
        test_ok(s->name, *status, &err);
    } else if (*status != CAROM_OK) { /* the step may succeed or run out of memory, but not fail otherwise */
        if (*status != CAROM_ERROR_OUT_OF_MEMORY || err.status != *status || !err.message[0])
            fail_msg("%s, allocation %zu fails: %s: '%s'", s->name, k, carom_status_name(*status), err.message);
        assert_true(t->count.live >= before && t->count.live <= before + kept_most(s));
        assert_true(s->needs != 0 || t->context == NULL);
        assert_true(s->run != make_mesh || t->mesh == NULL);
    } else if (s->run != NULL && !test_on_device()) {
        fail_msg("%s succeeds although allocation %zu failed", s->name, k);
    }
    return calls;
}

/* Distance between the allocations that fail. On a device most allocations belong to the slow bit probe. So with less
 * test effort only one in three fails. */
static size_t stride_of(const step *s)
{
    return test_on_device() && s->run == NULL && test_effort(100) < 100 ? 3 : 1;
}

/* Makes every allocation of the step fail, alone or with all later ones (fail_after; 2: both in turn). A call that
 * fails for want of memory leaves context, mesh and device as they were, so the next try uses them again. A call that
 * succeeds in spite of a failed allocation may have cached its work, so later tries allocate less. */
static void test_each(trial *t, const step *s, int fail_after)
{
    size_t k = 1, failed = 0, calls;
    carom_status status = CAROM_OK;
    for (;; k += stride_of(s)) {
        if (status == CAROM_OK || s->needs == 0)
            prepare(t, s);
        calls = try_step(t, s, k, fail_after < 2 ? fail_after : (int)(k % 2), &status);
        failed += status != CAROM_OK;
        if (status == CAROM_OK || s->needs == 0) {
            clear(t);
            expect_clean(t, s, k);
        }
        if (calls < k)
            break;
        assert_true(k < LIMIT);
    }
    print_message("%s: %zu allocations, %zu failures\n", s->name, calls, failed);
    assert_true(failed > 0); /* otherwise the hooks are not used */
}

static void test_step(void **state)
{
    if (test_on_device())
        (void)test_need_device();
    for (int masked = 0; masked < 2; masked++) {
        trial *t = trial_new(masked);
        for (int fail_after = 0; fail_after < 2; fail_after++)
            test_each(t, *state, fail_after);
        trial_free(t);
    }
}

/* A call in one mode. A form with indices makes the allocations of the full one; on a device, where most belong to the
 * bit probe, so does the bare one. */
static void test_call(void **state)
{
    const call_choice *of = *state;
    if (test_on_device())
        (void)test_need_device();
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        if (choice.number != of->number || choice.accuracy != of->accuracy ||
            choice.form > (test_on_device() ? CALL_FULL : CALL_BARE))
            continue;
        trial *t = trial_new(1);
        t->expected = answer_of_cpu(choice);
        const step s = {t->expected->type->name, NULL, choice, call_is_of_mesh(t->expected->type) ? 2 : 1};
        for (int fail_after = test_on_device() ? 2 : 0; fail_after < (test_on_device() ? 3 : 2); fail_after++)
            test_each(t, &s, fail_after);
        call_case_free(t->expected);
        trial_free(t);
    }
}

/* Makes all calls one after the other. All memory is freed at the end, and some is kept until then. */
static void test_no_leak(void **state)
{
    carom_error err = {0};
    (void)state;
    if (test_on_device())
        (void)test_need_device();
    trial *t = trial_new(1);
    for (int round = 0; round < 3; round++) {
        size_t held = 0;
        const call_choice last = {.number = CALL_mesh_sweep_first};
        const step all = {"all calls", NULL, last, 2};
        prepare(t, &all);
        for (int i = 0; i < call_choices(); i++) {
            t->expected = answer_of_cpu(call_choice_at(i));
            test_ok(call_case_name(t->expected), ask_call(t, call_choice_at(i), &err), &err);
            held = t->count.live > held ? t->count.live : held;
            call_case_free(t->expected);
        }
        assert_true(held >= 3);
        if (round % 2) { /* a mesh keeps its context alive */
            carom_context_destroy(t->context);
            t->context = NULL;
            t->expected = answer_of_cpu(last);
            test_ok("the last", ask_call(t, last, &err), &err);
            call_case_free(t->expected);
            assert_true(t->count.live > 0);
        }
        clear(t);
        expect_clean(t, &all, 0);
    }
    trial_free(t);
}

/* ---- a mesh that moves ------------------------------------------------------------------------------------------- */

static carom_status follow(trial *t, const scene *s, carom_mesh_follow how, carom_error *err)
{
    const carom_points vertices = scene_desc(s).vertices;
    return carom_mesh_update(t->mesh, &vertices, how, err);
}

/* First hits of the mesh, without failing allocations. */
static hits all_hits(trial *t)
{
    hits h = hits_alloc(t->b.count, 0xa5);
    t->count.fail_at = 0;
    sweep_first(t->mesh, &t->b, &h);
    return h;
}

static void expect_hits(trial *t, const hits *expected, const char *label)
{
    hits got = all_hits(t);
    hits_compare(&t->b, expected, &got, t->b.count, -1, label);
    hits_free(&got);
}

/* The same triangles with scattered vertices, for which the old BVH is useless. */
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

/* Updates the mesh with allocation k failing, and with `fail_after` all later ones. A failed rebuild leaves the mesh
 * unchanged; auto falls back to a refit. Returns the number of allocations that were requested. */
static size_t try_update(trial *t, const scene *to, carom_mesh_follow how, size_t k, int fail_after)
{
    const step of_mesh = {"mesh update", NULL, {0}, 2};
    carom_error err = {0};
    prepare(t, &of_mesh);
    scene first = t->s;
    const carom_mesh_info before = test_mesh_info(t->mesh);
    hits at_first = all_hits(t), moved = sweep_scene(t->context, to, &t->b);
    t->count.calls = 0;
    t->count.fail_at = k;
    t->count.fail_after = fail_after;
    const size_t live = t->count.live;
    t->warnings = 0;
    const carom_status status = follow(t, to, how, &err);
    const size_t calls = t->count.calls;
    const carom_mesh_info after = test_mesh_info(t->mesh);
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

static void update_each(int masked)
{
    static const carom_mesh_follow follows[] = {CAROM_MESH_AUTO, CAROM_MESH_REFIT, CAROM_MESH_REBUILD};
    trial *t = trial_new(masked);
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

static void test_update(void **state)
{
    (void)state;
    update_each(0);
    update_each(1);
}

int main(void)
{
    struct CMUnitTest tests[2 * CALL_TYPES + 4] = {
        cmocka_unit_test(test_no_leak),
        {"faults: context", test_step, NULL, NULL, (void *)(uintptr_t)&step_context},
        {"faults: mesh", test_step, NULL, NULL, (void *)(uintptr_t)&step_mesh},
    };
    static char names[2 * CALL_TYPES][64];
    static call_choice choices[2 * CALL_TYPES];
    for (int i = 0; i < 2 * CALL_TYPES; i++) {
        choices[i] = (call_choice){.number = i / 2, .accuracy = (carom_accuracy)(i % 2)};
        snprintf(names[i], sizeof names[i], "faults: %s%s", call_type(i / 2)->name, i % 2 ? ", exact" : "");
        tests[3 + i] = (struct CMUnitTest){names[i], test_call, NULL, NULL, &choices[i]};
    }
    if (!test_on_device()) /* an update does not use the device */
        tests[3 + 2 * CALL_TYPES] = (struct CMUnitTest)cmocka_unit_test(test_update);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
