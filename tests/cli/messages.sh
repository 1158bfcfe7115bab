#!/bin/bash
# SPDX-License-Identifier: MIT
# messages.sh CAROM: what messages say of strings from outside, of a wrong header, of numbers that are too large, of
# counts.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

columns=cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
rest=,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0
printf '%s\n' $columns 0.25$rest > good.csv
sweep() { "$carom" sweep --backend cpu "$@"; }
# says NAME STATUS TEXT command...: standard error is one line that contains TEXT, and has no control character but its
# end.
says() {
    local name=$1 wanted=$2 text=$3 status=0
    shift 3
    "$@" > stdout.txt 2> stderr.txt < /dev/null || status=$?
    if [ $status -ne "$wanted" ]; then
        fail "$name" "status $status, not $wanted: $(head -n 3 stderr.txt)"
    elif [ "$(wc -l < stderr.txt)" -ne 1 ] ||
        [ "$(tr -d '\n' < stderr.txt | LC_ALL=C tr -d '\40-\176\200-\377' | wc -c)" -ne 0 ]; then
        fail "$name" "not one line of printable characters: $(od -c stderr.txt | head -n 8)"
    elif ! grep -qaF -- "$text" stderr.txt; then
        fail "$name" "no '$text' in: $(head -n 3 stderr.txt)"
    else
        pass "$name"
    fi
}

# ---- strings from outside --------------------------------------------------------------------------------------------
raw=$'red\e[31m\nline\ttab\177\r' shown='red\x1b[31m\nline\ttab\x7f\r'
says "a file that is not there" 2 "$shown" sweep --pairs "$raw"
says "a mesh that is not there" 2 "$shown" sweep --mesh "$raw.off" --spheres good.csv
says "an importer's file" 2 "$shown" sweep --mesh "$raw.glb" --spheres good.csv
says "an output in no folder" 1 "$shown" sweep --pairs good.csv -o "$raw/x"
says "a command" 2 "$shown" "$carom" "$raw"
says "an option" 2 "$shown" sweep "--$raw"
says "an argument" 2 "$shown" sweep "$raw"
for option in --isa --backend --accuracy --threads; do
    says "the value of $option" 2 "$shown" "$carom" sweep $option "$raw"
done
for option in --start --t-max; do says "the value of $option" 2 "$shown" "$carom" sweep $option "$raw"; done
says "the value of --hits" 2 "$shown" sweep --mesh x.off --spheres x.csv --hits "$raw"
for option in --queries --seed; do says "the value of $option" 2 "$shown" "$carom" verify $option "$raw"; done
for option in --scene --from --compare; do says "the value of $option" 2 "$shown" "$carom" bench $option "$raw"; done
says "a device that is not asked" 0 "$shown" "$carom" sweep --device "$raw" --pairs good.csv
says "letters of other languages stay" 2 'größe-雪-Ω.csv' sweep --pairs 'größe-雪-Ω.csv'
says "bytes that are no UTF-8" 2 'a\xff\xc0\xafb\xe2\x82' sweep --pairs $'a\xff\xc0\xafb\xe2\x82'
says "the other controls" 2 'a\u009bb\u0085c' sweep --pairs $'a\xc2\x9bb\xc2\x85c'
says "what turns the direction of writing" 2 'a\u202eb\u2066c\u200f' \
    sweep --pairs $'a\xe2\x80\xaeb\xe2\x81\xa6c\xe2\x80\x8f'
says "a surrogate and what is beyond Unicode" 2 '\xed\xa0\x80\xf4\x90\x80\x80' \
    sweep --pairs $'\xed\xa0\x80\xf4\x90\x80\x80'
says "a long name" 2 "$(printf 'x%.0s' {1..250})" \
    sweep --pairs "$(printf 'x%.0s' {1..250})"$'\n'"$(printf 'y%.0s' {1..2000})"
printf '%s\n' "$columns" $'\e[2J'"$rest" > bad.csv
says "a word of a file" 2 'bad.csv:2: column cx: expected a number, got '\''\x1b[2J'\' sweep --pairs bad.csv
printf '%s\n' $columns,$'a\xc3\xa9\xc2\x9b' 0.25$rest > bad.csv
says "a column of a file" 2 'column aé\u009b: expected a row' sweep --pairs bad.csv
printf '%s\n' "$columns" "$(printf 'é%.0s' {1..40})$rest" > bad.csv
says "a long word is cut between letters" 2 'éé...' sweep --pairs bad.csv
printf 'o \033]0;title\007part\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > name$'\e'.obj
"$carom" info --backend cpu --mesh name$'\e'.obj > info.txt
check "info shows the name of a part" grep -qF 'from 0, \x1b]0;title\apart' info.txt
check "and that of the file" grep -qF 'mesh: name\x1b.obj' info.txt

# ---- headers ---------------------------------------------------------------------------------------------------------
printf 'cx,cy,cz,r\n1,2,3,4\n' > bad.csv
says "what a wrong header has" 2 \
    'bad.csv:1: column radius: expected in the header, got 4 columns: cx, cy, cz, r; also missing: vx, vy' \
    sweep --pairs bad.csv
printf '%s\n' "${columns//,/;}" > bad.csv
says "semicolons" 2 'got 1 column: cx;cy;cz;radius' sweep --pairs bad.csv
printf 'c\033x,%s\n' "$(printf 'column%s,' {1..500})" > bad.csv
says "names are shown, and not all of 502" 2 'got 502 columns: c\x1bx, column1, column2,' sweep --pairs bad.csv
check "bounded" test "$(wc -c < stderr.txt)" -lt 800
printf '%s\n' $columns,wx > bad.csv
says "half a group" 2 'column wy: expected in the header together with the others of its kind, got 17 columns: cx' \
    sweep --pairs bad.csv

# ---- numbers beyond binary32 -----------------------------------------------------------------------------------------
printf '%s\n' $columns 0$rest 1e60$rest inf$rest -Infinity$rest " -3.5e38 $rest" 0x1p128$rest nan$rest \
    1e60,1e60,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 \
    > bad.csv
says "numbers that are too large" 0 \
    'bad.csv:3: column cx: 1e60 is beyond binary32 (3.4e38), which makes the row invalid; 4 rows are so' \
    sweep --pairs bad.csv
printf '%s\n' $columns 0$rest 3.4028235e38$rest inf$rest 1e-60$rest > bad.csv
sweep --pairs bad.csv > stdout.txt 2> stderr.txt
nothing "the largest, infinities that are written and the smallest are no news" "$(cat stderr.txt)"
printf '%s\n' $columns 1e39$rest 1,2 > bad.csv
says "a file that is refused is refused alone" 2 'bad.csv:3: column cz' sweep --pairs bad.csv

# ---- counts ----------------------------------------------------------------------------------------------------------
verify() { "$carom" verify --backend cpu --isa scalar --threads 1 "$@"; }
verify --queries 2000 | sed '/ns/d; / s,/d; /elapsed/d' | grep -o 'reference: [0-9]* queries' > wanted.txt
for count in 2e3 2E3 2e+3 2.0e3 0.002e6 20e2 2000.0 20000e-1; do
    verify --queries $count 2>&1 | grep -o 'reference: [0-9]* queries' > got.txt || true
    check "--queries $count" cmp wanted.txt got.txt
done
for count in 1.5 1e30 0 -1 1e-3 nan inf 1e 1e+ e3 .5e3 1..5 0x10 '1 ' ' 1' 1e3x 281474976710657 18446744073709551616 \
    1e99999999999999999999 0e5 ''; do
    says "--queries '$count'" 2 "--queries: expected a whole number from 1 to 2^48, got '$count'" "$carom" \
        verify --queries "$count"
done
says "--seed 2^64" 2 'a whole number from 0 to 2^64 - 1' "$carom" verify --seed 18446744073709551616
says "--threads 0.5" 2 'a whole number >= 1' sweep --threads 0.5 --pairs good.csv
says "--threads 1e4" 0 '1024 are used' sweep --threads 1e4 --pairs good.csv

# ---- memory ----------------------------------------------------------------------------------------------------------
# A limit at which the command starts and the mesh does not fit is looked for, as libraries take what they like.
awk 'BEGIN { print "OFF\n2000000 0 0"; for (i = 0; i < 2000000; i++) print "0 0 0" }' > many.off
short_of_memory() {
    local kib said='' wanted='^carom: out of memory for [0-9.]+ MiB; the limit of address space leaves [0-9.]+ '
    for ((kib = 40000; kib <= 200000; kib += 5000)); do
        if said=$( (ulimit -v $kib && exec "$carom" info --backend cpu --mesh many.off) 2>&1 > /dev/null); then
            break
        elif [[ $said =~ $wanted([KM]iB|bytes)$ ]]; then
            return
        fi
    done
    echo "last: $said"
    return 1
}
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    skip "memory that runs out" "a limit of address space and this build do not go together"
else
    check "memory that runs out" short_of_memory
fi

check_end
