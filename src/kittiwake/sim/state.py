"""What evolves in a simulation, and what one step shows to the outside."""

from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray

from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import StateReport
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.interfaces.estimator import Uncertainty
from kittiwake.interfaces.instrument import Sample
from kittiwake.sim.schedule import Held
from kittiwake.world.surroundings import Surroundings


class VehicleState(eqx.Module):
    """One vehicle at a tick; in a fleet every leaf has a leading axis over the group's vehicles.

    ``status`` is 0 while the vehicle is valid, else the 1-based place of the first violated
    quantity in the group's ``quantities``; from then on its dynamics stand still. ``told`` is what
    it told others at the tick before; None in a world without a radio.
    """

    dynamics: Any
    turbulence: Held
    sensors: dict[str, Held]
    estimator: Held
    guidance: Held
    cascade: tuple[Held, ...]
    avoidance: tuple[Held, ...]
    status: Count
    streams: dict[str, PRNGKeyArray]
    broadcast: StateReport | None = None


class FleetState(eqx.Module):
    """A whole simulation at a tick; ``processes``, ``streams`` and ``radio`` are the world's.

    It began at the tick ``began`` of the clock that it shares with whatever is stepped beside it.
    ``commander`` is what its commander remembers, where it has one.
    """

    tick: Count
    began: Count
    groups: tuple[VehicleState, ...]
    processes: dict[str, Held]
    streams: dict[str, PRNGKeyArray]
    radio: Held | None = None
    commander: Any = None


class Snapshot(eqx.Module):
    """What one vehicle was, saw and did at a tick."""

    truth: Kinematics
    surroundings: Surroundings
    samples: dict[str, Sample]
    estimate: Kinematics
    uncertainty: Uncertainty | None
    setpoint: Any
    command: Any
    actuators: dict[str, Real]
    ground_contact: GroundContact | None
    faults: Count | None
    legs: Count
    phase: Count | None
    finished: Flag | None
    status: Count
