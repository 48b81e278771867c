"""Builder of components of the user's own for a vehicle."""

import inspect
from dataclasses import dataclass
from typing import Any

from kittiwake.core.component import AbstractComponent, Scheduled
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.merging import merged
from kittiwake.scenario.own_components.entries import (
    ERRORS,
    FILE,
    INTERFACES,
    RATE,
    OwnComponent,
    Role,
)
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.problems import KeyPath
from kittiwake.sim.plain_python.host_object import HostObject, copied
from kittiwake.sim.plain_python.python_component import OwnSetting


@dataclass
class OwnComponentBuilder:
    """Builder of components of the user's own, which notes their mistakes."""

    components: ComponentBuilder
    gravity_mps2: float

    def build(
        self, own: OwnComponent, role: Role, setting: OwnSetting, path: KeyPath
    ) -> Scheduled[Any] | None:
        """Return a component with its rate, or None after collecting its mistakes.

        A sensor is an instrument, with its errors.
        """
        dynamics = setting.dynamics
        if dynamics is None:
            return None
        with self.components.problems.collecting(path, placed=True):
            try:
                component = self._component(own, role, setting, dynamics, path)
                if isinstance(component, AbstractController):
                    component.check(dynamics)
            except KittiwakeError as error:
                if own.entry is not None and str(error).startswith(self._place(path)):
                    raise
                message = self.components.problems.sentence(path, str(error))
                raise ScenarioError(message) from error
            if own.file is not None:
                self.components.tables[*path, FILE] = own.file
            rate_hz = _rate_hz(own)
            if not isinstance(component, AbstractSensor):
                return self.components.scheduled_own(component, rate_hz, path)
            built = self.components.scheduled_own(component, rate_hz, path)
            errors = (own.entry or {}).get(ERRORS)
            return self.components.with_errors(built, component, errors, rate_hz, path)
        return None

    def _place(self, path: KeyPath) -> str:
        return f"{self.components.document.where(path)}: "

    def _component(
        self,
        own: OwnComponent,
        role: Role,
        setting: OwnSetting,
        dynamics: AbstractDynamics,
        path: KeyPath,
    ) -> AbstractComponent:
        given = own.given
        if isinstance(given, role.interface):
            return given
        if isinstance(given, INTERFACES):
            message = f"{own.title}: got another kind of component; must be a kw.{_name(role)}"
            raise ScenarioError(message)
        if own.entry is None and isinstance(given, type):
            message = f"got the class {own.title}; write an object of it, {_call(given, own.title)}"
            raise ScenarioError(message)
        if not isinstance(given, type):
            _require_update(own, role)
            # each flight begins with a copy, which fails only in flight otherwise
            copied(given)
            parameters = dynamics.vehicle_parameters(self.gravity_mps2)
            host = HostObject(given, own.title, own.title, parameters, setting.motion)
            return role.python_type.of(host, setting, dynamics)
        if own.entry is None or not issubclass(given, role.interface):
            message = f"got the class {own.title}; write an object of it, {_call(given, own.title)}"
            raise ScenarioError(message)
        parameters = own.parameters()
        if issubclass(given, AbstractController):
            defaults = given.with_vehicle_defaults(dynamics, self.gravity_mps2)
            parameters = merged(defaults, parameters)
        return build_component(given, parameters, self.components.document.where, path)


def _call(given: type, title: str) -> str:
    try:
        inspect.signature(given).bind()
    except (TypeError, ValueError):
        return f"{title}(...)"
    return f"{title}()"


def _require_update(own: OwnComponent, role: Role) -> None:
    """Check that an object has a method ``update`` with the arguments of its role.

    Raises:
        ScenarioError: if it has none, or another one.
    """
    arguments = ["t_s", *role.arguments.split(", ")]
    update = getattr(own.given, "update", None)
    if own.given is None:
        return  # not loaded, and not flown
    if not callable(update):
        message = f"{own.title} has no update({', '.join(arguments)})"
        if callable(own.given):
            message += "; write a class with this method, and give an object of it"
        raise ScenarioError(message)
    try:
        signature = inspect.signature(update)
    except (TypeError, ValueError):
        return  # as of a method in C
    try:
        signature.bind(*arguments)
    except TypeError:
        message = f"{own.title}.update{signature} must be {role.signature}"
        raise ScenarioError(message) from None


def _rate_hz(own: OwnComponent) -> Any:
    """Return the rate that the entry gives, or else the object; None for every step."""
    given = (own.entry or {}).get(RATE)
    if given is not None or isinstance(own.given, AbstractComponent):
        return given
    return getattr(own.given, RATE, None)


def _name(role: Role) -> str:
    return role.interface.__name__
