"""Wind conditions that several tasks share."""

from kittiwake.tasks.task import Overrides


def wind_and_gusts(speed_at_6m_mps: float, from_deg: float) -> Overrides:
    """Return the changes for a wind that grows with height, with the matching gusts."""
    return {
        "world.wind": {
            "type": "shear",
            "speed_at_6m_mps": speed_at_6m_mps,
            "from_deg": from_deg,
        },
        "world.turbulence": {"type": "dryden", "speed_at_6m_mps": speed_at_6m_mps},
    }
