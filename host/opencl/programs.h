/* SPDX-License-Identifier: MIT */
/* The OpenCL programs, a row each. A program is one kernel, `carom_KERNEL`, made from a root: kernels/ROOT.cl with all
 * that it includes (cmake/embed.cmake). It needs binary64 if and only if its root includes wide.h. */
#ifndef CAROM_HOST_OPENCL_PROGRAMS_H
#define CAROM_HOST_OPENCL_PROGRAMS_H
#include "cpu/cpu.h"

/* X(program, kernel, root, stack, build options): with CAROMI_ON_STACK each work-item has a traversal stack of
 * MESH_STACK entries. With CAROMI_BY_TEAMS it has one too, unless the work-items of a group share queries
 * (kernels/mesh_team.h).
 *
 * A search has four rows, in this order: fast, exact, and both again for queries with options. Those without are
 * built with -DMESH_PLAIN, which leaves out the options' code and the registers that it takes. A search for the
 * closest point, for contacts, or of a scene has one code for both. */
enum { CAROMI_NO_STACK, CAROMI_ON_STACK, CAROMI_BY_TEAMS };
/* clang-format off */
#define CAROMI_PROGRAMS(X) \
    X(MESH_FIRST,                  mesh_first,               mesh,               CAROMI_BY_TEAMS, " -DMESH_PLAIN") \
    X(MESH_FIRST_EXACT,            mesh_first_exact,         mesh_exact,         CAROMI_BY_TEAMS, " -DMESH_PLAIN") \
    X(MESH_FIRST_OPTIONS,          mesh_first,               mesh,               CAROMI_BY_TEAMS, "") \
    X(MESH_FIRST_EXACT_OPTIONS,    mesh_first_exact,         mesh_exact,         CAROMI_BY_TEAMS, "") \
    X(MESH_LIST,                   mesh_list,                mesh,               CAROMI_BY_TEAMS, " -DMESH_PLAIN") \
    X(MESH_LIST_EXACT,             mesh_list_exact,          mesh_exact,         CAROMI_BY_TEAMS, " -DMESH_PLAIN") \
    X(MESH_LIST_OPTIONS,           mesh_list,                mesh,               CAROMI_BY_TEAMS, "") \
    X(MESH_LIST_EXACT_OPTIONS,     mesh_list_exact,          mesh_exact,         CAROMI_BY_TEAMS, "") \
    X(MESH_OVERLAPS,               mesh_overlaps,            mesh_overlap,       CAROMI_BY_TEAMS, " -DMESH_PLAIN") \
    X(MESH_OVERLAPS_EXACT,         mesh_overlaps_exact,      mesh_overlap,       CAROMI_BY_TEAMS, " -DMESH_PLAIN") \
    X(MESH_OVERLAPS_OPTIONS,       mesh_overlaps,            mesh_overlap,       CAROMI_BY_TEAMS, "") \
    X(MESH_OVERLAPS_EXACT_OPTIONS, mesh_overlaps_exact,      mesh_overlap,       CAROMI_BY_TEAMS, "") \
    X(MESH_CONTACT,                mesh_contact,             mesh,               CAROMI_NO_STACK, "") \
    X(MESH_CONTACT_EXACT,          mesh_contact_exact,       mesh_exact,         CAROMI_NO_STACK, "") \
    X(MESH_CLOSEST,                mesh_closest,             mesh_closest,       CAROMI_BY_TEAMS, "") \
    X(MESH_CLOSEST_EXACT,          mesh_closest_exact,       mesh_closest_exact, CAROMI_BY_TEAMS, "") \
    X(MESH_CLOSEST_POINT,          mesh_closest_point,       mesh_closest,       CAROMI_NO_STACK, "") \
    X(MESH_CLOSEST_POINT_EXACT,    mesh_closest_point_exact, mesh_closest_exact, CAROMI_NO_STACK, "") \
    X(MESH_GRADIENT,               mesh_gradient,            mesh_gradient,      CAROMI_NO_STACK, "") \
    X(MESH_GRADIENT_EXACT,         mesh_gradient_exact,      mesh_gradient_exact, CAROMI_NO_STACK, "") \
    X(MESH_SIDE,                   mesh_side,                mesh_side,          CAROMI_ON_STACK, "") \
    X(MESH_INSIDE,                 mesh_inside,              mesh_side,          CAROMI_ON_STACK, "") \
    X(SCENE_FIRST,                 scene_first,              scene,              CAROMI_ON_STACK, "") \
    X(SCENE_FIRST_EXACT,           scene_first_exact,        scene_exact,        CAROMI_ON_STACK, "") \
    X(SCENE_LIST,                  scene_list,               scene,              CAROMI_ON_STACK, "") \
    X(SCENE_LIST_EXACT,            scene_list_exact,         scene_exact,        CAROMI_ON_STACK, "") \
    X(SCENE_OVERLAPS,              scene_overlaps,           scene_overlap,      CAROMI_ON_STACK, "") \
    X(SCENE_OVERLAPS_EXACT,        scene_overlaps_exact,     scene_overlap,      CAROMI_ON_STACK, "") \
    X(SCENE_CLOSEST,               scene_closest,            scene_closest,      CAROMI_ON_STACK, "") \
    X(SCENE_CLOSEST_EXACT,         scene_closest_exact,      scene_closest_exact, CAROMI_ON_STACK, "") \
    X(LATTICE_TILE,                lattice_tile,             lattice_tile,       CAROMI_ON_STACK, "") \
    X(LATTICE_TILE_EXACT,          lattice_tile_exact,       lattice_tile,       CAROMI_ON_STACK, "") \
    X(LATTICE_CLEAR,               lattice_clear,            lattice_columns,    CAROMI_NO_STACK, "") \
    X(LATTICE_COLUMNS,             lattice_columns,          lattice_columns,    CAROMI_ON_STACK, "") \
    X(LATTICE_INSIDE,              lattice_inside,           lattice_columns,    CAROMI_NO_STACK, "") \
    X(LATTICE_CLASSIFY,            lattice_classify,         lattice_columns,    CAROMI_NO_STACK, "") \
    X(LATTICE_PUT,                 lattice_put,              lattice_columns,    CAROMI_NO_STACK, "") \
    X(MESH_CONTACTS,               mesh_contacts,            mesh_contacts,      CAROMI_BY_TEAMS, "") \
    X(MESH_CONTACTS_EXACT,         mesh_contacts_exact,      mesh_contacts_exact, CAROMI_BY_TEAMS, "") \
    X(CONTACT_CHOOSE,              contact_choose,           contact_rows,       CAROMI_NO_STACK, "") \
    X(CONTACT_CHOOSE_EXACT,        contact_choose_exact,     contact_rows,       CAROMI_NO_STACK, "") \
    X(CONTACT_MERGE,               contact_merge,            contact_rows,       CAROMI_ON_STACK, "") \
    X(CONTACT_MERGE_EXACT,         contact_merge_exact,      contact_rows,       CAROMI_ON_STACK, "") \
    X(CONTACT_TOUCH,               contact_touch,            contact_rows,       CAROMI_NO_STACK, "") \
    X(CONTACT_TOUCH_EXACT,         contact_touch_exact,      contact_rows,       CAROMI_NO_STACK, "") \
    X(ROUNDING,                    rounding,                 rounding,           CAROMI_NO_STACK, "") \
    X(SORT_HISTOGRAM,              sort_histogram,           query_sort,         CAROMI_NO_STACK, "") \
    X(PREFIX_SUM,                  prefix_sum,               query_sort,         CAROMI_NO_STACK, "") \
    X(SORT_SCATTER,                sort_scatter,             query_sort,         CAROMI_NO_STACK, "") \
    X(COMPACT_COUNT,               compact_count,            compact,            CAROMI_NO_STACK, "") \
    X(COMPACT_FILL,                compact_fill,             compact,            CAROMI_NO_STACK, "") \
    X(CLOUD_TEST,                  cloud_test,               cloud_scan,         CAROMI_NO_STACK, "") \
    X(CLOUD_GATHER,                cloud_gather,             cloud_scan,         CAROMI_NO_STACK, "") \
    X(MOVING_READ,                 grid_read_moving,         cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_LIMITS,               grid_limits,              cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_DRAW,                 grid_draw,                cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_BOUND,                grid_bound,               cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_MEET,                 grid_meet,                cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_LIST_ENDLESS,         grid_list_endless,        cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_MEET_ALL,             grid_meet_all,            cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_SOLVE,                grid_solve_moving,        cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_GATHER,               grid_gather_moving,       cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_HITS,                 grid_hits,                cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_OFFER,                grid_offer,               cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_SOONEST,              grid_soonest,             cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_LOWEST,               grid_lowest,              cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_STATE_OF,             grid_state_of,            cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_PARTNER,              grid_partner_moving,      cloud_moving,       CAROMI_NO_STACK, "") \
    X(MOVING_PUT_COLUMNS,          grid_put_columns,         cloud_columns,      CAROMI_NO_STACK, "") \
    X(MOVING_BY_PARTNER,           grid_by_partner,          cloud_previous,     CAROMI_NO_STACK, "") \
    X(GRID_CLEAR,                  grid_clear,               cloud_sort,         CAROMI_NO_STACK, "") \
    X(GRID_READ,                   grid_read,                cloud_sort,         CAROMI_NO_STACK, "") \
    X(GRID_MEASURE,                grid_measure,             cloud_sort,         CAROMI_NO_STACK, "") \
    X(GRID_PLAN,                   grid_plan,                cloud_sort,         CAROMI_NO_STACK, "") \
    X(GRID_ASSIGN,                  grid_assign,               cloud_sort,         CAROMI_NO_STACK, "") \
    X(GRID_SUM,                    grid_sum,                 cloud_sum,          CAROMI_NO_STACK, "") \
    X(GRID_CARRY,                  grid_carry,               cloud_sum,          CAROMI_NO_STACK, "") \
    X(GRID_START,                  grid_offset,              cloud_sum,          CAROMI_NO_STACK, " -DGRID_SHORT") \
    X(GRID_OFFSET,                 grid_offset,              cloud_sum,          CAROMI_NO_STACK, "") \
    X(GRID_SCATTER,                grid_scatter,             cloud_sort,         CAROMI_NO_STACK, "") \
    X(GRID_COUNT,                  grid_count,               cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_SOLVE,                  grid_solve,               cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_GATHER,                 grid_gather,              cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_COUNT_UNDECIDED,        grid_count_undecided,     cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_TOTALS,                 grid_totals,              cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_FIND_LONG,              grid_find_long,           cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_STORE,                  grid_store,               cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_STORE_UNDECIDED,        grid_store_undecided,     cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_SORT_LONG,              grid_sort_long,           cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_MERGE,                  grid_merge,               cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_ORDER,                  grid_order,               cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_BEST,                   grid_best,                cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_BEST_UNDECIDED,         grid_best_undecided,      cloud_pairs,        CAROMI_NO_STACK, "") \
    X(GRID_PARTNER,                grid_partner,             cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_TOUCH,                  grid_touch,               cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_PARTNERS,               grid_partners,            cloud_rows,         CAROMI_NO_STACK, "") \
    X(GRID_COLUMNS,                grid_columns,             cloud_columns,      CAROMI_NO_STACK, "") \
    X(GRID_GATHER_PAIRS,           grid_gather_pairs,        cloud_columns,      CAROMI_NO_STACK, "") \
    X(GRID_PUT_DEPTH,              grid_put_depth,           cloud_columns,      CAROMI_NO_STACK, "") \
    X(GRID_CHECK_BEFORE,           grid_check_before,        cloud_previous,     CAROMI_NO_STACK, "") \
    X(GRID_FIND_BEFORE,            grid_find_before,         cloud_previous,     CAROMI_NO_STACK, "") \
    X(GRID_PREVIOUS,               grid_previous,            cloud_previous,     CAROMI_NO_STACK, "") \
    X(GRID_COUNT_IMAGES,           grid_count,               cloud_pairs,        CAROMI_NO_STACK, " -DGRID_OF_IMAGES") \
    X(GRID_BEST_IMAGES,            grid_best,                cloud_pairs,        CAROMI_NO_STACK, " -DGRID_OF_IMAGES") \
    X(GRID_STORE_IMAGES,           grid_store,               cloud_pairs,        CAROMI_NO_STACK, " -DGRID_OF_IMAGES") \
    X(ORDER_MEASURE,               grid_measure,             cloud_sort,         CAROMI_NO_STACK, " -DGRID_BY_REACH") \
    X(ORDER_SAMPLE,                order_sample,             cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_KEYS,                  order_keys,               cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_COUNT,                 order_count,              cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_SCATTER,               order_scatter,            cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_HEADS,                 order_heads,              cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_ROWS,                  order_rows,               cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_CELLS,                 order_cells,              cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_SHARED,                order_shared,             cloud_order,        CAROMI_NO_STACK, "") \
    X(ORDER_CROWDS,                order_crowds,             cloud_order,        CAROMI_NO_STACK, "") \
    X(REFIT_MOVE,                  refit_move,               refit,              CAROMI_NO_STACK, "") \
    X(REFIT_MEASURE,               refit_measure,            refit,              CAROMI_NO_STACK, "") \
    X(REFIT_FRAME,                 refit_frame,              refit,              CAROMI_NO_STACK, "") \
    X(REFIT_LEAVES,                refit_leaves,             refit,              CAROMI_NO_STACK, "") \
    X(REFIT_NODES,                 refit_nodes,              refit,              CAROMI_NO_STACK, "") \
    X(REFIT_END,                   refit_end,                refit,              CAROMI_NO_STACK, "") \
    X(REFIT_SPACE_BEGIN,           refit_space_begin,        refit_space,        CAROMI_NO_STACK, "") \
    X(REFIT_SPACE_COUNT,           refit_space_count,        refit_space,        CAROMI_NO_STACK, "") \
    X(REFIT_SPACE_MARK,            refit_space_mark,         refit_space,        CAROMI_NO_STACK, "") \
    X(REFIT_SPACE_ROW,             refit_space_row,          refit_space,        CAROMI_NO_STACK, "") \
    X(REFIT_SPACE_SPREAD,          refit_space_spread,       refit_space,        CAROMI_NO_STACK, "") \
    X(REFIT_CORNERS,               refit_corners,            refit_contacts,     CAROMI_NO_STACK, "") \
    X(REFIT_FACES,                 refit_faces,              refit_contacts,     CAROMI_NO_STACK, "") \
    X(REFIT_CONES,                 refit_cones,              refit_contacts,     CAROMI_NO_STACK, "") \
    X(REFIT_JOIN,                  refit_join,               refit_contacts,     CAROMI_NO_STACK, "") \
    X(REFIT_COUNT,                 refit_count,              refit_contacts,     CAROMI_NO_STACK, "") \
    X(REFIT_DROP,                  refit_drop,               refit_contacts,     CAROMI_NO_STACK, "") \
    X(REFIT_OPPOSITES,             refit_opposites,          refit_contacts,     CAROMI_NO_STACK, "") \
    X(ROWS_CHECK,                  rows_check,               mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_FIRST,                  rows_first,               mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_DECIDE_FIRST,           rows_decide_first,        mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_OFFSETS,                rows_offsets,             mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_SLOTS,                  rows_slots,               mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_AGAIN,                  rows_again,               mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_KEYS,                   rows_keys,                mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_DECIDE,                 rows_decide,              mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_MARKED,                 rows_marked,              mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_ADOPT,                  rows_adopt,               mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_GIVE,                   rows_give,                mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_FIRST_KEYS,             rows_first_keys,          mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_ORDER,                  rows_order,               mesh_rows,          CAROMI_NO_STACK, "") \
    X(ROWS_POINTS,                 rows_points,              mesh_rows,          CAROMI_NO_STACK, "") \
    X(MATCH_CHECK,                 match_check,              contact_match,      CAROMI_NO_STACK, "") \
    X(MATCH_BEGIN,                 match_begin,              contact_match,      CAROMI_NO_STACK, "") \
    X(MATCH_PAIR,                  match_pair,               contact_match,      CAROMI_NO_STACK, "") \
    X(MATCH_GONE,                  match_gone,               contact_match,      CAROMI_NO_STACK, "") \
    X(MATCH_END,                   match_end,                contact_match,      CAROMI_NO_STACK, "") \
    X(BUNDLE_BEGIN,                bundle_begin,             bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_LIST,                 bundle_list,              bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_LIMIT,                bundle_limit,             bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_HITS,                 bundle_hits,              bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_LEFT,                 bundle_left,              bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_RAISE,                bundle_raise,             bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_LOWER,                bundle_lower,             bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_STORE,                bundle_store,             bundle,             CAROMI_NO_STACK, "") \
    X(BUNDLE_ANSWER,               bundle_answer,            bundle,             CAROMI_NO_STACK, "") \
    X(RESIDENT_GATHER,             resident_gather,          resident,           CAROMI_NO_STACK, "") \
    X(RESIDENT_SCATTER,            resident_scatter,         resident,           CAROMI_NO_STACK, "") \
    X(RESIDENT_CHECK,              resident_check,           resident,           CAROMI_NO_STACK, "") \
    X(RESIDENT_NOTE,               resident_note,            resident,           CAROMI_NO_STACK, "") \
    X(BLOCK_SPLIT,                 block_split,              block,              CAROMI_NO_STACK, "") \
    X(BLOCK_JOIN,                  block_join,               block,              CAROMI_NO_STACK, "")
/* clang-format on */

/* Programs of pair kernels have the numbers of caromi_pair_kernel; those of CAROMI_PROGRAMS follow. */
enum {
    CAROMI_PROGRAM_LAST_PAIR = CAROMI_PAIR_KERNEL_COUNT - 1,
#define X(program, kernel, root, stack, options) CAROMI_PROGRAM_##program,
    CAROMI_PROGRAMS(X)
#undef X
        CAROMI_PROGRAM_COUNT
};

/* Programs of clouds that a GPU sorts by itself, those that it needs besides in motion, and those of an order. */
enum {
    CAROMI_PROGRAM_GRID_FIRST = CAROMI_PROGRAM_GRID_CLEAR,
    CAROMI_PROGRAM_GRID_LAST = CAROMI_PROGRAM_GRID_STORE_IMAGES,
    CAROMI_PROGRAM_MOVING_FIRST = CAROMI_PROGRAM_MOVING_READ,
    CAROMI_PROGRAM_MOVING_LAST = CAROMI_PROGRAM_MOVING_BY_PARTNER,
    CAROMI_PROGRAM_ORDER_FIRST = CAROMI_PROGRAM_ORDER_MEASURE,
    CAROMI_PROGRAM_ORDER_LAST = CAROMI_PROGRAM_ORDER_CROWDS
};

/* Programs of bundles whose arrays stay on the device. */
enum {
    CAROMI_PROGRAM_BUNDLE_FIRST = CAROMI_PROGRAM_BUNDLE_BEGIN,
    CAROMI_PROGRAM_BUNDLE_LAST = CAROMI_PROGRAM_BUNDLE_ANSWER
};

/* Programs of refits on a device, and those that contacts need afterwards. */
enum {
    CAROMI_PROGRAM_REFIT_FIRST = CAROMI_PROGRAM_REFIT_MOVE,
    CAROMI_PROGRAM_REFIT_LAST = CAROMI_PROGRAM_REFIT_SPACE_SPREAD,
    CAROMI_PROGRAM_REFIT_CONTACTS_FIRST = CAROMI_PROGRAM_REFIT_CORNERS,
    CAROMI_PROGRAM_REFIT_CONTACTS_LAST = CAROMI_PROGRAM_REFIT_OPPOSITES
};

/* Entries of the traversal stack with one lane, unless a mesh needs MESH_STACK. A tree with 16 children per node needs
 * 15 entries for each level; 10^7 triangles have 6 or 7 levels. */
enum { CAROMI_STACK_SHORT = 128 };

/* The program of a search whose first row is `search`. */
static inline uint32_t caromi_search_program(uint32_t search, int exact, int options)
{
    return search + (exact ? 1 : 0) + (options ? 2 : 0);
}

const char *caromi_program_name(uint32_t program);
int caromi_program_needs_fp64(uint32_t program);
int caromi_program_has_stack(uint32_t program);
/* Whether the work-items of a group can share its queries. */
int caromi_program_has_teams(uint32_t program);
/* The strings of a program's text, in order; returns their number. program_text.c */
enum { CAROMI_PIECES_MAX = 256 };
uint32_t caromi_program_text(uint32_t program, const char *pieces[CAROMI_PIECES_MAX]);
/* How a device runs programs: lanes; work-items of a group that share queries, or 0; entries of a traversal stack. */
typedef struct caromi_program_shape {
    uint32_t lanes, items;
    int stack, correctly_rounded;
} caromi_program_shape;
/* A program's build options. */
void caromi_program_options(uint32_t program, const caromi_program_shape *shape, char *out, size_t size);
/* Further build options for a GPU on the platform of that name, each after a space. They change only the speed. */
#define CAROMI_AMD_PLATFORM "AMD Accelerated Parallel Processing"
const char *caromi_program_vendor_options(uint32_t program, const char *platform);
#endif
