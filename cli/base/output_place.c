/* SPDX-License-Identifier: MIT */
#include "output_place.h"
#include "base.h"
#include "unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

static int refuse(const output_place *place, const char *why)
{
    return cli_refuse(EXIT_WORK, "%s: cannot be written: %s", place->shown, why);
}

/* ---- links ---------------------------------------------------------------------------------------------------- */

/* Names of file descriptors that are already open: opening them again would truncate or restart the file. */
static int named_descriptor(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(prefixes[i]);
        char *end;
        if (strncmp(path, prefixes[i], n) || path[n] < '0' || path[n] > '9')
            continue;
        long fd = strtol(path + n, &end, 10);
        if (*end == '\0' && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

/* Replace path by what its symbolic link says. Returns 1 if it was a link, 0 if not, -1 with errno set. */
static int follow_link(char **path)
{
    struct stat info;
    char target[PATH_MAX];
    if (lstat(*path, &info) != 0 || !S_ISLNK(info.st_mode))
        return 0;
    ssize_t n = readlink(*path, target, sizeof target - 1);
    if (n < 0)
        return -1;
    target[n] = '\0';
    const char *slash = strrchr(*path, '/');
    size_t folder = target[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - *path);
    char *joined = malloc(folder + (size_t)n + 1);
    if (!joined)
        return -1;
    memcpy(joined, *path, folder);
    memcpy(joined + folder, target, (size_t)n + 1);
    free(*path);
    *path = joined;
    return 1;
}

/* Set path, or descriptor if a link ends at one. Returns 0 with errno. */
static int follow_links(output_place *place, const char *path)
{
    place->path = strdup(path);
    for (int links = 0; place->path; links++) {
        place->descriptor = named_descriptor(place->path);
        if (place->descriptor >= 0) {
            free(place->path);
            place->path = NULL;
            return 1;
        }
        int linked = follow_link(&place->path);
        if (linked <= 0)
            return linked == 0;
        if (links == LINKS_MAX) {
            errno = ELOOP;
            return 0;
        }
    }
    return 0;
}

/* ---- may it be replaced? --------------------------------------------------------------------------------------- */

/* The folder is flushed when a file is put into it, which takes reading; a folder that may only be written is used
 * without. */
static int open_folder(output_place *place)
{
    const char *slash = strrchr(place->path, '/');
    place->name = slash ? slash + 1 : place->path;
    char *folder = slash ? strndup(place->path, (size_t)(slash + 1 - place->path)) : strdup(".");
    if (!folder)
        return 0;
    place->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->flushable = place->folder >= 0;
    if (place->folder < 0 && errno == EACCES)
        place->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = errno;
    free(folder);
    errno = error;
    return place->folder >= 0;
}

/* A rename succeeds over a read-only file, but such a file is not meant to be replaced. */
static int check_old(const output_place *place)
{
    struct stat folder;
    if (!(place->old.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
        return refuse(place, "the file is read-only");
    if (faccessat(place->folder, place->name, W_OK, AT_EACCESS) != 0)
        return refuse(place, strerror(errno));
    if (fstat(place->folder, &folder) == 0 && (folder.st_mode & S_ISVTX) && geteuid() != 0 &&
        geteuid() != folder.st_uid && geteuid() != place->old.st_uid)
        return refuse(place, "in a sticky folder a file can be replaced by its owner alone");
    return EXIT_DONE;
}

int output_place_find(output_place *place, const char *path)
{
    *place = (output_place){.shown = path && strcmp(path, "-") ? path : "standard output", .folder = -1};
    if (!follow_links(place, path ? path : "-"))
        return refuse(place, strerror(errno));
    if (!place->path)
        return EXIT_DONE;
    if (!open_folder(place))
        return refuse(place, strerror(errno));
    if (place->name[0] == '\0')
        return refuse(place, strerror(EISDIR));
    place->exists = fstatat(place->folder, place->name, &place->old, 0) == 0;
    if (!place->exists && errno != ENOENT)
        return refuse(place, strerror(errno));
    if (place->exists && S_ISDIR(place->old.st_mode))
        return refuse(place, strerror(EISDIR));
    if (place->exists && !S_ISREG(place->old.st_mode)) {
        close(place->folder);
        place->folder = -1;
        return EXIT_DONE;
    }
    if (faccessat(place->folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return cli_refuse(EXIT_WORK, "%s: cannot be written: no file can be made in its folder: %s", place->shown,
                          strerror(errno));
    return place->exists ? check_old(place) : EXIT_DONE;
}

int output_place_same(const output_place *a, const output_place *b)
{
    struct stat one, other;
    if (a->folder < 0 || b->folder < 0)
        return 0;
    if (a->exists && b->exists)
        return a->old.st_dev == b->old.st_dev && a->old.st_ino == b->old.st_ino;
    return !strcmp(a->name, b->name) && fstat(a->folder, &one) == 0 && fstat(b->folder, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* ---- the file beside it ---------------------------------------------------------------------------------------- */

/* Under an access list the group bits of the mode are its mask, so list and mode belong together. Returns whether the
 * new file has the old one's list, none being one too. */
static int keep_access_list(const output_place *place, int fd)
{
    static const char list[] = "system.posix_acl_access";
    char value[4096];
    ssize_t size = getxattr(place->path, list, value, sizeof value);
    if (size > 0)
        return fsetxattr(fd, list, value, (size_t)size, 0) == 0;
    int none = errno == ENODATA || errno == ENOTSUP; /* else it is there and cannot be read */
    return (fremovexattr(fd, list) == 0 || errno == ENODATA || errno == ENOTSUP) && none;
}

/* Bits that change who a program runs as are dropped, as a write to the old file would have dropped them. */
int output_place_keep_access(const output_place *place, int fd)
{
    const struct stat *old = &place->old;
    struct stat now;
    if (fstat(fd, &now) != 0)
        return 0;
    if (now.st_uid != old->st_uid && fchown(fd, old->st_uid, (gid_t)-1) == 0)
        now.st_uid = old->st_uid;
    if (now.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) == 0)
        now.st_gid = old->st_gid;
    mode_t user = (old->st_mode >> 6) & 7, group = (old->st_mode >> 3) & 7, other = old->st_mode & 7;
    if (now.st_gid != old->st_gid)
        group = other = group & other;
    if (now.st_uid != old->st_uid) {
        group &= user;
        other &= user;
    }
    if (!keep_access_list(place, fd))
        group = other = 0;
    /* A file system that has no modes of its own gives every file the same, and nothing is to be set. */
    const mode_t mode = user << 6 | group << 3 | other;
    return (now.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) == mode || fchmod(fd, mode) == 0;
}

/* The name says nothing of the final one, which may be as long as names can be. */
static void choose_name(char name[OUTPUT_TEMPORARY], int attempt)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[6];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        for (size_t i = 0; i < sizeof random; i++)
            random[i] = (unsigned char)(getpid() >> (4 * i)) + (unsigned char)attempt;
    size_t used = (size_t)snprintf(name, OUTPUT_TEMPORARY, ".carom-");
    for (size_t i = 0; i < sizeof random; i++)
        name[used++] = letters[random[i] % (sizeof letters - 1)];
    name[used] = '\0';
}

/* Create a file under a name that is free, or give `nameless` one, unless that is -1. */
static int create(const output_place *place, mode_t mode, int nameless, char name[OUTPUT_TEMPORARY])
{
    int fd = -1;
    for (int attempt = 0; attempt < 100 && fd < 0 && (attempt == 0 || errno == EEXIST); attempt++) {
        choose_name(name, attempt);
        fd = unfinished_create(place->folder, name, mode, nameless);
    }
    return fd;
}

/* Of a file without a name nothing is left if the process is killed. Not every file system has them, and a name can be
 * given through /proc alone. Before Linux 6.0 some file systems forgot the umask: a mode from which nothing was taken
 * is not believed. -1: none. */
static int create_nameless(const output_place *place, mode_t mode)
{
    const mode_t all = 0666;
    char path[UNFINISHED_PATH];
    struct stat info;
    const int fd = openat(place->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
        return -1;
    unfinished_path(path, fd);
    if (access(path, F_OK) == 0 && fstat(fd, &info) == 0 && (info.st_mode & all) != all)
        return fd;
    close(fd);
    return -1;
}

int output_place_nameless(const output_place *place)
{
    char name[OUTPUT_TEMPORARY];
    int fd = create_nameless(place, 0600);
    if (fd >= 0)
        return fd;
    fd = create(place, 0600, -1, name);
    if (fd >= 0)
        unfinished_drop(place->folder, name);
    return fd;
}

int output_place_open(output_place *place)
{
    if (!place->path)
        return fcntl(place->descriptor, F_DUPFD_CLOEXEC, 3);
    if (place->folder < 0)
        return open(place->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    /* A new file gets its mode as any other would: the umask, or the folder's default access list. */
    const mode_t mode = place->exists ? 0600 : 0666;
    int fd = create_nameless(place, mode), error = 0;
    place->is_nameless = fd >= 0;
    if (fd < 0) {
        fd = create(place, mode, -1, place->temporary);
        error = errno;
    }
    if (fd < 0)
        place->temporary[0] = '\0';
    if (fd >= 0 && place->exists && !output_place_keep_access(place, fd)) {
        error = errno;
        close(fd);
        output_place_drop(place);
        fd = -1;
    }
    errno = error;
    return fd;
}

/* ---- in place -------------------------------------------------------------------------------------------------- */

/* What lies on something that has no disk cannot be flushed to it. */
static int flush_to_disk(int fd)
{
    int failed;
    do
        failed = fsync(fd);
    while (failed != 0 && errno == EINTR);
    return failed == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

/* The content is on the disk before it has a name, so that a kill hardly finds one; the name is flushed again. */
int output_place_flush(output_place *place, int fd)
{
    const int was_nameless = place->is_nameless;
    if (!place->temporary[0] && !was_nameless)
        return EXIT_DONE;
    int is_done = flush_to_disk(fd);
    if (is_done && was_nameless) {
        place->is_nameless = 0;
        if (create(place, 0, fd, place->temporary) < 0) {
            place->temporary[0] = '\0';
            return refuse(place, strerror(errno));
        }
        is_done = flush_to_disk(fd);
    }
    if (is_done)
        return EXIT_DONE;
    return cli_refuse(EXIT_WORK, "%s: cannot be flushed to disk: %s", place->shown, strerror(errno));
}

int output_place_finish(output_place *place)
{
    if (!place->temporary[0])
        return EXIT_DONE;
    if (unfinished_rename(place->folder, place->temporary, place->name) != 0)
        return refuse(place, strerror(errno));
    place->temporary[0] = '\0';
    return output_place_settle(place);
}

int output_place_settle(const output_place *place)
{
    if (place->exists && place->old.st_nlink > 1)
        cli_message("%s: replaced; the old file stays under its other name%s (%lu hard link%s)", place->shown,
                    place->old.st_nlink > 2 ? "s" : "", (unsigned long)place->old.st_nlink - 1,
                    place->old.st_nlink > 2 ? "s" : "");
    if (place->flushable && !flush_to_disk(place->folder))
        return cli_refuse(EXIT_WORK, "%s: is written, but its folder cannot be flushed to disk: %s", place->shown,
                          strerror(errno));
    return EXIT_DONE;
}

void output_place_drop(output_place *place)
{
    if (place->temporary[0])
        unfinished_drop(place->folder, place->temporary);
    place->temporary[0] = '\0';
}

void output_place_free(output_place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    free(place->path);
    place->path = NULL;
    place->folder = -1;
}
