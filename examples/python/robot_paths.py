# SPDX-License-Identifier: MIT
"""Trajectories of a robot arm against a world, in groups: one answer for each configuration.

An arm of three links, covered by 12 spheres, swings along 1000 paths of 16 configurations through a room with a
pillar. With bundle=12 each configuration has one answer, and after the first sphere that hits, its others are not
searched:

    python3 examples/python/robot_paths.py

It prints:

    435 of 1000 paths are free at all 16 configurations
    as by the formula of a box: True
    422 are free all the way
    deepest: path 15, step 0, sphere 8, 0.615 deep, out along [-1.  0.  0.]
"""
import carom
import numpy as np

LINKS, PER_LINK, RADIUS, PATHS, STEPS = 3, 4, 0.12, 1000, 16
SPHERES = LINKS * PER_LINK


def box(lower, upper):
    """A closed box, its normals outward."""
    corners = np.array([[(lower, upper)[(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)], "f4")
    return corners, np.array(
        [
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ]
    )


def arm(angles):
    """Centres of the spheres, (..., 12, 3), of an arm in the plane z = 1 with the joint angles (..., 3)."""
    turned = np.cumsum(angles, -1)
    ways = np.stack([np.cos(turned), np.sin(turned), 0 * turned], -1)  # along each link
    joints = np.cumsum(ways, -2) - ways  # where it begins
    share = (np.arange(PER_LINK) + 0.5) / PER_LINK
    centers = joints[..., :, None, :] + share[:, None] * ways[..., :, None, :]
    return (centers.reshape(*angles.shape[:-1], SPHERES, 3) + [0, 0, 1]).astype("f4")


context = carom.Context()
pillar = context.mesh(*box((1.5, -0.5, 0), (2.5, 0.5, 2)))
random = np.random.default_rng(5)
begin, end = random.uniform(-np.pi, np.pi, (2, PATHS, 1, 3))
angles = begin + np.linspace(0, 1, STEPS)[:, None] * (end - begin)
centers = arm(angles)  # [path, step, sphere, 3]

hit = pillar.overlap_any(centers.reshape(-1, 3), RADIUS, sign="winding", bundle=SPHERES).hit == 1
hit = hit.reshape(PATHS, STEPS)
print(f"{np.count_nonzero(~hit.any(1))} of {PATHS} paths are free at all {STEPS} configurations")

# The same from the definition: distances of a box in NumPy.
d = np.abs(centers - np.float32([2, 0, 1])) - np.float32([0.5, 0.5, 1])
signed = np.sqrt((np.maximum(d, 0) ** 2).sum(-1)) + np.minimum(d.max(-1), 0)
print("as by the formula of a box:", bool(np.array_equal(hit, (signed <= RADIUS).any(-1))))

# Between two configurations a sphere moves along an arc, which its chord misses by at most reach * turn^2 / 8.
turn = np.abs(np.cumsum(end - begin, -1)).max(-1) / (STEPS - 1)
wider = RADIUS + (3 * turn**2 / 8).repeat((STEPS - 1) * SPHERES, 0).ravel()
swept = (
    pillar.sweep_any(
        centers[:, :-1].reshape(-1, 3), radius=wider.astype("f4"), end=centers[:, 1:].reshape(-1, 3), bundle=SPHERES
    ).hit
    == 1
)
print(f"{np.count_nonzero(~(hit.any(1) | swept.reshape(PATHS, -1).any(1)))} are free all the way")

# How deep, with which sphere, and where to push: for an optimiser.
deepest = pillar.closest(
    centers.reshape(-1, 3), radius=RADIUS, sign="winding", bundle=SPHERES, columns=["depth", "query", "gradient"]
)
worst = np.argmax(deepest.depth)
print(
    f"deepest: path {worst // STEPS}, step {worst % STEPS}, sphere {deepest.query[worst] % SPHERES},",
    f"{deepest.depth[worst]:.3f} deep, out along {deepest.gradient[worst]}",
)
