# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Read by kind_of (tests/support/bake.sh), which says what stands here.
axes=3 array=clearance more=''
needs=(--radius)
own=(--sign parity --radius 0.3)
shown='--sign parity --radius 0.300000012'
changed=(--sign parity --radius 0.31)
differs=radius

# Oracle: the distance from the surface of the cube [0, 1]^3, or from the solid, and both limits, squared, as rationals.
values() {
    cat > rationals.py << 'END' # OUT.npy H ORIGIN N RADIUS SOLID
import math, struct, sys
from fractions import Fraction
def binary32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]
h, origin, n, radius = float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), Fraction(binary32(float(sys.argv[5])))
least = Fraction(h) ** 2 * Fraction(3, 4) * (1 + Fraction(1, 2 ** 16)) ** 2
half = float(Fraction(math.isqrt(int(least * 4 ** 100)), 2 ** 100))
while Fraction(half) ** 2 < least:
    half = math.nextafter(half, math.inf)
half = Fraction(half)
assert half ** 2 >= least > Fraction(math.nextafter(float(half), 0)) ** 2
def square(node): # of the distance from the surface
    beside = [max(-c, c - 1, Fraction(0)) for c in node]
    return sum(b * b for b in beside) if any(beside) else min(min(c, 1 - c) for c in node) ** 2
def clearance(node):
    d2 = square(node)
    if sys.argv[6] and all(0 < c < 1 for c in node): # the distance is negative
        return 1 if radius >= half or d2 >= (half - radius) ** 2 else 2
    if d2 > (radius + half) ** 2:
        return 0
    return 1 if radius >= half and d2 <= (radius - half) ** 2 else 2
at = [Fraction(binary32(origin + float(i) * h)) for i in range(n)]
data = open(sys.argv[1], 'rb').read()
values = data[-n ** 3:]
assert data.startswith(b"\x93NUMPY") and b"'descr': '|u1'" in data[:128] and len(data) == 128 + n ** 3
expected = bytes(clearance((x, y, z)) for z in at for y in at for x in at)
print(sum(a != b for a, b in zip(values, expected)), 'wrong;', *(expected.count(v) > 0 for v in range(3)))
END
    valued "values" 0.125 -1 25 0.4 "True True True"
    valued "values: nodes between the faces" 0.1 -0.63 23 0.25 "True True True"
    valued "values: radius 0" 0.0625 -0.5 33 0 "True False True"
    valued "values: a large sphere" 0.25 -1 13 40 "False True False"
    valued "values: a solid" 0.125 -1 25 0.4 "True True True" --sign winding
    valued "values: a solid, nodes between the faces" 0.1 -0.63 23 0.0625 "True True True" --sign robust
    valued "values: a solid, radius 0" 0.0625 -0.5 33 0 "True True True" --sign parity
}
# valued NAME H ORIGIN N RADIUS WHICH OPTION...
valued() {
    local name=$1 h=$2 origin=$3 n=$4 radius=$5 which=$6
    shift 6
    three_files "clearance: $name" clearance --spacing "$h" --origin "$origin,$origin,$origin" --dims "$n,$n,$n" \
        --radius "$radius" "$@"
    equal "clearance: $name" "0 wrong; $which" \
        "$("$python" rationals.py at.npy "$h" "$origin" "$n" "$radius" "${1:+solid}")"
}
refusals() {
    refused "gaps between cubes" 2 'is rounded by more than 2\^-17 of the spacing' bake clearance --mesh cube.off \
        --radius 1 --spacing 1e-3 --origin 1e4,0,0 --dims 4,4,4 -o no.npy
    refused "--sign of no rule" 2 '--sign: expected none, parity' bake clearance --mesh cube.off --radius 1 \
        --spacing 0.1 --sign odd -o no.npy
    sed -e '2s/12/11/' -e '$d' cube.off > holed.off
    for sign in parity winding; do
        refused "an open mesh, $sign" 2 "the mesh is open: .*; --sign $sign needs a closed mesh, or --allow-open\$" \
            bake clearance --mesh holed.off --radius 1 --spacing 1 --sign $sign -o no.npy
    done
}
