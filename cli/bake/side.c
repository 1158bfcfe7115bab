/* SPDX-License-Identifier: MIT */
#include "side.h"
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int side_check(int folder, const char *name, const char *shown)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return EXIT_DONE;
    if (S_ISLNK(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is a symbolic link, and the bake needs that name: remove it, or rename it",
                          shown);
    if (!S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, and the bake needs that name: remove it, or rename it",
                          shown);
    if (info.st_nlink > 1)
        return cli_refuse(EXIT_USAGE,
                          "%s: has %lu names (hard links), and the content of all would change: remove it, or put a "
                          "copy in its place",
                          shown, (unsigned long)info.st_nlink);
    return EXIT_DONE;
}

/* As far as the file goes. */
static int begins_with(const unsigned char *bytes, ssize_t count, const void *head, size_t size)
{
    return size > 0 && count >= 0 && memcmp(bytes, head, (size_t)count < size ? (size_t)count : size) == 0;
}

int side_is_caroms(int fd, const void *head, size_t size)
{
    static const unsigned char zeros[64] = {0};
    unsigned char bytes[sizeof zeros];
    char text[BAKE_TEXT];
    const ssize_t count = pread(fd, bytes, sizeof bytes, 0);
    return begins_with(bytes, count, zeros, sizeof zeros) ||
           begins_with(bytes, count, head, size < sizeof bytes ? size : sizeof bytes) || bake_attribute(fd, text);
}

int side_refuse(const char *shown)
{
    return cli_refuse(EXIT_USAGE,
                      "%s: is there already, and carom did not make it; the bake needs that name: remove it, or rename "
                      "it",
                      shown);
}

int side_is_in_place(int folder, const char *name, int fd)
{
    struct stat mine, there;
    return fd >= 0 && fstat(fd, &mine) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

int side_remove(int folder, const char *name, int fd)
{
    if (!side_is_in_place(folder, name, fd) || unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return 0;
    return errno;
}
