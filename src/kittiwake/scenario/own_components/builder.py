"""Builder of the controllers of one's own, as levels of a vehicle's cascade."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from kittiwake.core.command_numbers import COMMAND_TYPES
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.merging import merged
from kittiwake.scenario.own_components.entries import CLASS, FILE, RATE, OwnComponent
from kittiwake.scenario.own_components.host_object import HostObject
from kittiwake.scenario.own_components.probing import probed_command_type
from kittiwake.scenario.own_components.python_components import PythonController
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.problems import KeyPath
from kittiwake.vehicles.model import VehicleModel


class OwnSetting(NamedTuple):
    """Place of a controller: its vehicle, the start, and the command type that comes down.

    Parts are None where the scenario's are invalid.
    """

    model: VehicleModel | None
    dynamics: AbstractDynamics | None
    start: Start | None
    command_type: type

    def after(self, controller: AbstractController) -> "OwnSetting":
        """Return the place after a controller."""
        if controller.consumes is not self.command_type:
            return self
        return self._replace(command_type=controller.produces)


@dataclass
class OwnComponentBuilder:
    """Builder of own controllers, which notes their mistakes."""

    components: ComponentBuilder
    gravity_mps2: float

    def build(
        self, own: OwnComponent, setting: OwnSetting, path: KeyPath
    ) -> Scheduled[AbstractController] | None:
        """Return a controller with its rate, or None after collecting its mistakes."""
        dynamics = setting.dynamics
        if dynamics is None:
            return None
        with self.components.problems.collecting(path, placed=True):
            try:
                component = self._component(own, setting, dynamics, path)
                component.check(dynamics)
            except KittiwakeError as error:
                if own.entry is not None and str(error).startswith(self._place(path)):
                    raise
                message = self.components.problems.sentence(path, str(error))
                raise ScenarioError(message) from error
            if own.file is not None:
                self.components.tables[*path, FILE] = own.file
            return self.components.scheduled_own(component, _rate_hz(own), path)
        return None

    def _place(self, path: KeyPath) -> str:
        return f"{self.components.document.where(path)}: "

    def _component(
        self, own: OwnComponent, setting: OwnSetting, dynamics: AbstractDynamics, path: KeyPath
    ) -> AbstractController:
        given = own.controller
        if given is None:
            unknown = HostObject(None, own.title, "", {})
            # never flown, so any cascade will do
            return PythonController.of(
                unknown, setting.command_type, dynamics.command_type, dynamics.actuator_count
            )
        if isinstance(given, AbstractController):
            return given
        if not isinstance(given, type):
            return self._python(own, setting, dynamics)
        if own.entry is None or not issubclass(given, AbstractController):
            message = f"{own.title}: got the class; must be an object of it, {own.title}(...)"
            raise ScenarioError(message)
        parameters = {key: value for key, value in own.entry.items() if key not in _ENTRY_KEYS}
        defaults = given.with_vehicle_defaults(dynamics, self.gravity_mps2)
        where = self.components.document.where
        return build_component(given, merged(defaults, parameters), where, path)

    def _python(
        self, own: OwnComponent, setting: OwnSetting, dynamics: AbstractDynamics
    ) -> PythonController:
        given = own.controller
        consumes = _declared(given, "consumes") or setting.command_type
        produces = _declared(given, "produces")
        parameters = dynamics.vehicle_parameters(self.gravity_mps2)
        host = HostObject(given, own.title, own.title, parameters)
        if produces is None:
            start = (setting.start or Start()).kinematics()
            produces = probed_command_type(host, consumes, start)
        return PythonController.of(host, consumes, produces, dynamics.actuator_count)


_ENTRY_KEYS = (FILE, CLASS, RATE)


def _rate_hz(own: OwnComponent) -> Any:
    """Return the rate that the entry gives, or else the object; None for every step."""
    given = (own.entry or {}).get(RATE)
    if given is not None or isinstance(own.controller, AbstractController):
        return given
    return getattr(own.controller, RATE, None)


def _declared(controller: Any, name: str) -> type | None:
    """Return the command type that a class declares; None if it declares none.

    Raises:
        ScenarioError: if it is not a command type.
    """
    declared = getattr(controller, name, None)
    if declared is None or declared in COMMAND_TYPES:
        return declared
    title = type(controller).__name__
    message = f"{title}.{name}: got {declared!r}; must be a command type, such as kw.PositionYaw"
    raise ScenarioError(message)
