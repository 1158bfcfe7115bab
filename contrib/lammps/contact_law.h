/* SPDX-License-Identifier: MIT */
/* Force of one contact: the formulas of LAMMPS's `fix wall/gran hooke/history` and `hertz/history` with dampflag 1,
 * written with distance and unit normal. */
#ifndef CAROM_LAMMPS_CONTACT_LAW_H
#define CAROM_LAMMPS_CONTACT_LAW_H

#include "wall_motion.h"

namespace CaromWall
{

struct Law {
    bool hertz = false;
    double kn = 0, kt = 0;         // hooke: F/L; hertz: F/L^2
    double gamman = 0, gammat = 0; // hooke: 1/T; hertz: 1/(L T)
    double mu = 0;
};

struct Grain {
    double radius, mass;
    double velocity[3], spin[3]; // velocity relative to the wall at the contact
};

// distance: of the centre from the wall; normal: unit vector from the wall to the centre. step: the length of the time
// step by which `spring`, the tangential displacement, goes on; 0 while LAMMPS sets up a run, which leaves it where it
// is. Adds to force and torque on the grain, and sets `push` to the force of this contact.
inline void add_contact(const Law &law, const Grain &g, double distance, const double *normal, double step,
                        double *spring, double *force, double *torque, double *push)
{
    const double depth = std::fmax(0.0, g.radius - distance); // the float nearest to the radius may be larger
    const double area = law.hertz ? std::sqrt(depth * g.radius) : 1.0;
    const double vn = dot(g.velocity, normal);
    double vt[3], ft[3], arm[3], turning[3];
    cross(g.spin, normal, arm);
    for (int k = 0; k < 3; k++)
        vt[k] = g.velocity[k] - vn * normal[k] - g.radius * arm[k];
    const double fn = area * (law.kn * depth - g.mass * law.gamman * vn);

    for (int k = 0; k < 3; k++)
        spring[k] += step * vt[k];
    const double stretched = std::sqrt(dot(spring, spring));
    if (step > 0) { // the part along the normal goes: the normal may have turned
        const double along = dot(spring, normal);
        for (int k = 0; k < 3; k++)
            spring[k] -= along * normal[k];
    }
    for (int k = 0; k < 3; k++)
        ft[k] = -area * (law.kt * spring[k] + g.mass * law.gammat * vt[k]);

    const double size = std::sqrt(dot(ft, ft)), limit = law.mu * std::fabs(fn);
    if (size > limit) { // it slips: the spring keeps what the limit leaves of it
        const double left = stretched != 0 ? limit / size : 0.0;
        for (int k = 0; k < 3; k++) {
            const double damper = law.kt > 0 ? g.mass * law.gammat * vt[k] / law.kt : 0.0;
            if (stretched != 0)
                spring[k] = left * (spring[k] + damper) - damper;
            ft[k] *= left;
        }
    }
    cross(normal, ft, turning);
    for (int k = 0; k < 3; k++) {
        push[k] = fn * normal[k] + ft[k];
        force[k] += push[k];
        torque[k] -= g.radius * turning[k];
    }
}

} // namespace CaromWall

#endif
