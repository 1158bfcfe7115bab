/* SPDX-License-Identifier: MIT */
#include "place.h"
#include "determinant.h"
#include "reader.h"

#include <math.h>

const mesh_matrix mesh_matrix_identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

mesh_matrix mesh_matrix_multiply(const mesh_matrix *a, const mesh_matrix *b)
{
    mesh_matrix result;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            result.m[r][c] = a->m[r][0] * b->m[0][c] + a->m[r][1] * b->m[1][c] + a->m[r][2] * b->m[2][c] +
                             (c == 3 ? a->m[r][3] : 0.0);
    return result;
}

int mesh_matrix_is_identity(const mesh_matrix *a)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if (!(fabs(a->m[r][c] - mesh_matrix_identity.m[r][c]) <= 0.0))
                return 0;
    return 1;
}

void mesh_matrix_apply(const mesh_matrix *a, int identity, const double v[3], float xyz[3])
{
    for (int r = 0; r < 3; r++)
        xyz[r] = (float)(identity ? v[r] : a->m[r][0] * v[0] + a->m[r][1] * v[1] + a->m[r][2] * v[2] + a->m[r][3]);
}

/* A mirror turns each triangle over, which would make outward faces look inwards (glTF 2.0, section 3.7.4). */
void mesh_placed_turn(const mesh_matrix *a, mesh_data *mesh, uint64_t first)
{
    if (mesh_determinant_sign(a->m) >= 0)
        return;
    for (uint64_t t = first; t < mesh->triangle_count; t++) {
        uint32_t *corner = mesh->indices + 3 * t, second = corner[1];
        corner[1] = corner[2];
        corner[2] = second;
    }
}

void mesh_placed_count(mesh_placed *placed, const mesh_matrix *a, int skinned)
{
    placed->moved += !mesh_matrix_is_identity(a);
    placed->mirrored += mesh_determinant_sign(a->m) < 0;
    placed->skinned += skinned != 0;
}

void mesh_placed_note(const mesh_placed *placed, mesh_data *mesh)
{
    if (placed->moved)
        mesh_note(mesh, "%llu parts were placed by the transforms of their nodes", (unsigned long long)placed->moved);
    if (placed->mirrored)
        mesh_note(
            mesh,
            "%llu of them are mirrored: corners 1 and 2 of each of their triangles changed places, so that the same "
            "side looks outwards",
            (unsigned long long)placed->mirrored);
    if (placed->skinned)
        mesh_note(mesh, "%llu parts have bones: they stand as stored, not posed", (unsigned long long)placed->skinned);
}
