# SPDX-License-Identifier: MIT
"""snippets.py SOURCE [DOCUMENT...]: blocks of code in README.md, CONTRIBUTING.md and docs/, or in the documents, that
no test runs and that do not say why. A line `<!-- not run: REASON -->` above a block says why. What runs which
documents is read in the tests: readme.sh and its callers run `sh` and `c`, test_pages.py its RUN, packages.sh what is
marked `chroot`. Output, in `text`, belongs to the block above it."""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()


def run_by_shell():
    """Documents that readme.sh runs, by itself or for another test."""
    found = set()
    for script in ROOT.glob("tests/*/*.sh"):
        text = script.read_text()
        if script.name == "readme.sh":
            found |= set(re.search(r"^documents=\((.*?)\)", text, re.M | re.S)[1].split())
        elif 'readme.sh" ' in text:
            lines = [line for line in text.split("\n") if 'readme.sh" ' in line or " ls docs/" in line]
            for pattern in re.findall(r"docs/[\w*-]+\.md", "\n".join(lines)):
                found |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)}
    return found


def run_by_python():
    """Documents and languages that test_pages.py runs."""
    text = (ROOT / "python/tests/test_pages.py").read_text()
    values = {node.targets[0].id: node.value for node in ast.parse(text).body if isinstance(node, ast.Assign)}
    globs = re.findall(r'ROOT / "docs"\)\.glob\("([^"]+)"\)', text)
    found = {path.relative_to(ROOT).as_posix() for glob in globs for path in (ROOT / "docs").glob(glob)}
    return found | set(ast.literal_eval(values["NAMED"])), set(ast.literal_eval(values["RUN"]))


def unmarked(path, languages):
    """Blocks of a document: (line, language) of each that is neither run nor marked."""
    lines = path.read_text().split("\n")
    is_run, i = False, 0
    while i < len(lines):
        fence = re.match(r" *```(\S*)$", lines[i])
        if fence:
            above = next((line for line in reversed(lines[:i]) if line.strip()), "")
            is_output = fence[1] == "text" and above.strip() == "```" and is_run
            is_run = is_output or fence[1] in languages and "<!-- not run" not in above
            is_run = is_run or bool(re.search(r"<!-- (from \S+|chroot) -->", above))
            if not is_run and not re.search(r"<!-- not run: [^>]+ -->", above):
                yield i + 1, fence[1] or "no language"
            is_run = is_run or fence[1] != "text"  # output of a block that is marked is marked with it
            i = next(k for k in range(i + 1, len(lines)) if lines[k].strip() == "```")
        i += 1


shell, (python, kinds) = run_by_shell(), run_by_python()
documents = sys.argv[2:] or ["README.md", "CONTRIBUTING.md"] + sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")
)
found = []
for name in documents:
    languages = ({"sh", "c"} if name in shell else set()) | (kinds if name in python else set())
    found += [f"{name}:{line}: a block of {kind} that no test runs" for line, kind in unmarked(ROOT / name, languages)]
print("\n".join(found))
sys.exit(bool(found))
