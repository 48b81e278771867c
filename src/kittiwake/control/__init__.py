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
        "stick-inversion": Entry(
            "kittiwake.control.stick_inversion:StickInversion",
            "thrust and attitude to the sticks of a self-levelling quadrotor",
        ),
    },
)
