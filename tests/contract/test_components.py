"""What every registered component promises: the same for all, and for each new one by itself."""

import dataclasses
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.registry import Registry
from kittiwake.core.surroundings import Air
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import parameters_model
from kittiwake.sim.schedule import like, strong
from tests.contract.examples import (
    AT_REST,
    CONTRACTS,
    CRUISING,
    EXTREMES,
    as_traced,
    cases,
    cruising,
)

DOCS = Path(__file__).parents[2] / "docs"
CASES = list(cases())
NAMED = {f"{case.family}/{case.name}": case for case in CASES}
OUTPUTS = {"estimators": Kinematics, "turbulence": Vec3, "winds": Vec3, "atmospheres": Air}

each_component = pytest.mark.parametrize("case", CASES, ids=str)
each_name = pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)


def flight_of(case, component, circumstance, key, ticks=2):
    """The state after some ticks of a component in a circumstance, and its last output."""
    contract = case.contract
    first = contract.inputs(component, circumstance, 0)
    state = strong(contract.init(component, first, key))
    output = None
    for tick in range(ticks):
        inputs = contract.inputs(component, circumstance, tick)
        new, output = contract.step(component, state, inputs, jax.random.fold_in(key, tick))
        state = like(new, state)
    return state, strong(output)


def floats(tree):
    return [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)]


def assert_same(found, expected, tolerance):
    """Both trees have the same form and the same numbers."""
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
    # vehicles are data, tested beside this file
    assert found - {"vehicles"} == set(CONTRACTS), "add the family to tests/contract/examples.py"


def assert_loop_carries(case):
    component, contract = case.make(), case.contract
    key = jax.random.key(3)
    inputs = contract.inputs(component, CRUISING, 0)
    state = strong(contract.init(component, inputs, key))

    def once(state, tick):
        new, output = contract.step(component, state, inputs, jax.random.fold_in(key, tick))
        assert jax.tree.structure(new) == jax.tree.structure(state)
        for leaf, before in zip(jax.tree.leaves(new), jax.tree.leaves(state), strict=True):
            # a whole number may not turn into a real one, or a flag into a number, on the way
            assert jnp.asarray(leaf).dtype.kind == before.dtype.kind
            assert jnp.shape(leaf) == before.shape
        return like(new, state), strong(output)

    _, outputs = jax.jit(lambda s: jax.lax.scan(once, s, jnp.arange(3)))(state)
    assert all(leaf.dtype == jnp.result_type(float) for leaf in floats(outputs))
    assert all(leaf.shape == (3,) for leaf in jax.tree.leaves(outputs)), "scalars, one per tick"
    assert all(jnp.isfinite(leaf).all() for leaf in floats(outputs))


@each_component
def test_state_is_carried_by_a_loop(case):
    assert_loop_carries(case)


@each_component
def test_state_is_carried_by_a_loop_in_single_precision(case, single_precision):
    assert_loop_carries(case)


@each_component
def test_compiled_step_gives_what_the_plain_one_gives(case):
    component, key = case.make(), jax.random.key(3)
    plain = flight_of(case, component, CRUISING, key)
    compiled = jax.jit(lambda key: flight_of(case, component, CRUISING, key))(key)
    # the compiler may contract products and sums: some units in the last place
    assert_same(compiled, plain, tolerance=1e-12)


@each_component
def test_mapped_steps_are_those_of_a_loop(case):
    component, contract = case.make(), case.contract
    keys = jax.random.split(jax.random.key(3), 5)
    lanes = [as_traced(contract.inputs(component, cruising(0.1 * i), 0)) for i in range(5)]

    def once(inputs, key):
        state = strong(contract.init(component, inputs, key))
        return jax.tree.map(jnp.asarray, contract.step(component, state, inputs, key))

    one_by_one = [jax.jit(once)(inputs, key) for inputs, key in zip(lanes, keys, strict=True)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *lanes)
    together = jax.jit(jax.vmap(once))(stacked, keys)
    for lane, expected in enumerate(one_by_one):
        # vector instructions round sums of products differently in the last place
        assert_same(jax.tree.map(lambda leaf: leaf[lane], together), expected, tolerance=1e-12)


@each_component
def test_same_key_gives_the_same_bits(case):
    first, second = (
        jax.jit(lambda key: flight_of(case, case.make(), CRUISING, key))(jax.random.key(3))
        for _ in range(2)
    )
    assert_same(first, second, tolerance=0.0)


@pytest.mark.parametrize("circumstance", [CRUISING, AT_REST], ids=lambda at: at.name)
@each_component
def test_output_has_finite_gradients(case, circumstance):
    contract = case.contract
    component = as_traced(case.make())
    inputs = as_traced(contract.inputs(component, circumstance, 0))
    key = jax.random.key(3)

    @eqx.filter_jit
    @eqx.filter_grad
    def gradients(differentiated):
        component, inputs = differentiated
        state = strong(contract.init(component, inputs, key))
        # twice, so that what the first step remembers counts as well
        for tick in range(2):
            new, output = contract.step(component, state, inputs, jax.random.fold_in(key, tick))
            state = like(new, state)
        return sum(floats(strong(output)), start=jnp.zeros(()))

    parameters, of_inputs = gradients((component, inputs))
    expected = len(floats(jax.tree.map(jnp.asarray, as_traced((component, inputs)))))
    assert len(jax.tree.leaves((parameters, of_inputs))) == expected
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(parameters)), parameters
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(of_inputs)), of_inputs


@pytest.mark.parametrize("circumstance", EXTREMES, ids=lambda at: at.name)
@each_component
def test_extreme_inputs_give_no_nan(case, circumstance):
    component = case.make()
    result = jax.jit(lambda key: flight_of(case, component, circumstance, key))(jax.random.key(3))
    assert not any(jnp.isnan(leaf).any() for leaf in floats(result)), result


@each_component
def test_output_is_of_the_declared_kind(case):
    component = case.make()
    _, output = flight_of(case, component, CRUISING, jax.random.key(3), ticks=1)
    if case.family == "controllers":
        assert type(output) is component.produces
    elif case.family == "guidance":
        assert type(output) is component.signal_type()
    elif case.family in OUTPUTS:
        assert type(output) is OUTPUTS[case.family]
    elif case.family == "dynamics":
        assert type(output[0]) is Kinematics
        assert set(component.command_bounds) <= {
            f.name for f in dataclasses.fields(component.native)
        }
    else:
        assert isinstance(output, eqx.Module)


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
def test_class_says_what_it_is(case):
    text = vars(case.kind).get("__doc__") or ""
    assert re.match(r"\S.*\.$", text.strip().splitlines()[0]), "one sentence on its first line"


@each_name
def test_documentation_mentions_the_name(case):
    pages = [page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))]
    assert any(f"`{case.name}`" in page for page in pages), f"`{case.name}` is in no page of docs/"
