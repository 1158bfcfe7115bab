/* SPDX-License-Identifier: MIT */
/* The plugin for a LAMMPS that has the PLUGIN package: `plugin load caromplugin.so`. The source is MIT; the plugin is
 * made for LAMMPS and from its headers, and so is under the GPL. */
#include "fix_wall_carom.h"

#include "lammpsplugin.h"
#include "version.h"

using namespace LAMMPS_NS;

static void *make_fix(void *lmp, int narg, char **arg)
{
    return new FixWallCarom((LAMMPS *)lmp, narg, arg);
}

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void *lmp, void *handle, void *add)
{
    lammpsplugin_t plugin = {};
    plugin.version = LAMMPS_VERSION;
    plugin.style = "fix";
    plugin.name = "wall/carom";
    plugin.info = "granular walls of triangle meshes, by carom";
    plugin.author = "the authors of carom";
    plugin.creator.v2 = make_fix;
    plugin.handle = handle;
    (*(lammpsplugin_regfunc)add)(&plugin, lmp);
}
