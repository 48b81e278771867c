"""Controllers: each converts one command type of the cascade to a lower one."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

CONTROLLERS = Registry(
    "controllers",
    "controller",
    {
        "qrsim-waypoint": RegistryEntry(
            "kittiwake.control.qrsim_waypoint:QRSimWaypoint",
            "position and yaw to the sticks (QRSim WaypointPID)",
        ),
        "qrsim-velocity": RegistryEntry(
            "kittiwake.control.qrsim_velocity:QRSimVelocity",
            "velocity and yaw to the sticks (QRSim VelocityPID)",
        ),
        "qrsim-velocity-height": RegistryEntry(
            "kittiwake.control.qrsim_velocity_height:QRSimVelocityHeight",
            "horizontal velocity, height and yaw to the sticks (QRSim VelocityHeightPID)",
        ),
        "position": RegistryEntry(
            "kittiwake.control.position:Position", "position and yaw to acceleration and yaw"
        ),
        "position-velocity": RegistryEntry(
            "kittiwake.control.position_velocity:PositionVelocity",
            "position and yaw to velocity and yaw",
        ),
        "velocity": RegistryEntry(
            "kittiwake.control.velocity:Velocity", "velocity and yaw to acceleration and yaw"
        ),
        "yaw-rate": RegistryEntry(
            "kittiwake.control.yaw_rate:YawRate", "velocity and yaw rate to velocity and yaw"
        ),
        "body-velocity": RegistryEntry(
            "kittiwake.control.body_velocity:BodyVelocity",
            "velocity and yaw rate from body axes to world axes",
        ),
        "acceleration": RegistryEntry(
            "kittiwake.control.acceleration:Acceleration",
            "acceleration and yaw to thrust and attitude",
        ),
        "attitude": RegistryEntry(
            "kittiwake.control.attitude:Attitude", "thrust and attitude to thrust and torque"
        ),
        "euler-attitude": RegistryEntry(
            "kittiwake.control.euler_attitude:EulerAttitude",
            "thrust and attitude to thrust and torque by X-Y-Z angles (uav_gazebo)",
        ),
        "rates": RegistryEntry(
            "kittiwake.control.rates:Rates", "thrust and body rates to thrust and torque"
        ),
        "uav-gazebo-velocity": RegistryEntry(
            "kittiwake.control.uav_gazebo_velocity:UavGazeboVelocity",
            "velocity and yaw rate to thrust and torque (uav_gazebo)",
        ),
        "modes": RegistryEntry(
            "kittiwake.control.modes:Modes", "one of five modes to thrust and torque (uav_gazebo)"
        ),
        "lee": RegistryEntry(
            "kittiwake.control.lee:Lee", "position and yaw to thrust and torque, geometric on SE(3)"
        ),
        "mellinger": RegistryEntry(
            "kittiwake.control.mellinger:Mellinger",
            "position and yaw to thrust and torque through any attitude",
        ),
        "lqr": RegistryEntry(
            "kittiwake.control.lqr:Lqr",
            "position and yaw to thrust and torque, linear-quadratic about hover",
        ),
        "attitude-rates": RegistryEntry(
            "kittiwake.control.attitude_rates:AttitudeRates",
            "thrust and attitude to thrust and body rates, tilt before yaw",
        ),
        "indi": RegistryEntry(
            "kittiwake.control.indi:Indi",
            "thrust and body rates to thrust and torque, by increments",
        ),
        "mixer": RegistryEntry(
            "kittiwake.control.mixer:Mixer", "thrust and torque to rotor speeds"
        ),
        "stick-inversion": RegistryEntry(
            "kittiwake.control.stick_inversion:StickInversion",
            "thrust and attitude to the sticks of a self-leveling quadrotor",
        ),
        "kemper": RegistryEntry(
            "kittiwake.control.kemper:Kemper",
            "thrust and attitude to thrust and torque by PIDs on angles (Kemper)",
        ),
        "hoffmann": RegistryEntry(
            "kittiwake.control.hoffmann:Hoffmann",
            "thrust and attitude to thrust and torque, PID when slow and PD when fast (Hoffmann)",
        ),
        "dikmen": RegistryEntry(
            "kittiwake.control.dikmen:Dikmen",
            "thrust and attitude to thrust and torque by a sliding mode (Dikmen)",
        ),
        "uav-usv-cascade": RegistryEntry(
            "kittiwake.control.uav_usv_cascade:UavUsvCascade",
            "position and yaw to the speeds of four rotors on the axes (UAV-USV)",
        ),
        "uav-usv-flatness": RegistryEntry(
            "kittiwake.control.uav_usv_flatness:UavUsvFlatness",
            "position and accelerations to thrust and attitude (UAV-USV inverse kinematics)",
        ),
        "surface-following": RegistryEntry(
            "kittiwake.control.surface_following:SurfaceFollowing",
            "motion along a surface to thrust and attitude (Coronel Loza)",
        ),
        "distance-lock": RegistryEntry(
            "kittiwake.control.distance_lock:DistanceLock",
            "distance from a surface to thrust and attitude (Coronel Loza)",
        ),
        "vessel-heading-speed": RegistryEntry(
            "kittiwake.control.vessel_heading_speed:VesselHeadingSpeed",
            "heading and speed to rudder and thrust of a vessel (UAV-USV)",
        ),
        "vessel-propellers": RegistryEntry(
            "kittiwake.control.vessel_propellers:VesselPropellers",
            "heading and speed to the speeds of a vessel's two propellers",
        ),
        "vessel-position": RegistryEntry(
            "kittiwake.control.vessel_position:VesselPosition",
            "position to heading and speed of a vessel, by pure pursuit",
        ),
    },
    entry_keys=("rate_hz",),
)

__getattr__, __dir__ = namespace(__name__, CONTROLLERS)
