/* SPDX-License-Identifier: MIT */
#include "step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NEIGHBOURS_EACH = 16, CONTACTS_EACH = 4 }; /* room in the lists, on average */
static const float skin = 2e-3f;                  /* SKIN of the kernels */

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

uint64_t step_bytes(enum array array, uint64_t count)
{
    const uint64_t xyz = 3 * sizeof(float), contacts = CONTACTS_EACH * count;

    switch (array) {
    case CORNER: return CORNERS * xyz;
    case RADIUS:
    case HIT_TIME: return count * sizeof(float);
    case HIT_TRIANGLE: return count * sizeof(int32_t);
    case NEIGHBOURS_FIRST:
    case CONTACTS_FIRST: return (count + 1) * sizeof(uint64_t);
    case NEIGHBOUR: return NEIGHBOURS_EACH * count * sizeof(int32_t);
    case CONTACT_DISTANCE: return contacts * sizeof(float);
    case CONTACT_QUERY:
    case OLD_QUERY: return contacts * sizeof(uint64_t);
    case CONTACT_PREVIOUS: return contacts * sizeof(int64_t);
    case CONTACT_PATCH:
    case OLD_PATCH: return contacts * sizeof(uint32_t);
    case CONTACT_NORMAL:
    case CONTACT_POINT:
    case CONTACT_SPRING:
    case OLD_POINT:
    case OLD_SPRING: return contacts * xyz;
    default: return count * xyz;
    }
}

/* A box from -1 to 1, each of its squares two triangles. */
static void make_box(float *corner)
{
    static const int square[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};

    for (int i = 0; i < CORNERS; i++) {
        const int face = i / (6 * GRID * GRID), u = i / 6 % GRID + square[i % 6][0],
                  v = i / (6 * GRID) % GRID + square[i % 6][1], axis = face / 2;
        corner[3 * i + axis] = face % 2 == 0 ? -1 : 1;
        corner[3 * i + (axis + 1) % 3] = 2 * (float)u / GRID - 1;
        corner[3 * i + (axis + 2) % 3] = 2 * (float)v / GRID - 1;
    }
}

void step_begin(uint64_t count, float *const host[HOST_ARRAYS])
{
    uint64_t edge = 1;

    while (edge * edge * edge < count)
        edge++;
    const float spacing = 1.96f / (float)edge, largest = spacing < 0.2f ? 0.45f * spacing : 0.09f;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place[3] = {i % edge, i / edge % edge, i / (edge * edge)};
        const uint32_t random = (uint32_t)i * 2654435761u;
        host[RADIUS][i] = largest * (0.5f + 0.5f * (float)(random >> 4 & 15) / 15);
        for (int k = 0; k < 3; k++) {
            host[CENTER][3 * i + (uint64_t)k] = ((float)place[k] + 0.5f) * spacing - 0.98f;
            host[VELOCITY][3 * i + (uint64_t)k] = (float)(random >> 8 * (k + 1) & 255) / 32 - 4;
        }
    }
    make_box(host[CORNER]);
}

int step_make_wall(simulation *s, carom_error *err)
{
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(s->at[CORNER]),
                                  .vertex_count = CORNERS,
                                  .triangle_count = CORNERS / 3};

    return carom_mesh_create(s->context, &desc, &s->wall, err) == CAROM_OK;
}

/* ---- what a step asks -------------------------------------------------------------------------------------------- */

static void count_crossing(simulation *s, int call, const carom_stats *stats)
{
    s->crossed[call] = (crossing){stats->brought, stats->returned};
}

/* A program would make room and ask again. */
static int is_complete(const simulation *s, const carom_list_totals *totals, const char *what, carom_error *err)
{
    if (totals->complete == s->count)
        return 1;
    snprintf(err->message, sizeof err->message, "%llu %s are more than there is room for",
             (unsigned long long)totals->total, what);
    return 0;
}

/* The first hit of each particle on its way. */
static int find_first_hits(simulation *s, carom_error *err)
{
    static const float whole = 1;
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = s->count},
                                        .center = carom_xyz(s->at[CENTER]),
                                        .velocity = carom_xyz(s->at[WAY]),
                                        .radius = carom_scalars_of(s->at[RADIUS]),
                                        .t_max = {&whole, CAROM_REPEAT},
                                        .start = CAROM_START_SKIP_PARTING};
    const carom_mesh_hit_result out = {.size = sizeof out,
                                       .triangle = s->at[HIT_TRIANGLE],
                                       .t = s->at[HIT_TIME],
                                       .normal = carom_xyz_out(s->at[HIT_NORMAL])};
    carom_stats stats = {.size = sizeof stats};

    if (carom_mesh_sweep_first(s->wall, &desc, &out, &stats, err) != CAROM_OK)
        return 0;
    count_crossing(s, FIRST_HITS, &stats);
    return 1;
}

/* The particles that each particle touches: each pair stands under both. */
static int find_neighbours(simulation *s, carom_error *err)
{
    const carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = s->count},
                                   .center = carom_xyz(s->at[CENTER]),
                                   .radius = carom_scalars_of(s->at[RADIUS]),
                                   .full = 1};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = step_bytes(NEIGHBOUR, s->count) / sizeof(int32_t),
                                        .offsets = s->at[NEIGHBOURS_FIRST],
                                        .b = s->at[NEIGHBOUR],
                                        .totals = &totals};
    carom_stats stats = {.size = sizeof stats};

    if (carom_cloud_list(s->context, &desc, &list, &stats, err) != CAROM_OK)
        return 0;
    count_crossing(s, NEIGHBOURS, &stats);
    return is_complete(s, &totals, "neighbours", err);
}

/* The contacts of this step become those of the step before: nothing moves but names. */
static void keep_contacts(simulation *s)
{
    for (int k = 0; k <= CONTACT_SPRING - CONTACT_QUERY; k++) {
        void *const at = s->at[CONTACT_QUERY + k], *const handle = s->handle[CONTACT_QUERY + k];
        s->at[CONTACT_QUERY + k] = s->at[OLD_QUERY + k];
        s->handle[CONTACT_QUERY + k] = s->handle[OLD_QUERY + k];
        s->at[OLD_QUERY + k] = at;
        s->handle[OLD_QUERY + k] = handle;
    }
    s->old_contacts = s->contacts;
}

/* The contacts with the wall, and which of the step before each of them goes on with. */
static int find_contacts(simulation *s, carom_error *err)
{
    static const double flat =
        30; /* degrees: each face of the box is one patch, so contacts slide over its triangles */
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc, .count = s->count},
                                           .center = carom_xyz(s->at[CENTER]),
                                           .radius = carom_scalars_of(s->at[RADIUS]),
                                           .margin = skin,
                                           .merge_within = 1e-4f,
                                           .flat = &flat};
    carom_list_totals totals;
    carom_stats stats = {.size = sizeof stats};

    keep_contacts(s);
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = step_bytes(CONTACT_PATCH, s->count) / sizeof(uint32_t),
                                     .offsets = s->at[CONTACTS_FIRST],
                                     .query = s->at[CONTACT_QUERY],
                                     .distance = s->at[CONTACT_DISTANCE],
                                     .point = carom_xyz_out(s->at[CONTACT_POINT]),
                                     .normal = carom_xyz_out(s->at[CONTACT_NORMAL]),
                                     .patch = s->at[CONTACT_PATCH],
                                     .totals = &totals};
    if (carom_mesh_contacts(s->wall, &desc, &list, &stats, err) != CAROM_OK ||
        !is_complete(s, &totals, "contacts", err))
        return 0;
    count_crossing(s, CONTACTS, &stats);
    s->contacts = totals.stored;

    const carom_contact_records old = {.size = sizeof old,
                                       .count = s->old_contacts,
                                       .query = s->at[OLD_QUERY],
                                       .patch = s->at[OLD_PATCH],
                                       .point = carom_xyz(s->at[OLD_POINT])};
    const carom_contact_records now = {.size = sizeof now,
                                       .count = s->contacts,
                                       .query = s->at[CONTACT_QUERY],
                                       .patch = s->at[CONTACT_PATCH],
                                       .point = carom_xyz(s->at[CONTACT_POINT])};
    const carom_contact_match match = {.size = sizeof match, .previous = s->at[CONTACT_PREVIOUS]};
    return carom_contacts_match(s->context, &old, &now, &match, err) == CAROM_OK;
}

static int move_wall(simulation *s, carom_error *err)
{
    const carom_points corners = carom_xyz(s->at[CORNER]);
    return carom_mesh_update(s->wall, &corners, CAROM_MESH_REFIT, err) == CAROM_OK;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static int press(simulation *s, carom_error *err)
{
    return s->launch(s, PRESS, CORNERS, (const enum array[]){CORNER}, 1, err);
}

static int integrate(simulation *s, carom_error *err)
{
    return s->launch(s, INTEGRATE, s->count, (const enum array[]){VELOCITY, ACCELERATION, WAY}, 3, err);
}

static int bounce(simulation *s, carom_error *err)
{
    const enum array arrays[] = {CENTER, VELOCITY, WAY, HIT_TRIANGLE, HIT_TIME, HIT_NORMAL};
    return s->launch(s, BOUNCE, s->count, arrays, 6, err);
}

static int collide(simulation *s, carom_error *err)
{
    const enum array arrays[] = {CENTER, VELOCITY, RADIUS, NEIGHBOURS_FIRST, NEIGHBOUR, ACCELERATION};
    return s->launch(s, COLLIDE, s->count, arrays, 6, err);
}

static int touch(simulation *s, carom_error *err)
{
    const enum array arrays[] = {VELOCITY,         RADIUS,     CONTACTS_FIRST, CONTACT_DISTANCE, CONTACT_NORMAL,
                                 CONTACT_PREVIOUS, OLD_SPRING, CONTACT_SPRING, ACCELERATION};
    return s->launch(s, TOUCH, s->count, arrays, 9, err);
}

int step_run(simulation *s, carom_error *err)
{
    return press(s, err) && move_wall(s, err) &&                             /* the wall moves */
           integrate(s, err) && find_first_hits(s, err) && bounce(s, err) && /* particles move, up to the wall */
           find_neighbours(s, err) && collide(s, err) &&                     /* forces between particles */
           find_contacts(s, err) && touch(s, err);                           /* forces of the wall */
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

uint64_t step_report(const simulation *s, int steps, float *const host[HOST_ARRAYS])
{
    static const char *const calls[CALLS] = {"first hits", "neighbours", "contacts"};
    const float height = fabsf(host[CORNER][2]);
    uint64_t outside = 0, hash = 0xcbf29ce484222325;
    double energy = 0;

    for (uint64_t i = 0; i < s->count; i++) {
        const float *x = host[CENTER] + 3 * i, *v = host[VELOCITY] + 3 * i;
        outside += !(fabsf(x[0]) <= 1 && fabsf(x[1]) <= 1 && fabsf(x[2]) <= height);
        for (int k = 0; k < 3; k++) {
            energy += 0.5 * (double)v[k] * (double)v[k];
            uint32_t bits;
            memcpy(&bits, &x[k], sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3;
        }
    }
    printf("%d steps of %llu particles: %llu are outside, %llu contacts with the wall\n", steps,
           (unsigned long long)s->count, (unsigned long long)outside, (unsigned long long)s->contacts);
    printf("kinetic energy %.9g, positions %016llx\n", energy, (unsigned long long)hash);
    for (int i = 0; i < CALLS; i++)
        printf("%s: %llu bytes brought to the host in a step, %llu returned\n", calls[i],
               (unsigned long long)s->crossed[i].brought, (unsigned long long)s->crossed[i].returned);
    return outside;
}
