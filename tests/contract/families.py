"""Contract of each family: how its components are initialized, fed and stepped."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tests.contract.operating_points import OperatingPoint, command, signal
from tests.contract.surroundings import (
    AREA,
    DT_S,
    PHYSICS_DT_S,
    plume_of,
    satellites_of,
    to_measure,
    world,
)

from kittiwake.actuators import BATTERIES, FAULTS
from kittiwake.control import CONTROLLERS
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.core.neighbors import Neighbor, NeighborTable, Roster, StateReport
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
from kittiwake.estimation import ESTIMATORS
from kittiwake.forces import FORCES, GROUND_EFFECTS, ROTORS
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import AVOIDANCE, GUIDANCE
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.interfaces.guidance import AvoidanceInputs, GuidanceInputs
from kittiwake.interfaces.instrument import Sample
from kittiwake.interfaces.parts import Flow
from kittiwake.physics import DYNAMICS
from kittiwake.sensors import SENSOR_ERRORS, SENSORS
from kittiwake.sensors.terrain_sensor import TerrainMeasurement
from kittiwake.swarm import BEHAVIORS, RADIOS
from kittiwake.world.field import FieldProcess
from kittiwake.world.interaction_input import InteractionInput, Wake
from kittiwake.world.plume import PlumeProcess
from kittiwake.world.radio import Broadcast
from kittiwake.world.ray import Ray, cast_ray
from kittiwake.world.satellites import SatelliteProcess
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.terrain import TerrainProcess
from kittiwake.world.water import Waterplane
from kittiwake.world.waves import WaveProcess


class Contract(NamedTuple):
    """Functions that initialize, feed and step the components of one family."""

    registry: Registry
    inputs: Callable[[Any, OperatingPoint, int], Any]
    step: Callable[..., tuple[Any, Any]]
    init: Callable[..., Any] = lambda component, inputs, key: component.init(key)


def _step(component: Any, state: Any, inputs: Any, key: Any) -> tuple[Any, Any]:
    return component.step(state, inputs, DT_S, key)


def _error_step(error: Any, state: Any, time_s: Any, key: Any) -> tuple[Any, Any]:
    later, error_m = error.step(state, time_s, DT_S, key)
    return later, Vec3(error_m, 0.0, 0.0)


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


def _measurements(estimator: Any, point: OperatingPoint, tick: int) -> dict[str, Any]:
    """Return measurements of the registered sensors that an estimator names in its fields."""
    inputs = to_measure(point, tick)
    key = jax.random.key(0)
    given = [value if isinstance(value, tuple) else (value,) for value in vars(estimator).values()]
    names = {value for values in given for value in values if isinstance(value, str)}
    sensors = {name: first_example(name) for name in SENSORS.names() if name in names}
    return {
        name: sensor.step(sensor.init(key), inputs, DT_S, key)[1]
        for name, sensor in sensors.items()
    }


def first_example(name: str) -> Any:
    """Return the first example of a registered sensor."""
    return as_flown(next(iter(SENSORS.find(name).examples().values())))


def as_flown(component: Any) -> Any:
    """Return a component as in a fleet, with recorded arrays in the working precision."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf, float) if isinstance(leaf, np.ndarray) else leaf, component
    )


def _flow(point: OperatingPoint) -> Flow:
    """Return the flow around a vehicle."""
    motion = point.motion
    airspeed = motion.velocity_body_mps - point.wind
    return Flow(
        airspeed,
        motion.angular_velocity_body_radps,
        motion.q_world_from_body,
        point.surroundings,
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


def _alone(point: OperatingPoint) -> Surroundings:
    """Return surroundings with a finite distance to the nearest vehicle."""
    return dataclasses.replace(point.surroundings, nearest_vehicle_m=100.0)


def _gathered(point: OperatingPoint) -> tuple[InteractionInput, Surroundings]:
    """Return two vehicles along a leading axis, the second one in the wake of the first."""
    below = Vec3(0.1, 0.2, -1.5) * min(1.0, point.signal_size)
    place = point.start.position_world_m
    starts = [dataclasses.replace(point.start, position_world_m=p) for p in (place, place + below)]
    size = Vec3(0.5, 0.5, 0.1)
    one, other = (
        as_arrays(InteractionInput(start.kinematics(), Wake(5.0, 0.1), size)) for start in starts
    )
    air = as_arrays(_alone(point))
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


def _seen(point: OperatingPoint) -> Ray:
    """Return rays ahead of a vehicle."""
    motion = point.motion
    ahead = motion.q_world_from_body.rotate(Vec3(1.0, 0.0, 0.0))
    return Ray(motion.position_world_m, ahead)


def _cast(obstacle: Any, state: Any, ray: Ray, key: Any) -> tuple[Any, Any]:
    del key
    hit = cast_ray((obstacle,), ray)
    return state, dataclasses.replace(hit, distance_m=hit.range_m(100.0))


def _received(point: OperatingPoint) -> Sample:
    """Return a satellite measurement: vectors, numbers, a count and a flag."""
    motion = point.motion
    fix = GnssMeasurement(
        *(motion.position_world_m, motion.velocity_world_mps, 7, 1.1, 1.6, 2.0, 1.2),
        valid=True,
    )
    return as_arrays(Sample(fix, fix, fresh=True))


def _neighbors(point: OperatingPoint) -> NeighborTable:
    """Return a neighbor table with a teammate, a vehicle of another team, and an unknown one."""
    place = point.start.position_world_m
    velocity = point.start.velocity_world_mps
    others = [
        Neighbor(place + Vec3(1.5, 0.5, 0.2), velocity * 0.9, 0.1, 1, teammate=True, received=True),
        Neighbor(
            place + Vec3(-0.5, -1.0, 0.1), velocity * -1.0, 0.2, 0, teammate=False, received=True
        ),
        Neighbor(Vec3.zero(), Vec3.zero(), 0.0, 0, teammate=False, received=False),
    ]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(as_arrays, others))
    return as_arrays(NeighborTable(stacked, others[0], 2, 3))


def _broadcast(point: OperatingPoint) -> Broadcast:
    """Return the broadcast of four vehicles in two teams, of which the last one is lost."""
    count = 4
    place, speed = point.start.position_world_m, point.start.velocity_world_mps
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
    later, neighbors = radio.step(state, reports, DT_S, key)
    return later, jax.tree.map(lambda leaf: leaf[0, 0], neighbors.entries)


def _to_guide(guidance: Any, point: OperatingPoint, tick: int) -> GuidanceInputs:
    seen = _sensed(guidance, point, tick)
    time_s, number = tick * DT_S, jnp.asarray(tick, jnp.int32)
    neighbors = _neighbors(point)
    return GuidanceInputs(
        time_s, number, seen.truth, seen.measurements, seen.fresh, neighbors=neighbors
    )


def _to_avoid(avoidance: Any, point: OperatingPoint, tick: int) -> AvoidanceInputs:
    seen = _sensed(avoidance, point, tick)
    command = signal(avoidance.command_type, point.signal_size)
    return AvoidanceInputs(command, point.motion, seen.measurements, seen.fresh)


def _sensed(estimator: Any, point: OperatingPoint, tick: int) -> EstimatorInputs:
    measurements = _measurements(estimator, point, tick)
    fresh = dict.fromkeys(measurements, jnp.asarray(True))
    return EstimatorInputs(point.motion, measurements, fresh)


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
        lambda _, at, __: (at.motion, _neighbors(at)),
        lambda behavior, state, inputs, _: (state, behavior.limited_world_mps(*inputs)),
        lambda *_: (),
    ),
    "radios": Contract(
        RADIOS,
        lambda _, at, __: _broadcast(at),
        _listen,
        lambda radio, reports, key: radio.init(len(reports.present), DT_S, key),
    ),
    "estimators": Contract(
        ESTIMATORS,
        _sensed,
        _step,
        lambda estimator, _, key: estimator.init(as_arrays(Start().kinematics()), key),
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
        lambda platform, state, time_s, _: (state, platform.deck_state(time_s)),
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
