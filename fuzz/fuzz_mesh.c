/* SPDX-License-Identifier: MIT */
/* A mesh of a few triangles, and every query of meshes that the registry has. */
#include "mesh.h"

#include <math.h>
#include <string.h>

enum { TRIANGLES = 4, VERTICES = 3 * TRIANGLES, NUMBERS = 9 + 3 * VERTICES };

typedef struct request {
    float vertices[3 * VERTICES];
    uint32_t indices[VERTICES];
    size_t triangle_count;
    ref_sweep_case ball; /* its triangle is the first */
    int ends;            /* its velocity is where its centre is at time 1, and w the centre */
    float t_max, max_distance;
    ref_mesh_options options;
} request;

/* ---- bytes as a request ------------------------------------------------------------------------------------------ */

enum { AGAIN, FAN, MIRRORED, NEW, KINDS }; /* of a triangle, beside the one before */

static void next_triangle(fuzz_source *s, request *q, size_t i)
{
    const uint32_t at = (uint32_t)(3 * i);
    const unsigned flags = fuzz_byte(s), kind = flags % KINDS, turn = flags / KINDS % 3;
    for (uint32_t v = 0; v < 3; v++)
        q->indices[at + v] = at + v;
    for (uint32_t v = 0; v < 3 && kind != NEW; v++) /* corners are shared */
        q->indices[at + v] = q->indices[at - 3 + (v + turn) % 3];
    if (kind == FAN || kind == NEW)
        for (uint32_t v = kind == NEW ? 0 : 2; v < 3; v++) {
            q->indices[at + v] = at + v;
            fuzz_vector(s, &q->vertices[3 * (at + v)]);
        }
    if (kind == MIRRORED) { /* a parallelogram with the one before */
        q->indices[at + 2] = at + 2;
        for (size_t k = 0; k < 3; k++)
            q->vertices[3 * (at + 2) + k] = q->vertices[3 * q->indices[at] + k] +
                                            q->vertices[3 * q->indices[at + 1] + k] -
                                            q->vertices[3 * q->indices[at - 3 + (2 + turn) % 3] + k];
    }
}

/* The end of the window: none, the contact with the first triangle, a number next to it, any. */
static float next_window(fuzz_source *s, const ref_sweep_case *c)
{
    const unsigned kind = fuzz_byte(s) % 5;
    ref_sweep_answer first;
    if (kind == 0 || kind == 1)
        return HUGE_VALF;
    if (kind == 2) {
        const float any = fabsf(fuzz_float(s));
        return isnan(any) ? 0.0f : any; /* NaN is an error of the call */
    }
    ref_sweep(c, &first);
    if (!(first.t_first >= 0.0f))
        return 0.0f;
    return kind == 3 ? first.t_first : nextafterf(first.t_first, 0.0f);
}

/* The largest distance: none, that of the first triangle, a number next to it, any. */
static float next_reach(fuzz_source *s, const ref_sweep_case *c)
{
    const unsigned kind = fuzz_byte(s) % 5;
    ref_closest_answer first;
    if (kind == 0)
        return HUGE_VALF;
    if (kind == 1) {
        const float any = fabsf(fuzz_float(s));
        return isnan(any) ? 0.0f : any;
    }
    ref_closest(c, &first);
    return kind == 2 ? first.distance : nextafterf(first.distance, kind == 3 ? 0.0f : HUGE_VALF);
}

static void next_request(fuzz_source *s, request *q)
{
    memset(q, 0, sizeof *q);
    const unsigned options = fuzz_byte(s);
    fuzz_sweep_case(s, &q->ball);
    memset(q->ball.w, 0, sizeof q->ball.w);
    q->ends = (options & 0x80) != 0;
    if (q->ends)
        memcpy(q->ball.w, q->ball.center, sizeof q->ball.w);
    q->triangle_count = 1 + options % TRIANGLES;
    q->options = (ref_mesh_options){UINT32_MAX, (int)(options >> 2 & 1), (int)((options >> 3) % 3)};
    q->t_max = next_window(s, &q->ball);
    if (q->ends && q->t_max > 1.0f)
        q->t_max = 1.0f;
    memcpy(q->vertices, q->ball.p, sizeof q->ball.p);
    for (uint32_t v = 0; v < 3; v++)
        q->indices[v] = v;
    for (size_t i = 1; i < q->triangle_count; i++)
        next_triangle(s, q, i);
    q->max_distance = next_reach(s, &q->ball); /* last: older inputs keep their meaning */
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static _Noreturn void give_up(const char *what, int backend, const request *q)
{
    float n[NUMBERS] = {0};
    const ref_mesh mesh = {q->vertices, q->indices, q->triangle_count, NULL};
    for (size_t k = 0; k < 3; k++) {
        n[k] = q->ball.center[k];
        n[4 + k] = q->ball.velocity[k];
    }
    n[3] = (float)q->ball.radius;
    n[7] = q->t_max;
    n[8] = q->max_distance;
    for (size_t i = 0; i < q->triangle_count; i++) {
        float p[3][3];
        ref_mesh_triangle(&mesh, i, p);
        memcpy(&n[9 + 9 * i], p, sizeof p);
    }
    fuzz_fail(what, fuzz_backend_name(backend), n, 9 + 9 * q->triangle_count);
}

/* NULL: a vertex is not finite, and the library says so. */
static carom_mesh *make_mesh(int backend, const request *q)
{
    const float *v = q->vertices;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(v),
                                  .vertex_count = VERTICES,
                                  .indices = {q->indices, sizeof(uint32_t)},
                                  .triangle_count = q->triangle_count};
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    int finite = 1;
    for (size_t i = 0; i < 3 * VERTICES; i++) /* what is not used is zero */
        finite = finite && isfinite(v[i]);
    const carom_status status = carom_mesh_create(fuzz_context(backend), &desc, &mesh, &err);
    if (finite)
        fuzz_check_call(status, &err, NULL);
    else if (status != CAROM_ERROR_INVALID_ARGUMENT)
        give_up("a vertex that is not finite is taken", backend, q);
    return mesh;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    request q;
    fuzz_mesh_answer answers[FUZZ_BACKENDS][QUERY_MESH_JUDGED];
    char what[512];
    next_request(&s, &q);
    const query_sphere sphere = {.mesh = {q.vertices, q.indices, q.triangle_count, NULL},
                                 .sphere = q.ball,
                                 .t_max = q.t_max,
                                 .max_distance = q.max_distance,
                                 .options = q.options};
    for (int b = 0; b < FUZZ_BACKENDS; b++) {
        carom_mesh *made = make_mesh(b, &q);
        if (!made)
            return 0;
        for (int i = 0; i < QUERY_MESH_JUDGED; i++)
            fuzz_mesh_ask(query_meshes[i], made, &sphere, q.ends, NULL, &answers[b][i]);
        carom_mesh_destroy(made);
    }
    /* A graze that begins at the end of the window is beyond the reference, not beyond the comparison. */
    for (int i = 0; i < QUERY_MESH_JUDGED; i++)
        if (!fuzz_mesh_judge(query_meshes[i], &sphere, &answers[0][i], what, sizeof what))
            give_up(what, 0, &q);
    if (memcmp(answers[0], answers[1], sizeof answers[0]))
        give_up("two backends differ in a bit", 1, &q);
    return 0;
}
