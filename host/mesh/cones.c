/* SPDX-License-Identifier: MIT */
/* Normal cones for the children of BVH nodes, by which a search for contacts culls. A child's cone bounds the normals
 * of its triangles and of all triangles that share a corner with them. A child has a cone only if all of these
 * triangles have areas, are no slivers, and meet in pairs at whole edges. Their winding does not matter: normals are
 * flipped towards the axis. Such a child holds a contact only if some vector from it to the sphere's centre is in the
 * cone or in its opposite: docs/contacts.md, section 5, has the proof. */
#include "edges.h"

#include <math.h>

#define LEAST_HEIGHT 0x1p-100 /* of a triangle, so that no distance is denormal */
#define LEAST_RATIO 0.125     /* least height / longest edge: a triangle with less is a sliver */
/* Sine of the angle by which a vector must be outside the cone of normals to be culled. */
#define SURPLUS_SINE 0x1.02p-4
#define SURPLUS_COSINE 0x1.fefa2p-1 /* lower bound of the cosine of the same angle */
#define NORMAL_ERROR 0x1p-20F       /* error of the cosine of two directions in binary32 */
#define LEAST_COSINE 0.125          /* of the half angle of the cone with its surplus */
enum { CHILDREN_PER_CONE = 8 };     /* at least one child in so many has a cone, or all cones are dropped */
enum {
    FAN_MOST = 48 /* triangles around a corner; with more there is no cone */,
    FACES_PER_TASK = 4096,
    NODES_PER_TASK = 64
};
enum { WHOLE = CAROMI_FACE_WHOLE }; /* the flag of a triangle that meets exactly one other at each of its edges */

typedef caromi_face face;

/* A cone of normals, and what its triangles look like. */
typedef struct cone {
    float axis[3], cosine;       /* cosine of the half angle; 0: there is no cone */
    float height, length, ratio; /* of its triangles: least height, longest edge, least height / longest edge */
    float radius;                /* of a leaf: of its vertices around the middle of its box, in the box's scale */
} cone;

/* The computation of all cones. */
typedef struct cone_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    face *faces;
    cone *cones;      /* [nodes][MESH_WIDTH] */
    mesh_cones *rows; /* [nodes] the result, in the search's format */
    int queries;      /* CAROMI_ANY_QUERY or CAROMI_UNMASKED_QUERY */
    int moves;        /* only vertices have changed: the faces' `along` stays */
} cone_job;

static cone no_cone(void)
{
    return (cone){{0}, 0, 0, 0, 0, 0};
}

/* The bounds of no triangle yet, which others widen. */
static cone empty_cone(void)
{
    return (cone){{0}, 1, INFINITY, 0, 1, 0};
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Whether the edge belongs to exactly one other triangle, which counts for the same queries. Sets the edge's bit in
 * *along if both triangles run along it in the same direction. */
static int has_one_neighbour(const cone_job *job, uint32_t triangle, int edge, uint32_t *along)
{
    const caromi_edges *edges = job->edges;
    const uint32_t other = edges->next[3 * (size_t)triangle + (size_t)edge];
    const uint32_t edge_begin = caromi_edge_position(edges, triangle, edge),
                   edge_end = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    const int edge_of_other = other != triangle ? caromi_edge_between(edges, other, edge_begin, edge_end) : -1;
    if (!caromi_edges_counts_with(edges, other, triangle, job->queries) ||
        !caromi_edges_counts_with(edges, triangle, other, job->queries))
        return 0;
    if (edge_of_other < 0 || edges->next[3 * (size_t)other + (size_t)edge_of_other] != triangle)
        return 0;
    *along |= (uint32_t)(caromi_edge_position(edges, other, edge_of_other) == edge_begin) << edge;
    return 1;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Sets the vector between two corners; returns its squared length. */
static double edge_between(const carom_mesh *mesh, uint32_t triangle, int from, int to, double edge[3])
{
    for (int k = 0; k < 3; k++)
        edge[k] = (double)caromi_corner(mesh, triangle, to)[k] - (double)caromi_corner(mesh, triangle, from)[k];
    return dot(edge, edge);
}

/* The bits of edges along which the neighbour runs in the same direction, with the flag WHOLE. 0: an edge has not
 * exactly one neighbour. */
static uint32_t along_of(const cone_job *job, uint32_t triangle)
{
    uint32_t along = 0;
    for (int edge = 0; edge < 3; edge++)
        if (!has_one_neighbour(job, triangle, edge, &along))
            return 0;
    return along | WHOLE;
}

/* Computes normal, height and length of a triangle; f->along stays. */
static void set_face(const carom_mesh *mesh, uint32_t triangle, face *f)
{
    double edge1[3], edge2[3], edge3[3];
    const double square1 = edge_between(mesh, triangle, 0, 1, edge1),
                 square2 = edge_between(mesh, triangle, 0, 2, edge2);
    const double square3 = edge_between(mesh, triangle, 1, 2, edge3), square12 = square1 > square2 ? square1 : square2,
                 longest2 = square12 > square3 ? square12 : square3;
    const double cross[3] = {edge1[1] * edge2[2] - edge1[2] * edge2[1], edge1[2] * edge2[0] - edge1[0] * edge2[2],
                             edge1[0] * edge2[1] - edge1[1] * edge2[0]};
    const double area2 = dot(cross, cross), area = sqrt(area2), per_area = 1 / area;
    /* A triangle without area and a sliver have neither normal nor height. */
    *f = (face){.along = f->along};
    if (!(area2 >= LEAST_RATIO * LEAST_RATIO * longest2 * longest2 && area2 >= LEAST_HEIGHT * LEAST_HEIGHT * longest2))
        return;
    const double length = sqrt(longest2);
    for (int k = 0; k < 3; k++)
        f->normal[k] = (float)(cross[k] * per_area);
    f->length = (float)length;
    if (f->along & WHOLE) {
        f->height = (float)(area / length);
        f->ratio = f->height / f->length;
    }
}

/* Task: computes normals and neighbours of a range of triangles. */
static void find_faces(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cone_job *job = user;
    (void)thread;
    for (uint64_t t = begin; t < end; t++) {
        if (!job->moves)
            job->faces[t].along = along_of(job, (uint32_t)t);
        set_face(job->mesh, (uint32_t)t, &job->faces[t]);
    }
}

/* ---- cones ------------------------------------------------------------------------------------------------------- */

/* Adds a direction or its opposite, whichever is closer to the sum's direction. */
static void add_line(double sum[3], const float direction[3])
{
    const double d[3] = {(double)direction[0], (double)direction[1], (double)direction[2]};
    const double sign = dot(sum, d) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++)
        sum[k] += sign * d[k];
}

/* Normalizes the sum to the cone's axis. Returns 0 if the sum has no direction. */
static int set_axis(cone *c, const double sum[3])
{
    const double length = sqrt(dot(sum, sum));
    if (!(length > 0x1p-10))
        return 0;
    for (int k = 0; k < 3; k++)
        c->axis[k] = (float)(sum[k] / length);
    return 1;
}

static float product_of(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The cosine of the angle between two lines. */
static float cosine_of(const float a[3], const float b[3])
{
    return fabsf(product_of(a, b)) - NORMAL_ERROR;
}

static float lower_of(float a, float b)
{
    return b < a ? b : a;
}

/* Extends a cone's bounds by those of a triangle or of another cone. */
static void widen(cone *c, float cosine, float height, float length, float ratio)
{
    c->cosine = lower_of(c->cosine, cosine);
    c->height = lower_of(c->height, height);
    c->length = length > c->length ? length : c->length;
    c->ratio = lower_of(c->ratio, ratio);
}

/* Whether a triangle's normal points against the cone's axis. */
static int is_turned(const cone *c, const face *f)
{
    return product_of(c->axis, f->normal) < 0;
}

/* Whether the triangles around a position, seen along the axis, lie on both sides of each edge there, so that the
 * surface does not fold. Two triangles that run along an edge in the same direction do if one of their normals is
 * flipped. */
static int is_unfolded(const cone_job *job, uint32_t position, const cone *c)
{
    const caromi_edges *edges = job->edges;
    for (uint64_t fan = edges->corners->start[position]; fan < edges->corners->start[position + 1]; fan++) {
        const uint32_t triangle = edges->corners->triangle[fan];
        for (int edge = 0; edge < 3; edge++) {
            const face *f = &job->faces[triangle],
                       *other = &job->faces[edges->next[3 * (size_t)triangle + (size_t)edge]];
            if (caromi_edge_position(edges, triangle, edge) != position &&
                caromi_edge_position(edges, triangle, (edge + 1) % 3) != position)
                continue;
            if ((is_turned(c, f) != is_turned(c, other)) != (f->along >> edge & 1)) /* the surface folds here */
                return 0;
        }
    }
    return 1;
}

/* ---- the triangles around a leaf --------------------------------------------------------------------------------- */

enum { LEAF_CORNERS = 3 * MESH_WIDTH };
#define NO_MORE UINT32_MAX /* behind a list's last triangle */
/* Marks in place of a list's first triangle. */
#define NO_CONE (UINT32_MAX - 1)     /* a corner has too many triangles */
#define NO_CAPACITY (UINT32_MAX - 2) /* the list is too short for all triangles */

/* A list of triangles, each once. */
typedef struct listed {
    uint64_t may_have[2]; /* filter: a bit for each triangle listed, by the triangle's lowest bits */
    uint32_t count, capacity, *triangle;
} listed;

/* Adds a triangle once. Returns 0 if there is no room. */
static int list_triangle(listed *list, uint32_t triangle)
{
    const uint64_t bit = UINT64_C(1) << (triangle & 63);
    uint64_t *may_have = &list->may_have[triangle >> 6 & 1];
    for (uint32_t i = 0; (*may_have & bit) != 0 && i < list->count; i++)
        if (list->triangle[i] == triangle)
            return 1;
    *may_have |= bit;
    if (list->count + 1 == list->capacity)
        return 0;
    list->triangle[list->count++] = triangle;
    return 1;
}

/* Lists the positions of a leaf's corners, for an indexed leaf once each. Returns their number. */
static int list_positions(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, uint32_t list[LEAF_CORNERS])
{
    uint32_t seen = 0;
    int count = 0;
    for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++)
        for (int k = 0; k < 3; k++) {
            const uint32_t bit = is_unindexed ? 0 : 1u << leaf->corner[k][slot];
            if ((seen & bit) == 0)
                list[count++] = caromi_edge_position(job->edges, (uint32_t)leaf->triangle[slot], k);
            seen |= bit;
        }
    return count;
}

/* Lists the triangles around a leaf's corners. Returns the mark for the list: behind its last triangle, or in place of
 * the first. */
static uint32_t list_fans(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, listed *list)
{
    int has_capacity = 1;
    const caromi_corners *corners = job->edges->corners;
    uint32_t positions[LEAF_CORNERS];
    const int count = list_positions(job, leaf, is_unindexed, positions);
    /* Each corner's fan: the triangles that share its position. */
    for (int i = 0; i < count; i++)
        __builtin_prefetch(&corners->start[positions[i]]);
    for (int i = 0; i < count; i++) {
        const uint64_t fan_begin = corners->start[positions[i]], fan_end = corners->start[positions[i] + 1];
        if (fan_end - fan_begin > FAN_MOST)
            return NO_CONE;
        for (uint64_t fan = fan_begin; has_capacity && fan < fan_end; fan++)
            has_capacity = list_triangle(list, corners->triangle[fan]);
    }
    return has_capacity ? NO_MORE : NO_CAPACITY;
}

/* Writes the list of triangles around a leaf, which ends or begins with a mark. */
static void list_around(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, caromi_around *to)
{
    const uint32_t capacity = sizeof to->triangle / sizeof *to->triangle;
    listed list = {.capacity = is_unindexed ? 2 * capacity : capacity, .triangle = to->triangle};
    const uint32_t mark = list_fans(job, leaf, is_unindexed, &list);
    list.triangle[mark == NO_MORE ? list.count : 0] = mark;
}

/* The winding of some triangles, seen along an axis. */
typedef struct winding {
    uint32_t along;         /* or of the faces' along */
    uint64_t count, turned; /* triangles; with normals against the axis */
} winding;

/* Widens the cone by a triangle. Returns 0 if the triangle is under no cone. */
static inline int add_face(const face *f, cone *c, winding *sum)
{
    const float cosine = product_of(c->axis, f->normal);
    sum->along |= f->along;
    sum->turned += cosine < 0;
    sum->count++;
    widen(c, fabsf(cosine) - NORMAL_ERROR, f->height, f->length, f->ratio);
    return f->height > 0;
}

/* Widens a leaf's cone by all triangles around its corners; some may be added more than once. */
static int add_around(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, const uint32_t *triangle, cone *c)
{
    const caromi_corners *corners = job->edges->corners;
    uint32_t positions[LEAF_CORNERS];
    winding sum = {0};
    cone own = *c; /* a local copy: the compiler keeps it in registers */
    /* The triangles come from the list or, if that was too short, from the fans of the corners. */
    int fan = *triangle == NO_CAPACITY ? list_positions(job, leaf, is_unindexed, positions) : 0;
    while (fan-- > 0)
        for (uint64_t j = corners->start[positions[fan]]; j < corners->start[positions[fan] + 1]; j++)
            if (!add_face(&job->faces[corners->triangle[j]], &own, &sum))
                return 0;
    for (; *triangle < NO_CAPACITY; triangle++)
        if (!add_face(&job->faces[*triangle], &own, &sum))
            return 0;
    *c = own;
    if (!(c->cosine > 0))
        return 0;
    /* All wound alike: the surface does not fold. Else each corner's fan is tested. */
    if (sum.along == WHOLE && (sum.turned == 0 || sum.turned == sum.count))
        return 1;
    for (int i = list_positions(job, leaf, is_unindexed, positions); i-- > 0;)
        if (!is_unfolded(job, positions[i], c))
            return 0;
    return 1;
}

/* The radius of a leaf's vertices around the middle of its box, in the box's scale. */
static float radius_of(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, const double middle[3])
{
    const float(*rows)[MESH_WIDTH] = is_unindexed ? (const float(*)[MESH_WIDTH])(const void *)leaf + 1 : leaf->vertex;
    const double scale = (double)job->mesh->view.frame.scale;
    double most = 0;
    for (int row = 0; row < (is_unindexed ? 9 : 3); row += 3)
        for (int i = 0; i < MESH_WIDTH; i++) {
            const double x = (double)rows[row][i] * scale - middle[0], y = (double)rows[row + 1][i] * scale - middle[1];
            const double z = (double)rows[row + 2][i] * scale - middle[2], square = x * x + y * y + z * z;
            most = square > most ? square : most;
        }
    return (float)sqrt(most);
}

/* The axis of a leaf's cone, from its own triangles. Returns 0 if one of them is under no cone. */
static int set_axis_of_leaf(const cone_job *job, const mesh_leaf *leaf, cone *c)
{
    double sum[3] = {0};
    for (int slot = 0; slot < MESH_WIDTH && leaf->triangle[slot] >= 0; slot++) {
        const face *f = &job->faces[leaf->triangle[slot]];
        if (!(f->height > 0))
            return 0;
        add_line(sum, f->normal);
    }
    return set_axis(c, sum);
}

/* The cone of a leaf; cosine 0 if there is none. */
static cone cone_of_leaf(const cone_job *job, int reference, const double middle[3])
{
    const mesh_leaf *leaf = &job->mesh->view.leaves[MESH_LEAF_AT(reference)];
    caromi_around *around = &job->edges->around[MESH_LEAF_AT(reference)];
    const int is_unindexed = MESH_IS_UNINDEXED(reference);
    cone c = empty_cone();
    /* The table of triangles around leaves is filled for any queries first, then reused for those of one side. */
    if (!job->moves && job->queries == CAROMI_ANY_QUERY)
        list_around(job, leaf, is_unindexed, around);
    if (around->triangle[0] == NO_CONE || !set_axis_of_leaf(job, leaf, &c) ||
        !add_around(job, leaf, is_unindexed, around->triangle, &c))
        return no_cone();
    c.radius = radius_of(job, leaf, is_unindexed, middle);
    return c;
}

/* The cosine of the sum of two angles below 90 degrees. */
static double cosine_of_sum(double a, double b)
{
    return a * b - sqrt(fmax(1 - a * a, 0) * fmax(1 - b * b, 0));
}

/* The cone around the cones of a node's children. */
static cone join_cones(const cone *part, const mesh_node *node)
{
    cone c = empty_cone();
    double sum[3] = {0};
    for (int i = 0; i < MESH_WIDTH; i++) /* the axis: the mean direction of the children's axes */
        if (node->child[i] != 0)
            add_line(sum, part[i].axis);
    if (!set_axis(&c, sum))
        return no_cone();
    for (int i = 0; i < MESH_WIDTH && c.cosine > 0; i++) {
        if (node->child[i] == 0)
            continue;
        /* The angle from the common axis to the child's axis, plus the child's half angle. */
        const double apart = fmin((double)cosine_of(c.axis, part[i].axis), 1);
        if (!(part[i].cosine > 0 && apart > 0))
            return no_cone();
        widen(&c, (float)(cosine_of_sum(apart, (double)part[i].cosine) - (double)NORMAL_ERROR), part[i].height,
              part[i].length, part[i].ratio);
    }
    return c.cosine > 0 ? c : no_cone();
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The middle of a child's box; returns half the length of its diagonal. */
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

/* Writes slot i of a node's cones. radius: of the child's triangles around the middle of its box. */
static void set_row(mesh_cones *to, int i, const cone *c, float radius, float scale)
{
    const double cosine = (double)c->cosine, sine = sqrt(fmax(1 - cosine * cosine, 0));
    const double wide = cosine * SURPLUS_COSINE - sine * SURPLUS_SINE, ratio = (double)c->ratio;
    const double least = 2 * (double)c->length / (0x1p9 * ratio * ratio - 1) * (double)scale;
    if (!(cosine > 0 && wide >= LEAST_COSINE))
        return;
    /* Rounded outwards, so that the search never culls a contact. */
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

/* Task: the cones of those children of a range of nodes that are leaves. */
static void find_leaves(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cone_job *job = user;
    double middle[3];
    (void)thread;
    for (uint64_t number = begin; number < end; number++) {
        const mesh_node *node = &job->mesh->view.nodes[number];
        job->rows[number] = no_cones();
        for (int i = 0; i < MESH_WIDTH; i++) {
            if (node->child[i] >= 0)
                continue;
            middle_of(node, i, middle);
            const cone c = cone_of_leaf(job, node->child[i], middle);
            job->cones[MESH_WIDTH * number + (uint64_t)i] = c;
            set_row(&job->rows[number], i, &c, c.radius, job->mesh->view.frame.scale);
        }
    }
}

/* Computes the cones of inner nodes, from the last to the first: children have higher numbers than their node. */
static void find_nodes(const cone_job *job)
{
    double middle[3];
    for (uint64_t number = job->mesh->info.node_count; number-- > 0;) {
        const mesh_node *node = &job->mesh->view.nodes[number];
        for (int i = 0; i < MESH_WIDTH; i++) {
            const int child = node->child[i];
            cone *to = &job->cones[MESH_WIDTH * number + (uint64_t)i];
            if (child <= 0)
                continue;
            *to = join_cones(job->cones + MESH_WIDTH * (uint64_t)child, &job->mesh->view.nodes[child]);
            set_row(&job->rows[number], i, to, middle_of(node, i, middle), job->mesh->view.frame.scale);
        }
    }
}

/* Drops all cones if too few children have one, as the search would test them in vain. The decision is made here so
 * that each backend culls the same triangles. Returns whether cones are kept. */
static int keep_if_many(const cone_job *job)
{
    const uint64_t nodes = job->mesh->info.node_count;
    uint64_t children = 0, found = 0;
    for (uint64_t number = 0; number < nodes; number++)
        for (int i = 0; i < MESH_WIDTH; i++) {
            children += job->mesh->view.nodes[number].child[i] != 0;
            found += isfinite(job->rows[number].slope[i]) != 0;
        }
    if (found >= children / CHILDREN_PER_CONE)
        return 1;
    for (uint64_t number = 0; number < nodes; number++)
        job->rows[number] = no_cones();
    return 0;
}

/* Computes faces, then cones of leaves, then cones of inner nodes. Returns 0 if there is no memory. */
int caromi_edges_fill_cones(const carom_mesh *mesh, caromi_edges *edges, int queries, int moves)
{
    const uint64_t nodes = mesh->info.node_count, triangles = mesh->info.triangle_count;
    caromi_culling *to = &edges->culling[queries];
    cone_job job = {
        .mesh = mesh, .edges = edges, .faces = to->faces, .rows = to->cones, .queries = queries, .moves = moves};
    caromi_parallel_runs(mesh->context->pool, triangles, FACES_PER_TASK, find_faces, &job);
    if (nodes == 0)
        return 1;
    job.cones = caromi_alloc(mesh->context, MESH_WIDTH * nodes, sizeof *job.cones);
    if (job.cones == NULL)
        return 0;
    caromi_parallel_runs(mesh->context->pool, nodes, NODES_PER_TASK, find_leaves, &job);
    find_nodes(&job);
    to->has_cones = keep_if_many(&job);
    caromi_free(mesh->context, job.cones);
    return 1;
}
