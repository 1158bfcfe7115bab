/* SPDX-License-Identifier: MIT */
/* Preloaded by outputs.sh and bake_interrupted.sh: a disk that keeps only what was flushed to it, and a power cut. At
 * the POWER_CUT_AT-th call that writes, flushes or renames, or else at the end of the process, files lose all that was
 * written after their last fsync, and what was written at a place of a file is as it was. What a rename did is lost too
 * (POWER_CUT_NAMES=lose) if its folder was not flushed since; a disk may as well have kept it, which is the other
 * value's case. POWER_CUT_DEAF: flushes do nothing. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES_MAX = 16, PLACES_MAX = 4096, OWN_DESCRIPTORS = 100, POWER_OFF = 99 };

/* Written files; a descriptor of our own finds them under any name. */
static struct {
    int own;
    dev_t device;
    ino_t inode;
    off_t durable;
} files[FILES_MAX];
static int file_count;

/* What pwrite replaced since the last flush, in order. */
static struct {
    int file;
    off_t at;
    ssize_t size;
    char *replaced;
} places[PLACES_MAX];
static int place_count;

/* The last rename, while its folder has not been flushed: `before` is a second name of what it replaced. */
static int renamed, folder;
static char from[64], to[256];
static const char before[] = ".before-the-power-cut";

static int deaf(void)
{
    return getenv("POWER_CUT_DEAF") != NULL;
}

static void cut(void)
{
    const char *names = getenv("POWER_CUT_NAMES");
    for (int i = place_count - 1; i >= 0; i--)
        if (syscall(SYS_pwrite64, files[places[i].file].own, places[i].replaced, places[i].size, places[i].at) !=
            places[i].size)
            abort();
    place_count = 0;
    for (int i = 0; i < file_count; i++)
        if (ftruncate(files[i].own, files[i].durable) != 0)
            abort();
    if (renamed && names != NULL && strcmp(names, "lose") == 0) {
        syscall(SYS_renameat2, folder, to, folder, from, 0);
        syscall(SYS_renameat2, folder, before, folder, to, 0);
    }
    if (renamed)
        unlinkat(folder, before, 0);
    renamed = file_count = 0;
}

__attribute__((destructor)) static void at_the_end(void)
{
    cut();
}

static void count(void)
{
    static unsigned long calls;
    const char *at = getenv("POWER_CUT_AT");
    if (at == NULL || ++calls != strtoul(at, NULL, 10))
        return;
    cut();
    syscall(SYS_exit_group, POWER_OFF);
}

static int find(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return -1;
    for (int i = 0; i < file_count; i++)
        if (files[i].device == info.st_dev && files[i].inode == info.st_ino)
            return i;
    return -1;
}

static void track(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || find(fd) >= 0 || file_count == FILES_MAX)
        return;
    files[file_count].own = fcntl(fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);
    files[file_count].device = info.st_dev;
    files[file_count].inode = info.st_ino;
    files[file_count++].durable = info.st_size;
}

ssize_t write(int fd, const void *data, size_t size)
{
    if (fd > 2) {
        track(fd);
        count();
    }
    return syscall(SYS_write, fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    track(fd);
    count();
    const int file = find(fd);
    if (file >= 0) {
        char *replaced = place_count < PLACES_MAX ? malloc(size + 1) : NULL;
        if (replaced == NULL)
            abort();
        places[place_count].file = file;
        places[place_count].at = at;
        places[place_count].replaced = replaced;
        places[place_count++].size = syscall(SYS_pread64, files[file].own, replaced, size, at);
    }
    return syscall(SYS_pwrite64, fd, data, size, at);
}

/* What was written at places of this file stays. */
static void keep_places(int file)
{
    int kept = 0;
    for (int i = 0; i < place_count; i++)
        if (places[i].file == file)
            free(places[i].replaced);
        else
            places[kept++] = places[i];
    place_count = kept;
}

int fsync(int fd)
{
    struct stat info;
    const int i = find(fd);
    count();
    if (deaf() || fstat(fd, &info) != 0)
        return 0;
    if (i >= 0) {
        files[i].durable = info.st_size;
        keep_places(i);
    }
    if (renamed && S_ISDIR(info.st_mode)) {
        unlinkat(folder, before, 0);
        renamed = 0;
    }
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

static int note_rename(int in, const char *old, const char *new)
{
    count();
    (void)unlinkat(in, before, 0);
    (void)linkat(in, new, in, before, 0);
    const int failed = (int)syscall(SYS_renameat2, in, old, in, new, 0);
    if (!failed) {
        renamed = 1;
        folder = in == AT_FDCWD ? in : fcntl(in, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);
        snprintf(from, sizeof from, "%s", old);
        snprintf(to, sizeof to, "%s", new);
    }
    count(); /* between the rename and whatever follows */
    return failed;
}

int renameat(int old_folder, const char *old, int new_folder, const char *new)
{
    (void)new_folder; /* the same */
    return note_rename(old_folder, old, new);
}

int rename(const char *old, const char *new)
{
    return note_rename(AT_FDCWD, old, new);
}
