"""Model predictive path integral control: plans by samples of a task's own steps and rewards.

A plan is a row of actions at knots, between which it is interpolated. With R_k the return of a
sampled plan U_k over the horizon in the model, from what agents believe of their motion now::

    U_k = clip(U + e_k, -1, 1),    e_k ~ N(0, diag(sigma^2)) at each knot, e_0 = 0
    w_k = exp((R_k - max R) / lambda) / sum_j exp((R_j - max R) / lambda)
    U  <- sum_k w_k U_k

A temperature lambda of 0 takes the best sample. The knots stand still in time: what is past is
dropped and the last one repeated, so that a plan is not blurred by being carried on.

Source: Williams, Wagener, Goldfain, Drews, Rehg, Boots, Theodorou (2017), "Information theoretic
MPC for model-based reinforcement learning", ICRA; without its cost of noise that goes against the
plan: actions cost what the reward says. Noise at knots stands for its filter that smooths actions.

What it knows: what agents believe of their place, attitude, velocity and rates; all that was drawn
for the episode, such as where obstacles are; what the task remembers, which may be of the truth;
the time. It knows nothing of the errors of what they believe, of gusts, rotors, sensors and
controllers as they are, nor of noise to come. These begin anew in the model, with noise of its own,
also where that is the environment itself.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Count, Real
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.worlds import axes_of, with_tick

AXIS = "samples"
# so far from a whole number of control steps the time between two knots may be
WHOLE = 1e-6


class MppiPlan(NamedTuple):
    """What is intended.

    Attributes:
        knots: actions at evenly spaced times, the first one now or just past.
        age: control steps since the first knot.
    """

    knots: Float[Array, "knots numbers"]
    age: Count


class Mppi:
    """A controller of all agents of an environment.

    ``begin`` and ``act`` are pure and can be jitted and mapped.

    Args:
        env: that is flown.
        model: that is planned with, of the same task; it may be coarser. Its rate is that of
            the steps in a plan.
        samples: plans that are tried in each control step.
        horizon_s: how far they look.
        knot_s: the time between two knots, a multiple of the control step.
        temperature: lambda, in units of the return.
        deviations: sigma, of each number of an action or one for all.

    Raises:
        ScenarioError: if the model does not fit the environment.
        ValueError: for numbers with which no plan can be made.
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

    def begin(self) -> MppiPlan:
        """At rest."""
        return MppiPlan(
            jnp.zeros((self.knots, self.env.action_size), jnp.result_type(float)),
            jnp.zeros((), jnp.int32),
        )

    def act(
        self, plan: MppiPlan, state: EnvState, key: PRNGKeyArray
    ) -> tuple[MppiPlan, Float[Array, " numbers"]]:
        """A better plan, carried on by a control step, and what it does in this one."""
        about, within = jax.random.split(key)
        motion, elapsed_s = self.env.believed(state), self.env.elapsed_s(state)
        world = self.model.resumed(within, motion, state, elapsed_s)
        tried = sampled(plan.knots, jnp.asarray(self.deviations), self.samples, about)
        knots = weighted(tried, self.returns(world, tried, plan.age), self.temperature)
        better = MppiPlan(knots, plan.age)
        return self.continued(better), self.action(better, 0.5 / self.env.task.rate_hz)

    def returns(
        self, world: EnvState, tried: Float[Array, "samples knots numbers"], age: Count
    ) -> Float[Array, " samples"]:
        """What each of several plans gains in a world of the model, up to the episode's end."""
        model, count = self.model, len(tried)
        axes = axes_of(world)
        worlds = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), world)

        def once(carried: Any, ahead_s: Real) -> tuple[Any, None]:
            worlds, going, gained = carried
            actions = jax.vmap(lambda knots: self.action(MppiPlan(knots, age), ahead_s))(tried)
            step: Any = jax.vmap(
                lambda own, action: model.step_beside(AXIS, own.key, own, action),
                in_axes=(axes, 0),
                axis_name=AXIS,
            )(worlds, actions)
            gained = gained + jnp.where(going, step.reward, 0.0)
            going = going & ~(step.terminated | step.truncated)
            later = with_tick(step.state, worlds.fleet.tick + model.every)
            return (later, going, gained), None

        worlds = with_tick(worlds, world.fleet.tick)
        begun = (worlds, jnp.ones(count, bool), jnp.zeros(count, tried.dtype))
        middles = (jnp.arange(self.steps, dtype=tried.dtype) + 0.5) / model.task.rate_hz
        (_, _, gained), _ = jax.lax.scan(once, begun, middles)
        return gained

    def action(self, plan: MppiPlan, ahead_s: Real) -> Float[Array, " numbers"]:
        """What is to be done at a time from now."""
        age = jnp.asarray(plan.age, plan.knots.dtype)
        place = age / self.steps_per_knot + ahead_s / self.knot_s
        before = jnp.clip(jnp.floor(place), 0, self.knots - 2)
        share = jnp.clip(place - before, 0.0, 1.0)
        first = before.astype(jnp.int32)
        return plan.knots[first] * (1.0 - share) + plan.knots[first + 1] * share

    def continued(self, plan: MppiPlan) -> MppiPlan:
        """The plan a control step later."""
        age = plan.age + 1
        past = age >= self.steps_per_knot
        rolled = jnp.concatenate([plan.knots[1:], plan.knots[-1:]])
        return MppiPlan(jnp.where(past, rolled, plan.knots), jnp.where(past, 0, age))


def _check_numbers(samples: Any, horizon_s: float, knot_s: float, temperature: float) -> None:
    given = {"horizon_s": horizon_s, "knot_s": knot_s}
    wrong = [f"{name}={value}" for name, value in given.items() if not 0.0 < value < math.inf]
    if wrong:
        message = f"{', '.join(wrong)} is not allowed; give numbers above 0"
        raise ValueError(message)
    if isinstance(samples, bool) or not hasattr(samples, "__index__") or samples < 1:
        message = f"samples={samples!r} is not allowed; give a whole number, 1 or more"
        raise ValueError(message)
    if not 0.0 <= temperature < math.inf:
        message = f"temperature={temperature} is not allowed; give 0 for the best plan, or more"
        raise ValueError(message)


def _check_knots(knot_s: float, rate_hz: float) -> None:
    steps = knot_s * rate_hz
    if steps < 0.5 or abs(steps - round(steps)) > WHOLE:
        fitting = max(1, round(steps)) / rate_hz
        message = (
            f"knot_s={knot_s:g} is {steps:g} control steps of {1.0 / rate_hz:g} s; give a whole "
            f"number of them, such as {fitting:g}"
        )
        raise ValueError(message)


def _check_deviations(deviations: float | Sequence[float], numbers: int) -> None:
    given = np.asarray(deviations, float)
    fits = given.shape in {(), (numbers,)}
    if not fits or not np.isfinite(given).all() or (given < 0.0).any():
        message = (
            f"deviations={deviations} is not allowed; give one number, or {numbers}, of 0 or more"
        )
        raise ValueError(message)


def sampled(
    knots: Float[Array, "knots numbers"],
    deviations: Float[Array, "..."],
    samples: int,
    key: PRNGKeyArray,
) -> Float[Array, "samples knots numbers"]:
    """Plans about a plan, the first of which is the plan itself."""
    noise = jax.random.normal(key, (samples, *knots.shape), knots.dtype)
    noise = noise.at[0].set(0.0) * jnp.broadcast_to(deviations.astype(knots.dtype), noise.shape)
    return jnp.clip(knots[None] + noise, -1.0, 1.0)


def weights(returns: Float[Array, " samples"], temperature: float) -> Float[Array, " samples"]:
    """How much each sample counts; those without a return do not."""
    returns = jnp.nan_to_num(returns, nan=jnp.finfo(returns.dtype).min)
    if temperature == 0.0:
        return jax.nn.one_hot(jnp.argmax(returns), returns.size, dtype=returns.dtype)
    return jax.nn.softmax((returns - returns.max()) / temperature)


def weighted(
    tried: Float[Array, "samples knots numbers"],
    returns: Float[Array, " samples"],
    temperature: float,
) -> Float[Array, "knots numbers"]:
    """The mean of plans by what they gain."""
    return jnp.tensordot(weights(returns, temperature), tried, 1)


def _check_fit(env: Env, model: Env) -> None:
    """Refuses a model that is not of the same task and agents, or whose world holds others."""
    if type(env.task) is not type(model.task) or env.agents != model.agents:
        message = (
            f"the model is of {type(model.task).__name__} with {', '.join(model.agents)}, the "
            f"environment of {type(env.task).__name__} with {', '.join(env.agents)}; make both "
            "from the same task"
        )
        raise ScenarioError(message)
    others = [name for name in model.fleet.names if name not in model.agents]
    if others:
        message = (
            f"a model cannot know where {', '.join(others)} will be; plan in tasks whose "
            "vehicles are all agents"
        )
        raise ScenarioError(message)
