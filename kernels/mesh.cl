/* SPDX-License-Identifier: MIT */
/* The mesh kernels as OpenCL sees them. The host names the one it builds: -DKERNEL_mesh_first, _list, _overlaps or
 * _contact, or their exact twins. */

#ifdef KERNEL_mesh_first
#define MESH_VISIT mesh_visit_first
#define MESH_END mesh_end
#elif defined(KERNEL_mesh_first_exact)
#define MESH_VISIT mesh_visit_first_exact
#define MESH_END mesh_end_exact
#elif defined(KERNEL_mesh_list)
#define MESH_VISIT mesh_visit_list
#elif defined(KERNEL_mesh_list_exact)
#define MESH_VISIT mesh_visit_list_exact
#elif defined(KERNEL_mesh_overlaps)
#define MESH_VISIT mesh_visit_overlap
#elif defined(KERNEL_mesh_overlaps_exact)
#define MESH_VISIT mesh_visit_overlap_exact
#endif

/* A program for queries without options has none of their text, nor the registers for it. */
#ifdef MESH_PLAIN
#define MESH_OPTIONS(options) 0
#else
#define MESH_OPTIONS(options) (options)
#endif

#ifdef MESH_VISIT
FN mesh_query mesh_query_at(__global const real *cx, __global const real *cy, __global const real *cz,
                            __global const real *radius, __global const real *vx, __global const real *vy,
                            __global const real *vz, __global const real *t_max, __global const int *mask, int options,
                            size_t i)
{
    mesh_query q;
    q.options = options;
    q.mask = options & MESH_QUERY_MASKS ? mask[i] : -1;
    q.cx = cx[i];
    q.cy = cy[i];
    q.cz = cz[i];
    q.radius = radius[i];
    q.vx = vx[i];
    q.vy = vy[i];
    q.vz = vz[i];
    q.t_max = t_max[i];
    return q;
}

FN mesh_frame mesh_frame_of(float scale, int scale_field, int root)
{
    mesh_frame frame;
    frame.scale = scale;
    frame.scale_field = scale_field;
    frame.root = root;
    return frame;
}

FN void mesh_follow(mesh_walk *w, mesh_frame frame, __global const mesh_node *nodes, __global const mesh_leaf *leaves,
                    __global const int *masks, mesh_query q)
{
    w->masks = masks;
    if (mesh_begin(w, frame, q))
        do
            MESH_VISIT(w, frame, nodes, leaves, MESH_OPTIONS(q.options));
        while (mesh_advance(w));
}
#endif

#ifdef MESH_END
/* A work-item follows one query; its lanes are boxes and triangles. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const mesh_node *nodes, __global const mesh_leaf *leaves, float scale,
                                       int scale_field, int root, __global const int *masks, int options,
                                       __global const real *cx, __global const real *cy, __global const real *cz,
                                       __global const real *radius, __global const real *vx, __global const real *vy,
                                       __global const real *vz, __global const real *t_max, __global const int *mask,
                                       __global int *triangle, __global uchar *state, __global real *t, uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    mesh_walk w;
    mesh_follow(&w, mesh_frame_of(scale, scale_field, root), nodes, leaves, masks,
                mesh_query_at(cx, cy, cz, radius, vx, vy, vz, t_max, mask, options, i));
    const mesh_hit hit = MESH_END(&w);
    triangle[i] = hit.triangle;
    state[i] = (uchar)hit.state;
    t[i] = hit.t;
}
#elif defined(MESH_VISIT)
/* How many hits a query has; if `fill`, the hits themselves, from the place on that a first pass has
 * found; -1: that pass was enough. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const mesh_node *nodes, __global const mesh_leaf *leaves, float scale,
                                       int scale_field, int root, __global const int *masks, int options,
                                       __global mesh_record *records, int fill, int one_is_enough,
                                       __global const real *cx, __global const real *cy, __global const real *cz,
                                       __global const real *radius, __global const real *vx, __global const real *vy,
                                       __global const real *vz, __global const real *t_max, __global const int *mask,
                                       __global const int *from, __global int *hits, __global uchar *state, uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count || (fill && from[i] < 0))
        return;
    mesh_sink sink;
    mesh_walk w;
    sink.records = records + (fill ? from[i] : 0);
    sink.room = fill ? 0xffffffffu : 0;
    sink.count = 0;
    sink.one_is_enough = one_is_enough;
    w.sink = &sink;
    w.number = 0;
    mesh_follow(&w, mesh_frame_of(scale, scale_field, root), nodes, leaves, masks,
                mesh_query_at(cx, cy, cz, radius, vx, vy, vz, t_max, mask, options, i));
    hits[i] = (int)sink.count;
    state[i] = (uchar)w.hit.state;
}
#endif

#if defined(KERNEL_mesh_contact) || defined(KERNEL_mesh_contact_exact)
#ifdef KERNEL_mesh_contact
#define MESH_CONTACT contact
#else
#define MESH_CONTACT contact_exact
#endif
/* What the hits report beside their time. A work-item answers LANES queries. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const real *vertices, __global const uint *indices,
                                       __global const real *cx, __global const real *cy, __global const real *cz,
                                       __global const real *radius, __global const real *vx, __global const real *vy,
                                       __global const real *vz, __global const int *triangle, __global real *px,
                                       __global real *py, __global real *pz, __global real *nx, __global real *ny,
                                       __global real *nz, __global uchar *feature, uint groups)
{
    const size_t group = get_global_id(0);
    if (group >= groups)
        return;
    const size_t i = group * LANES;
    const vf zero = v_f(R(0.0));
    sweep_in q;
    q.center = v3_of(v_load(cx + i), v_load(cy + i), v_load(cz + i));
    q.radius = v_load(radius + i);
    q.velocity = v3_of(v_load(vx + i), v_load(vy + i), v_load(vz + i));
    q.p0 = mesh_gather_corner(vertices, indices, triangle + i, 0);
    q.p1 = mesh_gather_corner(vertices, indices, triangle + i, 1);
    q.p2 = mesh_gather_corner(vertices, indices, triangle + i, 2);
    q.w = v3_of(zero, zero, zero);
    const contact_out c = MESH_CONTACT(q);
    const vm hit = vi_gt(mesh_load_int(triangle + i), v_i(-1));
    const v3 none = v3_of(zero, zero, zero), point = v3_sel(hit, c.point, none), normal = v3_sel(hit, c.normal, none);
    v_store(px + i, point.x);
    v_store(py + i, point.y);
    v_store(pz + i, point.z);
    v_store(nx + i, normal.x);
    v_store(ny + i, normal.y);
    v_store(nz + i, normal.z);
    v_store_u8(feature + i, vi_sel(hit, c.feature, v_i(FEATURE_NONE)));
}
#endif
