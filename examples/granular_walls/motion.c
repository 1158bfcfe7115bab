/* SPDX-License-Identifier: MIT */
/* Walls that rest, move and turn. A wall pushes with stiffness * depth; a law with friction is in dem.c. */
#include "walls.h"

#include <math.h>
#include <stdio.h>

#include "../dem_floor.h"

static const double stiffness = 1000;

/* A wall at rest: one contact, though the grain overlaps several triangles. */
int fixed_wall(lab *my)
{
    const float center[] = {0, 0, 0.375f};
    carom_list_totals overlaps = {0};
    touches now;
    const carom_mesh_overlap_desc desc = {
        .batch = {.size = sizeof desc, .count = 1}, .center = carom_xyz(center), .radius = {&radius, CAROM_REPEAT}};
    const carom_hit_list list = {.size = sizeof list, .totals = &overlaps};
    const int ok = touch(my, my->floor, center, 1, NULL, 0, &now) &&
                   carom_mesh_overlap_list(my->floor, &desc, &list, NULL, &my->err) == CAROM_OK;
    if (ok)
        printf("fixed: %d triangles, %d contact, depth %g, force %g\n", (int)overlaps.total, (int)now.count,
               depth_of(&now, 0), stiffness * depth_of(&now, 0));
    return ok;
}

/* A wall that moves: its vertices are updated between two steps. Damping takes the velocity of the wall. */
int moving_wall(lab *my)
{
    const double dt = 0.0625, speed = 2, grain_speed = 0;
    const float center[] = {0, 0, 0.875f};
    touches before = {0}, now;
    carom_mesh *piston = NULL;
    int ok = make_floor(my->context, 1, &piston, &my->err) == CAROM_OK;
    for (int step = 0; ok && step < 6; step++) {
        const float z = (float)(step * dt * speed), corner[] = {-8, -8, z, 8, -8, z, -8, 8, z, 8, 8, z};
        const carom_points vertices = carom_xyz(corner);
        ok = carom_mesh_update(piston, &vertices, CAROM_MESH_AUTO, &my->err) == CAROM_OK &&
             touch(my, piston, center, 1, NULL, 0, &now) && match(my, &before, &now);
        if (ok && now.count)
            printf("moving: wall at %g, depth %g, approach %g, %s\n", (double)z, depth_of(&now, 0),
                   (speed - grain_speed) * (double)now.normal[0][2], now.previous[0] < 0 ? "new" : "goes on");
        before = now;
    }
    carom_mesh_destroy(piston);
    return ok;
}

/* A wall that turns about the y axis by `angle`, with the spin w: the mesh rests, grains are turned into its frame. */
int turning_wall(lab *my)
{
    const double angle = 0.25, w = 2, c = cos(angle), s = sin(angle), world[] = {1, 0, 0.2};
    const float center[] = {(float)(c * world[0] - s * world[2]), (float)world[1],
                            (float)(s * world[0] + c * world[2])};
    touches now;
    const int ok = touch(my, my->floor, center, 1, NULL, 0, &now);
    for (int i = 0; ok && i < (int)now.count; i++) {
        const double px = (double)now.point[i][0], pz = (double)now.point[i][2], nx = (double)now.normal[i][0],
                     nz = (double)now.normal[i][2];
        const double point[] = {c * px + s * pz, -s * px + c * pz}, normal[] = {c * nx + s * nz, -s * nx + c * nz};
        printf("turning: depth %.4f, normal %.4f %.4f, wall velocity %.4f %.4f\n", depth_of(&now, i), normal[0],
               normal[1], w * point[1], -w * point[0]); /* w x (point - axis) */
    }
    return ok;
}
