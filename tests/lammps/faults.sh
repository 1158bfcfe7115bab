# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154 # LAMMPS gets them; run.sh and words.sh set them
# faults.sh: buffers, memory and files that may fail fix wall/carom. Sourced by tests/rows/lammps.sh.

# ---- a grain with many contacts is sent by commands ------------------------------------------------------------------
# They leave less room behind a grain than its contacts take, unless the fix has said how much it needs.
many() { # X VX: a grain that lies in, or flies into, a cage of 1200 triangles
    begin_input -3 3 0.1 1e-4
    cat << END
create_atoms 1 single $1 0 0
create_atoms 1 single 2.5 2.5 2.5
set group all diameter 1.0 density 1.9
velocity all set $2 0 0
fix move all nve/sphere
fix w all wall/carom mesh cage-1200.stl contact hooke 0 0 0 0 0
thermo_style custom step atoms f_w[4]
thermo_modify norm no lost ignore
neigh_modify every 100000 delay 100000 check no
END
}
{
    many 0.001 0
    echo 'run 0'
    echo 'print "CONTACTS $(f_w[4])"'
    echo 'write_restart many.restart'
} > many.in
{
    echo 'processors ${px} ${py} 1'
    echo 'newton off'
    echo 'read_restart many.restart'
    many 0 0 | sed -n '/^neighbor/,/^timestep/p; /^fix/,$p'
    echo 'balance 0.9 shift x 10 1.0'
    echo 'run 1'
    echo 'print "CONTACTS $(f_w[4])"'
} > many-rest.in
{
    many 0.6 -50
    echo 'run 120'
    echo 'print "CONTACTS $(f_w[4])"'
    echo 'displace_atoms all move -1 0 0'
    echo 'run 1'
} > many-go.in
check "a grain with many contacts" alone many.in "${one[@]}"
equal "it has them" 1200 "$(printed CONTACTS)"
check "its restart is balanced" lammps many-rest.in 2 -var px 2 -var py 1
equal "it has its contacts on the other rank" 1200 "$(printed CONTACTS)"
check "a grain gets many contacts, then is moved to another rank" lammps many-go.in 2 -var px 2 -var py 1
equal "it had them" 1200 "$(printed CONTACTS)"

# ---- shared memory ---------------------------------------------------------------------------------------------------
small_memory() { # command...: with 1 MB in /dev/shm
    unshare -m bash -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$@"' bash "$@"
}
{
    many 0.6 0 | sed 's/cage-1200.stl/floor-irregular.stl mesh &/'
    echo 'run 1'
    echo "$end"
} > shared.in
check "two ranks share a mesh" lammps shared.in 2 -var px 2 -var py 1
mv last.txt shared.txt
if small_memory true 2> /dev/null; then
    check "two ranks without room in /dev/shm" small_memory timeout 100 mpirun -n 2 "$lmp" -in shared.in \
        -log screen.txt -screen none -var px 2 -var py 1
    check "it says that each has a copy" grep -q \
        'WARNING: .*/dev/shm has [0-9]* bytes free, the mesh needs [0-9]*: each rank has a copy of its own' screen.txt
    equal "each mesh has as many copies as ranks" 2 "$(grep -c "a copy for each of 2 ranks of a node" screen.txt)"
    check "the bytes are the same" cmp shared.txt last.txt
else
    skip "two ranks without room in /dev/shm" "no mount in a namespace of one's own (root may)"
fi
OMPI_MCA_osc=^sm fails "no shared memory at all" 'ERROR: Fix wall/carom: MPI gives no shared memory of [0-9]* bytes' 2 \
    eval 'timeout 100 mpirun -n 2 "$lmp" -in shared.in -log none -var px 2 -var py 1 > out.txt 2>&1
        status=$?; [ $status -ge 124 ] && echo > out.txt; (exit $status)'

# ---- clear -----------------------------------------------------------------------------------------------------------
sed -n "/^cat > ball.in/,/^END/p" "$root/docs/lammps.md" | sed '1d; $d; s/^run .*/run 100/' > ball.in
printf '%s\n' 'OFF' '4 2 0' '-2 -2 0' '2 -2 0' '2 2 0' '-2 2 0' '3 0 1 2' '3 0 2 3' > floor.off
cat > again.in << 'END'
variable n loop 3
label again
include ball.in
clear
next n
jump SELF again
END
check "a run, clear, the same run" alone again.in
equal "three runs" 3 "$(grep -c '^ *100 ' out.txt)"
equal "they have the same numbers" 1 "$(grep '^ *100 ' out.txt | sort -u | wc -l)"

# ---- restart files ---------------------------------------------------------------------------------------------------
{
    one_ball 0 0 0.499 0 0 0
    echo "fix w all wall/carom \${words}"
    echo 'run 10'
    echo 'write_restart ball.restart'
} > ball-begin.in
{
    echo 'newton off'
    echo 'read_restart ball.restart'
    one_ball 0 0 0 0 0 0 | sed -n '/^comm_modify/p; /^neighbor/,/^timestep/p; /^fix/p'
    echo "fix w all wall/carom \${words}"
    echo 'run 1'
} > ball-rest.in
other='WARNING: Fix wall/carom: the motion is not that of the restart file, whose wall'
restarted() { # NAME BEGUN GOES-ON WARNINGS [PATTERN]: motions, and which warnings of the fix there are
    check "$1: begins" alone ball-begin.in "${one[@]}" -var words "$ok $2"
    check "$1: goes on" alone ball-rest.in "${one[@]}" -var words "$ok $3"
    equal "$1: warnings" "$4" "$(grep -c 'WARNING: Fix wall/carom' out.txt)"
    [ "$4" -eq 0 ] || check "$1: its words" grep -q "$5" out.txt
}
restarted "a wall at rest that moves" '' 'move linear 0 0 20' 1 "$other is at rest"
restarted "a wall that moves otherwise" 'move linear 0 0 0.1' 'move linear 0 0 0.2' 1 "$other moves otherwise"
restarted "a wall that stops" 'move linear 0 0 0.1' '' 1 "$other moves otherwise"
restarted "a wall that moves on" 'move rotate 0 0 0 0 0 1 9' 'move rotate 0 0 0 0 0 3 9' 0
restarted "a wall that stays at rest" '' '' 0

# broken NAME NUMBERS: the first history in the file, 10 numbers for 1 contact, begins with these
cp ball.restart sound.restart
broken() {
    python3 - "$2" << 'END'
import struct, sys

data = open("sound.restart", "rb").read()
at = data.find(struct.pack("<4d", 10, 1, 0, 0))
numbers = [float(n) for n in sys.argv[1].split()]
assert at >= 0 and data.find(struct.pack("<4d", 10, 1, 0, 0), at + 1) < 0
new = struct.pack("<%dd" % len(numbers), *numbers)
open("ball.restart", "wb").write(data[:at] + new + data[at + len(new) :])
END
    fails "a restart file: $1" 'ERROR on proc 0: .*the restart file has no sound history of contacts for atom 1' 1 \
        alone ball-rest.in "${one[@]}" -var words "$ok"
}
broken "more contacts than numbers" "10 2"
broken "very many contacts" "10 1e300"
broken "contacts that are no number" "10 nan"
broken "fewer than no contacts" "10 -1"
broken "half a contact" "6 0.5"
broken "a length that is no number" "nan 1"
broken "a length beyond the end" "18 2"
broken "a mesh that is not there" "10 1 1"
broken "a patch below 0" "10 1 0 -1"
broken "a point that is not finite" "10 1 0 0 inf"

# ---- rigid bodies ----------------------------------------------------------------------------------------------------
# Three bodies of two balls each fall on a floor. Fix wall/gran knows the bodies of one fix alone.
{
    begin_input -9 9 0.1 1e-4
    for x in -4 0 4; do
        echo "create_atoms 1 single $x 0.1 0.55"
        echo "create_atoms 1 single $((x + 1)) 0.2 0.6"
    done
    cat << 'END'
set group all diameter 1.0 density 1.909859317102744
velocity all set 1 0.5 -1
comm_modify cutoff 4
variable body atom floor((id+1)/2)
group some id 1 2
group rest subtract all some
neigh_modify exclude group all all
fix g all gravity 9.81 vector 0 0 -1
fix one ${one} custom v_body
fix two ${two}
fix w all wall/${wall}
thermo_style custom step atoms
run 2000
write_dump all custom bodies.txt id x y z vx vy vz modify sort id format float %.17g
END
} > bodies.in
none='all print 1000 bodies'
carom_floor='carom mesh floor-irregular.stl contact hooke 1e5 2e4 30 30 0.3'
check "bodies on fix wall/gran" alone bodies.in "${one[@]}" -var one 'all rigid' -var two "$none" \
    -var wall 'gran hooke/history 1e5 2e4 30 30 0.3 1 zplane 0 NULL'
bodies=$(tail -n 6 bodies.txt)
bodies() { # NAME ONE TWO: fixes
    check "bodies of $1" alone bodies.in "${one[@]}" -var one "$2" -var two "$3" -var wall "$carom_floor"
    check "bodies of $1: the motion on fix wall/gran" within 1e-4 "$bodies" "$(tail -n 6 bodies.txt)"
}
bodies "fix rigid" 'all rigid' "$none"
bodies "fix rigid/small" 'all rigid/small' "$none"
bodies "two fixes" 'some rigid' 'rest rigid custom v_body'

# ---- a radius below 0 ------------------------------------------------------------------------------------------------
{
    one_ball 0 0 0.499 0 0 0 | sed 's/^atom_style sphere/& 1/'
    echo "fix w all wall/carom $ok"
    echo 'variable d equal 1-0.1*step'
    echo 'fix ad all adapt 1 atom diameter v_d'
    echo 'run 20'
} > shrink.in
fails "a radius below 0" 'ERROR on proc 0: Fix wall/carom: the radius of atom 1 is negative at step 11' 1 \
    alone shrink.in "${one[@]}"
