"""Counters of accepted, answered and refused frames of a hub."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kittiwake.adapters.hub.packets import Reason
from kittiwake.runtime.deadlines import Deadlines


@dataclass
class Counters:
    """Counters since the start of a hub.

    Each frame is either accepted or refused, so ``frames`` is the sum of ``taken`` and
    ``refused_frames``.

    Attributes:
        connections: opened connections of any kind.
        frames: received frames, including those that were too long or incomplete.
        taken: accepted frames among them.
        refused_frames: refused frames among them.
        set_points: answers with a set point.
        idle: answers without one.
        joined: members that joined, counted each time.
        left: members that sent ``leave``.
        lost: members whose connection ended otherwise.
        batches: computations of all set points.
        refused: refused frames and connections, by reason.
        deadlines: how late the steps in real time began.
    """

    connections: int = 0
    frames: int = 0
    taken: int = 0
    refused_frames: int = 0
    set_points: int = 0
    idle: int = 0
    joined: int = 0
    left: int = 0
    lost: int = 0
    batches: int = 0
    refused: Counter[Reason] = field(default_factory=Counter[Reason])
    deadlines: Deadlines = field(default_factory=Deadlines)

    def as_dict(self) -> dict[str, Any]:
        """Return the counters as a dictionary that can be written as JSON."""
        own = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        ordered = sorted(self.refused.items(), key=lambda item: item[0].value)
        late = self.deadlines.as_dict()
        return {**own, **late, "refused": {reason.value: count for reason, count in ordered}}
