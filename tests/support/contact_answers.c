/* SPDX-License-Identifier: MIT */
#include "contact_answers.h"

#include <math.h>

carom_mesh_contacts_desc swept_spheres_contacts(const swept_spheres *b, const contact_call *call)
{
    carom_mesh_contacts_desc desc;
    const carom_mesh_overlap_desc at_rest = swept_spheres_at_rest(b, 0, b->count);
    memset(&desc, 0, sizeof desc);
    desc.batch = at_rest.batch;
    desc.batch.size = sizeof desc;
    desc.batch.accuracy = call->accuracy;
    desc.center = at_rest.center;
    desc.radius = at_rest.radius;
    desc.mask = at_rest.mask;
    desc.margin = call->margin;
    desc.merge_within = call->merge_within;
    desc.flat = call->flat;
    return desc;
}

contact_answers contact_answers_alloc(size_t spheres, size_t capacity)
{
    contact_answers a = {.queries = spheres};
    a.offsets = test_alloc(spheres + 1, sizeof *a.offsets);
    a.query = test_alloc(capacity, sizeof *a.query);
    a.triangle = test_alloc(capacity, sizeof *a.triangle);
    a.instance = test_alloc(capacity, sizeof *a.instance);
    a.feature = test_alloc(capacity, sizeof *a.feature);
    a.distance = test_alloc(capacity, sizeof *a.distance);
    a.point = test_alloc(3 * capacity, sizeof *a.point);
    a.normal = test_alloc(3 * capacity, sizeof *a.normal);
    a.depth = test_alloc(capacity, sizeof *a.depth);
    a.patch = test_alloc(capacity, sizeof *a.patch);
    return a;
}

void contact_answers_free(contact_answers *a)
{
    free(a->offsets);
    free(a->query);
    free(a->triangle);
    free(a->instance);
    free(a->feature);
    free(a->distance);
    free(a->point);
    free(a->normal);
    free(a->depth);
    free(a->patch);
}

carom_contact_list contact_answers_list(const contact_answers *a, size_t capacity, carom_list_totals *totals)
{
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = capacity,
                                     .offsets = a->offsets,
                                     .query = a->query,
                                     .triangle = a->triangle,
                                     .feature = a->feature,
                                     .distance = a->distance,
                                     .point = carom_xyz_out(a->point),
                                     .normal = carom_xyz_out(a->normal),
                                     .depth = a->depth,
                                     .patch = a->patch,
                                     .totals = totals};
    return list;
}

static contact_answers ask_mesh(carom_mesh *mesh, const swept_spheres *b, const contact_call *call, int of_scene)
{
    const carom_mesh_contacts_desc desc = swept_spheres_contacts(b, call);
    carom_list_totals totals = {0};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    const carom_contact_list none = {.size = sizeof none, .totals = &totals};
    if (carom_mesh_contacts(mesh, &desc, &none, NULL, &err) != CAROM_OK)
        fail_msg("%s", err.message);
    contact_answers a = contact_answers_alloc(b->count, (size_t)totals.total + 1);
    a.count = (size_t)totals.total;
    carom_contact_list list = contact_answers_list(&a, a.count, &totals);
    list.instance = of_scene ? a.instance : NULL;
    if (carom_mesh_contacts(mesh, &desc, &list, &stats, &err) != CAROM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(totals.total, a.count);
    assert_int_equal(totals.stored, a.count);
    assert_int_equal(totals.complete, b->count);
    assert_int_equal(a.offsets[b->count], a.count);
    a.by_integers = stats.by_integers;
    return a;
}

contact_answers ask_contacts(carom_mesh *mesh, const swept_spheres *b, const contact_call *call)
{
    return ask_mesh(mesh, b, call, 0);
}

contact_answers ask_contacts_of_scene(carom_mesh *mesh, const swept_spheres *b, const contact_call *call)
{
    return ask_mesh(mesh, b, call, 1);
}

contact_answers ask_scene_contacts(carom_context *context, const scene *s, const swept_spheres *b,
                                   const contact_call *call)
{
    carom_mesh *mesh = scene_mesh(context, s);
    contact_answers a = ask_contacts(mesh, b, call);
    carom_mesh_destroy(mesh);
    return a;
}

static void print_record(const contact_answers *a, size_t k)
{
    print_error("query %llu triangle %d %s distance %a point %a %a %a normal %a %a %a depth %a patch %u\n",
                (unsigned long long)a->query[k], a->triangle[k], carom_feature_name((carom_feature)a->feature[k]),
                (double)a->distance[k], (double)a->point[3 * k], (double)a->point[3 * k + 1],
                (double)a->point[3 * k + 2], (double)a->normal[3 * k], (double)a->normal[3 * k + 1],
                (double)a->normal[3 * k + 2], (double)a->depth[k], a->patch[k]);
}

static void print_sphere(const swept_spheres *b, size_t i)
{
    print_error("sphere %zu: centre %a %a %a radius %a\n", i, (double)b->column[0][i], (double)b->column[1][i],
                (double)b->column[2][i], (double)b->column[SPHERE_RADIUS][i]);
}

static int differs(const contact_answers *a, const contact_answers *b, size_t k)
{
    return a->query[k] != b->query[k] || a->triangle[k] != b->triangle[k] || a->feature[k] != b->feature[k] ||
           a->patch[k] != b->patch[k] || a->instance[k] != b->instance[k] ||
           memcmp(&a->distance[k], &b->distance[k], sizeof(float)) != 0 ||
           memcmp(&a->depth[k], &b->depth[k], sizeof(float)) != 0 ||
           memcmp(&a->point[3 * k], &b->point[3 * k], 3 * sizeof(float)) != 0 ||
           memcmp(&a->normal[3 * k], &b->normal[3 * k], 3 * sizeof(float)) != 0;
}

void contact_answers_compare(const swept_spheres *b, const contact_answers *expected, const contact_answers *got,
                             const char *label)
{
    const size_t count = expected->count < got->count ? expected->count : got->count;
    for (size_t k = 0; k < count; k++)
        if (differs(expected, got, k)) {
            print_sphere(b, (size_t)expected->query[k]);
            print_record(expected, k);
            print_record(got, k);
            fail_msg("%s: record %zu differs", label, k);
        }
    if (expected->count != got->count)
        fail_msg("%s: %zu records, not %zu", label, got->count, expected->count);
    assert_memory_equal(expected->offsets, got->offsets, (expected->queries + 1) * sizeof *got->offsets);
}

/* What is wrong with record k, which should be this contact. */
static const char *judge(const swept_spheres *b, const scene *s, size_t i, const ref_mesh_contact *truth,
                         const contact_answers *a, size_t k)
{
    double largest = 0.0;
    float p[3][3];
    if (a->query[k] != i)
        return "query";
    if (a->triangle[k] != truth->triangle)
        return "triangle";
    if (a->feature[k] != truth->closest.feature)
        return "feature";
    if (memcmp(&a->distance[k], &truth->closest.distance, sizeof(float)) != 0)
        return "distance";
    const float depth = b->column[SPHERE_RADIUS][i] - a->distance[k] + 0.0f;
    if (memcmp(&a->depth[k], &depth, sizeof depth) != 0)
        return "depth";
    scene_triangle(s, (size_t)truth->triangle, p);
    for (int c = 0; c < 9; c++)
        largest = fmax(largest, fabs((double)p[c / 3][c % 3]));
    for (int c = 0; c < 3; c++)
        largest = fmax(largest, fabs((double)b->column[c][i]));
    for (size_t c = 0; c < 3; c++) {
        if (!(fabs((double)a->point[3 * k + c] - truth->closest.point[c]) <= largest * 0x1p-23 + 0x1p-149))
            return "point";
        if (!(fabs((double)a->normal[3 * k + c] - truth->normal[c]) <= 0x1p-23))
            return "normal";
    }
    return NULL;
}

void judge_contacts(const scene *s, const swept_spheres *b, size_t i, const contact_call *call,
                    const float (*points)[3], const contact_answers *a, const char *name)
{
    const ref_mesh mesh = {s->vertices, s->indices, s->triangle_count, s->masks};
    const ref_contact_options options = {
        b->mask != NULL ? b->mask[i] : UINT32_MAX, call->margin, call->merge_within, points, call->own, call->part};
    ref_sweep_case ball;
    ref_mesh_contact_list truth;
    swept_spheres_case(b, i, s, 0, &ball);
    if (ref_mesh_contacts(&mesh, &ball, &options, &truth) != NULL)
        fail_msg("no memory");
    const size_t first = (size_t)a->offsets[i], count = (size_t)(a->offsets[i + 1] - a->offsets[i]);
    const char *wrong = count == truth.count ? NULL : "number of contacts";
    for (size_t k = 0; wrong == NULL && k < count; k++)
        wrong = judge(b, s, i, &truth.contacts[k], a, first + k);
    if (wrong != NULL) {
        print_sphere(b, i);
        for (size_t k = 0; k < count; k++)
            print_record(a, first + k);
        for (size_t k = 0; k < truth.count; k++) {
            const ref_mesh_contact *t = &truth.contacts[k];
            print_error("true: triangle %d feature %d distance %a point %a %a %a normal %a %a %a\n", t->triangle,
                        t->closest.feature, (double)t->closest.distance, t->closest.point[0], t->closest.point[1],
                        t->closest.point[2], t->normal[0], t->normal[1], t->normal[2]);
        }
        fail_msg("%s: sphere %zu: %s", name, i, wrong);
    }
    free(truth.contacts);
}
