# SPDX-License-Identifier: MIT
"""What the public headers say: their declarations for cffi, and the words of their comments."""
import os
import pathlib
import re

HEADERS = ("context", "batch", "pairs", "mesh", "scene", "lattice", "cloud")


# The handles of carom_opencl.h, which come from OpenCL's own headers: pointers. They need not be there.
OPENCL = "".join(
    f"typedef struct _cl_{name} *cl_{name};\n" for name in ("context", "device_id", "command_queue", "mem", "event")
)


def _read(folder, names=HEADERS):
    return "\n".join((pathlib.Path(folder) / "carom" / f"{name}.h").read_text() for name in names)


def declarations(folder):
    """The text for ffi.cdef: all declarations."""
    return _plain(_read(folder))


def opencl_declarations(folder):
    """Those of carom_opencl.h, as C that needs no header of OpenCL."""
    return OPENCL + _plain(_read(folder, ["carom_opencl"]))


def _plain(text):
    """Declarations without comments, macros, function bodies and earlier names."""
    sizes = dict(re.findall(r"^#define (CAROM_\w+) (\d+)$", text, re.M))
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"static inline[^{]*\{.*?\n\}", "", text, flags=re.S)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{|^\}$', "", text, flags=re.M)
    # A member with an earlier name is a union of both: the newer one, which comes first, is enough.
    text = re.sub(r"CAROM_RENAMED\s*\{([^;]*;)[^}]*\};", r"\1", text)
    text = text.replace("CAROM_API ", "")
    text = re.sub(r"\[(CAROM_\w+)\]", lambda match: f"[{sizes[match[1]]}]", text)
    return re.sub(r"\n\s*\n+", "\n", text)


def _words(comment):
    """A comment's text, without its slashes; paragraphs stay apart."""
    lines = [re.sub(r"^\s*///?<?\s?", "", line).rstrip() for line in comment.strip("\n").split("\n")]
    return "\n".join(lines).strip()


def function_words(folder):
    """The comment before each function, by its name."""
    found = re.finditer(r"((?:^///[^\n]*\n)+)CAROM_API\s[^;(]*?(carom_\w+)\(", _read(folder), re.M)
    return {match[2]: _words(match[1]) for match in found}


def member_words(folder):
    """The comment of each member, by structure and member."""
    words = {}
    for match in re.finditer(r"^typedef struct (carom_\w+) \{\n(.*?)^\} \1;", _read(folder), re.M | re.S):
        words[match[1]] = _members(match[2])
    return words


def _members(body):
    words, before = {}, []
    last = []  # the members of the line before, whose comment may go on
    for line in body.split("\n"):
        code, _, comment = line.partition("//")
        comment = re.sub(r"^/<?\s?", "", comment)
        if not code.strip():
            if "///<" in line and last:
                for name in last:
                    words[name] += " " + comment.strip()
            elif comment:
                before.append(comment.strip())
            continue
        if ";" not in code:
            continue
        last = [re.sub(r"\[.*", "", part).strip("* ;").split()[-1].strip("*") for part in code.split(";")[0].split(",")]
        for name in last:
            words[name] = " ".join(before + [comment.strip()]).strip() or words.get(name, "")
        before = []
    return words


def enumerators(folder):
    """The enumerators of each enum, by its name: (name, the same without what all of them begin with, value)."""
    enums = {}
    for match in re.finditer(r"^typedef enum (carom_\w+) \{\n(.*?)^\} \1;", _read(folder), re.M | re.S):
        values = re.findall(r"(CAROM_\w+) = (\d+)", match[2])
        shared = os.path.commonprefix([name for name, _ in values])
        shared = shared[: shared.rindex("_") + 1]
        enums[match[1]] = [(name, name.removeprefix(shared), int(value)) for name, value in values]
    return enums
