/* SPDX-License-Identifier: MIT */
/* Lists that a kernel of the caller reads, behind the call in the caller's queue. It tells from the offsets which
 * records are there or, where the totals lie in the caller's memory, from these. Lists of all capacities, and of a call
 * that fails. */
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
                              "}\n"
                              "/* The records that are in the list; -1 for all others. */\n"
                              "__kernel void copy(__global const ulong *totals, __global const float *record,\n"
                              "                   __global float *out, __global ulong *seen)\n"
                              "{\n"
                              "    uint i = get_global_id(0);\n"
                              "    out[i] = i < totals[3] ? record[i] : -1; /* totals begin one word behind */\n"
                              "    if (i < 3)\n"
                              "        seen[i] = totals[i + 1];\n"
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

/* ---- totals in the caller's memory ------------------------------------------------------------------------------- */

typedef struct totals_reader {
    reader r;
    cl_kernel copy;
    place totals, seen;
} totals_reader;

static totals_reader open_totals(const simulation *s, uint64_t records)
{
    cl_int code;
    totals_reader t = {.r = open_reader(s, records)};
    t.copy = clCreateKernel(t.r.program, "copy", &code);
    assert_int_equal(code, CL_SUCCESS);
    t.totals = place_of(s, 2 * sizeof(carom_list_totals));
    t.seen = place_of(s, sizeof(carom_list_totals));
    return t;
}

static void close_totals(totals_reader *t)
{
    free_place(&t->totals);
    free_place(&t->seen);
    assert_int_equal(clReleaseKernel(t->copy), CL_SUCCESS);
    close_reader(&t->r);
}

/* The list and the kernel behind it; the totals lie 8 bytes behind the begin of their buffer. */
static carom_status read_totals(const simulation *s, const totals_reader *t, fill_fn *fill,
                                const carom_mesh_sweep_desc *spheres, uint64_t capacity, float *records,
                                carom_list_totals *seen, carom_error *err)
{
    const cl_mem arguments[] = {t->totals.memory, t->r.record.memory, t->r.out.memory, t->seen.memory};
    const uint32_t zero = 0;
    carom_job *job = NULL;
    char *at = carom_buffer_address(t->totals.buffer);
    const destination to = {capacity, (uint64_t *)carom_buffer_address(t->r.offsets.buffer),
                            carom_buffer_address(t->r.record.buffer),
                            (carom_list_totals *)(void *)(at + sizeof(uint64_t))};
    assert_int_equal(
        clEnqueueFillBuffer(s->cl.queue, t->totals.memory, &zero, sizeof zero, 0, 2 * sizeof *seen, 0, NULL, NULL),
        CL_SUCCESS);
    test_ok("a list", fill(s->context, s->mesh, spheres, &job, &to, err), err);
    for (cl_uint i = 0; i < 4; i++)
        assert_int_equal(clSetKernelArg(t->copy, i, sizeof arguments[i], &arguments[i]), CL_SUCCESS);
    launch(s, t->copy, 0, NULL, NULL);
    get(&s->cl, t->r.out.memory, records, BYTES);
    get(&s->cl, t->seen.memory, seen, sizeof *seen);
    const carom_status status = carom_job_wait(job, (double)INFINITY, err);
    carom_job_destroy(job);
    return status;
}

static void check_totals(void **state, fill_fn *fill)
{
    static whole_list whole;
    static float records[COUNT];
    simulation *s = open_simulation(state, TURNS);
    carom_list_totals seen;
    carom_error err = {0};
    launch(s, s->rise, 0, NULL, NULL);
    finish(s);
    fill_by_cpu(s, fill, &whole);
    const uint64_t all = whole.totals.total, capacities[] = {0, 1, all / 3, all - 1, all};
    const carom_mesh_sweep_desc spheres = sweep_of(s, carom_buffer_address(s->z), COUNT);
    totals_reader t = open_totals(s, all);
    for (size_t i = 0; i < COUNT_OF(capacities); i++) {
        uint64_t complete = 0;
        test_ok("a job", read_totals(s, &t, fill, &spheres, capacities[i], records, &seen, &err), &err);
        while (complete < COUNT && whole.offsets[complete + 1] <= capacities[i])
            complete++;
        assert_int_equal(seen.total, all);
        assert_int_equal(seen.complete, complete);
        assert_int_equal(seen.stored, whole.offsets[complete]);
        for (uint64_t k = 0; k < COUNT; k++)
            if (records[k] != (k < seen.stored ? whole.record[k] : -1))
                fail_msg("capacity %llu: record %llu is %g", (unsigned long long)capacities[i], (unsigned long long)k,
                         (double)records[k]);
    }
    close_totals(&t);
    free(whole.record);
    close_simulation(s);
}

static void test_totals_of_all_hits(void **state)
{
    check_totals(state, fill_all);
}

static void test_totals_of_first_hits(void **state)
{
    check_totals(state, fill_first);
}

static void test_totals_of_contacts(void **state)
{
    check_totals(state, fill_contacts);
}

static void test_totals_of_a_cloud(void **state)
{
    check_totals(state, fill_cloud);
}

/* A list that has failed is not complete: the totals keep the zeros from before the call. */
static void test_totals_of_a_failed_list(void **state)
{
    static const float never = NAN;
    static float records[COUNT];
    simulation *s = open_simulation(state, TURNS);
    carom_list_totals seen;
    carom_error err = {0};
    carom_mesh_sweep_desc spheres = sweep_of(s, carom_buffer_address(s->z), COUNT);
    spheres.t_max = (carom_scalars){&never, CAROM_REPEAT};
    totals_reader t = open_totals(s, COUNT);
    test_error(read_totals(s, &t, fill_all, &spheres, COUNT, records, &seen, &err), bad, &err, "t_max is nan");
    assert_true(seen.total == 0 && seen.complete == 0 && seen.stored == 0);
    close_totals(&t);
    close_simulation(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_all_hits),
        ON_BOTH(test_first_hits),
        ON_BOTH(test_contacts),
        ON_BOTH(test_cloud),
        ON_BOTH(test_failed_list),
        ON_BOTH(test_totals_of_all_hits),
        ON_BOTH(test_totals_of_first_hits),
        ON_BOTH(test_totals_of_contacts),
        ON_BOTH(test_totals_of_a_cloud),
        ON_BOTH(test_totals_of_a_failed_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
