# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by tests of what is made of a commit.

# checkout SOURCE FOLDER: a checkout of its own, in which the tracked files of SOURCE, as they are, are committed
checkout() {
    git clone -q --shared "$1" "$2"
    (cd "$1" && git ls-files -z --deleted) | (cd "$2" && xargs -0 -r git rm -q --)
    (cd "$1" && git ls-files -z | xargs -0 -r ls -d 2> /dev/null | tr '\n' '\0' | tar -c --null -T -) | tar -x -C "$2"
    git -C "$2" add -A
    git -C "$2" -c user.name=test -c user.email=test@example.org -c commit.gpgsign=false commit -q --allow-empty \
        -m "what is tested"
}
