"""Where to go: set points over time for the control ladder, and what to keep away from."""

from kittiwake.core.registry import Registry, RegistryEntry

GUIDANCE = Registry(
    "guidance",
    "guidance",
    {
        "hold": RegistryEntry(
            "kittiwake.guidance.maneuvers.hold:Hold", "hold a position, a velocity or a height"
        ),
        "vtol": RegistryEntry(
            "kittiwake.guidance.landing.vtol:Vtol",
            "the UAV-USV simulator's landing: a height for each step, without memory",
        ),
        "waypoints": RegistryEntry(
            "kittiwake.guidance.maneuvers.waypoints:Waypoints", "visit places one after another"
        ),
        "goto": RegistryEntry(
            "kittiwake.guidance.maneuvers.goto:Goto", "go to a place, smoothly or at once"
        ),
        "idle": RegistryEntry(
            "kittiwake.guidance.maneuvers.idle:Idle",
            "stand with the motors off until a mission goes on",
        ),
        "return-home": RegistryEntry(
            "kittiwake.guidance.maneuvers.return_home:ReturnHome",
            "go back over the place of the start",
        ),
        "takeoff": RegistryEntry(
            "kittiwake.guidance.maneuvers.takeoff:Takeoff", "climb in three states and hover"
        ),
        "land": RegistryEntry(
            "kittiwake.guidance.landing.land:Land", "go down in four states, then motors off"
        ),
        "ramp-takeoff": RegistryEntry(
            "kittiwake.guidance.maneuvers.ramp:RampTakeoff",
            "rise evenly by a height, as uav_gazebo does",
        ),
        "ramp-land": RegistryEntry(
            "kittiwake.guidance.maneuvers.ramp:RampLand",
            "sink evenly, and motors off if that led there",
        ),
        "deck-landing": RegistryEntry(
            "kittiwake.guidance.landing.deck_landing:DeckLanding",
            "land on a deck that moves: align, descend in a cone, go around",
        ),
        "disarm": RegistryEntry(
            "kittiwake.guidance.maneuvers.disarm:Disarm", "switch the motors off at once"
        ),
        "mission": RegistryEntry(
            "kittiwake.guidance.mission:Mission", "one task after another, with conditions"
        ),
        "curve": RegistryEntry(
            "kittiwake.guidance.trajectories.curve:Curve",
            "a circle, a helix, a figure of eight or a turn in place, with feed-forward",
        ),
        "follow-trajectory": RegistryEntry(
            "kittiwake.guidance.trajectories.follow_trajectory:FollowTrajectory",
            "a smooth trajectory through places, within limits, with feed-forward",
        ),
        "plan-path": RegistryEntry(
            "kittiwake.guidance.planning.plan_path:PlanPath",
            "a smooth way to a place, around the obstacles that are known",
        ),
        "follow-deck": RegistryEntry(
            "kittiwake.guidance.landing.follow_deck:FollowDeck", "stay over a deck that moves"
        ),
        "flock": RegistryEntry(
            "kittiwake.guidance.flock:Flock",
            "the velocity that behaviors want: separation, alignment, cohesion and others",
        ),
        "follow-surface": RegistryEntry(
            "kittiwake.guidance.maneuvers.follow_surface:FollowSurface",
            "along a surface at a distance, or at rest before it, by a head that faces it",
        ),
        "pursue": RegistryEntry(
            "kittiwake.guidance.trajectories.pursue:Pursue",
            "chase a point that runs ahead on a curve",
        ),
        "line-of-sight": RegistryEntry(
            "kittiwake.guidance.maneuvers.line_of_sight:LineOfSight",
            "steer a vessel along straight legs from place to place",
        ),
        "acceleration-profile": RegistryEntry(
            "kittiwake.guidance.trajectories.acceleration_profile:AccelerationProfile",
            "there and back while along another way, smoothly, and then hold",
        ),
        "mode-tour": RegistryEntry(
            "kittiwake.guidance.maneuvers.mode_tour:ModeTour",
            "one mode after another, by a schedule",
        ),
        "playback": RegistryEntry(
            "kittiwake.guidance.maneuvers.playback:Playback",
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
        "gageik": RegistryEntry(
            "kittiwake.guidance.avoidance.gageik:Gageik",
            "free, slow or back by the nearest obstacle (Micklisch et al., method 1)",
        ),
        "wagster": RegistryEntry(
            "kittiwake.guidance.avoidance.wagster:Wagster",
            "stop before what is in front, keep to the middle (Micklisch et al., method 2)",
        ),
        "repulsion": RegistryEntry(
            "kittiwake.guidance.avoidance.repulsion:Repulsion",
            "lean back from what is near (Coronel Loza)",
        ),
        "barrier": RegistryEntry(
            "kittiwake.guidance.avoidance.barrier:Barrier",
            "the velocity nearest to the wanted one that keeps a distance",
        ),
    },
)
