"""What a hub has taken, answered and refused."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kittiwake.adapters.hub.packets import Reason


@dataclass
class Counters:
    """Since a hub has begun.

    Each frame is taken or refused once, so that ``frames`` is ``taken`` and ``refused_frames``
    together.

    Attributes:
        connections: opened, whoever they were.
        frames: that have come, also those that were too long or cut off.
        taken: of these, packets that were in order.
        refused_frames: of these, all others.
        set_points: answers with something to do.
        idle: answers without.
        joined: members, each time.
        left: members that said so.
        lost: members whose connection ended otherwise.
        batches: times that all set points were computed.
        refused: frames and connections, by reason.
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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        own = {name: value for name, value in vars(self).items() if name != "refused"}
        ordered = sorted(self.refused.items(), key=lambda item: item[0].value)
        return {**own, "refused": {reason.value: count for reason, count in ordered}}
