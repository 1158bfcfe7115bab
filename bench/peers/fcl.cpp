// SPDX-License-Identifier: MIT
// FCL: sphere against triangle, by its closed formula for that pair. Its continuous collision is left out: it is not
// made for single triangles. binary64, which is what the library is compiled for.
#include "libraries.h"

#include <fcl/narrowphase/detail/gjk_solver_libccd.h>
#include <new>
#include <vector>

namespace
{

struct pair_data {
    fcl::Vector3d center, corner[3];
    double radius;
};

struct pairs {
    peer_task task;
    std::vector<pair_data> data;

    explicit pairs(const peer_task &t) : task(t), data(t.count)
    {
        for (size_t i = 0; i < t.count; i++) {
            const float *const *in = t.in;
            data[i].center = fcl::Vector3d(in[0][i], in[1][i], in[2][i]);
            data[i].radius = in[3][i];
            for (int v = 0; v < 3; v++)
                data[i].corner[v] = fcl::Vector3d(in[4 + 3 * v][i], in[5 + 3 * v][i], in[6 + 3 * v][i]);
        }
    }
};

void *open_pairs(const peer_task *task)
{
    try {
        return new pairs(*task);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void close_pairs(void *state)
{
    delete static_cast<pairs *>(state);
}

void run_overlap(void *state, size_t count)
{
    pairs &s = *static_cast<pairs *>(state);
    const fcl::detail::GJKSolver_libccd<double> solver;
    fcl::Sphered sphere(1.0);
    fcl::Transform3d pose = fcl::Transform3d::Identity();

    for (size_t i = 0; i < count; i++) {
        const pair_data &from = s.data[i];
        sphere.radius = from.radius;
        pose.translation() = from.center;
        s.task.overlap[i] = solver.shapeTriangleIntersect(sphere, pose, from.corner[0], from.corner[1], from.corner[2]);
    }
}

} // namespace

extern "C" const peer *fcl_peer(size_t index)
{
    static const peer all[] = {
        {"FCL", "fcl-sphere-triangle-" CAROM_PEER_FCL, PEER_OVERLAP, open_pairs, run_overlap, close_pairs},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : nullptr;
}
