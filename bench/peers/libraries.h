/* SPDX-License-Identifier: MIT */
/* Which libraries the module was built with: each brings a list, NULL beyond its last. */
#ifndef CAROM_BENCH_PEERS_LIBRARIES_H
#define CAROM_BENCH_PEERS_LIBRARIES_H

#include "bench/peers.h"

#ifdef __cplusplus
extern "C" {
#endif

const peer *embree_peer(size_t index);
const peer *embree_collide_peer(size_t index);
const peer *bullet_peer(size_t index);
const peer *fcl_peer(size_t index);
const peer *cgal_peer(size_t index);
const peer *nanoflann_peer(size_t index);

#ifdef __cplusplus
}
#endif
#endif
