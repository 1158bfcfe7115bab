# SPDX-License-Identifier: MIT
"""Answers: against formulas and brute force in NumPy, lists that grow, scenes, histories, lattices, buffers, images."""
import numpy as np
import pytest

import carom
from conftest import cube, same, waves


def test_a_sphere_falls_on_a_floor(context):
    mesh = context.mesh([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]])
    hits = mesh.sweep_first([[2, 1, 5], [-3, 1, 4], [20, 0, 3]], (0, 0, -2), 1.0, accuracy="exact")
    assert hits.t.tolist() == [2.0, 1.5, np.inf] and hits.triangle.tolist() == [0, 1, -1]
    assert hits.point[:2].tolist() == [[2, 1, 0], [-3, 1, 0]] and hits.normal[:2].tolist() == [[0, 0, 1]] * 2
    assert [carom.State(state).name for state in hits.state] == ["APPROACHING", "APPROACHING", "MISS"]
    assert carom.Feature(hits.feature[0]) is carom.Feature.FACE and hits.instance is None
    assert mesh.sweep_any([[1, 2, 5]], (0, 0, -2), 1.0, t_max=1.5).hit.tolist() == [0]


def test_distances_of_a_cube(context):
    mesh = context.mesh(*cube(2))
    places = np.float32([[1, 1, 1], [1, 1, 3], [3, 3, 1], [0.5, 1, 1]])
    signed = mesh.closest(places, sign="winding", accuracy="exact")
    assert signed.distance.tolist() == [-1, 1, np.float32(np.sqrt(2)), -0.5]
    assert mesh.closest(places, columns=["gradient"], sign="parity").gradient[1].tolist() == [0, 0, 1]
    lattice = carom.Lattice((-1, -1, -1), 0.5, (9, 9, 9))
    volume = mesh.distance(lattice, sign="winding", accuracy="exact").distance
    x, y, z = np.meshgrid(*map(lattice.coordinates, (0, 1, 2)), indexing="ij")
    q = np.abs(np.stack([x, y, z], -1) - 1) - 1
    true = np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(-1), 0)
    assert volume.shape == (9, 9, 9) and np.abs(volume - true.transpose(2, 1, 0)).max() < 1e-6
    parts = [mesh.distance(lattice, sign="winding", accuracy="exact", slabs=(k, k + 3)).distance for k in (0, 3, 6)]
    assert np.concatenate(parts).tobytes() == volume.tobytes()
    with pytest.raises(ValueError, match="slabs"):
        mesh.distance(lattice, slabs=(3, 10))
    assert set(mesh.clearance(lattice, 0.5).clearance.ravel()) == {0, 1, 2}


def test_a_volume_fills_a_file_in_place(context, tmp_path):
    mesh, lattice = context.mesh(*cube()), carom.Lattice.around((0, 0, 0), (1, 1, 1), 0.125, margin=0.5)
    file = np.memmap(tmp_path / "volume", "f4", "w+", shape=lattice.dims[::-1])
    mesh.distance(lattice, sign="winding", out={"distance": file})
    file.flush()
    there = np.fromfile(tmp_path / "volume", "f4")
    assert there.tobytes() == mesh.distance(lattice, sign="winding").distance.tobytes()


def test_lists_grow_until_they_are_whole(floor, spheres, monkeypatch):
    from carom import _calls, _run

    monkeypatch.setattr(_run, "LIST_LEAST", 4)
    ratios = floor._context._ratios
    center, velocity, radius = spheres
    for call, ask in (
        (_calls.MESH_SWEEP_LIST, lambda **m: floor.sweep_all(center, velocity, radius, **m)),
        (_calls.MESH_OVERLAP_LIST, lambda **m: floor.overlap_all(center, radius + 1, **m)),
        (_calls.MESH_CONTACTS, lambda **m: floor.contacts(center, radius + 1, **m)),
        (_calls.CLOUD_LIST, lambda **m: floor._context.spheres(center, radius + 1, **m)),
    ):
        ratios.clear()
        whole = ask()
        records = whole[1 if "query" in whole._fields else whole._fields.index("a")].shape[0]
        assert records > 100 and whole.offsets[-1] == records
        for ratio in (0, 0.1, (records - 5) / 500):
            ratios[call.name] = ratio
            assert same(whole, ask())
            ratios[call.name] = ratio
            assert same(whole, ask(job=True).result())
        assert ratios[call.name] >= records / 500
        arrays = {
            name: np.empty_like(a) for name, a in zip(whole._fields, whole) if a is not None and name != "offsets"
        }
        assert same([whole[1]], [ask(out=arrays)[1]])
        with pytest.raises(ValueError, match=f"the list has {records} records, and its arrays hold 7"):
            ask(out={name: a[:7] for name, a in arrays.items()})


def test_hits_of_a_list_are_those_of_a_search(floor, spheres):
    first, all_hits = floor.sweep_first(*spheres), floor.sweep_all(*spheres)
    begins = all_hits.offsets[:-1][all_hits.offsets[:-1] < all_hits.offsets[1:]]
    assert (all_hits.triangle[begins] == first.triangle[first.triangle >= 0]).all()
    only = floor.sweep_all(*spheres, hits="first")
    assert only.query.tolist() == np.flatnonzero(first.triangle >= 0).tolist()
    assert (floor.sweep_any(*spheres).hit == (first.triangle >= 0)).all()


def test_select_masks_and_bundles(context, spheres):
    center, velocity, radius = spheres
    vertices, triangles = waves()
    masks = np.arange(len(triangles), dtype="u4") % 2 + 1
    mesh = context.mesh(vertices, triangles, masks)
    odd = context.mesh(vertices, triangles[masks == 2])
    assert same(
        mesh.closest(center, mask=2, columns=["distance", "point"]), odd.closest(center, columns=["distance", "point"])
    )
    some = np.uint32([5, 3, 400, 3])
    assert same(mesh.sweep_first(*spheres, select=some), mesh.sweep_first(center[some], velocity[some], radius[some]))
    with pytest.raises(ValueError, match="query 1"):
        mesh.sweep_first(*spheres, select=np.uint32([0, 500]))
    with pytest.raises(TypeError, match="astype"):
        mesh.sweep_first(*spheres, select=np.array([0, 1]))
    hit = mesh.overlap_any(center, radius).hit
    assert (mesh.overlap_any(center, radius, bundle=20).hit == hit.reshape(-1, 20).max(1)).all()
    nearest = mesh.closest(center, radius=radius, bundle=20)
    assert (nearest.depth == mesh.closest(center, radius=radius).depth.reshape(-1, 20).max(1)).all()
    assert nearest.query.shape == (25,)
    with pytest.raises(ValueError, match="bundle"):
        mesh.closest(center, bundle=7)
    mesh.set_masks(None)
    assert same(mesh.closest(center, mask=8), context.mesh(vertices, triangles).closest(center))


def test_a_mesh_moves(context, spheres):
    vertices, triangles = waves()
    mesh, moved = context.mesh(vertices, triangles), vertices + np.float32((0, 0, 0.25))
    mesh.update(moved)
    assert same(mesh.sweep_first(*spheres), context.mesh(moved, triangles).sweep_first(*spheres))
    with pytest.raises(ValueError, match="vertices has 5 rows, and the mesh has 1681"):
        mesh.update(vertices[:5])
    image = mesh.image()
    for copy in (image, image.tobytes(), np.concatenate([image[:1], image])[1:]):
        assert same(mesh.closest(spheres[0]), context.open_image(copy).closest(spheres[0]))
    with pytest.raises(ValueError):
        context.open_image(image[:1000])
    for at in range(0, len(image), 97):  # each byte is checked, or no search follows it
        damaged = image.copy()
        damaged[at] ^= 0xFF
        try:
            context.open_image(damaged).closest(spheres[0][:3])
        except carom.InvalidArgument as error:
            assert "image" in str(error)


def test_scenes(context):
    mesh = context.mesh(*cube())
    shift = np.eye(4, dtype="f4")
    shift[:3, 3] = 5, 0, 0
    scene = context.scene([(mesh, None), (mesh, shift), (mesh, shift[:3], 4)])
    hits = scene.sweep_first([[5.5, 0.5, 3], [0.5, 0.5, 3]], (0, 0, -1), 0.5)
    assert hits.t.tolist() == [1.5, 1.5] and hits.instance.tolist() == [1, 0] and len(scene) == 3
    assert scene.sweep_first([[5.5, 0.5, 3]], (0, 0, -1), 0.5, mask=8).instance.tolist() == [1]
    shift[0, 3] = 50
    scene.update([None, shift, shift])
    assert scene.closest([[50.5, 0.5, 3]]).instance.tolist() == [1] and scene.info.triangle_count == 36
    scene.update(np.stack([shift[:3]] * 3), masks=np.uint32([4, 2, 1]))
    assert scene.closest([[50.5, 0.5, 3]], mask=1).instance.tolist() == [2]
    with pytest.raises(ValueError, match="2 matrices for 3 instances"):
        scene.update([None, shift])
    with pytest.raises(TypeError, match=r"matrix.astype"):
        scene.update([np.eye(4) / 3] * 3)
    with pytest.raises(ValueError, match="matrix 1 must have"):
        scene.update([None, shift[:2], None])
    with pytest.raises(ValueError, match="no such column"):
        mesh.closest([[0, 0, 0]], columns=["instance"])
    moving = context.scene([(mesh, None), (mesh, shift)], velocity=np.float32([[0, 0, 1], [0, 0, 0]]))
    assert moving.sweep_first([[0.5, 0.5, 3]], (0, 0, -1), 0.5).t.tolist() == [0.75]
    moving.update([None, shift])
    assert moving.sweep_first([[0.5, 0.5, 3]], (0, 0, -1), 0.5).t.tolist() == [1.5]
    with pytest.raises(ValueError, match="rows"):
        moving.update([None, shift], velocity=np.zeros((3, 3), "f4"))
    assert context.scene([]).closest([[0, 0, 0]]).triangle.tolist() == [-1]
    mesh.update(cube()[0])
    with pytest.raises(ValueError, match="instance 0"):
        scene.closest([[0, 0, 0]])


def test_contacts_have_a_history(context):
    mesh = context.mesh(*waves())
    center = np.float32([[0, 0, 0.2], [3, 2, 0.3]])
    before = mesh.contacts(center, 0.5)
    after = mesh.contacts(center + np.float32((0.02, 0, 0)), 0.5)
    found = context.match(before, after)
    assert found.previous.tolist() == list(range(len(after.query))) and found.ended.size == 0
    none = mesh.contacts(center + np.float32((0, 0, 9)), 0.5)
    assert context.match(before, none).ended.tolist() == list(range(len(before.query)))
    with pytest.raises(ValueError, match="needs the column patch"):
        context.match(before, mesh.contacts(center, 0.5, columns=["query", "point"]))


def brute_pairs(center, radius, other=None, other_radius=None):
    b, rb = (center, radius) if other is None else (other, other_radius)
    near = np.linalg.norm(center[:, None].astype("f8") - b[None].astype("f8"), axis=-1) <= radius[:, None] + rb[None]
    return np.argwhere(near if other is not None else np.triu(near, 1))


def test_spheres_among_themselves(context):
    rng = np.random.default_rng(5)
    center, radius = rng.uniform(0, 8, (300, 3)).astype("f4"), rng.uniform(0.2, 0.6, 300).astype("f4")
    pairs = context.spheres(center, radius, accuracy="exact")
    found = np.stack([pairs.a, pairs.b], 1)
    assert {tuple(p) for p in found} == {tuple(p) for p in brute_pairs(center, radius)} and pairs.previous is None
    again = context.spheres(center, radius, accuracy="exact", before=pairs)
    assert again.previous.tolist() == list(range(len(pairs.a)))
    other = rng.uniform(0, 8, (50, 3)).astype("f4")
    against = context.spheres(center, radius, against={"center": other, "radius": 0.5}, accuracy="exact")
    true = brute_pairs(center, radius, other, np.full(50, 0.5, "f4"))
    assert {tuple(p) for p in np.stack([against.a, against.b], 1)} == {tuple(p) for p in true}
    count = context.spheres_count(center, radius, accuracy="exact").partners
    assert (count == np.bincount(found.ravel(), minlength=300)).all()
    assert (context.spheres_any(center, radius).hit == (count > 0)).all()
    assert (context.spheres_first(center, radius).other >= 0).tolist() == (count > 0).tolist()
    assert sorted(context.spheres_order(center, radius)) == list(range(300))
    periodic = context.spheres([[0.1, 0, 0], [7.9, 0, 0]], 0.2, period=(8, 0, 0))
    assert periodic.shift.tolist() == [[-1, 0, 0]]
    with pytest.raises(ValueError, match="against has no size"):
        context.spheres(center, radius, against={"center": other, "size": 1})


def test_pairs_by_indices(context):
    center = np.float32([[0.2, 0.2, 1], [0.2, 0.2, 2]])
    corners = [np.float32([p]) for p in ([0, 0, 0], [1, 0, 0], [0, 1, 0])]
    both = context.sweep_pairs(
        center,
        np.float32([[0, 0, -1]] * 2),
        np.float32([0.25, 0.25]),
        *corners,
        indices=(np.uint32([1, 0, 1]), np.uint32([0, 0, 0])),
    )
    assert both.t_first.tolist() == [1.75, 0.75, 1.75]
    with pytest.raises(ValueError, match="make no pairs"):
        context.sweep_pairs(center, (0, 0, -1), 0.25, *corners)
    hit = context.sphere_pairs([[0, 0, 0]], [[4, 0, 0]], 0.5, [[2, 0, 0]], [[2, 0, 0]], 0.5)
    assert hit.u_first.tolist() == [0.25] and context.overlap_pairs([[0, 0, 0.1]], 0.25, *corners).overlap.tolist() == [
        1
    ]


def test_drops(context):
    mesh = context.mesh(*cube(2))
    heights = mesh.drop(carom.Lattice((-1, -1), 1, (5, 5)), 0.5).height
    assert heights.shape == (5, 5) and heights[2, 2] == 2.5 and heights[0, 0] == -np.inf
    x, y = np.float32([1, 2.25, 9]), np.float32([1, 1, 9])
    places = mesh.drop_at(x, y, 0.5)
    assert places.height[0] == 2.5 and 2 < places.height[1] < 2.5 and places.triangle[2] == -1
    assert mesh.drop(carom.Lattice((-1, -1), 1, (5, 5)), 0.5, rows=(2, 3)).height.tolist() == heights[2:3].tolist()


def test_arrays_in_buffers(context, floor, spheres):
    center, velocity, radius = spheres
    inputs = [context.buffer(array).array() for array in spheres]
    t = context.buffer(4 * 500)
    floor.sweep_first(*inputs, out={"t": t.array((500,), "f4")})
    plain = floor.sweep_first(*spheres)
    assert t.read((500,), "f4").tobytes() == plain.t.tobytes()
    whole = context.buffer(center)
    assert whole.read().tobytes() == center.tobytes() and whole.info["reachable"]
    with whole.map("read") as array:
        assert (array == center).all() and not array.flags.writeable
        with pytest.raises(ValueError):
            floor.closest(whole.array())
    with whole.map("write") as array:
        array[...] = 1
    assert (whole.read() == 1).all()
    for wrong in (
        lambda: whole.array((501, 3), "f4"),
        lambda: floor.closest(whole.array((1500,), "f4")),
        lambda: floor.closest(whole.array((500, 3), "f4", offset=1)),
        lambda: whole.read((6001,), "u1"),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        floor.closest(whole.array((500, 3), "i4"))


def test_tensors_of_others(context):
    class Tensor:  # as of any library with DLPack
        def __init__(self, array, device):
            self.array, self.device = array, device

        def __dlpack__(self, **more):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.device

    mesh, places = context.mesh(*cube()), np.float32([[0.5, 0.5, 2]])
    assert mesh.closest(Tensor(places, (1, 0))).distance.tolist() == [1]
    with pytest.raises(TypeError, match=r"center lies on a device; copy it to the CPU first: center.cpu\(\)"):
        mesh.closest(Tensor(places, (2, 0)))


def test_every_backend_has_the_same_bits(spheres):
    results = []
    for isa in ("scalar", "sse41", "avx2", "avx512", "neon"):
        for threads in (1, 3):
            try:
                with carom.Context(backend="cpu", isa=isa, threads=threads) as context:
                    results.append(context.mesh(*waves()).sweep_first(*spheres, accuracy="exact"))
            except carom.Error as error:
                assert error.status == carom.Status.ERROR_UNSUPPORTED
    assert len(results) >= 2 and all(same(results[0], result) for result in results)
    if not carom.devices():
        pytest.skip("no OpenCL device")
    with carom.Context(backend="opencl") as context:
        result, stats = context.mesh(*waves()).sweep_first(*spheres, accuracy="exact", stats=True)
        assert same(results[0], result) and stats.on_device + stats.fallen_back > 0 and context.devices
