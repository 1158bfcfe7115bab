/* SPDX-License-Identifier: MIT */
/* particles_opencl [PARTICLES [STEPS]]: particles in a pipe that is bent to a ring, on an OpenCL device of the program.
 * Kernels of the program move them, carom sweeps them against the wall, all in the program's queue. Nothing waits until
 * the end, and no particle leaves the device before. */
#include <carom/carom_opencl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUBSTEPS = 3, RINGS = 256, SIDES = 64, AHEAD = 8 /* steps that may be in the queue */ };
enum { X, Y, Z, VX, VY, VZ, DX, DY, DZ, T, NX, NY, NZ, TRIANGLE, COLUMNS }; /* D: the way that a step has left */
static const float turn = 6.2831853f, pipe = 0.3f, radius = 0.01f;
static float corner[3 * RINGS * SIDES];
static uint32_t wall[6 * RINGS * SIDES];

static const char kernels[] =
    "#define STEP 0.02f\n"
    "#define RESTITUTION 0.9f\n"
    "#define TOLERANCE 1e-5f\n"
    "#define P(c) __global float *c\n"
    "__kernel void start(P(x), P(y), P(z), P(vx), P(vy), P(vz)) {\n"
    "    uint i = get_global_id(0), n = get_global_size(0), s = i * 2654435761u;\n"
    "    float u = 6.2831853f * (float)i / (float)n;\n"
    "    x[i] = cos(u), y[i] = sin(u), z[i] = 0;\n"
    "    vx[i] = (float)(s >> 8 & 255) / 43 - 3, vy[i] = (float)(s >> 16 & 255) / 43 - 3, vz[i] = (float)(s >> 24) / "
    "43 - "
    "3;\n"
    "}\n"
    "__kernel void aim(P(vx), P(vy), P(vz), P(dx), P(dy), P(dz)) {\n"
    "    uint i = get_global_id(0);\n"
    "    vz[i] -= 9.81f * STEP;\n"
    "    dx[i] = vx[i] * STEP, dy[i] = vy[i] * STEP, dz[i] = vz[i] * STEP;\n"
    "}\n"
    /* Up to the wall but for a tolerance, where the velocity is reflected, and so is the rest of the way. */
    "__kernel void bounce(P(x), P(y), P(z), P(vx), P(vy), P(vz), P(dx), P(dy), P(dz), P(t), P(nx), P(ny), P(nz),\n"
    "                     __global const int *triangle) {\n"
    "    uint i = get_global_id(0);\n"
    "    float3 d = (float3)(dx[i], dy[i], dz[i]), v = (float3)(vx[i], vy[i], vz[i]);\n"
    "    float3 n = (float3)(nx[i], ny[i], nz[i]); /* without a hit: zeros */\n"
    "    float length = sqrt(dot(d, d)), go = 1;\n"
    "    if (triangle[i] >= 0)\n"
    "        go = t[i] * length > TOLERANCE ? t[i] - TOLERANCE / length : 0;\n"
    "    x[i] += go * d.x, y[i] += go * d.y, z[i] += go * d.z;\n"
    "    v -= (1 + RESTITUTION) * min(dot(v, n), 0.0f) * n;\n"
    "    d = (1 - go) * (d - (1 + RESTITUTION) * min(dot(d, n), 0.0f) * n);\n"
    "    vx[i] = v.x, vy[i] = v.y, vz[i] = v.z;\n"
    "    dx[i] = d.x, dy[i] = d.y, dz[i] = d.z;\n"
    "}\n";

static struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel start, aim, bounce;
    cl_mem memory[COLUMNS];
} cl;

/* Around a circle of radius 1. */
static void make_pipe(void)
{
    for (uint32_t i = 0; i < RINGS * SIDES; i++) {
        const float u = turn * (float)(i / SIDES) / RINGS, v = turn * (float)(i % SIDES) / SIDES;
        const uint32_t up = i - i % SIDES + (i + 1) % SIDES, far = RINGS * SIDES;
        const uint32_t two[6] = {i, (i + SIDES) % far, (up + SIDES) % far, i, (up + SIDES) % far, up};
        corner[3 * i] = (1 + pipe * cosf(v)) * cosf(u);
        corner[3 * i + 1] = (1 + pipe * cosf(v)) * sinf(u);
        corner[3 * i + 2] = pipe * sinf(v);
        for (int k = 0; k < 6; k++)
            wall[6 * i + (uint32_t)k] = two[k];
    }
}

/* ---- the program's OpenCL: the first device ---------------------------------------------------------------------- */

static cl_kernel kernel(const char *name, int first, int count)
{
    const cl_kernel made = clCreateKernel(cl.program, name, NULL);
    for (int i = 0; i < count; i++)
        clSetKernelArg(made, (cl_uint)i, sizeof(cl_mem), &cl.memory[first + i]);
    return made;
}

static int open_device(size_t count)
{
    const char *text = kernels;
    cl_platform_id platform;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl.device, NULL) != CL_SUCCESS)
        return 0;
    cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, NULL);
    cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, NULL);
    cl.program = clCreateProgramWithSource(cl.context, 1, &text, NULL, NULL);
    if (clBuildProgram(cl.program, 1, &cl.device, "-cl-std=CL1.2", NULL, NULL) != CL_SUCCESS)
        return 0;
    for (int i = 0; i < COLUMNS; i++)
        cl.memory[i] = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, count * sizeof(float), NULL, NULL);
    cl.start = kernel("start", X, 6);
    cl.aim = kernel("aim", VX, 6);
    cl.bounce = kernel("bounce", X, COLUMNS);
    return cl.start != NULL && cl.aim != NULL && cl.bounce != NULL;
}

static int launch(cl_kernel k, size_t count)
{
    return clEnqueueNDRangeKernel(cl.queue, k, 1, NULL, &count, NULL, 0, NULL, NULL) == CL_SUCCESS;
}

static void close_device(void)
{
    clReleaseKernel(cl.start);
    clReleaseKernel(cl.aim);
    clReleaseKernel(cl.bounce);
    for (int i = 0; i < COLUMNS; i++)
        clReleaseMemObject(cl.memory[i]);
    clReleaseProgram(cl.program);
    clReleaseCommandQueue(cl.queue);
    clReleaseContext(cl.context);
}

/* ---- the simulation ---------------------------------------------------------------------------------------------- */

/* A step is over when its last sweep has ended; the program looks no further ahead than AHEAD steps. */
static int run(carom_mesh *mesh, float *const *column, size_t count, int steps, carom_error *err)
{
    const float whole = 1;
    const carom_mesh_hit_result hit = {.size = sizeof hit,
                                       .triangle = (int32_t *)column[TRIANGLE],
                                       .t = column[T],
                                       .normal = {column[NX], column[NY], column[NZ], sizeof(float)}};
    carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = count},
                                   .center = carom_soa(column[X], column[Y], column[Z]),
                                   .velocity = carom_soa(column[DX], column[DY], column[DZ]),
                                   .radius = {&radius, CAROM_REPEAT},
                                   .t_max = {&whole, CAROM_REPEAT},
                                   .start = CAROM_START_SKIP_PARTING};
    carom_job *job[AHEAD * SUBSTEPS] = {NULL};
    int ok = launch(cl.start, count);
    for (int n = 0; ok && n < steps * SUBSTEPS; n++) {
        carom_job **now = &job[n % (AHEAD * SUBSTEPS)];
        ok = *now == NULL || carom_job_wait(*now, INFINITY, err) == CAROM_OK;
        carom_job_destroy(*now);
        *now = NULL;
        sweep.batch.job = now;
        ok = ok && (n % SUBSTEPS > 0 || launch(cl.aim, count)) &&
             carom_mesh_sweep_first(mesh, &sweep, &hit, NULL, err) == CAROM_OK && launch(cl.bounce, count);
    }
    for (int i = 0; i < AHEAD * SUBSTEPS; i++) {
        ok = (job[i] == NULL || carom_job_wait(job[i], INFINITY, err) == CAROM_OK) && ok;
        carom_job_destroy(job[i]);
    }
    return clFinish(cl.queue) == CL_SUCCESS && ok;
}

/* How many are not in the pipe; SIZE_MAX: not known. */
static size_t count_outside(size_t count)
{
    float *at[3] = {NULL, NULL, NULL};
    size_t outside = 0;
    int ok = 1;
    for (int k = 0; k < 3; k++) {
        at[k] = malloc(count * sizeof(float));
        ok = ok && at[k] != NULL &&
             clEnqueueReadBuffer(cl.queue, cl.memory[X + k], CL_TRUE, 0, count * sizeof(float), at[k], 0, NULL, NULL) ==
                 CL_SUCCESS;
    }
    for (size_t i = 0; ok && i < count; i++)
        outside += !(hypotf(hypotf(at[0][i], at[1][i]) - 1, at[2][i]) <= pipe);
    for (int k = 0; k < 3; k++)
        free(at[k]);
    return ok ? outside : SIZE_MAX;
}

static int simulate(carom_context *context, size_t count, int steps, carom_error *err)
{
    const carom_mesh_desc of = {.size = sizeof of,
                                .vertices = carom_xyz(corner),
                                .vertex_count = RINGS * SIDES,
                                .indices = carom_uints_of(wall),
                                .triangle_count = 2 * RINGS * SIDES};
    carom_mesh *mesh = NULL;
    carom_buffer *buffer[COLUMNS] = {NULL};
    float *column[COLUMNS];
    int ok = carom_mesh_create(context, &of, &mesh, err) == CAROM_OK;
    for (int i = 0; ok && i < COLUMNS; i++) {
        ok = carom_buffer_wrap_opencl(context, cl.memory[i], 0, count * sizeof(float), &buffer[i], err) == CAROM_OK;
        column[i] = carom_buffer_address(buffer[i]);
    }
    ok = ok && run(mesh, column, count, steps, err);
    for (int i = 0; i < COLUMNS; i++)
        carom_buffer_destroy(buffer[i]);
    carom_mesh_destroy(mesh);
    return ok;
}

int main(int argc, char **argv)
{
    const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    const int steps = argc > 2 ? atoi(argv[2]) : 1000;
    carom_context *context = NULL;
    carom_error err = {CAROM_OK, 0, ""};
    if (count == 0 || !open_device(count)) {
        fprintf(stderr, "no OpenCL device for %zu particles\n", count);
        return 1;
    }
    const carom_opencl_desc mine = {.size = sizeof mine, .context = cl.context, .device = cl.device, .queue = cl.queue};
    make_pipe();
    const int ok =
        carom_context_create_opencl(NULL, &mine, &context, &err) == CAROM_OK && simulate(context, count, steps, &err);
    const size_t outside = ok ? count_outside(count) : SIZE_MAX;
    carom_context_destroy(context);
    close_device();
    if (err.status != CAROM_OK)
        fprintf(stderr, "%s\n", err.message);
    if (outside != SIZE_MAX)
        printf("%d steps of %zu particles: %zu are outside\n", steps, count, outside);
    return outside == 0 ? 0 : 1;
}
