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
cd "$work"
# Words for whoever calls it.
check "--help" "$source/scripts/device-report" --help
for word in --device --queries --only --lent --scene --limit --work --output --build --beside --quick \
    --no-install --help driver programs bits tests rates scaling rest jobs beside peers speed; do
    check "--help names $word" grep -qE "^ *($word|-h, $word)( |$)" <("$source/scripts/device-report" --help)
done
nothing "--help has nothing else" "$("$source/scripts/device-report" -h | grep -E 'set -euo|realpath' || true)"
expect "a part that is none" 2 "'foo' is no part; they are: driver " "$source/scripts/device-report" --only foo
expect "a limit that is none" 2 "'0' is no number of seconds" "$source/scripts/device-report" --limit 0
expect "a build that is none" 2 "--beside: .* holds no carom" "$source/scripts/device-report" --beside "$work"
expect "an option without its value" 2 '--work needs a value' "$source/scripts/device-report" --work

# What is built: a tree whose build folder is this one, and a cmake that notes what it is asked for.
mkdir -p "$work/tree/build" "$work/bin"
cp -r "$source/scripts" "$work/tree/"
ln -s "$build" "$work/tree/build/report"
cat > "$work/bin/cmake" << END
#!/bin/bash
case "\$*" in
*--target\ help) exec "$(command -v cmake)" "\$@" ;;
--build*) echo "\${@:6}" >> "$work/asked.txt"; printf '[%d/20] a step\n' {1..20} ;;
esac
END
chmod +x "$work/bin/cmake"
builds() { # PARTS: the targets that are asked for
    rm -f "$work/asked.txt"
    PATH=$work/bin:$PATH OCL_ICD_VENDORS=$icd timeout 600 "$work/tree/scripts/device-report" --quick --no-install \
        --only "$1" --limit 1 --output "$work/built" > "$work/built.txt" 2>&1 || true
    tr '\n' ' ' < "$work/asked.txt"
}
equal "the driver's part needs the command and its tool" 'carom_cli device_programs ' "$(builds driver)"
check "the build shows how far it is" grep -q '^device-report: building the command: 55 %$' "$work/built.txt"
check "a part says that it begins" grep -q '^device-report: part 1 of 1, driver: at most 1 s$' "$work/built.txt"
equal "scaling needs the command alone" 'carom_cli ' "$(builds scaling)"
tests=$(builds tests)
check "the tests need their own programs" grep -qE '^carom_cli (.* )?test_golden ' <<< "$tests"
nothing "and no others" "$(grep -oE 'test_(threads|moved|csv) ' <<< "$tests" || true)"

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
    = "$(cat "$work"/*.txt | grep -c '^the load before the run was')"
check "another build beside it" report --only driver --beside "$build"
check "both took turns" test -s "$work/parts/beside.files/old1.json" -a -s "$work/parts/beside.files/new1.json"
check "and are compared" grep -qE '^[0-9]+ rows? in both: ' "$work/parts/beside.txt"
rm "$work/parts/bits.status"
check "a part that was ended" report --only tests
check "is named" grep -q '^bits: cut short; ' "$work"/*.txt

# A part that hangs, even if it cannot be asked to end, and one that fails: the others are in the report all the same.
mkdir "$work/fake" "$work/cut"
cat > "$work/fake/carom" << END
#!/bin/bash
case "\$1 \$*" in
verify*) trap '' TERM INT; while :; do sleep 1; done ;;
bench*--scaling*) echo 'a series that fails'; exit 3 ;;
bench*) echo 'a table of scenes'; exit 0 ;;
*) exec "$build/carom" "\$@" ;;
esac
END
chmod +x "$work/fake/carom"
mkdir -p "$work/fake/tests"
ln -s "$build/tests/device_programs" "$work/fake/tests/"
cut_report() {
    local got=0
    OCL_ICD_VENDORS=$icd "$source/scripts/device-report" --quick --build "$work/fake" --output "$work/cut" \
        --work "$work/cut/parts" --limit 3 "$@" > "$work/said" 2>&1 || got=$?
    return $got
}
check_status() { # STATUS COMMAND...
    local expected=$1 got=0
    shift
    "$@" || got=$?
    [ $got -eq "$expected" ]
}
check "a part that fails is the status" check_status 1 cut_report --only driver,programs,bits,rates,scaling,peers
has() { grep -q -e "$1" "$work/cut"/*.txt; }
check "the driver's extensions" has '^extensions: .*cl_khr'
check "its limits" has '^work-items of a group: [1-9]'
check "a line for each program" has '^sweep_first: group '
check "with its log" test -s "$(echo "$work/cut"/*.programs/sweep_first.log)"
check "and its binary" test -s "$(echo "$work/cut"/*.programs/sweep_first.bin)"
check "a part that hangs is cut" has '^bits: cut short by its limit'
check "and named" grep -q '^device-report: bits: cut short by its limit$' "$work/said"
check "what follows it is there" has '^a table of scenes$'
check "so is one that fails" has '^a series that fails$'
check "and the one behind it" has '^other libraries: ended$'
rm -r "$work/cut"
mkdir "$work/cut"
OCL_ICD_VENDORS=$icd "$source/scripts/device-report" --quick --build "$work/fake" --output "$work/cut" \
    --work "$work/cut/parts" --only driver,bits,rates > "$work/said" 2>&1 &
whole=$!
for _ in $(seq 200); do
    [ ! -e "$work/cut/parts/bits.txt" ] || break
    sleep 0.5
done
got=0
kill -TERM $whole
wait $whole || got=$?
check "a report can be ended" test $got -eq 130
check "then it says which parts it has" grep -q 'interrupted; .* has the parts so far$' "$work/said"
check "and that one was cut" has '^bits: cut short'
check "a report that is ended has the parts before" has '^extensions: .*cl_khr'
sed -i '2s/.*/another/' "$work/parts/device.txt"
of_another() { report --only tests > "$work/said" 2>&1; }
check "parts of two devices make no report" check_status 2 of_another
check "and are named" grep -q 'parts of another device, another$' "$work/said"
check_end
