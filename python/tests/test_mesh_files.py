# SPDX-License-Identifier: MIT
"""carom.open_mesh against the command's own reading, and what it refuses."""
import json
import struct

import numpy as np
import pytest

import carom
from carom import _program
from conftest import same, waves
from mesh_files import WRITERS, obj, ply, said_by

pytestmark = pytest.mark.skipif(not _program.PROGRAM.exists(), reason="built without carom-files")


def opened(path):
    try:
        return carom.open_mesh(path)
    except ValueError as error:
        if "this build" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("suffix", WRITERS)
def test_mesh(tmp_path, suffix):
    """Every reader gives the corners that were written, bit for bit, in the order of the file."""
    vertices, triangles = waves(12)
    path = tmp_path / f"floor.{suffix}"
    WRITERS[suffix](path, vertices, triangles)
    file = opened(path)
    assert file.vertices.dtype == "f4" and file.triangles.dtype == "u4" and file.triangles.shape == triangles.shape
    if suffix == "dae":  # decimals by assimp
        assert np.allclose(file.vertices[file.triangles], vertices[triangles], rtol=1e-6, atol=1e-7)
        return
    assert file.vertices[file.triangles].tobytes() == vertices[triangles].tobytes()
    if suffix in ("off", "obj", "ply"):  # the others number corners anew
        assert file.vertices.tobytes() == vertices.tobytes() and (file.triangles == triangles).all()


@pytest.mark.parametrize("suffix", WRITERS)
def test_mesh_as_the_command(tmp_path, command, suffix):
    """Parts, reader and notes are those that carom info prints."""
    path = tmp_path / f"floor.{suffix}"
    WRITERS[suffix](path, *waves(5))
    file = opened(path)
    info = json.loads(command("info", "--mesh", path, "--json", "--backend", "cpu").stdout)
    assert file.reader == info["reader"] and list(file.notes) == info["changed"]
    assert [part._asdict() for part in file.parts] == info["parts"]
    assert (len(file.vertices), len(file.triangles)) == (info["vertices"], info["triangles"])
    assert np.array_equal(file.vertices.min(0), np.float32(info["lower"]))


def test_parts(tmp_path):
    path = tmp_path / "parts.obj"
    obj(path, *waves(5))
    file = carom.open_mesh(path)
    assert [tuple(part) for part in file.parts] == [("lower", 0, 5), ("rest", 5, 45)]
    assert file.patches.dtype == "u4" and (file.patches == [0] * 5 + [1] * 45).all()


def test_notes(tmp_path):
    """What a reader changed is said, not hidden."""
    path = tmp_path / "square.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    file = carom.open_mesh(path)
    assert len(file.triangles) == 2 and file.notes == (
        "1 polygons with more than three corners were cut into triangles",
    )


def test_context_open_mesh(tmp_path, context, floor, spheres):
    """The mesh of a file answers as the mesh of its arrays."""
    path = tmp_path / "floor.ply"
    ply(path, *waves())
    mesh = context.open_mesh(path)
    assert same(mesh.sweep_first(*spheres), floor.sweep_first(*spheres))
    masks = np.zeros(len(waves()[1]), "u4")
    assert (context.open_mesh(str(path), masks=masks).sweep_first(*spheres).triangle == -1).all()


# ---- meshes that are refused -----------------------------------------------------------------------------------------

BAD_MESHES = {
    "empty.stl": b"",
    "short.stl": bytes(80) + struct.pack("<I", 100) + bytes(60),
    "empty.off": b"",
    "nothing.off": b"OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n",
    "corner.off": b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n",
    "word.obj": b"v 0 0 zero\nf 1 1 1\n",
    "far.obj": b"v 0 0 0\nf 1 2 3\n",
    "half.ply": b"ply\nformat ascii 1.0\nelement vertex 3\n",
    "half.gltf": b'{"asset": {"version": "2.0"',
    "odd.dae": b"<COLLADA></COLLADA>",
    "unknown.xyz": b"\x00\x01\x02\x03",
    "name\x1b[31m.obj": b"v 0 0 zero\n",
}


@pytest.mark.parametrize("name", BAD_MESHES)
def test_bad_mesh(tmp_path, command, name):
    """A malformed file is a ValueError with the command's sentence."""
    path = tmp_path / name
    path.write_bytes(BAD_MESHES[name])
    with pytest.raises(carom.InvalidArgument) as raised:
        carom.open_mesh(path)
    assert isinstance(raised.value, ValueError) and raised.value.status == carom.Status.ERROR_INVALID_ARGUMENT
    assert (2, str(raised.value)) == said_by(command, "info", "--mesh", path, "--backend", "cpu")


@pytest.mark.parametrize("suffix", ("obj", "stl", "ply", "dae", "glb", ""))
def test_no_such_mesh(tmp_path, suffix):
    with pytest.raises(FileNotFoundError, match="none"):
        carom.open_mesh(tmp_path / f"none.{suffix}")


def test_mesh_that_is_a_folder(tmp_path):
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(IsADirectoryError):
        carom.open_mesh(tmp_path / "folder.obj")
