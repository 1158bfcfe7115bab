/* SPDX-License-Identifier: MIT */
/* Which reader takes a file, the file in memory, and the mesh under construction. */
#include "reader.h"
#include "cli/base/base.h"
#include "cli/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library's limit, known before anything is allocated. */
static const uint64_t triangles_max = INT32_MAX;

/* ---- building ----------------------------------------------------------------------------------------------- */

static int make_room(void *array, uint64_t *room, uint64_t count, size_t size)
{
    void **pointer = array;
    if (count < *room)
        return EXIT_DONE;
    uint64_t wanted = *room ? 2 * *room : 64;
    void *larger = cli_resize(*pointer, wanted, size);
    if (!larger)
        return cli_no_memory();
    *pointer = larger;
    *room = wanted;
    return EXIT_DONE;
}

int mesh_reserve(mesh_data *mesh, uint64_t vertices, uint64_t triangles, uint64_t parts)
{
    mesh->xyz = cli_alloc(vertices + 1, 3 * sizeof(float));
    mesh->indices = cli_alloc(triangles + 1, 3 * sizeof(uint32_t));
    mesh->parts = cli_alloc(parts + 1, sizeof *mesh->parts);
    mesh->vertex_room = mesh->xyz ? vertices + 1 : 0;
    mesh->triangle_room = mesh->indices ? triangles + 1 : 0;
    mesh->part_room = mesh->parts ? parts + 1 : 0;
    return mesh->xyz && mesh->indices && mesh->parts;
}

int mesh_add_part(mesh_data *mesh, const char *name, size_t length)
{
    if (make_room(&mesh->parts, &mesh->part_room, mesh->part_count, sizeof *mesh->parts) != EXIT_DONE)
        return EXIT_WORK;
    mesh_part *part = &mesh->parts[mesh->part_count++];
    memset(part, 0, sizeof *part);
    memcpy(part->name, name, text_cut(name, length, sizeof part->name - 1));
    return EXIT_DONE;
}

int mesh_add_vertex(mesh_data *mesh, const float xyz[3])
{
    if (mesh->vertex_count == UINT32_MAX)
        return cli_refuse(EXIT_USAGE, "the mesh has more than 2^32 - 1 vertices");
    if (make_room(&mesh->xyz, &mesh->vertex_room, mesh->vertex_count, 3 * sizeof(float)) != EXIT_DONE)
        return EXIT_WORK;
    memcpy(mesh->xyz + 3 * mesh->vertex_count++, xyz, 3 * sizeof(float));
    return EXIT_DONE;
}

int mesh_add_triangle(mesh_data *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    if (mesh->triangle_count == triangles_max)
        return cli_refuse(EXIT_USAGE, "the mesh has more than 2^31 - 1 triangles");
    if (mesh->part_count == 0 && mesh_add_part(mesh, "", 0) != EXIT_DONE)
        return EXIT_WORK;
    if (make_room(&mesh->indices, &mesh->triangle_room, mesh->triangle_count, 3 * sizeof(uint32_t)) != EXIT_DONE)
        return EXIT_WORK;
    uint32_t *corner = mesh->indices + 3 * mesh->triangle_count++;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
    mesh->parts[mesh->part_count - 1].triangle_count++;
    return EXIT_DONE;
}

void mesh_note(mesh_data *mesh, const char *format, ...)
{
    char text[512], shown[1024];
    size_t used = strlen(mesh->notes);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    length = text_show(shown, sizeof shown, text, length);
    if (used + length + 2 <= sizeof mesh->notes) /* a note too many is left out whole */
        snprintf(mesh->notes + used, sizeof mesh->notes - used, "%s\n", shown);
}

void mesh_free(mesh_data *mesh)
{
    free(mesh->xyz);
    free(mesh->indices);
    free(mesh->masks);
    free(mesh->parts);
    *mesh = (mesh_data){0};
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static int read_all(const char *path, char **data, size_t *size)
{
    size_t room = 1 << 16, used = 0;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = EXIT_DONE;
    if (fd < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
        room = (size_t)info.st_size + 1;
    char *buffer = cli_alloc(room, 1);
    while (buffer && status == EXIT_DONE) {
        if (used == room) {
            char *larger = cli_resize(buffer, room, 2);
            if (!larger)
                break;
            buffer = larger;
            room *= 2;
        }
        ssize_t n = read(fd, buffer + used, room - used);
        if (n == 0) {
            close(fd);
            *data = buffer;
            *size = used;
            return EXIT_DONE;
        }
        if (n > 0)
            used += (size_t)n;
        else if (errno != EINTR)
            status = cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    }
    close(fd);
    free(buffer);
    return status != EXIT_DONE ? status : cli_no_memory();
}

typedef int (*mesh_reader)(const mesh_file *file, mesh_data *out);

/* Does the file begin with this word, whatever stands in front of the text? */
static int begins_with(const char *head, size_t size, const char *text)
{
    const char *word;
    size_t length;
    mesh_scan scan = mesh_scan_begin(head, size, 0);
    return mesh_scan_line(&scan) && mesh_scan_word(&scan, &word, &length) && mesh_word_is(word, length, text);
}

/* A GLB, or JSON, which of all formats glTF alone is. */
static int is_gltf(const char *head, size_t size)
{
    const char *word;
    size_t length;
    mesh_scan scan = mesh_scan_begin(head, size, 0);
    return (size >= 4 && !memcmp(head, "glTF", 4)) ||
           (mesh_scan_line(&scan) && mesh_scan_word(&scan, &word, &length) && word[0] == '{');
}

/* OBJ has no mark of its own, but the first statement of nearly every file: a vertex, a name, a library. */
static int is_obj(const char *head, size_t size)
{
    static const char *const names[] = {"mtllib", "usemtl", "vn", "vt", "o", "g"};
    const char *word;
    size_t length;
    float number;
    mesh_scan scan = mesh_scan_begin(head, size, MESH_COMMENTS);
    if (!mesh_scan_line(&scan) || !mesh_scan_word(&scan, &word, &length))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (length == strlen(names[i]) && !memcmp(word, names[i], length))
            return mesh_scan_word(&scan, &word, &length);
    return length == 1 && word[0] == 'v' && mesh_scan_float(&scan, &number) && mesh_scan_float(&scan, &number);
}

/* OFF, with letters before it for what its vertices have, and counts that may be glued to it. */
static int is_off(const char *head, size_t size)
{
    const char *word;
    size_t length;
    mesh_scan scan = mesh_scan_begin(head, size, MESH_COMMENTS);
    if (!mesh_scan_line(&scan) || !mesh_scan_word(&scan, &word, &length))
        return 0;
    for (size_t i = 0; i < 6 && i + 3 <= length; i++) {
        if (!memcmp(word + i, "OFF", 3))
            return 1;
        if (!strchr("STCN4n", word[i]))
            return 0;
    }
    return 0;
}

/* By the end of the name; a file without a known end by how it begins. NULL: assimp's. */
static mesh_reader choose_reader(const char *path, const char *head, size_t size)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    if (begins_with(head, size, "ply") || (dot && !strcasecmp(dot, ".ply")))
        return mesh_read_ply;
    if (dot && !strcasecmp(dot, ".stl"))
        return mesh_read_stl;
    if (dot && !strcasecmp(dot, ".obj"))
        return mesh_read_obj;
    if (dot && !strcasecmp(dot, ".off"))
        return mesh_read_off;
    if (begins_with(head, size, "solid"))
        return mesh_read_stl;
    if (is_off(head, size))
        return mesh_read_off;
    if (is_obj(head, size))
        return mesh_read_obj;
    if ((dot && (!strcasecmp(dot, ".gltf") || !strcasecmp(dot, ".glb"))) || is_gltf(head, size))
        return mesh_read_gltf;
    return NULL;
}

static size_t read_head(const char *path, char *head, size_t size)
{
    struct stat info;
    int fd = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, head, size) : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void note_drops(mesh_data *mesh)
{
    if (mesh->polygons)
        mesh_note(mesh, "%llu polygons with more than three corners were cut into triangles",
                  (unsigned long long)mesh->polygons);
    if (mesh->fans)
        mesh_note(mesh,
                  "%llu of them were cut as fans, because they cross themselves, touch themselves too often or have no "
                  "area: they are not covered faithfully",
                  (unsigned long long)mesh->fans);
    if (mesh->repeats)
        mesh_note(mesh, "%llu corners of polygons were left out: they repeat the point before them",
                  (unsigned long long)mesh->repeats);
    if (mesh->dropped_points)
        mesh_note(mesh, "%llu points were dropped", (unsigned long long)mesh->dropped_points);
    if (mesh->dropped_lines)
        mesh_note(mesh, "%llu lines were dropped", (unsigned long long)mesh->dropped_lines);
}

static void (*tell_share)(double share);
static const mesh_file *told; /* the file that is parsed */

void mesh_import_tell(void (*tell)(double share))
{
    tell_share = tell;
}

void mesh_parsed(const char *at)
{
    if (told && at >= told->data && at <= told->data + told->size)
        tell_share((double)(at - told->data) / (double)told->size);
}

static int (*ask)(const char *path);

void mesh_import_ask(int (*may_read)(const char *path))
{
    ask = may_read;
}

int mesh_may_read(const char *path)
{
    return ask ? ask(path) : EXIT_DONE;
}

int mesh_import(const char *path, mesh_data *out)
{
    char head[512] = {0};
    mesh_file file = {.path = path};
    mesh_reader reader = choose_reader(path, head, read_head(path, head, sizeof head));
    int status;
    *out = (mesh_data){0};
    if (reader) {
        char *data = NULL;
        status = read_all(path, &data, &file.size);
        file.data = data;
        told = tell_share ? &file : NULL;
        if (status == EXIT_DONE)
            status = reader(&file, out);
        told = NULL;
        free(data);
    } else if (access(path, R_OK) != 0) {
        status = cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    } else {
        status = mesh_read_assimp(path, out);
    }
    if (status == EXIT_DONE && out->triangle_count == 0)
        status = cli_refuse(EXIT_USAGE, "%s: holds no triangles", path);
    if (status == EXIT_DONE)
        note_drops(out);
    else
        mesh_free(out);
    return status;
}
