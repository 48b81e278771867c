"""A scenario as plain data that knows where each value was written.

That is a file and a line, ``--set`` on the command line, or ``overrides`` in Python.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.units import stored_name
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.plain_yaml import MAX_BYTES, MAX_DEPTH, YamlSource
from kittiwake.scenario.problems import MAX_CHARACTERS, KeyPath, Plain, dotted, shortened

# Entries that may be the bare name of a component: inside one, --set gives its parameters.
COMPONENTS = (
    *(
        "controller",
        "estimator",
        "guidance",
        "wind",
        "turbulence",
        "atmosphere",
        "task",
    ),
    *("satellites", "errors"),
)

# Mappings whose keys are names of the author's choosing: a new one by --set is a slip of the pen.
NAMED_BY_AUTHOR: dict[KeyPath, str] = {("vehicles",): "vehicle"}

EXAMPLE = "--set vehicles.pelican.start.yaw_deg=90"
PYTHON_EXAMPLE = "overrides={'vehicles.pelican.start.yaw_deg': 90}"


class Override(NamedTuple):
    """A value that is given instead of that of the file.

    Attributes:
        item: ``path.to.key=value``, as on the command line.
        words: what messages call it.
    """

    item: str
    words: str

    @classmethod
    def from_python(cls, path: str, value: Any) -> "Override":
        """Return one of the argument ``overrides`` of a function."""
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        said = repr(plain) if plain is None or isinstance(plain, bool) else shortened(plain)
        return cls(f"{path}={written(value)}", f"overrides={{{shortened(path)}: {said}}}")


@dataclass(frozen=True)
class Document:
    """Plain data, the line of every path in it, and which paths were set from outside the file.

    ``overrides`` holds what messages call each path that was set from outside.
    """

    data: dict[str, Any]
    lines: dict[KeyPath, int]
    name: str
    overrides: dict[KeyPath, str] = field(default_factory=dict)

    def where(self, path: KeyPath) -> str:
        """The place of a path, or of the nearest path above it that was written."""
        written = self._nearest_written(path)
        if written in self.overrides:
            return self.overrides[written]
        return f"{self.name}:{self.lines[written]}" if written in self.lines else self.name

    def from_override(self, path: KeyPath) -> bool:
        """Whether a value was set from outside; file names in it start at the working folder."""
        return self._nearest_written(path) in self.overrides

    def _nearest_written(self, path: KeyPath) -> KeyPath:
        while path and path not in self.overrides and path not in self.lines:
            path = path[:-1]
        return path


def read_document(path: Path) -> Document:
    """The document in a file.

    Raises:
        ScenarioError: if the file cannot be read, or its text cannot be used.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read {shortened(str(path))}: {reason}"
        raise ScenarioError(message) from None
    if len(content) > MAX_BYTES:
        message = f"{path.name}:1: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
        raise ScenarioError(message)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"{path.name}:{line}: not UTF-8 text (byte {content[error.start]:#04x})"
        raise ScenarioError(message) from None
    return parse_document(text, path.name)


def parse_document(text: str, name: str) -> Document:
    """The document in a YAML text.

    Args:
        text: the YAML; its top must be a mapping.
        name: how messages call it.

    Raises:
        ScenarioError: if the text cannot be used; the message has the line.
    """
    source = YamlSource(name)
    data, lines = plain_yaml.expand(plain_yaml.compose(text, source), source)
    if data is None:
        message = "is empty; a scenario is a mapping (key: value)"
        raise source.error(1, message)
    if not isinstance(data, dict):
        message = f"a scenario is a mapping (key: value), not {shortened(data)}"
        raise source.error(lines[()], message)
    return Document(data, lines, name)


def apply_overrides(document: Document, items: Iterable[str | Override]) -> Document:
    """The document with values replaced or added, each given as ``path.to.key=value``.

    Args:
        document: what is changed.
        items: those of the command line as plain text.

    Raises:
        ScenarioError: if an item has no value, or its path leads nowhere.
    """
    for item in items:
        given = item if isinstance(item, Override) else Override(item, f"--set {_clipped(item)}")
        document = _overridden(document, *given)
    return document


def dump_document(data: dict[str, Any]) -> str:
    """A resolved scenario as YAML that reads back equal."""
    return plain_yaml.dump(data)


def _overridden(document: Document, item: str, words: str) -> Document:
    source = YamlSource(words, has_lines=False)
    written_path, equals, text = item.partition("=")
    segments = written_path.strip().split(".")
    if not equals or not all(segments):
        message = f"write a path and a value, as in {_example(source)}"
        raise source.error(1, message)
    if len(segments) > MAX_DEPTH:
        message = f"the path has {len(segments)} parts; at most {MAX_DEPTH}"
        raise source.error(1, message)
    path, existing = _followed(document, segments, source)
    entry = plain_yaml.compose(text, source, flow_only=True)
    value, _ = plain_yaml.expand(entry, source, path)
    created = [path[:n] for n in range(existing + 1, len(path) + 1)]
    return replace(
        document,
        data=_replaced(document.data, path, value),
        lines=_outside(document.lines, path),
        overrides=_outside(document.overrides, path) | dict.fromkeys([*created, path], words),
    )


def _example(source: YamlSource) -> str:
    return EXAMPLE if source.name.startswith("--set") else PYTHON_EXAMPLE


def _followed(document: Document, segments: list[str], source: YamlSource) -> tuple[KeyPath, int]:
    """The path with numbers for places in lists, and how many of its segments exist already."""
    here: Plain = document.data
    path: KeyPath = ()
    existing = 0
    if tuple(segments) in NAMED_BY_AUTHOR:
        message = (
            f"set the values of one {NAMED_BY_AUTHOR[tuple(segments)]}, as in {_example(source)}"
        )
        raise source.error(1, message)
    for segment in segments:
        if isinstance(here, list):
            key: str | int = _index(here, segment, path, source)
            here = here[key]
        else:
            key = segment
            here = _mapping_at(document, here, path, segment, source).get(segment)
        path = (*path, key)
        existing += here is not None
    return path, existing


def _mapping_at(
    document: Document, here: Plain, path: KeyPath, segment: str, source: YamlSource
) -> dict[str, Any]:
    """What a path leads into; nothing at all counts as an empty mapping."""
    if not isinstance(here, dict | None) and not (isinstance(here, str) and _is_component(path)):
        message = (
            f"{dotted(path)} is {shortened(here)} ({document.where(path)}), "
            "so nothing can be set inside it"
        )
        raise source.error(1, message)
    mapping = _spelled_out(here)
    if path in NAMED_BY_AUTHOR and segment not in mapping:
        known = did_you_mean(segment[:MAX_CHARACTERS], list(mapping))
        message = f"there is no {NAMED_BY_AUTHOR[path]} {shortened(segment)}. {known}"
        raise source.error(1, message)
    return mapping


def _is_component(path: KeyPath) -> bool:
    return path[-1:] in {(name,) for name in COMPONENTS} or path[-2:-1] == ("sensors",)


def _index(items: list[Any], segment: str, path: KeyPath, source: YamlSource) -> int:
    if (
        segment.isascii()
        and segment.isdecimal()
        and len(segment) < 10
        and int(segment) < len(items)
    ):
        return int(segment)
    count = f"has {len(items)} entries, counted from 0" if items else "is an empty list"
    message = f"{dotted(path)} {count}; there is no {shortened(segment)}"
    raise source.error(1, message)


def _replaced(container: Plain, path: KeyPath, value: Plain) -> Plain:
    """A container with one value inside it exchanged; what the path does not touch is shared."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        return [
            _replaced(item, rest, value) if i == key else item for i, item in enumerate(container)
        ]
    mapping = _spelled_out(container)
    # a value given anew in another unit replaces the one that the file gives
    kept = {
        name: item
        for name, item in mapping.items()
        if name == key or stored_name(name) != stored_name(key)
    }
    return kept | {key: _replaced(mapping.get(key), rest, value)}


def _spelled_out(entry: Plain) -> dict[str, Plain]:
    """A mapping as it is; a component that is only named as one with its ``type``."""
    if isinstance(entry, str):
        return {"type": entry}
    return entry if isinstance(entry, dict) else {}


def _outside(places: dict[KeyPath, Any], path: KeyPath) -> dict[KeyPath, Any]:
    """The places that are not at or below a path."""
    return {place: at for place, at in places.items() if place[: len(path)] != path}


def _clipped(item: str) -> str:
    """An override as it was given, in one line of bearable length."""
    if item.isprintable() and len(item) <= MAX_CHARACTERS:
        return item
    return shortened(item)


def written(value: Any) -> str:
    """A Python value as it is written in a file."""
    if isinstance(value, np.ndarray | np.generic):
        return written(value.tolist())
    if isinstance(value, Mapping):
        pairs = (f"{written(str(key))}: {written(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(written(item) for item in value) + "]"
    # JSON is YAML: text in quotes stays text, whatever it looks like
    return json.dumps(
        value if value is None or isinstance(value, bool | int | float) else str(value),
        ensure_ascii=False,
    )
