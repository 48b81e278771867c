"""What there is to learn: tasks set in scenarios, as environments."""

from kittiwake.core.registry import Entry, Registry

TASKS = Registry(
    "tasks",
    "task",
    {
        "keep-spot": Entry(
            "kittiwake.tasks.keep_spot:KeepSpot", "one Pelican stays where it is, at little effort"
        ),
        "keep-spot-without-reward": Entry(
            "kittiwake.tasks.keep_spot:KeepSpotWithoutReward",
            "one Pelican among limits, for a reward of one's own",
        ),
        "keep-spot-10": Entry(
            "kittiwake.tasks.keep_spot:KeepSpot10", "ten Pelicans stay where they are"
        ),
        "goto-waypoint": Entry(
            "kittiwake.tasks.goto_waypoint:GotoWaypoint",
            "one Pelican flies to a waypoint, at little effort",
        ),
        "complacs": Entry(
            "kittiwake.tasks.complacs:Complacs", "one Pelican flies through 34 waypoints"
        ),
        "keep-velocity": Entry(
            "kittiwake.tasks.keep_velocity:KeepVelocity", "one Pelican keeps a velocity in wind"
        ),
        "cats-mouse": Entry(
            "kittiwake.tasks.cats_mouse:CatsMouse", "three Pelicans surround one that flees"
        ),
        "search-rescue": Entry(
            "kittiwake.tasks.search_rescue:SearchRescue", "one Pelican finds persons by its camera"
        ),
        "search-rescue-3": Entry(
            "kittiwake.tasks.search_rescue:SearchRescue3", "three Pelicans find persons together"
        ),
        "plume-gaussian": Entry(
            "kittiwake.tasks.plume:PlumeGaussian", "one Pelican says how dense a cloud at rest is"
        ),
        "plume-dispersion": Entry(
            "kittiwake.tasks.plume:PlumeDispersion",
            "one Pelican says how dense the plume of a source is",
        ),
        "plume-multi-source": Entry(
            "kittiwake.tasks.plume:PlumeMultiSource", "the same of several sources"
        ),
        "plume-team": Entry(
            "kittiwake.tasks.plume:PlumeTeam",
            "three Pelicans say how dense the plume of several sources is",
        ),
        "plume-puff": Entry(
            "kittiwake.tasks.plume:PlumePuff",
            "one Pelican says what the air may hold where a source sends puffs",
        ),
        "plume-multi-puff": Entry(
            "kittiwake.tasks.plume:PlumeMultiPuff", "the same of several sources of puffs"
        ),
        "plume-team-puff": Entry(
            "kittiwake.tasks.plume:PlumeTeamPuff",
            "three Pelicans say what the air may hold among puffs",
        ),
        "holding-pattern": Entry(
            "kittiwake.tasks.holding_pattern:HoldingPattern",
            "three Pelicans go on flying near a landing place and keep apart",
        ),
        "hover": Entry("kittiwake.tasks.hover:Hover", "a Crazyflie stays in a place by its rotors"),
        "land-on-deck": Entry(
            "kittiwake.tasks.land_on_deck:LandOnDeck", "a drone lands on a vessel that sails"
        ),
        "hallway": Entry(
            "kittiwake.tasks.hallway:Hallway",
            "a drone flies along a hallway with pillars by ranges",
        ),
        "follow-surface": Entry(
            "kittiwake.tasks.follow_surface:FollowSurface",
            "a drone flies over hills at a wanted distance by ranges",
        ),
        "formation": Entry(
            "kittiwake.tasks.formation:Formation", "drones take up and hold a formation that moves"
        ),
        "obstacle-race": Entry(
            "kittiwake.tasks.obstacle_race:ObstacleRace", "a drone races through gates"
        ),
        "survey-coverage": Entry(
            "kittiwake.tasks.survey_coverage:SurveyCoverage", "vessels pass all cells of an area"
        ),
    },
)
