"""Teams of vehicles and their leaders."""

from collections.abc import Mapping, Sequence

from kittiwake.core.copies import distinct
from kittiwake.core.errors import did_you_mean
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.partners import built_vehicle_names
from kittiwake.scenario.problems import ProblemList
from kittiwake.scenario.schema import VehicleSchema
from kittiwake.sim.team_radio import Membership

# the team of vehicles without a team key
COMMON = "all"


def teams(
    entries: Mapping[str, VehicleSchema],
    vehicles: Mapping[str, AssembledVehicle],
    problems: ProblemList,
) -> dict[str, Membership]:
    """Return team and leader of each vehicle, in file order; notes wrong leaders."""
    found: dict[str, Membership] = {}
    for name, entry in entries.items():
        own_names = built_vehicle_names(name, entry, vehicles)
        wrong = _wrong_leader(name, entry.leader, own_names, vehicles)
        if wrong is not None:
            problems.add(("vehicles", name, "leader"), wrong)
        leader = entry.leader if wrong is None else None
        found |= dict.fromkeys(own_names, Membership(entry.team or COMMON, leader))
    return found


def _wrong_leader(
    name: str,
    leader: str | None,
    own_names: Sequence[str],
    vehicles: Mapping[str, AssembledVehicle],
) -> str | None:
    """Return the mistake in the leader of an entry, or about a missing leader."""
    if leader is None:
        guidances = distinct(vehicles[own].guidance for own in own_names)
        required = any(part.component.requires_leader for part in guidances.values())
        return "is missing; write the name of the vehicle to follow" if required else None
    if leader == name or leader in own_names:
        return f"{leader} would follow itself; write another vehicle"
    if leader in vehicles:
        return None
    own = {*own_names}
    others = [other for other in vehicles if other not in own]
    known = did_you_mean(leader, others) if others else "There is no other vehicle; add one"
    return f"there is no vehicle '{leader}'. {known}"
