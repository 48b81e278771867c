"""Wind conditions that several tasks share."""

from typing import Any


def wind_and_gusts(speed_at_6m_mps: float, from_deg: float) -> dict[str, Any]:
    """Return the changes for a wind that grows with height, with the matching gusts."""
    return {
        "world.wind": {
            "type": "shear",
            "speed_at_6m_mps": speed_at_6m_mps,
            "from_deg": from_deg,
        },
        "world.turbulence": {"type": "dryden", "speed_at_6m_mps": speed_at_6m_mps},
    }
