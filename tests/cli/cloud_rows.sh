#!/bin/bash
# SPDX-License-Identifier: MIT
# cloud_rows.sh CAROM: carom spheres --cloud. Rows against pairs that awk finds one by one, in whole numbers; what
# excludes what; the same rows from every format, thread count and instruction set; lists that go out in pieces.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
support=$(realpath "$(dirname "$0")/../support")
check_begin "$1"
spheres() { "$carom" spheres --backend cpu "$@"; }
row() { paste -sd ' '; }

# ---- answers ---------------------------------------------------------------------------------------------------------
printf '%s\n' cx,cy,cz,radius 0,0,0,1 2,0,0,1 5,0,0,1 3.5,0,0,1 9,0,0,-1 0,0,0,0.5 > rest.csv
equal "all pairs, the default" "a,b,state,t 0,1,touching,0 0,5,overlapping,0 1,3,overlapping,0 2,3,overlapping,0" \
    "$(spheres --cloud rest.csv | row)"
equal "--hits all" "$(spheres --cloud rest.csv)" "$(spheres --cloud rest.csv --hits all)"
equal "first partners" "other,state,t 1,touching,0 0,touching,0 3,overlapping,0 1,overlapping,0 -1,invalid,inf \
0,overlapping,0" "$(spheres --cloud rest.csv --hits first | row)"
equal "any" "hit 1 1 1 1  1" "$(spheres --cloud rest.csv --hits any | row)"
equal "count" "count 2 2 1 2  1" "$(spheres --cloud rest.csv --hits count | row)"
equal "--start skip" "a,b,state,t" "$(spheres --cloud rest.csv --start skip)"
equal "--margin" "a,b,state,t 0,1,touching,0 0,5,overlapping,0 1,3,overlapping,0 1,2,miss,inf 1,5,miss,inf \
2,3,overlapping,0" "$(spheres --cloud rest.csv --margin 1 | row)"
equal "count within a margin" "count 2 4 2 2  2" "$(spheres --cloud rest.csv --margin 1 --hits count | row)"
equal "--margin 0" "$(spheres --cloud rest.csv)" "$(spheres --cloud rest.csv --margin 0)"
equal "--periodic" "a,b,state,t,sx,sy,sz 0,1,touching,0,0,0,0 0,2,touching,0,-1,0,0 0,5,overlapping,0,0,0,0 \
1,3,overlapping,0,0,0,0 2,3,overlapping,0,0,0,0" "$(spheres --cloud rest.csv --periodic 7,0,0 | row)"
printf '%s\n' cx,cy,cz,radius 0,7,1,1.5 0,1,7,1.5 > corner.csv
equal "the image of a partner in y and z" "0,1,overlapping,0,0,1,-1" \
    "$(spheres --cloud corner.csv --periodic 0,8,8 | tail -n 1)"

# Velocities: 0 and 1 meet at 2, 1 and 2 overlap and part.
printf '%s\n' cx,cy,cz,radius,vx,vy,vz 0,0,0,1,1,0,0 6,0,0,1,-1,0,0 7,0,0,1,2,0,0 > moving.csv
equal "--t-max" "a,b,state,t 0,1,approaching,2 1,2,overlapping,0" "$(spheres --cloud moving.csv --t-max 2 | row)"
equal "a shorter --t-max" "a,b,state,t 1,2,overlapping,0" "$(spheres --cloud moving.csv --t-max 1.5 | row)"
equal "an endless --t-max" "a,b,state,t 0,1,approaching,2 1,2,overlapping,0" \
    "$(spheres --cloud moving.csv --t-max inf | row)"
equal "--start skip-parting" "a,b,state,t 0,1,approaching,2" \
    "$(spheres --cloud moving.csv --t-max 9 --start skip-parting | row)"
equal "first partners in motion" "other,state,t 1,approaching,2 2,overlapping,0 1,overlapping,0" \
    "$(spheres --cloud moving.csv --t-max 9 --hits first | row)"
awk -F, 'BEGIN { OFS = "," } { print $0, NR == 1 ? "t_max" : NR == 2 ? "1.5" : "9" }' moving.csv > limits.csv
equal "a column t_max" "a,b,state,t 1,2,overlapping,0" "$(spheres --cloud limits.csv | row)"
sed 's/,1.5$/,2/' limits.csv > later.csv
equal "the smaller limit of both" "a,b,state,t 0,1,approaching,2 1,2,overlapping,0" "$(spheres --cloud later.csv | row)"
equal "--t-max and the column: the smaller" "a,b,state,t 1,2,overlapping,0" \
    "$(spheres --cloud later.csv --t-max 1.9 | row)"
awk 'BEGIN { FS = OFS = "," } { print $0, NR == 1 ? "mask" : NR == 3 ? "0x3" : NR - 1 }' moving.csv > masks.csv
equal "masks" "a,b,state,t 0,1,approaching,2 1,2,overlapping,0" "$(spheres --cloud masks.csv --t-max 9 | row)"
sed 's/,0x3$/,0x4/' masks.csv > apart.csv
equal "masks without a bit in common" "a,b,state,t" "$(spheres --cloud apart.csv --t-max 9 | row)"
awk 'BEGIN { FS = OFS = "," } { print $0, NR == 1 ? "group" : NR == 3 ? "0x5" : NR - 1 }' masks.csv > groups.csv
equal "groups: 0 meets 1, and 1 does not meet 0" "a,b,state,t 1,2,overlapping,0" \
    "$(sed -e '2s/,1$/,4/' groups.csv > asked.csv; spheres --cloud asked.csv --t-max 9 | row)"
equal "groups that both meet" "$(spheres --cloud masks.csv --t-max 9 | row)" \
    "$(spheres --cloud groups.csv --t-max 9 | row)"
cut -d, -f 1-7,9 groups.csv > asked.csv
equal "groups without masks" "$(spheres --cloud moving.csv --t-max 9 | row)" \
    "$(spheres --cloud asked.csv --t-max 9 | row)"
sed -e '2s/,1$/,0/' asked.csv > none.csv
equal "and a sphere in no group" "a,b,state,t 1,2,overlapping,0" "$(spheres --cloud none.csv --t-max 9 | row)"

# ---- against another cloud -------------------------------------------------------------------------------------------
printf '%s\n' cx,cy,cz,radius 0,0,0,1 4,0,0,1 4,0,0,-1 > grains.csv
printf '%s\n' vx,vy,vz,cx,cy,cz,radius -1,0,0,6.5,0,0,1 0,0,0,4.5,0,0,1 0,0,0,nan,0,0,1 > stones.csv
equal "against" "a,b,state,t 0,0,approaching,4.5 1,1,overlapping,0 1,0,approaching,0.5" \
    "$(spheres --cloud grains.csv --against stones.csv --t-max 10 | row)"
equal "the other way round" "a,b,state,t 0,1,approaching,0.5 0,0,approaching,4.5 1,1,overlapping,0" \
    "$(spheres --cloud stones.csv --against grains.csv --t-max 10 | row)"
equal "first partners against" "other,state,t 0,approaching,4.5 1,overlapping,0 -1,invalid,inf" \
    "$(spheres --cloud grains.csv --against stones.csv --t-max 10 --hits first | row)"
equal "any against" "hit 0 1 " "$(spheres --cloud grains.csv --against stones.csv --t-max 4 --hits any | row)"
equal "count against" "count 1 2 " "$(spheres --cloud grains.csv --against stones.csv --t-max 4.5 --hits count | row)"
awk 'BEGIN { FS = OFS = "," } { print $0, NR == 1 ? "t_max" : NR }' stones.csv > asked.csv
equal "a column t_max in the second" "a,b,state,t 1,1,overlapping,0 1,0,approaching,0.5" \
    "$(spheres --cloud grains.csv --against asked.csv | row)"
equal "and --t-max" "a,b,state,t 1,1,overlapping,0" \
    "$(spheres --cloud grains.csv --against asked.csv --t-max 0.25 | row)"
equal "against itself" "a,b,state,t 0,0,overlapping,0 1,1,overlapping,0" \
    "$(cut -d, -f 1-4 grains.csv | spheres --cloud grains.csv --against - | row)"
equal "with a margin" "a,b,state,t 0,0,overlapping,0 0,1,miss,inf 1,1,overlapping,0 1,0,miss,inf" \
    "$(spheres --cloud grains.csv --against grains.csv --margin 2 | row)"
equal "in a period" "0,0,overlapping,0,0,0,0 0,1,overlapping,0,-1,0,0 1,0,overlapping,0,1,0,0 1,1,overlapping,0,0,0,0" \
    "$(spheres --cloud grains.csv --against grains.csv --periodic 5.5,0,0 | tail -n +2 | row)"
printf '%s\n' a,b 0,1 1,0 > old.csv
equal "with an earlier list" "-1 0 -1 1" \
    "$(spheres --cloud grains.csv --against grains.csv --margin 2 --previous old.csv |
        awk -F, 'NR > 1 { print $NF }' | row)"
refused "against beside velocities of the second" 2 'stones.csv has velocities, so --t-max T or a column t_max must' \
    spheres --cloud grains.csv --against stones.csv
refused "a margin beside velocities of the second" 2 '--margin is for spheres at rest, and stones.csv has velocities' \
    spheres --cloud grains.csv --against stones.csv --margin 1
refused "a second cloud that is not there" 2 'nowhere.csv' spheres --cloud grains.csv --against nowhere.csv
printf '%s\n' cx,cy,cz,radius,t_max 0,0,0,1,-1 > bad.csv
refused "a limit of the second" 2 'bad.csv:2: ' spheres --cloud grains.csv --against bad.csv
refused "both clouds from standard input" 2 '--cloud and --against cannot both be standard input' \
    spheres --cloud - --against -
refused "pairs against" 2 'spheres: --against belongs to --cloud' spheres --pairs rest.csv --against rest.csv

# Whole numbers on a lattice, some of them twice: awk has every pair. Exact mode knows what touches.
lattice() {
    awk -v seed="$1" 'BEGIN { srand(seed); print "cx,cy,cz,radius"
        for (i = 0; i < 400; i++)
            print int(9 * rand()) "," int(9 * rand()) "," int(9 * rand()) "," int(3 * rand()) / 2 }'
}
pairs_of() {
    awk -F, -v length_x="${2:-0}" 'BEGIN { n = 0 } NR > 1 { x[n] = $1; y[n] = $2; z[n] = $3; r[n++] = $4 }
        END {
            print "a,b,state,t" (length_x ? ",sx,sy,sz" : "")
            most = length_x ? 1 : 0
            for (a = 0; a < n; a++) for (b = a + 1; b < n; b++) for (s = -most; s <= most; s++) {
                d = (x[b] + s * length_x - x[a]) ^ 2 + (y[b] - y[a]) ^ 2 + (z[b] - z[a]) ^ 2; e = (r[a] + r[b]) ^ 2
                if (d <= e) print a "," b "," (d < e ? "overlapping" : "touching") ",0" (length_x ? "," s ",0,0" : "")
            }
        }' "$1"
}
for seed in 1 2 3; do
    lattice $seed > lattice.csv
    pairs_of lattice.csv > wanted.csv
    spheres --cloud lattice.csv --accuracy exact > got.csv
    check "lattice $seed: every pair" cmp wanted.csv got.csv
    pairs_of lattice.csv 9 > wanted.csv
    spheres --cloud lattice.csv --accuracy exact --periodic 9,0,0 > got.csv
    check "lattice $seed: every pair with its image" cmp wanted.csv got.csv
    spheres --cloud lattice.csv --accuracy exact --hits count > counts.csv
    pairs_of lattice.csv | awk -F, 'NR > 1 { count[$1]++; count[$2]++ }
        END { print "count"; for (i = 0; i < 400; i++) print 0 + count[i] }' > wanted.csv
    check "lattice $seed: the number of partners" cmp wanted.csv counts.csv
done

# Options that add a column to a list: "--normal --depth ...".
added=$(spheres --help | sed -nE 's/^  (--[a-z]+) +with --cloud, --hits all: adds .*/\1/p' | row)
check "options add columns" test "${added#--normal --depth}" != "$added"

# ---- normal, depth and previous --------------------------------------------------------------------------------------
equal "normal and depth" "a,b,state,t,nx,ny,nz,depth 0,1,touching,0,1,0,0,0 0,5,overlapping,0,0,0,0,1.5 \
1,3,overlapping,0,1,0,0,0.5 2,3,overlapping,0,-1,0,0,0.5" "$(spheres --cloud rest.csv --normal --depth | row)"
equal "depth alone, below 0 within a margin" "a,b,state,t,depth 0,1,touching,0,0 0,5,overlapping,0,1.5 \
1,3,overlapping,0,0.5 1,2,miss,inf,-1 1,5,miss,inf,-0.5 2,3,overlapping,0,0.5" \
    "$(spheres --cloud rest.csv --margin 1 --depth | row)"
equal "the normal of an image" "a,b,state,t,sx,sy,sz,nx,ny,nz 0,2,touching,0,-1,0,0,-1,0,0" \
    "$(spheres --cloud rest.csv --periodic 7,0,0 --normal | sed -n '1p;3p' | row)"
equal "of centres that coincide, -v / |v|" "a,b,state,t,nx,ny,nz,depth 0,1,overlapping,0,0,0.600000024,-0.800000012,2" \
    "$(printf '%s\n' cx,cy,cz,radius,vx,vy,vz 1,1,1,1,0,0,0 1,1,1,1,0,-3,4 |
        spheres --cloud - --t-max 1 --normal --depth --accuracy exact | row)"
equal "of first contact" "a,b,state,t,nx,ny,nz,depth 0,1,approaching,2,1,0,0,0 1,2,overlapping,0,1,0,0,1" \
    "$(spheres --cloud moving.csv --t-max 2 --normal --depth | row)"

# faults_of OLD < NEW, both with a,b in front: rows of NEW whose `previous` is not the first row of OLD with this pair.
faults_of() {
    awk -F, -v old="$1" 'function key() { return $1 "," $2 (shift ? "," $shift "," $(shift + 1) "," $(shift + 2) : "") }
        function column(name, k) { for (k = NF; k > 0 && $k != name;) k--; return k }
        BEGIN {
            while ((getline < old) > 0)
                if (rows++ == 0) shift = column("sx")
                else if (!(key() in row)) row[key()] = rows - 2
        }
        NR == 1 { shift = column("sx"); next }
        $NF != (key() in row ? row[key()] : -1)' -
}
lattice 4 > lattice.csv
for options in '' '--periodic 9,9,0' '--margin 1' '--depth --periodic 0,0,9'; do
    # shellcheck disable=SC2086 # options are words
    spheres --cloud lattice.csv $options > whole.csv
    awk 'NR == 1 || NR % 3 || NR % 50 == 0 { print } NR % 7 == 0' whole.csv > old.csv
    # shellcheck disable=SC2086
    spheres --cloud lattice.csv $options --previous old.csv > new.csv
    equal "the rows of $options" "$(cat whole.csv)" "$(sed 's/,[^,]*$//' new.csv)"
    nothing "and which go on" "$(faults_of old.csv < new.csv)"
    check "of which some are new" grep -q -e ',-1$' new.csv
done
equal "an earlier list of no images" "0 -1" "$(printf '%s\n' a,b 0,1 |
        spheres --cloud rest.csv --periodic 7,0,0 --previous - |
        awk -F, 'NR == 2 || NR == 3 { print $NF }' | row)"
printf '%s\n' sz,b,sy,sx,a 1,0,0,-1,0 0,2,-128,127,0 0,2,0,-1,0 0,9,0,0,2147483647 > old.csv
equal "columns in any order, spheres that are not there" "-1 2 -1 -1 -1" \
    "$(spheres --cloud rest.csv --periodic 7,0,0 --previous old.csv | awk -F, 'NR > 1 { print $NF }' | row)"

# ---- the same rows ---------------------------------------------------------------------------------------------------
awk 'BEGIN { srand(5); print "cx,cy,cz,radius,vx,vy,vz,mask,t_max"
    for (i = 0; i < 20000; i++)
        print 40 * rand() "," 40 * rand() "," 40 * rand() "," rand() "," rand() - 0.5 "," rand() "," rand() - 0.5 "," \
            1 + int(3 * rand()) "," int(4 * rand()) }' > random.csv
spheres --cloud random.csv -o one.csv
for way in '--threads 2' '--isa scalar' '--progress json'; do
    # shellcheck disable=SC2086
    spheres --cloud random.csv $way -o other.csv
    check "the same rows with $way" cmp one.csv other.csv
done
equal "from standard input" "$(sha256sum < one.csv)" "$(spheres --cloud - < random.csv | sha256sum)"

# More pairs than a piece of a list has: 1500 spheres at one place make 1124250.
awk 'BEGIN { print "cx,cy,cz,radius"; for (i = 0; i < 1500; i++) print "1,2,3,0.5" }' > dense.csv
awk 'BEGIN { print "a,b,state,t"
    for (a = 0; a < 1500; a++) for (b = a + 1; b < 1500; b++) print a "," b ",overlapping,0" }' > wanted.csv
spheres --cloud dense.csv -o pieces.csv
check "a list in pieces" cmp wanted.csv pieces.csv
spheres --cloud dense.csv --periodic 0,50,0 | cut -d, -f 1-4 > pieces.csv
check "and of images" cmp wanted.csv pieces.csv
awk 'NR == 1 || NR % 3' wanted.csv > old.csv
awk -F, 'BEGIN { OFS = "," } { print $0, NR == 1 ? "previous" : NR % 3 ? old++ : -1 }' wanted.csv > matched.csv
spheres --cloud dense.csv --previous old.csv -o pieces.csv
check "pieces go on from an earlier list" cmp matched.csv pieces.csv

# More earlier pairs than a piece has, for few that are left.
awk 'BEGIN { print "cx,cy,cz,radius"; for (i = 0; i < 1500; i++) print int(i / 2) ",2,3,0.25" }' > sparse.csv
spheres --cloud sparse.csv --previous wanted.csv > new.csv
nothing "few pairs out of many" "$(faults_of wanted.csv < new.csv)"
equal "of which all go on" "751 0" "$(awk -F, 'NR > 1 && $NF < 0 { new++ } END { print NR, new + 0 }' new.csv)"
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    skip "memory" "a sanitizer takes more from the start"
else
    (ulimit -v 250000 && exec "$carom" spheres --backend cpu --threads 1 --cloud dense.csv -o bounded.csv)
    check "in bounded memory" cmp wanted.csv bounded.csv
    awk 'BEGIN { print "a,b"; for (i = 0; i < 12000000; i++) print int(i / 8000) "," i }' |
        (ulimit -v 250000 && exec "$carom" spheres --backend cpu --threads 1 --cloud sparse.csv --previous - \
            -o bounded.csv)
    equal "also of an earlier list that is long" "751 1" \
        "$(awk -F, 'NR > 1 && $NF >= 0 { old++ } END { print NR, old }' bounded.csv)"
fi

# ---- nothing there ---------------------------------------------------------------------------------------------------
head -n 1 rest.csv > empty.csv
equal "an empty cloud" "a,b,state,t" "$(spheres --cloud empty.csv)"
equal "of images" "a,b,state,t,sx,sy,sz" "$(spheres --cloud empty.csv --periodic 1,1,1)"
equal "first partners in it" "other,state,t" "$(spheres --cloud empty.csv --hits first)"
equal "any in it" "hit" "$(spheres --cloud empty.csv --hits any)"
equal "counts in it" "count" "$(spheres --cloud empty.csv --hits count)"
printf '%s\n' cx,cy,cz,radius inf,0,0,1 nan,0,0,1 0,0,0,-1 > invalid.csv
equal "invalid spheres alone" "a,b,state,t" "$(spheres --cloud invalid.csv)"
equal "and what first says" "-1,invalid,inf -1,invalid,inf -1,invalid,inf" \
    "$(spheres --cloud invalid.csv --hits first | tail -n 3 | row)"

# ---- what is refused -------------------------------------------------------------------------------------------------
refused "neither pairs nor a cloud" 2 'spheres: --pairs FILE or --cloud FILE is missing' spheres
refused "both" 2 'spheres: --pairs and --cloud exclude each other' spheres --pairs rest.csv --cloud rest.csv
for option in '--margin 1' '--periodic 1,1,1' '--hits first' '--t-max 1' '--start skip'; do
    # shellcheck disable=SC2086
    refused "pairs with $option" 2 '--t-max, --hits and --start, --margin and --periodic belong to --cloud' \
        spheres --pairs rest.csv $option
done
for option in $added '--previous rest.csv'; do
    # shellcheck disable=SC2086
    refused "pairs with $option" 2 "spheres: ${added// /, } and --previous belong to --cloud" \
        spheres --pairs rest.csv $option
    # shellcheck disable=SC2086
    refused "first partners with $option" 2 "${added// /, } and --previous are for --hits all" \
        spheres --cloud rest.csv --hits first $option
done
nothing "an earlier list that is not there: nothing is written" \
    "$(spheres --cloud rest.csv --previous missing.csv 2> /dev/null || true)"
refused "two from standard input" 2 '--cloud and --previous cannot both be standard input' \
    spheres --cloud - --previous -
refused "an earlier list that is not there" 2 'nowhere.csv' spheres --cloud rest.csv --previous nowhere.csv -o no.csv
# Also behind the last row that a list needs.
for bad in '1,2,0,0,0 0,1,0,0,0:3: a is less than in the row before' '0,2147483648,0,0,0:2: a and b of a pair are at' \
    '0,1,0,0,128:2: .*a whole number from -128 to 127' '0,1,0.5,0,0:2: .*a whole number from -128 to 127' \
    '9,-1,0,0,0:2: .*a whole number from 0' '9,1,0,0:2: '; do
    # shellcheck disable=SC2086
    printf '%s\n' a,b,sx,sy,sz ${bad%%:*} > bad.csv
    refused "earlier rows ${bad%%:*}" 2 "bad.csv:${bad#*:}" spheres --cloud rest.csv --previous bad.csv -o no.csv
done
printf '%s\n' a,b,sx 0,1,0 > bad.csv
refused "an earlier list with some of a shift" 2 'sy' spheres --cloud rest.csv --previous bad.csv
refused "one without a" 2 'column a: expected' spheres --cloud rest.csv --previous rest.csv
refused "unknown hits" 2 "expected all, first, any or count, got 'most'" spheres --cloud rest.csv --hits most
for margin in -1 nan inf x ''; do
    refused "--margin '$margin'" 2 "--margin: expected a finite number >= 0, got '$margin'" \
        spheres --cloud rest.csv --margin "$margin"
done
for period in 1 1,2 1,2,3,4 1,2,-3 inf,1,1 a,b,c 1,2,3x ' 1,2,3' '1, 2,3'; do
    refused "--periodic $period" 2 "three finite lengths LX,LY,LZ >= 0, got '$period'" \
        spheres --cloud rest.csv --periodic "$period"
done
refused "a margin beside velocities" 2 'spheres: --margin is for spheres at rest, and moving.csv has velocities' \
    spheres --cloud moving.csv --margin 1 -o no.csv
refused "a margin for first" 2 'spheres: --margin is for --hits all and --hits count' \
    spheres --cloud rest.csv --margin 0 --hits first
refused "a margin for any" 2 'spheres: --margin is for --hits all and --hits count' \
    spheres --cloud rest.csv --margin 1 --hits any
refused "a margin beside --start" 2 'spheres: --margin and --start exclude each other' \
    spheres --cloud rest.csv --margin 1 --start report
refused "a margin beside --t-max" 2 'spheres: --margin and --t-max exclude each other' \
    spheres --cloud rest.csv --margin 1 --t-max 1
refused "velocities without an end" 2 'moving.csv has velocities, so --t-max T or a column t_max must end' \
    spheres --cloud moving.csv
for limit in nan -1 -inf; do
    sed "3s/,9$/,$limit/" limits.csv > bad.csv
    refused "t_max $limit" 2 "bad.csv:3: .*t_max.*'$limit'" spheres --cloud bad.csv -o no.csv
done
sed '2s/,1$/,oops/' rest.csv > bad.csv
refused "a malformed number" 2 'bad.csv:2: .*radius' spheres --cloud bad.csv -o no.csv
cut -d, -f 1-6 moving.csv > bad.csv
refused "some velocities" 2 'vz' spheres --cloud bad.csv --t-max 1
refused "a file that is not there" 2 'nowhere.csv' spheres --cloud nowhere.csv
refused "the input as output" 2 'rest.csv: is read as an input' spheres --cloud rest.csv -o rest.csv
awk 'BEGIN { print "cx,cy,cz,radius"; for (i = 0; i < 400000; i++) print "0,0,0,1" }' > many.csv
refused "N^2/2 pairs" 2 'N\^2/2' spheres --cloud many.csv -o no.csv
check "and nothing of a refused list" test ! -e no.csv
equal "which first answers" "400001 0,overlapping,0" "$(spheres --cloud many.csv --hits first |
    awk 'END { print NR, $0 }')"

# ---- binary rows -----------------------------------------------------------------------------------------------------
python=$(python_with h5py numpy)
if { "$carom" spheres --cloud none.h5 2>&1 || true; } | grep -q 'built without HDF5' || [ -z "$python" ]; then
    skip "rows in .h5 and .npy files" "no HDF5, or no python3-h5py"
else
    columns() { "$python" "$support/columns.py" "$@"; }
    columns make random.csv rest.csv moving.csv limits.csv empty.csv
    spheres --cloud random.h5 -o other.csv
    check "rows of .h5" cmp one.csv other.csv
    cp random.csv all.csv
    for hits in all first any count; do
        spheres --cloud random.h5 --hits $hits -o $hits.h5
        spheres --cloud random.csv --hits $hits -o $hits.csv
        spheres --cloud rest.csv --periodic 7,0,0 --hits $hits -o rest-$hits.csv
        spheres --cloud rest.h5 --periodic 7,0,0 --hits $hits -o rest-$hits.h5
        spheres --cloud empty.csv --hits $hits -o empty-$hits.csv
        spheres --cloud empty.h5 --hits $hits -o empty-$hits.h5
    done
    for options in "$added" "--periodic 7,0,0 $added --previous old.csv"; do
        # shellcheck disable=SC2086
        spheres --cloud rest.csv $options -o more.csv && spheres --cloud rest.csv $options -o more.h5
        nothing "$options as .h5" "$(columns same more.csv)"
    done
    spheres --cloud rest.csv --periodic 7,0,0 --previous more.csv > new.csv
    equal "an earlier list in .h5" "$(cat new.csv)" \
        "$(spheres --cloud rest.csv --periodic 7,0,0 --previous more.h5)"
    nothing "answers as .h5" "$(columns same {,rest-,empty-}{all,first,any,count}.csv)"
    sed "3s/,9$/,nan/" limits.csv > bad.csv
    columns make bad.csv
    refused "t_max nan in .h5" 2 'bad.h5: row 1: dataset t_max: expected a number >= 0 or inf, got nan' \
        spheres --cloud bad.h5
    "$python" - << 'END'
import h5py
import numpy
for name in 'rest', 'moving':
    numpy.save(name, numpy.loadtxt(name + '.csv', numpy.float32, delimiter=',', skiprows=1))
numpy.save('six', numpy.zeros((2, 6), numpy.float32))
rows = numpy.genfromtxt('more.csv', numpy.float32, delimiter=',', skip_header=1)[:, [0, 1, 4, 5, 6]].copy()
numpy.save('old', rows)
numpy.save('plain', rows[:, :2].copy())
rows[1, 4] = 0.5
numpy.save('half', rows)
with h5py.File('wide.h5', 'w') as to:
    for k, name in enumerate('a b sx sy sz'.split()):
        to[name] = numpy.array([0, 128], '<i4')
END
    equal "rows of .npy" "$(spheres --cloud rest.csv)" "$(spheres --cloud rest.npy)"
    equal "with velocities" "$(spheres --cloud moving.csv --t-max 9)" "$(spheres --cloud moving.npy --t-max 9)"
    equal "an earlier list in .npy" "$(cat new.csv)" "$(spheres --cloud rest.csv --periodic 7,0,0 --previous old.npy)"
    cut -d, -f 1,2 more.csv > plain.csv
    equal "without shifts" "$(spheres --cloud rest.csv --previous plain.csv)" \
        "$(spheres --cloud rest.csv --previous plain.npy)"
    refused "half a shift in .npy" 2 'half.npy: row 1: column sz: expected a whole number from -128 to 127' \
        spheres --cloud rest.csv --previous half.npy
    refused "a shift too far in .h5" 2 'wide.h5: row 1: dataset sx: expected a whole number from -128 to 127' \
        spheres --cloud rest.csv --previous wide.h5
    refused "six columns" 2 'six.npy: shape: expected \[rows\]\[4\] \(cx, cy, cz, radius\) or \[rows\]\[7\]' \
        spheres --cloud six.npy
fi
check_end
