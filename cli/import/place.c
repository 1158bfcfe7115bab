/* SPDX-License-Identifier: MIT */
#include "place.h"
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

static double determinant(const mesh_matrix *a)
{
    const double(*m)[4] = a->m;
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

void mesh_placed_count(mesh_placed *placed, const mesh_matrix *a, int skinned)
{
    placed->moved += !mesh_matrix_is_identity(a);
    placed->mirrored += determinant(a) < 0;
    placed->skinned += skinned != 0;
}

void mesh_placed_note(const mesh_placed *placed, mesh_data *mesh)
{
    if (placed->moved)
        mesh_note(mesh, "%llu parts were placed by the transforms of their nodes", (unsigned long long)placed->moved);
    if (placed->mirrored)
        mesh_note(mesh, "%llu of them are mirrored: their triangles turn the other way",
                  (unsigned long long)placed->mirrored);
    if (placed->skinned)
        mesh_note(mesh, "%llu parts have bones: they stand as stored, not posed", (unsigned long long)placed->skinned);
}
