"""Air, wind, gusts and currents: what a world does to vehicles that move through it."""

from kittiwake.core.registry import Entry, Registry

WINDS = Registry(
    "winds",
    "wind",
    {
        "none": Entry("kittiwake.environment.wind:Calm", "no wind"),
        "shear": Entry("kittiwake.environment.wind:ShearWind", "logarithmic shear over the ground"),
    },
)

TURBULENCE = Registry(
    "turbulence",
    "turbulence model",
    {
        "none": Entry("kittiwake.environment.turbulence:NoTurbulence", "no gusts"),
        "dryden": Entry(
            "kittiwake.environment.turbulence:Dryden",
            "Dryden spectra of MIL-F-8785C, exact at any step length",
        ),
        "dryden-first-order": Entry(
            "kittiwake.environment.turbulence:DrydenFirstOrder",
            "first-order form of QRSim, by ground speed",
        ),
    },
)

ATMOSPHERES = Registry(
    "atmospheres",
    "atmosphere",
    {
        "isa": Entry(
            "kittiwake.environment.atmosphere:StandardAtmosphere",
            "standard atmosphere of 1976 up to 20 km",
        ),
    },
)

REGIONS = Registry(
    "regions",
    "region",
    {
        "force": Entry("kittiwake.environment.regions:ForceRegion", "a box that pushes"),
        "wind": Entry("kittiwake.environment.regions:WindRegion", "a box in which it blows"),
    },
)

PLATFORMS = Registry(
    "platforms",
    "platform",
    {
        "fixed": Entry("kittiwake.environment.platforms:FixedPlatform", "a rectangle at rest"),
        "moving": Entry(
            "kittiwake.environment.platforms:MovingPlatform",
            "a deck that sails, heaves, rolls and pitches",
        ),
    },
)

INTERACTIONS = Registry(
    "interactions",
    "interaction",
    {
        "downwash": Entry(
            "kittiwake.environment.downwash:Downwash", "the jets of those above, as wind"
        ),
        "proximity": Entry(
            "kittiwake.environment.proximity:Proximity", "the distance of the nearest vehicle"
        ),
    },
)

CURRENTS = Registry(
    "currents",
    "current",
    {
        "none": Entry("kittiwake.environment.current:StillWater", "water at rest"),
        "uniform": Entry(
            "kittiwake.environment.current:UniformCurrent", "the same current everywhere"
        ),
    },
)
