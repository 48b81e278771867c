"""A scenario prepared for what may be asked of it in flight: wind, gusts, and that parts fail.

What is added lies dormant: still air stays still, and a part that has not failed works. When it is
called for, numbers change and nothing else, so that a flight goes on without being compiled anew.
"""

from collections.abc import Mapping
from dataclasses import replace

import equinox as eqx

from kittiwake.actuators import FAULTS
from kittiwake.core.component import Scheduled
from kittiwake.environment.turbulence import Dryden, NoTurbulence
from kittiwake.environment.wind import Calm, ShearWind
from kittiwake.interfaces.dynamics import AbstractFault
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.sensors.errors.stuck import Stuck

# later than any flight ends
NEVER_S = 1e9

# by what has failed, since when
Failures = Mapping[str, float]


def fallible_parts(vehicle: Vehicle) -> tuple[str, ...]:
    """What of a vehicle can be made to fail: its drives, then its sensors."""
    return (*(fault.part() for fault in _faults(vehicle, NEVER_S)), *vehicle.sensors)


def with_dormant_faults(scenario: Scenario, failing: Mapping[str, Failures]) -> Scenario:
    """The scenario with wind and gusts of no strength where it has none, and with failed parts.

    Args:
        scenario: as it is written.
        failing: by vehicle, which of its ``parts_that_fail`` have failed, and since when in s.
    """
    world = scenario.world
    if isinstance(world.wind, Calm):
        world = replace(world, wind=ShearWind(0.0, 0.0))
    vehicles = {
        name: _with_dormant_faults(vehicle, failing.get(name, {}))
        for name, vehicle in scenario.vehicles.items()
    }
    return replace(scenario, world=world, vehicles=vehicles)


def _with_dormant_faults(vehicle: Vehicle, failing: Failures) -> Vehicle:
    turbulence = vehicle.turbulence
    if isinstance(turbulence.component, NoTurbulence):
        turbulence = Scheduled(Dryden(0.0))
    dormant = [
        eqx.tree_at(lambda one: one.at_s, fault, failing.get(fault.part(), NEVER_S))
        for fault in _faults(vehicle, NEVER_S)
    ]
    return replace(
        vehicle,
        turbulence=turbulence,
        # in this order whenever they begin, so that a flight need not be compiled anew for it
        faults=(*vehicle.faults, *dormant),
        sensors={
            name: replace(sensor, component=_fallible(sensor.component, failed=name in failing))
            for name, sensor in vehicle.sensors.items()
        },
    )


def _faults(vehicle: Vehicle, at_s: float) -> list[AbstractFault]:
    """Of each part that drives the vehicle."""
    kinds: list[type[AbstractFault]] = [FAULTS.find(name) for name in FAULTS.names()]
    native = vehicle.dynamics.command_type
    return [fault for kind in kinds if kind.command is native for fault in kind.every(at_s)]


def _fallible(instrument: Instrument, *, failed: bool) -> Instrument:
    """A sensor that has failed says nothing, if it can say so, or the same for ever."""
    silent = instrument.sensor.failed()
    if silent is not None:
        return replace(instrument, sensor=silent if failed else instrument.sensor)
    # its clock counts samples from when it was added
    stuck = Stuck(at_s=0.0 if failed else NEVER_S)
    return replace(instrument, errors=(*instrument.errors, stuck))
