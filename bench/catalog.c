/* SPDX-License-Identifier: MIT */
/* The scenes by name: those of every run, and each family of the reference for whoever asks for it. */
#include <stdio.h>
#include <string.h>

#include "reference/reference.h"
#include "suite.h"

enum {
    MILLION = 1000000,
    FEW = 1 << 17,
    FAMILY = 200000,
    QUERIES = 200000 /* past a large mesh fewer would find in a cache what they visited in the round before */
};
#define PAIRS(name, what, question, family, peers)                                      \
    {                                                                                   \
        name, what, TYPE_PAIRS, MILLION, FEW, question, family, 0, 0, 0, peers, 0, 0, 0 \
    }
/* A few pairs again and again, from cache. */
#define CACHED_PAIRS(name, question)                                                                          \
    {                                                                                                         \
        name, "the same 4096 pairs again and again", TYPE_PAIRS, CACHED, CACHED, question, "random", 0, 0, 0, \
            PEERS_NEVER, 0, 0, 0                                                                              \
    }
#define TORUS_70K 250, 140
#define TORUS_1M 1000, 500
#define FROM_FILE 0, 0

/* The other queries of a mesh, and other meshes: for whoever asks. */
#define MESH_QUERY(name, what, spheres, task)                                                    \
    {                                                                                            \
        name, what, TYPE_MESH, 20000, 5000, 0, NULL, spheres, TORUS_70K, PEERS_NEVER, 1, task, 0 \
    }
#define OTHER_MESH(name, what, spheres, shape)                                                         \
    {                                                                                                  \
        name, what, TYPE_MESH, 20000, 5000, 0, NULL, spheres, 100, 0, PEERS_FULL, 1, MESH_FIRST, shape \
    }

static const suite_scene scenes[] = {
    PAIRS("sweep-first-random", "first time", QUESTION_FIRST, "random", PEERS_QUICK),
    PAIRS("sweep-times-random", "both times and the state", QUESTION_TIMES, "random", PEERS_FULL),
    PAIRS("sweep-full-random", "times, points, features", QUESTION_FULL, "random", PEERS_NEVER),
    PAIRS("sweep-times-near", "starts close to the triangle", QUESTION_TIMES, "near", PEERS_FULL),
    PAIRS("sweep-times-far", "starts 1000 triangles away", QUESTION_TIMES, "far-1e3", PEERS_FULL),
    PAIRS("sweep-times-grazing", "lines that all but miss", QUESTION_TIMES, "grazing", PEERS_FULL),
    PAIRS("sweep-times-overlapping", "starts in contact, mostly", QUESTION_TIMES, "overlapping", PEERS_FULL),
    PAIRS("overlap-random", "yes or no", QUESTION_OVERLAP, "random", PEERS_QUICK),
    PAIRS("overlap-axes-random", "and the mask of separating axes", QUESTION_AXES, "random", PEERS_NEVER),
    PAIRS("spheres-random", "sphere against sphere", QUESTION_SPHERES, "random", PEERS_NEVER),
    CACHED_PAIRS("sweep-first-cached", QUESTION_FIRST),
    CACHED_PAIRS("sweep-times-cached", QUESTION_TIMES),
    CACHED_PAIRS("sweep-full-cached", QUESTION_FULL),
    CACHED_PAIRS("overlap-cached", QUESTION_OVERLAP),
    CACHED_PAIRS("overlap-axes-cached", QUESTION_AXES),
    CACHED_PAIRS("spheres-cached", QUESTION_SPHERES),
    {"mesh-near-70k", "first hit: from next to the surface, short ways", TYPE_MESH, QUERIES, 10000, 0, NULL,
     SPHERES_NEAR, TORUS_70K, PEERS_QUICK, 0, 0, 0},
    {"mesh-box-70k", "first hit: from anywhere in the box, short ways", TYPE_MESH, QUERIES, 10000, 0, NULL, SPHERES_BOX,
     TORUS_70K, PEERS_FULL, 0, 0, 0},
    {"mesh-long-70k", "first hit: long ways through it", TYPE_MESH, QUERIES, 10000, 0, NULL, SPHERES_LONG, TORUS_70K,
     PEERS_FULL, 0, 0, 0},
    {"mesh-still-70k", "which spheres next to the surface touch it", TYPE_MESH, 50000, 10000, 0, NULL, SPHERES_STILL,
     TORUS_70K, PEERS_QUICK, 0, 0, 0},
    {"mesh-near-1m", "first hit: from next to the surface, short ways", TYPE_MESH, QUERIES, 0, 0, NULL, SPHERES_NEAR,
     TORUS_1M, PEERS_FULL, 0, 0, 0},
    {"mesh-box-1m", "first hit: from anywhere in the box, short ways", TYPE_MESH, QUERIES, 0, 0, NULL, SPHERES_BOX,
     TORUS_1M, PEERS_FULL, 0, 0, 0},
    {"mesh-long-1m", "first hit: long ways through it", TYPE_MESH, QUERIES, 0, 0, NULL, SPHERES_LONG, TORUS_1M,
     PEERS_FULL, 0, 0, 0},
    MESH_QUERY("mesh-alone-70k", "first hit next to the surface, a batch for each", SPHERES_NEAR, MESH_ALONE),
    {"mesh-alone-1m", "first hit next to the surface, a batch for each", TYPE_MESH, 5000, 0, 0, NULL, SPHERES_NEAR,
     TORUS_1M, PEERS_NEVER, 1, MESH_ALONE, 0},
    MESH_QUERY("mesh-all-70k", "all hits: long ways through it", SPHERES_LONG, MESH_ALL),
    MESH_QUERY("mesh-any-70k", "whether long ways through it hit anything", SPHERES_LONG, MESH_ANY),
    MESH_QUERY("mesh-overlaps-70k", "the triangles that spheres next to the surface touch", SPHERES_STILL,
               MESH_OVERLAPS),
    MESH_QUERY("mesh-closest-near-70k", "closest point: from next to the surface", SPHERES_NEAR, MESH_CLOSEST),
    MESH_QUERY("mesh-closest-box-70k", "closest point: from anywhere in the box", SPHERES_BOX, MESH_CLOSEST),
    OTHER_MESH("mesh-near-soup", "first hit in a soup with needles: short ways", SPHERES_NEAR, SHAPE_SOUP),
    OTHER_MESH("mesh-long-soup", "first hit in a soup with needles: long ways", SPHERES_LONG, SHAPE_SOUP),
    OTHER_MESH("mesh-near-building", "first hit in a building: short ways", SPHERES_NEAR, SHAPE_BUILDING),
    OTHER_MESH("mesh-box-building", "first hit in a building: short ways from anywhere", SPHERES_BOX, SHAPE_BUILDING),
    OTHER_MESH("mesh-long-building", "first hit in a building: long ways", SPHERES_LONG, SHAPE_BUILDING),
    {"mesh-near-file", "first hit on --mesh: from next to the surface, short ways", TYPE_MESH, 30000, 10000, 0, NULL,
     SPHERES_NEAR, FROM_FILE, PEERS_QUICK, 0, 0, 0},
    {"mesh-box-file", "first hit on --mesh: from anywhere in the box, short ways", TYPE_MESH, 30000, 10000, 0, NULL,
     SPHERES_BOX, FROM_FILE, PEERS_FULL, 0, 0, 0},
    {"mesh-long-file", "first hit on --mesh: long ways through it", TYPE_MESH, 30000, 10000, 0, NULL, SPHERES_LONG,
     FROM_FILE, PEERS_FULL, 0, 0, 0},
    {"build-70k", "build a hierarchy, per triangle", TYPE_BUILD, 70000, 70000, 0, NULL, 0, TORUS_70K, PEERS_QUICK, 0, 0,
     0},
    {"build-1m", "build a hierarchy, per triangle", TYPE_BUILD, MILLION, 0, 0, NULL, 0, TORUS_1M, PEERS_FULL, 0, 0, 0},
    {"refit-70k", "follow vertices that have moved, per triangle", TYPE_REFIT, 70000, 70000, 0, NULL, 0, TORUS_70K,
     PEERS_NEVER, 0, 0, 0},
    {"refit-1m", "follow vertices that have moved, per triangle", TYPE_REFIT, MILLION, 0, 0, NULL, 0, TORUS_1M,
     PEERS_NEVER, 0, 0, 0},
    {"build-file", "build a hierarchy over --mesh, per triangle", TYPE_BUILD, 1, 1, 0, NULL, 0, FROM_FILE, PEERS_FULL,
     0, 0, 0},
};
enum { LISTED = sizeof scenes / sizeof scenes[0] };

int catalog_scene(size_t index, suite_scene *out)
{
    const size_t family = index - LISTED;

    if (index < LISTED) {
        *out = scenes[index];
        return 1;
    }
    if (family >= ref_family_count())
        return 0;
    *out = (suite_scene){.what = "times, points, features of that family",
                         .type = TYPE_PAIRS,
                         .count = FAMILY,
                         .quick_count = FAMILY / 10,
                         .question = QUESTION_FULL,
                         .family = ref_family_name(family),
                         .asked = 1};
    snprintf(out->name, sizeof out->name, "family-%s", out->family);
    return 1;
}

int bench_scene_name(size_t index, char name[BENCH_NAME], const char **what)
{
    suite_scene scene;

    if (!catalog_scene(index, &scene))
        return 0;
    memcpy(name, scene.name, BENCH_NAME);
    *what = scene.what;
    return 1;
}

int bench_is_chosen(const char *list, const char *name)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, strcspn(at, ",")))
            return 1;
    }
    return list == NULL;
}

int bench_knows(const char *list, bench_name_fn *names, const char **unknown)
{
    char name[BENCH_NAME];
    const char *what;

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        size_t found = 0;
        at += *at == ',';
        for (size_t i = 0; names(i, name, &what); i++)
            found += !strncmp(at, name, strcspn(at, ",")) && *at != ',' && *at != '\0';
        if (found == 0) {
            *unknown = at;
            return 0;
        }
    }
    return 1;
}
