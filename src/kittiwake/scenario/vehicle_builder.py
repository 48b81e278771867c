"""From an entry of a scenario's ``vehicles`` to vehicles."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kittiwake.actuators import FAULTS
from kittiwake.control import CONTROLLERS
from kittiwake.core.component import (
    AbstractController,
    AbstractDynamics,
    AbstractEstimator,
    AbstractFault,
    AbstractTurbulence,
)
from kittiwake.core.errors import LadderError, ScenarioError
from kittiwake.core.instrument import Instrument
from kittiwake.core.kinematics import Start
from kittiwake.core.ladder import ladder_path
from kittiwake.core.recording import Recording
from kittiwake.core.units import stored_name
from kittiwake.core.vehicle import Scheduled, Vehicle
from kittiwake.core.world import World
from kittiwake.estimation import ESTIMATORS
from kittiwake.geometry.scalar import Real
from kittiwake.guidance import GUIDANCE
from kittiwake.guidance.playback import Playback
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.schema import Repetition, VehicleSchema, WorldSettings
from kittiwake.scenario.starts import placed, shifted
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel


@dataclass
class VehicleBuilder:
    """Builds the vehicles of one document, in a world with these settings and this turbulence.

    ``world`` is None where something of it was refused.
    """

    components: ComponentBuilder
    settings: WorldSettings
    world: World | None
    turbulence: Scheduled[AbstractTurbulence] | None

    @property
    def problems(self) -> ProblemList:
        """Takes the mistakes."""
        return self.components.problems

    def build(self, name: str, entry: VehicleSchema) -> dict[str, Vehicle]:
        """An entry's vehicles by name: itself, or counted from NAME-1 on."""
        path = ("vehicles", name)
        vehicle = self._vehicle(entry, path)
        if vehicle is None or entry.count is None:
            return {} if vehicle is None else {name: vehicle}
        given = {} if entry.spacing_m is None else {"spacing_m": entry.spacing_m}
        repetition = self.components.settings(Repetition, given, path) or Repetition()
        width = len(str(entry.count))
        return {
            f"{name}-{i + 1:0{width}}": dataclasses.replace(
                vehicle, start=shifted(vehicle.start, repetition.spacing_m, i)
            )
            for i in range(entry.count)
        }

    def _vehicle(self, entry: VehicleSchema, path: KeyPath) -> Vehicle | None:
        with self.problems.noting((*path, "model")):
            model: VehicleModel = VEHICLES.find(entry.model)
            parameters_path = (*path, "parameters")
            given = self.components.with_mass_properties(
                model.dynamics, entry.parameters, parameters_path
            )
            dynamics = self.components.settings(
                model.dynamics, merged(model.parameters(), given), parameters_path
            )
            start = self.components.settings(
                Start, placed(entry.start, dynamics, self.settings.ground_z_m), (*path, "start")
            )
            sensors = {
                key: self.components.instrument(sensor, (*path, "sensors", key))
                for key, sensor in entry.sensors.items()
            }
            estimator = self.components.scheduled(ESTIMATORS, entry.estimator, (*path, "estimator"))
            guidance = self.components.scheduled(GUIDANCE, entry.guidance, (*path, "guidance"))
            bridges = self._bridges(model, dynamics, self.settings.gravity_mps2, path)
            ladder = (*self._ladder(entry, model, path), *bridges)
            faults = self.components.listed(FAULTS, entry.faults, (*path, "faults"))
            parts = (dynamics, start, estimator, guidance, *ladder, *faults)
            if self.turbulence is None or None in (*parts, *sensors.values()):
                return None
            self._check_faults(faults, dynamics, path)
            self._check_senses(sensors, estimator.component, path)
            with self.problems.noting((*path, "start")):
                dynamics.check_start(start)
            with self.problems.noting(parameters_path):
                dynamics.check_rate(self.components.rate_hz, self.settings.gravity_mps2)
            self._check_ladder(guidance.component, ladder, dynamics, path)
            return Vehicle(
                model=entry.model,
                dynamics=dynamics,
                start=start,
                turbulence=self.turbulence,
                sensors=sensors,
                estimator=estimator,
                guidance=guidance,
                ladder=ladder,
                faults=tuple(sorted(faults, key=lambda fault: fault.at_s)),
            )
        return None

    def _check_faults(
        self, faults: tuple[AbstractFault, ...], dynamics: AbstractDynamics, path: KeyPath
    ) -> None:
        """Notes faults of what the vehicle does not have."""
        for i, fault in enumerate(faults):
            with self.problems.noting((*path, "faults", i)):
                _refuse_unfit(fault, dynamics)
                fault.check(dynamics.command_bounds)

    def _check_senses(
        self,
        sensors: dict[str, Scheduled[Instrument]],
        estimator: AbstractEstimator,
        path: KeyPath,
    ) -> None:
        """Notes sensors of what the world does not have, and estimators without their sensors."""
        for key, sensor in sensors.items():
            with self.problems.noting((*path, "sensors", key)):
                if self.world is not None:
                    sensor.component.sensor.check(self.world)
        with self.problems.noting((*path, "estimator")):
            estimator.check({key: sensor.component.sensor for key, sensor in sensors.items()})

    def _bridges(
        self,
        model: VehicleModel,
        dynamics: AbstractDynamics | None,
        gravity_mps2: Real,
        path: KeyPath,
    ) -> tuple[Any, ...]:
        """The controllers that the vehicle brings itself, a None if its parameters allow none."""
        if dynamics is None:
            return ()
        with self.problems.noting((*path, "parameters")):
            return tuple(Scheduled(bridge) for bridge in model.bridges(dynamics, gravity_mps2))
        return (None,)

    def _ladder(self, entry: VehicleSchema, model: VehicleModel, path: KeyPath) -> tuple[Any, ...]:
        """The scenario's controllers, None for each that was refused."""
        given = entry.controller if entry.controller is not None else model.default_controller
        key = (*path, "controller")
        if isinstance(given, list):
            return tuple(
                self.components.scheduled(CONTROLLERS, c, (*key, i)) for i, c in enumerate(given)
            )
        return (self.components.scheduled(CONTROLLERS, given, key),)

    def _check_ladder(
        self,
        guidance: Any,
        rungs: tuple[Scheduled[AbstractController], ...],
        dynamics: AbstractDynamics,
        path: KeyPath,
    ) -> None:
        with self.problems.noting((*path, "controller")):
            controllers = [rung.component for rung in rungs]
            try:
                ladder_path(controllers, guidance.signal_type(), dynamics.native)
            except LadderError as error:
                message = f"{error} {_leading_from(error.rung)}"
                raise ScenarioError(message) from None
        if isinstance(guidance, Playback) and guidance.signal_type() is dynamics.native:
            with self.problems.noting((*path, "guidance", "file")):
                _check_recorded_bounds(guidance.file, dynamics.command_bounds)


def merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with those given in place of the defaults, inside nested ones too.

    A parameter given in another unit replaces its default all the same; a nested one of another
    ``type`` replaces it whole.
    """
    names = {stored_name(key) for key in given}
    kept = {key: value for key, value in defaults.items() if stored_name(key) not in names}
    for key, value in given.items():
        default = defaults.get(key)
        kept[key] = _merged_inside(default, value)
    return kept


def _merged_inside(default: Any, given: Any) -> Any:
    if not (isinstance(default, Mapping) and isinstance(given, Mapping)):
        return given
    kind = default.get("type")
    return merged(default, given) if given.get("type", kind) == kind else given


def _refuse_unfit(fault: AbstractFault, dynamics: AbstractDynamics) -> None:
    if fault.signal is dynamics.native:
        return
    fitting = [name for name in FAULTS.names() if FAULTS.find(name).signal is dynamics.native]
    message = (
        f"{FAULTS.name_of(type(fault))} breaks {fault.signal.__name__}, and this vehicle is "
        f"commanded by {dynamics.native.__name__}; faults of such a vehicle: "
        f"{', '.join(fitting) or 'none is registered'}"
    )
    raise ScenarioError(message)


def _leading_from(rung: str) -> str:
    fitting = [
        name for name in CONTROLLERS.names() if CONTROLLERS.find(name).consumes.__name__ == rung
    ]
    return f"Controllers from {rung}: {', '.join(fitting) or 'none is registered'}."


def _check_recorded_bounds(table: Recording, bounds: Mapping[str, tuple[Real, Real]]) -> None:
    for column, values in zip(table.columns, table.values.T, strict=True):
        low, high = map(float, bounds.get(column, (-float("inf"), float("inf"))))
        outside = (values < low) | (values > high)
        if outside.any():
            row = int(outside.argmax())
            message = (
                f"{table.source}: {column} = {values[row]:g} at time_s = {table.time_s[row]:g} is "
                f"not allowed; the vehicle takes {low:g} to {high:g}"
            )
            raise ScenarioError(message)
