/* SPDX-License-Identifier: MIT */
/* The height of a ball that comes down on a mesh. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const cli_option own_options[] = {
    {"ball", "R", "radius of the ball", BAKE_OWN(bake_read_radius)},
    BAKE_PLACES_COLUMNS,
    BAKE_WITH,
    BAKE_RUNS_LONG,
    BAKE_MESHES,
    CLI_SCENE(bake_request),
};
/* clang-format on */

const cli_command bake_drop_command = {
    .name = "bake drop",
    .summary = "how high a ball that comes down stands on a mesh, as a map",
    .synopsis =
        "carom bake drop --mesh M|--scene F --ball R --spacing H|--dims NX,NY [options] -o OUT\n"
        "carom bake drop --mesh M...|--meshes LIST --ball R --spacing H|--dims NX,NY --format F [options] -o DIR/",
    .details =
        "OUT ends in .npy or .nrrd (float32 [ny][nx]), or in .vti, .vtkhdf or .h5 (arrays height, triangle, feature, "
        "point). The ball comes down along\n"
        "-z over each column until it first touches the mesh. The height of its centre is rounded up to binary32, so "
        "it "
        "never cuts\n"
        "into the mesh; -inf where it meets nothing. The same answer in both modes. Lattice, partial file, --resume "
        "and\n"
        "--part are those of carom bake distance, with x and y alone.\n",
    BAKE_VOLUME_COMMAND(own_options),
};

/* Columns that are asked for at once with more arrays: so many, or a row, and then as many as take a while. Only
 * between two calls can a signal end the work. */
enum { COLUMNS_FIRST = 1 << 10, COLUMNS_MOST = 1 << 17 };
static const double call_seconds = 0.25;

/* The columns of a box in rows [first, end), as places. */
typedef struct bake_columns {
    float *x, *y;
    uint64_t count;
} bake_columns;

static void set_columns(const carom_lattice *box, uint64_t first, uint64_t end, bake_columns *to)
{
    to->count = 0;
    for (uint64_t j = first; j < end; j++)
        for (uint64_t i = 0; i < box->dims[0]; i++) {
            to->x[to->count] = carom_lattice_coordinate(box, 0, i);
            to->y[to->count++] = carom_lattice_coordinate(box, 1, j);
        }
}

static void *array_from(const bake_slab *to, int array, uint64_t node)
{
    char *const base = to->array[array];
    return base ? base + node * bake_arrays[array].size : NULL;
}

/* Asks for columns as places; node: the number of the first in the arrays. */
static carom_status ask_places(carom_mesh *mesh, const bake_question *q, const bake_columns *columns, uint64_t node,
                               const bake_slab *to, carom_stats *stats, carom_error *err)
{
    float *const point = array_from(to, BAKE_point, node);
    const carom_mesh_drop_at_desc desc = {
        .batch = {.size = sizeof desc, .count = columns->count, .accuracy = q->accuracy},
        .x = carom_scalars_of(columns->x),
        .y = carom_scalars_of(columns->y),
        .radius = q->plan->parameters.radius,
    };
    const carom_mesh_drop_at_result result = {.size = sizeof result,
                                              .height = array_from(to, BAKE_height, node),
                                              .triangle = array_from(to, BAKE_triangle, node),
                                              .point = point ? carom_xyz_out(point) : (carom_points_out){0},
                                              .feature = array_from(to, BAKE_feature, node)};
    return carom_mesh_drop_at(mesh, &desc, &result, stats, err);
}

/* The same rows as ask(), some at a time, with the arrays that only the drop at places has. */
static carom_status ask_more(carom_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats,
                             carom_error *err)
{
    const carom_batch rows = bake_batch_of(q, 0);
    const uint64_t width = q->box.dims[0], most = width < COLUMNS_MOST ? COLUMNS_MOST / width : 1;
    uint64_t step = width < COLUMNS_FIRST ? COLUMNS_FIRST / width : 1;
    bake_columns columns = {.x = cli_alloc(most * width, sizeof(float)), .y = cli_alloc(most * width, sizeof(float))};
    carom_status status = columns.x && columns.y ? CAROM_OK : CAROM_ERROR_OUT_OF_MEMORY;
    if (status != CAROM_OK)
        snprintf(err->message, sizeof err->message, "no memory for the places of %llu columns",
                 (unsigned long long)(most * width));
    for (uint64_t first = rows.begin, end; first < rows.count && status == CAROM_OK; first = end) {
        const double start = cli_seconds();
        end = rows.count - first < step ? rows.count : first + step;
        set_columns(&q->box, first, end, &columns);
        status = ask_places(mesh, q, &columns, (first - rows.begin) * width, to, stats, err);
        const double seconds = cli_seconds() - start;
        if (seconds < call_seconds && step <= most / 2)
            step *= 2;
        else if (seconds > 2 * call_seconds && step > 1)
            step /= 2;
        if (status == CAROM_OK && rows.progress.fn && rows.progress.fn(rows.progress.user, end, rows.count) != 0)
            status = CAROM_ERROR_CANCELLED;
    }
    free(columns.x);
    free(columns.y);
    return status;
}

static carom_status ask(carom_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats,
                        carom_error *err)
{
    if ((to->array[BAKE_triangle] || to->array[BAKE_feature] || to->array[BAKE_point]) && !q->only_checks &&
        !q->only_prepares)
        return ask_more(mesh, q, to, stats, err);
    const carom_mesh_drop_desc desc = {
        .batch = bake_batch_of(q, sizeof desc),
        .lattice = q->box,
        .radius = q->plan->parameters.radius,
    };
    const carom_mesh_drop_result result = {.size = sizeof result, .height = to->array[BAKE_height]};
    return carom_mesh_drop(mesh, &desc, &result, stats, err);
}

/* The reference judges an answer, and has none of its own. A contact is judged as a whole. */
static int refer(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const ref_mesh mesh = bake_reference_of(at);
    const ref_mesh_drop_case column = {at->p[0], at->p[1], at->plan->parameters.radius, exact->height};
    const ref_mesh_drop_touch touch = {
        exact->triangle, exact->feature, {exact->point[0], exact->point[1], exact->point[2]}};
    *truth = *exact;
    truth->wrong = ref_mesh_drop_at(&mesh, &column, &touch);
    return 1;
}

const bake_kind bake_kind_drop = {.name = "drop",
                                  .command = &bake_drop_command,
                                  .array = BAKE_height,
                                  .more = BAKE_MORE,
                                  .judged = 1u << BAKE_triangle | 1u << BAKE_feature,
                                  .radius = "ball",
                                  .items = {BAKE_ITEM_NUMBER("ball", radius)},
                                  BAKE_OF_COLUMNS,
                                  .ask = ask,
                                  .refer = refer};
