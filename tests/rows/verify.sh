#!/bin/bash
# SPDX-License-Identifier: MIT
# verify.sh [SEED...]: carom verify with CAROM_TEST_EFFORT queries of each type. A device that was refused is no
# difference to the command, but here it fails.
set -euo pipefail
[ $# -gt 0 ] || set -- 1
for seed; do
    "$BUILD/carom" verify --queries "$CAROM_TEST_EFFORT" --seed "$seed" | tee "$BUILD/verify.txt"
    if grep refused "$BUILD/verify.txt"; then exit 1; fi
done
