/* SPDX-License-Identifier: MIT */
/* Files beside OUT. A bake opens, empties and removes only files that carom made, and each of them has one name. */
#ifndef CAROM_CLI_BAKE_SIDE_H
#define CAROM_CLI_BAKE_SIDE_H

#include <stddef.h>

/* Refuse a file of that name that is no regular file or has another name too, whose content would change as well.
 * shown: as messages name it. Returns an exit status with the message printed; EXIT_DONE if there is none. */
int side_check(int folder, const char *name, const char *shown);
/* Did carom make this file? Its attribute says so, or it begins with `head`, or it is as a power cut leaves it: empty,
 * or of zeros. */
int side_is_caroms(int fd, const void *head, size_t size);
/* The sentence for a file that carom did not make; returns EXIT_USAGE. */
int side_refuse(const char *shown);

/* Is the open file still the one of that name? */
int side_is_in_place(int folder, const char *name, int fd);
/* Remove it if it is. Returns 0 or an errno. */
int side_remove(int folder, const char *name, int fd);

#endif
