#!/bin/bash
# SPDX-License-Identifier: MIT
# cli_mesh.sh CAROM: queries of a mesh by the command: mesh files of all formats, options, a few answers by hand, and
# files that are refused. On the CPU path.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

sweep() { "$carom" sweep --backend cpu "$@"; }
printf '%s\n' cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z \
    0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0 > good.csv

bytes() { # hexadecimal words, least significant byte first as given
    local hex i
    for hex; do
        for ((i = 0; i < ${#hex}; i += 2)); do printf '%b' "\\x${hex:i:2}"; done
    done
}
# Two triangles; 0x3dcccccd is the float nearest 0.1, 0x00000001 the smallest denormal.
tenth=cdcccc3d tiny=01000000 one=0000803f zero=00000000
{
    printf 'ply\nformat binary_little_endian 1.0\nelement vertex 4\n'
    printf 'property float %s\n' x y z
    printf 'element face 2\nproperty list uchar int vertex_indices\nend_header\n'
    bytes $zero $zero $zero $one $zero $zero $zero $one $tiny $one $one $tenth
    bytes 03 01000000 02000000 03000000 03 00000000 01000000 02000000
} > two.ply
{
    printf '%-80s' 'a binary file'
    bytes 02000000
    bytes $zero $zero $zero $one $zero $zero $zero $one $tiny $one $one $tenth 0000
    bytes $zero $zero $zero $zero $zero $zero $one $zero $zero $zero $one $tiny 0000
} > two.stl
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 1e-45\n1 1 0.1\n3 1 2 3\n3 0 1 2\n' > two.off
printf 'v 0 0 0\nv 1 0 0\nv 0 1 1e-45\nv 1 1 0.1\nf 2 3 4\nf 1 2 3\n' > two.obj
printf 'cx,cy,cz,radius,vx,vy,vz\n0.1,0.1,5,0.5,0,0,-1\n0.9,0.9,5,0.5,0,0,-1\n9,9,5,0.5,0,0,-1\nnan,0,0,1,0,0,0\n' \
    > sp.csv
sweep --mesh two.ply --spheres sp.csv > mesh.csv
equal "mesh: header" triangle,state,t,x,y,z,nx,ny,nz,feature "$(head -n 1 mesh.csv)"
equal "mesh: triangles in file order" "1 0 -1 -1" "$(tail -n +2 mesh.csv | cut -d , -f 1 | paste -sd ' ')"
equal "mesh: no hit" -1,miss,inf,,,,,,, "$(sed -n 4p mesh.csv)"
equal "mesh: invalid row" -1,invalid,inf,,,,,,, "$(sed -n 5p mesh.csv)"
for other in two.stl two.off two.obj; do
    sweep --mesh $other --spheres sp.csv > other.csv 2> stderr.txt || true
    check "mesh: ${other#*.} answers as ply" cmp mesh.csv other.csv
done
# The bounds are printed to the last bit, so they tell whether coordinates arrived.
for file in two.ply two.stl; do
    equal "mesh: ${file#*.} keeps the bits" "upper: 1 1 0.100000001" "$("$carom" info --backend cpu --mesh $file |
        grep '^upper')"
done
# A scene: the same triangles, of two instances; a mesh in quotes, a mask, columns in another order.
mkdir -p parts
cp two.off 'parts/a, b.off'
head=m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23
printf '%s\n' "$head,mask,other,mesh" '1,0,0,0,0,1,0,0,0,0,1,0,1,x,"parts/a, b.off"' \
    '1,0,0,0,0,1,0,0,0,0,1,-1,0x2,,parts/../two.off' > scene.csv
sweep --scene scene.csv --spheres sp.csv > scene.out
equal "scene: header" instance,triangle,state,t,x,y,z,nx,ny,nz,feature "$(head -n 1 scene.out)"
tail -n +2 mesh.csv > mesh.rows
tail -n +2 scene.out | cut -d , -f 2- > scene.rows
check "scene: the first instance answers as the mesh" cmp mesh.rows scene.rows
equal "scene: instances" "0 0 -1 -1" "$(tail -n +2 scene.out | cut -d , -f 1 | paste -sd ' ')"
sed 's/$/,2/; 1s/,2$/,mask/' sp.csv > masked.csv
equal "scene: masks of instances" "1 1 -1 -1" "$(sweep --scene scene.csv --spheres masked.csv | tail -n +2 |
    cut -d , -f 1 | paste -sd ' ')"
equal "scene: lists" "0,0,1 0,1,1 1,0,0 1,1,0" "$(sweep --scene scene.csv --spheres sp.csv --hits all | tail -n +2 |
    cut -d , -f 1-3 | paste -sd ' ')"
sweep --scene scene.csv --spheres sp.csv -o scene.h5 2> /dev/null || true
bad_scene() { # NAME WORD ROW...
    local name=$1 word=$2
    shift 2
    printf '%s\n' "$@" > bad_scene.csv
    expect "scene: $name" 2 "$word" "$carom" sweep --scene bad_scene.csv --spheres sp.csv
}
{
    printf '\xef\xbb\xbf'
    cat scene.csv
} > marked.csv
sweep --scene marked.csv --spheres sp.csv > marked.out
check "scene: a byte order mark" cmp scene.out marked.out
expect "scene: a sign" 2 "--sign belongs to --mesh" "$carom" overlap --scene scene.csv --spheres sp.csv --sign parity
expect "scene: open" 2 "--allow-open belongs to --mesh" "$carom" overlap --scene scene.csv --spheres sp.csv --allow-open
expect "scene: a robust sign" 2 "--sign belongs to --mesh" "$carom" overlap --scene scene.csv --spheres sp.csv \
    --hits closest --sign robust
bad_scene "no instance" "no instance" "mesh,$head"
bad_scene "a column missing" m23 "mesh,${head%,m23}" "two.off,1,0,0,0,0,1,0,0,0,0,1"
bad_scene "a field missing" ":2: 12 fields" "mesh,$head" "two.off,1,0,0,0,0,1,0,0,0,0,1"
bad_scene "not a number" ":2: m00: expected a finite number, got 'x'" "mesh,$head" "two.off,x,0,0,0,0,1,0,0,0,0,1,0"
bad_scene "not finite" "finite number" "mesh,$head" "two.off,1,0,0,inf,0,1,0,0,0,0,1,0"
bad_scene "beyond binary32 in the world" "instance 0: vertex" "mesh,$head" "two.off,3e38,3e38,0,3e38,0,1,0,0,0,0,1,0"
bad_scene "no such mesh" none.off "mesh,$head" "none.off,1,0,0,0,0,1,0,0,0,0,1,0"
bad_scene "a part of a velocity" "missing column 'uy'" "mesh,$head,ux" "two.off,1,0,0,0,0,1,0,0,0,0,1,0,1"
bad_scene "an infinite velocity" ":2: uz: expected a finite number" "mesh,$head,ux,uy,uz" \
    "two.off,1,0,0,0,0,1,0,0,0,0,1,0,1,0,inf"
bad_scene "text behind a quote" "behind a closing quote" "mesh,$head" '"two.off"x,1,0,0,0,0,1,0,0,0,0,1,0'
bad_scene "an open quote" "is not closed" "mesh,$head" '"two.off,1,0,0,0,0,1,0,0,0,0,1,0'
bad_scene "a bad mask" mask "mesh,$head,mask" "two.off,1,0,0,0,0,1,0,0,0,0,1,0,-1"
# Exact mode on a square of two triangles: on the edge that they share the lower index; a window that ends at the
# contact holds it, one float earlier does not. What slides off one triangle onto the other parts from the first as it
# touches.
printf 'OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 2 3\n3 0 1 2\n' > square.off
printf '%s\n' "mesh,$head,uz,ux,uy" square.off,1,0,0,0,0,1,0,0,0,0,1,0,1,0.5,0 > moving.csv
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0.75,0.25,2,0.5,0.5,0,-1 > falls.csv
for accuracy in fast exact; do
    equal "scene: an instance that moves, $accuracy" 0,1,approaching,0.75,1.125,0.25,0.75,0,0,1,F \
        "$(sweep --scene moving.csv --spheres falls.csv --accuracy $accuracy | tail -n 1)"
done
equal "scene: it overlaps at time 0" 0 "$("$carom" overlap --scene moving.csv --spheres falls.csv | tail -n 1)"
{
    echo cx,cy,cz,radius,vx,vy,vz,t_max
    printf '%s\n' 0.5,0.5,2,0.5,0,0,-1,inf 0.5,0.25,2,0.5,0,0,-1,1.5 0.5,0.25,2,0.5,0,0,-1,0x1.7ffffep+0 \
        0.5,0.5,0.5,0.5,0,0,1,0 0.5,0.5,0.5,0.5,1,0,0,inf 0.5,0.5,0.5,0.5,1,1,0,inf \
        0.25,0.75,2,0.5,0,0,-3,inf
} > e.csv
equal "mesh: exact" "$(head -n 1 mesh.csv)
0,approaching,1.5,0.5,0.5,0,0,0,1,E01
1,approaching,1.5,0.5,0.25,0,0,0,1,F
-1,miss,inf,,,,,,,
-1,miss,inf,,,,,,,
1,touching,0,0.5,0.5,0,0,0,1,E20
0,overlapping,0,0.5,0.5,0,0,0,1,E01
0,approaching,0.5,0.25,0.75,0,0,0,1,F" "$(sweep --accuracy exact --mesh square.off --spheres e.csv)"
# All hits: both triangles at the edge that they share; only what is within the window; at a time beyond binary32 no
# point.
printf '%s\n' 0.25,0.5,2,0.5,0,0,-1,inf nan,0,0,1,0,0,0,0 0.5,0.25,2,0.5,0,0,-1e-39,inf 0.5,0.25,0.25,0.5,0,0,0,0 \
    > more.txt
cat e.csv more.txt > all.csv
equal "mesh: all hits, exact" "query,$(head -n 1 mesh.csv)
0,0,approaching,1.5,0.5,0.5,0,0,0,1,E01
0,1,approaching,1.5,0.5,0.5,0,0,0,1,E20
1,1,approaching,1.5,0.5,0.25,0,0,0,1,F
4,1,touching,0,0.5,0.5,0,0,0,1,E20
5,0,overlapping,0,0.5,0.5,0,0,0,1,E01
5,1,overlapping,0,0.5,0.5,0,0,0,1,E20
6,0,approaching,0.5,0.25,0.75,0,0,0,1,F
6,1,approaching,0.548815548,0.5,0.5,0,-0.5,0.5,0.707106769,E20
7,0,approaching,1.5,0.25,0.5,0,0,0,1,F
7,1,approaching,1.53229284,0.375,0.375,0,-0.25,0.25,0.935414374,E20
9,0,approaching,inf,,,,,,,
9,1,approaching,inf,,,,,,,
10,0,overlapping,0,0.375,0.375,0,0.408248276,-0.408248276,0.816496551,E01
10,1,overlapping,0,0.5,0.25,0,0,0,1,F" "$(sweep --accuracy exact --mesh square.off --spheres all.csv --hits all)"
equal "mesh: any hit, exact" "hit,1,1,0,0,1,1,1,1,,1,1" \
    "$(sweep --accuracy exact --mesh square.off --spheres all.csv --hits any | paste -sd ,)"
sweep --accuracy exact --mesh square.off --spheres all.csv > one.csv
sweep --accuracy exact --mesh square.off --spheres all.csv --hits first > two.csv
check "mesh: --hits first is what there is without it" cmp one.csv two.csv
equal "mesh: all hits of no row" "query,$(head -n 1 mesh.csv)" \
    "$(head -n 1 all.csv | sweep --mesh square.off --spheres - --hits all)"
sweep --accuracy exact --mesh square.off --spheres all.csv --hits all -o list.csv
equal "mesh: all hits to a file" 15 "$(wc -l < list.csv)"
sed 's/^nan/oops/' all.csv > bad.csv
expect "mesh: all hits of a bad file" 2 'bad.csv:10.*oops' sweep --mesh square.off --spheres bad.csv --hits all \
    -o list.csv
equal "leaves the old list" 15 "$(wc -l < list.csv)"
expect "mesh: hits of another command" 2 "expected first, all or any, got 'closest'" \
    sweep --mesh square.off --spheres all.csv --hits closest
expect "pairs have no --hits" 2 'belong to --mesh' sweep --pairs good.csv --hits all

# Overlaps with the square: at a distance of exactly the radius above the shared edge, nearer above one triangle, the
# same with a radius that reaches one alone, apart by a hair, beside it at exactly the radius, and what is invalid.
overlap() { "$carom" overlap --backend cpu --accuracy exact "$@"; }
{
    echo cx,cy,note,cz,radius
    printf '%s\n' 0.5,0.5,a,1,1 0.5,0.25,b,0.25,0.5 0.75,0.25,c,0.5,0.5 0.75,0.25,d,0.5,0x1.fffffep-2 3,0.5,e,0,2 \
        inf,0,f,0,1 0,0,g,0,-1 0,0,h,0,0
} > rest.csv
equal "overlap: any" "hit,1,1,1,0,1,,,1" "$(overlap --mesh square.off --spheres rest.csv | paste -sd ,)"
equal "overlap: --hits any" "hit,1,1,1,0,1,,,1" "$(overlap --mesh square.off --spheres rest.csv --hits any |
    paste -sd ,)"
equal "overlap: count" "count,2,2,1,0,1,,,2" "$(overlap --mesh square.off --spheres rest.csv --hits count |
    paste -sd ,)"
equal "overlap: all" "query,triangle 0,0 0,1 1,0 1,1 2,1 4,1 7,0 7,1" \
    "$(overlap --mesh square.off --spheres rest.csv --hits all | paste -sd ' ')"
equal "overlap: closest" "triangle,distance,x,y,z,feature,depth
0,1,0.5,0.5,0,E01,0
1,0.25,0.5,0.25,0,F,0.25
1,0.5,0.75,0.25,0,F,0
1,0.5,0.75,0.25,0,F,-2.98023224e-08
1,2,1,0.5,0,E12,0
-1,inf,,,,,
-1,inf,,,,,
0,0,0,0,0,V0,0" "$(overlap --mesh square.off --spheres rest.csv --hits closest)"
# A largest distance for all rows, or in a column, which overrides it; what is at that distance is kept.
closest() { overlap --mesh square.off --hits closest "$@" | cut -d , -f 1,2,7 | paste -sd ' '; }
equal "overlap: --max-distance" "triangle,distance,depth 0,1,0 1,0.25,0.25 1,0.5,0 1,0.5,-2.98023224e-08 -1,inf, \
-1,inf, -1,inf, 0,0,0" "$(closest --spheres rest.csv --max-distance 1)"
equal "overlap: --max-distance 0" "triangle,distance,depth -1,inf, -1,inf, -1,inf, -1,inf, -1,inf, -1,inf, -1,inf, \
0,0,0" "$(closest --spheres rest.csv --max-distance 0)"
equal "overlap: without --max-distance" "$(closest --spheres rest.csv)" \
    "$(closest --spheres rest.csv --max-distance inf)"
printf '%s\n' max_distance,cx,cy,cz,radius 0.25,0.5,0.25,0.25,0.5 0x1.fffffep-3,0.5,0.25,0.25,0.5 inf,0.5,0.25,9,0.5 \
    0,9,9,9,1 -0,0,0,0,1 > limits.csv
equal "overlap: max_distance" "triangle,distance,depth 1,0.25,0.25 -1,inf, 1,9,-8.5 -1,inf, 0,0,1" \
    "$(closest --spheres limits.csv --max-distance 1)"
expect "overlap: the column is of closest points alone" 0 '' overlap --mesh square.off --spheres limits.csv
for limit in -1 nan z ''; do
    expect "overlap: --max-distance '$limit'" 2 "--max-distance: expected a number >= 0 or inf, got '$limit'" overlap \
        --mesh square.off --spheres rest.csv --hits closest --max-distance "$limit"
done
for limit in -1 -1e-45 nan; do
    printf 'cx,cy,cz,radius,max_distance\n0,0,0,1,1\n0,0,0,1,%s\n' "$limit" > limit.csv
    expect "overlap: max_distance $limit" 2 'limit.csv:3: column max_distance: expected a number >= 0 or inf' overlap \
        --mesh square.off --spheres limit.csv --hits closest
done
for hits in any count all; do
    expect "overlap: --max-distance of --hits $hits" 2 '--max-distance belongs to --hits closest' overlap \
        --mesh square.off --spheres rest.csv --hits $hits --max-distance 1
done
expect "overlap: pairs have no --max-distance" 2 '--max-distance.*belong to --mesh' overlap --pairs o.csv \
    --max-distance 1
expect "sweeps have no --max-distance" 2 'max-distance' sweep --mesh square.off --spheres sp.csv --max-distance 1
# A body: places inside, on the surface, beyond a limit; a mesh with a hole; options in the wrong place.
printf '%s\n' OFF '8 12 0' '0 0 0' '4 0 0' '4 4 0' '0 4 0' '0 0 4' '4 0 4' '4 4 4' '0 4 4' '3 0 2 1' '3 0 3 2' \
    '3 4 5 6' '3 4 6 7' '3 0 1 5' '3 0 5 4' '3 1 2 6' '3 1 6 5' '3 2 3 7' '3 2 7 6' '3 3 0 4' '3 3 4 7' > cube.off
sed -e '2s/12/11/' -e '$d' cube.off > holed.off
printf '%s\n' cx,cy,cz,radius,max_distance 2,1,1.5,0.5,inf 2,1,1.5,0.5,0.5 1,2,4,0.5,inf 2,2,7,0.5,1 nan,2,2,1,inf \
    > body.csv
of_body() {
    overlap --mesh cube.off --spheres body.csv --hits closest "$@" | paste -sd ' '
}
for sign in parity winding; do
    equal "overlap: closest with --sign $sign" \
        "triangle,distance,x,y,z,feature,depth,gx,gy,gz 4,-1,2,0,1.5,F,1.5,0,-1,0 -1,-inf,,,,,,,, \
3,0,1,2,4,F,0.5,0,0,1 -1,inf,,,,,,,, -1,inf,,,,,,,," \
        "$(of_body --sign $sign --gradient)"
    equal "overlap: any with --sign $sign" "hit 1 1 1 0 " \
        "$(overlap --mesh cube.off --spheres body.csv --sign $sign | paste -sd ' ')"
    expect "overlap: a hole with --sign $sign" 2 'the mesh is open: 3 edges.*--allow-open' \
        overlap --mesh holed.off --spheres body.csv --hits closest --sign $sign
    expect "overlap: a hole with --sign $sign, any" 2 'the mesh is open: 3 edges' \
        overlap --mesh holed.off --spheres body.csv --sign $sign
    nothing "overlap: a hole with --sign $sign writes nothing" "$(cat stdout.txt)"
    expect "overlap: a hole with --sign $sign that is allowed" 0 '' \
        overlap --mesh holed.off --spheres body.csv --hits closest --sign $sign --allow-open
    for hits in all count; do
        expect "overlap: --sign $sign of --hits $hits" 2 '--sign belongs to --hits any and closest' \
            overlap --mesh cube.off --spheres body.csv --hits $hits --sign $sign
    done
done
# Robust: as winding where that takes the mesh, and a mesh with a hole unasked.
of_holed() {
    overlap --mesh holed.off --spheres holed.csv "$@" | paste -sd ' '
}
printf '%s\n' cx,cy,cz,radius 2,1,1.5,0.5 0.25,1.5,2,0.125 -1,1.5,2,0.5 > holed.csv
equal "overlap: closest with --sign robust" "$(of_body --sign winding --gradient)" "$(of_body --sign robust --gradient)"
equal "overlap: --sign robust at a hole" "distance,depth,gx -1,1.5,0 -0.25,0.375,-1 1,-0.5,-1" \
    "$(overlap --mesh holed.off --spheres holed.csv --hits closest --sign robust --gradient | cut -d , -f 2,7,8 |
        paste -sd ' ')"
equal "overlap: any with --sign robust" "hit 1 1 0" "$(of_holed --sign robust)"
equal "overlap: --sign none" "$(of_body)" "$(of_body --sign none)"
expect "overlap: --sign of no such rule" 2 "--sign: expected none, parity, winding or robust, got 'z'" overlap \
    --mesh cube.off --spheres body.csv --hits closest --sign z
expect "overlap: --gradient of any" 2 '--gradient belongs to --hits closest' \
    overlap --mesh cube.off --spheres body.csv --gradient
expect "overlap: pairs have no --sign" 2 '--sign.*belong to --mesh' overlap --pairs o.csv --sign parity
expect "sweeps have no --sign" 2 'sign' sweep --mesh square.off --spheres sp.csv --sign parity
# Bundles of three rows: a hit beside an invalid row, none beside one, none; the deepest row, a tie, no valid row.
printf '%s\n' cx,cy,cz,radius 2,2,9,1 2,2,5,2 nan,2,2,1 nan,2,2,1 9,2,2,1 9,2,2,0.5 2,2,8,1 2,2,7,1 9,2,2,1 \
    > bundles.csv
head -n 1 bundles.csv > invalid.csv
printf '%s\n' nan,2,2,1 2,2,2,-1 2,inf,2,1 2,2,5,0.5 2,2,5,0.5 2,2,5,0.25 >> invalid.csv
bundles() {
    overlap --mesh cube.off --spheres "$@" --bundle 3 | paste -sd ' '
}
equal "overlap: any with --bundle" "hit 1  0" "$(bundles bundles.csv)"
equal "overlap: any with --bundle and --sign" "hit  0" "$(bundles invalid.csv --sign winding)"
equal "overlap: closest with --bundle" "query,triangle,distance,x,y,z,feature,depth 1,2,1,2,2,4,E20,1 \
4,6,5,4,2,2,E20,-4 7,2,3,2,2,4,E20,-2" "$(bundles bundles.csv --hits closest)"
equal "overlap: closest with --bundle and --gradient" "query,triangle,distance,x,y,z,feature,depth,gx,gy,gz \
-1,-1,inf,,,,,,,, 3,2,1,2,2,4,E20,-0.5,0,0,1" "$(bundles invalid.csv --hits closest --gradient)"
sed 's/$/,0,0,-1/; 1s/,0,0,-1/,vx,vy,vz/' bundles.csv > swept_bundles.csv
equal "sweep: any with --bundle" "hit 1  1" \
    "$(sweep --mesh cube.off --spheres swept_bundles.csv --hits any --bundle 3 | paste -sd ' ')"
expect "overlap: rows that are no whole bundles" 2 'bundles.csv: 9 rows; with --bundle 4 their number' \
    overlap --mesh cube.off --spheres bundles.csv --bundle 4
nothing "overlap: rows that are no whole bundles write nothing" "$(cat stdout.txt)"
for size in 0 -1 4294967296 z; do
    expect "overlap: --bundle $size" 2 "--bundle: expected a whole number from 1 to 2.32 - 1, got '$size'" \
        overlap --mesh cube.off --spheres bundles.csv --bundle "$size"
done
expect "overlap: --bundle of --hits all" 2 '--bundle belongs to --hits any and closest' \
    overlap --mesh cube.off --spheres bundles.csv --hits all --bundle 3
expect "sweep: --bundle of --hits first" 2 '--bundle belongs to --hits any' \
    sweep --mesh cube.off --spheres swept_bundles.csv --bundle 3
expect "overlap: pairs have no --bundle" 2 '--bundle.*belong to --mesh' overlap --pairs o.csv --bundle 3
for hits in any count all closest; do
    expect "overlap: $hits without --accuracy" 0 '' "$carom" overlap --backend cpu --mesh square.off \
        --spheres rest.csv --hits $hits
    check "overlap: $hits of no row is its header" test \
        "$(echo cx,cy,cz,radius | overlap --mesh square.off --spheres - --hits $hits)" = "$(head -n 1 stdout.txt)"
done
expect "overlap: hits of another command" 2 "expected any, count, all or closest, got 'first'" \
    overlap --mesh square.off --spheres rest.csv --hits first
expect "overlap: mesh without spheres" 2 'spheres' overlap --mesh square.off
expect "overlap: neither" 2 'pairs' overlap
expect "overlap: both" 2 'exclude each other' overlap --mesh square.off --pairs o.csv --spheres rest.csv
expect "overlap: pairs have no --hits" 2 'belong to --mesh' overlap --pairs o.csv --hits all
expect "overlap: pairs have no --spheres" 2 'belong to --mesh' overlap --pairs o.csv --spheres rest.csv
printf '%s\n' cx,cy,cz,radius,mask 0,0,0,1,1 0,0,0,1,0 '0,0,0,1, 4294967295' 0,0,0,1,0x80000000 0,0,0,1,0x0 \
    inf,0,0,1,0 > masks.csv
equal "overlap: masks" "hit,1,0,1,1,0," "$(overlap --mesh square.off --spheres masks.csv | paste -sd ,)"
equal "overlap: count by masks" "count,2,0,2,2,0," "$(overlap --mesh square.off --spheres masks.csv --hits count |
    paste -sd ,)"
equal "overlap: closest by masks" "triangle,0,-1,0,0,-1,-1" \
    "$(overlap --mesh square.off --spheres masks.csv --hits closest | cut -d , -f 1 | paste -sd ,)"
for mask in -1 +1 4294967296 0x100000000 0x 1.0 1e3 z '' 0x1g; do
    printf 'cx,cy,cz,radius,mask\n0,0,0,1,%s\n' "$mask" >mask.csv
    expect "overlap: mask '$mask'" 2 'mask.csv:2: column mask: expected a whole number' overlap --mesh square.off \
        --spheres mask.csv
done
expect "overlap: a mesh is not there" 2 'nowhere.ply' overlap --mesh nowhere.ply --spheres rest.csv
# More hits than the command holds at a time: 800 spheres in the corner that 3000 triangles share.
awk 'BEGIN { n = 3000; printf "OFF\n%d %d 0\n0 0 0\n", n + 1, n
    for (i = 0; i < n; i++) printf "%.9g %.9g 1\n", cos(i), sin(i)
    for (i = 0; i < n; i++) print 3, 0, i + 1, (i + 1) % n + 1 }' > fan.off
awk 'BEGIN { print "cx,cy,cz,radius"; for (i = 0; i < 800; i++) print "0,0,0," i / 1024 }' > middle.csv
awk 'BEGIN { print "query,triangle"; for (i = 0; i < 800; i++) for (k = 0; k < 3000; k++) print i "," k }' > wanted.csv
overlap --mesh fan.off --spheres middle.csv --hits all -o fan.csv
check "overlap: 2.4 million hits, in order" cmp wanted.csv fan.csv
expect "mesh: --t-max before contact" 0 '' sweep --mesh two.ply --spheres sp.csv --t-max 1
equal "mesh: nothing within --t-max" "-1 -1 -1 -1" "$(tail -n +2 stdout.txt | cut -d , -f 1 | paste -sd ' ')"
expect "mesh: negative --t-max" 2 '-1' sweep --mesh two.ply --spheres sp.csv --t-max -1
expect "mesh: nan --t-max" 2 'nan' sweep --mesh two.ply --spheres sp.csv --t-max nan
printf 'cx,cy,cz,radius,vx,vy,vz,t_max\n0,0,5,0.5,0,0,-1,-2\n' > neg.csv
expect "mesh: negative t_max in a row" 2 '' sweep --mesh two.ply --spheres neg.csv
printf '%s\n' cx,cy,cz,radius,mask,vx,vy,vz 0.5,0.5,3,0.5,0,0,0,-1 0.5,0.5,3,0.5,4,0,0,-1 0.5,0.5,3,-1,0,0,0,-1 \
    > masks.csv
for hits in 'first=triangle,-1,0,-1,' 'any=hit,0,1,,' 'all=query,1,1,'; do
    equal "mesh: ${hits%%=*} by masks" "${hits#*=}" \
        "$("$carom" sweep --backend cpu --mesh square.off --spheres masks.csv --hits "${hits%%=*}" | cut -d , -f 1 |
        tr '\n' ,)"
done
printf 'cx,cy,cz,radius,vx,vy,vz,mask\n0,0,5,0.5,0,0,-1,all\n' > mask.csv
expect "mesh: a mask that is none" 2 "mask.csv:2: column mask: expected a whole number.*'all'" sweep --mesh two.ply \
    --spheres mask.csv
# One sphere above the square that sinks in, one in it that rises, one in it that sinks, one from below; the normal is
# up.
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0.5,0.25,2,0.5,0,0,-1 0.5,0.25,0.25,0.5,0,0,1 0.5,0.25,0.25,0.5,0,0,-1 \
    0.5,0.25,-2,0.5,0,0,1 \
    > starts.csv
for accuracy in fast exact; do
    for options in '--start report=1,1,1,1' '--start skip-parting=1,0,1,1' '--start skip=1,0,0,1' \
        '--cull-back=1,0,1,0' \
        '--cull-back --start skip=1,0,0,0' '=1,1,1,1'; do
        read -ra words <<< "${options%=*}"
        equal "mesh: $accuracy ${options%=*}" "hit,${options#*=}" \
            "$(sweep --accuracy $accuracy --mesh square.off --spheres starts.csv --hits any "${words[@]}" |
                paste -sd ,)"
    done
done
equal "mesh: first without back faces" "triangle,1,-1,0,-1" \
    "$("$carom" sweep --backend cpu --mesh square.off --spheres starts.csv --cull-back | cut -d , -f 1 | paste -sd ,)"
expect "mesh: an unknown start policy" 2 "expected report, skip-parting or skip, got 'never'" \
    sweep --mesh square.off --spheres starts.csv --start never
expect "mesh: --cull-back takes no value" 2 'takes no value' sweep --mesh square.off --spheres starts.csv --cull-back=1
expect "sweep: pairs have no start policy" 2 'belong to --mesh' sweep --pairs o.csv --start skip
expect "sweep: pairs have no back faces" 2 'belong to --mesh' sweep --pairs o.csv --cull-back
expect "overlap: no start policy" 2 'is unknown' overlap --mesh square.off --spheres rest.csv --start skip
expect "overlap: no back faces" 2 'is unknown' overlap --mesh square.off --spheres rest.csv --cull-back
expect "mesh: missing file" 2 'nowhere.ply' sweep --mesh nowhere.ply --spheres sp.csv
expect "mesh: a directory" 2 '' sweep --mesh . --spheres sp.csv
printf '%s\n' ply 'format ascii 1.0' 'element vertex 3' 'property float x' 'property float y' 'property float z' \
    'element tristrips 1' 'property list int int vertex_indices' end_header '0 0 0' '1 0 0' '0 1 0' '5 0 -1 0 1 2' \
    > strip.ply
expect "mesh: a strip that restarts early" 0 '' "$carom" info --backend cpu --mesh strip.ply
check "mesh: has one triangle" grep -qE '\b1 triangle' stdout.txt
printf '%s\n' 'solid a' 'facet normal 0 0 1' 'outer loop' 'vertex 0 0 0 5' 'vertex 1 0 0' 'vertex 0 1 0' endloop \
    endfacet endsolid > four.stl
expect "mesh: a fourth number in text stl" 2 'four.stl:4' sweep --mesh four.stl --spheres sp.csv
printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'f 1 2 3' f > bare.obj
expect "mesh: a face without corners in obj" 2 'bare.obj:5' sweep --mesh bare.obj --spheres sp.csv
head -c 150 two.ply > cut.ply
expect "mesh: truncated ply header or body" 2 'cut.ply' sweep --mesh cut.ply --spheres sp.csv
head -c -5 two.ply > cut.ply
expect "mesh: truncated ply" 2 'cut.ply' sweep --mesh cut.ply --spheres sp.csv
head -c -5 two.stl > cut.stl
expect "mesh: truncated stl" 2 'cut.stl' sweep --mesh cut.stl --spheres sp.csv
sed 's/^3 1 2 3/3 1 2 7/' two.off > range.off
expect "mesh: corner out of range" 2 'range.off' sweep --mesh range.off --spheres sp.csv
sed 's/^1 1 0.1/1 1 nan/' two.off > nan.off
expect "mesh: a vertex that is not finite" 2 'nan.off|vertex' sweep --mesh nan.off --spheres sp.csv
# What a file holds beyond what is read is said, or the file is refused: no triangle is lost in silence.
one='OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n'
bad_mesh() { # extension, reason, format of the file
    # shellcheck disable=SC2059 # the text is a format
    printf "$3" > "refused.$1"
    expect "mesh: refused: $2" 2 "refused.$1$2" "$carom" info --backend cpu --mesh "refused.$1"
}
bad_mesh off ':7: expected the end of the file' "${one}3 0 1 2\n3 2 1 0\n"
bad_mesh off ':6: expected a colour' "${one}3 0 1 2 junk\n"
bad_mesh off ':5: expected numbers alone' 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0 junk\n3 0 1 2\n'
bad_mesh off ':6: corner 3 is none of the 3 vertices' "${one}3 0 1 3\n"
bad_mesh off ': ends where there should be a face' "$one"
bad_mesh off ': ends where there should be OFF' ''
bad_mesh obj ':1: expected numbers alone' 'v 0 0 0 junk\nv 1 0 0\nv 0 1 0\nf 1 2 3\n'
bad_mesh obj ':4: expected corners' 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/junk 2 3\n'
bad_mesh obj ':4: expected corners' 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1/1/1 2 3\n'
bad_mesh obj ':4: corner -4 is none of the 3 vertices' 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 2 3\n'
ply='ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n'
ply+='property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n'
bad_mesh ply ':14: expected the end of the file' "${ply}3 2 1 0\n"
bad_mesh ply ':2: expected format 1.0' "${ply/1.0/2.0}"
{ # the same triangle, whose zeros are blanks at first
    # shellcheck disable=SC2059
    printf "${ply/ascii/binary_little_endian}" | head -n 9
    printf '%12s  \200\077%14s\200\077%4s\003%4s\001%3s\002%3smore' '' '' '' '' '' '' | tr ' ' '\0'
} > tail.ply
expect "mesh: bytes behind binary ply" 0 '' "$carom" info --backend cpu --mesh tail.ply
check "are reported" grep -q '^changed: 4 bytes behind the last element were ignored' stdout.txt
printf '%s\n' 'v 0 0 0 1' 'v 1 0 0 0.5 0.5 0.5' 'vn 0 0 1' 's off' 'v 0 1 0' 'f 1//1 2//1 3//1' 'face 1 2 3' > odd.obj
expect "mesh: what is no statement of obj" 0 '' "$carom" info --backend cpu --mesh odd.obj
check "is reported" grep -q '^changed: 1 statements that are none of OBJ were ignored, the first in line 7' stdout.txt
printf 'OFF\n0 0 0\n' > empty.off
expect "mesh: no triangle" 2 'empty.off' sweep --mesh empty.off --spheres sp.csv
# Drops at places; their answers are in tests/cli/cases/drop-at and tests/bits/test_drop_at.c.
drop() { "$carom" drop --backend cpu --mesh square.off "$@"; }
printf '%s\n' x,y 0.5,0.25 0.25,0.5 > places.csv
equal "drop: the same in both modes" "$(drop --points places.csv --ball 0.5)" \
    "$(drop --points places.csv --ball 0.5 --accuracy exact --threads 1 --isa scalar)"
equal "drop: standard input, columns in another order" "$(drop --points places.csv --ball 0 | tail -n 1)" \
    "$(printf 'y,z,x\n0.5,7,0.25\n' | drop --points - --ball=0 | tail -n 1)"
equal "drop: no rows" z,triangle,x_contact,y_contact,z_contact,feature "$(echo x,y | drop --points - --ball 1)"
printf '%s\n' x 0.5 > half.csv
expect "drop: a column is missing" 2 'half.csv.*y' drop --points half.csv --ball 1
expect "drop: no ball" 2 '--mesh FILE, --points FILE and --ball R must all be there' drop --points places.csv
expect "drop: no places" 2 'must all be there' drop --ball 1
for ball in -1 nan inf 1x ''; do
    expect "drop: a ball of '$ball'" 2 "--ball: expected a finite number >= 0, got '$ball'" drop --points places.csv \
        --ball "$ball"
done
: > nothing.ply
expect "mesh: an empty file" 2 'nothing.ply' sweep --mesh nothing.ply --spheres sp.csv
head -c 4000 /dev/zero > zeros.xyz
expect "mesh: an unknown format" 2 'zeros.xyz' sweep --mesh zeros.xyz --spheres sp.csv
models=/usr/share/assimp/models
if [ -d $models/invalid ] && "$carom" info --backend cpu 2>&1 | grep -i assimp > /dev/null; then
    crashed=''
    for file in "$models"/invalid/*; do
        status=0
        timeout 60 "$carom" info --backend cpu --mesh "$file" > /dev/null 2> stderr.txt || status=$?
        if [ $status -ne 0 ] && [ $status -ne 2 ]; then crashed+="$file: status $status"$'\n'; fi
    done
    nothing "mesh: assimp's invalid files are read or refused" "$crashed"
else
    skip "mesh: assimp's invalid files" "no assimp-testmodels (Debian), or a build without assimp"
fi
check_end
