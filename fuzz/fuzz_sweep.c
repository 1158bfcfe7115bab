/* SPDX-License-Identifier: MIT */
#include "pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    ref_sweep_case c;
    float row[QUERY_COLUMNS_MAX] = {0};
    fuzz_sweep_case(&s, &c);
    fuzz_sweep_row(&c, row);
    fuzz_pair(&query_sweep, row);
    return 0;
}
