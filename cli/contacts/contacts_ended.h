/* SPDX-License-Identifier: MIT */
/* The rows of the step before that have ended, to a file. */
#ifndef CAROM_CLI_CONTACTS_CONTACTS_ENDED_H
#define CAROM_CLI_CONTACTS_CONTACTS_ENDED_H

#include "contacts.h"
#include "cli/table/hdf5.h"
#include "cli/base/output.h"
#include "queries/query.h"

typedef struct contacts_ended {
    const char *path;
    int is_text, is_open;
    output out;
    hdf5_input *file; /* the step before, if it is one */
    int count;        /* of columns */
    query_field fields[QUERY_FIELDS_MAX];
    hdf5_array array[QUERY_FIELDS_MAX]; /* without a file: from memory */
} contacts_ended;

/* Each of these returns an exit status with the message printed. */

/* Find the columns, before any work. contacts_ended_close in any case. */
int contacts_ended_open(contacts_ended *ended, const contacts_history *h, const char *path);
/* Write the file beside its place, where contacts_ended_close puts it. */
int contacts_ended_write(contacts_ended *ended, const contacts_history *h);
/* If `status` is not EXIT_DONE, throw the file away. */
int contacts_ended_close(contacts_ended *ended, int status);

#endif
