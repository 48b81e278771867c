"""What there is to learn: tasks set in scenarios, as environments."""

from kittiwake.core.registry import Registry, RegistryEntry

TASKS = Registry(
    "tasks",
    "task",
    {
        "keep-spot": RegistryEntry(
            "kittiwake.tasks.library.keep_spot:KeepSpot",
            "one Pelican stays where it is, at little effort",
        ),
        "keep-spot-without-reward": RegistryEntry(
            "kittiwake.tasks.library.keep_spot:KeepSpotWithoutReward",
            "one Pelican among limits, for a reward of one's own",
        ),
        "keep-spot-10": RegistryEntry(
            "kittiwake.tasks.library.keep_spot:KeepSpot10", "ten Pelicans stay where they are"
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
            "kittiwake.tasks.library.cats_mouse:CatsMouse", "three Pelicans surround one that flees"
        ),
        "search-rescue": RegistryEntry(
            "kittiwake.tasks.library.search_rescue:SearchRescue",
            "one Pelican finds persons by its camera",
        ),
        "search-rescue-3": RegistryEntry(
            "kittiwake.tasks.library.search_rescue:SearchRescue3",
            "three Pelicans find persons together",
        ),
        "plume-gaussian": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeGaussian",
            "one Pelican says how dense a cloud at rest is",
        ),
        "plume-dispersion": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeDispersion",
            "one Pelican says how dense the plume of a source is",
        ),
        "plume-multi-source": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeMultiSource", "the same of several sources"
        ),
        "plume-team": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeTeam",
            "three Pelicans say how dense the plume of several sources is",
        ),
        "plume-puff": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumePuff",
            "one Pelican says what the air may hold where a source sends puffs",
        ),
        "plume-multi-puff": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeMultiPuff", "the same of several sources of puffs"
        ),
        "plume-team-puff": RegistryEntry(
            "kittiwake.tasks.library.plume:PlumeTeamPuff",
            "three Pelicans say what the air may hold among puffs",
        ),
        "holding-pattern": RegistryEntry(
            "kittiwake.tasks.library.holding_pattern:HoldingPattern",
            "three Pelicans go on flying near a landing place and keep apart",
        ),
        "hover": RegistryEntry(
            "kittiwake.tasks.library.hover:Hover", "a Crazyflie stays in a place by its rotors"
        ),
        "land-on-deck": RegistryEntry(
            "kittiwake.tasks.library.land_on_deck:LandOnDeck",
            "a drone lands on a vessel that sails",
        ),
        "hallway": RegistryEntry(
            "kittiwake.tasks.library.hallway:HallwayTask",
            "a drone flies along a hallway with pillars by ranges",
        ),
        "follow-surface": RegistryEntry(
            "kittiwake.tasks.library.follow_surface:FollowSurfaceTask",
            "a drone flies over hills at a wanted distance by ranges",
        ),
        "formation": RegistryEntry(
            "kittiwake.tasks.library.formation:FormationTask",
            "drones take up and hold a formation that moves",
        ),
        "obstacle-race": RegistryEntry(
            "kittiwake.tasks.library.obstacle_race:ObstacleRace", "a drone races through gates"
        ),
        "survey-coverage": RegistryEntry(
            "kittiwake.tasks.library.survey_coverage:SurveyCoverage",
            "vessels pass all cells of an area",
        ),
    },
)
