"""Vehicles that are rigid bodies: with four rotors, or with thrust and torque as asked for.

Each is one data file: its ``[parameters]`` are those of the dynamics, its ``[attitude]`` the gains
of the attitude controller that the vehicle brings along.
"""

from pathlib import Path

from kittiwake.control.acceleration import Acceleration
from kittiwake.control.attitude import Attitude
from kittiwake.control.mixer import Mixer, allocation
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.geometry.scalar import Real
from kittiwake.physics.multirotor import Multirotor
from kittiwake.physics.wrench_body import WrenchBody
from kittiwake.vehicles.model import VehicleModel

# a body without rotors takes any thrust
UNLIMITED_N = 1e9
DATA = Path(__file__).with_name("data")


def multirotor(data: Path) -> VehicleModel:
    """The four-rotor vehicle that a data file describes."""

    def bridges(dynamics: AbstractDynamics, gravity_mps2: Real) -> tuple[AbstractController, ...]:
        assert isinstance(dynamics, Multirotor)
        rotor = dynamics.rotor
        _, fastest = rotor.speed_range_radps
        mixer = Mixer(
            thrusts_from_wrench=allocation(
                dynamics.hubs_body_m,
                dynamics.spins,
                rotor.torque_factor_nms2 / rotor.thrust_factor_ns2,
            ),
            thrust_ns2=rotor.thrust_factor_ns2,
            max_speed_radps=fastest,
        )
        strongest_n = len(dynamics.spins) * rotor.thrust_factor_ns2 * fastest**2
        return (*_to_torque(model, dynamics, strongest_n, gravity_mps2), mixer)

    model = VehicleModel(Multirotor, data, bridges, default_controller="position")
    return model


def wrench_body(data: Path) -> VehicleModel:
    """The body that a data file describes."""

    def bridges(dynamics: AbstractDynamics, gravity_mps2: Real) -> tuple[AbstractController, ...]:
        assert isinstance(dynamics, WrenchBody)
        return _to_torque(model, dynamics, UNLIMITED_N, gravity_mps2)

    model = VehicleModel(WrenchBody, data, bridges, default_controller="position")
    return model


def _to_torque(
    model: VehicleModel,
    dynamics: Multirotor | WrenchBody,
    max_thrust_n: Real,
    gravity_mps2: Real,
) -> tuple[Acceleration, Attitude]:
    gains = model.section("attitude")
    acceleration = Acceleration(
        mass_kg=dynamics.mass_kg, max_thrust_n=max_thrust_n, gravity_mps2=gravity_mps2
    )
    return acceleration, Attitude(dynamics.inertia_kgm2, **gains)


AR_DRONE = multirotor(DATA / "ar-drone.toml")
CRAZYFLIE = multirotor(DATA / "crazyflie.toml")
HUMMINGBIRD = multirotor(DATA / "hummingbird.toml")
OS4 = multirotor(DATA / "os4.toml")
UAV_GAZEBO = wrench_body(DATA / "uav-gazebo.toml")
RIGID_BODY = wrench_body(DATA / "rigid-body.toml")
