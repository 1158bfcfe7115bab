# SPDX-License-Identifier: MIT
"""What the tests share, and a line for each that tests/rows/count.awk counts."""
import os
import signal
import subprocess

import numpy as np
import pytest

import carom
from shapes import cube as cube, waves as waves


def pytest_configure():
    """What runs in the background of a shell ignores Ctrl-C, and so would the tests of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_logreport(report):
    verdicts = {"passed": "       OK ", "failed": "  FAILED  ", "skipped": " SKIPPED  "}
    if report.when == "call" or report.outcome != "passed":
        print(f"\n[{verdicts[report.outcome]}] python: {report.nodeid.split('/')[-1]}", flush=True)


@pytest.fixture
def context():
    with carom.Context(backend="cpu", threads=2) as made:
        yield made


@pytest.fixture
def floor(context):
    return context.mesh(*waves())


@pytest.fixture
def spheres():
    """Centres above the floor, velocities down, radii."""
    rng = np.random.default_rng(7)
    n = 500
    center = rng.uniform((-9, -9, 0.1), (9, 9, 1), (n, 3)).astype("f4")
    velocity = rng.normal(0, 1, (n, 3)).astype("f4") - np.float32((0, 0, 1))
    return center, velocity, rng.uniform(0.05, 0.4, n).astype("f4")


@pytest.fixture
def command():
    """A function that runs the command."""
    path = os.environ.get("CAROM_COMMAND")
    if not path:
        pytest.skip("CAROM_COMMAND names no command to compare with")
    return lambda *arguments, **more: subprocess.run(
        [path, *map(str, arguments)], check=True, capture_output=True, **more
    )


def same(a, b):
    """Whether two results have the same bits."""
    return all((x is None) == (y is None) and (x is None or x.tobytes() == y.tobytes()) for x, y in zip(a, b))
