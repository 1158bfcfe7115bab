# SPDX-License-Identifier: MIT
"""Writers of mesh files, what the command says of bad files, and whether there is HDF5."""
import base64
import json
import struct
import subprocess

import numpy as np
import pytest

import carom


def has_hdf5():
    try:
        carom.read("/none.h5")
    except (ValueError, OSError, carom.Error) as error:
        return isinstance(error, FileNotFoundError)


needs_hdf5 = pytest.mark.skipif(not has_hdf5(), reason="built without HDF5")
H5 = pytest.param("h5", marks=needs_hdf5)


def text_of(vertices):
    """Lines of coordinates that read back to the same bits."""
    return [" ".join(np.format_float_positional(v, unique=True) for v in vertex) for vertex in vertices]


# ---- writers of meshes: (vertices, triangles) to a file ---------------------------------------------


def off(path, vertices, triangles):
    lines = [f"OFF\n{len(vertices)} {len(triangles)} 0", *text_of(vertices)]
    path.write_text("\n".join(lines + [f"3 {a} {b} {c}" for a, b, c in triangles]) + "\n")


def obj(path, vertices, triangles):
    faces = [f"f {a} {b} {c}" for a, b, c in np.asarray(triangles) + 1]
    path.write_text(
        "\n".join([f"v {line}" for line in text_of(vertices)] + ["o lower", *faces[:5], "o rest", *faces[5:]])
    )


def ply(path, vertices, triangles):
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty float x\nproperty float y\n"
    head += f"property float z\nelement face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    faces = np.zeros(len(triangles), [("n", "u1"), ("corners", "<i4", 3)])
    faces["n"], faces["corners"] = 3, triangles
    path.write_bytes(head.encode() + vertices.astype("<f4").tobytes() + faces.tobytes())


def gltf(path, vertices, triangles):
    data = vertices.astype("<f4").tobytes() + np.asarray(triangles, "<u4").tobytes()
    views = [
        {"buffer": 0, "byteOffset": 0, "byteLength": vertices.nbytes},
        {"buffer": 0, "byteOffset": vertices.nbytes, "byteLength": len(data) - vertices.nbytes},
    ]
    low, high = (list(map(float, f(vertices, axis=0))) for f in (np.min, np.max))
    accessors = [
        {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3", "min": low, "max": high},
        {"bufferView": 1, "componentType": 5125, "count": 3 * len(triangles), "type": "SCALAR"},
    ]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "floor", "mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    if path.suffix == ".gltf":
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        path.write_text(json.dumps(document))
        return
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    parts = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(parts)) + parts)


def stl(path, vertices, triangles):
    rows = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = vertices[triangles]
    path.write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + rows.tobytes())


def collada(path, vertices, triangles):
    numbers, corners = " ".join(text_of(vertices)), " ".join(map(str, np.ravel(triangles)))
    path.write_text(
        f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="a" count="{vertices.size}">{numbers}</float_array><technique_common>
<accessor source="#a" count="{len(vertices)}" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles count="{len(triangles)}"><input semantic="VERTEX" source="#v" offset="0"/><p>{corners}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="w"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#w"/></scene></COLLADA>"""
    )


WRITERS = {"off": off, "obj": obj, "ply": ply, "gltf": gltf, "glb": gltf, "stl": stl, "dae": collada}


def said_by(command, *arguments):
    """(exit status, message) of a command that fails."""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        command(*arguments)
    lines = failed.value.stderr.decode().splitlines()
    return failed.value.returncode, "\n".join(line.removeprefix("carom: ") for line in lines if line[:7] == "carom: ")
