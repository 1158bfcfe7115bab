/* SPDX-License-Identifier: MIT */
/* fix wall/carom: triangle meshes as granular walls. docs/lammps.md has the syntax and what is computed. */
#ifndef LMP_FIX_WALL_CAROM_H
#define LMP_FIX_WALL_CAROM_H

#include "contact_law.h"
#include "error.h"
#include "fix.h"
#include "wall_mesh.h"
#include "wall_motion.h"

#include <carom/carom.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace LAMMPS_NS
{

class FixWallCarom : public Fix
{
  public:
    FixWallCarom(class LAMMPS *, int, char **);
    ~FixWallCarom() override;
    int setmask() override;
    void init() override;
    void setup(int) override;
    void setup_pre_exchange() override;
    void pre_exchange() override;
    void post_force(int) override;
    double compute_vector(int) override;
    double compute_array(int, int) override;
    double memory_usage() override;

    void grow_arrays(int) override;
    void copy_arrays(int, int, int) override;
    void set_arrays(int) override;
    int pack_exchange(int, double *) override;
    int unpack_exchange(int, double *) override;
    int pack_restart(int, double *) override;
    void unpack_restart(int, int) override;
    int size_restart(int) override;
    int maxsize_restart() override;
    void write_restart(FILE *) override;
    void restart(char *) override;

  private:
    // A contact that an atom had at the last step, in the frame of the meshes.
    struct Touch {
        uint32_t mesh, patch;
        float point[3];
        double spring[3];
    };
    // A contact of this step, for the forces on triangles.
    struct Push {
        uint32_t mesh;
        int32_t triangle;
        double force[3];
    };
    // Contacts of one mesh at this step. The arrays are those of carom_contact_list.
    struct Contacts {
        std::vector<int> near;  // atoms that may reach the mesh before the next search, ascending
        std::vector<int> atoms; // those of them that are in the group: one query each
        std::vector<float> center, radius, point, normal, distance;
        std::vector<uint64_t> query;
        std::vector<int32_t> triangle;
        std::vector<uint32_t> patch;
        uint64_t count;
        // springs of the last step, and which of them each contact goes on with
        std::vector<uint64_t> old_query;
        std::vector<uint32_t> old_patch;
        std::vector<float> old_point;
        std::vector<double> old_spring; // [3 * old contacts]
        std::vector<int64_t> previous;
    };
    // A contact of one atom, while its forces are added.
    struct Order {
        double distance, normal[3];
        uint32_t mesh;
        uint64_t index; // in Contacts
    };

    // fix_wall_carom.cpp: arguments
    std::vector<std::string> files;
    double scale, merge, skin; // skin < 0: that of the neighbour lists
    carom_accuracy accuracy;
    CaromWall::Law law;
    CaromWall::Motion motion;
    void read_arguments(int, char **);
    int read_contact(int, int, char **);
    int read_motion(int, int, char **);
    double number(const char *, const char *);
    double single(const char *, const char *);
    void must(carom_status, const carom_error &);
    template <typename Work> auto with_memory(const char *, Work) -> decltype(std::declval<Work>()());

    carom_context *context;
    std::vector<std::unique_ptr<CaromWall::Mesh>> meshes;
    double run_step; // length of time step of a wall that moves; < 0: not known
    bool announced;  // that a wall which begins to move is not where the file has it

    // fix_wall_carom_step.cpp: contacts and forces of a step
    std::vector<Contacts> contacts; // of each mesh
    std::vector<int> far;           // atoms beyond the reach of all meshes at the last search
    std::vector<double> far_place, far_limit;
    int searched; // atoms at the last search, < 0: none yet
    std::vector<Order> order;
    // Where the atoms of a fix of rigid bodies have theirs, and the masses of these.
    struct Bodies {
        const int *of;
        const double *mass;
    };
    std::vector<class Fix *> rigid;
    std::vector<Bodies> bodies; // of each of them, at this step
    void step_forces(int);
    void find_bodies();
    bool must_search();
    void search();
    void search_mesh(Contacts &, carom_mesh *, const std::vector<float> &, const std::vector<float> &,
                     std::vector<uint8_t> &);
    void find_contacts(uint32_t);
    void list_contacts(Contacts &, carom_mesh *);
    void match_contacts(uint32_t);
    void add_forces(int, std::vector<uint64_t> &);
    void add_contact(int, const Order &, const CaromWall::Grain &, double *, double *, double *);
    double mass_of(int);
    [[noreturn]] void not_finite(int);
    void check_radius(int);

    // output
    double totals[4], all_totals[4];
    bool totals_summed, rows_summed;
    std::vector<Push> pushes;
    std::vector<double> rows; // [triangles of all meshes][4]
    void sum_rows();

    // fix_wall_carom_atoms.cpp: history of each atom, and files of restarts
    std::vector<std::vector<Touch>> touches;
    int most_touches();
    void make_room(int);
    void take_motion(const double *, double);
};

// Work that LAMMPS asks for: memory that runs out ends the run in words.
template <typename Work> auto FixWallCarom::with_memory(const char *what, Work work) -> decltype(std::declval<Work>()())
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        error->one(FLERR, std::string("Fix wall/carom: no memory for ") + what + " of this rank");
    } catch (const std::length_error &) {
        error->one(FLERR, std::string("Fix wall/carom: no memory for ") + what + " of this rank");
    }
}

} // namespace LAMMPS_NS

#endif
