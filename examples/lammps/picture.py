# SPDX-License-Identifier: MIT
"""picture.py DUMP OUT.png MESH.stl [MESH.stl ...] [--frame N] [--turn DEGREES] [--tilt DEGREES]: a frame of a dump of
LAMMPS, by default the last one, with its walls.

Seen along a horizontal direction that is turned from y, from above by the tilt. Grains are blue at rest and red at the
speed of the fastest hundredth. Of the walls the farthest surface is filled; edges of walls before it are pale.
"""
import argparse
import struct
import zlib

import numpy

WIDTH, FINE = 560, 2  # pixels; a pixel is the mean of FINE x FINE


def read_stl(path):
    """Triangles of an ASCII file: (n, 3, 3)."""
    lines = (line.split() for line in open(path, encoding="ascii"))
    return numpy.array([words[1:] for words in lines if words and words[0] == "vertex"], float).reshape(-1, 3, 3)


def read_frame(path, number):
    """Columns of a frame, by their names in its header."""
    frames = open(path, encoding="ascii").read().split("ITEM: TIMESTEP\n")[1:]
    head, body = frames[number].split("ITEM: ATOMS ")[1].split("\n", 1)
    values = numpy.array(body.split(), float).reshape(-1, len(head.split()))
    return dict(zip(head.split(), values.T))


class View:
    """A camera without perspective, and what it has drawn so far."""

    def __init__(self, points, turn, tilt):
        turn, tilt = numpy.radians(turn), numpy.radians(tilt)
        right = numpy.array([numpy.cos(turn), numpy.sin(turn), 0])
        up = numpy.array([-numpy.sin(turn) * numpy.sin(tilt), numpy.cos(turn) * numpy.sin(tilt), numpy.cos(tilt)])
        self.axes = numpy.array([right, -up, numpy.cross(right, up)])  # to the right, down, and towards the camera
        flat = points @ self.axes.T
        self.low, size = flat.min(0), numpy.ptp(flat, axis=0)
        self.scale = 0.96 * WIDTH * FINE / size[0]
        self.low = self.low - 0.02 * size[0]
        shape = int((size[1] + 0.04 * size[0]) * self.scale) // FINE * FINE, WIDTH * FINE
        self.color = numpy.ones((*shape, 3))
        self.depth = numpy.full(shape, numpy.inf)  # of the farthest wall

    def place(self, points):
        """Pixels to the right and down, and the depth in pixels."""
        return (points @ self.axes.T - self.low) * self.scale

    def walls(self, triangles):
        normal = numpy.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normal /= numpy.linalg.norm(normal, axis=1)[:, None] + 1e-30
        shade = 0.72 + 0.22 * numpy.abs(normal @ numpy.array([0.5, 0.3, 0.81]))
        for corners, tone in zip(self.place(triangles), shade):
            self.triangle(corners, tone)

    def triangle(self, p, tone):
        x0, y0 = numpy.maximum(p[:, :2].min(0).astype(int), 0)
        x1, y1 = p[:, :2].max(0).astype(int) + 1
        area = (p[1, 0] - p[0, 0]) * (p[2, 1] - p[0, 1]) - (p[2, 0] - p[0, 0]) * (p[1, 1] - p[0, 1])
        if abs(area) < 1e-9:
            return  # seen from its side
        y, x = numpy.mgrid[y0 : y1 + 1, x0 : x1 + 1] + 0.5
        b = ((x - p[0, 0]) * (p[2, 1] - p[0, 1]) - (p[2, 0] - p[0, 0]) * (y - p[0, 1])) / area
        c = ((p[1, 0] - p[0, 0]) * (y - p[0, 1]) - (x - p[0, 0]) * (p[1, 1] - p[0, 1])) / area
        z = p[0, 2] + b * (p[1, 2] - p[0, 2]) + c * (p[2, 2] - p[0, 2])
        depth = self.depth[y0 : y1 + 1, x0 : x1 + 1]
        inside = (b >= 0) & (c >= 0) & (b + c <= 1) & (z < depth)
        depth[inside] = z[inside]
        self.color[y0 : y1 + 1, x0 : x1 + 1][inside] = numpy.array([0.93, 0.96, 1]) * tone

    def edges(self, triangles):
        """Darken pixels on edges: those on the farthest wall as they are, those on walls before it a little."""
        p, behind, before = self.place(triangles), *numpy.zeros((2, *self.depth.shape), bool)
        for a, b in zip(p.reshape(-1, 3), p[:, [1, 2, 0]].reshape(-1, 3)):
            steps = int(numpy.abs(a - b)[:2].max()) + 2
            x, y, z = (a + (b - a) * numpy.linspace(0, 1, steps)[:, None]).T
            x, y = x.astype(int).clip(0, self.depth.shape[1] - 1), y.astype(int).clip(0, self.depth.shape[0] - 1)
            far = z < self.depth[y, x] + 4 * FINE
            behind[y[far], x[far]] = True
            before[y[~far], x[~far]] = True
        self.color[behind] *= 0.75
        self.color[before & ~behind] *= 0.92

    def grains(self, center, radius, color):
        """From the farthest on: a nearer one covers those behind it, by the depth of each pixel."""
        near = numpy.full(self.depth.shape, -numpy.inf)
        for p, r, tint in zip(self.place(center), radius * self.scale, color):
            x0, y0 = numpy.maximum((p[:2] - r).astype(int), 0)
            y, x = numpy.mgrid[y0 : int(p[1] + r) + 1, x0 : int(p[0] + r) + 1] + 0.5
            x, y = (x - p[0]) / r, (y - p[1]) / r
            up = 1 - x * x - y * y
            z = numpy.sqrt(numpy.maximum(up, 0))
            part = near[y0 : y0 + x.shape[0], x0 : x0 + x.shape[1]]
            x, y, up, z = (a[: part.shape[0], : part.shape[1]] for a in (x, y, up, z))
            seen = (up > 0) & (p[2] + r * z > part)
            part[seen] = (p[2] + r * z)[seen]
            light = 0.35 + 0.65 * numpy.maximum(-0.35 * x - 0.6 * y + 0.72 * z, 0)
            self.color[y0 : y0 + x.shape[0], x0 : x0 + x.shape[1]][seen] = light[seen][:, None] * tint

    def write(self, path):
        """PNG, 17 steps of each colour."""
        height, width = (n // FINE for n in self.depth.shape)
        mean = self.color.reshape(height, FINE, width, FINE, 3).mean((1, 3))
        pixels = numpy.round(numpy.round(mean * 16) / 16 * 255).astype("u1").reshape(height, 3 * width)
        above = numpy.vstack([numpy.zeros((1, 3 * width), "u1"), pixels[:-1]])
        rows = numpy.hstack([numpy.full((height, 1), 2, "u1"), pixels - above])  # filter 2: the row above

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        with open(path, "wb") as out:
            out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
            out.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser()
    for name in ("dump", "out"):
        parser.add_argument(name)
    parser.add_argument("mesh", nargs="+")
    parser.add_argument("--frame", type=int, default=-1)
    parser.add_argument("--turn", type=float, default=20)
    parser.add_argument("--tilt", type=float, default=15)
    given = parser.parse_args()
    frame = read_frame(given.dump, given.frame)
    triangles = numpy.concatenate([read_stl(path) for path in given.mesh])
    center = numpy.stack([frame[axis] for axis in "xyz"], 1)
    speed = numpy.linalg.norm([frame["v" + axis] for axis in "xyz"], axis=0)
    share = numpy.minimum(speed / max(numpy.percentile(speed, 99), 0.05), 1)[:, None]
    ramp = numpy.array([[0.20, 0.42, 0.72], [0.95, 0.80, 0.35], [0.85, 0.25, 0.15]])
    color = numpy.where(
        share < 0.5, ramp[0] + (ramp[1] - ramp[0]) * 2 * share, ramp[1] + (ramp[2] - ramp[1]) * (2 * share - 1)
    )
    view = View(triangles.reshape(-1, 3), given.turn, given.tilt)
    view.walls(triangles)
    view.edges(triangles)
    view.grains(center, frame["radius"], color)
    view.write(given.out)


if __name__ == "__main__":
    main()
