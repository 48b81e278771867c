"""What is bolted to what: a vehicle as a record of its components."""

import equinox as eqx

from kittiwake.core.component import Scheduled
from kittiwake.core.kinematics import Start
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.interfaces.instrument import Instrument
from kittiwake.world.environment import AbstractTurbulence


class Vehicle(eqx.Module):
    """Everything about one vehicle that does not evolve.

    ``ladder`` holds the scenario's controllers first, then those that the vehicle brings itself.
    What is asked for on a rung goes through the ``avoidance`` of that rung, in order.
    """

    model: str = eqx.field(static=True)
    dynamics: AbstractDynamics
    start: Start
    turbulence: Scheduled[AbstractTurbulence]
    sensors: dict[str, Scheduled[Instrument]]
    estimator: Scheduled[AbstractEstimator]
    guidance: Scheduled[AbstractGuidance]
    cascade: tuple[Scheduled[AbstractController], ...]
    avoidance: tuple[Scheduled[AbstractAvoidance], ...] = ()
    faults: tuple[AbstractFault, ...] = ()
