#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_kinds.sh CAROM: each kind of volume against rationals, the same bytes by every way, and bad usage.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
bake_begin "$1"
python=$(command -v python3 || true)

ways() { # other ways to the same bytes
    local around=(--mesh cube.off "${own[@]}" --dims "$(nodes_of 90,40,90 300,1700)") slabs=12
    [ "$axes" = 3 ] || slabs=4
    bake "$kind" "${around[@]}" -o whole.npy
    equal "$kind: status of a complete bake" "$slabs/$slabs slabs 100%" "$(bake status whole.npy | cut -d ' ' -f 1-3)"
    check "$kind: status gives the options" grep -qE -- \
        "$kind --spacing [^ ]+ --origin [^ ]+ --dims ${around[-1]}${shown:+ $shown} --accuracy fast" \
        <(bake status whole.npy)
    three_parts "$kind" "${around[@]}"
    bake "$kind" --mesh cube.off "${changed[@]}" --dims "${around[-1]}" --part 1/3 -o other
    refused "$kind: a part of other options" 2 "$differs" bake join no.npy other part2 part3
    [ -e foreign ] || bake "$kind" "${around[@]}" --part 1/3 -o foreign
    [ "$kind" = "$first" ] || refused "$kind: a part of another kind" 2 'what' bake join no.npy foreign part2 part3
}

checks() {
    local size nodes unit=nodes
    nodes=$(nodes_of 12,10,5 30,20)
    [ "$axes" = 3 ] || unit=columns
    bake "$kind" --mesh cube.off "${own[@]}" --dims "$nodes" --margin 0.2 -o small.vti
    check "$kind: the .vti file names its array" grep -aq "Scalars=\"$array\"" small.vti
    equal "$kind: check" "500 of 600 $unit, 500 of them by the reference: 0 differences" \
        "$(bake check small.vti --mesh cube.off --samples 500)"
    bake "$kind" --mesh cube.off "${own[@]}" --dims "$nodes" --margin 0.2 -o small.npy
    cat small.npy > bare.npy
    check "$kind: check of a .npy file without attributes, by its options" bake check bare.npy --mesh cube.off \
        "${own[@]}" --margin 0.2
    size=$(stat -c %s bare.npy)
    printf '\x07' | dd of=bare.npy bs=1 seek=$((size - 1)) conv=notrunc status=none
    refused "$kind: check of a changed byte" 1 "$array .*; computed anew: " bake check bare.npy --mesh cube.off \
        "${own[@]}" --margin 0.2 --samples 3000
}

bad_lattices() {
    local x numbers='three finite numbers X,Y,Z' whole='three whole numbers NX,NY,NZ'
    [ "$axes" = 3 ] || numbers='two finite numbers X,Y' whole='two whole numbers NX,NY'
    for x in 5 "$(nodes_of 5,6 5,6,7)" 5,6,7,8 "$(nodes_of 0,5,5 0,5)" "$(nodes_of x,5,5 x,5)" '5,' '5,6,' ''; do
        refused "$kind: --dims '$x'" 2 "--dims: expected $whole" bake "$kind" --mesh cube.off "${own[@]}" \
            --dims "$x" -o no.npy
    done
    for x in 5 "$(nodes_of 5,6 5,6,7)" 5,6,7,8 "$(nodes_of nan,5,5 nan,5)" "$(nodes_of x,5,5 x,5)" '5,' '5,6,' ''; do
        refused "$kind: --origin '$x'" 2 "--origin: expected $numbers" bake "$kind" --mesh cube.off "${own[@]}" \
            --spacing 0.1 --origin "$x" -o no.npy
    done
    refused "$kind: no lattice" 2 "give --spacing H or --dims $(nodes_of NX,NY,NZ NX,NY), or both" \
        bake "$kind" --mesh cube.off "${own[@]}" -o no.npy
}

bad_usage() {
    local option
    for option in "${needs[@]}"; do
        refused "$kind: no $option" 2 "bake $kind: $option R is missing" bake "$kind" --mesh cube.off --spacing 0.1 \
            -o no.npy
        bad_radii "$kind" "${option#--}" --spacing 0.1
    done
    refused "$kind: no mesh" 2 "bake $kind: --mesh FILE or --scene FILE is missing" bake "$kind" "${own[@]}" \
        --spacing 1 -o no.npy
    refused "$kind: no output" 2 "bake $kind: -o OUT is missing" bake "$kind" "${own[@]}" --spacing 1 --mesh cube.off
    [ -n "$more" ] || refused "$kind: --with" 2 '--with' bake "$kind" --mesh cube.off "${own[@]}" --spacing 0.1 \
        --with triangle -o no.vti
}

kinds=$(all_kinds)
first=${kinds%% *}
for kind in $kinds; do
    kind_of "$kind"
    if [ -n "$python" ]; then values; else skip "$kind: values" "no python3 to compute them"; fi
    ways
    checks
    bad_lattices
    bad_usage
    refusals
done
nothing "no file of an unfinished bake is left" "$(left)"
check_end
