/* SPDX-License-Identifier: MIT */
/* Options that only `carom spheres --cloud` has. */
#ifndef CAROM_CLI_SPHERES_CLOUD_H
#define CAROM_CLI_SPHERES_CLOUD_H

/* Which of them were on the command line. */
enum { CLOUD_GIVEN_MARGIN = 1u << 0, CLOUD_GIVEN_PERIOD = 1u << 1 };

typedef struct cloud_options {
    const char *path; /* NULL: no cloud */
    unsigned given;
    float margin, period[3];
} cloud_options;

#endif
