/* SPDX-License-Identifier: MIT */
/* carom bake: volumes of a mesh, slab by slab, into files that survive an interruption. A slab is a box of neighbouring
 * nodes: some whole layers of the lattice or, where layers are large, a part of some. A layer is all nodes of one k; in
 * a map, which has one k, it is all nodes of one j, a row. */
#ifndef CAROM_CLI_BAKE_BAKE_H
#define CAROM_CLI_BAKE_BAKE_H

#include "cli/volume/volume.h"
#include "options.h"

#include <stddef.h>
#include <stdint.h>

/* Attributes of files that carom made: the fingerprint, and of a complete output the checksum of its answers. */
#define BAKE_ATTRIBUTE "user.carom.bake"
#define BAKE_SUM_ATTRIBUTE "user.carom.sum"
#define BAKE_NODES_MAX (UINT64_C(1) << 48)
enum { BAKE_NAME = 160, BAKE_TEXT = VOLUME_TEXT, EXIT_STOPPED = 75 };
_Static_assert((int)BAKE_ARRAYS <= (int)VOLUME_ARRAYS, "a volume holds all arrays");

extern const volume_array bake_arrays[BAKE_ARRAYS];

/* ---- what is baked: plan.c ----------------------------------------------------------------------------------------
 */

typedef struct bake_kind bake_kind;
struct bake_format;
struct bake_slab;
/* All that decides about the bytes of the output, and nothing else. */
typedef struct bake_plan {
    const bake_kind *kind;
    char version[BAKE_NAME]; /* of carom */
    carom_lattice lattice;
    bake_parameters parameters;
    uint32_t arrays;
    carom_accuracy accuracy;
    char mesh[BAKE_NAME]; /* hash and counts of its content */
    uint64_t part, parts;
    const struct bake_format *format;
    int bits;    /* of a number that stands for a distance, 8 or 16; 0: distances are binary32 */
    float range; /* then: the largest distance that has a number */
    /* What follows from the lattice. */
    uint64_t layer, depth; /* nodes of a layer, and layers, of the whole lattice */
    uint64_t box[3];       /* nodes of a slab along x, y and z; at the upper ends of the axes it may have fewer */
    uint64_t along[3];     /* slabs along each axis */
    uint64_t slabs;        /* of the whole lattice, x fastest */
    uint64_t begin, end;   /* slabs of this part */
} bake_plan;

/* Refuse options that place no lattice, and those of --bits, around any mesh. */
int bake_plan_is_placed(const bake_kind *kind, const bake_options *options);
/* Lattice and slabs from the options and the bounds of the mesh. Returns an exit status
 * with the message printed. */
int bake_plan_place(bake_plan *plan, const bake_options *options, const float lower[3], const float upper[3]);
/* Where part 1, ..., parts of so many things ends; that of part 0 is 0. */
uint64_t bake_share(uint64_t count, uint64_t part, uint64_t parts);
/* Slabs from lattice and part. */
void bake_plan_cut(bake_plan *plan);
/* The box of a slab, and the number of its nodes. */
uint64_t bake_plan_slab(const bake_plan *plan, uint64_t slab, carom_lattice *box);
uint64_t bake_plan_nodes(const bake_plan *plan, uint64_t slab);
/* Nodes of the largest slab; those of the slabs of this part before that one, and so of all before `end`. */
uint64_t bake_plan_most_nodes(const bake_plan *plan);
uint64_t bake_plan_nodes_before(const bake_plan *plan, uint64_t slab);
/* The slab of a node of the part, counted slab after slab; `*at` becomes its number in the slab. */
uint64_t bake_plan_find(const bake_plan *plan, uint64_t *at);
/* The number in the whole lattice of node `at` of a box. */
uint64_t bake_plan_node(const bake_plan *plan, const carom_lattice *box, uint64_t at);
/* Bytes of a node in all arrays: in the file, and in memory. */
size_t bake_plan_node_bytes(const bake_plan *plan);
size_t bake_plan_memory_bytes(const bake_plan *plan);

/* ---- what a volume holds: kinds.c, and a file of each kind --------------------------------------------------------
 */

struct bake_question;
struct bake_node;
struct bake_place;

/* An option that is an item of the fingerprint, too: a carom_sign by its word, any other a binary32. */
typedef struct bake_item {
    const char *name;
    int is_sign;
    size_t at; /* in bake_parameters */
} bake_item;
#define BAKE_ITEM_SIGN                             \
    {                                              \
        "sign", 1, offsetof(bake_parameters, sign) \
    }
#define BAKE_ITEM_NUMBER(name, member)             \
    {                                              \
        name, 0, offsetof(bake_parameters, member) \
    }
enum { BAKE_ITEMS = 2 };

/* A row for each command that bakes a volume. */
struct bake_kind {
    const char *name; /* in the fingerprint */
    const cli_command *command;
    int array;                   /* a bake_array that every output has */
    uint32_t more;               /* those that --with adds, a bit for each */
    uint32_t judged;             /* of them, those that the reference has, too */
    const char *radius;          /* the option that must give one; NULL: none */
    bake_item items[BAKE_ITEMS]; /* up to one without a name */
    /* How the lattice is cut: BAKE_OF_NODES or BAKE_OF_COLUMNS. */
    int axes;               /* 2: a map */
    const char *unit, *one; /* a node, in the plural and in the singular */
    uint64_t edge;          /* of a slab, at least, where the lattice has it */
    uint64_t most;          /* nodes of a slab */
    uint64_t visits;        /* of them times triangles of the mesh, at most, */
    uint64_t least;         /* but so many nodes in any mesh */
    /* The library's call for a box (bake_batch_of in check.h). */
    carom_status (*ask)(carom_mesh *mesh, const struct bake_question *question, const struct bake_slab *to,
                        carom_stats *stats, carom_error *err);
    /* Of one node, for carom bake check (check.h). Is an answer as near the exact one as it must be? NULL: it has the
     * same bits. */
    int (*is_near)(const struct bake_place *at, const struct bake_node *given, const struct bake_node *exact);
    /* The reference's answer; where it only judges the exact one, what is wrong with that. Returns 0 if it has none. */
    int (*refer)(const struct bake_place *at, const struct bake_node *exact, struct bake_node *truth);
};

/* Edges of slabs are those of the library's cubes of nodes, and of two of its tiles of columns. A node takes up to 7 us
 * in a mesh of a million triangles, so the most take 4 s. It takes 28 us in one of ten million, so there a slab has
 * fewer. A column takes up to 1 us and 6 us there. The rows of a slab are pieces of the file, which cost less if they
 * are long. */
#define BAKE_OF_NODES \
    .axes = 3, .unit = "nodes", .one = "node", .edge = 8, .most = 1 << 19, .visits = UINT64_C(1) << 39, .least = 1 << 12
#define BAKE_OF_COLUMNS                                                                                       \
    .axes = 2, .unit = "columns", .one = "column", .edge = 512, .most = 1 << 21, .visits = UINT64_C(1) << 41, \
    .least = 1 << 19

/* bake_KIND_command is this with name, summary, synopsis and details. */
#define BAKE_VOLUME_COMMAND(own_options)                                                                              \
    .run = run_bake_volume, .prepare = prepare_bake_volume, .size = sizeof(bake_request), .defaults = &bake_defaults, \
    .options = own_options, .option_count = CLI_COUNT(own_options), .computes = 1, .output = &bake_output_option

enum {
#define BAKE_KIND(name) BAKE_KIND_##name,
    BAKE_EACH_KIND(BAKE_KIND) BAKE_KINDS
#undef BAKE_KIND
};
extern const bake_kind *const bake_kinds[BAKE_KINDS];
#define BAKE_KIND(name) extern const bake_kind bake_kind_##name;
BAKE_EACH_KIND(BAKE_KIND)
#undef BAKE_KIND
/* NULL: there is none of that name. */
const bake_kind *bake_kind_named(const char *name);
/* The names of all, each behind `before`, with these gaps between them. Returns their length, below `size`. */
size_t bake_kind_words(const char *before, const char *between, const char *before_last, char *text, size_t size);

/* ---- the plan as text: fingerprint.c ------------------------------------------------------------------------------
 */

/* A line for each item, its name and its value. Equal plans have equal texts. */
void bake_fingerprint(const bake_plan *plan, char text[BAKE_TEXT]);
/* Read such a text. Returns 0 if it is none that this version can have written. */
int bake_fingerprint_read(const char *text, bake_plan *plan);
/* The items that differ, as `spacing 0.5 instead of 0.25, ...`. Returns their number; `but` (may be NULL) names one
 * that may. */
int bake_fingerprint_compare(const char *there, const char *here, const char *but, char *words, size_t size);
/* Append to such a text, which has room for all items at their longest. */
__attribute__((format(printf, 2, 3))) void bake_text_add(char *text, const char *format, ...);
/* The value of the item that `*at` begins with, if it has that name; `*at` goes on to the next item. */
int bake_text_take(const char **at, const char *name, char value[BAKE_NAME]);
/* Which of the words it is, -1 if none. */
int bake_word_of(const char *value, const char *const *words, int count);
/* The plan as options on one line. */
void bake_describe(const bake_plan *plan, char line[BAKE_TEXT]);

/* ---- distances in 8 or 16 bits: store.c ---------------------------------------------------------------------------
 */

/* An array as the file has it. */
const volume_array *bake_stored(const bake_plan *plan, int a);
/* Refuse a band that has no scale. */
int bake_store_check(const bake_options *options);
/* The range, from the band, the lattice and the bounds of the mesh. Returns an exit status with the message printed. */
int bake_store_range(bake_plan *plan, const float lower[3], const float upper[3]);
/* The distance of 1; 0 where distances are binary32. */
double bake_store_scale(const bake_plan *plan);
/* Nodes [first, end) of a slab in memory, from binary32 to what the file has, which takes no more bytes. */
void bake_store(const bake_plan *plan, const struct bake_slab *slab, uint64_t first, uint64_t end);
/* The distance that the file has for this one; and for the bytes of one node. */
float bake_store_round(const bake_plan *plan, float distance);
float bake_store_value(const bake_plan *plan, const void *bytes);

/* ---- checksums: checksum.c ----------------------------------------------------------------------------------------
 */

/* XXH64 of the bytes, as its specification has it. */
uint64_t bake_checksum(const void *data, size_t size, uint64_t seed);
/* The checksum of several parts, from that of all before and that of the next one. */
uint64_t bake_checksum_add(uint64_t sum, uint64_t next);

/* A random number below `limit`; `state` begins with a seed. */
uint64_t bake_draw(uint64_t *state, uint64_t limit);

/* ---- where bytes go: format.c and a file of each format
 * ---------------------------------------------------------------
 */

typedef volume_layout bake_layout;

typedef struct bake_format {
    const char *name; /* of the suffix, after the dot */
    const volume_format *volume;
    int (*lay_out)(const bake_plan *plan, const char *shown, bake_layout *out); /* without such a format */
} bake_format;

extern const bake_format bake_format_npy, bake_format_nrrd, bake_format_vti, bake_format_vtkhdf, bake_format_h5,
    bake_format_part;

/* The format that the suffix names, NULL with the message printed. */
const bake_format *bake_format_of(const char *path);
const bake_format *bake_format_named(const char *name);
/* The formats that a suffix names, from 0; NULL beyond the last. */
const bake_format *bake_format_at(int i);
/* Refuse a plan whose arrays the format cannot hold. Returns an exit status with the message printed. */
int bake_format_check(const bake_format *format, const bake_plan *plan, const char *shown);
/* Returns an exit status with the message printed; volume_layout_free in any case. shown: the output, for messages. */
int bake_lay_out(const bake_plan *plan, const char *shown, bake_layout *out);
/* Of node `at` of a slab in array `a`. */
uint64_t bake_layout_place(const bake_layout *layout, const bake_plan *plan, int a, uint64_t slab, uint64_t at);
/* Little-endian. */
void bake_put64(unsigned char *to, uint64_t value);
uint64_t bake_get64(const unsigned char *from);

/* The arrays of a slab in memory; `array[a]` is NULL where the plan has none. */
typedef struct bake_slab {
    void *array[BAKE_ARRAYS];
} bake_slab;

/* Room for the largest slab. Returns 0 if there is no memory. */
int bake_slab_alloc(const bake_plan *plan, bake_slab *out);
void bake_slab_free(bake_slab *slab);
/* Of all arrays of that slab. */
uint64_t bake_slab_checksum(const bake_plan *plan, uint64_t slab, const bake_slab *from);
/* Return 0, or an errno; a file that ends too early is EIO. */
int bake_slab_write(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, const bake_slab *from);
int bake_slab_read(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, const bake_slab *to);
/* The same of nodes [first, end) of a slab, or from its first on. */
uint64_t bake_nodes_checksum(const bake_plan *plan, uint64_t end, const bake_slab *from, uint64_t seed);
int bake_nodes_write(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, uint64_t first,
                     uint64_t end, const bake_slab *from);
int bake_nodes_read(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, uint64_t end,
                    const bake_slab *to);

/* ---- the sub-commands ---------------------------------------------------------------------------------------------
 */

/* `options`: a bake_request. Each returns an exit status. */
int run_bake_volume(const void *options); /* of the kind that has the command's name */
int run_bake_path(const void *options);
int run_bake_join(const void *options);
int run_bake_status(const void *options);
int run_bake_check(const void *options);

/* Functions that prepare these commands: see cli_command. */
int prepare_bake_volume(const void *options, uint32_t present);
int prepare_bake_path(const void *options, uint32_t present);
int prepare_bake_check(const void *options, uint32_t present);

#endif
