"""Changes to a scenario that several tasks know under the same name."""

from typing import Any


def windy(speed_at_6m_mps: float, from_deg: float) -> dict[str, Any]:
    """Wind that grows with height, and the gusts that come with it."""
    return {
        "world.wind": {
            "type": "shear",
            "speed_at_6m_mps": speed_at_6m_mps,
            "from_deg": from_deg,
        },
        "world.turbulence": {"type": "dryden", "speed_at_6m_mps": speed_at_6m_mps},
    }
