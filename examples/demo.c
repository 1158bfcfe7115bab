/* SPDX-License-Identifier: MIT */
/* demo MESH DIRECTORY: a million moving particles against a real mesh on every backend present, with a table of speeds
 * and of whether the bits agree, the hits as CSV and a picture made of hits. scripts/demo builds and runs it. */
#include "demo.h"

/* The mesh readers are the command's; the function at the end stands in for its messages. */
#include "cli/base/base.h"
#include "cli/import/import.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The first piece is answered twice: the first launch compiles, uploads and wakes threads. */
enum { PIECE = 1 << 16, DEVICES_MAX = 32 };

/* A backend slower than this answers a share, and the table says so. */
static const double patience = 30.0;

typedef struct options {
    const char *mesh, *directory;
    uint64_t particles;
    demo_view view;
} options;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the sweep --------------------------------------------------------------------------------------------------- */

static void *alloc(uint64_t count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    if (!memory)
        exit(cli_no_memory());
    return memory;
}

demo_spheres demo_spheres_alloc(uint64_t n)
{
    return (demo_spheres){alloc(3 * n, sizeof(float)), alloc(3 * n, sizeof(float)), alloc(n, sizeof(float))};
}

demo_hits demo_hits_alloc(uint64_t n)
{
    return (demo_hits){alloc(n, 4),
                       alloc(n, 1),
                       alloc(n, 1),
                       alloc(n, sizeof(float)),
                       alloc(3 * n, sizeof(float)),
                       alloc(3 * n, sizeof(float))};
}

int demo_sweep(carom_mesh *mesh, const demo_spheres *s, float t_max, const demo_hits *h, uint64_t from, uint64_t count)
{
    const carom_mesh_sweep_desc desc = {
        .batch = {.size = sizeof desc, .count = count},
        .center = carom_xyz(s->center + 3 * from),
        .velocity = carom_xyz(s->velocity + 3 * from),
        .radius = carom_scalars_of(s->radius + from),
        .t_max = {&t_max, CAROM_REPEAT},
    };
    const carom_mesh_hit_result result = {
        .size = sizeof result,
        .triangle = h->triangle + from,
        .state = h->state + from,
        .t = h->t + from,
        .point = carom_xyz_out(h->point + 3 * from),
        .normal = carom_xyz_out(h->normal + 3 * from),
        .feature = h->feature + from,
    };
    carom_error err = {0};
    const carom_status status = carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err);
    if (status != CAROM_OK)
        fprintf(stderr, "demo: %s: %s\n", carom_status_name(status), err.message);
    return status == CAROM_OK;
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

/* splitmix64: particle i is the same on every machine, whatever the other options are. */
static float draw(uint64_t *state, float low, float high)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return low + (high - low) * ((float)((z ^ (z >> 31)) >> 40) * 0x1p-24f);
}

/* Particles fill a box half as large again as the mesh and fly up to its size in unit time. */
static demo_spheres make_particles(const carom_mesh_info *box, uint64_t count)
{
    const demo_spheres s = demo_spheres_alloc(count);
    float size = 0.0f;
    for (int a = 0; a < 3; a++)
        size = fmaxf(size, box->upper[a] - box->lower[a]);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t state = i * UINT64_C(0xd1342543de82ef95) + 1;
        for (int a = 0; a < 3; a++) {
            const float margin = 0.25f * (box->upper[a] - box->lower[a]);
            s.center[3 * i + (uint64_t)a] = draw(&state, box->lower[a] - margin, box->upper[a] + margin);
        }
        for (uint64_t a = 0; a < 3; a++)
            s.velocity[3 * i + a] = draw(&state, -size, size);
        s.radius[i] = draw(&state, 0.001f * size, 0.01f * size);
    }
    return s;
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

typedef struct table {
    const mesh_data *data;
    const demo_spheres *particles;
    uint64_t count;
    demo_hits expected, hits; /* of the first backend, and of the one at hand */
    int has_expected, ok;
} table;

/* A mesh in a context of its own. Returns NULL with the reason in err. */
static carom_mesh *open_mesh(const carom_context_desc *desc, const mesh_data *data, carom_error *err)
{
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    const carom_mesh_desc shape = {
        .size = sizeof shape,
        .vertices = carom_xyz(data->xyz),
        .vertex_count = data->vertex_count,
        .indices = carom_uints_of(data->indices),
        .triangle_count = data->triangle_count,
    };
    if (carom_context_create(desc, &context, err) != CAROM_OK ||
        carom_mesh_create(context, &shape, &mesh, err) != CAROM_OK)
        mesh = NULL;
    carom_context_destroy(context); /* the mesh holds on to it */
    return mesh;
}

static int same_bits(const demo_hits *a, const demo_hits *b, uint64_t count)
{
    const size_t n = (size_t)count, f = sizeof(float);
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

/* One row of the table. The first row's answers are what the others are compared with. */
static void run_row(table *t, const char *backend, const char *device, const carom_context_desc *desc)
{
    const demo_hits *hits = t->has_expected ? &t->hits : &t->expected;
    carom_error err = {0};
    carom_mesh *mesh = open_mesh(desc, t->data, &err);
    printf("%-8s %-38.38s ", backend, device);
    if (!mesh) {
        printf("refused: %s\n", err.message);
        return;
    }
    uint64_t done = 0;
    int ok = demo_sweep(mesh, t->particles, 1.0f, hits, 0, t->count < PIECE ? t->count : PIECE);
    const double start = seconds_now();
    double seconds = 0.0;
    while (ok && done < t->count && seconds < patience) {
        const uint64_t count = t->count - done < PIECE ? t->count - done : PIECE;
        ok = demo_sweep(mesh, t->particles, 1.0f, hits, done, count);
        done += count;
        seconds = seconds_now() - start;
    }
    carom_mesh_destroy(mesh);
    const int same = ok && same_bits(&t->expected, hits, done);
    printf("%12.4g %10llu  %s", (double)done / seconds, (unsigned long long)count_hits(hits, done),
           same ? "yes" : "NO");
    if (done < t->count)
        printf(" (slow: first %llu only)", (unsigned long long)done);
    putchar('\n');
    fflush(stdout);
    t->has_expected = 1;
    t->ok &= same;
}

static void run_cpus(table *t)
{
    static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                     CAROM_ISA_NEON};
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU;
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        desc.isa = isas[i];
        if (carom_isa_available(isas[i]))
            run_row(t, "cpu", carom_isa_name(isas[i]), &desc);
    }
}

static void run_devices(table *t)
{
    static carom_device_info devices[DEVICES_MAX];
    carom_context_desc desc = carom_context_desc_default();
    carom_error err = {0};
    uint32_t count = 0;
    devices[0].size = sizeof devices[0];
    if (!carom_has_opencl())
        printf("OpenCL: this build has none\n");
    else if (carom_device_list(devices, DEVICES_MAX, &count, &err) != CAROM_OK || count == 0)
        printf("OpenCL: no device%s%s\n", err.message[0] ? ": " : "", err.message);
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        char number[16], name[sizeof devices[i].name + 16];
        snprintf(number, sizeof number, "%u", devices[i].index);
        snprintf(name, sizeof name, "%s: %s", number, devices[i].name);
        desc.backend = CAROM_BACKEND_OPENCL;
        desc.device = number;
        run_row(t, "opencl", name, &desc);
    }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static int write_csv(const char *path, const demo_hits *h, uint64_t count)
{
    FILE *file = fopen(path, "w");
    if (file)
        fputs("particle,triangle,state,t,x,y,z,nx,ny,nz,feature\n", file);
    for (uint64_t i = 0; file && i < count; i++) {
        const float *p = h->point + 3 * i, *n = h->normal + 3 * i;
        if (h->triangle[i] < 0)
            continue;
        fprintf(file, "%llu,%d,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n", (unsigned long long)i, (int)h->triangle[i],
                carom_state_name((carom_state)h->state[i]), (double)h->t[i], (double)p[0], (double)p[1], (double)p[2],
                (double)n[0], (double)n[1], (double)n[2], carom_feature_name((carom_feature)h->feature[i]));
    }
    const int bad = !file || ferror(file);
    if (bad || fclose(file) != 0) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return 0;
    }
    printf("\nwrote %s: %llu hits\n", path, (unsigned long long)count_hits(h, count));
    return 1;
}

static int run(const options *o, const mesh_data *data)
{
    char path[4096];
    carom_error err = {0};
    carom_mesh_info info = {.size = sizeof info};
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU; /* bounds and picture are the same on all: by the one that is always there */
    carom_mesh *mesh = open_mesh(&desc, data, &err);
    if (!mesh || carom_mesh_get_info(mesh, &info, &err) != CAROM_OK) {
        fprintf(stderr, "demo: %s\n", err.message);
        return 0;
    }
    const demo_spheres particles = make_particles(&info, o->particles);
    table t = {data, &particles, o->particles, demo_hits_alloc(o->particles), demo_hits_alloc(o->particles), 0, 1};
    printf("%s\n%llu triangles, %llu particles over the time from 0 to 1\n", o->mesh,
           (unsigned long long)data->triangle_count, (unsigned long long)o->particles);
    printf("\n%-8s %-38s %12s %10s  %s\n", "backend", "device", "queries/s", "hits", "same bits");
    run_cpus(&t);
    run_devices(&t);
    snprintf(path, sizeof path, "%s/hits.csv", o->directory);
    t.ok &= write_csv(path, &t.expected, o->particles);
    snprintf(path, sizeof path, "%s/hits.png", o->directory);
    t.ok &= demo_picture(mesh, &o->view, path);
    carom_mesh_destroy(mesh);
    return t.ok;
}

static int parse_vector(const char *text, float v[3])
{
    char end;
    return sscanf(text, "%f,%f,%f%c", &v[0], &v[1], &v[2], &end) == 3;
}

static int parse(int argc, char **argv, options *o)
{
    int ok = 1, c;
    *o = (options){.particles = 1000000, .view = {{0, 1, 0}, {0, 0, 1}, 800, 600}};
    demo_view *v = &o->view;
    while (ok && (c = getopt(argc, argv, "n:s:f:u:")) != -1) {
        char end;
        unsigned long long n = 0;
        if (c == 'n')
            ok = sscanf(optarg, "%llu%c", &n, &end) == 1 && n > 0 && n <= UINT32_MAX;
        else if (c == 's')
            ok = sscanf(optarg, "%dx%d%c", &v->width, &v->height, &end) == 2 && v->width > 0 && v->width <= 8192 &&
                 v->height > 0 && v->height <= 8192;
        else
            ok = (c == 'f' || c == 'u') && parse_vector(optarg, c == 'f' ? v->forward : v->up);
        o->particles = n ? n : o->particles;
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
    if (!parse(argc, argv, &o) || mesh_import(o.mesh, &data) != EXIT_DONE)
        return EXIT_USAGE;
    const int ok = run(&o, &data);
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
