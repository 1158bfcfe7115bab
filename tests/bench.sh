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
refused "a picture that cannot be written" 1 'nowhere|gnuplot' --plot nowhere/x.svg --quick
refused "a picture of an unknown kind" 2 'svg or .png' --plot x.pdf --quick
refused "a file and a run" 2 'measures nothing' --from x.json --quick
refused "an earlier result that is not there" 1 'nowhere' --compare nowhere/x.json --quick
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

# An earlier result: shown again, compared with, drawn.
if "$carom" bench --from all.json > again.txt 2> said.txt; then
    nothing "the same table again" "$(diff <(grep '/threads:' all.txt) <(grep '/threads:' again.txt) || true)"
    "$carom" bench --from all.json --compare all.json > same.txt
    check "a result has not moved against itself" \
        grep -qE "^$(wc -l < names.txt) rows in both: 0 slower and 0 faster .*ratios 1.000. New: 0. Gone: 0" same.txt
    # Twice as slow in one row; and one row under another name.
    sed -E -e '/"name": "spheres-random\/fast\/cpu\/scalar/s#("ns_per_query": )[0-9.e+-]+#\11e9#' \
        -e '/"name": "build-70k\/fast\/cpu\/scalar/s#build-70k#build-80k#g' all.json > moved.json
    "$carom" bench --from moved.json --compare all.json > moved.txt
    check "what moved is named" grep -qE 'spheres-random/fast/cpu/scalar/threads:1 .* SLOWER$' moved.txt
    check "and counted" grep -qE ' 1 slower and 0 faster .* New: 1. Gone: 1.' moved.txt
    sed 's#"cpu": "[^"]*"#"cpu": "an abacus"#' all.json > machine.json
    check "another machine is said" grep -q 'another machine: an abacus' \
        <("$carom" bench --from all.json --compare machine.json)
    head -c 3000 all.json > cut.json
    refused "half a result" 1 'cut.json:[0-9]+: ' --from cut.json
    echo '{"context": {}, "benchmarks": [{"name": "x"}]}' > other.json
    refused "another program's result" 1 'other.json: benchmark 1 has no' --from other.json
    echo '[]' > list.json
    refused "no result at all" 1 'list.json: no context' --from list.json
    if gnuplot --version > version.txt 2>&1; then
        # Names come from a file: they are data, not words of gnuplot's language.
        # shellcheck disable=SC2016 # nobody is to expand it
        sed 's#overlap-axes-random/fast/cpu/scalar#overlap`touch owned`\\"x'"'"'/fast/cpu/scalar#g' all.json > odd.json
        "$carom" bench --from odd.json --plot picture.svg > drawn.txt
        check "a picture" grep -q '</svg>' picture.svg
        check "with its subjects" grep -q 'cpu/scalar/threads:1' picture.svg
        check "a picture of points" "$carom" bench --from all.json --plot picture.png -o drawn.txt
        check "is one" [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
        nothing "names are not run" "$(ls owned 2> /dev/null || true)"
    else
        skip "pictures" "no gnuplot"
    fi
else
    check "why earlier results cannot be read" grep -q 'no jansson' said.txt
    skip "earlier results" "no jansson"
fi

equal=$(grep -oE '"name": "[^"]*"' one.json | cut -d'"' -f4)
nothing "one accuracy, one instruction set, one number of threads" "${equal#spheres-cached/exact/cpu/scalar/threads:1}"
check_end
