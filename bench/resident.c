/* SPDX-License-Identifier: MIT */
#include "resident.h"

#include "common.h"

#include <stdlib.h>

enum { RESIDENT_MAX = 3 * COLUMNS_MAX };

typedef struct resident_column {
    void *host;
    size_t bytes;
    carom_buffer *buffer;
} resident_column;

struct resident {
    resident_column column[RESIDENT_MAX];
    int count;
};

resident *resident_alloc(void)
{
    resident *r = calloc(1, sizeof *r);

    if (r == NULL)
        bench_die("no memory for %d columns in buffers", (int)RESIDENT_MAX);
    return r;
}

void resident_free(resident *r)
{
    for (int i = 0; r != NULL && i < r->count; i++)
        carom_buffer_destroy(r->column[i].buffer);
    free(r);
}

carom_status resident_add(resident *r, const subject *of, const columns *host, carom_error *err)
{
    carom_status status = CAROM_OK;

    for (int i = 0; i < host->count && host->column_bytes > 0 && status == CAROM_OK; i++) {
        const carom_buffer_desc desc = {.size = sizeof desc, .bytes = host->column_bytes, .where = CAROM_BUFFER_DEVICE};
        resident_column c = {host->column[i], host->column_bytes, NULL};
        if (r->count == RESIDENT_MAX)
            bench_die("more than %d columns in buffers", (int)RESIDENT_MAX);
        status = carom_buffer_create(of->context, &desc, &c.buffer, err);
        if (status != CAROM_OK)
            break;
        r->column[r->count++] = c;
        status = carom_buffer_write(c.buffer, 0, c.host, c.bytes, err);
    }
    return status;
}

static const resident_column *find(const resident *r, const void *host)
{
    for (int i = 0; r != NULL && i < r->count; i++)
        if (r->column[i].host == host)
            return &r->column[i];
    return NULL;
}

void *resident_at(const resident *r, void *host)
{
    const resident_column *c = find(r, host);
    return c != NULL ? carom_buffer_address(c->buffer) : host;
}

void resident_write(const resident *r, const columns *host)
{
    carom_error err = {0};

    for (int i = 0; i < host->count; i++) {
        const resident_column *c = find(r, host->column[i]);
        if (c != NULL && carom_buffer_write(c->buffer, 0, c->host, c->bytes, &err) != CAROM_OK)
            bench_die("a column cannot be written to its buffer: %s", err.message);
    }
}

void resident_read(const resident *r, const columns *host)
{
    carom_error err = {0};

    for (int i = 0; i < host->count; i++) {
        const resident_column *c = find(r, host->column[i]);
        if (c != NULL && carom_buffer_read(c->buffer, 0, c->host, c->bytes, &err) != CAROM_OK)
            bench_die("a column cannot be read from its buffer: %s", err.message);
    }
}
