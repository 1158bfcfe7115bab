// SPDX-License-Identifier: MIT
// The same stranger in C++11: one sphere that falls onto a mesh of one triangle.
#include <carom/carom.h>

#include <cstdio>

int main()
{
    float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    float center[3] = {0.25f, 0.25f, 2.0f}, velocity[3] = {0, 0, -1}, radius = 1, t = -1;
    int32_t triangle = -1;
    carom_context *context = nullptr;
    carom_mesh *mesh = nullptr;
    carom_error err;
    carom_context_desc options = carom_context_desc_default();
    options.backend = CAROM_BACKEND_CPU;
    carom_mesh_desc shape = carom_mesh_desc();
    shape.size = sizeof shape;
    shape.vertices = carom_xyz(vertices);
    shape.vertex_count = 3;
    shape.triangle_count = 1;
    carom_mesh_sweep_desc desc = carom_mesh_sweep_desc();
    desc.batch.size = sizeof desc;
    desc.batch.count = 1;
    desc.center = carom_xyz(center);
    desc.velocity = carom_repeat(velocity);
    desc.radius.data = &radius;
    desc.radius.stride = CAROM_REPEAT;
    carom_mesh_hit_result out = carom_mesh_hit_result();
    out.size = sizeof out;
    out.triangle = &triangle;
    out.t = &t;
    if (carom_context_create(&options, &context, &err) != CAROM_OK ||
        carom_mesh_create(context, &shape, &mesh, &err) != CAROM_OK ||
        carom_mesh_sweep_first(mesh, &desc, &out, nullptr, &err) != CAROM_OK) {
        std::fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    std::printf("carom %s: triangle %d at t = %g\n", carom_version(), int(triangle), double(t));
    return triangle == 0 && t > 0.999f && t < 1.001f ? 0 : 1;
}
