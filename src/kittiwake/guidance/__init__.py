"""Guidance: setpoints over time for the control cascade, and obstacle avoidance."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

GUIDANCE = Registry(
    "guidance",
    "guidance",
    {
        "hold": RegistryEntry(
            "kittiwake.guidance.maneuvers.hold:Hold", "hold a position, a velocity or a height"
        ),
        "vtol": RegistryEntry(
            "kittiwake.guidance.landing.uav_usv_landing:UavUsvLanding",
            "landing of the UAV-USV simulator: a setpoint height by zone",
        ),
        "waypoints": RegistryEntry(
            "kittiwake.guidance.maneuvers.waypoints:Waypoints", "visit waypoints one after another"
        ),
        "goto": RegistryEntry(
            "kittiwake.guidance.maneuvers.goto:Goto", "fly to a position, smoothly or at once"
        ),
        "idle": RegistryEntry(
            "kittiwake.guidance.maneuvers.idle:Idle",
            "stand with the motors off until a mission continues",
        ),
        "return-home": RegistryEntry(
            "kittiwake.guidance.maneuvers.return_home:ReturnHome",
            "return over the start position",
        ),
        "takeoff": RegistryEntry(
            "kittiwake.guidance.maneuvers.takeoff:Takeoff", "climb in three states and hover"
        ),
        "land": RegistryEntry(
            "kittiwake.guidance.landing.land:Land", "descend in four states, then motors off"
        ),
        "ramp-takeoff": RegistryEntry(
            "kittiwake.guidance.maneuvers.ramp:RampTakeoff",
            "climb linearly by a height, as uav_gazebo does",
        ),
        "ramp-land": RegistryEntry(
            "kittiwake.guidance.maneuvers.ramp:RampLand",
            "sink linearly, and motors off if the end is reached",
        ),
        "deck-landing": RegistryEntry(
            "kittiwake.guidance.landing.deck_landing:DeckLanding",
            "land on a moving deck: align, descend in a cone, go around",
        ),
        "disarm": RegistryEntry(
            "kittiwake.guidance.maneuvers.disarm:Disarm", "switch the motors off at once"
        ),
        "mission": RegistryEntry(
            "kittiwake.guidance.mission:Mission", "a sequence of tasks with conditions"
        ),
        "curve": RegistryEntry(
            "kittiwake.guidance.trajectories.curve:Curve",
            "a circle, a helix, a figure of eight or a turn in place, with feed-forward",
        ),
        "circle": RegistryEntry(
            "kittiwake.guidance.trajectories.circle:Circle",
            "a level circle through the start, with feed-forward",
        ),
        "follow-trajectory": RegistryEntry(
            "kittiwake.guidance.trajectories.follow_trajectory:FollowTrajectory",
            "a smooth trajectory through waypoints, within limits, with feed-forward",
        ),
        "plan-path": RegistryEntry(
            "kittiwake.guidance.planning.plan_path:PlanPath",
            "a smooth path to a goal, around known obstacles",
        ),
        "follow-deck": RegistryEntry(
            "kittiwake.guidance.landing.follow_deck:FollowDeck", "hover over a moving deck"
        ),
        "flock": RegistryEntry(
            "kittiwake.guidance.flock:Flock",
            "combined velocity of behaviors: separation, alignment, cohesion and others",
        ),
        "follow-surface": RegistryEntry(
            "kittiwake.guidance.maneuvers.follow_surface:FollowSurface",
            "move along a surface at a distance, or rest before it, with a head that faces it",
        ),
        "pursue": RegistryEntry(
            "kittiwake.guidance.trajectories.pursue:Pursue",
            "pursue a point ahead on a curve",
        ),
        "line-of-sight": RegistryEntry(
            "kittiwake.guidance.maneuvers.line_of_sight:LineOfSight",
            "steer a vessel along straight legs between waypoints",
        ),
        "acceleration-profile": RegistryEntry(
            "kittiwake.guidance.trajectories.acceleration_profile:AccelerationProfile",
            "move there and back while along another vector, smoothly, and then hold",
        ),
        "mode-tour": RegistryEntry(
            "kittiwake.guidance.maneuvers.mode_tour:ModeTour",
            "a schedule of modes",
        ),
        "playback": RegistryEntry(
            "kittiwake.guidance.maneuvers.playback:Playback",
            "play back a recorded file of commands",
        ),
    },
    entry_keys=("rate_hz",),
)

# guidance that a mission may contain
TASKS = GUIDANCE.without("mission")

AVOIDANCE = Registry(
    "avoidance",
    "avoidance",
    {
        "gageik": RegistryEntry(
            "kittiwake.guidance.avoidance.gageik:Gageik",
            "states safe, close, dangerous by the nearest obstacle (Micklisch et al., method 1)",
        ),
        "wagster": RegistryEntry(
            "kittiwake.guidance.avoidance.wagster:Wagster",
            "stop before obstacles, center between walls (Micklisch et al., method 2)",
        ),
        "repulsion": RegistryEntry(
            "kittiwake.guidance.avoidance.repulsion:Repulsion",
            "lean away from near obstacles (Coronel Loza)",
        ),
        "barrier": RegistryEntry(
            "kittiwake.guidance.avoidance.barrier:Barrier",
            "nearest velocity to the commanded one that keeps a distance",
        ),
    },
    entry_keys=("rate_hz",),
)

__getattr__, __dir__ = namespace(
    __name__,
    GUIDANCE,
    AVOIDANCE,
    interfaces={
        "AbstractAvoidance": "kittiwake.interfaces.guidance",
        "AvoidanceInputs": "kittiwake.interfaces.guidance",
        "GuidanceInputs": "kittiwake.interfaces.guidance",
    },
)
