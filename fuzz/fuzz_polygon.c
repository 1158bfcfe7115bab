/* SPDX-License-Identifier: MIT */
/* One polygon: points of a small lattice, judged in integers, or any numbers in space. */
#include "cli/base/base.h"
#include "fuzz.h"
#include "reader.h"
#include "tests/support/polygon_oracle.h"

#include <stdlib.h>

enum { CORNERS_MAX = 48 };

/* 6 bits a corner; repeats of a point are corners of their own. */
static size_t lattice_polygon(fuzz_source *s, mesh_data *mesh, lattice_point *p)
{
    const unsigned plane = fuzz_byte(s) % 3;
    size_t n = 0;
    while (s->at < s->size && n < CORNERS_MAX) {
        const unsigned b = fuzz_byte(s);
        p[n] = (lattice_point){(int32_t)(b & 7), (int32_t)(b >> 3 & 7)};
        const float x = 4096.0f + (float)p[n].x * 0.25f, y = (float)p[n].y;
        const float xyz[3] = {plane == 1 ? y : x,
                              plane == 0   ? y
                              : plane == 1 ? 0
                                           : x - y,
                              plane == 0   ? -1
                              : plane == 1 ? x
                                           : y};
        if (mesh_add_vertex(mesh, xyz) != EXIT_DONE)
            abort();
        n++;
    }
    return n;
}

static size_t any_polygon(fuzz_source *s, mesh_data *mesh)
{
    size_t n = 0;
    while (s->at < s->size && n < CORNERS_MAX) {
        float xyz[3];
        fuzz_vector(s, xyz);
        if (mesh_add_vertex(mesh, xyz) != EXIT_DONE)
            abort();
        n++;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    mesh_data mesh = {0};
    lattice_point p[CORNERS_MAX];
    uint32_t corners[CORNERS_MAX];
    const int on_lattice = fuzz_byte(&s) % 4 != 0;
    const size_t n = on_lattice ? lattice_polygon(&s, &mesh, p) : any_polygon(&s, &mesh);
    for (size_t i = 0; i < n; i++)
        corners[i] = (uint32_t)i;
    if (mesh_add_polygon(&mesh, corners, n) != EXIT_DONE)
        fuzz_fail("is refused", "polygon", NULL, 0);
    fuzz_check_mesh(&mesh);
    if (n >= 3 && mesh.triangle_count > n - 2)
        fuzz_fail("more than n - 2 triangles", "polygon", mesh.xyz, 3 * n);
    if (on_lattice && n > 3 && polygon_covers_once(p, n)) {
        const char *wrong = mesh.fans == 0            ? polygon_judge(p, n, mesh.indices, (size_t)mesh.triangle_count)
                            : polygon_is_simple(p, n) ? "a simple polygon is given up"
                                                      : NULL;
        if (wrong)
            fuzz_fail(wrong, "polygon", mesh.xyz, 3 * n);
    }
    mesh_free(&mesh);
    return 0;
}
