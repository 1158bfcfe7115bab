# SPDX-License-Identifier: MIT
"""What a call from Python costs over the C call in it, in us, and how much two threads gain.

    python3 calls.py [ROUNDS]
"""
import pathlib
import sys
import threading
import time

import numpy as np

import carom
from carom import _run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
from shapes import waves  # noqa: E402


def spheres(n):
    rng = np.random.default_rng(0)
    center = rng.uniform((-7, -7, 0.2), (7, 7, 1.2), (n, 3)).astype("f4")
    return center, np.tile(np.float32((0, 0, -1)), (n, 1)), np.full(n, 0.3, "f4")


def overheads(rounds):
    """Time of a call outside of the C call in it. Python's part of a large batch is dearer: its code and data have left
    the caches. Many calls are timed one by one, as a call of 0.4 ms differs from the next by more than what is sought.
    """
    mesh = carom.Context(backend="cpu", threads=1).mesh(*waves(60))
    inside, ask_c = [0.0], _run.ask

    def timed(*arguments):
        begin = time.perf_counter()
        status = ask_c(*arguments)
        inside[0] = time.perf_counter() - begin
        return status

    _run.ask = timed
    for n, times in ((1, 300), (1000, 20)):
        center, velocity, radius = spheres(n)
        for name, ask in (
            ("sweep_first", lambda **more: mesh.sweep_first(center, velocity, radius, **more)),
            ("closest", lambda **more: mesh.closest(center, **more)),
            ("contacts", lambda **more: mesh.contacts(center, radius, **more)),
        ):
            every = [column for column in ask()._fields if column != "instance"]
            for columns in (None, every):
                ask(columns=columns)  # a list knows its length now
                seen = [(measure(ask, columns), inside[0]) for _ in range(rounds * times)]
                c, python = 1e6 * np.median([(c, all - c) for all, c in seen], axis=0)
                named = "usual columns" if columns is None else "all columns"
                print(f"{n:5} {name:12} {named:13}  C {c:8.2f}  Python {python:6.2f} us more, medians of {len(seen)}")
    _run.ask = ask_c


def measure(ask, columns):
    begin = time.perf_counter()
    ask(columns=columns)
    return time.perf_counter() - begin


def threads(rounds):
    """The work of two threads, with a context of one thread each, over one's in the same time, in turns. The
    best of many short rounds each: another program may have a core in the others."""
    meshes = [carom.Context(backend="cpu", threads=1).mesh(*waves(60)) for _ in range(2)]
    center, velocity, radius = spheres(2000)
    counted = []

    def work(mesh, end, counts):
        while time.monotonic() < end:
            mesh.sweep_first(center, velocity, radius)
            counts.append(1)

    for _ in range(4 * rounds):
        done = []
        for used in (meshes[:1], meshes):
            end, counts = time.monotonic() + 0.1, []
            running = [threading.Thread(target=work, args=(mesh, end, counts)) for mesh in used]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
            done.append(len(counts))
        counted.append(done)
    one, two = map(max, zip(*counted))
    print(f"two threads: {two / one:.2f} times one's work, the best of {len(counted)} rounds each")


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    overheads(rounds)
    threads(rounds)
