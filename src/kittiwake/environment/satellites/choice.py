"""What all constellations need of a scenario: which satellites it wants, and seen from where."""

from collections.abc import Sequence

from kittiwake.geometry.geodesy import Geodetic, LocalFrame, tangent_plane
from kittiwake.world.world import Origin


def chosen(
    numbers: Sequence[int] | None, available: tuple[int, ...], of_what: str
) -> tuple[int, ...]:
    """The numbers asked for, all that there are if none were.

    Raises:
        ValueError: for one that is not there, for one that is given twice, and for none.
    """
    if numbers is None:
        return available
    if not numbers:
        message = "numbers: [] leaves no satellite; write some, or leave numbers out for all"
        raise ValueError(message)
    missing = [number for number in numbers if number not in available]
    if missing:
        message = (
            f"numbers: {of_what} has no satellite {', '.join(map(str, missing))}; allowed: "
            f"{', '.join(map(str, available))}"
        )
        raise ValueError(message)
    again = [number for i, number in enumerate(numbers) if number in numbers[:i]]
    if again:
        message = f"numbers: {again[0]} is given twice; write each satellite once"
        raise ValueError(message)
    return tuple(numbers)


def frame_at(origin: Origin) -> LocalFrame:
    """The world's axes on the Earth."""
    return tangent_plane(
        Geodetic(float(origin.latitude_rad), float(origin.longitude_rad), float(origin.altitude_m))
    )
