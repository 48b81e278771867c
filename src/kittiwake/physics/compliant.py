"""Compliant contact by each vehicle's own landing gear; see ``landing_gear``."""

from collections.abc import Mapping

from typing_extensions import override

from kittiwake.contact.engine import AbstractPhysics
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.world.world import WorldModel


class Compliant(AbstractPhysics):
    """Contact by each vehicle's own model, without an engine; other contact is a collision."""

    @override
    def engine(self, world: WorldModel, vehicles: Mapping[str, AssembledVehicle]) -> None:
        del world, vehicles
