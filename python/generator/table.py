# SPDX-License-Identifier: MIT
"""The library's table of calls, and what the headers say of its structures: all that the generator reads."""
import json
import re

import cffi

import headers

# What a method is called where that is not the C name without its subject.
METHODS = {
    "carom_sphere_sweep_pairs": "sphere_pairs",
    "carom_mesh_sweep_list": "sweep_all",
    "carom_mesh_overlap_list": "overlap_all",
    "carom_cloud_list": "spheres",
}
DTYPES = {
    "float": "f4",
    "int32_t": "i4",
    "uint32_t": "u4",
    "int64_t": "i8",
    "uint64_t": "u8",
    "uint8_t": "u1",
    "int8_t": "i1",
}


def class_name(c_name):
    return "".join(part.capitalize() for part in c_name.removeprefix("carom_").split("_"))


class Column:
    """An output of a call: `width` numbers of a C type in each element."""

    def __init__(self, name, member, c_type, size):
        self.name, self.c_type, self.extent = name, c_type, member["extent"]
        self.is_points = member["kind"] == "points_out"
        self.width = 3 if self.is_points else member["size"] // size
        self.dtype = DTYPES[c_type]


class Call:
    """A call of the table, with the members of its structures in their order."""

    def __init__(self, number, row, ffi):
        self.number = number
        self.name, self.subject, self.desc, self.out = row["name"], row["subject"], row["desc"], row["out"]
        self.is_list, self.selects, self.has_which = bool(row["list"]), bool(row["select"]), bool(row["which"])
        self.has_indices, self.has_lattice = bool(row["indices"]), bool(row["lattice"])
        self.inputs = {member["name"]: member for member in row["inputs"]}
        # (name, C type) of the descriptor's members behind the batch
        self.fields = [(name, field.type.cname) for name, field in ffi.typeof(self.desc).fields if name != "batch"]
        self.has_part = any(name == "a_end" for name, _ in self.fields)
        self.columns = _columns(row, ffi) if self.out else []
        self.part, self.axis = ("rows", 1) if row["unit"] == "row" else ("slabs", 2)  # what a lattice is answered by
        self.constant = self.name.removeprefix("carom_").upper()
        short = self.name.removeprefix("carom_").removeprefix("mesh_").replace("cloud_", "spheres_")
        self.method = METHODS.get(self.name, short)
        self.result = class_name(self.out) if self.out else None

    def has(self, column):
        return any(c.name == column for c in self.columns)


def _columns(row, ffi):
    members, columns = {member["name"]: member for member in row["outputs"]}, []
    for name, field in ffi.typeof(row["out"]).fields:
        if name in members:
            c_type = field.type.cname
            c_type = "float" if c_type == "carom_points_out" else c_type.removesuffix(" *")
            columns.append(Column(name, members[name], c_type, ffi.sizeof(c_type)))
    return columns


# Structures that tell of something: their class, and members that say nothing in Python.
INFOS = {
    "carom_device_share": ("DeviceShare", ()),
    "carom_stats": ("Stats", ("size", "device_count")),
    "carom_device_info": ("Device", ("size",)),
    "carom_mesh_info": ("MeshInfo", ("size",)),
}


def _info_type(name, c_type):
    if name in ("status", "devices"):
        return {"status": "Status", "devices": "tuple[DeviceShare, ...]"}[name]
    number = "float" if c_type.startswith(("float", "double")) else "int"
    return "str" if c_type.startswith("char") else f"tuple[{number}, ...]" if "[" in c_type else number


class Table:
    def __init__(self, include, calls_json):
        ffi = cffi.FFI()
        ffi.cdef(headers.declarations(include))
        self.infos = {
            (name, c_name): [
                (n, _info_type(n, f.type.cname)) for n, f in ffi.typeof(c_name).fields if n not in left_out
            ]
            for c_name, (name, left_out) in INFOS.items()
        }
        self.calls = [Call(number, row, ffi) for number, row in enumerate(json.loads(calls_json))]
        enums = headers.enumerators(include)
        self.enums = {enum: [(word, value) for _, word, value in values] for enum, values in enums.items()}
        self.constants = [(name, enum, word) for enum, values in enums.items() for name, word, _ in values]
        self.functions, self.members = headers.function_words(include), headers.member_words(include)

    def comment(self, structure, member):
        """A member's comment; of one that says `as in` another structure, that one's."""
        text = self.members.get(structure, {}).get(member, "")
        other = re.search(r"\bas in (carom_\w+)", text)
        found = other and self.members.get(other[1], {}).get(member)
        if found:
            text = text.replace(other[0], self.comment(other[1], member))
        return re.sub(r"\bCAROM_ERROR_INVALID_ARGUMENT\b", "an InvalidArgument", text)

    def classes(self):
        """The classes of methods: (name, base, words, calls). What a scene answers it shares with meshes."""
        of_context = [call for call in self.calls if call.subject == "context"]
        of_mesh = [call for call in self.calls if call.subject == "mesh"]
        shared = [call for call in of_mesh if call.has("instance") or call.has("hit")]
        return (
            ("ContextCalls", "", "Calls of a context.", of_context),
            ("SphereCalls", "", "Calls of meshes and scenes.", shared),
            ("MeshCalls", "(SphereCalls)", "Calls of meshes.", [call for call in of_mesh if call not in shared]),
            ("SceneCalls", "(SphereCalls)", "Calls of scenes.", []),
        )
