// SPDX-License-Identifier: MIT
// A stranger's program with carom.hpp, in C++17 and C++20: handles, containers, errors, jobs, progress, a scene, a
// buffer. It ends with 1 at the first surprise.
#include <carom/carom.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

struct vec3 {
    float x, y, z;
};

template <class T>
constexpr bool moves_only =
    std::is_nothrow_move_constructible_v<T> && !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(moves_only<carom::context> && moves_only<carom::mesh> && moves_only<carom::scene> &&
              moves_only<carom::buffer> && moves_only<carom::job>);

static void need(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(what);
}

static void check_views(const std::vector<vec3> &points, std::vector<std::uint32_t> &numbers)
{
    const std::array<float, 6> flat = {};
    need(carom::xyz(points).x == &points[0].x && carom::xyz(points).stride == sizeof(vec3), "structures");
    need(carom::xyz(flat).z == flat.data() + 2 && carom::xyz(flat).stride == 12, "floats");
    need(carom::uints(numbers).data == numbers.data() && carom::uints({numbers.data(), 1}).stride == 4, "numbers");
    need(carom::triangles(flat, numbers).vertex_count == 2, "a count of floats");
#if __cplusplus >= 202002L
    need(carom::xyz(std::span(points)).x == &points[0].x, "a span of structures");
    need(carom::uints(std::span(numbers)).data == numbers.data(), "a span of numbers");
#endif
}

static void check_scene(const carom::context &context, const carom::mesh &mesh, carom_mesh_sweep_desc desc)
{
    const float map[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5f};
    carom_mesh *const meshes[] = {mesh.get()};
    auto of = carom::make<carom_scene_desc>();
    of.meshes = meshes;
    of.mesh_count = of.instance_count = 1;
    of.pose = carom::make<carom_scene_pose>();
    const carom::scene scene(context, of);
    std::array<std::uint8_t, 2> hit = {};
    auto out = carom::make<carom_any_result>();
    out.hit = hit.data();
    of.pose.map = map;
    scene.update(of.pose);
    scene.sweep_any(desc, out);
    need(hit[0] == 1 && hit[1] == 0, "a scene");
    need(carom::filled<carom_mesh_info>(carom_mesh_get_info, mesh).triangle_count == 1, "information");
}

static void check_job(const carom::mesh &mesh, carom_mesh_sweep_desc desc, const carom_mesh_hit_result &out)
{
    auto stats = carom::make<carom_stats>();
    const carom::job job = carom::start(carom_mesh_sweep_first, mesh, desc, out, &stats);
    need(job.wait() && job.wait(0) && stats.queries == 2, "a job");
    std::uint64_t heard = 0;
    auto stop = [&heard](std::uint64_t done, std::uint64_t) {
        heard = done;
        return true;
    };
    desc.batch.progress = carom::progress(stop);
    try {
        mesh.sweep_first(desc, out);
    } catch (const carom::error &error) {
        need(error.status() == CAROM_ERROR_CANCELLED && heard <= 2, error.what());
        return;
    }
    need(false, "a call that was to end");
}

/* A buffer as large as all addresses of a process. */
template <class as> static void check_memory(const carom::context &context)
{
    auto size = carom::make<carom_buffer_desc>();
    size.bytes = (std::uint64_t(1) << 47) - 4096;
    try {
        const carom::buffer buffer(context, size);
    } catch (const as &error) {
        need(std::strlen(error.what()) > 20, "a sentence");
        return;
    }
    need(false, "memory that is not there");
}

static void check(const carom::context &context)
{
    const std::vector<vec3> vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, center = {{0.25f, 0.25f, 2}, {3, 3, 3}};
    std::vector<std::uint32_t> indices = {0, 1, 2};
    const float velocity[3] = {0, 0, -1}, radius = 1;
    std::array<float, 2> t;
    check_views(vertices, indices);
    carom::mesh first(context, carom::triangles(vertices, indices)), mesh = std::move(first);
    need(!first && mesh, "a move");
    auto desc = carom::make<carom_mesh_sweep_desc>();
    desc.batch.count = center.size();
    desc.center = carom::xyz(center);
    desc.velocity = carom_repeat(velocity);
    desc.radius = carom::one(radius);
    auto out = carom::make<carom_mesh_hit_result>();
    out.t = t.data();
    auto stats = carom::make<carom_stats>();
    mesh.sweep_first(desc, out, &stats);
    need(t[0] == 1 && t[1] > 1e30f && stats.queries == 2, "first hits");
    mesh.update(std::vector<vec3>{{0, 0, 0.5f}, {1, 0, 0.5f}, {0, 1, 0.5f}});
    carom::call(carom_mesh_sweep_first, mesh, desc, out, nullptr);
    need(t[0] == 0.5f, "an update");
    check_job(mesh, desc, out);
    check_scene(context, mesh, desc);
    auto size = carom::make<carom_buffer_desc>();
    size.bytes = sizeof t;
    const carom::buffer buffer(context, size);
    std::array<float, 2> back = {};
    buffer.write(0, t);
    buffer.read(0, back);
    need(std::memcmp(back.data(), t.data(), sizeof t) == 0, "a buffer");
    check_memory<std::bad_alloc>(context);
    check_memory<std::exception>(context);
    check_memory<carom::error>(context);
    desc.radius.stride = 1;
    try {
        mesh.sweep_first(desc, out);
        need(false, "an error");
    } catch (const std::runtime_error &error) {
        need(std::string(error.what()).find("radius") == 0, error.what());
    }
    try {
        mesh.sweep_first(desc, out);
    } catch (const carom::error &error) {
        need(error.status() == CAROM_ERROR_INVALID_ARGUMENT && error.native_code() == 0, error.what());
    }
}

int main()
{
    auto options = carom_context_desc_default();
    options.backend = CAROM_BACKEND_CPU;
    options.threads = 2;
    try {
        check(carom::context(options));
    } catch (const std::exception &surprise) {
        std::fprintf(stderr, "%s\n", surprise.what());
        return 1;
    }
    std::puts("as it should be");
    return 0;
}
