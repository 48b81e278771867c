"""Builder of the control cascade of a vehicle."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from kittiwake.control import CONTROLLERS
from kittiwake.core.command_numbers import COMMAND_TYPES
from kittiwake.core.commands import MotorsOff
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import CascadeError, ScenarioError
from kittiwake.guidance import AVOIDANCE
from kittiwake.interfaces.cascade import ControllerOrType, cascade_path
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.merging import merged
from kittiwake.scenario.own_components.builder import OwnComponentBuilder
from kittiwake.scenario.own_components.entries import CONTROLLER, is_code, own_or_unfit, refusal
from kittiwake.scenario.problems import KeyPath, Plain, ProblemList
from kittiwake.scenario.schema import VehicleSchema, WorldSettings
from kittiwake.sim.plain_python.python_component import OwnSetting
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel

Part = TypeVar("Part")


@dataclass
class CascadeBuilder:
    """Builder of vehicles' controllers, which collects their mistakes.

    Attributes:
        components: builder of registered components.
        own: builder of components of the user's own.
        settings: settings of the world.
    """

    components: ComponentBuilder
    own: OwnComponentBuilder
    settings: WorldSettings

    @property
    def problems(self) -> ProblemList:
        """List that collects the mistakes."""
        return self.components.problems

    def builtin(
        self, model: VehicleModel, dynamics: AbstractDynamics | None, path: KeyPath
    ) -> tuple[Scheduled[AbstractController] | None, ...]:
        """Return the controllers of the vehicle model itself, with defaults for bad parameters.

        The only entry is None if the default parameters are invalid, too.
        """
        key = (*path, "parameters")
        without_notes = self.components.without_notes()
        known = dynamics or without_notes.settings(model.dynamics, model.parameters(), key)
        if known is None:
            return (None,)
        return tuple(
            self._controller(name, model, known, key) for name in model.builtin_controllers
        )

    def controllers(
        self,
        entry: VehicleSchema,
        model: VehicleModel | None,
        setting: OwnSetting,
        path: KeyPath,
    ) -> list[tuple[Plain, Scheduled[AbstractController] | None]]:
        """Return the scenario's controllers as written and as built, None for invalid ones."""
        key, given = (*path, "controller"), given_controllers(entry, model)
        places = [(key, one) for one in given]
        if isinstance(entry.controller, list):
            places = [((*key, i), written) for i, written in enumerate(given)]
        setting = setting._replace(accepted=accepted_types([one for _, one in places], model))
        found: list[tuple[Plain, Scheduled[AbstractController] | None]] = []
        for place, written in places:
            if (own := own_or_unfit(written)) is not None:
                built = self.own.build(own, CONTROLLER, setting, place)
            else:
                built = self._controller(written, model, setting.dynamics, place)
            if built is not None and built.component.consumes is setting.command_type:
                setting = setting._replace(command_type=built.component.produces)
            found.append((written, built))
        return found

    def _controller(
        self,
        written: Plain,
        model: VehicleModel | None,
        dynamics: AbstractDynamics | None,
        path: KeyPath,
    ) -> Scheduled[AbstractController] | None:
        """Return a controller for this vehicle, or None after collecting its mistakes.

        Parameters that the scenario leaves out are from the vehicle's data, or from its dynamics.
        """
        if is_code(written):
            self.problems.add(path, refusal(written))
            return None
        name = written.get("type") if isinstance(written, dict) else written
        if model is None or dynamics is None or not isinstance(name, str):
            return self.components.scheduled(CONTROLLERS, written, path)
        given = written if isinstance(written, dict) else {"type": written}
        with self.problems.collecting(path):
            defaults = {}
            if name in CONTROLLERS.entries:
                defaults = CONTROLLERS.find(name).with_vehicle_defaults(
                    dynamics, self.settings.gravity_mps2
                )
            known = merged(defaults, model.gains(name))
            built = self.components.scheduled(CONTROLLERS, merged(known, given), path)
            if built is not None:
                built.component.check(dynamics)
            return built
        return None

    def check(
        self,
        guidance: Scheduled[AbstractGuidance],
        avoidance: tuple[Scheduled[AbstractAvoidance] | None, ...],
        controllers: list[tuple[Plain, Scheduled[AbstractController] | None]],
        builtin: tuple[Scheduled[AbstractController] | None, ...],
        native: type,
        path: KeyPath,
    ) -> None:
        """Note a gap in the control cascade, if the types of all controllers are known.

        Also add a problem for avoidance that acts on a command type outside the cascade.
        """
        # an invalid controller is represented by its class
        known: list[ControllerOrType | None] = [
            built.component if built else _controller_type(written)
            for written, built in controllers
        ]
        known += [None if built is None else built.component for built in builtin]
        levels = valid_parts(known)
        if len(levels) < len(known):
            return
        passed: set[type] = set()
        with self.problems.collecting((*path, "controller")):
            try:
                for start in guidance.component.command_types():
                    route = cascade_path(levels, start, native)
                    passed |= {start, *(levels[i].produces for i in route)}
            except CascadeError as error:
                fitting = _fitting_controllers("consumes", error.command_type)
                message = f"{error} {fitting}"
                raise ScenarioError(message) from None
        for i, part in enumerate(avoidance):
            if part is not None and passed and part.component.command_type not in passed:
                self.problems.add(
                    (*path, "avoidance", i), _avoidance_outside_cascade(part.component, passed)
                )


def written_controllers(entry: Mapping[str, Plain]) -> list[Plain]:
    """Return the controllers that a valid entry names, or the default of its model."""
    given = entry.get("controller")
    if given is None:
        given = VEHICLES.find(entry["model"]).default_controller
    return given if isinstance(given, list) else [given]


def _controller_type(written: Plain) -> type[AbstractController] | None:
    """Return the class of a controller in a scenario; None if its name is unknown."""
    name = written.get("type") if isinstance(written, dict) else written
    if not isinstance(name, str) or name not in CONTROLLERS.entries:
        return None
    return CONTROLLERS.find(name)


def given_controllers(entry: VehicleSchema, model: VehicleModel | None) -> list[Plain]:
    """Return the controllers that an entry names, or the default of its model if it is valid."""
    given = entry.controller
    if given is None:
        return [] if model is None else [model.default_controller]
    return given if isinstance(given, list) else [given]


def accepted_types(controllers: Iterable[Plain], model: VehicleModel | None) -> tuple[type, ...]:
    """Return the command types that registered controllers and those of the model lead from.

    Controllers of the user's own are left out, as their command types are not known yet.
    """
    if model is None:
        return COMMAND_TYPES
    known = [CONTROLLERS.find(name) for name in model.builtin_controllers]
    levels = [*valid_parts(map(_controller_type, controllers)), *known]

    def leads_on(command_type: type) -> bool:
        try:
            cascade_path(levels, command_type, model.dynamics.command_type)
        except CascadeError:
            return False
        return True

    return tuple(filter(leads_on, COMMAND_TYPES))


def valid_parts(parts: Iterable[Part | None]) -> tuple[Part, ...]:
    """Return the parts without those that are invalid."""
    return tuple(part for part in parts if part is not None)


def _avoidance_outside_cascade(avoidance: AbstractAvoidance, passed: set[type]) -> str:
    command_type = avoidance.command_type.__name__
    ways = ", ".join(sorted(one.__name__ for one in passed - {MotorsOff}))
    name = AVOIDANCE.name_of(type(avoidance))
    there = " ".join(_fitting_controllers(end, command_type) for end in ("produces", "consumes"))
    return (
        f"{name} changes {command_type}, and the cascade passes {ways}. Write controllers that "
        f"pass {command_type}. {there}"
    )


def _fitting_controllers(end: Literal["consumes", "produces"], command_type: str) -> str:
    """Return in words the controllers whose input or output is of a type."""
    fitting = [
        name
        for name in CONTROLLERS.names()
        if getattr(CONTROLLERS.find(name), end).__name__ == command_type
    ]
    side = "from" if end == "consumes" else "to"
    return f"Controllers {side} {command_type}: {', '.join(fitting) or 'none is registered'}."
