/* SPDX-License-Identifier: MIT */
/* Angles of + - * / alone, so that the bits are the same on every machine. */
#ifndef CAROM_HOST_MESH_ANGLE_H
#define CAROM_HOST_MESH_ANGLE_H

/* The arctangent of t, |t| <= tan(pi / 16) = 0.19892, by its series; the first term that is left out is 2^-57 t. */
static inline double caromi_small_arctangent(double t)
{
    const double s = t * t;
    double sum = 1.0 / 23;
    for (int n = 21; n >= 1; n -= 2)
        sum = 1.0 / n - s * sum;
    return t * sum;
}

/* The angle of the vector (x, y), y >= 0, as a part of a turn: 0 to 1/2, within 2^-51. 0 for a vector of zeros. */
static inline double caromi_turn_of(double x, double y)
{
    const double tan_16 = 0.198912367379658, tan_3_16 = 0.668178637919299, tan_8 = 0.41421356237309503;
    const double per_radian = 0.15915494309189535; /* 1 / (2 pi) */
    const double width = x < 0 ? -x : x, most = y > width ? y : width, least = y > width ? width : y;
    if (most == 0)
        return 0;
    const double t = least / most;
    double turn = t <= tan_16     ? caromi_small_arctangent(t) * per_radian
                  : t <= tan_3_16 ? 0.0625 + caromi_small_arctangent((t - tan_8) / (1 + t * tan_8)) * per_radian
                                  : 0.125 + caromi_small_arctangent((t - 1) / (1 + t)) * per_radian;
    turn = y > width ? 0.25 - turn : turn;
    return x < 0 ? 0.5 - turn : turn;
}
#endif
