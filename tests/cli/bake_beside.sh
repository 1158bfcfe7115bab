#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_beside.sh CAROM TORTURE: the files beside OUT. Several bakes of one OUT leave each other's files alone, whenever
# each of them waits or is killed; files that carom did not make are refused; and a complete OUT is known as such.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
torture=$(realpath "$2")
bake_begin "$1"
hdf5=yes
"$carom" info --backend cpu | grep -q '^build: .*, HDF5 no$' && hdf5=''

one=(--mesh cube.off --dims '40,40,200' --threads 1 --progress none)
other=("${one[@]}" --band 0.5)
slabs=25
bake distance "${one[@]}" -o one.npy
bake distance "${other[@]}" -o other.npy

# waits JOB CALL AT option...: a bake of o.npy in the background that waits before that call; its process is $job
waits() {
    local name=$1 call=$2 at=$3
    shift 3
    TORTURE_CALL=$call TORTURE_AT=$at TORTURE_HOLD=1 TORTURE_HIT=wait-$name LD_PRELOAD=$torture "$carom" bake distance \
        "$@" -o o.npy > "$name.txt" 2>&1 &
    job=$!
    until_true eval "[ -e wait-$name ] || ! kill -0 $job" 2> /dev/null || true
}
# goes_on JOB PROCESS: it goes on to its end; its exit status is $status
goes_on() {
    rm -f "wait-$1"
    status=0
    wait "$2" || status=$?
}
# killed_after SLABS option...: a bake of o.npy that is killed when it has done so many
killed_after() {
    local calls=$(($1 * 2 + 4))
    shift
    { TORTURE_CALL=write TORTURE_AT=$calls TORTURE_KILL=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake distance \
        "$@" -o o.npy > killed.txt 2>&1 || true; } 2> /dev/null
    rm -f hit
}
# continued SLABS: --resume goes on with the work of a bake that killed_after ended, and nothing is left
continued() {
    if ! bake distance "${other[@]}" --resume -o o.npy > stdout.txt 2> stderr.txt; then
        echo "--resume: $(head -n 2 stderr.txt)"
    elif ! grep -q "going on, $1 of $slabs slabs are done" stderr.txt; then
        echo "--resume does not go on with $1 slabs: $(head -n 2 stderr.txt)"
    else
        cmp other.npy o.npy 2>&1 || true
    fi
    left
}

# ---- one ends, another begins ----------------------------------------------------------------------------------------
# The last calls of each kind are those of the end.
TORTURE_COUNTS=counts LD_PRELOAD=$torture bake distance "${one[@]}" -o o.npy
problems='' begun=''
while read -r call count; do
    case $call in
    fsync | rename | unlink) last=3 ;;
    open | write) last=2 ;;
    *) continue ;;
    esac
    for ((at = count > last ? count - last + 1 : 1; at <= count; at++)); do
        rm -f o.npy*
        waits first "$call" $at "${one[@]}"
        killed_after 8 "${other[@]}"
        second=refused
        grep -q 'is locked: another process is baking it' killed.txt || second=begun
        goes_on first $job
        [ $status -eq 0 ] || problems+="$call $at: the first ends with $status: $(cat first.txt)"$'\n'
        if [ $second = begun ]; then
            begun+=" $call $at"
            problem=$(continued 8)
        else
            problem=$(cmp one.npy o.npy 2>&1 || true)$(left)
        fi
        [ -z "$problem" ] || problems+="$call $at, the second is $second: $problem"$'\n'
    done
done < counts
nothing "a bake that ends leaves the files of the next one" "$problems"
check "which may begin after the rename:$begun" test -n "$begun"

# The folder is flushed after the rename, and the second waits before a call of its own.
flush=$(awk '$1 == "fsync" { print $2 }' counts)
problems=''
for place in 'write 20' 'fsync 1' 'unlink 1' 'rename 1' "fsync $flush" 'unlink 2'; do
    rm -f o.npy*
    waits first fsync "$flush" "${one[@]}"
    first=$job
    # shellcheck disable=SC2086 # a call and its number
    waits second $place "${other[@]}"
    second=$job
    goes_on first "$first"
    [ $status -eq 0 ] || problems+="second before $place: the first ends with $status: $(cat first.txt)"$'\n'
    goes_on second "$second"
    [ $status -eq 0 ] || problems+="second before $place: it ends with $status: $(cat second.txt)"$'\n'
    problem=$(cmp other.npy o.npy 2>&1 || true)$(left)
    [ -z "$problem" ] || problems+="second before $place: $problem"$'\n'
done
nothing "the second ends, too" "$problems"

problems=''
for order in 'first second' 'second first'; do
    rm -f o.npy*
    waits first fsync "$flush" "${one[@]}"
    first=$job
    waits second fsync "$flush" "${one[@]}"
    second=$job
    killed_after 8 "${other[@]}"
    for name in $order; do
        goes_on "$name" "${!name}"
        [ $status -eq 0 ] || problems+="$order: $name ends with $status: $(cat "$name.txt")"$'\n'
    done
    problem=$(continued 8)
    [ -z "$problem" ] || problems+="$order: $problem"$'\n'
done
nothing "two that end leave the files of a third" "$problems"

# Killed in the same places, and the same bake goes on
problems=''
while read -r call count; do
    case $call in fsync | rename | unlink | open | write) ;; *) continue ;; esac
    for ((at = count > 4 ? count - 3 : 1; at <= count; at++)); do
        rm -f o.npy* hit
        { TORTURE_CALL=$call TORTURE_AT=$at TORTURE_KILL=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake distance \
            "${one[@]}" -o o.npy > killed.txt 2>&1 || true; } 2> /dev/null
        had=''
        [ ! -e o.npy ] || had=yes
        bake distance "${one[@]}" --resume -o o.npy > stdout.txt 2> stderr.txt || problems+="$call $at: fails"$'\n'
        [ -z "$had" ] || grep -q '^carom: o.npy: is complete$' stderr.txt ||
            problems+="$call $at: is not known as complete: $(cat stderr.txt)"$'\n'
        problem=$(cmp one.npy o.npy 2>&1 || true)$(left)
        [ -z "$problem" ] || problems+="$call $at: $problem"$'\n'
    done
done < counts
nothing "killed while it ends" "$problems"

rm -f o.npy*
echo old > o.npy
waits first write 20 "${one[@]}"
rm o.npy.partial
killed_after 8 "${other[@]}"
goes_on first $job
equal "OUT.partial is removed while a bake writes it, and another begins" 1 $status
check "the first says so" \
    grep -qx 'carom: o.npy: o.npy.partial beside it was removed or replaced while the bake wrote it' \
    first.txt
equal "OUT is as it was" old "$(cat o.npy)"
nothing "the second goes on" "$(continued 8)"

# Where a file system has no locks
for at in 1 2; do
    rm -f o.npy*
    TORTURE_CALL=lock TORTURE_AT=$at TORTURE_HIT=hit LD_PRELOAD=$torture \
        bake distance "${one[@]}" -o o.npy 2> stderr.txt
    check "lock $at fails: the same bytes" cmp one.npy o.npy
    nothing "lock $at fails: nothing is left" "$(left)"
    [ $at -eq 2 ] || check "and that is reported" grep -qx \
        'carom: warning: o.npy.partial: cannot be locked here (No locks available): no other process may bake it' \
        stderr.txt
done

# ---- files of a user -------------------------------------------------------------------------------------------------
printf '%s\n' path,x,y,z 0,0.5,0.5,3 0,0.5,0.5,-3 1,9,9,9 1,9,9,8 > paths.csv
hits=(path --mesh cube.off --paths paths.csv --radius 0.25 --progress none)
kinds=("distance --mesh cube.off --dims 12,12,12 -o u.npy"
    "distance --mesh cube.off --dims 12,12,12 --part 1/2 -o u.part"
    "drop --mesh cube.off --dims 9,9 --ball 0.5 -o u.vti" "${hits[*]} -o u.csv" "${hits[*]} --part 1/2 -o u.part")
[ -z "$hdf5" ] || kinds+=("distance --mesh cube.off --dims 12,12,12 -o u.h5" "${hits[*]} -o u.h5")
words='is there already, and carom did not make it;|is a symbolic link|is no regular file|has 2 names'
for kind in "${kinds[@]}"; do
    out=${kind##* } ends=(partial journal)
    [[ $kind != path*h5 ]] || ends+=(columns)
    for end in "${ends[@]}"; do
        name="$out.$end" problems=''
        for resume in '' --resume; do
            rm -rf u.* mine*
            echo mine > mine
            for how in 'cp mine' 'ln mine' 'ln -s mine' 'ln -s nowhere' mkdir mkfifo; do
                $how "$name"
                before=$(find . -printf '%p %s %T@ %i %l\n' | sort)
                status=0
                # shellcheck disable=SC2086 # words of a command
                said=$(timeout 20 "$carom" bake $kind $resume 2>&1) || status=$?
                after=$(find . -printf '%p %s %T@ %i %l\n' | sort)
                [ $status -eq 2 ] || problems+="$how $resume: status $status: $said"$'\n'
                grep -qE "^carom: $name: ($words)" <<< "$said" || problems+="$how $resume: $said"$'\n'
                # The folder may have been written to.
                [ "$(grep -v '^\. ' <<< "$before")" = "$(grep -v '^\. ' <<< "$after")" ] ||
                    problems+="$how $resume: $(diff <(echo "$before") <(echo "$after") || true)"$'\n'
                rm -rf "$name"
            done
            [ "$(cat mine)" = mine ] || problems+="$resume: mine is $(cat mine)"$'\n'
        done
        nothing "a user's $end: ${kind%% *} -o $out" "$problems"
    done
done
rm -rf u.* mine*

# With a second name of carom's own file
for end in partial journal; do
    rm -f o.npy* second
    killed_after 8 "${other[@]}"
    ln o.npy.$end second
    cp second copy
    refused "OUT.$end with a second name" 2 "o.npy.$end: has 2 names \(hard links\)" bake distance "${other[@]}" \
        --resume -o o.npy
    check "whose content stays" cmp copy second
    mv copy o.npy.$end
    nothing "a copy goes on" "$(continued 8)"
done
rm -f second copy

# Files that carom made, in any state: they count as none
problems=''
for state in 'rm o.npy.journal' ': > o.npy.journal' 'head -c 3000 /dev/zero > o.npy.journal' \
    'printf xxxx | dd of=o.npy.journal conv=notrunc status=none' 'truncate -s 12 o.npy.journal' \
    'rm o.npy.journal && : > o.npy.partial' 'rm o.npy.journal && truncate -s 1000 o.npy.partial' \
    'rm o.npy.journal && truncate -s 20 o.npy.partial' \
    'rm o.npy.journal && head -c 9000 /dev/urandom | dd of=o.npy.partial conv=notrunc status=none' \
    'rm o.npy.journal && cat o.npy.partial > new && mv new o.npy.partial' \
    'rm o.npy.partial' 'rm o.npy.partial && printf x | dd of=o.npy.journal bs=1 seek=20 conv=notrunc status=none'; do
    for resume in '' --resume; do
        rm -f o.npy*
        killed_after 8 "${other[@]}"
        if [[ $state == *urandom* || $state == *xxxx* ]] && [ -z "${attributes-unknown}" ]; then continue; fi
        if [ "${attributes-unknown}" = unknown ]; then
            attributes=$(python3 -c 'import os; os.getxattr("o.npy.partial", "user.carom.bake") and print("yes")' \
                2> /dev/null || true)
        fi
        eval "$state"
        bake distance "${other[@]}" $resume -o o.npy > stdout.txt 2> stderr.txt ||
            problems+="$state; $resume: $(head -n 2 stderr.txt)"$'\n'
        problem=$(cmp other.npy o.npy 2>&1 || true)$(left)
        [ -z "$problem" ] || problems+="$state; $resume: $problem"$'\n'
    done
done
nothing "files of carom without a valid journal" "$problems"
rm -f o.npy*

# ---- an OUT that is complete -----------------------------------------------------------------------------------------
# complete OUT option...: --resume has nothing to do, unless a byte was changed
complete() {
    local out=$1 before
    shift
    rm -f "$out"*
    bake "$@" -o "$out" > stdout.txt 2> stderr.txt
    cp "$out" wanted
    again "$out" "$@"
}
again() {
    local out=$1 before size
    shift
    before=$(stat -c %y "$out")
    bake "$@" --resume -o "$out" > stdout.txt 2> stderr.txt || fail "$out: --resume" "$(cat stderr.txt)"
    if [ -n "$attributes" ]; then
        equal "$out: is complete" "carom: $out: is complete" "$(cat stderr.txt)"
        equal "$out: and stays as it is" "$before" "$(stat -c %y "$out")"
    fi
    nothing "$out: nothing is left" "$(left)"
    size=$(stat -c %s "$out")
    for at in 3 $((size / 2)) $((size - 9)); do
        printf '\377' | dd of="$out" bs=1 seek=$at conv=notrunc status=none
        cmp -s wanted "$out" && printf '\376' | dd of="$out" bs=1 seek=$at conv=notrunc status=none
        bake "$@" --resume -o "$out" > stdout.txt 2> stderr.txt || fail "$out: damaged" "$(cat stderr.txt)"
        check "$out: a damaged byte $at is baked anew" cmp wanted "$out"
        [ -z "$attributes" ] || check "$out: with a word" grep -qx \
            "carom: $out: does not have its checksum, and is made anew" stderr.txt
    done
    truncate -s -1 "$out"
    check "$out: a byte is missing" bake "$@" --resume -o "$out"
    check "$out: and is there again" cmp wanted "$out"
}
volume=(distance --mesh cube.off --dims '12,12,30')
complete c.npy "${volume[@]}"
complete c.vti "${volume[@]}" --with triangle,point
complete c.nrrd "${volume[@]}"
complete c.part "${volume[@]}" --part 1/2
complete c.csv "${hits[@]}"
complete c-part "${hits[@]}" --part 1/2
if [ -n "$hdf5" ]; then
    complete c.h5 "${volume[@]}"
    complete paths.h5 "${hits[@]}"
fi
for i in 1 2; do bake "${volume[@]}" --part $i/2 -o c$i; done
bake join c.npy c2 c1
cp c.npy wanted
again c.npy "${volume[@]}"
for i in 1 2; do bake "${hits[@]}" --part $i/2 -o p$i; done
bake join c.csv p2 p1
cp c.csv wanted
again c.csv "${hits[@]}"

says() { # NAME WANTED option...: what a bake over a complete c.npy says
    local name=$1 wanted=$2
    shift 2
    bake "${volume[@]}" -o c.npy > stdout.txt 2>&1
    bake "${volume[@]}" "$@" -o c.npy > stdout.txt 2> stderr.txt
    [ -z "$attributes" ] || equal "$name" "$wanted" "$(cat stderr.txt)"
}
replaced='carom: c.npy: is complete, of another bake, which differs in: band 2 (there inf); this one replaces it'
says "the same once more" ''
says "another bake replaces it" "$replaced" --band 2
says "with --resume, too" "$replaced" --band 2 --resume

# ---- columns of paths, cut off ---------------------------------------------------------------------------------------
if [ -z "$hdf5" ]; then
    skip "columns" "a build without HDF5"
    check_end
    exit
fi
awk 'BEGIN { print "path,x,y,z"; for (i = 0; i < 20000; i++) printf "%d,.5,.5,%d\n%d,.5,.5,-5\n", i, 5 + i % 3, i }' \
    > many.csv
columns=(path --mesh cube.off --paths many.csv --radius 0.25 --threads 1 --progress none)
TORTURE_COUNTS=counts LD_PRELOAD=$torture bake "${columns[@]}" -o wanted.h5
writes=$(awk '$1 == "write" { print $2 }' counts)
problems=''
# interrupted CALL AT
interrupted() {
    rm -f o.h5* hit
    { TORTURE_CALL=$1 TORTURE_AT=$2 TORTURE_KILL=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake "${columns[@]}" \
        -o o.h5 > killed.txt 2>&1 || true; } 2> /dev/null
}
for lost in 'truncate -s -1 o.h5.partial' 'truncate -s -4096 o.h5.partial' 'truncate -s 0 o.h5.partial' \
    'truncate -s -1 o.h5.journal' 'truncate -s -24 o.h5.journal' 'truncate -s -48 o.h5.journal' \
    'truncate -s -60 o.h5.journal' 'truncate -s 0 o.h5.journal' 'rm o.h5.journal' 'rm o.h5.partial' \
    'rm o.h5.partial o.h5.journal' 'truncate -s -24 o.h5.journal && truncate -s -3 o.h5.partial' :; do
    for at in $((writes - 1)) $((writes - 3)); do
        interrupted write $at
        [ -e o.h5.columns ] || problems+="write $at: no columns are begun"$'\n'
        # Where there are no attributes the journal alone knows whose they are.
        [ -n "$attributes" ] || [[ $lost == :* || $lost == *-*partial && $lost != *journal* ]] || continue
        eval "$lost"
        bake "${columns[@]}" --resume -o o.h5 > stdout.txt 2> stderr.txt ||
            problems+="$lost: $(head -n 2 stderr.txt)"$'\n'
        problem=$(cmp wanted.h5 o.h5 2>&1 || true)$(left)
        [ -z "$problem" ] || problems+="$lost: $problem"$'\n'
    done
done
nothing "killed while columns are written, and a tail is lost" "$problems"
problems=''
unlinks=$(awk '$1 == "unlink" { print $2 }' counts)
for ((at = 1; at <= unlinks; at++)); do
    for damage in : "printf x | dd of=o.h5 bs=1 seek=\$((\$(stat -c %s o.h5) - 9)) conv=notrunc status=none"; do
        interrupted unlink $at
        [ -e o.h5 ] || continue
        eval "$damage"
        bake "${columns[@]}" --resume -o o.h5 > stdout.txt 2> stderr.txt ||
            problems+="unlink $at: $(head -n 2 stderr.txt)"$'\n'
        problem=$(cmp wanted.h5 o.h5 2>&1 || true)$(left)
        [ -z "$problem" ] || problems+="unlink $at, $damage: $problem"$'\n'
    done
done
nothing "killed behind the rename, and OUT.h5 is damaged" "$problems"
interrupted write 20
echo mine > o.h5.columns
refused "a user's OUT.columns beside an interrupted bake" 2 \
    'o.h5.columns: is there already, and carom did not make it' \
    bake "${columns[@]}" --resume -o o.h5
check_end
