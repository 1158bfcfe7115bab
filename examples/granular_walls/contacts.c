/* SPDX-License-Identifier: MIT */
/* The contact list of grains with a wall, and the history of contacts. */
#include "walls.h"

/* The contact list of `count` grains, or of those that `select` names, of so many in all. */
int touch(lab *my, carom_mesh *wall, const float *center, uint64_t count, const uint32_t *select, uint64_t elements,
          touches *now)
{
    carom_list_totals totals;
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc,
                                                     .count = count,
                                                     .accuracy = CAROM_ACCURACY_EXACT,
                                                     .select = {select, select ? sizeof *select : 0},
                                                     .elements = elements},
                                           .center = carom_xyz(center),
                                           .radius = {&radius, CAROM_REPEAT}};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = MOST,
                                     .query = now->query,
                                     .distance = now->distance,
                                     .point = carom_xyz_out(now->point[0]),
                                     .normal = carom_xyz_out(now->normal[0]),
                                     .patch = now->patch,
                                     .totals = &totals};
    if (carom_mesh_contacts(wall, &desc, &list, NULL, &my->err) != CAROM_OK)
        return 0;
    now->count = totals.stored; /* less than totals.total where the list is too short */
    for (uint64_t i = 0; select && i < now->count; i++)
        now->query[i] = select[now->query[i]]; /* a history belongs to a grain, not to its place in a selection */
    return 1;
}

/* History: which contacts go on. */
int match(lab *my, const touches *before, touches *now)
{
    const carom_contact_records old = {sizeof old,
                                       before->count,
                                       before->query,
                                       before->patch,
                                       carom_xyz(before->point[0]),
                                       NULL},
                                new = {sizeof new, now->count, now->query, now->patch, carom_xyz(now->point[0]), NULL};
    const carom_contact_match out = {.size = sizeof out, .previous = now->previous};
    return carom_contacts_match(my->context, &old, &new, &out, &my->err) == CAROM_OK;
}
