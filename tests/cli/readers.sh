#!/bin/bash
# SPDX-License-Identifier: MIT
# readers.sh CAROM: mesh files as programs write them: byte order marks, line ends, comments, numbers, headers. The same
# shape is written in every manner, and `carom info` must say the same of it; what is no such file is refused in words.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

# info FILE: what is said of it but its name, or the refusal
info() { "$carom" info --backend cpu --mesh "$1" 2>&1 | sed 's/^mesh: .*//' || true; }
# same NAME FILE: as plain.EXTENSION says
same() {
    local wanted got
    wanted=$(cat "plain.${2##*.}.txt")
    got=$(info "$2")
    if [ "$wanted" = "$got" ]; then pass "$1"; else fail "$1" "wanted: $wanted
got:    $got"; fi
}
# refused NAME FILE PATTERN: exit status 2, and the file's name and the pattern in one sentence
refused() {
    local status=0
    "$carom" info --backend cpu --mesh "$2" > out.txt 2> err.txt || status=$?
    if [ $status = 2 ] && [ ! -s out.txt ] && grep -qE "^carom: $2.*$3" err.txt; then
        pass "$1"
    else
        fail "$1" "status $status: $(cat out.txt err.txt)"
    fi
}
# says NAME FILE PATTERN: it is read, and this is said
says() {
    local status=0
    "$carom" info --backend cpu --mesh "$2" > out.txt 2> err.txt || status=$?
    if [ $status = 0 ] && grep -qE "$3" out.txt; then
        pass "$1"
    else
        fail "$1" "status $status: $(cat out.txt err.txt)"
    fi
}
bom=$'\357\273\277'

# ---- encodings and line ends, in every text format -------------------------------------------------------------------
cat > plain.obj << 'END'
v 1 2 4
v 2.5 2 4
v 1 3 4
v 1 2 8
o first
f 1 2 3
o second
f 1 2 4
END
cat > plain.off << 'END'
OFF
4 2 0
1 2 4
2.5 2 4
1 3 4
1 2 8
3 0 1 2
3 0 1 3
END
cat > plain.stl << 'END'
solid first
facet normal 0 0 1
outer loop
vertex 1 2 4
vertex 2.5 2 4
vertex 1 3 4
endloop
endfacet
endsolid first
solid second
facet normal 0 0 1
outer loop
vertex 1 2 4
vertex 2.5 2 4
vertex 1 2 8
endloop
endfacet
endsolid second
END
cat > plain.ply << 'END'
ply
format ascii 1.0
comment as plain as can be
element vertex 4
property float x
property float y
property float z
element face 2
property list uchar int vertex_indices
end_header
1 2 4
2.5 2 4
1 3 4
1 2 8
3 0 1 2
3 0 1 3
END
for kind in obj off stl ply; do
    info plain.$kind > plain.$kind.txt
    says "$kind: plain" plain.$kind '^lower: 1 2 4$'
    says "$kind: both triangles" plain.$kind '^triangles: 2$'
    (printf %s "$bom" && cat plain.$kind) > bom.$kind
    sed 's/$/\r/' plain.$kind > crlf.$kind
    tr '\n' '\r' < plain.$kind > cr.$kind
    (printf %s "$bom" && cat crlf.$kind) > bomcrlf.$kind
    (printf %s "$bom" && cat cr.$kind) > bomcr.$kind
    head -c -1 plain.$kind > noend.$kind
    head -c -1 cr.$kind > noendcr.$kind
    (cat plain.$kind && printf '\032') > controlz.$kind
    (cat crlf.$kind && head -c 100 /dev/zero) > zeros.$kind
    sed 's/^/ \t /; s/ /\t \f/g; s/$/\v\t/' plain.$kind > spaces.$kind
    sed 's/$/\n\n/' plain.$kind > lines.$kind
    for way in bom crlf cr bomcrlf bomcr noend noendcr controlz zeros spaces lines; do
        same "$kind: $way" $way.$kind
    done
    printf '\377\376v\0 \0001\0' > utf16le.$kind
    printf '\376\377\0v\0 \0001' > utf16be.$kind
    printf '\377\376\0\0v\0\0\0' > utf32le.$kind
    printf '\0\0\376\377\0\0\0v' > utf32be.$kind
    refused "$kind: UTF-16, little endian" utf16le.$kind 'UTF-16'
    refused "$kind: UTF-16, big endian" utf16be.$kind 'UTF-16'
    refused "$kind: UTF-32, little endian" utf32le.$kind 'UTF-32'
    refused "$kind: UTF-32, big endian" utf32be.$kind 'UTF-32'
    sed 's/./&\x00/g' plain.$kind > nomark.$kind
    refused "$kind: UTF-16 without a mark" nomark.$kind ''
done
for kind in stl ply; do # these are known by how they begin
    cp bomcr.$kind named-so-$kind
    says "$kind: known behind a mark" named-so-$kind "$([ $kind = stl ] && echo STL || echo PLY)"
done

# ---- binary PLY: the body begins behind whatever ends the header, and its bytes are left alone -----------------------
# The first corner is (0x1p-128f's neighbour 0x0a0d0a0d in bytes, 0, 0), the bytes that line ends are made of.
body='\r\n\r\n\0\0\0\0\0\0\0\0' # 0x0a0d0a0d
body+='\0\0\200\077\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\077\n\r\032\0\003\0\0\0\0\001\0\0\0\002\0\0\0'
for end in '\n' '\r\n' '\r'; do
    for front in '' "$bom"; do
        # shellcheck disable=SC2059 # the texts are formats
        {
            printf "$front"
            for line in ply 'format binary_little_endian 1.0' 'element vertex 3' 'property float x' 'property float y' \
                'property float z' 'element face 1' 'property list uchar int vertex_indices' end_header; do
                printf "$line$end"
            done
            printf "$body"
        } > body.ply
        says "binary ply: lines end in $end${front:+, with a mark}" body.ply '^lower: 0 0 0$'
        says "binary ply: lines end in $end${front:+, with a mark}: all is read" body.ply '^changed: nothing$'
    done
done

# ---- comments and words ----------------------------------------------------------------------------------------------
{
    echo '# a comment'
    echo '#and another'
    sed 's/$/ # behind/; s/o first/o Cube#1/' plain.obj
} > comments.obj
says "obj: a name that holds #" comments.obj '^  part 0: 1 triangles from 0, Cube#1$'
says "obj: comments behind statements" comments.obj '^upper: 2.5 3 8$'
sed 's/^[0-9].*/&\t#behind/; 1s/$/ #/' plain.off > comments.off
same "off: comments" comments.off
sed 's/first/first#1/' plain.stl > hash.stl
says "stl: a name that holds #" hash.stl 'from 0, first#1$'
sed 's/^v 1 2 8/v 1 2 8#glued/' plain.obj > glued.obj
refused "obj: # glued to a number" glued.obj ':4: expected three numbers'
printf 'v 1 2 4\nv 2.5 2 \\\n4\nv 1\\\n3 4\nv 1 2 8\no first\nf 1 \\\n2 3\no second\nf 1 2\\\n\n\nf 1 2 \\  \r\n4' \
    > continued.obj
says "obj: lines that go on: vertices" continued.obj '^upper: 2.5 3 8$'
says "obj: lines that go on: faces" continued.obj '^triangles: 2$'
says "obj: a line goes on with an empty one" continued.obj '^changed: 1 lines were dropped$'
printf 'vt 0 \\\n0\nmtllib C:\\new\\\n' | cat - plain.obj > folder.obj
same "obj: a texture coordinate in two lines, and a folder's name" folder.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 \\ 2 3\n' > inside.obj
refused "obj: a backslash inside a line" inside.obj ':4: expected corners'

# ---- numbers ---------------------------------------------------------------------------------------------------------
for number in 1.#QNAN0 1.#SNAN -1.#IND -1.#INF00 '-nan(ind)' 1e999; do
    sed "s/^v 1 2 8/v 1 2 $number/" plain.obj > number.obj
    sed "s/^1 2 8/1 2 $number/" plain.off > number.off
    sed "s/^1 2 8/1 2 $number/" plain.ply > number.ply
    sed "s/^vertex 1 2 8/vertex 1 2 $number/" plain.stl > number.stl
    for kind in obj off ply stl; do
        says "$kind: $number is not finite" number.$kind '^not usable: 1 corners are not finite$'
    done
done
printf 'cx,cy,cz,radius,vx,vy,vz\n1.25,2.25,9,0,0,0,-1\n' > one.csv
for number in 1.#QNAN -1.#IND; do
    sed "s/^v 1 2 8/v 1 2 $number/" plain.obj > number.obj
    status=0
    "$carom" sweep --backend cpu --mesh number.obj --spheres one.csv > out.txt 2> err.txt || status=$?
    if [ $status = 2 ] && grep -q number.obj err.txt; then
        pass "$number: no sweep"
    else
        fail "$number: no sweep" "$(cat out.txt err.txt)"
    fi
done
sed 's/^v 1 2 4$/v 1 2 4\nvn 1.#QNAN 0 -1.#IND/' plain.obj > normals.obj
same "obj: normals that are not finite" normals.obj
sed 's/^OFF/NOFF/; s/^1 2 8/1 2 8 -1.#IND 1.#QNAN0 0/; s/^1 2 4/& 0 0 1/; s/^2.5.*/& 0 0 1/; s/^1 3 4/& 0 0 1/' \
    plain.off > normals.off
same "off: normals that are not finite" normals.off
sed 's/^facet normal.*/facet normal -1.#IND 1.#QNAN0 nan/' plain.stl > normals.stl
same "stl: normals that are not finite" normals.stl
# Faces in front of their vertices, strips behind them too; each triangle keeps its place in the file.
sed -n '1,3p; 8,9p; 4,7p; 10p; 15,16p; 11,14p' plain.ply > faces.ply
same "ply: faces in front of their vertices" faces.ply
# ordered FACES FORMAT: faces, vertices, a strip
ordered() {
    local byte
    printf '%s\n' ply "format $2 1.0" "element face $1" 'property uchar colour' \
        'property list uchar uchar vertex_indices' 'property list uchar uchar more' 'element other 1' \
        'property uchar some' 'element vertex 4' 'property uchar x' 'property uchar y' 'property uchar z' \
        'element tristrips 1' 'property list uchar char vertex_indices' end_header
    for byte in 9 3 0 1 2 2 5 6 8 3 0 1 3 0 7 0 0 0 1 0 0 0 1 0 0 0 1 4 0 1 2 3; do
        [ "$2" = ascii ] && echo $byte || printf %b "\\x0$byte"
    done
}
printf '%s\n' cx,cy,cz,radius 0.1,0.1,-0.1,0 0.1,-0.1,0.1,0 0.5,0.5,0.1,0 > near.csv
for format in ascii binary_little_endian binary_big_endian; do
    ordered 2 $format > order.ply
    equal "ply, $format: faces, then vertices, then a strip" "0 1 3" "$("$carom" overlap --backend cpu --hits closest \
        --accuracy exact --mesh order.ply --spheres near.csv | tail -n +2 | cut -d , -f 1 | paste -sd ' ')"
    says "ply, $format: all of them" order.ply '^triangles: 4$'
    ordered 3 $format > order.ply
    refused "ply, $format: a face too many in front" order.ply ''
done
sed '/^element vertex/,/^property float z/d; /^1 /d; /^2.5/d' plain.ply > alone.ply
refused "ply: faces without vertices" alone.ply 'has faces and no vertices'
sed '/^property float z/a property float nx' plain.ply |
    sed 's/^1 2 8$/1 2 8 1.#QNAN/; s/^1 2 4$/& 0/; s/^2.5.*/& 0/; s/^1 3 4$/& -1.#IND/' > normals.ply
same "ply: normals that are not finite" normals.ply
for number in 1.#QNAM 1.# 1.#QNAN1 1.5f 0x 1..5 1d5; do
    sed "s/^v 1 2 8/v 1 2 $number/" plain.obj > bad.obj
    refused "obj: $number is no number" bad.obj ':4: expected three numbers'
done
sed 's/^v 2.5 2 4/v 0x1.4p+1 +2.0000000000000000000000000000000000000000000000000000000000000000000000000 4e0/' \
    plain.obj > hex.obj
same "obj: numbers in other spellings" hex.obj

# ---- counts ----------------------------------------------------------------------------------------------------------
for count in 5 999999999999999999; do
    sed "s/^4 2 0/$count 2 0/" plain.off > count.off
    refused "off: $count vertices" count.off ".*($count|expected|ends)"
    sed "s/^4 2 0/4 $count 0/" plain.off > count.off
    refused "off: $count faces" count.off ".*($count|ends)"
    sed "s/^element face 2/element face $count/" plain.ply > count.ply
    refused "ply: $count faces" count.ply ''
done
sed 's/^4 2 0/4000000000 2 0/' plain.off > count.off
refused "off: the number is said" count.off 'announces 4000000000 vertices'
for count in 18446744073709551620 9223372036854775808 -1 ''; do
    sed "s/^4 2 0/$count 2 0/" plain.off > count.off
    refused "off: '$count' vertices" count.off 'expected'
    sed "s/^element vertex 4/element vertex $count/" plain.ply > count.ply
    refused "ply: '$count' vertices" count.ply 'expected'
    sed "s/^3 0 1 2/$count 0 1 2/" plain.off > count.off
    refused "off: '$count' corners" count.off 'expected'
done
for corner in 4294967296 18446744073709551617 9223372036854775807 -9223372036854775808 0; do
    sed "s/^f 1 2 3/f $corner 2 3/" plain.obj > corner.obj
    refused "obj: corner $corner" corner.obj ':6:'
done

# ---- headers ---------------------------------------------------------------------------------------------------------
off() { # NAME HEADER...: plain.off with these lines in place of its first two
    local name=$1
    shift
    (printf '%s\n' "$@" && tail -n +3 plain.off) > header.off
    same "$name" header.off
}
off_refused() { # NAME PATTERN HEADER...
    local name=$1 pattern=$2
    shift 2
    (printf '%s\n' "$@" && tail -n +3 plain.off) > header.off
    refused "$name" header.off "$pattern"
}
off "off: glued to the counts" 'OFF4 2 0'
off "off: counts in its line" 'OFF 4 2 0'
off "off: no number of edges" OFF '4 2'
off "off: lower case" off '4 2 0'
off "off: comments around the header" '# one' 'OFF # two' '# three' '4 2 0 # four'
off "off: colours announced, glued" 'COFF4 2 6'
off "off: texture coordinates and colours announced" STCOFF '4 2 6'
off "off: nOFF of three dimensions" nOFF 3 '4 2 0'
off "off: nOFF of three dimensions in one line" 'nOFF 3 4 2 0'
off_refused "off: nOFF of four dimensions" '3 for the number of coordinates' nOFF 4 '4 2 0'
off_refused "off: nOFF is not NOFF" '3 for the number of coordinates' 'nOFF 4 2 0'
off_refused "off: CnOFF of two dimensions" '3 for the number of coordinates' CnOFF 2 '4 2 0'
off_refused "off: 4OFF" '4OFF' 4OFF '4 2 0'
off_refused "off: 4nOFF" '4OFF' 4nOFF 3 '4 2 0'
off_refused "off: binary" 'binary OFF' 'OFF BINARY' '4 2 0'
off_refused "off: another word" 'expected OFF' OFFS '4 2 0'
off_refused "off: glued to something else" 'expected OFF' 'OFFx4 2 0'
off_refused "off: glued to a negative number" 'expected OFF' 'OFF-4 2 0'
off_refused "off: words behind the counts" 'edges' OFF '4 2 many'
off_refused "off: numbers behind the counts" 'nothing behind' OFF '4 2 0 7'

sed 's/endloop/end loop/; s/endfacet/end\tfacet/; s/endsolid/end solid/' plain.stl > words.stl
same "stl: ends in two words" words.stl
sed 's/endloop/ENDLOOP/; s/endfacet/End Facet/; s/solid/SOLID/; s/vertex/VERTEX/' plain.stl > upper.stl
same "stl: capitals" upper.stl
sed 's/endloop/end facet/' plain.stl > wrong.stl
refused "stl: another end" wrong.stl ":7: expected 'endloop'"
sed 's/endsolid first/end first/' plain.stl > wrong.stl
refused "stl: an end of something else" wrong.stl ':9: expected'
head -n -1 plain.stl > cut.stl
says "stl: the last endsolid is missing: read" cut.stl '^triangles: 2$'
says "stl: the last endsolid is missing: said" cut.stl "^changed: an 'endsolid' is missing"
sed '/endsolid first/d' plain.stl > cut.stl
says "stl: the first endsolid is missing: both parts" cut.stl '^parts: 2$'
says "stl: the first endsolid is missing: said" cut.stl "^changed: an 'endsolid' is missing"
for lines in 12 15 16; do
    head -n $lines plain.stl > cut.stl
    refused "stl: cut in line $lines" cut.stl 'expected'
done
head -c -20 plain.stl > cut.stl
refused "stl: cut inside a word" cut.stl 'expected'

# ---- polygons --------------------------------------------------------------------------------------------------------
# Balls of radius 0 fall onto a polygon whose inward corner is written twice, and one point of it under another number.
inside() { # NAME FILE: hits of 8 balls, each inside one triangle or outside all
    printf 'cx,cy,cz,radius,vx,vy,vz\n' > balls.csv
    printf '%s,1,0,0,0,-1\n' 4,0.75 4.25,2.5 1,0.125 7,0.125 1.5,1 2,1.5 5,2 4.5,5 >> balls.csv
    local got
    got=$("$carom" sweep --backend cpu --mesh "$2" --spheres balls.csv --hits all | tail -n +2 | cut -d , -f 1 |
        paste -sd ' ')
    if [ "$got" = "1 4 5 6 7" ]; then pass "$1"; else fail "$1" "hit: $got"; fi
}
points='v 0 0 0\nv 4 1 0\nv 8 0 0\nv 4 6 0\nv 4 1 -0\n'
for face in '1 2 3 4' '1 2 2 3 4' '1 2 5 3 4' '5 2 3 3 4 4 1 1 5' '1 5 2 5 2 3 4 1' '-5 -4 -4 -4 -3 -2 -5'; do
    # shellcheck disable=SC2059 # the text is a format
    printf "${points}f $face\n" > face.obj
    inside "polygon: f $face" face.obj
    says "polygon: f $face: two triangles" face.obj '^triangles: 2$'
done
# shellcheck disable=SC2059
printf "${points}f 1 2 5 3 3 4 1\n" > face.obj
says "polygon: repeats are said" face.obj '^changed: 3 corners of polygons were left out'
# shellcheck disable=SC2059
printf "${points}f 2 5 2 5\nf 1 2 3\n" > face.obj
says "polygon: a point is dropped" face.obj '^changed: 1 points were dropped'
# A ring of 3000 corners, every second of them inwards: no fan from its first corner is right.
awk 'BEGIN { n = 3000
    for (i = 0; i < n; i++) {
        r = i % 2 ? 1 : 2; a = 6.283185307179586 * i / n
        printf "v %.9g %.9g 0\n", r * cos(a), r * sin(a)
    }
    printf "f"; for (i = 1; i <= n; i++) printf " %d", i; print "" }' > long.obj
says "polygon: 3000 corners" long.obj '^triangles: 2998$'
says "polygon: 3000 corners: not a fan" long.obj '^changed: 1 polygons'
if grep -q fans out.txt; then
    fail "polygon: 3000 corners: no fan" "$(cat out.txt)"
else
    pass "polygon: 3000 corners: no fan"
fi
printf 'v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nv 0.25 0.5 0\nf 1 2 3 4 5\nf 1 2 3 4\n' > bow.obj
says "polygon: what crosses itself is said" bow.obj 'were cut as fans, because they cross themselves'

# ---- names that tell nothing -----------------------------------------------------------------------------------------
for kind in obj off; do
    cp plain.$kind other.bak
    equal "$kind: by how it begins" "$(sed 's/plain[.][a-z]*/other.bak/' plain.$kind.txt)" "$(info other.bak)"
    cp bom.$kind other
    equal "$kind: by how it begins, behind a mark" "$(sed 's/plain[.][a-z]*/other/' plain.$kind.txt)" "$(info other)"
done
check_end
