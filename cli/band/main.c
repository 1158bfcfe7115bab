/* SPDX-License-Identifier: MIT */
/* carom_band_bench [--quick] [MESH...]: signed narrow bands of three spacings, by carom and by OpenVDB, one thread
 * each, in turns; and how far the distances of both are from the truth. Two tori of the bench's, then the files.
 *
 * Times are of the processor, from arrays of vertices and indices: for carom the build of the hierarchy, the search for
 * open edges, the distances of all nodes and their signs by parity; for OpenVDB meshToLevelSet. The truth is a loop
 * over all triangles in binary64; signs are compared with carom's, which are exact. */
#include "bench/peers/band.h"

#include "bench/common.h"
#include "bench/scenes.h"
#include "carom/carom.h"
#include "cli/base/base.h"
#include "cli/import/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, SAMPLES = 2000, SLABS = 512, WIDTH = 3 };

typedef struct sample {
    int node[3];
    float openvdb, carom;
    double truth;
} sample;

typedef struct band_run {
    band_task task;
    uint8_t allow_open; /* the mesh is */
    carom_context *context;
    carom_lattice lattice;
    float *distances; /* of SLABS slabs */
    sample samples[SAMPLES];
} band_run;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- carom ------------------------------------------------------------------------------------------------------- */

static void require(carom_status status, const carom_error *err)
{
    if (status != CAROM_OK)
        bench_die("%s", err->message);
}

static void take_samples(band_run *r, uint64_t begin, uint64_t end)
{
    const uint64_t *n = r->lattice.dims;
    for (int i = 0; i < SAMPLES; i++) {
        const uint64_t x = (uint64_t)r->samples[i].node[0], y = (uint64_t)r->samples[i].node[1];
        const uint64_t z = (uint64_t)r->samples[i].node[2];
        if (z >= begin && z < end)
            r->samples[i].carom = r->distances[((z - begin) * n[1] + y) * n[0] + x];
    }
}

static void run_carom(band_run *r)
{
    const float band = (float)(WIDTH * r->lattice.spacing);
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(r->task.vertices),
                                  .vertex_count = r->task.vertex_count,
                                  .indices = carom_uints_of(r->task.indices),
                                  .triangle_count = r->task.triangle_count};
    const carom_mesh_distance_result out = {.size = sizeof out, .distance = r->distances};
    carom_mesh *mesh;
    carom_error err;
    require(carom_mesh_create(r->context, &desc, &mesh, &err), &err);
    for (uint64_t z = 0; z < r->lattice.dims[2]; z += SLABS) {
        const uint64_t end = z + SLABS < r->lattice.dims[2] ? z + SLABS : r->lattice.dims[2];
        const carom_mesh_distance_desc ask = {.batch = {.size = sizeof ask, .begin = z, .count = end},
                                              .lattice = r->lattice,
                                              .sign = CAROM_SIGN_PARITY,
                                              .allow_open = r->allow_open,
                                              .band = &band};
        const carom_status status = carom_mesh_distance(mesh, &ask, &out, NULL, &err);
        if (status != CAROM_OK && strstr(err.message, "the mesh is open") != NULL)
            r->allow_open = 1;
        else
            require(status, &err);
        take_samples(r, z, end);
    }
    carom_mesh_destroy(mesh);
}

/* ---- truth ------------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Squared, from p to the triangle: C. Ericson, Real-Time Collision Detection, 5.1.5. */
static double to_triangle(const double p[3], const double a[3], const double b[3], const double c[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3], way[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
        ap[k] = p[k] - a[k];
        bp[k] = p[k] - b[k];
        cp[k] = p[k] - c[k];
    }
    const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp);
    const double d6 = dot(ac, cp), va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0.0, w = 0.0;
    if (d1 <= 0.0 && d2 <= 0.0) {
    } else if (d3 >= 0.0 && d4 <= d3) {
        v = 1.0;
    } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        v = d1 / (d1 - d3);
    } else if (d6 >= 0.0 && d5 <= d6) {
        w = 1.0;
    } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1.0 - w;
    } else {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }
    for (int k = 0; k < 3; k++)
        way[k] = ap[k] - v * ab[k] - w * ac[k];
    return dot(way, way);
}

/* Triangles in the outer loop: they go through memory once. */
static void find_truth(band_run *r)
{
    static double at[SAMPLES][3], least[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        least[i] = HUGE_VAL;
        for (int k = 0; k < 3; k++)
            at[i][k] = (double)carom_lattice_coordinate(&r->lattice, k, (uint64_t)r->samples[i].node[k]);
    }
    for (size_t t = 0; t < r->task.triangle_count; t++) {
        double corner[3][3];
        for (int v = 0; v < 3; v++)
            for (int k = 0; k < 3; k++)
                corner[v][k] = (double)r->task.vertices[3 * r->task.indices[3 * t + (size_t)v] + (size_t)k];
        for (int i = 0; i < SAMPLES; i++)
            least[i] = fmin(least[i], to_triangle(at[i], corner[0], corner[1], corner[2]));
    }
    for (int i = 0; i < SAMPLES; i++)
        r->samples[i].truth = sqrt(least[i]);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Random nodes of OpenVDB's band. */
static void choose_samples(band_run *r, void *openvdb)
{
    uint64_t state = 1;
    for (int i = 0; i < SAMPLES;) {
        sample *s = &r->samples[i];
        for (int k = 0; k < 3; k++)
            s->node[k] = (int)(bench_bits(&state) % r->lattice.dims[k]);
        i += openvdb_band_value(openvdb, s->node, &s->openvdb);
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, by_size);
    return list[count / 2];
}

static void report(band_run *r, const char *name, int n, double *carom, double *openvdb, int rounds)
{
    double ratios[ROUNDS], ours = 0.0, theirs = 0.0;
    int signs = 0;
    for (int i = 0; i < rounds; i++)
        ratios[i] = openvdb[i] / carom[i];
    for (int i = 0; i < SAMPLES; i++) {
        const sample *s = &r->samples[i];
        ours = fmax(ours, fabs(fabs((double)s->carom) - s->truth));
        theirs = fmax(theirs, fabs(fabs((double)s->openvdb) - s->truth));
        signs += (s->carom < 0) != (s->openvdb < 0);
    }
    printf("| %s%s | %zu | %d^3 | %.3f | %.3f | %.1f | %.1e | %.1e | %d |\n", name, r->allow_open ? " (open)" : "",
           r->task.triangle_count, n, median(carom, rounds), median(openvdb, rounds), median(ratios, rounds),
           ours / r->lattice.spacing, theirs / r->lattice.spacing, signs);
    fflush(stdout);
}

/* n nodes along each axis of a cube of 1.1 times the longest side. */
static void place(band_run *r, const mesh_scene *m, int n)
{
    double side = 0.0;
    for (int k = 0; k < 3; k++)
        side = fmax(side, m->high[k] - m->low[k]);
    side *= 1.1;
    r->lattice.spacing = side / (n - 1);
    for (int k = 0; k < 3; k++) {
        r->lattice.origin[k] = (m->low[k] + m->high[k] - side) / 2.0;
        r->lattice.dims[k] = (uint64_t)n;
    }
    r->task = (band_task){.vertices = m->vertices,
                          .indices = m->indices,
                          .vertex_count = m->vertex_count,
                          .triangle_count = m->triangle_count,
                          .spacing = r->lattice.spacing,
                          .half_width = WIDTH};
    memcpy(r->task.origin, r->lattice.origin, sizeof r->task.origin);
}

static void measure(band_run *r, const mesh_scene *m, const char *name, int n, int rounds)
{
    double carom[ROUNDS], openvdb[ROUNDS];
    place(r, m, n);
    r->distances = malloc((size_t)n * (size_t)n * SLABS * sizeof *r->distances);
    void *state = openvdb_band_open(&r->task);
    if (r->distances == NULL || state == NULL)
        bench_die("no memory for %d^3 nodes around %s", n, name);
    openvdb_band_run(state);
    choose_samples(r, state);
    r->allow_open = 0;
    run_carom(r);
    for (int i = 0; i < rounds; i++) {
        double start = processor_seconds();
        run_carom(r);
        carom[i] = processor_seconds() - start;
        start = processor_seconds();
        openvdb_band_run(state);
        openvdb[i] = processor_seconds() - start;
    }
    find_truth(r);
    report(r, name, n, carom, openvdb, rounds);
    openvdb_band_close(state);
    free(r->distances);
}

/* For the mesh readers. */
int cli_refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

static mesh_scene scene_of_file(const char *path)
{
    mesh_data data;
    if (mesh_import(path, &data) != EXIT_DONE)
        exit(EXIT_USAGE);
    const bench_mesh mesh = {.vertices = data.xyz,
                             .indices = data.indices,
                             .vertex_count = (size_t)data.vertex_count,
                             .triangle_count = (size_t)data.triangle_count};
    mesh_scene m = mesh_scene_copy(&mesh);
    mesh_free(&data);
    return m;
}

static void measure_all(band_run *r, mesh_scene *m, const char *name, int quick)
{
    mesh_scene_set_box(m);
    for (int n = quick ? 64 : 256; n <= (quick ? 64 : 512); n *= 2)
        measure(r, m, name, n, quick ? 1 : ROUNDS);
    mesh_scene_free(m);
}

int main(int argc, char **argv)
{
    static const int rings[] = {187, 708}; /* and as many sides: 70,000 and a million triangles */
    const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    static band_run r;
    carom_context_desc desc = carom_context_desc_default();
    carom_error err;
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    require(carom_context_create(&desc, &r.context, &err), &err);
    printf("carom %s, OpenVDB %s\n", carom_version(), openvdb_band_version);
    puts("| mesh | triangles | nodes | carom, s | OpenVDB, s | ratio | carom's error, spacings | OpenVDB's error | "
         "OpenVDB's wrong signs of 2000 |\n|---|---|---|---|---|---|---|---|---|");
    for (int i = 0; i < (quick ? 1 : 2); i++) {
        mesh_scene m = mesh_scene_make(rings[i], rings[i]);
        measure_all(&r, &m, "torus", quick);
    }
    for (int i = 1 + quick; i < argc; i++) {
        const char *name = strrchr(argv[i], '/');
        mesh_scene m = scene_of_file(argv[i]);
        measure_all(&r, &m, name != NULL ? name + 1 : argv[i], quick);
    }
    carom_context_destroy(r.context);
    return 0;
}
