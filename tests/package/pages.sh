#!/bin/bash
# SPDX-License-Identifier: MIT
# pages.sh SOURCE BUILD: docs/for-*.md, the pages for kinds of users. Their commands print what is shown, these numbers
# follow from geometry, and the programs say so where a rule of a page is left out. Their C++ twins print the same.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
here=$(dirname "$(realpath "$0")") source=$(realpath "$1") build=$(realpath "$2")
check_begin "$build/carom"

(cd "$source" && ls docs/for-*.md) > pages.txt
mapfile -t pages < pages.txt
equal "there is a page for each kind of user" "docs/for-bakes.md docs/for-games.md docs/for-granular-walls.md \
docs/for-robots.md" "${pages[*]}"
bash "$here/readme.sh" "$source" "$build" "${pages[@]}" || check_failures=$((check_failures + 1))

# numbers NAME PAGE WANTED PROGRAM: what the blocks of output of a page hold. The awk PROGRAM compares with near(a, b,
# by), so often.
numbers() {
    awk '/^```text$/ { shown = 1; next } /^```$/ { shown = 0 } shown { gsub(/[,;]/, " "); print }' \
        "$source/docs/$2" > shown.txt
    # shellcheck disable=SC2016 # a program of awk
    check "$1" awk -v wanted="$3" 'function near(a, b, by) {
            n++
            if (a - b > by || b - a > by) { print a " is not " b " in: " $0; bad = 1 }
        }
        '"$4"'
        END { if (n != wanted) print n + 0 " numbers"; exit bad || n != wanted }' shown.txt
}
# shellcheck disable=SC2016 # programs of awk
{
    numbers "walls: depths, normals, velocities" for-granular-walls.md 11 '
        /^fixed/ { near($7, 0.5 - 0.375, 0); near($9, 1000 * $7, 0) }
        /^moving/ { near($6, 0.5 - (0.875 - $4), 0) }
        /^turning/ {
            s = sin(0.25); c = cos(0.25); x = c - 0.2 * s
            near($3, 0.5 - (s + 0.2 * c), 1e-4); near($5, s, 1e-4); near($6, c, 1e-4)
            near($9, -2 * s * x, 1e-4); near($10, -2 * c * x, 1e-4)
        }
        /^periodic: grain at 7/ { near($6, 0.5 - (8.25 - 7.875), 0) }'
    numbers "walls: across the end of the box, and far away" for-granular-walls.md 2 '
        /^periodic: grain at -7/ { near($6, 0.5 - (8.25 - 8.0625), 0) }
        /^binary64/ { near($3, 0.5 - 0.46875, 0) }'
    numbers "characters stop at a radius and a gap" for-games.md 9 '
        /^after 2 s: 0/ { near($6, 4 - 0.4 - 0.001, 6e-4); near($7, -6 + 2 * 2, 1e-3) }
        /^after 2 s: 1/ { near($6, -4 + 0.4 + 0.001, 6e-4) }
        /^after 2 s: 2/ { near($6, -2 - 0.9 * 2, 1e-3) }
        /^after 2 s: 3/ { near($7, 4 - sqrt(0.4 ^ 2 - 0.2 ^ 2) - 0.0005, 1e-3) }
        /^after 6 s: 0/ { near($6, 4 - 0.4 - 0.001, 6e-4); near($7, -6 + 2 * 6, 1e-3) }
        /^after 6 s: 2/ { near($6, -2 - 0.9 * 6, 1e-3) }
        /^after 6 s: 3/ { near(0.4 - sqrt(0.4 ^ 2 - 0.2 ^ 2), 0.054, 5e-4) }'
    numbers "robots: the first contact of a way and of a turn" for-robots.md 2 '
        /^drives/ { near($5, 1.75 / 4, 0) }
        /^turns/ { u = (0.1 - atan2(sqrt(1 - (3.995 / 4) ^ 2), 3.995 / 4)) / 0.2; near($NF, u, 0.003) }'
    numbers "bakes: waterline and stock to leave" for-bakes.md 5 '
        /^x = / { near($3 * $3, (1 + 0.5 * sqrt(2)) ^ 2, 3e-4) }
        /^centre/ { near($3, 2 - 1 + 0.7 * sqrt(2), 1e-4); near($6, $3 - 0.5, 1e-9) }
        /^stock/ { near($2, 0.2, 1e-9) }'
}

# Numbers in sentences.
says() { # PAGE FORMAT NUMBER: a sentence of it, with a number that awk computes
    local text
    text=$(awk -v format="$2" "BEGIN { printf format, $3 }")
    check "$1: $text" grep -qF -- "$text" <(tr '\n' ' ' < "$source/docs/$1" | tr -s ' ')
}
says for-games.md "into the capsule, here %.3f." "0.4 - sqrt(0.4 ^ 2 - 0.2 ^ 2)"
says for-games.md "so it is at %.1f after 2 s" "-2 - 0.9 * 2"
says for-robots.md "after 1.75 of 4: u = %.4f." "(6 - 0.25 - 4) / 4"
says for-robots.md "they touch at 0.248; the arc does at %.3f." \
    "(0.1 - atan2(sqrt(1 - (3.995 / 4) ^ 2), 3.995 / 4)) / 0.2"
says for-granular-walls.md "overlap of %.5f is lost" "0.5 - 0.46875"
says for-bakes.md "should have %.2f." "-0.25"

# ---- in C++ ----------------------------------------------------------------------------------------------------------
twin() { # NAME SED: the C++ program prints what the C program does, of which SED leaves a part
    local name=$1
    check "$name in C: compiles" "${CC:-cc}" -std=c99 -ffp-contract=off -I"$source/include" \
        "$source/examples/$name.c" -o "$name" -L"$build" -Wl,-rpath,"$build" -lcarom -lm
    check "$name in C++: compiles" "${CXX:-c++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -ffp-contract=off \
        -I"$source/include" "$source/examples/$name.cpp" -o "$name-cpp" -L"$build" -Wl,-rpath,"$build" -lcarom
    ./"$name" | sed -n "$2" > in-c.txt
    ./"$name-cpp" > in-cpp.txt
    check "$name in C++: prints what C does" cmp in-c.txt in-cpp.txt
    check "$name in C++: prints something" test -s in-cpp.txt
}
twin character 's/, .*//; p'
twin robot 's/, of itself.*//p'

# ---- without a rule --------------------------------------------------------------------------------------------------
cp -r "$source/examples" copy
without() { # NAME FILE SED LINE COMPILED...: a program without it prints this line
    local name=$1 file=copy/$2 line=$4
    sed -i.bak "$3" "$file"
    check "$name: it can be left out" bash -c "! cmp -s $file $file.bak"
    check "$name: what is left compiles" "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -ffp-contract=off \
        -I"$source/include" "${@:5}" -o without -L"$build" -Wl,-rpath,"$build" -lcarom -lm
    ./without > said.txt 2>&1 || true
    check "$name: its absence shows" grep -qxF "$line" said.txt
    mv "$file.bak" "$file"
}
walls=(copy/granular_walls/*.c)
without "patches of a copy" granular_walls/periodic.c 's/{7, 7}/{7, 8}/' \
    "periodic: grain at -7.9375, depth 0.3125 at x = -7.75, new" "${walls[@]}"
without "a copy beyond the end" granular_walls/periodic.c 's/8[.]25f/80.25f/g' \
    "periodic: grain at 7.875, no contact" "${walls[@]}"
without "corrected shifts" granular_walls/periodic.c 's/wrapped\[a\] - /0 * wrapped[a] - /' \
    "pairs: shift 1 is now 1, the list has 0, new" "${walls[@]}"
without "numbers of the grains" granular_walls/contacts.c 's/= select\[now->query\[i\]\];/= now->query[i];/' \
    "select: grain 0 goes on, grain 1 goes on, grain 2 new" "${walls[@]}"
without "the sign" robot.c 's/CAROM_SIGN_WINDING, body/CAROM_SIGN_NONE, body/' \
    "1: free of the shell 1, of the body 1, of itself 1, as capsules 0" copy/robot.c
check_end
