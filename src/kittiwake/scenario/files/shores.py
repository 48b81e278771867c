"""Reader of GeoJSON files (RFC 7946) with the polygon of a water area.

    {"type": "Polygon", "coordinates": [[[8.6, 47.3], [8.7, 47.3], [8.6, 47.4], [8.6, 47.3]]]}

The polygon, in longitude and latitude, may be the top level, in a feature, or in the first feature
of a collection. Its first ring is the shore, the others are islands. Heights, properties and
``bbox`` are ignored.
"""

import json
import math
import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.guidance.shore import Shore
from kittiwake.scenario.problems import shortened

MAX_BYTES = 4 * 1024 * 1024
MAX_PLACES = 10_000
EXAMPLE = (
    '{"type": "Polygon", "coordinates": [[[8.6, 47.3], [8.7, 47.3], [8.6, 47.4], [8.6, 47.3]]]}'
)
LIMITS_DEG = (("longitude", 180.0), ("latitude", 90.0))


def read_shore(path: Path) -> Shore:
    """Return the polygon in a file.

    Raises:
        ScenarioError: if the file is missing, too large, or has no polygon, with the line.
    """
    text = _text(path)
    polygon = _polygon(path, _json(path, text))
    rings = polygon.get("coordinates")
    if not isinstance(rings, list) or not rings:
        _refuse(
            path, _line(text, "coordinates"), f"has no coordinates; write for example {EXAMPLE}"
        )
    lines = _lines_of_pairs(text)
    read: list[np.ndarray] = []
    for number, ring in enumerate(rings):
        if not isinstance(ring, list) or len(ring) < 4 or ring[0] != ring[-1]:
            rule = "a ring has four positions or more, and the last one equals the first"
            _refuse(path, next(lines, 1), f"coordinates[{number}]: {rule}")
        places = [
            _place(path, next(lines, 1), f"coordinates[{number}][{i}]", place)
            for i, place in enumerate(ring)
        ]
        read.append(np.radians(np.asarray(places[:-1], float)))
    if sum(map(len, read)) > MAX_PLACES:
        _refuse(path, 1, f"{sum(map(len, read))} positions; at most {MAX_PLACES} are read")
    return Shore(path.name, tuple(read))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    except UnicodeDecodeError as error:
        message = f"{path.name}: cannot be read as JSON ({shortened(str(error))})"
        raise ScenarioError(message) from None


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{path.name}:{error.lineno}: not JSON: {error.msg} (column {error.colno})"
        raise ScenarioError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{path.name}: cannot be read as JSON ({shortened(str(error))})"
        raise ScenarioError(message) from None


def _polygon(path: Path, content: Any) -> dict[str, Any]:
    """Return the polygon of a polygon, a feature or a collection of features."""
    if isinstance(content, dict) and content.get("type") == "FeatureCollection":
        features = content.get("features")
        content = features[0] if isinstance(features, list) and features else None
    if isinstance(content, dict) and content.get("type") == "Feature":
        content = content.get("geometry")
    type_name = content.get("type") if isinstance(content, dict) else None
    if not isinstance(content, dict) or type_name != "Polygon":
        found = "" if type_name is None else f" but {shortened(type_name)}"
        _refuse(path, 1, f"has no Polygon{found}; write for example {EXAMPLE}")
    return content


def _place(path: Path, line: int, where: str, place: Any) -> list[float]:
    if not isinstance(place, list) or len(place) < 2:
        _refuse(path, line, f"{where}: write longitude and latitude, such as [8.6, 47.3]")
    for given, (name, limit) in zip(place, LIMITS_DEG, strict=False):
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not math.isfinite(given) or abs(given) > limit:
            rule = f"the {name} in degrees, from {-limit:g} to {limit:g}"
            _refuse(path, line, f"{where}: {shortened(given)} is not allowed; write {rule}")
    return [float(place[0]), float(place[1])]


def _lines_of_pairs(text: str) -> Any:
    """Yield the lines in which the innermost lists of the coordinates begin."""
    start = max(text.find('"coordinates"'), 0)
    line, counted = text.count("\n", 0, start) + 1, start
    for found in re.finditer(r"\[\s*[^\[\]\s]", text[start:]):
        place = start + found.start()
        line, counted = line + text.count("\n", counted, place), place
        yield line


def _line(text: str, key: str) -> int:
    place = text.find(f'"{key}"')
    return text.count("\n", 0, place) + 1 if place >= 0 else 1


def _refuse(path: Path, line: int, problem: str) -> NoReturn:
    message = f"{path.name}:{line}: {problem}"
    raise ScenarioError(message)
