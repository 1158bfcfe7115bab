#!/bin/bash
# SPDX-License-Identifier: MIT
# driver.sh CAROM BROKEN_ICD: drivers that abort, crash, exit or hang, and a kernel cache that was damaged. The command
# must end with a sentence and status 1 under --backend opencl, answer on the CPU under auto, and carom info must go on.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
broken=$(realpath "$2")
check_begin "$1"
unset CAROM_TEST_ICD OCL_ICD_VENDORS

# The process that tries a device must not leave core files or parts of results behind.
ulimit -c 0
printf '%s\n' cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z \
    0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 5,5,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 > few.csv
{
    head -n 1 few.csv
    yes 0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 2> yes.txt | head -n 1048576
} > many.csv || true # yes ends by a signal
sweep=("$carom" sweep --progress none) # a slow machine's progress is no message
"${sweep[@]}" --backend cpu --pairs few.csv -o few-cpu.csv
"${sweep[@]}" --backend cpu --pairs many.csv -o many-cpu.csv

# status WANTED NAME PATTERN COMMAND...: exit status, and a pattern in the one line on standard error ('': no line)
status() {
    local wanted=$1 name=$2 pattern=$3 got=0
    shift 3
    timeout 300 "$@" > stdout.txt 2> stderr.txt || got=$?
    if [ $got -ne "$wanted" ]; then
        fail "$name" "status $got, not $wanted: $(head -n 3 stderr.txt)"
    elif [ -z "$pattern" ] && [ -s stderr.txt ]; then
        fail "$name" "says: $(head -n 3 stderr.txt)"
    elif [ -n "$pattern" ] && { [ "$(wc -l < stderr.txt)" -ne 1 ] ||
        ! grep -qE -- "^carom: .*($pattern)" stderr.txt; }; then
        fail "$name" "not one line with /$pattern/: $(cat stderr.txt)"
    else
        pass "$name"
    fi
}
# fails NAME PATTERN [VARIABLE=VALUE...]: what every command does where the driver dies, for a cause that PATTERN names
fails() {
    local name=$1 pattern=$2
    shift 2
    rm -f out.csv
    status 1 "$name: --backend opencl" "$pattern" env "$@" "${sweep[@]}" --backend opencl --pairs few.csv -o out.csv \
        "${limit[@]}"
    nothing "$name: no result, nor a part of one" "$(find . -name 'out.csv' -o -name '.carom-*' -o -name 'core*')"
    status 0 "$name: auto" "warning: the CPU answers: .*($pattern)" env "$@" "${sweep[@]}" --device 0 \
        --pairs many.csv \
        -o out.csv "${limit[@]}"
    check "$name: auto gives the CPU's answers" cmp many-cpu.csv out.csv
    status 0 "$name: carom info" '' env "$@" "$carom" info "${limit[@]}"
    check "$name: carom info says why" grep -qE "$pattern" stdout.txt
    check "$name: and what the CPU is" grep -q '^cpu path: ' stdout.txt
}
# fails_too NAME PATTERN [VARIABLE=VALUE...]: the commands that try every device
fails_too() {
    local name=$1 pattern=$2
    shift 2
    status 1 "$name: verify --backend opencl" "$pattern" env "$@" "$carom" verify --backend opencl --queries 1
    status 1 "$name: bench --backend opencl" "$pattern" env "$@" "$carom" bench --quick --backend opencl \
        --scene spheres-cached
}
limit=()

# ---- a driver that breaks before it has a device ---------------------------------------------------------------------
mkdir vendors
echo "$broken" > vendors/broken.icd
fails "a driver that aborts when it is loaded" 'SIGABRT' OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=load
fails "a driver that aborts" 'SIGABRT.*"the last\\x09words"' OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=platforms
fails_too "a driver that aborts" 'SIGABRT' OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=platforms
fails "a driver that exits" 'status 0' OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=exit
limit=(--probe-limit 1)
fails "a driver that hangs" 'longer than --probe-limit' OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=hang
limit=()
status 0 "few rows under auto load no driver" '' env OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=load \
    "$carom" \
    sweep --pairs few.csv
status 2 "bad usage comes first" 'nowhere' env OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=load "${sweep[@]}" \
    --pairs nowhere.csv --backend opencl
status 2 "--probe-limit takes seconds" "got '1.5'" "$carom" info --probe-limit 1.5
status 2 "the hidden command is not for users" 'for carom itself' "$carom" probe-device

# ---- PoCL with a damaged cache ---------------------------------------------------------------------------------------
icd=/etc/OpenCL/vendors/pocl.icd
if [ ! -r $icd ]; then
    skip "a damaged kernel cache" "no PoCL (Debian: pocl-opencl-icd)"
    check_end
    exit
fi
cp $icd vendors/
status 0 "a broken driver beside another" '' env OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=load "$carom" info
check "is named by carom info" grep -qE '^driver .*/broken.icd: fails alone too' stdout.txt
check "and the other is tried" grep -qE '^  bit probe: passed' stdout.txt
if command -v python3 > /dev/null; then
    status 0 "in JSON too" '' env OCL_ICD_VENDORS="$work/vendors" CAROM_TEST_ICD=load "$carom" info --json
    equal "a driver that dies and one that passes" "False True passed" "$(python3 -c 'import json
d = json.load(open("stdout.txt"))
print(*[a["lists_devices"] for a in d["drivers_alone"]], d["drivers_alone"][1]["devices"][0]["bit_probe"])')"
else
    skip "in JSON too" "no python3"
fi

export OCL_ICD_VENDORS=$icd
mkdir warm
export POCL_CACHE_DIR=$work/warm
status 0 "PoCL answers" '' "${sweep[@]}" --backend opencl --pairs few.csv -o out.csv
check "as the CPU does" cmp few-cpu.csv out.csv
status 0 "without a process of its own too" '' "${sweep[@]}" --backend opencl --pairs few.csv -o out.csv \
    --probe-limit 0
check "and the same" cmp few-cpu.csv out.csv
# damaged NAME COMMAND...: a copy of the warm cache, each kernel in it handed to a command
damaged() {
    local name=$1
    shift
    rm -rf "$name"
    cp -r warm "$name"
    find "$name" -name '*.so' -exec "$@" {} \;
}
truncated() { damaged "$1" truncate -s "$2"; }
truncated empty 0
fails "kernels that are empty" "a driver failed .*kernel cache, the folder $work/empty" POCL_CACHE_DIR="$work/empty"
fails_too "kernels that are empty" "a driver failed" POCL_CACHE_DIR="$work/empty"
truncated short 2000
fails "kernels that are cut off" "a driver failed .*kernel cache, the folder $work/short" POCL_CACHE_DIR="$work/short"
# Only the kernel of the command, not the one that opens a device: the process must try what the command is about.
rm -rf one
cp -r warm one
find one -name 'carom_sweep_full.so' -exec truncate -s 0 {} \;
status 1 "a kernel that only this command needs" "a driver failed .*kernel cache, the folder $work/one" \
    env POCL_CACHE_DIR="$work/one" \
    "${sweep[@]}" --backend opencl --pairs few.csv
# A cloud and contacts too, whatever lengths the user gives: made-up spheres with these would all meet each other.
printf '%s\n' cx,cy,cz,radius 0,0,0,1e-5 3e-5,0,0,1e-5 > balls.csv
printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'f 1 2 3' > wall.obj
lengths() { # NAME KERNEL COMMAND...
    local name=$1 kernel=$2
    shift 2
    "$carom" "$@" --backend cpu -o balls-cpu.csv
    status 0 "$name: the trial does not take the user's lengths" '' "$carom" "$@" --backend opencl --probe-limit 20 \
        -o out.csv
    check "$name: as the CPU does" cmp balls-cpu.csv out.csv
    rm -rf one
    cp -r warm one
    find one -name "$kernel.so" -exec truncate -s 0 {} \;
    status 1 "$name: a kernel that only it needs" "a driver failed .*kernel cache, the folder $work/one" \
        env POCL_CACHE_DIR="$work/one" "$carom" "$@" --backend opencl
}
lengths "a short period" carom_cloud_test spheres --cloud balls.csv --periodic 0.001,0.001,0.001
lengths "a wide margin" carom_cloud_test spheres --cloud balls.csv --margin 1e30
lengths "contacts with a wide margin" carom_mesh_contacts contacts --mesh wall.obj --spheres balls.csv --margin 1e30 \
    --merge-within 1e30
# A flipped bit may do anything, or nothing.
for byte in 40 1000 4200 8000 20000; do
    rm -rf flipped
    cp -r warm flipped
    find flipped -name '*.so' | while read -r file; do
        printf '\377' | dd of="$file" bs=1 seek=$byte conv=notrunc status=none
    done
    got=0
    env POCL_CACHE_DIR="$work/flipped" timeout 300 "${sweep[@]}" --backend opencl --pairs few.csv -o out.csv \
        2> stderr.txt || got=$?
    if [ $got -eq 0 ]; then
        check "byte $byte of the kernels is another: the answers are right" cmp few-cpu.csv out.csv
    else
        check "byte $byte of the kernels is another: refused" test $got -eq 1 -a -s stderr.txt
    fi
    status 0 "byte $byte: carom info" '' env POCL_CACHE_DIR="$work/flipped" "$carom" info
done
mkdir cold
fails "no linker" 'put the linker ld' PATH=/nonexistent POCL_CACHE_DIR="$work/cold"
status 1 "a cache that cannot be written" 'POCL_CACHE_DIR' env POCL_CACHE_DIR=/dev/null/cache "${sweep[@]}" \
    --backend opencl \
    --pairs few.csv
status 0 "and carom info" '' env POCL_CACHE_DIR=/dev/null/cache "$carom" info

# ---- little address space --------------------------------------------------------------------------------------------
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    skip "little address space" "a sanitized build takes more than all of it"
    check_end
    exit
fi
within() { # KIB COMMAND...
    (
        ulimit -v "$1"
        shift
        exec "$@"
    )
}
# Where the driver finds no device, where it dies, where it works for a few rows but not beside many. Which is where
# depends on the machine. Two threads: the stacks of as many as a large machine has would not fit.
for kib in 200000 265000 320000 370000 420000; do
    got=0
    within $kib "${sweep[@]}" --threads 2 --backend opencl --pairs few.csv -o out.csv 2> stderr.txt || got=$?
    if [ $got -eq 0 ]; then
        check "$kib KiB: --backend opencl" cmp few-cpu.csv out.csv
    else
        check "$kib KiB: --backend opencl is refused" test $got -eq 1 -a -s stderr.txt
    fi
    if within $kib "${sweep[@]}" --threads 2 --device 0 --pairs many.csv -o out.csv 2> stderr.txt; then
        check "$kib KiB: auto gives the CPU's answers" cmp many-cpu.csv out.csv
    else
        fail "$kib KiB: auto gives the CPU's answers" "$(cat stderr.txt)"
    fi
    check "$kib KiB: carom info" within $kib "$carom" info
done
within 265000 "${sweep[@]}" --threads 2 --backend opencl --pairs few.csv > /dev/null 2> stderr.txt || true
check "little address space is named" grep -q '265000 KiB (ulimit -v)' stderr.txt
nothing "no core file, no part of a result" "$(find . -name '.carom-*' -o -name 'core*')"
check_end
