/* SPDX-License-Identifier: MIT */
/* Heights of a ball cutter by OpenCAMLib, with the meshes and places that they belong to: what test_drop_known reads.
 * drop_opencamlib.sh builds and runs it; the tests of this repository need neither. Line by line:
 *   mesh NAME VERTICES TRIANGLES RADIUS PLACES
 *   x y z of each vertex, the corners of each triangle, then x y tip of each place: the ball's lowest point
 * Coordinates are binary32 numbers, heights are the binary64 ones of the library. A place where it finds nothing has
 * the tip that every place begins with. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "batchdropcutter.hpp"
#include "ballcutter.hpp"
#include "stlsurf.hpp"

struct mesh {
    const char *name;
    double radius;
    std::vector<float> vertices;
    std::vector<uint32_t> corners;
};

static const double begin_tip = -10;
enum { PLACES = 400 };

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* splitmix64: the same numbers everywhere. */
static uint64_t random_bits(uint64_t &state)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A multiple of 2^-12 from -1 to 1. */
static double random_unit(uint64_t &state)
{
    return (double)(random_bits(state) % 8193) / 4096 - 1;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static uint32_t add_vertex(mesh &m, double x, double y, double z)
{
    m.vertices.insert(m.vertices.end(), {(float)x, (float)y, (float)z});
    return (uint32_t)(m.vertices.size() / 3 - 1);
}

static void add_triangle(mesh &m, uint32_t a, uint32_t b, uint32_t c)
{
    m.corners.insert(m.corners.end(), {a, b, c});
}

/* A floor with waves, in multiples of 2^-10. */
static mesh make_waves(const char *name, double radius, uint32_t cells)
{
    mesh m = {name, radius, {}, {}};
    for (uint32_t j = 0; j <= cells; j++)
        for (uint32_t i = 0; i <= cells; i++) {
            const double x = 2.0 * i / cells - 1, y = 2.0 * j / cells - 1;
            add_vertex(m, x, y, std::round(1024 * 0.2 * std::sin(4 * x) * std::cos(3 * y)) / 1024);
        }
    for (uint32_t j = 0; j < cells; j++)
        for (uint32_t i = 0; i < cells; i++) {
            const uint32_t a = j * (cells + 1) + i, c = a + cells + 1;
            add_triangle(m, a, a + 1, c + 1);
            add_triangle(m, a, c + 1, c);
        }
    return m;
}

/* Triangles a thousandth to a millionth as wide as long, in all directions. */
static mesh make_needles()
{
    mesh m = {"needles", 0.25, {}, {}};
    uint64_t state = 5;
    for (int t = 0; t < 60; t++) {
        double p[3], along[3], across[3];
        for (int k = 0; k < 3; k++) {
            p[k] = random_unit(state) * (k == 2 ? 0.25 : 1);
            along[k] = random_unit(state) * (k == 2 ? 0.25 : 1);
            across[k] = random_unit(state) * std::pow(10, -3 - t % 4);
        }
        const uint32_t a = add_vertex(m, p[0], p[1], p[2]);
        add_vertex(m, p[0] + along[0], p[1] + along[1], p[2] + along[2]);
        add_vertex(m, p[0] + across[0] + along[0] * 0.4, p[1] + across[1] + along[1] * 0.4,
                   p[2] + across[2] + along[2] * 0.4);
        add_triangle(m, a, a + 1, a + 2);
    }
    return m;
}

/* A closed box of twelve triangles. */
static void add_box(mesh &m, const double low[3], const double high[3])
{
    static const int side[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    const uint32_t first = (uint32_t)(m.vertices.size() / 3);
    for (int i = 0; i < 8; i++)
        add_vertex(m, i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
    for (const int *corner : side)
        add_triangle(m, first + (uint32_t)corner[0], first + (uint32_t)corner[1], first + (uint32_t)corner[2]);
}

/* A plate with two steps, a wall that is 1/64 thick, a pin, and a face without thickness on end: all sides upright. */
static mesh make_part()
{
    static const double boxes[5][2][3] = {{{-1, -1, -0.5}, {1, 1, 0}},
                                          {{-1, -1, 0}, {0, 1, 0.25}},
                                          {{-1, -1, 0.25}, {-0.5, 0.25, 0.5}},
                                          {{0.25, -0.75, 0}, {0.265625, 0.75, 0.75}},
                                          {{0.625, 0.5, 0}, {0.75, 0.625, 0.375}}};
    mesh m = {"part", 0.1875, {}, {}};
    for (const double(&box)[2][3] : boxes)
        add_box(m, box[0], box[1]);
    const uint32_t a = add_vertex(m, 0.5, -0.75, 0);
    add_vertex(m, 0.875, -0.5, 0);
    add_vertex(m, 0.875, -0.5, 0.5);
    add_triangle(m, a, a + 1, a + 2);
    return m;
}

/* Strips of 5, 8 and 13 quads side by side, on a plane that leans: corners of one strip lie on edges of the next, but
 * for their rounding. */
static mesh make_strips()
{
    static const uint32_t quads[4] = {5, 8, 13, 8};
    mesh m = {"T-junctions", 0.25, {}, {}};
    for (int s = 0; s < 4; s++) {
        const uint32_t first = (uint32_t)(m.vertices.size() / 3);
        for (uint32_t i = 0; i <= quads[s]; i++)
            for (int side = 0; side < 2; side++) {
                const double x = 2.0 * i / quads[s] - 1, y = 0.5 * (s + side) - 1;
                add_vertex(m, x, y, 0.3 * x + 0.2 * y);
            }
        for (uint32_t i = 0; i < quads[s]; i++) {
            const uint32_t a = first + 2 * i;
            add_triangle(m, a, a + 2, a + 1);
            add_triangle(m, a + 1, a + 2, a + 3);
        }
    }
    return m;
}

/* ---- heights ----------------------------------------------------------------------------------------------------- */

static void print(const mesh &m, uint64_t seed)
{
    ocl::STLSurf surface;
    const auto point = [&](size_t i) {
        const float *p = &m.vertices[3 * m.corners[i]];
        return ocl::Point(p[0], p[1], p[2]);
    };
    for (size_t i = 0; i < m.corners.size(); i += 3)
        surface.addTriangle(ocl::Triangle(point(i), point(i + 1), point(i + 2)));
    const ocl::BallCutter cutter(2 * m.radius, 10);
    ocl::BatchDropCutter drop;
    drop.setSTL(surface);
    drop.setCutter(&cutter);
    /* Every other place is a multiple of 1/32: on corners, edges and walls of some meshes. */
    for (int i = 0; i < PLACES; i++) {
        double x = 1.25 * random_unit(seed), y = 1.25 * random_unit(seed);
        if (i % 2 != 0) {
            x = std::round(32 * x) / 32;
            y = std::round(32 * y) / 32;
        }
        ocl::CLPoint place((double)(float)x, (double)(float)y, begin_tip);
        drop.appendPoint(place);
    }
    drop.run();
    std::printf("mesh %s %zu %zu %.9g %d\n", m.name, m.vertices.size() / 3, m.corners.size() / 3, m.radius, PLACES);
    for (size_t i = 0; i < m.vertices.size(); i += 3)
        std::printf("%.9g %.9g %.9g\n", m.vertices[i], m.vertices[i + 1], m.vertices[i + 2]);
    for (size_t i = 0; i < m.corners.size(); i += 3)
        std::printf("%u %u %u\n", m.corners[i], m.corners[i + 1], m.corners[i + 2]);
    for (const ocl::CLPoint &place : drop.getCLPoints())
        std::printf("%.9g %.9g %.17g\n", place.x, place.y, place.z);
}

int main()
{
    print(make_waves("waves", 0.25, 16), 11);
    print(make_waves("waves-small-ball", 0.03125, 16), 12);
    print(make_needles(), 13);
    print(make_part(), 14);
    print(make_strips(), 15);
}
