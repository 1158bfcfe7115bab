#!/bin/bash
# SPDX-License-Identifier: MIT
# fused.sh LIBRARY: no fused multiply-add and no approximate reciprocal in the machine code. A compiler that fuses
# changes bits, and -mavx512f or an ARM target alone already lets it.
set -euo pipefail
# shellcheck source=tests/check.sh
. "$(dirname "$0")/check.sh"
library=$1
objdump=${OBJDUMP:-objdump}
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
if ! "$objdump" -d --no-show-raw-insn "$library" > "$listing"; then
    fail disassembles "$library"
    check_end
fi
# Mnemonics stand after the address and a tab.
found() { awk -F '\t' 'NF > 1 { split($2, m, " "); print m[1] }' "$listing" | grep -E "$1" | sort | uniq -c || true; }
if [ -n "$(found '^(v?mulps|fmul|mulss)$')" ]; then
    pass "the library contains multiplications"
else
    fail "the library contains multiplications" "nothing to check in $library"
fi
# Sums of products of integers (vpmadd, madd) do not round.
nothing "no fused multiply-add" "$(found '^(vf?n?m(add|sub|addsub|subadd)[0-9]*[ps][sdh]|vfn?m[as].*|fn?m(add|sub|la|ls).*)$')"
nothing "no approximate reciprocal or root" "$(found '^(v?rcp|v?rsqrt|frecp|frsqrt|vrcp14|vrsqrt14|vrcp28|vrsqrt28|vexp2)')"
check_end
