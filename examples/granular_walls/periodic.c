/* SPDX-License-Identifier: MIT */
/* A periodic box: walls that repeat, and pairs across its end. */
#include "walls.h"

#include <stdio.h>
#include <string.h>

/* A box that repeats along x with the length 16. A post stands at x = -7.75, so the mesh has it at 8.25 too, within
 * reach of grains before x = 8. Both copies have the same patch. A grain leaves at 8 and comes back at -8. */
int periodic_wall(lab *my)
{
    const double length = 16;
    const float corner[] = {-7.75f, -1, 0, -7.75f, 1, 0, -7.75f, 0, 3, 8.25f, -1, 0, 8.25f, 1, 0, 8.25f, 0, 3};
    const uint32_t patch[] = {7, 7};
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(corner),
                                  .vertex_count = 6,
                                  .triangle_count = 2,
                                  .patches = carom_uints_of(patch)};
    const double x[] = {7.875, 8.0625}; /* of the grain, in two steps */
    carom_mesh *post = NULL;
    touches before = {0}, now;
    int ok = carom_mesh_create(my->context, &desc, &post, &my->err) == CAROM_OK;
    int wrapped[2] = {0, 0};
    float at[2];
    for (int step = 0; ok && step < 2; step++) {
        wrapped[0] = x[step] >= length / 2 ? -1 : 0; /* new = old + wrapped * length */
        at[0] = (float)(x[step] + wrapped[0] * length);
        const float center[] = {at[0], 0, 1};
        for (uint64_t i = 0; i < before.count; i++)
            before.point[i][0] += (float)(wrapped[before.query[i]] * length); /* moves with its grain */
        ok = touch(my, post, center, 1, NULL, 0, &now) && match(my, &before, &now);
        if (ok)
            printf("periodic: grain at %g, ", (double)at[0]);
        if (ok && now.count == 0)
            printf("no contact\n");
        else if (ok)
            printf("depth %g at x = %g, %s\n", depth_of(&now, 0), (double)now.point[0][0],
                   now.previous[0] < 0 ? "new" : "goes on");
        before = now;
    }
    carom_mesh_destroy(post);
    return ok;
}

/* Pairs of grains across the end of the box: an earlier list is found again with its shifts corrected. */
int periodic_pairs(lab *my)
{
    const int8_t wrapped[2] = {-1, 0}; /* grain 0 leaves at 8 between the lists */
    const float earlier[] = {7.875f, 0, 1, -7.375f, 0, 1}, later[] = {-7.875f, 0, 1, -7.125f, 0, 1};
    int32_t a, b;
    int8_t shift[3], before_shift[3];
    int64_t previous;
    carom_list_totals totals;
    carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = 2},
                             .center = carom_xyz(earlier),
                             .radius = {&radius, CAROM_REPEAT},
                             .period = {16, 0, 0}};
    carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = 1, .a = &a, .b = &b, .shift = shift, .totals = &totals};
    int ok = carom_cloud_list(my->context, &desc, &list, NULL, &my->err) == CAROM_OK && totals.stored == 1;
    if (!ok)
        return 0;
    const int32_t before_a = a, before_b = b;
    const carom_cloud_pairs_before before = {sizeof before, 1, &before_a, &before_b, before_shift};
    memcpy(before_shift, shift, sizeof shift);
    before_shift[0] = (int8_t)(before_shift[0] + wrapped[a] - wrapped[b]);
    desc.center = carom_xyz(later);
    list.previous = &previous, list.before = &before;
    printf("pairs: shift %d is now %d, ", shift[0], before_shift[0]);
    ok = carom_cloud_list(my->context, &desc, &list, NULL, &my->err) == CAROM_OK && totals.stored == 1;
    if (ok)
        printf("the list has %d, %s\n", shift[0], previous < 0 ? "new" : "goes on");
    return ok;
}
