/* SPDX-License-Identifier: MIT */
/* Times, states and points of the second filter (sweep_plucker.h), and its columns. */
#ifndef CAROM_SWEEP_SECOND_H
#define CAROM_SWEEP_SECOND_H
#include "columns.h"
#include "sweep_graze.h"
#include "sweep_second_points.h"
#include "second_state.h"

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* A time as an interval, and its sign. */
typedef struct plucker_time {
    bounded time;
    wf low, high; /* in the caller's unit, rounded to binary32 */
    wm usable;    /* the divisor is certainly positive: else the bound means nothing */
    wm is_positive, is_negative, is_zero;
    wm is_above, is_not_above; /* the true time is certainly greater than `low`; it certainly is not */
} plucker_time;

/* Rounds an interval, in the unit of pair->v. */
FN void plucker_time_set(wf low, wf high, wf unit, plucker_time *time)
{
    const wf zero = w_f(W(0.0));
    time->low = w_sel(time->is_zero, zero, w_round(low * unit) + zero);
    time->high = w_sel(time->is_zero, zero, w_round(high * unit) + zero);
    time->is_above = w_and(w_not(time->is_zero), w_lt(time->low, low * unit));
    time->is_not_above = w_or(time->is_zero, w_le(high * unit, time->low));
}

/* The time of a contact. The first: (-b - root) / a, or k / (root - b) where that would cancel and is not exact. The
 * last is the first of the motion backwards, with its sign changed: b and the result are negated. */
FN plucker_time plucker_time_of(const plucker_contact *contact, wf unit, int last)
{
    const wf zero = w_f(W(0.0)), b = last ? -contact->b.value : contact->b.value, gap = -b - contact->root.value;
    const wm ahead = w_lt(b, zero), is_exact = w_and(ahead, w_and(w_eq(contact->root.error + contact->b.error, zero),
                                                                  wide_is_exact(-b, contact->root.value, gap)));
    const wf sum = contact->root.value + w_abs(b),
             sum_error = contact->root.error + contact->b.error + sum * BOUNDED_EPS;
    const bounded least = bounded_sel(is_exact, bounded_of(gap, zero), contact->k),
                  top = bounded_sel(ahead, least, bounded_of(sum, sum_error)),
                  below = bounded_sel(w_and(ahead, w_not(is_exact)), bounded_of(sum, sum_error), contact->a);
    const bounded size = bounded_div(top, below);
    const wm usable = w_lt(below.error * W(8.0), below.value);
    const wm positive = w_and(usable, w_and(ahead, w_lt(contact->k.error, contact->k.value)));
    const wm negative = w_and(usable, w_or(w_and(ahead, w_lt(contact->k.value, -contact->k.error)),
                                           w_and(w_not(ahead), w_lt(sum_error, sum))));
    plucker_time time;
    /* k = 0, or b and the root are. */
    time.is_zero = w_and(usable, w_and(w_eq(top.value, zero), w_eq(top.error, zero)));
    time.usable = usable;
    time.time = bounded_of(w_sel(ahead, size.value, -size.value), size.error);
    if (last)
        time.time.value = -time.time.value;
    time.is_positive = last ? negative : positive;
    time.is_negative = last ? positive : negative;
    plucker_time_set(time.time.value - size.error, time.time.value + size.error, unit, &time);
    return time;
}

/* The begin or end of a graze. */
FN plucker_time plucker_graze_time(const plucker_graze *graze, wf unit, int last)
{
    const plucker_earliest *earliest = &graze->contact[last ? PLUCKER_LAST : PLUCKER_FIRST];
    const wm is_before = earliest->some_negative, is_zero = w_and(earliest->some_zero, w_not(is_before)),
             is_after = w_not(w_or(is_before, is_zero));
    plucker_time time;
    time.usable = w_and(graze->found, graze->clear);
    time.is_zero = is_zero;
    time.is_negative = last ? is_after : is_before;
    time.is_positive = last ? is_before : is_after;
    time.time = bounded_of(earliest->low, w_infinity());
    plucker_time_set(last ? -earliest->high : earliest->low, last ? -earliest->low : earliest->high, unit, &time);
    return time;
}

/* ---- times that need twice the precision ------------------------------------------------------------------------- */

#define PLUCKER_FINE w_f(W(0x1p-97) * W_BOUND) /* 512 roundings of the second order */

/* k and the root of a contact with a corner or an edge. With x = v and y = d at a corner, x = a and y = e x d at an
 * edge, a = x.x, b = x.y, k = y.y - r^2 e.e, and the root's square is b^2 - a k. */
FN void plucker_refine_round(const plucker_pair *pair, w3 d, w3 e, wm is_corner, wf e_size, wm is_exact,
                             plucker_contact *contact)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    const wide23 x = wide23_sel(is_corner, wide23_of(pair->v.value), wide23_cross(e, pair->v.value)),
                 y = wide23_sel(is_corner, wide23_of(d), wide23_cross(e, d)), edge = wide23_of(e);
    const wide2 a = wide23_dot(x, x), b = wide23_dot(x, y),
                e2 = wide2_sel(is_corner, wide2_of(one, zero), wide23_dot(edge, edge)),
                k = wide2_sub(wide23_dot(y, y), wide2_mul(e2, wide2_of(pair->radius2.value, zero)));
    const wf size = pair->fine_size * w_sel(is_corner, one, e_size),
             speed = pair->v.size * w_sel(is_corner, one, e_size), k_error = PLUCKER_FINE * (size * size);
    const wide2 square = wide2_sub(wide2_mul(b, b), wide2_mul(a, k));
    contact->k = bounded_of_wide2(k, w_sel(is_exact, zero, k_error));
    contact->root = bounded_sqrt(bounded_of_wide2(square, k_error * (speed * speed)));
}

/* k of a contact with the face: b^2 - r^2 n.n over a, or in factors if the root of n.n is exact. */
FN void plucker_refine_face(const plucker_pair *pair, wf radius, wm is_face, wm is_long, plucker_contact *contact)
{
    const wf zero = w_f(W(0.0));
    const wide23 n = wide23_cross(pair->e[0].value, pair->e[1].value);
    const wide2 b = wide23_dot(n, wide23_of(pair->d[0].value)), n2 = wide23_dot(n, n);
    const wf root = w_sqrt(n2.hi), size = pair->fine_size * (pair->e[0].size * pair->e[1].size);
    const wide2 square = wide2_product(root, root);
    const wm is_exact =
        w_and(w_and(is_long, w_eq(pair->normal_unit, zero)), w_and(w_eq(square.hi, n2.hi), w_eq(square.lo, n2.lo)));
    const wide2 distance = wide2_of(w_sel(w_lt(b.hi, zero), -b.hi, b.hi), w_sel(w_lt(b.hi, zero), -b.lo, b.lo)),
                reach = wide2_product(root, radius);
    const bounded minus = bounded_of_wide2(wide2_sub(distance, reach), zero),
                  plus = bounded_of(distance.hi + reach.hi, (distance.hi + reach.hi) * BOUNDED_EPS * W(4.0));
    const wide2 whole = wide2_sub(wide2_mul(b, b), wide2_mul(n2, wide2_of(pair->radius2.value, zero)));
    bounded k = bounded_sel(is_exact, bounded_mul(minus, plus, BOUNDED_EPS),
                            bounded_of_wide2(whole, PLUCKER_FINE * (size * size)));
    k.value = k.value / contact->a.value;
    k.error = (k.error + w_abs(k.value) * contact->a.error) * W(1.25) / contact->a.value + w_abs(k.value) * BOUNDED_EPS;
    contact->k = bounded_sel(is_face, k, contact->k);
}

/* Computes k and the root again, where the differences of the numbers are exact. */
FN void plucker_refine(const plucker_pair *pair, plucker_in in, plucker_contact *contact)
{
    const wf zero = w_f(W(0.0));
    const plucker_hull hull = plucker_hull_of(pair, in, contact->feature);
    const wm is_corner = hull.is_corner, is_face = hull.is_face;
    const wf e_size = hull.e.size;
    const wf errors = pair->v.error + (pair->d[0].error + pair->d[1].error + pair->d[2].error) +
                      (pair->e[0].error + pair->e[1].error + pair->e[2].error);
    const wm usable = w_and(w_and(w_eq(errors, zero), plucker_in_range(pair->fine_size)),
                            w_and(plucker_in_range(pair->v.size), plucker_in_range(e_size)));
    /* k is exact at a corner of 2 x 50 bits, and at an edge of 2 x 26 for it and 2 x 26 for the centre, or 12 and 40.
     */
    const wm is_long = plucker_lengths_are(in, grain_of(pair->length, W(0x1p-50))),
             is_short = w_or(plucker_lengths_are(in, grain_of(pair->length, W(0x1p-26))),
                             w_and(plucker_lengths_are(in, grain_of(pair->length, W(0x1p-40))),
                                   plucker_corners_are(in, grain_of(pair->edge_length, W(0x1p-12)))));
    plucker_contact fine = *contact;
    plucker_refine_round(pair, hull.d.value, hull.e.value, is_corner, e_size, w_or(is_short, w_and(is_corner, is_long)),
                         &fine);
    const wm round = w_and(usable, w_not(is_face));
    contact->k = bounded_sel(round, fine.k, contact->k);
    contact->root = bounded_sel(round, fine.root, contact->root);
    plucker_refine_face(pair, in.radius, w_and(is_face, usable), is_long, contact);
}

/* Answers of WIDE pairs. */
typedef struct plucker_out {
    wf t_first, t_last;
    wf state;                              /* with the bits of second_state.h */
    plucker_point point[PLUCKER_CONTACTS]; /* if they are wanted */
    wm certain;
} plucker_out;

/* The points of the contacts, which make an answer uncertain if one of them is. Times beyond binary32 have none. */
FN void plucker_add_points(const plucker_pair *pair, plucker_in in, const plucker_contact *contacts,
                           const plucker_time *times, wm misses, plucker_out *out)
{
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        const plucker_time *time = &times[i];
        const wm exists = w_and(w_not(misses), w_lt(w_abs(time->low), w_infinity()));
        out->point[i] = plucker_point_sel(
            exists, plucker_point_of(pair, in, &contacts[i], time->time, i == PLUCKER_LAST), plucker_no_point());
        out->certain = w_and(out->certain, out->point[i].certain);
    }
}

/* Begin and end of contact, where it certainly exists, and where it certainly does not. */
typedef struct plucker_ends {
    plucker_time time[PLUCKER_CONTACTS];
    wm exist, miss;
} plucker_ends;

/* The ends at roots with Y > 0. Without contact all features certainly have no first root in their regions. */
FN plucker_ends plucker_crossing(const plucker_pair *pair, const plucker_contact *contacts, wm has_tangencies)
{
    const plucker_contact *first = &contacts[PLUCKER_FIRST], *last = &contacts[PLUCKER_LAST];
    plucker_ends ends;
    ends.time[PLUCKER_FIRST] = plucker_time_of(first, pair->time_unit, 0);
    ends.time[PLUCKER_LAST] = plucker_time_of(last, pair->time_unit, 1);
    ends.exist = w_and(first->found, last->found);
    ends.miss = w_and(w_and(w_not(first->found), first->clear), w_not(has_tangencies));
    return ends;
}

/* The ends at tangencies, where no feature has others in its region. */
FN plucker_ends plucker_touch(const plucker_pair *pair, const plucker_contact *contacts,
                              const plucker_tangency *tangencies)
{
    const plucker_contact *first = &contacts[PLUCKER_FIRST], *last = &contacts[PLUCKER_LAST];
    plucker_graze graze;
    plucker_ends ends;
    plucker_find_graze(tangencies, &graze);
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++)
        ends.time[i] = plucker_graze_time(&graze, pair->time_unit, i == PLUCKER_LAST);
    const wm is_graze = w_and(w_and(first->clear, last->clear), w_not(w_or(first->found, last->found)));
    ends.exist = w_and(w_and(graze.found, graze.clear), is_graze);
    ends.miss = w_and(w_and(w_not(graze.found), graze.clear), is_graze);
    return ends;
}

/* Times and state, and points if they are wanted. */
FN plucker_out plucker_answer(const plucker_pair *pair, plucker_in in, const plucker_contact *contacts,
                              const plucker_ends *ends, int wants_points)
{
    const plucker_time first = ends->time[PLUCKER_FIRST], last = ends->time[PLUCKER_LAST];
    const wm times = w_and(ends->exist, w_and(w_and(first.usable, w_eq(first.low, first.high)),
                                              w_and(last.usable, w_eq(last.low, last.high))));
    const wm begun = first.is_negative;
    const wm signs = w_or(w_or(first.is_positive, first.is_zero),
                          w_and(begun, w_or(w_or(last.is_positive, last.is_negative), last.is_zero)));
    const wf ended = w_sel(last.is_negative, w_f((wide_real)STATE_PAST),
                           w_sel(last.is_zero, w_f((wide_real)STATE_PARTING), w_f((wide_real)STATE_OVERLAPPING)));
    plucker_out out;
    out.certain = w_and(pair->valid, w_or(ends->miss, w_and(times, signs)));
    out.point[PLUCKER_FIRST] = out.point[PLUCKER_LAST] = plucker_no_point();
    if (wants_points)
        plucker_add_points(pair, in, contacts, ends->time, ends->miss, &out);
    out.state = w_sel(first.is_positive, w_f((wide_real)STATE_APPROACHING),
                      w_sel(first.is_zero, w_f((wide_real)STATE_TOUCHING), ended));
    out.state = out.state + w_sel(first.is_above, w_f((wide_real)SECOND_AFTER), w_f(W(0.0))) +
                w_sel(first.is_not_above, w_f((wide_real)SECOND_NOT_AFTER), w_f(W(0.0)));
    out.state = w_sel(ends->miss, w_f((wide_real)STATE_MISS), out.state);
    out.t_first = w_sel(ends->miss, w_infinity(), first.low);
    out.t_last = w_sel(ends->miss, -w_infinity(), last.low);
    return out;
}

/* a in lanes m, else b. */
FN plucker_out plucker_out_sel(wm m, plucker_out a, plucker_out b)
{
    plucker_out r = b;
    r.t_first = w_sel(m, a.t_first, b.t_first);
    r.t_last = w_sel(m, a.t_last, b.t_last);
    r.state = w_sel(m, a.state, b.state);
    r.certain = w_or(w_and(m, a.certain), w_and(w_not(m), b.certain));
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++)
        r.point[i] = plucker_point_sel(m, a.point[i], b.point[i]);
    return r;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

FN plucker_in plucker_load(in_columns in, size_t at)
{
    plucker_in numbers;
    numbers.center = load3_wide(in, IN_CX, at);
    numbers.radius = w_load(in[IN_R] + at);
    numbers.velocity = load3_wide(in, IN_VX, at);
    numbers.w = load3_wide(in, IN_WX, at);
    for (int corner = 0; corner < 3; corner++)
        numbers.p[corner] = load3_wide(in, IN_P0X + 3 * corner, at);
    return numbers;
}

FN void plucker_store_point(const plucker_point *point, out_columns out, int x, int feature, size_t at)
{
    w_store((G real *)out[x] + at, point->at.x);
    w_store((G real *)out[x + 1] + at, point->at.y);
    w_store((G real *)out[x + 2] + at, point->at.z);
    w_store_u8((G u8 *)out[feature] + at, point->feature);
}

/* t_first of a pair that stays undecided is NaN, and its state 0. */
FN void plucker_store(const plucker_out *answer, out_columns out, size_t at, int wants_points)
{
    const wf zero = w_f(W(0.0));
    w_store((G real *)out[OUT_T_FIRST] + at, w_sel(answer->certain, answer->t_first, w_infinity() - w_infinity()));
    w_store((G real *)out[OUT_T_LAST] + at, answer->t_last);
    w_store_u8((G u8 *)out[OUT_STATE] + at, w_sel(answer->certain, answer->state, zero));
    if (!wants_points)
        return;
    plucker_store_point(&answer->point[PLUCKER_FIRST], out, OUT_FIRST_X, OUT_FIRST_FEATURE, at);
    plucker_store_point(&answer->point[PLUCKER_LAST], out, OUT_LAST_X, OUT_LAST_FEATURE, at);
}

/* The second filter's knowledge of WIDE pairs. */
typedef struct plucker_work {
    plucker_in in;
    plucker_pair pair;
    plucker_contact contacts[PLUCKER_CONTACTS];
    plucker_tangency tangencies[PLUCKER_TANGENCIES];
    plucker_out answer;
    /* Of undecided pairs: which have a time or a sign that is uncertain, but not the features; and which may have
     * tangencies. */
    wm refines, grazes;
} plucker_work;

/* The first step, for all pairs: answers from roots with Y > 0, and tells what is left. */
FN void plucker_begin(in_columns in, size_t at, int wants_points, plucker_work *work)
{
    work->in = plucker_load(in, at);
    plucker_pair_of(work->in, &work->pair);
    const wm has_tangencies = plucker_find(&work->pair, work->in.radius, work->contacts, work->tangencies);
    const plucker_ends ends = plucker_crossing(&work->pair, work->contacts, has_tangencies);
    work->answer = plucker_answer(&work->pair, work->in, work->contacts, &ends, wants_points);
    const wm is_undecided = w_and(work->pair.valid, w_not(work->answer.certain));
    work->refines = w_and(is_undecided, ends.exist);
    work->grazes = w_and(is_undecided, w_and(has_tangencies, w_not(ends.exist)));
}

/* Times with twice the precision. */
FN void plucker_refine_times(int wants_points, plucker_work *work)
{
    const wm none = w_lt(w_f(W(1.0)), w_f(W(0.0)));
    for (int contact = 0; contact < PLUCKER_CONTACTS; contact++)
        plucker_refine(&work->pair, work->in, &work->contacts[contact]);
    const plucker_ends ends = plucker_crossing(&work->pair, work->contacts, none);
    const plucker_out fine = plucker_answer(&work->pair, work->in, work->contacts, &ends, wants_points);
    work->answer = plucker_out_sel(work->refines, fine, work->answer);
}

FN void plucker_graze_times(int wants_points, plucker_work *work)
{
    const plucker_ends ends = plucker_touch(&work->pair, work->contacts, work->tangencies);
    const plucker_out graze = plucker_answer(&work->pair, work->in, work->contacts, &ends, wants_points);
    work->answer = plucker_out_sel(work->grazes, graze, work->answer);
}

/* Pairs from the columns of a moving triangle to all columns of a sweep, or to the first three: times and state. The
 * loop is not unrolled: a step of both parts is larger than the instruction cache. */
FN void second_sweep(in_columns in, out_columns out, size_t i, int wants_points)
{
    for (int part = 0; part < PARTS; part++) {
        plucker_work work;
        const size_t at = i + (size_t)(part * WIDE);
        plucker_begin(in, at, wants_points, &work);
        if (wide_any(work.refines))
            plucker_refine_times(wants_points, &work);
        if (wide_any(work.grazes))
            plucker_graze_times(wants_points, &work);
        plucker_store(&work.answer, out, at, wants_points);
    }
}
#endif
