# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the shell tests: cmocka's marks, so that one parser counts all tests. End a test with check_end.
check_failures=0

pass() { printf '[       OK ] %s\n' "$1"; }
fail() { # name, detail
    check_failures=$((check_failures + 1))
    printf '[  FAILED  ] %s\n' "$1"
    if [ -n "${2:-}" ]; then
        printf '%s\n' "$2" | head -n 40 | sed 's/^/    /'
    fi
}
skip() { printf '[  SKIPPED ] %s: %s\n' "$1" "$2"; } # name, reason
check() { # name, command...: passes if the command does; its output is shown if not
    local name=$1 text
    shift
    if text=$("$@" 2>&1); then pass "$name"; else fail "$name" "$text"; fi
}
nothing() { # name, text: passes if there is no text
    if [ -z "$2" ]; then pass "$1"; else fail "$1" "$2"; fi
}
check_end() { [ "$check_failures" -eq 0 ]; }
