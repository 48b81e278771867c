"""Water areas that the survey patterns of a scenario cover."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.scenario.document import Document
from kittiwake.scenario.files.shores import read_shore
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.problems import KeyPath


def coverages(
    document: Document, vehicles: Iterable[str], tables: Mapping[KeyPath, Path]
) -> dict[str, SurveyPattern]:
    """Return the coverage pattern of each vehicle that has one; the first one of a mission."""
    found: dict[str, SurveyPattern] = {}
    given = document.data.get("vehicles", {})
    for name in vehicles:
        entry = name if name in given else name.rpartition("-")[0]
        path = ("vehicles", entry, "guidance")
        inside = _coverage_patterns(given.get(entry, {}).get("guidance"), path)
        for place, data in inside:
            files = {"file": read_shore(tables[(*place, "file")])} if "file" in data else {}
            found[name] = build_component(SurveyPattern, {**data, **files}, document.where, place)
            break
    return found


def _coverage_patterns(
    data: Any, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield the coverage patterns in a guidance, with their paths in the file."""
    inside = enumerate(data) if isinstance(data, list) else ()
    for key, value in data.items() if isinstance(data, dict) else inside:
        if key == "pattern" and isinstance(value, dict) and value.get("shape") == "coverage":
            yield (*path, key), value
        else:
            yield from _coverage_patterns(value, (*path, key))
