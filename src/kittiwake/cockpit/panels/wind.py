"""Sliders for the numbers of a world's winds, each under the path that a scenario gives it."""

from collections.abc import Callable, Iterator
from math import degrees
from typing import Any, NamedTuple

import viser

from kittiwake.environment.prescribed_winds import (
    AbstractDirectedWind,
    CosineGust,
    RecordedWind,
    SinusoidalWind,
    StepWind,
)
from kittiwake.environment.wind import Calm, ShearWind
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.problems import Plain
from kittiwake.world.environment import AbstractWind, SumOfWinds

MOST_MPS, MOST_SCALE, LONGEST_S = 15.0, 3.0, 60.0
AXES = ("east", "north", "up")
# of calm air, in which the slider of a shear raises a wind
CALM_SHEAR = ShearWind(0.0, 0.0)

Change = Callable[[str, str], None]


class Scale(NamedTuple):
    """One number: what it is called, from where to where it goes, and what it is now."""

    label: str
    low: float
    high: float
    step: float
    value: float


class WindControl(NamedTuple):
    """The scales that together give what stands under a path, and how their values are written."""

    path: str
    scales: tuple[Scale, ...]
    written: Callable[[list[float]], str]


def add_wind_sliders(
    gui: viser.GuiApi,
    wind: AbstractWind,
    entry: Plain,
    by_hand: Callable[..., Any],
    change: Change,
) -> None:
    """Sliders that ask for a change of ``world.wind``, which a scenario gives as ``entry``."""
    for knob in wind_controls(wind, entry):
        sliders = [gui.add_slider(*_ordered(scale)) for scale in knob.scales]

        def turned(_: Any, knob: WindControl = knob, sliders: list[Any] = sliders) -> None:
            change(knob.path, knob.written([float(slider.value) for slider in sliders]))

        for slider in sliders:
            slider.on_update(by_hand(turned))


def wind_controls(
    wind: AbstractWind, entry: Plain, path: str = "world.wind"
) -> Iterator[WindControl]:
    """Those of a wind at a path, and of all winds of a sum."""
    match wind:
        case SumOfWinds():
            for number, part in enumerate(wind.winds):
                for knob in wind_controls(part, entry[number], f"{path}.{number}"):
                    numbered = (
                        scale._replace(label=f"wind {number + 1}: {scale.label}")
                        for scale in knob.scales
                    )
                    yield knob._replace(scales=tuple(numbered))
        case ShearWind() | Calm():
            yield _shear(CALM_SHEAR if isinstance(wind, Calm) else wind, path)
        case AbstractDirectedWind():
            yield from _velocity(wind, entry, path)
            yield from _course(wind, path)
        case RecordedWind():
            scale = _scale("scale", float(wind.scale), MOST_SCALE, 0.05)
            yield WindControl(f"{path}.scale", (scale,), _one)
        case _:  # one of another package
            return


def _shear(wind: ShearWind, path: str) -> WindControl:
    speed = _scale("speed at 6 m [m/s]", float(wind.speed_at_6m_mps), MOST_MPS)

    def written(values: list[float]) -> str:
        return f"{{type: shear, speed_at_6m_mps: {values[0]}, from_deg: {values[1]}}}"

    return WindControl(path, (speed, _from(float(wind.from_rad))), written)


def _velocity(wind: AbstractDirectedWind, entry: Plain, path: str) -> Iterator[WindControl]:
    if isinstance(wind.wind_world_mps, Vec3):
        values = map(float, wind.wind_world_mps.array)
        scales = (
            Scale(f"{axis} [m/s]", -most, most, 0.1, value)
            for axis, value in zip(AXES, values, strict=True)
            for most in [max(MOST_MPS, abs(value))]
        )
        short = isinstance(entry, list)
        yield WindControl(path if short else f"{path}.wind_world_mps", tuple(scales), str)
        return
    assert wind.speed_mps is not None
    assert wind.from_rad is not None
    speed = _scale("wind speed [m/s]", float(wind.speed_mps), MOST_MPS)
    yield WindControl(f"{path}.speed_mps", (speed,), _one)
    yield WindControl(f"{path}.from_deg", (_from(float(wind.from_rad)),), _one)


def _course(wind: AbstractDirectedWind, path: str) -> Iterator[WindControl]:
    """How it goes on in time."""
    if isinstance(wind, StepWind | CosineGust):
        yield _time("start", "start_s", float(wind.start_s), path)
    if isinstance(wind, CosineGust):
        yield _time("rise", "rise_s", float(wind.rise_s), path, least=0.1)
        if wind.hold_s is not None:
            yield _time("hold", "hold_s", float(wind.hold_s), path)
    if isinstance(wind, SinusoidalWind):
        yield _time("period", "period_s", float(wind.period_s), path, least=0.1)
        angle = degrees(float(wind.phase_rad)) % 360.0
        yield WindControl(
            f"{path}.phase_deg", (Scale("phase [deg]", 0.0, 360.0, 1.0, angle),), _one
        )


def _time(label: str, key: str, value: float, path: str, least: float = 0.0) -> WindControl:
    scale = Scale(f"{label} [s]", min(least, value), max(LONGEST_S, 2.0 * value), 0.1, value)
    return WindControl(f"{path}.{key}", (scale,), _one)


def _scale(label: str, value: float, most: float, step: float = 0.1) -> Scale:
    return Scale(label, min(0.0, value), max(most, value), step, value)


def _from(angle_rad: float) -> Scale:
    return Scale("from [deg]", 0.0, 360.0, 1.0, degrees(angle_rad) % 360.0)


def _one(values: list[float]) -> str:
    return f"{values[0]}"


def _ordered(scale: Scale) -> tuple[str, float, float, float, float]:
    """As the page's sliders take it."""
    return scale.label, scale.low, scale.high, scale.step, scale.value
