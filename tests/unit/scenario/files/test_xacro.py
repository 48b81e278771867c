"""Xacro files: expansion compared with the ROS package, and error messages."""

import math
import xml.etree.ElementTree as ET

import pytest

import kittiwake as kw
from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.scenario.files import xacro, xml_elements
from kittiwake.scenario.files.urdf import read_body, read_mass_properties
from kittiwake.scenario.files.xacro import expanded
from kittiwake.scenario.files.xml_elements import read_elements
from kittiwake.scenario.load import load_scenario

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
    package = pytest.importorskip("xacro")
    monkeypatch.chdir(drone.parent)
    expected = ET.fromstring(package.process_file(str(drone)).toxml())
    found = expanded(read_elements(drone, drone.name), drone)
    assert found.includes
    own, other = ours(found.root), theirs(expected)
    assert plain(own)[:1] == other[:1]
    assert repr(plain(own)[2]) == repr(plain(other)[2])


@pytest.mark.parametrize(
    "inside",
    [
        # a property keeps the value that it had when it was first used
        '<xacro:property name="r" value="0.1"/><xacro:property name="m" value="${10 * r}"/>'
        '<a m="${m}"/><xacro:property name="r" value="0.2"/><a m="${m}" r="${r}"/>',
        # a block is expanded where it is inserted
        '<xacro:property name="v" value="1"/>'
        '<xacro:property name="b"><o v="${v}"/></xacro:property>'
        '<xacro:property name="v" value="2"/><xacro:insert_block name="b"/>'
        '<xacro:macro name="f" params="v"><xacro:insert_block name="b"/></xacro:macro>'
        '<xacro:f v="3"/>',
        # what stands for a parameter is computed where the macro is called from
        '<xacro:property name="a" value="1"/>'
        '<xacro:macro name="f" params="a b:=${a} c := ${ a + 1 }">'
        '<o b="${b}" c="${c}"/></xacro:macro><xacro:f a="2"/>',
        # a macro that another one defines is known only in that
        '<xacro:macro name="f"><o v="1"/></xacro:macro><xacro:macro name="g">'
        '<xacro:macro name="f"><o v="2"/></xacro:macro><xacro:f/></xacro:macro>'
        "<xacro:g/><xacro:f/>",
        # the blocks of a call are what its children become
        '<xacro:property name="b"><o v="1"/><o v="2"/></xacro:property>'
        '<xacro:macro name="f" params="*p *q"><xacro:insert_block name="q"/>'
        '<xacro:insert_block name="p"/></xacro:macro>'
        '<xacro:f><xacro:insert_block name="b"/></xacro:f>',
        # a property and a block may have the same name
        '<xacro:macro name="f" params="o *o">'
        '<xacro:insert_block name="o"/><o v="${o}"/></xacro:macro>'
        '<xacro:f o="1"><e/></xacro:f>',
        # attributes come before what is inside
        '<xacro:property name="v" value="1"/><o v="${v}"><xacro:property name="v" value="2"/></o>'
        '<o v="${v}"/>',
        # words in quotes may be numbers, and an escaped expression of a block is computed with it
        """<xacro:property name="v" value="'5'"/><o v="${v + 1}"/>"""
        '<xacro:macro name="f" params="*o"><xacro:insert_block name="o"/></xacro:macro>'
        '<xacro:f><o v="$${v}"/></xacro:f>',
        # words that are conditions are whole numbers, and other values count as in Python
        '<xacro:if value="${0.5}"><o v="1"/></xacro:if><xacro:unless value=" 0 "><o v="2"/>'
        '</xacro:unless><xacro:if value="2"><o v="3"/></xacro:if>',
        '<o v="${round(5, -1000)}" w="${round(2.345, 2)}" x="${round(2.5)}" y="${round(25, -1)}"/>',
        # an argument that has a value keeps it
        '<xacro:arg name="a" default="1"/><xacro:arg name="a" default="$(arg b)"/>'
        '<o v="$(arg a)"/>',
    ],
)
def test_properties_have_the_values_that_the_package_of_ros_gives_them(inside, tmp_path):
    package = pytest.importorskip("xacro")
    path = tmp_path / "drone.xacro"
    path.write_text(f"{HEAD}\n{inside}\n</robot>")
    expected = ET.fromstring(package.process_file(str(path)).toxml())
    found = expanded(read_elements(path, path.name), path)
    assert repr(plain(ours(found.root))[2]) == repr(plain(theirs(expected))[2])


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


@pytest.mark.slow
def test_run_folder_flies_again_without_the_included_files(drone):
    text = (
        "name: xacro\ntime: {rate_hz: 100, duration_s: 0.1}\n"
        "vehicles: {gull: {model: rigid-body, parameters: {urdf: drone.xacro}}}\n"
    )
    (drone.parent / "given.yaml").write_text(text)
    simulation = kw.load(drone.parent / "given.yaml")
    given = simulation.scenario.vehicles["gull"]
    assert any("center of mass lies" in warning for warning in simulation.scenario.warnings())
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
        ("round(5, -10000000)", 0),
        ("round(0.5, 10000000)", 0.5),
    ],
)
def test_arithmetic_is_that_of_python(text, value, tmp_path):
    path = tmp_path / "drone.xacro"
    path.write_text(f'{HEAD}<a b="${{{text}}}"/></robot>')
    root = expanded(read_elements(path, path.name), path).root
    assert root.children[0].attributes["b"] == str(value)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ('<a b="${__import__(1)}"/>', ":2: <a>: b: '${__import__(1)}': there is no function"),
        ('<a b="${(1).real}"/>', "Attribute is not known in expressions"),
        ('<a b="${[1][0]}"/>', "Subscript is not known in expressions"),
        ('<a b="${1 +}"/>', "is not an expression"),
        ('<a b="${1 / 0}"/>', "division by zero"),
        ('<a b="${9.0 ** 9999}"/>', "9.0 ** 9999 is too large; numbers reach up to 1.8e+308"),
        ("<a b=\"${'a' * 1000000}\"/>", "arithmetic needs numbers, not text"),
        ('<a b="${mass}"/>', "there is no property 'mass'"),
        ('<a b="$(find pkg)/x"/>', "'$(find pkg)' is not allowed"),
        ('<a b="$(eval 1)"/>', "'$(eval 1)' is not allowed"),
        ('<a b="$(arg x)"/>', "the argument 'x' has no default"),
        ('<xacro:property name="a" value="${a}"/><a b="${a}"/>', "'a' refers to itself"),
        ("<xacro:wing/>", "<xacro:wing>: is neither a xacro element nor a macro"),
        (
            '<xacro:element xacro:name="a"/>',
            "<xacro:element>: is neither a xacro element nor a macro",
        ),
        ('<xacro:include filename="../a.xacro"/>', "is outside the first file's folder"),
        ('<xacro:include filename="/etc/passwd"/>', "is outside the first file's folder"),
        ('<xacro:include filename="a.xacro" ns="b"/>', "'ns' is not known here"),
        ('<xacro:include filename="drone.xacro"/>', "50 nested ones"),
        ('<xacro:insert_block name="a"/>', "there is no block 'a'"),
        ('<xacro:if value="maybe"/>', "'maybe' is neither true nor false"),
        ('<xacro:macro name="m" params="a"/><xacro:m/>', "<xacro:m>: a is missing"),
        ('<xacro:macro name="m" params="a"/><xacro:m a="1" b="2"/>', "'b' is not known here"),
        ('<xacro:macro name="m" params="*a"/><xacro:m/>', "the block 'a' is missing"),
        ('<xacro:macro name="m"/><xacro:m><a/></xacro:m>', "one block too many for the macro m"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "50 other calls"),
    ],
)
def test_unknown_or_invalid_element_is_refused_with_its_line(inside, expected, tmp_path):
    message = refusal(tmp_path, inside)
    assert message.startswith("drone.xacro:2: <")
    assert expected in message


@pytest.mark.usefixtures("few_steps")
def test_macros_that_multiply_are_refused_before_they_fill_the_memory(tmp_path):
    macros = "".join(
        f'<xacro:macro name="m{n}">{f"<xacro:m{n + 1}/>" * 10}</xacro:macro>' for n in range(9)
    )
    message = refusal(tmp_path, f'{macros}<xacro:macro name="m9"><a/></xacro:macro><xacro:m0/>')
    assert "grows beyond 2000 elements" in message


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


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ('<a b="${10 ** 9 ** 9}"/>', "10 ** 387420489 is too large; numbers reach up to 1.8e+308"),
        ('<a b="${10 ** 400}"/>', "10 ** 400 is too large; numbers reach up to 1.8e+308"),
        ('<a b="${exp(1000)}"/>', "exp(1000) is too large; numbers reach up to 1.8e+308"),
        (f'<a b="${{1{"0" * 400}}}"/>', "a number with so many digits is too large"),
        ("<a b=\"${max('abc')}\"/>", "max takes two numbers or more"),
        ('<xacro:if value="0.5"><a/></xacro:if>', "'0.5' is neither true nor false; write true"),
        ('<xacro:if value="1.0"><a/></xacro:if>', "'1.0' is neither true nor false; write true"),
        ("<xacro:f/>", "is neither a xacro element nor a macro of this file. Allowed: "),
        ('<xacro:include filename="loop.xacro"/>', "loop.xacro"),
    ],
)
def test_invalid_expression_is_refused_with_the_reason(inside, expected, tmp_path):
    (tmp_path / "loop.xacro").symlink_to(tmp_path / "loop.xacro")
    assert expected in refusal(tmp_path, inside)


MUCH = "grows beyond 2000 elements, values and names, the limit of expansion"


@pytest.fixture
def few_steps(monkeypatch):
    """A thirtieth of what is allowed, as the tests' checks of types take long."""
    monkeypatch.setattr(xacro, "MAX_STEPS", 2000)


@pytest.mark.usefixtures("few_steps")
def test_parameters_that_multiply_are_refused(tmp_path):
    parameters = " ".join(f"p{n}:=1" for n in range(100))
    macro = f'<xacro:macro name="m" params="{parameters}"/>'
    assert MUCH in refusal(tmp_path, macro + "<xacro:m/>" * 20)
    many = " ".join(f"p{n}" for n in range(101))
    message = refusal(tmp_path, f'<xacro:macro name="m" params="{many}"/>')
    assert "params: more than 100, the limit of a macro" in message


def macro_with(inside, calls):
    return f'<xacro:macro name="m">{inside}</xacro:macro>{"<xacro:m/>" * calls}'


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize(
    "inside",
    [
        f'<a b="${{max({"1, " * 150}1)}}"/>' * 45,
        f'<xacro:property name="a" value="1"/>{f"""<a b="${{max({"a, " * 150}a)}}"/>""" * 10}',
        macro_with(f'<a b="{"$" * 9000}"/>', 12),
        macro_with(f"<a {' '.join(f'a{n}=_' for n in range(1000))}/>".replace("_", '""'), 20),
        macro_with(
            f'<xacro:macro name="n" params="{" ".join(map("a{}".format, range(100)))}"/>', 20
        ),
        macro_with(f'<xacro:property name="p" value="{"9" * 9000}"/>', 12),
    ],
    ids=["expressions", "names", "pieces", "attributes", "declarations", "texts"],
)
def test_steps_of_an_expression_grow_with_its_length(inside, tmp_path):
    assert MUCH in refusal(tmp_path, inside)


@pytest.mark.usefixtures("few_steps")
def test_included_files_count_by_their_length(tmp_path):
    (tmp_path / "long.xacro").write_text(f"{HEAD}<!--{' ' * 10_000}--></robot>")
    assert MUCH in refusal(tmp_path, '<xacro:include filename="long.xacro"/>' * 10)


def test_text_that_grows_by_many_pieces_is_refused_before_it_is_joined(tmp_path):
    long = f'<xacro:property name="p" value="{"a" * 9000}"/>'
    message = refusal(tmp_path, f'{long}<a b="{"${p}" * 100_000}"/>')
    assert "b: grows beyond 10000 characters" in message


def test_a_constant_is_found_without_a_look_at_all_names(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(xacro, "did_you_mean", lambda *given: calls.append(given))
    path = tmp_path / "drone.xacro"
    path.write_text(f'{HEAD}<xacro:property name="pip" value="1"/><a b="${{pi}}"/></robot>')
    expanded(read_elements(path, path.name), path)
    assert calls == []


def test_a_name_that_was_meant_is_looked_for_among_the_first(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(xacro, "did_you_mean", lambda given, names: calls.append(names) or "")
    names = "".join(f'<xacro:property name="wing_{n}" value="1"/>' for n in range(1500))
    refusal(tmp_path, f'{names}<a b="${{wing_x}}"/>')
    assert [len(known) for known in calls] == [1000]


def test_an_expression_that_is_nested_too_deeply_is_refused(tmp_path):
    message = refusal(tmp_path, f'<a b="${{{"-" * 490}1}}"/>')
    assert message.startswith("drone.xacro:2: <a>: b: ")


def test_a_file_of_too_many_elements_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_elements, "MAX_ELEMENTS", 1000)
    message = refusal(tmp_path, "<a/>" * 1000)
    assert "is beyond the limit of 1000 elements" in message


def test_a_block_that_inserts_itself_is_refused(tmp_path):
    block = '<xacro:property name="b"><xacro:insert_block name="b"/></xacro:property>'
    message = refusal(tmp_path, f'{block}<xacro:insert_block name="b"/>')
    assert "is inside 50 other calls" in message
