"""Learning tasks in scenarios, as environments."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

TASKS = Registry(
    "tasks",
    "task",
    {
        "keep-spot": RegistryEntry(
            "kittiwake.tasks.library.keep_spot:KeepSpot",
            "one Pelican keeps its position at little effort",
        ),
        "keep-spot-without-reward": RegistryEntry(
            "kittiwake.tasks.library.keep_spot:KeepSpotWithoutReward",
            "the same area and limits, for a reward of your own",
        ),
        "keep-spot-10": RegistryEntry(
            "kittiwake.tasks.library.keep_spot:KeepSpot10", "ten Pelicans keep their positions"
        ),
        "goto-waypoint": RegistryEntry(
            "kittiwake.tasks.library.goto_waypoint:GotoWaypoint",
            "one Pelican flies to a waypoint, at little effort",
        ),
        "complacs": RegistryEntry(
            "kittiwake.tasks.library.complacs:Complacs", "one Pelican flies through 34 waypoints"
        ),
        "keep-velocity": RegistryEntry(
            "kittiwake.tasks.library.keep_velocity:KeepVelocity",
            "one Pelican keeps a velocity in wind",
        ),
        "cats-mouse": RegistryEntry(
            "kittiwake.tasks.library.cats_mouse:CatsMouse", "three Pelicans surround a fleeing one"
        ),
        "search-rescue": RegistryEntry(
            "kittiwake.tasks.library.search_rescue:SearchRescue",
            "one Pelican finds persons with its camera",
        ),
        "search-rescue-3": RegistryEntry(
            "kittiwake.tasks.library.search_rescue:SearchRescue3",
            "three Pelicans find persons together",
        ),
        "plume-gaussian": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeGaussian",
            "one Pelican estimates the concentrations of a cloud at rest",
        ),
        "plume-dispersion": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeDispersion",
            "one Pelican estimates the concentrations of a source's plume",
        ),
        "plume-multi-source": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeMultiSource", "the same for several sources"
        ),
        "plume-team": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeTeam",
            "three Pelicans estimate the concentrations of several sources' plume",
        ),
        "plume-puff": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumePuff",
            "one Pelican samples the concentrations around a source of puffs",
        ),
        "plume-multi-puff": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeMultiPuff", "the same for several sources of puffs"
        ),
        "plume-team-puff": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeTeamPuff",
            "three Pelicans sample the concentrations around sources of puffs",
        ),
        "holding-pattern": RegistryEntry(
            "kittiwake.tasks.library.holding_pattern:HoldingPattern",
            "three Pelicans keep flying near a landing site, apart from each other",
        ),
        "hover": RegistryEntry(
            "kittiwake.tasks.library.hover:Hover", "a Crazyflie hovers by its rotor speeds"
        ),
        "land-on-deck": RegistryEntry(
            "kittiwake.tasks.library.land_on_deck:LandOnDeck",
            "a drone lands on a moving vessel",
        ),
        "hallway": RegistryEntry(
            "kittiwake.tasks.library.hallway:HallwayTask",
            "a drone flies along a hallway with pillars by its lidar",
        ),
        "follow-surface": RegistryEntry(
            "kittiwake.tasks.library.follow_surface:FollowSurfaceTask",
            "a drone flies over hills at a constant distance by its lidar",
        ),
        "formation": RegistryEntry(
            "kittiwake.tasks.library.formation:FormationTask",
            "drones form up and hold a moving formation",
        ),
        "obstacle-race": RegistryEntry(
            "kittiwake.tasks.library.obstacle_race:ObstacleRace", "a drone races through gates"
        ),
        "survey-coverage": RegistryEntry(
            "kittiwake.tasks.library.survey_coverage:SurveyCoverage",
            "vessels cover all cells of an area",
        ),
    },
)

__getattr__, __dir__ = namespace(
    __name__,
    TASKS,
    interfaces={
        "AbstractTask": "kittiwake.tasks.task",
        "ActionMapping": "kittiwake.tasks.action_mapping",
        "Agent": "kittiwake.tasks.task",
        "Mppi": "kittiwake.tasks.mppi",
        "Span": "kittiwake.tasks.action_mapping",
        "TaskScene": "kittiwake.tasks.task",
        "tolerance": "kittiwake.tasks.rewards",
    },
)
