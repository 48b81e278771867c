"""Contact by the vehicles' own feet, which ``feet`` and ``stance`` describe."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from kittiwake.contact.engine import AbstractPhysics


class Compliant(AbstractPhysics):
    """No engine: a vehicle stands on its feet by its own model, and what it hits else loses it."""

    @override
    def engine(self, world: Any, vehicles: Mapping[str, Any]) -> None:
        del world, vehicles
