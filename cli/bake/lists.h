/* SPDX-License-Identifier: MIT */
/* Values that carom bake writes at the nodes of a lattice: a line for each kind of volume, and for each array of a
 * file. */
#ifndef CAROM_CLI_BAKE_LISTS_H
#define CAROM_CLI_BAKE_LISTS_H

/* X(name), in the order of help and messages: kind_NAME.c has bake_kind_NAME and the command, bake_NAME_command. */
#define BAKE_EACH_KIND(X) X(distance) X(clearance) X(drop)

/* X(name, type of a component, [components] if a node has several), in the order in which every file holds them. */
#define BAKE_EACH_ARRAY(X)  \
    X(distance, float, )    \
    X(triangle, int32_t, )  \
    X(feature, uint8_t, )   \
    X(point, float, [3])    \
    X(gradient, float, [3]) \
    X(clearance, uint8_t, ) \
    X(height, float, )

#endif
