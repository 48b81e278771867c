"""Finding scenarios: by the name of a library scenario, or by a file."""

from collections.abc import Sequence
from pathlib import Path

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario import library
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, read_document
from kittiwake.scenario.scenario import Scenario


def find(scenario: str) -> Path:
    """The file of a scenario given by library name or path.

    Raises:
        ScenarioError: if there is neither.
    """
    path = Path(scenario)
    if path.suffix in {".yaml", ".yml"} or path.parent != Path():
        return path
    if scenario in library.names():
        return library.FOLDER / f"{scenario}.yaml"
    message = (
        f"there is no library scenario '{scenario}' (a file's name ends in .yaml). "
        f"{did_you_mean(scenario, library.names())}"
    )
    raise ScenarioError(message)


def load_scenario(scenario: str, overrides: Sequence[str] = ()) -> Scenario:
    """A scenario with overrides such as ``vehicles.pelican.start.yaw_deg=90``.

    Raises:
        ScenarioError: if it cannot be read or flown; one line for each mistake.
    """
    path = find(scenario)
    return build(apply_overrides(read_document(path), overrides), path.parent)
