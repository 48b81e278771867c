"""Controllers: each leads from one rung of the control ladder to a lower one."""

from kittiwake.core.registry import Entry, Registry

CONTROLLERS = Registry(
    "controllers",
    "controller",
    {
        "qrsim-waypoint": Entry(
            "kittiwake.control.qrsim_waypoint:QRSimWaypoint",
            "position and yaw to the sticks (QRSim WaypointPID)",
        ),
        "qrsim-velocity": Entry(
            "kittiwake.control.qrsim_velocity:QRSimVelocity",
            "velocity and yaw to the sticks (QRSim VelocityPID)",
        ),
        "qrsim-velocity-height": Entry(
            "kittiwake.control.qrsim_velocity_height:QRSimVelocityHeight",
            "horizontal velocity, height and yaw to the sticks (QRSim VelocityHeightPID)",
        ),
        "position": Entry(
            "kittiwake.control.position:Position", "position and yaw to acceleration and yaw"
        ),
        "velocity": Entry(
            "kittiwake.control.velocity:Velocity", "velocity and yaw to acceleration and yaw"
        ),
        "yaw-rate": Entry(
            "kittiwake.control.yaw_rate:YawRate", "velocity and yaw rate to velocity and yaw"
        ),
        "body-velocity": Entry(
            "kittiwake.control.body_velocity:BodyVelocity",
            "velocity and yaw rate from the body's axes to the world's",
        ),
        "acceleration": Entry(
            "kittiwake.control.acceleration:Acceleration",
            "acceleration and yaw to thrust and attitude",
        ),
        "attitude": Entry(
            "kittiwake.control.attitude:Attitude", "thrust and attitude to thrust and torque"
        ),
        "mixer": Entry(
            "kittiwake.control.mixer:Mixer", "thrust and torque to the speeds of four rotors"
        ),
        "stick-inversion": Entry(
            "kittiwake.control.stick_inversion:StickInversion",
            "thrust and attitude to the sticks of a self-levelling quadrotor",
        ),
        "vessel-heading-speed": Entry(
            "kittiwake.control.vessel_heading_speed:VesselHeadingSpeed",
            "heading and speed to rudder and thrust of a vessel (UAV-USV)",
        ),
        "vessel-position": Entry(
            "kittiwake.control.vessel_position:VesselPosition",
            "a place to heading and speed of a vessel, by pure pursuit",
        ),
    },
)
