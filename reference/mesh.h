/* SPDX-License-Identifier: MIT */
/* Hits on a mesh and overlaps with it from the definition: the exact reference, triangle by triangle. */
#ifndef CAROM_REFERENCE_MESH_H
#define CAROM_REFERENCE_MESH_H

#include "reference.h"

typedef struct ref_mesh {
    const float *vertices;   /* x y z */
    const uint32_t *indices; /* three to a triangle */
    size_t triangle_count;
    const uint32_t *masks; /* NULL: all bits */
} ref_mesh;

enum ref_start { REF_START_REPORT, REF_START_SKIP_PARTING, REF_START_SKIP };

/* Options of the query. */
typedef struct ref_mesh_options {
    uint32_t mask; /* a triangle counts if it shares a bit */
    int cull_back; /* 1: none with (P1-P0)x(P2-P0) along the motion */
    int start;     /* what becomes of a contact at time 0: enum ref_start */
} ref_mesh_options;

extern const ref_mesh_options ref_mesh_no_options; /* every triangle counts, every hit is reported */

/* The smallest (nearest binary32 time, triangle) that is hit within [0, t_max]; point and feature are those of time 0
 * for a start in contact. */
typedef struct ref_mesh_hit {
    int32_t triangle; /* -1: none */
    int state, feature;
    float t;
    double near, point[3]; /* nearest binary64 time; the contact point to about 2^-50 */
} ref_mesh_hit;

/* Of the ball, `p` is not read. The mesh rests, whatever `w` is: the ball moves by velocity - w in each unit of time,
 * so with w = center the velocity is where its centre is at time 1. The name of what went wrong, or NULL: no memory, or
 * a graze that begins at t_max to the last bit of binary64. */
const char *ref_mesh_first(const ref_mesh *mesh, const ref_sweep_case *ball, float t_max,
                           const ref_mesh_options *options, ref_mesh_hit *out);

/* Every triangle that is hit, by (nearest binary32 time, triangle). */
typedef struct ref_mesh_list {
    ref_mesh_hit *hits; /* the caller frees it */
    size_t count;
    int is_valid; /* 0: the ball is not, and hits nothing */
} ref_mesh_list;

const char *ref_mesh_all(const ref_mesh *mesh, const ref_sweep_case *ball, float t_max, const ref_mesh_options *options,
                         ref_mesh_list *out);

/* overlaps[triangle_count] becomes 1 for each triangle within the radius of the centre, else 0, decided exactly;
 * velocity is not read. Returns how many, or -1 for a ball that is not valid. */
int64_t ref_mesh_overlaps(const ref_mesh *mesh, const ref_sweep_case *ball, uint32_t mask, uint8_t *overlaps);
/* The smallest (nearest binary32 distance, triangle), and what ref_closest says of it. */
typedef struct ref_mesh_closest_answer {
    int32_t triangle; /* -1: invalid, or no triangle within the limit that the mask lets through */
    ref_closest_answer closest;
} ref_mesh_closest_answer;

/* Of the ball, only center and radius are read. A nearest binary32 distance above max_distance is no answer. What went
 * wrong, or NULL: no memory. */
const char *ref_mesh_closest(const ref_mesh *mesh, const ref_sweep_case *ball, uint32_t mask, float max_distance,
                             ref_mesh_closest_answer *out);

/* The unit vector from the closest point of the triangle to the centre, both finite; at distance 0 the triangle's
 * normal (P1-P0)x(P2-P0), or zeros if it has none. */
void ref_normal(const ref_sweep_case *c, double out[3]);

/* Contacts of a ball with the surface: docs/contacts.md. */
typedef struct ref_contact_options {
    uint32_t mask;
    float margin, merge_within;
    const float (*points)[3]; /* the reported point of each triangle, for merge_within; NULL: nothing is merged */
    /* Of a scene: corners of each triangle by which features are the same, and the part of the mesh that it is of, for
     * only triangles of one part have the same; NULL: those of the mesh, which is one part. */
    const float (*own)[9];
    const int32_t *part;
} ref_contact_options;
typedef struct ref_mesh_contact {
    int32_t triangle;
    ref_closest_answer closest;
    double normal[3];
} ref_mesh_contact;
typedef struct ref_mesh_contact_list {
    ref_mesh_contact *contacts; /* by (nearest binary32 distance, triangle); the caller frees it */
    size_t count;
} ref_mesh_contact_list;
/* Of the ball, only center and radius are read; one that is not valid has no contacts. What went wrong, or NULL. */
const char *ref_mesh_contacts(const ref_mesh *mesh, const ref_sweep_case *ball, const ref_contact_options *options,
                              ref_mesh_contact_list *out);

/* A ray from `point` along +z: how many triangles it crosses strictly above its start, and the sum of 1 for each whose
 * (P1-P0)x(P2-P0) points up and of -1 for each where it points down. The start is moved by (e, e^2) in x and y with
 * e = 2^-1000: less than any rule for ties could tell from an infinitely small number. */
typedef struct ref_mesh_ray_answer {
    uint64_t crossings;
    int64_t sum;
} ref_mesh_ray_answer;
void ref_mesh_ray(const ref_mesh *mesh, const float point[3], ref_mesh_ray_answer *out);

/* The sum of the solid angles of the triangles, + for each that shows its back, over 4 pi: to 2^-50 or so, if the point
 * is not much nearer to an edge than the edge is long. */
long double ref_mesh_winding(const ref_mesh *mesh, const float point[3]);

/* Bounds of the distance from the centre to the triangle, in binary64: at most that of the nearest corner, at least
 * that of the box. */
double ref_corner_distance(const ref_sweep_case *c);
double ref_box_distance(const ref_sweep_case *c);

/* The least binary64 >= spacing sqrt(3) / 2 (1 + 2^-16); spacing > 0 and finite. */
double ref_half_diagonal(double spacing);
/* With d the distance of the point from the triangles that have a mask: 0 if d > radius + half, 1 if d <= radius -
 * half, else 2; decided exactly. */
int ref_mesh_clearance(const ref_mesh *mesh, const float point[3], float radius, double half);
/* The same for a point inside, whose distance is -d: 1 if -d <= radius - half, else 2. */
int ref_mesh_clearance_inside(const ref_mesh *mesh, const float point[3], float radius, double half);

/* A ball that comes down along -z over (x, y), and the height of its centre at first contact, as an answer has it. */
typedef struct ref_mesh_drop_case {
    float x, y, radius;
    float height;
} ref_mesh_drop_case;
/* NULL if the height is the least binary32 that is not below the true one (-inf: there is none), else what is wrong
 * with it. */
const char *ref_mesh_drop(const ref_mesh *mesh, const ref_mesh_drop_case *at);
/* The contact that an answer names there. */
typedef struct ref_mesh_drop_touch {
    int32_t triangle;
    int feature;
    float point[3];
} ref_mesh_drop_touch;
/* NULL if the height is right, and the triangle is the lowest of those at a distance of exactly the radius from the
 * ball's true centre, with its feature, and its closest point within one unit. */
const char *ref_mesh_drop_at(const ref_mesh *mesh, const ref_mesh_drop_case *at, const ref_mesh_drop_touch *touch);

void ref_mesh_triangle(const ref_mesh *mesh, size_t triangle, float p[3][3]);

#endif
