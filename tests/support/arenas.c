/* SPDX-License-Identifier: MIT */
#include "arenas.h"

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

static unsigned char filling[ROOM];

arena arena_make(carom_context *context, int where)
{
    arena a = {.buffer = NULL};
    carom_error err = {0};
    memset(filling, FILL, sizeof filling);
    if (where < 0) {
        a.base = test_alloc(ROOM, 1);
        memcpy(a.base, filling, ROOM);
        return a;
    }
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = ROOM, .where = (carom_buffer_where)where};
    test_ok("carom_buffer_create", carom_buffer_create(context, &desc, &a.buffer, &err), &err);
    a.base = carom_buffer_address(a.buffer);
    test_ok("carom_buffer_write", carom_buffer_write(a.buffer, 0, filling, ROOM, &err), &err);
    return a;
}

void arena_free(arena *a)
{
    if (a->buffer == NULL)
        free(a->base);
    carom_buffer_destroy(a->buffer);
    for (uint32_t i = 0; i < a->count; i++)
        carom_buffer_destroy(a->own[i]);
}

static carom_buffer *own_buffer(arena *a, size_t start, size_t bytes)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = bytes, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    carom_buffer **own = &a->own[a->count];
    assert_true(a->count < OWN);
    if (!a->is_laid) {
        test_ok("carom_buffer_create", carom_buffer_create(a->apart, &desc, own, &err), &err);
        test_ok("carom_buffer_write", carom_buffer_write(*own, 0, filling, bytes, &err), &err);
    }
    a->start[a->count++] = start;
    return *own;
}

void *room_for(arena *a, size_t bytes, size_t skew)
{
    const size_t start = (a->used + 63) / 64 * 64 + skew;
    a->used = start + bytes;
    assert_true(a->used <= ROOM);
    return a->apart != NULL ? carom_buffer_address(own_buffer(a, start, bytes)) : a->base + start;
}

void *put(arena *a, const void *data, size_t bytes, size_t skew)
{
    carom_error err = {0};
    unsigned char *at = room_for(a, bytes, skew);
    if (a->is_laid)
        return at;
    if (a->apart != NULL)
        test_ok("carom_buffer_write", carom_buffer_write(a->own[a->count - 1], 0, data, bytes, &err), &err);
    else if (a->buffer == NULL)
        memcpy(at, data, bytes);
    else
        test_ok("carom_buffer_write", carom_buffer_write(a->buffer, (uint64_t)(at - a->base), data, bytes, &err), &err);
    return at;
}

void arena_compare(const arena *expected, const arena *got, const char *what)
{
    unsigned char *bytes = test_alloc(ROOM, 1);
    carom_error err = {0};
    test_ok("carom_buffer_read", carom_buffer_read(got->buffer, 0, bytes, ROOM, &err), &err);
    assert_int_equal(expected->used, got->used);
    for (size_t i = 0; i < ROOM; i++)
        if (expected->base[i] != bytes[i])
            fail_msg("%s: byte %zu is %02x, not %02x", what, i, bytes[i], expected->base[i]);
    free(bytes);
}

void arena_compare_apart(const arena *expected, const arena *got, const char *what)
{
    unsigned char *bytes = test_alloc(ROOM, 1);
    for (uint32_t i = 0; i < got->count; i++) {
        carom_buffer_info info = {.size = sizeof info};
        assert_int_equal(carom_buffer_get_info(got->own[i], &info, NULL), CAROM_OK);
        assert_int_equal(carom_buffer_read(got->own[i], 0, bytes, info.bytes, NULL), CAROM_OK);
        if (memcmp(expected->base + got->start[i], bytes, info.bytes) != 0)
            fail_msg("%s: buffer %u differs", what, i);
    }
    free(bytes);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

const layout layouts[LAYOUTS] = {
    {"columns", 4, 0, 0}, {"records", 20, 0, 0}, {"misaligned", 4, 2, 0}, {"selected", 4, 4, 1}};

/* `words` arrays as one array of records, `step` bytes each. */
static float *put_records(arena *a, const layout *l, float *const *words, size_t width, size_t count)
{
    unsigned char *records = test_alloc(count, l->step);
    memset(records, FILL, count * l->step);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            memcpy(records + i * l->step + 4 * k, words[k] + i, 4);
    float *at = put(a, records, count * l->step, l->skew);
    free(records);
    return at;
}

carom_points put_points(arena *a, const layout *l, float *const *xyz, size_t count)
{
    if (l->step >= 12)
        return carom_strided(put_records(a, l, xyz, 3, count), l->step);
    const float *x = put_records(a, l, xyz, 1, count), *y = put_records(a, l, xyz + 1, 1, count);
    return carom_soa(x, y, put_records(a, l, xyz + 2, 1, count));
}

carom_scalars put_scalars(arena *a, const layout *l, float *data, size_t count)
{
    return (carom_scalars){put_records(a, l, &data, 1, count), l->step};
}

carom_uints put_uints(arena *a, const layout *l, uint32_t *data, size_t count)
{
    float *words = (float *)(void *)data;
    return (carom_uints){(uint32_t *)(void *)put_records(a, l, &words, 1, count), l->step};
}

carom_points_out room_for_points(arena *a, const layout *l, size_t count)
{
    if (l->step >= 12) {
        float *p = room_for(a, count * l->step, l->skew);
        return (carom_points_out){p, p + 1, p + 2, l->step};
    }
    float *x = room_for(a, count * 4, l->skew), *y = room_for(a, count * 4, l->skew);
    return (carom_points_out){x, y, room_for(a, count * 4, l->skew), 4};
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

scene walls;
swept_spheres spheres;
uint32_t order[QUERIES];

int make_data(void **state)
{
    (void)state;
    walls = scene_sphere(SIDES);
    walls.masks = random_masks(SEED, walls.triangle_count);
    spheres = swept_spheres_mixed(SEED, QUERIES);
    spheres.mask = random_masks(SEED + 1, QUERIES);
    spheres.max_distance = random_limits(SEED + 2, QUERIES);
    uint32_t *shuffled = random_order(SEED + 3, QUERIES);
    memcpy(order, shuffled, sizeof order);
    free(shuffled);
    return 0;
}

int free_data(void **state)
{
    (void)state;
    swept_spheres_free(&spheres);
    scene_free(&walls);
    return 0;
}

cl_call failing_call;
int failing_at;

carom_status ask_pairs(const call *c, int type, carom_stats *stats, carom_error *err)
{
    queries q = queries_mixed(type, SEED, QUERIES);
    inputs in = inputs_of(&q);
    answers out = {.type = type, .count = q.count};
    for (int i = 0; query_point_column(type, i) >= 0; i++)
        in.points[i] = put_points(c->a, c->l, q.column + query_point_column(type, i), q.count);
    for (int i = 0; query_scalar_column(type, i) >= 0; i++)
        in.scalars[i] = put_scalars(c->a, c->l, q.column[query_scalar_column(type, i)], q.count);
    if (c->l->selects) {
        in.indices.a = put_uints(c->a, c->l, order, QUERIES);
        in.indices.a_count = q.count;
    }
    for (int f = 0; f < query_fields(type); f++)
        out.field[f].data = room_for(c->a, q.count * query_field_bytes(type, f), c->l->skew);
    cl_sabotage(failing_call, failing_at, 0);
    const carom_status status = ask_with(c->context, type, c->accuracy, q.count < QUERIES ? q.count : QUERIES, &in,
                                         &out, ALL_FIELDS, stats, err);
    queries_free(&q);
    return status;
}

carom_status pair_sweeps(const call *c, carom_stats *stats, carom_error *err)
{
    return ask_pairs(c, SWEEP, stats, err);
}
