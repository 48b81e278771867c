"""What a vehicle tells ROS of its flight: its rows as plain messages.

A vehicle tells ``odometry`` of what it believes and ``ground_truth/odometry`` of how it truly
moves, ``path`` of where it has been, ``battery`` if it has one, and of each sensor what that says,
once for each new sample, under the sensor's name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from zlib import crc32

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.ros.messages.motion import (
    BATTERY,
    BELIEF,
    ODOMETRY,
    PATH,
    TRUTH,
    Battery,
    MotionMessages,
    Trail,
)
from kittiwake.adapters.ros.messages.plain import FIRST_NS, PlainMessage, legal_names, stamp_ns
from kittiwake.adapters.ros.messages.sensor import Known, orientation_among, sensor_topics
from kittiwake.adapters.ros.messages.sensor_frames import (
    MountedSensor,
    static_frames,
    turning_frames,
)
from kittiwake.adapters.ros.messages.topic import Rhythm, Row, Topic
from kittiwake.geometry.geodesy import Geodetic, LocalFrame, tangent_plane
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.world.world import Origin, World

GROUND_TRUTH = "ground_truth/odometry"
BATTERY_HZ = 1.0
# topics that no sensor may have
OWN_TOPICS = {
    "odometry",
    "ground_truth",
    "path",
    "battery",
    "switch_mode",
    "get_mode",
    "takeoff",
} | {
    *("land", "gains", "position_yaw", "velocity_yawrate"),
    *("thrust_attitude", "thrust_velocity", "thrust_torque"),
}


class Telemetry:
    """All that one vehicle tells, out of the rows of its flight.

    Args:
        name: of its namespace, and of its frame.
        vehicle: itself.
        columns: of its rows, the time first.
        world: in which it flies.
        settings: of the scenario.
        rate_hz: physics steps a second, in which the periods of sensors are counted.
    """

    def __init__(
        self,
        name: str,
        vehicle: Vehicle,
        columns: Sequence[str],
        world: World,
        settings: RosSettings,
        rate_hz: float,
    ) -> None:
        places = {column: place for place, column in enumerate(columns)}
        frame, world_frame = settings.frame_of(name), settings.world_frame
        in_body = settings.twist_in == "body"
        self._belief = MotionMessages(places, BELIEF, (world_frame, frame), in_body=in_body)
        truth_frames = world_frame, f"{frame}/ground_truth"
        self._truth = MotionMessages(places, TRUTH, truth_frames, in_body=in_body)
        self._settings = settings
        capacity_c = _capacity_c(vehicle)
        has_battery = Battery.there_is(places)
        self._battery = Battery(places, frame, capacity_c) if has_battery else None
        # vehicles that told their long paths all at once would make each other's odometry late
        self._share = crc32(name.encode()) % 1000 / 1000.0
        carried = carried_by(name, vehicle, settings, rate_hz, places)
        known = Known(world, earth_of(world, settings), orientation_among(carried))
        told = [(one, sensor_topics(one, known)) for one in carried]
        self._fresh = np.array([one.place("fresh") for one, topics in told if topics], int)
        self._sensors = [topics for _, topics in told if topics]
        turning = (
            turning_frames(one, lambda row: self._truth.placement(row)[1]) for one in carried
        )
        self._turning = [frames for frames in turning if frames is not None]
        self._begin()

    @property
    def topics(self) -> Mapping[str, str]:
        """The kinds of all that it ever tells, by topics relative to its namespace."""
        own = [topic for topic, _ in self._rhythms]
        return {t.name: t.kind for t in (*own, *(t for each in self._sensors for t in each))}

    def messages(
        self, rows: Float64[np.ndarray, "_rows _columns"], *, live: bool = False
    ) -> list[tuple[str, PlainMessage]]:
        """What is told of the rows of a block, in order of time, by topic.

        A flight whose time goes back begins anew. Of a live one only the last row's motion is told,
        which already shows what was commanded at the first.
        """
        times = rows[:, 0].tolist()
        if not times:
            return []
        if times[0] <= self._last_s:
            self._begin()
        self._last_s = times[-1]
        found: list[tuple[str, PlainMessage]] = []
        for row, time_s in zip(rows, times, strict=True):
            topics: list[Topic] = []
            if not live or time_s == self._last_s:
                topics = [topic for topic, rhythm in self._rhythms if rhythm.due(time_s)]
            if self._sensors:
                new = (row.take(self._fresh) > 0.0).nonzero()[0]
                topics += [topic for place in new.tolist() for topic in self._sensors[place]]
            if self._trail is not None:
                self._trail.follow(row, time_s)
            if topics:
                found += _told(topics, row, stamp_ns(time_s))
        return found

    def transforms(self, row: Row) -> list[PlainMessage]:
        """Where the vehicle believes to be, and its frames that turn, at the time of a row."""
        ns = stamp_ns(float(row[0]))
        turning = [one for frames in self._turning for one in frames(row, ns)]
        return [self._belief.transform(row, ns), *turning]

    def _begin(self) -> None:
        """As before the first row."""
        settings = self._settings
        self._last_s = -inf
        believed = Topic("odometry", ODOMETRY, self._belief.odometry)
        self._rhythms = [(believed, Rhythm(float(settings.odometry_hz)))]
        self._trail: Trail | None = None
        if settings.ground_truth_hz > 0.0:
            told, hz = Topic(GROUND_TRUTH, ODOMETRY, self._truth.odometry), settings.ground_truth_hz
            self._rhythms.append((told, Rhythm(float(hz))))
        if settings.path_hz > 0.0:
            trail = Trail(self._truth, settings.world_frame, settings.path_points)
            told = Topic("path", PATH, trail.message)
            self._rhythms.append((told, Rhythm(float(settings.path_hz), self._share)))
            self._trail = trail
        if self._battery is not None:
            told = Topic("battery", BATTERY, self._battery.message)
            self._rhythms.append((told, Rhythm(BATTERY_HZ)))


def _told(topics: Iterable[Topic], row: Row, ns: int) -> Iterator[tuple[str, PlainMessage]]:
    """What there is to tell of a row."""
    for topic in topics:
        message = topic.message(row, ns)
        if message is not None:
            yield topic.name, message


def static_transforms(
    name: str, vehicle: Vehicle, settings: RosSettings, columns: Sequence[str], rate_hz: float
) -> list[PlainMessage]:
    """Where a vehicle's sensors are on it, as ``geometry_msgs/TransformStamped``; for tf_static."""
    places = {column: place for place, column in enumerate(columns)}
    carried = carried_by(name, vehicle, settings, rate_hz, places)
    return [one for each in carried for one in static_frames(each, FIRST_NS)]


def carried_by(
    name: str, vehicle: Vehicle, settings: RosSettings, rate_hz: float, places: Mapping[str, int]
) -> list[MountedSensor]:
    """A vehicle's sensors; those of which its rows say nothing are left out."""
    frame, found = settings.frame_of(name), list[MountedSensor]()
    for sensor, legal in legal_names(vehicle.sensors).items():
        scheduled, prefix = vehicle.sensors[sensor], f"sensor.{sensor}."
        if f"{prefix}fresh" not in places:
            continue
        own = f"{legal}_sensor" if legal in OWN_TOPICS else legal
        instrument, period_s = scheduled.component, scheduled.every / rate_hz
        found.append(
            MountedSensor(
                *(own, f"{frame}/{own}", frame, settings.world_frame),
                *(instrument.sensor, period_s, prefix, places),
            )
        )
    return found


def earth_of(world: World, settings: RosSettings) -> LocalFrame:
    """The world's axes on the Earth: by the world's origin, if that is not the usual one."""
    origin = settings.origin if world.origin == Origin() else world.origin
    numbers = (origin.latitude_rad, origin.longitude_rad, origin.altitude_m)
    return tangent_plane(Geodetic(*map(float, numbers)))


def _capacity_c(vehicle: Vehicle) -> float | None:
    """Of its battery, if that has one."""
    capacity_c = getattr(getattr(vehicle.dynamics, "battery", None), "capacity_c", None)
    return None if capacity_c is None else float(capacity_c)
