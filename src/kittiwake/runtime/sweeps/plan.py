"""Plan of a sweep: which runs it has, and the scenario and seed of each."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.analysis.output_file import write_text
from kittiwake.analysis.sweep_results import parsed_condition
from kittiwake.core.errors import KittiwakeError, LogError
from kittiwake.core.precision import Precision
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.document import Override, apply_overrides
from kittiwake.scenario.load import AllowedCode, load_scenario
from kittiwake.scenario.own_components.code_files import allowed_paths
from kittiwake.scenario.problems import Plain
from kittiwake.scenario.randomization import draws_of
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.variants import variants
from kittiwake.scenario.variations import items_of_run

PLAN_FILE = "sweep.json"
# combinations whose simulations are kept, as runs are flown in order
KEPT_SIMULATIONS = 4


def is_sweep(folder: Path) -> bool:
    """Return True if a folder holds a sweep."""
    return (folder / PLAN_FILE).is_file()


class PlannedRun(NamedTuple):
    """One run of a sweep.

    Attributes:
        number: its number, from 0.
        seed: its seed.
        controllers: its controllers, joined by ``+``; empty for those of the scenario.
        values: its values of the varied keys, by path.
    """

    number: int
    seed: int
    controllers: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class SweepPlan:
    """Plan of a sweep, as its folder holds it beside the scenario.

    Attributes:
        name: name of the scenario.
        runs: number of runs.
        seeds: number of seeds for each combination of values; the runs of one follow each other.
        first_seed: the first seed of each combination.
        grid: the values of each varied key, by path; all combinations are flown.
        controllers: the controllers that are compared; empty for those of the scenario.
        precision: the floating-point format.
        success: what a completed run must meet to count as a success; None for nothing more.
        worst_by: column by whose largest values runs are the worst; None for the default.
        format: version of the file.
    """

    name: str
    runs: int
    seeds: int
    first_seed: int
    grid: dict[str, list[Any]]
    controllers: tuple[str, ...] = ()
    precision: Precision = "float64"
    success: str | None = None
    worst_by: str | None = None
    format: Literal[1] = 1

    @property
    def combinations(self) -> int:
        """Number of combinations of controllers and values."""
        return max(len(self.controllers), 1) * prod(map(len, self.grid.values()))

    def run(self, number: int) -> PlannedRun:
        """Return a run by its number.

        Raises:
            LogError: if there is no such run.
        """
        if not 0 <= number < self.runs:
            message = f"there is no run {number}; the sweep has those from 0 to {self.runs - 1}"
            raise LogError(message)
        # the seed changes fastest, and then the last key
        combination, seed = divmod(number, self.seeds)
        values: dict[str, Any] = {}
        for path, own in reversed(self.grid.items()):
            combination, place = divmod(combination, len(own))
            values[path] = own[place]
        values = dict(reversed(values.items()))
        controllers = self.controllers[combination] if self.controllers else ""
        return PlannedRun(number, self.first_seed + seed, controllers, values)

    def first_of_each_value(self) -> list[int]:
        """Return the numbers of runs among which each varied value and each controller is."""
        numbers, step = {0}, self.seeds
        for count in [*map(len, reversed(self.grid.values())), max(len(self.controllers), 1)]:
            numbers |= {place * step for place in range(count)}
            step *= count
        return sorted(number for number in numbers if number < self.runs)

    def judging_columns(self) -> list[str]:
        """Return the columns by which runs are judged."""
        of_success = [] if self.success is None else [parsed_condition(self.success).column]
        return [*of_success, *([] if self.worst_by is None else [self.worst_by])]

    def judged_by(self, success: str | None, worst_by: str | None) -> "SweepPlan":
        """Return the plan with what a success is, and which runs are the worst, where given.

        Raises:
            LogError: for a condition of another form.
        """
        if success is not None:
            parsed_condition(success)
        return replace(
            self,
            success=self.success if success is None else success,
            worst_by=self.worst_by if worst_by is None else worst_by,
        )

    def write(self, folder: Path) -> None:
        """Write the plan into the folder of the sweep."""
        write_text(folder / PLAN_FILE, json.dumps(asdict(self), indent=2))

    @classmethod
    def read(cls, folder: Path) -> "SweepPlan":
        """Return the plan in the folder of a sweep.

        Raises:
            LogError: if there is none, or it cannot be read.
        """
        path = folder / PLAN_FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            message = f"'{folder}' holds no sweep; give a folder that 'kittiwake sweep' has written"
            raise LogError(message) from None
        except (OSError, msgspec.DecodeError) as error:
            message = f"{path}: cannot be read: {error}"
            raise LogError(message) from None


def code_folders(allow_code: AllowedCode) -> tuple[str, ...]:
    """Return the folders whose code is allowed as absolute paths, for any process.

    Raises:
        ScenarioError: if one of them does not exist.
    """
    return tuple(str(Path(path).absolute()) for path in allowed_paths(allow_code))


class ScenarioVersion(NamedTuple):
    """File of a scenario as it was written once; later another sweep may have its folder.

    Attributes:
        path: path of the file.
        written_ns: time at which it was written; 0 if there is none.
    """

    path: Path
    written_ns: int


def _version(folder: Path) -> ScenarioVersion:
    path = folder / SCENARIO_FILE
    return ScenarioVersion(path, path.stat().st_ctime_ns if path.exists() else 0)


def simulation_of(
    folder: Path, plan: SweepPlan, run: PlannedRun, code: tuple[str, ...] = ()
) -> Simulation:
    """Return the simulation that flies a run, before its seed draws any values.

    ``code`` names the folders whose Python files the scenario may load, which no plan can allow.

    Raises:
        ScenarioError: if its values are not allowed.
    """
    items = items_of_run(run.values)
    return _simulation(_version(folder), run.controllers, items, code, plan.precision)


@lru_cache(KEPT_SIMULATIONS)
def _simulation(
    version: ScenarioVersion,
    controllers: str,
    items: tuple[Override, ...],
    code: tuple[str, ...],
    precision: Precision,
) -> Simulation:
    path = str(version.path)
    allowed = [*map(Path, code)]
    if controllers:
        scenario = variants(path, [controllers], items, allow_code=allowed)[controllers]
    else:
        scenario = load_scenario(path, items, logged=True, allow_code=allowed)
    return Simulation(scenario, precision)


def draws_of_run(folder: Path, run: PlannedRun, code: tuple[str, ...] = ()) -> dict[str, Plain]:
    """Return what the seed of a run draws, also if it cannot be flown; empty if nothing can be."""
    try:
        base = _base(_version(folder), code)
        document = apply_overrides(base.document, items_of_run(run.values))
        return draws_of(base.with_parts(document=document), run.seed)
    except KittiwakeError:
        return {}


@lru_cache(1)
def _base(version: ScenarioVersion, code: tuple[str, ...]) -> Scenario:
    """Return the scenario of a sweep without the values of a run."""
    return load_scenario(str(version.path), logged=True, allow_code=[*map(Path, code)])
