/* SPDX-License-Identifier: MIT */
/* Which of two triangles is closer: a floating-point filter, then integers. */
#define LANES 1
#include "kernels/mesh_contacts_exact.h"
#include "exact.h"
#include "mesh.h"

static closest_wide wide_of(const float *in)
{
    return closest_wide_of(w3_of((double)in[IN_NCX], (double)in[IN_NCY], (double)in[IN_NCZ]),
                           w3_of((double)in[IN_NP0X], (double)in[IN_NP0Y], (double)in[IN_NP0Z]),
                           w3_of((double)in[IN_NP1X], (double)in[IN_NP1Y], (double)in[IN_NP1Z]),
                           w3_of((double)in[IN_NP2X], (double)in[IN_NP2Y], (double)in[IN_NP2Z]));
}

static closest_range range_of(const float *in)
{
    const closest_wide t = wide_of(in);
    return closest_range_of(&t);
}

int caromi_settle_order(const float *in, const float *other, uint8_t *by_integers)
{
    const closest_range a = range_of(in), b = range_of(other);
    if (a.high < b.low || b.high < a.low)
        return a.high < b.low ? -1 : 1;
    *by_integers = 1;
    return caromi_exact_closest_order(in, other);
}

static v3 vector_of(const float *x)
{
    return v3_of(x[0], x[1], x[2]);
}

void caromi_contact_record(const caromi_mesh_view *mesh, const float *in, int exact, mesh_record *record)
{
    const closest_in c = {vector_of(in + IN_NCX), vector_of(in + IN_NP0X), vector_of(in + IN_NP1X),
                          vector_of(in + IN_NP2X)};
    const closest_view view = closest_view_of(c.center, mesh->frame);
    const float scale = mesh->frame.scale;
    if (exact) {
        const closest_wide t = wide_of(in);
        const closest_range r = closest_range_of(&t);
        const float low = (float)r.low, high = (float)r.high;
        record->t = low < high || low > high ? v_from_bits(R_NAN_BITS) : low;
        record->state = (int)closest_spot_of(&t).feature;
        return;
    }
    const closest_span span =
        closest_span_of(view, v3_mul(mesh_min3(c.p0, c.p1, c.p2), scale), v3_mul(mesh_max3(c.p0, c.p1, c.p2), scale));
    const contacts_seen s = contacts_see(c, span);
    record->t = contacts_distance(c, view, &s, 1, scale);
    record->state = s.feature;
}

int caromi_may_be_flat(const float *corners)
{
    const w3 p0 = w3_of((double)corners[0], (double)corners[1], (double)corners[2]);
    const w3 a = w3_sub(w3_of((double)corners[3], (double)corners[4], (double)corners[5]), p0);
    const w3 b = w3_sub(w3_of((double)corners[6], (double)corners[7], (double)corners[8]), p0);
    const w3 n = w3_cross(a, b);
    /* The error of n is below 2^-50 |a| |b|. */
    return !(w3_dot(n, n) > 0x1p-96 * (w3_dot(a, a) * w3_dot(b, b)));
}
