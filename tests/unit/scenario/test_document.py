"""Scenario text: values, error messages, and overrides by --set."""

import math
import time
import tracemalloc

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.document import (
    Document,
    apply_overrides,
    dump_document,
    parse_document,
    read_document,
)

SCENARIO = """\
seed: 3
vehicles:
  pelican:
    start: {yaw_deg: 90, position_m: [0, 0, 5]}
    guidance:
      type: playback
      file: inputs.csv
  heron:
    model: strider
waypoints:
  - [0, 1]
  - [2, 3]
wind:
"""


def parse(text):
    return parse_document(text, "keep-spot.yaml")


def refusal(text):
    with pytest.raises(ScenarioError) as caught:
        parse(text)
    message = str(caught.value)
    assert "\n" not in message
    return message


def with_overrides(*items, text=SCENARIO):
    return apply_overrides(parse(text), list(items))


def override_refusal(*items, text=SCENARIO):
    with pytest.raises(ScenarioError) as caught:
        with_overrides(*items, text=text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("--set ")
    return message


# what words mean


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("+7", 7),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("1e-3", 0.001),
        ("-2E+2", -200.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", math.inf),
        ("-.inf", -math.inf),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("0b11", "0b11"),
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31 10:00:00", "2024-01-31 10:00:00"),
        ("=", "="),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("e3", "e3"),
        (".", "."),
        ("٣", "٣"),
    ],
)
def test_an_unquoted_word_means_what_yaml_1_2_says(written, meant):
    value = parse(f"key: {written}").data["key"]
    assert value == meant
    assert type(value) is type(meant)


def test_not_a_number_is_read_as_such():
    assert math.isnan(parse("key: .nan").data["key"])


def test_words_that_yaml_1_1_takes_for_booleans_can_be_keys():
    assert parse("on: 1\nno: 2\ny: 3").data == {"on": 1, "no": 2, "y": 3}


def test_the_loaders_of_the_yaml_library_stay_as_they_were():
    parse("key: 1e3")
    dump_document({"key": "1e3"})
    assert yaml.safe_load("key: 1e3") == {"key": "1e3"}
    assert yaml.safe_load("key: 012") == {"key": 10}
    assert yaml.safe_dump("1e3") == "1e3\n...\n"


def test_a_byte_order_mark_may_open_the_text():
    assert parse("\ufeffkey: 1").data == {"key": 1}


def test_merge_keys_bring_in_what_is_not_given():
    text = """\
base: &base {a: 1, b: 2}
more: &more {b: 3, c: 4}
one: {<<: *base, b: 9}
two:
  <<: [*base, *more]
"""
    data = parse(text).data
    assert data["one"] == {"a": 1, "b": 9}
    assert data["two"] == {"a": 1, "b": 2, "c": 4}
    assert data["base"] == {"a": 1, "b": 2}


def test_aliased_values_share_nothing_after_reading():
    data = parse("a: &a {x: [1]}\nb: *a").data
    data["b"]["x"].append(2)
    assert data["a"] == {"x": [1]}


# where things are


def test_every_path_has_its_line():
    document = parse(SCENARIO)
    assert document.where(()) == "keep-spot.yaml:1"
    assert document.where(("vehicles", "pelican")) == "keep-spot.yaml:3"
    assert document.where(("vehicles", "pelican", "start", "position_m", 2)) == "keep-spot.yaml:4"
    assert document.where(("vehicles", "pelican", "guidance", "file")) == "keep-spot.yaml:7"
    assert document.where(("waypoints", 1)) == "keep-spot.yaml:12"


def test_a_path_that_is_not_written_is_placed_at_the_nearest_above_it():
    document = parse(SCENARIO)
    assert document.where(("vehicles", "heron", "start", "yaw_rad")) == "keep-spot.yaml:8"
    assert document.where(("nothing", "of", "this")) == "keep-spot.yaml:1"


def test_an_aliased_key_is_placed_where_it_is_used_and_its_content_where_it_is_written():
    document = parse("a: &a\n  x: 1\nb: *a\nc:\n  <<: *a\n  y: 2")
    assert document.where(("b",)) == "keep-spot.yaml:3"
    assert document.where(("b", "x")) == "keep-spot.yaml:2"
    assert document.where(("c", "x")) == "keep-spot.yaml:2"
    assert document.where(("c", "y")) == "keep-spot.yaml:6"


def test_an_aliased_item_of_a_list_is_placed_where_it_is_used():
    document = parse("a: &a {x: 1}\nb:\n  - *a")
    assert document.where(("b", 0)) == "keep-spot.yaml:3"
    assert document.where(("b", 0, "x")) == "keep-spot.yaml:1"


def test_an_anchor_may_be_defined_again():
    assert parse("a: &x 1\nb: *x\nc: &x 2\nd: *x").data == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_without_the_fast_parser_the_other_one_reads_the_same(monkeypatch):
    fast = parse(SCENARIO)
    monkeypatch.setattr(plain_yaml, "_EventSource", yaml.SafeLoader)
    assert parse(SCENARIO) == fast


def test_a_document_without_lines_is_placed_by_its_name():
    assert Document({"a": 1}, {}, "keep-spot").where(("a",)) == "keep-spot"


# what is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "keep-spot.yaml:1: is empty; a scenario is a mapping (key: value)"),
        ("# nothing\n", "keep-spot.yaml:1: is empty; a scenario is a mapping (key: value)"),
        ("\n- 1\n", "keep-spot.yaml:2: a scenario is a mapping (key: value), not [1]"),
        ("5", "keep-spot.yaml:1: a scenario is a mapping (key: value), not 5"),
        (
            "a: 1\nb: 2\na: 3",
            "keep-spot.yaml:3: the key 'a' is given twice, first in line 1",
        ),
        ("a: 1\n---\nb: 2", "keep-spot.yaml:2: a second document starts here; write only one"),
        ("a: 1\n1: 2", "keep-spot.yaml:2: a key must be text, not 1; write '1' in quotes"),
        ("true: 2", "keep-spot.yaml:1: a key must be text, not true; write 'true' in quotes"),
        ("? \n: 2", "keep-spot.yaml:1: a key must be text, not null"),
        ("? [a]\n: 2", "keep-spot.yaml:1: a key must be plain text"),
        ("a: &a b\n*a : 2", "keep-spot.yaml:2: a key must be plain text"),
        ("a: *b", "keep-spot.yaml:1: there is no complete anchor above the alias *b"),
        ("a: &a [*a]", "keep-spot.yaml:1: there is no complete anchor above the alias *a"),
        ("a: 1\n<<: 3", "keep-spot.yaml:2: '<<' takes a mapping or a list of mappings"),
        ("a: !!binary aGk=", "keep-spot.yaml:1: the tag '!!binary' is not allowed"),
        ("a: !mine {b: 1}", "keep-spot.yaml:1: the tag '!mine' is not allowed"),
        ("a: 1\nb: \0", "keep-spot.yaml:2: the character '\\x00' is not allowed"),
        ("a: \ud800", "keep-spot.yaml:1: the character '\\ud800' is not allowed"),
        ('a: "\\0"', "keep-spot.yaml:1: the character '\\x00' is not allowed in text"),
        ('a: "\\e[1m"', "keep-spot.yaml:1: the character '\\x1b' is not allowed in text"),
        (
            f"a: {'9' * 5000}",
            "keep-spot.yaml:1: a number of 5000 characters; at most 100",
        ),
    ],
)
def test_invalid_text_is_refused_with_its_line(text, message):
    assert refusal(text) == message


@pytest.mark.parametrize(
    "kind", ["object:os.system", "object/apply:os.system", "name:os.system", "tuple"]
)
def test_tags_of_python_objects_are_refused(kind):
    assert "the tag '!!python/" in refusal(f"a: !!python/{kind} [echo]")


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb:\n\tc: 1\n", 3, "indent with spaces, not with tabs"),
        ("a: [1, 2\nb: 3\n", 2, "did not find expected"),
        ("a: 1\n b: 2\n", 2, "(column 3)"),
        ("a: 'open\n", 2, "unexpected end of stream"),
        ("a: @b\n", 1, "cannot start any token"),
        ("%YAML 9.9\n---\na: 1\n", 1, "incompatible"),
    ],
)
def test_syntax_error_is_reported_with_line_and_column(text, line, part):
    message = refusal(text)
    assert message.startswith(f"keep-spot.yaml:{line}: cannot be read as YAML: ")
    assert part in message
    assert "(column " in message


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_without_reading_it_all(opening):
    text = "a:\n  " + opening * 500_000
    tracemalloc.start()
    try:
        assert "nested deeper than 50 levels" in refusal(text)
        # a read level takes several hundred bytes, the text itself up to four a character
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    finally:
        tracemalloc.stop()


def test_nesting_within_the_limit_is_read():
    assert parse("a: " + "[" * 49 + "]" * 49).data["a"]
    assert "nested deeper" in refusal("a: " + "[" * 51 + "]" * 51)


def test_nesting_by_aliases_counts_as_well():
    text = "".join(f"k{i}: &k{i} [{'*k' + str(i - 1) if i else 1}]\n" for i in range(60))
    assert "nested deeper than 50 levels" in refusal(text)


def laughs(opening, closing, separator, fan_out, levels):
    lines = [f"k0: &k0 {opening}x: 1{closing}" if opening == "{" else "k0: &k0 [1]"]
    for i in range(1, levels):
        uses = separator.join(
            f"a{n}: *k{i - 1}" if opening == "{" else f"*k{i - 1}" for n in range(fan_out)
        )
        lines.append(f"k{i}: &k{i} {opening}{uses}{closing}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        laughs("[", "]", ", ", 9, 30),
        laughs("{", "}", ", ", 9, 30),
        f"a: &a {{{', '.join(f'k{i}: 1' for i in range(1000))}}}\nb: {{<<: [{'*a, ' * 1000}]}}",
        f"a: &a {'x' * 1_000_000}\nb: [{'*a, ' * 1000}]",
        f"a: &a {{? {'x' * 100_000} : 1}}\nb: [{'*a, ' * 1000}]",
    ],
    ids=["lists", "mappings", "merges", "long text", "long keys"],
)
def test_text_that_expands_without_bound_is_refused_before_it_is_expanded(text):
    # of work, not of waiting; expanded, it would take minutes
    started = time.process_time()
    assert "holds more than 100,000 values" in refusal(text)
    assert time.process_time() - started < 5.0


def test_a_large_honest_file_is_read():
    points = parse("points: [" + "[1, 2.5, 1e3], " * 1_000 + "]").data["points"]
    assert len(points) == 1_000


def test_more_values_than_the_limit_are_refused_before_the_end_of_the_text(monkeypatch):
    monkeypatch.setattr(plain_yaml, "MAX_VALUES", 1_000)
    message = refusal("a: [\n" + "1,\n" * 2_000 + "@ is no YAML")
    assert message.startswith("keep-spot.yaml:1000: holds more than")


def test_text_over_four_mebibytes_is_refused():
    assert (
        refusal("a: " + "x" * 2**22) == "keep-spot.yaml:1: larger than 4 MiB, the most that is read"
    )


PIECES = (
    *(
        "a: ",
        "b: ",
        "- ",
        "\n",
        "\n  ",
        "&x ",
        "*x",
        "<<: ",
        "[",
        "]",
        "{",
        "}",
        "1e3",
        "|\n",
        "? ",
    ),
    *("!!python/object:os.x ", "---\n", "...\n", ", ", "'", "%TAG ! a\n"),
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.text(alphabet="ab01.:-[]{}&*!|>%@`'\"#?,<~= \t\n\\\r\0\ufeff"),
        st.lists(st.sampled_from(PIECES)).map("".join),
    )
)
def test_no_text_raises_anything_but_a_scenario_error(text):
    message = ""
    try:
        document = parse(text)
    except ScenarioError as error:
        message = str(error)
    assert message.startswith("keep-spot.yaml:") or document.where(()).startswith("keep-spot.yaml:")
    assert "\n" not in message


# files


def test_a_file_is_called_by_its_name(tmp_path):
    path = tmp_path / "keep-spot.yaml"
    path.write_text("a:\n  b: é\n", encoding="utf-8")
    document = read_document(path)
    assert document.data == {"a": {"b": "é"}}
    assert document.where(("a", "b")) == "keep-spot.yaml:2"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: \xff\n", "bad.yaml:2: not UTF-8 text (byte 0xff)"),
        ("a: 1".encode("utf-16"), "bad.yaml:1: not UTF-8 text (byte 0xff)"),
        (b"a: 1\n#" + b"x" * 2**22, "bad.yaml:1: larger than 4 MiB, the most that is read"),
    ],
)
def test_bytes_that_cannot_be_used_are_refused(tmp_path, content, message):
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        read_document(path)
    assert str(caught.value) == message


def test_a_file_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="cannot read .*No such file"):
        read_document(tmp_path / "a.yaml")
    with pytest.raises(ScenarioError, match="cannot read .*directory"):
        read_document(tmp_path)
    with pytest.raises(ScenarioError, match="cannot read .*null"):
        read_document(tmp_path / "a\0.yaml")


# overrides


def test_an_override_replaces_a_value_and_leaves_the_document_as_it_was():
    before = parse(SCENARIO)
    after = apply_overrides(before, ["vehicles.pelican.start.yaw_deg=1e1"])
    assert after.data["vehicles"]["pelican"]["start"]["yaw_deg"] == 10.0
    assert before.data["vehicles"]["pelican"]["start"]["yaw_deg"] == 90
    assert not any(isinstance(place, str) for place in before.places.values())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("5", 5),
        ("1e3", 1000.0),
        ("yes", "yes"),
        ("true", True),
        ("", None),
        (" [1, {a: b}] ", [1, {"a": "b"}]),
        ("{a: 1}", {"a": 1}),
        ("'a: b'", "a: b"),
        ("a=b", "a=b"),
        ("/tmp/inputs.csv", "/tmp/inputs.csv"),
    ],
)
def test_an_overriding_value_is_read_under_the_same_rules(written, meant):
    assert with_overrides(f"wind={written}").data["wind"] == meant


def test_an_override_reaches_into_lists_by_index():
    assert with_overrides("waypoints.1.0=7").data["waypoints"] == [[0, 1], [7, 3]]


def test_an_override_may_add_a_key_and_the_mappings_above_it():
    data = with_overrides("vehicles.heron.start.yaw_deg=3", "wind.speed_mps=4", "world.g=9").data
    assert data["vehicles"]["heron"] == {"model": "strider", "start": {"yaw_deg": 3}}
    assert data["wind"] == {"speed_mps": 4}
    assert data["world"] == {"g": 9}


def test_of_two_overrides_of_a_path_the_last_holds():
    assert with_overrides("seed=1", "seed=2").data["seed"] == 2


def test_an_overridden_path_is_placed_at_the_command_line():
    item = "vehicles.pelican.start.yaw_deg=ten"
    document = with_overrides(item, "wind.gust.speed_mps=4", "waypoints.0=[1, x]")
    start = ("vehicles", "pelican", "start")
    assert document.where((*start, "yaw_deg")) == f"--set {item}"
    assert document.where((*start, "position_m")) == "keep-spot.yaml:4"
    assert document.where(start) == "keep-spot.yaml:4"
    assert document.where(("wind", "gust", "speed")) == "--set wind.gust.speed_mps=4"
    assert document.where(("waypoints", 0, 1)) == "--set waypoints.0=[1, x]"
    assert document.where(("waypoints", 1, 1)) == "keep-spot.yaml:12"


def test_the_document_knows_which_values_come_from_the_command_line():
    document = with_overrides("vehicles.pelican.guidance.file=other.csv", "a={b: c}")
    assert document.from_override(("vehicles", "pelican", "guidance", "file"))
    assert not document.from_override(("vehicles", "pelican", "guidance", "type"))
    assert not document.from_override(("vehicles", "pelican", "guidance"))
    assert document.from_override(("a", "b"))


def test_replacing_a_mapping_forgets_the_places_inside_it():
    document = with_overrides(
        "vehicles.pelican.guidance.file=x.csv", "vehicles.pelican.guidance={type: hold}"
    )
    path = ("vehicles", "pelican", "guidance", "file")
    assert document.where(path) == "--set vehicles.pelican.guidance={type: hold}"
    assert path not in document.places


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            "seed",
            "--set seed: write a path and a value, as in --set vehicles.pelican.start.yaw_deg=90",
        ),
        ("=5", "--set =5: write a path and a value, as in --set vehicles.pelican.start.yaw_deg=90"),
        (
            "a..b=5",
            "--set a..b=5: write a path and a value, as in --set vehicles.pelican.start.yaw_deg=90",
        ),
        (
            "seed.a=5",
            "--set seed.a=5: seed is 3 (keep-spot.yaml:1), so nothing can be set inside it",
        ),
        (
            "vehicles.pelikan.start.yaw_deg=5",
            "--set vehicles.pelikan.start.yaw_deg=5: there is no vehicle 'pelikan'. "
            "Did you mean 'pelican'? Allowed: heron, pelican.",
        ),
        (
            "vehicles.gull={}",
            "--set vehicles.gull={}: there is no vehicle 'gull'. Allowed: heron, pelican.",
        ),
        (
            "vehicles={}",
            "--set vehicles={}: set the values of one vehicle, as in "
            "--set vehicles.pelican.start.yaw_deg=90",
        ),
        (
            "waypoints.2=5",
            "--set waypoints.2=5: waypoints has 2 entries, counted from 0; there is no '2'",
        ),
        (
            "waypoints.-1=5",
            "--set waypoints.-1=5: waypoints has 2 entries, counted from 0; there is no '-1'",
        ),
        (
            "waypoints.first=5",
            "--set waypoints.first=5: waypoints has 2 entries, counted from 0; there is no 'first'",
        ),
        (
            "wind=a: b",
            "--set wind=a: b: write a list as [a, b], a mapping as {key: value}, "
            "and text with ': ' in quotes",
        ),
        ("wind=!!python/name:os.x 1", None),
        ("wind=*a", "--set wind=*a: there is no complete anchor above the alias *a"),
        ("wind=[1", None),
        ("wind=" + "[" * 100, None),
        ("wind=a\n---\nb", None),
        (".".join("a" * 60) + "=1", None),
        ("wind=\udcff", None),
        ("wind={a: 1, a: 2}", None),
    ],
)
def test_an_override_that_cannot_be_used_is_refused(item, message):
    refused = override_refusal(item)
    assert message is None or refused == message
    assert len(refused) < 250


def test_no_vehicle_can_be_set_where_there_are_none():
    assert "there is no vehicle 'a'. There are none." in override_refusal(
        "vehicles.a.b=1", text="s: 1"
    )
    assert "vehicles is 5" in override_refusal("vehicles.a.b=1", text="vehicles: 5")


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(), st.text())
def test_no_override_raises_anything_but_a_scenario_error(path, value):
    for item in (f"{path}={value}", f"wind.{path}={value}", f"wind={value}", value):
        message = ""
        try:
            with_overrides(item)
        except ScenarioError as error:
            message = str(error)
        assert "\n" not in message


# writing

TEXT = st.text(
    alphabet=st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"
    )
)
TRAPS = st.sampled_from(
    [
        "1e3",
        "012",
        "0o7",
        "0b1",
        "08",
        "yes",
        "null",
        "~",
        "",
        "1:30",
        "2024-01-01",
        "<<",
        "=",
        ".inf",
        "-",
        "+.5",
        "a\nb",
        " a",
        "0x",
        "0xf",
    ]
)
WORDS = TEXT.filter(lambda text: "\ufffe" not in text and "\uffff" not in text) | TRAPS
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(WORDS, PLAIN, max_size=4))
def test_written_values_read_back_equal(data):
    back = parse(dump_document(data)).data
    assert back == data
    assert repr(back) == repr(data)


def test_writing_keeps_the_order_of_keys_and_repeats_shared_values():
    shared = {"x": [1, 2.5]}
    text = dump_document({"b": shared, "a": shared, "points": [[1, 2], (3, 4)]})
    assert text == ("b:\n  x: [1, 2.5]\na:\n  x: [1, 2.5]\npoints:\n- [1, 2]\n- [3, 4]\n")
