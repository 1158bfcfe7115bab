/* SPDX-License-Identifier: MIT */
#include "progress_batches.h"

/* Sizes of batches: some whole pieces and PROGRESS_FEW queries more. A device's pieces are eight times as large as the
 * CPU's. */
enum {
    PAIR_PIECE = 1 << 20,
    SPHERE_PIECE = 1 << 18,
    CHUNK = 300000, /* of a device; pieces do not end with a chunk */
    KINDS_OF_PAIR = 1000,
    SEED = 83
};

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

progress_room room;

float progress_between(uint64_t *state, float low, float high)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (float)(*state >> 40) * 0x1p-24f;
}

static void open_pairs(void)
{
    room.pair_count = (test_on_device() ? 8 : 2) * (uint64_t)PAIR_PIECE + PROGRESS_FEW;
    room.which = test_alloc(room.pair_count, sizeof *room.which);
    for (uint64_t i = 0; i < room.pair_count; i++)
        room.which[i] = (uint32_t)(i * 7 % KINDS_OF_PAIR);
    for (int type = 0; type < QUERY_TYPES; type++)
        room.q[type] = queries_mixed(type, SEED, KINDS_OF_PAIR);
}

carom_mesh *progress_mesh(carom_context *context)
{
    scene eight = scene_soup(SEED, 8, 0.7);
    carom_mesh *mesh = scene_mesh(context, &eight);
    scene_free(&eight);
    return mesh;
}

/* One sphere in eight comes near the mesh, and a third of these hits. So every piece has hits, and is fast even on an
 * emulator. */
static void open_mesh(void)
{
    uint64_t s = SEED;
    room.mesh = progress_mesh(room.context);
    room.ball_count = (test_on_device() ? 8 : 2) * (uint64_t)SPHERE_PIECE + PROGRESS_FEW;
    room.swept_spheres =
        swept_spheres_alloc(PROGRESS_COMPACTED > room.ball_count ? PROGRESS_COMPACTED : room.ball_count);
    for (size_t i = 0; i < room.swept_spheres.count; i++)
        for (int c = 0; c < SPHERE_T_MAX; c++)
            room.swept_spheres.column[c][i] = i % 8 != 0           ? (c == 0 ? 100.0f : 0.0f)
                                              : c == SPHERE_RADIUS ? progress_between(&s, 0, 0.1f)
                                                                   : progress_between(&s, -1, 1);
}

void progress_enter(void)
{
    if (room.context != NULL)
        return;
    room.context = test_on_device() ? test_device(0, CHUNK) : test_cpu(CAROM_ISA_AUTO, 2);
    open_pairs();
    open_mesh();
}

int progress_leave(void **state)
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

static void *at(const guarded *column)
{
    return column->data;
}

static carom_points_out points_at(const guarded *to)
{
    return (carom_points_out){at(&to[0]), at(&to[1]), at(&to[2]), sizeof(float)};
}

ASK(ask_pairs)
{
    const answers out = {.type = this->type, .count = room.pair_count, .field = {to[0], to[1]}};
    inputs in = inputs_of(&room.q[this->type]);
    in.indices = pair_indices(room.which, room.which, KINDS_OF_PAIR, KINDS_OF_PAIR);
    in.progress = progress;
    return ask_with(room.context, this->type, this->accuracy, room.pair_count, &in, &out, 1 << 0 | 1 << 1, stats, err);
}

carom_mesh_sweep_desc progress_sweep(carom_accuracy accuracy, uint64_t count, carom_progress progress)
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

ASK(ask_first)
{
    const carom_mesh_sweep_desc desc = progress_sweep(this->accuracy, room.ball_count, progress);
    const carom_mesh_hit_result out = {
        .size = sizeof out, .triangle = at(&to[0]), .t = at(&to[1]), .point = points_at(&to[2])};
    return carom_mesh_sweep_first(room.mesh, &desc, &out, stats, err);
}

ASK(ask_any)
{
    const carom_mesh_sweep_desc desc = progress_sweep(this->accuracy, room.ball_count, progress);
    return carom_mesh_sweep_any(room.mesh, &desc, TEST_ANY(at(&to[0])), stats, err);
}

ASK(ask_overlap_any)
{
    const carom_mesh_overlap_desc desc = at_rest(this->accuracy, room.ball_count, progress);
    return carom_mesh_overlap_any(room.mesh, &desc, TEST_ANY(at(&to[0])), stats, err);
}

ASK(ask_closest)
{
    carom_mesh_closest_desc desc = swept_spheres_closest(&room.swept_spheres, 0, room.ball_count);
    desc.batch.accuracy = this->accuracy;
    desc.batch.progress = progress;
    const carom_mesh_closest_result out = {
        .size = sizeof out, .triangle = at(&to[0]), .distance = at(&to[1]), .point = points_at(&to[2])};
    return carom_mesh_closest(room.mesh, &desc, &out, stats, err);
}

uint64_t call_count(const call *this)
{
    return this->ask == ask_pairs ? room.pair_count : room.ball_count;
}

void columns_alloc(const call *this, uint64_t count, guarded *to)
{
    for (int c = 0; c < PROGRESS_COLUMNS; c++)
        to[c] = guarded_alloc(count * this->size[c], 0, PROGRESS_FILL);
}

void columns_free(guarded *columns)
{
    for (int c = 0; c < PROGRESS_COLUMNS; c++)
        guarded_free(&columns[c]);
}

void columns_check(const call *this, const guarded *whole, const guarded *part, uint64_t done)
{
    for (int c = 0; c<PROGRESS_COLUMNS &&this->size[c]> 0; c++) {
        assert_memory_equal(whole[c].data, part[c].data, done * this->size[c]);
        for (size_t k = 1; done * this->size[c] < part[c].size && k <= this->size[c]; k++)
            assert_int_equal(part[c].data[part[c].size - k], PROGRESS_FILL);
        guarded_check(&part[c], "a batch that is cancelled");
    }
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

carom_status ask_list(const list_request *q, hit_list *l, uint64_t count, carom_progress progress, carom_stats *stats,
                      carom_error *err)
{
    const carom_mesh_sweep_desc sweep = progress_sweep(q->accuracy, count, progress);
    const carom_mesh_overlap_desc rest = at_rest(q->accuracy, count, progress);
    carom_hit_list list = list_desc(l, q->overlaps ? LIST_OVERLAPS : LIST_HITS);
    return q->overlaps ? carom_mesh_overlap_list(room.mesh, &rest, &list, stats, err)
                       : carom_mesh_sweep_list(room.mesh, &sweep, q->which, &list, stats, err);
}

void check_beginning(const list_request *q, const hit_list *whole, const hit_list *l, uint64_t done)
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
