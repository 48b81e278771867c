"""What there is to learn: tasks set in scenarios, as environments."""

from kittiwake.core.registry import Entry, Registry

TASKS = Registry(
    "tasks",
    "task",
    {
        "keep-spot": Entry(
            "kittiwake.tasks.keep_spot:KeepSpot", "one Pelican stays where it is, at little effort"
        ),
        "hover": Entry("kittiwake.tasks.hover:Hover", "a Crazyflie stays in a place by its rotors"),
        "land-on-deck": Entry(
            "kittiwake.tasks.land_on_deck:LandOnDeck", "a drone lands on a vessel that sails"
        ),
    },
)
