"""Contract of all registered components; a newly registered component is tested automatically."""

import dataclasses
import pkgutil
import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.contract.cases import as_traced, cases, forms_of
from tests.contract.families import CONTRACTS, as_flown
from tests.contract.operating_points import AT_REST, CRUISING, EXTREMES, cruising

import kittiwake
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.columns import column_names
from kittiwake.core.commands import CommandChoice
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.registry import Registry
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module
from kittiwake.scenario.parameters import parameters_model
from kittiwake.world.surroundings import Air

DOCS = Path(__file__).parents[2] / "docs"
CASES = list(cases())
NAMED = {f"{case.family}/{case.name}": case for case in CASES}
# of the first state and of two steps
KEYS = jax.random.split(jax.random.key(3), 3)
FIELDS = {"turbulence": Vec3, "winds": Vec3, "currents": Vec3, "atmospheres": Air, "forces": Wrench}
OUTPUTS = {"estimators": Kinematics, **FIELDS}

# whose dynamics are those of another vehicle here, with rotors that are here too, a minute of
# compiling each; or which another form shows
TWINS = {
    "dynamics/multirotor ar-drone",
    "dynamics/multirotor hummingbird",
    "dynamics/multirotor os4",
    "dynamics/wrench-body lee-2010",
    "dynamics/wrench-body uav-gazebo",
    *(f"behaviors/formation {shape}" for shape in ("line", "column", "circle", "grid")),
    "behaviors/olfati-saber adrift",
}


def quickly(case):
    """Return the case, marked as slow if another case covers the same."""
    return pytest.param(case, marks=[pytest.mark.slow] if str(case) in TWINS else [])


def once(case):
    """Return the case, marked as slow if it is a twin, or not the first of its class."""
    first = next(one for one in CASES if (one.family, one.name) == (case.family, case.name))
    slow = case is not first or str(case) in TWINS
    return pytest.param(case, marks=[pytest.mark.slow] if slow else [])


def once_each_family(case):
    """Return the case, marked as slow if it is not the first of its family."""
    first = next(one for one in CASES if one.family == case.family)
    return pytest.param(case, marks=[] if case is first else [pytest.mark.slow])


each_component = pytest.mark.parametrize("case", [*map(quickly, CASES)], ids=str)
# what hangs on how a component is written, and hardly on its numbers
each_kind = pytest.mark.parametrize("case", [*map(once, CASES)], ids=str)
# what a family's interface decides, or takes long to compile
each_family = pytest.mark.parametrize("case", [*map(once_each_family, CASES)], ids=str)
each_name = pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)


def inputs_of(case, point):
    """Return the inputs of a component over two ticks."""
    return _inputs_of(case, point, jnp.result_type(float))


# of one component at its operating points: they take longer to compute than its steps
@lru_cache(maxsize=16)
def _inputs_of(case, point, dtype):
    component = made(case, dtype)
    return tuple(as_arrays(case.contract.inputs(component, point, t)) for t in range(2))


@lru_cache(maxsize=1)
def made(case, dtype):
    """Return a component, made once for each precision."""
    del dtype
    return case.make()


class Flown(NamedTuple):
    """Functions to compile: a component's initial state and its step."""

    begin: Callable[..., Any]
    step: Callable[..., Any]


def flown(case):
    """Return a component's functions, with its parameters as constants."""
    contract = case.contract

    # the component is made while it is traced, in the precision of that time
    def begin(inputs, key):
        return as_arrays(contract.init(as_flown(case.make()), inputs, key))

    def step(state, inputs, key):
        new, output = contract.step(as_flown(case.make()), state, inputs, key)
        return new, as_arrays(output)

    return Flown(begin, step)


@lru_cache(maxsize=1)
def compiled(case):
    """Return the compiled functions, cached for each precision."""
    return Flown(*map(jax.jit, flown(case)))


def fly(part, inputs, keys=KEYS):
    """Return the state and the output after a component's steps."""
    state, output = part.begin(inputs[0], keys[0]), None
    for fed, key in zip(inputs, keys[1:], strict=True):
        new, output = part.step(state, fed, key)
        state = match_dtypes(new, state)
    return state, output


@lru_cache(maxsize=1)
def gradients(case):
    """Return compiled gradients of the summed initial state and step, by all their inputs."""
    contract = case.contract

    def initial(differentiated, key):
        component, inputs = differentiated
        return total(contract.init(component, inputs, key))

    def stepped(differentiated, key):
        component, state, inputs = differentiated
        return total(contract.step(component, state, inputs, key))

    return Flown(*(eqx.filter_jit(eqx.filter_grad(part)) for part in (initial, stepped)))


def total(tree):
    return sum(map(jnp.sum, floats(tree)), start=jnp.zeros(()))


def floats(tree):
    return [leaf for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf)]


def assert_same(found, expected, tolerance):
    """Check that two trees have the same structure and numbers."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_every_family_has_a_contract():
    packages = [m.name for m in pkgutil.iter_modules(kittiwake.__path__, "kittiwake.") if m.ispkg]
    found = {
        value.family
        for package in packages
        for value in vars(import_module(package)).values()
        if isinstance(value, Registry)
    }
    # vehicles are data and tasks whole environments, tested beside this file; physics takes whole
    # fleets, see tests/physics
    assert found - {"vehicles", "tasks", "physics"} == set(CONTRACTS), (
        "add the family to tests/contract/families.py"
    )


class NewController(AbstractController):
    """Controller with a required parameter, and without an example."""

    gain: float

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


def test_component_without_an_example_is_rejected_with_the_place_for_one():
    make = forms_of("controllers", NewController)[""]
    expected = r"NewController needs a classmethod `examples\(\)`: .* argument: 'gain'"
    with pytest.raises(pytest.fail.Exception, match=expected):
        make()


def assert_loop_carries(case):
    part, outputs = compiled(case), []
    inputs = inputs_of(case, CRUISING)
    state = part.begin(inputs[0], KEYS[0])
    for fed, key in zip(inputs, KEYS[1:], strict=True):
        new, output = part.step(state, fed, key)
        assert jax.tree.structure(new) == jax.tree.structure(state)
        for leaf, before in zip(jax.tree.leaves(new), jax.tree.leaves(state), strict=True):
            # a whole number may not turn into a real one, or a flag into a number, on the way
            assert leaf.dtype.kind == before.dtype.kind
            assert leaf.shape == before.shape
        outputs.append(output)
        state = match_dtypes(new, state)
    assert jax.tree.structure(outputs[0]) == jax.tree.structure(outputs[1])
    for leaf in floats(outputs):
        assert leaf.dtype == jnp.result_type(float)
        assert jnp.isfinite(leaf).all()
    if case.family != "sensors":  # which may measure pictures
        assert all(jnp.shape(leaf) == () for leaf in jax.tree.leaves(outputs))


@each_component
def test_state_can_be_the_carry_of_a_loop(case):
    assert_loop_carries(case)


@pytest.mark.slow  # each is compiled anew
@each_component
def test_state_can_be_the_carry_of_a_loop_in_single_precision(case, single_precision):
    assert_loop_carries(case)


@pytest.mark.slow
@each_kind
def test_compiled_step_equals_the_plain_step(case):
    inputs = inputs_of(case, CRUISING)
    plain = fly(flown(case), inputs)
    # the compiler may contract products and sums: some units in the last place
    assert_same(fly(compiled(case), inputs), plain, tolerance=1e-12)


@each_family
def test_mapped_steps_equal_a_loop(case):
    per_vehicle = [inputs_of(case, cruising(0.1 * i)) for i in range(5)]
    keys = jax.random.split(KEYS[0], (len(KEYS), len(per_vehicle)))
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *per_vehicle)
    mapped = Flown(*(jax.jit(jax.vmap(function)) for function in compiled(case)))
    together = fly(mapped, stacked, keys)
    for index, inputs in enumerate(per_vehicle):
        mine = jax.tree.map(itemgetter(index), together)
        # vector instructions round sums of products differently in the last place
        assert_same(mine, fly(compiled(case), inputs, keys[:, index]), tolerance=1e-12)


@each_kind
def test_same_key_gives_the_same_bits(case):
    inputs = inputs_of(case, CRUISING)
    initial = compiled(case).begin(inputs[0], KEYS[0])
    # traced anew, in case something outside the arguments has changed since
    again = Flown(*map(jax.jit, flown(case)))
    for function, arguments in zip(Flown._fields, ((), (initial,)), strict=True):
        first, second = (
            getattr(part, function).lower(*arguments, inputs[0], KEYS[0]).as_text()
            for part in (compiled(case), again)
        )
        assert first == second
    assert_same(fly(compiled(case), inputs), fly(compiled(case), inputs), tolerance=0.0)


@pytest.mark.parametrize("point", [CRUISING, AT_REST], ids=lambda at: at.name)
@each_family
def test_output_has_finite_gradients(case, point):
    inputs = inputs_of(case, point)
    component, initial = as_traced(case.make()), compiled(case).begin(inputs[0], KEYS[0])
    later, _ = compiled(case).step(initial, inputs[0], KEYS[0])
    of = gradients(case)
    assert_finite(of.begin, (component, inputs[0]))
    # of two steps, so that what the first one remembers counts as well
    for state, fed in zip((initial, match_dtypes(later, initial)), inputs, strict=True):
        assert_finite(of.step, (component, state, fed))


def assert_finite(slope, differentiated):
    found = slope(differentiated, KEYS[0])
    slopes = jax.tree.leaves(found)
    assert len(slopes) == len(floats(differentiated)), "one for each parameter, state and input"
    assert all(jnp.isfinite(each).all() for each in slopes), found


@pytest.mark.parametrize("point", EXTREMES, ids=lambda at: at.name)
@each_component
def test_extreme_inputs_give_no_nan(case, point):
    result = fly(compiled(case), inputs_of(case, point))
    assert not any(jnp.isnan(leaf).any() for leaf in floats(result)), result


@each_component
def test_output_has_the_declared_type(case):
    component = case.make()
    _, output = fly(compiled(case), inputs_of(case, CRUISING))
    if case.family == "controllers":
        assert type(output) is component.produces
    elif case.family == "avoidance":
        assert type(output) is component.command_type
    elif case.family == "guidance":
        kinds = tuple(type(one) for one in signals_of(output))
        assert kinds == component.command_types()
    elif case.family == "sensors":
        assert type(output) is component.measures
    elif case.family in OUTPUTS:
        assert type(output) is OUTPUTS[case.family]
    elif case.family == "dynamics":
        assert set(component.command_bounds) <= set(
            column_names(component.command_type, component.actuator_count)
        )
        assert type(output[0]) is Kinematics
    elif case.family == "rotors":
        assert [type(wrench) for wrench in output[0]] == [Wrench, Wrench]
    else:
        assert isinstance(output, Module)


def signals_of(setpoint):
    return setpoint.commands if isinstance(setpoint, CommandChoice) else (setpoint,)


@each_name
def test_parameters_can_be_written_in_a_file(case):
    model = parameters_model(case.kind)
    parameters = {f.name for f in dataclasses.fields(case.kind) if f.init}
    assert parameters <= set(model.model_fields)


@each_name
def test_entry_has_a_line_of_summary(case):
    summary = case.contract.registry.entries[case.name].summary
    assert 0 < len(summary) <= 100
    assert "\n" not in summary
    assert not summary.endswith(".")


@each_name
def test_class_has_a_docstring(case):
    text = vars(case.kind).get("__doc__") or ""
    assert re.match(r"\S.*\.$", text.strip().splitlines()[0]), "one sentence on its first line"


# a contributor's component has its page by the next release
@pytest.mark.release
@each_name
def test_documentation_mentions_the_name(case):
    assert f"`{case.name}`" in documentation(), f"`{case.name}` is in no page of docs/"


@lru_cache
def documentation():
    return "\n".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
