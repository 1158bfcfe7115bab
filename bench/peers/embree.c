/* SPDX-License-Identifier: MIT */
/* Embree on a mesh: bare rays, also among instances, user geometry, point queries, the build. The bare ray is the way
 * of the centre without its sphere: a floor, not the same work. User geometry is what Embree offers for swept spheres:
 * boxes blown up by the largest radius at build time, and a callback that solves a triangle. */
#include "libraries.h"

#include <embree3/rtcore.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain_closest.h"
#include "bench/plain_sweep.h"

typedef struct session {
    peer_task task;
    RTCDevice device;
    RTCScene scene;
    float largest_radius;
    float (*corners)[9]; /* of each triangle, side by side */
    uint8_t touches;     /* has the point query found a triangle? */
} session;

/* What the callback learns about the query on its way. */
typedef struct sweep_context {
    struct RTCIntersectContext base; /* must be first */
    float radius;
} sweep_context;

static void close_session(void *state)
{
    session *s = state;

    if (s->scene != NULL)
        rtcReleaseScene(s->scene);
    rtcReleaseDevice(s->device);
    free(s->corners);
    free(s);
}

static session *open_device(const peer_task *task)
{
    session *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->task = *task;
    s->device = rtcNewDevice("threads=1");
    if (s->device == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

/* Embree reads 16 bytes for the last vertex, so the vertices are copied into room of its own. */
static RTCScene build_mesh(RTCDevice device, const peer_mesh *mesh)
{
    RTCGeometry shape = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void *vertices = rtcSetNewGeometryBuffer(shape, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float),
                                             mesh->vertex_count);
    void *indices = rtcSetNewGeometryBuffer(shape, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(uint32_t),
                                            mesh->triangle_count);
    RTCScene scene = rtcNewScene(device);
    if (vertices != NULL && indices != NULL) {
        memcpy(vertices, mesh->vertices, 3 * sizeof(float) * mesh->vertex_count);
        memcpy(indices, mesh->indices, 3 * sizeof(uint32_t) * mesh->triangle_count);
        rtcCommitGeometry(shape);
        rtcAttachGeometry(scene, shape);
    }
    rtcReleaseGeometry(shape);
    rtcCommitScene(scene);
    return scene;
}

static RTCScene build_triangles(const session *s)
{
    const peer_mesh all = {s->task.vertices, s->task.indices, s->task.vertex_count, s->task.triangle_count};
    return build_mesh(s->device, &all);
}

/* A scene of a mesh, placed by an instance's map. */
static void attach_instance(RTCDevice device, RTCScene to, RTCScene mesh, const float *map)
{
    RTCGeometry instance = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_INSTANCE);
    rtcSetGeometryInstancedScene(instance, mesh);
    rtcSetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, map);
    rtcCommitGeometry(instance);
    rtcAttachGeometry(to, instance);
    rtcReleaseGeometry(instance);
}

static RTCScene build_instances(RTCDevice device, const peer_instances *list)
{
    RTCScene *meshes = calloc(list->mesh_count, sizeof *meshes), scene = rtcNewScene(device);
    for (size_t i = 0; meshes != NULL && i < list->mesh_count; i++)
        meshes[i] = build_mesh(device, &list->meshes[i]);
    for (size_t i = 0; meshes != NULL && i < list->count; i++)
        attach_instance(device, scene, meshes[list->mesh[i]], list->map + 12 * i);
    for (size_t i = 0; meshes != NULL && i < list->mesh_count; i++)
        rtcReleaseScene(meshes[i]); /* the instances keep it */
    free(meshes);
    rtcCommitScene(scene);
    return scene;
}

static void *open_build(const peer_task *task)
{
    return open_device(task);
}

static void run_build(void *state, size_t count)
{
    const session *s = state;

    (void)count; /* a build is of all triangles */
    rtcReleaseScene(build_triangles(s));
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

static const float *corner(const peer_task *t, unsigned triangle, int k)
{
    return t->vertices + 3 * (size_t)t->indices[3 * (size_t)triangle + (size_t)k];
}

static void bound_triangle(const struct RTCBoundsFunctionArguments *args)
{
    const session *s = args->geometryUserPtr;
    const float *p0 = corner(&s->task, args->primID, 0), *p1 = corner(&s->task, args->primID, 1),
                *p2 = corner(&s->task, args->primID, 2);
    float low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = fminf(fminf(p0[k], p1[k]), p2[k]) - s->largest_radius;
        high[k] = fmaxf(fmaxf(p0[k], p1[k]), p2[k]) + s->largest_radius;
    }
    *args->bounds_o = (struct RTCBounds){low[0], low[1], low[2], 0.0f, high[0], high[1], high[2], 0.0f};
}

/* Does the box of the way so far miss that of the triangle? Embree's boxes are made for the largest sphere. */
static int is_apart(const struct RTCRay *ray, float r, const float *p)
{
    const float start[3] = {ray->org_x, ray->org_y, ray->org_z};
    const float way[3] = {ray->dir_x, ray->dir_y, ray->dir_z};
    int apart = 0;
    for (int k = 0; k < 3; k++) {
        const float end = start[k] + way[k] * ray->tfar;
        const float low = start[k] < end ? start[k] : end, high = start[k] < end ? end : start[k];
        const float small = p[k] < p[k + 3] ? p[k] : p[k + 3], large = p[k] < p[k + 3] ? p[k + 3] : p[k];
        apart |= ((p[k + 6] < small ? p[k + 6] : small) > high + r) | ((p[k + 6] > large ? p[k + 6] : large) < low - r);
    }
    return apart;
}

static plain_v3 vector(const float *p)
{
    return (plain_v3){p[0], p[1], p[2]};
}

static void sweep_triangle(const struct RTCIntersectFunctionNArguments *args)
{
    const session *s = args->geometryUserPtr;
    const sweep_context *context = (const void *)args->context;
    struct RTCRay *ray = &((struct RTCRayHit *)(void *)args->rayhit)->ray; /* one at a time: args->N is 1 */
    struct RTCHit *hit = &((struct RTCRayHit *)(void *)args->rayhit)->hit;
    if (!args->valid[0])
        return;
    const float *p = s->corners[args->primID];
    float time = ray->tfar;
    if (is_apart(ray, context->radius, p))
        return;
    if (plain_sweep((plain_v3){ray->org_x, ray->org_y, ray->org_z}, context->radius,
                    (plain_v3){ray->dir_x, ray->dir_y, ray->dir_z}, vector(p), vector(p + 3), vector(p + 6), &time)) {
        ray->tfar = time > 0.0f ? time : -HUGE_VALF; /* contact at the start: nothing is before it */
        hit->primID = args->primID;
        hit->geomID = args->geomID;
    }
}

static void *open_ray(const peer_task *task)
{
    session *s = open_device(task);

    if (s != NULL)
        s->scene = build_triangles(s);
    return s;
}

static void *open_instances(const peer_task *task)
{
    session *s = open_device(task);

    if (s != NULL)
        s->scene = build_instances(s->device, task->instances);
    return s;
}

static void *open_user(const peer_task *task)
{
    session *s = open_device(task);

    if (s == NULL)
        return NULL;
    s->corners = malloc(task->triangle_count * sizeof *s->corners);
    if (s->corners == NULL) {
        close_session(s);
        return NULL;
    }
    for (size_t i = 0; i < 3 * task->triangle_count; i++)
        memcpy(s->corners[i / 3] + 3 * (i % 3), task->vertices + 3 * (size_t)task->indices[i], 3 * sizeof(float));
    for (size_t i = 0; i < task->count; i++)
        s->largest_radius = fmaxf(s->largest_radius, task->in[6][i]);
    RTCGeometry shape = rtcNewGeometry(s->device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(shape, (unsigned)task->triangle_count);
    rtcSetGeometryUserData(shape, s);
    rtcSetGeometryBoundsFunction(shape, bound_triangle, NULL);
    rtcSetGeometryIntersectFunction(shape, sweep_triangle);
    rtcCommitGeometry(shape);
    s->scene = rtcNewScene(s->device);
    rtcAttachGeometry(s->scene, shape);
    rtcReleaseGeometry(shape);
    rtcCommitScene(s->scene);
    return s;
}

/* Bare rays and user geometry are asked alike: triangles do not read the radius. */
static void run_rays(void *state, size_t count)
{
    const session *s = state;
    const float *const *in = s->task.in;
    sweep_context context;

    rtcInitIntersectContext(&context.base);
    for (size_t i = 0; i < count; i++) {
        struct RTCRayHit query = {
            .ray = {.org_x = in[0][i],
                    .org_y = in[1][i],
                    .org_z = in[2][i],
                    .dir_x = in[3][i],
                    .dir_y = in[4][i],
                    .dir_z = in[5][i],
                    .tfar = s->task.window,
                    .mask = ~0u},
            .hit = {.geomID = RTC_INVALID_GEOMETRY_ID},
        };
        context.radius = in[6][i];
        rtcIntersect1(s->scene, &context.base, &query);
        s->task.time[i] = query.hit.geomID != RTC_INVALID_GEOMETRY_ID ? fmaxf(query.ray.tfar, 0.0f) : HUGE_VALF;
    }
}

/* ---- touching ---------------------------------------------------------------------------------------------------- */

/* The search ends with the first triangle that is near enough: its radius becomes 0. */
static bool touch_triangle(struct RTCPointQueryFunctionArguments *args)
{
    session *s = args->userPtr;
    const peer_task *t = &s->task;
    struct RTCPointQuery *q = args->query;
    const plain_v3 center = {q->x, q->y, q->z};
    const plain_v3 nearest = plain_closest(center, vector(corner(t, args->primID, 0)),
                                           vector(corner(t, args->primID, 1)), vector(corner(t, args->primID, 2)));
    const plain_v3 away = plain_sub(center, nearest);

    if (!(plain_dot(away, away) <= q->radius * q->radius))
        return false;
    s->touches = 1;
    q->radius = 0.0f;
    return true;
}

static void run_touch(void *state, size_t count)
{
    session *s = state;
    const float *const *in = s->task.in;
    struct RTCPointQueryContext context;

    rtcInitPointQueryContext(&context);
    for (size_t i = 0; i < count; i++) {
        struct RTCPointQuery query = {.x = in[0][i], .y = in[1][i], .z = in[2][i], .radius = in[6][i]};
        s->touches = 0;
        rtcPointQuery(s->scene, &query, &context, touch_triangle, s);
        s->task.overlap[i] = s->touches;
    }
}

const peer *embree_peer(size_t index)
{
    static const peer all[] = {
        {"Embree", "embree-ray-" RTC_VERSION_STRING, PEER_MESH, open_ray, run_rays, close_session},
        {"Embree", "embree-instances-" RTC_VERSION_STRING, PEER_INSTANCES, open_instances, run_rays, close_session},
        {"Embree", "embree-user-geometry-" RTC_VERSION_STRING, PEER_MESH, open_user, run_rays, close_session},
        {"Embree", "embree-point-query-" RTC_VERSION_STRING, PEER_TOUCH, open_ray, run_touch, close_session},
        {"Embree", "embree-" RTC_VERSION_STRING, PEER_BUILD, open_build, run_build, close_session},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : NULL;
}
