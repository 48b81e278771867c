"""Mission: a sequence of tasks with conditions, timeouts and rules.

A step is any other guidance. It ends when its task is finished, when its time is over or when a
condition holds; then the next one in the list follows, or the one that it names. A timeout, a rule
whose condition holds, or a request starts another step instead. After the last step the mission is
done, and the last setpoint stays in effect.

Each step begins at the vehicle's present position, with its own time.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import accumulate
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree, as_arrays, match_dtypes
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import Command, CommandChoice
from kittiwake.core.component import registered_name
from kittiwake.core.elapsed import elapsed_s
from kittiwake.core.errors import CommandError, KittiwakeError, ScenarioError, did_you_mean
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.conditions import Condition, Quantities
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.landing.land import Land
from kittiwake.guidance.maneuvers.goto import Goto
from kittiwake.guidance.maneuvers.hold import Hold
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field

# causes of a step's start; the indices of the rules follow
IN_SEQUENCE, TIMEOUT, REQUESTED, FIRST_RULE = range(4)
NO_STEP = -1


class MissionStep(Module):
    """Task, and the conditions of its end.

    Attributes:
        do: the task, any guidance but a mission.
        name: name in the log and for other steps; by default the registered name of the task.
        for_s: duration after which it ends as well.
        until: condition on which it ends as well.
        timeout_s: time after which it has failed.
        on_timeout: step that follows a timeout; by default the step that follows otherwise.
        then: step that follows; by default the next one in the list.
    """

    do: AbstractGuidance
    name: str | None = field(static=True, default=None)
    for_s: Annotated[Real, POSITIVE] | None = None
    until: Condition | None = None
    timeout_s: Annotated[Real, POSITIVE] | None = None
    on_timeout: str | None = field(static=True, default=None)
    then: str | None = field(static=True, default=None)


class Rule(Module):
    """Condition that starts a step out of sequence, once in a mission.

    Attributes:
        when: the condition.
        go_to: step that begins.
        during: steps in which the rule is active; by default all.
    """

    when: Condition
    go_to: str = field(static=True)
    during: tuple[str, ...] = field(static=True, default=())


class MissionState(Module):
    """Current step, its start and cause, and the state of each step.

    ``held_s`` are the times for which the conditions have held, ``fired`` flags of the used rules,
    ``waypoints_reached`` their number in earlier steps, ``requested`` the index of a requested
    step, ``cut_short`` True if the mission ended by the timeout of its last step.
    """

    step: Int[Array, ""]
    cause: Int[Array, ""]
    began_s: Real
    done: Flag
    cut_short: Flag
    home: InitialPose
    requested: Int[Array, ""]
    waypoints_reached: Int[Array, ""]
    held_s: Float[Array, " conditions"]
    fired: Bool[Array, " rules"]
    steps: tuple[ArrayTree, ...]


class Mission(AbstractGuidance[MissionState]):
    """Runs its steps in sequence, and applies its rules.

    Attributes:
        steps: steps, one after another.
        rules: rules that start a step out of sequence.
    """

    tracked: ClassVar[bool] = False

    steps: tuple[MissionStep, ...]
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        """Raise an error for no steps, duplicate names, and references to unknown steps."""
        if not self.steps:
            message = "`steps`: got none; must be at least one, such as {do: takeoff}"
            raise ValueError(message)
        self._check_names()
        for i, step in enumerate(self.steps):
            if step.on_timeout is not None and step.timeout_s is None:
                message = f"`steps.{i}.on_timeout`: requires timeout_s"
                raise ValueError(message)
        for i, rule in enumerate(self.rules):
            if rule.during == (rule.go_to,):
                message = (
                    f"`rules.{i}`: would never apply, as it leads to '{rule.go_to}' and is active "
                    "only during it; write other steps under during, or omit it"
                )
                raise ValueError(message)

    def _check_names(self) -> None:
        given = [step.name for step in self.steps if step.name is not None]
        if "" in given:
            message = "`name`: got ''; must not be empty; write a name, or omit it"
            raise ValueError(message)
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            message = f"`name`: two steps are called {twice}; names must be unique"
            raise ValueError(message)
        for key, name in self._references():
            if name not in self.names:
                message = f"{key}: there is no step '{name}'. {did_you_mean(name, self.names)}"
                raise ValueError(message)

    @property
    def names(self) -> list[str]:
        """Names of the steps; unnamed ones of one task type are numbered from the second on."""
        names: list[str] = []
        for step in self.steps:
            name = base = step.name or registered_name(step.do)
            given = [other.name for other in self.steps if other is not step]
            number = 1
            while name in [*names, *given]:
                number += 1
                name = f"{base}-{number}"
            names.append(name)
        return names

    @property
    @override
    def requires_radio(self) -> bool:
        return any(step.do.requires_radio for step in self.steps)

    @property
    @override
    def requires_leader(self) -> bool:
        return any(step.do.requires_leader for step in self.steps)

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
        previous_end = context.task_start_world_m
        for i, (name, step) in enumerate(zip(self.names, self.steps, strict=True)):
            try:
                step_context = context._replace(previous_end_world_m=previous_end)
                steps.append(replace(step, do=step.do.prepare(step_context), name=name))
            except (KittiwakeError, ValueError) as error:
                message = f"steps.{i} ({name}): {error}"
                raise ScenarioError(message) from None
            previous_end = step.do.end_position_world_m(step_context)
        return replace(self, steps=tuple(steps))

    @override
    def command_types(self) -> tuple[type[Command], ...]:
        return tuple(
            dict.fromkeys(
                command_type for step in self.steps for command_type in step.do.command_types()
            )
        )

    @override
    def init(self, key: PRNGKeyArray) -> MissionState:
        none = _integers(0)
        return MissionState(
            step=none,
            cause=_integers(IN_SEQUENCE),
            began_s=jnp.asarray(0.0),
            done=jnp.asarray(False),
            cut_short=jnp.asarray(False),
            home=InitialPose.unknown(),
            requested=_integers(NO_STEP),
            waypoints_reached=none,
            held_s=jnp.zeros(len(self._conditions())),
            fired=jnp.zeros(len(self.rules), bool),
            steps=tuple(as_arrays(self._initial_state(i, key)) for i in range(len(self.steps))),
        )

    @override
    def step(
        self, state: MissionState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[MissionState, Command | CommandChoice]:
        state = self._advance(state, inputs, dt_s, key)
        own = replace(inputs, time_s=inputs.time_s - state.began_s)
        branches = [
            partial(self._run_step, i, state.steps, own, dt_s, key) for i in range(len(self.steps))
        ]
        steps, command = jax.lax.switch(state.step, branches)
        return replace(state, steps=steps), command

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
            _event_text(name, text, part, cause)
            for cause in self._causes()
            for name, step in zip(self.names, self.steps, strict=True)
            for part, text in enumerate(step.do.phases())
        ]
        return (*parts, "mission ended by the timeout of its last step", "mission done")

    @override
    def phase(self, state: MissionState) -> Int[Array, ""]:
        counts = [len(step.do.phases()) for step in self.steps]
        first = [0, *accumulate(counts)]
        parts = [
            first[i] + _integers(step.do.phase(own))
            for i, (step, own) in enumerate(zip(self.steps, state.steps, strict=True))
        ]
        part = state.cause * first[-1] + jnp.stack(parts)[state.step]
        last = len(self._causes()) * first[-1] + jnp.where(state.cut_short, 0, 1)
        return jnp.where(state.done, last, part)

    @override
    def waypoints_reached(self, state: MissionState) -> Int[Array, ""]:
        return state.waypoints_reached + self._waypoints_reached(state)[state.step]

    @override
    def planned_waypoints(self) -> int | None:
        planned = [step.do.planned_waypoints() for step in self.steps]
        known = [legs for legs in planned if legs is not None]
        return sum(known) if known else None

    @property
    @override
    def mission_step_names(self) -> tuple[str, ...]:
        return tuple(self.names)

    @override
    def jump_to_mission_step(self, state: MissionState, name: str) -> MissionState:
        if name not in self.names:
            message = f"there is no step '{name}'. {did_you_mean(name, self.names)}"
            raise CommandError(message)
        requested = jnp.full_like(state.requested, self.names.index(name))
        return replace(state, requested=requested)

    def _advance(
        self, state: MissionState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> MissionState:
        """Return the state with the step that runs now, which may be a new one."""
        home = state.home.updated(inputs.estimate)
        time_in_step_s = elapsed_s(inputs.time_s - state.began_s, dt_s)
        now = Quantities(inputs, home.position_world_m, time_in_step_s)
        holds = jnp.stack([jnp.asarray(False), *(one.holds(now) for one in self._conditions())])[1:]
        # a condition that begins to hold at this step has been held for zero time
        met = holds & (state.held_s >= jnp.asarray([one.for_s for one in self._conditions()]))
        transitions = self._transitions(state, time_in_step_s, met)
        begins = [turn.begins for turn in transitions]
        step = jnp.select(begins, [_integers(turn.step) for turn in transitions], state.step)
        cause = jnp.select(begins, [_integers(turn.cause) for turn in transitions], state.cause)
        ended = step == len(self.steps)
        done = (state.done & (state.requested == NO_STEP)) | ended
        cut_short = done & jnp.where(state.done, state.cut_short, cause == TIMEOUT)
        entered = jnp.any(jnp.stack(begins)) & jnp.logical_not(done)
        rules = _integers(range(FIRST_RULE, FIRST_RULE + len(self.rules)))
        entering = replace(
            state,
            step=step,
            cause=cause,
            began_s=inputs.time_s,
            waypoints_reached=self.waypoints_reached(state),
            held_s=jnp.zeros_like(state.held_s),
            fired=state.fired | (rules == cause),
            steps=tuple(
                tree_where(step == i, as_arrays(self._initial_state(i, key)), own)
                for i, own in enumerate(state.steps)
            ),
        )
        continuing = replace(state, held_s=jnp.where(holds, state.held_s + dt_s, 0.0))
        later = match_dtypes(tree_where(entered, entering, continuing), state)
        none = jnp.full_like(state.requested, NO_STEP)
        return replace(later, done=done, cut_short=cut_short, home=home, requested=none)

    def _transitions(
        self, state: MissionState, time_in_step_s: Real, met: Bool[Array, " n"]
    ) -> list["_Transition"]:
        """Return all possible transitions in the order of priority."""
        here = state.step
        ends, rules = self._split(met)
        ended = [
            _any(
                step.do.finished(own),
                until,
                _past(step.for_s, time_in_step_s),
                _past(step.do.end_s(), time_in_step_s),
            )
            for step, own, until in zip(self.steps, state.steps, ends, strict=True)
        ]
        timed_out = [_any(_past(step.timeout_s, time_in_step_s)) for step in self.steps]
        following = [self._index(step.then, i + 1) for i, step in enumerate(self.steps)]
        on_timeout = [
            self._index(step.on_timeout, after)
            for step, after in zip(self.steps, following, strict=True)
        ]
        by_rule = [
            _Transition(
                holds & ~fired & jnp.asarray(self._rule_flags(rule))[here],
                self._index(rule.go_to, 0),
                FIRST_RULE + i,
            )
            for i, (rule, holds, fired) in enumerate(
                zip(self.rules, rules, state.fired, strict=True)
            )
        ]
        return [
            _Transition(state.requested != NO_STEP, state.requested, REQUESTED),
            *by_rule,
            _Transition(jnp.stack(ended)[here], _integers(following)[here], IN_SEQUENCE),
            _Transition(jnp.stack(timed_out)[here], _integers(on_timeout)[here], TIMEOUT),
        ]

    def _run_step(
        self,
        i: int,
        states: tuple[ArrayTree, ...],
        inputs: GuidanceInputs,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[ArrayTree, ...], Command | CommandChoice]:
        """Return the states after one of the steps, and its command as one of all command types."""
        own, command = self.steps[i].do.step(states[i], inputs, dt_s, key)
        later = (*states[:i], match_dtypes(own, states[i]), *states[i + 1 :])
        command_types = self.command_types()
        if len(command_types) == 1:
            return later, as_arrays(command)
        choice = command if isinstance(command, CommandChoice) else CommandChoice((command,), 0)
        by_type = {type(one): one for one in choice.commands}
        zeros = {type(zero): zero for step in self.steps for zero in step.do.zero_commands()}
        commands = tuple((zeros | by_type)[command_type] for command_type in command_types)
        places = _integers([command_types.index(type(one)) for one in choice.commands])
        return later, as_arrays(CommandChoice(commands, places[choice.index]))

    def _conditions(self) -> list[Condition]:
        """Return the conditions that end steps, followed by those of the rules."""
        ends = [step.until for step in self.steps if step.until is not None]
        return [*ends, *(rule.when for rule in self.rules)]

    def _split(self, met: Bool[Array, " n"]) -> tuple[list[Flag], list[Flag]]:
        """Return the flags by step, False without a condition, and by rule."""
        flags = iter(met)
        ends = [False if step.until is None else next(flags) for step in self.steps]
        return ends, list(flags)

    def _index(self, name: str | None, otherwise: int) -> int:
        return otherwise if name is None else self.names.index(name)

    def _rule_flags(self, rule: Rule) -> list[bool]:
        """Return the flags of the steps in which a rule is active; not the one it leads to."""
        return [
            name != rule.go_to and (not rule.during or name in rule.during) for name in self.names
        ]

    def _initial_state(self, i: int, key: PRNGKeyArray) -> ArrayTree:
        return self.steps[i].do.init(jax.random.fold_in(key, i))

    def _waypoints_reached(self, state: MissionState) -> Int[Array, " steps"]:
        pairs = zip(self.steps, state.steps, strict=True)
        return jnp.stack([_integers(step.do.waypoints_reached(own)) for step, own in pairs])

    def _causes(self) -> list[str]:
        """Return the texts of the causes by index."""
        by_rule = [f", because {rule.when}" for rule in self.rules]
        return ["", ", timeout", ", on request", *by_rule]

    def _references(self) -> Sequence[tuple[str, str]]:
        """Return all references to steps, with their keys."""
        of_steps = [
            (f"steps.{i}.{key}", getattr(step, key))
            for i, step in enumerate(self.steps)
            for key in ("on_timeout", "then")
        ]
        of_rules = [(f"rules.{i}.go_to", rule.go_to) for i, rule in enumerate(self.rules)]
        during = [
            (f"rules.{i}.during", name) for i, rule in enumerate(self.rules) for name in rule.during
        ]
        return [(key, name) for key, name in (*of_steps, *of_rules, *during) if name is not None]

    @classmethod
    @override
    def examples(cls) -> dict[str, "Mission"]:
        return {
            "of three steps": cls(
                (
                    MissionStep(Hold(), for_s=0.02),
                    MissionStep(Goto(Vec3(4.0, 2.0, 10.0), speed_mps=1.0)),
                    MissionStep(Land(0.1)),
                ),
                (Rule(Condition("speed_mps", above=4.0), go_to="land"),),
            )
        }


class _Transition(NamedTuple):
    """Start of a step: condition, index of the step, and cause."""

    begins: Flag
    step: Integer
    cause: int


def _integers(numbers: Integer | Sequence[int]) -> Int[Array, "..."]:
    return jnp.asarray(numbers, jnp.int32)


def _past(limit_s: Real | None, time_in_step_s: Real) -> Flag:
    return False if limit_s is None else time_in_step_s >= limit_s


def _any(*flags: Flag) -> Bool[Array, ""]:
    return reduce(jnp.logical_or, map(jnp.asarray, flags))


def _event_text(name: str, text: str, part: int, cause: str) -> str:
    """Return the text of the log event at the beginning of a step's phase."""
    if part:
        return f"{name}: {text}" if text else ""
    return f"{name}{cause}: {text}" if text else f"began {name}{cause}"
