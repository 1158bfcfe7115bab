# SPDX-License-Identifier: MIT
"""A signed distance volume of a dirty mesh, and the volume of the body.

A ball of 8192 triangles loses a dozen of them, another dozen stand twice, and a second ball overlaps it. The rule
`robust` takes all that. Slabs go to a memory-mapped file, so the volume may be larger than memory:

    python3 examples/python/dirty_volume.py

It prints:

    the mesh is open: 72 edges have an odd number of triangles
    the mesh is open: 72 edges are not met as often in one direction as in the other
    16384 triangles, 688905 nodes, 0 wrong signs farther than a spacing from the balls
    volume 5.31, of the two balls 5.32
"""
import carom
import numpy as np


def ball(steps, radius, center):
    """An octahedron whose triangles are halved `steps` times, on a sphere."""
    corners = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], "f8")
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    soup = corners[np.array(faces)]
    for _ in range(steps):
        a, b, c = soup[:, 0], soup[:, 1], soup[:, 2]
        ab, bc, ca = (p / np.linalg.norm(p, axis=1)[:, None] for p in (a + b, b + c, c + a))
        soup = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return (radius * soup + center).astype("f4")


first, second = ball(5, 1, [0, 0, 0]), ball(5, 0.75, [1, 0, 0])
soup = np.concatenate([np.delete(first, range(0, 8192, 700), 0), first[100:112], second])  # holes, doubles, overlap
mesh = carom.Context().mesh(soup)
lattice = carom.Lattice.around(mesh.info.lower, mesh.info.upper, spacing=1 / 32, margin=0.25)

for sign in ("parity", "winding"):
    try:
        mesh.distance(lattice, sign=sign, slabs=(0, 0))  # checks, and answers nothing
    except carom.InvalidArgument as error:
        print(error.sentence.split(";")[0])

volume = np.lib.format.open_memmap("volume.npy", "w+", "f4", lattice.dims[::-1])
for begin in range(0, lattice.dims[2], 16):
    end = min(begin + 16, lattice.dims[2])
    mesh.distance(lattice, sign="robust", slabs=(begin, end), out={"distance": volume[begin:end]})
volume.flush()

x, y, z = (lattice.coordinates(axis).astype("f8") for axis in range(3))
z, y, x = np.meshgrid(z, y, x, indexing="ij")
from_first, from_second = np.sqrt(x * x + y * y + z * z) - 1, np.sqrt((x - 1) ** 2 + y * y + z * z) - 0.75
outside, inside = (sign * np.minimum(from_first, from_second) > lattice.spacing for sign in (1, -1))
wrong = np.count_nonzero(volume[outside] < 0) + np.count_nonzero(volume[inside] > 0)  # 0: on an inner wall
print(f"{len(soup)} triangles, {volume.size} nodes, {wrong} wrong signs farther than a spacing from the balls")


def cap(r, d):
    """Volume of the part of a ball beyond a plane at the distance d from its centre."""
    return np.pi * (r - d) ** 2 * (2 * r + d) / 3


d = (1 + 1 - 0.75**2) / 2  # where the two spheres meet
true = 4 / 3 * np.pi * (1 + 0.75**3) - cap(1, d) - cap(0.75, 1 - d)
print(f"volume {np.count_nonzero(volume < 0) / 32**3:.2f}, of the two balls {true:.2f}")
