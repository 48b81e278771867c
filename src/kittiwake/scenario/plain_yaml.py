"""Parser and writer of YAML as plain values with line numbers.

Reads the core schema of YAML 1.2: only ``true`` and ``false`` are booleans, ``1e3`` is a number,
``012`` is twelve, ``1:30`` and dates are text. PyYAML's parser delivers the events; this module
makes the values, so no tag can call code. Text may be untrusted: size, depth and the number of
values after expansion of all aliases are limited.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import yaml
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.problems import KeyPath, Plain, shortened

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 50
MAX_VALUES = 100_000
MAX_NUMBER_CHARACTERS = 100
CHARACTERS_PER_VALUE = 100

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
TOO_MANY = f"holds more than {MAX_VALUES:,} values, counting each use of an alias"

Scalar: TypeAlias = str | int | float | bool | None

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


@dataclass(frozen=True)
class YamlNode:
    """Value and the line on which it is used; aliased values share their content.

    Size and height count every use of an alias, without expanding any.
    """

    line: int
    content: "Content"
    size: int = 1
    height: int = 0

    def used_in(self, line: int) -> "YamlNode":
        """Return the same value in another line."""
        return YamlNode(line, self.content, self.size, self.height)


Content: TypeAlias = Scalar | list[YamlNode] | dict[str, YamlNode]


def compose(text: str, source: YamlSource, *, flow_only: bool = False) -> YamlNode:
    """Return the single document of a YAML text.

    Args:
        text: the YAML.
        source: its source, for messages.
        flow_only: whether collections without brackets are refused.

    Raises:
        ScenarioError: if the text is not YAML, or uses features that are not accepted.
    """
    if len(text) > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 2**20} MiB, the most that is read"
        raise source.error(1, message)
    _refuse_control_characters(text, source)
    return _Composer(text, source, flow_only=flow_only).document()


def expand(
    entry: YamlNode, source: YamlSource, base: KeyPath = ()
) -> tuple[Plain, dict[KeyPath, int]]:
    """Return unshared plain values and the line of every path, for an entry at ``base``."""
    if len(base) + entry.height > MAX_DEPTH:
        raise source.error(entry.line, TOO_DEEP)
    lines: dict[KeyPath, int] = {}
    return _plain(entry, base, lines), lines


def dump(data: Plain) -> str:
    """Return plain values as YAML that ``compose`` reads back equal; keys keep their order."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=100,
    )


class _Composer:
    """Composer of nodes from the parser's events."""

    def __init__(self, text: str, source: YamlSource, *, flow_only: bool) -> None:
        self._events = _EventSource(text)
        self._source = source
        self._flow_only = flow_only
        self._anchors: dict[str, YamlNode] = {}
        self._values = 0

    def document(self) -> YamlNode:
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            return YamlNode(1, None)
        root = self._entry(self._next(), depth=0)
        self._next()
        end = self._next()
        if not isinstance(end, yaml.StreamEndEvent):
            raise self._source.error(_line(end), "a second document starts here; write only one")
        return root

    def _next(self) -> yaml.Event:
        try:
            return self._events.get_event()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            sentence = _syntax_sentence(error)
            raise self._source.error(mark.line + 1 if mark else 1, sentence) from None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise self._source.error(
                1, f"cannot be read as YAML: {shortened(str(error))}"
            ) from None

    def _count(self, line: int, values: int) -> None:
        """Raise an error for too many values before all of them are in memory."""
        self._values += values
        if self._values > MAX_VALUES:
            raise self._source.error(line, TOO_MANY)

    def _entry(self, event: yaml.Event, depth: int) -> YamlNode:
        line = _line(event)
        self._count(line, 1)
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event).used_in(line)
        assert isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if depth > MAX_DEPTH:
            raise self._source.error(line, TOO_DEEP)
        content = self._content(event, depth)
        entry = YamlNode(line, content, _size(content), _height(content))
        if entry.size > MAX_VALUES:
            raise self._source.error(line, TOO_MANY)
        if event.anchor is not None:
            self._anchors[event.anchor] = entry
        return entry

    def _aliased(self, event: yaml.AliasEvent) -> YamlNode:
        if event.anchor not in self._anchors:
            message = f"there is no complete anchor above the alias *{event.anchor}"
            raise self._source.error(_line(event), message)
        return self._anchors[event.anchor]

    def _content(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, depth: int) -> Content:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if self._flow_only and not event.flow_style:
            message = (
                "write a list as [a, b], a mapping as {key: value}, and text with ': ' in quotes"
            )
            raise self._source.error(_line(event), message)
        if isinstance(event, yaml.SequenceStartEvent):
            self._check_tag(event, "seq")
            return self._sequence(depth)
        self._check_tag(event, "map")
        return self._mapping(depth)

    def _sequence(self, depth: int) -> list[YamlNode]:
        entries: list[YamlNode] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            entries.append(self._entry(event, depth + 1))
        return entries

    def _mapping(self, depth: int) -> dict[str, YamlNode]:
        own: dict[str, YamlNode] = {}
        merged: dict[str, YamlNode] = {}
        first_lines: dict[str, int] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key, line = self._key(event), _line(event)
            if key in first_lines:
                message = (
                    f"the key {shortened(key)} is given twice, first in line {first_lines[key]}"
                )
                raise self._source.error(line, message)
            first_lines[key] = line
            value = self._entry(self._next(), depth + 1)
            if key == "<<" and _is_plain(event):
                merged = self._merged(value)
            else:
                own[key] = value.used_in(line)
        return merged | own

    def _merged(self, value: YamlNode) -> dict[str, YamlNode]:
        """Return the mapping under ``<<``; of several mappings the first has precedence."""
        merged: dict[str, YamlNode] = {}
        mappings = value.content if isinstance(value.content, list) else [value]
        for mapping in mappings:
            if not isinstance(mapping.content, dict):
                raise self._source.error(value.line, "'<<' takes a mapping or a list of mappings")
            self._count(value.line, 1 + len(mapping.content))
            merged = mapping.content | merged
        return merged

    def _key(self, event: yaml.Event) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._source.error(_line(event), "a key must be plain text")
        key = self._scalar(event)
        if not isinstance(key, str):
            quoted = (
                "" if event.value == "" else f"; write '{shortened(event.value)[1:-1]}' in quotes"
            )
            raise self._source.error(
                _line(event), f"a key must be text, not {shortened(key)}{quoted}"
            )
        return key

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        self._check_tag(event, "str")
        found = _NOT_PRINTABLE.search(event.value)
        if found:
            message = f"the character {found.group()!r} is not allowed in text"
            raise self._source.error(_line(event), message)
        if not _is_plain(event):
            return event.value
        if len(event.value) > MAX_NUMBER_CHARACTERS and _is_number(event.value):
            message = f"a number of {len(event.value)} characters; at most {MAX_NUMBER_CHARACTERS}"
            raise self._source.error(_line(event), message)
        return _resolved(event.value)

    def _check_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, kind: str) -> None:
        if event.tag not in (None, "!", _TAG_PREFIX + kind):
            tag = event.tag.replace(_TAG_PREFIX, "!!")
            raise self._source.error(_line(event), f"the tag {shortened(tag)} is not allowed")


def _size(content: Content) -> int:
    """Return the number of values; long text counts as several, as aliases can repeat it."""
    if isinstance(content, dict):
        return 1 + sum(_size(key) + entry.size for key, entry in content.items())
    if isinstance(content, list):
        return 1 + sum(entry.size for entry in content)
    return 1 + len(content) // CHARACTERS_PER_VALUE if isinstance(content, str) else 1


def _height(content: Content) -> int:
    """Return the number of nested levels of lists and mappings."""
    if not isinstance(content, list | dict):
        return 0
    children = content.values() if isinstance(content, dict) else content
    return 1 + max((child.height for child in children), default=0)


def _plain(entry: YamlNode, path: KeyPath, lines: dict[KeyPath, int]) -> Plain:
    lines[path] = entry.line
    if isinstance(entry.content, dict):
        return {key: _plain(child, (*path, key), lines) for key, child in entry.content.items()}
    if isinstance(entry.content, list):
        return [_plain(child, (*path, i), lines) for i, child in enumerate(entry.content)]
    return entry.content


def _is_plain(event: yaml.Event) -> bool:
    """Return True if a scalar is written without quotes and without a tag."""
    return isinstance(event, yaml.ScalarEvent) and event.implicit[0]


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1


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
