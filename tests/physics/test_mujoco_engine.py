"""Contact by MuJoCo: against mechanics, against our own feet, and to the last bit."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import yaml
from tests.contract.surroundings import AHEAD, world

import kittiwake as kw
from kittiwake.contact.solid import THICKNESS_M
from kittiwake.core.errors import MissingExtraError, ScenarioError
from kittiwake.environment import OBSTACLES
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.mujoco_engine import Mujoco
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.world.ray import Ray, cast_ray

GRAVITY_MPS2 = 9.81
HALF_M, MASS_KG = 0.1, 1.0
LEGS = [[x, y, -HALF_M] for x in (HALF_M, -HALF_M) for y in (HALF_M, -HALF_M)]
STOPPED = "time_s,left_radps,right_radps\n0,0,0\n"
AREA = {"x_m": [-50, 50], "y_m": [-50, 50], "z_m": [-1, 50]}
TINY = {"xx": 1e-17, "yy": 1e-17, "zz": 1e-17}


def block(place, friction=0.7, velocity=(0, 0, 0), *, feet=True, **more):
    """A cube of a kilogram that nothing drives."""
    start = {"position_world_m": list(place), "velocity_world_mps": list(velocity)}
    own = {
        "mass_kg": MASS_KG,
        "inertia_kgm2": {"xx": 0.0067, "yy": 0.0067, "zz": 0.0067},
        "size_body_m": [2 * HALF_M] * 3,
        "landing_gear": {"points_body_m": LEGS, "friction": friction} if feet else None,
    }
    return {
        "model": "rigid-body",
        "start": start | more.pop("start", {}),
        "parameters": own | more,
        "guidance": {"type": "mission", "steps": [{"do": "disarm"}]},
    }


def document(vehicles, duration_s=2.0, physics="mujoco", rate_hz=500, **world):
    data = {
        "name": "contact",
        "physics": physics,
        "time": {"rate_hz": rate_hz, "duration_s": duration_s},
        "world": {"area": AREA} | world,
        "vehicles": vehicles,
    }
    return yaml.safe_dump(data, sort_keys=False)


@pytest.fixture
def flown(tmp_path):
    """The log of blocks in a world."""

    def fly(vehicles, engine=None, **settings):
        path = tmp_path / "contact.yaml"
        path.write_text(document(vehicles, **settings), encoding="utf-8")
        (tmp_path / "stopped.csv").write_text(STOPPED, encoding="utf-8")
        return kw.load(str(path), engine=engine).run()

    return fly


def column(log, vehicle, *names):
    frame = log.frame(vehicle)
    return np.stack([frame[name].to_numpy() for name in names], axis=-1)


def slope(angle_deg):
    """A plane that rises to the north."""
    return {
        "slope": {
            **{"type": "fixed", "position_world_m": [0, 0, 5], "roll_deg": angle_deg},
            **{"length_m": 40, "width_m": 40},
        }
    }


def on_slope(angle_deg):
    """Where a block stands on it, and how."""
    rise_m = HALF_M / math.cos(math.radians(angle_deg))
    return {"place": (0, 0, 5 + rise_m), "start": {"roll_deg": angle_deg}}


@pytest.mark.slow
def test_a_vehicle_without_contact_flies_on_its_own_model_to_the_last_bit(flown):
    vehicles = {"free": block((0, 0, 30), velocity=(3, -2, 5), start={"roll_deg": 20})}
    by_mujoco, by_feet = (flown(vehicles, "xla", physics=p) for p in ("mujoco", "compliant"))
    np.testing.assert_array_equal(by_mujoco.frame("free"), by_feet.frame("free"))


@pytest.mark.slow
def test_friction_holds_a_block_on_a_slope_below_its_angle_and_lets_it_slide_above(flown):
    friction, duration_s = 0.3, 2.0
    log = flown({"held": block(friction=friction, **on_slope(12.0))}, platforms=slope(12.0))
    moved_m = np.linalg.norm(np.diff(column(log, "held", "x_m", "y_m")[[100, -1]], axis=0))
    assert moved_m < 2e-4
    assert (column(log, "held", "contact")[100:] == 4).all()
    angle = math.radians(25.0)
    log = flown({"slides": block(friction=friction, **on_slope(25.0))}, platforms=slope(25.0))
    speed = np.linalg.norm(column(log, "slides", "vy_mps", "vz_mps"), axis=1)
    expected = GRAVITY_MPS2 * (math.sin(angle) - friction * math.cos(angle)) * duration_s
    assert speed[-1] == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.4])
def test_a_block_that_is_pushed_aside_by_half_of_what_friction_holds_hardly_creeps(flown, share):
    weight_n = MASS_KG * GRAVITY_MPS2
    box = {"from_world_m": [-9, -9, -1], "to_world_m": [9, 9, 9]}
    regions = {"push": {"type": "force", "force_world_n": [share * weight_n, 0, 0], **box}}
    log = flown({"held": block((0, 0, HALF_M))}, regions=regions)
    moved_m = np.ptp(column(log, "held", "x_m")[500:])
    # within a second: it creeps by 29 um/s and 58 um/s
    assert moved_m < 1e-4


def test_two_blocks_that_meet_keep_their_momentum_and_part_or_stay(flown):
    vehicles = {
        "west": block((-1, 0.02, 30), velocity=(2, 0, 0)),
        "east": block((1, 0, 30), velocity=(-1, 0, 0), mass_kg=2.0),
    }
    log = flown(vehicles)
    velocities = [column(log, name, "vx_mps", "vy_mps") for name in vehicles]
    momentum = 1.0 * velocities[0] + 2.0 * velocities[1]
    assert np.abs(velocities[0][-1] - velocities[0][0]).max() > 0.5
    np.testing.assert_allclose(momentum, momentum[[0]].repeat(len(momentum), axis=0), atol=1e-6)
    assert all(log.summary["vehicles"][name]["valid"] for name in vehicles)


@pytest.mark.slow
def test_a_vehicle_that_lands_on_a_free_deck_pushes_it(flown):
    deck = {"center_body_m": [0, 0, HALF_M], "length_m": 1.0, "width_m": 1.0}
    vehicles = {
        "below": block((0, 0, HALF_M), friction=0.0, deck=deck, mass_kg=4.0),
        "above": block((-0.25, 0, 0.6), velocity=(1, 0, 0)),
    }
    log = flown(vehicles, duration_s=1.5)
    above, below = (column(log, name, "vx_mps")[:, 0] for name in ("above", "below"))
    np.testing.assert_allclose(above + 4.0 * below, 1.0, atol=5e-3)
    assert above[-1] == pytest.approx(0.2, abs=5e-3)
    assert below[-1] == pytest.approx(0.2, abs=5e-3)
    landing = log.summary["vehicles"]["above"]["touchdown"]
    fallen_mps = math.sqrt(2.0 * GRAVITY_MPS2 * 0.3)
    assert landing["speed_mps"] == pytest.approx(math.hypot(1.0, fallen_mps), rel=0.1)


@pytest.mark.slow
def test_a_deck_that_moves_carries_what_stands_on_it(flown):
    deck = {
        **{"type": "moving", "position_world_m": [0, 0, 1], "length_m": 2, "width_m": 2},
        **{"velocity_world_mps": [1, 0, 0], "yaw_rate_degps": 10, "heave_m": 0.1},
        **{"roll_deg": 3, "pitch_deg": 3},
    }
    start = {"velocity_world_mps": [1, 0, 0.157]}
    rider = block((0.3, 0.2, 1.12), start=start)
    log = flown({"rider": rider}, duration_s=20.0, platforms={"deck": deck}, rate_hz=100)
    x_m, y_m = column(log, "rider", "x_m", "y_m")[-1]
    assert math.hypot(x_m - 20.0, y_m) == pytest.approx(math.hypot(0.3, 0.2), abs=0.01)
    assert (column(log, "rider", "contact")[100:] >= 1).all()


@pytest.mark.slow
def test_an_obstacle_stops_a_block_that_would_be_lost_otherwise(flown):
    wall = {"wall": {"type": "box", "center_world_m": [2, 0, 5], "sides_m": [1, 4, 10]}}
    vehicles = {"thrown": block((0, 0, 5), velocity=(4, 0, 0))}
    log = flown(vehicles, obstacles=wall, duration_s=3.0)
    assert log.summary["vehicles"]["thrown"]["valid"]
    assert column(log, "thrown", "x_m").max() < 1.5 - HALF_M + 0.01
    lost = flown(vehicles, obstacles=wall, duration_s=3.0, physics="compliant")
    assert not lost.summary["vehicles"]["thrown"]["valid"]


@pytest.mark.parametrize("name", OBSTACLES.names())
def test_solids_are_where_rays_meet_the_obstacle(name):
    for obstacle in OBSTACLES.find(name).examples().values():
        there = dataclasses.replace(world(), ground_z_m=-1e4, obstacles=(obstacle,))
        model = Mujoco().engine(there, {}).machine.model
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        key = jax.random.key(4)
        origins = np.asarray(jax.random.uniform(key, (100, 3), minval=-8.0, maxval=8.0))
        goals = np.asarray(jax.random.normal(jax.random.fold_in(key, 1), (100, 3)))
        ways = goals + np.asarray(AHEAD.array) - origins
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        own = np.asarray(_distances(obstacle, jnp.asarray(origins), jnp.asarray(ways)))
        hit = np.zeros(1, np.int32)
        met = [
            mujoco.mj_ray(model, data, o, w, None, 1, -1, hit)
            for o, w in zip(origins, ways, strict=True)
        ]
        theirs = np.array([math.inf if not 0.0 <= m < 100.0 else m for m in met])
        both = np.isfinite(own) & np.isfinite(theirs)
        assert both.sum() > 5
        # rays that graze an edge, and sheets in flat strips of their bends
        near = np.abs(own[both] - theirs[both]) < 10.0 * THICKNESS_M
        assert near.mean() > 0.9


def _distances(obstacle, origins, ways):
    def distance(origin, way):
        return cast_ray((obstacle,), Ray(Vec3.of(origin), Vec3.of(way))).distance_m

    return jax.vmap(distance)(origins, ways)


@pytest.mark.bits
@pytest.mark.slow  # compiles MuJoCo's step three times
def test_the_same_seed_gives_the_same_bits_also_beside_others_worlds(flown, tmp_path):
    vehicles = {"one": block((0, 0, 0.3), start={"roll_deg": 30, "pitch_deg": 10})}
    first, again = (flown(vehicles).frame("one") for _ in range(2))
    np.testing.assert_array_equal(first, again)
    fleet = kw.load(str(tmp_path / "contact.yaml"))
    with jax.enable_x64(True):
        state = fleet.init(kw.seed_key(0))
        worlds = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), state)
        alone = jax.jit(lambda s: fleet.rollout(s, 200))(state)[0]
        both = jax.jit(jax.vmap(lambda s: fleet.rollout(s, 200)[0]))(worlds)
    for own, two in zip(fleet_place(alone), fleet_place(both), strict=True):
        np.testing.assert_allclose(two, np.stack([own, own]), rtol=0.0, atol=1e-12)


def fleet_place(state):
    return jax.tree.leaves(state.groups[0].dynamics.rigid_body.mechanical_state.configuration)


def test_without_mujoco_the_message_has_the_line_that_installs_it(monkeypatch, tmp_path):
    def missing(module, extra):
        message = f"this needs {module}. Install it with: pip install 'kittiwake[{extra}]'"
        raise MissingExtraError(message)

    monkeypatch.setattr("kittiwake.physics.mujoco_engine.import_optional", missing)
    with pytest.raises((ScenarioError, MissingExtraError), match=r"kittiwake\[mujoco\]"):
        build(parse_document(document({"one": block((0, 0, 1))}), "contact.yaml"), tmp_path)


PELICAN = """model: pelican
    start: {position_world_m: [0, 0, 0.5]}
    parameters: {linear_noise_mps2: 0, angular_noise_radps2: 0}"""

LANDING = """
name: landing
time: {rate_hz: 100, duration_s: 16}
world:
  area: {x_m: [-60, 60], y_m: [-60, 60], z_m: [-1, 10]}
  wind: {type: shear, speed_at_6m_mps: 3, from_deg: 200}
  turbulence: {type: dryden, speed_at_6m_mps: 3}
vehicles:
  strider:
    model: strider
    controller: {type: vessel-position, cruise_speed_mps: 1, hold_radius_m: 0}
    guidance: {type: waypoints, positions_world_m: [[50, 0, 0]]}
  drone:
    model: ar-drone
    partner: strider
    start: {position_world_m: [0, 0, 2]}
    sensors: {deck: beacon}
    controller: position
    guidance: {type: deck-landing, begin_after_s: 2}
"""


@pytest.mark.slow  # two programs
def test_the_same_landing_ends_on_the_deck_with_either_physics(tmp_path):
    path = tmp_path / "landing.yaml"
    path.write_text(LANDING, encoding="utf-8")
    logs = [kw.load(str(path), overrides={"physics": p}).run() for p in ("mujoco", "compliant")]
    landings = [log.summary["vehicles"]["drone"]["touchdown"] for log in logs]
    first_s = [_first(log, "touched down") for log in logs]
    assert first_s[0] == pytest.approx(first_s[1], abs=0.2)
    for log, landing in zip(logs, landings, strict=True):
        assert landing["speed_mps"] < 0.5
        assert landing["offset_m"] < 0.1
        apart = column(log, "drone", "x_m", "y_m")[-1] - column(log, "strider", "x_m", "y_m")[-1]
        assert np.hypot(*apart) < 0.1
        assert column(log, "drone", "z_m")[-1] == pytest.approx(0.35 + 0.06, abs=0.02)


def _first(log, event):
    return next(one.time_s for one in log.events if one.event.startswith(event))


@pytest.mark.slow
def test_a_weight_on_its_deck_loads_a_hull_that_can_sink(flown):
    mass_kg, area_m2 = 5.0, 0.75
    vehicles = {
        "otter": {"model": "otter", "guidance": "hold"},
        "load": block((-0.2, 0, 0.5), mass_kg=mass_kg),
    }
    flat = {"x_m": [-5, 5], "y_m": [-5, 5], "z_m": [-2, 5]}
    log = flown(vehicles, duration_s=30.0, area=flat, rate_hz=100)
    empty = flown({"otter": vehicles["otter"]}, duration_s=30.0, area=flat, rate_hz=100)
    sinkage_m = column(empty, "otter", "z_m")[-1] - column(log, "otter", "z_m")[-1]
    assert sinkage_m == pytest.approx(mass_kg / (1025.0 * area_m2), rel=0.02)


def test_a_vehicle_with_built_in_attitude_control_stands_on_the_ground(tmp_path):
    text = document({"pelican": {"model": "pelican"}})
    path = tmp_path / "falls.yaml"
    path.write_text(text.replace("model: pelican", PELICAN), encoding="utf-8")
    sim = kw.load(str(path))
    sim.reset()
    for _ in range(1000):
        sim.step({"pelican": kw.AttitudeThrottle(0.0, 0.0, 0.0, 0.0, 12.0)})
    seen = sim.observe()["pelican"].estimate
    assert seen.position_world_m.z == pytest.approx(0.094, abs=5e-3)
    assert abs(seen.velocity_world_mps.z) < 1e-3


@pytest.mark.slow
def test_a_load_beside_the_middle_does_not_drive_a_vessel(flown):
    vehicles = {
        "otter": {"model": "otter", "guidance": {"type": "playback", "file": "stopped.csv"}},
        "load": block((-0.2, 0.35, 0.5), mass_kg=10.0),
    }
    flat = {"x_m": [-5, 5], "y_m": [-5, 5], "z_m": [-2, 5]}
    log = flown(vehicles, duration_s=40.0, area=flat, rate_hz=100)
    speed = np.hypot(*column(log, "otter", "vx_mps", "vy_mps").T)
    assert speed[-500:].max() < 2e-3


def test_a_lost_vehicle_touches_and_moves_no_other(tmp_path):
    vehicles = {
        "stands": block((5, 5, HALF_M)),
        "gone": block((5, 5, 0.5), velocity=(0, 0, 1e9)),
    }
    text = document(vehicles, duration_s=1.0) + "lost_vehicle: continue\n"
    path = tmp_path / "gone.yaml"
    path.write_text(text, encoding="utf-8")
    log = kw.load(str(path)).run()
    assert not log.summary["vehicles"]["gone"]["valid"]
    place = column(log, "stands", "x_m", "y_m", "z_m")
    np.testing.assert_allclose(place - place[0], 0.0, atol=2e-3)


@pytest.mark.parametrize(
    ("vehicles", "said"),
    [
        (
            {"a": block((0, 0, 1)), "b": block((0.05, 0, 1))},
            "vehicle a and vehicle b overlap by 0.15 m",
        ),
        (
            {"a": block((0, 0, 1), feet=False, size_body_m=[0, 0, 0])},
            "has no collision geometry",
        ),
        ({"a": block((0, 0, 1), feet=False, inertia_kgm2=TINY)}, "MuJoCo rejects these bodies"),
    ],
)
def test_impossible_starts_are_refused_readably(vehicles, said, tmp_path):
    with pytest.raises(ScenarioError, match=f"physics: .*{said}"):
        build(parse_document(document(vehicles), "contact.yaml"), tmp_path)
