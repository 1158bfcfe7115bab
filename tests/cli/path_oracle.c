/* SPDX-License-Identifier: MIT */
/* path_oracle SEED PATHS POINTS: a random scene and its true answers, for the test of carom bake path. Writes mesh.off,
 * paths.csv and, with POINTS > 0 in each path, paths.npy; then first.csv, all.csv and any.csv as exact mode has to
 * answer, without points and normals. Each segment is asked of the exact reference by itself. */
#include "carom/carom.h"
#include "reference/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 12, TRIANGLES = 16, POINTS_MAX = 40 };

typedef struct scene {
    float vertices[3 * VERTICES];
    uint32_t indices[3 * TRIANGLES];
    ref_mesh mesh;
    uint64_t random;
} scene;

typedef struct polyline {
    uint64_t id;
    uint32_t count;
    float point[POINTS_MAX][3], radius[POINTS_MAX];
} polyline;

typedef struct answers {
    FILE *first, *all, *any;
} answers;

static uint32_t below(scene *s, uint32_t count)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((s->random >> 32) * count >> 32);
}

static FILE *create(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file) {
        perror(name);
        exit(1);
    }
    return file;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* Multiples of a quarter, so that contacts at the ends of segments and ties of triangles are common. */
static float quarter(scene *s)
{
    return (float)below(s, 17) * 0.25f - 1.0f;
}

static void make_mesh(scene *s)
{
    for (int i = 0; i < 3 * VERTICES; i++)
        s->vertices[i] = quarter(s);
    for (int i = 0; i < 3 * TRIANGLES; i++)
        s->indices[i] = below(s, VERTICES);
    s->mesh = (ref_mesh){.vertices = s->vertices, .indices = s->indices, .triangle_count = TRIANGLES};
    FILE *out = create("mesh.off");
    fprintf(out, "OFF\n%d %d 0\n", VERTICES, TRIANGLES);
    for (int i = 0; i < VERTICES; i++)
        fprintf(out, "%.9g %.9g %.9g\n", (double)s->vertices[3 * i], (double)s->vertices[3 * i + 1],
                (double)s->vertices[3 * i + 2]);
    for (int i = 0; i < TRIANGLES; i++)
        fprintf(out, "3 %u %u %u\n", s->indices[3 * i], s->indices[3 * i + 1], s->indices[3 * i + 2]);
    fclose(out);
}

/* A point on the surface, one that is there already, or any. */
static void make_point(scene *s, polyline *p, uint32_t i)
{
    const uint32_t kind = below(s, 8);
    for (int k = 0; k < 3; k++)
        p->point[i][k] = kind < 4 ? quarter(s) * 2.0f : (float)below(s, 1u << 24) * 0x1p-22f - 1.0f;
    if (kind == 6)
        memcpy(p->point[i], &s->vertices[3 * below(s, VERTICES)], sizeof p->point[i]);
    if (kind == 7 && i > 0)
        memcpy(p->point[i], p->point[i - 1], sizeof p->point[i]);
    if (below(s, 400) == 0)
        p->point[i][below(s, 3)] = below(s, 2) ? NAN : -INFINITY;
}

/* An id of its own: ascending in steps, or scattered. */
static void make_path(scene *s, uint64_t number, uint32_t points, polyline *p)
{
    static const float radii[] = {0.0f, 0.25f, 0.5f, 0.3f, 0.125f};
    const uint64_t scattered = (number * 0x9E3779B97F4A7C15) >> 1;
    p->id = points > 0 ? number : number % 64 < 32 ? 3 * number : scattered | UINT64_C(1) << 62;
    p->count = points > 0 ? points : 1 + below(s, below(s, 3) ? 4 : POINTS_MAX);
    for (uint32_t i = 0; i < p->count; i++) {
        make_point(s, p, i);
        p->radius[i] = points > 0 ? 0.25f : radii[below(s, 5)];
        if (points == 0 && below(s, 500) == 0)
            p->radius[i] = i + 1 < p->count && below(s, 2) ? -1.0f : NAN;
    }
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* A path of one point is the segment from the point to itself. */
static uint32_t segments_of(const polyline *p)
{
    return p->count > 1 ? p->count - 1 : 1;
}

static int is_valid(const polyline *p)
{
    int valid = 1;
    for (uint32_t i = 0; i < p->count; i++) {
        for (int k = 0; k < 3; k++)
            valid &= isfinite(p->point[i][k]) != 0;
        valid &= i == segments_of(p) || (isfinite(p->radius[i]) && p->radius[i] >= 0.0f);
    }
    return valid;
}

static void write_hit(FILE *out, const polyline *p, uint32_t segment, const ref_mesh_hit *hit)
{
    fprintf(out, "%llu,%u,%.9g,%d,%s,%s\n", (unsigned long long)p->id, segment, (double)hit->t, hit->triangle,
            carom_state_name((carom_state)hit->state), carom_feature_name((carom_feature)hit->feature));
}

/* Returns 0 if the reference does not know one of the segments. */
static int find_hits(const scene *s, const polyline *p, ref_mesh_list *lists)
{
    int known = 1;
    for (uint32_t i = 0; i < segments_of(p) && known; i++) {
        ref_sweep_case c = {.radius = (double)p->radius[i]};
        memcpy(c.center, p->point[i], sizeof c.center);
        memcpy(c.velocity, p->point[p->count > 1 ? i + 1 : 0], sizeof c.velocity);
        memcpy(c.w, p->point[i], sizeof c.w);
        known = ref_mesh_all(&s->mesh, &c, 1.0f, &ref_mesh_no_options, &lists[i]) == NULL;
    }
    return known;
}

static void write_answers(const polyline *p, const ref_mesh_list *lists, const answers *out)
{
    int hits = 0;
    const int valid = is_valid(p);
    for (uint32_t i = 0; i < segments_of(p) && valid; i++)
        for (size_t k = 0; k < lists[i].count; k++) {
            if (hits++ == 0)
                write_hit(out->first, p, i, &lists[i].hits[k]);
            write_hit(out->all, p, i, &lists[i].hits[k]);
        }
    fprintf(out->any, valid ? "%llu,%d\n" : "%llu,\n", (unsigned long long)p->id, hits > 0);
    if (hits > 0)
        return;
    fprintf(out->first, "%llu,-1,inf,-1,%s,\n", (unsigned long long)p->id, valid ? "miss" : "invalid");
    fprintf(out->all, "%llu,-1,inf,-1,%s,\n", (unsigned long long)p->id, valid ? "miss" : "invalid");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void write_npy_header(FILE *out, unsigned long long paths, uint32_t points)
{
    char text[118] = "";
    memset(text, ' ', sizeof text);
    const int n = snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu, %u, 3), }",
                           paths, points);
    text[n] = ' ';
    text[sizeof text - 1] = '\n';
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, out);
    fwrite(text, 1, sizeof text, out);
}

static void write_path(const polyline *p, FILE *csv, FILE *npy)
{
    for (uint32_t i = 0; i < p->count; i++) {
        fprintf(csv, "%llu,%.9g,%.9g,%.9g", (unsigned long long)p->id, (double)p->point[i][0], (double)p->point[i][1],
                (double)p->point[i][2]);
        fprintf(csv, npy ? "\n" : ",%.9g\n", (double)p->radius[i]);
        if (npy)
            fwrite(p->point[i], sizeof(float), 3, npy);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    static const char names[] = "path,segment,u,triangle,state,feature\n";
    scene s = {.random = strtoull(argv[1], NULL, 10)};
    const uint64_t paths = strtoull(argv[2], NULL, 10);
    const uint32_t points = (uint32_t)strtoul(argv[3], NULL, 10);
    const answers out = {create("first.csv"), create("all.csv"), create("any.csv")};
    FILE *csv = create("paths.csv"), *npy = points > 0 ? create("paths.npy") : NULL;
    make_mesh(&s);
    fputs(names, out.first);
    fputs(names, out.all);
    fputs("path,hit\n", out.any);
    fputs(npy ? "path,x,y,z\n" : "path,x,y,z,radius\n", csv);
    if (npy)
        write_npy_header(npy, paths, points);
    for (uint64_t i = 0; i < paths;) {
        static polyline p;
        ref_mesh_list lists[POINTS_MAX] = {0};
        make_path(&s, i, points, &p);
        if (find_hits(&s, &p, lists)) { /* else another one takes its place */
            write_path(&p, csv, npy);
            write_answers(&p, lists, &out);
            i++;
        }
        for (int k = 0; k < POINTS_MAX; k++)
            free(lists[k].hits);
    }
    const int failed = fclose(out.first) | fclose(out.all) | fclose(out.any) | fclose(csv) | (npy ? fclose(npy) : 0);
    return failed ? 1 : 0;
}
