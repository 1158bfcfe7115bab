# SPDX-License-Identifier: MIT
"""Volumes that carom.write makes, against those of carom bake."""
import os

import numpy as np
import pytest

import carom
from carom import _program
from conftest import cube
from mesh_files import H5, needs_hdf5, off

pytestmark = pytest.mark.skipif(not _program.PROGRAM.exists(), reason="built without carom-files")


# ---- volumes ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def volume(tmp_path, context):
    """(path of a cube as OFF, a lattice, its distances)"""
    mesh = tmp_path / "cube.off"
    off(mesh, *cube(2))
    lattice = carom.Lattice((-1, -1, -0.5), 0.25, (17, 15, 13))
    return mesh, lattice, context.open_mesh(mesh).distance(lattice).distance


def bake(command, kind, mesh, lattice, output, *more):
    axes = 2 if kind == "drop" else 3
    origin, dims = (",".join(map(str, values[:axes])) for values in (lattice.origin, lattice.dims))
    command(
        *("bake", kind, "--mesh", mesh, "--origin", origin, "--dims", dims, "--spacing", lattice.spacing),
        *("--backend", "cpu", "-o", output, *more),
    )


def test_volume_npy(tmp_path, command, volume):
    """carom.write makes the bytes that carom bake makes."""
    mesh, lattice, distance = volume
    bake(command, "distance", mesh, lattice, tmp_path / "baked.npy")
    carom.write(tmp_path / "written.npy", distance)
    assert (tmp_path / "written.npy").read_bytes() == (tmp_path / "baked.npy").read_bytes()
    carom.write(tmp_path / "named.npy", {"distance": distance}, lattice=lattice)
    assert (tmp_path / "named.npy").read_bytes() == (tmp_path / "baked.npy").read_bytes()


def test_volume_nrrd(tmp_path, command, volume):
    """The bytes of carom bake, but for the comments that tell of the bake."""
    mesh, lattice, distance = volume
    bake(command, "distance", mesh, lattice, tmp_path / "baked.nrrd")
    carom.write(tmp_path / "written.nrrd", {"distance": distance}, lattice=lattice)
    head, data = (tmp_path / "baked.nrrd").read_bytes().split(b"\n\n", 1)
    head = b"\n".join(line for line in head.split(b"\n") if line[:1] != b"#")
    assert (tmp_path / "written.nrrd").read_bytes() == head + b"\n\n" + data
    for dtype, word in {"u1": "uchar", "f8": "double", "i4": "int", "i8": "int64", "u4": "uint"}.items():
        array = np.abs(distance).astype(dtype)
        carom.write(tmp_path / "written.nrrd", {"a": array}, lattice=lattice)
        text = (tmp_path / "written.nrrd").read_bytes()
        assert f"\ntype: {word}\n".encode() in text and text.endswith(b"\n\n" + array.tobytes())
    with pytest.raises(ValueError, match="holds one array, not 2"):
        carom.write(tmp_path / "w.nrrd", {"a": distance, "b": distance}, lattice=lattice)


def test_volume_vti(tmp_path, command, volume):
    """The same of VTK's format, with several arrays, one of them of vectors."""
    mesh, lattice, distance = volume
    with carom.Context(backend="cpu") as context:
        columns = ["distance", "triangle", "gradient"]
        made = context.open_mesh(mesh).distance(lattice, columns=columns)
    bake(command, "distance", mesh, lattice, tmp_path / "baked.vti", "--with", "triangle,gradient")
    carom.write(tmp_path / "written.vti", {name: getattr(made, name) for name in columns}, lattice=lattice)
    parts = []
    for name in ("baked", "written"):
        text = (tmp_path / f"{name}.vti").read_bytes()
        begin, end = text.find(b"<!--"), text.find(b"-->\n") + 4
        if name == "baked":
            text = text[:begin] + text[end:]
        at = text.index(b">", text.index(b"<AppendedData")) + 1
        parts.append((text[:at], text[at:].lstrip()))  # blanks align the numbers
    assert parts[0] == parts[1]


def volumes_of(path):
    """The arrays of an HDF5 file and their attributes, but for those that tell of a bake."""
    h5py = pytest.importorskip("h5py")
    found = {}

    def take(name, item):
        attributes = {key: np.asarray(v).tolist() for key, v in item.attrs.items() if key != "command"}
        found[name] = (attributes, item[...].tobytes() if isinstance(item, h5py.Dataset) else None)

    with h5py.File(path) as file:
        file.visititems(take)
    return found


@pytest.mark.parametrize("suffix", (H5, pytest.param("vtkhdf", marks=needs_hdf5)))
def test_volume_hdf5(tmp_path, command, volume, suffix):
    """Datasets and attributes are those of carom bake, and carom.read reads both."""
    mesh, lattice, distance = volume
    baked, written = tmp_path / f"baked.{suffix}", tmp_path / f"written.{suffix}"
    bake(command, "distance", mesh, lattice, baked)
    carom.write(written, {"distance": distance}, lattice=lattice)
    assert volumes_of(written) == volumes_of(baked) != {}
    for path in (baked, written):
        array = carom.read(path)["distance"]
        assert array.shape == distance.shape and array.tobytes() == distance.tobytes()


@needs_hdf5
def test_map(tmp_path, command, volume):
    """A drop map, which has two axes, and a part of a lattice, which begins elsewhere."""
    mesh, _, distance = volume
    lattice = carom.Lattice((-1, -1, 0), 0.25, (17, 15))
    with carom.Context(backend="cpu") as context:
        height = context.open_mesh(mesh).drop(lattice, 0.1).height
    for suffix in ("h5", "npy"):
        bake(command, "drop", mesh, lattice, tmp_path / f"baked.{suffix}", "--ball", 0.1)
        carom.write(tmp_path / f"written.{suffix}", {"height": height}, lattice=lattice)
    assert (tmp_path / "written.npy").read_bytes() == (tmp_path / "baked.npy").read_bytes()
    assert volumes_of(tmp_path / "written.h5")["height"] == volumes_of(tmp_path / "baked.h5")["height"]
    part = carom.Lattice((-1, -1, -0.5), 0.25, distance.shape[::-1], first=(0, 4, -2))
    carom.write(tmp_path / "part.h5", {"distance": distance}, lattice=part)
    assert volumes_of(tmp_path / "part.h5")["distance"][0] == {"origin": [-1.0, 0.0, -1.0], "spacing": 0.25}


@needs_hdf5
def test_bad_volumes(tmp_path, volume):
    _, lattice, distance = volume
    for suffix in ("h5", "nrrd", "vti", "vtkhdf", "npy"):
        path = tmp_path / f"v.{suffix}"
        with pytest.raises(ValueError, match="and the lattice has"):
            carom.write(path, {"distance": distance[1:]}, lattice=lattice)
        with pytest.raises(ValueError, match="a name has at most 63 bytes here, and none of"):
            carom.write(path, {"<d>": distance}, lattice=lattice)
    with pytest.raises(ValueError, match="holds one number for each node"):
        carom.write(tmp_path / "v.nrrd", {"d": np.stack([distance] * 3, -1)}, lattice=lattice)
    with pytest.raises(ValueError, match="cannot have 17 arrays: 16 at most"):
        carom.write(tmp_path / "v.vti", {str(i): distance for i in range(17)}, lattice=lattice)
    with pytest.raises(TypeError, match="carom.Lattice"):
        carom.write(tmp_path / "v.vti", {"d": distance}, lattice=(1, 2, 3))
    os.mkfifo(tmp_path / "pipe.vti")
    with pytest.raises(ValueError, match="no regular file, which a volume must be"):
        carom.write(tmp_path / "pipe.vti", {"d": distance}, lattice=lattice)
    assert [p.name for p in tmp_path.iterdir() if p.suffix != ".off"] == ["pipe.vti"]
