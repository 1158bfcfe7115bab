/* SPDX-License-Identifier: MIT */
/* Preloaded by torture.sh and signals.sh: the TORTURE_AT-th call of kind TORTURE_CALL that carom's own code makes
 * fails, as if memory, disk or descriptors had run out, or (TORTURE_HOLD) waits, or (TORTURE_KILL) is the last:
 * the process is killed, in the middle of the call if it writes. The file TORTURE_HIT then appears, and a call that
 * waits goes on when it is gone. Calls of drivers and of the C library itself are left alone: many end the process when
 * they fail. TORTURE_COUNTS: a file for the number of calls of each kind. TORTURE_SLOW: three seconds pass between any
 * two looks at a clock. TORTURE_FREE: no file system reserves space, and each has so many bytes free. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* glibc's allocator by its other names, because dlsym may allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

enum { MALLOC, THREAD, OPEN, READ, WRITE, CLOSE, FSYNC, RENAME, FCHMOD, FCHOWN, SPACE, UNLINK, LINK, LOCK, KINDS };

static const char *const kinds[KINDS] = {"malloc", "thread", "open",   "read",  "write",  "close", "fsync",
                                         "rename", "fchmod", "fchown", "space", "unlink", "link",  "lock"};
static atomic_ulong calls[KINDS];
static const char *call, *hit, *counts, *free_bytes;
static unsigned long at;
static int hold, deadly, slow;

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("TORTURE_AT");
    call = getenv("TORTURE_CALL");
    hit = getenv("TORTURE_HIT");
    counts = getenv("TORTURE_COUNTS");
    free_bytes = getenv("TORTURE_FREE");
    hold = getenv("TORTURE_HOLD") != NULL;
    deadly = getenv("TORTURE_KILL") != NULL;
    slow = getenv("TORTURE_SLOW") != NULL;
    at = number != NULL ? strtoul(number, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const int file =
        counts != NULL ? (int)syscall(SYS_openat, AT_FDCWD, counts, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    for (int i = 0; file >= 0 && i < KINDS; i++)
        dprintf(file, "%s %lu\n", kinds[i], atomic_load(&calls[i]));
}

static int is_caroms(const void *caller)
{
    Dl_info where;
    if (!dladdr(caller, &where) || where.dli_fname == NULL)
        return 0;
    const char *slash = strrchr(where.dli_fname, '/'), *name = slash != NULL ? slash + 1 : where.dli_fname;
    return strcmp(name, "carom") == 0 || strncmp(name, "libcarom.so", 11) == 0;
}

/* Whether this call is the one. */
static int fails(int kind, const void *caller, int error)
{
    if ((call == NULL && counts == NULL) || !is_caroms(caller))
        return 0;
    const unsigned long number = atomic_fetch_add(&calls[kind], 1) + 1;
    if (call == NULL || hit == NULL || strcmp(kinds[kind], call) != 0 || number != at)
        return 0;
    syscall(SYS_close, (int)syscall(SYS_openat, AT_FDCWD, hit, O_WRONLY | O_CREAT, 0600));
    while (hold && faccessat(AT_FDCWD, hit, F_OK, 0) == 0)
        usleep(1000);
    if (hold)
        return 0;
    if (deadly && kind != WRITE)
        kill(getpid(), SIGKILL);
    errno = error;
    return 1;
}

/* The call that fails has written a half, if it is deadly. */
static ssize_t half(int fd, const void *from, size_t size, off_t place)
{
    if (deadly) {
        if (size > 1)
            syscall(SYS_pwrite64, fd, from, size / 2, place);
        kill(getpid(), SIGKILL);
    }
    return -1;
}

#define FAILS(kind, error) fails(kind, __builtin_return_address(0), error)
#define NEXT(name, result, ...)               \
    static result (*next)(__VA_ARGS__);       \
    if (next == NULL) {                       \
        void *found = dlsym(RTLD_NEXT, name); \
        memcpy(&next, &found, sizeof found);  \
    }

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void *malloc(size_t size)
{
    return FAILS(MALLOC, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS(MALLOC, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return FAILS(MALLOC, ENOMEM) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS(MALLOC, ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (FAILS(MALLOC, ENOMEM))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = FAILS(MALLOC, ENOMEM) ? NULL : __libc_malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t length)
{
    const size_t size = strnlen(text, length);
    char *copy = FAILS(MALLOC, ENOMEM) ? NULL : __libc_malloc(size + 1);
    if (copy == NULL)
        return NULL;
    copy[size] = '\0';
    return memcpy(copy, text, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    NEXT("pthread_create", int, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    return FAILS(THREAD, EAGAIN) ? EAGAIN : next(thread, attributes, run, argument);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list list)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return FAILS(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = mode_of(flags, list);
    va_end(list);
    return FAILS(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT("fopen", FILE *, const char *, const char *)
    return FAILS(OPEN, EMFILE) ? NULL : next(path, mode);
}

int mkostemp(char *pattern, int flags)
{
    NEXT("mkostemp", int, char *, int)
    return FAILS(OPEN, ENOSPC) ? -1 : next(pattern, flags);
}

int pipe2(int ends[2], int flags)
{
    return FAILS(OPEN, EMFILE) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

ssize_t read(int fd, void *to, size_t size)
{
    return FAILS(READ, EIO) ? -1 : syscall(SYS_read, fd, to, size);
}

ssize_t write(int fd, const void *from, size_t size)
{
    return fd > 2 && FAILS(WRITE, ENOSPC) ? half(fd, from, size, lseek(fd, 0, SEEK_CUR))
                                          : syscall(SYS_write, fd, from, size);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t place)
{
    return FAILS(WRITE, ENOSPC) ? half(fd, from, size, place) : syscall(SYS_pwrite64, fd, from, size, place);
}

ssize_t pread(int fd, void *to, size_t size, off_t place)
{
    return FAILS(READ, EIO) ? -1 : syscall(SYS_pread64, fd, to, size, place);
}

int fallocate(int fd, int flags, off_t place, off_t size)
{
    if (free_bytes != NULL) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return FAILS(SPACE, ENOSPC) ? -1 : (int)syscall(SYS_fallocate, fd, flags, place, size);
}

int fstatvfs(int fd, struct statvfs *info)
{
    static int (*next)(int, struct statvfs *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "fstatvfs");
    const int failed = next(fd, info);
    if (failed == 0 && free_bytes != NULL) {
        info->f_frsize = 1;
        info->f_bavail = strtoul(free_bytes, NULL, 10);
    }
    return failed;
}

int ftruncate(int fd, off_t size)
{
    return FAILS(SPACE, EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fdatasync(int fd)
{
    return FAILS(FSYNC, EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int flock(int fd, int how)
{
    return FAILS(LOCK, ENOLCK) ? -1 : (int)syscall(SYS_flock, fd, how);
}

int unlinkat(int folder, const char *path, int flags)
{
    return FAILS(UNLINK, EIO) ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return FAILS(LINK, EIO) ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int close(int fd)
{
    const int failed = FAILS(CLOSE, EDQUOT), closed = (int)syscall(SYS_close, fd); /* as Linux does even then */
    if (failed)
        errno = EDQUOT;
    return failed ? -1 : closed;
}

int fsync(int fd)
{
    return FAILS(FSYNC, EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    return FAILS(RENAME, EIO) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return FAILS(RENAME, EIO) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

int fchmod(int fd, mode_t mode)
{
    return FAILS(FCHMOD, EPERM) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return FAILS(FCHOWN, EPERM) ? -1 : (int)syscall(SYS_fchown, fd, owner, group);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static atomic_long looks;
    const int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (slow)
        now->tv_sec += 3 * atomic_fetch_add(&looks, 1);
    return failed;
}
