/* SPDX-License-Identifier: MIT */
/* Levels by local density. The first levels follow from the sizes of spheres alone (levels.c), so a cell in a heap of
 * small spheres holds many that do not touch. Such a crowded cell is subdivided like an octree, until its cells hold
 * few spheres or are as narrow as a sphere allows. The width of a sphere's last cell then decides its new level.
 * Answers do not depend on levels, only speed does. */
#include "crowded.h"

#include <math.h>
#include <string.h>

enum {
    CROWD = 32, /* spheres of a cell; a cell with more is crowded and may be subdivided */
    GAIN = 150, /* tests per sphere of the cloud that must be saved: they take as long as the subdivision itself */
    LEAF = 8,   /* spheres of a leaf; a cell with more is subdivided further */
    CLASS_ZERO = 150, /* number of the class of width 2^0 */
    CLASSES = CLASS_ZERO + 132,
    NO_CLASS = 0,
    SIDE_MOST =
        (1 << 4) + 1 /* cells along an axis, one more than the power of two as the grid begins at the first sphere */
};

/* The spheres whose leaf cells have one width, a power of two. */
typedef struct width_class {
    uint64_t count, forced; /* count: spheres; forced: the ones among them that fit into no narrower cell */
    float reach, low[3], high[3];
    uint32_t into; /* the class that this one is merged into; 0: not merged */
    int stays;     /* its spheres keep their old level */
} width_class;

typedef struct range {
    uint32_t begin, end;
} range;

typedef struct crowded {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells;
    uint16_t *class_of;     /* [slots] narrowest class that the sphere fits into, later the class of its leaf; NO_CLASS:
                               keeps its level */
    uint32_t *slot, *other; /* [slots] slots of the spheres of the cells in work; scratch of the counting sort */
    uint16_t *bucket;       /* [slots] number of the subcell of each */
    range *todo;            /* stack of cells to subdivide, as ranges of `slot` */
    uint32_t todo_count;
    width_class classes[CLASSES];
} crowded;

/* ---- widths ------------------------------------------------------------------------------------------------------ */

/* The narrowest class whose width is at least `width`. */
static int class_above(double width)
{
    enum { BIAS = 1023, MANTISSA = 52 };
    const double cut = width > 0x1p-140 ? width < 0x1p130 ? width : 0x1p130 : 0x1p-140;
    uint64_t bits;
    memcpy(&bits, &cut, sizeof bits);
    return CLASS_ZERO - BIAS + (int)((bits + ((UINT64_C(1) << MANTISSA) - 1)) >> MANTISSA);
}

static double width_of(int class)
{
    return ldexp(1, class - CLASS_ZERO);
}

/* ---- cutting ----------------------------------------------------------------------------------------------------- */

static const float *coordinates(const crowded *c, int axis)
{
    return c->cells->column[CLOUD_POSITION_X + axis];
}

static void finish(crowded *c, uint32_t slot, int class)
{
    const int own = c->class_of[slot], last = own > class ? own : class;
    width_class *in = &c->classes[last];
    const float reach = c->cells->view.reach[slot];
    c->class_of[slot] = (uint16_t)last;
    in->count++;
    in->forced += own >= class;
    in->reach = reach > in->reach ? reach : in->reach;
    for (int k = 0; k < 3; k++) {
        const float x = coordinates(c, k)[slot];
        in->low[k] = x < in->low[k] ? x : in->low[k];
        in->high[k] = x > in->high[k] ? x : in->high[k];
    }
}

typedef struct cube {
    double low[3], span, far; /* span: the longest side; far: the largest coordinate by magnitude */
} cube;

static cube cube_of(const crowded *c, range r)
{
    cube of = {.span = 0};
    for (int k = 0; k < 3; k++) {
        const float *const x = coordinates(c, k);
        float low = x[c->slot[r.begin]], high = low;
        for (uint32_t i = r.begin + 1; i < r.end; i++) {
            const float at = x[c->slot[i]];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        of.low[k] = (double)low;
        of.span = fmax(of.span, (double)high - (double)low);
        of.far = fmax(of.far, fmax(fabs((double)low), fabs((double)high)));
    }
    return of;
}

/* Counting sort of a range by subcell. A sphere that fits into no cell of this width gets its final class instead and
 * drops out. Returns the end of the sorted spheres. */
static uint32_t sort_by_cell(crowded *c, range r, const cube *of, int class, uint32_t side, uint32_t *starts)
{
    const double per = 1 / width_of(class);
    uint32_t count = 0;
    memset(starts, 0, ((size_t)side * side * side + 1) * sizeof *starts);
    for (uint32_t i = r.begin; i < r.end; i++) {
        const uint32_t slot = c->slot[i];
        if (c->class_of[slot] > class) {
            finish(c, slot, class);
            continue;
        }
        uint32_t cell = 0;
        for (int k = 0; k < 3; k++)
            cell = cell * side + (uint32_t)(((double)coordinates(c, k)[slot] - of->low[k]) * per);
        c->bucket[count] = (uint16_t)cell;
        c->other[count++] = slot;
        starts[cell + 1]++;
    }
    for (uint32_t cell = 0; cell < side * side * side; cell++)
        starts[cell + 1] += starts[cell];
    for (uint32_t i = 0; i < count; i++)
        c->slot[r.begin + starts[c->bucket[i]]++] = c->other[i];
    return r.begin + count;
}

/* Subdivides a cell once. The spheres of small subcells get their final class, large subcells go to the stack. */
static void cut(crowded *c, range r)
{
    const uint32_t count = r.end - r.begin;
    const cube of = cube_of(c, r);
    const int bits = count > 2048 ? 4 : count > 256 ? 3 : count > 32 ? 2 : 1, whole = class_above(of.span);
    const int least = class_above(of.far * 0x1p-26);
    const int class = whole - bits > least ? whole - bits : least;
    if (class >= whole) { /* binary32 coordinates have no finer resolution: a leaf */
        for (uint32_t i = r.begin; i < r.end; i++)
            finish(c, c->slot[i], class);
        return;
    }
    uint32_t starts[SIDE_MOST * SIDE_MOST * SIDE_MOST + 1];
    const uint32_t side = (1u << (whole - class)) + 1, end = sort_by_cell(c, r, &of, class, side, starts);
    uint32_t begin = r.begin;
    for (uint32_t cell = 0; begin < end; cell++) { /* the scatter moved starts[cell] to the cell's end */
        const range part = {begin, r.begin + starts[cell]};
        begin = part.end;
        if (part.end - part.begin > LEAF)
            c->todo[c->todo_count++] = part;
        else
            for (uint32_t i = part.begin; i < part.end; i++)
                finish(c, c->slot[i], class);
    }
}

/* ---- crowded cells ----------------------------------------------------------------------------------------------- */

/* The least cell width for a sphere if that is at most half of its cell's; else 0. */
static double narrower(const crowded *c, uint32_t slot, double width)
{
    const double own = caromi_cloud_width_for(c->cloud, (double)c->cells->view.reach[slot]);
    const int is_wide = c->cloud->finds_best && !c->cloud->is_moving;
    return own * (is_wide ? 2 * CAROMI_CLOUD_SEARCH : 2) <= width ? fmax(own, 0x1p-140) : 0;
}

static uint32_t count_narrower(const crowded *c, uint32_t begin, uint32_t end, double width)
{
    uint32_t count = 0;
    for (uint32_t p = begin; p < end; p++)
        count += narrower(c, p, width) > 0;
    return count;
}

/* Subdivides a crowded cell down to its leaves. */
static void cut_cell(crowded *c, uint32_t begin, uint32_t end, double width)
{
    uint32_t count = 0;
    for (uint32_t p = begin; p < end; p++) {
        const double own = narrower(c, p, width);
        c->class_of[p] = (uint16_t)(own > 0 ? class_above(own) : NO_CLASS);
        c->slot[count] = p;
        count += own > 0;
    }
    if (count > 0)
        c->todo[c->todo_count++] = (range){0, count};
    while (c->todo_count > 0)
        cut(c, c->todo[--c->todo_count]);
}

/* Half of the spheres in a cell and its two neighbours along the row: about the tests of one sphere there. */
static double neighbours(const uint32_t *starts, int32_t cell, int32_t count)
{
    const uint32_t begin = starts[cell > 0 ? cell - 1 : 0], end = starts[cell + 2 < count ? cell + 2 : count];
    return 0.5 * (end - begin);
}

/* Visits all crowded cells. Returns an estimate of the tests that narrower cells could save; with `is_cut`, subdivides
 * the cells instead. */
static double each_crowd(crowded *c, int is_cut)
{
    const caromi_cloud_view *v = &c->cells->view;
    double tests = 0;
    for (uint32_t r = 0; r < v->row_count; r++) {
        const caromi_cloud_row *row = &v->rows[r];
        const uint32_t *starts = v->starts + row->cells;
        const double width = ldexp(1 / v->levels[row->level].per[0], row->shift);
        for (int32_t i = 0; row->end - row->begin > CROWD && i < row->count; i++) {
            if (starts[i + 1] - starts[i] <= CROWD)
                continue;
            if (is_cut)
                cut_cell(c, starts[i], starts[i + 1], width);
            else
                tests += count_narrower(c, starts[i], starts[i + 1], width) * neighbours(starts, i, row->count);
        }
    }
    return tests;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

static int coarser_class(const crowded *c, int class)
{
    do
        class ++;
    while (class < CLASSES && c->classes[class].count == 0);
    return class;
}

/* Merges a class into another one. */
static void join_classes(crowded *c, int class, int to)
{
    width_class *from = &c->classes[class], *sum = &c->classes[to];
    for (int k = 0; k < 3; k++) {
        sum->low[k] = from->low[k] < sum->low[k] ? from->low[k] : sum->low[k];
        sum->high[k] = from->high[k] > sum->high[k] ? from->high[k] : sum->high[k];
    }
    sum->reach = from->reach > sum->reach ? from->reach : sum->reach;
    sum->count += from->count;
    from->count = 0;
    from->into = (uint32_t)to;
}

/* An upper estimate of the tests that merging a class into the next coarser one costs. */
static double joined_tests(const crowded *c, int class)
{
    const int to = coarser_class(c, class);
    if (c->classes[class].count == 0 || to == CLASSES)
        return (double)INFINITY;
    return (double)c->classes[class].count * (double)(c->classes[class].count + c->classes[to].count);
}

/* Whether the spheres of a class fit into cells of a finer one. */
static int fits(const crowded *c, int class, int finer)
{
    return class_above(caromi_cloud_width_for(c->cloud, (double)c->classes[class].reach)) <= finer;
}

static void join_if_fits(crowded *c, int class, int finer)
{
    width_class *to = &c->classes[finer];
    if (c->classes[class].count == 0 || !fits(c, class, finer))
        return;
    to->forced +=
        2 * to->forced > to->count ? c->classes[class].count : 0; /* keeps the level's cells as narrow as before */
    join_classes(c, class, finer);
}

/* Leaves of equal spheres have two or three widths by chance: such classes are merged into the narrowest. */
static void join_finer(crowded *c)
{
    for (int class = 0; class + 2 < CLASSES; class ++) {
        const uint64_t count = c->classes[class].count;
        if (count == 0)
            continue;
        join_if_fits(c, class + 1, class);
        if (4 * c->classes[class + 2].count < count)
            join_if_fits(c, class + 2, class);
    }
}

/* Merges classes with few spheres into coarser ones, until at most `most` levels are used. */
static void join_few(crowded *c, uint32_t most)
{
    const double one_cell = 4 * (double)c->cells->count;
    uint32_t used = 0;
    for (int class = 0; class < CLASSES; class ++) {
        width_class *own = &c->classes[class];
        if (joined_tests(c, class) <= one_cell)
            join_classes(c, class, coarser_class(c, class));
        own->stays =
            own->count > 0 && coarser_class(c, class) == CLASSES && (double)own->count * (double)own->count <= one_cell;
        own->count = own->stays ? 0 : own->count;
        used += own->count > 0;
    }
    for (; used > most; used--) {
        int best = 0;
        for (int class = 1; class < CLASSES; class ++)
            best = joined_tests(c, class) < joined_tests(c, best) ? class : best;
        join_classes(c, best, coarser_class(c, best));
    }
}

/* The level of a class. Its cells are as narrow as its largest sphere allows if most of its spheres fit into no
 * narrower class. Cells are never so narrow that their numbers overflow. */
static caromi_cloud_level level_of_class(const crowded *c, int class)
{
    const width_class *of = &c->classes[class];
    double width = caromi_cloud_width_for(c->cloud, (double)of->reach), low[3], high[3];
    if (2 * of->forced <= of->count)
        width = fmax(width, width_of(class));
    for (int k = 0; k < 3; k++) {
        low[k] = (double)of->low[k];
        high[k] = (double)of->high[k];
        width = fmax(width, fmax((high[k] - low[k]) * 0x1p-26, 0x1p-140));
    }
    return caromi_cloud_level_of((double)of->reach, width, low, high);
}

typedef struct numbered {
    caromi_cloud_level level;
    uint32_t was; /* number of an old level, or the number of old levels plus a class */
} numbered;

/* Insertion sort, coarse levels first. */
static void insert(numbered *sorted, uint32_t count, const caromi_cloud_level *level, uint32_t was)
{
    uint32_t at = count;
    for (; at > 0 && sorted[at - 1].level.per[0] > level->per[0]; at--)
        sorted[at] = sorted[at - 1];
    sorted[at].level = *level;
    sorted[at].was = was;
}

/* The class that a class is merged into in the end; NO_CLASS: its spheres keep their old levels. */
static int last_class(const crowded *c, int class)
{
    while (c->classes[class].into != 0)
        class = (int)c->classes[class].into;
    return c->classes[class].stays ? NO_CLASS : class;
}

/* Numbers the levels that hold spheres, and writes the level of each sphere by index. Returns the number of levels. */
static uint32_t number_levels(crowded *c, caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t *level_of)
{
    const caromi_cloud_cells *cells = c->cells;
    const uint32_t before = cells->view.level_count;
    numbered sorted[CAROMI_CLOUD_LEVELS];
    uint8_t to[CAROMI_CLOUD_LEVELS + CLASSES];
    int16_t last[CLASSES];
    uint32_t count = 0;
    join_finer(c);
    join_few(c, CAROMI_CLOUD_LEVELS - before);
    for (uint32_t l = 0; l < before; l++)
        insert(sorted, count++, &cells->levels[l], l);
    for (int class = 0; class < CLASSES; class ++) {
        last[class] = (int16_t)last_class(c, class);
        if (c->classes[class].count > 0) {
            const caromi_cloud_level level = level_of_class(c, class);
            insert(sorted, count++, &level, before + (uint32_t) class);
        }
    }
    for (uint32_t l = 0; l < count; l++) {
        levels[l] = sorted[l].level;
        to[sorted[l].was] = (uint8_t)l;
    }
    for (uint32_t r = 0; r < cells->view.row_count; r++)
        for (uint32_t p = cells->rows[r].begin; p < cells->rows[r].end; p++) {
            const int class = last[c->class_of[p]];
            level_of[cells->index[p]] = to[class == NO_CLASS ? cells->rows[r].level : before + (uint32_t) class];
        }
    return count;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void clear_classes(crowded *c)
{
    for (int class = 0; class < CLASSES; class ++)
        for (int k = 0; k < 3; k++) {
            c->classes[class].low[k] = INFINITY;
            c->classes[class].high[k] = -INFINITY;
        }
}

int caromi_cloud_is_crowded(const caromi_cloud_cells *cells)
{
    return 4 * (double)cells->doubled > GAIN * (double)cells->count;
}

uint32_t caromi_cloud_relevel(const caromi_cloud *cloud, const caromi_cloud_cells *cells,
                              caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t *level_of)
{
    const carom_context *context = cloud->context;
    crowded *c = caromi_alloc(context, 1, sizeof *c);
    uint32_t count = 0;
    if (c == NULL)
        return 0;
    memset(c, 0, sizeof *c);
    c->cloud = cloud;
    c->cells = cells;
    c->class_of = caromi_cached_alloc(context, cells->count, sizeof *c->class_of);
    c->slot = caromi_cached_alloc(context, cells->count, sizeof *c->slot);
    c->other = caromi_cached_alloc(context, cells->count, sizeof *c->other);
    c->bucket = caromi_cached_alloc(context, cells->count, sizeof *c->bucket);
    c->todo = caromi_cached_alloc(context, cells->count / LEAF + 1, sizeof *c->todo);
    if (c->class_of && c->slot && c->other && c->bucket && c->todo && each_crowd(c, 0) > GAIN * (double)cells->count) {
        memset(c->class_of, 0, cells->count * sizeof *c->class_of);
        clear_classes(c);
        (void)each_crowd(c, 1);
        count = number_levels(c, levels, level_of);
    }
    caromi_cached_free(context, c->class_of);
    caromi_cached_free(context, c->slot);
    caromi_cached_free(context, c->other);
    caromi_cached_free(context, c->bucket);
    caromi_cached_free(context, c->todo);
    caromi_free(context, c);
    return count;
}
