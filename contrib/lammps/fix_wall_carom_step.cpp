/* SPDX-License-Identifier: MIT */
/* fix wall/carom: contacts and forces of a time step. */
#include "fix_wall_carom.h"

#include "atom.h"
#include "neighbor.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace LAMMPS_NS;
using namespace CaromWall;

void FixWallCarom::not_finite(int i)
{
    error->one(FLERR, "Fix wall/carom: the position or radius of atom " + std::to_string(atom->tag[i]) +
                          " is not finite in binary32 at step " + std::to_string(update->ntimestep));
}

void FixWallCarom::check_radius(int i)
{
    if (atom->radius[i] < 0)
        error->one(FLERR, "Fix wall/carom: the radius of atom " + std::to_string(atom->tag[i]) +
                              " is negative at step " + std::to_string(update->ntimestep));
}

void FixWallCarom::post_force(int vflag)
{
    with_memory("the contacts", [&] { step_forces(vflag); });
}

void FixWallCarom::step_forces(int vflag)
{
    v_init(vflag);
    if (motion.kind != Motion::REST && update->dt != run_step)
        error->all(FLERR,
                   "Fix wall/carom: the wall is where step * dt puts it, so the timestep may not change: it has at "
                   "step " +
                       std::to_string(update->ntimestep));
    for (double &total : totals)
        total = 0;
    totals_summed = rows_summed = false;
    pushes.clear();
    motion.set_time((double)update->ntimestep * update->dt);
    if (must_search())
        search();
    for (uint32_t m = 0; m < meshes.size(); m++)
        find_contacts(m);
    for (const Contacts &c : contacts)
        for (int i : c.atoms)
            touches[i].clear(); // match_contacts has copied what it needs
    find_bodies();

    // One atom after the other, with its contacts with all meshes.
    std::vector<uint64_t> at(meshes.size(), 0);
    for (;;) {
        int next = atom->nlocal;
        for (size_t m = 0; m < meshes.size(); m++)
            if (at[m] < contacts[m].count)
                next = std::min(next, contacts[m].atoms[contacts[m].query[at[m]]]);
        if (next == atom->nlocal)
            break;
        add_forces(next, at);
    }
}

/* ---- which atoms may reach a mesh -------------------------------------------------------------------------------- */

// Whether LAMMPS has built its lists anew, or an atom beyond the reach of all meshes has come nearer than its skin.
bool FixWallCarom::must_search()
{
    if (searched != atom->nlocal || neighbor->ago == 0)
        return true;
    for (size_t k = 0; k < far.size(); k++) {
        double y[3];
        motion.place_in(atom->x[far[k]], y);
        for (int axis = 0; axis < 3; axis++)
            y[axis] -= far_place[3 * k + axis];
        const double slack = far_limit[k] - atom->radius[far[k]];
        if (!(slack >= 0 && dot(y, y) <= slack * slack))
            return true;
    }
    return false;
}

// Whether the box of the mesh and that of these grains, with their radii, have a place in common.
static bool boxes_meet(carom_mesh *mesh, const std::vector<float> &center, const std::vector<float> &radius)
{
    carom_mesh_info info = {};
    info.size = sizeof info;
    if (carom_mesh_get_info(mesh, &info, nullptr) != CAROM_OK)
        return true;
    for (size_t k = 0; k < 3; k++) {
        double lower = HUGE_VAL, upper = -HUGE_VAL;
        for (size_t i = 0; i < radius.size(); i++) {
            lower = std::min(lower, (double)center[3 * i + k] - (double)radius[i]);
            upper = std::max(upper, (double)center[3 * i + k] + (double)radius[i]);
        }
        if (!(lower <= (double)info.upper[k] && upper >= (double)info.lower[k]))
            return false;
    }
    return true;
}

// Which of these grains are near the mesh. A rank far from it asks for none of them.
void FixWallCarom::search_mesh(Contacts &c, carom_mesh *mesh, const std::vector<float> &center,
                               const std::vector<float> &radius, std::vector<uint8_t> &near_any)
{
    c.near.clear();
    if (!boxes_meet(mesh, center, radius))
        return;
    std::vector<uint8_t> hit(radius.size());
    carom_error wrong;
    carom_mesh_overlap_desc desc = {};
    desc.batch.size = sizeof desc;
    desc.batch.count = radius.size();
    desc.center = carom_xyz(center.data());
    desc.radius = carom_scalars_of(radius.data());
    carom_any_result out = {};
    out.size = sizeof out;
    out.hit = hit.data();
    must(carom_mesh_overlap_any(mesh, &desc, &out, nullptr, &wrong), wrong);
    for (size_t i = 0; i < hit.size(); i++)
        if (hit[i] == 1) {
            c.near.push_back((int)i);
            near_any[i] = 1;
        }
}

void FixWallCarom::search()
{
    const int n = atom->nlocal;
    const double reach = skin < 0 ? neighbor->skin : skin;
    std::vector<float> center(3 * (size_t)n), radius((size_t)n);
    std::vector<uint8_t> near_any((size_t)n, 0);
    std::vector<double> place(3 * (size_t)n);
    for (int i = 0; i < n; i++) {
        double largest = 0;
        check_radius(i);
        motion.place_in(atom->x[i], &place[3 * (size_t)i]);
        for (int k = 0; k < 3; k++) {
            center[3 * (size_t)i + k] = (float)place[3 * (size_t)i + k];
            largest = std::fmax(largest, std::fabs(place[3 * (size_t)i + k]));
        }
        // more than the skin, by what rounding a place to binary32 may move it, now and later
        radius[i] = (float)((atom->radius[i] + reach) * (1 + 1e-6) + largest * 1e-6);
        if (!std::isfinite(radius[i]) || !std::isfinite(dot(&place[3 * (size_t)i], &place[3 * (size_t)i])))
            not_finite(i);
    }
    for (size_t m = 0; m < meshes.size(); m++)
        search_mesh(contacts[m], meshes[m]->get(), center, radius, near_any);
    far.clear();
    far_place.clear();
    far_limit.clear();
    for (int i = 0; i < n; i++) {
        if (near_any[i])
            continue;
        touches[i].clear();
        far.push_back(i);
        far_limit.push_back(atom->radius[i] + reach);
        far_place.insert(far_place.end(), &place[3 * (size_t)i], &place[3 * (size_t)i] + 3);
    }
    searched = n;
}

/* ---- contacts with one mesh -------------------------------------------------------------------------------------- */

void FixWallCarom::find_contacts(uint32_t m)
{
    Contacts &c = contacts[m];
    c.atoms.clear();
    c.center.clear();
    c.radius.clear();
    for (int i : c.near) {
        double y[3];
        if (!(atom->mask[i] & groupbit)) {
            touches[i].clear();
            continue;
        }
        check_radius(i);
        motion.place_in(atom->x[i], y);
        for (double coordinate : y) {
            c.center.push_back((float)coordinate);
            if (!std::isfinite(c.center.back()))
                not_finite(i);
        }
        c.radius.push_back((float)atom->radius[i]);
        c.atoms.push_back(i);
    }
    list_contacts(c, meshes[m]->get());
    match_contacts(m);
}

void FixWallCarom::list_contacts(Contacts &c, carom_mesh *mesh)
{
    const uint64_t n = c.atoms.size();
    carom_list_totals found = {};
    carom_mesh_contacts_desc desc = {};
    desc.batch.size = sizeof desc;
    desc.batch.count = n;
    desc.batch.accuracy = accuracy;
    desc.center = carom_xyz(c.center.data());
    desc.radius = carom_scalars_of(c.radius.data());
    desc.merge_within = (float)merge;
    c.count = 0;
    if (n == 0)
        return;
    for (uint64_t room = std::max<uint64_t>(2 * n + 16, c.query.size());; room = found.total) {
        carom_error wrong;
        carom_contact_list list = {};
        c.query.resize(room);
        c.triangle.resize(room);
        c.distance.resize(room);
        c.patch.resize(room);
        c.point.resize(3 * room);
        c.normal.resize(3 * room);
        list.size = sizeof list;
        list.capacity = room;
        list.query = c.query.data();
        list.triangle = c.triangle.data();
        list.distance = c.distance.data();
        list.point = carom_xyz_out(c.point.data());
        list.normal = carom_xyz_out(c.normal.data());
        list.patch = c.patch.data();
        list.totals = &found;
        must(carom_mesh_contacts(mesh, &desc, &list, nullptr, &wrong), wrong);
        if (found.complete == n)
            break;
    }
    c.count = found.stored;
}

// Which contact of the last step each contact goes on with.
void FixWallCarom::match_contacts(uint32_t m)
{
    Contacts &c = contacts[m];
    c.old_query.clear();
    c.old_patch.clear();
    c.old_point.clear();
    c.old_spring.clear();
    for (size_t k = 0; k < c.atoms.size(); k++)
        for (const Touch &touch : touches[c.atoms[k]])
            if (touch.mesh == m) {
                c.old_query.push_back(k);
                c.old_patch.push_back(touch.patch);
                c.old_point.insert(c.old_point.end(), touch.point, touch.point + 3);
                c.old_spring.insert(c.old_spring.end(), touch.spring, touch.spring + 3);
            }
    c.previous.resize(c.count);
    if (c.count == 0)
        return;
    carom_error wrong;
    carom_contact_records before = {}, now = {};
    before.size = now.size = sizeof before;
    before.count = c.old_query.size();
    before.query = c.old_query.data();
    before.patch = c.old_patch.data();
    before.point = carom_xyz(c.old_point.data());
    now.count = c.count;
    now.query = c.query.data();
    now.patch = c.patch.data();
    now.point = carom_xyz(c.point.data());
    carom_contact_match match = {};
    match.size = sizeof match;
    match.previous = c.previous.data();
    must(carom_contacts_match(context, &before, &now, &match, &wrong), wrong);
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

// The mass that resists a contact: of an atom in a rigid body that of the body, as in fix wall/gran.
double FixWallCarom::mass_of(int i)
{
    for (const Bodies &b : bodies)
        if (b.of[i] >= 0)
            return b.mass[b.of[i]];
    return atom->rmass[i];
}

// Once a step, and if there is a contact: fix rigid/small makes its list of masses anew for each who asks.
void FixWallCarom::find_bodies()
{
    const auto touched = [](const Contacts &c) { return c.count > 0; };
    bodies.clear();
    if (std::none_of(contacts.begin(), contacts.end(), touched))
        return;
    for (Fix *fix : rigid) {
        int dimension;
        const int *of = (const int *)fix->extract("body", dimension);
        const double *mass = (const double *)fix->extract("masstotal", dimension);
        if (of && mass)
            bodies.push_back({of, mass});
    }
}

// All contacts of atom i; `at` has, for each mesh, the first of them, and goes on behind the last. They are added in
// the order of distance and normal, which does not depend on ranks or on the order of triangles.
void FixWallCarom::add_forces(int i, std::vector<uint64_t> &at)
{
    order.clear();
    for (uint32_t m = 0; m < meshes.size(); m++)
        for (const Contacts &c = contacts[m]; at[m] < c.count && c.atoms[c.query[at[m]]] == i; at[m]++) {
            Order o = {(double)c.distance[at[m]], {}, m, at[m]};
            for (int k = 0; k < 3; k++)
                o.normal[k] = (double)c.normal[3 * at[m] + k];
            order.push_back(o);
        }
    if (order.size() > 1)
        std::sort(order.begin(), order.end(), [](const Order &a, const Order &b) {
            if (a.distance != b.distance)
                return a.distance < b.distance;
            for (int k = 0; k < 3; k++)
                if (a.normal[k] != b.normal[k])
                    return a.normal[k] < b.normal[k];
            return a.mesh != b.mesh ? a.mesh < b.mesh : a.index < b.index;
        });

    Grain grain;
    double place[3], sum[3] = {0, 0, 0}, turning[3] = {0, 0, 0}, world_sum[3], world_turning[3];
    grain.radius = atom->radius[i];
    grain.mass = mass_of(i);
    motion.place_in(atom->x[i], place);
    motion.vector_in(atom->v[i], grain.velocity);
    motion.vector_in(atom->omega[i], grain.spin);
    for (const Order &o : order)
        add_contact(i, o, grain, place, sum, turning);
    motion.vector_out(sum, world_sum);
    motion.vector_out(turning, world_turning);
    for (int k = 0; k < 3; k++) {
        atom->f[i][k] += world_sum[k];
        atom->torque[i][k] += world_turning[k];
        totals[k] -= world_sum[k];
    }
    make_room(i);
    totals[3] += (double)order.size();
}

void FixWallCarom::add_contact(int i, const Order &o, const Grain &grain, double *place, double *sum, double *turning)
{
    Contacts &c = contacts[o.mesh];
    double normal[3], foot[3], wall[3];
    const double length = std::sqrt(dot(o.normal, o.normal));
    Grain relative = grain;
    Touch touch = {o.mesh, c.patch[o.index], {}, {0, 0, 0}};
    Push push = {o.mesh, c.triangle[o.index], {}};
    for (int k = 0; k < 3; k++) { // carom's normals are rounded to binary32
        normal[k] = length > 0 ? o.normal[k] / length : 0.0;
        foot[k] = place[k] - o.distance * normal[k];
        touch.point[k] = c.point[3 * o.index + k];
    }
    motion.wall_velocity(foot, wall);
    for (int k = 0; k < 3; k++)
        relative.velocity[k] -= wall[k];
    if (c.previous[o.index] >= 0)
        memcpy(touch.spring, &c.old_spring[3 * (size_t)c.previous[o.index]], sizeof touch.spring);
    CaromWall::add_contact(law, relative, o.distance, normal, update->setupflag ? 0.0 : update->dt, touch.spring, sum,
                           turning, push.force);
    touches[i].push_back(touch);
    pushes.push_back(push);
    if (evflag) {
        double arm[3], f[3], frame_arm[3];
        for (int k = 0; k < 3; k++)
            frame_arm[k] = o.distance * normal[k];
        motion.vector_out(frame_arm, arm);
        motion.vector_out(push.force, f);
        double v[6] = {arm[0] * f[0], arm[1] * f[1], arm[2] * f[2], arm[0] * f[1], arm[0] * f[2], arm[1] * f[2]};
        v_tally(i, v);
    }
}
