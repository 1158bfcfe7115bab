#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_report.sh CAROM: carom bench --report writes one HTML file that is well-formed, needs nothing else, has what the
# result has, and is drawn by a browser.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bench_file.sh
. "$(dirname "$0")/../support/bench_file.sh"
check_begin "$1"

bench_file 1 > a.json
bench_need_reader a.json reports
machine='"machine":{"kernel":"Linux_9"},"machine_unknown":{"turbo":"hidden"}'
bench_file 2 more=1.2 context=",\"load_warning\":\"busy\",$machine" | sed 's#/peer/x-1.0/#/peer/<x>\&y/#g' > b.json
check "a report" "$carom" bench --from b.json --compare a.json --report b.html -o table.txt
bench_file 3 context=',"machine":{"kernel":"Linux_8"}' | sed 's/"quick": false/"quick": true/
    s/"flags": "none"/"flags": "-O1"/; s/"num_cpus": 2/"num_cpus": 3/; 0,/"cpu_time": [0-9.e+]*, /s///' > c.json
check "of files alone" "$carom" bench --compare b.json a.json c.json --report many.html -o many.txt
check "of several runs" "$carom" bench --report runs.html -o runs.txt --compare a.json b.json -- c.json
bench_file 4 rows=4 > few.json
check "of few rows" "$carom" bench --compare a.json few.json --report few.html -o few.txt
bench_file 5 schema=1 | sed 's/"schema": 1, //' > old.json
check "of an old result" "$carom" bench --from old.json --report old.html -o table.txt
sed -E 's#sweep-0/(fast|exact)#scaling-batch-1000/\1#; s#sweep-1/(fast|exact)#scaling-batch-10000/\1#
    s#"scene": "sweep-[01]"#"scene": "scaling-batch"#; s#("name": "scaling-batch-([0-9]+)/)#"scaling_size": \2, \1#' \
    a.json > series.json
check "of series" "$carom" bench --from series.json --report series.html -o table.txt

python=$(python_with html.parser || true)
if [ -n "$python" ]; then
    pages=(b.html many.html runs.html few.html old.html series.html)
    check "they are well-formed and need nothing else" "$python" - "${pages[@]}" << 'END'
import html.parser, sys

VOID = {"meta", "br", "hr", "img", "link", "input"}

class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.text, self.ids = [], {}, [], set()

    def handle_starttag(self, tag, attributes):
        names = [name for name, value in attributes]
        assert len(names) == len(set(names)), (tag, names)
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "base", "image", "use"), tag
        for name, value in attributes:
            assert name not in ("src", "href", "xlink:href", "srcset", "action", "data") and not name.startswith("on")
            assert "nan" not in (value or "").split() and "inf" not in (value or "").split(), (tag, attributes)
            assert name not in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r") or -1 <= float(value) < 1e5
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)

for path in sys.argv[1:]:
    raw = open(path, "rb").read()
    document = raw.decode("utf-8")
    assert document.startswith("<!DOCTYPE html>") and '<meta charset="utf-8"/>' in document
    assert "http" not in document and "url(" not in document and "@import" not in document, path
    reader = Reader()
    reader.feed(document)
    reader.close()
    assert not reader.open, reader.open
    assert reader.seen["h1"] == 1 and reader.seen["svg"] >= 2 and reader.seen["table"] >= 2, reader.seen
    text = "".join(reader.text)
    assert "made up" in text and "Machine and build" in text
    if path == "b.html":
        assert "busy" in text and "slower" in text and "<x>&y" in text and "1.2" in text
        assert "Linux_9" in text and "not known: hidden" in text and "Roofline" in text
    if path == "many.html":
        assert text.count("What moved") == 2
    if path in ("many.html", "runs.html", "few.html"):  # each sentence of the table's
        lines = open(path.replace("html", "txt")).read().splitlines()
        begins = ("another ", "one of the two", "Between ", "All rows", "No verdict")
        said = [line for line in lines if line.startswith(begins)]
        wanted = {"many.html": 8, "runs.html": 4, "few.html": 1}[path]
        assert len(said) >= wanted, (path, said)
        for line in said:
            assert line in text, (path, line)
    assert ", nan" not in text and "nan," not in text, path
    assert document.count('<div class="wide">') == reader.seen["svg"] + reader.seen["table"], path
    assert document.count("<details") == document.count('<details open="open"'), path
    if path == "series.html":
        assert "Medians over size" in text
print("well-formed")
END
else
    skip "well-formed HTML" "no python3"
fi
if command -v xmllint > /dev/null; then
    for name in b many runs few old series; do
        sed 1d $name.html > $name.xml # but for the doctype it is XML, too
        check "$name.html is XML" xmllint --noout --nonet $name.xml
    done
else
    skip "the HTML is XML" "no xmllint"
fi

browser=$(command -v chromium || true)
if [ -z "$browser" ]; then
    skip "a browser draws it" "no chromium (Debian: chromium)"
elif ! python=$(python_with matplotlib.image numpy) || [ -z "$python" ]; then
    skip "a browser draws it" "no matplotlib to look at the picture"
else
    for name in b series; do
        # No network; the profile goes with the folder. Root and containers have no sandbox.
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
            --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1200,1600 --screenshot="$work/$name.png" \
            "file://$work/$name.html" > browser.txt 2>&1 || true
        check "a browser draws $name.html" "$python" - $name.png << 'END'
import sys
import matplotlib.image
import numpy

picture = matplotlib.image.imread(sys.argv[1])[:, :, :3]
assert picture.shape[:2] == (1600, 1200), picture.shape
drawn = (picture.min(axis=2) < 0.9).mean()
assert 0.005 < drawn < 0.5, drawn  # neither empty nor filled
blue = (numpy.abs(picture - numpy.array([0, 0x72, 0xB2]) / 255).max(axis=2) < 0.02).sum()
assert blue > 500, blue  # the points and their intervals
right = (picture[:, 1185:].min(axis=2) < 0.9).sum()
assert right == 0, right  # nothing reaches beyond the margin
END
    done
fi

# ---- refused ---------------------------------------------------------------------------------------------------------
expect "a name that is no page" 2 "ends in .html, got 'x.pdf'" "$carom" bench --from a.json --report x.pdf
expect "a place that is none" 1 'nowhere' "$carom" bench --from a.json --report nowhere/x.html -o table.txt
ln -s /dev/full full.html
if [ -w /dev/full ]; then
    expect "a full disk" 1 'full' "$carom" bench --from a.json --report full.html -o table.txt
fi
cp b.html kept.html
expect "a bad file leaves the page of before" 2 'stderr.txt' "$carom" bench --from stderr.txt --report kept.html
check "as it was" cmp b.html kept.html
check_end
