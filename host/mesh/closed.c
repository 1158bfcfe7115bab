/* SPDX-License-Identifier: MIT */
/* Checks that a mesh is closed: an even number of triangles meets at every edge, or as many in one direction as in the
 * other. */
#include "mesh.h"
#include "open_edges.h"
#include "side.h"

/* Counts the edges that keep the mesh from being closed. */
static void count_boundary(void *user, const caromi_edge_group *group)
{
    caromi_boundary_edges *open = user;
    open->odd += (group->forward + group->back) & 1;
    open->unbalanced += group->forward != group->back;
}

/* Counts the edges of the triangles whose mask is not 0. masks: [triangles] or NULL. */
static carom_status sort_and_count(carom_mesh *mesh, const int32_t *masks, carom_error *err)
{
    caromi_edge_sort edges;
    CHECK(caromi_edge_sort_make(mesh, (caromi_selection){masks, -1}, &edges, err));
    mesh->boundary_edges = (caromi_boundary_edges){.known = 1};
    caromi_edge_sort_visit(&edges, count_boundary, &mesh->boundary_edges);
    caromi_edge_sort_free(&edges);
    return CAROM_OK;
}

/* Counts the edges of the triangles whose mask is not 0. */
static carom_status find_boundary(carom_mesh *mesh, carom_error *err)
{
    int32_t *masks = NULL;
    if (mesh->masks != NULL)
        CHECK(caromi_masks_of_triangles(mesh, &masks, err));
    const carom_status status = sort_and_count(mesh, masks, err);
    caromi_free(mesh->context, masks);
    return status;
}

/* Fails if the mesh is open in the sense of the sign. */
carom_status caromi_check_closed(carom_mesh *mesh, carom_sign sign, carom_error *err)
{
    if (!mesh->boundary_edges.known && mesh->info.triangle_count > 0)
        CHECK(find_boundary(mesh, err));
    const caromi_boundary_edges *open = &mesh->boundary_edges;
    if (sign == CAROM_SIGN_PARITY && open->odd > 0)
        return caromi_fail_argument(
            err,
            "the mesh is open: %llu edges have an odd number of triangles; sign parity needs a closed "
            "mesh, or allow_open",
            (unsigned long long)open->odd);
    if (sign == CAROM_SIGN_WINDING && open->unbalanced > 0)
        return caromi_fail_argument(
            err,
            "the mesh is open: %llu edges are not met as often in one direction as in the other; sign "
            "winding needs a closed mesh, or allow_open",
            (unsigned long long)open->unbalanced);
    return CAROM_OK;
}
