"""A vehicle: dynamics, sensors, estimator, guidance and controllers."""

from kittiwake.core.component import Scheduled
from kittiwake.core.kinematics import Start
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.interfaces.instrument import Instrument
from kittiwake.pytree import Module, field
from kittiwake.world.environment import AbstractTurbulence


class AssembledVehicle(Module):
    """All parameters of one vehicle, immutable; the evolving part is ``sim.state.VehicleState``.

    Attributes:
        model: the name of the vehicle model.
        dynamics: the equations of motion, with the actuators.
        start: the initial conditions.
        turbulence: the gusts at the vehicle.
        sensors: the instruments, by name.
        estimator: maps measurements to an estimate of the motion.
        guidance: gives the setpoint.
        cascade: the controllers: first those of the scenario, then those of the vehicle model.
        avoidance: modify the commands of their command type, in this order.
        faults: the actuator faults, sorted by time.
        delay_steps: the physics steps from the computation of a command until it takes effect.
    """

    model: str = field(static=True)
    dynamics: AbstractDynamics
    start: Start
    turbulence: Scheduled[AbstractTurbulence]
    sensors: dict[str, Scheduled[Instrument]]
    estimator: Scheduled[AbstractEstimator]
    guidance: Scheduled[AbstractGuidance]
    cascade: tuple[Scheduled[AbstractController], ...]
    avoidance: tuple[Scheduled[AbstractAvoidance], ...] = ()
    faults: tuple[AbstractFault, ...] = ()
    delay_steps: int = field(static=True, default=0)

    @property
    def on_host(self) -> bool:
        """True if a component of the vehicle runs on the host."""
        parts = (self.estimator, self.guidance, *self.cascade)
        sensors = [part.component.sensor for part in self.sensors.values()]
        return any(one.on_host for one in (*sensors, *(part.component for part in parts)))
