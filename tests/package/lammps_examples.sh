#!/bin/bash
# SPDX-License-Identifier: MIT
# lammps_examples.sh SOURCE BUILD: examples/lammps, small: no grain is lost or outside of its vessel, walls carry the
# weight of the grains, the slope in the drum is one of dry grains, and each has a picture.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
here=$(dirname "$(realpath "$0")") source=$(realpath "$1") build=$(realpath "$2")
check_begin "$build/carom"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

status=0
"$source/scripts/lammps-pictures" --quick --lmp "$build/lmp-carom" --keep "$work/runs" "$work/pictures" \
    > said.txt 2>&1 || status=$?
if [ $status -eq 3 ]; then
    skip "examples of LAMMPS" "$(sed 's/^[a-z-]*: //' said.txt)"
    exit 0
fi
check "examples of LAMMPS run" eval 'cat said.txt; [ $status -eq 0 ]'
check "meshes are cut in needles, with T-junctions" python3 "$here/lammps_examples.py" cuts runs
check "all grains are within their vessels" python3 "$here/lammps_examples.py" grains runs

# between NAME LEAST NUMBER MOST
between() { check "$1: $2 <= ${3:-no number} <= $4" awk "BEGIN { exit !(\"$3\" != \"\" && $2 <= $3 && $3 <= $4) }"; }
# number FILE WORD: what stands behind a word in the line that an example prints
number() { sed -n "s/^\(grains\|on the tray\) .*$2 \([-0-9.e]*\).*/\2/p" "runs/$1.out" | head -n 1; }
carries() { # NAME SHARE: its walls carry the weight, within so much of it
    between "$1: share of the weight that is carried" "1 - $2" \
        "$(awk "BEGIN { print $(number "$1" carried) / $(number "$1" weight) }")" "1 + $2"
}
carries chute 0.005 # at rest
carries hopper 0.005
carries drum 0.03 # the mean of a heap in motion
between "drum: slope" 20 "$(number drum slope)" 45
weight=$(number hopper weight)
between "hopper: the gate carries a part" "0.2 * $weight" "$(number hopper 'by the gate')" "0.8 * $weight"
between "hopper: all of it lies on the tray" "0.98 * $weight" \
    "$(sed -n 's/^on the tray .* carried //p' runs/hopper.out)" "1.02 * $weight"
equal "hopper: no grain hangs" "$(sed -n 's/^grains \([0-9]*\) .*/\1/p' runs/hopper.out)" \
    "$(sed -n 's/^on the tray \([0-9]*\) .*/\1/p' runs/hopper.out)"

# ---- the page --------------------------------------------------------------------------------------------------------
bash "$here/readme.sh" "$source" "$build" docs/lammps-examples.md || check_failures=$((check_failures + 1))

# ---- pictures --------------------------------------------------------------------------------------------------------
is_picture() { # FILE: PNG, 560 pixels wide, no empty one, and small
    local bytes
    bytes=$(stat -c %s "$1")
    [ "$(head -c 20 "$1" | tail -c 19 | head -c 3)" = PNG ] &&
        [ "$(head -c 20 "$1" | tail -c 4 | od -An -tu1 | tr -s ' ')" = " 0 0 2 48" ] &&
        [ "$bytes" -gt 20000 ] && [ "$bytes" -lt 150000 ]
}
for name in chute drum hopper; do
    check "$name: a picture is drawn" is_picture "pictures/lammps-$name.png"
    check "$name: docs/images has one" is_picture "$source/docs/images/lammps-$name.png"
done
check_end
