"""Portable form of a scenario: a text and the files beside it, as a run folder holds them."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kittiwake.core.parameters import Parameters
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.own_controller import as_file_data
from kittiwake.scenario.problems import KeyPath, Plain
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import FORMAT


@dataclass(frozen=True)
class PortableScenario:
    """A scenario that needs nothing outside one folder.

    Attributes:
        text: the scenario as YAML.
        files: its data files, by the names that the text gives them.
    """

    text: str
    files: Mapping[str, Path]

    @classmethod
    def of(cls, scenario: Scenario, seed: int, duration_s: float) -> "PortableScenario":
        """Return a scenario as it is flown with this seed, for so long."""
        data: Parameters = {
            "format": FORMAT,
            **copy.deepcopy(as_file_data(scenario.document.data)),
        }
        data["seed"] = seed
        data["time"] = {
            "rate_hz": scenario.rate_hz,
            **data.get("time", {}),
            "duration_s": duration_s,
        }
        for path, file in scenario.tables.items():
            _entry(data, path)[path[-1]] = copy_name(path, file)
        for path, values in scenario.inlined.items():
            entry = _entry(data, path)
            del entry[path[-1]]
            entry |= values
        return cls(dump_document(data), data_files(scenario))


def data_files(scenario: Scenario) -> dict[str, Path]:
    """Return the data files that a scenario reads, by their names in a run folder."""
    return {copy_name(path, file): file for path, file in scenario.tables.items()}


def copy_name(path: KeyPath, file: Path) -> str:
    """Return the name of a copy, which begins with its key path; copies of copies keep theirs."""
    prefix = "".join(f"{part}-" for part in path[1:-1])
    return file.name if file.name.startswith(prefix) else prefix + file.name


def _entry(data: Plain, path: KeyPath) -> Plain:
    """Return the mapping that holds a key."""
    for key in path[:-1]:
        data = data[key]
    return data
