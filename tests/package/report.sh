#!/bin/bash
# SPDX-License-Identifier: MIT
# report.sh SOURCE BUILD: scripts/device-report in a quick form, PoCL as the device.
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
check "scripts/device-report" env OCL_ICD_VENDORS=$icd "$source/scripts/device-report" --quick --build "$build" \
    --output "$work"
check "its JSON has the tests" grep -q \
    '"report": {"of": ".*", "tests": "[0-9]* passed, 0 failed, 0 skipped; 0 programs failed' "$work"/*.json
check "its text has the result" grep -q '^result: passed' "$work"/*.txt
check "its text warns of a load as its JSON does" test "$(grep -c '"load_warning"' "$work"/*.json)" \
    = "$(grep -c '^the load before the run was' "$work"/*.txt)"
check_end
