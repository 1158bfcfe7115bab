#!/bin/bash
# SPDX-License-Identifier: MIT
# stream.sh CAROM: rows pass through in bounded memory, from files and pipes: more of them than a chunk holds (2^20)
# under a limit of address space, malformed rows behind the first chunk, inputs and outputs that never end.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

# ---- pairs -----------------------------------------------------------------------------------------------------------
# A thousand rows, over and over: each place of them is the last of a chunk or a block once.
columns=a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb
for ((i = 0; i < 1000; i++)); do
    printf '%s\n' "0,0,0,$((1 + i % 7)),0,0,$((i % 3)).$i,6,$((i % 5)),0,6,0,-$((i % 11)),1e-$((i % 30))"
done > block.csv
repeat() { for ((k = 0; k < $2; k++)); do cat "$1"; done; }
spheres() { "$carom" spheres --backend cpu --threads 2 "$@"; }
{ echo $columns && cat block.csv; } > small.csv
spheres --pairs small.csv > small.out
tail -n +2 small.out > block.out
repeat block.csv 100 > blocks.csv
repeat block.out 100 > blocks.out
rows() { echo $columns && repeat blocks.csv 25; }
answers() { head -n 1 small.out && repeat blocks.out 25; }

# KiB of address space for 2.5 million rows, which take 140 MB as numbers and were held in twice as much.
limit=150000
limited() { (ulimit -v $limit && "$@"); }
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    limited() { "$@"; } # a sanitizer takes more from the start
fi
from_pipe() { rows | limited spheres --pairs - | cmp - <(answers); }
check "a pipe of 2.5 million rows in $limit KiB" from_pipe
rows > rows.csv
from_file() { limited spheres --pairs rows.csv -o rows.out && cmp rows.out <(answers); }
check "a file of them" from_file
many_threads() { spheres --threads 16 --pairs rows.csv | cmp - <(answers); }
check "by many threads" many_threads
for count in 1048575 1048576 1048577; do
    exactly() { head -n $((count + 1)) rows.csv | spheres --pairs - | cmp - <(answers | head -n $((count + 1))); }
    check "$count rows" exactly
done

# ---- what is malformed far behind ------------------------------------------------------------------------------------
{ head -n 1500001 rows.csv && echo 1,2,three,4,5,6,7,8,9,10,11,12,13,14 && echo 1,2 && cat block.csv; } > late.csv
echo old > keep.csv
late() { # OUTPUT
    local status=0
    spheres --pairs late.csv -o "$1" 2> stderr.txt || status=$?
    test $status -eq 2 && grep -qF "late.csv:1500002: column a0z: expected a number, got 'three'" stderr.txt
}
check "a malformed row in the second chunk" late keep.csv
check "leaves the old output" grep -qx old keep.csv
check "and no other" test -z "$(find . -name '.carom-*')"
late_pipe() { late - > late.out && cmp late.out <(answers | head -n 1048577); }
check "what went to standard output before is whole chunks" late_pipe
beyond() {
    { head -n 1200001 rows.csv && echo 1e39,2,3,4,5,6,7,8,9,10,11,12,13,14 && cat block.csv; } |
        spheres --pairs - 2> stderr.txt | tail -n 1001 | sed -n 1p | grep -x 'invalid,inf,-inf' &&
        grep -qF 'standard input:1200002: column a0x: 1e39 is beyond binary32' stderr.txt
}
check "a number beyond binary32 in the second chunk" beyond

# ---- lists -----------------------------------------------------------------------------------------------------------
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n' > one.off
balls() {
    echo cx,cy,cz,radius
    printf '%s\n' 0.2,0.2,0,1 9,9,9,1 0.1,0.1,0.1,1 > ball.csv
    repeat ball.csv 1000 > balls.csv
    repeat balls.csv 400
}
numbered() { # of three rows the second overlaps nothing
    balls | "$carom" overlap --backend cpu --mesh one.off --spheres - --hits all |
        awk -F, 'NR == 1 { next }
            $1 != 3 * int((NR - 2) / 2) + 2 * (NR % 2) { print "record " NR - 2 ": " $0; exit 1 }
            END { if (NR != 800001) { print NR " lines"; exit 1 } }'
}
check "queries of a list are numbered through" numbered

# ---- progress --------------------------------------------------------------------------------------------------------
slowly() { # the rows come over more than a second
    { head -n 1048577 rows.csv && sleep 1.2 && tail -n +1048578 rows.csv; } |
        spheres --pairs - --progress json > /dev/null 2> stderr.txt && tail -n 1 stderr.txt |
        grep -q '^{"job": "spheres", "unit": "rows", "done": 2500000, "total": null, "share": null, '
}
check "progress counts the rows of a pipe" slowly

# ---- without an end --------------------------------------------------------------------------------------------------
endless() { echo $columns && yes 0,0,0,4,0,0,1,6,0,0,6,0,0,1; }
flowing() { # the reader leaves after three lines, which are written while there is input
    { endless 2> /dev/null | timeout 100 "$carom" spheres --backend cpu --pairs - || true; } | head -n 3 > three.txt
    equal "an input without an end" "state,u_first,u_last approaching,1,2 approaching,1,2" "$(paste -sd ' ' three.txt)"
}
flowing
sweep_columns=cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
falls=0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0
query=0.5,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0
explained() { # ROWS-IN-FRONT ROW-BEHIND
    { echo $sweep_columns && { yes $falls || true; } | head -n "$1" && echo $query && yes "$2"; } 2> /dev/null |
        timeout 100 "$carom" explain --pairs - --row "$1" 2>&1 || true
}
printf '%s\n' $sweep_columns $query > explained.csv
"$carom" explain --pairs explained.csv --row 0 > explained.txt
for row in 0 5 1048575 1048576 1200000; do
    equal "explain reads as far as row $row" "$(cat explained.txt)" "$(explained $row malformed)"
done
{ cat explained.csv && echo 1,2 && cat explained.csv; } > bad.csv
explain_bad() { "$carom" explain --pairs bad.csv --row 2 2>&1 || true; }
equal "and refuses what is malformed in front of it" \
    "carom: bad.csv:3: column cz: expected a row of 16 fields as in the header, got 2" "$(explain_bad)"
check_end
