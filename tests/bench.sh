#!/bin/bash
# SPDX-License-Identifier: MIT
# bench.sh CAROM: carom bench measures what it is asked to and says so in words and in JSON. Times are not judged.
set -euo pipefail
# shellcheck source=tests/check.sh
. "$(dirname "$0")/check.sh"
carom=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

refused() { # NAME STATUS PATTERN arguments...
    local name=$1 wanted=$2 pattern=$3 status=0
    shift 3
    "$carom" bench "$@" > stdout.txt 2> stderr.txt || status=$?
    if [ $status -eq "$wanted" ] && grep -qE -- "$pattern" stderr.txt; then
        pass "$name"
    else
        fail "$name" "status $status, not $wanted, or no /$pattern/ in: $(head -n 3 stderr.txt)"
    fi
}
refused "an unknown scene" 2 "'sweep-sideways'" --scene sweep-times,sweep-sideways
refused "an empty scene" 2 'scene' --scene sweep-times,,build
refused "a file that cannot be written" 1 'nowhere' --json nowhere/x.json --quick
refused "a table that cannot be written" 1 'nowhere' -o nowhere/x.txt --quick
nothing "nothing is measured before that" "$(cat stdout.txt)"

"$carom" bench --scene list > list.txt
check "scenes are listed" grep -q '^sweep-times-random ' list.txt
"$carom" bench --quick --backend cpu --json all.json \
    --scene sweep-times-cached,overlap-axes-random,spheres-random,mesh-box-70k,build-70k > all.txt
check "a table" grep -q '^sweep-times-cached: ' all.txt
grep -oE '"name": "[^"]*"' all.json | cut -d'"' -f4 > names.txt
nothing "names are scene/accuracy/backend/isa/threads:N" \
    "$(grep -vE '^[a-z0-9-]+/(fast|exact)/(cpu|plain)/[a-z0-9.-]+/threads:[0-9]+$' names.txt || true)"
for name in sweep-times-cached/fast/cpu/scalar/threads:1 sweep-times-cached/exact/cpu/scalar/threads:1 \
    mesh-box-70k/exact/cpu/scalar/threads:1 build-70k/fast/cpu/scalar/threads:1; do
    check "$name is there" grep -qx "$name" names.txt
done
if grep -q '^overlap-axes-random/fast/plain/' names.txt; then
    check "the traffic floor is there" grep -q '^overlap-axes-random/fast/plain/traffic-' names.txt
    check "the published test is there" grep -q '^overlap-axes-random/fast/plain/ericson-' names.txt
else
    skip "plain loops" "none for the instruction sets of this machine"
fi
asked='^(sweep-times-cached|overlap-axes-random|spheres-random|mesh-box-70k|build-70k)/'
nothing "only what was asked" "$(grep -vE "$asked" names.txt || true)"
nothing "every row has a time" "$(grep '"run_type"' all.json | grep -vE '"ns_per_query": [0-9.e+-]+' || true)"
nothing "nobody's bits differ" "$(grep '"same_bits": false' all.json || true)"
if command -v python3 > /dev/null; then
    check "it is JSON" python3 -m json.tool all.json
else
    skip "it is JSON" "no python3"
fi
"$carom" bench --quick --backend cpu --accuracy exact --isa scalar --threads 1 --scene spheres-cached \
    --json one.json > one.txt
equal=$(grep -oE '"name": "[^"]*"' one.json | cut -d'"' -f4)
nothing "one accuracy, one instruction set, one number of threads" "${equal#spheres-cached/exact/cpu/scalar/threads:1}"
check_end
