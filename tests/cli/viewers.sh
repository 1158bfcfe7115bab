#!/bin/bash
# SPDX-License-Identifier: MIT
# viewers.sh CAROM ROWS_FILES: answers as .npy, .vtp and .xyz are those of the CSV, number by number, as NumPy, VTK and
# ASE read them, for every query of the registry, clouds, contacts and paths; --mesh-columns has the sums of the rows.
# Memory is bounded, and a file that cannot be written leaves nothing behind.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
files=$(realpath "$2")
support=$(realpath "$(dirname "$0")/../support")
check_begin "$1"
effort=${CAROM_TEST_EFFORT:-100}
"$files" 1 $((500 + 50 * effort)) > cases.txt

python=$(python_with numpy vtkmodules.vtkIOXML ase.io || true)
suffixes=(npy vtp xyz)
if [ -z "$python" ]; then # some of them
    python=$(python_with numpy vtkmodules.vtkIOXML)
    suffixes=(npy vtp)
    skip "answers in .xyz" "no python3-ase"
fi
if [ -z "$python" ]; then
    python=$(python_with numpy ase.io)
    suffixes=(npy xyz)
    skip "answers in .vtp, and columns of meshes" "no python3 with VTK (Debian: python3-vtk9)"
fi
if [ -z "$python" ]; then
    skip "answers in .npy, .vtp and .xyz" "no python3 with NumPy, VTK and ASE (Debian: python3-vtk9, python3-ase)"
    check_end
    exit
fi
has_vtk=0
case ${suffixes[*]} in *vtp*) has_vtk=1 ;; esac
# differences CSV CENTERS PERIOD OTHER...
differences() { "$python" "$support/viewers.py" "$@" 2>&1 || echo "not read"; }
# same NAME CENTERS PERIOD command...: its answers in every format
same() {
    local name=$1 centers=$2 period=$3 suffix
    shift 3
    "$carom" "$@" --backend cpu -o rows.csv 2> stderr.txt
    for suffix in "${suffixes[@]}"; do
        "$carom" "$@" --backend cpu -o "rows.$suffix" 2> stderr.txt || echo broken > "rows.$suffix"
    done
    nothing "$name" "$(differences rows.csv "$centers" "$period" "${suffixes[@]/#/rows.}")"
}

# ---- every query -----------------------------------------------------------------------------------------------------
while read -r name _ command; do
    # shellcheck disable=SC2086
    same "$command $name" "$name.csv" 0,0,0 $command "$name.csv"
done < cases.txt
same "closest points with a gradient" '' 0,0,0 overlap --mesh mesh.off --hits closest --gradient \
    --spheres mesh-closest.csv
printf '%s\n' a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb 0,0,0,1,0,0,1,10,0,0,10,0,0,1 \
    0,0,0,1,0,0,1,-10,0,0,-10,0,0,1 0,0,0,0,0,0,1,1,0,0,1,0,0,1 0,0,0,1,0,0,1,0,9,0,0,9,0,1 > away.csv
same "pairs with contact outside of the window" away.csv 0,0,0 spheres --pairs away.csv
equal "where they touch" "$(printf '%s\n' 9 -11 0.5)" "$(grep '^X' rows.xyz | cut -d ' ' -f 2)"
head -n 1 mesh-first.csv > empty.csv
same "no rows" '' 0,0,0 sweep --mesh mesh.off --spheres empty.csv
for suffix in npy vtp xyz; do
    "$carom" sweep --mesh mesh.off --backend cpu --spheres mesh-first.csv -o one.$suffix 2> stderr.txt
    "$carom" sweep --mesh mesh.off --backend cpu --threads 3 --spheres - -o two.$suffix < mesh-first.csv 2> stderr.txt
    check "the same bytes with 3 threads, from a pipe: .$suffix" cmp one.$suffix two.$suffix
done
check "rows without a point are counted" grep -qE 'two.xyz: [0-9]+ of [0-9]+ rows have no point, and are left out' \
    stderr.txt

# ---- clouds ----------------------------------------------------------------------------------------------------------
awk -v seed=1 'BEGIN { srand(seed); print "cx,cy,cz,radius"; print "nan,1,1,1"; print "2,2,2,1"; print "2,2,2,0.5"
    for (i = 0; i < 800; i++) print 10 * rand() "," 10 * rand() "," 10 * rand() "," 0.1 + 0.4 * rand() }' > rest.csv
awk 'NR == 1 { print $0 ",vx,vy,vz"; next } { print $0 "," rand() - 0.5 "," rand() - 0.5 "," rand() - 0.5 }' \
    rest.csv > moving.csv
awk 'BEGIN { srand(4); print "cx,cy,cz,radius"; for (i = 0; i < 900; i++)
    print 4.4 * rand() - 0.2 "," 4.4 * rand() - 0.2 "," 4.4 * rand() - 0.2 "," 0.1 + 0.4 * rand() }' > walls.csv
same "a cloud" rest.csv 0,0,0 spheres --cloud rest.csv
same "a periodic cloud" rest.csv 10,10,10 spheres --cloud rest.csv --periodic 10,10,10 --normal --depth
same "a box with an open axis" rest.csv 10,0,10 spheres --cloud rest.csv --periodic 10,0,10
same "a margin" rest.csv 0,0,0 spheres --cloud rest.csv --margin 0.2 --depth
same "a moving cloud" moving.csv 0,0,0 spheres --cloud moving.csv --t-max 2
for hits in first any count; do
    same "$hits of a cloud" rest.csv 10,10,10 spheres --cloud rest.csv --periodic 10,10,10 --hits $hits
done

# ---- contacts, scenes and paths --------------------------------------------------------------------------------------
printf '%s\n' OFF '8 12 0' '0 0 0' '4 0 0' '4 4 0' '0 4 0' '0 0 4' '4 0 4' '4 4 4' '0 4 4' \
    '3 0 2 1' '3 0 3 2' '3 4 5 6' '3 4 6 7' '3 0 1 5' '3 0 5 4' \
    '3 1 2 6' '3 1 6 5' '3 2 3 7' '3 2 7 6' '3 3 0 4' '3 3 4 7' > cube.off
printf '%s\n' mesh,m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23 cube.off,1,0,0,0,0,1,0,0,0,0,1,0 \
    cube.off,-1,0,0,9,0,1,0,1,0,0,1,-2 > scene.csv
"$carom" contacts --mesh cube.off --spheres walls.csv --backend cpu -o before.csv
same "contacts" '' 0,0,0 contacts --mesh cube.off --spheres walls.csv --margin 0.1 --previous before.csv
same "contacts with a scene" '' 0,0,0 contacts --scene scene.csv --spheres walls.csv
same "hits on a scene" '' 0,0,0 sweep --scene scene.csv --spheres moving.csv
printf '%s\n' x,y 2,2 4.25,2 9,9 nan,2 > places.csv
same "balls that come down" '' 0,0,0 drop --mesh cube.off --points places.csv --ball 0.5
for suffix in "${suffixes[@]}"; do
    grep -v '^[0-9]*[02468],' before.csv > odd.csv
    head -n 1 rest.csv > nobody.csv
    "$carom" contacts --mesh cube.off --spheres nobody.csv --previous odd.csv --ended "ended.$suffix" -o now.csv
    cut -d , -f 1,5-7,12 odd.csv > wanted.csv
    nothing "ended contacts in .$suffix" "$(differences wanted.csv '' 0,0,0 "ended.$suffix")"
done
for suffix in csv npy; do
    "$carom" contacts --mesh cube.off --spheres walls.csv --backend cpu -o step.$suffix
    "$carom" contacts --mesh cube.off --spheres walls.csv --backend cpu --previous step.$suffix -o next-$suffix.csv
    "$carom" spheres --cloud rest.csv --periodic 10,10,10 --backend cpu -o list.$suffix
    "$carom" spheres --cloud rest.csv --periodic 10,10,10 --backend cpu --previous list.$suffix -o pairs-$suffix.csv
done
check "the step before as .npy: contacts" cmp next-csv.csv next-npy.csv
check "the step before as .npy: pairs" cmp pairs-csv.csv pairs-npy.csv
cat > named.py << 'END'
import numpy
names = open('moving.csv').readline().strip().split(',')
rows = numpy.genfromtxt('moving.csv', delimiter=',', skip_header=1, dtype='f4')
kinds = [('vz', '<f4'), ('cx', '<f4'), ('word', '|u1'), ('cy', '<f4'), ('cz', '<f4'), ('radius', '<f4'),
         ('mask', '<u4'), ('vx', '<f4'), ('t_max', '<f4'), ('vy', '<f4')]
array = numpy.zeros(len(rows), kinds)
for i, name in enumerate(names):
    array[name] = rows[:, i]
array['mask'] = numpy.arange(len(rows)) % 3
array['t_max'] = 2
numpy.save('named.npy', array)
with open('named.csv', 'w') as file:
    print(*names, 'mask', 't_max', sep=',', file=file)
    for row, mask in zip(rows, array['mask']):
        print(*(f'{x:.9g}' for x in row), mask, 2, sep=',', file=file)
others = numpy.dtype([('d', '<f8'), ('yes', '?'), ('e', 'i1'), *kinds[:4], ('s', 'S5'), ('u', '<U3'), ('h', '<i2'),
                      ('b', '>f4'), ('l', '<u8'), ('c', '<c16'), ('when', '<M8[ns]'), *kinds[4:], ('v', '<f4', (2, 3)),
                      ('raw', 'V3'), ('f', '<f2'), ('x' * 300, '<f4')])
aligned = numpy.dtype([('e', 'i1'), *kinds[:3], ('d', '<f8'), *kinds[3:], ('last', 'i1')], align=True)
for name, kind in [('others', others), ('aligned', aligned), ('long', [*kinds, ('rest', 'S100000')])]:
    wide = numpy.zeros(len(rows), kind)
    for column in array.dtype.names:
        wide[column] = array[column]
    numpy.save(name + '.npy', wide)
    if name == 'others':
        numpy.save('selected.npy', wide[[column for column in wide.dtype.names if column in array.dtype.names]])
numpy.save('big.npy', numpy.zeros(3, [(name, '>f4' if name == 'cx' else '<f4') for name in names]))
numpy.save('object.npy', numpy.zeros(3, [('cx', '<f4'), ('o', 'O')]))
numpy.save('bytes.npy', numpy.zeros(1, [('cx', '<f4'), ('o', 'S1048576')]))
numpy.save('nothing.npy', numpy.zeros(1, [('o', 'S0')]))
numpy.save('two.npy', array[:4].reshape(2, 2))
numpy.save('double.npy', numpy.zeros(3, [('cx', '<f8')]))
numpy.save('less.npy', numpy.zeros(3, [('cx', '<f4'), ('vx', '<f4')]))
numpy.save('vectors.npy', numpy.zeros(3, [('cx', '<f4', (2,))]))
numpy.save('integers.npy', numpy.zeros(3, [(name, '<i4') for name in names]))
array['t_max'][7] = numpy.nan
numpy.save('nan.npy', array)
array = numpy.zeros(3, [('query', '<i8'), ('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('patch', '<u4')])
array['query'][2] = -1
numpy.save('minus.npy', array)
END
"$python" named.py
named() { "$carom" sweep --mesh cube.off --backend cpu --spheres "$1" -o "named-${1%%.*}-${1##*.}.out"; }
for suffix in csv npy; do named named.$suffix; done
check "columns by their names in .npy" cmp named-named-csv.out named-named-npy.out
for name in others aligned selected long; do
    named $name.npy
    check "columns by their names among others: $name" cmp named-named-csv.out named-$name-npy.out
done
# bad FILE PATTERN
bad() { refused "$1.npy" 2 "$1.npy: $2" named "$1.npy"; }
bad two 'shape: expected \[rows\], got \[2\]\[2\]'
bad double 'column cx: expected the type <f4, got <f8'
bad big 'column cx: expected the type <f4, got >f4'
bad object 'header: expected names and types of one size as descr, got'
bad bytes 'header: expected rows of at most 1048576 bytes, got'
bad nothing 'header: expected a name and a type as descr'
bad less 'column cy: expected, and is not there; also missing: cz, radius, vy, vz'
bad vectors 'column cx: expected the type <f4, got an array of <f4'
bad integers 'column cx: expected the type <f4, got <i4'
bad nan 'row 7: column t_max: expected a number >= 0 or inf'
refused "a query below 0" 2 'minus.npy: row 2: column query: expected a whole number from 0 to 2\^63 - 1' "$carom" \
    contacts --mesh cube.off --spheres walls.csv --previous minus.npy
awk 'BEGIN { srand(2); print "path,x,y,z"; for (p = 0; p < 60; p++) for (s = 0; s < 1 + p % 7; s++)
    print 3 * p "," 6 * rand() - 1 "," 6 * rand() - 1 "," 6 * rand() - 1; print "900,nan,0,0" }' > paths.csv
path() { "$carom" bake path --mesh cube.off --paths paths.csv --radius 0.2 --backend cpu --progress none "$@"; }
for hits in first all; do
    path --hits $hits -o path-$hits.csv
    for i in 1 2; do path --hits $hits --part $i/2 -o part$i; done
    for suffix in "${suffixes[@]}"; do
        path --hits $hits -o "path-$hits.$suffix" 2> stderr.txt
        nothing "paths in .$suffix, --hits $hits" "$(differences path-$hits.csv '' 0,0,0 "path-$hits.$suffix")"
        "$carom" bake join "joined.$suffix" part2 part1 2> stderr.txt
        check "joined, .$suffix" cmp "path-$hits.$suffix" "joined.$suffix"
    done
    rm part1 part2
done
nothing "nothing is left beside them" \
    "$(find . -name '*.partial' -o -name '*.journal' -o -name '*.columns' -o -name '.carom-*')"
path --hits any -o path-any.csv
path --hits any -o path-any.npy
nothing "paths in .npy, --hits any" "$(differences path-any.csv '' 0,0,0 path-any.npy)"
refused "a check of .npy rows" 2 'path-any.npy: bake check reads rows of paths as .csv, .h5 and parts' \
    "$carom" bake check path-any.npy --mesh cube.off --paths paths.csv --radius 0.2
refused "paths without points" 2 'no.vtp: rows of --hits any have no points' path --hits any -o no.vtp

# ---- what the triangles get ------------------------------------------------------------------------------------------
cat > columns.py << 'END'
# columns.py FILE.vtp ROWS.csv MESH.off|SCENE: what is not the mesh with the sums of the rows
import csv
import sys
import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

reader = vtkXMLPolyDataReader()
reader.SetFileName(sys.argv[1])
reader.Update()
poly = reader.GetOutput()
off = open('cube.off').read().split()
corners = numpy.array(off[4:28], 'f4').reshape(8, 3)
triangles = numpy.array(off[28:], int).reshape(12, 4)[:, 1:]
if sys.argv[3] == 'scene':
    mirrored = corners * numpy.array([-1, 1, 1], 'f4') + numpy.array([9, 1, -2], 'f4')
    got = vtk_to_numpy(poly.GetPoints().GetData())
    got = got[vtk_to_numpy(poly.GetPolys().GetConnectivityArray())].reshape(-1, 3, 3)
    for i, points in enumerate([corners, mirrored]):
        for k, triangle in enumerate(triangles):
            if sorted(map(tuple, got[12 * i + k])) != sorted(map(tuple, points[triangle])):
                print('triangle', i, k)
else:
    if not numpy.array_equal(vtk_to_numpy(poly.GetPoints().GetData()), corners):
        print('points')
    if not numpy.array_equal(vtk_to_numpy(poly.GetPolys().GetConnectivityArray()).reshape(-1, 3), triangles):
        print('triangles')
count = poly.GetNumberOfPolys()
with open(sys.argv[2]) as file:
    rows = list(csv.DictReader(file))
number, least, total = numpy.zeros(count, 'i8'), numpy.full(count, numpy.nan, 'f4'), numpy.zeros(count)
for row in rows:
    triangle = int(row['triangle']) + 12 * int(row.get('instance', 0))
    if int(row['triangle']) < 0:
        continue
    number[triangle] += 1
    if 'depth' in row:
        total[triangle] += max(0.0, float(numpy.float32(row['depth'])))
    else:
        least[triangle] = numpy.fmin(least[triangle], numpy.float32(row['t']))
wanted = {'contacts': number, 'summed_depth': total} if rows and 'depth' in rows[0] else \
    {'hits': number, 'least_time': least}
data = poly.GetCellData()
got = {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}
if list(got) != list(wanted):
    print('columns', list(got))
for name, column in wanted.items():
    if column.dtype != got[name].dtype or not numpy.array_equal(column, got[name], equal_nan=column.dtype.kind == 'f'):
        print(name, column, got[name])
if number.sum() < 50:
    print('too few rows')
END
# triangles NAME MESH command...
triangles() {
    local name=$1 mesh=$2
    shift 2
    "$carom" "$@" --backend cpu --mesh-columns wall.vtp -o wall.csv
    "$carom" "$@" --backend cpu -o plain.csv
    check "$name: the rows are the same" cmp plain.csv wall.csv
    nothing "$name: sums" "$("$python" columns.py wall.vtp wall.csv "$mesh" 2>&1)"
    "$carom" "$@" --backend cpu --threads 3 --mesh-columns three.vtp > three.csv
    check "$name: with 3 threads" cmp wall.vtp three.vtp
}
if [ $has_vtk -eq 1 ]; then
    triangles "contacts" mesh contacts --mesh cube.off --spheres walls.csv --margin 0.1
    triangles "contacts of a scene" scene contacts --scene scene.csv --spheres walls.csv
    triangles "first hits" mesh sweep --mesh cube.off --spheres moving.csv --t-max 5
    triangles "all hits" mesh sweep --mesh cube.off --spheres moving.csv --t-max 5 --hits all
    triangles "hits of a scene" scene sweep --scene scene.csv --spheres moving.csv --hits all
    status=0
    "$carom" contacts --mesh cube.off --spheres walls.csv --margin 0.1 --backend opencl --mesh-columns device.vtp \
        -o device.csv 2> stderr.txt || status=$?
    if [ $status -eq 0 ]; then
        "$carom" contacts --mesh cube.off --spheres walls.csv --margin 0.1 --backend cpu --mesh-columns wall.vtp \
            -o wall.csv
        check "sums with a device" cmp wall.vtp device.vtp
    else
        skip "sums with a device" "no OpenCL device"
    fi
fi
# Rows of more than a chunk, twice the same half: sums go on behind the end of a chunk.
rows=$((1048576 + 20000))
if [ $has_vtk -eq 1 ]; then
    cat > long.py << 'END'
import sys
import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
if sys.argv[1] == 'make':
    random = numpy.random.default_rng(1)
    numpy.save('long.npy', (random.random((int(sys.argv[2]), 4)) * [5, 5, 5, 0.3]).astype('f4'))
elif sys.argv[1] == 'counts':
    rows, reader = numpy.load('counts.npy'), vtkXMLPolyDataReader()
    reader.SetFileName('counts.vtp')
    reader.Update()
    poly = reader.GetOutput()
    print(numpy.array_equal(vtk_to_numpy(poly.GetPoints().GetData()), numpy.load('long.npy')[:, :3]),
          numpy.array_equal(vtk_to_numpy(poly.GetPointData().GetArray('row')), numpy.arange(len(rows))),
          numpy.array_equal(vtk_to_numpy(poly.GetPointData().GetArray('count')), rows['count']))
else:
    rows, reader = numpy.load('long-rows.npy'), vtkXMLPolyDataReader()
    reader.SetFileName('long.vtp')
    reader.Update()
    total = numpy.zeros(12)
    numpy.add.at(total, rows['triangle'], rows['depth'].astype(float))  # one after the other
    got = reader.GetOutput().GetCellData()
    print(numpy.array_equal(total, vtk_to_numpy(got.GetArray('summed_depth'))),
          numpy.array_equal(numpy.bincount(rows['triangle'], minlength=12), vtk_to_numpy(got.GetArray('contacts'))))
END
    "$python" long.py make $rows
    "$carom" contacts --mesh cube.off --spheres long.npy --backend cpu --mesh-columns long.vtp -o long-rows.npy
    equal "sums of more than one chunk" "True True" "$("$python" long.py check)"
    for suffix in npy vtp xyz; do # the second chunk goes on behind a block of the file without a name
        "$carom" overlap --hits count --mesh cube.off --spheres long.npy --backend cpu -o counts.$suffix
    done
    equal "points of more than one chunk" "True True True" "$("$python" long.py counts)"
    equal "the number of the last row in .xyz" $((rows - 1)) "$(tail -n 1 counts.xyz | cut -d ' ' -f 5)"
    rm counts.*
fi

# ---- bounded memory, full disks, refusals ----------------------------------------------------------------------------
rows=$((1000000 + 20000 * effort)) limit=230000
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($rows, 14), }" \
    > zeros.npy
truncate -s $((128 + 56 * rows)) zeros.npy # with holes, which are zeros
limited() { (ulimit -v $limit && exec "$@"); }
if nm "$carom" 2> /dev/null | grep __asan > /dev/null; then
    limited() { "$@"; }
fi
for suffix in npy vtp xyz; do
    check "$rows rows to .$suffix in $limit KiB" limited "$carom" spheres --backend cpu --threads 2 --pairs zeros.npy \
        -o many.$suffix
    rm -f many.$suffix
done
contacts() { "$carom" contacts --mesh cube.off --spheres walls.csv --backend cpu "$@"; }
mkfifo pipe.npy pipe.vtp pipe.xyz
for suffix in npy vtp xyz; do
    echo old > keep.$suffix
    too_long() { (ulimit -f 4 && contacts -o "$1"); } # KiB that a file may have
    refused ".$suffix that does not fit" 1 "keep.$suffix: cannot be written: File too large" too_long keep.$suffix
    equal "the old .$suffix stays" old "$(cat keep.$suffix)"
    refused "a pipe as .$suffix" 2 "pipe.$suffix: is no regular file, which an? .$suffix file must be" contacts \
        -o pipe.$suffix
    refused "text as .$suffix" 2 "out.$suffix: info writes text, and no .$suffix" "$carom" info -o out.$suffix
done
echo old > keep.vtp
no_columns() { (ulimit -f 1 && contacts -o /dev/null --mesh-columns "$1"); }
refused "columns that do not fit" 1 'keep.vtp: cannot be written: File too large' no_columns keep.vtp
equal "the old columns stay" old "$(cat keep.vtp)"
refused "rows that do not fit" 1 '/dev/full: cannot be written: No space' contacts -o /dev/full --mesh-columns none.vtp
check "leave no columns" test ! -e none.vtp
nothing "no temporary files" "$(find . -name '.carom-*')"
refused "columns of another suffix" 2 "--mesh-columns: expected a file that ends in .vtp, got 'none.vtu'" contacts \
    --mesh-columns none.vtu
refused "columns of any hits" 2 '--mesh-columns: needs rows that name triangles: --hits first or --hits all' "$carom" \
    sweep --mesh cube.off --spheres moving.csv --hits any --mesh-columns none.vtp
refused "columns of pairs" 2 'sweep: .*--mesh-columns.* belong to --mesh and --scene' "$carom" sweep --pairs sweep.csv \
    --mesh-columns none.vtp
cp walls.csv walls.vtp
refused "columns over an input" 2 'walls.vtp: is read as an input' "$carom" contacts --mesh cube.off \
    --spheres walls.vtp --mesh-columns walls.vtp
refused "columns over the rows" 2 'one.vtp: two outputs would have this one name' contacts -o one.vtp \
    --mesh-columns one.vtp
printf "%s\n" cx,cy,cz,radius 1,1,1,1 1,1,2,1 > bundle.csv
# Rows that the package carom writes. points FILE COLUMN...
files_program=$(dirname "$carom")/carom-files
if [ -x "$files_program" ]; then
    points() { "$files_program" write-rows "$1" 0 x='<f4' y='<f4' z='<f4' "${@:2}" < /dev/null; }
    for suffix in vtp xyz; do
        refused "two columns of one name in .$suffix" 2 "no.$suffix: two columns would have the name 'normal'" \
            points no.$suffix nx='<f4' ny='<f4' nz='<f4' normal='<f4'
        refused "a name with a comma in .$suffix" 2 "no.$suffix: column 'a,b': names in an? .$suffix file have" \
            points no.$suffix a,b='<f4'
    done
    for name in species pos Z numbers positions symbols; do
        refused "the column $name in .xyz" 2 "no.xyz: column '$name': the file has one of that name, of its own" \
            points no.xyz $name='<f4'
    done
    check "none is written" test ! -e no.vtp -a ! -e no.xyz
    if [[ ${suffixes[*]} == *xyz* ]]; then # 10000000001, 2^31 and 2^32 - 1, that ASE 3.22 has as they are
        printf '\0\0\200\77\0\0\0\100\0\0\100\100\1\344\13\124\2\0\0\0\377\377\377\377' |
            "$files_program" write-rows ids.xyz 1 x='<f4' y='<f4' z='<f4' id='<i8' patch='<u4'
        equal "ids beyond 2^31 in .xyz" "10000000001 4294967295" "$("$python" -c "from ase.io import read
a = read('ids.xyz', format='extxyz').arrays
print(int(a['id'][0]), int(a['patch'][0]))")"
    fi
else
    skip "rows of the package carom" "built without carom-files"
fi
for suffix in H5 NPY VTP Xyz; do
    lower=${suffix,,}
    if [ $suffix = H5 ] && "$carom" info --backend cpu | grep -q '^build: .*, HDF5 no$'; then continue; fi
    contacts -o upper.$suffix
    contacts -o "lower.$lower"
    check "the suffix .$suffix" cmp upper.$suffix "lower.$lower"
done
contacts -o none.CSV --mesh-columns columns.VTP
check "the suffix .VTP of columns" test -s columns.VTP
refused "a join to another format" 2 'joined.foo: the suffix names the format: .* of paths .csv, .h5, .npy, .vtp' \
    "$carom" bake join joined.foo part1
check "the help of sweep has which hits" grep -q 'of --hits first or all' <("$carom" sweep --help)
refused "bundles have no points" 2 'no.vtp: these rows have no points \(x,y,z\): expected .csv, .h5 or .npy' "$carom" \
    overlap --mesh cube.off --spheres bundle.csv --bundle 2 -o no.vtp
check_end
