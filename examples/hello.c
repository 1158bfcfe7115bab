/* SPDX-License-Identifier: MIT */
/* Three spheres fall towards one triangle. Built by: cc hello.c $(pkg-config --cflags --libs carom) */
#include <carom/carom.h>

#include <stdio.h>

int main(void)
{
    /* x y z, 12 bytes from one sphere to the next; a stride of 0 repeats one value for all. */
    const float center[] = {1, 1, 2, 2, -0.3f, 2, 9, 9, 2}, velocity[] = {0, 0, -1}, radius = 0.5f;
    const float corner[] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    const carom_sweep_pairs_desc pairs = {
        .size = sizeof pairs,
        .count = 3,
        .center = {center, center + 1, center + 2, 12},
        .velocity = {velocity, velocity + 1, velocity + 2, 0},
        .radius = {&radius, 0},
        .p0 = {corner, corner + 1, corner + 2, 0},
        .p1 = {corner + 3, corner + 4, corner + 5, 0},
        .p2 = {corner + 6, corner + 7, corner + 8, 0},
    };
    uint8_t state[3], feature[3];
    float t[3];
    const carom_sweep_result out = {.state = state, .t_first = t, .feature_first = feature};
    carom_context *context = NULL;
    carom_error err;
    const int ok = carom_context_create(NULL, &context, &err) == CAROM_OK &&
                   carom_sweep_pairs(context, &pairs, &out, NULL, &err) == CAROM_OK;
    for (int i = 0; ok && i < 3; i++)
        printf("sphere %d: %s, t = %g, feature %s\n", i, carom_state_name((carom_state)state[i]), (double)t[i],
               carom_feature_name((carom_feature)feature[i]));
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
