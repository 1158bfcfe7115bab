/* SPDX-License-Identifier: MIT */
/* The scenes by name: those of every run, and each family of the reference when --scene names it. */
#include <stdio.h>
#include <string.h>

#include "reference/reference.h"
#include "queries/mesh/mesh.h"
#include "contacts.h"
#include "common.h"
#include "suite.h"

enum {
    MILLION = 1000000,
    FEW = 1 << 17,
    FAMILY = 200000,
    QUERIES = 200000 /* past a large mesh fewer would find in a cache what they visited in the round before */
};
#define PAIRS(name, what, task, family, peers)                                                         \
    {                                                                                                  \
        name, what, TYPE_PAIRS, MILLION, FEW, task, family, 0, 0, 0, peers, 0, NO_TASK, 0, NO_CLOUD, 0 \
    }
/* A few pairs again and again, from cache. */
#define CACHED_PAIRS(name, task)                                                                                       \
    {                                                                                                                  \
        name, "the same 4096 pairs again and again", TYPE_PAIRS, CACHED, CACHED, task, "random", 0, 0, 0, PEERS_NEVER, \
            0, NO_TASK, 0, NO_CLOUD, 0                                                                                 \
    }
#define NO_PAIRS \
    {            \
        NULL, 0  \
    }
#define TORUS_70K 250, 140
#define TORUS_1M 1000, 500
#define FROM_FILE 0, 0

/* The other queries of a mesh, and other meshes: only when --scene names them. */
#define MESH_QUERY(name, what, spheres, task)                                                                        \
    {                                                                                                                \
        name, what, TYPE_MESH, 20000, 5000, NO_PAIRS, NULL, spheres, TORUS_70K, PEERS_NEVER, 1, task, 0, NO_CLOUD, 0 \
    }
/* So many that a GPU is busy throughout. */
#define MILLION_QUERIES(name, what, spheres, task)                                                                     \
    {                                                                                                                  \
        name, what, TYPE_MESH, MILLION, 5000, NO_PAIRS, NULL, spheres, TORUS_70K, PEERS_NEVER, 1, task, 0, NO_CLOUD, 0 \
    }
#define OTHER_MESH(name, what, spheres, shape)                                                                      \
    {                                                                                                               \
        name, what, TYPE_MESH, 20000, 5000, NO_PAIRS, NULL, spheres, 100, 0, PEERS_FULL, 1, ASK(mesh_first), shape, \
            NO_CLOUD, 0                                                                                             \
    }

/* Scenes of instances (scene_instances.h); the reference and the peers that have no instances read the merged mesh. */
#define INSTANCES(of, what, spheres, peers, task, shape)                                                       \
    {                                                                                                          \
        "instances-" of, what, TYPE_MESH, 20000, 5000, NO_PAIRS, NULL, spheres, 100, 0, peers, 1, task, shape, \
            NO_CLOUD, 0                                                                                        \
    }

/* Lattices of 128^3 nodes (32^3), or 1000 x 1000 columns (100 x 100): only when --scene names them. Last: the mesh. */
#define LATTICE(name, what, work, size, count, few, ...)                                                             \
    {                                                                                                                \
        name, what, TYPE_LATTICE, count, few, NO_PAIRS, NULL, 0, __VA_ARGS__, PEERS_NEVER, 1, {NULL, work, size}, 0, \
            NO_CLOUD, 0                                                                                              \
    }
#define VOLUME(name, what, work, size, ...) LATTICE(name, what, work, size, 1 << 21, 1 << 15, __VA_ARGS__)
#define LATTICES(of, ...)                                                                                   \
    VOLUME("volume-" of, "distance volume, unsigned", MESH_VOLUME, 0, __VA_ARGS__),                         \
        VOLUME("volume-band-" of, "distances within 3 spacings, signed", MESH_SIGNED_BAND, 3, __VA_ARGS__), \
        VOLUME("volume-sign-" of, "signs, in a band of 0", MESH_SIGNED_BAND, 0, __VA_ARGS__),               \
        VOLUME("clearance-" of, "where a sphere of 5 % is clear", MESH_CLEARANCE, 0.05f, __VA_ARGS__),      \
        LATTICE("drop-" of, "drop map of a ball of 2.1 %", MESH_DROP, 0.021f, MILLION, 10000, __VA_ARGS__), \
        LATTICE("drop-small-" of, "drop map of a ball of 0.54 %", MESH_DROP, 0.0054f, MILLION, 10000, __VA_ARGS__)

/* Contacts of spheres with radii of so many edges: only when --scene names them. change: NULL or the mesh's. */
#define CONTACTS(of, edges, change, ...)                                                                          \
    {                                                                                                             \
        "contacts-" #edges "-" of, "contacts beside closest points and overlap lists, radii of " #edges " edges", \
            TYPE_CONTACTS, 50000, 5000, NO_PAIRS, change, 0, __VA_ARGS__, PEERS_NEVER, 1,                         \
            ASK_WITHIN(mesh_contacts, edges), 0, NO_CLOUD, 0                                                      \
    }

/* Steps of a simulation: only when --scene names them, or with a device that has memory of its own. */
#define STEP(name, what, resident)                                                                                 \
    {                                                                                                              \
        name, what, TYPE_STEP, MILLION, 20000, NO_PAIRS, NULL, 0, TORUS_70K, PEERS_NEVER, 1, NO_TASK, 0, NO_CLOUD, \
            resident                                                                                               \
    }

/* Clouds: only when --scene names them. */
#define CLOUD(name, what, ...)                                                                                       \
    {                                                                                                                \
        name, what, TYPE_CLOUD, 100000, 10000, NO_PAIRS, NULL, 0, 0, 0, PEERS_QUICK, 1, NO_TASK, 0, {__VA_ARGS__}, 0 \
    }
#define MOVING(name, what, of, set, radii)                                           \
    CLOUD("moving-" name "-list-" of, "all pairs of " what, set, CLOUD_LIST, radii), \
        CLOUD("moving-" name "-first-" of, "the first partners of " what, set, CLOUD_FIRST, radii)
#define CLOUDS(of, what, set)                                                             \
    CLOUD("cloud-list-" of, "all pairs of " what, set, CLOUD_LIST, 0),                    \
        CLOUD("cloud-count-" of, "the number of partners of " what, set, CLOUD_COUNT, 0), \
        CLOUD("cloud-first-" of, "the first partners of " what, set, CLOUD_FIRST, 0),     \
        MOVING("tenth", what " that move 0.1 radii", of, set, 0.1f),                      \
        MOVING("one", what " that move a radius", of, set, 1), MOVING("ten", what " that move ten radii", of, set, 10)

static const suite_scene scenes[] = {
    PAIRS("sweep-first-random", "first time", SWEEP_FIRST, "random", PEERS_QUICK),
    PAIRS("sweep-times-random", "both times and the state", SWEEP_TIMES, "random", PEERS_FULL),
    PAIRS("sweep-full-random", "times, points, features", SWEEP_FULL, "random", PEERS_NEVER),
    PAIRS("sweep-times-near", "starts close to the triangle", SWEEP_TIMES, "near", PEERS_FULL),
    PAIRS("sweep-times-far", "starts 1000 triangles away", SWEEP_TIMES, "far-1e3", PEERS_FULL),
    PAIRS("sweep-times-grazing", "lines that all but miss", SWEEP_TIMES, "grazing", PEERS_FULL),
    PAIRS("sweep-times-overlapping", "starts in contact, mostly", SWEEP_TIMES, "overlapping", PEERS_FULL),
    PAIRS("overlap-random", "yes or no", OVERLAP_BIT, "random", PEERS_QUICK),
    PAIRS("overlap-axes-random", "and the mask of separating axes", OVERLAP_AXES, "random", PEERS_NEVER),
    PAIRS("spheres-random", "sphere against sphere", SPHERES_TIMES, "random", PEERS_NEVER),
    CACHED_PAIRS("sweep-first-cached", SWEEP_FIRST),
    CACHED_PAIRS("sweep-times-cached", SWEEP_TIMES),
    CACHED_PAIRS("sweep-full-cached", SWEEP_FULL),
    CACHED_PAIRS("overlap-cached", OVERLAP_BIT),
    CACHED_PAIRS("overlap-axes-cached", OVERLAP_AXES),
    CACHED_PAIRS("spheres-cached", SPHERES_TIMES),
    {"mesh-near-70k", "first hit: from next to the surface, short ways", TYPE_MESH, QUERIES, 10000, NO_PAIRS, NULL,
     SPHERES_NEAR, TORUS_70K, PEERS_QUICK, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-box-70k", "first hit: from anywhere in the box, short ways", TYPE_MESH, QUERIES, 10000, NO_PAIRS, NULL,
     SPHERES_BOX, TORUS_70K, PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-long-70k", "first hit: long ways through it", TYPE_MESH, QUERIES, 10000, NO_PAIRS, NULL, SPHERES_LONG,
     TORUS_70K, PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-still-70k", "which spheres next to the surface touch it", TYPE_MESH, 50000, 10000, NO_PAIRS, NULL,
     SPHERES_STILL, TORUS_70K, PEERS_QUICK, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-near-1m", "first hit: from next to the surface, short ways", TYPE_MESH, QUERIES, 0, NO_PAIRS, NULL,
     SPHERES_NEAR, TORUS_1M, PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-box-1m", "first hit: from anywhere in the box, short ways", TYPE_MESH, QUERIES, 0, NO_PAIRS, NULL,
     SPHERES_BOX, TORUS_1M, PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-long-1m", "first hit: long ways through it", TYPE_MESH, QUERIES, 0, NO_PAIRS, NULL, SPHERES_LONG, TORUS_1M,
     PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    MESH_QUERY("mesh-alone-70k", "first hit next to the surface, a batch for each", SPHERES_NEAR, FIRST_HIT_ALONE),
    {"mesh-alone-1m", "first hit next to the surface, a batch for each", TYPE_MESH, 5000, 0, NO_PAIRS, NULL,
     SPHERES_NEAR, TORUS_1M, PEERS_NEVER, 1, FIRST_HIT_ALONE, 0, NO_CLOUD, 0},
    MESH_QUERY("mesh-all-70k", "all hits: long ways through it", SPHERES_LONG, ASK(mesh_all)),
    MESH_QUERY("mesh-any-70k", "whether long ways through it hit anything", SPHERES_LONG, ASK(mesh_any)),
    MESH_QUERY("mesh-overlaps-70k", "the triangles that spheres next to the surface touch", SPHERES_STILL,
               ASK(mesh_overlaps)),
    MESH_QUERY("mesh-closest-near-70k", "closest point: from next to the surface", SPHERES_NEAR, ASK(mesh_closest)),
    MESH_QUERY("mesh-closest-box-70k", "closest point: from anywhere in the box", SPHERES_BOX, ASK(mesh_closest)),
    MESH_QUERY("mesh-closest-band-70k", "closest point within 1 %: from anywhere in the box", SPHERES_BOX,
               ASK_WITHIN(mesh_closest, 0.01f)),
    MILLION_QUERIES("million-near-70k", "first hit: a million, from next to the surface", SPHERES_NEAR,
                    ASK(mesh_first)),
    MILLION_QUERIES("million-closest-near-70k", "closest point: a million, from next to the surface", SPHERES_NEAR,
                    ASK(mesh_closest)),
    MILLION_QUERIES("million-closest-box-70k", "closest point: a million, from anywhere in the box", SPHERES_BOX,
                    ASK(mesh_closest)),
    OTHER_MESH("mesh-near-soup", "first hit in a soup with needles: short ways", SPHERES_NEAR, SHAPE_SOUP),
    OTHER_MESH("mesh-long-soup", "first hit in a soup with needles: long ways", SPHERES_LONG, SHAPE_SOUP),
    OTHER_MESH("mesh-near-building", "first hit in a building: short ways", SPHERES_NEAR, SHAPE_BUILDING),
    OTHER_MESH("mesh-box-building", "first hit in a building: short ways from anywhere", SPHERES_BOX, SHAPE_BUILDING),
    OTHER_MESH("mesh-long-building", "first hit in a building: long ways", SPHERES_LONG, SHAPE_BUILDING),
    INSTANCES("one", "first hit: one instance, not moved", SPHERES_NEAR, PEERS_FULL, ASK(mesh_first), SHAPE_ONE),
    INSTANCES("turned", "first hit: one instance, turned", SPHERES_NEAR, PEERS_FULL, ASK(mesh_first), SHAPE_TURNED),
    INSTANCES("props", "first hit: 200 turned props in a level", SPHERES_NEAR, PEERS_FULL, ASK(mesh_first),
              SHAPE_PROPS),
    INSTANCES("closest", "closest point: 200 turned props in a level", SPHERES_NEAR, PEERS_NEVER, ASK(mesh_closest),
              SHAPE_PROPS),
    INSTANCES("moving", "first hit: 200 props that move in a level", SPHERES_NEAR, PEERS_NEVER, ASK(mesh_first),
              SHAPE_MOVING),
    {"mesh-near-file", "first hit on --mesh: from next to the surface, short ways", TYPE_MESH, 30000, 10000, NO_PAIRS,
     NULL, SPHERES_NEAR, FROM_FILE, PEERS_QUICK, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-box-file", "first hit on --mesh: from anywhere in the box, short ways", TYPE_MESH, 30000, 10000, NO_PAIRS,
     NULL, SPHERES_BOX, FROM_FILE, PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"mesh-long-file", "first hit on --mesh: long ways through it", TYPE_MESH, 30000, 10000, NO_PAIRS, NULL,
     SPHERES_LONG, FROM_FILE, PEERS_FULL, 0, ASK(mesh_first), 0, NO_CLOUD, 0},
    {"build-70k", "build a hierarchy, per triangle", TYPE_BUILD, 70000, 70000, NO_PAIRS, NULL, 0, TORUS_70K,
     PEERS_QUICK, 0, NO_TASK, 0, NO_CLOUD, 0},
    {"build-1m", "build a hierarchy, per triangle", TYPE_BUILD, MILLION, 0, NO_PAIRS, NULL, 0, TORUS_1M, PEERS_FULL, 0,
     NO_TASK, 0, NO_CLOUD, 0},
    {"refit-70k", "follow vertices that have moved, per triangle", TYPE_REFIT, 70000, 70000, NO_PAIRS, NULL, 0,
     TORUS_70K, PEERS_NEVER, 0, NO_TASK, 0, NO_CLOUD, 0},
    {"refit-1m", "follow vertices that have moved, per triangle", TYPE_REFIT, MILLION, 0, NO_PAIRS, NULL, 0, TORUS_1M,
     PEERS_NEVER, 0, NO_TASK, 0, NO_CLOUD, 0},
    {"build-file", "build a hierarchy over --mesh, per triangle", TYPE_BUILD, 1, 1, NO_PAIRS, NULL, 0, FROM_FILE,
     PEERS_FULL, 0, NO_TASK, 0, NO_CLOUD, 0},
    LATTICES("70k", TORUS_70K),
    LATTICES("1m", TORUS_1M),
    LATTICES("file", FROM_FILE),
    CLOUDS("a", "equal spheres", CLOUD_EQUAL),
    CLOUDS("b", "spheres of radii 1 to 2", CLOUD_DOUBLE),
    CLOUDS("c", "spheres of radii 1 to 10", CLOUD_TENFOLD),
    CLOUDS("d", "equal spheres in a pile", CLOUD_PILE),
    STEP("step-cpu", "a step: refit, first hits, neighbours, contacts, match", 0),
    STEP("step-device", "the same with all arrays in buffers on the device", 1),
    CONTACTS("70k", 1, NULL, TORUS_70K),
    CONTACTS("70k", 3, NULL, TORUS_70K),
    CONTACTS("70k", 10, NULL, TORUS_70K),
    CONTACTS("turned", 3, CONTACTS_TURNED, TORUS_70K),
    CONTACTS("crumpled", 3, CONTACTS_CRUMPLED, TORUS_70K),
    CONTACTS("1m", 3, NULL, TORUS_1M),
    CONTACTS("file", 3, NULL, FROM_FILE),
};
enum { LISTED = sizeof scenes / sizeof scenes[0] };

/* Queries without scenes above have two: all of their answer, through memory and from a cache. */
enum { FIRST_UNLISTED = QUERY_spheres + 1, UNLISTED = 2 * (QUERY_PAIR_COUNT - FIRST_UNLISTED) };
/* Of a mesh they have one, if --scene names it. */
enum { FIRST_UNLISTED_MESH = QUERY_mesh_closest + 1, UNLISTED_MESHES = QUERY_MESH_JUDGED - FIRST_UNLISTED_MESH };

static void unlisted_scene(size_t index, suite_scene *out)
{
    const query_type *q = query_pairs[FIRST_UNLISTED + (int)index / 2];
    const int cached = index % 2 != 0;

    *out = (suite_scene){.what = cached ? "the same 4096 pairs again and again" : q->summary,
                         .type = TYPE_PAIRS,
                         .count = cached ? CACHED : MILLION,
                         .quick_count = cached ? CACHED : FEW,
                         .pairs = {q, query_selection_count(q) - 1},
                         .family = "random",
                         .peers = PEERS_NEVER};
    snprintf(out->name, sizeof out->name, "%s-%s", q->name, cached ? "cached" : "random");
}

static void unlisted_mesh_scene(size_t index, suite_scene *out)
{
    const query_type *q = query_meshes[FIRST_UNLISTED_MESH + index];

    *out = (suite_scene)MESH_QUERY("", "from next to the surface, short ways", SPHERES_NEAR, NO_TASK);
    out->task.query = q;
    snprintf(out->name, sizeof out->name, "%s-70k", q->name);
}

/* Scenes above once more, with all arrays of the batch in buffers on the device, and a million queries or more: fewer
 * leave a GPU with too little to do. */
#define RESIDENT(of)                                                       \
    {                                                                      \
        of, "resident-" of, of " with all arrays in buffers on the device" \
    }
static const struct {
    const char *of, *name, *what;
} residents[] = {
    RESIDENT("sweep-first-random"),  RESIDENT("sweep-full-random"),     RESIDENT("overlap-random"),
    RESIDENT("spheres-random"),      RESIDENT("mesh-near-70k"),         RESIDENT("mesh-long-70k"),
    RESIDENT("mesh-near-1m"),        RESIDENT("mesh-closest-near-70k"), RESIDENT("mesh-closest-box-70k"),
    RESIDENT("mesh-any-70k"),        RESIDENT("mesh-all-70k"),          RESIDENT("mesh-overlaps-70k"),
    RESIDENT("cloud-list-a"),        RESIDENT("cloud-count-a"),         RESIDENT("cloud-first-a"),
    RESIDENT("moving-tenth-list-a"), RESIDENT("moving-one-list-a"),     RESIDENT("moving-one-first-a"),
    RESIDENT("contacts-1-70k"),      RESIDENT("contacts-3-70k"),        RESIDENT("volume-70k"),
    RESIDENT("volume-band-70k"),     RESIDENT("clearance-70k"),
};
enum { RESIDENTS = sizeof residents / sizeof residents[0] };

static void resident_scene(size_t index, suite_scene *out)
{
    size_t i = 0;

    while (i < LISTED && strcmp(scenes[i].name, residents[index].of) != 0)
        i++;
    if (i == LISTED)
        bench_die("%s: there is no scene %s", residents[index].name, residents[index].of);
    *out = scenes[i];
    snprintf(out->name, sizeof out->name, "%s", residents[index].name);
    out->what = residents[index].what;
    out->peers = PEERS_NEVER;
    out->resident = 1;
    if (out->count < MILLION)
        out->count = MILLION;
}

int catalog_scene(size_t index, suite_scene *out)
{
    const size_t again = index - LISTED - UNLISTED - UNLISTED_MESHES, family = again - RESIDENTS;

    if (index < LISTED) {
        *out = scenes[index];
        return 1;
    }
    if (index < LISTED + UNLISTED) {
        unlisted_scene(index - LISTED, out);
        return 1;
    }
    if (index < LISTED + UNLISTED + UNLISTED_MESHES) {
        unlisted_mesh_scene(index - LISTED - UNLISTED, out);
        return 1;
    }
    if (again < RESIDENTS) {
        resident_scene(again, out);
        return 1;
    }
    if (family >= ref_family_count())
        return 0;
    *out = (suite_scene){.what = "times, points, features of that family",
                         .type = TYPE_PAIRS,
                         .count = FAMILY,
                         .quick_count = FAMILY / 10,
                         .pairs = SWEEP_FULL,
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
