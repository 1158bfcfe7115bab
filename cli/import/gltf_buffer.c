/* SPDX-License-Identifier: MIT */
/* glTF 2.0: the bytes of buffers, from the GLB's chunk, from data: URIs and from regular files beside the glTF file. */
#ifdef CAROM_HAVE_JANSSON

#include "cli/base/base.h"
#include "gltf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- base64 ------------------------------------------------------------------------------------------------------ */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decode all of `text` and keep the first `size` bytes. Returns 0 if it is not base64 or too short. */
static int decode_base64(const char *text, unsigned char *out, uint64_t size)
{
    uint64_t made = 0;
    uint32_t bits = 0;
    size_t length = strlen(text), have = 0;
    while (length > 0 && text[length - 1] == '=')
        length--;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            return 0;
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        if (made < size)
            out[made] = (unsigned char)(bits >> have);
        made++;
    }
    return made >= size;
}

/* Once it is known that the bytes are there. */
static int make_room(gltf *g, gltf_buffer *out)
{
    int status = gltf_take_memory(g, out->size);
    if (status != EXIT_DONE)
        return status;
    out->owned = malloc((size_t)out->size);
    return out->owned ? EXIT_DONE : cli_no_memory();
}

static int read_data_uri(gltf *g, const gltf_thing *buffer, const char *uri, gltf_buffer *out)
{
    static const char mark[] = ";base64,";
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri + 1 < (ptrdiff_t)strlen(mark) ||
        strncasecmp(comma + 1 - strlen(mark), mark, strlen(mark)) != 0)
        return gltf_refuse(g, buffer, "its data: URI is not in base64");
    if (strlen(comma + 1) / 4 * 3 + 3 < out->size)
        return gltf_refuse(g, buffer, "its data: URI holds less than its byteLength of %llu",
                           (unsigned long long)out->size);
    int status = make_room(g, out);
    if (status != EXIT_DONE)
        return status;
    if (!decode_base64(comma + 1, out->owned, out->size))
        return gltf_refuse(g, buffer, "its data: URI is not base64 of %llu bytes", (unsigned long long)out->size);
    return EXIT_DONE;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* %20 and the like; returns 0 where that ends the name or is cut off. */
static int decode_percents(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        *to = *at;
        if (*at == '%') {
            int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
            if (low < 0 || high + low == 0)
                return 0;
            *to = (char)(high * 16 + low);
            at += 2;
        }
        to++;
    }
    *to = '\0';
    return 1;
}

static int has_scheme(const char *uri)
{
    size_t n = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return n > 0 && uri[n] == ':';
}

static int leaves_folder(const char *name)
{
    if (*name == '/')
        return 1;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0'))
            return 1;
    }
    return 0;
}

/* A file beside the glTF file: a regular one, for reading a device or a pipe may never end. */
static int open_beside(const gltf *g, const gltf_thing *buffer, const char *uri, int *fd)
{
    const char *slash = strrchr(g->path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - g->path) : 0;
    char *name = malloc(folder + strlen(uri) + 1);
    struct stat info;
    int status = EXIT_DONE;
    if (!name)
        return cli_no_memory();
    memcpy(name, g->path, folder);
    strcpy(name + folder, uri);
    if (has_scheme(uri))
        status = gltf_refuse(g, buffer, "'%s' is not a file beside this one", uri);
    else if (!decode_percents(name + folder))
        status = gltf_refuse(g, buffer, "'%s' is not a URI", uri);
    else if (leaves_folder(name + folder))
        status = gltf_refuse(g, buffer, "'%s' leaves the folder of this file", uri);
    else if ((*fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0)
        status = gltf_refuse(g, buffer, "'%s' cannot be opened: %s", uri, strerror(errno));
    else if (fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode))
        status = gltf_refuse(g, buffer, "'%s' is not a regular file", uri);
    if (status == EXIT_DONE)
        status = mesh_may_read(name);
    free(name);
    return status;
}

static int read_file(gltf *g, const gltf_thing *buffer, int fd, gltf_buffer *out)
{
    uint64_t done = 0;
    int status = make_room(g, out);
    if (status != EXIT_DONE)
        return status;
    while (done < out->size) {
        ssize_t n = read(fd, out->owned + done, (size_t)(out->size - done));
        if (n == 0)
            return gltf_refuse(g, buffer, "its file ends after %llu of %llu bytes", (unsigned long long)done,
                               (unsigned long long)out->size);
        if (n < 0 && errno != EINTR)
            return gltf_refuse(g, buffer, "its file cannot be read: %s", strerror(errno));
        done += n > 0 ? (uint64_t)n : 0;
    }
    return EXIT_DONE;
}

static int read_beside(gltf *g, const gltf_thing *buffer, const char *uri, gltf_buffer *out)
{
    struct stat info;
    int fd = -1, status = open_beside(g, buffer, uri, &fd);
    if (status == EXIT_DONE && fstat(fd, &info) == 0 && (uint64_t)info.st_size < out->size)
        status = gltf_refuse(g, buffer, "'%s' has %lld bytes, but its byteLength is %llu", uri, (long long)info.st_size,
                             (unsigned long long)out->size);
    if (status == EXIT_DONE)
        status = read_file(g, buffer, fd, out);
    if (fd >= 0)
        close(fd);
    return status;
}

/* ---- any of them ------------------------------------------------------------------------------------------------- */

static int take_chunk(const gltf *g, const gltf_thing *buffer, gltf_buffer *out)
{
    if (buffer->number != 0 || !g->chunk)
        return gltf_refuse(g, buffer, "it has no uri, and the file no chunk for it");
    if (out->size > g->chunk_size)
        return gltf_refuse(g, buffer, "its byteLength is %llu, but the BIN chunk has %llu bytes",
                           (unsigned long long)out->size, (unsigned long long)g->chunk_size);
    out->data = g->chunk;
    return EXIT_DONE;
}

int gltf_buffer_open(gltf *g, uint64_t number, const gltf_buffer **out)
{
    gltf_buffer *buffer = &g->loaded[number];
    const gltf_thing thing = {"buffer", number, json_array_get(g->buffers, (size_t)number)};
    const json_t *uri = json_object_get(thing.json, "uri");
    *out = buffer;
    if (buffer->data)
        return EXIT_DONE;
    int status = gltf_whole(g, &thing, "byteLength", UINT64_C(1) << 48, 0, &buffer->size);
    if (status == EXIT_DONE && buffer->size == 0)
        status = gltf_refuse(g, &thing, "byteLength is missing or 0");
    if (status == EXIT_DONE && !uri)
        return take_chunk(g, &thing, buffer);
    if (status == EXIT_DONE && !json_is_string(uri))
        status = gltf_refuse(g, &thing, "uri is not a string");
    if (status != EXIT_DONE)
        return status;
    const char *text = json_string_value(uri);
    status =
        strncasecmp(text, "data:", 5) ? read_beside(g, &thing, text, buffer) : read_data_uri(g, &thing, text, buffer);
    buffer->data = status == EXIT_DONE ? buffer->owned : NULL;
    return status;
}

#endif
