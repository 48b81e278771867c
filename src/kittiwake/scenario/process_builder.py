"""Builder of a world's processes, such as plumes and waves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kittiwake.core.component import Scheduled
from kittiwake.environment import FIELDS, PLUMES, SATELLITES, TERRAINS
from kittiwake.environment import WAVES as WAVE_MODELS
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.problems import KeyPath
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.satellites import SKY
from kittiwake.world.terrain import TERRAIN
from kittiwake.world.waves import WAVES
from kittiwake.world.world import WorldModel

# process types of which a world has at most one, and types with user-chosen names
SINGLE = {SKY: SATELLITES, TERRAIN: TERRAINS, WAVES: WAVE_MODELS}
NAMED = {"plumes": PLUMES, "fields": FIELDS}
KEYS = (*SINGLE, *NAMED)

# process types by path in the file; None for invalid ones
Kinds = Mapping[KeyPath, Scheduled[AbstractProcessKind] | None]


@dataclass
class ProcessBuilder:
    """Builder of the processes of one document's world."""

    components: ComponentBuilder

    def kinds(self, data: dict[str, Any]) -> Kinds:
        """Return the given process types, which are removed from the world's data."""
        found: dict[KeyPath, Scheduled[AbstractProcessKind] | None] = {}
        for key, registry in SINGLE.items():
            entry = data.pop(key, None)
            # null in an override removes an entry of the scenario
            if entry is not None:
                path = ("world", key)
                found[path] = self.components.scheduled(registry, entry, path)
        for key, registry in NAMED.items():
            entries = data.pop(key, {})
            if not isinstance(entries, dict):
                message = f"write a mapping of names, with a {registry.noun} under each"
                self.components.problems.add(("world", key), message)
                found[("world", key)] = None
                continue
            for name, entry in entries.items():
                path = ("world", key, name)
                found[path] = self.components.scheduled(registry, entry, path)
        return found

    def processes(
        self, kinds: Kinds, world: WorldModel
    ) -> dict[str, Scheduled[AbstractProcess]] | None:
        """Return the processes by name, or None after collecting a mistake in one of them.

        A process has the name of its path under ``world``.
        """
        processes: dict[str, Scheduled[AbstractProcess]] = {}
        for path, kind in kinds.items():
            with self.components.problems.collecting(path):
                if kind is not None:
                    period_s = kind.every / self.components.rate_hz
                    process = kind.component.process(world, period_s)
                    processes[".".join(map(str, path[1:]))] = Scheduled(process, kind.every)
        return processes if len(processes) == len(kinds) else None
