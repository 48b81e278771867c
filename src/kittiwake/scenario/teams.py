"""Who flies with whom, and whom one follows."""

from collections.abc import Mapping

from kittiwake.core.errors import did_you_mean
from kittiwake.core.vehicle import Vehicle
from kittiwake.scenario.partners import members_of
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.schema import VehicleSchema
from kittiwake.sim.swarming import Membership

# of vehicles of which nothing is said
COMMON = "all"


def teams(
    entries: Mapping[str, VehicleSchema], vehicles: Mapping[str, Vehicle], problems: ProblemList
) -> dict[str, Membership]:
    """Team and leader of each vehicle, in the order of the file; a wrong leader is noted."""
    found: dict[str, Membership] = {}
    for name, entry in entries.items():
        path, leader = ("vehicles", name, "leader"), entry.leader
        members = members_of(name, entry, vehicles)
        if leader is not None and leader not in vehicles:
            others = [other for other in vehicles if other not in members]
            problems.note(path, f"there is no vehicle '{leader}'. {did_you_mean(leader, others)}")
            leader = None
        elif leader in members:
            problems.note(path, f"{leader} would follow itself; write another vehicle")
            leader = None
        found |= {member: Membership(entry.team or COMMON, leader) for member in members}
    return found
