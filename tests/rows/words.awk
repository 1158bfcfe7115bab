# SPDX-License-Identifier: MIT
# words.awk: holds names and comments of C against the table of words.
#
#     awk -v comments="kernels cpu" -f words.awk docs/words.md FILE...
#
# A row's last column names folders. In these no part of an identifier is a word of the first column, except in the
# identifiers behind "but". In the folders `comments` each comment begins with its noun. Prints at most 20 offenders.

function fail(message) {
    if (++bad <= 20)
        print FILENAME ":" FNR ": " message
}

# A row of the table: its old words, its folders and its excepted identifiers.
function row(cell, count,    old, held, i, k, words, folders) {
    old = cell[2]
    gsub(/\([^)]*\)/, "", old)
    held = cell[count - 1]
    if (split(held, folders, /, but /) > 1) {
        held = folders[1]
        split(folders[2], words, /[ ,]+/)
        for (i in words)
            excepted[words[i]] = 1
    }
    words_count = split(old, words, /[ ,]+/)
    folders_count = split(held, folders, /[ ,]+/)
    for (i = 1; i <= words_count; i++)
        for (k = 1; k <= folders_count; k++)
            if (words[i] != "" && folders[k] != "")
                retired[folders[k], words[i]] = 1
}

function identifiers(code,    part, parts, name, count, i) {
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*/)) {
        name = substr(code, RSTART, RLENGTH)
        code = substr(code, RSTART + RLENGTH)
        count = split(tolower(name), parts, /_|[0-9]+/)
        for (i = 1; i <= count; i++)
            if ((folder, parts[i]) in retired && !(name in excepted))
                fail(name ": \"" parts[i] "\" is replaced in docs/words.md")
    }
}

function comment_begin(text) {
    if (index(" " comments " ", " " folder " ") &&
        text ~ /^\/\* *(Those|What|That of|The ones? (of|that|whose|which)|Such)( |$)/)
        fail("the comment begins without its noun")
}

FNR == 1 { folder = FILENAME; sub(/\/.*/, "", folder); in_comment = 0; is_table = FILENAME ~ /words[.]md$/ }
is_table && /^## / { is_replaced = /^## Replaced/ }
is_table && is_replaced && /^\| [a-z]/ && !/^\| old/ { row(cell, split($0, cell, / *\| */)) }
is_table { next }
{
    line = $0
    code = ""
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            in_comment = !end
            line = end ? substr(line, end + 2) : ""
        } else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/)) {
            code = code substr(line, 1, RSTART - 1) " "
            token = substr(line, RSTART, 2)
            in_comment = token == "/*"
            if (in_comment)
                comment_begin(substr(line, RSTART))
            line = token == "//" ? "" : substr(line, RSTART + (in_comment ? 2 : RLENGTH))
        } else {
            code = code line
            line = ""
        }
    }
    identifiers(code)
}
END {
    if (bad > 20)
        print "and " bad - 20 " more"
    exit bad > 0
}
