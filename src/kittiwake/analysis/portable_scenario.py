"""Portable form of a scenario: a text and the files beside it, as a run folder holds them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PortableScenario:
    """A scenario that needs nothing outside one folder.

    Attributes:
        text: the scenario as YAML.
        files: its data files, by the names that the text gives them.
    """

    text: str
    files: Mapping[str, Path]
