/* SPDX-License-Identifier: MIT */
/* What carom is compared with that is not carom and answers the same request: loops that a user would write
 * (bench/baseline.c) and, in a module of its own, other libraries (bench/peers/). The module is loaded by `carom bench`
 * alone, so that no other command pays for its libraries' start. A peer uses one thread. */
#ifndef CAROM_BENCH_PEERS_H
#define CAROM_BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PEER_TOUCH: which spheres touch the mesh as they are, without motion. PEER_CLOUD: which spheres touch each other.
 * PEER_INSTANCES: as PEER_MESH, of a scene that is given by meshes and maps. */
typedef enum peer_request {
    PEER_SWEEP,
    PEER_OVERLAP,
    PEER_MESH,
    PEER_TOUCH,
    PEER_BUILD,
    PEER_CLOUD,
    PEER_INSTANCES
} peer_request;

/* What is kept of the pairs of a cloud: all of them, how many each sphere has, or the first of each sphere. */
typedef enum peer_keep { KEEP_PAIRS, KEEP_COUNTS, KEEP_FIRST } peer_keep;
typedef struct peer_pairs {
    peer_keep keep;
    int is_moving;
    size_t found;       /* pairs, whatever is kept of them */
    size_t capacity;    /* of the list */
    uint32_t *a, *b;    /* [capacity] a < b, in any order */
    float *t;           /* [capacity] when they touch first; of the first partners: [count], infinity: none */
    uint32_t *partners; /* [count] */
    int32_t *other;     /* [count] of the smallest (time, index); -1: none */
} peer_pairs;

typedef struct peer_mesh {
    const float *vertices;
    const uint32_t *indices;
    size_t vertex_count, triangle_count;
} peer_mesh;
/* Instances of meshes: which mesh each is of, and its map, three rows of four. */
typedef struct peer_instances {
    const peer_mesh *meshes;
    size_t mesh_count;
    const uint32_t *mesh;
    const float *map;
    size_t count;
} peer_instances;

/* A scene as carom has it; the arrays outlive the peer's state. */
typedef struct peer_task {
    const float *const *in; /* the columns of scenes.h: of pairs, or centre, velocity, radius of a mesh's spheres */
    size_t count;
    float window; /* sweeps: a touch within [0, window] counts */
    const float *vertices;
    const uint32_t *indices;
    size_t vertex_count, triangle_count;
    const peer_instances *instances; /* of which these are the triangles in the world; or NULL */
    float *time;                     /* sweeps: when the first touch begins; infinity: none */
    uint8_t *overlap;                /* overlap, touch: 1 or 0 */
    peer_pairs *pairs;               /* of a cloud */
} peer_task;

typedef struct peer {
    const char *library; /* NULL: none, a plain loop */
    const char *name;    /* letters, digits, dots and dashes */
    peer_request request;
    void *(*open)(const peer_task *task);   /* data in the layout that the peer wants; not timed; NULL: it failed */
    void (*run)(void *state, size_t count); /* the first `count` queries */
    void (*close)(void *state);
} peer;

/* What the module exports, as `carom_peer`: NULL beyond the last. */
typedef const peer *peer_list_fn(size_t index);
const peer *carom_peer(size_t index);

#ifdef __cplusplus
}
#endif
#endif
