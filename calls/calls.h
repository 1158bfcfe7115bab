/* SPDX-License-Identifier: MIT */
/* The types of all calls with a batch, for loops over them. */
#ifndef CAROM_CALLS_CALLS_H
#define CAROM_CALLS_CALLS_H
#include "type.h"

enum {
#define CALL(name, subject, desc, out) CALL_##name,
#define CALL_WITH_HITS CALL
#include "list.h"
    CALL_TYPES
};
/* Type of call `number`, such as CALL_cloud_list. */
const caromi_call_type *call_type(int number);
#endif
