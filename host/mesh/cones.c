/* SPDX-License-Identifier: MIT */
/* Cones of normals for the children of nodes. A cone is for triangles below a child and all others that have a corner
 * with them: all of these have areas, are no slivers, and meet two by two in whole edges. Each may run either way: it
 * is turned over as the axis wants it. docs/contacts.md, section 4, has the proof that such a child holds no contact
 * unless a way from it to the centre is in the cone or in its opposite. */
#include "edges.h"

#include <math.h>

#define LEAST_HEIGHT 0x1p-100 /* so that no distance is denormal */
#define LEAST_RATIO 0.125
#define SURPLUS_SINE 0x1.02p-4      /* of the angle between the normals and the ways that need not be looked at */
#define SURPLUS_COSINE 0x1.fefa2p-1 /* not above that of the same angle */
#define NORMAL_ERROR 0x1p-20        /* of the cosine of two directions in binary32 */
#define LEAST_COSINE 0.125          /* of half of the cone with its surplus */
enum { CHILDREN_PER_CONE = 8 };     /* with more children for each cone none is kept */
enum { FAN_MOST = 48, FACES_PER_TASK = 4096, NODES_PER_TASK = 64 };

/* A triangle that may be under a cone; height 0: not. */
typedef struct face {
    float normal[3], height, length; /* the least height, the longest edge */
    uint32_t along;                  /* a bit for each edge: the other triangle runs along it in the same direction */
} face;

typedef struct cone {
    float axis[3], cosine;       /* of the angle that no normal exceeds; 0: there is no cone */
    float height, length, ratio; /* the least height and height / length, the greatest length */
    float radius;                /* of a leaf around the middle of its box, scaled like that */
} cone;

typedef struct cone_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    face *faces;
    cone *cones; /* [nodes][MESH_WIDTH] */
    mesh_cones *rows;
    int queries;
} cone_job;

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Whether the edge belongs to one other triangle, which counts for the same queries. Sets its bit of *along. */
static int has_one_neighbour(const cone_job *job, uint32_t triangle, int edge, uint32_t *along)
{
    const caromi_edges *e = job->edges;
    const uint32_t other = e->next[3 * (size_t)triangle + (size_t)edge];
    const uint32_t a = caromi_edge_position(e, triangle, edge), b = caromi_edge_position(e, triangle, (edge + 1) % 3);
    const int there = other != triangle ? caromi_edge_between(e, other, a, b) : -1;
    if (!caromi_edges_counts_with(e, other, triangle, job->queries) ||
        !caromi_edges_counts_with(e, triangle, other, job->queries))
        return 0;
    if (there < 0 || e->next[3 * (size_t)other + (size_t)there] != triangle)
        return 0;
    *along |= (uint32_t)(caromi_edge_position(e, other, there) == a) << edge;
    return 1;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double edge_between(const carom_mesh *mesh, uint32_t triangle, int from, int to, double edge[3])
{
    for (int k = 0; k < 3; k++)
        edge[k] = (double)caromi_corner(mesh, triangle, to)[k] - (double)caromi_corner(mesh, triangle, from)[k];
    return dot(edge, edge);
}

static face face_of(const cone_job *job, uint32_t t)
{
    face f = {{0}, 0, 0, 0};
    double u[3], v[3], w[3];
    const double uu = edge_between(job->mesh, t, 0, 1, u), vv = edge_between(job->mesh, t, 0, 2, v);
    const double length = sqrt(fmax(fmax(uu, vv), edge_between(job->mesh, t, 1, 2, w)));
    const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double area = sqrt(dot(n, n)), height = area / length;
    if (!(height >= LEAST_HEIGHT && height >= LEAST_RATIO * length))
        return f;
    for (int k = 0; k < 3; k++)
        if (!has_one_neighbour(job, t, k, &f.along))
            return f;
    for (int k = 0; k < 3; k++)
        f.normal[k] = (float)(n[k] / area);
    f.height = (float)height;
    f.length = (float)length;
    return f;
}

static void find_faces(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cone_job *job = user;
    (void)thread;
    for (uint64_t t = begin; t < end; t++)
        job->faces[t] = face_of(job, (uint32_t)t);
}

/* ---- cones ------------------------------------------------------------------------------------------------------- */

/* Adds it, or its opposite, which is nearer to the sum. */
static void add_line(double sum[3], const float direction[3])
{
    const double d[3] = {(double)direction[0], (double)direction[1], (double)direction[2]};
    const double sign = dot(sum, d) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++)
        sum[k] += sign * d[k];
}

/* 0: the sum has no direction. */
static int set_axis(cone *c, const double sum[3])
{
    const double length = sqrt(dot(sum, sum));
    if (!(length > 0x1p-10))
        return 0;
    for (int k = 0; k < 3; k++)
        c->axis[k] = (float)(sum[k] / length);
    return 1;
}

static double product_of(const float a[3], const float b[3])
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

/* Of the angle of two lines. */
static float cosine_of(const float a[3], const float b[3])
{
    return (float)(fabs(product_of(a, b)) - NORMAL_ERROR);
}

static void widen(cone *c, float cosine, float height, float length, float ratio)
{
    c->cosine = fminf(c->cosine, cosine);
    c->height = fminf(c->height, height);
    c->length = fmaxf(c->length, length);
    c->ratio = fminf(c->ratio, ratio);
}

static int is_turned(const cone *c, const face *f)
{
    return product_of(c->axis, f->normal) < 0;
}

/* Whether the triangles of a fan, seen along the axis and turned to run alike, lie on both sides of each edge at its
 * corner: two that run along it in the same direction do if one of them is turned. */
static int is_unfolded(const cone_job *job, uint32_t position, const cone *c)
{
    const caromi_edges *e = job->edges;
    for (uint64_t i = e->corners->start[position]; i < e->corners->start[position + 1]; i++) {
        const uint32_t t = e->corners->triangle[i];
        for (int k = 0; k < 3; k++) {
            const face *f = &job->faces[t], *other = &job->faces[e->next[3 * (size_t)t + (size_t)k]];
            if (caromi_edge_position(e, t, k) != position && caromi_edge_position(e, t, (k + 1) % 3) != position)
                continue;
            if ((is_turned(c, f) != is_turned(c, other)) != (f->along >> k & 1))
                return 0;
        }
    }
    return 1;
}

/* The triangles at one corner; 0: there is no cone. */
static int add_fan(const cone_job *job, uint32_t position, cone *c)
{
    const caromi_corners *corners = job->edges->corners;
    const uint64_t count = corners->start[position + 1] - corners->start[position];
    uint64_t turned = 0;
    uint32_t along = 0;
    if (count > FAN_MOST)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        const face *f = &job->faces[corners->triangle[corners->start[position] + i]];
        if (!(f->height > 0))
            return 0;
        along |= f->along;
        turned += (uint64_t)is_turned(c, f);
        widen(c, cosine_of(c->axis, f->normal), f->height, f->length, f->height / f->length);
    }
    if (!(c->cosine > 0))
        return 0;
    return (along == 0 && (turned == 0 || turned == count)) || is_unfolded(job, position, c);
}

static float distance_from(const double middle[3], const float *vertex, float scale)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (double)vertex[k] * (double)scale - middle[k];
    return (float)sqrt(dot(d, d));
}

static cone cone_of_leaf(const cone_job *job, int reference, const double middle[3])
{
    const mesh_leaf *leaf = &job->mesh->view.leaves[MESH_LEAF_AT(reference)];
    const cone none = {{0}, 0, 0, 0, 0, 0};
    cone c = {{0}, 1, INFINITY, 0, 1, 0};
    double sum[3] = {0};
    uint32_t seen = 0;
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        if (leaf->triangle[slot] >= 0)
            add_line(sum, job->faces[leaf->triangle[slot]].normal);
    if (!set_axis(&c, sum))
        return none;
    for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++)
        for (int k = 0; k < 3; k++) {
            const uint32_t triangle = (uint32_t)leaf->triangle[slot];
            if (!MESH_IS_UNINDEXED(reference)) {
                if ((seen >> leaf->corner[k][slot] & 1) != 0)
                    continue;
                seen |= 1u << leaf->corner[k][slot];
            }
            c.radius = fmaxf(c.radius,
                             distance_from(middle, caromi_corner(job->mesh, triangle, k), job->mesh->view.frame.scale));
            if (!add_fan(job, caromi_edge_position(job->edges, triangle, k), &c))
                return none;
        }
    return c;
}

/* The cosine of the sum of two angles below 90 degrees. */
static double cosine_of_sum(double a, double b)
{
    return a * b - sqrt(fmax(1 - a * a, 0) * fmax(1 - b * b, 0));
}

/* A cone for all children of a node. */
static cone join_cones(const cone *part, const mesh_node *node)
{
    const cone none = {{0}, 0, 0, 0, 0, 0};
    cone c = {{0}, 1, INFINITY, 0, 1, 0};
    double sum[3] = {0};
    for (int i = 0; i < MESH_WIDTH; i++)
        if (node->child[i] != 0)
            add_line(sum, part[i].axis);
    if (!set_axis(&c, sum))
        return none;
    for (int i = 0; i < MESH_WIDTH && c.cosine > 0; i++) {
        if (node->child[i] == 0)
            continue;
        const double apart = fmin((double)cosine_of(c.axis, part[i].axis), 1);
        if (!(part[i].cosine > 0 && apart > 0))
            return none;
        widen(&c, (float)(cosine_of_sum(apart, (double)part[i].cosine) - NORMAL_ERROR), part[i].height, part[i].length,
              part[i].ratio);
    }
    return c.cosine > 0 ? c : none;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Half of a child's extent, and the middle of its box. */
static float middle_of(const mesh_node *node, int i, double middle[3])
{
    const double lo[3] = {(double)node->lo_x[i], (double)node->lo_y[i], (double)node->lo_z[i]};
    const double hi[3] = {(double)node->hi_x[i], (double)node->hi_y[i], (double)node->hi_z[i]};
    double half[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = (lo[k] + hi[k]) / 2;
        half[k] = (hi[k] - lo[k]) / 2;
    }
    return (float)sqrt(dot(half, half));
}

/* radius: of the triangles around the middle of the child's box. */
static void set_row(mesh_cones *to, int i, const cone *c, float radius, float scale)
{
    const double cosine = (double)c->cosine, sine = sqrt(fmax(1 - cosine * cosine, 0));
    const double wide = cosine * SURPLUS_COSINE - sine * SURPLUS_SINE, ratio = (double)c->ratio;
    const double least = 2 * (double)c->length / (0x1p9 * ratio * ratio - 1) * (double)scale;
    if (!(cosine > 0 && wide >= LEAST_COSINE))
        return;
    to->axis_x[i] = c->axis[0];
    to->axis_y[i] = c->axis[1];
    to->axis_z[i] = c->axis[2];
    to->slope[i] = (float)(sqrt(1 - wide * wide) / wide * (1 + 0x1p-20));
    to->diameter[i] = (float)(2 * ((double)radius + least) * (1 + 0x1p-10));
    to->reach[i] = (float)(0x1p12 * (double)c->height * (1 - 0x1p-20));
}

static mesh_cones no_cones(void)
{
    mesh_cones c = {{0}, {0}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < MESH_WIDTH; i++)
        c.slope[i] = INFINITY;
    return c;
}

static void find_leaves(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cone_job *job = user;
    double middle[3];
    (void)thread;
    for (uint64_t n = begin; n < end; n++) {
        const mesh_node *node = &job->mesh->view.nodes[n];
        job->rows[n] = no_cones();
        for (int i = 0; i < MESH_WIDTH; i++) {
            if (node->child[i] >= 0)
                continue;
            middle_of(node, i, middle);
            const cone c = cone_of_leaf(job, node->child[i], middle);
            job->cones[MESH_WIDTH * n + (uint64_t)i] = c;
            set_row(&job->rows[n], i, &c, c.radius, job->mesh->view.frame.scale);
        }
    }
}

/* The children of a node have higher numbers. */
static void find_nodes(const cone_job *job)
{
    double middle[3];
    for (uint64_t n = job->mesh->info.node_count; n-- > 0;) {
        const mesh_node *node = &job->mesh->view.nodes[n];
        for (int i = 0; i < MESH_WIDTH; i++) {
            const int child = node->child[i];
            cone *to = &job->cones[MESH_WIDTH * n + (uint64_t)i];
            if (child <= 0)
                continue;
            *to = join_cones(job->cones + MESH_WIDTH * (uint64_t)child, &job->mesh->view.nodes[child]);
            set_row(&job->rows[n], i, to, middle_of(node, i, middle), job->mesh->view.frame.scale);
        }
    }
}

/* Whether enough children have a cone for the search to look for them. Else none has, so that each backend leaves out
 * the same triangles. */
static int keep_if_many(const cone_job *job)
{
    const uint64_t nodes = job->mesh->info.node_count;
    uint64_t children = 0, found = 0;
    for (uint64_t n = 0; n < nodes; n++)
        for (int i = 0; i < MESH_WIDTH; i++) {
            children += job->mesh->view.nodes[n].child[i] != 0;
            found += isfinite(job->rows[n].slope[i]) != 0;
        }
    if (found >= children / CHILDREN_PER_CONE)
        return 1;
    for (uint64_t n = 0; n < nodes; n++)
        job->rows[n] = no_cones();
    return 0;
}

int caromi_edges_fill_cones(const carom_mesh *mesh, caromi_edges *e, int queries)
{
    const uint64_t nodes = mesh->info.node_count, triangles = mesh->info.triangle_count;
    cone_job job = {.mesh = mesh, .edges = e, .rows = e->left_out[queries].cones, .queries = queries};
    job.faces = caromi_alloc(mesh->context, triangles, sizeof *job.faces);
    job.cones = caromi_alloc(mesh->context, MESH_WIDTH * nodes, sizeof *job.cones);
    const int has_memory = job.faces != NULL && job.cones != NULL;
    if (has_memory && nodes > 0) {
        caromi_parallel_runs(mesh->context->pool, triangles, FACES_PER_TASK, find_faces, &job);
        caromi_parallel_runs(mesh->context->pool, nodes, NODES_PER_TASK, find_leaves, &job);
        find_nodes(&job);
        e->left_out[queries].has_cones = keep_if_many(&job);
    }
    caromi_free(mesh->context, job.faces);
    caromi_free(mesh->context, job.cones);
    return has_memory;
}
