// SPDX-License-Identifier: MIT
// Bullet: a convex cast of a sphere against a triangle, its sphere/triangle detector, a convex sweep over a
// btBvhTriangleMeshShape and the build of one. Collision margins, which blow shapes up, are 0: the request is the
// triangle's. Shapes are made once and set for each pair, because making them is what costs most.
#include "state.hpp"

#include <BulletCollision/CollisionDispatch/SphereTriangleDetector.h>
#include <BulletCollision/CollisionShapes/btTriangleShape.h>
#include <BulletCollision/NarrowPhaseCollision/btSubSimplexConvexCast.h>
#include <btBulletCollisionCommon.h>
#include <cmath>
#include <vector>

namespace
{

struct pair_data {
    btVector3 center, end, corner[3];
    btScalar radius;
};

template <bool moving> struct pairs {
    peer_task task;
    std::vector<pair_data> data;
    btSphereShape sphere{1};
    btTriangleShape triangle{btVector3(0, 0, 0), btVector3(1, 0, 0), btVector3(0, 1, 0)};

    explicit pairs(const peer_task &t) : task(t), data(t.count)
    {
        triangle.setMargin(0);
        for (size_t i = 0; i < t.count; i++) {
            const float *const *in = t.in;
            const int first = moving ? 7 : 4;
            pair_data &to = data[i];
            to.center = btVector3(in[0][i], in[1][i], in[2][i]);
            to.end = moving ? to.center + btVector3(in[4][i], in[5][i], in[6][i]) * t.window : to.center;
            to.radius = in[3][i];
            for (int v = 0; v < 3; v++)
                to.corner[v] = btVector3(in[first + 3 * v][i], in[first + 3 * v + 1][i], in[first + 3 * v + 2][i]);
        }
    }

    void set(const pair_data &from)
    {
        sphere.setUnscaledRadius(from.radius);
        for (int v = 0; v < 3; v++)
            triangle.m_vertices1[v] = from.corner[v];
    }
};

btTransform moved(const btVector3 &to)
{
    return btTransform(btMatrix3x3::getIdentity(), to);
}

void run_sweep(void *state, size_t count)
{
    pairs<true> &s = *static_cast<pairs<true> *>(state);
    const btTransform rest = btTransform::getIdentity();
    btVoronoiSimplexSolver simplex;

    for (size_t i = 0; i < count; i++) {
        s.set(s.data[i]);
        btSubsimplexConvexCast cast(&s.sphere, &s.triangle, &simplex);
        btConvexCast::CastResult result;
        const bool hit = cast.calcTimeOfImpact(moved(s.data[i].center), moved(s.data[i].end), rest, rest, result);
        s.task.time[i] = hit ? result.m_fraction * s.task.window : HUGE_VALF;
    }
}

void run_overlap(void *state, size_t count)
{
    pairs<false> &s = *static_cast<pairs<false> *>(state);
    SphereTriangleDetector detector(&s.sphere, &s.triangle, 0);

    for (size_t i = 0; i < count; i++) {
        btVector3 point, normal;
        btScalar depth, time;
        s.set(s.data[i]);
        s.task.overlap[i] = detector.collide(s.data[i].center, point, normal, depth, time, 0);
    }
}

// ---- meshes ---------------------------------------------------------------------------------------------------------

// The library wants pointers to what may be written; it does not write.
btTriangleIndexVertexArray arrays_of(const peer_task &t)
{
    return btTriangleIndexVertexArray(
        static_cast<int>(t.triangle_count), const_cast<int *>(reinterpret_cast<const int *>(t.indices)),
        3 * sizeof(int), static_cast<int>(t.vertex_count), const_cast<float *>(t.vertices), 3 * sizeof(float));
}

struct mesh {
    peer_task task;
    btTriangleIndexVertexArray arrays;
    btBvhTriangleMeshShape shape;
    btCollisionObject object;

    explicit mesh(const peer_task &t) : task(t), arrays(arrays_of(t)), shape(&arrays, true)
    {
        shape.setMargin(0);
        object.setCollisionShape(&shape);
    }
};

void run_mesh(void *state, size_t count)
{
    mesh &s = *static_cast<mesh *>(state);
    const float *const *in = s.task.in;
    btSphereShape sphere(1);

    for (size_t i = 0; i < count; i++) {
        const btVector3 from(in[0][i], in[1][i], in[2][i]);
        const btVector3 to = from + btVector3(in[3][i], in[4][i], in[5][i]) * s.task.window;
        sphere.setUnscaledRadius(in[6][i]);
        btCollisionWorld::ClosestConvexResultCallback result(from, to);
        btCollisionWorld::objectQuerySingle(&sphere, moved(from), moved(to), &s.object, &s.shape,
                                            btTransform::getIdentity(), result, 0);
        s.task.time[i] = result.hasHit() ? result.m_closestHitFraction * s.task.window : HUGE_VALF;
    }
}

void run_build(void *state, size_t)
{
    btTriangleIndexVertexArray arrays = arrays_of(*static_cast<const peer_task *>(state));
    const btBvhTriangleMeshShape shape(&arrays, true);
}

} // namespace

extern "C" const peer *bullet_peer(size_t index)
{
    static const peer all[] = {
        {"Bullet", "bullet-convex-cast-" CAROM_PEER_BULLET, PEER_SWEEP, open_state<pairs<true>>, run_sweep,
         close_state<pairs<true>>},
        {"Bullet", "bullet-detector-" CAROM_PEER_BULLET, PEER_OVERLAP, open_state<pairs<false>>, run_overlap,
         close_state<pairs<false>>},
        {"Bullet", "bullet-mesh-sweep-" CAROM_PEER_BULLET, PEER_MESH, open_state<mesh>, run_mesh, close_state<mesh>},
        {"Bullet", "bullet-" CAROM_PEER_BULLET, PEER_BUILD, open_state<peer_task>, run_build, close_state<peer_task>},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : nullptr;
}
