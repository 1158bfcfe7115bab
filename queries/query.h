/* SPDX-License-Identifier: MIT */
/* The query registry. A row describes one query: its inputs, its answer, how the library is asked, what is true and,
 * of pairs, where cases come from. The command, `carom verify`, tests, benchmark and fuzz targets are made from rows.
 *
 * Rows know the public API and the reference; the library does not know them. Whether an answer is right is decided in
 * reference/, and by tests with numbers written by hand, so that a slip in a row is seen from outside. */
#ifndef CAROM_QUERIES_QUERY_H
#define CAROM_QUERIES_QUERY_H

#include "carom/carom.h"
#include "random.h"
#include "reference/mesh.h"
#include "reference/reference.h"

#include <stddef.h>
#include <stdint.h>

/* Every pair query, in the order of `carom verify`: its file is queries/pairs/NAME.c, its row query_NAME. ON_MESH and
 * ON_CLOUD: its command answers about meshes or clouds too, and stands in cli/query or cli/spheres. PAIRS_ONLY: its
 * command is made from the row.
 * Queries that are not listed here follow by their names: cmake/queries.cmake finds their files, and writes
 * QUERY_OTHER_PAIRS. */
#include "query_other_pairs.h"
#define QUERY_PAIRS(X)   \
    X(sweep, ON_MESH)    \
    X(overlap, ON_MESH)  \
    X(spheres, ON_CLOUD) \
    QUERY_OTHER_PAIRS(X)

enum {
#define QUERY_NUMBER(name, command) QUERY_##name,
    QUERY_PAIRS(QUERY_NUMBER)
#undef QUERY_NUMBER
        QUERY_PAIR_COUNT
};

/* Every query of a mesh and what tests call it, in the order of `carom verify`; then answers that are another form of
 * one of these, which tests ask for but `carom verify` does not judge again. The rows query_NAME are in queries/mesh.
 */
#define QUERY_MESHES(X)               \
    X(mesh_first, "first hits")       \
    X(mesh_all, "all hits")           \
    X(mesh_any, "any hit")            \
    X(mesh_overlaps, "overlaps")      \
    X(mesh_any_still, "any overlap")  \
    X(mesh_closest, "closest points") \
    X(mesh_contacts, "contacts")
#define QUERY_MESH_FORMS(X) X(mesh_compact, "first hits as a list")

enum {
#define QUERY_NUMBER(name, title) QUERY_##name,
    QUERY_MESHES(QUERY_NUMBER) QUERY_MESH_FORMS(QUERY_NUMBER)
#undef QUERY_NUMBER
        QUERY_MESH_COUNT,
#define QUERY_ONE(name, title) +1
    QUERY_MESH_JUDGED = QUERY_MESHES(QUERY_ONE)
#undef QUERY_ONE
};

enum {
    QUERY_INPUTS_MAX = 8,
    QUERY_COLUMNS_MAX = 24,
    QUERY_FIELDS_MAX = 16,
    QUERY_SELECTIONS_MAX = 3,
    QUERY_VECTORS_MAX = 6,
    QUERY_RADII_MAX = 2
};

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* The quantity that an input measures: positions and velocities are vectors; a radius, the end of a window, the largest
 * distance of an answer and one coordinate of a place are numbers. A mask of 32 bits is a column of uint32_t. */
typedef enum query_role {
    QUERY_POSITION,
    QUERY_VELOCITY,
    QUERY_RADIUS,
    QUERY_WINDOW,
    QUERY_REACH,
    QUERY_PLACE,
    QUERY_MASK
} query_role;

typedef struct query_input {
    const char *name; /* as the library's messages call it */
    const char *columns[3];
    query_role role;
    int second;   /* belongs to the triangle or the second sphere, which the second index of a pair chooses */
    int optional; /* may be left out, which means zero, no end, any distance or all bits; such inputs stand last */
} query_input;

/* Where the library reads a batch: vectors and numbers, each in the order of the row's inputs. */
typedef struct query_inputs {
    carom_points points[QUERY_VECTORS_MAX];
    carom_scalars scalars[QUERY_RADII_MAX];
    carom_pair_indices indices; /* of pairs */
    const uint32_t *mask;       /* of spheres and a mesh, as what follows; side by side, NULL: all bits */
    carom_uints select;         /* and the elements that it selects from */
    uint64_t elements;
    uint8_t cull_back;
    carom_start start;
    int ends;                   /* the second vector is where the centre is at time 1, in place of a velocity */
    float margin, merge_within; /* of contacts */
    float ball;                 /* radius of the ball that comes down */
    const double *flat;         /* the same */
    carom_sign sign;            /* of closest points and overlaps */
    uint8_t allow_open;
    uint32_t bundle; /* of any hit, any overlap and closest points */
    carom_progress progress;
    uint8_t prepare;
} query_inputs;

/* ---- answers ----------------------------------------------------------------------------------------------------- */

typedef enum query_kind {
    QUERY_STATE,      /* a byte: carom_state */
    QUERY_FEATURE,    /* a byte: carom_feature */
    QUERY_BITS,       /* a byte; CAROM_OVERLAP_INVALID for an invalid query */
    QUERY_TIME,       /* a float that is always there */
    QUERY_COORDINATE, /* a float that is there if the feature in field `feature` is */
    QUERY_HEIGHT,     /* a float that is there unless it is +inf and the triangle in field `feature` is -1 */
    QUERY_TRIANGLE,   /* an int32_t; -1: none */
    QUERY_PATCH,      /* a uint32_t */
    QUERY_COUNT,      /* a uint64_t; QUERY_NO_COUNT: none */
    QUERY_NUMBER      /* an int64_t */
} query_kind;

#define QUERY_NO_COUNT UINT64_MAX

typedef struct query_field {
    const char *name;
    query_kind kind;
    int feature;
} query_field;

typedef union query_value {
    float number;
    uint8_t byte;
} query_value;

/* An amount of output that is asked for at once. */
typedef struct query_selection {
    const char *name; /* in the results of the benchmark */
    uint32_t fields;
    int divisions, roots; /* per pair, in fast mode */
    int has_kernel;       /* no other selection runs the same code */
} query_selection;

/* One call of the library. */
typedef struct query_call {
    uint64_t count;
    carom_accuracy accuracy;
    const query_inputs *in;
    void *const *out;     /* [field_count] an array, or NULL: not asked for */
    int32_t *instance;    /* of a scene: of each triangle; or NULL */
    int64_t *query;       /* of closest points: whose answer each bundle has; or NULL */
    carom_hit_list *list; /* of an answer that is a list: size, capacity and offsets; gets the totals */
} query_call;

/* What the reference says: its own answer, for the judge, and what any user of the registry understands. */
typedef struct query_truth {
    union {
        ref_sweep_answer sweep;
        ref_overlap_answer overlap;
        ref_spheres_answer spheres;
    } reference;
    query_value value[QUERY_FIELDS_MAX];
    uint32_t fields, times;        /* those of `value` and of `near` that hold something */
    double near[QUERY_FIELDS_MAX]; /* the nearest binary64 to a time, if there is contact */
    double speed;                  /* of one against the other; 0 in a query without motion */
} query_truth;

/* ---- queries of a mesh ------------------------------------------------------------------------------------------- */

/* An instance of a scene, of which a query_sphere's mesh has the triangles [first, end) as they are at time 0. */
typedef struct query_instance {
    uint32_t first, end;
    float velocity[3];
} query_instance;

/* A sphere and its mesh, as the reference wants them. */
typedef struct query_sphere {
    ref_mesh mesh;
    const query_instance *instances; /* they have velocities in sweeps; NULL: the mesh rests */
    size_t instance_count;
    ref_sweep_case sphere; /* its triangle is left alone */
    float t_max, max_distance;
    ref_mesh_options options;
} query_sphere;

/* The answer to it: record `at` of the arrays, or, of a list, as many as are counted. */
typedef struct query_records {
    void *const *out;
    uint64_t at, count;
    int stored, is_full; /* of a list: the records are there; or the list had no room for them */
} query_records;

typedef struct query_verdict {
    int known;         /* 0: the reference has no answer */
    const char *wrong; /* NULL: all is right */
    char truth[200];   /* words for the message */
} query_verdict;

/* A word of --hits, and what the help says of it. */
typedef struct query_word {
    const char *word, *help;
} query_word;

/* What a row about a mesh has in place of the functions of pairs. */
typedef struct query_of_mesh {
    const char *command;    /* NULL: no command asks for it */
    query_word hits, count; /* count: of a list, the word for the number of records alone; may be absent */
    int is_default;         /* asked for without --hits */
    int is_list;            /* a query has any number of records, and their first field is the query */
    carom_status (*ask)(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err);
    /* An exact answer against the reference. */
    void (*judge)(const query_sphere *sphere, const query_records *answer, query_verdict *verdict);
} query_of_mesh;

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct query_type {
    const char *name, *summary; /* summary: a line of `carom --help`, if a command is made from the row */
    query_input inputs[QUERY_INPUTS_MAX];
    query_field fields[QUERY_FIELDS_MAX]; /* of pairs, the first is the decision, a byte */
    uint8_t invalid;                      /* the decision about an invalid query */
    const char *header;                   /* fields in the order of the command's output, if that is another */
    query_selection selections[QUERY_SELECTIONS_MAX];
    carom_status (*ask)(carom_context *context, const query_call *call, carom_stats *stats, carom_error *err);
    /* A case of a family of the reference, and one of the quick generator, as a row of columns. */
    void (*family)(size_t family, uint64_t seed, uint64_t index, float *row);
    void (*random)(query_random *r, float *row);
    /* The true answer if the radius were larger by `margin`; a radius below zero touches nothing. */
    void (*truth)(const float *row, double margin, query_truth *out);
    /* The first thing in an exact answer that is wrong, NULL if all is right. */
    const char *(*judge)(const float *row, const query_truth *truth, const query_value *answer);
    /* What contradicts itself in an answer of any mode, NULL if nothing does; no function: nothing can. */
    const char *(*contradiction)(const query_value *answer);
    query_of_mesh mesh; /* without `ask`: a query of pairs */
} query_type;

extern const query_type *const query_pairs[QUERY_PAIR_COUNT], *const query_meshes[QUERY_MESH_COUNT];

#define QUERY_ROW(name, ...) extern const query_type query_##name;
QUERY_PAIRS(QUERY_ROW)
QUERY_MESHES(QUERY_ROW)
QUERY_MESH_FORMS(QUERY_ROW)
#undef QUERY_ROW
/* Closest points with a field more, the gradient: of the command's --gradient. Devices leave it to the CPU, so it is in
 * no list of rows. */
extern const query_type query_mesh_closest_gradient;

/* The row of pairs of that name, NULL if there is none. */
const query_type *query_named(const char *name);
/* Word i of --hits of a command, in the order of its help: what is asked for without --hits stands first. NULL: there
 * are no more. *q is its row. */
const query_word *query_word_of(const char *command, int i, const query_type **q);

int query_input_count(const query_type *q);
int query_input_width(const query_input *input); /* columns: 3 or 1 */
/* Columns in all, and without those of optional inputs. */
int query_column_count(const query_type *q);
int query_required_count(const query_type *q);
/* The input that a column belongs to, and the column's place in it. */
const query_input *query_input_of(const query_type *q, int column, int *component);
const char *query_column_name(const query_type *q, int column);
/* Whether the row has an input of that role. */
int query_has_role(const query_type *q, query_role role);
/* The first column of the i-th vector or radius among the inputs; -1: there are no more. */
int query_vector_column(const query_type *q, int i);
int query_radius_column(const query_type *q, int i);
/* Columns of floats, from row `from` on, as the library reads them. A column that is NULL: the input is left out. */
query_inputs query_inputs_of(const query_type *q, float *const *column, uint64_t from);

int query_field_count(const query_type *q);
size_t query_field_size(const query_field *field);
/* The field of that name, which is there. */
int query_field_named(const query_type *q, const char *name, size_t length);
/* Field i of the output of the command. */
int query_field_in_output(const query_type *q, int i);
uint32_t query_all_fields(const query_type *q);
int query_selection_count(const query_type *q);

/* Row i of columns, and answer i of arrays. */
void query_load_row(const query_type *q, float *const *column, uint64_t i, float *row);
void query_load_answer(const query_type *q, void *const *array, uint64_t i, query_value *answer);
/* The largest magnitude among positions and radii. */
double query_largest(const query_type *q, const float *row);

/* The case of the reference that a row of sweep is. */
void query_sweep_case(const float *row, ref_sweep_case *out);

/* For rows: three columns side by side, and three arrays from `field` on. */
void query_store_vector(float *row, int column, const float v[3]);
void query_load_vector(const float *row, int column, float v[3]);
carom_points_out query_points_out(void *const *out, int field);

#endif
