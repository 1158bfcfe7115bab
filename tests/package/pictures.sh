#!/bin/bash
# SPDX-License-Identifier: MIT
# pictures.sh SOURCE CAROM: the pictures of baked volumes in the documents are those that scripts/bake-pictures draws.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1")
check_begin "$2"
name="docs/images has what scripts/bake-pictures draws"
status=0
"$source/scripts/bake-pictures" --check --carom "$carom" > said.txt 2>&1 || status=$?
case $status in
0) pass "$name" ;;
3) skip "$name" "$(sed 's/^bake-pictures: //' said.txt)" ;;
*) fail "$name" "status $status: $(cat said.txt)" ;;
esac
check_end
