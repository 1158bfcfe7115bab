#!/bin/bash
# SPDX-License-Identifier: MIT
# path_interrupted.sh CAROM TORTURE POWER_CUT ORACLE: what becomes of hits along paths if the bake is killed, stopped,
# cut off from its power or out of space. CAROM_TEST_EFFORT (of 100) says how many of the moments are tried.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
torture=$(realpath "$2")
power_cut=$(realpath "$3")
oracle=$(realpath "$4")
bake_begin "$1"
effort=${CAROM_TEST_EFFORT:-100}
# shellcheck disable=SC2034 # support/bake.sh uses it
kind=path
"$oracle" 7 300 0
# The last path hits nothing: its row is the last that is written.
last=$(sed -n 2p paths.csv | awk -F, -v OFS=, '{ $1 = 999999; $2 = $3 = $4 = 1000; print; $2 = 1001; print }')
echo "$last" >> paths.csv
least=$({ bake path --mesh mesh.off --paths paths.csv --threads 1 --max-memory 1 -o none.csv 2>&1 || true; } |
    sed 's/.*: \([0-9]*\) bytes are needed/\1/')
# Chunks of some 100 points.
small=(--mesh mesh.off --paths paths.csv --threads 1 --max-memory $((least + 20000)))
bake path --mesh mesh.off --paths paths.csv -o wanted.csv
for hits in first all any; do bake path "${small[@]}" --hits $hits -o wanted-$hits.csv; done
check "chunks leave no trace" cmp wanted.csv wanted-first.csv

for hits in first all any; do
    killed "kill -9: $hits" wanted-$hits.csv killed.csv "${small[@]}" --hits $hits
done
# The end of the file is also the end of the last path, which has one point in contact.
{ sed '$d' paths.csv | sed '$d' && echo "999998,$(sed -n 3p mesh.off | tr ' ' ,),0.5"; } > point.csv
point=(--mesh mesh.off --paths point.csv --threads 1 --max-memory $((least + 20000)))
for hits in first all; do
    bake path "${point[@]}" --hits $hits -o point-$hits.csv
    check "the last path is a point in contact: $hits" grep -q '^999998,0,0,' point-$hits.csv
    killed "kill -9: it ends with a point: $hits" point-$hits.csv killed.csv "${point[@]}" --hits $hits
done
for names in keep lose; do
    export POWER_CUT_NAMES=$names
    fails_at "a power cut: names $names" wanted-all.csv dark.csv "${small[@]}" --hits all
done
unset POWER_CUT_NAMES

stop_after() { # CALLS: by the shim, after so many writes
    rm -f cut.csv*
    TORTURE_CALL=write TORTURE_AT=$1 TORTURE_KILL=1 TORTURE_HIT=hit LD_PRELOAD=$torture bake path "${small[@]}" \
        --hits all -o cut.csv > stdout.txt 2>&1 || true
}
resumes() { # NAME option...
    local name=$1
    shift
    if bake path "$@" --hits all --resume -o cut.csv > stdout.txt 2> stderr.txt; then
        check "$name" cmp wanted-all.csv cut.csv
    else
        fail "$name" "$(head -n 3 stderr.txt)"
    fi
    nothing "$name: nothing is left" "$(left)"
}
bytes() { bake status cut.csv | cut -d ' ' -f 4; } # that are done
stop_after 30
before=$(bytes)
check "status counts slabs" grep -qE '^[2-9]/[0-9]+ slabs [0-9]+% [0-9]+ bytes path --mesh' <(bake status cut.csv)
refused "a partial file without --resume" 2 "cut.csv.partial: holds [0-9]+ points of an earlier bake: .*--resume" \
    bake path "${small[@]}" --hits all -o cut.csv
refused "other hits" 2 'differs in: hits any \(there all\);' bake path "${small[@]}" --hits any --resume -o cut.csv
refused "another accuracy" 2 'differs in: accuracy exact \(there fast\);' bake path "${small[@]}" --hits all \
    --accuracy exact --resume -o cut.csv
sed '$d' paths.csv > fewer.csv
refused "other points" 2 'differs in: paths [0-9a-f]+ \(there [0-9a-f]+\), points [0-9]+ \(there [0-9]+\);' bake path \
    --mesh mesh.off --paths fewer.csv --hits all --resume -o cut.csv
resumes "another size of chunks, other threads and instructions go on" --mesh mesh.off --paths paths.csv --threads 3 \
    --isa scalar
check "from where it was" grep -qE "going on, [1-9][0-9]{2,} points are done" stderr.txt
stop_after 30
truncate -s -20 cut.csv.journal
check "a journal that was cut off has fewer points" test "$(bytes)" -lt "$before"
resumes "a journal that was cut off" "${small[@]}"
stop_after 30
printf x | dd of=cut.csv.partial bs=1 seek=20000 conv=notrunc status=none
check "a byte that was changed costs what follows" test "$(bytes)" -lt "$before"
resumes "a byte that was changed" "${small[@]}"
stop_after 30
printf x | dd of=cut.csv.journal bs=1 seek=20 conv=notrunc status=none
check "a partial file without a valid journal counts as none" bake path "${small[@]}" --hits all -o cut.csv
check "and is made anew" cmp wanted-all.csv cut.csv

# A part, and its checksum behind the rows.
"$carom" bake path "${small[@]}" --hits all --part 2/3 -o wanted-part
killed "kill -9: a part" wanted-part part "${small[@]}" --hits all --part 2/3

# Columns are made of the rows at the end.
if bake path "${small[@]}" -o wanted.h5 2> stderr.txt; then
    killed "kill -9: columns" wanted.h5 killed.h5 "${small[@]}"
    fails_at "a power cut: columns" wanted.h5 dark.h5 "${small[@]}"
else
    grep -q 'built without HDF5' stderr.txt
    skip "columns" "a build without HDF5"
fi

stop_after 30
check "no space: a write fails" eval "! TORTURE_CALL=write TORTURE_AT=12 TORTURE_HIT=hit2 LD_PRELOAD=$torture \
    bake path ${small[*]} --hits all --resume -o cut.csv 2> full.txt"
check "in a sentence" grep -q 'cut.csv.partial: cannot be written: No space left on device' full.txt
check "that is resumable" grep -qE 'cut.csv: [0-9]+ points are done; the same command with --resume goes on' full.txt
resumes "after a full disk" "${small[@]}"

# SIGTERM while a write does not return: the chunk is finished, then the bake stops.
"$oracle" 8 5000 0
bake path --mesh mesh.off --paths paths.csv --hits all -o wanted-all.csv
tiny=(--mesh mesh.off --paths paths.csv --threads 1 --max-memory $((least + 300)))
rm -f cut.csv*
"$carom" bake path "${tiny[@]}" --hits all -o cut.csv > held.txt 2>&1 &
job=$!
# shellcheck disable=SC2016 # eval gets it
until_true eval '[ "$(stat -c %s cut.csv.journal 2> /dev/null || echo 0)" -gt 1000 ]' || true
kill -TERM $job
status=0
wait $job || status=$?
if [ $status -eq 0 ]; then
    skip "SIGTERM" "the bake was faster"
else
    equal "SIGTERM" 75 $status
    check "SIGTERM: how to go on" grep -qE 'cut.csv: [0-9]+ points are done; the same command with --resume' held.txt
    resumes "after SIGTERM" "${tiny[@]}"
fi
check_end
