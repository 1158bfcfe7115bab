# SPDX-License-Identifier: MIT
"""The command's answers, bit for bit: rows, lists and volumes of the same input."""
import csv
import io

import numpy as np
import pytest

import carom
from conftest import waves

NAMES = {"point": ("x", "y", "z"), "normal": ("nx", "ny", "nz")}


@pytest.fixture
def files(tmp_path, spheres):
    """Paths of the floor as OFF and of the spheres as .npy: cx,cy,cz,radius,vx,vy,vz."""
    vertices, triangles = waves()
    mesh, rows = tmp_path / "floor.off", tmp_path / "spheres.npy"
    lines = [f"OFF\n{len(vertices)} {len(triangles)} 0"]
    lines += [" ".join(np.format_float_positional(v, unique=True) for v in vertex) for vertex in vertices]
    mesh.write_text("\n".join(lines + [f"3 {a} {b} {c}" for a, b, c in triangles]) + "\n")
    center, velocity, radius = spheres
    np.save(rows, np.concatenate([center, radius[:, None], velocity], 1))
    np.save(tmp_path / "rest.npy", np.concatenate([center, radius[:, None]], 1))
    return mesh, rows


def rows_of(output):
    return list(csv.DictReader(io.StringIO(output.stdout.decode())))


def column(rows, name):
    return np.float32([row[name] or "nan" for row in rows])


def compare(rows, result):
    """Every column of a CSV against the result's; a cell of nothing stands for anything."""
    assert rows
    for name in rows[0]:
        field = next((f for f, columns in NAMES.items() if name in columns), name)
        values = getattr(result, field)
        if field != name:
            values = values[:, NAMES[field].index(name)]
        if name in ("state", "feature"):
            words = [member.name.lower() for member in (carom.State if name == "state" else carom.Feature)]
            assert all(row[name].lower().replace("f", "face") in ("", words[v]) for row, v in zip(rows, values)), name
            continue
        cells = column(rows, name)
        is_there = ~np.isnan(cells)
        assert is_there.any() and (cells[is_there] == values[is_there].astype("f4")).all(), name


@pytest.mark.parametrize("accuracy", ("fast", "exact"))
def test_rows(command, files, floor, spheres, accuracy):
    mesh, rows = files
    center, velocity, radius = spheres
    how = ("--mesh", mesh, "--spheres", rows, "--accuracy", accuracy, "--backend", "cpu")
    compare(rows_of(command("sweep", *how)), floor.sweep_first(*spheres, accuracy=accuracy))
    compare(rows_of(command("sweep", *how, "--hits", "all")), floor.sweep_all(*spheres, accuracy=accuracy))
    compare(
        rows_of(command("sweep", *how, "--hits", "any", "--t-max", 0.5)),
        floor.sweep_any(*spheres, t_max=0.5, accuracy=accuracy),
    )
    compare(
        rows_of(
            command("contacts", "--mesh", mesh, "--spheres", rows.with_name("rest.npy"), "--margin", 0.25, *how[4:])
        ),
        floor.contacts(center, radius, margin=0.25, accuracy=accuracy),
    )
    compare(
        rows_of(command("spheres", "--cloud", rows, "--t-max", 0.25, "--accuracy", accuracy)),
        floor._context.spheres(center, radius, velocity=velocity, t_max=0.25, accuracy=accuracy),
    )


def test_volumes(command, files, floor, tmp_path):
    mesh, _ = files
    lattice = carom.Lattice((-9, -9, -1), 0.75, (25, 24, 4))
    where = ("--mesh", mesh, "--origin", "-9,-9,-1", "--spacing", 0.75, "--dims", "25,24,4")
    command("bake", "distance", *where, "-o", tmp_path / "d.npy")
    assert np.load(tmp_path / "d.npy").tobytes() == floor.distance(lattice).distance.tobytes()
    command("bake", "clearance", *where, "--radius", 0.5, "-o", tmp_path / "c.npy")
    assert np.load(tmp_path / "c.npy").tobytes() == floor.clearance(lattice, 0.5).clearance.tobytes()
    command(
        "bake",
        "drop",
        "--mesh",
        mesh,
        "--origin",
        "-9,-9",
        "--spacing",
        0.75,
        "--dims",
        "25,24",
        "--ball",
        0.5,
        "-o",
        tmp_path / "h.npy",
    )
    heights = floor.drop(carom.Lattice((-9, -9), 0.75, (25, 24)), 0.5).height
    assert np.load(tmp_path / "h.npy").tobytes() == heights.tobytes()
