/* SPDX-License-Identifier: MIT */
/* Prints the types of all calls as JSON, for generator/generate.py: calls/ is the one table of calls. */
#include <stdio.h>

#include "carom/carom.h"
#include "kernels/pairs.h"
/* The table has the calls too, which are made nowhere here: the library need not be there. */
#define CALL(name, subject, desc, out) extern __attribute__((weak)) __typeof__(carom_##name) carom_##name;
#define CALL_WITH_HITS CALL
#include "calls/list.h"
#include "calls/calls.c"

static const char *const kinds[] = {"points", "scalars", "uints", "number", "points_out", "array"};
static const char *const extents[] = {"query", "element", "a", "b", "node", "offset", "record", "single"};
static const char *const units[] = {"query", "slab", "row", "sphere"};

static void print_members(const char *key, caromi_members members)
{
    printf("  \"%s\": [", key);
    for (uint32_t i = 0; i < members.count; i++) {
        const caromi_member *m = &members.at[i];
        printf("%s\n    {\"name\": \"%s\", \"kind\": \"%s\", \"extent\": \"%s\", \"size\": %u, \"needed\": %s}",
               i ? "," : "", m->name, kinds[m->kind], extents[m->extent], m->size, m->is_needed ? "true" : "false");
    }
    printf("],\n");
}

int main(void)
{
    printf("[");
    for (int number = 0; number < CALL_TYPES; number++) {
        const caromi_call_type *type = call_type(number);
        printf("%s{\n  \"name\": \"%s\", \"subject\": \"%s\", \"desc\": \"%s\", \"out\": \"%s\",\n", number ? ", " : "",
               type->name, type->subject, type->desc_name, type->out_size ? type->out_name : "");
        print_members("inputs", type->in);
        print_members("outputs", type->out);
        printf("  \"unit\": \"%s\", \"select\": %d, \"begin\": %d, \"which\": %d, \"list\": %d, \"lattice\": %d, "
               "\"indices\": %d}",
               units[type->unit], type->serves & CAROMI_SERVES_SELECT ? 1 : 0,
               type->serves & CAROMI_SERVES_BEGIN ? 1 : 0, type->has_which, type->totals != 0, type->lattice != 0,
               type->indices != 0);
    }
    printf("]\n");
    return 0;
}
