# SPDX-License-Identifier: MIT
"""carom.read and carom.write of tables and arrays: against the command, NumPy and h5py; and what goes wrong."""
import os

import numpy as np
import pytest

import carom
from carom import _program
from conftest import waves
from mesh_files import H5, needs_hdf5, off, said_by

pytestmark = pytest.mark.skipif(not _program.PROGRAM.exists(), reason="built without carom-files")


# ---- tables: reading -------------------------------------------------------------------------------------------------

ODD = np.float32([0.1, -0.0, 1e-45, 3.4028235e38, np.inf, -np.inf, np.nan, 1 / 3, 16777217, -1e-38])


def test_read_csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x, mask,n,word\n0.1,0xff,9007199254740993,a\n-1e-45,4294967295,0,b\n")
    table = carom.read(path, {"n": "i8", "x": "f4", "mask": np.uint32})
    assert list(table) == ["n", "x", "mask"]
    assert table["n"].dtype == "i8" and table["n"].tolist() == [9007199254740993, 0]
    assert table["mask"].dtype == "u4" and table["mask"].tolist() == [255, 4294967295]
    assert table["x"].tobytes() == np.float32([0.1, -1e-45]).tobytes()
    assert list(carom.read(path, ["x"])) == ["x"]
    with pytest.raises(ValueError, match=r"rows.csv:2: column mask: expected a number, got '0xff'|column word"):
        carom.read(path)  # all of them, as numbers


def test_read_large_csv(tmp_path):
    """More rows than a chunk, as NumPy reads them."""
    numbers = np.random.default_rng(3).normal(0, 1e3, (150_000, 2)).astype("f4")
    path = tmp_path / "rows.csv"
    np.savetxt(path, numbers, "%.9g", ",", header="a,b", comments="")
    table = carom.read(path)
    assert np.stack([table["a"], table["b"]], 1).tobytes() == numbers.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 3, 4, 5), (70_000, 17)])
def test_read_npy(tmp_path, shape):
    path = tmp_path / "a.npy"
    np.save(path, np.random.default_rng(4).normal(size=shape).astype("f4"))
    array, expected = carom.read(path), np.load(path)
    assert array.shape == shape and array.tobytes() == expected.tobytes()


def test_read_npy_columns(tmp_path):
    path = tmp_path / "rows.npy"
    rows = np.arange(12, dtype="f4").reshape(4, 3)
    np.save(path, rows)
    table = carom.read(path, ["cx", "cy", "radius"])
    assert list(table) == ["cx", "cy", "radius"] and (np.stack(list(table.values()), 1) == rows).all()
    with pytest.raises(ValueError, match="shape: expected"):
        carom.read(path, ["cx", "cy"])


HDF5_ARRAYS = {
    "f": np.arange(6, dtype="f4").reshape(1, 2, 3),
    "d": np.linspace(0, 1, 1000),
    "i": np.int32([-1, 2]),
    "l": np.int64([-(2**62)]),
    "u": np.uint32([2**32 - 1]),
    "b": np.arange(256, dtype="u1"),
    "none": np.empty((0, 3), "f4"),
    "one": np.array(0.5),
    "large": np.arange(3_000_000, dtype="f4").reshape(-1, 2, 50),
}


@needs_hdf5
def test_read_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for name, array in HDF5_ARRAYS.items():
            file[name] = array
        file.create_dataset("packed", data=HDF5_ARRAYS["large"], chunks=(100, 2, 50), compression="gzip")
        file.create_group("group")["inner"] = [1.0]
    arrays = carom.read(path)
    assert arrays.pop("packed").tobytes() == HDF5_ARRAYS["large"].tobytes()
    assert arrays.keys() == HDF5_ARRAYS.keys()
    for name, array in HDF5_ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape, name
        assert arrays[name].tobytes() == array.tobytes(), name
    assert (carom.read(path, {"u": "u4"})["u"] == HDF5_ARRAYS["u"]).all()


@needs_hdf5
def test_bad_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    path.write_bytes(b"no HDF5")
    with pytest.raises(ValueError, match="cannot be opened as HDF5"):
        carom.read(path)
    with h5py.File(path, "w") as file:
        file["big"] = np.arange(3, dtype=">f8")
    with pytest.raises(ValueError, match="dataset big: expected little-endian .*, got big-endian float64"):
        carom.read(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(ValueError, match="has no datasets in the root group"):
        carom.read(path)
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(1000, dtype="f4")
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(ValueError, match="a.h5"):
        carom.read(path)


def test_beyond_float32(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n1e39\n")
    with pytest.warns(UserWarning, match="rows.csv:3: column x: 1e39 is beyond binary32") as warned:
        assert carom.read(path)["x"].tolist() == [1, np.inf]
    assert warned[0].filename == __file__


def test_names_that_are_no_utf8(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a\xff,b\n1,2\n")
    assert carom.read(path)["b"].tolist() == [2]
    path.write_bytes(b"a\xff,a\xfe\n1,2\n")
    with pytest.raises(ValueError, match="cannot be told apart"):
        carom.read(path)


@needs_hdf5
def test_no_such_table(tmp_path):
    for name in ("none.csv", "none.npy", "none.h5", "none"):
        with pytest.raises(FileNotFoundError):
            carom.read(tmp_path / name)
        with pytest.raises(FileNotFoundError):
            carom.read(tmp_path / name, ["x"])
    with pytest.raises(IsADirectoryError):
        carom.read(tmp_path)


def test_columns(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(TypeError, match="list of names"):
        carom.read(path, "x")
    with pytest.raises(ValueError, match="float32, uint32 or int64"):
        carom.read(path, {"x": "f8"})
    with pytest.raises(ValueError, match="no names"):
        carom.read(path, [])


BAD_ROWS = {
    "word.csv": "cx,cy,cz,vx,vy,vz,radius\n0,0,0,0,0,0,1\n0,0,0,0,0,0,one\n",
    "short.csv": "cx,cy,cz,vx,vy,vz,radius\n0,0,0\n",
    "missing.csv": "cx,cy,cz,vx,vy,radius\n0,0,0,0,0,1\n",
    "twice.csv": "cx,cx,cy,cz,vx,vy,vz,radius\n",
    "empty.csv": "",
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows(tmp_path, command, name):
    """A malformed row is a ValueError with the command's sentence: line, column, and what was expected."""
    path, mesh = tmp_path / name, tmp_path / "floor.off"
    path.write_text(BAD_ROWS[name])
    off(mesh, *waves(2))
    with pytest.raises(carom.InvalidArgument) as raised:
        carom.read(path, ["cx", "cy", "cz", "radius", "vx", "vy", "vz"])
    assert (2, str(raised.value)) == said_by(command, "sweep", "--mesh", mesh, "--spheres", path, "--backend", "cpu")


# ---- tables: writing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ("csv", H5, "npy"))
def test_round_trip(tmp_path, suffix):
    """float32 comes back with the same bits, but for the payload of a NaN in text."""
    path = tmp_path / f"rows.{suffix}"
    columns = {"odd": ODD, "same": ODD[::-1], "c": np.broadcast_to(np.float32([1, 2, 3]), (len(ODD), 3))}
    carom.write(path, columns)
    names = ["odd", "same", "cx", "cy", "cz"]
    table = carom.read(path, names)
    assert list(table) == names and table["odd"].tobytes() == ODD.tobytes()
    assert table["same"].tobytes() == ODD[::-1].tobytes() and (table["cz"] == 3).all()


@pytest.mark.parametrize("suffix", ("csv", H5))
def test_write_whole_numbers(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    columns = {
        "i": np.int32([-(2**31), 2**31 - 1]),
        "u": np.uint32([0, 2**32 - 1]),
        "l": np.int64([-(2**63), 2**63 - 1]),
        "offsets": np.uint64([0, 2**63 - 1]),
        "byte": np.uint8([0, 255]),
        "is": np.array([True, False]),
    }
    carom.write(path, columns)
    if suffix == "csv":
        rows = [line.split(",") for line in path.read_text().splitlines()]
        table = {name: [int(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}
    else:
        table = {name: array.tolist() for name, array in carom.read(path).items()}
    assert table.keys() == columns.keys()
    assert all(table[name] == [int(v) for v in columns[name]] for name in columns)


def test_write_results(tmp_path, floor, spheres):
    """A result of a call is a table: columns that it does not have are left out."""
    path, hits = tmp_path / "hits.csv", floor.sweep_first(*spheres)
    carom.write(path, hits)
    table = carom.read(path, {"t": "f4", "pointx": "f4", "pointz": "f4"})
    assert table["t"].tobytes() == hits.t.tobytes()
    with pytest.raises(ValueError, match="has 1 rows, but the columns before it have 500"):
        carom.write(path, {"t": hits.t, "u": np.float32([1])})


@pytest.mark.parametrize("suffix", ("csv", "npy", H5))
def test_command_reads(tmp_path, command, spheres, suffix):
    """The command answers files of carom.write as it answers NumPy's."""
    mesh, path = tmp_path / "floor.off", tmp_path / f"rows.{suffix}"
    off(mesh, *waves(10))
    center, velocity, radius = spheres
    carom.write(path, {"c": center, "radius": radius, "v": velocity})
    np.save(tmp_path / "numpy.npy", np.concatenate([center, radius[:, None], velocity], 1))
    how = ("sweep", "--mesh", mesh, "--backend", "cpu", "--spheres")
    assert command(*how, path).stdout == command(*how, tmp_path / "numpy.npy").stdout


@pytest.mark.parametrize("suffix", ["npy", pytest.param("h5", marks=needs_hdf5)])
def test_read_answers(tmp_path, command, spheres, floor, suffix):
    """Answers that the command has written with names are those of the calls."""
    mesh, rows, answers = tmp_path / "floor.off", tmp_path / "rows.csv", tmp_path / f"hits.{suffix}"
    off(mesh, *waves())
    center, velocity, radius = spheres
    carom.write(rows, {"c": center, "radius": radius, "v": velocity})
    command("sweep", "--mesh", mesh, "--spheres", rows, "--backend", "cpu", "-o", answers)
    table, hits = carom.read(answers), floor.sweep_first(*spheres)
    for name in ("t", "triangle", "state", "feature"):
        assert (table[name] == getattr(hits, name)).all(), name


def test_read_structured_npy(tmp_path):
    """Rows of more than a block, with bytes between them, as NumPy has them; and types that carom has not."""
    kinds = [("a", "u1"), ("b", "<f8"), ("c", "<i4"), ("d", "<i8"), ("e", "<u4"), ("f", "<f4")]
    rows = np.zeros(150_000, np.dtype(kinds, align=True))
    for name in rows.dtype.names:
        rows[name] = np.random.default_rng(5).integers(0, 200, len(rows))
    for path, array in (("all.npy", rows), ("some.npy", rows[["b", "e"]]), ("none.npy", rows[:0])):
        np.save(tmp_path / path, array)
        table = carom.read(tmp_path / path)
        assert list(table) == list(array.dtype.names)
        for name in table:
            assert table[name].dtype == array[name].dtype and (table[name] == array[name]).all(), name
    np.save(tmp_path / "words.npy", np.zeros(3, [("a", "<f4"), ("word", "S5")]))
    with pytest.raises(ValueError, match="words.npy: column word: expected little-endian float32, .*, got .S5"):
        carom.read(tmp_path / "words.npy")
    np.save(tmp_path / "two.npy", np.zeros((2, 2), [("a", "<f4")]))
    with pytest.raises(ValueError, match=r"two.npy: shape: expected \[rows\], got \[2\]\[2\]"):
        carom.read(tmp_path / "two.npy")


@needs_hdf5
def test_write_empty(tmp_path):
    for suffix in ("csv", "h5", "npy"):
        path = tmp_path / f"rows.{suffix}"
        carom.write(path, {"a": np.empty(0, "f4"), "b": np.empty(0, "f4")})
        assert [len(column) for column in carom.read(path, ["a", "b"]).values()] == [0, 0]


@needs_hdf5
def test_write_many_columns(tmp_path):
    columns = {f"column {i}": np.float32([i]) for i in range(33)}
    with pytest.raises(ValueError, match="cannot have 33 columns: 32 at most"):
        carom.write(tmp_path / "rows.csv", columns)
    del columns["column 0"]
    for suffix in ("csv", "h5"):
        carom.write(tmp_path / f"rows.{suffix}", columns)
        assert (
            np.array(list(carom.read(tmp_path / f"rows.{suffix}", list(columns)).values()))[:, 0] == range(1, 33)
        ).all()


@pytest.mark.parametrize(
    "kind, columns, words",
    [
        (TypeError, {"x": np.zeros(3)}, "x has the dtype float64; .*astype"),
        (TypeError, {"x": np.array(["a"])}, "x has the dtype <U1"),
        (ValueError, {}, "no arrays"),
        (ValueError, {"x": np.float32([[1, 2]])}, "columns of .n,. or .n, 3. numbers"),
        (ValueError, {"a,b": np.float32([1])}, "comma, quote or line end"),
        (ValueError, np.float32([1]), "without a name"),
        (TypeError, {"x": np.uint64([2**63])}, "uint64"),
    ],
)
def test_bad_columns(tmp_path, kind, columns, words):
    with pytest.raises(kind, match=words):
        carom.write(tmp_path / "rows.csv", columns)
    assert not list(tmp_path.iterdir())


def test_other_formats(tmp_path):
    for suffix in ("nrrd", "vti", "vtkhdf"):
        with pytest.raises(ValueError, match="of the nodes of a lattice"):
            carom.write(tmp_path / f"v.{suffix}", {"x": ODD})
    for suffix in ("nrrd", "vti"):
        with pytest.raises(ValueError, match="carom.read has no"):
            carom.read(tmp_path / f"v.{suffix}")
    with pytest.raises(ValueError, match="the suffix names the format"):
        carom.write(
            tmp_path / "v.csv", {"x": ODD.reshape(1, 1, -1)}, lattice=carom.Lattice((0, 0, 0), 1, (len(ODD), 1, 1))
        )


def test_array_that_is_no_block(tmp_path):
    """Views are written as their numbers, not as their memory."""
    array = np.arange(2 * 3 * 4, dtype="f4").reshape(2, 3, 4)
    for name, view in {"turned": array.T, "part": array[:, ::-1, 1:3], "other": array.astype(">f4")}.items():
        carom.write(tmp_path / f"{name}.npy", view)
        assert (np.load(tmp_path / f"{name}.npy") == view).all()


# ---- places that cannot be written -----------------------------------------------------------------------------------


@needs_hdf5
def test_unwritable(tmp_path):
    columns = {"x": ODD}
    with pytest.raises(FileNotFoundError):
        carom.write(tmp_path / "none" / "rows.csv", columns)
    with pytest.raises(IsADirectoryError):
        carom.write(tmp_path, columns)
    with pytest.raises(NotADirectoryError):
        (tmp_path / "file").touch()
        carom.write(tmp_path / "file" / "rows.csv", columns)
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "old.csv").chmod(0o444)
    with pytest.raises(OSError, match="old.csv: cannot be written: the file is read-only"):
        carom.write(tmp_path / "old.csv", columns)
    with pytest.raises(ValueError, match="no regular file, which an HDF5 file must be"):
        os.mkfifo(tmp_path / "pipe.h5")
        carom.write(tmp_path / "pipe.h5", columns)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "old.csv", "pipe.h5"]
    assert (tmp_path / "old.csv").read_text() == "old"


def test_disk_is_full():
    with pytest.raises(OSError, match="No space left on device") as raised:
        carom.write("/dev/full", {"x": np.zeros(300_000, "f4")})
    assert raised.value.errno == 28


def test_file_is_replaced(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("old")
    path.chmod(0o640)
    carom.write(path, {"x": np.int32([1])})
    assert path.read_text() == "x\n1\n" and path.stat().st_mode & 0o777 == 0o640 and len(list(tmp_path.iterdir())) == 1
