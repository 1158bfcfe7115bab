/* SPDX-License-Identifier: MIT */
#include "calls.h"
#include "cloud.h"
#include "lattice.h"
#include "pairs.h"

const caromi_call_type *call_type(int number)
{
    switch (number) {
#define CALL(name, subject, desc, out) \
    case CALL_##name:                  \
        return caromi_type_of_##name();
#define CALL_WITH_HITS CALL
#include "list.h"
    default: return NULL;
    }
}
