# SPDX-License-Identifier: MIT
"""The same questions to every call: arrays in place, other layouts, wrong ones, outputs, jobs."""
import inspect

import numpy as np
import pytest

import carom
from asked import N, Subjects, arguments, names
from carom import _run
from conftest import same


@pytest.fixture(scope="module")
def subjects():
    return Subjects()


every_call = pytest.mark.parametrize("name", names())


def fields(result):
    return result if isinstance(result, tuple) else (result,)


def arrays_of(given):
    return {name: value for name, value in given.items() if isinstance(value, np.ndarray)}


@every_call
def test_has_words_and_a_signature(name, subjects):
    words = inspect.getdoc(subjects.method(name))
    for parameter in inspect.signature(subjects.method(name)).parameters:
        assert parameter in words, parameter
    assert "Returns" in words and "NULL" not in words


@every_call
def test_arrays_are_used_in_place(name, subjects, monkeypatch):
    given, seen = arguments(subjects.method(name)), []
    invoke, ask = _run.Running.invoke, _run.ask
    monkeypatch.setattr(_run.Running, "invoke", lambda self, err: seen.append(self.d) or invoke(self, err))
    monkeypatch.setattr(_run, "ask", lambda number, of, d, *more: seen.append(d) or ask(number, of, d, *more))
    rows = {key: np.zeros((N, 8), "f4") for key in arrays_of(given)}
    for key, value in arrays_of(given).items():
        view = rows[key][:, 2:5] if value.ndim == 2 else rows[key][:, 3]
        view[...] = value
        given[key] = view
    subjects.method(name)(**given)
    for key, value in arrays_of(given).items():
        view, place = getattr(seen[0], key), value.__array_interface__["data"][0]
        pointer = view.x if value.ndim == 2 else view.data
        assert int(_run.ffi.cast("uintptr_t", pointer)) == place and view.stride == 32, key


@every_call
def test_layouts_have_the_same_answers(name, subjects):
    method = subjects.method(name)
    given = arguments(method)
    plain = fields(method(**given))
    for layout in (
        lambda a: np.asfortranarray(a),
        lambda a: np.concatenate([a[::-1], a])[N - 1 :: -1],  # rows run backwards: copied
        lambda a: tuple(np.ascontiguousarray(column) for column in a.T) if a.ndim == 2 else a,
        lambda a: tuple(a.T) if a.ndim == 2 else a,
        lambda a: a.tolist(),
        lambda a: np.frombuffer(a.tobytes(), "f4").reshape(a.shape),  # read-only
    ):
        other = {key: layout(value) if isinstance(value, np.ndarray) else value for key, value in given.items()}
        assert same(plain, fields(method(**other)))


@every_call
def test_one_for_all(name, subjects):
    method = subjects.method(name)
    given = arguments(method)
    for key, value in arrays_of(given).items():
        one = {**given, key: value[0]}
        many = {**given, key: np.ascontiguousarray(np.broadcast_to(value[0], value.shape))}
        spread = {**given, key: np.broadcast_to(value[0], value.shape)}
        if len(arrays_of(given)) > 1:
            assert same(fields(method(**one)), fields(method(**many))), key
        assert same(fields(method(**spread)), fields(method(**many))), key


@every_call
def test_wrong_dtypes_say_how_to_convert(name, subjects):
    given = arguments(subjects.method(name))
    for key, value in arrays_of(given).items():
        for dtype in ("f8", "f2", "i4", ">f4", "c8"):
            with pytest.raises(TypeError, match=rf"{key} has the dtype .*astype\('float32'\)"):
                subjects.method(name)(**{**given, key: value.astype(dtype)})
        with pytest.raises(TypeError):
            subjects.method(name)(**{**given, key: "words"})


@every_call
def test_wrong_shapes_are_named(name, subjects):
    given = arguments(subjects.method(name))
    arrays = arrays_of(given)
    for key, value in arrays.items():
        for wrong in (value.reshape(1, *value.shape), value[..., None], value[:7]):
            if wrong.shape[0] == 7 and len(arrays) == 1:
                continue
            with pytest.raises(ValueError, match="rows|shape|numbers"):
                subjects.method(name)(**{**given, key: wrong})


@every_call
def test_columns_in_any_order(name, subjects):
    """Named columns of small and of large calls, twice: their places in memory are remembered."""
    method = subjects.method(name)
    for n in (1, 40, 9000):
        given = arguments(method, n)
        whole = method(**given)
        if not isinstance(whole, tuple):
            return
        names = [field for field in whole._fields if getattr(whole, field) is not None]
        for columns in (names, names[::-1], names[1::2] or names, tuple(names), set(names)) * 2:
            some = method(**given, columns=columns)
            for field in whole._fields:
                column = getattr(some, field)
                assert (column is None) == (field not in columns and field != "offsets")
                assert column is None or column.tobytes() == getattr(whole, field).tobytes()
                assert column is None or column.flags.aligned and column.flags.writeable
    for wrong in ([["t"]], [3], [None], ["t", []]):
        with pytest.raises(TypeError, match="columns must be"):
            method(**given, columns=wrong)


@every_call
def test_columns_and_out(name, subjects):
    method = subjects.method(name)
    given = arguments(method)
    whole = method(**given)
    if not isinstance(whole, tuple):
        return
    for column in (field for field in whole._fields if getattr(whole, field) is not None):
        alone = method(**given, columns=[column])
        needs = {field for field in alone._fields if getattr(alone, field) is not None}
        assert (
            needs == {column} | ({"offsets"} & set(whole._fields))
            and getattr(alone, column).tobytes() == getattr(whole, column).tobytes()
        )
        array = np.empty_like(getattr(whole, column))
        filled = method(**given, out={column: array})
        assert (
            getattr(filled, column) is array or array.base is getattr(filled, column).base or "offsets" in whole._fields
        )
        assert array.tobytes() == getattr(whole, column).tobytes()
        for wrong in (
            array.astype("f8"),
            array[:-1] if len(array) and column != "query" else array.astype("c8"),
            "words",
            None,
        ):
            if wrong is None:
                continue
            if isinstance(wrong, np.ndarray) and wrong.dtype == array.dtype and "offsets" in whole._fields:
                continue
            with pytest.raises(ValueError, match="out: "):
                method(**given, out={column: wrong})
        array.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            method(**given, out={column: array})
    with pytest.raises(ValueError, match="no column nothing"):
        method(**given, columns=["nothing"])
    with pytest.raises(TypeError, match="list of names"):
        method(**given, columns="t")


@every_call
def test_outputs_of_records_in_place(name, subjects):
    """Points whose rows lie in larger records are filled there, and nothing beside them is touched."""
    method = subjects.method(name)
    given = arguments(method)
    whole = method(**given)
    points = [
        f
        for f in getattr(whole, "_fields", ())
        if getattr(whole, f) is not None
        and getattr(whole, f).shape[-1:] == (3,)
        and getattr(whole, f).dtype == np.float32
        and getattr(whole, f).ndim == 2
    ]
    for column in points:
        records = np.full((len(getattr(whole, column)), 5), 77, "f4")
        method(**given, out={column: records[:, 1:4]})
        assert (records[:, 1:4] == getattr(whole, column)).all() and (records[:, [0, 4]] == 77).all()


@every_call
def test_as_a_job(name, subjects):
    method = subjects.method(name)
    given = arguments(method)
    with method(**given, job=True) as job:
        pass
    assert job.done and same(fields(job.result()), fields(method(**given)))
    copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in given.items()}
    job = method(**copies, job=True)
    del copies
    overwritten = [np.full((N, 3), 1e30, "f4") for _ in range(100)]  # the job has kept its arrays
    assert same(fields(job.result()), fields(method(**given))) and overwritten
    first = method(**given, job=True)
    assert same(fields(method(**given, job=True, wait=[first]).result()), fields(first.result()))


@every_call
def test_statistics_and_progress(name, subjects):
    method, told = subjects.method(name), []
    given = arguments(method)
    result, stats = method(**given, stats=True, progress=lambda done, count: told.append((done, count)))
    assert isinstance(stats, carom.Stats) and stats.on_cpu == stats.queries > 0
    assert told and told[-1][0] == told[-1][1]
    assert same(fields(result), fields(method(**given)))


@every_call
def test_exceptions_of_progress_end_the_call(name, subjects):
    class Mine(Exception):
        pass

    def stop(done, count):
        raise Mine("enough")

    with pytest.raises(Mine, match="enough"):
        subjects.method(name)(**arguments(subjects.method(name)), progress=stop)
    with pytest.raises(Mine):
        subjects.method(name)(**arguments(subjects.method(name)), progress=stop, job=True).result()
    with pytest.raises(TypeError, match="progress"):
        subjects.method(name)(**arguments(subjects.method(name)), progress=5)


@every_call
def test_words_that_are_none(name, subjects):
    method = subjects.method(name)
    for option in ("accuracy", "start", "sign", "hits"):
        if option in inspect.signature(method).parameters:
            with pytest.raises(ValueError, match="'nothing' is no .*one of"):
                method(**arguments(method), **{option: "nothing"})


@every_call
def test_no_rows(name, subjects):
    method = subjects.method(name)
    given = {key: value[:0] if isinstance(value, np.ndarray) else value for key, value in arguments(method).items()}
    if arrays_of(given):
        for field in fields(method(**given)):
            assert field is None or len(field) in (0, 1)
