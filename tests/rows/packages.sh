#!/bin/bash
# SPDX-License-Identifier: MIT
# packages.sh [FOLDER]: Debian's packages from the tarball, built without network, what lintian says of them, what
# Build-Depends brings to a fresh Debian, and what a newcomer does in another: the blocks of README.md and
# docs/packages.md that are marked `chroot`, the tests in debian/tests, scripts/demo, and purge. With FOLDER the
# packages in it are taken, and none are built. It needs root and a mirror.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. tests/support/check.sh
# shellcheck source=tests/support/checkout.sh
. tests/support/checkout.sh
source=$PWD packages=${1:+$(realpath "$1")}
if [ "$(id -u)" -ne 0 ]; then
    echo "SKIP: not root: a chroot cannot be made"
    exit 77
fi
work=$(mktemp -d)
root=$work/root
ended() {
    local place
    for place in dev/pts sys proc; do mountpoint -q "$root/$place" && umount "$root/$place"; done
    rm -rf --one-file-system "$work"
}
trap ended EXIT

# ---- the packages ----------------------------------------------------------------------------------------------------
names="libcarom0.2 libcarom-dev libcarom-doc carom carom-mpi lammps-carom python3-carom"
if [ -z "$packages" ]; then
    packages=$work/packages
    checkout "$source" "$work/source"
    # A compiler cache knows the files in every folder then.
    if command -v ccache > /dev/null; then
        export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$work
    fi
    # Open MPI wants the loopback, which a network of nothing else has.
    if ! (cd "$work/source" && unshare -n bash -c 'ip link set lo up && exec "$@"' - scripts/package -o "$packages") \
        > "$work/log" 2>&1; then
        fail "scripts/package, without network" "$(grep -v '^\[' "$work/log" | tail -n 40)" # no command lines
        check_end
        exit 1
    fi
    pass "scripts/package, without network"
    check "carom verify has compared every instruction set" grep -q 'verify --backend cpu' "$work/log"
    nothing "no warning of dpkg or the compiler" "$(grep -E -e '^dpkg-[a-z]*: warning' -e 'warning: .*\[-W' \
        "$work/log" || true)"
    tar -x -f "$packages"/carom_*.orig.tar.gz -C "$work"
    cp -r "$work/source/debian" "$work"/carom-*/
    cd "$work"/carom-*/
    rules() { DEB_BUILD_OPTIONS=$1 dh build --no-act --buildsystem=cmake+ninja; }
    check "without nocheck it tests" grep -q override_dh_auto_test <(rules '')
    nothing "nocheck is honoured" "$(rules nocheck | grep -e auto_test || true)"
    check "Architecture: 64 bits alone" eval '! grep "^Architecture:" debian/control | grep -vE "amd64 arm64|all"'
    cd "$source"
fi
for name in $names; do
    check "$name is there" test -s "$(find "$packages" -name "${name}_*.deb")"
done
nothing "lintian -I has nothing to say" "$(lintian -I --allow-root "$packages"/*.changes 2>&1 |
    grep -vxEf <(sed -n 's/^ *tag: //p' tests/rows/packages.txt) || true)"

# ---- a fresh Debian --------------------------------------------------------------------------------------------------
if ! mmdebstrap --quiet --variant=minbase bookworm "$root" > "$work/log" 2>&1; then
    skip "a fresh Debian" "mmdebstrap: $(tail -n 1 "$work/log")"
    check_end
    exit
fi
cp -a "$root" "$work/builder"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys" # without it PoCL and Open MPI do not know the machine
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
[ -e "$root/dev/ptmx" ] || ln -s pts/ptmx "$root/dev/ptmx"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
fresh() { # COMMAND...: in it; a pipe has the status of its last command, as grep -q ends before who writes to it
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive MANPAGER=cat OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        bash -eu -c "cd /packages && $*" < /dev/null
}
builder() { local root=$work/builder; fresh "$@"; } # COMMAND...: in another, where packages are built
# What this machine has and Build-Depends does not name would be missed here alone.
mkdir "$work/builder/packages"
cp "$packages"/*.dsc "$packages"/*.tar.* "$work/builder/packages"
check "apt-get build-dep" builder 'apt-get update -q && apt-get build-dep -q -y --no-install-recommends ./*.dsc'
check "the source package is configured" builder 'dpkg-source -x ./*.dsc source && cd source &&
    export DH_OPTIONS="--buildsystem=cmake+ninja --builddirectory=build" &&
    debian/rules override_dh_auto_configure > ../configured'
nothing "Build-Depends brings all that the build looks for" \
    "$(grep '^-- carom: no ' "$work/builder/packages/configured" | grep -v 'no clang-format' || true)"
check "and all that the site of libcarom-doc needs" builder 'cd source && cmake --build build --target site'

# Pages that man has formatted are man's own: its timer drops them.
names_left() {
    fresh 'find / -xdev -iname "*carom*" -not -path "/packages*" -not -path "/proc/*" -not -path "/var/cache/man/*"'
}
nothing "carom is not there yet" "$(names_left)"
check "the archive's index" fresh apt-get update -q
check "man and bash-completion, which a desktop has" fresh apt-get install -q -y --no-install-recommends man-db \
    bash-completion

# The blocks, without sudo and questions.
for document in README.md docs/packages.md; do
    awk -v name="$work/$(basename "$document").block" '
        /^```$/ { inside = 0 }
        inside { print > (name count) }
        /^```sh$/ && marked { inside = 1; count++ }
        !/^ *$/ { marked = /<!-- chroot -->/ }' "$document"
done
for block in "$work"/*.block*; do
    sed -e 's/^sudo //' -e 's/^apt install/apt-get install -q -y --no-install-recommends/' "$block" \
        > "$root/packages/block"
    check "$(basename "$block"): $(head -n 1 "$block" | cut -c 1-60)" fresh . ./block
done
check "there are such blocks in both documents" test -e "$work/README.md.block1" -a -e "$work/packages.md.block2"

check "carom-mpi" fresh apt-get install -q -y --no-install-recommends ./carom-mpi_*.deb
check "carom-mpi --help" fresh 'carom-mpi --help | grep -q Usage'
check "lammps-carom" fresh apt-get install -q -y --no-install-recommends ./lammps-carom_*.deb
check "man lmp-carom" fresh 'man -E UTF-8 lmp-carom | grep -q "fix ID group wall/carom mesh FILE"'
check "lammps-carom runs with the LAMMPS it was built with alone" \
    fresh 'dpkg -s lammps-carom | grep -q "^Depends:.* liblammps0 (>= [^)]*), liblammps0 (<< "'
# The README's lines of Python.
awk '/^```$/ { inside = 0 } inside { print } /^```python$/ { inside = 1 }' README.md > "$root/packages/readme.py"
check "the Python lines of the README" fresh python3 readme.py
cp tests/package/site.py "$root/packages"
check "libcarom-doc" fresh apt-get install -q -y --no-install-recommends ./libcarom-doc_*.deb
check "every link and picture of its site" fresh python3 site.py /usr/share/doc/libcarom-dev/html
# Tab, as bash-completion loads it: by name, at the first try.
printf '%s\n' '. /usr/share/bash-completion/bash_completion' $'carom bake dist\t--with tri\t--he\t' exit \
    > "$root/packages/keys"
typed=$(fresh 'timeout 60 script -qc "bash --norc --noprofile -i" /dev/null < keys' 2>&1 | tr -d '\r\a' || true)
check "Tab" grep -qF 'carom bake distance --with triangle --help' <<< "$typed"
mkdir "$root/packages/tests"
cp debian/tests/* "$root/packages/tests"
# As autopkgtest judges: a word on standard error is a failure.
while read -r test; do
    mkdir "$root/packages/tests/$test.tmp"
    check "debian/tests/$test" fresh "AUTOPKGTEST_TMP=/packages/tests/$test.tmp tests/$test 2> said ||
        { cat said; false; }"
    nothing "debian/tests/$test: nothing on standard error" "$(cat "$root/packages/said")"
done < <(sed -n 's/^Tests: //p' debian/tests/control)
check "programs and library are hardened" fresh apt-get install -q -y --no-install-recommends binutils
for file in /usr/bin/carom /usr/bin/carom-mpi /usr/bin/lmp-carom '/usr/lib/*/libcarom.so.0.2'; do
    check "$file: read-only relocations, bound at once, position independent" \
        fresh "readelf -hdW $file | grep -q 'Flags:.*NOW' && readelf -hW $file | grep -q 'Type: *DYN' &&
            readelf -lW $file | grep -q GNU_RELRO"
    nothing "$file: no rpath" "$(fresh "readelf -dW $file | grep -E 'R(UN)?PATH'" || true)"
done
# The README's demo, from the tarball: it installs what it needs, builds, and draws.
mkdir "$root/packages/source"
tar -x -f "$packages"/carom_*.orig.tar.gz -C "$root/packages/source" --strip-components=1
check "scripts/demo is the README's" grep -qx scripts/demo README.md
check "scripts/demo" fresh 'cd source && scripts/demo'
equal "the demo leaves a picture" PNG "$(head -c 4 "$root/packages/source/out/hits.png" | tail -c 3)"
check "purge" fresh "apt-get purge -q -y 'carom*' 'libcarom*' lammps-carom python3-carom"
nothing "nothing is left" "$(names_left)"
check_end
