/* SPDX-License-Identifier: MIT */
/* Numbers that host, CPU path and kernels agree on: states, features, and the order of columns. */
#ifndef CAROM_LAYOUT_H
#define CAROM_LAYOUT_H

/* As enum carom_state and carom_feature; the host asserts that they are equal. */
#define STATE_MISS 0
#define STATE_APPROACHING 1
#define STATE_TOUCHING 2
#define STATE_OVERLAPPING 3
#define STATE_PARTING 4
#define STATE_PAST 5
#define STATE_INVALID 6

#define FEATURE_NONE 0
#define FEATURE_V0 1
#define FEATURE_V1 2
#define FEATURE_V2 3
#define FEATURE_E01 4
#define FEATURE_E12 5
#define FEATURE_E20 6
#define FEATURE_FACE 7

#define OVERLAP_INVALID 255
#define OVERLAP_UNDECIDED 254 /* stored by the floating-point filter of exact mode; integers then replace it */

/* Bits of the mask of separating axes: the triangle's normal, and the directions from edges and corners to the
 * centre. */
#define AXIS_OF_FACE 1
#define AXIS_OF_E01 2
#define AXIS_OF_E12 4
#define AXIS_OF_E20 8
#define AXIS_OF_V0 16
#define AXIS_OF_V1 32
#define AXIS_OF_V2 64

/* Which velocities a sweep subtracts from the sphere's, the parameter `moving`; bits. The triangle has the velocity W,
 * its instance U. */
#define TRIANGLE_AT_REST 0
#define TRIANGLE_MOVING 1
#define TRIANGLE_CARRIED 2
/* How the motion of a sphere is given, the parameter `motion`: by its velocity, or by the centre's position at time 1,
 * with the one at time 0 as W. TRIANGLE_CARRIED may be added. */
#define MOTION_BY_VELOCITY 0
#define MOTION_BY_END 1

/* Axes of space, for functions that work on one at a time. */
enum { AXIS_X, AXIS_Y, AXIS_Z };

/* clang-format off */
/* Input columns of the pair queries that meshes have too; a query type reads a prefix of them. Columns of other pair
 * queries stand in their own headers (spheres.h). */
enum {
    IN_CX, IN_CY, IN_CZ, IN_R, IN_VX, IN_VY, IN_VZ,
    IN_P0X, IN_P0Y, IN_P0Z, IN_P1X, IN_P1Y, IN_P1Z, IN_P2X, IN_P2Y, IN_P2Z,
    IN_SWEEP_RESTING,                    /* columns of a sweep against triangles at rest */
    IN_WX = IN_SWEEP_RESTING, IN_WY, IN_WZ,
    IN_SWEEP_MOVING,                     /* columns with the triangle's velocity */
    IN_UX = IN_SWEEP_MOVING, IN_UY, IN_UZ,
    IN_SWEEP_CARRIED                     /* and with that of its instance; no kernel has them all */
};
/* Columns of an overlap (IN_O..): centre, radius, corners. */
enum {
    IN_OCX, IN_OCY, IN_OCZ, IN_OR, IN_OP0X, IN_OP0Y, IN_OP0Z, IN_OP1X, IN_OP1Y, IN_OP1Z, IN_OP2X, IN_OP2Y, IN_OP2Z,
    IN_OVERLAP
};
/* Columns of a closest point (IN_N.., nearest): centre, corners. */
enum {
    IN_NCX, IN_NCY, IN_NCZ, IN_NP0X, IN_NP0Y, IN_NP0Z, IN_NP1X, IN_NP1Y, IN_NP1Z, IN_NP2X, IN_NP2Y, IN_NP2Z, IN_CLOSEST
};

/* Columns of queries against a mesh. Closest points read the columns of a sphere at rest, and then a limit; contacts
 * have a margin in place of the limit. */
enum {
    MESH_CX, MESH_CY, MESH_CZ, MESH_RADIUS, MESH_IN_RESTING,
    MESH_VX = MESH_IN_RESTING, MESH_VY, MESH_VZ, MESH_T_MAX, MESH_IN_COLUMNS,
    MESH_MAX_DISTANCE = MESH_IN_RESTING, MESH_IN_CLOSEST
};

/* Output columns. */
enum { OUT_T_FIRST, OUT_SWEEP_FIRST, OUT_T_LAST = OUT_SWEEP_FIRST, OUT_STATE, OUT_SWEEP_TIMES,
       OUT_FIRST_X = OUT_SWEEP_TIMES, OUT_FIRST_Y, OUT_FIRST_Z, OUT_FIRST_FEATURE,
       OUT_LAST_X, OUT_LAST_Y, OUT_LAST_Z, OUT_LAST_FEATURE, OUT_SWEEP_FULL };
enum { OUT_OVERLAP, OUT_AXES, OUT_OVERLAP_ALL };
enum { OUT_POINT_X, OUT_POINT_Y, OUT_POINT_Z, OUT_NORMAL_X, OUT_NORMAL_Y, OUT_NORMAL_Z, OUT_FEATURE, OUT_CONTACT };
enum { OUT_CLOSEST_X, OUT_CLOSEST_Y, OUT_CLOSEST_Z, OUT_CLOSEST_FEATURE, OUT_CLOSEST };

#define COLUMNS_MAX 24

/* Element type of a column that is scattered to an array on the device: words; bytes; states, which become answers of
 * any-hit queries. */
#define RESIDENT_WORDS 0
#define RESIDENT_BYTES 1
#define RESIDENT_HITS 2

/* Where a row of a column comes from: the element of the row's number; the element that an index selects; one word for
 * all rows. RESIDENT_COLUMNS columns are gathered at once. */
#define RESIDENT_ELEMENT 0
#define RESIDENT_INDEXED 1
#define RESIDENT_SAME 2
/* A limit that must be >= 0; where it is not, 0 is gathered in its place. */
#define RESIDENT_LIMIT 3
#define RESIDENT_COLUMNS 8
/* Kinds of values that are checked. */
#define RESIDENT_INDICES 0
#define RESIDENT_LIMITS 1
/* The words of the checks: for each of RESIDENT_CHECKS the lowest row with a refused value, then that row and the value
 * as they were noted. A row of RESIDENT_NONE: there is none. */
#define RESIDENT_CHECKS 2
#define RESIDENT_NONE 0xffffffffu
#define RESIDENT_CHECK_WORDS (3 * RESIDENT_CHECKS)

/* Reals per cache line, and the distance of prefetching in pairs. */
#define PREFETCH_LINE 16
#define PREFETCH_AHEAD 128
/* clang-format on */

/* The hierarchy over a mesh, for the broad phase: nodes of up to MESH_WIDTH boxes, leaves of up to MESH_WIDTH
 * triangles, 8 or 16 (mesh_nodes.h). A table of MESH_VERTICES numbers is what lanes can look up (v_table_lookup). */
#define MESH_WIDEST 16
#define MESH_VERTICES 16
#ifndef MESH_STACK /* programs of OpenCL devices may have a shorter one: caromi_fit_stack */
#define MESH_STACK 512
#endif

/* Where work-items share queries (mesh_team.h), the lowest entries of a traversal's stack are in local memory: an odd
 * number, so that the stacks of several queries are in different banks. The others are in global memory: a child, and a
 * lower bound of the keys of its hits. */
#define MESH_NEAR 17
typedef struct mesh_far_entry {
    unsigned int from[2]; /* the low half first */
    int child;
} mesh_far_entry;

#define MESH_LEAF(at, is_unindexed) (~((at) << 1 | (is_unindexed)))
#define MESH_LEAF_AT(reference) (~(reference) >> 1)
#define MESH_IS_UNINDEXED(reference) (~(reference)&1)
#define MESH_LEAVES_MAX (1 << 30) /* so that a reference is an int; an unindexed leaf counts twice */

/* Options of a search. */
#define MESH_TRIANGLE_MASKS 1 /* triangles have masks: a mesh's width per leaf, twice that per unindexed leaf */
#define MESH_QUERY_MASKS 2    /* queries have masks */
#define MESH_CULL_BACK 4      /* culls back faces: triangles whose normal points along the motion */
#define MESH_SKIP_PARTING 8   /* culls triangles in contact at the start from which the sphere moves away */
#define MESH_SKIP 16          /* culls triangles in contact at the start */
#define MESH_ENDS 32          /* MESH_VX.. hold the centre at time 1, in place of its velocity */
#define MESH_OWN_DISTANCE 64  /* contacts: a record has the triangle's distance as `closest` computes it */
#define MESH_CARRIED 128      /* sweeps of scenes: instances have velocities */
#define MESH_ROUND_ONCE 256   /* with MESH_ENDS and MESH_CARRIED, exact mode: box tests round a motion once */

/* Stored in place of a triangle or a number of hits if the device truncated a loop of the search
 * (mesh_run_is_truncated). */
#define MESH_LOOP_TRUNCATED (-2)

/* A hit. `query` counts from the first of the run. t is NaN if exact mode has not decided it. */
typedef struct mesh_record {
    float t;      /* time of the hit; for contacts the distance */
    int triangle; /* index */
    int state;    /* of the sweep; for contacts the closest feature */
    int query;
} mesh_record;

/* A compacted record, as words: the row, triangle, time, state | feature << 8; then the numbers of a contact, if they
 * were requested. A group of up to COMPACT_ITEMS work-items compacts COMPACT_RUN rows. */
enum {
    COMPACT_ROW,
    COMPACT_TRIANGLE,
    COMPACT_T,
    COMPACT_BYTES,
    COMPACT_CONTACT,
    COMPACT_WORDS = COMPACT_CONTACT + OUT_FEATURE
};
#define COMPACT_RUN 256
#define COMPACT_ITEMS 64

/* Spheres of a cloud that a work-item compares with one sphere: a bit of a word for each. */
#define CLOUD_ITEM 32

/* Options of the scan of a cloud. */
#define CLOUD_MASKED 1      /* spheres have masks */
#define CLOUD_BOUNDS_ONLY 2 /* reaches are upper bounds, so no pair is certain */
#define CLOUD_MARGIN 4
#define CLOUD_GROUPED 64 /* beside masks: without it a sphere's mask is its group */

/* Constants of a mesh. */
typedef struct mesh_frame {
    float scale;     /* power of two that brings the largest coordinate to about 1 */
    int scale_field; /* exponent field of 1 / scale */
    int root;        /* a node; a leaf if negative */
    float ball;      /* `ball` of a typical leaf */
} mesh_frame;

#endif
