/* SPDX-License-Identifier: MIT */
/* The memory that the library allocates does not grow with the count: the allocator hooks see the same peak for 2^20
 * queries as for eight times as many. The test uses one thread, because a second thread may get no part of a short
 * batch and then allocates nothing. */
#include "tests/support/lists.h"

enum { SHORT = 1 << 20, HEADER = 64 };

typedef struct ledger {
    size_t live, peak;
} ledger;

static void *take_memory(void *user, size_t size, size_t alignment)
{
    ledger *l = user;
    unsigned char *block = aligned_alloc(HEADER, (size + HEADER + HEADER - 1) / HEADER * HEADER);
    (void)alignment; /* at most 64, as tests/unit/test_memory.c checks */
    if (block == NULL)
        return NULL;
    memcpy(block, &size, sizeof size);
    l->live += size;
    l->peak = l->live > l->peak ? l->live : l->peak;
    return block + HEADER;
}

static void give_memory(void *user, void *memory)
{
    unsigned char *block = (unsigned char *)memory - HEADER;
    size_t size;
    memcpy(&size, block, sizeof size);
    ((ledger *)user)->live -= size;
    free(block);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Each query is the same sphere above the same triangle, which it hits and overlaps. */
static const float center[3] = {-0.25f, -0.25f, 0.5f}, velocity[3] = {0, 0, -1}, radius = 1;

typedef struct subject {
    ledger ledger;
    carom_context *context;
    carom_mesh *mesh;
    uint8_t *bytes; /* one for each query of the largest batch */
} subject;

typedef carom_status ask_fn(const subject *s, uint64_t count, uint64_t *found, carom_error *err);

static carom_mesh_sweep_desc moving(uint64_t count)
{
    return (carom_mesh_sweep_desc){.batch.size = sizeof(carom_mesh_sweep_desc),
                                   .batch.count = count,
                                   .center = carom_repeat(center),
                                   .velocity = carom_repeat(velocity),
                                   .radius = {&radius, CAROM_REPEAT}};
}

static carom_mesh_overlap_desc at_rest(uint64_t count)
{
    return (carom_mesh_overlap_desc){.batch.size = sizeof(carom_mesh_overlap_desc),
                                     .batch.count = count,
                                     .center = carom_repeat(center),
                                     .radius = {&radius, CAROM_REPEAT}};
}

static uint64_t count_ones(const subject *s, uint64_t count)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < count; i++)
        ones += s->bytes[i] == 1;
    return ones;
}

static carom_status ask_pairs(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    static const float corner[9] = {-1, -1, 0, 1, -1, 0, -1, 1, 0};
    const carom_overlap_pairs_desc desc = {.batch.size = sizeof desc,
                                           .batch.count = count,
                                           .center = carom_repeat(center),
                                           .radius = {&radius, CAROM_REPEAT},
                                           .p0 = carom_repeat(corner),
                                           .p1 = carom_repeat(corner + 3),
                                           .p2 = carom_repeat(corner + 6)};
    const carom_overlap_result out = {.size = sizeof out, .overlap = s->bytes};
    const carom_status status = carom_overlap_pairs(s->context, &desc, &out, NULL, err);
    *found = count_ones(s, count);
    return status;
}

static carom_status ask_first(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    const carom_mesh_sweep_desc desc = moving(count);
    const carom_mesh_hit_result out = {.size = sizeof out, .state = s->bytes};
    const carom_status status = carom_mesh_sweep_first(s->mesh, &desc, &out, NULL, err);
    *found = 0;
    for (uint64_t i = 0; i < count; i++)
        *found += s->bytes[i] == CAROM_OVERLAPPING;
    return status;
}

static carom_status ask_any(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    const carom_mesh_sweep_desc desc = moving(count);
    const carom_status status = carom_mesh_sweep_any(s->mesh, &desc, TEST_ANY(s->bytes), NULL, err);
    *found = count_ones(s, count);
    return status;
}

static carom_status ask_closest(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    const carom_mesh_closest_desc desc = {
        .batch.size = sizeof desc, .batch.count = count, .center = carom_repeat(center)};
    const carom_mesh_closest_result out = {.size = sizeof out, .feature = s->bytes};
    const carom_status status = carom_mesh_closest(s->mesh, &desc, &out, NULL, err);
    *found = 0;
    for (uint64_t i = 0; i < count; i++)
        *found += s->bytes[i] == CAROM_FEATURE_FACE;
    return status;
}

static carom_status ask_list(const subject *s, carom_hits which, uint64_t count, uint64_t *found, carom_error *err)
{
    const carom_mesh_sweep_desc desc = moving(count);
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals};
    const carom_status status = carom_mesh_sweep_list(s->mesh, &desc, which, &list, NULL, err);
    *found = totals.total;
    return status;
}

static carom_status ask_all_hits(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    return ask_list(s, CAROM_HITS_ALL, count, found, err);
}

static carom_status ask_first_hits(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    return ask_list(s, CAROM_HITS_FIRST, count, found, err);
}

static carom_status ask_overlaps(const subject *s, uint64_t count, uint64_t *found, carom_error *err)
{
    const carom_mesh_overlap_desc desc = at_rest(count);
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals};
    const carom_status status = carom_mesh_overlap_list(s->mesh, &desc, &list, NULL, err);
    *found = totals.total;
    return status;
}

/* ---- peak memory ------------------------------------------------------------------------------------------------- */

static size_t peak_of(subject *s, ask_fn *ask_them, uint64_t count)
{
    carom_error err = {0};
    uint64_t found = 0;
    s->ledger.peak = s->ledger.live;
    test_ok("a batch of one query", ask_them(s, count, &found, &err), &err);
    assert_int_equal(found, count);
    return s->ledger.peak - s->ledger.live;
}

static void memory_is_bounded(void **state)
{
    static const struct {
        const char *name;
        ask_fn *ask;
    } calls[] = {{"overlap pairs", ask_pairs},    {"first hits", ask_first},  {"any hits", ask_any},
                 {"closest points", ask_closest}, {"all hits", ask_all_hits}, {"first hits as a list", ask_first_hits},
                 {"overlaps", ask_overlaps}};
    const uint64_t count = SHORT * (1 + (uint64_t)test_effort(7));
    subject s = {.bytes = test_alloc(count, 1)};
    carom_context_desc desc = carom_context_desc_default();
    carom_error err = {0};
    scene one = scene_floor(1);
    (void)state;
    one.triangle_count = 1;
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    desc.allocator = (carom_allocator){take_memory, give_memory, &s.ledger};
    test_ok("a context", carom_context_create(&desc, &s.context, &err), &err);
    s.mesh = scene_mesh(s.context, &one);
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        const size_t few = peak_of(&s, calls[i].ask, SHORT), many = peak_of(&s, calls[i].ask, count);
        print_message("%s: %zu bytes for %d queries, %zu for %llu\n", calls[i].name, few, SHORT, many,
                      (unsigned long long)count);
        assert_true(few > 0);
        assert_int_equal(few, many);
    }
    carom_mesh_destroy(s.mesh);
    carom_context_destroy(s.context);
    assert_int_equal(s.ledger.live, 0);
    scene_free(&one);
    free(s.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_bounded)};
    return cmocka_run_group_tests_name("bounded", tests, NULL, NULL);
}
