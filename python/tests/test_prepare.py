# SPDX-License-Identifier: MIT
"""Calls that prepare, parts of lists, jobs that are awaited, and what is there when a call is cancelled."""
import asyncio

import numpy as np
import pytest

import carom
from asked import Subjects, arguments, names
from conftest import same, waves


@pytest.mark.parametrize("name", names())
def test_every_call_prepares(name):
    """It answers nothing, writes nothing, and changes no answer."""
    method = Subjects().method(name)
    given = arguments(method)
    calls = []
    assert method(**given, prepare=True, progress=lambda done, count: calls.append(done)) is None
    none, stats = method(**given, prepare=True, stats=True)
    assert none is None and stats.queries == 0 and not calls
    with method(**given, prepare=True, job=True) as job:
        pass
    assert job.result() is None
    none, stats = method(**given, prepare=True, stats=True, job=True).result()
    assert none is None and isinstance(stats, carom.Stats)
    prepared, plain = method(**given), Subjects().method(name)(**given)
    if isinstance(plain, np.ndarray):
        assert prepared.tobytes() == plain.tobytes()
    else:
        assert same(prepared, plain)


def test_preparing_writes_nothing(floor, spheres):
    out = {"distance": np.full(500, 7, "f4"), "point": np.full((500, 3), 7, "f4")}
    assert floor.closest(spheres[0], out=out, prepare=True) is None
    records = {"query": np.full(10, 7, "u8")}  # too few, but none is written
    assert floor.contacts(spheres[0], 0.5, out=records, prepare=True) is None
    assert all((array == 7).all() for array in [*out.values(), *records.values()])


def test_preparing_does_the_work(context):
    mesh = context.mesh(*waves(30))
    center = np.float32([[0, 0, 0.2]])
    before = mesh.info.bytes
    mesh.contacts(center, 0.5, prepare=True)
    prepared = mesh.info.bytes
    mesh.contacts(center, 0.5)
    assert before < prepared == mesh.info.bytes


def test_preparing_checks(floor, spheres):
    for call in (
        lambda: floor.sweep_first(spheres[0][:3], spheres[1], 0.1, prepare=True),
        lambda: floor.closest(spheres[0], sign="winding", prepare=True),
        lambda: floor.closest(spheres[0], out={"distance": np.empty(3, "f4")}, prepare=True),
    ):
        with pytest.raises(ValueError):
            call()
    floor._context.close()
    with pytest.raises(ValueError, match="closed"):
        floor.closest(spheres[0], prepare=True)


# ---- parts of a cloud's list -----------------------------------------------------------------------------------------


@pytest.fixture
def cloud():
    return np.random.default_rng(3).random((1500, 3), "f4")


PARTS = ((0, 0), (0, 1500), (0, 700), (700, 700), (1500, 1500), (700, 1500), (1499, 1500))


@pytest.mark.parametrize(
    "how", ({}, {"job": True}, {"full": True, "period": (1, 1, 1)}, {"columns": ["a", "b", "depth"]})
)
@pytest.mark.parametrize("is_short", (False, True))
def test_parts_of_a_list(context, cloud, how, is_short):
    """They are what the whole list has for these spheres, also if the room was too short."""

    def answer(**more):
        made = context.spheres(cloud, 0.08, **how, **more)
        return made.result() if "job" in how else made

    whole = answer()
    assert len(whole.a) > 3000
    for begin, end in PARTS:
        if is_short:
            context._ratios["carom_cloud_list"] = 0
        part = answer(part=(begin, end))
        first, last = (int(whole.offsets[i]) for i in (begin, end))
        assert np.array_equal(part.offsets, whole.offsets[begin : end + 1] - whole.offsets[begin])
        for name in ("a", "b", "state", "t", "shift", "depth", "normal"):
            column, of_whole = getattr(part, name), getattr(whole, name)
            assert (column is None) == (of_whole is None)
            assert column is None or column.tobytes() == of_whole[first:last].tobytes(), name


def test_parts_in_arrays_of_the_caller(context, cloud):
    whole = context.spheres(cloud, 0.05)
    out = {"a": np.empty(5000, "i4"), "b": np.empty(5000, "i4"), "offsets": np.empty(1501, "u8")}
    part = context.spheres(cloud, 0.05, part=(200, 900), out=out)
    first, last = (int(whole.offsets[i]) for i in (200, 900))
    assert np.shares_memory(part.a, out["a"]) and np.array_equal(part.a, whole.a[first:last])
    assert np.array_equal(part.offsets, out["offsets"][200:901]) and part.offsets[-1] == last - first
    again = context.spheres(cloud, 0.05, part=(200, 900), before=whole, columns=["previous"])
    assert np.array_equal(again.previous, np.arange(first, last))


def test_parts_that_are_none(context, cloud):
    for wrong, error in (
        ((0, 1501), ValueError),
        ((3, 2), ValueError),
        ((-1, 2), ValueError),
        ((0, 1, 2), TypeError),
        (5, TypeError),
        ((0.0, 1.0), TypeError),
        ("ab", TypeError),
    ):
        with pytest.raises(error, match="part must be"):
            context.spheres(cloud, 0.05, part=wrong)


# ---- jobs ------------------------------------------------------------------------------------------------------------


def test_jobs_are_awaited(floor, spheres):
    """Other tasks go on meanwhile; what a job raises is raised."""
    turns = []

    async def count():
        while not turns or turns[-1] >= 0:
            turns.append(len(turns))
            await asyncio.sleep(0)

    async def work():
        other = asyncio.create_task(count())
        many = np.repeat(spheres[0], 200, 0)
        first, contacts = await asyncio.gather(floor.closest(many, job=True), floor.contacts(spheres[0], 0.5, job=True))
        with pytest.raises(ZeroDivisionError):
            await floor.closest(many, job=True, progress=lambda done, count: 1 / 0)
        turns.append(-1)
        await other
        return first, contacts

    first, contacts = asyncio.run(work())
    assert len(turns) > 3
    assert same(first, floor.closest(np.repeat(spheres[0], 200, 0))) and same(contacts, floor.contacts(spheres[0], 0.5))


def test_a_cancelled_call_leaves_what_it_reported(floor):
    """Rows of `out` before the last `done` are answers."""
    center = np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (1_000_000, 3)).astype("f4")
    out, reports = {"distance": np.full(len(center), -1, "f4")}, []

    def watch(done, count):
        reports.append(done)
        if done > count / 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        floor.closest(center, out=out, progress=watch, accuracy="exact")
    done = reports[-1]
    assert len(center) / 3 < done <= len(center)
    truth = floor.closest(center[:done], columns=["distance"], accuracy="exact").distance
    assert truth.tobytes() == out["distance"][:done].tobytes()
