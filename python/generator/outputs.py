# SPDX-License-Identifier: MIT
"""The text of results: a named tuple for each structure, and what makes a call's usual columns."""
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
    """The call as data, behind the function that makes its usual columns from a block of memory."""
    make = f"_{call.constant.lower()}_columns" if call.out and not call.has_lattice else None
    lines = columns_text(call, make) if make else []
    lines += [
        f'{call.constant} = Call({call.number}, "{call.method}", "{call.name}", "{call.desc}", {call.out or None!r}, '
        f"{call.result}, [",
    ]
    for c in call.columns:
        lines.append(f'    Column("{c.name}", "{c.dtype}", "{c.c_type}", {c.width}, {c.is_points}, "{c.extent}"),')
    names = placed(call) if call.out else ()
    lines += [f"], {names}, {make}, is_list={call.is_list}, has_which={call.has_which})", ""]
    return "\n".join(lines)


def placed(call):
    """The usual columns in the order in which they lie in a block; `instance`, which meshes do not have, comes last."""
    names = [name for name in usual(call) if name != "offsets"]
    return tuple(sorted(names, key="instance".__eq__))


def columns_text(call, make):
    """Written out, because it is much of what a small call costs."""
    lines, made, before = [f"def {make}(block, offsets, room, rows, has_instance):"], {}, 0
    columns = {column.name: column for column in call.columns}
    for name in placed(call):
        column = columns[name]
        shape = "threes" if column.width == 3 else "ones"
        made[name] = f"ndarray({shape}, {column.dtype.upper()}, block, offsets + {before} * room)"
        before += column.width * int(column.dtype[1:])
    if call.is_list:
        made["offsets"] = "ndarray((offsets >> 3,), U8, block)"
    if "instance" in made:
        made["instance"] += " if has_instance else None"
    lines += ["    ones, threes = (rows,), (rows, 3)", f"    return new_tuple({call.result}, ("]
    lines += [f"        {made.get(column.name)}," for column in call.columns]
    return lines + ["    ))", "", ""]
