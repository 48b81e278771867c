"""Learning tasks in scenarios, as environments.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence

from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec, Vector
from kittiwake.tasks.action_mapping import ActionMapping as ActionMapping
from kittiwake.tasks.action_mapping import Span as Span
from kittiwake.tasks.mppi import Mppi as Mppi
from kittiwake.tasks.rewards import tolerance as tolerance
from kittiwake.tasks.task import AbstractTask as AbstractTask
from kittiwake.tasks.task import Agent as Agent
from kittiwake.tasks.task import TaskScene as TaskScene

TASKS: Registry

class CatsMouse(ComponentSpec):
    """Three Pelicans surround a fleeing one."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        height_m: float = 10.0,
        from_mouse_m: Sequence[float] = ...,
        apart_m: float = 22.0,
        caught_within_m: float = 4.0,
        mouse_speed_mps: float = 3.0,
        height_ft: float = ...,
        from_mouse_ft: Sequence[float] = ...,
        apart_ft: float = ...,
        caught_within_ft: float = ...,
        mouse_speed_kn: float = ...,
    ) -> None: ...

class Complacs(ComponentSpec):
    """One Pelican flies through 34 waypoints."""

    def __init__(
        self,
        *,
        rate_hz: float = 50.0,
        waypoints_world_m: Sequence[Vector] = ...,
        within_m: float = 0.4,
        reward_per_waypoint: float = 0.0,
        waypoints_world_ft: Sequence[Vector] = ...,
        within_ft: float = ...,
    ) -> None: ...

class FollowSurfaceTask(ComponentSpec):
    """A drone flies over hills at a constant distance by its lidar."""

    def __init__(
        self,
        *,
        rate_hz: float = 10.0,
        distance_m: Sequence[float] = ...,
        speed_mps: float = 1.0,
        distance_ft: Sequence[float] = ...,
        speed_kn: float = ...,
    ) -> None: ...

class FormationTask(ComponentSpec):
    """Drones form up and hold a moving formation."""

    def __init__(
        self,
        *,
        rate_hz: float = 10.0,
        radius_m: float = 1.0,
        max_speed_mps: float = 0.5,
        max_turning_radps: float = 0.3,
        radius_ft: float = ...,
        max_speed_kn: float = ...,
        max_turning_degps: float = ...,
        max_turning_rpm: float = ...,
    ) -> None: ...

class GotoWaypoint(ComponentSpec):
    """One Pelican flies to a waypoint, at little effort."""

    def __init__(
        self,
        *,
        rate_hz: float = 50.0,
        waypoint_world_m: Vector = ...,
        waypoint_world_ft: Vector = ...,
    ) -> None: ...

class HallwayTask(ComponentSpec):
    """A drone flies along a hallway with pillars by its lidar."""

    def __init__(
        self, *, rate_hz: float = 10.0, end_m: float = 24.0, end_ft: float = ...
    ) -> None: ...

class HoldingPattern(ComponentSpec):
    """Three Pelicans keep flying near a landing site, apart from each other."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        height_m: float = 10.0,
        within_m: float = 70.0,
        far_m: float = 60.0,
        slow_mps: float = 2.0,
        fast_mps: float = 3.0,
        closeness_m: float = 0.0025,
        height_ft: float = ...,
        within_ft: float = ...,
        far_ft: float = ...,
        slow_kn: float = ...,
        fast_kn: float = ...,
        closeness_ft: float = ...,
    ) -> None: ...

class Hover(ComponentSpec):
    """A Crazyflie hovers by its rotor speeds."""

    def __init__(
        self, *, rate_hz: float = 100.0, place_world_m: Vector = ..., place_world_ft: Vector = ...
    ) -> None: ...

class KeepSpot(ComponentSpec):
    """One Pelican keeps its position at little effort."""

    def __init__(self, *, rate_hz: float = 50.0, running_per_s: float = 0.0) -> None: ...

class KeepSpot10(ComponentSpec):
    """Ten Pelicans keep their positions."""

    def __init__(self, *, rate_hz: float = 50.0, running_per_s: float = 0.0) -> None: ...

class KeepSpotWithoutReward(ComponentSpec):
    """The same area and limits, for a reward of your own."""

    def __init__(self, *, rate_hz: float = 50.0, running_per_s: float = 0.0) -> None: ...

class KeepVelocity(ComponentSpec):
    """One Pelican keeps a velocity in wind."""

    def __init__(
        self,
        *,
        rate_hz: float = 50.0,
        velocity_world_mps: Vector = ...,
        velocity_world_kn: Vector = ...,
    ) -> None: ...

class LandOnDeck(ComponentSpec):
    """A drone lands on a moving vessel."""

    def __init__(
        self,
        *,
        rate_hz: float = 10.0,
        rest_mps: float = 0.2,
        settle_s: float = 0.3,
        wet_m: float = 0.1,
        rest_kn: float = ...,
        wet_ft: float = ...,
    ) -> None: ...

class ObstacleRace(ComponentSpec):
    """A drone races through gates."""

    def __init__(
        self,
        *,
        gates_world_m: Sequence[Vector] = ...,
        rate_hz: float = 10.0,
        gate_radius_m: float = 0.7,
        spread_m: Vector = ...,
        gates_world_ft: Sequence[Vector] = ...,
        gate_radius_ft: float = ...,
        spread_ft: Vector = ...,
    ) -> None: ...

class PlumeDispersion(ComponentSpec):
    """One Pelican estimates the concentrations of a source's plume."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 100,
        most: float = 2.0,
        window: int = 0,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class PlumeGaussian(ComponentSpec):
    """One Pelican estimates the concentrations of a cloud at rest."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 100,
        most: float = 1.0,
        window: int = 0,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class PlumeMultiPuff(ComponentSpec):
    """The same for several sources of puffs."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 100,
        most: float = 1.0,
        window: int = 100,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class PlumeMultiSource(ComponentSpec):
    """The same for several sources."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 100,
        most: float = 2.0,
        window: int = 0,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class PlumePuff(ComponentSpec):
    """One Pelican samples the concentrations around a source of puffs."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 25,
        most: float = 1.0,
        window: int = 100,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class PlumeTeam(ComponentSpec):
    """Three Pelicans estimate the concentrations of several sources' plume."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 100,
        most: float = 2.0,
        window: int = 0,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class PlumeTeamPuff(ComponentSpec):
    """Three Pelicans sample the concentrations around sources of puffs."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        locations: int = 100,
        most: float = 1.0,
        window: int = 100,
        resolution: float = 0.0001,
        has_beliefs: bool = False,
    ) -> None: ...

class SearchRescue(ComponentSpec):
    """One Pelican finds persons with its camera."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        within_m: float = 5.0,
        slower_than_mps: float = 0.1,
        cost_of_a_step: float = 0.005,
        has_beliefs: bool = False,
        within_ft: float = ...,
        slower_than_kn: float = ...,
    ) -> None: ...

class SearchRescue3(ComponentSpec):
    """Three Pelicans find persons together."""

    def __init__(
        self,
        *,
        rate_hz: float = 1.0,
        within_m: float = 5.0,
        slower_than_mps: float = 0.1,
        cost_of_a_step: float = 0.005,
        has_beliefs: bool = False,
        within_ft: float = ...,
        slower_than_kn: float = ...,
    ) -> None: ...

class SurveyCoverage(ComponentSpec):
    """Vessels cover all cells of an area."""

    def __init__(
        self,
        *,
        rate_hz: float = 4.0,
        corner_world_m: Vector = ...,
        cells: Sequence[int] = ...,
        cell_m: float = 2.0,
        swath_m: float = 1.5,
        corner_world_ft: Vector = ...,
        cell_ft: float = ...,
        swath_ft: float = ...,
    ) -> None: ...
