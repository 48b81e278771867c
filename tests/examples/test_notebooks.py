"""The notebooks run from top to bottom, show something, and are stored without outputs."""

import ast
import os
import shutil
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = {path.stem: path for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))}
LONGEST_LINES = 90


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Runs a notebook in a copy of the examples, as a reader would; returns its cells of code."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    # a kernel shows pictures of pyplot by its own backend
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    examples = shutil.copytree(ROOT / "examples", tmp_path / "examples")

    def run(name):
        notebook = nbformat.read(NOTEBOOKS[name], as_version=4)
        place = {"metadata": {"path": str(examples / "notebooks")}}
        NotebookClient(notebook, timeout=500, kernel_name="python3", resources=place).execute()
        return code_of(notebook)

    return run


def printed(cells):
    return "".join(
        output.text for cell in cells for output in cell.outputs if output.output_type == "stream"
    )


def shown(cells, kind):
    """Each output of a kind, such as text/html."""
    return [
        output.data[kind]
        for cell in cells
        for output in cell.outputs
        if kind in output.get("data", {})
    ]


def pictures(cells):
    found = shown(cells, "image/png")
    assert all(b64decode(one).startswith(b"\x89PNG") for one in found)
    return len(found)


def test_every_notebook_is_tested():
    assert {f"test_{name}" for name in NOTEBOOKS} <= set(globals())


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_short_and_stored_without_outputs(name):
    notebook = nbformat.read(NOTEBOOKS[name], as_version=4)
    nbformat.validate(notebook)
    assert [cell.outputs for cell in code_of(notebook)] == [[] for _ in code_of(notebook)]
    assert {cell.execution_count for cell in code_of(notebook)} == {None}
    assert sum(len(cell.source.splitlines()) for cell in code_of(notebook)) <= LONGEST_LINES
    assert notebook.cells[0].source.startswith("# ")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_imports_only_public_modules(name):
    notebook = nbformat.read(NOTEBOOKS[name], as_version=4)
    tree = ast.parse("\n".join(cell.source for cell in code_of(notebook)))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    origins = [node.module for node in imports if isinstance(node, ast.ImportFrom)]
    assert not [module for module in origins if module.startswith("kittiwake")]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_described_in_the_documentation(name):
    assert f"`{name}.ipynb`" in (ROOT / "docs" / "notebooks.md").read_text("utf-8")


@pytest.mark.slow  # flies and compares for a quarter of a minute
def test_fly_and_tune(ran):
    cells = ran("fly_and_tune")
    tables = shown(cells, "text/html")
    assert ["Simulation" in tables[0], "Log" in tables[1]] == [True, True]
    # the page and nothing else: no address of its server
    assert tables[2].startswith('<iframe src="http://127.0.0.1:')
    assert len(tables) == 3
    assert pictures(cells) == 2
    assert printed(cells).count("m RMS") == 4


def test_own_controller_compared(ran):
    cells = ran("own_controller_compared")
    *_, compared, frame = shown(cells, "text/html")
    assert all(f">{name}<" in compared for name in ("mine", "lee", "position"))
    assert "tracking_rms_m" in frame
    assert pictures(cells) == 1


@pytest.mark.slow  # learns for a minute
def test_learn_to_hover(ran):
    cells = ran("learn_to_hover")
    words = [line.split() for line in printed(cells).splitlines() if "mean return" in line]
    returns = {line[0]: float(line[3].rstrip(",")) for line in words}
    assert "Warning" not in printed(cells)
    # random actions crash at once, and 5 is the most
    assert returns["random:"] < 0.0
    assert returns["trained:"] > 1.5
    assert pictures(cells) == 2
