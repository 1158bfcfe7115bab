/* SPDX-License-Identifier: MIT */
/* A picture made of hits: small spheres leave the eye through every pixel, two by two, and each hit is shaded by the
 * normal of the contact; from there a second batch flies towards the light and finds the shadows. */
#include "demo.h"

#include "cli/base/base.h"

#include <math.h>
#include <png.h>
#include <stdio.h>

enum { SAMPLES = 2 }; /* spheres per pixel and direction */

typedef struct camera {
    float eye[3], right[3], up[3], forward[3], light[3]; /* light: the direction towards it */
    float radius;                                        /* of the spheres */
} camera;

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The unit vector along a x b. */
static void across(float out[3], const float a[3], const float b[3])
{
    const float c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    for (int k = 0; k < 3; k++)
        out[k] = c[k] / fmaxf(sqrtf(dot(c, c)), 1e-30f);
}

static const float half_height = 0.32f; /* of the picture plane at distance 1 */

/* The eye is so far off that the sphere around the mesh's box just fills the height. */
static camera make_camera(const demo_view *view, const carom_mesh_info *box)
{
    camera c;
    float half[3];
    across(c.right, view->forward, view->up);
    across(c.up, c.right, view->forward);
    across(c.forward, c.up, c.right);
    for (int a = 0; a < 3; a++)
        half[a] = 0.5f * (box->upper[a] - box->lower[a]);
    const float size = sqrtf(dot(half, half));
    for (int a = 0; a < 3; a++) {
        c.eye[a] = box->lower[a] + half[a] - 0.66f * size / half_height * c.forward[a];
        c.light[a] = (-0.55f * c.forward[a] - 0.55f * c.right[a] + 0.75f * c.up[a]) / 1.0805f;
    }
    c.radius = 0.002f * size;
    return c;
}

/* From the eye through each sample; then from each contact, a little off the surface, towards the light. */
static int sweep(carom_mesh *mesh, const camera *c, int columns, int lines, const demo_hits *hits,
                 const demo_hits *shadows)
{
    const uint64_t count = (uint64_t)columns * (uint64_t)lines;
    float *ray = demo_alloc(count, 12);
    for (uint64_t i = 0; i < 3 * count; i++) {
        const float x = (float)(i / 3 % (uint64_t)columns) + 0.5f, y = (float)(i / 3 / (uint64_t)columns) + 0.5f;
        const float u = half_height * (2.0f * x - (float)columns) / (float)lines;
        const float v = half_height * (1.0f - 2.0f * y / (float)lines);
        ray[i] = c->forward[i % 3] + u * c->right[i % 3] + v * c->up[i % 3];
    }
    carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = count},
                                  .center = carom_repeat(c->eye),
                                  .velocity = carom_xyz(ray),
                                  .radius = {&c->radius, CAROM_REPEAT}};
    if (!demo_sweep(mesh, &desc, hits, 0))
        return 0;
    for (uint64_t i = 0; i < 3 * count; i++)
        ray[i] = hits->point[i] + 3.0f * c->radius * hits->normal[i];
    desc.center = carom_xyz(ray);
    desc.velocity = carom_repeat(c->light);
    return demo_sweep(mesh, &desc, shadows, 0);
}

/* Light from the lamp, less in shadow, from the sky above, and a rim where the surface turns away. */
static float shade(const camera *c, const float normal[3], int shadow, int channel)
{
    static const float lamp[3] = {1.0f, 0.74f, 0.46f}, sky[3] = {0.20f, 0.28f, 0.42f}, rim[3] = {0.35f, 0.42f, 0.5f};
    const float lit = shadow ? 0.0f : fmaxf(dot(normal, c->light), 0.0f), above = 0.5f + 0.5f * dot(normal, c->up);
    const float away = 1.0f - fmaxf(-dot(normal, c->forward), 0.0f);
    return 0.9f * lit * lamp[channel] + (0.25f + 0.5f * above) * sky[channel] + away * away * away * rim[channel];
}

/* A channel of a pixel: the mean of its samples, shaded, or of the backdrop. */
static unsigned char develop(const camera *c, const demo_view *view, const demo_hits *hits, const demo_hits *shadows,
                             int pixel, int channel)
{
    const int columns = view->width * SAMPLES;
    float sum = 0.0f;
    for (int k = 0; k < SAMPLES * SAMPLES; k++) {
        const int line = pixel / view->width * SAMPLES + k / SAMPLES;
        const size_t i = (size_t)line * (size_t)columns + (size_t)(pixel % view->width * SAMPLES + k % SAMPLES);
        const float down = (float)line / (float)(view->height * SAMPLES);
        sum += hits->triangle[i] >= 0 ? shade(c, hits->normal + 3 * i, shadows->triangle[i] >= 0, channel)
                                      : 0.02f * (float)(1 + channel / 2) + 0.01f * (float)(3 + channel) * down;
    }
    return (unsigned char)(255.0f * powf(fminf(sum / (SAMPLES * SAMPLES), 1.0f), 1.0f / 2.2f) + 0.5f);
}

int demo_picture(carom_mesh *mesh, const demo_view *view, const char *directory)
{
    const int columns = view->width * SAMPLES, lines = view->height * SAMPLES, pixels = view->width * view->height;
    const uint64_t count = (uint64_t)columns * (uint64_t)lines;
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    carom_mesh_info info = {.size = sizeof info};
    carom_error err = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/hits.png", directory);
    if (carom_mesh_get_info(mesh, &info, &err) != CAROM_OK)
        return !cli_refuse(EXIT_WORK, "%s", err.message);
    const camera c = make_camera(view, &info);
    const demo_hits hits = demo_hits_alloc(count), shadows = demo_hits_alloc(count);
    unsigned char *rgb = demo_alloc((uint64_t)pixels, 3);
    if (!sweep(mesh, &c, columns, lines, &hits, &shadows))
        return 0;
    for (int i = 0; i < 3 * pixels; i++)
        rgb[i] = develop(&c, view, &hits, &shadows, i / 3, i % 3);
    image.width = (png_uint_32)view->width;
    image.height = (png_uint_32)view->height;
    if (!png_image_write_to_file(&image, path, 0, rgb, 0, NULL))
        return !cli_refuse(EXIT_WORK, "%s: %s", path, image.message);
    printf("wrote %s: %d x %d pixels from %llu swept spheres\n", path, view->width, view->height,
           2 * (unsigned long long)count);
    return 1;
}
