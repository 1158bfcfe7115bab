#!/bin/bash
# SPDX-License-Identifier: MIT
# valgrind.sh: Valgrind knows AVX2 at most; the library asks the CPU that it emulates.
set -euo pipefail
export CAROM_TEST_DATA=$ROOT/tests
for test in golden api known mesh mesh_form context memory leaks; do
    echo "--- $test"
    valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$BUILD/tests/test_$test"
done
valgrind -q --error-exitcode=9 "$BUILD/carom" verify --queries 200
