/* SPDX-License-Identifier: MIT */
/* Files for assimp. Scenes name other files, and what they name may be a pipe that never opens or a device that never
 * ends: regular files alone are there for it, and only to be read. */
#ifdef CAROM_HAVE_ASSIMP

#include "assimp_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t read_file(struct aiFile *file, char *out, size_t size, size_t count)
{
    return size > 0 ? fread(out, size, count, (FILE *)file->UserData) : 0;
}

static size_t write_nothing(struct aiFile *file, const char *data, size_t size, size_t count)
{
    (void)file, (void)data, (void)size, (void)count;
    return 0;
}

static size_t tell(struct aiFile *file)
{
    long at = ftell((FILE *)file->UserData);
    return at < 0 ? 0 : (size_t)at;
}

static size_t size_of(struct aiFile *file)
{
    struct stat info;
    return fstat(fileno((FILE *)file->UserData), &info) == 0 ? (size_t)info.st_size : 0;
}

static enum aiReturn seek(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    const int whence = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
    return fseek((FILE *)file->UserData, (long)offset, whence) == 0 ? aiReturn_SUCCESS : aiReturn_FAILURE;
}

static void flush_nothing(struct aiFile *file)
{
    (void)file;
}

static struct aiFile *open_file(struct aiFileIO *io, const char *path, const char *mode)
{
    struct stat info;
    (void)io;
    /* Without O_NONBLOCK a pipe would be waited for. */
    int fd = strchr(mode, 'r') && !strchr(mode, '+') ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    FILE *stream = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
    struct aiFile *file = stream ? malloc(sizeof *file) : NULL;
    if (file)
        *file = (struct aiFile){read_file, write_nothing, tell, size_of, seek, flush_nothing, (char *)stream};
    else if (stream)
        fclose(stream);
    else if (fd >= 0)
        close(fd);
    return file;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    if (!file)
        return;
    fclose((FILE *)file->UserData);
    free(file);
}

struct aiFileIO mesh_assimp_files(void)
{
    return (struct aiFileIO){open_file, close_file, NULL};
}

#endif
