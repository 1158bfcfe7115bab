# SPDX-License-Identifier: MIT
"""A drop map of a part: how low a ball end mill may go over each place, and how much it leaves standing.

The part is a hill with a groove. The ball is dropped over a grid; where it cannot reach the bottom of the groove,
material is left. The map is compared with heights that follow from geometry:

    python3 examples/python/drop_map.py

It prints:

    tip in the groove at 0.9000, by geometry 0.9000
    on the top at 1.0000, on the ramp at 0.7071, by geometry 0.7071
    left standing: 0.500 at x = 0.00, 0.196 of the section
    gouged anywhere: False
    ['E12', 'FACE', 'FACE'] True
"""
import carom
import numpy as np

R, STEP = 0.5, 1 / 64
z_of = {-3: 0, -2: 1, -0.3: 1, 0: 0.4, 0.3: 1, 2: 1, 3: 0}  # a profile along x: ramps, a flat top and a groove
xs, zs = np.array(list(z_of), "f4"), np.array(list(z_of.values()), "f4")
vertices = np.concatenate([np.stack([xs, np.full_like(xs, y), zs], 1) for y in (-1, 1)])
n = len(xs)
triangles = [t for i in range(n - 1) for t in ((i, i + 1, n + i + 1), (i, n + i + 1, n + i))]
mesh = carom.Context().mesh(vertices, triangles)

grid = carom.Lattice(origin=(-3, -1), spacing=STEP, dims=(6 * 64 + 1, 2 * 64 + 1))
tip = mesh.drop(grid, R).height - R  # [y, x]
middle = tip[tip.shape[0] // 2]
x = grid.coordinates(0)

# In the groove the ball stands on both upper edges, which are 0.6 apart.
print(f"tip in the groove at {middle[x == 0][0]:.4f}, by geometry {1 + np.sqrt(R * R - 0.3**2) - R:.4f}")
print(
    f"on the top at {middle[x == 1][0]:.4f}, on the ramp at {middle[x == -2.5][0]:.4f},",
    f"by geometry {0.5 + R * np.sqrt(2) - R:.4f}",
)

surface = np.interp(x, xs, zs)
left = np.lib.stride_tricks.sliding_window_view(np.pad(middle, 32, mode="edge"), 65)
offsets = np.arange(-32, 33) * STEP
reached = (left + (R - np.sqrt(R * R - offsets**2))).min(1)  # the lowest that the ball cuts over each x
print(
    f"left standing: {np.max(reached - surface):.3f} at x = {x[np.argmax(reached - surface)]:.2f},",
    f"{np.sum(reached - surface) * STEP:.3f} of the section",
)
print("gouged anywhere:", bool((reached < surface - 1e-6).any()))

# The same places, in any order, with the point of contact.
at = mesh.drop_at(np.float32([0, 1, -2.5]), np.float32([0, 0, 0]), R)
print([carom.Feature(f).name for f in at.feature], bool(np.all(at.height - R == middle[[192, 256, 32]])))
