#!/bin/bash
# SPDX-License-Identifier: MIT
# cases.sh CAROM: inputs of the kinds that users of other libraries have reported as bugs, with answers derived by hand.
# A folder of tests/cli/cases holds `command`, its files and what it prints, as `expected`; its exit status is 0, or 2
# if there is nothing to print. Exact mode must print that to the byte, fast mode within 1e-5 (features may differ
# between neighbours); where `exact-only` lies, ties decide. tests/known/QUERY.csv holds pairs and their answers, which
# both modes must print to the byte.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
carom=$(realpath "$1")
cases=$(realpath "$(dirname "$0")")/cases
known=$(realpath "$(dirname "$0")/../known")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# close_to WANTED GOT: the same fields, numbers within 1e-5 of the largest in their row or of 1
close_to() {
    awk -F, -v wanted="$1" '
        function number(s) { return s ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ }
        function size(x) { return x < 0 ? -x : x }
        FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
        { if ((getline line < wanted) <= 0) { print "row " FNR " is too many"; exit 1 }
          n = split(line, want, ",")
          if (n != NF) { print "row " FNR ": " $0 ", not " line; exit 1 }
          scale = 1
          for (i = 1; i <= n; i++) if (number(want[i]) && size(want[i]) > scale) scale = size(want[i])
          for (i = 1; i <= n; i++) {
              if (want[i] == $i || name[i] ~ /^feature/) continue
              if (!number(want[i]) || !number($i) || size(want[i] - $i) > 1e-5 * scale) {
                  print "row " FNR ", " name[i] ": " $i ", not " want[i]; exit 1 } } }
        END { if ((getline line < wanted) > 0) { print "rows are missing"; exit 1 } }' "$2"
}
# run_case NAME BACKEND ACCURACY
run_case() {
    local status=0 wanted=0 options
    read -r -a options < "$cases/$1/command"
    [ -s "$cases/$1/expected" ] || wanted=2
    cd "$cases/$1"
    "$carom" "${options[@]}" --backend "$2" --accuracy "$3" > "$work/out" 2> "$work/err" || status=$?
    if [ $status -ne $wanted ]; then
        echo "status $status, not $wanted: $(head -n 2 "$work/err")"
        return 1
    elif [ $wanted -ne 0 ]; then
        [ -s "$work/err" ]
    elif [ "$3" = exact ]; then
        diff expected "$work/out"
    else
        close_to expected "$work/out"
    fi
}
# run_known QUERY BACKEND ACCURACY: the columns that the command prints are those of the same name in the file
run_known() {
    "$carom" "$1" --pairs "$known/$1.csv" --backend "$2" --accuracy "$3" > "$work/out" &&
        awk -F, -v titles="$(head -n 1 "$work/out")" '
            BEGIN { count = split(titles, title, ",") }
            FNR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
            { for (i = 1; i <= count; i++) printf "%s%s", $place[title[i]], i < count ? "," : "\n" }' \
            "$known/$1.csv" | diff - "$work/out"
}

backends=(cpu)
printf '%s\n' cx,cy,cz,radius,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z 0,0,0,1,0,0,0,1,0,0,0,1,0 > "$work/one.csv"
if "$carom" overlap --backend opencl --pairs "$work/one.csv" > "$work/out" 2> "$work/err"; then
    backends+=(opencl)
elif [[ ${CAROM_TEST_REQUIRE:-} == *opencl* ]]; then
    fail "cases on a device" "$(cat "$work/err")"
else
    skip "cases on a device" "$(head -n 1 "$work/err")"
fi
for folder in "$cases"/*/; do
    name=$(basename "$folder")
    for backend in "${backends[@]}"; do
        check "$name, exact, $backend" run_case "$name" "$backend" exact
        [ -e "$folder/exact-only" ] || check "$name, fast, $backend" run_case "$name" "$backend" fast
    done
done
for file in "$known"/*.csv; do
    name=$(basename "$file" .csv)
    for backend in "${backends[@]}"; do
        for accuracy in fast exact; do
            check "known $name, $accuracy, $backend" run_known "$name" "$backend" "$accuracy"
        done
    done
done
check_end
