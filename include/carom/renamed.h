/* SPDX-License-Identifier: MIT */
/// Names of 0.1, as macros, for one version.
#ifndef CAROM_CAROM_RENAMED_H
#define CAROM_CAROM_RENAMED_H

#define carom_sphere_pairs carom_sphere_sweep_pairs
#define carom_sphere_pairs_desc carom_sphere_sweep_pairs_desc
#define carom_sphere_result carom_sphere_sweep_result
#define carom_spheres_any carom_cloud_any
#define carom_spheres_count carom_cloud_count
#define carom_spheres_desc carom_cloud_desc
#define carom_spheres_first carom_cloud_first
#define carom_spheres_list carom_cloud_list
#define carom_spheres_order carom_cloud_order
#define carom_sphere_count_result carom_cloud_count_result
#define carom_sphere_pair_list carom_cloud_pair_list
#define carom_sphere_pairs_before carom_cloud_pairs_before
#define carom_sphere_partner_result carom_cloud_partner_result
#endif
