"""Specifications of components, and the stubs that editors read."""

import ast
from pathlib import Path

import pytest

import kittiwake as kw
from kittiwake.core.specification import ComponentSpec
from kittiwake.core.units import stored_name
from kittiwake.interfaces.parts import AbstractForce

FAMILIES = ["actuators", "control", "environment", "estimation", "forces", "guidance", "physics"]
FAMILIES += ["sensors", "swarm", "tasks", "vehicles"]


@pytest.mark.parametrize("family", FAMILIES)
def test_stub_of_a_namespace_names_its_parameters(family):
    package = getattr(kw, family)
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf-8"))
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    for name in dir(package):
        offered = getattr(package, name)
        if not (isinstance(offered, type) and issubclass(offered, ComponentSpec)):
            continue
        constructor = next(node for node in classes[name].body if isinstance(node, ast.FunctionDef))
        arguments = [argument.arg for argument in constructor.args.kwonlyargs]
        assert offered.keys() == arguments[: len(offered.keys())]
        # the rest are the same parameters in other units
        assert {stored_name(key) for key in arguments} == set(offered.keys())


def test_namespaces_offer_interfaces_for_components_of_ones_own():
    assert kw.forces.AbstractForce is AbstractForce
    assert "AbstractForce" in dir(kw.forces)
    with pytest.raises(AttributeError, match=r"Did you mean 'AbstractForce'"):
        _ = kw.forces.AbstractForces
