/* SPDX-License-Identifier: MIT */
/* The stepper. A step is cut into substeps: in each, every sphere that has time left flies straight to its first hit,
 * with the mesh or with a sphere, answers it, and goes on in the next substep. docs/particles.md has the rules, and why
 * no sphere gets through a wall. All loops are over single spheres and read only what stood before the loop, so their
 * order does not matter; the arithmetic is + - * / and sqrt. */
#include "substep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUBSTEPS = 4, RECHECK = 64 };

struct rain_stepper {
    rain_world world;
    rain_spheres *spheres;
    rain_times times;
    rain_counts counts;
    float *before;    /* [3 * count] centres when the step began */
    float *left;      /* [count] T, what a sphere has left of the step */
    uint8_t *touched; /* [count] whether it had a hit in this step */
    uint64_t number;  /* of the step */
    rain_substep substep;
};

rain_stepper *rain_stepper_create(const rain_world *world, rain_spheres *spheres)
{
    rain_stepper *s = rain_alloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->world = *world;
    s->spheres = spheres;
    s->before = rain_alloc(3 * spheres->count, sizeof *s->before);
    s->left = rain_alloc(spheres->count, sizeof *s->left);
    s->touched = rain_alloc(spheres->count, 1);
    if (rain_substep_create(&s->substep, world, spheres->count) && s->before && s->left && s->touched)
        return s;
    rain_stepper_destroy(s);
    return NULL;
}

void rain_stepper_destroy(rain_stepper *s)
{
    if (!s)
        return;
    rain_substep_destroy(&s->substep);
    free(s->before);
    free(s->left);
    free(s->touched);
    free(s);
}

const rain_times *rain_stepper_times(const rain_stepper *s)
{
    return &s->times;
}

const rain_counts *rain_stepper_counts(const rain_stepper *s)
{
    return &s->counts;
}

/* ---- answers to hits --------------------------------------------------------------------------------------------- */

static double dot(const float a[3], const float b[3])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

/* How much of a motion is flown that hits at time t: up to the tolerance before the hit. */
static float until(const rain_stepper *s, const float motion[3], float t)
{
    const double way = sqrt(dot(motion, motion)), before = (double)t * way - (double)s->world.tolerance;
    return before > 0.0 ? (float)(before / way) : 0.0f;
}

/* The speed along a normal after an impact that came in with `speed` < 0. Slow impacts do not bounce. All part, so that
 * roundings cannot add up to penetration. */
static double rebound(const rain_stepper *s, double speed)
{
    const rain_world *w = &s->world;
    const double slow = 3.0 * (double)w->gravity * (double)w->step, least = (double)w->tolerance / (double)w->step;
    const double after = -speed > slow ? -speed * (double)w->restitution : 0.0;
    return after > least ? after : least;
}

/* The mesh is immovable. */
static void answer_wall(const rain_stepper *s, const float normal[3], float velocity[3])
{
    const double speed = dot(velocity, normal);
    for (int a = 0; a < 3 && speed < 0.0; a++)
        velocity[a] = (float)((double)velocity[a] + (rebound(s, speed) - speed) * (double)normal[a]);
}

/* Half of the impulse of an impact, that of n, to its velocity; its partner computes its own. A sleeper is immovable,
 * and spheres that have come to overlap part faster. */
static void answer_pair(const rain_stepper *s, uint64_t n, float velocity[3])
{
    const rain_substep *sub = &s->substep;
    const uint64_t m = (uint64_t)sub->partner[sub->offsets[n]];
    const double t = (double)sub->partner_t[sub->offsets[n]], rn = (double)sub->radius[n], rm = (double)sub->radius[m];
    double normal[3], squared = 0.0, speed = 0.0;
    for (uint64_t a = 0; a < 3; a++) {
        normal[a] = ((double)sub->center[3 * n + a] + t * (double)sub->motion[3 * n + a]) -
                    ((double)sub->center[3 * m + a] + t * (double)sub->motion[3 * m + a]);
        squared += normal[a] * normal[a];
        speed += ((double)sub->velocity[3 * n + a] - (double)sub->velocity[3 * m + a]) * normal[a];
    }
    const double distance = sqrt(squared), deep = rn + rm - distance;
    if (distance == 0.0 || speed >= 0.0)
        return;
    speed /= distance;
    const int asleep = s->spheres->quiet[sub->sphere[m]] == RAIN_ASLEEP;
    const double share = asleep ? 1.0 : rm * rm * rm / (rn * rn * rn + rm * rm * rm); /* masses go with volumes */
    const double apart = rebound(s, speed) + (deep > 0.0 ? 0.1 * deep / (double)s->world.step : 0.0);
    for (int a = 0; a < 3; a++)
        velocity[a] = (float)((double)velocity[a] + share * (apart - speed) * normal[a] / distance);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* Gravity. Sleepers have no time, but all wake every RECHECK steps, to see if what they lie on is still there:
 * together, because one that flies makes all around it part of the substep. */
static void begin(rain_stepper *s)
{
    const rain_spheres *p = s->spheres;
    for (uint64_t i = 0; i < p->count; i++) {
        if (p->quiet[i] == RAIN_ASLEEP && s->number % RECHECK == 0)
            p->quiet[i] = RAIN_ASLEEP - 2;
        const int awake = p->quiet[i] < RAIN_ASLEEP;
        s->left[i] = awake ? s->world.step : 0.0f;
        s->touched[i] = 0;
        if (awake)
            p->velocity[3 * i + 2] -= s->world.step * s->world.gravity;
        memcpy(s->before + 3 * i, p->center + 3 * i, 3 * sizeof(float));
    }
}

/* Sphere n of the substep flies to its first hit and answers it; the mesh's comes first if times are equal. Spheres
 * that have no time left answer, too, but sleepers do not. */
static void advance(rain_stepper *s, uint64_t n)
{
    const rain_substep *sub = &s->substep;
    const rain_spheres *p = s->spheres;
    const uint64_t i = sub->sphere[n];
    const int64_t k = sub->query[n];
    const int meets = sub->offsets[n] < sub->offsets[n + 1], wall = k >= 0 && sub->triangle[k] >= 0;
    const float t = meets ? sub->partner_t[sub->offsets[n]] : INFINITY;
    const int pair = meets && !(wall && sub->t[k] <= t);
    if (p->quiet[i] == RAIN_ASLEEP)
        return;
    if (k >= 0) {
        const float *motion = sub->motion + 3 * n;
        const float go = pair ? until(s, motion, t) : wall ? until(s, motion, sub->t[k]) : 1.0f;
        for (uint64_t a = 0; a < 3; a++)
            p->center[3 * i + a] += go * motion[a];
        s->left[i] = go < 1.0f ? s->left[i] - go * s->left[i] : 0.0f;
        s->counts.sphere_hits += (uint64_t)pair;
        s->counts.wall_hits += (uint64_t)(wall && !pair);
    }
    s->touched[i] |= (uint8_t)(pair || wall);
    if (pair)
        answer_pair(s, n, p->velocity + 3 * i);
    else if (wall)
        answer_wall(s, sub->normal + 3 * k, p->velocity + 3 * i);
}

/* Time that is left is lost, and with it that share of the velocity: so piles come to rest. */
static void end(rain_stepper *s)
{
    const rain_spheres *p = s->spheres;
    const float still = 0.002f;
    for (uint64_t i = 0; i < p->count; i++) {
        float way[3];
        if (p->quiet[i] == RAIN_ASLEEP)
            continue;
        for (uint64_t a = 0; a < 3; a++) {
            way[a] = p->center[3 * i + a] - s->before[3 * i + a];
            if (s->left[i] > 0.0f)
                p->velocity[3 * i + a] *= 1.0f - s->left[i] / s->world.step;
        }
        const float near = still * p->radius[i];
        const int quiet = s->touched[i] && dot(way, way) < (double)near * (double)near;
        p->quiet[i] = quiet ? (uint8_t)(p->quiet[i] + 1) : 0;
        if (p->quiet[i] == RAIN_ASLEEP)
            memset(p->velocity + 3 * i, 0, 3 * sizeof(float));
        s->counts.waited += s->left[i] > 0.0f;
        s->counts.awake++;
    }
}

int rain_step(rain_stepper *s, uint64_t number)
{
    rain_substep *sub = &s->substep;
    const double cpu = rain_cpu_seconds(), start = rain_seconds(), asked = s->times.mesh + s->times.cloud;
    int ok = 1;
    s->number = number;
    begin(s);
    for (int substep = 0; ok && substep < SUBSTEPS && rain_substep_gather(sub, &s->world, s->spheres, s->left) > 0;
         substep++) {
        ok = rain_substep_query(sub, &s->world, &s->times, &s->counts);
        for (uint64_t n = 0; ok && n < sub->count; n++)
            advance(s, n);
        s->counts.motions += sub->active_count;
        s->counts.asked += sub->count;
        s->counts.pairs += sub->offsets[sub->count] / 2;
    }
    end(s);
    s->times.cpu += rain_cpu_seconds() - cpu;
    s->times.own += rain_seconds() - start - (s->times.mesh + s->times.cloud - asked);
    return ok;
}
