# SPDX-License-Identifier: MIT
"""The text of results: a named tuple for each structure, and the columns that a call usually has."""
from table import class_name

# Columns that are made only if they are asked for: they cost more, or belong to an option.
ON_REQUEST = {"gradient", "previous"}


def results_text(calls):
    """The named tuples; (text, their names)."""
    lines, seen = [], {}
    for call in calls:
        if call.out and call.out not in seen:
            seen[call.out] = class_name(call.out)
            lines += [f"class {seen[call.out]}(NamedTuple):", f'    """{call.out}, as arrays."""', ""]
            lines += [f"    {column.name}: Optional[np.ndarray]" for column in call.columns] + ["", ""]
    return "\n".join(lines), sorted(seen.values())


def usual(call):
    """The columns that a call makes unless others are asked for."""
    names = [column.name for column in call.columns if column.name not in ON_REQUEST]
    if call.has_lattice:  # a volume may fill the memory
        return names[:1]
    if call.name == "carom_mesh_overlap_list":  # it has no others
        return ["offsets", "query", "triangle", "instance"]
    if call.name == "carom_mesh_closest":  # of bundles alone
        names.remove("query")
    return names


def call_text(call):
    """The call as data."""
    lines = [
        f'{call.constant} = Call({call.number}, "{call.method}", "{call.name}", "{call.desc}", {call.out or None!r}, '
        f"{call.result}, [",
    ]
    for c in call.columns:
        lines.append(f'    Column("{c.name}", "{c.dtype}", "{c.c_type}", {c.width}, {c.is_points}, "{c.extent}"),')
    names = tuple(name for name in usual(call) if name != "offsets") if call.out else ()
    lines += [f"], {names}, is_list={call.is_list}, has_which={call.has_which})", ""]
    return "\n".join(lines)
