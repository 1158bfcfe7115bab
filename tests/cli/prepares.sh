#!/bin/bash
# SPDX-License-Identifier: MIT
# prepares.sh CAROM: the process that tries a device builds each kernel that a command needs. Where the driver dies of
# one, the command ends with a sentence: all that it needs beside what opens a device is cut off in PoCL's cache.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"
ulimit -c 0
icd=/etc/OpenCL/vendors/pocl.icd
if [ ! -r $icd ]; then
    skip "kernels of commands" "no PoCL (Debian: pocl-opencl-icd)"
    check_end
    exit
fi
export OCL_ICD_VENDORS=$icd

printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'f 1 2 3' 'f 1 3 4' > square.obj
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0.5,0.25,2,0.5,0,0,-1 0.5,0.25,3,0.5,0,0,-1 > balls.csv
printf '%s\n' path,x,y,z,radius 0,0.5,0.25,2,0.5 0,0.5,0.25,-1,0.5 > paths.csv

mkdir opened
env POCL_CACHE_DIR="$work/opened" "$carom" info > info.txt
# kernels FOLDER: of a cache
kernels() { (cd "$1" && find . -name '*.so' | sort); }
# answers NAME COMMAND...: with the kernels of an opened device alone; own.txt lists those that are new
answers() {
    local name=$1
    shift
    rm -rf cache whole out.* && cp -r opened cache
    export POCL_CACHE_DIR=$work/cache
    check "$name: answers" "$carom" "$@" --backend opencl
    comm -13 <(kernels opened) <(kernels cache) > own.txt
    check "$name: has kernels of its own" test -s own.txt
    cp -r cache whole
}
# refuses NAME COMMAND...: the process that tries the device dies, and the command says so
refuses() {
    local name=$1 got=0
    shift
    rm -f out.*
    "$carom" "$@" --backend opencl > stdout.txt 2> stderr.txt || got=$?
    equal "$name: status without them" 1 "$got"
    check "$name: a sentence" grep -q '^carom: OpenCL device .* a driver failed while its kernels were built' stderr.txt
    nothing "$name: no part of an output" "$(find . -maxdepth 1 -name 'out.*')"
}
# dies NAME COMMAND...: all kernels are cut off. dies_of_each: one at a time, so none is left to the command itself
dies() {
    local file
    answers "$@"
    while read -r file; do truncate -s 0 "cache/$file"; done < own.txt
    refuses "$@"
}
dies_of_each() {
    local name=$1 file number=0
    shift
    answers "$name" "$@"
    while read -r file <&3; do
        number=$((number + 1))
        rm -rf cache && cp -r whole cache
        truncate -s 0 "cache/$file"
        refuses "$name, kernel $number" "$@"
    done 3< own.txt
}
"$carom" bake distance --mesh square.obj --spacing 0.5 -o checked.vti --backend cpu
dies "sweep" sweep --mesh square.obj --spheres balls.csv --hits all
dies "overlap" overlap --mesh square.obj --spheres balls.csv --hits closest --accuracy exact
dies "spheres" spheres --cloud balls.csv --t-max 2 --hits first
dies "bake distance" bake distance --mesh square.obj --sign winding --allow-open --spacing 0.5 -o out.npy
dies "bake clearance" bake clearance --mesh square.obj --radius 0.25 --spacing 0.5 -o out.npy
for hits in first all any; do
    dies "bake path, $hits" bake path --mesh square.obj --paths paths.csv --hits $hits -o out.csv
done
dies "bake check" bake check checked.vti --mesh square.obj
"$carom" bake distance --mesh square.obj --spacing 0.5 -o distance.nrrd --backend cpu
dies_of_each "bake check of distances alone" bake check distance.nrrd --mesh square.obj
"$carom" bake path --mesh square.obj --paths paths.csv -o first.csv --backend cpu
dies_of_each "bake check of first hits" bake check first.csv --mesh square.obj --paths paths.csv
"$carom" bake path --mesh square.obj --paths paths.csv --hits any --accuracy exact -o any.csv --backend cpu
dies_of_each "bake check of any hits, exact" bake check any.csv --mesh square.obj --paths paths.csv
check_end
