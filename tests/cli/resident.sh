#!/bin/bash
# SPDX-License-Identifier: MIT
# resident.sh CAROM [DISCRETE]: scenes of carom bench whose arrays lie in buffers, and steps of a simulation. DISCRETE
# is the shim of discrete.c, which shows a device as one with memory of its own.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
discrete=${2:-}
[ -z "$discrete" ] || discrete=$(realpath "$discrete")
check_begin "$1"

scenes=(sweep-first-random sweep-full-random overlap-random spheres-random mesh-near-70k mesh-long-70k mesh-near-1m
    mesh-closest-near-70k mesh-closest-box-70k mesh-any-70k mesh-all-70k mesh-overlaps-70k cloud-list-a cloud-count-a
    cloud-first-a moving-tenth-list-a moving-one-list-a moving-one-first-a contacts-1-70k contacts-3-70k volume-70k
    volume-band-70k clearance-70k)
"$carom" bench --scene list > list.txt
nothing "scenes are listed" "$(diff <(grep -o '^resident-[^ ]*' list.txt) <(printf 'resident-%s\n' "${scenes[@]}"))"

# measure NAME arguments...: NAME.json and NAME.txt
measure() {
    local name=$1
    shift
    status=0 # the OpenCL implementation may leak
    ASAN_OPTIONS=detect_leaks=0 "$carom" bench --quick --progress none --json "$name.json" "$@" > "$name.txt" ||
        status=$?
    equal "$name: status" 0 $status
    grep '"run_type"' "$name.json" > rows.txt || true
}
# Every row has the bits of the same subject's host arrays: the first of a scene, too.
agree() { # NAME SCENE...: rows.txt, of all these scenes
    local name=$1 scene accuracy
    shift
    nothing "$name: all rows have the bits of the host's arrays" "$(grep -v '"same_bits": true' rows.txt || true)"
    nothing "$name: exact mode's hits are the reference's" \
        "$(grep '/exact/.*"judged"' rows.txt | grep -v '"misses": 0, "false_hits": 0, "off": 0' || true)"
    for scene; do
        for accuracy in fast exact; do
            check "$name: $scene in $accuracy mode" grep -q "\"name\": \"resident-$scene/$accuracy/" rows.txt
        done
    done
}
# Steps: every row has the bits of the CPU path; below stand the parts. rows.txt and NAME.txt.
step() { # NAME SCENE
    nothing "$1: all rows of $2 have the bits of the CPU path" \
        "$(grep "\"name\": \"$2/" rows.txt | grep -v '"same_bits": true' || true)"
    for accuracy in fast exact; do
        check "$1: $2 in $accuracy mode" grep -q "\"name\": \"$2/$accuracy/" rows.txt
        check "$1: parts of $2 in $accuracy mode" grep -qE \
            "^$2: $accuracy/.*: ns a sphere: refit .*, first hits .*, neighbours .*, contacts .*, match " "$1.txt"
    done
}
few=(sweep-first-random sweep-full-random overlap-random spheres-random mesh-near-70k mesh-closest-near-70k
    mesh-any-70k mesh-all-70k mesh-overlaps-70k cloud-list-a cloud-count-a cloud-first-a moving-one-list-a
    moving-one-first-a contacts-3-70k volume-70k volume-band-70k clearance-70k)
names=$(printf 'resident-%s,' "${few[@]}")

measure cpu --backend cpu --queries 3000 --scene "${names%,}"
agree cpu "${few[@]}"
nothing "one subject of the CPU path" \
    "$(sed -E 's#.*"name": "[^/]*/[^/]*/([^"]*)".*#\1#' rows.txt | sort -u | tail -n +2)"
nothing "no plain loops, no other libraries" "$(grep -E '/(plain|peer)/' rows.txt || true)"
check "what the first queries say is judged" grep -qE 'resident-mesh-near-70k/.*"judged": [1-9]' rows.txt
check "so are overlaps" grep -qE 'resident-overlap-random/.*"judged": [1-9]' rows.txt
check "batches beyond the memory are not begun" grep -qE '^resident-spheres-random is not measured: .* more than half' \
    <("$carom" bench --quick --backend cpu --queries 99999999999 --scene resident-spheres-random)

measure steps --backend cpu --queries 3000 --scene step
step steps step-cpu
check "a step on a device needs one" grep -qx 'step-device is not measured: no device is a subject' steps.txt
check "a step of one sphere" "$carom" bench --quick --progress none --backend cpu --queries 1 --scene step-cpu

if ! ASAN_OPTIONS=detect_leaks=0 "$carom" bench --quick --backend opencl --scene resident-spheres-random > device.txt \
    2> stderr.txt && grep -q 'not measured' device.txt; then
    skip "arrays in buffers of a device" "$(grep -m 1 'not measured' device.txt)"
    check_end
    exit
fi
measure device --backend opencl --queries 3000 --scene "${names%,}"
agree device "${few[@]}"
nothing "transfers, kernels and the host are apart" \
    "$(grep -vE '"upload_ns_per_query": .*"compute_ns_.*"download_ns_.*"host_ns_per_query": ' rows.txt || true)"
check "in the table too" grep -qE ' up [0-9.]+, compute [0-9.]+, down [0-9.]+ ns, host [0-9.]+' device.txt
check "and what a call takes beyond its kernels" grep -q '"overhead_ns_per_query": ' rows.txt
measure device_steps --backend opencl --queries 3000 --scene step
step device_steps step-device
check "a step on the CPU needs its path" grep -qx 'step-cpu is not measured: the CPU path is no subject' \
    device_steps.txt
if "$carom" bench --from device.json > again.txt 2> stderr.txt; then
    # Not to the last digit: a figure of nine digits in the file may round otherwise.
    equal "what a call takes beyond its kernels is shown again" "$(grep -c ', overhead [0-9]' device.txt)" \
        "$(grep -c ', overhead [0-9]' again.txt)"
else
    skip "what a call takes beyond its kernels is shown again" "$(head -n 1 stderr.txt)"
fi
if [ -n "$discrete" ]; then
    export LD_PRELOAD=$discrete
    measure discrete --backend opencl --queries 3000 --scene "${names%,}"
    measure discrete_steps --backend opencl --queries 3000 --scene step-device
    unset LD_PRELOAD
    step discrete_steps step-device
    check "what crosses in a step" grep -qE '; bytes a sphere: [0-9.]+ brought to the host, [0-9.]+ returned$' \
        discrete_steps.txt
    grep '"run_type"' discrete.json > rows.txt
    agree discrete "${few[@]}"
else
    skip "a device with memory of its own" "nothing can be put in front of the loader"
fi
check_end
