/* SPDX-License-Identifier: MIT */
#include "shapes.h"

#include <math.h>

void shape_soup_triangle(ref_gen *g, double size, double scale, double offset, float p[9])
{
    double place[3], corner[3];
    ref_gen_box(g, place, 1.0);
    for (size_t i = 0; i < 9; i++) {
        if (i % 3 == 0)
            ref_gen_box(g, corner, size);
        p[i] = ref_round((place[i % 3] + corner[i % 3]) * scale + offset);
    }
}

void shape_needle(size_t number, float p[9])
{
    for (size_t k = 0; k < 3; k++) {
        const float along = p[k] + (p[3 + k] - p[k]) * 0.75f;
        p[6 + k] = number % 3 == 0 ? along : number % 3 == 1 ? nextafterf(along, 2.0f) : along + p[6 + k] * 0x1p-12f;
    }
}

int shape_spot(ref_gen *g, float p[3][3], double spot[3])
{
    const int kind = ref_gen_int(g, 0, 3), v = ref_gen_int(g, 0, 2);
    for (int k = 0; k < 3; k++) {
        const double a = (double)p[v][k], b = (double)p[(v + 1) % 3][k], c = (double)p[(v + 2) % 3][k];
        spot[k] = kind == 0 ? a : kind == 1 ? (a + b) / 2.0 : kind == 2 ? (a + (b + c) / 2.0) / 2.0 : a + (b - c) / 8.0;
    }
    return v;
}

void shape_way(ref_gen *g, double way[3])
{
    const int kind = ref_gen_int(g, 0, 4);
    ref_gen_direction(g, way);
    for (int k = 0; k < 3 && kind < 3; k++)
        way[k] = k != kind ? 0.0 : way[k] > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < 3 && kind == 3; k++)
        way[k] = ref_gen_int(g, -2, 2);
}
