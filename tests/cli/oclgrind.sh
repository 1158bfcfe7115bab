#!/bin/bash
# SPDX-License-Identifier: MIT
# oclgrind.sh CAROM [long]: under Oclgrind, an interpreter that looks for races and uninitialised values, the command
# finds no error and writes what the CPU writes. Each process probes its kernel anew, which takes most of the time: few
# queries cost nothing beside it. With `long` the kernels whose probes take minutes each: those of meshes, and more.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"
if ! command -v oclgrind > /dev/null; then
    skip "oclgrind" "not installed (Debian: oclgrind)"
    exit
fi

# A few pairs of each kind, and a few spheres around a cube.
cat > cube.off << 'END'
OFF
8 12 0
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
3 0 2 1
3 0 3 2
3 4 5 6
3 4 6 7
3 0 1 5
3 0 5 4
3 1 2 6
3 1 6 5
3 2 3 7
3 2 7 6
3 3 0 4
3 3 4 7
END
{
    echo cx,cy,cz,radius,vx,vy,vz
    for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "0.$i,0.5,3,0.1,0,0.0$i,-1"
        echo "-2,0.$i,0.5,0.25,0.5,0,0"
        echo "0.$i,0.$i,0.$i,0.2,0,0,0"
    done
} > few.csv
printf '%s\n' cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z \
    0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 5,5,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 > sweeps.csv
printf '%s\n' cx,cy,cz,radius,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z \
    0.25,0.25,0.5,1,0,0,0,1,0,0,0,1,0 5,5,2,1,0,0,0,1,0,0,0,1,0 > overlaps.csv
printf '%s\n' a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb \
    0,0,0,4,0,0,1,5,0,0,1,0,0,1 0,0,0,4,0,0,1,5,9,0,1,9,0,1 > spheres.csv

# same COMMAND...
same() {
    rm -f errors.log
    "$carom" "$@" --backend cpu -o cpu.csv || return 1
    # Optimised code holds intrinsics that it cannot interpret.
    OCL_ICD_VENDORS=/dev/null oclgrind --build-options -cl-opt-disable --data-races --uninitialized --log errors.log \
        "$carom" "$@" --backend opencl --probe-limit 0 -o device.csv || return 1
    cmp cpu.csv device.csv || return 1
    [ ! -s errors.log ] || { cat errors.log; return 1; }
}
if [ "${2:-}" != long ]; then
    check "sweep --pairs" same sweep --pairs sweeps.csv
else
    check "sweep --mesh" same sweep --mesh cube.off --spheres few.csv
    check "overlap --pairs" same overlap --pairs overlaps.csv
    check "spheres --pairs" same spheres --pairs spheres.csv
    check "sweep --hits all" same sweep --hits all --mesh cube.off --spheres few.csv
    check "overlap --hits count" same overlap --hits count --mesh cube.off --spheres few.csv
    check "overlap --hits closest" same overlap --hits closest --mesh cube.off --spheres few.csv
    check "sweep --accuracy exact" same sweep --accuracy exact --pairs sweeps.csv
fi
check_end
