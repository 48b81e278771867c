"""Controls of pages: disabling, and validation of values from browsers, which viser does not do."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

from viser import GuiButtonGroupHandle

MAX_CHARACTERS = 10_000
# control of viser, and a value from a browser; both of any type
ControlHandle: TypeAlias = Any
ControlValue: TypeAlias = Any
# tolerance for rounding in browsers, relative to a slider's range
ROUNDING = 1e-6


def is_allowed(control: ControlHandle, updates: Mapping[str, ControlValue]) -> bool:
    """Return True if an update sets only the value of a control, and to an allowed one."""
    if set(updates) != {"value"}:
        return False
    value, now = updates["value"], control.value
    options = getattr(control, "options", None)
    if options is not None:
        return isinstance(value, str) and value in options
    match now:
        case bool():
            return isinstance(value, bool)
        case int() | float():
            return _is_between(value, getattr(control, "min", None), getattr(control, "max", None))
        case tuple():
            return (
                isinstance(value, list | tuple)
                and len(value) == len(now)
                and all(map(_is_number, value))
            )
        case str():
            return isinstance(value, str) and len(value) <= MAX_CHARACTERS
        case _:
            return False


def enable_controls(container: ControlHandle, *, enabled: bool) -> None:
    """Enable or disable all controls in a tab or folder; button groups are hidden instead."""
    for control in [*container._children.values()]:
        if hasattr(control, "_children"):
            enable_controls(control, enabled=enabled)
        elif isinstance(control, GuiButtonGroupHandle):
            if control.visible != enabled:
                control.visible = enabled
        elif getattr(control, "disabled", enabled) == enabled:
            control.disabled = not enabled


def _is_number(value: ControlValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_between(value: ControlValue, low: float | None, high: float | None) -> bool:
    if not _is_number(value):
        return False
    tolerance = 0.0 if low is None or high is None else ROUNDING * (high - low)
    return (low is None or value >= low - tolerance) and (high is None or value <= high + tolerance)
