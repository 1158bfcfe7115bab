#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_many.sh CAROM [TORTURE]: one bake into several outputs, and many meshes into a folder. Oracle: the same files by
# a bake of each alone.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
torture=${2:+$(realpath "$2")}
bake_begin "$1"
printf '%s\n' OFF '3 1 0' '0 0 0' '1 0 0' '1 1 0' '3 0 1 2' > triangle.off
volume=(--dims '40,40,200' --threads 1)
slabs=25
formats=(nrrd npy vti)
"$carom" info --backend cpu | grep -q '^build: .*, HDF5 no$' || formats+=(h5 vtkhdf)
mkdir alone
for format in "${formats[@]}"; do
    for mesh in cube triangle; do
        bake distance --mesh $mesh.off "${volume[@]}" -o "alone/$mesh.$format"
    done
done

# ---- several outputs -------------------------------------------------------------------------------------------------
outputs=()
for format in "${formats[@]}"; do outputs+=(-o "many.$format"); done
same() { # NAME FORMAT...: these files have the bytes of a bake of each alone, and nothing else is left
    local name=$1 format
    shift
    for format in "$@"; do check "$name: .$format" cmp "alone/cube.$format" "many.$format"; done
    nothing "$name: nothing else is left" "$(left)"
}
one=(distance --mesh cube.off "${volume[@]}")
bake "${one[@]}" "${outputs[@]}"
same "several outputs" "${formats[@]}"
# The bytes of a volume of several arrays
bake "${one[@]}" --with triangle,point -o alone/more.vti
bake "${one[@]}" --with triangle,point -o more.vti -o again.vti
check "several outputs of several arrays" eval 'cmp alone/more.vti more.vti && cmp alone/more.vti again.vti'
for kind in $(all_kinds); do
    kind_of "$kind"
    lattice=(--dims "$(nodes_of 20,20,20 90,80)")
    for format in vti npy; do bake "$kind" --mesh cube.off "${own[@]}" "${lattice[@]}" -o "alone/kind.$format"; done
    bake "$kind" --mesh cube.off "${own[@]}" "${lattice[@]}" -o kind.vti -o kind.npy
    check "$kind: several outputs" eval 'cmp alone/kind.vti kind.vti && cmp alone/kind.npy kind.npy'
done

expect "--resume finds all complete" 0 '' bake "${one[@]}" "${outputs[@]}" --resume
equal "and says so of each" ${#formats[@]} "$(grep -cE '^carom: many\.[a-z0-9]+: is complete$' stderr.txt)"
rm many.npy
expect "--resume writes the output that is gone" 0 '' bake "${one[@]}" "${outputs[@]}" --resume
same "an output that is gone" "${formats[@]}"
rm many.nrrd
expect "--resume writes the first one from another" 0 '' bake "${one[@]}" "${outputs[@]}" --resume
same "a first output that is gone" "${formats[@]}"

refused "two outputs of one name" 2 'many.vti: two outputs would have this one name' bake "${one[@]}" -o many.vti -o \
    many.vti
bake "${one[@]}" -o hard1.vti
ln hard1.vti hard2.vti
refused "two names of one file" 2 'hard1.vti and hard2.vti: two outputs are one file' bake "${one[@]}" -o hard1.vti -o \
    hard2.vti
refused "nine outputs" 2 '--output i: more than 8 outputs' bake "${one[@]}" -o a -o b -o c -o d -o e -o f -o g -o h -o i
refused "a format that holds one array" 2 'no.npy: a .npy file holds one array' bake "${one[@]}" --with triangle -o \
    no.vti -o no.npy
refused "an unknown suffix" 2 'no.txt: the suffix names the format' bake "${one[@]}" -o no.vti -o no.txt
refused "parts" 2 'a part has one output, and -o names 2' bake "${one[@]}" --part 1/2 -o no1 -o no2
refused "an output that is the mesh" 2 'cube.off: is read as an input' bake "${one[@]}" -o no.vti -o cube.off
printf '%s\n' path,x,y,z 0,0,0,0 > paths.csv
refused "paths" 2 'bake path: has one output, and -o names 2' bake path --mesh cube.off --paths paths.csv --radius 1 \
    -o no.csv -o no2.csv

if [ -n "$torture" ]; then
    # Killed before calls of each kind, then gone on with
    problems='' continued=0
    rm -f many.*
    TORTURE_COUNTS=counts LD_PRELOAD=$torture bake "${one[@]}" -o many.nrrd -o many.npy -o many.vti
    while read -r call count; do
        case $call in write | fsync | rename | unlink | space) ;; *) continue ;; esac
        for ((at = 1; at <= count; at += count / 12 + 1)); do
            rm -f many.* hit
            { TORTURE_KILL=1 TORTURE_CALL=$call TORTURE_AT=$at TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake \
                "${one[@]}" -o many.nrrd -o many.npy -o many.vti > stdout.txt 2>&1 || true; } 2> /dev/null
            for format in nrrd npy vti; do # what has its name is whole
                [ ! -e many.$format ] || cmp -s alone/cube.$format many.$format ||
                    problems+="$call $at: many.$format is not whole"$'\n'
            done
            bake "${one[@]}" -o many.nrrd -o many.npy -o many.vti --resume > stdout.txt 2> stderr.txt ||
                problems+="$call $at: $(head -n 3 stderr.txt)"$'\n'
            continued=$((continued + $(grep -c 'going on, [1-9]' stderr.txt || true)))
            for format in nrrd npy vti; do
                cmp -s alone/cube.$format many.$format || problems+="$call $at: other bytes in .$format"$'\n'
            done
            [ -z "$(left)" ] || problems+="$call $at: left $(left)"$'\n'
        done
    done < counts
    nothing "killed at any time, several outputs go on" "$problems"
    check "some of them with work of before: $continued" test $continued -gt 3

    # An interrupted bake of one output goes on with another beside it, whose slabs are copied.
    rm -f many.* hit
    { TORTURE_KILL=1 TORTURE_CALL=write TORTURE_AT=20 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake "${one[@]}" -o \
        many.nrrd > stdout.txt 2>&1 || true; } 2> /dev/null
    expect "another output beside one that was begun" 0 "many.nrrd.partial: going on, 8 of $slabs slabs" bake \
        "${one[@]}" -o many.npy -o many.nrrd --resume
    same "another output beside one that was begun" npy nrrd
    # No space for the second one
    rm -f many.* hit
    check "a second output without space fails" eval '! TORTURE_CALL=space TORTURE_AT=5 TORTURE_HIT=hit \
        LD_PRELOAD=$torture bake "${one[@]}" -o many.nrrd -o many.npy 2> full.txt'
    check "in a sentence" grep -qE 'many.npy.partial: [0-9]+ bytes cannot be reserved: No space left' full.txt
    nothing "before any work" "$(left)$(ls many.* 2> /dev/null || true)"
    rm -f hit
    check "a second output that cannot be written fails" eval '! TORTURE_CALL=write TORTURE_AT=70 TORTURE_HIT=hit \
        LD_PRELOAD=$torture bake "${one[@]}" -o many.nrrd -o many.npy 2> full.txt'
    check "with its name" grep -q 'many.npy.partial: cannot be written: No space left on device' full.txt
    check "the first one has its name" cmp alone/cube.nrrd many.nrrd
    equal "the other has none" no "$([ -e many.npy ] || echo no)"
    check "which is said" eval "grep -qx 'carom: many.nrrd: is complete' full.txt &&
        grep -qE '^carom: many.npy: [0-9]+ of $slabs slabs are done; the same command with --resume goes on' full.txt"
    expect "and goes on" 0 'many.npy.partial: going on, [1-9]' bake "${one[@]}" -o many.nrrd -o many.npy --resume
    check "by copies" grep -qE "^carom: many.npy: [1-9][0-9]* of $slabs slabs are copied from another output" stderr.txt
    same "a second output that could not be written" nrrd npy
    # One in the middle
    rm -f many.* hit
    check "one of three that cannot be written fails" eval '! TORTURE_CALL=write TORTURE_AT=71 TORTURE_HIT=hit \
        LD_PRELOAD=$torture bake "${one[@]}" -o many.nrrd -o many.npy -o many.vti 2> full.txt'
    equal "the two others are there" 2 "$(cat many.nrrd many.npy many.vti 2> /dev/null | wc -c | {
        read -r bytes
        echo $((bytes / (40 * 40 * 200 * 4)))
    })"
    expect "and the third one follows" 0 'slabs are copied' bake "${one[@]}" -o many.nrrd -o many.npy -o many.vti \
        --resume
    same "one of three" nrrd npy vti
    # Space that no file system reserves
    rm -f many.*
    bytes=$((40 * 40 * 200 * 4))
    check "no space for two, where none is reserved" eval '! TORTURE_FREE=$((bytes * 3 / 2)) LD_PRELOAD=$torture bake \
        "${one[@]}" -o many.nrrd -o many.npy 2> full.txt'
    check "with both bytes" grep -qE \
        "the 2 outputs on this file system need 25[0-9]+ bytes more, and $((bytes * 3 / 2)) are free" full.txt
    nothing "before any work, where none is reserved" "$(left)$(ls many.* 2> /dev/null || true)"
    check "space for two" eval 'TORTURE_FREE=$((bytes * 2 + 10000)) LD_PRELOAD=$torture bake "${one[@]}" -o many.nrrd \
        -o many.npy 2> full.txt'
    same "space for two" nrrd npy
else
    skip "kills" "nothing can be put in front of this build"
fi

# ---- many meshes -----------------------------------------------------------------------------------------------------
mkdir -p out 'in' 'in/a b' twice
cp cube.off 'in/a b/küb #1.off'
cp triangle.off in/triangle.off
echo 'this is no mesh' > in/wrong.off
printf '\xef\xbb\xbf# meshes\r\n\n  \n../cube.off\r\na b/küb #1.off\ntriangle.off' > in/list.txt
folder=(distance "${volume[@]}" -o out/)
expect "a list of meshes" 0 '^carom: out/: 3 of 3 meshes are there: 3 baked, 0 up to date before; 0 failed$' bake \
    "${folder[@]}" --meshes in/list.txt --format nrrd,npy
equal "have their names" 'cube.npy cube.nrrd küb #1.npy küb #1.nrrd triangle.npy triangle.nrrd ' \
    "$(cd out && printf '%s\n' * | LC_ALL=C sort | tr '\n' ' ')"
for format in nrrd npy; do
    check "bytes of a bake alone: .$format" eval 'cmp alone/cube.$format out/cube.$format &&
        cmp alone/cube.$format "out/küb #1.$format" && cmp alone/triangle.$format out/triangle.$format'
done
nothing "nothing else is left" "$(left)"
stat -c '%n %i %y' out/* > before.txt
expect "once more" 0 '^carom: out/: 3 of 3 meshes are there: 0 baked, 3 up to date before; 0 failed$' bake \
    "${folder[@]}" --meshes in/list.txt --format nrrd,npy
equal "each is said to be up to date" 3 "$(grep -cE '^carom: [1-3] of 3: .*: is up to date$' stderr.txt)"
equal "and is left alone" "$(cat before.txt)" "$(stat -c '%n %i %y' out/*)"
printf '%s\n' OFF '3 1 0' '0 0 0' '1 0 0' '1 1 1' '3 0 1 2' > in/triangle.off
bake distance --mesh in/triangle.off "${volume[@]}" -o alone/other.npy
expect "a mesh that has changed" 0 '^carom: out/: 3 of 3 meshes are there: 1 baked, 2 up to date before; 0 failed$' \
    bake "${folder[@]}" --meshes in/list.txt --format nrrd,npy
check "is baked anew" cmp alone/other.npy out/triangle.npy
expect "another accuracy" 0 ' 3 baked, 0 up to date' bake "${folder[@]}" --meshes in/list.txt --format nrrd,npy \
    --accuracy exact
# What a copy without attributes, or a partial file that a user has renamed, says of itself
rm -f out/*
bake "${folder[@]}" --mesh cube.off --format vti
cat out/cube.vti > copy && rm out/cube.vti && cat copy > out/cube.vti
expect "a copy is known by its header" 0 ' 0 baked, 1 up to date' bake "${folder[@]}" --mesh cube.off --format vti
head -c -1 copy > out/cube.vti
expect "but not if it is shorter" 0 ' 1 baked, 0 up to date' bake "${folder[@]}" --mesh cube.off --format vti
check "which is made anew" cmp copy out/cube.vti

# A user's own file is not replaced, because its name was not typed.
for format in npy vti; do
    cp copy out/cube.vti
    echo mine > out/cube.$format
    cp cube.off own.off
    expect "a user's own .$format" 1 "out/cube.$format: is there already, and nothing in it says that carom baked it" \
        bake "${folder[@]}" --mesh cube.off --mesh own.off --format npy,vti
    equal "stays: .$format" mine "$(cat out/cube.$format)"
    check "the others are baked: .$format" cmp copy out/own.vti
    rm -f out/*
done
bake "${folder[@]}" --mesh cube.off --format npy 2> stderr.txt
cat out/cube.npy > copy.npy && rm out/cube.npy && cat copy.npy > out/cube.npy
expect "a .npy copy without its attributes is baked again" 0 ' 1 baked, 0 up to date' bake "${folder[@]}" --mesh \
    cube.off --format npy
head -c -4 copy.npy > copy2.npy && rm out/cube.npy && cat copy2.npy > out/cube.npy
expect "a .npy file of another size is not" 1 'out/cube.npy: is there already' bake "${folder[@]}" --mesh cube.off \
    --format npy
mkdir -p damaged && cp alone/cube.nrrd damaged/a.nrrd
printf x | dd of=damaged/a.nrrd bs=1 seek=5000 conv=notrunc status=none
bake "${one[@]}" -o damaged/a.npy
bake "${one[@]}" -o damaged/a.npy -o damaged/a.nrrd --resume 2> stderr.txt
check "a damaged output is copied" cmp alone/cube.nrrd damaged/a.nrrd
check "and that is said" grep -q "damaged/a.nrrd: $slabs of $slabs slabs are copied from another output" stderr.txt

# One fails, the others do not.
rm -f out/*
expect "a file that is no mesh" 1 '^carom: out/: 2 of 3 meshes are there: 2 baked, 0 up to date before; 1 failed$' \
    bake "${folder[@]}" --mesh in/wrong.off --mesh cube.off --mesh triangle.off --format npy
check "is named where it fails" grep -qx 'carom: 1 of 3: in/wrong.off: failed' stderr.txt
check "and in the end" grep -qx 'carom: out/: failed: in/wrong.off' stderr.txt
check "the others are there" eval 'cmp alone/cube.npy out/cube.npy && cmp alone/triangle.npy out/triangle.npy'
echo mine > out/wrong.npy.partial
cp cube.off in/wrong.off
expect "a partial file that carom did not make" 1 'out/wrong.npy.partial: is there already, and carom did not make it' \
    bake "${folder[@]}" --mesh in/wrong.off --format npy
equal "stays" mine "$(cat out/wrong.npy.partial)"
rm out/wrong.npy.partial

rm -f out/*
for kind in $(all_kinds); do
    kind_of "$kind"
    lattice=(--dims "$(nodes_of 20,20,20 90,80)")
    bake "$kind" --mesh cube.off "${own[@]}" "${lattice[@]}" -o alone/kind.npy
    rm -f out/*
    bake "$kind" --mesh cube.off --mesh 'in/a b/küb #1.off' "${own[@]}" "${lattice[@]}" -o out --format npy \
        2> stderr.txt
    check "$kind: a folder" eval 'cmp alone/kind.npy out/cube.npy && cmp alone/kind.npy "out/küb #1.npy"'
done

# ---- refused before anything is baked --------------------------------------------------------------------------------
rm -f out/*
cp cube.off twice/cube.obj
refused "two meshes of one name" 2 'cube.off and twice/cube.obj: both outputs would have the name cube$' bake \
    "${folder[@]}" --mesh triangle.off --mesh cube.off --mesh twice/cube.obj --format npy
refused "meshes that are not there" 2 'no2.off: No such file' bake "${folder[@]}" --mesh cube.off --mesh no1.off \
    --mesh no2.off --format npy
check "are all named" grep -qx 'carom: no1.off: No such file or directory' stderr.txt
printf '%s\n' ../cube.off nothing.off > in/lost.txt
refused "one of a list" 2 'in/lost.txt:2: in/nothing.off: No such file or directory$' bake "${folder[@]}" \
    --meshes in/lost.txt --format npy
printf 'a\0b\n' > in/zero.txt
refused "a byte 0 in a list" 2 'in/zero.txt:1: a name with a byte 0' bake "${folder[@]}" --meshes in/zero.txt \
    --format npy
printf '%s\n' ../cube.off '../cube.off ' > in/blank.txt
refused "a name with a blank at its end" 2 "in/blank.txt:2: '.*cube.off ': No such file" bake "${folder[@]}" --meshes \
    in/blank.txt --format npy
printf '%s\n' ../cube.off '' ../twice/cube.obj > in/stems.txt
refused "two meshes of one name in a list" 2 \
    'in/stems.txt:1: .*cube.off and in/stems.txt:3: .*cube.obj: both outputs would have the name cube$' bake \
    "${folder[@]}" --meshes in/stems.txt --format npy
refused "two lists" 2 '--meshes in/list.txt: there is one, and --meshes in/lost.txt is given already' bake \
    "${folder[@]}" --meshes in/lost.txt --meshes in/list.txt --format npy
refused "--dims without room, before a mesh is read" 2 '--dims: each is at least 6' bake distance --dims 5,9,9 --mesh \
    in/wrong.off --mesh cube.off --format npy -o out/
nothing "and no mesh is told of" "$(grep ' of 2' stderr.txt || true)"
refused "a device that is not there" 1 '--device nowhere: ' bake "${folder[@]}" --backend opencl --mesh cube.off \
    --mesh triangle.off --format npy --device nowhere
nothing "and no mesh failed by it" "$(grep ' of 2' stderr.txt || true)"
rm -f out/*
ln -s cube.npy out/triangle.npy
refused "a link to an output that will be" 2 'out/cube.npy and out/triangle.npy are one file|one file, by a link' bake \
    "${folder[@]}" --mesh cube.off --mesh triangle.off --format npy
bake "${folder[@]}" --mesh cube.off --format npy 2> stderr.txt
refused "a link to an output that is there" 2 'one file, by a link: remove one of them' bake "${folder[@]}" --mesh \
    cube.off --mesh triangle.off --format npy
check "which stays" cmp alone/cube.npy out/cube.npy
rm -f out/*
printf '# none\n' > in/none.txt
refused "an empty list" 2 'in/none.txt: names no mesh$' bake "${folder[@]}" --meshes in/none.txt --format npy
refused "no list" 2 'in/no.txt: cannot be opened' bake "${folder[@]}" --meshes in/no.txt --format npy
refused "a folder as a list" 2 'in: cannot be (opened|read): Is a directory' bake "${folder[@]}" --meshes in \
    --format npy
refused "a folder as a mesh" 2 'in: Is a directory$' bake "${folder[@]}" --mesh in --format npy
refused "no --format" 2 'is a folder, so --format is missing' bake "${folder[@]}" --mesh cube.off
refused "an unknown --format" 2 "--format: expected npy, nrrd, vti, vtkhdf or h5, .*, got 'npy,part'" bake \
    "${folder[@]}" --mesh cube.off --format npy,part
refused "a file for two meshes" 2 'need a folder: -o DIR/$' bake distance "${volume[@]}" --mesh cube.off \
    --mesh triangle.off -o no.npy
refused "--format for a file" 2 'need a folder: -o DIR/$' bake distance "${volume[@]}" --mesh cube.off --format npy -o \
    no.npy
refused "a folder that is not there" 2 'no/: the folder cannot be opened: No such file' bake distance \
    "${volume[@]}" --mesh cube.off --format npy -o no/
refused "a folder and a file" 2 '-o out/ is a folder, so -o no.npy is too much' bake "${folder[@]}" -o no.npy \
    --mesh cube.off --format npy
refused "no mesh" 2 '--mesh FILE or --meshes LIST is missing' bake "${folder[@]}" --format npy
refused "a scene" 2 '--scene has an output of its own' bake "${folder[@]}" --scene no.csv --format npy
refused "a part" 2 '--part is of one mesh' bake "${folder[@]}" --mesh cube.off --format npy --part 1/2
refused "no lattice" 2 'the lattice is missing' bake distance --mesh cube.off --format npy -o out/
refused "no radius" 2 '--radius R is missing' bake clearance "${volume[@]}" --mesh cube.off --format npy -o out/
refused "--with in one array" 2 'a .npy file holds one array' bake "${folder[@]}" --mesh cube.off --format npy --with \
    triangle
refused "two meshes of a path" 2 'bake path: takes one mesh, and --mesh names 2' bake path --mesh cube.off --mesh \
    triangle.off --paths paths.csv --radius 1 -o no.csv
cp cube.off out/cube.npy
refused "a mesh that is an output" 2 'out/cube.npy: is read as an input' bake "${folder[@]}" --mesh \
    triangle.off --mesh out/cube.npy --format npy
rm -f out/*
ln -s ../in/list.txt out/cube.npy.journal
refused "a list that is beside an output" 2 'out/cube.npy.journal: is read as an input' bake "${folder[@]}" \
    --meshes in/list.txt --format npy
rm -f out/*
long=$(printf 'x%.0s' {1..245})
cp cube.off "$long.off"
refused "a name that is too long" 2 'the name is too long: with .partial it must have at most 255' bake "${folder[@]}" \
    --mesh "$long.off" --format npy
more=()
for ((i = 0; i < 257; i++)); do more+=(--mesh cube.off); done
refused "257 meshes" 2 'more than 256 meshes need --meshes LIST' bake "${folder[@]}" "${more[@]}" --format npy

# ---- interrupted -----------------------------------------------------------------------------------------------------
if [ -n "$torture" ]; then
    meshes=(--mesh cube.off --mesh 'in/a b/küb #1.off' --mesh triangle.off --format 'nrrd,npy')
    problems='' skipped=0
    for at in 3 9 30 70 90 120 200 260; do
        rm -f out/* hit
        { TORTURE_KILL=1 TORTURE_CALL=write TORTURE_AT=$at TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake \
            "${folder[@]}" "${meshes[@]}" > stdout.txt 2>&1 || true; } 2> /dev/null
        [ -e hit ] || problems+="$at: is not reached"$'\n'
        bake "${folder[@]}" "${meshes[@]}" > stdout.txt 2> stderr.txt || problems+="$at: $(tail -n 3 stderr.txt)"$'\n'
        skipped=$((skipped + $(grep -c 'is up to date$' stderr.txt || true)))
        for format in nrrd npy; do
            { cmp alone/cube.$format out/cube.$format && cmp alone/cube.$format "out/küb #1.$format" &&
                cmp alone/triangle.$format out/triangle.$format; } || problems+="$at: other bytes"$'\n'
        done
        [ -z "$(left)" ] || problems+="$at: left $(left)"$'\n'
    done
    nothing "killed at any time, the same command goes on" "$problems"
    check "without meshes that are done: $skipped" test $skipped -gt 3

    rm -f out/* hit
    TORTURE_CALL=write TORTURE_AT=90 TORTURE_HOLD=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake "${folder[@]}" \
        "${meshes[@]}" > held.txt 2>&1 &
    job=$!
    until_true test -e hit || true
    kill -TERM $job
    sleep 0.2
    rm -f hit # which lets it go on
    status=0
    wait $job || status=$?
    equal "SIGTERM ends all" 75 $status
    check "and tells how far it is" grep -qxE 'carom: out/: [01] of 3 meshes are there: .*' held.txt
    check "and how to go on" grep -qx 'carom: out/: stopped; the same command goes on' held.txt
    expect "the same command does" 0 '^carom: out/: 3 of 3 meshes are there' bake "${folder[@]}" "${meshes[@]}"
    check "to the same bytes" eval 'cmp alone/cube.nrrd out/cube.nrrd && cmp alone/triangle.npy out/triangle.npy'
    nothing "and nothing is left" "$(left)"

    # The mesh is edited, or an option is another, while the bake is unfinished.
    begun() {
        rm -f out/* hit
        cp "$1" edited.off
        { TORTURE_KILL=1 TORTURE_CALL=write TORTURE_AT=20 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake \
            "${folder[@]}" --mesh edited.off --format nrrd > stdout.txt 2>&1 || true; } 2> /dev/null
        check "a bake of $1 is begun" test -s out/edited.nrrd.partial
    }
    begun cube.off
    cp triangle.off edited.off
    expect "a mesh that is edited meanwhile" 0 'out/edited.nrrd.partial: is begun anew: it is of another bake, .*mesh' \
        bake "${folder[@]}" --mesh edited.off --format nrrd
    check "is baked anew meanwhile" cmp alone/triangle.nrrd out/edited.nrrd
    nothing "and nothing of before is left" "$(left)"
    begun cube.off
    expect "other options meanwhile" 1 \
        'is of another bake, which differs in: accuracy .*; to begin anew, remove out/edited.nrrd.partial$' bake \
        "${folder[@]}" --mesh edited.off --format nrrd --accuracy exact
    expect "the same options go on" 0 'out/edited.nrrd.partial: going on, 8 of' bake "${folder[@]}" --mesh edited.off \
        --format nrrd
    check "with its bytes" cmp alone/cube.nrrd out/edited.nrrd
fi
check_end
