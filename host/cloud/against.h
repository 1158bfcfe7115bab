/* SPDX-License-Identifier: MIT */
/* A cloud against another one: checks of the second cloud, and both as one. */
#ifndef CAROM_HOST_CLOUD_AGAINST_H
#define CAROM_HOST_CLOUD_AGAINST_H
#include "cloud.h"

/* Checks the second cloud's structure and views, if there is one, without reading an element. */
carom_status caromi_against_check(const carom_cloud_desc *desc, carom_error *err);
/* Lists its arrays, for the check of arrays. */
void caromi_against_list(caromi_arrays *arrays, const carom_cloud_desc *desc);
/* Checks the t_max of its spheres. */
carom_status caromi_against_check_limits(carom_context *context, const carom_cloud_against *against, carom_error *err);
/* Describes the second cloud's columns, where they are. */
caromi_cloud caromi_against_cloud(const carom_cloud_against *against);
/* Puts the spheres of both clouds into one: *cloud, which describes the first, gets columns in *memory, for
 * caromi_cached_free, in which the second's spheres follow. */
carom_status caromi_against_join(const carom_cloud_against *against, caromi_cloud *cloud, void **memory,
                                 carom_error *err);
#endif
