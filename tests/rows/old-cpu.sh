#!/bin/bash
# SPDX-License-Identifier: MIT
# old-cpu.sh: Nehalem stops at SSE4.2, Conroe at SSSE3: an instruction beyond that ends the process.
set -euo pipefail
if [ "$(uname -m)" != x86_64 ]; then
    echo "SKIP: not an x86-64 machine"
    exit 77
fi
export CAROM_TEST_DATA=$ROOT/tests
for cpu in Nehalem Conroe; do
    echo "--- $cpu"
    qemu-x86_64 -cpu $cpu "$BUILD/carom" info
    for test in golden api mesh; do qemu-x86_64 -cpu $cpu "$BUILD/tests/test_$test"; done
    qemu-x86_64 -cpu $cpu "$BUILD/carom" verify --queries 1000 # the other queries of a mesh too
done
