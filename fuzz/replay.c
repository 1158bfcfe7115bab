/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without libFuzzer: on files, such as those that libFuzzer leaves, or on bytes from a fixed seed.
 *
 *     fuzz_NAME FILE...
 *     fuzz_NAME --inputs N [SEED]
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 128, FILE_LONGEST = 4096 };

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int replay_file(const char *path)
{
    uint8_t bytes[FILE_LONGEST];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    return 0;
}

static void replay_generated(unsigned long count, uint64_t seed)
{
    uint8_t bytes[LONGEST];
    for (unsigned long i = 0; i < count; i++) {
        uint64_t state = seed ^ (uint64_t)i * UINT64_C(0xd1342543de82ef95);
        for (size_t k = 0; k < LONGEST; k += 8) {
            uint64_t bits = next_bits(&state);
            memcpy(bytes + k, &bits, sizeof bits);
        }
        LLVMFuzzerTestOneInput(bytes, LONGEST);
    }
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc >= 3 && !strcmp(argv[1], "--inputs")) {
        unsigned long count = strtoul(argv[2], NULL, 10);
        replay_generated(count, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
        printf("[       OK ] %lu inputs\n", count);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        status |= replay_file(argv[i]);
    return argc < 2 ? 2 : status;
}
