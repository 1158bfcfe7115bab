# SPDX-License-Identifier: MIT
"""What a call from Python costs over the same call in C, in us of CPU time, and how much two threads gain.

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


def seconds(function, times):
    begin = time.thread_time()
    for _ in range(times):
        function()
    return (time.thread_time() - begin) / times


def call_alone(ask):
    """The C call of `ask` alone, with everything prepared."""
    seen, invoke = [], _run.Running.invoke
    _run.Running.invoke = lambda self, err: seen.append((self, self.made)) or invoke(self, err)
    answer = ask()
    columns = [name for name in answer._fields if getattr(answer, name) is not None]
    ask(columns=columns, out={columns[-1]: getattr(answer, columns[-1]).copy()})  # these have no block of memory
    _run.Running.invoke = invoke
    running, _ = seen[-1]
    return lambda: (running, seen) and invoke(running, running.subject._context._err)


def overheads(rounds):
    mesh = carom.Context(backend="cpu", threads=1).mesh(*waves(60))
    for n, times in ((1, 300), (1000, 20)):
        center, velocity, radius = spheres(n)
        for name, ask in (
            ("sweep_first", lambda **more: mesh.sweep_first(center, velocity, radius, **more)),
            ("closest", lambda **more: mesh.closest(center, **more)),
            ("contacts", lambda **more: mesh.contacts(center, radius, **more)),
        ):
            ask()  # a list knows its length now
            alone = call_alone(ask)
            pairs = [(seconds(alone, times), seconds(ask, times)) for _ in range(rounds)]
            c, python = (1e6 * min(column) for column in zip(*pairs))
            over = 1e6 * float(np.median([b - a for a, b in pairs]))
            print(f"{n:5} {name:12} C {c:8.2f}  Python {python:8.2f}  more, median of {rounds}: {over:6.2f} us")


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
