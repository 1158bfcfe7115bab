# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the shell tests: cmocka's marks, so that one parser counts all tests. End a test with check_end.
check_failures=0

# check_begin CAROM: the command, and a folder of the test's own to work in
check_begin() {
    # shellcheck disable=SC2034 # the tests use it
    carom=$(realpath "$1")
    work=$(mktemp -d) || exit
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit
}

pass() { printf '[       OK ] %s\n' "$1"; }
fail() { # name, detail
    check_failures=$((check_failures + 1))
    printf '[  FAILED  ] %s\n' "$1"
    if [ -n "${2:-}" ]; then
        # What went wrong is at the beginning, or at the end.
        printf '%s\n' "$2" | awk '{ line[NR] = "    " $0 } END {
            for (i = 1; i <= NR; i++)
                if (NR <= 40 || i <= 20 || i > NR - 20) print line[i]; else if (i == 21) print "    ..." }'
    fi
}
skip() { printf '[  SKIPPED ] %s: %s\n' "$1" "$2"; } # name, reason
check() { # name, command...: passes if the command does; its output is shown if not
    local name=$1 text
    shift
    if text=$("$@" 2>&1); then pass "$name"; else fail "$name" "$text"; fi
}
# expect NAME STATUS PATTERN command...: exit status and, unless PATTERN is empty, a line on standard error.
expect() {
    local name=$1 wanted=$2 pattern=$3 status=0
    shift 3
    "$@" > stdout.txt 2> stderr.txt < /dev/null || status=$?
    if [ $status -ne "$wanted" ]; then
        fail "$name" "status $status, not $wanted: $(head -n 3 stderr.txt)"
    elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" stderr.txt; then
        fail "$name" "no /$pattern/ in: $(head -n 3 stderr.txt)"
    elif [ "$wanted" -ne 0 ] && [ ! -s stderr.txt ]; then
        fail "$name" "failed without a word"
    else
        pass "$name"
    fi
}
equal() { # NAME WANTED GOT
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "wanted: $2
got:    $3"; fi
}
nothing() { # name, text: passes if there is no text
    if [ -z "$2" ]; then pass "$1"; else fail "$1" "$2"; fi
}
# python_with MODULE...: the Python that has them
python_with() {
    local python imports
    imports=$(printf 'import %s\n' "$@")
    for python in "$(command -v python3 || true)" /usr/bin/python3; do
        if [ -x "$python" ] && "$python" -c "$imports" 2> /dev/null; then
            echo "$python"
            return
        fi
    done
}
check_end() { [ "$check_failures" -eq 0 ]; }
