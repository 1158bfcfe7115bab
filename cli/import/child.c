/* SPDX-License-Identifier: MIT */
#include "child.h"
#include "cli/base/child.h"
#include "cli/base/base.h"
#include "cli/base/progress.h"
#include "cli/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- limits ------------------------------------------------------------------------------------------------------ */

typedef struct limits {
    uint64_t memory;  /* bytes beside what the process has when it starts */
    uint64_t seconds; /* of processor time */
} limits;

/* Real models take some tens of bytes for each of the file, those with compressed parts some hundreds. */
static limits limits_for(uint64_t file_size)
{
    const uint64_t by_size = (UINT64_C(1) << 30) + 512 * file_size, free_half = memory_limit();
    struct rlimit processor;
    limits l = {by_size < free_half ? by_size : free_half, 120 + file_size / 16384};
    if (getrlimit(RLIMIT_CPU, &processor) == 0 && processor.rlim_cur < l.seconds)
        l.seconds = processor.rlim_cur;
    return l;
}

/* A process that would outlive the command, or take more than its share, is ended by the system. */
static void set_limits(const limits *l, pid_t parent)
{
    if (!child_begin(parent))
        _exit(EXIT_WORK);
    child_limit_memory(l->memory);
    child_limit_seconds(l->seconds, l->seconds + 5);
}

/* The command's handlers remove what the command has begun to write: none of the child's business. */
static void forget_handlers(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction old;
        if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN && old.sa_handler != SIG_DFL)
            signal(number, SIG_DFL);
    }
}

/* ---- the mesh, through a socket ---------------------------------------------------------------------------------- */

/* The reader prints what it likes where results belong, so its standard output is closed off. */
_Noreturn static void child(const char *path, mesh_child_reader reader, const limits *l, pid_t parent, int fd)
{
    mesh_data mesh = {0};
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    forget_handlers();
    set_limits(l, parent);
    int status = reader(path, &mesh);
    if (status == EXIT_DONE &&
        !(child_send(fd, &mesh, sizeof mesh) && child_send(fd, mesh.xyz, mesh.vertex_count * 3 * sizeof(float)) &&
          child_send(fd, mesh.indices, mesh.triangle_count * 3 * sizeof(uint32_t)) &&
          child_send(fd, mesh.parts, mesh.part_count * sizeof *mesh.parts)))
        status = EXIT_WORK;
    _exit(status);
}

/* A file that has taken over its reader may send anything. */
static int is_sound(mesh_data *mesh)
{
    uint64_t triangles = 0;
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->indices[i] >= mesh->vertex_count)
            return 0;
    for (uint64_t i = 0; i < mesh->part_count; i++) {
        mesh->parts[i].name[sizeof mesh->parts[i].name - 1] = '\0';
        if (mesh->parts[i].triangle_count > mesh->triangle_count - triangles)
            return 0;
        triangles += mesh->parts[i].triangle_count;
    }
    mesh->reader[sizeof mesh->reader - 1] = '\0';
    mesh->notes[sizeof mesh->notes - 1] = '\0';
    return triangles == mesh->triangle_count;
}

typedef enum received { RECEIVED, RECEIVED_NOT, RECEIVED_NO_MEMORY } received;

/* Fill `out` from the socket, if the child does not end early and announces no more than fits the limit. */
static received receive(int fd, const limits *l, mesh_data *out)
{
    if (!child_receive(fd, out, sizeof *out)) {
        *out = (mesh_data){0};
        return RECEIVED_NOT;
    }
    out->xyz = NULL;
    out->indices = NULL;
    out->masks = NULL;
    out->parts = NULL;
    out->vertex_room = out->triangle_room = out->part_room = 0;
    const uint64_t most = l->memory / 12;
    if (out->vertex_count > UINT32_MAX || out->triangle_count > INT32_MAX || out->part_count > most ||
        out->vertex_count > most || out->triangle_count > most)
        return RECEIVED_NOT;
    out->xyz = cli_alloc(out->vertex_count, 3 * sizeof(float));
    out->indices = cli_alloc(out->triangle_count, 3 * sizeof(uint32_t));
    out->parts = cli_alloc(out->part_count, sizeof *out->parts);
    if (!out->xyz || !out->indices || !out->parts)
        return RECEIVED_NO_MEMORY;
    return child_receive(fd, out->xyz, out->vertex_count * 3 * sizeof(float)) &&
                   child_receive(fd, out->indices, out->triangle_count * 3 * sizeof(uint32_t)) &&
                   child_receive(fd, out->parts, out->part_count * sizeof *out->parts) && is_sound(out)
               ? RECEIVED
               : RECEIVED_NOT;
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Until there is something to read. */
static void wait_and_report(int fd, const char *path)
{
    enum { TICK = 200 }; /* ms */
    struct pollfd from = {.fd = fd, .events = POLLIN};
    progress waiting;
    char job[4200];
    int found = 0;
    snprintf(job, sizeof job, "%s: importing", path);
    progress_begin(&waiting, job, NULL, 0, 0);
    while (found == 0) {
        found = poll(&from, 1, TICK);
        found = found < 0 && errno == EINTR ? 0 : found;
        progress_show(&waiting, 0);
    }
    progress_end(&waiting);
}

/* What the child's end means, in a sentence unless it has explained itself. */
static int explain(const char *path, const limits *l, int ended)
{
    char memory[32];
    const int number = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
    if (number == SIGINT) /* of the terminal: it is the command's too */
        raise(SIGINT);
    if (number == SIGXCPU)
        return cli_refuse(EXIT_USAGE, "%s: cannot be imported: the importer worked for longer than its limit, %llu s",
                          path, (unsigned long long)l->seconds);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == MESH_CHILD_MEMORY)
        return cli_refuse(EXIT_USAGE,
                          "%s: cannot be imported: the importer needs more than its limit of memory, %s (1 GiB and 512 "
                          "times the file, at most half of what is free)",
                          path, memory_text(memory, sizeof memory, l->memory));
    if (number == SIGKILL)
        return cli_refuse(EXIT_WORK, "%s: the importer was killed, perhaps because the system has no memory left",
                          path);
    if (number != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be imported: the importer crashed on it (%s)", path,
                          strsignal(number));
    return WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_USAGE ? EXIT_USAGE : EXIT_WORK;
}

int mesh_child_run(const char *path, mesh_child_reader reader, mesh_data *out)
{
    int ends[2];
    struct stat info;
    if (stat(path, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: not a regular file, which this format needs", path);
    const limits l = limits_for((uint64_t)info.st_size);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cli_refuse(EXIT_WORK, "cannot start the importer: %s", strerror(errno));
    const pid_t parent = getpid(), process = fork();
    if (process == 0) {
        close(ends[0]);
        child(path, reader, &l, parent, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return cli_refuse(EXIT_WORK, "cannot start the importer: %s", strerror(errno));
    }
    wait_and_report(ends[0], path);
    const received result = receive(ends[0], &l, out);
    close(ends[0]);
    const int ended = child_wait(process);
    if (result == RECEIVED)
        return EXIT_DONE;
    if (result == RECEIVED_NO_MEMORY)
        return cli_no_memory();
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_DONE)
        return cli_refuse(EXIT_USAGE, "%s: cannot be imported: the importer sent no sound mesh", path);
    return explain(path, &l, ended);
}
