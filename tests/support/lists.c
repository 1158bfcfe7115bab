/* SPDX-License-Identifier: MIT */
#include "lists.h"

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

hit_list list_alloc(size_t count, size_t capacity, unsigned char fill)
{
    return (hit_list){.queries = count,
                      .capacity = capacity,
                      .offsets = guarded_alloc((count + 1) * sizeof(uint64_t), 0, fill),
                      .query = guarded_alloc(capacity * sizeof(uint64_t), 0, fill),
                      .hits = hits_alloc(capacity, fill)};
}

void list_free(hit_list *l)
{
    guarded_free(&l->offsets);
    guarded_free(&l->query);
    hits_free(&l->hits);
}

static uint64_t word(const guarded *from, size_t i)
{
    uint64_t value;
    memcpy(&value, from->data + i * sizeof value, sizeof value);
    return value;
}

uint64_t list_offset(const hit_list *l, size_t i)
{
    return word(&l->offsets, i);
}

uint64_t list_query(const hit_list *l, size_t k)
{
    return word(&l->query, k);
}

size_t list_find(const hit_list *l, size_t i, int32_t triangle)
{
    for (size_t k = (size_t)list_offset(l, i); k < list_offset(l, i + 1); k++)
        if (hit_triangle(&l->hits, k) == triangle)
            return k;
    return SIZE_MAX;
}

carom_hit_list list_desc(hit_list *l, int fields)
{
    const carom_mesh_hit_result columns = hits_result(&l->hits, 0);
    carom_hit_list list = {.size = sizeof list,
                           .totals = &l->totals,
                           .capacity = l->capacity,
                           .offsets = (uint64_t *)(void *)l->offsets.data,
                           .query = (uint64_t *)(void *)l->query.data,
                           .triangle = columns.triangle};
    if (fields != LIST_OVERLAPS) {
        list.state = columns.state;
        list.t = columns.t;
        list.point = columns.point;
        list.normal = columns.normal;
        list.feature = columns.feature;
    }
    return list;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

void list_check_guards(const hit_list *l, const char *label)
{
    guarded_check(&l->offsets, label);
    guarded_check(&l->query, label);
    for (int f = 0; f < HIT_FIELDS; f++)
        guarded_check(&l->hits.field[f], label);
}

void list_ask(carom_mesh *mesh, const list_request *q, const swept_spheres *b, size_t first, size_t count, hit_list *l)
{
    carom_hit_list list = list_desc(l, q->overlaps ? LIST_OVERLAPS : LIST_HITS);
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, first, count);
    carom_mesh_overlap_desc rest = swept_spheres_at_rest(b, first, count);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    sweep.batch.accuracy = rest.batch.accuracy = q->accuracy;
    memset(&l->totals, 0xa5, sizeof l->totals);
    if (q->overlaps)
        test_ok("carom_mesh_overlap_list", carom_mesh_overlap_list(mesh, &rest, &list, &stats, &err), &err);
    else
        test_ok("carom_mesh_sweep_list", carom_mesh_sweep_list(mesh, &sweep, q->which, &list, &stats, &err), &err);
    l->by_proof = stats.by_proof;
    l->by_integers = stats.by_integers;
    l->on_cpu = stats.on_cpu;
    l->on_device = stats.on_device;
    list_check_guards(l, "a list");
    assert_int_equal(stats.queries, count);
    assert_int_equal(stats.on_cpu + stats.on_device, count);
    assert_int_equal(stats.by_proof + stats.by_integers, q->accuracy == CAROM_ACCURACY_EXACT ? count : 0);
}

const list_request list_requests[LIST_REQUESTS] = {
    {CAROM_ACCURACY_FAST, 0, CAROM_HITS_ALL},    {CAROM_ACCURACY_FAST, 0, CAROM_HITS_FIRST},
    {CAROM_ACCURACY_FAST, 1, CAROM_HITS_ALL},    {CAROM_ACCURACY_EXACT, 0, CAROM_HITS_ALL},
    {CAROM_ACCURACY_EXACT, 0, CAROM_HITS_FIRST}, {CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL}};

hit_list list_whole(carom_mesh *mesh, const list_request *q, const swept_spheres *b, size_t first, size_t count)
{
    hit_list counted = list_alloc(count, 0, 0xa5);
    list_ask(mesh, q, b, first, count, &counted);
    assert_int_equal(counted.stored, 0);
    hit_list l = list_alloc(count, (size_t)counted.total, 0x5a);
    list_ask(mesh, q, b, first, count, &l);
    assert_int_equal(l.total, counted.total);
    assert_int_equal(l.stored, l.total);
    assert_int_equal(l.complete, count);
    assert_memory_equal(l.offsets.data, counted.offsets.data, l.offsets.size);
    list_check_form(&l, q->overlaps ? LIST_OVERLAPS : LIST_HITS, "a list");
    list_free(&counted);
    return l;
}

uint8_t *any_of(carom_mesh *mesh, const list_request *q, const swept_spheres *b, size_t first, size_t count)
{
    guarded bytes = guarded_alloc(count, 1, 0xa5);
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, first, count);
    carom_mesh_overlap_desc rest = swept_spheres_at_rest(b, first, count);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    sweep.batch.accuracy = rest.batch.accuracy = q->accuracy;
    if (q->overlaps)
        test_ok("carom_mesh_overlap_any", carom_mesh_overlap_any(mesh, &rest, TEST_ANY(bytes.data), &stats, &err),
                &err);
    else
        test_ok("carom_mesh_sweep_any", carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(bytes.data), &stats, &err), &err);
    guarded_check(&bytes, "whether there is any");
    assert_int_equal(stats.queries, count);
    uint8_t *any = test_alloc(count, 1);
    memcpy(any, bytes.data, count);
    guarded_free(&bytes);
    return any;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static int is_in_order(const hit_list *l, size_t k, int fields)
{
    const float before = fields == LIST_OVERLAPS ? 0.0f : hit_float(&l->hits, HIT_T, k - 1);
    const float t = fields == LIST_OVERLAPS ? 0.0f : hit_float(&l->hits, HIT_T, k);
    return before < t || (!(before > t) && hit_triangle(&l->hits, k - 1) < hit_triangle(&l->hits, k));
}

void list_check_form(const hit_list *l, int fields, const char *label)
{
    if (list_offset(l, 0) != 0 || list_offset(l, l->queries) != l->total)
        fail_msg("%s: offsets do not run from 0 to the total", label);
    for (size_t i = 0; i < l->queries; i++) {
        const uint64_t from = list_offset(l, i), to = list_offset(l, i + 1);
        if (to < from || to > l->total)
            fail_msg("%s: offsets of query %zu: %llu to %llu", label, i, (unsigned long long)from,
                     (unsigned long long)to);
        for (size_t k = (size_t)from; k < to && k < l->stored; k++) {
            if (list_query(l, k) != i)
                fail_msg("%s: record %zu is of query %llu, not %zu", label, k, (unsigned long long)list_query(l, k), i);
            if (k > from && !is_in_order(l, k, fields))
                fail_msg("%s: record %zu of query %zu is out of order", label, k, i);
        }
    }
}

void list_compare_record(const swept_spheres *b, size_t i, const hits *expected, size_t at, const hit_list *l, size_t k,
                         int triangles, const char *label)
{
    for (int f = triangles ? HIT_TRIANGLE : HIT_STATE; f < HIT_FIELDS; f++) {
        const size_t size = hit_field_size(f);
        if (!memcmp(expected->field[f].data + at * size, l->hits.field[f].data + k * size, size))
            continue;
        hits_print_at(b, i, expected, at, "expected");
        hits_print_at(b, i, &l->hits, k, label);
        fail_msg("%s: field %d of record %zu differs", label, f, k);
    }
}

void list_check_first(carom_mesh *mesh, carom_accuracy accuracy, const swept_spheres *b, const hit_list *all,
                      const char *label)
{
    hits first = sweep_as(mesh, b, accuracy);
    for (size_t i = 0; i < b->count; i++) {
        const size_t from = (size_t)list_offset(all, i);
        const int some = list_offset(all, i + 1) > from;
        if (hit_is_some(&first, i) != some) {
            hits_print_at(b, i, some ? &all->hits : &first, some ? from : i, "where there is one");
            fail_msg("%s, sphere %zu: a first hit is %s, hits are %s", label, i, some ? "missing" : "there",
                     some ? "there" : "missing");
        }
        if (some)
            list_compare_record(b, i, &first, i, all, from, 1, label);
    }
    hits_free(&first);
}

/* Number of the record of each sphere and triangle, at [sphere * triangles + triangle]; SIZE_MAX: there is none. */
static size_t *places_of(const hit_list *l, size_t triangles)
{
    size_t *place = test_alloc(l->queries * triangles, sizeof *place);
    memset(place, 0xff, l->queries * triangles * sizeof *place);
    for (size_t k = 0; k < l->stored; k++) {
        const int32_t triangle = hit_triangle(&l->hits, k);
        if (triangle < 0 || (size_t)triangle >= triangles)
            fail_msg("record %zu is of triangle %d", k, triangle);
        place[(size_t)list_query(l, k) * triangles + (size_t)triangle] = k;
    }
    return place;
}

/* The second triangle of each pair is the scene's largest, so that the pair is scaled like the whole mesh. */
void list_check_alone(carom_context *context, const scene *s, const list_request *q, const swept_spheres *b,
                      const hit_list *whole, const char *label)
{
    const uint32_t largest = scene_largest(s);
    size_t *place = places_of(whole, s->triangle_count);
    for (uint32_t k = 0; k < s->triangle_count; k++) {
        const uint32_t pair[2] = {k, largest};
        scene two = scene_reorder(s, pair, 2);
        carom_mesh *mesh = scene_mesh(context, &two);
        hit_list alone = list_whole(mesh, q, b, 0, b->count);
        for (size_t i = 0; i < b->count; i++) {
            const size_t x = list_find(&alone, i, 0), y = place[i * s->triangle_count + k];
            if ((x == SIZE_MAX) != (y == SIZE_MAX)) {
                hits_print_at(b, i, x == SIZE_MAX ? &whole->hits : &alone.hits, x == SIZE_MAX ? y : x,
                              "where it is hit");
                fail_msg("%s, sphere %zu: triangle %u is %s in a mesh of two and %s in the whole", label, i, k,
                         x == SIZE_MAX ? "not hit" : "hit", y == SIZE_MAX ? "not" : "is");
            }
            if (x != SIZE_MAX && !q->overlaps)
                list_compare_record(b, i, &alone.hits, x, whole, y, 0, "the whole mesh");
        }
        list_free(&alone);
        carom_mesh_destroy(mesh);
        scene_free(&two);
    }
    free(place);
}

void list_compare(const swept_spheres *b, const hit_list *expected, const hit_list *got, int fields, const char *label)
{
    assert_int_equal(expected->queries, got->queries);
    for (size_t i = 0; i <= expected->queries; i++)
        if (list_offset(expected, i) != list_offset(got, i))
            fail_msg("%s: offset %zu is %llu, not %llu", label, i, (unsigned long long)list_offset(got, i),
                     (unsigned long long)list_offset(expected, i));
    assert_int_equal(expected->stored, got->stored);
    for (size_t k = 0; k < expected->stored; k++) {
        const size_t i = (size_t)list_query(expected, k);
        if (list_query(got, k) != i)
            fail_msg("%s: record %zu is of query %llu, not %zu", label, k, (unsigned long long)list_query(got, k), i);
        if (fields == LIST_HITS)
            list_compare_record(b, i, &expected->hits, k, got, k, 1, label);
        else if (hit_triangle(&expected->hits, k) != hit_triangle(&got->hits, k))
            fail_msg("%s: record %zu of query %zu is triangle %d, not %d", label, k, i, hit_triangle(&got->hits, k),
                     hit_triangle(&expected->hits, k));
    }
}

void list_compare_request(carom_mesh *expected, carom_mesh *got, const list_request *q, const swept_spheres *b,
                          const char *label)
{
    hit_list before = list_whole(expected, q, b, 0, b->count), l = list_whole(got, q, b, 0, b->count);
    uint8_t *some = any_of(expected, q, b, 0, b->count), *any = any_of(got, q, b, 0, b->count);
    list_compare(b, &before, &l, q->overlaps ? LIST_OVERLAPS : LIST_HITS, label);
    assert_memory_equal(some, any, b->count);
    free(some);
    free(any);
    list_free(&before);
    list_free(&l);
}

void list_compare_meshes(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, const char *label)
{
    for (size_t k = 0; k < LIST_REQUESTS; k++)
        list_compare_request(expected, got, &list_requests[k], b, label);
}
