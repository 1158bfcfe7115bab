/* SPDX-License-Identifier: MIT */
/* A batch of the CPU can be ended within a piece: it has the answers that were reported as done, and statistics count
 * no others. */
#include <math.h>
#include <threads.h>
#include <time.h>

#include "tests/support/progress_batches.h"

/* Ends a batch when so many reports in a row have had no new answers, so within a piece. Reports are 50 ms apart: the
 * wait makes one due wherever the library looks at the clock, however fast the machine. */
typedef struct patience {
    int most, repeats;
    uint64_t done;
} patience;

static int wait_and_see(void *user, uint64_t done, uint64_t count)
{
    patience *p = user;
    (void)thrd_sleep(&(struct timespec){.tv_nsec = 60 * 1000 * 1000}, NULL);
    assert_true(done >= p->done && done <= count);
    p->repeats = done > p->done || done == 0 ? 0 : p->repeats + 1;
    p->done = done;
    return p->repeats == p->most;
}

/* The same inputs with one thread, whose blocks come in a fixed order. */
static void enter_alone(carom_context **context, carom_mesh **mesh)
{
    progress_enter();
    *context = room.context;
    *mesh = room.mesh;
    room.context = test_cpu(CAROM_ISA_AUTO, 1);
    room.mesh = progress_mesh(room.context);
}

static void leave_alone(carom_context *context, carom_mesh *mesh)
{
    carom_mesh_destroy(room.mesh);
    carom_context_destroy(room.context);
    room.context = context;
    room.mesh = mesh;
}

/* Faults in statistics and error of a batch that was ended within a piece. */
static void check_patience(const patience *p, uint64_t count, carom_accuracy accuracy, carom_status status,
                           const carom_error *err, const carom_stats *stats)
{
    char sentence[64];
    (void)snprintf(sentence, sizeof sentence, "at query %llu of %llu", (unsigned long long)p->done,
                   (unsigned long long)count);
    test_error(status, CAROM_ERROR_CANCELLED, err, sentence);
    assert_int_equal(p->repeats, p->most);
    assert_true(p->done > 0 && p->done < count);
    assert_int_equal(stats->on_cpu, p->done);
    assert_int_equal(stats->by_proof + stats->by_integers, accuracy == CAROM_ACCURACY_EXACT ? p->done : 0);
}

static void calls_end_within_a_piece(void **state)
{
    const call *this = *state;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    guarded whole[PROGRESS_COLUMNS], part[PROGRESS_COLUMNS];
    patience p = {.most = 1};
    carom_context *context;
    carom_mesh *mesh;
    enter_alone(&context, &mesh);
    const uint64_t count = call_count(this);
    columns_alloc(this, count, whole);
    columns_alloc(this, count, part);
    test_ok("untold", this->ask(this, whole, (carom_progress){NULL, NULL}, &stats, &err), &err);
    leave_alone(context, mesh); /* see lists_end_within_a_piece */
    enter_alone(&context, &mesh);
    const carom_status status = this->ask(this, part, (carom_progress){wait_and_see, &p}, &stats, &err);
    check_patience(&p, count, this->accuracy, status, &err, &stats);
    columns_check(this, whole, part, p.done);
    columns_free(whole);
    columns_free(part);
    leave_alone(context, mesh);
}

/* The first part of the piece is in the list when the batch ends; its totals are those of the pieces before. */
static void lists_end_within_a_piece(void **state)
{
    enum { BLOCKS = 6 };
    const list_request *q = *state;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    patience p = {.most = BLOCKS};
    carom_context *context;
    carom_mesh *mesh;
    enter_alone(&context, &mesh);
    hit_list whole = list_alloc(room.ball_count, room.ball_count / 4, PROGRESS_FILL),
             part = list_alloc(room.ball_count, whole.capacity, PROGRESS_FILL);
    test_ok("untold", ask_list(q, &whole, room.ball_count, (carom_progress){NULL, NULL}, &stats, &err), &err);
    leave_alone(context, mesh); /* the sizes of pieces are not known again: as a job, that call has learned them */
    enter_alone(&context, &mesh);
    const carom_status status = ask_list(q, &part, room.ball_count, (carom_progress){wait_and_see, &p}, &stats, &err);
    check_patience(&p, room.ball_count, q->accuracy, status, &err, &stats);
    check_beginning(q, &whole, &part, p.done);
    list_free(&whole);
    list_free(&part);
    leave_alone(context, mesh);
}

/* ---- one piece --------------------------------------------------------------------------------------------------- */

/* Last report of a call; the report number `ends` ends it. */
typedef struct last_report {
    uint64_t done;
    int calls, ends;
} last_report;

static int note(void *user, uint64_t done, uint64_t count)
{
    last_report *r = user;
    (void)thrd_sleep(&(struct timespec){.tv_nsec = 60 * 1000 * 1000}, NULL); /* the next report is due at once */
    assert_true(done >= r->done && done <= count);
    r->done = done;
    r->calls++;
    return r->calls == r->ends && done < count;
}

/* A cloud has no pieces: its reports tell of one search, and do not fall. */
static void a_cloud_is_searched_once(void **state)
{
    enum { COUNT = 3000, MOST = 100 };
    float *center = malloc(sizeof *center * 3 * COUNT);
    uint32_t *partners = malloc(sizeof *partners * COUNT), *untold = malloc(sizeof *untold * COUNT);
    last_report r = {0};
    carom_error err;
    const float radius = 0.02F;
    uint64_t random = 83;
    (void)state;
    progress_enter();
    for (int i = 0; i < 3 * COUNT; i++)
        center[i] = progress_between(&random, 0, 1);
    carom_cloud_desc desc = {
        .batch = {.size = sizeof desc, .count = COUNT}, .center = carom_xyz(center), .radius = {&radius, CAROM_REPEAT}};
    carom_cloud_count_result out = {.size = sizeof out, .partners = untold};
    test_ok("untold", carom_cloud_count(room.context, &desc, &out, NULL, &err), &err);
    desc.batch.progress = (carom_progress){note, &r};
    out.partners = partners;
    test_ok("told", carom_cloud_count(room.context, &desc, &out, NULL, &err), &err);
    assert_int_equal(r.done, COUNT);
    assert_in_range(r.calls, 1, MOST);
    assert_memory_equal(untold, partners, sizeof *partners * COUNT);
    free(center);
    free(partners);
    free(untold);
}

/* Tiles that a drop map has not begun are not counted. */
static void a_drop_map_ends_within_a_piece(void **state)
{
    enum { SIDE = 400 }; /* two pieces */
    float *height = malloc(sizeof *height * SIDE * SIDE);
    last_report r = {.ends = 2}; /* the one in the second piece */
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_context *context;
    carom_mesh *mesh;
    (void)state;
    enter_alone(&context, &mesh);
    const carom_mesh_drop_desc desc = {
        .batch = {.size = sizeof desc, .count = SIDE, .progress = {note, &r}},
        .lattice = {.origin = {-1, -1, 0}, .spacing = 2.0 / SIDE, .dims = {SIDE, SIDE, 1}},
        .radius = 0.1F};
    const carom_mesh_drop_result out = {.size = sizeof out, .height = height};
    for (int i = 0; i < SIDE * SIDE; i++)
        height[i] = NAN;
    test_error(carom_mesh_drop(room.mesh, &desc, &out, &stats, &err), CAROM_ERROR_CANCELLED, &err, "cancelled at row");
    assert_true(r.done < SIDE);
    assert_int_equal(stats.on_cpu, r.done * SIDE);
    assert_int_equal(stats.by_proof + stats.by_integers, r.done * SIDE);
    for (uint64_t i = 0; i < r.done * SIDE; i++)
        assert_false(isnan(height[i]));
    leave_alone(context, mesh);
    free(height);
}

#define WITHIN(name, ...)                                   \
    {                                                       \
        name, calls_end_within_a_piece, NULL, NULL, &(call) \
        {                                                   \
            __VA_ARGS__                                     \
        }                                                   \
    }
#define LIST_WITHIN(name, ...)                                      \
    {                                                               \
        name, lists_end_within_a_piece, NULL, NULL, &(list_request) \
        {                                                           \
            __VA_ARGS__                                             \
        }                                                           \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {WITHIN("sweep pairs", ask_pairs, SWEEP, CAROM_ACCURACY_EXACT, {1, 4}),
                                       WITHIN("first hits", ask_first, 0, CAROM_ACCURACY_EXACT, {4, 4, 4, 4, 4}),
                                       WITHIN("any hits", ask_any, 0, CAROM_ACCURACY_FAST, {1}),
                                       WITHIN("closest points", ask_closest, 0, CAROM_ACCURACY_EXACT, {4, 4, 4, 4, 4}),
                                       LIST_WITHIN("all hits", CAROM_ACCURACY_EXACT, 0, CAROM_HITS_ALL),
                                       LIST_WITHIN("first hits as a list", CAROM_ACCURACY_FAST, 0, CAROM_HITS_FIRST),
                                       LIST_WITHIN("overlaps", CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL),
                                       cmocka_unit_test(a_cloud_is_searched_once),
                                       cmocka_unit_test(a_drop_map_ends_within_a_piece)};
    return cmocka_run_group_tests_name("progress within a piece", tests, NULL, progress_leave);
}
