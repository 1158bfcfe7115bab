#!/bin/bash
# SPDX-License-Identifier: MIT
# damaged.sh CAROM: HDF5 files with bytes that are not what they were. The library crashes on some of them, so each is
# either read or refused by its name, and neither a signal nor a wait without an end comes of it. DAMAGED sets how many
# files of each kind there are.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"
count=${DAMAGED:-24}

printf '%s\n' OFF '4 2 0' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '3 0 1 2' '3 0 2 3' > m.off
awk 'BEGIN { print "cx,cy,cz,radius"; for (i = 0; i < 40; i++) print (i % 7) / 8 "," (i % 5) / 4 ",0.25,0.5" }' > s.csv
if { "$carom" contacts --backend cpu --mesh m.off --spheres s.csv -o old.h5 2>&1 || true; } |
    grep -q 'built without HDF5'; then
    skip "damaged files" "a build without HDF5"
    check_end
    exit
fi

# put FILE OFFSET BYTE
put() {
    local octal
    printf -v octal '\\%03o' "$3"
    printf %b "$octal" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
# ask FILE COMMAND...: the exit status, or what is wrong with it
ask() {
    local file=$1 status=0
    shift
    timeout -k 5 120 "$@" > out.txt 2> err.txt || status=$?
    case $status in
    0) ;;
    1) grep -q "differences\|differ" out.txt err.txt || echo "status 1: $(head -n 1 err.txt)" ;;
    2) grep -q "^carom: $file: " err.txt || echo "a refusal without the name: $(head -n 1 err.txt)" ;;
    *) echo "status $status: $(head -n 1 err.txt)" ;;
    esac
}
# damage NAME FILE COMMAND...: the command reads bad.h5, which is FILE with one, two or three bytes changed
damage() {
    local name=$1 file=$2 size wrong='' i k at byte told
    shift 2
    size=$(stat -c %s "$file")
    RANDOM=44
    for ((i = 0; i < count; i++)); do
        cp "$file" bad.h5
        rm -f bad.h5.* out.csv out.csv.*
        for ((k = 0; k <= i % 3; k++)); do # most of them where the file is described
            at=$(((RANDOM << 15 | RANDOM) % (i % 4 ? (size < 6000 ? size : 6000) : size)))
            byte=$((RANDOM % 2 ? RANDOM % 256 : 255 * (RANDOM % 2)))
            put bad.h5 $at $byte
        done
        told=$(ask bad.h5 "$@")
        [ -z "$told" ] || wrong+="file $i: $told; "
    done
    nothing "$name, $count damaged files" "$wrong"
}

# On this one, of carom's own, HDF5 1.10.8 follows a pointer to nowhere.
contacts=("$carom" contacts --backend cpu --mesh m.off --spheres s.csv)
cp old.h5 bad.h5
put bad.h5 4700 26
nothing "a file that HDF5 crashes on" "$(ask bad.h5 "${contacts[@]}" --previous bad.h5)"
printf 'path,x,y,z\n1,0.5,0.25,1\n1,0.5,0.25,-1\n2,9,9,9\n2,9,9,8\n' > paths.csv
"$carom" bake path --backend cpu --mesh m.off --paths paths.csv --radius 0.25 -o hits.h5
damage "--previous and --ended" old.h5 "${contacts[@]}" --previous bad.h5 --ended ended.h5
damage "bake check" hits.h5 "$carom" bake check bad.h5 --backend cpu --mesh m.off --paths paths.csv --radius 0.25

python=$(python_with numpy h5py)
if [ -z "$python" ]; then
    skip "damaged rows and paths" "no python3-h5py"
    check_end
    exit
fi
"$python" - << 'END'
import h5py
import numpy
draw = numpy.random.default_rng(44)
names = 'cx cy cz radius'.split()
packed = {'chunks': (8,), 'compression': 'gzip', 'shuffle': True}
pairs = [s + end + c for s in 'ab' for end in '01' for c in 'xyz'] + ['ra', 'rb']
for name, columns, how, bounds in (('plain', names, {}, None), ('packed', names, packed, None),
                                   ('late', names, {'chunks': (8,), 'fletcher32': True}, 'latest'),
                                   ('pairs', pairs, {}, None)):
    with h5py.File(name + '.h5', 'w', libver=bounds) as to:
        for column in columns:
            to.create_dataset(column, data=draw.random(40, dtype='f4'), **how)
for name, how in (('paths', {}), ('pieces', {'chunks': (4, 3, 3), 'compression': 'gzip'})):
    with h5py.File(name + '.h5', 'w') as to:
        to.create_dataset('particles/all/position/value', data=draw.random((20, 6, 3), dtype='f4'), **how)
END
path=("$carom" bake path --backend cpu --mesh m.off --paths bad.h5 --radius 0.25 -o out.csv)
damage "--spheres" plain.h5 "$carom" overlap --backend cpu --mesh m.off --spheres bad.h5
damage "--cloud, packed" packed.h5 "$carom" spheres --backend cpu --cloud bad.h5 -o out.h5
damage "--cloud of the latest format" late.h5 "$carom" spheres --backend cpu --cloud bad.h5
damage "--pairs" pairs.h5 "$carom" spheres --backend cpu --pairs bad.h5
damage "--paths" paths.h5 "${path[@]}"
damage "--paths, packed" pieces.h5 "${path[@]}"
check_end
