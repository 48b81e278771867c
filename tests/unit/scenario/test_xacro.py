"""Xacro files: what they become, against the package of ROS, and what is refused."""

import math
import xml.etree.ElementTree as ET

import pytest

import kittiwake as kw
from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.run_folder import fly_into
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.urdf import read_body, read_mass_properties
from kittiwake.scenario.xacro import expanded
from kittiwake.scenario.xml_elements import read_elements

HEAD = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="drone">'
# every construct that is known
DRONE = f"""{HEAD}
  <xacro:arg name="drone_name" default="gull"/>
  <xacro:property name="prefix" value="$(arg drone_name)_"/>
  <xacro:property name="mass" value="1.4"/>
  <xacro:property name="half" value="${{mass/2}}"/>
  <xacro:property name="side" value="${{0.2 * (1 + 1) ** 2 - 0.3 // 0.2}}"/>
  <xacro:property name="tilt">
    <origin xyz="0 0 0.1" rpy="${{radians(30)}} 0 ${{pi / 6}}"/>
  </xacro:property>
  <xacro:macro name="cuboid_inertia" params="m a b:=${{side}} c:=0.1 note:=^|'so called'">
    <inertia ixx="${{m*(b*b+c*c)/12}}" iyy="${{m * (a**2 + c**2) / 12}}" izz="${{m*(a*a+b*b)/12}}"
             ixy="0" ixz="${{-0.0}}" iyz="0"/>
    <note text="${{note}}"/>
  </xacro:macro>
  <xacro:macro name="part" params="name m *origin **more">
    <link name="${{prefix}}${{name}}">
      <inertial>
        <xacro:insert_block name="origin"/>
        <mass value="${{m}}"/>
        <xacro:cuboid_inertia m="${{m}}" a="${{side}}"/>
      </inertial>
      <xacro:insert_block name="more"/>
    </link>
  </xacro:macro>
  <xacro:part name="body" m="${{half + 0.7}}">
    <origin xyz="0 0 0" rpy="0 ${{-pi/4}} 0"/>
    <more><visual name="a"/><visual name="${{1 if mass > 1 and not half == 1 else 2}}"/></more>
  </xacro:part>
  <xacro:property name="note" value="light"/>
  <xacro:if value="${{mass > 1}}">
    <xacro:part name="arm" m="${{max(0.1, sin(pi/2) * 0.2)}}">
      <xacro:insert_block name="tilt"/>
      <more/>
    </xacro:part>
  </xacro:if>
  <xacro:unless value="true"><link name="never"/></xacro:unless>
  <xacro:if value="0"><link name="never"/></xacro:if>
  <xacro:include filename="parts/joint.xacro"/>
  <price in="$${{euro}}" whole="${{7 // 2}}" mixed="a${{1 + 1}}b${{2.0}}"/>
</robot>
"""
JOINT = f"""{HEAD}
  <joint name="${{prefix}}mount" type="fixed">
    <parent link="${{prefix}}body"/><child link="${{prefix}}arm"/>
    <origin xyz="${{side}} 0 ${{-side / 2}}" rpy="0 0 ${{pi / 2}}"/>
  </joint>
</robot>
"""


@pytest.fixture
def drone(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "joint.xacro").write_text(JOINT)
    (tmp_path / "drone.xacro").write_text(DRONE)
    return tmp_path / "drone.xacro"


def refusal(tmp_path, inside):
    path = tmp_path / "drone.xacro"
    path.write_text(f"{HEAD}\n{inside}\n</robot>")
    with pytest.raises(ScenarioError) as refused:
        expanded(read_elements(path, path.name), path)
    return str(refused.value)


def plain(element):
    """Tags, attributes and what is inside; numbers as numbers."""

    def read(text):
        try:
            return [pytest.approx(float(word), rel=1e-15, abs=1e-300) for word in text.split()]
        except ValueError:
            return text

    attributes = {name: read(value) for name, value in sorted(dict(element[1]).items())}
    return (element[0], attributes, [plain(child) for child in element[2]])


def ours(element):
    return element.tag, element.attributes, [ours(child) for child in element.children]


def theirs(element):
    return element.tag, element.attrib, [theirs(child) for child in element]


def test_a_file_becomes_what_the_package_of_ros_makes_of_it(drone, monkeypatch):
    xacro = pytest.importorskip("xacro")
    monkeypatch.chdir(drone.parent)
    expected = ET.fromstring(xacro.process_file(str(drone)).toxml())
    found = expanded(read_elements(drone, drone.name), drone)
    assert found.includes
    own, other = ours(found.root), theirs(expected)
    assert plain(own)[:1] == other[:1]
    assert repr(plain(own)[2]) == repr(plain(other)[2])


def test_mass_and_inertia_are_those_of_the_macros(drone):
    body = read_mass_properties(drone, "gull_body")
    assert body.mass_kg == pytest.approx(1.4, rel=1e-15)
    # side 0.2 * 4 - 1 = -0.2 squares to 0.04; turned by 45 degrees about y
    along, across = 1.4 * (0.04 + 0.01) / 12.0, 1.4 * 0.08 / 12.0
    assert body.inertia_kgm2.yy == pytest.approx(along, rel=1e-14)
    assert body.inertia_kgm2.xx == pytest.approx((along + across) / 2.0, rel=1e-14)
    whole = read_body(drone, None)
    assert whole.properties.mass_kg == pytest.approx(1.6, rel=1e-15)
    assert whole.link == "gull_body"


def test_what_a_run_leaves_flies_again_without_the_files_that_were_included(drone):
    text = (
        "name: xacro\ntime: {rate_hz: 100, duration_s: 0.1}\n"
        "vehicles: {gull: {model: rigid-body, parameters: {urdf: drone.xacro}}}\n"
    )
    (drone.parent / "given.yaml").write_text(text)
    simulation = kw.load(drone.parent / "given.yaml")
    given = simulation.scenario.vehicles["gull"]
    assert any("center of mass lies" in said for said in simulation.scenario.remarks())
    folder = drone.parent / "run"
    folder.mkdir()
    fly_into(simulation, simulation.flight(), folder)
    drone.unlink()
    assert load_scenario(str(folder / SCENARIO_FILE)).vehicles["gull"] == given


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("-2 ** 2", -4),
        ("7 % 4 + 7 // 2", 6),
        ("sqrt(2) * cos(radians(60))", math.sqrt(2) * math.cos(math.radians(60))),
        ("atan2(1, -1)", math.atan2(1, -1)),
        ("2 > 1 >= 1", True),
        ("'a' + 'b'", "ab"),
        ("2 ** 200", 2.0**200),
    ],
)
def test_arithmetic_is_that_of_python(text, value, tmp_path):
    path = tmp_path / "drone.xacro"
    path.write_text(f'{HEAD}<a b="${{{text}}}"/></robot>')
    root = expanded(read_elements(path, path.name), path).root
    assert root.children[0].attributes["b"] == str(value)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<a b="${__import__(1)}"/>', ":2: <a>: b: '${__import__(1)}': there is no function"),
        ('<a b="${(1).real}"/>', "Attribute is not known in expressions"),
        ('<a b="${[1][0]}"/>', "Subscript is not known in expressions"),
        ('<a b="${1 +}"/>', "is no expression"),
        ('<a b="${1 / 0}"/>', "division by zero"),
        ('<a b="${9.0 ** 9999}"/>', "<a>: b: "),
        ("<a b=\"${'a' * 1000000}\"/>", "words cannot be computed with"),
        ('<a b="${mass}"/>', "there is no property 'mass'"),
        ('<a b="$(find pkg)/x"/>', "'$(find pkg)' is not allowed"),
        ('<a b="$(eval 1)"/>', "'$(eval 1)' is not allowed"),
        ('<a b="$(arg x)"/>', "the argument 'x' has no default"),
        ('<xacro:property name="a" value="${a}"/><a b="${a}"/>', "'a' is made of itself"),
        ("<xacro:wing/>", "<xacro:wing>: is neither known nor a macro"),
        ('<xacro:element xacro:name="a"/>', "<xacro:element>: is neither known nor a macro"),
        ('<xacro:include filename="../a.xacro"/>', "lies outside the first file's folder"),
        ('<xacro:include filename="/etc/passwd"/>', "lies outside the first file's folder"),
        ('<xacro:include filename="a.xacro" ns="b"/>', "'ns' is not known here"),
        ('<xacro:include filename="drone.xacro"/>', "50 in each other"),
        ('<xacro:insert_block name="a"/>', "there is no block 'a'"),
        ('<xacro:if value="maybe"/>', "'maybe' is neither true nor false"),
        ('<xacro:macro name="m" params="a"/><xacro:m/>', "<xacro:m>: a is missing"),
        ('<xacro:macro name="m" params="a"/><xacro:m a="1" b="2"/>', "'b' is not known here"),
        ('<xacro:macro name="m" params="*a"/><xacro:m/>', "the block 'a' is missing"),
        ('<xacro:macro name="m"/><xacro:m><a/></xacro:m>', "one block more than the macro m"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "50 other calls"),
    ],
)
def test_what_is_not_known_or_does_not_fit_is_refused_with_its_line(inside, said, tmp_path):
    message = refusal(tmp_path, inside)
    assert message.startswith("drone.xacro:2: <")
    assert said in message


def test_macros_that_multiply_are_refused_before_they_fill_the_memory(tmp_path):
    macros = "".join(
        f'<xacro:macro name="m{n}">{f"<xacro:m{n + 1}/>" * 10}</xacro:macro>' for n in range(9)
    )
    message = refusal(tmp_path, f'{macros}<xacro:macro name="m9"><a/></xacro:macro><xacro:m0/>')
    assert "grows beyond 20000 elements" in message


def test_words_that_multiply_are_refused_before_they_fill_the_memory(tmp_path):
    doubled = "".join(
        f'<xacro:property name="p{n}" value="${{p{n + 1}}}${{p{n + 1}}}"/>' for n in range(20)
    )
    message = refusal(tmp_path, f'{doubled}<xacro:property name="p20" value="ab"/><a b="${{p0}}"/>')
    assert "grows beyond" in message


def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path):
    body = "<a>" * 90 + "<xacro:m/>" + "</a>" * 90
    message = refusal(tmp_path, f'<xacro:macro name="m">{body}</xacro:macro><xacro:m/>')
    assert "too deep" in message or "50 other calls" in message
