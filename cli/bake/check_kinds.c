/* SPDX-License-Identifier: MIT */
/* Nodes of each kind of volume: how near they must be to exact mode's, what the reference says, and the message. */
#include "check.h"

#include "reference/mesh.h"

#include <math.h>
#include <string.h>

static ref_mesh reference_of(const bake_place *at)
{
    const mesh_data *data = &at->mesh->data;
    return (ref_mesh){data->xyz, data->indices, (size_t)data->triangle_count, NULL};
}

/* ---- distance ---------------------------------------------------------------------------------------------------- */

/* Fast distances have errors of some hundred units in the last place of the largest coordinate (numerics.md, section
 * 18); their signs have none. */
int bake_is_near_distance(const bake_place *at, const bake_node *given, const bake_node *exact)
{
    const bake_mesh *mesh = at->mesh;
    double scale = 0.0;
    for (int k = 0; k < 3; k++)
        scale =
            fmax(scale, fmax(fabs((double)at->p[k]), fmax(fabs((double)mesh->lower[k]), fabs((double)mesh->upper[k]))));
    if (given->distance == exact->distance) /* infinities too */
        return 1;
    return fabs((double)given->distance - (double)exact->distance) <= 0x1p-12 * scale;
}

/* The reference's distance, triangle and feature, cut to the band. */
static void truth_of_distance(const bake_place *at, const ref_mesh *mesh, const ref_mesh_closest_answer *closest,
                              bake_node *out)
{
    const bake_plan *plan = at->plan;
    ref_mesh_ray_answer ray = {0};
    if (plan->sign != CAROM_SIGN_NONE)
        ref_mesh_ray(mesh, at->p, &ray);
    const int far = closest->closest.distance > plan->band;
    const int inside = plan->sign == CAROM_SIGN_PARITY ? (int)(ray.crossings & 1) : ray.sum != 0;
    out->distance = far ? plan->band : closest->closest.distance;
    out->triangle = far ? -1 : closest->triangle;
    out->feature = far ? CAROM_FEATURE_NONE : (uint8_t)closest->closest.feature;
    if (plan->sign != CAROM_SIGN_NONE && inside && out->distance != 0.0f)
        out->distance = -out->distance;
}

bake_verdict bake_judge_distance(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const ref_mesh mesh = reference_of(at);
    const ref_sweep_case ball = {.center = {at->p[0], at->p[1], at->p[2]}};
    ref_mesh_closest_answer closest;
    if (ref_mesh_closest(&mesh, &ball, UINT32_MAX, INFINITY, &closest))
        return BAKE_UNKNOWN;
    truth_of_distance(at, &mesh, &closest, truth);
    const int is_same = memcmp(&truth->distance, &exact->distance, sizeof exact->distance) == 0 &&
                        truth->triangle == exact->triangle && truth->feature == exact->feature;
    return is_same ? BAKE_AGREES : BAKE_DIFFERS;
}

void bake_report_distance(const bake_place *at, const char *who, const bake_node *file, const bake_node *other)
{
    cli_message("%s: node %llu at %a,%a,%a: distance %a, triangle %d, feature %d; %s: %a, %d, %d", at->path,
                (unsigned long long)at->node, (double)at->p[0], (double)at->p[1], (double)at->p[2],
                (double)file->distance, (int)file->triangle, (int)file->feature, who, (double)other->distance,
                (int)other->triangle, (int)other->feature);
}

/* ---- clearance --------------------------------------------------------------------------------------------------- */

/* Decided exactly in both modes. */
int bake_is_near_clearance(const bake_place *at, const bake_node *given, const bake_node *exact)
{
    (void)at;
    return given->clearance == exact->clearance;
}

bake_verdict bake_judge_clearance(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const bake_plan *plan = at->plan;
    const ref_mesh mesh = reference_of(at);
    truth->clearance =
        (uint8_t)ref_mesh_clearance(&mesh, at->p, plan->radius, ref_half_diagonal(plan->lattice.spacing));
    return truth->clearance == exact->clearance ? BAKE_AGREES : BAKE_DIFFERS;
}

void bake_report_clearance(const bake_place *at, const char *who, const bake_node *file, const bake_node *other)
{
    cli_message("%s: node %llu at %a,%a,%a: clearance %d; %s: %d", at->path, (unsigned long long)at->node,
                (double)at->p[0], (double)at->p[1], (double)at->p[2], (int)file->clearance, who, (int)other->clearance);
}

/* ---- drop -------------------------------------------------------------------------------------------------------- */

int bake_is_near_drop(const bake_place *at, const bake_node *given, const bake_node *exact)
{
    (void)at;
    return given->height == exact->height;
}

/* The reference judges a height, and has none of its own. */
bake_verdict bake_judge_drop(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const ref_mesh mesh = reference_of(at);
    const ref_mesh_drop_case column = {at->p[0], at->p[1], at->plan->radius, exact->height};
    truth->wrong = ref_mesh_drop(&mesh, &column);
    return truth->wrong ? BAKE_DIFFERS : BAKE_AGREES;
}

void bake_report_drop(const bake_place *at, const char *who, const bake_node *file, const bake_node *other)
{
    const double x = (double)at->p[0], y = (double)at->p[1];
    if (other->wrong)
        cli_message("%s: column at %a,%a: exact mode's height is %a; by the reference %s", at->path, x, y,
                    (double)file->height, other->wrong);
    else
        cli_message("%s: column %llu at %a,%a: height %a; %s: %a", at->path, (unsigned long long)at->node, x, y,
                    (double)file->height, who, (double)other->height);
}
