/* SPDX-License-Identifier: MIT */
/* Empty-space skipping for LANES spheres at a time. */
#include "kernels/clearance.h"

static void mesh_clear(const mesh_clearance *clearance, const float *const *in, size_t count, int options, u8 *is_clear)
{
    for (size_t i = 0; i < count; i += LANES) {
        const v3 center = v3_of(v_load(in[MESH_CX] + i), v_load(in[MESH_CY] + i), v_load(in[MESH_CZ] + i));
        const v3 motion = v3_of(v_load(in[MESH_VX] + i), v_load(in[MESH_VY] + i), v_load(in[MESH_VZ] + i));
        const vm clear = clearance_is_free(clearance, center, v_load(in[MESH_RADIUS] + i), motion,
                                           v_load(in[MESH_T_MAX] + i), options);
        v_store_u8(is_clear + i, vi_sel(clear, v_i(1), v_i(0)));
    }
}
