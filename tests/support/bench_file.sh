# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by tests of results of carom bench: made-up results, so that no test depends on a time.

# bench_file SEED [KEY=VALUE...] > FILE.json: rows=12 rounds=12 of 1 % noise; run=0.002, the deviation of each row
# between runs; slow=1 rows take more=1 times as long and have instructions=1 times as many; context=',"key": value';
# neighbours=0, the deviation between runs of all rows of a scene alike; plain=1: its last row is a plain loop.
bench_file() {
    local seed=$1
    shift
    awk -v seed="$seed" -v rows=12 -v rounds=12 -v run=0.002 -v slow=1 -v more=1 -v instructions=1 -v context= \
        -v schema=2 -v neighbours=0 -v plain=0 "${@/#/-v}" '
        function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
        function list(values, factor,    k) {
            for (k = 1; k <= rounds; k++)
                printf("%s%.9g", k > 1 ? ", " : "", values[k] * factor)
        }
        function sort(    k, m, t) {
            for (k = 2; k <= rounds; k++)
                for (m = k; m > 1 && time[m] < time[m - 1]; m--) {
                    t = time[m]
                    time[m] = time[m - 1]
                    time[m - 1] = t
                }
        }
        BEGIN {
            srand(seed)
            split("cpu/scalar/threads:1 cpu/avx2/threads:1 cpu/avx2/threads:2 opencl/made-up/threads:2 " \
                  "plain/grid-c/threads:1 peer/x-1.0/threads:1", subject, " ")
            printf("{\n  \"context\": {\n    \"schema\": %d, \"date\": \"2026-01-0%d\", \"num_cpus\": 2, ", schema,
                   seed % 9 + 1)
            printf("\"cpu\": \"made up\", \"commit\": \"%08x\", \"compiler\": \"none\", \"flags\": \"none\", ", seed)
            printf("\"quick\": false, \"partial\": false%s,\n    ", context)
            printf("\"limits\": [{\"threads\": 1, \"isa\": \"avx2\", ")
            printf("\"triad_bytes_per_second\": 1e10, \"multiply_adds_per_second\": 4e10, ")
            printf("\"divisions_per_second\": 5e9, \"roots_per_second\": 3e9}]},\n  \"benchmarks\": [")
            for (i = 0; i < rows; i++) {
                if (neighbours && i % 4 == 0) slowed = neighbours * normal()
                base = 1e7 * (1 + i % 7) * (i < slow ? more : 1) * exp(run * normal() + slowed)
                for (k = 1; k <= rounds; k++) {
                    noise = normal()
                    wall[k] = time[k] = base * exp(0.01 * (noise > 0 ? noise : -noise))
                }
                sort()
                half = int(rounds / 2)
                median = rounds % 2 ? time[half + 1] : (time[half] + time[half + 1]) / 2
                scene = sprintf("sweep-%d", i / 4)
                name = sprintf("%s/%s/%s", scene, i % 2 ? "exact" : "fast", subject[int(i / 2) % 6 + 1])
                if (plain && i % 4 == 3) name = scene "/fast/plain/soa-c/threads:1"
                printf("%s\n    {\"name\": \"%s\", \"scene\": \"%s\", \"run_type\": \"iteration\"", i ? "," : "", name,
                       scene)
                printf(", \"repetitions\": %d, \"threads\": %d", rounds, name ~ /:2$/ ? 2 : 1)
                printf(", \"real_time\": %.9g, \"cpu_time\": %.9g, \"ns_per_query\": %.9g", median, median * 0.99,
                       median / 1e6)
                printf(", \"best_ns_per_query\": %.9g, \"spread\": 0.01", time[1] / 1e6)
                if (schema > 1) {
                    printf(", \"median_low\": %.9g, \"median_high\": %.9g", time[int(rounds / 4) + 1],
                           time[rounds - int(rounds / 4)])
                    printf(", \"median_confidence\": 0.96, \"instructions_per_query\": %.9g",
                           50 * (i < slow ? instructions : 1) * (1 + i % 7))
                    printf(", \"bytes_per_second\": %.9g", 68e15 / median)
                    printf(", \"divisions_per_query\": 2, \"roots_per_query\": 1")
                    printf(", \"judged\": 1000, \"misses\": 0, \"false_hits\": 0, \"off\": 0")
                    printf(", \"rounds\": {\"wall_ns\": [")
                    list(wall, 1)
                    printf("], \"cpu_ns\": [")
                    list(wall, 0.99)
                    printf("]}")
                }
                printf("}")
            }
            print "\n  ]\n}"
        }'
}

# bench_need_reader FILE.json WHAT: ends the test, which skips WHAT, if the command reads no results
# shellcheck disable=SC2154 # check_begin sets carom
bench_need_reader() {
    if ! "$carom" bench --from "$1" > table.txt 2> stderr.txt; then
        check "why results cannot be read" grep -q 'no jansson' stderr.txt
        skip "$2" "no jansson"
        check_end
        exit
    fi
}
