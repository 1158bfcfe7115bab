# SPDX-License-Identifier: MIT
"""Signed distances of carom beside those of Open3D and VTK, from Python: the tables of docs/from-open3d.md.

    python3 bench/rivals.py [POINTS]

Speed: a closed torus of 69,696 triangles, points in its box, one thread each, the best of three rounds in turns. Signs:
a cube of 12 triangles and its dirty variants (docs/for-bakes.md), points around it that are 0.01 or more away from it.
A library that is not installed has no column.
"""
import sys
import time

import carom
import numpy as np

CUBE = np.array([[x, y, z] for z in (0, 4) for y in (0, 4) for x in (0, 4)], "f4")
FACES = np.array(
    [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ],
    "u4",
)


def torus(n, m, radius=1.0, tube=0.4):
    """A closed torus of 2 n m triangles around the z axis, its normals outward."""
    u, v = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(m) * 2 * np.pi / m, indexing="ij")
    ring = radius + tube * np.cos(v)
    vertices = np.stack([ring * np.cos(u), ring * np.sin(u), tube * np.sin(v)], -1).reshape(-1, 3).astype("f4")
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    a, b, c, d = (((i + di) % n) * m + (j + dj) % m for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)))
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    return vertices, triangles.astype("u4")


def torus_distance(points, radius=1.0, tube=0.4):
    x = points.astype("f8")
    return np.hypot(np.hypot(x[:, 0], x[:, 1]) - radius, x[:, 2]) - tube


def turned(faces, which):
    """Faces of which some have their normal the other way."""
    faces = faces.copy()
    faces[which] = faces[which][:, ::-1]
    return faces


def dirty():
    """(name, vertices, triangles, whether points are inside)"""

    def in_cube(p, low=0, high=4):
        return ((p > low) & (p < high)).all(1)

    def in_both(p):
        return in_cube(p) | in_cube(p, 1, 5)

    yield "closed", CUBE, FACES, in_cube
    yield "a hole", CUBE, np.delete(FACES, 2, 0), in_cube
    yield "a triangle twice", CUBE, np.vstack([FACES, FACES[:1]]), in_cube
    yield "a triangle flipped", CUBE, turned(FACES, [0]), in_cube
    yield "inside out", CUBE, turned(FACES, slice(None)), in_cube
    yield "two that overlap", np.vstack([CUBE, CUBE + 1]), np.vstack([FACES, FACES + 8]), in_both


# ---- each library: a function of points that returns signed distances ------------------------------------------------


def with_carom(vertices, triangles, **options):
    mesh = carom.Context(threads=1).mesh(vertices, triangles)
    return lambda points: mesh.closest(points, columns=["distance"], **options).distance


def with_open3d(vertices, triangles):
    import open3d

    scene = open3d.t.geometry.RaycastingScene()
    scene.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(np.ascontiguousarray(triangles)))
    return lambda points: scene.compute_signed_distance(open3d.core.Tensor(points), nthreads=1).numpy()


def with_vtk(vertices, triangles):
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkFiltersCore import vtkImplicitPolyDataDistance

    points, cells, data = vtkPoints(), vtkCellArray(), vtkPolyData()
    points.SetData(numpy_to_vtk(vertices, deep=True))
    rows = np.insert(triangles.astype("i8"), 0, 3, axis=1)
    cells.SetCells(len(triangles), numpy_to_vtkIdTypeArray(rows.ravel(), deep=True))
    data.SetPoints(points)
    data.SetPolys(cells)
    distance = vtkImplicitPolyDataDistance()
    distance.SetInput(data)

    def ask(points):
        out = vtkDoubleArray()
        distance.FunctionValue(numpy_to_vtk(points.astype("f8"), deep=True), out)
        return vtk_to_numpy(out)

    return ask


def libraries():
    """(name, function of a mesh, share of the points that it gets in the time of the others)"""
    yield "carom", lambda v, t: with_carom(v, t, sign="winding"), 1
    yield "carom, exact", lambda v, t: with_carom(v, t, sign="winding", accuracy="exact"), 1
    yield "carom, robust", lambda v, t: with_carom(v, t, sign="robust"), 1
    for name, module, make, share in (("Open3D", "open3d", with_open3d, 0.2), ("VTK", "vtkmodules", with_vtk, 0.02)):
        try:
            __import__(module)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
        else:
            yield name, make, share


def speeds(count):
    """us a point, wrong signs in percent and the largest error of each library, on the torus."""
    vertices, triangles = torus(264, 132)
    points = ((np.random.default_rng(0).random((count, 3), "f4") * 2 - 1) * np.float32([1.5, 1.5, 0.5])).astype("f4")
    truth = torus_distance(points)
    asked = [
        (name, make(vertices, triangles), points[: max(1, int(share * count))]) for name, make, share in libraries()
    ]
    best, answers = {}, {}
    for _ in range(3):
        for name, ask, some in asked:
            begin = time.perf_counter()
            answers[name] = ask(some)
            best[name] = min(best.get(name, np.inf), (time.perf_counter() - begin) / len(some))
    print("| | us a point | wrong signs |\n|---|---:|---:|")
    for name, answer in answers.items():
        true = truth[: len(answer)]
        clear = np.abs(true) > 1e-3  # the torus of triangles is up to 2.2e-4 thinner than the true one
        wrong = np.mean((answer < 0)[clear] != (true < 0)[clear])
        print(f"| {name} | {best[name] * 1e6:.1f} | {100 * wrong:.3g} % |")


def signs(count):
    """Wrong signs of each library, on dirty cubes."""
    points = np.random.default_rng(1).random((count, 3), "f4") * 8 - 2
    points = points[(np.abs(points[:, :, None] - np.float32([0, 1, 4, 5])) > 1e-2).all((1, 2))]
    tried = [(name, make) for name, make, _ in libraries() if name in ("carom, robust", "Open3D", "VTK")]
    print("\n| a cube | " + " | ".join(name for name, _ in tried) + " |\n|---|" + "---:|" * len(tried))
    for name, vertices, triangles, is_inside in dirty():
        truth = is_inside(points)
        wrong = (np.mean((make(vertices, triangles)(points) < 0) != truth) for _, make in tried)
        print(f"| {name} | " + " | ".join(f"{100 * share:.3g} %" for share in wrong) + " |")


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    speeds(n)
    signs(min(n, 20_000))
