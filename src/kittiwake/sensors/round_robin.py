"""Round-robin schemes of ultrasonic sensors, so that none receives another's echo.

Five sensors are in two partitions; those of one partition disturb each other least, so at most two
of the same partition are active at once. A scheme is a round of slots, each with the sensors that
are active in it, and the number of slots per second: slot k lasts from k / f to (k + 1) / f.

Source: the Matlab drone simulator of R. Coronel. It rounds the length of a slot to milliseconds, 63
ms at 16 Hz; here it is exact.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from kittiwake.core.errors import did_you_mean

SENSORS = ("front", "bottom", "left", "right", "back")
PARTITIONS = (("front", "bottom"), ("left", "right", "back"))
MAX_AT_ONCE = 2

Slot: TypeAlias = tuple[str, ...]


class Scheme(NamedTuple):
    """Round of slots, and the number of slots per second."""

    slots: tuple[Slot, ...]
    slot_rate_hz: float


SchemeName = Literal[
    "front",
    "right",
    "left",
    "back",
    "all-1",
    "front-1",
    "front-only",
    "bottom-only",
    "left-only",
    "right-only",
    "back-only",
]

_FB: Slot = ("front", "bottom")
_LR: Slot = ("left", "right")
_LB: Slot = ("left", "back")
_RB: Slot = ("right", "back")

SCHEMES: dict[SchemeName, Scheme] = {
    "front": Scheme((_FB, _LR, _FB, _LB, _FB, _LR, _FB, _RB), 6.0),
    "right": Scheme((_LR, _FB, _RB, _FB), 6.0),
    "left": Scheme((_LR, _FB, _LB, _FB), 6.0),
    "back": Scheme((_LR, _RB, _FB, _LB), 6.0),
    "all-1": Scheme((("front",), ("right",), ("back",), ("left",), ("bottom",)), 1.5),
    "front-1": Scheme((("left",), ("front",), ("right",)), 2.5),
    "front-only": Scheme((("front",),), 16.0),
    "bottom-only": Scheme((("bottom",),), 16.0),
    "left-only": Scheme((("left",),), 16.0),
    "right-only": Scheme((("right",),), 16.0),
    "back-only": Scheme((("back",),), 16.0),
}
# default of user-defined slots: the rate of the schemes with two sensors at once
DEFAULT_SLOT_RATE_HZ = 6.0


def validate_slots(slots: Sequence[Sequence[str]]) -> None:
    """Raise ValueError for slots in which sensors disturb each other, and for invalid slots.

    Raises:
        ValueError: names each such slot by its index, and the allowed values.
    """
    if not slots:
        message = "slots: is empty; write a list of slots, such as [[front, bottom], [left]]"
        raise ValueError(message)
    problems = [
        f"slots[{index}]: {problem}"
        for index, slot in enumerate(slots)
        if (problem := _problem(slot))
    ]
    if problems:
        raise ValueError("; ".join(problems))


def _problem(slot: Sequence[str]) -> str | None:
    known: list[str] = list(SENSORS)
    for name in slot:
        if name not in known:
            return f"there is no sensor '{name}'. {did_you_mean(name, known)}"
    if not slot:
        return f"is empty; write one or two of {', '.join(known)}"
    written = f"[{', '.join(slot)}]"
    if len(set(slot)) < len(slot):
        return f"got {written}, which names a sensor twice; write it once"
    if len(slot) > MAX_AT_ONCE:
        return f"got {written}, more than {MAX_AT_ONCE} at once; write more slots"
    if not any(set(slot) <= set(partition) for partition in PARTITIONS):
        allowed = " or of ".join(", ".join(partition) for partition in PARTITIONS)
        return f"got {written} of two partitions; write two of {allowed}"
    return None
