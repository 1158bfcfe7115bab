/* SPDX-License-Identifier: MIT */
/* A picture made of hits: small spheres leave the eye through every pixel, two by two, and what they meet is shaded by
 * the normal of the contact; from there a second batch flies towards the light and finds the shadows. */
#include "demo.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 2 }; /* spheres per pixel and direction */

typedef struct camera {
    float eye[3], right[3], up[3], forward[3];
    float across, down; /* half extents of the picture plane at distance 1 */
    float radius;       /* of the spheres */
    float light[3];     /* towards it */
} camera;

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(float out[3], const float a[3], const float b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void normalize(float v[3])
{
    float length = sqrtf(dot(v, v));
    for (int a = 0; a < 3 && length > 0.0f; a++)
        v[a] /= length;
}

/* Stand so far off that the box's sphere just fills the height. */
static camera make_camera(const demo_view *view, const carom_mesh_info *box)
{
    camera c = {.down = 0.32f};
    float center[3], half[3];
    c.across = c.down * (float)view->width / (float)view->height;
    for (int a = 0; a < 3; a++) {
        center[a] = 0.5f * (box->lower[a] + box->upper[a]);
        half[a] = 0.5f * (box->upper[a] - box->lower[a]);
        c.forward[a] = view->forward[a];
    }
    float size = sqrtf(dot(half, half));
    normalize(c.forward);
    cross(c.right, c.forward, view->up);
    normalize(c.right);
    cross(c.up, c.right, c.forward);
    for (int a = 0; a < 3; a++) {
        c.eye[a] = center[a] - 0.66f * size / c.down * c.forward[a];
        c.light[a] = -0.55f * c.forward[a] - 0.55f * c.right[a] + 0.75f * c.up[a];
    }
    normalize(c.light);
    c.radius = 0.002f * size;
    return c;
}

static void aim(const camera *c, int columns, int lines, const demo_spheres *s)
{
    for (int y = 0; y < lines; y++) {
        for (int x = 0; x < columns; x++) {
            size_t i = (size_t)y * (size_t)columns + (size_t)x;
            float u = c->across * (2.0f * ((float)x + 0.5f) / (float)columns - 1.0f);
            float v = c->down * (1.0f - 2.0f * ((float)y + 0.5f) / (float)lines);
            for (size_t a = 0; a < 3; a++) {
                s->center[3 * i + a] = c->eye[a];
                s->velocity[3 * i + a] = c->forward[a] + u * c->right[a] + v * c->up[a];
            }
            s->radius[i] = c->radius;
        }
    }
}

/* From every contact towards the light, started a little off the surface; without a hit, a sphere that goes nowhere. */
static void aim_at_light(const camera *c, const demo_hits *hits, uint64_t count, const demo_spheres *s)
{
    for (uint64_t i = 0; i < count; i++) {
        const int found = hits->triangle[i] >= 0;
        for (uint64_t k = 3 * i; k < 3 * i + 3; k++) {
            s->center[k] = found ? hits->point[k] + 3.0f * c->radius * hits->normal[k] : c->eye[k % 3];
            s->velocity[k] = found ? c->light[k % 3] : 0.0f;
        }
    }
}

/* Light from the lamp, less in shadow, from the sky above, and a rim where the surface turns away. */
static void shade(const camera *c, const float normal[3], int shadow, float rgb[3])
{
    static const float lamp[3] = {1.0f, 0.74f, 0.46f}, sky[3] = {0.20f, 0.28f, 0.42f}, rim[3] = {0.35f, 0.42f, 0.5f};
    float lit = dot(normal, c->light), above = 0.5f + 0.5f * dot(normal, c->up), facing = -dot(normal, c->forward);
    lit = lit > 0.0f && !shadow ? lit : 0.0f;
    facing = 1.0f - (facing > 0.0f ? facing : 0.0f);
    for (int k = 0; k < 3; k++)
        rgb[k] = 0.9f * lit * lamp[k] + (0.25f + 0.5f * above) * sky[k] + facing * facing * facing * rim[k];
}

static void backdrop(int y, int lines, float rgb[3])
{
    float v = (float)y / (float)lines;
    rgb[0] = 0.020f + 0.03f * v;
    rgb[1] = 0.024f + 0.04f * v;
    rgb[2] = 0.040f + 0.06f * v;
}

static unsigned char to_byte(float linear)
{
    float v = linear < 0.0f ? 0.0f : linear > 1.0f ? 1.0f : linear;
    return (unsigned char)(255.0f * powf(v, 1.0f / 2.2f) + 0.5f);
}

static void develop(const camera *c, const demo_view *view, const demo_hits *hits, const demo_hits *lights,
                    unsigned char *pixels)
{
    int columns = view->width * SAMPLES, lines = view->height * SAMPLES;
    for (int y = 0; y < view->height; y++) {
        for (int x = 0; x < view->width; x++) {
            float sum[3] = {0, 0, 0};
            for (int k = 0; k < SAMPLES * SAMPLES; k++) {
                int line = y * SAMPLES + k / SAMPLES, column = x * SAMPLES + k % SAMPLES;
                size_t i = (size_t)line * (size_t)columns + (size_t)column;
                float rgb[3];
                if (hits->triangle[i] >= 0)
                    shade(c, hits->normal + 3 * i, lights->triangle[i] >= 0, rgb);
                else
                    backdrop(line, lines, rgb);
                for (int a = 0; a < 3; a++)
                    sum[a] += rgb[a];
            }
            for (int a = 0; a < 3; a++)
                pixels[3 * ((size_t)y * (size_t)view->width + (size_t)x) + (size_t)a] =
                    to_byte(sum[a] / (float)(SAMPLES * SAMPLES));
        }
    }
}

static int write_png(const char *path, const demo_view *view, const unsigned char *pixels)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)view->width,
                       .height = (png_uint_32)view->height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
        return 1;
    fprintf(stderr, "demo: %s: %s\n", path, image.message);
    return 0;
}

int demo_picture(carom_mesh *mesh, const demo_view *view, const char *path)
{
    const int columns = view->width * SAMPLES, lines = view->height * SAMPLES;
    const uint64_t count = (uint64_t)columns * (uint64_t)lines;
    carom_mesh_info info = {.size = sizeof info};
    carom_error err = {0};
    unsigned char *pixels = malloc(3 * (size_t)view->width * (size_t)view->height);
    if (!pixels || carom_mesh_get_info(mesh, &info, &err) != CAROM_OK) {
        fprintf(stderr, "demo: %s\n", pixels ? err.message : "no memory for the picture");
        return 0;
    }
    const camera c = make_camera(view, &info);
    const demo_spheres spheres = demo_spheres_alloc(count);
    const demo_hits hits = demo_hits_alloc(count), lights = demo_hits_alloc(count);
    aim(&c, columns, lines, &spheres);
    int ok = demo_sweep(mesh, &spheres, INFINITY, &hits, 0, count);
    aim_at_light(&c, &hits, count, &spheres);
    ok = ok && demo_sweep(mesh, &spheres, INFINITY, &lights, 0, count);
    develop(&c, view, &hits, &lights, pixels);
    ok = ok && write_png(path, view, pixels);
    if (ok)
        printf("wrote %s: %d x %d pixels from %llu swept spheres\n", path, view->width, view->height,
               2 * (unsigned long long)count);
    free(pixels);
    return ok;
}
