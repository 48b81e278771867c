"""Camera of a browser: views that follow vehicles, and a free one.

A view has a target and axes that move with it. The user may drag and zoom in every view but the
onboard one: the offset from the target, in the axes of the view, is that of the user's last move.
The position that a browser reports is delayed by the connection, its offset from the target is not.
"""

from itertools import count
from math import sin
from time import monotonic
from typing import NamedTuple

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.cockpit.frame_buffer import FrameSource
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.rendering.rotation import about, composed, rotated, yaws_rad
from kittiwake.scene.extent import area_of, extent_of
from kittiwake.scene.lines import POSITION
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import STATE, Selection

FOLLOW, BEHIND, ABOVE, ONBOARD = "follow", "behind", "above", "onboard"
ORBIT, EVERYTHING, FREE = "orbit", "everything", "free"
# with the numbers of their keys
VIEWS = (FOLLOW, BEHIND, ABOVE, ONBOARD, ORBIT, EVERYTHING, FREE)
# unit vectors from the target to the camera, in the axes of the view; that of the view from above
# is tilted a little, so that north is up
ASIDE = np.array([-0.621, -0.661, 0.421])
DIRECTIONS = {BEHIND: np.array([-0.924, 0.0, 0.383]), ABOVE: np.array([0.0, -0.02, 1.0])}
# distance from a vehicle relative to its size, so that its surroundings are seen too
DISTANCE_SHARE, ABOVE_SHARE = 4.5, 8.0
ORBIT_RADPS = 0.25
# smallest vehicle, for one without a size
MIN_SIZE_M = 0.15
# vehicles of large fleets that count for the view of everything, and its margin
MAX_COUNTED, MARGIN = 200, 1.15
# offsets sent to the browser, of which it reports one unless the user has moved the camera
SENT, TOLERANCE = 256, 0.01
Z = 2
# of the axes of a camera image (right, down, ahead) in those of a body
Q_BODY_FROM_IMAGE = np.array([[0.5, -0.5, 0.5, -0.5]])
EMPTY_SCENE_STATE = SceneState(0.0, {}, {})

Place = Float[np.ndarray, "3"]


class Aim(NamedTuple):
    """Target of a view: position, yaw of the axes, and length that offsets are relative to."""

    target_world_m: Place
    yaw_rad: float
    scale_m: float


class BrowserCamera:
    """Camera of a browser.

    Attributes:
        view: one of ``VIEWS``.
    """

    def __init__(self, client: viser.ClientHandle, flight: FlightInfo, source: FrameSource) -> None:
        self._client, self._source = client, source
        self.flight = flight
        self.view = FOLLOW if len(flight.scenario.vehicles) == 1 else EVERYTHING
        # offset from the target in the axes of the view, relative to its scale
        self._offset: Place = ASIDE
        # offsets sent since the view began, and whether the browser has reported one of them
        self._sent: list[Place] = []
        self._is_confirmed = False
        self._aim: Aim | None = None

    @property
    def flight(self) -> FlightInfo:
        """The flight that it shows."""
        return self._flight

    @flight.setter
    def flight(self, flight: FlightInfo) -> None:
        self._flight = flight
        names = list(flight.scenario.vehicles)
        counted = names[:: -(-len(names) // MAX_COUNTED)]
        self._fleet = Selection(flight, counted, POSITION)
        self._selected, self._motion = "", Selection(flight, names[:1], STATE)

    def set_initial_view(self) -> None:
        """Begin with the default view, and wait for the browser to confirm it.

        A slow browser keeps reporting its default view for a while. The first update is skipped:
        it is triggered while the browser's first message is handled, and echoes the view set here.
        """
        updates = count()

        # a coroutine, so that viser awaits it before other camera updates
        async def on_update(camera: viser.CameraHandle) -> None:
            if next(updates) > 0:
                self._receive(np.asarray(camera.position) - np.asarray(camera.look_at))

        self._client.camera.on_update(on_update)
        self._client.camera.far = far_m(self._flight)
        self.start(self.view, next(iter(self._flight.scenario.vehicles)))

    def start(self, view: str, vehicle: str) -> None:
        """Begin a view, with its own direction and distance."""
        if self.view == ONBOARD != view:
            self._client.camera.up_direction = np.array([0.0, 0.0, 1.0])
        self.view, self._sent, self._is_confirmed = view, [], False
        share = ABOVE_SHARE if view == ABOVE else DISTANCE_SHARE
        self._offset = DIRECTIONS.get(view, ASIDE) * (1.0 if view == EVERYTHING else share)
        if view != FREE:
            self.update(self._source.scene_state() or EMPTY_SCENE_STATE, vehicle)

    def update(self, scene_state: SceneState, vehicle: str) -> None:
        """Move the camera with its target."""
        if self.view == FREE:
            return
        if self.view == ONBOARD:
            self._look_ahead(scene_state, vehicle)
            return
        aim = self._aim_at(scene_state, vehicle)
        if aim is None:
            return
        self._aim = aim
        offset = _turned(self._offset * aim.scale_m, aim.yaw_rad)
        self._sent = [*self._sent[1 - SENT :], offset]
        camera = self._client.camera
        with self._client.atomic():  # a partial update would accumulate to a drift
            camera.position, camera.look_at = aim.target_world_m + offset, aim.target_world_m

    def _receive(self, offset: Place) -> None:
        """Take the offset that the browser reports, unless it is one that was sent."""
        aim, sent = self._aim, self._sent
        if aim is None or not sent or self.view in (FREE, ONBOARD):
            return
        differences = np.linalg.norm(np.array(sent) - offset, axis=1)
        if differences.min() <= TOLERANCE * float(np.linalg.norm(offset)):
            self._is_confirmed = True
        elif self._is_confirmed:
            self._offset = _turned(offset, -aim.yaw_rad) / aim.scale_m

    def _aim_at(self, scene_state: SceneState, vehicle: str) -> Aim | None:
        """Return the target of the view; None if no position is known."""
        if self.view == EVERYTHING:
            return self._aim_at_all(scene_state)
        state = self._state_of(scene_state, vehicle)
        if state is None:
            return None
        yaw_rad = 0.0
        if self.view == BEHIND:
            yaw_rad = float(yaws_rad(state[None, 3:])[0])
        elif self.view == ORBIT:
            yaw_rad = ORBIT_RADPS * monotonic()
        return Aim(state[:3], yaw_rad, size_m(self._flight.scenario.vehicles[vehicle]))

    def _aim_at_all(self, scene_state: SceneState) -> Aim:
        """Return the center of all vehicles, and the distance from which all are seen."""
        return aim_at_all(self._flight, self._fleet.of(scene_state), self._narrowest_rad())

    def _narrowest_rad(self) -> float:
        """Return the smaller field of view of the image, horizontally or vertically."""
        camera = self._client.camera
        return min(camera.fov, 2.0 * float(np.arctan(np.tan(0.5 * camera.fov) * camera.aspect)))

    def _look_ahead(self, scene_state: SceneState, vehicle: str) -> None:
        """Show what a camera of the vehicle sees, or else the view from its front."""
        state = self._state_of(scene_state, vehicle)
        if state is None:
            return
        position_body, q_body, stabilized = _onboard(self._flight.scenario.vehicles[vehicle])
        q_world = state[None, 3:]
        place = state[:3] + rotated(q_world, position_body[None])[0]
        q_view = about(Z, yaws_rad(q_world)) if stabilized else q_world
        q = composed(composed(q_view, q_body[None]), Q_BODY_FROM_IMAGE)
        ahead, down = rotated(np.repeat(q, 2, axis=0), np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
        camera = self._client.camera
        with self._client.atomic():
            camera.up_direction = -down
            camera.position, camera.look_at = place, place + ahead

    def _state_of(self, scene_state: SceneState, vehicle: str) -> np.ndarray | None:
        """Return position and attitude of a vehicle; None if unknown."""
        if vehicle not in self._flight.columns:
            return None
        if vehicle != self._selected:
            self._selected, self._motion = vehicle, Selection(self._flight, [vehicle], STATE)
        if vehicle in scene_state.rows:
            state = self._motion.of(scene_state)[0]
            return state if np.isfinite(state).all() else None
        start = self._flight.scenario.vehicles[vehicle].start.kinematics()
        position, q = start.position_world_m, start.q_world_from_body
        return np.array([*map(float, position.array), *map(float, (q.w, q.x, q.y, q.z))])


def aim_at_all(
    flight: FlightInfo, positions_world_m: Float[np.ndarray, "n 3"], view_rad: float
) -> Aim:
    """Return the center of positions of vehicles, and the distance from which all are seen.

    Args:
        flight: the flight.
        positions_world_m: positions; unknown ones are NaN.
        view_rad: smaller field of view of the image.
    """
    positions = positions_world_m[np.isfinite(positions_world_m).all(axis=1)]
    if not len(positions):
        positions = extent_of(flight).center_world_m[None]
    low, high = area_of(flight)
    # lost vehicles may be anywhere
    positions = np.clip(positions, 2.0 * low - high, 2.0 * high - low)
    lowest, highest = positions.min(axis=0), positions.max(axis=0)
    radius_m = 0.5 * float(np.linalg.norm(highest - lowest))
    largest_m = max(size_m(one) for one in flight.scenario.vehicles.values())
    distance_m = MARGIN * radius_m / sin(0.5 * view_rad) + largest_m
    return Aim(0.5 * (lowest + highest), 0.0, max(distance_m, DISTANCE_SHARE * largest_m))


def size_m(vehicle: AssembledVehicle) -> float:
    """Return the largest horizontal size of a vehicle."""
    size = vehicle.dynamics.size_body_m
    return max(float(size.x), float(size.y), MIN_SIZE_M)


def far_m(flight: FlightInfo) -> float:
    """Return the distance up to which a camera sees; the ground ends there."""
    return max(4000.0, 40.0 * extent_of(flight).widest_m)


def _onboard(vehicle: AssembledVehicle) -> tuple[Place, np.ndarray, bool]:
    """Return the position and attitude of a vehicle's camera, and if it is kept level."""
    for scheduled in vehicle.sensors.values():
        field = scheduled.component.sensor.field_of_view()
        if field is not None:
            q = field.q_body_from_camera
            rotation = np.array([float(one) for one in (q.w, q.x, q.y, q.z)])
            place = np.array([float(one) for one in field.position_body_m.array])
            return place, rotation, field.stabilised
    size = vehicle.dynamics.size_body_m
    # before the body and a little above it, where no part is in the way
    place = np.array([0.5 * float(size.x) + 0.02, 0.0, 0.5 * float(size.z) + 0.02])
    return place, np.array([1.0, 0.0, 0.0, 0.0]), False


def _turned(vector: Place, yaw_rad: float) -> Place:
    return rotated(about(Z, np.array([yaw_rad])), vector[None])[0]
