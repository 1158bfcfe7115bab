#!/bin/bash
# SPDX-License-Identifier: MIT
# path.sh CAROM ORACLE: hits along polylines against the exact reference, segment by segment; the same bytes wherever a
# chunk ends; refusals.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
oracle=$(realpath "$2")
support=$(realpath "$(dirname "$0")/../support")
bake_begin "$1"
effort=${CAROM_TEST_EFFORT:-100}

# ---- by hand ---------------------------------------------------------------------------------------------------------
printf '%s\n' OFF '4 2 0' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '3 0 1 2' '3 0 2 3' > square.off
# Down to the sphere's own radius and on; along; a single point; not finite at last; no hit; touching at a corner.
printf '%s\n' path,x,y,z 7,.5,.25,2 7,.5,.25,0.25 7,.5,.25,-1 3,0,0,5 9,.5,.25,2 9,.5,.25,-2 9,nan,0,0 \
    11,3,3,3 11,3,3,-3 '1.2e1,.25,.5,4' '12.0,.25,.5,3' 12,.25,.5,-1 > hand.csv
hand() { bake path --mesh square.off --paths hand.csv --radius .25 "$@" -o hand-out.csv && cat hand-out.csv; }
header=path,segment,u,triangle,state,x,y,z,nx,ny,nz,feature
none='3,-1,inf,-1,miss,,,,,,,
9,-1,inf,-1,invalid,,,,,,,
11,-1,inf,-1,miss,,,,,,,'
equal "first: u = 1 of a segment" "$header
7,0,1,0,approaching,0.5,0.25,0,0,0,1,F
$none
12,1,0.6875,1,approaching,0.25,0.5,0,0,0,1,F" "$(hand --accuracy exact)"
equal "first: the default" "$(hand --accuracy exact)" "$(hand --accuracy exact --hits first)"
equal "all: u = 1 of a segment and u = 0 of the next" "7,0,0,approaching
7,1,0,touching
7,1,1,approaching" "$(hand --accuracy exact --hits all | sed -n '/^7,/p' | cut -d, -f1,2,4,5)"
equal "any" "path,hit
7,1
3,0
9,
11,0
12,1" "$(hand --hits any)"
# A path of one point is a segment without motion, wherever a chunk ends.
printf '%s\n' path,x,y,z 1,.5,.25,.25 2,.75,.25,.125 3,.5,.25,.5 4,nan,0,0 5,.5,.25,.25 5,.5,.25,.25 6,.75,.25,-.25 \
    > points.csv
points() { bake path --mesh square.off --paths points.csv --radius .25 "$@" -o hand-out.csv && sed 1d hand-out.csv; }
one='1,0,0,0,touching,0.5,0.25,0,0,0,1,F
2,0,0,0,overlapping,0.75,0.25,0,0,0,1,F
3,-1,inf,-1,miss,,,,,,,
4,-1,inf,-1,invalid,,,,,,,
5,0,0,0,touching,0.5,0.25,0,0,0,1,F'
last='6,0,0,0,touching,0.75,0.25,0,0,0,-1,F'
for accuracy in fast exact; do
    equal "paths of one point: first, $accuracy" "$one
$last" "$(points --accuracy $accuracy)"
    equal "paths of one point: all, $accuracy" "$one
$last" "$(points --accuracy $accuracy --hits all)"
done
equal "paths of one point: any" "1,1 2,1 3,0 4, 5,1 6,1" "$(points --hits any | xargs)"
equal "paths of one point: culling keeps them" "$(points --hits all)" "$(points --hits all --cull-back)"
equal "paths of one point: so does skip-parting" "$(points --hits all)" "$(points --hits all --start skip-parting)"
equal "paths of one point: skip does not" "1,0 2,0 3,0 4, 5,0 6,0" "$(points --hits any --start skip | xargs)"
equal "their radius counts" "1,
2,1
3," "$(printf 'path,radius,x,y,z\n1,-1,.5,.5,0\n2,0,.5,.5,0\n3,nan,.5,.5,0\n' > in.csv
    bake path --mesh square.off --paths in.csv --hits any -o out.csv && sed 1d out.csv)"
equal "a start policy" "7,-1,inf,-1,miss,,,,,,," "$(printf 'path,x,y,z\n7,.5,.25,.1\n7,.5,.25,-1\n' > in.csv
    bake path --mesh square.off --paths in.csv --radius .25 --start skip -o out.csv && sed 1d out.csv)"
equal "back faces" "7,-1,inf,-1,miss,,,,,,," "$(printf 'path,x,y,z\n7,.5,.25,-1\n7,.5,.25,1\n' > in.csv
    bake path --mesh square.off --paths in.csv --radius .25 --cull-back -o out.csv && sed 1d out.csv)"
equal "no path" "$header" "$(printf 'path,x,y,z\n' > in.csv
    bake path --mesh square.off --paths in.csv --radius 1 -o out.csv && cat out.csv)"
equal "the last radius of a path is that of no segment" "1,0
2," "$(printf 'path,radius,x,y,z\n1,1,9,9,9\n1,-1,9,9,8\n2,-1,9,9,9\n2,1,9,9,8\n' > in.csv
    bake path --mesh square.off --paths in.csv --hits any -o out.csv && sed 1d out.csv)"

# ---- against the reference -------------------------------------------------------------------------------------------
# compared HITS option...: the columns that the oracle knows
compared() {
    local hits=$1
    shift
    bake path --mesh mesh.off --hits "$hits" --accuracy exact "$@" -o got.csv &&
        if [ "$hits" = any ]; then
            cmp got.csv any.csv
        else
            cut -d, -f1-5,12 got.csv | cmp - "$hits.csv"
        fi
}
wrong=""
for ((seed = 1; seed <= 1 + 20 * effort / 100; seed++)); do
    "$oracle" "$seed" 200 0
    for hits in first all any; do
        compared $hits --paths paths.csv || wrong+="seed $seed, $hits; "
    done
    "$oracle" "$seed" 50 $((1 + seed % 9))
    for hits in first all any; do
        compared $hits --paths paths.npy --radius 0.25 || wrong+="seed $seed, $hits of .npy; "
        compared $hits --paths paths.csv --radius 0.25 || wrong+="seed $seed, $hits of paths of one length; "
    done
done
nothing "the answers of the reference" "$wrong"

# ---- the same bytes --------------------------------------------------------------------------------------------------
"$oracle" 99 150 0
least() { # the least memory
    { bake path --mesh mesh.off "$@" --max-memory 1 -o none.csv 2>&1 || true; } |
        sed 's/.*: \([0-9]*\) bytes are needed/\1/'
}
wrong=""
for hits in first all any; do
    for accuracy in fast exact; do
        options=(--mesh mesh.off --hits "$hits" --accuracy "$accuracy")
        bake path "${options[@]}" --paths paths.csv -o whole.csv
        for way in "--threads 1" "--isa scalar" "--threads 5"; do
            # shellcheck disable=SC2086
            bake path "${options[@]}" --paths paths.csv $way -o got.csv &&
                cmp whole.csv got.csv || wrong+="$hits $way; "
        done
        need=$(least --paths paths.csv --threads 2)
        for ((more = 0; more < 4000; more += 4000 / (1 + effort / 5))); do
            bake path "${options[@]}" --paths paths.csv --threads 2 --max-memory $((need + more)) -o got.csv &&
                cmp whole.csv got.csv || wrong+="$hits $accuracy with $more bytes more; "
        done
    done
done
nothing "wherever a chunk ends, on any threads and instruction sets" "$wrong"
equal "threads are given up before a bake is refused" "$(least --paths paths.csv --threads 1)" \
    "$(least --paths paths.csv --threads 5)"
"$oracle" 98 40 7
bake path --mesh mesh.off --paths paths.csv --radius 0.25 --hits all -o whole.csv
need=$(least --paths paths.npy --radius 0.25)
wrong=""
for more in 0 500 1000 1500 2000 3000 5000; do
    bake path --mesh mesh.off --paths paths.npy --radius 0.25 --hits all --max-memory $((need + more)) -o got.csv &&
        cmp whole.csv got.csv || wrong+="$more bytes more; "
done
nothing "a CSV file and the same points as .npy" "$wrong"
sed 's/$/\r/; s/,/ , /g' paths.csv > other.csv
bake path --mesh mesh.off --paths other.csv --radius 0.25 --hits all -o got.csv
check "a CSV file in other clothes" cmp whole.csv got.csv

# ---- parts -----------------------------------------------------------------------------------------------------------
# parted HITS N option...: parts in another order than theirs, joined, are the rows of a bake of all
parted() {
    local hits=$1 n=$2 i parts=()
    shift 2
    for ((i = n; i >= 1; i--)); do
        bake path --mesh mesh.off --hits "$hits" "$@" --part $i/"$n" -o part$i || return 1
        parts=("part$i" "${parts[@]:1}" "${parts[@]:0:1}")
    done
    rm -f joined.csv
    bake join joined.csv "${parts[@]}" && cmp whole-"$hits".csv joined.csv
}
"$oracle" 97 150 0
wrong=""
for hits in first all any; do
    bake path --mesh mesh.off --paths paths.csv --hits $hits -o whole-$hits.csv
    for n in 1 2 3 7; do parted $hits $n --paths paths.csv || wrong+="$hits $n; "; done
done
parted first 3 --paths paths.csv --max-memory $(($(least --paths paths.csv) + 3000)) || wrong+="small chunks; "
nothing "parts in any order" "$wrong"
printf 'path,x,y,z\n5,0,0,9\n5,0,0,-9\n6,9,9,9\n' > in.csv
bake path --mesh mesh.off --paths in.csv --radius 0.1 -o whole-first.csv
check "more parts than paths" parted first 9 --paths in.csv --radius 0.1
printf 'path,x,y,z\n' > in.csv
bake path --mesh mesh.off --paths in.csv --radius 0.1 -o whole-first.csv
check "parts of no paths" parted first 2 --paths in.csv --radius 0.1
for i in 1 2 3; do bake path --mesh mesh.off --paths paths.csv --part $i/3 -o part$i; done
bake path --mesh mesh.off --paths paths.csv --hits all --part 2/3 -o foreign
bake path --mesh mesh.off --paths paths.csv --part 2/4 -o quarter
bake clearance --mesh mesh.off --dims 20,20,20 --radius 0.1 --part 2/3 -o volume
cp part2 flipped
printf x | dd of=flipped bs=1 seek=1000 conv=notrunc status=none
head -c 1001 part2 > short
refused "a missing part" 2 'part 2/3 is missing' bake join no.csv part1 part3
refused "a part twice" 2 'part1: is part 1/3, and so is part1' bake join no.csv part1 part2 part1 part3
refused "a foreign part" 2 'foreign: is not of the bake of part1; what differs: hits all \(there first\)$' bake join \
    no.csv part1 foreign part3
refused "a part of another cut" 2 'quarter: is one of 4 parts, and part1 one of 3' bake join no.csv part1 quarter part3
refused "a part of a volume" 2 'volume: is not of the bake of part1; what differs: what clearance' bake join no.csv \
    part1 volume part3
refused "a damaged part" 2 'flipped: does not have its checksum: the file is damaged' bake join no.csv part1 flipped \
    part3
refused "a part that was cut off" 2 'short: has 1001 bytes, which are no whole rows' bake join no.csv part1 short part3
refused "a volume's format" 2 'no.nrrd: the suffix names the format: expected .csv' bake join no.nrrd part1 part2 part3
cp part1 own.csv
refused "a part as output" 2 'own.csv: is read as an input' bake join own.csv own.csv part2 part3

# ---- status and check ------------------------------------------------------------------------------------------------
"$oracle" 96 200 0
for hits in first all any; do
    bake path --mesh mesh.off --paths paths.csv --hits $hits --accuracy exact -o checked-$hits.csv
    equal "check: $hits" "200 of 200 paths, 200 of them by the reference: 0 differences" \
        "$(bake check checked-$hits.csv --mesh mesh.off --paths paths.csv --hits $hits --accuracy exact 2> stderr.txt)"
done
bake path --mesh mesh.off --paths paths.csv --start skip --cull-back --hits all -o checked.csv
equal "check of some paths" "20 of 200 paths, 20 of them by the reference: 0 differences" \
    "$(bake check checked.csv --mesh mesh.off --paths paths.csv --start skip --cull-back --hits all --samples 20 \
        --seed 5 2> stderr.txt)"
printf 'path,x,y,z,radius\n0,1,1,1,0.3\n1,2,2,2,0.3\n' > points.csv
bake path --mesh mesh.off --paths points.csv -o point-rows.csv
equal "check of paths of one point" "2 of 2 paths, 2 of them by the reference: 0 differences" \
    "$(bake check point-rows.csv --mesh mesh.off --paths points.csv 2> stderr.txt)"
points=$(($(wc -l < paths.csv) - 1))
slabs=$(((points - points / 2 + 255) / 256))
bake path --mesh mesh.off --paths paths.csv --part 2/2 -o half
check "status of a part" grep -q "^$slabs/$slabs slabs 100% $(stat -c %s half) bytes path .*--part 2/2 --format part$" \
    <(bake status half)
check "check of a part" grep -qE '^[0-9]+ of 200 paths, [0-9]+ of them by the reference: 0 differences$' \
    <(bake check half --mesh mesh.off --paths paths.csv)
cp half half.h5
check "check of a part under any name" grep -q ": 0 differences$" \
    <(bake check half.h5 --mesh mesh.off --paths paths.csv)
# wronged NAME PATTERN SED: a changed row is found. The attribute is lost, so the options are given again.
wronged() {
    sed "$3" checked-first.csv > wrong.csv
    cmp -s checked-first.csv wrong.csv && fail "$1" "nothing was changed"
    refused "$1" 1 "wrong.csv: $2" bake check wrong.csv --mesh mesh.off --paths paths.csv --accuracy exact
}
wronged "check of a changed digit" "path [0-9]+: '.*'; computed anew: '" '50s/,\(.\)\(.*\),/,\1\27,/'
wronged "check of a missing row" "line 70 is of path [0-9]+, where path [0-9]+ is expected; what follows" 70d
wronged "check of a row too many" "path [0-9]+: its rows are not as computed anew" '80{p;s/$/x/}'
wronged "check of a file that was cut off" "ends before path [0-9]+" "\$d"
wronged "check of half a row" "line 90 is no row of a path" '90s/,.*//'
wronged "check of a row that is none" "line 101 is no row of a path" '100a garbage,1,2'
# strange HITS NAME PATTERN SED: a row that does not belong is one difference, of none of the chosen paths too.
strange() {
    sed "$4" checked-"$1".csv > wrong.csv
    refused "$2: $1" 1 "wrong.csv: $3" bake check wrong.csv --mesh mesh.off --paths paths.csv --hits "$1" \
        --accuracy exact --samples 1
    check "$2: $1: one difference" grep -q ': 1 difference$' stdout.txt
}
for hits in first all any; do
    rest=$(sed -n '1s/[^,]//gp' checked-$hits.csv)
    strange $hits "check of a path that is not there" "line 2 is of path 5000, where path [0-9]+ is" "1a 5000$rest"
    strange $hits "check of a path behind the last" "line [0-9]+ is of path 5000, behind the last path" "\$a 5000$rest"
    cat checked-$hits.csv <(sed 1d checked-$hits.csv) > twice.csv
    refused "check of every row twice: $hits" 1 "twice.csv: line [0-9]+ is of path [0-9]+, behind the last path" \
        bake check twice.csv --mesh mesh.off --paths paths.csv --hits $hits --accuracy exact
done
head -c -$((8 + 50)) half > wrong
tail -c 8 half >> wrong
refused "check of a part without its last rows" 1 'wrong: ends before path [0-9]+' bake check wrong \
    --mesh mesh.off --paths paths.csv
cp half wrong
printf '\1' | dd of=wrong bs=1 seek=$(($(stat -c %s half) - 50)) conv=notrunc status=none
refused "check of a part: its checksum, whatever is chosen" 1 'wrong: does not have its checksum' bake check wrong \
    --mesh mesh.off --paths paths.csv --samples 1
wronged "check of other names" "the header is not that of such rows" 1s/path/way/
printf '\1' | dd of=half bs=1 seek=$(($(stat -c %s half) - 50)) conv=notrunc status=none
refused "check of a changed byte of a part" 1 'half: path [0-9]+: its rows are not as computed anew' bake check half \
    --mesh mesh.off --paths paths.csv
refused "check without paths" 2 'half: holds rows of paths: --paths FILE is missing' bake check half --mesh mesh.off
sed '$d' paths.csv > fewer.csv
refused "check against other paths" 1 'half: was baked from other paths: their hash differs' bake check half \
    --mesh mesh.off --paths fewer.csv
refused "check against another mesh" 1 'half: was baked from another mesh' bake check half --mesh square.off \
    --paths paths.csv

# ---- refusals --------------------------------------------------------------------------------------------------------
path() { bake path --mesh square.off "$@"; }
given() { printf '%s\n' "$@" > bad.csv; }
refused "no mesh" 2 'bake path: --mesh FILE or --scene FILE is missing' bake path --paths hand.csv --radius 1 -o out.csv
printf 'OFF\n0 0 0\n' > empty.off
refused "an empty mesh" 2 'empty.off: holds no triangles' \
    bake path --mesh empty.off --paths hand.csv --radius 1 -o out.csv
refused "no paths" 2 'bake path: --paths FILE is missing' path --radius 1 -o out.csv
refused "no output" 2 'bake path: -o OUT.csv is missing' path --paths hand.csv --radius 1
refused "another suffix" 2 'out.nrrd: the suffix names the format: expected .csv' path --paths hand.csv --radius 1 \
    -o out.nrrd
refused "other hits" 2 "--hits: expected first, all or any, got 'some'" path --paths hand.csv --radius 1 --hits some \
    -o out.csv
refused "no radius" 2 'hand.csv: has no column radius, and so --radius R is needed' path --paths hand.csv -o out.csv
given path,x,y,z,radius 1,0,0,0,1
refused "two radii" 2 'bad.csv: has a column radius, and so --radius must not be given' path --paths bad.csv \
    --radius 1 -o out.csv
for radius in -1 nan inf 1x ''; do
    refused "--radius '$radius'" 2 "--radius: expected a finite number >= 0, got '$radius'" path --paths hand.csv \
        --radius="$radius" -o out.csv
done
given path,x,y,z 1,0,0,0 1,0,0,1 2,0,0,0 1,0,0,2
refused "a path that returns" 2 'bad.csv:5: column path: expected the rows of a path one after the other, got path 1' \
    path --paths bad.csv --radius 1 -o out.csv
given path,x,y,z -1,0,0,0
refused "a negative id" 2 "bad.csv:2: column path: expected a whole number from 0 to 9223372036854775807, got '-1'" \
    path --paths bad.csv --radius 1 -o out.csv
given path,x,y,z 1,0,0,0 1,0,0
refused "a short row" 2 'bad.csv:3: column z: expected a row of 4 fields' path --paths bad.csv --radius 1 -o out.csv
{
    printf 'path,x,y,z\n'
    for ((i = 0; i < 2000; i++)); do printf '%d,.5,.5,%d\n' $((i / 20)) $((i % 20 - 10)); done
    printf '7000,0,zero,0\n'
} > bad.csv
refused "a fault far behind leaves no output" 2 "bad.csv:2002: column y: expected a number, got 'zero'" \
    path --paths bad.csv --radius 1 -o out.csv
refused "standard input" 2 '--paths -: is no regular file, which is needed because it is read twice' path --paths - \
    --radius 1 -o out.csv
ln -s /dev/full full.csv
refused "no such file" 2 'none.csv: cannot be opened' path --paths none.csv --radius 1 -o out.csv
refused "the input as output" 2 'hand.csv: is read as an input, which the output would replace' path --paths hand.csv \
    --radius 1 -o hand.csv
refused "a device as output" 2 'full.csv: a bake needs a regular file, because it grows in place' path \
    --paths hand.csv --radius 1 -o full.csv
refused "too little memory" 2 '--max-memory 1000: [0-9]* bytes are needed' path --paths hand.csv --radius 1 \
    --max-memory 1000 -o out.csv

# header_of DESCR ORDER SHAPE BYTES: bad.npy
header_of() {
    local text="{'descr': $1, 'fortran_order': $2, 'shape': $3, }"
    {
        printf '\x93NUMPY\1\0\x76\0%-117s\n' "$text"
        head -c "$4" /dev/zero
    } > bad.npy
}
npy() { refused "$1" 2 "$2" path --paths bad.npy --radius 1 -o out.csv; }
header_of "'<f4'" False '(2, 3, 3)' 72
check "an .npy file" path --paths bad.npy --radius 1 -o out.csv
header_of "'<f8'" False '(2, 3, 3)' 144
npy "float64" "bad.npy: header: expected little-endian float32 \('<f4'\), got '<f8', which is float64"
header_of "'>f4'" False '(2, 3, 3)' 72
npy "big-endian" "got '>f4', which is big-endian float32; convert"
header_of "'<f4'" True '(2, 3, 3)' 72
npy "Fortran order" "expected C order, got Fortran order; convert"
header_of "'<f4'" False '(6, 3)' 72
npy "two dimensions" 'bad.npy: shape: expected \[paths\]\[points\]\[3\] with at least one point, got \[6\]\[3\]'
header_of "'<f4'" False '(2, 3, 4)' 96
npy "four coordinates" 'got \[2\]\[3\]\[4\]'
header_of "'<f4'" False '(1000000000000, 0, 3)' 0
npy "paths without points" 'got \[1000000000000\]\[0\]\[3\]'
header_of "'<f4'" False '(1000000000000, 100, 3)' 72
npy "absurd size" 'announces \[1000000000000\]\[100\]\[3\], which is 1200000000000000 bytes, and has 72 behind'
header_of "'<f4'" False '(2, 3, 3)' 71
npy "truncated" 'which is 72 bytes, and has 71 behind its header'

# ---- H5MD ------------------------------------------------------------------------------------------------------------
python=$(python_with numpy h5py)
if { bake path --mesh mesh.off --paths none.h5 --radius 1 -o out.csv 2>&1 || true; } |
    grep -q 'built without HDF5'; then
    skip "H5MD" "a build without HDF5"
    check_end
    exit
elif [ -z "$python" ]; then
    skip "H5MD" "no python3-h5py"
    check_end
    exit
fi
cat > h5md.py << 'END'
import h5py
import numpy

paths = numpy.load('paths.npy')
value = numpy.ascontiguousarray(paths.transpose(1, 0, 2))
frames, particles = value.shape[:2]

def make(name, group='all', **how):
    with h5py.File(name, 'w') as to:
        if group:
            to.create_dataset('particles/' + group + '/position/value', **how)
        to.attrs['version'] = 1

make('plain.h5', data=value)
make('chunked.h5md', data=value, chunks=(1, particles, 3), compression='gzip')
make('blocks.hdf5', data=value, chunks=(2, 3, 3), maxshape=(None, particles, 3))
sheet = numpy.random.default_rng(1).random((1, 20000, 3), dtype='<f4')
make('frames.h5', data=numpy.repeat(sheet, 300, axis=0), chunks=(1, 20000, 3), compression='gzip', compression_opts=1)
boxes = {'open': ['none'] * 3, 'periodic': ['none', 'periodic', 'none'], 'fixed': numpy.array([b'periodic'] * 3),
         'one': 'periodic', 'odd': numpy.array([1, 1, 1])}
for name, boundary in boxes.items():
    make(name + '-box.h5', data=value)
    with h5py.File(name + '-box.h5', 'a') as to:
        to.create_group('particles/all/box').attrs['boundary'] = boundary
make('double.h5', data=value.astype('<f8'))
make('flat.h5', data=value[:, :, :2])
make('none.h5', data=value[:0])
make('nobody.h5', data=value[:, :0])
make('announced.h5', shape=(10**6, 10**6, 3), dtype='<f4')
make('another.h5', '')
with h5py.File('two.h5', 'w') as to:
    to['particles/a/position/value'] = value
    to['particles/b/position/value'] = value
with h5py.File('empty.h5', 'w') as to:
    to.create_group('particles/all')
with h5py.File('null.h5', 'w') as to:
    to['particles/all/position/value'] = h5py.Empty('<f4')
END
"$python" h5md.py
wrong=""
need=$(least --paths paths.npy --radius 0.25)
for hits in first all any; do
    bake path --mesh mesh.off --paths paths.npy --radius 0.25 --hits $hits -o whole.csv
    for file in plain.h5 chunked.h5md blocks.hdf5; do
        for more in 0 700 1500 3000 4500 6100 1000000; do
            bake path --mesh mesh.off --paths $file --radius 0.25 --hits $hits --max-memory $((need + more)) \
                -o got.csv && cmp whole.csv got.csv || wrong+="$hits of $file with $more bytes more; "
        done
    done
done
nothing "particles of H5MD and the same paths as .npy" "$wrong"
# A box that is periodic is not looked at, and the command says so once.
for box in open periodic fixed one odd; do
    wanted=0
    case $box in periodic | fixed | one) wanted=1 ;; esac
    bake path --mesh mesh.off --paths $box-box.h5 --radius 0.25 --hits any -o got.csv 2> stderr.txt
    equal "a box: $box" "$wanted $(cksum < whole.csv)" \
        "$(grep -c "$box-box.h5: its box is periodic (boundary: .*periodic" stderr.txt) $(cksum < got.csv)"
done
check "what is packed frame by frame is not unpacked for every chunk" timeout 60 "$carom" bake path --backend cpu \
    --mesh mesh.off --paths frames.h5 --radius 0 --hits any -o got.csv
equal "and has a row for each particle" 20001 "$(wc -l < got.csv)"
timeout 3 "$carom" bake path --backend cpu --mesh mesh.off --paths frames.h5 --radius 0 --hits any --threads 1 \
    --max-memory $((need + 400000)) -o less.csv 2> stderr.txt || true
check "memory for small windows alone gets a warning" grep -qE \
    'frames.h5: is packed in pieces of 1 frames of 20000 particles, and unpacked [0-9]+ times .* h5repack' stderr.txt
bake path --mesh mesh.off --paths nobody.h5 --radius 1 -o got.csv
equal "no particle" "$header" "$(cat got.csv)"
# ---- columns ---------------------------------------------------------------------------------------------------------
for hits in first all any; do
    bake path --mesh mesh.off --paths paths.npy --radius 0.25 --hits $hits -o whole-$hits.csv
    bake path --mesh mesh.off --paths plain.h5 --radius 0.25 --hits $hits -o whole-$hits.h5
    for i in 1 2 3; do
        bake path --mesh mesh.off --paths paths.npy --radius 0.25 --hits $hits --part $i/3 -o part-$i
    done
    "$carom" bake join joined.h5 part-3 part-1 part-2
    check "parts joined to columns: $hits" cmp whole-$hits.h5 joined.h5
done
bake path --mesh mesh.off --paths nobody.h5 --radius 1 -o whole-nobody.h5
cp got.csv whole-nobody.csv
nothing "rows as columns" "$("$python" "$support/columns.py" same whole-*.csv 2>&1)"
cp whole-any.h5 kept.h5
echo precious > kept.h5.columns
refused "somebody's OUT.columns" 2 'kept.h5.columns: is there already' bake path --mesh mesh.off --paths plain.h5 \
    --radius 0.25 --hits any -o kept.h5
equal "is left as it is" precious "$(cat kept.h5.columns)"
check "and nothing else is left" test ! -e kept.h5.partial -a ! -e kept.h5.journal
rm kept.h5.columns
bake path --mesh mesh.off --paths plain.h5 --radius 0.25 --hits any -o whole.hdf5
check "the suffix .hdf5 is .h5" cmp whole-any.h5 whole.hdf5
for hits in first all any; do
    equal "check of columns: $hits" "40 of 40 paths, 40 of them by the reference: 0 differences" \
        "$(bake check whole-$hits.h5 --mesh mesh.off --paths paths.npy --hits $hits --radius 0.25 2> stderr.txt)"
done
equal "check of columns of no path" "0 of 0 paths, 0 of them by the reference: 0 differences" \
    "$(bake check whole-nobody.h5 --mesh mesh.off --paths nobody.h5 --radius 1 2> stderr.txt)"
cat > columns.py << 'END'
import shutil
import h5py
import numpy

def make(name, change):
    shutil.copyfile('whole-first.h5', name + '.h5')
    with h5py.File(name + '.h5', 'r+') as to:
        change(to)

def put(name, change):
    def replace(to):
        values = to[name][...]
        del to[name]
        to[name] = change(values)
    return replace

def set(name, at, value):
    def replace(to):
        to[name][at] = value
    return replace

with h5py.File('whole-first.h5', 'r') as rows:
    miss, hit = numpy.flatnonzero(rows['triangle'][...] < 0)[0], numpy.flatnonzero(rows['triangle'][...] >= 0)[0]
    bits = rows['ny'][...].view('<u4')
    bits[hit] ^= 1
    odd = rows['x'][...].view('<u4')
    odd[miss] = 0x7fc00001
make('digit', lambda to: to['ny'].write_direct(bits.view('<f4')))
make('zero', set('x', miss, 0))
make('other-nan', lambda to: to['x'].write_direct(odd.view('<f4')))
make('word', lambda to: to['feature'].id.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.full(len(to['feature']), 77, 'u1'),
                                               to['feature'].id.get_type()))
make('other-path', set('path', 3, 1000))
make('no-state', lambda to: to.pop('state'))
make('wide-u', put('u', lambda a: a.astype('<f8')))
make('less-u', put('u', lambda a: a[:-1]))
make('none-u', put('u', lambda a: h5py.Empty('<f4')))
make('group-u', lambda to: (to.pop('u'), to.create_group('u')))
make('fewer', lambda to: [put(name, lambda a: a[:-2])(to) for name in list(to) if name not in ('state', 'feature')])
END
"$python" columns.py
# wrong FILE STATUS PATTERN
wrong() {
    refused "check of columns: $1" "$2" "$1.h5: $3" bake check "$1.h5" --mesh mesh.off --paths paths.npy --radius 0.25
}
wrong digit 1 'path [0-9]+: its rows are not as computed anew'
wrong zero 1 'path [0-9]+: its rows are not as computed anew'
wrong other-nan 1 'path [0-9]+: its rows are not as computed anew'
wrong word 1 'path [0-9]+: its rows are not as computed anew'
wrong other-path 1 'row 4 is of path 1000, where path 3 is expected; what follows is not compared'
wrong no-state 1 'the datasets are not those of such rows'
wrong wide-u 1 'the datasets are not of the types of such rows'
wrong less-u 1 'the datasets have different lengths'
wrong fewer 1 'the datasets have different lengths'
wrong none-u 2 'u: expected a dataset: its dataspace is null, so it has no numbers'
wrong group-u 2 'u: expected a dataset: '
head -c 900 whole-first.h5 > torn.h5
wrong torn 2 'cannot be opened as HDF5: '
nothing "nothing is left" "$(left)"
h5md() { refused "$1.h5" 2 "$1.h5: $2" bake path --mesh mesh.off --paths "$1.h5" --radius 1 -o out.csv; }
array='particles/all/position/value'
h5md double "$array: expected little-endian float32, got float64"
h5md flat "$array: expected \[frames\]\[particles\]\[3\] with at least one frame, got \[7\]\[40\]\[2\]"
h5md none "$array: expected \[frames\]\[particles\]\[3\] with at least one frame, got \[0\]\[40\]\[3\]"
h5md announced "$array: announces \[1000000\]\[1000000\]\[3\], but its numbers are not all in the file"
h5md another 'expected an H5MD file, with one group in particles'
h5md two 'particles: expected one group, got 2'
h5md empty "$array: expected a dataset"
h5md null "$array: expected a dataset: its dataspace is null, so it has no numbers"
h5md none-such 'cannot be opened: No such file'
check_end
