#!/bin/bash
# SPDX-License-Identifier: MIT
# cli.sh CAROM: the command line's contract, mostly by bad input: exit statuses, sentences, and files that appear whole
# or not at all. On the CPU path; the answers themselves are the business of the other tests.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

# ---- usage -----------------------------------------------------------------------------------------------------------
head_sweep=cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
falls=0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0
printf '%s\n%s\n' $head_sweep $falls > good.csv
sweep() { "$carom" sweep --backend cpu "$@"; }

expect "no command" 2 'carom' "$carom"
expect "unknown command" 2 'fly' "$carom" fly
expect "help" 0 '' "$carom" --help
expect "version" 0 '' "$carom" --version
while read -r -a command; do # of one word or two
    expect "${command[*]} --help" 0 '' "$carom" "${command[@]}" --help
    expect "${command[*]} --version" 0 '' "$carom" "${command[@]}" --version
    expect "${command[*]}: unknown option" 2 'nonsense' "$carom" "${command[@]}" --nonsense
    expect "${command[*]}: stray arguments" 2 'stray' "$carom" "${command[@]}" stray stray
    expect "${command[*]}: unknown progress" 2 "plain, json or none, got 'loud'" "$carom" "${command[@]}" \
        --progress=loud
done < <("$carom" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\( [a-z]*\)\?\)  .*/\1/p')
expect "bake --help" 0 '' "$carom" bake --help
expect "bake --version" 0 '' "$carom" bake --version
expect "sweep without input" 2 'pairs' "$carom" sweep
expect "option without value" 2 'pairs' "$carom" sweep --pairs
expect "bad backend" 2 'cuda' "$carom" sweep --backend cuda --pairs good.csv
expect "bad isa" 2 'avx1024' sweep --isa avx1024 --pairs good.csv
expect "threads 0" 2 '0' sweep --threads 0 --pairs good.csv
expect "threads -1" 2 '-1' sweep --threads -1 --pairs good.csv
expect "threads x" 2 'x' sweep --threads x --pairs good.csv
expect "threads 1" 0 '' sweep --threads 1 --pairs good.csv
expect "threads 5000" 0 '1024 are used' sweep --threads 5000 --pairs good.csv
expect "bad accuracy" 2 'slow' sweep --accuracy slow --pairs good.csv
expect "missing file" 2 'nowhere.csv' sweep --pairs nowhere.csv
expect "directory for a file" 2 '' sweep --pairs .
expect "verify 0 queries" 2 '0' "$carom" verify --queries 0
for form in auto plain json none; do
    expect "progress $form" 0 '' sweep --progress $form --pairs good.csv
    nothing "a short job shows no progress" "$(cat stderr.txt)"
done
expect "scalar is everywhere" 0 '' sweep --isa scalar --pairs good.csv
case $(uname -m) in
x86_64) expect "isa of another machine" 2 'neon' sweep --isa neon --pairs good.csv ;;
*) expect "isa of another machine" 2 'avx2' sweep --isa avx2 --pairs good.csv ;;
esac
if command -v qemu-x86_64 > /dev/null && [ "$(uname -m)" = x86_64 ] &&
    ! nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    expect "isa beyond this CPU" 2 'avx2' qemu-x86_64 -cpu Nehalem "$carom" sweep --backend cpu --isa avx2 \
        --pairs good.csv
else
    skip "isa beyond this CPU" "no qemu-x86_64 (Debian: qemu-user), or a sanitized build"
fi

# ---- output ----------------------------------------------------------------------------------------------------------
columns=state,t_first,x_first,y_first,z_first,feature_first,t_last,x_last,y_last,z_last,feature_last
sweep --pairs good.csv > plain.csv
equal "sweep: header" $columns "$(head -n 1 plain.csv)"
equal "sweep: one row" approaching,1,0.25,0.25,0,F,3,0.25,0.25,0,F "$(tail -n 1 plain.csv)"
sweep --pairs good.csv -o file.csv
check "-o writes the same" cmp plain.csv file.csv
sweep --pairs good.csv -o /dev/stdout > device.csv
check "-o /dev/stdout writes the same" cmp plain.csv device.csv
sweep --pairs - < good.csv > stdin.csv
check "standard input" cmp plain.csv stdin.csv
if [ -w /dev/full ]; then
    expect "/dev/full by -o" 1 '' sweep --pairs good.csv -o /dev/full
    full() { sweep --pairs good.csv > /dev/full; }
    expect "/dev/full as standard output" 1 '' full
    help_full() { "$carom" --help > /dev/full; }
    expect "help to /dev/full" 1 '' help_full
else
    skip "/dev/full" "no such device"
fi
closed() { sweep --pairs good.csv >&-; }
expect "closed standard output" 1 '' closed
expect "output in no directory" 1 'nodir' sweep --pairs good.csv -o nodir/out.csv
expect "an output that promises HDF5" 2 'out.h5: info writes text, and no .h5' "$carom" info --backend cpu -o out.h5
echo old > keep.csv
printf '%s\n%s\n%s\n' $head_sweep $falls 1,2,3 > late.csv
expect "bad input" 2 'late.csv:3' sweep --pairs late.csv -o keep.csv
equal "a refused input leaves the old output" old "$(cat keep.csv)"
expect "an unwritten file does not appear" 2 '' sweep --pairs late.csv -o new.csv
equal "nor its first half" '' "$(find . -name '*new.csv*' -o -name '.carom-*')"
{
    cat good.csv
    for _ in {1..2000}; do echo $falls; done
} > many.csv
too_long() { (ulimit -f 4 && sweep --pairs many.csv -o "$1"); } # KiB that a file may have
expect "output that does not fit" 1 '' too_long keep.csv
equal "leaves the old output" old "$(cat keep.csv)"
expect "new output that does not fit" 1 '' too_long new.csv
equal "leaves nothing" '' "$(find . -name '*new.csv*' -o -name '.carom-*')"
ln -s target.csv link.csv
sweep --pairs good.csv -o link.csv
check "output through a link" cmp plain.csv target.csv
check "the link stays" test -L link.csv
mkfifo pipe
timeout 20 cat pipe > piped.csv &
sweep --pairs good.csv -o pipe
wait
check "a pipe is written directly" cmp plain.csv piped.csv

# ---- CSV -------------------------------------------------------------------------------------------------------------
# like NAME FILE: the same answer as good.csv
like() {
    local text
    if text=$(sweep --pairs "$2" 2>&1) && [ "$text" = "$(cat plain.csv)" ]; then pass "$1"; else fail "$1" "$text"; fi
}
printf '\357\273\277%s\n%s\n' $head_sweep $falls > c.csv && like "byte order mark" c.csv
printf '%s\r\n%s\r\n' $head_sweep $falls > c.csv && like "CR LF" c.csv
printf '%s\n%s' $head_sweep $falls > c.csv && like "no last newline" c.csv
printf '%s\n%s\n' "$head_sweep" " 0.25 ,	0.25, 2 ,1,0,0,-1,0,0,0,1,0,0,0,1,0 " > c.csv &&
    like "blanks around numbers" c.csv
printf '%s\n%s\n' $head_sweep 0x1p-2,0X.4P0,0x1p1,+1,0e5,-0,-1.,.0,0,0,1,0,0,0,1,0 > c.csv && like "hex floats" c.csv
printf '%s\n%s\n' "name,$head_sweep,note" "a b,$falls,\"x\"" > c.csv && like "unknown columns" c.csv
{ echo "$head_sweep" | tr , '\n' | tac | paste -sd ,; echo "$falls" | tr , '\n' | tac | paste -sd ,; } > c.csv
like "columns in another order" c.csv
printf '%s\n%s\n' "$head_sweep,wx,wy,wz" "$falls,0,0,0" > c.csv && like "triangle velocity zero" c.csv
printf '%s\n' $head_sweep > c.csv
equal "a header alone is no rows" "$columns" "$(sweep --pairs c.csv)"

row() { # NAME ROW WANTED: the answer's first columns
    printf '%s\n%s\n' $head_sweep "$2" > c.csv
    equal "$1" "$3" "$(sweep --pairs c.csv 2>&1 | tail -n 1)"
}
invalid=invalid,inf,,,,,-inf,,,,
row "infinity is an invalid row" inf${falls#0.25} $invalid
row "nan is an invalid row" nan${falls#0.25} $invalid
row "-infinity is an invalid row" -Infinity${falls#0.25} $invalid
row "overflow is an invalid row" 1e39${falls#0.25} $invalid
row "negative radius is an invalid row" 0.25,0.25,2,-1,0,0,-1,0,0,0,1,0,0,0,1,0 $invalid
row "a miss has times and no points" 5,5,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 miss,inf,,,,,-inf,,,,
row "underflow is a number" 1e-60,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 \
    "$(printf '%s\n%s\n' $head_sweep 0,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 | sweep --pairs - | tail -n 1)"

refused() { # NAME PATTERN FORMAT ARGUMENTS...: printf's file is refused with that sentence
    local name=$1 pattern=$2
    shift 2
    # shellcheck disable=SC2059 # the formats stand below
    printf "$@" > bad.csv
    expect "refused: $name" 2 "$pattern" sweep --pairs bad.csv
}
refused "empty file" 'bad.csv' ''
refused "missing column" 'p2z' '%s\n%s\n' ${head_sweep%,p2z} ${falls%,0}
refused "column twice" 'vx' '%s\n%s\n' $head_sweep,vx $falls,0
refused "short row" 'bad.csv:2' '%s\n%s\n' $head_sweep ${falls%,0}
refused "long row" 'bad.csv:2' '%s\n%s\n' $head_sweep $falls,0
refused "empty number" 'bad.csv:2.*cx' '%s\n%s\n' $head_sweep "${falls#0.25}"
refused "blank number" 'bad.csv:2.*cx' '%s\n%s\n' $head_sweep " ${falls#0.25}"
refused "word" 'bad.csv:2.*cx.*red' '%s\n%s\n' $head_sweep "red${falls#0.25}"
refused "number with a tail" 'bad.csv:2.*cx.*1m' '%s\n%s\n' $head_sweep "1m${falls#0.25}"
refused "two numbers in a field" 'bad.csv:2.*cx' '%s\n%s\n' $head_sweep "1 2${falls#0.25}"
refused "decimal comma" 'bad.csv:2' '%s\n%s\n' $head_sweep "0,${falls}"
refused "half a triangle velocity" 'w[yz]' '%s\n%s\n' $head_sweep,wx $falls,0
refused "NUL byte" 'bad.csv:2' '%s\n1\000%s\n' $head_sweep ",$falls"
refused "third row, named" 'bad.csv:4.*p1y.*oops' '%s\n%s\n%s\n%s\n' $head_sweep $falls $falls \
    0.25,0.25,2,1,0,0,-1,0,0,0,1,oops,0,0,1,0

# ---- the other queries -----------------------------------------------------------------------------------------------
head_overlap=cx,cy,cz,radius,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
printf '%s\n' $head_overlap 0.25,0.25,0.5,1,0,0,0,1,0,0,0,1,0 0.25,0.25,2,1,0,0,0,1,0,0,0,1,0 \
    nan,0,0,1,0,0,0,1,0,0,0,1,0 > o.csv
equal "overlap" "overlap,axes 1,0 0,1 ," "$("$carom" overlap --backend cpu --pairs o.csv | paste -sd ' ')"
# Numbers that tell each corner from each other, and a triangle that moves.
printf '%s\n' cx,cy,cz,radius,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z 2,-3,0,1,0,0,0,4,0,0,0,4,0 5,5,0,1,0,0,0,4,0,0,0,4,0 \
    > corners.csv
equal "overlap: each corner in its place" "overlap,axes 0,2 0,4" \
    "$("$carom" overlap --backend cpu --accuracy exact --pairs corners.csv | paste -sd ' ')"
printf '%s\n' cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z,wx,wy,wz \
    0,0,5,1,0,0,0,-4,-4,0,4,-4,0,0,4,0,0,0,1 0,0,5,1,0,0,0,-4,-4,0,4,-4,0,0,4,0,0,0,0 > moving.csv
equal "sweep: a triangle that moves" "approaching,4,0,0,4,F,6,0,0,6,F miss,inf,,,,,-inf,,,," \
    "$("$carom" sweep --backend cpu --pairs moving.csv | tail -n 2 | paste -sd ' ')"
head_spheres=a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb
printf '%s\n' $head_spheres 0,0,0,4,0,0,1,6,0,0,6,0,0,1 0,0,0,4,0,0,1,0,9,0,4,9,0,1 0,0,0,inf,0,0,1,0,9,0,4,9,0,1 \
    > s.csv
equal "spheres" "state,u_first,u_last approaching,1,2 miss,inf,-inf invalid,inf,-inf" \
    "$("$carom" spheres --backend cpu --pairs s.csv | paste -sd ' ')"
# Exact mode: ties are ties. A sphere that slides along the face at exactly r; one that only just touches an edge; one
# that starts where it touches, and leaves; a point through a corner; at rest at exactly r; and 1/3 as the nearest
# float.
printf '%s\n' $head_sweep 0.25,0.25,1,1,1,0,0,0,0,0,1,0,0,0,1,0 -2,0.5,1,1,1,0,0,0,0,0,0,1,0,0,1,0 \
    0.25,0.25,1,1,0,0,1,0,0,0,1,0,0,0,1,0 1,1,1,0,-1,-1,-1,0,0,0,1,0,0,0,1,0 \
    0.25,0.25,1,1,0,0,0,0,0,0,1,0,0,0,1,0 0.25,0.25,2,1,0,0,-3,0,0,0,1,0,0,0,1,0 \
    0.25,0.25,2,1.0000001,0,1e-30,0,0,0,0,1,0,0,0,1,0 > e.csv
equal "sweep: exact" "$columns
overlapping,-0.25,0,0.25,0,E20,0.5,0.75,0.25,0,E12
approaching,2,0,0.5,0,E01,2,0,0.5,0,E01
parting,-2,0.25,0.25,0,F,0,0.25,0.25,0,F
approaching,1,0,0,0,V0,1,0,0,0,V0
touching,-inf,0.25,0.25,0,F,inf,0.25,0.25,0,F
approaching,0.333333343,0.25,0.25,0,F,1,0.25,0.25,0,F
miss,inf,,,,,-inf,,,," "$(sweep --accuracy exact --pairs e.csv)"
printf '%s\n' $head_overlap 0.25,0.25,1,1,0,0,0,1,0,0,0,1,0 0.25,0.25,1,0x1.fffffep-1,0,0,0,1,0,0,0,1,0 \
    -3,-4,0,5,0,0,0,1,0,0,0,1,0 -3,-4,0x1p-40,5,0,0,0,1,0,0,0,1,0 0,0,0,0,0,0,0,0,0,0,0,0,0 > e.csv
equal "overlap: exact" "overlap,axes 1,0 0,1 1,0 0,16 1,0" \
    "$("$carom" overlap --backend cpu --accuracy exact --pairs e.csv | paste -sd ' ')"
# Head on; a graze; at rest, in contact; the same motion; a graze missed by one part in 10^7.
printf '%s\n' $head_spheres 0,0,0,4,0,0,1,6,0,0,6,0,0,1 -2,2,0,2,2,0,1,0,0,0,0,0,0,1 0,0,0,0,0,0,1,2,0,0,2,0,0,1 \
    0,0,0,1,1,1,1,1,0,0,2,1,1,0.5 -2,2.0000002,0,2,2.0000002,0,1,0,0,0,0,0,0,1 > e.csv
equal "spheres: exact" "state,u_first,u_last approaching,1,2 approaching,0.5,0.5 touching,-inf,inf \
overlapping,-inf,inf miss,inf,-inf" "$("$carom" spheres --backend cpu --accuracy exact --pairs e.csv | paste -sd ' ')"
expect "overlap: sweep's option" 2 't-max' "$carom" overlap --pairs o.csv --t-max 3
expect "pairs and mesh exclude each other" 2 'mesh' sweep --pairs good.csv --mesh x.off --spheres good.csv
expect "mesh without spheres" 2 'spheres' sweep --mesh x.off

# ---- info as JSON ----------------------------------------------------------------------------------------------------
# value FILE EXPRESSION: of Python, in which d is the document
value() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
line() { sed -n "s/^$1: //p" info.txt; }
if command -v python3 > /dev/null; then
    "$carom" info --backend cpu > info.txt
    "$carom" info --backend cpu --json -o info.json
    equal "info --json: version" "$(line version)" "$(value info.json 'd["version"]')"
    equal "info --json: build" "$(line build)" \
        "$(value info.json '"%s, OpenCL %s, HDF5 %s" % (d["compiler"], "yes" if d["opencl"] else "no",
            d["hdf5"] or "no")')"
    equal "info --json: readers" "$(line meshes)" "$(value info.json 'd["meshes"]')"
    equal "info --json: instruction sets" "$(line 'instruction sets')" "$(value info.json '" ".join(d["isas"])')"
    equal "info --json: cpu path" "$(line 'cpu path')" \
        "$(value info.json '"%s, %d thread%s" % (d["isa"], d["threads"], "s" if d["threads"] > 1 else "")')"
    equal "info --json: no devices" "$(line opencl) [] [] None" \
        "$(value info.json '"%s %s %s %s" % (d["no_devices"], d["devices"], d["drivers_alone"], d["auto"])')"
    # A name with what JSON must escape, and a byte that is no UTF-8.
    printf 'o a"b\\c\ttab\377\nv 0.1 0 0\nv 1 0 0\nv 0 1 -2\nf 1 2 3\no second\nf 3 2 1\n' > $'odd"name.obj'
    "$carom" info --backend cpu --mesh $'odd"name.obj' --json > mesh.json
    equal "info --json: a mesh" 'odd"name.obj 2 3 [0, 0, -2] [1, 1, 0] 0' \
        "$(value mesh.json '"%s %d %d %s %s %d" % tuple(d[k] for k in ("mesh", "triangles", "vertices", "lower",
            "upper", "corners_not_finite"))')"
    "$carom" info --backend cpu --mesh $'odd"name.obj' > info.txt
    equal "info --json: its parts" "$(grep -c '^  part ' info.txt)" "$(value mesh.json 'len(d["parts"])')"
    equal "info --json: a part" "second 1 1" \
        "$(value mesh.json '"%s %d %d" % tuple(d["parts"][1][k] for k in ("name", "first_triangle", "triangles"))')"
    check "info --json: escapes" test "$(value mesh.json 'd["parts"][0]["name"][:5]')" = 'a"b\c'
    equal "info --json: what was changed" "$(grep '^changed: ' info.txt | sed 's/^changed: //; s/^nothing$//')" \
        "$(value mesh.json '"\n".join(d["changed"])')"
    printf 'v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > nan.obj
    "$carom" info --backend cpu --mesh nan.obj --json > mesh.json
    equal "info --json: a corner that is not finite" 1 "$(value mesh.json 'd["corners_not_finite"]')"
    printf 'OFF\n0 0 0\n' > empty.off
    if "$carom" info --backend cpu --mesh empty.off --json > mesh.json 2> stderr.txt; then
        equal "info --json: no bounds" '[None, None, None]' "$(value mesh.json 'd["lower"]')"
    fi
else
    skip "info --json" "no python3"
fi
expect "info --json takes no file" 2 "unexpected argument 'x'" "$carom" info --json x

# ---- backends --------------------------------------------------------------------------------------------------------
no_device() { OCL_ICD_VENDORS=/dev/null "$carom" sweep --backend "$1" --pairs good.csv; }
expect "opencl without a device fails" 1 '' no_device opencl
expect "auto without a device answers" 0 '' no_device auto
check "and the same" cmp plain.csv stdout.txt
expect "info without a device" 0 '' env OCL_ICD_VENDORS=/dev/null "$carom" info
check "info says what auto does with small batches" grep -qE '^auto: batches below 1048576 .*stay on the cpu path \(' \
    stdout.txt
check "and with large ones" grep -q '^auto: larger ones stay there too, because there is no OpenCL device' stdout.txt
if "$carom" info --device 0 > named.txt 2> /dev/null && grep -q 'bit probe: passed' named.txt; then
    if command -v python3 > /dev/null; then
        "$carom" info --device 0 --json > named.json
        equal "info --json: a device" "passed None 0 because it was named" "$(value named.json '"%s %s %d %s" % (
            d["devices"][0]["bit_probe"], d["devices"][0]["why"], d["auto"]["device"], d["auto"]["why"])')"
        check "info --json: its name" grep -qF "device 0: $(value named.json 'd["devices"][0]["name"]')" named.txt
    fi
    check "a device that was named is taken" grep -q '^auto: larger ones go to device 0 .*because it was named' \
        named.txt
else
    skip "a device that was named is taken" "no OpenCL device passed"
fi
# PoCL shows one CPU as two devices, and may leak; there are enough rows for a piece of each.
export POCL_DEVICES='pthread pthread' ASAN_OPTIONS=detect_leaks=0
if "$carom" info --device 0,1 > named.txt 2> /dev/null && [ "$(grep -c 'bit probe: passed' named.txt)" = 2 ]; then
    check "devices that were named are taken" grep -q \
        '^auto: larger ones go to device 0 .*and to the others that were named' named.txt
    awk -F, 'NR == 1 { print; next } { row[n++] = $0 }
        END { for (i = 0; i < 20000; i++) print row[i % n] }' good.csv > rows.csv
    "$carom" sweep --backend cpu --pairs rows.csv > cpu.csv
    expect "several devices answer" 0 '' "$carom" sweep --backend opencl --device 0,1 --pairs rows.csv
    check "as the CPU does" cmp cpu.csv stdout.txt
    expect "a device that is named twice" 2 'it is device 0, as is' "$carom" sweep --backend opencl --device 0,0 \
        --pairs good.csv
else
    skip "several devices" "the driver lists no two devices"
fi
unset POCL_DEVICES ASAN_OPTIONS
expect "a device that is not asked" 0 'device 99 was not asked' "$carom" sweep --device 99 --pairs good.csv
check "answers all the same" cmp plain.csv stdout.txt
expect "a device that is not there" 1 '' "$carom" sweep --backend opencl --device 'no such device' --pairs good.csv
# Every command that can use a device, where there is none to use.
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > wall.obj
printf 'cx,cy,cz,radius,vx,vy,vz\n0,0,1,1,0,0,-1\n' > balls.csv
printf 'path,x,y,z\n0,0,0,1\n0,0,0,-1\n' > ways.csv
printf 'a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb\n0,0,0,1,0,0,1,9,0,0,9,0,0,1\n' > pairs.csv
mkdir no-drivers
while read -r -a command; do
    for device in 7777 nope; do
        expect "${command[*]}: no device $device" 1 'OpenCL|not in this build' \
            "$carom" "${command[@]}" --backend opencl --device $device
    done
    expect "${command[*]}: no driver" 1 'OpenCL|no driver lists a device|not in this build' \
        env OCL_ICD_VENDORS="$work/no-drivers" "$carom" "${command[@]}" --backend opencl
done << 'EOF'
sweep --pairs good.csv
sweep --mesh wall.obj --spheres balls.csv
overlap --mesh wall.obj --spheres balls.csv
contacts --mesh wall.obj --spheres balls.csv
spheres --pairs pairs.csv
spheres --cloud balls.csv --t-max 1
bake distance --mesh wall.obj --spacing 0.5 -o out.npy
bake clearance --mesh wall.obj --spacing 0.5 --radius 0.5 -o out.npy
bake drop --mesh wall.obj --spacing 0.5 --ball 0.5 -o out.npy
bake path --mesh wall.obj --paths ways.csv --radius 0.5 -o out.csv
verify --queries 10
bench --quick --scene sweep-full
bench --scaling --quick --scene batch
EOF
for command in verify bench 'bench --scaling'; do # without --backend opencl too: they are about the device
    # shellcheck disable=SC2086 # words
    expect "$command: auto and no device nope" 1 "OpenCL" "$carom" $command --device nope
done
nothing "no file of any of them" "$(ls out.* 2> /dev/null || true)"
expect "bake path: a device that is not asked" 0 'device 99 was not asked' "$carom" bake path --mesh wall.obj \
    --paths ways.csv --radius 0.5 --device 99 -o out.csv
if command -v strace > /dev/null; then
    strace -f -e trace=openat -o trace.txt "$carom" sweep --backend cpu --pairs good.csv > /dev/null || true
    nothing "cpu never loads an OpenCL driver" "$(grep -E '[.]icd"|vendors' trace.txt || true)"
else
    skip "cpu never loads an OpenCL driver" "no strace (Debian: strace)"
fi
check_end
