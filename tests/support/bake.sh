# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Sourced by the tests of carom bake, after check.sh.

kinds_of_volumes=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../cli/kinds")

# shellcheck disable=SC2154 # check_begin sets carom
bake() { "$carom" bake "$@"; }
# Files of an unfinished bake.
left() { find . -name '*.partial' -o -name '*.columns' -o -name '*.journal' -o -name '.carom-*'; }

# bake_begin CAROM: as check_begin, in a folder with a cube
bake_begin() {
    check_begin "$1"
    printf '%s\n' OFF '8 12 0' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '0 0 1' '1 0 1' '1 1 1' '0 1 1' '3 0 2 1' '3 0 3 2' \
        '3 4 5 6' '3 4 6 7' '3 0 1 5' '3 0 5 4' '3 1 2 6' '3 1 6 5' '3 2 3 7' '3 2 7 6' '3 3 0 4' '3 3 4 7' > cube.off
}

# all_kinds: the words of `carom bake` that bake a volume
all_kinds() {
    { bake 2>&1 || true; } | sed -n 's/.*expected one of \(.*\), path, join, status, check;.*/\1/p' | tr -d ,
}
# kind_of NAME: tests/cli/kinds/NAME.sh tells of a kind, in variables and functions:
#   axes, array, more    of its lattice; the array of every output; those that --with adds, separated by commas
#   needs                options without which it is refused, each of which is a radius
#   own, shown           options of a bake; the same as `carom bake status` has them
#   changed, differs     other options; the item that differs
#   values, refusals     functions: files against an oracle ($python); what it alone refuses
kind_of() {
    # shellcheck source=tests/cli/kinds/clearance.sh
    . "$kinds_of_volumes/$1.sh"
}
# nodes_of NX,NY,NZ NX,NY: one of them, by the axes of the kind
nodes_of() { if [ "$axes" = 3 ]; then echo "$1"; else echo "$2"; fi; }

# three_files NAME KIND option...: at.npy, the same of exact mode in other threads, and at.vti hold the same array
three_files() {
    local name=$1 kind=$2
    shift 2
    rm -f at.npy at1.npy at.vti
    bake "$kind" --mesh cube.off "$@" -o at.npy
    bake "$kind" --mesh cube.off "$@" -o at1.npy --accuracy exact --backend cpu --isa scalar --threads 2
    bake "$kind" --mesh cube.off "$@" -o at.vti
    check "$name: .npy of exact mode, other threads and another instruction set" cmp at.npy at1.npy
    check "$name: .npy and .vti hold the same bytes" cmp <(tail -c +129 at.npy) <(python3 -c 'import sys
data = open("at.vti", "rb").read()
at = data.index(b"_", data.index(b"<AppendedData")) + 1
sys.stdout.buffer.write(data[at + 8:at + 8 + int.from_bytes(data[at:at + 8], "little")])')
}

# three_parts KIND option...: part1 to part3, joined in another order, have the bytes of whole.npy
three_parts() {
    local kind=$1 i
    shift
    for i in 1 2 3; do bake "$kind" "$@" --part $i/3 -o part$i; done
    bake join joined.npy part2 part3 part1
    check "parts" cmp whole.npy joined.npy
}

# bad_radii KIND OPTION option...: numbers that are no radius
bad_radii() {
    local kind=$1 option=$2 radius
    shift 2
    for radius in -1 nan inf x ''; do
        refused "--$option '$radius'" 2 "--$option: expected a finite number >= 0" bake "$kind" --mesh cube.off "$@" \
            "--$option" "$radius" -o no.npy
    done
}

# until_true command...: wait for it, a minute at most
until_true() {
    local i
    for ((i = 0; i < 600; i++)); do
        if "$@"; then return; fi
        sleep 0.1
    done
    return 1
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

# The two that follow interrupt `bake $kind`, with the shims $torture and $power_cut; $effort says how often.

# kill -9 before every so many calls; of a write the first half is done
deadly=yes
killed() { # NAME WANTED OUT option...: or with deadly='' fails, and the bake says so and ends
    local name=$1 wanted=$2 out=$3 call count step k problems='' shown='' status
    shift 3
    rm -f "$out"
    TORTURE_COUNTS=counts LD_PRELOAD=$torture bake "$kind" "$@" -o "$out"
    while read -r call count; do
        case $call in
        write | fsync | rename | unlink | space) ;;
        *) [ -z "$deadly" ] || continue ;; # what changes no file
        esac
        step=$((count * 100 / (effort * 12) + 1))
        shown+=" $call $count"
        for ((k = 1; k <= count; k += step)); do
            status=0
            rm -f hit
            echo old > "$out"
            { # the shell, too, has words for a kill
                env ${deadly:+TORTURE_KILL=1} TORTURE_CALL="$call" TORTURE_AT=$k TORTURE_HIT=hit LD_PRELOAD="$torture" \
                    "$carom" bake "$kind" "$@" -o "$out" > stdout.txt 2> stderr.txt || status=$?
            } 2> /dev/null
            [ -e hit ] || problems+="$call $k: not reached"$'\n'
            [ -n "$deadly" ] || [ $status -eq 0 ] || { [ $status -le 2 ] && grep -q '^carom: ' stderr.txt; } ||
                problems+="$call $k: status $status: $(head -n 2 stderr.txt)"$'\n'
            [ -n "$deadly" ] || [ $status -ne 0 ] || cmp -s "$wanted" "$out" ||
                problems+="$call $k: status 0 all the same"$'\n'
            [ "$(head -c 4 "$out" | tr -d '\0')" = old ] || cmp -s "$wanted" "$out" || problems+="$call $k: torn"$'\n'
            if ! bake "$kind" "$@" --resume -o "$out" > stdout.txt 2> stderr.txt; then
                problems+="$call $k: $(head -n 2 stderr.txt)"$'\n'
            elif ! cmp "$wanted" "$out" > stdout.txt 2>&1 || [ -n "$(left)" ]; then
                problems+="$call $k: $(cat stdout.txt) $(left)"$'\n'
            fi
            rm -f "$out.partial" "$out.journal"
        done
    done < counts
    nothing "$name:$shown" "$problems"
}
# The power fails at every so many writes, flushes and renames: what was not flushed is not there, or (a deaf disk)
# nothing is but names.
fails_at() { # NAME WANTED OUT option...
    local name=$1 wanted=$2 out=$3 at problems='' status last=0
    shift 3
    for ((at = 1; at <= 70; at += 100 / effort + 1)); do
        status=0
        echo old > "$out"
        POWER_CUT_AT=$at LD_PRELOAD=$power_cut bake "$kind" "$@" -o "$out" > stdout.txt 2>&1 || status=$?
        [ $status -eq 0 ] || [ $status -eq 99 ] || problems+="at $at: status $status"$'\n'
        [ "$(head -c 4 "$out" | tr -d '\0')" = old ] || cmp -s "$wanted" "$out" || problems+="$at: torn"$'\n'
        if [ $status -eq 99 ]; then
            last=$at
            bake "$kind" "$@" --resume -o "$out" > stdout.txt 2>&1 || problems+="$at: $(head -n 2 stdout.txt)"$'\n'
        fi
        cmp "$wanted" "$out" > stdout.txt 2>&1 && [ -z "$(left)" ] || problems+="$at: $(cat stdout.txt) $(left)"$'\n'
        rm -f "$out".*
    done
    nothing "$name: $last and before" "$problems"
}
