"""Finding scenarios: by the name of a library scenario, or by a file."""

import os
from collections.abc import Sequence
from pathlib import Path

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario import library
from kittiwake.scenario.build import build
from kittiwake.scenario.document import Document, Override, apply_overrides, read_document
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import ScenarioSchema

# the name of the scenario in a run's folder
IN_A_RUN = "scenario.yaml"


def find(scenario: str) -> Path:
    """The file of a scenario given by library name or path.

    Raises:
        ScenarioError: if there is neither.
    """
    path = Path(scenario)
    inside = path / IN_A_RUN
    if scenario not in library.names() and os.path.isfile(inside):  # takes any path
        message = f"'{scenario}' is a folder. Give the scenario in it: {inside}"
        raise ScenarioError(message)
    if path.suffix in {".yaml", ".yml"} or path.parent != Path():
        return path
    if scenario in library.names():
        return library.FOLDER / f"{scenario}.yaml"
    message = (
        f"there is no library scenario '{scenario}' (a file's name ends in .yaml). "
        f"{did_you_mean(scenario, library.names(), 'kittiwake list scenarios')}"
    )
    raise ScenarioError(message)


def load_scenario(
    scenario: str, overrides: Sequence[str | Override] = (), *, logged: bool = False
) -> Scenario:
    """A scenario with overrides such as ``vehicles.pelican.start.yaw_deg=90``.

    Args:
        scenario: a library name or a file's path.
        overrides: values by path.
        logged: whether it is for a flight with a log, which has room for so many vehicles only.

    Raises:
        ScenarioError: if it cannot be read or flown; one line for each mistake.
    """
    path = find(scenario)
    document = read_document(path)
    _refuse_foreign(document, path)
    return build(apply_overrides(document, overrides), path.parent, logged=logged)


def _refuse_foreign(document: Document, path: Path) -> None:
    """Refuses a file of another kind at once, instead of each of its keys."""
    known = list(ScenarioSchema.model_fields)
    strange = [key for key in document.data if key not in known]
    if "name" in document.data or 2 * len(strange) <= len(document.data):
        return
    beside = path.with_name(IN_A_RUN)
    instead = f" Give {beside}." if beside != path and beside.is_file() else ""
    message = (
        f"{document.name}:1: this is no scenario: most of its keys are none of "
        f"{', '.join(known)}.{instead}"
    )
    raise ScenarioError(message)
