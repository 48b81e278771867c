"""How much a hub takes from one connection, and for how long it waits."""

from dataclasses import dataclass, replace

# so many reports between two steps of the hub are nothing out of the way
FRAMES_A_STEP = 2.0
# where no clock runs, a member may have to compile first, or is looked at in a debugger
LOCKSTEP_SILENCE_S = 30.0


@dataclass(frozen=True)
class Limits:
    """Of one port and its connection.

    Attributes:
        frames_hz: frames a second, for as long as one likes.
        burst: frames at once after a pause.
        handshake_s: from the opening of a connection to its ``Connection``.
        silence_s: without a frame that is accepted; in lockstep, from one that flies along, without
            an update.
        strangers: connections to all ports that have not said who they are, beyond one for each.
        unread_bytes: answers that a member has not taken.
        farewell_s: for the last answer to go out before a connection is cut.
    """

    frames_hz: float = 200.0
    burst: float = 200.0
    handshake_s: float = 2.0
    silence_s: float = 2.0
    strangers: int = 128
    unread_bytes: int = 65536
    farewell_s: float = 1.0

    @classmethod
    def usual(cls, rate_hz: float, silence_s: float | None = None, *, lockstep: bool) -> "Limits":
        """Those of a hub of this rate, by the clock or in lockstep; another patience if given."""
        usual_s = LOCKSTEP_SILENCE_S if lockstep else cls.silence_s
        return replace(
            cls(),
            frames_hz=max(cls.frames_hz, FRAMES_A_STEP * rate_hz),
            burst=max(cls.burst, FRAMES_A_STEP * rate_hz),
            silence_s=usual_s if silence_s is None else silence_s,
        )


class Bucket:
    """Tokens that drip in at a rate, up to a burst; each frame takes one."""

    def __init__(self, rate_hz: float, burst: float, now_s: float) -> None:
        self._rate_hz, self._burst = rate_hz, burst
        self._left, self._at_s = burst, now_s

    def take(self, now_s: float) -> bool:
        """Whether there was one left."""
        dripped = (now_s - self._at_s) * self._rate_hz
        self._left, self._at_s = min(self._burst, self._left + dripped), now_s
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def give_back(self) -> None:
        """One frame that is not to count."""
        self._left += 1.0
