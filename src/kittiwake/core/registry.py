"""Registries: names of the models that a scenario can use, found without importing them.

A family's ``__init__`` contains one registry, with one line per entry. Other packages add entries
by an entry point in the group ``kittiwake.<family>`` (``name = "package.module:Class"``).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from typing import Any, TypeAlias

from kittiwake.core.errors import RegistryError, did_you_mean, listed

# class or function
Registered: TypeAlias = Any


@dataclass(frozen=True)
class RegistryEntry:
    """Import path and one-line description of a registered object."""

    target: str
    summary: str


@dataclass(frozen=True)
class Registry:
    """Registered objects of one family, by name.

    Attributes:
        family: the family's name, as in ``kittiwake list``.
        noun: one of them in messages.
        builtin: the package's own entries.
        entry_keys: keys of an entry in a scenario file beside the component's parameters.
    """

    family: str
    noun: str
    builtin: dict[str, RegistryEntry] = field(hash=False)
    entry_keys: tuple[str, ...] = ()

    @cached_property
    def entries(self) -> dict[str, RegistryEntry]:
        """All entries, including those of other packages, which cannot replace a builtin name."""
        installed = {
            point.name: RegistryEntry(point.value, f"from {point.value.split(':')[0]}")
            for point in _installed(tuple(sys.path))(group=f"kittiwake.{self.family}")
        }
        return {**installed, **self.builtin}

    def without(self, name: str) -> "Registry":
        """Return the registry without one of its builtin entries."""
        others = {key: entry for key, entry in self.builtin.items() if key != name}
        return Registry(self.family, self.noun, others, self.entry_keys)

    def names(self) -> list[str]:
        """Return all registered names in alphabetical order."""
        return sorted(self.entries)

    def listed_names(self) -> str:
        """Return the first of the names, and the command that lists all of them."""
        return listed(self.names(), self._shown_by)

    def unknown(self, name: str) -> str:
        """Return the message for a name that is not registered, with a suggestion."""
        known = did_you_mean(name, self.entries, self._shown_by)
        return f"there is no {self.noun} '{name}'. {known}"

    @property
    def _shown_by(self) -> str:
        return f"kittiwake list {self.family}"

    def name_of(self, thing: Registered) -> str:
        """Return the name of a registered class or function."""
        return next(name for name in self.names() if self.find(name) is thing)

    def python_name(self, name: str) -> str:
        """Return the name of an entry's specification in Python."""
        return self.entries[name].target.rpartition(":")[2]

    def parameters_of(self, name: str) -> type[Any]:
        """Return the class whose fields are the parameters of an entry."""
        return self.find(name)

    def registered_name(self, thing: Registered) -> str | None:
        """Return the name of a class; None if it is not registered."""
        target = f"{thing.__module__}:{thing.__qualname__}"
        return next((name for name, one in self.entries.items() if one.target == target), None)

    def find(self, name: str) -> Registered:
        """Return the class or function with this name.

        Raises:
            RegistryError: if there is none; the message suggests a similar name.
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


@lru_cache(1)
def _installed(path: tuple[str, ...]) -> Callable[..., EntryPoints]:
    """Return the selection from all entry points on the path, which are read once."""
    del path
    return entry_points().select
