"""The Pelican's model driven with the sticks of real flights, against what was measured in them.

The limits are those of QRSim's own test of its model, the figures those that QRSim itself reaches.
Each measured row is compared with the model after the step that its sticks drive.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.analysis.reproduction.reference_tables import FOLDER
from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario

DATA = FOLDER / "qrsim"
DT_S = 0.02
ALOFT = Vec3(0.0, 0.0, 500.0)

THRUST_LIMIT, THRUST_FIGURE = 1.0, 0.982
MEASURED = ("phi_rad", "theta_rad", "psi_rad", "p_radps", "q_radps", "r_radps")
ROTATION_LIMITS = np.array([0.001, 0.001, 0.02, 0.03, 0.02, 0.03])
ROTATION_FIGURES = np.array([0.00066, 0.00084, 0.01755, 0.02478, 0.01872, 0.02867])


def log(name):
    return np.genfromtxt(DATA / f"flightlog_{name}.csv.gz", delimiter=",", names=True)


@pytest.fixture(scope="module")
def pelican():
    """The dynamics and surroundings of the calm and noise-free scenario."""
    with jax.enable_x64(True):
        scenario = load_scenario("pelican-playback")
        around = scenario.world.surroundings(Start(ALOFT).kinematics(), Vec3.zero())
        return scenario.vehicles["pelican"].dynamics, around


def driven(pelican, state, *sticks):
    """The mechanical states at the end of each row's step; sticks hold during it."""
    dynamics, around = pelican

    def step(state, row):
        later = dynamics.step(state, AttitudeThrottle(*row), around, DT_S, jax.random.key(0))
        return later, later.mechanical_state

    state = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), state)
    rows = np.column_stack(np.broadcast_arrays(*sticks))
    return jax.jit(lambda s, rows: jax.lax.scan(step, s, rows)[1])(state, rows)


def test_thrust_follows_throttle_and_battery_as_measured_in_flight(pelican):
    flight = log("thrust")
    measured = flight["thrust_measured_n"]
    dynamics, around = pelican
    start = dynamics.init(Start(ALOFT).kinematics(), around)
    start = eqx.tree_at(lambda s: s.mechanical_state.velocities.thrust_n, start, float(measured[0]))
    throttle = flight["throttle_raw"] / 4097.0
    flown = driven(pelican, start, 0.0, 0.0, throttle, 0.0, flight["battery_v"])
    error = float(np.mean((flown.velocities.thrust_n - measured) ** 2))
    assert error < THRUST_LIMIT
    assert error == pytest.approx(THRUST_FIGURE, abs=5e-4), "half of the figure's last digit"


def test_attitude_follows_the_sticks_as_measured_in_flight(pelican):
    flight = log("rotation")
    measured = np.column_stack([flight[name] for name in MEASURED])
    # the log is FRD in NED
    phi, theta, psi, p, q, r = measured[0].tolist()
    start = Start(
        ALOFT,
        roll_rad=phi,
        pitch_rad=-theta,
        yaw_rad=np.pi / 2.0 - psi,
        angular_velocity_body_radps=Vec3(p, -q, -r),
    )
    dynamics, around = pelican
    flown = driven(
        pelican,
        dynamics.init(start.kinematics(), around),
        flight["u_pitch_raw"] * np.radians(0.025),
        flight["u_roll_raw"] * -np.radians(0.025),
        0.615,
        flight["u_yaw_raw"] * np.radians(254.760 / 2047.0),
        11.0,
    )
    euler = flown.configuration.euler_world_from_body
    omega = flown.velocities.angular_velocity_body_radps
    modeled = np.column_stack(
        [
            *(euler.roll_rad, -euler.pitch_rad, np.pi / 2.0 - euler.yaw_rad),
            *(omega.x, -omega.y, -omega.z),
        ]
    )
    errors = np.mean((modeled - measured) ** 2, axis=0)
    assert (errors < ROTATION_LIMITS).all(), errors
    # half of the figures' last digit
    np.testing.assert_allclose(errors, ROTATION_FIGURES, rtol=0, atol=5e-6)
