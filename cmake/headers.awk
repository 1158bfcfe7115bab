# SPDX-License-Identifier: MIT
# headers.awk FILE: a public header as doxygen is to see it, for the manual pages of section 3. The comment behind the
# licence is the file's. Lines such as `returns CAROM_OK | ...`, whose continuations are indented, become paragraphs of
# their own, with the first word as their title.
function text_of(line) { sub(/^ *\/\/\/ ?/, "", line); return line }
function margin_of(line) { match(line, /^ */); return substr(line, 1, RLENGTH) }
# Whether line k of the block begins such a paragraph.
function begins(k, text) {
    text = text_of(block[k])
    return text ~ /^[a-z]/ && (text ~ /^returns / || text ~ /^[a-z_]+  +[^ ]/ ||
        (k < count && text_of(block[k + 1]) ~ /^    +[^ ]/))
}
function flush_block(k, text, margin, title) {
    for (k = 1; k <= count; k++) {
        text = text_of(block[k])
        margin = margin_of(block[k])
        if (k == 1 && !seen_file) {
            print margin "/// @file"
            text = "@brief " text
            seen_file = 1
        }
        if (begins(k)) {
            title = text
            if (!match(title, /^[a-z_, ]+:( |$)/)) match(title, /^[^ ]+/) # "returns", or "in, out, err:"
            title = substr(title, 1, RLENGTH)
            sub(/: ?$/, "", title)
            text = substr(text, RLENGTH + 1)
            sub(/^ +/, "", text)
            print margin "///\n" margin "/// @par " title "\n" margin "/// " text
        } else
            print margin "/// " text
    }
    count = 0
}
/^ *\/\/\/($|[^<])/ { block[++count] = $0; next }
{ flush_block(); print }
END { flush_block() }
