/* SPDX-License-Identifier: MIT */
/* The winding number of a mesh from the definition: the sum of the solid angles of its triangles, one by one, each as
 * an angle that a tangent gives, in long double. */
#include <math.h>

#include "mesh.h"

/* The solid angle of a triangle over 2 pi, seen from the point: + where it shows its back. */
static long double half_angle(float p[3][3], const float point[3])
{
    long double v[3][3], length[3], dot[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            v[i][k] = (long double)p[i][k] - (long double)point[k];
        length[i] = sqrtl(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    }
    for (int i = 0; i < 3; i++) { /* of the corners opposite i */
        const long double *a = v[(i + 1) % 3], *b = v[(i + 2) % 3];
        dot[i] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
    const long double volume = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                               v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                               v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    return volume == 0 ? 0
                       : atan2l(volume, length[0] * length[1] * length[2] + dot[0] * length[0] + dot[1] * length[1] +
                                            dot[2] * length[2]);
}

long double ref_mesh_winding(const ref_mesh *mesh, const float point[3])
{
    long double sum = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        float p[3][3];
        if (mesh->masks != NULL && mesh->masks[t] == 0)
            continue;
        ref_mesh_triangle(mesh, t, p);
        sum += half_angle(p, point);
    }
    return sum / (2 * acosl(-1));
}
