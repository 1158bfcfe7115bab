#!/bin/bash
# SPDX-License-Identifier: MIT
# contact_rows.sh CAROM: answers of `carom contacts` worked out by hand, in which every column and option counts, and
# bad input.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
support=$(realpath "$(dirname "$0")/../support")
check_begin "$1"

# A floor of 4 x 4 cut along a diagonal, and a wall over its edge x = 0.
printf '%s\n' 'v 0 0 0' 'v 4 0 0' 'v 4 4 0' 'v 0 4 0' 'v 0 0 4' 'v 0 4 4' \
    'f 1 2 3' 'f 1 3 4' 'f 1 4 6' 'f 1 6 5' > corner.obj
head=query,triangle,feature,distance,x,y,z,nx,ny,nz,depth,patch
contacts() { "$carom" contacts --mesh corner.obj --spheres spheres.csv "$@"; }
# rows NAME "OPTION..." ROW...: in both modes
rows() {
    local name=$1 options=$2 mode
    shift 2
    for mode in fast exact; do
        # shellcheck disable=SC2086 # options are words
        equal "$name, $mode" "$(printf '%s\n' "$@")" "$(contacts --accuracy $mode $options 2>&1)"
    done
}

printf '%s\n' cx,cy,cz,radius,mask 1,2,0.5,1,1 0.5,1,0.25,1,1 2,1,0.75,1,0 2,1,3,1,2 nan,2,3,1,1 1,1,-0.75,1,3 \
    4.5,1,0,1,1 > spheres.csv
corner="0,1,F,0.5,1,2,0,0,0,1,0.5,0 0,2,F,1,0,2,0.5,1,0,0,0,2"
near="1,1,F,0.25,0.5,1,0,0,0,1,0.75,0 1,2,F,0.5,0,1,0.25,1,0,0,0.5,2"
below="5,0,E20,0.75,1,1,0,0,0,-1,0.25,0" beside="6,0,E12,0.5,4,1,0,1,0,0,0.5,0"
# shellcheck disable=SC2086 # rows are words
rows "a corner of two walls" "" $head $corner $near $below $beside
equal "one patch over a right angle" "0 patch" "$(contacts --flat 90 | cut -d, -f12 | sort -u | paste -sd' ')"
equal "two patches below it" "0 2 patch" "$(contacts --flat 89.999 | cut -d, -f12 | sort -u | paste -sd' ')"
# shellcheck disable=SC2086
rows "a margin" "--margin 2" $head $corner $near \
    3,3,F,2,0,1,3,1,0,0,-1,2 3,0,F,3,2,1,0,0,0,1,-2,0 $below $beside

# Two squares a crack of 2^-20 apart, and a ball over it.
printf '%s\n' 'v -1 -1 0' 'v 0 -1 0' 'v 0 1 0' 'v -1 1 0' 'v 9.5367431640625e-07 -1 0' 'v 1 -1 0' 'v 1 1 0' \
    'v 9.5367431640625e-07 1 0' 'f 1 2 3' 'f 1 3 4' 'f 5 6 7' 'f 5 7 8' > corner2.obj
printf '%s\n' cx,cy,cz,radius 4.76837158203125e-07,0.25,0.5,1 > over.csv
for mode in fast exact; do
    crack() { "$carom" contacts --mesh corner2.obj --spheres over.csv --accuracy $mode "$@" | tail -n +2 | wc -l; }
    equal "a crack makes two contacts, $mode" 2 "$(crack)"
    equal "one where they are merged, $mode" 1 "$(crack --merge-within 1e-5)"
    equal "two where they are not near enough, $mode" 2 "$(crack --merge-within 1e-7)"
done

# ---- the step before -------------------------------------------------------------------------------------------------
contacts > old.csv
printf '%s\n' cx,cy,cz,radius 1,2,1.5,1 0.5,1.25,0.25,1 3,3,0.5,1 > moved.csv
step() { "$carom" contacts --mesh corner.obj --spheres moved.csv --previous old.csv "$@"; }
moved="0,2,F,1,0,2,1.5,1,0,0,0,2,1 1,1,F,0.25,0.5,1.25,0,0,0,1,0.75,0,2 1,2,F,0.5,0,1.25,0.25,1,0,0,0.5,2,3"
# shellcheck disable=SC2086
equal "which go on" "$(printf '%s\n' $head,previous $moved 2,0,E20,0.5,3,3,0,0,0,1,0.5,0,-1)" \
    "$(step --ended gone.csv)"
# shellcheck disable=SC2086
equal "which have ended" "$(printf '%s\n' $head ${corner%% *} $below $beside)" "$(cat gone.csv)"
equal "nothing changes, nothing ends" "$(printf '%s\n' $head)" \
    "$(contacts --previous old.csv --ended gone.csv > again.csv; cat gone.csv)"
equal "each is the one before" "previous 0 1 2 3 4 5" "$(cut -d, -f13 again.csv | paste -sd' ')"
step -o step.csv --threads 2
equal "to a file" "$(step)" "$(cat step.csv)"
printf '%s\n' cx,cy,cz,radius > none.csv
"$carom" contacts --mesh corner.obj --spheres none.csv --previous old.csv --ended gone.csv > empty.csv
equal "no spheres are left" "$(cat old.csv)" "$(cat gone.csv)"
printf '%s' "$(cat old.csv)" > cut.csv
"$carom" contacts --mesh corner.obj --spheres none.csv --previous cut.csv --ended gone.csv > empty.csv
equal "the last line without an end" "$(cat old.csv)" "$(cat gone.csv)"
sed '3s/[^,]*$/4294967295/' old.csv > largest.csv
equal "the largest patch" "previous 0 -1 2 3 4 5" "$(contacts --previous largest.csv | cut -d, -f13 | paste -sd' ')"

# ---- a scene ---------------------------------------------------------------------------------------------------------
# The corner twice, the second one mirrored and 1.5 lower. Patches are triangles of corner.obj.
maps=m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23
printf '%s\n' mesh,$maps corner.obj,1,0,0,0,0,1,0,0,0,0,1,0 corner.obj,1,0,0,0,0,-1,0,4,0,0,1,-1.5 > scene.csv
in_scene() { "$carom" contacts --scene scene.csv --spheres spheres.csv "$@"; }
scene_head=query,instance,triangle,feature,distance,x,y,z,nx,ny,nz,depth,patch
scene_rows="0,0,1,F,0.5,1,2,0,0,0,1,0.5,0 0,0,2,F,1,0,2,0.5,1,0,0,0,2 0,1,2,E01,1,0,2,0.5,1,0,0,0,2
    1,0,1,F,0.25,0.5,1,0,0,0,1,0.75,0 1,0,2,F,0.5,0,1,0.25,1,0,0,0.5,2 1,1,2,F,0.5,0,1,0.25,1,0,0,0.5,2
    5,0,0,E20,0.75,1,1,0,0,0,-1,0.25,0 5,1,1,F,0.75,1,1,-1.5,0,0,1,0.25,0 5,1,2,F,1,0,1,-0.75,1,0,0,0,2
    6,0,0,E12,0.5,4,1,0,1,0,0,0.5,0"
for mode in fast exact; do
    # shellcheck disable=SC2086
    equal "a scene, $mode" "$(printf '%s\n' $scene_head $scene_rows)" "$(in_scene --accuracy $mode)"
done
equal "a scene: merged across instances" "0,0,1 0,0,2 1,0,1 1,0,2 5,0,0 5,1,1 5,1,2 6,0,0" \
    "$(in_scene --merge-within 1e-3 | tail -n +2 | cut -d, -f1-3 | paste -sd' ')"
in_scene > in.csv
equal "a scene: each goes on" "previous 0 1 2 3 4 5 6 7 8 9" "$(in_scene --previous in.csv --ended gone.csv |
    cut -d, -f14 | paste -sd' ')"
equal "a scene: none ends" "$scene_head" "$(cat gone.csv)"
sed '4s/^0,1,/0,7,/' in.csv > other.csv
equal "a scene: not in another instance" "previous 0 1 -1 3 4 5 6 7 8 9" \
    "$(in_scene --previous other.csv --ended gone.csv | cut -d, -f14 | paste -sd' ')"
equal "a scene: which has ended" "$scene_head 0,7,2,E01,1,0,2,0.5,1,0,0,0,2" "$(paste -sd' ' gone.csv)"

# Spheres come in pieces of 2^20: contacts go on and end in each, and where the second begins.
awk 'BEGIN { print "cx,cy,cz,radius"
    for (i = 0; i < 1048580; i++) print (i < 2 || i >= 1048575 ? "1,2,0.5,1" : "9,9,9,1") }' > long.csv
sed '$s/.*/9,9,9,1/' long.csv > shorter.csv
"$carom" contacts --mesh corner.obj --spheres long.csv > old-long.csv
"$carom" contacts --mesh corner.obj --spheres shorter.csv --previous old-long.csv --ended gone.csv > now.csv
equal "contacts of two pieces go on" "previous 0 1 2 3 4 5 6 7 8 9 10 11" "$(cut -d, -f13 now.csv | paste -sd' ')"
equal "and end" "$(head -n 1 old-long.csv && tail -n 2 old-long.csv)" "$(cat gone.csv)"

# The same step before in .h5, and in .npy.
python=$(python_with numpy h5py)
if { contacts -o old.h5 2>&1 || true; } | grep -q 'built without HDF5'; then
    skip "the step before in .h5" "a build without HDF5"
elif [ -z "$python" ]; then
    skip "the step before in .h5 and .npy" "no python3-h5py"
else
    cat > convert.py << 'END'
import h5py
import numpy

names = 'query x y z patch'.split()
with h5py.File('old.h5', 'r') as old:
    rows = {name: old[name][...] for name in old}
numpy.save('old.npy', numpy.stack([rows[name] for name in names], 1).astype('<f4'))

def make(name, leave=(), **more):
    with h5py.File(name + '.h5', 'w') as to:
        for column in rows:
            if column not in leave:
                to[column] = more.get(column, rows[column])

query, patch = rows['query'], rows['patch']
make('five', [name for name in rows if name not in names])
make('narrow', query=query.astype('<u4'), patch=patch.astype('<i8'), triangle=rows['triangle'].astype('<i8'),
     depth=rows['depth'].astype('<f8'), feature=rows['feature'][...].astype('<i2'))
large = patch.astype('<u4')
large[3:] = [2**31, 3000000000, 2**32 - 1, 7][:len(large) - 3]
make('large', patch=large)
make('huge', query=numpy.where(query < 6, query, 2**63).astype('<u8'))
make('below', query=numpy.where(query > 0, query, -1).astype('<i4'))
make('float', query=query.astype('<f4'))
make('wide', patch=patch.astype('<i8') + 2**32)
make('turned', query=query[::-1])
for name, at, value in (('part', (4, 0), 5.5), ('large', (5, 4), 2**24 + 2), ('minus', (0, 0), -1),
                        ('nan', (1, 4), numpy.nan)):
    bad = numpy.load('old.npy')
    bad[at] = value
    numpy.save(name + '.npy', bad)
END
    "$python" convert.py
    step --ended gone.csv > now.csv
    for old in old.h5 old.npy; do
        "$carom" contacts --mesh corner.obj --spheres moved.csv --previous $old --ended ended.csv > got.csv
        equal "previous from $old" "$(cat now.csv)" "$(cat got.csv)"
        [ $old = old.npy ] || equal "ended from $old" "$(cat gone.csv)" "$(cat ended.csv)"
    done
    equal "ended from old.npy" "$(cut -d, -f1,5-7,12 gone.csv)" "$(cat ended.csv)"
    "$carom" contacts --mesh corner.obj --spheres moved.csv --previous old.h5 --ended gone.h5 -o now.h5
    "$carom" contacts --mesh corner.obj --spheres moved.csv --previous old.npy --ended some.h5 > got.csv
    "$carom" contacts --mesh corner.obj --spheres moved.csv --previous old.csv --ended lines.h5 > got.csv
    cp some.h5 some-npy.h5 && cp ended.csv some-npy.csv && cp lines.h5 lines-npy.h5 && cp ended.csv lines-npy.csv
    nothing "columns of what ended" "$("$python" "$support/columns.py" same gone.csv now.csv some-npy.csv \
        lines-npy.csv 2>&1)"
    # A second step has `previous`, and what ends of it has it too.
    "$carom" contacts --mesh corner.obj --spheres none.csv --previous now.h5 --ended ended.csv > empty.csv
    equal "all ends, with its own previous" "$(cat now.csv)" "$(cat ended.csv)"
    # Of all that --previous takes, the rows that end are written, in the columns that can be copied.
    for old in five.h5 narrow.h5; do
        "$carom" contacts --mesh corner.obj --spheres moved.csv --previous $old --ended ended.csv > got.csv 2> err.txt
        equal "previous from $old" "$(cat now.csv)" "$(cat got.csv)"
        columns=1,5-7,12
        [ $old = five.h5 ] || columns=1,2,4-10,12
        equal "ended from $old" "$(cut -d, -f$columns gone.csv)" "$(cat ended.csv)"
    done
    equal "columns that are not copied" "feature depth" \
        "$(sed -n 's/.*narrow.h5: dataset \([a-z]*\): is not of .*/\1/p' \
        err.txt | paste -sd ' ')"
    # Of a scene, with instances.
    "$python" -c "import numpy
rows = [r.strip().split(',') for r in open('other.csv')][1:]
numpy.save('in.npy', numpy.array([[float(r[k]) for k in (0, 1, 5, 6, 7, 12)] for r in rows], '<f4'))"
    in_scene --previous other.csv > now.csv
    in_scene -o in.h5
    for old in in.npy in.h5; do
        in_scene --previous $old --ended ended.h5 > got.csv
        [ $old = in.h5 ] || equal "a scene: previous from $old" "$(cat now.csv)" "$(cat got.csv)"
        [ $old = in.npy ] || equal "a scene: previous from $old" "previous 0 1 2 3 4 5 6 7 8 9" \
            "$(cut -d, -f14 got.csv | paste -sd' ')"
        equal "a scene: instances of what ended, from $old" "$([ $old = in.h5 ] || echo 7)" \
            "$("$python" -c "import h5py; print(*h5py.File('ended.h5')['instance'][:])")"
    done
    # Patches from 2^31 on, from text and .h5, to text and .h5 and back.
    patches() { tail -n +2 "$1" | awk -F, '{ print $NF }' | sort -n | paste -sd ' '; }
    "$carom" contacts --mesh corner.obj --spheres none.csv --previous large.h5 --ended all.h5 -o empty.csv
    "$carom" contacts --mesh corner.obj --spheres none.csv --previous all.h5 --ended all.csv -o empty.csv
    "$carom" contacts --mesh corner.obj --spheres none.csv --previous all.csv --ended lines.h5 -o empty.csv
    "$carom" contacts --mesh corner.obj --spheres none.csv --previous lines.h5 --ended lines.csv -o empty.csv
    wanted=$("$python" -c "import h5py; print(*sorted(h5py.File('large.h5')['patch'][:]))")
    equal "large patches" "$wanted / $wanted" "$(patches all.csv) / $(patches lines.csv)"
fi

# ---- bad input -------------------------------------------------------------------------------------------------------
# refused NAME TEXT command...: exit status 2, and TEXT on standard error
refused() {
    local name=$1 text=$2 status=0
    shift 2
    "$@" > stdout.txt 2> stderr.txt || status=$?
    equal "$name" "2 carom: $text" "$status $(cat stderr.txt)"
}
cp corner.obj corner.copy
replaced='corner.obj: is read as an input, which the output would replace'
refused "a scene: its mesh as output" "$replaced" in_scene -o corner.obj
refused "a scene: its mesh as ended" "$replaced" in_scene --previous in.csv --ended corner.obj
check "a scene: its mesh is still there" cmp corner.copy corner.obj
refused "a scene: its step for a mesh" 'in.csv: has instances, so it is the step of a scene: --scene is missing' \
    "$carom" contacts --mesh corner.obj --spheres spheres.csv --previous in.csv --ended gone.csv
refused "no spheres" "contacts: --mesh FILE or --scene FILE, and --spheres FILE, must both be there" \
    "$carom" contacts --mesh corner.obj
refused "mesh and scene" "contacts: --mesh and --scene exclude each other" contacts --scene scene.csv
refused "a step without instances" "old.csv:1: column instance: expected in the header, got 12 columns: query, \
triangle, feature, distance, x, y, z, nx, ny, nz, depth, patch" in_scene --previous old.csv
sed '4s/^0,1,/0,2147483648,/' in.csv > large.csv
refused "an instance that is too large" "large.csv:4: instance is larger than 2147483647" in_scene --previous large.csv
refused "a negative margin" "--margin: expected a finite number >= 0, got '-1'" contacts --margin -1
refused "an endless margin" "--margin: expected a finite number >= 0, got 'inf'" contacts --margin inf
refused "merge-within in words" "--merge-within: expected a finite number >= 0, got '1x'" contacts --merge-within 1x
refused "a large angle" "--flat: expected degrees from 0 to 180, got '180.5'" contacts --flat 180.5
refused "an angle that is none" "--flat: expected degrees from 0 to 180, got 'nan'" contacts --flat nan
refused "no name" "--previous: expected a name, got an empty one" contacts --previous ''
refused "ended without previous" "contacts: --ended belongs to --previous" contacts --ended x.csv
twice="contacts: --ended needs --previous as a file, no pipe, because it is read twice"
refused "ended with standard input" "$twice" contacts --previous - --ended x.csv
mkfifo pipe.csv
refused "ended with a pipe" "$twice" timeout 20 "$carom" contacts --mesh corner.obj --spheres spheres.csv \
    --previous pipe.csv --ended x.csv
refused "standard input twice" "contacts: --spheres and --previous cannot both be standard input" \
    "$carom" contacts --mesh corner.obj --spheres - --previous -
refused "over the input" "old.csv: is read as an input, which the output would replace" \
    contacts --previous old.csv --ended old.csv
refused "two outputs in one" "x.csv: two outputs would have this one name" \
    contacts --previous old.csv --ended x.csv -o x.csv
(head -n 1 old.csv; tail -n 1 old.csv; sed -n 2p old.csv) > turned.csv
refused "out of order" "turned.csv:3: query is less than in the row before; contacts are in its order" \
    contacts --previous turned.csv
sed '3s/,2$/,4294967296/' old.csv > patch.csv
refused "a patch that is too large" "patch.csv:3: patch is larger than 4294967295" contacts --previous patch.csv
sed '2s/0.5,1,2/0.5,inf,2/' old.csv > far.csv
refused "a point that is none" "far.csv:2: x, y and z of a contact are finite" contacts --previous far.csv
# Both outputs or none.
for ended in /dev/full none/ended.csv; do
    status=0
    step --ended $ended -o both.csv 2> stderr.txt || status=$?
    equal "ended to $ended" "1 none" "$status $(ls both.csv 2> /dev/null || echo none)"
done
status=0
step --ended both.csv -o /dev/full 2> stderr.txt || status=$?
equal "ended beside an output that is full" "1 none" "$status $(ls both.csv 2> /dev/null || echo none)"
if [ -e five.h5 ]; then
    whole="expected a whole number from 0 to"
    refused "a query as uint64" \
        "huge.h5: dataset query: expected little-endian int64, int32 or uint32, got uint64" contacts --previous huge.h5
    refused "a query below 0" "below.h5: row 0: dataset query: $whole 2^63 - 1" contacts --previous below.h5
    refused "a query as float32" \
        "float.h5: dataset query: expected little-endian int64, int32 or uint32, got float32" \
        contacts --previous float.h5
    refused "a large patch in .h5" "wide.h5: row 0: patch is larger than 4294967295" contacts --previous wide.h5
    refused "out of order in .h5" \
        "turned.h5: row 1: query is less than in the row before; contacts are in its order" \
        contacts --previous turned.h5
    refused "half a query" "part.npy: row 4: column query: $whole 16777215" contacts --previous part.npy
    refused "a patch beyond 2^24" "large.npy: row 5: column patch: $whole 16777215" contacts --previous large.npy
    refused "a query below 0 in .npy" "minus.npy: row 0: column query: $whole 16777215" contacts --previous minus.npy
    refused "a patch that is nan" "nan.npy: row 1: column patch: $whole 16777215" contacts --previous nan.npy
fi
status=0
contacts --backend opencl --progress none > stdout.txt 2> stderr.txt || status=$?
if [ $status -eq 0 ]; then
    equal "with a device" "$(contacts --backend cpu)" "$(cat stdout.txt stderr.txt)"
else
    skip "with a device" "no OpenCL device"
fi
check_end
