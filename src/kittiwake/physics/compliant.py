"""Compliant contact by each vehicle's own landing gear; see ``landing_gear``."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from kittiwake.contact.engine import AbstractPhysics


class Compliant(AbstractPhysics):
    """Contact by each vehicle's own model, without an engine; other contact is a collision."""

    @override
    def engine(self, world: Any, vehicles: Mapping[str, Any]) -> None:
        del world, vehicles
