/* SPDX-License-Identifier: MIT */
/* Three spheres fall towards one triangle. Built by: cc hello.c $(pkg-config --cflags --libs carom) */
#include <carom/carom.h>

#include <stdio.h>

int main(void)
{
    /* Centres as x y z, x y z, ...; one velocity, one radius and one triangle for all. */
    const float center[] = {1, 1, 2, 2, -0.3f, 2, 9, 9, 2}, velocity[] = {0, 0, -1}, radius = 0.5f;
    const float corner[] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    const carom_sweep_pairs_desc pairs = {
        .batch = {.size = sizeof pairs, .count = 3},
        .center = carom_xyz(center),
        .velocity = carom_repeat(velocity),
        .radius = {.data = &radius, .stride = CAROM_REPEAT},
        .p0 = carom_repeat(corner),
        .p1 = carom_repeat(corner + 3),
        .p2 = carom_repeat(corner + 6),
    };
    uint8_t state[3], feature[3];
    float t[3];
    const carom_sweep_result out = {.size = sizeof out, .state = state, .t_first = t, .feature_first = feature};
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
