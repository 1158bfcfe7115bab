// SPDX-License-Identifier: MIT
// FCL: sphere against triangle, by its closed formula for that pair; and sphere against a hierarchy of triangles. Its
// continuous collision is left out: it is not made for single triangles. binary64, which is what the library is
// compiled for.
#include "state.hpp"

#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/detail/gjk_solver_libccd.h>
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

// ---- meshes ---------------------------------------------------------------------------------------------------------

struct mesh {
    peer_task task;
    fcl::BVHModel<fcl::OBBRSSd> model;

    explicit mesh(const peer_task &t) : task(t)
    {
        std::vector<fcl::Vector3d> vertices(t.vertex_count);
        std::vector<fcl::Triangle> triangles(t.triangle_count);
        for (size_t i = 0; i < vertices.size(); i++)
            vertices[i] = fcl::Vector3d(t.vertices[3 * i], t.vertices[3 * i + 1], t.vertices[3 * i + 2]);
        for (size_t i = 0; i < triangles.size(); i++)
            triangles[i] = fcl::Triangle(t.indices[3 * i], t.indices[3 * i + 1], t.indices[3 * i + 2]);
        model.beginModel(static_cast<int>(t.triangle_count), static_cast<int>(t.vertex_count));
        model.addSubModel(vertices, triangles);
        model.endModel();
    }
};

void run_touch(void *state, size_t count)
{
    mesh &s = *static_cast<mesh *>(state);
    const float *const *in = s.task.in;
    const fcl::CollisionRequestd request; // one contact is enough
    const fcl::Transform3d rest = fcl::Transform3d::Identity();
    fcl::Sphered sphere(1.0);
    fcl::Transform3d pose = rest;

    for (size_t i = 0; i < count; i++) {
        fcl::CollisionResultd result;
        sphere.radius = in[6][i];
        pose.translation() = fcl::Vector3d(in[0][i], in[1][i], in[2][i]);
        s.task.overlap[i] = fcl::collide(&s.model, rest, &sphere, pose, request, result) > 0;
    }
}

} // namespace

extern "C" const peer *fcl_peer(size_t index)
{
    static const peer all[] = {
        {"FCL", "fcl-sphere-triangle-" CAROM_PEER_FCL, PEER_OVERLAP, open_state<pairs>, run_overlap,
         close_state<pairs>},
        {"FCL", "fcl-mesh-" CAROM_PEER_FCL, PEER_TOUCH, open_state<mesh>, run_touch, close_state<mesh>},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : nullptr;
}
