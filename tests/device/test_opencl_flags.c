/* SPDX-License-Identifier: MIT */
/* The caller's memory that kernels only read, or only write: arrays of all calls may lie there, inputs in one and
 * outputs in the other, and the wrong way round is an error that names the array. */
#include "tests/support/call_cases.h"
#include "tests/support/cl_caller.h"

enum { COUNT = 2000, SHARE = 30 };

static carom_mesh *mesh_of(carom_context *context)
{
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s);
    scene_free(&s);
    return mesh;
}

/* Memory with the case's arrays. The flags may keep the host from writing it later. */
static cl_mem filled(const caller *c, cl_mem_flags flags, const call_case *from)
{
    cl_int code;
    const cl_mem made = clCreateBuffer(c->context, flags | CL_MEM_COPY_HOST_PTR, from->bytes, from->memory, &code);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static void check_flags(const caller *owner, call_choice choice, carom_context *context, carom_mesh *mesh,
                        cl_mem_flags reads, cl_mem_flags writes)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    call_case *expected = call_case_answer(choice, COUNT, SHARE, cpu), *c = call_case_make(choice, COUNT, SHARE);
    const cl_mem from = filled(owner, reads, c), to = filled(owner, writes, c);
    carom_buffer *in = wrap(context, from, 0, c->bytes), *out = wrap(context, to, 0, c->bytes);
    carom_error err = {0};
    call_case_place_apart(c, carom_buffer_address(in), carom_buffer_address(out));
    test_ok(call_case_name(c), call_case_ask(c, context, mesh, &err), &err);
    test_ok("read", carom_buffer_read(out, 0, c->memory, c->bytes, &err), &err);
    call_case_compare(expected, c, "memory of one use");
    carom_buffer_destroy(out);
    carom_buffer_destroy(in);
    assert_int_equal(clReleaseMemObject(from), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(to), CL_SUCCESS);
    call_case_free(c);
    call_case_free(expected);
    carom_context_destroy(cpu);
}

static void test_all_calls(void **state)
{
    caller c = caller_open(state);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    carom_mesh *mesh = mesh_of(context);
    const int has_fp64 = test_need_device().fp64;
    for (int i = 0; i < call_choices(); i++)
        if (has_fp64 || call_choice_at(i).accuracy == CAROM_ACCURACY_FAST)
            check_flags(&c, call_choice_at(i), context, mesh, CL_MEM_READ_ONLY | (i % 2 ? CL_MEM_HOST_READ_ONLY : 0),
                        CL_MEM_WRITE_ONLY);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    caller_close(&c);
    cl_expect_none("memory of one use");
}

/* Outputs that begin their memory are no kernel's arguments, because kernels may read them: they are scattered. */
static void test_whole_outputs(void **state)
{
    enum { PAIRS = 64 };
    static float numbers[16 * PAIRS], t[2][PAIRS];
    caller c = caller_open(state);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    int launches[2];
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        numbers[i] = (float)(i % 7);
    for (int k = 0; k < 2; k++) {
        const cl_mem memory = memory_of(&c, k ? CL_MEM_WRITE_ONLY : CL_MEM_READ_WRITE, sizeof *t);
        carom_buffer *buffer = wrap(context, memory, 0, sizeof *t);
        const carom_sweep_pairs_desc desc = {.batch = {.size = sizeof desc, .count = PAIRS},
                                             .center = carom_xyz(numbers),
                                             .velocity = carom_xyz(numbers + 3 * PAIRS),
                                             .radius = carom_scalars_of(numbers + 6 * PAIRS),
                                             .p0 = carom_xyz(numbers + 7 * PAIRS),
                                             .p1 = carom_xyz(numbers + 10 * PAIRS),
                                             .p2 = carom_xyz(numbers + 13 * PAIRS)};
        const carom_sweep_result out = {.size = sizeof out, .t_first = carom_buffer_address(buffer)};
        carom_error err = {0};
        for (int again = 0; again < 2; again++) {
            cl_relieve();
            test_ok("sweeps", carom_sweep_pairs(context, &desc, &out, NULL, &err), &err);
        }
        launches[k] = cl_calls(CALL_LAUNCH);
        get(&c, memory, t[k], sizeof *t);
        carom_buffer_destroy(buffer);
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    }
    assert_memory_equal(t[0], t[1], sizeof *t);
    assert_true(launches[1] > launches[0]);
    carom_context_destroy(context);
    caller_close(&c);
    cl_expect_none("whole outputs");
}

static void test_wrong_use(void **state)
{
    static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;
    const cl_mem_flags read_only[] = {CL_MEM_READ_ONLY, CL_MEM_HOST_READ_ONLY};
    caller c = caller_open(state);
    carom_context *context = share(&c, CAROM_BACKEND_OPENCL, 0);
    float numbers[4] = {0, 0, 0, 1};
    uint32_t partners[1];
    carom_error err = {0};
    void *at = NULL;
    carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = 1},
                             .center = carom_xyz(numbers),
                             .radius = carom_scalars_of(numbers + 3)};
    carom_cloud_count_result out = {.size = sizeof out};
    for (int i = 0; i < 2; i++) {
        const cl_mem memory = memory_of(&c, read_only[i], sizeof numbers);
        carom_buffer *buffer = wrap(context, memory, 0, sizeof numbers);
        out.partners = carom_buffer_address(buffer);
        test_error(carom_cloud_count(context, &desc, &out, NULL, &err), bad, &err,
                   "partners is an output, but lies in memory that was made with CL_MEM_READ_ONLY or CL_MEM_HOST");
        if (read_only[i] == CL_MEM_HOST_READ_ONLY) {
            test_error(carom_buffer_write(buffer, 0, numbers, 4, &err), bad, &err, "the host cannot write it");
            test_error(carom_buffer_map(buffer, 0, 4, CAROM_ACCESS_READ_WRITE, &at, &err), bad, &err, "cannot write");
        } else {
            test_ok("write", carom_buffer_write(buffer, 0, numbers, sizeof numbers, &err), &err);
        }
        test_ok("map", carom_buffer_map(buffer, 0, 4, CAROM_ACCESS_READ, &at, &err), &err);
        carom_buffer_destroy(buffer);
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    }
    const cl_mem memory = memory_of(&c, CL_MEM_WRITE_ONLY, sizeof numbers);
    carom_buffer *buffer = wrap(context, memory, 0, sizeof numbers);
    desc.center = carom_xyz(carom_buffer_address(buffer));
    out.partners = partners;
    test_error(carom_cloud_count(context, &desc, &out, NULL, &err), bad, &err,
               "center.x is an input, but lies in memory that was made with CL_MEM_WRITE_ONLY");
    carom_buffer_destroy(buffer);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    carom_context_destroy(context);
    caller_close(&c);
    cl_expect_none("wrong use");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ON_BOTH(test_all_calls), DISCRETE(test_whole_outputs), ON_BOTH(test_wrong_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
