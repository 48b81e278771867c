"""Where to go: set points over time for the control ladder, and what to keep away from."""

from kittiwake.core.registry import Entry, Registry

GUIDANCE = Registry(
    "guidance",
    "guidance",
    {
        "hold": Entry("kittiwake.guidance.hold:Hold", "hold a position, a velocity or a height"),
        "vtol": Entry(
            "kittiwake.guidance.vtol:Vtol",
            "the UAV-USV simulator's landing: a height for each step, without memory",
        ),
        "waypoints": Entry(
            "kittiwake.guidance.waypoints:Waypoints", "visit places one after another"
        ),
        "goto": Entry("kittiwake.guidance.goto:Goto", "go to a place, smoothly or at once"),
        "rest": Entry(
            "kittiwake.guidance.rest:Rest", "stand with the motors off until a mission goes on"
        ),
        "return-home": Entry(
            "kittiwake.guidance.return_home:ReturnHome", "go back over the place of the start"
        ),
        "takeoff": Entry("kittiwake.guidance.takeoff:Takeoff", "climb in three states and hover"),
        "land": Entry("kittiwake.guidance.land:Land", "go down in four states, then motors off"),
        "ramp-takeoff": Entry(
            "kittiwake.guidance.ramp:RampTakeoff", "rise evenly by a height, as uav_gazebo does"
        ),
        "ramp-land": Entry(
            "kittiwake.guidance.ramp:RampLand", "sink evenly, and motors off if that led there"
        ),
        "deck-landing": Entry(
            "kittiwake.guidance.deck_landing:DeckLanding",
            "land on a deck that moves: align, descend in a cone, go around",
        ),
        "drop": Entry("kittiwake.guidance.drop:Drop", "switch the motors off at once"),
        "mission": Entry(
            "kittiwake.guidance.mission:Mission", "one task after another, with conditions"
        ),
        "curve": Entry(
            "kittiwake.guidance.curve:Curve",
            "a circle, a helix, a figure of eight or a turn in place, with feed-forward",
        ),
        "follow-trajectory": Entry(
            "kittiwake.guidance.follow_trajectory:FollowTrajectory",
            "a smooth trajectory through places, within limits, with feed-forward",
        ),
        "plan-path": Entry(
            "kittiwake.guidance.plan_path:PlanPath",
            "a smooth way to a place, around the obstacles that are known",
        ),
        "follow-deck": Entry(
            "kittiwake.guidance.follow_deck:FollowDeck", "stay over a deck that moves"
        ),
        "flock": Entry(
            "kittiwake.guidance.flock:Flock",
            "the velocity that behaviors want: separation, alignment, cohesion and others",
        ),
        "follow-surface": Entry(
            "kittiwake.guidance.follow_surface:FollowSurface",
            "along a surface at a distance, or at rest before it, by a head that faces it",
        ),
        "pursue": Entry(
            "kittiwake.guidance.pursue:Pursue", "chase a point that runs ahead on a curve"
        ),
        "line-of-sight": Entry(
            "kittiwake.guidance.line_of_sight:LineOfSight",
            "steer a vessel along straight legs from place to place",
        ),
        "acceleration-profile": Entry(
            "kittiwake.guidance.acceleration_profile:AccelerationProfile",
            "there and back while along another way, smoothly, and then hold",
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

# what a mission is made of
TASKS = GUIDANCE.without("mission")

AVOIDANCE = Registry(
    "avoidance",
    "avoidance",
    {
        "gageik": Entry(
            "kittiwake.guidance.avoidance.gageik:Gageik",
            "free, slow or back by the nearest obstacle (Micklisch et al., method 1)",
        ),
        "wagster": Entry(
            "kittiwake.guidance.avoidance.wagster:Wagster",
            "stop before what is in front, keep to the middle (Micklisch et al., method 2)",
        ),
        "repulsion": Entry(
            "kittiwake.guidance.avoidance.repulsion:Repulsion",
            "lean back from what is near (Coronel Loza)",
        ),
        "barrier": Entry(
            "kittiwake.guidance.avoidance.barrier:Barrier",
            "the velocity nearest to the wanted one that keeps a distance",
        ),
    },
)
