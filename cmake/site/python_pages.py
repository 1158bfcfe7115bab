# SPDX-License-Identifier: MIT
"""Pages of the Python package for the site, from its docstrings. The package is imported as pip builds it, but without
the library: what calls C is a mock. A page has what GROUPS gives it, results stand with the first call that returns
them, and a name without a page is an error."""
import enum
import pathlib
import re
import shutil
import sys
import types

from sphinx.ext.autodoc.mock import mock

# Page, title, the names that it has.
GROUPS = (
    ("contexts", "Contexts", r"Context(\.(close|isa|threads))?|Stats"),
    ("meshes", "Meshes", r"Mesh(\.(?!contacts|distance|clearance|drop).*)?|MeshInfo|Context\.(mesh|open_\w+)"),
    ("scenes", "Scenes", r"Scene(\..*)?|Context\.scene"),
    ("contacts", "Contacts", r"Mesh\.contacts|Context\.match|ContactMatch"),
    ("clouds", "Clouds", r"Context\.spheres\w*"),
    ("lattices", "Lattices", r"Lattice(\..*)?|Mesh\.(distance|clearance|drop\w*)"),
    ("pairs", "Pairs", r"Context\.\w+_pairs"),
    ("files", "Files", r"open_mesh|read|write|MeshFile(\..*)?|MeshPart"),
    ("devices", "Devices and buffers", r"devices|Device\w*|Context\.(devices|buffer)|Buffer(\..*)?|BufferArray"),
    ("jobs", "Jobs", r"Job(\..*)?"),
    ("errors", "Errors", r"Error|InvalidArgument|OutOfMemory"),
    ("enumerators", "Enumerators", None),
)
MADE_BY_USERS = ("Context", "Lattice")  # signatures of other classes are for the package
METHODS = (types.FunctionType, classmethod, property)
ENTRY = re.compile(r"( *)(\w[^`:]*?) : (.*)")


def load(repository, place):
    """The package, with the calls that its generator makes."""
    sys.path.insert(0, str(repository / "python/generator"))
    import generate

    package = pathlib.Path(place, "carom")
    shutil.copytree(repository / "python/carom", package, ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    generate.main(repository / "include", generate.table_of_calls(repository, place), package)
    sys.path.insert(0, str(place))  # not before: Python remembers that it was absent
    with mock(["carom._carom"]):
        import carom
    return carom


def public(carom):
    """Names of the package and of its classes' methods, each with a directive of autodoc. A method of two classes has
    one place."""
    seen = set()
    for name, thing in list(vars(carom).items()):
        if name.startswith("_") or not getattr(thing, "__module__", "").startswith("carom."):
            continue
        if not isinstance(thing, type):
            yield name, "autofunction"
            continue
        yield name, "autoexception" if issubclass(thing, Exception) else "autoclass"
        for base in thing.__mro__:
            for member, value in vars(base).items() if base.__module__.startswith("carom.") else ():
                if not member.startswith("_") and isinstance(value, METHODS) and value not in seen:
                    seen.add(value)
                    yield f"{name}.{member}", "autoproperty" if isinstance(value, property) else "automethod"


def page_of(carom, name, pages):
    """The page of a name, when those of methods are known."""
    thing = getattr(carom, name, None)
    if isinstance(thing, enum.EnumMeta):
        return "enumerators"
    for page, _, names in GROUPS:
        if names and re.fullmatch(names, name):
            return page
    for call in vars(carom._calls).values():
        if isinstance(call, carom._run.Call) and call.result is thing:
            return next(page for method, page in pages.items() if method.endswith("." + call.method))
    raise SystemExit(f"cmake/site/python_pages.py: no page has carom.{name}")


def texts(carom):
    """The pages: (page, title, text), the first of all of them. Results come last on theirs."""
    pages, directives = {}, dict(public(carom))
    for name in sorted(directives, key=lambda name: "." not in name):  # methods, then results
        pages[name] = page_of(carom, name, pages)
    directives = dict(sorted(directives.items(), key=lambda item: hasattr(getattr(carom, item[0], None), "_fields")))
    yield "index", "The Python package", ".. toctree::\n\n   " + "\n   ".join(page for page, _, _ in GROUPS)
    for page, title, _ in GROUPS:
        text = ""
        for name in (name for name in directives if pages[name] == page):
            text += f".. {directives[name]}:: carom.{name}\n"
            if page == "enumerators":
                text += "   :members:\n   :undoc-members:\n"
            text += "\n"
        if page == "scenes":
            shared = [name for name in directives if is_shared(carom, name)]
            text += "A scene answers as a mesh does:\n\n" + "".join(f"* :py:meth:`carom.{name}`\n" for name in shared)
        yield page, title, text


def is_shared(carom, name):
    """Whether a scene has this method of a mesh."""
    method = name.removeprefix("Mesh.")
    return method != name and getattr(carom.Mesh, method) is getattr(carom.Scene, method, None)


# ---- docstrings ------------------------------------------------------------------------------------------------------


def plain(text):
    """Text whose characters mean nothing to reStructuredText, but for `names`."""
    parts = re.split(r"`([^`]*)`", text)
    parts[::2] = [re.sub(r"([\\*|`])|_(?!\w)", lambda m: "\\" + m[0], part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def docstring(app, what, name, thing, options, lines):
    """Sections, and entries of the form `name : what it is`, as reStructuredText."""
    given, lines[:] = list(lines), []
    for i, line in enumerate(given):
        entry, margin = ENTRY.fullmatch(line), line[: len(line) - len(line.lstrip())]
        if i + 1 < len(given) and re.fullmatch("---+", given[i + 1]):
            lines.append(f".. rubric:: {line}")
        elif re.fullmatch("---+", line):
            lines.append("")
        elif entry:
            if lines and lines[-1].startswith(margin) and lines[-1][len(margin) :][:1] not in ("", " "):
                lines.append("")
            lines += [f"{margin}``{entry[2]}``", f"{margin}    {plain(entry[3])}"]
        else:
            if line and lines and lines[-1].startswith(margin + " "):
                lines.append("")
            lines.append(margin + plain(line.lstrip()))


def signature(app, what, name, thing, options, text, returned):
    if what == "exception" or (
        what == "class" and not issubclass(thing, tuple) and thing.__name__ not in MADE_BY_USERS
    ):
        return "", None
    return text, returned


def setup(app):
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
