/* SPDX-License-Identifier: MIT */
/* Progress is reported in order and to the end, for every request on every backend. A cancelled batch has the answers
 * that were reported as done, and statistics count no others. */
#include "tests/support/lists.h"

/* Sizes of batches: some whole pieces and FEW queries more. A device's pieces are eight times as large as the CPU's.
 * First hits as a list have pieces of another size. */
enum {
    PAIR_PIECE = 1 << 20,
    SPHERE_PIECE = 1 << 18,
    FEW = 9,
    COMPACTED = (2 << 20) + FEW,
    CHUNK = 300000, /* of a device; pieces do not end with a chunk */
    KINDS_OF_PAIR = 1000,
    SEED = 83,
    NEVER = 1000,
    FILL = 0x55
};

/* ---- the calls of the progress function -------------------------------------------------------------------------- */

/* The arguments of the last progress call, and the number of the call that cancels. */
typedef struct progress_calls {
    int calls, stop_at; /* number of the call that cancels */
    uint64_t done, count;
} progress_calls;

static int listen(void *user, uint64_t done, uint64_t count)
{
    progress_calls *t = user;
    assert_true(done > t->done);
    assert_true(done <= count);
    assert_true(t->calls == 0 || count == t->count);
    t->done = done;
    t->count = count;
    return ++t->calls == t->stop_at;
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
    assert_int_equal(t->calls, t->stop_at);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static struct {
    carom_context *context;
    carom_mesh *mesh;
    uint64_t pair_count, ball_count; /* numbers of queries; a list may use more spheres */
    uint32_t *which;
    queries q[QUERY_TYPES];
    swept_spheres swept_spheres;
} room;

static float between(uint64_t *state, float low, float high)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (float)(*state >> 40) * 0x1p-24f;
}

static void open_pairs(void)
{
    room.pair_count = (test_on_device() ? 8 : 2) * (uint64_t)PAIR_PIECE + FEW;
    room.which = test_alloc(room.pair_count, sizeof *room.which);
    for (uint64_t i = 0; i < room.pair_count; i++)
        room.which[i] = (uint32_t)(i * 7 % KINDS_OF_PAIR);
    for (int type = 0; type < QUERY_TYPES; type++)
        room.q[type] = queries_mixed(type, SEED, KINDS_OF_PAIR);
}

/* Eight triangles. One sphere in eight comes near them, and a third of these hits. So every piece has hits, and is fast
 * even on an emulator. */
static void open_mesh(void)
{
    uint64_t s = SEED;
    scene eight = scene_soup(SEED, 8, 0.7);
    room.mesh = scene_mesh(room.context, &eight);
    scene_free(&eight);
    room.ball_count = (test_on_device() ? 8 : 2) * (uint64_t)SPHERE_PIECE + FEW;
    room.swept_spheres = swept_spheres_alloc(COMPACTED > room.ball_count ? COMPACTED : room.ball_count);
    for (size_t i = 0; i < room.swept_spheres.count; i++)
        for (int c = 0; c < SPHERE_T_MAX; c++)
            room.swept_spheres.column[c][i] = i % 8 != 0           ? (c == 0 ? 100.0f : 0.0f)
                                              : c == SPHERE_RADIUS ? between(&s, 0, 0.1f)
                                                                   : between(&s, -1, 1);
}

/* One context for all tests, for a device compiles its kernels for each. */
static void enter(void)
{
    if (room.context != NULL)
        return;
    room.context = test_on_device() ? test_device(0, CHUNK) : test_cpu(CAROM_ISA_AUTO, 2);
    open_pairs();
    open_mesh();
}

static int leave(void **state)
{
    (void)state;
    carom_mesh_destroy(room.mesh);
    carom_context_destroy(room.context);
    swept_spheres_free(&room.swept_spheres);
    for (int type = 0; type < QUERY_TYPES; type++)
        queries_free(&room.q[type]);
    free(room.which);
    return 0;
}

/* ---- calls with an answer for each query ------------------------------------------------------------------------- */

/* A call and the sizes of its output columns in bytes; 0: no more columns. */
enum { COLUMNS = 5 };
typedef struct call call;
struct call {
    carom_status (*ask)(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                        carom_error *err);
    int type; /* of pairs */
    carom_accuracy accuracy;
    size_t size[COLUMNS];
};

static void *at(const guarded *column)
{
    return column->data;
}

static carom_points_out points_at(const guarded *to)
{
    return (carom_points_out){at(&to[0]), at(&to[1]), at(&to[2]), sizeof(float)};
}

static carom_status ask_pairs(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                              carom_error *err)
{
    const answers out = {.type = this->type, .count = room.pair_count, .field = {to[0], to[1]}};
    inputs in = inputs_of(&room.q[this->type]);
    in.indices = pair_indices(room.which, room.which, KINDS_OF_PAIR, KINDS_OF_PAIR);
    in.progress = progress;
    return ask_with(room.context, this->type, this->accuracy, room.pair_count, &in, &out, 1 << 0 | 1 << 1, stats, err);
}

static carom_mesh_sweep_desc moving(carom_accuracy accuracy, uint64_t count, carom_progress progress)
{
    carom_mesh_sweep_desc desc = swept_spheres_desc(&room.swept_spheres, 0, count);
    desc.batch.accuracy = accuracy;
    desc.batch.progress = progress;
    return desc;
}

static carom_mesh_overlap_desc at_rest(carom_accuracy accuracy, uint64_t count, carom_progress progress)
{
    carom_mesh_overlap_desc desc = swept_spheres_at_rest(&room.swept_spheres, 0, count);
    desc.batch.accuracy = accuracy;
    desc.batch.progress = progress;
    return desc;
}

static carom_status ask_first(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                              carom_error *err)
{
    const carom_mesh_sweep_desc desc = moving(this->accuracy, room.ball_count, progress);
    const carom_mesh_hit_result out = {
        .size = sizeof out, .triangle = at(&to[0]), .t = at(&to[1]), .point = points_at(&to[2])};
    return carom_mesh_sweep_first(room.mesh, &desc, &out, stats, err);
}

static carom_status ask_any(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                            carom_error *err)
{
    const carom_mesh_sweep_desc desc = moving(this->accuracy, room.ball_count, progress);
    return carom_mesh_sweep_any(room.mesh, &desc, TEST_ANY(at(&to[0])), stats, err);
}

static carom_status ask_overlap_any(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                                    carom_error *err)
{
    const carom_mesh_overlap_desc desc = at_rest(this->accuracy, room.ball_count, progress);
    return carom_mesh_overlap_any(room.mesh, &desc, TEST_ANY(at(&to[0])), stats, err);
}

static carom_status ask_closest(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                                carom_error *err)
{
    carom_mesh_closest_desc desc = swept_spheres_closest(&room.swept_spheres, 0, room.ball_count);
    desc.batch.accuracy = this->accuracy;
    desc.batch.progress = progress;
    const carom_mesh_closest_result out = {
        .size = sizeof out, .triangle = at(&to[0]), .distance = at(&to[1]), .point = points_at(&to[2])};
    return carom_mesh_closest(room.mesh, &desc, &out, stats, err);
}

static void columns_alloc(const call *this, uint64_t count, guarded *to)
{
    for (int c = 0; c < COLUMNS; c++)
        to[c] = guarded_alloc(count * this->size[c], 0, FILL);
}

/* Checks that the first `done` answers are right, and that the last query's answer is untouched if it is not among
 * them. */
static void columns_check(const call *this, const guarded *whole, const guarded *part, uint64_t done)
{
    for (int c = 0; c<COLUMNS &&this->size[c]> 0; c++) {
        assert_memory_equal(whole[c].data, part[c].data, done * this->size[c]);
        for (size_t k = 1; done * this->size[c] < part[c].size && k <= this->size[c]; k++)
            assert_int_equal(part[c].data[part[c].size - k], FILL);
        guarded_check(&part[c], "a batch that is cancelled");
    }
}

/* Skips exact mode on a device without binary64. There the CPU answers, and the runs on the CPU test that. */
static void need_fp64(carom_accuracy accuracy)
{
    if (accuracy == CAROM_ACCURACY_EXACT && test_on_device() && !test_need_device().fp64)
        test_skip("fp64", "the device has no binary64, and the CPU answers exact mode");
}

/* The batch is cancelled at its last progress call but one, then runs to its end in the same context. */
static void calls_report_and_cancel(void **state)
{
    const call *this = *state;
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    guarded whole[COLUMNS], part[COLUMNS];
    need_fp64(this->accuracy);
    enter();
    const uint64_t count = this->ask == ask_pairs ? room.pair_count : room.ball_count;
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
    for (int c = 0; c < COLUMNS; c++) {
        guarded_free(&whole[c]);
        guarded_free(&part[c]);
    }
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static carom_status ask_list(const list_request *q, hit_list *l, uint64_t count, progress_calls *t, carom_stats *stats,
                             carom_error *err)
{
    const carom_progress progress = {t != NULL ? listen : NULL, t};
    const carom_mesh_sweep_desc sweep = moving(q->accuracy, count, progress);
    const carom_mesh_overlap_desc rest = at_rest(q->accuracy, count, progress);
    carom_hit_list list = list_desc(l, q->overlaps ? LIST_OVERLAPS : LIST_HITS);
    return q->overlaps ? carom_mesh_overlap_list(room.mesh, &rest, &list, stats, err)
                       : carom_mesh_sweep_list(room.mesh, &sweep, q->which, &list, stats, err);
}

/* Checks that `l` is the beginning of the whole list: the hits of `done` queries are counted, and records are written
 * for as many queries as fit. */
static void check_beginning(const list_request *q, const hit_list *whole, const hit_list *l, uint64_t done)
{
    uint64_t fit = 0;
    while (fit < done && list_offset(whole, fit + 1) <= l->capacity)
        fit++;
    assert_memory_equal(whole->offsets.data, l->offsets.data, (done + 1) * sizeof(uint64_t));
    assert_int_equal(l->total, list_offset(whole, done));
    assert_int_equal(l->complete, fit);
    assert_int_equal(l->stored, list_offset(whole, fit));
    assert_memory_equal(whole->query.data, l->query.data, l->stored * sizeof(uint64_t));
    for (int f = 0; f < (q->overlaps ? 1 : HIT_FIELDS); f++)
        assert_memory_equal(whole->hits.field[f].data, l->hits.field[f].data, l->stored * hit_field_size(f));
}

static void list_cancelled(const list_request *q, const hit_list *whole, uint64_t capacity)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    hit_list l = list_alloc(whole->queries, capacity, FILL);
    progress_calls some = {.stop_at = 1}, all = {.stop_at = NEVER};
    carom_status status = ask_list(q, &l, l.queries, &some, &stats, &err);
    check_calls(&some, l.queries, q->accuracy, status, &err, &stats);
    assert_true(some.done < l.queries);
    check_beginning(q, whole, &l, some.done);
    status = ask_list(q, &l, l.queries, &all, &stats, &err);
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
    enter();
    const uint64_t count = !q->overlaps && q->which == CAROM_HITS_FIRST ? COMPACTED : room.ball_count;
    hit_list whole = list_alloc(count, count / 4, FILL);
    test_ok("untold", ask_list(q, &whole, count, NULL, &stats, &err), &err);
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
    enter();
    const carom_mesh_sweep_desc desc = moving(CAROM_ACCURACY_FAST, 0, (carom_progress){listen, &t});
    test_ok("no queries", carom_mesh_sweep_first(room.mesh, &desc, &out, NULL, &err), &err);
    assert_int_equal(t.calls, 0);
}

/* The callback may cancel in the last call, when all queries are answered. All answers are then valid, and the status
 * is still CAROM_ERROR_CANCELLED. */
static void the_last_word_can_cancel(void **state)
{
    enum { COUNT = 1000 };
    progress_calls t = {.stop_at = 1};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    int32_t whole[COUNT], part[COUNT];
    carom_mesh_hit_result out = {.size = sizeof out, .triangle = whole};
    (void)state;
    enter();
    carom_mesh_sweep_desc desc = moving(CAROM_ACCURACY_FAST, COUNT, (carom_progress){NULL, NULL});
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
        return cmocka_run_group_tests_name("progress", tests, NULL, leave);
    const int failed = cmocka_run_group_tests_name("progress", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("progress, exact", more, NULL, leave);
}
