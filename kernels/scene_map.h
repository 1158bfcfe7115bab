/* SPDX-License-Identifier: MIT */
/* Boxes and corners of an instance, in the world. A box is mapped by the arithmetic that maps corners, each coordinate
 * at the end that makes it least, or greatest. Every operation rounds, and is monotone in its variables, so no corner
 * leaves the mapped box: docs/scenes.md, section 3. */
#ifndef CAROM_SCENE_MAP_H
#define CAROM_SCENE_MAP_H
#include "mesh_nodes.h"
#include "scene_instance.h"
#include "wide.h"

/* Numbers of LANES triangles of an instance, whose own numbers are `index`. They wrap around: an empty slot has the
 * largest number, or -1. */
#if LANES == 1
#define SCENE_NUMBERS(x) (u32)(x)
#define SCENE_INDICES(x) (vi)(x)
#elif defined(SCENE_ON_DEVICE)
#define SCENE_NUMBERS(x) LANG_CAT(as_uint, LANES)(x)
#define SCENE_INDICES(x) LANG_CAT(as_int, LANES)(x)
#else
typedef u32 scene_numbers __attribute__((vector_size(4 * LANES)));
#define SCENE_NUMBERS(x) (scene_numbers)(x)
#define SCENE_INDICES(x) (vi)(x)
#endif
FN vi scene_number(G const mesh_instance *at, vi index)
{
    return SCENE_INDICES(SCENE_NUMBERS(index) + (u32)at->base);
}

/* The least number that scaling a coordinate can lose. */
#define SCENE_LOST W(0x1p-149)

/* LANES numbers, by halves in binary64. */
typedef struct scene_rows {
    LANG_ALIGNED real x[LANES], y[LANES], z[LANES];
} scene_rows;

FN void scene_store(scene_rows *rows, v3 p)
{
    v_store(rows->x, p.x);
    v_store(rows->y, p.y);
    v_store(rows->z, p.z);
}

FN w3 scene_load(const scene_rows *rows, int first)
{
    return w3_of(w_load(rows->x + first), w_load(rows->y + first), w_load(rows->z + first));
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* One row of the map at the corner of each box where it is least; `less` and `more` change roles where it is
 * greatest. */
FN wf scene_wide_extreme(G const wide_real row[3], wide_real offset, w3 less, w3 more)
{
    const wf x = w_f(row[0]) * (row[0] >= 0 ? less.x : more.x), y = w_f(row[1]) * (row[1] >= 0 ? less.y : more.y),
             z = w_f(row[2]) * (row[2] >= 0 ? less.z : more.z);
    return ((x + y) + z) + w_f(offset);
}

/* Maps LANES boxes of an extreme instance into the world, in the scene's scale, and cuts them to where corners can
 * be. */
FN void scene_map_extreme_boxes(G const mesh_instance *at, v3 *lo, v3 *hi)
{
    scene_rows rows_lo, rows_hi;
    wf low[3][PARTS], high[3][PARTS];
    scene_store(&rows_lo, *lo);
    scene_store(&rows_hi, *hi);
    LANG_UNROLL
    for (int part = 0; part < PARTS; part++) {
        const w3 lost = w3_of(w_f(SCENE_LOST), w_f(SCENE_LOST), w_f(SCENE_LOST));
        const w3 less = w3_sub(scene_load(&rows_lo, part * WIDE), lost),
                 more = w3_add(scene_load(&rows_hi, part * WIDE), lost);
        LANG_UNROLL
        for (int k = 0; k < 3; k++) {
            low[k][part] = scene_wide_extreme(at->of_extreme_box[k], at->map[k][3], less, more);
            high[k][part] = scene_wide_extreme(at->of_extreme_box[k], at->map[k][3], more, less);
        }
    }
    const vf scale = v_f(at->scale), most = v_f(at->largest), least = v_f(-at->largest);
    *lo = v3_mul(v3_of(v_max(w_join(low[0][0], low[0][PARTS - 1]), least),
                       v_max(w_join(low[1][0], low[1][PARTS - 1]), least),
                       v_max(w_join(low[2][0], low[2][PARTS - 1]), least)),
                 scale);
    *hi = v3_mul(v3_of(v_min(w_join(high[0][0], high[0][PARTS - 1]), most),
                       v_min(w_join(high[1][0], high[1][PARTS - 1]), most),
                       v_min(w_join(high[2][0], high[2][PARTS - 1]), most)),
                 scale);
}

/* One row of the map, at the ends where it is least or greatest. */
FN vf scene_extreme(G const float row[3], float offset, v3 less, v3 more)
{
    const vf x = v_f(row[0]) * (row[0] >= 0 ? less.x : more.x), y = v_f(row[1]) * (row[1] >= 0 ? less.y : more.y),
             z = v_f(row[2]) * (row[2] >= 0 ? less.z : more.z);
    return ((x + y) + z) + v_f(offset);
}

/* Maps LANES boxes into the world, in the scene's scale. */
FN void scene_map_boxes(G const mesh_instance *at, v3 *lo, v3 *hi)
{
    const v3 less = *lo, more = *hi;
    if (at->kind == INSTANCE_EXTREME)
        scene_map_extreme_boxes(at, lo, hi);
    if (at->kind != INSTANCE_MOVED)
        return;
    *lo = v3_of(scene_extreme(at->of_box[0], at->lower[0], less, more),
                scene_extreme(at->of_box[1], at->lower[1], less, more),
                scene_extreme(at->of_box[2], at->lower[2], less, more));
    *hi = v3_of(scene_extreme(at->of_box[0], at->upper[0], more, less),
                scene_extreme(at->of_box[1], at->upper[1], more, less),
                scene_extreme(at->of_box[2], at->upper[2], more, less));
}

/* ---- corners ----------------------------------------------------------------------------------------------------- */

FN wf scene_coordinate(G const wide_real row[4], w3 p)
{
    return ((w_f(row[0]) * p.x + w_f(row[1]) * p.y) + w_f(row[2]) * p.z) + w_f(row[3]);
}

/* One corner of LANES triangles. */
FN v3 scene_map_corner(G const mesh_instance *at, v3 p)
{
    scene_rows rows;
    wf world[3][PARTS];
    scene_store(&rows, p);
    LANG_UNROLL
    for (int part = 0; part < PARTS; part++)
        LANG_UNROLL
    for (int k = 0; k < 3; k++)
        world[k][part] = scene_coordinate(at->map[k], scene_load(&rows, part * WIDE));
    return v3_of(w_join(world[0][0], world[0][PARTS - 1]), w_join(world[1][0], world[1][PARTS - 1]),
                 w_join(world[2][0], world[2][PARTS - 1]));
}

/* With many lanes, where these look up in any memory, the vertices of a leaf are mapped once: its triangles share them.
 */
#if LANES >= 8 && (!defined(SCENE_ON_DEVICE) || defined(LANG_HAS_COMPRESS))
#define SCENE_MAPS_VERTICES
/* A leaf's vertices in the world, [MESH_VERTICES] x, y and z each. */
typedef struct scene_vertices {
    LANG_ALIGNED real x[MESH_VERTICES], y[MESH_VERTICES], z[MESH_VERTICES];
} scene_vertices;

FN void scene_map_vertices(G const mesh_instance *at, G const mesh_leaf *leaf, scene_vertices *world)
{
    LANG_UNROLL
    for (int i = 0; i < MESH_VERTICES; i += LANES) {
        const v3 p = scene_map_corner(
            at, v3_of(v_load(leaf->vertex[0] + i), v_load(leaf->vertex[1] + i), v_load(leaf->vertex[2] + i)));
        v_store(world->x + i, p.x);
        v_store(world->y + i, p.y);
        v_store(world->z + i, p.z);
    }
}

FN v3 scene_vertex_at(const scene_vertices *world, G const u8 *corner)
{
    return v3_of(v_table_lookup(world->x, corner), v_table_lookup(world->y, corner), v_table_lookup(world->z, corner));
}

#endif

/* Corners 1 and 2 change places if the map mirrors. */
FN void scene_orient(G const mesh_instance *at, v3 *p1, v3 *p2)
{
    const v3 q1 = *p1, q2 = *p2;
    *p1 = at->mirrors ? q2 : q1;
    *p2 = at->mirrors ? q1 : q2;
}

/* The world corners of LANES triangles of a leaf, given in the mesh. The map of an instance that is not moved changes
 * -0 to +0 alone. */
FN void scene_map_corners(G const mesh_instance *at, G const mesh_leaf *leaf, int reference, int lane, v3 *p0, v3 *p1,
                          v3 *p2)
{
    if (at->kind == INSTANCE_UNMOVED) {
        const v3 zero = v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
        *p0 = v3_add(*p0, zero);
        *p1 = v3_add(*p1, zero);
        *p2 = v3_add(*p2, zero);
        return;
    }
#ifdef SCENE_MAPS_VERTICES
    if (!MESH_IS_UNINDEXED(reference)) {
        scene_vertices world;
        scene_map_vertices(at, leaf, &world);
        *p0 = scene_vertex_at(&world, leaf->corner[0] + lane);
        *p1 = scene_vertex_at(&world, leaf->corner[1] + lane);
        *p2 = scene_vertex_at(&world, leaf->corner[2] + lane);
        scene_orient(at, p1, p2);
        return;
    }
#else
    (void)leaf, (void)reference, (void)lane;
#endif
    *p0 = scene_map_corner(at, *p0);
    *p1 = scene_map_corner(at, *p1);
    *p2 = scene_map_corner(at, *p2);
    scene_orient(at, p1, p2);
}
#endif
