#!/bin/bash
# SPDX-License-Identifier: MIT
# bench.sh CAROM: carom bench measures what it is asked to and says so in words and in JSON. Times are not judged.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

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
refused "a number of queries and an earlier result" 2 'measures nothing' --from x.json --queries 5
refused "a number of queries and scaling" 2 'batches of its own' --scaling --queries 5
refused "no queries" 2 'queries' --queries 0
refused "a mesh and scaling" 2 'mesh' --scaling --mesh x.obj
refused "a mesh that is not there" 2 'nowhere' --mesh nowhere/x.obj --quick
refused "an earlier result that is not there" 2 'nowhere' --compare nowhere/x.json --quick
nothing "nothing is measured before that" "$(cat stdout.txt)"

"$carom" bench --scene list > list.txt
check "scenes are listed" grep -q '^sweep-times-random ' list.txt
"$carom" bench --quick --backend cpu --json all.json \
    --scene sweep-times-cached,overlap-axes-random,spheres-random,mesh-box-70k,build-70k,refit-70k > all.txt \
    2> stderr.txt
check "its time is estimated first" grep -qE '^carom: bench: 6 scenes, (a few|about [0-9.]+) [a-z]+; ' stderr.txt
check "a whole result" grep -q '"partial": false' all.json
check "a table" grep -q '^sweep-times-cached: ' all.txt
grep -oE '"name": "[^"]*"' all.json | cut -d'"' -f4 > names.txt
nothing "names are scene/accuracy/backend/isa/threads:N" \
    "$(grep -vE '^[a-z0-9-]+/(fast|exact)/(cpu|plain|peer)/[a-z0-9.-]+/threads:[0-9]+$' names.txt || true)"
for name in sweep-times-cached/fast/cpu/scalar/threads:1 sweep-times-cached/exact/cpu/scalar/threads:1 \
    mesh-box-70k/exact/cpu/scalar/threads:1; do
    check "$name is there" grep -qx "$name" names.txt
done
check "a build is there" grep -q '^build-70k/fast/cpu/' names.txt
check "a refit is there" grep -q '^refit-70k/fast/cpu/' names.txt
if grep -q '^overlap-axes-random/fast/plain/' names.txt; then
    check "the traffic floor is there" grep -q '^overlap-axes-random/fast/plain/traffic-' names.txt
    check "the published test is there" grep -q '^overlap-axes-random/fast/plain/ericson-' names.txt
else
    skip "plain loops" "none for the instruction sets of this machine"
fi
asked='^(sweep-times-cached|overlap-axes-random|spheres-random|mesh-box-70k|build-70k|refit-70k)/'
nothing "only what was asked" "$(grep -vE "$asked" names.txt || true)"
nothing "exact mode sees every hit and no other" \
    "$(grep '/exact/' all.json | grep '"judged"' | grep -v '"misses": 0, "false_hits": 0, "off": 0' || true)"
nothing "every row of a sweep or an overlap is judged" \
    "$(grep '"run_type"' all.json | grep -vE '"((build|refit)-|[^"]*/traffic-)' | grep -v '"judged": [1-9]' || true)"
nothing "every row has a time" "$(grep '"run_type"' all.json | grep -vE '"ns_per_query": [0-9.e+-]+' || true)"
nothing "no bits differ" "$(grep '"same_bits": false' all.json || true)"
if command -v python3 > /dev/null; then
    check "it is JSON" python3 -m json.tool all.json
else
    skip "it is JSON" "no python3"
fi

# Other libraries, each either measured or missed in words; in the scenes that ask what they answer.
"$carom" bench --quick --backend cpu --isa scalar --accuracy fast --json peers.json \
    --scene sweep-first-random,overlap-random,mesh-near-70k,mesh-still-70k,build-70k > peers.txt
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
peers Embree mesh-near-70k/fast/peer/embree-ray mesh-near-70k/fast/peer/embree-user-geometry \
    mesh-still-70k/fast/peer/embree-point-query build-70k/fast/peer/embree
peers Bullet sweep-first-random/fast/peer/bullet-convex-cast overlap-random/fast/peer/bullet-detector \
    mesh-near-70k/fast/peer/bullet-mesh-sweep build-70k/fast/peer/bullet
peers FCL overlap-random/fast/peer/fcl-sphere-triangle mesh-still-70k/fast/peer/fcl-mesh
# Instances, and the merged mesh for peers that have none; velocities are carom's alone.
"$carom" bench --quick --backend cpu --isa scalar --accuracy fast --threads 1 --json instances.json \
    --scene instances-turned,instances-moving > instances.txt
for scene in instances-turned instances-moving; do
    wanted='"judged": [1-9][0-9]*, "misses": 0, "false_hits": 0, "off": 0'
    check "$scene: judged, and right" grep -qE "\"name\": \"$scene/fast/cpu/scalar/threads:1\".*$wanted" instances.json
done
if grep -q 'embree-ray' names.txt; then
    verdict_of() { # PEER
        grep "\"name\": \"instances-turned/fast/peer/$1-" instances.json | grep -oE '"judged": .*"false_hits": [0-9]+'
    }
    check "rays among Embree's instances meet what rays in the merged mesh meet" \
        test "$(verdict_of embree-instances)" = "$(verdict_of embree-ray)"
    check "and something" grep -qE 'instances-turned/fast/peer/embree-instances.*"misses": [1-9]' instances.json
fi
nothing "no peer has velocities" "$(grep -E 'instances-moving.*/peer/' instances.json || true)"
# A command without the module beside it says whether the build had found the library.
mkdir -p alone/bin
cp "$carom" alone/bin/carom
alone/bin/carom bench --quick --backend cpu --isa scalar --accuracy fast --scene spheres-cached > alone.txt
for library in Embree Bullet FCL CGAL nanoflann; do
    if grep -q "^$library is not measured: not in this build$" peers.txt; then
        wanted="$library is not measured: not in this build"
    else
        wanted="$library is not measured: carom_peers.so is not beside carom; the target carom_peers builds it"
    fi
    check "$library without the module" grep -qxF "$wanted" alone.txt
done
# A ray has no radius: if nothing were counted for it, a count of 0 would mean little.
if grep -q 'embree-ray' names.txt; then
    check "a ray misses what a sphere hits" grep -qE '"name": "mesh-near-70k/fast/peer/embree-ray.*"misses": [1-9]' \
        peers.json
fi
nothing "a user's plain loop answers as the reference does" \
    "$(grep -E 'overlap-random/fast/plain/closest' peers.json | grep -v '"misses": 0, "false_hits": 0' || true)"
"$carom" bench --quick --backend cpu --accuracy exact --isa scalar --threads 1 --scene spheres-cached \
    --json one.json --progress none > one.txt 2> stderr.txt
nothing "no progress, no estimate" "$(cat stderr.txt)"

# Batches of the user's size; where size is what a scene is about, its own.
"$carom" bench --quick --backend cpu --accuracy fast --isa scalar --threads 1 --queries 3000 --json few.json \
    --scene spheres-random,spheres-cached,mesh-any-70k > few.txt
queries_of() { # SCENE
    grep "\"name\": \"$1/fast/cpu/" few.json |
        sed -E 's/.*"real_time": ([0-9.e+-]+).*"ns_per_query": ([0-9.e+-]+).*/\1 \2/' | awk '{ printf "%.0f", $1 / $2 }'
}
for pair in spheres-random:3000 spheres-cached:4096 mesh-any-70k:3000; do
    check "${pair%:*} has ${pair#*:} queries" test "$(queries_of "${pair%:*}")" = "${pair#*:}"
done
"$carom" bench --quick --backend cpu --isa scalar --threads 1 --queries 1000 --json lattices.json \
    --scene volume-70k,volume-band-70k,volume-sign-70k,clearance-70k,drop-70k,drop-small-70k > lattices.txt
for name in volume-70k volume-band-70k volume-sign-70k clearance-70k drop-70k drop-small-70k; do
    check "$name is beside one query for each node" \
        grep -qE "\"name\": \"$name/exact/cpu/scalar/threads:1\".*\"over_each\": [0-9]" lattices.json
    check "one query for each node of $name" grep -q "\"name\": \"$name/fast/cpu/scalar-each/threads:1\"" lattices.json
done
check "signs are beside none" grep -q '"name": "volume-sign-70k/fast/cpu/scalar-unsigned/' lattices.json
check "the ratio is in the table" grep -qE 'scalar/threads:1 .* times as fast as one by one' lattices.txt
refused "a run without rows" 1 'nothing could be measured' --quick --backend cpu --isa scalar --queries 99999999999 \
    --scene spheres-random
check "batches beyond the memory are not begun" \
    grep -qE '^spheres-random is not measured: .* more than half of the mem' stdout.txt

# Clouds: what others find is compared before it is timed.
"$carom" bench --quick --backend cpu --isa scalar --threads 1 --queries 2000 --json clouds.json \
    --scene cloud,moving-one,contacts-1-70k > clouds.txt
for name in cloud-list-a cloud-count-b cloud-first-c cloud-list-d moving-one-list-a moving-one-first-c; do
    check "$name is there" grep -q "\"name\": \"$name/exact/cpu/scalar/threads:1\"" clouds.json
    check "$name is beside a plain grid" grep -q "\"name\": \"$name/fast/plain/grid-c/threads:1\"" clouds.json
    check "and compared with it" grep -qE "^$name: cpu/scalar is [0-9.]+ times as fast as grid-c" clouds.txt
done
for library in Embree:embree-collide CGAL:cgal-box-self-intersection nanoflann:nanoflann-radius-search; do
    if grep -q "^${library%:*} is not measured: not in this build$" clouds.txt; then
        skip "clouds beside ${library%:*}" "not in this build"
        continue
    fi
    for scene in cloud-list-a cloud-count-c moving-one-first-d; do
        check "$scene is beside ${library%:*}" grep -q "\"name\": \"$scene/fast/peer/${library#*:}-[0-9.]*/" clouds.json
    done
done
nothing "all find the pairs that carom finds" "$(grep 'it finds' clouds.txt || true)"
nothing "and the same partners at rest" "$(grep -E '^  .*(grid-c|/peer/).* others$' clouds.txt || true)"
check "contacts are beside closest points" grep -qE '^contacts-1-70k: fast/.* closest points and ' clouds.txt
for beside in "" -closest -overlaps; do
    check "contacts$beside" grep -q "\"name\": \"contacts-1-70k/exact/cpu/scalar$beside/threads:1\"" clouds.json
done

# A mesh of the user's own: two walls.
printf 'v %s\n' '0 0 0' '1 0 0' '0 1 0' '0 0 1' '1 0 1' '0 1 1' > walls.obj
printf 'f %s\n' '1 2 3' '4 5 6' >> walls.obj
"$carom" bench --quick --backend cpu --isa scalar --mesh walls.obj --json walls.json \
    --scene mesh-near-file,mesh-long-file,build-file,volume-band-file > walls.txt
for name in mesh-near-file/fast mesh-long-file/exact build-file/fast volume-band-file/exact; do
    check "$name is there" grep -q "\"name\": \"$name/cpu/scalar/threads:1\"" walls.json
done
nothing "exact mode's hits on it are the reference's" \
    "$(grep '"name": "mesh-[a-z-]*/exact/' walls.json | grep -v '"misses": 0, "false_hits": 0, "off": 0' || true)"
printf 'v %s\n' 'nan 0 0' '1 0 0' '0 1 0' > nan.obj
echo 'f 1 2 3' >> nan.obj
refused "a mesh that the library refuses" 2 'nan.obj' --quick --mesh nan.obj
printf 'v %s\n' 'inf 0 0' '0 0 0' '1 0 0' '0 1 0' > unused.obj
echo 'f 2 3 4' >> unused.obj
"$carom" bench --quick --backend cpu --isa scalar --mesh unused.obj --scene mesh-near-file --json unused.json \
    > walls.txt
check "a vertex that no triangle uses may lie anywhere" \
    grep -q '"name": "mesh-near-file/exact/cpu/scalar.*"misses": 0' unused.json
check "what needs a mesh is said" grep -q 'mesh-near-file is not measured: it needs --mesh' \
    <("$carom" bench --quick --backend cpu --isa scalar --scene mesh-near-file)

# An earlier result: shown again, compared with, drawn.
if "$carom" bench --from all.json > again.txt 2> said.txt; then
    nothing "the same table again" "$(diff <(grep '/threads:' all.txt) <(grep '/threads:' again.txt) || true)"
    "$carom" bench --from all.json --compare all.json > same.txt
    check "a result has not moved against itself" \
        grep -qE "^$(grep -c run_type all.json) rows in both: 0 slower and 0 faster .*ratios 1.000. New: 0. Gone: 0" \
        same.txt
    # Much slower in one row, whose batch then counts as smaller; and one row under another name.
    sed -E -e '/"name": "spheres-random\/fast\/cpu\/scalar/s#("ns_per_query": )[0-9.e+-]+#\11e9#' \
        -e '/"name": "mesh-box-70k\/fast\/cpu\/scalar/s#box-70k#box-80k#g' all.json > moved.json
    "$carom" bench --from moved.json --compare all.json > moved.txt
    check "what moved is named" grep -qE 'spheres-random/fast/cpu/scalar/threads:1 .* SLOWER  \(another batch\)$' \
        moved.txt
    check "and counted" grep -qE ' 1 slower and 0 faster .* New: 1. Gone: 1.' moved.txt
    sed 's#"cpu": "[^"]*"#"cpu": "an abacus"#' all.json > machine.json
    check "another machine is said" grep -q 'another machine: an abacus' \
        <("$carom" bench --from all.json --compare machine.json)
    head -c 3000 all.json > cut.json
    refused "half a result" 2 'cut.json:[0-9]+: ' --from cut.json
    good='{"name": "a/fast/cpu/x/threads:1", "ns_per_query": 1, "real_time": 1}'
    echo "{\"context\": {\"not_measured\": \"y\"}, \"benchmarks\": [$good, {\"name\": \"x\"}]}" > other.json
    refused "another program's result" 2 'other.json: benchmark 2 has no' --from other.json
    refused "to compare with it" 2 'other.json: benchmark 2 has no' --quick --compare other.json
    "$carom" bench --scaling --quick --backend cpu --isa scalar --threads 1 --scene threads --json series.json \
        > series.txt
    "$carom" bench --from series.json > again.txt
    nothing "a series again" \
        "$(diff <(grep -E 'times one|/threads:' series.txt) <(grep -E 'times one|/threads:' again.txt) || true)"
    echo '[]' > list.json
    refused "no result at all" 2 'list.json: no context' --from list.json
    echo '{"context": {"cpu": "x"}, "benchmarks": []}' > empty.json
    refused "a result without rows" 2 'empty.json: the list of benchmarks is empty' --from empty.json
    refused "to compare with that" 2 'empty.json: the list of benchmarks is empty' --quick --compare empty.json
    if gnuplot --version > version.txt 2>&1; then
        # Names come from a file: they are data, not words of gnuplot's language.
        # shellcheck disable=SC2016 # not to be expanded
        sed 's#overlap-axes-random/fast/cpu/scalar#overlap`touch owned`\\"x'"'"'/fast/cpu/scalar#g' all.json > odd.json
        "$carom" bench --from odd.json --plot picture.svg > drawn.txt
        check "a picture" grep -q '</svg>' picture.svg
        check "with its subjects" grep -q 'cpu/scalar/threads:1' picture.svg
        check "a picture of points" "$carom" bench --from all.json --plot picture.png -o drawn.txt
        check "is one" [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
        nothing "names are not run" "$(ls owned 2> /dev/null || true)"
        # Without intervals, as results of schema 1 are: the spread of the rounds.
        sed -E 's/, "median_(low|high)": [0-9.e+-]+//g' all.json > plain.json
        sed -E 's/("spread": )[0-9.e+-]+/\10.000001/' plain.json > steady.json
        "$carom" bench --from steady.json --plot steady.svg > drawn.txt
        sed -E 's/("spread": )[0-9.e+-]+/\10.4/' plain.json > unsteady.json
        "$carom" bench --from unsteady.json --plot unsteady.svg > drawn.txt
        check "spread is drawn" bash -c '! cmp -s steady.svg unsteady.svg'
        check "and named" grep -q 'bars: spread of the rounds' steady.svg
        sed -E 's/("median_low": )[0-9.e+-]+/\11000/g' all.json > wide.json
        "$carom" bench --from wide.json --plot wide.svg > drawn.txt
        check "intervals are drawn" bash -c '! cmp -s picture.svg wide.svg'
        check "and named" grep -q 'bars: 95 % interval of the median' picture.svg
        check "CPU times are drawn" grep -q 'by CPU time' picture.svg
        sed -e '/"load_warning"/d' -e '/"num_cpus"/s/^/"load_warning": "the load was 9.00: not to be believed", /' \
            all.json > busy.json
        "$carom" bench --from busy.json --plot busy.svg > drawn.txt
        check "the table warns of a load" grep -qx 'the load was 9.00: not to be believed' drawn.txt
        check "so does the picture" grep -q 'the load was 9.00: not to be believed' busy.svg
        sed 's/scaling-threads-mesh/scaling-build/g' series.json > builds.json
        "$carom" bench --from builds.json --plot series.svg > drawn.txt
        check "the axes of threads" grep -q '>threads<' series.svg
        check "the axes of builds" grep -q 'million triangles built per second' series.svg
    else
        skip "pictures" "no gnuplot"
    fi
else
    check "why earlier results cannot be read" grep -q 'no jansson' said.txt
    skip "earlier results" "no jansson"
fi

equal=$(grep -oE '"name": "[^"]*"' one.json | cut -d'"' -f4)
nothing "one accuracy, one instruction set, one number of threads" "${equal#spheres-cached/exact/cpu/scalar/threads:1}"

# ---- interrupted -----------------------------------------------------------------------------------------------------
# interrupt NAME SIGNAL FILE PATTERN arguments...: the signal comes when FILE has the pattern. Leaves `status`.
interrupt() {
    local name=$1 signal=$2 file=$3 pattern=$4 job i
    shift 4
    status=0
    rm -f part.json part.txt stderr.txt
    touch part.txt
    set -m # or a job in the background would ignore SIGINT
    "$carom" bench --quick --backend cpu --isa scalar --json part.json "$@" >> part.txt 2> stderr.txt &
    job=$!
    set +m
    for ((i = 0; i < 6000; i++)); do
        if grep -qs "$pattern" "$file" || ! kill -0 $job; then break; fi
        sleep 0.01
    done 2> /dev/null
    kill "-$signal" -- $job || fail "$name" "it had ended: $(head -n 3 stderr.txt)"
    { wait $job || status=$?; } 2> /dev/null
}
kept() { # NAME: part.json is a partial result
    check "$1: marked partial" grep -q '"partial": true' part.json
    check "$1: with rows" grep -q '"run_type"' part.json
    if command -v python3 > /dev/null; then
        check "$1: it is JSON" python3 -m json.tool part.json
    else
        skip "$1: it is JSON" "no python3"
    fi
}
for signal in INT TERM; do
    interrupt "SIG$signal" $signal part.txt '/threads:1 '
    equal "SIG$signal: status" 130 $status
    check "SIG$signal: it is said" grep -qE '^carom: interrupted: the rows of [0-9]+ scenes? are kept' stderr.txt
    check "SIG$signal: in the table too" grep -qE '^[0-9]+ rows, a partial result' part.txt
    kept "SIG$signal"
done
if "$carom" bench --from part.json > again.txt 2> stderr.txt; then
    check "a partial result is said to be one" grep -qx 'partial: the run was interrupted' again.txt
else
    skip "a partial result is said to be one" "$(cat stderr.txt)"
fi
interrupt "series" INT part.txt '/threads:1 ' --scaling
equal "series: status" 130 $status
kept "series"
interrupt "before the first row" INT stderr.txt '^carom: bench: ' --scene build-1m
equal "before the first row: status" 130 $status
check "before the first row: it is said" grep -q 'interrupted before anything was measured' stderr.txt
nothing "before the first row: no result" "$(ls part.json 2> /dev/null || true)"
interrupt "killed after a scene" KILL part.json '"partial": true'
kept "killed after a scene"

# ---- series ----------------------------------------------------------------------------------------------------------
refused "a series that is a scene" 2 "'sweep-times'" --scaling --scene batch,sweep-times
refused "a scene that is a series" 2 "'threads'" --scene threads
refused "an empty series" 2 'series' --scaling --scene batch,
check "series are listed" "$carom" bench --scaling --scene list -o series.txt
nothing "all four of them" "$(diff <(cut -d' ' -f1 series.txt) <(printf '%s\n' batch triangles threads chunk))"
status=0 # the OpenCL implementation may leak
ASAN_OPTIONS=detect_leaks=0 "$carom" bench --scaling --quick --backend opencl --scene chunk > chunk.txt \
    2> stderr.txt || status=$?
if [ $status -eq 0 ]; then
    check "a device is reported once" [ "$(grep -c '^device ' chunk.txt)" \
        -eq "$(grep -c '^scaling-chunk: .* is fastest' chunk.txt)" ]
elif [ $status -eq 1 ] && grep -q 'not measured' chunk.txt; then
    skip "chunks of a device" "$(grep -m 1 'not measured' chunk.txt)"
else
    fail "chunks of a device" "status $status: $(head -n 3 stderr.txt)"
fi
refused "chunks without a device" 1 'nothing' --scaling --quick --backend cpu --scene chunk
"$carom" bench --scaling --quick --isa scalar --threads 1 --scene batch,threads --json scaling.json > scaling.txt
grep -oE '"name": "[^"]*"' scaling.json | cut -d'"' -f4 > names.txt
{ # the names of a series and the sizes beside them
    for power in 1 10 100 1000 10000 100000 1000000; do
        echo "scaling-batch-$power/fast/cpu/scalar/threads:1 $power"
    done
    for series in threads threads-mesh; do echo "scaling-$series-1/fast/cpu/scalar/threads:1 1"; done
} > wanted.txt
sizes=$(grep '"run_type"' scaling.json |
    sed -E 's/.*"name": "([^"]*)".*"scaling_size": ([0-9.e+]+).*/\1 \2/; s/ 1e\+06$/ 1000000/')
nothing "no row but for a point, with its size" "$(grep -vxFf wanted.txt <<< "$sizes" || true)"
if reason=$(grep -m 1 'stops before' scaling.txt); then # a slow machine ends a series, and says so
    skip "a row for each point" "$reason"
else
    nothing "a row for each point" "$(diff wanted.txt - <<< "$sizes")"
fi
check "the crossover is reported" grep -q '^crossover: ' scaling.txt
check "and is in the JSON" grep -q '"found": "crossover: ' scaling.json
"$carom" bench --scaling --quick --backend cpu --accuracy exact --scene batch --json pair.json > pair.txt
check "exact mode has series too" grep -q '"name": "scaling-batch-1000/exact/cpu/' pair.json
nothing "no bits differ in a series" "$(grep '"same_bits": false' scaling.json pair.json || true)"
if [ "$(nproc)" -gt 1 ]; then
    check "all threads are compared with one" \
        grep -qE '^crossover: cpu/.*threads:[0-9]+ is .*faster than cpu/.*threads:1 ' pair.txt
else
    skip "all threads are compared with one" "one processor"
fi
# The least memory that the program starts with: a series must end before it is used up. Sanitizers want terabytes.
started=no
for ((kib = 40000; kib <= 1000000; kib += 20000)); do
    if (
        ulimit -v $kib && "$carom" bench --scaling --quick --isa scalar --threads 1 --scene batch > small.txt 2>&1
    ); then
        started=yes
        break
    fi
done
if [ $started = yes ]; then
    check "a series ends where memory does" \
        grep -qE '^scaling-batch: 10\^[3-6] pairs would take .* MB, more than half' small.txt
else
    skip "a series ends where memory does" "the program does not start with less than 1 GB"
fi
check_end
