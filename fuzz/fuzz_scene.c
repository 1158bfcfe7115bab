/* SPDX-License-Identifier: MIT */
/* A scene of a few instances that move, and every query of meshes that the registry has, in exact mode: the same bits
 * from both backends, and the reference's answers. */
#include "mesh.h"

#include <math.h>
#include <string.h>

/* Triangles of an instance, instances, and their triangles. */
enum { OWN = 2, INSTANCES = 3, TRIANGLES = OWN * INSTANCES, VERTICES = 3 * OWN, MAP = 12 };
_Static_assert((int)TRIANGLES <= (int)FUZZ_MESH_TRIANGLES, "answers hold all of them");
enum { NUMBERS = 9 + 9 * TRIANGLES + 3 * INSTANCES };

typedef struct request {
    float own[INSTANCES][3 * VERTICES], map[INSTANCES][MAP];
    float world[9 * TRIANGLES]; /* corners of all instances at time 0 */
    query_instance instances[INSTANCES];
    size_t count;
    ref_sweep_case ball;
    int ends; /* its velocity is where its centre is at time 1, and w the centre */
    float t_max, max_distance;
    ref_mesh_options options;
} request;

static const uint32_t indices[3 * TRIANGLES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};

/* ---- bytes as a request ------------------------------------------------------------------------------------------ */

/* An instance is shifted, so that corners in the world are sums. Half of them have the first one's triangles. */
static void next_instance(fuzz_source *s, request *q, size_t i)
{
    const unsigned flags = fuzz_byte(s);
    float shift[3] = {0};
    if (flags & 1)
        fuzz_vector(s, shift);
    if (i > 0 && flags & 2)
        memcpy(q->own[i], q->own[0], sizeof q->own[i]);
    else
        for (size_t v = i == 0 ? 3 : 0; v < VERTICES; v++)
            fuzz_vector(s, &q->own[i][3 * v]);
    for (size_t k = 0; k < 3; k++) {
        q->map[i][5 * k] = 1;
        q->map[i][4 * k + 3] = shift[k];
        for (size_t v = 0; v < VERTICES; v++)
            q->world[9 * OWN * i + 3 * v + k] = (float)((double)q->own[i][3 * v + k] + (double)shift[k]);
    }
    q->instances[i].first = (uint32_t)(OWN * i);
    q->instances[i].end = (uint32_t)(OWN * (i + 1));
    if (flags & 4)
        fuzz_vector(s, q->instances[i].velocity);
    for (size_t k = 0; k < 3 && flags & 8; k++) /* beside the sphere */
        q->instances[i].velocity[k] = q->ball.velocity[k];
}

static float next_limit(fuzz_source *s)
{
    const float any = fuzz_byte(s) % 2 ? fabsf(fuzz_float(s)) : HUGE_VALF;
    return isnan(any) ? 0.0f : any; /* NaN is an error of the call */
}

static void next_request(fuzz_source *s, request *q)
{
    memset(q, 0, sizeof *q);
    const unsigned options = fuzz_byte(s);
    fuzz_sweep_case(s, &q->ball);
    q->ends = (options & 0x80) != 0;
    for (int k = 0; k < 3; k++)
        q->ball.w[k] = q->ends ? q->ball.center[k] : 0;
    q->count = 1 + options % INSTANCES;
    q->options = (ref_mesh_options){UINT32_MAX, (int)(options >> 2 & 1), (int)((options >> 3) % 3)};
    q->t_max = next_limit(s);
    if (q->ends && q->t_max > 1.0f)
        q->t_max = 1.0f;
    q->max_distance = next_limit(s);
    memcpy(q->own[0], q->ball.p, sizeof q->ball.p);
    for (size_t i = 0; i < q->count; i++)
        next_instance(s, q, i);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static _Noreturn void give_up(const char *what, int backend, const request *q)
{
    float n[NUMBERS] = {0};
    const size_t corners = 9 * OWN * q->count;
    for (size_t k = 0; k < 3; k++) {
        n[k] = q->ball.center[k];
        n[4 + k] = q->ball.velocity[k];
    }
    n[3] = (float)q->ball.radius;
    n[7] = q->t_max;
    n[8] = q->max_distance;
    memcpy(&n[9], q->world, corners * sizeof *n);
    for (size_t i = 0; i < q->count; i++)
        memcpy(&n[9 + corners + 3 * i], q->instances[i].velocity, 3 * sizeof *n);
    fuzz_fail(what, fuzz_backend_name(backend), n, 9 + corners + 3 * q->count);
}

static int is_finite(const float *numbers, size_t count)
{
    int finite = 1;
    for (size_t i = 0; i < count; i++)
        finite = finite && isfinite(numbers[i]);
    return finite;
}

/* Whether the library takes the scene; else it says so. */
static int is_scene(const request *q)
{
    int finite = is_finite(q->world, 9 * OWN * q->count);
    for (size_t i = 0; i < q->count; i++)
        finite = finite && is_finite(q->own[i], 3 * VERTICES) && is_finite(q->map[i], MAP) &&
                 is_finite(q->instances[i].velocity, 3);
    return finite;
}

/* NULL: a number is not finite, and the library says so. */
static carom_scene *make_scene(int backend, const request *q)
{
    carom_mesh *meshes[INSTANCES] = {NULL};
    carom_scene *scene = NULL;
    carom_error err = {0};
    carom_status status = CAROM_OK;
    const float *velocity = q->instances[0].velocity;
    for (size_t i = 0; i < q->count && status == CAROM_OK; i++) {
        const carom_mesh_desc desc = {.size = sizeof desc,
                                      .vertices = carom_xyz(q->own[i]),
                                      .vertex_count = VERTICES,
                                      .indices = carom_uints_of(indices),
                                      .triangle_count = OWN};
        status = carom_mesh_create(fuzz_context(backend), &desc, &meshes[i], &err);
    }
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = meshes,
                                   .mesh_count = q->count,
                                   .instance_count = q->count,
                                   .pose = {.size = sizeof desc.pose,
                                            .map = q->map[0],
                                            .velocity = carom_strided(velocity, sizeof q->instances[0])}};
    if (status == CAROM_OK)
        status = carom_scene_create(fuzz_context(backend), &desc, &scene, &err);
    for (size_t i = 0; i < INSTANCES; i++)
        carom_mesh_destroy(meshes[i]); /* the scene keeps them */
    if (is_scene(q))
        fuzz_check_call(status, &err, NULL);
    else if (status != CAROM_ERROR_INVALID_ARGUMENT)
        give_up("a number that is not finite is taken", backend, q);
    return scene;
}

/* Triangles get their numbers among those of all instances. */
static void number_all(const query_type *query, const int32_t *instance, uint64_t count, fuzz_mesh_answer *to)
{
    for (int f = 0; f < query_field_count(query); f++)
        if (query->fields[f].kind == QUERY_TRIANGLE || query->fields[f].kind == QUERY_PATCH)
            for (uint64_t i = 0; i < count; i++)
                if (instance[i] >= 0)
                    ((int32_t *)to->field[f])[i] += OWN * instance[i];
}

static void ask(const query_type *query, carom_scene *scene, const query_sphere *of, int ends, fuzz_mesh_answer *to)
{
    int32_t instance[FUZZ_MESH_TRIANGLES];
    memset(instance, 0xff, sizeof instance);
    fuzz_mesh_ask(query, carom_scene_mesh(scene), of, ends, instance, to);
    number_all(query, instance, query->mesh.is_list ? to->stored : 1, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    request q;
    fuzz_mesh_answer answers[FUZZ_BACKENDS][QUERY_MESH_JUDGED];
    char what[512];
    next_request(&s, &q);
    const query_sphere sphere = {.mesh = {q.world, indices, OWN * q.count, NULL},
                                 .instances = q.instances,
                                 .instance_count = q.count,
                                 .sphere = q.ball,
                                 .t_max = q.t_max,
                                 .max_distance = q.max_distance,
                                 .options = q.options};
    for (int b = 0; b < FUZZ_BACKENDS; b++) {
        carom_scene *made = make_scene(b, &q);
        if (!made)
            return 0;
        for (int i = 0; i < QUERY_MESH_JUDGED; i++)
            ask(query_meshes[i], made, &sphere, q.ends, &answers[b][i]);
        carom_scene_destroy(made);
    }
    /* Contacts of instances that touch are not those of the merged mesh (docs/scenes.md, section 1). */
    for (int i = 0; i < QUERY_MESH_JUDGED; i++)
        if (query_meshes[i] != &query_mesh_contacts &&
            !fuzz_mesh_judge(query_meshes[i], &sphere, &answers[0][i], what, sizeof what))
            give_up(what, 0, &q);
    if (memcmp(answers[0], answers[1], sizeof answers[0]))
        give_up("two backends differ in a bit", 1, &q);
    return 0;
}
