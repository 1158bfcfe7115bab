#!/bin/bash
# SPDX-License-Identifier: MIT
# torture.sh CAROM TORTURE: every allocation, open, read, write, close, link, rename and flush that the command makes
# fails once, in a run each. What must come of it: the right exit status, a sentence, no temporary file, and in the
# place of the output either the old file or, where the run goes on without (status 0), all of the new one.
# CAROM_TEST_EFFORT (of 100) says how many of the calls are tried where there are many; 1000 tries all.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
torture=$(realpath "$2")
check_begin "$1"
tries=$((${CAROM_TEST_EFFORT:-100} * 3 / 10)) # of a kind of call on the CPU
[ $tries -ge 2 ] || tries=2

{
    echo cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
    for i in {1..300}; do echo 0.25,0.25,"$i",1,0,0,-1,0,0,0,1,0,0,0,1,0; done
} > pairs.csv
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0.5,0.25,2,0.5,0,0,-1 0.25,0.5,3,0.5,0,0,-1 > spheres.csv
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 2 3\n3 0 1 2\n' > square.off
printf '%s\n' ply 'format ascii 1.0' 'element vertex 4' 'property float x' 'property float y' 'property float z' \
    'element face 1' \
    'property list uchar int vertex_indices' end_header '0 0 0' '1 0 0' '1 1 0' '0 1 0' '4 0 1 2 3' > square.ply

# judge STATUS CALL: the reason why the last run is not as it should be, nothing if it is. Without other programs, for
# there are a thousand runs.
judge() {
    local status=$1 said output bad='(^|'$'\n'')carom: (pairs.csv|spheres.csv|square.off|square.ply): cannot be' work=1
    said=$(< stderr.txt)
    { output=$(< "$out"); } 2> /dev/null # bash does not keep bytes of 0
    [ "$2" != unlink ] || rm -f .carom-* # a file that cannot be removed stays
    # An input that cannot be opened or read is bad input; what else fails is work.
    [[ ! $said =~ $bad ]] || work=2
    if [ "$status" -ne 0 ] && [ "$status" -ne $work ]; then
        reason="status $status, not $work"
    elif [ "$status" -ne 0 ] && [[ $said != carom:\ * ]]; then
        reason="status $status without a sentence"
    elif [[ $said == 'carom: out of memory' ]]; then
        reason="out of memory, and no limit is named"
    elif compgen -G '.carom-*' > /dev/null; then
        reason="a temporary file is left"
        rm -f .carom-*
    elif [ "$status" -eq 0 ] && [[ $2 =~ ^(write|link|rename|fsync|fchmod)$ ]]; then
        reason="status 0 all the same"
    elif [ "$status" -eq 0 ] && [ "$output" != "$new" ]; then
        reason="status 0, and not the whole output"
    elif [ "$status" -ne 0 ] && [ "$output" != "$old" ] &&
        [[ $output != "$new" || $said != *'its folder cannot be flushed'* ]]; then
        reason="status $status, and the old output is gone"
    fi
}

# The output of the runs, and its option.
out=out.csv option=-o
# all NAME TRIES command...: of each kind of call every one, or so many, fails in a run of its own.
all() {
    local name=$1 most=$2 call count step k status reason new problems='' shown=''
    shift 2
    echo "$old" > "$out"
    if ! TORTURE_COUNTS=counts LD_PRELOAD=$torture "$@" $option "$out" > stdout.txt 2> stderr.txt; then
        fail "$name" "$(head -n 3 stderr.txt)"
        return
    fi
    { new=$(< "$out"); } 2> /dev/null
    while read -r call count; do
        step=$((count / most + 1))
        shown+=" $call $count"
        [ $step -eq 1 ] || shown+=" (1 in $step)"
        for ((k = 1; k <= count; k += step)); do
            status=0 reason=''
            [ ! -e hit ] || rm hit
            echo "$old" > "$out"
            TORTURE_CALL=$call TORTURE_AT=$k TORTURE_HIT=hit LD_PRELOAD=$torture "$@" $option "$out" > stdout.txt \
                2> stderr.txt ||
                status=$?
            judge $status "$call"
            [ -e hit ] || [ "$call" = close ] || reason+=" (not reached)"
            [ -z "$reason" ] || problems+="$call $k: $reason: $(head -n 2 stderr.txt)"$'\n'
        done
    done < counts
    nothing "$name:$shown" "$problems"
}

# killed CALL LEFT: SIGKILL at each call of the kind. The old file stays; at which calls a temporary file is left.
killed() {
    local call=$1 count k left=''
    count=$(sed -n "s/^$call //p" counts)
    for ((k = 1; k <= count; k++)); do
        echo "$old" > out.csv
        { # bash tells of the kill
            TORTURE_CALL=$call TORTURE_AT=$k TORTURE_HIT=hit TORTURE_KILL=1 LD_PRELOAD=$torture "$carom" sweep \
                --backend cpu --threads 1 --pairs pairs.csv -o out.csv || true
        } > stdout.txt 2>&1
        [ "$(< out.csv)" = "$old" ] || left+="$k new "
        ! compgen -G '.carom-*' > /dev/null || left+="$k "
        rm -f .carom-* hit
    done
    equal "killed at each $call ($count)" "$2" "$left"
}

old="an old file of some length"
TORTURE_COUNTS=counts LD_PRELOAD=$torture "$carom" sweep --backend cpu --threads 1 --pairs pairs.csv -o out.csv
if grep -qx 'link 1' counts; then
    killed write ''
    killed link ''
    killed rename '1 '
    # The content is flushed without a name; the name, and then the folder, which has the new file.
    killed fsync '2 3 new '
else
    skip "killed" "this file system has no files without a name"
fi
all "cpu: sweep --pairs" $tries "$carom" sweep --backend cpu --threads 2 --pairs pairs.csv
for mesh in square.off square.ply; do
    all "cpu: sweep --mesh $mesh" $tries "$carom" sweep --backend cpu --threads 2 --mesh $mesh --spheres spheres.csv
    all "cpu: info --mesh $mesh" $tries "$carom" info --backend cpu --mesh $mesh
done
all "cpu: sweep --hits all" $((tries / 2)) "$carom" sweep --hits all --backend cpu --threads 1 --mesh square.off \
    --spheres spheres.csv
all "cpu: overlap --pairs" $((tries / 2)) "$carom" overlap --backend cpu --threads 1 --accuracy exact --pairs pairs.csv
all "cpu: overlap --mesh" $((tries / 2)) "$carom" overlap --hits closest --backend cpu --threads 1 --mesh square.ply \
    --spheres spheres.csv
contacts=("$carom" contacts --backend cpu --threads 1 --mesh square.off --spheres spheres.csv --margin 4)
for out in out.npy out.xyz out.vtp; do
    all "cpu: contacts to ${out#out}" $((tries / 2)) "${contacts[@]}"
done
option=--mesh-columns
all "cpu: contacts of triangles" $((tries / 2)) "${contacts[@]}"
out=out.csv option=-o
if "$carom" sweep --backend opencl --pairs pairs.csv > /dev/null 2>&1; then
    few=$((tries / 15 + 1)) # a device takes a second to open
    [ $tries -lt 300 ] || few=$tries
    all "opencl: sweep --pairs" $few "$carom" sweep --backend opencl --pairs pairs.csv
    all "opencl: sweep --mesh" $few "$carom" sweep --backend opencl --mesh square.off --spheres spheres.csv
else
    skip "opencl" "no usable OpenCL device"
fi
check_end
