"""Step response of a linear model, with the metrics of Ogata (2010), section 5.3."""

from dataclasses import dataclass, field

import numpy as np
from typing_extensions import override

from kittiwake.analysis.state_space import NamedSignal, Series

RISE = (0.1, 0.9)
SETTLED = 0.02


@dataclass(frozen=True, eq=False)
class StepResponse:
    """Response of an output to a unit step of an input.

    Attributes:
        input: the input.
        output: the output.
        time_s: the times.
        values: the output, as deviation from the operating point.
        final: the final value; None for an output that does not settle.
    """

    input: NamedSignal
    output: NamedSignal
    time_s: Series = field(repr=False)
    values: Series = field(repr=False)
    final: float | None

    @override
    def __repr__(self) -> str:
        if not self.final:
            metrics = "does not settle" if self.final is None else "final value 0"
        else:
            metrics = (
                f"final value {self.final:.4g}, rise {_shown(self.rise_time_s, 's')}, settling "
                f"{_shown(self.settling_time_s, 's')}, overshoot "
                f"{_shown(self.overshoot_percent, '%')}"
            )
        return f"<StepResponse of {self.output.name} to {self.input.name}: {metrics}>"

    @property
    def rise_time_s(self) -> float | None:
        """Time from 10 % to 90 % of the final value; None if it does not settle."""
        if not self.final:
            return None
        share = self.values / self.final
        begins, ends = (np.flatnonzero(share >= level) for level in RISE)
        if not begins.size or not ends.size:
            return None
        return float(self.time_s[ends[0]] - self.time_s[begins[0]])

    @property
    def settling_time_s(self) -> float | None:
        """Time after which it stays within 2 % of the final value; None if it does not."""
        if not self.final:
            return None
        outside = np.flatnonzero(np.abs(self.values / self.final - 1.0) >= SETTLED)
        if not outside.size:
            return 0.0
        if outside[-1] + 1 == len(self.time_s):
            return None
        return float(self.time_s[outside[-1] + 1])

    @property
    def overshoot_percent(self) -> float | None:
        """Excess over the final value, as a share of it; None if it does not settle."""
        if not self.final:
            return None
        return 100.0 * max(0.0, float((self.values / self.final).max()) - 1.0)


def _shown(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.3g} {unit}"
