# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the tests of carom bake, after check.sh.

# shellcheck disable=SC2154 # check_begin sets carom
bake() { "$carom" bake "$@"; }
left() { find . -name '*.partial' -o -name '*.journal' -o -name '.carom-*'; } # files of an unfinished bake

# bake_begin CAROM: as check_begin, in a folder with a cube
bake_begin() {
    check_begin "$1"
    printf '%s\n' OFF '8 12 0' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '0 0 1' '1 0 1' '1 1 1' '0 1 1' '3 0 2 1' '3 0 3 2' \
        '3 4 5 6' '3 4 6 7' '3 0 1 5' '3 0 5 4' '3 1 2 6' '3 1 6 5' '3 2 3 7' '3 2 7 6' '3 3 0 4' '3 3 4 7' > cube.off
}

# refused NAME STATUS PATTERN command...: so it ends, with one such sentence, and leaves no file behind
refused() {
    local name=$1 wanted=$2 pattern=$3 status=0 before after
    shift 3
    before=$(find . -type f ! -name std\*.txt -printf '%p %s %T@\n' | sort)
    "$@" > stdout.txt 2> stderr.txt < /dev/null || status=$?
    after=$(find . -type f ! -name std\*.txt -printf '%p %s %T@\n' | sort)
    if [ $status -ne "$wanted" ]; then
        fail "$name" "status $status, not $wanted: $(head -n 3 stderr.txt)"
    elif ! grep -qE -- "^carom: .*$pattern" stderr.txt; then
        fail "$name" "no /$pattern/ in: $(head -n 3 stderr.txt)"
    elif [ "$before" != "$after" ]; then
        fail "$name" "before: $before"$'\n'"after: $after"
    else
        pass "$name"
    fi
}
