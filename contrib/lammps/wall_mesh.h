/* SPDX-License-Identifier: MIT */
/* One mesh of a wall: read once on each node, and in memory once on each node. */
#ifndef CAROM_LAMMPS_WALL_MESH_H
#define CAROM_LAMMPS_WALL_MESH_H

#include <carom/carom.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace CaromWall
{

class Mesh
{
  public:
    Mesh() = default;
    Mesh(const Mesh &) = delete;
    Mesh &operator=(const Mesh &) = delete;
    // Collective over the ranks that opened it, where several of them share a node.
    ~Mesh();

    // Reads a file as the command does, multiplies its coordinates by `scale`, and rounds to binary32. Collective over
    // `world`. Returns an empty string or, on all ranks the same, what is wrong.
    std::string open(carom_context *context, const std::string &path, double scale, MPI_Comm world);

    carom_mesh *get() const
    {
        return mesh;
    }
    uint64_t triangle_count() const
    {
        return count;
    }
    // Of the corners of all triangles, in their order: other meshes have other numbers.
    uint64_t fingerprint() const
    {
        return hash;
    }
    const std::string &description() const
    {
        return about;
    }
    // Why ranks of a node have copies of their own, or an empty string; on all ranks the same.
    const std::string &warning() const
    {
        return unshared;
    }

  private:
    carom_mesh *mesh = nullptr;
    uint64_t count = 0, hash = 0;
    std::string about; // on rank 0 alone
    std::string unshared;
    std::vector<char> copy; // the image, if it is not in shared memory
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;

    std::string read(carom_context *context, const std::string &path, double scale);
    std::string share(carom_context *context);
    char *shared_memory(uint64_t bytes);
    char *own_memory(uint64_t bytes);
};

} // namespace CaromWall

#endif
