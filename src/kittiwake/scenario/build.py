"""Builder of scenarios: looks up names, checks parameters and connects control cascades."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kittiwake.core.copies import distinct
from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.physics import PHYSICS
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.document import Document
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.joystick_settings import JoystickSettings
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.partners import partners
from kittiwake.scenario.problems import MAX_PROBLEMS, ProblemList, render_problems
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import TASK_POLICY, ScenarioSchema, TimeSettings, VehicleSchema
from kittiwake.scenario.size import (
    check_duration,
    check_entries,
    check_fleet_size,
    check_logged,
)
from kittiwake.scenario.starts import lost_start_messages
from kittiwake.scenario.teams import teams
from kittiwake.scenario.vehicle_builder import BuiltVehicles, VehicleBuilder
from kittiwake.scenario.world_builder import WorldBuilder
from kittiwake.sim.schedule import steps_between
from kittiwake.swarm import RADIOS
from kittiwake.world.world import WorldModel

# the longest flight that ends when its guidance is done
LONGEST_S = 3600.0
RADIO_KEY = ("world", "radio")
POLICY_KEY = ("policy",)


def build(
    document: Document,
    folder: Path,
    *,
    logged: bool = False,
    former: BuiltVehicles | None = None,
) -> Scenario:
    """Return the scenario that a document describes.

    Args:
        document: the parsed scenario file with overrides applied.
        folder: the folder to which file names in the scenario are relative.
        logged: whether the flight has a log, which limits the number of vehicles.
        former: vehicles of a scenario that was built before, to be used again where nothing but
            their start and the world differs.

    Raises:
        ScenarioError: one line for each mistake, with the place in the file.
    """
    problems = ProblemList(document.where)
    schema = _schema(document, problems)
    time = TimeSettings()
    with problems.collecting(("time",), placed=True):
        time = build_component(TimeSettings, schema.time, document.where, ("time",))
    components = ComponentBuilder(document, folder, float(time.rate_hz), problems)
    return _Builder(document, problems, components, logged, former).scenario(schema, time)


def _schema(document: Document, problems: ProblemList) -> ScenarioSchema:
    """Return the parts of the file; notes the invalid ones and keeps the valid ones."""
    try:
        return ScenarioSchema.model_validate(document.data)
    except ValidationError as error:
        problems.lines += render_problems(error, document.where).splitlines()
        places = [details["loc"] for details in error.errors(include_url=False)]
        # "[key]" marks an invalid name; the value under it may be valid
        broken = {place for place in places if place[-1] != "[key]"}
    given = document.data
    sound = {key: value for key, value in given.items() if (key,) not in {p[:1] for p in broken}}
    vehicles = given.get("vehicles")
    kept = {
        name: _sound_part(entry, {path[2] for path in broken if path[:2] == ("vehicles", name)})
        for name, entry in (vehicles.items() if isinstance(vehicles, dict) else ())
        if isinstance(entry, dict)
    }
    defaults = ScenarioSchema(name="unnamed", vehicles={"unnamed": VehicleSchema(model="")})
    return defaults.model_copy(update={**sound, "vehicles": kept})


def _sound_part(entry: dict[str, Any], broken: set[str | int]) -> VehicleSchema:
    """Return a vehicle without its invalid keys; without sensors the estimator is dropped, too."""
    left_out = {*broken, "estimator"} if "sensors" in broken else broken
    return VehicleSchema.model_construct(
        **{key: value for key, value in entry.items() if key not in left_out}
    )


@dataclass
class _Builder:
    document: Document
    problems: ProblemList
    components: ComponentBuilder
    logged: bool
    former: BuiltVehicles | None

    def scenario(self, schema: ScenarioSchema, time: TimeSettings) -> Scenario:
        self._check_size(schema)
        physics = self.components.component(PHYSICS, schema.physics, ("physics",))
        settings, world, turbulence = WorldBuilder(self.components).build(schema.world)
        if world is not None and physics is not None:
            world = replace(world, solid=physics.solid)
        builder = VehicleBuilder(self.components, settings, world, turbulence, self.former)
        vehicles: dict[str, AssembledVehicle] = {}
        for name, entry in schema.vehicles.items():
            for member, vehicle in builder.build(name, entry).items():
                if member in vehicles:
                    self.problems.add(("vehicles", name), f"there are two vehicles '{member}'")
                vehicles[member] = vehicle
        pairs = partners(schema.vehicles, vehicles, world, self.problems)
        memberships = teams(schema.vehicles, vehicles, self.problems)
        if (
            world is not None
            and world.radio is None
            and any(one.requires_radio for one in _guidances(vehicles))
        ):
            world = replace(world, radio=self.components.scheduled(RADIOS, "ideal", RADIO_KEY))
        joystick = self.components.settings(JoystickSettings, schema.joystick, ("joystick",))
        ros = self.components.settings(RosSettings, schema.ros, ("ros",))
        policy = self._policy(schema)
        duration_s = self._duration_s(time, vehicles)
        log_every, rate_hz = 1, float(time.rate_hz)
        with self.problems.collecting(("time", "log_rate_hz")):
            log_every = steps_between(rate_hz, time.log_rate_hz, "log_rate_hz")
        if world is not None and schema.lost_vehicle == "fail":
            self._note_lost_starts(world, vehicles)
        self.problems.raise_if_any()
        assert world is not None
        assert physics is not None
        with self.problems.collecting(("physics",)):
            physics.engine(world, vehicles)
        self.problems.raise_if_any()
        return Scenario.of(
            document=self.document,
            folder=self.components.folder,
            name=schema.name,
            description=schema.description,
            seed=schema.seed,
            duration_s=duration_s,
            rate_hz=rate_hz,
            log_every=log_every,
            until_done=bool(time.until_done),
            fails_when_lost=schema.lost_vehicle == "fail",
            world=world,
            physics=physics,
            vehicles=vehicles,
            partners=pairs,
            teams=memberships,
            tables=self.components.tables,
            inlined=self.components.inlined,
            notes=tuple(self.components.notes),
            joystick=joystick,
            ros=ros,
            policy=policy,
            draws={},
            built=builder.built,
        )

    def _check_size(self, schema: ScenarioSchema) -> None:
        """Refuse too many vehicles before any is built, which would take long."""
        count = sum(entry.count or 1 for entry in schema.vehicles.values())
        try:
            check_entries(len(schema.vehicles))
            check_fleet_size(count, paired="interactions" in schema.world)
            if self.logged:
                check_logged(count)
        except ScenarioError as error:
            self.problems.add(("vehicles",), str(error))
            self.problems.raise_if_any()

    def _policy(self, schema: ScenarioSchema) -> Network | str | None:
        if schema.policy is None or (schema.policy == TASK_POLICY and schema.task is not None):
            return schema.policy
        with self.problems.collecting(POLICY_KEY):
            if schema.task is None:
                message = "there is no task whose agents it could fly; write task: keep-spot"
                raise ScenarioError(message)
            return self.components.read(Network, schema.policy, POLICY_KEY)
        return None

    def _note_lost_starts(
        self, world: WorldModel, vehicles: Mapping[str, AssembledVehicle]
    ) -> None:
        for problem in islice(lost_start_messages(world, vehicles), MAX_PROBLEMS):
            advice = "move the start, or write lost_vehicle: continue"
            self.problems.add(("vehicles",), f"{problem}; {advice}")

    def _duration_s(self, time: TimeSettings, vehicles: Mapping[str, AssembledVehicle]) -> float:
        ends = [guidance.end_s() for guidance in _guidances(vehicles)]
        finite = [end for end in ends if end]
        if time.until_done:
            finite.append(LONGEST_S)
            if not any(guidance.ends for guidance in _guidances(vehicles)):
                message = "no guidance of this scenario has an end; omit it, and write duration_s"
                self.problems.add(("time", "until_done"), message)
        if time.duration_s is None and not finite:
            if self.problems.lines:  # an invalid guidance may have given the duration
                return 0.0
            message = "is missing; write how long to fly, such as duration_s: 60"
            self.problems.add(("time", "duration_s"), message)
            return 0.0
        duration_s = float(time.duration_s if time.duration_s is not None else max(finite))
        with self.problems.collecting(("time", "duration_s")):
            check_duration(duration_s, float(time.rate_hz))
        return duration_s


def _guidances(vehicles: Mapping[str, AssembledVehicle]) -> list[AbstractGuidance]:
    """Return the guidance of all vehicles, each shared one once."""
    parts = distinct(vehicle.guidance for vehicle in vehicles.values())
    return [part.component for part in parts.values()]
