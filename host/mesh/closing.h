/* SPDX-License-Identifier: MIT */
/* The closing of a mesh: triangles over its holes, so that mesh and closing together have no open edge. On which side
 * of an open mesh a place is, by sign rule `robust`:
 *
 *   closing.c        the cycles of the open edges, and triangles over each
 *   closing_cache.c  the closings that a mesh keeps, one for each mask of queries
 *   closing_tree.c   a tree over the triangles, with bounds of what each part adds to the winding number
 *   solid_angle.c    the solid angle of one triangle, with a bound of its error
 *   closing_place.c  the side of a place, and bounds over a ball of places
 *
 * The winding number of the mesh is that of mesh and closing, a whole number which a ray counts, less that of the
 * closing, which is small except near holes. docs/volumes.md, section 3, proves the bounds. */
#ifndef CAROM_HOST_MESH_CLOSING_H
#define CAROM_HOST_MESH_CLOSING_H
#include "open_edges.h"

/* A part of the closing: triangles [first, first + count). A node's first child is the next node. */
typedef struct caromi_closing_node {
    double center[3], radius; /* a ball that contains the triangles */
    double normal[3];         /* sum of their vector areas */
    double area, moment; /* sums of area, and of area * distance of the farthest corner from the centre; rounded up */
    uint32_t first, count;
    uint32_t second; /* number of the second child; 0: a leaf, which has one triangle */
} caromi_closing_node;

typedef struct caromi_closing {
    const carom_context *context;
    int32_t mask;        /* of the selection: caromi_closing_key() */
    uint64_t count;      /* triangles; 0: no edge is open */
    float (*corners)[9]; /* of each triangle, in the order of the tree: x y z of P0, P1 and P2 */
    caromi_closing_node *nodes;
    uint64_t open_edges, node_count;
} caromi_closing;

/* Closes the triangles that count. A mesh and a selection have one closing, with one order of its triangles. */
carom_status caromi_closing_make(const carom_mesh *mesh, caromi_selection selection, caromi_closing **out,
                                 carom_error *err);
void caromi_closing_free(caromi_closing *closing);

/* The closing for the triangles that a query with `mask` selects. The mesh caches the CAROMI_CLOSINGS that were used
 * last, until it moves. Only calls of the context use it, one at a time. closing_cache.c */
carom_status caromi_closing_of(carom_mesh *mesh, int32_t mask, const caromi_closing **out, carom_error *err);
/* The bits of a query's mask that select triangles; 0: it selects none. Queries with the same bits have one closing.
 * Only after caromi_closing_look(). */
int32_t caromi_closing_key(const carom_mesh *mesh, int32_t mask);
/* Finds the bits that the mesh's masks have. */
carom_status caromi_closing_look(carom_mesh *mesh, carom_error *err);
/* The cached closing of a key. Any thread may call it. */
const caromi_closing *caromi_closing_find(const carom_mesh *mesh, int32_t key);
/* Discards the cached closings. */
void caromi_closing_forget(carom_mesh *mesh);
/* Bytes of the cached closings. */
uint64_t caromi_closing_bytes(const carom_mesh *mesh);

/* Whether a place is inside. crossings: sum of the signs with which its ray along +z crosses the triangles that count,
 * as sign rule `winding` counts them, and those of the closing. One answer for each place, mesh and selection.
 * Any thread may call it. */
int caromi_closing_inside(const caromi_closing *closing, const float place[3], int64_t crossings);
/* The sum of the signs with which the ray of a place crosses the closing. */
int64_t caromi_closing_crossings(const caromi_closing *closing, const float place[3]);
/* Calls `visit` for each triangle of the closing that may be above a rectangle seen from above. */
void caromi_closing_above(const caromi_closing *closing, const float low[3], const float high[2],
                          void (*visit)(void *user, const float corners[9]), void *user);

/* A sum of solid angles as a part of the whole sphere, and a bound of its error. */
typedef struct caromi_winding {
    double value, error;
} caromi_winding;

/* The winding number of the closing, of all places within `radius` of a centre. The error is infinite if a
 * triangle may be there. */
caromi_winding caromi_closing_around(const caromi_closing *closing, const double center[3], double radius);
/* Whether it is certain, for all places with such a winding number of the closing, on which side they are: inside
 * unless the crossings, as caromi_closing_inside has them, are *offset. */
int caromi_closing_decides(caromi_winding winding, int *offset);

/* Builds the tree; permutes the triangles. closing_tree.c */
carom_status caromi_closing_grow(caromi_closing *closing, carom_error *err);
/* The solid angle of a triangle seen from a place, + where the place is behind it. `exactly`: by integers, with an
 * error of at most 2^-47. solid_angle.c */
caromi_winding caromi_solid_angle(const float corners[9], const float place[3], int exactly);
/* The same from a centre that is not in the triangle, and not near its edges: in floating point alone. */
caromi_winding caromi_solid_angle_near(const float corners[9], const double center[3]);
#endif
