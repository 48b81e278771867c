"""Flock metrics of a team over time and as summary values.

order parameter    |sum v_i| / sum |v_i|: 1 for equal velocities, near 0 for random directions
                   (Vicsek et al. 1995, weighted by speed, so that members at rest do not count)
cohesion radius    the largest distance of a member from the centroid (Olfati-Saber 2006)
connectivity       rank of the Laplacian over N - 1 (Olfati-Saber 2006), which is
                   (N - parts) / (N - 1): 1 if the communication graph is connected
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.separation import min_separation
from kittiwake.analysis.table import POSITION_WORLD_M, VELOCITY_WORLD_MPS, at_common_times
from kittiwake.guidance.flock import Flock
from kittiwake.scenario.scenario import Scenario

# number of times at which the communication graph is evaluated
GRAPHS = 200
# mean speed below which the order parameter is undefined
LEAST_SPEED_MPS = 0.05
# distance to the target at which the centroid has arrived
ARRIVED_M = 0.2

Series = Float64[np.ndarray, " times"]


@dataclass(frozen=True, eq=False)
class Team:
    """Team of vehicles: communication range, and target of the centroid, if any."""

    name: str
    members: tuple[str, ...]
    reach_m: float
    target_world_m: Float64[np.ndarray, "3"] | None


@dataclass(frozen=True, eq=False)
class History:
    """Metrics of a team over time; ``graph_time_s`` are the times of ``connectivity``."""

    time_s: Series
    middle_world_m: Float64[np.ndarray, "times 3"]
    order: Series
    radius_m: Series
    nearest_m: Series
    graph_time_s: Float64[np.ndarray, " graphs"]
    connectivity: Float64[np.ndarray, " graphs"]

    def target_distance_m(self, target_world_m: Float64[np.ndarray, "3"]) -> Series:
        """Return the distance of the centroid from a target."""
        return np.linalg.norm(self.middle_world_m - target_world_m, axis=1)


def teams_of(scenario: Scenario) -> list[Team]:
    """Return the teams of two or more with a member whose guidance uses the radio."""
    by_team: dict[str, list[str]] = {}
    for name in scenario.vehicles:
        by_team.setdefault(scenario.teams[name].team, []).append(name)
    return [
        _team(scenario, name, members)
        for name, members in by_team.items()
        if len(members) > 1
        and any(scenario.vehicles[member].guidance.component.requires_radio for member in members)
    ]


def _team(scenario: Scenario, name: str, members: list[str]) -> Team:
    guidance = [scenario.vehicles[member].guidance.component for member in members]
    flocks = [one for one in guidance if isinstance(one, Flock)]
    radio = scenario.world.radio
    reach_m = float(getattr(radio.component, "range_m", np.inf)) if radio else np.inf
    reach_m = min([reach_m, *(float(flock.radius_m) for flock in flocks)])
    targets = {_target(flock) for flock in flocks} if len(flocks) == len(guidance) else {None}
    target = targets.pop() if len(targets) == 1 else None
    return Team(name, tuple(members), reach_m, None if target is None else np.array(target))


def _target(flock: Flock) -> tuple[float, ...] | None:
    """Return the target of the first behavior that has one."""
    for behavior in flock.behaviors:
        target = getattr(behavior, "target_world_m", None)
        if target is not None:
            return tuple(map(float, target.array))
    return None


def history(log: Log, team: Team) -> History:
    """Return a team's metrics at the times at which all members were logged."""
    tables = [log.tables[name] for name in team.members]
    time_s, columns = at_common_times(tables, (*POSITION_WORLD_M, *VELOCITY_WORLD_MPS))
    whole = np.isfinite(columns).all(axis=(1, 2))
    time_s, places, velocities = time_s[whole], columns[whole, :, :3], columns[whole, :, 3:]
    middle = places.mean(axis=1)
    speeds = np.linalg.norm(velocities, axis=2)
    sums = np.linalg.norm(velocities.sum(axis=1), axis=1)
    moving = speeds.mean(axis=1) > LEAST_SPEED_MPS
    rows = np.unique(np.linspace(0, max(len(time_s) - 1, 0), GRAPHS).astype(int))
    rows = rows[: len(time_s)]
    return History(
        time_s=time_s,
        middle_world_m=middle,
        order=np.where(moving, sums / np.where(moving, speeds.sum(axis=1), 1.0), np.nan),
        radius_m=np.linalg.norm(places - middle[:, None], axis=2).max(axis=1, initial=0.0),
        nearest_m=np.array([min_separation(one[None]) for one in places]),
        graph_time_s=time_s[rows],
        connectivity=np.array([_connectivity(places[row], team.reach_m) for row in rows]),
    )


def _connectivity(positions_m: Float64[np.ndarray, "members 3"], reach_m: float) -> float:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    members = len(positions_m)
    if not np.isfinite(reach_m):
        return 1.0
    pairs = KDTree(positions_m).query_pairs(reach_m, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), pairs.T), (members, members))
    parts, _ = connected_components(graph, directed=False)
    return (members - parts) / (members - 1)


def flock_metrics(log: Log, scenario: Scenario) -> dict[str, Any]:
    """Return the summary metrics of each team; empty without flocks."""
    metrics = {team.name: _metrics(history(log, team), team) for team in teams_of(scenario)}
    return {"flock": metrics} if metrics else {}


def _metrics(flown: History, team: Team) -> Mapping[str, Any]:
    if not len(flown.time_s):
        return {"members": len(team.members)}
    ordered = flown.order[np.isfinite(flown.order)]
    metrics: dict[str, Any] = {
        "members": len(team.members),
        "middle_world_m": flown.middle_world_m[-1].tolist(),
        "order_parameter": float(ordered.mean()) if len(ordered) else None,
        "cohesion_radius_m": float(flown.radius_m[-1]),
        "min_separation_m": float(flown.nearest_m.min()),
        "connectivity": float(flown.connectivity.min()),
    }
    if team.target_world_m is None:
        return metrics
    distance_m = flown.target_distance_m(team.target_world_m)
    away = np.flatnonzero(distance_m > ARRIVED_M)
    arrived = int(away[-1]) + 1 if len(away) else 0
    metrics["target_offset_m"] = float(distance_m[-1])
    metrics["time_to_target_s"] = (
        float(flown.time_s[arrived]) if arrived < len(distance_m) else None
    )
    return metrics
