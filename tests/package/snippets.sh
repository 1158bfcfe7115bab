#!/bin/bash
# SPDX-License-Identifier: MIT
# snippets.sh SOURCE: each block of code in the documents is run by a test, or says why not (snippets.py).
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
here=$(dirname "$(realpath "$0")") source=$(realpath "$1")
if ! command -v python3 > /dev/null; then
    skip "blocks of code" "no python3 (Debian: python3)"
    check_end
    exit
fi
check "each block of code is run, or says why not" python3 "$here/snippets.py" "$source"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/docs"
cp -r "$source/tests" "$source/python" "$work"
unrun() { # NAME TEXT: the blocks of a document that readme.sh does not run are found
    printf '%b' "$2" > "$work/docs/none.md"
    equal "found: $1" "$3" "$(python3 "$here/snippets.py" "$work" docs/none.md || true)"
}
# shellcheck disable=SC2016 # marks of blocks
{
    unrun "a block of shell" '```sh\ntrue\n```\n' "docs/none.md:1: a block of sh that no test runs"
    unrun "output alone" 'Text.\n\n```text\n1\n```\n' "docs/none.md:3: a block of text that no test runs"
    unrun "no reason" '<!-- not run -->\n```c\nint i;\n```\n' "docs/none.md:2: a block of c that no test runs"
    unrun "no language" '```\nx\n```\n' "docs/none.md:1: a block of no language that no test runs"
    unrun "nothing, with a reason" '<!-- not run: a part -->\n```c\nint i;\n```\n\n```text\n1\n```\n' ""
}
check_end
