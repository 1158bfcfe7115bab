/* SPDX-License-Identifier: MIT */
#include "open_scenes.h"

enum { SEED = 173 };

/* Numbers from 0 to below `end`, one after the other. */
static size_t next_of(uint64_t *state, size_t end)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(*state >> 33) % end;
}

static scene scene_without(scene s, size_t count)
{
    uint64_t state = SEED;
    for (size_t i = 0; i < count; i++) {
        const size_t triangle = next_of(&state, s.triangle_count--);
        memcpy(s.indices + 3 * triangle, s.indices + 3 * s.triangle_count, 3 * sizeof *s.indices);
    }
    return s;
}

static scene torus(void)
{
    return kinds[2].make(600);
}

scene open_torus(void)
{
    return scene_without(torus(), 40);
}

static scene torus_holes_turned(void)
{
    return scene_turned_round(open_torus());
}

/* Every triangle has corners of its own; those of every `which`-th are moved by 1e-5, along edges too. */
static scene torus_apart(size_t which, float by)
{
    uint64_t state = SEED;
    scene from = torus(), s = scene_alloc_apart(from.triangle_count);
    for (size_t i = 0; i < 3 * s.triangle_count; i++)
        for (size_t k = 0; k < 3; k++)
            s.vertices[3 * i + k] = from.vertices[3 * from.indices[i] + k] +
                                    (i / 3 % which == 0 ? by * ((float)next_of(&state, 2001) / 1000 - 1) : 0);
    scene_free(&from);
    return s;
}

static scene torus_cracks(void)
{
    return torus_apart(12, 1e-5f);
}

scene open_soup(void)
{
    return torus_apart(1, 1e-3f);
}

/* A sphere of triangles that do not meet, `copies` times: whole parts of the closing cancel, and turn more than once
 * around places. */
static scene net(size_t copies)
{
    scene from = scene_sphere(12), s = scene_alloc_apart(copies * from.triangle_count);
    for (size_t t = 0; t < s.triangle_count; t++)
        for (size_t k = 0; k < 9; k++) {
            const uint32_t *corner = from.indices + 3 * (t % from.triangle_count);
            const float middle = (from.vertices[3 * corner[0] + k % 3] + from.vertices[3 * corner[1] + k % 3] +
                                  from.vertices[3 * corner[2] + k % 3]) /
                                 3;
            s.vertices[9 * t + k] = middle + 0.97f * (from.vertices[3 * corner[k / 3] + k % 3] - middle);
        }
    scene_free(&from);
    return s;
}

static scene net_fivefold(void)
{
    return net(5);
}

static scene torus_doubled(void)
{
    uint64_t state = SEED;
    scene s = torus();
    const size_t count = s.triangle_count, more = 100;
    uint32_t *indices = test_alloc(3 * (count + more), sizeof *indices);
    memcpy(indices, s.indices, 3 * count * sizeof *indices);
    for (size_t i = 0; i < more; i++)
        memcpy(indices + 3 * (count + i), indices + 3 * next_of(&state, count), 3 * sizeof *indices);
    free(s.indices);
    s.indices = indices;
    s.triangle_count += more;
    return s;
}

/* A box of whole numbers without its top: its opening, edges and corners are in planes of nodes. */
scene open_box(void)
{
    scene s = scene_box(-1, -1, -1, 1, 1, 1);
    size_t left = 0;
    for (size_t t = 0; t < s.triangle_count; t++) {
        float p[3][3];
        scene_triangle(&s, t, p);
        if (p[0][2] + p[1][2] + p[2][2] < 3) {
            memmove(s.indices + 3 * left, s.indices + 3 * t, 3 * sizeof *s.indices);
            left++;
        }
    }
    s.triangle_count = left;
    return s;
}

/* A box without top and bottom: a node in one opening is outside because of the other. */
static scene box_pipe(void)
{
    scene s = open_box();
    size_t left = 0;
    for (size_t t = 0; t < s.triangle_count; t++) {
        float p[3][3];
        scene_triangle(&s, t, p);
        if (p[0][2] + p[1][2] + p[2][2] > -3) {
            memmove(s.indices + 3 * left, s.indices + 3 * t, 3 * sizeof *s.indices);
            left++;
        }
    }
    s.triangle_count = left;
    return s;
}

/* A side of the box is open, and one triangle inside it has no neighbours. */
static scene box_lying(void)
{
    scene s = open_box();
    for (size_t v = 0; v < s.vertex_count; v++) {
        const float x = s.vertices[3 * v];
        s.vertices[3 * v] = s.vertices[3 * v + 2];
        s.vertices[3 * v + 2] = -x;
    }
    return scene_both(s, scene_soup(SEED, 1, 0.5));
}

/* Masks leave every seventh triangle out. */
scene open_masked(void)
{
    scene s = torus();
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = t % 7 != 0;
    return s;
}

/* Opposite faces in one place cancel. */
static scene box_cancelled(void)
{
    return scene_both(open_box(), scene_turned_round(open_box()));
}

static scene floor_open(void)
{
    return scene_floor(5);
}

static scene torus_far(void)
{
    scene s = open_torus();
    scene_place(&s, 0, 1e4f);
    return s;
}

static scene box_huge(void)
{
    scene s = open_box();
    scene_scale(&s, 125);
    return s;
}

static scene box_tiny(void)
{
    scene s = open_box();
    scene_scale(&s, -135);
    return s;
}

static scene soup(void)
{
    return kinds[0].make(80);
}

const sign_scene open_scenes[OPEN_SCENES] = {{"torus with holes", open_torus},
                                             {"turned round", torus_holes_turned},
                                             {"cracks", torus_cracks},
                                             {"a torus of soup", open_soup},
                                             {"doubled faces", torus_doubled},
                                             {"a box without a top", open_box},
                                             {"a box lying", box_lying},
                                             {"masks", open_masked},
                                             {"cancelled", box_cancelled},
                                             {"a sheet", floor_open},
                                             {"far away", torus_far},
                                             {"huge", box_huge},
                                             {"tiny", box_tiny},
                                             {"a pipe", box_pipe},
                                             {"a net, five times", net_fivefold},
                                             {"soup", soup}};
