/* SPDX-License-Identifier: MIT */
/* The program's kernels. KERNEL(NAME, TEXT) is for the file that includes this: main.c makes a string of each for
 * OpenCL's compiler. The text is C too, so a CPU can run it. Every operation is rounded once (no contraction, no sin):
 * so particles have the same bits on all devices with correctly rounded quotients and roots. One work-item for each
 * particle, or corner of the wall. */

/* clang-format off */
KERNEL(constants,
    __constant float STEP = 1e-3f;
    __constant float GRAVITY = 1;
    __constant float SQUEEZE = 0.9999f; /* the height of the wall, from step to step */
    __constant float RESTITUTION = 0.8f;
    __constant float TOLERANCE = 1e-5f; /* between a particle and the wall that has stopped it */
    __constant float STIFFNESS = 1e5f;  /* of springs between particles, and between particle and wall; masses are 1 */
    __constant float DAMPING = 60;
    __constant float TANGENTIAL = 2e4f; /* stiffness of the springs along the wall */
    __constant float FRICTION = 0.4f;
    __constant float SKIN = 2e-3f;      /* how far the wall's springs reach beyond it */
)

KERNEL(press,
    __kernel void press(__global float *corner)
    {
        size_t i = get_global_id(0);
        corner[3 * i + 2] *= SQUEEZE;
    }
)

KERNEL(integrate,
    __kernel void integrate(__global float *velocity, __global const float *acceleration, __global float *way)
    {
        size_t i = get_global_id(0);
        for (size_t k = 3 * i; k < 3 * i + 3; k++) {
            velocity[k] += STEP * acceleration[k];
            way[k] = STEP * velocity[k];
        }
    }
)

/* Moves a particle up to its first hit but for the tolerance, where its velocity is reflected. */
KERNEL(bounce,
    __kernel void bounce(__global float *center, __global float *velocity, __global const float *way,
                         __global const int *triangle, __global const float *time, __global const float *normal)
    {
        size_t i = get_global_id(0);
        __global const float *w = way + 3 * i;
        __global const float *n = normal + 3 * i; /* without a hit: zeros */
        __global float *v = velocity + 3 * i;
        float length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        float across = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
        float go = 1;
        if (triangle[i] >= 0)
            go = time[i] * length > TOLERANCE ? time[i] - TOLERANCE / length : 0;
        for (size_t k = 0; k < 3; k++) {
            center[3 * i + k] += go * w[k];
            if (across < 0)
                v[k] -= (1 + RESTITUTION) * across * n[k];
        }
    }
)

/* Gravity, and the springs between a particle and its neighbours. */
KERNEL(collide,
    __kernel void collide(__global const float *center, __global const float *velocity, __global const float *radius,
                          __global const ulong *first, __global const int *neighbour, __global float *acceleration)
    {
        size_t i = get_global_id(0);
        float sum[3] = {0, 0, -GRAVITY};
        for (ulong at = first[i]; at < first[i + 1]; at++) {
            size_t j = (size_t)neighbour[at];
            float d[3];
            float square = 0;
            float away = 0;
            for (size_t k = 0; k < 3; k++) {
                d[k] = center[3 * j + k] - center[3 * i + k];
                square += d[k] * d[k];
                away += d[k] * (velocity[3 * j + k] - velocity[3 * i + k]);
            }
            float distance = sqrt(square);
            if (distance > 0) {
                float push = STIFFNESS * (radius[i] + radius[j] - distance) - DAMPING * (away / distance);
                for (size_t k = 0; push > 0 && k < 3; k++)
                    sum[k] -= push * (d[k] / distance);
            }
        }
        for (size_t k = 0; k < 3; k++)
            acceleration[3 * i + k] = sum[k];
    }
)

/* Contacts with the wall: a spring along the normal, and one along the wall that slips (Cundall and Strack, 1979). The
 * second is history: `before` has those of the step before, `previous` says which of them a contact goes on with. */
KERNEL(touch,
    __kernel void touch(__global const float *velocity, __global const float *radius, __global const ulong *first,
                        __global const float *distance, __global const float *normal, __global const long *previous,
                        __global const float *before, __global float *spring, __global float *acceleration)
    {
        size_t i = get_global_id(0);
        __global const float *v = velocity + 3 * i;
        for (ulong at = first[i]; at < first[i + 1]; at++) {
            __global const float *n = normal + 3 * at;
            __global float *s = spring + 3 * at;
            float across = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
            float push = STIFFNESS * (radius[i] + SKIN - distance[at]) - DAMPING * across;
            float square = 0;
            if (push < 0)
                push = 0;
            for (size_t k = 0; k < 3; k++) {
                s[k] = previous[at] >= 0 ? before[3 * previous[at] + k] : 0;
                s[k] += STEP * (v[k] - across * n[k]);
                square += s[k] * s[k];
            }
            float pull = TANGENTIAL * sqrt(square);
            float slips = pull > FRICTION * push ? FRICTION * push / pull : 1;
            for (size_t k = 0; k < 3; k++) {
                s[k] *= slips;
                acceleration[3 * i + k] += push * n[k] - TANGENTIAL * s[k];
            }
        }
    }
)
