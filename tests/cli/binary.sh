#!/bin/bash
# SPDX-License-Identifier: MIT
# binary.sh CAROM ROWS_FILES: rows in .npy and .h5 files give the bytes that the same rows give as CSV, for every query
# of the registry and in bounded memory; answers in .h5 are those of the CSV, column by column; what is malformed is
# refused before memory is taken.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
files=$(realpath "$2")
support=$(realpath "$(dirname "$0")/../support")
check_begin "$1"
effort=${CAROM_TEST_EFFORT:-100}

# ---- the same answers ------------------------------------------------------------------------------------------------
"$files" 1 $((2000 + 100 * effort)) > cases.txt
wrong='' count=0
while read -r name kind command; do
    # shellcheck disable=SC2086
    "$carom" $command "$name.csv" --backend cpu -o csv.out
    if [ "$kind" = npy ]; then
        for threads in 1 3; do
            # shellcheck disable=SC2086
            "$carom" $command "$name.npy" --backend cpu --threads $threads -o npy.out
            cmp csv.out npy.out || wrong+="$name, $command; "
        done
        count=$((count + 1))
    fi
done < cases.txt
nothing "rows of .npy files, $count files of every query" "$wrong"
check "optional vectors among them" grep -q '^sweep-floats npy' cases.txt

# ---- .npy ------------------------------------------------------------------------------------------------------------
# npy NAME HEADER [BYTES]: a file with that header, filled up, and so many zero bytes behind it
npy() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$2" > "$1"
    head -c "${3:-0}" /dev/zero >> "$1"
}
array() { echo "{'descr': '${2:-<f4}', 'fortran_order': ${3:-False}, 'shape': ($1), }"; }
overlap() { (ulimit -v 400000 && exec "$carom" overlap --backend cpu --pairs "$@"); }
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    overlap() { "$carom" overlap --backend cpu --pairs "$@"; } # a sanitizer takes more from the start
fi
npy none.npy "$(array '0, 13')"
equal "no rows" overlap,axes "$(overlap none.npy)"
npy two.npy "$(array '2, 13')" 104
equal "two rows" "overlap,axes 1,0 1,0" "$(overlap two.npy | paste -sd ' ')"
shape='two.npy: shape: expected \[rows\]\[14\] \(a0x, a0y, .*, rb\), got \[2\]\[13\]'
refused "rows of another query" 2 "$shape" "$carom" spheres --pairs two.npy
npy wide.npy "$(array '1, 17')" 68
refused "some of an optional vector" 2 \
    'wide.npy: shape: expected \[rows\]\[16\] \(cx, .*\) or \[rows\]\[19\] \(and wx, wy, wz\), got \[1\]\[17\]' \
    "$carom" sweep --pairs wide.npy
# case NAME HEADER BYTES PATTERN
refused_npy() {
    npy bad.npy "$2" "$3"
    refused "$1" 2 "bad.npy: $4" overlap bad.npy -o no.csv
}
refused_npy "one dimension" "$(array '26,')" 104 'shape: expected \[rows\]\[13\] .*, got \[26\]'
refused_npy "three dimensions" "$(array '2, 13, 1')" 104 'shape: expected .*, got \[2\]\[13\]\[1\]'
refused_npy "float64" "$(array '2, 13' '<f8')" 208 "header: expected little-endian float32 .*, which is float64"
refused_npy "big-endian" "$(array '2, 13' '>f4')" 104 "header: .*, which is big-endian float32"
refused_npy "integers" "$(array '2, 13' '<i4')" 104 "header: .*, which is another type"
refused_npy "Fortran order" "$(array '2, 13' '<f4' True)" 104 'header: expected C order, got Fortran order'
refused_npy "a truncated file" "$(array '2, 13')" 103 'announces \[2\]\[13\], which is 104 bytes, and has 103 behind'
refused_npy "bytes behind the rows" "$(array '2, 13')" 108 'announces \[2\]\[13\], which is 104 bytes, and has 108'
refused_npy "10^12 rows" "$(array '1000000000000, 13')" 104 \
    'announces \[1000000000000\]\[13\], which is 52000000000000 bytes, and has 104 behind'
refused_npy "2^64 rows" "$(array '18446744073709551615, 13')" 104 'announces .*, which is more than 2\^64 bytes'
refused_npy "no header" "" 0 "header: expected a dictionary"
printf 'cx,cy\n' > bad.npy
refused "text" 2 'bad.npy: is no .npy file' overlap bad.npy
mkfifo pipe.npy
refused "a pipe" 2 'pipe.npy: is no regular file, which a .npy file must be' overlap pipe.npy
refused "no file" 2 'none-such.npy: cannot be opened' overlap none-such.npy

# ---- bounded memory --------------------------------------------------------------------------------------------------
rows=$((1000000 + 90000 * effort))
npy long.npy "$(array "$rows, 14")"
truncate -s $((128 + 56 * rows)) long.npy # with holes, which are zeros
limit=160000
limited() { (ulimit -v $limit && exec "$@"); }
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    limited() { "$@"; }
fi
in_bounds() {
    limited "$carom" spheres --backend cpu --threads 2 --pairs long.npy -o long.out &&
        [ "$(wc -l < long.out)" -eq $((rows + 1)) ] && [ "$(tail -n 1 long.out)" = touching,-inf,inf ]
}
check "$rows rows in $limit KiB" in_bounds
explained() { "$carom" explain --pairs "$1" --row 5 2>&1 || true; }
equal "explain reads them too" "$(explained sweep.csv)" "$(explained sweep.npy)"

# ---- .h5 -------------------------------------------------------------------------------------------------------------
if { "$carom" spheres --pairs none.h5 2>&1 || true; } | grep -q 'built without HDF5'; then
    refused "a build without HDF5: rows" 2 'spheres.h5: this carom was built without HDF5' "$carom" spheres --pairs \
        spheres.h5
    refused "and answers" 2 'out.h5: this carom was built without HDF5' "$carom" spheres --pairs spheres.csv -o out.h5
    skip "rows and answers in .h5" "a build without HDF5"
    check_end
    exit
fi
python=$(python_with numpy h5py)
if [ -z "$python" ]; then
    skip "rows and answers in .h5" "no python3-h5py"
    check_end
    exit
fi
columns() { "$python" "$support/columns.py" "$@"; }
cut -d ' ' -f 1 cases.txt | sort -u | sed 's/$/.csv/' | xargs "$python" "$support/columns.py" make
wrong='' count=0
while read -r name kind command; do
    count=$((count + 1))
    options=("--accuracy exact" "--backend cpu --threads 2" "--isa scalar")
    # shellcheck disable=SC2206
    options=(${options[count % 3]})
    for to in csv h5; do
        for suffix in csv h5; do
            # shellcheck disable=SC2086
            "$carom" $command "$name.$suffix" "${options[@]}" -o "$count-$suffix.$to"
        done
        cmp $count-csv.$to $count-h5.$to || wrong+="rows of $name, $command; "
    done
    if [ "$kind" = npy ]; then
        # shellcheck disable=SC2086
        "$carom" $command "$name.npy" "${options[@]}" -o npy.h5
        cmp $count-csv.h5 npy.h5 || wrong+="rows of $name.npy, $command; "
    fi
done < cases.txt
nothing "rows in .h5 files, for $count commands" "$wrong"
cp mesh-first.h5 named.hdf5
"$carom" sweep --mesh mesh.off --spheres named.hdf5 -o named-out.hdf5
"$carom" sweep --mesh mesh.off --spheres mesh-first.h5 -o named-out.h5
check "the suffix .hdf5 is .h5" cmp named-out.h5 named-out.hdf5
refused "text as .hdf5" 2 'out.hdf5: explain writes text, and no .hdf5' "$carom" explain --pairs sweep.csv --row 5 \
    -o out.hdf5
nothing "answers in .h5 files" "$(columns same ./*-csv.csv 2>&1)"
"$carom" sweep --mesh mesh.off --spheres mesh-first.csv > piped.csv
"$carom" sweep --mesh mesh.off --spheres - -o piped.h5 < mesh-first.csv
head -n 1 mesh-first.csv > empty.csv
columns make empty.csv
for suffix in csv h5; do
    "$carom" sweep --mesh mesh.off --spheres empty.$suffix -o none-$suffix.h5
    "$carom" sweep --mesh mesh.off --spheres empty.$suffix -o none-$suffix.csv
done
nothing "from a pipe, and of no rows" "$(columns same piped.csv none-csv.csv none-h5.csv 2>&1)"

# ---- what is malformed in .h5 ----------------------------------------------------------------------------------------
cat > bad.py << 'END'
import h5py
import numpy

names = 'cx cy cz radius vx vy vz'.split()

def make(name, change=None, leave=()):
    with h5py.File(name + '.h5', 'w') as to:
        for column in names:
            if column not in leave:
                to[column] = numpy.ones(5, '<f4')
        if change:
            change(to)

def put(name, **how):
    return lambda to: to.create_dataset(name, **how)

make('good')
make('missing', leave=('cy', 'vz'))
make('group', lambda to: to.create_group('cz'), ['cz'])
make('double', put('cx', data=numpy.ones(5, '<f8')), ['cx'])
make('big', put('cx', data=numpy.ones(5, '>f4')), ['cx'])
make('whole', put('cx', data=numpy.ones(5, '<i8')), ['cx'])
make('text', put('cx', data=[b'a'] * 5), ['cx'])
make('signed', put('mask', data=numpy.ones(5, '<i4')))
make('table', put('radius', data=numpy.ones((5, 1), '<f4')), ['radius'])
make('single', put('radius', data=numpy.float32(1)), ['radius'])
make('null', put('radius', data=h5py.Empty('<f4')), ['radius'])
make('short', put('vz', data=numpy.ones(4, '<f4')), ['vz'])
make('announced', put('cx', shape=(10**12,), dtype='<f4'), names)
make('chunks', put('cx', shape=(10**12,), dtype='<f4', chunks=(1000,)), names)
make('hole', put('vz', shape=(5,), dtype='<f4', chunks=(2,)), ['vz'])
make('wide', put('vz', data=numpy.ones(5, '<f4'), chunks=(1 << 25,), maxshape=(None,)), ['vz'])
make('outside', put('vz', shape=(5,), dtype='<f4', external=[('good.h5', 0, 20)]), ['vz'])
layout = h5py.VirtualLayout(shape=(5,), dtype='<f4')
layout[:] = h5py.VirtualSource('good.h5', 'cx', shape=(5,))
make('virtual', lambda to: to.create_virtual_dataset('vz', layout), ['vz'])
make('packed', put('vz', data=numpy.ones(5, '<f4'), compression='lzf'), ['vz'])
make('times', put('t_max', data=numpy.array([1, 2, numpy.inf, -1, 3], '<f4')))
make('nans', put('t_max', data=numpy.array([1, 2, numpy.nan, -1, 3], '<f4')))
with h5py.File('vector.h5', 'w') as to:
    for column in open('sweep.csv').readline().strip().split(',') + ['wy']:
        to[column] = numpy.ones(5, '<f4')
END
"$python" bad.py
head -c -1 good.h5 > cut.h5
head -c 600 good.h5 > head.h5
printf 'cx,cy\n' > csv.h5
mkfifo pipe.h5
# bad FILE PATTERN
bad() { refused "$1.h5" 2 "$1.h5: $2" "$carom" sweep --mesh mesh.off --spheres "$1.h5" -o no.csv; }
sweep() { "$carom" sweep --mesh mesh.off "$@"; }
equal "a good one" 6 "$(sweep --spheres good.h5 | wc -l)"
bad missing 'dataset cy: expected in the root group, and is not there; also missing: vz'
bad group 'cz: expected a dataset: '
bad double "dataset cx: expected little-endian float32, got float64; convert the array with numpy.asarray\(a, '<f4'\)"
bad big 'dataset cx: expected little-endian float32, got big-endian float32'
bad whole 'dataset cx: expected little-endian float32, got int64'
bad text 'dataset cx: expected little-endian float32, got another type'
bad signed 'dataset mask: expected little-endian uint32, got int32'
bad table 'dataset radius: expected one dimension, got 2'
bad single 'dataset radius: expected one dimension, got 0'
bad null 'radius: expected a dataset: its dataspace is null, so it has no numbers'
bad short 'dataset vz: expected 5 rows, as those before it have, got 4'
bad announced 'dataset cx: announces 1000000000000 rows, but its numbers are not all in the file'
bad chunks 'dataset cx: announces 1000000000000 rows, but its numbers are not all in the file'
bad hole 'dataset vz: announces 5 rows, but its numbers are not all in the file'
bad wide 'dataset vz: announces 5 rows, but its chunks are larger than 64 MiB'
bad outside 'dataset vz: announces 5 rows, but its numbers are in other files'
bad virtual 'dataset vz: announces 5 rows, but its numbers are in other files'
bad packed 'dataset vz: announces 5 rows, but they are packed by a filter that HDF5 does not have here'
bad times 'row 3: dataset t_max: expected a number >= 0 or inf, got -1'
bad nans 'row 2: dataset t_max: expected a number >= 0 or inf, got nan'
bad cut 'cannot be opened as HDF5: '
bad head 'cannot be opened as HDF5: '
bad csv 'cannot be opened as HDF5: '
bad pipe 'is no regular file, which an HDF5 file must be'
bad none-such 'cannot be opened: No such file'
refused "some of an optional vector" 2 \
    'vector.h5: dataset wx: expected in the root group together with the others of its kind, and is not there; .* wz' \
    "$carom" sweep --pairs vector.h5
refused "a pipe as .h5" 2 'pipe.h5: is no regular file, which an HDF5 file must be' sweep --spheres good.h5 -o pipe.h5
refused "text as .h5" 2 'out.h5: explain writes text, and no .h5' "$carom" explain --pairs sweep.csv --row 5 -o out.h5
refused "an input as output" 2 'good.h5: is read as an input' sweep --spheres good.h5 -o good.h5

# ---- disks and memory ------------------------------------------------------------------------------------------------
echo old > keep.h5
for input in mesh-first.csv mesh-first.npy; do
    too_long() { (ulimit -f 48 && sweep --spheres "$input" -o "$1"); } # KiB that a file may have
    refused "answers to $input that do not fit" 1 'keep.h5: cannot be written: File too large' too_long keep.h5
done
cat > long.py << 'END'
import sys
import h5py
import numpy

columns = 'a0x a0y a0z a1x a1y a1z ra b0x b0y b0z b1x b1y b1z rb'.split()
with h5py.File('long.h5', 'w') as to:
    for column in columns:
        zeros = numpy.zeros(int(sys.argv[1]), '<f4')
        to.create_dataset(column, data=zeros, chunks=(50000,), compression='gzip', compression_opts=1)
END
"$python" long.py $rows
limit=220000
for input in long.h5 long.npy; do
    in_bounds() { limited "$carom" spheres --backend cpu --threads 2 --pairs "$input" -o "from-${input#*.}.h5"; }
    check "$rows rows of $input in $limit KiB" in_bounds
done
head -n 1 spheres.csv > long.csv
awk -v rows=$rows 'BEGIN { for (i = 0; i < rows; i++) print "0,0,0,0,0,0,0,0,0,0,0,0,0,0" }' >> long.csv
from_text() { limited "$carom" spheres --backend cpu --threads 2 --pairs long.csv -o from-text.h5; }
check "$rows rows of text to .h5 in $limit KiB" from_text
check "the same bytes as from .h5" cmp from-h5.h5 from-text.h5
check "and from .npy" cmp from-npy.h5 from-text.h5
equal "no file is left" '' "$(find . -name '.carom-*')"
check_end
