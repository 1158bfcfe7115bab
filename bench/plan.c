/* SPDX-License-Identifier: MIT */
/* Which scenes a run measures, and how long that will take. The guess is good to a factor of two: it knows what the
 * machine needs for a few pairs, and from an earlier run (bench/results) how much more or less a scene's queries need.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clouds.h"
#include "common.h"
#include "contacts.h"
#include "lattices.h"
#include "memory.h"
#include "steps.h"
#include "suite.h"

/* ---- which scenes ------------------------------------------------------------------------------------------------ */

/* A resident scene differs from its ordinary one only on a device with memory of its own. Steps are compared there. */
static int is_in_every_run(const suite *u, const suite_scene *scene)
{
    int asked = scene->asked;

    if (scene->resident || scene->type == TYPE_STEP) {
        asked = 1;
        for (int i = 0; i < u->subjects.count; i++)
            asked &= !u->subjects.list[i].has_memory;
    }
    return !asked && !(u->settings->quick && scene->quick_count == 0);
}

/* A missing mesh is reported only if --scene names its scene: other runs do not expect one. */
static int is_wanted(const suite *u, const suite_scene *scene)
{
    const bench_settings *settings = u->settings;
    char text[96];

    if (!bench_is_chosen(settings->scenes, scene->name))
        return 0;
    if (settings->scenes == NULL && !is_in_every_run(u, scene))
        return 0;
    if (scene->type == TYPE_PAIRS || scene->type == TYPE_CLOUD || scene->rings > 0 || settings->mesh.triangle_count > 0)
        return 1;
    snprintf(text, sizeof text, "%s is not measured: it needs --mesh FILE", scene->name);
    if (settings->scenes != NULL)
        u->listener->note(u->listener->user, text);
    return 0;
}

/* Inputs, answers, what peers copy; and a list of 64 hits; and of a node. */
enum { QUERY_BYTES = 256, LIST_BYTES = 16 * 64, NODE_BYTES = 16 };

/* A side of a resident scene has columns of its own beside the scene's. */
static double query_bytes(const suite *u, const suite_scene *scene)
{
    double copies = 1.0;

    for (int i = 0; scene->resident && i < u->subjects.count; i++)
        copies += suite_takes_part(u, scene, i) ? 2.0 : 0.0; /* accuracies */
    if (scene->type == TYPE_LATTICE)
        return copies * NODE_BYTES;
    return copies * (QUERY_BYTES + suite_is_list(scene) * LIST_BYTES);
}

/* Batches of the user's size may be too large for this machine. */
static int has_room(const suite *u, const suite_scene *scene)
{
    const double bytes = query_bytes(u, scene) * (double)suite_count(u, scene), room = memory_to_spare();
    char text[192];

    if (u->settings->queries == 0 || scene->type == TYPE_BUILD || scene->type == TYPE_REFIT || bytes <= room)
        return 1;
    snprintf(text, sizeof text,
             "%s is not measured: %zu queries would take %.0f MB, more than half of the memory that is free (%.0f MB)",
             scene->name, suite_count(u, scene), bytes * 1e-6, 2e-6 * room);
    u->listener->note(u->listener->user, text);
    return 0;
}

/* ---- how long ---------------------------------------------------------------------------------------------------- */

/* Of each subject in each accuracy. */
typedef struct pace {
    double sweep[SUBJECTS_MAX][2];
} pace;

static void measure_pace(const suite *u, pace *p)
{
    for (int i = 0; i < u->subjects.count; i++)
        for (int exact = 0; exact < 2; exact++)
            p->sweep[i][exact] =
                u->settings->accuracies >> exact & 1
                    ? pair_task_pace(&u->subjects.list[i], exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST)
                    : 0.0;
}

/* Times of a query, or of a triangle that is built, in times of such a sweep. On meshes they grow with about the fourth
 * root of the triangles. */
static double weight_of(const suite *u, const suite_scene *scene)
{
    static const double spheres[] = {
        [SPHERES_NEAR] = 0.77, [SPHERES_BOX] = 0.22, [SPHERES_LONG] = 0.9, [SPHERES_STILL] = 0.6};

    switch (scene->type) {
    case TYPE_BUILD: return 38.0;
    case TYPE_REFIT: return 2.0;
    case TYPE_LATTICE: return lattices_weight(scene->task.work) * pow((double)suite_triangles(u, scene), 0.5);
    case TYPE_CLOUD: return cloud_task_weight(&scene->cloud);
    case TYPE_STEP: return steps_weight();
    case TYPE_CONTACTS: return contacts_weight(scene->task.band) * pow((double)suite_triangles(u, scene), 0.25);
    case TYPE_MESH: return spheres[scene->spheres] * pow((double)suite_triangles(u, scene), 0.25);
    default: return scene->pairs.query == &query_sweep ? 1.0 : 0.45;
    }
}

/* The planned rounds of a side, its calibration among them, as measure() runs them. */
static double side_seconds(const measure_plan *plan, double batch)
{
    const double rounds = plan->rounds;

    if (batch > 10.0 * plan->sample)
        return batch * (1.0 + 0.5 * rounds);
    return batch * 2.0 + (batch > 4.0 * plan->sample ? 0.5 : 1.0) * rounds * fmax(batch, plan->sample);
}

/* What is done once: pairs, or meshes for all subjects, are made, and the exact reference answers the first queries. */
static double work_seconds(const suite *u, const suite_scene *scene)
{
    const double triangles = (double)suite_triangles(u, scene), queries = (double)suite_count(u, scene);

    if (scene->type == TYPE_CLOUD)
        return 200e-9 * queries;
    if (scene->type == TYPE_PAIRS)
        return 100e-9 * queries + 20e-6 * fmin(queries, u->settings->quick ? 1e3 : 1e4);
    return 300e-9 * triangles * u->subjects.count + 4e-9 * triangles * (u->settings->quick ? 200.0 : 1000.0);
}

static double scene_seconds(const suite *u, const suite_scene *scene, const pace *p)
{
    enum { RIVALS = 5 };        /* peers and plain loops: about so many, of some samples each */
    const double FURTHER = 1.2; /* further rounds take up to a quarter of the planned ones */
    const measure_plan plan = suite_plan(u);
    const double queries =
        suite_has_answers(scene->type) ? (double)suite_count(u, scene) : (double)suite_triangles(u, scene);
    double seconds = 0.0;

    for (int i = 0; i < u->subjects.count; i++) {
        const int takes_part = suite_takes_part(u, scene, i);
        for (int exact = 0; exact < (suite_has_answers(scene->type) ? 2 : 1); exact++)
            if (takes_part && p->sweep[i][exact] > 0.0)
                seconds += (scene->type == TYPE_LATTICE ? 3.0 : 1.0) * /* and nodes one by one */
                           side_seconds(&plan, queries * p->sweep[i][exact] * weight_of(u, scene));
    }
    if (suite_has_peers(u, scene) && scene->type == TYPE_CLOUD) /* all of them answer the whole */
        return FURTHER * (seconds + side_seconds(&plan, clouds_peer_seconds(&scene->cloud, queries)));
    if (suite_has_peers(u, scene))
        seconds += RIVALS * side_seconds(&plan, 5.0 * plan.sample);
    return FURTHER * seconds + work_seconds(u, scene);
}

size_t plan_scenes(suite *u, planned_scene **out)
{
    suite_scene scene;
    size_t count = 0, all = 0;
    pace p;

    while (catalog_scene(all, &scene))
        all++;
    *out = calloc(all, sizeof **out);
    if (*out == NULL)
        bench_die("no memory for a run");
    measure_pace(u, &p);
    for (size_t i = 0; i < all && catalog_scene(i, &scene); i++)
        if (is_wanted(u, &scene) && has_room(u, &scene)) {
            (*out)[count] = (planned_scene){scene, scene_seconds(u, &scene, &p)};
            u->planned += (*out)[count++].seconds;
        }
    u->listener->plan(u->listener->user, "scenes", count, u->planned);
    return count;
}
