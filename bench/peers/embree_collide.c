/* SPDX-License-Identifier: MIT */
/* Embree on a cloud: rtcCollide of a scene of boxes with itself. The scene is built anew each time, in the quality that
 * takes least in all. */
#include "libraries.h"

#include <embree3/rtcore.h>
#include <stdlib.h>

#include "bench/plain_pairs.h"

typedef struct cloud {
    peer_task task;
    RTCDevice device;
} cloud;

static void bound_sphere(const struct RTCBoundsFunctionArguments *args)
{
    const cloud *c = args->geometryUserPtr;
    const float r = pairs_reach(&c->task, args->primID), x = pairs_middle(&c->task, 0, args->primID),
                y = pairs_middle(&c->task, 1, args->primID), z = pairs_middle(&c->task, 2, args->primID);

    *args->bounds_o = (struct RTCBounds){
        .lower_x = x - r, .lower_y = y - r, .lower_z = z - r, .upper_x = x + r, .upper_y = y + r, .upper_z = z + r};
}

/* Each pair comes twice. */
static void take(void *user, struct RTCCollision *found, unsigned count)
{
    const cloud *c = user;

    for (unsigned i = 0; i < count; i++)
        if (found[i].primID0 < found[i].primID1)
            pairs_ask(&c->task, found[i].primID0, found[i].primID1);
}

/* A scene without them is not committed; no ray is shot. */
static void no_intersection(const struct RTCIntersectFunctionNArguments *args)
{
    (void)args;
}

static void no_occlusion(const struct RTCOccludedFunctionNArguments *args)
{
    (void)args;
}

static void run_collide(void *state, size_t count)
{
    cloud *c = state;
    RTCScene scene = rtcNewScene(c->device);
    RTCGeometry shape = rtcNewGeometry(c->device, RTC_GEOMETRY_TYPE_USER);

    pairs_begin(&c->task);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_LOW);
    rtcSetGeometryUserPrimitiveCount(shape, (unsigned)count);
    rtcSetGeometryUserData(shape, c);
    rtcSetGeometryBoundsFunction(shape, bound_sphere, NULL);
    rtcSetGeometryIntersectFunction(shape, no_intersection);
    rtcSetGeometryOccludedFunction(shape, no_occlusion);
    rtcCommitGeometry(shape);
    rtcAttachGeometry(scene, shape);
    rtcReleaseGeometry(shape);
    rtcCommitScene(scene);
    rtcCollide(scene, scene, take, c);
    rtcReleaseScene(scene);
}

static void close_cloud(void *state)
{
    cloud *c = state;

    rtcReleaseDevice(c->device);
    free(c);
}

static void *open_cloud(const peer_task *task)
{
    cloud *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->task = *task;
    c->device = rtcNewDevice("threads=1");
    if (c->device != NULL)
        return c;
    free(c);
    return NULL;
}

const peer *embree_collide_peer(size_t index)
{
    static const peer all[] = {
        {"Embree", "embree-collide-" RTC_VERSION_STRING, PEER_CLOUD, open_cloud, run_collide, close_cloud},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : NULL;
}
