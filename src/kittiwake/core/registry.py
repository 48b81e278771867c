"""Names for things that a scenario can ask for, found without importing them.

A family's ``__init__`` holds one registry, one line an entry. Other packages add theirs by an entry
point in the group ``kittiwake.<family>`` (``name = "package.module:Class"``).
"""

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from kittiwake.core.errors import RegistryError, did_you_mean, listed


@dataclass(frozen=True)
class RegistryEntry:
    """Where a registered thing is defined, and what it is in a few words."""

    target: str
    summary: str


@dataclass(frozen=True)
class Registry:
    """The things of one family by name."""

    family: str
    noun: str
    builtin: dict[str, RegistryEntry] = field(hash=False)

    @cached_property
    def entries(self) -> dict[str, RegistryEntry]:
        """Every entry, those of other packages included; a builtin name cannot be taken over."""
        installed = {
            point.name: RegistryEntry(point.value, f"from {point.value.split(':')[0]}")
            for point in entry_points(group=f"kittiwake.{self.family}")
        }
        return {**installed, **self.builtin}

    def without(self, name: str) -> "Registry":
        """The same, without one of its builtin entries."""
        others = {key: entry for key, entry in self.builtin.items() if key != name}
        return Registry(self.family, self.noun, others)

    def names(self) -> list[str]:
        """All registered names in alphabetical order."""
        return sorted(self.entries)

    def listed_names(self) -> str:
        """Return the first of the names, and the command that lists all of them."""
        return listed(self.names(), self._shown_by)

    def unknown(self, name: str) -> str:
        """Return a sentence about a name that is not registered, with the one that is near."""
        known = did_you_mean(name, self.entries, self._shown_by)
        return f"there is no {self.noun} '{name}'. {known}"

    @property
    def _shown_by(self) -> str:
        return f"kittiwake list {self.family}"

    def name_of(self, thing: Any) -> str:
        """The name of a registered class or function."""
        return next(name for name in self.names() if self.find(name) is thing)

    def find(self, name: str) -> Any:
        """The class or function with this name.

        Raises:
            RegistryError: if nothing has this name; the message names the nearest one.
        """
        if name not in self.entries:
            raise RegistryError(self.unknown(name))
        target = self.entries[name].target
        module, _, attribute = target.partition(":")
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            message = f"the {self.noun} '{name}' cannot be imported from '{target}': {error}"
            raise RegistryError(message) from error
