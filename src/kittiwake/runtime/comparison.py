"""Several controllers on one scenario and the same seeds."""

from collections.abc import Callable, Sequence

from kittiwake.analysis.response import Trial, response
from kittiwake.core.vehicle import Vehicle
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.variants import noise_items, with_controllers


def compare(
    scenario: str,
    controllers: Sequence[str],
    *,
    seeds: int = 1,
    overrides: Sequence[str] = (),
    noise: Sequence[str] | None = None,
    begun: Callable[[str], None] = lambda _: None,
) -> list[Trial]:
    """Flies each on the same scenario and the same seeds, counted from the scenario's.

    Args:
        scenario: a library name, or the path of a file.
        controllers: names, or several joined by ``+`` that are to be flown together.
        seeds: how many flights of each.
        overrides: changes to the scenario, such as ``time.duration_s=20``.
        noise: deviations for the estimator ``noisy-truth``, such as ``position_m=0.1``, in place
            of the scenario's estimator; none of it if None.
        begun: hears of each flight before it begins.

    Raises:
        ScenarioError: for a controller that does not fly a vehicle of this scenario.
    """
    items = list(overrides)
    if noise is not None:
        items += noise_items(load_scenario(scenario, overrides), noise)
    variants = {name: with_controllers(scenario, name, items) for name in controllers}
    trials: list[Trial] = []
    for name, variant in variants.items():
        simulation = Simulation(variant)
        for seed in range(variant.seed, variant.seed + seeds):
            begun(f"{name}, seed {seed}")
            log = simulation.run(seed=seed)
            status = str((log.summary or {})["status"])
            for vehicle, parts in variant.vehicles.items():
                table = log.tables[vehicle]
                found = response(table, _bounds(parts))
                trials.append(Trial(name, vehicle, seed, status, found, table))
    return trials


def _bounds(vehicle: Vehicle) -> dict[str, tuple[float, float]]:
    bounds = vehicle.dynamics.command_bounds
    return {column: (float(low), float(high)) for column, (low, high) in bounds.items()}
