/* SPDX-License-Identifier: MIT */
/* Lists that a kernel of the caller reads, behind the call in the caller's queue. The totals are in host memory, so the
 * kernel tells from the offsets alone which records are there. Lists of all capacities, and of a call that fails. */
#include "tests/support/caller_simulation.h"
#include "tests/support/scenes.h"

#include <math.h>
#include <stdlib.h>

static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

/* The sum over the records of a query; -1 if they are not in the list. */
static const char kernels[] = "__kernel void sum(__global const ulong *offsets, ulong capacity, "
                              "__global const float *record, __global float *out)\n"
                              "{\n"
                              "    uint i = get_global_id(0);\n"
                              "    out[i] = -1;\n"
                              "    if (offsets[i + 1] <= capacity) {\n"
                              "        out[i] = 0;\n"
                              "        for (ulong k = offsets[i]; k < offsets[i + 1]; k++)\n"
                              "            out[i] += record[k];\n"
                              "    }\n"
                              "}\n";

/* Where a list goes. */
typedef struct destination {
    uint64_t capacity, *offsets;
    float *record;
    carom_list_totals *totals;
} destination;

typedef carom_status fill_fn(carom_context *context, carom_mesh *mesh, const carom_mesh_sweep_desc *spheres,
                             carom_job **job, const destination *to, carom_error *err);

static carom_status fill_hits(carom_mesh *mesh, const carom_mesh_sweep_desc *spheres, carom_hits which, carom_job **job,
                              const destination *to, carom_error *err)
{
    const carom_hit_list list = {
        .size = sizeof list, .capacity = to->capacity, .offsets = to->offsets, .t = to->record, .totals = to->totals};
    carom_mesh_sweep_desc desc = *spheres;
    desc.batch.job = job;
    return carom_mesh_sweep_list(mesh, &desc, which, &list, NULL, err);
}

static carom_status fill_all(carom_context *context, carom_mesh *mesh, const carom_mesh_sweep_desc *spheres,
                             carom_job **job, const destination *to, carom_error *err)
{
    (void)context;
    return fill_hits(mesh, spheres, CAROM_HITS_ALL, job, to, err);
}

static carom_status fill_first(carom_context *context, carom_mesh *mesh, const carom_mesh_sweep_desc *spheres,
                               carom_job **job, const destination *to, carom_error *err)
{
    (void)context;
    return fill_hits(mesh, spheres, CAROM_HITS_FIRST, job, to, err);
}

static carom_status fill_contacts(carom_context *context, carom_mesh *mesh, const carom_mesh_sweep_desc *spheres,
                                  carom_job **job, const destination *to, carom_error *err)
{
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc, .count = spheres->batch.count, .job = job},
                                           .center = spheres->center,
                                           .radius = spheres->radius,
                                           .margin = 4};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = to->capacity,
                                     .offsets = to->offsets,
                                     .distance = to->record,
                                     .totals = to->totals};
    (void)context;
    return carom_mesh_contacts(mesh, &desc, &list, NULL, err);
}

static carom_status fill_cloud(carom_context *context, carom_mesh *mesh, const carom_mesh_sweep_desc *spheres,
                               carom_job **job, const destination *to, carom_error *err)
{
    const carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = spheres->batch.count, .job = job},
                                   .center = spheres->center,
                                   .radius = spheres->radius};
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = to->capacity,
                                        .offsets = to->offsets,
                                        .depth = to->record,
                                        .totals = to->totals};
    (void)mesh;
    return carom_cloud_list(context, &desc, &list, NULL, err);
}

/* The CPU's list, whole. */
typedef struct whole_list {
    uint64_t offsets[COUNT + 1];
    float *record;
    carom_list_totals totals;
} whole_list;

static void fill_by_cpu(const simulation *s, fill_fn *fill, whole_list *out)
{
    static float z[COUNT];
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    scene shape = scene_sphere(SIMULATION_SIDES);
    carom_mesh *mesh = scene_mesh(cpu, &shape);
    carom_error err = {0};
    get(&s->cl, s->z_memory, z, BYTES);
    const carom_mesh_sweep_desc desc = sweep_of(s, z, COUNT);
    destination to = {0, out->offsets, NULL, &out->totals};
    test_ok("the CPU counts", fill(cpu, mesh, &desc, NULL, &to, &err), &err);
    assert_true(out->totals.total > COUNT / 4);
    to.capacity = out->totals.total;
    to.record = out->record = calloc(to.capacity, sizeof *to.record);
    assert_non_null(to.record);
    test_ok("the CPU", fill(cpu, mesh, &desc, NULL, &to, &err), &err);
    scene_free(&shape);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
}

/* Memory of the caller, and what carom calls it. */
typedef struct place {
    cl_mem memory;
    carom_buffer *buffer;
} place;

static place place_of(const simulation *s, size_t bytes)
{
    place p = {.memory = memory_of(&s->cl, CL_MEM_READ_WRITE, bytes)};
    p.buffer = wrap(s->context, p.memory, 0, bytes);
    return p;
}

static void free_place(place *p)
{
    carom_buffer_destroy(p->buffer);
    assert_int_equal(clReleaseMemObject(p->memory), CL_SUCCESS);
}

/* As a program does before a call that may fail: no offset is within any capacity. */
static void fill_with_ones(const simulation *s, cl_mem memory, size_t bytes)
{
    const uint32_t ones = UINT32_MAX;
    assert_int_equal(clEnqueueFillBuffer(s->cl.queue, memory, &ones, sizeof ones, 0, bytes, 0, NULL, NULL), CL_SUCCESS);
}

typedef struct reader {
    cl_program program;
    cl_kernel sum;
    place offsets, record, out;
} reader;

static reader open_reader(const simulation *s, uint64_t records)
{
    const char *text = kernels;
    cl_int code;
    reader r = {.program = clCreateProgramWithSource(s->cl.context, 1, &text, NULL, &code)};
    assert_int_equal(clBuildProgram(r.program, 1, &s->cl.device, "-cl-std=CL1.2", NULL, NULL), CL_SUCCESS);
    r.sum = clCreateKernel(r.program, "sum", &code);
    assert_int_equal(code, CL_SUCCESS);
    r.offsets = place_of(s, (COUNT + 1) * sizeof(uint64_t));
    r.record = place_of(s, records * sizeof(float));
    r.out = place_of(s, BYTES);
    return r;
}

static void close_reader(reader *r)
{
    free_place(&r->offsets);
    free_place(&r->record);
    free_place(&r->out);
    assert_int_equal(clReleaseKernel(r->sum), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(r->program), CL_SUCCESS);
}

/* The list and the kernel behind it, in the caller's queue; returns what the job says. */
static carom_status read_list(const simulation *s, const reader *r, fill_fn *fill, const carom_mesh_sweep_desc *spheres,
                              uint64_t capacity, float *sums, carom_list_totals *totals, carom_error *err)
{
    const cl_ulong limit = capacity;
    const destination to = {capacity, (uint64_t *)carom_buffer_address(r->offsets.buffer),
                            carom_buffer_address(r->record.buffer), totals};
    carom_job *job = NULL;
    fill_with_ones(s, r->offsets.memory, (COUNT + 1) * sizeof(uint64_t));
    test_ok("a list", fill(s->context, s->mesh, spheres, &job, &to, err), err);
    assert_int_equal(clSetKernelArg(r->sum, 0, sizeof(cl_mem), &r->offsets.memory), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(r->sum, 1, sizeof limit, &limit), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(r->sum, 2, sizeof(cl_mem), &r->record.memory), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(r->sum, 3, sizeof(cl_mem), &r->out.memory), CL_SUCCESS);
    launch(s, r->sum, 0, NULL, NULL);
    get(&s->cl, r->out.memory, sums, BYTES);
    const carom_status status = carom_job_wait(job, (double)INFINITY, err);
    carom_job_destroy(job);
    return status;
}

static void expect_sums(const whole_list *whole, uint64_t capacity, const float *sums, const carom_list_totals *totals)
{
    uint64_t known = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        float sum = whole->offsets[i + 1] <= capacity ? 0 : -1;
        for (uint64_t k = whole->offsets[i]; k < whole->offsets[i + 1] && whole->offsets[i + 1] <= capacity; k++)
            sum += whole->record[k];
        known += whole->offsets[i + 1] <= capacity;
        if (memcmp(&sum, &sums[i], sizeof sum) != 0)
            fail_msg("capacity %llu, query %llu: the kernel has %g, not %g", (unsigned long long)capacity,
                     (unsigned long long)i, (double)sums[i], (double)sum);
    }
    assert_int_equal(totals->complete, known);
    assert_int_equal(totals->total, whole->totals.total);
}

static void read_lists(void **state, fill_fn *fill)
{
    static whole_list whole;
    static float sums[COUNT];
    simulation *s = open_simulation(state, TURNS);
    carom_list_totals totals;
    carom_error err = {0};
    launch(s, s->rise, 0, NULL, NULL);
    finish(s);
    fill_by_cpu(s, fill, &whole);
    const uint64_t all = whole.totals.total, capacities[] = {1, all / 3, all - 1, all};
    const carom_mesh_sweep_desc spheres = sweep_of(s, carom_buffer_address(s->z), COUNT);
    reader r = open_reader(s, all);
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        test_ok("a job", read_list(s, &r, fill, &spheres, capacities[i], sums, &totals, &err), &err);
        expect_sums(&whole, capacities[i], sums, &totals);
    }
    close_reader(&r);
    free(whole.record);
    close_simulation(s);
}

static void test_all_hits(void **state)
{
    read_lists(state, fill_all);
}

static void test_first_hits(void **state)
{
    read_lists(state, fill_first);
}

static void test_contacts(void **state)
{
    read_lists(state, fill_contacts);
}

static void test_cloud(void **state)
{
    read_lists(state, fill_cloud);
}

/* A job that fails lets the queue go on: the kernel finds no records. */
static void test_failed_list(void **state)
{
    static const float never = NAN;
    static float sums[COUNT];
    simulation *s = open_simulation(state, TURNS);
    carom_list_totals totals;
    carom_error err = {0};
    carom_mesh_sweep_desc spheres = sweep_of(s, carom_buffer_address(s->z), COUNT);
    spheres.t_max = (carom_scalars){&never, CAROM_REPEAT};
    reader r = open_reader(s, COUNT);
    test_error(read_list(s, &r, fill_all, &spheres, COUNT, sums, &totals, &err), bad, &err, "t_max is nan");
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(sums[i] < 0);
    close_reader(&r);
    close_simulation(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_all_hits), ON_BOTH(test_first_hits),  ON_BOTH(test_contacts),
        ON_BOTH(test_cloud),    ON_BOTH(test_failed_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
