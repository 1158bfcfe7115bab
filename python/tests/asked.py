# SPDX-License-Identifier: MIT
"""A valid call of every method, made from its signature: tests ask the same of each."""
import inspect

import numpy as np

import carom
from conftest import waves

N = 40
PARTS = {"center": 0, "a0": 0, "b0": 1, "a1": 2, "b1": 3, "p0": 0, "p1": 4, "p2": 5, "velocity": 2, "end": 2}
SCALARS = {"radius", "radius_a", "radius_b", "t_max", "max_distance", "x", "y"}


def methods():
    """(class, name) of every generated method."""
    found = []
    for owner in (carom.Context, carom.Mesh, carom.Scene):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            if method.__module__ == "carom._calls":
                found.append((owner, name))
    return found


def names():
    return [f"{owner.__name__}.{name}" for owner, name in methods()]


class Subjects:
    """A context, a mesh and a scene of it, by their class."""

    def __init__(self, **how):
        self.context = carom.Context(**{"backend": "cpu", "threads": 2, **how})
        self.mesh = self.context.mesh(*waves(10))
        self.scene = self.context.scene(
            [(self.mesh, None), (self.mesh, np.float32(np.eye(4)[:3] + [[0, 0, 0, 2]] * 3))]
        )

    def method(self, name):
        owner, _, method = name.partition(".")
        return getattr({"Context": self.context, "Mesh": self.mesh, "Scene": self.scene}[owner], method)


def arguments(method, n=N, seed=0):
    """Keywords for a valid call: arrays for every required parameter, and for velocity and radius."""
    rng, given = np.random.default_rng(seed), {}
    for name, parameter in inspect.signature(method).parameters.items():
        is_wanted = parameter.default is inspect.Parameter.empty or name in ("velocity", "radius")
        if name == "velocity" and "center" in given and method.__name__.startswith("spheres"):
            continue
        if not is_wanted:
            continue
        if name == "lattice":
            given[name] = carom.Lattice((-4, -4, -1), 1.0, (8, 6, 1 if method.__name__ == "drop" else 4))
        elif name == "radius" and ("lattice" in given or "x" in given):
            given[name] = 0.5
        elif name in SCALARS:
            given[name] = rng.uniform(0.1, 0.5, n).astype("f4")
        elif name in PARTS or name == "triangle_velocity":
            given[name] = rng.uniform(-4, 4, (n, 3)).astype("f4")
        else:
            raise AssertionError(f"{name}: asked.py knows no such parameter")
    return given
