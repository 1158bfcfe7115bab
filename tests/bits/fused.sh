#!/bin/bash
# SPDX-License-Identifier: MIT
# fused.sh LIBRARY: no fused multiply-add and no approximate reciprocal in the machine code. A compiler that fuses
# changes bits, and -mavx512f or an ARM target alone already lets it. Only the kernels of
# cpu/lanes/isa_fma_template.h may.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
library=$1
objdump=${OBJDUMP:-objdump}
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
if ! "$objdump" -d --no-show-raw-insn "$library" > "$listing"; then
    fail disassembles "$library"
    check_end
fi
# Mnemonics stand after the address and a tab, functions between angle brackets.
time_kernels=$(sed -n '/^#define [A-Z]*_TIME_KERNELS/,/[^\\]$/s/^ *X(\([a-z_]*\)##accuracy.*/\1/p' \
    "$(dirname "$0")/../../kernels/pairs.h" | paste -sd '|')
check "the table of kernels names those that answer with times" test -n "$time_kernels"
may_fuse="<caromi_(scalar|sse41|avx2|avx512|neon)_($time_kernels)_exact"
mnemonics() { # 1: of the kernels that may fuse, 0: of all others
    awk -F '\t' -v may_fuse="$may_fuse" -v want="$1" '/^[0-9a-f]+ <.*>:$/ { is = $0 ~ may_fuse }
        NF > 1 && is == want { split($2, m, " "); print m[1] }' "$listing"
}
fused='^(vf?n?m(add|sub|addsub|subadd)[0-9]*[ps][sdh]|vfn?m[as].*|fn?m(add|sub|la|ls).*)$'
found() { mnemonics 0 | grep -E "$1" | sort | uniq -c || true; }
if [ -n "$(found '^(v?mulps|fmul|mulss)$')" ]; then
    pass "the library contains multiplications"
else
    fail "the library contains multiplications" "nothing to check in $library"
fi
# Sums of products of integers (vpmadd, madd) do not round.
nothing "no fused multiply-add" "$(found "$fused")"
if [ "$(mnemonics 1 | grep -cE "$fused")" -gt 100 ]; then
    pass "but in the kernels that may"
else
    skip "but in the kernels that may" "none: a build with sanitizers or without optimisation, or no such instruction"
fi
nothing "no approximate reciprocal or root" \
    "$(found '^(v?rcp|v?rsqrt|frecp|frsqrt|vrcp14|vrsqrt14|vrcp28|vrsqrt28|vexp2)')"
check_end
