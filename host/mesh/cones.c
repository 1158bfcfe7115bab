/* SPDX-License-Identifier: MIT */
/* Normal cones for the children of BVH nodes, by which a search for contacts culls. A child's cone bounds the normals
 * of its triangles and of all triangles that share a corner with them. A child has a cone only if all of these
 * triangles have areas, are no slivers, and meet in pairs at whole edges. Their winding does not matter: normals are
 * flipped towards the axis. Such a child holds a contact only if some vector from it to the sphere's centre is in the
 * cone or in its opposite: docs/contacts.md, section 5, has the proof. */
#include "edges.h"

#include <math.h>

#define LEAST_HEIGHT 0x1p-100 /* of a triangle, so that no distance is denormal */
#define LEAST_RATIO 0.125
#define SURPLUS_SINE \
    0x1.02p-4 /* sine of the angle by which a vector must be outside the cone of normals to be culled */
#define SURPLUS_COSINE 0x1.fefa2p-1 /* lower bound of the cosine of the same angle */
#define NORMAL_ERROR 0x1p-20F       /* error of the cosine of two directions in binary32 */
#define LEAST_COSINE 0.125          /* of the half angle of the cone with its surplus */
enum { CHILDREN_PER_CONE = 8 };     /* at least one child in so many has a cone, or all cones are dropped */
enum { FAN_MOST = 48, FACES_PER_TASK = 4096, NODES_PER_TASK = 64 };
enum { WHOLE = CAROMI_FACE_WHOLE };

typedef caromi_face face;

typedef struct cone {
    float axis[3], cosine;       /* cosine of the half angle; 0: there is no cone */
    float height, length, ratio; /* of its triangles: least height, longest edge, least height / longest edge */
    float radius;                /* of a leaf: of its vertices around the middle of its box, in the box's scale */
} cone;

typedef struct cone_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    face *faces;
    cone *cones; /* [nodes][MESH_WIDTH] */
    mesh_cones *rows;
    int queries;
    int moves; /* only vertices have changed: the faces' `along` stays */
} cone_job;

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Whether the edge belongs to exactly one other triangle, which counts for the same queries. Sets the edge's bit in
 * *along if both triangles run along it in the same direction. */
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

static uint32_t along_of(const cone_job *job, uint32_t t)
{
    uint32_t along = 0;
    for (int k = 0; k < 3; k++)
        if (!has_one_neighbour(job, t, k, &along))
            return 0;
    return along | WHOLE;
}

/* Computes normal, height and length of a triangle; f->along stays. */
static void set_face(const carom_mesh *mesh, uint32_t t, face *f)
{
    double u[3], v[3], w[3];
    const double uu = edge_between(mesh, t, 0, 1, u), vv = edge_between(mesh, t, 0, 2, v);
    const double ww = edge_between(mesh, t, 1, 2, w), most = uu > vv ? uu : vv, square = most > ww ? most : ww;
    const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double area2 = dot(n, n), area = sqrt(area2), per_area = 1 / area;
    *f = (face){.along = f->along};
    if (!(area2 >= LEAST_RATIO * LEAST_RATIO * square * square && area2 >= LEAST_HEIGHT * LEAST_HEIGHT * square))
        return;
    const double length = sqrt(square);
    for (int k = 0; k < 3; k++)
        f->normal[k] = (float)(n[k] * per_area);
    f->length = (float)length;
    if (f->along & WHOLE) {
        f->height = (float)(area / length);
        f->ratio = f->height / f->length;
    }
}

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

static void widen(cone *c, float cosine, float height, float length, float ratio)
{
    c->cosine = lower_of(c->cosine, cosine);
    c->height = lower_of(c->height, height);
    c->length = length > c->length ? length : c->length;
    c->ratio = lower_of(c->ratio, ratio);
}

static int is_turned(const cone *c, const face *f)
{
    return product_of(c->axis, f->normal) < 0;
}

/* Whether the triangles around a position, seen along the axis, lie on both sides of each edge there, so that the
 * surface does not fold. Two triangles that run along an edge in the same direction do if one of their normals is
 * flipped. */
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

/* ---- the triangles around a leaf --------------------------------------------------------------------------------- */

enum { LEAF_CORNERS = 3 * MESH_WIDTH };
#define NO_MORE UINT32_MAX
/* Marks in place of a list's first triangle: a corner has too many triangles for a cone; the list has no room for all.
 */
#define NO_CONE (UINT32_MAX - 1)
#define NO_ROOM (UINT32_MAX - 2)

typedef struct listed {
    uint64_t may_have[2]; /* filter: a bit for each triangle listed, by the triangle's lowest bits */
    uint32_t count, room, *triangle;
} listed;

/* Adds a triangle once. Returns 0 if there is no room. */
static int list_triangle(listed *l, uint32_t triangle)
{
    const uint64_t bit = UINT64_C(1) << (triangle & 63);
    uint64_t *may_have = &l->may_have[triangle >> 6 & 1];
    for (uint32_t i = 0; (*may_have & bit) != 0 && i < l->count; i++)
        if (l->triangle[i] == triangle)
            return 1;
    *may_have |= bit;
    if (l->count + 1 == l->room)
        return 0;
    l->triangle[l->count++] = triangle;
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
static uint32_t list_fans(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, listed *l)
{
    int has_room = 1;
    const caromi_corners *corners = job->edges->corners;
    uint32_t positions[LEAF_CORNERS];
    const int count = list_positions(job, leaf, is_unindexed, positions);
    for (int i = 0; i < count; i++)
        __builtin_prefetch(&corners->start[positions[i]]);
    for (int i = 0; i < count; i++) {
        const uint64_t from = corners->start[positions[i]], end = corners->start[positions[i] + 1];
        if (end - from > FAN_MOST)
            return NO_CONE;
        for (uint64_t t = from; has_room && t < end; t++)
            has_room = list_triangle(l, corners->triangle[t]);
    }
    return has_room ? NO_MORE : NO_ROOM;
}

static void list_around(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, caromi_around *to)
{
    const uint32_t room = sizeof to->triangle / sizeof *to->triangle;
    listed l = {.room = is_unindexed ? 2 * room : room, .triangle = to->triangle};
    const uint32_t end = list_fans(job, leaf, is_unindexed, &l);
    l.triangle[end == NO_MORE ? l.count : 0] = end;
}

/* The winding of some triangles, seen along an axis. */
typedef struct turns {
    uint32_t along;         /* or of the faces' along */
    uint64_t count, turned; /* triangles; with normals against the axis */
} turns;

/* Widens the cone by a triangle. Returns 0 if the triangle is under no cone. */
static inline int add_face(const face *f, cone *c, turns *t)
{
    const float product = product_of(c->axis, f->normal);
    t->along |= f->along;
    t->turned += product < 0;
    t->count++;
    widen(c, fabsf(product) - NORMAL_ERROR, f->height, f->length, f->ratio);
    return f->height > 0;
}

/* Widens a leaf's cone by all triangles around its corners; some may be added more than once. */
static int add_around(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, const uint32_t *triangle, cone *c)
{
    const caromi_corners *corners = job->edges->corners;
    uint32_t positions[LEAF_CORNERS];
    turns t = {0};
    cone own = *c; /* a local copy: the compiler keeps it in registers */
    int fans = *triangle == NO_ROOM ? list_positions(job, leaf, is_unindexed, positions) : 0;
    while (fans-- > 0)
        for (uint64_t k = corners->start[positions[fans]]; k < corners->start[positions[fans] + 1]; k++)
            if (!add_face(&job->faces[corners->triangle[k]], &own, &t))
                return 0;
    for (; *triangle < NO_ROOM; triangle++)
        if (!add_face(&job->faces[*triangle], &own, &t))
            return 0;
    *c = own;
    if (!(c->cosine > 0))
        return 0;
    if (t.along == WHOLE && (t.turned == 0 || t.turned == t.count))
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

static cone cone_of_leaf(const cone_job *job, int reference, const double middle[3])
{
    const mesh_leaf *leaf = &job->mesh->view.leaves[MESH_LEAF_AT(reference)];
    caromi_around *around = &job->edges->around[MESH_LEAF_AT(reference)];
    const int is_unindexed = MESH_IS_UNINDEXED(reference);
    const cone none = {{0}, 0, 0, 0, 0, 0};
    cone c = {{0}, 1, INFINITY, 0, 1, 0};
    if (!job->moves &&
        job->queries ==
            CAROMI_ANY_QUERY) /* the table of triangles around leaves is filled for these queries first, then reused */
        list_around(job, leaf, is_unindexed, around);
    if (around->triangle[0] == NO_CONE || !set_axis_of_leaf(job, leaf, &c) ||
        !add_around(job, leaf, is_unindexed, around->triangle, &c))
        return none;
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
        widen(&c, (float)(cosine_of_sum(apart, (double)part[i].cosine) - (double)NORMAL_ERROR), part[i].height,
              part[i].length, part[i].ratio);
    }
    return c.cosine > 0 ? c : none;
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

/* Computes the cones of inner nodes, from the last to the first: children have higher numbers than their node. */
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

/* Drops all cones if too few children have one, as the search would test them in vain. The decision is made here so
 * that each backend culls the same triangles. Returns whether cones are kept. */
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

int caromi_edges_fill_cones(const carom_mesh *mesh, caromi_edges *e, int queries, int moves)
{
    const uint64_t nodes = mesh->info.node_count, triangles = mesh->info.triangle_count;
    caromi_culling *to = &e->culling[queries];
    cone_job job = {
        .mesh = mesh, .edges = e, .faces = to->faces, .rows = to->cones, .queries = queries, .moves = moves};
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
