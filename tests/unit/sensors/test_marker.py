"""Markers on decks: where they are found, where not, and the model of that."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import yaml
from tests.unit.sensors.camera_scene import drawn, looking_down, skip_without_graphics
from tests.unit.sensors.range_scene import many, read

import kittiwake as kw
from kittiwake.core.kinematics import Start
from kittiwake.environment.platforms import FixedPlatform
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.marker import Marker
from kittiwake.sensors.mount import Mount

skip_without_graphics()

HIGH_M = 0.35
DECK = FixedPlatform(Vec3(0.0, 0.0, HIGH_M), 0.5, 0.6)
BESIDE = FixedPlatform(Vec3(1.5, 0.0, HIGH_M), 0.6, 0.6)
# seen whole from 0.4 m, as it is turned below
DOWN = Mount(Vec3(0.01, 0.0, -0.02), pitch_rad=math.pi / 2)


@pytest.fixture(scope="module")
def found():
    """What a marker sensor finds from a start, compiled once."""
    marker = Marker(DOWN)
    with jax.enable_x64(True):
        frame = drawn(platforms=[DECK, BESIDE], partner=0)

    @jax.jit
    def look(truth):
        inputs = jax.tree.map(lambda leaf: leaf, frame)
        inputs = type(inputs)(0.0, truth, inputs.surroundings, inputs.world, inputs.processes)
        return marker.step((), inputs, 0.1, jax.random.key(0))[1], marker.ideal(inputs)

    return lambda start: look(jax.tree.map(jnp.asarray, start.kinematics()))


def miss(measured, true):
    """How far the place is beside the true one, and the yaw."""
    yaw = float(measured.yaw_body_rad - true.yaw_body_rad)
    return float((measured.position_body_m - true.position_body_m).norm()), abs(
        math.remainder(yaw, 2.0 * math.pi)
    )


@pytest.mark.slow
@pytest.mark.parametrize("distance_m", [0.4, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("angles", [(0.0, 0.0, 0.0), (0.03, -0.04, 0.1), (-0.03, 0.04, 3.0)])
def test_a_marker_is_found_to_two_percent_and_two_degrees(found, distance_m, angles):
    high_m = HIGH_M + distance_m + 0.02
    measured, true = found(Start(Vec3(0.02 * distance_m, 0.0, high_m), *angles))
    assert bool(measured.valid)
    assert bool(true.valid)
    miss_m, yaw_rad = miss(measured, true)
    assert miss_m < 0.02 * distance_m
    assert yaw_rad < math.radians(2.0)


def test_a_marker_is_found_obliquely(found):
    # 50 degrees from the deck's normal, 2 m away
    angle = math.radians(50.0)
    start = Start(Vec3(-2.0 * math.sin(angle), 0.0, HIGH_M + 2.0 * math.cos(angle)), 0.0, -angle)
    measured, true = found(start)
    miss_m, yaw_rad = miss(measured, true)
    assert bool(measured.valid)
    assert miss_m < 0.04
    assert yaw_rad < math.radians(2.0)


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (looking_down(2.0, x=3.0), "beside the picture"),
        (looking_down(1.35, x=1.4), "only that of another deck is seen"),
        (looking_down(6.5), "too far"),
        (Start(Vec3(0.0, 0.0, 1.5), roll_rad=math.pi), "looking up"),
    ],
)
def test_an_invisible_marker_is_not_valid(found, start, why):
    del why
    for measured in found(start):
        assert not bool(measured.valid)
        assert float(measured.position_body_m.norm()) == 0.0
        assert float(measured.yaw_body_rad) == 0.0


def test_the_same_picture_gives_the_same_bits_whatever_was_seen_before(found):
    start = looking_down(2.0, roll_rad=0.1)
    one = jax.tree.leaves(found(start))
    found(looking_down(2.0, x=2000.0))
    for a, b in zip(one, jax.tree.leaves(found(start)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("distance_m", [1.0, 3.0])
def test_the_model_errs_as_much_as_the_detector(found, distance_m):
    starts = [
        Start(Vec3(0.02 * i, 0.01 * i, HIGH_M + distance_m), 0.01 * i, 0.0, 0.3 + 0.7 * i)
        for i in range(12)
    ]
    detected = np.array([miss(*found(start))[0] for start in starts])
    marker = Marker(DOWN, rendered=False)
    inputs = drawn(starts[5], platforms=[DECK], partner=0)
    measured, true = many(marker, inputs, 400), marker.ideal(inputs)
    missed = jax.vmap(lambda place: (place - true.position_body_m).norm())(measured.position_body_m)
    modeled = float(np.sqrt(np.mean(np.square(missed))))
    assert np.asarray(measured.valid).all()
    assert modeled / 3.0 < np.sqrt(np.mean(np.square(detected))) < 3.0 * modeled


@pytest.mark.slow
def test_the_model_is_read_without_a_renderer():
    inputs = drawn(looking_down(2.0), platforms=[DECK], partner=0)
    measured = read(
        Marker(rendered=False), type(inputs)(0.0, inputs.truth, inputs.surroundings, None, {})
    )
    assert bool(measured.valid)
    assert not Marker(rendered=False).renders


def harbour():
    """A platform and decks of two kinds of vehicles in turn, and a drone over each."""
    deck = {"center_body_m": [0, 0, 0.02], "length_m": 0.6, "width_m": 0.6}
    inertia = {"xx": 0.01, "yy": 0.01, "zz": 0.01}
    own = {"mass_kg": 1, "inertia_kgm2": inertia, "deck": deck, "landing_gear": None}
    own |= {"size_body_m": [0.6, 0.6, 0.04]}
    drop = {"type": "mission", "steps": [{"do": "disarm"}]}
    quay = {"type": "fixed", "position_world_m": [0, 0, 0.3], "length_m": 0.6, "width_m": 0.6}
    carriers = {
        "cart-a": {"model": "rigid-body", "parameters": own, "guidance": drop},
        "boat-a": {"model": "strider", "guidance": "hold"},
        "cart-b": {"model": "rigid-body", "parameters": own, "guidance": drop},
        "boat-b": {"model": "strider", "guidance": "hold"},
    }
    vehicles = {}
    for i, name in enumerate(["quay", *carriers]):
        # carts fall, and are to be seen over the ground
        place = [3.0 * i, 0.0, 0.5 * name.startswith("cart")]
        if name in carriers:
            vehicles[name] = carriers[name] | {"start": {"position_world_m": place}}
        vehicles[f"over-{name}"] = {
            "model": "ar-drone",
            "partner": name,
            "start": {"position_world_m": [place[0] + 0.1, 0.05, 1.5]},
            "sensors": {"marker": {"type": "marker", "gimbal": "stabilised"}},
            "guidance": "hold",
        }
    return {
        "name": "harbour",
        "lost_vehicle": "continue",
        "time": {"rate_hz": 100, "duration_s": 0.2},
        "world": {"area": {"x_m": [-5, 20], "y_m": [-5, 5], "z_m": [-1, 5]}}
        | {"platforms": {"quay": quay}},
        "vehicles": vehicles,
    }


@pytest.mark.slow
def test_each_of_a_fleet_finds_the_marker_of_its_own_partner(tmp_path):
    path, document = tmp_path / "harbour.yaml", harbour()
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    log = kw.load(str(path)).run()
    drones = [name for name in document["vehicles"] if name.startswith("over-")]
    assert len(drones) == 5
    for name in drones:
        fresh = log.column(name, "sensor.marker.fresh") > 0.0
        assert (log.column(name, "sensor.marker.valid")[fresh] == 1.0).all(), name
        for axis in "xyz":
            measured, true = (
                log.column(name, f"{told}.marker.position_{axis}_body_m")[fresh]
                for told in ("sensor", "ideal")
            )
            np.testing.assert_allclose(measured, true, atol=0.02, err_msg=name)
