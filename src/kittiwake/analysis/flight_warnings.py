"""Warnings of a summary: what a flight shows that its results may hide.

The thresholds are chosen so that a practitioner would look into each warning; all numbers are in
the summary, whatever they are.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kittiwake.analysis.consistency import DEVIATIONS, Overconfidence
from kittiwake.analysis.saturation import Actuators
from kittiwake.analysis.sensor_gaps import FlownSensor, SensorGaps
from kittiwake.analysis.time_spans import TimeSpans


class SaturationLimits(NamedTuple):
    """Limits of the time that an actuator may be at a limit of its command.

    Attributes:
        share: largest share of the logged time; less than ``time_s`` in all never counts.
        time_s: longest time without interruption.
    """

    share: float
    time_s: float

    def is_exceeded(self, spans: TimeSpans) -> bool:
        """Return True if an actuator was saturated for too long."""
        if spans.longest_s >= self.time_s:
            return True
        return spans.total_s >= self.time_s and spans.share > self.share


# limits of saturation of aircraft, whose rotors keep them in the air, and of vessels, which use
# their full thrust to accelerate and their full rudder to turn
IN_AIR = SaturationLimits(share=0.05, time_s=0.5)
AFLOAT = SaturationLimits(share=0.25, time_s=10.0)
# time without a sample, in periods of the sensor and in all
GAP_PERIODS, LEAST_GAP_S = 5.0, 0.2
# share of lost samples
LOST_SHARE = 0.1
# time for which an estimate may be wrong beyond its covariance
OVERCONFIDENT_S = 1.0
# share of missed deadlines of a flight in real time
MISSED_SHARE = 0.01


def saturation_warning(found: Mapping[str, TimeSpans], actuators: Actuators) -> str | None:
    """Return a warning about the actuators of a vehicle that were at their limits; None if few."""
    limit = AFLOAT if actuators.of_vessel else IN_AIR
    texts = [
        f"{name} for {spans.share:.0%} of the time, {spans.longest_s:.3g} s at a stretch from "
        f"{spans.longest_from_s:.4g} s on"
        for name, spans in found.items()
        if limit.is_exceeded(spans)
    ]
    if not texts:
        return None
    low, high = next(iter(actuators.limits.values()))
    alike = all(limits == (low, high) for limits in actuators.limits.values())
    bounds = f" ({low:.4g} to {high:.4g})" if alike else ""
    return (
        f"commands were at their limits{bounds}: {'; '.join(texts)}. Demand less of the vehicle, "
        "such as slower maneuvers or lower gains, or give it stronger actuators"
    )


def sensor_warnings(
    found: Mapping[str, SensorGaps], sensors: Mapping[str, FlownSensor]
) -> Iterator[str]:
    """Yield warnings about the sensors of a vehicle whose samples were missing."""
    for name, gaps in found.items():
        own = sensors[name]
        longest_s = max(GAP_PERIODS * own.period_s, LEAST_GAP_S)
        if gaps.samples == 0:
            yield f"sensor {name} delivered no sample; see its errors, its rate and its log"
        elif gaps.longest_gap_s > longest_s:
            yield (
                f"sensor {name} delivered no sample for {gaps.longest_gap_s:.3g} s from "
                f"{gaps.gap_from_s:.4g} s on; its period is {own.period_s:.3g} s"
            )
        elif gaps.lost_share is not None and gaps.lost_share > LOST_SHARE:
            yield f"sensor {name} lost {gaps.lost_share:.0%} of its samples"
        if own.always_valid and gaps.samples and (gaps.longest_invalid_s or 0.0) > longest_s:
            yield (
                f"sensor {name} had no fix for {gaps.longest_invalid_s:.3g} s; "
                f"{gaps.invalid_share:.0%} of its samples are invalid"
            )


def estimate_warning(found: Overconfidence | None) -> str | None:
    """Return a warning about an estimate that does not know how wrong it is; None if it does."""
    if found is None or found.spans.longest_s < OVERCONFIDENT_S:
        return None
    return (
        f"the estimated position was up to {found.position_max_m:,.1f} m off, more than "
        f"{DEVIATIONS:g} of its standard deviations for {found.spans.longest_s:.3g} s from "
        f"{found.spans.longest_from_s:.4g} s on. See the sensors, the noise that the estimator "
        "assumes for them, and what the vehicle touched"
    )


def overturning_warning(turned_over_s: float) -> str:
    """Return a warning about a vehicle that lay on its back."""
    return f"turned over at {turned_over_s:.4g} s; see what it touched, and how fast"


def deadline_warning(deadlines: Mapping[str, float | int | None]) -> str | None:
    """Return a warning about a flight that did not keep up with real time; None if it did."""
    count, missed = deadlines["deadlines"] or 0, deadlines["missed_deadlines"] or 0
    if missed <= MISSED_SHARE * count:
        return None
    return (
        f"{missed} of {count} blocks missed their deadlines in real time; fly at a lower --speed "
        "or time.rate_hz, or free the processor"
    )
