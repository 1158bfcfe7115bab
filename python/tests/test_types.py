# SPDX-License-Identifier: MIT
"""What mypy and editors know of the package: a right program passes, and each wrong line of another one is found."""
import os
import subprocess
import sys

import pytest

RIGHT = """
import numpy as np
from numpy.typing import NDArray
import carom

context: carom.Context = carom.Context(backend="cpu", accuracy=carom.Accuracy.EXACT)
mesh: carom.Mesh = context.mesh(np.zeros((3, 3), "f4"), [[0, 1, 2]], patches=[0])
hits: carom.MeshHitResult = mesh.sweep_first([[0, 0, 1]], (0, 0, -1), 0.5, start="skip")
times: NDArray[np.float32] = hits.t
found, stats = mesh.closest(hits.point, radius=times, sign="robust", stats=True)
answered: int = stats.queries + found.triangle.size
with mesh.closest(hits.point, job=True) as job:
    depth: NDArray[np.float32] = job.result().depth
    after = mesh.closest(hits.point, job=True, wait=[job, job.event]).result()
world: carom.Scene = context.scene([(mesh, None)])
which: NDArray[np.int32] = world.sweep_all([[0, 0, 1]], (0, 0, -1), 0.5, hits="first").instance
pairs: carom.CloudPairList = context.spheres(hits.point, 0.5, period=(1, 1, 1))
kept: NDArray[np.int64] = context.match(mesh.contacts(hits.point, 1.0), mesh.contacts(hits.point, 1.0)).previous
lattice = carom.Lattice.around(mesh.info.lower, mesh.info.upper, spacing=0.5)
carom.write("a.vti", {"distance": mesh.distance(lattice).distance}, lattice=lattice)
names: list[str] = [device.name for device in carom.devices()] + [part.name for part in carom.open_mesh("a.stl").parts]
"""
WRONG = """
mesh.closest(hits.point, sign="odd")
mesh.sweep_first(hits.point, (0, 0, -1), 0.5, radii=4)
found.t
carom.Context(backend="gpu")
carom.write("a.csv", hits, lattice=3)
mesh.closest(hits.point, job=True).distance
mesh.closest(hits.point, wait=[3])
stats.querys
mesh.sweep_all(hits.point, (0, 0, -1), hits="last")
mesh.distance([1, 2, 3])
mesh.info.triangles
"""


def test_types(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(RIGHT + WRONG)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--show-error-codes", "--no-error-summary", program.name],
        cwd=tmp_path,
        env=dict(os.environ, MYPYPATH=os.environ.get("CAROM_TYPES_AT", "")),
        capture_output=True,
        text=True,
    )
    found = {int(line.split(":")[1]) for line in checked.stdout.splitlines() if ": error:" in line}
    first = RIGHT.count("\n") + 2
    assert found == set(range(first, first + WRONG.count("\n") - 1)), checked.stdout + checked.stderr
