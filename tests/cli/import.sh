#!/bin/bash
# SPDX-License-Identifier: MIT
# import.sh CAROM: meshes of several parts, as glTF and as COLLADA, which assimp reads. Parts in the order of their
# nodes, each before its children; the transforms of nodes applied, one inside the other; polygons cut where they stand.
# Every triangle is hit by a sphere of its own, so order and place of each are known.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

# spheres ROW...: of radius 1/8, from a centre with a velocity
spheres() {
    echo cx,cy,cz,vx,vy,vz,radius
    printf '%s,0.125\n' "$@"
}
# hits MESH [OPTION...]: triangle and time of each first hit of spheres.csv
hits() {
    local mesh=$1
    shift
    "$carom" sweep --backend cpu --accuracy exact --mesh "$mesh" --spheres spheres.csv "$@" |
        tail -n +2 | cut -d , -f 1,3 | paste -sd ' '
}

has() { "$carom" info --backend cpu | grep '^meshes:' | grep -q "$1"; }

# ---- nodes in nodes --------------------------------------------------------------------------------------------------
# Mesh 0 is a triangle with its right angle in the origin, mesh 1 a square of two triangles at z = 1, mesh 2 a line. The
# numbers in `data` are the corners of 0 and of 1 (binary32) and the indices of 1 (16 bits).
data=AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AACAPwAAAAAAAIA/AACAPwAAgD8AAIA/
data+=AAAAAAAAgD8AAIA/AAABAAIAAAACAAMA
cat > parts.gltf << END
{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 5, 6, 7]}],
 "nodes": [{"name": "left", "translation": [16, 0, 0], "mesh": 0, "children": [1, 2]},
           {"name": "inner", "scale": [2, 2, 2], "mesh": 1, "children": [3]},
           {"name": "mirror", "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 8, 0, 1], "mesh": 1},
           {"name": "deep", "translation": [0, 0, 4], "mesh": 0},
           {"name": "child", "mesh": 1},
           {"name": "turned", "matrix": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, -8, 0, 0, 1], "mesh": 0, "children": [4]},
           {"name": "wire", "mesh": 2},
           {"name": "plain", "mesh": 0}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]},
            {"primitives": [{"attributes": {"POSITION": 1}, "indices": 2}]},
            {"primitives": [{"attributes": {"POSITION": 3}, "mode": 1}]}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
               {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 1], "max": [1, 1, 1]},
               {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"},
               {"bufferView": 0, "componentType": 5126, "count": 2, "type": "VEC3", "min": [0, 0, 0],
                "max": [1, 0, 0]}],
 "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 48},
                 {"buffer": 0, "byteOffset": 84, "byteLength": 12}],
 "buffers": [{"byteLength": 96, "uri": "data:application/octet-stream;base64,$data"}]}
END
check_nodes() {
    "$carom" info --backend cpu --mesh parts.gltf > info.txt
    equal "nodes: parts" "triangles: 10
parts: 8
  part 0: 1 triangles from 0, left
  part 1: 2 triangles from 1, inner
  part 2: 1 triangles from 3, deep
  part 3: 2 triangles from 4, mirror
  part 4: 1 triangles from 6, turned
  part 5: 2 triangles from 7, child
  part 6: 0 triangles from 9, wire
  part 7: 1 triangles from 9, plain
lower: -9 0 0
upper: 18 9 8" "$(grep -E '^(triangles|parts|  part|lower|upper)' info.txt)"
    equal "nodes: what was changed" "6 parts were placed by the transforms of their nodes
1 of them are mirrored: corners 1 and 2 of each of their triangles changed places, so that the same side looks outwards
1 lines were dropped" "$(sed -n 's/^changed: \([0-9]\)/\1/p' info.txt)"

    # From below onto each of the triangles in turn, onto those that lie behind another from above.
    spheres 16.25,0.25,-4,0,0,1 17.75,0.75,-4,0,0,1 16.5,1.5,-4,0,0,1 16.5,0.5,16,0,0,-1 15.25,8.25,-4,0,0,1 \
        15.75,8.75,-4,0,0,1 -8.25,0.25,-4,0,0,1 -8.25,0.75,16,0,0,-1 -8.75,0.25,16,0,0,-1 0.25,0.25,-4,0,0,1 \
        > spheres.csv
    equal "nodes: each triangle in its place" \
        "0,3.875 1,5.875 2,5.875 3,7.875 4,4.875 5,4.875 6,3.875 7,14.875 8,14.875 9,3.875" "$(hits parts.gltf)"
    equal "nodes: all faces look up, the mirrored ones too" \
        "-1,inf -1,inf -1,inf 3,7.875 -1,inf -1,inf -1,inf 7,14.875 8,14.875 -1,inf" "$(hits parts.gltf --cull-back)"
}
if has 'OFF, glTF'; then
    check_nodes
else
    skip "nodes" "built without jansson (Debian: libjansson-dev)"
fi

# ---- polygons --------------------------------------------------------------------------------------------------------
if ! has 'by assimp'; then
    skip "polygons" "built without assimp (Debian: libassimp-dev)"
    check_end
    exit
fi
# A square, a triangle and a pentagon, lifted by 1/2; and in a child turned about y, so that x' = z and z' = -x.
cat > polygons.dae << 'END'
<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p">
<float_array id="a" count="36">0 0 0 2 0 0 2 2 0 0 2 0 4 0 0 6 0 0 4 2 0 8 0 0 10 0 0 12 2 0 10 4 0 8 2 0</float_array>
<technique_common><accessor source="#a" count="12" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="3"><input semantic="VERTEX" source="#v" offset="0"/>
<vcount>4 3 5</vcount><p>0 1 2 3 4 5 6 7 8 9 10 11</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">
<node id="n"><translate>0 0 0.5</translate><instance_geometry url="#g"/>
<node id="m"><matrix>0 0 1 0 0 1 0 0 -1 0 0 0 0 0 0 1</matrix><instance_geometry url="#g"/></node></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
END
"$carom" info --backend cpu --mesh polygons.dae > info.txt
equal "polygons: parts" "triangles: 12
parts: 2
  part 0: 6 triangles from 0, n
  part 1: 6 triangles from 6, m
lower: 0 0 -11.5
upper: 12 4 0.5" "$(grep -E '^(triangles|parts|  part|lower|upper)' info.txt)"
# onto NAME WANTED ROW...: together these spheres hit just the triangles WANTED, each of them after the same time
onto() {
    local name=$1 wanted=$2
    shift 2
    spheres "$@" > spheres.csv
    equal "polygons: $name" "$wanted" "$(hits polygons.dae | tr ' ' '\n' | sort -u | paste -sd ' ')"
}
onto "the square" "0,3.375 1,3.375" 1,0.25,4,0,0,-1 1,1.75,4,0,0,-1 0.25,1,4,0,0,-1 1.75,1,4,0,0,-1
onto "the triangle" "2,3.375" 4.25,0.25,4,0,0,-1 5.5,0.25,4,0,0,-1 4.25,1.5,4,0,0,-1
onto "the pentagon" "3,3.375 4,3.375 5,3.375" 8.25,0.25,4,0,0,-1 9.75,0.25,4,0,0,-1 11.5,2,4,0,0,-1 10,3.5,4,0,0,-1 \
    8.25,2,4,0,0,-1
onto "the square of the child" "6,3.875 7,3.875" -4,0.25,-0.5,1,0,0 -4,1.75,-0.5,1,0,0 -4,1,0.25,1,0,0 -4,1,-1.25,1,0,0
onto "the triangle of the child" "8,3.875" -4,0.25,-3.75,1,0,0 -4,0.25,-5,1,0,0 -4,1.5,-3.75,1,0,0
# A polygon whose inward corner stands twice: nothing is covered beside it.
sed 's/count="[0-9]*">[-0-9. ]*<\/float_array>/count="21">0 0 0 2 0 0 2 1 0 1 1 0 1 1 0 1 2 0 0 2 0<\/float_array>/
    s/count="[0-9]*" stride/count="7" stride/; s/<polylist count="3">/<polylist count="1">/
    s/<vcount>.*<\/p>/<vcount>7<\/vcount><p>0 1 2 3 4 5 6<\/p>/' polygons.dae > inward.dae
spheres 1.5,1.5,4,0,0,-1 1.25,1.25,4,0,0,-1 1.5,0.5,4,0,0,-1 0.5,1.5,4,0,0,-1 > spheres.csv
equal "polygons: an inward corner twice" "-1 -1 hit hit" "$(hits inward.dae | tr ' ' '\n' | cut -d , -f 1 |
    sed 's/^[0-9].*/hit/' | paste -sd ' ')"
# A mirror, and in it another, which makes none: all faces look up.
sed 's/<translate>0 0 0.5</<scale>-1 1 1</; s/<\/translate>/<\/scale>/
    s/<matrix>[-0-9 ]*</<matrix>-1 0 0 0 0 1 0 0 0 0 1 8 0 0 0 1</' polygons.dae > mirrored.dae
equal "polygons: one part mirrored, one twice" "1 of them are mirrored" \
    "$("$carom" info --backend cpu --mesh mirrored.dae | grep -o '[0-9]* of them are mirrored')"
spheres 0,1,300,0,0,-1 | sed 's/0.125$/256/' > spheres.csv
equal "polygons: mirrored, seen from above" "0 1 2 3 4 5 6 7 8 9 10 11" \
    "$("$carom" sweep --backend cpu --accuracy exact --mesh mirrored.dae --spheres spheres.csv --cull-back --hits all |
        tail -n +2 | cut -d , -f 2 | sort -n | paste -sd ' ')"
onto "beside them" "-1,inf" 3,1,4,0,0,-1 7,1,4,0,0,-1 6,2,4,0,0,-1 12,0.5,4,0,0,-1
check_end
