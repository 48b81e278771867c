"""Sensors, estimators and guidance in plain Python or JAX fly like those of the package."""

from threading import Lock
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.selection import slow_besides
from tests.unit.runtime.stepped_flight import SteppedFlight

import kittiwake as kw
from kittiwake.core.errors import OwnComponentError, ScenarioError
from kittiwake.sim.plain_python.hosts import host_states, restore_host_states

START = {"position_world_m": [0, 0, 2]}
RATE_HZ = 200


class Sonar:
    """Distance to the ground with noise, without an echo in each fifth second of a second."""

    rate_hz = 20

    def __init__(self, noise_m=0.05):
        self.noise_m = noise_m

    def reset(self, vehicle, rng):
        self.rng, self.count = rng, 0
        assert vehicle.start.position_world_m.z == 2.0

    def update(self, t_s, truth):
        self.count += 1
        if self.count % 5 == 0:
            return None
        range_m = truth.position_world_m.z + self.noise_m * self.rng.standard_normal()
        return {"range_m": range_m, "echoes_m": np.array([range_m, self.count]), "near": True}

    def state(self):
        return {"count": self.count}

    def restore(self, state):
        self.count = state["count"]


class AlphaBeta:
    """Height and its rate from the sonar, everything else as at the start."""

    rate_hz = 100
    seen: ClassVar[list] = []

    def reset(self, vehicle):
        self.place = vehicle.start.position_world_m
        self.height_m, self.rate_mps = self.place.z, 0.0

    def update(self, t_s, measurements):
        self.seen.append((t_s, measurements.fresh["sonar"], measurements["sonar"].range_m))
        self.height_m += 0.01 * self.rate_mps
        if measurements.fresh["sonar"]:
            miss_m = measurements["sonar"].range_m - self.height_m
            self.height_m += 0.3 * miss_m
            self.rate_mps += 0.5 * miss_m
        return kw.Kinematics.of(
            position_world_m=[self.place.x, self.place.y, self.height_m],
            velocity_world_mps=[0, 0, self.rate_mps],
        )

    def state(self):
        return [self.height_m, self.rate_mps]

    def restore(self, state):
        self.height_m, self.rate_mps = state


class Climb:
    """Climbs at 0.5 m/s."""

    rate_hz = 50
    calls: ClassVar[list] = []

    def update(self, t_s, estimate):
        self.calls.append(t_s)
        return kw.PositionYaw([0.0, 0.0, 2.0 + 0.5 * t_s], 0.0)

    def state(self):
        return None

    def restore(self, state):
        pass


def scenario(duration_s=0.5, **parts):
    vehicle = {"start": START, **parts}
    vehicles = {"h": kw.Vehicle(model="angle-velocity", **vehicle)}
    return kw.Scenario(vehicles=vehicles, rate_hz=RATE_HZ, duration_s=duration_s)


def all_three():
    return {"sensors": {"sonar": Sonar()}, "estimator": AlphaBeta(), "guidance": Climb()}


@pytest.fixture(scope="module")
def own():
    return kw.Simulation(scenario(**all_three()))


@pytest.fixture(autouse=True)
def _no_calls():
    AlphaBeta.seen.clear()
    Climb.calls.clear()


def step_often(simulation, steps=60):
    for _ in range(steps):
        simulation.step()


@pytest.mark.slow
def test_all_roles_fly_and_are_logged(own):
    log = own.run(duration_s=1.0)
    assert log.summary["status"] == "completed"
    rows = log.frame("h")
    fresh = rows["sensor.sonar.fresh"] > 0
    times = rows["time_s"][fresh].to_numpy()
    ticks = np.round(times * 20).astype(int)
    assert ticks.tolist() == [tick for tick in range(21) if tick % 5 != 4]
    noise = (rows["sensor.sonar.range_m"] - rows["z_m"])[fresh]
    assert 0.02 < noise.std() < 0.1
    assert rows["sensor.sonar.echoes_1_m"][fresh].iloc[4] == 6
    assert (rows["sensor.sonar.near"][fresh] == 1).all()
    # what is lost is held
    held = rows["sensor.sonar.range_m"]
    assert held[4 * RATE_HZ // 20] == held[3 * RATE_HZ // 20]
    assert abs(rows["estimate.z_m"].iloc[-1] - rows["z_m"].iloc[-1]) < 0.3
    np.testing.assert_allclose(rows["setpoint.position_z_world_m"].iloc[-1], 2.5, atol=1e-9)
    np.testing.assert_allclose(Climb.calls[:51], np.arange(51) / 50, atol=1e-12)
    np.testing.assert_allclose([t_s for t_s, *_ in AlphaBeta.seen][:101], np.arange(101) / 100)


@pytest.mark.slow
def test_the_same_seed_has_the_same_bits(own):
    frames = [own.run(seed=seed).frame("h") for seed in (1, 2, 1)]
    assert frames[0].equals(frames[2])
    name = "sensor.sonar.range_m"
    assert abs(frames[0][name][0] - frames[1][name][0]) > 1e-6


@pytest.mark.slow
def test_the_log_of_steps_is_that_of_a_run(own):
    flown = own.run(duration_s=0.5).tables["h"]
    own.reset()
    step_often(own, 40)
    seen = len(AlphaBeta.seen)
    middle = own.log().tables["h"]
    # its last row needs the next calls, which go to copies
    step_often(own)
    assert own.log().tables["h"].values.shape == flown.values.shape
    np.testing.assert_allclose(middle.values, flown.values[:41], rtol=0, atol=1e-11)
    np.testing.assert_allclose(own.log().tables["h"].values, flown.values, rtol=0, atol=1e-11)
    assert len(AlphaBeta.seen) > seen


@pytest.mark.slow
def test_a_log_calls_no_component_of_the_flight():
    class Counting(Climb):
        def __init__(self):
            self.count = 0

        def update(self, t_s, estimate):
            self.count += 1
            return kw.PositionYaw([0.0, 0.0, 2.0 + 1e-3 * self.count], 0.0)

    heights = []
    for looks in (False, True):
        simulation = kw.Simulation(scenario(guidance=Counting()))
        simulation.reset()
        for _ in range(12):
            simulation.step()
            if looks:
                simulation.log()
        heights.append(simulation.log().column("h", "setpoint.position_z_world_m"))
    assert len(heights[0]) == 13
    np.testing.assert_array_equal(*heights)


@pytest.mark.slow
def test_a_log_ends_a_step_earlier_where_a_component_cannot_be_copied():
    class Locked(Climb):
        def reset(self, vehicle):
            self.lock = Lock()

    simulation = kw.Simulation(scenario(guidance=Locked()))
    simulation.reset()
    step_often(simulation, 5)
    assert len(simulation.log().column("h", "time_s")) == 5


@pytest.mark.slow
def test_steps_fly_as_a_run_however_often_they_are_looked_at(own):
    flown = own.run().frame("h")
    seen = [own.reset(seed=0)["h"]]
    for tick in range(60):
        if tick % 3:
            own.observe()
        own.step()
        seen.append(own.observe()["h"])
    for name, numbers in (
        ("z_m", [one.truth.position_world_m.z for one in seen]),
        ("sensor.sonar.range_m", [one.measurements["sonar"].range_m for one in seen]),
        ("estimate.z_m", [one.estimate.position_world_m.z for one in seen]),
    ):
        np.testing.assert_allclose(numbers, flown[name][:61], atol=1e-12)
    assert len(AlphaBeta.seen) <= 102 + 62


@pytest.mark.slow
def test_two_simulations_are_stepped_in_turn():
    shared = scenario(**all_three())
    one, other = kw.Simulation(shared), kw.Simulation(shared)
    one.reset()
    step_often(one, 7)
    other.reset()
    for _ in range(30):
        one.step()
        other.step()
    step_often(other, 7)
    heights = [each.observe()["h"].measurements["sonar"].range_m for each in (one, other)]
    assert heights[0] == heights[1]


@pytest.mark.slow
def test_a_flight_continues_from_restored_states(own):
    state, seen = own.init(kw.seed_key(4)), []
    for tick in range(70):
        if tick == 43:
            kept = host_states(own.fleet)
            middle = state
        state = own.advance(state)
    seen.append(own.fleet.truths(state)[0])
    restore_host_states(own.fleet, kept)
    for _ in range(43, 70):
        middle = own.advance(middle)
    seen.append(own.fleet.truths(middle)[0])
    assert sorted(kept["h"]) == ["estimator", "guidance", "sensor.sonar"]
    for one, other in zip(*map(jax.tree.leaves, seen), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_states_of_two_flights_are_not_advanced_in_turn(own):
    states = [own.init(kw.seed_key(seed)) for seed in (1, 2)]

    def advance_in_turn():
        for _ in range(20):
            states[:] = [jax.block_until_ready(own.advance(state)) for state in states]

    # of which kind it is depends on when the runtime of jax meets it
    kinds = (ValueError, jax.errors.JaxRuntimeError)
    with pytest.raises(kinds, match="is that of another time or flight"):
        advance_in_turn()


@pytest.mark.slow
def test_guidance_that_a_command_replaces_goes_on_afterwards(own):
    own.reset()
    for tick in range(40):
        command = kw.AccelerationYaw(kw.Vec3(0.0, 0.0, 0.0), 0.0)
        own.step({"h": command} if 10 <= tick < 20 else {})


@pytest.mark.slow
def test_a_sensor_that_nothing_reads_is_called_at_its_rate():
    class Count:
        rate_hz = 100
        calls: ClassVar[list] = []

        def update(self, t_s, truth):
            self.calls.append(t_s)
            return len(self.calls)

    simulation = kw.Simulation(scenario(sensors={"count": Count()}))
    Count.calls.clear()
    simulation.reset()
    step_often(simulation, 20)
    np.testing.assert_allclose(Count.calls, [tick / 100 for tick in range(10)], atol=1e-12)
    assert simulation.observe()["h"].measurements["count"].value == 11


class Declared:
    """Sensor of a type that it declares."""

    measures = kw.measurements.GnssMeasurement

    def update(self, t_s, truth):
        if t_s < 0.02:
            return None
        return kw.measurements.GnssMeasurement(
            truth.position_world_m.array, truth.velocity_world_mps, 7, 1, 1.0, 1.0, 1.0, True
        )


@pytest.mark.slow
def test_a_declared_measurement_feeds_estimators_and_errors():
    entry = {"sensors": {"imu": "imu", "gnss": Declared()}, "estimator": "ekf"}
    log = kw.Simulation(scenario(**entry)).run()
    assert log.summary["status"] == "completed"
    rows = log.frame("h")
    assert not rows["sensor.gnss.fresh"].iloc[:4].any()
    assert rows["sensor.gnss.satellites"].iloc[-1] == 7
    np.testing.assert_allclose(rows["sensor.gnss.position_z_world_m"][4:], rows["z_m"][4:])


class JaxSonar(kw.AbstractSensor):
    """Distance to the ground in JAX."""

    measures: ClassVar[type] = kw.measurements.RangeMeasurement

    offset_m: float = 0.0

    def step(self, state, inputs, dt_s, key):
        height = inputs.truth.position_world_m.z + self.offset_m
        return state, kw.measurements.RangeMeasurement(height, jnp.asarray(True))


class JaxTruth(kw.AbstractEstimator):
    """The truth."""

    def step(self, state, inputs, dt_s, key):
        return state, inputs.truth


class JaxHold(kw.AbstractGuidance):
    """Holds the height of the start."""

    def command_types(self):
        return (kw.PositionYaw,)

    def step(self, state, inputs, dt_s, key):
        return state, kw.PositionYaw(kw.Vec3(0.0, 0.0, 2.0), 0.0)


@pytest.mark.slow
def test_components_in_jax_need_no_registration():
    entry = {
        "sensors": {"sonar": JaxSonar(0.5)},
        "estimator": JaxTruth(),
        "guidance": JaxHold(),
    }
    simulation = kw.Simulation(scenario(**entry))
    assert not simulation.program.on_host
    rows = simulation.run().frame("h")
    np.testing.assert_allclose(rows["sensor.sonar.range_m"], rows["z_m"] + 0.5)


def failing(base, returned=None):
    class Failing(base):
        def update(self, t_s, given):
            if t_s > 0.1:
                return 1.0 / (t_s - t_s) if returned is None else returned
            return super().update(t_s, given)

    return Failing()


@pytest.mark.slow
@pytest.mark.parametrize("role", slow_besides(["sonar"], ["sonar", "estimator", "guidance"]))
def test_an_exception_ends_the_flight_with_its_place(role):
    parts = all_three()
    if role == "sonar":
        parts["sensors"] = {"sonar": failing(Sonar)}
    else:
        parts[role] = failing(type(parts[role]))
    simulation = kw.Simulation(scenario(**parts))
    log = simulation.run()
    assert log.summary["status"] == "failed"
    reason = log.summary["reason"]
    assert reason.startswith("Failing of 'h' at 0.1")
    assert "ZeroDivisionError: float division by zero (test_own_components.py, line " in reason
    assert 0.1 < log.frame("h")["time_s"].iloc[-1] < 0.16
    assert np.isfinite(log.frame("h")["x_m"]).all()
    simulation.reset()
    with pytest.raises(OwnComponentError, match="Failing of 'h' at 0.1"):
        step_often(simulation)
    simulation.reset()
    simulation.step()


class Leaving(Climb):
    """Climbs until it raises."""

    produces = kw.PositionYaw

    def __init__(self, raised):
        self.raised = raised

    def update(self, t_s, estimate):
        if t_s > 0.1:
            raise self.raised
        return super().update(t_s, estimate)


@pytest.mark.slow
def test_an_exit_is_a_failure_with_its_place():
    simulation = kw.Simulation(scenario(guidance=Leaving(SystemExit(3))))
    simulation.reset()
    with pytest.raises(OwnComponentError, match=r"Leaving of 'h' at 0.12 s: SystemExit: 3"):
        step_often(simulation)


@pytest.mark.slow
def test_an_interrupt_in_a_component_is_one_of_the_program():
    simulation = kw.Simulation(scenario(guidance=Leaving(KeyboardInterrupt())))
    simulation.reset()
    with pytest.raises(KeyboardInterrupt):
        step_often(simulation)


GOOD = kw.Kinematics.of([0, 0, 2])
SHORT = kw.Kinematics.of([0, 0, 2])
# two numbers less and more, so that the sum is right; past the checks of types in tests
object.__setattr__(SHORT, "position_world_m", np.zeros(2))
object.__setattr__(SHORT, "velocity_world_mps", np.zeros(4))


@pytest.mark.parametrize(
    ("role", "returned", "message"),
    [
        ("sensors", 3.0, "update returned value; must be range_m, echoes_m, near, as at the start"),
        ("sensors", {"range_m": np.nan, "echoes_m": [1, 2], "near": 0}, "must be a finite number"),
        ("sensors", {"range_m": 1, "echoes_m": [1], "near": 0}, "as echoes_m; must be 2 finite"),
        ("sensors", GOOD, "update returned a Kinematics; must be a number, an array"),
        ("sensors", "near", "update returned near; must be a number"),
        ("estimator", [0, 0, 2], "returned a list; must be a kw.Kinematics"),
        ("estimator", kw.Kinematics.of([0, 0, np.inf]), "as position_world_m; must be finite"),
        ("estimator", kw.Kinematics.of([0, 0, 2], q_world_from_body=[2, 0, 0, 0]), "norm 2"),
        (
            "estimator",
            SHORT,
            r"update returned \[0.0, 0.0\] as position_world_m; must be 3 numbers",
        ),
        ("guidance", [0, 0, 2], "update returned a list; it must be a PositionYaw, as at the"),
        ("guidance", kw.AccelerationYaw([0, 0, 0], 0.0), "returned an AccelerationYaw; it must"),
        ("sensors", {"range_m": 1, "echoes_m": [1, 2], "near": 0.7}, "near; must be True or False"),
    ],
)
def test_a_wrong_result_is_named(role, returned, message):
    parts = all_three()
    if role == "sensors":
        parts["sensors"] = {"sonar": failing(Sonar, returned)}
    else:
        parts[role] = failing(type(parts[role]), returned)
    simulation = kw.Simulation(scenario(**parts))
    simulation.reset()
    with pytest.raises(OwnComponentError, match=message):
        step_often(simulation)


def silent(**attributes):
    made = type("Silent", (), {"update": lambda *_: None, **attributes})()
    # of the object, as a copy holds it
    vars(made).update({name: attributes[name] for name in ("lock",) if name in attributes})
    return made


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"sensors": {"s": silent()}}, "Silent.update returned None at the start.*measures = kw"),
        ({"sensors": {"s": silent(measures=3)}}, "Silent.measures: got 3; must be a class of kw"),
        (
            {"sensors": {"s": silent(update=lambda *_: 1 / 0)}},
            "By this trial what it measures is found; write into the class such as measures = kw",
        ),
        (
            {"sensors": {"s": silent(update=lambda self, t_s, tr: tr.position)}},
            r"no attribute 'position' \(test_own_components\.py, line \d+\)$",
        ),
        ({"estimator": silent(update=None)}, r"Silent has no update\(t_s, measurements\)"),
        ({"sensors": {"s": JaxTruth()}}, "another kind of component; must be a kw.AbstractSensor"),
        (
            {"guidance": silent()},
            "returned None; must be one of kw.PositionYaw.*such as kw.PositionYaw.position_world_m",
        ),
        ({"guidance": silent(produces="up")}, "Silent.produces: got 'up'"),
        ({"estimator": silent(rate_hz=7)}, "rate_hz 7 does not divide"),
        (
            {"guidance": silent(produces=kw.PositionYaw, lock=Lock())},
            "Silent cannot be copied.*lock.*make what cannot",
        ),
        ({"estimator": AlphaBeta}, "got the class AlphaBeta; write an object of it"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_start(parts, message):
    with pytest.raises(ScenarioError, match=message):
        scenario(**parts)


def test_batches_and_linear_models_are_refused_by_the_class(own):
    with jax.enable_x64(True):
        states = jax.tree.map(lambda leaf: leaf[None], own.init(kw.seed_key(0)))
        message = "is a sensor in plain Python, which flies one world.*kw.AbstractSensor"
        with pytest.raises(OwnComponentError, match=message):
            jax.vmap(own.advance)(states)
    with pytest.raises(ScenarioError, match="Sonar of 'h' is plain Python, which cannot be differ"):
        kw.linearize(own.scenario, at_s=0.1)


@pytest.mark.slow
def test_a_trim_counts_dynamics_alone(own):
    assert kw.trim(own.scenario.vehicles["h"]).command is not None


@pytest.mark.slow
def test_a_live_flight_goes_on_through_a_change():
    flight = SteppedFlight(scenario(**all_three()))
    AlphaBeta.seen.clear()
    flight.fly(0.1)
    flight.executor.change("world.wind", "[1, 0, 0]")
    flight.settle()
    rows = flight.fly(0.2)
    assert flight.executor.failure() is None
    assert np.isfinite(flight.columns(rows, "h", "sensor.sonar.range_m", "estimate.z_m")).all()
    assert len(AlphaBeta.seen) == 30
    flight.executor.__exit__()


@pytest.mark.slow
def test_single_precision_flies():
    simulation = kw.Simulation(scenario(0.1, **all_three()), precision="float32")
    assert simulation.run().summary["status"] == "completed"


@pytest.mark.slow
def test_each_vehicle_has_its_own():
    vehicles = {
        "h": kw.Vehicle(
            model="hummingbird", start=START, count=2, spacing_m=[2, 0, 0], **all_three()
        )
    }
    log = kw.Simulation(kw.Scenario(vehicles=vehicles, rate_hz=RATE_HZ, duration_s=0.1)).run()
    first, second = (log.frame(name) for name in ("h-1", "h-2"))
    assert second["estimate.x_m"].iloc[0] == 2.0
    # streams of their own
    assert first["sensor.sonar.range_m"][0] != second["sensor.sonar.range_m"][0]


@pytest.mark.slow
def test_it_does_not_change_what_a_sensor_beside_it_measures():
    alone = kw.Simulation(scenario(0.1, sensors={"imu": "imu"})).run().frame("h")
    beside = kw.Simulation(scenario(0.1, sensors={"imu": "imu", "sonar": Sonar()})).run()
    columns = [name for name in alone if name.startswith("sensor.imu")]
    # the same draws; another program rounds differently
    np.testing.assert_allclose(alone[columns], beside.frame("h")[columns], atol=1e-12)
