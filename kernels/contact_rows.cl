/* SPDX-License-Identifier: MIT */
/* Contacts of lists that stay on a device, chosen among the candidates of mesh_rows.cl: triangles within reach of a
 * row, which is a sphere of the chunk. A work-item decides for one candidate, from the mesh alone; so answers depend
 * neither on other candidates nor on an order. A row for which a decision needs integers, or very many steps, is
 * marked: the host chooses its contacts. The host names the kernel that it builds; the exact twin's name ends with
 * _exact. */
#include "contact_order.h"
#include "mesh_arguments.h"
#include "mesh_rows_keys.h"
#include "touch_exact.h"

#if defined(KERNEL_contact_choose_exact) || defined(KERNEL_contact_merge_exact) || defined(KERNEL_contact_touch_exact)
#define CONTACT_EXACT 1
#else
#define CONTACT_EXACT 0
#endif

/* The mesh and its tables, as kernel arguments. */
#define CONTACT_MESH_PARAMETERS                                                                \
    float scale, int scale_field, __global const real *vertices, __global const uint *indices, \
        __global const uint *position, __global const uint *next, __global const uchar *twins, \
        __global const uint *twin, __global const ulong *start, __global const uint *triangle, \
        __global const int *triangle_mask, int has_triangle_masks, wf extent, uint triangles
#define CONTACT_MESH_ARGUMENTS                                                                          \
    scale, scale_field, vertices, indices, position, next, twins, twin, start, triangle, triangle_mask, \
        has_triangle_masks, extent, triangles
FN contact_mesh contact_mesh_of(CONTACT_MESH_PARAMETERS)
{
    contact_mesh mesh;
    mesh.frame.scale = scale;
    mesh.frame.scale_field = scale_field;
    mesh.frame.root = 0;
    mesh.frame.ball = R(0.0);
    mesh.vertices = vertices;
    mesh.indices = indices;
    mesh.position = position;
    mesh.next = next;
    mesh.twins = twins;
    mesh.twin = twin;
    mesh.start = start;
    mesh.triangle = triangle;
    mesh.mask = has_triangle_masks ? triangle_mask : 0;
    mesh.extent = extent;
    (void)triangles;
    return mesh;
}

/* Spheres of the chunk. */
#define CONTACT_SPHERE_PARAMETERS MESH_SPHERE_PARAMETERS, int has_masks
FN contact_sphere contact_sphere_of(CONTACT_SPHERE_PARAMETERS, uint row)
{
    contact_sphere sphere;
    sphere.center = v3_of(cx[row], cy[row], cz[row]);
    sphere.radius = radius[row];
    sphere.margin = max_distance[row];
    sphere.mask = has_masks ? mask[row] : -1;
    return sphere;
}

#if defined(KERNEL_contact_choose) || defined(KERNEL_contact_choose_exact)
/* Whether another triangle makes a record's contact and comes first; or CONTACT_CROWDED, after `most` triangles. */
FN int contact_is_preceded(const contact_mesh *mesh, const contact_sphere *sphere, const mesh_record *record, uint most)
{
    contact_others others = contact_others_of(mesh, record);
    int answer = CONTACT_NO;
    LANG_ROLLED
    for (uint tests = 0; contact_next_other(mesh, &others); tests++) {
        if (tests == most)
            return CONTACT_CROWDED;
        if (others.at == others.own || !contact_counts(mesh, sphere, others.at))
            continue;
        const mesh_record other =
            contact_record_of(mesh->frame, contact_pair(mesh, sphere->center, others.at), others.at, CONTACT_EXACT);
        const int precedes = contact_precedes(mesh, sphere, &other, record, CONTACT_EXACT);
        if (precedes == CONTACT_YES)
            return CONTACT_YES;
        answer = precedes == CONTACT_UNDECIDED ? precedes : answer;
    }
    return answer;
}

/* Whether a record is a contact, before contacts are merged. */
FN int contact_is_chosen(const contact_mesh *mesh, const contact_sphere *sphere, const mesh_record *record, uint most)
{
    if (record->state == FEATURE_NONE)
        return CONTACT_UNDECIDED;
    const int preceded = contact_is_preceded(mesh, sphere, record, most);
    if (preceded != CONTACT_NO)
        return preceded == CONTACT_YES ? CONTACT_NO : preceded;
    return CONTACT_EXACT ? contact_is_within(record->t, sphere->radius, sphere->margin) : CONTACT_YES;
}

/* Whether a device may return such a record. Exact mode leaves some distances and features undecided. */
FN int contact_is_possible(const mesh_record *record, uint triangles)
{
    const uint t = real_bits(record->t);
    return (uint)record->triangle < triangles && record->state >= (CONTACT_EXACT ? FEATURE_NONE : FEATURE_V0) &&
           record->state <= FEATURE_FACE && (t <= R_INFINITY_BITS || (CONTACT_EXACT && rows_is_undecided(t)));
}

/* Makes the keys of candidates [first, first + count); all but contacts have the key of a miss, and do not count as
 * hits of their row. */
__kernel void LANG_CAT(carom_, KERNEL)(CONTACT_MESH_PARAMETERS, CONTACT_SPHERE_PARAMETERS,
                                       __global const mesh_record *record, __global const ulong *slot, uint end,
                                       __global ulong *key, __global uint *of, __global int *hits, __global uint *mark,
                                       __global rows_report *report, uint most, uint share, uint first, uint count,
                                       uint items)
{
    const contact_mesh mesh = contact_mesh_of(CONTACT_MESH_ARGUMENTS);
    GRID_FOR_EACH(k, count)
    {
        const uint i = first + k, row = rows_row_of(slot, end, i);
        const mesh_record own = record[i];
        const contact_sphere sphere = contact_sphere_of(MESH_SPHERE_ARGUMENTS, has_masks, row);
        int chosen = CONTACT_NO;
        of[i] = row;
        if (contact_is_possible(&own, triangles))
            chosen = contact_is_chosen(&mesh, &sphere, &own, most);
        else
            atomic_or(&report->faults, ROWS_CORRUPT);
        key[i] = chosen == CONTACT_YES ? rows_key(real_bits(own.t), (uint)own.triangle, 0) : ROWS_MISS;
        if (chosen != CONTACT_YES)
            atomic_dec(&hits[row]);
        if (chosen > CONTACT_YES)
            atomic_or(&mark[row], (uint)chosen);
        if (mesh_run_is_truncated(share))
            atomic_or(&report->faults, ROWS_TRUNCATED);
    }
    (void)items;
}
#endif

#if defined(KERNEL_contact_merge) || defined(KERNEL_contact_merge_exact)
/* A contact, its reported point, and how near to that a triangle has to be. */
typedef struct contact_merging {
    contact_sphere sphere;
    mesh_record record;
    v3 point;
    real within;
} contact_merging;

/* Whether a triangle is within reach of the point, and precedes the contact. */
FN int contact_is_merged_into(const contact_mesh *mesh, const contact_merging *merging, uint triangle)
{
    if ((int)triangle == merging->record.triangle || !contact_counts(mesh, &merging->sphere, triangle))
        return CONTACT_NO;
    const real t = contact_own_distance(mesh->frame, contact_pair(mesh, merging->point, triangle), CONTACT_EXACT);
    const int is_near = CONTACT_EXACT ? contact_is_within(t, merging->within, R(0.0)) : t <= merging->within;
    if (is_near == CONTACT_NO)
        return CONTACT_NO;
    const mesh_record other =
        contact_record_of(mesh->frame, contact_pair(mesh, merging->sphere.center, triangle), triangle, CONTACT_EXACT);
    const int before = contact_comes_before(mesh, &merging->sphere, &other, &merging->record, CONTACT_EXACT);
    return before == CONTACT_NO ? CONTACT_NO : is_near == CONTACT_UNDECIDED ? is_near : before;
}

/* Pushes the children of a node that are within reach of a point; returns the new number of entries. */
FN int contact_push_children(__global const mesh_node *node, closest_view view, real limit, int *stack, int top)
{
    LANG_ROLLED
    for (int slot = 0; slot < MESH_WIDTH; slot++) {
        const v3 lo = v3_of(node->lo_x[slot], node->lo_y[slot], node->lo_z[slot]);
        const v3 hi = v3_of(node->hi_x[slot], node->hi_y[slot], node->hi_z[slot]);
        if (node->child[slot] != 0 && closest_span_of(view, lo, hi).least <= limit)
            stack[top++] = node->child[slot];
    }
    return top;
}

/* Whether any triangle within reach of the contact's point precedes it; or CONTACT_CROWDED, after `most` nodes and
 * leaves. */
FN int contact_is_gone(const contact_mesh *mesh, __global const mesh_node *nodes, __global const mesh_leaf *leaves,
                       int root, const contact_merging *merging, uint most)
{
    const closest_view view = closest_view_of(merging->point, mesh->frame);
    /* In exact mode a true distance may be above the number after rounding. */
    const real limit = real_of_bits(real_bits(merging->within) + 1);
    int stack[MESH_STACK], top = 1, answer = CONTACT_NO;
    stack[0] = root;
    LANG_ROLLED
    for (uint steps = 0; top > 0; steps++) {
        const int reference = stack[--top];
        if (steps == most)
            return CONTACT_CROWDED;
        if (reference >= 0) {
            top = contact_push_children(nodes + reference, view, limit, stack, top);
            continue;
        }
        __global const mesh_leaf *leaf = leaves + MESH_LEAF_AT(reference);
        LANG_ROLLED
        for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++) {
            const int gone = contact_is_merged_into(mesh, merging, (uint)leaf->triangle[slot]);
            if (gone == CONTACT_YES)
                return CONTACT_YES;
            answer = gone == CONTACT_UNDECIDED ? gone : answer;
        }
    }
    return answer;
}

/* Drops each contact among candidates [first, first + count) that is preceded by a triangle within `within` of its
 * reported point. */
LANG_SEARCH_KERNEL void LANG_CAT(carom_, KERNEL)(CONTACT_MESH_PARAMETERS, __global const mesh_node *nodes,
                                                 __global const mesh_leaf *leaves, int root, CONTACT_SPHERE_PARAMETERS,
                                                 float within, __global const mesh_record *record,
                                                 __global const uint *of, __global ulong *key, __global int *hits,
                                                 __global uint *mark, __global rows_report *report, uint most,
                                                 uint share, uint first, uint count, uint items)
{
    const contact_mesh mesh = contact_mesh_of(CONTACT_MESH_ARGUMENTS);
    GRID_FOR_EACH(k, count)
    {
        const uint i = first + k, row = of[i];
        if (key[i] == ROWS_MISS)
            continue;
        contact_merging merging;
        merging.sphere = contact_sphere_of(MESH_SPHERE_ARGUMENTS, has_masks, row);
        merging.record = record[i];
        merging.within = within;
        const closest_in pair = contact_pair(&mesh, merging.sphere.center, (uint)merging.record.triangle);
        merging.point = CONTACT_EXACT ? touch_exact(pair).point : touch(pair).point;
        const int gone = merging.point.x == merging.point.x
                             ? contact_is_gone(&mesh, nodes, leaves, root, &merging, most)
                             : CONTACT_UNDECIDED;
        if (gone == CONTACT_YES) {
            key[i] = ROWS_MISS;
            atomic_dec(&hits[row]);
        }
        if (gone > CONTACT_YES)
            atomic_or(&mark[row], (uint)gone);
        if (mesh_run_is_truncated(share))
            atomic_or(&report->faults, ROWS_TRUNCATED);
    }
    (void)items;
}
#endif

#if defined(KERNEL_contact_touch) || defined(KERNEL_contact_touch_exact)
/* Points, normals and features of contacts. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const real *vertices, __global const uint *indices, uint triangles,
                                       __global const real *cx, __global const real *cy, __global const real *cz,
                                       __global const int *triangle, __global real *px, __global real *py,
                                       __global real *pz, __global real *nx, __global real *ny, __global real *nz,
                                       __global uchar *feature, uint items)
{
    const size_t i = get_global_id(0);
    if (i >= items)
        return;
    closest_in pair;
    pair.center = v3_of(cx[i], cy[i], cz[i]);
    pair.p0 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 0);
    pair.p1 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 1);
    pair.p2 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 2);
    const contact_out answer = CONTACT_EXACT ? touch_exact(pair) : touch(pair);
    px[i] = answer.point.x;
    py[i] = answer.point.y;
    pz[i] = answer.point.z;
    nx[i] = answer.normal.x;
    ny[i] = answer.normal.y;
    nz[i] = answer.normal.z;
    feature[i] = (uchar)answer.feature;
}
#endif
