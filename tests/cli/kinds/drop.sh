# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Read by kind_of (tests/support/bake.sh), which says what stands here.
axes=2 array=height more=triangle,feature,point
needs=(--ball)
own=(--ball 0.3)
shown='--ball 0.300000012'
changed=(--ball 0.31)
differs=ball

# Oracle: over the cube [0, 1]^3 the ball touches the upper square, d beside it as seen from above, so its centre is at
# 1 + sqrt(R^2 - d^2). The answer is the least binary32 that is not lower.
values() {
    cat > rationals.py << 'END' # OUT.npy H ORIGIN NX NY RADIUS
import math, struct, sys
from fractions import Fraction
def binary32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]
def below(z): # of positive numbers
    return struct.unpack('<f', struct.pack('<I', struct.unpack('<I', struct.pack('<f', z))[0] - 1))[0]
h, origin, nx, ny = float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
radius = Fraction(binary32(float(sys.argv[6])))
def coordinate(i):
    return Fraction(binary32(origin + float(i) * h))
def reaches(z, square): # whether z is not lower than the height
    return z >= 1 and (Fraction(z) - 1) ** 2 >= radius ** 2 - square
def beside(x):
    return max(-x, x - 1, Fraction(0))
data = open(sys.argv[1], 'rb').read()
shape = "'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (ny, nx)
assert data.startswith(b"\x93NUMPY") and shape.encode() in data[:128] and len(data) == 128 + 4 * nx * ny
wrong = missed = 0
for j in range(ny):
    for i in range(nx):
        z, = struct.unpack_from('<f', data, 128 + 4 * (j * nx + i))
        square = beside(coordinate(i)) ** 2 + beside(coordinate(j)) ** 2
        if square > radius ** 2:
            missed += 1
            wrong += z != -math.inf
        else:
            wrong += not (reaches(z, square) and not reaches(below(z), square))
print(wrong, 'wrong;', 0 < missed < nx * ny)
END
    valued "values" 0.0625 -1 49 47 0.3
    valued "values: columns at exactly R" 0.125 -1 25 25 0.625
    valued "values: radius 0" 0.125 -1 25 20 0
    valued "values: a large ball" 0.5 -6 27 26 5
}
# valued NAME H ORIGIN NX NY RADIUS
valued() {
    three_files "drop: $1" drop --spacing "$2" --origin "$3,$3" --dims "$4,$5" --ball "$6"
    equal "drop: $1" "0 wrong; True" "$("$python" rationals.py at.npy "$2" "$3" "$4" "$5" "$6")"
}
refusals() {
    check "drop: the .vti file has one layer" grep -aqE 'WholeExtent="0 [0-9]+ 0 [0-9]+ 0 0"' small.vti
}
