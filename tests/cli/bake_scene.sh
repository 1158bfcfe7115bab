#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_scene.sh CAROM: bakes of a scene have the bytes of bakes of its merged mesh, which is written here by rationals
# and binary64; masks of instances; bad scenes. tests/cli/bake_interrupted.sh resumes with another scene.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
bake_begin "$1"
python=$(command -v python3 || true)
head=mesh,m00,m01,m02,m03,m10,m11,m12,m13,m20,m21,m22,m23
identity=1,0,0,0,0,1,0,0,0,0,1,0
if [ -z "$python" ]; then
    skip "scenes" "no python3 to merge them"
    exit 0
fi

# ---- the merged mesh -------------------------------------------------------------------------------------------------
# merge.py SCENE.csv MERGED.ply: of OFF files. No name of SCENE has a comma.
cat > merge.py << 'END'
import csv, fractions, struct, sys
def binary32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]
def number(text):
    return float.fromhex(text) if 'x' in text else float(text)
def read_off(path):
    words = open(path).read().split()
    v, t = int(words[1]), int(words[2])
    xyz = [binary32(float(w)) for w in words[4:4 + 3 * v]]
    corners = [int(w) for w in words[4 + 3 * v:]]
    return [xyz[3 * i:3 * i + 3] for i in range(v)], [corners[4 * i + 1:4 * i + 4] for i in range(t)]
def determinant(m):
    a, b, c = ([fractions.Fraction(x) for x in row[:3]] for row in m)
    return (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]))
vertices, triangles = [], []
for row in csv.DictReader(open(sys.argv[1])):
    m = [[binary32(number(row['m%d%d' % (i, k)])) for k in range(4)] for i in range(3)]
    xyz, corners = read_off(row['mesh'])
    base = len(vertices)
    for x, y, z in xyz:
        vertices.append([binary32(((r[0] * x + r[1] * y) + r[2] * z) + r[3]) for r in m])
    for a, b, c in corners:
        triangles.append([base + a, base + c, base + b] if determinant(m) < 0 else [base + a, base + b, base + c])
with open(sys.argv[2], 'wb') as out:
    out.write(b'ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\n'
              b'property float z\nelement face %d\nproperty list uchar int vertex_indices\nend_header\n'
              % (len(vertices), len(triangles)))
    for v in vertices:
        out.write(struct.pack('<3f', *v))
    for t in triangles:
        out.write(struct.pack('<B3i', 3, *t))
END
# A cube and a tetrahedron with coordinates that round, one of them -0: turned, mirrored, sheared, flat, and mirrored by
# a determinant of -2^-46, which binary32 rounds to 0.
printf '%s\n' OFF '4 4 0' '-0 0.1 0.2' '1.3 -0.3 0.1' '0.2 0.9 -0.1' '0.3 0.4 1.1' '3 0 2 1' '3 0 1 3' '3 1 2 3' \
    '3 2 0 3' > tetra.off
{
    echo $head
    echo cube.off,$identity
    echo tetra.off,0.6,-0.8,0,2.1,0.8,0.6,0,-0.3,0,0,1,0.7
    echo tetra.off,-1,0,0,0.3,0,1,0,2.3,0,0,1,0.1
    echo cube.off,0.7,0.3,-0.1,-2.1,0.2,0.9,0.4,0.1,-0.3,0.1,1.1,0.2
    echo tetra.off,1,0,0,-1.1,0,0,0,2.2,0,0,1,0.5
    echo tetra.off,0x1.000004p0,0x1.000002p0,0,1.1,0x1.000002p0,0x1p0,0,-2,0,0,1,0.3
    echo tetra.off,$identity
} > scene.csv
"$python" merge.py scene.csv merged.ply

same() { # NAME KIND option...: a bake of the scene and of the merged mesh
    local name=$1 kind=$2 format=$3
    shift 3
    rm -f "one.$format" "other.$format"
    bake "$kind" --scene scene.csv "$@" -o "one.$format" 2> stderr.txt || fail "$name" "$(cat stderr.txt)"
    bake "$kind" --mesh merged.ply "$@" -o "other.$format"
    check "$name" cmp "one.$format" "other.$format"
}
more=(--with 'triangle,feature,point,gradient')
for accuracy in fast exact; do
    same "$accuracy: distances" distance vti --dims 14,15,16 "${more[@]}" --accuracy $accuracy
    same "$accuracy: drop" drop vti --ball 0.3 --dims 20,21 --with triangle,feature,point --accuracy $accuracy
    same "$accuracy: clearance" clearance npy --radius 0.4 --dims 14,15,16 --accuracy $accuracy
done
for sign in parity winding robust; do
    same "--sign $sign" distance npy --dims 14,15,16 --sign $sign --allow-open
done
same "a part" distance part --dims 14,15,16 --part 2/3
printf '%s\n' path,x,y,z 1,-3,-2,0.4 1,4,3,0.6 1,0.5,0.5,0.5 2,9,9,9 2,9,9,8 3,0.5,0.5,4 3,0.5,0.5,-2 > paths.csv
for hits in first all any; do
    same "paths: $hits" path csv --paths paths.csv --radius 0.25 --hits $hits
done
bake path --scene scene.csv --paths paths.csv --radius 0.25 --hits all -o rows.csv
equal "paths: triangles are numbered through" yes "$(awk -F, 'NR > 1 && $4 > 23 { found = "yes" }
    END { print found }' rows.csv)"

# ---- parts, and the check --------------------------------------------------------------------------------------------
lattice=(--dims '14,15,16')
bake distance --scene scene.csv "${lattice[@]}" --part 1/2 -o part1
bake distance --mesh merged.ply "${lattice[@]}" --part 2/2 -o part2
bake distance --mesh merged.ply "${lattice[@]}" -o whole.npy
bake join joined.npy part2 part1
check "a part of the scene and one of the merged mesh are joined" cmp whole.npy joined.npy
sed 's/,0.7$/,0.71/' scene.csv > moved.csv
sed "1s/\$/,mask/; 2,\$s/\$/,0xffffffff/; 3s/0xf*\$/1/" scene.csv > masked.csv
for other in moved masked; do
    rm -f part1 part2
    bake distance --scene $other.csv --spacing 0.4 --origin=-3,-3,-3 "${lattice[@]}" --part 2/2 -o part2
    bake distance --scene scene.csv --spacing 0.4 --origin=-3,-3,-3 "${lattice[@]}" --part 1/2 -o part1
    refused "a part of a scene that is $other" 2 'mesh [0-9a-f]+:44 \(there [0-9a-f]+:44\)' bake join no.npy part1 part2
    rm part1 part2
    bake path --scene $other.csv --paths paths.csv --radius 0.25 --part 2/2 -o part2
    bake path --scene scene.csv --paths paths.csv --radius 0.25 --part 1/2 -o part1
    refused "paths: a part of a scene that is $other" 2 'mesh [0-9a-f]+:44 \(there [0-9a-f]+:44\)' bake join no.csv \
        part1 part2
done
bake distance --scene scene.csv "${lattice[@]}" --with triangle -o check.vti
equal "check" "50 of 3360 nodes, 50 of them by the reference: 0 differences" \
    "$(bake check check.vti --scene scene.csv --samples 50)"
refused "check with another scene" 1 'check.vti: was baked from another mesh or scene' bake check check.vti \
    --scene moved.csv
equal "check of paths" "3 of 3 paths, 3 of them by the reference: 0 differences" \
    "$(bake check rows.csv --scene scene.csv --paths paths.csv)"
refused "check of paths with another scene" 1 'rows.csv: was baked from another mesh or scene' bake check rows.csv \
    --scene moved.csv --paths paths.csv

# ---- masks -----------------------------------------------------------------------------------------------------------
# An instance of mask 0 counts for numbers and bounds alone. In front it moves the numbers of all others by 12.
{
    echo $head,mask
    echo cube.off,1,0,0,0.2,0,1,0,0.1,0,0,1,0.3,0
    tail -n +2 scene.csv | sed 's/$/,6/'
} > front.csv
shifted() { # NAME KIND option...: bakes of front.csv and of the merged mesh, whose triangles are 12 fewer
    local name=$1 kind=$2
    shift 2
    rm -f front.vti plain.vti
    bake "$kind" --scene front.csv "$@" -o front.vti
    bake "$kind" --mesh merged.ply "$@" -o plain.vti
    check "$name" "$python" shifted.py plain.vti front.vti
}
cat > shifted.py << 'END'
import array, re, sys
def read(path):
    data = open(path, 'rb').read()
    at = data.index(b'_', data.index(b'<AppendedData')) + 1
    arrays = {}
    for name, offset in re.findall(rb'Name="(\w+)"[^>]*offset="(\d+)"', data[:at]):
        begin = at + int(offset)
        arrays[name] = data[begin + 8:begin + 8 + int.from_bytes(data[begin:begin + 8], 'little')]
    return arrays
plain, front = (read(path) for path in sys.argv[1:3])
numbers = array.array('i', plain[b'triangle'])
plain[b'triangle'] = array.array('i', [n + 12 if n >= 0 else n for n in numbers]).tobytes()
sys.exit(plain != front or len(plain) < 4)
END
around=(--spacing 0.3 --with 'triangle,feature,point')
for accuracy in exact fast; do
    shifted "masks, $accuracy: distances" distance "${around[@]}" --origin=-2,-2,-2 --dims 14,15,16 --accuracy $accuracy
    shifted "masks, $accuracy: drop" drop --ball 0.3 "${around[@]}" --origin=-2,-2 --dims 20,21 --accuracy $accuracy
done
front() { # NAME KIND option...: bakes that hold no triangle
    rm -f front.npy plain.npy
    bake "$2" --scene front.csv "${@:3}" -o front.npy
    bake "$2" --mesh merged.ply "${@:3}" -o plain.npy
    check "$1" cmp plain.npy front.npy
}
around=(--spacing 0.3 '--origin=-2,-2,-2' --dims '14,15,16')
for sign in parity winding robust; do front "masks: --sign $sign" distance "${around[@]}" --sign $sign; done
front "masks: clearance" clearance "${around[@]}" --radius 0.4
bake path --scene front.csv --paths paths.csv --radius 0.25 --hits all -o front.out.csv
awk -F, 'BEGIN { OFS = "," } NR > 1 && $4 >= 0 { $4 += 12 } { print }' rows.csv > wanted.csv
check "masks: paths" cmp wanted.csv front.out.csv
rm check.vti
bake distance --scene front.csv "${around[@]}" --with triangle --sign parity -o check.vti
equal "masks: check" "50 of 3360 nodes, 50 of them by the reference: 0 differences" \
    "$(bake check check.vti --scene front.csv --samples 50)"
equal "masks: check of paths" "3 of 3 paths, 3 of them by the reference: 0 differences" \
    "$(bake check front.out.csv --scene front.csv --paths paths.csv)"

# ---- refused ---------------------------------------------------------------------------------------------------------
bad() { # NAME PATTERN ROW...
    local name=$1 pattern=$2
    shift 2
    printf '%s\n' "$@" > bad.csv
    refused "$name" 2 "$pattern" bake distance --scene bad.csv --spacing 1 -o no.npy
}
bad "a velocity" "bad.csv:1: a bake is of instances at rest, without ux, uy and uz: column 'ux'" $head,ux,uy,uz \
    cube.off,$identity,0,0,0
bad "no instance" 'bad.csv: no instance' $head
bad "no such mesh" none.off $head none.off,$identity
bad "not finite in the world" 'bad.csv: instance 1: vertex 2 is not finite in the world' $head cube.off,$identity \
    cube.off,3e38,0,0,3e38,0,1,0,0,0,0,1,0
printf 'OFF\n3 65536 0\n0 0 0\n1 0 0\n0 1 0\n' > many.off
awk 'BEGIN { for (i = 0; i < 65536; i++) print "3 0 1 2" }' >> many.off
{
    echo $head
    awk -v row=many.off,$identity 'BEGIN { for (i = 0; i < 32768; i++) print row }'
} > many.csv
refused "too many triangles" 2 'many.csv: the instances have 2147483648 triangles together; at most 2\^31 - 1' \
    bake distance --scene many.csv --spacing 1 -o no.npy
for kind in $(all_kinds) path check; do
    case $kind in
    path) own=(--paths paths.csv --radius 1 -o no.csv) ;;
    check) own=(whole.npy) ;;
    *) own=(--spacing 1 -o no.npy) ;;
    esac
    refused "$kind: both" 2 "bake $kind: --mesh and --scene exclude each other" bake "$kind" --mesh cube.off \
        --scene scene.csv "${own[@]}"
done
refused "the scene as output" 2 'scene.csv: is read as an input' bake path --scene scene.csv --paths paths.csv \
    --radius 1 -o scene.csv
cp cube.off named.vti
printf '%s\n' $head named.vti,$identity > names.csv
refused "a mesh of the scene as output" 2 'named.vti: is read as an input' bake distance --scene names.csv \
    --spacing 1 -o named.vti
check "it is still there" cmp cube.off named.vti
refused "more memory than allowed" 2 'max-memory 100: [0-9]+ bytes are needed for the merged mesh of names.csv alone' \
    bake distance --scene names.csv --spacing 1 --max-memory 100 -o no.npy
printf '%s\n' $head ",$identity" > nameless.csv
refused "no path" 2 'nameless.csv:2: mesh: the path is missing' bake distance --scene nameless.csv --spacing 1 -o no.npy
refused "a folder" 2 '/tmp: Is a directory' bake distance --scene /tmp --spacing 1 -o no.npy
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n' > triangle.off
printf '%s\n' $head cube.off,$identity triangle.off,$identity > open.csv
refused "a scene that is not closed" 2 'open.csv: .*edges' bake distance --scene open.csv --spacing 1 \
    --sign parity -o no.npy
nothing "no file of an unfinished bake is left" "$(left)"
check_end
