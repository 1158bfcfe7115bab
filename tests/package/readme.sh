#!/bin/bash
# SPDX-License-Identifier: MIT
# readme.sh SOURCE BUILD [DOCUMENT...]: what README.md shows works, and the commands of the documents, or of those
# that are named. Each ```c block is a program: it is compiled against BUILD and run, and what it prints must stand in
# the ```text block that follows. Each ```sh block is run in a copy of the sources, where `carom` is BUILD's command;
# if a ```text block follows, that is its standard output. A block with `<!-- not run: REASON -->` on the line before
# is for the reader alone, one with `<!-- from FILE -->` must stand in FILE. The first program of README.md is
# examples/hello.c.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1") build=$(realpath "$2")
documents=(README.md docs/command.md docs/build.md docs/packages.md docs/design.md docs/architecture.md docs/devices.md
    docs/baking.md docs/benchmarks.md docs/numerics.md docs/performance.md docs/scale.md docs/particles.md)
all=1
if [ $# -gt 2 ]; then
    all=0 documents=("${@:3}")
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Cut the blocks out: NUMBER.LANGUAGE, or NUMBER.skip, or NUMBER.part with the name of the file in NUMBER.from.
cd "$source"
awk -v dir="$work" '
    !open && /^```[a-z]+$/ {
        language = substr($0, 4)
        file = sprintf("%s/%03d.%s", dir, ++count, quiet ? "skip" : from != "" ? "part" : language)
        if (from != "") {
            print from > sprintf("%s/%03d.from", dir, count)
            close(sprintf("%s/%03d.from", dir, count))
        }
        printf "" > file
        open = 1
        next
    }
    open && /^```$/ { close(file); open = 0; quiet = 0; from = ""; next }
    open { print > file; next }
    $0 !~ /^ *$/ {
        quiet = ($0 ~ /<!-- not run: /)
        from = $0 ~ /^<!-- from .* -->$/ ? substr($0, 11, length($0) - 14) : ""
    }
' "${documents[@]}"

contains() { # FILE BLOCK: the lines of the block follow each other in the file
    awk 'FNR == NR { block = block $0 "\n"; next } { text = text $0 "\n" } END { exit !index("\n" text, "\n" block) }' \
        "$2" "$1"
}
for file in "$work"/*.part; do
    [ -e "$file" ] || continue
    from=$(cat "${file%.part}.from")
    check "README block $(basename "$file" .part) stands in $from" contains "$source/$from" "$file"
done

programs=0 scripts=0
# after NUMBER: the ```text block right behind that one, if there is one
after() { printf '%s/%03d.text' "$work" $((10#$1 + 1)); }
for file in "$work"/*.c; do
    [ -e "$file" ] || continue
    programs=$((programs + 1))
    number=$(basename "$file" .c)
    program=$work/program$number
    if [ $all -eq 1 ] && [ $programs -eq 1 ]; then
        check "README program $number is examples/hello.c" diff "$source/examples/hello.c" "$file"
    fi
    check "README program $number compiles" cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$source/include" "$file" \
        -o "$program" -L"$build" -Wl,-rpath,"$build" -lcarom -lm
    [ -x "$program" ] || continue
    if ! "$program" > "$work/printed" 2>&1; then
        fail "README program $number runs" "$(cat "$work/printed")"
        continue
    fi
    pass "README program $number runs"
    expected=$(after "$number")
    if [ -e "$expected" ]; then check "README program $number prints what is shown" diff "$expected" "$work/printed"; fi
done

# The scripts change the directory they run in, so they get a copy, and short forms of what takes long.
mkdir "$work/copy" "$work/bin"
(cd "$source" && tar -c --exclude=./.git --exclude='./build*' --exclude=./b --exclude='./b.*' --exclude=./out .) |
    tar -x -C "$work/copy"
ln -s "$build/carom" "$work/bin/carom"
if [ -e "$build/lmp-carom" ]; then ln -s "$build/lmp-carom" "$work/bin/lmp-carom"; fi
if [ -e "$build/carom-mpi" ]; then ln -s "$build/carom-mpi" "$work/bin/carom-mpi"; fi
cat > "$work/bin/sudo" << 'END'
#!/bin/sh
exec true
END
chmod +x "$work/bin/sudo"
absent='no jansson|needs gnuplot|no OpenCL device|(mpirun|lmp-carom): command not found|Executable: [a-z]*-[a-z]*'
for file in "$work"/*.sh; do
    [ -e "$file" ] || continue
    scripts=$((scripts + 1))
    # The tests would run this test again; installing is not a test's business; a build with tests is BUILD; and
    # scripts/device-report and scripts/bake-pictures have tests of their own.
    sed -E -e 's#^(\$ )?##' -e 's#^scripts/test( .*)?$#scripts/test --list#' \
        -e 's#^scripts/demo( .*)?$#scripts/demo --quick --no-install#' \
        -e 's#^scripts/rain( |$)#scripts/rain --quick --no-install\1#' -e '/apt(-get)? /d' \
        -e 's#^(git clone|cd carom).*#true#' -e 's#verify --queries [0-9]+#verify --queries 20000#' \
        -e 's#^ctest#CAROM_TEST_EFFORT=10 &#' -e 's#^CAROM_TEST_EFFORT=[0-9]+#CAROM_TEST_EFFORT=10#' \
        -e "s#-Lbuild -Wl,-rpath,build#-L'$build' -Wl,-rpath,'$build'#" \
        -e '/-DCAROM_TESTS=ON/,/^cmake --build/d' -e "s#(ctest --test-dir) build#\\1 '$build'#" \
        -e 's#^scripts/(device-report|bake-pictures).*#true#' \
        -e '/^carom bench --scaling/s#$# --quick --backend cpu --scene threads#' \
        -e '/^carom bench .*--scene/s#$# --quick --backend cpu --threads 1 --accuracy fast#' \
        -e '/^carom bench --(json|compare)/s#$# --quick --backend cpu --scene sweep-times-cached#' \
        "$file" > "$work/run"
    number=$(basename "$file" .sh)
    if env PATH="$work/bin:$PATH" bash -euo pipefail -c "cd '$work/copy' && . '$work/run'" > "$work/printed" \
        2> "$work/said"; then
        pass "README commands $number: $(grep -m 1 . "$file" | cut -c 1-60)"
    elif grep -qE "$absent" "$work/said"; then
        skip "README commands $number: $(grep -m 1 . "$file" | cut -c 1-60)" "$(tail -n 1 "$work/said")"
        continue
    else
        fail "README commands $number: $(grep -m 1 . "$file" | cut -c 1-60)" \
            "$(tail -n 20 "$work/printed" "$work/said")"
        continue
    fi
    expected=$(after "$number")
    if [ -e "$expected" ]; then check "README commands $number print what is shown" diff "$expected" "$work/printed"; fi
done
if [ $all -eq 1 ]; then
    demo=$work/copy/out
    check "the demo leaves a picture" test "$(head -c 4 "$demo/hits.png" | tail -c 3)" = PNG
    check "the demo leaves its hits" test "$(wc -l < "$demo/hits.csv")" -gt 1000
    if [ $programs -gt 0 ]; then pass "the README shows a program"; else fail "the README shows a program"; fi
fi
if [ $scripts -gt 0 ]; then pass "the README shows commands"; else fail "the README shows commands"; fi
check_end
