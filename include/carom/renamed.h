/* SPDX-License-Identifier: MIT */
/// Earlier names, for one version: macros, and members beside the new ones.
#ifndef CAROM_CAROM_RENAMED_H
#define CAROM_CAROM_RENAMED_H

/* A member that has two names: a union without a name, which C99 and C++11 know as an extension
 * alone. */
#if defined(__GNUC__)
#define CAROM_RENAMED __extension__ union
#else
#define CAROM_RENAMED union
#endif

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
