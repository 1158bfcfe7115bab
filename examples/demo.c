/* SPDX-License-Identifier: MIT */
/* demo MESH DIRECTORY: a million moving particles against a real mesh on every backend present, with a table of speeds
 * and of whether the bits agree, the hits as CSV and a picture made of hits. scripts/demo builds and runs it. */
#include "demo.h"

#include "cli/base/base.h" /* the mesh readers are the command's */
#include "cli/import/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, DEVICES_MAX = 32 };
static const double patience = 30.0; /* seconds after which a slow backend leaves the rest of the particles */

/* The message of the mesh readers; so also of the demo. */
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

/* Zeros. The process frees them when it ends. */
void *demo_alloc(uint64_t count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    if (!memory)
        exit(cli_no_memory());
    return memory;
}

demo_hits demo_hits_alloc(uint64_t n)
{
    return (demo_hits){demo_alloc(n, 4), demo_alloc(n, 1),  demo_alloc(n, 1),
                       demo_alloc(n, 4), demo_alloc(n, 12), demo_alloc(n, 12)};
}

int demo_sweep(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const demo_hits *h, uint64_t from)
{
    const carom_mesh_hit_result result = {.size = sizeof result,
                                          .triangle = h->triangle + from,
                                          .state = h->state + from,
                                          .t = h->t + from,
                                          .point = carom_xyz_out(h->point + 3 * from),
                                          .normal = carom_xyz_out(h->normal + 3 * from),
                                          .feature = h->feature + from};
    carom_error err = {0};
    return carom_mesh_sweep_first(mesh, desc, &result, NULL, &err) == CAROM_OK ||
           !cli_refuse(EXIT_WORK, "%s", err.message);
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

typedef struct particles {
    uint64_t count;
    float *center, *velocity, *radius; /* vectors as x y z */
} particles;

/* splitmix64: particle i is the same on every machine, whatever the other options are. */
static float draw(uint64_t *state, float low, float high)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return low + (high - low) * ((float)((z ^ (z >> 31)) >> 40) * 0x1p-24f);
}

/* Particles fill a box half as large again as the mesh and fly up to its size in unit time. */
static particles make_particles(const carom_mesh_info *box, uint64_t count)
{
    const particles p = {count, demo_alloc(count, 12), demo_alloc(count, 12), demo_alloc(count, 4)};
    float size = 0.0f;
    for (int a = 0; a < 3; a++)
        size = fmaxf(size, box->upper[a] - box->lower[a]);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t state = i * UINT64_C(0xd1342543de82ef95) + 1;
        for (uint64_t a = 0; a < 3; a++) {
            const float margin = 0.25f * (box->upper[a] - box->lower[a]);
            p.center[3 * i + a] = draw(&state, box->lower[a] - margin, box->upper[a] + margin);
        }
        for (uint64_t a = 0; a < 3; a++)
            p.velocity[3 * i + a] = draw(&state, -size, size);
        p.radius[i] = draw(&state, 0.001f * size, 0.01f * size);
    }
    return p;
}

/* The next piece of the particles over the time from 0 to 1. */
static int sweep_piece(carom_mesh *mesh, const particles *p, const demo_hits *hits, uint64_t from, uint64_t *count)
{
    static const float t_max = 1.0f;
    *count = p->count - from < PIECE ? p->count - from : PIECE;
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = *count},
                                        .center = carom_xyz(p->center + 3 * from),
                                        .velocity = carom_xyz(p->velocity + 3 * from),
                                        .radius = carom_scalars_of(p->radius + from),
                                        .t_max = {&t_max, CAROM_REPEAT}};
    return demo_sweep(mesh, &desc, hits, from);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct table {
    const mesh_data *data;
    particles particles;
    demo_hits expected, hits; /* of the first backend, and of the row's */
    int rows, ok;
} table;

/* A mesh in a context of its own. Returns NULL with the reason in err. */
static carom_mesh *open_mesh(const carom_context_desc *desc, const mesh_data *data, carom_error *err)
{
    const carom_mesh_desc shape = {.size = sizeof shape,
                                   .vertices = carom_xyz(data->xyz),
                                   .vertex_count = data->vertex_count,
                                   .indices = carom_uints_of(data->indices),
                                   .triangle_count = data->triangle_count};
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    if (carom_context_create(desc, &context, err) == CAROM_OK)
        (void)carom_mesh_create(context, &shape, &mesh, err);
    carom_context_destroy(context); /* the mesh holds on to it */
    return mesh;
}

static int same_bits(const demo_hits *a, const demo_hits *b, uint64_t n)
{
    return !memcmp(a->triangle, b->triangle, 4 * n) && !memcmp(a->state, b->state, n) &&
           !memcmp(a->feature, b->feature, n) && !memcmp(a->t, b->t, 4 * n) && !memcmp(a->point, b->point, 12 * n) &&
           !memcmp(a->normal, b->normal, 12 * n);
}

static unsigned long long count_hits(const demo_hits *hits, uint64_t count)
{
    unsigned long long found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += hits->triangle[i] >= 0;
    return found;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A row: the speed of a backend, and whether its answers are those of the first row. */
static void run_row(table *t, const char *backend, const char *device, const carom_context_desc *desc)
{
    const demo_hits *hits = t->rows++ ? &t->hits : &t->expected;
    const particles *p = &t->particles;
    carom_error err = {0};
    carom_mesh *mesh = open_mesh(desc, t->data, &err);
    printf("%-8s %-38.38s ", backend, device);
    if (!mesh) {
        printf("refused: %s\n", err.message);
        t->rows -= hits == &t->expected;
        return;
    }
    uint64_t done = 0, count;
    int ok = sweep_piece(mesh, p, hits, 0, &count); /* once more: the first launch compiles, uploads, wakes threads */
    const double start = seconds_now();
    for (; ok && done < p->count && (done == 0 || seconds_now() - start < patience); done += count)
        ok = sweep_piece(mesh, p, hits, done, &count);
    const double seconds = seconds_now() - start;
    carom_mesh_destroy(mesh);
    ok = ok && same_bits(&t->expected, hits, done);
    printf("%12.4g %10llu  %s", (double)done / seconds, count_hits(hits, done), ok ? "yes" : "NO");
    if (done < p->count)
        printf(" (slow: first %llu only)", (unsigned long long)done);
    putchar('\n');
    fflush(stdout);
    t->ok &= ok;
}

static void run_cpus(table *t)
{
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU;
    for (int isa = CAROM_ISA_SCALAR; isa <= CAROM_ISA_NEON; isa++) {
        desc.isa = (carom_isa)isa;
        if (carom_isa_available(desc.isa))
            run_row(t, "cpu", carom_isa_name(desc.isa), &desc);
    }
}

static void run_devices(table *t)
{
    static carom_device_info devices[DEVICES_MAX];
    carom_context_desc desc = carom_context_desc_default();
    carom_error err = {0};
    uint32_t count = 0;
    devices[0].size = sizeof devices[0];
    desc.backend = CAROM_BACKEND_OPENCL;
    if (!carom_has_opencl())
        printf("OpenCL: this build has none\n");
    else if (carom_device_list(devices, DEVICES_MAX, &count, &err) != CAROM_OK || count == 0)
        printf("OpenCL: no device%s%s\n", err.message[0] ? ": " : "", err.message);
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        char number[16], name[sizeof devices[i].name + 16];
        snprintf(number, sizeof number, "%u", devices[i].index);
        snprintf(name, sizeof name, "%s: %s", number, devices[i].name);
        desc.device = number;
        run_row(t, "opencl", name, &desc);
    }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static int write_csv(const char *directory, const demo_hits *h, uint64_t count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/hits.csv", directory);
    FILE *file = fopen(path, "w");
    if (!file)
        return !cli_refuse(EXIT_WORK, "%s: cannot be written", path);
    fputs("particle,triangle,state,t,x,y,z,nx,ny,nz,feature\n", file);
    for (uint64_t i = 0; i < count; i++) {
        const float *p = h->point + 3 * i, *n = h->normal + 3 * i;
        if (h->triangle[i] >= 0)
            fprintf(file, "%llu,%d,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n", (unsigned long long)i,
                    (int)h->triangle[i], carom_state_name((carom_state)h->state[i]), (double)h->t[i], (double)p[0],
                    (double)p[1], (double)p[2], (double)n[0], (double)n[1], (double)n[2],
                    carom_feature_name((carom_feature)h->feature[i]));
    }
    const int bad = ferror(file);
    if (fclose(file) != 0 || bad)
        return !cli_refuse(EXIT_WORK, "%s: cannot be written", path);
    printf("\nwrote %s: %llu hits\n", path, count_hits(h, count));
    return 1;
}

typedef struct options {
    const char *mesh, *directory;
    uint64_t particles;
    demo_view view;
} options;

static int run(const options *o, const mesh_data *data)
{
    carom_error err = {0};
    carom_mesh_info info = {.size = sizeof info};
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU; /* bounds and picture are the same on every backend */
    carom_mesh *mesh = open_mesh(&desc, data, &err);
    if (!mesh || carom_mesh_get_info(mesh, &info, &err) != CAROM_OK)
        return !cli_refuse(EXIT_WORK, "%s", err.message);
    const demo_hits expected = demo_hits_alloc(o->particles), hits = demo_hits_alloc(o->particles);
    table t = {data, make_particles(&info, o->particles), expected, hits, 0, 1};
    printf("%s\n%llu triangles, %llu particles over the time from 0 to 1\n", o->mesh,
           (unsigned long long)data->triangle_count, (unsigned long long)o->particles);
    printf("\n%-8s %-38s %12s %10s  %s\n", "backend", "device", "queries/s", "hits", "same bits");
    run_cpus(&t);
    run_devices(&t);
    t.ok &= write_csv(o->directory, &t.expected, o->particles);
    t.ok &= demo_picture(mesh, &o->view, o->directory);
    carom_mesh_destroy(mesh);
    return t.ok;
}

static int parse(int argc, char **argv, options *o)
{
    int ok = 1, c;
    char end;
    unsigned long long n = 1000000;
    demo_view *v = &o->view;
    *v = (demo_view){{0, 1, 0}, {0, 0, 1}, 800, 600};
    while (ok && (c = getopt(argc, argv, "n:s:f:u:")) != -1) {
        float *axis = c == 'f' ? v->forward : v->up;
        if (c == 'n')
            ok = sscanf(optarg, "%llu%c", &n, &end) == 1 && n > 0 && n <= UINT32_MAX;
        else if (c == 's')
            ok = sscanf(optarg, "%dx%d%c", &v->width, &v->height, &end) == 2 && v->width > 0 && v->width <= 8192 &&
                 v->height > 0 && v->height <= 8192;
        else
            ok = c != '?' && sscanf(optarg, "%f,%f,%f%c", &axis[0], &axis[1], &axis[2], &end) == 3;
    }
    o->particles = n;
    o->mesh = argv[optind];
    o->directory = ok && argc - optind == 2 ? argv[optind + 1] : NULL;
    return o->directory != NULL;
}

int main(int argc, char **argv)
{
    options o;
    mesh_data data;
    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "usage: carom_demo [-n PARTICLES] [-s WIDTHxHEIGHT] [-f VIEW,DIRECTION,XYZ] [-u UP,X,YZ] MESH "
                        "DIRECTORY\n");
        return EXIT_USAGE;
    }
    if (mesh_import(o.mesh, &data) != EXIT_DONE)
        return EXIT_USAGE;
    const int ok = run(&o, &data);
    mesh_free(&data);
    return ok ? EXIT_DONE : EXIT_WORK;
}
