/* SPDX-License-Identifier: MIT */
/* fix wall/carom: arguments, meshes, output. */
#include "fix_wall_carom.h"

#include "atom.h"
#include "comm.h"
#include "force.h"
#include "modify.h"
#include "update.h"
#include "utils.h"

#include <cmath>
#include <cstring>

using namespace LAMMPS_NS;
using namespace CaromWall;

/* ---- arguments --------------------------------------------------------------------------------------------------- */

double FixWallCarom::number(const char *text, const char *what)
{
    const double value = utils::numeric(FLERR, text, false, lmp);
    if (!std::isfinite(value))
        error->all(FLERR, std::string("Fix wall/carom: ") + what + " is not finite: " + text);
    return value;
}

// A number that carom takes in binary32: one that is infinite there, or nothing, is refused.
double FixWallCarom::single(const char *text, const char *what)
{
    const double value = number(text, what);
    if (!std::isfinite((float)value) || (value != 0 && (float)value == 0))
        error->all(FLERR,
                   std::string("Illegal fix wall/carom command: ") + what + " is not a number of binary32: " + text);
    return value;
}

// contact hooke|hertz kn kt gamman gammat mu, with fix wall/gran's limits and its NULLs; returns where it ends
int FixWallCarom::read_contact(int at, int narg, char **arg)
{
    if (at + 6 > narg)
        error->all(FLERR,
                   std::string("Illegal fix wall/carom command: contact needs hooke|hertz kn kt gamman gammat mu"));
    if (strcmp(arg[at], "hooke") != 0 && strcmp(arg[at], "hertz") != 0)
        error->all(FLERR, std::string("Illegal fix wall/carom command: contact is hooke or hertz, not ") + arg[at]);
    law.hertz = strcmp(arg[at], "hertz") == 0;
    law.kn = number(arg[at + 1], "kn");
    law.kt = strcmp(arg[at + 2], "NULL") == 0 ? law.kn * 2.0 / 7.0 : number(arg[at + 2], "kt");
    law.gamman = number(arg[at + 3], "gamman");
    law.gammat = strcmp(arg[at + 4], "NULL") == 0 ? 0.5 * law.gamman : number(arg[at + 4], "gammat");
    law.mu = number(arg[at + 5], "mu");
    if (law.kn < 0 || law.kt < 0 || law.gamman < 0 || law.gammat < 0 || law.mu < 0 || law.mu > 10000)
        error->all(FLERR, std::string("Illegal fix wall/carom command: kn, kt, gamman, gammat and mu must be >= 0, "
                                      "and mu at most 10000"));
    if (law.hertz) { // from units of pressure to force / distance^2
        law.kn /= force->nktv2p;
        law.kt /= force->nktv2p;
    }
    return at + 6;
}

// move rotate PX PY PZ AX AY AZ PERIOD | move linear VX VY VZ
int FixWallCarom::read_motion(int at, int narg, char **arg)
{
    const bool rotate = at < narg && strcmp(arg[at], "rotate") == 0;
    const bool linear = at < narg && strcmp(arg[at], "linear") == 0;
    if (!(rotate && at + 8 <= narg) && !(linear && at + 4 <= narg))
        error->all(FLERR, std::string("Illegal fix wall/carom command: move needs rotate PX PY PZ AX AY AZ PERIOD or "
                                      "linear VX VY VZ"));
    at++;
    if (linear) {
        motion.kind = Motion::LINEAR;
        for (double &v : motion.velocity)
            v = number(arg[at++], "a velocity");
        return at;
    }
    motion.kind = Motion::ROTATE;
    for (double &p : motion.pivot)
        p = number(arg[at++], "a point of the axis");
    for (double &a : motion.axis)
        a = number(arg[at++], "the axis");
    motion.period = number(arg[at++], "the period");
    const double length = std::sqrt(dot(motion.axis, motion.axis));
    if (!(length > 0) || !std::isfinite(length))
        error->all(FLERR, std::string("Illegal fix wall/carom command: the axis has no length"));
    if (!(motion.period > 0))
        error->all(FLERR, std::string("Illegal fix wall/carom command: the period must be > 0"));
    if (!std::isnormal(motion.period))
        error->all(FLERR, std::string("Illegal fix wall/carom command: the period is below the numbers of binary64: ") +
                              arg[at - 1]);
    for (double &a : motion.axis)
        a /= length;
    return at;
}

void FixWallCarom::read_arguments(int narg, char **arg)
{
    bool has_contact = false;
    for (int at = 3; at < narg;) {
        const char *word = arg[at++];
        const auto value = [&]() -> const char * {
            if (at == narg)
                error->all(FLERR, std::string("Illegal fix wall/carom command: ") + word + " needs a value");
            return arg[at++];
        };
        if (strcmp(word, "mesh") == 0) {
            files.push_back(value());
        } else if (strcmp(word, "contact") == 0) {
            at = read_contact(at, narg, arg);
            has_contact = true;
        } else if (strcmp(word, "move") == 0) {
            at = read_motion(at, narg, arg);
        } else if (strcmp(word, "scale") == 0) {
            scale = single(value(), "scale");
        } else if (strcmp(word, "merge") == 0) {
            merge = single(value(), "merge");
        } else if (strcmp(word, "skin") == 0) {
            skin = single(value(), "skin");
            if (skin < 0)
                error->all(FLERR, std::string("Illegal fix wall/carom command: skin must be >= 0"));
        } else if (strcmp(word, "accuracy") == 0) {
            const std::string name = value();
            if (name != "fast" && name != "exact")
                error->all(FLERR, "Illegal fix wall/carom command: accuracy is fast or exact, not " + name);
            accuracy = name == "exact" ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        } else {
            error->all(FLERR, std::string("Illegal fix wall/carom command: unknown keyword ") + word);
        }
    }
    if (files.empty())
        error->all(FLERR, std::string("Illegal fix wall/carom command: no mesh"));
    if (!has_contact)
        error->all(FLERR, std::string("Illegal fix wall/carom command: no contact"));
    if (!(scale > 0))
        error->all(FLERR, std::string("Illegal fix wall/carom command: scale must be > 0"));
    if (merge < 0)
        error->all(FLERR, std::string("Illegal fix wall/carom command: merge must be >= 0"));
}

/* ---- from start to end ------------------------------------------------------------------------------------------- */

void FixWallCarom::must(carom_status status, const carom_error &wrong)
{
    if (status != CAROM_OK)
        error->one(FLERR, std::string("Fix wall/carom: ") + wrong.message);
}

FixWallCarom::FixWallCarom(LAMMPS *lammps, int narg, char **arg)
    : Fix(lammps, narg, arg), scale(1), merge(0), skin(-1), accuracy(CAROM_ACCURACY_FAST), context(nullptr),
      run_step(-1), announced(false), searched(-1), totals_summed(false), rows_summed(false)
{
    if (!atom->radius_flag || !atom->rmass_flag || !atom->omega_flag || !atom->torque_flag)
        error->all(FLERR, std::string("Fix wall/carom requires atom style sphere"));
    read_arguments(narg, arg);

    carom_context_desc desc = carom_context_desc_default();
    carom_error wrong;
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = (uint32_t)comm->nthreads;
    must(carom_context_create(&desc, &context, &wrong), wrong);
    uint64_t triangles = 0;
    for (const std::string &file : files) {
        meshes.emplace_back(new Mesh);
        const std::string words = meshes.back()->open(context, file, scale, world);
        if (!words.empty())
            error->all(FLERR, "Fix wall/carom: " + words);
        triangles += meshes.back()->triangle_count();
        if (comm->me != 0)
            continue;
        utils::logmesg(lmp, "fix wall/carom: " + meshes.back()->description() + "\n");
        if (!meshes.back()->warning().empty())
            error->warning(FLERR, "Fix wall/carom: " + meshes.back()->warning());
    }
    if (triangles > MAXSMALLINT)
        error->all(FLERR, std::string("Fix wall/carom: the meshes have more than 2^31 - 1 triangles"));
    contacts.resize(meshes.size());

    vector_flag = array_flag = 1;
    size_vector = 4;
    size_array_rows = (int)triangles;
    size_array_cols = 4;
    global_freq = 1;
    extvector = extarray = 1;
    virial_global_flag = virial_peratom_flag = 1;
    restart_global = restart_peratom = 1;
    create_attribute = 1;
    dynamic_group_allow = 1;
    maxexchange_dynamic = 1;
    time_depend = motion.kind != Motion::REST;

    FixWallCarom::grow_arrays(atom->nmax);
    atom->add_callback(Atom::GROW);
    atom->add_callback(Atom::RESTART);
    for (double &total : totals)
        total = 0;
}

FixWallCarom::~FixWallCarom()
{
    atom->delete_callback(id, Atom::GROW);
    atom->delete_callback(id, Atom::RESTART);
    meshes.clear();
    carom_context_destroy(context);
}

int FixWallCarom::setmask()
{
    return FixConst::PRE_EXCHANGE | FixConst::POST_FORCE;
}

void FixWallCarom::init()
{
    if (strncmp(update->integrate_style, "respa", 5) == 0)
        error->all(FLERR, std::string("Fix wall/carom cannot be used with run_style respa"));
    if (update->whichflag == 2)
        error->all(FLERR, std::string("Fix wall/carom cannot be used with minimize"));
    rigid.clear();
    for (int i = 0; i < modify->nfix; i++)
        if (modify->fix[i]->rigid_flag)
            rigid.push_back(modify->fix[i]);

    if (motion.kind == Motion::REST)
        return;
    if (run_step >= 0 && run_step != update->dt)
        error->all(FLERR,
                   std::string("Fix wall/carom: the wall is where step * dt puts it, so the timestep may not change"));
    run_step = update->dt;
    if (!announced && update->ntimestep != 0 && comm->me == 0)
        error->warning(FLERR,
                       "Fix wall/carom: the wall moves since step 0, so it is not where the file has it: this is "
                       "step " +
                           std::to_string(update->ntimestep) + " (use reset_timestep 0 before the fix)");
    announced = true;
}

void FixWallCarom::setup(int vflag)
{
    searched = -1;
    post_force(vflag);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

double FixWallCarom::compute_vector(int k)
{
    if (!totals_summed)
        MPI_Allreduce(totals, all_totals, 4, MPI_DOUBLE, MPI_SUM, world);
    totals_summed = true;
    return all_totals[k];
}

// The force on each triangle, and its contacts, summed when they are first asked for.
void FixWallCarom::sum_rows()
{
    std::vector<uint64_t> first(1, 0);
    for (const auto &mesh : meshes)
        first.push_back(first.back() + mesh->triangle_count());
    if (4 * first.back() > MAXSMALLINT)
        error->all(FLERR, std::string("Fix wall/carom: forces on triangles are summed for fewer than 2^29 of them"));
    rows.assign(4 * first.back(), 0.0);
    for (const Push &push : pushes) {
        double world_force[3], *row = &rows[4 * (first[push.mesh] + (uint64_t)push.triangle)];
        motion.vector_out(push.force, world_force);
        for (int k = 0; k < 3; k++)
            row[k] -= world_force[k];
        row[3] += 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, rows.data(), (int)rows.size(), MPI_DOUBLE, MPI_SUM, world);
}

double FixWallCarom::compute_array(int i, int j)
{
    if (!rows_summed)
        with_memory("the forces on triangles", [&] { sum_rows(); });
    rows_summed = true;
    return rows[4 * (size_t)i + (size_t)j];
}

double FixWallCarom::memory_usage()
{
    double bytes = 0;
    carom_mesh_info info = {};
    info.size = sizeof info;
    for (const auto &mesh : meshes)
        if (carom_mesh_get_info(mesh->get(), &info, nullptr) == CAROM_OK)
            bytes += (double)info.bytes;
    for (const std::vector<Touch> &touch : touches)
        bytes += (double)(sizeof touch + touch.capacity() * sizeof(Touch));
    return bytes + (double)(rows.capacity() * sizeof(double));
}
