# SPDX-License-Identifier: MIT
"""Runs what README.md, docs/python.md, docs/python-files.md, docs/python-recipes.md and docs/from-*.md show, and every
program of examples/python.

A page is one program: its blocks run in their order, in one namespace and an empty folder. What a page may hold:

    ```python    runs. A block ```text right behind it is what it prints.
    ```c         a program: compiled with carom, and run.
    ```liggghts  an input script, that LIGGGHTS runs.
    ```lammps    an input script, that lmp-carom runs: LAMMPS with fix wall/carom.
    | X | carom |    a table: the code in its column `carom` runs. The other column runs if the table needs something.
    <!-- needs: a, b -->    before a block or a table: skipped without the modules, programs or C libraries a, b
    <!-- check: EXPRESSION -->    must be true after the blocks above; readers do not see it
"""
import contextlib
import importlib
import io
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(os.environ.get("CAROM_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
NAMED = ["README.md", "docs/python.md", "docs/python-files.md", "docs/python-recipes.md"]
PAGES = [ROOT / name for name in NAMED] + sorted((ROOT / "docs").glob("from-*.md"))
EXAMPLES = sorted((ROOT / "examples/python").glob("*.py"))
RUN = ("python", "c", "liggghts", "lammps")
LIBRARIES = {"embree3": "-lembree3"}  # what C programs of pages may need
COMMANDS = {"liggghts", "lmp-carom"}  # what pages need that is no module of Python


class Item:
    """A block, a table's cell or a check."""

    def __init__(self, kind, line, text, needs=()):
        self.kind, self.line, self.text, self.needs, self.shown = kind, line, text, needs, None


def parse(lines):
    """The items of a page, in order."""
    items, needs, before, i = [], (), None, 0  # before: the item of the block right above, if it is one
    while i < len(lines):
        line = lines[i]
        note = re.match(r"<!-- (needs|check): (.*) -->$", line)
        fence = re.match(r"```(\w+)$", line)
        if note and note[1] == "needs":
            needs = tuple(name.strip() for name in note[2].split(","))
        elif note:
            items.append(Item("check", i + 1, note[2]))
        elif fence:
            end = lines.index("```", i + 1)
            text = "\n".join(lines[i + 1 : end])
            if fence[1] == "text" and before is not None and lines[i - 2 : i] == ["```", ""]:
                before.shown = text
            before = None
            if fence[1] in RUN:
                before = Item(fence[1], i + 1, text, needs)
                items.append(before)
                needs = ()
            i = end
        elif line.startswith("|"):
            end = i
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            items += cells(lines[i:end], i + 1, needs)
            needs, i = (), end - 1
        i += 1
    return items


def cells(rows, first, needs):
    """The code in a table, row by row. Cells of several spans are several statements."""
    split = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    if "carom" not in split[0]:
        return []
    own, found = split[0].index("carom"), []
    for k, row in enumerate(split[2:]):
        for column, cell in enumerate(row):
            if column != own and not needs:
                continue
            for code in re.findall(r"`([^`]+)`", cell):
                found.append(Item("python", first + 2 + k, code, () if column == own else needs))
    return found


def is_missing(name):
    """Whether a module, a program or a C library is not there."""
    if name in LIBRARIES:
        compiler = shutil.which("cc")
        link = [compiler, "-shared", "-x", "c", "/dev/null", LIBRARIES[name], "-o", "/dev/null"]
        return compiler is None or subprocess.run(link, capture_output=True).returncode != 0
    if name in COMMANDS:
        return shutil.which(name) is None
    try:
        importlib.import_module(name)
    except ImportError:
        return True
    return False


def run_input(program, text):
    """An input script, by LIGGGHTS or LAMMPS."""
    pathlib.Path("in.page").write_text(text + "\n")
    ran = subprocess.run([program, "-in", "in.page"], capture_output=True, text=True, errors="replace")
    assert ran.returncode == 0, ran.stdout[-1000:] + ran.stderr[-1000:]


class Page:
    """A page that runs item by item."""

    def __init__(self, path):
        self.path, self.names, self.next, self.folder = path, {"__name__": "page"}, 0, None
        self.items = parse(path.read_text().split("\n"))

    def run_to(self, number):
        """Run what stands before item `number`, then the item."""
        while self.next < number:
            self.next += 1
            try:
                self.run(self.items[self.next - 1])
            except (Exception, pytest.skip.Exception):  # its own test says so
                pass
        self.next = max(self.next, number + 1)
        self.run(self.items[number])

    def run(self, item):
        for name in item.needs:
            if is_missing(name):
                pytest.skip(f"{self.path.name}:{item.line}: there is no {name}")
        with contextlib.chdir(self.folder):
            if item.kind == "check":
                self.check(item)
                return
            said = getattr(self, f"run_{item.kind}")(item)
        if item.shown is not None:
            assert said.rstrip("\n") == item.shown

    def check(self, item):
        missing = [name for name in re.findall(r"[A-Za-z_]\w*", item.text) if name in self.skipped()]
        if missing:
            pytest.skip(f"{self.path.name}:{item.line}: {missing[0]} was not computed")
        assert eval(self.code(item, "eval"), self.names), item.text

    def skipped(self):
        """Names that blocks would have made, of which a package is missing."""
        found = set()
        for item in self.items:
            if any(is_missing(name) for name in item.needs):
                found |= set(re.findall(r"\w+", " ".join(re.findall(r"^ *((?:\w+, )*\w+) =", item.text, re.M))))
        return found - set(self.names)

    def code(self, item, mode):
        return compile("\n" * item.line + item.text, str(self.path), mode)

    def run_python(self, item):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(self.code(item, "exec"), self.names)
        return out.getvalue()

    @staticmethod
    def run_liggghts(item):
        run_input("liggghts", item.text)
        return ""

    @staticmethod
    def run_lammps(item):
        run_input("lmp-carom", item.text)
        return ""

    @staticmethod
    def run_c(item):
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("there is no C compiler")
        import carom

        library = next(pathlib.Path(carom.__file__).parent.glob("libcarom.so*"))
        pathlib.Path("program.c").write_text(item.text)
        flags = [LIBRARIES[name] for name in item.needs if name in LIBRARIES]
        subprocess.run(
            [
                compiler,
                "-std=c17",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-ffp-contract=off",
                f"-I{ROOT}/include",
                "program.c",
                str(library),
                f"-Wl,-rpath,{library.parent}",
                *flags,
                "-lm",
                "-o",
                "program",
            ],
            check=True,
        )
        return subprocess.run(["./program"], check=True, capture_output=True, text=True).stdout


PROGRAMS = {path: Page(path) for path in PAGES}


def each_item():
    for path, page in PROGRAMS.items():
        lines = [item.line for item in page.items]
        for number, line in enumerate(lines):
            nth = lines[:number].count(line)  # a row of a table has several
            yield pytest.param(page, number, id=f"{path.name}:{line}" + (f".{nth + 1}" if nth else ""))


@pytest.mark.parametrize("page, number", each_item())
def test_page(page, number, tmp_path_factory):
    if page.folder is None:
        page.folder = tmp_path_factory.mktemp(page.path.stem)
    page.run_to(number)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path, tmp_path):
    """An example runs, and prints what its docstring says behind `It prints:`, or ends with it (`at its end`)."""
    import carom

    text = path.read_text()
    for name in re.findall(r"^# needs: (\w+)$", text, re.M):
        if is_missing(name):
            pytest.skip(f"{path.name}: there is no {name}")
    program = "import sys, runpy; sys.path.insert(0, sys.argv.pop(1)); runpy.run_path(sys.argv[1], run_name='__main__')"
    folder = pathlib.Path(carom.__file__).parents[1]
    arguments = [sys.executable, "-c", program, str(folder), str(path)]
    ran = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    shown = re.search(r"It prints( at its end)?:\n\n(.*?)\n\"\"\"", text, re.S)
    assert shown, "an example says what it prints"
    said, wanted = ran.stdout.rstrip("\n").split("\n"), [line.removeprefix("    ") for line in shown[2].split("\n")]
    assert (said[-len(wanted) :] if shown[1] else said) == wanted


def columns_of(text, first):
    """The columns of the table whose first header is `first`, by their headers."""
    lines = text[text.index(f"| {first} |") :].split("\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    return {header: [row[k] for row in rows[2:]] for k, header in enumerate(rows[0])}


def test_rivals(capsys):
    """The signs in docs/from-open3d.md, but Open3D's: these depend on the build."""
    if is_missing("vtkmodules"):
        pytest.skip("there is no vtkmodules")
    runpy.run_path(str(ROOT / "bench/rivals.py"))["signs"](20_000)
    found = columns_of(capsys.readouterr().out + "\n", "a cube")
    shown = columns_of((ROOT / "docs/from-open3d.md").read_text(), "a cube")
    for name in ("a cube", "carom, robust", "VTK"):
        assert found[name] == shown[name]


def test_all_calls():
    """docs/python.md names each method of contexts, meshes and scenes, and functions of the library that exist."""
    import carom
    from carom._carom import lib

    text = (ROOT / "docs/python.md").read_text()
    table = text[text.index("## All calls") : text.index("## What you will miss")]
    named = set(re.findall(r"`(?:context\.|mesh\.)?(\w+)`", table))
    public = {name for kind in (carom.Context, carom.Mesh, carom.Scene) for name in dir(kind) if name[0] != "_"}
    assert not public - named
    for row in table.split("\n")[4:-2]:
        first, *ends = re.findall(r"`(\w+)`", row.split(" | ")[1])
        stems = first.rsplit("_", 1)[0], "_".join(first.split("_")[:2])
        assert hasattr(lib, first), first
        for end in ends:
            assert hasattr(lib, end) or any(hasattr(lib, stem + end) for stem in stems), end
