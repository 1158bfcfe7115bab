#!/bin/bash
# SPDX-License-Identifier: MIT
# verify.sh CAROM [LIAR]: what `carom verify` says of meshes and, with a library in front that turns a bit now and then
# (fault_injector.c), that it says so. On the CPU path.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
carom=$(realpath "$1")
fault_injector=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
verify() { "$carom" verify --backend cpu --queries 300 "$@"; }
types=(mesh-first mesh-all mesh-any mesh-overlaps mesh-any-still mesh-closest mesh-contacts)

check "nothing differs" verify -o all.txt
check "it passed" grep -qx 'result: passed' all.txt
for type in "${types[@]}"; do
    check "$type: in both matrices" test "$(grep -c "^meshes.* $type " all.txt)" = 2
    # query, mesh (of several words), queries, wrong
    nothing "$type: judged on every mesh" "$(awk -v type="$type" '
        $1 == type { rows++; if ($(NF - 1) < 1 || $NF != 0) print }
        END { if (rows < 10) print rows + 0 " meshes" }' all.txt)"
done
check "the first configuration answers all in fast mode" grep -qE '^scalar, 1 thread( +176 / 0){7}' all.txt
check "clouds: in both matrices" test "$(grep -cE '^clouds, .* list +first +any +count$' all.txt)" = 2
check "clouds: judged" grep -qE '^cloud reference: [1-9][0-9]+ pairs, 0 wrong$' all.txt
verify --accuracy fast > fast.txt
nothing "--accuracy fast: no exact meshes" "$(grep -E '^meshes: first filter|^mesh reference' fast.txt || true)"
verify --seed 2 > other.txt
verify --seed 2 > again.txt
figures() { sed -nE -e 's/^(scalar, 1 thread.*[0-9]) +[0-9.]+( .*)?$/\1/p' -e '/^  mesh-/p' "$1"; } # all but times
check "a seed names the queries" diff <(figures other.txt) <(figures again.txt)
check "another names others" test "$(figures all.txt)" != "$(figures other.txt)"

# ---- a bit is wrong --------------------------------------------------------------------------------------------------
# lie TYPE EVERY PATTERN...: with every EVERY-th answer wrong, status 1 and lines with the patterns.
lie() {
    local type=$1 every=$2 status=0 pattern
    shift 2
    LD_PRELOAD=$fault_injector LIE_ABOUT=$type LIE_EVERY=$every verify > lie.txt 2>&1 || status=$?
    if [ $status -ne 1 ] || ! grep -qx 'result: FAILED' lie.txt; then
        fail "$type, every $every: reported" "status $status"
        return
    fi
    for pattern in "$@"; do
        if ! grep -qE -- "$pattern" lie.txt; then
            fail "$type, every $every: reported" "no /$pattern/ in: $(tail -n 5 lie.txt)"
            return
        fi
    done
    pass "$type, every $every: reported"
}
if [ -z "$fault_injector" ]; then
    skip "a wrong bit is reported" "a static library or a sanitized build"
else
    for type in "${types[@]}"; do
        if [ "$(grep -cE '^(scalar|sse|avx|neon).* / ' all.txt)" -gt 4 ]; then
            lie "$type" 5 "differs from scalar, 1 thread, (fast|exact) mode, first in $type query [0-9]+ on " \
                '^    query: cx=' ' differing answers and '
        else
            skip "$type, now and then" "one instruction set and one thread"
        fi
        # All alike: only the reference can tell.
        lie "$type" 1 "first wrong answer of exact mode: .*, $type on " '^    reference: ' 'found 0 differing answers'
    done
    for call in list first any count; do
        if [ "$(grep -cE '^(scalar|sse|avx|neon).* / ' all.txt)" -gt 4 ]; then
            lie cloud-$call 5 "differs from scalar, 1 thread, (fast|exact) mode: $call of cloud '" \
                ' differing answers and '
        fi
    done
    lie cloud-list 1 "^cloud '.*, seed 1: [0-9]+ wrong pairs" '^cloud reference: .* [1-9][0-9]* wrong' \
        'found 0 differing'
    for type in mesh-all mesh-overlaps mesh-contacts; do
        lie $type-cut 1 "first wrong answer of exact mode: a list that ends before it is full, $type on " 'room$'
    done
fi
check_end
