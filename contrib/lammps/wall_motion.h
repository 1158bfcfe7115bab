/* SPDX-License-Identifier: MIT */
/* Motion of a wall as a rigid body. The mesh rests in its own frame: places, velocities and spins of grains are taken
 * into that frame, forces are taken out of it. */
#ifndef CAROM_LAMMPS_WALL_MOTION_H
#define CAROM_LAMMPS_WALL_MOTION_H

#include <cmath>

namespace CaromWall
{

inline double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

inline void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

class Motion
{
  public:
    enum Kind { REST, ROTATE, LINEAR };

    Kind kind = REST;
    double pivot[3] = {0, 0, 0}, axis[3] = {0, 0, 1}; // ROTATE: a point of the axis, and its unit vector
    double period = 1;                                // ROTATE: time of one turn, by the right-hand rule
    double velocity[3] = {0, 0, 0};                   // LINEAR

    // Puts the frame where the mesh is at `time`; at time 0 it is as in the file.
    void set_time(double time)
    {
        if (kind == LINEAR)
            for (int k = 0; k < 3; k++)
                shift[k] = velocity[k] * time;
        if (kind == ROTATE)
            set_angle(2 * M_PI * (time / period - std::floor(time / period)));
    }

    // A place of the world, in the frame. At rest the numbers are the same, bit for bit.
    void place_in(const double *x, double *y) const
    {
        double arm[3];
        for (int k = 0; k < 3; k++)
            y[k] = x[k] - shift[k];
        if (kind != ROTATE)
            return;
        for (int k = 0; k < 3; k++)
            arm[k] = x[k] - pivot[k];
        vector_in(arm, y);
        for (int k = 0; k < 3; k++)
            y[k] += pivot[k];
    }

    // A vector of the world, in the frame, and back. `in` and `out` may not be the same.
    void vector_in(const double *in, double *out) const
    {
        for (int k = 0; k < 3; k++)
            out[k] = kind == ROTATE ? turn[0][k] * in[0] + turn[1][k] * in[1] + turn[2][k] * in[2] : in[k];
    }
    void vector_out(const double *in, double *out) const
    {
        for (int k = 0; k < 3; k++)
            out[k] = kind == ROTATE ? turn[k][0] * in[0] + turn[k][1] * in[1] + turn[k][2] * in[2] : in[k];
    }

    // The velocity of the wall at a place of the frame, as a vector of the frame.
    void wall_velocity(const double *y, double *out) const
    {
        double arm[3];
        if (kind == ROTATE) { // the axis is the same in both frames
            for (int k = 0; k < 3; k++)
                arm[k] = (y[k] - pivot[k]) * (2 * M_PI / period);
            cross(axis, arm, out);
            return;
        }
        for (int k = 0; k < 3; k++)
            out[k] = velocity[k];
    }

  private:
    double turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, shift[3] = {0, 0, 0};

    void set_angle(double angle) // Rodrigues' formula
    {
        const double c = std::cos(angle), s = std::sin(angle);
        const double skew[3][3] = {{0, -axis[2], axis[1]}, {axis[2], 0, -axis[0]}, {-axis[1], axis[0], 0}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                turn[i][j] = (i == j ? c : 0) + s * skew[i][j] + (1 - c) * axis[i] * axis[j];
    }
};

} // namespace CaromWall

#endif
