"""Environment models: wind, waves, obstacles, satellites, plumes and other parts of the world."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

WINDS = Registry(
    "winds",
    "wind",
    {
        "none": RegistryEntry("kittiwake.environment.wind:Calm", "no wind"),
        "shear": RegistryEntry(
            "kittiwake.environment.wind:ShearWind", "logarithmic shear above the ground"
        ),
        "constant": RegistryEntry(
            "kittiwake.environment.prescribed_winds:ConstantWind",
            "constant in space and time, also written as [east, north, up]",
        ),
        "step": RegistryEntry(
            "kittiwake.environment.prescribed_winds:StepWind", "sudden onset of a constant wind"
        ),
        "gust": RegistryEntry(
            "kittiwake.environment.prescribed_winds:CosineGust",
            "discrete 1-cosine gust of MIL-F-8785C",
        ),
        "sinusoid": RegistryEntry(
            "kittiwake.environment.prescribed_winds:SinusoidalWind", "sinusoidal wind"
        ),
        "recorded": RegistryEntry(
            "kittiwake.environment.prescribed_winds:RecordedWind", "a time series from a CSV file"
        ),
    },
)

TURBULENCE = Registry(
    "turbulence",
    "turbulence model",
    {
        "none": RegistryEntry("kittiwake.environment.turbulence:NoTurbulence", "no gusts"),
        "dryden": RegistryEntry(
            "kittiwake.environment.turbulence:Dryden",
            "Dryden spectra of MIL-F-8785C, exact at any step length",
        ),
        "dryden-first-order": RegistryEntry(
            "kittiwake.environment.turbulence:DrydenFirstOrder",
            "first-order form of QRSim, by ground speed",
        ),
    },
    entry_keys=("rate_hz",),
)

ATMOSPHERES = Registry(
    "atmospheres",
    "atmosphere",
    {
        "isa": RegistryEntry(
            "kittiwake.environment.atmosphere:StandardAtmosphere",
            "standard atmosphere of 1976 up to 20 km",
        ),
    },
)

REGIONS = Registry(
    "regions",
    "region",
    {
        "force": RegistryEntry("kittiwake.environment.regions:ForceRegion", "a box with a force"),
        "wind": RegistryEntry("kittiwake.environment.regions:WindRegion", "a box with a wind"),
    },
)

OBSTACLES = Registry(
    "obstacles",
    "obstacle",
    {
        "box": RegistryEntry("kittiwake.environment.obstacles.boxes:Box", "a box in any attitude"),
        "platform": RegistryEntry(
            "kittiwake.environment.obstacles.boxes:Platform",
            "a plate, positioned by its upper side",
        ),
        "slab": RegistryEntry(
            "kittiwake.environment.obstacles.boxes:Slab", "a thick inclined wall"
        ),
        "sphere": RegistryEntry("kittiwake.environment.obstacles.round:Sphere", "a ball"),
        "cylinder": RegistryEntry(
            "kittiwake.environment.obstacles.round:Cylinder", "an upright, lying or tilted cylinder"
        ),
        "capsule": RegistryEntry(
            "kittiwake.environment.obstacles.round:Capsule", "a cylinder with round ends"
        ),
        "plane": RegistryEntry("kittiwake.environment.obstacles.sheets:Plane", "an infinite plane"),
        "parabolic-sheet": RegistryEntry(
            "kittiwake.environment.obstacles.sheets:ParabolicSheet",
            "a sheet with a parabolic section",
        ),
        "wavy-sheet": RegistryEntry(
            "kittiwake.environment.obstacles.waves:WavySheet", "a sheet with sinusoidal waves"
        ),
        "hallway": RegistryEntry(
            "kittiwake.environment.obstacles.hallway:Hallway",
            "walls on both sides of a line of points, floor and ceiling",
        ),
        "mesh": RegistryEntry(
            "kittiwake.environment.obstacles.mesh:Mesh", "triangles from an STL or OBJ file"
        ),
    },
)

PLATFORMS = Registry(
    "platforms",
    "platform",
    {
        "fixed": RegistryEntry(
            "kittiwake.environment.platforms:FixedPlatform", "a fixed rectangle"
        ),
        "moving": RegistryEntry(
            "kittiwake.environment.platforms:MovingPlatform",
            "a deck that moves, heaves, rolls and pitches",
        ),
    },
)

INTERACTIONS = Registry(
    "interactions",
    "interaction",
    {
        "downwash": RegistryEntry(
            "kittiwake.environment.downwash:Downwash", "the jets of vehicles above, as wind"
        ),
        "proximity": RegistryEntry(
            "kittiwake.environment.proximity:Proximity", "distance of the nearest vehicle"
        ),
        "visible": RegistryEntry(
            "kittiwake.environment.vehicle_obstacles:VehicleObstacles",
            "the nearest vehicles, for range sensors",
        ),
    },
)

SATELLITES = Registry(
    "satellites",
    "satellite constellation",
    {
        "nominal": RegistryEntry(
            "kittiwake.environment.satellites.nominal:NominalConstellation",
            "the 24 slots of GPS, on undisturbed circular orbits",
        ),
        "sp3": RegistryEntry(
            "kittiwake.environment.satellites.precise:PreciseConstellation",
            "the satellites of a file of precise orbits",
        ),
    },
    entry_keys=("rate_hz",),
)

RANGE_ERRORS = Registry(
    "range_errors",
    "range error",
    {
        "none": RegistryEntry(
            "kittiwake.environment.satellites.range_errors:NoRangeError", "exact distances"
        ),
        "first-order": RegistryEntry(
            "kittiwake.environment.satellites.range_errors:FirstOrderError",
            "a Gauss-Markov process, QRSim's GM",
        ),
        "second-order": RegistryEntry(
            "kittiwake.environment.satellites.range_errors:SecondOrderError",
            "a Gauss-Markov process driven by another, QRSim's GM2",
        ),
    },
)

PLUMES = Registry(
    "plumes",
    "plume",
    {
        "gaussian": RegistryEntry(
            "kittiwake.environment.plumes.gaussian:GaussianPlume", "a cloud at rest in still air"
        ),
        "gaussian-dispersion": RegistryEntry(
            "kittiwake.environment.plumes.dispersion:DispersionPlume",
            "steady plume in the wind, from continuous sources",
        ),
        "gaussian-puff-dispersion": RegistryEntry(
            "kittiwake.environment.plumes.puffs:PuffPlume", "puffs that move with the wind"
        ),
    },
    entry_keys=("rate_hz",),
)

FIELDS = Registry(
    "fields",
    "field",
    {
        "from-seed": RegistryEntry(
            "kittiwake.environment.fields.from_seed:SeededField",
            "a smooth random field from the seed",
        ),
        "patches": RegistryEntry(
            "kittiwake.environment.fields.patches:Patches", "Gaussian patches on a background"
        ),
        "raster": RegistryEntry(
            "kittiwake.environment.fields.raster:Raster", "a gridded map from a file"
        ),
    },
    entry_keys=("rate_hz",),
)

TERRAINS = Registry(
    "terrains",
    "terrain",
    {
        "pour": RegistryEntry(
            "kittiwake.environment.terrain:PouredTerrain",
            "QRSim's open ground, clutter and occlusion, with persons",
        ),
    },
    entry_keys=("rate_hz",),
)

CURRENTS = Registry(
    "currents",
    "current",
    {
        "none": RegistryEntry("kittiwake.environment.current:StillWater", "water at rest"),
        "uniform": RegistryEntry(
            "kittiwake.environment.current:UniformCurrent", "the same current everywhere"
        ),
    },
)

WAVES = Registry(
    "waves",
    "kind of waves",
    {
        "regular": RegistryEntry(
            "kittiwake.environment.waves.regular:RegularWaves",
            "waves of one height, period and direction",
        ),
        "pierson-moskowitz": RegistryEntry(
            "kittiwake.environment.waves.irregular:PiersonMoskowitzSea",
            "a fully developed sea by height, wind or sea state",
        ),
        "jonswap": RegistryEntry(
            "kittiwake.environment.waves.irregular:JonswapSea",
            "a growing sea by height, wind and fetch or sea state",
        ),
    },
    entry_keys=("rate_hz",),
)

__getattr__, __dir__ = namespace(
    __name__,
    WINDS,
    TURBULENCE,
    ATMOSPHERES,
    REGIONS,
    OBSTACLES,
    PLATFORMS,
    INTERACTIONS,
    SATELLITES,
    RANGE_ERRORS,
    PLUMES,
    FIELDS,
    TERRAINS,
    CURRENTS,
    WAVES,
    interfaces={
        "AbstractObstacle": "kittiwake.world.ray",
        "AbstractProcessKind": "kittiwake.world.environment",
        "AbstractWind": "kittiwake.world.environment",
    },
)
