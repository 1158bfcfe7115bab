#!/bin/bash
# SPDX-License-Identifier: MIT
# binary.sh CAROM ROWS_FILES: rows in .npy files give the bytes that the same rows give as CSV, for every query of the
# registry and in bounded memory; what is malformed in them is refused before memory is taken.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
files=$(realpath "$2")
check_begin "$1"
effort=${CAROM_TEST_EFFORT:-100}

# ---- the same answers -----------------------------------------------------------------------------------------------
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

# ---- .npy -----------------------------------------------------------------------------------------------------------
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
refused "output as .npy" 2 'out.npy: overlap writes text, and no .npy' overlap two.npy -o out.npy

# ---- bounded memory -------------------------------------------------------------------------------------------------
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
check_end
