"""Time constants of a vehicle's dynamics, and what the integrator makes of them."""

import math
from collections.abc import Mapping
from typing import NamedTuple

# relative error of a time constant from which a step is too coarse: Euler's with ten steps in one
LARGEST_ERROR = 0.055


class TimeConstant(NamedTuple):
    """Time constant of a part of the dynamics.

    Attributes:
        exact_s: that of the model.
        simulated_s: that of the steps of its integrator; infinite if it is not stable, 0 if all is
            done in one step.
        least_rate_hz: physics rate from which the two differ by ``LARGEST_ERROR`` at most.
    """

    exact_s: float
    simulated_s: float
    least_rate_hz: float

    @property
    def error(self) -> float:
        """Relative error of the simulated time constant."""
        return abs(self.simulated_s / self.exact_s - 1.0)

    def warning(self, part: str, rate_hz: float) -> str | None:
        """Return a warning about a physics rate that is too low for it; None without one."""
        if self.error <= LARGEST_ERROR:
            return None
        simulated = f"as {1e3 * self.simulated_s:.3g} ms" if self.simulated_s else "as one step"
        return (
            f"steps of {1e3 / rate_hz:.3g} ms are coarse for {part}, whose time constant of "
            f"{1e3 * self.exact_s:.3g} ms they simulate {simulated}; write time.rate_hz: "
            f"{math.ceil(self.least_rate_hz)} or more"
        )


def coarse_steps(constants: Mapping[str, TimeConstant], rate_hz: float) -> tuple[str, ...]:
    """Return warnings about physics steps that are too large for a vehicle's time constants."""
    warnings = (constant.warning(part, rate_hz) for part, constant in constants.items())
    return tuple(text for text in warnings if text)
