/* SPDX-License-Identifier: MIT */
/* lmp-carom: LAMMPS with fix wall/carom, for a liblammps without the PLUGIN package (Debian 12). The source is MIT; the
 * program is linked with LAMMPS and so is under the GPL. */
#include "fix_wall_carom.h"

#include "input.h"
#include "lammps.h"
#include "modify.h"

#include <mpi.h>

using namespace LAMMPS_NS;

static Fix *make_fix(LAMMPS *lmp, int narg, char **arg)
{
    return new FixWallCarom(lmp, narg, arg);
}

static void add_fix(LAMMPS *lmp)
{
    (*lmp->modify->fix_map)["wall/carom"] = make_fix;
}

// The command `clear` makes a new list of fixes, but not one of commands. A fix needs a box, so the commands that make
// boxes add it to the list that is there.
static const char *const box_commands[] = {"create_box", "read_data", "read_restart"};
static Input::CommandCreator box_creators[3];

template <int N> static Command *make_box(LAMMPS *lmp)
{
    add_fix(lmp);
    return box_creators[N](lmp);
}

static void add_to_commands(LAMMPS *lmp)
{
    const Input::CommandCreator ours[] = {make_box<0>, make_box<1>, make_box<2>};
    for (int n = 0; n < 3; n++) {
        const auto command = lmp->input->command_map->find(box_commands[n]);
        if (command == lmp->input->command_map->end())
            continue; // not in this LAMMPS
        box_creators[n] = command->second;
        command->second = ours[n];
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    LAMMPS *lmp = new LAMMPS(argc, argv, MPI_COMM_WORLD);
    add_fix(lmp);
    add_to_commands(lmp);
    lmp->input->file();
    delete lmp;
    MPI_Finalize();
    return 0;
}
