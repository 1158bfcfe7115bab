/* SPDX-License-Identifier: MIT */
/* Who else answers a scene: loops that the compiler vectorises, loops that a user would write, other libraries. Each
 * answers once before it is timed, and that answer is judged. */
#include <stdio.h>
#include <string.h>

#include "baseline.h"
#include "clouds.h"
#include "suite.h"

/* ---- vectorised loops -------------------------------------------------------------------------------------------- */

void rivals_run_plain(const side *s)
{
    const pair_scene *in = s->pairs.scene;
    const answers *out = s->pairs.out;

    if (s->columns.in_count > 0)
        s->plain->stream_rows(&s->columns);
    else if (in->query == &query_sweep)
        s->plain->sweep_first(scene_in(in), out->numbers.column[0], in->count);
    else
        (out->bytes.count > 1 ? s->plain->ericson_axes : s->plain->ericson_overlap)(scene_in(in), out->bytes.column[0],
                                                                                    out->bytes.column[1], in->count);
}

/* How many answers of the published test are not carom's: two formulas in binary32 may differ where a distance rounds
 * to the radius. */
static void count_other(suite *u, side *theirs)
{
    side *ours = &u->sides[0];
    if (ours == theirs || ours->pairs.subject == NULL)
        return;
    const size_t count = ours->pairs.scene->count;
    const uint8_t *overlap = ours->pairs.out->bytes.column[0];
    columns copy = columns_alloc(1, count, 1);
    memcpy(copy.column[0], overlap, count);
    pair_call_run(&ours->pairs);
    for (size_t i = 0; i < count; i++)
        theirs->row.other += ((uint8_t *)copy.column[0])[i] != overlap[i];
    columns_free(&copy);
}

static side *add_plain(suite *u, const suite_scene *scene, const plain_loops *plain, const char *what,
                       const pair_scene *in, const answers *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s", what, plain->name);
    side *s = suite_add_side(u, scene, -1, 0, "plain", name, 1);
    if (s == NULL)
        return NULL;
    s->plain = plain;
    s->pairs = (pair_call){.task = scene->pairs, .scene = in, .out = out};
    return s;
}

/* The same columns read and written without any arithmetic; and the query itself, vectorised by the compiler. */
void rivals_add_plain(suite *u, const suite_scene *scene, const pair_scene *in, const answers *out)
{
    const subject *best = subjects_best(&u->subjects);
    const plain_loops *plain = best != NULL ? plain_for_isa((int)best->isa) : NULL;
    if (plain == NULL)
        return;
    if (scene->count > CACHED) { /* a cache has no floor to speak of */
        side *traffic = add_plain(u, scene, plain, "traffic", in, out);
        if (traffic != NULL)
            traffic->columns = pair_task_columns(scene->pairs, in, out);
    }
    if ((in->query != &query_sweep && in->query != &query_overlap) || out->numbers.count > 2)
        return;
    const int overlap = in->query == &query_overlap;
    side *loop = add_plain(u, scene, plain, overlap ? "ericson" : "soa", in, out);
    if (loop == NULL)
        return;
    if (!overlap)
        loop->row.bytes = pair_task_bytes((pair_task)SWEEP_FIRST);
    rivals_run_plain(loop);
    truth_judge(&u->truth, overlap ? out->bytes.column[0] : NULL, out->numbers.column[0], NULL, &loop->row);
    if (overlap)
        count_other(u, loop);
}

/* ---- peers ------------------------------------------------------------------------------------------------------- */

static peer_request request_of(const suite_scene *scene)
{
    if (scene->type == TYPE_BUILD)
        return PEER_BUILD;
    if (scene->type == TYPE_CLOUD)
        return PEER_CLOUD;
    if (scene->type == TYPE_MESH)
        return scene->spheres == SPHERES_STILL ? PEER_TOUCH : PEER_MESH;
    return scene->pairs.query == &query_overlap ? PEER_OVERLAP : PEER_SWEEP;
}

/* The queries that are judged are asked twice, the second time to see how many are asked in a run: no more than take
 * a tenth of a second, or half of one where the user has said how many. 0: even these take too long. */
static size_t count_for(const suite *u, const peer *p, void *state, const peer_task *task)
{
    const double budget = u->settings->quick         ? 0.02
                          : u->settings->queries > 0 ? 0.5
                                                     : 0.1,
                 patience = p->request == PEER_CLOUD ? 20.0 : 2.0;
    const size_t few = u->truth.count > 0 ? u->truth.count : task->count;
    double start = measure_now();

    p->run(state, few);
    if (measure_now() - start > patience)
        return 0;
    if (few == task->count || p->request == PEER_BUILD)
        return task->count;
    start = measure_now();
    p->run(state, few);
    const double affordable = budget / (measure_now() - start) * (double)few;
    return affordable >= (double)task->count ? task->count : affordable > (double)few ? (size_t)affordable : few;
}

/* What has been answered is judged. Returns 0 with the reason if it is no answer at all. */
static int judge(suite *u, const peer *p, const peer_task *task, bench_row *row, char why[128])
{
    if (p->request == PEER_CLOUD)
        return clouds_agree(u->pairs, task->pairs, row, why);
    if (p->request != PEER_BUILD)
        truth_judge(&u->truth, p->request == PEER_OVERLAP || p->request == PEER_TOUCH ? task->overlap : NULL,
                    task->time, NULL, row);
    return 1;
}

static void add_peer(suite *u, const suite_scene *scene, const peer *p, const peer_task *task)
{
    const bench_listener *l = u->listener;
    char text[384], why[128];
    side *s = suite_add_side(u, scene, -1, 0, p->library != NULL ? "peer" : "plain", p->name, 1);
    if (s == NULL)
        return;
    s->peer = p;
    s->peer_state = p->open(task);
    s->peer_count = s->peer_state != NULL ? count_for(u, p, s->peer_state, task) : 0;
    s->row.queries = (double)s->peer_count;
    snprintf(why, sizeof why, "%s", s->peer_state != NULL ? "it takes too long" : "it failed");
    if (s->peer_count > 0 && judge(u, p, task, &s->row, why))
        return;
    snprintf(text, sizeof text, "%s is not measured: %s", s->row.name, why);
    l->note(l->user, text);
    if (s->peer_state != NULL)
        p->close(s->peer_state);
    u->count--;
}

void rivals_add_peers(suite *u, const suite_scene *scene, peer_task task)
{
    const peer_request asked = request_of(scene);

    u->peer_time = columns_alloc(1, task.count, sizeof(float));
    u->peer_overlap = columns_alloc(1, task.count, 1);
    task.time = u->peer_time.column[0];
    task.overlap = u->peer_overlap.column[0];
    task.window = suite_window(scene);
    for (size_t i = 0; baseline_peer(i) != NULL; i++)
        if (baseline_peer(i)->request == asked)
            add_peer(u, scene, baseline_peer(i), &task);
    for (size_t i = 0; u->peers != NULL && u->peers(i) != NULL; i++)
        if (u->peers(i)->request == asked || (u->peers(i)->request == PEER_INSTANCES && task.instances != NULL))
            add_peer(u, scene, u->peers(i), &task);
}

void rivals_close_peers(suite *u)
{
    for (int i = 0; i < u->count; i++)
        if (u->sides[i].peer != NULL)
            u->sides[i].peer->close(u->sides[i].peer_state);
    columns_free(&u->peer_time);
    columns_free(&u->peer_overlap);
}
