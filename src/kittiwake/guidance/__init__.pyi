"""Guidance: setpoints over time for the control cascade, and obstacle avoidance.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence
from typing import Literal

from kittiwake.core.registry import Registry
from kittiwake.core.specification import Component, ComponentSpec, FileName, Record, Vector
from kittiwake.interfaces.guidance import AbstractAvoidance as AbstractAvoidance
from kittiwake.interfaces.guidance import AvoidanceInputs as AvoidanceInputs
from kittiwake.interfaces.guidance import GuidanceInputs as GuidanceInputs

GUIDANCE: Registry
TASKS: Registry
AVOIDANCE: Registry

class AccelerationProfile(ComponentSpec):
    """Move there and back while along another vector, smoothly, and then hold."""

    def __init__(
        self,
        *,
        there_and_back_world_m: Vector = ...,
        along_world_m: Vector = ...,
        half_s: float = 10.0,
        yaw_rad: float = 0.0,
        rate_hz: float = ...,
        there_and_back_world_ft: Vector = ...,
        along_world_ft: Vector = ...,
        yaw_deg: float = ...,
    ) -> None: ...

class Barrier(ComponentSpec):
    """Nearest velocity to the commanded one that keeps a distance."""

    def __init__(
        self,
        *,
        sensors: Sequence[str] | None = ...,
        safe_distance_m: float = 0.8,
        gain_per_s: float = 0.5,
        max_deceleration_mps2: float = 3.0,
        rate_hz: float = ...,
        safe_distance_ft: float = ...,
    ) -> None: ...

class Circle(ComponentSpec):
    """A level circle through the start, with feed-forward."""

    def __init__(
        self,
        *,
        radius_m: float = ...,
        period_s: float = ...,
        center_world_m: Vector | None = ...,
        direction: Literal["counterclockwise", "clockwise"] = "counterclockwise",
        feed_forward: Literal["position", "velocity", "acceleration", "jerk"] = "jerk",
        rate_hz: float = ...,
        radius_ft: float = ...,
        center_world_ft: Vector | None = ...,
    ) -> None: ...

class Curve(ComponentSpec):
    """A circle, a helix, a figure of eight or a turn in place, with feed-forward."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        amplitude_world_m: Vector = ...,
        angular_rates_radps: Vector = ...,
        phases_rad: Vector = ...,
        drift_world_mps: Vector = ...,
        yaw_rad: float = 0.0,
        yaw_rate_radps: float = 0.0,
        feed_forward: Literal["position", "velocity", "acceleration", "jerk"] = "jerk",
        rate_hz: float = ...,
        center_world_ft: Vector = ...,
        amplitude_world_ft: Vector = ...,
        angular_rates_degps: Vector = ...,
        angular_rates_rpm: Vector = ...,
        phases_deg: Vector = ...,
        drift_world_kn: Vector = ...,
        yaw_deg: float = ...,
        yaw_rate_degps: float = ...,
        yaw_rate_rpm: float = ...,
    ) -> None: ...

class DeckLanding(ComponentSpec):
    """Land on a moving deck: align, descend in a cone, go around."""

    def __init__(
        self,
        *,
        sensor: str = "deck",
        altitude_m: float = 1.65,
        approach_altitude_m: float = 0.65,
        begin_after_s: float = 0.0,
        error_threshold_m: float = 0.1,
        cone: float = 0.1,
        settle_s: float = 0.5,
        climb_mps: float = 1.0,
        descent_mps: float = 0.3,
        commit_m: float = 0.05,
        rest_mps: float = 0.1,
        rest_s: float = 0.2,
        lost_after_s: float = 1.0,
        smoothing_s: float = 0.2,
        standing_height_m: float | None = ...,
        yaw_rad: float | None = ...,
        rate_hz: float = ...,
        altitude_ft: float = ...,
        approach_altitude_ft: float = ...,
        error_threshold_ft: float = ...,
        climb_kn: float = ...,
        descent_kn: float = ...,
        commit_ft: float = ...,
        rest_kn: float = ...,
        standing_height_ft: float | None = ...,
        yaw_deg: float | None = ...,
    ) -> None: ...

class Disarm(ComponentSpec):
    """Switch the motors off at once."""

    def __init__(self, *, rate_hz: float = ...) -> None: ...

class Flock(ComponentSpec):
    """Combined velocity of behaviors: separation, alignment, cohesion and others."""

    def __init__(
        self,
        *,
        behaviors: Sequence[Component] = ...,
        combine: Literal["sum", "order"] = "sum",
        limit_mps: float = 2.0,
        radius_m: float = 10.0,
        active: Sequence[str] | None = ...,
        yaw_rad: float | None = ...,
        feed_forward: bool = False,
        rate_hz: float = ...,
        limit_kn: float = ...,
        radius_ft: float = ...,
        yaw_deg: float | None = ...,
    ) -> None: ...

class FollowDeck(ComponentSpec):
    """Hover over a moving deck."""

    def __init__(
        self,
        *,
        sensor: str = "deck",
        altitude_m: float = 1.65,
        smoothing_s: float = 0.2,
        lost_after_s: float = 1.0,
        yaw_rad: float | None = ...,
        rate_hz: float = ...,
        altitude_ft: float = ...,
        yaw_deg: float | None = ...,
    ) -> None: ...

class FollowSurface(ComponentSpec):
    """Move along a surface at a distance, or rest before it, with a head that faces it."""

    def __init__(
        self,
        *,
        sensor: str = ...,
        distance_m: float = 1.0,
        speed_mps: float = 0.5,
        acceleration_mps2: float = 0.5,
        way_m: float | None = ...,
        duration_s: float | None = ...,
        hold_s: float = 0.5,
        give_up_s: float = 5.0,
        rate_hz: float = ...,
        distance_ft: float = ...,
        speed_kn: float = ...,
        way_ft: float | None = ...,
    ) -> None: ...

class FollowTrajectory(ComponentSpec):
    """A smooth trajectory through waypoints, within limits, with feed-forward."""

    def __init__(
        self,
        *,
        positions_world_m: Sequence[Vector] = ...,
        shape: Literal["minimum-snap", "minimum-jerk", "cubic-spline"] = "minimum-snap",
        yaws_rad: Sequence[float] | None = ...,
        times_s: Sequence[float] | None = ...,
        max_speed_mps: float = 5.0,
        max_acceleration_mps2: float = 4.0,
        lead_in_speed_mps: float = 1.0,
        rate_hz: float = ...,
        positions_world_ft: Sequence[Vector] = ...,
        yaws_deg: Sequence[float] | None = ...,
        max_speed_kn: float = ...,
        lead_in_speed_kn: float = ...,
    ) -> None: ...

class Gageik(ComponentSpec):
    """States safe, close, dangerous by the nearest obstacle (Micklisch et al., method 1)."""

    def __init__(
        self,
        *,
        sensors: Sequence[str] | None = ...,
        dangerous_m: float = 0.5,
        close_m: float = 0.5,
        reduction: float = 0.25,
        rate_hz: float = ...,
        dangerous_ft: float = ...,
        close_ft: float = ...,
    ) -> None: ...

class Goto(ComponentSpec):
    """Fly to a position, smoothly or at once."""

    def __init__(
        self,
        *,
        position_world_m: Vector = ...,
        yaw_rad: float | None = ...,
        radius_m: float = 0.3,
        speed_mps: float | None = ...,
        acceleration_mps2: float = 2.0,
        rate_hz: float = ...,
        position_world_ft: Vector = ...,
        yaw_deg: float | None = ...,
        radius_ft: float = ...,
        speed_kn: float | None = ...,
    ) -> None: ...

class Hold(ComponentSpec):
    """Hold a position, a velocity or a height."""

    def __init__(
        self,
        *,
        position_world_m: Vector | None = ...,
        velocity_world_mps: Vector | None = ...,
        height_world_m: float | None = ...,
        yaw_rad: float | None = ...,
        rate_hz: float = ...,
        position_world_ft: Vector | None = ...,
        velocity_world_kn: Vector | None = ...,
        height_world_ft: float | None = ...,
        yaw_deg: float | None = ...,
    ) -> None: ...

class Idle(ComponentSpec):
    """Stand with the motors off until a mission continues."""

    def __init__(self, *, rate_hz: float = ...) -> None: ...

class Land(ComponentSpec):
    """Descend in four states, then motors off."""

    def __init__(
        self,
        *,
        landing_height_world_m: float | None = ...,
        yaw_rad: float | None = ...,
        slow_below_m: float = 1.0,
        flare_below_m: float = 0.5,
        touch_below_m: float = 0.1,
        leads_m: Sequence[float] = ...,
        deceleration_mps2: float = 2.0,
        touch_speed_mps: float = 0.3,
        sinking_m: float = 0.01,
        still_after_s: float = 0.5,
        press_mps: float = 0.5,
        press_m: float = 1.0,
        rate_hz: float = ...,
        landing_height_world_ft: float | None = ...,
        yaw_deg: float | None = ...,
        slow_below_ft: float = ...,
        flare_below_ft: float = ...,
        touch_below_ft: float = ...,
        leads_ft: Sequence[float] = ...,
        touch_speed_kn: float = ...,
        sinking_ft: float = ...,
        press_kn: float = ...,
        press_ft: float = ...,
    ) -> None: ...

class LineOfSight(ComponentSpec):
    """Steer a vessel along straight legs between waypoints."""

    def __init__(
        self,
        *,
        positions_world_m: Sequence[Vector] = ...,
        pattern: Record | None = ...,
        speed_mps: float = 1.0,
        look_ahead_m: float = 2.0,
        integral_gain_per_s: float = 0.0,
        acceptance_radius_m: float = 1.5,
        heading: Literal["track", "pursuit"] = "track",
        loop: bool = False,
        rate_hz: float = ...,
        positions_world_ft: Sequence[Vector] = ...,
        speed_kn: float = ...,
        look_ahead_ft: float = ...,
        acceptance_radius_ft: float = ...,
    ) -> None: ...

class Mission(ComponentSpec):
    """A sequence of tasks with conditions."""

    def __init__(
        self, *, steps: Sequence[Record] = ..., rules: Sequence[Record] = ..., rate_hz: float = ...
    ) -> None: ...

class ModeTour(ComponentSpec):
    """A schedule of modes."""

    def __init__(self, *, stages: Sequence[Record] = ..., rate_hz: float = ...) -> None: ...

class PlanPath(ComponentSpec):
    """A smooth path to a goal, around known obstacles."""

    def __init__(
        self,
        *,
        goal_world_m: Vector = ...,
        from_world_m: Vector | None = ...,
        clearance_m: float = 0.7,
        resolution_m: float = 0.25,
        max_speed_mps: float = 3.0,
        max_acceleration_mps2: float = 3.0,
        yaw_rad: float = 0.0,
        rate_hz: float = ...,
        goal_world_ft: Vector = ...,
        from_world_ft: Vector | None = ...,
        clearance_ft: float = ...,
        resolution_ft: float = ...,
        max_speed_kn: float = ...,
        yaw_deg: float = ...,
    ) -> None: ...

class Playback(ComponentSpec):
    """Play back a recorded file of commands."""

    def __init__(
        self,
        *,
        file: FileName = ...,
        body_axes: Literal["flu", "frd"] = "flu",
        begin_s: float = 0.0,
        delay_s: float = 0.0,
        sampling: Literal["latest", "mean"] = "latest",
        saturate: bool = False,
        rate_hz: float = ...,
    ) -> None: ...

class Pursue(ComponentSpec):
    """Pursue a point ahead on a curve."""

    def __init__(
        self,
        *,
        file: FileName | None = ...,
        positions_world_m: Sequence[Vector] = ...,
        duration_s: float = 100.0,
        samples: int = 1000,
        look_ahead: Record = ...,
        position_gain_per_s: float = 1.2,
        derivative_gain: float = 0.0001,
        integral_gain_per_s2: float = 0.0,
        max_integral_ms: float = 1.0,
        acceleration_share: float = 0.1,
        max_speed_mps: float = 12.0,
        max_acceleration_mps2: float = 100.0,
        look: Literal["movement", "fixed", "point"] = "movement",
        yaw_rad: float = 1.5707963267948966,
        point_of_interest_world_m: Vector = ...,
        yaw_gain_per_s: float = 1.0,
        yaw_derivative_gain: float = 0.0001,
        max_yaw_rate_radps: float = 1.5707963267948966,
        max_yaw_acceleration_radps2: float = 78.53981633974483,
        acceptance_radius_m: float = 0.5,
        rate_hz: float = ...,
        positions_world_ft: Sequence[Vector] = ...,
        max_speed_kn: float = ...,
        yaw_deg: float = ...,
        point_of_interest_world_ft: Vector = ...,
        max_yaw_rate_degps: float = ...,
        max_yaw_rate_rpm: float = ...,
        acceptance_radius_ft: float = ...,
    ) -> None: ...

class RampLand(ComponentSpec):
    """Sink linearly, and motors off if the end is reached."""

    def __init__(
        self,
        *,
        landing_height_world_m: float | None = ...,
        duration_s: float | None = ...,
        idle_s: float = 0.0,
        max_residual_m: float = 0.2,
        force: bool = False,
        rate_hz: float = ...,
        landing_height_world_ft: float | None = ...,
        max_residual_ft: float = ...,
    ) -> None: ...

class RampTakeoff(ComponentSpec):
    """Climb linearly by a height, as uav_gazebo does."""

    def __init__(
        self,
        *,
        height_m: float = 1.0,
        duration_s: float | None = ...,
        idle_s: float = 0.0,
        force: bool = False,
        rate_hz: float = ...,
        height_ft: float = ...,
    ) -> None: ...

class Repulsion(ComponentSpec):
    """Lean away from near obstacles (Coronel Loza)."""

    def __init__(
        self,
        *,
        sensors: Sequence[str] | None = ...,
        least_m: float = 0.4,
        reference_m: float = 1.0,
        farthest_m: float = 4.5,
        reference_lean_rad: float = 0.08,
        max_lean_rad: float = 0.1,
        rate_hz: float = ...,
        least_ft: float = ...,
        reference_ft: float = ...,
        farthest_ft: float = ...,
        reference_lean_deg: float = ...,
        max_lean_deg: float = ...,
    ) -> None: ...

class ReturnHome(ComponentSpec):
    """Return over the start position."""

    def __init__(
        self,
        *,
        home_world_m: Vector | None = ...,
        height_world_m: float | None = ...,
        yaw_rad: float | None = ...,
        radius_m: float = 0.3,
        speed_mps: float | None = ...,
        acceleration_mps2: float = 2.0,
        rate_hz: float = ...,
        home_world_ft: Vector | None = ...,
        height_world_ft: float | None = ...,
        yaw_deg: float | None = ...,
        radius_ft: float = ...,
        speed_kn: float | None = ...,
    ) -> None: ...

class Takeoff(ComponentSpec):
    """Climb in three states and hover."""

    def __init__(
        self,
        *,
        height_m: float = 5.0,
        yaw_rad: float | None = ...,
        spool_s: float = 0.24,
        lift_off_m: float = 0.3,
        lead_m: float = 10.0,
        max_deceleration_mps2: float = 4.0,
        tolerance_m: float = 0.1,
        max_speed_mps: float = 0.2,
        rate_hz: float = ...,
        height_ft: float = ...,
        yaw_deg: float | None = ...,
        lift_off_ft: float = ...,
        lead_ft: float = ...,
        tolerance_ft: float = ...,
        max_speed_kn: float = ...,
    ) -> None: ...

class UavUsvLanding(ComponentSpec):
    """Landing of the UAV-USV simulator: a setpoint height by zone."""

    def __init__(
        self,
        *,
        sensor: str = "deck",
        altitude_m: float = 1.65,
        approach_altitude_m: float = 0.65,
        landing_height_m: float = -0.35,
        landing_at_s: float | None = 5.0,
        error_threshold_m: float = 0.1,
        feed_velocity: bool = False,
        lost_after_s: float = 1.0,
        yaw_rad: float = 0.0,
        rate_hz: float = ...,
        altitude_ft: float = ...,
        approach_altitude_ft: float = ...,
        landing_height_ft: float = ...,
        error_threshold_ft: float = ...,
        yaw_deg: float = ...,
    ) -> None: ...

class Wagster(ComponentSpec):
    """Stop before obstacles, center between walls (Micklisch et al., method 2)."""

    def __init__(
        self,
        *,
        sensors: Sequence[str] | None = ...,
        front_m: float = 0.6,
        aside_m: float = 5.0,
        centering: float = 1.0,
        rate_hz: float = ...,
        front_ft: float = ...,
        aside_ft: float = ...,
    ) -> None: ...

class Waypoints(ComponentSpec):
    """Visit waypoints one after another."""

    def __init__(
        self,
        *,
        positions_world_m: Sequence[Vector] = ...,
        acceptance_radius_m: float = 0.5,
        wait_s: float = 0.0,
        yaw_rad: float | None = ...,
        loop: bool = False,
        pattern: Record | None = ...,
        rate_hz: float = ...,
        positions_world_ft: Sequence[Vector] = ...,
        acceptance_radius_ft: float = ...,
        yaw_deg: float | None = ...,
    ) -> None: ...
