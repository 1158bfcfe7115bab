/* SPDX-License-Identifier: MIT */
#include "bake.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const bake_options bake_options_default = {
    .band = INFINITY, .arrays = 1u << BAKE_DISTANCE, .part = 1, .parts = 1, .max_memory = UINT64_MAX, .samples = 1000};

/* A binary64 that is finite, up to a comma or the end. Returns what follows it, NULL if there is none. */
static const char *read_double(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end == text || !isfinite(*out) ? NULL : end;
}

/* Whole numbers from 1 to 2^48. */
static const char *read_whole(const char *text, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *out = strtoull(text, &end, 10); /* UINT64_MAX if it is more */
    return *out < 1 || *out > BAKE_NODES_MAX ? NULL : end;
}

static int set_spacing(const char *value, cli_options *out)
{
    const char *end = read_double(value, &out->bake.spacing);
    if (!end || *end != '\0' || !(out->bake.spacing > 0.0))
        return cli_refuse(EXIT_USAGE, "--spacing: expected a finite number > 0, got '%s'", value);
    out->bake.given |= BAKE_GIVEN_SPACING;
    return -1;
}

/* As many as there are axes, separated by commas. Returns 0 if that is not what there is. */
static int read_origin(const char *at, int axes, cli_options *out)
{
    for (int k = 0; k < axes; k++) {
        at = read_double(at, &out->bake.origin[k]);
        if (!at || *at != (k < axes - 1 ? ',' : '\0'))
            return 0;
        at++;
    }
    out->bake.given |= BAKE_GIVEN_ORIGIN;
    return 1;
}

static int read_dims(const char *at, int axes, cli_options *out)
{
    for (int k = 0; k < axes; k++) {
        at = read_whole(at, &out->bake.dims[k]);
        if (!at || *at != (k < axes - 1 ? ',' : '\0'))
            return 0;
        at++;
    }
    out->bake.given |= BAKE_GIVEN_DIMS;
    return 1;
}

static int set_origin(const char *value, cli_options *out)
{
    if (!read_origin(value, 3, out))
        return cli_refuse(EXIT_USAGE, "--origin: expected three finite numbers X,Y,Z, got '%s'", value);
    return -1;
}

static int set_dims(const char *value, cli_options *out)
{
    if (!read_dims(value, 3, out))
        return cli_refuse(EXIT_USAGE, "--dims: expected three whole numbers NX,NY,NZ from 1 to 2^48, got '%s'", value);
    return -1;
}

static int set_map_origin(const char *value, cli_options *out)
{
    if (!read_origin(value, 2, out))
        return cli_refuse(EXIT_USAGE, "--origin: expected two finite numbers X,Y, got '%s'", value);
    return -1;
}

static int set_map_dims(const char *value, cli_options *out)
{
    if (!read_dims(value, 2, out))
        return cli_refuse(EXIT_USAGE, "--dims: expected two whole numbers NX,NY from 1 to 2^48, got '%s'", value);
    return -1;
}

static int set_margin(const char *value, cli_options *out)
{
    const char *end = read_double(value, &out->bake.margin);
    if (!end || *end != '\0' || !(out->bake.margin >= 0.0))
        return cli_refuse(EXIT_USAGE, "--margin: expected a finite number >= 0, got '%s'", value);
    out->bake.given |= BAKE_GIVEN_MARGIN;
    return -1;
}

static int set_sign(const char *value, cli_options *out)
{
    for (int i = 0; i < BAKE_SIGNS; i++)
        if (!strcmp(value, bake_sign_words[i])) {
            out->bake.sign = (carom_sign)i;
            return -1;
        }
    return cli_refuse(EXIT_USAGE, "--sign: expected none, parity or winding, got '%s'", value);
}

static int set_allow_open(const char *value, cli_options *out)
{
    (void)value;
    out->bake.allow_open = 1;
    return -1;
}

static int set_band(const char *value, cli_options *out)
{
    char *end;
    const float band = strtof(value, &end);
    if (end == value || *end != '\0' || !(band >= 0.0f))
        return cli_refuse(EXIT_USAGE, "--band: expected a number >= 0 or inf, got '%s'", value);
    out->bake.band = band == 0.0f ? 0.0f : band; /* -0 is 0 */
    return -1;
}

static int set_with(const char *value, cli_options *out)
{
    const char *at = value;
    for (;;) {
        const size_t length = strcspn(at, ",");
        int a = BAKE_TRIANGLE;
        while (a < BAKE_CLEARANCE &&
               (strlen(bake_arrays[a].name) != length || strncmp(at, bake_arrays[a].name, length)))
            a++;
        if (a == BAKE_CLEARANCE)
            return cli_refuse(EXIT_USAGE,
                              "--with: expected triangle, feature or point, or some of them separated by "
                              "commas, got '%s'",
                              value);
        out->bake.arrays |= 1u << a;
        at += length;
        if (*at++ == '\0')
            return -1;
    }
}

static int set_resume(const char *value, cli_options *out)
{
    (void)value;
    out->bake.resume = 1;
    return -1;
}

static int set_part(const char *value, cli_options *out)
{
    const char *at = read_whole(value, &out->bake.part);
    at = at && *at == '/' ? read_whole(at + 1, &out->bake.parts) : NULL;
    if (!at || *at != '\0' || out->bake.part > out->bake.parts)
        return cli_refuse(EXIT_USAGE, "--part: expected I/N with I from 1 to N, got '%s'", value);
    out->bake.is_part = 1;
    return -1;
}

static int set_max_memory(const char *value, cli_options *out)
{
    if (!cli_parse_count(value, 1, UINT64_MAX, &out->bake.max_memory))
        return cli_refuse(EXIT_USAGE, "--max-memory: expected a whole number of bytes, such as 2e9, got '%s'", value);
    return -1;
}

static int set_paths(const char *value, cli_options *out)
{
    if (*value == '\0')
        return cli_refuse(EXIT_USAGE, "--paths: expected a name, got ''");
    out->bake.paths = value;
    return -1;
}

static int read_radius(const char *name, const char *value, cli_options *out)
{
    char *end;
    const float radius = strtof(value, &end);
    if (end == value || *end != '\0' || !(radius >= 0.0f) || isinf(radius))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    out->bake.radius = radius == 0.0f ? 0.0f : radius; /* -0 is 0 */
    out->bake.given |= BAKE_GIVEN_RADIUS;
    return -1;
}

static int set_radius(const char *value, cli_options *out)
{
    return read_radius("radius", value, out);
}

static int set_ball(const char *value, cli_options *out)
{
    return read_radius("ball", value, out);
}

static int set_samples(const char *value, cli_options *out)
{
    if (!cli_parse_count(value, 1, BAKE_NODES_MAX, &out->bake.samples))
        return cli_refuse(EXIT_USAGE, "--samples: expected a whole number from 1 to 2^48, got '%s'", value);
    return -1;
}

/* Those that say what a file holds. */
/* clang-format off */
#define PLACES_NODES                                                                                                 \
    {"spacing", "H", "distance of neighbouring nodes", set_spacing},                                                 \
    {"origin", "X,Y,Z", "of node (0, 0, 0); default: the mesh's lower bounds less the margin", set_origin},          \
    {"dims", "NX,NY,NZ", "nodes along x, y and z", set_dims},                                                        \
    {"margin", "M", "around the bounds of the mesh (default two spacings)", set_margin}
#define DESCRIBES_FILE                                                                                               \
    PLACES_NODES,                                                                                                    \
    {"sign", "S", "none, parity or winding: minus inside (default none)", set_sign},                                 \
    {"band", "B", "nodes farther than B hold B with their sign, and nothing else", set_band}
#define RUNS_LONG                                                                                                    \
    {"resume", NULL, "go on with the partial file of an earlier run, if there is one", set_resume},                  \
    {"part", "I/N", "bake part I of N; carom bake join puts them together", set_part},                               \
    {"max-memory", "BYTES", "refuse to start if more is needed", set_max_memory}

static const cli_own_option distance_options[] = {
    DESCRIBES_FILE,
    {"allow-open", NULL, "take a sign also from a mesh that is not closed", set_allow_open},
    {"with", "LIST", "more arrays: some of triangle,feature,point", set_with},
    RUNS_LONG,
};

static const cli_own_option clearance_options[] = {
    PLACES_NODES,
    {"radius", "R", "of the sphere", set_radius},
    RUNS_LONG,
};

static const cli_own_option drop_options[] = {
    {"ball", "R", "radius of the ball", set_ball},
    {"spacing", "H", "distance of neighbouring columns", set_spacing},
    {"origin", "X,Y", "of column (0, 0); default: the mesh's lower bounds less the margin", set_map_origin},
    {"dims", "NX,NY", "columns along x and y", set_map_dims},
    {"margin", "M", "around the bounds of the mesh (default two spacings)", set_margin},
    RUNS_LONG,
};

static const cli_own_option check_options[] = {
    DESCRIBES_FILE,
    {"radius", "R", "of the sphere of a clearance", set_radius},
    {"ball", "R", "radius of the ball of a drop map", set_ball},
    {"paths", "FILE", "polylines of rows of paths", set_paths},
    {"samples", "N", "nodes to compute anew, such as 1e4 (default 1000)", set_samples},
};

static const cli_own_option path_options[] = {
    {"paths", "FILE", "polylines: CSV, .npy or H5MD (.h5)", set_paths},
    {"radius", "R", "of the sphere, if the file has no column radius", set_radius},
    {"resume", NULL, "go on with the partial file of an earlier run, if there is one", set_resume},
    {"part", "I/N", "bake part I of N; carom bake join puts them together", set_part},
    {"max-memory", "BYTES", "refuse to start if more is needed; chunks are as large as it allows", set_max_memory},
};
/* clang-format on */

enum {
    DISTANCE_OPTIONS = sizeof distance_options / sizeof distance_options[0],
    CLEARANCE_OPTIONS = sizeof clearance_options / sizeof clearance_options[0],
    DROP_OPTIONS = sizeof drop_options / sizeof drop_options[0],
    CHECK_OPTIONS = sizeof check_options / sizeof check_options[0]
};

const cli_own bake_distance_own = {distance_options, DISTANCE_OPTIONS, 0, 0, NULL};
const cli_own bake_clearance_own = {clearance_options, CLEARANCE_OPTIONS, 0, 0, NULL};
const cli_own bake_path_own = {path_options, sizeof path_options / sizeof path_options[0], 0, 0, NULL};
const cli_own bake_drop_own = {drop_options, DROP_OPTIONS, 0, 0, NULL};
const cli_own bake_join_own = {NULL, 0, 2, INT_MAX, "OUT and the parts"};
const cli_own bake_status_own = {NULL, 0, 1, 1, "OUT"};
const cli_own bake_check_own = {check_options, CHECK_OPTIONS, 1, 1, "OUT"};
