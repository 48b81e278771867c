"""Flying around what is known to stand in the way.

Before the flight the shortest way is searched that keeps a clearance (``path_search``), from the
vehicle's start, straight into the space that the world's area and ground leave with their clearance
too, to the goal. Through its corners goes a trajectory of minimum snap (``follow_trajectory``). One
that swings out too far gets more places on the straight ways to hold to, until it keeps the
clearance everywhere; for its swinging the way itself keeps a little more.
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
from kittiwake.guidance.places import refuse_places
from kittiwake.guidance.planning.free_space import FreeSpace, Points
from kittiwake.guidance.planning.path_search import length_m, shortest_way
from kittiwake.guidance.trajectories.follow_trajectory import FollowTrajectory
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs

# what a way keeps beside the clearance for a trajectory to swing, in parts of it, as far as it can
SLACKS = (0.2, 0.1, 0.04, 0.0)
# so many times as long as the shortest one a way is much longer
MUCH = 1.05
# how often more places are put on a way
FILLINGS = 6
# of each piece of a trajectory, between which it is as good as straight
SAMPLES = 200
# nearer places than this are one
SAME_M = 1e-6


class PlanPath(AbstractGuidance):
    """Where a smooth way around the obstacles leads.

    ``clearance_m`` is that of the way, and so of the vehicle's center; ``from_world_m`` is where
    the way begins, without it the vehicle's start.
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
        message = "prepared() comes before the flight"
        raise AssertionError(message)

    @override
    def leads_to(self, context: BuildContext) -> Vec3:
        del context
        return self.goal_world_m

    @override
    def prepare(self, context: BuildContext) -> FollowTrajectory:
        world = context.world
        begin = context.place_world_m if self.from_world_m is None else self.from_world_m
        ends = np.array([[p.x, p.y, p.z] for p in (begin, self.goal_world_m)], float)
        names = ("the start", "goal_world_m")
        refuse_places(context, [begin], "the start")
        refuse_places(context, [self.goal_world_m], "goal_world_m")
        clearance_m = float(self.clearance_m)
        _refuse_less_than_body(clearance_m, context)
        if np.linalg.norm(ends[1] - ends[0]) <= SAME_M:
            message = (
                f"goal_world_m: {_told(ends[1])} is where the way begins; write another goal, or "
                "guidance hold"
            )
            raise ScenarioError(message)
        space = FreeSpace.around(world, ends, clearance_m)
        _refuse_narrow(space, clearance_m)
        inner = np.clip(ends, space.low_m, space.high_m)
        for place, name in zip(np.concatenate([ends, inner]), names * 2, strict=True):
            _refuse_near(space, place, clearance_m, name)
        return self._planned(space, ends, inner, context)

    def _planned(
        self, space: FreeSpace, ends: Points, inner: Points, context: BuildContext
    ) -> FollowTrajectory:
        """With as much slack as there is room for on a way that is not much longer."""
        clearance_m, room_m = float(self.clearance_m), float(space.clearances_m(inner).min())
        wanted_m = [min(clearance_m * (1.0 + slack), room_m) for slack in SLACKS]
        found = [shortest_way(space, inner, m, float(self.resolution_m)) for m in wanted_m]
        ways = [way for way in found if way is not None]
        least_m = min(map(length_m, ways), default=0.0)
        for way in sorted(ways, key=lambda way: length_m(way) > MUCH * least_m):
            whole = _distinct(np.concatenate([ends[:1], way, ends[1:]]))
            trajectory = self._smooth(space, whole, context)
            if trajectory is not None:
                return trajectory
        raise ScenarioError(self._nowhere(space, ends, found=bool(ways)))

    def _smooth(
        self, space: FreeSpace, way: Points, context: BuildContext
    ) -> FollowTrajectory | None:
        """The trajectory along a way; None if it does not keep the clearance."""
        for _ in range(FILLINGS):
            trajectory = self._along(way, context)
            plan = trajectory.plan
            assert plan is not None
            curves = plan.pieces.sampled(np.linspace(0.0, 1.0, SAMPLES + 1), 0)[..., :3]
            hull = np.stack([way.min(axis=0), way.max(axis=0)])
            swings = _swings(space, curves, hull, float(self.clearance_m))
            if not swings.any():
                return trajectory
            way = _with_middles(way, swings)
        return None

    def _along(self, way: Points, context: BuildContext) -> FollowTrajectory:
        return FollowTrajectory(
            positions_world_m=tuple(Vec3(*place) for place in way.tolist()),
            yaws_rad=(self.yaw_rad,),
            max_speed_mps=self.max_speed_mps,
            max_acceleration_mps2=self.max_acceleration_mps2,
        ).prepare(context)

    def _nowhere(self, space: FreeSpace, ends: Points, *, found: bool) -> str:
        """Why nothing was found, with what stands in the straight way."""
        if found:
            return (
                "goal_world_m: there is a way, and no smooth one that keeps clearance_m "
                f"{self.clearance_m:g}; write a smaller one"
            )
        shares = np.linspace(0.0, 1.0, 1000)[:, None]
        distances, numbers = space.world.clearances(ends[:1] + shares * (ends[1:] - ends[:1]))
        blocking = space.world.obstacle_called(
            int(numbers[np.argmax(distances < self.clearance_m)])
        )
        return (
            f"goal_world_m: no way leads there that keeps {self.clearance_m:g} m clear of "
            f"obstacles, ground and area on a grid of {self.resolution_m:g} m; first in the "
            f"straight way is {blocking}. Write a smaller clearance_m or resolution_m, or another "
            "goal"
        )


def _swings(space: FreeSpace, curves: np.ndarray, hull: Points, clearance_m: float) -> np.ndarray:
    """Which pieces of a trajectory come too near to something, or leave the space.

    The ends of a way may lie beyond the space, and are in the hull of the way.
    """
    low = np.minimum(space.low_m, hull[0]) - 0.01 * clearance_m
    high = np.maximum(space.high_m, hull[1]) + 0.01 * clearance_m
    outside = ((curves < low) | (curves > high)).any(axis=(1, 2))
    begins, ends = curves[:, :-1].reshape(-1, 3), curves[:, 1:].reshape(-1, 3)
    clear = space.clear(begins, ends, clearance_m).reshape(len(curves), -1).all(axis=1)
    return np.logical_or(outside, ~clear)


def _with_middles(way: Points, wanted: np.ndarray) -> Points:
    """With the middles of some of its straight ways and of those beside them."""
    beside = wanted.copy()
    beside[:-1] |= wanted[1:]
    beside[1:] |= wanted[:-1]
    middles = 0.5 * (way[:-1] + way[1:])
    return np.insert(way, np.flatnonzero(beside) + 1, middles[beside], axis=0)


def _distinct(way: Points) -> Points:
    moved = np.linalg.norm(np.diff(way, axis=0), axis=1) > SAME_M
    return way[np.concatenate([[True], moved])]


def _refuse_less_than_body(clearance_m: float, context: BuildContext) -> None:
    if not context.world.obstacles:
        return
    size = context.dynamics.size_body_m
    radius_m = 0.5 * float(size.norm())
    if clearance_m < radius_m:
        message = (
            f"clearance_m: {clearance_m:g} is less than the vehicle reaches from its center; write "
            f"at least {np.ceil(100.0 * radius_m) / 100.0:g}"
        )
        raise ScenarioError(message)


def _refuse_narrow(space: FreeSpace, clearance_m: float) -> None:
    for axis, low, high in zip("xyz", space.low_m, space.high_m, strict=True):
        if low > high:
            message = (
                f"clearance_m: {clearance_m:g} on both sides leaves nothing of world.area.{axis}_m "
                "over the ground; write less"
            )
            raise ScenarioError(message)


def _refuse_near(space: FreeSpace, place: np.ndarray, clearance_m: float, name: str) -> None:
    distances, numbers = space.world.clearances(place[None])
    distance_m = float(distances[0])
    if distance_m >= clearance_m:
        return
    obstacle = space.world.obstacle_called(int(numbers[0]))
    message = (
        f"{name}: {_told(place)} is {distance_m:.3g} m from {obstacle}, less than clearance_m "
        f"{clearance_m:g}; move it, or write a smaller clearance_m"
    )
    raise ScenarioError(message)


def _told(place: np.ndarray) -> str:
    return f"[{', '.join(f'{part:g}' for part in place)}]"
