# SPDX-License-Identifier: MIT
# man3.awk -v OUT=FOLDER -v DATE=... -v VERSION=... PAGE...: pages of doxygen, one for a header or a structure, as they
# are installed: with names that are carom's own, and a page for each function beside that of its header.
function begin(path, name) {
    printf ".TH \"%s\" 3 \"%s\" \"carom %s\" \"carom library\"\n.ad l\n.nh\n", toupper(name), DATE, VERSION > path
}
function begin_function(of, text) {
    gsub(/\\f[A-Z]/, "", text)
    printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B #include <carom/%s>\n.PP\n%s\n", of, text,
        header ~ /^carom(_opencl)?[.]h$/ ? header : "carom.h", signature > one
    is_begun = 1
}
function end_function() {
    if (one == "") return
    if (!is_begun) begin_function(of, "of the carom library, described with its neighbours")
    printf ".SH \"SEE ALSO\"\n.BR %s (3)\n", header > one
    close(one)
    one = ""
}
# The first sentence of a paragraph.
function first_sentence(text) {
    sub(/\\&\. .*/, "", text)
    sub(/\\&\. *$/, "", text)
    sub(/ +$/, "", text)
    return text
}
FNR == 1 {
    end_function()
    if (page != "") close(page)
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/[.]3$/, "", name)
    if (name !~ /^carom/) name = "carom_" name
    header = name
    page = OUT "/" name ".3"
    begin(page, name)
    section = ""
    next
}
/^\.(ad l|nh)$/ { next }
{ sub(/ +$/, ""); gsub(/\\fC/, "\\fB"); sub(/^'/, "\\\\\\&'") }
/^\.SH / { section = $0; end_function() }
/^\.SH "?Author/ { section = "author" }
section == "author" { next }
section == ".SH NAME" && / \\- / {
    text = $0
    sub(/^.* \\- /, "", text)
    print name " \\- " first_sentence(text) > page
    next
}
section ~ /^\.SH NAME/ && !/^\.SH/ && NF { print name " \\- of the carom library" > page; next }
/#include '/ { sub(/#include '.*'/, "#include <carom/carom\\\\\\&.h>") }
{ print > page }
# A function: the lines up to the next one.
section ~ /Function Documentation/ && /^\.SS / {
    end_function()
    signature = $0
    sub(/^\.SS "/, "", signature)
    sub(/"$/, "", signature)
    sub(/ *\\f[A-Z]\[inline\].*/, "", signature)
    match(signature, /carom_[a-z0-9_]+ \(/)
    of = substr(signature, RSTART, RLENGTH - 2)
    one = OUT "/" of ".3"
    is_begun = 0
    begin(one, of)
    next
}
one != "" && /[^ ]/ && !/^\./ && !is_begun {
    begin_function(of, /^\\fB[a-z]+\\fP$/ ? "of the carom library" : first_sentence($0))
    print ".SH DESCRIPTION" > one
}
one != "" && is_begun { print > one }
END { end_function() }
