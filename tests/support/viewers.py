# SPDX-License-Identifier: MIT
# viewers.py FILE.csv CENTERS.csv X,Y,Z OTHER...: what differs between rows as text and the same rows as .npy (NumPy),
# .vtp (VTK) or .xyz (ASE). CENTERS: the spheres that rows without a point of contact are of; pairs of spheres if it has
# ra and rb, or if rows have a and b. X,Y,Z: the lengths of a periodic box, or 0.
import csv
import sys
import numpy

STATES = "miss approaching touching overlapping parting past invalid".split()
FEATURES = ["", "V0", "V1", "V2", "E01", "E12", "E20", "F"]
POINTS = [("x", "y", "z"), ("x_first", "y_first", "z_first"), ("x_contact", "y_contact", "z_contact")]
VECTORS = {"point_last": ("x_last", "y_last", "z_last"), "normal": ("nx", "ny", "nz"), "gradient": ("gx", "gy", "gz")}
KINDS = {
    "state": "u1",
    "feature": "u1",
    "hit": "u1",
    "overlap": "u1",
    "axes": "u1",
    "triangle": "i4",
    "instance": "i4",
    "a": "i4",
    "b": "i4",
    "other": "i4",
    "sx": "i4",
    "sy": "i4",
    "sz": "i4",
    "patch": "u4",
    "query": "i8",
    "count": "i8",
    "previous": "i8",
    "path": "i8",
    "segment": "i8",
}
failures = []


def expect(what, truth):
    if not truth:
        failures.append(what)


def read(path):
    with open(path) as file:
        names, *rows = csv.reader(file)
    return {name: [row[i] if row else "" for row in rows] for i, name in enumerate(names)}, len(rows)


def kind_of(name):
    return KINDS.get("feature" if name.startswith("feature") else name, "f4")


def numbers(name, texts):
    kind = kind_of(name)
    if name == "state":
        return numpy.array([STATES.index(text) for text in texts], kind)
    if name.startswith("feature"):
        return numpy.array([FEATURES.index(text) for text in texts], kind)
    none = {"f4": "nan", "u1": "255", "i8": "-1"}.get(kind)
    return numpy.array([(float if kind == "f4" else int)(text or none) for text in texts], kind)


def same(what, wanted, got):
    got = numpy.asarray(got)
    if wanted.dtype != got.dtype or wanted.shape != got.shape:
        failures.append(f"{what}: expected {wanted.dtype}{wanted.shape}, got {got.dtype}{got.shape}")
    elif not numpy.array_equal(wanted, got, equal_nan=wanted.dtype.kind == "f"):
        failures.append(f"{what}: {(wanted != got).sum()} differ")


def vector(columns, names):
    return numpy.stack([columns[name] for name in names], 1)


# ---- where rows are --------------------------------------------------------------------------------------------------
def between(a, ra, b, rb):
    with numpy.errstate(invalid="ignore", divide="ignore"):
        length = numpy.sqrt(((b - a) ** 2).sum(1))[:, None]
        return numpy.where(length > 0, a + (ra[:, None] - rb[:, None] + length) / 2 * (b - a) / length, a)


def places(columns, count, centers, period):
    for names in POINTS:
        if names[0] in columns and names[2] in columns and names[1] in columns:
            return vector(columns, names), names
    text, spheres = read(centers)
    c = {name: numbers(name, column).astype(float) for name, column in text.items()}
    if "ra" in c:
        u = numpy.where(numpy.isfinite(columns["u_first"]), columns["u_first"], 0).astype(float)[:, None]
        with numpy.errstate(invalid="ignore"):
            a, b = (
                (1 - u) * vector(c, [p + "0" + k for k in "xyz"]) + u * vector(c, [p + "1" + k for k in "xyz"])
                for p in "ab"
            )
        point = between(a, c["ra"], b, c["rb"])
        point[(columns["state"] == 0) | (columns["state"] == 6)] = numpy.nan
        return point, ()
    center = vector(c, ["cx", "cy", "cz"])
    if "a" in columns:
        velocity = vector(c, ["vx", "vy", "vz"]) if "vx" in c else numpy.zeros_like(center)
        t = numpy.where(numpy.isfinite(columns["t"]), columns["t"], 0).astype(float)[:, None]
        shift = vector(columns, ["sx", "sy", "sz"]) * numpy.array(period) if "sx" in columns else 0
        i, j = columns["a"], columns["b"]
        return (
            between(center[i] + t * velocity[i], c["radius"][i], center[j] + t * velocity[j] + shift, c["radius"][j]),
            (),
        )
    return (center[columns["query"]] if count != spheres or "query" in columns else center), ()


def same_places(wanted, got, exact):
    if exact:
        same("points", wanted, got)
    elif wanted.shape != got.shape:
        failures.append(f"points: expected {wanted.shape}, got {got.shape}")
    else:
        expect("points", numpy.allclose(wanted, got, rtol=3e-7, atol=1e-6))


# ---- readers ---------------------------------------------------------------------------------------------------------
def check_npy(path, columns, count):
    array = numpy.load(path)
    expect(f"names {array.dtype.names}", array.dtype.names == tuple(columns))
    expect("size", array.shape == (count,))
    for name in columns:
        same(name, columns[name], array[name])


def check_vtp(path, properties, point, exact, rows):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    with open(path, "rb") as file:
        appended = file.read().split(b'<AppendedData encoding="raw">')[1]
    expect("blanks", appended[: appended.index(b"_")].isspace() and appended.index(b"_") >= 2 * 4096)  # cli/table/vtk.h
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    poly = reader.GetOutput()
    expect("errors", reader.GetErrorCode() == 0)
    got = vtk_to_numpy(poly.GetPoints().GetData()) if len(rows) else numpy.zeros((0, 3), "f4")
    same_places(point, got, exact)
    expect(f"{poly.GetNumberOfVerts()} vertices", poly.GetNumberOfVerts() == len(rows) == poly.GetNumberOfCells())
    if len(rows):
        same("connectivity", numpy.arange(len(rows)), vtk_to_numpy(poly.GetVerts().GetConnectivityArray()))
        same("offsets", numpy.arange(len(rows) + 1), vtk_to_numpy(poly.GetVerts().GetOffsetsArray()))
    data = poly.GetPointData()
    arrays = [data.GetArray(i) for i in range(data.GetNumberOfArrays())]
    names = [array.GetName() for array in arrays]
    expect(f"arrays {names}", sorted(names) == sorted(["row", *properties]))
    for array in arrays if len(rows) else []:
        name = array.GetName()
        same(name, rows if name == "row" else properties[name], vtk_to_numpy(array))
        if name in VECTORS:
            expect(name, tuple(array.GetComponentName(c) for c in range(3)) == VECTORS[name])


def check_xyz(path, properties, point, exact, rows, period):
    from ase.io import read as read_atoms

    with open(path) as file:
        expect("number of rows", int(file.readline()) == len(rows) == sum(1 for _ in file) - 1)
    if not len(rows):
        return
    atoms = read_atoms(path, format="extxyz")
    same_places(point, atoms.positions.astype("f4"), exact)
    expect("species", set(atoms.get_chemical_symbols()) == {"X"})
    box = numpy.array(period)
    closed = (box > 0).all()
    expect("box", (atoms.cell[:] == numpy.diag(box if closed else 0 * box)).all() and (atoms.pbc == closed).all())
    names = set(atoms.arrays) - {"numbers", "positions"}
    expect(f"arrays {names}", names == {"row", *properties})
    for name, wanted in {"row": rows, **properties}.items():
        got = atoms.arrays[name]
        if name == "state":
            got = [STATES.index(word) for word in got]
        elif name.startswith("feature"):
            got = [FEATURES.index("" if word == "none" else word) for word in got]
        with numpy.errstate(invalid="ignore"):
            same(name, wanted, numpy.asarray(got).astype(wanted.dtype))


def compare(columns, count, centers, period, path):
    if path.endswith(".npy"):
        check_npy(path, columns, count)
    else:
        point, own = places(columns, count, centers, period)
        kept = numpy.isfinite(point).all(1)
        names = [name for name in columns if name not in own]
        properties = {name: columns[name] for name in names}
        for name, parts in VECTORS.items():
            if all(part in names for part in parts):
                properties[name] = vector(columns, parts)
                for part in parts:
                    del properties[part]
        properties = {name: column[kept] for name, column in properties.items()}
        rows = numpy.flatnonzero(kept)
        check = check_vtp if path.endswith(".vtp") else check_xyz
        check(path, properties, point[kept].astype("f4"), bool(own), rows, *([period] if check is check_xyz else []))
    for failure in failures:
        print(f"{path}: {failure}")
    failures.clear()


def main(text, centers, period, *paths):
    texts, count = read(text)
    columns = {name: numbers(name, column) for name, column in texts.items()}
    for path in paths:
        compare(columns, count, centers, [float(length) for length in period.split(",")], path)


main(*sys.argv[1:])
