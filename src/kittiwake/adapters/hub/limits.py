"""Limits of a hub for one connection: frame rate, timeouts and buffer sizes."""

from dataclasses import dataclass, replace

# reports between two steps of the hub that count as ordinary use
FRAMES_PER_STEP = 2.0
# in lockstep a member may have to compile first, or may be stopped in a debugger
LOCKSTEP_SILENCE_S = 30.0


@dataclass(frozen=True)
class Limits:
    """Limits of one port and its connection.

    Attributes:
        frames_hz: sustained number of frames per second.
        burst: number of frames at once after a pause.
        handshake_s: time from the opening of a connection to its ``Connection`` packet.
        silence_s: time without an accepted frame; in lockstep, for an active member, time without
            an accepted update.
        pending_connections: unidentified connections to all ports, in addition to one per vehicle.
        waiting_changes: changes of the vehicles that have been requested and not been made.
        unread_bytes: size of the answers that a member has not read.
        farewell_s: time for the last answer to be sent before a connection is aborted.
    """

    frames_hz: float = 200.0
    burst: float = 200.0
    handshake_s: float = 2.0
    silence_s: float = 2.0
    pending_connections: int = 128
    waiting_changes: int = 16
    unread_bytes: int = 65536
    farewell_s: float = 1.0

    @classmethod
    def usual(cls, rate_hz: float, silence_s: float | None = None, *, lockstep: bool) -> "Limits":
        """Return the default limits for a rate; ``silence_s`` overrides one of them."""
        usual_s = LOCKSTEP_SILENCE_S if lockstep else cls.silence_s
        return replace(
            cls(),
            frames_hz=max(cls.frames_hz, FRAMES_PER_STEP * rate_hz),
            burst=max(cls.burst, FRAMES_PER_STEP * rate_hz),
            silence_s=usual_s if silence_s is None else silence_s,
        )


class TokenBucket:
    """Rate limiter: tokens accumulate at a rate up to a burst, and each frame takes one."""

    def __init__(self, rate_hz: float, burst: float, now_s: float) -> None:
        self._rate_hz, self._burst = rate_hz, burst
        self._tokens, self._updated_s = burst, now_s

    def take(self, now_s: float) -> bool:
        """Take a token; return False if there is none."""
        added = (now_s - self._updated_s) * self._rate_hz
        self._tokens, self._updated_s = min(self._burst, self._tokens + added), now_s
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def give_back(self) -> None:
        """Return a token, for a frame that does not count."""
        self._tokens += 1.0
