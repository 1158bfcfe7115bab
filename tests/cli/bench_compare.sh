#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_compare.sh CAROM: what carom bench says of made-up results: verdicts, what it refuses, CSV. The statistics and
# how often a verdict is wrong are tests of their own (statistics, moved).
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bench_file.sh
. "$(dirname "$0")/../support/bench_file.sh"
check_begin "$1"

bench_file 1 > a1.json
bench_need_reader a1.json comparisons
for seed in 2 3 4 5; do bench_file $seed > a$seed.json; done
for seed in 6 7 8 9 10; do bench_file $seed more=1.05 instructions=1.05 > b$seed.json; done
bench_file 6 more=1.2 instructions=1.05 > c6.json
slow=sweep-0/fast/cpu/scalar/threads:1
check "the table has the interval and the CPU time" grep -qE \
    '^  fast/cpu/scalar/threads:1 +[0-9.]+ \[[0-9.]+, [0-9.]+\] +1.0% +[0-9.]+ ' table.txt
check "and their heads" grep -qE ' ns/query \[95 %\] +\+- +CPU ns ' table.txt

# ---- verdicts --------------------------------------------------------------------------------------------------------
"$carom" bench --compare a1.json a2.json > same.txt
check "one build, one run each: nothing" grep -q '^12 rows in both: 0 slower and 0 faster beyond noise' same.txt
check "the noise is told from the rows" grep -qE '^Between runs .* from how unevenly 12 rows moved' same.txt
"$carom" bench --compare a1.json c6.json > one.txt
check "20 % in a row is found" grep -qE "^  $slow .* SLOWER  MORE INSTRUCTIONS \(\+5.0 %\)$" one.txt
check "in one row alone" grep -q '^12 rows in both: 1 slower and 0 faster' one.txt
check "instructions are counted too" grep -qE '^Instructions, 8 rows: 1 with more and 0 with fewer' one.txt
"$carom" bench --compare c6.json a1.json > back.txt
check "and the other way round" grep -qE "^  $slow .* faster  fewer instructions" back.txt
"$carom" bench --from c6.json --compare a1.json > from.txt
equal "--from FILE --compare FILE says the same" "$(grep SLOWER one.txt)" "$(grep SLOWER from.txt)"

"$carom" bench --compare a1.json a2.json c6.json > turn.txt
equal "without --, each file in turn" '0 1' "$(sed -n 's/.* both: \([0-9]*\) slower.*/\1/p' turn.txt | xargs)"
"$carom" bench --compare a1.json a2.json a3.json a4.json a5.json -- b6.json b7.json b8.json b9.json b10.json > many.txt
check "runs of two builds" grep -q '^12 rows in both: 1 slower and 0 faster' many.txt
check "the noise is told from the runs" grep -qE '^Between runs .* from the runs of each side' many.txt
equal "all files are named" 10 "$(grep -cE '^(before|now): [ab][0-9]+.json, ' many.txt)"
"$carom" bench --compare a1.json a2.json -- a3.json a4.json a5.json > few.txt
check "runs of one build" grep -q '^12 rows in both: 0 slower and 0 faster' few.txt
"$carom" bench -o shown.txt --compare=a1.json -- c6.json
check "an option in front of -- keeps its value" grep -q "^  $slow .* SLOWER" shown.txt

# One run on a side and few rows: how much runs differ by is not known.
bench_file 1 rows=9 > few1.json
bench_file 2 rows=9 more=2 > few2.json
check "few rows: no verdict, and why" grep -qE '^No verdict by time of 9 rows .* from 10 such rows or more' \
    <("$carom" bench --compare few1.json few2.json)
bench_file 3 rows=9 > few3.json
bench_file 4 rows=9 more=2 > few4.json
check "with two runs on a side there is one" grep -qE "^  $slow .* SLOWER" \
    <("$carom" bench --compare few1.json few3.json -- few2.json few4.json)

# Neighbours that slow a scene's rows and its plain loop alike are known by the loop, with ten runs on a side.
for seed in {11..30}; do
    more=1
    [ "$seed" -le 20 ] || more=1.05
    bench_file "$seed" neighbours=0.1 plain=1 more=$more > "n$seed.json"
    sed 's/"compiler": "none"/"compiler": "new"/' "n$seed.json" > "m$seed.json"
done
"$carom" bench --compare n1[1-9].json n20.json -- n2[1-9].json n30.json > beside.txt
check "5 % between loud neighbours are found" grep -qE "^  $slow .* SLOWER  beside the plain loop$" beside.txt
check "in one row alone" grep -q '^12 rows in both: 1 slower and 0 faster' beside.txt
check "and what it is judged beside is said" \
    grep -q '^9 rows are judged beside the plain loop of their scene' beside.txt
check "not by nine runs" grep -q ' 0 slower and' \
    <("$carom" bench --compare n1[1-9].json -- n2[1-9].json n30.json)
check "nor by a loop of another compiler" grep -q ' 0 slower and' \
    <("$carom" bench --compare n1[1-9].json n20.json -- m2[1-9].json m30.json)

# Rows that differ by much between runs do not make others' differences a verdict, nor theirs.
check "one run on a side: 5 % is within the floor" grep -q ' 0 slower and' <("$carom" bench --compare a1.json b6.json)
check "and says that it is wide" grep -q 'The floor is wide: it allows for rows that differ by 5 times as much' one.txt
# A row that one file of each side has stands in front: the others keep their verdict.
for name in a2 a3 a4 a5 b7 b8 b9 b10; do sed 's#"name": "sweep-2/#"name": "gone-2/#' $name.json > $name-part.json; done
cp b6.json b6-part.json
"$carom" bench --compare a1.json a{2,3,4,5}-part.json -- b6-part.json b{7,8,9,10}-part.json > parts.txt
check "a row that one file of a side has" grep -q '^16 rows in both: 1 slower and 0 faster' parts.txt
check "has no verdict, and why" grep -q '^No verdict by time of 4 rows with one run on each side' parts.txt

# before and now are what the table says, also of rounds of two kinds.
sed '0,/"wall_ns": \[[^]]*\]/s//"wall_ns": [1e7, 1e7, 1e7, 1e7, 1e7, 1e7, 2e7, 2e7, 2e7, 2e7, 2e7, 2e7]/
    0,/"real_time": [0-9.e+]*/s//"real_time": 1.5e7/; 0,/"ns_per_query": [0-9.e+]*/s//"ns_per_query": 15/' \
    a2.json > two.json
check "the median of an even number" grep -qE "^  $slow +[0-9.]+ +15.00 " <("$carom" bench --compare a1.json two.json)

# What was only waited for: the same CPU time in twice the wall time.
python=$(python_with json || true)
if [ -n "$python" ]; then
    "$python" - << 'END'
import json
for name, change in (("waits", 1), ("works", 2)):
    result = json.load(open("a1.json"))
    row = result["benchmarks"][0]
    row["rounds"]["wall_ns"] = [2 * x for x in row["rounds"]["wall_ns"]]
    row["rounds"]["cpu_ns"] = [change * x for x in row["rounds"]["cpu_ns"]]
    row["cpu_time"] *= change
    json.dump(result, open(name + ".json", "w"))
END
    check "who waited has not moved" grep -q ' 0 slower and' <("$carom" bench --compare a2.json waits.json)
    check "who worked has" grep -q ' 1 slower and' <("$carom" bench --compare a2.json works.json)
else
    skip "waits" "no python3"
fi

# Instructions: 1 % and no less, and not of a device's driver or of several threads (row 4 has two).
bench_file 1 more=1 instructions=1.011 > more.json
bench_file 1 more=1 instructions=1.009 > less.json
bench_file 1 slow=12 more=1 instructions=2 > all.json
check "1.1 % more" grep -q 'MORE INSTRUCTIONS (+1.1 %)' <("$carom" bench --compare a1.json more.json)
nothing "0.9 % more" "$("$carom" bench --compare a1.json less.json | grep 'MORE INST' || true)"
equal "of the CPU's rows of one thread alone" 8 "$("$carom" bench --compare a1.json all.json | grep -c 'MORE INST')"

# ---- what makes a result doubtful ------------------------------------------------------------------------------------
bench_file 3 context=',"load_warning":"the_load_was_9","machine":{"others":1.5,"kernel":"Linux_9"}' > busy.json
bench_file 4 context=',"machine":{"kernel":"Linux_8"}' > other.json
"$carom" bench --compare busy.json a2.json -- other.json busy.json > doubt.txt
equal "old load warnings are repeated" 2 "$(grep -c '^  the_load_was_9$' doubt.txt)"
equal "so is the load during the run" 2 \
    "$(grep -c '^  other programs kept 1.5 of 2 processors busy during the run$' doubt.txt)"
check "another kernel is named" grep -qx 'another kernel: Linux_9 before, Linux_8 now' doubt.txt
bench_file 5 schema=1 | sed 's/"schema": 1, //' > old.json
"$carom" bench --compare old.json a1.json > old.txt
check "a file without a schema is of schema 1" grep -qx '  schema 1, without rounds: its rows get no verdict' old.txt
check "and has no verdict" grep -q '^No row has rounds in all files: no verdict.$' old.txt

# ---- refused ---------------------------------------------------------------------------------------------------------
wrong() { # NAME PATTERN arguments...
    local name=$1 pattern=$2
    shift 2
    expect "$name" 2 "$pattern" "$carom" bench "$@"
}
cp a1.json copy.json
ln a1.json link.json
for same in a1.json copy.json link.json; do
    wrong "a run twice on a side ($same)" "$same: is the same run as a1.json: each run is given once" \
        --compare a1.json "$same" -- b6.json
    wrong "behind -- too ($same)" "$same: is the same run as a1.json" --compare b6.json -- a1.json "$same"
    check "on both sides it is said ($same)" grep -qx 'the same run as a1.json: nothing can have moved between them' \
        <("$carom" bench --compare a1.json "$same")
done
for schema in 0 3 4294967297 '"2"' null; do
    sed "s/\"schema\": 2/\"schema\": $schema/" a1.json > schema.json
    wrong "schema $schema" 'its schema is [0-9]+, and this command reads 1 \(not named\) to 2' --from schema.json
done
rounds() { # NAME LIST: of the first row
    sed "0,/\"wall_ns\": \[[^]]*\]/s//\"wall_ns\": $2/" a1.json > rounds.json
    wrong "$1" 'rounds.json: benchmark 1 has no usable .* rounds \(at most 64\)' --from rounds.json
}
rounds "lists of two lengths" '[1, 2]'
rounds "a round of no time" '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]'
rounds "a negative round" '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1]'
rounds "a round that is no number" '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "x"]'
rounds "an endless round" '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1e300]'
bench_file 1 rounds=65 > long.json
wrong "65 rounds" 'benchmark 1 .*at most 64' --from long.json
bench_file 1 rounds=64 > long.json
check "64 rounds" "$carom" bench --from long.json
wrong "nothing behind --" 'no file stands behind --' --compare a1.json a2.json --
wrong "nothing at all behind --" 'no file stands behind --' --compare a1.json --
wrong "files without --compare" "unexpected argument 'a1.json'" a1.json
wrong "files and a run" 'measures nothing' --compare a1.json a2.json --quick
wrong "files and another" 'measures nothing' --compare a1.json a2.json --from a3.json
wrong "a file that is not there" 'nowhere.json' --compare a1.json -- nowhere.json
wrong "a file that is none" 'stderr.txt:1: ' --compare a1.json -- stderr.txt
for i in $(seq 65); do sed "s/\"date\": \"/&$i /" a2.json > "many$i.json"; done
files=(many{1..65}.json)
wrong "65 files on a side" '65 files on a side; at most 64' --compare a1.json -- "${files[@]}"
check "64 files on a side" "$carom" bench --compare a1.json -- "${files[@]:1}"
cp a2.json kept.json
wrong "a table in the place of a file that is read" 'kept.json: is read as an input' -o kept.json \
    --compare a1.json kept.json
check "which stays" cmp kept.json a2.json
# One file against a result: none of the outputs may be it, by no name.
ln kept.json other-name.json
for option in -o --json --csv; do
    for name in kept.json other-name.json; do
        measure=(--from a1.json)
        [ $option != --json ] || measure=(--quick --scene spheres-cached)
        wrong "$option $name in the place of what --compare reads" "$name: is read as an input" "${measure[@]}" \
            --compare kept.json $option $name
        check "$option leaves it" cmp kept.json a2.json
    done
done
cp a2.json page.html
wrong "a page in its place" 'page.html: is read as an input' --from a1.json --compare page.html --report page.html
check "which stays, too" cmp page.html a2.json

# ---- CSV -------------------------------------------------------------------------------------------------------------
sed 's/sweep-0\/fast\/cpu\/scalar/sweep-0\/fast\/cpu\/a,\\"b/' a1.json > named.json
check "rounds as CSV" "$carom" bench --from named.json --csv rounds.csv -o table.txt
equal "a line for each round" 145 "$(wc -l < rounds.csv)"
if [ -n "$python" ]; then
    check "they are the JSON's" "$python" - << 'END'
import csv, json
rows = {r["name"]: r for r in json.load(open("named.json"))["benchmarks"]}
count = 0
for line in csv.DictReader(open("rounds.csv")):
    rounds = rows[line["name"]]["rounds"]
    for key in ("wall_ns", "cpu_ns"):
        assert abs(float(line[key]) / rounds[key][int(line["round"])] - 1) < 1e-8, line
    assert line["scene"] == rows[line["name"]]["scene"] and line["queries"] == "1000000" and line["instructions"] == ""
    count += 1
assert count == 144, count
END
else
    skip "CSV against JSON" "no python3"
fi
expect "a result without rounds has no CSV" 1 'has no rounds' "$carom" bench --from old.json --csv none.csv -o table.txt
nothing "and leaves none" "$(ls none.csv 2> /dev/null || true)"
check "which is of schema 1" grep -q '(schema 1)' stderr.txt
sed 's/, "rounds": {[^}]*}//' a1.json > bare.json
expect "nor one of schema 2" 1 'has no rounds$' "$carom" bench --from bare.json --csv none.csv --report bare.html \
    -o table.txt
check "whose page is written" grep -q '</html>' bare.html
if [ -w /dev/full ]; then
    expect "a full disk" 1 '/dev/full' "$carom" bench --from a1.json --csv /dev/full -o table.txt
    expect "a full disk for a comparison" 1 '/dev/full' "$carom" bench --compare a1.json a2.json -o /dev/full
fi

# ---- a run -----------------------------------------------------------------------------------------------------------
"$carom" bench --quick --backend cpu --isa scalar --threads 1 --scene spheres-cached --json run.json --csv run.csv \
    --progress none > run.txt
if [ -n "$python" ]; then
    check "a run has schema, rounds and the machine" "$python" - << 'END'
import csv, json, os, platform
result = json.load(open("run.json"))
context, rows = result["context"], result["benchmarks"]
assert context["schema"] == 2
machine, unknown = context["machine"], context["machine_unknown"]
for key in ("kernel governor turbo smt virtual_machine numa_nodes microcode memory memory_speed affinity "
            "temperature_before temperature_after load_before load_after others instructions package_energy "
            "device_energy").split():
    assert (machine[key] is None) == (key in unknown), key
    assert machine[key] is not None or unknown[key], key
assert machine["kernel"] == f"{platform.system()} {platform.release()}"
assert machine["affinity"] == next(l.split()[1] for l in open("/proc/self/status") if l.startswith("Cpus_allowed_list"))
total = 1024 * int(next(l.split()[1] for l in open("/proc/meminfo") if l.startswith("MemTotal")))
assert abs(machine["memory"] * 1e6 / total - 1) < 0.01
for row in rows:
    wall = sorted(x for x in row["rounds"]["wall_ns"] if x is not None)
    cpu = [x for x in row["rounds"]["cpu_ns"] if x is not None]
    assert len(wall) == row["repetitions"] == len(cpu), row["name"]
    assert len(row["rounds"]["wall_ns"]) == len(row["rounds"]["cpu_ns"])
    half = len(wall) // 2
    median = wall[half] if len(wall) % 2 else (wall[half - 1] + wall[half]) / 2
    assert abs(median / row["real_time"] - 1) < 1e-6, row["name"]
    assert row["median_low"] <= row["real_time"] <= row["median_high"] and row["median_low"] > 0
    assert 0 < row["median_confidence"] < 1
    assert (machine["instructions"] is None) == ("instructions_per_query" not in row)
assert len(list(csv.DictReader(open("run.csv")))) == sum(r["repetitions"] for r in rows)
END
else
    skip "a run's JSON" "no python3"
fi
if taskset -c 0 true 2> taskset.txt; then
    taskset -c 0 "$carom" bench --quick --backend cpu --isa scalar --scene spheres-cached --json bound.json \
        --progress none > run.txt
    check "the processors that it may use" grep -q '"affinity": "0"' bound.json
else
    skip "the processors that it may use" "no taskset, or no processor 0"
fi

# ---- a made-up system ------------------------------------------------------------------------------------------------
# Of RAPL's zones packages alone count: psys holds them already. Here it would be seen, as its energy is no number.
cat > system.sh << 'END'
set -e
mount -t tmpfs none /sys/class
mkdir -p /sys/class/powercap/intel-rapl:0 /sys/class/powercap/intel-rapl:1 /sys/class/hwmon/hwmon0
echo "$1" > /sys/class/powercap/intel-rapl:0/name
echo 1000000 > /sys/class/powercap/intel-rapl:0/energy_uj
echo psys > /sys/class/powercap/intel-rapl:1/name
echo garbage > /sys/class/powercap/intel-rapl:1/energy_uj
echo coretemp > /sys/class/hwmon/hwmon0/name
echo "$2" > /sys/class/hwmon/hwmon0/temp1_input
"$3" bench --quick --backend cpu --isa scalar --threads 1 --scene spheres-cached --progress none --json "$4" -o run.txt
END
if unshare -rm mount -t tmpfs none /sys/class 2> unshare.txt; then
    unshare -rm bash system.sh package-0 51500 "$carom" packages.json
    check "packages count, and nothing that holds them" grep -q '"package_energy": "by RAPL, all packages"' \
        packages.json
    check "a sensor" grep -q '"temperature_before": 51.5' packages.json
    unshare -rm bash system.sh psys garbage "$carom" psys.json
    check "without a package there is no energy" grep -q '"package_energy": null' psys.json
    check "and why" grep -q 'no zone of RAPL whose name begins with package' psys.json
    check "a sensor without a number is none" grep -q '"temperature_before": null' psys.json
    check "and why, too" grep -q 'no sensor of a processor that tells a number' psys.json
else
    skip "a made-up system" "no unshare, or no right to mount"
fi
check_end
