"""Outcome of a run in words."""

from collections.abc import Mapping
from typing import Any

# reasons of flights that a user has ended, which are no failures of the vehicles
STOPPED = "stopped by the user"
LEFT = "left for the start page"


def outcome_text(summary: Mapping[str, Any]) -> str:
    """Return status and reason of a summary, whose values may be of any kind; empty if unknown."""
    status, reason = (str(summary.get(key) or "") for key in ("status", "reason"))
    # a reason such as "gull: diverged: ..." contains the status
    if status in reason or reason.startswith((STOPPED, LEFT)):
        return reason
    return f"{status}: {reason}" if reason else status
