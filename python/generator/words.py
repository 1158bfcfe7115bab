# SPDX-License-Identifier: MIT
"""Docstrings: the comments of the headers, in the words of the package."""
import re
import textwrap

from table import class_name

# Sentences that are for callers of C alone.
FOR_C = re.compile(
    "capacity|too short|[Gg]oing on|has to be cut|go on from|must (not )?be None|pointer may be|caller's; any|"
    "a_end|begin = |^; `stats`|kernel that reads|earlier name|same number everywhere|number differs"
)
AS_EVERYWHERE = re.compile(r"[Ii]n, out, (list, )?stats, err, bits,\s+threads: as carom_sweep_pairs\.?")
# A line that begins a block of its own: those that have a title are shown.
BLOCK = re.compile(r"(in, out|in|out|stats|err|returns|bits|cost|device|source|threads)\b[:, ]\s*(.*)")
# What is no call.
OTHERS = {
    "carom_mesh_desc": "Context.mesh",
    "carom_mesh_update": "Mesh.update",
    "carom_scene_mesh": "a scene",
    "carom_scene_update": "Scene.update",
    "CAROM_OVERLAP_INVALID": "255 (invalid)",
    "CAROM_COUNT_INVALID": "4294967295",
}
# Words for parameters whose comments are about C.
INSTEAD = {
    "sign": "with one the mesh is a body: 'parity' takes closed meshes, 'winding' closed ones whose normals agree, "
    "'robust' all meshes",
    "allow_open": "take an open mesh, which 'parity' and 'winding' refuse",
    "bundle": "K queries in a row have one answer together (docs/for-robots.md); 0: none",
    "against": "the members of the second cloud: center, radius and optionally velocity, mask, group, t_max. "
    "Pairs are those of a sphere a of this cloud and a sphere b of that one, and no others",
}
TITLES = (("returns", "Raises"), ("cost", "Cost"), ("device", "Devices"), ("source", "Source"))
NAMES = {"f4": "float32", "i4": "int32", "u4": "uint32", "i8": "int64", "u8": "uint64", "u1": "uint8", "i1": "int8"}
EXTENTS = {"query": "n", "offset": "n + 1", "record": "records", "node": "..."}


class Words:
    def __init__(self, table):
        self.table = table
        self.names = {}  # of the library, in Python
        for call in reversed(table.calls):  # of calls with the same structure the first gives its name
            self.names.update({call.name: call.method, call.desc: call.method})
            if call.out:
                self.names[call.out] = class_name(call.out)
        self.names.update(OTHERS)
        self.names.update({name: f"carom.{class_name(name)}" for name in table.enums})
        for name, enum, word in table.constants:
            self.names[name] = word if enum in ("carom_status", "carom_state", "carom_feature") else f"'{word.lower()}'"
            if enum == "carom_status":
                self.names[name] = word.removeprefix("ERROR_")

    def plain(self, text):
        """A comment without what is C's."""
        text = re.sub(r"\b(data|x) == NULL\b|\bNULL\b", "None", text)
        text = re.sub(r"^\[[^\]]*\](\[3\])?(, of bundles \[[^\]]*\]:)? ?", "", text).replace("*band", "band")
        text = " ".join(s for s in re.split(r"(?<=[.;]) +", text) if not FOR_C.search(s)).rstrip(";")
        text = re.sub(r"\b(carom|CAROM)_\w+", lambda match: self.names.get(match[0], match[0]), text)
        return text.replace("[count] ", "")

    def blocks(self, name):
        """What a function's comment says, by the first word of each block; the text itself has the key ''."""
        blocks, key = {"": []}, ""
        for line in AS_EVERYWHERE.sub("", self.table.functions[name]).split("\n"):
            match = BLOCK.match(line)
            if match:
                key, line = match[1], match[2]
                blocks[key] = []
            blocks[key].append(line.strip())
        blocks = {key: self.plain(" ".join(lines)).strip() for key, lines in blocks.items()}
        blocks[""] = " ".join(s for s in re.split(r"(?<=[.)]) +(?=[A-Z`])", blocks[""]) if not FOR_C.search(s))
        if "returns" in blocks:
            blocks["returns"] = exceptions(blocks["returns"])
        return blocks

    def docstring(self, call, parameters):
        """Lines; parameters: (name, shape, comment)."""
        blocks = self.blocks(call.name)
        lines = textwrap.wrap(blocks[""], 104) + ["", "Parameters", "----------"]
        for name, shape, comment in parameters:
            comment = INSTEAD.get(name) or self.plain(comment)
            lines += hanging(f"{name} : {shape}{'. ' + comment if comment else ''}")
        lines += ["", "Returns", "-------"] + self.returns(call)
        for key, title in TITLES:
            if key in blocks:
                lines += ["", title, "-" * len(title)] + textwrap.wrap(blocks[key], 108)
        lines = [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]
        return ['"""' + lines[0]] + lines[1:] + ['"""']

    def returns(self, call):
        if not call.out:
            return ["(n,) uint32"]
        lines = [f"{call.result}, a named tuple:"]
        for column in call.columns:
            shape = f"({EXTENTS[column.extent]}, 3)" if column.width == 3 else f"({EXTENTS[column.extent]},)"
            comment = self.plain(self.table.comment(call.out, column.name))
            lines += hanging(
                f"    {column.name} : {shape} {NAMES[column.dtype]}{'. ' + comment if comment else ''}", "        "
            )
        return lines


def hanging(text, indent="    "):
    return textwrap.wrap(text, 108, subsequent_indent=indent)


def exceptions(text):
    """What a call returns, as what it raises."""
    text = re.sub(r"^OK \| ", "", text).replace(" | ", ", ")
    for status, name in (("INVALID_ARGUMENT", "InvalidArgument"), ("OUT_OF_MEMORY", "OutOfMemory")):
        text = re.sub(rf"\b{status}\b", f"carom.{name}", text)
    return re.sub(r"\b(UNSUPPORTED|KERNEL_BUILD|NOT_BIT_EXACT|DEVICE_LOST|CANCELLED)\b", r"carom.Error (\1)", text)
