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
    float largest, bound; /* the largest coordinate found, of all instances so far; bound_of() it */
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

/* Grows a box by that of a child, mapped as kernels/scene_map.h does. */
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

/* Around the children of the instance's root. */
void caromi_scene_box(const carom_mesh *mesh, const mesh_instance *at, caromi_world_box *box)
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

/* Above all numbers with the exponent of `largest` or a smaller one; 0 if there is none so far. */
static float bound_of(float largest)
{
    int exponent;
    (void)frexpf(largest, &exponent);
    return largest == 0 ? 0 : ldexpf(1, exponent);
}

/* Whether corners in a box are finite, and none has a larger exponent than what was found. */
static int is_within(const caromi_world_box *box, float bound)
{
    float most = 0;
    for (int k = 0; k < 3; k++) {
        const float low = fabsf(box->lower[k]), high = fabsf(box->upper[k]); /* never NaN */
        most = low > most ? low : most;
        most = high > most ? high : most;
    }
    return most < bound || most == 0;
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
                if (most > search->largest) {
                    search->largest = most;
                    search->bound = bound_of(most);
                }
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
        if (!is_within(&box, search->bound))
            search_below(search, node.child[slot]);
    }
}

carom_status caromi_scene_extent(const carom_scene *scene, const caromi_pose *pose, const caromi_world_box *boxes,
                                 float *largest, uint32_t *of, carom_error *err)
{
    extent_search search = {.largest = *largest, .bound = bound_of(*largest)};
    for (uint32_t i = 0; i < pose->count; i++) {
        const float before = search.largest;
        if (is_within(&boxes[i], search.bound))
            continue;
        search.mesh = caromi_mesh_of_instance(scene, pose->number[i]);
        search.instance = &pose->instances[1 + i];
        search_below(&search, search.instance->root);
        if (search.is_refused)
            return caromi_fail_argument(err, "instance %u: vertex %u is not finite in the world", pose->number[i],
                                        search.mesh->indices[3 * (size_t)search.triangle + (size_t)search.corner]);
        *of = search.largest > before ? i : *of;
    }
    *largest = search.largest;
    return CAROM_OK;
}

/* ---- the leaves -------------------------------------------------------------------------------------------------- */

int caromi_scene_leaf_boxes(const carom_scene *scene, caromi_box_visitor visit, void *user)
{
    for (uint32_t i = 0; i < scene->pose.count; i++) {
        const carom_mesh *mesh = caromi_mesh_of_instance(scene, scene->pose.number[i]);
        const mesh_instance *at = &scene->pose.instances[1 + i];
        caromi_world_box box;
        if (at->root < 0) {
            caromi_scene_box(mesh, at, &box);
            if (!visit(user, &box))
                return 0;
            continue;
        }
        for (uint64_t n = 0; n < mesh->info.node_count; n++) {
            const caromi_node_rows node = caromi_node_at(mesh, n);
            for (int slot = 0; slot < mesh->view.width; slot++) {
                if (node.child[slot] >= 0)
                    continue;
                begin_box(&box);
                add_child(at, &node, slot, &box);
                if (!visit(user, &box))
                    return 0;
            }
        }
    }
    return 1;
}
