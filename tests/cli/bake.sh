#!/bin/bash
# SPDX-License-Identifier: MIT
# bake.sh CAROM: volumes against the nodes one by one, parts put together, bad usage.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
bake_begin "$1"
python=$(command -v python3 || true)
# With a vertex that no triangle uses, far outside.
printf '%s\n' OFF '5 2 0' '-1.5 0.25 3' '2.5 0.1 3.7' '0.3 4.7 3.1' '-0.7 1.9 5.3' '900 900 900' '3 0 1 2' '3 0 2 3' \
    > wing.off
printf 'OFF\n0 0 0\n' > empty.off

# ---- where the nodes are ---------------------------------------------------------------------------------------------
# Oracle: the rules of docs/design.md in Python, whose floats are binary64.
cat > lattice.py << 'END'
import math, struct, sys
def binary32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]
def place(lower, upper, spacing, origin, dims, margin):
    h = spacing
    if h is None:
        h = max((u - l + 2 * margin) / (n - 1) if margin is not None else (u - l) / (n - 5)
                for l, u, n in zip(lower, upper, dims))
    m = margin if margin is not None else 2 * h
    o = origin if origin is not None else [l - m for l in lower]
    n = dims if dims is not None else [max(1, math.ceil((u + m - c) / h) + 1) for u, c in zip(upper, o)]
    return h, o, n
def numbers(text, kind):
    return [kind(word) for word in text.split(',')]
def read(argv): # options as of carom bake, for the bounds of wing.off or of the cube
    given = dict(zip(argv[1::2], argv[2::2]))
    wing = argv[0] == 'wing.off'
    lower = [binary32(x) for x in (-1.5, 0.1, 3)] if wing else [0.0, 0.0, 0.0]
    upper = [binary32(x) for x in (2.5, 4.7, 5.3)] if wing else [1.0, 1.0, 1.0]
    number = lambda t: float.fromhex(t) if 'x' in t else float(t)
    get = lambda name, kind: kind(given[name]) if name in given else None
    return place(lower, upper, get('--spacing', number), get('--origin', lambda t: numbers(t, float)),
                 get('--dims', lambda t: numbers(t, int)), get('--margin', float))
if __name__ == '__main__':
    h, o, n = read(sys.argv[1:])
    print('spacing %.17g' % h)
    print('origin %.17g,%.17g,%.17g' % tuple(o))
    print('dims %d,%d,%d' % tuple(n))
END
# placed MESH option...: the lattice that the header of a .vti file names is the oracle's
placed() {
    rm -f at.vti
    if ! bake distance --mesh "$@" -o at.vti > stdout.txt 2> stderr.txt; then
        fail "lattice: $*" "$(head -n 3 stderr.txt)"
        return
    fi
    equal "lattice: $*" "$("$python" lattice.py "$@")" "$(head -c 1000 at.vti | grep -aE '^(spacing|origin|dims) ')"
}
if [ -n "$python" ]; then
    placed cube.off --spacing 0.25
    placed cube.off --spacing 0.3
    placed wing.off --spacing 0.17
    placed wing.off --spacing 0x1.8p-2 --margin 0
    placed wing.off --spacing 0.4 --margin 1e-3
    placed wing.off --spacing 0.4 --origin -2,0.3,2.9
    placed wing.off --spacing 0.4 --origin 10,10,10
    placed wing.off --spacing 0.4 --origin -2,0.3,2.9 --margin 0.75
    placed wing.off --dims 20,30,40
    placed wing.off --dims 6,6,6
    placed wing.off --dims 20,21,22 --margin 0.1
    placed wing.off --dims 2,3,4 --margin 0
    placed wing.off --dims 20,30,7 --origin 0.1,0.2,0.3
    placed wing.off --dims 3,1,2 --spacing 0.7
    placed wing.off --dims 3,1,2 --spacing 0.7 --margin 0.3
    placed wing.off --dims 3,1,2 --spacing 0.7 --origin 1e3,-0.1,1e-3
else
    skip "lattices" "no python3 to compute them"
fi

# ---- values ----------------------------------------------------------------------------------------------------------
# Oracle: the query of each node by itself.
cat > nodes.py << 'END'
import sys, lattice
h, o, n = lattice.read(sys.argv[1:])
at = [[lattice.binary32(c + float(i) * h) for i in range(m)] for c, m in zip(o, n)]
print('cx,cy,cz,radius')
for z in at[2]:
    for y in at[1]:
        for x in at[0]:
            print('%.9g,%.9g,%.9g,0' % (x, y, z))
END
cat > same.py << 'END' # OUT.vti DISTANCES.csv BAND: every array, node by node
import csv, re, struct, sys
data = open(sys.argv[1], 'rb').read()
rows = list(csv.DictReader(open(sys.argv[2])))
band = float(sys.argv[3])
begin = data.index(b'<AppendedData encoding="raw">')
begin = data.index(b'_', begin) + 1
features = ['', 'V0', 'V1', 'V2', 'E01', 'E12', 'E20', 'F']
wrong = 0
for name, offset in re.findall(rb'Name="(\w+)"[^>]*offset="(\d+)"', data[:begin]):
    at = begin + int(offset)
    size = struct.unpack_from('<Q', data, at)[0]
    kind, count = {b'distance': ('f', 1), b'triangle': ('i', 1), b'feature': ('B', 1), b'point': ('f', 3)}[name]
    raw = data[at + 8:at + 8 + size]
    values = [v[0] if count == 1 else v for v in struct.iter_unpack('<%d%s' % (count, kind), raw)]
    if len(values) != len(rows):
        print(name, len(values), 'values for', len(rows), 'nodes')
        wrong += 1
        continue
    for value, row in zip(values, rows):
        far = float(row['distance']) > band
        if name == b'distance':
            fits = '%.9g' % value == ('%.9g' % band if far else row['distance'])
        elif name == b'triangle':
            fits = value == (-1 if far else int(row['triangle']))
        elif name == b'feature':
            fits = features[value] == ('' if far else row['feature'])
        else:
            fits = tuple('%.9g' % v for v in value) == (('0', '0', '0') if far else (row['x'], row['y'], row['z']))
        wrong += not fits
print(wrong, 'wrong of', len(rows))
END
# valued NAME MODE BAND option...
valued() {
    local name=$1 mode=$2 band=$3
    shift 3
    "$python" nodes.py "$@" > nodes.csv
    "$carom" overlap --backend cpu --mesh "$1" --spheres nodes.csv --hits closest --accuracy "$mode" -o \
        nodes-closest.csv
    rm -f at.vti at.npy at1.npy
    bake distance --mesh "$@" --accuracy "$mode" --band "$band" --with feature,point --with triangle -o at.vti
    bake distance --mesh "$@" --accuracy "$mode" --band="$band" -o at.npy --threads 1
    bake distance --mesh "$@" --accuracy "$mode" --band "$band" -o at1.npy --backend cpu --isa scalar --threads 2
    equal "$name" "0 wrong of $(($(wc -l < nodes.csv) - 1))" "$("$python" same.py at.vti nodes-closest.csv "$band")"
    check "$name: .npy of other threads and another instruction set" cmp at.npy at1.npy
    check "$name: .npy and .vti hold the same distances" cmp \
        <(tail -c "$((4 * ($(wc -l < nodes.csv) - 1)))" at.npy) \
        <("$python" -c 'import sys
data = open("at.vti", "rb").read()
at = data.index(b"_", data.index(b"<AppendedData")) + 1
sys.stdout.buffer.write(data[at + 8:at + 8 + int.from_bytes(data[at:at + 8], "little")])')
}
if [ -n "$python" ]; then
    valued "values: fast" fast inf wing.off --dims 21,23,25
    valued "values: exact" exact inf wing.off --spacing 0.3
    valued "values: exact ties" exact inf cube.off --spacing 0.25
    valued "values: a band" fast 0.5 cube.off --dims 24,9,31
    valued "values: a band of 0" exact 0 cube.off --spacing 0.25
    valued "values: one node" fast inf cube.off --spacing 1 --dims 1,1,1
else
    skip "values" "no python3 to compare them"
fi
cat > signed.py << 'END' # SIGNED.npy UNSIGNED.npy: of the cube, at multiples of H from -1: minus strictly inside
import struct, sys
signed, plain = ([v[0] for v in struct.iter_unpack('<f', open(p, 'rb').read()[128:])] for p in sys.argv[1:3])
h, n = float(sys.argv[3]), int(sys.argv[4])
at = [-1 + i * h for i in range(n)]
nodes = [(x, y, z) for z in at for y in at for x in at]
wrong = sum(struct.pack('<f', s) != struct.pack('<f', -p if all(0 < c < 1 for c in node) else p)
            for s, p, node in zip(signed, plain, nodes))
print(wrong, 'wrong of', len(signed))
END
if [ -n "$python" ]; then
    around=(--spacing 0.125 --origin '-1,-1,-1' --dims '25,25,25')
    bake distance --mesh cube.off "${around[@]}" -o plain.npy
    for sign in parity winding robust; do
        bake distance --mesh cube.off "${around[@]}" --sign $sign -o signed.npy
        equal "--sign $sign" "0 wrong of 15625" "$("$python" signed.py signed.npy plain.npy 0.125 25)"
    done
fi

# ---- refused ---------------------------------------------------------------------------------------------------------
refused "no mesh" 2 '--mesh FILE or --scene FILE is missing' bake distance --spacing 1 -o no.npy
refused "no output" 2 '-o OUT is missing' bake distance --mesh cube.off --spacing 1
refused "no lattice" 2 'the lattice is missing: give --spacing H or --dims NX,NY,NZ' bake distance --mesh cube.off -o \
    no.npy
for spacing in 0 -1 nan inf x 1x ''; do
    refused "--spacing '$spacing'" 2 '--spacing: expected a finite number > 0' bake distance --mesh cube.off \
        --spacing "$spacing" -o no.npy
done
for dims in 0,1,1 1,1 1,1,1,1 -1,1,1 1.5,1,1 1,1,x 281474976710657,1,1 99999999999999999999,1,1 ''; do
    refused "--dims '$dims'" 2 '--dims: expected three whole numbers' bake distance --mesh cube.off --spacing 1 \
        --dims="$dims" -o no.npy
done
refused "more than 2^48 nodes" 2 'more than 2\^48 nodes' bake distance --mesh cube.off --spacing 1 \
    --dims 1048576,1048576,1048576 -o no.npy
refused "more than 2^48 nodes by the spacing" 2 'more than 2\^48 nodes' bake distance --mesh cube.off --spacing 1e-300 \
    -o no.npy
refused "more than 2^48 nodes by the spacing in all" 2 'more than 2\^48 nodes' bake distance --mesh cube.off \
    --spacing 1e-6 -o no.npy
refused "--dims alone below 6" 2 'each is at least 6' bake distance --mesh cube.off --dims 6,6,5 -o no.npy
refused "--dims and a margin, one node" 2 'no finite spacing follows' bake distance --mesh cube.off --dims 6,6,1 \
    --margin 1 \
    -o no.npy
for origin in 1,2 1,2,x nan,0,0 inf,0,0 1,2,3,4; do
    refused "--origin $origin" 2 '--origin: expected three finite numbers' bake distance --mesh cube.off --spacing 1 \
        --origin "$origin" -o no.npy
done
refused "--margin -1" 2 '--margin: expected a finite number >= 0' bake distance --mesh cube.off --spacing 1 --margin \
    -1 \
    -o no.npy
refused "a node beyond binary32" 2 'node 0 along x is at -1e\+39, which is not finite' bake distance --mesh cube.off \
    --spacing 1 --dims 1,1,1 --origin=-1e39,0,0 -o no.npy
refused "the last node beyond binary32" 2 'node 9 along z is at 9e\+38, which is not finite' bake distance --mesh \
    cube.off \
    --spacing 1e38 --origin 0,0,0 --dims 1,1,10 -o no.npy
# A mesh is refused by its name before its bounds place anything.
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\ninf 1 0\n3 0 1 2\n' > inf.off
sed s/inf/nan/ inf.off > nan.off
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n' > open.off
echo 'this is no mesh' > text.obj
for kind in $(all_kinds); do
    kind_of "$kind"
    nodes=$(nodes_of 4,4,4 4,4) origin=$(nodes_of 0,0,0 0,0)
    for lattice in '--spacing 1' "--spacing 1 --dims $nodes --origin $origin" "--spacing 1 --dims $nodes" \
        "--dims $nodes --margin 1"; do
        for mesh in empty.off text.obj; do
            # shellcheck disable=SC2086
            refused "$kind $lattice: $mesh" 2 "$mesh: holds no triangles" bake $kind --mesh $mesh "${own[@]}" $lattice \
                -o no.npy
        done
        for mesh in inf.off nan.off; do
            # shellcheck disable=SC2086
            refused "$kind $lattice: $mesh" 2 "$mesh: triangle 0, corner 2: vertex 2 has a coordinate that" \
                bake $kind --mesh $mesh "${own[@]}" $lattice -o no.npy
        done
    done
done
refused "an open mesh, parity" 2 \
    'open.off: the mesh is open: 4 edges .*; --sign parity needs a closed mesh, or --allow-open$' \
    bake distance --mesh open.off --sign parity --spacing 1 -o no.npy
refused "an open mesh, winding" 2 \
    'open.off: the mesh is open: 4 edges .*; --sign winding needs a closed mesh, or --allow-open$' \
    bake distance --mesh open.off --sign winding --spacing 1 -o no.npy
refused "a lattice that is too fine" 2 'the lattice of --origin, --spacing, --dims and --margin: node 1 along x' \
    bake clearance --mesh open.off --radius 1 --spacing 1e-6 --origin 1000,0,0 --dims 4,4,4 -o no.npy
refused "--band" 2 '--band: expected a number >= 0 or inf' bake distance --mesh cube.off --spacing 1 --band -1 -o no.npy
refused "--band nan" 2 '--band: expected a number >= 0 or inf' bake distance --mesh cube.off --spacing 1 --band nan \
    -o no.npy
refused "--sign" 2 '--sign: expected none, parity, winding or robust' bake distance --mesh cube.off --spacing 1 \
    --sign odd -o no.npy
for sign in parity winding; do
    refused "--sign $sign of an open mesh" 2 '[0-9]+ .*edges' bake distance --mesh wing.off --spacing 1 --sign $sign \
        -o no.npy
    check "--sign $sign --allow-open" bake distance --mesh wing.off --spacing 1 --sign $sign --allow-open -o open.npy
done
refused "--with" 2 '--with: expected triangle, feature, point or gradient' bake distance --mesh cube.off --spacing 1 \
    --with normal -o no.vti
refused "--with and .npy" 2 'no.npy: a .npy file holds one array' bake distance --mesh cube.off --spacing 1 \
    --with triangle -o no.npy
for part in 0/1 2/1 1 1/ /1 1/x 1/2/3; do
    refused "--part $part" 2 '--part: expected I/N with I from 1 to N' bake distance --mesh cube.off --spacing 1 \
        --part $part -o no.npy
done
refused "a suffix that is no format" 2 \
    'no.txt: the suffix names the format: expected .npy, .nrrd, .vti, .vtkhdf or .h5' bake distance \
    --mesh cube.off --spacing 1 -o no.txt
refused "no suffix" 2 'expected .npy, .nrrd, .vti, .vtkhdf or .h5' bake distance --mesh cube.off --spacing 1 -o ./npy
# shellcheck disable=SC2317
huge() { (ulimit -v 3000000 && bake distance --mesh cube.off --spacing 1e-5 --dims 60000,60000,60000 -o no.npy); }
if ! nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    refused "a list of slabs beyond memory" 1 'out of memory: no.npy would have 8640000[0-9]+ bytes, and the list' huge
fi
refused "--max-memory" 2 '--max-memory 1000: [0-9]+ bytes are needed: [0-9]+ for a slab' bake distance --mesh cube.off \
    --spacing 0.1 --max-memory 1000 -o no.npy
ln -s /dev/null null.npy
refused "a device" 2 'null.npy: a bake needs a regular file' bake distance --mesh cube.off --spacing 1 -o null.npy
refused "the mesh as output" 2 'read as an input' bake distance --mesh cube.off --spacing 1 -o cube.off
refused "a folder that is not there" 1 'nowhere/no.npy: cannot be written' bake distance --mesh cube.off --spacing 1 \
    -o nowhere/no.npy
refused "no room" 1 'no.npy.partial: 1125899906842752 bytes cannot be reserved' bake distance --mesh cube.off \
    --spacing 1 \
    --dims 65536,65536,65536 -o no.npy
refused "bake alone" 2 'expected one of distance, clearance, drop, path, join, status, check' bake
refused "bake of something else" 2 "got 'volume'" bake volume
check "a name of no folder" test -z "$(left)"

# ---- slabs that are a part of some layers ----------------------------------------------------------------------------
# Layers with so many nodes are cut along y, or along x too. Oracle: small lattices of the same nodes, each one slab.
cat > inner.py << 'END' # WHOLE NX NY NZ INNER NX NY NZ AT-X AT-Y AT-Z BYTES: how many nodes of INNER differ
import sys
data, inner = (open(sys.argv[i], 'rb').read()[128:] for i in (1, 5))
(nx, ny, nz), (mx, my, mz), (x, y, z) = (tuple(map(int, sys.argv[i:i + 3])) for i in (2, 6, 9))
size = int(sys.argv[12])
assert len(data) == nx * ny * nz * size and len(inner) == mx * my * mz * size
wrong = 0
for k in range(mz):
    for j in range(my):
        at = (((z + k) * ny + y + j) * nx + x) * size
        for i in range(0, mx * size, size):
            to = ((k * my + j) * mx) * size + i
            wrong += data[at + i:at + i + size] != inner[to:to + size]
print(wrong, 'wrong')
END
h=0.03125
# inner_is NAME KIND BYTES WHOLE NX NY NZ  NX NY NZ AT-X AT-Y AT-Z option...: spacing and origin are powers of two
inner_is() {
    local name=$1 kind=$2 bytes=$3 whole=$4 dims="$5 $6 $7" inner="$8 $9 ${10}" at="${11} ${12} ${13}"
    shift 13
    rm -f inner.npy
    # shellcheck disable=SC2086
    bake "$kind" --mesh cube.off --spacing $h --origin "$(awk -v at="$at" -v h=$h 'BEGIN {
        split(at, i, " "); printf "%.17g,%.17g,%.17g", i[1] * h - 8, i[2] * h - 8, i[3] * h - 0.125 }')" \
        --dims "${inner// /,}" "$@" -o inner.npy
    # shellcheck disable=SC2086
    equal "$name: $inner at $at" "0 wrong" "$("$python" inner.py "$whole" $dims inner.npy $inner $at "$bytes")"
}
if [ -n "$python" ]; then
    bake clearance --mesh cube.off --spacing $h --origin -8,-8,-0.125 --dims 520,650,10 --radius 0.2 -o wide.npy
    equal "layers are cut along y" "12/12 slabs" "$(bake status wide.npy | cut -d ' ' -f 1-2)"
    inner_is "cut along y" clearance 1 wide.npy 520 650 10 60 140 10 250 230 0 --radius 0.2
    inner_is "cut along y" clearance 1 wide.npy 520 650 10 20 30 2 500 620 8 --radius 0.2
    check "cut along y: check" bake check wide.npy --mesh cube.off --samples 2000
    bake distance --mesh cube.off --spacing $h --origin -8,-8,-0.125 --dims 9000,20,10 --band 9 --accuracy exact -o \
        long.npy
    equal "layers are cut along x" "12/12 slabs" "$(bake status long.npy | cut -d ' ' -f 1-2)"
    inner_is "cut along x" distance 4 long.npy 9000 20 10 300 20 10 100 0 0 --band 9 --accuracy exact
    inner_is "cut along x" distance 4 long.npy 9000 20 10 100 6 4 8150 13 6 --band 9 --accuracy exact
    check "cut along x: check" bake check long.npy --mesh cube.off --samples 1000
else
    skip "slabs that are a part of some layers" "no python3 to compare them"
fi
for i in 1 2 3 4 5; do
    bake clearance --mesh cube.off --spacing $h --origin -8,-8,-0.125 --dims 520,650,10 --radius 0.2 --part $i/5 \
        -o piece$i
done
bake join pieces.npy piece4 piece1 piece5 piece3 piece2
check "parts of layers put together" cmp wide.npy pieces.npy
check "a part of layers: check" bake check piece2 --mesh cube.off --samples 500

# ---- parts -----------------------------------------------------------------------------------------------------------
volume=(--mesh cube.off --dims '40,40,200' --threads 2)
slabs=25
bake distance "${volume[@]}" -o wanted.npy
bake distance "${volume[@]}" --with triangle,point -o wanted.vti
equal "status of a whole volume" "$slabs/$slabs slabs 100%" "$(bake status wanted.vti | cut -d ' ' -f 1-3)"
for i in 1 2 3; do bake distance "${volume[@]}" --part $i/3 -o part$i; done
join_is() { # NAME WANTED OUT PART...
    local name=$1 wanted=$2
    shift 2
    rm -f "$1"
    check "$name" bake join "$@"
    check "$name: the same bytes" cmp "$wanted" "$1"
}
join_is "parts in order" wanted.npy joined.npy part1 part2 part3
join_is "parts in another order" wanted.npy joined.npy part3 part1 part2
for i in 1 2 3 4; do
    bake distance "${volume[@]}" --with point,triangle --part $i/4 -o quarter$i.npy --isa scalar --backend cpu
done
join_is "parts of several arrays" wanted.vti joined.vti quarter4.npy quarter2.npy quarter1.npy quarter3.npy
many=()
for ((i = 1; i <= 30; i++)); do
    bake distance "${volume[@]}" --part $i/30 -o many$i
    many+=("many$i")
done
join_is "more parts than slabs" wanted.npy joined.npy "${many[@]}"
bake distance "${volume[@]}" --part 1/1 -o only
join_is "one part" wanted.npy joined.npy only
equal "status of a part" "9/9 slabs 100% distance" "$(bake status part3 | cut -d ' ' -f 1-3,6)"
refused "a missing part" 2 'part 2/3 is missing' bake join no.npy part1 part3
refused "a part twice" 2 'part1: is part 1/3, and so is part1' bake join no.npy part1 part2 part1 part3
refused "a part of another cut" 2 'only: is one of 1 parts, and part1 one of 3' bake join no.npy part1 part2 only
bake distance --mesh cube.off --dims 40,40,200 --accuracy exact --part 2/3 -o foreign
refused "a foreign part" 2 'foreign: is not of the bake of part1; what differs: accuracy exact \(there fast\)$' bake \
    join \
    no.npy part1 foreign part3
refused "no part" 2 'wanted.npy: is no part' bake join no.npy part1 wanted.npy part3
refused "a part that is not there" 2 'nowhere: cannot be read' bake join no.npy nowhere part1
head -c 100000 part2 > short
refused "a part that was cut off" 2 'short: has 100000 bytes, and part 2/3 has' bake join no.npy part1 short part3
cp part2 flipped
printf x | dd of=flipped bs=1 seek=100000 conv=notrunc status=none
refused "a damaged part" 2 'flipped: slab 9 does not have its checksum: the file is damaged' bake join no.npy part1 \
    flipped \
    part3
refused "several arrays in one .npy" 2 'a .npy file holds one array' bake join no.npy quarter1.npy quarter2.npy \
    quarter3.npy quarter4.npy
refused "an output of no format" 2 'the suffix names the format' bake join part1 part2 part3
cp part1 own.npy
refused "a part as output" 2 'own.npy: is read as an input' bake join own.npy own.npy part2 part3
refused "no parts" 2 'expected OUT and the parts' bake join no.npy
refused "status of nothing" 2 'neither the file nor a partial one' bake status nowhere.npy
refused "status of something else" 2 'no output of carom bake' bake status cube.off


# ---- a device --------------------------------------------------------------------------------------------------------
printf '%s\n' cx,cy,cz,radius 0,0,0,1 > one.csv
if "$carom" overlap --backend opencl --mesh cube.off --spheres one.csv --hits closest > /dev/null 2>&1; then
    for sign in none parity robust; do
        bake distance --mesh cube.off --dims 20,20,40 --sign $sign --with triangle,point -o cpu.vti
        check "a device, --sign $sign" bake distance --mesh cube.off --dims 20,20,40 --sign $sign --with \
            triangle,point \
            --backend opencl -o device.vti
        check "a device, --sign $sign: the same bytes" cmp cpu.vti device.vti
    done
else
    skip "a device" "no usable OpenCL device"
fi

# ---- check -----------------------------------------------------------------------------------------------------------
checks() { # NAME STATUS PATTERN option...: carom bake check ends so, and says that
    local name=$1 wanted=$2 pattern=$3 status=0
    shift 3
    bake check "$@" > stdout.txt 2> stderr.txt || status=$?
    if [ $status -ne "$wanted" ]; then
        fail "$name" "status $status, not $wanted: $(head -n 3 stdout.txt stderr.txt)"
    else
        check "$name" grep -qE -- "$pattern" stdout.txt stderr.txt
    fi
}
for mode in fast exact; do
    for sign in none parity winding robust; do
        bake distance --mesh cube.off --spacing 0.25 --accuracy $mode --sign $sign --with triangle,feature,point \
            -o check.vti
        checks "check: $mode, $sign" 0 '^200 of 729 nodes, 200 of them by the reference: 0 differences$' check.vti \
            --mesh cube.off --samples 200
    done
done
grep -v '^3 4 5 6$' cube.off | sed 's/^8 12 0$/8 11 0/' > hole.off
check "--sign robust of a mesh with a hole" bake distance --mesh hole.off --dims 20,20,20 --sign robust -o hole.npy
checks "check: --sign robust of a mesh with a hole" 0 ': 0 differences$' hole.npy --mesh hole.off --samples 500
bake distance --mesh wing.off --dims 20,30,40 --sign robust -o soup.npy
checks "check: --sign robust" 0 ': 0 differences$' soup.npy --mesh wing.off --samples 300
checks "check: every node once" 0 '^729 of 729 nodes, 729 of them by the reference: 0 differences$' check.vti \
    --mesh cube.off --samples 1000
bake distance --mesh wing.off --dims 20,30,40 --band 1 --accuracy exact -o check.npy
cat check.npy > bare.npy # without the attribute
checks "check: options of the bake" 0 ': 0 differences$' bare.npy --mesh wing.off --band 1 --accuracy exact --dims \
    20,30,40
checks "check: the dims are the file's" 0 ': 0 differences$' bare.npy --mesh wing.off --band 1 --accuracy exact
checks "check: says so" 0 'bare.npy: does not say how it was made: taken as from --dims 20,30,40' bare.npy \
    --mesh wing.off --band 1 --accuracy exact --samples 1
checks "check: another band" 1 'bare.npy: node [0-9]+ at .*; computed anew: .*' bare.npy --mesh wing.off --accuracy \
    exact
checks "check: other nodes" 2 'bare.npy: has 20,30,40 nodes; from the options follow 9,10,8' bare.npy --mesh wing.off \
    --spacing 1
for mode in fast exact; do
    bake clearance --mesh wing.off --radius 0.6 --spacing 0.25 --accuracy $mode -o room.npy
    checks "check: clearance, $mode" 0 '^300 of [0-9]+ nodes, 300 of them by the reference: 0 differences$' room.npy \
        --mesh wing.off --samples 300
done
for sign in parity winding robust; do
    bake clearance --mesh cube.off --radius 0.3 --spacing 0.25 --sign $sign -o solid.npy
    checks "check: clearance, --sign $sign" 0 '^729 of 729 nodes, 729 of them by the reference: 0 differences$' \
        solid.npy --mesh cube.off --samples 729
    bake clearance --mesh hole.off --radius 0.05 --spacing 0.25 --sign $sign --allow-open -o solid.npy
    checks "check: clearance of a mesh with a hole, --sign $sign" 0 ': 0 differences$' solid.npy --mesh hole.off \
        --samples 729
done
equal "check: clearances of all three kinds" '0 1 2' \
    "$(tail -c +129 room.npy | od -An -v -tu1 -w1 | sort -un | tr -d ' ' | tr '\n' ' ' | sed 's/ $//')"
# A node whose distance is R + h as real numbers: one sphere touches its cube, the next smaller one does not.
printf 'OFF\n3 1 0\n-1048576 -1048576 %s\n1048576 -1048576 %s\n0 1048576 %s\n3 0 1 2\n' \
    5.302820405006514e-09 5.302820405006514e-09 5.302820405006514e-09 > plane.off
for tie in 0x1.000ep-7=2 0x1.000dfep-7=0; do
    bake clearance --mesh plane.off --radius ${tie%=*} --spacing 0x1.0098eap+0 --origin 0,0,0x1.c0727ep-1 --dims 1,1,1 \
        -o tie.npy
    equal "clearance at a tie, radius ${tie%=*}" "${tie#*=}" "$(tail -c 1 tie.npy | od -An -v -tu1 | tr -d ' ')"
    checks "check: clearance at a tie, radius ${tie%=*}" 0 '^1 of 1 nodes, 1 of them by the reference: 0 differences$' \
        tie.npy --mesh plane.off --samples 1
    rm tie.npy
done
cat room.npy > bare-room.npy
checks "check: clearance without its radius" 2 'does not say how it was made: --radius R is missing' bare-room.npy \
    --mesh wing.off --spacing 0.25
checks "check: clearance of another radius" 1 'node [0-9]+ at .*: clearance [012]; computed anew: [012]' bare-room.npy \
    --mesh wing.off --spacing 0.25 --radius 0.7
checks "check: another mesh" 1 'check.vti: was baked from another mesh' check.vti --mesh wing.off
checks "check: a part" 0 ': 0 differences$' part2 --mesh cube.off --samples 50
cp check.vti bent.vti
printf x | dd of=bent.vti bs=1 seek=900 conv=notrunc status=none
checks "check: the header" 1 'bent.vti: the header is not that of such a volume' bent.vti --mesh cube.off
cp check.vti bent.vti
printf '\001' | dd of=bent.vti bs=1 seek=$(($(stat -c %s bent.vti) - 5000)) conv=notrunc status=none
checks "check: one byte of an answer" 1 'bent.vti: node [0-9]+ at .*; computed anew: ' bent.vti --mesh cube.off \
    --samples 10000
checks "check: and how many nodes" 1 '^729 of 729 nodes, .*: [0-9]+ differences?$' bent.vti --mesh cube.off \
    --samples 10000
head -c 3000 check.vti > bent.vti
checks "check: a file that was cut off" 1 'bent.vti: has 3000 bytes, and must have' bent.vti --mesh cube.off
checks "check: no volume" 2 'cube.off: does not say how it was made, and is no .npy file' cube.off --mesh cube.off
checks "check: no file" 2 'nowhere.npy: cannot be opened' nowhere.npy --mesh cube.off
checks "check: no mesh" 2 '--mesh FILE or --scene FILE is missing' check.vti
checks "check: the same nodes from the same seed" 1 ': [0-9]+ difference' bare.npy --mesh wing.off --accuracy exact \
    --seed 5
first=$(cat stdout.txt stderr.txt)
checks "check: another time" 1 ': [0-9]+ difference' bare.npy --mesh wing.off --accuracy exact --seed 5
equal "check: finds the same" "$first" "$(cat stdout.txt stderr.txt)"

for what in $(all_kinds) path; do
    check "help of $what: -o has no default" \
        grep -qE '^  --output FILE +where to write \(-o FILE\)$' <(bake "$what" --help)
done
check "help of path: all formats of paths" grep -qE '^  --paths FILE .*CSV, \.npy or H5MD' <(bake path --help)

# ---- inputs that a bake would take for its own files -----------------------------------------------------------------
cp cube.off beside.npy.partial
refused "an input that is OUT.partial" 2 'beside.npy.partial: is read as an input' bake distance \
    --mesh beside.npy.partial --dims 8,8,8 -o beside.npy
check "which stays" cmp cube.off beside.npy.partial
mv beside.npy.partial beside.npy.journal
refused "an input that is OUT.journal" 2 'beside.npy.journal: is read as an input' bake distance \
    --mesh beside.npy.journal --dims 8,8,8 -o beside.npy
mkdir there
mv beside.npy.journal there/beside.npy.journal
ln -s there/beside.npy link.npy
refused "and OUT is a link" 2 'link.npy.journal: is read as an input' bake distance --mesh there/beside.npy.journal \
    --dims 8,8,8 -o link.npy
check_end
