// SPDX-License-Identifier: MIT
// OpenVDB's narrow band around a closed mesh: openvdb::tools::meshToLevelSet.
#include "band.h"

#include <memory>
#include <vector>

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/global_control.h>

namespace
{

struct band {
    tbb::global_control one_thread{tbb::global_control::max_allowed_parallelism, 1};
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    openvdb::math::Transform::Ptr transform;
    float half_width;
    openvdb::FloatGrid::Ptr grid;
};

} // namespace

const char *const openvdb_band_version = OPENVDB_LIBRARY_VERSION_STRING;

void *openvdb_band_open(const band_task *task)
try {
    auto b = std::make_unique<band>();
    openvdb::initialize();
    for (size_t i = 0; i < task->vertex_count; i++)
        b->points.emplace_back(task->vertices + 3 * i);
    for (size_t i = 0; i < task->triangle_count; i++)
        b->triangles.emplace_back(task->indices + 3 * i);
    b->transform = openvdb::math::Transform::createLinearTransform(task->spacing);
    b->transform->postTranslate(openvdb::Vec3d(task->origin));
    b->half_width = task->half_width;
    return b.release();
} catch (...) {
    return nullptr;
}

void openvdb_band_run(void *state)
{
    band *b = static_cast<band *>(state);
    b->grid = openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(*b->transform, b->points, b->triangles, b->half_width);
}

int openvdb_band_value(void *state, const int node[3], float *distance)
{
    return static_cast<band *>(state)->grid->tree().probeValue(openvdb::Coord(node[0], node[1], node[2]), *distance);
}

void openvdb_band_close(void *state)
{
    delete static_cast<band *>(state);
}
