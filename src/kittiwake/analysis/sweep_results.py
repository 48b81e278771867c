"""Results of a sweep: a table with a row for each run, and what follows from it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool
from typing_extensions import override

from kittiwake.analysis.log import COMPLETED
from kittiwake.core.arguments import COUNT
from kittiwake.core.errors import LogError, did_you_mean

if TYPE_CHECKING:
    import pandas

    from kittiwake.analysis.plots.style import PageFigure

# status of a run that could not begin, and of one whose worker ended each time
REFUSED, LOST = "refused", "lost"
CONFIDENCE = 0.95
# columns of the times at which vehicles turned over
TURNED_OVER = "turned_over_s."
# groups of a number that is drawn, or has more values
GROUPS = 10
MAX_VALUES = 24
# sections of a scenario whose numbers can be drawn
PHYSICAL = ("world.", "vehicles.")
# numbers that are not a part of a name
NUMBERS = re.compile(r"(?<![\w.])[-+]?\d+(\.\d+)?([eE][-+]?\d+)?(?!\w)")


class ComparisonSign(NamedTuple):
    """Comparison of values with a number.

    Attributes:
        holds: returns where it holds.
        badness: returns what is larger for a value that is worse.
    """

    holds: Callable[[np.ndarray, float], np.ndarray]
    badness: Callable[[np.ndarray, float], np.ndarray]


COMPARISONS = {
    ">=": ComparisonSign(lambda values, number: values >= number, lambda values, _: -values),
    "<=": ComparisonSign(lambda values, number: values <= number, lambda values, _: values),
    "==": ComparisonSign(
        lambda values, number: values == number, lambda values, number: np.abs(values - number)
    ),
    ">": ComparisonSign(lambda values, number: values > number, lambda values, _: -values),
    "<": ComparisonSign(lambda values, number: values < number, lambda values, _: values),
}


class SuccessCondition(NamedTuple):
    """Condition such as ``x <= 2``."""

    column: str
    comparison: ComparisonSign
    number: float


class Rate(NamedTuple):
    """Share of runs, with the ends of its interval of 95 % confidence."""

    successes: int
    runs: int
    share: float
    low: float
    high: float


def wilson(successes: int, runs: int, confidence: float = CONFIDENCE) -> Rate:
    """Return a share with its score interval (Wilson 1927, JASA 22)."""
    if runs == 0:
        return Rate(0, 0, float("nan"), 0.0, 1.0)
    from scipy.stats import binomtest  # takes 0.7 s to import

    interval = binomtest(successes, runs).proportion_ci(confidence, method="wilson")
    return Rate(successes, runs, successes / runs, float(interval.low), float(interval.high))


@dataclass(frozen=True, repr=False)
class SweepResults:
    """Results of a sweep.

    Attributes:
        folder: the folder of the sweep.
        grid: the varied keys with their values.
        table: a row for each run: its number and seed, what was varied and drawn, status, reason,
            and the numbers of its summary.
        condition: what a completed run must meet to count as a success, unless another condition is
            given; None for nothing more.
        worst_by: column by whose largest values runs are the worst, unless another one is given.
    """

    folder: Path
    grid: Mapping[str, Sequence[Any]]
    table: "pandas.DataFrame"
    condition: str | None = None
    worst_by: str | None = None

    @override
    def __repr__(self) -> str:
        rate = self.success()
        return (
            f"<SweepResults of {len(self.table)} runs in '{self.folder}': {rate.successes} "
            f"succeeded, {rate.share:.1%} ({rate.low:.1%} to {rate.high:.1%})>"
        )

    def __len__(self) -> int:
        return len(self.table)

    def frame(self) -> "pandas.DataFrame":
        """Return the table, to be changed freely."""
        return self.table.copy()

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column.

        Raises:
            LogError: for a column that the table does not have.
        """
        if name not in self.table.columns:
            raise LogError(unknown_column(name, self.table.columns))
        return np.asarray(self.table[name])

    def flown(self) -> "pandas.DataFrame":
        """Return the rows of the runs that have flown, which can be flown again."""
        return self.table.loc[~self.table["status"].isin((REFUSED, LOST))]

    def plot(self, condition: str | None = None) -> "PageFigure":
        """Draw the rate of success over what was varied; ``condition`` as for ``succeeded``."""
        from kittiwake.analysis.plots.sweep import draw_sweep

        return draw_sweep(self, condition)

    def succeeded(self, condition: str | None = None) -> Bool[np.ndarray, " runs"]:
        """Return for each run whether it was completed, and a condition such as ``x <= 2`` holds.

        Without a condition, no vehicle may have turned over.

        Raises:
            LogError: for another form, or a column that the table does not have.
        """
        completed = self.column("status") == COMPLETED
        condition = condition or self.condition
        if condition is None:
            return completed & ~self._turned_over()
        column, comparison, number = parsed_condition(condition)
        return completed & comparison.holds(self._numbers(column), number)

    def _turned_over(self) -> Bool[np.ndarray, " runs"]:
        """Return for each run whether a vehicle lay on its back."""
        times = self.table[[name for name in self.table.columns if name.startswith(TURNED_OVER)]]
        return np.asarray(times.notna().any(axis=1))

    def success(self, condition: str | None = None) -> Rate:
        """Return the share of the runs that succeeded."""
        return wilson(int(self.succeeded(condition).sum()), len(self.table))

    def rates(self, name: str, condition: str | None = None) -> dict[Any, Rate]:
        """Return the rate of success for each value of a column.

        Many numbers are put into groups, which stand by their centers.
        """
        succeeded = self.succeeded(condition)
        values, places = groups_of(self.column(name))
        groups = [places == place for place in range(len(values))]
        rates = [wilson(int(succeeded[group].sum()), int(group.sum())) for group in groups]
        return dict(zip(values, rates, strict=True))

    def worst(
        self, count: int = 5, by: str | None = None, condition: str | None = None
    ) -> "pandas.DataFrame":
        """Return the runs that failed, and then those that came closest to it.

        Args:
            count: number of runs.
            by: column by whose largest values runs are the worst; by default that of the sweep, or
                else the least margin of the condition, or the first tracking error.
            condition: what a success is, as for ``succeeded``.

        Raises:
            LogError: for a column that the table does not have, or that has no numbers.
        """
        COUNT.require("count", count)
        succeeded = self.succeeded(condition)
        values = self._badness(by or self.worst_by, condition or self.condition)
        # without a value is worse than any
        values = np.where(np.isnan(values), np.inf, values)
        return self.table.iloc[np.lexsort([-values, succeeded])[:count]]

    def _badness(self, by: str | None, condition: str | None) -> np.ndarray:
        if by is None and condition is not None:
            column, comparison, number = parsed_condition(condition)
            return comparison.badness(self._numbers(column), number)
        name = by or self.deciding_column()
        return np.zeros(len(self)) if name is None else self._numbers(name)

    def deciding_column(self, condition: str | None = None) -> str | None:
        """Return the column of a condition, or else the first tracking error; None without one."""
        condition = condition or self.condition
        if condition is not None:
            return parsed_condition(condition).column
        errors = [name for name in self.table.columns if name.endswith("tracking_rms_m")]
        return next((name for name in errors if not np.isnan(self._numbers(name)).all()), None)

    def failures(self, condition: str | None = None) -> dict[str, int]:
        """Return the causes of failures, the most frequent first.

        Those of flights have no numbers, so that equal ones are counted together.
        """
        failed, wanted = ~self.succeeded(condition), condition or self.condition
        causes = [
            f"completed, but {'not ' + wanted if wanted else 'turned over'}"
            if status == COMPLETED
            else f"{status}: {reason}"
            if status == REFUSED
            else NUMBERS.sub("…", f"{status}: {reason}")
            for status, reason in zip(
                self.column("status")[failed], self.column("reason")[failed], strict=True
            )
        ]
        return dict(Counter(causes).most_common())

    def varied(self) -> list[str]:
        """Return the columns that were varied, drawn or compared, if they differ among runs."""
        columns = [*self.table.columns]
        known = columns[columns.index("seed") + 1 : columns.index("status")]
        drawn = [name for name in columns if name.startswith(PHYSICAL) and name not in known]
        return [name for name in (*known, *drawn) if len(groups_of(self.column(name))[0]) > 1]

    def influences(self, condition: str | None = None) -> dict[str, float]:
        """Return how much each varied value matters, the largest first.

        It is the correlation ratio (Pearson 1905): the share of the variance of success that lies
        between groups of runs with about the same value; 0 if all succeed, or none does. Runs
        without a value do not count.
        """
        succeeded = self.succeeded(condition).astype(float)
        found: dict[str, float] = {}
        for name in self.varied():
            _, places = groups_of(self.column(name))
            known = places >= 0
            found[name] = _correlation_ratio(succeeded[known], places[known])
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def _numbers(self, name: str) -> np.ndarray:
        values = self.column(name)
        try:
            return values.astype(float)
        except (TypeError, ValueError):
            message = f"the column '{name}' has no numbers; name another one"
            raise LogError(message) from None


def unknown_column(name: str, columns: Iterable[str]) -> str:
    """Return the message for a column that a table does not have."""
    return f"there is no column '{name}'. {did_you_mean(name, columns)}"


def parsed_condition(condition: str) -> SuccessCondition:
    """Return a condition from its text.

    Raises:
        LogError: for another form.
    """
    for sign, comparison in COMPARISONS.items():
        column, found, number = condition.partition(sign)
        if found and column.strip():
            with suppress(ValueError):
                return SuccessCondition(column.strip(), comparison, float(number))
    message = (
        f"`{condition}`: write a column, a comparison and a number, such as "
        "'drone.touchdown.offset_m <= 0.3'"
    )
    raise LogError(message)


def groups_of(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return groups of values, and the index of that of each; -1 for one that is missing.

    Few numbers, and texts, are groups of their own; other numbers have groups with these centers.
    """
    if values.dtype.kind not in "fiu":
        # one that is missing is None, or NaN, which differs from itself
        texts = [None if one is None or one != one else str(one) for one in values]
        names = [*dict.fromkeys(text for text in texts if text is not None)]
        return names, np.array([-1 if text is None else names.index(text) for text in texts])
    known = np.isfinite(values)
    distinct = np.unique(values[known])
    if len(distinct) <= MAX_VALUES:
        return distinct.tolist(), np.where(known, np.searchsorted(distinct, values), -1)
    edges = np.linspace(distinct[0], distinct[-1], GROUPS + 1)
    places = np.clip(np.digitize(values, edges) - 1, 0, GROUPS - 1)
    return ((edges[:-1] + edges[1:]) / 2.0).tolist(), np.where(known, places, -1)


def _correlation_ratio(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the share of the variance of values that lies between groups, less what chance gives.

    The latter is the mean for groups without any effect, groups - 1 of runs - 1 (Kelley 1935).
    """
    total = values.var()
    used = np.unique(groups)
    if total == 0.0 or len(values) <= len(used):
        return 0.0
    between = sum(
        (groups == group).mean() * (values[groups == group].mean() - values.mean()) ** 2
        for group in used
    )
    chance = (len(used) - 1) / (len(values) - 1)
    return max(0.0, float((between / total - chance) / (1.0 - chance)))
