"""Scenarios from Python objects equal those of files."""

import shutil
from math import pi

import equinox as eqx
import pytest
from tests.unit.tasks import scenes

import kittiwake as kw
from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec
from kittiwake.scenario import library
from kittiwake.scenario.document import parse_document

CUBE = {"x_m": (-10, 10), "y_m": (-10, 10), "z_m": (0, 20)}
HOLD = kw.guidance.Hold(position_world_m=[0.6, -0.6, 10.5], yaw_deg=30)


def hover(model):
    vehicle = kw.Vehicle(
        model=model, start={"position_world_m": [0, 0, 10]}, controllers="position", guidance=HOLD
    )
    area = kw.World(area=CUBE)
    return kw.Scenario(area, {model: vehicle}, rate_hz=500, duration_s=30, log_rate_hz=50)


def pelican(guidance):
    return kw.Vehicle(
        model="pelican",
        start=kw.Start(position_world_m=kw.Vec3(0.0, 0.0, 10.0), yaw_rad=pi / 2),
        sensors={
            "gnss": kw.sensors.Gnss(elevation_mask_deg=-90, satellites_tracked=(10, 13)),
            "altimeter": kw.sensors.Altimeter(),
            "orientation": kw.sensors.Orientation(),
            "imu": kw.sensors.QrsimImu(),
        },
        estimator=kw.estimation.QRSimEstimate(),
        controllers=kw.control.QRSimWaypoint(),
        guidance=guidance,
    )


OXFORD = {"latitude_deg": 51.7119, "longitude_deg": -0.21052}
SATELLITES = kw.environment.NominalConstellation()


def keep_spot():
    area = {"x_m": (-10, 10), "y_m": (-10, 20), "z_m": (0, 20)}
    return kw.Scenario(
        kw.World(area=area, origin=OXFORD, satellites=SATELLITES),
        {"pelican": pelican(kw.guidance.Hold(position_world_m=[0, 0, 10], yaw_deg=90))},
        duration_s=60,
        task=kw.tasks.KeepSpot(),
    )


def waypoint_tour():
    tour = [[0, 30, 12], [25, 30, 18], [25, -20, 22], [-20, -20, 15], [0, 0, 10]]
    guidance = kw.guidance.Waypoints(
        positions_world_m=tour, acceptance_radius_m=3, wait_s=1, yaw_deg=90
    )
    world = kw.World(
        area={"x_m": (-60, 60), "y_m": (-60, 60), "z_m": (0, 60)},
        wind=kw.environment.ShearWind(speed_at_6m_mps=2, from_deg=250),
        turbulence=kw.environment.Dryden(speed_at_6m_mps=2),
        origin=OXFORD,
        satellites=SATELLITES,
    )
    return kw.Scenario(world, {"pelican": pelican(guidance)}, rate_hz=50, duration_s=90)


def circle():
    start = {"position_world_m": [1, 0, 5], "yaw_deg": 90, "velocity_world_mps": [0, 1, 0]}
    vehicle = kw.Vehicle(
        dynamics=kw.vehicles.uav_gazebo(),
        start=start,
        controllers=[kw.control.Position(), kw.control.EulerAttitude()],
        guidance=kw.guidance.Curve(
            center_world_m=[0, 0, 5],
            amplitude_world_m=[1, 1, 0],
            angular_rates_radps=[1, 1, 0],
            phases_deg=[90, 0, 0],
            yaw_deg=90,
            yaw_rate_radps=1,
            feed_forward="acceleration",
        ),
    )
    return kw.Scenario(vehicles={"uav-gazebo": vehicle}, rate_hz=500, duration_s=40)


def crossing(model, controller, *goals):
    return kw.Vehicle(
        model=model,
        start={"position_world_m": [0, 0, 3]},
        controllers=controller,
        guidance=kw.guidance.Waypoints(positions_world_m=goals, acceptance_radius_m=0.3, wait_s=1),
    )


def wind_box():
    draft = kw.environment.WindRegion(
        from_world_m=[3, -4, 0], to_world_m=[7, 4, 6], wind_world_mps=[0, 5, 0]
    )
    controller = kw.control.Position(integral_gain_per_s2=0.5)
    vehicle = crossing("hummingbird", controller, [10, 0, 3], [0, 0, 3])
    area = {"x_m": (-5, 15), "y_m": (-10, 10), "z_m": (0, 10)}
    world = kw.World(area=area, regions={"draft": draft})
    return kw.Scenario(world, {"hummingbird": vehicle}, rate_hz=500, duration_s=16, log_rate_hz=50)


def force_box():
    shove = kw.environment.ForceRegion(
        from_world_m=[2, -2, 0], to_world_m=[4, 2, 6], force_world_n=[0, 0.4, 0]
    )
    vehicle = crossing("ar-drone", "position", [6, 0, 3])
    area = {"x_m": (-5, 10), "y_m": (-5, 5), "z_m": (0, 10)}
    world = kw.World(area=area, regions={"shove": shove})
    return kw.Scenario(world, {"ar-drone": vehicle}, rate_hz=500, duration_s=8, log_rate_hz=100)


def flock_8():
    behaviors = [
        kw.swarm.Separation(distance_m=10, gain_m2ps=1, limit_mps=1.5),
        kw.swarm.Alignment(gain=0.5, limit_mps=1),
        kw.swarm.Cohesion(gain_hz=0.3, limit_mps=1),
        kw.swarm.Targeting(target_world_m=[5, 5, 5], gain_hz=0.5, limit_mps=1),
    ]
    vehicle = kw.Vehicle(
        model="os4",
        count=8,
        start={"position_world_m": [-4, -3, 2]},
        spacing_m=[2.5, 3, 2],
        grid=(3, 2),
        controllers=[
            kw.control.Velocity(time_constant_s=0.3),
            kw.control.Acceleration(),
            kw.control.Attitude(),
            kw.control.Mixer(),
        ],
        guidance=kw.guidance.Flock(radius_m=20, behaviors=behaviors),
    )
    area = {"x_m": (-20, 30), "y_m": (-20, 30), "z_m": (0, 30)}
    world = kw.World(area=area, collision_distance_m=0.8)
    return kw.Scenario(world, {"drone": vehicle}, rate_hz=250, duration_s=30, log_rate_hz=25)


def deck_landing():
    world = kw.World(
        area={"x_m": (-10, 180), "y_m": (-20, 20), "z_m": (-1, 6)},
        wind=kw.environment.ShearWind(speed_at_6m_mps=3, from_deg=45),
        turbulence=kw.environment.Dryden(speed_at_6m_mps=3),
    )
    strider = kw.Vehicle(
        model="strider",
        controllers=kw.control.VesselPosition(cruise_speed_mps=1, hold_radius_m=0),
        guidance=kw.guidance.Waypoints(positions_world_m=[[160, 0, 0]], acceptance_radius_m=0.5),
    )
    drag = kw.forces.LinearDrag(damping_body_kgps=[0.26, 0.26, 0.26])
    drone = kw.Vehicle(
        dynamics=kw.vehicles.ar_drone(forces=[drag]),
        partner="strider",
        start={"position_world_m": [0, 0, 0.41]},
        sensors={"deck": kw.sensors.Beacon()},
        controllers=kw.control.Position(
            natural_frequency_radps=3, integral_gain_per_s2=2, vertical_frequency_radps=5
        ),
        guidance=kw.guidance.DeckLanding(
            begin_after_s=5,
            altitude_m=1.65,
            approach_altitude_m=0.65,
            error_threshold_m=0.1,
        ),
    )
    return kw.Scenario(world, {"strider": strider, "drone": drone}, rate_hz=100, duration_s=30)


def downwash():
    world = kw.World(
        area={"x_m": (-6, 6), "y_m": (-6, 6), "z_m": (0, 10)},
        interactions=[kw.environment.Downwash()],
    )
    upper = kw.Vehicle(
        model="hummingbird",
        start={"position_world_m": [0, 0, 5]},
        guidance=kw.guidance.Hold(),
    )
    lower = kw.Vehicle(
        model="hummingbird",
        start={"position_world_m": [-3, 0, 3.5]},
        guidance=kw.guidance.Waypoints(
            positions_world_m=[[3, 0, 3.5]], acceptance_radius_m=0.2, wait_s=1
        ),
    )
    return kw.Scenario(
        world, {"upper": upper, "lower": lower}, rate_hz=500, duration_s=8, log_rate_hz=50
    )


REBUILT = {
    "hover-os4": lambda: hover("os4"),
    "hover-hummingbird": lambda: hover("hummingbird"),
    "keep-spot": keep_spot,
    "waypoint-tour": waypoint_tour,
    "circle": circle,
    "wind-box": wind_box,
    "force-box": force_box,
    "flock-8": flock_8,
    "deck-landing": deck_landing,
    "downwash": downwash,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REBUILT)
def test_library_scenario_of_objects_is_that_of_its_file(name):
    built, read = REBUILT[name](), kw.Scenario.load(name)
    for part in ("world", "vehicles", "physics", "partners", "teams"):
        assert eqx.tree_equal(getattr(built, part), getattr(read, part), typematch=True), part
    for part in ("seed", "rate_hz", "duration_s", "log_every", "fails_when_lost"):
        assert getattr(built, part) == getattr(read, part), part


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_written_scenario_is_read_as_the_same_data(name):
    scenario = kw.Scenario.load(name)
    again = parse_document(scenario.to_yaml(), "again").data
    assert again == {"format": 1, **scenario.document.data}


WITH_FILES = [
    "pelican-playback",
    "pursuit",
    "survey-lake",
    "survey-pairs",
    "wind-recorded",
    "hover-from-shapes",
]


def read_beside_its_files(scenario, folder):
    """Return the scenario that is written and read in a folder with copies of its files."""
    for file in library.FOLDER.iterdir():
        if file.suffix in {".csv", ".json", ".geojson", ".xacro"}:
            shutil.copy(file, folder)
    (folder / "again.yaml").write_text(scenario.to_yaml())
    return kw.Scenario.load(folder / "again.yaml")


@pytest.mark.parametrize("name", WITH_FILES)
def test_written_scenario_with_files_is_read_again_beside_them(name, tmp_path):
    scenario = kw.Scenario.load(name)
    again = read_beside_its_files(scenario, tmp_path)
    assert scenario.tables or scenario.inlined
    assert again.tables == {path: tmp_path / file.name for path, file in scenario.tables.items()}
    for part in ("world", "vehicles", "physics", "partners", "teams"):
        assert eqx.tree_equal(getattr(again, part), getattr(scenario, part), typematch=True), part
    for part in ("seed", "rate_hz", "duration_s", "log_every", "fails_when_lost"):
        assert getattr(again, part) == getattr(scenario, part), part


# of equal data the other library scenarios are built alike
@pytest.mark.slow
@pytest.mark.parametrize("name", [*WITH_FILES, "keep-spot with a policy"])
def test_written_scenario_with_files_flies_the_same_bits(name, tmp_path):
    source = name
    if name not in WITH_FILES:
        file, _ = scenes.policy(tmp_path, 15, 4, "keep-spot")
        source = tmp_path / "given.yaml"
        source.write_text(keep_spot().to_yaml() + f"policy: {file.name}\n")
    scenario = kw.Scenario.load(source)
    again = read_beside_its_files(scenario, tmp_path)
    logs = [kw.Simulation(one).run(duration_s=0.2) for one in (scenario, again)]
    assert logs[0].tables.keys() == logs[1].tables.keys()
    for vehicle, table in logs[0].tables.items():
        assert table.columns == logs[1].tables[vehicle].columns
        assert len(table.values) > 1
        assert table.values.tobytes() == logs[1].tables[vehicle].values.tobytes()


def test_scenario_of_objects_is_written_and_read_again():
    scenario = wind_box()
    again = kw.Scenario.load(parse_document(scenario.to_yaml(), "again").data)
    assert eqx.tree_equal(again.vehicles, scenario.vehicles, typematch=True)
    assert eqx.tree_equal(again.world, scenario.world, typematch=True)


def test_obstacles_of_a_list_are_named_by_their_order():
    ball = kw.environment.Sphere(center_world_m=[5, 0, 5], radius_m=1)
    scenario = kw.Scenario(
        kw.World(obstacles=[ball, ball]), {"h": kw.Vehicle(model="hummingbird")}, duration_s=1
    )
    assert scenario.world.obstacle_names == ("obstacle-1", "obstacle-2")


def test_specification_shows_what_was_given():
    assert repr(kw.control.Lee(rate_hz=100)) == "Lee(rate_hz=100)"
    assert kw.control.Lee(rate_hz=100) == kw.control.Lee(rate_hz=100)
    assert kw.control.Lee(rate_hz=100) != kw.control.Lee(rate_hz=50)


def test_definitions_show_what_was_given_in_one_line():
    vehicle = kw.Vehicle(model="hummingbird", controllers=[kw.control.Lee(rate_hz=100)])
    assert repr(vehicle) == "Vehicle(model='hummingbird', controllers=[Lee(rate_hz=100)])"
    assert repr(kw.World(wind=[1, 0, 0])) == "World(wind=[1, 0, 0])"
    assert (
        repr(kw.Scenario(vehicles={"h": vehicle}, rate_hz=500, duration_s=2))
        == "<Scenario 'scenario': 1 vehicle, 2 s at 500 Hz, seed 0>"
    )


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (
            lambda: kw.control.Lee(position_gian_per_s2=3),
            r"Lee has no parameter `position_gian_per_s2`\. Did you mean 'position_gain_per_s2'\?",
        ),
        (
            lambda: kw.Scenario(
                vehicles={
                    "h": kw.Vehicle(
                        model="hummingbird",
                        controllers=[kw.control.Lee(position_gain_per_s2=-1)],
                    )
                },
                duration_s=1,
            ),
            r"vehicles\.h\.controller\.0\.position_gain_per_s2: -1 is not allowed; must be above 0",
        ),
        (
            lambda: kw.Scenario(
                kw.World(wind=6), {"h": kw.Vehicle(model="hummingbird")}, duration_s=1
            ),
            r"world\.wind: 6 is not allowed; write the velocity of the air",
        ),
        (lambda: kw.Scenario(vehicles={"h": kw.Vehicle()}), "`Vehicle`: give either model"),
        (lambda: kw.Scenario(), "vehicles: {} is not allowed"),
        (lambda: kw.Vehicle(controller="lee"), "Vehicle has no .*Did you mean 'controllers'"),
        (lambda: kw.Vehicle(controllerz="lee"), "Did you mean 'controllers'.*Allowed: "),
        (lambda: kw.Vehicle(initial_state={}), "Did you mean 'start'"),
        (lambda: kw.Vehicle("os4"), r"Vehicle: got 'os4' .*write Vehicle\(model='os4'\)"),
        (lambda: kw.World(winds=[1, 0, 0]), "World has no parameter `winds`.*Did you mean 'wind'"),
        (lambda: kw.World(wind_profile=[1, 0, 0]), "Did you mean 'wind'"),
        (lambda: kw.Scenario(dt=0.01), "Scenario has no parameter `dt`.*Did you mean 'rate_hz'"),
        (
            lambda: kw.Scenario(None, kw.Vehicle(model="os4")),
            r"`vehicles`: got a Vehicle; .*\. Write vehicles=\{'h': kw.Vehicle\(...\)\}",
        ),
        (
            lambda: kw.Scenario(None, [kw.Vehicle(model="os4")]),
            r"`vehicles`: got \[Vehicle\(.*must be a mapping",
        ),
        (lambda: kw.Scenario.load(5), "`scenario`: got 5; must be a library name"),
    ],
)
def test_mistake_is_refused_with_its_place(define, message):
    with pytest.raises(kw.KittiwakeError, match=message):
        define()


def test_misspelled_component_suggests_the_nearest():
    with pytest.raises(AttributeError, match="has no attribute 'Le'. Did you mean 'Lee'?"):
        _ = kw.control.Le


@pytest.mark.parametrize("name", kw._NAMESPACES)
def test_namespace_has_a_specification_for_each_registered_name(name):
    namespace = getattr(kw, name)
    # dynamics are written as vehicle models
    known = [one for one in vars(namespace).values() if isinstance(one, Registry)]
    registries = [one for one in known if one.family != "dynamics"]
    assert registries
    for registry in registries:
        for entry in registry.names():
            python_name = registry.python_name(entry)
            assert python_name in dir(namespace)
            assert issubclass(getattr(namespace, python_name), ComponentSpec)
