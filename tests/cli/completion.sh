#!/bin/bash
# SPDX-License-Identifier: MIT
# completion.sh CAROM: what bash, zsh and fish offer behind a command line. What there is to offer is taken from --help;
# values are written by hand.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
tests=$(realpath "$(dirname "$0")")
check_begin "$1"
mkdir bin
ln -s "$carom" bin/carom
export PATH=$work/bin:$PATH
for shell in bash zsh fish; do
    expect "carom completion $shell" 0 '' "$carom" completion $shell
    cp stdout.txt "carom.$shell"
done
expect "an unknown shell" 2 "bash, zsh or fish, got 'csh'" "$carom" completion csh
expect "no shell" 2 "bash, zsh or fish" "$carom" completion
if [ -w /dev/full ]; then expect "a full disk" 1 'No space left' bash -c "'$carom' completion bash > /dev/full"; fi

# ---- lines, and what is to be offered --------------------------------------------------------------------------------
lines=() wanted=()
offer() { # LINE WORD...: all that is offered, but for -o, which --help does not list; options behind a - alone
    lines+=("$1")
    shift
    wanted+=("$(printf '%s\n' "$@" | LC_ALL=C sort -u | xargs)")
}
names() { "$carom" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z ]*[a-z]\)  .*/\1/p'; }
mapfile -t commands < <(names)
mapfile -t tops < <(names | cut -d ' ' -f 1)
mapfile -t bakes < <(names bake | cut -d ' ' -f 2)
equal "help lists commands of one word and of two" yes \
    "$([ ${#tops[@]} -gt ${#bakes[@]} ] && [ ${#bakes[@]} -gt 5 ] && echo yes)"
offer 'carom ' "${tops[@]}"
offer 'carom --' --help --version
offer 'carom bake ' "${bakes[@]}"
offer 'carom bake --' --help --version
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # one word or two
    mapfile -t options < <("$carom" $command --help | sed -n 's/^  \(--[a-z-]*\) .*/\1/p')
    check "carom $command --help lists options" test ${#options[@]} -gt 2
    offer "carom $command --" "${options[@]}"
done
offer 'carom sweep --accuracy ' fast exact
offer 'carom verify --backend ' auto cpu opencl
offer 'carom bench --isa ' auto scalar sse4.1 avx2 avx512 neon
offer 'carom bench --isa s' scalar sse4.1
offer 'carom sweep --start ' report skip-parting skip
offer 'carom overlap --sign ' none parity winding robust
offer 'carom info --progress ' auto plain json none
offer 'carom sweep --hits ' first all any
offer 'carom overlap --hits ' any count all closest
offer 'carom spheres --hits ' all first any count
offer 'carom bake path --hits ' first all any
offer 'carom bake distance --with ' triangle feature point gradient
offer 'carom bake drop --with ' triangle feature point
offer 'carom completion ' bash zsh fish
offer 'carom sweep --threads '
offer 'carom sweep --accuracy fast --back' --backend
offer 'carom bake distance --mesh ' other.csv wall.stl
offer 'carom bake join w' wall.stl

# same NAME FILE: the offers in the file, behind `line N`, are those that are wanted
same() {
    local i got text='' hidden
    for i in "${!lines[@]}"; do
        hidden=$([[ ${lines[i]} == *-* ]] && echo '^-o$' || echo '^-')
        got=$(sed -n "/^line $((i + 1))\$/,/^line $((i + 2))\$/p" "$2" |
            { grep -v -e '^line ' -e "$hidden" -e '^$' || true; } | LC_ALL=C sort -u | xargs)
        if [ "$got" != "${wanted[i]}" ]; then
            text+=$(printf "'%s': wanted %s\n    got %s" "${lines[i]}" "${wanted[i]:-nothing}" "${got:-nothing}")
            text+=$'\n'
        fi
    done
    nothing "$1 offers what there is, on ${#lines[@]} lines" "$text"
}

# ---- bash ------------------------------------------------------------------------------------------------------------
# The function as bash calls it; where it leaves the rest to readline, files by compgen.
cat > offers.bash << 'END'
source ../carom.bash
set -u # nor may a user's own separators disturb
count=0
compopt() { default=no; }
for line; do
    echo "line $((++count))"
    read -ra COMP_WORDS <<< "$line"
    [[ $line != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) default=yes
    IFS=:
    _carom carom "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    unset IFS
    if [ ${#COMPREPLY[@]} -gt 0 ]; then printf '%s\n' "${COMPREPLY[@]}"
    elif [ $default = yes ]; then compgen -f -- "${COMP_WORDS[COMP_CWORD]}"; fi
done
END
mkdir here # the files in it are offered
touch here/wall.stl here/other.csv
cd here
bash ../offers.bash "${lines[@]}" > ../offers 2> ../said || true
nothing "bash has nothing to say" "$(cat ../said)"
same bash ../offers
# Words of --option=value come apart at the =.
separated=$(COMP_WORDS='' bash -c 'source ../carom.bash
    COMP_WORDS=(carom sweep --isa = avx) COMP_CWORD=4; _carom carom avx =; echo "${COMPREPLY[@]}"
    COMP_WORDS=(carom sweep --isa =) COMP_CWORD=3; _carom carom = --isa; echo "${#COMPREPLY[@]}"
    COMP_WORDS=(carom bake distance --with point,f) COMP_CWORD=4; _carom carom point,f --with; echo "${COMPREPLY[@]}"')
equal "bash: --option=value, and lists" "avx2 avx512
6
point,feature" "$separated"
# With a terminal, the Tab key, and readline's own files.
if command -v script > /dev/null; then
    typed=$(printf 'source ../carom.bash\ncarom bake distance --mesh wa\t--accu\te\t\nexit\n' |
        TERM=dumb timeout 60 script -qc 'bash --norc --noprofile -i' /dev/null 2>&1 | tr -d '\r\a' || true)
    check "bash on a terminal" grep -qF 'carom bake distance --mesh wall.stl --accuracy exact' <<< "$typed"
else
    skip "bash on a terminal" "no script (Debian: bsdutils)"
fi

# ---- zsh and fish ----------------------------------------------------------------------------------------------------
if command -v zsh > /dev/null; then
    timeout 300 zsh -f "$tests/completion.zsh" "$work/carom.zsh" "${lines[@]}" > ../offers < /dev/null || true
    same zsh ../offers
else
    skip "zsh" "not installed (Debian: zsh)"
fi
if command -v fish > /dev/null; then
    # shellcheck disable=SC2016 # fish's own
    HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work fish --no-config -c 'source ../carom.fish
        for i in (seq (count $argv)); echo "line $i"; complete -C $argv[$i]; end' "${lines[@]}" 2> ../said |
        cut -f 1 > ../offers
    nothing "fish has nothing to say" "$(cat ../said)"
    same fish ../offers
else
    skip "fish" "not installed (Debian: fish)"
fi
check_end
