"""URDF files: mass and inertia of links, and error messages."""

import dataclasses
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import kittiwake as kw
from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.files import xml_elements
from kittiwake.scenario.files.urdf import read_mass_properties
from kittiwake.scenario.load import load_scenario
from kittiwake.vehicles import VEHICLES

DOCS = Path(__file__).parents[4] / "docs"

# every entry of the inertia differs, and its axes are turned
HERON = """\
<?xml version="1.0" encoding="UTF-8"?>
<robot name="heron">
  <link name="world"/>
  <joint name="free" type="floating">
    <parent link="world"/>
    <child link="base_link"/>
  </joint>
  <link name="base_link">
    <inertial>
      <origin xyz="0 0 0" rpy="0.3 -0.5 1.1"/>
      <mass value="1.4"/>
      <inertia ixx="0.012" ixy="-0.001" ixz="0.002" iyy="0.014" iyz="0.0005" izz="0.022"/>
    </inertial>
  </link>
</robot>
"""
RPY = 'rpy="0.3 -0.5 1.1"'
AS_IN_THE_FILE = np.array([[0.012, -0.001, 0.002], [-0.001, 0.014, 0.0005], [0.002, 0.0005, 0.022]])
ARM = """\
  <link name="arm">
    <inertial>
      <mass value="0.2"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/>
    </inertial>
  </link>
</robot>
"""

SCENARIO = """\
name: urdf
time: {rate_hz: 100, duration_s: 0.1}
vehicles:
  gull:
    model: MODEL
    parameters:
      urdf: body.urdf
"""


def body(tmp_path, text=HERON):
    (tmp_path / "body.urdf").write_text(text, encoding="utf-8")
    return tmp_path / "body.urdf"


def spoiled(old, new):
    assert old in HERON
    return HERON.replace(old, new, 1)


def refusal_of_file(tmp_path, text, link=None):
    with pytest.raises(ScenarioError) as refused:
        read_mass_properties(body(tmp_path, text), link)
    return str(refused.value)


def built(folder, model="rigid-body", parameters="", overrides=()):
    text = SCENARIO.replace("MODEL", model) + parameters
    document = apply_overrides(parse_document(text, "test.yaml"), overrides)
    return build(document, folder)


def dynamics(*arguments, **named):
    return built(*arguments, **named).vehicles["gull"].dynamics


def refusal(*arguments, **named):
    with pytest.raises(ScenarioError) as refused:
        built(*arguments, **named)
    return str(refused.value)


# what is read


def test_without_turned_axes_mass_and_inertia_are_the_very_numbers_of_the_file(tmp_path):
    read = read_mass_properties(body(tmp_path, spoiled(RPY, "")), None)
    assert read.mass_kg == 1.4
    np.testing.assert_array_equal(read.inertia_kgm2.matrix, AS_IN_THE_FILE)


@pytest.mark.parametrize("origin", ["", '<origin rpy="0 0 0"/>', '<origin xyz="1e-10 0 -1e-10"/>'])
def test_a_center_of_mass_at_the_links_origin_may_be_left_out(origin, tmp_path):
    text = spoiled(f'<origin xyz="0 0 0" {RPY}/>', origin)
    read = read_mass_properties(body(tmp_path, text), None)
    np.testing.assert_array_equal(read.inertia_kgm2.matrix, AS_IN_THE_FILE)


def test_mujoco_reads_the_same_mass_and_inertia_from_the_same_file(tmp_path):
    path = body(tmp_path)
    model = mujoco.MjModel.from_xml_path(str(path))
    number = model.body("base_link").id
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[number])
    axes = axes.reshape(3, 3)
    read = read_mass_properties(path, None)
    assert read.mass_kg == model.body_mass[number]
    # 1e-12: MuJoCo keeps principal moments and axes, found by an iteration in double precision
    np.testing.assert_allclose(
        read.inertia_kgm2.matrix,
        axes @ np.diag(model.body_inertia[number]) @ axes.T,
        rtol=0,
        atol=1e-12 * AS_IN_THE_FILE.max(),
    )


ANGLES = st.floats(-7.0, 7.0)


@pytest.mark.slow
@given(st.tuples(ANGLES, ANGLES, ANGLES))
def test_the_inertia_is_turned_about_the_links_fixed_axes(tmp_path_factory, rpy):
    words = " ".join(map(repr, rpy))
    path = body(tmp_path_factory.mktemp("turned"), spoiled(RPY, f'rpy="{words}"'))
    turn = Rotation.from_euler("xyz", rpy).as_matrix()  # small letters: about fixed axes
    # 1e-14: a few roundings of double precision
    np.testing.assert_allclose(
        read_mass_properties(path, None).inertia_kgm2.matrix,
        turn @ AS_IN_THE_FILE @ turn.T,
        rtol=0,
        atol=1e-14 * AS_IN_THE_FILE.max(),
    )


def test_a_quarter_turn_about_z_swaps_the_moments_about_x_and_y(tmp_path):
    text = spoiled(RPY, 'rpy="0 0 1.5707963267948966"')
    inertia = read_mass_properties(body(tmp_path, text), None).inertia_kgm2
    assert inertia.xx == pytest.approx(0.014, rel=1e-15)
    assert inertia.yy == pytest.approx(0.012, rel=1e-15)
    assert inertia.xy == pytest.approx(0.001, rel=1e-14)


def test_the_named_link_is_taken_where_several_have_mass(tmp_path):
    path = body(tmp_path, spoiled("</robot>\n", ARM))
    assert read_mass_properties(path, "arm").mass_kg == 0.2
    assert read_mass_properties(path, "base_link").mass_kg == 1.4


def test_other_elements_of_the_file_are_ignored(tmp_path):
    inside = '<link name="base_link"><inertial><mass value="9"/></inertial></link>'
    text = spoiled("</robot>", f"<gazebo><robot>{inside}</robot></gazebo><!-- {inside} --></robot>")
    assert read_mass_properties(body(tmp_path, text), None).mass_kg == 1.4


def test_a_file_that_xacro_has_expanded_may_still_declare_its_namespace(tmp_path):
    text = spoiled("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"')
    assert read_mass_properties(body(tmp_path, text), None).mass_kg == 1.4


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_the_encodings_of_xml_are_read(encoding, tmp_path):
    text = spoiled("UTF-8", encoding.removesuffix("-sig")).replace("heron", "höckerschwan")
    (tmp_path / "body.urdf").write_bytes(text.encode(encoding))
    assert read_mass_properties(tmp_path / "body.urdf", None).mass_kg == 1.4


# what is refused


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('value="1.4"', 'value="0"', ":11: <mass>: value: 0 is not allowed; must be above 0"),
        ('value="1.4"', 'value="-1"', ":11: <mass>: value: -1 is not allowed; must be above 0"),
        ('value="1.4"', 'value="inf"', ":11: <mass>: value: 'inf' is not allowed; must be a fin"),
        ('value="1.4"', 'value="1e400"', ":11: <mass>: value: '1e400' is not allowed"),
        ('value="1.4"', 'value="1,4"', ":11: <mass>: value: '1,4' is not allowed"),
        ('value="1.4"', 'value="1 4"', ":11: <mass>: value: '1 4' is not allowed"),
        ('value="1.4"', "", ":11: <mass>: value is missing"),
        ("<mass", "<weight", ":9: <inertial>: <mass> is missing"),
        ("<mass", '<mass value="1"/>\n<mass', ":12: <mass>: there is another one in line 11"),
        ('ixz="0.002"', 'ixz="nan"', ":12: <inertia>: ixz: 'nan' is not allowed"),
        ('ixz="0.002"', "", ":12: <inertia>: ixz is missing"),
        ('iyy="0.014"', 'iyy="-1"', ":12: <inertia>: an inertia with the principal moments -1"),
        ('ixy="-0.001"', 'ixy="0.02"', "is not positive definite; all must be above 0"),
        ('izz="0.022"', 'izz="0.03"', "the largest may not exceed the sum of the other two"),
        ('ixx="0.012"', 'ixx="1e20"', ":12: <inertia>: no body has the principal moments"),
        ('ixx="0.012"', 'ixx="1e308"', "ixx: 1e+308 is not allowed; must be from -1e+21 to 1e+21"),
        ('value="1.4"', 'value="1e-320"', ":11: <mass>: value: 9.99989e-321 is not allowed; must"),
        ('value="1.4"', 'value="1e308"', "1e+308 is not allowed; must be from 1e-09 to 1e+09"),
        ('xyz="0 0 0"', 'xyz="0 0 1e200"', ":10: <origin>: xyz: 1e+200 is not allowed; must be"),
        ('xyz="0 0 0"', 'xyz="0 0"', ":10: <origin>: xyz: '0 0' is not allowed; must be 3 finite"),
        (RPY, 'rpy="0 0 nan"', ":10: <origin>: rpy: '0 0 nan' is not allowed; must be 3 finite"),
        (
            RPY,
            'quat_xyzw="0 0 1 0"',
            ":10: <origin>: there is no 'quat_xyzw'; write the position as",
        ),
        ("<robot", "<mujoco", ":2: <mujoco>: a URDF file begins with <robot>"),
        ('"1.4"', '"${mass}"', ":11: <mass>: value: '${mass}': there is no property 'mass'."),
        ('"world"', '"$(arg world)"', ":3: <link>: name: the argument 'world' has no default"),
        ("<link", "<xacro:include/><link", ":3: <xacro:include>: filename is missing"),
        ("</inertial>", "</inertial><inertial/>", "another <inertial> of the link 'base_link'"),
        (
            '"world"/>',
            '"base_link"><inertial/></link>',
            "another <inertial> of the link 'base_link",
        ),
        ("</link>", "", ":15: not XML (mismatched tag)"),
        ("</robot>", "", ":16: not XML (no element found)"),
        ("UTF-8", "utf-7", "not readable text (multi-byte encodings are not supported)"),
        ("UTF-8", "klingon", "not readable text (unknown encoding: klingon); save it as"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_element(old, new, expected, tmp_path):
    message = refusal_of_file(tmp_path, spoiled(old, new))
    assert message.startswith("body.urdf:")
    assert expected in message


def test_links_with_mass_that_nothing_joins_are_refused_with_their_names(tmp_path):
    message = refusal_of_file(tmp_path, spoiled("</robot>\n", ARM))
    assert "no joint connects 'base_link' and 'arm', which both have an <inertial>" in message
    assert message.endswith("name a single link, as in {file: body.urdf, link: base_link}")


@pytest.mark.parametrize(
    ("link", "hint"), [("baselink", "Did you mean 'base_link'? "), ("world", "")]
)
def test_a_link_without_mass_is_refused_with_those_that_have_one(link, hint, tmp_path):
    message = refusal_of_file(tmp_path, HERON, link)
    assert f"no link '{link}' has an <inertial>. {hint}Allowed: base_link." in message


def test_a_file_without_mass_is_refused(tmp_path):
    message = refusal_of_file(tmp_path, '<robot name="ghost"><link name="base_link"/></robot>')
    assert message == "body.urdf: no link has an <inertial> with mass and inertia"


def test_a_document_type_is_refused_before_its_entities_grow(tmp_path):
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    text = spoiled("<robot", f"<!DOCTYPE robot [{entities}]><robot").replace("heron", "&i;")
    message = refusal_of_file(tmp_path, text)
    assert message == "body.urdf: a document type is not allowed; remove <!DOCTYPE ...>"


def test_a_file_larger_than_the_limit_is_refused_unparsed(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_elements, "MAX_BYTES", 2**20)
    message = refusal_of_file(tmp_path, "<" * (2**20 + 1))
    assert message == "body.urdf: larger than 1 MiB, the most that is read"


def test_a_file_nested_too_deeply_is_refused(tmp_path):
    message = refusal_of_file(tmp_path, "<robot>" * 101)
    assert message == ("body.urdf:1: <robot>: is inside 100 other elements, the limit of nesting")


def test_a_file_that_is_missing_or_a_folder_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="No such file"):
        read_mass_properties(tmp_path / "nothing.urdf", None)
    with pytest.raises(ScenarioError, match="directory"):
        read_mass_properties(tmp_path, None)


@given(place=st.integers(0, len(HERON)), length=st.integers(0, 20), new=st.binary(max_size=20))
def test_any_content_is_read_or_refused_with_a_scenario_error(tmp_path_factory, place, length, new):
    path = tmp_path_factory.mktemp("any") / "body.urdf"
    path.write_bytes(HERON[:place].encode() + new + HERON[place + length :].encode())
    try:
        assert read_mass_properties(path, None).mass_kg > 0.0
    except ScenarioError as error:
        assert str(error).startswith("body.urdf:")  # noqa: PT017


# in a scenario


def test_the_numbers_of_the_file_fly_as_if_they_stood_in_the_scenario(tmp_path):
    body(tmp_path, spoiled(RPY, ""))
    text = (SCENARIO.replace("MODEL", "crazyflie")).replace(
        "urdf: body.urdf",
        "{mass_kg: 1.4, inertia_kgm2: {xx: 0.012, yy: 0.014, zz: 0.022, "
        "xy: -0.001, xz: 0.002, yz: 0.0005}}",
    )
    written = build(parse_document(text, "test.yaml"), tmp_path).vehicles["gull"]
    read = built(tmp_path, model="crazyflie").vehicles["gull"]
    assert read == written


def test_products_of_the_data_file_do_not_outlive_those_of_the_urdf_file(tmp_path):
    assert VEHICLES.find("ar-drone").parameters()["inertia_kgm2"]["xy"] != 0.0
    body(tmp_path, spoiled(RPY, "").replace('ixy="-0.001"', 'ixy="0"'))
    inertia = dynamics(tmp_path, model="ar-drone").inertia_kgm2
    assert (inertia.xx, inertia.xy, inertia.xz) == (0.012, 0.0, 0.002)


def test_a_link_is_named_beside_the_file(tmp_path):
    body(tmp_path, spoiled("</robot>\n", ARM))
    override = "vehicles.gull.parameters.urdf={file: body.urdf, link: arm}"
    text = SCENARIO.replace("MODEL", "rigid-body").replace(
        "urdf: body.urdf", "urdf: {file: body.urdf, link: arm}"
    )
    assert build(parse_document(text, "t"), tmp_path).vehicles["gull"].dynamics.mass_kg == 0.2
    with pytest.raises(ScenarioError, match=r"cannot read 'body.urdf'"):
        built(tmp_path, overrides=[override])  # there it is looked for where the user stands


@pytest.mark.parametrize("model", VEHICLES.names())
def test_every_vehicle_with_mass_and_inertia_takes_a_file_and_no_other_does(model, tmp_path):
    body(tmp_path)
    parameters = {field.name for field in dataclasses.fields(VEHICLES.find(model).dynamics)}
    if {"mass_kg", "inertia_kgm2"} <= parameters:
        assert dynamics(tmp_path, model=model).mass_kg == 1.4
    else:
        message = refusal(tmp_path, model=model)
        assert message.startswith("test.yaml:7: vehicles.gull.parameters.urdf: this vehicle has no")
        assert message.endswith("with mass_kg and inertia_kgm2, such as rigid-body, takes one")


def test_mass_and_inertia_beside_a_urdf_file_are_refused_each_with_its_line(tmp_path):
    body(tmp_path)
    message = refusal(tmp_path, parameters="      mass_kg: 1\n      inertia_kgm2: {xx: 0.01}\n")
    assert message.splitlines() == [
        "test.yaml:8: vehicles.gull.parameters.mass_kg: urdf is given as well; give one of them",
        "test.yaml:9: vehicles.gull.parameters.inertia_kgm2: urdf is given as well; give one of "
        "them",
    ]


def test_mistakes_in_file_and_scenario_are_reported_at_once(tmp_path):
    body(tmp_path, spoiled('value="1.4"', 'value="-1"'))
    message = refusal(tmp_path, parameters="      integrator: rk5\n")
    assert message.splitlines()[0] == (
        "test.yaml:7: vehicles.gull.parameters.urdf: body.urdf:11: <mass>: value: -1 is not "
        "allowed; must be above 0"
    )
    assert message.splitlines()[1].startswith("test.yaml:8: vehicles.gull.parameters.integrator: ")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("5", "urdf.file: 5 is not allowed; must be text"),
        ("{link: base_link}", "urdf.file is missing"),
        ("{file: body.urdf, links: a}", "urdf.links: there is no such key"),
        ("{file: body.urdf, link: 3}", "urdf.link: 3 is not allowed; must be text"),
        ("../body.urdf", "urdf: '../body.urdf' lies outside the scenario's folder"),
        (f"{'a' * 5000}", "urdf: a file's name of 5000 characters"),
    ],
)
def test_an_entry_that_names_no_file_is_refused(entry, expected, tmp_path):
    body(tmp_path)
    text = SCENARIO.replace("MODEL", "rigid-body").replace("body.urdf", entry)
    with pytest.raises(ScenarioError) as refused:
        build(parse_document(text, "test.yaml"), tmp_path)
    assert str(refused.value).startswith(f"test.yaml:7: vehicles.gull.parameters.{expected}")


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["body.urdf", "{file: body.urdf, link: base_link}"])
def test_run_folder_flies_again_without_the_original_file(entry, tmp_path):
    path = body(tmp_path)
    scenario = tmp_path / "given.yaml"
    text = SCENARIO.replace("MODEL", "rigid-body").replace("body.urdf", entry)
    scenario.write_text(text, encoding="utf-8")
    simulation = kw.load(scenario)
    given = load_scenario(str(scenario)).vehicles["gull"]
    (tmp_path / "run").mkdir()
    fly_into(simulation, simulation.flight(), tmp_path / "run")
    path.unlink()
    assert load_scenario(str(tmp_path / "run" / SCENARIO_FILE)).vehicles["gull"] == given


def test_the_example_of_the_documentation_is_read(tmp_path):
    page = (DOCS / "urdf.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```xml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    body(tmp_path, example)
    shown = re.findall(r"^parameters: \{(urdf: .*)\}", page, re.MULTILINE)
    assert len(shown) == 2
    for entry in shown:
        text = SCENARIO.replace("MODEL", "hummingbird").replace("urdf: body.urdf", entry)
        read = build(parse_document(text, "shown.yaml"), tmp_path).vehicles["gull"].dynamics
        assert read.mass_kg == 1.4
        # turned by 45 deg, to the four digits of the example's pi / 4: the moments' mean and half
        # their difference
        assert read.inertia_kgm2.xx == pytest.approx(0.013, rel=1e-4)
        assert read.inertia_kgm2.xy == pytest.approx(-0.001, rel=1e-4)
