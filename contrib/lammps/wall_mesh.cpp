/* SPDX-License-Identifier: MIT */
#include "wall_mesh.h"

extern "C" {
#include "cli/base/base.h"
#include "cli/base/progress.h"
#include "cli/import/import.h"
}

#include <sys/statvfs.h>
#include <unistd.h>

#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

using namespace CaromWall;

/* ---- words ------------------------------------------------------------------------------------------------------- */

// What the mesh readers say, and the process that hears it. A reader that runs in a child of this process, because its
// code is not carom's own, says it on standard error.
static std::string heard;
static pid_t hearer;

extern "C" int cli_refuse(int status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (getpid() != hearer)
        fprintf(stderr, "fix wall/carom: %s\n", text);
    else
        heard += (heard.empty() ? "" : "; ") + std::string(text);
    return status;
}

// The words of the lowest rank that has any, on all ranks.
static std::string agree(const std::string &words, MPI_Comm world)
{
    int rank, first, length = (int)words.size();
    MPI_Comm_rank(world, &rank);
    const int mine = words.empty() ? INT_MAX : rank;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world);
    if (first == INT_MAX)
        return "";
    MPI_Bcast(&length, 1, MPI_INT, first, world);
    std::vector<char> text(words.begin(), words.end());
    text.resize((size_t)length);
    MPI_Bcast(text.data(), length, MPI_CHAR, first, world);
    return std::string(text.begin(), text.end());
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static uint64_t hash_corners(const mesh_data &data) // FNV-1a
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint64_t i = 0; i < 3 * data.triangle_count; i++) {
        unsigned char bytes[3 * sizeof(float)];
        memcpy(bytes, data.xyz + 3 * (uint64_t)data.indices[i], sizeof bytes);
        for (unsigned char byte : bytes)
            hash = (hash ^ byte) * UINT64_C(1099511628211);
    }
    return hash;
}

std::string Mesh::read(carom_context *context, const std::string &path, double scale)
{
    mesh_data data;
    heard.clear();
    hearer = getpid();
    progress_choose(PROGRESS_NONE);
    if (mesh_import(path.c_str(), &data) != EXIT_DONE)
        return heard.empty() ? path + ": cannot be read" : heard;
    if (scale != 1)
        for (uint64_t i = 0; i < 3 * data.vertex_count; i++)
            data.xyz[i] = (float)(scale * (double)data.xyz[i]);
    count = data.triangle_count;
    hash = hash_corners(data);
    about = path + ": " + std::to_string(count) + " triangles, " + data.reader;
    for (const char *note = data.notes; *note != '\0';) {
        const size_t length = strcspn(note, "\n");
        about += "\n    " + std::string(note, length);
        note += length + (note[length] != '\0');
    }

    carom_mesh_desc desc = {};
    carom_error error;
    desc.size = sizeof desc;
    desc.vertices = carom_xyz(data.xyz);
    desc.vertex_count = data.vertex_count;
    desc.indices = carom_uints_of(data.indices);
    desc.triangle_count = data.triangle_count;
    const carom_status made = carom_mesh_create(context, &desc, &mesh, &error);
    mesh_free(&data);
    return made == CAROM_OK ? "" : path + ": " + error.message;
}

/* ---- one copy on a node ------------------------------------------------------------------------------------------ */

#ifdef MPI_STUBS // a LAMMPS without MPI: one rank
std::string Mesh::share(carom_context *)
{
    return "";
}
#else
// Why /dev/shm, where MPI has shared memory, has no room for so many bytes, or nothing. MPI itself would tell one rank
// alone, while the others wait for it.
static std::string no_room(uint64_t bytes)
{
    const uint64_t rest = 1 << 20; // for what MPI adds
    struct statvfs shm;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;
    if (statvfs("/dev/shm", &shm) != 0 || (uint64_t)shm.f_bavail * shm.f_frsize >= bytes + rest)
        return "";
    MPI_Get_processor_name(name, &length);
    return std::string(name) + ": /dev/shm has " + std::to_string((uint64_t)shm.f_bavail * shm.f_frsize) +
           " bytes free, the mesh needs " + std::to_string(bytes + rest) + ": each rank has a copy of its own";
}

// Memory that all ranks of the node read, and the first of them writes.
char *Mesh::shared_memory(uint64_t bytes)
{
    int rank, unit;
    char *memory = nullptr;
    MPI_Comm_rank(node, &rank);
    MPI_Aint size = rank == 0 ? (MPI_Aint)bytes : 0;
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    if (MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node, &memory, &window) != MPI_SUCCESS) {
        fprintf(stderr, "ERROR: Fix wall/carom: MPI gives no shared memory of %llu bytes on a node\n",
                (unsigned long long)bytes);
        MPI_Abort(MPI_COMM_WORLD, 1); // others may still wait inside
    }
    MPI_Comm_set_errhandler(node, MPI_ERRORS_ARE_FATAL);
    MPI_Win_shared_query(window, 0, &size, &unit, &memory);
    return memory;
}

// Memory of each rank for itself, or a null pointer in all of them.
char *Mesh::own_memory(uint64_t bytes)
{
    int able = 1;
    try {
        copy.resize(bytes);
    } catch (const std::bad_alloc &) {
        able = 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, node);
    return able ? copy.data() : nullptr;
}

static void send_image(char *image, uint64_t bytes, MPI_Comm node)
{
    const uint64_t most = 1 << 30; // MPI counts in int
    for (uint64_t at = 0; at < bytes; at += most)
        MPI_Bcast(image + at, (int)(bytes - at < most ? bytes - at : most), MPI_CHAR, 0, node);
}

// The first rank of the node has the mesh. It puts an image of it where all can read it, or sends it to them.
std::string Mesh::share(carom_context *context)
{
    enum { LINE = 64 }; // an image lies at a multiple of so many bytes
    int rank;
    carom_error error;
    bool sound = true;
    uint64_t about_image[2] = {0, 0}; // bytes, whether they are sent
    MPI_Comm_rank(node, &rank);
    if (rank == 0) {
        sound = carom_mesh_get_image(mesh, nullptr, 0, &about_image[0], &error) == CAROM_OK || about_image[0] > 0;
        unshared = no_room(about_image[0]);
        about_image[1] = !unshared.empty();
    }
    MPI_Bcast(about_image, 2, MPI_UINT64_T, 0, node);
    const uint64_t bytes = about_image[0];
    const bool sent = about_image[1] != 0;
    if (bytes == 0)
        return sound ? "" : error.message;

    char *image = sent ? own_memory(bytes + LINE) : shared_memory(bytes + LINE);
    if (!image)
        return "no memory in each rank of a node for a mesh of " + std::to_string(bytes) + " bytes";
    image += (LINE - (uintptr_t)image % LINE) % LINE; // shared memory begins with a page in all ranks
    if (rank == 0) {
        sound = carom_mesh_get_image(mesh, image, bytes, &about_image[0], &error) == CAROM_OK;
        carom_mesh_destroy(mesh);
        mesh = nullptr;
    }
    if (sent)
        send_image(image, bytes, node);
    else
        MPI_Win_fence(0, window);
    MPI_Bcast(&sound, 1, MPI_C_BOOL, 0, node);
    if (!sound)
        return rank == 0 ? error.message : "";
    return carom_mesh_open_image(context, image, bytes, &mesh, &error) == CAROM_OK ? "" : error.message;
}
#endif

std::string Mesh::open(carom_context *context, const std::string &path, double scale, MPI_Comm world)
{
    int rank = 0, ranks = 1;
#ifndef MPI_STUBS
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
#endif
    std::string wrong = agree(rank == 0 ? read(context, path, scale) : "", world);
    if (!wrong.empty())
        return wrong;
    if (ranks > 1)
        wrong = agree(share(context), world);
    if (!wrong.empty())
        return wrong;
    if (ranks > 1)
        about += (unshared.empty() ? "\n    one copy for " : "\n    a copy for each of ") + std::to_string(ranks) +
                 " ranks of a node";
    unshared = agree(unshared, world);
    uint64_t first[2] = {count, hash};
    MPI_Bcast(first, 2, MPI_UINT64_T, 0, world);
    if (rank == 0 && (first[0] != count || first[1] != hash))
        wrong = path + ": not the same file on all nodes";
    count = first[0];
    hash = first[1];
    return agree(wrong, world);
}

Mesh::~Mesh()
{
    carom_mesh_destroy(mesh);
#ifndef MPI_STUBS
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    if (node != MPI_COMM_NULL)
        MPI_Comm_free(&node);
#endif
}
