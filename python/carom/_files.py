# SPDX-License-Identifier: MIT
"""Files that the command reads and writes, by the command's own code: the program carom-files (_program.py). So a
damaged file cannot end this process, Ctrl-C ends a reader at once, and assimp and HDF5 are not loaded here, where
other packages may have other releases of them."""
import os
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _program
from ._lattice import Lattice
from ._program import PIPE, run

CHUNK = 1 << 16  # rows that are handed over together: FILES_CHUNK of cli/files/files.h
PARSED = 0.9  # the share of the work on a mesh file that is done when its numbers begin to come
CHUNK_HEAD = [("rows", "u8"), ("share", "f8")]  # in front of a chunk; share: of the file that is read then
READ_TYPES = ("f4", "u4", "i8")  # of the columns of a table
ROW_TYPES = ("f4", "i4", "u4", "i8", "u1")  # of those that are written
ARRAY_TYPES = ROW_TYPES + ("f8",)


class MeshPart(NamedTuple):
    """A part of a mesh file."""

    name: str
    first_triangle: int
    triangles: int


class MeshFile(NamedTuple):
    """A mesh as carom.open_mesh has read it.

    vertices : (n, 3) float32
    triangles : (m, 3) uint32, those of a part one after the other
    parts : a tuple of carom.MeshPart: name, first_triangle, and how many triangles
    reader : which reader it was, and of which format
    notes : a tuple of sentences: what the reader changed
    """

    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    parts: tuple[MeshPart, ...]
    reader: str
    notes: tuple[str, ...]

    @property
    def patches(self) -> NDArray[np.uint32]:
        """(m,) uint32: the part of each triangle, for Context.mesh(patches=...)."""
        return np.repeat(np.arange(len(self.parts), dtype="u4"), [part.triangles for part in self.parts])


def _name(path):
    path = os.fspath(path)
    return "./-" if path == "-" else b"./-" if path == b"-" else path  # which the command takes for a standard stream


def _suffix(path):
    return os.path.splitext(os.fsdecode(path))[1].lower()


def _size(path):
    """Bytes of a file, which progress of reading counts; 0 if there are none to be told."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


# ---- meshes ----------------------------------------------------------------------------------------------------------


def open_mesh(path: str | PathLike, *, progress: Any = None) -> MeshFile:
    """Read a mesh file, as the command's --mesh does.

    Parameters
    ----------
    path : PLY, STL, OBJ, OFF or glTF, or another format that assimp reads, where it is built in
    progress : a function of (done, count), or a tqdm bar; what it raises ends the call. Counts bytes of the file

    Returns
    -------
    A carom.MeshFile, a named tuple: vertices, triangles, parts, reader, notes. Context.open_mesh makes a mesh of it.

    Raises
    ------
    carom.InvalidArgument (a ValueError) : the file is malformed, has no triangles, or has a format that is not built in
    OSError, such as FileNotFoundError : the file cannot be read
    carom.OutOfMemory (a MemoryError)

    Cost
    ----
    10 to 30 ms to start the reader, then that of the command; the arrays are in memory twice for a moment.
    """
    often = [] if progress is None else [repr(_program.EVERY)]
    with run("mesh", _name(path), *often, progress=progress, count=_size(path)) as program:
        head = program.receive_head(PARSED)
        program.expect(12 * (head["vertices"] + head["triangles"]), PARSED)
        vertices = program.receive(np.empty((head["vertices"], 3), "f4"))
        triangles = program.receive(np.empty((head["triangles"], 3), "u4"))
    parts, first = [], 0
    for part in head["parts"]:
        parts.append(MeshPart(part["name"], first, part["triangles"]))
        first += part["triangles"]
    return MeshFile(vertices, triangles, tuple(parts), head["reader"], tuple(head["notes"].splitlines()))


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(path: str | PathLike, columns: Any = None, *, progress: Any = None) -> Any:
    """Read a table of numbers, or arrays, as the command reads its rows.

    Parameters
    ----------
    path : .npy, .h5 or .hdf5, .vtkhdf; any other is a CSV
    columns : the names of the columns, which are float32; or a dict of their names and dtypes: 'f4', 'u4' (masks, in
        text decimal or hexadecimal), 'i8' (whole numbers from 0 on). Others are ignored. Of a .npy file
        without names, they are the names of all of its columns in their order.
        None: all columns of a CSV, as float32; the array of a .npy file (little-endian float32), or the columns of
        its structured type; all datasets in the root group of an HDF5 file, or VTKHDF/PointData of a .vtkhdf, each as
        it is.
    progress : a function of (done, count), or a tqdm bar; what it raises ends the call. Counts bytes of the file

    Returns
    -------
    A dict of (n,) arrays by the names of columns; without `columns`, arrays of any shape; of a .npy file
    without names, its array.

    Raises
    ------
    carom.InvalidArgument (a ValueError) : the file is malformed; the sentence has line and column
    OSError, such as FileNotFoundError : the file cannot be read
    carom.OutOfMemory (a MemoryError)

    A number beyond float32 becomes infinite, with a warning.
    """
    suffix = _suffix(path)
    if suffix in (".nrrd", ".vti"):
        raise ValueError(f"carom.read has no {suffix}; it reads .npy, .h5, .vtkhdf and text")
    if columns is not None:
        return _read_rows(path, _types_of(columns), progress)
    if suffix not in (".npy", ".h5", ".hdf5", ".vtkhdf"):
        return _read_rows(path, {}, progress)
    with run("arrays", _name(path), progress=progress, count=_size(path)) as program:
        head = program.receive_head()
        if "columns" in head:  # of a structured .npy
            return _receive_named(program, head, path)
        arrays = [(a["name"], np.empty(a["shape"], a["type"])) for a in head["arrays"]]
        program.expect(sum(array.nbytes for _, array in arrays))
        for _, array in arrays:
            program.receive(array)
    return arrays[0][1] if suffix == ".npy" else _by_name(path, arrays)


def _receive_named(program, head, path):
    """Rows of named numbers one behind the other, as columns."""
    rows, size = head["rows"], head["row_bytes"]
    columns = [(c["name"], np.empty(rows, c["type"]), c["at"]) for c in head["columns"]]
    most = max(1, min(CHUNK, 16 * PIPE // size))
    program.expect(rows * size)
    for begin in range(0, rows, most):
        block = program.receive(np.empty((min(most, rows - begin), size), "u1"))
        for _, column, at in columns:
            part = np.ascontiguousarray(block[:, at : at + column.itemsize])
            column[begin : begin + len(block)] = part.view(column.dtype)[:, 0]
    return _by_name(path, [(name, column) for name, column, _ in columns])


def _types_of(columns):
    """Dtypes by the names of columns."""
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, such as ['{columns}'], or a dict of names and dtypes")
    types = {name: np.dtype(columns[name] if hasattr(columns, "keys") else "f4") for name in columns}
    if not types:
        raise ValueError("columns has no names")
    for name, dtype in types.items():
        if dtype not in READ_TYPES:
            raise ValueError(f"columns: {name} cannot have the dtype {dtype}; it must be float32, uint32 or int64")
    return types


def _read_rows(path, types, progress):
    named = [f"{name}={dtype.str}" for name, dtype in types.items()]
    with run("rows", _name(path), *named, progress=progress, count=_size(path)) as program:
        head = program.receive_head()
        columns = [(column["name"], [np.empty(0, column["type"])]) for column in head["columns"]]
        while (chunk := program.receive(np.empty(1, CHUNK_HEAD))[0])["rows"]:
            for _, parts in columns:
                parts.append(program.receive(np.empty(chunk["rows"], parts[0].dtype)))
            program.progress.move(chunk["share"])
    return _by_name(path, [(name, np.concatenate(parts)) for name, parts in columns])


def _by_name(path, arrays):
    """A dict; names whose bytes are no UTF-8 may have become the same."""
    if len(dict(arrays)) < len(arrays):
        raise ValueError(f"{os.fsdecode(path)}: names that are no UTF-8 cannot be told apart")
    return dict(arrays)


# ---- writing ---------------------------------------------------------------------------------------------------------


def write(path: str | PathLike, columns: Any, *, lattice: Lattice | None = None, progress: Any = None) -> None:
    """Write a table of numbers, or arrays. The file appears whole or not at all.

    Parameters
    ----------
    path : .h5 or .hdf5, .npy; with a lattice also .nrrd, .vti and .vtkhdf; with columns x, y and z also .vtp and
        .xyz, points for VTK and ASE; any other is a CSV
    columns : a dict, or a named tuple, of arrays by the names of columns; None in it is left out. (n,) of float32,
        int32, uint32, int64 or uint8; an (n, 3) array `c` becomes the columns cx, cy and cz. All of a .npy file are
        float32, in the order of the dict. Or one array of any shape, to a .npy file.
    lattice : the carom.Lattice for whose nodes the arrays have numbers: [nz][ny][nx], of a map [ny][nx], and a last
        axis of 3 for vectors. The file is then a volume, as carom bake writes it; .npy and .nrrd hold one array
    progress : a function of (done, count), or a tqdm bar; what it raises ends the call. Counts bytes of the numbers

    Raises
    ------
    OSError, such as PermissionError : the file cannot be written
    TypeError, ValueError : arrays that no such file can have

    float32 is written to a CSV with nine digits, which read back to the same bits.
    """
    suffix = _suffix(path)
    if suffix in (".nrrd", ".vti", ".vtkhdf") and lattice is None:
        raise ValueError(f"a {suffix} file is of the nodes of a lattice, which lattice= must name")
    if lattice is not None and not isinstance(lattice, Lattice):
        raise TypeError("lattice must be a carom.Lattice")
    if isinstance(columns, np.ndarray):
        if suffix != ".npy":
            raise ValueError(
                "an array without a name can be written to a .npy file alone; give it one: {'distance': a}"
            )
        return _write_arrays(path, {"": _array_of(columns, "the array", ARRAY_TYPES)}, lattice, progress)
    given = columns._asdict() if hasattr(columns, "_asdict") else dict(columns)
    arrays = {str(name): np.asarray(a) for name, a in given.items() if a is not None}
    if not arrays:
        raise ValueError("columns has no arrays")
    if lattice is None and all(a.ndim == 1 or a.ndim == 2 and a.shape[1] == 3 for a in arrays.values()):
        return _write_table(path, suffix, _columns_of(arrays), progress)
    if lattice is None and suffix not in (".npy", ".h5", ".hdf5"):
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(f"text holds columns of (n,) or (n, 3) numbers, not {shapes}; write .h5")
    _write_arrays(path, {name: _array_of(a, name, ARRAY_TYPES) for name, a in arrays.items()}, lattice, progress)


def _array_of(array, name, types):
    """In the byte order of the machine, of a type that files can have."""
    array = np.asarray(array)
    if array.dtype == "?":
        array = array.view("u1")
    if array.dtype == "u8" and (array.size == 0 or array.max() < 1 << 63):  # offsets and counts
        array = array.astype("i8")
    if array.dtype.newbyteorder("=") not in types:
        words = ", ".join(np.dtype(t).name for t in types)
        raise TypeError(f"{name} has the dtype {array.dtype}; it must be one of {words}: {name}.astype('f4')")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _columns_of(arrays):
    """Columns of (n,), all of one length."""
    columns, rows = {}, None
    for name, array in arrays.items():
        array = _array_of(array, name, ROW_TYPES)
        if rows not in (None, len(array)):
            raise ValueError(f"{name} has {len(array)} rows, but the columns before it have {rows}")
        rows = len(array)
        if array.ndim == 1:
            columns[name] = array
        else:
            columns.update((name + axis, array[:, i]) for i, axis in enumerate("xyz"))
    return columns


def _write_table(path, suffix, columns, progress):
    if suffix == ".npy":
        for name, array in columns.items():
            if array.dtype != "f4":
                raise TypeError(f"{name} has the dtype {array.dtype}; columns of a .npy file are float32")
        return _write_arrays(path, {"": np.column_stack(list(columns.values()))}, None, progress)
    types = {name: a.dtype for name, a in columns.items()}
    if suffix not in (".h5", ".hdf5", ".vtp", ".xyz"):  # a byte of 255 means that there is none, in the command's text
        types = {name: np.dtype("i4") if dtype == "u1" else dtype for name, dtype in types.items()}
    rows = len(next(iter(columns.values())))
    described = [f"{name}={dtype.str}" for name, dtype in types.items()]
    total = rows * sum(dtype.itemsize for dtype in types.values())
    with run(
        "write-rows", _name(path), str(rows), *described, is_writing=True, progress=progress, count=total
    ) as program:
        program.expect(total)
        for begin in range(0, rows, CHUNK):
            for name, array in columns.items():
                program.send(array[begin : begin + CHUNK].astype(types[name], copy=False))


def _write_arrays(path, arrays, lattice, progress):
    where = [] if lattice is None else ["--lattice", _nodes(arrays, lattice)]
    shapes = [f"{name}={a.dtype.str}={','.join(map(str, a.shape))}" for name, a in arrays.items()]
    total = sum(array.nbytes for array in arrays.values())
    with run("write-arrays", _name(path), *where, *shapes, is_writing=True, progress=progress, count=total) as program:
        program.expect(total)
        for array in arrays.values():
            program.send(array)


def _nodes(arrays, lattice):
    """Where a lattice's first node is, its spacing and its nodes, as carom-files takes them; of a map none along z."""
    dims, is_map = lattice.dims[::-1], False
    for name, array in arrays.items():
        shapes = [dims, dims + (3,)] + ([dims[1:], dims[1:] + (3,)] if dims[0] == 1 else [])
        if array.shape not in shapes:
            raise ValueError(f"{name or 'the array'} has the shape {array.shape}, and the lattice has {dims}")
        is_map = is_map or array.shape in shapes[2:]
    corner = [o + f * lattice.spacing for o, f in zip(lattice.origin, lattice.first)]
    return ",".join(map(repr, [*corner, lattice.spacing, *lattice.dims[:2], 0 if is_map else lattice.dims[2]]))
