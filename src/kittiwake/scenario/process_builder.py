"""From a scenario's ``world`` to what evolves in it by itself, such as plumes and waves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kittiwake.core.component import Scheduled
from kittiwake.environment import FIELDS, PLUMES, SATELLITES, TERRAINS
from kittiwake.environment import WAVES as KINDS_OF_WAVES
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.problems import KeyPath
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.satellites import SKY
from kittiwake.world.terrain import TERRAIN
from kittiwake.world.waves import WAVES
from kittiwake.world.world import World

# of which a world has one at most, and of which it has several by names of the user's own
SINGLE = {SKY: SATELLITES, TERRAIN: TERRAINS, WAVES: KINDS_OF_WAVES}
NAMED = {"plumes": PLUMES, "fields": FIELDS}
KEYS = (*SINGLE, *NAMED)

# by their places in the file; None for what was refused
Kinds = Mapping[KeyPath, Scheduled[AbstractProcessKind] | None]


@dataclass
class ProcessBuilder:
    """Builds the processes of one document's world."""

    components: ComponentBuilder

    def kinds(self, data: dict[str, Any]) -> Kinds:
        """What is given of them, taken out of the world's data."""
        found: dict[KeyPath, Scheduled[AbstractProcessKind] | None] = {}
        for key, registry in SINGLE.items():
            entry = data.pop(key, None)
            # null takes away what a scenario has, as an override does
            if entry is not None:
                path = ("world", key)
                found[path] = self.components.scheduled(registry, entry, path)
        for key, registry in NAMED.items():
            entries = data.pop(key, {})
            if not isinstance(entries, dict):
                message = f"write names, and under each the {registry.noun} that it stands for"
                self.components.problems.note(("world", key), message)
                found[("world", key)] = None
                continue
            for name, entry in entries.items():
                path = ("world", key, name)
                found[path] = self.components.scheduled(registry, entry, path)
        return found

    def processes(self, kinds: Kinds, world: World) -> dict[str, Scheduled[AbstractProcess]] | None:
        """The processes by name, or None if something is wrong with one of them, which is noted.

        A process is named like its place under ``world``.
        """
        processes: dict[str, Scheduled[AbstractProcess]] = {}
        for path, kind in kinds.items():
            with self.components.problems.noting(path):
                if kind is not None:
                    period_s = kind.every / self.components.rate_hz
                    process = kind.component.process(world, period_s)
                    processes[".".join(map(str, path[1:]))] = Scheduled(process, kind.every)
        return processes if len(processes) == len(kinds) else None
