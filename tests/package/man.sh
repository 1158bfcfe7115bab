#!/bin/bash
# SPDX-License-Identifier: MIT
# man.sh SOURCE BUILD: the manual pages of BUILD. Every command and every function of the headers has one, every option
# that --help lists stands in it, man and mandoc have nothing to warn of, and all of it is installed.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1") build=$(realpath "$2")
check_begin "$build/carom"
export LC_ALL=C.UTF-8 MANWIDTH=400
if ! command -v man > /dev/null; then
    skip "manual pages" "no man (Debian: man-db)"
    check_end
    exit
fi

# whole SECTION: all of its pages render without a warning, as `man --warnings` does it, and say their own name
whole() {
    nothing "section $1: nothing to warn of" "$(groff -mandoc -wmac -wbreak -Kutf8 -Tutf8 -z "$build/man/$1"/* 2>&1)"
    nothing "section $1: pages have their names, for apropos" "$(cd "$build/man/$1" && lexgrog -- * |
        awk -F '[: "]+' '{ name = $1; sub(/[.][13]$/, "", name) } $2 != name')"
    if command -v mandoc > /dev/null; then
        # Missing dates of help2man, and how doxygen sets paragraphs, are matters of taste.
        nothing "section $1: mandoc finds no error" "$(mandoc -T lint -W error "$build/man/$1"/* 2>&1 || true)"
    else
        skip "section $1: mandoc" "not installed (Debian: mandoc)"
    fi
}

if [ ! -d "$build/man/1" ]; then
    skip "manual pages of the command" "not built: no help2man (Debian: help2man)"
else
    whole 1
    nothing "man --warnings" "$(man --warnings -E UTF-8 -l "$build/man/1/carom.1" 2>&1 > /dev/null)"
    mapfile -t commands < <("$carom" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z ]*[a-z]\)  .*/\1/p')
    check "there are commands" test ${#commands[@]} -gt 10
    absent='' tables=''
    for command in '' "${commands[@]}"; do
        name=carom${command:+-${command// /-}}
        if [ ! -e "$build/man/1/$name.1" ]; then
            absent+="$name.1"$'\n'
            continue
        fi
        man -l "$build/man/1/$name.1" > page.txt
        # shellcheck disable=SC2086 # one word or two
        while read -r option; do
            grep -qE "^ +$option( |\$)" page.txt || absent+="$name.1: $option"$'\n'
        done < <("$carom" $command --help | sed -n 's/^  \(--[a-z-]*\) .*/\1/p')
        # shellcheck disable=SC2086
        "$carom" $command --help | sed -n 's/^\(Usage: \|   or: \)//p' > usage.txt
        while read -r way; do
            grep -qF "       $way" page.txt || tables+="$name.1: $way"$'\n'
        done < usage.txt
    done
    nothing "every command has a page, with every option" "$absent"
    nothing "and each way to call it is in the synopsis" "$tables"
    if [ -e "$build/carom-mpi" ]; then check "carom-mpi has a page" test -s "$build/man/1/carom-mpi.1"; fi
    if [ -e "$build/lmp-carom" ]; then
        man -l "$build/man/1/lmp-carom.1" > page.txt
        absent=''
        for word in mesh contact scale move merge accuracy skin; do
            grep -qE "(^| |\[)$word " page.txt || absent+="$word "
        done
        nothing "lmp-carom has a page, with the keywords of its fix" "$absent"
    fi
    equal "no page is of a command that there is not" "" "$(find "$build/man/1" -name '*.1' -printf '%f\n' | sort |
        comm -23 - <(printf 'carom-%s.1\n' "${commands[@]// /-}" bake mpi | sed '1i carom.1\nlmp-carom.1' | sort))"
fi

if [ ! -d "$build/man/3" ]; then
    skip "manual pages of the library" "not built: no doxygen (Debian: doxygen)"
else
    whole 3
    absent=''
    for header in "$source"/include/carom/*.h; do
        name=$(basename "$header")
        [[ $name == carom* ]] || name=carom_$name
        [ -e "$build/man/3/$name.3" ] || absent+="$name.3"$'\n'
        # Functions, and structures with a body.
        for name in $(sed -nE 's/^(CAROM_API|static inline).*[ *](carom_[a-z0-9_]*)\(.*/\2/p' "$header") \
            $(sed -n 's/^typedef struct \(carom_[a-z_]*\) {$/\1/p' "$header"); do
            [ -e "$build/man/3/$name.3" ] || absent+="$name.3"$'\n'
        done
    done
    nothing "every header, function and structure has a page" "$absent"
    man -l "$build/man/3/carom_mesh_update.3" > page.txt
    check "a function's page: its arguments" \
        grep -q 'carom_mesh_update (carom_mesh \* mesh, const carom_points \* vert' page.txt
    check "a function's page: what it returns, as a paragraph" grep -qE '^ +returns$' page.txt
    check "a structure's page: a member and what it is" \
        grep -q 'at most 2^31 - 1; 0 is an empty mesh' <(man -l "$build/man/3/carom_mesh_desc.3")
fi

check "installs" cmake --install "$build" --prefix "$work/prefix"
for section in 1 3; do
    if [ ! -d "$build/man/$section" ]; then continue; fi
    check "section $section is installed" diff -r "$build/man/$section" "$work/prefix/share/man/man$section"
done
nothing "no page names the place it was built" "$(grep -rlF "$build" "$work/prefix/share/man" || true)"
for file in bash-completion/completions/carom zsh/vendor-completions/_carom fish/vendor_completions.d/carom.fish; do
    check "$file is what the command prints" cmp "$work/prefix/share/$file" \
        <("$carom" completion "$(cut -d / -f 1 <<< "${file/-completion/}")")
done
check_end
