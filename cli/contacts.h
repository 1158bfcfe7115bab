/* SPDX-License-Identifier: MIT */
/* Options that only `carom contacts` has. */
#ifndef CAROM_CLI_CONTACTS_H
#define CAROM_CLI_CONTACTS_H

/* Fields of the output, as the registry has them; `previous` behind them. */
enum { CONTACTS_QUERY = 0, CONTACTS_X = 4, CONTACTS_PATCH = 11, CONTACTS_PREVIOUS };

typedef struct contacts_options {
    float margin, merge_within;
    double flat; /* degrees; read if is_flat_given */
    int is_flat_given;
    const char *previous, *ended; /* files; NULL: none */
} contacts_options;

#endif
