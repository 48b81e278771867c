"""Simulations of scenarios by name, file or data, and the continuation of an unfinished run."""

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.core.arguments import FILE, checked_arguments
from kittiwake.core.precision import Precision
from kittiwake.runtime.checkpoint import require_unfinished
from kittiwake.runtime.engine import EngineName
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import AllowedCode, load_in_python
from kittiwake.scenario.scenario import Scenario


@checked_arguments()
def load(
    scenario: str | PathLike[str] | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    precision: Precision = "float64",
    allow_code: AllowedCode = None,
    engine: EngineName | None = None,
) -> Simulation:
    """Load a library scenario by name, a YAML file, or a mapping as in one.

    Args:
        scenario: a library name, the path of a file, or its data.
        overrides: values by path, such as ``{"vehicles.pelican.start.yaw_deg": 90}``.
        precision: the floating-point format to compute in; single precision suits large batches.
        allow_code: the folder whose Python files the scenario may load, or several.
        engine: what compiles ``run`` and ``step``: "simd" or "xla"; by default the one that suits
            the scenario.

    Warns:
        UserWarning: if the scenario has a curriculum, which counts only in episodes of a task.

    Raises:
        ScenarioError: one line for each mistake, with file and line.
    """
    loaded = load_in_python(scenario, overrides, allow_code)
    for warning in loaded.unused_randomization():
        warnings.warn(warning, UserWarning, stacklevel=2)
    return Simulation(loaded, precision, engine)


@checked_arguments(folder=FILE)
def resume(folder: str | PathLike[str], allow_code: AllowedCode = None) -> Log:
    """Continue an unfinished run from its last checkpoint to its end, and return its log.

    Args:
        folder: the folder of a run with checkpoints.
        allow_code: the folder whose Python files the scenario may load, or several.

    Raises:
        ScenarioError: if the scenario in the folder cannot be read.
        LogError: if there is no run in the folder, or it cannot be written.
        StateError: if the run is complete, has no checkpoint, or the checkpoint does not fit.
    """
    require_unfinished(Path(folder))
    scenario = load_in_python(Path(folder) / SCENARIO_FILE, None, allow_code)
    return unfinished_simulation(Path(folder), scenario).resume(folder)


def unfinished_simulation(folder: Path, scenario: Scenario) -> Simulation:
    """Return the simulation that continues the run in a folder, with the engine of the run.

    Raises:
        LogError, StateError: if there is no unfinished run with a checkpoint.
    """
    engine = require_unfinished(folder).engine
    simulation = Simulation(scenario)
    # as it was chosen before, unless another engine was requested
    own = simulation.program.functions.chosen_engine.engine.name
    return simulation if own == engine else Simulation(scenario, engine=engine)
