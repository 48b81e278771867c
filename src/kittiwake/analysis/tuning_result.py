"""Result of tuning: values before and after, and what they are worth."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from typing_extensions import override

from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.log import Log
from kittiwake.analysis.output_file import finite_figures, write_text
from kittiwake.analysis.run_folder import write_scenario
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.scenario import Scenario

if TYPE_CHECKING:
    from kittiwake.analysis.plots.style import PageFigure

Method = Literal["gradient", "cma-es"]
TUNED_FILE, RESULT_FILE, PICTURE_FILE = "tuned.yaml", "tuning.json", "tuning.png"
# first parts of a path whose entry the fragment holds whole, by the first of them
WHOLE_PARTS = {"vehicles": 3, "world": 2}


class Score(NamedTuple):
    """Result of the flights of a candidate.

    Attributes:
        value: mean of the objective over the flights that have one; infinite without any.
        failures: number of flights that were not completed, or have no value.
        flights: number of flights.
    """

    value: float
    failures: int
    flights: int

    def rank(self, *, maximize: bool) -> tuple[int, float]:
        """Return what is less for a better score: failures first."""
        return self.failures, -self.value if maximize and isfinite(self.value) else self.value


@dataclass(frozen=True)
class Evaluation:
    """A candidate.

    Attributes:
        values: its values.
        objective: the mean of its objective over the seeds, by ``gradient`` the root of the mean
            square; infinite if a flight failed.
        refusal: why the scenario does not allow its values; empty if it does.
    """

    values: tuple[float, ...]
    objective: float
    refusal: str = ""


@dataclass(frozen=True, repr=False)
class TuningResult:
    """Result of tuning.

    Attributes:
        folder: folder with ``tuned.yaml``, ``scenario.yaml`` and ``tuning.json``.
        objective: name of the objective.
        method: ``gradient`` or ``cma-es``.
        reason: why it is not ``gradient``; empty if it is, or was requested.
        paths: paths of the free values.
        before: their values at the beginning.
        after: their tuned values.
        seeds: score of the flights with which it was tuned, before and after.
        unseen: the same of flights with other seeds.
        gradient: slope of the mean squared error at the beginning, and the same by differences;
            None for another method.
        evaluations: the candidates.
        left_out: numbers that keys with an asterisk match but do not free, with the reasons.
        at_limits: limits at which tuned values lie, by their paths.
        logs: flights with the first of the other seeds, before and after.
        tuned: the tuned scenario.
    """

    folder: Path
    objective: str
    method: Method
    reason: str
    paths: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    seeds: tuple[Score, Score]
    unseen: tuple[Score, Score]
    gradient: tuple[float, float] | None
    evaluations: tuple[Evaluation, ...]
    left_out: Mapping[str, str]
    at_limits: Mapping[str, float]
    logs: tuple[Log, Log]
    tuned: Scenario

    @override
    def __repr__(self) -> str:
        (before, after), (first, last) = self.seeds, self.unseen
        return (
            f"<TuningResult of {len(self.paths)} values: {self.objective} {before.value:.4g} -> "
            f"{after.value:.4g}, with unseen seeds {first.value:.4g} -> {last.value:.4g}>"
        )

    @property
    def values(self) -> dict[str, float]:
        """The tuned values by path."""
        return dict(zip(self.paths, self.after, strict=True))

    @property
    def refusals(self) -> list[str]:
        """Reasons for candidates whose values the scenario does not allow."""
        return [one.refusal for one in self.evaluations if one.refusal]

    def fragment(self) -> dict[str, Any]:
        """Return the entries of the tuned scenario that hold its tuned values."""
        found: dict[str, Any] = {}
        for path in self.paths:
            keys = path.split(".")
            keys = keys[: WHOLE_PARTS.get(keys[0], len(keys))]
            source, target = self.tuned.document.data, found
            for key in keys[:-1]:
                source, target = source[key], target.setdefault(key, {})
            target[keys[-1]] = source[keys[-1]]
        return found

    def figures(self) -> dict[str, Any]:
        """Return the contents of ``tuning.json``."""
        figures = {
            **{key: getattr(self, key) for key in ("objective", "method", "reason", "gradient")},
            "before": dict(zip(self.paths, self.before, strict=True)),
            "after": self.values,
            "seeds": [score._asdict() for score in self.seeds],
            "unseen": [score._asdict() for score in self.unseen],
            "left_out": dict(self.left_out),
            "at_limits": dict(self.at_limits),
            "refused": len(self.refusals),
            "evaluations": [asdict(one) for one in self.evaluations],
        }
        return finite_figures(figures)

    def plot(self) -> "PageFigure":
        """Draw a flight before and after, the values, and the objective of each candidate."""
        from kittiwake.analysis.plots.tuning import draw_tuning

        return draw_tuning(self)

    def write(self) -> None:
        """Write scenario, fragment, figures and picture into the folder.

        Raises:
            LogError: if they cannot be written.
        """
        tuned, folder = self.tuned, self.folder
        write_scenario(folder, portable(tuned, tuned.seed, tuned.duration_s))
        write_text(folder / TUNED_FILE, dump_document(self.fragment()))
        write_text(folder / RESULT_FILE, json.dumps(self.figures(), indent=2) + "\n")
        self.plot().save(folder / PICTURE_FILE)
