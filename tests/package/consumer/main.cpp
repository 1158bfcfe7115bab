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
    shape.vertices.x = vertices, shape.vertices.y = vertices + 1, shape.vertices.z = vertices + 2;
    shape.vertices.stride = 3 * sizeof(float);
    shape.vertex_count = 3;
    shape.triangle_count = 1;
    carom_mesh_sweep_desc desc = carom_mesh_sweep_desc();
    desc.size = sizeof desc;
    desc.count = 1;
    desc.center.x = center, desc.center.y = center + 1, desc.center.z = center + 2;
    desc.velocity.x = velocity, desc.velocity.y = velocity + 1, desc.velocity.z = velocity + 2;
    desc.radius.data = &radius;
    carom_mesh_hit_result out = carom_mesh_hit_result();
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
