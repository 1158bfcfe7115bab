#!/bin/bash
# SPDX-License-Identifier: MIT
# site.sh SOURCE SPHINX DOXYGEN: the documents as a site. It is built without a warning, every link, anchor and picture
# is there, every function, structure and class of the headers and of the Python package has its place, and a browser
# shows the pictures, fits the pages on a phone and finds a function. No page loads anything from elsewhere.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
here=$(dirname "$(realpath "$0")") source=$(realpath "$1") sphinx=$2 doxygen=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python=$(python_with sphinx myst_parser breathe furo)
if [ -z "$python" ]; then
    skip "the site" "no Sphinx, MyST, Breathe or Furo (Debian: python3-sphinx python3-myst-parser python3-breathe furo)"
    check_end
    exit
fi

make_site() { # SOURCE OUTPUT
    cmake -DSPHINX="$sphinx" -DDOXYGEN="$doxygen" -DVERSION=0 -DOUTPUT="$2" -P "$1/cmake/site.cmake"
}
check "builds without a warning" make_site "$source" site
html=$work/site/html
if [ ! -s "$html/index.html" ]; then
    check_end
    exit
fi

# ---- links -----------------------------------------------------------------------------------------------------------
check "every link, anchor and picture is there, and nothing is loaded from elsewhere" \
    "$python" "$here/site.py" "$html"
absent=''
for document in "$source"/*.md "$source"/docs/*.md; do
    page=${document#"$source"/}
    [ -s "$html/${page%.md}.html" ] || absent+="$page"$'\n'
done
for header in "$source"/include/carom/*.h; do
    page=$html/api/$(basename "$header" .h).html
    # Functions, and structures with a body.
    for name in $(sed -nE 's/^(CAROM_API|static inline).*[ *](carom_[a-z0-9_]*)\(.*/\2/p' "$header") \
        $(sed -n 's/^typedef struct \(carom_[a-z_]*\) {$/\1/p' "$header"); do
        grep -q "id=\"c\\.$name\"" "$page" || absent+="$name"$'\n'
    done
done
nothing "every document, function and structure is there" "$absent"
check "a member has its place" grep -q 'id="c\.carom_mesh_desc\.vertex_count"' "$html/api/mesh.html"

# Names that pages have, in lines such as `carom.Mesh.closest py:method 1 PAGE -`.
"$python" -c 'import sys, zlib; print(zlib.decompress(sys.stdin.buffer.read().split(b"\n", 4)[4]).decode())' \
    < "$html/objects.inv" > names
nameless() { # the patterns on standard input that no line has
    local pattern
    while read -r pattern; do grep -qE "^$pattern" names || echo "$pattern"; done
}
nothing "every class, function and query of the C++ header is there" "$(sed -nE -e 's/ \{ .*//' \
    -e 's/^(template <.*> )?struct ([a-z_]+).*/carom::\2 cpp:class/p' \
    -e 's/^[a-z].*[ *]([a-z_]+)\(.*/carom::\1 cpp:function/p' \
    -e 's/^    CAROM_HPP_QUERY\(([a-z_]+),.*/carom::[a-z_]+::\1 cpp:function/p' \
    "$source/include/carom/carom.hpp" | nameless)"
check "its declarations lead to structures of C" grep -q 'href="mesh.html#c.carom_mesh_desc"' "$html/api/carom.hpp.html"

if "$python" -c 'import cffi, numpy' 2> none; then
    cd site/python/carom
    {
        echo 'carom.State.MISS py:attribute'
        grep -oE '\w+ as [A-Za-z]\w+' __init__.py | sed 's/.* /carom./; s/$/ py:/'
        sed -nE 's/^class (\w+)\((NamedTuple|Word)\).*/carom.\1 py:class/p' _{calls,enums,infos}.py
        awk -F '[ (:]+' '/^class / { name = $2 } /^    def [a-z]/ { print name "." $3 " py:(method|property)" }' \
            _{buffer,context,job,lattice,mesh}.py _calls.pyi | grep -v ^Started |
            sed -E 's/^\w+Calls/[A-Z][a-z]+/; s/^/carom./'
    } > "$work/wanted"
    cd "$work"
    nothing "every class, function and method of the Python package is there" "$(nameless < wanted)"
    check "a parameter has an entry" grep -q '<dt><code .*>max_distance</span>' "$html/api/python/meshes.html"
    check "docstrings lead to enumerators" \
        grep -q 'href="enumerators.html#carom.Feature"' "$html/api/python/meshes.html"
    check "documents lead to methods" \
        grep -q 'href="../api/python/meshes.html#carom.Mesh.closest"' "$html/docs/python.html"
else
    skip "the pages of the Python package" "no cffi or NumPy (Debian: python3-cffi python3-numpy)"
fi
mkdir lacks
echo 'import sys; sys.modules["cffi"] = None' > lacks/sitecustomize.py
poor() { PYTHONPATH=$work/lacks make_site "$source" poor > poor.txt 2>&1 || { cat poor.txt; false; }; }
check "without cffi it builds too" poor
check "and says so" grep -q 'the site has no pages of the Python package' poor.txt
check "every link is there then" "$python" "$here/site.py" poor/html

# The crawler itself, on what it must find.
cp -r "$html" broken
finds() { # NAME FILE SED: a broken page is found
    cp "broken/$2" kept
    sed -i "$3" "broken/$2"
    check "a test of the test: $1" eval "! cmp -s kept broken/$2 && ! '$python' '$here/site.py' broken"
    mv kept "broken/$2"
}
finds "a dead link" docs/index.html 's/href="lammps.html"/href="lamps.html"/'
finds "a dead anchor" docs/index.html 's/href="#bake"/href="#cake"/g'
finds "a picture that is absent" docs/baking.html 's/drop[.]png/dorp.png/'
finds "a picture from elsewhere" docs/baking.html 's#src="[^"]*drop[.]png#src="https://example.org/drop.png#'

# ---- a browser -------------------------------------------------------------------------------------------------------
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    skip "in a browser" "none (Debian: chromium)"
    check_end
    exit
fi
see() { # FOLDER: what the page browser.html says of all pages of the site
    (cd "$1" && find . -name '*.html' | sort | sed 's/.*/"&",/' > "$work/list")
    sed -e "/const pages/r $work/list" "$here/site_browser.html" > "$1/browser.html"
    HOME=$work timeout 300 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
        --user-data-dir="$work/profile" --virtual-time-budget=600000 --dump-dom "file://$1/browser.html" \
        2> browser.log | sed -n 's/^said: //p' > said.txt
}
check "a browser opens all pages" see "$html"
pages=$(find "$html" -name '*.html' ! -name browser.html | wc -l)
equal "the browser has seen all pages" "$pages pages" "$(sed -n 's/^seen \([0-9]* pages\),.*/\1/p' said.txt)"
check "and pictures" grep -qE '^seen .*, [1-9][0-9]* pictures$' said.txt
nothing "pictures are shown, no page is wider than a phone, search finds" "$(grep -v '^seen ' said.txt || true)"
mkdir -p blind/docs
cp -r "$html"/{_images,_static} blind
cp "$html"/docs/baking.html blind/docs
find blind -name '*.png' -exec truncate -s 100 {} +
see "$work/blind" || true
check "a test of the test: a damaged picture" grep -q 'is not shown' said.txt
check_end
