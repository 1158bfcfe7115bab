// SPDX-License-Identifier: MIT
// character, in C++: the same characters, level and door as in character.c, and the same motion, bit for bit.
#include <carom/carom.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int characters = 4, column = 3, spheres = characters * column, rate = 64, seconds = 6, slides = 4;
constexpr float radius = 0.4f, spacing = 0.4f, gap = 1e-3f;
constexpr std::uint32_t of_level = 1, of_door = 2; // masks
using vec3 = std::array<float, 3>;

struct game {
    vec3 feet[characters] = {{0, -6, 3}, {-2, 0, 0.5f}, {-2, 0.5f, 0.5f}, {0, 3, 0.5f}}, velocity[characters] = {};
    float walk[characters][2] = {{2, 2}, {-1, 0}, {-0.9f, 0}, {0, 1}};
    std::uint32_t mask[spheres];
};

// First hits of all characters along `way`; of each the earliest of its column.
static void sweep(const carom::scene &world, const game &g, const vec3 *way, float *t, vec3 *normal)
{
    std::array<vec3, spheres> center, velocity, along;
    std::array<float, spheres> time;
    const float one = 1;
    for (int s = 0; s < spheres; s++) {
        center[s] = g.feet[s / column];
        center[s][2] += spacing * float(s % column);
        velocity[s] = way[s / column];
    }
    auto desc = carom::make<carom_mesh_sweep_desc>();
    desc.batch.count = spheres;
    desc.center = carom::xyz(center);
    desc.velocity = carom::xyz(velocity);
    desc.radius = carom::one(radius);
    desc.t_max = carom::one(one);
    desc.mask = carom::uints(g.mask);
    desc.start = CAROM_START_SKIP_PARTING;
    auto hit = carom::make<carom_mesh_hit_result>();
    hit.t = time.data();
    hit.normal = carom::xyz_out(along);
    world.sweep_first(desc, hit);
    for (int s = 0; s < spheres; s++)
        if (s % column == 0 || time[s] < t[s / column]) {
            t[s / column] = time[s];
            normal[s / column] = along[s];
        }
}

static void move(const carom::scene &world, game &g)
{
    vec3 way[characters], normal[characters];
    float t[characters];
    for (int c = 0; c < characters; c++)
        for (int k = 0; k < 3; k++)
            way[c][k] = g.velocity[c][k] / rate;
    for (int slide = 0; slide < slides; slide++) {
        sweep(world, g, way, t, normal);
        for (int c = 0; c < characters; c++) {
            vec3 &w = way[c], &n = normal[c], &v = g.velocity[c];
            const float length = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
            const float into = std::fmin(w[0] * n[0] + w[1] * n[1] + w[2] * n[2], 0.0f); // 0 without a hit
            const float go = into < 0 ? std::fmax(t[c] - gap / -into, 0.0f) : length > 0 ? std::fmin(t[c], 1.0f) : 0.0f;
            for (int k = 0; k < 3; k++) {
                g.feet[c][k] += go * w[k];
                w[k] = (1 - go) * (w[k] - into * n[k]); // what is left, along the contact
                v[k] -= n[k] * std::fmin(0.0f, v[0] * n[0] + v[1] * n[1] + v[2] * n[2]);
            }
        }
    }
}

static void play(game &g)
{
    const std::vector<vec3> level_corner = {
        {-8, -8, 0}, {8, -8, 0},  {8, 8, 0},     {-8, 8, 0},   {4, -8, 4},      {4, 8, 4},       {4, -8, 0}, {4, 8, 0},
        {-4, -8, 0}, {-4, -1, 0}, {-4, -1, 4},   {-4, -8, 4},  {-4, 1, 0},      {-4, 8, 0},      {-4, 8, 4}, {-4, 1, 4},
        {-4, -1, 2}, {-4, 1, 2},  {-2, 4, 0.6f}, {2, 4, 0.6f}, {2, 4.5f, 0.6f}, {-2, 4.5f, 0.6f}};
    const std::vector<std::uint32_t> level_index = {0,  1,  2,  0,  2,  3,  4,  5,  7,  4,  7,  6,
                                                    8,  9,  10, 8,  10, 11, 12, 13, 14, 12, 14, 15,
                                                    16, 17, 15, 16, 15, 10, 18, 19, 20, 18, 20, 21};
    const std::vector<vec3> door_corner = {{-4, -1, 0}, {-4, 1, 0}, {-4, 1, 2}, {-4, -1, 2}};
    const std::array<std::uint32_t, 6> door_index = {0, 1, 2, 0, 2, 3};
    const carom::context context;
    const carom::mesh level(context, carom::triangles(level_corner, level_index)),
        door(context, carom::triangles(door_corner, door_index));
    float map[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    const std::uint32_t masks[] = {of_level, of_door};
    carom_mesh *const meshes[] = {level.get(), door.get()};
    auto desc = carom::make<carom_scene_desc>();
    desc.meshes = meshes;
    desc.mesh_count = desc.instance_count = 2;
    desc.pose = carom::make<carom_scene_pose>();
    desc.pose.map = map[0];
    desc.pose.masks = carom::uints(masks);
    const carom::scene world(context, desc);
    for (int frame = 0; frame < seconds * rate; frame++) {
        map[1][11] = std::fmin(2.0f, std::fmax(0.0f, float(frame) / rate - 1)); // opens from 1 s on, with 1 m/s
        world.update(desc.pose);
        for (int c = 0; c < characters; c++) {
            std::memcpy(g.velocity[c].data(), g.walk[c], sizeof g.walk[c]);
            g.velocity[c][2] -= 9.81f / rate;
        }
        move(world, g);
        for (int c = 0; (frame + 1 == 2 * rate || frame + 1 == seconds * rate) && c < characters; c++)
            std::printf("after %d s: %d at %.3f %.3f %.3f\n", (frame + 1) / rate, c, double(g.feet[c][0]),
                        double(g.feet[c][1]), double(g.feet[c][2]));
    }
}

int main()
{
    game g;
    for (int s = 0; s < spheres; s++)
        g.mask[s] = s / column == 2 ? of_level : of_level | of_door; // character 2 is a ghost: no door holds it
    try {
        play(g);
    } catch (const carom::error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
