"""Telemetry of a vehicle: its rows as plain messages.

A vehicle publishes ``odometry`` (its estimate), ``ground_truth/odometry`` (its true motion),
``path`` (its past positions), ``battery`` if it has one, and each new sample of each sensor under
the sensor's name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from zlib import crc32

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.ros.messages.motion import (
    BATTERY,
    ESTIMATE,
    ODOMETRY,
    PATH,
    TRUTH,
    Battery,
    MotionMessages,
    PathHistory,
)
from kittiwake.adapters.ros.messages.plain import FIRST_NS, PlainMessage, legal_names, stamp_ns
from kittiwake.adapters.ros.messages.sensor import SensorContext, orientation_sensor, sensor_topics
from kittiwake.adapters.ros.messages.sensor_frames import (
    MountedSensor,
    moving_frames,
    static_frames,
)
from kittiwake.adapters.ros.messages.topic import RateLimiter, Row, Topic
from kittiwake.geometry.geodesy import Geodetic, LocalFrame, tangent_plane
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.world.world import Origin, WorldModel

GROUND_TRUTH = "ground_truth/odometry"
BATTERY_HZ = 1.0
# names in a vehicle's namespace that no sensor may have
RESERVED_NAMES = {
    "odometry",
    "ground_truth",
    "path",
    "battery",
    "switch_mode",
    "get_mode",
    "takeoff",
    "land",
    "gains",
    "position_yaw",
    "velocity_yawrate",
    "thrust_attitude",
    "thrust_velocity",
    "thrust_torque",
}


class Telemetry:
    """Messages of one vehicle, from the rows of its flight.

    Args:
        name: the name of its namespace and its frame.
        vehicle: the vehicle.
        columns: column names of its rows, the time first.
        world: the world it flies in.
        settings: ROS settings of the scenario.
        rate_hz: rate of the physics, in steps of which the periods of sensors are counted.
    """

    def __init__(
        self,
        name: str,
        vehicle: AssembledVehicle,
        columns: Sequence[str],
        world: WorldModel,
        settings: RosSettings,
        rate_hz: float,
    ) -> None:
        column_index = {column: index for index, column in enumerate(columns)}
        frame, world_frame = settings.frame_of(name), settings.world_frame
        in_body = settings.twist_in == "body"
        frames = world_frame, frame
        self._estimate = MotionMessages(column_index, ESTIMATE, frames, in_body=in_body)
        truth_frames = world_frame, f"{frame}/ground_truth"
        self._truth = MotionMessages(column_index, TRUTH, truth_frames, in_body=in_body)
        self._settings = settings
        capacity_c = _capacity_c(vehicle)
        has_battery = Battery.is_logged(column_index)
        self._battery = Battery(column_index, frame, capacity_c) if has_battery else None
        # long paths of all vehicles at the same instant would delay the odometry
        self._path_phase = crc32(name.encode()) % 1000 / 1000.0
        sensors = mounted_sensors(name, vehicle, settings, rate_hz, column_index)
        context = SensorContext(world, local_frame(world, settings), orientation_sensor(sensors))
        topics_of = [(sensor, sensor_topics(sensor, context)) for sensor in sensors]
        self._fresh = np.array(
            [sensor.column("fresh") for sensor, topics in topics_of if topics], int
        )
        self._sensors = [topics for _, topics in topics_of if topics]
        moving = (
            moving_frames(sensor, lambda row: self._truth.placement(row)[1]) for sensor in sensors
        )
        self._moving_frames = [frames for frames in moving if frames is not None]
        self._reset()

    @property
    def topics(self) -> Mapping[str, str]:
        """Message type of each topic, by its name relative to the vehicle's namespace."""
        own = [topic for topic, _ in self._periodic]
        return {t.name: t.type_name for t in (*own, *(t for each in self._sensors for t in each))}

    def messages(
        self, rows: Float64[np.ndarray, "_rows _columns"], *, live: bool = False
    ) -> list[tuple[str, PlainMessage]]:
        """Return the topics and messages of a block of rows, in order of time.

        When the time goes back, a new flight has begun. In a live flight only the motion in the
        last row is published, which shows the effect of a command at the first row.
        """
        times = rows[:, 0].tolist()
        if not times:
            return []
        if times[0] <= self._last_s:
            self._reset()
        self._last_s = times[-1]
        found: list[tuple[str, PlainMessage]] = []
        for row, time_s in zip(rows, times, strict=True):
            topics: list[Topic] = []
            if not live or time_s == self._last_s:
                topics = [topic for topic, limiter in self._periodic if limiter.due(time_s)]
            if self._sensors:
                new = (row.take(self._fresh) > 0.0).nonzero()[0]
                topics += [topic for index in new.tolist() for topic in self._sensors[index]]
            if self._path is not None:
                self._path.append(row, time_s)
            if topics:
                found += _messages(topics, row, stamp_ns(time_s))
        return found

    def transforms(self, row: Row) -> list[PlainMessage]:
        """Return the transform of the vehicle's estimate and of its moving frames, for a row."""
        ns = stamp_ns(float(row[0]))
        moving = [one for frames in self._moving_frames for one in frames(row, ns)]
        return [self._estimate.transform(row, ns), *moving]

    def _reset(self) -> None:
        """Return to the state before the first row."""
        settings = self._settings
        self._last_s = -inf
        topic = Topic("odometry", ODOMETRY, self._estimate.odometry)
        self._periodic = [(topic, RateLimiter(float(settings.odometry_hz)))]
        self._path: PathHistory | None = None
        if settings.ground_truth_hz > 0.0:
            topic = Topic(GROUND_TRUTH, ODOMETRY, self._truth.odometry)
            self._periodic.append((topic, RateLimiter(float(settings.ground_truth_hz))))
        if settings.path_hz > 0.0:
            path = PathHistory(self._truth, settings.world_frame, settings.path_points)
            topic = Topic("path", PATH, path.message)
            limiter = RateLimiter(float(settings.path_hz), self._path_phase)
            self._periodic.append((topic, limiter))
            self._path = path
        if self._battery is not None:
            topic = Topic("battery", BATTERY, self._battery.message)
            self._periodic.append((topic, RateLimiter(BATTERY_HZ)))


def _messages(topics: Iterable[Topic], row: Row, ns: int) -> Iterator[tuple[str, PlainMessage]]:
    """Yield the messages of a row."""
    for topic in topics:
        message = topic.message(row, ns)
        if message is not None:
            yield topic.name, message


def static_transforms(
    name: str,
    vehicle: AssembledVehicle,
    settings: RosSettings,
    columns: Sequence[str],
    rate_hz: float,
) -> list[PlainMessage]:
    """Return the ``geometry_msgs/TransformStamped`` of a vehicle's fixed sensors, for tf_static."""
    column_index = {column: index for index, column in enumerate(columns)}
    sensors = mounted_sensors(name, vehicle, settings, rate_hz, column_index)
    return [one for sensor in sensors for one in static_frames(sensor, FIRST_NS)]


def mounted_sensors(
    name: str,
    vehicle: AssembledVehicle,
    settings: RosSettings,
    rate_hz: float,
    column_index: Mapping[str, int],
) -> list[MountedSensor]:
    """Return a vehicle's sensors that are logged in its rows."""
    frame, found = settings.frame_of(name), list[MountedSensor]()
    for sensor, legal in legal_names(vehicle.sensors).items():
        scheduled, prefix = vehicle.sensors[sensor], f"sensor.{sensor}."
        if f"{prefix}fresh" not in column_index:
            continue
        topic = f"{legal}_sensor" if legal in RESERVED_NAMES else legal
        found.append(
            MountedSensor(
                name=topic,
                frame=f"{frame}/{topic}",
                body_frame=frame,
                world_frame=settings.world_frame,
                sensor=scheduled.component.sensor,
                period_s=scheduled.every / rate_hz,
                prefix=prefix,
                column_index=column_index,
            )
        )
    return found


def local_frame(world: WorldModel, settings: RosSettings) -> LocalFrame:
    """Return the local frame of a world: at its own origin, or the ROS origin if it has none."""
    origin = settings.origin if world.origin == Origin() else world.origin
    numbers = (origin.latitude_rad, origin.longitude_rad, origin.altitude_m)
    return tangent_plane(Geodetic(*map(float, numbers)))


def _capacity_c(vehicle: AssembledVehicle) -> float | None:
    """Return the capacity of a vehicle's battery in coulombs, if it is known."""
    capacity_c = getattr(getattr(vehicle.dynamics, "battery", None), "capacity_c", None)
    return None if capacity_c is None else float(capacity_c)
