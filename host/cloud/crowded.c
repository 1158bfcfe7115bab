/* SPDX-License-Identifier: MIT */
/* Levels by local density. The first levels follow from the sizes of spheres alone (levels.c), so a cell in a heap of
 * small spheres holds many that do not touch. Such a crowded cell is subdivided like an octree, until its cells hold
 * few spheres or are as narrow as a sphere allows. The width of a sphere's last cell then decides its new level.
 * Answers do not depend on levels, only speed does. */
#include "crowded.h"
#include "kernels/cloud_order.h"

#include <math.h>
#include <string.h>

enum {
    GAIN = 150, /* tests per sphere of the cloud that must be saved: they take as long as the subdivision itself */
    LEAF = 8,   /* spheres of a leaf; a cell with more is subdivided further */
    CLASS_ZERO = 150, /* number of the class of width 2^0 */
    CLASSES = CLASS_ZERO + 132,
    NO_CLASS = 0,
    /* Cells along an axis, one more than the power of two as the grid begins at the first sphere. */
    SIDE_MOST = (1 << 4) + 1
};

/* The spheres whose leaf cells have one width, a power of two. */
typedef struct width_class {
    uint64_t count, forced; /* count: spheres; forced: the ones among them that fit into no narrower cell */
    float reach, low[3], high[3];
    uint32_t into; /* the class that this one is merged into; 0: not merged */
    int stays;     /* its spheres keep their old level */
} width_class;

/* Slots [begin, end). */
typedef struct slot_range {
    uint32_t begin, end;
} slot_range;

/* The subdivision of crowded cells, while it runs. */
typedef struct crowded_cells {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells;
    uint16_t *class_of;     /* [slots] narrowest class that the sphere fits into, later the class of its leaf; NO_CLASS:
                               keeps its level */
    uint32_t *slot, *other; /* [slots] slots of the spheres of the cells in work; scratch of the counting sort */
    uint16_t *bucket;       /* [slots] number of the subcell of each */
    slot_range *todo;       /* stack of cells to subdivide, as ranges of `slot` */
    uint32_t todo_count;
    width_class classes[CLASSES];
} crowded_cells;

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

/* ---- subdividing ------------------------------------------------------------------------------------------------- */

/* The spheres' column of coordinates along an axis, by slot. */
static const float *coordinates(const crowded_cells *crowd, int axis)
{
    return crowd->cells->column[CLOUD_POSITION_X + axis];
}

/* Gives a sphere its final class: at least the narrowest that it fits into. */
static void finish(crowded_cells *crowd, uint32_t slot, int class)
{
    const int narrowest = crowd->class_of[slot], final = narrowest > class ? narrowest : class;
    width_class *sum = &crowd->classes[final];
    const float reach = crowd->cells->view.reach[slot];
    crowd->class_of[slot] = (uint16_t) final;
    sum->count++;
    sum->forced += narrowest >= class;
    sum->reach = reach > sum->reach ? reach : sum->reach;
    for (int axis = 0; axis < 3; axis++) {
        const float coordinate = coordinates(crowd, axis)[slot];
        sum->low[axis] = coordinate < sum->low[axis] ? coordinate : sum->low[axis];
        sum->high[axis] = coordinate > sum->high[axis] ? coordinate : sum->high[axis];
    }
}

/* Bounds of the centres in a range. */
typedef struct range_bounds {
    double low[3], span, far; /* span: the longest side; far: the largest coordinate by magnitude */
} range_bounds;

/* The bounds of the spheres' centres in a range. */
static range_bounds bounds_of_range(const crowded_cells *crowd, slot_range range)
{
    range_bounds of = {.span = 0};
    for (int axis = 0; axis < 3; axis++) {
        const float *const column = coordinates(crowd, axis);
        float low = column[crowd->slot[range.begin]], high = low;
        for (uint32_t i = range.begin + 1; i < range.end; i++) {
            const float coordinate = column[crowd->slot[i]];
            low = coordinate < low ? coordinate : low;
            high = coordinate > high ? coordinate : high;
        }
        of.low[axis] = (double)low;
        of.span = fmax(of.span, (double)high - (double)low);
        of.far = fmax(of.far, fmax(fabs((double)low), fabs((double)high)));
    }
    return of;
}

/* Counting sort of a range by subcell. A sphere that fits into no cell of this width gets its final class instead and
 * drops out. Returns the end of the sorted spheres. */
static uint32_t sort_by_cell(crowded_cells *crowd, slot_range range, const range_bounds *bounds, int class,
                             uint32_t side, uint32_t *starts)
{
    const double per_width = 1 / width_of(class);
    uint32_t count = 0;
    memset(starts, 0, ((size_t)side * side * side + 1) * sizeof *starts);
    for (uint32_t i = range.begin; i < range.end; i++) {
        const uint32_t slot = crowd->slot[i];
        if (crowd->class_of[slot] > class) {
            finish(crowd, slot, class);
            continue;
        }
        uint32_t cell = 0;
        for (int axis = 0; axis < 3; axis++)
            cell = cell * side + (uint32_t)(((double)coordinates(crowd, axis)[slot] - bounds->low[axis]) * per_width);
        crowd->bucket[count] = (uint16_t)cell;
        crowd->other[count++] = slot;
        starts[cell + 1]++;
    }
    for (uint32_t cell = 0; cell < side * side * side; cell++)
        starts[cell + 1] += starts[cell];
    /* Scatter. */
    for (uint32_t i = 0; i < count; i++)
        crowd->slot[range.begin + starts[crowd->bucket[i]]++] = crowd->other[i];
    return range.begin + count;
}

/* Subdivides a cell once. The spheres of small subcells get their final class, large subcells go to the stack. */
static void cut(crowded_cells *crowd, slot_range range)
{
    const uint32_t count = range.end - range.begin;
    const range_bounds bounds = bounds_of_range(crowd, range);
    /* 2^bits subcells along each axis, the more the more spheres there are. */
    const int bits = count > 2048 ? 4 : count > 256 ? 3 : count > 32 ? 2 : 1, class_of_range = class_above(bounds.span);
    const int least_class = class_above(bounds.far * 0x1p-26);
    const int class = class_of_range - bits > least_class ? class_of_range - bits : least_class;
    if (class >= class_of_range) { /* binary32 coordinates have no finer resolution: a leaf */
        for (uint32_t i = range.begin; i < range.end; i++)
            finish(crowd, crowd->slot[i], class);
        return;
    }
    uint32_t starts[SIDE_MOST * SIDE_MOST * SIDE_MOST + 1];
    const uint32_t side = (1u << (class_of_range - class)) + 1,
                   end = sort_by_cell(crowd, range, &bounds, class, side, starts);
    uint32_t begin = range.begin;
    for (uint32_t cell = 0; begin < end; cell++) { /* the scatter moved starts[cell] to the cell's end */
        const slot_range part = {begin, range.begin + starts[cell]};
        begin = part.end;
        if (part.end - part.begin > LEAF)
            crowd->todo[crowd->todo_count++] = part;
        else
            for (uint32_t i = part.begin; i < part.end; i++)
                finish(crowd, crowd->slot[i], class);
    }
}

/* ---- crowded cells ----------------------------------------------------------------------------------------------- */

/* The least cell width for a sphere if that is at most half of its cell's; else 0. */
static double narrower(const crowded_cells *crowd, uint32_t slot, double width)
{
    const double own = caromi_cloud_width_for(crowd->cloud, (double)crowd->cells->view.reach[slot]);
    /* Searches for best partners use wider cells. */
    const int is_wide = crowd->cloud->finds_best && !crowd->cloud->is_moving;
    return own * (is_wide ? 2 * CAROMI_CLOUD_SEARCH : 2) <= width ? fmax(own, 0x1p-140) : 0;
}

/* The number of spheres in a cell that fit into cells of half its width. */
static uint32_t count_narrower(const crowded_cells *crowd, uint32_t begin, uint32_t end, double width)
{
    uint32_t count = 0;
    for (uint32_t slot = begin; slot < end; slot++)
        count += narrower(crowd, slot, width) > 0;
    return count;
}

/* Subdivides a crowded cell down to its leaves. */
static void cut_cell(crowded_cells *crowd, uint32_t begin, uint32_t end, double width)
{
    uint32_t count = 0;
    for (uint32_t slot = begin; slot < end; slot++) {
        const double own = narrower(crowd, slot, width);
        crowd->class_of[slot] = (uint16_t)(own > 0 ? class_above(own) : NO_CLASS);
        crowd->slot[count] = slot;
        count += own > 0;
    }
    if (count > 0)
        crowd->todo[crowd->todo_count++] = (slot_range){0, count};
    while (crowd->todo_count > 0)
        cut(crowd, crowd->todo[--crowd->todo_count]);
}

/* Half of the spheres in a cell and its two neighbours along the row: about the tests of one sphere there. */
static double neighbours(const uint32_t *starts, int32_t cell, int32_t count)
{
    const uint32_t begin = starts[cell > 0 ? cell - 1 : 0], end = starts[cell + 2 < count ? cell + 2 : count];
    return 0.5 * (end - begin);
}

typedef enum crowd_task { ESTIMATE, SUBDIVIDE } crowd_task;
/* Visits all crowded cells. Either returns an estimate of the tests that narrower cells would save, or subdivides the
 * cells. */
static double each_crowd(crowded_cells *crowd, crowd_task task)
{
    const caromi_cloud_view *view = &crowd->cells->view;
    double tests = 0;
    for (uint32_t number = 0; number < view->row_count; number++) {
        const caromi_cloud_row *row = &view->rows[number];
        const uint32_t *starts = view->starts + row->cells;
        const double width = ldexp(1 / view->levels[row->level].per[0], row->shift);
        for (int32_t cell = 0; row->end - row->begin > CLOUD_CROWD && cell < row->count; cell++) {
            if (starts[cell + 1] - starts[cell] <= CLOUD_CROWD)
                continue;
            if (task == SUBDIVIDE)
                cut_cell(crowd, starts[cell], starts[cell + 1], width);
            else
                tests +=
                    count_narrower(crowd, starts[cell], starts[cell + 1], width) * neighbours(starts, cell, row->count);
        }
    }
    return tests;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* The next wider class that has spheres; CLASSES if there is none. */
static int coarser_class(const crowded_cells *crowd, int class)
{
    do
        class ++;
    while (class < CLASSES && crowd->classes[class].count == 0);
    return class;
}

/* Merges a class into another one. */
static void join_classes(crowded_cells *crowd, int class, int to)
{
    width_class *from = &crowd->classes[class], *sum = &crowd->classes[to];
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
static double joined_tests(const crowded_cells *crowd, int class)
{
    const int to = coarser_class(crowd, class);
    if (crowd->classes[class].count == 0 || to == CLASSES)
        return (double)INFINITY;
    return (double)crowd->classes[class].count * (double)(crowd->classes[class].count + crowd->classes[to].count);
}

/* Whether the spheres of a class fit into cells of a finer one. */
static int fits(const crowded_cells *crowd, int class, int finer)
{
    return class_above(caromi_cloud_width_for(crowd->cloud, (double)crowd->classes[class].reach)) <= finer;
}

/* Merges a class into a finer one if its spheres fit there. */
static void join_if_fits(crowded_cells *crowd, int class, int finer)
{
    width_class *to = &crowd->classes[finer];
    if (crowd->classes[class].count == 0 || !fits(crowd, class, finer))
        return;
    /* Keeps the level's cells as narrow as before. */
    to->forced += 2 * to->forced > to->count ? crowd->classes[class].count : 0;
    join_classes(crowd, class, finer);
}

/* Leaves of equal spheres have two or three widths by chance: such classes are merged into the narrowest. */
static void join_finer(crowded_cells *crowd)
{
    for (int class = 0; class + 2 < CLASSES; class ++) {
        const uint64_t count = crowd->classes[class].count;
        if (count == 0)
            continue;
        join_if_fits(crowd, class + 1, class);
        if (4 * crowd->classes[class + 2].count < count)
            join_if_fits(crowd, class + 2, class);
    }
}

/* Merges classes with few spheres into coarser ones, until at most `most` levels are used. */
static void join_few(crowded_cells *crowd, uint32_t most)
{
    const double small = 4 * (double)crowd->cells->count;
    uint32_t levels_used = 0;
    for (int class = 0; class < CLASSES; class ++) {
        width_class *own = &crowd->classes[class];
        if (joined_tests(crowd, class) <= small)
            join_classes(crowd, class, coarser_class(crowd, class));
        own->stays = own->count > 0 && coarser_class(crowd, class) == CLASSES &&
                     (double)own->count * (double)own->count <= small;
        own->count = own->stays ? 0 : own->count;
        levels_used += own->count > 0;
    }
    for (; levels_used > most; levels_used--) {
        int best = 0;
        for (int class = 1; class < CLASSES; class ++)
            best = joined_tests(crowd, class) < joined_tests(crowd, best) ? class : best;
        join_classes(crowd, best, coarser_class(crowd, best));
    }
}

/* The level of a class. Its cells are as narrow as its largest sphere allows if most of its spheres fit into no
 * narrower class. Cells are never so narrow that their numbers overflow. */
static caromi_cloud_level level_of_class(const crowded_cells *crowd, int class)
{
    const width_class *of = &crowd->classes[class];
    double width = caromi_cloud_width_for(crowd->cloud, (double)of->reach), low[3], high[3];
    if (2 * of->forced <= of->count)
        width = fmax(width, width_of(class));
    for (int k = 0; k < 3; k++) {
        low[k] = (double)of->low[k];
        high[k] = (double)of->high[k];
        width = fmax(width, fmax((high[k] - low[k]) * 0x1p-26, 0x1p-140));
    }
    return caromi_cloud_level_of((double)of->reach, width, low, high);
}

/* A new level, with the number by which its spheres are found. */
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
static int last_class(const crowded_cells *crowd, int class)
{
    while (crowd->classes[class].into != 0)
        class = (int)crowd->classes[class].into;
    return crowd->classes[class].stays ? NO_CLASS : class;
}

/* Numbers the levels that hold spheres, and writes the level of each sphere by index. Returns the number of levels. */
static uint32_t number_levels(crowded_cells *crowd, caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t *level_of)
{
    const caromi_cloud_cells *cells = crowd->cells;
    /* Of two clouds each has one of two old levels with the same cells: new levels are split like these. */
    const uint32_t halves = cells->view.is_split ? 2 : 1, before = cells->view.level_count / halves;
    numbered sorted[CAROMI_CLOUD_LEVELS];
    uint8_t new_number[CAROMI_CLOUD_LEVELS + CLASSES];
    int16_t final_class[CLASSES];
    uint32_t count = 0;
    join_finer(crowd);
    join_few(crowd, CAROMI_CLOUD_LEVELS / halves - before);
    /* Old levels and those of classes, sorted from coarse to fine. */
    for (uint32_t level = 0; level < before; level++)
        insert(sorted, count++, &cells->levels[halves * level], level);
    for (int class = 0; class < CLASSES; class ++) {
        final_class[class] = (int16_t)last_class(crowd, class);
        if (crowd->classes[class].count > 0) {
            const caromi_cloud_level level = level_of_class(crowd, class);
            insert(sorted, count++, &level, before + (uint32_t) class);
        }
    }
    /* The new number of each. */
    for (uint32_t level = 0; level < count; level++) {
        levels[level] = sorted[level].level;
        new_number[sorted[level].was] = (uint8_t)level;
    }
    /* The level of each sphere. */
    for (uint32_t row = 0; row < cells->view.row_count; row++)
        for (uint32_t slot = cells->rows[row].begin; slot < cells->rows[row].end; slot++) {
            const int class = final_class[crowd->class_of[slot]];
            level_of[cells->index[slot]] =
                new_number[class == NO_CLASS ? cells->rows[row].level / halves : before + (uint32_t) class];
        }
    return count;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void clear_classes(crowded_cells *crowd)
{
    for (int class = 0; class < CLASSES; class ++)
        for (int k = 0; k < 3; k++) {
            crowd->classes[class].low[k] = INFINITY;
            crowd->classes[class].high[k] = -INFINITY;
        }
}

int caromi_cloud_is_crowded(uint64_t doubled, uint64_t spheres)
{
    return 4 * (double)doubled > GAIN * (double)spheres;
}

int caromi_cloud_saves(double tests, uint64_t spheres)
{
    return tests > GAIN * (double)spheres;
}

/* Subdivides crowded cells and chooses new levels, if that saves enough tests. Returns the number of levels; 0: the old
 * ones stay. */
uint32_t caromi_cloud_relevel(const caromi_cloud *cloud, const caromi_cloud_cells *cells,
                              caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t *level_of)
{
    const carom_context *context = cloud->context;
    crowded_cells *crowd = caromi_alloc(context, 1, sizeof *crowd);
    uint32_t count = 0;
    if (crowd == NULL)
        return 0;
    memset(crowd, 0, sizeof *crowd);
    crowd->cloud = cloud;
    crowd->cells = cells;
    /* Without memory for them, the old levels stay. */
    crowd->class_of = caromi_cached_alloc(context, cells->count, sizeof *crowd->class_of);
    crowd->slot = caromi_cached_alloc(context, cells->count, sizeof *crowd->slot);
    crowd->other = caromi_cached_alloc(context, cells->count, sizeof *crowd->other);
    crowd->bucket = caromi_cached_alloc(context, cells->count, sizeof *crowd->bucket);
    crowd->todo = caromi_cached_alloc(context, cells->count / LEAF + 1, sizeof *crowd->todo);
    if (crowd->class_of && crowd->slot && crowd->other && crowd->bucket && crowd->todo &&
        caromi_cloud_saves(each_crowd(crowd, ESTIMATE), cells->count)) {
        memset(crowd->class_of, 0, cells->count * sizeof *crowd->class_of);
        clear_classes(crowd);
        (void)each_crowd(crowd, SUBDIVIDE);
        count = number_levels(crowd, levels, level_of);
    }
    caromi_cached_free(context, crowd->class_of);
    caromi_cached_free(context, crowd->slot);
    caromi_cached_free(context, crowd->other);
    caromi_cached_free(context, crowd->bucket);
    caromi_cached_free(context, crowd->todo);
    caromi_free(context, crowd);
    return count;
}
