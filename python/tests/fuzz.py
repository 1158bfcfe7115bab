# SPDX-License-Identifier: MIT
"""Misuse at random: every call with arguments that are wrong in many ways must answer or raise, and change nothing.

    python3 fuzz.py [SECONDS] [SEED]
"""
import inspect
import random
import sys
import time
import warnings

import numpy as np

import carom
from asked import N, Subjects, arguments, names

ANYTHING = [
    None,
    True,
    -1,
    0,
    3,
    2**40,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "winding",
    b"x",
    (),
    [],
    [1],
    [[1, 2, 3]],
    {},
    {"t": 1},
    object(),
    len,
    np.float32(1),
    np.float64(1),
    np.array(None),
    np.zeros(0, "f4"),
    np.zeros((0, 3), "f4"),
    np.zeros((N, 3), "f4"),
    np.zeros((N, 3), ">f4"),
    np.zeros((3, N), "f4").T,
    np.zeros((N, 3)),
    np.zeros(N, "u4"),
    np.full((N, 3), np.nan, "f4"),
    np.full(N, 3e38, "f4"),
    np.full(N, -1, "f4"),
    np.arange(N, dtype="u4")[::-1],
    np.zeros((N, 3, 3), "f4"),
    np.zeros((2, 2, 2, 2), "f4"),
    np.zeros(N, "f4")[::2],
    np.zeros((N, 7), "f4")[:, ::3],
    np.broadcast_to(np.float32(1), (N, 3)),
    np.frombuffer(b"\0" * 4 * N, "f4"),
    np.zeros(N, [("a", "f4")]),
    np.zeros(N, "O"),
    (np.zeros(N, "f4"), np.zeros(N, "f4"), np.zeros(N, "f4")),
    (np.zeros(N, "f4"), np.zeros(3, "f4"), np.zeros(N, "f8")),
    carom.Lattice((0, 0, 0), 1, (2, 2, 1)),
    carom.Lattice((0, 0, 0), -1, (2, 2, 2)),
    carom.Lattice((0, 0, 0), 1, (0, 2, 2)),
    carom.Lattice((np.nan, 0, 0), 1, (2, 2, 2)),
    carom.Lattice((0, 0, 0), 1, (2, 2, 2), (2**60, 0, 0)),
    (0, 1),
    (5, 2),
    (0, 2**70),
    ["t"],
    ["distance", "gradient"],
    ("offsets",),
    {"triangle": np.zeros(N, "i4")},
    {"hit": np.zeros(N, "u1")},
    {"distance": np.zeros((4, 6, 8), "f4")},
    {"center": np.zeros((N, 3), "f4"), "radius": 1.0},
    {"query": np.zeros(5, "u8")},
]
EXPECTED = (TypeError, ValueError, OverflowError, MemoryError, carom.Error)


def main(seconds=2.0, seed=0):
    """Ask for so many seconds; how many calls answered, and how many raised."""
    dice, subjects, end = random.Random(seed), Subjects(), time.monotonic() + seconds
    answered = raised = 0
    warnings.simplefilter("ignore")
    while time.monotonic() < end:
        name = dice.choice(names())
        method = subjects.method(name)
        given = arguments(method, seed=dice.randrange(5))
        kept = {key: value.copy() for key, value in given.items() if isinstance(value, np.ndarray)}
        keys = [key for key in inspect.signature(method).parameters if key not in ("wait", "job", "bundle")]
        wrong = dice.sample(keys, dice.randint(1, 3))
        given.update((key, dice.choice(ANYTHING)) for key in wrong)
        valid = given.keys() - set(wrong)
        try:
            method(**given, job=dice.random() < 0.1 and "out" not in given)
            answered += 1
        except EXPECTED:
            raised += 1
        for key, value in kept.items():
            if isinstance(given[key], np.ndarray) and given[key].shape == value.shape and key in valid:
                assert given[key].tobytes() == value.tobytes(), f"{name} has changed {key}"
        if dice.random() < 0.01:
            subjects = Subjects()
    return answered, raised


if __name__ == "__main__":
    print("%d answered, %d raised" % main(*map(float, sys.argv[1:2] or ["10"]), *map(int, sys.argv[2:3])))
