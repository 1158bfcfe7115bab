#!/bin/bash
# SPDX-License-Identifier: MIT
# style.sh: shellcheck, clang-format, executable scripts, 120 columns, rulers, the words of names, the figures of the
# documents, and which folder includes which.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"

# Lines beyond 120 columns in documents, C, shell and Python. Rows of tables cannot be wrapped.
columns() {
    git ls-files '*.md' '*.[ch]' '*.cl' '*.sh' '*.py' scripts .ci | xargs awk '
        length > 120 && !(FILENAME ~ /[.]md$/ && /^[|]/) { print FILENAME ":" FNR ": more than 120 columns"; bad = 1 }
        END { exit bad }'
}
# Rulers, which name the parts of a file, end at column 120.
rulers() {
    git ls-files bench contrib examples fuzz queries reference tests | grep -E '[.](c|h|cpp|sh)$' | xargs awk '
        /^(\/\*|#) ----/ && length != 120 { print FILENAME ":" FNR ": a ruler of " length " columns"; bad = 1 }
        END { exit bad }'
}
# Names use the words of docs/words.md, in the folders that its table names. In these folders comments begin with nouns.
commented="kernels cpu"
words() {
    git ls-files '*.[ch]' '*.cl' | xargs awk -v comments="$commented" -f tests/rows/words.awk docs/words.md
}
# Scripts that are started by their names have the x bit in git.
startable() {
    git ls-files -s .ci scripts 'tests/rows/*.sh' | awk '$1 != "100755" { print $4 ": not executable"; bad = 1 }
        END { exit bad }'
}
if command -v shellcheck > /dev/null; then
    check shellcheck shellcheck -x scripts/* .ci/run tests/*/*.sh
else
    skip shellcheck "not installed (Debian: shellcheck)"
fi
if command -v clang-format > /dev/null; then
    check clang-format cmake --build "$BUILD" --target format-check
else
    skip clang-format "not installed (Debian: clang-format)"
fi
if command -v black > /dev/null; then
    check black black -q --check -l 120 setup.py python
else
    skip black "not installed (Debian: black)"
fi
check "figures of the documents" scripts/figures
if command -v python3 > /dev/null; then
    check "folders include those above them in docs/architecture.md" python3 tests/rows/includes.py
else
    skip "folders" "python3 is not installed (Debian: python3)"
fi
check "scripts are executable" startable
check "120 columns" columns
check "rulers" rulers
check "words of docs/words.md" words
check_end
