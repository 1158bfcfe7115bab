#!/bin/bash
# SPDX-License-Identifier: MIT
# report.sh SOURCE BUILD: scripts/device-report in a quick form, part by part, PoCL as the device.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
icd=/etc/OpenCL/vendors/pocl.icd
if [ ! -r $icd ]; then
    skip "scripts/device-report" "no PoCL (Debian: pocl-opencl-icd)"
    exit
fi
source=$(realpath "$1") build=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report() {
    OCL_ICD_VENDORS=$icd "$source/scripts/device-report" --quick --build "$build" --output "$work" \
        --work "$work/parts" "$@"
}
check "the tests alone" report --only tests
check "no speed, no JSON" test -z "$(find "$work" -maxdepth 1 -name '*.json')"
check "the text says what is missing" grep -q '^bits: not run$' "$work"/*.txt
check "and that of the speed" grep -q '^speed, .* (not run):$' "$work"/*.txt
check "then the others" report --only bits,speed --limit 1000
check "the JSON has the tests" grep -q \
    '"report": {"of": ".*", "tests": "[0-9]* passed, 0 failed, 0 skipped; 0 programs failed' "$work"/*.json
check "and the compared answers" grep -q '"bits": "passed.*: [1-9][0-9]* fast answers' "$work"/*.json
check "with a limit, the device is measured" grep -q '"name": "sweep-first-random/fast/opencl/' "$work"/*.json
check "and the CPU path" grep -q '"name": "sweep-first-random/fast/cpu/' "$work"/*.json
nothing "and no other instruction set" "$(grep -o '"name": "[^"]*/cpu/scalar/' "$work"/*.json)"
check "the text has the result" grep -q '^result: passed' "$work"/*.txt
check "the text warns of a load as the JSON does" test "$(grep -c '"load_warning"' "$work"/*.json)" \
    = "$(grep -c '^the load before the run was' "$work"/*.txt)"
rm "$work/parts/bits.status"
check "a part that was ended" report --only tests
check "is named" grep -q '^bits: cut short; ' "$work"/*.txt
sed -i '2s/.*/another/' "$work/parts/device.txt"
check_status() {
    local got=0
    report --only tests > "$work/said" 2>&1 || got=$?
    [ $got -eq 2 ] && grep -q 'parts of another device, another$' "$work/said"
}
check "parts of two devices make no report" check_status
check_end
