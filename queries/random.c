/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <math.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t query_random_bits(query_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

query_spread query_random_spread(query_random *r)
{
    static const unsigned char spreads[16] = {
        SPREAD_EASY, SPREAD_EASY,   SPREAD_EASY,   SPREAD_EASY, SPREAD_EASY, SPREAD_EASY, SPREAD_FAR,  SPREAD_FAR,
        SPREAD_FAR,  SPREAD_SCALED, SPREAD_SCALED, SPREAD_WIDE, SPREAD_WIDE, SPREAD_GRID, SPREAD_GRID, SPREAD_BITS};
    return (query_spread)spreads[query_random_bits(r) >> 60];
}

float query_random_number(query_random *r, query_spread spread, float scale)
{
    uint64_t bits = query_random_bits(r);
    switch (spread) {
    case SPREAD_WIDE: return from_bits((uint32_t)(bits & 0x807fffff) | (uint32_t)(127 - 60 + (bits >> 32) % 121) << 23);
    case SPREAD_GRID: return (float)((int)(bits % 17) - 8) * 0.25f;
    case SPREAD_BITS: return from_bits((uint32_t)bits);
    default: return (float)((int32_t)(uint32_t)bits >> 8) * 0x1p-23f * scale;
    }
}

float query_random_radius(query_random *r, query_spread spread, float scale)
{
    float value = query_random_number(r, spread, scale) * (spread == SPREAD_BITS ? 1.0f : 0.5f);
    return spread == SPREAD_BITS ? value : fabsf(value);
}

float query_random_scale(query_random *r, query_spread spread)
{
    if (spread != SPREAD_SCALED)
        return 1.0f;
    return from_bits((uint32_t)(127 - 100 + query_random_bits(r) % 160) << 23);
}

void query_random_retreat(query_random *r, float start[3], const float velocity[3])
{
    static const float distances[] = {1e1f, 1e2f, 1e3f, 1e4f, 1e5f};
    float distance = distances[query_random_bits(r) % 5];
    for (int k = 0; k < 3; k++)
        start[k] = start[k] - velocity[k] * distance;
}

void query_random_sweep(query_random *r, float center[3], float *radius, float velocity[3], float *corners,
                        float triangle_velocity[3])
{
    const query_spread spread = query_random_spread(r);
    const float scale = query_random_scale(r, spread);
    const uint64_t flags = query_random_bits(r);
    for (int k = 0; k < 3; k++) {
        center[k] = query_random_number(r, spread, scale);
        velocity[k] = (flags & 63) == 0 ? 0.0f : query_random_number(r, spread, scale);
        triangle_velocity[k] = flags & 192 ? 0.0f : query_random_number(r, spread, scale);
        for (int v = 0; v < 3; v++)
            corners[3 * v + k] = query_random_number(r, spread, scale);
    }
    *radius = query_random_radius(r, spread, scale);
    if (spread == SPREAD_FAR)
        query_random_retreat(r, center, velocity);
}
