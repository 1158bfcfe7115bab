# SPDX-License-Identifier: MIT
"""The CPU against each device and each instruction set: the bits of all answers are compared.

    python3 examples/python/same_bits.py

A line for each backend that it finds tells how many bytes differ. It prints at its end:

    the same bits everywhere
"""
import carom
import numpy as np

N = 5_000
random = np.random.default_rng(4)
vertices = random.random((600, 3), "f4")
triangles = random.integers(0, 600, (2000, 3))  # any triangles, also degenerate ones
center = random.random((N, 3), "f4") * 3 - 1
velocity = random.random((N, 3), "f4") - np.float32(0.5)
radius = random.random(N, "f4") * np.float32(0.1)
lattice = carom.Lattice((-0.25, -0.25, -0.25), 1 / 16, (24, 24, 24))


def answers(**where):
    """The bytes of every kind of answer, and how many queries a device has answered."""
    with carom.Context(**where) as context:
        mesh, found, on_device = context.mesh(vertices, triangles), [], 0
        for accuracy in ("fast", "exact"):
            for result, stats in (
                mesh.sweep_first(center, velocity, radius, accuracy=accuracy, stats=True),
                mesh.sweep_all(center, velocity, radius, t_max=0.5, accuracy=accuracy, stats=True),
                mesh.closest(center, accuracy=accuracy, stats=True),
                mesh.contacts(center, radius, accuracy=accuracy, stats=True),
                mesh.distance(lattice, accuracy=accuracy, stats=True),
                context.spheres(center, 0.02, velocity=velocity, t_max=0.1, accuracy=accuracy, stats=True),
            ):
                found += [column.tobytes() for column in result if column is not None]
                on_device += stats.on_device
        return b"".join(found), on_device


def differing(a, b):
    return abs(len(a) - len(b)) + np.count_nonzero(np.frombuffer(a, "u1")[: len(b)] != np.frombuffer(b, "u1")[: len(a)])


reference, _ = answers(backend="cpu", isa="scalar", threads=1)
total = 0


def report(name, found, note=""):
    global total
    bytes_off = differing(found, reference)
    total += bytes_off
    print(f"{name}: {bytes_off} of {len(reference)} bytes differ{note}")


for isa in ("scalar", "sse41", "avx2", "avx512", "neon"):
    try:
        report(isa, answers(backend="cpu", isa=isa)[0])
    except carom.Error as error:
        print(f"{isa}: {error.sentence}")
report("2 threads", answers(backend="cpu", threads=2)[0])
for device in carom.devices():
    try:
        bits, count = answers(backend="opencl", device=device.index)
    except carom.Error as error:
        print(f"{device.name}: {error.sentence}")
    else:
        report(device.name, bits, f", {count} queries answered there")
print("the same bits everywhere" if total == 0 else f"{total} bytes differ")
