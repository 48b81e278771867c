"""Parser and writer of YAML as plain values with line numbers.

Reads the core schema of YAML 1.2: only ``true`` and ``false`` are booleans, ``1e3`` is a number,
``012`` is twelve, ``1:30`` and dates are text. PyYAML composes the nodes; this module makes the
values, so no tag can call code. Text may be untrusted: size, depth and the number of
values after expansion of all aliases are limited.
"""

import re
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from typing_extensions import override
from yaml.composer import Composer

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.problems import KeyPath, Plain, shortened

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 50
MAX_VALUES = 100_000
MAX_NUMBER_CHARACTERS = 100
CHARACTERS_PER_VALUE = 100

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
TOO_MANY = f"holds more than {MAX_VALUES:,} values, counting each use of an alias"

# the key under which other mappings are merged in
MERGE = "<<"

Scalar: TypeAlias = str | int | float | bool | None
# the line of each key and the node under it
Children: TypeAlias = dict[str, tuple[int, yaml.Node]]

_EventSource = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAG_PREFIX = "tag:yaml.org,2002:"
_NOT_PRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGERS = (
    (re.compile(r"[-+]?[0-9]+\Z"), 10),
    (re.compile(r"0x[0-9a-fA-F]+\Z"), 16),
    (re.compile(r"0o[0-7]+\Z"), 8),
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")


@dataclass(frozen=True)
class YamlSource:
    """Source of YAML text, with its name in messages."""

    name: str
    has_lines: bool = True

    def error(self, line: int, sentence: str) -> ScenarioError:
        """Return the error to raise for a mistake in a line."""
        place = f"{self.name}:{line}" if self.has_lines else self.name
        return ScenarioError(f"{place}: {sentence}")


def read(
    text: str, source: YamlSource, base: KeyPath = (), *, flow_only: bool = False
) -> tuple[Plain, dict[KeyPath, int]]:
    """Return the values of the single document of a YAML text, and the line of each path.

    Args:
        text: the YAML.
        source: its source, for messages.
        base: the path of the document's root, which all paths begin with.
        flow_only: whether collections without brackets are refused.

    Raises:
        ScenarioError: if the text is not YAML, or uses features that are not accepted.
    """
    if len(text) > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 2**20} MiB, the most that is read"
        raise source.error(1, message)
    _refuse_control_characters(text, source)
    try:
        composer = _Composer(text, source, flow_only=flow_only)
        root = composer.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        sentence = _syntax_sentence(error)
        raise source.error(mark.line + 1 if mark else 1, sentence) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise source.error(1, f"cannot be read as YAML: {shortened(str(error))}") from None
    if root is None:
        return None, {base: 1}
    return composer.expanded(root, base, _line(root)), composer.lines


def dump(data: Plain) -> str:
    """Return plain values as YAML that ``read`` reads back equal; keys keep their order."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=100,
    )


class _Composer(Composer):
    """PyYAML's composer on the events of its fast parser, with limits; anchors may repeat.

    ``value`` of a scalar node is its Python value; of a mapping node, the values by key, each with
    the line of its key.
    """

    def __init__(self, text: str, source: YamlSource, *, flow_only: bool) -> None:
        super().__init__()
        self.lines: dict[KeyPath, int] = {}
        events = _EventSource(text)
        self.get_event, self.peek_event = events.get_event, events.peek_event
        self.check_event = events.check_event
        self._source = source
        self._flow_only = flow_only
        self._composed = 0
        self._expanded = 0
        self._depth = 0

    def expanded(self, node: yaml.Node, path: KeyPath, line: int) -> Plain:
        """Return the values of a node at a path, which share nothing; notes their lines."""
        self.lines[path] = line
        self._expanded += _size(node.value)
        if self._expanded > MAX_VALUES:
            raise self._source.error(line, TOO_MANY)
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if len(path) >= MAX_DEPTH:
            raise self._source.error(line, TOO_DEEP)
        if isinstance(node, yaml.SequenceNode):
            children = enumerate(node.value)
            return [self.expanded(child, (*path, i), _line(child)) for i, child in children]
        self._expanded += sum(map(_size, node.value))
        return {
            key: self.expanded(child, (*path, key), key_line)
            for key, (key_line, child) in node.value.items()
        }

    @override
    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        event, is_key = self.peek_event(), index is None and parent is not None
        if is_key and not isinstance(event, yaml.ScalarEvent):
            raise self._source.error(_line(event), "a key must be plain text")
        self._count(event, not is_key)
        if isinstance(event, yaml.AliasEvent):
            return self._aliased()
        if self._depth > MAX_DEPTH:
            raise self._source.error(_line(event), TOO_DEEP)
        self._depth += 1
        node = self._content(event, is_key=is_key)
        self._depth -= 1
        return node

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> None:
        """Leave nodes without a tag; ``compose_node`` resolves their values."""

    def _count(self, place: yaml.Event | yaml.Node, values: int) -> None:
        """Raise an error for too many values before all of them are in memory."""
        self._composed += values
        if self._composed > MAX_VALUES:
            raise self._source.error(_line(place), TOO_MANY)

    def _aliased(self) -> yaml.Node:
        event = self.get_event()
        node = self.anchors.get(event.anchor)
        if node is None or node.end_mark is None:
            message = f"there is no complete anchor above the alias *{event.anchor}"
            raise self._source.error(_line(event), message)
        used = copy(node)
        used.start_mark = event.start_mark
        return used

    def _content(self, event: Any, *, is_key: bool) -> yaml.Node:
        if isinstance(event, yaml.ScalarEvent):
            self._check_tag(event, "str")
            node = self.compose_scalar_node(event.anchor)
            node.value = self._scalar(event)
            if is_key:
                self._check_key(event, node.value)
                node.tag = MERGE if event.value == MERGE and event.implicit[0] else ""
            return node
        if self._flow_only and not event.flow_style:
            message = (
                "write a list as [a, b], a mapping as {key: value}, and text with ': ' in quotes"
            )
            raise self._source.error(_line(event), message)
        if isinstance(event, yaml.SequenceStartEvent):
            self._check_tag(event, "seq")
            return self.compose_sequence_node(event.anchor)
        self._check_tag(event, "map")
        mapping = self.compose_mapping_node(event.anchor)
        mapping.value = self._mapping(mapping.value)
        return mapping

    def _mapping(self, pairs: list[tuple[yaml.Node, yaml.Node]]) -> Children:
        own: Children = {}
        merged: Children = {}
        for key, value in pairs:
            if key.value in own:
                first = own[key.value][0]
                message = f"the key {shortened(key.value)} is given twice, first in line {first}"
                raise self._source.error(_line(key), message)
            own[key.value] = _line(key), value
        for key, value in pairs:
            if key.tag == MERGE:
                del own[MERGE]
                merged = self._merged(value)
        return merged | own

    def _merged(self, value: yaml.Node) -> Children:
        """Return the mapping under ``<<``; of several mappings the first has precedence."""
        merged: Children = {}
        for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            if not isinstance(mapping, yaml.MappingNode):
                message = "'<<' takes a mapping or a list of mappings"
                raise self._source.error(_line(value), message)
            self._count(value, 1 + len(mapping.value))
            merged = mapping.value | merged
        return merged

    def _check_key(self, event: yaml.ScalarEvent, key: Scalar) -> None:
        if not isinstance(key, str):
            written = f"; write '{shortened(event.value)[1:-1]}' in quotes" if event.value else ""
            message = f"a key must be text, not {shortened(key)}{written}"
            raise self._source.error(_line(event), message)

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        found = _NOT_PRINTABLE.search(event.value)
        if found:
            message = f"the character {found.group()!r} is not allowed in text"
            raise self._source.error(_line(event), message)
        if not event.implicit[0]:  # in quotes, or with a tag
            return event.value
        if len(event.value) > MAX_NUMBER_CHARACTERS and _is_number(event.value):
            message = f"a number of {len(event.value)} characters; at most {MAX_NUMBER_CHARACTERS}"
            raise self._source.error(_line(event), message)
        return _resolved(event.value)

    def _check_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, kind: str) -> None:
        if event.tag not in (None, "!", _TAG_PREFIX + kind):
            tag = event.tag.replace(_TAG_PREFIX, "!!")
            raise self._source.error(_line(event), f"the tag {shortened(tag)} is not allowed")


def _size(content: Plain) -> int:
    """Return the size of one value; long text counts as several, as aliases can repeat it."""
    return 1 + len(content) // CHARACTERS_PER_VALUE if isinstance(content, str) else 1


def _line(place: yaml.Event | yaml.Node) -> int:
    return place.start_mark.line + 1


def _is_number(text: str) -> bool:
    return any(pattern.match(text) for pattern, _ in _INTEGERS) or _FLOAT.match(text) is not None


def _resolved(text: str) -> Scalar:
    """Return the value of an unquoted word."""
    if text in _WORDS:
        return _WORDS[text]
    for pattern, base in _INTEGERS:
        if pattern.match(text):
            return int(text, base)
    return float(text) if _FLOAT.match(text) else text


def _refuse_control_characters(text: str, source: YamlSource) -> None:
    # a byte order mark is allowed at the start of the text only
    found = _NOT_PRINTABLE.search(text, 1 if text.startswith("\ufeff") else 0)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        message = f"the character {found.group()!r} is not allowed"
        raise source.error(line, message)


def _syntax_sentence(error: yaml.MarkedYAMLError) -> str:
    if error.problem == "but found another document":
        return "a second document starts here; write only one"
    mark = error.problem_mark or error.context_mark
    problem = " ".join(part for part in (error.problem, error.context) if part)
    column = f" (column {mark.column + 1})" if mark else ""
    hint = "; indent with spaces, not with tabs" if "cannot start any token" in problem else ""
    return f"cannot be read as YAML: {problem}{column}{hint}"


class _Dumper(yaml.SafeDumper):
    """Dumper that writes no aliases and quotes text that YAML 1.1 or 1.2 would convert."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        del data
        return True

    @override
    def represent_list(self, data: Iterable[Plain]) -> yaml.SequenceNode:
        flat = not any(isinstance(item, dict | list | tuple) for item in data)
        return self.represent_sequence(_TAG_PREFIX + "seq", data, flow_style=flat)


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(tuple, _Dumper.represent_list)
for _kind, _pattern in (*(("int", pattern) for pattern, _ in _INTEGERS), ("float", _FLOAT)):
    _Dumper.add_implicit_resolver(_TAG_PREFIX + _kind, _pattern, list("-+.0123456789"))
