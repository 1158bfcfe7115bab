/* SPDX-License-Identifier: MIT */
/* carom bake status: how far a bake has come, from its journal; it may be running. */
#include "partial.h"
#include "part.h"
#include "path_file.h"

#include "cli/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int print(const char *shown, const bake_plan *plan, uint64_t done)
{
    const uint64_t count = plan->end - plan->begin;
    char line[BAKE_TEXT];
    bake_layout layout;
    output out;
    int status = bake_lay_out(plan, shown, &layout);
    if (status == EXIT_DONE)
        status = output_open(&out, NULL);
    if (status == EXIT_DONE) {
        bake_describe(plan, line);
        output_format(&out, "%llu/%llu slabs %llu%% %llu bytes ", (unsigned long long)done, (unsigned long long)count,
                      (unsigned long long)(count > 0 ? (uint64_t)(100.0 * (double)done / (double)count) : 100),
                      (unsigned long long)layout.bytes);
        output_text(&out, line);
        output_char(&out, '\n');
        status = output_close(&out, EXIT_DONE);
    }
    volume_layout_free(&layout);
    return status;
}

/* Of a bake that is not complete. Returns -1 if there is none. */
static int print_partial(const char *path)
{
    const size_t size = strlen(path) + sizeof ".partial";
    char *partial = cli_alloc(size, 1), *name = cli_alloc(size, 1);
    bake_journal journal = {.fd = -1};
    uint8_t *done = NULL;
    int status = -1;
    if (!partial || !name) {
        free(partial);
        free(name);
        return cli_no_memory();
    }
    bake_growing_names(path, partial, name, size);
    const int fd = access(partial, F_OK) == 0 ? open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    if (fd >= 0)
        bake_journal_read(&journal, fd);
    const int file = journal.is_valid && !journal.is_readable ? open(partial, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    const int of_paths = file >= 0 ? path_file_status(&journal, file) : -1;
    if (of_paths >= 0)
        status = of_paths;
    else if (journal.is_valid && !journal.is_readable)
        status = cli_refuse(EXIT_USAGE, "%s: is of another version of carom: %.*s", name,
                            (int)strcspn(journal.text, "\n"), journal.text);
    else if (journal.is_valid && !(done = calloc((size_t)(journal.plan.end - journal.plan.begin) + 1, 1)))
        status = cli_no_memory();
    else if (journal.is_valid)
        status = print(path, &journal.plan, bake_journal_records(&journal, done, NULL));
    if (fd >= 0)
        close(fd);
    if (file >= 0)
        close(file);
    free(done);
    free(partial);
    free(name);
    return status;
}

/* Of a complete output. */
static int print_paths(int fd, const char *text)
{
    struct stat info;
    const path_done all = {.points = UINT64_MAX, .bytes = fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0};
    return path_status(text, &all);
}

int run_bake_status(const void *own)
{
    const bake_request *options = own;
    const char *path = options->common.operands[0];
    bake_plan plan;
    char text[BAKE_TEXT];
    const int status = print_partial(path);
    if (status >= 0)
        return status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return cli_refuse(EXIT_USAGE, "%s: neither the file nor a partial one with a journal is there: %s", path,
                          strerror(errno));
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(fd);
        return cli_refuse(EXIT_USAGE, "%s: is a folder: name one of the outputs in it", path);
    }
    const int of_paths = path_text(fd, text) ? print_paths(fd, text) : -1;
    const int known = of_paths < 0 && bake_file_plan(fd, text, &plan);
    close(fd);
    if (of_paths >= 0)
        return of_paths;
    if (!known)
        return cli_refuse(EXIT_USAGE, "%s: is complete, or no output of carom bake: it does not say how it was made",
                          path);
    return print(path, &plan, plan.end - plan.begin);
}
