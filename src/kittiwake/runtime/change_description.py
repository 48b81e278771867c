"""Changes of a scenario in words with units, for the log's events."""

import re

from kittiwake.analysis.column_labels import HEIGHT
from kittiwake.core.errors import ScenarioError
from kittiwake.core.units import UNIT_SYMBOLS
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.plain_yaml import YamlSource
from kittiwake.scenario.problems import Plain

UNITS = {ending: f" {symbol}" for ending, symbol in UNIT_SYMBOLS.items()} | {"deg": "°"}
# keys before the subject of a path; an event has the name of its vehicle
PREFIXES = {"world": 1, "vehicles": 2}
FRAMES = {"world", "body"}
REPEATED = re.compile(r"\b([a-z]+) \1\b")


def describe_change(path: str, text: str) -> str:
    """Return a path's change to a value, as YAML: "shear wind 5 m/s at 6 m from 270°"."""
    try:
        value, _ = plain_yaml.read(text, YamlSource(path), flow_only=True)
    except ScenarioError:
        return f"{path}={text}"
    *above, last = path.split(".")[PREFIXES.get(path.partition(".")[0], 0) :] or [path]
    if last.isdigit() and above:
        last = f"{above.pop()}_{int(last) + 1}:"
    words = [f"{int(key) + 1}:" if key.isdigit() else key.replace("_", " ") for key in above]
    return REPEATED.sub(r"\1", " ".join([*words, _describe(last, value)]))


def _describe(key: str, value: Plain) -> str:
    """Return a key in words with its value and unit; the unit of a speed says that it is one."""
    stem, _, ending = key.rpartition("_")
    unit = UNITS.get(ending, "") if stem else ""
    words = [word for word in (stem if unit else key).split("_") if word not in FRAMES]
    name = HEIGHT.sub(r"\1 m", " ".join(words))
    if isinstance(value, dict):
        parts = [_describe(one, part) for one, part in value.items() if one != "type"]
        return " ".join(filter(None, (value.get("type"), name, *parts)))
    if value in (None, "none"):
        return f"no {name}"
    amount = f"{_amount(value)}{unit}"
    if name.startswith("speed"):
        return f"{amount}{name.removeprefix('speed')}"
    return f"{name} {amount}"


def _amount(value: Plain) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_amount, value))})"
    if isinstance(value, dict):
        return _describe("", value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
