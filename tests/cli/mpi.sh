#!/bin/bash
# SPDX-License-Identifier: MIT
# mpi.sh CAROM CAROM-MPI: a bake by ranks has the bytes of a bake by one process, whatever the ranks compute on and
# whichever began it; one copy of the mesh serves a node; and a rank that fails or dies leaves a file to go on with.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
if ! command -v mpirun > /dev/null; then
    skip "ranks" "no mpirun (Debian: openmpi-bin)"
    exit 0
fi
mpi=$(realpath "$2")
bake_begin "$1"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export TMPDIR=$work # of Open MPI's own files

ranks() { # K option...: K ranks bake
    local count=$1
    shift
    mpirun -n "$count" "$mpi" bake "$@"
}
words() { grep '^carom: ' "$1"; } # of carom, without those of mpirun

# ---- the same bytes --------------------------------------------------------------------------------------------------
volume=(--mesh cube.off --dims '40,40,200')
bake distance "${volume[@]}" -o wanted.npy
for count in 1 2 3 7; do
    check "$count ranks bake" eval 'ranks $count distance "${volume[@]}" -o got.npy > out.txt 2>&1'
    check "$count ranks: the bytes of one process" cmp wanted.npy got.npy
    check "$count ranks: are reported" grep -qE \
        "^carom: node .*: $count ranks?, $count on the CPU .*; the mesh is there once" out.txt
    nothing "$count ranks: nothing else is left" "$(left)"
    rm -f got.npy
done
same() { # NAME FILE KIND option...: by one process and by three ranks
    local name=$1 file=$2
    shift 2
    bake "$@" -o "one.$file"
    ranks 3 "$@" -o "three.$file" > out.txt 2>&1 || true
    check "$name" cmp "one.$file" "three.$file"
}
same "more arrays, signs, a band, exact" d.vti distance --mesh cube.off --dims 30,30,90 --sign parity --band 0.4 \
    --with triangle,point,feature --accuracy exact
for kind in $(all_kinds); do
    kind_of "$kind"
    same "$kind" k.npy "$kind" --mesh cube.off "${own[@]}" --dims "$(nodes_of 40,40,90 300,2000)"
    rm -f one.k.npy three.k.npy
done
printf '%s\n' mesh,m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23,mask cube.off,1,0,0,0,0,1,0,0,0,0,1,0,0 \
    cube.off,-1,0,0,0,0,1,0,0.2,0,0,1,0.1,1 > scene.csv
same "a scene with masks" c.vti distance --scene scene.csv --dims 30,30,90 --sign parity --with triangle
same "fewer slabs than ranks" s.npy distance --mesh cube.off --dims 9,9,9

bake distance "${volume[@]}" -o wanted.vti
ranks 3 distance "${volume[@]}" -o several.npy -o several.vti > out.txt 2>&1 || true
check "several outputs" eval 'cmp wanted.npy several.npy && cmp wanted.vti several.vti'
mkdir folder
expect "many meshes are refused" 2 'bake distance: carom-mpi bakes one mesh, -o FILE; carom bakes many' ranks 2 \
    distance "${volume[@]}" --format npy -o folder/

bake distance "${volume[@]}" --part 1/3 -o part1
ranks 2 distance "${volume[@]}" --part 2/3 -o part2 2> out.txt
ranks 3 distance "${volume[@]}" --part 3/3 -o part3 2> out.txt
bake join joined.npy part3 part1 part2
check "parts of ranks and of one process are joined" cmp wanted.npy joined.npy

if bake distance --mesh cube.off --dims 9,9,9 --backend opencl -o device.npy 2> out.txt; then
    check "CPU and devices bake together" eval 'mpirun -n 1 "$mpi" bake distance "${volume[@]}" -o mixed.npy : \
        -n 2 "$mpi" bake distance "${volume[@]}" --backend opencl -o mixed.npy > out.txt 2>&1'
    check "CPU and devices: the bytes of one process" cmp wanted.npy mixed.npy
    check "a device is named" grep -qE '^carom: rank 1 \(node-local 1 of 3 on .*\): device [0-9]+, .*' out.txt
    check "the CPU too" grep -q 'node .*: 3 ranks, 1 on the CPU with' out.txt
else
    skip "CPU and devices bake together" "no OpenCL device"
fi

# Two nodes are two host names; messages between them take the network.
cat > start << 'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec unshare --uts sh -c "hostname $host; exec sh -c '$*'"
END
chmod +x start
if unshare --uts hostname elsewhere 2> /dev/null; then
    check "two nodes bake" eval 'timeout 60 mpirun --mca plm_rsh_agent "$PWD/start" --host nodea:2,nodeb:2 \
        --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo -n 4 "$mpi" bake distance "${volume[@]}" -o nodes.npy \
        > out.txt 2>&1'
    check "two nodes: the bytes of one process" cmp wanted.npy nodes.npy
    equal "each node has a mesh" "2" "$(grep -c '^carom: node node[ab]: 2 ranks.*the mesh is there once' out.txt)"
else
    skip "two nodes bake" "no second host name may be made"
fi

# ---- refusals --------------------------------------------------------------------------------------------------------
refused_once() { # NAME STATUS PATTERN command...: as refused, and one rank alone says so
    refused "$@"
    equal "$1: one sentence" 1 "$(words stderr.txt | wc -l)"
}
refused_once "a mesh that is not there" 2 'none.off: cannot be opened' \
    ranks 3 distance --mesh none.off --dims 9,9,9 -o no.npy
refused_once "an unknown option" 2 '--what' ranks 3 distance --what -o no.npy
refused_once "what is for one process" 2 'not bake join; what else there is, carom does' ranks 2 join a b
refused_once "paths" 2 'not bake path' ranks 2 path --mesh cube.off --paths none.csv -o p.csv
refused_once "other options for one rank" 2 'rank 2: its options differ from those of rank 0 in more than' \
    mpirun -n 2 "$mpi" bake distance "${volume[@]}" -o no.npy : \
    -n 1 "$mpi" bake distance "${volume[@]}" --band 1 -o no.npy
check "help is printed once" eval '[ "$(mpirun -n 3 "$mpi" --help | grep -c ^Usage)" -eq 1 ]'

# ---- ranks that end too early ----------------------------------------------------------------------------------------
long=(--mesh cube.off --dims '100,100,1600')
slabs=200
bake distance "${long[@]}" -o long-wanted.npy
has_begun() { [ "$(stat -c %s long.npy.journal 2> /dev/null || echo 0)" -gt 600 ]; } # bytes
begins() { until has_begun || ! kill -0 $job 2> /dev/null; do sleep 0.02; done; }
processes() { pgrep -P "$job" -f carom-mpi; }                                        # of the ranks, in their order
started() { # option...: three ranks at work, under mpirun that is $job
    rm -f long.npy*
    mpirun -n 3 "$mpi" bake distance "${long[@]}" -o long.npy "$@" > out.txt 2>&1 &
    job=$!
    begins
}
ended() { # NAME STATUS: so mpirun ends
    local status=0
    { wait $job || status=$?; } 2> /dev/null
    equal "$1: status" "$2" $status
    check "$1: the partial file stays" test -e long.npy.partial -a -e long.npy.journal -a ! -e long.npy
}
goes_on() { "$@" distance "${long[@]}" --resume -o long.npy > resumed.txt 2>&1; }
resumed() { # NAME command...: gives the wanted bytes, and does not begin anew
    local name=$1
    shift
    check "$name: --resume goes on" goes_on "$@"
    check "$name: with what there is" grep -qE "going on, [1-9][0-9]* of $slabs slabs are done" resumed.txt
    check "$name: the same bytes" cmp long-wanted.npy long.npy
}
stopped="^carom: long.npy: [0-9]+ of $slabs slabs are done; the same command with --resume goes on"

started
kill -KILL "$(processes | sed -n 2p)"
ended "a rank is killed" 137
check "a rank is killed: mpirun names it" grep -q 'process rank 1 .*exited on signal 9' out.txt
check "a rank is killed: a sentence says that --resume goes on" grep -q '^carom: long.npy: ranks finish .*--resume' \
    out.txt
resumed "a rank is killed" bake
started --threads 1
kill -KILL "$(processes | sed -n 1p)"
ended "rank 0 is killed" 137
scalar() { ranks 2 "$@" --isa scalar --threads 1; }
resumed "rank 0 is killed" scalar
started
kill -USR2 $job
ended "SIGUSR2 of mpirun" 75
check "SIGUSR2 of mpirun: the sentence of carom" grep -qE "$stopped" out.txt
resumed "SIGUSR2 of mpirun" ranks 7
started
kill -TERM "$(processes | sed -n 3p)"
ended "SIGTERM of a rank" 75
check "SIGTERM of a rank: the sentence of carom" grep -qE "$stopped" out.txt
started --isa scalar --threads 1 # so slow that slabs are left when mpirun kills, a second later
kill -TERM $job
ended "SIGTERM of mpirun" 1
resumed "SIGTERM of mpirun" bake
rm -f long.npy*
"$carom" bake distance "${long[@]}" -o long.npy 2> out.txt & # by one process, to go on with ranks
job=$!
begins
kill -TERM $job
ended "one process is stopped" 75
resumed "one process is stopped" ranks 3

limited='ulimit -f 1000; exec "$0" "$@"'
rm -f long.npy*
status=0
mpirun -n 2 "$mpi" bake distance "${long[@]}" -o long.npy : -n 1 bash -c "$limited" "$mpi" bake distance "${long[@]}" \
    -o long.npy > out.txt 2>&1 || status=$?
equal "a rank that cannot write: status" 1 $status
check "a rank that cannot write says so" grep -q '^carom: rank 2: long.npy.partial: cannot be written: File too large' \
    out.txt
check "a rank that cannot write: the rest is kept" grep -qE "$stopped" out.txt
resumed "a rank that cannot write" ranks 2

# ---- one mesh for a node ---------------------------------------------------------------------------------------------
awk 'BEGIN {
    n = 256
    printf "OFF\n%d %d 0\n", (n + 1) * (n + 1), 2 * n * n
    for (j = 0; j <= n; j++) for (i = 0; i <= n; i++) printf "%g %g %g\n", i / n, j / n, sin(i * j / 900) / 9
    for (j = 0; j < n; j++) for (i = 0; i < n; i++) {
        a = j * (n + 1) + i
        printf "3 %d %d %d\n3 %d %d %d\n", a, a + 1, a + n + 2, a, a + n + 2, a + n + 1
    }
}' > sheet.off
long=(--mesh sheet.off --dims '400,400,400')
started
memory() { # FIELD of what the ranks share, summed up in KiB
    local process
    for process in $(processes); do
        awk -v field="$1:" '/^[0-9a-f]+-/ { ours = /osc_sm[.]/ } ours && $1 == field { print $2 }' \
            "/proc/$process/smaps"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}
# 410 bytes: two and a half times the mesh, as three ranks have looked at most of it; then 0.9 to 1.2 times.
told=$(sed -n 's/.*the mesh is there once, \([0-9]*\) bytes/\1/p' out.txt)
seen=$(memory Rss) share=$(memory Pss)
kill -USR2 $job
wait $job 2> /dev/null || true
check "three ranks see the mesh ($seen KiB of ${told:-no} bytes)" test "$seen" -ge $((${told:-0} / 410)) -a \
    "${told:-0}" -gt 5000000
check "and it is there once ($share KiB)" test "$share" -ge $((${told:-0} / 1138)) -a \
    "$share" -le $((${told:-0} / 853))
if [ "$(id -u)" -eq 0 ] && unshare --mount mount -t tmpfs none /dev/shm 2> /dev/null; then
    in_little() { unshare --mount sh -c 'mount -t tmpfs -o size=16m none /dev/shm && exec "$@"' - "$@"; }
    refused_once "too little shared memory" 1 'needs [0-9]+ bytes of shared memory, and /dev/shm has room for' \
        in_little sh -c 'head -c 12000000 /dev/zero > /dev/shm/full && exec "$@"' - mpirun -n 2 "$mpi" bake distance \
        --mesh sheet.off --dims 9,9,9 -o no.npy
else
    skip "too little shared memory" "no other /dev/shm can be mounted"
fi
check_end
