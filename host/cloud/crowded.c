/* SPDX-License-Identifier: MIT */
/* Levels by place. The first levels follow from the sizes of spheres alone (levels.c). Where small spheres lie
 * together, their cells then hold many that do not touch. Such a crowded cell is cut as an octree is, down to cells
 * that hold few spheres, or that are as narrow as a sphere allows. The width of its last cell is the sphere's new
 * level. Nothing here changes an answer. */
#include "crowded.h"

#include <math.h>
#include <string.h>

enum {
    CROWD = 32,       /* spheres; cells with more are cut, */
    GAIN = 150,       /* if so many tests of each sphere of the cloud can be saved: they take as long as the cutting */
    LEAF = 8,         /* spheres; cells with more are cut further */
    CLASS_ZERO = 150, /* class of the width 2^0 */
    CLASSES = CLASS_ZERO + 132,
    NO_CLASS = 0,
    SIDE_MOST = (1 << 4) + 1 /* cells along an axis, one more as they begin at the first sphere */
};

/* Spheres whose last cell has one width. */
typedef struct width_class {
    uint64_t count, forced; /* forced: by their own size */
    float reach, low[3], high[3];
    uint32_t into; /* class that they are counted to in the end; */
    int stays;     /* or they stay where they were */
} width_class;

typedef struct range {
    uint32_t begin, end;
} range;

typedef struct crowded {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells;
    uint16_t *class_of;      /* [places] of its own size, then that it is settled in; NO_CLASS: stays where it was */
    uint32_t *place, *other; /* [places] those that are cut, and room to sort them */
    uint16_t *bucket;        /* [places] cell of each */
    range *todo;
    uint32_t todo_count;
    width_class classes[CLASSES];
} crowded;

/* ---- widths ------------------------------------------------------------------------------------------------------ */

/* The narrowest class that is not below a width. */
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
    return c->cells->column[CLOUD_PLACE_X + axis];
}

static void settle(crowded *c, uint32_t place, int class)
{
    const int own = c->class_of[place], last = own > class ? own : class;
    width_class *in = &c->classes[last];
    const float reach = c->cells->view.reach[place];
    c->class_of[place] = (uint16_t)last;
    in->count++;
    in->forced += own >= class;
    in->reach = reach > in->reach ? reach : in->reach;
    for (int k = 0; k < 3; k++) {
        const float x = coordinates(c, k)[place];
        in->low[k] = x < in->low[k] ? x : in->low[k];
        in->high[k] = x > in->high[k] ? x : in->high[k];
    }
}

typedef struct cube {
    double low[3], span, far; /* from 0 */
} cube;

static cube cube_of(const crowded *c, range r)
{
    cube of = {.span = 0};
    for (int k = 0; k < 3; k++) {
        const float *const x = coordinates(c, k);
        float low = x[c->place[r.begin]], high = low;
        for (uint32_t i = r.begin + 1; i < r.end; i++) {
            const float at = x[c->place[i]];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        of.low[k] = (double)low;
        of.span = fmax(of.span, (double)high - (double)low);
        of.far = fmax(of.far, fmax(fabs((double)low), fabs((double)high)));
    }
    return of;
}

/* Spheres that need the width or less, by cell; the others are settled. Returns the end of the former. */
static uint32_t sort_by_cell(crowded *c, range r, const cube *of, int class, uint32_t side, uint32_t *starts)
{
    const double per = 1 / width_of(class);
    uint32_t count = 0;
    memset(starts, 0, ((size_t)side * side * side + 1) * sizeof *starts);
    for (uint32_t i = r.begin; i < r.end; i++) {
        const uint32_t place = c->place[i];
        if (c->class_of[place] > class) {
            settle(c, place, class);
            continue;
        }
        uint32_t cell = 0;
        for (int k = 0; k < 3; k++)
            cell = cell * side + (uint32_t)(((double)coordinates(c, k)[place] - of->low[k]) * per);
        c->bucket[count] = (uint16_t)cell;
        c->other[count++] = place;
        starts[cell + 1]++;
    }
    for (uint32_t cell = 0; cell < side * side * side; cell++)
        starts[cell + 1] += starts[cell];
    for (uint32_t i = 0; i < count; i++)
        c->place[r.begin + starts[c->bucket[i]]++] = c->other[i];
    return r.begin + count;
}

/* Cuts a cell: spheres of a part that is not crowded are settled there. */
static void cut(crowded *c, range r)
{
    const uint32_t count = r.end - r.begin;
    const cube of = cube_of(c, r);
    const int bits = count > 2048 ? 4 : count > 256 ? 3 : count > 32 ? 2 : 1, whole = class_above(of.span);
    const int least = class_above(of.far * 0x1p-26);
    const int class = whole - bits > least ? whole - bits : least;
    if (class >= whole) { /* further cells would have no more numbers of binary32 in them */
        for (uint32_t i = r.begin; i < r.end; i++)
            settle(c, c->place[i], class);
        return;
    }
    uint32_t starts[SIDE_MOST * SIDE_MOST * SIDE_MOST + 1];
    const uint32_t side = (1u << (whole - class)) + 1, end = sort_by_cell(c, r, &of, class, side, starts);
    uint32_t begin = r.begin;
    for (uint32_t cell = 0; begin < end; cell++) { /* a cell's start has become its end */
        const range part = {begin, r.begin + starts[cell]};
        begin = part.end;
        if (part.end - part.begin > LEAF)
            c->todo[c->todo_count++] = part;
        else
            for (uint32_t i = part.begin; i < part.end; i++)
                settle(c, c->place[i], class);
    }
}

/* ---- crowded cells ----------------------------------------------------------------------------------------------- */

/* The width that a sphere needs, if it would fit into a cell half as wide as its own; else 0. */
static double narrower(const crowded *c, uint32_t place, double width)
{
    const double own = caromi_cloud_width_for(c->cloud, (double)c->cells->view.reach[place]);
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

/* Cuts a crowded cell. */
static void cut_cell(crowded *c, uint32_t begin, uint32_t end, double width)
{
    uint32_t count = 0;
    for (uint32_t p = begin; p < end; p++) {
        const double own = narrower(c, p, width);
        c->class_of[p] = (uint16_t)(own > 0 ? class_above(own) : NO_CLASS);
        c->place[count] = p;
        count += own > 0;
    }
    if (count > 0)
        c->todo[c->todo_count++] = (range){0, count};
    while (c->todo_count > 0)
        cut(c, c->todo[--c->todo_count]);
}

/* Half of the spheres of a cell and of those next to it in the row. */
static double neighbours(const uint32_t *starts, int32_t cell, int32_t count)
{
    const uint32_t begin = starts[cell > 0 ? cell - 1 : 0], end = starts[cell + 2 < count ? cell + 2 : count];
    return 0.5 * (end - begin);
}

/* Returns the tests that spheres make in their rows, about, which would fit into narrower cells; `is_cut`: cuts each
 * crowded cell instead. */
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

/* Counts a class to the next coarser one. */
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

/* Tests that joining a class with the next coarser one may cost. */
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
    to->forced += 2 * to->forced > to->count ? c->classes[class].count : 0; /* as narrow as before */
    join_classes(c, class, finer);
}

/* Spheres of one size settle by chance in cells of two widths or three: they share the narrowest. */
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

/* Classes of few spheres are not worth a level; `most` levels are left. */
static void join_few(crowded *c, uint32_t most)
{
    const double few = 4 * (double)c->cells->count;
    uint32_t used = 0;
    for (int class = 0; class < CLASSES; class ++) {
        width_class *own = &c->classes[class];
        if (joined_tests(c, class) <= few)
            join_classes(c, class, coarser_class(c, class));
        own->stays =
            own->count > 0 && coarser_class(c, class) == CLASSES && (double)own->count * (double)own->count <= few;
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

/* A level is as narrow as its largest sphere allows if most are forced to be there, and its cells have numbers. */
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
    uint32_t was; /* level before, or class behind all of these */
} numbered;

/* Coarse levels first. */
static void insert(numbered *sorted, uint32_t count, const caromi_cloud_level *level, uint32_t was)
{
    uint32_t at = count;
    for (; at > 0 && sorted[at - 1].level.per[0] > level->per[0]; at--)
        sorted[at] = sorted[at - 1];
    sorted[at].level = *level;
    sorted[at].was = was;
}

/* The class that a class is counted to in the end; NO_CLASS: its spheres stay where they were. */
static int last_class(const crowded *c, int class)
{
    while (c->classes[class].into != 0)
        class = (int)c->classes[class].into;
    return c->classes[class].stays ? NO_CLASS : class;
}

/* The levels that have spheres, and the level of each sphere by index. */
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
    c->class_of = caromi_kept_alloc(context, cells->count, sizeof *c->class_of);
    c->place = caromi_kept_alloc(context, cells->count, sizeof *c->place);
    c->other = caromi_kept_alloc(context, cells->count, sizeof *c->other);
    c->bucket = caromi_kept_alloc(context, cells->count, sizeof *c->bucket);
    c->todo = caromi_kept_alloc(context, cells->count / LEAF + 1, sizeof *c->todo);
    if (c->class_of && c->place && c->other && c->bucket && c->todo && each_crowd(c, 0) > GAIN * (double)cells->count) {
        memset(c->class_of, 0, cells->count * sizeof *c->class_of);
        clear_classes(c);
        (void)each_crowd(c, 1);
        count = number_levels(c, levels, level_of);
    }
    caromi_kept_free(context, c->class_of);
    caromi_kept_free(context, c->place);
    caromi_kept_free(context, c->other);
    caromi_kept_free(context, c->bucket);
    caromi_kept_free(context, c->todo);
    caromi_free(context, c);
    return count;
}
