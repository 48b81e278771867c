"""Sensors that take turns: order and times of every scheme, what is held, what is refused."""

import dataclasses
import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.selection import slow_besides
from tests.unit.sensors.range_scene import EXACT_M, KEY, around

from kittiwake.core.component import Scheduled
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors.round_robin import MAX_AT_ONCE, PARTITIONS, SCHEMES, SENSORS
from kittiwake.sensors.ultrasonic_array import UltrasonicArray
from kittiwake.sim.schedule import Clock, ScheduledState, run, steps_between

# the lowest rate that all slot rates divide
PHYSICS_HZ = 240
# by first letters, from the source's table (D: downwards is B: bottom, its B is K: back)
ROUNDS = {
    "front": ("FB LR FB LK FB LR FB RK", 6),
    "right": ("LR FB RK FB LR FB RK FB", 6),
    "left": ("LR FB LK FB LR FB LK FB", 6),
    "back": ("LR RK FB LK LR RK FB LK", 6),
    "all-1": ("F R K L B", Fraction(3, 2)),
    "front-1": ("L F R", Fraction(5, 2)),
    "front-only": ("F", 16),
    "bottom-only": ("B", 16),
    "left-only": ("L", 16),
    "right-only": ("R", 16),
    "back-only": ("K", 16),
}
# patterns of eight slots, of five and of one
QUICK = ("front", "all-1", "bottom-only")
ROOM = [
    Box(Vec3(3.0, 0.0, 0.0), Vec3(1.0, 40.0, 40.0)),
    Box(Vec3(-4.0, 0.0, 0.0), Vec3(1.0, 40.0, 40.0)),
]


def listened(array, rate_hz, ticks):
    """Who is active at each of some physics steps, and whether that is new."""
    part = Scheduled(array, steps_between(float(PHYSICS_HZ), rate_hz))
    inputs, dt_s = around(ROOM), 1.0 / PHYSICS_HZ

    def once(held, tick):
        later, measured = run(part, held, inputs, Clock(tick, dt_s), KEY)
        return later, measured.active

    first = ScheduledState(array.init(KEY), None, None)
    measured = jax.eval_shape(lambda: array.step(first.state, inputs, dt_s, KEY)[1])
    empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), measured)
    held = ScheduledState(first.state, empty, jnp.asarray(True))
    return np.asarray(jax.jit(lambda h: jax.lax.scan(once, h, jnp.arange(ticks)))(held)[1])


def expected(rounds, rate_hz, ticks):
    """The same by whole numbers: slot k lasts from k / f to (k + 1) / f."""
    slots = [[name in slot for name in "FBLRK"] for slot in rounds.split()]
    numbers = [math.floor(Fraction(tick, PHYSICS_HZ) * rate_hz) for tick in range(ticks)]
    return np.array([slots[number % len(slots)] for number in numbers])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", slow_besides(QUICK, SCHEMES))
def test_order_and_times_of_all_slots_are_exact(scheme):
    rounds, rate_hz = ROUNDS[scheme]
    array = UltrasonicArray(scheme)
    assert array.default_rate_hz == float(rate_hz)
    # more than two rounds
    ticks = math.ceil(PHYSICS_HZ * (2 * len(rounds.split()) + 1) / rate_hz)
    found = listened(array, array.default_rate_hz, ticks)
    np.testing.assert_array_equal(found, expected(rounds, rate_hz, ticks))


def test_a_slot_of_front_only_lasts_62_5_ms_and_one_of_all_1_two_thirds_of_a_second():
    assert steps_between(480.0, UltrasonicArray("front-only").default_rate_hz) / 480 == 0.0625
    assert steps_between(480.0, UltrasonicArray("all-1").default_rate_hz) / 480 == 2.0 / 3.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_at_most_two_of_one_partition_are_active_at_once(scheme):
    for slot in SCHEMES[scheme].slots:
        assert 1 <= len(set(slot)) == len(slot) <= MAX_AT_ONCE
        assert any(set(slot) <= set(partition) for partition in PARTITIONS)


@pytest.mark.slow
def test_a_scheme_of_ones_own_takes_its_slots_in_order():
    array = UltrasonicArray(slots=(("left", "back"), ("bottom",), ("front", "bottom")))
    found = listened(array, 10.0, 24 * 7)
    np.testing.assert_array_equal(found, expected("LK B FB", 10, 24 * 7))


def test_without_a_scheme_only_the_front_measures():
    assert UltrasonicArray().turns == SCHEMES["front-only"]


@pytest.mark.slow
def test_inactive_sensors_hold_their_last_reading():
    array = UltrasonicArray(slots=(("front",), ("back",)))
    state, measured = array.init(KEY), []
    for position_m in (0.0, 0.5, 1.0, 1.5):
        inputs = around(ROOM, Start(Vec3(position_m, 0.0, 0.0)))
        state, measurement = array.step(state, inputs, 1 / 6, KEY)
        measured.append(measurement)
    front, back = SENSORS.index("front"), SENSORS.index("back")
    # to the walls at 2.5 m and -3.5 m, from 0.215 m before and 0.15 m behind the center
    ahead, behind = [2.285, 2.285, 1.285, 1.285], [5.0, 3.85, 3.85, 4.85]
    np.testing.assert_allclose([s.ranges_m[front] for s in measured], ahead, atol=EXACT_M)
    np.testing.assert_allclose([s.ranges_m[back] for s in measured], behind, atol=EXACT_M)
    assert [bool(s.valid[back]) for s in measured] == [False, True, True, True]
    assert [bool(s.active[front]) for s in measured] == [True, False, True, False]
    assert not any(bool(s.valid[SENSORS.index("left")]) for s in measured)


def test_left_and_right_look_45_degrees_off_forward():
    walls = {
        "left": Box(Vec3(0.0, 0.0, 0.0), Vec3(40.0, 0.1, 9.0), yaw_rad=-math.pi / 4),
        "right": Box(Vec3(0.0, 0.0, 0.0), Vec3(40.0, 0.1, 9.0), yaw_rad=math.pi / 4),
    }
    for name, side in (("left", 1.0), ("right", -1.0)):
        aside = Vec3(2.0, side * 2.0, 0.0)
        wall = dataclasses.replace(walls[name], center_world_m=aside)
        true = UltrasonicArray().ideal(around([wall]))
        assert [bool(v) for v in true.valid] == [sensor == name for sensor in SENSORS]
        # along the diagonal, less half the wall and how far the sensor sits in that direction
        range_m = 2.0 * math.sqrt(2.0) - 0.05 - (0.06 + 0.04) * math.sqrt(0.5)
        found = float(true.ranges_m[SENSORS.index(name)])
        assert found == pytest.approx(range_m, abs=EXACT_M)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"slots": [["front", "left"]]}, r"slots\[0\]: got \[front, left\] of two partitions"),
        ({"slots": [["back"], ["left", "right", "back"]]}, r"slots\[1\]: .* more than 2 at once"),
        ({"slots": [["left", "left"]]}, "names a sensor twice"),
        ({"slots": [["back"], []]}, r"slots\[1\]: is empty"),
        ({"slots": []}, "slots: is empty"),
        ({"slots": [["fornt"]]}, r"slots\[0\]: there is no sensor 'fornt'.*Did you mean 'front'"),
        ({"scheme": "fornt"}, "front"),
        ({"scheme": "front", "slots": [["front"]]}, r"scheme is given as well \(front\)"),
        ({"left": {"position_body_m": [0, 0, 0], "direction_body": [0, 0, 0]}}, "no direction"),
    ],
)
def test_invalid_slots_are_refused(given, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        build_component(UltrasonicArray, given, lambda _: "my.yaml:3")


def test_all_invalid_slots_are_reported_at_once():
    slots = [["front", "left"], ["back"], [], ["fornt"]]
    with pytest.raises(
        ScenarioError, match=r"slots\[0\]: .*; slots\[2\]: .*; slots\[3\]: there is"
    ):
        build_component(UltrasonicArray, {"slots": slots}, lambda _: "my.yaml:3")


def test_a_slot_that_is_no_whole_number_of_steps_is_refused(tmp_path):
    (tmp_path / "my.yaml").write_text(
        "name: my\ntime: {rate_hz: 500, duration_s: 1}\nvehicles:\n  a:\n    model: crazyflie\n"
        "    sensors:\n      turns: {type: ultrasonic-array, scheme: back}\n"
    )
    with pytest.raises(
        ScenarioError, match=r"yaml:7.*its default rate_hz 6 does not divide .* 500 Hz"
    ):
        load_scenario(str(tmp_path / "my.yaml"))
