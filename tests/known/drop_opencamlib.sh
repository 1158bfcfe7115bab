#!/bin/bash
# SPDX-License-Identifier: MIT
# drop_opencamlib.sh CHECKOUT > drop_opencamlib.txt: heights by OpenCAMLib, made from a checkout of its sources
# (github.com/aewallin/opencamlib) by g++ with Boost's headers (Debian: libboost-dev). Run by hand when the meshes or
# places of drop_opencamlib.cpp change; no test and no row of scripts/test runs it.
set -eu
checkout=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sources=()
for name in algo/{fiber,interval} common/numeric dropcutter/batchdropcutter \
    cutters/{ballcutter,bullcutter,compositecutter,conecutter,cylcutter,ellipse,ellipseposition,millingcutter} \
    geo/{bbox,ccpoint,clpoint,point,stlsurf,triangle}; do
    sources+=("$checkout/src/$name.cpp")
done
includes=()
for folder in algo common cutters dropcutter geo; do includes+=("-I$checkout/src/$folder"); done
g++ -std=c++14 -O2 -DNDEBUG -w "${includes[@]}" "$here/drop_opencamlib.cpp" "${sources[@]}" -o "$work/drop"
commit=$(git -C "$checkout" log -1 --format='%h of %cs' 2> /dev/null || echo 'an unknown commit')
echo "# Tips of ball cutters by OpenCAMLib, $commit (BatchDropCutter, binary64). Made by drop_opencamlib.sh;"
echo "# drop_opencamlib.cpp says what the lines are."
"$work/drop"
