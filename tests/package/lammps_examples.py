# SPDX-License-Identifier: MIT
"""lammps_examples.py grains|cuts FOLDER: where the grains of examples/lammps are, in the dumps that lammps_examples.sh
has made, by the shapes that examples/lammps/meshes.py describes; or how its meshes are cut. Prints what is wrong.
"""
import math
import pathlib
import sys

DENT = 0.1  # of a radius: how far a contact may be pressed in


def frames(path):
    """Grains of each frame of a dump, by the names of the columns."""
    for text in path.read_text().split("ITEM: TIMESTEP\n")[1:]:
        head, body = text.split("ITEM: ATOMS ")[1].split("\n", 1)
        yield [dict(zip(head.split(), map(float, line.split()))) for line in body.splitlines()]


def in_box(p, low, high, slack):
    return all(a - slack <= x <= b + slack for a, x, b in zip(low, p, high))


def in_chute(p, r):
    """In the box, or above the trough: at the end all have left it."""
    end = 1.2 * math.cos(math.pi / 6)
    return in_box(p, (end - 0.02 + r, -0.15 + r, r), (end + 0.5 - r, 0.15 - r, 0.6), DENT * r)


def in_drum(p, r):
    """The chords of the shell reach inwards by a radius times 1 - cos(1 degree), those of the ends too."""
    return math.hypot(p[0], p[2]) <= 0.25 - r + DENT * r and abs(p[1]) <= 0.1 - r + DENT * r


def in_hopper(p, r):
    """Above the gate, and within the bin or between the slants, from whose planes the distance is measured."""
    slant = math.atan2(0.15 - 0.07, 0.35 - 0.15)  # from the vertical
    inside = 0.07 + (p[2] - 0.15) * math.tan(slant) - max(abs(p[0]), abs(p[1]))
    return (
        p[2] >= 0.15 + r - DENT * r
        and max(abs(p[0]), abs(p[1])) <= 0.15 - r + DENT * r
        and inside * math.cos(slant) >= r - DENT * r
    )


def on_tray(p, r):
    return in_box(p, (-0.3 + r, -0.3 + r, -0.25 + r), (0.3 - r, 0.3 - r, 0.05), DENT * r)


def grains(folder):
    """(dump, frame, where): all grains of the frame are there, and as many as in the first one."""
    for name, number, inside in (
        ("chute", -1, in_chute),
        ("drum", -1, in_drum),
        ("hopper", 10, in_hopper),
        ("hopper", -1, on_tray),
    ):
        all_frames = list(frames(folder / f"{name}.dump"))
        frame = all_frames[number]
        if len(frame) != len(all_frames[0]) or len(frame) < 100:
            yield f"{name}: {len(frame)} of {len(all_frames[0])} grains"
        for grain in frame:
            place = tuple(grain[axis] for axis in "xyz")
            if not inside(place, grain["radius"]):
                yield f"{name}, frame {number}: not {inside.__name__}: {place}, radius {grain['radius']}"


def triangles(path):
    lines = (line for line in path.read_text().split("\n") if line.startswith("vertex"))
    corners = [tuple(map(float, line.split()[1:])) for line in lines]
    return [corners[k : k + 3] for k in range(0, len(corners), 3)]


def cross(a, b):
    return math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b))


def lies_within(p, a, b):
    """Whether a corner lies on an edge between its ends."""
    along, arm = minus(b, a), minus(p, a)
    size = math.hypot(*along)
    share = sum(x * y for x, y in zip(arm, along)) / size**2
    return 1e-6 < share < 1 - 1e-6 and cross(arm, along) / size < 1e-6


def cuts(folder):
    """Each triangle has an area, each vessel has needles; T-junctions are where the docstring has them."""
    for name, least_junctions in (("chute", 50), ("drum", 0), ("hopper", 10), ("tray", 50)):
        mesh = triangles(folder / f"{name}.stl")
        corners = {corner for triangle in mesh for corner in triangle}
        thinnest, junctions = 0, 0
        for triangle in mesh:
            edges = [(triangle[k], triangle[k - 1]) for k in range(3)]
            longest = max(math.dist(*edge) for edge in edges)
            area = cross(minus(triangle[1], triangle[0]), minus(triangle[2], triangle[0]))
            if area < 1e-6 * longest**2:
                yield f"{name}: {triangle} has no area"
                continue
            thinnest = max(thinnest, longest**2 / area)
            junctions += sum(any(lies_within(p, *edge) for p in corners) for edge in edges)
        if thinnest < 50 or junctions < least_junctions:
            yield f"{name}: longest needle {thinnest}, edges with T-junctions {junctions}"


if __name__ == "__main__":
    wrong = list({"grains": grains, "cuts": cuts}[sys.argv[1]](pathlib.Path(sys.argv[2])))
    print("\n".join(wrong[:10]))
    sys.exit(bool(wrong))
