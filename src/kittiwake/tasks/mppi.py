"""Model predictive path integral control with a task's own steps and rewards.

A plan is a sequence of actions at knots, with linear interpolation between them. With R_k the
return of a sampled plan U_k over the horizon in the model, from the agents' estimated motion::

    U_k = clip(U + e_k, -1, 1),    e_k ~ N(0, diag(sigma^2)) at each knot, e_0 = 0
    w_k = exp((R_k - max R) / lambda) / sum_j exp((R_j - max R) / lambda)
    U  <- sum_k w_k U_k

A temperature lambda of 0 takes the best sample. The knots are fixed in time: past knots are
dropped and the last one is repeated, so that shifting a plan does not blur it.

Source: Williams, Wagener, Goldfain, Drews, Rehg, Boots, Theodorou (2017), "Information theoretic
MPC for model-based reinforcement learning", ICRA; without its cost of noise against the plan: the
reward alone contains the cost of actions. Noise at knots replaces its smoothing filter of actions.

Known to the planner: the agents' estimated position, attitude, velocity and rates; all values drawn
for the episode, such as positions of obstacles; the task's memory, which may contain the truth; the
time. Unknown: estimation errors, the states of gusts, rotors, sensors and controllers, and future
noise. These states are initialized in the model, with noise of its own, also if the model is the
environment itself.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.vector_env import axes_of, with_tick

AXIS = "samples"
# tolerance for a whole number of control steps between two knots
WHOLE_TOLERANCE = 1e-6


class MppiPlan(NamedTuple):
    """Plan of actions.

    Attributes:
        knots: actions at evenly spaced times, the first one now or in the past.
        age: control steps since the first knot.
    """

    knots: Float[Array, "knots numbers"]
    age: Integer


class Mppi:
    """Controller of all agents of an environment.

    ``init_plan`` and ``act`` are pure and can be jitted and mapped.

    Args:
        env: controlled environment.
        model: environment of the same task for planning, by default ``env``; it may be coarser.
            Its rate is that of the steps in a plan.
        samples: number of plans that are sampled in each control step.
        horizon_s: length of a plan.
        knot_s: time between two knots, a multiple of the control step.
        temperature: lambda, in units of the return.
        deviations: sigma, for each number of an action or one for all.

    Raises:
        ScenarioError: if the model does not fit the environment.
        ValueError: for invalid numbers.
    """

    def __init__(
        self,
        env: Env,
        model: Env | None = None,
        *,
        samples: int = 1024,
        horizon_s: float = 2.0,
        knot_s: float = 0.4,
        temperature: float = 0.1,
        deviations: float | Sequence[float] = 0.5,
    ) -> None:
        self.env, self.model = env, env if model is None else model
        _check_fit(self.env, self.model)
        _check_numbers(samples, horizon_s, knot_s, temperature)
        _check_deviations(deviations, env.action_size)
        _check_knots(knot_s, float(env.task.rate_hz))
        self.samples, self.temperature, self.deviations = samples, temperature, deviations
        self.steps = max(1, round(horizon_s * float(self.model.task.rate_hz)))
        self.knot_s = knot_s
        self.steps_per_knot = max(1, round(knot_s * float(env.task.rate_hz)))
        # one more, since the first knot may be a whole interval old
        self.knots = math.ceil(horizon_s / knot_s) + 2

    def init_plan(self) -> MppiPlan:
        """Return the initial plan: actions at rest."""
        return MppiPlan(
            jnp.zeros((self.knots, self.env.action_size), jnp.result_type(float)),
            jnp.zeros((), jnp.int32),
        )

    def act(
        self, plan: MppiPlan, state: EnvState, key: PRNGKeyArray
    ) -> tuple[MppiPlan, Float[Array, " numbers"]]:
        """Return the improved plan, shifted by a control step, and the action of this step."""
        about, within = jax.random.split(key)
        motion, elapsed_s = self.env.estimates(state), self.env.elapsed_s(state)
        world = self.model.continue_episode(within, motion, state, elapsed_s)
        plans = sample_plans(plan.knots, jnp.asarray(self.deviations), self.samples, about)
        knots = weighted_mean(plans, self.returns(world, plans, plan.age), self.temperature)
        better = MppiPlan(knots, plan.age)
        return self.shift(better), self.action(better, 0.5 / self.env.task.rate_hz)

    def returns(
        self, world: EnvState, plans: Float[Array, "samples knots numbers"], age: Integer
    ) -> Float[Array, " samples"]:
        """Return the return of each plan in a world of the model, up to the episode's end."""
        model, count = self.model, len(plans)
        axes = axes_of(world)
        worlds = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), world)

        def control_step(carry: ArrayTree, ahead_s: Real) -> tuple[ArrayTree, None]:
            worlds, running, returns = carry
            actions = jax.vmap(lambda knots: self.action(MppiPlan(knots, age), ahead_s))(plans)
            step = jax.vmap(
                lambda own, action: model.step_in_batch(AXIS, own.key, own, action),
                in_axes=(axes, 0),
                axis_name=AXIS,
            )(worlds, actions)
            returns = returns + jnp.where(running, step.reward, 0.0)
            running = running & ~(step.terminated | step.truncated)
            later = with_tick(step.state, worlds.fleet.tick + model.physics_steps_per_action)
            return (later, running, returns), None

        worlds = with_tick(worlds, world.fleet.tick)
        first = (worlds, jnp.ones(count, bool), jnp.zeros(count, plans.dtype))
        middles = (jnp.arange(self.steps, dtype=plans.dtype) + 0.5) / model.task.rate_hz
        (_, _, returns), _ = jax.lax.scan(control_step, first, middles)
        return returns

    def action(self, plan: MppiPlan, ahead_s: Real) -> Float[Array, " numbers"]:
        """Return the action of a plan at a time from now."""
        age = jnp.asarray(plan.age, plan.knots.dtype)
        place = age / self.steps_per_knot + ahead_s / self.knot_s
        before = jnp.clip(jnp.floor(place), 0, self.knots - 2)
        share = jnp.clip(place - before, 0.0, 1.0)
        first = before.astype(jnp.int32)
        return plan.knots[first] * (1.0 - share) + plan.knots[first + 1] * share

    def shift(self, plan: MppiPlan) -> MppiPlan:
        """Return the plan shifted by a control step."""
        age = plan.age + 1
        past = age >= self.steps_per_knot
        rolled = jnp.concatenate([plan.knots[1:], plan.knots[-1:]])
        return MppiPlan(jnp.where(past, rolled, plan.knots), jnp.where(past, 0, age))


def _check_numbers(samples: int, horizon_s: float, knot_s: float, temperature: float) -> None:
    given = {"horizon_s": horizon_s, "knot_s": knot_s}
    wrong = [f"{name}: got {value}" for name, value in given.items() if not 0.0 < value < math.inf]
    if wrong:
        message = f"{', '.join(wrong)}; must be above 0"
        raise ValueError(message)
    if isinstance(samples, bool) or not hasattr(samples, "__index__") or samples < 1:
        message = f"samples: got {samples!r}; must be a whole number, 1 or more"
        raise ValueError(message)
    if not 0.0 <= temperature < math.inf:
        message = f"temperature: got {temperature}; must be 0, for the best plan, or more"
        raise ValueError(message)


def _check_knots(knot_s: float, rate_hz: float) -> None:
    steps = knot_s * rate_hz
    if steps < 0.5 or abs(steps - round(steps)) > WHOLE_TOLERANCE:
        fitting = max(1, round(steps)) / rate_hz
        message = (
            f"knot_s: got {knot_s:g}, {steps:g} control steps of {1.0 / rate_hz:g} s; must be a "
            f"whole number of steps, such as {fitting:g}"
        )
        raise ValueError(message)


def _check_deviations(deviations: float | Sequence[float], numbers: int) -> None:
    given = np.asarray(deviations, float)
    fits = given.shape in {(), (numbers,)}
    if not fits or not np.isfinite(given).all() or (given < 0.0).any():
        message = f"deviations: got {deviations}; must be one number, or {numbers}, of 0 or more"
        raise ValueError(message)


def sample_plans(
    knots: Float[Array, "knots numbers"],
    deviations: Float[Array, "..."],
    samples: int,
    key: PRNGKeyArray,
) -> Float[Array, "samples knots numbers"]:
    """Sample plans around a plan; the first sample is the plan itself."""
    noise = jax.random.normal(key, (samples, *knots.shape), knots.dtype)
    noise = noise.at[0].set(0.0) * jnp.broadcast_to(deviations.astype(knots.dtype), noise.shape)
    return jnp.clip(knots[None] + noise, -1.0, 1.0)


def weights(returns: Float[Array, " samples"], temperature: float) -> Float[Array, " samples"]:
    """Return the weight of each sample, 0 for those without a return."""
    returns = jnp.nan_to_num(returns, nan=jnp.finfo(returns.dtype).min)
    if temperature == 0.0:
        return jax.nn.one_hot(jnp.argmax(returns), returns.size, dtype=returns.dtype)
    return jax.nn.softmax((returns - returns.max()) / temperature)


def weighted_mean(
    plans: Float[Array, "samples knots numbers"],
    returns: Float[Array, " samples"],
    temperature: float,
) -> Float[Array, "knots numbers"]:
    """Return the mean of plans, weighted by their returns."""
    return jnp.tensordot(weights(returns, temperature), plans, 1)


def _check_fit(env: Env, model: Env) -> None:
    """Check that the model has the same task and agents, and no other vehicles."""
    if type(env.task) is not type(model.task) or env.agents != model.agents:
        message = (
            f"model: got {type(model.task).__name__} with {', '.join(model.agents)}; must be of "
            f"the same task as the environment, {type(env.task).__name__} with "
            f"{', '.join(env.agents)}"
        )
        raise ScenarioError(message)
    others = [name for name in model.fleet.names if name not in model.agents]
    if others:
        message = (
            f"model: cannot predict {', '.join(others)}; plan in tasks whose vehicles are all "
            "agents"
        )
        raise ScenarioError(message)
