"""Tune the gains of a control cascade by the gradient of whole flights.

The AR.Drone's PID cascade flies a figure of eight in wind, with noise in its estimates. Adam
minimizes the mean squared tracking error over the logarithms of the gains, which keeps them
positive. A circle in other winds validates the result.
"""

import argparse
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import yaml
from matplotlib.figure import Figure

import kittiwake as kw

SECONDS, WINDS = 14.0, 4
CONTROLLER = "uav-usv-cascade"
PID = ("proportional", "integral_per_s", "derivative_s")
# all gains that are not zero
TUNED: dict[str, tuple[str, ...]] = {"position": PID[:2], "velocity": PID[::2]}
TUNED |= dict.fromkeys(("roll", "pitch", "yaw", "height"), PID)
NAMES = [(loop, term) for loop, terms in TUNED.items() for term in terms]


def loaded(position_world_m: list[float], velocity_world_mps: list[float], **curve: Any) -> Any:
    """Return a simulation of the AR.Drone in wind, on a curve that begins at this start."""
    drone = {
        "start": {"position_world_m": position_world_m, "velocity_world_mps": velocity_world_mps},
        "estimator": "noisy-truth",
        # hover throttle in percent, so that no flight begins with a fall
        "controller": {"type": CONTROLLER, "height": {"initial": 65.7}},
        "guidance": {"type": "curve", "center_world_m": [0, 0, 6], **curve},
    }
    changes: dict[str, Any] = {f"vehicles.ar-drone.{key}": value for key, value in drone.items()}
    changes["world.wind"] = {"type": "shear", "speed_at_6m_mps": 3, "from_deg": 45}
    changes["world.turbulence"] = {"type": "dryden", "speed_at_6m_mps": 3}
    return kw.load("step-ar-drone", changes, precision="float32")


def gains_of(fleet: Any) -> list[Any]:
    """Return the gains: vehicle group, level of its control cascade, loop, term."""
    cascade = fleet.groups[0].vehicle.cascade[0].component
    return [getattr(getattr(cascade, loop), term) for loop, term in NAMES]


def flown(simulation: kw.Simulation, logarithms: jax.Array, seed: int) -> tuple[Any, jax.Array]:
    """Return the mean squared error of flights in several winds, and the path of the first."""
    fleet = eqx.tree_at(gains_of, simulation.fleet, list(jnp.exp(logarithms)))

    def flight(number: jax.Array) -> tuple[jax.Array, jax.Array]:
        state = fleet.init(jax.random.fold_in(kw.seed_key(seed), number))
        keep = lambda groups: (groups[0].truth.position_world_m, groups[0].setpoint)  # noqa: E731
        _, (place, setpoint) = fleet.rollout(state, round(SECONDS / fleet.dt_s), keep)
        errors_m = jax.tree.map(jnp.subtract, setpoint.position_world_m, place)
        squares = sum(leaf**2 for leaf in jax.tree.leaves(errors_m))
        return squares.mean(), jnp.stack([place.x, place.y])[..., 0]

    errors, paths = jax.vmap(flight)(jnp.arange(WINDS))
    return errors.mean(), paths[0]


def tuned(simulation: kw.Simulation, steps: int) -> tuple[jax.Array, list[float]]:
    """Return the logarithms of tuned gains, and the RMS error before each step of Adam."""
    logarithms = jnp.log(jnp.asarray(gains_of(simulation.fleet)))
    optimizer = optax.adam(0.1)
    state, errors_m = optimizer.init(logarithms), []
    slope = jax.jit(jax.value_and_grad(lambda at: flown(simulation, at, seed=0)[0]))
    for _ in range(steps):
        error, gradient = slope(logarithms)
        change, state = optimizer.update(gradient, state)
        logarithms = optax.apply_updates(logarithms, change)
        errors_m.append(float(error) ** 0.5)
    return logarithms, errors_m


def main() -> None:
    """Tune on the eight, compare on both curves, save the gains and a plot."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--out", type=Path, default=Path("runs/tune_gains"))
    given = parser.parse_args()
    eight = {"amplitude_world_m": [3, 1.5, 0], "angular_rates_radps": [0.5, 1, 0]}
    circle = {"amplitude_world_m": [2, 2, 0], "angular_rates_radps": [0.7, 0.7, 0]}
    curves = {
        "eight": loaded([0, 0, 6], [1.5, 1.5, 0], **eight),
        "circle": loaded([2, 0, 6], [0, 1.4, 0], phases_deg=[90, 0, 0], **circle),
    }
    hand = jnp.log(jnp.asarray(gains_of(curves["eight"].fleet)))
    better, errors_m = tuned(curves["eight"], given.steps)
    gains: dict[str, Any] = {"type": CONTROLLER}
    for (loop, term), before, after in zip(NAMES, jnp.exp(hand), jnp.exp(better), strict=True):
        print(f"{loop + '.' + term:>24} {before:9.4g} -> {after:9.4g}")
        gains.setdefault(loop, {})[term] = float(f"{after:.4g}")
    figure = Figure(figsize=(12, 4), layout="constrained")
    axes = figure.subplots(1, 3)
    for seed, (name, simulation) in enumerate(curves.items()):
        fly = jax.jit(lambda at, own=simulation, seed=seed: flown(own, at, seed))
        (first, path), (last, other_path) = fly(hand), fly(better)
        was_m, is_m = float(first) ** 0.5, float(last) ** 0.5
        print(f"{name:>24} {was_m:7.4f} m -> {is_m:7.4f} m RMS, ratio {is_m / was_m:.2f}")
        axes[seed].plot(*path, label="by hand")
        axes[seed].plot(*other_path, label="tuned")
        axes[seed].set(title=name, xlabel="east [m]", ylabel="north [m]", aspect="equal")
        axes[seed].legend()
    axes[2].semilogy(errors_m)
    axes[2].set(xlabel="step of Adam", ylabel="RMS error on the eight [m]")
    given.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.out / "tuning.png", dpi=120)
    piece = {"vehicles": {"ar-drone": {"controller": gains}}}
    (given.out / "gains.yaml").write_text(yaml.safe_dump(piece, sort_keys=False), encoding="utf-8")
    print(f"Saved: {given.out}/gains.yaml, tuning.png")


if __name__ == "__main__":
    main()
