#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_clearance.sh CAROM: clearance volumes against rationals, the same bytes by every way, and bad usage.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
bake_begin "$1"
python=$(command -v python3 || true)

# ---- values ----------------------------------------------------------------------------------------------------------
# Oracle: the distance from the surface of the cube [0, 1]^3 and both limits, squared, as rationals.
cat > rationals.py << 'END' # OUT.npy H ORIGIN N RADIUS
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
# valued NAME H ORIGIN N RADIUS
valued() {
    three_files "$1" clearance --spacing "$2" --origin "$3,$3,$3" --dims "$4,$4,$4" --radius "$5"
    equal "$1" "0 wrong; $6" "$("$python" rationals.py at.npy "$2" "$3" "$4" "$5")"
}
if [ -n "$python" ]; then
    valued "values" 0.125 -1 25 0.4 "True True True"
    valued "values: nodes between the faces" 0.1 -0.63 23 0.25 "True True True"
    valued "values: radius 0" 0.0625 -0.5 33 0 "True False True"
    valued "values: a large sphere" 0.25 -1 13 40 "False True False"
else
    skip "values" "no python3 to compute them"
fi
check "the .vti file names its array" grep -aq 'Scalars="clearance".*' at.vti

# ---- other ways to the same bytes ------------------------------------------------------------------------------------
around=(--mesh cube.off --radius 0.3 --dims '90,40,90')
bake clearance "${around[@]}" -o whole.npy
equal "status of a complete bake" "12/12 slabs 100%" "$(bake status whole.npy | cut -d ' ' -f 1-3)"
check "status names the radius" grep -q -- 'clearance --spacing .* --radius 0.300000012 --accuracy fast' \
    <(bake status whole.npy)
three_parts clearance "${around[@]}"
bake distance --mesh cube.off --dims 90,40,90 --part 1/3 -o other
refused "a part of another kind" 2 'what' bake join no.npy other part2 part3
refused "a part of another radius" 2 'radius' bake join no.npy part1 part2 \
    "$(bake clearance --mesh cube.off --radius 0.31 --dims 90,40,90 --part 3/3 -o radius3 && echo radius3)"

# ---- refused ---------------------------------------------------------------------------------------------------------
refused "no radius" 2 'bake clearance: --radius R is missing' bake clearance --mesh cube.off --spacing 0.1 -o no.npy
bad_radii clearance radius --spacing 0.1
refused "no mesh" 2 'bake clearance: --mesh FILE is missing' bake clearance --radius 1 --spacing 1 -o no.npy
refused "gaps between cubes" 2 'is rounded by more than 2\^-17 of the spacing' bake clearance --mesh cube.off \
    --radius 1 --spacing 1e-3 --origin 1e4,0,0 --dims 4,4,4 -o no.npy
refused "--sign" 2 '--sign' bake clearance --mesh cube.off --radius 1 --spacing 0.1 --sign parity -o no.npy
refused "--with" 2 '--with' bake clearance --mesh cube.off --radius 1 --spacing 0.1 --with triangle -o no.vti
nothing "no file of an unfinished bake is left" "$(left)"
check_end
