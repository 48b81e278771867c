"""Steady states: of all library vehicles, in wind and under way, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import hexacopter
from tests.selection import slow_besides

import kittiwake as kw
from kittiwake.analysis.trim import assemble, surroundings
from kittiwake.core.errors import ScenarioError, TrimError
from kittiwake.interfaces.continuous import ContinuousState
from kittiwake.vehicles import VEHICLES

MODELS = sorted(VEHICLES.names())
# of different dynamics
QUICK = ("angle-velocity", "crazyflie", "otter", "pelican")
each_model = pytest.mark.parametrize("model", slow_besides(QUICK, MODELS))
VESSELS = {"otter", "strider"}
SLOW = kw.vehicles.angle_velocity(max_speed_mps=10.0)
KEY = jax.random.key(0)
WINDY = {"wind": [2.0, -1.0, 0.0]}


@pytest.mark.slow
@each_model
def test_every_vehicle_has_a_steady_state_at_rest(model):
    point = kw.trim(model)
    assert max(map(abs, point.residual.values())) < 1e-9
    assert point.start.velocity_world_mps == kw.Vec3(0.0, 0.0, 0.0)
    assert point.start.position_world_m.z == pytest.approx(0.0 if model in VESSELS else 10.0)


@pytest.mark.slow
@each_model
def test_every_vehicle_has_a_steady_state_under_way_in_wind(model):
    point = kw.trim(model, kw.World(**WINDY), velocity_world_mps=(1.2, 0.4, 0.0))
    assert max(map(abs, point.residual.values())) < 1e-9
    bounds = point.dynamics.command_bounds
    limited = point.dynamics.limit_command(point.command)
    assert bounds or model not in VESSELS
    for given, within in zip(jax.tree.leaves(point.command), jax.tree.leaves(limited), strict=True):
        assert float(within) == pytest.approx(given, abs=1e-9)


@pytest.mark.slow
@each_model
def test_a_step_integrates_the_rates(model):
    """A step of 1e-5 s changes the motion by the rates, but for terms of its own order."""
    at = (0.8, 0.3, 0.0)
    still = kw.vehicles.pelican(linear_noise_mps2=0.0, angular_noise_radps2=0.0)
    point = kw.trim(still if model == "pelican" else model)
    dynamics, dt_s = point.dynamics, 1e-5
    with jax.enable_x64(True):
        begun = kw.Start(
            point.start.position_world_m,
            *((0.0, 0.0) if model in VESSELS else (0.05, -0.1)),
            yaw_rad=0.4,
            velocity_world_mps=kw.Vec3(*at),
            angular_velocity_body_radps=kw.Vec3(0.0, 0.0, 0.2),
        ).kinematics()
        steady = dynamics.steady_actuators(point.command)
        around = surroundings(point.world, dynamics, ContinuousState(begun, steady))
        state = dynamics.init(begun, around)
        measured = dynamics.actuators(state)
        actuators = {name: measured[name] for name in steady}
        rates = dynamics.rates(ContinuousState(begun, actuators), point.command, around)
        later = jax.jit(
            lambda s: dynamics.kinematics(dynamics.step(s, point.command, around, dt_s, KEY))
        )(jax.tree.map(jnp.asarray, state))
    gained = (later.velocity_body_mps.array - begun.velocity_body_mps.array) / dt_s
    np.testing.assert_allclose(gained, rates.velocity_rate_body_mps2.array, rtol=2e-3, atol=2e-3)
    turn = begun.q_world_from_body.inverse() * later.q_world_from_body
    np.testing.assert_allclose(
        2.0 * turn.vector.array / dt_s, rates.turning_body_radps.array, rtol=2e-3, atol=2e-3
    )
    if "angular_velocity_z_body_radps" in dynamics.body_states:
        omega, before = later.angular_velocity_body_radps, begun.angular_velocity_body_radps
        gained = (omega.array - before.array) / dt_s
        expected = rates.angular_acceleration_body_radps2.array
        np.testing.assert_allclose(gained, expected, rtol=2e-3, atol=2e-2)


@pytest.mark.slow
def test_drag_is_balanced_by_tilt():
    """Mass times gravity times the tangent of the tilt is the drag of the Hummingbird's rotors."""
    point = kw.trim("hummingbird", velocity_world_mps=(3.0, 0.0, 0.0))
    tilt = np.tan(point.start.pitch_rad)
    assert 0.05 < tilt < 0.3
    turned = kw.trim("hummingbird", velocity_world_mps=(0.0, 3.0, 0.0), yaw_rad=np.pi / 2)
    assert turned.start.pitch_rad == pytest.approx(point.start.pitch_rad, abs=1e-9)


@pytest.mark.slow
def test_hover_in_wind_is_flight_in_still_air():
    hover = kw.trim("hummingbird", kw.World(wind=[-2.0, 0.0, 0.0]))
    flight = kw.trim("hummingbird", velocity_world_mps=(2.0, 0.0, 0.0))
    assert hover.start.pitch_rad == pytest.approx(flight.start.pitch_rad, abs=1e-12)


def test_strider_needs_the_thrust_of_its_air_drag():
    """Table 2 of Velasco et al. (2020): the drag is 0.1 u |u|, the only resistance in surge."""
    point = kw.trim("strider", velocity_world_mps=(0.0, 2.0, 0.0))
    assert point.command.thrust_n == pytest.approx(0.4, abs=1e-9)
    assert point.start.yaw_rad == pytest.approx(np.pi / 2)


@pytest.mark.slow
def test_otter_with_payload_sinks_until_it_floats():
    light = kw.trim("otter", velocity_world_mps=(1.0, 0.0, 0.0))
    loaded = kw.trim(
        kw.vehicles.otter(payload_kg=25.0, payload_body_m=[0.05, 0.0, -0.35]),
        velocity_world_mps=(1.0, 0.0, 0.0),
    )
    assert loaded.start.position_world_m.z < light.start.position_world_m.z - 0.01


@pytest.mark.slow
def test_six_rotors_share_the_weight_equally():
    with hexacopter.registered():
        point = kw.trim("hexacopter")
        speeds = kw.trim("hexacopter", velocity_world_mps=(2.0, 0.0, 0.0)).command.speeds_radps
    np.testing.assert_allclose(point.command.speeds_radps, point.command.speeds_radps[0])
    assert len(speeds) == 6


@pytest.mark.slow
def test_a_flight_from_trim_stays_there():
    point = kw.trim("pelican", kw.World(**WINDY), position_world_m=(0.0, 0.0, 20.0))
    scenario = kw.Scenario(
        kw.World(**WINDY),
        {
            "p": kw.Vehicle(
                dynamics=kw.vehicles.pelican(linear_noise_mps2=0.0, angular_noise_radps2=0.0),
                start=point.start,
            )
        },
        rate_hz=100.0,
        duration_s=2.0,
    )
    simulation = kw.Simulation(scenario)
    simulation.reset()
    for _ in range(100):
        simulation.step({"p": point.command})
    # the init assumes the thrust of a level hover, which lasts one step
    moved = simulation.observe()["p"].truth.position_world_m - kw.Vec3(0.0, 0.0, 20.0)
    assert float(moved.norm()) < 1e-3


@pytest.mark.slow
def test_parameters_and_scenario_vehicles_are_accepted():
    heavy = kw.trim(kw.vehicles.hummingbird(mass_kg=0.6))
    light = kw.trim(kw.Vehicle(model="hummingbird", sensors={"gnss": "gnss"}))
    assert heavy.command.speeds_radps[0] > light.command.speeds_radps[0]
    scenario = kw.Scenario.load("hover-hummingbird")
    (vehicle,) = scenario.vehicles.values()
    assert kw.trim(vehicle, scenario.world).command.speeds_radps == light.command.speeds_radps


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vehicle": "hummingbird", "velocity_world_mps": (40.0, 0.0, 0.0)}, "Remaining|requires"),
        ({"vehicle": "strider", "velocity_world_mps": (6.0, 0.0, 0.0)}, "`thrust_n` of 3.6"),
        ({"vehicle": "pelican", "velocity_world_mps": (0.0, 0.0, 14.0)}, "remains|Remaining"),
        ({"vehicle": "pelican", "velocity_world_mps": (15.3, 0.0, 0.0)}, "Remaining"),
        ({"vehicle": SLOW, "velocity_world_mps": (12.0, 0.0, 0.0)}, "limits, speed_mps = 12"),
        ({"vehicle": "strider", "velocity_world_mps": (1.0, 0.0, 1.0)}, "stays on the water"),
        ({"vehicle": "hummingbird", "position_world_m": (0.0, 0.0, 0.0)}, "touches nothing"),
    ],
)
def test_a_case_without_equilibrium_is_refused(arguments, words):
    with pytest.raises(TrimError, match=words):
        kw.trim(**arguments)


def test_waves_are_refused_for_a_vessel():
    with pytest.raises(TrimError, match="waves"):
        kw.trim("otter", kw.World(waves={"type": "regular", "height_m": 0.2, "period_s": 4.0}))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vehicle": "hummingbirb"}, "^`vehicle`: there is no vehicle 'hummingbirb'"),
        ({"vehicle": kw.vehicles.hummingbird(mass_kg=-1)}, "^`vehicle`: mass_kg: -1 is not"),
        ({"vehicle": "pelican", "velocity_world_mps": 3}, "got 3; must be three finite numbers"),
        ({"vehicle": "pelican", "speed": 3}, "trim has no parameter `speed`. Allowed: "),
        ({"vehicle": "pelican", "velocity_world_mps": (1.0, 2.0)}, "three finite numbers"),
        ({"vehicle": "pelican", "position_world_m": (0.0, 0.0, np.nan)}, "three finite numbers"),
    ],
)
def test_invalid_input_is_named(arguments, words):
    with pytest.raises(ScenarioError, match=words):
        kw.trim(**arguments)


@pytest.mark.slow
def test_an_object_that_is_no_vehicle_is_named():
    with pytest.raises(ScenarioError, match="must be the name of a model"):
        assemble(3, None)
