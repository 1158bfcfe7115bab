#!/bin/bash
# SPDX-License-Identifier: MIT
# slurm.sh CAROM SOURCE: the job array of docs/scale.md under Slurm. This test's own munged, slurmctld and slurmd serve
# one node that says it has 32 cores, on ports of this machine that were free, with all files in the test's folder.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
PATH=$PATH:/usr/sbin
page=$(realpath "$2")/docs/scale.md
for tool in munged slurmctld slurmd sbatch; do
    if ! command -v $tool > /dev/null; then
        skip "a job array" "no $tool (Debian: slurm-wlm, munge)"
        exit 0
    fi
done
bake_begin "$1"
ln -s "$carom" carom
cp cube.off square.off # as the page calls it

# ---- a cluster of one node -------------------------------------------------------------------------------------------
daemons=()
stop_cluster() {
    local k
    for ((k = ${#daemons[@]} - 1; k >= 0; k--)); do
        kill "${daemons[k]}" 2> /dev/null || true
        wait "${daemons[k]}" 2> /dev/null || true
    done
    rm -rf "$work"
}
trap stop_cluster EXIT
daemon() { # NAME command...: in the foreground of a process of this test
    "${@:2}" > "$1.out" 2>&1 < /dev/null &
    daemons+=($!)
}
start_cluster() {
    local ports user
    user=$(id -un)
    ports=$(python3 -c 'import socket
several = [socket.create_server(("localhost", 0)) for _ in range(2)]
print(*(one.getsockname()[1] for one in several))') || return
    chmod 711 "$work" # munged asks that everybody may reach its socket
    mkdir state spool
    head -c 1024 /dev/urandom > munge.key
    chmod 400 munge.key
    printf '%s\n' ClusterName=test SlurmctldHost=localhost SlurmctldPort="${ports% *}" SlurmdPort="${ports#* }" \
        SlurmUser="$user" SlurmdUser="$user" AuthType=auth/munge "AuthInfo=socket=$work/munge.socket" \
        "StateSaveLocation=$work/state" "SlurmdSpoolDir=$work/spool" "SlurmctldPidFile=$work/slurmctld.pid" \
        "SlurmdPidFile=$work/slurmd.pid" ProctrackType=proctrack/linuxproc TaskPlugin=task/none SwitchType=switch/none \
        JobAcctGatherType=jobacct_gather/none AccountingStorageType=accounting_storage/none MpiDefault=none \
        SelectType=select/cons_tres SelectTypeParameters=CR_Core SlurmdParameters=config_overrides \
        SchedulerParameters=batch_sched_delay=0,sched_interval=1 ReturnToService=2 \
        "NodeName=localhost CPUs=32 State=UNKNOWN" "PartitionName=all Nodes=localhost Default=YES State=UP" > slurm.conf
    export SLURM_CONF=$work/slurm.conf
    daemon munged munged --foreground --key-file="$work/munge.key" --socket="$work/munge.socket" \
        --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge.seed"
    soon 10 test -S munge.socket || return
    daemon slurmctld slurmctld -D
    daemon slurmd slurmd -D -N localhost
    soon 30 is_idle
}
soon() { # SECONDS command...: is true before they are over
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [ $SECONDS -lt $end ] || return
        sleep 0.1
    done
}
is_idle() { [ "$(sinfo -h -o %T 2> /dev/null)" = idle ]; }
if ! start_cluster; then
    skip "a job array" "no Slurm can be started here: $(tail -qn 1 munged.out slurmctld.out slurmd.out 2> /dev/null |
        tr '\n' ' ')"
    exit 0
fi

# ---- the page --------------------------------------------------------------------------------------------------------
# What stands in its section, cut at the command that submits.
awk '/^## /{ inside = /Job arrays/ } inside && /^```sh$/ { open = 1; next } /^```$/ { open = 0 } inside && open' \
    "$page" > section.sh
sed -n '/^cat > array.sh/,/^END$/p' section.sh > write.sh
export PATH=$work:$PATH
check "the page has a script" eval '. ./write.sh && test -s array.sh'
check "the page submits and joins" eval 'grep -q "^sbatch --wait array.sh$" section.sh &&
    grep -q "^carom bake join volume.npy" section.sh'
check "the array runs" sbatch --quiet --wait array.sh
bake distance --mesh square.off --dims 20,20,160 -o one.npy
grep -E '^(carom bake join|cmp) ' section.sh > join.sh
check "the parts are joined, with the bytes of one process" bash -e join.sh
nothing "nothing else is left" "$(left)"
check "each part is a job of its own" eval '[ "$(ls slurm-*_[1-4].out | wc -l)" -eq 4 ]'

# ---- jobs that are stopped -------------------------------------------------------------------------------------------
# The same script, of more nodes and slower, so that a signal finds slabs undone.
sed -e 's/20,20,160/100,100,1600 --isa scalar --threads 1/' -e 's/volume/long/' array.sh > long.sh
submit() { job=$(sbatch --parsable long.sh); }
begun() { # PART: it has records of slabs
    [ "$(stat -c %s "long$1.part.journal" 2> /dev/null || echo 0)" -gt 500 ]
}
ended() { ! squeue -h -j "$job" 2> /dev/null | grep -q .; }
status_of() { scontrol show job "${job}_$1" | sed -n 's/.* ExitCode=\([0-9:]*\).*/\1/p' | head -n 1; } # PART
submit
check "slabs are recorded" eval 'soon 30 begun 1 && soon 30 begun 2'
scancel --signal=TERM --batch "${job}_1"
scancel --signal=KILL --batch "${job}_2"
check "all jobs end" soon 60 ended
equal "a job that Slurm stops before its limit: status" 75:0 "$(status_of 1)"
check "a job that Slurm stops before its limit: the sentence of carom" grep -q \
    'slabs are done; the same command with --resume goes on' "slurm-${job}_1.out"
equal "a job that is killed: status" 0:9 "$(status_of 2)"
check "two of four parts are there" eval 'test ! -e long1.part -a ! -e long2.part -a -e long3.part -a -e long4.part'
touch -r long3.part before
submit
check "the array again: all jobs end" soon 60 ended
for part in 1 2; do
    check "part $part goes on with what there was" grep -qE 'going on, [1-9][0-9]* of [0-9]+ slabs are done' \
        "slurm-${job}_$part.out"
    equal "part $part: status" 0:0 "$(status_of $part)"
done
check "a part that was there is left alone" eval '[ ! long3.part -nt before ] && [ ! -s "slurm-${job}_3.out" ]'
sed -e 's/100,100,1600/400,400,1600/' -e 's/long/limit/' long.sh > limit.sh
job=$(sbatch --parsable --time=1 --array=1 limit.sh) # whose signal is due at once
check "a job at its limit ends" soon 60 ended
equal "a job at its limit: status" 75:0 "$(status_of 1)"
check "a job at its limit: slabs are kept" grep -qE \
    '^carom: limit1.part: [1-9][0-9]* of 600 slabs are done; .*--resume' "slurm-${job}_1.out"
bake join long.npy long[1-4].part
bake distance --mesh square.off --dims 100,100,1600 -o wanted.npy
check "the bytes of one process" cmp wanted.npy long.npy
check_end
