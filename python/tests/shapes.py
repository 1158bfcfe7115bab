# SPDX-License-Identifier: MIT
"""Meshes of the tests and of python/bench."""
import numpy as np


def waves(cells=40):
    """(vertices, triangles) of a wavy floor from -8 to 8."""
    x, y = np.meshgrid(*2 * [np.linspace(-8, 8, cells + 1)], indexing="ij")
    vertices = np.stack([x, y, 0.3 * np.sin(x) * np.cos(y)], -1).astype("f4").reshape(-1, 3)
    i = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (part.ravel() for part in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    return vertices, np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])


def cube(size=1.0):
    """(vertices, triangles) of a closed cube from 0 to `size`, normals outward."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], "f4") * np.float32(size)
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return corners, np.array([[f[0], f[i], f[i + 1]] for f in faces for i in (1, 2)])
