"""Where to go: set points over time for the control ladder."""

from kittiwake.core.registry import Entry, Registry

GUIDANCE = Registry(
    "guidance",
    "guidance",
    {
        "hold": Entry("kittiwake.guidance.hold:Hold", "hold a position, a velocity or a height"),
        "waypoints": Entry(
            "kittiwake.guidance.waypoints:Waypoints", "visit places one after another"
        ),
        "playback": Entry(
            "kittiwake.guidance.playback:Playback",
            "feed a recorded file to the rung it was made for",
        ),
    },
)
