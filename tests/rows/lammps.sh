#!/bin/bash
# SPDX-License-Identifier: MIT
# lammps.sh: fix wall/carom in lmp-carom: the bytes of its runs, its forces beside those of fix wall/gran and LIGGGHTS,
# and its words. $BUILD has lmp-carom and carom.
# shellcheck disable=SC2016 # eval, LAMMPS and awk get them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
root=$PWD tests=$PWD/tests/lammps
lmp=$BUILD/lmp-carom
if [ ! -x "$lmp" ]; then
    echo "SKIP: no lmp-carom (Debian: liblammps-dev, libopenmpi-dev, openmpi-bin)"
    exit 77
fi
check_begin "$BUILD/carom"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 TMPDIR=$work OMP_NUM_THREADS=1
python3 "$tests/meshes.py"

# shellcheck source=tests/lammps/run.sh
. "$tests/run.sh"

# ---- the same bytes on any ranks, and over a restart -----------------------------------------------------------------
fix_walls() { # the fixes of the runs below; two meshes, one law
    cat << 'END'
fix g all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
fix w all wall/carom mesh chute.stl mesh plate.stl contact ${law} accuracy ${accuracy} merge 1e-6 ${motion}
END
}
{
    begin_input -0.2 1.3 0.01 1e-4
    cat << 'END'
lattice sc 0.041
region drop block 0.05 0.9 0.05 0.45 0.1 0.7 units box
create_atoms 1 region drop
variable over atom "z > 0.6 - 0.57735*x + 0.0176 && z < 0.6 - 0.57735*x + 0.1"
variable under atom "!v_over"
group under variable under
delete_atoms group under
reset_atom_ids sort yes
set type 1 diameter 0.03 density 2500
variable vx atom 0.4+0.05*sin(500*x+300*y)
velocity all set v_vx v_vx 0
END
    fix_walls
    echo 'thermo_style custom step atoms f_w[1] f_w[3] f_w[4]'
    echo 'thermo_modify lost error norm no'
} > begin.in
{
    cat begin.in
    cat << END
run 1500
write_restart half.restart
variable touching equal f_w[4]
print "CONTACTS \${touching}"
run 1500
write_dump all custom \${out} $state
END
} > whole.in
{
    cat << 'END'
processors ${px} ${py} 1
newton off
read_restart half.restart
comm_modify vel yes
neighbor 0.01 bin
pair_style zero 0.01
pair_coeff * *
timestep 1e-4
END
    fix_walls
    echo 'run 1500'
    echo "write_dump all custom \${out} $state"
} > rest.in
same_bytes() { # NAME LAW ACCURACY MOTION
    local name=$1 vars=(-var law "$2" -var accuracy "$3" -var motion "$4")
    check "$name: one rank" alone whole.in "${vars[@]}" -var px 1 -var py 1 -var out one.txt
    check "$name: more than 100 contacts are half way" eval '[ "$(printed CONTACTS)" -gt 100 ]'
    cp half.restart one.restart
    for ranks in '2 1' '1 2'; do
        check "$name: ranks $ranks" lammps whole.in 2 "${vars[@]}" -var px "${ranks% *}" -var py "${ranks#* }" \
            -var out two.txt
        check "$name: ranks $ranks: the bytes of one rank" cmp one.txt two.txt
        equal "$name: ranks $ranks: each mesh is there once" 2 "$(grep -c 'one copy for 2 ranks of a node' out.txt)"
    done
    check "$name: a restart of two ranks on one" alone rest.in "${vars[@]}" -var px 1 -var py 1 -var out two.txt
    check "$name: its bytes" cmp one.txt two.txt
    cp one.restart half.restart
    check "$name: a restart of one rank on three" lammps rest.in 3 "${vars[@]}" -var px 3 -var py 1 -var out two.txt
    check "$name: its bytes, too" cmp one.txt two.txt
}
same_bytes hooke 'hooke 2e4 6e3 600 300 0.5' exact ''
same_bytes 'hertz, a wall that moves, fast' 'hertz 1e6 3e5 2e5 1e5 0.5' fast 'move rotate 0 0.25 0 0 1 0 40'
OMP_NUM_THREADS=2 check "two threads" alone whole.in -var law 'hertz 1e6 3e5 2e5 1e5 0.5' -var accuracy fast \
    -var motion 'move rotate 0 0.25 0 0 1 0 40' -var px 1 -var py 1 -var out two.txt
check "two threads: the bytes of one" cmp one.txt two.txt

# ---- one flat floor, however it is cut -------------------------------------------------------------------------------
{
    one_ball -6 -5 0.5 3 2.5 0
    echo 'fix w all wall/carom mesh ${mesh} contact hooke 1e5 2e4 30 30 0.3 accuracy exact merge 1e-5'
    echo 'run 20000'
    echo "$end"
} > roll.in
check "a ball rolls" alone roll.in "${one[@]}" -var mesh floor-1.stl
wanted=$(last)
check "it slips, then rolls: 5/7 of its speed is left" within 1e-2 \
    "1 -1.5518 -1.2932 0.4999 2.1429 1.7857 0 -3.5714 4.2857 0" "$wanted"
for mesh in 10 71 irregular needles junctions; do
    check "a ball rolls over floor-$mesh" alone roll.in "${one[@]}" -var mesh floor-$mesh.stl
    equal "floor-$mesh: the same 17 digits" "$wanted" "$(last)"
done
# In corners a grain has up to three contacts, whose order in the list depends on the triangles.
{
    one_ball 0.7 0.8 0.9 -1 -1 1
    echo 'fix g all gravity 9.81 vector -2 -2 -3'
    echo 'fix w all wall/carom mesh ${mesh} scale 10 contact hooke 1e5 2e4 200 100 0.3 accuracy exact'
    echo 'thermo_style custom step f_w[4]'
    echo 'run 20000'
    echo 'print "CONTACTS $(f_w[4])"'
    echo "$end"
} > corner.in
check "a ball in a corner" alone corner.in "${one[@]}" -var mesh box.stl
equal "it has three contacts" 3 "$(printed CONTACTS)"
wanted=$(last)
check "a ball in a corner of other triangles" alone corner.in "${one[@]}" -var mesh box-reversed.stl
equal "a corner of other triangles: the same 17 digits" "$wanted" "$(last)"

# ---- beside fix wall/gran on a plane ---------------------------------------------------------------------------------
# A place is rounded to binary32, so depths differ by some 3e-8: forces by 3e-3 of 500, for some milliseconds.
beside() { # NAME GRAN CAROM PLANE: a ball that falls, slips, bounces and rolls
    local gran
    {
        one_ball -6 -5 0.55 3 2.5 -1
        echo 'set group all omega 0 8 3'
        echo 'fix w all wall/${wall}'
        echo 'run 6000'
        echo "$end"
    } > beside.in
    check "$1: fix wall/gran" alone beside.in "${one[@]}" -var wall "gran $2"
    gran=$(last)
    check "$1: fix wall/carom" alone beside.in "${one[@]}" -var wall "carom mesh floor-irregular.stl contact $3"
    check "$1: the same motion" within "$4" "$gran" "$(last)"
}
beside "hooke" "hooke/history 1e5 2e4 30 30 0.3 1 zplane 0 NULL" "hooke 1e5 2e4 30 30 0.3" 5e-5
beside "hooke, NULL" "hooke/history 1e5 NULL 30 NULL 0.3 1 zplane 0 NULL" "hooke 1e5 NULL 30 NULL 0.3" 5e-5
beside "hertz" "hertz/history 1e6 2e5 300 200 0.3 1 zplane 0 NULL" "hertz 1e6 2e5 300 200 0.3" 5e-5
beside "hertz, a floor that slides" "hertz/history 1e6 2e5 300 200 0.3 1 zplane 0 NULL shear y 1.5" \
    "hertz 1e6 2e5 300 200 0.3 move linear 0 1.5 0" 5e-5

# ---- energy ----------------------------------------------------------------------------------------------------------
# 121 frictionless balls, each from a height of its own: the change of their energies in 2.5 s.
{
    begin_input -9 9 0.1 5e-5
    cat << 'END'
lattice sc 1.37
region layer block -7 7 -7 7 -0.2 0.2 units box
create_atoms 1 region layer
set group all diameter 1.0 density 1.909859317102744
variable height atom 0.7+0.05*x+0.007*y+0.5
set group all z v_height
velocity all set 0.05 0.03 0
fix g all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
variable energy atom 0.5*(vx^2+vy^2+vz^2)+9.81*z
fix w all wall/${wall}
thermo 0
run 0
write_dump all custom before.txt id v_energy z modify sort id format float %.17g
run 50000
write_dump all custom after.txt id v_energy z modify sort id format float %.17g
END
} > bounce.in
change() { # root mean square of the relative change, of balls that are in the air
    awk 'FNR < 10 { next } FNR == NR { before[$1] = $2; next }
        $3 > 0.5 { d = $2 / before[$1] - 1; sum += d * d; n++ } END { if (n > 100) print sqrt(sum / n) }' \
        before.txt after.txt || true # a run that failed has said so
}
for law in "hooke 1e5" "hertz 1e6"; do
    check "${law% *}: balls bounce on fix wall/gran" alone bounce.in "${one[@]}" \
        -var wall "gran ${law% *}/history ${law#* } 0 0 0 0 1 zplane 0 NULL"
    gran=$(change)
    check "${law% *}: balls bounce on fix wall/carom" alone bounce.in "${one[@]}" \
        -var wall "carom mesh floor-irregular.stl contact $law 0 0 0 0"
    check "${law% *}: energy changes no more" awk -v gran="$gran" -v carom="$(change)" \
        'BEGIN { print gran, carom; exit !(carom > 0 && carom <= 1.1 * gran) }'
done

# ---- beside LIGGGHTS -------------------------------------------------------------------------------------------------
# A ball in a drum that turns. LIGGGHTS damps a spring that does not slip alone, so gammat is 0; its curvature of 3
# degrees and a merge of 0.03 make of facets one wall.
if command -v liggghts > /dev/null; then
    cat > drum-liggghts.in << 'END'
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
units si
region box block -9 9 -9 9 -9 9 units box
create_box 1 box
neighbor 0.1 bin
neigh_modify delay 0
pair_style gran model hooke/stiffness tangential history
pair_coeff * *
fix m1 all property/global kn peratomtypepair 1 1e5
fix m2 all property/global kt peratomtypepair 1 2e4
fix m3 all property/global gamman peratomtypepair 1 30
fix m4 all property/global gammat peratomtypepair 1 0
fix m5 all property/global coefficientFriction peratomtypepair 1 0.3
timestep 5e-5
fix g all gravity 9.81 vector 0 0 -1
fix drum all mesh/surface file drum.stl type 1 curvature 3
fix wall all wall/gran model hooke/stiffness tangential history mesh n_meshes 1 meshes drum
fix turn all move/mesh mesh drum rotate origin 0 0 0 axis 0 1 0 period 6
create_atoms 1 single 1.2 -4.5 -2.18 units box
set group all diameter 1.0 density 1.909859317102744
velocity all set 0 0.5 0
fix move all nve/sphere
dump out all custom 1000 liggghts.txt x y z
dump_modify out format "%.17g %.17g %.17g"
run 10000
END
    {
        begin_input -9 9 0.1 5e-5
        cat << 'END'
create_atoms 1 single 1.2 -4.5 -2.18
set group all diameter 1.0 density 1.909859317102744
velocity all set 0 0.5 0
fix g all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
fix w all wall/carom mesh drum.stl contact hooke 1e5 2e4 30 0 0.3 move rotate 0 0 0 0 1 0 6 merge 0.03 accuracy exact
dump out all custom 1000 carom.txt x y z
dump_modify out format float %.17g
run 10000
END
    } > drum.in
    check "a drum turns in LIGGGHTS" liggghts -in drum-liggghts.in -log none
    check "a drum turns" alone drum.in "${one[@]}"
    check "the ball is within 1e-3 of LIGGGHTS's, at 11 times" within 1e-3 "$(grep -A 1 '^ITEM: ATOMS' liggghts.txt |
        grep -v '^[-I]')" "$(grep -A 1 '^ITEM: ATOMS' carom.txt | grep -v '^[-I]')"
else
    skip "a drum as in LIGGGHTS" "not installed (Debian: liggghts)"
fi
rm -f log.lammps log.liggghts

# ---- grains among each other -----------------------------------------------------------------------------------------
{
    begin_input -0.1 1.3 0.02 5e-5 | sed 's|^pair_style.*|pair_style gran/hooke/history 2e4 NULL 200 NULL 0.5 1|'
    cat << 'END'
lattice sc 0.13
region drop block 0.07 1.13 0.07 0.73 0.07 0.6 units box
create_atoms 1 region drop
set type 1 diameter 0.12 density 2500
variable vx atom 0.5*sin(50*x+30*y)
velocity all set v_vx v_vx 0
fix g all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
fix w all wall/carom mesh box.stl contact hooke 2e4 NULL 200 NULL 0.5 merge 1e-6
variable out atom "x < 0.03 || x > 1.17 || y < 0.03 || y > 0.77 || z < 0.03"
compute out all reduce sum v_out
variable n equal atoms
variable o equal c_out
variable wz equal f_w[3]
variable weight equal -9.81*mass(all)
thermo_style custom step atoms c_out ke f_w[1] f_w[2] f_w[3] f_w[4]
thermo_modify lost error norm no
thermo 5000
print "BEFORE ${n}"
run 20000
print "AFTER $(v_n) $(v_o)"
print "WEIGHT $(v_weight) $(v_wz)"
END
} > pairs.in
check "grains in a box, 20000 steps on two ranks" lammps pairs.in 2 -var px 2 -var py 1
equal "none is lost, none leaves the box" "$(printed BEFORE) 0" "$(printed AFTER)"
check "the floor bears their weight" awk -v both="$(printed WEIGHT)" \
    'BEGIN { split(both, w, " "); print both; exit !(w[1] < -100 && w[2] / w[1] > 0.9 && w[2] / w[1] < 1.1) }'

# ---- what the fix reports --------------------------------------------------------------------------------------------
{
    one_ball 0.3 0.2 0.4999019 0 0 0
    cat << 'END'
fix w all wall/carom mesh floor-10.stl contact hooke 1e5 2e4 100 100 0.3 accuracy exact ${extra}
fix_modify w virial yes
fix rows all ave/time 1 1 10 f_w[1] f_w[2] f_w[3] f_w[4] mode vector file rows.txt
compute p all pressure NULL fix
variable pull equal fcm(all,z)
thermo_style custom step c_p[3] vol
run 2000
print "WALL $(f_w[1]) $(f_w[2]) $(f_w[3]) $(f_w[4])"
print "STRESS $(c_p[3]*vol)"
END
} > rest-on.in
for extra in '' 'scale 0.5 mesh floor-1.stl' 'move rotate 0 0 0 0 0 1 1e9'; do
    check "a ball at rest, $extra" alone rest-on.in "${one[@]}" -var extra "$extra"
    walls=1
    case $extra in scale*) walls=2 ;; esac # two floors in one place share the weight
    check "the force on the wall is the weight, $extra" within 5e-3 "0 0 -9.81 $walls" "$(printed WALL)"
    check "the forces on triangles add up to it, $extra" within 5e-3 "0 0 -9.81 $walls" "$(tail -n +5 rows.txt |
        awk 'NF == 2 { delete sum } NF == 5 { for (k = 1; k < 5; k++) sum[k] += $(k + 1) }
            END { print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0 }')"
    check "the virial is force times arm, $extra" within 1e-2 4.904 "$(printed STRESS)"
done

# ---- which grains are looked at --------------------------------------------------------------------------------------
# A ball shot at the floor while the lists of LAMMPS are never built anew, and a wall that comes to a ball at rest.
{
    one_ball 0 0 3 0 0 -30
    cat << 'END'
neigh_modify delay 5000 every 5000 check no
fix w all wall/carom mesh floor-71.stl contact hooke 1e6 2e4 30 30 0.3 skin ${skin}
run 3000
END
    echo "$end"
} > shot.in
check "a ball shot at the floor" alone shot.in "${one[@]}" -var skin 8
wanted=$(last)
check "it comes back" eval '[[ $wanted == *" "[0-9]* ]] && awk "{ exit !(\$7 > 20) }" <<< "$wanted"'
for skin in 0.3 0.01 0; do
    check "a skin of $skin" alone shot.in "${one[@]}" -var skin $skin
    equal "a skin of $skin: the same 17 digits" "$wanted" "$(last)"
done
{
    one_ball 0 0 2 0 0 0
    cat << 'END'
unfix g
neigh_modify delay 5000 every 5000 check no
fix w all wall/carom mesh floor-71.stl contact hooke 1e6 2e4 30 30 0.3 skin ${skin} move linear 0 0 20
run 1000
END
    echo "$end"
} > come.in
check "a floor that comes" alone come.in "${one[@]}" -var skin 8
wanted=$(last)
check "it shoots the ball" awk '{ exit !($7 > 30) }' <<< "$wanted"
check "it comes with a skin of 0.05" alone come.in "${one[@]}" -var skin 0.05
equal "a skin of 0.05: the same 17 digits" "$wanted" "$(last)"

# ---- many contacts of a grain, ranks without grains ------------------------------------------------------------------
{
    begin_input -2 2 0.1 1e-4
    cat << 'END'
create_atoms 1 single 0.001 0 0
set group all diameter 1.0 density 1.909859317102744
velocity all set 0.5 0.3 0.2
fix move all nve/sphere
fix w all wall/carom mesh cage.stl contact hooke 1e4 5e3 3 3 0.3
thermo_style custom step atoms f_w[4]
thermo_modify lost error
END
} > cage-begin.in
{
    cat cage-begin.in
    echo 'run 300'
    echo 'write_restart cage.restart'
    echo 'print "CONTACTS $(f_w[4])"'
    echo 'run 700'
    echo "$end"
} > cage.in
{
    echo 'processors ${px} ${py} 1'
    echo 'newton off'
    echo 'read_restart cage.restart'
    sed -n '/^neighbor/,/^timestep/p; /^fix/,$p' cage-begin.in
    echo 'run 700'
    echo "$end"
} > cage-rest.in
check "a grain between 40 walls" alone cage.in "${one[@]}"
check "it has all of its contacts" eval '[ "$(printed CONTACTS)" -ge 30 ]'
wanted=$(last)
check "it goes from rank to rank" lammps cage.in 3 -var px 3 -var py 1
equal "from rank to rank: the same 17 digits" "$wanted" "$(last)"
check "its restart, on two ranks" lammps cage-rest.in 2 -var px 1 -var py 2
equal "its restart: the same 17 digits" "$wanted" "$(last)"

# ---- words, and what went wrong once ---------------------------------------------------------------------------------
# shellcheck source=tests/lammps/words.sh
. "$tests/words.sh"
# shellcheck source=tests/lammps/faults.sh
. "$tests/faults.sh"

# ---- the document ----------------------------------------------------------------------------------------------------
bash "$root/tests/package/readme.sh" "$root" "$BUILD" docs/lammps.md || check_failures=$((check_failures + 1))
check_end
