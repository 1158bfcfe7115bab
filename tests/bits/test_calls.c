/* SPDX-License-Identifier: MIT */
/* What every call with a batch must do, asked of each by its type, in each form and both modes: the same bits on every
 * instruction set, thread count and device; answers that a beginning, a short list, a cancelled batch, a job or a dry
 * run leave as they are. */
#include "tests/support/call_cases.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 300, MANY = 3 << 18, SHARE = 1 << 14 };

/* The subject of this run, and the mesh of all cases. */
typedef struct trial {
    carom_context *context;
    carom_mesh *mesh;
} trial;

static trial trial_of(carom_context *context)
{
    scene s = call_scene();
    trial t = {.context = context};
    t.mesh = scene_mesh(t.context, &s);
    scene_free(&s);
    return t;
}

static trial trial_make(void)
{
    return trial_of(test_context());
}

static void trial_free(trial *t)
{
    carom_mesh_destroy(t->mesh);
    carom_context_destroy(t->context);
}

static void ask_well(call_case *c, const trial *t)
{
    carom_error err = {0};
    test_ok(call_case_name(c), call_case_ask(c, t->context, t->mesh, &err), &err);
    call_case_check(c, "asked");
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (int i = 0; i < call_choices(); i++) {
        call_case *expected = call_case_answer(call_choice_at(i), COUNT, 1, scalar);
        call_case *got = call_case_answer(call_choice_at(i), COUNT, 1, context);
        call_case_compare(expected, got, label);
        call_case_free(expected);
        call_case_free(got);
    }
}

/* ---- parts of a batch -------------------------------------------------------------------------------------------- */

/* Fails unless answers from query `begin` on are the whole batch's: of lists from record 0, of lattices from node 0. */
static void compare_tail(const call_case *whole, const call_case *tail, uint64_t begin)
{
    const int is_list = whole->type->totals != 0;
    const uint64_t *offsets = (const uint64_t *)(const void *)(whole->memory + whole->out[0].offset);
    const size_t from = (size_t)(is_list ? offsets[begin] : begin * whole->nodes);
    const size_t to = (size_t)(is_list ? offsets[whole->count] : whole->count * whole->nodes);
    for (int i = 0; i < whole->out_count; i++) {
        const call_array *a = &whole->out[i];
        if (a->extent != CAROMI_PER_OFFSET && memcmp(whole->memory + a->offset + from * a->element,
                                                     tail->memory + a->offset, (to - from) * a->element) != 0)
            fail_msg("%s: %s from %llu on differs", call_case_name(whole), a->name, (unsigned long long)begin);
    }
}

static void test_begin(void **state)
{
    trial t = trial_make();
    (void)state;
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        const size_t count = call_type(choice.number)->lattice != 0 ? 4 << 12 : COUNT; /* four slabs or rows */
        if ((call_type(choice.number)->serves & CAROMI_SERVES_BEGIN) == 0)
            continue;
        call_case *whole = call_case_make(choice, count, 1), *tail = call_case_make(choice, count, 1);
        call_case_batch(tail)->begin = tail->count * 3 / 4;
        ask_well(whole, &t);
        ask_well(tail, &t);
        compare_tail(whole, tail, call_case_batch(tail)->begin);
        call_case_free(whole);
        call_case_free(tail);
    }
    trial_free(&t);
}

/* A list with half the room holds the records of whole queries, and counts all. */
static void test_short(void **state)
{
    trial t = trial_make();
    (void)state;
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        if (call_type(choice.number)->totals == 0)
            continue;
        call_case *whole = call_case_make(choice, COUNT, 1), *part = call_case_make(choice, COUNT, 1);
        ask_well(whole, &t);
        const uint64_t room = whole->totals.total / 2;
        memcpy(part->structure[1] + sizeof(size_t), &room, sizeof room);
        ask_well(part, &t);
        assert_true(room > 0);
        assert_int_equal(part->totals.total, whole->totals.total);
        assert_true(part->totals.complete > 0 && part->totals.complete < whole->count);
        assert_true(part->totals.stored <= room);
        call_case_compare_first(whole, part, part->totals.complete, "a short list");
        call_case_free(whole);
        call_case_free(part);
    }
    trial_free(&t);
}

static int cancel(void *user, uint64_t done, uint64_t count)
{
    *(uint64_t *)user = done;
    (void)count;
    return 1;
}

/* What is reported as done is answered. A cloud is one piece, whose answers are there at the end alone. A call that is
 * told to end when all its parts are under way already answers all of them; most are told earlier. */
static void test_cancel(void **state)
{
    trial t = trial_make();
    int calls = 0, cancelled = 0;
    (void)state;
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        uint64_t done = UINT64_MAX;
        if (choice.form != CALL_FULL)
            continue;
        call_case *whole = call_case_make(choice, MANY, SHARE), *part = call_case_make(choice, MANY, SHARE);
        carom_error err = {0};
        call_case_batch(part)->progress = (carom_progress){cancel, &done};
        ask_well(whole, &t);
        const carom_status status = call_case_ask(part, t.context, t.mesh, &err);
        calls++;
        if (status != CAROM_OK) {
            test_error(status, CAROM_ERROR_CANCELLED, &err, "");
            cancelled++;
        } else
            done = part->count;
        assert_true(done <= part->count);
        if (part->type->unit != CAROMI_UNIT_SPHERE || status == CAROM_OK)
            call_case_compare_first(whole, part, done, "cancelled");
        else
            call_case_check(part, "cancelled");
        call_case_free(whole);
        call_case_free(part);
    }
    assert_true(2 * cancelled > calls);
    trial_free(&t);
}

/* ---- other ways to ask ------------------------------------------------------------------------------------------- */

static void test_jobs(void **state)
{
    trial t = trial_make();
    (void)state;
    for (int i = 0; i < call_choices(); i++) {
        call_case *expected = call_case_make(call_choice_at(i), COUNT, 1);
        call_case *got = call_case_make(call_choice_at(i), COUNT, 1);
        carom_job *job = NULL;
        carom_error err = {0};
        ask_well(expected, &t);
        call_case_batch(got)->job = &job;
        test_ok("submit", call_case_ask(got, t.context, t.mesh, &err), &err);
        test_ok(call_case_name(got), carom_job_wait(job, (double)INFINITY, &err), &err);
        carom_job_destroy(job);
        call_case_compare(expected, got, "a job");
        call_case_free(expected);
        call_case_free(got);
    }
    trial_free(&t);
}

/* To prepare touches no array, and what follows has the same bits. */
static void test_prepare(void **state)
{
    trial t = trial_make();
    (void)state;
    for (int i = 0; i < call_choices(); i++) {
        call_case *expected = call_case_make(call_choice_at(i), COUNT, 1);
        call_case *got = call_case_make(call_choice_at(i), COUNT, 1);
        carom_error err = {0};
        void *nothing = mmap(NULL, got->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(nothing != MAP_FAILED);
        call_case_place(got, nothing);
        call_case_batch(got)->prepare = 1;
        test_ok(call_case_name(got), call_case_ask(got, t.context, t.mesh, &err), &err);
        call_case_expect_untouched(got, "prepared");
        assert_int_equal(got->stats.queries + got->stats.on_device + got->stats.on_cpu + got->stats.by_proof, 0);
        const uint64_t bytes = test_mesh_info(t.mesh).bytes;
        (void)munmap(nothing, got->bytes);
        call_case_place(got, got->memory);
        call_case_batch(got)->prepare = 0;
        ask_well(expected, &t);
        ask_well(got, &t);
        assert_int_equal(test_mesh_info(t.mesh).bytes, bytes);
        call_case_compare(expected, got, "after it was prepared");
        call_case_free(expected);
        call_case_free(got);
    }
    trial_free(&t);
}

/* A child process answers as its parent does. (Those of a device: test_fork.c.) */
static void test_fork(void **state)
{
    (void)state;
    for (int i = 0; i < call_choices(); i++) {
        trial t = trial_of(test_cpu(CAROM_ISA_AUTO, 2));
        call_case *expected = call_case_make(call_choice_at(i), COUNT, 1);
        call_case *got = call_case_make(call_choice_at(i), COUNT, 1);
        ask_well(expected, &t);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            carom_error err = {0};
            const carom_status status = call_case_ask(got, t.context, t.mesh, &err);
            call_case_compare(expected, got, "in a child process");
            _exit(status == CAROM_OK ? 0 : 1);
        }
        int ended = 0;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
        call_case_free(expected);
        call_case_free(got);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SAME_BITS_ON_CPU(check_same),   SAME_BITS_ON_DEVICE(check_same), cmocka_unit_test(test_begin),
        cmocka_unit_test(test_short),   cmocka_unit_test(test_cancel),   cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_prepare), cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
