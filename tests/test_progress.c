/* SPDX-License-Identifier: MIT */
/* How far a batch has come is told in order and to its end; a batch that is cancelled keeps what it was told is done. */
#include <math.h>

#include "support.h"

enum { PAIRS = (5 << 20) / 2 + 7, KINDS_OF_PAIR = 1000, BALLS = (5 << 18) / 2 + 9, SEED = 83, NEVER = 1000 };

/* What the function was told, and when it says stop. */
typedef struct told {
    int calls, stop_at; /* the call that it answers with something else than 0 */
    uint64_t done, count;
} told;

static int listen(void *user, uint64_t done, uint64_t count)
{
    told *t = user;
    assert_true(done > t->done);
    assert_true(done <= count);
    assert_true(t->calls == 0 || count == t->count);
    t->done = done;
    t->count = count;
    return ++t->calls == t->stop_at;
}

/* A call to the end: several words, the last one at the end. One that is cancelled: the second word was the last. */
static void check_told(const told *t, uint64_t count, carom_status status, const carom_error *err,
                       const carom_stats *stats)
{
    char sentence[64];
    assert_int_equal(t->count, count);
    assert_int_equal(stats->on_cpu + stats->on_device, t->done);
    if (t->stop_at == NEVER) {
        test_ok("a batch that is listened to", status, err);
        assert_true(t->calls > 2);
        assert_int_equal(t->done, count);
        return;
    }
    (void)snprintf(sentence, sizeof sentence, "the first %llu of %llu", (unsigned long long)t->done,
                   (unsigned long long)count);
    test_error(status, CAROM_ERROR_CANCELLED, err, sentence);
    assert_int_equal(t->calls, t->stop_at);
    assert_true(t->done < count);
}

/* ---- pairs ---------------------------------------------------------------------------------------------------------- */

typedef struct pairs {
    uint32_t *which;
    queries q;
    inputs in;
} pairs;

static pairs pairs_alloc(int type)
{
    pairs p = {.which = test_alloc(PAIRS, sizeof *p.which), .q = queries_mixed(type, SEED, KINDS_OF_PAIR)};
    for (uint32_t i = 0; i < PAIRS; i++)
        p.which[i] = (uint32_t)(i * 7ull % p.q.count);
    p.in = inputs_of(&p.q);
    p.in.indices = (carom_pair_indices){p.which, p.which, p.q.count, p.q.count};
    return p;
}

static void pairs_free(pairs *p)
{
    free(p->which);
    queries_free(&p->q);
}

static carom_status overlap_pairs(carom_context *c, const pairs *p, uint8_t *overlap, told *t, carom_stats *stats,
                                  carom_error *err)
{
    const carom_overlap_pairs_desc d = {.size = sizeof d,
                                        .count = PAIRS,
                                        .center = p->in.points[0],
                                        .radius = p->in.scalars[0],
                                        .p0 = p->in.points[1],
                                        .p1 = p->in.points[2],
                                        .p2 = p->in.points[3],
                                        .indices = p->in.indices,
                                        .progress = {t != NULL ? listen : NULL, t}};
    const carom_overlap_result out = {.overlap = overlap};
    return carom_overlap_pairs(c, &d, &out, stats, err);
}

static void pairs_are_told_of_and_cancelled(void **state)
{
    carom_context *c = test_context();
    pairs p = pairs_alloc(OVERLAP);
    uint8_t *whole = test_alloc(PAIRS, 1), *part = test_alloc(PAIRS, 1);
    const int device = test_on_device(); /* whose pieces are larger than this batch */
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    told all = {.stop_at = NEVER}, some = {.stop_at = 2};
    (void)state;
    test_ok("overlaps", overlap_pairs(c, &p, whole, NULL, &stats, &err), &err);
    if (device) {
        test_ok("overlaps", overlap_pairs(c, &p, part, &all, &stats, &err), &err);
        assert_int_equal(all.calls, 1);
        assert_memory_equal(whole, part, PAIRS);
    } else {
        carom_status status = overlap_pairs(c, &p, part, &all, &stats, &err);
        check_told(&all, PAIRS, status, &err, &stats);
        assert_memory_equal(whole, part, PAIRS);
        memset(part, 9, PAIRS);
        status = overlap_pairs(c, &p, part, &some, &stats, &err);
        check_told(&some, PAIRS, status, &err, &stats);
        assert_memory_equal(whole, part, some.done);
        assert_int_equal(part[PAIRS - 1], 9);
    }
    free(whole);
    free(part);
    pairs_free(&p);
    carom_context_destroy(c);
}

/* ---- meshes --------------------------------------------------------------------------------------------------------- */

typedef struct room {
    carom_context *context;
    carom_mesh *mesh;
    float *ball; /* x y z radius vx vy vz */
    carom_mesh_sweep_desc desc;
} room;

static float between(uint64_t *state, float low, float high)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (float)(*state >> 40) * 0x1p-24f;
}

/* Eight triangles, and balls one in eight of which comes near them, and one in three of these hits: every piece holds hits,
 * and takes little time even on an emulator. */
static room room_open(void)
{
    enum { TRIANGLES = 8, FIELDS = 7 };
    const size_t stride = FIELDS * sizeof(float);
    float vertices[9 * TRIANGLES];
    uint64_t s = SEED;
    carom_error err;
    room r = {.context = test_context(), .ball = test_alloc((size_t)FIELDS * BALLS, sizeof *r.ball)};
    for (size_t i = 0; i < COUNT_OF(vertices); i++)
        vertices[i] = between(&s, -1, 1);
    for (size_t i = 0; i < (size_t)FIELDS * BALLS; i++)
        r.ball[i] = i % FIELDS == 3 ? between(&s, 0, 0.1f) : between(&s, -1, 1);
    for (size_t i = 0; i < BALLS; i++)
        if (i % 8 != 0)
            memcpy(&r.ball[FIELDS * i], (float[FIELDS]){100}, FIELDS * sizeof *r.ball);
    const carom_mesh_desc mesh = {.size = sizeof mesh,
                                  .vertices = {vertices, vertices + 1, vertices + 2, 3 * sizeof *vertices},
                                  .vertex_count = 3 * TRIANGLES,
                                  .triangle_count = TRIANGLES};
    test_ok("a mesh", carom_mesh_create(r.context, &mesh, &r.mesh, &err), &err);
    r.desc = (carom_mesh_sweep_desc){.size = sizeof r.desc,
                                     .count = BALLS,
                                     .center = {r.ball, r.ball + 1, r.ball + 2, stride},
                                     .radius = {r.ball + 3, stride},
                                     .velocity = {r.ball + 4, r.ball + 5, r.ball + 6, stride}};
    return r;
}

static void room_close(room *r)
{
    carom_mesh_destroy(r->mesh);
    carom_context_destroy(r->context);
    free(r->ball);
}

/* The device is told of pieces eight times as large. */
static int is_one_piece(void)
{
    return test_on_device();
}

static void first_hits_are_told_of_and_cancelled(void **state)
{
    room r = room_open();
    int32_t *whole = test_alloc(BALLS, sizeof *whole), *part = test_alloc(BALLS, sizeof *part);
    const carom_mesh_hit_result out = {.triangle = whole}, again = {.triangle = part};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    told all = {.stop_at = NEVER}, some = {.stop_at = is_one_piece() ? 1 : 2};
    (void)state;
    test_ok("first hits", carom_mesh_sweep_first(r.mesh, &r.desc, &out, &stats, &err), &err);
    r.desc.progress = (carom_progress){listen, &all};
    carom_status status = carom_mesh_sweep_first(r.mesh, &r.desc, &again, &stats, &err);
    if (is_one_piece())
        test_ok("first hits", status, &err);
    else
        check_told(&all, BALLS, status, &err, &stats);
    assert_memory_equal(whole, part, BALLS * sizeof *whole);
    memset(part, 0x55, BALLS * sizeof *part);
    r.desc.progress = (carom_progress){listen, &some};
    status = carom_mesh_sweep_first(r.mesh, &r.desc, &again, &stats, &err);
    test_error(status, CAROM_ERROR_CANCELLED, &err, "are answered");
    if (!is_one_piece())
        check_told(&some, BALLS, status, &err, &stats);
    assert_memory_equal(whole, part, some.done * sizeof *whole);
    free(whole);
    free(part);
    room_close(&r);
}

/* The list of a batch that was cancelled is the beginning of the whole list. */
static void check_list(room *r, carom_hits which)
{
    enum { CAPACITY = 2 * BALLS };
    uint64_t *offsets[2] = {test_alloc(BALLS + 1, sizeof **offsets), test_alloc(BALLS + 1, sizeof **offsets)};
    int32_t *triangle[2] = {test_alloc(CAPACITY, sizeof **triangle), test_alloc(CAPACITY, sizeof **triangle)};
    carom_mesh_hit_list list[2];
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    told some = {.stop_at = 1};
    for (int i = 0; i < 2; i++)
        list[i] = (carom_mesh_hit_list){
            .size = sizeof list[i], .capacity = CAPACITY, .offsets = offsets[i], .triangle = triangle[i]};
    r->desc.progress = (carom_progress){NULL, NULL};
    test_ok("a list", carom_mesh_sweep_list(r->mesh, &r->desc, which, &list[0], &stats, &err), &err);
    assert_int_equal(list[0].complete, BALLS);
    r->desc.progress = (carom_progress){listen, &some};
    const carom_status status = carom_mesh_sweep_list(r->mesh, &r->desc, which, &list[1], &stats, &err);
    test_error(status, CAROM_ERROR_CANCELLED, &err, "are answered");
    assert_int_equal(list[1].complete, some.done);
    assert_int_equal(list[1].stored, offsets[0][some.done]);
    assert_int_equal(list[1].total, offsets[0][some.done]);
    assert_memory_equal(offsets[0], offsets[1], (some.done + 1) * sizeof **offsets);
    assert_memory_equal(triangle[0], triangle[1], list[1].stored * sizeof **triangle);
    for (int i = 0; i < 2; i++) {
        free(offsets[i]);
        free(triangle[i]);
    }
}

static void lists_are_told_of_and_cancelled(void **state)
{
    room r = room_open();
    (void)state;
    check_list(&r, CAROM_HITS_ALL);
    check_list(&r, CAROM_HITS_FIRST);
    room_close(&r);
}

static void an_empty_batch_says_nothing(void **state)
{
    room r = room_open();
    told t = {.stop_at = 1};
    carom_error err;
    const carom_mesh_hit_result out = {.triangle = NULL};
    (void)state;
    r.desc.count = 0;
    r.desc.progress = (carom_progress){listen, &t};
    test_ok("no queries", carom_mesh_sweep_first(r.mesh, &r.desc, &out, NULL, &err), &err);
    assert_int_equal(t.calls, 0);
    room_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_told_of_and_cancelled), cmocka_unit_test(first_hits_are_told_of_and_cancelled),
        cmocka_unit_test(lists_are_told_of_and_cancelled), cmocka_unit_test(an_empty_batch_says_nothing)};
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
