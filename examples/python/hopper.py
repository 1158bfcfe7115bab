# SPDX-License-Identifier: MIT
"""Grains run out of a hopper: springs, dashpots and friction, with a history for each contact.

Contacts with the wall come from mesh.contacts and context.match, those of the grains among themselves from
context.spheres. Both are exact, and NumPy rounds each operation once, so every machine prints the same:

    python3 examples/python/hopper.py

It prints:

    t = 0.5: 16 of 147 out, 29 contacts with the wall, 37 among grains
    t = 1.0: 84 of 147 out, 30 contacts with the wall, 29 among grains
    t = 1.5: 146 of 147 out, 1 contacts with the wall, 0 among grains
    t = 2.0: 147 of 147 out, 0 contacts with the wall, 0 among grains
    0 centres went through a wall; the deepest overlap was 0.11 of a radius
"""
import carom
import numpy as np

R, MASS, DT, G = 0.05, 1.0, 2e-4, np.array([0, 0, -9.81])
K, KT, C, MU = 4e5, 1e5, 250.0, 0.3  # stiffness, of tangential springs, damping, friction


def hopper():
    """A box from z = 1 to 3 over a funnel that narrows to a hole at z = 0.5."""
    rings = [(0.5, 3), (0.5, 1), (0.2, 0.5)]
    corners = [(h * x, h * y, z) for h, z in rings for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    quads = [(4 * k + i, 4 * k + (i + 1) % 4, 4 * k + 4 + (i + 1) % 4, 4 * k + 4 + i) for k in (0, 1) for i in range(4)]
    return np.array(corners, "f4"), [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def dot(a, b):
    return (a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2])[:, None]


def law(normal, depth, slip, spring, previous):
    """Force on the grain that `normal` points to, and the springs; slip: its velocity at the contact."""
    spring = np.vstack([spring, np.zeros((1, 3))])[previous]  # -1, a new contact, is the row of zeros
    into = dot(slip, normal)
    tangential = slip - into * normal
    spring = spring - dot(spring, normal) * normal + DT * tangential
    push = np.maximum(K * depth[:, None] - C * into, 0)
    drag = -KT * spring - C * tangential
    size = np.sqrt(dot(drag, drag))
    drag *= np.minimum(1, MU * push / np.maximum(size, 1e-30))  # it slides where friction is too small
    return push * normal + drag, np.where(size > MU * push, -drag / KT, spring)


context = carom.Context(accuracy="exact")
wall = context.mesh(*hopper())
grid = np.stack(np.meshgrid(np.arange(7), np.arange(7), np.arange(3), indexing="ij"), -1).reshape(-1, 3)
x = (grid - [3, 3, 0]) * 0.13 + [0, 0, 1.2] + np.random.default_rng(1).uniform(-0.01, 0.01, grid.shape)
v, spin = np.zeros_like(x), np.zeros_like(x)
at, crossed = x.astype("f4"), 0
pairs, walls = context.spheres(at, R), wall.contacts(at, R)
wall_spring, pair_spring, deepest = np.zeros((len(walls.query), 3)), np.zeros((len(pairs.a), 3)), 0.0
for step in range(1, 10_001):
    was, at = at, x.astype("f4")
    crossed += np.count_nonzero(wall.sweep_any(was, radius=0.0, end=at).hit)  # centres that went through a wall
    force, torque = np.tile(MASS * G, (len(x), 1)), np.zeros_like(x)
    before, walls = walls, wall.contacts(at, R)
    i, n = walls.query, walls.normal.astype("f8")
    goes_on = context.match(before, walls).previous
    f, wall_spring = law(n, walls.depth, v[i] - R * np.cross(spin[i], n), wall_spring, goes_on)
    np.add.at(force, i, f)
    np.add.at(torque, i, -R * np.cross(n, f))
    pairs = context.spheres(at, R, before=pairs)
    a, b, n = pairs.a, pairs.b, -pairs.normal.astype("f8")
    f, pair_spring = law(n, pairs.depth, v[a] - v[b] - R * np.cross(spin[a] + spin[b], n), pair_spring, pairs.previous)
    np.add.at(force, a, f)
    np.add.at(force, b, -f)
    np.add.at(torque, a, -R * np.cross(n, f))
    np.add.at(torque, b, -R * np.cross(n, f))
    v += DT / MASS * force
    spin += DT / (0.4 * MASS * R * R) * torque
    x += DT * v
    deepest = max(deepest, *walls.depth, *pairs.depth, 0.0)
    if step % 2500 == 0:
        out = np.count_nonzero(x[:, 2] < 0.5)
        print(f"t = {step * DT:.1f}: {out} of {len(x)} out, {len(i)} contacts with the wall, {len(a)} among grains")
print(f"{crossed} centres went through a wall; the deepest overlap was {deepest / R:.2f} of a radius")
