"""Scenario prepared for wind, gusts and part failures that a user may command in flight.

The added components have no effect at first: wind and gusts have zero strength, and parts fail
never. A command in flight changes numbers only, so the program need not be compiled again.
"""

from collections.abc import Mapping
from dataclasses import replace

from kittiwake.actuators import FAULTS
from kittiwake.core.component import Scheduled
from kittiwake.environment.turbulence import Dryden, NoTurbulence
from kittiwake.environment.wind import Calm, ShearWind
from kittiwake.interfaces.dynamics import AbstractFault
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.sensors.errors.stuck import Stuck

# later than the end of any flight
NEVER_S = 1e9

# time of failure in s by the name of the failed part
Failures = Mapping[str, float]


def fallible_parts(vehicle: AssembledVehicle) -> tuple[str, ...]:
    """Return the parts of a vehicle that can fail: its actuators, then its sensors."""
    return (*(fault.part() for fault in _faults(vehicle, NEVER_S)), *vehicle.sensors)


def with_dormant_faults(scenario: Scenario, failing: Mapping[str, Failures]) -> Scenario:
    """Return the scenario with dormant wind, gusts and faults, and with the given failures.

    Args:
        scenario: the original scenario.
        failing: by vehicle, the failed ones of its ``fallible_parts`` and their failure times in s.
    """
    world = scenario.world
    if isinstance(world.wind, Calm):
        world = replace(world, wind=ShearWind(0.0, 0.0))
    vehicles = {
        name: _with_dormant_faults(vehicle, failing.get(name, {}))
        for name, vehicle in scenario.vehicles.items()
    }
    return scenario.with_parts(world=world, vehicles=vehicles)


def _with_dormant_faults(vehicle: AssembledVehicle, failing: Failures) -> AssembledVehicle:
    turbulence = vehicle.turbulence
    if isinstance(turbulence.component, NoTurbulence):
        turbulence = Scheduled(Dryden(0.0))
    dormant = [
        replace(fault, at_s=failing.get(fault.part(), NEVER_S))
        for fault in _faults(vehicle, NEVER_S)
    ]
    return replace(
        vehicle,
        turbulence=turbulence,
        # always in this order, so that the program need not be compiled again
        faults=(*vehicle.faults, *dormant),
        sensors={
            name: replace(sensor, component=_fallible(sensor.component, failed=name in failing))
            for name, sensor in vehicle.sensors.items()
        },
    )


def _faults(vehicle: AssembledVehicle, at_s: float) -> list[AbstractFault]:
    """Return a fault at this time for each actuator of the vehicle."""
    fault_types: list[type[AbstractFault]] = [FAULTS.find(name) for name in FAULTS.names()]
    native = vehicle.dynamics.command_type
    return [
        fault
        for fault_type in fault_types
        if fault_type.command_type is native
        for fault in fault_type.for_each_part(at_s, vehicle.dynamics)
    ]


def _fallible(instrument: Instrument, *, failed: bool) -> Instrument:
    """Return a sensor that may fail: silent if its type supports it, else stuck."""
    silent = instrument.sensor.unpowered()
    if silent is not None:
        return replace(instrument, sensor=silent if failed else instrument.sensor)
    # its time starts when it is added
    stuck = Stuck(at_s=0.0 if failed else NEVER_S)
    return replace(instrument, errors=(*instrument.errors, stuck))
