# SPDX-License-Identifier: MIT
"""How every call with a batch is made. _calls.py, which is generated from the library's own table of calls, fills the
descriptor and leaves the rest to `run`: outputs, the batch, the call itself, lists, errors."""
import numpy as np

from . import _arrays
from ._arrays import from_buffer, new
from ._buffer import BufferArray, check_own, made as buffers
from ._carom import ffi, lib
from ._enums import Accuracy, Status
from ._error import error_of
from ._infos import DeviceShare, Stats
from ._inputs import before_of
from ._job import Job, wait_for
from ._lattice import pair_of
from ._watch import PROGRESS
from ._words import words_of

empty, ndarray, ask, NULL = np.empty, np.ndarray, lib.carom_py_ask, ffi.NULL
ACCURACIES = words_of(Accuracy)
LIST_LEAST = 1 << 10  # records that a list has room for, at least
LIST_RATIO = 16  # and for each query, until a call has told more; what no record reaches takes no memory
LEARNED = 64  # queries of a call that tells
BLOCK = 1 << 18  # bytes of a call's columns that have one piece of memory together
BYTES, OFFSETS, CHARS = np.dtype("u1"), np.dtype("u8"), ffi.typeof("char[]")
CHOICES = 64  # lists of names that a call remembers
STATS, STATS_SIZE = ffi.typeof("carom_stats *"), ffi.sizeof("carom_stats")
TOTALS = ffi.typeof("carom_list_totals *")


def stats_of(c):
    """carom_stats as a named tuple."""
    shares = tuple(DeviceShare(s.index, Status(s.status), s.queries, s.seconds) for s in c.devices[0 : c.device_count])
    values = {"devices": shares, "fallback_reason": ffi.string(c.fallback_reason).decode(errors="replace")}
    return Stats._make(values[name] if name in values else getattr(c, name) for name in Stats._fields)


class Column:
    """An output: `width` numbers of `dtype` for each query, node or record; points go into a view."""

    __slots__ = ("name", "dtype", "items", "pointer", "width", "is_points", "extent")

    def __init__(self, name, dtype, c_type, width, is_points, extent):
        self.name, self.dtype, self.width, self.is_points, self.extent = name, np.dtype(dtype), width, is_points, extent
        self.items, self.pointer = ffi.typeof(f"{c_type}[]"), ffi.typeof(f"{c_type} *")


class Call:
    """A public function with a batch, as data. number: among all calls; usual: names of the columns that it has
    unless others are asked for."""

    def __init__(self, number, method, name, desc, out, result, columns, usual, is_list=False, has_which=False):
        self.number, self.method, self.name = number, method, name
        self.is_list, self.has_which = is_list, has_which
        self.function = getattr(lib, name)
        self.desc, self.desc_size = ffi.typeof(f"{desc} *"), ffi.sizeof(desc)
        self.out, self.out_size = (ffi.typeof(f"{out} *"), ffi.sizeof(out)) if out else (None, 0)
        self.result, self.columns = result, {column.name: column for column in columns}
        self.usual, self.choices = usual, {}  # choices: by names

    def choice_of(self, columns, without):
        """The columns that a caller names, or the usual ones; None: they are not remembered, or no names."""
        if columns is None:
            return self.choices.get(without) or self._choose(without, [c for c in self.usual if c not in without])
        names = tuple(columns) if type(columns) in (list, tuple) else ()
        try:
            choice = self.choices.get((names, without))
        except TypeError:  # no names
            return None
        if choice is None and names and len(self.choices) < CHOICES:
            chosen = [column.name for column in _chosen(self, columns, None, without) if column.name != "offsets"]
            choice = self._choose((names, without), chosen)
        return choice

    def _choose(self, key, names):
        choice = self.choices[key] = Choice(self, names)
        return choice


class Choice:
    """Columns that a call has in a block of memory, in their order, and a function that makes its result of them."""

    def __init__(self, call, names):
        columns = [call.columns[name] for name in names]
        sizes = [column.width * column.dtype.itemsize for column in columns]
        places = [(ffi.offsetof(call.out.item, c.name), size, c.is_points) for c, size in zip(columns, sizes)]
        self.placed, self.count, self.row_bytes = new("carom_py_column[]", places), len(names), sum(sizes)
        self.make = _maker(call, columns, sizes)


def _maker(call, columns, sizes):
    """A function that makes a result of a block. It is written out, because it is much of what a small call costs."""
    made, known = dict.fromkeys(call.result._fields), {"ndarray": ndarray, "new": tuple.__new__, "result": call.result}
    if call.is_list:
        made["offsets"], known["u8"] = "ndarray((offsets >> 3,), u8, block)", OFFSETS
    for i, column in enumerate(columns):
        shape, dtype = {1: "ones", 3: "threes"}[column.width], column.dtype.str[1:]
        begin = "offsets + " * call.is_list + f"{sum(sizes[:i])} * room"
        made[column.name], known[dtype] = f"ndarray({shape}, {dtype}, block, {begin})", column.dtype
    lines = ["def make(block, offsets, room, rows):", " ones, threes = (rows,), (rows, 3)"]
    exec("\n".join(lines + [f" return new(result, ({', '.join(map(str, made.values()))},))"]), known)
    return known["make"]


class Running:
    """A call on its way: what must stay alive until it has ended, and how its answer is put together."""

    __slots__ = (
        "subject",
        "call",
        "which",
        "d",
        "o",
        "keep",
        "made",
        "stats",
        "stats_kept",
        "totals",
        "total",
        "stored",
        "capacity",
        "is_fixed",
        "begin",
        "end",
        "prepares",
    )

    def __init__(self, subject, call, which, d, keep, stats):
        self.begin, self.end, self.prepares = 0, d.batch.count, False
        self.subject, self.call, self.which, self.d, self.keep = subject, call, which, d, keep
        self.stats = _new_stats() if stats else None
        self.totals = self.total = None
        self.stats_kept = False

    def invoke(self, err):
        """The public function; its status."""
        c_stats = NULL if self.stats is None or self.stats_kept else self.stats
        if self.call.has_which:
            return self.call.function(self.subject._handle, self.d, self.which, self.o, c_stats, err)
        return self.call.function(self.subject._handle, self.d, self.o, c_stats, err)

    def answer(self):
        """The named tuple of a call that has ended; a pair with the statistics if they were asked for."""
        if self.prepares:
            self.made = None
        elif self.totals is not None:
            _cut(self)
        return self.made if self.stats is None else (self.made, stats_of(self.stats))

    def rest(self):
        """Whether a list is to go on behind its first call, which has counted all of it; prepared, if so."""
        totals = self.totals
        if totals is None or self.prepares:
            return False
        count, self.stored, self.total = self.end - self.begin, totals.stored, totals.total
        if count >= LEARNED:
            _learn(self.subject._context, self.call, count, self.total)
        if totals.complete >= self.end:
            return False
        if self.is_fixed:
            raise ValueError(f"out: the list has {self.total} records, and its arrays hold {self.capacity}")
        _grow(self)
        self.o.offsets = NULL  # those of the first call count to the end
        self.o.capacity, self.d.batch.begin = self.total - self.stored, totals.complete
        self.stats_kept = True  # those of the first call, which has searched for all
        return True

    def complete(self):
        """The second call of a list has ended."""
        if self.totals.complete != self.end or self.totals.stored != self.total - self.stored:
            raise RuntimeError("what the list was asked for has changed while it was made")
        self.stored = self.total


def run(subject, call, d, n, keep, batch, which=0, rows=None, bundle=0, without=(), before=None, part=None):
    """Make a call. d: its descriptor, filled but for the batch; n: rows of the inputs; rows: the shape of the answers,
    if it is not one for each query; without: columns that this subject does not have; part: (begin, end) of a list."""
    accuracy, select, columns, out, progress, stats, job, wait, prepare = batch
    context = subject._context
    if buffers:
        check_own([*keep, select, *(out.values() if isinstance(out, dict) else ())], context)
    b = d.batch
    if accuracy is not None:
        b.accuracy = ACCURACIES[accuracy]
    elif context._accuracy:
        b.accuracy = context._accuracy
    is_usual = not out and not job and not prepare and part is rows is before is None and bundle < 2
    if rows is None:
        if select is None:
            b.count = count = 1 if n is None else n
        else:
            b.count = count = _select(b, select, n, keep)
        choice = call.choice_of(columns, without) if is_usual and call.usual else None
        if choice is not None:
            room = (_capacity(context, call, count) if call.is_list else count) + 7 & -8
            if room * choice.row_bytes <= BLOCK:
                if wait:
                    wait_for(context, b, wait, keep, job)
                return _run_in_block(subject, call, choice, d, count, keep, room, progress, stats, which)
        rows = (count // bundle if bundle > 1 else count,)
    r = Running(subject, call, which, d, keep, stats)
    if part is not None:
        _set_part(r, part)
    if prepare:
        b.prepare, r.prepares = 1, True
    also = "previous" if before is not None else "query" if bundle > 1 and "query" in call.columns else None
    _make_outputs(r, columns, out, rows, without, also)
    if before is not None:
        r.o.before = before_of(before, keep)
    if wait:
        wait_for(context, b, wait, keep, job)
    b.size = call.desc_size
    if job:
        return Job(context, r, progress)
    b.progress.fn, b.progress.user = PROGRESS, context._watch.pointer
    with context._turn:
        context._enter()
        try:
            context._is_busy = True
            context._watch.begin(progress)
            _invoke(r, context)
            _go_on(r, context)
        finally:
            context._is_busy = False
    return r.answer()


def _run_in_block(subject, call, choice, d, count, keep, room, progress, stats, which):
    """The same for a small call. All of them lie in one block of memory, for `room` rows."""
    context = subject._context
    offsets = 8 * count + 8 if call.is_list else 0
    block = empty(offsets + room * choice.row_bytes, BYTES).data  # a view is made faster of it than of an array
    c_stats = _new_stats() if stats else NULL
    with context._turn:
        context._enter()
        shared, watch = context._shared, context._watch
        try:
            context._is_busy = True
            if progress is not None:
                watch.begin(progress)
            status = ask(
                call.number,
                subject._handle,
                d,
                which,
                choice.placed,
                choice.count,
                from_buffer(CHARS, block),
                room,
                c_stats,
                shared,
            )
            if watch.has_to_end:
                watch.end()
            if status:
                raise error_of(status, context._err)
            rows = count
            if call.is_list:
                totals = shared.totals
                rows = totals.stored
                if totals.complete < count:
                    made = choice.make(block, offsets, room, room)
                    return _finish_block(subject, call, which, d, keep, c_stats, made, room)
                if count >= LEARNED:
                    _learn(context, call, count, rows)
        finally:
            context._is_busy = False
    made = choice.make(block, offsets, room, rows)
    return (made, stats_of(c_stats)) if stats else made


def _finish_block(subject, call, which, d, keep, c_stats, made, room):
    """Go on with a list for which its block is too short."""
    r = Running(subject, call, which, d, keep, False)
    r.stats = c_stats or None
    r.o, r.made, r.totals, r.is_fixed = new(call.out), made, subject._context._shared.totals, False
    r.o.size, r.o.totals, r.capacity = call.out_size, ffi.addressof(r.totals), room
    _go_on(r, subject._context)
    return r.answer()


def _go_on(r, context):
    """What a list has behind its first call."""
    if r.rest():
        context._watch.begin(None)
        _invoke(r, context)
        r.complete()


def _invoke(r, context):
    status = r.invoke(context._err)
    context._watch.end()
    if status:
        raise error_of(status, context._err)


def _new_stats():
    stats = new(STATS)
    stats.size = STATS_SIZE
    return stats


def _set_part(r, part):
    """Of a list that is answered for the spheres from `begin` to `end`."""
    count, b = r.d.batch.count, r.d.batch
    begin, end = pair_of(part, count, "part")
    r.begin, r.end = (begin, end) if begin < end else (count, count)  # no spheres: 0 as the end would mean all
    b.begin, r.d.a_end = r.begin, r.end


def _select(b, select, n, keep):
    """The number of queries. `n` rows of the inputs, None if each has one element for all."""
    count = _arrays.uints(b.select, select, "select", None, keep)
    if count is None:
        raise ValueError("select must be an array of indices")
    b.elements = 1 if n is None else n
    return count


# ---- outputs ---------------------------------------------------------------------------------------------------------


def _make_outputs(r, columns, out, rows, without, also):
    call = r.call
    if call.out is None:  # the one array of carom_cloud_order
        r.made = empty(rows, "u4")
        r.o = from_buffer("uint32_t[]", r.made)
        return
    r.o = o = new(call.out)
    o.size = call.out_size
    if out is not None and not isinstance(out, dict):
        raise TypeError("out must be a dict of arrays by the names of columns")
    if not call.is_list:
        r.is_fixed = False
        _fill_outputs(r, columns, out, rows, None, without, also)
        return
    offsets, rows = (rows[0] + 1,), _make_room(r, out, r.end - r.begin)
    try:
        _fill_outputs(r, columns, out, rows, offsets, without, also)
    except MemoryError:  # the room was a guess
        if r.is_fixed or r.capacity == LIST_LEAST:
            raise
        r.capacity = o.capacity = LIST_LEAST
        _fill_outputs(r, columns, out, (LIST_LEAST,), offsets, without, also)


def _fill_outputs(r, columns, out, rows, offsets, without, also):
    call = r.call
    if columns is None and not out:
        names = [*call.usual, also]
        chosen = [c for c in call.columns.values() if c.name in names and c.name not in without or c.name == "offsets"]
    else:
        chosen = _chosen(call, columns, out, without)
    r.made = call.result._make(_use_outputs(r, chosen, out or {}, rows, offsets))


def _make(o, column, shape):
    """A new array for a column, to which the result points."""
    name = column.name
    if column.is_points:
        array = empty(shape + (3,), column.dtype)
        _point_to_rows(getattr(o, name), from_buffer(column.items, array))
    else:
        array = empty(shape if column.width == 1 else shape + (column.width,), column.dtype)
        setattr(o, name, from_buffer(column.items, array))
    return array


def _use_outputs(r, chosen, out, rows, offsets):
    """The arrays of columns that are asked for by name: the caller's where there are some, else None or new ones."""
    arrays = dict.fromkeys(r.call.result._fields)
    for column in chosen:
        array, shape = out.get(column.name), offsets if column.extent == "offset" else rows
        if array is None:
            array = _make(r.o, column, shape)
        else:
            shape = shape if column.width == 1 else shape + (column.width,)
            if r.totals is not None and column.extent == "record" and getattr(array, "shape", ()):
                shape = array.shape[:1] + shape[1:]  # its records are those of the shortest
            if not _point_to_dense(r.o, column, array, shape):
                _arrays.check_out(array, column.name, column.dtype, shape)
                _point_to(r.o, column, array, 0)
        arrays[column.name] = array
    return arrays.values()


def _chosen(call, columns, out, without):
    """Columns that are asked for by name, and those for which the caller has arrays."""
    if columns is not None and not (
        isinstance(columns, (list, tuple, set)) and all(isinstance(c, str) for c in columns)
    ):
        raise TypeError("columns must be a list of names, such as ['t', 'point']")
    names = list(columns or ()) + list(out or ()) + ["offsets"] * call.is_list
    for name in names:
        if name not in call.columns:
            raise ValueError(f"{call.method} has no column {name}; it has {', '.join(call.columns)}")
        if name in without:
            raise ValueError(f"{name}: a mesh has no such column, a scene has")
    return [column for column in call.columns.values() if column.name in names]


def _point_to_dense(o, column, array, shape):
    """Let the result point to `array`, if that is a usual one that can be filled: most are. False: it is not."""
    if type(array) is not ndarray or array.dtype is not column.dtype or array.shape != shape:
        return False
    try:
        pointer = from_buffer(column.items, array, True)
    except (BufferError, ValueError):  # rows that lie apart, or one that is read-only
        return False
    if column.is_points:
        _point_to_rows(getattr(o, column.name), pointer)
    else:
        setattr(o, column.name, pointer)
    return True


def _point_to_rows(view, x):
    view.x, view.y, view.z, view.stride = x, x + 1, x + 2, 12


def _point_to(o, column, array, first):
    """Let the result point to `array`, from row `first` on."""
    if isinstance(array, BufferArray):
        array._fill_output(o, column)
    elif column.is_points:
        _arrays.fill_points(getattr(o, column.name), array[first:], column.name)
    else:
        setattr(o, column.name, _arrays.fill_array(array[first:], column.name, column.pointer))


# ---- lists -----------------------------------------------------------------------------------------------------------


def _capacity(context, call, count):
    """Records that earlier calls of the kind lead to expect."""
    return int(context._ratios.get(call.name, LIST_RATIO) * count) + LIST_LEAST


def _learn(context, call, count, total):
    """The next list has room for half as much again."""
    context._ratios[call.name] = min(max(1.5 * total / count, 0.25), 64)


def _make_room(r, out, count):
    """Totals and the capacity of a list: what the caller has arrays for, or _capacity."""
    columns = r.call.columns
    given = [
        a.shape[0]
        for name, a in (out or {}).items()
        if name in columns and columns[name].extent == "record" and getattr(a, "shape", ())
    ]
    r.is_fixed = bool(given)
    r.capacity = min(given) if given else _capacity(r.subject._context, r.call, count)
    r.totals = new(TOTALS)
    r.o.capacity, r.o.totals = r.capacity, r.totals
    return (r.capacity,)


def _grow(r):
    """Arrays for all records, with those that are there; the call goes on behind these."""
    larger = {}
    for name, array in zip(r.made._fields, r.made):
        if array is not None and name != "offsets":
            larger[name] = empty((r.total,) + array.shape[1:], array.dtype)
            larger[name][: r.stored] = array[: r.stored]
            _point_to(r.o, r.call.columns[name], larger[name], r.stored)
    r.made, r.capacity = r.made._replace(**larger), r.total


def _cut(r):
    """Leave the records alone; where they are few, without the memory behind them."""
    if r.end - r.begin < r.d.batch.count and isinstance(r.made[0], np.ndarray):
        r.made = r.made._replace(offsets=r.made[0][r.begin : r.end + 1])
    if r.stored == r.capacity:
        return
    made, kept = r.made, slice(r.stored)
    arrays = [array[kept] if isinstance(array, np.ndarray) else array for array in made[1:]]
    if 2 * r.stored < r.capacity and r.capacity > 4 * LIST_LEAST and not r.is_fixed:
        arrays = [array if array is None else array.copy() for array in arrays]
    r.made = made._make([made[0]] + arrays)  # offsets come first
