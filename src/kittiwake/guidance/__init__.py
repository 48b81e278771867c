"""Where to go: set points over time for the control ladder, and what to keep away from."""

from kittiwake.core.registry import Entry, Registry

GUIDANCE = Registry(
    "guidance",
    "guidance",
    {
        "hold": Entry("kittiwake.guidance.hold:Hold", "hold a position, a velocity or a height"),
        "waypoints": Entry(
            "kittiwake.guidance.waypoints:Waypoints", "visit places one after another"
        ),
        "curve": Entry(
            "kittiwake.guidance.curve:Curve",
            "a circle, a helix, a figure of eight or a turn in place, with feed-forward",
        ),
        "mode-tour": Entry(
            "kittiwake.guidance.mode_tour:ModeTour", "one mode after another, by a schedule"
        ),
        "playback": Entry(
            "kittiwake.guidance.playback:Playback",
            "feed a recorded file to the rung it was made for",
        ),
    },
)

AVOIDANCE = Registry(
    "avoidance",
    "avoidance",
    {},
)
