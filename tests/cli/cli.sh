#!/bin/bash
# SPDX-License-Identifier: MIT
# cli.sh CAROM: the command line's contract, mostly by bad input: exit statuses, sentences, and files that appear whole
# or not at all. On the CPU path; the answers themselves are the business of the other tests.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

# expect NAME STATUS PATTERN command...: exit status and, unless PATTERN is empty, a line on standard error.
expect() {
    local name=$1 wanted=$2 pattern=$3 status=0
    shift 3
    "$@" > stdout.txt 2> stderr.txt < /dev/null || status=$?
    if [ $status -ne "$wanted" ]; then
        fail "$name" "status $status, not $wanted: $(head -n 3 stderr.txt)"
    elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" stderr.txt; then
        fail "$name" "no /$pattern/ in: $(head -n 3 stderr.txt)"
    elif [ "$wanted" -ne 0 ] && [ ! -s stderr.txt ]; then
        fail "$name" "failed without a word"
    else
        pass "$name"
    fi
}

# ---- usage --------------------------------------------------------------------------------------------------------
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
done < <("$carom" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\( [a-z]*\)\?\)  .*/\1/p')
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

# ---- output -------------------------------------------------------------------------------------------------------
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
    for i in {1..2000}; do echo $falls; done
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

# ---- CSV ----------------------------------------------------------------------------------------------------------
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

# ---- the other queries --------------------------------------------------------------------------------------------
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

# ---- meshes -------------------------------------------------------------------------------------------------------
bytes() { # hexadecimal words, least significant byte first as given
    local hex i
    for hex; do
        for ((i = 0; i < ${#hex}; i += 2)); do printf '%b' "\\x${hex:i:2}"; done
    done
}
# Two triangles; 0x3dcccccd is the float nearest 0.1, 0x00000001 the smallest denormal.
tenth=cdcccc3d tiny=01000000 one=0000803f zero=00000000
{
    printf 'ply\nformat binary_little_endian 1.0\nelement vertex 4\n'
    printf 'property float %s\n' x y z
    printf 'element face 2\nproperty list uchar int vertex_indices\nend_header\n'
    bytes $zero $zero $zero $one $zero $zero $zero $one $tiny $one $one $tenth
    bytes 03 01000000 02000000 03000000 03 00000000 01000000 02000000
} > two.ply
{
    printf '%-80s' 'a binary file'
    bytes 02000000
    bytes $zero $zero $zero $one $zero $zero $zero $one $tiny $one $one $tenth 0000
    bytes $zero $zero $zero $zero $zero $zero $one $zero $zero $zero $one $tiny 0000
} > two.stl
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 1e-45\n1 1 0.1\n3 1 2 3\n3 0 1 2\n' > two.off
printf 'v 0 0 0\nv 1 0 0\nv 0 1 1e-45\nv 1 1 0.1\nf 2 3 4\nf 1 2 3\n' > two.obj
printf 'cx,cy,cz,radius,vx,vy,vz\n0.1,0.1,5,0.5,0,0,-1\n0.9,0.9,5,0.5,0,0,-1\n9,9,5,0.5,0,0,-1\nnan,0,0,1,0,0,0\n' \
    > sp.csv
sweep --mesh two.ply --spheres sp.csv > mesh.csv
equal "mesh: header" triangle,state,t,x,y,z,nx,ny,nz,feature "$(head -n 1 mesh.csv)"
equal "mesh: triangles in file order" "1 0 -1 -1" "$(tail -n +2 mesh.csv | cut -d , -f 1 | paste -sd ' ')"
equal "mesh: no hit" -1,miss,inf,,,,,,, "$(sed -n 4p mesh.csv)"
equal "mesh: invalid row" -1,invalid,inf,,,,,,, "$(sed -n 5p mesh.csv)"
for other in two.stl two.off two.obj; do
    sweep --mesh $other --spheres sp.csv > other.csv 2> stderr.txt || true
    check "mesh: ${other#*.} answers as ply" cmp mesh.csv other.csv
done
# The bounds are printed to the last bit, so they tell whether coordinates arrived.
for file in two.ply two.stl; do
    equal "mesh: ${file#*.} keeps the bits" "upper: 1 1 0.100000001" "$("$carom" info --backend cpu --mesh $file |
        grep '^upper')"
done
# Exact mode on a square of two triangles: on the edge that they share the lower index; a window that ends at the
# contact holds it, one float earlier does not. What slides off one triangle onto the other parts from the first as it
# touches.
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 2 3\n3 0 1 2\n' > square.off
{
    echo cx,cy,cz,radius,vx,vy,vz,t_max
    printf '%s\n' 0.5,0.5,2,0.5,0,0,-1,inf 0.5,0.25,2,0.5,0,0,-1,1.5 0.5,0.25,2,0.5,0,0,-1,0x1.7ffffep+0 \
        0.5,0.5,0.5,0.5,0,0,1,0 0.5,0.5,0.5,0.5,1,0,0,inf 0.5,0.5,0.5,0.5,1,1,0,inf \
        0.25,0.75,2,0.5,0,0,-3,inf
} > e.csv
equal "mesh: exact" "$(head -n 1 mesh.csv)
0,approaching,1.5,0.5,0.5,0,0,0,1,E01
1,approaching,1.5,0.5,0.25,0,0,0,1,F
-1,miss,inf,,,,,,,
-1,miss,inf,,,,,,,
1,touching,0,0.5,0.5,0,0,0,1,E20
0,overlapping,0,0.5,0.5,0,0,0,1,E01
0,approaching,0.5,0.25,0.75,0,0,0,1,F" "$(sweep --accuracy exact --mesh square.off --spheres e.csv)"
# All hits: both triangles at the edge that they share; only what is within the window; at a time beyond binary32 no
# point.
printf '%s\n' 0.25,0.5,2,0.5,0,0,-1,inf nan,0,0,1,0,0,0,0 0.5,0.25,2,0.5,0,0,-1e-39,inf 0.5,0.25,0.25,0.5,0,0,0,0 \
    > more.txt
cat e.csv more.txt > all.csv
equal "mesh: all hits, exact" "query,$(head -n 1 mesh.csv)
0,0,approaching,1.5,0.5,0.5,0,0,0,1,E01
0,1,approaching,1.5,0.5,0.5,0,0,0,1,E20
1,1,approaching,1.5,0.5,0.25,0,0,0,1,F
4,1,touching,0,0.5,0.5,0,0,0,1,E20
5,0,overlapping,0,0.5,0.5,0,0,0,1,E01
5,1,overlapping,0,0.5,0.5,0,0,0,1,E20
6,0,approaching,0.5,0.25,0.75,0,0,0,1,F
6,1,approaching,0.548815548,0.5,0.5,0,-0.5,0.5,0.707106769,E20
7,0,approaching,1.5,0.25,0.5,0,0,0,1,F
7,1,approaching,1.53229284,0.375,0.375,0,-0.25,0.25,0.935414374,E20
9,0,approaching,inf,,,,,,,
9,1,approaching,inf,,,,,,,
10,0,overlapping,0,0.375,0.375,0,0.408248276,-0.408248276,0.816496551,E01
10,1,overlapping,0,0.5,0.25,0,0,0,1,F" "$(sweep --accuracy exact --mesh square.off --spheres all.csv --hits all)"
equal "mesh: any hit, exact" "hit,1,1,0,0,1,1,1,1,,1,1" \
    "$(sweep --accuracy exact --mesh square.off --spheres all.csv --hits any | paste -sd ,)"
sweep --accuracy exact --mesh square.off --spheres all.csv > one.csv
sweep --accuracy exact --mesh square.off --spheres all.csv --hits first > two.csv
check "mesh: --hits first is what there is without it" cmp one.csv two.csv
equal "mesh: all hits of no row" "query,$(head -n 1 mesh.csv)" \
    "$(head -n 1 all.csv | sweep --mesh square.off --spheres - --hits all)"
sweep --accuracy exact --mesh square.off --spheres all.csv --hits all -o list.csv
equal "mesh: all hits to a file" 15 "$(wc -l < list.csv)"
sed 's/^nan/oops/' all.csv > bad.csv
expect "mesh: all hits of a bad file" 2 'bad.csv:10.*oops' sweep --mesh square.off --spheres bad.csv --hits all \
    -o list.csv
equal "leaves the old list" 15 "$(wc -l < list.csv)"
expect "mesh: hits of another command" 2 "expected first, all or any, got 'closest'" \
    sweep --mesh square.off --spheres all.csv --hits closest
expect "pairs have no --hits" 2 'belong to --mesh' sweep --pairs good.csv --hits all

# Overlaps with the square: at a distance of exactly the radius above the shared edge, nearer above one triangle, the
# same with a radius that reaches one alone, apart by a hair, beside it at exactly the radius, and what is invalid.
overlap() { "$carom" overlap --backend cpu --accuracy exact "$@"; }
{
    echo cx,cy,note,cz,radius
    printf '%s\n' 0.5,0.5,a,1,1 0.5,0.25,b,0.25,0.5 0.75,0.25,c,0.5,0.5 0.75,0.25,d,0.5,0x1.fffffep-2 3,0.5,e,0,2 \
        inf,0,f,0,1 0,0,g,0,-1 0,0,h,0,0
} > rest.csv
equal "overlap: any" "hit,1,1,1,0,1,,,1" "$(overlap --mesh square.off --spheres rest.csv | paste -sd ,)"
equal "overlap: --hits any" "hit,1,1,1,0,1,,,1" "$(overlap --mesh square.off --spheres rest.csv --hits any |
    paste -sd ,)"
equal "overlap: count" "count,2,2,1,0,1,,,2" "$(overlap --mesh square.off --spheres rest.csv --hits count |
    paste -sd ,)"
equal "overlap: all" "query,triangle 0,0 0,1 1,0 1,1 2,1 4,1 7,0 7,1" \
    "$(overlap --mesh square.off --spheres rest.csv --hits all | paste -sd ' ')"
equal "overlap: closest" "triangle,distance,x,y,z,feature,depth
0,1,0.5,0.5,0,E01,0
1,0.25,0.5,0.25,0,F,0.25
1,0.5,0.75,0.25,0,F,0
1,0.5,0.75,0.25,0,F,-2.98023224e-08
1,2,1,0.5,0,E12,0
-1,inf,,,,,
-1,inf,,,,,
0,0,0,0,0,V0,0" "$(overlap --mesh square.off --spheres rest.csv --hits closest)"
# A largest distance for all rows, or in a column, which overrides it; what is at that distance is kept.
closest() { overlap --mesh square.off --hits closest "$@" | cut -d , -f 1,2,7 | paste -sd ' '; }
equal "overlap: --max-distance" "triangle,distance,depth 0,1,0 1,0.25,0.25 1,0.5,0 1,0.5,-2.98023224e-08 -1,inf, \
-1,inf, -1,inf, 0,0,0" "$(closest --spheres rest.csv --max-distance 1)"
equal "overlap: --max-distance 0" "triangle,distance,depth -1,inf, -1,inf, -1,inf, -1,inf, -1,inf, -1,inf, -1,inf, \
0,0,0" "$(closest --spheres rest.csv --max-distance 0)"
equal "overlap: without --max-distance" "$(closest --spheres rest.csv)" \
    "$(closest --spheres rest.csv --max-distance inf)"
printf '%s\n' max_distance,cx,cy,cz,radius 0.25,0.5,0.25,0.25,0.5 0x1.fffffep-3,0.5,0.25,0.25,0.5 inf,0.5,0.25,9,0.5 \
    0,9,9,9,1 -0,0,0,0,1 > limits.csv
equal "overlap: max_distance" "triangle,distance,depth 1,0.25,0.25 -1,inf, 1,9,-8.5 -1,inf, 0,0,1" \
    "$(closest --spheres limits.csv --max-distance 1)"
expect "overlap: the column is of closest points alone" 0 '' overlap --mesh square.off --spheres limits.csv
for limit in -1 nan z ''; do
    expect "overlap: --max-distance '$limit'" 2 "--max-distance: expected a number >= 0 or inf, got '$limit'" overlap \
        --mesh square.off --spheres rest.csv --hits closest --max-distance "$limit"
done
for limit in -1 -1e-45 nan; do
    printf 'cx,cy,cz,radius,max_distance\n0,0,0,1,1\n0,0,0,1,%s\n' "$limit" > limit.csv
    expect "overlap: max_distance $limit" 2 'limit.csv:3: column max_distance: expected a number >= 0 or inf' overlap \
        --mesh square.off --spheres limit.csv --hits closest
done
for hits in any count all; do
    expect "overlap: --max-distance of --hits $hits" 2 '--max-distance belongs to --hits closest' overlap \
        --mesh square.off --spheres rest.csv --hits $hits --max-distance 1
done
expect "overlap: pairs have no --max-distance" 2 '--max-distance.*belong to --mesh' overlap --pairs o.csv \
    --max-distance 1
expect "sweeps have no --max-distance" 2 'max-distance' sweep --mesh square.off --spheres sp.csv --max-distance 1
for hits in any count all closest; do
    expect "overlap: $hits without --accuracy" 0 '' "$carom" overlap --backend cpu --mesh square.off \
        --spheres rest.csv --hits $hits
    check "overlap: $hits of no row is its header" test \
        "$(echo cx,cy,cz,radius | overlap --mesh square.off --spheres - --hits $hits)" = "$(head -n 1 stdout.txt)"
done
expect "overlap: hits of another command" 2 "expected any, count, all or closest, got 'first'" \
    overlap --mesh square.off --spheres rest.csv --hits first
expect "overlap: mesh without spheres" 2 'spheres' overlap --mesh square.off
expect "overlap: neither" 2 'pairs' overlap
expect "overlap: both" 2 'exclude each other' overlap --mesh square.off --pairs o.csv --spheres rest.csv
expect "overlap: pairs have no --hits" 2 'belong to --mesh' overlap --pairs o.csv --hits all
expect "overlap: pairs have no --spheres" 2 'belong to --mesh' overlap --pairs o.csv --spheres rest.csv
printf '%s\n' cx,cy,cz,radius,mask 0,0,0,1,1 0,0,0,1,0 '0,0,0,1, 4294967295' 0,0,0,1,0x80000000 0,0,0,1,0x0 \
    inf,0,0,1,0 > masks.csv
equal "overlap: masks" "hit,1,0,1,1,0," "$(overlap --mesh square.off --spheres masks.csv | paste -sd ,)"
equal "overlap: count by masks" "count,2,0,2,2,0," "$(overlap --mesh square.off --spheres masks.csv --hits count |
    paste -sd ,)"
equal "overlap: closest by masks" "triangle,0,-1,0,0,-1,-1" \
    "$(overlap --mesh square.off --spheres masks.csv --hits closest | cut -d , -f 1 | paste -sd ,)"
for mask in -1 +1 4294967296 0x100000000 0x 1.0 1e3 z '' 0x1g; do
    printf 'cx,cy,cz,radius,mask\n0,0,0,1,%s\n' "$mask" >mask.csv
    expect "overlap: mask '$mask'" 2 'mask.csv:2: column mask: expected a whole number' overlap --mesh square.off \
        --spheres mask.csv
done
expect "overlap: a mesh is not there" 2 'nowhere.ply' overlap --mesh nowhere.ply --spheres rest.csv
# More hits than the command holds at a time: 800 spheres in the corner that 3000 triangles share.
awk 'BEGIN { n = 3000; printf "OFF\n%d %d 0\n0 0 0\n", n + 1, n
    for (i = 0; i < n; i++) printf "%.9g %.9g 1\n", cos(i), sin(i)
    for (i = 0; i < n; i++) print 3, 0, i + 1, (i + 1) % n + 1 }' > fan.off
awk 'BEGIN { print "cx,cy,cz,radius"; for (i = 0; i < 800; i++) print "0,0,0," i / 1024 }' > middle.csv
awk 'BEGIN { print "query,triangle"; for (i = 0; i < 800; i++) for (k = 0; k < 3000; k++) print i "," k }' > wanted.csv
overlap --mesh fan.off --spheres middle.csv --hits all -o fan.csv
check "overlap: 2.4 million hits, in order" cmp wanted.csv fan.csv
expect "mesh: --t-max before contact" 0 '' sweep --mesh two.ply --spheres sp.csv --t-max 1
equal "mesh: nothing within --t-max" "-1 -1 -1 -1" "$(tail -n +2 stdout.txt | cut -d , -f 1 | paste -sd ' ')"
expect "mesh: negative --t-max" 2 '-1' sweep --mesh two.ply --spheres sp.csv --t-max -1
expect "mesh: nan --t-max" 2 'nan' sweep --mesh two.ply --spheres sp.csv --t-max nan
printf 'cx,cy,cz,radius,vx,vy,vz,t_max\n0,0,5,0.5,0,0,-1,-2\n' > neg.csv
expect "mesh: negative t_max in a row" 2 '' sweep --mesh two.ply --spheres neg.csv
printf '%s\n' cx,cy,cz,radius,mask,vx,vy,vz 0.5,0.5,3,0.5,0,0,0,-1 0.5,0.5,3,0.5,4,0,0,-1 0.5,0.5,3,-1,0,0,0,-1 \
    > masks.csv
for hits in 'first=triangle,-1,0,-1,' 'any=hit,0,1,,' 'all=query,1,1,'; do
    equal "mesh: ${hits%%=*} by masks" "${hits#*=}" \
        "$("$carom" sweep --backend cpu --mesh square.off --spheres masks.csv --hits "${hits%%=*}" | cut -d , -f 1 |
        tr '\n' ,)"
done
printf 'cx,cy,cz,radius,vx,vy,vz,mask\n0,0,5,0.5,0,0,-1,all\n' > mask.csv
expect "mesh: a mask that is none" 2 "mask.csv:2: column mask: expected a whole number.*'all'" sweep --mesh two.ply \
    --spheres mask.csv
# One sphere above the square that sinks in, one in it that rises, one in it that sinks, one from below; the normal is
# up.
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0.5,0.25,2,0.5,0,0,-1 0.5,0.25,0.25,0.5,0,0,1 0.5,0.25,0.25,0.5,0,0,-1 \
    0.5,0.25,-2,0.5,0,0,1 \
    > starts.csv
for accuracy in fast exact; do
    for options in '--start report=1,1,1,1' '--start skip-parting=1,0,1,1' '--start skip=1,0,0,1' \
        '--cull-back=1,0,1,0' \
        '--cull-back --start skip=1,0,0,0' '=1,1,1,1'; do
        read -ra words <<< "${options%=*}"
        equal "mesh: $accuracy ${options%=*}" "hit,${options#*=}" \
            "$(sweep --accuracy $accuracy --mesh square.off --spheres starts.csv --hits any "${words[@]}" |
                paste -sd ,)"
    done
done
equal "mesh: first without back faces" "triangle,1,-1,0,-1" \
    "$("$carom" sweep --backend cpu --mesh square.off --spheres starts.csv --cull-back | cut -d , -f 1 | paste -sd ,)"
expect "mesh: an unknown start policy" 2 "expected report, skip-parting or skip, got 'never'" \
    sweep --mesh square.off --spheres starts.csv --start never
expect "mesh: --cull-back takes no value" 2 'takes no value' sweep --mesh square.off --spheres starts.csv --cull-back=1
expect "sweep: pairs have no start policy" 2 'belong to --mesh' sweep --pairs o.csv --start skip
expect "sweep: pairs have no back faces" 2 'belong to --mesh' sweep --pairs o.csv --cull-back
expect "overlap: no start policy" 2 'is unknown' overlap --mesh square.off --spheres rest.csv --start skip
expect "overlap: no back faces" 2 'is unknown' overlap --mesh square.off --spheres rest.csv --cull-back
expect "mesh: missing file" 2 'nowhere.ply' sweep --mesh nowhere.ply --spheres sp.csv
expect "mesh: a directory" 2 '' sweep --mesh . --spheres sp.csv
printf '%s\n' ply 'format ascii 1.0' 'element vertex 3' 'property float x' 'property float y' 'property float z' \
    'element tristrips 1' 'property list int int vertex_indices' end_header '0 0 0' '1 0 0' '0 1 0' '5 0 -1 0 1 2' \
    > strip.ply
expect "mesh: a strip that restarts early" 0 '' "$carom" info --backend cpu --mesh strip.ply
check "mesh: has one triangle" grep -qE '\b1 triangle' stdout.txt
printf '%s\n' 'solid a' 'facet normal 0 0 1' 'outer loop' 'vertex 0 0 0 5' 'vertex 1 0 0' 'vertex 0 1 0' endloop \
    endfacet endsolid > four.stl
expect "mesh: a fourth number in text stl" 2 'four.stl:4' sweep --mesh four.stl --spheres sp.csv
printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'f 1 2 3' f > bare.obj
expect "mesh: a face without corners in obj" 2 'bare.obj:5' sweep --mesh bare.obj --spheres sp.csv
head -c 150 two.ply > cut.ply
expect "mesh: truncated ply header or body" 2 'cut.ply' sweep --mesh cut.ply --spheres sp.csv
head -c -5 two.ply > cut.ply
expect "mesh: truncated ply" 2 'cut.ply' sweep --mesh cut.ply --spheres sp.csv
head -c -5 two.stl > cut.stl
expect "mesh: truncated stl" 2 'cut.stl' sweep --mesh cut.stl --spheres sp.csv
sed 's/^3 1 2 3/3 1 2 7/' two.off > range.off
expect "mesh: corner out of range" 2 'range.off' sweep --mesh range.off --spheres sp.csv
sed 's/^1 1 0.1/1 1 nan/' two.off > nan.off
expect "mesh: a vertex that is not finite" 2 'nan.off|vertex' sweep --mesh nan.off --spheres sp.csv
# What a file holds beyond what is read is said, or the file is refused: no triangle is lost in silence.
one='OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n'
bad_mesh() { # extension, reason, format of the file
    # shellcheck disable=SC2059 # the text is a format
    printf "$3" > "refused.$1"
    expect "mesh: refused: $2" 2 "refused.$1$2" "$carom" info --backend cpu --mesh "refused.$1"
}
bad_mesh off ':7: expected the end of the file' "${one}3 0 1 2\n3 2 1 0\n"
bad_mesh off ':6: expected a colour' "${one}3 0 1 2 junk\n"
bad_mesh off ':5: expected numbers alone' 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0 junk\n3 0 1 2\n'
bad_mesh off ':6: corner 3 is none of the 3 vertices' "${one}3 0 1 3\n"
bad_mesh off ': ends where there should be a face' "$one"
bad_mesh off ': ends where there should be OFF' ''
bad_mesh obj ':1: expected numbers alone' 'v 0 0 0 junk\nv 1 0 0\nv 0 1 0\nf 1 2 3\n'
bad_mesh obj ':4: expected corners' 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/junk 2 3\n'
bad_mesh obj ':4: expected corners' 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1/1/1 2 3\n'
bad_mesh obj ':4: corner -4 is none of the 3 vertices' 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 2 3\n'
ply='ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n'
ply+='property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n'
bad_mesh ply ':14: expected the end of the file' "${ply}3 2 1 0\n"
bad_mesh ply ':2: expected format 1.0' "${ply/1.0/2.0}"
{ # the same triangle, whose zeros are blanks at first
    # shellcheck disable=SC2059
    printf "${ply/ascii/binary_little_endian}" | head -n 9
    printf '%12s  \200\077%14s\200\077%4s\003%4s\001%3s\002%3smore' '' '' '' '' '' '' | tr ' ' '\0'
} > tail.ply
expect "mesh: bytes behind binary ply" 0 '' "$carom" info --backend cpu --mesh tail.ply
check "are reported" grep -q '^changed: 4 bytes behind the last element were ignored' stdout.txt
printf '%s\n' 'v 0 0 0 1' 'v 1 0 0 0.5 0.5 0.5' 'vn 0 0 1' 's off' 'v 0 1 0' 'f 1//1 2//1 3//1' 'face 1 2 3' > odd.obj
expect "mesh: what is no statement of obj" 0 '' "$carom" info --backend cpu --mesh odd.obj
check "is reported" grep -q '^changed: 1 statements that are none of OBJ were ignored, the first in line 7' stdout.txt
printf 'OFF\n0 0 0\n' > empty.off
expect "mesh: no triangle" 2 'empty.off' sweep --mesh empty.off --spheres sp.csv
: > nothing.ply
expect "mesh: an empty file" 2 'nothing.ply' sweep --mesh nothing.ply --spheres sp.csv
head -c 4000 /dev/zero > zeros.xyz
expect "mesh: an unknown format" 2 'zeros.xyz' sweep --mesh zeros.xyz --spheres sp.csv
models=/usr/share/assimp/models
if [ -d $models/invalid ] && "$carom" info --backend cpu 2>&1 | grep -i assimp > /dev/null; then
    crashed=''
    for file in "$models"/invalid/*; do
        status=0
        timeout 60 "$carom" info --backend cpu --mesh "$file" > /dev/null 2> stderr.txt || status=$?
        if [ $status -ne 0 ] && [ $status -ne 2 ]; then crashed+="$file: status $status"$'\n'; fi
    done
    nothing "mesh: assimp's invalid files are read or refused" "$crashed"
else
    skip "mesh: assimp's invalid files" "no assimp-testmodels (Debian), or a build without assimp"
fi

# ---- info as JSON ---------------------------------------------------------------------------------------------------
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

# ---- backends -----------------------------------------------------------------------------------------------------
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
if command -v strace > /dev/null; then
    strace -f -e trace=openat -o trace.txt "$carom" sweep --backend cpu --pairs good.csv > /dev/null || true
    nothing "cpu never loads an OpenCL driver" "$(grep -E '[.]icd"|vendors' trace.txt || true)"
else
    skip "cpu never loads an OpenCL driver" "no strace (Debian: strace)"
fi
check_end
