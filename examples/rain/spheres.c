/* SPDX-License-Identifier: MIT */
/* The spheres at the start: one in each cube of a lattice, of its own size, off the middle. */
#include "rain.h"

#include <stdlib.h>

/* splitmix64: sphere i is the same on every machine. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double draw_range(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(draw(state) >> 40) * 0x1p-24);
}

/* The upper part of the vessel, a cylinder, less a margin. */
static const double cylinder_radius = 0.97, cylinder_low = 0.12, cylinder_high = 1.58;

/* A sphere in each cube of a lattice that lies in the cylinder. Returns how many; `spheres` may be NULL. */
static uint64_t fill(rain_spheres *spheres, double edge, uint64_t seed)
{
    const int across = (int)(cylinder_radius / edge), up = (int)((cylinder_high - cylinder_low) / edge);
    const double largest = 0.45 * edge;
    uint64_t n = 0;
    for (int k = 0; k < up; k++) {
        for (int j = -across; j < across; j++) {
            for (int i = -across; i < across; i++) {
                const double x = (abs(2 * i + 1) + 1) * 0.5 * edge, y = (abs(2 * j + 1) + 1) * 0.5 * edge;
                if (x * x + y * y > cylinder_radius * cylinder_radius || (spheres && n >= spheres->count))
                    continue;
                if (spheres) {
                    uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + n;
                    draw(&state);
                    const double r = draw_range(&state, 0.5 * largest, largest), room = 0.49 * edge - r;
                    float *c = spheres->center + 3 * n, *v = spheres->velocity + 3 * n;
                    spheres->radius[n] = (float)r;
                    const double corner[3] = {i * edge, j * edge, cylinder_low + k * edge};
                    for (int a = 0; a < 3; a++) {
                        c[a] = (float)(corner[a] + 0.5 * edge + draw_range(&state, -room, room));
                        v[a] = (float)draw_range(&state, -0.2, 0.2);
                    }
                }
                n++;
            }
        }
    }
    return n;
}

int rain_make_spheres(rain_spheres *s, uint64_t count, uint64_t seed, float *largest)
{
    *s = (rain_spheres){
        .count = count,
        .center = rain_alloc(3 * count, sizeof(float)),
        .velocity = rain_alloc(3 * count, sizeof(float)),
        .radius = rain_alloc(count, sizeof(float)),
        .quiet = rain_alloc(count, 1),
    };
    if (!s->center || !s->velocity || !s->radius || !s->quiet)
        return 0;
    double edge = 0.5;
    while (fill(NULL, edge, seed) < count)
        edge *= 0.99;
    fill(s, edge, seed);
    *largest = (float)(0.45 * edge);
    return 1;
}

void rain_free_spheres(rain_spheres *s)
{
    free(s->center);
    free(s->velocity);
    free(s->radius);
    free(s->quiet);
    *s = (rain_spheres){0};
}
