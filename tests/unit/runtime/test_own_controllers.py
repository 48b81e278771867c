"""Controllers in plain Python, and unregistered ones in JAX, fly like those of the package."""

from typing import ClassVar

import jax
import numpy as np
import pytest
from tests.selection import slow_besides
from tests.unit.runtime.numpy_lee import NumpyLee
from tests.unit.runtime.stepped_flight import SteppedFlight

import kittiwake as kw
from kittiwake.core.errors import OwnComponentError, ScenarioError
from kittiwake.runtime.maneuvers import HoldCommand

CURVE = {
    "type": "curve",
    "center_world_m": [0, 0, 2],
    "amplitude_world_m": [1, 1, 0.2],
    "angular_rates_radps": [1.2, 1.2, 2],
    "phases_deg": [90, 0, 0],
    "yaw_rate_radps": 0.5,
    "feed_forward": "jerk",
}
GOAL = {"type": "hold", "position_world_m": [1.1, 0.3, 2.3]}
START = {"position_world_m": [0.5, 0, 2], "yaw_deg": 20}


# the model that compiles fastest
MODEL = "angle-velocity"


def scenario(controllers, guidance=GOAL, duration_s=0.3, vehicle=None, model=MODEL, **others):
    own = {"start": START, "guidance": guidance, "controllers": controllers, **(vehicle or {})}
    vehicles = {"h": kw.Vehicle(model=model, **own)}
    return kw.Scenario(vehicles=vehicles, rate_hz=500, duration_s=duration_s, **others)


def step_often(simulation):
    for _ in range(100):
        simulation.step()


class Recorded:
    """A damped spring, which keeps the arguments of all its calls for tests."""

    calls: ClassVar[list] = []
    rate_hz = 100

    def __init__(self, gain=3.0):
        self.gain, self.count = gain, 0

    def update(self, t_s, setpoint, estimate):
        self.count += 1
        self.calls.append((t_s, self.count, estimate))
        error = setpoint.position_world_m - estimate.position_world_m
        return kw.AccelerationYaw(error * self.gain - 2.0 * estimate.velocity_world_mps, 0.0)


class Failing(Recorded):
    """A spring that fails on purpose after 0.1 s."""

    def update(self, t_s, setpoint, estimate):
        if t_s > 0.1:
            return self.wrong(t_s)
        return super().update(t_s, setpoint, estimate)

    def wrong(self, t_s):
        return 1.0 / (t_s - t_s)


@pytest.fixture(autouse=True)
def _no_calls():
    Recorded.calls.clear()


SPRING = Recorded()


@pytest.fixture(scope="module")
def spring():
    return kw.Simulation(scenario([SPRING]))


@pytest.mark.slow
def test_lees_controller_in_numpy_flies_as_the_one_in_jax():
    logs = [
        kw.Simulation(scenario([one], CURVE, 2.0, model="hummingbird")).run()
        for one in (NumpyLee(), kw.control.Lee())
    ]
    mine, lee = (log.frame("h") for log in logs)
    assert mine["x_m"].std() > 0.3
    columns = ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "wx_radps", "wz_radps"]
    np.testing.assert_allclose(mine[columns], lee[columns], atol=1e-6)


@pytest.mark.slow
def test_update_is_called_at_its_own_rate_with_the_time(spring):
    Recorded.calls.clear()
    log = spring.run()
    times = np.array([time_s for time_s, *_ in Recorded.calls])
    np.testing.assert_allclose(times, np.arange(len(times)) / 100, atol=1e-12)
    # a few steps beyond the end fill the last block
    assert 31 <= len(times) <= 32
    assert [count for _, count, _ in Recorded.calls] == [*range(1, len(times) + 1)]
    estimates = [estimate.position_world_m.x for *_, estimate in Recorded.calls]
    np.testing.assert_array_equal(estimates[:31], log.frame("h")["estimate.x_m"][::5])


@pytest.mark.slow
def test_flights_begin_anew_with_the_same_bits(spring):
    logs = [spring.run(seed=seed) for seed in (0, 1, 0)]
    assert logs[0].frame("h").equals(logs[2].frame("h"))
    assert Recorded.calls[0][1] == 1


@pytest.mark.slow
def test_steps_of_python_fly_as_a_run_and_observing_calls_nothing(spring):
    flown = spring.run().frame("h")
    Recorded.calls.clear()
    spring.reset()
    for _ in range(100):
        spring.step()
        seen = spring.observe()["h"]
    assert len(Recorded.calls) == 20
    assert seen.truth.position_world_m.x == pytest.approx(flown["x_m"][100], abs=1e-12)


@pytest.mark.slow
def test_a_command_below_the_controller_skips_it_and_it_begins_anew(spring):
    spring.reset()
    for tick in range(30):
        command = kw.AccelerationYaw(kw.Vec3(0.0, 0.0, 0.0), 0.0)
        spring.step({"h": command} if 10 <= tick < 20 else {})
    assert [count for _, count, _ in Recorded.calls] == [1, 2, 1, 2]


@pytest.mark.slow
def test_a_former_state_is_refused(spring):
    former = state = spring.init(kw.seed_key(0))
    for tick in range(16):
        state = spring.advance(state)
        former = state if tick == 4 else former
    with pytest.raises(Exception, match="that of another time or flight"):
        jax.block_until_ready(spring.advance(former))


@pytest.mark.slow
def test_a_flight_does_not_disturb_steps(spring):
    flown = spring.run().frame("h")
    spring.reset()
    for _ in range(11):
        spring.step()
    spring.run()
    for _ in range(100 - 11):
        spring.step()
    seen = spring.observe()["h"].truth.position_world_m.x
    assert seen == pytest.approx(flown["x_m"][100], abs=1e-12)


@pytest.mark.slow
def test_two_simulations_of_a_scenario_are_stepped_in_turn():
    shared = scenario([Recorded()])
    one, other = kw.Simulation(shared), kw.Simulation(shared)
    one.reset()
    for _ in range(6):
        one.step()
    other.reset()
    for _ in range(20):
        one.step()
        other.step()
    for _ in range(6):
        other.step()
    seen = [simulation.observe()["h"].truth.position_world_m.x for simulation in (one, other)]
    assert seen[0] == seen[1]
    assert [count for _, count, _ in Recorded.calls][-1] == 6


@pytest.mark.slow
def test_an_exception_ends_the_flight_with_its_place_and_what_was_flown():
    simulation = kw.Simulation(scenario([Failing()]))
    log = simulation.run()
    summary = log.summary
    assert summary["status"] == "failed"
    assert (
        "Failing of 'h' at 0.11 s: ZeroDivisionError: float division by zero" in summary["reason"]
    )
    assert "(test_own_controllers.py, line " in summary["reason"]
    assert log.frame("h")["time_s"].iloc[-1] == pytest.approx(0.11)
    assert np.isfinite(log.frame("h")["x_m"]).all()
    simulation.reset()
    with pytest.raises(OwnComponentError, match="Failing of 'h' at 0.11 s") as caught:
        step_often(simulation)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    # a later flight begins without it
    simulation.reset()
    simulation.step()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (3.0, "update returned a float; it must be an AccelerationYaw, as at the start"),
        (None, r"returned None; .*such as kw.AccelerationYaw\(acceleration_world_mps2"),
        (kw.AccelerationYaw(kw.Vec3(0.0, np.nan, 0.0), 0.0), "must be three finite numbers"),
        # as many numbers as in an AccelerationYaw
        (kw.ThrustTorque(1.0, kw.Vec3.zero()), "0.11 s: update returned a ThrustTorque; it must"),
    ],
)
def test_a_wrong_command_is_named(returned, message):
    class Wrong(Failing):
        def wrong(self, t_s):
            return returned

    simulation = kw.Simulation(scenario([Wrong()]))
    simulation.reset()
    with pytest.raises(OwnComponentError, match=message):
        step_often(simulation)


@pytest.mark.slow
def test_each_vehicle_has_a_controller_of_its_own():
    shared = Recorded()
    vehicles = {
        "a": kw.Vehicle(model="hummingbird", controllers=[shared], count=2, spacing_m=[2, 0, 0]),
        "b": kw.Vehicle(model="hummingbird", controllers=[shared], start=START),
    }
    flown = kw.Scenario(vehicles=vehicles, rate_hz=500, duration_s=0.1)
    Recorded.calls.clear()
    log = kw.Simulation(flown).run()
    counts = [count for _, count, _ in Recorded.calls]
    assert sorted(counts)[:6] == [1, 1, 1, 2, 2, 2]
    assert shared.count == 0
    assert log.summary["status"] == "completed"


@pytest.mark.slow
def test_single_precision_flies():
    simulation = kw.Simulation(scenario([Recorded()]), precision="float32")
    assert simulation.run().summary["status"] == "completed"


def test_numbers_reach_the_controller_in_double_precision(spring):
    spring.run()
    estimates = [estimate.position_world_m.x for *_, estimate in Recorded.calls]
    assert any(float(np.float32(number)) != number for number in estimates[2:])


def test_a_changed_attribute_counts_in_the_next_flight_of_the_same_program(spring, monkeypatch):
    program = spring.program
    first = spring.run().column("h", "x_m")
    monkeypatch.setattr(SPRING, "gain", 6.0)
    assert np.abs(spring.run().column("h", "x_m") - first).max() > 1e-3
    assert spring.program is program


@pytest.mark.slow
def test_batches_and_gradients_are_refused(spring):
    with jax.enable_x64(True):
        state = spring.init(kw.seed_key(0))
        states = jax.tree.map(lambda leaf: leaf[None], state)
        with pytest.raises(OwnComponentError, match="one world at a time, not a batch"):
            jax.vmap(spring.advance)(states)

        def height(lift):
            moved = jax.tree.map(
                lambda leaf: leaf + lift if leaf.dtype == np.float64 else leaf, state
            )
            return jax.tree.leaves(spring.advance(moved).groups[0].dynamics)[0].sum()

        with pytest.raises(OwnComponentError, match="no gradient passes"):
            jax.grad(height)(0.0)


@pytest.mark.slow
def test_the_vehicles_numbers_are_given_at_the_start():
    class Given(Recorded):
        seen: ClassVar[list] = []

        def reset(self, vehicle):
            self.seen.append(vehicle)

    kw.Simulation(scenario([Given()], duration_s=0.02, model="hummingbird")).run()
    vehicle = Given.seen[-1]
    assert vehicle.mass_kg == pytest.approx(0.5)
    assert vehicle.inertia_kgm2.matrix.shape == (3, 3)
    assert vehicle.gravity_mps2 == 9.81


@pytest.mark.slow
def test_declared_command_types_need_no_trial():
    class Declared(Recorded):
        consumes = kw.PositionYaw
        produces = kw.AccelerationYaw

    built = scenario([Declared()])
    assert not Recorded.calls
    assert kw.Simulation(built).run().summary["status"] == "completed"


def test_a_controller_after_another_takes_its_command():
    class Attitude:
        consumed: ClassVar[list] = []

        def update(self, t_s, setpoint, estimate):
            self.consumed.append(type(setpoint))
            q = estimate.q_world_from_body
            return kw.ThrustAttitude(0.5 * 9.81, q)

    built = scenario(["position", Attitude()])
    assert Attitude.consumed == [kw.AccelerationYaw]
    cascade = [type(level.component).__name__ for level in built.vehicles["h"].cascade]
    assert cascade[:2] == ["Position", "Attitude"]


@pytest.mark.slow
@pytest.mark.parametrize("declared", slow_besides([True], [True, False]))
def test_another_command_type_of_as_many_numbers_ends_the_flight(declared):
    class Changing:
        if declared:
            produces = kw.ThrustTorque

        def update(self, t_s, setpoint, estimate):
            return kw.RotorSpeeds((400.0,) * 4) if t_s > 0.1 else kw.ThrustTorque(4.9, [0, 0, 0])

    flown = scenario([Changing()], model="hummingbird")
    reason = kw.Simulation(flown).run().summary["reason"]
    since = "as `produces` of the class declares" if declared else "as at the start"
    words = f"update returned a RotorSpeeds; it must be a ThrustTorque, {since}"
    assert reason.startswith("Changing of 'h' at 0.102 s: ")
    assert words in reason


HERE = r"test_own_controllers\.py"


class NoUpdate:
    """An object that is no controller."""

    def __init__(self, gain):
        self.gain = gain


def updating(name, update):
    return type(name, (Recorded,), {"update": update})()


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        (Recorded, r"got the class Recorded; write an object of it, Recorded\(\)"),
        (NoUpdate, r"got the class NoUpdate; write an object of it, NoUpdate\(\.\.\.\)"),
        (NoUpdate(1), r"NoUpdate has no update\(t_s, setpoint, estimate\)$"),
        (step_often, "step_often has no update.*; write a class with this method"),
        (
            updating("RotorPys", lambda self, t, state: None),
            r"RotorPys.update\(t, state\) must be update\(self, t_s, setpoint, estimate\)$",
        ),
        (
            updating("Array", lambda *_: np.zeros(4)),
            "returned a ndarray; must be one of kw.AccelerationYaw, kw.ThrustAttitude, "
            "kw.ThrustTorque, kw.RotorSpeeds, kw.MotorsOff, such as kw.ThrustTorque.thrust_n, tor",
        ),
        (
            updating("Short", lambda *_: kw.ThrustTorque(1.0, np.zeros(2))),
            rf"must be 3 numbers \({HERE}, line \d+\)$",
        ),
        (
            updating("Names", lambda self, t_s, setpoint, estimate: estimate.position),
            rf"AttributeError: 'Kinematics' object has no .*\({HERE}, line \d+\)$",
        ),
        (
            updating("Solved", lambda *_: np.linalg.inv(np.zeros((2, 2)))),
            rf"Singular matrix \({HERE}, line \d+\)\. By this trial the command type that it",
        ),
        (
            updating("Lower", lambda self, t_s, setpoint, estimate: setpoint.thrust_n),
            "no attribute 'thrust_n'.*write into the class consumes = kw.PositionYaw",
        ),
        (type("Odd", (Recorded,), {"produces": "thrust"})(), "Odd.produces: got 'thrust'"),
        (type("Slow", (Recorded,), {"rate_hz": 7})(), "rate_hz 7 does not divide"),
        (
            updating("Never", lambda *_: [][0]),
            rf"Never.update fails with the start's estimate.*IndexError.*\({HERE}, line \d+\)$",
        ),
    ],
)
def test_an_unfit_controller_is_refused_at_the_start(controller, message):
    with pytest.raises(ScenarioError, match=message):
        scenario([controller], model="hummingbird")


class Spring(kw.AbstractController):
    """A damped spring in JAX, which is not registered."""

    consumes: ClassVar[type] = kw.PositionYaw
    produces: ClassVar[type] = kw.AccelerationYaw
    default_rate_hz: ClassVar[float | None] = 100.0

    gain_per_s2: float = 3.0

    def step(self, state, inputs, dt_s, key):
        command, estimate = inputs
        error = command.position_world_m - estimate.position_world_m
        pull = error * self.gain_per_s2 - estimate.velocity_world_mps * 2.0
        return state, kw.AccelerationYaw(pull, 0.0)


@pytest.mark.slow
def test_a_component_in_jax_flies_as_plain_python_does(spring):
    log = kw.Simulation(scenario([Spring()])).run()
    plain = spring.run().frame("h")
    np.testing.assert_allclose(log.frame("h")["x_m"], plain["x_m"], atol=1e-12)


def test_a_registered_component_of_python_is_written_by_its_name():
    from kittiwake.control.position import Position

    built = scenario([Position()])
    assert "type: position" in built.to_yaml()
    assert kw.Scenario.load(built.document.data).vehicles["h"].cascade[0].component == Position()


@pytest.mark.slow
def test_gains_of_another_controller_change_beside_an_own_one(spring):
    simulation = kw.Simulation(scenario([Recorded()], model="hummingbird"))
    simulation.reset()
    simulation.step()
    simulation.set_gains("h", "attitude", tilt_frequency_radps=12.0)
    for _ in range(10):
        simulation.step()
    # the controller goes on where it was
    assert [count for _, count, _ in Recorded.calls][-2:] == [2, 3]


@pytest.fixture
def live_flight():
    flight = SteppedFlight(scenario([Recorded()]))
    Recorded.calls.clear()
    yield flight
    flight.executor.__exit__()


@pytest.mark.slow
def test_a_live_flight_is_commanded_changed_and_goes_on(live_flight):
    live_flight.fly(0.1)
    assert [count for _, count, _ in Recorded.calls] == [*range(1, 11)]
    # a command to the controller's own type reaches it instead of guidance
    live_flight.executor.command("h", HoldCommand(kw.PositionYaw(kw.Vec3(0.0, 0.0, 2.5), 0.0)))
    before = len(Recorded.calls)
    rows = live_flight.fly(0.1)
    assert len(Recorded.calls) == before + 10
    assert live_flight.executor.failure() is None
    assert np.isfinite(live_flight.columns(rows, "h", "x_m", "z_m")).all()
    live_flight.executor.change("world.wind", "[1, 0, 0]")
    live_flight.settle()
    live_flight.fly(0.1)
    assert live_flight.executor.failure() is None
    assert Recorded.calls[-1][1] == 30


@pytest.mark.slow
def test_it_is_not_called_while_the_motors_are_off_and_then_begins_anew():
    hold = {"type": "hold", "position_world_m": [0.5, 0, 2]}
    steps = [{"do": hold, "for_s": 0.1}, {"do": "idle", "for_s": 0.1}, {"do": hold}]
    simulation = kw.Simulation(scenario([Recorded()], {"type": "mission", "steps": steps}))
    Recorded.calls.clear()
    assert simulation.run().summary["status"] == "completed"
    times = np.array([time_s for time_s, *_ in Recorded.calls])
    assert not ((times > 0.11) & (times < 0.19)).any()
    later = [count for time_s, count, _ in Recorded.calls if time_s > 0.19]
    assert later[:3] == [1, 2, 3]
