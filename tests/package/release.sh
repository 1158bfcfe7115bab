#!/bin/bash
# SPDX-License-Identifier: MIT
# release.sh SOURCE: the tarball of scripts/release has the same bytes whenever and by whom it is made, builds without
# git, and is not made of a tree that is not committed or of versions that differ.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/checkout.sh
. "$(dirname "$0")/../support/checkout.sh"
source=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! git -C "$source" rev-parse --verify -q HEAD > /dev/null 2>&1; then
    skip "release" "$source is no git checkout"
    check_end
    exit
fi
checkout "$source" "$work/one"
cd "$work/one"
version=$(sed -n 's/^project(carom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
check "a tarball" scripts/release -o "$work/first"
tarball=$work/first/carom-$version.tar.gz
check "its checksum" bash -c "cd '$work/first' && sha256sum -c 'carom-$version.tar.gz.sha256'"

git clone -q "$work/one" "$work/two"
find "$work/two" -exec touch -d 2001-01-01 {} +
(cd "$work/two" && umask 077 && TZ=Asia/Tokyo LC_ALL=C git config tar.umask 0 &&
    TZ=Asia/Tokyo GZIP='' scripts/release "$version" -o "$work/second") > /dev/null
check "the same bytes from another checkout, with other dates, umask and settings" \
    cmp "$tarball" "$work/second/carom-$version.tar.gz"

# Fewer objects make a short commit shorter; settings may give other ends of lines.
git clone -q --depth 1 "file://$work/one" "$work/three"
(cd "$work/three" && git config core.abbrev 20 && git config core.autocrlf true && cd "$work" &&
    three/scripts/release -o third) > /dev/null
check "the same bytes from the last commit alone, with other ends of lines" \
    cmp "$tarball" "$work/third/carom-$version.tar.gz"

# ---- what is refused -------------------------------------------------------------------------------------------------
refused() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2 status=0
    shift 2
    scripts/release -o "$work/none" "$@" > "$work/said" 2>&1 || status=$?
    if [ $status -ne 0 ] && grep -qE -- "$pattern" "$work/said" && [ ! -e "$work/none" ]; then
        pass "$name"
    else
        fail "$name" "status $status: $(cat "$work/said")"
    fi
}
refused "another version" 'CMakeLists.txt has' 9.9.9
refused "no version" 'three numbers' 1.2
refused "an unknown option" 'usage' --now
echo >> README.md
refused "changes that are not committed" 'not committed'
git checkout -q README.md
sed -i 's/^version = .*/version = "9.9.9"/' pyproject.toml
git -c user.name=test -c user.email=test@example.org commit -qam "another version"
refused "versions that differ" 'pyproject.toml has 9.9.9'

# ---- the tarball -----------------------------------------------------------------------------------------------------
tar -x -f "$tarball" -C "$work"
cd "$work/carom-$version"
nothing "nothing of git or Debian is in it" "$(find . -name .git -o -path ./debian -o -name '*.deb')"
equal "it knows its commit" "$(git -C "$work/two" rev-parse --short=12 HEAD)" "$(cat cmake/commit.txt)"
mkdir "$work/bin"
printf '#!/bin/sh\necho called >> "%s/git"\nexit 1\n' "$work" > "$work/bin/git"
chmod +x "$work/bin/git"
check "it configures" env PATH="$work/bin:$PATH" cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    -DCAROM_TESTS=OFF
check "it builds without git (the rest: the row packages)" env PATH="$work/bin:$PATH" cmake --build "$work/build" \
    --target carom_reference
nothing "git is not called" "$(cat "$work/git" 2> /dev/null || true)"
check "carom bench names the commit" \
    grep -qF "CAROM_BENCH_COMMIT=\\\"$(cat cmake/commit.txt)\\\"" "$work/build/build.ninja"
check_end
