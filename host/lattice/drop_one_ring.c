/* SPDX-License-Identifier: MIT */
/* Early-out tests for a position's features, by the normals of its one-ring. On a fine mesh they cull most features,
 * which decide no column at all. docs/drop.md has the proofs. */
#include "drop.h"

/* Computes R times the triangle's upward normal. Returns 0 if it is not accurate enough. */
static int find_normal(drop_one_ring *s, int t)
{
    const float *p = s->at, *a = s->corner[t][0], *b = s->corner[t][1];
    double e[3], f[3], n[3], all = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = (double)a[k] - (double)p[k];
        f[k] = (double)b[k] - (double)p[k];
    }
    for (int k = 0; k < 3; k++) {
        const double plus = e[(k + 1) % 3] * f[(k + 2) % 3], minus = e[(k + 2) % 3] * f[(k + 1) % 3];
        n[k] = plus - minus;
        all += fabs(plus) + fabs(minus);
    }
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(fabs(n[2]) > 0x1p-10 * length && length > 0x1p-20 * all))
        return 0;
    const double per = s->tile->map->ball.r / (n[2] < 0 ? -length : length);
    for (int k = 0; k < 3; k++)
        s->normal[t][k] = per * n[k];
    s->is_turned[t] = n[2] < 0;
    return 1;
}

/* Whether the triangles surround the position, seen from above: each begins where another ends. */
static int is_fan(const drop_one_ring *s)
{
    for (int t = 0; t < s->count; t++) {
        int begin = 0, end = 0;
        for (int i = 0; i < s->count; i++) {
            begin += s->side[2 * i].end == s->side[2 * t].opposite;
            end += s->side[2 * i].opposite == s->side[2 * t].end;
        }
        if (begin != 1 || end != 1 || s->is_turned[t] != s->is_turned[0])
            return 0;
    }
    return s->count > 0;
}

void caromi_drop_one_ring_make(drop_one_ring *s)
{
    s->is_known = s->count <= DROP_FAN;
    for (int t = 0; t < s->count && s->is_known; t++)
        s->is_known = find_normal(s, t);
    s->is_fan = s->is_known && is_fan(s);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

int caromi_drop_one_ring_corner(const drop_one_ring *s, double lower[2], double upper[2])
{
    double spread = 0;
    if (!s->is_fan)
        return 0;
    for (int k = 0; k < 3; k++) {
        double low = s->normal[0][k], high = low;
        for (int t = 1; t < s->count; t++) {
            low = smaller(low, s->normal[t][k]);
            high = larger(high, s->normal[t][k]);
        }
        spread += (high - low) * (high - low);
        if (k < 2) {
            lower[k] = low;
            upper[k] = high;
        }
    }
    const double r = s->tile->map->ball.r, slack = 0x1p-19 * r + spread / r;
    for (int k = 0; k < 2; k++) {
        lower[k] += (double)s->at[k] - slack;
        upper[k] += (double)s->at[k] + slack;
    }
    return 1;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Finds the two triangles at the edge to a neighbour, if there are two, on different sides seen from above. */
static int find_pair(const drop_one_ring *s, uint32_t end, const double e[3], int pair[2])
{
    int found = 0, sides = 0;
    for (int i = 0; i < 2 * s->count; i++) {
        if (s->side[i].end != end)
            continue;
        const float *other = s->corner[i / 2][i % 2 == 0];
        const double x = (double)other[0] - (double)s->at[0], y = (double)other[1] - (double)s->at[1];
        const double left = e[0] * y, right = e[1] * x;
        if (found == 2 || !(fabs(left - right) > 0x1p-20 * (fabs(left) + fabs(right))))
            return 0;
        sides |= left > right ? 1 : 2;
        pair[found++] = i / 2;
    }
    return found == 2 && sides == 3;
}

/* Whether a column of the block may be inside the strip of ball centres that touch the edge. */
static int crosses(const drop_tile *tile, const float *at, const double e[3], const double range[2], drop_span i,
                   drop_span j)
{
    for (uint64_t b = j.first; b < j.end; b++)
        for (uint64_t a = i.first; a < i.end; a++) {
            const double w = e[0] * (tile->y[b] - (double)at[1]) - e[1] * (tile->x[a] - (double)at[0]);
            if (range[0] <= w && w <= range[1])
                return 1;
        }
    return 0;
}

int caromi_drop_one_ring_skips_edge(const drop_one_ring *s, uint32_t end, const float *to)
{
    const drop_tile *tile = s->tile;
    const double r = tile->map->ball.r;
    int pair[2];
    double e[3], chord = 0, lower[2], upper[2];
    for (int k = 0; k < 3; k++)
        e[k] = (double)to[k] - (double)s->at[k];
    if (!s->is_known || !find_pair(s, end, e, pair))
        return 0;
    const double *m = s->normal[pair[0]], *n = s->normal[pair[1]];
    for (int k = 0; k < 3; k++)
        chord += (m[k] - n[k]) * (m[k] - n[k]);
    const double slack = 0x1p-19 * (r + fabs(e[0]) + fabs(e[1])) + 0.25 * chord / r;
    for (int k = 0; k < 2; k++) {
        const double a = (double)s->at[k];
        lower[k] = a + smaller(0, e[k]) + smaller(m[k], n[k]) - slack;
        upper[k] = a + larger(0, e[k]) + larger(m[k], n[k]) + slack;
    }
    const drop_span j = caromi_drop_span_of(tile, tile->y, tile->ny, lower[1], upper[1]);
    if (j.first == j.end)
        return 1;
    const drop_span i = caromi_drop_span_of(tile, tile->x, tile->nx, lower[0], upper[0]);
    if (i.first == i.end)
        return 1;
    if ((i.end - i.first) * (j.end - j.first) > DROP_SMALL)
        return 0;
    const double p = e[0] * m[1] - e[1] * m[0], q = e[0] * n[1] - e[1] * n[0];
    const double position_error = slack * (fabs(e[0]) + fabs(e[1]));
    return !crosses(tile, s->at, e, (double[]){smaller(p, q) - position_error, larger(p, q) + position_error}, i, j);
}
