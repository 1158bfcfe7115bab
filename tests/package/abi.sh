#!/bin/bash
# SPDX-License-Identifier: MIT
# abi.sh SOURCE LIBRARY [--write]: the binary interface of LIBRARY against that in tests/package/libcarom.abi, with
# abidiff, and its functions against debian/libcarom0.2.symbols. --write stores what LIBRARY has, in both. LIBRARY has
# debugging information of host/ (tests/CMakeLists.txt).
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1") library=$(realpath "$2") mode=${3:-}
stored=$source/tests/package/libcarom.abi symbols=$source/debian/libcarom0.2.symbols
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

exported=$("${NM:-nm}" -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort)
nothing "the symbols file of Debian's package has every function, and no other" \
    "$(diff <(echo "$exported") <(sed -n 's/^ \(.*\)@Base .*/\1/p' "$symbols" | LC_ALL=C sort) || true)"
if ! command -v abidiff > /dev/null; then
    skip "the binary interface" "no abidiff (Debian: abigail-tools)"
    check_end
    exit
fi

# What is behind the handles is nobody's business: structures that the headers do not define.
headers=$source/include/carom
handles=$(sed -n 's/^typedef struct \(carom_[a-z_]*\) \1;.*/\1/p' "$headers"/*.h | while read -r name; do
    grep -q "^typedef struct $name {" "$headers"/*.h || echo "$name"
done | paste -sd '|')
abidw --headers-dir "$headers" --drop-private-types --no-elf-needed --no-parameter-names --no-show-locs \
    --no-corpus-path --no-comp-dir-path --exported-interfaces-only --type-id-style hash --out-file "$work/all" \
    "$library"
# abidw knows headers by their names alone, and host/ has some of these too. The folder of the sources does not count.
awk -v handles="^($handles)\$" '
    skipped { skipped = !/^    <\/class-decl>/; next }
    match($0, /^    <class-decl name=.[a-z_]*/) {
        name = substr($0, RSTART + 22, RLENGTH - 22)
        if (name ~ handles && !/is-declaration-only/) {
            skipped = !/\/>$/
            sub(/ size-in-bits=.[0-9]*./, "")
            sub(/ id=/, " is-declaration-only=\"yes\" id=")
            sub(/\/?>$/, "/>")
            gsub(/"/, "\047")
        }
    }
    { print }' "$work/all" | sed -e "s#path='[^']*/host/#path='host/#" > "$work/now"
if [ "$mode" = --write ]; then
    cp "$work/now" "$stored"
    version=$(sed -n 's/^project(carom VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
    while read -r name; do # a function keeps the version that it came with
        grep -F " $name@Base " "$symbols" || echo " $name@Base $version"
    done <<< "$exported" > "$work/symbols"
    grep -v '^ ' "$symbols" | cat - "$work/symbols" > "$work/all"
    cp "$work/all" "$symbols"
fi

if ! grep -q "<class-decl name='carom_mesh_desc'" "$work/now"; then
    skip "the binary interface" "the library has no debugging information"
elif [ "$(sed -n "s/.* architecture='\([^']*\)'.*/\1/p" "$stored")" != \
    "$(sed -n "s/.* architecture='\([^']*\)'.*/\1/p" "$work/now")" ]; then
    skip "the binary interface" "the stored one is of another architecture"
else
    # Status: 4 for a difference, 8 more for one that breaks programs; an addition is stored, too.
    check "the binary interface is that of tests/package/libcarom.abi" abidiff "$stored" "$work/now"
    nothing "the stored interface names no folder of this machine" "$(grep -n "='/" "$stored" || true)"
    nothing "handles are opaque" "$(grep -nE "<class-decl name='($handles)'.*size-in-bits" "$stored" || true)"
fi
check_end
