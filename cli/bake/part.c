/* SPDX-License-Identifier: MIT */
/* carom's own slab file, a part of an output: 8 bytes of magic, the length of the fingerprint, the fingerprint,
 * padding; then each slab with its arrays; then the checksum of each slab. Numbers have 8 bytes, little-endian. */
#include "part.h"

#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };
static const char magic[8] = {'c', 'a', 'r', 'o', 'm', 'p', 't', '1'};

static int lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    char text[BAKE_TEXT];
    uint64_t nodes = 0;
    (void)shown;
    bake_fingerprint(plan, text);
    const size_t length = strlen(text), size = (16 + length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *header = bake_layout_add(out, 0, size);
    if (!header)
        return cli_no_memory();
    memset(header, 0, size);
    memcpy(header, magic, sizeof magic);
    bake_put64(header + 8, length);
    memcpy(header + 16, text, length);
    if (plan->end > plan->begin) {
        nodes = bake_plan_nodes(plan, plan->end - 1);
        nodes += (plan->end - 1 - plan->begin) * plan->layers * plan->layer;
    }
    out->by_slab = 1;
    out->array_at[0] = size;
    out->sums_at = size + nodes * bake_plan_node_bytes(plan);
    out->bytes = out->sums_at + 8 * (plan->end - plan->begin);
    return EXIT_DONE;
}

const bake_format bake_format_part = {"part", lay_out};

int bake_part_read(int fd, char text[BAKE_TEXT], bake_plan *plan)
{
    unsigned char head[16];
    if (cli_read_at(fd, head, sizeof head, 0) || memcmp(head, magic, sizeof magic) != 0 ||
        bake_get64(head + 8) >= BAKE_TEXT || cli_read_at(fd, text, bake_get64(head + 8), 16))
        return 0;
    text[bake_get64(head + 8)] = '\0';
    return bake_fingerprint_read(text, plan) && plan->format == &bake_format_part;
}

/* The comment in the header of a .vti file. */
static int read_comment(int fd, char text[BAKE_TEXT])
{
    static const char before[] = "<?xml version=\"1.0\"?>\n<!--\n";
    enum { BEFORE = sizeof before - 1 };
    char head[BEFORE + BAKE_TEXT];
    const ssize_t n = pread(fd, head, sizeof head - 1, 0);
    head[n > 0 ? n : 0] = '\0';
    char *end = strstr(head, "-->");
    if (n < BEFORE || strncmp(head, before, BEFORE) != 0 || !end)
        return 0;
    *end = '\0';
    memcpy(text, head + BEFORE, (size_t)(end - head) - BEFORE + 1);
    return 1;
}

int bake_file_plan(int fd, char text[BAKE_TEXT], bake_plan *plan)
{
    if (bake_part_read(fd, text, plan) || (read_comment(fd, text) && bake_fingerprint_read(text, plan)))
        return 1;
    const ssize_t n = fgetxattr(fd, BAKE_ATTRIBUTE, text, BAKE_TEXT - 1);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 && bake_fingerprint_read(text, plan);
}
