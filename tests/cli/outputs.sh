#!/bin/bash
# SPDX-License-Identifier: MIT
# outputs.sh CAROM [POWER_CUT]: what becomes of the file that an output replaces, and of outputs that cannot be written:
# mode, owner, access list, links, read-only files, full disks, readers that went away, and the moment at which the
# power fails.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
carom=$(realpath "$1")
power_cut=${2:+$(realpath "$2")}
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
cd "$work"
umask 022

columns=cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z
falls=0.25,0.25,2,1,0,0,-1,0,0,0,1,0,0,0,1,0
printf '%s\n' $columns $falls > good.csv
sweep() { "$carom" sweep --backend cpu "$@"; }
sweep --pairs good.csv > wanted.csv

# what_is FILE: it, and what else is there
what_is() {
    find . -maxdepth 1 ! -name . ! -name std\*.txt -printf '%f %i %m\n' | sort
    stat -c '%i %a %U %G' "$1" 2>&1 || true
    cat "$1" 2>&1 || true
}
# refused NAME STATUS PATTERN FILE command...: so it ends, with that sentence; FILE is as it was, and nothing else is
# there.
refused() {
    local name=$1 wanted=$2 pattern=$3 file=$4 status=0 before after
    shift 4
    before=$(what_is "$file")
    "$@" > stdout.txt 2> stderr.txt < /dev/null || status=$?
    after=$(what_is "$file")
    if [ $status -ne "$wanted" ]; then
        fail "$name" "status $status, not $wanted: $(head -n 3 stderr.txt)"
    elif ! grep -qE -- "$pattern" stderr.txt; then
        fail "$name" "no /$pattern/ in: $(head -n 3 stderr.txt)"
    elif [ "$before" != "$after" ]; then
        fail "$name" "before: $before"$'\n'"after: $after"
    else
        pass "$name"
    fi
}
replaced() { # NAME FILE WANTED FORMAT: the file has the new content, and stat says so of it
    if cmp -s wanted.csv "$2" && [ "$(stat -c "$4" "$2")" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "$(stat -c "%A %a %U:%G" "$2"): $(head -n 2 "$2" stderr.txt)"
    fi
}

# ---- mode and owner --------------------------------------------------------------------------------------------------
sweep --pairs good.csv -o new.csv
replaced "a new file has the mode of any other" new.csv 644 %a
(umask 077 && sweep --pairs good.csv -o secret.csv)
replaced "by the umask" secret.csv 600 %a
for mode in 600 640 660 666 604 755 200 222; do
    echo old > keep.csv
    chmod $mode keep.csv
    sweep --pairs good.csv -o keep.csv
    chmod u+r keep.csv && check "mode $mode: content" cmp wanted.csv keep.csv
    check "mode $mode" test $((0$mode | 0400)) -eq $((0$(stat -c %a keep.csv)))
    rm -f keep.csv
done
echo old > keep.csv
chmod 6755 keep.csv
sweep --pairs good.csv -o keep.csv
replaced "bits that change the user are dropped" keep.csv 755 %a
rm keep.csv

for mode in 444 400 555; do
    echo old > locked.csv
    chmod $mode locked.csv
    refused "a read-only file, $mode" 1 'locked.csv: cannot be written: the file is read-only' locked.csv \
        sweep --pairs good.csv -o locked.csv
    refused "before any input is read" 1 'read-only' locked.csv sweep --pairs nowhere.csv -o locked.csv
    rm -f locked.csv
done
echo old > locked.csv
chmod 444 locked.csv
ln -s locked.csv to-locked
refused "a link to it" 1 'to-locked: cannot be written: the file is read-only' locked.csv sweep --pairs good.csv \
    -o to-locked
refused "of info" 1 'read-only' locked.csv "$carom" info --backend cpu -o locked.csv
refused "of bench --json" 1 'read-only' locked.csv "$carom" bench --quick --json locked.csv
refused "of verify" 1 'read-only' locked.csv "$carom" verify -o locked.csv

if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null; then
    chmod 777 .
    mkdir bin # other users may not see where the command lies, as below /root
    mapfile -t libraries < <(ldd "$carom" | awk '/libcarom/ { print $3 }')
    cp "$carom" ${libraries[@]+"${libraries[@]}"} bin
    as() { LD_LIBRARY_PATH=$work/bin setpriv --reuid "$1" --regid "$2" --groups "$3" "$work/bin/carom" "${@:4}"; }
    echo old > theirs.csv
    chown 1234:4321 theirs.csv
    chmod 664 theirs.csv
    sweep --pairs good.csv -o theirs.csv
    replaced "root keeps owner and group" theirs.csv "664 1234:4321" "%a %u:%g"
    as 99 4321 4321 sweep --backend cpu --pairs good.csv -o theirs.csv
    replaced "a member keeps the group" theirs.csv "664 99:4321" "%a %u:%g"
    chown 1234:4321 theirs.csv
    chmod 646 theirs.csv
    as 99 98 98 sweep --backend cpu --pairs good.csv -o theirs.csv
    replaced "a user that keeps neither gives the new group no more than all had" theirs.csv "644 99:98" "%a %u:%g"
    chown 1234:4321 theirs.csv
    chmod 664 theirs.csv
    refused "a user that may not write does not replace" 1 'theirs.csv: cannot be written: Permission denied' \
        theirs.csv as 99 98 98 sweep --backend cpu --pairs good.csv -o theirs.csv
    mkdir -m 555 shut
    echo old > shut/old.csv
    chmod 666 shut/old.csv
    refused "a folder that cannot be written" 1 'no file can be made in its folder: Permission denied' shut/old.csv \
        as 99 98 98 sweep --backend cpu --pairs good.csv -o shut/old.csv
    mkdir -m 1777 sticky
    echo old > sticky/old.csv
    chmod 666 sticky/old.csv
    refused "another's file in a sticky folder" 1 'sticky' sticky/old.csv \
        as 99 98 98 sweep --backend cpu --pairs good.csv -o sticky/old.csv
    mkdir -m 333 blind # where nothing can be listed, and the folder not be flushed
    as 99 98 98 sweep --backend cpu --pairs good.csv -o blind/new.csv
    replaced "a folder that cannot be read" blind/new.csv 644 %a
else
    skip "owners" "not root, or no setpriv"
fi

# Under an access list the group bits are its mask: the owning group may have less than they say.
if command -v setfacl > /dev/null && touch list.csv && setfacl -m u:1234:rw,g::- list.csv 2> /dev/null; then
    getfacl -cE list.csv > acl.txt
    sweep --pairs good.csv -o list.csv
    check "an access list is kept" diff acl.txt <(getfacl -cE list.csv)
    mkdir shared
    echo old > shared/plain.csv
    chmod 640 shared/plain.csv
    setfacl -d -m u:1234:rwx,g::rwx,o::rwx shared
    sweep --pairs good.csv -o shared/plain.csv
    check "a file without one gets none from its folder" test "$(getfacl -cE shared/plain.csv | paste -sd ' ')" \
        = "user::rw- group::r-- other::--- "
    sweep --pairs good.csv -o shared/new.csv
    check "a new file does" grep -q 'user:1234:rw' <(getfacl -cE shared/new.csv)
else
    skip "access lists" "no setfacl (Debian: acl), or a file system without them"
fi

# ---- links -----------------------------------------------------------------------------------------------------------
echo old > one.csv
ln one.csv other.csv
sweep --pairs good.csv -o one.csv 2> stderr.txt
replaced "a file of two names" one.csv 1 %h
check "the other name keeps the old content" grep -qx old other.csv
check "which is said" grep -q '^carom: one.csv: replaced; the old file stays under its other name (1 hard link)$' \
    stderr.txt
ln -s nowhere.csv dangling
sweep --pairs good.csv -o dangling
check "a link that led nowhere leads to the file" cmp wanted.csv nowhere.csv
mkdir folder
ln -s ../far.csv folder/up
ln -s folder/up hop
sweep --pairs good.csv -o hop
check "links of links, out of folders" cmp wanted.csv far.csv
check "stay links" test -L hop -a -L folder/up
ln -s loop-b loop-a
ln -s loop-a loop-b
refused "links in a circle" 1 'loop-a: cannot be written: .*symbolic links' loop-a sweep --pairs good.csv -o loop-a

# ---- what cannot be an output ----------------------------------------------------------------------------------------
refused "a folder" 1 'folder: cannot be written: Is a directory' folder/up sweep --pairs good.csv -o folder
refused "a folder that is not there" 1 'absent/: cannot be written' good.csv sweep --pairs good.csv -o absent/
refused "a file for a folder" 1 'good.csv/x: cannot be written: Not a directory' good.csv sweep --pairs good.csv \
    -o good.csv/x
long=$(printf 'x%.0s' {1..255})
refused "a name that is too long" 1 'cannot be written: File name too long' good.csv sweep --pairs good.csv -o "x$long"
sweep --pairs good.csv -o "$long"
check "the longest name" cmp wanted.csv "$long"
refused "an input" 2 'good.csv: is read as an input, which the output would replace' good.csv sweep --pairs good.csv \
    -o good.csv
ln -s good.csv alias
ln good.csv second.csv
refused "an input by a link" 2 'alias: is read as an input' good.csv sweep --pairs good.csv -o alias
refused "an input by another name" 2 'second.csv: is read as an input' good.csv sweep --pairs good.csv -o second.csv
# shellcheck disable=SC2094 # which is the point
from_stdin() { sweep --pairs - -o good.csv < good.csv; }
refused "an input on standard input" 2 'good.csv: is read as an input' good.csv from_stdin
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n' > mesh.off
refused "a mesh" 2 'mesh.off: is read as an input' mesh.off "$carom" info --backend cpu --mesh mesh.off -o mesh.off
refused "two outputs of a sweep" 2 '--output b.npy: there is one, and --output a.csv is given already' good.csv sweep \
    --pairs good.csv -o a.csv -o b.npy
refused "an input twice" 2 '--pairs good.csv: there is one, and --pairs second.csv is given already' good.csv sweep \
    --pairs second.csv --pairs good.csv
refused "one name for two outputs" 2 'both: two outputs would have this one name' good.csv "$carom" bench --quick \
    -o both --json ./both
{ cat good.csv && yes $falls | head -n 30000; } > many.csv || true
too_long() { (ulimit -f 64 && sweep --pairs many.csv -o keep.csv); } # KiB
echo old > keep.csv
refused "beyond the limit of file sizes" 1 'keep.csv: cannot be written: File too large' keep.csv too_long
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2> /dev/null; then
    echo old > small/old.csv
    refused "a full disk" 1 'small/old.csv: cannot be written: No space left' small/old.csv sweep --pairs many.csv \
        -o small/old.csv
    umount small
else
    skip "a full disk" "no tmpfs can be mounted"
fi

# ---- a reader that goes away -----------------------------------------------------------------------------------------
gone() { # NAME WANTED command...: its standard output goes to a reader that takes one line
    local name=$1 wanted=$2 status
    shift 2
    { "$@" 2> stderr.txt && status=0 || status=$?; echo "$status" > status.txt; } | head -n 1 > stdout.txt || true
    if [ "$(cat status.txt)" -eq "$wanted" ] && [ ! -s stderr.txt ]; then
        pass "$name"
    else
        fail "$name" "status $(cat status.txt), not $wanted: $(head -n 3 stderr.txt)"
    fi
}
if sh -c 'kill -PIPE $$; exit 0' 2> /dev/null; then
    skip "a reader that goes away" "SIGPIPE is ignored here"
else
    gone "standard output ends like other filters" 141 sweep --pairs many.csv
    gone "by its name" 141 sweep --pairs many.csv -o /dev/stdout
    echo old > keep.csv
    gone "a file does not mind" 0 sweep --pairs many.csv -o keep.csv
    if "$carom" sweep --backend opencl --pairs good.csv > /dev/null 2>&1; then
        gone "with a device open" 141 "$carom" sweep --backend opencl --pairs many.csv
    else
        skip "with a device open" "no usable OpenCL device"
    fi
    { sleep 0.3; sweep --help && status=0 || status=$?; echo "$status" > status.txt; } 2> stderr.txt | true
    check "help, too" test "$(cat status.txt)" -eq 141 -a ! -s stderr.txt
    mkfifo pipe
    (head -c 10 pipe > /dev/null) &
    status=0
    sweep --pairs many.csv -o pipe 2> stderr.txt || status=$?
    wait
    check "a named pipe" test "$status" -eq 141 -a ! -s stderr.txt
fi
ignored() { (trap '' PIPE && sweep --pairs many.csv); }
{ ignored 2> stderr.txt && status=0 || status=$?; echo "$status" > status.txt; } | head -n 1 > stdout.txt || true
check "where SIGPIPE is ignored it is an error like others" grep -q 'Broken pipe' stderr.txt
check "of status 1" test "$(cat status.txt)" -eq 1

# ---- the power fails -------------------------------------------------------------------------------------------------
# cut_at AT NAMES: in a run that the power cut ends, or that has ended before it. Prints what is in the place of the
# output.
cut_at() {
    echo old > disk.csv
    local status=0
    POWER_CUT_AT=$1 POWER_CUT_NAMES=$2 LD_PRELOAD=$power_cut "$carom" sweep --backend cpu --threads 1 --pairs good.csv \
        -o disk.csv \
        2> stderr.txt || status=$?
    if cmp -s disk.csv wanted.csv; then
        echo "$status new"
    elif grep -qx old disk.csv; then
        echo "$status old"
    else
        echo "$status torn"
    fi
    rm -f .carom-*
}
if [ -n "$power_cut" ]; then
    for names in keep lose; do
        states=''
        for at in 1 2 3 4 5 6 7; do states+="$(cut_at $at $names), "; done
        check "the power fails at each step: old or new, names $names" grep -qvE 'torn' <<< "$states"
        check "at some of them" grep -q '99 old.*0 new' <<< "$states"
        check "after status 0 the new file is there, names $names" test "$(cut_at 0 $names)" = "0 new"
    done
    export POWER_CUT_DEAF=1
    check "without the flush of the file it would be torn" test "$(cut_at 0 keep)" = "0 torn"
    check "without the flush of the folder it would be the old one" test "$(cut_at 0 lose)" = "0 old"
    unset POWER_CUT_DEAF
else
    skip "the power fails" "a sanitized build"
fi
check_end
