"""Scenario as plain data with the source of each value.

A source is a file and a line, ``--set`` on the command line, or ``overrides`` in Python.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.units import stored_name
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.own_components.entries import as_file_data
from kittiwake.scenario.plain_yaml import MAX_BYTES, MAX_DEPTH, YamlSource
from kittiwake.scenario.problems import MAX_CHARACTERS, KeyPath, Plain, dotted, shortened

# entries that may be the bare name of a component; --set may give parameters inside one
COMPONENTS = (
    "controller",
    "estimator",
    "guidance",
    "wind",
    "turbulence",
    "atmosphere",
    "task",
    "satellites",
    "errors",
)

# mappings with user-chosen names as keys; --set cannot add a name, which would be a typing error
NAMED_BY_AUTHOR: dict[KeyPath, str] = {("vehicles",): "vehicle"}

EXAMPLE = "--set vehicles.pelican.start.yaw_deg=90"
PYTHON_EXAMPLE = "overrides={'vehicles.pelican.start.yaw_deg': 90}"


class Override(NamedTuple):
    """Value that replaces the one in the file.

    Attributes:
        item: ``path.to.key=value``, as on the command line.
        words: its name in messages.
    """

    item: str
    words: str

    @classmethod
    def from_python(cls, path: str, value: Any) -> "Override":
        """Return an override from one item of the argument ``overrides`` in Python."""
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        shown = repr(plain) if plain is None or isinstance(plain, bool) else shortened(plain)
        return cls(f"{path}={written(value)}", f"overrides={{{shortened(path)}: {shown}}}")


@dataclass(frozen=True)
class Document:
    """Plain data with the place of every path: a line, or the name of the override that set it.

    ``without_files`` are the paths below which no key may name a file, as other programs wrote
    them.
    """

    data: dict[str, Any]
    places: dict[KeyPath, int | str]
    name: str
    without_files: frozenset[KeyPath] = frozenset()

    def where(self, path: KeyPath) -> str:
        """Return the source of a path, or of its nearest parent that has one."""
        place = self._place(path)
        if isinstance(place, str):
            return place
        return self.name if place is None else f"{self.name}:{place}"

    def from_override(self, path: KeyPath) -> bool:
        """Return True if an override set a value; it names files relative to the working folder."""
        return isinstance(self._place(path), str)

    def may_name_files(self, path: KeyPath) -> bool:
        """Return False for a value that another program wrote."""
        return not any(path[: len(root)] == root for root in self.without_files)

    def with_value(self, path: KeyPath, value: Plain, words: str) -> "Document":
        """Return the document with a value replaced; ``words`` name its source in messages."""
        data = _replace_at(self.data, path, value)
        places = _without_subtree(self.places, path) | {path: words}
        return replace(self, data=data, places=places)

    def _place(self, path: KeyPath) -> int | str | None:
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path)


def read_document(path: Path) -> Document:
    """Return the document in a file.

    Raises:
        ScenarioError: if the file cannot be read, or its text is invalid.
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
    """Return the document in a YAML text.

    Args:
        text: the YAML; its top level must be a mapping.
        name: its name in messages.

    Raises:
        ScenarioError: if the text is invalid; the message has the line.
    """
    source = YamlSource(name)
    data, lines = plain_yaml.read(text, source)
    if data is None:
        message = "is empty; a scenario is a mapping (key: value)"
        raise source.error(1, message)
    if not isinstance(data, dict):
        message = f"a scenario is a mapping (key: value), not {shortened(data)}"
        raise source.error(lines[()], message)
    return Document(data, {**lines}, name)


def apply_overrides(document: Document, items: Iterable[str | Override]) -> Document:
    """Return the document with values replaced or added, each given as ``path.to.key=value``.

    Args:
        document: the original document.
        items: the overrides; those of the command line as plain text.

    Raises:
        ScenarioError: if an item has no value, or its path does not exist.
    """
    for item in items:
        given = item if isinstance(item, Override) else Override(item, f"--set {_one_line(item)}")
        document = _apply_override(document, *given)
    return document


def dump_document(data: dict[str, Any]) -> str:
    """Return a resolved scenario as YAML that reads back equal."""
    return plain_yaml.dump(as_file_data(data))


def _apply_override(document: Document, item: str, words: str) -> Document:
    source = YamlSource(words, has_lines=False)
    written_path, equals, text = item.partition("=")
    segments = written_path.strip().split(".")
    if not equals or not all(segments):
        message = f"write a path and a value, as in {_example(source)}"
        raise source.error(1, message)
    if len(segments) > MAX_DEPTH:
        message = f"the path has {len(segments)} parts; at most {MAX_DEPTH}"
        raise source.error(1, message)
    path, existing = _resolve_path(document, segments, source)
    value, _ = plain_yaml.read(text, source, path, flow_only=True)
    created = [path[:n] for n in range(existing + 1, len(path) + 1)]
    return replace(
        document,
        data=_replace_at(document.data, path, value),
        places=_without_subtree(document.places, path) | dict.fromkeys([*created, path], words),
    )


def _example(source: YamlSource) -> str:
    return EXAMPLE if source.name.startswith("--set") else PYTHON_EXAMPLE


def _resolve_path(
    document: Document, segments: list[str], source: YamlSource
) -> tuple[KeyPath, int]:
    """Return the path with list indices as integers, and the number of its existing segments."""
    node: Plain = document.data
    path: KeyPath = ()
    existing = 0
    if tuple(segments) in NAMED_BY_AUTHOR:
        message = (
            f"set the values of one {NAMED_BY_AUTHOR[tuple(segments)]}, as in {_example(source)}"
        )
        raise source.error(1, message)
    for segment in segments:
        if isinstance(node, list):
            key: str | int = _index(node, segment, path, source)
            node = node[key]
        else:
            key = segment
            node = _mapping_at(document, node, path, segment, source).get(segment)
        path = (*path, key)
        existing += node is not None
    return path, existing


def _mapping_at(
    document: Document, node: Plain, path: KeyPath, segment: str, source: YamlSource
) -> dict[str, Any]:
    """Return the mapping at a path; a missing value counts as an empty mapping."""
    if not isinstance(node, dict | None) and not (isinstance(node, str) and _is_component(path)):
        message = (
            f"{dotted(path)} is {shortened(node)} ({document.where(path)}), "
            "so nothing can be set inside it"
        )
        raise source.error(1, message)
    mapping = _as_mapping(node)
    if path in NAMED_BY_AUTHOR and segment not in mapping:
        known = did_you_mean(segment[:MAX_CHARACTERS], list(mapping))
        message = f"there is no {NAMED_BY_AUTHOR[path]} {shortened(segment)}. {known}"
        raise source.error(1, message)
    return mapping


def _is_component(path: KeyPath) -> bool:
    # one of several has an index
    named = path[:-1] if path and isinstance(path[-1], int) else path
    return named[-1:] in {(name,) for name in COMPONENTS} or path[-2:-1] == ("sensors",)


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


def _replace_at(container: Plain, path: KeyPath, value: Plain) -> Plain:
    """Return a container with one value replaced; everything beside the path is shared."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        return [
            _replace_at(item, rest, value) if i == key else item for i, item in enumerate(container)
        ]
    mapping = _as_mapping(container)
    # a value in another unit replaces the one in the file
    kept = {
        name: item
        for name, item in mapping.items()
        if name == key or stored_name(name) != stored_name(key)
    }
    return kept | {key: _replace_at(mapping.get(key), rest, value)}


def _as_mapping(entry: Plain) -> dict[str, Plain]:
    """Return an entry as a mapping; a bare component name becomes its ``type``."""
    if isinstance(entry, str):
        return {"type": entry}
    return entry if isinstance(entry, dict) else {}


def _without_subtree(places: dict[KeyPath, int | str], path: KeyPath) -> dict[KeyPath, int | str]:
    """Return the entries whose path is neither the given one nor below it."""
    return {place: at for place, at in places.items() if place[: len(path)] != path}


def _one_line(item: str) -> str:
    """Return an override in one line of limited length."""
    if item.isprintable() and len(item) <= MAX_CHARACTERS:
        return item
    return shortened(item)


def written(value: Any) -> str:
    """Return a Python value as YAML text."""
    # JSON is valid YAML, and text in quotes stays text
    return json.dumps(value, default=_as_json, ensure_ascii=False)


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else str(value)
