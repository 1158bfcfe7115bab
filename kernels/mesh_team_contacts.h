/* SPDX-License-Identifier: MIT */
/* Candidates for contacts by teams of work-items (mesh_team.h): as closest points (mesh_team_closest.h), with a limit
 * that stays, and a record for each hit. */
#ifndef CAROM_MESH_TEAM_CONTACTS_H
#define CAROM_MESH_TEAM_CONTACTS_H
#include "mesh_contacts.h"

/* Loads what the steps of a traversal read of a query, less its stack. */
FN void contacts_load_shared(const mesh_run *run, __local const mesh_shared_query *query, int options,
                             contacts_traversal *trav)
{
    closest_load_shared(run, query, options, trav);
    contacts_set_culling(run, trav, options);
}

/* Stores a query that begins its traversal. */
FN void contacts_store_shared(const contacts_traversal *trav, __local mesh_shared_query *query)
{
    closest_store_shared(trav, query);
}

/* The limit stays. */
FN void contacts_update_best(__local mesh_shared_query *query)
{
    (void)query;
}

/* Tests one child of a node. The key is below every limit, and another one for each child. */
FN void contacts_test_child(const mesh_run *run, int slot, int lane, int options)
{
    __local mesh_shared *shared = run->shared;
    contacts_traversal trav;
    contacts_load_shared(run, mesh_query_of(shared, slot), options, &trav);
    G const mesh_node *node = run->nodes + trav.next;
    if (contacts_test_some(&trav, node, lane))
        mesh_mark_child(shared, slot, lane, (u64)lane, node->child[lane]);
}

FN void contacts_node_phase2(const mesh_run *run, int slot, int lane)
{
    mesh_push_child(run, slot, lane);
}
FN void contacts_node_phase3(const mesh_run *run, int slot, int lane)
{
    (void)run, (void)slot, (void)lane;
}

FN void contacts_queue_pair(const mesh_run *run, int slot, int lane)
{
    const int is_marked = (int)(run->shared->slots[slot].marks >> lane & 1);
    mesh_queue_left(run, slot, lane, is_marked, is_marked);
}

/* Records were stored at once. */
FN void contacts_record_phase2(const mesh_run *run, const mesh_step *step)
{
    (void)run, (void)step;
}
FN void contacts_record_phase3(const mesh_run *run, const mesh_step *step)
{
    (void)run, (void)step;
}

/* Defines a search by how it finds a contact. culls: for the searches of CPUs. */
#define CONTACTS_SEARCH(name, find, culls)                                                                             \
    FN void name##_test_triangle(const mesh_run *run, int slot, int lane, int options)                                 \
    {                                                                                                                  \
        closest_test_leaf(run, slot, lane, options, 0);                                                                \
    }                                                                                                                  \
    FN void name##_solve_pair(const mesh_run *run, mesh_step *step, int options)                                       \
    {                                                                                                                  \
        contacts_traversal trav;                                                                                       \
        const closest_group group = closest_load_pair(run, step, options, &trav);                                      \
        contacts_set_culling(run, &trav, options);                                                                     \
        const contacts_found found = find(mesh_leaf_of(run, trav.next), (int)(step->pair % MESH_WIDTH), &trav, &group, \
                                          run->frame.scale, options);                                                  \
        step->state = found.feature;                                                                                   \
        if (group.active && found.within)                                                                              \
            mesh_add_record(run, step, found.distance);                                                                \
    }                                                                                                                  \
    MESH_SEARCH_PHASES(name, contacts_record)
#endif
