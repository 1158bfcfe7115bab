#!/bin/bash
# SPDX-License-Identifier: MIT
# gltf.sh CAROM: glTF 2.0 and GLB. Positions of every kind that the format has, transforms, scenes, modes; and files
# that are wrong, want what is not read, or ask for more than they hold, each refused in a sentence that names file and
# place.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

if "$carom" info --backend cpu | grep -q 'without jansson'; then
    skip "glTF" "built without jansson (Debian: libjansson-dev)"
    check_end
    exit
fi

# ---- making files ----------------------------------------------------------------------------------------------------
u8() {
    local n byte
    for n in "$@"; do
        printf -v byte '\\x%02x' $((n & 255))
        printf %b "$byte"
    done
}
u16() { local n; for n in "$@"; do u8 "$n" $((n >> 8)); done; }
u32() { local n; for n in "$@"; do u16 "$n" $((n >> 16)); done; }
f32() { # of the numbers that the tests need
    local n
    for n in "$@"; do
        case $n in
        0) u32 0 ;; 0.5) u32 0x3f000000 ;; 1) u32 0x3f800000 ;; 2) u32 0x40000000 ;; 3) u32 0x40400000 ;;
        4) u32 0x40800000 ;; 8) u32 0x41000000 ;; -1) u32 0xbf800000 ;;
        esac
    done
}
base64_of() { base64 -w 0; }

# doc: a triangle in the plane z = 0. A variable set before the call stands in for a part of it.
triangle() { f32 0 0 0 1 0 0 0 1 0 && u16 0 1 2 0; } # 36 bytes and 8
triangle_data=$(triangle | base64_of)
# The quotes of JSON are no quotes of the shell.
# shellcheck disable=SC2089,SC2090
defaults() {
    asset='{"version": "2.0"}' scene='"scene": 0,' scenes='[{"nodes": [0]}]' nodes='[{"mesh": 0}]'
    primitive='{"attributes": {"POSITION": 0}, "indices": 1}' mesh=''
    positions='{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}'
    indices='{"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}' accessors=''
    view0='{"buffer": 0, "byteLength": 36}' view1='{"buffer": 0, "byteOffset": 36, "byteLength": 6}' views=''
    data=$triangle_data bytes=44 uri='' buffers='' extra=''
}
doc() {
    : "${uri:=data:application/octet-stream;base64,$data}"
    cat << END
{"asset": $asset, $scene "scenes": $scenes, "nodes": $nodes, "meshes": [{"primitives": [$primitive]$mesh}],
 "accessors": [$positions, $indices$accessors], "bufferViews": [$view0, $view1$views],
 "buffers": ${buffers:-[{\"byteLength\": $bytes, \"uri\": \"$uri\"\}]}$extra}
END
}
glb() { # JSON-FILE BIN-FILE: with its own sizes, which `length`, `json_length` and `bin_length` may belie
    local json bin
    json=$(stat -c %s "$1") bin=$(stat -c %s "$2")
    printf glTF && u32 "${version:-2}" "${length:-$((28 + json + bin))}"
    u32 "${json_length:-$json}" && printf JSON && cat "$1"
    u32 "${bin_length:-$bin}" && printf 'BIN\0' && cat "$2"
}

# ---- looking at them -------------------------------------------------------------------------------------------------
# reported FILE: what `carom info` says of it that depends on the file's contents
reported() {
    "$carom" info --backend cpu --mesh "$1" 2>&1 | grep -E '^(carom|triangles|vertices|lower|upper|changed: [^n])' |
        paste -sd ' '
}
plain='triangles: 1 vertices: 3 lower: 0 0 0 upper: 1 1 0'
# read NAME WANTED [VARIABLE=VALUE...]: doc with these variables is read as that
read_as() {
    local name=$1 wanted=$2 change
    shift 2
    defaults
    for change in "$@"; do printf -v "${change%%=*}" %s "${change#*=}"; done
    doc > m.gltf
    equal "$name" "$wanted" "$(reported m.gltf)"
}
# refused_file NAME PATTERN FILE: with status 2, the file's name, PATTERN, and nothing else; in 1 GiB and 60 s
refused_file() {
    local status=0
    (
        if [ "$limited" = yes ]; then ulimit -v 1000000; fi
        timeout 60 "$carom" info --backend cpu --mesh "$3" > out.txt 2> err.txt
    ) || status=$?
    if [ "$status" -eq 2 ] && [ ! -s out.txt ] && [ "$(wc -l < err.txt)" -eq 1 ] && grep -qF "$3: " err.txt &&
        grep -qE -- "$2" err.txt; then
        pass "$1"
    else
        fail "$1" "status $status, wanted 2 and /$2/: $(head -n 3 err.txt out.txt)"
    fi
}
refuse() { # NAME PATTERN [VARIABLE=VALUE...]
    local name=$1 pattern=$2 change
    shift 2
    defaults
    for change in "$@"; do printf -v "${change%%=*}" %s "${change#*=}"; done
    doc > m.gltf
    refused_file "$name" "$pattern" m.gltf
}
limited=yes # a sanitizer reserves terabytes
if ! (ulimit -v 1000000 && "$carom" --version > /dev/null 2>&1); then limited=no; fi

# ---- positions -------------------------------------------------------------------------------------------------------
read_as "float" "$plain"
read_as "without indices" "$plain" primitive='{"attributes": {"POSITION": 0}}'
# integer NAME TYPE NORMALIZED BOUNDS BYTES-COMMAND...: a triangle of three positions, each padded to a stride
integer() {
    local name=$1 type=$2 normalized=$3 bounds=$4 stride points
    shift 4
    "$@" > bin
    stride=$(($(stat -c %s bin) / 3))
    u16 0 1 2 0 >> bin
    points="\"componentType\": $type, \"normalized\": $normalized, \"count\": 3, \"type\": \"VEC3\""
    read_as "$name" "triangles: 1 vertices: 3 $bounds changed: 1 parts have positions in integers: they became floats" \
        positions="{\"bufferView\": 0, $points}" \
        view0="{\"buffer\": 0, \"byteLength\": $((3 * stride)), \"byteStride\": $stride}" \
        view1="{\"buffer\": 0, \"byteOffset\": $((3 * stride)), \"byteLength\": 6}" \
        bytes=$((3 * stride + 8)) data="$(base64_of < bin)"
}
integer "u8" 5121 false "lower: 0 7 0 upper: 255 51 0" u8 0 7 0 0 255 7 0 0 0 51 0 0
integer "u8, normalised" 5121 true "lower: 0 0 0 upper: 1 0.200000003 0" u8 0 0 0 0 255 0 0 0 0 51 0 0
integer "i8" 5120 false "lower: -128 -1 0 upper: 127 5 0" u8 -128 -1 0 9 127 0 0 9 0 5 0 9
integer "i8, normalised" 5120 true "lower: -1 -0.00787401572 0 upper: 1 0.503937006 0" u8 -128 -1 0 0 127 0 0 0 0 64 0 0
integer "u16" 5123 false "lower: 0 0 1 upper: 65535 300 1" u16 0 0 1 0 65535 0 1 0 0 300 1 0
integer "u16, normalised" 5123 true "lower: 0 0 0 upper: 1 0.200000003 0" u16 0 0 0 0 65535 0 0 0 0 13107 0 0
integer "i16" 5122 false "lower: -32768 -2 0 upper: 32767 300 0" u16 -32768 -2 0 0 32767 0 0 0 0 300 0 0
integer "i16, normalised" 5122 true "lower: -1 0 0 upper: 1 0.333323151 0" u16 -32768 0 0 0 32767 0 0 0 0 10922 0 0
for type in 5124 5125 5130 0; do
    refuse "positions of type $type" "accessor 0: POSITION of component type $type" \
        positions="{\"bufferView\": 0, \"componentType\": $type, \"count\": 3, \"type\": \"VEC3\"}"
done
for type in SCALAR VEC2 VEC4 MAT3; do
    refuse "positions as $type" "accessor 0: POSITION of type $type, not VEC3" \
        positions="{\"bufferView\": 0, \"componentType\": 5126, \"count\": 1, \"type\": \"$type\"}"
done
# Corners and something else in turns, from the second element on.
{ f32 8 8 8 && u32 1 && f32 0 0 0 && u32 2 && f32 1 0 0 && u32 3 && f32 0 1 0 && u32 4 && u16 0 1 2 0; } > bin
read_as "interleaved" "$plain" data="$(base64_of < bin)" bytes=72 \
    positions='{"bufferView": 0, "byteOffset": 8, "componentType": 5126, "count": 3, "type": "VEC3"}' \
    view0='{"buffer": 0, "byteOffset": 8, "byteLength": 52, "byteStride": 16}' \
    view1='{"buffer": 0, "byteOffset": 64, "byteLength": 6}'

# ---- sparse ----------------------------------------------------------------------------------------------------------
{ triangle && f32 0 4 0 3 3 3 && u8 1 2 1 9; } > bin
sparse='"sparse": {"count": 2, "indices": {"bufferView": 3, "componentType": 5121}, "values": {"bufferView": 2}}'
sparse_views=', {"buffer": 0, "byteOffset": 44, "byteLength": 24}, {"buffer": 0, "byteOffset": 68, "byteLength": 4}'
sparse_accessor() { printf '{%s "componentType": 5126, "count": %s, "type": "VEC3", %s}' "$1" "$2" "$3"; }
read_as "sparse" "triangles: 1 vertices: 3 lower: 0 0 0 upper: 3 4 3" data="$(base64_of < bin)" bytes=72 \
    views="$sparse_views" positions="$(sparse_accessor '"bufferView": 0,' 3 "$sparse")"
read_as "sparse upon nothing" "triangles: 1 vertices: 3 lower: 0 0 0 upper: 3 4 3" data="$(base64_of < bin)" bytes=72 \
    views="$sparse_views" positions="$(sparse_accessor '' 3 "$sparse")"
refuse "sparse index beyond" 'accessor 0: sparse index 1 is 2' data="$(base64_of < bin)" bytes=72 \
    views="$sparse_views" positions="$(sparse_accessor '' 2 "$sparse")" 
refuse "sparse indices that do not increase" 'accessor 0: sparse index 1 is 1' data="$(base64_of < bin)" bytes=72 \
    views="${sparse_views/68, \"byteLength\": 4/69, \"byteLength\": 3}" positions="$(sparse_accessor '' 10 "$sparse")"
refuse "sparse values beyond their view" 'accessor 0: its elements end at byte 24 of bufferView 2, which has 12' \
    data="$(base64_of < bin)" bytes=72 views="${sparse_views/24/12}" positions="$(sparse_accessor '' 3 "$sparse")"
refuse "no data at all" 'accessor 0: it has neither' positions="$(sparse_accessor '' 3 '"max": [1, 1, 1]')"

# ---- indices ---------------------------------------------------------------------------------------------------------
index_file() { # BYTES-COMMAND...
    f32 0 0 0 1 0 0 0 1 0 > bin
    "$@" >> bin
    base64_of < bin
}
read_as "u8 indices" "$plain" data="$(index_file u8 2 0 1)" bytes=39 \
    view1='{"buffer": 0, "byteOffset": 36, "byteLength": 3}' \
    indices='{"bufferView": 1, "componentType": 5121, "count": 3, "type": "SCALAR"}'
read_as "u32 indices" "$plain" data="$(index_file u32 2 0 1)" bytes=48 \
    view1='{"buffer": 0, "byteOffset": 36, "byteLength": 12}' \
    indices='{"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"}'
read_as "four corners" "$plain changed: 1 corners that make no triangle were dropped" \
    indices='{"bufferView": 1, "componentType": 5123, "count": 4, "type": "SCALAR"}' \
    view1='{"buffer": 0, "byteOffset": 36, "byteLength": 8}'
refuse "an index beyond" 'accessor 1: one of its indices is 3, but mesh 0 has 3 positions' \
    data="$(index_file u16 0 1 3 0)"
refuse "restart, u16" 'accessor 1: .*65535, a primitive restart' data="$(index_file u16 0 1 65535 0)"
refuse "restart, u8" 'accessor 1: .*255, a primitive restart' data="$(index_file u8 0 1 255 0 0 0 0 0)" \
    indices='{"bufferView": 1, "componentType": 5121, "count": 3, "type": "SCALAR"}'
refuse "indices in floats" 'accessor 1: indices of component type 5126' \
    indices='{"bufferView": 1, "componentType": 5126, "count": 1, "type": "SCALAR"}'
refuse "signed indices" 'accessor 1: indices of component type 5122' \
    indices='{"bufferView": 1, "componentType": 5122, "count": 3, "type": "SCALAR"}'

# ---- sizes that lie --------------------------------------------------------------------------------------------------
p='"componentType": 5126, "type": "VEC3"'
refuse "more positions than the view" 'accessor 0: its elements end at byte 48 of bufferView 0, which has 36' \
    positions="{\"bufferView\": 0, \"count\": 4, $p}"
for n in 4294967295 1099511627776 9223372036854775807; do
    refuse "$n positions" 'accessor 0: count is not a whole number' positions="{\"bufferView\": 0, \"count\": $n, $p}"
    refuse "offset $n" 'accessor 0: (its elements end|byteOffset is not)' \
        positions="{\"bufferView\": 0, \"byteOffset\": $n, \"count\": 3, $p}"
    refuse "view from $n" 'bufferView 0: (it ends|byteOffset is not)' \
        view0="{\"buffer\": 0, \"byteOffset\": $n, \"byteLength\": 36}"
    refuse "view of $n" 'bufferView 0: (it ends|byteLength is not)' view0="{\"buffer\": 0, \"byteLength\": $n}"
    refuse "stride $n" 'bufferView 0: byteStride is not' view0="{\"buffer\": 0, \"byteLength\": 36, \"byteStride\": $n}"
    refuse "buffer of $n" 'buffer 0: (its data|byteLength is not)' bytes="$n"
done
refuse "4294967294 positions" 'accessor 0: its elements end' positions="{\"bufferView\": 0, \"count\": 4294967294, $p}"
refuse "as many upon nothing" 'm.gltf: (needs|its nodes show)' primitive='{"attributes": {"POSITION": 0}, "mode": 5}' \
    positions="$(sparse_accessor '' 4294967294 "${sparse//: [0-9]*, \"ind/: 1, \"ind}")" data="$(base64_of < bin)" \
    views=', {"buffer": 0, "byteLength": 12}, {"buffer": 0, "byteOffset": 12, "byteLength": 4}'
for n in -1 0 2.5 '"3"' null '[3]'; do
    refuse "$n positions" 'accessor 0: count is' positions="{\"bufferView\": 0, \"count\": $n, $p}"
done
read_as "3.0 positions" "$plain" positions="{\"bufferView\": 0, \"count\": 3.0, $p}"
refuse "stride 8" 'bufferView 0: byteStride is 8, but an element has 12' \
    view0='{"buffer": 0, "byteLength": 36, "byteStride": 8}'
refuse "a view that is not there" 'accessor 0: bufferView names bufferView 2, but the file has 2' \
    positions="{\"bufferView\": 2, \"count\": 3, $p}"
refuse "a buffer that is not there" 'bufferView 0: buffer names buffer 1' view0='{"buffer": 1, "byteLength": 36}'
refuse "an accessor that is not there" 'mesh 0: POSITION names accessor 7' primitive='{"attributes": {"POSITION": 7}}'
refuse "a mesh that is not there" 'node 0: mesh names mesh 1' nodes='[{"mesh": 1}]'
refuse "no primitives" 'mesh 0: it has no primitives' primitive=''
refuse "mode 7" 'mesh 0: mode is not' primitive='{"attributes": {"POSITION": 0}, "mode": 7}'

# ---- buffers ---------------------------------------------------------------------------------------------------------
triangle > 'a b.bin'
mkdir -p folder && mkfifo pipe && ln -s 'a b.bin' link && ln -s /dev/zero zero && triangle > folder/in.bin
head -c 43 link > short.bin
read_as "a file beside" "$plain" uri=a%20b.bin
read_as "a link to one" "$plain" uri=link
read_as "in a folder" "$plain" uri=folder/in.bin
cp a\ b.bin kept.bin
read_as "a file that an output would replace" "$plain" uri=kept.bin
status=0
"$carom" info --backend cpu --mesh m.gltf -o kept.bin 2> stderr.txt || status=$?
equal "an output in the place of a file beside: status" 2 $status
check "it is refused" grep -q 'kept.bin: is read as an input, which the output would replace' stderr.txt
check "and the file stays" cmp a\ b.bin kept.bin
refuse "/dev/zero" "buffer 0: .*leaves the folder" uri=/dev/zero
refuse "a link to /dev/zero" "buffer 0: 'zero' is not a regular file" uri=zero
refuse "a pipe" "buffer 0: 'pipe' is not a regular file" uri=pipe
refuse "a folder" "buffer 0: 'folder' is not a regular file" uri=folder
refuse "beyond the folder" "buffer 0: .*leaves the folder" uri=../x.bin
refuse "beyond it in disguise" "buffer 0: .*leaves the folder" uri=folder/%2e%2E/%2e./x.bin
refuse "a file: URI" "buffer 0: 'file:///dev/zero' is not a file beside" uri=file:///dev/zero
refuse "a remote one" "buffer 0: 'https://x/y.bin' is not a file beside" uri=https://x/y.bin
refuse "a zero in the name" "buffer 0: .*is not a URI" uri=link%00.bin
refuse "none" "buffer 0: 'none.bin' cannot be opened" uri=none.bin
refuse "a short one" "buffer 0: 'short.bin' has 43 bytes, but its byteLength is 44" uri=short.bin
refuse "short base64" "buffer 0: its data: URI" data="$(triangle | head -c 40 | base64_of)"
refuse "no base64" "buffer 0: its data: URI is not in base64" uri=data:,abc
refuse "bad base64" "buffer 0: its data: URI is not base64" data="$(triangle | base64_of | tr A '*')"
refuse "no uri" "buffer 0: it has no uri" buffers='[{"byteLength": 44}]'
# Buffers that no position needs are not opened.
read_as "a picture's buffer" "$plain" \
    buffers="[{\"byteLength\": 44, \"uri\": \"link\"}, {\"byteLength\": 9, \"uri\": \"none.bin\"}]"

# ---- extensions ------------------------------------------------------------------------------------------------------
read_as "required, of appearance" "$plain" \
    extra=', "extensionsUsed": ["KHR_materials_unlit"],
             "extensionsRequired": ["KHR_materials_unlit", "KHR_texture_transform", "KHR_lights_punctual"]'
for name in EXT_mesh_gpu_instancing EXT_meshopt_compression KHR_materialsX ACME_fold KHR_mesh_quantization2; do
    refuse "required: $name" "requires the extension $name, which is not read" \
        extra=", \"extensionsUsed\": [\"$name\"], \"extensionsRequired\": [\"KHR_mesh_quantization\", \"$name\"]"
done
refuse "extensionsRequired is no list" 'extensionsRequired is not an array' extra=', "extensionsRequired": "X"'
read_as "used, unknown" "$plain changed: extensions that are not read: ACME_a, ACME_b" \
    extra=', "extensionsUsed": ["ACME_a", "KHR_xmp", "ACME_b"]'
instancing='"extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0}}}'
refuse "instancing, not required" 'node 0: it repeats its mesh by EXT_mesh_gpu_instancing' \
    nodes="[{\"mesh\": 0, $instancing}]" \
    extra=', "extensionsUsed": ["EXT_mesh_gpu_instancing"]'
meshopt='"extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteLength": 9}}'
read_as "compressed, with a copy" "$plain changed: uncompressed copies of compressed parts were read" \
    view0="{\"buffer\": 0, \"byteLength\": 36, $meshopt}"
refuse "compressed, without" 'bufferView 0: it is compressed \(EXT_meshopt_compression\)' \
    view0="{\"buffer\": 1, \"byteLength\": 36, $meshopt}" \
    buffers='[{"byteLength": 44, "uri": "link"},
              {"byteLength": 36, "extensions": {"EXT_meshopt_compression": {"fallback": true}}}]'
draco='"extensions": {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}}'
read_as "Draco, with a copy" "$plain changed: uncompressed copies of compressed parts were read" \
    primitive="{\"attributes\": {\"POSITION\": 0}, \"indices\": 1, $draco}" \
    extra=', "extensionsUsed": ["KHR_draco_mesh_compression"]'
refuse "Draco that is none" '' primitive="{\"attributes\": {\"POSITION\": 0}, $draco}" positions="{\"count\": 3, $p}" \
    extra=', "extensionsRequired": ["KHR_draco_mesh_compression"]'

# ---- versions, JSON and containers -----------------------------------------------------------------------------------
refuse "version 1.0" "asset.version is '1.0'; glTF 2.0 alone is read" asset='{"version": "1.0"}'
refuse "version 3.0" "asset.version is '3.0'" asset='{"version": "3.0"}'
refuse "no version" "asset.version is missing" asset='{}'
refuse "a later reader" "asset.minVersion is not 2.0" asset='{"version": "2.1", "minVersion": "2.1"}'
refuse "a member twice" 'JSON, line [0-9]+' extra=', "nodes": []'
refuse "a number beyond all" 'JSON, line 1' nodes='[{"mesh": 0, "translation": [1e999, 0, 0]}]'
defaults
{ printf '\xef\xbb\xbf\n ' && doc; } > bom.gltf
equal "a byte order mark" "$plain" "$(reported bom.gltf)"
cp bom.gltf nameless && equal "JSON by its beginning" "$plain" "$(reported nameless)"
head -c 300 bom.gltf > cut.gltf && refused_file "cut off" 'JSON, line' cut.gltf
echo '[1]' > list.gltf && refused_file "a list" 'JSON is not an object' list.gltf
: > empty.gltf && refused_file "nothing" 'JSON, line' empty.gltf
head -c 100000 /dev/zero | tr '\0' '[' > deep.gltf && refused_file "brackets" 'JSON, line' deep.gltf

buffers='[{"byteLength": 44}]'
{ doc && printf '   \0\0'; } > json && triangle > bin
glb json bin > m.glb
equal "GLB" "$plain" "$(reported m.glb)"
cp m.glb nameless.dae && equal "GLB by its beginning" "$plain" "$(reported nameless.dae)"
{ cat m.glb && printf 12345; } > long.glb
equal "GLB with bytes behind" "$plain changed: 5 bytes behind the GLB were not read" "$(reported long.glb)"
head -c -1 m.glb > short.glb && refused_file "GLB cut off" 'GLB header says [0-9]+ bytes' short.glb
head -c 10 m.glb > short.glb && refused_file "GLB of 10 bytes" 'inside the GLB header' short.glb
head -c 12 m.glb > short.glb && refused_file "GLB of a header" 'GLB header says' short.glb
version=1 glb json bin > v.glb && refused_file "GLB of version 1" 'GLB of version 1' v.glb
length=12 glb json bin > l.glb && refused_file "GLB of no chunk" 'no chunk' l.glb
length=15 glb json bin > l.glb && refused_file "GLB that ends in a chunk" 'chunk at byte 12' l.glb
for n in 4294967295 2147483647 100000; do
    json_length=$n glb json bin > l.glb && refused_file "JSON chunk of $n" 'chunk at byte 12' l.glb
    bin_length=$n glb json bin > l.glb && refused_file "BIN chunk of $n" 'chunk at byte [0-9]+ ends behind' l.glb
done
bin_length=40 length=$(($(stat -c %s m.glb) - 4)) glb json bin > l.glb
refused_file "BIN chunk too short" 'buffer 0: its byteLength is 44, but the BIN chunk has 40' l.glb
{
    printf glTF && u32 2 $((12 + 8 + 5 + 4 + $(stat -c %s json))) && u32 5 && printf 'MINE12345' && u32 0 && cat json
} > l.glb
refused_file "GLB without JSON in front" 'first chunk is not JSON' l.glb
{
    printf glTF && u32 2 $((36 + 5 + $(stat -c %s json) + 44)) && u32 "$(stat -c %s json)" && printf JSON && cat json
    u32 5 && printf 'MINE12345' && u32 44 && printf 'BIN\0' && cat bin
} > l.glb
equal "GLB with a chunk of another kind" "$plain" "$(reported l.glb)"

# ---- nodes and scenes ------------------------------------------------------------------------------------------------
refuse "two parents" 'node 2: it is a child twice' nodes='[{"children": [1, 2]}, {"children": [2]}, {"mesh": 0}]'
refuse "one child twice" 'node 1: it is a child twice' nodes='[{"children": [1, 1]}, {"mesh": 0}]'
refuse "its own child" 'node 0: it is a root of scene 0' nodes='[{"mesh": 0, "children": [0]}]'
refuse "a ring" 'node 0: it is a root of scene 0' nodes='[{"mesh": 0, "children": [1]}, {"children": [0]}]'
refuse "a root that is a child" 'node 1: it is a root of scene 0' scenes='[{"nodes": [0, 1]}]' \
    nodes='[{"children": [1]}, {"mesh": 0}]'
refuse "a root twice" 'node 0: it is a root of scene 0' scenes='[{"nodes": [0, 0]}]'
refuse "a bomb of 41 nodes" 'node 1: it is a child twice' \
    nodes="[$(for i in $(seq 40); do printf '{"children": [%d, %d]}, ' "$i" "$i"; done){\"mesh\": 0}]"
refuse "a child that is not there" 'node 0: children names node 9' nodes='[{"mesh": 0, "children": [9]}]'
refuse "children that are none" 'node 0: children is not an array' nodes='[{"mesh": 0, "children": 1}]'
refuse "nested 1002 deep" 'node 1001: it is nested more than 1000 deep' \
    nodes="[$(for i in $(seq 1001); do printf '{"children": [%d]}, ' "$i"; done){\"mesh\": 0}]"
refuse "no scene" 'it has no scene' scenes='[]' scene=''
refuse "a scene that is not there" 'scene names scene 2' scene='"scene": 2,'
moved=' changed: 1 parts were placed by the transforms of their nodes'
read_as "the default scene" "triangles: 1 vertices: 3 lower: 5 5 0 upper: 6 6 0$moved changed: scene 1 of 2 was read, \
counted from 0" scene='"scene": 1,' scenes='[{"nodes": [0]}, {"nodes": [1]}]' \
    nodes='[{"mesh": 0}, {"mesh": 0, "translation": [5, 5, 0]}]'
read_as "no default scene" "$plain changed: scene 0 of 2 was read, counted from 0" scene='' \
    scenes='[{"nodes": [0]}, {"nodes": [1]}]' \
    nodes='[{"mesh": 0}, {"mesh": 0, "translation": [5, 5, 0]}]'

# A quarter turn about z in floats as decimals, behind a scale; one rounding makes whole numbers of it.
read_as "a quarter turn" "triangles: 1 vertices: 3 lower: 8 0 0 upper: 10 2 0$moved changed: 1 of them are mirrored: \
corners 1 and 2 of each of their triangles changed places, so that the same side looks outwards" \
    nodes='[{"mesh": 0, "rotation": [0, 0, 0.70710677, 0.70710677], "scale": [2, -2, 2],
             "translation": [8, 0, 0]}]'
read_as "a matrix" "triangles: 1 vertices: 3 lower: 8 0 0 upper: 10 3 0$moved" \
    nodes='[{"mesh": 0, "matrix": [2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 8, 0, 0, 1]}]'
read_as "an identity" "$plain" nodes='[{"mesh": 0, "rotation": [0, 0, 0, 1], "matrix_": 1, "scale": [1, 1, 1]}]'
refuse "a matrix and a scale" 'node 0: it has a matrix and' \
    nodes='[{"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "scale": [1, 1, 1]}]'
refuse "a matrix that is not affine" 'node 0: matrix is not affine' \
    nodes='[{"mesh": 0, "matrix": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}]'
refuse "a matrix of 15" 'node 0: matrix has 15 numbers' \
    nodes='[{"mesh": 0, "matrix": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0]}]'
refuse "a rotation of zero" 'node 0: rotation is not a unit quaternion' nodes='[{"mesh": 0, "rotation": [0, 0, 0, 0]}]'
refuse "a scale of words" 'node 0: scale holds what is no number' nodes='[{"mesh": 0, "scale": [1, "NaN", 1]}]'
read_as "bones" "$plain changed: 1 parts have bones: they stand as stored, not posed" \
    nodes='[{"mesh": 0, "skin": 0, "translation": [5, 0, 0]}]'

# ---- mirrored parts --------------------------------------------------------------------------------------------------
# faces NAME UP DOWN [VARIABLE=VALUE...]: which triangles look up along z, and which down
faces() {
    local name=$1 up=$2 down=$3 change
    shift 3
    defaults
    for change in "$@"; do printf -v "${change%%=*}" %s "${change#*=}"; done
    doc > m.gltf
    printf '%s\n' cx,cy,cz,vx,vy,vz,radius 4,0,500,0,0,-1,256 > above.csv
    printf '%s\n' cx,cy,cz,vx,vy,vz,radius 4,0,-500,0,0,1,256 > below.csv
    equal "$name" "$up/$down" "$(facing above)/$(facing below)"
}
facing() { # FROM
    "$carom" sweep --backend cpu --accuracy exact --hits all --cull-back --mesh m.gltf --spheres "$1.csv" |
        tail -n +2 | cut -d , -f 2 | sort -n | paste -sd ' '
}
flip='"scale": [-1, 1, 1]'
faces "mirrored: not" 0 ""
faces "mirrored: by a scale" 0 "" nodes="[{\"mesh\": 0, $flip}]"
faces "mirrored: downwards, and turned over" "" 0 nodes='[{"mesh": 0, "scale": [1, 1, -1]}]'
faces "mirrored: by a matrix" 0 "" nodes='[{"mesh": 0, "matrix": [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}]'
faces "mirrored: in its parent" 0 "" nodes="[{$flip, \"children\": [1]}, {\"mesh\": 0, \"translation\": [1, 0, 0]}]"
faces "mirrored twice is not" "" 0 \
    nodes="[{$flip, \"children\": [1]}, {\"mesh\": 0, \"scale\": [1, 1, -1], \"translation\": [1, 0, 0]}]"
faces "mirrored: one mesh, as it is, mirrored and upside down" "0 1 2" "3" scenes='[{"nodes": [0, 1, 2, 3]}]' \
    nodes="[{\"mesh\": 0}, {\"mesh\": 0, $flip}, {\"mesh\": 0, \"translation\": [8, 0, 0]},
            {\"mesh\": 0, \"scale\": [1, 1, -1]}]"
faces "mirrored: flattened to nothing is not" 0 "" nodes='[{"mesh": 0, "scale": [1, 1, 0]}]'
# Along z, where the triangle has no extent, these scales may be anything: the binary64 determinant is 0 or infinite.
faces "mirrored: by less than binary64's smallest" "" 0 nodes='[{"mesh": 0, "scale": [1e-10, 1e-10, -1e-310]}]'
faces "mirrored: by less, and twice" "" 0 nodes='[{"mesh": 0, "scale": [-1e-10, 1e-10, -1e-310]}]'
faces "mirrored: by its smallest" "" 0 nodes='[{"mesh": 0, "scale": [1, 1, -5e-324]}]'
faces "mirrored: by more than its largest" "" 0 nodes='[{"mesh": 0, "scale": [16, 16, -1.7e308]}]'
# The determinant is -2^-60; rounded products make it 0. Without the turn the triangle looks up.
faces "mirrored: by less than an ulp" "" 0 nodes='[{"mesh": 0, "matrix":
    [1, 0, 1.000000000931322574615478515625, 0, 0, 1, 0, 0,
     1.000000000931322574615478515625, 0, 1.00000000186264514923095703125, 0, 0, 0, 0, 1]}]'
{ u8 0 0 0 0 4 0 0 0 0 4 0 0 && u16 0 1 2 0; } > bin
faces "mirrored: quantized" "" 0 nodes='[{"mesh": 0, "scale": [0.25, 0.25, -0.25]}]' \
    data="$(base64_of < bin)" bytes=20 \
    positions='{"bufferView": 0, "componentType": 5121, "count": 3, "type": "VEC3"}' \
    view0='{"buffer": 0, "byteLength": 12, "byteStride": 4}' view1='{"buffer": 0, "byteOffset": 12, "byteLength": 6}'
faces "mirrored: bones, which stand as stored" 0 "" nodes="[{\"mesh\": 0, \"skin\": 0, $flip}]"

# ---- morphing --------------------------------------------------------------------------------------------------------
{ triangle && f32 0 0 2 0 0 4 0 0 8; } > bin
morph=(data="$(base64_of < bin)" bytes=80 views=', {"buffer": 0, "byteOffset": 44, "byteLength": 36}'
    accessors=', {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC3"}'
    primitive='{"attributes": {"POSITION": 0}, "indices": 1, "targets": [{"POSITION": 2}, {"NORMAL": 0}]}')
morphed='changed: 1 parts are morphed by their weights'
read_as "morph targets at rest" "$plain" "${morph[@]}"
read_as "morph weights" "triangles: 1 vertices: 3 lower: 0 0 1 upper: 1 1 4 $morphed" "${morph[@]}" \
    mesh=', "weights": [0.5, 1]'
read_as "a node's own weights" "triangles: 1 vertices: 3 lower: 0 0 -8 upper: 1 1 -2 $morphed" "${morph[@]}" \
    mesh=', "weights": [0.5, 1]' nodes='[{"mesh": 0, "weights": [-1, 0]}]'
refuse "too few weights" 'mesh 0: 1 weights, but mesh 0 has 2 morph targets' "${morph[@]}" mesh=', "weights": [0.5]'
refuse "a target of another size" 'mesh 0: morph target 0 has 2 positions' "${morph[@]}" \
    accessors=', {"bufferView": 2, "componentType": 5126, "count": 2, "type": "VEC3"}'

# ---- modes: triangles in order, each with its face up ----------------------------------------------------------------
# hits MESH: by which triangle spheres from above are met first, back faces left out
hits() {
    "$carom" sweep --backend cpu --accuracy exact --cull-back --mesh "$1" --spheres spheres.csv |
        tail -n +2 | cut -d , -f 1 |
        paste -sd ' '
}
# A ladder, left and right in turns, and a fan about the origin.
mode() { # NAME MODE WANTED SPHERES... -- CORNERS...
    local name=$1 mode=$2 wanted=$3 count
    shift 3
    echo cx,cy,cz,vx,vy,vz,radius > spheres.csv
    while [ "$1" != -- ]; do
        echo "$1,4,0,0,-1,0.125" >> spheres.csv
        shift
    done
    shift
    f32 "$@" > bin
    count=$(($# / 3))
    defaults
    primitive="{\"attributes\": {\"POSITION\": 0}, \"mode\": $mode}" bytes=$((12 * count)) data=$(base64_of < bin)
    positions="{\"bufferView\": 0, \"componentType\": 5126, \"count\": $count, \"type\": \"VEC3\"}"
    view0="{\"buffer\": 0, \"byteLength\": $((12 * count))}"
    doc > m.gltf
    equal "$name" "$wanted" "$(hits m.gltf)"
}
mode "strip" 5 "0 1 2 3 -1" 0.25,0.25 0.75,0.75 0.25,1.25 0.75,1.75 3,3 -- 0 0 0 1 0 0 0 1 0 1 1 0 0 2 0 1 2 0
mode "fan" 6 "0 1 -1" 0.75,0.25 0.25,0.75 3,3 -- 0 0 0 1 0 0 1 1 0 0 1 0
reported m.gltf > /dev/null
for kind in "0 4 points" "1 2 lines" "2 4 lines" "3 3 lines"; do
    read -r number dropped what <<< "$kind"
    sed "s/\"mode\": 6}/\"mode\": $number}, {\"attributes\": {\"POSITION\": 0}, \"mode\": 6}/" m.gltf > lines.gltf
    equal "mode $number" "triangles: 2 vertices: 4 lower: 0 0 0 upper: 1 1 0 changed: $dropped $what were dropped" \
        "$(reported lines.gltf)"
done

# ---- sizes that multiply ---------------------------------------------------------------------------------------------
# Parts of one node share the vertices of an accessor, and parts of others take those alone that they use.
head -c 1200000 /dev/zero > many.bin
many=(uri=many.bin bytes=1200000 positions="{\"bufferView\": 0, \"count\": 99999, $p}"
    view0='{"buffer": 0, "byteLength": 1199988}'
    view1='{"buffer": 0, "byteOffset": 1199988, "byteLength": 6}')
copies=$(for _ in $(seq 999); do printf '{"attributes": {"POSITION": 0}, "indices": 1}, '; done)
read_as "1000 parts of one accessor" "triangles: 1000 vertices: 1 lower: 0 0 0 upper: 0 0 0" "${many[@]}" \
    primitive="$copies{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}"
places=$(for i in $(seq 999); do printf '{"mesh": 0, "translation": [%d, 0, 0]}, ' "$i"; done)
read_as "1000 nodes of one accessor" "triangles: 1000 vertices: 1000 lower: 0 0 0 upper: 999 0 0 \
changed: 999 parts were placed by the transforms of their nodes" "${many[@]}" \
    nodes="[$places{\"mesh\": 0}]" scenes="[{\"nodes\": [$(seq -s , 0 999)]}]"
# 10^5 triangles by each of 1000 nodes are more than 1 GiB, which refuse sets.
if [ "$limited" = yes ]; then
    refuse "1000 nodes of 99997 triangles" 'm.gltf: needs [0-9.]+ GiB of memory; the limit is' "${many[@]}" \
        primitive='{"attributes": {"POSITION": 0}, "mode": 5}' nodes="[$places{\"mesh\": 0}]" \
        scenes="[{\"nodes\": [$(seq -s , 0 999)]}]"
else
    skip "1000 nodes of 99997 triangles" "a limit of address space and this build do not go together"
fi
check_end
