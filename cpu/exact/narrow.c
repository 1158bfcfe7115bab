/* SPDX-License-Identifier: MIT */
/* Overlap in 64, 128 and 192 bits, by the conditions of overlap.c. In units of their lowest bit all differences and the
 * radius are at most 2^30. So products of two lengths and of their sums, as in e x d and n, are less than 2^62; d.n is
 * less than 2^93, and squares of e x d, like (e x d).n, are less than 2^124. */
#include "narrow.h"

#include <math.h>

#include "integer.h"
#include "kernels/layout.h"

__extension__ typedef unsigned __int128 wide_word;
__extension__ typedef __int128 wide;

static const double most = 0x1p30;

/* A sphere and a triangle, relative to the centre. */
typedef struct narrow {
    int64_t r, d[3][3], e[3][3];
} narrow;

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static int64_t dot(const int64_t *a, const int64_t *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static wide wide_dot(const int64_t *a, const int64_t *b)
{
    return (wide)a[0] * b[0] + (wide)a[1] * b[1] + (wide)a[2] * b[2];
}

static void cross(int64_t *out, const int64_t *a, const int64_t *b)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* a - b; whether it is narrow. Then it is exact: of two whole binary32 numbers one of which is above 2^52 both are
 * multiples of 2^28. */
static int is_narrow_difference(int64_t *out, const double *a, const double *b)
{
    int is_narrow = 1;
    for (int i = 0; i < 3; i++) {
        const double difference = a[i] - b[i];
        is_narrow &= fabs(difference) <= most;
        out[i] = is_narrow ? (int64_t)difference : 0;
    }
    return is_narrow;
}

/* Loads a pair; returns 0 if it is not narrow. */
static int narrow_of(narrow *pair, const float *in)
{
    const int lowest = caromi_lowest_bit(in, IN_OVERLAP);
    const double unit = lowest == CAROMI_NO_BIT ? 1.0 : caromi_power2(-lowest);
    double x[IN_OVERLAP];
    for (int i = 0; i < IN_OVERLAP; i++)
        x[i] = (double)in[i] * unit;
    int is_narrow = x[IN_OR] <= most;
    pair->r = is_narrow ? (int64_t)x[IN_OR] : 0;
    for (int k = 0; is_narrow && k < 3; k++) {
        const double *from = x + IN_OP0X + 3 * k, *to = x + IN_OP0X + 3 * ((k + 1) % 3);
        is_narrow = is_narrow_difference(pair->d[k], x + IN_OCX, from) && is_narrow_difference(pair->e[k], to, from);
    }
    return is_narrow;
}

/* ---- separating axes --------------------------------------------------------------------------------------------- */

/* high 2^64 + low */
typedef struct longer {
    wide_word high;
    uint64_t low;
} longer;

/* The square of a number of at most 96 bits. */
static longer square_of(wide_word a)
{
    const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;
    const wide_word square = (wide_word)low * low;
    return (longer){((wide_word)high * high << 64) + 2 * (wide_word)high * low + (square >> 64), (uint64_t)square};
}

static longer product_of(wide_word a, uint64_t b)
{
    const wide_word low = (wide_word)(uint64_t)a * b;
    return (longer){(wide_word)(uint64_t)(a >> 64) * b + (low >> 64), (uint64_t)low};
}

/* Whether the plane is farther than r; a triangle without area has none. */
static int plane_separates(const narrow *pair, const int64_t *n)
{
    const wide height = wide_dot(n, pair->d[0]);
    const longer square = square_of((wide_word)(height < 0 ? -height : height)),
                 reach = product_of((wide_word)wide_dot(n, n), (uint64_t)(pair->r * pair->r));
    return square.high > reach.high || (square.high == reach.high && square.low > reach.low);
}

static int edge_separates(const narrow *pair, const int64_t *n, int edge)
{
    int64_t e_cross_d[3];
    cross(e_cross_d, pair->e[edge], pair->d[edge]);
    return wide_dot(e_cross_d, n) <= 0 &&
           wide_dot(e_cross_d, e_cross_d) > (wide)(pair->r * pair->r) * dot(pair->e[edge], pair->e[edge]);
}

static int corner_separates(const narrow *pair, int corner)
{
    const int64_t *d = pair->d[corner];
    return dot(d, pair->e[corner]) <= 0 && dot(d, pair->e[(corner + 2) % 3]) >= 0 && dot(d, d) > pair->r * pair->r;
}

int caromi_narrow_axes_of(const float *in, int *axes)
{
    narrow pair;
    int64_t n[3];
    if (!narrow_of(&pair, in))
        return 0;
    cross(n, pair.e[0], pair.e[1]);
    *axes = plane_separates(&pair, n);
    for (int feature = 0; feature < 3; feature++)
        *axes |= edge_separates(&pair, n, feature) << (1 + feature) | corner_separates(&pair, feature) << (4 + feature);
    return 1;
}
