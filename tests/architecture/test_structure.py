"""Structure of the package: imports, registries and public names."""

import ast
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_args, get_type_hints

import jax
import pytest

from kittiwake.core.registry import Registry
from kittiwake.vehicles import VEHICLES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
# of a vehicle, which is data
DATA_FILE = ".toml"
NAMELESS = {"utils", "util", "helpers", "helper", "misc", "common", "tools"}


def packages() -> list[str]:
    """Return every package below ``kittiwake``."""
    found = pkgutil.iter_modules([str(SOURCE / "kittiwake")], "kittiwake.")
    return [module.name for module in found if module.ispkg]


@cache
def registries() -> dict[str, Registry]:
    """Return every registry by its path, such as ``kittiwake.control.CONTROLLERS``."""
    return {
        f"{package}.{name}": value
        for package in packages()
        for name, value in vars(import_module(package)).items()
        if isinstance(value, Registry)
    }


def family_of(registry: str) -> str:
    """Return the package of a registry."""
    return registry.rpartition(".")[0]


def targets(package: str) -> set[str]:
    """Return the targets of a package's registries, as ``module:attribute``."""
    return {
        entry.target
        for name, registry in registries().items()
        if family_of(name) == package
        for entry in registry.builtin.values()
        if not entry.target.endswith(DATA_FILE)
    }


def public_modules(package: str) -> list[ModuleType]:
    """Return the modules of a package whose names do not start with an underscore."""
    paths = import_module(package).__path__
    found = pkgutil.walk_packages(paths, f"{package}.")
    names = [module.name for module in found]
    return [import_module(name) for name in names if not re.search(r"\._", name)]


def kinds(package: str) -> tuple[type, ...]:
    """Return the base classes of a package's registered objects."""
    things = [resolve(target) for target in targets(package)]
    interfaces = {base for thing in things if isinstance(thing, type) for base in thing.__bases__}
    data = {type(thing) for thing in things if not isinstance(thing, type)}
    return tuple(data | {base for base in interfaces if base.__name__.startswith("Abstract")})


def is_model(thing: object, module: str, bases: tuple[type, ...]) -> bool:
    """Return True for a concrete model of one of the given kinds that a module defines."""
    if not isinstance(thing, type):
        return isinstance(thing, bases)
    own = thing.__module__ == module
    finished = thing not in bases and not inspect.isabstract(thing)
    return own and finished and issubclass(thing, bases)


def resolve(target: str) -> object:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def in_fresh_python(code: str) -> list[str]:
    """Return the JSON that a new interpreter prints after running some code."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_imports_follow_the_layers() -> None:
    linter = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    answer = subprocess.run(
        [sys.executable, "-c", linter], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_modules_are_named_after_their_contents() -> None:
    folders = [SOURCE, ROOT / "tests", ROOT / "examples", ROOT / "benchmarks"]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    assert files
    assert [file for file in files if {file.stem, file.parent.name} & NAMELESS] == []


def test_registries_are_found() -> None:
    known = {
        "kittiwake.control.CONTROLLERS",
        "kittiwake.environment.ATMOSPHERES",
        "kittiwake.environment.CURRENTS",
        "kittiwake.environment.TURBULENCE",
        "kittiwake.environment.WINDS",
        "kittiwake.estimation.ESTIMATORS",
        "kittiwake.forces.FORCES",
        "kittiwake.forces.ROTORS",
        "kittiwake.guidance.GUIDANCE",
        "kittiwake.physics.DYNAMICS",
        "kittiwake.sensors.SENSORS",
        "kittiwake.vehicles.VEHICLES",
    }
    assert known <= set(registries())


def test_all_registries_of_scenarios_are_listed() -> None:
    from kittiwake.cli.list import REGISTRIES

    # a vehicle brings its dynamics; no scenario names them
    nameable = {r.family for name, r in registries().items() if not name.endswith(".DYNAMICS")}
    assert {registry.family for registry in REGISTRIES} == nameable


def test_registered_names_lead_to_files_of_their_family() -> None:
    for name, registry in registries().items():
        for key, entry in registry.builtin.items():
            if entry.target.endswith(DATA_FILE):
                continue
            thing = resolve(entry.target)
            module, _, attribute = entry.target.partition(":")
            assert module.startswith(family_of(name) + "."), f"{name}['{key}'] is elsewhere"
            if isinstance(thing, type):
                home = f"{thing.__module__}:{thing.__name__}"
                assert home == entry.target, f"{name}['{key}'] is written in {home}"
            else:
                assert attribute.isupper(), f"{name}['{key}'] is data and wants a constant's name"


def test_every_data_file_of_a_vehicle_is_registered() -> None:
    files = {path.name for path in (SOURCE / "kittiwake/vehicles/data").iterdir()}
    assert {entry.target for entry in VEHICLES.builtin.values()} == files


def test_registered_entries_have_a_docstring() -> None:
    for name, registry in registries().items():
        for key, entry in registry.builtin.items():
            assert entry.summary.strip(), f"{name}['{key}'] has no summary"


def test_every_model_of_a_family_is_registered() -> None:
    for package in {family_of(name) for name in registries()}:
        bases = kinds(package)
        written = {
            f"{module.__name__}:{name}"
            for module in public_modules(package)
            for name, thing in vars(module).items()
            if is_model(thing, module.__name__, bases)
        }
        assert written - targets(package) == set(), f"not in a registry of {package}"


def words_declared(kind: object) -> set[str]:
    """Return the string fields of a record and its nested records that are not static."""
    found = set()
    hints = get_type_hints(kind) if is_dataclass(kind) else {}
    for field in fields(kind) if is_dataclass(kind) else ():
        if not field.metadata.get("static", False):
            inside = parts_of(hints[field.name])
            found |= {field.name for part in inside if part is str or isinstance(part, str)}
            found |= {f"{field.name}.{name}" for part in inside for name in words_declared(part)}
    return found


def parts_of(hint: object) -> list[object]:
    """Return a type and all its type arguments."""
    return [hint, *(part for inner in get_args(hint) for part in parts_of(inner))]


def test_string_fields_are_static() -> None:
    things = {
        f"{name}['{key}']": resolve(entry.target)
        for name, registry in registries().items()
        for key, entry in registry.builtin.items()
        if not entry.target.endswith(DATA_FILE)
    }
    declared = {
        place: words_declared(kind) for place, kind in things.items() if isinstance(kind, type)
    }
    assert len(declared) > 50
    assert {place: words for place, words in declared.items() if words} == {}, "want static=True"


def test_no_example_of_a_component_has_a_string_among_its_leaves() -> None:
    from tests.contract.cases import cases

    found = {str(case): jax.tree.leaves(case.make()) for case in cases()}
    assert found
    assert [name for name, leaves in found.items() if any(isinstance(x, str) for x in leaves)] == []


def test_names_are_listed_without_importing_jax() -> None:
    families = sorted({family_of(name) for name in registries()})
    modules = ", ".join(["kittiwake", "kittiwake.cli", *families])
    heavy = ["jax", "equinox", "pandas", "xarray", "pyarrow", "matplotlib", "scipy"]
    code = (
        f"import json, sys, {modules}\nprint(json.dumps([m for m in {heavy} if m in sys.modules]))"
    )
    assert in_fresh_python(code) == []


def test_public_names_resolve_on_first_use() -> None:
    code = """
import json, kittiwake as kw
present = sorted(set(kw.__all__) & set(vars(kw)))
found = {name: getattr(kw, name) for name in kw.__all__}
homes = {name: getattr(one, "__module__", one.__name__) for name, one in found.items()}
print(json.dumps([present, [n for n, home in homes.items() if not home.startswith("kittiwake.")]]))
"""
    present, foreign = in_fresh_python(code)
    assert present == [], "importing kittiwake already imports these"
    assert foreign == []


def test_public_names_are_those_that_the_type_checker_sees() -> None:
    import kittiwake

    tree = ast.parse((SOURCE / "kittiwake" / "__init__.py").read_text())
    checked = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for block in checked for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {name.asname or name.name: node.module for node in imports for name in node.names}
    assert sorted(seen) == sorted(kittiwake.__all__)
    for name, module in seen.items():
        assert getattr(kittiwake, name) is getattr(import_module(module), name)


def test_version_is_that_of_the_project() -> None:
    import kittiwake

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert kittiwake.__version__ == project["version"]


def test_public_names_are_what_completion_shows() -> None:
    code = """
import json, types, kittiwake as kw
names = [n for n in dir(kw) if n[0] != "_" and not isinstance(getattr(kw, n), types.ModuleType)]
listed = [n for n in kw.__all__ if not isinstance(getattr(kw, n), types.ModuleType)]
print(json.dumps([sorted(names), sorted(listed)]))
"""
    shown, listed = in_fresh_python(code)
    assert shown == listed


def test_unknown_public_name_is_an_attribute_error() -> None:
    import kittiwake

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = kittiwake.no_such_name


def test_importing_kittiwake_leaves_jax_as_it_was() -> None:
    code = """
import json, jax
before = dict(jax.config.values)
import kittiwake
for name in kittiwake.__all__:
    getattr(kittiwake, name)
after = jax.config.values
print(json.dumps([name for name in before if before[name] != after[name]]))
"""
    assert in_fresh_python(code) == []


def test_pinned_requirements_are_names_and_versions_only() -> None:
    files = sorted((ROOT / "requirements").glob("*.txt"))
    assert {"run.txt", "test.txt"} <= {file.name for file in files}
    for file in files:
        for line in file.read_text().splitlines():
            assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), f"{file.name}: {line}"


def test_protocols_can_be_checked_at_run_time():
    # as a run of the tests with all types checked does
    unchecked = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).startswith("Protocol") for base in node.bases)
        and "runtime_checkable" not in map(ast.unparse, node.decorator_list)
    ]
    assert unchecked == []
