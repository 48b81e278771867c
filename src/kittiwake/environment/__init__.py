"""Air, water and what stands in them: what a world does to vehicles, and shows to their sensors."""

from kittiwake.core.registry import Entry, Registry

WINDS = Registry(
    "winds",
    "wind",
    {
        "none": Entry("kittiwake.environment.wind:Calm", "no wind"),
        "shear": Entry("kittiwake.environment.wind:ShearWind", "logarithmic shear over the ground"),
        "constant": Entry(
            "kittiwake.environment.prescribed_winds:ConstantWind",
            "the same at every place and time, also written as [east, north, up]",
        ),
        "step": Entry("kittiwake.environment.prescribed_winds:StepWind", "one that begins at once"),
        "gust": Entry(
            "kittiwake.environment.prescribed_winds:CosineGust",
            "discrete 1-cosine gust of MIL-F-8785C",
        ),
        "sinusoid": Entry(
            "kittiwake.environment.prescribed_winds:SinusoidalWind", "one that swings both ways"
        ),
        "recorded": Entry(
            "kittiwake.environment.prescribed_winds:RecordedWind", "a time series from a CSV file"
        ),
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

OBSTACLES = Registry(
    "obstacles",
    "obstacle",
    {
        "box": Entry("kittiwake.environment.obstacles.boxes:Box", "a box in any attitude"),
        "platform": Entry(
            "kittiwake.environment.obstacles.boxes:Platform", "a plate, given by its upper side"
        ),
        "slab": Entry("kittiwake.environment.obstacles.boxes:Slab", "a thick wall that leans"),
        "sphere": Entry("kittiwake.environment.obstacles.round:Sphere", "a ball"),
        "cylinder": Entry(
            "kittiwake.environment.obstacles.round:Cylinder", "an upright, lying or tilted cylinder"
        ),
        "capsule": Entry(
            "kittiwake.environment.obstacles.round:Capsule", "a cylinder with round ends"
        ),
        "plane": Entry("kittiwake.environment.obstacles.sheets:Plane", "a plane without end"),
        "parabolic-sheet": Entry(
            "kittiwake.environment.obstacles.sheets:ParabolicSheet", "a sheet bent as a parabola"
        ),
        "wavy-sheet": Entry(
            "kittiwake.environment.obstacles.waves:WavySheet", "a sheet with even waves"
        ),
        "hallway": Entry(
            "kittiwake.environment.obstacles.hallway:Hallway",
            "walls on both sides of a line of points, floor and ceiling",
        ),
        "mesh": Entry(
            "kittiwake.environment.obstacles.mesh:Mesh", "triangles from an STL or OBJ file"
        ),
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
        "visible": Entry(
            "kittiwake.environment.visible:Visible", "the nearest vehicles, for range sensors"
        ),
    },
)

SATELLITES = Registry(
    "satellites",
    "kind of satellites",
    {
        "nominal": Entry(
            "kittiwake.environment.satellites.nominal:NominalConstellation",
            "the 24 slots of GPS, on undisturbed circles",
        ),
        "sp3": Entry(
            "kittiwake.environment.satellites.precise:PreciseConstellation",
            "the satellites of a file of precise orbits",
        ),
    },
)

RANGE_ERRORS = Registry(
    "range_errors",
    "error of ranges",
    {
        "none": Entry(
            "kittiwake.environment.satellites.range_errors:NoRangeError", "exact distances"
        ),
        "first-order": Entry(
            "kittiwake.environment.satellites.range_errors:FirstOrderError",
            "a Gauss-Markov process, QRSim's GM",
        ),
        "second-order": Entry(
            "kittiwake.environment.satellites.range_errors:SecondOrderError",
            "a Gauss-Markov process that another drives, as QRSim's GM2",
        ),
    },
)

PLUMES = Registry(
    "plumes",
    "plume",
    {
        "gaussian": Entry(
            "kittiwake.environment.plumes.gaussian:GaussianPlume", "a cloud at rest in still air"
        ),
        "gaussian-dispersion": Entry(
            "kittiwake.environment.plumes.dispersion:DispersionPlume",
            "drawn out by the wind, from sources that never pause",
        ),
        "gaussian-puff-dispersion": Entry(
            "kittiwake.environment.plumes.puffs:PuffPlume", "puffs that go with the wind"
        ),
    },
)

FIELDS = Registry(
    "fields",
    "field",
    {
        "from-seed": Entry(
            "kittiwake.environment.fields.from_seed:SeededField",
            "a smooth random field of the seed",
        ),
        "patches": Entry(
            "kittiwake.environment.fields.patches:Patches", "Gaussian patches on a background"
        ),
        "raster": Entry(
            "kittiwake.environment.fields.raster:Raster", "a map from a file, by cells"
        ),
    },
)

TERRAINS = Registry(
    "terrains",
    "terrain",
    {
        "pour": Entry(
            "kittiwake.environment.terrain:PouredTerrain",
            "QRSim's open ground, clutter and occlusion, with persons",
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

WAVES = Registry(
    "waves",
    "kind of waves",
    {
        "regular": Entry(
            "kittiwake.environment.waves.regular:RegularWaves",
            "waves of one height, period and direction",
        ),
        "pierson-moskowitz": Entry(
            "kittiwake.environment.waves.irregular:PiersonMoskowitzSea",
            "a fully developed sea by height, wind or sea state",
        ),
        "jonswap": Entry(
            "kittiwake.environment.waves.irregular:JonswapSea",
            "a growing sea by height, wind and fetch or sea state",
        ),
    },
)
