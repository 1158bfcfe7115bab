/* SPDX-License-Identifier: MIT */
/* A frame as PNG: the spheres from the side, coloured by speed, before the far wall of the vessel. Rays are spheres of
 * radius 0; without back faces, which turn away from the spheres, they pass the near wall. */
#include "rain.h"

#ifdef RAIN_HAVE_PNG
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 360, HEIGHT = 560, SAMPLES = 2, COLUMNS = WIDTH * SAMPLES, LINES = HEIGHT * SAMPLES };
enum { RAYS = COLUMNS * LINES };

/* Seen along `forward` from a plane that far off; all rays are parallel. */
static const float forward[3] = {0, 0.96f, -0.28f}, up[3] = {0, 0.28f, 0.96f}, far_off = 4.0f, top = 1.85f;
static const float scale = 3.86f / (float)LINES; /* L per sample */
static const float light[3] = {-0.48f, -0.6f, 0.64f};

typedef struct canvas {
    float *depth; /* [RAYS] along `forward` */
    uint8_t *rgb; /* [3 * RAYS] */
} canvas;

static void shade(const float normal[3], const float color[3], uint8_t *rgb)
{
    const float along = normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2];
    const float lit = 0.3f + 0.7f * (along > 0.0f ? along : 0.0f);
    for (int k = 0; k < 3; k++)
        rgb[k] = (uint8_t)(255.0f * sqrtf(lit * color[k]));
}

/* The mesh, by a ray through each sample. */
static int draw_mesh(const canvas *c, const rain_world *world)
{
    static const float stone[3] = {0.34f, 0.36f, 0.40f}, still = 0.0f;
    float *from = rain_alloc(3 * RAYS, sizeof *from), *normal = rain_alloc(3 * RAYS, sizeof *normal);
    const carom_mesh_sweep_desc desc = {
        .batch = {.size = sizeof desc, .count = RAYS},
        .center = carom_xyz(from),
        .velocity = carom_repeat(forward),
        .radius = {.data = &still, .stride = CAROM_REPEAT},
        .cull_back = 1,
    };
    const carom_mesh_hit_result out = {.size = sizeof out, .t = c->depth, .normal = carom_xyz_out(normal)};
    carom_error err = {0};
    for (int i = 0; from && i < RAYS; i++) {
        const float u = scale * ((float)(i % COLUMNS) + 0.5f - 0.5f * COLUMNS);
        const float v = top - scale * ((float)(i / COLUMNS) + 0.5f);
        from[3 * i] = u;
        for (int a = 1; a < 3; a++)
            from[3 * i + a] = v * up[a] - far_off * forward[a];
    }
    int ok = from && normal;
    if (ok && carom_mesh_sweep_first(world->mesh, &desc, &out, NULL, &err) != CAROM_OK)
        ok = rain_fail("picture: %s", err.message);
    for (int i = 0; ok && i < RAYS; i++) {
        memset(c->rgb + 3 * i, 255, 3);
        if (c->depth[i] < INFINITY)
            shade(normal + 3 * i, stone, c->rgb + 3 * i);
    }
    free(from);
    free(normal);
    return ok;
}

/* Slow is blue, fast is orange. */
static void color_of(const float velocity[3], float color[3])
{
    static const float slow[3] = {0.05f, 0.2f, 0.5f}, fast[3] = {1.0f, 0.6f, 0.15f};
    float u = 0.0f;
    for (int a = 0; a < 3; a++)
        u += velocity[a] * velocity[a];
    u = sqrtf(u) > 1.6f ? 1.0f : sqrtf(u) / 1.6f;
    for (int a = 0; a < 3; a++)
        color[a] = slow[a] + u * (fast[a] - slow[a]);
}

static void draw_sphere(const canvas *c, const float center[3], const float color[3], float radius)
{
    const float u = center[0] / scale + 0.5f * COLUMNS, r = radius / scale;
    const float v = (top - (center[1] * up[1] + center[2] * up[2])) / scale;
    const float depth = center[1] * forward[1] + center[2] * forward[2] + far_off;
    for (int y = (int)floorf(v - r); (float)y <= v + r; y++) {
        for (int x = (int)floorf(u - r); (float)x <= u + r; x++) {
            const float dx = ((float)x + 0.5f - u) / r, dy = (v - (float)y - 0.5f) / r, rest = 1.0f - dx * dx - dy * dy;
            const int i = y * COLUMNS + x;
            if (rest < 0.0f || x < 0 || x >= COLUMNS || y < 0 || y >= LINES)
                continue;
            const float out = sqrtf(rest), at = depth - radius * out;
            const float normal[3] = {dx, dy * up[1] - out * forward[1], dy * up[2] - out * forward[2]};
            if (!(at < c->depth[i]))
                continue;
            c->depth[i] = at;
            shade(normal, color, c->rgb + 3 * i);
        }
    }
}

/* Mean of the samples of each pixel, in 32 steps: what noise costs in a PNG is not worth more. */
static void develop(const canvas *c, uint8_t *pixel)
{
    for (int i = 0; i < 3 * WIDTH * HEIGHT; i++) {
        const int x = i / 3 % WIDTH * SAMPLES, y = i / 3 / WIDTH * SAMPLES;
        int sum = 0;
        for (int k = 0; k < SAMPLES * SAMPLES; k++)
            sum += c->rgb[3 * ((y + k / SAMPLES) * COLUMNS + x + k % SAMPLES) + i % 3];
        const int mean = sum / (SAMPLES * SAMPLES);
        pixel[i] = (uint8_t)((mean & ~7) | mean >> 5);
    }
}

static int write_file(const char *path, const uint8_t *pixel)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = PNG_FORMAT_RGB};
    return png_image_write_to_file(&image, path, 0, pixel, 0, NULL) || rain_fail("%s: %s", path, image.message);
}

int rain_have_png(void)
{
    return 1;
}

int rain_write_png(const char *directory, uint64_t number, const rain_world *world, const rain_spheres *spheres)
{
    char path[4096];
    canvas c = {.depth = rain_alloc(RAYS, sizeof(float)), .rgb = rain_alloc(3 * RAYS, 1)};
    uint8_t *pixel = rain_alloc(3 * WIDTH * HEIGHT, 1);
    snprintf(path, sizeof path, "%s/rain-%04llu.png", directory, (unsigned long long)number);
    int ok = c.depth && c.rgb && pixel && draw_mesh(&c, world);
    for (uint64_t i = 0; ok && i < spheres->count; i++) {
        float color[3];
        color_of(spheres->velocity + 3 * i, color);
        draw_sphere(&c, spheres->center + 3 * i, color, spheres->radius[i]);
    }
    if (ok) {
        develop(&c, pixel);
        ok = write_file(path, pixel);
    }
    free(c.depth);
    free(c.rgb);
    free(pixel);
    return ok;
}
#else
int rain_have_png(void)
{
    return 0;
}

int rain_write_png(const char *directory, uint64_t number, const rain_world *world, const rain_spheres *spheres)
{
    (void)number, (void)world, (void)spheres;
    return rain_fail("%s: built without libpng", directory);
}
#endif
