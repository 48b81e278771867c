"""Words by which the search of the start page finds scenarios and runs."""

import re
from collections.abc import Iterator
from functools import cache

from kittiwake.scenario import library, plain_yaml
from kittiwake.scenario.plain_yaml import YamlSource
from kittiwake.scenario.problems import Plain
from kittiwake.vehicles import VEHICLES

# A text with a word of a line is found by all words of the line. Words of at least LEAST_STEM
# letters are also recognized as beginnings of longer ones, as "fail" of "failure".
SYNONYMS = """
broken break fail fault lose loss lost damage defect
crash collide collision bump obstacle
motor engine propeller
gps gnss satellite
swarm flock fleet team formation
lake water sea ocean
camera vision picture video
lidar laser sonar ultrasonic ranging ranges
imu inertial accelerometer gyroscope
kalman ekf filter estimate estimation
wind gust turbulence storm
battery charge recharge energy power
person people human victim rescue
plume smoke gas smell
hallway corridor tunnel indoor
path route trajectory waypoint tour
survey coverage lanes mapping
learned learning reward training reinforcement
""".strip().splitlines()
LEAST_STEM = 4
VESSEL, AIRCRAFT = "vessel boat ship usv", "drone uav quadrotor quadcopter aircraft"
WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")


def search_words(*texts: str) -> str:
    """Return the words of texts and their synonyms, each once."""
    text = " ".join(WORD.findall(" ".join(texts).lower()))
    found = (line for line, form in zip(SYNONYMS, _FORMS, strict=True) if form.search(text))
    return " ".join(dict.fromkeys(" ".join((text, *found)).split()))


@cache
def scenario_contents(name: str) -> str:
    """Return the names and types of the components of a library scenario; empty for another."""
    if name not in library.names():
        return ""
    text = (library.FOLDER / f"{name}.yaml").read_text("utf-8")
    return " ".join(_components(plain_yaml.read(text, YamlSource(name))[0]))


def _forms(line: str) -> re.Pattern[str]:
    """Return the pattern of the words of a line."""
    ends = (word if len(word) >= LEAST_STEM else rf"{word}\b" for word in line.split())
    return re.compile(rf"\b(?:{'|'.join(ends)})")


_FORMS = [_forms(line) for line in SYNONYMS]


def _components(entry: Plain) -> Iterator[str]:
    """Yield the texts of an entry, the keys of its components and the kinds of its vehicles."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, list):
        for part in entry:
            yield from _components(part)
    elif isinstance(entry, dict):
        for key, value in entry.items():
            if key == "model" and value in VEHICLES.entries:
                yield VESSEL if VEHICLES.find(value).dynamics.is_vessel else AIRCRAFT
            if _is_component(value):
                yield key
            yield from _components(value)


def _is_component(value: Plain) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, str) or (isinstance(first, dict) and "type" in first)
