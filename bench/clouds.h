/* SPDX-License-Identifier: MIT */
/* Scenes of clouds. Every other answers the whole cloud, from the spheres as they come to its pairs, and is compared
 * with carom's pairs before it is timed. */
#ifndef CAROM_BENCH_CLOUDS_H
#define CAROM_BENCH_CLOUDS_H

#include "suite.h"

void clouds_run(suite *u, const suite_scene *scene);
/* Does a peer find as many pairs? If not, the reason. Counts in row->other the spheres and pairs that it answers
 * otherwise. */
int clouds_agree(const cloud_answers *ours, const peer_pairs *theirs, bench_row *row, char why[128]);
/* What all peers together take for a cloud, a guess. */
double clouds_peer_seconds(const cloud_task *task, double count);

#endif
