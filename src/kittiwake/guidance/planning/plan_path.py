"""Flight around known obstacles.

Before the flight the shortest path with a clearance is searched (``path_search``), from the
vehicle's start, straight into the space inside the world's area and ground with their clearance, to
the goal. A trajectory of minimum snap (``follow_trajectory``) passes its corners. If it swings out
too far, points on the straight segments are added until it keeps the clearance everywhere; as a
reserve for that the path itself keeps a larger clearance.
"""

from typing import Annotated

import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.planning.free_space import FreeSpace, Points
from kittiwake.guidance.planning.path_search import length_m, shortest_path
from kittiwake.guidance.positions import check_positions
from kittiwake.guidance.trajectories.follow_trajectory import FollowTrajectory
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs

# reserves of clearance for the swinging of the trajectory, as shares of it, tried in this order
RESERVES = (0.2, 0.1, 0.04, 0.0)
# ratio to the shortest length above which a path is much longer
MUCH_LONGER = 1.05
# largest number of refinements of a path
REFINEMENTS = 6
# number of samples per piece of a trajectory
SAMPLES = 200
# nearer points are identical
SAME_M = 1e-6


class PlanPath(AbstractGuidance[tuple[()]]):
    """Plans a smooth path around the obstacles to a goal.

    ``clearance_m`` is the clearance of the vehicle's center; ``from_world_m`` is the beginning of
    the path, by default the vehicle's start.

    Attributes:
        goal_world_m: goal.
        from_world_m: start of the path; the vehicle's by default.
        clearance_m: distance from obstacles.
        resolution_m: side of the cells.
        max_speed_mps: limit of the speed.
        max_acceleration_mps2: limit of the acceleration.
        yaw_rad: heading.
    """

    goal_world_m: Vec3
    from_world_m: Vec3 | None = None
    clearance_m: Annotated[Real, POSITIVE] = 0.7
    resolution_m: Annotated[Real, POSITIVE] = 0.25
    max_speed_mps: Annotated[Real, POSITIVE] = 3.0
    max_acceleration_mps2: Annotated[Real, POSITIVE] = 3.0
    yaw_rad: Real = 0.0

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PositionYaw]:
        del state, inputs, dt_s, key
        message = "prepare() comes before the flight"
        raise AssertionError(message)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        del context
        return self.goal_world_m

    @override
    def prepare(self, context: BuildContext) -> FollowTrajectory:
        world = context.world
        begin = context.task_start_world_m if self.from_world_m is None else self.from_world_m
        ends = np.array([[p.x, p.y, p.z] for p in (begin, self.goal_world_m)], float)
        names = ("the start", "goal_world_m")
        check_positions(context, [begin], "the start")
        check_positions(context, [self.goal_world_m], "goal_world_m")
        clearance_m = float(self.clearance_m)
        _check_body_size(clearance_m, context)
        if np.linalg.norm(ends[1] - ends[0]) <= SAME_M:
            message = (
                f"`goal_world_m`: got {_in_brackets(ends[1])}, where the path begins; write "
                "another goal, or guidance hold"
            )
            raise ScenarioError(message)
        space = FreeSpace.around(world, ends, clearance_m)
        _check_area(space, clearance_m)
        inner = np.clip(ends, space.low_m, space.high_m)
        for place, name in zip(np.concatenate([ends, inner]), names * 2, strict=True):
            _check_distance(space, place, clearance_m, name)
        return self._planned(space, ends, inner, context)

    def _planned(
        self, space: FreeSpace, ends: Points, inner: Points, context: BuildContext
    ) -> FollowTrajectory:
        """Return the trajectory with the largest reserve on a path that is not much longer."""
        clearance_m, room_m = float(self.clearance_m), float(space.clearances_m(inner).min())
        wanted_m = [min(clearance_m * (1.0 + reserve), room_m) for reserve in RESERVES]
        found = [shortest_path(space, inner, m, float(self.resolution_m)) for m in wanted_m]
        paths = [path for path in found if path is not None]
        least_m = min(map(length_m, paths), default=0.0)
        for path in sorted(paths, key=lambda path: length_m(path) > MUCH_LONGER * least_m):
            whole = _distinct(np.concatenate([ends[:1], path, ends[1:]]))
            trajectory = self._smooth(space, whole, context)
            if trajectory is not None:
                return trajectory
        raise ScenarioError(self._failure_message(space, ends, found=bool(paths)))

    def _smooth(
        self, space: FreeSpace, path: Points, context: BuildContext
    ) -> FollowTrajectory | None:
        """Return the trajectory along a path; None if it does not keep the clearance."""
        for _ in range(REFINEMENTS):
            trajectory = self._along(path, context)
            plan = trajectory.plan
            assert plan is not None
            curves = plan.pieces.sampled(np.linspace(0.0, 1.0, SAMPLES + 1), 0)[..., :3]
            hull = np.stack([path.min(axis=0), path.max(axis=0)])
            swings = _swings(space, curves, hull, float(self.clearance_m))
            if not swings.any():
                return trajectory
            path = _with_middles(path, swings)
        return None

    def _along(self, path: Points, context: BuildContext) -> FollowTrajectory:
        return FollowTrajectory(
            positions_world_m=tuple(Vec3(*place) for place in path.tolist()),
            yaws_rad=(self.yaw_rad,),
            max_speed_mps=self.max_speed_mps,
            max_acceleration_mps2=self.max_acceleration_mps2,
        ).prepare(context)

    def _failure_message(self, space: FreeSpace, ends: Points, *, found: bool) -> str:
        """Return the error message if nothing was found, with the first obstacle ahead."""
        if found:
            return (
                "`goal_world_m`: there is a path, but no smooth one that keeps clearance_m "
                f"{self.clearance_m:g}; write a smaller one"
            )
        shares = np.linspace(0.0, 1.0, 1000)[:, None]
        distances, numbers = space.world.clearances(ends[:1] + shares * (ends[1:] - ends[:1]))
        blocking = space.world.obstacle_called(
            int(numbers[np.argmax(distances < self.clearance_m)])
        )
        return (
            f"`goal_world_m`: no path keeps a clearance of {self.clearance_m:g} m from obstacles, "
            f"ground and area on a grid of {self.resolution_m:g} m; the first obstacle on the "
            f"straight line is {blocking}. Write a smaller clearance_m or resolution_m, or another "
            "goal"
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "PlanPath"]:
        return {"over the ground": cls(Vec3(3.0, 2.0, 0.2))}


def _swings(space: FreeSpace, curves: np.ndarray, hull: Points, clearance_m: float) -> np.ndarray:
    """Return flags of the trajectory's pieces that come too close to something or leave the space.

    The ends of a path may lie beyond the space, and are in the hull of the path.
    """
    low = np.minimum(space.low_m, hull[0]) - 0.01 * clearance_m
    high = np.maximum(space.high_m, hull[1]) + 0.01 * clearance_m
    outside = ((curves < low) | (curves > high)).any(axis=(1, 2))
    begins, ends = curves[:, :-1].reshape(-1, 3), curves[:, 1:].reshape(-1, 3)
    clear = space.clear(begins, ends, clearance_m).reshape(len(curves), -1).all(axis=1)
    return np.logical_or(outside, ~clear)


def _with_middles(path: Points, wanted: np.ndarray) -> Points:
    """Return the path with the midpoints of some of its segments and of adjacent ones."""
    beside = wanted.copy()
    beside[:-1] |= wanted[1:]
    beside[1:] |= wanted[:-1]
    middles = 0.5 * (path[:-1] + path[1:])
    return np.insert(path, np.flatnonzero(beside) + 1, middles[beside], axis=0)


def _distinct(path: Points) -> Points:
    moved = np.linalg.norm(np.diff(path, axis=0), axis=1) > SAME_M
    return path[np.concatenate([[True], moved])]


def _check_body_size(clearance_m: float, context: BuildContext) -> None:
    if not context.world.obstacles:
        return
    size = context.dynamics.size_body_m
    radius_m = 0.5 * float(size.norm())
    if clearance_m < radius_m:
        message = (
            f"`clearance_m`: got {clearance_m:g}; must be at least "
            f"{np.ceil(100.0 * radius_m) / 100.0:g}, the radius of the vehicle"
        )
        raise ScenarioError(message)


def _check_area(space: FreeSpace, clearance_m: float) -> None:
    for axis, low, high in zip("xyz", space.low_m, space.high_m, strict=True):
        if low > high:
            message = (
                f"`clearance_m`: got {clearance_m:g}, which on both sides leaves nothing of "
                f"world.area.{axis}_m over the ground; write less"
            )
            raise ScenarioError(message)


def _check_distance(space: FreeSpace, place: np.ndarray, clearance_m: float, name: str) -> None:
    distances, numbers = space.world.clearances(place[None])
    distance_m = float(distances[0])
    if distance_m >= clearance_m:
        return
    obstacle = space.world.obstacle_called(int(numbers[0]))
    message = (
        f"{name}: {_in_brackets(place)} is {distance_m:.3g} m from {obstacle}, less than "
        f"clearance_m {clearance_m:g}; move it, or write a smaller clearance_m"
    )
    raise ScenarioError(message)


def _in_brackets(place: np.ndarray) -> str:
    return f"[{', '.join(f'{part:g}' for part in place)}]"
