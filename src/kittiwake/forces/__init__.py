"""What pushes a body: rotors and the air's drag."""

from kittiwake.core.registry import Registry, RegistryEntry

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
            "thrust and torque by the square of the speed, with lumped effects of the airspeed",
        ),
    },
)

GROUND_EFFECTS = Registry(
    "ground_effects",
    "ground effect",
    {
        "cheeseman-bennett": RegistryEntry(
            "kittiwake.forces.ground_effect:CheesemanBennett", "by the image of one rotor"
        ),
    },
)

FORCES = Registry(
    "forces",
    "force",
    {
        "linear-drag": RegistryEntry(
            "kittiwake.forces.drag:LinearDrag", "drag in proportion to the airspeed, by axis"
        ),
        "quadratic-drag": RegistryEntry(
            "kittiwake.forces.drag:QuadraticDrag", "drag by the square of the airspeed, by axis"
        ),
        "rotation-damping": RegistryEntry(
            "kittiwake.forces.drag:RotationDamping", "torque against the rotation, by axis"
        ),
    },
)
