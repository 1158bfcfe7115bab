# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # run.sh sets them
# words.sh: what fix wall/carom refuses. Sourced by tests/rows/lammps.sh, whose files it uses.

# ---- words -----------------------------------------------------------------------------------------------------------
law='contact hooke 1e5 2e4 30 30 0.3'
ok="mesh floor-1.stl $law"
refused "no file" "no-such.stl: cannot be opened: No such file" "mesh no-such.stl $law"
head -c 150 floor-10.stl > broken.stl
refused "a broken file" "broken.stl: " "mesh broken.stl $law"
printf 'v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n' > nan.obj
refused "a vertex that is not finite" "nan.obj: .*vertex" "mesh nan.obj $law"
printf 'not a mesh\n' > text.3ds
refused "a file that no reader knows" "text.3ds: " "mesh text.3ds $law"
refused "no mesh" "no mesh" "$law"
refused "no law" "no contact" "mesh floor-1.stl"
refused "a mesh without a name" "mesh needs a value" "$law mesh"
refused "half a law" "contact needs hooke.hertz kn kt gamman gammat mu" "mesh floor-1.stl contact hooke 1 2 3"
refused "another law" "contact is hooke or hertz, not jkr" "mesh floor-1.stl contact jkr 1 2 3 4 5"
refused "a negative stiffness" "must be >= 0" "mesh floor-1.stl contact hooke -1 2 3 4 5"
refused "no number" "floating point" "mesh floor-1.stl contact hooke x 2 3 4 5"
refused "an unknown keyword" "unknown keyword curvature" "$ok curvature 1"
refused "an accuracy" "fast or exact, not good" "$ok accuracy good"
refused "a scale" "scale must be > 0" "$ok scale 0"
refused "a merge" "merge must be >= 0" "$ok merge -1"
refused "a skin" "skin must be >= 0" "$ok skin -1"
refused "a scale that binary32 has as 0" "scale is not a number of binary32: 1e-300" "$ok scale 1e-300"
refused "a scale that binary32 has as infinite" "scale is not a number of binary32: 1e39" "$ok scale 1e39"
refused "a merge that binary32 does not have" "merge is not a number of binary32: 1e300" "$ok merge 1e300"
refused "a skin that binary32 does not have" "skin is not a number of binary32: 1e300" "$ok skin 1e300"
refused "a motion" "move needs rotate" "$ok move wiggle x 1 2"
refused "an axis" "the axis has no length" "$ok move rotate 0 0 0 0 0 0 1"
refused "a period" "the period must be > 0" "$ok move rotate 0 0 0 0 0 1 0"
refused "a period that is nearly 0" "the period is below the numbers of binary64: 1e-320" \
    "$ok move rotate 0 0 0 0 0 1 1e-320"
refused "another timestep" "the timestep may not change" "$ok move linear 1 0 0" "run 1
timestep 1e-3"
refused "another timestep within a run" "the timestep may not change: it has at step 1" "$ok move linear 0 0 0.1" \
    "fix other all dt/reset 10 1e-5 1e-3 0.0001
velocity all set 0.5 0 0
run 20"
refused "an atom that leaves binary32" "position or radius of atom 1 is not finite in binary32 at step 1" "$ok" \
    "neigh_modify delay 100 every 100 check no
velocity all set 1e60 0 0"
refused "minimize" "cannot be used with minimize" "$ok" "minimize 1e-4 1e-4 10 10"
refused "atoms without radius" "requires atom style sphere" "$ok"

sed 's/mesh chute.stl/mesh box.stl/' rest.in > other.in
fails "another mesh than the restart's" 'ERROR: Fix wall/carom: box.stl .*is not the mesh of the restart file' 1 \
    lammps other.in 2 -var px 2 -var py 1 -var law 'hooke 2e4 6e3 600 300 0.5' -var accuracy exact -var motion '' \
    -var out o
fails "no file, on two ranks" 'ERROR: Fix wall/carom: no-such.stl: cannot be opened' 1 \
    lammps roll.in 2 -var px 2 -var py 1 -var mesh no-such.stl

# A rank that is killed takes the others along, and mpirun says which it was.
sed 's/^run 20000/run 100000000/' pairs.in > endless.in
rm out.txt
(lammps endless.in 2 -var px 2 -var py 1 || echo "status $?" > status.txt) &
run=$!
for ((tries = 0; tries < 300; tries++)); do
    grep -q '^ *5000 ' out.txt 2> /dev/null && break
    sleep 0.1
done
victim=$(pgrep -f "$lmp -in endless.in" | while read -r pid; do
    [ "$(cat "/proc/$pid/comm")" != lmp-carom ] || echo "$pid"
done | tail -n 1)
kill -9 "$victim"
wait $run || true
check "a killed rank ends the run" grep -q 'status [1-9]' status.txt
check "a killed rank is named" grep -qi 'signal 9\|killed' out.txt
