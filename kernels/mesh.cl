/* SPDX-License-Identifier: MIT */
/* The mesh kernels as OpenCL sees them. The host names the one it builds: -DKERNEL_mesh_first or
 * -DKERNEL_mesh_contact, or their exact twins. */

#if defined(KERNEL_mesh_first) || defined(KERNEL_mesh_first_exact)
#ifdef KERNEL_mesh_first
#define MESH_FIRST_HIT mesh_first_hit
#else
#define MESH_FIRST_HIT mesh_first_hit_exact
#endif
/* A work-item follows one query; its lanes are boxes and triangles. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const mesh_node *nodes, __global const mesh_leaf *leaves, float scale,
                                       int scale_field, int root, __global const real *cx, __global const real *cy,
                                       __global const real *cz, __global const real *radius, __global const real *vx,
                                       __global const real *vy, __global const real *vz, __global const real *t_max,
                                       __global int *triangle, __global uchar *state, __global real *t, uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    mesh_frame frame;
    frame.scale = scale;
    frame.scale_field = scale_field;
    frame.root = root;
    mesh_query q;
    q.cx = cx[i];
    q.cy = cy[i];
    q.cz = cz[i];
    q.radius = radius[i];
    q.vx = vx[i];
    q.vy = vy[i];
    q.vz = vz[i];
    q.t_max = t_max[i];
    const mesh_hit hit = MESH_FIRST_HIT(frame, nodes, leaves, q);
    triangle[i] = hit.triangle;
    state[i] = (uchar)hit.state;
    t[i] = hit.t;
}
#endif

#if defined(KERNEL_mesh_contact) || defined(KERNEL_mesh_contact_exact)
#ifdef KERNEL_mesh_contact
#define MESH_CONTACT contact
#else
#define MESH_CONTACT contact_exact
#endif
/* One corner of the triangles of LANES queries; a query without a hit takes triangle 0. */
FN v3 mesh_gather_corner(__global const real *vertices, __global const uint *indices, __global const int *triangle,
                         int corner)
{
    real x[LANES], y[LANES], z[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const int index = triangle[lane] < 0 ? 0 : triangle[lane];
        __global const real *p = vertices + 3 * (size_t)indices[3 * (size_t)index + corner];
        x[lane] = p[0];
        y[lane] = p[1];
        z[lane] = p[2];
    }
    return v3_of(v_load(x), v_load(y), v_load(z));
}

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
