/* SPDX-License-Identifier: MIT */
/* carom drop: the height of a ball that comes down on a mesh over each of the given places, and where it touches. */
#include "command.h"
#include "cli/rows/rows.h"

typedef struct drop_options {
    cli_options common;
    const char *mesh, *points;
    float ball;
    int is_ball_given;
} drop_options;

static const cli_option own_options[] = {
    {"points", "FILE", "places x,y: CSV, .npy or .h5", cli_read_name, offsetof(drop_options, points), 0, CLI_READS},
    {"ball", "R", "radius of the ball", cli_read_length, offsetof(drop_options, ball),
     offsetof(drop_options, is_ball_given), CLI_NO_FILE},
    CLI_MESH(drop_options),
};

/* ---- the query --------------------------------------------------------------------------------------------------- */

enum { HEIGHT, TRIANGLE, POINT, FEATURE = POINT + 3 };

/* The ball is that of query_inputs. */
static carom_status ask(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    const query_inputs *in = call->in;
    const carom_mesh_drop_at_desc desc = {.batch = {.size = sizeof desc,
                                                    .count = call->count,
                                                    .accuracy = call->accuracy,
                                                    .progress = in->progress,
                                                    .prepare = in->prepare},
                                          .x = in->scalars[0],
                                          .y = in->scalars[1],
                                          .radius = in->ball};
    const carom_mesh_drop_at_result result = {.size = sizeof result,
                                              .height = call->out[HEIGHT],
                                              .triangle = call->out[TRIANGLE],
                                              .point = query_points_out(call->out, POINT),
                                              .feature = call->out[FEATURE]};
    return carom_mesh_drop_at(mesh, &desc, &result, stats, err);
}

static const query_type query = {.name = "drop",
                                 .inputs = {{.name = "x", .columns = {"x"}, .role = QUERY_PLACE},
                                            {.name = "y", .columns = {"y"}, .role = QUERY_PLACE}},
                                 .fields = {{"z", QUERY_HEIGHT, TRIANGLE},
                                            {"triangle", QUERY_TRIANGLE, 0},
                                            {"x_contact", QUERY_COORDINATE, FEATURE},
                                            {"y_contact", QUERY_COORDINATE, FEATURE},
                                            {"z_contact", QUERY_COORDINATE, FEATURE},
                                            {"feature", QUERY_FEATURE, 0}},
                                 .mesh = {.ask = ask}};

/* ---- the command ------------------------------------------------------------------------------------------------- */

static rows_query query_of(const drop_options *o)
{
    rows_query rows = rows_query_of(&query, 0);
    rows.ball = o->ball;
    return rows;
}

static int run(const void *options)
{
    const drop_options *o = options;
    if (!o->mesh || !o->points || !o->is_ball_given)
        return cli_refuse(EXIT_USAGE, "drop: --mesh FILE, --points FILE and --ball R must all be there");
    const rows_query rows = query_of(o);
    return rows_mesh(&rows, &o->common, o->mesh, o->points);
}

static int prepare(const void *options, uint32_t present)
{
    const drop_options *o = options;
    const rows_query rows = query_of(o);
    return rows_prepare_mesh(&rows, &o->common, present);
}

const cli_command drop_command = {
    .name = "drop",
    .summary = "how high a ball that comes down over given places stands on a mesh, and where it touches",
    .synopsis = "carom drop --mesh M --points P.csv --ball R [options]",
    .details =
        "P.csv has the columns x,y. The ball comes down along -z over each place until it first touches the mesh. "
        "Output, a\n"
        "row per input row, in order: z,triangle,x_contact,y_contact,z_contact,feature. z is the height of its "
        "centre,\n"
        "rounded up to binary32, so it never cuts into the mesh; triangle the lowest of those that it touches. Where "
        "it\n"
        "meets nothing: -inf,-1 and empty; a place that is not finite: empty,-1 and empty. The same answer in both "
        "modes.\n"
        "The CPU answers, whatever the backend.\n" CLI_ROWS_FILES "\n",
    .run = run,
    .size = sizeof(drop_options),
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .computes = 1,
    .output = &cli_output_rows,
    .prepare = prepare,
};
