/* SPDX-License-Identifier: MIT */
/* An image of a mesh in which the input's bytes replace some words: it is refused, or its mesh answers every query of
 * the registry without a crash. */
#include "mesh.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 5, SQUARES = SIDE * SIDE, TRIANGLES = 2 * SQUARES + SIDE, ALIGNMENT = 64, WORDS = 4 /* at most */ };

/* A mesh with masks and patches: a sheet whose triangles share vertices, and single triangles above it. */
typedef struct source {
    float vertices[3 * ((SIDE + 1) * (SIDE + 1) + 3 * SIDE)];
    uint32_t indices[3 * TRIANGLES], masks[TRIANGLES];
} source;

typedef struct image {
    uint8_t *data, *whole;
    uint64_t bytes;
} image;

static void add_square(source *s, uint32_t square)
{
    const uint32_t corner = square / SIDE * (SIDE + 1) + square % SIDE, across = corner + SIDE + 2;
    const uint32_t corners[6] = {corner, corner + 1, across, corner, across, corner + SIDE + 1};
    memcpy(s->indices + 6 * square, corners, sizeof corners);
}

static void make_source(source *s)
{
    const uint32_t single = (SIDE + 1) * (SIDE + 1);
    memset(s, 0, sizeof *s);
    for (uint32_t v = 0; v < single + 3 * SIDE; v++) {
        s->vertices[3 * v] = (float)(v % (SIDE + 1)) - 0.5f * SIDE;
        s->vertices[3 * v + 1] = (float)(v / (SIDE + 1) % (SIDE + 1)) - 0.5f * SIDE;
        s->vertices[3 * v + 2] = v < single ? 0.125f * (float)(v % 3) : 1;
    }
    for (uint32_t square = 0; square < SQUARES; square++)
        add_square(s, square);
    for (uint32_t v = 0; v < 3 * SIDE; v++)
        s->indices[6 * SQUARES + v] = single + v;
    for (uint32_t t = 0; t < TRIANGLES; t++)
        s->masks[t] = UINT32_MAX << t % 3;
}

static image make_image(int backend)
{
    source s;
    image m = {0};
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    make_source(&s);
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(s.vertices),
                                  .vertex_count = sizeof s.vertices / (3 * sizeof *s.vertices),
                                  .indices = carom_uints_of(s.indices),
                                  .masks = carom_uints_of(s.masks),
                                  .patches = carom_uints_of(s.masks),
                                  .triangle_count = TRIANGLES};
    fuzz_check_call(carom_mesh_create(fuzz_context(backend), &desc, &mesh, &err), &err, NULL);
    fuzz_check_call(carom_mesh_get_image(mesh, NULL, 0, &m.bytes, &err), &err, NULL);
    m.data = aligned_alloc(ALIGNMENT, (m.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    m.whole = malloc(m.bytes);
    if (!m.data || !m.whole)
        fuzz_fail("no memory", fuzz_backend_name(backend), NULL, 0);
    fuzz_check_call(carom_mesh_get_image(mesh, m.whole, m.bytes, &m.bytes, &err), &err, NULL);
    carom_mesh_destroy(mesh);
    return m;
}

/* Replaces words: most by numbers that are small or next to the old one, as others are refused at once. */
static void damage(fuzz_source *s, image *m)
{
    memcpy(m->data, m->whole, m->bytes);
    for (unsigned left = 1 + fuzz_byte(s) % WORDS; left > 0; left--) {
        uint64_t at = fuzz_byte(s);
        at = (at << 16 | fuzz_byte(s) << 8 | fuzz_byte(s)) % (m->bytes / 4);
        uint32_t word;
        memcpy(&word, m->data + 4 * at, sizeof word);
        const unsigned kind = fuzz_byte(s);
        if (kind % 4 == 0)
            word ^= UINT32_C(1) << kind / 4 % 32;
        else if (kind % 4 == 1)
            word += (uint32_t)(int8_t)fuzz_byte(s);
        else if (kind % 4 == 2)
            word = (uint32_t)(int8_t)fuzz_byte(s);
        else
            for (int i = 0; i < 4; i++)
                word = word << 8 | fuzz_byte(s);
        memcpy(m->data + 4 * at, &word, sizeof word);
    }
}

static void ask_all(carom_mesh *mesh, const query_sphere *sphere)
{
    fuzz_mesh_answer answer;
    for (int i = 0; i < QUERY_MESH_JUDGED; i++)
        fuzz_mesh_ask(query_meshes[i], mesh, sphere, 0, NULL, &answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static image images[FUZZ_BACKENDS]; /* kept: to make one takes longer than an input */
    fuzz_source s = fuzz_open(data, size);
    query_sphere sphere = {.t_max = 100, .max_distance = 100, .options = {UINT32_MAX, 0, 0}};
    fuzz_sweep_case(&s, &sphere.sphere);
    const fuzz_source rest = s;
    for (int b = 0; b < FUZZ_BACKENDS; b++) {
        carom_mesh *mesh = NULL;
        carom_error err = {0};
        if (!images[b].data)
            images[b] = make_image(b);
        s = rest;
        damage(&s, &images[b]);
        const carom_status status =
            carom_mesh_open_image(fuzz_context(b), images[b].data, images[b].bytes, &mesh, &err);
        if (status == CAROM_OK)
            ask_all(mesh, &sphere);
        else if (status != CAROM_ERROR_INVALID_ARGUMENT || !err.message[0])
            fuzz_fail("a damaged image is refused without a reason", fuzz_backend_name(b), NULL, 0);
        carom_mesh_destroy(mesh);
    }
    return 0;
}
