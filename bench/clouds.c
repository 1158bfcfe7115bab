/* SPDX-License-Identifier: MIT */
#include "clouds.h"
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what peers find --------------------------------------------------------------------------------------------- */

static uint64_t pairs_of(const cloud_answers *a)
{
    const uint32_t *partners = a->partners.column[0];
    const int32_t *other = a->other.column[0];
    uint64_t sum = 0;

    if (a->work == CLOUD_LIST)
        return ((const uint64_t *)a->offsets.column[0])[a->count];
    for (size_t i = 0; i < a->count; i++)
        sum += a->work == CLOUD_COUNT ? partners[i] : other[i] >= 0;
    return sum;
}

/* In the units of pairs_of(). */
static uint64_t pairs_of_peer(const peer_pairs *p, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; p->keep == KEEP_FIRST && i < count; i++)
        sum += p->other[i] >= 0;
    return p->keep == KEEP_FIRST ? sum : p->keep == KEEP_COUNTS ? 2 * p->found : p->found;
}

static int has_pair(const cloud_answers *ours, uint32_t a, uint32_t b)
{
    const uint64_t *offsets = ours->offsets.column[0];
    const int32_t *list = ours->b.column[0];

    for (uint64_t i = offsets[a]; i < offsets[a + 1]; i++)
        if (list[i] == (int32_t)b)
            return 1;
    return 0;
}

static uint64_t count_others(const cloud_answers *ours, const peer_pairs *theirs)
{
    uint64_t others = 0;

    for (size_t i = 0; theirs->keep == KEEP_PAIRS && i < theirs->found; i++)
        others += !has_pair(ours, theirs->a[i], theirs->b[i]);
    for (size_t i = 0; theirs->keep == KEEP_COUNTS && i < ours->count; i++)
        others += theirs->partners[i] != ((const uint32_t *)ours->partners.column[0])[i];
    for (size_t i = 0; theirs->keep == KEEP_FIRST && i < ours->count; i++)
        others += theirs->other[i] != ((const int32_t *)ours->other.column[0])[i];
    return others;
}

int clouds_agree(const cloud_answers *ours, const peer_pairs *theirs, bench_row *row, char why[128])
{
    static const char *const what[] = {[CLOUD_LIST] = "pairs", [CLOUD_COUNT] = "partners", [CLOUD_FIRST] = "partners"};
    const unsigned long long wanted = pairs_of(ours), found = pairs_of_peer(theirs, ours->count);

    if (wanted != found) {
        snprintf(why, 128, "it finds %llu %s, not %llu", found, what[ours->work], wanted);
        return 0;
    }
    row->other = count_others(ours, theirs);
    return 1;
}

/* A grid, three libraries. */
double clouds_peer_seconds(const cloud_task *task, double count)
{
    return count * (8e-6 + 0.5e-6 * pow((double)task->radii, 2.0));
}

/* ---- what a scene says as a whole -------------------------------------------------------------------------------- */

/* The best instruction set with one thread, in fast mode, against each peer. */
static void find_ratios(suite *u, const suite_scene *scene, const measurement *m)
{
    char text[512];
    size_t used = 0;
    int ours = -1;

    for (int i = 0; i < u->count; i++)
        if (u->sides[i].cloud.subject != NULL && !u->sides[i].exact && u->sides[i].row.threads == 1 &&
            !strcmp(u->sides[i].cloud.subject->backend, "cpu"))
            ours = i;
    for (int i = 0; i < u->count && ours >= 0; i++) {
        if (u->sides[i].peer == NULL || used >= sizeof text)
            continue;
        used += used == 0 ? (size_t)snprintf(text, sizeof text, "%s: cpu/%s is ", scene->name,
                                             u->sides[ours].cloud.subject->what)
                          : (size_t)snprintf(text + used, sizeof text - used, ", ");
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%.2f times as fast as %s",
                                     measure_ratio(m, i, ours), u->sides[i].peer->name);
    }
    if (used > 0)
        u->listener->finding(u->listener->user, text);
}

/* ---- a scene ----------------------------------------------------------------------------------------------------- */

static size_t count_pairs(const suite *u, const cloud_task *task, const columns *spheres, size_t count)
{
    cloud_answers none = cloud_answers_alloc(&(cloud_task){task->set, CLOUD_LIST, task->radii}, count, 0);
    size_t most = 0;

    for (int exact = 0; exact < 2; exact++) {
        cloud_call call = {.subject = &u->subjects.list[0],
                           .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                           .task = {task->set, CLOUD_LIST, task->radii},
                           .spheres = spheres,
                           .out = &none};
        cloud_call_run(&call);
        most = call.totals.total > most ? call.totals.total : most;
    }
    cloud_answers_free(&none);
    return most;
}

/* Peers ask at rest as fast mode does, and in motion as exactly as they can: plain_pairs.h. */
static void add_peers(suite *u, const suite_scene *scene, const columns *spheres, cloud_answers *out)
{
    static const peer_keep keeps[] = {
        [CLOUD_LIST] = KEEP_PAIRS, [CLOUD_COUNT] = KEEP_COUNTS, [CLOUD_FIRST] = KEEP_FIRST};
    columns theirs = columns_alloc(3, out->capacity > out->count ? out->capacity : out->count, sizeof(float));
    peer_pairs pairs = {.keep = keeps[scene->cloud.work],
                        .is_moving = scene->cloud.radii > 0.0f,
                        .capacity = out->capacity,
                        .a = theirs.column[0],
                        .b = theirs.column[1],
                        .t = theirs.column[2],
                        .partners = theirs.column[0],
                        .other = theirs.column[0]};
    cloud_call ours = {.subject = &u->subjects.list[0],
                       .accuracy = pairs.is_moving ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                       .task = scene->cloud,
                       .spheres = spheres,
                       .out = out};

    cloud_call_run(&ours);
    u->pairs = out;
    rivals_add_peers(
        u, scene,
        (peer_task){.in = (const float *const *)(const void *)spheres->column, .count = out->count, .pairs = &pairs});
    suite_measure(u, scene);
    rivals_close_peers(u);
    columns_free(&theirs);
}

void clouds_run(suite *u, const suite_scene *scene)
{
    const size_t count = suite_count(u, scene);
    columns spheres = cloud_make(&scene->cloud, count);
    const size_t pairs = scene->cloud.work == CLOUD_LIST ? count_pairs(u, &scene->cloud, &spheres, count) : 0;
    cloud_answers out = cloud_answers_alloc(&scene->cloud, count, pairs);

    suite_add_subjects(u, scene, "");
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        s->cloud = (cloud_call){.subject = &u->subjects.list[s->subject],
                                .accuracy = s->exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                .task = scene->cloud,
                                .spheres = &spheres,
                                .out = &out};
        s->row.queries = (double)count;
    }
    u->truth = (truth){0};
    u->find = find_ratios;
    suite_check_sides(u, scene);
    if (suite_has_peers(u, scene))
        add_peers(u, scene, &spheres, &out);
    else
        suite_measure(u, scene);
    columns_free(&spheres);
    cloud_answers_free(&out);
}
