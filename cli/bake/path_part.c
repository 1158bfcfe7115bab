/* SPDX-License-Identifier: MIT */
/* A part of the rows of paths: what every part begins with; its rows as bytes, so that the format is that of the joined
 * output; and a checksum of all that. */
#include "part.h"
#include "path.h"
#include "path_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SUM = 8, ROWS_AT_ONCE = 1 << 12 };

int path_part_is(const char *text)
{
    return strstr(text, "\nwhat path\n") != NULL;
}

int path_text(int fd, char text[BAKE_TEXT])
{
    return (bake_part_text(fd, text) || bake_attribute(fd, text)) && path_part_is(text);
}

/* -1: none. */
static int hits_of(const char *text)
{
    char value[BAKE_NAME];
    const char *at = strstr(text, "\nhits ");
    at = at ? at + 1 : "";
    return bake_text_take(&at, "hits", value) ? bake_word_of(value, path_hits_words, PATH_HITS) : -1;
}

static uint64_t header_bytes(const bake_part_file *part)
{
    unsigned char header[BAKE_PART_HEADER];
    return bake_part_header(part->text, header);
}

int path_part_open(bake_part_file *part)
{
    char version[BAKE_NAME];
    const char *at = part->text, *line = strstr(part->text, "\npart ");
    const int hits = hits_of(part->text);
    unsigned long long i = 0, n = 0;
    if (!bake_text_take(&at, "carom", version) || strcmp(version, carom_version()) != 0 || hits < 0 || !line ||
        sscanf(line, "\npart %llu/%llu\nformat part", &i, &n) != 2 || i < 1 || i > n)
        return cli_refuse(EXIT_USAGE, "%s: is no part that this version of carom bake --part made", part->path);
    part->part = i;
    part->parts = n;
    const uint64_t row = path_row_bytes((path_hits)hits), header = header_bytes(part);
    if (part->bytes < header + SUM || (part->bytes - header - SUM) % row != 0)
        return cli_refuse(EXIT_USAGE, "%s: has %llu bytes, which are no whole rows: the file is damaged", part->path,
                          (unsigned long long)part->bytes);
    return EXIT_DONE;
}

/* ---- joining ------------------------------------------------------------------------------------------------------
 */

static int refuse_unreadable(const bake_part_file *part, int error)
{
    return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", part->path, strerror(error));
}

static int check_sum(const bake_part_file *part)
{
    unsigned char bytes[SUM];
    uint64_t sum;
    int error = path_file_sum(part->fd, part->bytes - SUM, &sum);
    if (!error)
        error = cli_read_at(part->fd, bytes, SUM, part->bytes - SUM);
    if (error)
        return refuse_unreadable(part, error);
    if (bake_get64(bytes) != sum)
        return cli_refuse(EXIT_USAGE, "%s: does not have its checksum: the file is damaged", part->path);
    return EXIT_DONE;
}

static int copy_rows(const bake_part_file *part, path_writer *to)
{
    const size_t row = path_row_bytes(to->hits);
    const uint64_t end = part->bytes - SUM;
    char *rows = cli_alloc(ROWS_AT_ONCE, row);
    int error = 0;
    if (!rows)
        return cli_no_memory();
    for (uint64_t at = header_bytes(part); at < end && !error; at += ROWS_AT_ONCE * row) {
        const size_t bytes = end - at < ROWS_AT_ONCE * row ? (size_t)(end - at) : ROWS_AT_ONCE * row;
        error = cli_read_at(part->fd, rows, bytes, at);
        for (size_t i = 0; i < bytes && !error; i += row)
            path_write_row(to, rows + i);
    }
    free(rows);
    return error ? refuse_unreadable(part, error) : EXIT_DONE;
}

static uint64_t rows_of(const bake_part_file *part, path_hits hits)
{
    return (part->bytes - header_bytes(part) - SUM) / path_row_bytes(hits);
}

static int copy_all(const bake_part_file *parts, int count, path_writer *to)
{
    int status = EXIT_DONE;
    path_writer_header(to);
    for (uint64_t wanted = 1; wanted <= (uint64_t)count; wanted++)
        for (int i = 0; i < count && status == EXIT_DONE; i++)
            if (parts[i].part == wanted)
                status = copy_rows(&parts[i], to);
    return status == EXIT_DONE ? path_writer_finish(to) : status;
}

int path_part_write(output *out, const bake_part_file *parts, int count)
{
    const path_hits hits = (path_hits)hits_of(parts[0].text);
    path_writer writer;
    uint64_t rows = 0;
    for (int i = 0; i < count; i++)
        rows += rows_of(&parts[i], hits);
    int status = path_writer_open_as(&writer, out, hits, rows);
    if (status == EXIT_DONE)
        status = copy_all(parts, count, &writer);
    path_writer_close(&writer);
    return status;
}

/* As the bake of the whole would have them. */
static void put_attributes(const bake_part_file *part, const char *format, output *out)
{
    char text[BAKE_TEXT];
    const char *line = strstr(part->text, "\npart ");
    struct stat info;
    uint64_t sum;
    snprintf(text, sizeof text, "%.*s\npart 1/1\nformat %s\n", (int)(line - part->text), part->text, format);
    output_flush(out);
    if (!out->error && fstat(out->fd, &info) == 0 && S_ISREG(info.st_mode) &&
        path_file_sum(out->fd, (uint64_t)info.st_size, &sum) == 0)
        bake_set_attributes(out->fd, text, sum);
}

int path_part_join(const char *path, const bake_part_file *parts, int count)
{
    output out;
    int status = path_check_suffix(path);
    for (int i = 0; i < count && status == EXIT_DONE; i++)
        status = check_sum(&parts[i]);
    if (status == EXIT_DONE)
        status = bake_join_open(&out, path, parts, count);
    if (status != EXIT_DONE)
        return status;
    status = path_part_write(&out, parts, count);
    if (status == EXIT_DONE)
        put_attributes(&parts[0], path_format_of(path), &out);
    return output_close(&out, status);
}
