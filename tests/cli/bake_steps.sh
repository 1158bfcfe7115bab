#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_steps.sh CAROM TORTURE: slabs that take long are written and recorded in steps. The shim's clock makes each look
# at progress come late, so steps are as short as they can be; ties, which integers decide, make them shorter.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
torture=$(realpath "$2")
bake_begin "$1"
python=$(command -v python3 || true)

# Whole numbers and halves: all heights are binary32 numbers.
printf '%s\n' OFF '4 2 0' '0 0 0' '4096 0 4096' '4096 1024 4096' '0 1024 0' '3 0 1 2' '3 0 2 3' > ramp.off
around=(--mesh ramp.off --ball 0 --spacing 0.5 --origin '0.5,0.5' --dims '4000,600')
bake drop "${around[@]}" -o wanted.npy
bake drop "${around[@]}" --part 1/1 -o wanted.part
# Oracle: the height is x.
[ -z "$python" ] || equal "the heights" "0 wrong" "$("$python" -c 'import struct
rows = struct.unpack("<2400000f", open("wanted.npy", "rb").read()[128:])
print(sum(z != 0.5 * (1 + i % 4000) for i, z in enumerate(rows)), "wrong")')"
equal "the map has two slabs" "2/2 slabs" "$(bake status wanted.npy | cut -d ' ' -f 1-2)"

# resumed drop OPTION...: with its messages in stderr.txt
resumed() { bake "$@" --resume 2> stderr.txt; }
slow() { TORTURE_SLOW=1 LD_PRELOAD=$torture bake "$@"; }
check "a slab in steps" slow drop "${around[@]}" -o steps.npy
check "has the same bytes" cmp wanted.npy steps.npy

# killed OUT WRITES option...: by the shim, in the middle of that call
killed() {
    local out=$1 writes=$2
    shift 2
    rm -f "$out" "$out.partial" "$out.journal"
    TORTURE_CALL=write TORTURE_AT=$writes TORTURE_KILL=1 TORTURE_HIT=hit slow drop "$@" -o "$out" > killed.txt 2>&1 ||
        true
    [ -e "$out.partial" ] && [ ! -e "$out" ]
}
for format in npy vti part; do
    part=()
    [ $format != part ] || part=(--part 1/1)
    [ -e wanted.$format ] || bake drop "${around[@]}" -o wanted.$format
    for writes in 8 30; do
        [ $format = npy ] || [ $writes = 30 ] || continue
        name=".$format, killed at write $writes"
        check "$name" killed steps.$format $writes "${around[@]}" "${part[@]}"
        equal "$name: its status" 0/2 "$(bake status steps.$format | cut -d ' ' -f 1)"
        check "$name: goes on" resumed drop "${around[@]}" "${part[@]}" -o steps.$format
        check "$name: behind the rows that are there" grep -qE \
            "steps.$format.partial: slab 0 goes on behind [0-9]+ of its 512 rows" stderr.txt
        check "$name: and has the same bytes" cmp wanted.$format steps.$format
        nothing "$name: nothing else is left" "$(left)"
        rm -f steps.$format
    done
done

killed steps.npy 30 "${around[@]}"
printf x | dd of=steps.npy.partial bs=1 seek=60000 conv=notrunc status=none
check "a byte that was changed" resumed drop "${around[@]}" -o steps.npy
check "is found" grep -q 'the first rows of slab 0 do not have their checksum, and are computed again' stderr.txt
check "and does not stay" cmp wanted.npy steps.npy

killed steps.npy 39 "${around[@]}"
equal "a later slab in work" 1/2 "$(bake status steps.npy | cut -d ' ' -f 1)"
check "goes on" resumed drop "${around[@]}" -o steps.npy
check "behind its rows" grep -qE 'slab 1 goes on behind [0-9]+ of its 88 rows' stderr.txt
check "and the map has the same bytes" cmp wanted.npy steps.npy

# Distances, with more arrays than one, of layers that are whole.
volume=(--mesh cube.off --dims '40,40,200' --with 'point,feature')
bake distance "${volume[@]}" -o wanted3.vti
check "a volume in steps" slow distance "${volume[@]}" -o steps.vti
check "has the same bytes" cmp wanted3.vti steps.vti

# A signal waits for a step.
long=(--mesh ramp.off --ball 0 --spacing 0.5 --origin '0.5,0.5' --dims '4000,1200' --threads 1)
TORTURE_SLOW=1 LD_PRELOAD=$torture "$carom" bake drop "${long[@]}" -o long.npy > held.txt 2>&1 &
job=$!
has_steps() { [ "$(stat -c %s long.npy.journal 2> /dev/null || echo 0)" -gt 400 ]; }
until_true has_steps || true
kill -TERM $job
status=0
wait $job || status=$?
equal "SIGTERM ends it so" 75 $status
check "SIGTERM: the sentence says how to go on" \
    grep -qE 'long.npy: [0-9]+ of [0-9]+ slabs are done; .*--resume' held.txt
check "SIGTERM: --resume goes on" resumed drop "${long[@]}" -o long.npy
check "SIGTERM: in the slab" grep -q 'goes on behind' stderr.txt
bake drop "${long[@]}" -o wanted4.npy
check "SIGTERM: and the map has the same bytes" cmp wanted4.npy long.npy
nothing "nothing else is left" "$(left)"
check_end
