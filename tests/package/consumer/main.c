/* SPDX-License-Identifier: MIT */
/* A stranger's first program, in C99: one sphere that falls onto one triangle and touches it at t = 1. */
#include <carom/carom.h>

#include <stdio.h>

int main(void)
{
    float sphere[7] = {0.25f, 0.25f, 2.0f, 1.0f, 0.0f, 0.0f, -1.0f};
    float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    float t = -1.0f;
    unsigned char state = 0;
    carom_context *context = NULL;
    carom_error err;
    carom_context_desc options = carom_context_desc_default();
    carom_sweep_pairs_desc desc = {0};
    carom_sweep_result out = {.size = sizeof out};

    options.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&options, &context, &err) != CAROM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    desc.batch.size = sizeof desc;
    desc.batch.count = 1;
    desc.center = carom_xyz(sphere);
    desc.radius.data = sphere + 3;
    desc.radius.stride = CAROM_REPEAT;
    desc.velocity = carom_xyz(sphere + 4);
    desc.p0 = carom_xyz(triangle);
    desc.p1 = carom_xyz(triangle + 3);
    desc.p2 = carom_xyz(triangle + 6);
    out.size = sizeof out;
    out.state = &state;
    out.t_first = &t;
    if (carom_sweep_pairs(context, &desc, &out, NULL, &err) != CAROM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    carom_context_destroy(context);
    printf("carom %s: %s at t = %g\n", carom_version(), carom_state_name((carom_state)state), (double)t);
    return state == CAROM_APPROACHING && t > 0.999f && t < 1.001f ? 0 : 1;
}
