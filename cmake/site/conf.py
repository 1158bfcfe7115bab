# SPDX-License-Identifier: MIT
"""The documents as a site, for Sphinx: README.md, docs/ and the public headers (cmake/site.cmake). The documents stay
as they are read on a forge. What they do not say is made here: the menu, from the links of docs/index.md; a page for
each header, from doxygen's XML; pages of the Python package, from its docstrings (python_pages.py); a page for each
file and folder of the repository that a document links to."""
import importlib.util
import os
import pathlib
import re
import sys

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.util.nodes import make_refnode

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ["CAROM_SITE_WORK"])
sys.dont_write_bytecode = True  # beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import python_pages  # noqa: E402

HEADERS, PYTHON = "include/carom", "python/carom"
HAS_PYTHON = all(map(importlib.util.find_spec, ("cffi", "numpy")))  # both of which the package imports
if not HAS_PYTHON:
    print("carom: no cffi or NumPy (Debian: python3-cffi python3-numpy): the site has no pages of the Python package")
CODE = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".in": "text", ".py": "python", ".txt": "text"}
NAMES = re.compile(
    r"((?<![\w.])(?:(?:carom|CAROM)_\w+|(?:carom\.)?[A-Z]\w*\.\w+|carom\.\w+|(?:[A-Z][a-z]+){2,})\b"
    r"|\bdocs/[a-z-]+\.md)"
)
LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)#\s]+)[^)]*\)", re.S)

project = "carom"
extensions = ["breathe", "myst_parser"] + ["sphinx.ext.autodoc", "python_pages"] * HAS_PYTHON
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "api/**.rst", "files/**.rst"]
autodoc_typehints, autodoc_member_order = "none", "bysource"  # docstrings have shapes
myst_heading_anchors = 6
breathe_projects = {"carom": str(WORK / "headers/doxygen/xml")}
breathe_default_project = "carom"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
primary_domain = highlight_language = "c"
# Types of other headers, and unions without a name; parameters of templates in inherited members.
nitpick_ignore_regex = [("c:identifier", r"u?int\d+_t|size_t|cl_\w+|.*\.@\d+"), ("cpp:identifier", "[A-Z]")]
html_theme = "furo"
html_title = "carom"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["index.html"]
html_copy_source = html_show_copyright = html_show_sphinx = False
html_domain_indices = smartquotes = False


def linked(path):
    """Links of a document and where they lead in the repository: (target, path). Links to other sites are left out."""
    for target in LINK.findall((REPOSITORY / path).read_text()):
        if ":" not in target:
            yield target, os.path.normpath(os.path.join(os.path.dirname(path), target))


def documents():
    return [path.relative_to(REPOSITORY).as_posix() for g in ("*.md", "docs/*.md") for path in REPOSITORY.glob(g)]


def page_of(path):
    """The page of a file or folder of the repository."""
    if path == HEADERS:
        return "api/index"
    if path == PYTHON and HAS_PYTHON:
        return "api/python/index"
    if os.path.dirname(path) == HEADERS:
        return "api/" + os.path.basename(path).removesuffix(".h")
    return "files/" + path


def write(folder, page, title, text):
    path = pathlib.Path(folder, page + ".rst")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f":orphan:\n\n{title}\n{'=' * len(title)}\n\n{text}\n")


def write_headers(app):
    names = sorted(os.listdir(REPOSITORY / HEADERS))
    for name in names:
        label = name.replace("_", "__").replace(".", "_8")  # doxygen's
        text = f".. _{label}:\n\n.. doxygenfile:: {name}\n"
        write(app.srcdir, page_of(f"{HEADERS}/{name}"), f"carom/{name}", text)
    toctree = "\n   ".join([".. toctree::", ""] + ["/" + page_of(f"{HEADERS}/{name}") for name in names])
    write(app.srcdir, "api/index", "The headers", toctree)


def write_file(app, path):
    """A page that shows a file, or offers it, or lists a folder."""
    source, page = REPOSITORY / path, page_of(path)
    if source.is_dir():
        inner = [f"{path}/{name}" for name in sorted(os.listdir(source)) if not name.startswith((".", "__"))]
        for each in inner:
            write_file(app, each)
        text = "\n".join(f"* :doc:`/{page_of(each)}`" for each in inner)
    else:
        place = "/" + os.path.relpath(source, app.srcdir)
        text = f":download:`{source.name} <{place}>`\n\n"
        if source.suffix in CODE:
            text += f".. literalinclude:: {place}\n   :language: {CODE[source.suffix]}\n"
    write(app.srcdir, page, path, text)


def write_pages(app):
    write_headers(app)
    if HAS_PYTHON:
        for page, title, text in python_pages.texts(python_pages.load(REPOSITORY, WORK / "python")):
            write(app.srcdir, "api/python/" + page, title, text)
    paths = {path for document in documents() for _, path in linked(document)}
    for path in sorted(paths):
        if not path.endswith(".md") and page_of(path).startswith("files/") and (REPOSITORY / path).exists():
            write_file(app, path)


def add_menu(app, name, source):
    """docs/index.md as on a forge, with a hidden toctree for the links of each of its parts."""
    if name != root_doc:
        return
    text = source[0]
    parts = re.split(r"^## (.*)\n", text, flags=re.M)[1:]
    for caption, part in zip(parts[::2], parts[1::2]):
        pages = [os.path.normpath(os.path.join("docs", target)) for target in LINK.findall(part)]
        pages = ["/" + (page[:-3] if page.endswith(".md") else page_of(page)) for page in pages]
        text += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```\n"])
    source[0] = text


def link_to_file(app, env, node, content):
    """A link to a file or folder of the repository leads to its page, a name of C in a declaration of C++ to C's."""
    if node.get("refdomain") == "cpp":
        c = env.get_domain("c")
        return c.resolve_xref(env, node["refdoc"], app.builder, "identifier", node["reftarget"], node, content)
    page = page_of(os.path.normpath(os.path.join(os.path.dirname(node["refdoc"]), node["reftarget"])))
    if page in env.found_docs:
        return make_refnode(app.builder, node["refdoc"], page, "", content)


def link_names(app, tree, name):
    """Names of the interfaces of C and Python lead to their places, in any document, in the headers' comments and in
    docstrings; docs/PAGE.md too. Of Python: carom.open_mesh, carom.Mesh.closest, Mesh.closest, MeshHitResult."""
    places = {}
    for domain in ("c", "py"):
        for full, _, _, page, anchor, _ in app.env.get_domain(domain).get_objects():
            places[full] = places[full.removeprefix("carom.")] = page, anchor

    def linked_text(text):
        for k, word in enumerate(NAMES.split(text)):
            part, document = nodes.Text(word), word[:-3]
            page, anchor = places.get(word, (document if document in app.env.found_docs else None, ""))
            yield make_refnode(app.builder, name, page, anchor, part) if k % 2 and page else part

    for node in list(tree.findall(nodes.Text)):
        parent, outer = node.parent, node.parent
        is_own = name.startswith("api/") and isinstance(parent, (nodes.paragraph, nodes.term))
        while outer is not None and not isinstance(outer, (nodes.reference, nodes.title)):
            outer = outer.parent
        if outer is None and (is_own or isinstance(parent, nodes.literal)):
            parent.replace(node, list(linked_text(node.astext())))


def setup(app):
    app.connect("builder-inited", write_pages)
    app.connect("source-read", add_menu)
    app.connect("missing-reference", link_to_file)
    app.connect("doctree-resolved", link_names)
    for language in ("lammps", "liggghts", "log"):
        app.add_lexer(language, TextLexer)
