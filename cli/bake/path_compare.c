/* SPDX-License-Identifier: MIT */
#include "path_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t no_path = UINT64_MAX; /* an id of none */

int path_differs(path_rows *c, const char *what)
{
    if (c->differences++ == 0)
        cli_message("%s: %s", c->shown, what);
    return EXIT_DONE;
}

/* Rows of a file, one after another: lines, or in a part so many bytes each. */
typedef struct row_reader {
    FILE *file;
    size_t size;       /* of a row; 0: lines */
    const char *names; /* of its values; NULL: lines of the check's own */
    char *row;
    size_t room, length;
    uint64_t number; /* of the row, from 1 on */
    uint64_t id;     /* no_path: it is none of such rows */
    int is_there;
} row_reader;

/* The id in front of a line that has so many values as it must have. */
static uint64_t id_of_line(const row_reader *r)
{
    int left = 0;
    const size_t digits = strspn(r->row, "0123456789");
    for (const char *at = r->names; *at; at++)
        left += *at == ',';
    for (const char *at = r->row; *at; at++)
        left -= *at == ',';
    if (left != 0 || digits == 0 || digits > 19 || (digits > 1 && r->row[0] == '0') || r->row[digits] != ',' ||
        strcspn(r->row, "\n") + 1 != r->length)
        return no_path;
    const uint64_t id = strtoull(r->row, NULL, 10);
    return id < PATH_CHOSEN ? id : no_path;
}

static void next_row(row_reader *r)
{
    ssize_t n = -1;
    if (r->size == 0)
        n = getline(&r->row, &r->room, r->file);
    else if (r->row || (r->row = malloc(r->size)) != NULL)
        n = fread(r->row, r->size, 1, r->file) == 1 ? (ssize_t)r->size : -1;
    r->is_there = n > 0;
    r->length = n > 0 ? (size_t)n : 0;
    r->number++;
    r->id = no_path;
    if (!r->is_there)
        return;
    if (r->size == 0)
        r->id = r->names ? id_of_line(r) : strtoull(r->row, NULL, 10);
    else
        memcpy(&r->id, r->row, sizeof r->id);
}

static int is_at(const row_reader *r, uint64_t id)
{
    return r->is_there && r->id == id;
}

/* The columns that the reference knows. */
static void shorten(row_reader *r)
{
    char *at = r->row;
    for (int commas = 0; *at != '\0' && commas < 5; at++)
        commas += *at == ',';
    char *const last = r->is_there ? strrchr(at, ',') : NULL;
    if (!last) /* of any hits */
        return;
    memmove(at, last + 1, strlen(last + 1) + 1);
    r->length = strlen(r->row);
}

static void report(path_rows *c, const row_reader *file, const row_reader *wanted, uint64_t id, const char *whose)
{
    if (c->differences++ > 0)
        return;
    if (wanted->size > 0 || !is_at(file, id) || !is_at(wanted, id))
        cli_message("%s: path %llu: its rows are not as %s", c->shown, (unsigned long long)id, whose);
    else
        cli_message("%s: path %llu: '%.*s'; %s: '%.*s'", c->shown, (unsigned long long)id,
                    (int)strcspn(file->row, "\n"), file->row, whose, (int)strcspn(wanted->row, "\n"), wanted->row);
}

/* Both go to the row behind those of the path. */
static void compare_path(path_rows *c, row_reader *file, row_reader *wanted, uint64_t id, int is_short,
                         const char *whose)
{
    for (int same = 1; is_at(wanted, id) || is_at(file, id);) {
        if (is_short && is_at(file, id))
            shorten(file);
        if (same && !(is_at(wanted, id) && is_at(file, id) && file->length == wanted->length &&
                      !memcmp(file->row, wanted->row, file->length))) {
            report(c, file, wanted, id, whose);
            same = 0;
        }
        if (is_at(wanted, id))
            next_row(wanted);
        if (is_at(file, id))
            next_row(file);
    }
}

/* `wanted` has the rows of some of the paths of `file`, in the same order. */
static void compare_some(path_rows *c, row_reader *file, row_reader *wanted)
{
    next_row(file);
    for (next_row(wanted); wanted->is_there;) {
        const uint64_t id = wanted->id;
        while (file->is_there && file->id != id)
            next_row(file);
        compare_path(c, file, wanted, id, 1, "is exact mode's; by the reference");
    }
}

/* id: of the path whose rows belong there; no_path: the rows must have ended. */
static void report_place(path_rows *c, const row_reader *file, uint64_t id)
{
    const char *row = file->size > 0 ? "row" : "line";
    const unsigned long long number = file->number + (file->size == 0), there = file->id, expected = id;
    if (c->differences++ > 0)
        return;
    if (!file->is_there)
        cli_message("%s: ends before path %llu", c->shown, expected);
    else if (file->id == no_path)
        cli_message("%s: %s %llu is no row of a path; what follows is not compared", c->shown, row, number);
    else if (id == no_path)
        cli_message("%s: %s %llu is of path %llu, behind the last path; what follows is not compared", c->shown, row,
                    number, there);
    else
        cli_message("%s: %s %llu is of path %llu, where path %llu is expected; what follows is not compared", c->shown,
                    row, number, there, expected);
}

/* The file must have the rows of the paths in `ids`, once each; those of the chosen paths are in `wanted`. */
static void compare_file(path_rows *c, row_reader *file, row_reader *wanted, FILE *ids)
{
    uint64_t next;
    next_row(file);
    next_row(wanted);
    while (fread(&next, sizeof next, 1, ids) == 1) {
        const uint64_t id = next & ~PATH_CHOSEN;
        if (!is_at(file, id)) {
            report_place(c, file, id);
            c->is_stopped = 1;
            return;
        }
        c->compared += next != id;
        if (next != id)
            compare_path(c, file, wanted, id, 0, "computed anew");
        else
            do
                next_row(file);
            while (c->hits == PATH_ALL && is_at(file, id));
    }
    if (file->is_there)
        report_place(c, file, no_path);
}

int path_compare(path_rows *c, FILE *file, FILE *wanted, FILE *ids)
{
    const size_t row = ids && c->is_packed ? path_row_bytes(c->hits) : 0;
    row_reader a = {.file = file, .size = row, .names = ids ? path_names(c->hits) : NULL},
               b = {.file = wanted, .size = row};
    rewind(wanted);
    if (ids) {
        rewind(ids);
        compare_file(c, &a, &b, ids);
    } else {
        compare_some(c, &a, &b);
    }
    const int failed = ferror(file) || ferror(wanted) || (ids && ferror(ids));
    free(a.row);
    free(b.row);
    return failed ? cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", c->shown, strerror(errno)) : EXIT_DONE;
}
