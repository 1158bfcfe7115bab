/* SPDX-License-Identifier: MIT */
#include "pair.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    ref_sweep_case c;
    float row[QUERY_COLUMNS_MAX] = {0};
    fuzz_sweep_case(&s, &c);
    memcpy(row, c.center, sizeof c.center);
    row[3] = (float)c.radius;
    memcpy(row + 4, c.p, sizeof c.p);
    fuzz_pair(&query_overlap, row);
    return 0;
}
