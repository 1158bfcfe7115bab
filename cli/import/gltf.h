/* SPDX-License-Identifier: MIT */
/* Between the parts of the glTF 2.0 reader: gltf.c knows containers, scenes and nodes, gltf_shape.c
 * meshes and primitives, gltf_data.c views and accessors, gltf_buffer.c buffers. Section numbers are
 * those of the glTF 2.0 specification (Khronos, 2021). */
#ifndef CAROM_CLI_IMPORT_GLTF_H
#define CAROM_CLI_IMPORT_GLTF_H

#include "place.h"
#include "reader.h"

#include <jansson.h>

/* Component types, as files number them. */
enum {
    GLTF_BYTE = 5120,
    GLTF_UNSIGNED_BYTE = 5121,
    GLTF_SHORT = 5122,
    GLTF_UNSIGNED_SHORT = 5123,
    GLTF_UNSIGNED_INT = 5125,
    GLTF_FLOAT = 5126
};

typedef struct gltf_sparse {
    uint64_t count;
    const unsigned char *indices, *values;
    int component; /* of the indices, which increase */
} gltf_sparse;

/* An accessor whose elements all lie within their buffers. */
typedef struct gltf_values {
    const unsigned char *data; /* NULL: zeros */
    uint64_t count, stride;
    int components, component, normalized;
    int present;      /* checked, and has data */
    int compressed;   /* has none of its own: a compression extension holds them */
    uint64_t largest; /* of indices */
    gltf_sparse sparse;
} gltf_values;

typedef struct gltf_buffer {
    unsigned char *owned; /* NULL: the GLB's own chunk */
    const unsigned char *data;
    uint64_t size;
} gltf_buffer;

typedef struct gltf {
    const char *path;
    json_t *root;
    const json_t *accessors, *views, *buffers;
    const unsigned char *chunk; /* the GLB's BIN chunk, or NULL */
    uint64_t chunk_size;
    gltf_buffer *loaded;  /* one per buffer, filled when first asked for */
    gltf_values *checked; /* one per accessor, likewise */
    int copies;           /* uncompressed copies of compressed data are read */
    int draco;            /* a primitive has no such copy */
    uint64_t memory, memory_max;
} gltf;

/* A thing of the file, for messages: its kind and number. */
typedef struct gltf_thing {
    const char *kind;
    uint64_t number;
    const json_t *json;
} gltf_thing;

/* Everything below returns an exit status and has explained anything but EXIT_DONE. */

/* `file: kind number: sentence`, with EXIT_USAGE. */
int gltf_refuse(const gltf *g, const gltf_thing *thing, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Member `name` as a whole number below `limit`; `absent` where there is no such member. */
int gltf_whole(const gltf *g, const gltf_thing *thing, const char *name, uint64_t limit, uint64_t absent,
               uint64_t *out);
/* Member `name` as an array, NULL where there is none. */
int gltf_list(const gltf *g, const gltf_thing *thing, const char *name, const json_t **out);
/* Member `name` of `thing` is an index of `array`: the object there, or out->json NULL where there is no such
 * member. */
int gltf_follow(const gltf *g, const gltf_thing *thing, const char *name, const json_t *array, const char *kind,
                gltf_thing *out);
/* The same of one value of a list that has this name. */
int gltf_follow_value(const gltf *g, const gltf_thing *thing, const char *name, const json_t *value,
                      const json_t *array, const char *kind, gltf_thing *out);
int gltf_has_extension(const json_t *object, const char *name);
/* Account for memory before it is allocated. */
int gltf_take_memory(gltf *g, uint64_t bytes);

int gltf_buffer_open(gltf *g, uint64_t number, const gltf_buffer **out);
/* Positions: VEC3 of floats, or of the integers of KHR_mesh_quantization. Indices: SCALAR of unsigned integers. */
int gltf_positions(gltf *g, const gltf_thing *accessor, const gltf_values **out);
int gltf_indices(gltf *g, const gltf_thing *accessor, const gltf_values **out);
/* Elements, i < count. */
void gltf_position(const gltf_values *values, uint64_t i, double out[3]);
uint64_t gltf_index(const gltf_values *values, uint64_t i);

void gltf_data_free(gltf *g);

/* ---- meshes (gltf_shape.c) ---- */

typedef struct gltf_primitive {
    const gltf_values *positions; /* NULL: the primitive has none */
    const gltf_values *indices;   /* NULL: 0, 1, 2, ... */
    const gltf_values **targets;  /* of morphing, as many as the mesh has; NULL where one moves no positions */
    int mode;
    uint64_t corners, triangles;
} gltf_primitive;

typedef struct gltf_mesh {
    gltf_thing thing;
    gltf_primitive *primitives; /* NULL before gltf_mesh_check */
    size_t count, target_count;
    uint64_t triangles, vertices; /* of one instance; vertices: at most */
    uint64_t reach;               /* above every vertex number of its accessors that is used */
} gltf_mesh;

/* How one node shows its mesh. */
typedef struct gltf_instance {
    const gltf_mesh *mesh;
    gltf_thing node;
    mesh_matrix matrix;
    int skinned;
} gltf_instance;

typedef struct gltf_build {
    const gltf *g;
    mesh_data *out;
    uint32_t *slots; /* vertex number in `out` + 1, by number in the accessor; up to `first` they are of other parts */
    double *weights; /* of the instance's targets */
    uint64_t first;
    const gltf_values *shared; /* the accessor that the slots are for */
    mesh_placed placed;
    uint64_t integers, morphed, without, left_over;
} gltf_build;

int gltf_mesh_check(gltf *g, gltf_mesh *mesh);
int gltf_instance_add(gltf_build *b, const gltf_instance *instance);
void gltf_mesh_free(gltf_mesh *mesh);

#endif
