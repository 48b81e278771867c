"""Hook of mkdocs: the tables of the reference from the registries, and the pages of the API.

A line that ends with ``<!-- table: FAMILY -->`` becomes the table of a registry, with the equations
of its entries from the docstrings of their modules, and their parameters. One that ends with
``<!-- model: FAMILY NAME -->`` becomes the equations of one entry, one that ends with
``<!-- module: PATH -->`` those of a module, and ``<!-- file: PATH -->`` a file. What is before the
marker is for readers of the raw page. The pages ``api/*.md`` follow from ``kittiwake.__all__``.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import kittiwake
from kittiwake.cli.description import Description, describe, model_text
from kittiwake.cli.list import REGISTRIES
from kittiwake.core.registry import Registry
from kittiwake.scenario.library import summaries

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MARKER = re.compile(r"^.*<!-- table: (\w+) -->$", re.MULTILINE)
MODEL = re.compile(r"^.*<!-- model: (\w+) ([\w-]+) -->$", re.MULTILINE)
MODULE = re.compile(r"^.*<!-- module: ([\w.]+) -->$", re.MULTILINE)
FILE = re.compile(r"^.*<!-- file: ([\w./-]+)\.(py|toml) -->$", re.MULTILINE)
BY_FAMILY = {registry.family: registry for registry in REGISTRIES}
# name and title of an API page, by the part of the package that defines its names
TITLES = {
    "runtime": ("running", "Running scenarios"),
    "scenario": ("defining", "Defining scenarios"),
    "analysis": ("logs", "Logs and linear models"),
    "tasks": ("environments", "Environments"),
    "commands": ("commands", "Commands"),
    "core": ("state", "State and errors"),
    "geometry": ("rotations", "Vectors and rotations"),
    "interfaces": ("interfaces", "Interfaces of components"),
}
# the part under whose title names of another part are listed
MERGED = {"adapters": "tasks", "pytree": "core"}
COMPONENT_OPTIONS = "\n    options:\n      members: false\n      heading_level: 3\n"


def cell(text: object) -> str:
    """Return text as it stands in a cell of a table."""
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


# --- tables of registries -------------------------------------------------------------------


@cache
def pages_by_mention() -> dict[str, str]:
    """Return the texts of the hand-written pages by their paths."""
    return {path.name: path.read_text("utf-8") for path in sorted(DOCS.glob("*.md"))}


def page_about(name: str, candidates: list[str]) -> str | None:
    """Return the page that treats a name: in a heading, else in most places."""

    def weight(page: str) -> tuple[int, int]:
        text = pages_by_mention()[page]
        mention = f"`{name}`"
        heads = [line for line in text.splitlines() if line.startswith("#") and mention in line]
        return len(heads), text.count(mention)

    found = max(candidates, key=weight, default=None)
    return found if found and weight(found) > (0, 0) else None


def described(registry: Registry) -> Iterator[tuple[str, Description]]:
    """Yield the names of a registry with their descriptions."""
    for name in sorted(registry.builtin):
        yield name, describe(registry, name, registry.builtin[name].summary)


def parameter_rows(description: Description) -> Iterator[str]:
    """Yield the table of the parameters of a component."""
    yield "| key | meaning | default | allowed | or in |"
    yield "|---|---|---|---|---|"
    for key, parameter in description.parameters.items():
        default = "required" if parameter.required else parameter.default
        shown = (
            "" if default is None else f"`{cell(default)}`" if not parameter.required else default
        )
        others = ", ".join(f"`{cell(other.rpartition('.')[2])}`" for other in parameter.other_keys)
        meaning, allowed = cell(parameter.meaning), cell(parameter.allowed)
        yield f"| `{key}` | {meaning} | {shown} | {allowed} | {others} |"


def outside_code(text: str) -> str:
    """Return text of a docstring that is not code as Markdown."""
    return re.sub(r"(?<!\*)\*(?!\*)|_", r"\\\g<0>", text.replace("<", "&lt;"))


def paragraph(text: str) -> str:
    """Return a part of a docstring as Markdown; indented ones are code."""
    if text.startswith("    "):
        return f"```text\n{inspect.cleandoc(text).replace('``', '')}\n```"
    code = re.split(r"(``.+?``)", re.sub(r"::$", ":", text), flags=re.DOTALL)
    return "".join(
        part.replace("``", "`") if index % 2 else outside_code(part)
        for index, part in enumerate(code)
    )


def module_of(family: str, name: str) -> str:
    """Return the module that defines a component, or the dynamics of a vehicle."""
    component = BY_FAMILY[family].find(name)
    return str(getattr(component, "dynamics", component).__module__)


@cache
def main_of_module(family: str, module: str) -> str:
    """Return the component of a family in a module that has the most parameters."""
    registry = BY_FAMILY[family]
    names = [name for name in sorted(registry.builtin) if module_of(family, name) == module]
    return max(names, key=lambda name: len(describe(registry, name, "").parameters))


def model_page(module: str) -> str:
    """Return equations, sources and limits from the docstring of a module as Markdown."""
    text = model_text(module)
    return "".join(f"{paragraph(part)}\n\n" for part in text.split("\n\n") if part.strip())


def model_section(family: str, name: str) -> str:
    """Return the text of a component's module, or where it is: at the one with most parameters."""
    module = module_of(family, name)
    main, text = main_of_module(family, module), model_page(module)
    return f"Equations: see [`{main}`](#{family}-{main}).\n" if text and name != main else text


def component_section(name: str, description: Description) -> Iterator[str]:
    """Yield the section of one component."""
    yield f"### `{name}` {{ #{description.family}-{name} }}\n"
    first, *others = description.lines
    yield f"{first[:1].upper()}{first[1:].rstrip('.')}.\n".replace("<", "&lt;")
    yield " ".join(line for line in others if not line.endswith(":")) + "\n"
    yield model_section(description.family, name)
    if description.parameters:
        yield from parameter_rows(description)
    else:
        yield "No parameters."
    yield ""


def registry_table(family: str, candidates: list[str]) -> str:
    """Return the table of a registry, and a section for each of its entries."""
    if family == "scenarios":
        rows = [f"| `{name}` | {cell(text)} |" for name, text in sorted(summaries().items())]
        return "\n".join(["| name | flight |", "|---|---|", *rows])
    entries = list(described(BY_FAMILY[family]))
    lines = ["| name | | page |", "|---|---|---|"]
    for name, description in entries:
        page = page_about(name, candidates)
        link = f"[{title_of(page)}](../{page})" if page else ""
        summary = cell(description.lines[0])
        lines.append(f"| [`{name}`](#{family}-{name}) | {summary} | {link} |")
    sections = [line for entry in entries for line in component_section(*entry)]
    return "\n".join([*lines, "", *sections])


def title_of(page: str) -> str:
    """Return the title of a hand-written page."""
    return re.findall(r"^# (.+)$", pages_by_mention()[page], re.MULTILINE)[0]


def neighbors_of(page: Page) -> list[str]:
    """Return the hand-written pages in the same section of the navigation."""
    siblings = page.parent.children if page.parent else []
    paths = [one.file.src_uri for one in siblings if isinstance(one, Page)]
    return [path for path in paths if path in pages_by_mention()]


# --- pages of the API -----------------------------------------------------------------------


def part_of(target: str) -> str:
    """Return the part of the package under whose title a name is listed."""
    _, part, *inner = target.split(".")
    return "commands" if inner[:1] == ["commands"] else MERGED.get(part, part)


def public_names() -> dict[str, list[str]]:
    """Return the public functions and classes by the part that defines them, as dotted names."""
    targets = {name: f"{module}.{name}" for name, module in kittiwake._MODULES.items()}
    order = sorted(targets.values(), key=lambda target: (part_of(target), target.lower()))
    return {part: list(group) for part, group in groupby(order, key=part_of)}


def namespaces() -> dict[str, list[str]]:
    """Return the dotted names of the components of each public namespace."""
    registries: dict[str, list[str]] = {name: [] for name in kittiwake._NAMESPACES}
    for registry in REGISTRIES:
        for entry in registry.builtin.values():
            target = entry.target.replace(":", ".")
            if target.startswith("kittiwake."):
                registries[target.split(".")[1]].append(target)
    return {name: sorted(set(targets)) for name, targets in registries.items() if targets}


def api_pages() -> dict[str, tuple[str, str]]:
    """Return title and text of the pages of the API by their paths."""
    pages: dict[str, tuple[str, str]] = {}
    rows: list[str] = []
    for part, targets in public_names().items():
        body = "\n\n".join(f"::: {target}" for target in targets)
        name, title = TITLES[part]
        pages[f"api/{name}.md"] = (title, body)
        rows += [f"| [`kw.{t.rpartition('.')[2]}`][{t}] | [{title}]({name}.md) |" for t in targets]
    for name, targets in namespaces().items():
        body = "\n\n".join(f"::: {target}{COMPONENT_OPTIONS}" for target in targets)
        pages[f"api/{name}.md"] = (f"kw.{name}", body)
        rows.append(f"| [`kw.{name}`]({name}.md) | namespace of components |")
    # models are files; what there is to say of them is in the tables of the reference
    rows.append("| [`kw.vehicles`](../reference/vehicles.md) | namespace of vehicle models |")
    for name, module in kittiwake._TOPICS.items():
        pages[f"api/{name}.md"] = (f"kw.{name}", f"::: {module}")
        rows.append(f"| [`kw.{name}`]({name}.md) | functions and classes for components |")
    table = "\n".join(["| name | page |", "|---|---|", *sorted(rows, key=str.lower)])
    start = "All public names of `import kittiwake as kw`, from the docstrings of the code."
    pages["api/index.md"] = ("API", f"{start}\n\n{table}")
    return pages


# --- events of mkdocs -----------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of the API to the navigation, under the title "API"."""
    listed: list[Any] = [{title: path} for path, (title, _) in api_pages().items()]
    (section,) = (item["API"] for item in config.nav or [] if "API" in item)
    section[:] = sorted(listed, key=lambda item: "index" not in str(item))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, (title, body) in api_pages().items():
        files.append(File.generated(config, path, content=f"# {title}\n\n{body}\n"))
    return files


def fenced(path: str, language: str) -> str:
    """Return a file of the repository as a block of code."""
    return f"```{language}\n{(ROOT / path).read_text('utf-8')}```"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the markers of tables, models and files."""
    del config, files
    markdown = FILE.sub(lambda found: fenced(f"{found[1]}.{found[2]}", found[2]), markdown)
    markdown = MODEL.sub(lambda found: model_page(module_of(found[1], found[2])), markdown)
    markdown = MODULE.sub(lambda found: model_page(f"kittiwake.{found[1]}"), markdown)
    return MARKER.sub(lambda found: registry_table(found[1], neighbors_of(page)), markdown)
