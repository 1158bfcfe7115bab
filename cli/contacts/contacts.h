/* SPDX-License-Identifier: MIT */
/* Contacts of the step before, which carom contacts matches and whose ended rows it writes. */
#ifndef CAROM_CLI_CONTACTS_CONTACTS_H
#define CAROM_CLI_CONTACTS_CONTACTS_H

#include <stdint.h>

/* Fields of the output, as the registry has them; `previous` behind them. */
enum { CONTACTS_QUERY = 0, CONTACTS_X = 4, CONTACTS_PATCH = 11, CONTACTS_PREVIOUS };

/* Contacts of the step before. */
typedef struct contacts_history {
    const char *path;
    struct carom_context *context;
    uint64_t count, next; /* contacts; the first one whose sphere is not answered yet */
    uint64_t *query;
    uint32_t *patch;
    int32_t *instance;                 /* of a scene */
    int of_scene;                      /* contacts are with a scene */
    int instance_field;                /* of a scene: of the output */
    float *point;                      /* x y z */
    uint8_t *has_ended;                /* of each */
    uint64_t *ended;                   /* of a piece */
    struct contacts_ended *ended_rows; /* to be written; NULL: not asked for */
} contacts_history;

/* The column of a step that has one before it. */
extern const struct query_field contacts_previous_field;

#endif
