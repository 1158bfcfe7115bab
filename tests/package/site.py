# SPDX-License-Identifier: MIT
"""site.py FOLDER: what is wrong with the links of a site. Each line names a page and a link: to a file that is absent,
to an anchor that is absent, or to something from elsewhere that a page would load."""
import html.parser
import os
import pathlib
import sys
import urllib.parse

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {"", "top"}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)
            if (tag, name) in LOADED or (tag, name) == ("a", "href"):
                self.links.append(((tag, name) in LOADED, value or ""))


def faults(root):
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    if not pages:
        yield f"{root}: no page"
    for path, page in pages.items():
        for is_loaded, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    yield f"{path.relative_to(root)}: {link} is from elsewhere"
                continue
            joined = os.path.join(path.parent, urllib.parse.unquote(parts.path)) if parts.path else path
            target = pathlib.Path(os.path.normpath(joined))  # Debian has links to scripts that many packages share
            if not target.is_file() or root not in target.parents:
                yield f"{path.relative_to(root)}: {link} is absent"
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(root)}: {link}: no such anchor"


found = list(faults(pathlib.Path(sys.argv[1]).resolve()))
print("\n".join(found))
sys.exit(bool(found))
