/* SPDX-License-Identifier: MIT */
/* Whether two edges run along each other: what joins triangles of a patch across a T-junction or a crack. */
#ifndef CAROM_HOST_MESH_EDGE_OVERLAP_H
#define CAROM_HOST_MESH_EDGE_OVERLAP_H

/* Whether the part of one edge that is within `distance` > 0 of the other is longer than 8 distances. Coordinates of
 * both ends are at most 2 in magnitude. */
int caromi_edges_overlap(const double one[2][3], const double other[2][3], double distance);

/* Whether the part of the first edge alone is longer than `least`: in double-double arithmetic, and in binary64. */
int caromi_edge_has_part(const double one[2][3], const double other[2][3], double distance, double least);
int caromi_edge_has_part_filter(const double one[2][3], const double other[2][3], double distance, double least);
#endif
