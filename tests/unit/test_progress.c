/* SPDX-License-Identifier: MIT */
/* Progress is reported in order and to the end, for every request on every backend. A cancelled batch has the answers
 * that were reported as done, and statistics count no others. */
#include "tests/support/progress_batches.h"

enum { NEVER = 1000 };

/* ---- the calls of the progress function -------------------------------------------------------------------------- */

/* The progress calls that had new answers, and the number of the one that cancels. */
typedef struct progress_calls {
    int calls, stop_at;
    int at_end; /* instead the one that has all answers cancels */
    uint64_t done, count;
} progress_calls;

static int listen(void *user, uint64_t done, uint64_t count)
{
    progress_calls *t = user;
    assert_true(done >= t->done);
    assert_true(done <= count);
    assert_true(t->calls == 0 || count == t->count);
    if (done == t->done)
        return 0; /* some time has passed */
    t->done = done;
    t->count = count;
    t->calls++;
    return t->at_end ? done == count : t->calls == t->stop_at;
}

/* A batch that ends makes several calls, the last one at its end. A cancelled batch makes none after the one that
 * cancelled it. */
static void check_calls(const progress_calls *t, uint64_t count, carom_accuracy accuracy, carom_status status,
                        const carom_error *err, const carom_stats *stats)
{
    char sentence[64];
    assert_int_equal(t->count, count);
    assert_int_equal(stats->queries, count);
    assert_int_equal(test_on_device() ? stats->on_device : stats->on_cpu, t->done);
    assert_int_equal(stats->on_cpu + stats->on_device, t->done);
    assert_int_equal(stats->by_proof + stats->by_integers, accuracy == CAROM_ACCURACY_EXACT ? t->done : 0);
    if (t->stop_at == NEVER) {
        test_ok("a batch that is listened to", status, err);
        assert_true(t->calls > 1);
        assert_int_equal(t->done, count);
        return;
    }
    (void)snprintf(sentence, sizeof sentence, "at query %llu of %llu", (unsigned long long)t->done,
                   (unsigned long long)count);
    test_error(status, CAROM_ERROR_CANCELLED, err, sentence);
    assert_true(t->at_end || t->calls == t->stop_at);
}

/* ---- calls with an answer for each query ------------------------------------------------------------------------- */

/* Skips exact mode on a device without binary64. There the CPU answers, and the runs on the CPU test that. */
static void need_fp64(carom_accuracy accuracy)
{
    if (accuracy == CAROM_ACCURACY_EXACT && test_on_device() && !test_need_device().fp64)
        test_skip("fp64", "the device has no binary64, and the CPU answers exact mode");
}

/* The batch is cancelled at an early progress call, then runs to its end in the same context. */
static void calls_report_and_cancel(void **state)
{
    const call *this = *state;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    guarded whole[PROGRESS_COLUMNS], part[PROGRESS_COLUMNS];
    need_fp64(this->accuracy);
    progress_enter();
    const uint64_t count = call_count(this);
    progress_calls some = {.stop_at = test_on_device() ? 1 : 2}, all = {.stop_at = NEVER};
    columns_alloc(this, count, whole);
    columns_alloc(this, count, part);
    test_ok("untold", this->ask(this, whole, (carom_progress){NULL, NULL}, &stats, &err), &err);
    carom_status status = this->ask(this, part, (carom_progress){listen, &some}, &stats, &err);
    check_calls(&some, count, this->accuracy, status, &err, &stats);
    assert_true(some.done < count);
    columns_check(this, whole, part, some.done);
    status = this->ask(this, part, (carom_progress){listen, &all}, &stats, &err);
    check_calls(&all, count, this->accuracy, status, &err, &stats);
    columns_check(this, whole, part, count);
    columns_free(whole);
    columns_free(part);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void list_cancelled(const list_request *q, const hit_list *whole, uint64_t capacity)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    hit_list l = list_alloc(whole->queries, capacity, PROGRESS_FILL);
    progress_calls some = {.stop_at = 1}, all = {.stop_at = NEVER};
    carom_status status = ask_list(q, &l, l.queries, (carom_progress){listen, &some}, &stats, &err);
    check_calls(&some, l.queries, q->accuracy, status, &err, &stats);
    assert_true(some.done < l.queries);
    check_beginning(q, whole, &l, some.done);
    status = ask_list(q, &l, l.queries, (carom_progress){listen, &all}, &stats, &err);
    check_calls(&all, l.queries, q->accuracy, status, &err, &stats);
    check_beginning(q, whole, &l, l.queries);
    list_free(&l);
}

static void lists_report_and_cancel(void **state)
{
    enum { SHORT = 1000 };
    const list_request *q = *state;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    need_fp64(q->accuracy);
    progress_enter();
    const uint64_t count = !q->overlaps && q->which == CAROM_HITS_FIRST ? PROGRESS_COMPACTED : room.ball_count;
    hit_list whole = list_alloc(count, count / 4, PROGRESS_FILL);
    test_ok("untold", ask_list(q, &whole, count, (carom_progress){NULL, NULL}, &stats, &err), &err);
    assert_int_equal(whole.complete, count);
    assert_true(whole.total > SHORT);
    list_cancelled(q, &whole, whole.total);
    list_cancelled(q, &whole, SHORT);
    list_free(&whole);
}

/* ---- the ends ---------------------------------------------------------------------------------------------------- */

static void an_empty_batch_says_nothing(void **state)
{
    progress_calls t = {.stop_at = 1};
    carom_error err;
    const carom_mesh_hit_result out = {.size = sizeof out, .triangle = NULL};
    (void)state;
    progress_enter();
    const carom_mesh_sweep_desc desc = progress_sweep(CAROM_ACCURACY_FAST, 0, (carom_progress){listen, &t});
    test_ok("no queries", carom_mesh_sweep_first(room.mesh, &desc, &out, NULL, &err), &err);
    assert_int_equal(t.calls, 0);
}

/* The callback may cancel in the last call, when all queries are answered. All answers are then valid, and the status
 * is still CAROM_ERROR_CANCELLED. */
static void the_last_word_can_cancel(void **state)
{
    enum { COUNT = 1000 };
    progress_calls t = {.at_end = 1};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    int32_t whole[COUNT], part[COUNT];
    carom_mesh_hit_result out = {.size = sizeof out, .triangle = whole};
    (void)state;
    progress_enter();
    carom_mesh_sweep_desc desc = progress_sweep(CAROM_ACCURACY_FAST, COUNT, (carom_progress){NULL, NULL});
    test_ok("untold", carom_mesh_sweep_first(room.mesh, &desc, &out, NULL, &err), &err);
    out.triangle = part;
    desc.batch.progress = (carom_progress){listen, &t};
    check_calls(&t, COUNT, CAROM_ACCURACY_FAST, carom_mesh_sweep_first(room.mesh, &desc, &out, &stats, &err), &err,
                &stats);
    assert_int_equal(t.done, COUNT);
    assert_memory_equal(whole, part, sizeof whole);
}

#define CALL(name, ...)                                    \
    {                                                      \
        name, calls_report_and_cancel, NULL, NULL, &(call) \
        {                                                  \
            __VA_ARGS__                                    \
        }                                                  \
    }
#define LIST(name, ...)                                            \
    {                                                              \
        name, lists_report_and_cancel, NULL, NULL, &(list_request) \
        {                                                          \
            __VA_ARGS__                                            \
        }                                                          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {CALL("sweep pairs", ask_pairs, SWEEP, CAROM_ACCURACY_FAST, {1, 4}),
                                       CALL("overlap pairs", ask_pairs, OVERLAP, CAROM_ACCURACY_FAST, {1, 1}),
                                       CALL("sphere pairs", ask_pairs, SPHERES, CAROM_ACCURACY_FAST, {1, 4}),
                                       CALL("first hits", ask_first, 0, CAROM_ACCURACY_FAST, {4, 4, 4, 4, 4}),
                                       CALL("any hits", ask_any, 0, CAROM_ACCURACY_FAST, {1}),
                                       CALL("any overlaps", ask_overlap_any, 0, CAROM_ACCURACY_FAST, {1}),
                                       CALL("closest points", ask_closest, 0, CAROM_ACCURACY_FAST, {4, 4, 4, 4, 4}),
                                       LIST("all hits", CAROM_ACCURACY_FAST, 0, CAROM_HITS_ALL),
                                       LIST("first hits as a list", CAROM_ACCURACY_FAST, 0, CAROM_HITS_FIRST),
                                       LIST("overlaps", CAROM_ACCURACY_FAST, 1, CAROM_HITS_ALL),
                                       CALL("first hits, exact", ask_first, 0, CAROM_ACCURACY_EXACT, {4, 4, 4, 4, 4}),
                                       cmocka_unit_test(an_empty_batch_says_nothing),
                                       cmocka_unit_test(the_last_word_can_cancel)};
    /* Only on the CPU: a device would have to compile a further kernel for each of these. */
    const struct CMUnitTest more[] = {
        CALL("sphere pairs, exact", ask_pairs, SPHERES, CAROM_ACCURACY_EXACT, {1, 4}),
        CALL("any hits, exact", ask_any, 0, CAROM_ACCURACY_EXACT, {1}),
        CALL("any overlaps, exact", ask_overlap_any, 0, CAROM_ACCURACY_EXACT, {1}),
        CALL("closest points, exact", ask_closest, 0, CAROM_ACCURACY_EXACT, {4, 4, 4, 4, 4}),
        LIST("all hits, exact", CAROM_ACCURACY_EXACT, 0, CAROM_HITS_ALL),
        LIST("overlaps, exact", CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL)};
    if (test_on_device())
        return cmocka_run_group_tests_name("progress", tests, NULL, progress_leave);
    const int failed = cmocka_run_group_tests_name("progress", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("progress, exact", more, NULL, progress_leave);
}
