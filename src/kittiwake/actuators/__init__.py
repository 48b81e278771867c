"""Batteries and actuator faults."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

BATTERIES = Registry(
    "batteries",
    "battery",
    {
        "lithium-polymer": RegistryEntry(
            "kittiwake.actuators.battery:LithiumPolymer",
            "cells in series with internal resistance: charge, voltage sag, empty or not",
        ),
    },
)

FAULTS = Registry(
    "faults",
    "fault",
    {
        "motor": RegistryEntry(
            "kittiwake.actuators.motor_fault:MotorFault",
            "a rotor turns at a share of its speed, or not at all",
        ),
        "propeller": RegistryEntry(
            "kittiwake.actuators.propeller_fault:PropellerFault", "a vessel's thrust is lost"
        ),
        "shaft": RegistryEntry(
            "kittiwake.actuators.shaft_fault:ShaftFault",
            "one of a vessel's two propellers turns at a share of its speed, or not at all",
        ),
        "rudder": RegistryEntry(
            "kittiwake.actuators.rudder_fault:RudderFault", "a vessel's rudder jams"
        ),
    },
)

__getattr__, __dir__ = namespace(
    __name__,
    FAULTS,
    BATTERIES,
    interfaces={
        "AbstractBattery": "kittiwake.interfaces.parts",
        "AbstractFault": "kittiwake.interfaces.dynamics",
    },
)
