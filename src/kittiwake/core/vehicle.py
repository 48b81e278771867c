"""What is bolted to what: a vehicle as a record of its components."""

from typing import Generic, TypeVar

import equinox as eqx

from kittiwake.core.component import AbstractComponent
from kittiwake.core.controller import AbstractController
from kittiwake.core.dynamics import AbstractDynamics, AbstractFault
from kittiwake.core.environment import AbstractTurbulence
from kittiwake.core.estimator import AbstractEstimator
from kittiwake.core.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.core.instrument import Instrument
from kittiwake.core.kinematics import Start

C = TypeVar("C", bound=AbstractComponent)


class Scheduled(eqx.Module, Generic[C]):
    """A component and how often it runs: at every ``every``-th physics step; it holds between."""

    component: C
    every: int = eqx.field(static=True, default=1)


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
    ladder: tuple[Scheduled[AbstractController], ...]
    avoidance: tuple[Scheduled[AbstractAvoidance], ...] = ()
    faults: tuple[AbstractFault, ...] = ()
