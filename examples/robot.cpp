// SPDX-License-Identifier: MIT
// robot, in C++: which configurations of the arm of robot.c are free. The spheres of a configuration are a bundle: they
// have one answer.
#include <carom/carom.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int configs = 5, per_link = 4, spheres = 2 * per_link;
constexpr double length = 2;
constexpr float radius = 0.25f;
using vec3 = std::array<float, 3>;
using config = std::array<double, 4>; // base x, y; angle of the first link; angle of the second against the first

// Forward kinematics: centres at 1/4, 2/4, 3/4, 4/4 of each link.
static void place(const config &q, std::vector<vec3> &center)
{
    double end[3][3] = {{q[0], q[1], 0}}, angle = 0; // of the links
    for (int j = 0; j < 2; j++) {
        angle += q[2 + j];
        end[j + 1][0] = end[j][0] + length * std::cos(angle);
        end[j + 1][1] = end[j][1] + length * std::sin(angle);
    }
    for (int s = 0; s < spheres; s++) {
        vec3 at;
        for (int k = 0; k < 3; k++)
            at[k] = float(end[s / per_link][k] +
                          (end[s / per_link + 1][k] - end[s / per_link][k]) * (s % per_link + 1) / per_link);
        center.push_back(at);
    }
}

// For each configuration whether a sphere touches the mesh or, with a sign, has its centre inside.
static std::array<std::uint8_t, configs> hits(const carom::mesh &mesh, const std::vector<vec3> &center, carom_sign sign)
{
    std::array<std::uint8_t, configs> hit;
    auto desc = carom::make<carom_mesh_overlap_desc>();
    desc.batch.count = center.size();
    desc.center = carom::xyz(center);
    desc.radius = carom::one(radius);
    desc.sign = sign;
    desc.bundle = spheres;
    auto out = carom::make<carom_any_result>();
    out.hit = hit.data();
    mesh.overlap_any(desc, out);
    return hit;
}

// Two closed boxes, faces outward: a block and a pin.
static carom::mesh boxes(const carom::context &context)
{
    const vec3 lower[] = {{6, -5, -5}, {0.74f, 2.2f, -1}}, upper[] = {{16, 5, 5}, {0.76f, 2.5f, 1}};
    const std::uint32_t side[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                  2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    std::vector<vec3> corner(16);
    std::vector<std::uint32_t> index(72);
    for (int v = 0; v < 16; v++)
        for (int k = 0; k < 3; k++)
            corner[v][k] = (v >> k & 1 ? upper : lower)[v / 8][k];
    for (std::uint32_t i = 0; i < 72; i++)
        index[i] = side[i % 36] + i / 36 * 8;
    return carom::mesh(context, carom::triangles(corner, index));
}

int main()
{
    const config q[configs] = {{0, 0, 0, 0}, {10, 0, 0, 1}, {0, 2, 0, 0}, {0, 0, 0, 3}, {1.875, 0, 0, 0}};
    std::vector<vec3> center;
    for (const config &each : q)
        place(each, center);
    try {
        const carom::context context;
        const carom::mesh mesh = boxes(context);
        const auto shell = hits(mesh, center, CAROM_SIGN_NONE), body = hits(mesh, center, CAROM_SIGN_WINDING);
        for (int c = 0; c < configs; c++)
            std::printf("%d: free of the shell %d, of the body %d\n", c, shell[c] == 0, body[c] == 0);
    } catch (const carom::error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
