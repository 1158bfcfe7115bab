#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_interrupted.sh CAROM TORTURE POWER_CUT: what becomes of a bake that is killed, stopped, cut off from its power,
# out of space, or not alone. CAROM_TEST_EFFORT (of 100) says how many of the moments are tried; 1000 tries all.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
torture=$(realpath "$2")
power_cut=$(realpath "$3")
bake_begin "$1"
effort=${CAROM_TEST_EFFORT:-100}
kind=distance
python=$(command -v python3 || true)
printf '%s\n' OFF '3 1 0' '0 0 0' '1 0 0' '1 1 0' '3 0 1 2' > triangle.off

# ---- the same bytes, whatever happens --------------------------------------------------------------------------------
volume=(--mesh cube.off --dims '40,40,200' --threads 2)
bake distance "${volume[@]}" -o wanted.npy
bake distance "${volume[@]}" --with triangle,point -o wanted.vti
slabs=25
chmod 640 wanted.npy
bake distance "${volume[@]}" -o wanted.npy
equal "a file that is replaced keeps its mode" 640 "$(stat -c %a wanted.npy)"
check "--resume without a partial file starts" bake distance "${volume[@]}" --resume -o new.npy
check "and gives the same bytes" cmp wanted.npy new.npy
nothing "nothing else is left" "$(left)"
rm -f new.npy

# With several threads a thread of its own writes each slab but the last while the next is computed.
threads_of() { # option...: how many threads a bake starts; its bytes are those of wanted.npy
    rm -f new.npy
    TORTURE_COUNTS=counts LD_PRELOAD=$torture bake distance "${volume[@]}" "$@" -o new.npy 2> stderr.txt &&
        cmp wanted.npy new.npy >&2 && awk '$1 == "thread" { print $2 }' counts
}
equal "a slab is written while the next is computed" $((slabs - 1)) \
    $(($(threads_of --threads 2) - $(threads_of --threads 1) - 1))
least=$({ bake distance "${volume[@]}" --max-memory 1 -o none.npy 2>&1 || true; } |
    sed -n 's/.*--max-memory 1: \([0-9]*\) bytes are needed.*/\1/p')
equal "but not where memory is for one slab" 1 \
    $(($(threads_of --threads 2 --max-memory "$least") - $(threads_of --threads 1)))
rm -f new.npy counts

# begun OUT option...: a bake that was stopped after some slabs
stop_after() { # OUT SLABS option...: by the shim
    local out=$1 calls=$2
    shift 2
    rm -f hit "$out" "$out.partial" "$out.journal"
    TORTURE_CALL=write TORTURE_AT=$calls TORTURE_KILL=1 TORTURE_HIT=hit LD_PRELOAD=$torture bake distance "$@" -o \
        "$out" \
        > stdout.txt 2>&1 || true
    [ -e "$out.partial" ] && [ -e "$out.journal" ]
}
resumes() { # NAME WANTED OUT option...: --resume gives these bytes
    local name=$1 wanted=$2 out=$3
    shift 3
    if ! bake distance "$@" --resume -o "$out" > stdout.txt 2> stderr.txt; then
        fail "$name" "$(head -n 3 stderr.txt)"
    elif [ -n "$(left)" ]; then
        fail "$name" "left $(left)"
    else
        check "$name" cmp "$wanted" "$out"
    fi
}
stop_after cut.npy 20 "${volume[@]}"
equal "status of a part of it" "8/$slabs slabs 32% 1280128 bytes distance --spacing" \
    "$(bake status cut.npy | cut -d ' ' -f 1-7)"
refused "a partial file without --resume" 2 "cut.npy.partial: holds 8 of $slabs slabs .*--resume" bake distance \
    "${volume[@]}" -o cut.npy
refused "another spacing" 2 'differs in: spacing .* \(there ' bake distance --mesh cube.off --dims 40,40,200 \
    --spacing 0.1 \
    --resume -o cut.npy
refused "another mesh" 2 'differs in: mesh [0-9a-f]+:1 \(there [0-9a-f]+:12\), spacing' bake distance --mesh \
    triangle.off --spacing 1 \
    --dims 40,40,200 --resume -o cut.npy
refused "another accuracy" 2 'differs in: accuracy exact \(there fast\);' bake distance "${volume[@]}" --accuracy \
    exact \
    --resume -o cut.npy
refused "another kind" 2 'differs in: what clearance \(there distance\);' bake clearance --mesh cube.off \
    --dims 40,40,200 --spacing 0.0625 --radius 1 --resume -o cut.npy
refused "another band" 2 'differs in: band 2 \(there inf\);' bake distance "${volume[@]}" --band 2 --resume -o cut.npy
refused "another part" 2 'differs in: part 1/2 \(there 1/1\), format part \(there npy\);' bake distance "${volume[@]}" \
    --part 1/2 --resume -o cut.npy
scene() { # NUMBERS: a cube, with such an end of its map, and a mask
    printf '%s\n' mesh,m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23,mask "cube.off,1,0,0,0,0,1,0,0,0,0,$1"
}
scene 1,0,0xffffffff > scene.csv
scene 1,1,0xffffffff > moved.csv
scene 1,0,1 > masked.csv
refused "another map of the instance" 2 'differs in: mesh [0-9a-f]+:12 \(there [0-9a-f]+:12\), origin' bake distance \
    --scene moved.csv --dims 40,40,200 --resume -o cut.npy
refused "another mask of the instance" 2 'differs in: mesh [0-9a-f]+:12 \(there [0-9a-f]+:12\);' bake distance \
    --scene masked.csv --dims 40,40,200 --resume -o cut.npy
resumes "other threads and instructions go on" wanted.npy cut.npy --mesh cube.off --dims 40,40,200 --threads 1 --isa \
    scalar \
    --backend cpu --progress none
check "that computed the rest only" grep -q "going on, 8 of $slabs slabs" stderr.txt

stop_after cut.npy 20 --scene scene.csv --dims 40,40,200 --threads 2
refused "a scene with another mask" 2 'differs in: mesh [^ ]* \(there [^ ]*\);' bake distance --scene masked.csv \
    --dims 40,40,200 --resume -o cut.npy
resumes "a scene goes on" wanted.npy cut.npy --scene scene.csv --dims 40,40,200

# 12 slabs that are parts of layers
wide=(--mesh cube.off --dims '9000,20,10' --band 0.01 --with feature)
bake distance "${wide[@]}" -o wide.vti
stop_after cut.vti 300 "${wide[@]}"
resumes "slabs that are parts of layers" wide.vti cut.vti "${wide[@]}"
check "are done one by one" grep -qE "going on, [1-9] of 12 slabs" stderr.txt
stop_after cut.npy 20 "${volume[@]}"
truncate -s -20 cut.npy.journal
resumes "a journal that was cut off" wanted.npy cut.npy "${volume[@]}"
check "costs one slab" grep -q "going on, 7 of $slabs slabs" stderr.txt
stop_after cut.npy 20 "${volume[@]}"
printf x | dd of=cut.npy.journal bs=1 seek=$(($(stat -c %s cut.npy.journal) - 30)) conv=notrunc status=none
resumes "a damaged record" wanted.npy cut.npy "${volume[@]}"
check "costs one slab, too" grep -q "going on, 7 of $slabs slabs" stderr.txt
stop_after cut.npy 20 "${volume[@]}"
printf x | dd of=cut.npy.partial bs=1 seek=200000 conv=notrunc status=none
resumes "a byte that was changed" wanted.npy cut.npy "${volume[@]}"
check "names the slab" grep -q 'cut.npy.partial: slab 3 does not have its checksum, and is computed again' stderr.txt
stop_after cut.npy 20 "${volume[@]}"
truncate -s 100000 cut.npy.partial
resumes "a partial file that was cut off" wanted.npy cut.npy "${volume[@]}"
stop_after cut.npy 20 "${volume[@]}"
printf x | dd of=cut.npy.journal bs=1 seek=20 conv=notrunc status=none
check "a partial file without a valid journal counts as none" bake distance "${volume[@]}" -o cut.npy
check "and is made anew" cmp wanted.npy cut.npy
rm -f cut.npy
: > cut.npy.partial
check "an empty one, too" bake distance "${volume[@]}" -o cut.npy
check "is made anew" cmp wanted.npy cut.npy
nothing "nothing is left of it" "$(left)"

killed "kill -9: .npy" wanted.npy killed.npy "${volume[@]}"
killed "kill -9: .vti" wanted.vti killed.vti "${volume[@]}" --with triangle,point
# The same steps with other headers.
for format in nrrd vtkhdf h5; do
    with=(--with 'triangle,point')
    [ $format != nrrd ] || with=()
    if [ $format != nrrd ] && "$carom" info --backend cpu | grep -q '^build: .*, HDF5 no$'; then
        skip "kill -9: .$format" "this carom was built without HDF5"
        continue
    fi
    bake distance "${volume[@]}" "${with[@]}" -o wanted.$format
    effort=$(((effort + 4) / 5)) killed "kill -9: .$format" wanted.$format killed.$format "${volume[@]}" "${with[@]}"
    stop_after cut.$format 15 "${volume[@]}" "${with[@]}"
    resumes ".$format: a bake that was killed" wanted.$format cut.$format "${volume[@]}" "${with[@]}"
    check ".$format: goes on" grep -q "going on, [1-9][0-9]* of $slabs slabs" stderr.txt
done
bake distance "${volume[@]}" --part 2/3 -o part2
killed "kill -9: a part" part2 killed2 "${volume[@]}" --part 2/3
deadly='' killed "a call that fails" wanted.npy killed.npy "${volume[@]}"

for names in keep lose; do
    export POWER_CUT_NAMES=$names
    fails_at "a power cut: names $names" wanted.npy dark.npy "${volume[@]}"
done
unset POWER_CUT_NAMES
export POWER_CUT_DEAF=1
check "without flushes the file would be torn" eval 'POWER_CUT_AT=0 POWER_CUT_NAMES=keep LD_PRELOAD=$power_cut \
    bake distance "${volume[@]}" -o dark.npy > stdout.txt 2>&1; ! cmp -s wanted.npy dark.npy'
unset POWER_CUT_DEAF
rm -f dark.npy*

# ---- signals, locks, disks -------------------------------------------------------------------------------------------
held() { # OUT CALLS option...: a bake that never returns from that write; its process is $job
    local out=$1 calls=$2
    shift 2
    rm -f hit
    TORTURE_CALL=write TORTURE_AT=$calls TORTURE_HOLD=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake distance \
        "$@" \
        -o "$out" > held.txt 2>&1 &
    job=$!
    until_true test -e hit
}
ended() { # STATUS: so the job ends
    local status=0
    until_true eval '! kill -0 $job' 2> /dev/null || kill -KILL $job
    wait $job 2> /dev/null || status=$?
    equal "${name:-the job} ends so" "$1" $status
}
held locked.npy 20 "${volume[@]}"
refused "a partial file that another process bakes" 2 'locked.npy.partial: is locked: another process is baking it' \
    bake distance "${volume[@]}" -o locked.npy
refused "and --resume" 2 'is locked' bake distance "${volume[@]}" --resume -o locked.npy
equal "its status" 8/$slabs "$(bake status locked.npy | cut -d ' ' -f 1)"
kill -TERM $job
sleep 0.2
check "the first SIGTERM does not end it" kill -0 $job
kill -TERM $job
name="the second SIGTERM" ended 143
resumes "the lock is gone with the process" wanted.npy locked.npy "${volume[@]}"

long=(--mesh cube.off --dims '200,200,400')
for signal in TERM INT; do
    rm -f long.npy long.npy.*
    threads=1
    [ $signal = INT ] || threads=2
    # A background job ignores SIGINT, so something between must set it back.
    starter=("$carom")
    if [ $signal = INT ]; then
        [ -n "$python" ] || continue
        starter=("$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$carom")
    fi
    "${starter[@]}" bake distance "${long[@]}" --threads $threads -o long.npy > held.txt 2>&1 &
    job=$!
    until_true eval '[ "$(stat -c %s long.npy.journal 2> /dev/null || echo 0)" -gt 400 ]' || true
    kill -$signal $job
    name="SIG$signal" ended 75
    check "SIG$signal: the sentence says how to go on" grep -qE \
        '^carom: long.npy: [0-9]+ of 50 slabs are done; .*--resume' \
        held.txt
    check "SIG$signal: the partial file stays" test -e long.npy.partial -a ! -e long.npy
done
[ -e long-wanted.npy ] || bake distance --mesh cube.off --dims 200,200,400 -o long-wanted.npy
resumes "after a signal" long-wanted.npy long.npy "${long[@]}"
rm -f long*

limited() { (ulimit -f 600 && exec "$carom" bake distance "${volume[@]}" -o limited.npy); }
refused "a limit of file sizes" 1 'limited.npy.partial: 1280128 bytes cannot be reserved: File too large' limited
stop_after full.npy 20 "${volume[@]}"
check "no space: a write fails" eval '! TORTURE_CALL=write TORTURE_AT=12 TORTURE_HIT=hit2 LD_PRELOAD=$torture \
    bake distance "${volume[@]}" --resume -o full.npy 2> full.txt'
check "in a sentence" grep -q 'full.npy.partial: cannot be written: No space left on device' full.txt
check "that is resumable" grep -qE 'full.npy: 1[0-9] of 25 slabs are done; the same command with --resume goes on' \
    full.txt
resumes "after a full disk" wanted.npy full.npy "${volume[@]}"
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1000k none disk 2> /dev/null; then
    refused "a full disk, before any work" 1 'small.npy.partial: 1280128 bytes cannot be reserved: No space left' \
        bake distance "${volume[@]}" -o disk/small.npy
    nothing "and nothing is left there" "$(ls -A disk)"
    umount disk
else
    skip "a full disk, before any work" "no small file system can be mounted"
fi
check_end
