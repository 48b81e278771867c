"""How vehicles move: equations of motion and the integrators that solve them."""

from kittiwake.core.registry import Entry, Registry

DYNAMICS = Registry(
    "dynamics",
    "kind of dynamics",
    {
        "attitude-response": Entry(
            "kittiwake.physics.attitude_response:AttitudeResponse",
            "identified response of a quadrotor with its autopilot (QRSim)",
        ),
    },
)
