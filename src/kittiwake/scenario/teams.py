"""Teams of vehicles and their leaders."""

from collections.abc import Mapping, Sequence

from kittiwake.core.errors import did_you_mean
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.partners import members_of
from kittiwake.scenario.problems import ProblemList
from kittiwake.scenario.schema import VehicleSchema
from kittiwake.sim.team_radio import Membership

# the team of vehicles without a team key
COMMON = "all"


def teams(
    entries: Mapping[str, VehicleSchema], vehicles: Mapping[str, Vehicle], problems: ProblemList
) -> dict[str, Membership]:
    """Return team and leader of each vehicle, in file order; notes wrong leaders."""
    found: dict[str, Membership] = {}
    for name, entry in entries.items():
        members = members_of(name, entry, vehicles)
        wrong = _wrong_leader(name, entry.leader, members, vehicles)
        if wrong is not None:
            problems.add(("vehicles", name, "leader"), wrong)
        leader = entry.leader if wrong is None else None
        found |= {member: Membership(entry.team or COMMON, leader) for member in members}
    return found


def _wrong_leader(
    name: str, leader: str | None, members: Sequence[str], vehicles: Mapping[str, Vehicle]
) -> str | None:
    """Return the mistake in the leader of an entry, or about a missing leader."""
    if leader is None:
        required = any(vehicles[member].guidance.component.requires_leader for member in members)
        return "is missing; write the name of the vehicle to follow" if required else None
    if leader == name or leader in members:
        return f"{leader} would follow itself; write another vehicle"
    if leader in vehicles:
        return None
    own = {*members}
    others = [other for other in vehicles if other not in own]
    known = did_you_mean(leader, others) if others else "There is no other vehicle; add one"
    return f"there is no vehicle '{leader}'. {known}"
