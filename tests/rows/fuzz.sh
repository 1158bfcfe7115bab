#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh [TARGET]: CAROM_TEST_EFFORT seconds of libFuzzer for the target, or for each of them, one on each core.
set -euo pipefail
if ! grep -q 'CAROM_LIBFUZZER:INTERNAL=1' "$BUILD/CMakeCache.txt"; then
    echo "SKIP: no libFuzzer (Debian: libclang-rt-dev)"
    exit 77
fi
if [ $# -eq 0 ]; then
    find fuzz -name 'fuzz_*.c' -printf 'lib%f\n' | sed -e 's/^libfuzz_/libfuzzer_/' -e 's/[.]c$//' | sort |
        xargs -P "$(nproc)" -n 1 "$0"
    exit
fi
length=128
if [[ $1 =~ _(obj|off|ply|stl)$ ]]; then length=512; fi # files, not queries
mkdir -p "$BUILD/corpus/$1" # kept: the next run starts where this one ended
verdict='       OK ' status=0
"$BUILD/fuzz/$1" -max_total_time="$CAROM_TEST_EFFORT" -max_len=$length -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$BUILD/$1-" "$BUILD/corpus/$1" > "$BUILD/$1.log" 2>&1 || verdict='  FAILED  ' status=1
tail -n $((status ? 40 : 8)) "$BUILD/$1.log"
echo "[$verdict] $1"
exit $status
