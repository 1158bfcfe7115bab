/* SPDX-License-Identifier: MIT */
/* Every call with a batch: CALL(name without carom_, subject, descriptor, result). CALL_WITH_HITS is a call with one
 * more argument, of type carom_hits, before the result. The file that includes this one defines both. */
#define PAIR_CALL(query, kernel, INPUTS, OUTPUTS) \
    CALL(query##_pairs, carom_context, carom_##query##_pairs_desc, const carom_##query##_result)
CALL(sweep_pairs, carom_context, carom_sweep_pairs_desc, const carom_sweep_result)
PAIR_QUERIES(PAIR_CALL)
#undef PAIR_CALL
CALL(mesh_sweep_first, carom_mesh, carom_mesh_sweep_desc, const carom_mesh_hit_result)
CALL_WITH_HITS(mesh_sweep_list, carom_mesh, carom_mesh_sweep_desc, const carom_hit_list)
CALL(mesh_sweep_any, carom_mesh, carom_mesh_sweep_desc, const carom_any_result)
CALL(mesh_overlap_list, carom_mesh, carom_mesh_overlap_desc, const carom_hit_list)
CALL(mesh_overlap_any, carom_mesh, carom_mesh_overlap_desc, const carom_any_result)
CALL(mesh_closest, carom_mesh, carom_mesh_closest_desc, const carom_mesh_closest_result)
CALL(mesh_contacts, carom_mesh, carom_mesh_contacts_desc, const carom_contact_list)
CALL(mesh_distance, carom_mesh, carom_mesh_distance_desc, const carom_mesh_distance_result)
CALL(mesh_clearance, carom_mesh, carom_mesh_clearance_desc, const carom_mesh_clearance_result)
CALL(mesh_drop, carom_mesh, carom_mesh_drop_desc, const carom_mesh_drop_result)
CALL(mesh_drop_at, carom_mesh, carom_mesh_drop_at_desc, const carom_mesh_drop_at_result)
CALL(cloud_list, carom_context, carom_cloud_desc, const carom_cloud_pair_list)
CALL(cloud_first, carom_context, carom_cloud_desc, const carom_cloud_partner_result)
CALL(cloud_any, carom_context, carom_cloud_desc, const carom_any_result)
CALL(cloud_count, carom_context, carom_cloud_desc, const carom_cloud_count_result)
CALL(cloud_order, carom_context, carom_cloud_desc, uint32_t)
#undef CALL
#undef CALL_WITH_HITS
