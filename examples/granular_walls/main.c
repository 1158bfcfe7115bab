/* SPDX-License-Identifier: MIT */
/* granular_walls: the contact list of grains with walls that rest, move, turn and repeat, with positions in binary64,
 * and with a selection of grains. */
#include "walls.h"

#include <stdio.h>

#include "../dem_floor.h"

/* Positions in binary64, far from 0: subtract a local origin first, then round. */
static int far_positions(lab *my)
{
    const double floor_z = 1e6, grain[] = {1e6, 1e6, 1e6 + 0.46875}, origin[] = {1e6, 1e6, floor_z};
    float local[3], rounded[3];
    touches now;
    for (int k = 0; k < 3; k++) {
        local[k] = (float)(grain[k] - origin[k]);
        rounded[k] = (float)grain[k];
    }
    const int ok = touch(my, my->floor, local, 1, NULL, 0, &now);
    if (ok)
        printf("binary64: depth %g; with positions rounded first %g\n", depth_of(&now, 0),
               (double)radius - ((double)rounded[2] - floor_z));
    return ok;
}

/* Contacts of some grains, and others in the next step: of 4 grains first 1 and 3, then 1, 2 and 3. */
static int selections(lab *my)
{
    const float center[] = {-3, 0, 0.375f, -1, 0, 0.375f, 1, 0, 0.375f, 3, 0, 0.375f};
    const uint32_t first[] = {1, 3}, second[] = {1, 2, 3}; /* ascending */
    touches before, now;
    const int ok = touch(my, my->floor, center, 2, first, 4, &before) &&
                   touch(my, my->floor, center, 3, second, 4, &now) && match(my, &before, &now);
    for (uint64_t i = 0; ok && i < now.count; i++)
        printf("%s grain %d %s", i ? "," : "select:", (int)now.query[i], now.previous[i] < 0 ? "new" : "goes on");
    printf("\n");
    return ok;
}

int main(void)
{
    lab my = {0};
    const int ok = carom_context_create(NULL, &my.context, &my.err) == CAROM_OK &&
                   make_floor(my.context, 20, &my.floor, &my.err) == CAROM_OK && fixed_wall(&my) && moving_wall(&my) &&
                   turning_wall(&my) && periodic_wall(&my) && periodic_pairs(&my) && far_positions(&my) &&
                   selections(&my);
    if (!ok)
        fprintf(stderr, "%s\n", my.err.message);
    carom_mesh_destroy(my.floor);
    carom_context_destroy(my.context);
    return ok ? 0 : 1;
}
