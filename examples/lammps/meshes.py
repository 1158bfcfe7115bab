# SPDX-License-Identifier: MIT
"""meshes.py [FOLDER]: writes chute.stl, drum.stl, hopper.stl, tray.stl and gate.stl, cut as CAD programs
export their models.

A curved face is cut into needles as long as the face. A flat one is cut without a point within, so fans of needles lead
from a corner, or from a hole, to its rim. Each face is cut for itself: where two meet, corners of one lie on edges of
the other (T-junctions), and arcs that were cut in different numbers leave cracks.
"""
import math
import pathlib
import sys


def fan(rim):
    """A convex flat face: triangles from its first corner, beside which no side is divided."""
    return [(rim[0], rim[k], rim[k + 1]) for k in range(1, len(rim) - 1)]


def between(one, other):
    """The strip between two lines of equally many points: two triangles for each pair of segments."""
    strip = []
    for k in range(len(one) - 1):
        strip += [(one[k], one[k + 1], other[k + 1]), (one[k], other[k + 1], other[k])]
    return strip


def divided(corners, pieces):
    """The rim of a polygon, each side of it cut into so many pieces."""
    rim = []
    for k, (start, count) in enumerate(zip(corners, pieces)):
        end = corners[(k + 1) % len(corners)]
        rim += [tuple(a + (b - a) * i / count for a, b in zip(start, end)) for i in range(count)]
    return rim


def circle(radius, count, place):
    """A closed circle of so many chords; place(a, b) puts a point of its plane into space."""
    angles = [2 * math.pi * k / count for k in range(count)]
    ring = [place(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
    return ring + ring[:1]


def bored(corners, radius, count, place):
    """A square from -1 to 1, in units of its half side, with a round hole: needles from the hole to the corners."""
    hole, face = circle(radius, count, lambda a, b: (a, b)), []
    quadrant = lambda p: int(math.atan2(p[1], p[0]) % (2 * math.pi) / (math.pi / 2))
    for p, q in zip(hole, hole[1:]):
        face.append((p, q, corners[quadrant(((p[0] + q[0]) / 2, (p[1] + q[1]) / 2))]))
    for k in range(4):  # between two fans
        face.append((corners[k - 1], corners[k], hole[k * count // 4]))
    return [tuple(place(*point) for point in triangle) for triangle in face]


def box(x, y, low, tops, pieces):
    """A box without a lid: floor and four walls, whose sides are cut into different numbers of pieces."""
    floor = [(x[0], y[0], low), (x[1], y[0], low), (x[1], y[1], low), (x[0], y[1], low)]
    walls = []
    for k in range(4):
        (ax, ay, _), (bx, by, _) = floor[k], floor[(k + 1) % 4]
        wall = [(bx, by, tops[k]), (ax, ay, tops[k]), (ax, ay, low), (bx, by, low)]
        walls += fan(divided(wall, (1, 1, pieces + 3 * k, 1)))
    return fan(divided(floor, (1, 2 * pieces, pieces, 1))) + walls


def chute():
    """A trough of 1.2 m, 30 degrees steep, that ends above a box. Its bottom is half a pipe."""
    slope, length, radius, side = math.radians(30), 1.2, 0.1, 0.12
    along, up = (math.cos(slope), 0, -math.sin(slope)), (math.sin(slope), 0, math.cos(slope))
    top = (0, 0, 1.0)

    def place(s, y, h):
        return tuple(t + s * a + h * u + (y if k == 1 else 0) for k, (t, a, u) in enumerate(zip(top, along, up)))

    arc = [math.pi * k / 40 for k in range(41)]
    profile = [(-radius * math.cos(a), radius - radius * math.sin(a)) for a in arc]
    trough = between([place(0, *p) for p in profile], [place(length, *p) for p in profile])
    for y in (-radius, radius):
        side_face = [
            place(0, y, radius),
            place(length, y, radius),
            place(length, y, radius + side),
            place(0, y, radius + side),
        ]
        trough += fan(divided(side_face, (1, 1, 7, 1)))
    arc = [math.pi * k / 28 for k in range(29)]  # the end plate has another number of chords
    rim = [(-radius * math.cos(a), radius - radius * math.sin(a)) for a in arc]
    rim += [(radius, radius + side), (-radius, radius + side)]
    end = place(length, 0, 0)
    walls = box((end[0] - 0.02, end[0] + 0.5), (-0.15, 0.15), 0, (0.6, 0.6, 0.6, 0.38), 30)
    return trough + fan([place(0, *p) for p in rim]) + walls


def drum():
    """A drum around the y axis, of radius 0.25 m and 0.2 m long: needles around, and ends with other chords."""
    radius, ends = 0.25, (-0.1, 0.1)
    shell = between(*(circle(radius, 180, lambda a, b: (a, y, b)) for y in ends))
    return shell + [t for y in ends for t in fan(circle(radius, 150, lambda a, b: (a, y, b))[:-1])]


def hopper():
    """A square bin with a round port in each wall, and a pyramid below it that ends in a square outlet."""
    a, outlet, top, knee, low = 0.15, 0.07, 0.8, 0.35, 0.15
    corners, walls = [(1, 1), (-1, 1), (-1, -1), (1, -1)], []
    for k in range(4):
        c, s = round(math.cos(k * math.pi / 2)), round(math.sin(k * math.pi / 2))
        turned = lambda x, y, z: (c * x - s * y, s * x + c * y, z)
        # The wall is cut in 64 chords around its port, the port's lid in 52; the part below has no port.
        middle, half = top - 0.15, 0.15
        walls += bored(corners, 0.6, 64, lambda u, v: turned(a, a * u, middle + half * v))
        walls += fan(circle(0.6 * half, 52, lambda u, v: turned(a, u, middle + v))[:-1])
        plain = [turned(a, -a, knee), turned(a, a, knee), turned(a, a, middle - half), turned(a, -a, middle - half)]
        walls += fan(divided(plain, (1, 3 + k, 9 - k, 1)))
        slant = [turned(outlet, -outlet, low), turned(outlet, outlet, low), turned(a, a, knee), turned(a, -a, knee)]
        walls += fan(divided(slant, (1, 6 + 5 * k, 9 + k, 1)))
    return walls


def tray():
    """A box below the hopper."""
    return box((-0.3, 0.3), (-0.3, 0.3), -0.25, (0.05, 0.05, 0.05, 0.05), 40)


def gate():
    """A plate that closes the hopper's outlet."""
    corners = [(-0.08, -0.08, 0.15), (0.08, -0.08, 0.15), (0.08, 0.08, 0.15), (-0.08, 0.08, 0.15)]
    return fan(divided(corners, (1, 9, 6, 1)))


def write_stl(path, triangles):
    """ASCII, 9 digits: the same 32-bit floats in every program."""
    with open(path, "w", encoding="ascii") as file:
        print("solid", path.stem, file=file)
        for triangle in triangles:
            a, b = (tuple(q - p for p, q in zip(triangle[0], corner)) for corner in triangle[1:])
            normal = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
            size = math.hypot(*normal) or 1
            print("facet normal", *(f"{n / size:.9g}" for n in normal), "\nouter loop", file=file)
            for corner in triangle:
                print("vertex", *(f"{x:.9g}" for x in corner), file=file)
            print("endloop\nendfacet", file=file)
        print("endsolid", path.stem, file=file)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for model in (chute, drum, hopper, tray, gate):
        faces = model()
        write_stl(folder / f"{model.__name__}.stl", faces)
        print(f"{model.__name__}.stl: {len(faces)} triangles")
