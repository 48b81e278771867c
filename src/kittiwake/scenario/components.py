"""From an entry of a scenario to a component: its name, its parameters, its rate."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from kittiwake.core.component import AbstractComponent
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.recording import Recording
from kittiwake.core.registry import Registry
from kittiwake.core.vehicle import Scheduled
from kittiwake.scenario.document import Document
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.problems import MAX_CHARACTERS, KeyPath, Plain, shortened
from kittiwake.scenario.tables import read_table
from kittiwake.sim.schedule import steps_between

MAX_FILE_CHARACTERS = 1000


@dataclass
class ComponentBuilder:
    """Builds the components of one document; what is wrong with them it notes.

    Attributes:
        document: where the entries are from.
        folder: where the scenario's own file names start.
        rate_hz: the physics rate.
        problems: takes the mistakes.
        tables: the recorded files that were read, by the path of the key that names them.
    """

    document: Document
    folder: Path
    rate_hz: float
    problems: ProblemList
    tables: dict[KeyPath, Path] = field(default_factory=dict)

    def scheduled(self, registry: Registry, entry: Plain, path: KeyPath) -> Any:
        """A component with its rate, or None after noting what is wrong."""
        rate_hz = entry.get("rate_hz") if isinstance(entry, dict) else None
        if isinstance(entry, dict):
            entry = {key: value for key, value in entry.items() if key != "rate_hz"}
        component = self.component(registry, entry, path)
        if component is None:
            return None
        with self.problems.noting((*path, "rate_hz")):
            return Scheduled(component, self._every(component, rate_hz))
        return None

    def _every(self, component: AbstractComponent, rate_hz: object) -> int:
        if rate_hz is None:
            return steps_between(self.rate_hz, component.default_rate_hz)
        if isinstance(rate_hz, bool) or not isinstance(rate_hz, int | float) or not rate_hz > 0:
            message = f"{shortened(rate_hz)} is not allowed; must be a number above 0"
            raise ScenarioError(message)
        return steps_between(self.rate_hz, float(rate_hz))

    def component(self, registry: Registry, entry: Plain, path: KeyPath) -> Any:
        """A component without a rate, or None after noting what is wrong."""
        parameters = dict(entry) if isinstance(entry, dict) else {"type": entry}
        kind = parameters.pop("type", None)
        with self.problems.noting((*path, "type")):
            if not isinstance(kind, str) or len(kind) > MAX_CHARACTERS:
                message = f"write the kind of {registry.noun}: one of {', '.join(registry.names())}"
                raise ScenarioError(message)
            cls = registry.find(kind)
            with self.problems.noting(path, placed=True):
                return build_component(
                    cls, self._with_tables(cls, parameters, path), self.document.where, path
                )
        return None

    def _with_tables(
        self, cls: type[Any], parameters: dict[str, Any], path: KeyPath
    ) -> dict[str, Any]:
        """The parameters with the names of recorded files replaced by their tables."""
        read = dict(parameters)
        for name, hint in get_type_hints(cls).items():
            if hint is Recording and isinstance(parameters.get(name), str):
                key = (*path, name)
                try:
                    file = self._file(parameters[name], key)
                    read[name] = read_table(file)
                except KittiwakeError as error:
                    raise ScenarioError(self.problems.sentence(key, str(error))) from None
                self.tables[key] = file
        return read

    def _file(self, name: str, path: KeyPath) -> Path:
        """A file that the scenario may read: in its folder, or wherever the command line says."""
        if len(name) > MAX_FILE_CHARACTERS:
            message = f"a file's name of {len(name)} characters; at most {MAX_FILE_CHARACTERS}"
            raise ScenarioError(message)
        if self.document.from_override(path):
            return Path(name)
        file = (self.folder / name).resolve()
        if Path(name).is_absolute() or not file.is_relative_to(self.folder.resolve()):
            message = (
                f"'{name}' lies outside the scenario's folder; move it there, or name it on the "
                "command line with --set"
            )
            raise ScenarioError(message)
        return file
