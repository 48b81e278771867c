"""Bodies of several links or shapes: mass, center of mass, inertia, and error messages."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.mass_elements import crossed_quadrotor
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.files.urdf import read_body

SCENARIO = """
name: shapes
time: {rate_hz: 100, duration_s: 0.1}
vehicles: {tern: {model: MODEL, parameters: PARAMETERS}}
"""


def numbers(values):
    return " ".join(map(repr, map(float, values)))


def link(name, rng):
    """With an inertia that a body can have, in axes turned at random."""
    mass = rng.uniform(0.05, 3.0)
    a, b, c = rng.uniform(0.02, 0.5, 3) ** 2
    turn = Rotation.random(rng=rng).as_matrix()
    matrix = turn @ np.diag(mass / 12.0 * np.array([b + c, a + c, a + b])) @ turn.T
    names = {
        "ixx": (0, 0),
        "iyy": (1, 1),
        "izz": (2, 2),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyz": (1, 2),
    }
    inertia = " ".join(f'{key}="{float(matrix[at])!r}"' for key, at in names.items())
    place, angles = rng.uniform(-0.3, 0.3, 3), rng.uniform(-3.0, 3.0, 3)
    return (
        f'<link name="{name}"><inertial><origin xyz="{numbers(place)}" rpy="{numbers(angles)}"/>'
        f'<mass value="{mass!r}"/><inertia {inertia}/></inertial></link>'
    )


def joint(parent, child, rng, kind="fixed"):
    place, angles = rng.uniform(-0.5, 0.5, 3), rng.uniform(-3.0, 3.0, 3)
    return (
        f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{numbers(place)}" rpy="{numbers(angles)}"/></joint>'
    )


def robot(seed, links=6):
    """A tree of links on fixed joints, one of them without mass; with an odd seed the first too."""
    rng = np.random.default_rng(seed)
    parts = [
        '<link name="world"/>',
        '<joint name="free" type="floating"><parent link="world"/><child link="link0"/></joint>',
        link("link0", rng) if seed % 2 == 0 else '<link name="link0"/>',
    ]
    for number in range(1, links):
        name = f"link{number}"
        parts.append(f'<link name="{name}"/>' if number == 2 else link(name, rng))
        parts.append(joint(f"link{rng.integers(number)}", name, rng))
    return f'<robot name="tree">{"".join(parts)}</robot>'


@pytest.mark.parametrize("seed", range(40))
def test_links_on_fixed_joints_are_the_body_that_mujoco_makes_of_them(seed, tmp_path):
    path = tmp_path / "tree.urdf"
    text = robot(seed)
    path.write_text(text)
    settings = 'fusestatic="true" discardvisual="true" inertiafromgeom="false"'
    options = f"<mujoco><compiler {settings}/></mujoco>"
    model = mujoco.MjModel.from_xml_string(text.replace("</robot>", f"{options}</robot>"))
    assert model.nbody == 2  # the world and one body
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[1])
    axes = axes.reshape(3, 3)
    expected = axes @ np.diag(model.body_inertia[1]) @ axes.T
    read = read_body(path, None)
    assert read.link == "link0"
    assert read.properties.mass_kg == pytest.approx(model.body_mass[1], rel=1e-9)
    np.testing.assert_allclose(read.center_m.array, model.body_ipos[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        read.properties.inertia_kgm2.matrix, expected, rtol=0, atol=1e-9 * expected.max()
    )


@pytest.mark.parametrize("kind", ["continuous", "revolute", "prismatic", "floating"])
def test_a_joint_that_moves_is_refused_by_name(kind, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "arm.urdf"
    parts = [link("body", rng), link("rotor", rng), joint("body", "rotor", rng, kind)]
    path.write_text(f'<robot name="a">\n{"".join(parts)}</robot>')
    with pytest.raises(ScenarioError) as refused:
        read_body(path, None)
    message = str(refused.value)
    assert message.startswith(f"arm.urdf:2: <joint>: the joint 'to_rotor' is '{kind}'")
    assert "{file: arm.urdf, link: body}" in message
    assert read_body(path, "body").link == "body"


@pytest.mark.parametrize("kind", ["fixed", "floating"])
def test_a_single_link_with_mass_is_turned_into_the_axes_of_the_link_that_carries_it(
    kind, tmp_path
):
    path = tmp_path / "drone.urdf"
    path.write_text(
        f'<robot name="d"><link name="base_link"/><joint name="j" type="{kind}">'
        '<parent link="base_link"/><child link="body"/><origin xyz="0.5 0 0" rpy="0 0 '
        f'{math.pi / 2}"/></joint><link name="body"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    read = read_body(path, None)
    turned = kind == "fixed"
    moments = np.diag(read.properties.inertia_kgm2.matrix)
    np.testing.assert_allclose(moments, [2, 1, 2.5] if turned else [1, 2, 2.5], rtol=1e-12)
    assert read.center_m.x == pytest.approx(0.5 if turned else 0.0)
    assert read.link == ("base_link" if turned else "body")
    assert read_body(path, "body").properties.inertia_kgm2.xx == 1


def test_link_fixed_to_the_world_keeps_its_own_axes(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "drone.urdf"
    parts = ['<link name="world"/>', joint("world", "base", rng), link("base", rng)]
    path.write_text(f'<robot name="d">{"".join(parts)}</robot>')
    assert read_body(path, None).link == "base"


@pytest.mark.slow
def test_a_long_chain_without_mass_is_followed(tmp_path):
    path = tmp_path / "chain.urdf"
    joints = "".join(
        f'<joint type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/>'
        '<origin xyz="1 0 0"/></joint>'
        for n in range(3000)
    )
    ends = "".join(link(f"l{n}", np.random.default_rng(n)) for n in (3000, 2998))
    path.write_text(f'<robot name="chain">{joints}{ends}</robot>')
    read = read_body(path, None)
    assert read.link == "l0"
    assert read.center_m.x == pytest.approx(2999.0, abs=1.5)


def test_links_of_two_trees_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "trees.urdf"
    parts = [link("a", rng), joint("base", "a", rng), joint("other", "b", rng), link("b", rng)]
    path.write_text(f'<robot name="trees">{"".join(parts)}</robot>')
    with pytest.raises(ScenarioError, match="no joint connects 'a' and 'b'"):
        read_body(path, None)


def test_a_ring_of_joints_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "ring.urdf"
    parts = [link("a", rng), link("b", rng), joint("a", "b", rng), joint("b", "a", rng)]
    path.write_text(f'<robot name="ring">{"".join(parts)}</robot>')
    with pytest.raises(ScenarioError, match="is its own ancestor"):
        read_body(path, None)


def built(parameters, model="rigid-body"):
    text = SCENARIO.replace("PARAMETERS", parameters).replace("MODEL", model)
    return build(parse_document(text, "shapes.yaml"), Path())


CROSS = (
    "{inertia_kgm2: {from: [{cuboid: {mass_kg: 0.5, edges_body_m: [0.1, 0.12, 0.04]}}, "
    "{cylinder: {mass_kg: 0.1, radius_m: 0.01, length_m: 0.4, axis: x}}, "
    "{cylinder: {mass_kg: 0.1, radius_m: 0.01, length_m: 0.4, axis: y}}]}}"
)


@pytest.mark.parametrize("model", ["rigid-body", "hummingbird", "ar-drone"])
def test_a_quadrotor_of_shapes_has_their_mass_and_inertia(model):
    dynamics = built(CROSS, model).vehicles["tern"].dynamics
    whole = crossed_quadrotor(0.5, Vec3(0.1, 0.12, 0.04), 0.2, 0.01, 0.4)
    assert dynamics.mass_kg == pytest.approx(0.7, rel=1e-15)
    np.testing.assert_allclose(
        dynamics.inertia_kgm2.matrix, whole.inertia_kgm2.matrix, rtol=1e-14, atol=1e-18
    )


def test_shapes_off_the_center_are_moved_with_a_warning():
    scenario = built(
        "{inertia_kgm2: {from: [{cuboid: {mass_kg: 3, edges_body_m: [0.1, 0.1, 0.1]}}, "
        "{cuboid: {mass_kg: 1, edges_body_m: [0.1, 0.1, 0.1], center_body_m: [0.4, 0, 0]}}]}}"
    )
    inertia = scenario.vehicles["tern"].dynamics.inertia_kgm2
    own = 4.0 * 0.02 / 12.0
    # 3 kg at -0.1 m and 1 kg at 0.3 m
    assert inertia.xx == pytest.approx(own, rel=1e-14)
    assert inertia.zz == pytest.approx(own + 3.0 * 0.01 + 0.09, rel=1e-14)
    (note,) = [message for message in scenario.warnings() if "center of mass" in message]
    assert "inertia_kgm2.from: the center of mass lies [0.1, 0, 0] m" in note


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (CROSS.replace("{inertia", "{mass_kg: 0.8, inertia"), "the solids weigh 0.7 kg together"),
        ("{inertia_kgm2: {from: []}}", "write a list of solids and no other key"),
        ("{inertia_kgm2: {from: [{}]}}", "inertia_kgm2.from.0: write one solid per entry"),
        ("{inertia_kgm2: {from: [{ball: {}}]}}", "from.0.ball: there is no such key"),
        (CROSS.replace("radius_m: 0.01", "radius_m: 0"), "from.1.cylinder.radius_m: 0 is not"),
        (
            CROSS.replace("axis: x", "axis: w"),
            "from.1.cylinder.axis: 'w' is not known. Allowed: x, y, z",
        ),
        (CROSS.replace("{from:", "{xx: 1, from:"), "no other key"),
    ],
)
def test_shapes_that_are_no_body_are_refused_with_their_key(parameters, expected):
    with pytest.raises(ScenarioError) as refused:
        built(parameters)
    assert expected in str(refused.value)


def test_mass_of_shapes_may_be_repeated():
    both = CROSS.replace("{inertia", "{mass_kg: 0.7, inertia")
    assert math.isclose(built(both).vehicles["tern"].dynamics.mass_kg, 0.7)


@pytest.mark.parametrize(
    ("solid", "key"),
    [
        ("cuboid: {mass_kg: 1, edges_body_m: [1.0e+200, 0.1, 0.1]}", "edges_body_m"),
        ("cuboid: {mass_kg: 1, edges_body_m: [1.0e-200, 0.1, 0.1]}", "edges_body_m"),
        ("cuboid: {mass_kg: 1.0e-320, edges_body_m: [0.1, 0.1, 0.1]}", "mass_kg"),
        ("cuboid: {mass_kg: 1.0e+308, edges_body_m: [0.1, 0.1, 0.1]}", "mass_kg"),
        (
            "cuboid: {mass_kg: 1, edges_body_m: [0.1, 0.1, 0.1], center_body_m: [1.0e+200, 0, 0]}",
            "center_body_m",
        ),
        ("cylinder: {mass_kg: 1, radius_m: 1.0e-180, length_m: 1}", "radius_m"),
    ],
)
def test_a_solid_beyond_what_can_be_computed_is_refused_by_its_key(solid, key):
    with pytest.raises(ScenarioError) as refused:
        built(f"{{inertia_kgm2: {{from: [{{{solid}}}, {{{solid}}}]}}}}")
    message = str(refused.value).splitlines()
    assert all(f"{key}: " in line or f".{key}" in line for line in message), message


def test_solids_that_are_too_unlike_for_an_inertia_are_refused_by_their_key():
    small = "cuboid: {mass_kg: 1, edges_body_m: [1.0e-6, 1.0e-6, 1.0e-6]"
    far = f"{{{small}}}}}, {{{small}, center_body_m: [1.0e+6, 9.0e+5, 8.0e+5]}}}}"
    with pytest.raises(
        ScenarioError, match="inertia_kgm2.from: the sizes of the solids differ too much"
    ):
        built(f"{{inertia_kgm2: {{from: [{far}]}}}}")


def test_feet_of_a_body_that_no_number_describes_are_refused_in_words():
    tiny = "{mass_kg: 1, inertia_kgm2: {xx: 1.0e-320, yy: 1.0e-320, zz: 1.0e-320}}"
    with pytest.raises(
        ScenarioError, match="landing_gear: it cannot support a body of this mass and iner"
    ):
        built(tiny)
    huge = CROSS.replace("{inertia", "{mass_kg: 1.0e+308, inertia")
    with pytest.raises(ScenarioError, match="the solids weigh 0.7 kg together, but mass_kg is 1e"):
        built(huge)


def test_misspelled_from_gets_a_suggestion():
    with pytest.raises(
        ScenarioError, match="inertia_kgm2.form: there is no such key. Did you mean 'from'"
    ):
        built("{inertia_kgm2: {form: []}}")


def test_solids_beside_a_urdf_file_are_refused_in_one_line(tmp_path):
    (tmp_path / "a.urdf").write_text(
        f'<robot name="a">{link("a", np.random.default_rng(0))}</robot>'
    )
    parameters = "{urdf: a.urdf, " + CROSS[1:]
    text = SCENARIO.replace("PARAMETERS", parameters).replace("MODEL", "rigid-body")
    with pytest.raises(ScenarioError) as refused:
        build(parse_document(text, "shapes.yaml"), tmp_path)
    message = str(refused.value)
    assert "urdf is given as well" in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("key", ["urdf: loop.urdf", "urdf: {file: loop.urdf}"])
def test_a_loop_of_links_is_refused(key, tmp_path):
    (tmp_path / "loop.urdf").symlink_to(tmp_path / "loop.urdf")
    text = SCENARIO.replace("PARAMETERS", f"{{{key}}}").replace("MODEL", "rigid-body")
    with pytest.raises(ScenarioError, match="loop.urdf"):
        build(parse_document(text, "shapes.yaml"), tmp_path)
