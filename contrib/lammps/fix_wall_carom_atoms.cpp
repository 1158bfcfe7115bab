/* SPDX-License-Identifier: MIT */
/* fix wall/carom: the history of contacts, which goes with its atom through exchange and restart. */
#include "fix_wall_carom.h"

#include "atom.h"
#include "comm.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace LAMMPS_NS;
using namespace CaromWall;

enum { RECORD = 8 }; // doubles of a contact in a buffer: mesh, patch, point, spring

int FixWallCarom::most_touches()
{
    size_t most = 0;
    for (int i = 0; i < atom->nlocal; i++)
        most = std::max(most, touches[i].size());
    return (int)most;
}

// Commands that send atoms elsewhere (balance, displace_atoms) do not call pre_exchange: a rank's buffers must hold its
// own atoms as soon as it has them.
void FixWallCarom::make_room(int i)
{
    maxexchange = std::max(maxexchange, 1 + RECORD * (int)touches[i].size());
}

// A buffer of LAMMPS must hold the atom with the most contacts, also one that a rank only passes on.
void FixWallCarom::pre_exchange()
{
    int most = most_touches(), all = 0;
    MPI_Allreduce(&most, &all, 1, MPI_INT, MPI_MAX, world);
    maxexchange = 1 + RECORD * all;
}

void FixWallCarom::setup_pre_exchange()
{
    pre_exchange();
}

void FixWallCarom::grow_arrays(int nmax)
{
    with_memory("the history of contacts", [&] { touches.resize((size_t)nmax); });
}

void FixWallCarom::copy_arrays(int i, int j, int)
{
    with_memory("the history of contacts", [&] { touches[j] = touches[i]; });
}

void FixWallCarom::set_arrays(int i)
{
    touches[i].clear();
}

int FixWallCarom::pack_exchange(int i, double *buf)
{
    double *at = buf;
    *at++ = (double)touches[i].size();
    for (const Touch &touch : touches[i]) {
        *at++ = touch.mesh;
        *at++ = touch.patch;
        at = std::copy(touch.point, touch.point + 3, at);
        at = std::copy(touch.spring, touch.spring + 3, at);
    }
    return (int)(at - buf);
}

int FixWallCarom::unpack_exchange(int i, double *buf)
{
    const double *at = buf;
    with_memory("the history of contacts", [&] { touches[i].resize((size_t)*at++); });
    make_room(i);
    for (Touch &touch : touches[i]) {
        touch.mesh = (uint32_t)*at++;
        touch.patch = (uint32_t)*at++;
        for (float &p : touch.point)
            p = (float)*at++;
        for (double &s : touch.spring)
            s = *at++;
    }
    return (int)(at - buf);
}

// The first number of a fix in a restart file is how many there are, itself included.
int FixWallCarom::size_restart(int i)
{
    return 2 + RECORD * (int)touches[i].size();
}

int FixWallCarom::maxsize_restart()
{
    int most = most_touches(), all = 0;
    MPI_Allreduce(&most, &all, 1, MPI_INT, MPI_MAX, world);
    return 2 + RECORD * all;
}

int FixWallCarom::pack_restart(int i, double *buf)
{
    buf[0] = size_restart(i);
    return 1 + pack_exchange(i, buf + 1);
}

// Whether `size` numbers are the history of an atom, as pack_restart writes it.
static bool is_history(const double *record, int size, size_t meshes)
{
    if (size < 2 || record[0] != size || record[1] != (size - 2) / RECORD || (size - 2) % RECORD != 0)
        return false;
    for (const double *touch = record + 2; touch < record + size; touch += RECORD) {
        if (!(touch[0] >= 0 && touch[0] < (double)meshes && touch[1] >= 0 && touch[1] <= UINT32_MAX))
            return false;
        for (int k = 2; k < RECORD; k++)
            if (!std::isfinite(touch[k]))
                return false;
    }
    return true;
}

void FixWallCarom::unpack_restart(int i, int nth)
{
    double *extra = atom->extra[i];
    const double room = atom->nextra_store;
    int at = 0, size = 0;
    for (int k = 0; k <= nth && size >= 0; k++) { // those of the fixes before this one, then its own
        at += size;
        size = at < room && extra[at] >= 1 && extra[at] <= room - at ? (int)extra[at] : -1;
    }
    if (!is_history(extra + at, size, meshes.size()))
        error->one(FLERR, "Fix wall/carom: the restart file has no sound history of contacts for atom " +
                              std::to_string(atom->tag[i]));
    unpack_exchange(i, extra + at + 1);
}

/* ---- the walls in a restart file --------------------------------------------------------------------------------- */

namespace
{
enum { MOTION_NUMBERS = 11 };
struct SavedWall {
    uint64_t format, meshes;
    double merge, step; // step: of a wall that moves, else < 0
    double motion[MOTION_NUMBERS];
};
struct SavedMesh {
    uint64_t triangles, fingerprint;
};
const uint64_t FORMAT = UINT64_C(0x326d6f7261637701); // another layout has another number
} // namespace

// A motion as numbers: two motions are the same if these are.
static void motion_numbers(const Motion &motion, double *numbers)
{
    numbers[0] = motion.kind;
    numbers = std::copy(motion.pivot, motion.pivot + 3, numbers + 1);
    numbers = std::copy(motion.axis, motion.axis + 3, numbers);
    *numbers++ = motion.period;
    std::copy(motion.velocity, motion.velocity + 3, numbers);
}

void FixWallCarom::write_restart(FILE *file)
{
    if (comm->me != 0)
        return;
    SavedWall wall = {FORMAT, meshes.size(), merge, run_step, {}};
    motion_numbers(motion, wall.motion);
    const int size = (int)(sizeof wall + meshes.size() * sizeof(SavedMesh));
    fwrite(&size, sizeof size, 1, file);
    fwrite(&wall, sizeof wall, 1, file);
    for (const auto &mesh : meshes) {
        const SavedMesh saved = {mesh->triangle_count(), mesh->fingerprint()};
        fwrite(&saved, sizeof saved, 1, file);
    }
}

void FixWallCarom::restart(char *buf)
{
    SavedWall wall;
    memcpy(&wall.format, buf, sizeof wall.format); // another version may have less
    if (wall.format != FORMAT)
        error->all(FLERR, std::string("Fix wall/carom: the restart file is of another version of this fix"));
    memcpy(&wall, buf, sizeof wall);
    if (wall.meshes != meshes.size())
        error->all(FLERR, "Fix wall/carom: the restart file has " + std::to_string(wall.meshes) +
                              " meshes, the command " + std::to_string(meshes.size()));
    for (size_t m = 0; m < meshes.size(); m++) {
        SavedMesh saved;
        memcpy(&saved, buf + sizeof wall + m * sizeof saved, sizeof saved);
        if (saved.triangles != meshes[m]->triangle_count() || saved.fingerprint != meshes[m]->fingerprint())
            error->all(FLERR, "Fix wall/carom: " + files[m] + " with this scale is not the mesh of the restart file (" +
                                  std::to_string(saved.triangles) + " triangles there, " +
                                  std::to_string(meshes[m]->triangle_count()) + " here)");
    }
    if (wall.merge != merge && comm->me == 0)
        error->warning(FLERR, std::string("Fix wall/carom: merge differs from the restart file: contacts whose patch "
                                          "has another number lose their tangential history"));
    take_motion(wall.motion, wall.step);
}

// Whether the wall goes on with the motion of the restart file.
void FixWallCarom::take_motion(const double *saved, double step)
{
    double here[MOTION_NUMBERS];
    motion_numbers(motion, here);
    if (!std::equal(here, here + MOTION_NUMBERS, saved)) {
        if (comm->me == 0)
            error->warning(FLERR,
                           std::string("Fix wall/carom: the motion is not that of the restart file, whose wall ") +
                               (saved[0] == Motion::REST ? "is at rest" : "moves otherwise") +
                               ": the wall is where this motion, since step 0, puts it");
        announced = true;
    } else if (motion.kind != Motion::REST && step >= 0) {
        run_step = step;
        announced = true;
    }
}
