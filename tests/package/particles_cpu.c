/* SPDX-License-Identifier: MIT */
/* particles_cpu PARTICLES STEPS: the example particles_opencl without OpenCL. Its step on the CPU path, with arrays in
 * ordinary memory and the kernels as loops. It prints the same positions. */
#include "step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t item; /* of a loop */
#define get_global_id(dimension) item
#define sqrt sqrtf
#define ulong unsigned long
#define __kernel static
#define __global
#define __constant static const
#define KERNEL(name, ...) __VA_ARGS__
#include "kernels.h"

static void run_item(enum kernel kernel, void *const *a)
{
    switch (kernel) {
    case PRESS: press(a[0]); break;
    case INTEGRATE: integrate(a[0], a[1], a[2]); break;
    case BOUNCE: bounce(a[0], a[1], a[2], a[3], a[4], a[5]); break;
    case COLLIDE: collide(a[0], a[1], a[2], a[3], a[4], a[5]); break;
    default: touch(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]); break;
    }
}

static int launch(simulation *s, enum kernel kernel, uint64_t items, const enum array *arrays, int array_count,
                  carom_error *err)
{
    void *at[16];
    (void)err;
    for (int i = 0; i < array_count; i++)
        at[i] = s->at[arrays[i]];
    for (item = 0; item < items; item++)
        run_item(kernel, at);
    return 1;
}

int main(int argc, char **argv)
{
    const carom_context_desc cpu = {.size = sizeof cpu, .backend = CAROM_BACKEND_CPU};
    simulation s = {.count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, .launch = launch};
    const int steps = argc > 2 ? atoi(argv[2]) : 10;
    float *host[HOST_ARRAYS];
    carom_error err = {CAROM_OK, 0, ""};
    int ok = carom_context_create(&cpu, &s.context, &err) == CAROM_OK;
    for (int i = 0; ok && i < ARRAYS; i++) {
        s.at[i] = calloc(1, step_bytes(i, s.count));
        ok = s.at[i] != NULL;
    }
    for (int i = 0; i < HOST_ARRAYS; i++)
        host[i] = s.at[i];
    if (ok)
        step_begin(s.count, host);
    ok = ok && step_make_wall(&s, &err);
    for (int i = 0; ok && i < steps; i++)
        ok = step_run(&s, &err);
    ok = ok && step_report(&s, steps, host) == 0;
    carom_mesh_destroy(s.wall);
    carom_context_destroy(s.context);
    for (int i = 0; i < ARRAYS; i++)
        free(s.at[i]);
    if (!ok)
        fprintf(stderr, "failed: %s\n", err.message);
    return ok ? 0 : 1;
}
