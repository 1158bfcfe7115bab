/* SPDX-License-Identifier: MIT */
/* Progress is reported in order and to the end, for every request on every backend. A cancelled batch has the answers
 * that were reported as done, and statistics count no others. */
#include <math.h>
#include <threads.h>
#include <time.h>

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

/* The batch is cancelled at an early progress call, then runs to its end in the same context. */
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

/* ---- within a piece ---------------------------------------------------------------------------------------------- */

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
    enter();
    scene eight = scene_soup(SEED, 8, 0.7);
    *context = room.context;
    *mesh = room.mesh;
    room.context = test_cpu(CAROM_ISA_AUTO, 1);
    room.mesh = scene_mesh(room.context, &eight);
    scene_free(&eight);
}

static void leave_alone(carom_context *context, carom_mesh *mesh)
{
    carom_mesh_destroy(room.mesh);
    carom_context_destroy(room.context);
    room.context = context;
    room.mesh = mesh;
}

/* What is wrong with statistics and error of a batch that was ended within a piece. */
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
    guarded whole[COLUMNS], part[COLUMNS];
    patience p = {.most = 1};
    carom_context *context;
    carom_mesh *mesh;
    enter_alone(&context, &mesh);
    const uint64_t count = this->ask == ask_pairs ? room.pair_count : room.ball_count;
    columns_alloc(this, count, whole);
    columns_alloc(this, count, part);
    test_ok("untold", this->ask(this, whole, (carom_progress){NULL, NULL}, &stats, &err), &err);
    leave_alone(context, mesh); /* see lists_end_within_a_piece */
    enter_alone(&context, &mesh);
    const carom_status status = this->ask(this, part, (carom_progress){wait_and_see, &p}, &stats, &err);
    check_patience(&p, count, this->accuracy, status, &err, &stats);
    columns_check(this, whole, part, p.done);
    for (int c = 0; c < COLUMNS; c++) {
        guarded_free(&whole[c]);
        guarded_free(&part[c]);
    }
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
    hit_list whole = list_alloc(room.ball_count, room.ball_count / 4, FILL),
             part = list_alloc(room.ball_count, whole.capacity, FILL);
    test_ok("untold", ask_list(q, &whole, room.ball_count, NULL, &stats, &err), &err);
    leave_alone(context, mesh); /* the sizes of pieces are not known again: as a job, that call has learned them */
    enter_alone(&context, &mesh);
    const carom_progress progress = {wait_and_see, &p};
    carom_mesh_sweep_desc sweep = moving(q->accuracy, room.ball_count, progress);
    carom_mesh_overlap_desc rest = at_rest(q->accuracy, room.ball_count, progress);
    carom_hit_list list = list_desc(&part, q->overlaps ? LIST_OVERLAPS : LIST_HITS);
    const carom_status status = q->overlaps ? carom_mesh_overlap_list(room.mesh, &rest, &list, &stats, &err)
                                            : carom_mesh_sweep_list(room.mesh, &sweep, q->which, &list, &stats, &err);
    check_patience(&p, room.ball_count, q->accuracy, status, &err, &stats);
    check_beginning(q, &whole, &part, p.done);
    list_free(&whole);
    list_free(&part);
    leave_alone(context, mesh);
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
    progress_calls t = {.at_end = 1};
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

/* ---- one piece --------------------------------------------------------------------------------------------------- */

/* What a call has reported last; the report number `ends` ends it. */
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
    uint64_t random = SEED;
    (void)state;
    enter();
    for (int i = 0; i < 3 * COUNT; i++)
        center[i] = between(&random, 0, 1);
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

#define CALL(name, ...)                                    \
    {                                                      \
        name, calls_report_and_cancel, NULL, NULL, &(call) \
        {                                                  \
            __VA_ARGS__                                    \
        }                                                  \
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
        LIST("overlaps, exact", CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL),
        WITHIN("sweep pairs, within a piece", ask_pairs, SWEEP, CAROM_ACCURACY_EXACT, {1, 4}),
        WITHIN("first hits, within a piece", ask_first, 0, CAROM_ACCURACY_EXACT, {4, 4, 4, 4, 4}),
        WITHIN("any hits, within a piece", ask_any, 0, CAROM_ACCURACY_FAST, {1}),
        WITHIN("closest points, within a piece", ask_closest, 0, CAROM_ACCURACY_EXACT, {4, 4, 4, 4, 4}),
        LIST_WITHIN("all hits, within a piece", CAROM_ACCURACY_EXACT, 0, CAROM_HITS_ALL),
        LIST_WITHIN("first hits as a list, within a piece", CAROM_ACCURACY_FAST, 0, CAROM_HITS_FIRST),
        LIST_WITHIN("overlaps, within a piece", CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL),
        cmocka_unit_test(a_cloud_is_searched_once),
        cmocka_unit_test(a_drop_map_ends_within_a_piece)};
    if (test_on_device())
        return cmocka_run_group_tests_name("progress", tests, NULL, leave);
    const int failed = cmocka_run_group_tests_name("progress", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("progress, exact", more, NULL, leave);
}
