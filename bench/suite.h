/* SPDX-License-Identifier: MIT */
/* A run in progress: the scene that is measured now, and its sides. */
#ifndef CAROM_BENCH_SUITE_H
#define CAROM_BENCH_SUITE_H

#include "cloud_task.h"
#include "measure.h"
#include "mesh_task.h"
#include "peers.h"
#include "plain.h"
#include "pair_task.h"
#include "step_task.h"
#include "verdict.h"

typedef enum scene_type {
    TYPE_PAIRS,
    TYPE_MESH,
    TYPE_BUILD,
    TYPE_REFIT,
    TYPE_LATTICE,
    TYPE_CONTACTS,
    TYPE_CLOUD,
    TYPE_STEP
} scene_type;
/* Peers are measured where their answer would be read; in a quick run in one scene of each kind, unless it is asked for
 * by name. */
typedef enum scene_peers { PEERS_NEVER, PEERS_FULL, PEERS_QUICK } scene_peers;

typedef struct suite_scene {
    char name[BENCH_NAME];
    const char *what;
    scene_type type;
    size_t count, quick_count; /* 0: not in a quick run */
    pair_task pairs;
    const char *family;  /* of pairs; TYPE_CONTACTS: how the mesh is changed, or NULL */
    sphere_kind spheres; /* meshes: a torus of 2 * rings * sides triangles, or 0 and 0: the user's own */
    int rings, sides;
    scene_peers peers;
    int asked;        /* only measured if --scene says so */
    mesh_task task;   /* of TYPE_MESH, TYPE_LATTICE and TYPE_CONTACTS */
    mesh_shape shape; /* of others than a torus, `rings` thousand triangles */
    cloud_task cloud; /* of TYPE_CLOUD */
    int resident;     /* all arrays of the batch lie in buffers on the device */
} suite_scene;

enum { CACHED = 4096 }; /* pairs that stay in cache */
enum { SIDES_MAX = MEASURE_SIDES_MAX };

/* One runner of a scene. */
typedef struct side {
    bench_row row;
    int subject, exact; /* subject -1: a plain loop or a peer */
    pair_call pairs;
    mesh_call mesh;
    cloud_call cloud;
    step_call step;
    const plain_loops *plain;
    plain_columns columns; /* of a loop that only reads and writes; else none */
    const peer *peer;
    void *peer_state;
    size_t peer_count; /* queries of a run: slow peers are asked fewer */
    uint64_t hash;
} side;

struct suite;
/* What a scene's rows say together, for the listener. */
typedef void suite_find_fn(struct suite *u, const suite_scene *scene, const measurement *m);

typedef struct suite {
    const bench_settings *settings;
    const bench_listener *listener;
    subjects subjects;
    bench_limits limits[BENCH_LIMITS];
    int limit_count;
    peer_list_fn *peers; /* NULL: no module */
    truth truth;         /* of the scene; none for a build or a refit */
    columns peer_time, peer_overlap;
    const cloud_answers *pairs; /* of a cloud, what peers are compared with */
    suite_find_fn *find;        /* of the scene; NULL: nothing */
    side sides[SIDES_MAX];
    int count;
    double spare; /* seconds that scenes so far have left for further rounds; below 0: they took too many */
    double planned, before, scene_cost; /* seconds, a guess: of the run, of the scenes before this one, of this one */
    size_t done;                        /* scenes */
    int ended;                          /* before its end, by the listener */
} suite;

/* suite_side.c, of sides of carom's subjects but for suite_side_run(), which takes any as its user. A side that has
 * settled has its arrays in buffers. */
void suite_side_run(void *user);
carom_status suite_side_settle(side *s, carom_error *err);
carom_status suite_side_try(side *s, carom_error *err);
uint64_t suite_side_check(side *s);
uint64_t suite_side_hash(const side *s);
const carom_stats *suite_side_fastest(const side *s);
int suite_side_is_resident(const side *s);
void suite_side_free_resident(side *s);
/* The same subject asked about the host's arrays. */
uint64_t suite_side_check_from_host(const side *s);

/* catalog.c; 0 beyond the last. */
int catalog_scene(size_t index, suite_scene *out);

/* suite.c. NULL: there are too many. */
side *suite_add_side(suite *u, const suite_scene *scene, int number, int exact, const char *backend, const char *what,
                     uint32_t threads);
float suite_window(const suite_scene *scene);
/* The side of every subject and accuracy; the caller fills in what it asks. `beside`: put behind the subject's name. */
void suite_add_subjects(suite *u, const suite_scene *scene, const char *beside);
/* These sides, which make `call`. meshes: of each subject, made when it is first needed; a build needs none. */
void suite_add_mesh_sides(suite *u, const suite_scene *scene, const char *beside, mesh_call call, double queries,
                          carom_mesh **meshes);
/* Leaves out sides that cannot answer, compares the bits of those that are asked the same, and judges by u->truth. */
void suite_check_sides(suite *u, const suite_scene *scene);
void suite_measure(suite *u, const suite_scene *scene);
mesh_scene suite_mesh(const suite *u, const suite_scene *scene);

/* Queries of a batch of the scene; triangles of its mesh. */
size_t suite_count(const suite *u, const suite_scene *scene);
size_t suite_triangles(const suite *u, const suite_scene *scene);
measure_plan suite_plan(const suite *u);
int suite_has_peers(const suite *u, const suite_scene *scene);
/* Are they answered, rather than made? Builds and refits are made: on the CPU, with each instruction set alike. */
int suite_has_answers(scene_type type);
/* Does this subject take part? Builds and refits want the best instruction set; resident scenes devices and the best of
 * the CPU path; a step the one or the other. */
int suite_takes_part(const suite *u, const suite_scene *scene, int number);

int suite_is_list(const suite_scene *scene);

/* plan.c: the scenes of a run, and seconds that each will take, a guess from the time that each subject needs for a few
 * pairs. Reports what is left out and the whole, and fills in u->planned. Returns their number; the list is the
 * caller's. */
typedef struct planned_scene {
    suite_scene scene;
    double seconds;
} planned_scene;
size_t plan_scenes(suite *u, planned_scene **out);

/* rivals.c: the plain loops and the peers of a scene, judged as they come. */
void rivals_add_plain(suite *u, const suite_scene *scene, const pair_scene *in, const answers *out);
void rivals_run_plain(const side *s);
void rivals_add_peers(suite *u, const suite_scene *scene, peer_task task);
void rivals_close_peers(suite *u);

/* peers.c: the module's list, or NULL. Tells the listener which libraries are not in it. */
peer_list_fn *peers_load(const bench_listener *listener);

#endif
