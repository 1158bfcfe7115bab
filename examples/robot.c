/* SPDX-License-Identifier: MIT */
/* robot: configurations of an arm against a mesh. Spheres of the links against the body of the mesh, spheres among
 * themselves, links as capsules, and paths. A robot has two links in a plane and a base that drives about. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>

enum { CONFIGS = 5, LINK = 4, SPHERES = 2 * LINK, ALL = CONFIGS * SPHERES, PAIRS = (LINK - 1) * LINK };

static const float length = 2, radius = 0.25f;

typedef struct config {
    double at[4]; /* base x, y; angle of the first link; angle of the second against the first */
} config;

/* Forward kinematics: centres at 1/4, 2/4, 3/4, 4/4 of each link, and both ends of each link. */
static void place(const config *q, float (*center)[3], float (*joint)[3])
{
    double end[3][3] = {{q->at[0], q->at[1], 0}}, angle = 0; /* of the links */
    for (int j = 0; j < 2; j++) {
        angle += q->at[2 + j];
        end[j + 1][0] = end[j][0] + (double)length * cos(angle);
        end[j + 1][1] = end[j][1] + (double)length * sin(angle);
    }
    for (int s = 0; s < SPHERES; s++)
        for (int k = 0; k < 3; k++)
            center[s][k] =
                (float)(end[s / LINK][k] + (end[s / LINK + 1][k] - end[s / LINK][k]) * (s % LINK + 1) / LINK);
    for (int j = 0; joint && j < 4; j++) /* begin and end of link 0, begin and end of link 1 */
        for (int k = 0; k < 3; k++)
            joint[j][k] = (float)end[(j + 1) / 2][k];
}

/* clear[c]: no sphere of configuration c touches the mesh or, with a sign, has its centre inside. */
static carom_status spheres_free(carom_mesh *mesh, float (*center)[3], carom_sign sign, int *clear, carom_error *err)
{
    uint8_t any[CONFIGS];
    const carom_mesh_overlap_desc desc = {.batch = {.size = sizeof desc, .count = ALL},
                                          .center = carom_xyz(center[0]),
                                          .radius = {&radius, CAROM_REPEAT},
                                          .sign = sign,
                                          .bundle = SPHERES};
    const carom_any_result out = {.size = sizeof out, .hit = any};
    const carom_status status = carom_mesh_overlap_any(mesh, &desc, &out, NULL, err);
    for (int c = 0; status == CAROM_OK && c < CONFIGS; c++)
        clear[c] = any[c] == 0;
    return status;
}

/* Self-collision: the spheres of both links, but for the one at the elbow. Two spheres at rest overlap or touch. */
static carom_status self_free(carom_context *context, float (*center)[3], int *clear, carom_error *err)
{
    uint32_t a[CONFIGS * PAIRS], b[CONFIGS * PAIRS];
    uint8_t state[CONFIGS * PAIRS];
    for (uint32_t i = 0, c = 0; i < CONFIGS * PAIRS; i++, c = i / PAIRS)
        a[i] = c * SPHERES + i % PAIRS / LINK, b[i] = c * SPHERES + LINK + i % LINK;
    const carom_points at = carom_xyz(center[0]);
    const carom_scalars r = {&radius, CAROM_REPEAT};
    const carom_sphere_sweep_pairs_desc desc = {.batch = {.size = sizeof desc, .count = CONFIGS * PAIRS},
                                                .a0 = at,
                                                .a1 = at,
                                                .radius_a = r,
                                                .b0 = at,
                                                .b1 = at,
                                                .radius_b = r,
                                                .indices = {carom_uints_of(a), carom_uints_of(b), ALL, ALL}};
    const carom_sphere_sweep_result out = {.size = sizeof out, .state = state};
    const carom_status status = carom_sphere_sweep_pairs(context, &desc, &out, NULL, err);
    for (int c = 0; status == CAROM_OK && c < CONFIGS; c++) {
        clear[c] = 1;
        for (int p = 0; p < PAIRS; p++)
            clear[c] &= state[c * PAIRS + p] == CAROM_MISS;
    }
    return status;
}

/* Links as capsules: a capsule at rest is a sphere that moves along its axis. It is also hit if it is inside: then it
 * touches no surface, and either end tells. */
static carom_status capsules_free(carom_mesh *mesh, float (*joint)[3], int *clear, carom_error *err)
{
    uint8_t any[2 * CONFIGS], inside[2 * CONFIGS];
    const carom_points begin = carom_strided(joint[0], 2 * sizeof joint[0]),
                       end = carom_strided(joint[1], 2 * sizeof joint[0]);
    const carom_scalars r = {&radius, CAROM_REPEAT};
    const carom_mesh_sweep_desc along = {
        .batch = {.size = sizeof along, .count = 2 * CONFIGS}, .center = begin, .end = end, .radius = r};
    const carom_mesh_overlap_desc at = {
        .batch = {.size = sizeof at, .count = 2 * CONFIGS}, .center = begin, .radius = r, .sign = CAROM_SIGN_WINDING};
    const carom_any_result hit = {.size = sizeof hit, .hit = any}, in = {.size = sizeof in, .hit = inside};
    carom_status status = carom_mesh_sweep_any(mesh, &along, &hit, NULL, err);
    if (status == CAROM_OK)
        status = carom_mesh_overlap_any(mesh, &at, &in, NULL, err);
    for (int c = 0; status == CAROM_OK && c < CONFIGS; c++)
        clear[c] = !(any[2 * c] | any[2 * c + 1] | inside[2 * c] | inside[2 * c + 1]);
    return status;
}

/* CCD: where on the way from p to q the first sphere touches; +inf: nowhere. Spheres go straight. Where the arm turns
 * by an angle t about a joint, a point at the distance d from it leaves the straight way by at most d t^2 / 8. So
 * a wider sphere on the straight way never touches later than the real one. */
static carom_status first_contact(carom_mesh *mesh, const config *p, const config *q, int wider, float *u,
                                  carom_error *err)
{
    float from[SPHERES][3], to[SPHERES][3], wide[SPHERES], t[SPHERES];
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    const double turn = fabs(q->at[2] - p->at[2]), bend = turn + fabs(q->at[3] - p->at[3]);
    place(p, from, NULL);
    place(q, to, NULL);
    for (int s = 0; s < SPHERES; s++) {
        const double d = (double)length * (s % LINK + 1) / LINK;
        const double off = s < LINK ? d * turn * turn / 8 : (double)length * turn * turn / 8 + d * bend * bend / 8;
        wide[s] = (float)((double)radius + wider * off);
    }
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = SPHERES},
                                        .center = carom_xyz(from[0]),
                                        .end = carom_xyz(to[0]),
                                        .radius = carom_scalars_of(wide)};
    const carom_status status = carom_mesh_sweep_first(mesh, &desc, &out, NULL, err);
    *u = INFINITY;
    for (int s = 0; status == CAROM_OK && s < SPHERES; s++)
        *u = fminf(*u, t[s]);
    return status;
}

/* The same in pieces: the shorter a piece, the less wider its spheres are. */
static carom_status in_pieces(carom_mesh *mesh, const config *p, const config *q, int pieces, float *u,
                              carom_error *err)
{
    carom_status status = CAROM_OK;
    *u = INFINITY;
    for (int i = 0; i < pieces && isinf(*u) && status == CAROM_OK; i++) {
        config from, to;
        for (int k = 0; k < 4; k++) {
            from.at[k] = p->at[k] + (q->at[k] - p->at[k]) * i / pieces;
            to.at[k] = p->at[k] + (q->at[k] - p->at[k]) * (i + 1) / pieces;
        }
        status = first_contact(mesh, &from, &to, 1, u, err);
        *u = ((float)i + *u) / (float)pieces;
    }
    return status;
}

/* Two closed boxes, faces outward: a block and a pin. */
static carom_status make_boxes(carom_context *context, carom_mesh **mesh, carom_error *err)
{
    const float lower[2][3] = {{6, -5, -5}, {0.74f, 2.2f, -1}}, upper[2][3] = {{16, 5, 5}, {0.76f, 2.5f, 1}};
    const uint32_t side[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                             2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    float corner[16][3];
    uint32_t index[72];
    for (int v = 0; v < 16; v++)
        for (int k = 0; k < 3; k++)
            corner[v][k] = v >> k & 1 ? upper[v / 8][k] : lower[v / 8][k];
    for (uint32_t i = 0; i < 72; i++)
        index[i] = side[i % 36] + i / 36 * 8;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(corner[0]),
                                  .vertex_count = 16,
                                  .indices = carom_uints_of(index),
                                  .triangle_count = 24};
    return carom_mesh_create(context, &desc, mesh, err);
}

int main(void)
{
    /* In the open; in the block's middle; the pin between two spheres; folded; the tip at the block. */
    const config q[CONFIGS] = {{{0, 0, 0, 0}}, {{10, 0, 0, 1}}, {{0, 2, 0, 0}}, {{0, 0, 0, 3}}, {{1.875, 0, 0, 0}}};
    const config drive = {{4, 0, 0, 0}}, low = {{1.755, 0, -0.1, 0}}, high = {{1.755, 0, 0.1, 0}};
    float center[ALL][3], joint[4 * CONFIGS][3], u[4];
    int shell[CONFIGS], body[CONFIGS], self[CONFIGS], capsule[CONFIGS];
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err;
    for (int c = 0; c < CONFIGS; c++)
        place(&q[c], center + c * SPHERES, joint + 4 * c);
    const int ok =
        carom_context_create(NULL, &context, &err) == CAROM_OK && make_boxes(context, &mesh, &err) == CAROM_OK &&
        spheres_free(mesh, center, CAROM_SIGN_NONE, shell, &err) == CAROM_OK &&
        spheres_free(mesh, center, CAROM_SIGN_WINDING, body, &err) == CAROM_OK &&
        self_free(context, center, self, &err) == CAROM_OK && capsules_free(mesh, joint, capsule, &err) == CAROM_OK &&
        first_contact(mesh, &q[0], &drive, 1, &u[0], &err) == CAROM_OK &&
        first_contact(mesh, &low, &high, 0, &u[1], &err) == CAROM_OK &&
        in_pieces(mesh, &low, &high, 1, &u[2], &err) == CAROM_OK &&
        in_pieces(mesh, &low, &high, 16, &u[3], &err) == CAROM_OK;
    for (int c = 0; ok && c < CONFIGS; c++)
        printf("%d: free of the shell %d, of the body %d, of itself %d, as capsules %d\n", c, shell[c], body[c],
               self[c], capsule[c]);
    if (ok)
        printf("drives until u = %g\nturns until u = %g; with wider spheres %g, in 16 pieces %.3f\n", (double)u[0],
               (double)u[1], (double)u[2], (double)u[3]);
    else
        fprintf(stderr, "%s\n", err.message);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
