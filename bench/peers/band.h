/* SPDX-License-Identifier: MIT */
/* Narrow bands of OpenVDB, for carom_band_bench (cli/band). */
#ifndef CAROM_BENCH_PEERS_BAND_H
#define CAROM_BENCH_PEERS_BAND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mesh and the nodes around it: node (i, j, k) is at origin + spacing (i, j, k). The arrays outlive the state. */
typedef struct band_task {
    const float *vertices;
    const uint32_t *indices;
    size_t vertex_count, triangle_count;
    double origin[3], spacing;
    float half_width; /* of the band, in spacings */
} band_task;

extern const char *const openvdb_band_version;
void *openvdb_band_open(const band_task *task); /* points and triangles as OpenVDB has them; one thread; NULL: failed */
void openvdb_band_run(void *state);             /* openvdb::tools::meshToLevelSet */
/* 1 if the node is in the band that it made, with its distance. */
int openvdb_band_value(void *state, const int node[3], float *distance);
void openvdb_band_close(void *state);

#ifdef __cplusplus
}
#endif
#endif
