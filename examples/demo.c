/* SPDX-License-Identifier: MIT */
/* demo MESH DIRECTORY: a million moving particles against a real mesh on every backend present, with a table of speeds
 * and of whether the bits agree, the hits as CSV and a picture made of hits. scripts/demo builds and runs it. */
#include "demo.h"

#include "cli/cli.h" /* the mesh readers are the command's; the three functions at the end stand in for its main.c */
#include "cli/import/import.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, WARM_UP = 4096, DEVICES_MAX = 32 };

/* A backend slower than this answers a share, and the table says so. */
static const double patience = 30.0;

typedef struct options {
    const char *mesh, *directory;
    uint64_t particles;
    int width, height;
    float forward[3], up[3];
} options;

typedef struct row {
    const char *backend;
    char device[160];
    carom_context_desc desc;
} row;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

int demo_spheres_alloc(demo_spheres *s, uint64_t count)
{
    float *all = calloc(7 * (size_t)count, sizeof(float));
    *s = (demo_spheres){.t_max = INFINITY};
    if (!all)
        return cli_no_memory() == EXIT_DONE;
    float **columns[7] = {&s->x, &s->y, &s->z, &s->vx, &s->vy, &s->vz, &s->radius};
    for (size_t i = 0; i < 7; i++)
        *columns[i] = all + i * (size_t)count;
    s->count = count;
    return 1;
}

void demo_spheres_free(demo_spheres *s)
{
    free(s->x);
    *s = (demo_spheres){0};
}

int demo_hits_alloc(demo_hits *h, uint64_t count)
{
    size_t n = (size_t)count;
    *h = (demo_hits){
        .count = count,
        .triangle = calloc(n, sizeof(int32_t)),
        .state = calloc(n, 1),
        .feature = calloc(n, 1),
        .t = calloc(n, sizeof(float)),
        .point = calloc(3 * n, sizeof(float)),
        .normal = calloc(3 * n, sizeof(float)),
    };
    if (h->triangle && h->state && h->feature && h->t && h->point && h->normal)
        return 1;
    demo_hits_free(h);
    return cli_no_memory() == EXIT_DONE;
}

void demo_hits_free(demo_hits *h)
{
    free(h->triangle);
    free(h->state);
    free(h->feature);
    free(h->t);
    free(h->point);
    free(h->normal);
    *h = (demo_hits){0};
}

/* ---- the sweep ------------------------------------------------------------------------------------------------- */

static int sweep_piece(carom_mesh *mesh, const demo_spheres *s, const demo_hits *h, uint64_t from, uint64_t count)
{
    carom_mesh_sweep_desc desc = {
        .batch.size = sizeof desc,
        .batch.count = count,
        .center = carom_soa(s->x + from, s->y + from, s->z + from),
        .velocity = carom_soa(s->vx + from, s->vy + from, s->vz + from),
        .radius = carom_scalars_of(s->radius + from),
        .t_max = {&s->t_max, CAROM_REPEAT},
    };
    carom_mesh_hit_result result = {
        .size = sizeof result,
        .triangle = h->triangle + from,
        .state = h->state + from,
        .t = h->t + from,
        .point = carom_xyz_out(h->point + 3 * from),
        .normal = carom_xyz_out(h->normal + 3 * from),
        .feature = h->feature + from,
    };
    carom_error err = {0};
    carom_status status = carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err);
    if (status == CAROM_OK)
        return 1;
    fprintf(stderr, "demo: %s: %s\n", carom_status_name(status), err.message);
    return 0;
}

int demo_sweep(carom_mesh *mesh, const demo_spheres *spheres, const demo_hits *hits, const char *what, double limit,
               uint64_t *done, double *seconds)
{
    int terminal = isatty(STDERR_FILENO), shown = 0, ok = 1;
    double start = seconds_now(), last = start, now = start;
    uint64_t from = 0;
    while (ok && from < spheres->count && (limit <= 0.0 || now - start < limit)) {
        uint64_t left = spheres->count - from, count = left < PIECE ? left : PIECE;
        ok = sweep_piece(mesh, spheres, hits, from, count);
        from += count;
        now = seconds_now();
        if (terminal && now - start > 2.0 && now - last > 0.25) {
            fprintf(stderr, "\r%s: %3.0f %%", what, 100.0 * (double)from / (double)spheres->count);
            last = now;
            shown = 1;
        }
    }
    if (shown)
        fputs("\r\033[K", stderr);
    *done = from;
    *seconds = now - start;
    return ok;
}

/* ---- particles ------------------------------------------------------------------------------------------------- */

/* splitmix64: particle i is the same on every machine, whatever the other options are. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static float draw_range(uint64_t *state, float low, float high)
{
    float u = (float)(draw(state) >> 40) * 0x1p-24f;
    return low + (high - low) * u;
}

/* Particles fill a box half as large again as the mesh and fly up to its size in unit time. */
static void make_particles(const float lower[3], const float upper[3], const demo_spheres *s)
{
    float size = 0.0f;
    for (int a = 0; a < 3; a++)
        size = fmaxf(size, upper[a] - lower[a]);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t state = i * UINT64_C(0xd1342543de82ef95) + 1;
        float *position[3] = {s->x + i, s->y + i, s->z + i}, *velocity[3] = {s->vx + i, s->vy + i, s->vz + i};
        for (int a = 0; a < 3; a++) {
            float margin = 0.25f * (upper[a] - lower[a]);
            *position[a] = draw_range(&state, lower[a] - margin, upper[a] + margin);
        }
        for (int a = 0; a < 3; a++)
            *velocity[a] = draw_range(&state, -size, size);
        s->radius[i] = draw_range(&state, 0.001f * size, 0.01f * size);
    }
}

/* ---- backends -------------------------------------------------------------------------------------------------- */

static size_t list_cpus(row *rows)
{
    static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                     CAROM_ISA_NEON};
    size_t count = 0;
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        if (!carom_isa_available(isas[i]))
            continue;
        row *r = &rows[count++];
        *r = (row){.backend = "cpu", .desc = carom_context_desc_default()};
        r->desc.backend = CAROM_BACKEND_CPU;
        r->desc.isa = isas[i];
        snprintf(r->device, sizeof r->device, "%s", carom_isa_name(isas[i]));
    }
    return count;
}

static size_t list_devices(row *rows, char numbers[DEVICES_MAX][16])
{
    static carom_device_info devices[DEVICES_MAX];
    uint32_t count = 0;
    carom_error err = {0};
    if (!carom_has_opencl()) {
        printf("OpenCL: this build has none\n");
        return 0;
    }
    devices[0].size = sizeof devices[0];
    if (carom_device_list(devices, DEVICES_MAX, &count, &err) != CAROM_OK || count == 0)
        printf("OpenCL: no device%s%s\n", err.message[0] ? ": " : "", err.message);
    if (count > DEVICES_MAX)
        count = DEVICES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%u", devices[i].index);
        rows[i] = (row){.backend = "opencl", .desc = carom_context_desc_default()};
        rows[i].desc.backend = CAROM_BACKEND_OPENCL;
        rows[i].desc.device = numbers[i];
        snprintf(rows[i].device, sizeof rows[i].device, "%s: %s", numbers[i], devices[i].name);
    }
    return count;
}

/* Context and mesh for one row. Returns NULL with the reason in err. */
static carom_mesh *open_mesh(const row *r, const mesh_data *data, carom_error *err)
{
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = carom_xyz(data->xyz),
        .vertex_count = data->vertex_count,
        .indices = carom_uints_of(data->indices),
        .triangle_count = data->triangle_count,
    };
    if (carom_context_create(&r->desc, &context, err) != CAROM_OK)
        return NULL;
    if (carom_mesh_create(context, &desc, &mesh, err) != CAROM_OK)
        mesh = NULL;
    carom_context_destroy(context); /* the mesh holds on to it */
    return mesh;
}

static int same_bits(const demo_hits *a, const demo_hits *b, uint64_t count)
{
    size_t n = (size_t)count, f = sizeof(float);
    return !memcmp(a->triangle, b->triangle, n * sizeof(int32_t)) && !memcmp(a->state, b->state, n) &&
           !memcmp(a->feature, b->feature, n) && !memcmp(a->t, b->t, n * f) && !memcmp(a->point, b->point, 3 * n * f) &&
           !memcmp(a->normal, b->normal, 3 * n * f);
}

static uint64_t count_hits(const demo_hits *hits, uint64_t count)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += hits->triangle[i] >= 0;
    return found;
}

/* One row of the table. The first row's answers are what the others are compared with.
 * Returns 1, or 0 for different bits or a failure. */
static int run_row(const row *r, const mesh_data *data, const demo_spheres *particles, const demo_hits *expected,
                   const demo_hits *hits)
{
    carom_error err = {0};
    double seconds;
    uint64_t done;
    demo_spheres few = *particles;
    carom_mesh *mesh = open_mesh(r, data, &err);
    if (!mesh) {
        printf("%-8s %-38.38s refused: %s\n", r->backend, r->device, err.message);
        return 1;
    }
    if (few.count > WARM_UP)
        few.count = WARM_UP; /* the first launch compiles, uploads and wakes threads */
    int ok = demo_sweep(mesh, &few, hits, r->device, 0.0, &done, &seconds) &&
             demo_sweep(mesh, particles, hits, r->device, patience, &done, &seconds);
    carom_mesh_destroy(mesh);
    if (!ok)
        return 0;
    int same = hits == expected || same_bits(expected, hits, done);
    printf("%-8s %-38.38s %12.4g %10llu  %s", r->backend, r->device, (double)done / seconds,
           (unsigned long long)count_hits(hits, done), same ? "yes" : "NO");
    if (done < particles->count)
        printf(" (slow: first %llu only)", (unsigned long long)done);
    putchar('\n');
    fflush(stdout);
    return same;
}

static int run_table(const mesh_data *data, const demo_spheres *particles, const demo_hits *expected)
{
    static row rows[8 + DEVICES_MAX];
    static char numbers[DEVICES_MAX][16];
    demo_hits hits;
    int ok = 1;
    size_t count = list_cpus(rows);
    count += list_devices(rows + count, numbers);
    if (!demo_hits_alloc(&hits, particles->count))
        return 0;
    printf("\n%-8s %-38s %12s %10s  %s\n", "backend", "device", "queries/s", "hits", "same bits");
    for (size_t i = 0; i < count; i++)
        ok &= run_row(&rows[i], data, particles, expected, i == 0 ? expected : &hits);
    demo_hits_free(&hits);
    return ok;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static int write_csv(const char *path, const demo_hits *h)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return 0;
    }
    fputs("particle,triangle,state,t,x,y,z,nx,ny,nz,feature\n", file);
    for (uint64_t i = 0; i < h->count; i++) {
        const float *p = h->point + 3 * i, *n = h->normal + 3 * i;
        if (h->triangle[i] < 0)
            continue;
        fprintf(file, "%llu,%d,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n", (unsigned long long)i, (int)h->triangle[i],
                carom_state_name((carom_state)h->state[i]), (double)h->t[i], (double)p[0], (double)p[1], (double)p[2],
                (double)n[0], (double)n[1], (double)n[2], carom_feature_name((carom_feature)h->feature[i]));
    }
    int bad = ferror(file);
    if (fclose(file) != 0 || bad) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return 0;
    }
    printf("wrote %s: %llu hits\n", path, (unsigned long long)count_hits(h, h->count));
    return 1;
}

static int make_picture(const options *o, const mesh_data *data, const carom_mesh_info *info, const char *path)
{
    carom_error err = {0};
    row best = {.desc = carom_context_desc_default()};
    best.desc.backend = CAROM_BACKEND_CPU; /* all agree: take the one that is always there */
    carom_mesh *mesh = open_mesh(&best, data, &err);
    if (!mesh) {
        fprintf(stderr, "demo: %s\n", err.message);
        return 0;
    }
    demo_view view = {.width = o->width, .height = o->height};
    memcpy(view.lower, info->lower, sizeof view.lower);
    memcpy(view.upper, info->upper, sizeof view.upper);
    memcpy(view.forward, o->forward, sizeof view.forward);
    memcpy(view.up, o->up, sizeof view.up);
    int ok = demo_picture(mesh, &view, path);
    carom_mesh_destroy(mesh);
    return ok;
}

static int mesh_bounds(const mesh_data *data, carom_mesh_info *info)
{
    carom_error err = {0};
    row scalar = {.desc = carom_context_desc_default()};
    scalar.desc.backend = CAROM_BACKEND_CPU;
    carom_mesh *mesh = open_mesh(&scalar, data, &err);
    if (!mesh) {
        fprintf(stderr, "demo: %s\n", err.message);
        return 0;
    }
    const carom_status status = carom_mesh_get_info(mesh, info, &err);
    carom_mesh_destroy(mesh);
    return status == CAROM_OK;
}

static int run(const options *o, const mesh_data *data)
{
    char path[4096];
    carom_mesh_info info = {.size = sizeof info};
    demo_spheres particles;
    demo_hits hits = {0};
    if (!mesh_bounds(data, &info) || !demo_spheres_alloc(&particles, o->particles))
        return 0;
    int ok = demo_hits_alloc(&hits, o->particles);
    if (ok) {
        particles.t_max = 1.0f;
        make_particles(info.lower, info.upper, &particles);
        printf("%s\n%llu triangles, %llu particles over the time from 0 to 1\n", o->mesh,
               (unsigned long long)data->triangle_count, (unsigned long long)o->particles);
        ok = run_table(data, &particles, &hits);
        putchar('\n');
        snprintf(path, sizeof path, "%s/hits.csv", o->directory);
        ok &= write_csv(path, &hits);
        snprintf(path, sizeof path, "%s/hits.png", o->directory);
        ok &= make_picture(o, data, &info, path);
    }
    demo_hits_free(&hits);
    demo_spheres_free(&particles);
    return ok;
}

/* ---- command line ---------------------------------------------------------------------------------------------- */

static int parse_vector(const char *text, float v[3])
{
    char end;
    return sscanf(text, "%f,%f,%f%c", &v[0], &v[1], &v[2], &end) == 3;
}

static int parse(int argc, char **argv, options *o)
{
    int ok = 1, c;
    *o = (options){.particles = 1000000, .width = 800, .height = 600, .forward = {0, 1, 0}, .up = {0, 0, 1}};
    while (ok && (c = getopt(argc, argv, "n:s:f:u:")) != -1) {
        char end;
        unsigned long long n = 0;
        switch (c) {
        case 'n':
            ok = sscanf(optarg, "%llu%c", &n, &end) == 1 && n > 0 && n <= UINT32_MAX;
            o->particles = n;
            break;
        case 's':
            ok = sscanf(optarg, "%dx%d%c", &o->width, &o->height, &end) == 2 && o->width > 0 && o->width <= 8192 &&
                 o->height > 0 && o->height <= 8192;
            break;
        case 'f': ok = parse_vector(optarg, o->forward); break;
        case 'u': ok = parse_vector(optarg, o->up); break;
        default: ok = 0; break;
        }
    }
    if (!ok || argc - optind != 2) {
        fprintf(stderr, "usage: carom_demo [-n PARTICLES] [-s WIDTHxHEIGHT] [-f VIEW,DIRECTION,XYZ] [-u UP,X,YZ] MESH "
                        "DIRECTORY\n");
        return 0;
    }
    o->mesh = argv[optind];
    o->directory = argv[optind + 1];
    return 1;
}

int main(int argc, char **argv)
{
    options o;
    mesh_data data;
    if (!parse(argc, argv, &o))
        return EXIT_USAGE;
    if (mesh_import(o.mesh, &data) != EXIT_DONE)
        return EXIT_USAGE;
    int ok = run(&o, &data);
    mesh_free(&data);
    return ok ? EXIT_DONE : EXIT_WORK;
}

int cli_refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("demo: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}
