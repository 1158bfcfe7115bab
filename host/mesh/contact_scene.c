/* SPDX-License-Identifier: MIT */
/* Contacts with scenes. The search has no culling data there, so every triangle that may precede another one has a
 * record. So these triangles are a small mesh of their own, with corners in the world and tables of edges and corners
 * by the positions in each instance's mesh, and contacts are chosen as those of any mesh. Numbers of triangles keep
 * their order. */
#include <string.h>

#include "host/bvh/triangle.h"
#include "host/core/progress.h"
#include "contacts.h"

enum { RUN = 16 }; /* merge sort begins with runs of so many elements, which are sorted by insertion */

/* An element to sort: by `key`, and where keys are equal by `at`. */
typedef struct keyed {
    uint64_t key;
    uint32_t at;
} keyed;

/* The triangles around one sphere, in arrays of a thread. */
struct caromi_local_mesh {
    carom_mesh mesh; /* triangle t has the vertices 3 t, 3 t + 1 and 3 t + 2 */
    caromi_edges edges;
    caromi_corners corners;
    caromi_mesh_batch batch; /* the call's, but for the mesh */
    uint32_t capacity;
    uint32_t *number;    /* [triangles] in the scene, ascending */
    keyed *keys, *spare; /* [3 triangles] */
};

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

static int is_before(const keyed *a, const keyed *b)
{
    return a->key != b->key ? a->key < b->key : a->at < b->at;
}

static void sort_run(keyed *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const keyed own = keys[i];
        size_t at = i;
        for (; at > 0 && is_before(&own, &keys[at - 1]); at--)
            keys[at] = keys[at - 1];
        keys[at] = own;
    }
}

static void merge_runs(const keyed *from, size_t middle, size_t end, keyed *to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < end; i++)
        to[i] = left < middle && (right == end || is_before(&from[left], &from[right])) ? from[left++] : from[right++];
}

/* Merge sort; spare: as many elements. If the call ends, the elements stay in some order. */
static void sort_keys(const carom_context *context, keyed *keys, size_t count, keyed *spare)
{
    for (size_t i = 0; i < count; i += RUN)
        sort_run(keys + i, count - i < RUN ? count - i : RUN);
    for (size_t run = RUN; run < count; run *= 2) {
        for (size_t i = 0; i < count; i += 2 * run) {
            if (caromi_look_at_times(context, i))
                return;
            const size_t end = count - i < 2 * run ? count - i : 2 * run;
            merge_runs(keys + i, end < run ? end : run, end, spare + i);
        }
        memcpy(keys, spare, count * sizeof *keys);
    }
}

/* The end of the elements, from `from` on, that have the first one's key. */
static size_t end_of_key(const keyed *keys, size_t from, size_t count)
{
    size_t end = from;
    while (end < count && keys[end].key == keys[from].key)
        end++;
    return end;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void free_arrays(const carom_context *context, struct caromi_local_mesh *local)
{
    void *const all[] = {local->mesh.vertices, local->mesh.indices, local->edges.position, local->edges.next,
                         local->edges.twins,   local->edges.twin,   local->corners.start,  local->corners.triangle,
                         local->number,        local->keys,         local->spare};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        caromi_free(context, all[i]);
    local->capacity = 0;
}

void caromi_local_mesh_free(const carom_context *context, struct caromi_local_mesh *local)
{
    if (local == NULL)
        return;
    free_arrays(context, local);
    caromi_free(context, local);
}

/* Memory for so many triangles. Returns 0 if there is none. */
static int reserve(const carom_context *context, struct caromi_local_mesh *local, uint32_t count)
{
    if (count <= local->capacity)
        return 1;
    if (count > UINT32_MAX / 6) /* corners are numbered in 32 bits */
        return 0;
    free_arrays(context, local);
    const uint64_t triangles = (uint64_t)count + count / 2 + RUN, corners = 3 * triangles;
    local->mesh.vertices = caromi_alloc(context, corners, 3 * sizeof *local->mesh.vertices);
    local->mesh.indices = caromi_alloc(context, corners, sizeof *local->mesh.indices);
    local->edges.position = caromi_alloc(context, corners, sizeof *local->edges.position);
    local->edges.next = caromi_alloc(context, corners, sizeof *local->edges.next);
    local->edges.twins = caromi_alloc(context, triangles, 1);
    local->edges.twin = caromi_alloc(context, triangles, sizeof *local->edges.twin);
    local->corners.start = caromi_alloc(context, corners + 1, sizeof *local->corners.start);
    local->corners.triangle = caromi_alloc(context, corners, sizeof *local->corners.triangle);
    local->number = caromi_alloc(context, triangles, sizeof *local->number);
    local->keys = caromi_alloc(context, corners, sizeof *local->keys);
    local->spare = caromi_alloc(context, corners, sizeof *local->spare);
    if (local->mesh.vertices == NULL || local->mesh.indices == NULL || local->edges.position == NULL ||
        local->edges.next == NULL || local->edges.twins == NULL || local->edges.twin == NULL ||
        local->corners.start == NULL || local->corners.triangle == NULL || local->number == NULL ||
        local->keys == NULL || local->spare == NULL)
        return 0;
    local->capacity = (uint32_t)triangles;
    for (uint32_t i = 0; i < corners; i++)
        local->mesh.indices[i] = i;
    return 1;
}

/* The thread's local mesh for a call, with memory for so many triangles; NULL: there is no memory. */
static struct caromi_local_mesh *local_of(const carom_context *context, const caromi_mesh_batch *batch,
                                          caromi_contact_scratch *scratch, uint32_t count)
{
    struct caromi_local_mesh *local = scratch->local;
    if (local == NULL) {
        local = scratch->local = caromi_alloc(context, 1, sizeof *local);
        if (local == NULL)
            return NULL;
        memset(local, 0, sizeof *local);
        local->mesh.context = batch->mesh->context;
        local->mesh.view.frame = batch->mesh->view.frame;
        local->mesh.edges = &local->edges;
        memcpy(local->mesh.info.lower, batch->mesh->info.lower, sizeof local->mesh.info.lower);
        memcpy(local->mesh.info.upper, batch->mesh->info.upper, sizeof local->mesh.info.upper);
        local->edges.corners = &local->corners;
        local->batch = *batch;
        local->batch.mesh = &local->mesh;
    }
    return reserve(context, local, count) ? local : NULL;
}

/* ---- the mesh ---------------------------------------------------------------------------------------------------- */

/* Puts the records in the order of their triangles, which get the numbers 0, 1, and so on. spare: room for as many. */
static void number_records(const carom_context *context, struct caromi_local_mesh *local, mesh_record *records,
                           uint32_t count, mesh_record *spare)
{
    for (uint32_t i = 0; i < count; i++)
        local->keys[i] = (keyed){(uint32_t)records[i].triangle, i};
    sort_keys(context, local->keys, count, local->spare);
    for (uint32_t i = 0; i < count; i++) {
        spare[i] = records[local->keys[i].at];
        local->number[i] = (uint32_t)spare[i].triangle;
        spare[i].triangle = (int32_t)i;
    }
    memcpy(records, spare, count * sizeof *records);
}

/* Sets the corners in the world, and keys[3 t + k]: the position of each corner in its mesh, and the instance. */
static void set_corners(const carom_context *context, const carom_scene *scene, struct caromi_local_mesh *local,
                        uint32_t count)
{
    for (uint32_t t = 0; t < count && !caromi_look_at_times(context, t); t++) {
        const caromi_scene_triangle of = caromi_scene_find(scene, local->number[t]);
        caromi_scene_corners(scene, local->number[t], local->mesh.vertices + 9 * (size_t)t);
        for (uint32_t k = 0; k < 3; k++) {
            const int corner = (int)(of.mirrors && k > 0 ? 3 - k : k);
            const uint32_t position = caromi_corner_position(of.mesh->corners, of.triangle, corner);
            local->keys[3 * t + k] = (keyed){(uint64_t)of.instance << 32 | position, 3 * t + k};
        }
    }
}

/* Numbers the positions of the corners in the order of instances, then of positions in the mesh, and lists the
 * triangles at each. */
static void find_positions(const carom_context *context, struct caromi_local_mesh *local, uint32_t count)
{
    const size_t corners = 3 * (size_t)count;
    uint32_t position = 0;
    sort_keys(context, local->keys, corners, local->spare);
    for (size_t i = 0; i < corners; position++) {
        const size_t end = end_of_key(local->keys, i, corners);
        local->corners.start[position] = i;
        for (; i < end; i++) {
            local->edges.position[local->keys[i].at] = position;
            local->corners.triangle[i] = local->keys[i].at / 3;
        }
    }
    local->corners.start[position] = corners;
}

/* Links the triangles at each edge in descending order, the lowest with the highest: a lower one precedes more often.
 * An edge that a triangle has twice counts at its first place. */
static void link_edges(const carom_context *context, struct caromi_local_mesh *local, uint32_t count)
{
    const size_t corners = 3 * (size_t)count;
    for (uint32_t i = 0; i < corners; i++) {
        const uint32_t a = local->edges.position[i], b = local->edges.position[i - i % 3 + (i + 1) % 3];
        local->keys[i] = (keyed){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), i};
    }
    sort_keys(context, local->keys, corners, local->spare);
    for (size_t i = 0; i < corners;) {
        const size_t end = end_of_key(local->keys, i, corners);
        uint32_t last = local->keys[end - 1].at / 3, own;
        for (; i < end; i++, last = own) {
            own = local->keys[i].at / 3;
            local->edges.next[local->keys[i].at] = last;
            while (i + 1 < end && local->keys[i + 1].at / 3 == own)
                i++;
        }
    }
}

/* Links triangles [first, end) of the sorted keys, which have the same two lowest positions, by the third; as edges. */
static void link_some_twins(const carom_context *context, struct caromi_local_mesh *local, size_t first, size_t end)
{
    keyed *keys = local->keys + first;
    const size_t count = end - first;
    uint32_t p[3];
    for (size_t i = 0; i < count; i++) {
        caromi_edges_sorted_corners(&local->edges, keys[i].at, p);
        keys[i].key = p[2];
    }
    sort_keys(context, keys, count, local->spare);
    for (size_t i = 0; i < count;) {
        const size_t from = i, to = end_of_key(keys, i, count);
        for (; i < to; i++) {
            const uint32_t t = keys[i].at;
            local->edges.twin[t] = keys[i > from ? i - 1 : to - 1].at;
            local->edges.twins[t / 8] |= (uint8_t)((unsigned)(to - from > 1) << t % 8);
        }
    }
}

static void link_twins(const carom_context *context, struct caromi_local_mesh *local, uint32_t count)
{
    uint32_t p[3];
    memset(local->edges.twins, 0, (count + 7) / 8);
    for (uint32_t t = 0; t < count; t++) {
        caromi_edges_sorted_corners(&local->edges, t, p);
        local->keys[t] = (keyed){(uint64_t)p[0] << 32 | p[1], t};
    }
    sort_keys(context, local->keys, count, local->spare);
    for (size_t i = 0; i < count;) {
        const size_t end = end_of_key(local->keys, i, count);
        link_some_twins(context, local, i, end);
        i = end;
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

int64_t caromi_choose_in_scene(const carom_context *context, const caromi_mesh_batch *batch,
                               const caromi_contacts *contacts, caromi_contact_scratch *scratch,
                               const caromi_mesh_query *query, mesh_record *records, uint32_t count, mesh_record *spare,
                               uint8_t *by_integers)
{
    if (count == 0)
        return 0;
    struct caromi_local_mesh *local = local_of(context, batch, scratch, count);
    if (local == NULL)
        return -1;
    number_records(context, local, records, count, spare);
    set_corners(context, batch->mesh->scene, local, count);
    if (caromi_watch_ends(context->watch)) /* the tables are unfinished, and the query has no answer */
        return 0;
    find_positions(context, local, count);
    link_edges(context, local, count);
    link_twins(context, local, count);
    if (caromi_watch_ends(context->watch))
        return 0;
    local->mesh.info.triangle_count = count;
    scratch->ahead = NULL; /* the next queries have other local meshes */
    const int64_t found =
        caromi_choose_contacts(context, &local->batch, contacts, scratch, query, records, count, spare, by_integers);
    for (int64_t i = 0; i < found; i++)
        records[i].triangle = (int32_t)local->number[records[i].triangle];
    return found;
}
