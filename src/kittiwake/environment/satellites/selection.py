"""Selection of satellites, and the local frame of the world's origin."""

from collections.abc import Sequence

from kittiwake.geometry.geodesy import Geodetic, LocalFrame, tangent_plane
from kittiwake.world.world import Origin


def select_satellites(
    numbers: Sequence[int] | None, available: tuple[int, ...], source: str
) -> tuple[int, ...]:
    """Return the requested numbers, or all available ones if None.

    Raises:
        ValueError: for an unavailable number, a duplicate, and an empty list.
    """
    if numbers is None:
        return available
    if not numbers:
        message = "numbers: got []; write at least one, or omit numbers for all"
        raise ValueError(message)
    missing = [number for number in numbers if number not in available]
    if missing:
        message = (
            f"numbers: {source} has no satellite {', '.join(map(str, missing))}; allowed: "
            f"{', '.join(map(str, available))}"
        )
        raise ValueError(message)
    duplicates = [number for i, number in enumerate(numbers) if number in numbers[:i]]
    if duplicates:
        message = f"numbers: got {duplicates[0]} twice; write each satellite once"
        raise ValueError(message)
    return tuple(numbers)


def frame_at(origin: Origin) -> LocalFrame:
    """Return the world's axes on the Earth."""
    return tangent_plane(
        Geodetic(float(origin.latitude_rad), float(origin.longitude_rad), float(origin.altitude_m))
    )
