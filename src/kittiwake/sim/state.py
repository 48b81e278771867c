"""States of vehicles and fleets, and the snapshot of a step that is logged."""

from jaxtyping import PRNGKeyArray

from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.commands import Command, CommandChoice
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import StateReport
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.interfaces.estimator import Uncertainty
from kittiwake.interfaces.instrument import Sample
from kittiwake.pytree import Module, field, replace_unchecked
from kittiwake.sim.schedule import ScheduledState
from kittiwake.world.surroundings import Surroundings


class VehicleState(Module):
    """State of one vehicle at a tick; in a group every leaf has a leading vehicle axis.

    Attributes:
        dynamics: the state of the equations of motion and the actuators.
        turbulence: the state of the gusts at the vehicle.
        sensors: the state of each instrument, by name.
        estimator: the state of the estimator.
        guidance: the state of the guidance.
        cascade: the state of each controller.
        avoidance: the state of each avoidance.
        status: 0 while the vehicle is valid, else the 1-based index of the first violated limit in
            ``vehicle_step.limits``; from then on the dynamics are frozen.
        streams: the random key of each component, by stream name.
        broadcast: the report sent to other vehicles at the previous tick; None without a radio.
        under_way: the actuator commands that have not taken effect, along a leading axis and oldest
            first; None without a computation delay.
    """

    dynamics: ArrayTree
    turbulence: ScheduledState
    sensors: dict[str, ScheduledState]
    estimator: ScheduledState
    guidance: ScheduledState
    cascade: tuple[ScheduledState, ...]
    avoidance: tuple[ScheduledState, ...]
    status: Integer
    streams: dict[str, PRNGKeyArray]
    broadcast: StateReport | None = None
    under_way: Command | None = None


class FleetState(Module):
    """State of a simulation at a tick.

    Attributes:
        tick: the number of the physics step.
        began: the tick at which this simulation began; a reset inside a batch keeps the clock.
        groups: the states of the vehicles, group by group.
        processes: the state of each process of the world, by name.
        streams: the random key of each process of the world, by name.
        radio: the state of the radio; None in a world without one.
        commander: the state of the commander; None without one.
        additions: the tick at which vehicles were added in flight, by addition.
    """

    tick: Integer
    began: Integer
    groups: tuple[VehicleState, ...]
    processes: dict[str, ScheduledState]
    streams: dict[str, PRNGKeyArray]
    radio: ScheduledState | None = None
    commander: ArrayTree = None
    additions: dict[str, Integer] = field(default_factory=dict)

    def with_group(self, index: int, group: VehicleState) -> "FleetState":
        """Return the state with another state of the vehicles of a group."""
        return replace_unchecked(
            self, groups=(*self.groups[:index], group, *self.groups[index + 1 :])
        )


class Snapshot(Module):
    """Everything that is logged of one vehicle at a tick: truth, estimate, setpoint, command."""

    truth: Kinematics
    surroundings: Surroundings
    samples: dict[str, Sample]
    estimate: Kinematics
    uncertainty: Uncertainty | None
    setpoint: Command | CommandChoice
    command: Command
    actuators: dict[str, Real]
    ground_contact: GroundContact | None
    faults: Integer | None
    waypoints_reached: Integer
    phase: Integer | None
    finished: Flag | None
    status: Integer
