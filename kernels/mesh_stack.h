/* SPDX-License-Identifier: MIT */
/* Keys, by which hits and boxes are ordered, and the stack of a traversal: what it has still to visit. */
#ifndef CAROM_MESH_STACK_H
#define CAROM_MESH_STACK_H
#include "mesh_nodes.h"
#include "vec.h"

#define MESH_NO_TRIANGLE 0x7fffffff /* above every index */

/* Key by which hits are compared: time, then triangle index. A search begins with the end of its time window and no
 * triangle. */
typedef struct mesh_hit_key {
    real t;
    int triangle;
} mesh_hit_key;

/* Makes a key. */
FN mesh_hit_key mesh_hit_key_of(real t, int triangle)
{
    mesh_hit_key key;
    key.t = t;
    key.triangle = triangle;
    return key;
}

/* Whether (from, least) is not after `best`, by time and then by index. `from` is not negative. A higher index must be
 * strictly earlier: at most the number below the time, and below +0 is NaN, which nothing is at most. */
FN vm mesh_not_after(vf from, vi least, mesh_hit_key best)
{
    return v_le(from, v_below_where(vi_gt(least, v_i(best.triangle)), v_f(best.t)));
}

/* Integers in the order of time and then index. Times are not negative, so their bits have the same order as the
 * times. */
FN u64 mesh_key_bits_of(real t, int triangle)
{
    return (u64)real_bits(t) << 32 | (u32)triangle;
}

FN u64 mesh_key_bits(mesh_hit_key a)
{
    return mesh_key_bits_of(a.t, a.triangle);
}

FN int mesh_is_after(mesh_hit_key a, mesh_hit_key key)
{
    return mesh_key_bits(a) > mesh_key_bits(key);
}

/* Children to visit, the next one on top, each with a lower bound of the keys of its hits. */
#ifdef MESH_ITEMS
/* The lowest entries are in local memory. Hardly a query has more; those are in global memory. */
typedef struct mesh_stack {
    __local u64 *from;
    __local int *child;
    G mesh_far_entry *far;
    int top;
} mesh_stack;

FN void mesh_stack_begin(mesh_stack *stack, int root)
{
    (void)root;
    stack->top = 0;
}

FN u64 mesh_stack_from(const mesh_stack *stack, int at)
{
    if (at < MESH_NEAR)
        return stack->from[at];
    G const mesh_far_entry *far = stack->far + (at - MESH_NEAR);
    return (u64)far->from[1] << 32 | far->from[0];
}

FN int mesh_stack_child(const mesh_stack *stack, int at)
{
    return at < MESH_NEAR ? stack->child[at] : stack->far[at - MESH_NEAR].child;
}

/* Sets an element of the stack. */
FN void mesh_stack_set(mesh_stack *stack, int at, u64 from, int child)
{
    if (at < MESH_NEAR) {
        stack->from[at] = from;
        stack->child[at] = child;
    } else {
        G mesh_far_entry *far = stack->far + (at - MESH_NEAR);
        far->from[0] = (u32)from;
        far->from[1] = (u32)(from >> 32);
        far->child = child;
    }
}
#else
typedef struct mesh_stack_entries {
    u64 from[MESH_STACK];
#ifdef LANG_HAS_COMPRESS
    int child[MESH_STACK + LANES];         /* v_compress stores LANES at the top */
#else
    int child[MESH_STACK];
#endif
#ifdef MESH_SCENE
    G const mesh_instance *at[MESH_STACK]; /* whose child it is */
#endif
} mesh_stack_entries;
typedef struct mesh_stack {
#ifdef LANG_LOCKSTEP /* outside the structure: a GPU's compiler keeps a structure in registers only if no member is \
                        indexed */
    mesh_stack_entries *entries;
#else
    mesh_stack_entries entries[1];
#endif
#ifdef MESH_SCENE
    G const mesh_instance *at; /* where the traversal is */
#endif
    int top;
} mesh_stack;

/* Declares the entries of a traversal's stack where they are outside the structure. */
#ifdef LANG_LOCKSTEP
#define MESH_STACK_ENTRIES(trav)    \
    mesh_stack_entries its_entries; \
    (trav).stack.entries = &its_entries
#else
#define MESH_STACK_ENTRIES(trav) (void)0
#endif

/* Slot 0 always holds a child, so mesh_stack_top() is safe on an empty stack. */
FN void mesh_stack_begin(mesh_stack *stack, int root)
{
    stack->entries->child[0] = root;
    stack->top = 0;
#ifdef MESH_SCENE
    stack->entries->at[0] = stack->at;
    if (stack->at->moving_root != 0) { /* after `root`, whose time is no earlier */
        stack->entries->from[0] = 0;
        stack->entries->child[0] = stack->at->moving_root;
        stack->top = 1;
    }
#endif
}

/* Sets an element of the stack. */
FN void mesh_stack_set(mesh_stack *stack, int at, u64 from, int child)
{
    stack->entries->from[at] = from;
    stack->entries->child[at] = child;
#ifdef MESH_SCENE
    stack->entries->at[at] = stack->at;
#endif
}

FN u64 mesh_stack_from(const mesh_stack *stack, int at)
{
    return stack->entries->from[at];
}

FN int mesh_stack_child(const mesh_stack *stack, int at)
{
    return stack->entries->child[at];
}

/* Inserts a child into the sorted part of the stack above `bottom`. */
FN void mesh_stack_insert(mesh_stack *stack, int bottom, u64 from, int child)
{
    const mesh_stack_entries *e = stack->entries;
    int at = stack->top++;
    for (; at > bottom && from > e->from[at - 1]; at--)
        mesh_stack_set(stack, at, e->from[at - 1], e->child[at - 1]);
    mesh_stack_set(stack, at, from, child);
}
#endif

#ifdef MESH_SCENE
/* Goes into an instance: `child` is a reference to one. */
FN void mesh_stack_enter_instance(mesh_stack *stack, int *child)
{
    stack->at += *child - MESH_INSTANCE + 1;
    *child = stack->at->root;
}

/* Goes to the child that was popped. */
FN void mesh_stack_enter(mesh_stack *stack, int *child)
{
    stack->at = stack->entries->at[stack->top];
    if (*child >= MESH_INSTANCE)
        mesh_stack_enter_instance(stack, child);
}

/* The entered children of a node, a bit for each, but instances whose mask the query does not pass. */
FN u32 mesh_stack_unmasked(const mesh_stack *stack, G const mesh_node *node, u32 entered, int mask, int options)
{
    if ((options & MESH_TRIANGLE_MASKS) == 0 || stack->at->kind != INSTANCE_OF_ALL)
        return entered;
    for (u32 left = entered; left != 0; left &= left - 1) {
        const int child = node->child[bitmask_first(left)];
        if (child >= MESH_INSTANCE && (stack->at[1 + child - MESH_INSTANCE].mask & mask) == 0)
            entered &= ~(left & (0 - left));
    }
    return entered;
}
#else
#define mesh_stack_enter(stack, child) (void)0
#endif

/* Pops a child; 0 if none is left. */
FN int mesh_stack_pop_any(mesh_stack *stack, int *child)
{
    if (stack->top == 0)
        return 0;
    *child = mesh_stack_child(stack, --stack->top);
    mesh_stack_enter(stack, child);
    return 1;
}

/* Pops children until one can still improve on `best`; 0 if none is left. */
FN int mesh_stack_pop(mesh_stack *stack, mesh_hit_key best, int *child)
{
    const u64 last = mesh_key_bits(best);
    while (stack->top > 0)
        if (mesh_stack_from(stack, --stack->top) <= last) {
            *child = mesh_stack_child(stack, stack->top);
            mesh_stack_enter(stack, child);
            return 1;
        }
    return 0;
}
#endif
