/* SPDX-License-Identifier: MIT */
#include "bake_ranks.h"

#include "scheduler.h"
#include "place.h"
#include "ranks.h"
#include "share.h"

#include "cli/cli.h"
#include "cli/probe/probe.h"
#include "cli/base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEVICE_NUMBER = 16 };

/* What rank 0 tells the others: there is work, or how it ended. */
typedef struct notice {
    int is_work, status;
    char text[BAKE_TEXT]; /* the fingerprint */
    uint64_t choices;     /* of options_sum */
    char path[PATH_MAX];  /* of OUT.partial, and its number there */
    uint64_t file;
} notice;

/* ---- the same options everywhere ----------------------------------------------------------------------------------
 */

/* mpirun may start ranks with options of their own: on what they compute is theirs, what they compute is not. */
static uint64_t options_sum(const bake_request *o)
{
    const bake_options *b = &o->bake;
    char text[3 * PATH_MAX + 1024];
    const int length = snprintf(
        text, sizeof text, "%s|%s|%s|%s|%d|%u|%a %a %a %a %a|%llu %llu %llu|%d|%u|%d %d %d|%llu %llu",
        o->common.command->name, o->mesh ? o->mesh : "", o->scene ? o->scene : "", o->common.output,
        (int)o->common.accuracy, b->given, b->spacing, b->origin[0], b->origin[1], b->origin[2], b->margin,
        (unsigned long long)b->dims[0], (unsigned long long)b->dims[1], (unsigned long long)b->dims[2], b->allow_open,
        b->arrays, b->bits, b->resume, b->is_part, (unsigned long long)b->part, (unsigned long long)b->parts);
    const uint64_t sum = bake_checksum(text, length < (int)sizeof text ? (size_t)length : sizeof text - 1, 0);
    return bake_checksum(&b->parameters, sizeof b->parameters, sum);
}

static int read_options(int argc, char **argv, const notice *from, bake_request *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", argc > 2 ? argv[1] : "", argc > 2 ? argv[2] : "");
    const cli_command *command = cli_command_named(name);
    if (!command)
        return cli_refuse(EXIT_USAGE, "its command is '%s', and rank 0 bakes", name);
    cli_options *parsed;
    const int status = options_parse(command, argc - 2, argv + 2, &parsed);
    if (status >= 0)
        return status;
    *out = *(const bake_request *)(void *)parsed; /* commands of two words are bakes */
    free(parsed);
    if ((!out->mesh && !out->scene) || !out->common.output || options_sum(out) != from->choices)
        return cli_refuse(EXIT_USAGE,
                          "its options differ from those of rank 0 in more than --backend, --device, --isa, "
                          "--threads, --probe-limit, --progress and --max-memory");
    return EXIT_DONE;
}

/* ---- rank 0 -------------------------------------------------------------------------------------------------------
 */

static int announce(const bake_request *options, const bake_partial *p)
{
    notice n = {.is_work = 1, .choices = options_sum(options)};
    char link[32];
    struct stat info;
    snprintf(link, sizeof link, "/proc/self/fd/%d", p->file.fd);
    const ssize_t length = readlink(link, n.path, sizeof n.path - 1);
    if (length < 0 || fstat(p->file.fd, &info) != 0)
        return bake_growing_fail(&p->file, "found", errno);
    /* What was read of finished slabs must not come back, on another page, over what other nodes write beside them. */
    (void)posix_fadvise(p->file.fd, 0, 0, POSIX_FADV_DONTNEED);
    memcpy(n.text, p->file.text, sizeof n.text);
    n.file = info.st_ino;
    ranks_spread(&n, sizeof n, MPI_COMM_WORLD);
    return EXIT_DONE;
}

static int bake_together(const bake_request *options, bake_mesh *mesh, bake_partial *p)
{
    bake_worker worker;
    bake_request own = *options;
    char number[DEVICE_NUMBER];
    uint64_t bytes = 0;
    int status = announce(options, p);
    if (status != EXIT_DONE)
        return status;
    place_choose(&own.common, number);
    status = bake_worker_open(&worker, options, mesh, p->plan);
    status = ranks_agree(status);
    if (status == EXIT_DONE)
        status = share_mesh(mesh, &bytes);
    if (status == EXIT_DONE) {
        place_report(mesh->context, bytes);
        status = scheduler_serve(&worker, p);
        status = status == EXIT_DONE ? status : bake_growing_stopped(&p->file, status);
    }
    bake_worker_close(&worker);
    return status;
}

bake_crew ranks_of_bake = {.is_many = 1, .bake = bake_together};

void ranks_dismiss(int status)
{
    notice n = {.status = status};
    ranks_spread(&n, sizeof n, MPI_COMM_WORLD);
}

/* ---- the others ---------------------------------------------------------------------------------------------------
 */

/* The file of rank 0. Not for reading: what a node has read of it might come back over what another one wrote. */
static int open_partial(const bake_request *options, const notice *from, int *fd)
{
    struct stat info;
    *fd = open(from->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    if (*fd >= 0 && fstat(*fd, &info) == 0 && info.st_ino == from->file)
        return EXIT_DONE;
    return cli_refuse(EXIT_WORK,
                      "%s.partial: is not the file of rank 0 on %s%s%s: ranks need a file system that all "
                      "nodes share",
                      options->common.output, all_ranks.host, *fd < 0 ? ": " : "", *fd < 0 ? strerror(errno) : "");
}

typedef struct member {
    bake_request options;
    char number[DEVICE_NUMBER];
    bake_plan plan;
    bake_layout layout;
    bake_mesh mesh;
    bake_worker worker;
    int fd;
} member;

/* Everything that may fail, before any work. */
static int prepare(member *m, const notice *from)
{
    bake_request *o = &m->options;
    if (!bake_fingerprint_read(from->text, &m->plan))
        return cli_refuse(EXIT_WORK, "is of another version of carom than rank 0 (%s)", carom_version());
    if (o->common.threads == 0)
        o->common.threads = all_ranks.threads;
    int status = open_partial(o, from, &m->fd);
    if (status == EXIT_DONE)
        status = bake_lay_out(&m->plan, o->common.output, &m->layout);
    if (status == EXIT_DONE)
        status = probe_before_rows(&o->common, NULL, 0, 0);
    if (status == EXIT_DONE)
        status = cli_context_open(&o->common, &m->mesh.context);
    return status == EXIT_DONE ? bake_worker_open(&m->worker, o, &m->mesh, &m->plan) : status;
}

static int take_part(member *m, const notice *from, int argc, char **argv)
{
    uint64_t bytes = 0;
    int status = read_options(argc, argv, from, &m->options);
    if (status != EXIT_DONE) /* place_choose is a call of all ranks */
        m->options.common.backend = CAROM_BACKEND_CPU;
    place_choose(&m->options.common, m->number);
    if (status == EXIT_DONE)
        status = prepare(m, from);
    status = ranks_agree(status);
    if (status == EXIT_DONE)
        status = share_mesh(&m->mesh, &bytes);
    if (status == EXIT_DONE) {
        place_report(m->mesh.context, bytes);
        scheduler_work(&m->worker, &m->layout, m->fd);
    }
    return status;
}

int ranks_serve(int argc, char **argv)
{
    notice n;
    member m = {.fd = -1};
    unfinished_hold();
    ranks_spread(&n, sizeof n, MPI_COMM_WORLD);
    if (!n.is_work)
        return n.status;
    (void)take_part(&m, &n, argc, argv);
    bake_worker_close(&m.worker);
    bake_mesh_free(&m.mesh);
    volume_layout_free(&m.layout);
    if (m.fd >= 0)
        close(m.fd);
    ranks_spread(&n, sizeof n, MPI_COMM_WORLD);
    return n.status;
}
