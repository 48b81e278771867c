"""Scenario as it is flown, in its portable form."""

import copy
from functools import partial
from pathlib import Path

from kittiwake.analysis.portable_scenario import PortableScenario
from kittiwake.core.errors import ScenarioError
from kittiwake.core.parameters import Parameters
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.own_components.entries import as_file_data, own_components
from kittiwake.scenario.problems import KeyPath, Plain
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import FORMAT


def portable(scenario: Scenario, seed: int, duration_s: float) -> PortableScenario:
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
    return PortableScenario(partial(dump_document, data), data_files(scenario))


def data_files(scenario: Scenario) -> dict[str, Path]:
    """Return the files that a scenario reads, by their names in a run folder.

    Raises:
        ScenarioError: if two of them would have the same name.
    """
    files = {copy_name(path, file): file for path, file in scenario.tables.items()}
    for own in own_components(scenario.document.data):
        # imported by their names, which they keep
        for name, file in own.beside.items():
            other = files.setdefault(name, file)
            if not other.samefile(file):
                message = (
                    f"'{other}' and '{file}' would both be {name} in the folder of a run; rename "
                    "one of them"
                )
                raise ScenarioError(message)
    return files


def copy_name(path: KeyPath, file: Path) -> str:
    """Return the name of a copy, which begins with its key path; copies of copies keep theirs."""
    prefix = "".join(f"{part}-" for part in path[1:-1])
    return file.name if file.name.startswith(prefix) else prefix + file.name


def _entry(data: Plain, path: KeyPath) -> Plain:
    """Return the mapping that holds a key."""
    for key in path[:-1]:
        data = data[key]
    return data
