/* SPDX-License-Identifier: MIT */
/* dem: the wall of a discrete element method. Each contact is a spring and a dashpot along its normal, and a second
 * spring in its plane that slips (Cundall and Strack, 1979). That spring is history: it belongs to a contact, which
 * carom_contacts_match follows from step to step. Forces take distance and normal of a contact, not its point: in exact
 * mode these two do not depend on how a wall is cut into triangles. So neither does a trajectory, to the last bit. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dem_floor.h"

enum { CONTACTS = 16 }; /* of one sphere */

typedef struct ball {
    double x[3], v[3], spin[3], force[3], torque[3], energy; /* energy: of the springs */
} ball;

typedef struct material {
    double radius, mass, gravity, stiffness, damping, tangential, friction;
} material;

/* The contacts of a step, and the springs in their planes. */
typedef struct contact_step {
    uint64_t count, query[CONTACTS];
    uint32_t patch[CONTACTS];
    float point[3 * CONTACTS], normal[3 * CONTACTS], distance[CONTACTS];
    double spring[CONTACTS][3];
} contact_step;

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void cross(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* The contacts of the ball now, with the springs of those that go on. */
static carom_status find_contacts(carom_context *context, carom_mesh *mesh, const material *m, const ball *b,
                                  contact_step *now, carom_error *err)
{
    const contact_step before = *now;
    const float center[] = {(float)b->x[0], (float)b->x[1], (float)b->x[2]}, radius = (float)m->radius;
    int64_t previous[CONTACTS];
    carom_list_totals totals;
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc, .count = 1, .accuracy = CAROM_ACCURACY_EXACT},
                                           .center = carom_xyz(center),
                                           .radius = carom_scalars_of(&radius)};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = CONTACTS,
                                     .query = now->query,
                                     .distance = now->distance,
                                     .point = carom_xyz_out(now->point),
                                     .normal = carom_xyz_out(now->normal),
                                     .patch = now->patch,
                                     .totals = &totals};
    carom_status status = carom_mesh_contacts(mesh, &desc, &list, NULL, err);
    if (status != CAROM_OK)
        return status;
    now->count = totals.stored; /* 0 if there are more than CONTACTS: a program would make room */
    const carom_contact_records old = {sizeof old, before.count, before.query, before.patch, carom_xyz(before.point),
                                       NULL},
                                new = {sizeof new, now->count, now->query, now->patch, carom_xyz(now->point), NULL};
    const carom_contact_match match = {.size = sizeof match, .previous = previous};
    status = carom_contacts_match(context, &old, &new, &match, err);
    for (uint64_t k = 0; status == CAROM_OK && k < now->count; k++)
        for (int i = 0; i < 3; i++)
            now->spring[k][i] = previous[k] < 0 ? 0 : before.spring[previous[k]][i];
    return status;
}

static void add_forces(const material *m, double dt, contact_step *now, ball *b)
{
    const double weight[] = {0, 0, -m->mass * m->gravity}, none[] = {0, 0, 0};
    memcpy(b->force, weight, sizeof weight);
    memcpy(b->torque, none, sizeof none);
    b->energy = 0;
    for (uint64_t k = 0; k < now->count; k++) {
        const float *normal = now->normal + 3 * k;
        const double n[] = {(double)normal[0], (double)normal[1], (double)normal[2]};
        const double distance = (double)now->distance[k], depth = m->radius - distance, across = dot(b->v, n);
        const double arm[] = {-distance * n[0], -distance * n[1], -distance * n[2]};
        double slide[3], turn[3], pull[3], *spring = now->spring[k];
        const double push = fmax(0, m->stiffness * depth - m->damping * across), off = dot(spring, n);
        cross(b->spin, arm, slide);
        for (int i = 0; i < 3; i++) {
            slide[i] += b->v[i] - across * n[i];
            spring[i] += dt * slide[i] - off * n[i]; /* stays in the plane of the contact */
        }
        const double stretch = m->tangential * sqrt(dot(spring, spring)), most = m->friction * push;
        const double slips = stretch > most ? most / stretch : 1, drag = stretch > most ? 0 : m->damping;
        for (int i = 0; i < 3; i++) {
            spring[i] *= slips;
            pull[i] = -m->tangential * spring[i] - drag * slide[i];
            b->force[i] += push * n[i] + pull[i];
        }
        cross(arm, pull, turn);
        for (int i = 0; i < 3; i++)
            b->torque[i] += turn[i];
        b->energy += m->stiffness * depth * depth / 2 + m->tangential * dot(spring, spring) / 2;
    }
}

static double energy_of(const material *m, const ball *b)
{
    return m->mass *
               (dot(b->v, b->v) / 2 + 0.2 * m->radius * m->radius * dot(b->spin, b->spin) + m->gravity * b->x[2]) +
           b->energy;
}

/* Velocity Verlet. *change: the largest change of the energy over all steps, relative. */
static carom_status simulate(carom_context *context, uint32_t squares, const material *m, double dt, int steps, ball *b,
                             double *change, carom_error *err)
{
    const double inertia = 0.4 * m->mass * m->radius * m->radius;
    contact_step now = {0};
    carom_mesh *mesh = NULL;
    carom_status status = make_floor(context, squares, &mesh, err);
    add_forces(m, dt, &now, b);
    const double begin = energy_of(m, b);
    *change = 0;
    for (int step = 0; step < steps && status == CAROM_OK; step++) {
        for (int k = 0; k < 3; k++) {
            b->v[k] += dt / 2 * b->force[k] / m->mass;
            b->spin[k] += dt / 2 * b->torque[k] / inertia;
            b->x[k] += dt * b->v[k];
        }
        status = find_contacts(context, mesh, m, b, &now, err);
        add_forces(m, dt, &now, b);
        for (int k = 0; k < 3; k++) {
            b->v[k] += dt / 2 * b->force[k] / m->mass;
            b->spin[k] += dt / 2 * b->torque[k] / inertia;
        }
        const double off = (energy_of(m, b) - begin) / begin;
        *change = fabs(off) <= fabs(*change) ? *change : off; /* NaN stays */
    }
    carom_mesh_destroy(mesh);
    return status;
}

int main(void)
{
    const material elastic = {0.5, 1, 9.81, 1e5, 0, 0, 0}, damped = {0.5, 1, 9.81, 1e5, 30, 0, 0},
                   rough = {0.5, 1, 9.81, 1e5, 30, 2e4, 0.3};
    const ball drop = {.x = {0, 0, 1.5}, .v = {0.1, 0.2, 0}}, push = {.x = {-6, -5, 0.5}, .v = {3, 2.5, 0}};
    ball flying = drop, bouncing = drop, damping = drop, on_two = push, on_many = push;
    double change[5];
    carom_context *context = NULL;
    carom_error err;
    const int ok = carom_context_create(NULL, &context, &err) == CAROM_OK &&
                   simulate(context, 20, &elastic, 1e-5, 40000, &flying, &change[0], &err) == CAROM_OK &&
                   simulate(context, 20, &elastic, 1e-5, 100000, &bouncing, &change[1], &err) == CAROM_OK &&
                   simulate(context, 20, &damped, 1e-5, 100000, &damping, &change[2], &err) == CAROM_OK &&
                   simulate(context, 1, &rough, 1e-4, 30000, &on_two, &change[3], &err) == CAROM_OK &&
                   simulate(context, 71, &rough, 1e-4, 30000, &on_many, &change[4], &err) == CAROM_OK;
    if (ok) {
        printf("free flight changes the energy by less than 1e-12: %s\n", fabs(change[0]) < 1e-12 ? "yes" : "no");
        printf("a bounce without damping, by less than 1e-5: %s\n", fabs(change[1]) < 1e-5 ? "yes" : "no");
        printf("with damping it loses energy: %s\n", change[2] < -0.1 ? "yes" : "no");
        printf("rolls to %.3f %.3f, slips no more: %s\n", on_two.x[0], on_two.x[1],
               fabs(on_two.v[0] - 0.5 * on_two.spin[1]) < 1e-3 ? "yes" : "no");
        printf("over 2 and over 10082 triangles the same bits: %s\n",
               memcmp(&on_two, &on_many, sizeof on_two) == 0 ? "yes" : "no");
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
