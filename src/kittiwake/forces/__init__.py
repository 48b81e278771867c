"""Aerodynamic forces on a body: rotors, ground effect and drag."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

ROTORS = Registry(
    "rotors",
    "rotor",
    {
        "blade-element": RegistryEntry(
            "kittiwake.forces.blade_element_rotor:BladeElementRotor",
            "blade-element theory: thrust, hub force, torque and rolling moment of the airspeed",
        ),
        "lumped": RegistryEntry(
            "kittiwake.forces.lumped_rotor:LumpedRotor",
            "thrust and torque by the squared speed, with lumped effects of the airspeed",
        ),
    },
)

GROUND_EFFECTS = Registry(
    "ground_effects",
    "ground effect",
    {
        "cheeseman-bennett": RegistryEntry(
            "kittiwake.forces.ground_effect:CheesemanBennett", "method of images for one rotor"
        ),
    },
)

FORCES = Registry(
    "forces",
    "force",
    {
        "linear-drag": RegistryEntry(
            "kittiwake.forces.drag:LinearDrag", "drag proportional to the airspeed, per axis"
        ),
        "quadratic-drag": RegistryEntry(
            "kittiwake.forces.drag:QuadraticDrag",
            "drag proportional to the squared airspeed, per axis",
        ),
        "rotation-damping": RegistryEntry(
            "kittiwake.forces.drag:RotationDamping",
            "torque proportional to the body rates, per axis",
        ),
    },
)

__getattr__, __dir__ = namespace(
    __name__,
    FORCES,
    ROTORS,
    GROUND_EFFECTS,
    interfaces={
        "AbstractForce": "kittiwake.interfaces.parts",
        "AbstractGroundEffect": "kittiwake.interfaces.parts",
        "AbstractRotor": "kittiwake.interfaces.parts",
        "Flow": "kittiwake.interfaces.parts",
        "Wrench": "kittiwake.core.wrench",
    },
)
