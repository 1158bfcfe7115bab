/* SPDX-License-Identifier: MIT */
/* In front of the library (LD_PRELOAD): every blocking call of the main thread with a batch becomes a job that is
 * waited for. So tests of answers, errors and statistics test jobs too. The library's own thread makes the call of a
 * job by the public name as well: that one goes through. */
#include <carom/carom.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int is_main_thread;
static unsigned long jobs;

__attribute__((constructor)) static void begin(void)
{
    is_main_thread = 1;
}

/* A run in which nothing was a job would prove nothing. */
__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("CAROM_TEST_JOBS");
    FILE *out = name != NULL ? fopen(name, "a") : NULL;
    if (out != NULL) {
        (void)fprintf(out, "%lu\n", jobs);
        (void)fclose(out);
    }
}

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    memcpy(function, &found, sizeof found);
}

static carom_status end(carom_job *job, carom_error *err)
{
    const carom_status status = carom_job_wait(job, (double)INFINITY, err);
    carom_job_destroy(job);
    jobs++;
    return status;
}

/* ARGUMENTS and VALUES: those between descriptor and result, each with its comma. */
#define CALL(name, subject_type, desc_type, out_type, ARGUMENTS, VALUES)                                             \
    carom_status name(subject_type *subject, const desc_type *desc, ARGUMENTS out_type *out, carom_stats *stats,     \
                      carom_error *err)                                                                              \
    {                                                                                                                \
        carom_status (*call)(subject_type *, const desc_type *, ARGUMENTS out_type *, carom_stats *, carom_error *); \
        find(#name, &call);                                                                                          \
        if (!is_main_thread || desc == NULL || desc->batch.size != sizeof *desc || desc->batch.job != NULL)          \
            return call(subject, desc, VALUES out, stats, err);                                                      \
        carom_job *job = NULL;                                                                                       \
        desc_type copy = *desc;                                                                                      \
        copy.batch.job = &job;                                                                                       \
        const carom_status status = call(subject, &copy, VALUES out, stats, err);                                    \
        return status == CAROM_OK ? end(job, err) : status;                                                          \
    }
#define MESH_CALL(name, desc, out) CALL(name, carom_mesh, desc, const out, , )
#define CONTEXT_CALL(name, desc, out) CALL(name, carom_context, desc, out, , )
#define WHICH_ARGUMENT carom_hits which,
#define WHICH_VALUE which,

CONTEXT_CALL(carom_sweep_pairs, carom_sweep_pairs_desc, const carom_sweep_result)
CONTEXT_CALL(carom_overlap_pairs, carom_overlap_pairs_desc, const carom_overlap_result)
CONTEXT_CALL(carom_sphere_sweep_pairs, carom_sphere_sweep_pairs_desc, const carom_sphere_sweep_result)
MESH_CALL(carom_mesh_sweep_first, carom_mesh_sweep_desc, carom_mesh_hit_result)
CALL(carom_mesh_sweep_list, carom_mesh, carom_mesh_sweep_desc, const carom_hit_list, WHICH_ARGUMENT, WHICH_VALUE)
MESH_CALL(carom_mesh_sweep_any, carom_mesh_sweep_desc, carom_any_result)
MESH_CALL(carom_mesh_overlap_list, carom_mesh_overlap_desc, carom_hit_list)
MESH_CALL(carom_mesh_overlap_any, carom_mesh_overlap_desc, carom_any_result)
MESH_CALL(carom_mesh_closest, carom_mesh_closest_desc, carom_mesh_closest_result)
MESH_CALL(carom_mesh_contacts, carom_mesh_contacts_desc, carom_contact_list)
MESH_CALL(carom_mesh_distance, carom_mesh_distance_desc, carom_mesh_distance_result)
MESH_CALL(carom_mesh_clearance, carom_mesh_clearance_desc, carom_mesh_clearance_result)
MESH_CALL(carom_mesh_drop, carom_mesh_drop_desc, carom_mesh_drop_result)
CONTEXT_CALL(carom_cloud_list, carom_cloud_desc, const carom_cloud_pair_list)
CONTEXT_CALL(carom_cloud_first, carom_cloud_desc, const carom_cloud_partner_result)
CONTEXT_CALL(carom_cloud_any, carom_cloud_desc, const carom_any_result)
CONTEXT_CALL(carom_cloud_count, carom_cloud_desc, const carom_cloud_count_result)
CONTEXT_CALL(carom_cloud_order, carom_cloud_desc, uint32_t)
