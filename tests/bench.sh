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
    "$(grep -vE '^[a-z0-9-]+/(fast|exact)/(cpu|plain|peer)/[a-z0-9.-]+/threads:[0-9]+$' names.txt || true)"
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
nothing "exact mode sees every hit and no other" \
    "$(grep '/exact/' all.json | grep '"judged"' | grep -v '"misses": 0, "false_hits": 0, "off": 0' || true)"
nothing "every row of a sweep or an overlap is judged" \
    "$(grep '"run_type"' all.json | grep -vE '"(build-|[^"]*/traffic-)' | grep -v '"judged": [1-9]' || true)"
nothing "every row has a time" "$(grep '"run_type"' all.json | grep -vE '"ns_per_query": [0-9.e+-]+' || true)"
nothing "nobody's bits differ" "$(grep '"same_bits": false' all.json || true)"
if command -v python3 > /dev/null; then
    check "it is JSON" python3 -m json.tool all.json
else
    skip "it is JSON" "no python3"
fi

# Other libraries, each either measured or missed in words; in the scenes that ask what they answer.
"$carom" bench --quick --backend cpu --isa scalar --accuracy fast --json peers.json \
    --scene sweep-first-random,overlap-random,mesh-near-70k,build-70k > peers.txt
grep -oE '"name": "[^"]*"' peers.json | cut -d'"' -f4 > names.txt
check "the head of the table names the verdict" grep -qE ' misses +false +off$' peers.txt
for name in sweep-first-random/fast/plain/early-out-c overlap-random/fast/plain/closest-point-c; do
    check "$name is there" grep -q "^$name/threads:1$" names.txt
done
peers() { # LIBRARY beginnings of names...
    local library=$1 name
    shift
    if grep -q "^$library is not measured: not in this build$" peers.txt; then
        skip "$library" "not in this build"
        return
    fi
    for name; do
        check "$name is there" grep -q "^$name-[0-9.]*/threads:1$" names.txt
        if [[ $name != build-* ]]; then
            check "$name is judged" grep -qE "\"name\": \"$name-.*\"judged\": [1-9]" peers.json
        fi
    done
}
peers Embree mesh-near-70k/fast/peer/embree-ray mesh-near-70k/fast/peer/embree-user-geometry build-70k/fast/peer/embree
peers Bullet sweep-first-random/fast/peer/bullet-convex-cast overlap-random/fast/peer/bullet-detector \
    mesh-near-70k/fast/peer/bullet-mesh-sweep build-70k/fast/peer/bullet
peers FCL overlap-random/fast/peer/fcl-sphere-triangle
# A ray has no radius: if nothing were counted for it, nobody's nought would mean much.
if grep -q 'embree-ray' names.txt; then
    check "a ray misses what a sphere hits" grep -qE '"name": "mesh-near-70k/fast/peer/embree-ray.*"misses": [1-9]' peers.json
fi
nothing "a user's plain loop answers as the reference does" \
    "$(grep -E 'overlap-random/fast/plain/closest' peers.json | grep -v '"misses": 0, "false_hits": 0' || true)"
"$carom" bench --quick --backend cpu --accuracy exact --isa scalar --threads 1 --scene spheres-cached \
    --json one.json > one.txt
equal=$(grep -oE '"name": "[^"]*"' one.json | cut -d'"' -f4)
nothing "one accuracy, one instruction set, one number of threads" "${equal#spheres-cached/exact/cpu/scalar/threads:1}"
check_end
