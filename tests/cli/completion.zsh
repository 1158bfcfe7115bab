#!/bin/zsh
# SPDX-License-Identifier: MIT
# completion.zsh SCRIPT LINE...: what the Tab key offers behind each line, in a zsh of its own on a pseudo terminal,
# with the completion of SCRIPT. Prints `line N`, then one offer on each line.
zmodload zsh/zpty || exit
script=$1
shift
zpty shell zsh -f -i
send() { zpty -w shell "$1"; }
send 'PS1= PS2= RPS1=; stty -echo; setopt no_zle_bracketed_paste 2> /dev/null; unset zle_bracketed_paste'
send 'autoload -Uz compinit && compinit -D -u'
send "source ${(q)script}"
# Offers are printed, not shown; the marks stand around them.
send "mark() { print -r -- '<'@'>'; compprefuncs=(mark) comppostfuncs=(mark) }"
send 'compprefuncs=(mark) comppostfuncs=(mark)'
send 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a offered; builtin compadd -A offered "$@"; local n=$#offered
  (( n )) && print -rl -- $offered
  return $(( n == 0 ))
}'
send "bindkey '^I' complete-word; print READY'_NOW'"
zpty -r -m shell seen '*READY_NOW*' || exit
for line; do
    zpty -w -n shell "$line"$'\t'
    print -r -- "line $(( ++count ))"
    zpty -r -m shell seen '*<@>*<@>*' || exit
    print -r -- ${${${seen#*<@>}%<@>*}//$'\r'/}
    zpty -w -n shell $'\C-u' # an empty line again
done
zpty -d shell
