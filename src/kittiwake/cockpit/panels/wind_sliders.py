"""Sliders for the parameters of the winds of a world, by scenario path."""

from collections.abc import Callable, Iterator
from math import degrees
from typing import NamedTuple, TypeAlias

import viser

from kittiwake.cockpit.panel_context import ControlEvent
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

MAX_MPS, MAX_SCALE, MAX_TIME_S = 15.0, 3.0, 60.0
AXES = ("east", "north", "up")
# initial parameters of the shear sliders in calm air
CALM_SHEAR = ShearWind(0.0, 0.0)

Change = Callable[[str, str], None]


class Scale(NamedTuple):
    """Label, range, step and current value of a number."""

    label: str
    low: float
    high: float
    step: float
    value: float


Sliders: TypeAlias = list[viser.GuiSliderHandle[float]]


class WindControl(NamedTuple):
    """Sliders of a scenario path, and the function from their values to its YAML text."""

    path: str
    scales: tuple[Scale, ...]
    to_yaml: Callable[[list[float]], str]


def add_wind_sliders(
    gui: viser.GuiApi,
    wind: AbstractWind,
    entry: Plain,
    user_action: Callable[[Callable[[ControlEvent], None]], Callable[[ControlEvent], None]],
    change: Change,
) -> None:
    """Add sliders that change ``world.wind``, whose scenario entry is ``entry``."""
    for control in wind_controls(wind, entry):
        sliders = [gui.add_slider(*_slider_arguments(scale)) for scale in control.scales]

        def on_update(
            _: ControlEvent, control: WindControl = control, sliders: Sliders = sliders
        ) -> None:
            change(control.path, control.to_yaml([float(slider.value) for slider in sliders]))

        for slider in sliders:
            slider.on_update(user_action(on_update))


def wind_controls(
    wind: AbstractWind, entry: Plain, path: str = "world.wind"
) -> Iterator[WindControl]:
    """Yield the controls of a wind at a path; of a sum, those of all its winds."""
    match wind:
        case SumOfWinds():
            for number, part in enumerate(wind.winds):
                for control in wind_controls(part, entry[number], f"{path}.{number}"):
                    numbered = (
                        scale._replace(label=f"wind {number + 1}: {scale.label}")
                        for scale in control.scales
                    )
                    yield control._replace(scales=tuple(numbered))
        case ShearWind() | Calm():
            yield _shear(CALM_SHEAR if isinstance(wind, Calm) else wind, path)
        case AbstractDirectedWind():
            yield from _velocity(wind, entry, path)
            yield from _time_history(wind, path)
        case RecordedWind():
            scale = _scale("scale", float(wind.scale), MAX_SCALE, 0.05)
            yield WindControl(f"{path}.scale", (scale,), _single)
        case _:  # wind of another package
            return


def _shear(wind: ShearWind, path: str) -> WindControl:
    speed = _scale("speed at 6 m [m/s]", float(wind.speed_at_6m_mps), MAX_MPS)

    def to_yaml(values: list[float]) -> str:
        return f"{{type: shear, speed_at_6m_mps: {values[0]}, from_deg: {values[1]}}}"

    return WindControl(path, (speed, _from(float(wind.from_rad))), to_yaml)


def _velocity(wind: AbstractDirectedWind, entry: Plain, path: str) -> Iterator[WindControl]:
    if isinstance(wind.wind_world_mps, Vec3):
        values = map(float, wind.wind_world_mps.array)
        scales = (
            Scale(f"{axis} [m/s]", -high, high, 0.1, value)
            for axis, value in zip(AXES, values, strict=True)
            for high in [max(MAX_MPS, abs(value))]
        )
        if isinstance(entry, list):
            yield WindControl(path, tuple(scales), "{{type: constant, wind_world_mps: {}}}".format)
        else:
            yield WindControl(f"{path}.wind_world_mps", tuple(scales), str)
        return
    assert wind.speed_mps is not None
    assert wind.from_rad is not None
    speed = _scale("wind speed [m/s]", float(wind.speed_mps), MAX_MPS)
    yield WindControl(f"{path}.speed_mps", (speed,), _single)
    yield WindControl(f"{path}.from_deg", (_from(float(wind.from_rad)),), _single)


def _time_history(wind: AbstractDirectedWind, path: str) -> Iterator[WindControl]:
    """Yield the controls of the time history of a wind."""
    if isinstance(wind, StepWind | CosineGust):
        yield _time("start", "start_s", float(wind.start_s), path)
    if isinstance(wind, CosineGust):
        yield _time("rise", "rise_s", float(wind.rise_s), path, low=0.1)
        if wind.hold_s is not None:
            yield _time("hold", "hold_s", float(wind.hold_s), path)
    if isinstance(wind, SinusoidalWind):
        yield _time("period", "period_s", float(wind.period_s), path, low=0.1)
        angle = degrees(float(wind.phase_rad)) % 360.0
        yield WindControl(
            f"{path}.phase_deg", (Scale("phase [deg]", 0.0, 360.0, 1.0, angle),), _single
        )


def _time(label: str, key: str, value: float, path: str, low: float = 0.0) -> WindControl:
    scale = Scale(f"{label} [s]", min(low, value), max(MAX_TIME_S, 2.0 * value), 0.1, value)
    return WindControl(f"{path}.{key}", (scale,), _single)


def _scale(label: str, value: float, high: float, step: float = 0.1) -> Scale:
    return Scale(label, min(0.0, value), max(high, value), step, value)


def _from(angle_rad: float) -> Scale:
    return Scale("from [deg]", 0.0, 360.0, 1.0, degrees(angle_rad) % 360.0)


def _single(values: list[float]) -> str:
    return f"{values[0]}"


def _slider_arguments(scale: Scale) -> tuple[str, float, float, float, float]:
    """Return the arguments of ``add_slider``."""
    return scale.label, scale.low, scale.high, scale.step, scale.value
