/* SPDX-License-Identifier: MIT */
/* XXH64, as the xxHash specification (Y. Collet, github.com/Cyan4973/xxHash, doc/xxhash_spec.md) defines it: 8 bytes of
 * each of four lanes a step, so it reads about as fast as memory. It finds errors; it does not resist an adversary. */
#include "bake.h"

#include <endian.h>
#include <string.h>

static const uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                      prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

/* SplitMix64 (G. Steele, D. Lea, C. Flood, 2014). */
uint64_t bake_draw(uint64_t *state, uint64_t limit)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return (x ^ x >> 31) % limit;
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

uint64_t bake_get64(const unsigned char *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return le64toh(value);
}

void bake_put64(unsigned char *to, uint64_t value)
{
    value = htole64(value);
    memcpy(to, &value, sizeof value);
}

static uint64_t get32(const unsigned char *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return le32toh(value);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * prime2, 31) * prime1;
}

static uint64_t merge(uint64_t sum, uint64_t lane)
{
    return (sum ^ mix(0, lane)) * prime1 + prime4;
}

/* Whole steps of 32 bytes. The lanes have names, because an array of them would not stay in registers. */
static uint64_t take_steps(const unsigned char *at, size_t steps, uint64_t seed)
{
    uint64_t a = seed + prime1 + prime2, b = seed + prime2, c = seed, d = seed - prime1;
    for (; steps > 0; steps--, at += 32) {
        a = mix(a, bake_get64(at));
        b = mix(b, bake_get64(at + 8));
        c = mix(c, bake_get64(at + 16));
        d = mix(d, bake_get64(at + 24));
    }
    const uint64_t sum = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge(merge(merge(merge(sum, a), b), c), d);
}

uint64_t bake_checksum(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *at = data, *end = at + size;
    uint64_t sum = (size >= 32 ? take_steps(at, size / 32, seed) : seed + prime5) + size;
    for (at += size / 32 * 32; end - at >= 8; at += 8)
        sum = rotate(sum ^ mix(0, bake_get64(at)), 27) * prime1 + prime4;
    if (end - at >= 4) {
        sum = rotate(sum ^ get32(at) * prime1, 23) * prime2 + prime3;
        at += 4;
    }
    for (; at < end; at++)
        sum = rotate(sum ^ *at * prime5, 11) * prime1;
    sum = (sum ^ sum >> 33) * prime2;
    sum = (sum ^ sum >> 29) * prime3;
    return sum ^ sum >> 32;
}

uint64_t bake_checksum_add(uint64_t sum, uint64_t next)
{
    unsigned char bytes[8];
    bake_put64(bytes, next);
    return bake_checksum(bytes, sizeof bytes, sum);
}
