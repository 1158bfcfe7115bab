#!/bin/bash
# SPDX-License-Identifier: MIT
# explain.sh CAROM: rows of `carom explain` worked out by hand, its picture as a document, and bad input. That its
# numbers are those of exact mode is shown on every family by tests/unit/test_partition.c.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
images=$(realpath "$(dirname "$0")/../../docs/images")
check_begin "$1"

columns=cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
head=element,region,t_begin,t_end,f0,f1,f2,root0,root1
flat=0,0,0,4,0,0,0,4,0
explain() { "$carom" explain "$@"; }

# rows NAME QUERY ROW...: the query's elements, in a file where another row stands before it
rows() {
    local name=$1 query=$2 got
    shift 2
    local names=$columns
    if [ "$(tr -dc , <<< "$query" | wc -c)" -gt 15 ]; then names=$columns,wx,wy,wz; fi
    printf '%s\n%s\n%s\n' $names "${query//[0-9]/7}" "$query" > query.csv
    got=$(explain --pairs query.csv --row 1 2>&1) || true
    equal "$name" "$(printf '%s\n' $head "$@")" "$got"
}

# ---- by hand ---------------------------------------------------------------------------------------------------------
# At y = 1 the legs and the hypotenuse are met at x = 0 and x = 3, and x = t - 3. Beyond the hypotenuse the distance is
# (t - 6) / sqrt(2), until the foot reaches P1 at t = 8.
rows "through a right triangle" -3,1,0,1,1,0,0,$flat \
    0,R20,-inf,3,8,-3,1,2, 1,R012,3,6,-1,0,0,, 2,R12,6,8,17,-3,0.5,7.4142135623730949, 3,R1,8,inf,49,-7,1,,
rows "the same, seen from the sphere" -3,1,0,1,0,0,0,$flat,-1,0,0 \
    0,R20,-inf,3,8,-3,1,2, 1,R012,3,6,-1,0,0,, 2,R12,6,8,17,-3,0.5,7.4142135623730949, 3,R1,8,inf,49,-7,1,,
rows "the same, both moving" -3,1,0,1,1,5,-9,$flat,0,5,-9 \
    0,R20,-inf,3,8,-3,1,2, 1,R012,3,6,-1,0,0,, 2,R12,6,8,17,-3,0.5,7.4142135623730949, 3,R1,8,inf,49,-7,1,,
rows "a ray" -3,1,0,0,1,0,0,$flat \
    0,R20,-inf,3,9,-3,1,3, 1,R012,3,6,0,0,0,3,6 2,R12,6,8,18,-3,0.5,6, 3,R1,8,inf,50,-7,1,,
rows "down on the face" 1,1,5,1,0,0,-2,$flat 0,R012,-inf,inf,24,-10,4,2,3
rows "a miss" 1,1,5,1,0,1,0,$flat 0,R01,-inf,-1,25,1,1,, 1,R012,-1,2,24,0,0,, 2,R12,2,4,26,-1,0.5,, 3,R2,4,inf,34,-3,1,,
rows "no motion" 1,1,5,1,3,2,1,$flat,3,2,1 0,R012,-inf,inf,24,0,0,,
rows "no motion, touching" 1,1,1,1,0,0,0,$flat 0,R012,-inf,inf,0,0,0,-inf,inf
rows "a segment" 1,-3,0,1,0,1,0,0,0,0,4,0,0,2,0,0 0,R01,-inf,inf,8,-3,1,2,4
rows "a point" 0,0,0,1,1,0,0,2,0,0,2,0,0,2,0,0 0,R0,-inf,inf,3,-2,1,1,3
rows "thirds" 0,1,0,1,1,0,0,0,0,0,1,1,1,1,1,1 \
    0,R0,-inf,-1,0,0,1,, \
    1,R01,-1,2,-0.33333333333333331,-0.33333333333333331,0.66666666666666663,-0.36602540378443865,1.3660254037844386 \
    2,R1,2,inf,1,-1,1,,

printf '%s\n' $columns -3,1,0,1,1,0,0,$flat 1,1,5,nan,0,0,-2,$flat 1,1,5,-2,0,0,-2,$flat \
    1,1,5,1,0,0,-2,0,0,0,4,0,0,0,inf,0 1,1,5,1,0,0,-2,$flat > five.csv
explain --pairs five.csv --row 0 > rows.csv
explain --pairs - --row 0 < five.csv > stdin.csv
check "standard input" cmp rows.csv stdin.csv
explain --pairs five.csv --row 0 -o file.csv
check "-o writes the same" cmp rows.csv file.csv
exact=$("$carom" sweep --backend cpu --accuracy exact --pairs five.csv | sed -n 2p)
equal "exact mode has these times" approaching,2,0,1,0,E20,7.41421366,3.70710683,0.292893231,0,E12 "$exact"

# ---- picture ---------------------------------------------------------------------------------------------------------
explain --pairs five.csv --row 0 --svg one.svg > with.csv
check "the picture leaves the rows as they are" cmp rows.csv with.csv
explain --pairs five.csv --row 0 --svg two.svg -o /dev/null
check "the same picture each time" cmp one.svg two.svg
explain --pairs five.csv --row 0 --svg - -o with.csv > three.svg
check "the picture on standard output" cmp one.svg three.svg
explain --pairs "$images/sweep.csv" --row 0 --svg sweep.svg > /dev/null
check "docs/images/sweep.svg is what the command draws" cmp "$images/sweep.svg" sweep.svg

# A point, a segment, no motion, one instant, spheres of radius 0, large and small, far away, in huge and tiny units.
cat > kinds.csv << END_OF_ROWS
$columns
-3,1,0,1,1,0,0,$flat
1,1,5,1,0,0,-1,$flat
1,1,5,1,0,0,0,$flat
1,1,1,1,0,0,0,$flat
1,1,0.5,1,0,0,0,$flat
-3,-1,0,1,1,0,0,$flat
-3,1,2,1,1,0,0,$flat
-3,1,0,0,1,0,0,$flat
-3,1,0,1e30,1,0,0,$flat
-3,1,0,1e-30,1,0,0,$flat
-1e9,1,0,1,1,0,0,$flat
-3,1,0,1,1e-30,0,0,$flat
-3e30,1e30,0,1e30,1,0,0,0,0,0,4e30,0,0,0,4e30,0
-3e-44,1e-44,0,1e-44,1,0,0,0,0,0,4e-44,0,0,0,4e-44,0
1,-3,0,1,0,1,0,0,0,0,4,0,0,2,0,0
1,-3,0,1,1,0,0,0,0,0,4,0,0,2,0,0
1,-3,0,1,0,0,0,0,0,0,4,0,0,2,0,0
0,1,0,2,1,0,0,2,0,0,2,0,0,2,0,0
2,0,0,0,0,0,0,2,0,0,2,0,0,2,0,0
3e38,3e38,3e38,3e38,-1e-38,0,0,-3e38,-3e38,-3e38,0,1e-40,0,0,0,1e-40
END_OF_ROWS
cat > judge.py << 'END_OF_PROGRAM'
import re, sys, xml.etree.ElementTree as tree

svg = "{http://www.w3.org/2000/svg}"
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    boxes = []
    for element in root.iter():
        for name, value in element.attrib.items():
            if re.search(r"(?i)\b(nan|inf)", value):
                print(f"{path}: {name}={value}")
    for text in root.iter(svg + "text"):
        kind = text.get("class")
        if kind == "number":  # in a badge
            continue
        size = 15 if kind == "title" else 11 if kind.startswith("small") else 12
        x, y, width = float(text.get("x")), float(text.get("y")), 0.6 * size * len(text.text)
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        box = (left, y - 0.75 * size, left + width, y + 0.2 * size, text.text)
        if box[0] < 0 or box[1] < 0 or box[2] > 900 or box[3] > 500:
            print(f"{path}: outside: {box}")
        for other in boxes:
            if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                print(f"{path}: '{box[4]}' covers '{other[4]}'")
        boxes.append(box)
END_OF_PROGRAM
for ((i = 0; i < $(wc -l < kinds.csv) - 1; i++)); do
    check "picture of row $i of kinds.csv" explain --pairs kinds.csv --row $i --svg kind$i.svg -o /dev/null
done
if python3 -c 'import xml.etree.ElementTree' 2> /dev/null; then
    nothing "well-formed, no label outside or over another" "$(python3 judge.py one.svg sweep.svg kind*.svg 2>&1)"
else
    skip "well-formed, no label outside or over another" "no python3"
fi
equal "a sphere at each time of contact, and in the legend" 3 "$(grep -c 'class="sphere' one.svg)"
equal "a contact point at each" 3 "$(grep -c 'class="contact"' one.svg)"
equal "a badge for each element in both panels" 9 "$(grep -c 'class="number"' one.svg)"
equal "the title" '<title>Row 0: approaching, T0 = 2 at E20, T1 = 7.41421 at E12</title>' "$(sed -n 2p one.svg)"

# ---- bad input -------------------------------------------------------------------------------------------------------
# refused NAME STATUS PATTERN OPTION...
refused() {
    local name=$1 wanted=$2 pattern=$3 status=0
    shift 3
    explain "$@" > stdout.txt 2> stderr.txt < /dev/null || status=$?
    if [ $status -eq "$wanted" ] && [ ! -s stdout.txt ] && grep -qE -- "$pattern" stderr.txt; then
        pass "$name"
    else
        fail "$name" "status $status, not $wanted, or no /$pattern/ in: $(cat stderr.txt stdout.txt)"
    fi
}
printf '%s\n' $columns > none.csv
printf '%s\n' cx,cy 1,2 > few.csv
refused "no file" 2 '--pairs FILE is missing' --row 0
refused "no row" 2 '--row N is missing' --pairs five.csv
refused "a row that is a word" 2 "--row: expected a whole number.* 'x'" --pairs five.csv --row x
refused "a negative row" 2 "'-1'" --pairs five.csv --row -1
refused "a row behind the last" 2 '--row 5: the file has the rows 0 to 4' --pairs five.csv --row 5
refused "a file without rows" 2 '--row 0: the file has no rows' --pairs none.csv --row 0
refused "a file that is not there" 2 'nowhere.csv: cannot be opened' --pairs nowhere.csv --row 0
refused "columns that are missing" 2 'few.csv:1: column cz' --pairs few.csv --row 0
refused "an invalid row: NaN" 2 'five.csv:3: column radius: expected a finite number >= 0, got nan: row 1 is invalid' \
    --pairs five.csv --row 1
refused "an invalid row: a negative radius" 2 'five.csv:4: column radius: .*, got -2: row 2' --pairs five.csv --row 2
refused "an invalid row: infinity" 2 'five.csv:5: column p2y: expected a finite number, got inf: row 3' \
    --pairs five.csv --row 3 --svg new.svg
check "draws nothing" test ! -e new.svg
refused "an option of the solver" 2 'accuracy' --pairs five.csv --row 0 --accuracy exact
refused "picture and rows in one place" 2 'standard output' --pairs five.csv --row 0 --svg -
refused "picture and rows in one file" 2 'both.svg: two outputs' --pairs five.csv --row 0 --svg both.svg -o both.svg
refused "the picture over its input" 2 'five.csv: is read as an input' --pairs five.csv --row 0 --svg five.csv
refused "a picture in no directory" 1 'cannot be written' --pairs five.csv --row 0 --svg nodir/new.svg
if [ -w /dev/full ]; then
    refused "a picture that does not fit" 1 '/dev/full' --pairs five.csv --row 0 --svg /dev/full
fi
check_end
