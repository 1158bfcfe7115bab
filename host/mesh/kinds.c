/* SPDX-License-Identifier: MIT */
/* The constants of the kinds of search: first hit, closest triangle, contacts. */
#include "cpu/exact/exact.h"
#include "batch.h"

enum { SEARCH_COLUMNS = 3 }; /* output columns of each search; the point kernel writes the columns after them */

/* Decides a first hit by the later rungs. */
static caromi_rung resolve_hit(const caromi_mesh_view *mesh, const caromi_mesh_query *query, caromi_mesh_answer *answer)
{
    int32_t state;
    const caromi_rung rung =
        caromi_single_searches_of(mesh)->first(mesh, query, &answer->triangle, &state, &answer->key);
    answer->state = (uint8_t)state;
    return rung;
}

/* Computes the contact of a first hit in integers. */
static void resolve_contact(const float *in, int options, caromi_mesh_answer *answer)
{
    caromi_exact_contact contact;
    caromi_exact_contact_of(in, caromi_motion_kind(options), &contact);
    for (int k = 0; k < 3; k++) {
        answer->point[k] = contact.point[k];
        answer->normal[k] = contact.normal[k];
    }
    answer->feature = (uint8_t)contact.feature;
}

const caromi_mesh_kind caromi_first_hit = {
    .search = CAROMI_MESH_FIRST,
    .name = {"the first hit on this mesh", "the first hit on this mesh, exact,"},
    .in = CAROMI_MESH_IN,
    .point_in = IN_P0X,
    .point_kernel =
        {[MOTION_BY_VELOCITY] = {[CAROMI_FAST] = CAROMI_PAIR_contact, [CAROMI_EXACT] = CAROMI_PAIR_contact_exact},
         [MOTION_BY_END] = {[CAROMI_FAST] = CAROMI_PAIR_contact_ends, [CAROMI_EXACT] = CAROMI_PAIR_contact_ends_exact},
         [TRIANGLE_CARRIED] =
             {[CAROMI_FAST] = CAROMI_PAIR_contact_carried, [CAROMI_EXACT] = CAROMI_PAIR_contact_carried_exact},
         [MOTION_BY_END | TRIANGLE_CARRIED] = {[CAROMI_FAST] = CAROMI_PAIR_contact_carried_ends,
                                               [CAROMI_EXACT] = CAROMI_PAIR_contact_carried_ends_exact}},
    .answer = {CAROMI_ANSWER_TRIANGLE, CAROMI_ANSWER_STATE, CAROMI_ANSWER_KEY, CAROMI_ANSWER_POINT,
               CAROMI_ANSWER_POINT + 1, CAROMI_ANSWER_POINT + 2, CAROMI_ANSWER_NORMAL, CAROMI_ANSWER_NORMAL + 1,
               CAROMI_ANSWER_NORMAL + 2, CAROMI_ANSWER_FEATURE},
    .search_out = SEARCH_COLUMNS,
    .out = SEARCH_COLUMNS + OUT_CONTACT,
    .resolve = resolve_hit,
    .resolve_point = resolve_contact,
};

static caromi_rung resolve_closest(const caromi_mesh_view *mesh, const caromi_mesh_query *query,
                                   caromi_mesh_answer *answer)
{
    caromi_single_searches_of(mesh)->closest(mesh, query, &answer->triangle, &answer->key, &answer->depth);
    return CAROMI_INTEGERS;
}

static void resolve_point(const float *in, int options, caromi_mesh_answer *answer)
{
    caromi_exact_closest closest;
    (void)options; /* a sphere at rest has no end position */
    caromi_exact_closest_of(in, &closest);
    for (int k = 0; k < 3; k++)
        answer->point[k] = closest.point[k];
    answer->feature = (uint8_t)closest.feature;
}

const caromi_mesh_kind caromi_closest_triangle = {
    .search = CAROMI_MESH_CLOSEST,
    .name = {"the closest point of this mesh", "the closest point of this mesh, exact,"},
    .in = CAROMI_CLOSEST_IN,
    .point_in = IN_NP0X,
    .point_kernel =
        {[MOTION_BY_VELOCITY] = {[CAROMI_FAST] = CAROMI_PAIR_closest, [CAROMI_EXACT] = CAROMI_PAIR_closest_exact}},
    .answer = {CAROMI_ANSWER_TRIANGLE, CAROMI_ANSWER_KEY, CAROMI_ANSWER_DEPTH, CAROMI_ANSWER_POINT,
               CAROMI_ANSWER_POINT + 1, CAROMI_ANSWER_POINT + 2, CAROMI_ANSWER_FEATURE},
    .search_out = SEARCH_COLUMNS,
    .out = SEARCH_COLUMNS + OUT_CLOSEST,
    .resolve = resolve_closest,
    .resolve_point = resolve_point,
};

static void resolve_touch(const float *in, int options, caromi_mesh_answer *answer)
{
    caromi_exact_contact contact;
    (void)options;
    caromi_exact_touch_of(in, &contact);
    for (int k = 0; k < 3; k++) {
        answer->point[k] = contact.point[k];
        answer->normal[k] = contact.normal[k];
    }
    answer->feature = (uint8_t)contact.feature;
}

const caromi_mesh_kind caromi_contact_triangles = {
    .search = CAROMI_MESH_CONTACTS,
    .name = {"contacts with this mesh", "contacts with this mesh, exact,"},
    .in = CAROMI_CLOSEST_IN,
    .point_in = IN_NP0X,
    .point_kernel =
        {[MOTION_BY_VELOCITY] = {[CAROMI_FAST] = CAROMI_PAIR_touch, [CAROMI_EXACT] = CAROMI_PAIR_touch_exact}},
    .answer = {CAROMI_ANSWER_TRIANGLE, CAROMI_ANSWER_KEY, CAROMI_ANSWER_DEPTH, CAROMI_ANSWER_POINT,
               CAROMI_ANSWER_POINT + 1, CAROMI_ANSWER_POINT + 2, CAROMI_ANSWER_NORMAL, CAROMI_ANSWER_NORMAL + 1,
               CAROMI_ANSWER_NORMAL + 2, CAROMI_ANSWER_FEATURE},
    .search_out = SEARCH_COLUMNS,
    .out = SEARCH_COLUMNS + OUT_CONTACT,
    .resolve_point = resolve_touch,
};
