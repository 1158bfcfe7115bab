/* SPDX-License-Identifier: MIT */
/* The match of two lists of contacts by the host. match.c */
#ifndef CAROM_HOST_MESH_MATCH_H
#define CAROM_HOST_MESH_MATCH_H
#include "host/core/context.h"

/* Matches lists whose values are checked, and which lie in host memory. */
carom_status caromi_match_on_host(const carom_context *context, const carom_contact_records *previous,
                                  const carom_contact_records *now, const carom_contact_match *out, carom_error *err);
#endif
