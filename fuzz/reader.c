/* SPDX-License-Identifier: MIT */
#include "reader.h"
#include "fuzz.h"
#include "tests/support/reader_host.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *data;
    size_t size, room;
} text;

static void append(text *t, const char *data, size_t size)
{
    if (size == 0)
        return;
    if (t->size + size > t->room) {
        t->room = 2 * (t->size + size);
        t->data = realloc(t->data, t->room);
        if (!t->data)
            abort();
    }
    memcpy(t->data + t->size, data, size);
    t->size += size;
}

void fuzz_check_mesh(const mesh_data *mesh)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->indices[i] >= mesh->vertex_count)
            fuzz_fail("a corner is none of the vertices", "reader", NULL, 0);
    for (uint64_t i = 0; i < mesh->part_count; i++) {
        if (!memchr(mesh->parts[i].name, 0, sizeof mesh->parts[i].name))
            fuzz_fail("a part's name has no end", "reader", NULL, 0);
        sum += mesh->parts[i].triangle_count;
    }
    if (sum != mesh->triangle_count)
        fuzz_fail("the parts' triangles are not all", "reader", NULL, 0);
    if (!memchr(mesh->notes, 0, sizeof mesh->notes) || !memchr(mesh->reader, 0, sizeof mesh->reader))
        fuzz_fail("a note has no end", "reader", NULL, 0);
}

/* From memory that ends where the file does, so that a sanitizer sees one byte too many. */
static int read_copy(fuzz_reader read, const char *data, size_t size, mesh_data *mesh)
{
    char *copy = malloc(size > 0 ? size : 1);
    const mesh_file file = {"fuzz", copy, size};
    if (!copy)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    *mesh = (mesh_data){0};
    reader_host_prints = 0;
    reader_host_said[0] = 0;
    int status = read(&file, mesh);
    free(copy);
    if (status != EXIT_DONE && (status != EXIT_USAGE || !reader_host_said[0]))
        fuzz_fail(reader_host_said, "a refusal without a word, or for want of memory", NULL, 0);
    fuzz_check_mesh(mesh); /* also what is half read */
    return status;
}

void fuzz_read_bytes(fuzz_reader read, const uint8_t *data, size_t size)
{
    mesh_data mesh;
    read_copy(read, (const char *)data, size, &mesh);
    mesh_free(&mesh);
}

static void expect_same(const mesh_data *a, const mesh_data *b)
{
    if (a->vertex_count != b->vertex_count || a->triangle_count != b->triangle_count ||
        a->part_count != b->part_count || strcmp(a->notes, b->notes) != 0)
        fuzz_fail("line ends or a byte order mark change the mesh", "reader", NULL, 0);
    if ((a->vertex_count && memcmp(a->xyz, b->xyz, a->vertex_count * 3 * sizeof(float)) != 0) ||
        (a->triangle_count && memcmp(a->indices, b->indices, a->triangle_count * 3 * sizeof(uint32_t)) != 0) ||
        (a->part_count && memcmp(a->parts, b->parts, a->part_count * sizeof *a->parts) != 0))
        fuzz_fail("line ends or a byte order mark change numbers or names", "reader", NULL, 0);
}

static void read_alike(fuzz_reader read, const text *lf)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    mesh_data first, other;
    int status = read_copy(read, lf->data, lf->size, &first);
    for (int way = 1; way < 6; way++) { /* a mark in front of the last three */
        text t = {0};
        if (way >= 3)
            append(&t, "\xef\xbb\xbf", 3);
        for (size_t i = 0; i < lf->size; i++)
            if (lf->data[i] == '\n')
                append(&t, ends[way % 3], strlen(ends[way % 3]));
            else
                append(&t, lf->data + i, 1);
        if (read_copy(read, t.data, t.size, &other) != status)
            fuzz_fail("line ends or a byte order mark decide whether it is read", "reader", NULL, 0);
        if (status == EXIT_DONE)
            expect_same(&first, &other);
        mesh_free(&other);
        free(t.data);
    }
    mesh_free(&first);
}

void fuzz_read_words(fuzz_reader read, const char *const *words, size_t count, const uint8_t *data, size_t size)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "4",
                                          "5",
                                          "-1",
                                          "-2",
                                          "0.5",
                                          "2.25",
                                          "1e3",
                                          "1e999",
                                          "nan",
                                          "1.#QNAN",
                                          "-1.#IND",
                                          "0x1p3",
                                          "6",
                                          "7",
                                          "8",
                                          "255",
                                          "65536",
                                          "4294967295",
                                          "4294967296",
                                          "999999999999999999",
                                          "9223372036854775808"};
    const char *begin = words[size > 0 ? data[0] % 4 : 0];
    text t = {0};
    append(&t, begin, strlen(begin));
    if (strstr(begin, "binary")) {
        if (size > 1)
            append(&t, (const char *)data + 1, size - 1);
        fuzz_read_bytes(read, (const uint8_t *)t.data, t.size);
        free(t.data);
        return;
    }
    for (size_t i = 1; i < size; i++) {
        const unsigned b = data[i];
        const char letter = (char)(b & 0x7f);
        const char *word = b < 64 ? words[b % count] : numbers[b % (sizeof numbers / sizeof numbers[0])];
        if (b < 192) {
            append(&t, b < 160 ? word : "\n", b < 160 ? strlen(word) : 1);
            append(&t, " ", b < 160);
        } else {
            append(&t, letter == 127 ? "\t" : &letter, 1); /* all between '@' and '~' */
        }
    }
    read_alike(read, &t);
    free(t.data);
}
