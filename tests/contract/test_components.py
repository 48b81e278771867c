"""What every registered component promises: the same for all, and for each new one by itself."""

import dataclasses
import pkgutil
import re
from functools import cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.contract.examples import (
    AT_REST,
    CONTRACTS,
    CRUISING,
    EXTREMES,
    as_flown,
    as_traced,
    cases,
    cruising,
    forms_of,
)

import kittiwake
from kittiwake.control.stick_inversion import StickInversion
from kittiwake.core.columns import column_names
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.registry import Registry
from kittiwake.core.strong import strong
from kittiwake.core.surroundings import Air
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import parameters_model
from kittiwake.sim.schedule import like

DOCS = Path(__file__).parents[2] / "docs"
CASES = list(cases())
NAMED = {f"{case.family}/{case.name}": case for case in CASES}
KEY = jax.random.key(3)
FIELDS = {"turbulence": Vec3, "winds": Vec3, "currents": Vec3, "atmospheres": Air, "forces": Wrench}
OUTPUTS = {"estimators": Kinematics, **FIELDS}

# of vehicles with the dynamics of another one here, and with rotors that are here too; each takes a
# minute to compile
TWINS = {
    "dynamics/multirotor ar-drone",
    "dynamics/multirotor hummingbird",
    "dynamics/multirotor os4",
    "dynamics/wrench-body uav-gazebo",
}


def differentiated_quickly(case):
    """The case, marked as a slow one if another shows the same."""
    return pytest.param(case, marks=[pytest.mark.slow] if str(case) in TWINS else [])


each_component = pytest.mark.parametrize("case", CASES, ids=str)
each_name = pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)


def inputs_of(case, circumstance, ticks=2):
    """What a component is fed at each of some ticks."""
    component = case.make()
    return tuple(strong(case.contract.inputs(component, circumstance, t)) for t in range(ticks))


def fly(case, component, inputs, key):
    """The state after a component's steps from its beginning, and its last output."""
    contract = case.contract
    state, output = strong(contract.init(component, inputs[0], key)), None
    for tick, fed in enumerate(inputs):
        new, output = contract.step(component, state, fed, jax.random.fold_in(key, tick))
        state = like(new, state)
    return state, strong(output)


@cache
def compiled(case):
    """The flight of a component with its own parameters, as a function of inputs and key."""
    return jax.jit(lambda inputs, key: fly(case, as_flown(case.make()), inputs, key))


@cache
def gradients(case):
    """Of the sum of outputs, with respect to the component's and the inputs' floats."""

    def total(differentiated, key):
        component, inputs = differentiated
        outputs = floats(fly(case, component, inputs, key)[1])
        return sum(map(jnp.sum, outputs), start=jnp.zeros(()))

    return eqx.filter_jit(eqx.filter_grad(total))


def floats(tree):
    return [leaf for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf)]


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


def test_component_without_an_example_is_refused_with_the_place_for_one():
    make = forms_of("controllers", "new-one", StickInversion)[""]
    with pytest.raises(pytest.fail.Exception, match=r"EXAMPLES\['controllers/new-one'\] in tests/"):
        make()


def assert_loop_carries(case):
    component, contract, key = as_flown(case.make()), case.contract, KEY
    inputs = inputs_of(case, CRUISING, ticks=1)[0]
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
    shapes = {leaf.shape for leaf in jax.tree.leaves(outputs)}
    if case.family == "sensors":
        assert all(shape[0] == 3 for shape in shapes), "one per tick"
    else:
        assert shapes <= {(3,)}, "scalars, one per tick"
    assert all(jnp.isfinite(leaf).all() for leaf in floats(outputs))


@each_component
def test_state_is_carried_by_a_loop(case):
    assert_loop_carries(case)


@each_component
def test_state_is_carried_by_a_loop_in_single_precision(case, single_precision):
    assert_loop_carries(case)


@each_component
def test_compiled_step_gives_what_the_plain_one_gives(case):
    inputs = inputs_of(case, CRUISING)
    plain = fly(case, as_flown(case.make()), inputs, KEY)
    # the compiler may contract products and sums: some units in the last place
    assert_same(compiled(case)(inputs, KEY), plain, tolerance=1e-12)


@each_component
def test_mapped_steps_are_those_of_a_loop(case):
    lanes = [inputs_of(case, cruising(0.1 * i)) for i in range(5)]
    keys = jax.random.split(KEY, 5)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *lanes)
    together = jax.jit(jax.vmap(compiled(case)))(stacked, keys)
    for lane, inputs in enumerate(lanes):
        mine = jax.tree.map(itemgetter(lane), together)
        # vector instructions round sums of products differently in the last place
        assert_same(mine, compiled(case)(inputs, keys[lane]), tolerance=1e-12)


@each_component
def test_same_key_gives_the_same_bits(case):
    inputs = inputs_of(case, CRUISING)
    # traced anew, in case something outside the arguments has changed since
    first, second = (
        jax.jit(lambda key: fly(case, as_flown(case.make()), inputs, key)).lower(KEY).as_text()
        for _ in range(2)
    )
    assert first == second
    assert_same(compiled(case)(inputs, KEY), compiled(case)(inputs, KEY), tolerance=0.0)


@pytest.mark.parametrize("circumstance", [CRUISING, AT_REST], ids=lambda at: at.name)
@pytest.mark.parametrize("case", [*map(differentiated_quickly, CASES)], ids=str)
def test_output_has_finite_gradients(case, circumstance):
    # two steps, so that what the first one remembers counts as well
    differentiated = as_traced(case.make()), inputs_of(case, circumstance)
    found = gradients(case)(differentiated, KEY)
    slopes = jax.tree.leaves(found)
    assert len(slopes) == len(floats(differentiated)), "one for each parameter and input"
    assert all(jnp.isfinite(slope).all() for slope in slopes), found


@pytest.mark.parametrize("circumstance", EXTREMES, ids=lambda at: at.name)
@each_component
def test_extreme_inputs_give_no_nan(case, circumstance):
    result = compiled(case)(inputs_of(case, circumstance), KEY)
    assert not any(jnp.isnan(leaf).any() for leaf in floats(result)), result


@each_component
def test_output_is_of_the_declared_kind(case):
    component = case.make()
    _, output = compiled(case)(inputs_of(case, CRUISING), KEY)
    if case.family == "controllers":
        assert type(output) is component.produces
    elif case.family == "guidance":
        assert type(output) is component.signal_type()
    elif case.family == "sensors":
        assert type(output) is component.measures
    elif case.family in OUTPUTS:
        assert type(output) is OUTPUTS[case.family]
    elif case.family == "dynamics":
        assert set(component.command_bounds) <= set(column_names(component.native))
        assert type(output[0]) is Kinematics
    elif case.family == "rotors":
        assert [type(wrench) for wrench in output[0]] == [Wrench, Wrench]
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
