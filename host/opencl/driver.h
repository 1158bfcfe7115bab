/* SPDX-License-Identifier: MIT */
/* The functions behind the members of caromi_driver (host/core/device.h). */
#ifndef CAROM_HOST_OPENCL_DRIVER_H
#define CAROM_HOST_OPENCL_DRIVER_H
#include "host/core/device.h"

carom_status caromi_device_open(const carom_context *context, uint32_t place, const char *selector, int gpu_only,
                                caromi_device **out, carom_error *err);
carom_status caromi_device_find(const carom_context *context, const char *selector, uint32_t *index, carom_error *err);
carom_status caromi_device_check_values(caromi_device *device, const struct caromi_values *values, uint32_t count,
                                        uint64_t begin, uint64_t end, carom_error *err);
uint32_t caromi_shared_devices(const struct carom_opencl_desc *cl);
carom_status caromi_device_open_shared(carom_context *context, const struct carom_opencl_desc *cl, uint32_t place,
                                       caromi_device **out, carom_error *err);
carom_status caromi_shared_retain(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
carom_status caromi_shared_await(const carom_context *context, carom_error *err);
carom_status caromi_shared_enter(carom_context *context, carom_job *job, carom_error *err);
void caromi_shared_release(carom_context *context);
int caromi_enqueue_begin(carom_context *context, void *const *events, uint32_t count);
caromi_enqueued *caromi_enqueue_end(carom_context *context, carom_status status);
void *caromi_enqueued_event(const caromi_enqueued *call);
carom_status caromi_enqueued_wait(caromi_enqueued *call, double seconds, carom_error *err);
int caromi_enqueued_is_settled(caromi_enqueued *call);
void caromi_enqueued_release(caromi_enqueued *call);
carom_status caromi_enqueued_settle(const carom_context *context, carom_error *err);
int caromi_enqueued_in_flight(const carom_context *context);
void caromi_enqueued_finish(const carom_context *context);
int caromi_event_serves(const carom_context *context, void *event);
carom_status caromi_event_wait(void *event, double seconds, carom_error *err);
void caromi_event_release(const carom_context *context, void *event);
void caromi_device_close(caromi_device *device);
int caromi_opencl_is_inherited(void);
carom_status caromi_fail_inherited(carom_error *err);
void caromi_device_time(caromi_device *device, int timed);
void caromi_device_describe(const caromi_device *device, carom_device_info *out);
uint32_t caromi_device_place(const caromi_device *device);
uint32_t caromi_device_index(const caromi_device *device);
const char *caromi_device_name(const caromi_device *device);
int caromi_device_is_unified(const caromi_device *device);
carom_status caromi_device_memory_create(caromi_device *device, uint64_t bytes, caromi_device_memory **out,
                                         carom_error *err);
void caromi_device_memory_destroy(caromi_device_memory *memory);
carom_status caromi_device_memory_read(const caromi_device_memory *memory, uint64_t offset, void *data, uint64_t bytes,
                                       carom_error *err);
carom_status caromi_device_memory_write(const caromi_device_memory *memory, uint64_t offset, const void *data,
                                        uint64_t bytes, carom_error *err);
caromi_on_device caromi_device_pairs, caromi_device_mesh, caromi_device_list, caromi_device_lattice,
    caromi_device_cubes, caromi_resident_any_bundles, caromi_resident_closest_bundles;
int caromi_lattice_serves(const caromi_device *device);
void caromi_device_mesh_release(carom_mesh *mesh);
void caromi_device_edges_release(carom_mesh *mesh);
int caromi_refit_serves(const caromi_device *device, const carom_points *vertices);
carom_status caromi_device_refit(caromi_device *device, carom_mesh *mesh, const carom_points *vertices,
                                 caromi_device_memory *to, struct refit_result *result, carom_error *err);
carom_status caromi_device_refit_contacts(caromi_device *device, carom_mesh *mesh, int have_masks, int *follows,
                                          carom_error *err);
carom_status caromi_cloud_copy_open(caromi_device *device, const struct caromi_cloud *cloud,
                                    const struct caromi_cloud_cells *cells, caromi_cloud_copy **out, carom_stats *stats,
                                    carom_error *err);
carom_status caromi_cloud_prepare(caromi_device *device, int exact, carom_error *err);
void caromi_cloud_copy_close(caromi_cloud_copy *copy);
carom_status caromi_cloud_copy_test(caromi_cloud_copy *copy, const struct caromi_cloud_items *items, uint64_t count,
                                    carom_stats *stats, carom_error *err);
carom_status caromi_cloud_copy_solve(caromi_cloud_copy *copy, const struct caromi_cloud_undecided *open, uint64_t count,
                                     int exact, carom_stats *stats, carom_error *err);
int caromi_serves_alone(const caromi_device *device);
int caromi_list_stays_on(const caromi_device *device, int is_of_contacts);
carom_status caromi_device_match(caromi_device *device, const carom_contact_records *previous,
                                 const carom_contact_records *now, const carom_contact_match *out, int *answered,
                                 carom_error *err);
carom_status caromi_grid_prepare(caromi_device *device, const struct caromi_cloud *cloud, int is_order,
                                 carom_error *err);
carom_status caromi_grid_answer(caromi_device *device, const struct caromi_cloud *cloud,
                                const struct caromi_grid_result *result, int *answered, carom_stats *stats,
                                carom_error *err);
int caromi_device_has_fp64(const caromi_device *device);
#endif
