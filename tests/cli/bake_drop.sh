#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_drop.sh CAROM: drop maps against rationals, the same bytes by every way, and bad usage.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
bake_begin "$1"
python=$(command -v python3 || true)

# ---- values ----------------------------------------------------------------------------------------------------------
# Oracle: over the cube [0, 1]^3 the ball touches the upper square, d beside it as seen from above, so its centre is at
# 1 + sqrt(R^2 - d^2). The answer is the least binary32 that is not lower.
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
# valued NAME H ORIGIN NX NY RADIUS
valued() {
    three_files "$1" drop --spacing "$2" --origin "$3,$3" --dims "$4,$5" --ball "$6"
    equal "$1" "0 wrong; True" "$("$python" rationals.py at.npy "$2" "$3" "$4" "$5" "$6")"
}
if [ -n "$python" ]; then
    valued "values" 0.0625 -1 49 47 0.3
    valued "values: columns at exactly R" 0.125 -1 25 25 0.625
    valued "values: radius 0" 0.125 -1 25 20 0
    valued "values: a large ball" 0.5 -6 27 26 5
else
    skip "values" "no python3 to compute them"
    bake drop --mesh cube.off --spacing 0.1 --ball 0.2 -o at.vti
fi
check "the .vti file names its array" grep -aq 'Scalars="height"' at.vti
check "the .vti file has one layer" grep -aqE 'WholeExtent="0 [0-9]+ 0 [0-9]+ 0 0"' at.vti

# ---- other ways to the same bytes ------------------------------------------------------------------------------------
around=(--mesh cube.off --ball 0.3 --dims '300,1700')
bake drop "${around[@]}" -o whole.npy
equal "status of a complete bake" "4/4 slabs 100%" "$(bake status whole.npy | cut -d ' ' -f 1-3)"
check "status gives the options" \
    grep -qE -- 'drop --spacing [^ ]+ --origin [^ ,]+,[^ ,]+ --dims 300,1700 --ball 0.300000012 --accuracy fast' \
    <(bake status whole.npy)
three_parts drop "${around[@]}"
bake drop --mesh cube.off --ball 0.31 --dims 300,1700 --part 1/3 -o other
refused "a part of another ball" 2 'ball' bake join no.npy other part2 part3

# ---- check -----------------------------------------------------------------------------------------------------------
bake drop --mesh cube.off --ball 0.3 --dims 30,20 -o small.vti
equal "check" "500 of 600 columns, 500 of them by the reference: 0 differences" \
    "$(bake check small.vti --mesh cube.off --samples 500)"
bake drop --mesh cube.off --ball 0.3 --dims 30,20 -o small.npy
setfattr -x user.carom.bake small.npy 2> /dev/null || true
check "check of a .npy file, by its options" bake check small.npy --mesh cube.off --ball 0.3
size=$(stat -c %s small.npy)
printf '\x01' | dd of=small.npy bs=1 seek=$((size - 1201)) conv=notrunc status=none
refused "check of a changed byte" 1 'height .*; computed anew: ' bake check small.npy --mesh cube.off --ball 0.3 \
    --samples 3000

# ---- refused ---------------------------------------------------------------------------------------------------------
refused "no ball" 2 'bake drop: --ball R is missing' bake drop --mesh cube.off --spacing 0.1 -o no.npy
bad_radii drop ball --spacing 0.1
for dims in 5 5,6,7 0,5 x,5 '5,' ''; do
    refused "--dims '$dims'" 2 '--dims: expected two whole numbers NX,NY' bake drop --mesh cube.off --ball 1 \
        --dims "$dims" -o no.npy
done
for origin in 5 5,6,7 nan,5 x,5 '5,' ''; do
    refused "--origin '$origin'" 2 '--origin: expected two finite numbers X,Y' bake drop --mesh cube.off --ball 1 \
        --spacing 0.1 --origin "$origin" -o no.npy
done
refused "no lattice" 2 'give --spacing H or --dims NX,NY, or both' bake drop --mesh cube.off --ball 1 -o no.npy
refused "no mesh" 2 'bake drop: --mesh FILE is missing' bake drop --ball 1 --spacing 1 -o no.npy
refused "--with" 2 '--with' bake drop --mesh cube.off --ball 1 --spacing 0.1 --with triangle -o no.vti
nothing "no file of an unfinished bake is left" "$(left)"
check_end
