"""Controllers: each converts one command type of the cascade to a lower one.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence

from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec, Record, Vector

CONTROLLERS: Registry

class Acceleration(ComponentSpec):
    """Acceleration and yaw to thrust and attitude."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        max_thrust_n: float = ...,
        min_thrust_n: float = 0.0,
        max_tilt_rad: float = 0.6,
        gravity_mps2: float = 9.81,
        rate_hz: float = ...,
        max_tilt_deg: float = ...,
    ) -> None: ...

class Attitude(ComponentSpec):
    """Thrust and attitude to thrust and torque."""

    def __init__(
        self,
        *,
        inertia_kgm2: Record = ...,
        tilt_frequency_radps: float = 8.0,
        yaw_frequency_radps: float = 4.0,
        damping: float = 1.0,
        rate_hz: float = ...,
        tilt_frequency_degps: float = ...,
        tilt_frequency_rpm: float = ...,
        yaw_frequency_degps: float = ...,
        yaw_frequency_rpm: float = ...,
    ) -> None: ...

class AttitudeRates(ComponentSpec):
    """Thrust and attitude to thrust and body rates, tilt before yaw."""

    def __init__(
        self,
        *,
        tilt_gain_per_s: float = 4.0,
        yaw_gain_per_s: float = 2.0,
        max_tilt_rate_radps: float = 6.0,
        max_yaw_rate_radps: float = 3.0,
        rate_hz: float = ...,
        max_tilt_rate_degps: float = ...,
        max_tilt_rate_rpm: float = ...,
        max_yaw_rate_degps: float = ...,
        max_yaw_rate_rpm: float = ...,
    ) -> None: ...

class BodyVelocity(ComponentSpec):
    """Velocity and yaw rate from body axes to world axes."""

    def __init__(self, *, rate_hz: float = ...) -> None: ...

class Dikmen(ComponentSpec):
    """Thrust and attitude to thrust and torque by a sliding mode (Dikmen)."""

    def __init__(
        self,
        *,
        inertia_kgm2: Record = ...,
        tilt_slope_per_s: float = 8.0,
        yaw_slope_per_s: float = 4.0,
        tilt_switching_gain_radps2: float = 15.0,
        yaw_switching_gain_radps2: float = 8.0,
        boundary_layer_radps: float = 0.2,
        reaching_per_s: float = 1.0,
        rate_hz: float = ...,
        boundary_layer_degps: float = ...,
        boundary_layer_rpm: float = ...,
    ) -> None: ...

class DistanceLock(ComponentSpec):
    """Distance from a surface to thrust and attitude (Coronel Loza)."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        max_thrust_n: float = ...,
        gravity_mps2: float = 9.81,
        direction_world: Vector | None = ...,
        vertical: Record = ...,
        forward: Record = ...,
        damping: Record = ...,
        yaw: Record = ...,
        rate_hz: float = ...,
    ) -> None: ...

class EulerAttitude(ComponentSpec):
    """Thrust and attitude to thrust and torque by X-Y-Z angles (uav_gazebo)."""

    def __init__(
        self,
        *,
        inertia_kgm2: Record = ...,
        tilt_frequency_radps: float = 5.0,
        tilt_damping: float = 1.0,
        yaw_frequency_radps: float = 1.5,
        yaw_damping: float = 1.0,
        rate_hz: float = ...,
        tilt_frequency_degps: float = ...,
        tilt_frequency_rpm: float = ...,
        yaw_frequency_degps: float = ...,
        yaw_frequency_rpm: float = ...,
    ) -> None: ...

class Hoffmann(ComponentSpec):
    """Thrust and attitude to thrust and torque, PID when slow and PD when fast (Hoffmann)."""

    def __init__(
        self,
        *,
        inertia_kgm2: Record = ...,
        tilt_frequency_radps: float = 8.0,
        yaw_frequency_radps: float = 4.0,
        damping: float = 0.9,
        integral_per_s: float = 0.3,
        acceleration_gain: float = 0.2,
        acceleration_filter_radps: float = 50.0,
        hover_speed_mps: float = 1.0,
        transition_width_mps: float = 1.0,
        max_tilt_acceleration_radps2: float = 100.0,
        max_yaw_acceleration_radps2: float = 30.0,
        rate_hz: float = ...,
        tilt_frequency_degps: float = ...,
        tilt_frequency_rpm: float = ...,
        yaw_frequency_degps: float = ...,
        yaw_frequency_rpm: float = ...,
        acceleration_filter_degps: float = ...,
        acceleration_filter_rpm: float = ...,
        hover_speed_kn: float = ...,
        transition_width_kn: float = ...,
    ) -> None: ...

class Indi(ComponentSpec):
    """Thrust and body rates to thrust and torque, by increments."""

    def __init__(
        self,
        *,
        inertia_kgm2: Record = ...,
        tilt_rate_gain_per_s: float = 12.0,
        yaw_rate_gain_per_s: float = 6.0,
        filter_radps: float = 50.0,
        actuator_lag_s: float = 0.0,
        max_angular_acceleration_radps2: float = 100.0,
        rate_hz: float = ...,
        filter_degps: float = ...,
        filter_rpm: float = ...,
    ) -> None: ...

class Kemper(ComponentSpec):
    """Thrust and attitude to thrust and torque by PIDs on angles (Kemper)."""

    def __init__(
        self,
        *,
        inertia_kgm2: Record = ...,
        tilt_frequency_radps: float = 8.0,
        yaw_frequency_radps: float = 4.0,
        damping: float = 0.9,
        tilt_integral_per_s: float = 0.3,
        yaw_integral_per_s: float = 0.3,
        max_tilt_acceleration_radps2: float = 100.0,
        max_yaw_acceleration_radps2: float = 30.0,
        rate_hz: float = ...,
        tilt_frequency_degps: float = ...,
        tilt_frequency_rpm: float = ...,
        yaw_frequency_degps: float = ...,
        yaw_frequency_rpm: float = ...,
    ) -> None: ...

class Lee(ComponentSpec):
    """Position and yaw to thrust and torque, geometric on SE(3)."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        max_thrust_n: float = ...,
        gravity_mps2: float = 9.81,
        position_gain_per_s2: float = 2.25,
        velocity_gain_per_s: float = 3.0,
        attitude_gain_per_s2: Vector = ...,
        rate_gain_per_s: Vector = ...,
        max_speed_mps: float = 5.0,
        max_feedback_mps2: float = 6.0,
        rate_hz: float = ...,
        max_speed_kn: float = ...,
    ) -> None: ...

class Lqr(ComponentSpec):
    """Position and yaw to thrust and torque, linear-quadratic about hover."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        max_thrust_n: float = ...,
        gravity_mps2: float = 9.81,
        acceptable: Record = ...,
        max_step_m: float = 2.0,
        max_yaw_step_rad: float = 0.8,
        motion_rows: Sequence[Sequence[float]] | None = ...,
        input_rows: Sequence[Sequence[float]] | None = ...,
        gains: Sequence[Sequence[float]] | None = ...,
        rate_hz: float = ...,
        max_step_ft: float = ...,
        max_yaw_step_deg: float = ...,
    ) -> None: ...

class Mellinger(ComponentSpec):
    """Position and yaw to thrust and torque through any attitude."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        max_thrust_n: float = ...,
        gravity_mps2: float = 9.81,
        position_gain_per_s2: float = 2.25,
        velocity_gain_per_s: float = 3.0,
        attitude_gain_per_s2: Vector = ...,
        rate_gain_per_s: Vector = ...,
        max_speed_mps: float = 5.0,
        max_feedback_mps2: float = 6.0,
        rate_hz: float = ...,
        max_speed_kn: float = ...,
    ) -> None: ...

class Mixer(ComponentSpec):
    """Thrust and torque to rotor speeds."""

    def __init__(
        self,
        *,
        thrusts_from_wrench: Sequence[Sequence[float]] = ...,
        thrust_ns2: float = ...,
        max_speed_radps: float = ...,
        rate_hz: float = ...,
        max_speed_degps: float = ...,
        max_speed_rpm: float = ...,
    ) -> None: ...

class Modes(ComponentSpec):
    """One of five modes to thrust and torque (uav_gazebo)."""

    def __init__(
        self,
        *,
        acceleration: Record = ...,
        velocity: Record = ...,
        attitude: Record = ...,
        rates: Record = ...,
        position: Record = ...,
        fade_s: float = 0.1,
        rate_hz: float = ...,
    ) -> None: ...

class Position(ComponentSpec):
    """Position and yaw to acceleration and yaw."""

    def __init__(
        self,
        *,
        natural_frequency_radps: float = 1.5,
        damping_ratio: float = 1.0,
        integral_gain_per_s2: float = 0.0,
        max_speed_mps: float = 5.0,
        max_horizontal_acceleration_mps2: float = 4.0,
        max_vertical_acceleration_mps2: float = 4.0,
        jerk_filter_radps: float | None = ...,
        vertical_frequency_radps: float | None = ...,
        vertical_damping_ratio: float | None = ...,
        rate_hz: float = ...,
        natural_frequency_degps: float = ...,
        natural_frequency_rpm: float = ...,
        max_speed_kn: float = ...,
        jerk_filter_degps: float | None = ...,
        jerk_filter_rpm: float | None = ...,
        vertical_frequency_degps: float | None = ...,
        vertical_frequency_rpm: float | None = ...,
    ) -> None: ...

class PositionVelocity(ComponentSpec):
    """Position and yaw to velocity and yaw."""

    def __init__(
        self,
        *,
        gain_per_s: float = 0.6,
        max_speed_mps: float = 3.0,
        rate_hz: float = ...,
        max_speed_kn: float = ...,
    ) -> None: ...

class QRSimVelocity(ComponentSpec):
    """Velocity and yaw to the sticks (QRSim VelocityPID)."""

    def __init__(
        self,
        *,
        velocity: Record = ...,
        yaw: Record = ...,
        hover_throttle: float = 0.59,
        climb_gain_s_per_m: float = 0.2,
        climb_sum_gain_s_per_m: float = 0.002,
        battery_v: float = 12.0,
        rate_hz: float = ...,
    ) -> None: ...

class QRSimVelocityHeight(ComponentSpec):
    """Horizontal velocity, height and yaw to the sticks (QRSim VelocityHeightPID)."""

    def __init__(
        self,
        *,
        velocity: Record = ...,
        height: Record = ...,
        yaw: Record = ...,
        battery_v: float = 12.0,
        rate_hz: float = ...,
    ) -> None: ...

class QRSimWaypoint(ComponentSpec):
    """Position and yaw to the sticks (QRSim WaypointPID)."""

    def __init__(
        self,
        *,
        position_gain_per_s: float = 0.9,
        max_speed_mps: float = 5.0,
        velocity_gain_rad_per_mps: float = 0.09,
        max_tilt_rad: float = 0.34,
        height: Record = ...,
        yaw: Record = ...,
        battery_v: float = 12.0,
        rate_hz: float = ...,
        max_speed_kn: float = ...,
        max_tilt_deg: float = ...,
    ) -> None: ...

class Rates(ComponentSpec):
    """Thrust and body rates to thrust and torque."""

    def __init__(
        self, *, inertia_kgm2: Record = ..., gain_per_s: float = 15.0, rate_hz: float = ...
    ) -> None: ...

class StickInversion(ComponentSpec):
    """Thrust and attitude to the sticks of a self-leveling quadrotor."""

    def __init__(
        self,
        *,
        attitude_gain: float = ...,
        yaw_rate_gain: float = ...,
        thrust_polynomial_n: Sequence[float] = ...,
        yaw_gain_per_s: float = 2.0,
        max_angle_rad: float = 0.9,
        max_yaw_rate_radps: float = 4.4,
        battery_v: float = 12.0,
        rate_hz: float = ...,
        max_angle_deg: float = ...,
        max_yaw_rate_degps: float = ...,
        max_yaw_rate_rpm: float = ...,
    ) -> None: ...

class SurfaceFollowing(ComponentSpec):
    """Motion along a surface to thrust and attitude (Coronel Loza)."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        max_thrust_n: float = ...,
        gravity_mps2: float = 9.81,
        vertical: Record = ...,
        forward: Record = ...,
        sideways: Record = ...,
        yaw: Record = ...,
        reference_filter_radps: float = 0.6283185307179586,
        drag_forward_per_s: float = 0.0,
        drag_vertical_per_s: float = 0.0,
        rate_hz: float = ...,
        reference_filter_degps: float = ...,
        reference_filter_rpm: float = ...,
    ) -> None: ...

class UavGazeboVelocity(ComponentSpec):
    """Velocity and yaw rate to thrust and torque (uav_gazebo)."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        attitude: Record = ...,
        velocity_gain_per_s: float = 1.0,
        yaw_rate_gain_per_s: float = 2.0,
        least_lift_n: float = 0.01,
        gravity_mps2: float = 9.81,
        rate_hz: float = ...,
    ) -> None: ...

class UavUsvCascade(ComponentSpec):
    """Position and yaw to the speeds of four rotors on the axes (UAV-USV)."""

    def __init__(
        self,
        *,
        percent_from_outputs: Sequence[Sequence[float]] = ...,
        max_speed_radps: float = ...,
        position: Record = ...,
        velocity: Record = ...,
        roll: Record = ...,
        pitch: Record = ...,
        yaw: Record = ...,
        height: Record = ...,
        rate_hz: float = ...,
        max_speed_degps: float = ...,
        max_speed_rpm: float = ...,
    ) -> None: ...

class UavUsvFlatness(ComponentSpec):
    """Position and accelerations to thrust and attitude (UAV-USV inverse kinematics)."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        gravity_mps2: float = 9.81,
        height: Record = ...,
        horizontal: Record = ...,
        low_pass: Record = ...,
        rate_hz: float = ...,
    ) -> None: ...

class Velocity(ComponentSpec):
    """Velocity and yaw to acceleration and yaw."""

    def __init__(
        self,
        *,
        time_constant_s: float = 0.4,
        max_horizontal_acceleration_mps2: float = 4.0,
        max_vertical_acceleration_mps2: float = 4.0,
        rate_hz: float = ...,
    ) -> None: ...

class VesselHeadingSpeed(ComponentSpec):
    """Heading and speed to rudder and thrust of a vessel (UAV-USV)."""

    def __init__(
        self,
        *,
        speed_gain_kgps: float = 82.65,
        heading_gain: float = 0.5,
        heading_rate_gain_s: float = 0.6,
        filter_rate_per_s: float = 21.42,
        max_rudder_rad: float = 0.6108652381980153,
        max_thrust_n: float = 3.0,
        rate_hz: float = ...,
        max_rudder_deg: float = ...,
    ) -> None: ...

class VesselPosition(ComponentSpec):
    """Position to heading and speed of a vessel, by pure pursuit."""

    def __init__(
        self,
        *,
        cruise_speed_mps: float = 1.0,
        hold_radius_m: float = 1.5,
        approach_gain_per_s: float = 0.7,
        rate_hz: float = ...,
        cruise_speed_kn: float = ...,
        hold_radius_ft: float = ...,
    ) -> None: ...

class VesselPropellers(ComponentSpec):
    """Heading and speed to the speeds of a vessel's two propellers."""

    def __init__(
        self,
        *,
        surge_mass_kg: float = ...,
        yaw_inertia_kgm2: float = ...,
        propeller_arm_m: float = ...,
        ahead_ns2: float = ...,
        astern_ns2: float = ...,
        max_ahead_radps: float = ...,
        max_astern_radps: float = ...,
        surge_damping_kgps: float = 0.0,
        yaw_damping_nms: float = 0.0,
        yaw_damping_nms2: float = 0.0,
        speed_gain_per_s: float = 1.0,
        speed_integral_per_s2: float = 0.3,
        heading_gain_per_s: float = 0.8,
        max_yaw_rate_radps: float = 0.25,
        yaw_rate_gain_per_s: float = 3.0,
        yaw_rate_integral_per_s2: float = 1.0,
        rate_hz: float = ...,
        propeller_arm_ft: float = ...,
        max_ahead_degps: float = ...,
        max_ahead_rpm: float = ...,
        max_astern_degps: float = ...,
        max_astern_rpm: float = ...,
        max_yaw_rate_degps: float = ...,
        max_yaw_rate_rpm: float = ...,
    ) -> None: ...

class YawRate(ComponentSpec):
    """Velocity and yaw rate to velocity and yaw."""

    def __init__(
        self, *, max_lead_rad: float = 0.5, rate_hz: float = ..., max_lead_deg: float = ...
    ) -> None: ...
