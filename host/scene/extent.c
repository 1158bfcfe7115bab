/* SPDX-License-Identifier: MIT */
/* The extent of a scene's corners in the world: their largest coordinate's power of two, by which fast mode
 * scales, whether all are finite, and a box for each instance. A scene has too many corners to visit. The box of a
 * node, mapped, bounds those below it, so only nodes are entered that may hold a larger one. */
#include <float.h>
#include <math.h>

#include "scene.h"

/* The search of one instance's hierarchy. */
typedef struct extent_search {
    const carom_mesh *mesh;
    const mesh_instance *instance;
    float largest; /* coordinate that was found, of all instances so far */
    int is_refused;
    int32_t triangle; /* of a corner that is not finite */
    int corner;
} extent_search;

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static void begin_box(caromi_world_box *box)
{
    for (int k = 0; k < 3; k++) {
        box->lower[k] = INFINITY;
        box->upper[k] = -INFINITY;
    }
}

/* Grows a box by that of a child, mapped as cpu/scene/map.h does. */
static void add_child(const mesh_instance *at, const caromi_node_rows *node, int slot, caromi_world_box *box)
{
    for (int k = 0; k < 3; k++) {
        double low[3], high[3];
        for (int axis = 0; axis < 3; axis++) {
            const double less = (double)node->lower[axis][slot] - 0x1p-149,
                         more = (double)node->upper[axis][slot] + 0x1p-149, m = at->of_extreme_box[k][axis];
            low[axis] = m * (m >= 0 ? less : more);
            high[axis] = m * (m >= 0 ? more : less);
        }
        const float lower = (float)(((low[0] + low[1]) + low[2]) + at->map[k][3]),
                    upper = (float)(((high[0] + high[1]) + high[2]) + at->map[k][3]);
        box->lower[k] = lower < box->lower[k] ? lower : box->lower[k];
        box->upper[k] = upper > box->upper[k] ? upper : box->upper[k];
    }
}

/* Grows a box by the corners of a leaf. */
static void add_leaf(const carom_mesh *mesh, const mesh_instance *at, int reference, caromi_world_box *box)
{
    const caromi_leaf_rows leaf = caromi_leaf_at(mesh, reference);
    for (int slot = 0; slot < mesh->view.width && leaf.triangle[slot] >= 0; slot++)
        for (int corner = 0; corner < 3; corner++) {
            float world[3];
            caromi_map_corner(at, caromi_corner(mesh, (uint32_t)leaf.triangle[slot], corner), world);
            for (int k = 0; k < 3; k++) {
                box->lower[k] = world[k] < box->lower[k] ? world[k] : box->lower[k];
                box->upper[k] = world[k] > box->upper[k] ? world[k] : box->upper[k];
            }
        }
}

/* The box of an instance: around its root's children. */
static void find_box(const carom_mesh *mesh, const mesh_instance *at, caromi_world_box *box)
{
    begin_box(box);
    if (at->root < 0) {
        add_leaf(mesh, at, at->root, box);
        return;
    }
    const caromi_node_rows node = caromi_node_at(mesh, (uint64_t)at->root);
    for (int slot = 0; slot < mesh->view.width; slot++)
        if (node.child[slot] != 0)
            add_child(at, &node, slot, box);
}

/* ---- the largest coordinate -------------------------------------------------------------------------------------- */

/* Whether corners in a box are finite, and none has a larger exponent than `largest`. */
static int is_within(const caromi_world_box *box, float largest)
{
    int exponent, found;
    float most = 0;
    for (int k = 0; k < 3; k++)
        most = fmaxf(most, fmaxf(fabsf(box->lower[k]), fabsf(box->upper[k])));
    if (!(most <= FLT_MAX) || largest == 0)
        return most == 0;
    (void)frexpf(most, &exponent);
    (void)frexpf(largest, &found);
    return exponent <= found;
}

static void search_leaf(extent_search *search, int reference)
{
    const carom_mesh *mesh = search->mesh;
    const caromi_leaf_rows leaf = caromi_leaf_at(mesh, reference);
    for (int slot = 0; slot < mesh->view.width && leaf.triangle[slot] >= 0; slot++)
        for (int corner = 0; corner < 3; corner++) {
            float world[3];
            caromi_map_corner(search->instance, caromi_corner(mesh, (uint32_t)leaf.triangle[slot], corner), world);
            const float most = fmaxf(fabsf(world[0]), fmaxf(fabsf(world[1]), fabsf(world[2])));
            if (isfinite(world[0]) && isfinite(world[1]) && isfinite(world[2])) {
                search->largest = fmaxf(search->largest, most);
            } else if (!search->is_refused) {
                search->is_refused = 1;
                search->triangle = leaf.triangle[slot];
                search->corner = corner;
            }
        }
}

/* Visits the nodes that may change what was found. The depth is that of the hierarchy. */
static void search_below(extent_search *search, int reference)
{
    if (reference < 0) {
        search_leaf(search, reference);
        return;
    }
    const caromi_node_rows node = caromi_node_at(search->mesh, (uint64_t)reference);
    for (int slot = 0; slot < search->mesh->view.width && !search->is_refused; slot++) {
        caromi_world_box box;
        if (node.child[slot] == 0)
            continue;
        begin_box(&box);
        add_child(search->instance, &node, slot, &box);
        if (!is_within(&box, search->largest))
            search_below(search, node.child[slot]);
    }
}

carom_status caromi_scene_extent(const carom_scene *scene, const caromi_pose *pose, caromi_world_box *boxes,
                                 float *largest, carom_error *err)
{
    *largest = 0;
    for (uint32_t i = 0; i < pose->count; i++) {
        const carom_mesh *mesh = caromi_mesh_of_instance(scene, pose->number[i]);
        extent_search search = {.mesh = mesh, .instance = &pose->instances[1 + i], .largest = *largest};
        find_box(mesh, search.instance, &boxes[i]);
        if (!is_within(&boxes[i], search.largest))
            search_below(&search, search.instance->root);
        if (search.is_refused)
            return caromi_fail_argument(err, "instance %u: vertex %u is not finite in the world", pose->number[i],
                                        mesh->indices[3 * (size_t)search.triangle + (size_t)search.corner]);
        *largest = search.largest;
    }
    return CAROM_OK;
}
