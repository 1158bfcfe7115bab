#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""meshes.py: writes the walls of tests/rows/lammps.sh as binary STL, into the current folder."""
import math
import random
import struct

rng = random.Random(1)


def write(name, triangles):
    """Binary STL. The normals are zero: readers take the corners."""
    with open(name, "wb") as file:
        file.write(b"carom".ljust(80) + struct.pack("<I", len(triangles)))
        for corners in triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *[x for corner in corners for x in corner], 0))


def write_text(name, triangles):
    """The same as text, for LIGGGHTS."""
    with open(name, "w") as file:
        print("solid carom", file=file)
        for corners in triangles:
            lines = "".join("vertex %.9g %.9g %.9g\n" % corner for corner in corners)
            print("facet normal 0 0 0\nouter loop\n" + lines + "endloop\nendfacet", file=file)
        print("endsolid carom", file=file)


def grid(origin, u, v, n, m, jitter=0.0):
    """The parallelogram at `origin` along u and v, cut into n by m pieces of two triangles, corners moved at random."""

    def place(i, j):
        s, t = i / n, j / m
        if jitter and 0 < i < n and 0 < j < m:
            s += (rng.random() - 0.5) * jitter / n
            t += (rng.random() - 0.5) * jitter / m
        return tuple(origin[k] + s * u[k] + t * v[k] for k in range(3))

    p = [[place(i, j) for j in range(m + 1)] for i in range(n + 1)]
    out = []
    for i in range(n):
        for j in range(m):
            a, b, c, d = p[i][j], p[i + 1][j], p[i + 1][j + 1], p[i][j + 1]
            out += [(a, b, c), (a, c, d)]
    return out


def floor(n, m, jitter=0.0):
    return grid((-8, -8, 0), (16, 0, 0), (0, 16, 0), n, m, jitter)


def drum(facets, pieces, radius=3.0, half=6.0):
    """The inside of a cylinder along y."""
    ring = [(radius * math.cos(a), radius * math.sin(a)) for a in (2 * math.pi * i / facets for i in range(facets))]
    out = []
    for i in range(facets):
        (x0, z0), (x1, z1) = ring[i], ring[(i + 1) % facets]
        for j in range(pieces):
            y0, y1 = -half + 2 * half * j / pieces, -half + 2 * half * (j + 1) / pieces
            a, b, c, d = (x0, y0, z0), (x0, y1, z0), (x1, y1, z1), (x1, y0, z1)
            out += [(a, b, c), (a, c, d)]
    return out


def box(lower, upper, n):
    """A box without a lid."""
    size = [b - a for a, b in zip(lower, upper)]
    x, y, z = (size[0], 0, 0), (0, size[1], 0), (0, 0, size[2])
    far = (upper[0], lower[1], lower[2])
    back = (lower[0], upper[1], lower[2])
    return (
        grid(lower, x, y, n, n, 0.6)
        + grid(lower, x, z, n, n)
        + grid(back, x, z, n, n)
        + grid(lower, y, z, n, n)
        + grid(far, y, z, n, n)
    )


def cage(count, distance):
    """Triangles that face a place from `count` directions, all at one distance, and share no corners."""
    out = []
    for i in range(count):
        z = 1 - 2 * (i + 0.5) / count
        turn = i * math.pi * (3 - math.sqrt(5))
        s = math.sqrt(1 - z * z)
        n = (s * math.cos(turn), s * math.sin(turn), z)
        a = (-n[1], n[0], 0.0)
        length = math.hypot(*a)
        a = tuple(c / length for c in a)
        b = (n[1] * a[2] - n[2] * a[1], n[2] * a[0] - n[0] * a[2], n[0] * a[1] - n[1] * a[0])
        size = 0.1 * distance
        out.append(
            tuple(
                tuple(distance * n[k] + size * (math.cos(w) * a[k] + math.sin(w) * b[k]) for k in range(3))
                for w in (0, 2 * math.pi / 3, 4 * math.pi / 3)
            )
        )
    return out


# six cuts of one floor
write("floor-1.stl", floor(1, 1))
write("floor-10.stl", floor(10, 10))
write("floor-71.stl", floor(71, 71))
write("floor-irregular.stl", floor(71, 71, 0.6))
write("floor-needles.stl", floor(1, 800))
junctions = []
for strip in range(16):
    junctions += grid((strip - 8, -8, 0), (1, 0, 0), (0, 16, 0), 1, (5, 8, 13)[strip % 3])
write("floor-junctions.stl", junctions)

write_text("drum.stl", drum(144, 12))
write("box.stl", box((0, 0, 0), (1.2, 0.8, 1.0), 8))
write("box-reversed.stl", box((0, 0, 0), (1.2, 0.8, 1.0), 3)[::-1])
write("cage.stl", cage(40, 0.49))
write("cage-1200.stl", cage(1200, 0.49))

# a chute of 30 degrees between two sides, with an end plate
slope = (1.2 * math.cos(math.pi / 6), 0, -0.6)
chute = grid((0, 0, 0.6), slope, (0, 0.5, 0), 30, 10, 0.6)
chute += grid((0, 0, 0.6), slope, (0, 0, 0.4), 20, 6) + grid((0, 0.5, 0.6), slope, (0, 0, 0.4), 20, 6)
write("chute.stl", chute)
write("plate.stl", grid((slope[0], 0, 0), (0, 0.5, 0), (0, 0, 0.6), 10, 8))
