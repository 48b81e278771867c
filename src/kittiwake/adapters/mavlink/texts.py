"""Texts of a system that people read at its clients."""

import re
import time
from collections.abc import Callable
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message

# bytes of a text message, and how many texts in parts are distinguished
TEXT_BYTES, MAX_TEXTS = 50, 65535
# time in which texts that differ only in their numbers are sent once
QUIET_S = 5.0
NUMBER = re.compile(r"(?<![\w.])[-+]?(\d[\d.]*(e[-+]?\d+)?|nan|inf)(?![\w])")


class TextMessages:
    """Builder of text messages; long texts come in parts.

    Args:
        dialect: the messages of MAVLink.
        clock: the time in seconds.
    """

    def __init__(self, dialect: ModuleType, clock: Callable[[], float] = time.monotonic) -> None:
        self._d, self._clock = dialect, clock
        # number of the last text that came in parts
        self._number = 0
        self._sent_s: dict[str, float] = {}

    def information(self, words: str) -> list[Message]:
        """Return a text about something that was done."""
        return self._messages(words, self._d.MAV_SEVERITY_INFO)

    def warning(self, words: str) -> list[Message]:
        """Return a text about something that was not done."""
        return self._messages(words, self._d.MAV_SEVERITY_WARNING)

    def repeated_warning(self, words: str) -> list[Message]:
        """Return a warning that may recur at a high rate; none within ``QUIET_S`` of the last."""
        now_s, kind = self._clock(), NUMBER.sub("#", words)
        recent = {key: at for key, at in self._sent_s.items() if now_s - at < QUIET_S}
        known = kind in recent
        self._sent_s = recent if known else {**recent, kind: now_s}
        return [] if known else self.warning(words)

    def _messages(self, words: str, severity: int) -> list[Message]:
        text = words.encode("ascii", "replace")
        parts = [text[start : start + TEXT_BYTES] for start in range(0, len(text), TEXT_BYTES)]
        if len(parts) == 1:
            return [self._d.MAVLink_statustext_message(severity, text)]
        # a whole message ends with a part that is not full
        if len(parts[-1]) == TEXT_BYTES:
            parts.append(b"")
        self._number = self._number % MAX_TEXTS + 1
        return [
            self._d.MAVLink_statustext_message(severity, part, self._number, number)
            for number, part in enumerate(parts)
        ]
