# SPDX-License-Identifier: MIT
# count.awk LOG [JUNIT]: "passed", "failed" or "skipped", a tab, and a name: of each cmocka test or check that a row ran.
#
# A CTest entry holds many of them: their marks stand in its output in CTest's JUnit file. An entry without any mark
# counts as one; one that failed without a mark that says so ended early. In the log itself only marks at the beginning
# of a line count, after "--- PROGRAM": CTest's copies of the output are behind a number there.

# The mark on this line, if there is one. cmocka lists what failed once more, with a number instead of a name.
function mark(program, text,   verdict) {
    if (!match(text, /\[ *(OK|SKIPPED|FAILED) *\] /))
        return ""
    verdict = substr(text, RSTART, RLENGTH)
    verdict = verdict ~ /OK/ ? "passed" : verdict ~ /SKIPPED/ ? "skipped" : "failed"
    text = substr(text, RSTART + RLENGTH)
    if (text ~ /^([^ ]+: )?[0-9]+ test\(s\)/)
        return ""
    print verdict "\t" (program == "" ? "" : program ": ") text
    return verdict
}
function attribute(name) {
    return match($0, " " name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : ""
}
{ gsub(/&quot;/, "\""); gsub(/&apos;/, "\047"); gsub(/&lt;/, "<"); gsub(/&gt;/, ">"); gsub(/&amp;/, "\\&") }

FILENAME !~ /[.]xml$/ {
    if (/^--- /)
        program = substr($0, 5)
    else if (match($0, /^[ \t]+[0-9]+ - [^ ]+ \(.*\)$/)) # CTest's list of what failed: number - name (reason)
        died[$3] = substr($0, index($0, "(") + 1, length($0) - index($0, "(") - 1)
    else if (/^\[/)
        mark(program, $0)
    next
}
/<testcase / {
    entry = attribute("name")
    status = attribute("status")
    reason = status
    marks = failures = 0
}
/<failure |<skipped / { if (attribute("message") != "") reason = attribute("message") }
entry != "" {
    verdict = mark(entry, $0)
    marks += verdict != ""
    failures += verdict == "failed"
}
/<\/testcase>/ {
    if (status == "run" && !marks)
        print "passed\t" entry
    else if (status != "run" && !failures)
        print "failed\t" entry ": ended early (" (entry in died ? died[entry] : reason) ")"
    entry = ""
}
