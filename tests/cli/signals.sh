#!/bin/bash
# SPDX-License-Identifier: MIT
# signals.sh CAROM TORTURE: every signal that ends a process ends the command, as that signal, and leaves neither a
# temporary file nor a changed output; on the CPU, and on a device whose driver has handlers of its own.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
torture=$(realpath "$2")
check_begin "$1"

columns=cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
printf '%s\n' $columns 0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 > pairs.csv
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 2 3\n3 0 1 2\n' > square.off
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0.5,0.25,2,0.5,0,0,-1 > spheres.csv

# A background job ignores SIGINT and SIGQUIT, so something between must set them back.
defaults() { exec python3 -c 'import os, signal, sys
for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$@"; }

# ended NAME SIGNAL CALL command... -o old.csv: held in its first CALL, it gets the signal; with again=yes, until it
# ends.
again=no
ended() {
    local name=$1 signal=$2 call=$3 status=0 i
    shift 3
    rm -f hit
    echo old > old.csv
    TORTURE_CALL=$call TORTURE_AT=1 TORTURE_HOLD=1 TORTURE_HIT=hit LD_PRELOAD=$torture defaults "$@" > stdout.txt \
        2> stderr.txt &
    local job=$!
    for ((i = 0; i < 600; i++)); do
        [ ! -e hit ] || break
        kill -0 $job 2> /dev/null || break
        sleep 0.1
    done
    if [ ! -e hit ]; then
        wait $job || status=$?
        fail "$name" "was not held in a $call: status $status: $(head -n 3 stderr.txt)"
        return
    fi
    kill -"$signal" $job
    { # the shell, too, has words for the death of a job
        for ((i = 0; i < 600; i++)); do
            kill -0 $job || break
            if [ $again = yes ]; then kill -"$signal" $job; fi
            sleep 0.05
        done
        kill -KILL $job || true
        wait $job || status=$?
    } 2> /dev/null
    if [ "$status" -ne $((128 + $(kill -l "$signal"))) ]; then
        fail "$name" "status $status: $(head -n 3 stderr.txt)"
    elif [ -n "$(find . -name '.carom-*')" ]; then
        fail "$name" "left $(find . -name '.carom-*')"
        rm -f .carom-*
    elif [ "$(cat old.csv)" != old ]; then
        fail "$name" "changed the old output"
    else
        pass "$name"
    fi
}

usual=(TERM INT HUP QUIT)
seldom=(USR1 USR2 ALRM VTALRM PROF XCPU XFSZ PIPE IO PWR STKFLT ABRT SEGV BUS ILL FPE SYS TRAP)
if ! command -v python3 > /dev/null; then
    skip "signals" "no python3 to set SIGINT to its default"
    exit 0
fi
ulimit -c 0
for signal in "${usual[@]}" "${seldom[@]}"; do
    ended "cpu: $signal while writing" "$signal" write "$carom" sweep --backend cpu --pairs pairs.csv -o old.csv
done
for signal in "${usual[@]}"; do
    ended "cpu: $signal while flushing" "$signal" fsync "$carom" sweep --backend cpu --pairs pairs.csv -o old.csv
    ended "cpu: $signal, a mesh" "$signal" write "$carom" overlap --backend cpu --mesh square.off \
        --spheres spheres.csv -o old.csv
done
if "$carom" sweep --backend opencl --pairs pairs.csv > /dev/null 2>&1; then
    for signal in "${usual[@]}" USR1 USR2 ALRM XCPU ABRT SEGV; do
        ended "opencl: $signal while writing" "$signal" write "$carom" sweep --backend opencl --pairs pairs.csv \
            -o old.csv
    done
    # A cache without the kernels: the driver compiles, and whatever it installs is there.
    mkdir cache
    POCL_CACHE_DIR=$PWD/cache ended "opencl: TERM after a build" TERM write "$carom" sweep --backend opencl \
        --pairs pairs.csv -o old.csv
    ended "opencl: TERM, a mesh" TERM write "$carom" sweep --backend opencl --mesh square.off --spheres spheres.csv \
        -o old.csv
else
    skip "opencl: signals" "no usable OpenCL device"
fi
# The first of these signals asks bench to end in order; the second ends it.
again=yes
for signal in TERM INT; do
    ended "bench --json: $signal twice while flushing it" "$signal" fsync "$carom" bench --backend cpu --isa scalar \
        --threads 1 --quick --queries 1 --accuracy fast --scene spheres-cached --json old.csv
done
again=no
ended "bench --json: HUP while flushing it" HUP fsync "$carom" bench --backend cpu --isa scalar --threads 1 --quick \
    --queries 1 --accuracy fast --scene spheres-cached --json old.csv
ended "verify -o: INT" INT write "$carom" verify --backend cpu --isa scalar --threads 1 --queries 100 -o old.csv

# What is ignored from the start, as by nohup, stays so.
rm -f hit
(
    trap '' HUP
    TORTURE_CALL=write TORTURE_AT=1 TORTURE_HOLD=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" sweep --backend cpu \
        --pairs pairs.csv \
        -o old.csv &
    while [ ! -e hit ] && kill -0 $!; do sleep 0.1; done
    test -e hit
    kill -HUP $!
    sleep 0.3
    kill -0 $!
    kill -TERM $!
    wait $! || [ $? -eq 143 ]
) > hup.txt 2>&1 && status=0 || status=$?
if [ "$status" -eq 0 ]; then
    pass "an ignored SIGHUP stays ignored"
else
    fail "an ignored SIGHUP stays ignored" "$(cat hup.txt)"
fi
nothing "and nothing is left" "$(find . -name '.carom-*')"
# Without a thread that waits there are handlers.
rm -f hit
TORTURE_CALL=thread TORTURE_AT=1 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" sweep --backend cpu --pairs pairs.csv \
    -o new.csv
check "without a further thread the work is done" test -s new.csv -a -e hit
check_end
