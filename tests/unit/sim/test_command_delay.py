"""Commands take effect a computation delay after the measurement they were computed from."""

from math import pi, sin
from typing import Annotated, Any, ClassVar

import jax
import numpy as np
import pytest
from tests.selection import slow_besides

import kittiwake as kw
from kittiwake.core.columns import to_columns
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.runtime.vector_env_engines import batch_engine
from kittiwake.scenario.load import load_scenario
from kittiwake.vehicles import VEHICLES

RATE_HZ = 100.0
GRAVITY_MPS2 = 9.81
# small, so that the thrust remains positive
SPEED_MPS = 1e-3
DELAY = "vehicles.{}.computation_delay_s"


class VerticalDamper(kw.AbstractController):
    """Thrust against the vertical velocity, without a torque."""

    consumes: ClassVar[type] = kw.PositionYaw
    produces: ClassVar[type] = kw.ThrustTorque

    gain_per_s: Annotated[float, kw.bounds.POSITIVE] = 1.0

    def step(self, state: Any, inputs: Any, dt_s: Any, key: Any) -> tuple[Any, kw.ThrustTorque]:
        del dt_s, key
        speed_mps = inputs[1].velocity_world_mps.z
        # of the drone of uav_gazebo, which weighs 1 kg
        return state, kw.ThrustTorque(GRAVITY_MPS2 - self.gain_per_s * speed_mps, kw.Vec3.zero())


def damped(gain_per_s, delay_s=0.0, duration_s=8.0, **vehicle):
    """Return a rising drone whose vertical velocity is an integrator with a proportional loop."""
    drone = kw.Vehicle(
        model="uav-gazebo",
        start={"position_world_m": [0, 0, 100], "velocity_world_mps": [0, 0, SPEED_MPS]},
        controllers=VerticalDamper(gain_per_s),
        computation_delay_s=delay_s,
        **vehicle,
    )
    world = kw.World(gravity_mps2=GRAVITY_MPS2)
    return kw.Scenario(world, {"d": drone}, rate_hz=RATE_HZ, duration_s=duration_s)


def speeds(log):
    return log.tables["d"].part(("vz_mps",))[:, 0]


def commands(log, name):
    table = log.tables[name]
    return table.part([column for column in table.columns if column.startswith("cmd_")])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["simd", "xla"])
def test_a_delayed_loop_is_the_difference_equation_of_its_delay(engine):
    gain_per_s, steps = 5.0, 7
    log = kw.Simulation(damped(gain_per_s, steps / RATE_HZ, 2.0), engine=engine).run()
    expected = [SPEED_MPS]
    for k in range(len(speeds(log)) - 1):
        # the commands under way at the start carry the weight
        before = expected[k - steps] if k >= steps else 0.0
        expected.append(expected[k] - gain_per_s / RATE_HZ * before)
    # rounding of some hundred steps
    np.testing.assert_allclose(speeds(log), expected, atol=1e-12)


def largest_gain_per_s(steps):
    """Return the gain at which the loop with a delay of so many steps oscillates.

    The roots of z^(n+1) - z^n + k dt reach the unit circle at k dt = 2 sin(pi / (4 n + 2)): the
    phase of the integrator and that of the delay, n + 1/2 steps, are pi together. For short steps
    this is a phase margin pi / 2 - k T of zero.
    """
    return 2.0 * RATE_HZ * sin(pi / (4 * steps + 2))


@pytest.mark.slow
@pytest.mark.parametrize("steps", [5, 20])
def test_a_delay_takes_the_phase_margin_that_theory_says(steps):
    limit = largest_gain_per_s(steps)
    # with a margin of half a step the limit of continuous time
    assert limit * (steps + 0.5) / RATE_HZ == pytest.approx(pi / 2, rel=0.01)
    # ten periods of the oscillation
    flown_s = round(20.0 * pi / limit, 2)
    growth = {}
    for share in (0.9, 1.1):
        delayed = damped(share * limit, steps / RATE_HZ, flown_s)
        moved = np.abs(speeds(kw.Simulation(delayed).run()))
        half = len(moved) // 2
        growth[share] = moved[half:].max() / moved[:half].max()
    assert growth[0.9] < 0.5
    assert growth[1.1] > 2.0
    # the same gain without a delay
    undelayed = np.abs(speeds(kw.Simulation(damped(1.1 * limit, 0.0, flown_s)).run()))
    assert undelayed[len(undelayed) // 2 :].max() < 1e-6 * SPEED_MPS


@pytest.mark.slow
def test_poles_of_a_linear_model_have_the_delay():
    gain_per_s, steps = 5.0, 4
    model = kw.linearize(damped(gain_per_s, steps / RATE_HZ, 0.2))
    poles = np.linalg.eigvals(model.A)
    for root in np.roots([1.0, -1.0, *[0.0] * (steps - 1), gain_per_s / RATE_HZ]):
        assert np.abs(poles - root).min() < 1e-6


@pytest.mark.parametrize(("delay_s", "steps"), [(0.01, 1), (0.02, 2), (0.0101, 2), (0.0001, 1)])
def test_a_delay_is_rounded_up_to_whole_steps(delay_s, steps):
    assert damped(1.0, delay_s).vehicles["d"].delay_steps == steps


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hummingbird", "pelican"])
def test_the_first_commands_take_effect_after_the_delay(name):
    rate_hz, steps = load_scenario(f"hover-{name}").rate_hz, 6
    given = {"time.duration_s": 0.2, "time.log_rate_hz": rate_hz}
    own = kw.Scenario.load(f"hover-{name}", given)
    given[DELAY.format(name)] = (steps - 0.5) / rate_hz
    late = kw.Scenario.load(f"hover-{name}", given)
    at_once, delayed = (commands(kw.Simulation(one).run(), name) for one in (own, late))
    # later ones differ, as the motion does
    np.testing.assert_array_equal(delayed[steps], at_once[0])
    assert (delayed[:steps] == delayed[0]).all()
    assert not (delayed[0] == at_once[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", slow_besides(("angle-velocity", "otter", "crazyflie"), VEHICLES.names())
)
def test_initial_commands_keep_the_actuators(name):
    scenario = kw.Scenario(
        None,
        {"v": kw.Vehicle(model=name, start=_start(name), computation_delay_s=0.04)},
        rate_hz=500,
        duration_s=0.02,
    )
    fleet = scenario.fleet()
    state = fleet.init(seed_key(0))
    vehicle = fleet.groups[0].member(0)
    first = jax.tree.map(lambda leaf: leaf[0, 0], state.groups[0].under_way)
    command = to_columns(vehicle.dynamics.limit_command(first))
    assert all(
        float(number) == pytest.approx(float(to_columns(first)[column]))
        for column, number in command.items()
    )
    table = kw.Simulation(scenario).run().tables["v"]
    moved = [column for column in table.columns if column.startswith("act_rotor")]
    np.testing.assert_allclose(table.part(moved), table.part(moved)[:1].repeat(11, 0), rtol=1e-9)
    # a rotorcraft hovers meanwhile
    assert abs(table.part(("vz_mps",))[-1, 0]) < 1e-3


def _start(name):
    afloat = VEHICLES.find(name).dynamics.is_vessel
    return {} if afloat else {"position_world_m": [0, 0, 20]}


@pytest.mark.slow
@pytest.mark.parametrize("engine", slow_besides(["simd"], ["simd", "xla"]))
def test_worlds_of_a_batch_are_delayed_as_each_alone(engine):
    simulation = kw.Simulation(damped(3.0, 0.05, 1.0), engine=engine)
    rows = simulation.batch(20, seed=0).record(101)["d"]
    alone = speeds(simulation.run(seed=19))
    np.testing.assert_allclose(rows["vz_mps"][19], alone, rtol=1e-12)


@pytest.mark.slow
def test_environments_of_both_engines_are_delayed_through_resets():
    given = {DELAY.format("crazyflie"): 0.03}
    delayed = kw.make("hover", overrides=given)
    assert delayed.scenario.vehicles["crazyflie"].delay_steps > 1
    actions = np.random.default_rng(2).uniform(-1, 1, (120, 20, delayed.action_size))
    found = []
    for batch in [batch_engine(delayed, 20, name) for name in ("simd", "xla")]:
        batch.reset(seed_key(4), 1.0)
        found.append([batch.step(own) for own in actions.astype(np.float32)])
    assert sum(step.terminated.sum() for step in found[0]) > 20
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours.terminated, theirs.terminated)
        np.testing.assert_allclose(ours.observation, theirs.observation, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_a_sweep_compares_delays(tmp_path):
    path = DELAY.format("hummingbird")
    given = {"time.duration_s": 6, "time.log_rate_hz": 10}
    result = kw.sweep("hover-hummingbird", {path: [0.0, 0.15]}, overrides=given, out=tmp_path / "s")
    at_once, late = result.column("hummingbird.tracking_rms_m")
    assert at_once < late


@pytest.mark.slow
def test_a_recorded_motion_has_no_delay(tmp_path):
    file = tmp_path / "motion.csv"
    file.write_text("time_s,x_m,y_m,z_m,qw,qx,qy,qz\n0,0,0,1,1,0,0,0\n1,0,0,2,1,0,0,0\n")
    drone = kw.Vehicle(model="uav-gazebo", motion=str(file), computation_delay_s=0.1)
    with pytest.raises(ScenarioError, match="omit `computation_delay_s`"):
        kw.Scenario(None, {"d": drone}, duration_s=1)


@pytest.mark.parametrize(
    ("delay_s", "message"),
    [
        (-0.1, "computation_delay_s"),
        (10.5, "at most 10 s, which is 1000 physics steps at 100 Hz"),
        (float("inf"), "computation_delay_s"),
        (float("nan"), "computation_delay_s"),
        ("long", "computation_delay_s"),
    ],
)
def test_a_wrong_delay_is_refused(delay_s, message):
    with pytest.raises(ScenarioError, match=message):
        damped(1.0, delay_s)
