/* SPDX-License-Identifier: MIT */
/* The cells of a cloud that a GPU sorts by itself: layouts that kernels and host agree on.
 *
 * Spheres of about one size share a level, a grid of cells as wide as its largest pair. A level's cells are counted in
 * buckets of a table. If its grid fits into its table, each cell has a bucket of its own; else cells far apart may
 * share one. Cells along x have adjacent buckets, so a sphere reads one range of spheres for each of the rows around
 * it. */
#ifndef CAROM_CLOUD_GRID_H
#define CAROM_CLOUD_GRID_H

#define GRID_LEVELS 64
#define GRID_BINS 1024 /* of widths, four for each power of two: the exponent and two bits behind it */

/* Coordinates count from an anchor in units, 2^-20 to 2^-21 of a cell: whole numbers of 64 bits, so that cells are
 * exact however far a sphere is from the anchor. Beyond 2^61 units all spheres share the last cell. */
#define GRID_UNIT_BITS 20
#define GRID_LAST_UNIT_BITS 61
#define GRID_WHOLE_BITS (GRID_LAST_UNIT_BITS + 1)

/* Of two clouds, levels come in twos with the same cells: even ones for the first cloud's spheres, odd ones for the
 * second's. */
typedef struct grid_level {
    unsigned long per_unit;  /* 0, or 2^64 / width of a cell in units */
    int exponent;            /* a length is so many powers of two smaller than in units */
    float reach;             /* the largest of its spheres */
    unsigned int base, mask; /* a cell's bucket is base + (number of the cell & mask) */
    unsigned int stride_y, stride_z;
    unsigned int spheres; /* 0: nothing to search */
} grid_level;

/* The levels of a cloud, from the largest spheres to the smallest. Made by carom_grid_plan for all later kernels. */
typedef struct grid_plan {
    grid_level level[GRID_LEVELS];
    float anchor[3];
    float period[3];          /* 0: along this axis no image may touch a sphere */
    float below[3], above[3]; /* an image one period above is of a sphere that begins below, an eighth of the number */
    unsigned int level_count, buckets;
    unsigned int split; /* the first sphere of the second cloud; GRID_ONE_CLOUD */
    unsigned int level_of[GRID_BINS];
} grid_plan;

/* Of a cloud against another one the second's spheres follow the first's, and pairs are of one sphere of each. */
#define GRID_ONE_CLOUD 0xffffffffu

/* Bounds of all spheres, as integers in the order of the numbers, and spheres by bin. It begins with zeros. */
typedef struct grid_measure {
    unsigned int above[3], below[3];                 /* the largest coordinates; the complement of the smallest */
    unsigned int count[GRID_BINS], reach[GRID_BINS]; /* reach: the largest, as bits */
    unsigned int second[GRID_BINS];                  /* how many of `count` are the second cloud's */
} grid_measure;

/* Of a cloud in motion: limits of time of all spheres, as bits. In memory the spheres of a sample follow, each as 32
 * bytes: centre and reach, velocity and limit. It begins with zeros. */
typedef struct grid_limits {
    unsigned int largest, second; /* of two clouds: of the first one */
    unsigned int other;           /* the largest of the second cloud */
    unsigned int finite;          /* the largest finite one */
} grid_limits;

/* Numbers that the host reads: at most 64 bytes in a call. */
typedef struct grid_totals {
    unsigned int unfinished; /* searches that go on in the next round; spheres without a limit of time */
    unsigned int undecided;  /* pairs for the solver */
    unsigned int faults;     /* not 0: a number read from memory would have led outside an array */
    unsigned int meeting;    /* pairs that may meet in a slice of time */
    unsigned int hits;       /* of all slices so far */
    unsigned int long_rows;  /* spheres with more than GRID_LONG_ROW pairs in the list */
    unsigned int giant_rows; /* and with more than GRID_GIANT_ROW, which do not count as long ones */
    unsigned int longest;    /* pairs of the longest of these */
    unsigned long total;     /* pairs under the spheres in question */
    unsigned long complete;  /* the list holds all pairs of spheres before this one */
    unsigned long stored;    /* pairs that it holds */
} grid_totals;

/* A table has 2 to 4 buckets for each sphere, at least GRID_TABLE_LEAST. */
#define GRID_TABLE_LEAST 64
/* Steps of the bucket's number along y and z where the grid does not fit. Modulo each size of a table, no two cells
 * among 3 x 3 x 3 have the same number, nor are two rows less than three apart: so no pair is found twice. */
#define GRID_STRIDE_Y 0x9e3779b1u
#define GRID_STRIDE_Z 0x85ebca6bu

/* Undecided pairs that a cloud may have, which bounds their memory. Where there are more, the host declines the cloud,
 * and searches that have not begun end at once. A launch adds at most 2^29, so the counter's 32 bits do not come round.
 */
#define GRID_UNDECIDED_MOST 0x3fffffffu
#define GRID_UNDECIDED_FIRST 0x4000u
#define GRID_UNDECIDED_EACH 32u
#define GRID_UNDECIDED_OF(spheres)                                                  \
    ((spheres) < (GRID_UNDECIDED_MOST - GRID_UNDECIDED_FIRST) / GRID_UNDECIDED_EACH \
         ? GRID_UNDECIDED_FIRST + GRID_UNDECIDED_EACH * (spheres)                   \
         : GRID_UNDECIDED_MOST)

/* Work-items that a group has at most: 32 on some drivers, always a power of two. */
#define GRID_GROUP 256
/* Numbers of a tile, the unit of a prefix sum, and numbers that a work-item adds up at a time. */
#define GRID_TILE 2048
#define GRID_EACH 8

/* Tests of one search in a round, about: a launch ends in bounded time however many spheres share a cell. */
#define GRID_TESTS 2048

/* Pairs of one sphere are ranked one by one, sorted by a work-group if there are more than GRID_LONG_ROW, and merged by
 * all groups, a launch for each step, if there are more than GRID_GIANT_ROW. */
#define GRID_LONG_ROW 64
#define GRID_GIANT_ROW 8192

/* In kernels: work-items share `count` elements. No launch is larger than a device bears, whatever the count. */
#define GRID_FOR_EACH(i, count) for (uint i = (uint)get_global_id(0); i < (count); i += (uint)get_global_size(0))

/* Options of the scan for pairs, besides those of kernels/cloud_test.h. */
#define GRID_FULL 256          /* a pair counts under both spheres */
#define GRID_SKIPS_CONTACT 512 /* pairs in contact are no hits */

#define GRID_IMAGED 1024 /* pairs have images */
#define GRID_MOVING 2048 /* spheres have velocities, and rows times of all kinds */

/* Images of a sphere are numbered as on the CPU. Slots of undecided pairs have 29 bits: three of the image of b stand
 * above that of a, two above that of b. So many spheres at most, and fewer where each has 27 images in 32 bits. In
 * motion an image, an index and a time are in one key, which leaves 26 bits of the index. */
#define GRID_IMAGES 27
#define GRID_IMAGE_OWN 13
#define GRID_SLOT_BITS 29
#define GRID_SPHERES_MOST (1u << GRID_SLOT_BITS)
#define GRID_IMAGED_SPHERES_MOST (1u << 27)
#define GRID_IMAGED_MOVING_MOST (1u << 26)

/* A stored pair in the order of a row: 31 bits of t, 31 of b, 2 of the state. With GRID_IMAGED b begins at
 * GRID_KEY_IMAGED_B_SHIFT, and its image is between b and the state: at rest t is 0 or infinity, whose last bits are 0,
 * and in motion b has 26 bits. */
#define GRID_KEY_T_SHIFT 33
#define GRID_KEY_B_SHIFT 2
#define GRID_KEY_IMAGED_B_SHIFT 7
#define GRID_KEY_IMAGE_SHIFT 2
#define GRID_KEY_STATE 3

#define GRID_INVALID 0xffffffffu /* as CAROM_COUNT_INVALID */

/* Columns of a list, as bits of a mask. */
enum { GRID_A, GRID_B, GRID_STATE, GRID_T, GRID_SHIFT, GRID_RECORD_COLUMNS };
/* Columns that follow from the pairs of a list. */
enum { GRID_DEPTH, GRID_NORMAL_X, GRID_NORMAL_Y, GRID_NORMAL_Z, GRID_PAIR_COLUMNS };
/* Columns of first and any partners. */
enum { GRID_OTHER, GRID_OTHER_STATE, GRID_OTHER_T, GRID_HIT, GRID_PARTNER_COLUMNS };
#endif
