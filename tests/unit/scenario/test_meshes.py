"""Files of triangles: what is read, and what is refused with which sentence."""

import struct
import sys

import numpy as np
import pytest

from kittiwake.core.errors import MissingExtraError, ScenarioError
from kittiwake.core.ray import Ray, cast
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario import meshes
from kittiwake.scenario.meshes import read_mesh

CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.5), (0.0, 1.0, 0.5)]
VERTICES = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
QUAD = VERTICES + "f 1 2 3 4\n"
CORNER = "vertex {} {} {}\n"
FACET = "facet normal 0 0 1\nouter loop\n" + 3 * CORNER + "endloop\nendfacet\n"
HALVES = [(0, 1, 2), (0, 2, 3)]


def text_stl():
    facets = [FACET.format(*(n for i in half for n in CORNERS[i])) for half in HALVES]
    return ("solid ramp\n" + "".join(facets) + "endsolid ramp\n").encode()


def binary_stl():
    rows = [
        struct.pack("<12fH", 0, 0, 1, *(n for i in half for n in CORNERS[i]), 0) for half in HALVES
    ]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


FILES = {
    "ramp.obj": QUAD.encode(),
    "RAMP.OBJ": ("mtllib nowhere.mtl\no ramp\nusemtl grey\n" + QUAD).encode(),
    "text.stl": text_stl(),
    "binary.stl": binary_stl(),
}


@pytest.mark.parametrize("name", FILES)
def test_same_ramp_is_read_from_every_kind_of_file(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name])
    mesh = read_mesh(tmp_path / name)
    assert mesh.source == name
    assert np.concatenate(mesh.corners_m).shape == (2, 3, 3)
    hit = cast([Mesh(mesh)], Ray(Vec3(0.3, 0.6, 4.0), Vec3(0.0, 0.0, -1.0)))
    # the ramp rises by a half along y
    assert abs(hit.distance_m - 3.7) < 1e-12
    assert abs(hit.normal_world.y / hit.normal_world.z + 0.5) < 1e-12


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("m.ply", QUAD, r"m\.ply: a mesh is read from a file that ends in \.stl or \.obj"),
        ("empty.stl", "", "no triangle that has an area"),
        ("empty.obj", "", "no triangle that has an area"),
        ("points.obj", VERTICES, "no triangle that has an area"),
        ("flat.obj", VERTICES + "f 1 2 2\n", "no triangle that has an area"),
        ("nan.obj", QUAD + "v 0 0 nan\nf 1 2 5\n", "triangle 3 has a coordinate that is no number"),
        ("far.obj", QUAD + "v 0 0 1e30\nf 1 2 5\n", "from -1,000,000 to 1,000,000"),
        ("words.obj", "v a b c\nf 1 2 3\n", "no OBJ file that can be read"),
        ("short.obj", VERTICES + "f 1 2 9\n", "no OBJ file that can be read"),
        ("broken.stl", "solid a\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n", "broken.stl: "),
    ],
)
def test_files_that_are_no_mesh_are_refused(name, content, sentence, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ScenarioError, match=sentence):
        read_mesh(tmp_path / name)


def test_missing_file_is_refused_by_its_name(tmp_path):
    with pytest.raises(ScenarioError, match="cannot read '.*none.stl': No such file"):
        read_mesh(tmp_path / "none.stl")


def test_large_files_and_many_triangles_are_refused(tmp_path, monkeypatch):
    (tmp_path / "ramp.obj").write_text(QUAD)
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 1)
    with pytest.raises(ScenarioError, match="holds 2 triangles, 1 are allowed; write a coarser"):
        read_mesh(tmp_path / "ramp.obj")
    monkeypatch.setattr(meshes, "MAX_BYTES", 10)
    with pytest.raises(ScenarioError, match="the most that is read"):
        read_mesh(tmp_path / "ramp.obj")


def test_missing_library_is_named_with_the_line_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    (tmp_path / "ramp.obj").write_text(QUAD)
    with pytest.raises(MissingExtraError, match=r"pip install 'kittiwake\[mesh\]'"):
        read_mesh(tmp_path / "ramp.obj")
