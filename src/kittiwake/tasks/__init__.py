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
