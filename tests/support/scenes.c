/* SPDX-License-Identifier: MIT */
#include "scenes.h"

#include "host/core/context.h"
#include "queries/shapes.h"

#include <math.h>

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

scene scene_alloc(size_t vertices, size_t triangles)
{
    return (scene){test_alloc(3 * vertices, sizeof(float)), test_alloc(3 * triangles, sizeof(uint32_t)), vertices,
                   triangles, NULL};
}

scene scene_alloc_apart(size_t triangles)
{
    scene s = scene_alloc(3 * triangles, triangles);
    for (size_t i = 0; i < s.vertex_count; i++)
        s.indices[i] = (uint32_t)i;
    return s;
}

void scene_free(scene *s)
{
    free(s->vertices);
    free(s->indices);
    free(s->masks);
    *s = (scene){0};
}

scene scene_copy(const scene *from)
{
    scene s = scene_alloc(from->vertex_count, from->triangle_count);
    memcpy(s.vertices, from->vertices, 3 * from->vertex_count * sizeof *s.vertices);
    memcpy(s.indices, from->indices, 3 * from->triangle_count * sizeof *s.indices);
    if (from->masks != NULL) {
        s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
        memcpy(s.masks, from->masks, s.triangle_count * sizeof *s.masks);
    }
    return s;
}

scene scene_soup(uint64_t seed, size_t triangles, double size)
{
    scene s = scene_alloc_apart(triangles);
    for (size_t i = 0; i < triangles; i++) {
        ref_gen g;
        ref_gen_seed(&g, 100, seed, i);
        shape_soup_triangle(&g, size, 1.0, 0.0, &s.vertices[9 * i]);
    }
    return s;
}

scene scene_deep(uint64_t seed, size_t triangles)
{
    scene s = scene_soup(seed, triangles, 0.5);
    float size = 1.0f;
    for (size_t i = 0; i < triangles; i++, size *= 0.99f)
        for (size_t k = 0; k < 9; k++)
            s.vertices[9 * i + k] = size * (1.0f + 0.01f * s.vertices[9 * i + k]);
    return s;
}

/* The sphere is an octahedron with n segments an edge, blown up: vertices are whole x y z with |x| + |y| + |z| = n. */
typedef struct octahedron {
    scene s;
    int n;
    int32_t *known; /* vertex at x y z, -1: none yet */
} octahedron;

static uint32_t octahedron_vertex(octahedron *o, const int at[3])
{
    int side = 2 * o->n + 1;
    int32_t *known = &o->known[((at[0] + o->n) * side + at[1] + o->n) * side + at[2] + o->n];
    if (*known < 0) {
        double length = sqrt((double)(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]));
        *known = (int32_t)o->s.vertex_count++;
        for (int k = 0; k < 3; k++)
            o->s.vertices[3 * *known + k] = (float)(at[k] / length);
    }
    return (uint32_t)*known;
}

static void octahedron_triangle(octahedron *o, const int sign[3], int a0, int b0, int a1, int b1, int a2, int b2)
{
    const int corners[3][2] = {{a0, b0}, {a1, b1}, {a2, b2}};
    int mirrored = sign[0] * sign[1] * sign[2] < 0;
    uint32_t *to = &o->s.indices[3 * o->s.triangle_count++];
    for (int v = 0; v < 3; v++) {
        const int *c = corners[mirrored ? 2 - v : v];
        const int at[3] = {sign[0] * c[0], sign[1] * c[1], sign[2] * (o->n - c[0] - c[1])};
        to[v] = octahedron_vertex(o, at);
    }
}

scene scene_sphere(int n)
{
    size_t side = 2 * (size_t)n + 1, cells = (size_t)n * (size_t)n;
    octahedron o = {scene_alloc(4 * cells + 2, 8 * cells), n, test_alloc(side * side * side, sizeof(int32_t))};
    memset(o.known, 0xff, side * side * side * sizeof *o.known);
    o.s.vertex_count = o.s.triangle_count = 0;
    for (int face = 0; face < 8; face++) {
        const int sign[3] = {face & 1 ? -1 : 1, face & 2 ? -1 : 1, face & 4 ? -1 : 1};
        for (int a = 0; a < n; a++)
            for (int b = 0; a + b < n; b++) {
                octahedron_triangle(&o, sign, a, b, a + 1, b, a, b + 1);
                if (a + b + 1 < n)
                    octahedron_triangle(&o, sign, a + 1, b, a + 1, b + 1, a, b + 1);
            }
    }
    free(o.known);
    return o.s;
}

scene scene_floor(int n)
{
    size_t side = (size_t)n + 1;
    scene s = scene_alloc(side * side, 2 * (size_t)n * (size_t)n);
    for (size_t i = 0; i < side * side; i++) {
        s.vertices[3 * i] = (float)((double)(i % side) / n * 2.0 - 1.0);
        s.vertices[3 * i + 1] = (float)((double)(i / side) / n * 2.0 - 1.0);
    }
    uint32_t *to = s.indices;
    for (uint32_t y = 0; y < (uint32_t)n; y++)
        for (uint32_t x = 0; x < (uint32_t)n; x++) {
            uint32_t a = y * (uint32_t)side + x, b = a + (uint32_t)side;
            const uint32_t corners[6] = {a, a + 1, b, a + 1, b + 1, b};
            memcpy(to, corners, sizeof corners);
            to += 6;
        }
    return s;
}

scene scene_box(float lx, float ly, float lz, float hx, float hy, float hz)
{
    static const uint32_t indices[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    scene s = scene_alloc(8, 12);
    for (int i = 0; i < 8; i++) {
        s.vertices[3 * i] = i & 1 ? hx : lx;
        s.vertices[3 * i + 1] = i & 2 ? hy : ly;
        s.vertices[3 * i + 2] = i & 4 ? hz : lz;
    }
    memcpy(s.indices, indices, sizeof indices);
    return s;
}

scene scene_both(scene a, scene b)
{
    scene s = scene_alloc(a.vertex_count + b.vertex_count, a.triangle_count + b.triangle_count);
    memcpy(s.vertices, a.vertices, 3 * a.vertex_count * sizeof *s.vertices);
    memcpy(s.vertices + 3 * a.vertex_count, b.vertices, 3 * b.vertex_count * sizeof *s.vertices);
    memcpy(s.indices, a.indices, 3 * a.triangle_count * sizeof *s.indices);
    for (size_t i = 0; i < 3 * b.triangle_count; i++)
        s.indices[3 * a.triangle_count + i] = b.indices[i] + (uint32_t)a.vertex_count;
    scene_free(&a);
    scene_free(&b);
    return s;
}

void scene_scale(scene *s, int exponent)
{
    for (size_t i = 0; i < 3 * s->vertex_count; i++)
        s->vertices[i] = ldexpf(s->vertices[i], exponent);
}

scene scene_reorder(const scene *from, const uint32_t *order, size_t count)
{
    scene s = scene_alloc(from->vertex_count, count);
    memcpy(s.vertices, from->vertices, 3 * from->vertex_count * sizeof *s.vertices);
    for (size_t i = 0; i < count; i++)
        memcpy(&s.indices[3 * i], &from->indices[3 * (size_t)order[i]], 3 * sizeof *s.indices);
    if (from->masks != NULL)
        s.masks = test_alloc(count, sizeof *s.masks);
    for (size_t i = 0; from->masks != NULL && i < count; i++)
        s.masks[i] = from->masks[order[i]];
    return s;
}

void scene_triangle(const scene *s, size_t triangle, float p[3][3])
{
    for (size_t v = 0; v < 3; v++)
        memcpy(p[v], &s->vertices[3 * (size_t)s->indices[3 * triangle + v]], 3 * sizeof(float));
}

uint32_t scene_largest(const scene *s)
{
    float largest = 0.0f;
    uint32_t found = 0;
    for (size_t i = 0; i < 3 * s->triangle_count; i++)
        for (size_t k = 0; k < 3; k++) {
            const float value = fabsf(s->vertices[3 * (size_t)s->indices[i] + k]);
            if (value > largest) {
                largest = value;
                found = (uint32_t)(i / 3);
            }
        }
    return found;
}

carom_mesh_desc scene_desc(const scene *s)
{
    float *v = s->vertices;
    return (carom_mesh_desc){.size = sizeof(carom_mesh_desc),
                             .vertices = {v, v != NULL ? v + 1 : NULL, v != NULL ? v + 2 : NULL, 12},
                             .vertex_count = s->vertex_count,
                             .indices = {s->indices, sizeof(uint32_t)},
                             .triangle_count = s->triangle_count,
                             .masks = {s->masks, sizeof(uint32_t)}};
}

carom_mesh *scene_mesh(carom_context *context, const scene *s)
{
    carom_mesh_desc desc = scene_desc(s);
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    test_ok("carom_mesh_create", carom_mesh_create(context, &desc, &mesh, &err), &err);
    return mesh;
}

carom_mesh *scene_mesh_of_devices(carom_context *context, const scene *s)
{
    const caromi_isa_table *own = context->isa;
    caromi_isa_table wide = *own;
    wide.mesh_width = MESH_WIDEST;
    context->isa = &wide;
    carom_mesh *mesh = scene_mesh(context, s);
    context->isa = own;
    return mesh;
}

float *random_limits(uint64_t seed, size_t count)
{
    float *limits = test_alloc(count, sizeof *limits);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 104, seed, i);
        limits[i] = ref_gen_chance(&g, 2) ? HUGE_VALF : ref_round(ref_gen_range(&g, 0.0, 2.0));
    }
    return limits;
}

uint32_t *random_masks(uint64_t seed, size_t count)
{
    uint32_t *masks = test_alloc(count, sizeof *masks);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 103, seed, i);
        const int kind = ref_gen_int(&g, 0, 7);
        for (uint32_t bit = 0; bit < 32; bit++)
            masks[i] |= (uint32_t)ref_gen_int(&g, 0, 1) << bit;
        masks[i] = kind == 0   ? 0
                   : kind == 1 ? UINT32_MAX
                   : kind == 2 ? UINT32_C(1) << ref_gen_int(&g, 0, 31)
                   : kind == 3 ? UINT32_C(0x80000001)
                   : kind == 4 ? masks[i] & UINT32_C(0x7f800000) /* an infinity for a float */
                               : masks[i];
    }
    return masks;
}

uint32_t *random_order(uint64_t seed, size_t count)
{
    uint32_t *order = test_alloc(count, sizeof *order);
    ref_gen g;
    ref_gen_seed(&g, 101, seed, count);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)ref_gen_int(&g, 0, (int)i - 1);
        uint32_t swapped = order[j];
        order[j] = order[i - 1];
        order[i - 1] = swapped;
    }
    return order;
}

turned_scene scene_turn(uint64_t seed, const scene *from)
{
    const size_t count = from->triangle_count;
    turned_scene t = {.order = random_order(seed, count), .where = test_alloc(count, sizeof *t.where)};
    for (uint32_t i = 0; i < count; i++)
        t.where[t.order[i]] = i;
    t.s = scene_reorder(from, t.order, count);
    return t;
}

void turned_free(turned_scene *t)
{
    scene_free(&t->s);
    free(t->order);
    free(t->where);
}

int turned_agrees(const turned_scene *t, int32_t before, int32_t there)
{
    const int32_t after = there >= 0 ? (int32_t)t->order[there] : -1;
    return before == after || (before >= 0 && before < after && there < (int32_t)t->where[before]);
}

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

swept_spheres swept_spheres_alloc(size_t count)
{
    swept_spheres b = {.count = count};
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        b.column[c] = test_alloc(count, sizeof(float));
    for (size_t i = 0; i < count; i++)
        b.column[SPHERE_T_MAX][i] = HUGE_VALF;
    return b;
}

void swept_spheres_free(swept_spheres *b)
{
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        free(b->column[c]);
    free(b->mask);
    free(b->max_distance);
}

/* One sphere that starts at `distance` in a random direction and moves towards a point near the origin; with distance 0
 * it starts inside. */
static void make_ball(ref_gen *g, double distance, double radius, double speed, float out[7])
{
    double way[3], target[3];
    ref_gen_direction(g, way);
    ref_gen_box(g, target, 1.1);
    for (int k = 0; k < 3; k++) {
        out[k] = (float)(target[k] + way[k] * distance);
        out[4 + k] = (float)(-way[k] * speed);
    }
    out[SPHERE_RADIUS] = (float)radius;
}

static void make_mixed_ball(ref_gen *g, int kind, float out[7])
{
    double radius = ref_gen_range(g, 0.001, 0.1), speed = ref_gen_range(g, 0.2, 3.0);
    double distance = kind < 5 ? ref_gen_range(g, 0.5, 6.0) : kind < 8 ? 0.0 : kind < 10 ? 1e3 : kind < 11 ? 1e6 : 3.0;
    if (kind == 11 || kind == 12)
        radius = 0.0;
    if (kind == 13 || kind == 14) {
        speed = 0.0;
        distance = 0.0;
    }
    make_ball(g, distance, radius, speed, out);
    if (kind == 15) {
        static const float bad[] = {HUGE_VALF, -HUGE_VALF, -1.0f};
        int place = ref_gen_int(g, 0, 6);
        out[place] = place == SPHERE_RADIUS ? bad[2] : bad[ref_gen_int(g, 0, 1)];
    }
}

swept_spheres swept_spheres_mixed(uint64_t seed, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float one[7];
        ref_gen_seed(&g, 102, seed, i);
        make_mixed_ball(&g, ref_gen_int(&g, 0, 15), one);
        for (int c = 0; c < 7; c++)
            b.column[c][i] = one[c];
    }
    return b;
}

void swept_spheres_scale(swept_spheres *b, int length, int time)
{
    for (size_t i = 0; i < b->count; i++) {
        for (int c = 0; c < SPHERE_T_MAX; c++)
            b->column[c][i] = ldexpf(b->column[c][i], c > SPHERE_RADIUS ? length - time : length);
        b->column[SPHERE_T_MAX][i] = ldexpf(b->column[SPHERE_T_MAX][i], time);
        if (b->max_distance != NULL)
            b->max_distance[i] = ldexpf(b->max_distance[i], length);
    }
}

void swept_spheres_end(swept_spheres *b)
{
    b->ends = 1;
    for (size_t i = 0; i < b->count; i++) {
        for (int k = 0; k < 3; k++)
            b->column[SPHERE_VELOCITY + k][i] += b->column[k][i];
        if (b->column[SPHERE_T_MAX][i] > 1.0f)
            b->column[SPHERE_T_MAX][i] = 1.0f;
    }
}

void swept_spheres_case(const swept_spheres *b, size_t i, const scene *s, size_t triangle, ref_sweep_case *out)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 3; k++) {
        out->center[k] = b->column[k][i];
        out->velocity[k] = b->column[4 + k][i];
        out->w[k] = b->ends ? out->center[k] : 0.0f;
    }
    out->radius = (double)b->column[SPHERE_RADIUS][i];
    scene_triangle(s, triangle, out->p);
}

carom_mesh_sweep_desc swept_spheres_desc(const swept_spheres *b, size_t first, size_t count)
{
    float *const *c = b->column;
    const carom_points none = {0}, motion = carom_soa(c[4] + first, c[5] + first, c[6] + first);
    return (carom_mesh_sweep_desc){.batch.size = sizeof(carom_mesh_sweep_desc),
                                   .batch.count = count,
                                   .center = carom_soa(c[0] + first, c[1] + first, c[2] + first),
                                   .velocity = b->ends ? none : motion,
                                   .end = b->ends ? motion : none,
                                   .radius = carom_scalars_of(c[SPHERE_RADIUS] + first),
                                   .t_max = carom_scalars_of(c[SPHERE_T_MAX] + first),
                                   .cull_back = (uint8_t)b->cull_back,
                                   .start = b->start,
                                   .mask = carom_uints_of(b->mask != NULL ? b->mask + first : NULL)};
}

carom_mesh_overlap_desc swept_spheres_at_rest(const swept_spheres *b, size_t first, size_t count)
{
    float *const *c = b->column;
    return (carom_mesh_overlap_desc){.batch.size = sizeof(carom_mesh_overlap_desc),
                                     .batch.count = count,
                                     .center = carom_soa(c[0] + first, c[1] + first, c[2] + first),
                                     .radius = carom_scalars_of(c[SPHERE_RADIUS] + first),
                                     .mask = carom_uints_of(b->mask != NULL ? b->mask + first : NULL)};
}

carom_mesh_closest_desc swept_spheres_closest(const swept_spheres *b, size_t first, size_t count)
{
    const carom_mesh_overlap_desc rest = swept_spheres_at_rest(b, first, count);
    return (carom_mesh_closest_desc){.batch.size = sizeof(carom_mesh_closest_desc),
                                     .batch.count = count,
                                     .center = rest.center,
                                     .radius = rest.radius,
                                     .max_distance = {b->max_distance != NULL ? b->max_distance + first : NULL, 4},
                                     .mask = rest.mask};
}

swept_spheres swept_spheres_reorder(const swept_spheres *from, const uint32_t *order, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    b.cull_back = from->cull_back;
    b.ends = from->ends;
    b.start = from->start;
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        for (size_t i = 0; i < count; i++)
            b.column[c][i] = from->column[c][order[i]];
    if (from->mask != NULL)
        b.mask = test_alloc(count, sizeof *b.mask);
    for (size_t i = 0; from->mask != NULL && i < count; i++)
        b.mask[i] = from->mask[order[i]];
    if (from->max_distance != NULL)
        b.max_distance = test_alloc(count, sizeof *b.max_distance);
    for (size_t i = 0; from->max_distance != NULL && i < count; i++)
        b.max_distance[i] = from->max_distance[order[i]];
    return b;
}

/* ---- hits -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t size;
} hit_fields[HIT_FIELDS] = {{"triangle", 4}, {"state", 1}, {"t", 4},  {"x", 4},  {"y", 4},
                            {"z", 4},        {"nx", 4},    {"ny", 4}, {"nz", 4}, {"feature", 1}};

size_t hit_field_size(int field)
{
    return hit_fields[field].size;
}

hits hits_alloc(size_t count, unsigned char fill)
{
    hits h = {.count = count};
    for (int f = 0; f < HIT_FIELDS; f++)
        h.field[f] = guarded_alloc(count * hit_fields[f].size, 0, fill);
    return h;
}

void hits_free(hits *h)
{
    for (int f = 0; f < HIT_FIELDS; f++)
        guarded_free(&h->field[f]);
}

static void *place_of(const hits *h, int field, size_t first)
{
    return h->field[field].data + first * hit_fields[field].size;
}

carom_mesh_hit_result hits_result(const hits *h, size_t first)
{
    return (carom_mesh_hit_result){
        .size = sizeof(carom_mesh_hit_result),
        place_of(h, HIT_TRIANGLE, first),
        place_of(h, HIT_STATE, first),
        place_of(h, HIT_T, first),
        {place_of(h, HIT_X, first), place_of(h, HIT_Y, first), place_of(h, HIT_Z, first), 4},
        {place_of(h, HIT_NX, first), place_of(h, HIT_NY, first), place_of(h, HIT_NZ, first), 4},
        place_of(h, HIT_FEATURE, first)};
}

int32_t hit_triangle(const hits *h, size_t i)
{
    int32_t value;
    memcpy(&value, place_of(h, HIT_TRIANGLE, i), sizeof value);
    return value;
}

int hit_state(const hits *h, size_t i)
{
    return h->field[HIT_STATE].data[i];
}

float hit_float(const hits *h, int field, size_t i)
{
    float value;
    memcpy(&value, place_of(h, field, i), sizeof value);
    return value;
}

int hit_is_some(const hits *h, size_t i)
{
    return hit_triangle(h, i) >= 0;
}

void hits_print_at(const swept_spheres *b, size_t i, const hits *h, size_t k, const char *label)
{
    static const char *const columns[SPHERE_COLUMNS] = {"cx", "cy", "cz", "r", "vx", "vy", "vz", "t_max"};
    print_error("sphere %zu:", i);
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        print_error(" %s=%a", columns[c], (double)b->column[c][i]);
    print_error("\n  %s: triangle=%d state=%d feature=%d", label, hit_triangle(h, k), hit_state(h, k),
                h->field[HIT_FEATURE].data[k]);
    for (int f = HIT_T; f <= HIT_NZ; f++)
        print_error(" %s=%a", hit_fields[f].name, (double)hit_float(h, f, k));
    print_error("\n");
}

void hits_print(const swept_spheres *b, const hits *h, size_t i, const char *label)
{
    hits_print_at(b, i, h, i, label);
}

void hits_compare(const swept_spheres *b, const hits *expected, const hits *got, size_t count, int fields,
                  const char *label)
{
    for (int f = 0; f < HIT_FIELDS; f++) {
        size_t size = hit_fields[f].size, i = 0;
        guarded_check(&got->field[f], label);
        if (!(fields >> f & 1) || count == 0 || !memcmp(place_of(expected, f, 0), place_of(got, f, 0), count * size))
            continue;
        while (!memcmp(place_of(expected, f, i), place_of(got, f, i), size))
            i++;
        hits_print(b, expected, i, "expected");
        hits_print(b, got, i, label);
        fail_msg("%s: %s differs", label, hit_fields[f].name);
    }
}

static void sweep_into(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, const hits *out)
{
    carom_mesh_sweep_desc desc = swept_spheres_desc(b, 0, b->count);
    carom_mesh_hit_result result = hits_result(out, 0);
    carom_error err = {0};
    desc.batch.accuracy = accuracy;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
}

void sweep_first(carom_mesh *mesh, const swept_spheres *b, const hits *out)
{
    sweep_into(mesh, b, CAROM_ACCURACY_FAST, out);
}

hits sweep_as(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy)
{
    hits h = hits_alloc(b->count, 0xa5);
    sweep_into(mesh, b, accuracy, &h);
    return h;
}

hits sweep_scene(carom_context *context, const scene *s, const swept_spheres *b)
{
    carom_mesh *mesh = scene_mesh(context, s);
    hits h = sweep_as(mesh, b, CAROM_ACCURACY_FAST);
    carom_mesh_destroy(mesh);
    return h;
}
