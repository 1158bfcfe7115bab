/* SPDX-License-Identifier: MIT */
/* carom's own slab file, a part of an output: 8 bytes of magic, the length of the fingerprint, the fingerprint,
 * padding; then each slab with its arrays; then the checksum of each slab. Numbers have 8 bytes, little-endian. */
#include "part.h"

#include "cli/table/hdf5.h"

#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };
static const char magic[8] = {'c', 'a', 'r', 'o', 'm', 'p', 't', '1'};

size_t bake_part_header(const char *text, unsigned char header[BAKE_PART_HEADER])
{
    const size_t length = strlen(text), size = (16 + length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header, 0, size);
    memcpy(header, magic, sizeof magic);
    bake_put64(header + 8, length);
    memcpy(header + 16, text, length);
    return size;
}

static int lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    char text[BAKE_TEXT];
    unsigned char header[BAKE_PART_HEADER];
    (void)shown;
    bake_fingerprint(plan, text);
    const size_t size = bake_part_header(text, header);
    unsigned char *bytes = volume_layout_add(out, 0, size);
    if (!bytes)
        return cli_no_memory();
    memcpy(bytes, header, size);
    out->by_slab = 1;
    out->array_at[0] = size;
    out->sums_at = size + bake_plan_nodes_before(plan, plan->end) * bake_plan_node_bytes(plan);
    out->bytes = out->sums_at + 8 * (plan->end - plan->begin);
    return EXIT_DONE;
}

const bake_format bake_format_part = {"part", NULL, lay_out};

int bake_part_text(int fd, char text[BAKE_TEXT])
{
    unsigned char head[16];
    if (cli_read_at(fd, head, sizeof head, 0) || memcmp(head, magic, sizeof magic) != 0 ||
        bake_get64(head + 8) >= BAKE_TEXT || cli_read_at(fd, text, bake_get64(head + 8), 16))
        return 0;
    text[bake_get64(head + 8)] = '\0';
    return 1;
}

int bake_part_read(int fd, char text[BAKE_TEXT], bake_plan *plan)
{
    return bake_part_text(fd, text) && bake_fingerprint_read(text, plan) && plan->format == &bake_format_part;
}

/* ---- what other files say -----------------------------------------------------------------------------------------
 */

enum { HEAD = HDF5_HEAD }; /* the longest of all */

/* The comment in the header of a .vti file. */
static int take_comment(const char *head, char text[BAKE_TEXT])
{
    static const char before[] = "<?xml version=\"1.0\"?>\n<!--\n";
    const char *from = head + sizeof before - 1, *end = strstr(head, "-->");
    if (strncmp(head, before, sizeof before - 1) != 0 || !end || end - from >= BAKE_TEXT)
        return 0;
    memcpy(text, from, (size_t)(end - from));
    text[end - from] = '\0';
    return 1;
}

/* The lines of comment behind the first of a .nrrd file. */
static int take_lines(const char *head, char text[BAKE_TEXT])
{
    static const char before[] = "NRRD0004\n";
    size_t used = 0;
    if (strncmp(head, before, sizeof before - 1) != 0)
        return 0;
    for (const char *at = head + sizeof before - 1; !strncmp(at, "# ", 2);) {
        const size_t line = strcspn(at, "\n") + 1;
        if (used + line - 2 >= BAKE_TEXT || at[line - 1] == '\0')
            return 0;
        memcpy(text + used, at + 2, line - 2);
        used += line - 2;
        at += line;
    }
    text[used] = '\0';
    return 1;
}

/* An attribute of an HDF5 file, which needs no library, because the text stands in the file as it is. It may not be the
 * first place with such a beginning. */
static int find_attribute(const char *head, size_t size, char text[BAKE_TEXT], bake_plan *plan)
{
    static const char first[] = "carom ", last[] = "\nformat ";
    const char *at = head, *const end = head + size;
    if (size < 8 || memcmp(head, "\x89HDF\r\n\x1a\n", 8) != 0)
        return 0;
    while ((at = memmem(at, (size_t)(end - at), first, sizeof first - 1)) != NULL) {
        const char *format = memmem(at, (size_t)(end - at), last, sizeof last - 1);
        const char *stop = format ? memchr(format + 1, '\n', (size_t)(end - format) - 1) : NULL;
        if (stop && stop - at < BAKE_TEXT - 1) {
            memcpy(text, at, (size_t)(stop - at) + 1);
            text[stop - at + 1] = '\0';
            if (bake_fingerprint_read(text, plan))
                return 1;
        }
        at++;
    }
    return 0;
}

int bake_attribute(int fd, char text[BAKE_TEXT])
{
    const ssize_t n = fgetxattr(fd, BAKE_ATTRIBUTE, text, BAKE_TEXT - 1);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

int bake_sum_attribute(int fd, uint64_t *sum)
{
    unsigned char bytes[8];
    const int is_there = fgetxattr(fd, BAKE_SUM_ATTRIBUTE, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    *sum = is_there ? bake_get64(bytes) : 0;
    return is_there;
}

void bake_set_attribute(int fd, const char *text)
{
    (void)fsetxattr(fd, BAKE_ATTRIBUTE, text, strlen(text), 0);
}

void bake_set_attributes(int fd, const char *text, uint64_t sum)
{
    unsigned char bytes[8];
    bake_put64(bytes, sum);
    bake_set_attribute(fd, text);
    (void)fsetxattr(fd, BAKE_SUM_ATTRIBUTE, bytes, sizeof bytes, 0);
}

int bake_file_plan(int fd, char text[BAKE_TEXT], bake_plan *plan)
{
    char head[HEAD + 1];
    const ssize_t n = pread(fd, head, HEAD, 0);
    head[n > 0 ? n : 0] = '\0';
    if (bake_part_read(fd, text, plan) ||
        ((take_comment(head, text) || take_lines(head, text)) && bake_fingerprint_read(text, plan)) ||
        find_attribute(head, n > 0 ? (size_t)n : 0, text, plan))
        return 1;
    return bake_attribute(fd, text) && bake_fingerprint_read(text, plan);
}
