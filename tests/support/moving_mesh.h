/* SPDX-License-Identifier: MIT */
/* A mesh whose vertices move in a buffer of a device, beside the same mesh on the CPU. */
#ifndef CAROM_TESTS_SUPPORT_MOVING_MESH_H
#define CAROM_TESTS_SUPPORT_MOVING_MESH_H

#include "cl_shim.h"
#include "scenes.h"

/* The most bytes that cross for a refit on a device. */
enum { CROSSES = 64, SEED = 71 };

/* How the vertices lie in the buffer. */
typedef enum layout { TOGETHER, IN_COLUMNS, WITH_GAPS, UNALIGNED, LAYOUTS } layout;

typedef struct moving {
    carom_context *context, *cpu;
    carom_mesh *mesh, *expected; /* on the device and on the CPU */
    carom_buffer *buffer;
    scene s;
    size_t bytes;
} moving;

/* Make a mesh on a device, and end it. They take the scene. `end` leaves the count of OpenCL objects to the caller. */
moving start_as(scene s, carom_backend backend, uint32_t lanes);
moving start(scene s);
void end(moving *m);
void finish(moving *m);

/* Writes the scene's vertices to the buffer. */
carom_points send(const moving *m, layout how);
void move_expected(const moving *m, carom_mesh_follow how);
/* Moves both meshes to the scene's vertices. Returns the number of bytes that crossed for the one on the device. */
size_t move_both(const moving *m, layout where, carom_mesh_follow how);

void expect_same_info(const moving *m);
/* The arrays on the device, if it has refitted the mesh, and then those of the host. */
void expect_same_bytes(const moving *m, const char *what);
void expect_same_hits(const moving *m, const swept_spheres *b, carom_accuracy accuracy, const char *what);

/* Moves from the shape of `from`: shaken, squeezed to a plane, arbitrary bits, huge, tiny, zeros, one vertex far off.
 */
enum { MOVES = 9 };
void move_scene(scene *s, const scene *from, uint64_t seed, int kind);
#endif
