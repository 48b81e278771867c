"""Ultrasonic sensors that take turns, so that none hears another's echo.

Five sensors lie in two partitions; those of one disturb each other least, so that at most two of
the same partition are active at once. A scheme is a round of slots, each with the sensors that are
active in it, and the number of slots a second: slot k lasts from k / f to (k + 1) / f.

Source: the Matlab drone simulator of R. Coronel. It rounds the length of a slot to milliseconds, 63
ms at 16 Hz; here it is exact.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from kittiwake.core.errors import did_you_mean

SENSORS = ("front", "bottom", "left", "right", "back")
PARTITIONS = (("front", "bottom"), ("left", "right", "back"))
MOST_AT_ONCE = 2

Slot: TypeAlias = tuple[str, ...]


class Scheme(NamedTuple):
    """A round of slots, and how many there are a second."""

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
# of a scheme of one's own that does not say: that of those with two sensors at once
OWN_SLOT_RATE_HZ = 6.0


def refuse_slots(slots: Sequence[Sequence[str]]) -> None:
    """Refuses slots in which sensors disturb each other, or that nobody could keep.

    Raises:
        ValueError: with each such slot, by its number from 0, and what is allowed.
    """
    if not slots:
        message = "slots: there are none; write a list of slots, such as [[front, bottom], [left]]"
        raise ValueError(message)
    problems = [
        f"slots[{number}]: {problem}"
        for number, slot in enumerate(slots)
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
        return f"nobody is active; write one or two of {', '.join(known)}"
    written = f"[{', '.join(slot)}]"
    if len(set(slot)) < len(slot):
        return f"{written} names a sensor twice; write it once"
    if len(slot) > MOST_AT_ONCE:
        return f"{written} are more than {MOST_AT_ONCE} at once; write more slots"
    if not any(set(slot) <= set(partition) for partition in PARTITIONS):
        allowed = " or of ".join(", ".join(partition) for partition in PARTITIONS)
        return f"{written} are of two partitions; write two of {allowed}"
    return None
