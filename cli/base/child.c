/* SPDX-License-Identifier: MIT */
#include "child.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

extern char **environ;

int child_start(char *const argv[], const int files[3], pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3 && !error; i++)
        error = files[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, files[i], i)
                              : posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
    error = error ? error : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    error = error ? error : posix_spawn(process, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void lower_limit(int resource, rlim_t most)
{
    struct rlimit old;
    if (getrlimit(resource, &old) == 0)
        setrlimit(resource, &(struct rlimit){most < old.rlim_cur ? most : old.rlim_cur,
                                             most < old.rlim_max ? most : old.rlim_max});
}

int child_begin(pid_t parent)
{
    lower_limit(RLIMIT_CORE, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    return getppid() == parent; /* else it was gone before the line above */
}

void child_limit_memory(uint64_t bytes)
{
    const uint64_t mapped = memory_mapped();
    lower_limit(RLIMIT_AS, bytes < RLIM_INFINITY - mapped ? (rlim_t)(bytes + mapped) : RLIM_INFINITY);
}

void child_limit_seconds(uint64_t soft, uint64_t hard)
{
    struct rlimit old;
    if (getrlimit(RLIMIT_CPU, &old) == 0)
        setrlimit(RLIMIT_CPU, &(struct rlimit){soft < old.rlim_max ? soft : old.rlim_max,
                                               hard < old.rlim_max ? hard : old.rlim_max});
}

int child_send(int fd, const void *data, uint64_t size)
{
    for (const char *at = data; size > 0;) {
        const ssize_t n = send(fd, at, size > 1 << 30 ? 1 << 30 : (size_t)size, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return 0;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (uint64_t)n : 0;
    }
    return 1;
}

int child_receive(int fd, void *data, uint64_t size)
{
    for (char *at = data; size > 0;) {
        const ssize_t n = read(fd, at, size > 1 << 30 ? 1 << 30 : (size_t)size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (uint64_t)n : 0;
    }
    return 1;
}

int child_wait(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}
