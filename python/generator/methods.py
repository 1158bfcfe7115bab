# SPDX-License-Identifier: MIT
"""The text of methods: a signature, its words, and the lines that fill the descriptor."""
import re
import textwrap

from table import class_name

VIEWS = {"carom_points": "points", "carom_scalars": "scalars", "carom_uints": "uints"}
VIEW_WORDS = {
    "points": "(n, 3) float32, three (n,), or (3,) for all",
    "scalars": "(n,) float32, or a number for all",
    "uints": "(n,) uint32, or a number for all",
}
VIEW_TYPES = {"points": "Points", "scalars": "Scalars", "uints": "Uints"}
# What all calls take besides: parameter, words.
BATCH = (
    ("accuracy: Optional[str] = None", "'fast' or 'exact'; None: the context's"),
    ("select: Optional[np.ndarray] = None", "(k,) uint32; query i reads row select[i] of every input"),
    (
        "columns: Optional[Sequence[str]] = None",
        "names of the columns to compute, others are None; fewer cost less; None: the usual ones",
    ),
    ("out: Optional[dict] = None", "a dict of arrays by column, filled in place; without `columns` no others are made"),
    ("progress: Optional[Callable] = None", "a function of (done, count), or a tqdm bar; what it raises ends the call"),
    ("stats: bool = False", "True: returns (result, carom.Stats)"),
    ("job: bool = False", "True: returns a carom.Job at once"),
    ("wait: Sequence[Job | Event] = ()", "jobs, and events of pyopencl, that must have ended before"),
    (
        "prepare: bool = False",
        "True: answers nothing (None in place of the result), but does what the first such call does before its first "
        "query: devices, programs, what a mesh keeps for it",
    ),
)


class Parameter:
    """A member of the descriptor as a parameter: its type, its default, its shape in words, the lines that fill it."""

    def __init__(self, name, annotation, default, shape, lines, words=""):
        self.name, self.annotation, self.default, self.shape = name, annotation, default, shape
        self.lines, self.words = lines, words

    def text(self):
        """With its type, for _calls.pyi."""
        return f"{self.name}: {self.annotation}" + (f" = {self.default}" if self.default is not None else "")

    def untyped(self):
        default = "ZERO" if self.default == "0.0" else self.default  # one object, so that it costs nothing to see
        return self.name + (f"={default}" if default is not None else "")


def parameters(call, table):
    """(positional ones, keywords). What must be given comes first; of a sweep, velocity and radius as well: `end` may
    stand for the velocity."""
    first, keywords = [], []
    for name, c_type in call.fields:
        p = parameter(call, name, c_type, table)
        if p is None:
            continue
        p.words = table.comment(call.desc, name)
        is_needed = (
            call.inputs.get(name, {}).get("needed") or name == "lattice" or (name, c_type) == ("radius", "float")
        )
        is_sweep = "end" in call.inputs and name in ("velocity", "radius")
        if is_needed and not is_sweep:
            p.annotation, p.default = p.annotation.removeprefix("Optional[").removesuffix("]"), None
        elif p.default == "None" and p.lines:
            p.lines = [f"if {name} is not None:"] + ["    " + line for line in p.lines]
        (first if is_needed or is_sweep else keywords).append(p)
    return first, keywords + more_keywords(call)


def parameter(call, name, c_type, table):
    if c_type in VIEWS:
        kind, extent = VIEWS[c_type], call.inputs.get(name, {}).get("extent")
        n = {"a": "na", "b": "nb"}.get(extent, "n")
        fill = [f'{n} = {kind}(d.{name}, {name}, "{name}", {n}, keep)']
        return Parameter(name, f"Optional[{VIEW_TYPES[kind]}]", "None", VIEW_WORDS[kind], fill)
    if c_type in table.enums:
        words = [word.lower() for word, _ in table.enums[c_type]]
        fill = [f'if {name} != "{words[0]}":', f"    d.{name} = {class_name(c_type).upper()}S[{name}]"]
        return Parameter(name, "str", f'"{words[0]}"', "one of " + ", ".join(f"'{word}'" for word in words), fill)
    if re.fullmatch(r"(float|double) \*", c_type):
        fill = [f'd.{name} = place = new("{c_type}", number({name}, "{name}"))', "keep.append(place)"]
        return Parameter(name, "Optional[float]", "None", "a number", fill)
    if name == "a_end":
        return None  # lists are whole
    known = {
        "carom_lattice": ("Lattice", None, "a carom.Lattice", [f"fill_lattice(d.{name}, {name})"]),
        "carom_pair_indices": (
            "Optional[tuple]",
            "None",
            "(a, b), (n,) uint32 each: pair i is of rows a[i] and b[i]",
            [],
        ),
        "carom_cloud_against *": ("Optional[dict]", "None", "a dict", [f"d.{name} = against_of({name}, keep)"]),
        "uint8_t": ("bool", "False", "True or False", [f"if {name}:", f"    d.{name} = 1"]),
        "uint32_t": ("int", "0", "a whole number", [f"if {name}:", f'    d.{name} = whole({name}, "{name}")']),
        "float": (
            "float",
            "0.0",
            "a number",
            [f"if {name} is not ZERO:", f'    d.{name} = number({name}, "{name}")'],
        ),
        "float[3]": ("Optional[Sequence[float]]", "None", "3 numbers", [f'd.{name} = triple({name}, "{name}")']),
    }
    if c_type not in known:
        raise SystemExit(f"{call.name}: {name} has the type {c_type}, which generator/methods.py does not know")
    return Parameter(name, *known[c_type])


def more_keywords(call):
    """What is no member of the descriptor."""
    more = []
    if call.has_which:
        words = "'all', or 'first': the first hit of every query that has one"
        more.append(Parameter("hits", "str", '"all"', words, []))
    if call.has_lattice:
        words = "(begin, end) of those to answer; None: all"
        more.append(Parameter(call.part, "Optional[tuple]", "None", words, []))
    if call.has_part:
        words = "(begin, end): list the pairs of the spheres a from begin to end; `offsets` begins there; None: all"
        more.append(Parameter("part", "Optional[tuple]", "None", words, []))
    if call.has("previous"):
        words = "an earlier list of pairs, to find its pairs again: column previous"
        more.append(Parameter("before", f"Optional[{call.result}]", "None", words, []))
    return more


def method_text(call, table, words):
    first, keywords = parameters(call, table)
    batch = [(text, about) for text, about in BATCH if call.selects or not text.startswith("select")]
    texts = [p.untyped() for p in first] + ["*"] + [p.untyped() for p in keywords]
    texts += [re.sub(": [^=]* = ", "=", text) for text, _ in batch]
    head = f"def {call.method}({', '.join(['self'] + texts)}):"
    about = [(p.name, p.shape, p.words) for p in first + keywords] + [(t.split(":")[0], w, "") for t, w in batch]
    lines = textwrap.wrap(head, 112, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    lines += ["    " + line if line else "" for line in words.docstring(call, about)]
    body = [line for p in first + keywords for line in p.lines]
    lines += ["    " + line for line in body_text(call, body)]
    return "\n".join("    " + line if line else "" for line in lines) + "\n"


def body_text(call, fill):
    """The method around the lines that fill its descriptor."""
    lines, n, more = [f"d, keep = new({call.constant}.desc), []"], "n", ""
    if call.has_indices:
        lines.append("na = nb = None")
        fill = fill + ["n = pairs_of(d.indices, indices, na, nb, keep)"]
    elif call.has_lattice:
        n, more = "None", ", rows=rows"
        fill = fill + [f"rows = slabs_of(d.batch, lattice, {call.part}, {call.axis})"]
    else:
        lines.append("n = None")
    if call.has_which:
        more += ", which=HITSS[hits]"
    if any(name == "bundle" for name, _ in call.fields) and not call.is_list:
        more += ", bundle=bundle"
    if call.has("instance"):
        more += ", without=self._without"
    if call.has("previous"):
        more += ", before=before"
    if call.has_part:
        more += ", part=part"
    batch = f"(accuracy, {'select' if call.selects else 'None'}, columns, out, progress, stats, job, wait, prepare)"
    return lines + fill + [f"return run(self, {call.constant}, d, {n}, keep,", f"           {batch}{more})"]
