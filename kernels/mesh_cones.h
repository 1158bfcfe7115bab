/* SPDX-License-Identifier: MIT */
/* Normal cones for the children of BVH nodes, by which a search for contacts culls. A child's cone bounds the normals
 * of its triangles and of all triangles that share a corner with them. A child has a cone only if all of these
 * triangles have areas, are no slivers, and meet in pairs at whole edges. Their winding does not matter: normals are
 * flipped towards the axis. Such a child holds a contact only if some vector from it to the sphere's centre is in the
 * cone or in its opposite: docs/contacts.md, section 5, has the proof.
 *
 * Host and devices compute cones by this text, and the shapes of triangles across corners. For LANES 1. */
#ifndef CAROM_MESH_CONES_H
#define CAROM_MESH_CONES_H
#include "mesh_nodes.h"
#include "wide.h"

#define CONES_LEAST_HEIGHT W(0x1p-100) /* of a triangle, so that no distance is denormal */
#define CONES_LEAST_RATIO W(0.125)     /* least height / longest edge: a triangle with less is a sliver */
/* Sine of the angle by which a vector must be outside the cone of normals to be culled. */
#define CONES_SURPLUS_SINE W(0x1.02p-4)
#define CONES_SURPLUS_COSINE W(0x1.fefa2p-1) /* lower bound of the cosine of the same angle */
#define CONES_NORMAL_ERROR R(0x1p-20)        /* error of the cosine of two directions in binary32 */
#define CONES_LEAST_COSINE W(0.125)          /* of the half angle of the cone with its surplus */
#define CONES_LONGER 4 /* most length of the other edge at a corner across which a triangle lies, as a multiple */

/* A bit of `along`: each edge belongs to exactly one other triangle, which has the same mask. */
#define MESH_FACE_WHOLE 8
/* A triangle's normal, size and neighbours. */
typedef struct mesh_face {
    float normal[3], length; /* unit normal, length of the longest edge; 0: no normal */
    float height, ratio;     /* the least height, 0: under no cone; height / length */
    unsigned int along;      /* bit k: the other triangle at edge k runs along it in the same direction */
} mesh_face;

/* The vertices whose coordinates are in mesh_opposites.at; MESH_NONE behind the last. An unindexed leaf has two of
 * these, one list with three vertices for each triangle. */
#define MESH_NONE 0xffffffffu
#define MESH_SOURCES(width) (3 * (width) / 2 > MESH_VERTICES ? 3 * (width) / 2 : MESH_VERTICES)
typedef struct mesh_sources {
    unsigned int vertex[MESH_SOURCES(MESH_WIDTH)];
} mesh_sources;

/* For each corner of a leaf's triangles, the triangle across that corner; MESH_NONE: none. */
typedef struct mesh_across {
    unsigned int triangle[3][MESH_WIDTH];
} mesh_across;

/* The triangles at the corners of a leaf's triangles, once each, and then MESH_NONE. An unindexed leaf has two of these
 * as one list. Marks in place of a list's first triangle: a corner has too many triangles for a cone; the list is too
 * short for all triangles. */
#define CONES_NO_CONE (MESH_NONE - 1)
#define CONES_NO_CAPACITY (MESH_NONE - 2)
#define MESH_AROUND(width) (32 + 2 * (width))
typedef struct mesh_around {
    unsigned int triangle[MESH_AROUND(MESH_WIDTH)];
} mesh_around;

/* A cone of normals, and the shapes of its triangles. */
typedef struct mesh_cone {
    float axis[3], cosine;       /* cosine of the half angle; 0: there is no cone */
    float height, length, ratio; /* of its triangles: least height, longest edge, least height / longest edge */
    float radius;                /* of a leaf: of its vertices around the middle of its box, in the box's scale */
} mesh_cone;

/* A mesh, and its triangles at each corner and edge, as contact_mesh has them. */
typedef struct cones_mesh {
    G const real *vertices;
    G const u32 *indices, *position, *next;
    G const u64 *start;
    G const u32 *triangle;
    G const mesh_leaf *leaves;
    G const mesh_face *faces;
    real scale; /* of the mesh's frame */
} cones_mesh;

FN mesh_cone cones_no_cone(void)
{
    mesh_cone c;
    c.axis[0] = c.axis[1] = c.axis[2] = c.cosine = R(0.0);
    c.height = c.length = c.ratio = c.radius = R(0.0);
    return c;
}

/* The bounds of no triangle yet, which others widen. */
FN mesh_cone cones_empty_cone(void)
{
    mesh_cone c = cones_no_cone();
    c.cosine = c.ratio = R(1.0);
    c.height = real_of_bits(R_INFINITY_BITS);
    return c;
}

FN real cones_narrow(wf x)
{
    return w_join(x, x);
}

FN wf cones_max(wf a, wf b)
{
    return w_sel(w_lt(b, a), a, b);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

FN u32 cones_position(const cones_mesh *mesh, u32 triangle, int corner)
{
    return mesh->position[3 * (size_t)triangle + (size_t)corner];
}

FN w3 cones_corner(const cones_mesh *mesh, u32 triangle, int corner)
{
    G const real *p = mesh->vertices + 3 * (size_t)mesh->indices[3 * (size_t)triangle + (size_t)corner];
    return w3_of(w_real(p[0]), w_real(p[1]), w_real(p[2]));
}

/* The vector from one corner to another. */
FN w3 cones_edge(const cones_mesh *mesh, u32 triangle, int from, int to)
{
    return w3_sub(cones_corner(mesh, triangle, to), cones_corner(mesh, triangle, from));
}

/* Normal, height and length of a triangle whose neighbours are known. A triangle without area and a sliver have neither
 * normal nor height. */
FN mesh_face cones_face(const cones_mesh *mesh, u32 triangle, u32 along)
{
    const w3 edge1 = cones_edge(mesh, triangle, 0, 1), edge2 = cones_edge(mesh, triangle, 0, 2),
             edge3 = cones_edge(mesh, triangle, 1, 2);
    const wf longest2 = cones_max(cones_max(w3_dot(edge1, edge1), w3_dot(edge2, edge2)), w3_dot(edge3, edge3));
    const w3 cross = w3_cross(edge1, edge2);
    const wf area2 = w3_dot(cross, cross), area = w_sqrt(area2), per_area = W(1.0) / area, length = w_sqrt(longest2);
    mesh_face f;
    f.normal[0] = f.normal[1] = f.normal[2] = f.length = f.height = f.ratio = R(0.0);
    f.along = along;
    if (!(w_le(CONES_LEAST_RATIO * CONES_LEAST_RATIO * longest2 * longest2, area2) &&
          w_le(CONES_LEAST_HEIGHT * CONES_LEAST_HEIGHT * longest2, area2)))
        return f;
    f.normal[0] = cones_narrow(cross.x * per_area);
    f.normal[1] = cones_narrow(cross.y * per_area);
    f.normal[2] = cones_narrow(cross.z * per_area);
    f.length = cones_narrow(length);
    if (along & MESH_FACE_WHOLE) {
        f.height = cones_narrow(area / length);
        f.ratio = f.height / f.length;
    }
    return f;
}

/* Whether `other` has the shape that a triangle across corner k of a triangle must have. Heights are tested first,
 * because no edge is shorter than the triangle's least height. */
FN int cones_may_be_across(const cones_mesh *mesh, u32 triangle, int k, u32 other)
{
    G const mesh_face *face = &mesh->faces[other];
    const u32 position = cones_position(mesh, triangle, k);
    int from = 0;
    if (CONES_LONGER * face->height >= R(0x1.00001p0) * face->length && face->height > R(0.0))
        return 1;
    while (from < 2 && cones_position(mesh, other, from) != position)
        from++;
    const w3 next = cones_edge(mesh, other, from, (from + 1) % 3), last = cones_edge(mesh, other, from, (from + 2) % 3);
    const wf after = w_sqrt(w3_dot(next, next)), before = w_sqrt(w3_dot(last, last));
    return w_le(before, CONES_LONGER * after) && w_le(after, CONES_LONGER * before);
}

/* ---- neighbours of a leaf's triangles ---------------------------------------------------------------------------- */

/* Stores a vertex in three rows of so many numbers. */
FN void cones_move_point(const cones_mesh *mesh, u32 vertex, G real *to, int row)
{
    for (int k = 0; k < 3; k++)
        to[row * k] = mesh->vertices[3 * (size_t)vertex + (size_t)k];
}

/* Slot `lane` of a leaf's neighbours after a move, and point `lane` of its table, which has MESH_VERTICES. The same
 * vertices coincide as before, so points keep their numbers. Triangles across a corner are dropped if their shape no
 * longer suits the search. from: the leaf's mesh_sources; across: 0 if there are none. */
FN void cones_move_opposites(const cones_mesh *mesh, int reference, int lane, G const u32 *from, G mesh_opposites *to,
                             G mesh_across *across)
{
    G const mesh_leaf *leaf = &mesh->leaves[MESH_LEAF_AT(reference)];
    if (MESH_IS_UNINDEXED(reference)) {
        for (int edge = 0; edge < 3 && lane < MESH_WIDTH; edge++)
            cones_move_point(mesh, from[3 * lane + edge], (G real *)to + 3 * MESH_WIDTH * edge + lane, MESH_WIDTH);
        return;
    }
    if (lane < MESH_VERTICES && from[lane] != MESH_NONE)
        cones_move_point(mesh, from[lane], to->at[0] + lane, MESH_VERTICES);
    for (int k = 0; k < 3 && across != 0 && lane < MESH_WIDTH && leaf->triangle[lane] >= 0; k++) {
        const u32 other = across->triangle[k][lane];
        if (other == MESH_NONE || cones_may_be_across(mesh, (u32)leaf->triangle[lane], k, other))
            continue;
        to->slot[3 + k][lane] = leaf->corner[k][lane];
        across->triangle[k][lane] = MESH_NONE;
    }
}

/* ---- cones of leaves --------------------------------------------------------------------------------------------- */

FN w3 cones_wide(G const float *p)
{
    return w3_of(w_real(p[0]), w_real(p[1]), w_real(p[2]));
}

/* Adds a direction or its opposite, whichever is closer to the sum's direction. */
FN w3 cones_add_line(w3 sum, w3 direction)
{
    return w3_add(sum, w3_mul(direction, w_sel(w_lt(w3_dot(sum, direction), W(0.0)), -W(1.0), W(1.0))));
}

/* Normalizes the sum to the cone's axis. Returns 0 if the sum has no direction. */
FN int cones_set_axis(mesh_cone *c, w3 sum)
{
    const wf length = w_sqrt(w3_dot(sum, sum));
    if (!w_lt(W(0x1p-10), length))
        return 0;
    c->axis[0] = cones_narrow(sum.x / length);
    c->axis[1] = cones_narrow(sum.y / length);
    c->axis[2] = cones_narrow(sum.z / length);
    return 1;
}

FN real cones_product(const mesh_cone *c, G const float *b)
{
    return c->axis[0] * b[0] + c->axis[1] * b[1] + c->axis[2] * b[2];
}

/* Extends a cone's bounds by those of a triangle or of another cone. */
FN void cones_widen(mesh_cone *c, real cosine, real height, real length, real ratio)
{
    c->cosine = v_min(cosine, c->cosine);
    c->height = v_min(height, c->height);
    c->length = v_max(length, c->length);
    c->ratio = v_min(ratio, c->ratio);
}

/* Whether a triangle's normal points against the cone's axis. */
FN int cones_is_turned(const mesh_cone *c, G const mesh_face *f)
{
    return cones_product(c, f->normal) < R(0.0);
}

/* Whether the triangles around a position, seen along the axis, lie on both sides of each edge there, so that the
 * surface does not fold. Two triangles that run along an edge in the same direction do if one of their normals is
 * flipped. */
FN int cones_is_unfolded(const cones_mesh *mesh, u32 position, const mesh_cone *c)
{
    for (u64 fan = mesh->start[position]; fan < mesh->start[position + 1]; fan++) {
        const u32 triangle = mesh->triangle[fan];
        for (int edge = 0; edge < 3; edge++) {
            G const mesh_face *f = &mesh->faces[triangle],
                              *other = &mesh->faces[mesh->next[3 * (size_t)triangle + (size_t)edge]];
            if (cones_position(mesh, triangle, edge) != position &&
                cones_position(mesh, triangle, (edge + 1) % 3) != position)
                continue;
            if ((cones_is_turned(c, f) != cones_is_turned(c, other)) != (int)(f->along >> edge & 1)) /* it folds here */
                return 0;
        }
    }
    return 1;
}

/* The corners of a leaf's triangles, of an indexed leaf once each. */
typedef struct cones_corners {
    G const mesh_leaf *leaf;
    int is_unindexed, number; /* of the next corner: 3 * slot + corner */
    u32 seen;                 /* a bit for each vertex of an indexed leaf */
} cones_corners;

FN cones_corners cones_corners_of(G const mesh_leaf *leaf, int is_unindexed)
{
    cones_corners corners;
    corners.leaf = leaf;
    corners.is_unindexed = is_unindexed;
    corners.number = 0;
    corners.seen = 0;
    return corners;
}

/* Finds the next corner's position. Returns 0 if there is none. */
FN int cones_next_corner(const cones_mesh *mesh, cones_corners *corners, u32 *position)
{
    while (corners->number < 3 * MESH_WIDTH) {
        const int slot = corners->number / 3, k = corners->number++ % 3, triangle = corners->leaf->triangle[slot];
        if (triangle < 0)
            return 0;
        const u32 bit = corners->is_unindexed ? 0 : 1u << corners->leaf->corner[k][slot];
        if ((corners->seen & bit) != 0)
            continue;
        corners->seen |= bit;
        *position = cones_position(mesh, (u32)triangle, k);
        return 1;
    }
    return 0;
}

/* The winding of some triangles, seen along an axis. */
typedef struct cones_winding {
    u32 along;         /* or of the faces' along */
    u32 count, turned; /* triangles; with normals against the axis */
} cones_winding;

/* Widens the cone by a triangle. Returns 0 if the triangle is under no cone. */
FN int cones_add_face(G const mesh_face *f, mesh_cone *c, cones_winding *sum)
{
    const real cosine = cones_product(c, f->normal);
    sum->along |= f->along;
    sum->turned += cosine < R(0.0);
    sum->count++;
    cones_widen(c, v_abs(cosine) - CONES_NORMAL_ERROR, f->height, f->length, f->ratio);
    return f->height > R(0.0);
}

/* Widens a leaf's cone by the fans of all corners; some triangles are added more than once. */
FN int cones_add_fans(const cones_mesh *mesh, cones_corners corners, mesh_cone *c, cones_winding *sum)
{
    u32 position;
    while (cones_next_corner(mesh, &corners, &position))
        for (u64 fan = mesh->start[position]; fan < mesh->start[position + 1]; fan++)
            if (!cones_add_face(&mesh->faces[mesh->triangle[fan]], c, sum))
                return 0;
    return 1;
}

/* Widens a leaf's cone by all triangles around its corners: those of the list or, if that was too short, of the fans.
 * Returns 0 if there is no cone. */
FN int cones_add_around(const cones_mesh *mesh, cones_corners corners, G const u32 *listed, mesh_cone *c)
{
    cones_winding sum;
    mesh_cone own = *c; /* a local copy: the compiler keeps it in registers */
    u32 position;
    sum.along = sum.count = sum.turned = 0;
    if (*listed == CONES_NO_CAPACITY && !cones_add_fans(mesh, corners, &own, &sum))
        return 0;
    for (; *listed < CONES_NO_CAPACITY; listed++)
        if (!cones_add_face(&mesh->faces[*listed], &own, &sum))
            return 0;
    *c = own;
    if (!(own.cosine > R(0.0)))
        return 0;
    /* All wound alike: the surface does not fold. Else each corner's fan is tested. */
    if (sum.along == MESH_FACE_WHOLE && (sum.turned == 0 || sum.turned == sum.count))
        return 1;
    while (cones_next_corner(mesh, &corners, &position))
        if (!cones_is_unfolded(mesh, position, &own))
            return 0;
    return 1;
}

/* The axis of a leaf's cone, from its own triangles. Returns 0 if one of them is under no cone. */
FN int cones_set_axis_of_leaf(const cones_mesh *mesh, G const mesh_leaf *leaf, mesh_cone *c)
{
    w3 sum = w3_of(W(0.0), W(0.0), W(0.0));
    for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++) {
        G const mesh_face *f = &mesh->faces[leaf->triangle[slot]];
        if (!(f->height > R(0.0)))
            return 0;
        sum = cones_add_line(sum, cones_wide(f->normal));
    }
    return cones_set_axis(c, sum);
}

/* The largest square of the distance from the middle of a leaf's box, in the box's scale, among points in so many times
 * three rows of `count`. */
FN wf cones_farthest(const cones_mesh *mesh, G const real *rows, int times, int count, w3 middle)
{
    const wf scale = w_real(mesh->scale);
    wf most = W(0.0);
    for (int row = 0; row < 3 * times; row += 3)
        for (int i = 0; i < count; i++) {
            G const real *at = rows + row * count + i;
            const w3 p = w3_sub(w3_mul(w3_of(w_real(at[0]), w_real(at[count]), w_real(at[2 * count])), scale), middle);
            most = cones_max(w3_dot(p, p), most);
        }
    return most;
}

/* The radius of a leaf's vertices around the middle of its box, in the box's scale. */
FN real cones_radius(const cones_mesh *mesh, G const mesh_leaf *leaf, int is_unindexed, w3 middle)
{
    const wf most = is_unindexed ? cones_farthest(mesh, (G const real *)leaf + MESH_WIDTH, 3, MESH_WIDTH, middle)
                                 : cones_farthest(mesh, leaf->vertex[0], 1, MESH_VERTICES, middle);
    return cones_narrow(w_sqrt(most));
}

/* The cone of a leaf; cosine 0 if there is none. listed: the leaf's mesh_around. */
FN mesh_cone cones_of_leaf(const cones_mesh *mesh, int reference, G const u32 *listed, w3 middle)
{
    G const mesh_leaf *leaf = &mesh->leaves[MESH_LEAF_AT(reference)];
    const int is_unindexed = MESH_IS_UNINDEXED(reference);
    mesh_cone c = cones_empty_cone();
    if (*listed == CONES_NO_CONE || !cones_set_axis_of_leaf(mesh, leaf, &c) ||
        !cones_add_around(mesh, cones_corners_of(leaf, is_unindexed), listed, &c))
        return cones_no_cone();
    c.radius = cones_radius(mesh, leaf, is_unindexed, middle);
    return c;
}

/* ---- cones of nodes ---------------------------------------------------------------------------------------------- */

/* The cosine of the sum of two angles below 90 degrees. */
FN wf cones_cosine_of_sum(wf a, wf b)
{
    return a * b - w_sqrt(cones_max(W(1.0) - a * a, W(0.0)) * cones_max(W(1.0) - b * b, W(0.0)));
}

/* The cone around the cones of a node's children. */
FN mesh_cone cones_join(G const mesh_cone *part, G const mesh_node *node)
{
    mesh_cone c = cones_empty_cone();
    w3 sum = w3_of(W(0.0), W(0.0), W(0.0));
    for (int i = 0; i < MESH_WIDTH; i++) /* the axis: the mean direction of the children's axes */
        if (node->child[i] != 0)
            sum = cones_add_line(sum, cones_wide(part[i].axis));
    if (!cones_set_axis(&c, sum))
        return cones_no_cone();
    for (int i = 0; i < MESH_WIDTH && c.cosine > R(0.0); i++) {
        if (node->child[i] == 0)
            continue;
        /* The angle from the common axis to the child's axis, plus the child's half angle. */
        const wf cosine = w_real(v_abs(cones_product(&c, part[i].axis)) - CONES_NORMAL_ERROR);
        const wf apart = w_sel(w_lt(cosine, W(1.0)), cosine, W(1.0));
        if (!(part[i].cosine > R(0.0) && w_lt(W(0.0), apart)))
            return cones_no_cone();
        cones_widen(&c, cones_narrow(cones_cosine_of_sum(apart, w_real(part[i].cosine)) - w_real(CONES_NORMAL_ERROR)),
                    part[i].height, part[i].length, part[i].ratio);
    }
    return c.cosine > R(0.0) ? c : cones_no_cone();
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

FN w3 cones_low(G const mesh_node *node, int i)
{
    return w3_of(w_real(node->lo_x[i]), w_real(node->lo_y[i]), w_real(node->lo_z[i]));
}
FN w3 cones_high(G const mesh_node *node, int i)
{
    return w3_of(w_real(node->hi_x[i]), w_real(node->hi_y[i]), w_real(node->hi_z[i]));
}
/* The middle of a child's box. */
FN w3 cones_middle(G const mesh_node *node, int i)
{
    return w3_mul(w3_add(cones_low(node, i), cones_high(node, i)), W(0.5));
}
/* Half the length of the diagonal of a child's box. */
FN real cones_half_diagonal(G const mesh_node *node, int i)
{
    const w3 extent = w3_mul(w3_sub(cones_high(node, i), cones_low(node, i)), W(0.5));
    return cones_narrow(w_sqrt(w3_dot(extent, extent)));
}

FN void cones_clear_row(G mesh_cones *to, int i)
{
    to->axis_x[i] = to->axis_y[i] = to->axis_z[i] = to->diameter[i] = to->reach[i] = R(0.0);
    to->slope[i] = real_of_bits(R_INFINITY_BITS);
}

/* Writes slot i of a node's cones. radius: of the child's triangles around the middle of its box. */
FN void cones_set_row(G mesh_cones *to, int i, const mesh_cone *c, real radius, real scale)
{
    const wf cosine = w_real(c->cosine), sine = w_sqrt(cones_max(W(1.0) - cosine * cosine, W(0.0)));
    const wf wide = cosine * CONES_SURPLUS_COSINE - sine * CONES_SURPLUS_SINE, ratio = w_real(c->ratio);
    const wf least = W(2.0) * w_real(c->length) / (W(0x1p9) * ratio * ratio - W(1.0)) * w_real(scale);
    cones_clear_row(to, i);
    if (!(c->cosine > R(0.0) && w_le(CONES_LEAST_COSINE, wide)))
        return;
    /* Rounded outwards, so that the search never culls a contact. */
    to->axis_x[i] = c->axis[0];
    to->axis_y[i] = c->axis[1];
    to->axis_z[i] = c->axis[2];
    to->slope[i] = cones_narrow(w_sqrt(W(1.0) - wide * wide) / wide * W(0x1.00001p0));
    to->diameter[i] = cones_narrow(W(2.0) * (w_real(radius) + least) * W(0x1.004p0));
    to->reach[i] = cones_narrow(W(0x1p12) * w_real(c->height) * W(0x1.ffffep-1));
}

/* Whether cones are worth their tests: at least one child in CHILDREN_PER_CONE has one. Else none has. */
FN int cones_suffice(u32 children, u32 found)
{
    enum { CHILDREN_PER_CONE = 8 };
    return found >= children / CHILDREN_PER_CONE;
}
#endif
