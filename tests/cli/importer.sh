#!/bin/bash
# SPDX-License-Identifier: MIT
# importer.sh CAROM: the process in which assimp works. It ends with the command, on a signal at once, and at limits of
# memory and time that the message names. The files are small and ask for as much as a machine has.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
check_begin "$1"

if ! "$carom" info --backend cpu | grep -q 'by assimp'; then
    skip "the importer's process" "built without assimp (Debian: libassimp-dev)"
    check_end
    exit
fi

# collada LEVELS: a triangle, twice in a node, which is twice in the next, and so on
collada() {
    local i
    cat << 'END'
<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_nodes><node id="n0"><instance_geometry url="#g"/></node>
END
    for ((i = 0; i < $1; i++)); do
        echo "<node id=\"n$((i + 1))\"><instance_node url=\"#n$i\"/><instance_node url=\"#n$i\"/></node>"
    done
    cat << END
</library_nodes>
<library_visual_scenes><visual_scene id="s"><node id="r"><instance_node url="#n$1"/></node></visual_scene>
</library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
END
}
collada 3 > small.dae
collada 40 > bomb.dae

# refuse NAME FILE PATTERN [ULIMIT-OPTION...]: status 2 and one line that begins with the file and has PATTERN
refuse() {
    local name=$1 file=$2 pattern="^carom: $2: .*$3" status=0
    shift 3
    (
        if [ $# -gt 0 ]; then ulimit "$@"; fi
        exec timeout 300 "$carom" info --mesh "$file"
    ) > out.txt 2> err.txt || status=$?
    grep -v ': importing, ' err.txt > other.txt || true
    if [ $status -eq 2 ] && [ ! -s out.txt ] && [ "$(wc -l < other.txt)" -eq 1 ] &&
        grep -qE -- "$pattern" other.txt; then
        pass "$name"
    else
        fail "$name" "status $status, wanted 2 and /$pattern/: $(cat err.txt)"
    fi
}
if [ "$("$carom" info --backend cpu --mesh small.dae | grep -E '^(triangles|parts)' | paste -sd ' ')" \
    = "triangles: 8 parts: 8" ]; then
    pass "nodes that repeat a mesh"
else
    fail "nodes that repeat a mesh"
fi

# ---- memory ----------------------------------------------------------------------------------------------------------
# A gigabyte of zeros and some XML around them, zipped to a megabyte.
three_mf() {
    local schemas=http://schemas.openxmlformats.org/package/2006 microsoft=http://schemas.microsoft.com/3dmanufacturing
    local package=application/vnd.openxmlformats-package.relationships+xml
    local model=application/vnd.ms-package.3dmanufacturing-3dmodel+xml
    mkdir -p mf/3D mf/_rels
    cat > 'mf/[Content_Types].xml' << END
<?xml version="1.0"?><Types xmlns="$schemas/content-types"><Default Extension="rels" ContentType="$package"/>
<Default Extension="model" ContentType="$model"/></Types>
END
    cat > mf/_rels/.rels << END
<?xml version="1.0"?><Relationships xmlns="$schemas/relationships"><Relationship Target="/3D/3dmodel.model" Id="r"
Type="$microsoft/2013/01/3dmodel"/></Relationships>
END
    {
        echo "<?xml version=\"1.0\"?><model unit=\"millimeter\" xmlns=\"$microsoft/core/2015/02\">"
        echo '<resources><object id="1" type="model"><mesh><vertices>'
        yes '<vertex x="0" y="0" z="0"/>' | head -n 7000000
        echo '</vertices><triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object></resources>'
        echo '<build><item objectid="1"/></build></model>'
    } > mf/3D/3dmodel.model
    (cd mf && cmake -E tar cf ../bomb.3mf --format=zip '[Content_Types].xml' _rels 3D)
    rm -r mf
}
limit="needs more than its limit of memory, [0-9.]+ [MG]iB \(1 GiB and 512 times the file, "
limit+="at most half of what is free\)"
if (ulimit -v 700000 && "$carom" --version > /dev/null 2>&1); then
    refuse "memory: nodes that double" bomb.dae "$limit" -v 700000
    if three_mf 2> err.txt; then
        refuse "memory: a zip that unfolds" bomb.3mf "$limit" -v 700000
    else
        skip "memory: a zip that unfolds" "no cmake -E tar --format=zip"
    fi
else
    skip "memory" "a limit of address space and this build do not go together"
fi

# ---- time ------------------------------------------------------------------------------------------------------------
# A large file may take more memory, so that the time ends first however fast the machine is.
{
    cat bomb.dae
    echo '<!--'
    head -c 16000000 /dev/zero | tr '\0' ' '
    echo '-->'
} > slow.dae
refuse "time" slow.dae "worked for longer than its limit, 1 s" -S -t 1

# ---- what is no file -------------------------------------------------------------------------------------------------
mkfifo pipe.dae
ln -s /dev/zero zero.blend
refuse "a pipe" pipe.dae "not a regular file"
refuse "a device" zero.blend "not a regular file"
# A scene that names another file.
lightwave() { printf 'LWSC\n3\n\nLoadObjectLayer 1 %s\nObjectMotion\nNumChannels 0\n' "$1"; }
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > part.obj
mkfifo pipe.obj
lightwave part.obj > scene.lws
lightwave pipe.obj > pipe.lws
check "a scene that names a file" "$carom" info --backend cpu --mesh scene.lws
refuse "a scene that names a pipe" pipe.lws "holds no triangles"

# ---- signals ---------------------------------------------------------------------------------------------------------
child_of() { grep -lsx "PPid:[[:space:]]*$1" /proc/[0-9]*/status | head -n 1 | cut -d / -f 3; }
await_child() { # PARENT: the child's number
    local child='' i
    for ((i = 0; i < 500; i++)); do
        child=$(child_of "$1" || true)
        if [ -n "$child" ]; then break; fi
        sleep 0.02
    done
    echo "$child"
}
is_gone() { # PROCESS: within some seconds
    local i
    for ((i = 0; i < 250; i++)); do
        if ! kill -0 "$1" 2> /dev/null; then return 0; fi
        sleep 0.02
    done
    kill -9 "$1" 2> /dev/null || true
    return 1
}
# signal NAME NUMBER WORD TARGET: - for the whole group, as a terminal does it, or nothing for the command alone
signal() {
    local command child status=0
    set -m
    "$carom" info --mesh bomb.dae > out.txt 2> err.txt &
    command=$!
    set +m
    child=$(await_child "$command")
    sleep 0.1
    kill "-$3" -- "$4$command"
    { wait "$command" || status=$?; } 2> /dev/null
    if [ -z "$child" ]; then
        fail "$1" "there was no child to be seen"
    elif ! is_gone "$child"; then
        fail "$1" "the importer lived on"
    elif [ "$status" -ne $((128 + $2)) ] || [ -s out.txt ] || [ -s err.txt ]; then
        fail "$1" "status $status: $(cat out.txt err.txt)"
    else
        pass "$1"
    fi
}
signal "SIGKILL of the command" 9 KILL ''
signal "SIGINT of the command" 2 INT ''
signal "SIGTERM of the command" 15 TERM ''
signal "SIGINT of the terminal" 2 INT -
signal "SIGHUP of the terminal" 1 HUP -

# ---- progress --------------------------------------------------------------------------------------------------------
# `script` gives it a terminal. The child is stopped, so that the import lasts however fast the machine is.
if command -v script > /dev/null; then
    TERM=xterm script -qfec "echo \$\$ > command.pid; exec '$carom' info --mesh bomb.dae" /dev/null \
        > screen.txt 2>&1 < /dev/null &
    for ((i = 0; i < 500; i++)); do
        if [ -s command.pid ]; then break; fi
        sleep 0.02
    done
    child=$(await_child "$(cat command.pid)")
    kill -STOP "$child"
    for ((i = 0; i < 500; i++)); do
        if grep -q 'bomb.dae: importing, 3 s' screen.txt; then break; fi
        sleep 0.02
    done
    kill -KILL "$child"
    wait
    if grep -q 'bomb.dae: importing, 3 s' screen.txt && grep -q 'importer was killed' screen.txt; then
        pass "a terminal sees the seconds"
    else
        fail "a terminal sees the seconds" "$(cat -v screen.txt)"
    fi
else
    skip "a terminal sees the seconds" "no script (Debian: bsdutils)"
fi
# The same import in the form for programs, stopped until the first report is there.
"$carom" info --mesh bomb.dae --progress json > out.txt 2> err.txt &
child=$(await_child $!)
kill -STOP "$child"
for ((i = 0; i < 500; i++)); do
    if [ -s err.txt ]; then break; fi
    sleep 0.02
done
kill -KILL "$child"
wait
check "a program sees an object" grep -qE \
    '^\{"job": "bomb.dae: importing", "unit": null, "done": null, .*"seconds": [0-9.]+, "left": null\}$' err.txt
check_end
