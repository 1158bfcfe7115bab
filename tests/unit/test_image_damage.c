/* SPDX-License-Identifier: MIT */
/* Images whose bytes are damaged: each is refused with a sentence that tells where, or its mesh answers every query. No
 * crash, no endless search. */
#include <math.h>

#include "tests/support/requests.h"
#include "tests/support/volumes.h"
#include "cpu/mesh/rows.h"

enum { SEED = 499, IMAGES = 20000, QUERIES = 8, LATTICES = 8 /* one in so many is asked */, ALIGNMENT = 64 };
static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

/* The parts of an image. */
enum { HEAD, VERTICES, INDICES, NODES, LEAVES, MASKS, PATCHES, PARTS };
typedef struct part {
    size_t at, bytes;
} part;

/* The image of a mesh in memory of its own size, so that a sanitizer sees what reads beyond it. */
typedef struct image {
    unsigned char *data, *whole; /* whole: as it was written */
    size_t bytes;
    int width;
    uint64_t nodes, leaves, triangles;
    part part[PARTS];
} image;

static part behind(const part *before, size_t bytes)
{
    return (part){(before->at + before->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, bytes};
}

/* Finds the parts: the vertices by their bytes, and the number of leaves by the size. */
static void find_parts(image *m, const scene *s)
{
    part *p = m->part;
    const size_t vertices = s->vertex_count * 3 * sizeof *s->vertices;
    size_t at = 0;
    while (at + vertices <= m->bytes && memcmp(m->whole + at, s->vertices, vertices) != 0)
        at += ALIGNMENT;
    assert_true(at > 0 && at + vertices <= m->bytes);
    p[HEAD] = (part){0, at};
    p[VERTICES] = (part){at, vertices};
    p[INDICES] = behind(&p[VERTICES], s->triangle_count * 3 * sizeof(uint32_t));
    assert_memory_equal(m->whole + p[INDICES].at, s->indices, p[INDICES].bytes);
    p[NODES] = behind(&p[INDICES], m->nodes * CAROMI_NODE_BYTES(m->width));
    for (m->leaves = 0; m->leaves <= s->triangle_count; m->leaves++) {
        p[LEAVES] = behind(&p[NODES], m->leaves * CAROMI_LEAF_BYTES(m->width));
        p[MASKS] = behind(&p[LEAVES], s->masks != NULL ? m->leaves * (size_t)m->width * sizeof(int32_t) : 0);
        p[PATCHES] = behind(&p[MASKS], s->masks != NULL ? s->triangle_count * sizeof(uint32_t) : 0);
        if (p[PATCHES].at + p[PATCHES].bytes == m->bytes)
            return;
    }
    fail_msg("the image has %zu bytes, which no number of leaves explains", m->bytes);
}

static image image_of(carom_context *context, const scene *s)
{
    image m = {0};
    carom_mesh *mesh = NULL;
    carom_mesh_desc desc = scene_desc(s);
    carom_error err;
    uint64_t bytes = 0;
    if (s->masks != NULL) /* a mesh with all features */
        desc.patches = carom_uints_of(s->masks);
    test_ok("a mesh", carom_mesh_create(context, &desc, &mesh, &err), &err);
    test_ok("the size of an image", carom_mesh_get_image(mesh, NULL, 0, &bytes, &err), &err);
    m.bytes = bytes;
    m.data = aligned_alloc(ALIGNMENT, (m.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    m.whole = malloc(m.bytes);
    assert_true(m.data != NULL && m.whole != NULL);
    test_ok("an image", carom_mesh_get_image(mesh, m.data, bytes, &bytes, &err), &err);
    const carom_mesh_info info = test_mesh_info(mesh);
    m.width = (int)info.width;
    m.nodes = info.node_count;
    m.triangles = info.triangle_count;
    memcpy(m.whole, m.data, m.bytes);
    find_parts(&m, s);
    carom_mesh_destroy(mesh);
    return m;
}

static void image_free(image *m)
{
    free(m->data);
    free(m->whole);
}

static void mend(image *m)
{
    memcpy(m->data, m->whole, m->bytes);
}

/* ---- damage at one place ----------------------------------------------------------------------------------------- */

static caromi_node_rows node_at(const image *m, uint64_t number)
{
    return caromi_node_rows_of(m->data + m->part[NODES].at, m->width, number);
}

static caromi_leaf_rows leaf_at(const image *m, int reference)
{
    return caromi_leaf_rows_of(m->data + m->part[LEAVES].at, m->width, reference);
}

/* A slot of a node whose child is a leaf: `of_leaf` 1; or a node. Any node. */
typedef struct slot {
    caromi_node_rows node;
    int at;
} slot;
static slot find_slot(const image *m, int of_leaf)
{
    for (uint64_t n = m->nodes; n-- > 0;)
        for (int i = 0; i < m->width; i++) {
            const slot found = {node_at(m, n), i};
            if (of_leaf ? found.node.child[i] < 0 : found.node.child[i] > 0)
                return found;
        }
    fail_msg("no child of that kind");
    return (slot){.at = 0};
}

/* The image is refused with a word; then it is mended. */
static void refuse(carom_context *context, image *m, const char *word)
{
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    test_error(carom_mesh_open_image(context, m->data, m->bytes, &mesh, &err), bad, &err, word);
    test_error(bad, bad, &err, "image is damaged: ");
    assert_null(mesh);
    mend(m);
}

static void refuse_references(carom_context *context, image *m)
{
    const slot node = find_slot(m, 0), leaf = find_slot(m, 1);
    const int last = (int)m->nodes, far_leaf = MESH_LEAF((int)m->leaves, 0);
    const int child = node.node.child[node.at], of_leaf = leaf.node.child[leaf.at];
    const int wrong[] = {last, INT32_MAX, child - 1, far_leaf, INT32_MIN};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        node.node.child[node.at] = wrong[i];
        refuse(context, m, "that comes next");
        leaf.node.child[leaf.at] = wrong[i];
        refuse(context, m, "that comes next");
    }
    leaf.node.child[leaf.at] = 1; /* to an ancestor: an endless search */
    refuse(context, m, "is not the node that comes next");
    leaf.node.child[leaf.at] = of_leaf ^ 1; /* takes one leaf more or less */
    refuse(context, m, "");
    node.node.child[0] = 0;
    refuse(context, m, "gaps between them");
}

static void refuse_leaves(carom_context *context, image *m)
{
    const slot leaf = find_slot(m, 1);
    const caromi_leaf_rows rows = leaf_at(m, leaf.node.child[leaf.at]);
    const int first = rows.triangle[0];
    const int wrong[] = {(int)m->triangles, INT32_MAX, INT32_MIN, -1, -2};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        rows.triangle[0] = wrong[i];
        refuse(context, m, "ascending indices");
    }
    rows.triangle[0] = rows.triangle[1];
    refuse(context, m, "ascending indices");
    rows.corner[2][1] = MESH_VERTICES;
    refuse(context, m, "vertices are not those");
    rows.corner[0][0] = (unsigned char)(rows.corner[0][0] + 1);
    refuse(context, m, "vertices are not those");
    rows.vertex[1][0] = NAN;
    refuse(context, m, "vertices are not those");
    *rows.ball *= 2;
    refuse(context, m, "vertices are not those");
    leaf.node.lower[0][leaf.at] = NAN;
    refuse(context, m, "other bounds");
    leaf.node.upper[2][leaf.at] *= 1.5f;
    refuse(context, m, "other bounds");
    leaf.node.least[leaf.at] = first + 1;
    refuse(context, m, "other bounds");
}

static void refuse_vertices(carom_context *context, image *m)
{
    float *vertices = (float *)(void *)(m->data + m->part[VERTICES].at);
    uint32_t *indices = (uint32_t *)(void *)(m->data + m->part[INDICES].at);
    vertices[3 * indices[6] + 1] = INFINITY;
    refuse(context, m, "has a coordinate that is not finite");
    indices[7] = UINT32_MAX;
    refuse(context, m, "triangle 2, corner 1: vertex 4294967295");
    vertices[3 * indices[6] + 1] = 1000;
    refuse(context, m, "its bounds or its scale");
}

/* The children of each kind of place, one after the other. */
static void damage_is_named(void **state)
{
    static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_AUTO};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(isas); i++) {
        carom_context *context = test_cpu(isas[i], 2);
        scene s = scene_sphere(16);
        image m = image_of(context, &s);
        refuse_references(context, &m);
        refuse_leaves(context, &m);
        refuse_vertices(context, &m);
        image_free(&m);
        scene_free(&s);
        carom_context_destroy(context);
    }
}

/* Two leaves of one size hold the same triangles, so that others are missing. Each leaf is right by itself. */
static void each_triangle_has_one_leaf(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_SCALAR, 2);
    scene s = scene_both(scene_soup(SEED, 8, 0.5), scene_soup(SEED + 1, 8, 0.5));
    (void)state;
    for (size_t v = s.vertex_count / 2; v < s.vertex_count; v++)
        s.vertices[3 * v] += 10;
    image m = image_of(context, &s);
    assert_int_equal(m.leaves, 4);
    const slot leaf = find_slot(&m, 1);
    const int from = MESH_LEAF(0, 1), to = MESH_LEAF(2, 1);
    const size_t bytes = 2 * CAROMI_LEAF_BYTES(m.width);
    memcpy(leaf_at(&m, to).triangle, leaf_at(&m, from).triangle, bytes);
    for (int k = 0; k < 3; k++) {
        leaf.node.lower[k][1] = leaf.node.lower[k][0];
        leaf.node.upper[k][1] = leaf.node.upper[k][0];
    }
    leaf.node.least[1] = leaf.node.least[0];
    refuse(context, &m, "no leaf holds triangle");
    image_free(&m);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An empty slot of a leaf gets a triangle that another leaf holds, with all that follows from it: the triangles are
 * equal. Nothing but the number of triangles in leaves tells. */
static void no_triangle_has_two_leaves(void **state)
{
    enum { EQUAL = 15 };
    carom_context *context = test_cpu(CAROM_ISA_SCALAR, 1);
    scene s = scene_alloc(3, EQUAL);
    (void)state;
    s.vertices[3] = s.vertices[7] = 1;
    for (size_t i = 0; i < 3 * EQUAL; i++)
        s.indices[i] = (uint32_t)(i % 3);
    image m = image_of(context, &s);
    const slot child = find_slot(&m, 1);
    const int first = child.node.child[0];
    const caromi_leaf_rows leaf = leaf_at(&m, leaf_at(&m, first).triangle[7] < 0 ? first : child.node.child[1]);
    assert_int_equal(leaf.triangle[7], -1);
    leaf.triangle[7] = EQUAL - 1;
    refuse(context, &m, "its leaves hold 16 triangles of 15");
    leaf.corner[1][7] = 0;
    refuse(context, &m, "vertices are not those");
    leaf.vertex[2][MESH_VERTICES - 1] = -1;
    refuse(context, &m, "vertices are not those");
    image_free(&m);
    scene_free(&s);
    carom_context_destroy(context);
}

/* A chain of nodes, each the first child of the one before. */
static void deep_chains_are_refused(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_SCALAR, 1);
    scene s = scene_sphere(48);
    (void)state;
    image m = image_of(context, &s);
    assert_true(m.nodes > MESH_STACK / 2);
    for (uint64_t n = 0; n + 1 < m.nodes; n++) {
        const caromi_node_rows node = node_at(&m, n);
        memset(node.child, 0, (size_t)m.width * sizeof *node.child);
        node.child[0] = (int)n + 1;
        node.child[1] = MESH_LEAF(0, 0);
    }
    refuse(context, &m, "is too deep for a search");
    image_free(&m);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Each word of the head is one more. What matters is refused, the rest does no harm. */
static void heads_are_checked(void **state)
{
    static const char *const sentences[] = {"no image",    "another version",    "or its head is damaged", "a stack of",
                                            "the root is", "radius of bounding", "bounds or its scale"};
    int seen[COUNT_OF(sentences)] = {0};
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    scene s = scene_sphere(8);
    (void)state;
    image m = image_of(context, &s);
    for (size_t at = 0; at < m.part[HEAD].bytes; at += sizeof(uint32_t)) {
        carom_mesh *mesh = NULL;
        carom_error err = {0};
        *(uint32_t *)(void *)(m.data + at) += 1;
        if (carom_mesh_open_image(context, m.data, m.bytes, &mesh, &err) == CAROM_OK)
            carom_mesh_destroy(mesh);
        for (size_t i = 0; i < COUNT_OF(sentences); i++)
            seen[i] |= strstr(err.message, sentences[i]) != NULL;
        mend(&m);
    }
    for (size_t i = 0; i < COUNT_OF(sentences); i++)
        if (!seen[i])
            fail_msg("no damaged head is refused with: %s", sentences[i]);
    image_free(&m);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- damage anywhere --------------------------------------------------------------------------------------------- */

/* Of each part, how often it is hit. Damage to masks and patches is no damage to a search. */
static const unsigned char often[] = {HEAD,   HEAD,   VERTICES, VERTICES, INDICES, INDICES, NODES,
                                      NODES,  NODES,  NODES,    NODES,    NODES,   LEAVES,  LEAVES,
                                      LEAVES, LEAVES, LEAVES,   LEAVES,   MASKS,   PATCHES};

static size_t below(query_random *r, size_t end)
{
    return (size_t)(query_random_bits(r) % end);
}

static uint32_t random_word(query_random *r, uint32_t old, const image *m)
{
    static const uint32_t words[] = {0,          1,          UINT32_MAX, INT32_MAX,  0x80000000, 0x7fc00000,
                                     0x7f800000, 0xff800000, 0x00000001, 0x7f7fffff, 0xfffffffe};
    switch (below(r, 6)) {
    case 0: return old ^ UINT32_C(1) << below(r, 32);
    case 1: return old + 1;
    case 2: return old - 1;
    case 3: return words[below(r, COUNT_OF(words))];
    case 4: return (uint32_t)below(r, m->triangles);
    default: return (uint32_t)query_random_bits(r);
    }
}

static void damage(query_random *r, image *m)
{
    const part *p = &m->part[often[below(r, COUNT_OF(often))]];
    unsigned char *at = m->data + p->at + below(r, p->bytes / 4) * 4;
    uint32_t word;
    memcpy(&word, below(r, 4) == 0 ? m->data + p->at + below(r, p->bytes / 4) * 4 : at, sizeof word);
    if (below(r, 4) != 0)
        word = random_word(r, word, m);
    memcpy(at, &word, sizeof word);
}

/* Lattices of a mesh with each sign, its clearance, and a map of heights. */
static void ask_lattices(carom_mesh *mesh, const carom_lattice *lattice)
{
    carom_error err = {0};
    for (int sign = CAROM_SIGN_NONE; sign <= CAROM_SIGN_ROBUST; sign++) {
        carom_mesh_distance_desc desc = volume_desc(lattice, sign % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.sign = (carom_sign)sign;
        desc.allow_open = 1;
        volume v = volume_ask(mesh, &desc, NULL);
        volume_free(&v);
    }
    uint8_t *clearance = malloc(lattice_nodes(lattice));
    float *height = malloc(lattice_nodes(lattice) * sizeof *height);
    const carom_mesh_clearance_desc clear = {
        .batch = {.size = sizeof clear, .count = lattice->dims[2]}, .lattice = *lattice, .radius = 0.1f};
    const carom_mesh_clearance_result cleared = {.size = sizeof cleared, .clearance = clearance};
    test_ok("clearance", carom_mesh_clearance(mesh, &clear, &cleared, NULL, &err), &err);
    carom_mesh_drop_desc drop = {
        .batch = {.size = sizeof drop, .count = lattice->dims[1]}, .lattice = *lattice, .radius = 0.1f};
    drop.lattice.dims[2] = 1;
    const carom_mesh_drop_result dropped = {.size = sizeof dropped, .height = height};
    test_ok("a drop map", carom_mesh_drop(mesh, &drop, &dropped, NULL, &err), &err);
    free(clearance);
    free(height);
}

/* Every query of the mesh, whose answers may be wrong; lattices unless they are NULL. */
static void ask_all(carom_context *context, carom_mesh *mesh, const fixture *f, const carom_lattice *lattice)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        const request *q = &requests[i];
        if (!request_needs_mesh(q))
            continue;
        carom_error err = {0};
        batch_result r = batch_result_alloc(q, f);
        test_ok(q->name, request_ask(q, context, mesh, f, &r, &err), &err);
        batch_result_free(&r);
    }
    if (lattice != NULL)
        ask_lattices(mesh, lattice);
}

/* Opens the damaged image and asks everything. Returns whether it was opened. */
static int try_image(carom_context *context, const image *m, const fixture *f, const carom_lattice *lattice)
{
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    const carom_status status = carom_mesh_open_image(context, m->data, m->bytes, &mesh, &err);
    if (status != CAROM_OK) {
        assert_int_equal(status, bad);
        assert_true(strlen(err.message) > 0);
        assert_null(mesh);
        return 0;
    }
    ask_all(context, mesh, f, lattice);
    carom_mesh_destroy(mesh);
    return 1;
}

/* Triangles that share vertices, single ones, and leaves of both kinds, with masks and patches. */
static scene all_features(void)
{
    scene s = scene_both(scene_sphere(8), scene_soup(SEED, 100, 0.4));
    s.masks = random_masks(SEED, s.triangle_count);
    return s;
}

static void damage_is_no_crash(carom_isa isa, uint32_t threads)
{
    carom_context *context = test_cpu(isa, threads);
    fixture f = fixture_make(SEED, all_features(), QUERIES, 1);
    f.b.mask = random_masks(SEED + 1, QUERIES);
    const carom_lattice lattice = lattice_around(&f.s, 8);
    image m = image_of(context, &f.s);
    query_random r = {SEED + (uint64_t)isa};
    size_t opened = 0;
    const size_t images = test_effort(IMAGES / 2);
    assert_true(m.nodes > 2);
    assert_int_equal(try_image(context, &m, &f, &lattice), 1);
    for (size_t i = 0; i < images; i++) {
        for (uint64_t left = below(&r, 4) == 0 ? 3 : 1; left > 0; left--)
            damage(&r, &m);
        opened += (size_t)try_image(context, &m, &f, opened % LATTICES == 0 ? &lattice : NULL);
        mend(&m);
    }
    test_share("damaged images that are opened", opened, images, 0.02, 0.3);
    image_free(&m);
    fixture_free(&f);
    carom_context_destroy(context);
}

static void wide_nodes_are_no_crash(void **state)
{
    (void)state;
    damage_is_no_crash(CAROM_ISA_AUTO, 1);
}

static void narrow_nodes_are_no_crash(void **state)
{
    (void)state;
    damage_is_no_crash(CAROM_ISA_SCALAR, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(each_triangle_has_one_leaf),
        cmocka_unit_test(no_triangle_has_two_leaves),
        cmocka_unit_test(deep_chains_are_refused),
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(wide_nodes_are_no_crash),
        cmocka_unit_test(narrow_nodes_are_no_crash),
    };
    return cmocka_run_group_tests_name("image_damage", tests, NULL, NULL);
}
