"""Reader of route files in the format of uav_gazebo: JSON of ``poses[].pose.position``.

    {"poses": [{"pose": {"position": {"x": 0, "y": 25, "z": 6.5}}}, ...]}

All other keys of a pose are ignored.
"""

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.guidance.route import Route
from kittiwake.scenario.problems import shortened

MAX_BYTES = 4 * 1024 * 1024
MAX_PLACES = 10_000
EXAMPLE = '{"poses": [{"pose": {"position": {"x": 0, "y": 0, "z": 6}}}]}'


def read_route(path: Path) -> Route:
    """Return the positions in a file.

    Raises:
        ScenarioError: if the file is missing, too large, or has a position that is not finite.
    """
    content = _json(path)
    poses = content.get("poses") if isinstance(content, dict) else None
    if not isinstance(poses, list) or not poses:
        _refuse(path, f"has no list 'poses'; write for example {EXAMPLE}")
    if len(poses) > MAX_PLACES:
        _refuse(path, f"poses: got {len(poses)}; at most {MAX_PLACES} are read")
    places = [_place(path, f"poses[{number}]", pose) for number, pose in enumerate(poses)]
    return Route(path.name, np.asarray(places, float))


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_BYTES:
            _refuse(path, f"larger than {MAX_BYTES // 2**20} MiB, the most that is read")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    except json.JSONDecodeError as error:
        message = f"{path.name}:{error.lineno}: not JSON: {error.msg} (column {error.colno})"
        raise ScenarioError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{path.name}: cannot be read as JSON ({shortened(str(error))})"
        raise ScenarioError(message) from None


def _place(path: Path, where: str, pose: Any) -> list[float]:
    position = pose
    for key in ("pose", "position"):
        where += f".{key}"
        position = position.get(key) if isinstance(position, dict) else None
    if not isinstance(position, dict):
        _refuse(path, f"{where}: is missing; write for example {EXAMPLE}")
    return [_coordinate(path, f"{where}.{axis}", position.get(axis)) for axis in ("x", "y", "z")]


def _coordinate(path: Path, where: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        problem = "is missing" if given is None else f"{shortened(given)} is not allowed"
        _refuse(path, f"{where}: {problem}; write a number")
    # an integer may be larger than any floating-point number
    if not abs(given) <= sys.float_info.max:
        _refuse(path, f"{where}: must be a finite number")
    return float(given)


def _refuse(path: Path, problem: str) -> NoReturn:
    message = f"{path.name}: {problem}"
    raise ScenarioError(message)
