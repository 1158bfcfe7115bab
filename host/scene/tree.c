/* SPDX-License-Identifier: MIT */
/* The hierarchy over the instances of a scene. Its shape is that of a mesh with one triangle for each instance, from
 * one end of the instance's box to the other. Its leaves become nodes, so a traversal tests instances as it tests
 * nodes. Instances with velocities have a tree of their own, because its nodes need a slower test. */
#include <math.h>
#include <string.h>

#include "scene.h"

/* The instances of one of the two trees, and their mesh. */
typedef struct tree_part {
    uint32_t *list; /* [count] */
    uint32_t count;
    carom_mesh *mesh; /* its triangles are numbered as in `list`; NULL if count is 0 */
} tree_part;

typedef struct tree_build {
    const caromi_pose *pose;
    caromi_scene_tree *tree;
    uint32_t *list; /* [count] instances at rest, then those that move */
    tree_part parts[2];
} tree_build;

static caromi_node_rows node_at(const caromi_scene_tree *tree, uint64_t number)
{
    return caromi_node_rows_of(tree->nodes, tree->width, number);
}

/* ---- build ------------------------------------------------------------------------------------------------------- */

/* Makes the mesh of the boxes of some instances. indices: memory for three numbers each. */
static carom_status make_mesh(const tree_build *b, carom_context *context, tree_part *part, uint32_t *indices,
                              carom_error *err)
{
    for (uint32_t i = 0; i < part->count; i++) {
        indices[3 * i] = 2 * part->list[i];
        indices[3 * i + 1] = indices[3 * i + 2] = 2 * part->list[i] + 1;
    }
    const float *first = b->pose->boxes->lower;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = {first, first + 1, first + 2, 3 * sizeof *first},
                                  .vertex_count = 2 * (uint64_t)b->pose->count,
                                  .indices = {indices, sizeof *indices},
                                  .triangle_count = part->count};
    return part->count == 0 ? CAROM_OK : caromi_mesh_make(context, &desc, b->tree->width, &part->mesh, err);
}

static int slots_of(const caromi_leaf_rows *leaf, int width)
{
    int slots = 0;
    while (slots < width && leaf->triangle[slots] >= 0)
        slots++;
    return slots;
}

/* Copies a subtree. Returns what refers to it: a node, or an instance. A leaf with several instances becomes a node, as
 * does a root. The depth is that of the hierarchy. */
static int copy_below(tree_build *b, const tree_part *part, int reference, int is_root)
{
    const int width = b->tree->width, number = (int)b->tree->node_count;
    int slots = width;
    caromi_leaf_rows leaf;
    caromi_node_rows from;
    if (reference < 0) {
        leaf = caromi_leaf_at(part->mesh, reference);
        slots = slots_of(&leaf, width);
        if (slots == 1 && !is_root)
            return MESH_INSTANCE + (int)part->list[leaf.triangle[0]];
    } else {
        from = caromi_node_at(part->mesh, (uint64_t)reference);
    }
    const caromi_node_rows to = node_at(b->tree, b->tree->node_count++);
    memset(to.child, 0, (size_t)width * sizeof *to.child);
    for (int slot = 0; slot < slots; slot++)
        if (reference < 0)
            to.child[slot] = MESH_INSTANCE + (int)part->list[leaf.triangle[slot]];
        else if (from.child[slot] != 0)
            to.child[slot] = copy_below(b, part, from.child[slot], 0);
    return number;
}

static carom_status copy_trees(tree_build *b, carom_context *context, carom_error *err)
{
    caromi_scene_tree *tree = b->tree;
    uint64_t most = 0; /* nodes */
    for (int p = 0; p < 2; p++)
        if (b->parts[p].count > 0)
            most += b->parts[p].mesh->info.node_count + b->parts[p].mesh->leaf_count;
    tree->nodes = caromi_alloc(context, most, CAROMI_NODE_BYTES(tree->width));
    if (tree->nodes == NULL)
        return caromi_fail_memory(err, "no memory for the hierarchy over %u instances", b->pose->count);
    for (int p = 0; p < 2; p++) {
        const tree_part *part = &b->parts[p];
        tree->first_moving = tree->node_count;
        if (part->count == 0)
            continue;
        (void)copy_below(b, part, part->mesh->view.frame.root, 1);
        tree->stack = part->mesh->stack > tree->stack ? part->mesh->stack : tree->stack;
    }
    tree->stack += MESH_WIDEST + 1; /* the children of a leaf, and the root of the other tree */
    if (b->parts[1].count == 0)
        return CAROM_OK;
    tree->velocities = caromi_alloc(context, tree->node_count - tree->first_moving,
                                    6 * (size_t)tree->width * sizeof *tree->velocities);
    return tree->velocities != NULL
               ? CAROM_OK
               : caromi_fail_memory(err, "no memory for the velocities of %u instances", b->pose->count);
}

/* Lists the instances of both trees. */
static void divide(tree_build *b)
{
    uint32_t listed = 0;
    for (int p = 0; p < 2; p++) {
        b->parts[p].list = b->list + listed;
        for (uint32_t i = 0; i < b->pose->count; i++)
            if (caromi_is_moving(&b->pose->instances[1 + i]) == p)
                b->list[listed++] = i;
        b->parts[p].count = (uint32_t)(b->list + listed - b->parts[p].list);
    }
}

carom_status caromi_scene_tree_build(carom_context *context, const caromi_pose *pose, int width,
                                     caromi_scene_tree *tree, carom_error *err)
{
    tree_build b = {.pose = pose, .tree = tree, .list = caromi_alloc(context, pose->count, sizeof *b.list)};
    uint32_t *indices = caromi_alloc(context, pose->count, 3 * sizeof *indices);
    carom_status status = CAROM_OK;
    *tree = (caromi_scene_tree){.width = width};
    if (b.list == NULL || indices == NULL)
        status = caromi_fail_memory(err, "no memory for the boxes of %u instances", pose->count);
    else
        divide(&b);
    for (int p = 0; p < 2 && status == CAROM_OK; p++)
        status = make_mesh(&b, context, &b.parts[p], indices, err);
    if (status == CAROM_OK)
        status = copy_trees(&b, context, err);
    for (int p = 0; p < 2; p++)
        if (b.parts[p].mesh != NULL)
            caromi_mesh_end(b.parts[p].mesh);
    caromi_free(context, b.list);
    caromi_free(context, indices);
    if (status == CAROM_OK) {
        caromi_scene_tree_refit(pose, tree);
        tree->built_cost = tree->cost;
    } else {
        caromi_scene_tree_free(context, tree);
    }
    return status;
}

void caromi_scene_tree_free(const carom_context *context, caromi_scene_tree *tree)
{
    caromi_free(context, tree->nodes);
    caromi_free(context, tree->velocities);
    *tree = (caromi_scene_tree){.nodes = NULL};
}

/* ---- boxes and velocities ---------------------------------------------------------------------------------------- */

/* The bounds of a child: its box in the scene's scale, and the velocities along each axis. */
typedef struct tree_bounds {
    float lower[3], upper[3], slowest[3], fastest[3];
    int least; /* number of a triangle */
} tree_bounds;

static float smaller(float a, float b)
{
    return b < a ? b : a;
}

static float larger(float a, float b)
{
    return b > a ? b : a;
}

static tree_bounds empty_bounds(void)
{
    tree_bounds bounds = {.least = INT32_MAX};
    for (int k = 0; k < 3; k++) {
        bounds.lower[k] = bounds.slowest[k] = INFINITY;
        bounds.upper[k] = bounds.fastest[k] = -INFINITY;
    }
    return bounds;
}

/* Scaled as nodes of meshes are; -0 becomes 0. */
static tree_bounds bounds_of_instance(const caromi_pose *pose, uint32_t i)
{
    const mesh_instance *instance = &pose->instances[1 + i];
    const float scale = pose->frame.scale;
    tree_bounds bounds = {.least = instance->base};
    for (int k = 0; k < 3; k++) {
        bounds.lower[k] = pose->boxes[i].lower[k] * scale + 0.0F;
        bounds.upper[k] = pose->boxes[i].upper[k] * scale + 0.0F;
        bounds.slowest[k] = bounds.fastest[k] = instance->velocity[k];
    }
    return bounds;
}

/* Rows of the slowest x y z, then of the fastest, of a node over instances that move; NULL of others. */
static float *velocities_of(const caromi_scene_tree *tree, uint32_t node)
{
    return node < tree->first_moving || tree->velocities == NULL
               ? NULL
               : tree->velocities + 6 * (size_t)tree->width * (node - tree->first_moving);
}

/* The bounds of all that is below a node whose own are set. */
static tree_bounds bounds_of_node(const caromi_scene_tree *tree, uint32_t number)
{
    const caromi_node_rows node = node_at(tree, number);
    const float *velocities = velocities_of(tree, number);
    tree_bounds bounds = empty_bounds();
    for (int slot = 0; slot < tree->width; slot++) {
        if (node.child[slot] == 0)
            continue;
        bounds.least = node.least[slot] < bounds.least ? node.least[slot] : bounds.least;
        for (int k = 0; k < 3; k++) {
            bounds.lower[k] = smaller(bounds.lower[k], node.lower[k][slot]);
            bounds.upper[k] = larger(bounds.upper[k], node.upper[k][slot]);
            if (velocities == NULL)
                continue;
            bounds.slowest[k] = smaller(bounds.slowest[k], velocities[k * tree->width + slot]);
            bounds.fastest[k] = larger(bounds.fastest[k], velocities[(3 + k) * tree->width + slot]);
        }
    }
    return bounds;
}

static double area_of(const tree_bounds *b)
{
    const double x = (double)b->upper[0] - (double)b->lower[0], y = (double)b->upper[1] - (double)b->lower[1],
                 z = (double)b->upper[2] - (double)b->lower[2];
    return x * y + y * z + z * x;
}

/* Sets a slot of a node. */
static void set_slot(const caromi_scene_tree *tree, uint32_t number, int slot, const tree_bounds *bounds)
{
    const caromi_node_rows node = node_at(tree, number);
    float *velocities = velocities_of(tree, number);
    node.least[slot] = bounds->least;
    for (int k = 0; k < 3; k++) {
        node.lower[k][slot] = bounds->lower[k];
        node.upper[k][slot] = bounds->upper[k];
        if (velocities != NULL) {
            velocities[k * tree->width + slot] = node.child[slot] != 0 ? bounds->slowest[k] : 0;
            velocities[(3 + k) * tree->width + slot] = node.child[slot] != 0 ? bounds->fastest[k] : 0;
        }
    }
}

void caromi_scene_tree_refit(const caromi_pose *pose, caromi_scene_tree *tree)
{
    double area = 0, whole = 0;
    for (uint32_t n = tree->node_count; n-- > 0;) { /* a node is before those below it */
        for (int slot = 0; slot < tree->width; slot++) {
            const int child = node_at(tree, n).child[slot];
            const tree_bounds bounds = child == 0 ? empty_bounds()
                                       : child < MESH_INSTANCE
                                           ? bounds_of_node(tree, (uint32_t)child)
                                           : bounds_of_instance(pose, (uint32_t)child - MESH_INSTANCE);
            set_slot(tree, n, slot, &bounds);
            area += child != 0 ? area_of(&bounds) : 0;
        }
        if (n == 0 || n == tree->first_moving) {
            const tree_bounds root = bounds_of_node(tree, n);
            whole += area_of(&root);
        }
    }
    tree->cost = whole > 0 ? (float)(1 + area / whole) : 1;
}
