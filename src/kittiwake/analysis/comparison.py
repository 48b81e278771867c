"""Comparison: the compared flights as a table, a data frame and a picture."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import inf
from typing import TYPE_CHECKING, overload

from typing_extensions import override

from kittiwake.analysis.comparison_metrics import failures, metrics, summaries
from kittiwake.analysis.comparison_table import comparison_pages
from kittiwake.analysis.response import Trial
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.core.extras import import_optional
from kittiwake.core.html import column_table, heading

if TYPE_CHECKING:
    import pandas

    from kittiwake.analysis.plots.style import PageFigure


@dataclass(frozen=True, eq=False)
class Comparison(Sequence[Trial]):
    """Flights of several controllers on one scenario and the same seeds, a trial for each vehicle.

    ``print`` shows the table of ``kittiwake compare``, ``plot`` its picture; ``frame`` has all
    metrics of each trial.
    """

    trials: tuple[Trial, ...]

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> "Comparison": ...
    @override
    def __getitem__(self, index: int | slice) -> "Trial | Comparison":
        if isinstance(index, slice):
            return Comparison(self.trials[index])
        return self.trials[index]

    @override
    def __len__(self) -> int:
        return len(self.trials)

    @override
    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(trial.controllers for trial in self.trials))
        return f"<Comparison of {names}: {len(self.trials)} trials>"

    @override
    def __str__(self) -> str:
        pages = comparison_pages(summaries(self.trials), shutil.get_terminal_size().columns)
        return "\n".join([*(page.text() for page in pages), *failures(self.trials)])

    def _repr_html_(self) -> str:
        tables = "".join(
            heading("Comparison", page.vehicle) + column_table(page.headings, page.lines)
            for page in comparison_pages(summaries(self.trials), inf)
        )
        return tables + "".join(f"<p>{escape(line)}</p>" for line in failures(self.trials))

    @property
    def vehicles(self) -> tuple[str, ...]:
        """Names of the vehicles in order."""
        return tuple(dict.fromkeys(trial.vehicle for trial in self.trials))

    def frame(self) -> "pandas.DataFrame":
        """Return the rows of ``comparison.csv``, one for each trial, as a pandas data frame."""
        pandas = import_optional("pandas", "data")
        return pandas.DataFrame(metrics(self.trials))

    def plot(self, vehicle: str | None = None, *, style: str = "report") -> "PageFigure":
        """Return the picture of ``kittiwake compare`` as a Matplotlib figure.

        Args:
            vehicle: the vehicle, the first one by default.
            style: ``report``, or ``paper`` for a column of 3.5 inches without a title.

        Raises:
            LogError: if there is no such vehicle or style.
        """
        from kittiwake.analysis.plots.comparison import draw_comparison
        from kittiwake.analysis.plots.style import find_style

        drawn = self.vehicles[0] if vehicle is None else vehicle
        if drawn not in self.vehicles:
            known = did_you_mean(drawn, self.vehicles)
            message = f"this comparison has no vehicle '{drawn}'. {known}"
            raise LogError(message)
        own = [trial for trial in self.trials if trial.vehicle == drawn]
        return draw_comparison(own, find_style(style))
