#!/bin/bash
# SPDX-License-Identifier: MIT
# particles_opencl.sh SOURCE BUILD TRANSFERS DISCRETE: the example particles_opencl. Its particles stay in the box, and
# are where the same steps on the CPU path put them (particles_cpu.c), to the last bit. Arrays of first hits stay on the
# device. TRANSFERS and DISCRETE are the shims of transfers.c and cli/discrete.c. And the example devices: two parts of
# a device answer as one does.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1") build=$(realpath "$2") transfers=$(realpath "$3") discrete=$(realpath "$4")
check_begin "$build/carom"

example=$source/examples/particles_opencl
compile() { # OUTPUT INPUT...
    local out=$1
    shift
    "${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror -O1 -ffp-contract=off \
        -DCL_TARGET_OPENCL_VERSION=120 -I"$source/include" -I"$example" "$@" -o "$out" -L"$build" \
        -Wl,-rpath,"$build" -lcarom -lOpenCL -lm
}
count=3000 steps=60
check "particles_opencl compiles as a stranger's program" compile particles "$example/main.c" "$example/step.c"
check "its step compiles for the CPU path" compile particles_cpu "$source/tests/package/particles_cpu.c" \
    "$example/step.c"
check "and runs there" ./particles_cpu $count $steps
./particles_cpu $count $steps | head -n 2 > expected.txt
check "particles stay in the box, and touch the wall" grep -qE \
    "^$steps steps of $count particles: 0 are outside, [1-9][0-9]* contacts with the wall$" expected.txt

# What the comparison would see: contacts without a history, and particles that pass through each other.
for lost in 's/previous\[at\] >= 0/0/' 's/sum\[k\] -= push/sum[k] -= 0 * push/'; do
    mkdir -p lost
    sed "$lost" "$example/kernels.h" > lost/kernels.h
    check "kernels without $lost compile" compile other -iquote lost "$source/tests/package/particles_cpu.c" \
        "$example/step.c"
    check "and end elsewhere" [ "$(./other $count $steps | sed -n 2p)" != "$(sed -n 2p expected.txt)" ]
done

if ! ./particles 10 1 2> stderr.txt > out.txt && grep -q "^no OpenCL device" stderr.txt; then
    skip "particles on a device" "$(cat stderr.txt)"
    check_end
    exit
fi
for shims in "$transfers" "$discrete:$transfers"; do
    what=$([ "$shims" = "$transfers" ] && echo "the device as it is" || echo "a discrete device")
    TRANSFERS=$PWD/before LD_PRELOAD="$shims" ./particles $count $((steps - 1)) > before.txt
    TRANSFERS=$PWD/bytes LD_PRELOAD="$shims" ./particles $count $steps > out.txt
    equal "$what: energy and positions are those of the CPU path" "$(cat expected.txt)" "$(head -n 2 out.txt)"
    equal "$what: first hits stay" "first hits: 0 bytes brought to the host in a step, 0 returned" \
        "$(grep '^first hits' out.txt)"
    equal "$what: what each call brings is printed" 3 \
        "$(grep -cE '^[a-z ]+: [0-9]+ bytes brought .*, [0-9]+ returned$' out.txt)"
    said=$(awk '/bytes brought/ { for (i = 1; i < NF; i++) if ($(i + 1) == "bytes") sum += $i; sum += $(NF - 1) }
        END { print sum }' out.txt)
    check "$what: a step transfers no less than it says" [ $(($(cat bytes) - $(cat before))) -ge "$said" ]
done

check "devices compiles as a stranger's program" compile devices "$source/examples/devices.c"
if ! ./devices 1000 > out.txt 2> stderr.txt && grep -q "^no OpenCL device" stderr.txt; then
    skip "two parts of a device" "$(cat stderr.txt)"
else
    equal "two parts of a device give the same answers, in eight calls" 8 "$(grep -c 'the same answers$' out.txt)"
fi
check_end
