"""Portable form of a scenario: a text and the files beside it, as a run folder holds them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from typing_extensions import override


@dataclass(frozen=True, eq=False)
class PortableScenario:
    """A scenario that needs nothing outside one folder.

    Attributes:
        write: returns the scenario as YAML; called once, if the text is needed.
        files: its data files, by the names that the text gives them.
    """

    write: Callable[[], str]
    files: Mapping[str, Path]

    @cached_property
    def text(self) -> str:
        """The scenario as YAML."""
        return self.write()

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PortableScenario):
            return False
        return (self.text, self.files) == (other.text, other.files)

    @override
    def __hash__(self) -> int:
        return hash(self.text)
