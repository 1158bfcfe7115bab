/* SPDX-License-Identifier: MIT */
/* Contacts from the definition: the square of every triangle's distance, a fraction, and for each triangle all others
 * that contain its closest point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh.h"
#include "space.h"

typedef struct candidate {
    int32_t triangle;
    ref_nearest nearest;
} candidate;

typedef struct contact_search {
    const ref_mesh *mesh;
    const ref_sweep_case *ball;
    const ref_contact_options *options;
    candidate *candidates; /* triangles that may be within reach, and so all that may come before them */
    size_t count;
} contact_search;

static ref_sweep_case pair_of(const contact_search *s, const float center[3], int32_t triangle)
{
    ref_sweep_case c = *s->ball;
    for (int k = 0; k < 3; k++)
        c.center[k] = center[k];
    ref_mesh_triangle(s->mesh, (size_t)triangle, c.p);
    return c;
}

/* Whether top / bottom <= (a + b)^2. */
static int is_within(const ref_nearest *nearest, float a, float b)
{
    ref_dyadic limit, more;
    ref_dyadic_from_float(&limit, a);
    ref_dyadic_from_float(&more, b);
    ref_dyadic_add(&limit, &limit, &more);
    ref_dyadic_mul(&limit, &limit, &limit);
    ref_dyadic_mul(&limit, &limit, &nearest->bottom);
    return ref_dyadic_cmp(&nearest->top, &limit) <= 0;
}

static int comes_before(const candidate *j, const candidate *k)
{
    ref_dyadic left, right;
    ref_dyadic_mul(&left, &j->nearest.top, &k->nearest.bottom);
    ref_dyadic_mul(&right, &k->nearest.top, &j->nearest.bottom);
    const int order = ref_dyadic_cmp(&left, &right);
    return order != 0 ? order < 0 : j->triangle < k->triangle;
}

static int is_corner_of(const float x[3], float p[3][3])
{
    for (int v = 0; v < 3; v++)
        if (!(x[0] < p[v][0] || x[0] > p[v][0] || x[1] < p[v][1] || x[1] > p[v][1] || x[2] < p[v][2] || x[2] > p[v][2]))
            return 1;
    return 0;
}

/* The corners by which features are compared. */
static void corners_of(const contact_search *s, int32_t triangle, float p[3][3])
{
    if (s->options->own != NULL)
        memcpy(p, s->options->own[triangle], 9 * sizeof(float));
    else
        ref_mesh_triangle(s->mesh, (size_t)triangle, p);
}

/* Whether j has all corners of k's closest feature; and for a face no others. */
static int has_feature(const contact_search *s, const candidate *j, const candidate *k)
{
    float p[3][3], q[3][3];
    const int feature = k->nearest.feature;
    if (s->options->part != NULL && s->options->part[j->triangle] != s->options->part[k->triangle])
        return 0;
    corners_of(s, k->triangle, p);
    corners_of(s, j->triangle, q);
    if (feature <= REF_V2)
        return is_corner_of(p[feature - REF_V0], q);
    if (feature < REF_FACE)
        return is_corner_of(p[feature - REF_E01], q) && is_corner_of(p[(feature - REF_E01 + 1) % 3], q);
    return is_corner_of(p[0], q) && is_corner_of(p[1], q) && is_corner_of(p[2], q);
}

static int contains(const contact_search *s, const candidate *j, const candidate *k)
{
    ref_triangle triangle;
    ref_nearest nearest;
    if (has_feature(s, j, k))
        return 1;
    if (s->options->points == NULL || !(s->options->merge_within > 0))
        return 0;
    const ref_sweep_case c = pair_of(s, s->options->points[k->triangle], j->triangle);
    if (ref_box_distance(&c) > (double)s->options->merge_within * (1.0 + 1e-12))
        return 0;
    ref_triangle_set(&triangle, &c);
    ref_triangle_nearest(&triangle, &nearest);
    return is_within(&nearest, s->options->merge_within, 0.0f);
}

static int is_contact(const contact_search *s, const candidate *k)
{
    if (!is_within(&k->nearest, s->ball->radius, s->options->margin))
        return 0;
    for (size_t i = 0; i < s->count; i++) {
        const candidate *j = &s->candidates[i];
        if (j != k && contains(s, j, k) && comes_before(j, k))
            return 0;
    }
    return 1;
}

/* The unit vector; zero stays zero. */
static void unit_of(const ref_vec *v, double out[3])
{
    ref_dyadic square, length, x;
    ref_vec_dot(&square, v, v);
    if (square.sign == 0) {
        out[0] = out[1] = out[2] = 0.0;
        return;
    }
    ref_dyadic_trim(&square);
    ref_dyadic_sqrt(&length, &square);
    ref_dyadic_recip(&length, &length);
    for (int k = 0; k < 3; k++) {
        ref_dyadic_mul(&x, &v->c[k], &length);
        out[k] = ref_dyadic_to_double(&x);
    }
}

/* The way from the closest point to the centre: times the square of an edge, or along the normal. */
static void way_of(const ref_triangle *t, int feature, ref_vec *way)
{
    ref_dyadic part;
    ref_vec along;
    if (feature <= REF_V2) {
        ref_vec_copy(way, &t->p[feature - REF_V0]);
    } else if (feature < REF_FACE) {
        const int i = feature - REF_E01;
        ref_vec_dot(&part, &t->p[i], &t->edge[i]);
        ref_vec_scale(&along, &t->edge[i], &part);
        ref_vec_scale(way, &t->p[i], &t->length2[i]);
        ref_vec_sub(way, way, &along);
    } else {
        ref_vec_dot(&part, &t->p[0], &t->normal);
        ref_vec_copy(way, &t->normal);
        for (int k = 0; k < 3; k++) {
            if (part.sign < 0)
                ref_dyadic_neg(&way->c[k]);
            if (part.sign == 0)
                ref_dyadic_zero(&way->c[k]);
        }
    }
    for (int k = 0; k < 3; k++)
        ref_dyadic_neg(&way->c[k]); /* corners are relative to the centre */
    if (ref_vec_is_zero(way))
        ref_vec_copy(way, &t->normal);
}

void ref_normal(const ref_sweep_case *c, double out[3])
{
    ref_triangle triangle;
    ref_nearest nearest;
    ref_vec way;
    ref_triangle_set(&triangle, c);
    ref_triangle_nearest(&triangle, &nearest);
    way_of(&triangle, nearest.feature, &way);
    unit_of(&way, out);
}

static void describe(const contact_search *s, const candidate *k, ref_mesh_contact *out)
{
    const ref_sweep_case c = pair_of(s, s->ball->center, k->triangle);
    out->triangle = k->triangle;
    ref_closest(&c, &out->closest);
    ref_normal(&c, out->normal);
}

static int by_place(const void *a, const void *b)
{
    const ref_mesh_contact *x = a, *y = b;
    if (x->closest.distance < y->closest.distance || x->closest.distance > y->closest.distance)
        return x->closest.distance < y->closest.distance ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void find_candidates(contact_search *s)
{
    const double reach = ((double)s->ball->radius + (double)s->options->margin) * (1.0 + 1e-12);
    for (size_t k = 0; k < s->mesh->triangle_count; k++) {
        ref_triangle triangle;
        const ref_sweep_case c = pair_of(s, s->ball->center, (int32_t)k);
        if (((s->mesh->masks != NULL ? s->mesh->masks[k] : UINT32_MAX) & s->options->mask) == 0 ||
            ref_box_distance(&c) > reach)
            continue;
        candidate *to = &s->candidates[s->count++];
        to->triangle = (int32_t)k;
        ref_triangle_set(&triangle, &c);
        ref_triangle_nearest(&triangle, &to->nearest);
    }
}

const char *ref_mesh_contacts(const ref_mesh *mesh, const ref_sweep_case *ball, const ref_contact_options *options,
                              ref_mesh_contact_list *out)
{
    contact_search s = {mesh, ball, options, NULL, 0};
    *out = (ref_mesh_contact_list){NULL, 0};
    if (!ref_floats_finite(ball->center, 3) || !ref_radius_valid((double)ball->radius))
        return NULL;
    s.candidates = malloc((mesh->triangle_count + 1) * sizeof *s.candidates);
    out->contacts = malloc((mesh->triangle_count + 1) * sizeof *out->contacts);
    if (s.candidates == NULL || out->contacts == NULL) {
        free(s.candidates);
        free(out->contacts);
        out->contacts = NULL;
        return "no memory";
    }
    find_candidates(&s);
    for (size_t k = 0; k < s.count; k++)
        if (is_contact(&s, &s.candidates[k]))
            describe(&s, &s.candidates[k], &out->contacts[out->count++]);
    free(s.candidates);
    qsort(out->contacts, out->count, sizeof *out->contacts, by_place);
    return NULL;
}
