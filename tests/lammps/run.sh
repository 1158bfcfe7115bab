# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the tests use them, and set $lmp
# run.sh: how tests/rows/lammps.sh and its parts run LAMMPS. Sourced in their folder; $lmp is lmp-carom.

# ---- how LAMMPS is run -----------------------------------------------------------------------------------------------
# lammps INPUT RANKS [-var NAME VALUE......]: what it prints is in out.txt
lammps() {
    local input=$1 ranks=$2
    shift 2
    mpirun -n "$ranks" "$lmp" -in "$input" -log none "$@" > out.txt 2>&1
}
# alone INPUT [-var ...]: one process, without mpirun
alone() {
    local input=$1
    shift
    "$lmp" -in "$input" -log none "$@" > out.txt 2>&1
}
# printed NAME: the rest of the line that begins with this word
printed() { sed -n "s/^$1 //p" out.txt | tail -n 1; }
# begin_input LOW HIGH SKIN STEP: the beginning of an input: a box, grains of one type without forces between them
begin_input() {
    cat << END
units si
atom_style sphere
atom_modify map array
boundary f f f
newton off
comm_modify vel yes
processors \${px} \${py} 1
region box block $1 $2 $1 $2 $1 $2
create_box 1 box
neighbor $3 bin
pair_style zero $3
pair_coeff * *
timestep $4
END
}
state='id x y z vx vy vz omegax omegay omegaz modify sort id format float %.17g'
# within LIMIT "A ..." "B ...": as many numbers, none of which differ by more; lists of no numbers fail
within() {
    awk -v limit="$1" -v a="$2" -v b="$3" 'BEGIN {
        n = split(a, p, " "); m = split(b, q, " ")
        for (i = 1; i <= n; i++) { d = p[i] - q[i]; d = d < 0 ? -d : d; if (!(d <= limit)) bad = 1 }
        if (n == 0 || n != m || bad) { print "not within " limit ":\n" a "\n" b; exit 1 } }'
}

one_ball() { # X Y Z VX VY VZ: a ball of radius 0.5 and mass 1, alone
    begin_input -9 9 0.1 1e-4
    cat << END
create_atoms 1 single $1 $2 $3
set group all diameter 1.0 density 1.909859317102744
velocity all set $4 $5 $6
fix g all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
thermo 0
END
}
one=(-var px 1 -var py 1)
end="write_dump all custom last.txt $state"
last() { tail -n 1 last.txt; } # id x y z vx vy vz and the spin

# ---- runs that end with words ----------------------------------------------------------------------------------------
# refused NAME PATTERN WORDS [LINES]: the fix with these words, or a run after these lines, ends with such an error
refused() {
    local status=0
    one_ball 0 0 2 0 0 0 > words.in
    printf '%s\n' "fix w all wall/carom $3" "${4-}" 'run 1' >> words.in
    [ "$1" != 'atoms without radius' ] ||
        sed -i 's/style sphere/style atomic/; /^comm_modify/d; /^set/s/.*/mass 1 1/; s|nve/sphere|nve|' words.in
    timeout 60 "$lmp" -in words.in -log none "${one[@]}" > out.txt 2>&1 || status=$?
    if [ $status -eq 0 ] || [ $status -ge 124 ]; then
        fail "$1" "status $status"
    elif ! grep -qE "^ERROR( on proc 0)?: .*$2" out.txt; then
        fail "$1" "no /$2/ in: $(grep -A 3 ERROR out.txt)"
    else
        pass "$1"
    fi
}
fails() { # NAME PATTERN TIMES command...: ends with an error, these words stand so often in what it prints
    local name=$1 pattern=$2 times=$3 status=0
    shift 3
    "$@" || status=$?
    if [ $status -eq 0 ] || [ "$(grep -cE -- "$pattern" out.txt)" -ne "$times" ]; then
        fail "$name" "status $status, $(cat out.txt)"
    else
        pass "$name"
    fi
}
