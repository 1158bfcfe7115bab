/* SPDX-License-Identifier: MIT */
/* Any pair query of the registry, from bytes alone. Vectors and radii that equal each other make ties; what makes them
 * for a certain query stands in the target of that name, if there is one. */
#include "pair.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    const query_type *q = query_pairs[fuzz_byte(&s) % QUERY_PAIR_COUNT];
    const unsigned equal = fuzz_byte(&s); /* bit i: input i is that of the same width before it */
    float row[QUERY_COLUMNS_MAX] = {0};
    for (int i = 0, column = 0; i < query_input_count(q); column += query_input_width(&q->inputs[i++])) {
        const int width = query_input_width(&q->inputs[i]);
        int before = i;
        while (before > 0 && query_input_width(&q->inputs[before - 1]) != width)
            before--;
        int from = 0;
        for (int k = 0; k + 1 < before; k++)
            from += query_input_width(&q->inputs[k]);
        if (before > 0 && (equal >> i & 1))
            memcpy(row + column, row + from, (size_t)width * sizeof *row);
        else if (width == 1)
            row[column] = fuzz_radius(&s);
        else
            fuzz_vector(&s, row + column);
    }
    fuzz_pair(q, row);
    return 0;
}
