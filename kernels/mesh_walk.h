/* SPDX-License-Identifier: MIT */
/* The way of a query through the hierarchy of a mesh, LANES boxes or triangles side by side: what every search does, whatever
 * a triangle answers and whatever becomes of the answer.
 *
 * The answer does not depend on the tree and the order of visits, because a triangle's answer includes its own box test: it
 * is hit only if that test passes, at max(solver time, box entry). The box arithmetic is monotone under inclusion (subtract,
 * multiply by a constant of the query, min, max), so a node never enters later than what it holds. Nor are there lower
 * indices in it than its lowest. So skipping what comes after the best hit by (entry, lowest index) skips no better one. */
#ifndef CAROM_MESH_WALK_H
#define CAROM_MESH_WALK_H
#include "mesh_course.h"

/* Queries that are on their way at once; no more than a v_table_lookup has to choose from. */
#ifdef LANG_HAS_COMPRESS
#define MESH_WALKS 16
#elif defined(LANG_HAS_PREFETCH)
#define MESH_WALKS 8
#else
#define MESH_WALKS 1
#endif

#define MESH_NO_TRIANGLE 0x7fffffff /* above every index */

/* The end of the window, and then the best hit so far. */
typedef struct mesh_bound {
    real t, before; /* the number before t; before 0 none */
    int triangle;
} mesh_bound;

FN mesh_bound mesh_bound_of(real t, int triangle)
{
    mesh_bound b;
    b.t = t;
    b.before = real_of_bits(real_bits(t) - 1); /* below +0 a NaN: nothing is in time */
    b.triangle = triangle;
    return b;
}

/* What comes at `from`, from +0 on, with indices from `least` on, is not after the bound: by time, and at the same time by index. */
FN vm mesh_in_time(vf from, vi least, mesh_bound until)
{
    return v_le(from, v_sel(vi_gt(least, v_i(until.triangle)), v_f(until.before), v_f(until.t)));
}

/* Boxes of triangles from `least` on that are entered in time for something better: not behind the start, and their entry
 * not after the bound, by time and then by index. */
FN vm mesh_is_open(mesh_passage p, vi least, mesh_bound until)
{
    return v_and(p.exists, mesh_in_time(v_max(p.enter, v_f(R(0.0))), least, until));
}

FN v3 mesh_min3(v3 a, v3 b, v3 c)
{
    return v3_of(v_min(v_min(a.x, b.x), c.x), v_min(v_min(a.y, b.y), c.y), v_min(v_min(a.z, b.z), c.z));
}
FN v3 mesh_max3(v3 a, v3 b, v3 c)
{
    return v3_of(v_max(v_max(a.x, b.x), c.x), v_max(v_max(a.y, b.y), c.y), v_max(v_max(a.z, b.z), c.z));
}

/* One corner of LANES queries' triangles out of `triangles`; a query without one, or with one that cannot be, for a search that was
 * ended too early has not told any, takes triangle 0. */
FN v3 mesh_gather_corner(G const real *vertices, G const u32 *indices, u32 triangles, G const int *triangle, int corner)
{
    real x[LANES], y[LANES], z[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const u32 index = (u32)triangle[lane] < triangles ? (u32)triangle[lane] : 0;
        G const real *p = vertices + 3 * (size_t)indices[3 * (size_t)index + (size_t)corner];
        x[lane] = p[0];
        y[lane] = p[1];
        z[lane] = p[2];
    }
    return v3_of(v_load(x), v_load(y), v_load(z));
}

FN vi mesh_load_int(G const int *from)
{
    return v_bits(v_load((G const real *)from));
}

/* Numbers in the order of time and then index; for times from +0 on their bits are. */
FN u64 mesh_key_of(real t, int triangle)
{
    return (u64)real_bits(t) << 32 | (u32)triangle;
}

FN u64 mesh_key(mesh_bound a)
{
    return mesh_key_of(a.t, a.triangle);
}

FN int mesh_is_after(mesh_bound a, mesh_bound b)
{
    return mesh_key(a) > mesh_key(b);
}

/* Children that wait, the next one on top, and the key of what each holds at the earliest. */
typedef struct mesh_stack {
    u64 from[MESH_STACK];
    int child[MESH_STACK];
    int top;
} mesh_stack;

/* Its lowest place is never without a child: mesh_top. */
FN void mesh_stack_begin(mesh_stack *s, int root)
{
    s->child[0] = root;
    s->top = 0;
}

FN void mesh_put(mesh_stack *s, int at, u64 from, int child)
{
    s->from[at] = from;
    s->child[at] = child;
}

/* One more, at its place in the order of those from `bottom` on. */
FN void mesh_insert(mesh_stack *s, int bottom, u64 from, int child)
{
    int at = s->top++;
    for (; at > bottom && from > s->from[at - 1]; at--)
        mesh_put(s, at, s->from[at - 1], s->child[at - 1]);
    mesh_put(s, at, from, child);
}

/* The next one that is not after `until`; 0 if there is none. */
FN int mesh_take(mesh_stack *s, mesh_bound until, int *child)
{
    const u64 last = mesh_key(until);
    while (s->top > 0)
        if (s->from[--s->top] <= last) {
            *child = s->child[s->top];
            return 1;
        }
    return 0;
}

/* Where a search for all hits puts them. */
typedef struct mesh_sink {
    G mesh_record *records;
    u32 room, count; /* records that fit; hits found, also beyond */
    int one_is_enough;
    int first; /* query, from which the others are counted */
} mesh_sink;

/* One query on its way through the hierarchy. */
typedef struct mesh_walk {
    real course[MESH_COURSE];
    mesh_query query;
    int state; /* of the hit found, or that there is none */
    mesh_bound until;
    real doubt;         /* exact mode: the earliest that a triangle left open might come */
    G const int *masks; /* of the leaves' triangles, if the options say that there are any */
    mesh_sink *sink;    /* of a search for all hits: one for several walks, or the walk's own */
    mesh_sink own;
    u32 hits;   /* of the query, where they are put in a sink */
    int number; /* of the query, for its records */
    int next;   /* what is visited next: a node, or below 0 a leaf */
    mesh_stack stack;
} mesh_walk;

/* Take what is next from the stack; 0 if nothing there can be better. */
FN int mesh_advance(mesh_walk *w)
{
    return mesh_take(&w->stack, w->until, &w->next);
}

/* The children of a node that are entered in time, a bit for each, and when. */
typedef struct mesh_seen {
    LANG_ALIGNED real enters[MESH_WIDTH];
    u32 open;
} mesh_seen;

FN void mesh_see(const mesh_walk *w, G const mesh_node *node, mesh_seen *seen)
{
    u32 open = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const mesh_passage p = mesh_pass(mesh_course_at(w->course).slabs, lo, hi);
        const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0)); /* the root is nobody's child */
        const vm in_time = mesh_is_open(p, mesh_load_int(node->least + lane), w->until);
        v_store(seen->enters + lane, v_max(p.enter, v_f(R(0.0))));
        open |= v_bitmask(v_and(in_time, v_not(empty))) << lane;
    }
    seen->open = open;
}

/* The children of a node that are open, in order onto the stack, the first on top. */
#if LANES >= 8
/* Each goes where the number of those that come after it says. To move them one by one to their places is as much work, but
 * no processor foresees when that loop ends. */
FN void mesh_push(mesh_walk *w, G const mesh_node *node, const mesh_seen *seen)
{
    const real *enters = seen->enters;
    const u32 open = seen->open;
    for (u32 left = open; left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        const vf own = v_f(enters[i]);
        const vi least = v_i(node->least[i]);
        u32 after = 0;
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
            const vf enter = v_load(enters + lane);
            const vm index = vi_gt(mesh_load_int(node->least + lane), least);
            after |= v_bitmask(v_or(v_lt(own, enter), v_and(v_eq(own, enter), index))) << lane;
        }
        mesh_put(&w->stack, w->stack.top + bitmask_count(after & open), mesh_key_of(enters[i], node->least[i]),
                 node->child[i]);
    }
    w->stack.top += bitmask_count(open);
}
#else
FN void mesh_push(mesh_walk *w, G const mesh_node *node, const mesh_seen *seen)
{
    const int bottom = w->stack.top;
    for (u32 open = seen->open; open != 0; open &= open - 1) {
        const int i = bitmask_first(open);
        mesh_insert(&w->stack, bottom, mesh_key_of(seen->enters[i], node->least[i]), node->child[i]);
    }
}
#endif

/* Go on with the first by time and index of the children seen; the others wait on the stack. */
FN int mesh_choose(mesh_walk *w, G const mesh_node *node, const mesh_seen *seen, int options)
{
    (void)options;
    if (seen->open == 0)
        return mesh_advance(w);
    if ((seen->open & (seen->open - 1)) == 0) { /* a single one, as most often, is not put on the stack */
        w->next = node->child[bitmask_first(seen->open)];
        return 1;
    }
    mesh_push(w, node, seen);
    w->next = w->stack.child[--w->stack.top]; /* in time, as it was a moment ago */
    return 1;
}

/* Both at once. */
FN int mesh_descend(mesh_walk *w, G const mesh_node *node, int options)
{
    mesh_seen seen;
    mesh_see(w, node, &seen);
    return mesh_choose(w, node, &seen, options);
}

/* A query whose course is in one lane of `rows`. 0 if it is answered already. */
FN int mesh_begin(mesh_walk *w, mesh_frame frame, mesh_query q, const real *rows, int lane)
{
    for (int k = 0; k < MESH_COURSE; k++)
        w->course[k] = rows[LANES * k + lane];
    const int valid = w->course[MESH_COURSE_LIMIT] >= R(0.0);
    w->query = q;
    w->state = valid ? STATE_MISS : STATE_INVALID;
    w->doubt = R(1.0) / R(0.0);
    w->hits = 0;
    w->until = mesh_bound_of(w->course[MESH_COURSE_LIMIT], MESH_NO_TRIANGLE);
    w->next = frame.root;
    mesh_stack_begin(&w->stack, frame.root);
    return valid && (q.options == 0 || q.mask != 0);
}

/* The same for one query alone. */
FN int mesh_begin_alone(mesh_walk *w, mesh_frame frame, mesh_query q)
{
    real rows[LANES * MESH_COURSE];
    mesh_chart(rows, v3_of(v_f(q.cx), v_f(q.cy), v_f(q.cz)), v_f(q.radius), v3_of(v_f(q.vx), v_f(q.vy), v_f(q.vz)),
               v_f(q.t_max), frame);
    return mesh_begin(w, frame, q, rows, 0);
}

/* LANES triangles of a leaf. */
typedef struct mesh_corners {
    v3 p0, p1, p2;
} mesh_corners;

FN v3 mesh_loose_corner(G const real *rows)
{
    return v3_of(v_load(rows), v_load(rows + MESH_WIDTH), v_load(rows + 2 * MESH_WIDTH));
}

FN v3 mesh_shared_corner(G const mesh_leaf *leaf, G const u8 *corner)
{
    return v3_of(v_table_lookup(leaf->vertex[0], corner), v_table_lookup(leaf->vertex[1], corner),
                 v_table_lookup(leaf->vertex[2], corner));
}

FN mesh_corners mesh_corners_of(G const mesh_leaf *leaf, int reference, int lane)
{
    mesh_corners c;
    if (MESH_IS_LOOSE(reference)) {
        G const real *rows = (G const real *)leaf + MESH_WIDTH + lane; /* behind the triangles */
        c.p0 = mesh_loose_corner(rows);
        c.p1 = mesh_loose_corner(rows + 3 * MESH_WIDTH);
        c.p2 = mesh_loose_corner(rows + 6 * MESH_WIDTH);
    } else {
        c.p0 = mesh_shared_corner(leaf, leaf->corner[0] + lane);
        c.p1 = mesh_shared_corner(leaf, leaf->corner[1] + lane);
        c.p2 = mesh_shared_corner(leaf, leaf->corner[2] + lane);
    }
    return c;
}

/* The triangles of LANES slots of a leaf that are there, and that a query's mask lets through. */
FN vm mesh_counts(vi triangle, G const int *masks, int reference, int lane, int mask, int options)
{
    const vm is = vi_gt(triangle, v_i(-1));
    if ((options & MESH_TRIANGLE_MASKS) == 0)
        return is;
    const vi own = mesh_load_int(masks + MESH_WIDTH * (size_t)MESH_LEAF_AT(reference) + lane);
    return v_and(is, v_not(vi_eq(own & v_i(mask), v_i(0))));
}

/* LANES triangles of a leaf, and which of them count for a query and are entered in time. */
typedef struct mesh_group {
    mesh_corners p;
    vf enter;
    vi triangle;
    vm open;
    G const mesh_leaf *leaf;
    int reference; /* to it */
} mesh_group;

FN mesh_group mesh_group_of(G const mesh_leaf *leaf, int reference, int lane, const mesh_walk *w, real scale,
                            int options)
{
    mesh_group g;
    g.p = mesh_corners_of(leaf, reference, lane);
    const mesh_passage p =
        mesh_pass(mesh_course_at(w->course).slabs, v3_mul(mesh_min3(g.p.p0, g.p.p1, g.p.p2), v_f(scale)),
                  v3_mul(mesh_max3(g.p.p0, g.p.p1, g.p.p2), v_f(scale)));
    g.enter = p.enter;
    g.triangle = mesh_load_int(leaf->triangle + lane);
    g.open = v_and(mesh_is_open(p, g.triangle, w->until),
                   mesh_counts(g.triangle, w->masks, reference, lane, w->query.mask, options));
    g.leaf = leaf;
    g.reference = reference;
    return g;
}
#endif
