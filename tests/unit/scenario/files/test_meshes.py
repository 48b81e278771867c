"""Mesh files: content, and error messages."""

import struct

import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.files import meshes
from kittiwake.scenario.files.meshes import read_mesh
from kittiwake.world.ray import Ray, cast_ray

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
    "RAMP.OBJ": ("mtllib nowhere.mtl\no ramp\nusemtl gray\n" + QUAD).encode(),
    "tabs.obj": QUAD.replace(" ", "\t").replace("f", "  f").encode(),
    "slashes.obj": (VERTICES + "vn 0 0 1\nf 1//1 2//1 3//1 4//1\n").encode(),
    "text.stl": text_stl(),
    "binary.stl": binary_stl(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_same_ramp_is_read_from_every_kind_of_file(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name])
    mesh = read_mesh(tmp_path / name)
    assert mesh.source == name
    assert np.concatenate(mesh.corners).shape == (2, 3, 3)
    hit = cast_ray([Mesh(mesh)], Ray(Vec3(0.3, 0.6, 4.0), Vec3(0.0, 0.0, -1.0)))
    # the ramp rises by a half along y
    assert abs(hit.distance_m - 3.7) < 1e-12
    assert abs(hit.normal_world.y / hit.normal_world.z + 0.5) < 1e-12


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("m.ply", QUAD, r"m\.ply: a mesh is read from a file that ends in \.stl or \.obj"),
        ("empty.stl", "", "no triangle with an area"),
        ("empty.obj", "", "no triangle with an area"),
        ("points.obj", VERTICES, "no triangle with an area"),
        ("flat.obj", VERTICES + "f 1 2 2\n", "no triangle with an area"),
        (
            "nan.obj",
            QUAD + "v 0 0 nan\nf 1 2 5\n",
            "triangle 3 has a coordinate that is not a number",
        ),
        ("far.obj", QUAD + "v 0 0 1e30\nf 1 2 5\n", "from -1,000,000 to 1,000,000"),
        ("words.obj", "v a b c\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not a readable OBJ file"),
        ("short.obj", VERTICES + "f 1 2 9\n", r"short\.obj:5: there is no vertex 9; .* 1 to 4"),
        ("back.obj", VERTICES + "\nf -3 -2 -1\n", r"back\.obj:6: there is no vertex -3"),
        ("zero.obj", VERTICES + "f 0 1 2\n", r"zero\.obj:5: there is no vertex 0"),
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
    with pytest.raises(
        ScenarioError, match="has 2 triangles or more; at most 1 are allowed; write a coarser"
    ):
        read_mesh(tmp_path / "ramp.obj")
    monkeypatch.setattr(meshes, "MAX_BYTES", 10)
    with pytest.raises(ScenarioError, match="the most that is read"):
        read_mesh(tmp_path / "ramp.obj")


@pytest.mark.parametrize("content", [binary_stl()[:150], binary_stl() + b"\0\0"])
def test_binary_file_of_another_length_is_refused_with_both(content, tmp_path):
    (tmp_path / "ramp.stl").write_bytes(content)
    expected = f"has {len(content)} bytes but states 2 triangles, which take 184"
    with pytest.raises(ScenarioError, match=expected):
        read_mesh(tmp_path / "ramp.stl")


def test_lines_may_end_in_any_way_and_normals_and_colors_are_passed_over(tmp_path):
    (tmp_path / "plain.obj").write_text(QUAD)
    plain = read_mesh(tmp_path / "plain.obj")
    noted = QUAD.replace("f ", "vn 0 0 1\n# a face\nusemtl red\nf ", 1)
    colored = "\n".join(
        f"{line} 0.5 0.5 0.5" if line.startswith("v ") else line for line in noted.splitlines()
    )
    for number, text in enumerate((colored, QUAD.replace("\n", "\r\n"), QUAD.replace("\n", "\r"))):
        (tmp_path / f"{number}.obj").write_bytes(text.encode())
        other = read_mesh(tmp_path / f"{number}.obj")
        np.testing.assert_array_equal(other.corners, plain.corners)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("v 0 0 0\n" * 1000, r"\d+ vertices"),
        (" v 0 0 0\n" * 1000, "1,000 vertices"),
        (VERTICES + "f 1 2 3\n" * 1000, "1,000 triangles"),
        (VERTICES + "f" + " 1 2 3 4" * 1000 + "\n", "102 triangles"),
    ],
    ids=["vertices", "indented vertices", "faces", "corners"],
)
def test_a_mesh_of_too_many_lines_is_refused_before_they_are_looked_at(
    text, what, tmp_path, monkeypatch
):
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 100)
    monkeypatch.setattr(meshes, "_face", lambda *_: pytest.fail("it looks at faces"))
    (tmp_path / "large.obj").write_text(text)
    with pytest.raises(ScenarioError, match=f"has {what} or more; at most [13]00 are allowed"):
        read_mesh(tmp_path / "large.obj")
