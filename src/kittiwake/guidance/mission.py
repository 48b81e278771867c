"""A mission: tasks one after another, each until it is done, and what else may happen.

A step is any other guidance. It ends when its task is finished, when a time is over or when a
condition holds; the next one in the list follows, or the one that it names. A step that takes too
long, a rule whose condition holds, and a person who asks for it make another step begin instead.
After the last one the mission is done, and what that step asked for last still holds.

Each step begins where the vehicle is then, with a time of its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import accumulate
from typing import Annotated, Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import Command, CommandChoice, zero_command
from kittiwake.core.component import kind_of
from kittiwake.core.errors import CommandError, KittiwakeError, ScenarioError, did_you_mean
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.guidance.conditions import Condition, Quantities
from kittiwake.guidance.elapsed import elapsed_s
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs

# why a step began; the rules' numbers follow
IN_TURN, OUT_OF_TIME, ASKED, FIRST_RULE = range(4)
NOBODY = -1


class MissionStep(eqx.Module):
    """A task, and what ends it.

    Attributes:
        do: the task, any guidance but a mission.
        name: what the log and other steps call it; the kind of the task if not given.
        for_s: it ends after this time as well.
        until: it ends when this holds as well.
        timeout_s: it has failed if it has not ended by then.
        on_timeout: the step that begins then; the one that would follow anyway if not given.
        then: the step that follows; the next one in the list if not given.
    """

    do: AbstractGuidance
    name: str | None = eqx.field(static=True, default=None)
    for_s: Annotated[Real, POSITIVE] | None = None
    until: Condition | None = None
    timeout_s: Annotated[Real, POSITIVE] | None = None
    on_timeout: str | None = eqx.field(static=True, default=None)
    then: str | None = eqx.field(static=True, default=None)


class Rule(eqx.Module):
    """What makes a step begin out of turn; once in a mission.

    Attributes:
        when: what has to hold.
        go_to: the step that begins.
        during: the steps in which the rule counts; all if not given.
    """

    when: Condition
    go_to: str = eqx.field(static=True)
    during: tuple[str, ...] = eqx.field(static=True, default=())


class MissionState(eqx.Module):
    """Which step is going on, since when and why, and what each step remembers.

    ``held_s`` says for how long each condition has held, ``fired`` which rules have been used,
    ``legs`` how many waypoints were reached in the steps before, ``asked`` what somebody asks for,
    ``cut_short`` whether the mission ended because the time of its last step was up.
    """

    step: Int[Array, ""]
    cause: Int[Array, ""]
    began_s: Real
    done: Flag
    cut_short: Flag
    home: InitialPose
    asked: Int[Array, ""]
    legs: Int[Array, ""]
    held_s: Float[Array, " conditions"]
    fired: Bool[Array, " rules"]
    steps: tuple[Any, ...]


class Mission(AbstractGuidance):
    """Does its steps in turn, and what its rules say."""

    tracked: ClassVar[bool] = False

    steps: tuple[MissionStep, ...]
    rules: tuple[Rule, ...] = ()

    def __check_init__(self) -> None:
        """Refuses a mission without steps, names given twice, and steps that are not there."""
        if not self.steps:
            message = "steps must hold at least one, such as {do: takeoff}"
            raise ValueError(message)
        self._refuse_names()
        for i, step in enumerate(self.steps):
            if step.on_timeout is not None and step.timeout_s is None:
                message = f"steps.{i}: on_timeout needs timeout_s"
                raise ValueError(message)
        for i, rule in enumerate(self.rules):
            if rule.during == (rule.go_to,):
                message = (
                    f"rules.{i}: it would never count, for it leads to '{rule.go_to}' and counts "
                    "during that alone; write other steps under during, or leave it out"
                )
                raise ValueError(message)

    def _refuse_names(self) -> None:
        given = [step.name for step in self.steps if step.name is not None]
        if "" in given:
            message = "name: '' is no name; write one, or leave it out"
            raise ValueError(message)
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            message = f"two steps are called {twice}; give each a name of its own"
            raise ValueError(message)
        for place, name in self._named():
            if name not in self.names:
                message = f"{place}: there is no step '{name}'. {did_you_mean(name, self.names)}"
                raise ValueError(message)

    @property
    def names(self) -> list[str]:
        """What the steps are called; unnamed ones of one kind are counted from the second on."""
        names: list[str] = []
        for step in self.steps:
            name = kind = step.name or kind_of(step.do)
            given = [other.name for other in self.steps if other is not step]
            number = 1
            while name in [*names, *given]:
                number += 1
                name = f"{kind}-{number}"
            names.append(name)
        return names

    @property
    @override
    def requires_radio(self) -> bool:
        return any(step.do.requires_radio for step in self.steps)

    @property
    @override
    def follows(self) -> bool:
        return any(step.do.follows for step in self.steps)

    @property
    @override
    def feeds_forward(self) -> bool:
        return any(step.do.feeds_forward for step in self.steps)

    @override
    def prepare(self, context: BuildContext) -> "Mission":
        for i, step in enumerate(self.steps):
            if step.until is not None:
                step.until.check(context, f"steps.{i}.until")
        for i, rule in enumerate(self.rules):
            rule.when.check(context, f"rules.{i}.when")
        steps: list[MissionStep] = []
        place = context.place_world_m
        for i, (name, step) in enumerate(zip(self.names, self.steps, strict=True)):
            try:
                there = context._replace(begins_world_m=place)
                steps.append(replace(step, do=step.do.prepare(there), name=name))
            except (KittiwakeError, ValueError) as error:
                message = f"steps.{i} ({name}): {error}"
                raise ScenarioError(message) from None
            place = step.do.leads_to(there)
        return replace(self, steps=tuple(steps))

    @override
    def command_types(self) -> tuple[type[Command], ...]:
        return tuple(dict.fromkeys(kind for step in self.steps for kind in step.do.command_types()))

    @override
    def init(self, key: PRNGKeyArray) -> MissionState:
        none = _whole(0)
        return MissionState(
            step=none,
            cause=_whole(IN_TURN),
            began_s=jnp.asarray(0.0),
            done=jnp.asarray(False),
            cut_short=jnp.asarray(False),
            home=InitialPose.ahead(),
            asked=_whole(NOBODY),
            legs=none,
            held_s=jnp.zeros(len(self._conditions())),
            fired=jnp.zeros(len(self.rules), bool),
            steps=tuple(as_arrays(self._fresh(i, key)) for i in range(len(self.steps))),
        )

    @override
    def step(
        self, state: MissionState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[MissionState, Any]:
        state = self._continued(state, inputs, dt_s, key)
        own = replace(inputs, time_s=inputs.time_s - state.began_s)
        branches = [
            partial(self._flown, i, state.steps, own, dt_s, key) for i in range(len(self.steps))
        ]
        steps, asked = jax.lax.switch(state.step, branches)
        return replace(state, steps=steps), asked

    @property
    @override
    def behavior_names(self) -> tuple[str, ...]:
        flocks = [step.do.behavior_names for step in self.steps if step.do.requires_radio]
        first = flocks[0] if flocks else ()
        return tuple(name for name in first if all(name in names for names in flocks))

    @override
    def with_active_behaviors(self, state: MissionState, behaviors: Sequence[str]) -> MissionState:
        flocks = [i for i, step in enumerate(self.steps) if step.do.requires_radio]
        if not flocks:
            message = f"no step of this mission has behaviors; its steps: {', '.join(self.names)}"
            raise CommandError(message)
        steps = list(state.steps)
        for i in flocks:
            steps[i] = self.steps[i].do.with_active_behaviors(steps[i], behaviors)
        return replace(state, steps=tuple(steps))

    @override
    def finished(self, state: MissionState) -> Flag:
        return jnp.logical_and(state.done, jnp.logical_not(state.cut_short))

    @override
    def phases(self) -> tuple[str, ...]:
        parts = [
            _said(name, text, part, cause)
            for cause in self._causes()
            for name, step in zip(self.names, self.steps, strict=True)
            for part, text in enumerate(step.do.phases())
        ]
        return (*parts, "mission ended, for the time of its last step was up", "mission done")

    @override
    def phase(self, state: MissionState) -> Int[Array, ""]:
        counts = [len(step.do.phases()) for step in self.steps]
        first = [0, *accumulate(counts)]
        parts = [
            first[i] + _whole(step.do.phase(own))
            for i, (step, own) in enumerate(zip(self.steps, state.steps, strict=True))
        ]
        part = state.cause * first[-1] + jnp.stack(parts)[state.step]
        last = len(self._causes()) * first[-1] + jnp.where(state.cut_short, 0, 1)
        return jnp.where(state.done, last, part)

    @override
    def legs(self, state: MissionState) -> Int[Array, ""]:
        return state.legs + self._legs(state)[state.step]

    @override
    def planned_legs(self) -> int | None:
        planned = [step.do.planned_legs() for step in self.steps]
        known = [legs for legs in planned if legs is not None]
        return sum(known) if known else None

    @property
    @override
    def step_names(self) -> tuple[str, ...]:
        return tuple(self.names)

    @override
    def jump_to_step(self, state: MissionState, name: str) -> MissionState:
        if name not in self.names:
            message = f"there is no step '{name}'. {did_you_mean(name, self.names)}"
            raise CommandError(message)
        asked = jnp.full_like(state.asked, self.names.index(name))
        return replace(state, asked=asked)

    def _continued(
        self, state: MissionState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> MissionState:
        """The state with the step that is to be done now, new or not."""
        home = state.home.at(inputs.estimate)
        spent_s = elapsed_s(inputs.time_s - state.began_s, dt_s)
        now = Quantities(inputs, home.position_world_m, spent_s)
        holds = jnp.stack([jnp.asarray(False), *(one.holds(now) for one in self._conditions())])[1:]
        # a condition that holds from this step on has held for no time
        met = holds & (state.held_s >= jnp.asarray([one.for_s for one in self._conditions()]))
        turns = self._turns(state, spent_s, met)
        begins = [turn.begins for turn in turns]
        step = jnp.select(begins, [_whole(turn.step) for turn in turns], state.step)
        cause = jnp.select(begins, [_whole(turn.cause) for turn in turns], state.cause)
        over = step == len(self.steps)
        done = (state.done & (state.asked == NOBODY)) | over
        cut_short = done & jnp.where(state.done, state.cut_short, cause == OUT_OF_TIME)
        entered = jnp.any(jnp.stack(begins)) & jnp.logical_not(done)
        rules = _whole(range(FIRST_RULE, FIRST_RULE + len(self.rules)))
        entering = replace(
            state,
            step=step,
            cause=cause,
            began_s=inputs.time_s,
            legs=self.legs(state),
            held_s=jnp.zeros_like(state.held_s),
            fired=state.fired | (rules == cause),
            steps=tuple(
                tree_where(step == i, as_arrays(self._fresh(i, key)), own)
                for i, own in enumerate(state.steps)
            ),
        )
        going_on = replace(state, held_s=jnp.where(holds, state.held_s + dt_s, 0.0))
        later = match_dtypes(tree_where(entered, entering, going_on), state)
        nobody = jnp.full_like(state.asked, NOBODY)
        return replace(later, done=done, cut_short=cut_short, home=home, asked=nobody)

    def _turns(
        self, state: MissionState, spent_s: Real, met: Bool[Array, " n"]
    ) -> list["_Transition"]:
        """What may make a step begin, the first that does counts."""
        here = state.step
        ends, rules = self._split(met)
        over = [
            _any(
                *(step.do.finished(own), until),
                *(_past(limit_s, spent_s) for limit_s in (step.for_s, step.do.end_s())),
            )
            for step, own, until in zip(self.steps, state.steps, ends, strict=True)
        ]
        late = [_any(_past(step.timeout_s, spent_s)) for step in self.steps]
        following = [self._place(step.then, i + 1) for i, step in enumerate(self.steps)]
        instead = [
            self._place(step.on_timeout, after)
            for step, after in zip(self.steps, following, strict=True)
        ]
        called = [
            _Transition(
                holds & ~fired & jnp.asarray(self._counts(rule))[here],
                self._place(rule.go_to, 0),
                FIRST_RULE + i,
            )
            for i, (rule, holds, fired) in enumerate(
                zip(self.rules, rules, state.fired, strict=True)
            )
        ]
        return [
            _Transition(state.asked != NOBODY, state.asked, ASKED),
            *called,
            _Transition(jnp.stack(over)[here], _whole(following)[here], IN_TURN),
            _Transition(jnp.stack(late)[here], _whole(instead)[here], OUT_OF_TIME),
        ]

    def _flown(
        self,
        i: int,
        states: tuple[Any, ...],
        inputs: GuidanceInputs,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[Any, ...], Any]:
        """The states after one of the steps, and what it asks for as one of all kinds."""
        own, asked = self.steps[i].do.step(states[i], inputs, dt_s, key)
        later = (*states[:i], match_dtypes(own, states[i]), *states[i + 1 :])
        kinds = self.command_types()
        if len(kinds) == 1:
            return later, as_arrays(asked)
        given = asked if isinstance(asked, CommandChoice) else CommandChoice((asked,), 0)
        by_kind = {type(signal): signal for signal in given.commands}
        signals = tuple(by_kind.get(kind, zero_command(kind)) for kind in kinds)
        places = _whole([kinds.index(type(signal)) for signal in given.commands])
        return later, as_arrays(CommandChoice(signals, places[given.place]))

    def _conditions(self) -> list[Condition]:
        """Those that end steps, then those of the rules."""
        ends = [step.until for step in self.steps if step.until is not None]
        return [*ends, *(rule.when for rule in self.rules)]

    def _split(self, met: Bool[Array, " n"]) -> tuple[list[Any], list[Any]]:
        """By step whether its condition is met, False without one; and by rule."""
        flags = iter(met)
        ends = [False if step.until is None else next(flags) for step in self.steps]
        return ends, list(flags)

    def _place(self, name: str | None, otherwise: int) -> int:
        return otherwise if name is None else self.names.index(name)

    def _counts(self, rule: Rule) -> list[bool]:
        """By step whether a rule counts in it; never in the one that it leads to."""
        return [
            name != rule.go_to and (not rule.during or name in rule.during) for name in self.names
        ]

    def _fresh(self, i: int, key: PRNGKeyArray) -> Any:
        return self.steps[i].do.init(jax.random.fold_in(key, i))

    def _legs(self, state: MissionState) -> Int[Array, " steps"]:
        pairs = zip(self.steps, state.steps, strict=True)
        return jnp.stack([_whole(step.do.legs(own)) for step, own in pairs])

    def _causes(self) -> list[str]:
        """In the order of their numbers."""
        called = [f", because {rule.when}" for rule in self.rules]
        return ["", ", for the time was up", ", as asked", *called]

    def _named(self) -> Sequence[tuple[str, str]]:
        """Where steps are named, and how."""
        of_steps = [
            (f"steps.{i}.{key}", getattr(step, key))
            for i, step in enumerate(self.steps)
            for key in ("on_timeout", "then")
        ]
        of_rules = [(f"rules.{i}.go_to", rule.go_to) for i, rule in enumerate(self.rules)]
        during = [
            (f"rules.{i}.during", name) for i, rule in enumerate(self.rules) for name in rule.during
        ]
        return [
            (place, name) for place, name in (*of_steps, *of_rules, *during) if name is not None
        ]


class _Transition(NamedTuple):
    """Whether a step begins now, which one, and why."""

    begins: Flag
    step: Any
    cause: int


def _whole(numbers: Any) -> Int[Array, "..."]:
    return jnp.asarray(numbers, jnp.int32)


def _past(limit_s: Real | None, spent_s: Real) -> Flag:
    return False if limit_s is None else spent_s >= limit_s


def _any(*flags: Flag) -> Bool[Array, ""]:
    return reduce(jnp.logical_or, map(jnp.asarray, flags))


def _said(name: str, text: str, part: int, cause: str) -> str:
    """What the log says when a part of a step begins."""
    if part:
        return f"{name}: {text}" if text else ""
    return f"{name}{cause}: {text}" if text else f"began {name}{cause}"
