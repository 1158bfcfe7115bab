# SPDX-License-Identifier: MIT
"""signs.py CAROM: nodes of lattices that OpenVDB, VTK, Open3D and carom put on the wrong side of a closed mesh.

The truth is computed in whole numbers, from rays along +x, by a rule for ties that no row shares. Nodes on the surface
have no side and are not judged. A library that is missing is named.
"""
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy

N = 64  # nodes along each axis, one unit apart


# ---- meshes: vertices that are binary32, and triangles ---------------------------------------------------------------
def box(low, high):
    vertices = [[(high if i >> k & 1 else low)[k] for k in range(3)] for i in range(8)]
    quads = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return vertices, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def both(*meshes):
    vertices, triangles = [], []
    for v, t in meshes:
        triangles += [tuple(i + len(vertices) for i in corners) for corners in t]
        vertices += v
    return vertices, triangles


def two_boxes(end, begin):
    return both(box((4.5, 2.5, 2.5), (end, 60.5, 60.5)), box((begin, 2.5, 2.5), (59.5, 60.5, 60.5)))


def turned_round(mesh, every=1):
    vertices, triangles = mesh
    return vertices, [t[::-1] if i % every == 0 else t for i, t in enumerate(triangles)]


def torus(at, rows=24, columns=12):
    vertices = []
    for i in range(rows):
        for k in range(columns):
            u, w = 2 * numpy.pi * i / rows, 2 * numpy.pi * k / columns
            r = 19.3 + 8.6 * numpy.cos(w)
            vertices.append([at + r * numpy.cos(u), at + r * numpy.sin(u), at + 8.6 * numpy.sin(w)])
    triangles = []
    for i in range(rows):
        for k in range(columns):
            a, b = i * columns + k, (i + 1) % rows * columns + k
            c, d = (i + 1) % rows * columns + (k + 1) % columns, i * columns + (k + 1) % columns
            triangles += [(a, b, c), (a, c, d)]
    return vertices, triangles


def octahedron():
    vertices = [[32 + s * 24 * (k == axis) for k in range(3)] for axis in range(3) for s in (1, -1)]
    return vertices, [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]


def needle(y, z):
    """A prism of 58 x 0.1: the nodes on its axis are inside."""
    corners = ((-0.05, -0.03), (0.05, -0.03), (0, 0.06))
    vertices = [[x, y + c[0], z + c[1]] for x in (2.5, 60.5) for c in corners]
    sides = [t for a, b in ((0, 1), (1, 2), (2, 0)) for t in ((a, b + 3, a + 3), (a, b, b + 3))]
    return vertices, [(0, 2, 1), (3, 4, 5)] + sides


FAR = 640000  # 10^4 times the lattice
SCENES = (
    ("torus", 0, torus(31.7)),
    ("edges and vertices on nodes", 0, octahedron()),
    ("gap of 0.1 voxel", 0, two_boxes(31.95, 32.05)),
    ("gap of 10^-5 voxel", 0, two_boxes(31.999995, 32.000005)),
    ("sheets that touch", 0, two_boxes(32, 32)),
    ("needles", 0, both(*(needle(y, z) for y in range(4, 61, 8) for z in range(4, 61, 8)))),
    ("all faces turned round", 0, turned_round(torus(31.7))),
    ("every second face turned round", 0, turned_round(torus(31.7), 2)),
    ("10^4 times its size away", FAR, torus(FAR + 31.7)),
)


# ---- the truth -------------------------------------------------------------------------------------------------------
class Exact:
    """Coordinates as whole numbers of one unit, the lowest bit in any of them."""

    def __init__(self, vertices, triangles, origin):
        unit = max(Fraction(float(c)).denominator for v in vertices for c in v)
        self.corners = [[[int(Fraction(float(c)) * unit) for c in vertices[i]] for i in t] for t in triangles]
        self.at = [(origin + i) * unit for i in range(N)]  # of nodes, along each axis

    def range(self, values):
        return [i for i in range(N) if min(values) <= self.at[i] <= max(values)]

    def crosses(self, corners, y, z):
        """Even-odd rule of the triangle as seen along x; an edge holds its lower end and not its upper."""
        odd = False
        for (_, ay, az), (_, by, bz) in zip(corners, corners[1:] + corners[:1]):
            if (az > z) != (bz > z):
                side = (by - ay) * (z - az) - (y - ay) * (bz - az)
                odd ^= side > 0 if bz > az else side < 0
        return odd

    def inside(self):
        flips = numpy.zeros((N, N, N), bool)
        for corners in self.corners:
            a, b, c = corners
            n = normal(a, b, c)
            if n[0] == 0:  # has no area as seen along x
                continue
            for k in self.range([p[2] for p in corners]):
                for j in self.range([p[1] for p in corners]):
                    y, z = self.at[j], self.at[k]
                    if self.crosses(corners, y, z):
                        x = a[0] - Fraction(n[1] * (y - a[1]) + n[2] * (z - a[2]), n[0])
                        flips[k, j, : sum(at < x for at in self.at)] ^= True
        return flips

    def on_surface(self):
        out = numpy.zeros((N, N, N), bool)
        for a, b, c in self.corners:
            n = normal(a, b, c)
            for k in self.range([a[2], b[2], c[2]]):
                for j in self.range([a[1], b[1], c[1]]):
                    for i in self.range([a[0], b[0], c[0]]):
                        p = [self.at[i], self.at[j], self.at[k]]
                        out[k, j, i] |= dot(n, minus(p, a)) == 0 and all(
                            dot(n, normal(u, v, p)) >= 0 for u, v in ((a, b), (b, c), (c, a))
                        )
        return out


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def normal(a, b, c):
    u, v = minus(b, a), minus(c, a)
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


# ---- who answers: signed distances [z][y][x] -------------------------------------------------------------------------
def with_carom(command, accuracy):
    def ask(vertices, triangles, origin):
        with tempfile.TemporaryDirectory() as folder:
            mesh, out = os.path.join(folder, "mesh.off"), os.path.join(folder, "out.npy")
            with open(mesh, "w") as file:
                file.write("OFF\n%d %d 0\n" % (len(vertices), len(triangles)))
                file.writelines("%.9g %.9g %.9g\n" % tuple(v) for v in vertices)
                file.writelines("3 %d %d %d\n" % tuple(t) for t in triangles)
            subprocess.run(
                [
                    command,
                    "bake",
                    "distance",
                    "--mesh",
                    mesh,
                    "--spacing",
                    "1",
                    "--origin",
                    "%d,%d,%d" % (origin, origin, origin),
                    "--dims",
                    "%d,%d,%d" % (N, N, N),
                    "--sign",
                    "parity",
                    "--accuracy",
                    accuracy,
                    "--backend",
                    "cpu",
                    "-o",
                    out,
                ],
                check=True,
            )
            return numpy.load(out)

    return ask


def with_openvdb():
    import pyopenvdb

    def ask(vertices, triangles, origin):
        transform = pyopenvdb.createLinearTransform(1.0)
        grid = pyopenvdb.FloatGrid.createLevelSetFromPolygons(
            numpy.asarray(vertices, "f4"), triangles=numpy.asarray(triangles, "u4"), transform=transform, halfWidth=3
        )
        out = numpy.zeros((N, N, N), "f4")  # [x][y][z]
        grid.copyToArray(out, ijk=(origin, origin, origin))
        return out.T

    return ask, ".".join(map(str, pyopenvdb.LIBRARY_VERSION))


def nodes(origin, kind):
    at = numpy.arange(N) + origin
    z, y, x = numpy.meshgrid(at, at, at, indexing="ij")
    return numpy.stack([x, y, z], -1).astype(kind)


def with_vtk():
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkPoints, vtkVersion
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkFiltersCore import vtkImplicitPolyDataDistance

    def ask(vertices, triangles, origin):
        points, cells, data = vtkPoints(), vtkCellArray(), vtkPolyData()
        points.SetDataTypeToDouble()
        for v in vertices:
            points.InsertNextPoint(*map(float, v))
        for t in triangles:
            cells.InsertNextCell(3, t)
        data.SetPoints(points)
        data.SetPolys(cells)
        function, out = vtkImplicitPolyDataDistance(), vtkDoubleArray()
        function.SetInput(data)
        function.FunctionValue(numpy_to_vtk(nodes(origin, "f8").reshape(-1, 3), deep=True), out)
        return vtk_to_numpy(out).reshape(N, N, N)

    return ask, vtkVersion().GetVTKVersion()


def with_open3d():
    import open3d

    def ask(vertices, triangles, origin):
        scene = open3d.t.geometry.RaycastingScene()
        scene.add_triangles(
            open3d.core.Tensor(numpy.asarray(vertices, "f4")), open3d.core.Tensor(numpy.asarray(triangles, "u4"))
        )
        return scene.compute_signed_distance(open3d.core.Tensor(nodes(origin, "f4"))).numpy()

    return ask, open3d.__version__


def main():
    command = sys.argv[1]
    version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    rows = [("carom %s, %s" % (version, accuracy), with_carom(command, accuracy)) for accuracy in ("fast", "exact")]
    for name, make in (("OpenVDB", with_openvdb), ("VTK", with_vtk), ("Open3D", with_open3d)):
        try:
            ask, version = make()
            rows.append(("%s %s" % (name, version), ask))
        except ImportError as error:
            print("signs: no %s: %s" % (name, error), file=sys.stderr)
    print("| wrong signs of %d^3 nodes | nodes inside | %s |" % (N, " | ".join(name for name, _ in rows)))
    print("|---" * (len(rows) + 2) + "|")
    mistaken = 0
    for name, origin, (vertices, triangles) in SCENES:
        vertices = numpy.asarray(vertices, "f4")
        exact = Exact(vertices, triangles, origin)
        inside, judged = exact.inside(), ~exact.on_surface()
        wrong = [int((((ask(vertices, triangles, origin) < 0) != inside) & judged).sum()) for _, ask in rows]
        mistaken += sum(wrong[:2])
        print("| %s | %d | %s |" % (name, (inside & judged).sum(), " | ".join(map(str, wrong))), flush=True)
    sys.exit(mistaken != 0)


main()
