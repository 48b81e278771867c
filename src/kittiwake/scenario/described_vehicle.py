"""Vehicle that another program describes in text, for which no file of this machine is read.

The text is a URDF, the name of a vehicle model, or an entry of ``vehicles`` in YAML.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.files.urdf import mass_properties_of
from kittiwake.scenario.merging import merged
from kittiwake.scenario.plain_yaml import YamlSource
from kittiwake.scenario.problems import shortened

MAX_CHARACTERS = 20_000
# as in a scenario of the drone of uav_gazebo, which waits for commands with its motors off
URDF_VEHICLE: Mapping[str, Any] = {
    "model": "uav-gazebo",
    "controller": ["position", "uav-gazebo-velocity", "euler-attitude"],
    "guidance": {"type": "mission", "steps": [{"do": "idle"}]},
}


@dataclass(frozen=True)
class DescribedVehicle:
    """Entry of one vehicle, in which no key may name a file."""

    entry: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str, source: str) -> "DescribedVehicle":
        """Return the vehicle that a text describes.

        Args:
            text: a URDF, the name of a model, or an entry in YAML.
            source: the name of the text in messages.

        Raises:
            ScenarioError: if the text is none of these, or describes several vehicles.
        """
        if text.lstrip("\ufeff \t\r\n").startswith("<"):
            properties = asdict(mass_properties_of(text, source))
            return cls({**URDF_VEHICLE, "parameters": properties})
        if len(text) > MAX_CHARACTERS:
            message = f"`{source}`: got {len(text)} characters; must be at most {MAX_CHARACTERS}"
            raise ScenarioError(message)
        entry, _ = plain_yaml.read(text, YamlSource(source))
        if isinstance(entry, str):
            entry = {"model": entry}
        if not isinstance(entry, dict):
            message = (
                f"`{source}`: got {shortened(entry)}; must be a URDF, the name of a vehicle model, "
                "or a vehicle's entry in YAML, such as {model: pelican}"
            )
            raise ScenarioError(message)
        if "count" in entry:
            message = f"`{source}`: `count` is not allowed here; add the vehicles one by one"
            raise ScenarioError(message)
        return cls(entry)

    def at(self, start: Start) -> "DescribedVehicle":
        """Return the vehicle with another pose at its start."""
        place, written = start.position_world_m, self.entry.get("start")
        pose = {
            "position_world_m": [place.x, place.y, place.z],
            "roll_rad": start.roll_rad,
            "pitch_rad": start.pitch_rad,
            "yaw_rad": start.yaw_rad,
        }
        placed = merged(written, pose) if isinstance(written, dict) else pose
        return DescribedVehicle({**self.entry, "start": placed})
