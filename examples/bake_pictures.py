# SPDX-License-Identifier: MIT
"""bake_pictures.py clearance|drop FILE.npy OUT.png: a volume or a map of carom bake as a picture.
bake_pictures.py same A.png B.png: exit status 1 if two of these pictures differ, however they are compressed.

What numpy computes here is rounded once for each operation, so a picture is the same on every machine.
"""
import struct
import sys
import zlib

import numpy

FREE, BLOCKED, UNDECIDED = 0, 1, 2
SHADES = 64  # of each colour in the palette


def write_png(path, pixels, palette):
    """8-bit indices of a palette; no filter, as PNG has it for palettes."""
    height, width = pixels.shape

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    rows = numpy.zeros((height, width + 1), 'u1')
    rows[:, 1:] = pixels
    with open(path, 'wb') as out:
        out.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 3, 0, 0, 0)) +
                  chunk(b'PLTE', numpy.asarray(palette, 'u1').tobytes()) +
                  chunk(b'IDAT', zlib.compress(rows.tobytes(), 9)) + chunk(b'IEND', b''))


def shades(*colors):
    """Each colour from dark to full; index SHADES c + s is shade s of colour c."""
    return [[int(c * (0.25 + 0.75 * s / (SHADES - 1))) for c in color] for color in colors for s in range(SHADES)]


def light(normal):
    """Shade of a surface, 0 to SHADES - 1, lit from the upper left, from the front."""
    towards = (-0.48, 0.6, 0.64)
    length = numpy.sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2])
    along = normal[0] * towards[0] + normal[1] * towards[1] + normal[2] * towards[2]
    return ((0.25 + 0.75 * numpy.maximum(along / numpy.maximum(length, 1e-9), 0)) * (SHADES - 1)).astype('u1')


def smooth(field, axis):
    """Mean of three neighbours along an axis, times three: whole numbers stay whole."""
    out = field.copy()
    low, high = [slice(None)] * 3, [slice(None)] * 3
    low[axis], high[axis] = slice(None, -1), slice(1, None)
    out[tuple(high)] += field[tuple(low)]
    out[tuple(low)] += field[tuple(high)]
    return out


def surface_shades(volume):
    """Shade of every cell, by the slope of how many cells around it are free."""
    free = (volume == FREE).astype('i2')
    for axis in (0, 1, 2, 0, 1, 2):
        free = smooth(free, axis)
    z, y, x = numpy.gradient(free.astype('f4'))
    return light((x, y, z))


def draw_clearance(volume, path):
    """Cut at half of the depth, and seen from the front and from above: each layer behind is moved to the right and up.

    Free cells are transparent. On the cut, and there alone, blocked and undecided cells have colours of their own.
    """
    depth = volume.shape[0] // 2 + 1
    shade = surface_shades(volume[:depth + 8])
    height, width = volume.shape[1:]
    right, up = 0.42, 0.34  # of a layer
    pixels = numpy.full((height + int(up * depth) + 1, width + int(right * depth) + 1), 3 * SHADES + SHADES - 1, 'u1')
    for layer in range(depth):  # the cut is the last, and covers those behind it
        behind = depth - 1 - layer
        x, y = int(right * behind), pixels.shape[0] - height - int(up * behind)
        cells = volume[layer, ::-1]  # a picture's rows go down
        color = shade[layer, ::-1]
        if behind == 0:
            color = numpy.where(cells == BLOCKED, SHADES, 2 * SHADES) + SHADES - 1
        view = pixels[y:y + height, x:x + width]
        view[cells != FREE] = color[cells != FREE]
    write_png(path, pixels, shades((150, 165, 185), (200, 50, 45), (240, 180, 60), (255, 255, 255)))


def draw_drop(height, path):
    """Heights by colour, low to high, lit from the upper left; white where the ball meets nothing."""
    colors = ((60, 40, 120), (40, 110, 170), (60, 170, 140), (240, 200, 80))
    steps = 256 // len(colors) // 5  # shades of each of four times five colours
    meets = numpy.isfinite(height)
    low, high = height[meets].min().astype('f8'), height[meets].max().astype('f8')
    z = numpy.where(meets, height, low).astype('f8')
    y, x = numpy.gradient(z)
    level = numpy.minimum((z - low) / (high - low) * 19.999, 19).astype('i8')
    shade = light((-x, -y, numpy.full(z.shape, 1.5))) // (SHADES // steps + 1)
    pixels = numpy.where(meets, level * steps + shade, 255).astype('u1')
    palette = []
    for i in range(20):
        at = i / 19 * (len(colors) - 1)
        k = min(int(at), len(colors) - 2)
        mixed = [a + (b - a) * (at - k) for a, b in zip(colors[k], colors[k + 1])]
        palette += [[int(c * (0.3 + 0.7 * s / (steps - 1))) for c in mixed] for s in range(steps)]
    palette += [[255, 255, 255]] * (256 - len(palette))
    write_png(path, pixels[::-1], palette)


def read_png(path):
    """All chunks of a file, pixels inflated."""
    data = open(path, 'rb').read()
    at, chunks = 8, []
    while at < len(data):
        size, kind = struct.unpack_from('>I4s', data, at)
        content = data[at + 8:at + 8 + size]
        chunks.append((kind, zlib.decompress(content) if kind == b'IDAT' else content))
        at += 12 + size
    return chunks


def main():
    what, first, second = sys.argv[1:]
    if what == 'same':
        sys.exit(read_png(first) != read_png(second))
    {'clearance': draw_clearance, 'drop': draw_drop}[what](numpy.load(first), second)


main()
