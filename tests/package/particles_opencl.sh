#!/bin/bash
# SPDX-License-Identifier: MIT
# particles_opencl.sh SOURCE BUILD TRANSFERS DISCRETE: the example particles_opencl. Its particles stay in the pipe, and
# on the device: what crosses to the host does not depend on the number of steps. TRANSFERS and DISCRETE are the shims
# of transfers.c and cli/discrete.c. And the example devices: two parts of a device answer as one does.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1") build=$(realpath "$2") transfers=$(realpath "$3") discrete=$(realpath "$4")
check_begin "$build/carom"

compile() { # INPUT OUTPUT
    "${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror -O1 -DCL_TARGET_OPENCL_VERSION=120 -I"$source/include" "$1" \
        -o "$2" -L"$build" -Wl,-rpath,"$build" -lcarom -lOpenCL -lm
}
check "particles_opencl compiles as a stranger's program" compile "$source/examples/particles_opencl.c" particles
if ! ./particles 10 1 2> stderr.txt > out.txt && grep -q "^no OpenCL device" stderr.txt; then
    skip "particles on a device" "$(cat stderr.txt)"
    check_end
    exit
fi

count=3000
# bytes PROGRAM STEPS SHIMS: what crosses in a run
bytes() {
    TRANSFERS=$PWD/bytes LD_PRELOAD="$3" "$1" $count "$2" > out.txt
    cat bytes
}
for shims in "$transfers" "$discrete:$transfers"; do
    what=$([ "$shims" = "$transfers" ] && echo "the device as it is" || echo "a discrete device")
    few=$(bytes ./particles 2 "$shims")
    many=$(bytes ./particles 40 "$shims")
    equal "$what: no particle leaves the pipe" "40 steps of $count particles: 0 are outside" "$(cat out.txt)"
    equal "$what: 38 steps more transfer nothing" "$few" "$many"
    check "$what: the end is read" [ "$few" -ge $((12 * count)) ]
done

# What this test would see: in exact mode the host looks at what the device leaves undecided.
sed 's/\.count = count}/.count = count, .accuracy = CAROM_ACCURACY_EXACT}/' "$source/examples/particles_opencl.c" \
    > exact.c
check "exact mode compiles" compile exact.c exact
few=$(bytes ./exact 2 "$transfers")
check "exact mode transfers something in each step" [ "$(bytes ./exact 4 "$transfers")" -gt "$few" ]

check "devices compiles as a stranger's program" compile "$source/examples/devices.c" devices
if ! ./devices 1000 > out.txt 2> stderr.txt && grep -q "^no OpenCL device" stderr.txt; then
    skip "two parts of a device" "$(cat stderr.txt)"
else
    equal "two parts of a device give the same answers, in eight calls" 8 "$(grep -c 'the same answers$' out.txt)"
fi
check_end
