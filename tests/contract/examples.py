"""Example instances of all registered components, and circumstances to test them in.

A component that can be built from its defaults needs nothing here. One with required parameters
needs an entry in ``EXAMPLES``, under its family and name; several entries show its several forms.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.actuators import BATTERIES, FAULTS
from kittiwake.actuators.battery import LithiumPolymer
from kittiwake.actuators.motor_fault import MotorFault
from kittiwake.actuators.propeller_fault import PropellerFault
from kittiwake.actuators.rudder_fault import RudderFault
from kittiwake.actuators.shaft_fault import ShaftFault
from kittiwake.contact.deck import DeckState
from kittiwake.control import CONTROLLERS
from kittiwake.control.acceleration import Acceleration
from kittiwake.control.allocation import allocation_rows
from kittiwake.control.attitude import Attitude
from kittiwake.control.butterworth import Butterworth
from kittiwake.control.dikmen import Dikmen
from kittiwake.control.distance_lock import DistanceLock
from kittiwake.control.euler_attitude import EulerAttitude
from kittiwake.control.hoffmann import Hoffmann
from kittiwake.control.indi import Indi
from kittiwake.control.kemper import Kemper
from kittiwake.control.lee import Lee
from kittiwake.control.lqr import Lqr
from kittiwake.control.mellinger import Mellinger
from kittiwake.control.mixer import Mixer
from kittiwake.control.modes import Modes
from kittiwake.control.pid import Pid
from kittiwake.control.rates import Rates
from kittiwake.control.stick_inversion import StickInversion
from kittiwake.control.surface_following import SurfaceFollowing
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.control.uav_usv_cascade import UavUsvCascade
from kittiwake.control.uav_usv_flatness import UavUsvFlatness
from kittiwake.control.vessel_propellers import VesselPropellers
from kittiwake.core.arrays import as_arrays
from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.component import Scheduled
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.core.neighbors import Neighbor, NeighborTable, Roster, StateReport
from kittiwake.core.recording import Recording
from kittiwake.core.registry import Registry
from kittiwake.core.wrench import Wrench
from kittiwake.environment import (
    ATMOSPHERES,
    CURRENTS,
    FIELDS,
    INTERACTIONS,
    OBSTACLES,
    PLATFORMS,
    PLUMES,
    RANGE_ERRORS,
    REGIONS,
    SATELLITES,
    TERRAINS,
    TURBULENCE,
    WAVES,
    WINDS,
)
from kittiwake.environment.current import UniformCurrent
from kittiwake.environment.fields.from_seed import SeededField
from kittiwake.environment.fields.patches import FieldPatch, Patches
from kittiwake.environment.fields.raster import Grid, Raster
from kittiwake.environment.obstacles.boxes import Box, Platform, Slab
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.environment.obstacles.round import Capsule, Cylinder, Sphere
from kittiwake.environment.obstacles.sheets import ParabolicSheet, Plane
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.environment.obstacles.waves import WavySheet
from kittiwake.environment.platforms import FixedPlatform, MovingPlatform
from kittiwake.environment.plumes.dispersion import DispersionPlume
from kittiwake.environment.plumes.gaussian import GaussianPlume
from kittiwake.environment.plumes.puffs import PuffPlume
from kittiwake.environment.plumes.sources import Sources
from kittiwake.environment.prescribed_winds import (
    ConstantWind,
    CosineGust,
    RecordedWind,
    SinusoidalWind,
    StepWind,
)
from kittiwake.environment.regions import ForceRegion, WindRegion
from kittiwake.environment.satellites.nominal import NominalConstellation
from kittiwake.environment.satellites.precise import OrbitTable, PreciseConstellation
from kittiwake.environment.satellites.range_errors import FirstOrderError
from kittiwake.environment.terrain import PouredTerrain
from kittiwake.environment.turbulence import Dryden
from kittiwake.environment.waves.irregular import JonswapSea, PiersonMoskowitzSea
from kittiwake.environment.waves.regular import RegularWaves
from kittiwake.environment.wind import ShearWind
from kittiwake.estimation import ESTIMATORS
from kittiwake.forces import FORCES, GROUND_EFFECTS, ROTORS
from kittiwake.forces.blade_element_rotor import BladeElementRotor
from kittiwake.forces.drag import LinearDrag, QuadraticDrag, RotationDamping
from kittiwake.forces.lumped_rotor import LumpedRotor
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import AVOIDANCE, GUIDANCE
from kittiwake.guidance.avoidance.barrier import Barrier
from kittiwake.guidance.avoidance.gageik import Gageik
from kittiwake.guidance.avoidance.repulsion import Repulsion
from kittiwake.guidance.avoidance.wagster import Wagster
from kittiwake.guidance.conditions import Condition
from kittiwake.guidance.flock import Flock
from kittiwake.guidance.landing.deck_landing import DeckLanding
from kittiwake.guidance.landing.follow_deck import FollowDeck
from kittiwake.guidance.landing.land import Land
from kittiwake.guidance.landing.vtol import Vtol
from kittiwake.guidance.maneuvers.follow_surface import FollowSurface
from kittiwake.guidance.maneuvers.goto import Goto
from kittiwake.guidance.maneuvers.hold import Hold
from kittiwake.guidance.maneuvers.line_of_sight import LineOfSight
from kittiwake.guidance.maneuvers.mode_tour import ModeStage, ModeTour
from kittiwake.guidance.maneuvers.playback import Playback
from kittiwake.guidance.maneuvers.waypoints import Waypoints
from kittiwake.guidance.mission import Mission, MissionStep, Rule
from kittiwake.guidance.planning.plan_path import PlanPath
from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.guidance.route import Route
from kittiwake.guidance.trajectories.curve import Curve
from kittiwake.guidance.trajectories.follow_trajectory import FollowTrajectory
from kittiwake.guidance.trajectories.pursue import Pursue
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.interfaces.guidance import AvoidanceInputs, GuidanceInputs
from kittiwake.interfaces.instrument import Sample
from kittiwake.interfaces.parts import Flow
from kittiwake.interfaces.renderer import (
    BODIES,
    AbstractRenderer,
    Bodies,
    ImageFormat,
    RenderedImage,
    Viewpoint,
)
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.physics import DYNAMICS
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors import SENSOR_ERRORS, SENSORS
from kittiwake.sensors.camera import Camera
from kittiwake.sensors.errors.bias import Bias
from kittiwake.sensors.errors.dropout import Dropout
from kittiwake.sensors.errors.latency import Latency
from kittiwake.sensors.errors.noise import Noise
from kittiwake.sensors.errors.quantization import Quantization
from kittiwake.sensors.errors.saturation import Saturation
from kittiwake.sensors.errors.stuck import Stuck
from kittiwake.sensors.gnss import Gnss
from kittiwake.sensors.imu import Imu
from kittiwake.sensors.magnetometer import Magnetometer
from kittiwake.sensors.marker import Marker
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.person_camera import PersonCamera
from kittiwake.sensors.plume_sensor import PlumeSensor
from kittiwake.sensors.probe import Probe, ViewBelow
from kittiwake.sensors.range_camera import RangeCamera
from kittiwake.sensors.terrain_sensor import TerrainMeasurement
from kittiwake.sensors.ultrasonic import Ultrasonic
from kittiwake.sensors.ultrasonic_array import UltrasonicArray
from kittiwake.sensors.ultrasonic_head import UltrasonicHead
from kittiwake.swarm import BEHAVIORS, RADIOS
from kittiwake.swarm.alignment import Alignment
from kittiwake.swarm.cohesion import Cohesion
from kittiwake.swarm.follow_leader import FollowLeader
from kittiwake.swarm.formation import Formation
from kittiwake.swarm.informed_avoid import InformedAvoid
from kittiwake.swarm.lossy_radio import LossyRadio
from kittiwake.swarm.olfati_saber import OlfatiSaber
from kittiwake.swarm.separation import Separation
from kittiwake.swarm.targeting import Targeting
from kittiwake.vehicles import VEHICLES
from kittiwake.world.field import FIELD, FieldProcess
from kittiwake.world.interaction_input import InteractionInput, Wake
from kittiwake.world.plume import PLUME, PlumeProcess, Site
from kittiwake.world.radio import Broadcast
from kittiwake.world.ray import Ray, cast
from kittiwake.world.satellites import SKY, SatelliteProcess
from kittiwake.world.surroundings import Air, Surroundings
from kittiwake.world.terrain import TERRAIN, TerrainProcess
from kittiwake.world.water import Waterplane
from kittiwake.world.waves import WaveProcess
from kittiwake.world.world import FlightArea, Origin, World

DT_S = 0.02
# a body at a thousand meters a second needs a shorter step than its controllers
PHYSICS_DT_S = 0.002
# of the vehicle of the circumstances, on its way
AHEAD = Vec3(4.0, 2.0, 10.0)
CORNERS = np.array(
    [[[0, 0, 2], [2, 0, -1], [-1, 2, -1]], [[0, 0, 2], [-1, 2, -1], [-1, -2, -1]]], float
)
AREA = FlightArea((-9.0, 9.0), (-9.0, 9.0), (0.0, 9.0))
PLACES = (Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0), Vec3(-2.0, 4.0, 6.0))
LAKE = SurveyPattern(
    "coverage",
    lane_spacing_m=2.0,
    polygon_world_m=((0.0, 0.0), (9.0, 1.0), (5.0, 4.0), (8.0, 9.0), (0.0, 7.0)),
    islands_world_m=(((2.0, 3.0), (4.0, 3.0), (3.0, 5.0)),),
    margin_m=0.2,
    height_world_m=10.0,
)
SWEEP = SurveyPattern("sweep", Vec3(1.0, 2.0, 10.0), 6.0, 4.0, 2.0, 0.5)
GRID = Grid("six.asc", (-3.0, -4.0), 5.0, np.array([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]]))
# of a task without requirements
ANYWHERE: Any = BuildContext(
    SimpleNamespace(area=FlightArea(), obstacles=(), ground_z_m=-1e5, origin=Origin()),
    None,
    Start(),
    {},
)
# a deck that sails, heaves and rolls below the vehicle of the circumstances
PARTNER = DeckState(
    Vec3(1.2, 1.9, 9.0),
    Quaternion.from_euler(EulerZYX(0.5, -0.1, 0.2)),
    *(Vec3(1.0, 0.2, 0.1), Vec3(0.1, 0.2, 0.0)),
    *(0.6, 0.6),
)
HUBS = (Vec3(0.2, 0.0, 0.0), Vec3(0.0, -0.2, 0.0), Vec3(-0.2, 0.0, 0.0), Vec3(0.0, 0.2, 0.0))


def recording() -> Recording:
    """Return a recording of sticks that change within the tested ticks."""
    values = np.array([[0.1, -0.1, 0.6, 0.2, 11.0], [0.2, 0.1, 0.5, -0.3, 11.5]])
    return Recording(
        tuple(column_names(AttitudeThrottle)), "recording.csv", 0.04, np.array([0.0, DT_S]), values
    )


def orbit_table() -> OrbitTable:
    """Return the orbits of five satellites on circles in different planes."""
    time_s = np.arange(24) * 900.0
    turn = time_s[:, None] * 1.5e-4 + np.arange(5)
    tilt = 0.5 * np.arange(5)
    circles = np.stack([np.cos(turn), np.sin(turn) * np.cos(tilt), np.sin(turn) * np.sin(tilt)], -1)
    begins_gps = datetime(2026, 1, 1, 10, tzinfo=UTC)
    return OrbitTable("circles.sp3", begins_gps, (1, 2, 3, 5, 8), time_s, 2.66e7 * circles)


def modes() -> Modes:
    """Return the mode controller of a body of 1.5 kg."""
    inertia = Inertia(0.02, 0.03, 0.04, 0.001)
    attitude = EulerAttitude(inertia)
    velocity = UavGazeboVelocity(1.5, attitude)
    return Modes(Acceleration(1.5, 28.8), velocity, attitude, Rates(inertia))


def seeing(avoidance: Any, *names: str) -> Any:
    """Return an avoidance prepared for a vehicle with registered sensors."""
    sensors = {name: _sensor(name) for name in names}
    nowhere: Any = BuildContext(None, None, Start(), sensors)
    return avoidance.prepare(nowhere)


EXAMPLES: dict[str, dict[str, Callable[[], eqx.Module]]] = {
    "avoidance/gageik": {"by a ring": lambda: seeing(Gageik(), "ultrasonic-fan")},
    "avoidance/wagster": {"by a ring": lambda: seeing(Wagster(), "ultrasonic-fan")},
    "avoidance/repulsion": {
        "by turns": lambda: seeing(Repulsion(), "ultrasonic-array", "sonar-cone")
    },
    "avoidance/barrier": {
        "by a lidar": lambda: seeing(Barrier(), "lidar-2d"),
        "by two": lambda: seeing(Barrier(), "ultrasonic", "ultrasonic-fan"),
    },
    "behaviors/targeting": {"plain": lambda: Targeting(target_world_m=Vec3(5.0, 5.0, 5.0))},
    "behaviors/olfati-saber": {
        "to a target": lambda: OlfatiSaber(target_world_m=Vec3(5.0, 5.0, 5.0)),
        "adrift": OlfatiSaber,
    },
    "behaviors/formation": {
        shape: partial(Formation, shape, heading_rad=0.5)
        for shape in ("wedge", "line", "column", "circle", "grid")
    },
    "behaviors/informed-avoid": {
        "without a map": InformedAvoid,
        "by a map": lambda: InformedAvoid(4.0, horizon_s=5.0).prepare(
            BuildContext(
                dataclasses.replace(world(), obstacles=(Box(AHEAD, Vec3(1.0, 2.0, 3.0)),)),
                None,
                Start(),
                {},
            )
        ),
    },
    "guidance/flock": {
        "summed": lambda: Flock((Separation(), Alignment(), Cohesion(weight=0.5))),
        "in order": lambda: Flock((InformedAvoid(), FollowLeader()), combine="order"),
    },
    "radios/lossy": {
        "late": lambda: LossyRadio(
            latency_s=2.0 * DT_S, loss=0.5, fade_distance_m=20.0, bandwidth_bps=1e4
        ),
    },
    "batteries/lithium-polymer": {
        "full": lambda: LithiumPolymer(3, 3600.0, 0.06, 0.7, 3.0),
        "nearly empty": lambda: LithiumPolymer(1, 900.0, 0.1, charge=1e-6),
    },
    "faults/motor": {"begun": lambda: MotorFault(0.5 * DT_S, 1, 0.3)},
    "faults/propeller": {"begun": lambda: PropellerFault(0.5 * DT_S, 0.3)},
    "faults/shaft": {"begun": lambda: ShaftFault(0.5 * DT_S, "left", 0.3)},
    "faults/rudder": {"begun": lambda: RudderFault(0.5 * DT_S, 0.3)},
    "controllers/acceleration": {
        "of 1.5 kg": lambda: Acceleration(mass_kg=1.5, max_thrust_n=28.8),
    },
    "controllers/stick-inversion": {
        "pelican": lambda: StickInversion(0.745, 0.436, (0.66, 3.05, 40.26)),
    },
    "controllers/attitude": {"plain": lambda: Attitude(Inertia(0.02, 0.03, 0.04))},
    "controllers/dikmen": {"plain": lambda: Dikmen(Inertia(0.02, 0.03, 0.04))},
    "controllers/hoffmann": {"plain": lambda: Hoffmann(Inertia(0.02, 0.03, 0.04))},
    "controllers/kemper": {"plain": lambda: Kemper(Inertia(0.02, 0.03, 0.04))},
    "controllers/uav-usv-cascade": {
        "ar-drone": lambda: UavUsvCascade(
            tuple((1.0, y, -x, -s) for x, y, s in ((1, 0, 1), (0, -1, -1), (-1, 0, 1), (0, 1, -1))),
            523.6,
        )
    },
    "controllers/uav-usv-flatness": {
        "open loop": lambda: UavUsvFlatness(0.441, horizontal=Pid(0.0)),
        "short filter": lambda: UavUsvFlatness(0.441, low_pass=Butterworth(20.0, 2)),
    },
    "controllers/euler-attitude": {
        "uneven": lambda: EulerAttitude(Inertia(0.02, 0.03, 0.04, 0.001)),
    },
    "controllers/rates": {"uneven": lambda: Rates(Inertia(0.02, 0.03, 0.04, 0.001))},
    "controllers/uav-gazebo-velocity": {
        "of 1.5 kg": lambda: UavGazeboVelocity(1.5, EulerAttitude(Inertia(0.02, 0.03, 0.04))),
    },
    "controllers/modes": {"of 1.5 kg": modes},
    "controllers/lee": {"of 1.5 kg": lambda: Lee(1.5, Inertia(0.02, 0.03, 0.04), 28.8)},
    "controllers/mellinger": {
        "of 1.5 kg": lambda: Mellinger(1.5, Inertia(0.02, 0.03, 0.04), 28.8),
    },
    "controllers/lqr": {"of 1.5 kg": lambda: Lqr(1.5, Inertia(0.02, 0.03, 0.04), 28.8)},
    "controllers/indi": {
        "at once": lambda: Indi(Inertia(0.02, 0.03, 0.04)),
        "behind motors": lambda: Indi(Inertia(0.02, 0.03, 0.04, 0.001), actuator_lag_s=0.05),
    },
    "controllers/surface-following": {"of 1.5 kg": lambda: SurfaceFollowing(1.5, 28.8)},
    "controllers/distance-lock": {
        "straight": lambda: DistanceLock(1.5, 28.8),
        "slanting": lambda: DistanceLock(1.5, 28.8, direction_world=Vec3(1.0, 15.0, 2.0)),
    },
    "controllers/mixer": {
        "plus": lambda: Mixer(allocation_rows(HUBS, (1.0, -1.0, 1.0, -1.0), 0.02), 1e-5, 800.0)
    },
    "controllers/vessel-propellers": {
        "otter": lambda: VesselPropellers(
            *(60.5, 43.0, 0.395, 0.0111, 0.0064, 104.0, 102.0), 77.6, 45.3, 453.0
        ),
    },
    "forces/linear-drag": {"uneven": lambda: LinearDrag(Vec3(0.1, 0.2, 0.3))},
    "forces/quadratic-drag": {"uneven": lambda: QuadraticDrag(Vec3(0.1, 0.2, 0.3))},
    "forces/rotation-damping": {"uneven": lambda: RotationDamping(Vec3(0.1, 0.2, 0.3))},
    "rotors/blade-element": {
        "of the OS4": lambda: BladeElementRotor(0.15, 0.0394, 0.2618, 0.052, 600.0, 0.045),
        "with balanced wash": lambda: BladeElementRotor(
            *(0.15, 0.0394, 0.2618, 0.052, 600.0, 0.045), inflow="momentum"
        ),
    },
    "rotors/lumped": {
        "static": lambda: LumpedRotor(1e-5, 1e-7, 0.1, 800.0),
        "in the wind": lambda: LumpedRotor(
            *(1e-5, 1e-7, 0.1, 800.0),
            spin_down_s=0.08,
            inflow_ns2pm=1e-4,
            translational_lift_ns2pm2=1e-3,
            drag_ns2pm=1e-4,
            flapping_ns2=1e-5,
        ),
    },
    "guidance/goto": {
        "at once": lambda: Goto(AHEAD),
        "smoothly": lambda: Goto(AHEAD, speed_mps=2.0),
    },
    "guidance/deck-landing": {
        "over a deck": lambda: DeckLanding("beacon", standing_height_m=0.06),
        "at once": lambda: DeckLanding("beacon", settle_s=0.0, smoothing_s=0.0, yaw_rad=0.3),
    },
    "guidance/follow-deck": {
        "over a deck": lambda: FollowDeck("beacon"),
        "as told": lambda: FollowDeck("beacon", 2.0, smoothing_s=0.0, yaw_rad=0.3),
    },
    "guidance/vtol": {
        "down": lambda: Vtol("beacon", landing_at_s=0.5 * DT_S),
        "above": lambda: Vtol("beacon", landing_at_s=None),
    },
    "guidance/land": {"to a height": lambda: Land(landing_height_world_m=0.1)},
    "guidance/mission": {
        "of three steps": lambda: Mission(
            (
                MissionStep(Hold(), for_s=DT_S),
                MissionStep(Goto(AHEAD, speed_mps=1.0)),
                MissionStep(Land(0.1)),
            ),
            (Rule(Condition("speed_mps", above=4.0), go_to="land"),),
        )
    },
    "guidance/hold": {
        "where it is": Hold,
        "position": lambda: Hold(position_world_m=Vec3(1.0, 2.0, 3.0)),
        "velocity": lambda: Hold(velocity_world_mps=Vec3(1.0, 2.0, 3.0)),
        "height": lambda: Hold(velocity_world_mps=Vec3(1.0, 2.0, 0.0), height_world_m=3.0),
    },
    "guidance/waypoints": {
        "once": lambda: Waypoints((Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0))),
        "for ever": lambda: Waypoints((Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0)), loop=True),
        "sweep": lambda: Waypoints(pattern=SWEEP).prepare(ANYWHERE),
        "coverage": lambda: Waypoints(pattern=LAKE).prepare(ANYWHERE),
    },
    "guidance/curve": {
        "helix": lambda: Curve(
            Vec3(1.0, 2.0, 10.0),
            Vec3(2.0, 1.0, 0.5),
            Vec3(0.5, 0.5, 1.0),
            Vec3(1.5, 0.0, 0.2),
            Vec3(0.0, 0.0, 0.1),
            yaw_rate_radps=0.3,
        ),
    },
    "guidance/follow-trajectory": {
        "along its way": lambda: FollowTrajectory(PLACES).prepare(ANYWHERE),
        "turning": lambda: FollowTrajectory(
            PLACES, "minimum-jerk", (0.0, 1.0, -3.0), (0.0, 4.0, 8.0)
        ).prepare(ANYWHERE),
        "upwards": lambda: FollowTrajectory(
            (Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0)), "cubic-spline"
        ).prepare(ANYWHERE),
    },
    "guidance/plan-path": {
        "over the ground": lambda: PlanPath(Vec3(3.0, 2.0, 0.2)).prepare(
            ANYWHERE._replace(world=world())
        ),
    },
    "guidance/follow-surface": {
        "for ever": lambda: FollowSurface("ultrasonic-head", hold_s=0.0, give_up_s=0.5 * DT_S),
        "for a while": lambda: FollowSurface("ultrasonic-head", way_m=0.01, duration_s=DT_S),
    },
    "guidance/pursue": {
        "looking ahead": lambda: Pursue(positions_world_m=PLACES).prepare(ANYWHERE),
        "looking at a point": lambda: Pursue(
            Route("a.json", np.array([[0.0, 0.0, 1.0], [9.0, 9.0, 2.0]])),
            samples=50,
            integral_gain_per_s2=0.1,
            look="point",
        ).prepare(ANYWHERE),
        "looking north": lambda: Pursue(positions_world_m=PLACES, samples=2, look="fixed").prepare(
            ANYWHERE
        ),
    },
    "guidance/line-of-sight": {
        "once": lambda: LineOfSight(PLACES, integral_gain_per_s=0.1),
        "for ever": lambda: LineOfSight(PLACES, loop=True),
        "in pursuit": lambda: LineOfSight(PLACES, heading="pursuit"),
        "sweep": lambda: LineOfSight(pattern=SWEEP).prepare(ANYWHERE),
        "coverage": lambda: LineOfSight(pattern=LAKE).prepare(ANYWHERE),
    },
    "guidance/mode-tour": {
        "in turn": lambda: ModeTour(
            (
                ModeStage(0.0, "position-yaw", position_world_m=Vec3(1.0, 2.0, 3.0)),
                ModeStage(0.5 * DT_S, "thrust-attitude", thrust_n=9.0, roll_rad=0.1),
                ModeStage(5.0, "thrust-rates"),
            )
        ),
    },
    "guidance/playback": {
        "flu": lambda: Playback(recording()),
        "frd": lambda: Playback(recording(), body_axes="frd"),
    },
    "obstacles/box": {"turned": lambda: Box(AHEAD, Vec3(1.0, 2.0, 3.0), 0.3, 0.2, 0.1)},
    "obstacles/platform": {"deck": lambda: Platform(AHEAD, 4.0, 2.0, 0.1)},
    "obstacles/slab": {"leaning": lambda: Slab(AHEAD, Vec3(4.0, 0.5, 4.0), 0.5)},
    "obstacles/sphere": {"ball": lambda: Sphere(AHEAD, 1.5)},
    "obstacles/cylinder": {"pole": lambda: Cylinder(AHEAD, 0.8, 4.0, 0.2)},
    "obstacles/capsule": {"pill": lambda: Capsule(AHEAD, 0.8, 4.0, 0.2)},
    "obstacles/plane": {"wall": lambda: Plane(AHEAD, Vec3(-1.0, 0.2, 0.3))},
    "obstacles/parabolic-sheet": {"bowl": lambda: ParabolicSheet(AHEAD, 0.3, 4.0, 4.0)},
    "obstacles/wavy-sheet": {"sea": lambda: WavySheet(AHEAD, 0.4, 3.0, 20.0, 20.0, 0.3, 0.1)},
    "obstacles/hallway": {
        "corner": lambda: Hallway(
            (Vec3(-5.0, 2.0, 8.0), Vec3(5.0, 2.0, 8.0), Vec3(5.0, 9.0, 8.0)), 2.0, 4.0
        ),
    },
    "obstacles/mesh": {"tetrahedron": lambda: Mesh(TriangleMesh.of(CORNERS, "a.stl"), AHEAD)},
    "satellites/nominal": {
        "all": NominalConstellation,
        "five": lambda: NominalConstellation((1, 7, 12, 18, 24), FirstOrderError()),
    },
    "satellites/sp3": {"circles": lambda: PreciseConstellation(orbit_table())},
    "sensors/gnss": {
        "all in view": Gnss,
        "some, at once": lambda: Gnss(satellites_tracked=(5, 7), delay_periods=0),
        "through the Earth, late": lambda: Gnss(elevation_mask_rad=-math.pi / 2, delay_periods=2),
        "without a fix": lambda: Gnss(satellites_tracked=(3, 3)),
    },
    "sensors/camera": {
        "with depth": lambda: Camera(width=4, height=3, depth=True, intensity_deviation=0.1),
        "held by a gimbal": lambda: Camera(Mount(), "stabilised", 3, 2),
    },
    "sensors/marker": {
        "modeled": lambda: Marker(rendered=False),
        "in pictures": lambda: Marker(width=8, height=6),
    },
    "sensors/imu": {
        "at the center": Imu,
        "mounted elsewhere": lambda: Imu(mount=Mount(Vec3(0.02, -0.01, 0.03), 0.1, -0.2, 1.5)),
    },
    "sensors/magnetometer": {
        "far from iron": Magnetometer,
        "without a converter": lambda: Magnetometer(
            Vec3(1e-6, -2e-6, 0.0), Vec3(1.1, 0.9, 1.0), quantum_t=None
        ),
    },
    "sensors/range-camera": {
        "upwards": lambda: RangeCamera(width=4, height=3, deviation_m=0.01),
        "along the rays": lambda: RangeCamera(width=3, height=2, along="ray", max_range_m=100.0),
    },
    "sensors/ultrasonic": {
        "ahead": lambda: Ultrasonic(noise_bound_m=0.01),
        "downwards": lambda: Ultrasonic(
            Vec3(0.1, 0.0, -0.1), Vec3(0.1, 0.0, -2.0), max_range_m=20.0, max_range_rate_mps=3.0
        ),
    },
    "sensors/ultrasonic-head": {
        "ahead": UltrasonicHead,
        "aside": lambda: UltrasonicHead(
            start_pitch_rad=1.0, start_yaw_rad=0.5, noise_bound_m=0.01, max_range_m=20.0
        ),
    },
    "sensors/ultrasonic-array": {
        "by name": lambda: UltrasonicArray("back", noise_bound_m=0.01, max_range_m=20.0),
        "of one's own": lambda: UltrasonicArray(slots=(("bottom",), ("left", "back"))),
    },
    "sensors/person-camera": {
        "downwards": PersonCamera,
        "ahead": lambda: PersonCamera(Mount(), columns=3, rows=2),
    },
    "sensors/plume": {"of all": PlumeSensor, "of one": lambda: PlumeSensor("puffs")},
    "sensors/probe": {
        "in the water": lambda: Probe("algae", Vec3(0.1, 0.0, -30.0), (-9.0, 99.0), None, 2.0),
        "from above": lambda: Probe("algae", footprint=ViewBelow(0.2)),
    },
    "sensor_errors/dropout": {"in bursts": lambda: Dropout(0.3, 5.0)},
    "sensor_errors/latency": {"of two": lambda: Latency(2.0 * DT_S)},
    "sensor_errors/bias": {
        "walking": lambda: Bias(1.0, 0.5, 0.1, 2.0, field="velocity_world_mps"),
    },
    "sensor_errors/noise": {"white": lambda: Noise(0.1, field="position_world_m")},
    "sensor_errors/quantization": {"coarse": lambda: Quantization(0.1, field="hdop")},
    "sensor_errors/saturation": {
        "narrow": lambda: Saturation(-1.0, 1.0, field="position_world_m"),
    },
    "sensor_errors/stuck": {
        "begun": lambda: Stuck(0.5 * DT_S),
        "of one field": lambda: Stuck(0.5 * DT_S, field="satellites"),
    },
    "winds/shear": {"breeze": lambda: ShearWind(speed_at_6m_mps=3.0, from_rad=0.5)},
    "winds/constant": {
        "as a velocity": lambda: ConstantWind(AHEAD),
        "by its direction": lambda: ConstantWind(speed_mps=3.0, from_rad=0.5),
    },
    "winds/step": {"begun": lambda: StepWind(0.5 * DT_S, AHEAD)},
    "winds/gust": {
        "rising": lambda: CosineGust(0.5 * DT_S, 9.0, wind_world_mps=AHEAD),
        "staying": lambda: CosineGust(0.0, DT_S, None, speed_mps=3.0, from_rad=0.5),
    },
    "winds/sinusoid": {"swinging": lambda: SinusoidalWind(9.0, 0.3, AHEAD)},
    "winds/recorded": {
        "rising": lambda: RecordedWind(
            Recording(
                *(("east_mps", "north_mps"), "wind.csv", 9.0),
                *(np.array([0.0, 9.0]), np.array([[1.0, 2.0], [3.0, -4.0]])),
            )
        ),
    },
    "fields/patches": {
        "two": lambda: Patches(
            "ug/l",
            5.0,
            (FieldPatch(AHEAD, 9.0, 4.0), FieldPatch(Vec3(0.0, 5.0, 0.0), 3.0, -1.0)),
            0.1,
        ),
    },
    "fields/from-seed": {
        "drifting": lambda: SeededField("K", 288.0, 2.0, 9.0, 8, 0.3, Vec3(0.1, 0.2, 0.0)),
    },
    "fields/raster": {"of six cells": lambda: Raster(GRID, trend_per_m=0.1)},
    "plumes/gaussian": {
        "drawn": GaussianPlume,
        "given": lambda: GaussianPlume(AHEAD, (4.0, 9.0, 15.0), 0.6),
    },
    "plumes/gaussian-dispersion": {
        "drawn": lambda: DispersionPlume(Sources(number=(1, 3))),
        "given": lambda: DispersionPlume(Sources((Vec3(0.0, 0.0, 9.0), Vec3(1.0, 2.0, 5.0)))),
    },
    "plumes/gaussian-puff-dispersion": {
        "drawn": lambda: PuffPlume(Sources(number=(1, 3)), mean_interval_s=0.01),
    },
    "waves/regular": {
        "drawn": lambda: RegularWaves(0.4, 3.0, 0.5),
        "on shallow water": lambda: RegularWaves(0.4, 3.0, 0.5, 1.5, 0.2),
    },
    "waves/pierson-moskowitz": {
        "by the wind": lambda: PiersonMoskowitzSea(wind_speed_mps=5.0, components=8),
        "by its state": lambda: PiersonMoskowitzSea(sea_state=2, spreading=4.0, components=8),
    },
    "waves/jonswap": {
        "by the wind": lambda: JonswapSea(wind_speed_mps=5.0, fetch_m=3000.0, components=8),
        "by its height": lambda: JonswapSea(
            0.4, peak_period_s=3.0, towards_rad=0.5, spreading=9.0, water_depth_m=2.0, components=8
        ),
        "glassy": lambda: JonswapSea(sea_state=0, components=8),
    },
    "terrains/pour": {"small": lambda: PouredTerrain(cells=10, persons=(2, 3))},
    "platforms/fixed": {"ramp": lambda: FixedPlatform(Vec3(1.0, 2.0, 3.0), 4.0, 2.0, 0.5, 0.2)},
    "platforms/moving": {
        "deck": lambda: MovingPlatform(
            Vec3(1.0, 2.0, 3.0), 4.0, 2.0, 0.5, Vec3(1.0, 0.5, 0.0), 0.1, 0.3, 4.0, 0.1, 5.0, 0.2
        ),
    },
    # their faces cut the vehicle of the circumstances
    "regions/force": {
        "at the edge": lambda: ForceRegion(
            Vec3(1.1, -5.0, -5.0), Vec3(9.0, 5.0, 50.0), Vec3(1.0, 2.0, 3.0)
        ),
    },
    "regions/wind": {
        "at the edge": lambda: WindRegion(
            Vec3(1.1, -5.0, -5.0), Vec3(9.0, 5.0, 50.0), Vec3(1.0, 2.0, 3.0)
        ),
    },
    "currents/uniform": {"stream": lambda: UniformCurrent(speed_mps=0.4, towards_rad=0.5)},
    "turbulence/dryden": {"breeze": lambda: Dryden(speed_at_6m_mps=3.0)},
}


class Circumstance(NamedTuple):
    """Test conditions of a component: motion, surroundings, and size of the inputs."""

    name: str
    start: Start
    wind: Vec3
    height_m: float
    signal_size: float

    @property
    def motion(self) -> Kinematics:
        """True motion, with a specific force."""
        force = Vec3(0.3, -0.2, 9.7) * (1.0 + self.signal_size)
        return dataclasses.replace(self.start.kinematics(), specific_force_body_mps2=force)

    @property
    def surroundings(self) -> Surroundings:
        """Surroundings with air at sea level."""
        air = Air(288.15, 101325.0, 1.225)
        return Surroundings(9.81, air, self.wind, self.height_m, math.inf, self.wind * 0.1)


def cruising(shift: float = 0.0) -> Circumstance:
    """Return typical conditions; different ones for another shift."""
    position = Vec3(1.0 + shift, 2.0, 10.0 - shift)
    velocity = Vec3(1.0, -0.5 + shift, 0.2)
    rates = Vec3(0.1, -0.2, 0.3 + 0.1 * shift)
    start = Start(position, 0.1, -0.2, 0.3 + shift, velocity, rates)
    return Circumstance("cruising", start, Vec3(2.0, 1.0 + shift, 0.0), 10.0 - shift, 1.0 + shift)


CRUISING = cruising()
AT_REST = Circumstance("at rest", Start(), Vec3.zero(), 0.0, 0.0)
EXTREMES = (
    AT_REST,
    Circumstance(
        "far and fast",
        Start(Vec3(1e7, -1e7, 1e7), 1e3, -1e3, 1e4, Vec3(-1e3, 1e3, 1e3), Vec3(1e2, -1e2, 1e2)),
        *(Vec3(1e2, -1e2, 10.0), 1e6, 1e6),
    ),
    Circumstance(
        "nose up below ground",
        Start(Vec3(0.0, 0.0, -5e3), 3.0, np.pi / 2.0, -3.0, Vec3(0.0, 0.0, -1e3)),
        *(Vec3(-1e2, 0.0, 0.0), -5e3, -1e6),
    ),
    Circumstance(
        "hardly moving",
        Start(Vec3(1e-30, 0.0, 1e-30), 1e-30, -1e-30, 0.0, Vec3(1e-30, -1e-30, 0.0)),
        *(Vec3(1e-30, 1e-30, 0.0), 1e-30, 1e-30),
    ),
)


def signal(kind: type[eqx.Module], size: float) -> eqx.Module:
    """Return a command of this type with numbers of this size."""

    def value(hint: Any) -> Any:
        if hint is Vec3:
            return Vec3(0.3, -0.2, 0.5) * size
        if hint is Quaternion:
            return Quaternion.from_euler(EulerZYX(0.3 * size, -0.2 * size, 0.5 * size))
        if get_origin(hint) is tuple:
            return tuple(value(item) for item in get_args(hint))
        if isinstance(hint, type) and issubclass(hint, eqx.Module):
            return signal(hint, size)
        return 0.4 * size

    hints = get_type_hints(kind)
    return kind(**{field.name: value(hints[field.name]) for field in dataclasses.fields(kind)})


def command(dynamics: Any, circumstance: Circumstance) -> Any:
    """Return an actuator command within its bounds; on a bound in an extreme circumstance."""
    size = circumstance.signal_size
    share = 0.55 if 0.0 < size < 10.0 else float(size > 0.0)
    bounds = dynamics.command_bounds.items()
    inside = {name: low + (high - low) * share for name, (low, high) in bounds}
    return from_columns(
        dynamics.command_type, to_columns(signal(dynamics.command_type, size)) | inside
    )


class Contract(NamedTuple):
    """Functions that initialize, feed and step the components of one family."""

    registry: Registry
    inputs: Callable[[Any, Circumstance, int], Any]
    step: Callable[..., tuple[Any, Any]]
    init: Callable[..., Any] = lambda component, inputs, key: component.init(key)


def _step(component: Any, state: Any, inputs: Any, key: Any) -> tuple[Any, Any]:
    return component.step(state, inputs, DT_S, key)


def _error_step(error: Any, state: Any, time_s: Any, key: Any) -> tuple[Any, Any]:
    later, error_m = error.step(state, time_s, DT_S, key)
    return later, Vec3(error_m, 0.0, 0.0)


def to_measure(circumstance: Circumstance, tick: int) -> SensorInputs:
    """Return sensor inputs in the world of the contracts."""
    around = dataclasses.replace(circumstance.surroundings, partner=PARTNER, body=0)
    processes = _evolved(tick, jnp.result_type(float)) | {BODIES: Bodies(DRAWN, jnp.eye(1, 7))}
    return SensorInputs(tick * DT_S, circumstance.motion, around, world(), processes)


class Stripes(AbstractRenderer):
    """Renderer that draws stripes in place of a world."""

    def picture(self, frame: ImageFormat, viewpoint: Viewpoint, poses: Any) -> RenderedImage:
        """Return stripes, whatever the viewpoint."""
        del viewpoint, poses
        rgb = np.zeros((frame.height, frame.width, 3), np.uint8)
        rgb[:, ::2] = 200
        return RenderedImage(
            rgb, np.full(rgb.shape[:2], 3.0, np.float32) if frame.with_depth else None
        )


DRAWN = Stripes()


@cache
def world() -> World:
    """Return a world with something to measure for every sensor."""
    plain = load_scenario("keep-spot").world
    satellites = satellites_of(NominalConstellation(), plain)
    processes = {
        SKY: satellites,
        f"{FIELD}algae": FieldProcess(SeededField(length_scale_m=9.0, waves=8)),
        f"{PLUME}cloud": plume_of(GaussianPlume(Vec3(1.0, 2.0, 9.0)), plain),
        f"{PLUME}puffs": plume_of(PuffPlume(mean_interval_s=0.01), plain),
        TERRAIN: TerrainProcess(PouredTerrain(cells=10), AREA),
    }
    scheduled = {name: Scheduled(process) for name, process in processes.items()}
    return dataclasses.replace(plain, processes=scheduled)


def satellites_of(constellation: Any, plain: World) -> SatelliteProcess:
    """Return a satellite constellation as seen from a world."""
    orbits = constellation.orbits(plain.origin, plain.start_utc)
    return SatelliteProcess(orbits, constellation.errors)


def plume_of(kind: Any, plain: World) -> PlumeProcess:
    """Return a plume in a world with wind."""
    return PlumeProcess(kind, Site(Vec3(2.0, 1.0, 0.0), plain.ground_z_m, plain.area))


@cache
def _evolved(tick: int, dtype: Any) -> dict[str, Any]:
    """Return the outputs of the world's processes at a tick, cached for each precision."""
    del dtype
    key = jax.random.key(0)
    processes = {name: part.component for name, part in world().processes.items()}
    return {
        name: process.step(process.init(key), tick * DT_S, DT_S, key)[1]
        for name, process in processes.items()
    }


def _skies(satellites: SatelliteProcess, state: Any, time_s: Any, key: Any) -> tuple[Any, Any]:
    """Return the next state, and a sky summed to three numbers."""
    later, sky = satellites.step(state, time_s, DT_S, key)
    place, error = sky.positions_world_m.sum(axis=0), sky.range_errors_m.sum()
    return later, Vec3.of(place + error)


def _smelled(plume: PlumeProcess, state: Any, seen: tuple[Vec3, Any], key: Any) -> tuple[Any, Any]:
    """Return the next state, and the concentration of a plume at a position."""
    place, time_s = seen
    later, cloud = plume.step(state, time_s, DT_S, key)
    return later, Vec3(cloud.concentration(place, time_s), 0.0, 0.0)


def _probed(field: FieldProcess, state: Any, seen: tuple[Vec3, Any], key: Any) -> tuple[Any, Any]:
    """Return the next state, and the value of a field at a position."""
    place, time_s = seen
    later, drawn = field.step(state, time_s, DT_S, key)
    return later, Vec3(field.kind.value(drawn, place, time_s), 0.0, 0.0)


def _trodden(ground: TerrainProcess, state: Any, place: Vec3, key: Any) -> tuple[Any, Any]:
    """Return the next state, and the class of the terrain at a position."""
    later, seen = ground.step(state, 0.0, DT_S, key)
    return later, TerrainMeasurement(seen.class_at(place.x, place.y))


def _afloat(sea: WaveProcess, state: Any, seen: tuple[Vec3, Any], key: Any) -> tuple[Any, Any]:
    """Return the next state, and the wave surface under a vessel at a position."""
    place, time_s = seen
    later, waves = sea.step(state, time_s, DT_S, key)
    return later, waves.under(Waterplane(place.x, place.y, 0.3, 2.0, 1.0, 0.1))


def _measurements(estimator: Any, circumstance: Circumstance, tick: int) -> dict[str, Any]:
    """Return measurements of the registered sensors that an estimator names in its fields."""
    inputs = to_measure(circumstance, tick)
    key = jax.random.key(0)
    given = [value if isinstance(value, tuple) else (value,) for value in vars(estimator).values()]
    names = {value for values in given for value in values if isinstance(value, str)}
    sensors = {name: _sensor(name) for name in SENSORS.names() if name in names}
    return {
        name: sensor.step(sensor.init(key), inputs, DT_S, key)[1]
        for name, sensor in sensors.items()
    }


def _sensor(name: str) -> Any:
    """Return the first example of a registered sensor."""
    make, *_ = forms_of("sensors", name, SENSORS.find(name)).values()
    return as_flown(make())


def _flow(circumstance: Circumstance) -> Flow:
    """Return the flow around a vehicle."""
    motion = circumstance.motion
    airspeed = motion.velocity_body_mps - circumstance.wind
    return Flow(
        airspeed,
        motion.angular_velocity_body_radps,
        motion.q_world_from_body,
        circumstance.surroundings,
    )


def _rotor_step(rotor: Any, state: Any, inputs: Any, key: Any) -> tuple[Any, Any]:
    del key
    speed, flow = inputs
    wrenches = [rotor.wrench(speed, spin, flow, Vec3(0.2, 0.1, 0.05)) for spin in (1.0, -1.0)]
    return state, (wrenches, rotor.speed_rate_radps2(speed, 0.5 * speed))


def _dynamics_step(dynamics: Any, state: Any, inputs: Any, key: Any) -> tuple[Any, Any]:
    _, order, around = inputs
    later = dynamics.step(state, order, around, PHYSICS_DT_S, key)
    return later, (dynamics.kinematics(later), dynamics.actuators(later), dynamics.limits(later))


def _alone(circumstance: Circumstance) -> Surroundings:
    """Return surroundings with a finite distance to the nearest vehicle."""
    return dataclasses.replace(circumstance.surroundings, nearest_vehicle_m=100.0)


def _gathered(circumstance: Circumstance) -> tuple[InteractionInput, Surroundings]:
    """Return two vehicles along a leading axis, the second one in the wake of the first."""
    below = Vec3(0.1, 0.2, -1.5) * min(1.0, circumstance.signal_size)
    place = circumstance.start.position_world_m
    starts = [
        dataclasses.replace(circumstance.start, position_world_m=p) for p in (place, place + below)
    ]
    size = Vec3(0.5, 0.5, 0.1)
    one, other = (
        as_arrays(InteractionInput(start.kinematics(), Wake(5.0, 0.1), size)) for start in starts
    )
    air = as_arrays(_alone(circumstance))
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), (one, air), (other, air))


def _interact(interaction: Any, state: Any, inputs: Any, key: Any) -> tuple[Any, Any]:
    """Return the surroundings of the second vehicle after an interaction."""
    del key
    felt = interaction(*inputs)
    return state, jax.tree.map(lambda leaf: leaf[1], felt)


def _battery_step(battery: Any, state: Any, power_w: Any, key: Any) -> tuple[Any, Any]:
    del key
    later = battery.step(state, power_w, DT_S)
    return later, later


def _seen(circumstance: Circumstance) -> Ray:
    """Return rays ahead of a vehicle."""
    motion = circumstance.motion
    ahead = motion.q_world_from_body.rotate(Vec3(1.0, 0.0, 0.0))
    return Ray(motion.position_world_m, ahead)


def _cast(obstacle: Any, state: Any, ray: Ray, key: Any) -> tuple[Any, Any]:
    del key
    hit = cast((obstacle,), ray)
    return state, dataclasses.replace(hit, distance_m=hit.range_m(100.0))


def _received(circumstance: Circumstance) -> Sample:
    """Return a satellite measurement: vectors, numbers, a count and a flag."""
    motion = circumstance.motion
    fix = GnssMeasurement(
        *(motion.position_world_m, motion.velocity_world_mps, 7, 1.1, 1.6, 2.0, 1.2),
        valid=True,
    )
    return as_arrays(Sample(fix, fix, fresh=True))


def _peers(circumstance: Circumstance) -> NeighborTable:
    """Return a neighbor table with a teammate, a vehicle of another team, and an unknown one."""
    place = circumstance.start.position_world_m
    velocity = circumstance.start.velocity_world_mps
    others = [
        Neighbor(place + Vec3(1.5, 0.5, 0.2), velocity * 0.9, 0.1, 1, mate=True, heard=True),
        Neighbor(place + Vec3(-0.5, -1.0, 0.1), velocity * -1.0, 0.2, 0, mate=False, heard=True),
        Neighbor(Vec3.zero(), Vec3.zero(), 0.0, 0, mate=False, heard=False),
    ]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(as_arrays, others))
    return as_arrays(NeighborTable(stacked, others[0], 2, 3))


def _broadcast(circumstance: Circumstance) -> Broadcast:
    """Return the broadcast of four vehicles in two teams, of which the last one is lost."""
    count = 4
    place, speed = circumstance.start.position_world_m, circumstance.start.velocity_world_mps
    places = [place + Vec3(3.0 * i, 0.5 * i, 0.0) for i in range(count)]
    reports = [as_arrays(StateReport(one, speed, 0.1, True)) for one in places]
    both = [(report, as_arrays(one)) for report, one in zip(reports, places, strict=True)]
    reports, positions = jax.tree.map(lambda *leaves: jnp.stack(leaves), *both)
    teams = [jnp.asarray(column, jnp.int32) for column in ((0, 0, 1, 1), (0, 1, 0, 1), (2,) * 4)]
    leaders = jnp.asarray([0, 0, 2, 0], jnp.int32)
    roster = Roster(jnp.arange(count, dtype=jnp.uint32), *teams, leaders)
    return Broadcast(reports, positions, jnp.arange(count) < 3, roster, jnp.asarray(DT_S))


def _listen(radio: Any, state: Any, reports: Broadcast, key: Any) -> tuple[Any, Any]:
    """Return the next state, and what the first vehicle receives from its nearest neighbor."""
    later, peers = radio.step(state, reports, DT_S, key)
    return later, jax.tree.map(lambda leaf: leaf[0, 0], peers.others)


def _to_guide(guidance: Any, circumstance: Circumstance, tick: int) -> GuidanceInputs:
    seen = _sensed(guidance, circumstance, tick)
    time_s, number = tick * DT_S, jnp.asarray(tick, jnp.int32)
    peers = _peers(circumstance)
    return GuidanceInputs(
        time_s, number, seen.truth, seen.measurements, seen.fresh, neighbors=peers
    )


def _to_avoid(avoidance: Any, circumstance: Circumstance, tick: int) -> AvoidanceInputs:
    seen = _sensed(avoidance, circumstance, tick)
    command = signal(avoidance.command_type, circumstance.signal_size)
    return AvoidanceInputs(command, circumstance.motion, seen.measurements, seen.fresh)


def _sensed(estimator: Any, circumstance: Circumstance, tick: int) -> EstimatorInputs:
    measurements = _measurements(estimator, circumstance, tick)
    fresh = dict.fromkeys(measurements, jnp.asarray(True))
    return EstimatorInputs(circumstance.motion, measurements, fresh)


CONTRACTS = {
    "batteries": Contract(
        BATTERIES,
        lambda _, at, __: 30.0 * at.signal_size,
        _battery_step,
        lambda battery, *_: battery.init(),
    ),
    "faults": Contract(
        FAULTS,
        lambda fault, at, tick: (signal(fault.command_type, at.signal_size), tick * DT_S),
        lambda fault, state, inputs, _: (state, fault.apply(*inputs)),
        lambda *_: (),
    ),
    "controllers": Contract(
        CONTROLLERS, lambda c, at, _: (signal(c.consumes, at.signal_size), at.motion), _step
    ),
    "guidance": Contract(
        GUIDANCE,
        _to_guide,
        _step,
    ),
    "avoidance": Contract(AVOIDANCE, _to_avoid, _step),
    "behaviors": Contract(
        BEHAVIORS,
        lambda _, at, __: (at.motion, _peers(at)),
        lambda behavior, state, inputs, _: (state, behavior.limited_world_mps(*inputs)),
        lambda *_: (),
    ),
    "radios": Contract(
        RADIOS,
        lambda _, at, __: _broadcast(at),
        _listen,
        lambda radio, reports, key: radio.begin(len(reports.present), DT_S, key),
    ),
    "estimators": Contract(
        ESTIMATORS,
        _sensed,
        _step,
    ),
    "sensors": Contract(SENSORS, lambda _, at, tick: to_measure(at, tick), _step),
    "satellites": Contract(
        SATELLITES,
        # what a world makes of one, before it is compiled
        lambda satellites, _, tick: (satellites_of(satellites, world()), tick * DT_S),
        lambda _, state, seen, key: _skies(seen[0], state, seen[1], key),
        lambda _, seen, key: seen[0].init(key),
    ),
    "plumes": Contract(
        PLUMES,
        lambda kind, at, tick: (plume_of(kind, world()), at.start.position_world_m, tick * DT_S),
        lambda _, state, seen, key: _smelled(seen[0], state, seen[1:], key),
        lambda _, seen, key: seen[0].init(key),
    ),
    "fields": Contract(
        FIELDS,
        lambda kind, at, tick: (FieldProcess(kind), at.start.position_world_m, tick * DT_S),
        lambda _, state, seen, key: _probed(seen[0], state, seen[1:], key),
        lambda _, seen, key: seen[0].init(key),
    ),
    "terrains": Contract(
        TERRAINS,
        lambda kind, at, _: (TerrainProcess(kind, AREA), at.start.position_world_m),
        lambda _, state, seen, key: _trodden(seen[0], state, seen[1], key),
        lambda _, seen, key: seen[0].init(key),
    ),
    "waves": Contract(
        WAVES,
        lambda kind, at, tick: (WaveProcess(kind, 9.81), at.start.position_world_m, tick * DT_S),
        lambda _, state, seen, key: _afloat(seen[0], state, seen[1:], key),
        lambda _, seen, key: seen[0].init(key),
    ),
    "range_errors": Contract(RANGE_ERRORS, lambda _, __, tick: tick * DT_S, _error_step),
    "sensor_errors": Contract(
        SENSOR_ERRORS,
        lambda _, at, __: _received(at),
        _step,
        lambda error, first, key: error.init(key, first, DT_S),
    ),
    "turbulence": Contract(TURBULENCE, lambda _, at, __: (at.motion, at.surroundings), _step),
    "winds": Contract(
        WINDS,
        lambda _, at, tick: (at.height_m, tick * DT_S),
        lambda wind, state, inputs, _: (state, wind.velocity_world_mps(*inputs)),
        lambda *_: (),
    ),
    "platforms": Contract(
        PLATFORMS,
        lambda _, at, tick: at.signal_size + tick * DT_S,
        lambda platform, state, time_s, _: (state, platform.support(time_s)),
        lambda *_: (),
    ),
    "obstacles": Contract(OBSTACLES, lambda _, at, __: _seen(at), _cast, lambda *_: ()),
    "regions": Contract(
        REGIONS,
        lambda _, at, __: (at.motion, Vec3(0.6, 0.5, 0.2), _alone(at)),
        lambda region, state, inputs, _: (state, region.apply(*inputs)),
        lambda *_: (),
    ),
    "interactions": Contract(
        INTERACTIONS, lambda _, at, __: _gathered(at), _interact, lambda *_: ()
    ),
    "ground_effects": Contract(
        GROUND_EFFECTS,
        lambda _, at, __: (at.height_m, 0.1 + 0.1 * at.signal_size),
        # what becomes of a thrust of 1 N
        lambda effect, state, inputs, _: (
            state,
            Wrench(Vec3(0.0, 0.0, effect.thrust_ratio(*inputs)), Vec3.zero()),
        ),
        lambda *_: (),
    ),
    "currents": Contract(
        CURRENTS,
        lambda _, at, __: at.start.position_world_m,
        lambda current, state, position, _: (state, current.velocity_world_mps(position)),
        lambda *_: (),
    ),
    "atmospheres": Contract(
        ATMOSPHERES,
        lambda _, at, __: at.start.position_world_m.z,
        lambda atmosphere, state, altitude, _: (state, atmosphere.air(altitude)),
        lambda *_: (),
    ),
    "forces": Contract(
        FORCES,
        lambda _, at, __: _flow(at),
        lambda force, state, flow, _: (state, force.wrench(flow)),
        lambda *_: (),
    ),
    "rotors": Contract(
        ROTORS,
        lambda rotor, at, _: (rotor.speed_range_radps[1] * min(at.signal_size, 1.0), _flow(at)),
        _rotor_step,
        lambda *_: (),
    ),
    "dynamics": Contract(
        DYNAMICS,
        lambda dynamics, at, _: (at.motion, command(dynamics, at), at.surroundings),
        _dynamics_step,
        lambda dynamics, inputs, _: dynamics.init(inputs[0], inputs[2]),
    ),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One example of one registered component."""

    family: str
    name: str
    form: str
    make: Callable[[], Any]

    def __str__(self) -> str:
        return f"{self.family}/{self.name}" + (f" {self.form}" if self.form else "")

    @property
    def contract(self) -> Contract:
        """Contract of its family."""
        return CONTRACTS[self.family]

    @property
    def kind(self) -> type[eqx.Module]:
        """Class of the component."""
        return self.contract.registry.find(self.name)


def cases() -> Iterator[Case]:
    """Return every example of every registered component."""
    for family, contract in CONTRACTS.items():
        for name in contract.registry.names():
            kind = contract.registry.find(name)
            for form, make in forms_of(family, name, kind).items():
                yield Case(family, name, form, make)


def forms_of(family: str, name: str, kind: Any) -> dict[str, Callable[[], Any]]:
    """Return the examples of one registered component, or the class if its defaults suffice."""
    given = EXAMPLES.get(f"{family}/{name}", {})
    if family == "dynamics":
        given = {**given, **_flown_by(kind)}
    if given:
        return given
    fields = dataclasses.fields(kind)
    required = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
    return {"": partial(_missing, family, name, required) if required else kind}


def _flown_by(kind: Any) -> dict[str, Callable[[], Any]]:
    """Return the dynamics of each vehicle with this class, with the parameters of its data file."""
    models = {name: VEHICLES.find(name) for name in VEHICLES.names()}
    return {
        name: partial(build_component, kind, model.parameters(), str)
        for name, model in models.items()
        if model.dynamics is kind
    }


def _missing(family: str, name: str, required: list[str]) -> Any:
    pytest.fail(
        f"{family}/{name} cannot be built from defaults: it wants {', '.join(required)}. "
        f"Add an example as EXAMPLES['{family}/{name}'] in tests/contract/examples.py."
    )


def as_flown(component: Any) -> Any:
    """Return a component as in a fleet, with recorded arrays in the working precision."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf, float) if isinstance(leaf, np.ndarray) else leaf, component
    )


def as_traced(component: Any) -> Any:
    """Return a component with every float as an array, so that it can be differentiated."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf) if isinstance(leaf, float) else leaf, as_flown(component)
    )
